//! CUID: c, milliseconds, counter, fingerprint and random digits; superseded by CUID2.

use crate::id::{Id, const_id};
use crate::layout::{Field, Layout, Role, TimeBase};
use crate::mapping::Mapping;
use crate::scheme::{Coordination, Facts, Scheme, Sortable, StaticScheme};
use crate::text::{BASE36_LOWER, Part, TextForm};

/// A CUID, 126 bits.
pub type Cuid = Id<CuidScheme>;

/// The description of [`Cuid`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CuidScheme;

/// `c` and 8, 4, 4 and 8 digits of base 36.
static CUID_25: TextForm = TextForm {
    prefix: "c",
    parts: &[
        Part { bits: 42, len: 8 },
        Part { bits: 21, len: 4 },
        Part { bits: 21, len: 4 },
        Part { bits: 42, len: 8 },
    ],
    ..TextForm::fixed("base36", &BASE36_LOWER, 24)
};

impl StaticScheme for CuidScheme {
    type Repr = u128;
    const SCHEME: &'static Scheme = &Scheme {
        name: "cuid",
        aliases: &[],
        summary: "unix milliseconds, counter, fingerprint and 8 random digits of base 36",
        source: "paralleldrive/cuid, README",
        layout: Layout::new(
            126,
            &[
                Field::new("timestamp", Role::Timestamp(TimeBase::millis_since(0)), 42),
                Field::new("counter", Role::Counter, 21),
                Field::new("fingerprint", Role::Worker, 21),
                Field::new("random", Role::Random, 42),
            ],
        ),
        mapping: Mapping::Identity,
        text: &[&CUID_25],
        vectors: &[("ch72gsb320000udocl363eofy", &[1_347_577_392_926, 0, 1_417_404, 1_652_546_313_790])],
        facts: Facts {
            sortable: Sortable::ToTick,
            coordination: Coordination::Nothing,
            collisions: "8 random digits of base 36 a millisecond and counter value",
            leaks: "when it was made, to the millisecond, the host and process by their fingerprint, and how many it makes",
            sql: ("char(25) collate \"C\"", "char(25) collate ascii_bin"),
            surprise: Some(0),
        },
        methods: &[],
        settings: &[],
        generator: None,
    };
}

const_id!(CuidScheme, u128);
