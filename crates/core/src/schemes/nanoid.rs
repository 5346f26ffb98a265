//! NanoID: 21 random characters of a URL-safe alphabet.

use crate::entropy::{Draw, Entropy};
use crate::error::Error;
#[cfg(feature = "std")]
use crate::generators::stateless::Stateless;
use crate::generators::stateless::{self, Recipe};
use crate::id::{Id, const_id};
use crate::layout::{Field, Layout, Role};
use crate::mapping::Mapping;
use crate::raw::mask;
#[cfg(feature = "std")]
use crate::scheme::Mint;
use crate::scheme::{Coordination, Facts, Scheme, Sortable, StaticScheme};
use crate::text::{BASE64_NANOID, TextForm};
use crate::time::UnixNanos;

/// A NanoID, 126 bits.
pub type Nanoid = Id<NanoidScheme>;

/// The description of [`Nanoid`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NanoidScheme;

/// 21 digits of the alphabet.
static NANOID_21: TextForm = TextForm::fixed("nanoid", &BASE64_NANOID, 21);

impl StaticScheme for NanoidScheme {
    type Repr = u128;
    const SCHEME: &'static Scheme = &Scheme {
        name: "nanoid",
        aliases: &["nano-id"],
        summary: "21 random characters of 64",
        source: "ai/nanoid, README",
        layout: Layout::new(126, &[Field::new("random", Role::Random, 126)]),
        mapping: Mapping::Identity,
        text: &[&NANOID_21],
        vectors: &[("V1StGXR8_Z5jdHi6B-myT", &[0x1c326fed4de3acbd5d059fd2a4207e8b])],
        facts: Facts {
            sortable: Sortable::No,
            coordination: Coordination::Nothing,
            collisions: "126 random bits: 50 % at 1.1 * 10^19 ids",
            leaks: "nothing",
            sql: ("char(21) collate \"C\"", "char(21) collate ascii_bin"),
            surprise: Some(6),
        },
        methods: &[],
        settings: &[],
        generator: Some(stateless::boxed::<NanoidRecipe>),
    };
}

const_id!(NanoidScheme, u128);

/// 126 random bits.
#[derive(Clone, Copy, Debug)]
pub struct NanoidRecipe;

impl Recipe for NanoidRecipe {
    type Scheme = NanoidScheme;
    const NEEDS_TIME: bool = false;

    #[inline]
    fn make(_: UnixNanos, draw: &mut Draw<'_>) -> Result<u128, Error> {
        draw.bits(126)
    }

    #[inline]
    fn make_one(_: UnixNanos, entropy: &impl Entropy) -> Result<u128, Error> {
        Ok(entropy.number()? & mask(126))
    }

    fn fill(_: UnixNanos, draw: &mut Draw<'_>, out: &mut [Nanoid]) -> Result<(), Error> {
        draw.fill_each(out, |bits| Id(bits & mask(126)))
    }
}

#[cfg(feature = "std")]
static SHARED: Stateless<NanoidRecipe> = Stateless::new();

#[cfg(feature = "std")]
impl Mint for NanoidScheme {
    type Shared = Stateless<NanoidRecipe>;

    fn shared() -> &'static Self::Shared {
        &SHARED
    }
}
