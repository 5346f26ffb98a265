//! UUID version 1: the time in an order that does not sort, and who made it.

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

/// A version 1 UUID, 128 bits.
pub type UuidV1 = Id<UuidV1Scheme>;

/// The description of [`UuidV1`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UuidV1Scheme;

impl StaticScheme for UuidV1Scheme {
    type Repr = u128;
    const SCHEME: &'static Scheme = &Scheme {
        name: "uuid-v1",
        aliases: &["uuid1", "uuidv1", "v1"],
        summary: "100 ns since 1582 in scattered parts, clock sequence and node",
        source: "RFC 9562 section 5.1",
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
        mapping: Mapping::Identity,
        text: UUID_FORMS,
        vectors: &[(
            "c232ab00-9414-11ec-b3c8-9f6bdeced846",
            &[0xc232_ab00, 0x9414, 1, 0x1ec, 0b10, 0x33c8, 0x9f6b_dece_d846],
        )],
        facts: Facts {
            sortable: Sortable::No,
            coordination: Coordination::Nothing,
            collisions: "random node and clock sequence a process: 61 bits between two processes",
            leaks: "when it was made, to 100 ns, and the node: often a network card's address",
            sql: ("uuid", "binary(16)"),
            surprise: Some(2),
        },
        methods: &[],
        settings: &[],
        generator: Some(|settings| locked::boxed(GregorianRule::<Self>::NEW, settings)),
    };
}

const_id!(UuidV1Scheme, u128);

#[cfg(feature = "std")]
static SHARED: Locked<GregorianRule<UuidV1Scheme>> = Locked::new(GregorianRule::NEW);

#[cfg(feature = "std")]
impl Mint for UuidV1Scheme {
    type Shared = Locked<GregorianRule<Self>>;

    fn shared() -> &'static Self::Shared {
        &SHARED
    }
}
