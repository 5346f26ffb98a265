//! NEWSEQUENTIALID() of SQL Server: UUIDv1 with the bytes of its first three groups reversed.

use crate::id::{Id, const_id};
use crate::layout::{Field, Layout, Role, TimeBase};
use crate::mapping::Mapping;
use crate::scheme::{Coordination, Facts, Scheme, Sortable, StaticScheme};
use crate::text::UUID_FORMS;

/// A NEWSEQUENTIALID, 128 bits.
pub type Newsequentialid = Id<NewsequentialidScheme>;

/// The description of [`Newsequentialid`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NewsequentialidScheme;

impl StaticScheme for NewsequentialidScheme {
    type Repr = u128;
    const SCHEME: &'static Scheme = &Scheme {
        name: "newsequentialid",
        aliases: &[],
        summary: "version 1 with its first three groups byte-swapped",
        source: "Microsoft, NEWSEQUENTIALID; dbrowne, How to Generate Sequential GUIDs for SQL Server in .NET",
        layout: Layout::new(
            128,
            &[
                Field::part("time_low", Role::Timestamp(TimeBase::GREGORIAN), 32, 0),
                Field::part("time_mid", Role::Timestamp(TimeBase::GREGORIAN), 16, 32),
                Field::new("ver", Role::Fixed(1), 4),
                Field::part("time_high", Role::Timestamp(TimeBase::GREGORIAN), 12, 48),
                Field::new("var", Role::Fixed(0b10), 2),
                Field::new("clock_seq", Role::Counter, 14),
                Field::new("node", Role::Worker, 48),
            ],
        ),
        mapping: Mapping::GuidBytes,
        text: UUID_FORMS,
        vectors: &[(
            "63dd0ad3-a111-dd11-b2eb-005056ae063c",
            &[0xd30a_dd63, 0x11a1, 1, 0x1dd, 0b10, 0x32eb, 0x0050_56ae_063c],
        )],
        facts: Facts {
            sortable: Sortable::No,
            coordination: Coordination::Nothing,
            collisions: "one node used twice within 100 ns",
            leaks: "when it was made, to 100 ns, and the node: a network card's address",
            sql: ("uuid", "binary(16)"),
            surprise: Some(6),
        },
        methods: &[],
        settings: &[],
        generator: None,
    };
}

const_id!(NewsequentialidScheme, u128);
