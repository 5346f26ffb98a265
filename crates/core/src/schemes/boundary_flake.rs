//! Flake of Boundary: milliseconds, a MAC address and a sequence in 128 bits.

use crate::generators::counter::{Compiled, CounterGenerator};
use crate::id::{Id, const_id};
use crate::layout::{Field, Layout, Role, TimeBase};
use crate::mapping::Mapping;
use crate::scheme::{Coordination, Facts, Scheme, Setting, Sortable, StaticScheme};
use crate::text::{BASE62, HEX_DIGITS, TextForm};
use alloc::boxed::Box;

/// A Boundary flake, 128 bits.
pub type BoundaryFlake = Id<BoundaryFlakeScheme>;

/// The description of [`BoundaryFlake`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BoundaryFlakeScheme;

/// At most 22 digits of base 62, without leading zeros: 18 since 2012.
static BASE62_FREE: TextForm = TextForm { is_fixed: false, ..TextForm::fixed("base62", &BASE62, 22) };
/// 32 hex digits.
static HEX_32: TextForm = TextForm::fixed("hex", &HEX_DIGITS, 32);

impl StaticScheme for BoundaryFlakeScheme {
    type Repr = u128;
    const SCHEME: &'static Scheme = &Scheme {
        name: "boundary-flake",
        aliases: &["flake"],
        summary: "128-bit, unix milliseconds, 48-bit worker, 16-bit sequence",
        source: "boundary/flake, readme",
        layout: Layout::new(
            128,
            &[
                Field::new("timestamp", Role::Timestamp(TimeBase::millis_since(0)), 64),
                Field::new("worker", Role::Worker, 48),
                Field::new("sequence", Role::Counter, 16),
            ],
        ),
        mapping: Mapping::Identity,
        text: &[&BASE62_FREE, &HEX_32],
        vectors: &[("8HFaDzqL3ULkWgRE8G", &[1_326_408_871_235, 0x109a_dd5e_0e8f, 0])],
        facts: Facts {
            sortable: Sortable::Strictly,
            coordination: Coordination::Worker,
            collisions: "none while no two processes have one worker and clocks do not step back across restarts",
            leaks: "when it was made, to the millisecond, and the worker: by default a network card's address",
            sql: ("uuid", "binary(16)"),
            surprise: Some(2),
        },
        methods: &[],
        settings: &[Setting::Worker, Setting::Policies],
        generator: Some(|settings| {
            let source = Compiled::<Self>::default();
            Ok(Box::new(CounterGenerator::new("boundary-flake", &Self::SCHEME.layout, source, settings)?))
        }),
    };
}

const_id!(BoundaryFlakeScheme, u128);
