//! CosId as a string: each field in digits of its own.

use crate::generators::counter::{Compiled, CounterGenerator};
use crate::id::{Id, const_id};
use crate::layout::{Field, Layout, Role, TimeBase};
use crate::mapping::Mapping;
use crate::scheme::{Coordination, Facts, Scheme, Setting, Sortable, StaticScheme};
use crate::text::{BASE36_UPPER, BASE62, Part, TextForm};
use alloc::boxed::Box;

/// A CosId string, 80 bits.
pub type CosidString = Id<CosidStringScheme>;

/// The description of [`CosidString`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CosidStringScheme;

/// 8, 4 and 3 digits of base 62.
static RADIX_62: TextForm = TextForm {
    parts: &[Part { bits: 44, len: 8 }, Part { bits: 20, len: 4 }, Part { bits: 16, len: 3 }],
    ..TextForm::fixed("base62", &BASE62, 15)
};
/// 9, 4 and 4 digits of base 36, upper case.
static RADIX_36: TextForm = TextForm {
    parts: &[Part { bits: 44, len: 9 }, Part { bits: 20, len: 4 }, Part { bits: 16, len: 4 }],
    ..TextForm::fixed("base36", &BASE36_UPPER, 17)
};

impl StaticScheme for CosidStringScheme {
    type Repr = u128;
    const SCHEME: &'static Scheme = &Scheme {
        name: "cosid-string",
        aliases: &["cosid-radix62"],
        summary: "80-bit, unix milliseconds, about a million machines",
        source: "Ahoo-Wang/CosId, Radix62CosIdGenerator.java",
        layout: Layout::new(
            80,
            &[
                Field::new("timestamp", Role::Timestamp(TimeBase::millis_since(0)), 44),
                Field::new("machine", Role::Worker, 20),
                Field::new("sequence", Role::Counter, 16),
            ],
        ),
        mapping: Mapping::Identity,
        text: &[&RADIX_62, &RADIX_36],
        vectors: &[("0Tvcokgi0001001", &[1_700_000_000_000, 1, 1])],
        facts: Facts {
            sortable: Sortable::Strictly,
            coordination: Coordination::Worker,
            collisions: "none while no two processes have one worker and clocks do not step back across restarts",
            leaks: "when it was made, to the millisecond, by which machine, and how busy that machine was",
            sql: ("char(15) collate \"C\"", "char(15) collate ascii_bin"),
            surprise: Some(3),
        },
        methods: &[],
        settings: &[Setting::Worker, Setting::Policies],
        generator: Some(|settings| {
            let source = Compiled::<Self>::default();
            Ok(Box::new(CounterGenerator::new("cosid-string", &Self::SCHEME.layout, source, settings)?))
        }),
    };
}

const_id!(CosidStringScheme, u128);
