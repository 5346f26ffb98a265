//! The one rule of every time-based generator: what may follow the id made last, given what the clock says.
//!
//! Pure: no clock, no lock, no randomness. Whatever the clock does, each moment is used at most once and moments only grow.

/// A place in the order of a generator's ids: the tick, and the count within it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Moment {
    /// Ticks since the epoch.
    pub tick: u64,
    /// The count within the tick: a sequence, or a random number that is raised.
    pub count: u128,
}

/// What [`advance`] says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// This moment is the next one.
    Use(Moment),
    /// The tick is spent: the next moment lies in this tick or later.
    WaitUntil(u64),
}

/// The moment after `last`, when the clock's tick would begin at `start` and a tick's counts reach `max_count`.
///
/// A later tick begins at `start`. In the same tick, and when the clock stands behind, the count rises by `step` (at least 1)
/// within the tick of `last`; when that passes `max_count`, the tick is spent.
#[must_use]
pub const fn advance(last: Option<Moment>, start: Moment, step: u128, max_count: u128) -> Step {
    match last {
        None => Step::Use(start),
        Some(last) if start.tick > last.tick => Step::Use(start),
        Some(last) => match last.count.checked_add(step) {
            Some(count) if count <= max_count => Step::Use(Moment { tick: last.tick, count }),
            _ => Step::WaitUntil(last.tick.saturating_add(1)),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(tick: u64, count: u128) -> Moment {
        Moment { tick, count }
    }

    #[test]
    fn a_new_tick_begins_at_its_start() {
        assert_eq!(advance(None, at(5, 2), 1, 9), Step::Use(at(5, 2)));
        assert_eq!(advance(Some(at(4, 9)), at(5, 2), 1, 9), Step::Use(at(5, 2)));
    }

    #[test]
    fn the_same_tick_counts_on() {
        assert_eq!(advance(Some(at(5, 2)), at(5, 2), 1, 9), Step::Use(at(5, 3)));
    }

    #[test]
    fn a_clock_that_went_back_changes_nothing() {
        assert_eq!(advance(Some(at(5, 2)), at(1, 0), 1, 9), Step::Use(at(5, 3)));
    }

    #[test]
    fn a_spent_tick_waits_for_the_next() {
        assert_eq!(advance(Some(at(5, 9)), at(5, 0), 1, 9), Step::WaitUntil(6));
        assert_eq!(advance(Some(at(5, 8)), at(5, 0), 2, 9), Step::WaitUntil(6));
        assert_eq!(advance(Some(at(u64::MAX, u128::MAX)), at(5, 0), 1, u128::MAX), Step::WaitUntil(u64::MAX));
    }
}
