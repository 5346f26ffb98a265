//! Bit-reversed counters as Spanner's sequences give them: 63 bits of a counter in reverse order, so that neighbours in time are far apart.

use crate::error::Error;
use crate::generators::reversed::ReversedCounter;
use crate::id::{Id, const_id};
use crate::layout::{Field, Layout, Role};
use crate::mapping::Mapping;
use crate::scheme::{Coordination, Facts, Scheme, Setting, Sortable, StaticScheme};
use crate::text::DECIMAL;
use alloc::boxed::Box;

/// A bit-reversed counter, 64 bits.
pub type SpannerBitReversed = Id<SpannerBitReversedScheme>;

/// The description of [`SpannerBitReversed`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SpannerBitReversedScheme;

impl StaticScheme for SpannerBitReversedScheme {
    type Repr = u64;
    const SCHEME: &'static Scheme = &Scheme {
        name: "spanner-bit-reversed",
        aliases: &["bit-reversed", "bit-reversed-counter"],
        summary: "63-bit counter with its bits reversed: spreads over ranges",
        source: "Google Cloud Spanner, sequence functions, bit_reversed_positive",
        layout: Layout::new(
            64,
            &[Field::new("unused", Role::Fixed(0), 1), Field::new("counter", Role::Counter, 63)],
        ),
        mapping: Mapping::ReversedBits { shift: 0, bits: 63 },
        text: &[&DECIMAL],
        vectors: &[("5980780305148018688", &[0, 101]), ("4611686018427387904", &[0, 1])],
        facts: Facts {
            sortable: Sortable::No,
            coordination: Coordination::OneWriter,
            collisions: "none while one counter is counted once",
            leaks: "how many there are, for whoever reverses the bits",
            sql: ("bigint", "bigint"),
            surprise: Some(14),
        },
        methods: &[],
        settings: &[Setting::First],
        generator: Some(|settings| match ReversedCounter::new(settings.first.unwrap_or(1)) {
            Some(counter) => Ok(Box::new(counter)),
            None => Err(Error::FieldRange { field: "counter", bits: 63 }),
        }),
    };
}

const_id!(SpannerBitReversedScheme, u64);
