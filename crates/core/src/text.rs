//! Text forms: how an id is spelled, as data; one parser and one printer for all of them, and quick ways that agree with them.
//!
//! Parsing is strict: one length, one alphabet, the separators in place, nothing above the largest id.

mod ascii;
mod bases;
mod chunks;
mod divide;
mod hex;
mod known;
mod plain;
mod quick;
#[cfg(not(all(target_arch = "x86_64", target_feature = "sse2")))]
mod simd_none;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
mod simd_x86;

pub use ascii::Text;
pub use bases::*;
pub use known::StaticForm;
pub(crate) use quick::Way;

use crate::error::{Error, Lengths};
use crate::raw::RawId;
use alloc::format;
use alloc::string::String;
use bases::{NONE, SKIPPED};
use plain::wrong_char;

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
        match self.read_const(self.way(), text.as_bytes(), bits) {
            Some(raw) => Ok(raw),
            None => self.parse_plainly(text, bits, scheme),
        }
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

    /// Spells `raw`.
    ///
    /// # Errors
    /// [`Error::TooLarge`] when the value has more digits than the form, as a decimal of 160 bits has in a form for 64.
    pub const fn print(&self, raw: RawId) -> Result<Text, Error> {
        let mut text = Text::EMPTY;
        match self.print_to(raw, &mut text) {
            Ok(()) => Ok(text),
            Err(error) => Err(error),
        }
    }

    /// [`TextForm::print`] to where the text will be read, since moving it costs as much as writing it.
    pub(crate) const fn print_to(&self, raw: RawId, text: &mut Text) -> Result<(), Error> {
        text.len = self.write_const(self.way(), raw, &mut text.bytes);
        if text.len == 0 {
            let rest;
            (*text, rest) = self.spell(raw);
            if rest.high() != 0 || rest.low() != 0 {
                return Err(Error::TooLarge { scheme: self.name, bits: RawId::MAX_BITS });
            }
        }
        Ok(())
    }

    /// Whether `raw`, an id of `bits` bits, has a text of this form.
    pub(crate) const fn spells(&self, raw: RawId, bits: u32) -> bool {
        let holds_all = self.len * self.base.bits_of_18 / 18 >= (bits + self.pad_bits) as usize;
        if holds_all && self.parts.is_empty() && self.least_first == 0 {
            return true;
        }
        match self.print(raw) {
            Ok(text) => self.base.values[text.bytes[self.prefix.len()] as usize] >= self.least_first,
            Err(_) => false,
        }
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
