//! COMB in SQL Server's order: milliseconds in the last six bytes of a version 4 UUID.

use crate::generators::stateless::{self, TimeAndRandom};
use crate::id::{Id, const_id};
use crate::layout::{Field, Layout, Role, TimeBase};
use crate::mapping::Mapping;
use crate::scheme::{Coordination, Facts, Scheme, Sortable, StaticScheme};
use crate::text::UUID_FORMS;

/// A UUID with version 4, 128 bits.
pub type CombUnixMsLast = Id<CombUnixMsLastScheme>;

/// The description of [`CombUnixMsLast`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CombUnixMsLastScheme;

impl StaticScheme for CombUnixMsLastScheme {
    type Repr = u128;
    const SCHEME: &'static Scheme = &Scheme {
        name: "comb-unix-ms-last",
        aliases: &["comb-sqlserver"],
        summary: "unix milliseconds last, in a version 4 UUID: sorts in SQL Server",
        source: "richardtallent/RT.Comb, README",
        layout: Layout::new(
            128,
            &[
                Field::new("random_a", Role::Random, 48),
                Field::new("ver", Role::Fixed(4), 4),
                Field::new("random_b", Role::Random, 12),
                Field::new("var", Role::Fixed(0b10), 2),
                Field::new("random_c", Role::Random, 14),
                Field::new("timestamp", Role::Timestamp(TimeBase::millis_since(0)), 48),
            ],
        ),
        mapping: Mapping::Identity,
        text: UUID_FORMS,
        vectors: &[("00000000-0000-4000-8000-00dc6acfac00", &[0, 4, 0, 0b10, 0, 946_684_800_000])],
        facts: Facts {
            sortable: Sortable::ToTick,
            coordination: Coordination::Nothing,
            collisions: "74 random bits a tick",
            leaks: "when it was made, to the millisecond",
            sql: ("uuid", "binary(16)"),
            surprise: Some(3),
        },
        methods: &[],
        settings: &[],
        generator: Some(stateless::boxed::<TimeAndRandom<Self>>),
    };
}

const_id!(CombUnixMsLastScheme, u128);
