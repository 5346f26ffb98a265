//! SCRU64: ticks of 256 ms and a node with a counter, in 12 characters; how these 24 bits are split is up to the user.

use crate::id::{Id, const_id};
use crate::layout::{Field, Layout, Role, TimeBase};
use crate::mapping::Mapping;
use crate::scheme::{Coordination, Facts, Scheme, Sortable, StaticScheme};
use crate::text::{BASE36, TextForm};
use crate::time::UnixNanos;

/// A SCRU64 id, 64 bits.
pub type Scru64 = Id<Scru64Scheme>;

/// The description of [`Scru64`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Scru64Scheme;

/// 12 digits of base 36; upper case is read too.
static BASE36_12: TextForm = TextForm::fixed("base36", &BASE36, 12);

impl StaticScheme for Scru64Scheme {
    type Repr = u64;
    const SCHEME: &'static Scheme = &Scheme {
        name: "scru64",
        aliases: &[],
        summary: "ticks of 256 ms since 1970, then 24 bits of node and counter",
        source: "scru64/spec, README",
        layout: Layout::new(
            64,
            &[
                Field::new("unused", Role::Fixed(0), 1),
                Field::new(
                    "timestamp",
                    Role::Timestamp(TimeBase { epoch: UnixNanos(0), tick_nanos: 256_000_000 }),
                    39,
                ),
                Field::new("node_ctr", Role::Custom, 24),
            ],
        ),
        mapping: Mapping::Identity,
        text: &[&BASE36_12],
        vectors: &[("0u375nxqh5cq", &[0, 6_557_084_606, 2_777_946])],
        facts: Facts {
            sortable: Sortable::Strictly,
            coordination: Coordination::Worker,
            collisions: "none while no two processes have one node",
            leaks: "when it was made, to a quarter of a second, and the node",
            sql: ("bigint", "bigint"),
            surprise: Some(5),
        },
        methods: &[],
        settings: &[],
        generator: None,
    };
}

const_id!(Scru64Scheme, u64);
