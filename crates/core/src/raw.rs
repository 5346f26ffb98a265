//! Raw ids: an id as one unsigned number of up to 160 bits, whatever its scheme.
//!
//! Layouts cut a raw id into fields, text forms spell it, generators return it. Its order is the byte order of the id.

use core::fmt;
use core::hash::Hash;

/// An id as a number of up to 160 bits, most significant bit first.
///
/// How many bits count is a fact of the scheme ([`crate::Layout::bits`]), not of the value; the bits above are zero.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct RawId {
    hi: u32,
    lo: u128,
}

impl RawId {
    /// The widest id that fits: 160 bits, a KSUID.
    pub const MAX_BITS: u32 = 160;
    /// All bits zero.
    pub const ZERO: Self = Self { hi: 0, lo: 0 };

    /// The id whose value is `number`.
    #[must_use]
    #[inline]
    pub const fn new(number: u128) -> Self {
        Self { hi: 0, lo: number }
    }

    /// The id `high * 2^128 + low`.
    #[must_use]
    #[inline]
    pub const fn from_parts(high: u32, low: u128) -> Self {
        Self { hi: high, lo: low }
    }

    /// Bits 0 to 127.
    #[must_use]
    #[inline]
    pub const fn low(self) -> u128 {
        self.lo
    }

    /// Bits 128 to 159.
    #[must_use]
    #[inline]
    pub const fn high(self) -> u32 {
        self.hi
    }

    /// The largest id of `bits` bits (1 to 160).
    #[must_use]
    #[inline]
    pub const fn max_of(bits: u32) -> Self {
        Self { hi: if bits > 128 { low_u32(mask(bits - 128)) } else { 0 }, lo: mask(bits) }
    }

    /// Whether the value fits in `bits` bits.
    #[must_use]
    #[inline]
    pub const fn fits(self, bits: u32) -> bool {
        let max = Self::max_of(bits);
        self.hi <= max.hi && (self.hi < max.hi || self.lo <= max.lo)
    }

    /// `width` bits (1 to 128) that end `shift` bits above the least significant one.
    #[must_use]
    #[inline]
    pub const fn bits(self, shift: u32, width: u32) -> u128 {
        let shifted = if shift >= 128 {
            if shift >= 160 { 0 } else { (self.hi as u128) >> (shift - 128) }
        } else if shift == 0 {
            self.lo
        } else {
            (self.lo >> shift) | ((self.hi as u128) << (128 - shift))
        };
        shifted & mask(width)
    }

    /// The same id with `value` set into `width` bits at `shift`; those bits must be zero, and bits of `value` above `width` are
    /// not looked at: callers check ranges first.
    #[must_use]
    #[inline]
    pub const fn with_bits(self, shift: u32, width: u32, value: u128) -> Self {
        let value = value & mask(width);
        if shift >= 128 {
            return Self { hi: self.hi | low_u32(value << (shift - 128)), lo: self.lo };
        }
        let hi = if shift == 0 { 0 } else { low_u32(value >> (128 - shift)) };
        Self { hi: self.hi | hi, lo: self.lo | (value << shift) }
    }

    /// The number without its lowest `bits` bits (0 to 160).
    #[must_use]
    #[inline]
    pub const fn shifted_down(self, bits: u32) -> Self {
        if bits >= 128 {
            Self { hi: 0, lo: self.bits(bits, 32) }
        } else if bits >= 32 {
            Self { hi: 0, lo: self.bits(bits, 128) }
        } else {
            Self { hi: self.hi >> bits, lo: self.bits(bits, 128) }
        }
    }

    /// The number with `bits` zero bits (0 to 127) below it; what passes 160 bits is lost.
    #[must_use]
    #[inline]
    pub const fn shifted_up(self, bits: u32) -> Self {
        if bits == 0 {
            return self;
        }
        let hi = if bits >= 32 { 0 } else { self.hi << bits };
        Self { hi: hi | low_u32(self.lo >> (128 - bits)), lo: self.lo << bits }
    }

    /// Bitwise or.
    #[must_use]
    #[inline]
    pub const fn or(self, other: Self) -> Self {
        Self { hi: self.hi | other.hi, lo: self.lo | other.lo }
    }

    /// `self * radix + digit`, or `None` above 160 bits.
    #[must_use]
    pub const fn checked_mul_add(self, radix: u32, digit: u32) -> Option<Self> {
        // lo * radix needs up to 160 bits: multiply its halves.
        let low_half = (self.lo & mask(64)) * radix as u128 + digit as u128;
        let high_half = (self.lo >> 64) * radix as u128 + (low_half >> 64);
        let hi = self.hi as u128 * radix as u128 + (high_half >> 64);
        if hi > u32::MAX as u128 {
            return None;
        }
        Some(Self { hi: low_u32(hi), lo: (high_half << 64) | (low_half & mask(64)) })
    }

    /// `self * factor + word`, or `None` above 160 bits.
    #[must_use]
    #[inline]
    pub(crate) const fn checked_mul_add_word(self, factor: u64, word: u64) -> Option<Self> {
        let factor = factor as u128;
        let low = low_u64(self.lo) as u128 * factor + word as u128;
        let middle = (self.lo >> 64) * factor + (low >> 64);
        let high = self.hi as u128 * factor + (middle >> 64);
        if high > u32::MAX as u128 {
            return None;
        }
        Some(Self { hi: low_u32(high), lo: (middle << 64) | low_u64(low) as u128 })
    }

    /// Quotient and remainder by `radix` (at least 1).
    #[must_use]
    pub const fn div_rem(self, radix: u32) -> (Self, u32) {
        let radix = radix as u128;
        if self.hi == 0 {
            return (Self { hi: 0, lo: self.lo / radix }, low_u32(self.lo % radix));
        }
        // Schoolbook division in two steps of 96 + 32 and 64 bits; every intermediate value fits u128.
        let top = ((self.hi as u128) << 64) | (self.lo >> 64);
        let (top_quotient, top_rest) = (top / radix, top % radix);
        let bottom = (top_rest << 64) | (self.lo & mask(64));
        let (bottom_quotient, rest) = (bottom / radix, bottom % radix);
        (Self { hi: low_u32(top_quotient >> 64), lo: (top_quotient << 64) | bottom_quotient }, low_u32(rest))
    }

    /// The id after this one among ids of `bits` bits; after the last comes zero.
    #[must_use]
    pub const fn wrapping_next(self, bits: u32) -> Self {
        let (lo, carry) = self.lo.overflowing_add(1);
        let hi = if carry { self.hi.wrapping_add(1) } else { self.hi };
        let next = Self { hi, lo };
        if next.fits(bits) { next } else { Self::ZERO }
    }

    /// The id before this one among ids of `bits` bits; before zero comes the last.
    #[must_use]
    pub const fn wrapping_previous(self, bits: u32) -> Self {
        if self.hi == 0 && self.lo == 0 {
            return Self::max_of(bits);
        }
        let (lo, borrow) = self.lo.overflowing_sub(1);
        Self { hi: if borrow { self.hi - 1 } else { self.hi }, lo }
    }

    /// The 20 bytes of the number, big-endian.
    #[must_use]
    #[inline]
    pub const fn to_be_bytes(self) -> [u8; 20] {
        let mut bytes = [0; 20];
        let (high, low) = bytes.split_at_mut(4);
        high.copy_from_slice(&self.hi.to_be_bytes());
        low.copy_from_slice(&self.lo.to_be_bytes());
        bytes
    }

    /// The number in `bytes`, big-endian; `None` for more than 20 bytes.
    #[must_use]
    #[inline]
    pub const fn from_be_bytes(bytes: &[u8]) -> Option<Self> {
        if bytes.len() > 20 {
            return None;
        }
        let mut wide = [0; 20];
        wide.split_at_mut(20 - bytes.len()).1.copy_from_slice(bytes);
        Some(Self::from_be_20(&wide))
    }

    /// The number in 20 bytes, big-endian: two loads.
    #[inline]
    const fn from_be_20(bytes: &[u8; 20]) -> Self {
        let [a, b, c, d, low @ ..] = *bytes;
        Self { hi: u32::from_be_bytes([a, b, c, d]), lo: u128::from_be_bytes(low) }
    }

    /// The number in 12 bytes, big-endian: two loads.
    #[inline]
    const fn from_be_12(bytes: &[u8; 12]) -> Self {
        let [a, b, c, d, low @ ..] = *bytes;
        let high = u32::from_be_bytes([a, b, c, d]);
        Self::new((high as u128) << 64 | u64::from_be_bytes(low) as u128)
    }

    /// The bits that are set in both.
    #[must_use]
    #[inline]
    pub(crate) const fn and(self, other: Self) -> Self {
        Self { hi: self.hi & other.hi, lo: self.lo & other.lo }
    }

    /// Whether both are one number; `==` isn't `const`.
    #[inline]
    pub(crate) const fn is(self, other: Self) -> bool {
        self.hi == other.hi && self.lo == other.lo
    }
}

impl fmt::Debug for RawId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.hi == 0 { write!(f, "{:#x}", self.lo) } else { write!(f, "{:#x}{:032x}", self.hi, self.lo) }
    }
}

impl From<u128> for RawId {
    fn from(number: u128) -> Self {
        Self::new(number)
    }
}

impl From<u64> for RawId {
    fn from(number: u64) -> Self {
        Self::new(number.into())
    }
}

/// What a typed id holds: `u64` (8 bytes), `u128` (16), `[u8; 12]` or `[u8; 20]`. Its `Ord` is the byte order.
pub trait Repr: Copy + Ord + Hash + fmt::Debug + Send + Sync + 'static {
    /// Length in bytes.
    const BYTES: usize;
    /// All bits zero.
    const ZERO: Self;
    /// The big-endian bytes, an array.
    type Bytes: AsRef<[u8]> + Copy + Send + Sync;
    /// From a raw id that the scheme has checked to fit.
    fn from_raw(raw: RawId) -> Self;
    /// To a raw id.
    fn into_raw(self) -> RawId;
    /// The big-endian bytes.
    fn to_bytes(self) -> Self::Bytes;
}

impl Repr for u64 {
    const BYTES: usize = 8;
    const ZERO: Self = 0;
    type Bytes = [u8; 8];
    #[inline]
    fn from_raw(raw: RawId) -> Self {
        low_u64(raw.lo)
    }
    #[inline]
    fn into_raw(self) -> RawId {
        self.into()
    }
    #[inline]
    fn to_bytes(self) -> [u8; 8] {
        self.to_be_bytes()
    }
}

impl Repr for u128 {
    const BYTES: usize = 16;
    const ZERO: Self = 0;
    type Bytes = [u8; 16];
    #[inline]
    fn from_raw(raw: RawId) -> Self {
        raw.lo
    }
    #[inline]
    fn into_raw(self) -> RawId {
        self.into()
    }
    #[inline]
    fn to_bytes(self) -> [u8; 16] {
        self.to_be_bytes()
    }
}

impl Repr for [u8; 12] {
    const BYTES: usize = 12;
    const ZERO: Self = [0; 12];
    type Bytes = Self;
    #[inline]
    fn from_raw(raw: RawId) -> Self {
        bytes_12(raw)
    }
    #[inline]
    fn into_raw(self) -> RawId {
        RawId::from_be_12(&self)
    }
    #[inline]
    fn to_bytes(self) -> Self {
        self
    }
}

impl Repr for [u8; 20] {
    const BYTES: usize = 20;
    const ZERO: Self = [0; 20];
    type Bytes = Self;
    #[inline]
    fn from_raw(raw: RawId) -> Self {
        raw.to_be_bytes()
    }
    #[inline]
    fn into_raw(self) -> RawId {
        RawId::from_be_20(&self)
    }
    #[inline]
    fn to_bytes(self) -> Self {
        self
    }
}

/// The last 12 bytes of the number.
#[inline]
pub(crate) const fn bytes_12(raw: RawId) -> [u8; 12] {
    let mut bytes = [0; 12];
    let (high, low) = bytes.split_at_mut(4);
    high.copy_from_slice(&low_u32(raw.lo >> 64).to_be_bytes());
    low.copy_from_slice(&low_u64(raw.lo).to_be_bytes());
    bytes
}

/// The lowest `width` bits set; all 128 from 128 on.
#[must_use]
#[inline]
pub(crate) const fn mask(width: u32) -> u128 {
    if width >= 128 { u128::MAX } else { (1 << width) - 1 }
}

/// The lowest 64 bits: the one place where a wide number is narrowed to a word.
#[expect(
    clippy::cast_possible_truncation,
    reason = "the low word is what the caller asks for; ranges are checked by layouts"
)]
#[must_use]
#[inline]
pub(crate) const fn low_u64(number: u128) -> u64 {
    number as u64
}

/// The lowest 32 bits, for limbs and digits.
#[expect(
    clippy::cast_possible_truncation,
    reason = "the low limb is what the caller asks for; ranges are checked by layouts"
)]
#[must_use]
#[inline]
pub(crate) const fn low_u32(number: u128) -> u32 {
    number as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_reach_across_the_128_bit_border() {
        let raw = RawId::ZERO.with_bits(120, 16, 0xabcd);
        assert_eq!((raw.high(), raw.low() >> 120), (0xab, 0xcd));
        assert_eq!(raw.bits(120, 16), 0xabcd);
    }

    #[test]
    fn division_undoes_multiplication() {
        let raw = RawId::from_parts(0x0669_f7ef, 0xb5a1_cd34_b5f9_9d11_54fb_6853_345c_9735);
        let (quotient, digit) = raw.div_rem(62);
        assert_eq!(quotient.checked_mul_add(62, digit), Some(raw));
        assert_eq!(RawId::max_of(160).checked_mul_add(62, 0), None);
    }

    #[test]
    fn next_and_previous_wrap_at_the_width() {
        assert_eq!(RawId::max_of(160).wrapping_next(160), RawId::ZERO);
        assert_eq!(RawId::ZERO.wrapping_previous(96), RawId::max_of(96));
        assert_eq!(RawId::from_parts(1, 0).wrapping_previous(160), RawId::new(u128::MAX));
    }

    #[test]
    fn bytes_round_trip() {
        let raw = RawId::from_parts(1, 2);
        assert_eq!(RawId::from_be_bytes(&raw.to_be_bytes()), Some(raw));
        assert_eq!(RawId::from_be_bytes(&[0; 21]), None);
        assert_eq!(RawId::from_be_bytes(&[]), Some(RawId::ZERO));
        let bytes: [u8; 20] = core::array::from_fn(|i| u8::try_from(i + 1).unwrap());
        for len in 0..=20 {
            let raw = RawId::from_be_bytes(&bytes[..len]).unwrap();
            assert_eq!(&raw.to_be_bytes()[20 - len..], &bytes[..len]);
            assert!(raw.to_be_bytes()[..20 - len].iter().all(|byte| *byte == 0));
        }
        assert_eq!(<[u8; 20]>::from_raw(bytes.into_raw()), bytes);
        let bytes: [u8; 12] = core::array::from_fn(|i| bytes[i]);
        assert_eq!(bytes.into_raw(), RawId::from_be_bytes(&bytes).unwrap());
        assert_eq!(<[u8; 12]>::from_raw(bytes.into_raw()), bytes);
    }
}
