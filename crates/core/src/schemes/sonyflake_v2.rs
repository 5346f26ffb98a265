//! Sonyflake version 2: slower ticks, more machines, a longer life; the sequence stands above the machine.

use crate::generators::counter::{Compiled, CounterGenerator};
use crate::id::{Id, const_id};
use crate::layout::{Field, Layout, Role, TimeBase};
use crate::mapping::Mapping;
use crate::scheme::{Coordination, Facts, Scheme, Setting, Sortable, StaticScheme};
use crate::text::DECIMAL;
use crate::time::UnixNanos;
use alloc::boxed::Box;

/// A Sonyflake of version 2, 64 bits.
pub type SonyflakeV2 = Id<SonyflakeV2Scheme>;

/// The description of [`SonyflakeV2`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SonyflakeV2Scheme;

impl StaticScheme for SonyflakeV2Scheme {
    type Repr = u64;
    const SCHEME: &'static Scheme = &Scheme {
        name: "sonyflake-v2",
        aliases: &["sonyflake2"],
        summary: "63-bit, units of 10 ms since 2025-01-01, 65,536 machines",
        source: "sony/sonyflake, v2/sonyflake.go",
        layout: Layout::new(
            64,
            &[
                Field::new("unused", Role::Fixed(0), 1),
                Field::new(
                    "timestamp",
                    Role::Timestamp(TimeBase {
                        epoch: UnixNanos(1_735_689_600_000_000_000),
                        tick_nanos: 10_000_000,
                    }),
                    39,
                ),
                Field::new("sequence", Role::Counter, 8),
                Field::new("machine", Role::Worker, 16),
            ],
        ),
        mapping: Mapping::Identity,
        text: &[&DECIMAL],
        vectors: &[("637534208000459265", &[0, 38_000_000_000, 7, 513])],
        facts: Facts {
            sortable: Sortable::Strictly,
            coordination: Coordination::Worker,
            collisions: "none while no two processes have one worker and clocks do not step back across restarts",
            leaks: "when it was made, to 10 ms, and the machine: by default the low half of its private IPv4 address",
            sql: ("bigint", "bigint"),
            surprise: Some(20),
        },
        methods: &[],
        settings: &[Setting::Worker, Setting::Policies],
        generator: Some(|settings| {
            let source = Compiled::<Self>::default();
            Ok(Box::new(CounterGenerator::new("sonyflake-v2", &Self::SCHEME.layout, source, settings)?))
        }),
    };
}

const_id!(SonyflakeV2Scheme, u64);
