//! CockroachDB's unordered_unique_rowid(): unique_rowid() with its time bits reversed, so that new rows spread over all ranges.

use crate::id::{Id, const_id};
use crate::layout::{Field, Layout, Role, TimeBase};
use crate::mapping::Mapping;
use crate::scheme::{Coordination, Facts, Scheme, Sortable, StaticScheme};
use crate::text::DECIMAL;
use crate::time::UnixNanos;

/// A CockroachDB unordered row id, 64 bits.
pub type CockroachUnorderedUniqueRowid = Id<CockroachUnorderedUniqueRowidScheme>;

/// The description of [`CockroachUnorderedUniqueRowid`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CockroachUnorderedUniqueRowidScheme;

impl StaticScheme for CockroachUnorderedUniqueRowidScheme {
    type Repr = u64;
    const SCHEME: &'static Scheme = &Scheme {
        name: "cockroach-unordered-unique-rowid",
        aliases: &[],
        summary: "unique_rowid with its time bits reversed: spreads over ranges",
        source: "cockroachdb/cockroach, unordered_unique_rowid",
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
        mapping: Mapping::ReversedBits { shift: 15, bits: 48 },
        text: &[&DECIMAL],
        vectors: &[("1596829224296775683", &[0, 28_913_969_678_900, 3])],
        facts: Facts {
            sortable: Sortable::No,
            coordination: Coordination::Worker,
            collisions: "none while no two processes have one worker and clocks do not step back across restarts",
            leaks: "when it was made, to 10 µs, and by which node, for whoever knows the scheme",
            sql: ("bigint", "bigint"),
            surprise: Some(16),
        },
        methods: &[],
        settings: &[],
        generator: None,
    };
}

const_id!(CockroachUnorderedUniqueRowidScheme, u64);
