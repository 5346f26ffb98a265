//! Text forms: how an id is spelled, as data; one parser and one printer for all of them.
//!
//! Parsing is strict: one length, one alphabet, the separators in place, nothing above the largest id.

mod bases;

pub use bases::*;

use crate::error::{Error, Lengths};
use crate::raw::RawId;
use alloc::format;
use alloc::string::String;
use bases::{NONE, SKIPPED};
use core::fmt;

/// Forms that any id can be spelled in, by the bits it has; all but `decimal` have one width for each number of bits. The digits of
/// `hex`, `crockford32`, `base36`, `base57`, `base58` and `base62` are in ASCII order, so that text sorts as the number.
pub const GENERAL_FORMS: &[&str] = &[
    "hex",
    "decimal",
    "decimal-fixed",
    "crockford32",
    "base36",
    "base57",
    "base58",
    "base58-flickr",
    "base62",
    "base64url",
    "z-base-32",
];

/// The form of this name for ids of `bits` bits (1 to 160); `None` for a name that isn't in [`GENERAL_FORMS`].
#[must_use]
pub fn general_form(name: &str, bits: u32) -> Option<TextForm> {
    let whole_bytes = bits.div_ceil(8) * 8;
    Some(match name {
        "hex" => TextForm::for_bits("hex", &HEX_DIGITS, whole_bytes),
        "decimal" => TextForm { is_fixed: false, ..TextForm::for_bits("decimal", &DECIMAL_DIGITS, bits) },
        "decimal-fixed" => TextForm::for_bits("decimal-fixed", &DECIMAL_DIGITS, bits),
        "crockford32" => TextForm::for_bits("crockford32", &CROCKFORD32, bits),
        "base36" => TextForm::for_bits("base36", &BASE36, bits),
        "base57" => TextForm::for_bits("base57", &BASE57, bits),
        "base58" => TextForm::for_bits("base58", &BASE58, bits),
        "base58-flickr" => TextForm::for_bits("base58-flickr", &BASE58_FLICKR, bits),
        "base62" => TextForm::for_bits("base62", &BASE62, bits),
        "z-base-32" => TextForm::for_bits("z-base-32", &ZBASE32, bits),
        // Of the bytes, as RFC 4648 has it: what is left of the last digit is zero.
        "base64url" => {
            let len = whole_bytes.div_ceil(6);
            let pad_bits = len * 6 - whole_bytes;
            TextForm { pad_bits, ..TextForm::fixed("base64url", &BASE64URL, len as usize) }
        }
        _ => return None,
    })
}

/// The check symbol of a number in Crockford's base 32: its remainder by 37. Source: Douglas Crockford, Base 32.
#[must_use]
pub const fn crockford_check(raw: RawId) -> char {
    const SYMBOLS: &[u8; 37] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ*~$=U";
    SYMBOLS[raw.div_rem(37).1 as usize] as char
}

/// A number of at most `bits` bits in Crockford's base 32 without leading zeros, and its check symbol: `16JD` for 1234.
///
/// # Errors
/// [`Error::TooLarge`].
pub fn print_crockford_checked(raw: RawId, bits: u32) -> Result<String, Error> {
    let text = crockford_number(bits).print(raw)?;
    Ok(format!("{text}{}", crockford_check(raw)))
}

/// The number that `text` spells in Crockford's base 32 with a check symbol behind it. Read as his decoder reads: letters of either
/// case, I and L for 1, O for 0, hyphens anywhere, leading zeros.
///
/// # Errors
/// [`Error::Character`] for a check symbol that isn't the number's; see [`TextForm::parse_lenient`].
pub fn parse_crockford_checked(text: &str, bits: u32) -> Result<RawId, Error> {
    const SCHEME: &str = "crockford32";
    let Some((start, found)) = text.char_indices().next_back() else {
        return crockford_number(bits).parse_lenient(text, bits, SCHEME);
    };
    let raw = crockford_number(bits).parse_lenient(&text[..start], bits, SCHEME)?;
    let symbol = match found.to_ascii_uppercase() {
        'I' | 'L' => '1',
        'O' => '0',
        other => other,
    };
    if symbol == crockford_check(raw) {
        return Ok(raw);
    }
    let at = text.chars().count();
    Err(Error::Character { scheme: SCHEME, found, at, expected: "the check symbol of the digits before it" })
}

/// A number of at most `bits` bits in Crockford's base 32.
const fn crockford_number(bits: u32) -> TextForm {
    TextForm { is_fixed: false, ..TextForm::for_bits("crockford32", &CROCKFORD32, bits) }
}

/// One of several numbers that stand one behind the other in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Bits of the id that the number has, 1 to 128; the first part has the most significant ones.
    pub bits: u32,
    /// Digits that it is spelled with.
    pub len: usize,
}

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
    /// Zero bits of the last digit, in a base of a power of two whose digits hold more bits than the id.
    pub pad_bits: u32,
    /// The least value of the first digit: 10 where a text must begin with a letter.
    pub least_first: u8,
    /// The numbers that the text consists of; empty where it is one number.
    pub parts: &'static [Part],
    /// Digits a group, with `-` between groups; empty for one group.
    pub groups: &'static [usize],
    /// What stands before the digits; its letters are read in either case where those of the base are.
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
        Self {
            name,
            base,
            len,
            is_fixed: true,
            pad_bits: 0,
            least_first: 0,
            parts: &[],
            groups: &[],
            prefix: "",
            suffix: "",
        }
    }

    /// As many digits as `bits` bits need at the most.
    #[must_use]
    pub const fn for_bits(name: &'static str, base: &'static Base, bits: u32) -> Self {
        let (mut rest, mut len) = (RawId::max_of(bits), 0);
        while rest.high() != 0 || rest.low() != 0 {
            rest = rest.div_rem(base.radix()).0;
            len += 1;
        }
        Self::fixed(name, base, len)
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
            let found = if self.base.any_case { bytes[at].to_ascii_lowercase() } else { bytes[at] };
            if found != prefix[at] {
                return Err(wrong_char(bytes, at, scheme, self.prefix));
            }
            at += 1;
        }
        // `raw` holds the parts that are read, `number` the one that is being read.
        let (mut raw, mut number) = (RawId::ZERO, RawId::ZERO);
        let (mut part, mut in_part, mut below) = (0, 0, bits);
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
            if digits == 0 && value < self.least_first {
                return Err(wrong_char(bytes, at, scheme, "a lower-case letter"));
            }
            // The last digit holds fewer bits of the id where some of its own are unused.
            let unused = if digits + 1 == self.len { self.pad_bits } else { 0 };
            if value as u32 & ((1 << unused) - 1) != 0 {
                return Err(wrong_char(bytes, at, scheme, "a last digit whose unused bits are zero"));
            }
            number = match number.checked_mul_add(self.base.radix() >> unused, value as u32 >> unused) {
                Some(next) => next,
                None => return Err(self.too_large(bytes, at, end, bits, scheme)),
            };
            if digits == 1 && !self.is_fixed && bytes[at - 1] == self.base.digits[0] {
                return Err(Error::LeadingZero { scheme });
            }
            (in_group, in_part, digits, at) = (in_group + 1, in_part + 1, digits + 1, at + 1);
            if part < self.parts.len() && in_part == self.parts[part].len {
                let width = self.parts[part].bits;
                if !number.fits(width) {
                    return Err(self.too_large(bytes, at, end, bits, scheme));
                }
                below -= width;
                raw = raw.with_bits(below, width, number.low());
                (number, part, in_part) = (RawId::ZERO, part + 1, 0);
            }
        }
        let suffix = self.suffix.as_bytes();
        let mut i = 0;
        while i < suffix.len() {
            if bytes[at + i] != suffix[i] {
                return Err(wrong_char(bytes, at + i, scheme, self.suffix));
            }
            i += 1;
        }
        if !self.parts.is_empty() {
            return Ok(raw);
        }
        if !number.fits(bits) {
            return Err(Error::TooLarge { scheme, bits });
        }
        Ok(number)
    }

    /// Reads `text` as people may have copied it by hand: with what [`Base::forgiving`] allows in place of the digits and
    /// between them, and with leading zeros where the form has none. A form with groups, a prefix or a suffix, or of a base that
    /// forgives nothing, is read as [`TextForm::parse`] reads it.
    ///
    /// # Errors
    /// See [`TextForm::parse`].
    pub const fn parse_lenient(&self, text: &str, bits: u32, scheme: &'static str) -> Result<RawId, Error> {
        let is_plain = self.groups.is_empty()
            && self.parts.is_empty()
            && self.prefix.is_empty()
            && self.suffix.is_empty();
        if !(self.base.is_lenient && is_plain) {
            return self.parse(text, bits, scheme);
        }
        let bytes = text.as_bytes();
        let (mut digits, mut len, mut at) = ([0; MAX_TEXT], 0, 0);
        while at < bytes.len() {
            let value = self.base.lenient[bytes[at] as usize];
            if value == NONE {
                return Err(wrong_char(bytes, at, scheme, self.base.digit));
            }
            // Behind a leading zero its place is free for the next digit.
            if !self.is_fixed && len == 1 && digits[0] == self.base.digits[0] && value != SKIPPED {
                len = 0;
            }
            if value != SKIPPED {
                if len < MAX_TEXT {
                    digits[len] = self.base.digits[value as usize];
                }
                len += 1;
            }
            at += 1;
        }
        match core::str::from_utf8(digits.split_at(if len < MAX_TEXT { len } else { MAX_TEXT }).0) {
            Ok(digits) if len <= MAX_TEXT => self.parse(digits, bits, scheme),
            _ => Err(Error::Length { scheme, found: len, expected: self.lengths() }),
        }
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
            let may_separate = bytes[at] == b'-' && !self.groups.is_empty();
            if self.base.values[bytes[at] as usize] == NONE && !may_separate {
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
        let (text, rest) = self.spell(raw);
        if rest.high() != 0 || rest.low() != 0 {
            return Err(Error::TooLarge { scheme: self.name, bits: RawId::MAX_BITS });
        }
        Ok(text)
    }

    /// Whether `raw`, an id of `bits` bits, has a text of this form.
    pub(crate) const fn spells(&self, raw: RawId, bits: u32) -> bool {
        // Bits that 18 digits hold for certain: of the largest base that a byte can count, 126.
        let held = (self.base.radix() as u128).pow(18).ilog2() as usize;
        let holds_all = self.len * held / 18 >= (bits + self.pad_bits) as usize;
        if holds_all && self.parts.is_empty() && self.least_first == 0 {
            return true;
        }
        let (text, rest) = self.spell(raw);
        let first = self.base.values[text.bytes[self.prefix.len()] as usize];
        rest.high() == 0 && rest.low() == 0 && first >= self.least_first
    }

    /// The text of as many low digits as the form has, and the number that is left above them.
    pub(crate) const fn spell(&self, raw: RawId) -> (Text, RawId) {
        let mut text = Text { bytes: [0; MAX_TEXT], len: self.lengths().most };
        let mut digits = [0u8; MAX_TEXT];
        // From the last part to the first: `above` holds the parts that are not spelled yet.
        let (mut above, mut part) = (raw, self.parts.len());
        let (mut rest, mut i, mut first, mut in_part) = (above, self.len, 0, 0);
        if self.pad_bits > 0 {
            // Not by a shift of the whole: 160 bits have no room for the unused ones.
            let (quotient, digit) = rest.div_rem(self.base.radix() >> self.pad_bits);
            i -= 1;
            digits[i] = self.base.digits[(digit << self.pad_bits) as usize];
            rest = quotient;
        }
        while i > 0 {
            if part > 0 && in_part == 0 {
                let width = self.parts[part - 1].bits;
                rest = RawId::new(above.bits(0, width));
                above = above.shifted_down(width);
                in_part = self.parts[part - 1].len;
            }
            let (quotient, digit) = rest.div_rem(self.base.radix());
            i -= 1;
            digits[i] = self.base.digits[digit as usize];
            if !self.is_fixed && quotient.high() == 0 && quotient.low() == 0 {
                (rest, first) = (quotient, i);
                break;
            }
            rest = quotient;
            if part > 0 {
                in_part -= 1;
                if in_part == 0 {
                    if rest.high() != 0 || rest.low() != 0 {
                        break;
                    }
                    part -= 1;
                }
            }
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
        (text, rest)
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
    fn a_lenient_reader_takes_what_looks_like_a_digit() {
        let strict = CROCKFORD_26.parse("01ARYZ6S41TSV4RRFFQ69G5FAV", 128, "ulid");
        for text in
            ["oLARYZ6-S41TSV4RRF-FQ69G5FAV", "OiARYZ6S41TSV4RRFFQ69G5FAV", "-01ARYZ6S4-1TSV4RRFFQ69G5FAV-"]
        {
            assert!(CROCKFORD_26.parse(text, 128, "ulid").is_err(), "{text}");
            assert_eq!(CROCKFORD_26.parse_lenient(text, 128, "ulid"), strict, "{text}");
        }
        // U is a check symbol in Crockford's alphabet, never a digit.
        let error = CROCKFORD_26.parse_lenient("01-URYZ6S41TSV4RRFFQ69G5FAV", 128, "ulid");
        assert_eq!(
            error,
            Err(Error::Character { scheme: "ulid", found: 'U', at: 4, expected: "a crockford32 digit" })
        );
        let long = "0".repeat(100);
        assert!(matches!(
            CROCKFORD_26.parse_lenient(&long, 128, "ulid"),
            Err(Error::Length { found: 100, .. })
        ));
        assert!(HEX_40.parse_lenient("o", 160, "hex").is_err());
    }

    #[test]
    fn a_check_symbol_is_checked() {
        let number = RawId::new(1234);
        assert_eq!(print_crockford_checked(number, 64).unwrap(), "16JD");
        for text in ["16JD", "16jd", "i6Jd", "1-6-J-D", "0016JD"] {
            assert_eq!(parse_crockford_checked(text, 64), Ok(number), "{text}");
        }
        for (text, value) in
            [("00", 0), ("11", 1), ("il", 1), ("oO", 0), ("14U", 36), ("14u", 36), ("10*", 32)]
        {
            assert_eq!(parse_crockford_checked(text, 64), Ok(RawId::new(value)), "{text}");
        }
        let error = parse_crockford_checked("16JE", 64);
        let expected = "the check symbol of the digits before it";
        assert_eq!(error, Err(Error::Character { scheme: "crockford32", found: 'E', at: 4, expected }));
        for text in ["", "0", "é", "16U4", "UU", "16J-"] {
            assert!(parse_crockford_checked(text, 64).is_err(), "{text}");
        }
    }

    #[test]
    fn unused_bits_of_the_last_digit_are_zero() {
        for (bits, text) in [
            (128, "_____________________w"),
            (160, "__________________________8"),
            (96, "________________"),
            (64, "__________8"),
        ] {
            let form = general_form("base64url", bits).unwrap();
            let max = RawId::max_of(bits);
            assert_eq!(form.print(max).unwrap().as_str(), text);
            assert_eq!(form.parse(text, bits, "id"), Ok(max));
            if !text.ends_with('_') {
                let wrong = format!("{}_", &text[..text.len() - 1]);
                let error = form.parse(&wrong, bits, "id").unwrap_err();
                assert!(error.to_string().contains("unused bits are zero"), "{error}");
            }
        }
    }

    #[test]
    fn numbers_beyond_the_digits_have_no_text() {
        let last = RawId::new(36u128.pow(12) - 1);
        static BASE36_12: TextForm = TextForm::fixed("base36", &BASE36_LOWER, 12);
        assert!(BASE36_12.spells(last, 63) && !BASE36_12.spells(last.wrapping_next(63), 63));
        static LETTER_FIRST: TextForm = TextForm { least_first: 10, ..BASE36_12 };
        assert!(LETTER_FIRST.spells(last, 63) && !LETTER_FIRST.spells(RawId::ZERO, 63));
        static TWO_PARTS: TextForm = TextForm {
            parts: &[Part { bits: 6, len: 1 }, Part { bits: 6, len: 1 }],
            ..TextForm::fixed("base36", &BASE36_LOWER, 2)
        };
        assert!(TWO_PARTS.spells(RawId::new(35 << 6 | 35), 12));
        assert!(!TWO_PARTS.spells(RawId::new(36), 12) && !TWO_PARTS.spells(RawId::new(36 << 6), 12));
        assert!(CROCKFORD_26.spells(RawId::max_of(128), 128));
    }

    #[test]
    fn the_widest_id_prints_in_every_base() {
        assert_eq!(HEX_40.print(RawId::max_of(160)).unwrap().as_str(), "f".repeat(40));
        assert!(DECIMAL.print(RawId::max_of(160)).is_err());
    }
}
