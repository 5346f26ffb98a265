//! Sharding ids as Instagram lays them out: the worker is a logical shard, and ids pass the signed range in 2046.

use crate::generators::counter::{Compiled, CounterGenerator};
use crate::id::{Id, const_id};
use crate::layout::{Field, Layout, Role, TimeBase};
use crate::mapping::Mapping;
use crate::scheme::{Coordination, Facts, Scheme, Setting, Sortable, StaticScheme};
use crate::text::DECIMAL;
use alloc::boxed::Box;

/// An Instagram sharding id, 64 bits.
pub type SnowflakeInstagram = Id<SnowflakeInstagramScheme>;

/// The description of [`SnowflakeInstagram`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SnowflakeInstagramScheme;

impl StaticScheme for SnowflakeInstagramScheme {
    type Repr = u64;
    const SCHEME: &'static Scheme = &Scheme {
        name: "snowflake-instagram",
        aliases: &["instagram"],
        summary: "64-bit, milliseconds since 2011, 8,192 logical shards",
        source: "Instagram Engineering, Sharding & IDs at Instagram, 2012",
        layout: Layout::new(
            64,
            &[
                Field::new("timestamp", Role::Timestamp(TimeBase::millis_since(1_314_220_021_721)), 41),
                Field::new("shard", Role::Worker, 13),
                Field::new("sequence", Role::Counter, 10),
            ],
        ),
        mapping: Mapping::Identity,
        text: &[&DECIMAL],
        vectors: &[("908540701891980503", &[108_306_491_600, 4187, 215])],
        facts: Facts {
            sortable: Sortable::Strictly,
            coordination: Coordination::Worker,
            collisions: "none while no two processes have one worker and clocks do not step back across restarts",
            leaks: "when it was made, to the millisecond, in which shard, and how busy that was",
            sql: ("bigint", "bigint"),
            surprise: Some(1),
        },
        methods: &[],
        settings: &[Setting::Worker, Setting::Policies],
        generator: Some(|settings| {
            let source = Compiled::<Self>::default();
            Ok(Box::new(CounterGenerator::new(
                "snowflake-instagram",
                &Self::SCHEME.layout,
                source,
                settings,
            )?))
        }),
    };
}

const_id!(SnowflakeInstagramScheme, u64);
