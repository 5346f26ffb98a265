//! The lock-free cursor: tick and sequence in one atomic word, so that no two threads are ever given the same moment.
//!
//! The word is one past the last moment used, as the number `tick * 2^sequence bits + sequence`; zero means that nothing was
//! used. It only grows, by compare-and-set, whatever the clock says; closing it makes it one past everything.

use super::advance::{Moment, Step, advance};
use super::{ClockBack, Start};
use crate::raw::{low_u64, mask};
use crate::sync::{AtomicU64, Ordering, fence};

/// How a cursor moves: facts of the layout and policies of the generator.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Motion {
    /// Width of the sequence; with the tick at most 64.
    pub(crate) count_bits: u32,
    /// The last tick that may be used.
    pub(crate) last_tick: u64,
    /// Nanoseconds a tick.
    pub(crate) tick_nanos: u64,
    /// Ticks that may be borrowed.
    pub(crate) lead_ticks: u64,
    /// The tick in which the generator was made: from it nothing is borrowed, since a predecessor may have used what follows.
    pub(crate) first_tick: Option<u64>,
    /// What to do when the clock went back.
    pub(crate) clock_back: ClockBack,
    /// Where a sequence begins.
    pub(crate) start: Start,
    /// Sequence values below this one aren't used.
    pub(crate) reserved: u64,
}

/// The present, in ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Present {
    /// The tick in which minting goes on when it stands behind.
    pub(crate) start: u64,
    /// The last tick that time has come to, at or after `start`: up to it a tick may begin when the one before is spent.
    pub(crate) tick: u64,
}

impl Present {
    /// Ticks that go with the clock.
    pub(crate) const fn at(tick: u64) -> Self {
        Self { start: tick, tick }
    }
}

/// Why a cursor didn't move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Still {
    /// The sequence is spent; the next moment lies in this tick.
    Spent { until_tick: u64 },
    /// The sequence is spent while the clock stands behind; a tick's time must pass on the monotonic clock.
    Paced { wait_nanos: u64 },
    /// The clock stands behind the last moment, which lies in this tick.
    Behind { until_tick: u64 },
    /// No tick is left.
    Ended,
    /// It was closed.
    Closed,
}

/// The word of a cursor that was closed. No moment leads to it: see `Parts::last_tick`.
const CLOSED: u64 = u64::MAX;

/// A note older than this, and than 1,024 ticks, is from an earlier step back of the clock. Callers that come less often than that
/// get their ticks one by one all the same, since each wait leaves a note.
const STALE_NANOS: u64 = 3_600_000_000_000;

/// The state that generators of one worker share.
#[derive(Debug)]
pub(crate) struct Cursor {
    /// One past the last moment used.
    word: AtomicU64,
    /// When, on the monotonic clock, a tick was begun or found spent while the wall clock stood behind; 0 when it didn't.
    /// Only paces: a note from an earlier step back can make one tick early or late, never a moment used twice.
    paced_since: AtomicU64,
}

impl Cursor {
    /// A cursor that has used everything up to and including `tick`, or nothing at all.
    pub(crate) fn new(used_up_to: Option<u64>, count_bits: u32) -> Self {
        let word = used_up_to.map_or(0, |tick| tick.saturating_add(1) << count_bits);
        Self { word: AtomicU64::new(word), paced_since: AtomicU64::new(0) }
    }

    /// Marks everything up to and including `tick` as used.
    #[cfg(feature = "std")]
    pub(crate) fn skip(&self, tick: u64, count_bits: u32) {
        // Ordering: the word guards no other memory, so its own modification order is all that counts. The same everywhere here.
        self.word.fetch_max(tick.saturating_add(1) << count_bits, Ordering::Relaxed);
    }

    /// Uses up everything at once: nothing is claimed from now on. Returns the word as it was, so that whoever closes knows exactly
    /// the last moment claimed; `None` when it was closed before.
    pub(crate) fn close(&self) -> Option<u64> {
        // Ordering: as in `skip`. A swap and not a load with a store after it: no claim comes in between.
        Some(self.word.swap(CLOSED, Ordering::Relaxed)).filter(|word| *word != CLOSED)
    }

    /// Claims up to `want` (at least 1) consecutive sequence values of the tick in which the clock stands, when that is the tick of the last
    /// moment and isn't spent: the first value and how many. `None` where [`Cursor::claim`] has to look closer. The usual case, without
    /// anything but the facts that it needs.
    ///
    /// `is_now` reads the clock, after the word was read as in `claim`, and tells whether it stands in a tick; above `last_tick` nothing is
    /// claimed.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn claim_more(
        &self,
        want: u64,
        count_bits: u32,
        last_tick: u64,
        is_now: impl FnOnce(u64) -> bool,
    ) -> Option<(u64, u64, u64)> {
        let word = self.word.load(Ordering::Relaxed);
        let max_count = low_u64(mask(count_bits));
        let (tick, next) = (word >> count_bits, word & max_count);
        // The word of a spent tick is the next one's with sequence 0; that of a closed cursor has a tick beyond any last one.
        if next == 0 || tick > last_tick || !is_now(tick) {
            return None;
        }
        let count = want.min(max_count - next + 1);
        self.word.compare_exchange(word, word + count, Ordering::Relaxed, Ordering::Relaxed).ok()?;
        Some((tick, next, count))
    }

    /// Claims up to `want` (at least 1) consecutive moments of one tick; returns the first and how many.
    ///
    /// `now` reads the clock. It is called after the word was read, so that a clock that never goes back is never found
    /// behind a moment that another thread has just used.
    #[inline]
    pub(crate) fn claim(
        &self,
        want: u64,
        motion: &Motion,
        now: impl Fn() -> Present,
        monotonic: impl Fn() -> u64,
    ) -> Result<(Moment, u64), Still> {
        let max_count = low_u64(mask(motion.count_bits));
        let mut word = self.word.load(Ordering::Relaxed);
        loop {
            if word == CLOSED {
                return Err(Still::Closed);
            }
            let Present { start, tick } = now();
            let last = word.checked_sub(1).map(|last| Moment {
                tick: last.checked_shr(motion.count_bits).unwrap_or(0),
                count: u128::from(last & max_count),
            });
            // Where a tick begins is computed only when one does: the count of a begun tick is never 0 here.
            let mut first = match advance(last, Moment { tick: start, count: 0 }, 1, u128::from(max_count)) {
                Step::Use(moment) => self.judge(moment, tick, motion)?,
                Step::WaitUntil(next) => self.judge_spent(next, tick, motion, &monotonic)?,
            };
            if first.count == 0 {
                first.count = u128::from(motion.first_count(first.tick));
            }
            if first.tick > motion.last_tick {
                return Err(Still::Ended);
            }
            let count = want.min(max_count - low_u64(first.count) + 1).max(1);
            let claimed = (first.tick << motion.count_bits) + low_u64(first.count) + count;
            match self.word.compare_exchange_weak(word, claimed, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return Ok((first, count)),
                Err(moved) => word = moved,
            }
        }
    }

    /// A moment in a tick that is not spent: fine, unless it lies further ahead of the clock than the policy allows.
    #[inline]
    fn judge(&self, moment: Moment, now: u64, motion: &Motion) -> Result<Moment, Still> {
        if motion.admits(moment.tick, now) {
            return Ok(moment);
        }
        Err(Still::Behind { until_tick: moment.tick })
    }

    /// The tick is spent: the next one may begin when the clock, the lead or the pace allows it.
    #[inline(never)]
    fn judge_spent(
        &self,
        next: u64,
        now: u64,
        motion: &Motion,
        monotonic: impl Fn() -> u64,
    ) -> Result<Moment, Still> {
        let allowed = motion.allowed(now);
        if next <= allowed {
            return Ok(Moment { tick: next, count: 0 });
        }
        // One tick ahead of the clock, or at the end of the lead: the clock itself will bring the next one.
        if next - 1 <= allowed {
            return Err(Still::Spent { until_tick: next - (allowed - now) });
        }
        if motion.clock_back != ClockBack::Absorb {
            return Err(Still::Behind { until_tick: next - 1 });
        }
        // Ordering: pairs with the fence below. Who sees that another thread has begun and spent this tick sees when it began, or a
        // note from before would let the next one begin early.
        fence(Ordering::Acquire);
        let (since, moment) = (self.paced_since.load(Ordering::Relaxed), monotonic().max(1));
        let waited = moment.saturating_sub(since);
        let stale = motion.tick_nanos.saturating_mul(1024).max(STALE_NANOS);
        if since != 0 && waited >= motion.tick_nanos && waited < stale {
            // The latest of all notes counts: a thread that read the clock long ago must not take another's back.
            self.paced_since.fetch_max(moment, Ordering::Relaxed);
            fence(Ordering::Release);
            return Ok(Moment { tick: next, count: 0 });
        }
        if since == 0 || waited >= motion.tick_nanos {
            // The first spent tick of this step back, or a note left from an earlier one.
            self.paced_since.fetch_max(moment, Ordering::Relaxed);
            return Err(Still::Paced { wait_nanos: motion.tick_nanos });
        }
        Err(Still::Paced { wait_nanos: motion.tick_nanos - waited })
    }
}

impl Motion {
    /// Whether what is left of `tick` may be used when the clock stands in `now`.
    #[inline]
    pub(crate) fn admits(&self, tick: u64, now: u64) -> bool {
        tick == now || tick <= self.allowed(now) || self.clock_back == ClockBack::Absorb
    }

    /// The last tick that the clock's tick `now` allows.
    #[inline]
    fn allowed(&self, now: u64) -> u64 {
        match self.first_tick {
            Some(first) if now <= first => now,
            _ => now.saturating_add(self.lead_ticks),
        }
    }

    /// The first sequence of a tick: a function of the tick alone.
    pub(crate) fn first_count(&self, tick: u64) -> u64 {
        match self.start {
            Start::Zero => self.reserved,
            Start::Rolling => {
                // Bits of a well-mixed tick (the finaliser of SplitMix64: Steele, Lea and Flood, 2014).
                let spread = self.count_bits.saturating_sub(6);
                let mut mixed = tick.wrapping_add(0x9e37_79b9_7f4a_7c15);
                mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
                mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
                self.reserved + ((mixed ^ (mixed >> 31)) & low_u64(mask(spread)))
            }
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn motion() -> Motion {
        Motion {
            count_bits: 2,
            last_tick: 1000,
            tick_nanos: 1_000_000,
            lead_ticks: 0,
            first_tick: None,
            clock_back: ClockBack::Absorb,
            start: Start::Zero,
            reserved: 0,
        }
    }

    fn claim(cursor: &Cursor, motion: &Motion, now: u64) -> Result<(u64, u128), Still> {
        cursor.claim(1, motion, || Present::at(now), || 1).map(|(m, _)| (m.tick, m.count))
    }

    #[test]
    fn a_tick_is_used_up_and_the_next_begins() {
        let (cursor, motion) = (Cursor::new(None, 2), motion());
        for count in 0..4 {
            assert_eq!(claim(&cursor, &motion, 7), Ok((7, count)));
        }
        assert_eq!(claim(&cursor, &motion, 7), Err(Still::Spent { until_tick: 8 }));
        assert_eq!(claim(&cursor, &motion, 8), Ok((8, 0)));
    }

    #[test]
    fn a_batch_stays_within_its_tick() {
        let (cursor, motion) = (Cursor::new(None, 2), motion());
        assert_eq!(cursor.claim(3, &motion, || Present::at(7), || 1), Ok((Moment { tick: 7, count: 0 }, 3)));
        assert_eq!(cursor.claim(3, &motion, || Present::at(7), || 1), Ok((Moment { tick: 7, count: 3 }, 1)));
    }

    #[test]
    fn the_tick_of_creation_is_skipped() {
        let cursor = Cursor::new(Some(7), 2);
        assert_eq!(claim(&cursor, &motion(), 7), Err(Still::Spent { until_tick: 8 }));
        assert_eq!(claim(&cursor, &motion(), 8), Ok((8, 0)));
    }

    #[test]
    fn a_step_back_is_absorbed_at_the_pace_of_the_monotonic_clock() {
        let (cursor, motion) = (Cursor::new(None, 2), motion());
        assert_eq!(claim(&cursor, &motion, 500), Ok((500, 0)));
        for count in 1..4 {
            assert_eq!(claim(&cursor, &motion, 100), Ok((500, count)));
        }
        let at = |nanos: u64| {
            cursor.claim(1, &motion, || Present::at(100), || nanos).map(|(m, _)| (m.tick, m.count))
        };
        assert_eq!(at(10), Err(Still::Paced { wait_nanos: 1_000_000 }));
        assert_eq!(at(400_010), Err(Still::Paced { wait_nanos: 600_000 }));
        assert_eq!(at(1_000_010), Ok((501, 0)));
    }

    #[test]
    fn a_step_back_is_waited_for_or_refused() {
        let (cursor, mut motion) = (Cursor::new(None, 2), motion());
        motion.clock_back = ClockBack::Wait;
        assert_eq!(claim(&cursor, &motion, 500), Ok((500, 0)));
        assert_eq!(claim(&cursor, &motion, 499), Err(Still::Behind { until_tick: 500 }));
        assert_eq!(claim(&cursor, &motion, 500), Ok((500, 1)));
    }

    #[test]
    fn borrowing_stops_at_the_lead() {
        let (cursor, mut motion) = (Cursor::new(None, 2), motion());
        motion.lead_ticks = 2;
        for i in 0..12 {
            assert_eq!(claim(&cursor, &motion, 7), Ok((7 + i / 4, u128::from(i % 4))));
        }
        assert_eq!(claim(&cursor, &motion, 7), Err(Still::Spent { until_tick: 8 }));
        assert_eq!(claim(&cursor, &motion, 8), Ok((10, 0)));
    }

    #[test]
    fn nothing_is_borrowed_in_the_tick_of_creation() {
        let (cursor, mut motion) = (Cursor::new(Some(7), 2), motion());
        (motion.lead_ticks, motion.first_tick) = (2, Some(7));
        assert_eq!(claim(&cursor, &motion, 7), Err(Still::Spent { until_tick: 8 }));
        assert_eq!(claim(&cursor, &motion, 8), Ok((8, 0)));
    }

    #[test]
    fn a_present_that_lags_keeps_the_tick_until_it_is_spent_or_left_behind() {
        let (cursor, motion) = (Cursor::new(None, 2), motion());
        let at = |start, tick| {
            let claimed = cursor.claim(1, &motion, || Present { start, tick }, || 1);
            claimed.map(|(m, _)| (m.tick, m.count))
        };
        assert_eq!(at(7, 7), Ok((7, 0)));
        assert_eq!([at(7, 8), at(7, 9), at(7, 9)], [Ok((7, 1)), Ok((7, 2)), Ok((7, 3))]);
        assert_eq!(at(7, 9), Ok((8, 0)));
        assert_eq!(at(10, 15), Ok((10, 0)));
    }

    #[test]
    fn closing_tells_the_last_moment_and_ends_it() {
        for count_bits in [0, 2, 12] {
            let motion = Motion { count_bits, ..motion() };
            let cursor = Cursor::new(Some(6), count_bits);
            assert_eq!(claim(&cursor, &motion, 7), Ok((7, 0)));
            assert_eq!(cursor.close(), Some((7 << count_bits) + 1));
            assert_eq!(cursor.close(), None);
            assert_eq!(claim(&cursor, &motion, 8), Err(Still::Closed));
        }
    }

    #[test]
    fn the_last_tick_ends_it() {
        let (cursor, motion) = (Cursor::new(None, 2), motion());
        assert_eq!(claim(&cursor, &motion, 1000), Ok((1000, 0)));
        assert_eq!(claim(&cursor, &motion, 1001), Err(Still::Ended));
    }

    proptest! {
        #[test]
        fn the_usual_case_is_what_a_closer_look_gives(
            clock in proptest::collection::vec((0..40_u64, 1..6_u64), 1..60),
            count_bits in 0..5_u32,
            last_tick in 0..40_u64,
            is_rolling: bool,
            lead_ticks in 0..3_u64,
            closed_at in 0..80_usize,
        ) {
            let start = if is_rolling { Start::Rolling } else { Start::Zero };
            let motion = Motion { count_bits, last_tick, start, lead_ticks, ..motion() };
            let (quick, closer) = (Cursor::new(Some(3), count_bits), Cursor::new(Some(3), count_bits));
            let claim = |cursor: &Cursor, (tick, want): (u64, u64)| {
                let claimed = cursor.claim(want, &motion, || Present::at(tick), || 1);
                claimed.map(|(first, count)| (first.tick, low_u64(first.count), count))
            };
            for (i, (tick, want)) in clock.into_iter().enumerate() {
                if i == closed_at {
                    prop_assert_eq!(quick.close(), closer.close());
                }
                let claimed = match quick.claim_more(want, count_bits, last_tick, |last| last == tick) {
                    Some(claimed) => Ok(claimed),
                    None => claim(&quick, (tick, want)),
                };
                prop_assert_eq!(claimed, claim(&closer, (tick, want)));
            }
        }
    }

    #[test]
    fn rolling_starts_depend_on_the_tick_alone_and_spread() {
        let motion = Motion { count_bits: 12, start: Start::Rolling, ..motion() };
        let firsts: alloc::collections::BTreeSet<u64> =
            (0..2000).map(|tick| motion.first_count(tick)).collect();
        assert_eq!(firsts.len(), 64);
        assert_eq!(firsts.last(), Some(&63));
        assert_eq!(motion.first_count(5), motion.first_count(5));
    }
}
