//! The quick ways of a form: which of them fits follows from the form's data, and all of them give what the one printer and the one parser
//! of [`super::plain`] give, or nothing.

use super::ascii::{Text, written};
use super::bases::Kind;
use super::{HYPHENATED, MAX_TEXT, TextForm, chunks, hex};
use crate::error::Error;
use crate::raw::RawId;
use alloc::string::String;

#[cfg(not(all(target_arch = "x86_64", target_feature = "sse2")))]
use super::simd_none as at_run_time;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
use super::simd_x86 as at_run_time;

/// How a form is spelled and read fastest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// A UUID's text: 32 hex digits in five groups, and nothing else.
    Uuid,
    /// One number in a fixed number of digits, and nothing else.
    Digits(Kind),
    /// One number without leading zeros, and nothing else.
    Number(Kind),
    /// Several numbers, groups, a prefix or a suffix.
    Dressed,
    /// Digit by digit.
    Plain,
}

impl TextForm {
    /// The way that fits the form.
    #[inline]
    pub(crate) const fn way(&self) -> Way {
        let (kind, is_usual) = (self.base.kind, self.pad_bits == 0 && self.least_first == 0);
        if self.len == 0 || self.len > MAX_TEXT || !(is_usual || kind.has_pad(self.pad_bits)) {
            return Way::Plain;
        }
        let is_bare = self.groups.is_empty() && self.prefix.is_empty() && self.suffix.is_empty();
        match (kind, is_bare && self.parts.is_empty()) {
            (Kind::Slow, _) => Way::Plain,
            (_, true) if self.is_fixed => Way::Digits(kind),
            (_, true) if is_usual => Way::Number(kind),
            (_, true) => Way::Plain,
            (_, false) => self.way_of_dressed(),
        }
    }

    #[inline(never)]
    const fn way_of_dressed(&self) -> Way {
        let is_usual = self.pad_bits == 0 && self.least_first == 0 && self.lengths().most <= MAX_TEXT;
        match self.is_fixed && is_usual {
            true if self.is_uuid() => Way::Uuid,
            true if self.is_divided_up() => Way::Dressed,
            _ => Way::Plain,
        }
    }

    /// Whether the digits are those of a UUID's text, and nothing but hyphens between them.
    const fn is_uuid(&self) -> bool {
        let expected = HYPHENATED.groups;
        let is_alike = matches!(self.base.kind, Kind::Hex)
            && self.len == 32
            && self.groups.len() == expected.len()
            && self.parts.is_empty()
            && self.prefix.is_empty()
            && self.suffix.is_empty();
        let mut group = 0;
        while is_alike && group < expected.len() {
            if self.groups[group] != expected[group] {
                return false;
            }
            group += 1;
        }
        is_alike
    }

    /// Whether parts and groups, where there are some, make up all digits.
    const fn is_divided_up(&self) -> bool {
        let (mut in_parts, mut in_groups, mut i) = (0, 0, 0);
        while i < self.parts.len() {
            in_parts += self.parts[i].len;
            i += 1;
        }
        i = 0;
        while i < self.groups.len() {
            in_groups += self.groups[i];
            i += 1;
        }
        (self.parts.is_empty() || in_parts == self.len) && (self.groups.is_empty() || in_groups == self.len)
    }

    /// Writes the text of `raw` and returns its length; 0 where digit by digit must tell what is wrong, or is the only way. What stands
    /// behind the text is overwritten with anything. `way` must be the form's.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) const fn write_const(&self, way: Way, raw: RawId, out: &mut [u8; MAX_TEXT]) -> usize {
        match way {
            Way::Uuid if raw.high() == 0 => {
                hex::spell_uuid(raw.low(), out);
                36
            }
            Way::Digits(kind) if chunks::spell((kind, self.base), raw, self.pad_bits, (0, self.len), out) => {
                self.len
            }
            Way::Number(kind) => self.write_number(kind, raw, out),
            Way::Dressed => self.write_dressed(raw, out),
            _ => 0,
        }
    }

    /// The same, with vector instructions where there are some.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn write(&self, way: Way, raw: RawId, out: &mut [u8; MAX_TEXT]) -> usize {
        if way == Way::Uuid && raw.high() == 0 {
            at_run_time::spell_uuid(raw.low(), out);
            return 36;
        }
        self.write_const(way, raw, out)
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    const fn write_number(&self, kind: Kind, raw: RawId, out: &mut [u8; MAX_TEXT]) -> usize {
        if let Some(len) = chunks::count(self.base, raw) {
            let is_spelled = len <= self.len && chunks::spell((kind, self.base), raw, 0, (0, len), out);
            return if is_spelled { len } else { 0 };
        }
        self.write_wide_number(raw, out)
    }

    /// A number that isn't known to have so many digits before they are written.
    #[inline(never)]
    const fn write_wide_number(&self, raw: RawId, out: &mut [u8; MAX_TEXT]) -> usize {
        let mut digits = [0; MAX_TEXT];
        if !chunks::spell_any(self.base, raw, (0, self.len), &mut digits) {
            return 0;
        }
        let mut zeros = 0;
        while zeros + 1 < self.len && digits[zeros] == self.base.ascii[0] {
            zeros += 1;
        }
        copy(&digits, zeros, self.len - zeros, out, 0)
    }

    #[inline(never)]
    const fn write_dressed(&self, raw: RawId, out: &mut [u8; MAX_TEXT]) -> usize {
        let mut digits = [0; MAX_TEXT];
        if self.parts.is_empty() {
            if !chunks::spell_any(self.base, raw, (0, self.len), &mut digits) {
                return 0;
            }
        } else {
            let (mut below, mut at, mut part) = (0, 0, 0);
            while part < self.parts.len() {
                below += self.parts[part].bits;
                part += 1;
            }
            part = 0;
            while part < self.parts.len() {
                let (width, len) = (self.parts[part].bits, self.parts[part].len);
                below -= width;
                let number = RawId::new(raw.bits(below, width));
                if !chunks::spell_any(self.base, number, (at, len), &mut digits) {
                    return 0;
                }
                (at, part) = (at + len, part + 1);
            }
        }
        let mut at = super::copy(out, 0, self.prefix.as_bytes());
        if self.groups.is_empty() {
            at = copy(&digits, 0, self.len, out, at);
        } else {
            let (mut group, mut from) = (0, 0);
            while group < self.groups.len() {
                if group > 0 {
                    out[at] = b'-';
                    at += 1;
                }
                at = copy(&digits, from, self.groups[group], out, at);
                (from, group) = (from + self.groups[group], group + 1);
            }
        }
        super::copy(out, at, self.suffix.as_bytes())
    }

    /// The id of `bits` bits that `text` spells; `None` where digit by digit must tell what is wrong, or is the only way. `way` must be
    /// the form's.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) const fn read_const(&self, way: Way, text: &[u8], bits: u32) -> Option<RawId> {
        let read = match way {
            Way::Uuid => match text.as_array::<36>() {
                Some(text) => match hex::read_uuid(text) {
                    Some(uuid) => Some(RawId::new(uuid)),
                    None => None,
                },
                None => None,
            },
            Way::Digits(kind) if text.len() == self.len => self.read_digits(kind, text),
            Way::Number(kind) => self.read_number(kind, text),
            Way::Dressed => return self.read_dressed(text, bits),
            _ => None,
        };
        match read {
            Some(raw) if raw.fits(bits) => Some(raw),
            _ => None,
        }
    }

    /// The same, with vector instructions where there are some.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn read(&self, way: Way, text: &[u8], bits: u32) -> Option<RawId> {
        if way == Way::Uuid {
            let uuid = at_run_time::read_uuid(text.as_array()?)?;
            return Some(RawId::new(uuid)).filter(|raw| raw.fits(bits));
        }
        if way == Way::Digits(Kind::Crockford)
            && self.len == 26
            && self.pad_bits == 0
            && self.least_first == 0
            && bits <= 128
        {
            return Some(RawId::new(at_run_time::read_ulid(text.as_array()?)?)).filter(|raw| raw.fits(bits));
        }
        self.read_const(way, text, bits)
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    const fn read_digits(&self, kind: Kind, text: &[u8]) -> Option<RawId> {
        if self.least_first > 0 && self.base.values[text[0] as usize] < self.least_first {
            return None;
        }
        chunks::read((kind, self.base), text, self.pad_bits)
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    const fn read_number(&self, kind: Kind, text: &[u8]) -> Option<RawId> {
        let is_number = match text {
            [] => false,
            [_] => true,
            [first, ..] => *first != self.base.ascii[0],
        };
        if is_number { chunks::read((kind, self.base), text, 0) } else { None }
    }

    #[inline(never)]
    const fn read_dressed(&self, text: &[u8], bits: u32) -> Option<RawId> {
        if text.len() != self.lengths().most {
            return None;
        }
        let (prefix, text) = text.split_at(self.prefix.len());
        let (text, suffix) = text.split_at(text.len() - self.suffix.len());
        if !is_like(prefix, self.prefix.as_bytes(), self.base.any_case)
            || !is_like(suffix, self.suffix.as_bytes(), false)
        {
            return None;
        }
        let mut digits = [0; MAX_TEXT];
        if self.groups.is_empty() {
            copy(text, 0, self.len, &mut digits, 0);
        } else {
            let (mut group, mut from, mut at) = (0, 0, 0);
            while group < self.groups.len() {
                if group > 0 {
                    if text[from] != b'-' {
                        return None;
                    }
                    from += 1;
                }
                at = copy(text, from, self.groups[group], &mut digits, at);
                (from, group) = (from + self.groups[group], group + 1);
            }
        }
        let (mut digits, _) = digits.split_at(self.len);
        if self.parts.is_empty() {
            return match chunks::read_any(self.base, digits) {
                Some(raw) if raw.fits(bits) => Some(raw),
                _ => None,
            };
        }
        let (mut raw, mut below, mut part) = (RawId::ZERO, bits, 0);
        while part < self.parts.len() {
            let width = self.parts[part].bits;
            let (own, rest) = digits.split_at(self.parts[part].len);
            let Some(number) = chunks::read_any(self.base, own) else { return None };
            if !number.fits(width) || width > below {
                return None;
            }
            below -= width;
            raw = raw.with_bits(below, width, number.low());
            (digits, part) = (rest, part + 1);
        }
        Some(raw)
    }

    /// Spells `raw` at the beginning of `buffer`; what stands behind it is overwritten with anything.
    ///
    /// ```
    /// use mintage::{RawId, text::{DECIMAL, MAX_TEXT}};
    /// assert_eq!(DECIMAL.encode(RawId::new(42), &mut [0; MAX_TEXT]), Ok("42"));
    /// ```
    ///
    /// # Errors
    /// See [`TextForm::print`].
    pub fn encode<'b>(&self, raw: RawId, buffer: &'b mut [u8; MAX_TEXT]) -> Result<&'b str, Error> {
        let mut len = self.write(self.way(), raw, buffer);
        if len == 0 {
            let text = self.print(raw)?;
            (*buffer, len) = (text.bytes, text.len);
        }
        Ok(written(&buffer[..len]))
    }

    /// Appends the text of each of `ids`, and a line end behind it.
    ///
    /// ```
    /// use mintage::{RawId, text::DECIMAL};
    /// let mut lines = String::new();
    /// DECIMAL.print_lines([1_u64, 20].into_iter().map(RawId::from), &mut lines)?;
    /// assert_eq!(lines, "1\n20\n");
    /// # Ok::<(), mintage::Error>(())
    /// ```
    ///
    /// # Errors
    /// See [`TextForm::print`]; the ids before the one that has no text are appended.
    #[inline]
    pub fn print_lines(&self, ids: impl IntoIterator<Item = RawId>, out: &mut String) -> Result<(), Error> {
        // One loop a way, in which the way is known.
        match self.way() {
            Way::Uuid => self.lines(Way::Uuid, ids, out),
            Way::Digits(Kind::Hex) => self.lines(Way::Digits(Kind::Hex), ids, out),
            Way::Digits(Kind::Crockford) => self.lines(Way::Digits(Kind::Crockford), ids, out),
            Way::Digits(Kind::Bits(5)) => self.lines(Way::Digits(Kind::Bits(5)), ids, out),
            Way::Digits(Kind::Bits(6)) => self.lines(Way::Digits(Kind::Bits(6)), ids, out),
            Way::Digits(Kind::Chunks(62)) => self.lines(Way::Digits(Kind::Chunks(62)), ids, out),
            Way::Number(Kind::Chunks(10)) => self.lines(Way::Number(Kind::Chunks(10)), ids, out),
            way => self.lines(way, ids, out),
        }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn lines(&self, way: Way, ids: impl IntoIterator<Item = RawId>, out: &mut String) -> Result<(), Error> {
        // Lines are gathered on the stack, so that the heap is touched once for many of them.
        let (mut block, mut at) = ([0; BLOCK], 0);
        for id in ids {
            // A text and the line end behind it.
            if at + MAX_TEXT + 1 > BLOCK {
                out.push_str(written(&block[..at]));
                at = 0;
            }
            let Some(place) = block[at..].first_chunk_mut() else { continue }; // not reached: there is room
            let mut len = self.write(way, id, place);
            if len == 0 {
                match self.print(id) {
                    Ok(text) => (*place, len) = (text.bytes, text.len),
                    Err(error) => {
                        out.push_str(written(&block[..at]));
                        return Err(error);
                    }
                }
            }
            block[at + len] = b'\n';
            at += len + 1;
        }
        out.push_str(written(&block[..at]));
        Ok(())
    }

    /// The text of `raw`, with vector instructions where there are some; where there is no quick one, that of `plainly`. `way` must be the
    /// form's.
    #[inline]
    pub(crate) fn text(&self, way: Way, raw: RawId, plainly: impl FnOnce(RawId) -> Text) -> Text {
        let mut text = Text::EMPTY;
        text.len = self.write(way, raw, &mut text.bytes);
        if text.len > 0 { text } else { plainly(raw) }
    }

    /// The same in `buffer`.
    #[inline]
    pub(crate) fn text_in<'b>(
        &self,
        way: Way,
        raw: RawId,
        buffer: &'b mut [u8; MAX_TEXT],
        plainly: impl FnOnce(RawId) -> Text,
    ) -> &'b str {
        let mut len = self.write(way, raw, buffer);
        if len == 0 {
            let text = plainly(raw);
            (*buffer, len) = (text.bytes, text.len);
        }
        written(&buffer[..len])
    }
}

/// Bytes of lines that are gathered before they are appended.
const BLOCK: usize = 4096;

/// Copies `len` bytes of `from`, from place `start` on, to place `at`; returns the place behind them.
#[inline]
const fn copy(from: &[u8], start: usize, len: usize, to: &mut [u8; MAX_TEXT], at: usize) -> usize {
    to.split_at_mut(at).1.split_at_mut(len).0.copy_from_slice(from.split_at(start).1.split_at(len).0);
    at + len
}

/// Whether `text` is `expected`, in either case with `any_case`, which then is lower case.
const fn is_like(text: &[u8], expected: &[u8], any_case: bool) -> bool {
    let mut i = 0;
    while i < text.len() {
        let found = if any_case { text[i].to_ascii_lowercase() } else { text[i] };
        if found != expected[i] {
            return false;
        }
        i += 1;
    }
    true
}

#[cfg(test)]
mod tests;
