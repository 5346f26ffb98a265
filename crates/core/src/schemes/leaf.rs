//! Leaf of Meituan, Snowflake mode.

use crate::generators::counter::{Compiled, CounterGenerator};
use crate::id::{Id, const_id};
use crate::layout::{Field, Layout, Role, TimeBase};
use crate::mapping::Mapping;
use crate::scheme::{Coordination, Facts, Scheme, Setting, Sortable, StaticScheme};
use crate::text::DECIMAL;
use alloc::boxed::Box;

/// A Leaf snowflake, 64 bits.
pub type Leaf = Id<LeafScheme>;

/// The description of [`Leaf`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LeafScheme;

impl StaticScheme for LeafScheme {
    type Repr = u64;
    const SCHEME: &'static Scheme = &Scheme {
        name: "leaf",
        aliases: &["leaf-snowflake"],
        summary: "64-bit, milliseconds since 2010, 1,024 workers",
        source: "Meituan-Dianping/Leaf, SnowflakeIDGenImpl.java",
        layout: Layout::new(
            64,
            &[
                Field::new("unused", Role::Fixed(0), 1),
                Field::new("timestamp", Role::Timestamp(TimeBase::millis_since(1_288_834_974_657)), 41),
                Field::new("worker", Role::Worker, 10),
                Field::new("sequence", Role::Counter, 12),
            ],
        ),
        mapping: Mapping::Identity,
        text: &[&DECIMAL],
        vectors: &[("1305120710460440575", &[0, 311_165_025_343, 1023, 4095])],
        facts: Facts {
            sortable: Sortable::Strictly,
            coordination: Coordination::Worker,
            collisions: "none while no two processes have one worker and clocks do not step back across restarts",
            leaks: "when it was made, to the millisecond, by which worker, and how busy that worker was",
            sql: ("bigint", "bigint"),
            surprise: Some(16),
        },
        methods: &[],
        settings: &[Setting::Worker, Setting::Policies],
        generator: Some(|settings| {
            let source = Compiled::<Self>::default();
            Ok(Box::new(CounterGenerator::new("leaf", &Self::SCHEME.layout, source, settings)?))
        }),
    };
}

const_id!(LeafScheme, u64);
