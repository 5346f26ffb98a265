//! The owned engine: one [`Rule`] for one thread, without a lock.

use super::rule::{Rule, with_draw_for};
use crate::entropy::{Draw, Entropy, PoolEntropy, generation};
use crate::error::Error;
use crate::id::Id;
use crate::scheme::time_for;
use crate::time::{Clock, SystemClock};
use std::fmt;

/// A generator that one thread owns: what [`super::locked::Locked`] makes, without taking turns. In a forked child it begins afresh.
///
/// ```
/// use mintage::generators::owned::Owned;
/// use mintage::schemes::ulid::UlidRule;
/// let mut ids = Owned::new(UlidRule::default());
/// assert!(ids.next_id()? < ids.next_id()?);
/// # Ok::<(), mintage::Error>(())
/// ```
pub struct Owned<R, C = SystemClock, E = PoolEntropy> {
    rule: R,
    clock: C,
    entropy: E,
    /// The process that gave the rule its random state; 0 before the first id.
    generation: u64,
}

impl<R: Rule> Owned<R> {
    /// A generator by the wall clock and the thread's entropy.
    #[must_use]
    pub const fn new(rule: R) -> Self {
        Self::with(rule, SystemClock, PoolEntropy)
    }
}

impl<R: Rule, C: Clock, E: Entropy> Owned<R, C, E> {
    /// A generator by a clock and an entropy of the caller's.
    pub const fn with(rule: R, clock: C, entropy: E) -> Self {
        Self { rule, clock, entropy, generation: 0 }
    }

    /// The next id. Never waits.
    ///
    /// # Errors
    /// See [`Rule::next`].
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn try_next_id(&mut self) -> Result<Id<R::Scheme>, Error> {
        let now = time_for::<R::Scheme>(&self.clock);
        let mut draw = self.entropy.draw();
        renewed(&mut self.rule, &mut self.generation, &mut draw)?;
        self.rule.next_id(now, &mut draw)
    }

    /// The next id; waits where the scheme has to.
    ///
    /// # Errors
    /// See [`Rule::next`], without [`Error::Busy`].
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn next_id(&mut self) -> Result<Id<R::Scheme>, Error> {
        match self.try_next_id() {
            Err(error) if R::WAITS => super::wait_and_retry(error, || self.try_next_id()),
            made => made,
        }
    }

    /// Fills the front of `out` and returns how many it made: at least one, unless `out` is empty. Never waits.
    ///
    /// # Errors
    /// See [`Rule::fill`].
    pub fn try_fill_ids(&mut self, out: &mut [Id<R::Scheme>]) -> Result<usize, Error> {
        let now = time_for::<R::Scheme>(&self.clock);
        with_draw_for::<R, _>(&self.entropy, out.len(), |draw| {
            renewed(&mut self.rule, &mut self.generation, draw)?;
            self.rule.fill(now, draw, out)
        })
    }
}

/// Gives the rule its random state where this process hasn't yet.
#[cfg_attr(not(debug_assertions), inline(always))]
fn renewed(rule: &mut impl Rule, generation_of_rule: &mut u64, draw: &mut Draw<'_>) -> Result<(), Error> {
    if *generation_of_rule == generation() { Ok(()) } else { renew(rule, generation_of_rule, draw) }
}

#[cold]
#[inline(never)]
fn renew(rule: &mut impl Rule, generation_of_rule: &mut u64, draw: &mut Draw<'_>) -> Result<(), Error> {
    let now = generation();
    rule.renew(draw)?;
    *generation_of_rule = now;
    Ok(())
}

impl<R, C, E> fmt::Debug for Owned<R, C, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Owned").finish_non_exhaustive()
    }
}
