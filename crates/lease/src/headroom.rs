//! How much of a space is used, and when it ends: the time field of a space of windows, the counter of a space of blocks. Rule 7.

use crate::ending::Ending;
use crate::request::Shown;
use crate::space::{BlockTerms, Kind, ScopeTerms, Terms};
use crate::state::{BlockState, SpaceState};
use mintage::UnixNanos;

/// How much of a space is used.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Headroom {
    /// The share of all ticks or values that has passed or was handed out, 0 to 1.
    pub used: f64,
    /// When it ends: certain for a time field; for a counter, at the highest rate that was ever seen in one minute. `None` for a counter that
    /// has handed out nothing in a minute yet, or wouldn't end before the year 9999.
    pub ends_at: Option<UnixNanos>,
    /// What ends.
    pub what: Ends,
}

/// What of a space ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ends {
    /// Its time field, at a date that is known from the first day on.
    TimeField,
    /// Its counter, at a date that follows from a rate.
    Counter,
}

/// The shares from which something is said.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// From here on it is worth a warning, 0 to 1.
    pub warn: f64,
    /// From here on it is bad, 0 to 1.
    pub fail: f64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { warn: 0.25, fail: 0.5 }
    }
}

/// What a headroom means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// Nothing to do.
    Enough,
    /// Time to plan.
    Warned,
    /// Time to act.
    Bad,
}

/// 9999-12-31T23:59:59Z.
const LAST: UnixNanos = UnixNanos(253_402_300_799_000_000_000);

impl Headroom {
    /// That of a space, by the store's clock; of a space of scopes, that of the furthest of them, without a date.
    #[must_use]
    pub fn of(shown: &Shown) -> Option<Self> {
        match &shown.space.kind {
            Kind::Windows(windows) => Some(Self::of_ticks(&windows.terms, &shown.state, shown.now)),
            Kind::Blocks(terms) => Some(Self::of_values(terms, &shown.state.block, shown.now)),
            Kind::Scopes(terms) => Some(Self::of_furthest(terms, shown.state.high_mark)),
        }
    }

    fn of_ticks(terms: &Terms, state: &SpaceState, now: UnixNanos) -> Self {
        // Before the epoch no tick has passed.
        let current = terms.base.tick_at(now).unwrap_or(0).max(state.high_mark);
        let used = (current as f64 / (terms.last_tick as f64 + 1.0)).min(1.0);
        Self { used, ends_at: Some(terms.ends_at()), what: Ends::TimeField }
    }

    fn of_values(terms: &BlockTerms, block: &BlockState, now: UnixNanos) -> Self {
        let (first, last) = (i128::from(terms.first), i128::from(terms.last));
        let (all, left) = (last - first + 1, (last + 1 - i128::from(block.next)).max(0));
        let used = if all <= 0 { 1.0 } else { ((all - left) as f64 / all as f64).clamp(0.0, 1.0) };
        // The peak counts values, of which each takes a step.
        let a_minute = i128::from(block.peak) * i128::from(terms.step);
        let nanos = (a_minute > 0).then(|| left.saturating_mul(60_000_000_000) / a_minute);
        let ends_at = nanos.map(|nanos| now.plus(nanos)).filter(|end| *end <= LAST);
        Self { used, ends_at, what: Ends::Counter }
    }

    /// Which scope is the furthest, and how fast it grows, the space's row doesn't tell.
    fn of_furthest(terms: &ScopeTerms, high_mark: u64) -> Self {
        let (taken, all) =
            (high_mark.saturating_sub(terms.first), terms.last.saturating_sub(terms.first) + 1);
        Self { used: (taken as f64 / all as f64).clamp(0.0, 1.0), ends_at: None, what: Ends::Counter }
    }

    /// What it means at `now`: by shares, and by the date. A counter's date follows from a rate that may have been seen once, so it is
    /// never worse than a warning.
    #[must_use]
    pub fn verdict(&self, limits: Limits, now: UnixNanos) -> Verdict {
        let by_share = match self.used {
            used if used >= limits.fail => Verdict::Bad,
            used if used >= limits.warn => Verdict::Warned,
            _ => Verdict::Enough,
        };
        let ending = self.ends_at.map_or(Ending::Far, |end| Ending::at(end, now));
        let by_date = match (self.what, ending) {
            (_, Ending::Far) => Verdict::Enough,
            (Ends::TimeField, Ending::Close) => Verdict::Bad,
            (Ends::TimeField, Ending::Near) | (Ends::Counter, _) => Verdict::Warned,
        };
        by_share.max(by_date)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::space::Windows;
    use mintage::Scheme;

    const DAY_NANOS: i128 = 86_400 * 1_000_000_000;

    fn values(next: u64, peak: u64, last: u64, step: u64) -> Headroom {
        let terms = BlockTerms { last, step, ..BlockTerms::default() };
        let block = BlockState { next, peak, ..BlockState::default() };
        Headroom::of_values(&terms, &block, UnixNanos(0))
    }

    fn verdict(headroom: Headroom) -> Verdict {
        headroom.verdict(Limits::default(), UnixNanos(0))
    }

    #[test]
    fn a_counter_warns_at_a_quarter_and_is_bad_at_half() {
        for (next, expected) in [
            (1, Verdict::Enough),
            (250, Verdict::Enough),
            (251, Verdict::Warned),
            (500, Verdict::Warned),
            (501, Verdict::Bad),
        ] {
            assert_eq!(verdict(values(next, 0, 1_000, 1)), expected, "{next}");
        }
        let (fresh, spent) = (values(1, 0, 1_000, 1), values(1_001, 0, 1_000, 1));
        assert_eq!((fresh.used, spent.used, fresh.ends_at), (0.0, 1.0, None));
    }

    #[test]
    fn the_furthest_scope_is_that_of_its_space() {
        let terms = ScopeTerms { first: 1, last: 1_000, failover_gap: 0 };
        for (high_mark, expected) in [(0, Verdict::Enough), (251, Verdict::Warned), (501, Verdict::Bad)] {
            assert_eq!(verdict(Headroom::of_furthest(&terms, high_mark)), expected, "{high_mark}");
        }
    }

    #[test]
    fn a_counter_that_would_end_within_two_years_at_its_highest_rate_warns() {
        // 1,000,000 values, 1 a minute: 694 days.
        let near = values(1, 1, 1_000_000, 1);
        assert_eq!((near.ends_at.map(|end| end.0 / DAY_NANOS), verdict(near)), (Some(694), Verdict::Warned));
        let far = values(1, 1, 1_100_000, 1);
        assert_eq!(verdict(far), Verdict::Enough);
        assert_eq!(values(1, 1, 1_000_000, 2).ends_at.map(|end| end.0 / DAY_NANOS), Some(347));
        // Never worse than a warning: the rate may have been seen once.
        assert_eq!(verdict(values(1, 1 << 40, 1_000_000, 1)), Verdict::Warned);
        assert_eq!(values(1, 1, u64::MAX / 2, 1).ends_at, None);
    }

    #[test]
    fn rule_7_a_time_field_warns_two_years_ahead_and_is_bad_for_a_month() {
        let terms = Windows::of(Scheme::by_name("snowflake-twitter").unwrap(), None).unwrap().terms;
        let state = empty();
        let all = Limits { warn: 1.0, fail: 1.0 };
        let at = |days: i128| {
            let now = terms.ends_at().plus(-days * DAY_NANOS);
            Headroom::of_ticks(&terms, &state, now).verdict(all, now)
        };
        assert_eq!(
            [732, 731, 31, 30].map(at),
            [Verdict::Enough, Verdict::Warned, Verdict::Warned, Verdict::Bad]
        );
        let half = terms.base.epoch.plus((terms.ends_at().0 - terms.base.epoch.0) / 2);
        assert!((Headroom::of_ticks(&terms, &state, half).used - 0.5).abs() < 1e-9);
        assert_eq!(Headroom::of_ticks(&terms, &state, UnixNanos(0)).used, 0.0);
    }

    fn empty() -> SpaceState {
        SpaceState {
            serial: 0,
            hold_serial: 0,
            holds: 0,
            restart_hold: true,
            identity: crate::identity::Identity::default(),
            floor: 0,
            old_floor: 0,
            high_mark: 0,
            next_worker: 0,
            block: BlockState::default(),
        }
    }
}
