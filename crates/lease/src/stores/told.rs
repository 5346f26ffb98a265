//! The time of a store that has no clock: what its clients' clocks say, each checked by what the others said. Rule 16.
//!
//! A space keeps the last time that it was told. A request's time is its client's, and never before the last one. What keeps one bad clock
//! from deciding for all:
//!
//! * **A holder** (a client that was told the time before) goes by what has passed since, on a clock that nobody sets. Steps of its wall clock
//!   change nothing. As long as the wall clock is within the skew, it may slow the time down and never hurry it: so small errors don't
//!   add up from one request to the next, and a time that ran ahead is waited for.
//! * **A fresh client** can show nothing but its wall clock. More than the skew behind the last time it is refused; so it is more than an hour
//!   ahead, unless an operator vouches for it. In between it is believed, as nobody may have been here for a while, but **it is noted from
//!   where to where it moved the time**.
//! * A holder for whom less time has passed than a fresh client's move says knows better, and **moves the time back**. Only within a window's
//!   length of the move: a host that slept that long has no live lease to be right about. Where no move is noted, the time moved by
//!   small steps, so it is the holder that is behind, and it is refused (rule 15).
//! * Whoever was told a time that was moved back since is refused, as its clock is the bad one, until its wall clock is near the others'
//!   time.
//!
//! * As long as a fresh client's move may be taken back, it gets no worker of somebody who may be alive, if there are enough others.
//!
//! So a host whose clock is ahead by minutes ends up refused within a renewal interval, and what is left of it is the mark of the one worker
//! that it was granted. An operator's word sets the time, back too.

use super::values::{Jump, Told};
use crate::clock::HostClock;
use crate::error::Refusal;
use crate::request::{Anchor, Caller};
use crate::state::Expected;
use mintage::UnixNanos;

/// How far a fresh client's wall clock may be ahead of the last time: nobody may have been here for so long. Rule 15.
const TOLERANCE_NANOS: i128 = 3_600 * 1_000_000_000;

/// How far clocks may differ, and for how long a move can be taken back; both in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    pub(super) skew: i128,
    pub(super) window: i128,
}

/// Who tells the time: one reading of a host's clocks, and what the caller knows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Teller {
    pub(super) wall: UnixNanos,
    pub(super) boottime: u64,
    pub(super) anchor: Option<Anchor>,
    pub(super) is_trusted: bool,
}

impl Teller {
    pub(super) fn of(caller: &Caller, clock: &dyn HostClock) -> Self {
        let boottime = clock.boottime_nanos();
        Self { wall: clock.wall(), boottime, anchor: caller.anchor, is_trusted: caller.trusts_clock }
    }

    /// What the store's time should be, for the rules.
    pub(super) fn expected(&self) -> Expected {
        match self.anchor {
            _ if self.is_trusted => Expected::Anything,
            Some(anchor) => Expected::Elapsed(anchor.latest_at(self.boottime)),
            None => Expected::Wall(self.wall),
        }
    }

    /// The answer's stamp: the time was told at this very reading of the clock.
    pub(super) fn anchored(&self, now: UnixNanos) -> Anchor {
        Anchor { store_now: now, sent: self.boottime, received: self.boottime }
    }
}

impl Told {
    /// The time of a request, as the `last` of what is to be kept.
    ///
    /// # Errors
    /// [`Refusal::HostBehind`] and [`Refusal::HostAhead`]. Where the time is ahead of what a holder can explain it is given all the same:
    /// the rules refuse it.
    pub(super) fn next(&self, teller: &Teller, bounds: Bounds) -> Result<Self, Refusal> {
        let Self { last, .. } = *self;
        if teller.is_trusted {
            return Ok(Self::first(teller.wall));
        }
        let now = match teller.anchor {
            Some(anchor) => {
                let elapsed = anchor.latest_at(teller.boottime);
                if anchor.store_now > last.plus(bounds.skew) && self.set_back.is_some() {
                    return self.rejoined(elapsed, teller, bounds);
                }
                if last > elapsed.plus(bounds.skew) {
                    return Ok(self.taken_back(elapsed, bounds).unwrap_or(*self));
                }
                let is_near = elapsed.0.abs_diff(teller.wall.0) <= bounds.skew.unsigned_abs();
                last.max(if is_near { elapsed.min(teller.wall) } else { elapsed })
            }
            None => {
                if teller.wall.plus(bounds.skew) < last {
                    return Err(Refusal::HostBehind { wall: teller.wall, last });
                }
                if teller.wall > last.plus(TOLERANCE_NANOS) {
                    return Err(Refusal::HostAhead { host: teller.wall, last });
                }
                last.max(teller.wall)
            }
        };
        let jump = match self.jump.filter(|jump| now <= jump.to.plus(bounds.window)) {
            None if teller.anchor.is_none() && now > last.plus(bounds.skew) => {
                Some(Jump { from: last, to: now })
            }
            // Of two fresh clients in a row, the first one's move is what a holder must know of.
            Some(jump) if teller.anchor.is_none() && now > last.plus(bounds.skew) => {
                Some(Jump { to: now, ..jump })
            }
            kept => kept,
        };
        Ok(Self { last: now, jump, set_back: self.set_back.filter(|time| *time > now) })
    }

    /// Who was told a time that was moved back goes on once its wall clock is near the others' time, as it is when somebody has set it right.
    fn rejoined(&self, elapsed: UnixNanos, teller: &Teller, bounds: Bounds) -> Result<Self, Refusal> {
        let Self { last, .. } = *self;
        let (earliest, latest) = (last.plus(-bounds.skew), last.plus(bounds.skew + bounds.window));
        if (earliest..=latest).contains(&teller.wall) {
            return Ok(Self { last: last.max(teller.wall), ..*self });
        }
        Err(Refusal::HostAhead { host: elapsed, last })
    }

    /// What is left of a move when `elapsed` is all that a holder can explain; `None` when there is none to take back.
    fn taken_back(&self, elapsed: UnixNanos, bounds: Bounds) -> Option<Self> {
        let jump = self.jump?;
        let is_fresh = self.last <= jump.to.plus(bounds.window);
        let is_explained = jump.from <= elapsed.plus(bounds.skew);
        (is_fresh && is_explained).then(|| Self {
            last: jump.from.max(elapsed),
            jump: None,
            set_back: Some(self.last),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: i128 = 1_000_000_000;
    const BOUNDS: Bounds = Bounds { skew: 5 * SECOND, window: 30 * SECOND };

    fn at(seconds: i128) -> UnixNanos {
        UnixNanos(seconds * SECOND)
    }

    fn fresh(wall: i128) -> Teller {
        Teller { wall: at(wall), boottime: 0, anchor: None, is_trusted: false }
    }

    /// Told `store_now` so many seconds ago.
    fn holder(store_now: i128, ago: u64, wall: i128) -> Teller {
        let anchor = Anchor { store_now: at(store_now), sent: 0, received: 0 };
        Teller { boottime: ago * 1_000_000_000, anchor: Some(anchor), ..fresh(wall) }
    }

    fn told(last: i128) -> Told {
        Told::first(at(last))
    }

    #[test]
    fn rule_16_a_fresh_client_s_wall_clock_is_the_time_and_time_never_goes_back() {
        assert_eq!(told(1_000).next(&fresh(1_003), BOUNDS).unwrap(), told(1_003));
        assert_eq!(told(1_000).next(&fresh(996), BOUNDS).unwrap(), told(1_000));
    }

    #[test]
    fn rule_16_a_fresh_client_that_is_behind_or_an_hour_ahead_is_refused_with_both_values() {
        let behind = told(1_000).next(&fresh(994), BOUNDS).unwrap_err();
        assert_eq!(behind, Refusal::HostBehind { wall: at(994), last: at(1_000) });
        told(1_000).next(&fresh(4_600), BOUNDS).unwrap();
        let ahead = told(1_000).next(&fresh(4_601), BOUNDS).unwrap_err();
        assert_eq!(ahead, Refusal::HostAhead { host: at(4_601), last: at(1_000) });
        let words = format!("{behind} {ahead}");
        assert!(
            words.contains("00:16:34Z") && words.contains("00:16:40Z") && words.contains("01:16:41Z"),
            "{words}"
        );
    }

    #[test]
    fn rule_16_an_operator_s_word_sets_the_time_back_too() {
        for wall in [10, 99_999] {
            let teller = Teller { is_trusted: true, ..fresh(wall) };
            assert_eq!(told(1_000).next(&teller, BOUNDS).unwrap(), told(wall));
        }
    }

    #[test]
    fn rule_16_steps_of_a_holder_s_wall_clock_change_nothing() {
        for wall in [0, 1_010, 999_999] {
            assert_eq!(told(1_000).next(&holder(1_000, 10, wall), BOUNDS).unwrap(), told(1_010), "{wall}");
        }
    }

    #[test]
    fn rule_16_within_the_skew_the_wall_clock_slows_the_time_and_never_hurries_it() {
        assert_eq!(told(1_000).next(&holder(1_000, 10, 1_007), BOUNDS).unwrap(), told(1_007));
        assert_eq!(told(1_000).next(&holder(1_000, 10, 1_013), BOUNDS).unwrap(), told(1_010));
        // Who led the time is gone, and it stands until the others have come to it.
        assert_eq!(told(1_000).next(&holder(1_000, 2, 999), BOUNDS).unwrap(), told(1_000));
    }

    #[test]
    fn rule_16_errors_of_a_fast_clock_do_not_add_up_while_its_wall_clock_is_right() {
        // A clock that gains a tenth, asked every 10 s for a day.
        let mut kept = told(0);
        for round in 1..8_640 {
            let teller = holder(kept.last.0 / SECOND, 11, round * 10);
            kept = kept.next(&teller, BOUNDS).unwrap();
            assert!(kept.last <= at(round * 10).plus(BOUNDS.skew), "{round}: {kept:?}");
        }
    }

    #[test]
    fn rule_16_a_holder_takes_back_what_a_fresh_client_s_bad_clock_moved_and_that_one_is_refused() {
        let moved = told(1_000).next(&fresh(1_600), BOUNDS).unwrap();
        assert_eq!(moved.jump, Some(Jump { from: at(1_000), to: at(1_600) }));
        // The one who moved it goes on for a while.
        let moved = moved.next(&holder(1_600, 9, 1_609), BOUNDS).unwrap();
        let back = moved.next(&holder(1_000, 10, 1_010), BOUNDS).unwrap();
        assert_eq!(back, Told { last: at(1_010), jump: None, set_back: Some(at(1_609)) });
        let refused = back.next(&holder(1_609, 10, 1_619), BOUNDS).unwrap_err();
        assert_eq!(refused, Refusal::HostAhead { host: at(1_619), last: at(1_010) });
        // Once somebody has set its clock right, it goes on with the others.
        assert_eq!(back.next(&holder(1_609, 30, 1_040), BOUNDS).unwrap().last, at(1_040));
        // Others go on, and in the end nothing is left of it.
        assert_eq!(back.next(&fresh(1_012), BOUNDS).unwrap().last, at(1_012));
        let later = Told { last: at(1_605), ..back };
        assert_eq!(later.next(&holder(1_605, 9, 1_614), BOUNDS).unwrap(), told(1_614));
    }

    #[test]
    fn rule_16_two_bad_clocks_in_a_row_are_one_move() {
        let moved = told(1_000).next(&fresh(1_600), BOUNDS).unwrap().next(&fresh(1_620), BOUNDS).unwrap();
        assert_eq!(moved.jump, Some(Jump { from: at(1_000), to: at(1_620) }));
        assert_eq!(moved.next(&holder(1_000, 10, 1_010), BOUNDS).unwrap().last, at(1_010));
    }

    #[test]
    fn rule_16_a_host_that_slept_takes_nothing_back() {
        // Everybody was away; a fresh client moved the time as it must, and others went on.
        let mut kept = told(1_000).next(&fresh(2_000), BOUNDS).unwrap();
        for now in [2_010, 2_020, 2_031] {
            kept = kept.next(&holder(now - 10, 10, now), BOUNDS).unwrap();
        }
        assert_eq!(kept, told(2_031));
        // As it is given, the rules refuse it: it is ahead of what the holder can explain.
        assert_eq!(kept.next(&holder(1_000, 12, 2_040), BOUNDS).unwrap(), kept);
    }

    #[test]
    fn rule_16_a_time_that_went_back_with_a_restored_store_refuses_nobody() {
        assert_eq!(told(400).next(&holder(1_000, 10, 1_010), BOUNDS).unwrap(), told(1_010));
    }
}
