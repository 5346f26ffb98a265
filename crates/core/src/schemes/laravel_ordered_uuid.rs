//! Ordered UUIDs of Laravel (TimestampFirstComb of ramsey/uuid): units of 10 µs where a version 4 UUID has random bits. A single one can't be told from a random one.

use crate::generators::stateless::{self, TimeAndRandom};
use crate::id::{Id, const_id};
use crate::layout::{Field, Layout, Role, TimeBase};
use crate::mapping::Mapping;
use crate::scheme::{Coordination, Facts, Scheme, Sortable, StaticScheme};
use crate::text::UUID_FORMS;
use crate::time::UnixNanos;

/// A UUID with version 4, 128 bits.
pub type LaravelOrderedUuid = Id<LaravelOrderedUuidScheme>;

/// The description of [`LaravelOrderedUuid`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LaravelOrderedUuidScheme;

impl StaticScheme for LaravelOrderedUuidScheme {
    type Repr = u128;
    const SCHEME: &'static Scheme = &Scheme {
        name: "laravel-ordered-uuid",
        aliases: &["ordered-uuid"],
        summary: "48 bits of 10 µs since 1970 in a version 4 UUID; ends in 2059",
        source: "ramsey/uuid, CombGenerator and TimestampFirstCombCodec",
        layout: Layout::new(
            128,
            &[
                Field::new(
                    "timestamp",
                    Role::Timestamp(TimeBase { epoch: UnixNanos(0), tick_nanos: 10_000 }),
                    48,
                ),
                Field::new("ver", Role::Fixed(4), 4),
                Field::new("random_b", Role::Random, 12),
                Field::new("var", Role::Fixed(0b10), 2),
                Field::new("random_c", Role::Random, 62),
            ],
        ),
        mapping: Mapping::Identity,
        text: UUID_FORMS,
        vectors: &[(
            "9009ebcc-cd99-4b5f-90cf-9155607d2de9",
            &[158_372_285_173_145, 4, 0xb5f, 0b10, 0x10cf_9155_607d_2de9],
        )],
        facts: Facts {
            sortable: Sortable::ToTick,
            coordination: Coordination::Nothing,
            collisions: "74 random bits a tick",
            leaks: "when it was made, to 10 µs",
            sql: ("uuid", "binary(16)"),
            surprise: Some(4),
        },
        methods: &[],
        settings: &[],
        generator: Some(stateless::boxed::<TimeAndRandom<Self>>),
    };
}

const_id!(LaravelOrderedUuidScheme, u128);
