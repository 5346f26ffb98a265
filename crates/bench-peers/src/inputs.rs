//! What is printed and parsed: the same bytes for both sides, and the same in every run.

use crate::engines::BATCH;

/// Numbers whose bits look random.
///
/// Source: Sebastiano Vigna, splitmix64.
pub(crate) fn numbers() -> impl Iterator<Item = u64> {
    let mut state = 0_u64;
    std::iter::repeat_with(move || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    })
    .take(BATCH)
}

/// A batch of 128-bit numbers.
pub(crate) fn wide() -> Vec<u128> {
    numbers().zip(numbers().skip(1)).map(|(high, low)| u128::from(high) << 64 | u128::from(low)).collect()
}

/// A batch of UUIDs of version 7.
pub(crate) fn uuids() -> Vec<u128> {
    wide().into_iter().map(|bits| bits & !(0xf << 76) & !(0x3 << 62) | 0x7 << 76 | 0x2 << 62).collect()
}

/// A batch of KSUIDs: a second, then 128 bits.
pub(crate) fn ksuids() -> Vec<[u8; 20]> {
    let second = 0x1734_5678_u32.to_be_bytes();
    let bytes = |bits: u128| {
        let mut bytes = [0; 20];
        bytes[..4].copy_from_slice(&second);
        bytes[4..].copy_from_slice(&bits.to_be_bytes());
        bytes
    };
    wide().into_iter().map(bytes).collect()
}
