//! Domains: which ids a facade maps onto which public forms.

use crate::error::{Error, FacadeFault};
use crate::text::{self, Base, TextForm};
use core::fmt;
use core::str::FromStr;

/// A set of ids that a facade maps onto itself, one to one.
///
/// Its text is that of the key file: `u64`, `u63`, `uuid`, `decimal:10`, `base62:7`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Domain {
    /// Numbers from 0 to 2^64 - 1.
    U64,
    /// Numbers from 0 to 2^63 - 1: a `BIGINT` column holds each of them.
    U63,
    /// UUIDs.
    Uuid,
    /// Texts of exactly `len` digits.
    Digits {
        /// The digits.
        alphabet: Alphabet,
        /// How many.
        len: u32,
    },
}

/// Digits that a domain may be made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alphabet {
    /// 0 and 1.
    Binary,
    /// 0-9.
    Decimal,
    /// 0-9a-f; upper case is read too.
    Hex,
    /// 0-9a-z, lower case only.
    Base36,
    /// 0-9A-Za-z, in this order. Other programs put the small letters first: their texts stand for other numbers.
    Base62,
}

/// 0 and 1.
static BINARY_DIGITS: Base = Base::new("binary", "a binary digit", "01", false);

impl Alphabet {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Binary, Self::Decimal, Self::Hex, Self::Base36, Self::Base62];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.base().name
    }

    /// How many digits it has.
    #[must_use]
    pub fn radix(self) -> u32 {
        self.base().radix()
    }

    fn base(self) -> &'static Base {
        match self {
            Self::Binary => &BINARY_DIGITS,
            Self::Decimal => &text::DECIMAL_DIGITS,
            Self::Hex => &text::HEX_DIGITS,
            Self::Base36 => &text::BASE36_LOWER,
            Self::Base62 => &text::BASE62,
        }
    }

    /// Exactly `len` of its digits.
    pub(crate) fn form(self, len: u32) -> TextForm {
        TextForm::fixed(self.name(), self.base(), len as usize)
    }
}

impl Domain {
    /// What it is, in a word.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::U64 => "u64",
            Self::U63 => "u63",
            Self::Uuid => "uuid",
            Self::Digits { alphabet, .. } => alphabet.name(),
        }
    }

    /// Radix and number of digits, most significant first; `None` for UUIDs.
    #[must_use]
    pub fn numerals(self) -> Option<(u32, u32)> {
        match self {
            Self::U64 => Some((2, 64)),
            Self::U63 => Some((2, 63)),
            Self::Uuid => None,
            Self::Digits { alphabet, len } => Some((alphabet.radix(), len)),
        }
    }
}

impl fmt::Display for Domain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Digits { alphabet, len } => write!(f, "{}:{len}", alphabet.name()),
            other => f.pad(other.name()),
        }
    }
}

impl FromStr for Domain {
    type Err = Error;

    /// # Errors
    /// [`FacadeFault::DomainText`].
    fn from_str(text: &str) -> Result<Self, Error> {
        let named = [Self::U64, Self::U63, Self::Uuid].into_iter().find(|domain| domain.name() == text);
        let digits = || {
            let (name, len) = text.split_once(':')?;
            let alphabet = Alphabet::ALL.into_iter().find(|alphabet| alphabet.name() == name)?;
            // `parse` would take a sign and leading zeros.
            let is_plain = len.bytes().all(|b| b.is_ascii_digit()) && !len.starts_with('0');
            Some(Self::Digits { alphabet, len: len.parse().ok().filter(|_| is_plain)? })
        };
        named.or_else(digits).ok_or(Error::Facade { kind: "domain", fault: FacadeFault::DomainText })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn text_round_trips_and_nothing_else_is_read() {
        for text in ["u64", "u63", "uuid", "decimal:10", "base62:7", "base36:19", "hex:32", "binary:40"] {
            assert_eq!(text.parse::<Domain>().unwrap().to_string(), text);
        }
        for text in
            ["", "u62", "U64", "base62", "base62:", "base62:07", "base62:+7", "base58:7", "base62:7 ", ":7"]
        {
            assert!(text.parse::<Domain>().is_err(), "{text}");
        }
    }
}
