//! CUID2: a letter and 23 characters of base 36 that tell nothing. The reference hashes time, a counter and a fingerprint to hide them; here the characters are drawn from the system's randomness, which has nothing to hide.

use crate::entropy::Draw;
use crate::error::Error;
use crate::generators::stateless::{self, Recipe};
use crate::id::{Id, const_id};
use crate::layout::{Field, Layout, Role};
use crate::mapping::Mapping;
use crate::scheme::{Coordination, Facts, Scheme, Sortable, StaticScheme};
use crate::text::{BASE36_LOWER, TextForm};
use crate::time::UnixNanos;

/// A CUID2 of the default length, 125 bits.
pub type Cuid2 = Id<Cuid2Scheme>;

/// The description of [`Cuid2`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cuid2Scheme;

/// A letter and 23 digits of base 36, lower case only.
static CUID2_24: TextForm = TextForm { least_first: 10, ..TextForm::fixed("base36", &BASE36_LOWER, 24) };

impl StaticScheme for Cuid2Scheme {
    type Repr = u128;
    const SCHEME: &'static Scheme = &Scheme {
        name: "cuid2",
        aliases: &[],
        summary: "a letter and 23 random characters of base 36",
        source: "paralleldrive/cuid2, README",
        layout: Layout::new(125, &[Field::new("random", Role::Random, 125)]),
        mapping: Mapping::Identity,
        text: &[&CUID2_24],
        vectors: &[("tz4a98xxat96iws9zmbrgj3a", &[18694952511474386862545888842045189030])],
        facts: Facts {
            sortable: Sortable::No,
            coordination: Coordination::Nothing,
            collisions: "124 random bits: 50 % at 5 * 10^18 ids",
            leaks: "nothing",
            sql: ("char(24) collate \"C\"", "char(24) collate ascii_bin"),
            surprise: Some(4),
        },
        methods: &[],
        settings: &[],
        generator: Some(stateless::boxed::<Cuid2Recipe>),
    };
}

const_id!(Cuid2Scheme, u128);

/// A random letter and 23 random digits, each as likely as any other.
#[derive(Clone, Copy, Debug)]
pub struct Cuid2Recipe;

/// 36^23: the digits behind the letter.
const BEHIND_THE_LETTER: u128 = 36u128.pow(23);

impl Recipe for Cuid2Recipe {
    type Scheme = Cuid2Scheme;
    const NEEDS_TIME: bool = false;

    fn make(_: UnixNanos, draw: &mut Draw<'_>) -> Result<u128, Error> {
        // Values above the last whole multiple are drawn again, so that none is likelier than another.
        loop {
            let value = draw.bits(125)?;
            if value < 26 * BEHIND_THE_LETTER {
                return Ok(10 * BEHIND_THE_LETTER + value);
            }
        }
    }
}

/// Whether a text could be a CUID2 of any length: 2 to 32 characters, a lower-case letter first. Source: paralleldrive/cuid2,
/// `isCuid`.
#[must_use]
pub fn is_cuid2(text: &str) -> bool {
    (2..=32).contains(&text.len())
        && text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.bytes().all(|b| b.is_ascii_digit() || b.is_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_length_is_recognised() {
        for text in ["tz4a98xxat96iws9zmbrgj3a", "wjfazn7qnd", "ra3f3"] {
            assert!(is_cuid2(text), "{text}");
        }
        for text in ["", "42", "aaaaDLL", "-x!ha", "a234567890123456789012345678901234"] {
            assert!(!is_cuid2(text), "{text}");
        }
    }
}
