//! UUID version 4: 122 random bits.

use crate::entropy::{Draw, Entropy};
use crate::error::Error;
#[cfg(feature = "std")]
use crate::generators::stateless::Stateless;
use crate::generators::stateless::{self, Recipe};
use crate::id::{Id, const_id};
use crate::layout::{Field, Layout, Role};
use crate::mapping::Mapping;
use crate::rfc9562::stamped;
#[cfg(feature = "std")]
use crate::scheme::Mint;
use crate::scheme::{Coordination, Facts, Scheme, Sortable, StaticScheme};
use crate::text::UUID_FORMS;
use crate::time::UnixNanos;

/// A version 4 UUID, 128 bits.
pub type UuidV4 = Id<UuidV4Scheme>;

/// The description of [`UuidV4`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UuidV4Scheme;

impl StaticScheme for UuidV4Scheme {
    type Repr = u128;
    const SCHEME: &'static Scheme = &Scheme {
        name: "uuid-v4",
        aliases: &["uuid4", "uuidv4", "v4"],
        summary: "random",
        source: "RFC 9562 section 5.4",
        layout: Layout::new(
            128,
            &[
                Field::new("random_a", Role::Random, 48),
                Field::new("ver", Role::Fixed(4), 4),
                Field::new("random_b", Role::Random, 12),
                Field::new("var", Role::Fixed(0b10), 2),
                Field::new("random_c", Role::Random, 62),
            ],
        ),
        mapping: Mapping::Identity,
        text: UUID_FORMS,
        vectors: &[(
            "919108f7-52d1-4320-9bac-f847db4148a8",
            &[0x9191_08f7_52d1, 4, 0x320, 0b10, 0x1bac_f847_db41_48a8],
        )],
        facts: Facts {
            sortable: Sortable::No,
            coordination: Coordination::Nothing,
            collisions: "122 random bits: 50 % at 2.7 * 10^18 ids",
            leaks: "nothing",
            sql: ("uuid", "binary(16)"),
            surprise: Some(0),
        },
        methods: &[],
        settings: &[],
        generator: Some(stateless::boxed::<Uuid4Recipe>),
    };
}

const_id!(UuidV4Scheme, u128);

/// 122 random bits between the fixed ones.
#[derive(Clone, Copy, Debug)]
pub struct Uuid4Recipe;

impl Recipe for Uuid4Recipe {
    type Scheme = UuidV4Scheme;
    const NEEDS_TIME: bool = false;

    #[inline]
    fn make(_: UnixNanos, draw: &mut Draw<'_>) -> Result<u128, Error> {
        Ok(stamped(draw.bits(128)?, 4))
    }

    #[inline]
    fn make_one(_: UnixNanos, entropy: &impl Entropy) -> Result<u128, Error> {
        Ok(stamped(entropy.number()?, 4))
    }

    fn fill(_: UnixNanos, draw: &mut Draw<'_>, out: &mut [UuidV4]) -> Result<(), Error> {
        draw.fill_each(out, |bits| Id(stamped(bits, 4)))
    }
}

#[cfg(feature = "std")]
static SHARED: Stateless<Uuid4Recipe> = Stateless::new();

#[cfg(feature = "std")]
impl Mint for UuidV4Scheme {
    type Shared = Stateless<Uuid4Recipe>;

    fn shared() -> &'static Self::Shared {
        &SHARED
    }
}
