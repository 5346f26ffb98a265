//! The texts of UUIDs and ULIDs by vector instructions of x86-64: those of SSE2, which every such processor has, and for reading UUIDs
//! those of AVX2 where there are some. The same functions without them are in [`super::simd_none`].

#![expect(unsafe_code, reason = "vector instructions: printing and reading take half of the time or less")]

use super::{MAX_TEXT, hex};
use crate::raw::low_u64;
use core::arch::x86_64::{
    __m128i, _mm_add_epi8, _mm_adds_epu8, _mm_and_si128, _mm_andnot_si128, _mm_cmpeq_epi8, _mm_cmpgt_epi8,
    _mm_cvtsi32_si128, _mm_cvtsi128_si64, _mm_loadl_epi64, _mm_loadu_si128, _mm_madd_epi16, _mm_min_epu8,
    _mm_movemask_epi8, _mm_or_si128, _mm_packus_epi16, _mm_set_epi64x, _mm_set1_epi8, _mm_set1_epi16,
    _mm_set1_epi32, _mm_set1_epi64x, _mm_slli_epi16, _mm_slli_epi64, _mm_slli_si128, _mm_srli_epi16,
    _mm_srli_epi64, _mm_srli_si128, _mm_sub_epi8, _mm_subs_epu8, _mm_unpackhi_epi8, _mm_unpackhi_epi64,
    _mm_unpacklo_epi8, _mm_unpacklo_epi32, _mm_unpacklo_epi64, _mm256_add_epi8, _mm256_adds_epu8,
    _mm256_and_si256, _mm256_castsi256_si128, _mm256_cmpeq_epi8, _mm256_extracti128_si256,
    _mm256_insert_epi16, _mm256_insert_epi32, _mm256_loadu_si256, _mm256_maddubs_epi16, _mm256_min_epu8,
    _mm256_movemask_epi8, _mm256_set1_epi8, _mm256_set1_epi16, _mm256_setr_epi8, _mm256_shuffle_epi8,
    _mm256_sub_epi8, _mm256_subs_epu8, _mm256_testz_si256,
};

/// Writes a UUID's text, 36 characters.
#[inline]
pub(super) fn spell_uuid(uuid: u128, out: &mut [u8; MAX_TEXT]) {
    // SAFETY: this module is compiled only where SSE2 is on for the whole program.
    let [a, b, c, d] = unsafe { spell_sse2(uuid) };
    let pieces = [(0, a), (9, b), (14, b >> 32), (19, c), (24, c >> 32)];
    for (at, piece) in pieces {
        out[at..at + 8].copy_from_slice(&piece.to_le_bytes());
    }
    out[28..36].copy_from_slice(&d.to_le_bytes());
    for at in [8, 13, 18, 23] {
        out[at] = b'-';
    }
}

/// The 32 digits, eight a word, the first in the lowest byte.
#[target_feature(enable = "sse2")]
#[inline]
fn spell_sse2(uuid: u128) -> [u64; 4] {
    let bytes = _mm_set_epi64x(
        low_u64(uuid).swap_bytes().cast_signed(),
        low_u64(uuid >> 64).swap_bytes().cast_signed(),
    );
    let mask = _mm_set1_epi8(0xf);
    let (high, low) = (_mm_and_si128(_mm_srli_epi16::<4>(bytes), mask), _mm_and_si128(bytes, mask));
    let digits = |nibbles| {
        let letters =
            _mm_and_si128(_mm_cmpgt_epi8(nibbles, _mm_set1_epi8(9)), _mm_set1_epi8(signed(b'a' - b'9' - 1)));
        _mm_add_epi8(_mm_add_epi8(nibbles, _mm_set1_epi8(signed(b'0'))), letters)
    };
    let [first, second] = [_mm_unpacklo_epi8(high, low), _mm_unpackhi_epi8(high, low)].map(digits);
    let ([a, b], [c, d]) = (words(first), words(second));
    [a, b, c, d]
}

/// The UUID that a text of 36 characters spells; `None` when it spells none.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn read_uuid(text: &[u8; 36]) -> Option<u128> {
    if has_avx2() {
        // SAFETY: the processor has AVX2.
        let uuid = unsafe { read_avx2(text) };
        if uuid == u128::MAX { hex::read_uuid(text) } else { Some(uuid) }
    } else {
        // SAFETY: this module is compiled only where SSE2 is on for the whole program.
        unsafe { read_sse2(text) }
    }
}

#[cfg(feature = "std")]
#[inline]
fn has_avx2() -> bool {
    std::arch::is_x86_feature_detected!("avx2")
}

/// Without `std` nothing asks the processor.
#[cfg(not(feature = "std"))]
#[inline]
const fn has_avx2() -> bool {
    cfg!(target_feature = "avx2")
}

// What both readers do to each digit. Added to 0xf6 above `0`, a decimal digit is at least 0xf6; six less without wrapping, it is 0xf0
// and its value, which all other characters end up above or at 0x10 from. A letter in upper case is its distance from `A` plus ten, which
// all others reach 16 with. The lesser of the two is below 16 for hex digits alone. Source: Wojciech Muła and Geoff Langdale, hex parsing.

#[target_feature(enable = "sse2")]
#[inline]
fn read_sse2(text: &[u8; 36]) -> Option<u128> {
    if [text[8], text[13], text[18], text[23]] != [b'-'; 4] {
        return None;
    }
    let [a, b] = gather(text);
    let values = |digits| {
        let decimal = _mm_sub_epi8(
            _mm_subs_epu8(_mm_add_epi8(digits, _mm_set1_epi8(signed(0xff - b'9'))), _mm_set1_epi8(6)),
            _mm_set1_epi8(signed(0xf0)),
        );
        let upper = _mm_and_si128(digits, _mm_set1_epi8(signed(0xdf)));
        let letter = _mm_adds_epu8(_mm_sub_epi8(upper, _mm_set1_epi8(signed(b'A'))), _mm_set1_epi8(10));
        _mm_min_epu8(decimal, letter)
    };
    let (a, b) = (values(a), values(b));
    let above_15 = _mm_adds_epu8(_mm_or_si128(a, b), _mm_set1_epi8(0x7f - 15));
    if _mm_movemask_epi8(above_15) != 0 {
        return None;
    }
    let mask = _mm_set1_epi16(0xff);
    let high = _mm_packus_epi16(_mm_and_si128(a, mask), _mm_and_si128(b, mask));
    let low = _mm_packus_epi16(_mm_srli_epi16::<8>(a), _mm_srli_epi16::<8>(b));
    Some(number(_mm_or_si128(_mm_slli_epi16::<4>(high), low)))
}

/// The 32 digits without the hyphens.
#[target_feature(enable = "sse2")]
#[inline]
fn gather(text: &[u8; 36]) -> [__m128i; 2] {
    // SAFETY: eight bytes from 28 on are the last that are read. Put together from bytes, they would be loaded twice and shifted.
    let eight = |at: usize| unsafe { _mm_loadl_epi64(text[at..at + 8].as_ptr().cast()) };
    let four = |at: usize| {
        _mm_cvtsi32_si128(i32::from_le_bytes([text[at], text[at + 1], text[at + 2], text[at + 3]]))
    };
    [
        _mm_unpacklo_epi64(eight(0), _mm_unpacklo_epi32(four(9), four(14))),
        _mm_unpacklo_epi64(_mm_unpacklo_epi32(four(19), four(24)), eight(28)),
    ]
}

/// A bit for each place of a hyphen.
const HYPHENS: i32 = 1 << 8 | 1 << 13 | 1 << 18 | 1 << 23;

/// `u128::MAX` when it spells none, or that number. No `Option`: the function can't be put in line where AVX2 isn't on, and only a number
/// without a tag comes back in registers.
#[target_feature(enable = "avx2")]
fn read_avx2(text: &[u8; 36]) -> u128 {
    // SAFETY: 32 bytes of 36 are read. Put together from words, it would take five instructions.
    let start = unsafe { _mm256_loadu_si256(text.as_ptr().cast()) };
    let hyphens = _mm256_movemask_epi8(_mm256_cmpeq_epi8(start, _mm256_set1_epi8(signed(b'-'))));
    if hyphens & HYPHENS != HYPHENS {
        return u128::MAX;
    }
    // Each half of 16 bytes moves up over its hyphens; the digits that cross the middle and those behind it are put in from the text.
    #[rustfmt::skip]
    let closed = _mm256_shuffle_epi8(start, _mm256_setr_epi8(
        0, 1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 14, 15, -1, -1,
        3, 4, 5, 6, 8, 9, 10, 11, 12, 13, 14, 15, -1, -1, -1, -1,
    ));
    let crossing = i16::from_le_bytes([text[16], text[17]]);
    let end = i32::from_le_bytes([text[32], text[33], text[34], text[35]]);
    let digits = _mm256_insert_epi32::<7>(_mm256_insert_epi16::<7>(closed, crossing), end);
    let decimal = _mm256_sub_epi8(
        _mm256_subs_epu8(_mm256_add_epi8(digits, _mm256_set1_epi8(signed(0xff - b'9'))), _mm256_set1_epi8(6)),
        _mm256_set1_epi8(signed(0xf0)),
    );
    let upper = _mm256_and_si256(digits, _mm256_set1_epi8(signed(0xdf)));
    let letter =
        _mm256_adds_epu8(_mm256_sub_epi8(upper, _mm256_set1_epi8(signed(b'A'))), _mm256_set1_epi8(10));
    let values = _mm256_min_epu8(decimal, letter);
    if _mm256_testz_si256(values, _mm256_set1_epi8(signed(0xf0))) == 0 {
        return u128::MAX;
    }
    let pairs = _mm256_maddubs_epi16(values, _mm256_set1_epi16(0x0110));
    let bytes = _mm_packus_epi16(_mm256_castsi256_si128(pairs), _mm256_extracti128_si256::<1>(pairs));
    number(bytes)
}

/// The number that 26 digits of Crockford's base 32 spell in either case; `None` when one of them isn't a digit, or above 128 bits.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn read_ulid(text: &[u8; 26]) -> Option<u128> {
    // SAFETY: this module is compiled only where SSE2 is on for the whole program.
    unsafe { read_ulid_sse2(text) }
}

#[target_feature(enable = "sse2")]
#[inline]
fn read_ulid_sse2(text: &[u8; 26]) -> Option<u128> {
    // SAFETY: bytes 0 to 15 and 10 to 25 of 26 are read. Put together from words, they would take several instructions each.
    let [start, end] =
        unsafe { [_mm_loadu_si128(text.as_ptr().cast()), _mm_loadu_si128(text[10..].as_ptr().cast())] };
    // The first ten digits, with zeros before them.
    let zeros = _mm_srli_si128::<10>(_mm_set1_epi8(signed(b'0')));
    let ([a, a_is_digit], [b, b_is_digit]) =
        (crockford(_mm_or_si128(_mm_slli_si128::<6>(start), zeros)), crockford(end));
    if _mm_movemask_epi8(_mm_and_si128(a_is_digit, b_is_digit)) != 0xffff {
        return None;
    }
    let ([first, second], [third, fourth]) = (words(packed_by_40(a)), words(packed_by_40(b)));
    // Two digits have ten bits, of which an id has eight.
    if first > 0xff {
        return None;
    }
    let (high, low) = (first << 56 | second << 16 | third >> 24, third << 40 | fourth);
    Some(u128::from(high) << 64 | u128::from(low))
}

/// The values of 16 digits of Crockford's base 32, and all bits set for each that is one.
#[target_feature(enable = "sse2")]
#[inline]
fn crockford(text: __m128i) -> [__m128i; 2] {
    let each = |byte| _mm_set1_epi8(signed(byte));
    let upper = _mm_and_si128(text, each(0xdf));
    let mut letter = _mm_add_epi8(upper, _mm_set1_epi8(10 - signed(b'A')));
    let mut is_letter =
        _mm_and_si128(_mm_cmpgt_epi8(upper, each(b'A' - 1)), _mm_cmpgt_epi8(each(b'Z' + 1), upper));
    for missing in *b"ILOU" {
        // One less for each letter that is left out before it.
        letter = _mm_add_epi8(letter, _mm_cmpgt_epi8(upper, each(missing)));
        is_letter = _mm_andnot_si128(_mm_cmpeq_epi8(upper, each(missing)), is_letter);
    }
    let decimal = _mm_sub_epi8(text, each(b'0'));
    let is_decimal = _mm_cmpeq_epi8(_mm_min_epu8(decimal, each(9)), decimal);
    let value = _mm_or_si128(_mm_and_si128(letter, is_letter), _mm_and_si128(decimal, is_decimal));
    [value, _mm_or_si128(is_letter, is_decimal)]
}

/// Sixteen values of five bits as two words of 40, the first value the most significant.
#[target_feature(enable = "sse2")]
#[inline]
fn packed_by_40(values: __m128i) -> __m128i {
    let first = _mm_and_si128(values, _mm_set1_epi16(0xff));
    let pairs = _mm_or_si128(_mm_slli_epi16::<5>(first), _mm_srli_epi16::<8>(values));
    let fours = _mm_madd_epi16(pairs, _mm_set1_epi32(1 << 16 | 1 << 10));
    let upper = _mm_and_si128(_mm_slli_epi64::<20>(fours), _mm_set1_epi64x((1 << 40) - 1));
    _mm_or_si128(upper, _mm_srli_epi64::<32>(fours))
}

/// The number whose big-endian bytes these are.
#[target_feature(enable = "sse2")]
#[inline]
fn number(bytes: __m128i) -> u128 {
    let [high, low] = words(bytes).map(u64::swap_bytes);
    u128::from(high) << 64 | u128::from(low)
}

/// The lower and the upper word.
#[target_feature(enable = "sse2")]
#[inline]
fn words(vector: __m128i) -> [u64; 2] {
    [_mm_cvtsi128_si64(vector), _mm_cvtsi128_si64(_mm_unpackhi_epi64(vector, vector))].map(i64::cast_unsigned)
}

/// A byte as the intrinsics take it.
const fn signed(byte: u8) -> i8 {
    byte.cast_signed()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::raw::RawId;
    use crate::text::{CROCKFORD32, TextForm};
    use proptest::prelude::*;

    /// Every reader that this processor can run.
    fn read_all(text: &[u8; 36]) -> Vec<Option<u128>> {
        // SAFETY: this module is compiled only where SSE2 is on for the whole program.
        let mut read = vec![read_uuid(text), unsafe { read_sse2(text) }];
        if has_avx2() {
            // SAFETY: the processor has AVX2.
            let uuid = unsafe { read_avx2(text) };
            read.push(if uuid == u128::MAX { hex::read_uuid(text) } else { Some(uuid) });
        }
        read
    }

    #[test]
    fn each_byte_at_each_place_is_read_as_without_vectors() {
        for at in 0..36 {
            for byte in 0..=u8::MAX {
                let mut text = *b"67e55044-10B1-426f-9247-bB680e5fe0c8";
                text[at] = byte;
                let expected = hex::read_uuid(&text);
                assert!(read_all(&text).iter().all(|read| *read == expected), "{byte} at {at}");
            }
        }
    }

    /// The digits without vectors.
    fn read_ulid_plainly(text: &[u8]) -> Option<u128> {
        CROCKFORD32_26.parse_plainly(std::str::from_utf8(text).ok()?, 128, "ulid").ok().map(RawId::low)
    }

    static CROCKFORD32_26: TextForm = TextForm::fixed("crockford32", &CROCKFORD32, 26);

    #[test]
    fn each_byte_at_each_place_of_a_ulid_is_read_as_without_vectors() {
        for at in 0..26 {
            for byte in 0..=u8::MAX {
                let mut text = *b"01ARZ3NDEKtsv4rrffq69g5fav";
                text[at] = byte;
                assert_eq!(read_ulid(&text), read_ulid_plainly(&text), "{byte} at {at}");
            }
        }
    }

    proptest! {
        #[test]
        fn ulids_are_read_as_without_vectors(digits in proptest::collection::vec(0..32_usize, 26)) {
            let text: Vec<u8> = digits.iter().map(|digit| CROCKFORD32.digits()[*digit]).collect();
            let read = read_ulid(text.as_array().unwrap());
            prop_assert_eq!(read, read_ulid_plainly(&text));
            prop_assert_eq!(read.is_some(), digits[0] < 8);
        }

        #[test]
        fn uuids_are_spelled_as_without_vectors(uuid in any::<u128>()) {
            let (mut with, mut without) = ([7; MAX_TEXT], [7; MAX_TEXT]);
            spell_uuid(uuid, &mut with);
            hex::spell_uuid(uuid, &mut without);
            prop_assert_eq!(with, without);
            let text: &[u8; 36] = with.first_chunk().unwrap();
            prop_assert!(read_all(text).iter().all(|read| *read == Some(uuid)));
        }
    }
}
