//! A UUID's text by vector instructions of x86-64: those of SSE2, which every such processor has, and for reading those of AVX2 where
//! there are some. The same functions without them are in [`super::hex`].

#![expect(
    unsafe_code,
    reason = "vector instructions: printing takes 0.4 and reading 0.5 of the time that words take"
)]

use super::MAX_TEXT;
use crate::raw::low_u64;
use core::arch::x86_64::{
    __m128i, _mm_add_epi8, _mm_adds_epu8, _mm_and_si128, _mm_cmpgt_epi8, _mm_cvtsi32_si128,
    _mm_cvtsi128_si64, _mm_loadl_epi64, _mm_min_epu8, _mm_movemask_epi8, _mm_or_si128, _mm_packus_epi16,
    _mm_set_epi64x, _mm_set1_epi8, _mm_set1_epi16, _mm_slli_epi16, _mm_srli_epi16, _mm_storeu_si128,
    _mm_sub_epi8, _mm_subs_epu8, _mm_unpackhi_epi8, _mm_unpackhi_epi64, _mm_unpacklo_epi8,
    _mm_unpacklo_epi32, _mm_unpacklo_epi64, _mm256_add_epi8, _mm256_adds_epu8, _mm256_and_si256,
    _mm256_castsi256_si128, _mm256_cmpeq_epi8, _mm256_extracti128_si256, _mm256_insert_epi16,
    _mm256_insert_epi32, _mm256_loadu_si256, _mm256_maddubs_epi16, _mm256_min_epu8, _mm256_movemask_epi8,
    _mm256_set1_epi8, _mm256_set1_epi16, _mm256_setr_epi8, _mm256_shuffle_epi8, _mm256_sub_epi8,
    _mm256_subs_epu8, _mm256_testz_si256,
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
#[inline]
pub(super) fn read_uuid(text: &[u8; 36]) -> Option<u128> {
    if has_avx2() {
        // SAFETY: the processor has AVX2.
        unsafe { read_avx2(text) }
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

#[target_feature(enable = "avx2")]
#[inline]
fn read_avx2(text: &[u8; 36]) -> Option<u128> {
    // SAFETY: 32 bytes of 36 are read. Put together from words, it would take five instructions.
    let start = unsafe { _mm256_loadu_si256(text.as_ptr().cast()) };
    let hyphens = _mm256_movemask_epi8(_mm256_cmpeq_epi8(start, _mm256_set1_epi8(signed(b'-'))));
    if hyphens & HYPHENS != HYPHENS {
        return None;
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
        return None;
    }
    let pairs = _mm256_maddubs_epi16(values, _mm256_set1_epi16(0x0110));
    let bytes = _mm_packus_epi16(_mm256_castsi256_si128(pairs), _mm256_extracti128_si256::<1>(pairs));
    let mut uuid = [0; 16];
    // SAFETY: the 16 bytes of the array are written.
    unsafe { _mm_storeu_si128(uuid.as_mut_ptr().cast(), bytes) };
    Some(u128::from_be_bytes(uuid))
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
    use crate::text::hex;
    use proptest::prelude::*;

    /// Every reader that this processor can run.
    fn read_all(text: &[u8; 36]) -> Vec<Option<u128>> {
        // SAFETY: this module is compiled only where SSE2 is on for the whole program.
        let mut read = vec![read_uuid(text), unsafe { read_sse2(text) }];
        if has_avx2() {
            // SAFETY: the processor has AVX2.
            read.push(unsafe { read_avx2(text) });
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

    proptest! {
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
