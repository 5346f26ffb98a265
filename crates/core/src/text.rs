//! Text forms: how an id is spelled, as data; one parser and one printer for all of them.
//!
//! Parsing is strict: one length, one alphabet, the separators in place, nothing above the largest id.

use crate::error::{Error, Lengths};
use crate::raw::RawId;
use core::fmt;

/// Digits of a base, in the order of their value.
#[derive(Debug)]
pub struct Base {
    /// Its name, as in messages: `a crockford32 digit`.
    pub name: &'static str,
    /// What one character is called in a message.
    digit: &'static str,
    digits: &'static [u8],
    values: [u8; 256],
}

/// No digit.
const NONE: u8 = 0xff;

impl Base {
    /// The base with these ASCII digits; with `any_case` the other case of a letter is read as the same digit.
    #[must_use]
    pub const fn new(name: &'static str, digit: &'static str, digits: &'static str, any_case: bool) -> Self {
        let digits = digits.as_bytes();
        let mut values = [NONE; 256];
        let mut i = 0u8;
        while (i as usize) < digits.len() {
            let byte = digits[i as usize];
            values[byte as usize] = i;
            if any_case && byte.is_ascii_alphabetic() {
                values[(byte ^ 0x20) as usize] = i;
            }
            i += 1;
        }
        Self { name, digit, digits, values }
    }

    /// How many digits there are.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, reason = "an alphabet has at most 128 ASCII characters")]
    pub const fn radix(&self) -> u32 {
        self.digits.len() as u32
    }
}

/// 0-9.
pub static DECIMAL_DIGITS: Base = Base::new("decimal", "a decimal digit", "0123456789", false);
/// 0-9a-f; upper case is read too.
pub static HEX_DIGITS: Base = Base::new("hex", "a hex digit", "0123456789abcdef", true);
/// Crockford's base 32 without I, L, O and U; lower case is read too. Source: Douglas Crockford, Base 32.
pub static CROCKFORD32: Base =
    Base::new("crockford32", "a crockford32 digit", "0123456789ABCDEFGHJKMNPQRSTVWXYZ", true);
/// 0-9A-Za-z, in ASCII order, so that text of one length sorts as the number.
pub static BASE62: Base = Base::new(
    "base62",
    "a base62 digit",
    "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
    false,
);

/// One spelling of an id.
#[derive(Clone, Copy, Debug)]
pub struct TextForm {
    /// Its name, as in `--form`.
    pub name: &'static str,
    /// Its digits.
    pub base: &'static Base,
    /// Digits in all: exactly `len`, or 1 to `len` without leading zeros when `is_fixed` is false.
    pub len: usize,
    /// Whether shorter numbers are padded with zeros.
    pub is_fixed: bool,
    /// Digits a group, with `-` between groups; empty for one group.
    pub groups: &'static [usize],
    /// What stands before the digits; letters are read in either case.
    pub prefix: &'static str,
    /// What stands behind them.
    pub suffix: &'static str,
}

/// The longest text of any form here: 49 decimal digits, or 45 characters of a URN.
pub const MAX_TEXT: usize = 64;

impl TextForm {
    /// Exactly `len` digits.
    #[must_use]
    pub const fn fixed(name: &'static str, base: &'static Base, len: usize) -> Self {
        Self { name, base, len, is_fixed: true, groups: &[], prefix: "", suffix: "" }
    }

    /// Characters of the text: least and most.
    #[must_use]
    pub const fn lengths(&self) -> Lengths {
        let separators = if self.groups.is_empty() { 0 } else { self.groups.len() - 1 };
        let most = self.prefix.len() + self.len + separators + self.suffix.len();
        Lengths { least: if self.is_fixed { most } else { 1 }, most }
    }

    /// Whether text of this many characters can be of this form.
    #[must_use]
    pub const fn has_length(&self, chars: usize) -> bool {
        let lengths = self.lengths();
        chars >= lengths.least && chars <= lengths.most
    }

    /// Reads `text` as an id of `bits` bits; `scheme` names it in errors.
    ///
    /// # Errors
    /// [`Error::Length`], [`Error::Character`], [`Error::LeadingZero`] or [`Error::TooLarge`].
    pub const fn parse(&self, text: &str, bits: u32, scheme: &'static str) -> Result<RawId, Error> {
        let bytes = text.as_bytes();
        let chars = char_count(bytes);
        let lengths = self.lengths();
        // A longer number is told as too large, not as too long, when it consists of digits.
        if chars < lengths.least || (self.is_fixed && chars > lengths.most) {
            return Err(Error::Length { scheme, found: chars, expected: lengths });
        }
        let prefix = self.prefix.as_bytes();
        let mut at = 0;
        while at < prefix.len() {
            if bytes[at].to_ascii_lowercase() != prefix[at] {
                return Err(wrong_char(bytes, at, scheme, self.prefix));
            }
            at += 1;
        }
        let mut raw = RawId::ZERO;
        let (mut group, mut in_group, mut digits) = (0, 0, 0);
        let end = bytes.len() - self.suffix.len();
        while at < end {
            if !self.groups.is_empty() && in_group == self.groups[group] {
                if bytes[at] != b'-' {
                    return Err(wrong_char(bytes, at, scheme, "`-`"));
                }
                (group, in_group, at) = (group + 1, 0, at + 1);
                continue;
            }
            let value = self.base.values[bytes[at] as usize];
            if value == NONE {
                return Err(wrong_char(bytes, at, scheme, self.base.digit));
            }
            raw = match raw.checked_mul_add(self.base.radix(), value as u32) {
                Some(next) => next,
                None => return Err(self.too_large(bytes, at, end, bits, scheme)),
            };
            if digits == 1 && !self.is_fixed && bytes[at - 1] == self.base.digits[0] {
                return Err(Error::LeadingZero { scheme });
            }
            (in_group, digits, at) = (in_group + 1, digits + 1, at + 1);
        }
        let suffix = self.suffix.as_bytes();
        let mut i = 0;
        while i < suffix.len() {
            if bytes[at + i] != suffix[i] {
                return Err(wrong_char(bytes, at + i, scheme, self.suffix));
            }
            i += 1;
        }
        if !raw.fits(bits) {
            return Err(Error::TooLarge { scheme, bits });
        }
        Ok(raw)
    }

    /// The number is too large, unless what follows isn't a digit at all.
    const fn too_large(
        &self,
        bytes: &[u8],
        from: usize,
        end: usize,
        bits: u32,
        scheme: &'static str,
    ) -> Error {
        let mut at = from;
        while at < end {
            if self.base.values[bytes[at] as usize] == NONE && !(bytes[at] == b'-' && !self.groups.is_empty())
            {
                return wrong_char(bytes, at, scheme, self.base.digit);
            }
            at += 1;
        }
        Error::TooLarge { scheme, bits }
    }

    /// Spells `raw`.
    ///
    /// # Errors
    /// [`Error::TooLarge`] when the value has more digits than the form, as a decimal of 160 bits has in a form for 64.
    pub const fn print(&self, raw: RawId) -> Result<Text, Error> {
        let mut text = Text { bytes: [0; MAX_TEXT], len: self.lengths().most };
        let mut digits = [0u8; MAX_TEXT];
        let (mut rest, mut i, mut first) = (raw, self.len, 0);
        while i > 0 {
            let (quotient, digit) = rest.div_rem(self.base.radix());
            i -= 1;
            digits[i] = self.base.digits[digit as usize];
            if !self.is_fixed && quotient.high() == 0 && quotient.low() == 0 {
                (rest, first) = (quotient, i);
                break;
            }
            rest = quotient;
        }
        if rest.high() != 0 || rest.low() != 0 {
            return Err(Error::TooLarge { scheme: self.name, bits: RawId::MAX_BITS });
        }
        text.len -= first;
        let mut at = copy(&mut text.bytes, 0, self.prefix.as_bytes());
        let (mut group, mut in_group, mut from) = (0, 0, first);
        while from < self.len {
            if !self.groups.is_empty() && in_group == self.groups[group] {
                text.bytes[at] = b'-';
                (group, in_group, at) = (group + 1, 0, at + 1);
            }
            text.bytes[at] = digits[from];
            (at, from, in_group) = (at + 1, from + 1, in_group + 1);
        }
        copy(&mut text.bytes, at, self.suffix.as_bytes());
        Ok(text)
    }
}

const fn copy(to: &mut [u8; MAX_TEXT], at: usize, from: &[u8]) -> usize {
    let mut i = 0;
    while i < from.len() {
        to[at + i] = from[i];
        i += 1;
    }
    at + from.len()
}

/// Characters of UTF-8 text.
const fn char_count(bytes: &[u8]) -> usize {
    let (mut count, mut i) = (0, 0);
    while i < bytes.len() {
        if bytes[i] & 0xc0 != 0x80 {
            count += 1;
        }
        i += 1;
    }
    count
}

/// The error for the character that begins at byte `at`. All before it are ASCII, so bytes count characters.
const fn wrong_char(bytes: &[u8], at: usize, scheme: &'static str, expected: &'static str) -> Error {
    let (lead, mut code, mut more) = (bytes[at], 0u32, 0);
    if lead < 0x80 {
        code = lead as u32;
    } else {
        // The text is a `str`, so a lead byte is followed by as many continuation bytes as it says.
        let extra = if lead >= 0xf0 {
            3
        } else if lead >= 0xe0 {
            2
        } else {
            1
        };
        code |= (lead & (0x3f >> extra)) as u32;
        while more < extra {
            more += 1;
            code = (code << 6) | (bytes[at + more] & 0x3f) as u32;
        }
    }
    let found = match char::from_u32(code) {
        Some(found) => found,
        None => char::REPLACEMENT_CHARACTER,
    };
    Error::Character { scheme, found, at: at + 1, expected }
}

/// Text of an id, on the stack.
#[derive(Clone, Copy)]
pub struct Text {
    bytes: [u8; MAX_TEXT],
    len: usize,
}

impl Text {
    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        // Forms hold ASCII only, which is always UTF-8.
        core::str::from_utf8(&self.bytes[..self.len]).unwrap_or("")
    }

    /// The text's ASCII bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

impl core::ops::Deref for Text {
    type Target = str;
    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

/// A decimal number of at most 64 bits, without leading zeros.
pub static DECIMAL: TextForm =
    TextForm { is_fixed: false, ..TextForm::fixed("decimal", &DECIMAL_DIGITS, 20) };
/// UUID text, `8-4-4-4-12` hex digits. Source: RFC 9562 section 4.
pub static HYPHENATED: TextForm =
    TextForm { groups: &[8, 4, 4, 4, 12], ..TextForm::fixed("hyphenated", &HEX_DIGITS, 32) };
/// A UUID's 32 hex digits without hyphens.
pub static SIMPLE: TextForm = TextForm::fixed("simple", &HEX_DIGITS, 32);
/// `urn:uuid:` and UUID text. Source: RFC 9562 section 4 and RFC 2141.
pub static URN: TextForm = TextForm { name: "urn", prefix: "urn:uuid:", ..HYPHENATED };
/// UUID text in braces, as Microsoft writes GUIDs.
pub static BRACED: TextForm = TextForm { name: "braced", prefix: "{", suffix: "}", ..HYPHENATED };
/// How every UUID may be spelled; the first is canonical.
pub const UUID_FORMS: &[&TextForm] = &[&HYPHENATED, &SIMPLE, &URN, &BRACED];

#[cfg(test)]
mod tests {
    use super::*;

    static HEX_40: TextForm = TextForm::fixed("hex", &HEX_DIGITS, 40);

    #[test]
    fn errors_name_the_character_and_its_place() {
        let error = CROCKFORD_26.parse("01URZ3NDEKTSV4RRFFQ69G5FAV", 128, "ulid");
        assert_eq!(
            error,
            Err(Error::Character { scheme: "ulid", found: 'U', at: 3, expected: "a crockford32 digit" })
        );
        let error = CROCKFORD_26.parse("01é\u{1f600}Z3NDEKTSV4RRFFQ69G5FAV", 128, "ulid");
        assert_eq!(
            error,
            Err(Error::Character { scheme: "ulid", found: 'é', at: 3, expected: "a crockford32 digit" })
        );
    }

    static CROCKFORD_26: TextForm = TextForm::fixed("crockford32", &CROCKFORD32, 26);

    #[test]
    fn a_number_above_the_width_is_too_large() {
        let too_large = Err(Error::TooLarge { scheme: "ulid", bits: 128 });
        assert_eq!(CROCKFORD_26.parse("80000000000000000000000000", 128, "ulid"), too_large);
        let long = "123456789012345678901234567890123456789012345678901234567890";
        assert_eq!(DECIMAL.parse(long, 64, "d"), Err(Error::TooLarge { scheme: "d", bits: 64 }));
        assert_eq!(
            DECIMAL.parse("18446744073709551616", 64, "d"),
            Err(Error::TooLarge { scheme: "d", bits: 64 })
        );
        assert_eq!(DECIMAL.parse("18446744073709551615", 64, "d"), Ok(RawId::new(u64::MAX.into())));
    }

    #[test]
    fn decimals_have_one_spelling() {
        assert_eq!(DECIMAL.parse("007", 64, "d"), Err(Error::LeadingZero { scheme: "d" }));
        assert_eq!(DECIMAL.parse("0", 64, "d"), Ok(RawId::ZERO));
        assert_eq!(DECIMAL.print(RawId::ZERO).unwrap().as_str(), "0");
        for text in ["", "+1", "-1", " 1", "1 ", "1.0", "1e3"] {
            assert!(DECIMAL.parse(text, 64, "d").is_err(), "{text:?}");
        }
    }

    #[test]
    fn uuid_forms_round_trip() {
        let raw = RawId::new(0x67e5_5044_10b1_426f_9247_bb68_0e5f_e0c8);
        for (form, text) in [
            (&HYPHENATED, "67e55044-10b1-426f-9247-bb680e5fe0c8"),
            (&SIMPLE, "67e5504410b1426f9247bb680e5fe0c8"),
            (&URN, "urn:uuid:67e55044-10b1-426f-9247-bb680e5fe0c8"),
            (&BRACED, "{67e55044-10b1-426f-9247-bb680e5fe0c8}"),
        ] {
            assert_eq!(form.print(raw).unwrap().as_str(), text);
            assert_eq!(form.parse(text, 128, "uuid"), Ok(raw));
            assert_eq!(form.parse(&text.to_ascii_uppercase(), 128, "uuid"), Ok(raw));
        }
        let wrong = HYPHENATED.parse("67e55044-10b1-426f-9247+bb680e5fe0c8", 128, "uuid");
        assert_eq!(wrong, Err(Error::Character { scheme: "uuid", found: '+', at: 24, expected: "`-`" }));
    }

    #[test]
    fn the_widest_id_prints_in_every_base() {
        assert_eq!(HEX_40.print(RawId::max_of(160)).unwrap().as_str(), "f".repeat(40));
        assert!(DECIMAL.print(RawId::max_of(160)).is_err());
    }
}
