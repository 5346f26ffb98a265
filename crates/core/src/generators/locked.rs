//! The locked engine: one [`Rule`] that threads share by turns.
//!
//! In a forked child it begins afresh, with new random state, also when another thread of the parent held the lock at the fork:
//! each process uses a lock of its own, and finds it without waiting for anybody.

use super::rule::{Rule, with_draw_for};
use super::typed::{IdSource, fill_raw};
use super::{Generator, Settings};
use crate::entropy::{Draw, Entropy, PoolEntropy, generation};
use crate::error::Error;
use crate::id::Id;
use crate::raw::RawId;
use crate::scheme::time_for;
use crate::time::{Clock, SystemClock, UnixNanos};
use alloc::boxed::Box;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

/// A generator that any number of threads may share; each waits for its turn, no longer than a batch takes.
///
/// ```
/// use mintage::IdSource;
/// use mintage::generators::locked::Locked;
/// use mintage::schemes::ulid::UlidRule;
/// let ids = Locked::new(UlidRule::default());
/// assert!(ids.next_id()? < ids.next_id()?);
/// # Ok::<(), mintage::Error>(())
/// ```
pub struct Locked<R, C = SystemClock, E = PoolEntropy> {
    template: R,
    own: Process<R>,
    clock: C,
    entropy: E,
}

/// The state in one process, and behind it that of its forked children, which they fill in themselves.
struct Process<R> {
    owner: Owner,
    /// `None` until the first id.
    rule: Mutex<Option<R>>,
    child: OnceLock<Box<Self>>,
}

impl<R> Process<R> {
    const fn new() -> Self {
        Self { owner: Owner::nobody(), rule: Mutex::new(None), child: OnceLock::new() }
    }
}

/// The process that some state belongs to: the first that asks. Not a `OnceLock`, which a child would wait for when it was forked
/// while another thread of its parent was the first.
#[derive(Debug)]
pub(crate) struct Owner(AtomicU64);

impl Owner {
    /// Nobody yet.
    pub(crate) const fn nobody() -> Self {
        Self(AtomicU64::new(0))
    }

    /// Whether the process `generation` owns it, or does so from now on.
    pub(crate) fn is(&self, generation: u64) -> bool {
        // Ordering: the number guards no other memory.
        match self.0.load(Ordering::Relaxed) {
            0 => match self.0.compare_exchange(0, generation, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => true,
                Err(owner) => owner == generation,
            },
            owner => owner == generation,
        }
    }
}

impl<R: Rule> Locked<R> {
    /// A generator by the wall clock and the thread's entropy.
    #[must_use]
    pub const fn new(rule: R) -> Self {
        Self::with(rule, SystemClock, PoolEntropy)
    }
}

impl<R: Rule, C: Clock, E: Entropy> Locked<R, C, E> {
    /// A generator by a clock and an entropy of the caller's.
    pub const fn with(rule: R, clock: C, entropy: E) -> Self {
        Self { template: rule, own: Process::new(), clock, entropy }
    }

    fn with_rule<T>(
        &self,
        ids: usize,
        work: impl FnOnce(&mut R, UnixNanos, &mut Draw<'_>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        // All that can be done before it is this thread's turn is done before.
        let now = time_for::<R::Scheme>(&self.clock);
        with_draw_for::<R, _>(&self.entropy, ids, |draw| {
            let generation = generation();
            let mut process = &self.own;
            while !process.owner.is(generation) {
                process = process.child.get_or_init(|| Box::new(Process::new()));
            }
            let mut rule = process.rule.lock().unwrap_or_else(PoisonError::into_inner);
            match &mut *rule {
                Some(rule) => work(rule, now, draw),
                none => {
                    let mut fresh = self.template.clone();
                    fresh.renew(draw)?;
                    work(none.insert(fresh), now, draw)
                }
            }
        })
    }
}

impl<R: Rule, C: Clock, E: Entropy> IdSource<R::Scheme> for Locked<R, C, E> {
    #[inline]
    fn try_next_id(&self) -> Result<Id<R::Scheme>, Error> {
        self.with_rule(1, |rule, now, draw| rule.next_id(now, draw))
    }

    #[inline]
    fn next_id(&self) -> Result<Id<R::Scheme>, Error> {
        match self.try_next_id() {
            Err(error) if R::WAITS => super::wait_and_retry(error, || self.try_next_id()),
            made => made,
        }
    }

    fn try_fill_ids(&self, out: &mut [Id<R::Scheme>]) -> Result<usize, Error> {
        self.with_rule(out.len(), |rule, now, draw| rule.fill(now, draw, out))
    }
}

impl<R: Rule, C: Clock, E: Entropy> Generator for Locked<R, C, E> {
    fn try_fill(&self, out: &mut [RawId]) -> Result<usize, Error> {
        self.with_rule(out.len(), |rule, now, draw| fill_raw(out, |ids| rule.fill(now, draw, ids)))
    }
}

impl<R, C, E> fmt::Debug for Locked<R, C, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Locked").finish_non_exhaustive()
    }
}

/// A generator with the clock and the entropy that `settings` name.
pub(crate) fn boxed(rule: impl Rule, settings: &Settings) -> Result<Box<dyn Generator>, Error> {
    Ok(Box::new(Locked::with(rule, settings.clock()?, settings.entropy()?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn state_belongs_to_the_process_that_asks_first() {
        let owner = Owner::nobody();
        assert!(owner.is(3));
        assert!(owner.is(3));
        assert!(!owner.is(4));
    }

    #[test]
    fn threads_of_one_process_that_ask_first_together_all_have_it() {
        for _ in 0..1000 {
            let owner = &Owner::nobody();
            std::thread::scope(|scope| {
                let threads = [3, 3].map(|generation| scope.spawn(move || owner.is(generation)));
                assert_eq!(threads.map(|thread| thread.join().unwrap()), [true, true]);
            });
        }
    }
}
