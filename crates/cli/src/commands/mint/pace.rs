//! How many ids are due: a rate for the whole process, and an end.

use mintage::{Clock, SystemClock};
use std::sync::atomic::{AtomicU64, Ordering};

/// Whose turn it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// This many may be made, at least 1.
    Now(usize),
    /// The next is due in so many nanoseconds.
    Wait(u64),
    /// All were taken.
    Done,
}

/// The pace that threads share.
#[derive(Debug)]
pub(super) struct Pace {
    per_second: Option<f64>,
    most: u64,
    begun: u64,
    taken: AtomicU64,
    /// Ids that were due and weren't made, as nobody could; they aren't made up for.
    skipped: AtomicU64,
}

/// What is due for longer isn't made up for: after an outage the rate is what it was.
const LONGEST_DEBT_SECS: f64 = 0.1;

/// No machine makes as many a second, so a higher rate is none; and below it, no count overflows in a lifetime.
const HIGHEST_RATE: f64 = 1e10;

impl Pace {
    pub(super) fn new(per_second: Option<f64>, most: Option<u64>) -> Self {
        Self {
            per_second: per_second.filter(|rate| *rate < HIGHEST_RATE),
            most: most.unwrap_or(u64::MAX),
            begun: SystemClock.boottime_nanos(),
            taken: AtomicU64::new(0),
            skipped: AtomicU64::new(0),
        }
    }

    /// Takes a turn of up to `want` ids.
    pub(super) fn take(&self, want: usize) -> Turn {
        self.take_at(want, SystemClock.boottime_nanos())
    }

    fn take_at(&self, want: usize, now: u64) -> Turn {
        loop {
            let taken = self.taken.load(Ordering::Relaxed);
            let left = self.most - taken;
            if left == 0 {
                return Turn::Done;
            }
            let due = match self.due(taken, now) {
                Ok(due) => due,
                Err(wait) => return Turn::Wait(wait),
            };
            let turn = due.min(left).min(want as u64);
            let (seen, next) = (Ordering::Relaxed, taken + turn);
            if self.taken.compare_exchange(taken, next, seen, Ordering::Relaxed).is_ok() {
                return Turn::Now(usize::try_from(turn).unwrap_or(want));
            }
        }
    }

    /// How many are due beyond those that were taken, or when the next is.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "counts are far below 2^53, and floats become integers by saturation"
    )]
    fn due(&self, taken: u64, now: u64) -> Result<u64, u64> {
        let Some(per_second) = self.per_second else { return Ok(u64::MAX) };
        let passed = now.saturating_sub(self.begun) as f64 / 1e9;
        let due = ((passed * per_second) as u64).saturating_add(1);
        let gone = taken.saturating_add(self.skipped.load(Ordering::Relaxed));
        if gone >= due {
            let at = gone as f64 / per_second;
            return Err((((at - passed) * 1e9) as u64).max(1_000));
        }
        let debt = ((per_second * LONGEST_DEBT_SECS) as u64).saturating_add(1);
        if due - gone > debt {
            self.skipped.fetch_add(due - gone - debt, Ordering::Relaxed);
            return Ok(debt);
        }
        Ok(due - gone)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn pace(per_second: Option<f64>, most: Option<u64>) -> Pace {
        Pace { begun: 0, ..Pace::new(per_second, most) }
    }

    #[test]
    fn without_a_rate_all_are_due_until_the_end() {
        let pace = pace(None, Some(10));
        assert_eq!(
            [pace.take_at(8, 0), pace.take_at(8, 0), pace.take_at(8, 0)],
            [Turn::Now(8), Turn::Now(2), Turn::Done]
        );
    }

    #[test]
    fn a_rate_lets_one_come_at_a_time() {
        let pace = pace(Some(4.0), None);
        assert_eq!(pace.take_at(8, 0), Turn::Now(1));
        assert_eq!(pace.take_at(8, 0), Turn::Wait(SECOND / 4));
        assert_eq!(pace.take_at(8, SECOND / 4), Turn::Now(1));
    }

    #[test]
    fn a_rate_beyond_all_machines_is_none_and_the_highest_below_it_lasts() {
        for rate in [1e10, 1e19, 1e300, f64::MAX] {
            let pace = pace(Some(rate), None);
            for secs in [0, 1, 2, 1_000_000_000] {
                assert_eq!(pace.take_at(64, secs * SECOND), Turn::Now(64), "{rate} after {secs} s");
            }
        }
        let pace = pace(Some(9.9e9), None);
        for secs in [0, 1, 100 * 31_557_600] {
            assert!(matches!(pace.take_at(64, secs * SECOND), Turn::Now(_)), "after {secs} s");
        }
    }

    #[test]
    fn an_outage_is_not_made_up_for() {
        let pace = pace(Some(100.0), None);
        assert_eq!(pace.take_at(64, 0), Turn::Now(1));
        assert_eq!(pace.take_at(64, 60 * SECOND), Turn::Now(11));
        assert!(matches!(pace.take_at(64, 60 * SECOND), Turn::Wait(_)));
        assert_eq!(pace.take_at(64, 61 * SECOND), Turn::Now(11));
    }
}
