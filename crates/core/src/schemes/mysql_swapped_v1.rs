//! UUIDv1 as MySQL's UUID_TO_BIN(u, 1) stores it: time_high and time_mid before time_low.

use crate::id::{Id, const_id};
use crate::layout::{Field, Layout, Role, TimeBase};
use crate::mapping::Mapping;
use crate::scheme::{Coordination, Facts, Scheme, Sortable, StaticScheme};
use crate::text::{HYPHENATED, SIMPLE, TextForm};

/// A MySQL-swapped UUIDv1, 128 bits.
pub type MysqlSwappedV1 = Id<MysqlSwappedV1Scheme>;

/// The description of [`MysqlSwappedV1`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MysqlSwappedV1Scheme;

/// Bytes as hex digits, as HEX() shows them, or as UUID text by BIN_TO_UUID() without the flag.
const MYSQL_FORMS: &[&TextForm] = &[&SIMPLE, &HYPHENATED];

impl StaticScheme for MysqlSwappedV1Scheme {
    type Repr = u128;
    const SCHEME: &'static Scheme = &Scheme {
        name: "mysql-swapped-v1",
        aliases: &[],
        summary: "version 1 with its time groups in sorting order, as UUID_TO_BIN(u, 1) stores it",
        source: "MySQL manual, Miscellaneous Functions, UUID_TO_BIN()",
        layout: Layout::new(
            128,
            &[
                Field::new("ver", Role::Fixed(1), 4),
                Field::part("time_high", Role::Timestamp(TimeBase::GREGORIAN), 12, 48),
                Field::part("time_mid", Role::Timestamp(TimeBase::GREGORIAN), 16, 32),
                Field::part("time_low", Role::Timestamp(TimeBase::GREGORIAN), 32, 0),
                Field::new("var", Role::Fixed(0b10), 2),
                Field::new("clock_seq", Role::Counter, 14),
                Field::new("node", Role::Worker, 48),
            ],
        ),
        mapping: Mapping::Identity,
        text: MYSQL_FORMS,
        vectors: &[(
            "11ea61ae593200aabbf20242ac130003",
            &[1, 0x1ea, 0x61ae, 0x5932_00aa, 0b10, 0x3bf2, 0x0242_ac13_0003],
        )],
        facts: Facts {
            sortable: Sortable::ToTick,
            coordination: Coordination::Nothing,
            collisions: "as UUIDv1",
            leaks: "when it was made, to 100 ns, and the node: often a network card's address",
            sql: ("bytea", "binary(16)"),
            surprise: Some(4),
        },
        methods: &[],
        settings: &[],
        generator: None,
    };
}

const_id!(MysqlSwappedV1Scheme, u128);
