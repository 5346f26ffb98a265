//! What [`super::simd_x86`] has, where there are no vector instructions to use: words and tables.

use super::CROCKFORD32;
use super::chunks;
pub(super) use super::hex::{read_uuid, spell_uuid};

/// The number that 26 digits of Crockford's base 32 spell in either case; `None` when one of them isn't a digit, or above 128 bits.
#[inline]
pub(super) fn read_ulid(text: &[u8; 26]) -> Option<u128> {
    let raw = chunks::read((CROCKFORD32.kind, &CROCKFORD32), text, 0)?;
    raw.fits(128).then(|| raw.low())
}
