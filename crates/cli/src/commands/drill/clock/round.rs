//! One round: every generator mints on a thread of its own, and the clock goes back.

use super::minters::{MINTERS, Minter, Place, SetBack};
use crate::commands::drill::stop::Stop;
use crate::exit::Failure;
use anyhow::anyhow;
use mintage::time::pause;
use mintage::{Clock, Error, Generator, RawId, SystemClock};
use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};

/// The times of a round, in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Times {
    /// How far the clock goes back.
    pub(super) step: u64,
    /// How long is minted before that.
    pub(super) before: u64,
    /// How long is minted after it.
    pub(super) after: u64,
}

/// What came of a round.
pub(super) struct Round {
    pub(super) times: Times,
    /// One a generator, in the order of [`MINTERS`].
    pub(super) courses: Vec<Course>,
}

/// What a generator did.
pub(super) struct Course {
    pub(super) name: &'static str,
    /// Ids that came.
    pub(super) ids: u64,
    /// Ids of them that had come before.
    pub(super) duplicates: u64,
    /// Calls that were told to come back when the clock has caught up.
    pub(super) refused: u64,
    /// The longest time without an id that ended after the step.
    pub(super) outage_nanos: u64,
    /// Whether it minted when the round ended; else the outage is at least that long.
    pub(super) is_back: bool,
    /// Calls that gave ids.
    pub(super) calls: Vec<Call>,
}

/// A call that gave ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Call {
    /// When, in nanoseconds since the step; negative before it.
    pub(super) at: i64,
    /// Ids that had come before.
    pub(super) duplicates: u32,
}

/// Ids a call.
const BATCH: usize = 16;

/// Between two calls.
const REST_NANOS: u64 = 200_000;

/// A generator that gave nothing for so long when the round ended isn't back: a busy machine lets one wait, too.
const BACK_NANOS: u64 = 100_000_000;

/// What a thread wrote down.
struct Notes {
    ids: Vec<u64>,
    /// When, and how many ids.
    calls: Vec<(u64, usize)>,
    refused: u64,
}

impl Round {
    pub(super) fn run(place: &Place, times: Times, stop: &Stop) -> Result<Self, Failure> {
        let clock = SetBack::default();
        let made: Result<Vec<_>, Failure> =
            MINTERS.iter().map(|minter| Ok((minter, (minter.make)(place, clock.clone())?))).collect();
        let made = made?;
        let is_over = AtomicBool::new(false);
        let (notes, stepped, ended) = std::thread::scope(|scope| {
            let threads: Vec<_> = made
                .iter()
                .map(|(minter, generator)| scope.spawn(|| mint(minter, generator.as_ref(), &is_over)))
                .collect();
            wait(times.before, stop);
            let stepped = SystemClock.monotonic_nanos();
            clock.by(times.step);
            wait(times.after, stop);
            let ended = SystemClock.monotonic_nanos();
            // Ordering: nothing else is told by it.
            is_over.store(true, Ordering::Relaxed);
            let notes: Vec<_> = threads.into_iter().map(|thread| thread.join()).collect();
            (notes, stepped, ended)
        });
        let mut courses = Vec::new();
        for (minter, notes) in MINTERS.iter().zip(notes) {
            let notes = notes.map_err(|_| anyhow!("the thread of {} panicked", minter.name))??;
            courses.push(notes.course(minter.name, stepped, ended));
        }
        Ok(Self { times, courses })
    }
}

/// Waits, and no longer once the drill is to end.
fn wait(nanos: u64, stop: &Stop) {
    let until = SystemClock.monotonic_nanos() + nanos;
    while !stop.is_set() {
        let left = until.saturating_sub(SystemClock.monotonic_nanos());
        if left == 0 {
            return;
        }
        pause(left.min(50_000_000));
    }
}

/// Mints until the round is over.
fn mint(minter: &Minter, generator: &dyn Generator, is_over: &AtomicBool) -> Result<Notes, Failure> {
    let mut notes = Notes { ids: Vec::new(), calls: Vec::new(), refused: 0 };
    let mut batch = [RawId::ZERO; BATCH];
    // Ordering: nothing else is told by it.
    while !is_over.load(Ordering::Relaxed) {
        let made = match generator.try_fill(&mut batch) {
            Ok(made) => made,
            // It would have waited: the caller does.
            Err(Error::Busy { .. } | Error::WindowEnded { .. }) => 0,
            Err(Error::Refused { .. }) => {
                notes.refused += 1;
                0
            }
            Err(error) => return Err(anyhow!("{}: {error}", minter.name).into()),
        };
        if made > 0 {
            notes.calls.push((SystemClock.monotonic_nanos(), made));
            for id in &batch[..made] {
                notes.ids.push(
                    u64::try_from(id.low()).map_err(|_| anyhow!("{}: an id above 64 bits", minter.name))?,
                );
            }
        }
        pause(REST_NANOS);
    }
    Ok(notes)
}

impl Notes {
    fn course(self, name: &'static str, stepped: u64, ended: u64) -> Course {
        let mut seen = HashSet::with_capacity(self.ids.len());
        let mut ids = self.ids.iter();
        let mut calls = Vec::with_capacity(self.calls.len());
        for &(at, made) in &self.calls {
            let duplicates = ids.by_ref().take(made).filter(|id| !seen.insert(**id)).count();
            let at = i64::try_from(i128::from(at) - i128::from(stepped)).unwrap_or(i64::MAX);
            calls.push(Call { at, duplicates: u32::try_from(duplicates).unwrap_or(u32::MAX) });
        }
        let (outage_nanos, is_back) = outage(&calls, ended - stepped);
        Course {
            name,
            ids: self.ids.len() as u64,
            duplicates: (self.ids.len() - seen.len()) as u64,
            refused: self.refused,
            outage_nanos,
            is_back,
            calls,
        }
    }
}

/// The longest time without an id that reaches behind the step, and whether ids came again before the end.
fn outage(calls: &[Call], end: u64) -> (u64, bool) {
    let end = i64::try_from(end).unwrap_or(i64::MAX);
    let mut last = calls.iter().map(|call| call.at).filter(|at| *at < 0).max().unwrap_or(0);
    let mut longest = 0;
    for at in calls.iter().map(|call| call.at).filter(|at| *at >= 0).chain([end]) {
        longest = longest.max(at - last);
        last = at;
    }
    let last = calls.last().map_or(0, |call| call.at);
    let is_back = end - last < BACK_NANOS.cast_signed();
    (longest.max(0).unsigned_abs(), is_back)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn calls(at: &[i64]) -> Vec<Call> {
        at.iter().map(|&at| Call { at: at * 1_000_000, duplicates: 0 }).collect()
    }

    #[test]
    fn an_outage_is_the_longest_time_without_an_id_behind_the_step() {
        let ms = 1_000_000;
        // The gap before the step doesn't count, the one across it does.
        assert_eq!(outage(&calls(&[-300, -10, 40, 50, 90]), 100 * ms), (50 * ms, true));
        assert_eq!(outage(&calls(&[-300, -1]), 5_000 * ms), (5_001 * ms, false));
        assert_eq!(outage(&calls(&[-1, 1, 2]), 5_000 * ms), (4_998 * ms, false));
        assert_eq!(outage(&[], 200 * ms), (200 * ms, false));
    }

    #[test]
    fn an_id_that_comes_again_is_a_duplicate_of_the_call_that_brought_it() {
        let notes =
            Notes { ids: vec![1, 2, 3, 2, 1, 4], calls: vec![(90, 2), (110, 3), (120, 1)], refused: 2 };
        let course = notes.course("x", 100, 130);
        assert_eq!((course.ids, course.duplicates, course.refused), (6, 2, 2));
        assert_eq!(
            course.calls.iter().map(|call| (call.at, call.duplicates)).collect::<Vec<_>>(),
            [(-10, 0), (10, 2), (20, 0)]
        );
    }
}
