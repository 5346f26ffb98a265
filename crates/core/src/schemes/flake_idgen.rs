//! flake-idgen, the FlakeID of RFC 9562's list: Snowflake since 1970, also as 8 bytes.

use crate::generators::counter::{Compiled, CounterGenerator};
use crate::id::{Id, const_id};
use crate::layout::{Field, Layout, Role, TimeBase};
use crate::mapping::Mapping;
use crate::scheme::{Coordination, Facts, Scheme, Setting, Sortable, StaticScheme};
use crate::text::DECIMAL;
use alloc::boxed::Box;

/// A flake-idgen id, 64 bits.
pub type FlakeIdgen = Id<FlakeIdgenScheme>;

/// The description of [`FlakeIdgen`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FlakeIdgenScheme;

impl StaticScheme for FlakeIdgenScheme {
    type Repr = u64;
    const SCHEME: &'static Scheme = &Scheme {
        name: "flake-idgen",
        aliases: &["flakeid"],
        summary: "64-bit, unix milliseconds, 32 datacenters of 32 workers",
        source: "T-PWK/flake-idgen, README",
        layout: Layout::new(
            64,
            &[
                Field::new("timestamp", Role::Timestamp(TimeBase::millis_since(0)), 42),
                Field::part("datacenter", Role::Worker, 5, 5),
                Field::part("worker", Role::Worker, 5, 0),
                Field::new("counter", Role::Counter, 12),
            ],
        ),
        mapping: Mapping::Identity,
        text: &[&DECIMAL],
        vectors: &[("5828128208445124608", &[1_389_534_046_279, 7, 3, 0])],
        facts: Facts {
            sortable: Sortable::Strictly,
            coordination: Coordination::Worker,
            collisions: "none while no two processes have one worker and clocks do not step back across restarts",
            leaks: "when it was made, to the millisecond, by which worker, and how busy that worker was",
            sql: ("bigint", "bigint"),
            surprise: Some(4),
        },
        methods: &[],
        settings: &[Setting::Worker, Setting::Policies],
        generator: Some(|settings| {
            let source = Compiled::<Self>::default();
            Ok(Box::new(CounterGenerator::new("flake-idgen", &Self::SCHEME.layout, source, settings)?))
        }),
    };
}

const_id!(FlakeIdgenScheme, u64);
