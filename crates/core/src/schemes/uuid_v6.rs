//! UUID version 6: version 1 in an order that sorts.

use crate::generators::gregorian::GregorianRule;
use crate::generators::locked;
#[cfg(feature = "std")]
use crate::generators::locked::Locked;
use crate::id::{Id, const_id};
use crate::layout::{Field, Layout, Role, TimeBase};
use crate::mapping::Mapping;
#[cfg(feature = "std")]
use crate::scheme::Mint;
use crate::scheme::{Coordination, Facts, Scheme, Sortable, StaticScheme};
use crate::text::UUID_FORMS;

/// A version 6 UUID, 128 bits.
pub type UuidV6 = Id<UuidV6Scheme>;

/// The description of [`UuidV6`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UuidV6Scheme;

impl StaticScheme for UuidV6Scheme {
    type Repr = u128;
    const SCHEME: &'static Scheme = &Scheme {
        name: "uuid-v6",
        aliases: &["uuid6", "uuidv6", "v6"],
        summary: "version 1 with its time in sorting order",
        source: "RFC 9562 section 5.6",
        layout: Layout::new(
            128,
            &[
                Field::part("time_high", Role::Timestamp(TimeBase::GREGORIAN), 32, 28),
                Field::part("time_mid", Role::Timestamp(TimeBase::GREGORIAN), 16, 12),
                Field::new("ver", Role::Fixed(6), 4),
                Field::part("time_low", Role::Timestamp(TimeBase::GREGORIAN), 12, 0),
                Field::new("var", Role::Fixed(0b10), 2),
                Field::new("clock_seq", Role::Counter, 14),
                Field::new("node", Role::Worker, 48),
            ],
        ),
        mapping: Mapping::Identity,
        text: UUID_FORMS,
        vectors: &[(
            "1ec9414c-232a-6b00-b3c8-9f6bdeced846",
            &[0x1ec9_414c, 0x232a, 6, 0xb00, 0b10, 0x33c8, 0x9f6b_dece_d846],
        )],
        facts: Facts {
            sortable: Sortable::Strictly,
            coordination: Coordination::Nothing,
            collisions: "random node and clock sequence a process: 61 bits between two processes",
            leaks: "when it was made, to 100 ns, and the node",
            sql: ("uuid", "binary(16)"),
            surprise: Some(4),
        },
        methods: &[],
        settings: &[],
        generator: Some(|settings| locked::boxed(GregorianRule::<Self>::NEW, settings)),
    };
}

const_id!(UuidV6Scheme, u128);

#[cfg(feature = "std")]
static SHARED: Locked<GregorianRule<UuidV6Scheme>> = Locked::new(GregorianRule::NEW);

#[cfg(feature = "std")]
impl Mint for UuidV6Scheme {
    type Shared = Locked<GregorianRule<Self>>;

    fn shared() -> &'static Self::Shared {
        &SHARED
    }
}
