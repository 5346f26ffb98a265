//! What holds for every id, every text and every clock.

mod advance;
mod engines;
mod rules;
mod text;

use mintage::{RawId, SCHEMES, Scheme};
use proptest::prelude::*;

/// Any scheme.
fn any_scheme() -> impl Strategy<Value = &'static Scheme> {
    (0..SCHEMES.len()).prop_map(|at| SCHEMES[at])
}

/// The id of `scheme` with these bits, but for those that the scheme fixes; `None` where its digits don't reach.
fn id_of(scheme: &Scheme, bytes: &[u8; 20]) -> Option<RawId> {
    let any = RawId::from_be_bytes(bytes).unwrap();
    let fields = scheme.layout.fields().len();
    let values: Vec<u128> = (0..fields).map(|field| scheme.value(any, field)).collect();
    scheme.check(scheme.pack(&values).unwrap()).ok()
}

/// Bits of any kind, also those where one field or another is all zeros or all ones.
fn any_bits() -> impl Strategy<Value = [u8; 20]> {
    prop_oneof![
        4 => any::<[u8; 20]>(),
        1 => Just([0; 20]),
        1 => Just([0xff; 20]),
        1 => (any::<[u8; 20]>(), 0..20_usize).prop_map(|(mut bytes, from)| {
            bytes[from..].fill(0);
            bytes
        }),
        1 => (any::<[u8; 20]>(), 0..20_usize).prop_map(|(mut bytes, from)| {
            bytes[..from].fill(0);
            bytes
        }),
    ]
}

/// Any scheme and any id of it.
fn any_id() -> impl Strategy<Value = (&'static Scheme, RawId)> {
    (any_scheme(), any_bits())
        .prop_filter_map("bits beyond the digits", |(scheme, bits)| Some((scheme, id_of(scheme, &bits)?)))
}
