//! Division of wide numbers by one word that is known long before: two multiplications a word instead of a division.
//!
//! Source: Niels Möller and Torbjörn Granlund, Improved division by invariant integers, algorithm 4 (2-by-1).

use crate::raw::{RawId, low_u64};

/// A divisor of one word with its reciprocal.
#[derive(Clone, Copy, Debug)]
pub(super) struct Divisor {
    /// The divisor, shifted until its highest bit is set.
    normal: u64,
    shift: u32,
    /// `(2^128 - 1) / normal - 2^64`.
    reciprocal: u64,
}

impl Divisor {
    /// What divides by `divisor`, at least 1.
    pub(super) const fn new(divisor: u64) -> Self {
        let shift = divisor.leading_zeros();
        let normal = divisor << shift;
        Self { normal, shift, reciprocal: low_u64(u128::MAX / normal as u128) }
    }

    /// Quotient and remainder of `number`.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) const fn divide(&self, number: RawId) -> (RawId, u64) {
        let (high, middle, low) = (number.high() as u64, low_u64(number.low() >> 64), low_u64(number.low()));
        if high == 0 && middle == 0 {
            let (quotient, rest) = self.divide_word(low);
            return (RawId::new(quotient as u128), rest);
        }
        // The quotient has at most two words where the highest word is below the divisor, as it is below powers worth dividing by.
        if high >= self.normal >> self.shift {
            return self.divide_slowly(number);
        }
        let top = above(high, middle, self.shift);
        let (q1, rest) = if top == 0 && middle << self.shift < self.normal {
            (0, above(middle, low, self.shift))
        } else {
            let (q1, rest) = self.step(top, above(middle, low, self.shift));
            (q1, rest)
        };
        let (q0, rest) = self.step(rest, low << self.shift);
        (RawId::new((q1 as u128) << 64 | q0 as u128), rest >> self.shift)
    }

    /// The same for one word: by half the reciprocal with its hidden bit, which is too small by less than one in the quotient.
    #[cfg_attr(not(debug_assertions), inline(always))]
    const fn divide_word(&self, word: u64) -> (u64, u64) {
        let half = self.reciprocal >> 1 | 1 << 63;
        let divisor = self.normal >> self.shift;
        let quotient = low_u64((word as u128 * half as u128) >> 64) >> (63 - self.shift);
        let rest = word - quotient * divisor;
        if rest >= divisor { (quotient + 1, rest - divisor) } else { (quotient, rest) }
    }

    /// The same for a number with too high a top for one word.
    #[cold]
    const fn divide_slowly(&self, number: RawId) -> (RawId, u64) {
        let divisor = (self.normal >> self.shift) as u128;
        let top = (number.high() as u128) << 64 | number.low() >> 64;
        let (top_quotient, top_rest) = (top / divisor, top % divisor);
        let bottom = top_rest << 64 | low_u64(number.low()) as u128;
        let quotient = RawId::new(top_quotient).shifted_up(64).or(RawId::new(bottom / divisor));
        (quotient, low_u64(bottom % divisor))
    }

    /// Quotient and remainder of `high * 2^64 + low`, with `high` below the divisor.
    #[cfg_attr(not(debug_assertions), inline(always))]
    const fn step(&self, high: u64, low: u64) -> (u64, u64) {
        let guess =
            (self.reciprocal as u128 * high as u128).wrapping_add(((high as u128 + 1) << 64) | low as u128);
        let mut quotient = low_u64(guess >> 64);
        let mut rest = low.wrapping_sub(quotient.wrapping_mul(self.normal));
        if rest > low_u64(guess) {
            quotient = quotient.wrapping_sub(1);
            rest = rest.wrapping_add(self.normal);
        }
        if rest >= self.normal { (quotient.wrapping_add(1), rest - self.normal) } else { (quotient, rest) }
    }
}

/// The upper word of `high * 2^64 + low`, shifted up by less than 64 bits.
#[cfg_attr(not(debug_assertions), inline(always))]
const fn above(high: u64, low: u64, shift: u32) -> u64 {
    low_u64((((high as u128) << 64 | low as u128) << shift) >> 64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_reciprocal_divides_as_division_does(
            high in any::<u32>(),
            low in any::<u128>(),
            cut in 0..160_u32,
            divisor in (any::<u64>(), 0..64_u32).prop_map(|(divisor, cut)| (divisor >> cut).max(1)),
        ) {
            let number = RawId::from_parts(high, low).shifted_down(cut);
            let (quotient, rest) = Divisor::new(divisor).divide(number);
            prop_assert!(rest < divisor);
            // 160 by 64 bits by the schoolbook, a bit at a time.
            let (mut expected, mut left) = (RawId::ZERO, 0u128);
            for bit in (0..160).rev() {
                left = left << 1 | number.bits(bit, 1);
                if left >= u128::from(divisor) {
                    left -= u128::from(divisor);
                    expected = expected.with_bits(bit, 1, 1);
                }
            }
            prop_assert_eq!((quotient, u128::from(rest)), (expected, left));
        }
    }
}
