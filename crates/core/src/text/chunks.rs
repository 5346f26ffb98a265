//! Numbers and their digits in any base, many digits at a time.
//!
//! In a base of a power of two a *window* of eight digits is cut out of the number by one shift. In another base the number is cut
//! into *chunks*, as many digits as a word holds, each into two halves, and a half is read off as a fixed-point number: what
//! stands before the point is the next digit, and the rest times the radix has the one after that.

use super::MAX_TEXT;
use super::bases::{Base, Kind, WidePairs};
use super::divide::Divisor;
use super::hex;
use crate::raw::{RawId, low_u32, low_u64};

/// Most digits of a chunk: those of base 3.
const MOST: usize = 40;
/// Fewest digits of a chunk: those of base 127.
const LEAST: usize = 8;
/// Bits behind the point of a fixed-point number: the seven before it hold a digit of any base.
const POINT: u32 = 57;
/// The same where the twelve bits before it hold two digits of a base of up to 64.
const WIDE_POINT: u32 = 52;
/// Digits of a window.
const WINDOW: usize = 8;
const WINDOW_LEN: u32 = 8;

/// How many digits a word holds in a base, and what cuts numbers into such chunks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chunk {
    /// Digits of half a chunk; 0 in a base of a power of two, which has no use for chunks.
    half: usize,
    /// The radix to the power `half`.
    half_power: u64,
    /// Divides words below the square of `half_power` by it: the upper word of a product, shifted down.
    half_inverse: u64,
    half_shift: u32,
    /// Makes a fixed-point number of a number below `half_power`, whose first digit stands before the point; of two of them where pairs
    /// are read off and the digits are even in number. Rounded up.
    fraction: u64,
    /// See [`wide_fraction`].
    wide_fraction: u64,
    /// Divides by the radix to the power of a whole chunk.
    whole: Divisor,
    /// The largest number of each number of digits, as far as words go.
    largest: [u64; MOST + 2],
    /// For each number of bits, the digits of the least number that has so many.
    digits_of_bits: [u8; 65],
}

impl Chunk {
    /// That of a base of a power of two.
    pub(super) const NONE: Self = Self {
        half: 0,
        half_power: 0,
        half_inverse: 0,
        half_shift: 0,
        fraction: 0,
        wide_fraction: 0,
        whole: Divisor::new(1),
        largest: [0; MOST + 2],
        digits_of_bits: [0; 65],
    };

    /// That of a base that isn't a power of two.
    pub(super) const fn new(radix: u64) -> Self {
        let (mut half, mut half_power) = (0, 1u64);
        // Both the word and the errors of `half_inverse` and `fraction` must leave room.
        loop {
            let next = half_power * radix;
            let is_too_large = next >= 1 << 32
                || (next as u128).pow(3) >= 1 << (64 + next.ilog2())
                || next as u128 * half_power as u128 >= 1 << POINT;
            if is_too_large || 2 * (half + 1) > MOST {
                break;
            }
            (half, half_power) = (half + 1, next);
        }
        let behind = if half % 2 == 0 && has_pairs(radix) { radix * radix } else { radix };
        let half_shift = half_power.ilog2();
        let (mut largest, mut i) = ([0u64; MOST + 2], 1);
        while i < largest.len() {
            largest[i] = largest[i - 1].saturating_mul(radix).saturating_add(radix - 1);
            i += 1;
        }
        let (mut digits_of_bits, mut bits) = ([1; 65], 1);
        while bits <= 64 {
            let (mut rest, mut digits) = (1u64 << (bits - 1), 0);
            while rest > 0 {
                (rest, digits) = (rest / radix, digits + 1);
            }
            digits_of_bits[bits] = digits;
            bits += 1;
        }
        Self {
            half,
            half_power,
            half_inverse: low_u64((1 << (64 + half_shift)) / half_power as u128) + 1,
            half_shift,
            fraction: (1 << POINT) / (half_power / behind) + 1,
            wide_fraction: if radix <= 64 { wide_fraction(half_power, radix) } else { 0 },
            whole: Divisor::new(half_power * half_power),
            largest,
            digits_of_bits,
        }
    }

    /// The radix to the power `digits`, at most that of a whole chunk.
    #[inline]
    const fn power(&self, digits: usize) -> u64 {
        self.largest[digits] + 1
    }
}

/// Makes a fixed-point number of a number below `half_power`, with two digits before the point and [`WIDE_POINT`] bits behind it; 0 where
/// that wouldn't be exact to the last digit: the error of rounding up grows with the number, and with each digit that is read off.
const fn wide_fraction(half_power: u64, radix: u64) -> u64 {
    let behind = half_power / (radix * radix);
    let is_exact = half_power as u128 * behind as u128 <= 1 << WIDE_POINT;
    if is_exact { (1 << WIDE_POINT) / behind + 1 } else { 0 }
}

/// The chunk of a radix that is known when compiling, whose shifts and factors become part of the instructions; that of `base` where
/// `RADIX` is 0.
#[cfg_attr(not(debug_assertions), inline(always))]
const fn chunk_of<const RADIX: u64>(base: &Base) -> &Chunk {
    if RADIX == 0 { &base.chunk } else { const { &Chunk::new(if RADIX == 0 { 3 } else { RADIX }) } }
}

/// Digits of `number` in `base`, at least 1; `None` where only writing them tells.
#[inline]
pub(super) const fn count(base: &Base, number: RawId) -> Option<usize> {
    if let Some(digit_bits) = base.kind.digit_bits() {
        let zeros = if number.high() == 0 {
            32 + number.low().leading_zeros()
        } else {
            number.high().leading_zeros()
        };
        let digits = (RawId::MAX_BITS - zeros).div_ceil(digit_bits) as usize;
        return Some(if digits == 0 { 1 } else { digits });
    }
    if number.high() != 0 || number.low() > u64::MAX as u128 {
        return None;
    }
    let word = low_u64(number.low());
    let least = base.chunk.digits_of_bits[(64 - word.leading_zeros()) as usize] as usize;
    Some(least + (word > base.chunk.largest[least]) as usize)
}

/// Writes `number` as `len` digits of `base` from place `at` on, zeros in front, where the lowest `pad_bits` bits of the last digit are
/// zero and no part of the number. What stands up to [`MOST`] places behind the digits may be overwritten. False when the number has
/// more digits, or when there is no quick way.
///
/// `kind` must be the base's. It is given apart because the ids of a known scheme know it when compiling: all below is inlined, so that the
/// one way which is taken is all that is left there.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) const fn spell(
    (kind, base): (Kind, &Base),
    number: RawId,
    pad_bits: u32,
    (at, len): (usize, usize),
    out: &mut [u8; MAX_TEXT],
) -> bool {
    let Some((_, place)) = out.split_at_mut_checked(at) else { return false };
    match kind {
        Kind::Hex => spell_windows::<4, true>(base, number, pad_bits, len, place),
        Kind::Bits(4) => spell_windows::<4, false>(base, number, pad_bits, len, place),
        Kind::Crockford | Kind::Bits(5) => spell_windows::<5, false>(base, number, pad_bits, len, place),
        Kind::Bits(6) => spell_windows::<6, false>(base, number, pad_bits, len, place),
        Kind::Bits(_) | Kind::Slow => false,
        Kind::Chunks(_) if pad_bits > 0 => false,
        Kind::Chunks(62) => spell_chunks::<62>(base, number, len, place),
        Kind::Chunks(36) => spell_chunks::<36>(base, number, len, place),
        Kind::Chunks(10) => spell_chunks::<10>(base, number, len, place),
        Kind::Chunks(_) => spell_chunks::<0>(base, number, len, place),
    }
}

/// [`spell`] for callers that don't know the base when compiling, and aren't in a hurry: one copy for all of them.
#[inline(never)]
pub(super) const fn spell_any(
    base: &Base,
    number: RawId,
    (at, len): (usize, usize),
    out: &mut [u8; MAX_TEXT],
) -> bool {
    spell((base.kind, base), number, 0, (at, len), out)
}

#[cfg_attr(not(debug_assertions), inline(always))]
const fn spell_windows<const BITS: u32, const IS_HEX: bool>(
    base: &Base,
    number: RawId,
    pad_bits: u32,
    len: usize,
    place: &mut [u8],
) -> bool {
    // No form has more than 64 digits, so this is far from overflowing.
    let Some(bits) = (low_u32(len as u128) * BITS).checked_sub(pad_bits) else { return false };
    if bits < RawId::MAX_BITS && !number.fits(bits) {
        return false;
    }
    if len < WINDOW {
        let up = low_u32((WINDOW - len) as u128) * BITS + pad_bits;
        return spell_window::<BITS, IS_HEX>(base, low_u64(number.low() << up), place, 0);
    }
    let mut at = 0;
    loop {
        // The last window may overlap the one before; both agree on what they share.
        if at + WINDOW > len {
            at = len - WINDOW;
        }
        let below = low_u32((len - WINDOW - at) as u128) * BITS;
        let window = if below >= pad_bits {
            low_u64(number.bits(below - pad_bits, 128))
        } else {
            low_u64(number.low() << (pad_bits - below))
        };
        if !spell_window::<BITS, IS_HEX>(base, window, place, at) {
            return false;
        }
        at += WINDOW;
        if at >= len {
            return true;
        }
    }
}

/// The eight digits in the lowest bits of `window`.
#[cfg_attr(not(debug_assertions), inline(always))]
const fn spell_window<const BITS: u32, const IS_HEX: bool>(
    base: &Base,
    window: u64,
    place: &mut [u8],
    at: usize,
) -> bool {
    let Some((_, place)) = place.split_at_mut_checked(at) else { return false };
    let Some(digits) = place.first_chunk_mut::<WINDOW>() else { return false };
    if IS_HEX {
        *digits = hex::spell_8(low_u32(window as u128));
        return true;
    }
    let mut i = 0;
    while i < WINDOW {
        let rest = window >> (BITS * low_u32((WINDOW - 2 - i) as u128));
        if BITS <= 5 {
            [digits[i], digits[i + 1]] = base.pairs[index(rest & ((1 << (2 * BITS)) - 1))];
        } else {
            digits[i] = base.ascii[index(rest >> BITS & ((1 << BITS) - 1))];
            digits[i + 1] = base.ascii[index(rest & ((1 << BITS) - 1))];
        }
        i += 2;
    }
    true
}

/// `RADIX` as in [`chunk_of`].
#[cfg_attr(not(debug_assertions), inline(always))]
const fn spell_chunks<const RADIX: u64>(base: &Base, number: RawId, len: usize, place: &mut [u8]) -> bool {
    let chunk = chunk_of::<RADIX>(base);
    let size = 2 * chunk.half;
    if let Some(pairs) = base.wide_pairs
        && RADIX != 0
        && number.high() == 0
        && number.low() <= u64::MAX as u128
        && len < chunk.largest.len()
    {
        return spell_word::<RADIX>(base, pairs, low_u64(number.low()), len, place);
    }
    if len > size && len <= 2 * size {
        // Numbers of a word or two, most of all: no loops.
        let (first, second) = chunk.whole.divide(number);
        return spell_first::<RADIX>(base, first, len - size, place)
            && spell_chunk::<RADIX>(base, second, place, len - size);
    }
    // From the last chunk to the second.
    let (mut rest, mut words, mut at, mut count) = (number, [0; MAX_TEXT / LEAST], len, 0);
    while at > size {
        (rest, words[count]) = chunk.whole.divide(rest);
        (at, count) = (at - size, count + 1);
    }
    if !spell_first::<RADIX>(base, rest, at, place) {
        return false;
    }
    while count > 0 {
        count -= 1;
        if !spell_chunk::<RADIX>(base, words[count], place, at) {
            return false;
        }
        at += size;
    }
    true
}

/// A number of one word by pairs of a larger base, from the last four digits on: divisions by constants, which are multiplications.
#[cfg_attr(not(debug_assertions), inline(always))]
const fn spell_word<const RADIX: u64>(
    base: &Base,
    pairs: &WidePairs,
    mut word: u64,
    len: usize,
    place: &mut [u8],
) -> bool {
    let (two, four) = const { if RADIX == 0 { (1, 1) } else { (RADIX.pow(2), RADIX.pow(4)) } };
    let Some((digits, _)) = place.split_at_mut_checked(len) else { return false };
    if word > chunk_of::<RADIX>(base).largest[len] {
        return false;
    }
    let mut at = len;
    while at >= 4 {
        let (rest, last) = (word / four, word % four);
        (word, at) = (rest, at - 4);
        [digits[at], digits[at + 1]] = pairs[index(last / two) & 0xfff];
        [digits[at + 2], digits[at + 3]] = pairs[index(last % two) & 0xfff];
    }
    if at >= 2 {
        let (rest, last) = (word / two, word % two);
        (word, at) = (rest, at - 2);
        [digits[at], digits[at + 1]] = pairs[index(last) & 0xfff];
    }
    if at == 1 {
        digits[0] = base.ascii[index(word) & 0x7f];
    }
    true
}

/// The first `len` digits, at most a chunk, as if zeros were behind them, which the next chunk overwrites.
#[cfg_attr(not(debug_assertions), inline(always))]
const fn spell_first<const RADIX: u64>(base: &Base, number: RawId, len: usize, place: &mut [u8]) -> bool {
    let chunk = chunk_of::<RADIX>(base);
    let half = chunk.half;
    if number.high() != 0 || number.low() > chunk.largest[len] as u128 {
        return false;
    }
    let word = low_u64(number.low());
    if len == 1 && !place.is_empty() {
        place[0] = base.ascii[index(word) & 0x7f];
        true
    } else if len <= half {
        spell_half::<RADIX>(base, word * chunk.power(half - len), place)
    } else {
        spell_chunk::<RADIX>(base, word * chunk.power(2 * half - len), place, 0)
    }
}

/// All digits of a chunk.
#[cfg_attr(not(debug_assertions), inline(always))]
const fn spell_chunk<const RADIX: u64>(base: &Base, word: u64, place: &mut [u8], at: usize) -> bool {
    let chunk = chunk_of::<RADIX>(base);
    let half = chunk.half;
    let upper = low_u64((word as u128 * chunk.half_inverse as u128) >> 64) >> chunk.half_shift;
    let lower = word - upper * chunk.half_power;
    let Some((_, place)) = place.split_at_mut_checked(at) else { return false };
    let Some((left, right)) = place.split_at_mut_checked(half) else { return false };
    spell_half::<RADIX>(base, upper, left) && spell_half::<RADIX>(base, lower, right)
}

/// All digits of half a chunk: what stands before the point, again and again.
#[cfg_attr(not(debug_assertions), inline(always))]
const fn spell_half<const RADIX: u64>(base: &Base, word: u64, place: &mut [u8]) -> bool {
    const BEHIND: u64 = (1 << POINT) - 1;
    let chunk = chunk_of::<RADIX>(base);
    let radix = if RADIX == 0 { base.radix() as u64 } else { RADIX };
    let Some((digits, _)) = place.split_at_mut_checked(chunk.half) else { return false };
    if let Some(pairs) = base.wide_pairs
        && chunk.wide_fraction > 0
    {
        spell_wide_half(base, pairs, radix, word * chunk.wide_fraction, digits);
        return true;
    }
    let mut fixed = word * chunk.fraction;
    if !has_pairs(radix) {
        digits[0] = base.ascii[index(fixed >> POINT) & 0x7f];
        let mut i = 1;
        while i < digits.len() {
            fixed = (fixed & BEHIND) * radix;
            digits[i] = base.ascii[index(fixed >> POINT) & 0x7f];
            i += 1;
        }
        return true;
    }
    let mut i = digits.len() % 2;
    if i == 1 {
        digits[0] = base.ascii[index(fixed >> POINT) & 0x7f];
        fixed = (fixed & BEHIND) * (radix * radix);
    }
    while i + 1 < digits.len() {
        [digits[i], digits[i + 1]] = base.pairs[index(fixed >> POINT) & 0x7f];
        fixed = (fixed & BEHIND) * (radix * radix);
        i += 2;
    }
    true
}

/// The same by pairs of a larger base; where there is an odd digit, it is the last.
#[cfg_attr(not(debug_assertions), inline(always))]
const fn spell_wide_half(base: &Base, pairs: &WidePairs, radix: u64, mut fixed: u64, digits: &mut [u8]) {
    const BEHIND: u64 = (1 << WIDE_POINT) - 1;
    let mut i = 0;
    while i + 1 < digits.len() {
        [digits[i], digits[i + 1]] = pairs[index(fixed >> WIDE_POINT) & 0xfff];
        i += 2;
        fixed = (fixed & BEHIND) * if i + 1 < digits.len() { radix * radix } else { radix };
    }
    if i < digits.len() {
        digits[i] = base.ascii[index(fixed >> WIDE_POINT) & 0x7f];
    }
}

/// Whether two digits of a base stand before the point as well as one.
#[cfg_attr(not(debug_assertions), inline(always))]
const fn has_pairs(radix: u64) -> bool {
    radix * radix <= 128
}

/// A digit or a pair of digits as an index.
#[cfg_attr(not(debug_assertions), inline(always))]
const fn index(word: u64) -> usize {
    (word & 0xffff) as usize
}

/// The number that `digits` spell in `base`; `None` when one of them isn't a digit, when one of the lowest `pad_bits` bits of the last
/// isn't zero, when the number has more than 160 bits, or when there is no quick way.
///
/// `kind` as in [`spell`].
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) const fn read((kind, base): (Kind, &Base), digits: &[u8], pad_bits: u32) -> Option<RawId> {
    match kind {
        Kind::Hex => read_windows::<4, true>(base, digits, pad_bits),
        Kind::Bits(4) => read_windows::<4, false>(base, digits, pad_bits),
        Kind::Crockford | Kind::Bits(5) => read_windows::<5, false>(base, digits, pad_bits),
        Kind::Bits(6) => read_windows::<6, false>(base, digits, pad_bits),
        Kind::Bits(_) | Kind::Slow => None,
        Kind::Chunks(_) if pad_bits > 0 => None,
        Kind::Chunks(62) => read_chunks::<62>(base, digits),
        Kind::Chunks(36) => read_chunks::<36>(base, digits),
        Kind::Chunks(10) => read_chunks::<10>(base, digits),
        Kind::Chunks(_) => read_chunks::<0>(base, digits),
    }
}

/// [`read`] for callers that don't know the base when compiling, and aren't in a hurry: one copy for all of them.
#[inline(never)]
pub(super) const fn read_any(base: &Base, digits: &[u8]) -> Option<RawId> {
    read((base.kind, base), digits, 0)
}

#[cfg_attr(not(debug_assertions), inline(always))]
const fn read_windows<const BITS: u32, const IS_HEX: bool>(
    base: &Base,
    digits: &[u8],
    pad_bits: u32,
) -> Option<RawId> {
    let len = digits.len();
    if len > MAX_TEXT || low_u32(len as u128) * BITS > RawId::MAX_BITS + pad_bits || pad_bits >= BITS {
        return None;
    }
    let (mut head, mut windows) = digits.split_at(len % WINDOW);
    let (mut word, mut faults) = (0u64, 0u64);
    while let Some((digit, rest)) = head.split_first() {
        let value = base.values[*digit as usize];
        (word, faults, head) = (word << BITS | value as u64, faults | value as u64, rest);
    }
    faults &= 0x80;
    if windows.is_empty() {
        let is_clean = faults == 0 && word & ((1 << pad_bits) - 1) == 0;
        return if is_clean { Some(RawId::new((word >> pad_bits) as u128)) } else { None };
    }
    let mut number = RawId::new(word as u128);
    while let Some((window, rest)) = windows.split_first_chunk::<WINDOW>() {
        let (mut word, more) = read_window::<BITS, IS_HEX>(base, window);
        (faults, windows) = (faults | more, rest);
        let unused = if rest.is_empty() { pad_bits } else { 0 };
        faults |= word & ((1 << unused) - 1);
        word >>= unused;
        number = number.shifted_up(WINDOW_LEN * BITS - unused).or(RawId::new(word as u128));
    }
    if faults == 0 { Some(number) } else { None }
}

/// Eight digits as bits, and something other than 0 when one isn't a digit.
#[cfg_attr(not(debug_assertions), inline(always))]
const fn read_window<const BITS: u32, const IS_HEX: bool>(base: &Base, digits: &[u8; WINDOW]) -> (u64, u64) {
    if IS_HEX {
        let (word, faults) = hex::read_8(*digits);
        return (word as u64, faults);
    }
    let (mut word, mut faults, mut i) = (0u64, 0, 0);
    while i < WINDOW {
        let value = base.values[digits[i] as usize];
        (word, faults, i) = (word << BITS | value as u64, faults | value, i + 1);
    }
    (word, (faults & 0x80) as u64)
}

#[cfg_attr(not(debug_assertions), inline(always))]
const fn read_chunks<const RADIX: u64>(base: &Base, digits: &[u8]) -> Option<RawId> {
    let chunk = chunk_of::<RADIX>(base);
    let size = 2 * chunk.half;
    let (head, mut chunks) = digits.split_at(digits.len() % size);
    let (word, mut faults) = read_chunk::<RADIX>(base, head);
    let mut number = RawId::new(word as u128);
    while let Some((digits, rest)) = chunks.split_at_checked(size) {
        let (word, more) = read_chunk::<RADIX>(base, digits);
        (faults, chunks) = (faults | more, rest);
        number = match number.checked_mul_add_word(chunk.power(size), word) {
            Some(number) => number,
            None => return None,
        };
        if chunks.is_empty() {
            break;
        }
    }
    if faults < 0x80 { Some(number) } else { None }
}

/// Digits of at most a chunk as a number, and 0x80 or more when one isn't a digit.
#[cfg_attr(not(debug_assertions), inline(always))]
const fn read_chunk<const RADIX: u64>(base: &Base, mut digits: &[u8]) -> (u64, u8) {
    let radix = if RADIX == 0 { base.radix() as u64 } else { RADIX };
    let (mut word, mut faults) = (0u64, 0);
    while let Some(([a, b], rest)) = digits.split_first_chunk::<2>() {
        let (a, b) = (base.values[*a as usize], base.values[*b as usize]);
        let pair = a as u64 * radix + b as u64;
        word = word.wrapping_mul(radix * radix).wrapping_add(pair);
        (faults, digits) = (faults | a | b, rest);
    }
    if let Some(digit) = digits.first() {
        let value = base.values[*digit as usize];
        word = word.wrapping_mul(radix).wrapping_add(value as u64);
        faults |= value;
    }
    (word, faults)
}
