//! CockroachDB's unique_rowid(): 10 µs since 2015 and the node; each tick is used once.

use crate::generators::counter::{Compiled, CounterGenerator};
use crate::id::{Id, const_id};
use crate::layout::{Field, Layout, Role, TimeBase};
use crate::mapping::Mapping;
use crate::scheme::{Coordination, Facts, Scheme, Setting, Sortable, StaticScheme};
use crate::text::DECIMAL;
use crate::time::UnixNanos;
use alloc::boxed::Box;

/// A CockroachDB row id, 64 bits.
pub type CockroachUniqueRowid = Id<CockroachUniqueRowidScheme>;

/// The description of [`CockroachUniqueRowid`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CockroachUniqueRowidScheme;

impl StaticScheme for CockroachUniqueRowidScheme {
    type Repr = u64;
    const SCHEME: &'static Scheme = &Scheme {
        name: "cockroach-unique-rowid",
        aliases: &["cockroachdb", "unique-rowid"],
        summary: "63-bit, units of 10 µs since 2015, 32,768 nodes",
        source: "cockroachdb/cockroach, pkg/sql/sem/builtins, unique_rowid",
        layout: Layout::new(
            64,
            &[
                Field::new("unused", Role::Fixed(0), 1),
                Field::new(
                    "timestamp",
                    Role::Timestamp(TimeBase {
                        epoch: UnixNanos::from_secs(1_420_070_400),
                        tick_nanos: 10_000,
                    }),
                    48,
                ),
                Field::new("node", Role::Worker, 15),
            ],
        ),
        mapping: Mapping::Identity,
        text: &[&DECIMAL],
        vectors: &[("947452958438195203", &[0, 28_913_969_678_900, 3])],
        facts: Facts {
            sortable: Sortable::Strictly,
            coordination: Coordination::Worker,
            collisions: "none while no two processes have one worker and clocks do not step back across restarts",
            leaks: "when it was made, to 10 µs, and by which node",
            sql: ("bigint", "bigint"),
            surprise: Some(12),
        },
        methods: &[],
        settings: &[Setting::Worker, Setting::Policies],
        generator: Some(|settings| {
            let source = Compiled::<Self>::default();
            Ok(Box::new(CounterGenerator::new(
                "cockroach-unique-rowid",
                &Self::SCHEME.layout,
                source,
                settings,
            )?))
        }),
    };
}

const_id!(CockroachUniqueRowidScheme, u64);
