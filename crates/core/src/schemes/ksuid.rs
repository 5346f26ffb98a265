//! KSUID: seconds since 2014 and 128 random bits in 27 characters.

use crate::entropy::Draw;
use crate::error::Error;
use crate::generators::rule::{fit_tick, tick_at};
#[cfg(feature = "std")]
use crate::generators::stateless::Stateless;
use crate::generators::stateless::{self, Recipe};
use crate::id::{Id, const_id};
use crate::layout::{Field, Layout, Role, TimeBase};
use crate::mapping::Mapping;
use crate::raw::RawId;
#[cfg(feature = "std")]
use crate::scheme::Mint;
use crate::scheme::{Coordination, Facts, Scheme, Sortable, StaticScheme};
use crate::text::{BASE62, HEX_DIGITS, TextForm};
use crate::time::UnixNanos;

/// A KSUID, 160 bits.
pub type Ksuid = Id<KsuidScheme>;

/// The description of [`Ksuid`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KsuidScheme;

const NAME: &str = "ksuid";
const BASE: TimeBase = TimeBase::seconds_since(1_400_000_000);

/// 27 digits of base 62, at most `aWgEPTl1tmebfsQzFP4bxwgy80V`.
static BASE62_27: TextForm = TextForm::fixed("base62", &BASE62, 27);
/// The 20 bytes as hex digits, as the reference tool prints them.
static RAW: TextForm = TextForm::fixed("hex", &HEX_DIGITS, 40);

impl StaticScheme for KsuidScheme {
    type Repr = [u8; 20];
    const SCHEME: &'static Scheme = &Scheme {
        name: NAME,
        aliases: &[],
        summary: "seconds since 2014, then 128 random bits",
        source: "segmentio/ksuid, README",
        layout: Layout::new(
            160,
            &[Field::new("timestamp", Role::Timestamp(BASE), 32), Field::new("payload", Role::Random, 128)],
        ),
        mapping: Mapping::Identity,
        text: &[&BASE62_27, &RAW],
        vectors: &[
            ("0ujtsYcgvSTl8PAuAdqWYSMnLOv", &[107_608_047, 0xb5a1_cd34_b5f9_9d11_54fb_6853_345c_9735]),
            ("aWgEPTl1tmebfsQzFP4bxwgy80V", &[4_294_967_295, u128::MAX]),
        ],
        facts: Facts {
            sortable: Sortable::ToTick,
            coordination: Coordination::Nothing,
            collisions: "128 random bits a second: 50 % at 2.2 * 10^19 ids in one",
            leaks: "when it was made, to the second",
            sql: ("char(27) collate \"C\"", "char(27) collate ascii_bin"),
            surprise: Some(0),
        },
        methods: &[],
        settings: &[],
        generator: Some(stateless::boxed::<KsuidRecipe>),
    };
}

const_id!(KsuidScheme, [u8; 20]);

/// The second and 128 random bits.
#[derive(Clone, Copy, Debug)]
pub struct KsuidRecipe;

impl Recipe for KsuidRecipe {
    type Scheme = KsuidScheme;
    const NEEDS_TIME: bool = true;

    #[inline]
    fn make(now: UnixNanos, draw: &mut Draw<'_>) -> Result<[u8; 20], Error> {
        let second = fit_tick(NAME, BASE, tick_at(NAME, BASE, now)?, 32)?;
        let high = crate::raw::low_u32(u128::from(second));
        Ok(RawId::from_parts(high, draw.bits(128)?).to_be_bytes())
    }
}

impl Ksuid {
    /// The KSUID after this one; after the last comes the first.
    #[must_use]
    pub fn wrapping_next(self) -> Self {
        Self(self.raw().wrapping_next(160).to_be_bytes())
    }

    /// The KSUID before this one; before the first comes the last.
    #[must_use]
    pub fn wrapping_previous(self) -> Self {
        Self(self.raw().wrapping_previous(160).to_be_bytes())
    }

    /// The 65,536 KSUIDs that differ from this one in their last two bytes only, in order. Source: segmentio/ksuid, Sequence.
    pub fn sequence(self) -> impl Iterator<Item = Self> {
        (0..=u16::MAX).map(move |number| {
            let mut bytes = self.get();
            [bytes[18], bytes[19]] = number.to_be_bytes();
            Self(bytes)
        })
    }
}

#[cfg(feature = "std")]
static SHARED: Stateless<KsuidRecipe> = Stateless::new();

#[cfg(feature = "std")]
impl Mint for KsuidScheme {
    type Shared = Stateless<KsuidRecipe>;

    fn shared() -> &'static Self::Shared {
        &SHARED
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_wrap_and_sequences_end() {
        let max: Ksuid = "aWgEPTl1tmebfsQzFP4bxwgy80V".parse().unwrap();
        assert_eq!(max.wrapping_next().to_string(), "000000000000000000000000000");
        assert_eq!(max.wrapping_next().wrapping_previous(), max);
        assert_eq!(max.sequence().count(), 65_536);
        assert_eq!(max.sequence().last(), Some(max));
    }
}
