//! Reading the clock, and what a run's times come to.

use mintage::{Clock, SystemClock};
use std::time::Duration;

/// Nanoseconds of a clock that nobody sets.
pub(crate) fn now() -> u64 {
    SystemClock.monotonic_nanos()
}

pub(crate) fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[expect(clippy::cast_precision_loss, reason = "counts and times here are far below 2^53")]
pub(crate) const fn float(count: u64) -> f64 {
    count as f64
}

/// The time that one in `part` of these took longer than: 2 for the median, 100 for 99 %. They are sorted; 0 of none.
pub(crate) fn one_in(part: usize, sorted: &[u64]) -> u64 {
    let above = sorted.len() / part;
    sorted.len().checked_sub(above + 1).and_then(|at| sorted.get(at)).copied().unwrap_or(0)
}
