//! TSID: 42 bits of time since 2020 and 22 bits of node and counter, in 13 characters.

use crate::generators::counter::{Compiled, CounterGenerator};
use crate::id::{Id, const_id};
use crate::layout::{Field, Layout, Role, TimeBase};
use crate::mapping::Mapping;
use crate::scheme::{Coordination, Facts, Scheme, Setting, Sortable, StaticScheme};
use crate::text::{BASE62, CROCKFORD32_FORGIVING, DECIMAL, TextForm};
use alloc::boxed::Box;

/// A TSID, 64 bits.
pub type Tsid = Id<TsidScheme>;

/// The description of [`Tsid`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TsidScheme;

/// 13 digits of Crockford's base 32; the first is at most F.
static CROCKFORD_13: TextForm = TextForm::fixed("crockford32", &CROCKFORD32_FORGIVING, 13);
/// 11 digits of base 62.
static BASE62_11: TextForm = TextForm::fixed("base62", &BASE62, 11);

impl StaticScheme for TsidScheme {
    type Repr = u64;
    const SCHEME: &'static Scheme = &Scheme {
        name: "tsid",
        aliases: &[],
        summary: "64-bit, milliseconds since 2020, 1,024 nodes",
        source: "f4b6a3/tsid-creator, README",
        layout: Layout::new(
            64,
            &[
                Field::new("timestamp", Role::Timestamp(TimeBase::millis_since(1_577_836_800_000)), 42),
                Field::new("node", Role::Worker, 10),
                Field::new("counter", Role::Counter, 12),
            ],
        ),
        mapping: Mapping::Identity,
        text: &[&CROCKFORD_13, &BASE62_11, &DECIMAL],
        vectors: &[("01226N0640J7K", &[9_145_327_665, 4, 2291])],
        facts: Facts {
            sortable: Sortable::Strictly,
            coordination: Coordination::Worker,
            collisions: "none while no two processes have one worker and clocks do not step back across restarts",
            leaks: "when it was made, to the millisecond, by which node, and how busy that node was",
            sql: ("bigint", "bigint"),
            surprise: Some(9),
        },
        methods: &[],
        settings: &[Setting::Worker, Setting::Policies],
        generator: Some(|settings| {
            let source = Compiled::<Self>::default();
            Ok(Box::new(CounterGenerator::new("tsid", &Self::SCHEME.layout, source, settings)?))
        }),
    };
}

const_id!(TsidScheme, u64);
