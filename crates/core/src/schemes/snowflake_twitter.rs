//! Snowflake as Twitter laid it out: the first, and the one that most others copied.

use crate::generators::counter::{Compiled, CounterGenerator};
use crate::id::{Id, const_id};
use crate::layout::{Field, Layout, Role, TimeBase};
use crate::mapping::Mapping;
use crate::scheme::{Coordination, Facts, Scheme, Setting, Sortable, StaticScheme};
use crate::text::DECIMAL;
use alloc::boxed::Box;

/// A Twitter Snowflake, 64 bits.
pub type SnowflakeTwitter = Id<SnowflakeTwitterScheme>;

/// The description of [`SnowflakeTwitter`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SnowflakeTwitterScheme;

impl StaticScheme for SnowflakeTwitterScheme {
    type Repr = u64;
    const SCHEME: &'static Scheme = &Scheme {
        name: "snowflake-twitter",
        aliases: &["twitter", "snowflake-x"],
        summary: "64-bit, milliseconds since 2010, 32 datacenters of 32 workers",
        source: "twitter-archive/snowflake, tag snowflake-2010, IdWorker.scala",
        layout: Layout::new(
            64,
            &[
                Field::new("unused", Role::Fixed(0), 1),
                Field::new("timestamp", Role::Timestamp(TimeBase::millis_since(1_288_834_974_657)), 41),
                Field::part("datacenter", Role::Worker, 5, 5),
                Field::part("worker", Role::Worker, 5, 0),
                Field::new("sequence", Role::Counter, 12),
            ],
        ),
        mapping: Mapping::Identity,
        text: &[&DECIMAL],
        vectors: &[
            ("1050118621198921728", &[0, 250_367_789_554, 10, 27, 0]),
            ("850007368138018817", &[0, 202_657_548_937, 10, 13, 1]),
        ],
        facts: Facts {
            sortable: Sortable::Strictly,
            coordination: Coordination::Worker,
            collisions: "none while no two processes have one worker and clocks do not step back across restarts",
            leaks: "when it was made, to the millisecond, by which worker, and how busy that worker was",
            sql: ("bigint", "bigint"),
            surprise: Some(0),
        },
        methods: &[],
        settings: &[Setting::Worker, Setting::Policies],
        generator: Some(|settings| {
            let source = Compiled::<Self>::default();
            Ok(Box::new(CounterGenerator::new("snowflake-twitter", &Self::SCHEME.layout, source, settings)?))
        }),
    };
}

const_id!(SnowflakeTwitterScheme, u64);
