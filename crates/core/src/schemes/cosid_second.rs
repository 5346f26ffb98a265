//! CosId, seconds.

use crate::generators::counter::{Compiled, CounterGenerator};
use crate::id::{Id, const_id};
use crate::layout::{Field, Layout, Role, TimeBase};
use crate::mapping::Mapping;
use crate::scheme::{Coordination, Facts, Scheme, Setting, Sortable, StaticScheme};
use crate::text::DECIMAL;
use alloc::boxed::Box;

/// A CosId of seconds, 64 bits.
pub type CosidSecond = Id<CosidSecondScheme>;

/// The description of [`CosidSecond`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CosidSecondScheme;

impl StaticScheme for CosidSecondScheme {
    type Repr = u64;
    const SCHEME: &'static Scheme = &Scheme {
        name: "cosid-second",
        aliases: &["cosid-s"],
        summary: "64-bit, seconds since 2019-12-24T16:00Z, 1,024 machines",
        source: "Ahoo-Wang/CosId, SecondSnowflakeId.java",
        layout: Layout::new(
            64,
            &[
                Field::new("unused", Role::Fixed(0), 1),
                Field::new("timestamp", Role::Timestamp(TimeBase::seconds_since(1_577_203_200)), 31),
                Field::new("machine", Role::Worker, 10),
                Field::new("sequence", Role::Counter, 22),
            ],
        ),
        mapping: Mapping::Identity,
        text: &[&DECIMAL],
        vectors: &[("4299161601", &[0, 1, 1, 1])],
        facts: Facts {
            sortable: Sortable::Strictly,
            coordination: Coordination::Worker,
            collisions: "none while no two processes have one worker and clocks do not step back across restarts",
            leaks: "when it was made, to the second, by which machine, and how busy that machine was",
            sql: ("bigint", "bigint"),
            surprise: Some(14),
        },
        methods: &[],
        settings: &[Setting::Worker, Setting::Policies],
        generator: Some(|settings| {
            let source = Compiled::<Self>::default();
            Ok(Box::new(CounterGenerator::new("cosid-second", &Self::SCHEME.layout, source, settings)?))
        }),
    };
}

const_id!(CosidSecondScheme, u64);
