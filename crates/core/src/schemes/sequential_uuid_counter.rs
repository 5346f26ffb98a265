//! Sequential UUIDs by block of a counter: ids of one block share their first 16 bits, so that neighbours in time are neighbours in the index; the blocks wrap.

use crate::generators::placed;
use crate::id::{Id, const_id};
use crate::layout::{Field, Layout, Role};
use crate::mapping::Mapping;
use crate::scheme::{Coordination, Facts, Scheme, Setting, Sortable, StaticScheme};
use crate::text::UUID_FORMS;

/// A sequential UUID, 128 bits.
pub type SequentialUuidCounter = Id<SequentialUuidCounterScheme>;

/// The description of [`SequentialUuidCounter`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SequentialUuidCounterScheme;

impl StaticScheme for SequentialUuidCounterScheme {
    type Repr = u128;
    const SCHEME: &'static Scheme = &Scheme {
        name: "sequential-uuid-counter",
        aliases: &[],
        summary: "random, behind the number of a block of ids: neighbours share index pages",
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
            "00050b74-96a7-4f3f-9b7d-1d6f0a3c5e12",
            &[5, 0x0b74_96a7, 4, 0xf3f, 0b10, 0x1b7d_1d6f_0a3c_5e12],
        )],
        facts: Facts {
            sortable: Sortable::No,
            coordination: Coordination::Nothing,
            collisions: "106 random bits a block",
            leaks: "about how many ids were made",
            sql: ("uuid", "binary(16)"),
            surprise: None,
        },
        methods: &[],
        settings: &[Setting::Blocks, Setting::First],
        generator: Some(|settings| placed::by_counter("sequential-uuid-counter", settings)),
    };
}

const_id!(SequentialUuidCounterScheme, u128);
