//! Snowflake as Discord lays it out: no sign bit, so ids are unsigned from 2084 on.

use crate::generators::counter::{Compiled, CounterGenerator};
use crate::id::{Id, const_id};
use crate::layout::{Field, Layout, Role, TimeBase};
use crate::mapping::Mapping;
use crate::scheme::{Coordination, Facts, Scheme, Setting, Sortable, StaticScheme};
use crate::text::DECIMAL;
use alloc::boxed::Box;

/// A Discord Snowflake, 64 bits.
pub type SnowflakeDiscord = Id<SnowflakeDiscordScheme>;

/// The description of [`SnowflakeDiscord`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SnowflakeDiscordScheme;

impl StaticScheme for SnowflakeDiscordScheme {
    type Repr = u64;
    const SCHEME: &'static Scheme = &Scheme {
        name: "snowflake-discord",
        aliases: &["discord"],
        summary: "64-bit, milliseconds since 2015, 32 workers of 32 processes",
        source: "Discord developer documentation, API reference, Snowflakes",
        layout: Layout::new(
            64,
            &[
                Field::new("timestamp", Role::Timestamp(TimeBase::millis_since(1_420_070_400_000)), 42),
                Field::part("worker", Role::Worker, 5, 5),
                Field::part("process", Role::Worker, 5, 0),
                Field::new("increment", Role::Counter, 12),
            ],
        ),
        mapping: Mapping::Identity,
        text: &[&DECIMAL],
        vectors: &[("175928847299117063", &[41_944_705_796, 1, 0, 7])],
        facts: Facts {
            sortable: Sortable::Strictly,
            coordination: Coordination::Worker,
            collisions: "none while no two processes have one worker and clocks do not step back across restarts",
            leaks: "when it was made, to the millisecond, by which worker and process, and how busy that was",
            sql: ("bigint", "bigint"),
            surprise: Some(2),
        },
        methods: &[],
        settings: &[Setting::Worker, Setting::Policies],
        generator: Some(|settings| {
            let source = Compiled::<Self>::default();
            Ok(Box::new(CounterGenerator::new("snowflake-discord", &Self::SCHEME.layout, source, settings)?))
        }),
    };
}

const_id!(SnowflakeDiscordScheme, u64);
