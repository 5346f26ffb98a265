//! TIDs of the AT Protocol: microseconds and a clock id in 13 characters that sort.

use crate::generators::counter::{Compiled, CounterGenerator};
use crate::id::{Id, const_id};
use crate::layout::{Field, Layout, Role, TimeBase};
use crate::mapping::Mapping;
use crate::scheme::{Coordination, Facts, Scheme, Setting, Sortable, StaticScheme};
use crate::text::{BASE32_SORTABLE, TextForm};
use crate::time::UnixNanos;
use alloc::boxed::Box;

/// A TID, 64 bits.
pub type TidAtproto = Id<TidAtprotoScheme>;

/// The description of [`TidAtproto`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TidAtprotoScheme;

/// 13 digits in ASCII order; the first is one of 234567abcdefghij.
static TID_13: TextForm = TextForm::fixed("base32-sortable", &BASE32_SORTABLE, 13);

impl StaticScheme for TidAtprotoScheme {
    type Repr = u64;
    const SCHEME: &'static Scheme = &Scheme {
        name: "tid-atproto",
        aliases: &["tid", "atproto-tid"],
        summary: "64-bit, unix microseconds, 1,024 clocks",
        source: "AT Protocol specification, Record Keys, TID",
        layout: Layout::new(
            64,
            &[
                Field::new("unused", Role::Custom, 1),
                Field::new(
                    "timestamp",
                    Role::Timestamp(TimeBase { epoch: UnixNanos(0), tick_nanos: 1_000 }),
                    53,
                ),
                Field::new("clock_id", Role::Worker, 10),
            ],
        ),
        mapping: Mapping::Identity,
        text: &[&TID_13],
        vectors: &[("3jzfcijpj2z2a", &[0, 1_688_137_381_887_007, 6])],
        facts: Facts {
            sortable: Sortable::Strictly,
            coordination: Coordination::Worker,
            collisions: "none while no two processes have one clock id and clocks do not step back across restarts",
            leaks: "when it was made, to the microsecond, and by which clock",
            sql: ("bigint", "bigint"),
            surprise: Some(0),
        },
        methods: &[],
        settings: &[Setting::Worker, Setting::Policies],
        generator: Some(|settings| {
            let source = Compiled::<Self>::default();
            Ok(Box::new(CounterGenerator::new("tid-atproto", &Self::SCHEME.layout, source, settings)?))
        }),
    };
}

const_id!(TidAtprotoScheme, u64);
