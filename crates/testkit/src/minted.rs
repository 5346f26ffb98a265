//! What one thread minted: its ids, whether their order held, what was refused, when nothing came.

use crate::count::{Ids, Tally};
use crate::outage::Gaps;
use crate::subject::Subject;
use mintage::error::Cause;
use mintage::{Clock, Error, Generator, RawId, SystemClock};
use serde::{Deserialize, Serialize};

/// What one thread minted.
#[derive(Clone, Debug)]
pub struct Minted {
    /// The ids.
    pub ids: Ids,
    /// How many of them were not above the one before.
    pub order_breaks: u64,
    /// Calls that were not answered with an id.
    pub refused: Refused,
    gaps: Gaps,
    last: Option<RawId>,
}

/// Calls that were not answered with an id, by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refused {
    /// The sequence, or the random part, was spent.
    pub spent: u64,
    /// The clock stood behind the last id.
    pub clock_behind: u64,
    /// The process was forked from the one that holds the worker.
    pub forked: u64,
    /// Anything else; a run with one of these has failed.
    pub other: u64,
}

/// The sum of what several threads minted.
#[derive(Clone, Copy, Debug, Default)]
pub struct Total {
    /// Ids and duplicates, over all threads.
    pub tally: Tally,
    /// Breaks of order, each within its thread.
    pub order_breaks: u64,
    /// Calls refused.
    pub refused: Refused,
    /// The longest time in which no thread got an id.
    pub outage_nanos: u64,
}

impl Minted {
    /// Nothing yet.
    #[must_use]
    pub fn of(subject: &Subject) -> Self {
        Self {
            ids: Ids::of(subject.scheme),
            order_breaks: 0,
            refused: Refused::default(),
            gaps: Gaps::since(SystemClock.monotonic_nanos()),
            last: None,
        }
    }

    /// Notes an answer that came at `now` on the monotonic clock; says whether it was an id.
    pub fn note(&mut self, answer: Result<RawId, Error>, now: u64) -> bool {
        match answer {
            Ok(id) => {
                self.push(id);
                self.gaps.mark(now);
                true
            }
            Err(error) => {
                self.refused.note(&error);
                false
            }
        }
    }

    /// Notes a batch that was filled up to `made`, at `now` on the monotonic clock.
    pub fn note_batch(&mut self, batch: &[RawId], answer: Result<usize, Error>, now: u64) -> usize {
        match answer {
            Ok(made) => {
                for id in &batch[..made] {
                    self.push(*id);
                }
                self.gaps.mark(now);
                made
            }
            Err(error) => {
                self.refused.note(&error);
                0
            }
        }
    }

    /// Takes `count` ids, one a call. Stops at the first that is refused. The time since the call before is no outage.
    pub fn take(&mut self, generator: &dyn Generator, count: usize) {
        self.gaps.resume(SystemClock.monotonic_nanos());
        for _ in 0..count {
            if !self.note(generator.next(), SystemClock.monotonic_nanos()) {
                return;
            }
        }
    }

    fn push(&mut self, id: RawId) {
        if self.last.is_some_and(|last| id <= last) {
            self.order_breaks += 1;
        }
        self.last = Some(id);
        self.ids.push(id);
    }

    /// Ends at `now` on the monotonic clock; what time passed since the last id counts as without one.
    pub fn end(&mut self, now: u64) {
        self.gaps.mark(now);
    }

    /// What several threads of one subject minted, added up.
    ///
    /// # Panics
    /// When the threads minted ids of different widths.
    #[must_use]
    pub fn total(threads: Vec<Self>) -> Total {
        let mut total = Total::default();
        let (mut all, mut gaps): (Option<Ids>, Vec<Gaps>) = (None, Vec::new());
        for thread in threads {
            total.order_breaks += thread.order_breaks;
            total.refused.add(thread.refused);
            gaps.push(thread.gaps);
            match &mut all {
                None => all = Some(thread.ids),
                Some(ids) => ids.append(thread.ids),
            }
        }
        total.tally = all.map(Ids::tally).unwrap_or_default();
        total.outage_nanos = Gaps::longest_common(&gaps);
        total
    }
}

impl Refused {
    /// Counts an error under its cause.
    pub fn note(&mut self, error: &Error) {
        match error {
            Error::Busy { cause: Cause::Spent, .. }
            | Error::Refused { cause: Cause::Spent | Cause::FirstTick, .. }
            | Error::Overflow { .. } => self.spent += 1,
            Error::Busy { cause: Cause::ClockBehind, .. }
            | Error::Refused { cause: Cause::ClockBehind, .. } => self.clock_behind += 1,
            Error::Forked { .. } => self.forked += 1,
            _ => self.other += 1,
        }
    }

    /// Adds another's counts.
    pub const fn add(&mut self, other: Self) {
        self.spent += other.spent;
        self.clock_behind += other.clock_behind;
        self.forked += other.forked;
        self.other += other.other;
    }

    /// All of them.
    #[must_use]
    pub const fn sum(&self) -> u64 {
        self.spent + self.clock_behind + self.forked + self.other
    }
}
