//! How large the next block is: one that lasts as long as wished at the rate of the last one. Pure.

/// A block is at most this much larger than the one before: a burst must not waste millions at the next restart.
const GROWTH: u64 = 4;

/// The size of the next block.
///
/// Of the last one, `used` values took `nanos`; it had `size`. The next lasts `lasting_nanos` at that rate, but is at most four times as
/// large and at least half as large as the last, and 1 to `most`.
pub(super) fn next_size(size: u64, used: u64, nanos: u64, lasting_nanos: u64, most: u64) -> u64 {
    let wished = u128::from(used) * u128::from(lasting_nanos) / u128::from(nanos.max(1));
    let wished = u64::try_from(wished).unwrap_or(u64::MAX);
    wished.clamp(size / 2, size.saturating_mul(GROWTH)).clamp(1, most.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;
    const QUARTER: u64 = 900 * SECOND;

    #[test]
    fn a_block_that_lasts_as_wished_keeps_its_size() {
        assert_eq!(next_size(900, 720, 720 * SECOND, QUARTER, 1 << 32), 900);
    }

    #[test]
    fn sizes_grow_fourfold_and_shrink_by_half() {
        assert_eq!(next_size(100, 80, SECOND, QUARTER, 1 << 32), 400);
        assert_eq!(next_size(100, 80, 100 * QUARTER, QUARTER, 1 << 32), 50);
    }

    #[test]
    fn sizes_stay_between_one_and_the_most() {
        assert_eq!(next_size(100, 80, 0, QUARTER, 150), 150);
        assert_eq!(next_size(1, 0, QUARTER, QUARTER, 10), 1);
        assert_eq!(next_size(u64::MAX, u64::MAX, 1, u64::MAX, 1), 1);
    }

    #[test]
    fn a_million_at_a_hundred_thousand_a_second_takes_few_blocks() {
        let (mut size, mut sum, mut blocks) = (100_u64, 0, 0);
        while sum < 1_000_000 {
            sum += size;
            blocks += 1;
            size = next_size(size, size * 8 / 10, size * 8_000, QUARTER, 1 << 32);
        }
        assert!(blocks <= 9, "{blocks}");
    }
}
