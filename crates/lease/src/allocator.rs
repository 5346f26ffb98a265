//! Allocators: hold blocks of a space's counter, and hand out values from memory, without a lock.
//!
//! Two blocks: while one is used, the next is fetched, once 80 % of the first are gone. The word of the counter only grows, by
//! compare-and-set below the block's end, so a value that was handed out once isn't again, and closing tells the first unused one.

mod size;
pub(crate) mod supply;

use crate::error::Error;
use crate::own::Own;
use crate::request::Block;
use mintage::entropy::generation;
use mintage::{Clock, SystemClock};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use supply::Command;
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::oneshot;

/// How an allocator fetches blocks.
#[derive(Clone, Copy, Debug)]
pub struct AllocatorOptions {
    /// The first block's size; the space's largest block is the limit.
    pub first_size: u64,
    /// How long a block should last; sizes follow what is used.
    pub lasting: Duration,
    /// After how many hundredths of a block the next is fetched, 0 to 100.
    pub fetch_at_percent: u8,
    /// How long [`Allocator::next`] waits for a block; then it fails.
    pub patience: Duration,
}

impl Default for AllocatorOptions {
    fn default() -> Self {
        Self {
            first_size: 100,
            lasting: Duration::from_secs(15 * 60),
            fetch_at_percent: 80,
            patience: Duration::from_secs(5),
        }
    }
}

/// Hands out the values of a space's counter. Cheap to clone and safe to share; the last clone that is dropped gives back what is unused,
/// as far as that can be, in the background; [`Allocator::close`] does so and waits for it.
///
/// In a forked child it hands out nothing, and dropping it does nothing.
#[derive(Clone, Debug)]
pub struct Allocator {
    tray: Arc<Tray>,
    link: Arc<Own<Link>>,
    patience: Duration,
}

/// The blocks in memory.
#[derive(Debug)]
pub(crate) struct Tray {
    space: String,
    step: u64,
    /// The process whose blocks they are.
    generation: u64,
    fetch_at_percent: u8,
    /// After the last value of the block in use.
    end: AtomicU64,
    /// The value from which on the next block is wanted.
    fetch_from: AtomicU64,
    /// Whether the task was asked for the next block, and it isn't in use yet.
    is_asked: AtomicBool,
    next: Apart,
    blocks: Mutex<Blocks>,
    /// A block came, or a claim failed.
    happened: Condvar,
}

/// The next value, on cache lines of its own: every call writes it, while what stands beside it is read at every call.
#[derive(Debug)]
#[repr(align(128))]
struct Apart(AtomicU64);

/// What is behind the lock: it is taken once a block.
#[derive(Debug, Default)]
struct Blocks {
    current: Option<Block>,
    spare: Option<Block>,
    /// Why there is no spare.
    failure: Option<Arc<Error>>,
    is_closed: bool,
    /// When the block in use was begun, on the boottime clock.
    begun: u64,
    counts: Counts,
}

/// What became of values, for metrics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Blocks claimed.
    pub blocks: u64,
    /// Values in them.
    pub claimed: u64,
    /// Values given back.
    pub given_back: u64,
    /// Values that nobody will have: unused at the end, and not given back.
    pub wasted: u64,
}

/// The way to the task that claims. Dropped with the last clone of an allocator.
#[derive(Debug)]
struct Link {
    commands: UnboundedSender<Command>,
    tray: Arc<Tray>,
}

impl Drop for Link {
    fn drop(&mut self) {
        if !self.tray.lock().is_closed {
            let _ = self.commands.send(Command::Close { done: None });
        }
    }
}

/// The word of a tray that was closed: no block ends above it.
const CLOSED: u64 = u64::MAX;

impl Tray {
    pub(crate) fn new(space: &str, step: u64, fetch_at_percent: u8) -> Self {
        Self {
            space: space.to_owned(),
            step,
            generation: generation(),
            fetch_at_percent: fetch_at_percent.min(100),
            end: AtomicU64::new(0),
            fetch_from: AtomicU64::new(0),
            is_asked: AtomicBool::new(true),
            next: Apart(AtomicU64::new(0)),
            blocks: Mutex::default(),
            happened: Condvar::new(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Blocks> {
        self.blocks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes up to `want` (at least 1) values that follow each other: the first, and how many. `None` when the block is used up.
    #[inline]
    fn take(&self, want: u64) -> Option<(u64, u64)> {
        // Ordering: pairs with the store in `put`. Who sees a block's end sees its first value or a later one, so that no value
        // between two blocks is taken for one of the second.
        let end = self.end.load(Ordering::Acquire);
        let mut next = self.next.0.load(Ordering::Relaxed);
        while next < end {
            let count = if want == 1 { 1 } else { want.min((end - next).div_ceil(self.step)) };
            let after = next.saturating_add(count.saturating_mul(self.step));
            match self.next.0.compare_exchange_weak(next, after, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return Some((next, count)),
                Err(moved) => next = moved,
            }
        }
        None
    }

    /// Takes exactly `count` (at least 1) values that follow each other: the first. `None` when the block hasn't so many left.
    fn take_all(&self, count: u64) -> Option<u64> {
        // Ordering: as in `take`.
        let end = self.end.load(Ordering::Acquire);
        let span = count.checked_mul(self.step)?;
        let mut next = self.next.0.load(Ordering::Relaxed);
        // The last value is below the end; what follows it may lie behind that.
        while count > 0 && next < end && (end - next).div_ceil(self.step) >= count {
            let after = next.saturating_add(span);
            match self.next.0.compare_exchange_weak(next, after, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return Some(next),
                Err(moved) => next = moved,
            }
        }
        None
    }

    /// Whether it is time to fetch the next block, and nobody has said so yet.
    #[inline]
    fn is_fetch_due(&self, value: u64) -> bool {
        value >= self.fetch_from.load(Ordering::Relaxed)
            && !self.is_asked.load(Ordering::Relaxed)
            && !self.is_asked.swap(true, Ordering::Relaxed)
    }

    /// Begins the spare block when the one in use is used up; false when there is none.
    fn switch(&self, blocks: &mut Blocks) -> bool {
        if blocks.is_closed || self.next.0.load(Ordering::Relaxed) < self.end.load(Ordering::Relaxed) {
            return !blocks.is_closed;
        }
        let Some(block) = blocks.spare.take() else { return false };
        self.put(block);
        blocks.current = Some(block);
        blocks.begun = SystemClock.boottime_nanos();
        self.is_asked.store(false, Ordering::Relaxed);
        self.happened.notify_all();
        true
    }

    /// Puts a block in use. The one before is used up, so nobody moves the word meanwhile.
    fn put(&self, block: Block) {
        let part = u128::from(block.end - block.start) * u128::from(self.fetch_at_percent) / 100;
        let part =
            u64::try_from(part).unwrap_or(u64::MAX).min((block.end - block.start).saturating_sub(self.step));
        self.next.0.store(block.start, Ordering::Relaxed);
        self.fetch_from.store(block.start + part, Ordering::Relaxed);
        self.end.store(block.end, Ordering::Release);
    }

    /// A block came.
    pub(crate) fn supplied(&self, block: Block) {
        let mut blocks = self.lock();
        blocks.spare = Some(block);
        blocks.failure = None;
        blocks.counts.blocks += 1;
        blocks.counts.claimed += values(&block);
        self.switch(&mut blocks);
        self.happened.notify_all();
    }

    /// None came.
    pub(crate) fn failed(&self, error: Error) {
        self.lock().failure = Some(Arc::new(error));
        self.happened.notify_all();
    }

    /// The block in use, and nanoseconds since it was begun.
    pub(crate) fn in_use(&self) -> Option<(u64, u64)> {
        let blocks = self.lock();
        let age = SystemClock.boottime_nanos().saturating_sub(blocks.begun);
        blocks.current.map(|block| (values(&block), age))
    }

    /// Ends it: nothing is handed out from now on. What is left: the block in use with its first unused value, and the spare one. `None`
    /// when it was ended before.
    pub(crate) fn end(&self) -> Option<Left> {
        let mut blocks = self.lock();
        if std::mem::replace(&mut blocks.is_closed, true) {
            return None;
        }
        let unused = self.next.0.swap(CLOSED, Ordering::Relaxed);
        self.happened.notify_all();
        let current = blocks.current.filter(|block| unused < block.end).map(|block| (block, unused));
        Some(Left { current, spare: blocks.spare.take() })
    }

    pub(crate) fn count(&self, count: impl FnOnce(&mut Counts)) {
        count(&mut self.lock().counts);
    }

    fn check_process(&self) -> Result<(), Error> {
        if generation() == self.generation {
            Ok(())
        } else {
            Err(Error::Forked { store: self.space.clone() })
        }
    }
}

/// What is left of blocks when an allocator ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Left {
    /// The block in use, and its first unused value.
    pub(crate) current: Option<(Block, u64)>,
    /// The block that was fetched ahead.
    pub(crate) spare: Option<Block>,
}

/// How many values a block has.
pub(crate) const fn values(block: &Block) -> u64 {
    (block.end.saturating_sub(block.start)).div_ceil(block.step)
}

/// Values that follow each other, the step of their space apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// The first.
    pub first: u64,
    /// How many, at least 1.
    pub count: u64,
    /// From one to the next.
    pub step: u64,
}

impl Run {
    /// One value alone.
    #[must_use]
    pub const fn of(value: u64) -> Self {
        Self { first: value, count: 1, step: 1 }
    }

    /// The last.
    #[must_use]
    pub const fn last(&self) -> u64 {
        // Below the end of a block, which is a number.
        self.first + (self.count - 1) * self.step
    }

    /// All of them.
    pub fn values(&self) -> impl Iterator<Item = u64> + use<> {
        let Self { first, count, step } = *self;
        (0..count).map(move |at| first + at * step)
    }
}

impl Allocator {
    pub(crate) async fn open(
        tray: Arc<Tray>,
        options: AllocatorOptions,
        commands: UnboundedSender<Command>,
    ) -> Result<Self, Error> {
        let link = Link { commands, tray: Arc::clone(&tray) };
        let allocator = Self { tray, link: Arc::new(Own::new(link)), patience: options.patience };
        // The first claim tells whether the space hands out anything at all.
        let (reply, first) = oneshot::channel();
        allocator.send(Command::First { reply });
        first.await.unwrap_or_else(|_| Err(Error::SpaceGone { space: allocator.tray.space.clone() }))?;
        Ok(allocator)
    }

    fn send(&self, command: Command) {
        if let Some(link) = self.link.get() {
            let _ = link.commands.send(command);
        }
    }

    /// The next value. Waits up to [`AllocatorOptions::patience`] when the next block isn't there yet.
    ///
    /// # Errors
    /// [`Error::NoBlock`] when none came in time, or the space hands out no more; [`Error::Closed`]; [`Error::Forked`] in a forked
    /// child.
    #[inline]
    pub fn next(&self) -> Result<u64, Error> {
        match self.try_take(1) {
            Ok((value, _)) => Ok(value),
            Err(_) => self.wait(1).map(|(value, _)| value),
        }
    }

    /// The next value. Never waits.
    ///
    /// # Errors
    /// See [`Allocator::next`]; [`Error::NotYet`] where that would wait.
    #[inline]
    pub fn try_next(&self) -> Result<u64, Error> {
        self.try_take(1).map(|(value, _)| value)
    }

    /// Fills all of `out` with values in order, those of several blocks where one isn't enough; waits as [`Allocator::next`] does.
    ///
    /// # Errors
    /// See [`Allocator::next`]. What was taken before the error is wasted.
    pub fn fill(&self, out: &mut [u64]) -> Result<(), Error> {
        let mut done = 0;
        while done < out.len() {
            let want = (out.len() - done) as u64;
            let (first, count) = match self.try_take(want) {
                Ok(taken) => taken,
                Err(_) => self.wait(want)?,
            };
            let mut value = first;
            for slot in out[done..].iter_mut().take(usize::try_from(count).unwrap_or(usize::MAX)) {
                *slot = value;
                value = value.saturating_add(self.tray.step);
                done += 1;
            }
        }
        Ok(())
    }

    /// Up to `want` values (at least 1 is taken for 0) that follow each other, from the block in use. Never waits.
    ///
    /// # Errors
    /// See [`Allocator::try_next`].
    pub fn try_run(&self, want: u64) -> Result<Run, Error> {
        let (first, count) = self.try_take(want.max(1))?;
        Ok(Run { first, count, step: self.tray.step })
    }

    /// Exactly `count` values that follow each other, where the block in use has so many left. Never waits, and takes nothing where it hasn't.
    #[must_use]
    pub fn try_run_of(&self, count: u64) -> Option<Run> {
        self.tray.check_process().ok()?;
        let first = self.tray.take_all(count)?;
        let run = Run { first, count, step: self.tray.step };
        if self.tray.is_fetch_due(run.last()) {
            self.send(Command::Claim);
        }
        Some(run)
    }

    /// Exactly `count` values in runs, of several blocks where one isn't enough; waits as [`Allocator::next`] does.
    ///
    /// # Errors
    /// See [`Allocator::next`]. What was taken before the error is wasted.
    pub fn runs(&self, count: u64) -> Result<Vec<Run>, Error> {
        let (mut runs, mut left) = (Vec::new(), count);
        while left > 0 {
            let (first, count) = match self.try_take(left) {
                Ok(taken) => taken,
                Err(_) => self.wait(left)?,
            };
            runs.push(Run { first, count, step: self.tray.step });
            left -= count;
        }
        Ok(runs)
    }

    /// How many values can be handed out without the store.
    #[must_use]
    pub fn remaining(&self) -> u64 {
        let blocks = self.tray.lock();
        let (next, end) = (self.tray.next.0.load(Ordering::Relaxed), self.tray.end.load(Ordering::Relaxed));
        let spare = blocks.spare.as_ref().map_or(0, values);
        end.saturating_sub(next).div_ceil(self.tray.step).saturating_add(spare)
    }

    /// What became of the values that were claimed so far.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.tray.lock().counts
    }

    /// Gives back what is unused: nothing is handed out from now on. Waits until the store has answered, or didn't in time.
    ///
    /// # Errors
    /// What the give-back met; the values are wasted then.
    pub async fn close(&self) -> Result<(), Error> {
        self.tray.check_process()?;
        let (done, is_done) = oneshot::channel();
        self.send(Command::Close { done: Some(done) });
        is_done.await.unwrap_or(Ok(()))
    }

    #[inline]
    fn try_take(&self, want: u64) -> Result<(u64, u64), Error> {
        if generation() != self.tray.generation {
            return Err(Error::Forked { store: self.tray.space.clone() });
        }
        match self.tray.take(want) {
            Some((first, count)) => {
                // The last value of several decides: the first may stand far below.
                if self.tray.is_fetch_due(first.saturating_add((count - 1).saturating_mul(self.tray.step))) {
                    self.send(Command::Claim);
                }
                Ok((first, count))
            }
            None => self.take_next_block(want),
        }
    }

    /// The block is used up: begins the next one, if it is there.
    #[cold]
    fn take_next_block(&self, want: u64) -> Result<(u64, u64), Error> {
        loop {
            let mut blocks = self.tray.lock();
            if blocks.is_closed {
                return Err(Error::Closed { space: self.tray.space.clone() });
            }
            if !self.tray.switch(&mut blocks) {
                drop(blocks);
                self.ask();
                return Err(Error::NotYet { space: self.tray.space.clone() });
            }
            drop(blocks);
            if let Some((first, count)) = self.tray.take(want) {
                if self.tray.is_fetch_due(first.saturating_add((count - 1).saturating_mul(self.tray.step))) {
                    self.send(Command::Claim);
                }
                return Ok((first, count));
            }
        }
    }

    fn ask(&self) {
        if !self.tray.is_asked.swap(true, Ordering::Relaxed) {
            self.send(Command::Claim);
        }
    }

    /// Waits for a block.
    #[cold]
    fn wait(&self, want: u64) -> Result<(u64, u64), Error> {
        let patience = u64::try_from(self.patience.as_nanos()).unwrap_or(u64::MAX);
        let end = SystemClock.boottime_nanos().saturating_add(patience);
        loop {
            match self.try_take(want) {
                Err(Error::NotYet { .. }) => {}
                other => return other,
            }
            let left = end.saturating_sub(SystemClock.boottime_nanos());
            let blocks = self.tray.lock();
            let is_refused =
                matches!(blocks.failure.as_deref(), Some(Error::Refused { .. } | Error::SpaceGone { .. }));
            if left == 0 || (is_refused && blocks.spare.is_none()) {
                return Err(Error::NoBlock {
                    space: self.tray.space.clone(),
                    source: blocks.failure.clone(),
                });
            }
            let is_waiting = |blocks: &mut Blocks| {
                let has_moved =
                    self.tray.next.0.load(Ordering::Relaxed) < self.tray.end.load(Ordering::Relaxed);
                blocks.spare.is_none() && !blocks.is_closed && !has_moved
            };
            let before = blocks.failure.as_ref().map(Arc::as_ptr);
            let _ = self.tray.happened.wait_timeout_while(blocks, Duration::from_nanos(left), |blocks| {
                is_waiting(blocks) && blocks.failure.as_ref().map(Arc::as_ptr) == before
            });
        }
    }
}

#[cfg(test)]
#[path = "allocator_tests.rs"]
mod tests;
