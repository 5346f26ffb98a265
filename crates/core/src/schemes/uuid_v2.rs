//! UUID version 2 (DCE security): read only. The low 32 bits of its time are given to a local id, so a tick is 429.5 s.

use crate::id::{Id, const_id};
use crate::layout::{Field, Layout, Role, TimeBase};
use crate::mapping::Mapping;
use crate::scheme::{Coordination, Facts, Scheme, Sortable, StaticScheme};
use crate::text::UUID_FORMS;

/// A version 2 UUID, 128 bits.
pub type UuidV2 = Id<UuidV2Scheme>;

/// The description of [`UuidV2`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UuidV2Scheme;

impl StaticScheme for UuidV2Scheme {
    type Repr = u128;
    const SCHEME: &'static Scheme = &Scheme {
        name: "uuid-v2",
        aliases: &["uuid2", "uuidv2", "v2"],
        summary: "version 1 with a POSIX user or group in place of the low time bits",
        source: "DCE 1.1: Authentication and Security Services; RFC 9562 section 5.2",
        layout: Layout::new(
            128,
            &[
                Field::new("local_id", Role::Custom, 32),
                Field::part("time_mid", Role::Timestamp(TimeBase::GREGORIAN), 16, 32),
                Field::new("ver", Role::Fixed(2), 4),
                Field::part("time_high", Role::Timestamp(TimeBase::GREGORIAN), 12, 48),
                Field::new("var", Role::Fixed(0b10), 2),
                Field::new("clock_seq", Role::Counter, 6),
                Field::new("local_domain", Role::Custom, 8),
                Field::new("node", Role::Worker, 48),
            ],
        ),
        mapping: Mapping::Identity,
        text: UUID_FORMS,
        vectors: &[(
            "000004d2-92e8-21ed-8100-3fdb0085247e",
            &[1234, 0x92e8, 2, 0x1ed, 0b10, 1, 0, 0x3fdb_0085_247e],
        )],
        facts: Facts {
            sortable: Sortable::No,
            coordination: Coordination::Nothing,
            collisions: "64 ids of one user and node in 7 minutes",
            leaks: "a user or group number, the node, and when it was made, to 7 minutes",
            sql: ("uuid", "binary(16)"),
            surprise: Some(8),
        },
        methods: &[],
        settings: &[],
        generator: None,
    };
}

const_id!(UuidV2Scheme, u128);
