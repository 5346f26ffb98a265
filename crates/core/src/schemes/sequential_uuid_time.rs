//! Sequential UUIDs by block of time: ids of one interval share their first 16 bits, so that neighbours in time are neighbours in the index; the intervals wrap.

use crate::generators::placed;
use crate::id::{Id, const_id};
use crate::layout::{Field, Layout, Role};
use crate::mapping::Mapping;
use crate::scheme::{Coordination, Facts, Scheme, Setting, Sortable, StaticScheme};
use crate::text::UUID_FORMS;

/// A sequential UUID, 128 bits.
pub type SequentialUuidTime = Id<SequentialUuidTimeScheme>;

/// The description of [`SequentialUuidTime`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SequentialUuidTimeScheme;

impl StaticScheme for SequentialUuidTimeScheme {
    type Repr = u128;
    const SCHEME: &'static Scheme = &Scheme {
        name: "sequential-uuid-time",
        aliases: &[],
        summary: "random, behind the number of an interval: neighbours share index pages",
        source: "tvondra/sequential-uuids, README",
        layout: Layout::new(
            128,
            &[
                Field::new("prefix", Role::Counter, 16),
                Field::new("random_a", Role::Random, 32),
                Field::new("ver", Role::Fixed(4), 4),
                Field::new("random_b", Role::Random, 12),
                Field::new("var", Role::Fixed(0b10), 2),
                Field::new("random_c", Role::Random, 62),
            ],
        ),
        mapping: Mapping::Identity,
        text: UUID_FORMS,
        vectors: &[(
            "3a98c1d2-47e5-4b6a-8f90-2a1b3c4d5e6f",
            &[0x3a98, 0xc1d2_47e5, 4, 0xb6a, 0b10, 0x0f90_2a1b_3c4d_5e6f],
        )],
        facts: Facts {
            sortable: Sortable::No,
            coordination: Coordination::Nothing,
            collisions: "106 random bits a block",
            leaks: "when it was made, to the interval, within one round of blocks",
            sql: ("uuid", "binary(16)"),
            surprise: None,
        },
        methods: &[],
        settings: &[Setting::Intervals],
        generator: Some(|settings| placed::by_time("sequential-uuid-time", settings)),
    };
}

const_id!(SequentialUuidTimeScheme, u128);
