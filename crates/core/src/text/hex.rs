//! Hex digits by arithmetic on whole words, eight digits at a time; a UUID's text is made of nothing else.

use super::MAX_TEXT;
use crate::raw::low_u32;

/// A byte in all eight places.
const fn each(byte: u8) -> u64 {
    0x0101_0101_0101_0101 * byte as u64
}

/// For each byte of 0 to 15, its lower-case digit.
#[inline]
const fn digits(nibbles: u64) -> u64 {
    let letters = (nibbles + each(6)) >> 4 & each(1);
    nibbles + each(b'0') + letters * (b'a' - b'0' - 10) as u64
}

/// The eight lower-case digits of `word`.
#[inline]
pub(super) const fn spell_8(word: u32) -> [u8; 8] {
    let word = word as u64;
    let word = (word | word << 16) & 0x0000_ffff_0000_ffff;
    let word = (word | word << 8) & 0x00ff_00ff_00ff_00ff;
    digits((word | word << 4) & each(0xf)).to_be_bytes()
}

/// The number that eight digits spell in either case, and something other than 0 when one isn't a hex digit.
#[inline]
pub(super) const fn read_8(text: [u8; 8]) -> (u32, u64) {
    let text = u64::from_be_bytes(text);
    // A letter has bit 6 set; a digit hasn't.
    let letters = text >> 6 & each(1);
    let nibbles = (text & each(0xf)) + letters * 9;
    // What isn't a digit is told by spelling what was read. Nibbles above 15 come from letters beyond `f` only, and are told as well,
    // since their digit is no such letter.
    let faults = (digits(nibbles & each(0xf)) ^ (text | letters << 5)) | nibbles & each(0xf0);
    let word = (nibbles | nibbles >> 4) & 0x00ff_00ff_00ff_00ff;
    let word = (word | word >> 8) & 0x0000_ffff_0000_ffff;
    (low_u32((word | word >> 16) as u128), faults)
}

/// Writes a UUID's text, 36 characters.
#[inline]
pub(super) const fn spell_uuid(uuid: u128, out: &mut [u8; MAX_TEXT]) {
    let words = [uuid >> 96, uuid >> 64, uuid >> 32, uuid];
    let [a, b, c, d] = [
        spell_8(low_u32(words[0])),
        spell_8(low_u32(words[1])),
        spell_8(low_u32(words[2])),
        spell_8(low_u32(words[3])),
    ];
    put(out, 0, a);
    put(out, 8, [b'-', b[0], b[1], b[2], b[3], b'-', b[4], b[5]]);
    put(out, 16, [b[6], b[7], b'-', c[0], c[1], c[2], c[3], b'-']);
    put(out, 24, [c[4], c[5], c[6], c[7], d[0], d[1], d[2], d[3]]);
    put(out, 28, d);
}

#[inline]
const fn put(out: &mut [u8; MAX_TEXT], at: usize, eight: [u8; 8]) {
    out.split_at_mut(at).1.split_at_mut(8).0.copy_from_slice(&eight);
}

/// The UUID that a text of 36 characters spells; `None` when it spells none.
#[inline]
pub(super) const fn read_uuid(text: &[u8; 36]) -> Option<u128> {
    let (a, a_faults) = read_8(eight(text, 0, 4));
    let (b, b_faults) = read_8(eight(text, 9, 14));
    let (c, c_faults) = read_8(eight(text, 19, 24));
    let (d, d_faults) = read_8(eight(text, 28, 32));
    let hyphens = (text[8] ^ b'-') | (text[13] ^ b'-') | (text[18] ^ b'-') | (text[23] ^ b'-');
    if a_faults | b_faults | c_faults | d_faults | hyphens as u64 != 0 {
        return None;
    }
    Some((a as u128) << 96 | (b as u128) << 64 | (c as u128) << 32 | d as u128)
}

/// Four characters at `at`, and four at `then`.
#[inline]
const fn eight(text: &[u8; 36], at: usize, then: usize) -> [u8; 8] {
    [
        text[at],
        text[at + 1],
        text[at + 2],
        text[at + 3],
        text[then],
        text[then + 1],
        text[then + 2],
        text[then + 3],
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hex_digits_are_told_from_all_other_bytes() {
        for byte in 0..=u8::MAX {
            for at in 0..8 {
                let mut text = *b"00f0A0a9";
                text[at] = byte;
                let expected = std::str::from_utf8(&text).ok().and_then(|t| u32::from_str_radix(t, 16).ok());
                let expected = expected.filter(|_| byte != b'+');
                let (word, faults) = read_8(text);
                assert_eq!((faults == 0).then_some(word), expected, "{byte} at {at}");
            }
        }
    }

    #[test]
    fn hex_digits_are_those_of_the_standard_library() {
        for word in [0, 1, 0x1234_5678, 0x9abc_def0, 0xffff_ffff, 0xa0b1_c2d3] {
            assert_eq!(spell_8(word).as_slice(), format!("{word:08x}").as_bytes());
            assert_eq!(read_8(spell_8(word)), (word, 0));
        }
    }
}
