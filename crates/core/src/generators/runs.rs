//! Runs: one thread's share of a generator that threads share.

use super::counter::{Compiled, CounterGenerator};
use crate::error::Error;
use crate::id::Id;
use crate::raw::{RawId, Repr};
use crate::scheme::StaticScheme;
use crate::time::Clock;

/// What a run asks of a generator of tick, worker and sequence.
pub trait Claim {
    /// Claims up to `want` (at least 1) consecutive sequence values of one tick: the tick, the first value, and how many.
    ///
    /// # Errors
    /// See [`super::Generator::try_fill`].
    fn claim(&self, want: u64) -> Result<(u64, u64, u64), Error>;

    /// Whether what is left of a claim in `tick` may still be used: its tick hasn't gone by, and this is the process that claimed it.
    fn is_current(&self, tick: u64) -> bool;

    /// The id of a tick and a sequence value that were claimed.
    fn pack(&self, tick: u64, count: u64) -> RawId;
}

/// One thread's share of a generator: sequence values of one tick that nobody else has. What is left of them when the clock's tick has
/// gone by is given up, so that an id is never older than its tick. Where the generator goes on ahead of the clock, so does a run.
///
/// ```
/// use mintage::generators::counter::{Compiled, CounterGenerator};
/// use mintage::schemes::snowflake_twitter::SnowflakeTwitterScheme as Twitter;
/// use mintage::{Settings, StaticScheme};
///
/// let settings = Settings { worker: Some(7), ..Settings::default() };
/// let (name, layout) = (Twitter::SCHEME.name, &Twitter::SCHEME.layout);
/// let generator = CounterGenerator::new(name, layout, Compiled::<Twitter>::default(), &settings)?;
/// std::thread::scope(|scope| {
///     for _ in 0..2 {
///         scope.spawn(|| {
///             let mut ids = generator.runs(64);
///             assert!(ids.next_id()? < ids.next_id()?);
///             Ok::<(), mintage::Error>(())
///         });
///     }
/// });
/// # Ok::<(), mintage::Error>(())
/// ```
#[derive(Debug)]
pub struct Runs<'a, G> {
    generator: &'a G,
    size: u64,
    tick: u64,
    next: u64,
    end: u64,
}

impl<'a, G> Runs<'a, G> {
    pub(super) const fn new(generator: &'a G, size: u64) -> Self {
        Self { generator, size: if size == 0 { 1 } else { size }, tick: 0, next: 0, end: 0 }
    }
}

impl<G: Claim> Runs<'_, G> {
    /// The next id. Never waits.
    ///
    /// # Errors
    /// See [`super::Generator::try_fill`].
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn try_next(&mut self) -> Result<RawId, Error> {
        if self.next >= self.end || !self.generator.is_current(self.tick) {
            self.renew()?;
        }
        let id = self.generator.pack(self.tick, self.next);
        self.next += 1;
        Ok(id)
    }

    /// Another run. Out of line, so that what is done at each id stays small.
    #[inline(never)]
    fn renew(&mut self) -> Result<(), Error> {
        let (tick, first, count) = self.generator.claim(self.size)?;
        (self.tick, self.next, self.end) = (tick, first, first + count);
        Ok(())
    }

    /// The next id; waits where the policies say so.
    ///
    /// # Errors
    /// See [`super::Generator::next`].
    #[cfg(feature = "std")]
    #[inline]
    pub fn next_raw(&mut self) -> Result<RawId, Error> {
        super::wait_while_busy(|| self.try_next())
    }
}

impl<S: StaticScheme, C: Clock> Runs<'_, CounterGenerator<Compiled<S>, C>> {
    /// The next id, typed. Never waits.
    ///
    /// # Errors
    /// See [`super::Generator::try_fill`].
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn try_next_id(&mut self) -> Result<Id<S>, Error> {
        self.try_next().map(|raw| Id(S::Repr::from_raw(raw)))
    }

    /// The next id, typed; waits where the policies say so.
    ///
    /// # Errors
    /// See [`super::Generator::next`].
    #[cfg(feature = "std")]
    #[inline]
    pub fn next_id(&mut self) -> Result<Id<S>, Error> {
        super::wait_while_busy(|| self.try_next_id())
    }
}
