//! The one parser and the one printer of all spellings, digit by digit by long division: what every quick way must agree with, and what
//! says what is wrong with a text.

use super::bases::NONE;
use super::{MAX_TEXT, Text, TextForm, copy};
use crate::error::Error;
use crate::raw::RawId;

impl TextForm {
    /// [`TextForm::parse`], digit by digit.
    pub(super) const fn parse_plainly(
        &self,
        text: &str,
        bits: u32,
        scheme: &'static str,
    ) -> Result<RawId, Error> {
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
pub(super) const fn wrong_char(
    bytes: &[u8],
    at: usize,
    scheme: &'static str,
    expected: &'static str,
) -> Error {
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
