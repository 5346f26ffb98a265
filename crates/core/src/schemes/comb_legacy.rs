//! COMB as first published: SQL Server's datetime in the last six bytes, days since 1900 and 1/300 s of the day.

use crate::id::{Id, const_id};
use crate::layout::{Field, Layout, Role, TimeBase};
use crate::mapping::Mapping;
use crate::scheme::{Coordination, Facts, Scheme, Sortable, StaticScheme};
use crate::text::UUID_FORMS;
use crate::time::UnixNanos;

/// A UUID with version 4, 128 bits.
pub type CombLegacy = Id<CombLegacyScheme>;

/// The description of [`CombLegacy`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CombLegacyScheme;

impl StaticScheme for CombLegacyScheme {
    type Repr = u128;
    const SCHEME: &'static Scheme = &Scheme {
        name: "comb-legacy",
        aliases: &[],
        summary: "SQL Server datetime in the last six bytes of a version 4 UUID; ends in 2079",
        source: "richardtallent/RT.Comb, README; Jimmy Nilsson, The Cost of GUIDs as Primary Keys",
        layout: Layout::new(
            128,
            &[
                Field::new("random_a", Role::Random, 48),
                Field::new("ver", Role::Fixed(4), 4),
                Field::new("random_b", Role::Random, 12),
                Field::new("var", Role::Fixed(0b10), 2),
                Field::new("random_c", Role::Random, 14),
                Field::new(
                    "days",
                    Role::Timestamp(TimeBase {
                        epoch: UnixNanos::from_secs(-2_208_988_800),
                        tick_nanos: 86_400_000_000_000,
                    }),
                    16,
                ),
                Field::new("ticks_300th", Role::Custom, 32),
            ],
        ),
        mapping: Mapping::SqlDatetime,
        text: UUID_FORMS,
        vectors: &[(
            "e25afe33-db2d-4502-9bf0-919001862cc4",
            &[0xe25a_fe33_db2d, 4, 0x502, 0b10, 0x1bf0, 37_264, 25_570_500],
        )],
        facts: Facts {
            sortable: Sortable::ToTick,
            coordination: Coordination::Nothing,
            collisions: "74 random bits a tick",
            leaks: "when it was made, to 1/300 s",
            sql: ("uuid", "binary(16)"),
            surprise: Some(5),
        },
        methods: &[],
        settings: &[],
        generator: None,
    };
}

const_id!(CombLegacyScheme, u128);
