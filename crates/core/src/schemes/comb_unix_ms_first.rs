//! COMB in PostgreSQL's order: milliseconds in the first six bytes of a version 4 UUID.

use crate::generators::stateless::{self, TimeAndRandom};
use crate::id::{Id, const_id};
use crate::layout::{Field, Layout, Role, TimeBase};
use crate::mapping::Mapping;
use crate::raw::mask;
use crate::scheme::{Coordination, Facts, Scheme, Sortable, StaticScheme};
use crate::text::UUID_FORMS;

/// A UUID with version 4, 128 bits.
pub type CombUnixMsFirst = Id<CombUnixMsFirstScheme>;

/// The description of [`CombUnixMsFirst`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CombUnixMsFirstScheme;

impl StaticScheme for CombUnixMsFirstScheme {
    type Repr = u128;
    const SCHEME: &'static Scheme = &Scheme {
        name: "comb-unix-ms-first",
        aliases: &["comb-postgresql", "comb"],
        summary: "unix milliseconds first, in a version 4 UUID: sorts in PostgreSQL",
        source: "richardtallent/RT.Comb, README",
        layout: Layout::new(
            128,
            &[
                Field::new("timestamp", Role::Timestamp(TimeBase::millis_since(0)), 48),
                Field::new("ver", Role::Fixed(4), 4),
                Field::new("random_b", Role::Random, 12),
                Field::new("var", Role::Fixed(0b10), 2),
                Field::new("random_c", Role::Random, 62),
            ],
        ),
        mapping: Mapping::Identity,
        text: UUID_FORMS,
        vectors: &[("00dc6acf-ac00-4000-8000-000000000000", &[946_684_800_000, 4, 0, 0b10, 0])],
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

const_id!(CombUnixMsFirstScheme, u128);

/// A UUID with its first and its last 48 bits exchanged: a COMB with its time at one end becomes one with its time at the other, and
/// back. Source: ramsey/uuid, `TimestampFirstCombCodec`.
///
/// ```
/// use mintage::schemes::comb_unix_ms_first::{CombUnixMsFirst, ends_exchanged};
/// let last = mintage::CombUnixMsLast::parse("00000000-0000-4000-8000-00dc6acfac00")?;
/// let first = CombUnixMsFirst::parse("00dc6acf-ac00-4000-8000-000000000000")?;
/// assert_eq!(ends_exchanged(last.get()), first.get());
/// # Ok::<(), mintage::Error>(())
/// ```
#[must_use]
pub const fn ends_exchanged(uuid: u128) -> u128 {
    const END: u32 = 48;
    let middle = uuid & (mask(128 - 2 * END) << END);
    uuid << (128 - END) | middle | uuid >> (128 - END)
}
