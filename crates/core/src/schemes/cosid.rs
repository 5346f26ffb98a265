//! CosId, milliseconds.

use crate::generators::counter::{Compiled, CounterGenerator};
use crate::id::{Id, const_id};
use crate::layout::{Field, Layout, Role, TimeBase};
use crate::mapping::Mapping;
use crate::scheme::{Coordination, Facts, Scheme, Setting, Sortable, StaticScheme};
use crate::text::{BASE62, DECIMAL, TextForm};
use alloc::boxed::Box;

/// A CosId, 64 bits.
pub type Cosid = Id<CosidScheme>;

/// The description of [`Cosid`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CosidScheme;

/// 11 digits of base 62.
static BASE62_11: TextForm = TextForm::fixed("base62", &BASE62, 11);

impl StaticScheme for CosidScheme {
    type Repr = u64;
    const SCHEME: &'static Scheme = &Scheme {
        name: "cosid",
        aliases: &["cosid-ms", "cosid-millisecond"],
        summary: "64-bit, milliseconds since 2019-12-24T16:00Z, 1,024 machines",
        source: "Ahoo-Wang/CosId, MillisecondSnowflakeId.java",
        layout: Layout::new(
            64,
            &[
                Field::new("unused", Role::Fixed(0), 1),
                Field::new("timestamp", Role::Timestamp(TimeBase::millis_since(1_577_203_200_000)), 41),
                Field::new("machine", Role::Worker, 10),
                Field::new("sequence", Role::Counter, 12),
            ],
        ),
        mapping: Mapping::Identity,
        text: &[&DECIMAL, &BASE62_11],
        vectors: &[("266300479548424192", &[0, 63_490_981_948, 0, 0])],
        facts: Facts {
            sortable: Sortable::Strictly,
            coordination: Coordination::Worker,
            collisions: "none while no two processes have one worker and clocks do not step back across restarts",
            leaks: "when it was made, to the millisecond, by which worker, and how busy that worker was",
            sql: ("bigint", "bigint"),
            surprise: Some(8),
        },
        methods: &[],
        settings: &[Setting::Worker, Setting::Policies],
        generator: Some(|settings| {
            let source = Compiled::<Self>::default();
            Ok(Box::new(CounterGenerator::new("cosid", &Self::SCHEME.layout, source, settings)?))
        }),
    };
}

const_id!(CosidScheme, u64);
