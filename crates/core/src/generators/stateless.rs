//! The engine without state: each id is drawn for itself, so there is nothing to share, lock or lose.

use super::rule::{fit_tick, tick_at};
use super::typed::{IdSource, fill_raw};
use super::{Generator, Settings};
use crate::entropy::{Draw, Entropy};
use crate::error::Error;
use crate::id::Id;
use crate::layout::Role;
use crate::raw::{RawId, Repr};
use crate::scheme::{StaticScheme, time_for};
use crate::time::{Clock, UnixNanos};
use alloc::boxed::Box;
use core::fmt;
use core::marker::PhantomData;

/// How an id is made from random bits and perhaps the time.
pub trait Recipe: Send + Sync + 'static {
    /// The scheme that it mints.
    type Scheme: StaticScheme;
    /// Whether the time matters; where it doesn't, no clock is read.
    const NEEDS_TIME: bool;

    /// One id.
    ///
    /// # Errors
    /// [`Error::Entropy`], [`Error::BeforeEpoch`], [`Error::TimeFieldEnded`].
    fn make(now: UnixNanos, draw: &mut Draw<'_>) -> Result<<Self::Scheme as StaticScheme>::Repr, Error>;

    /// One id by itself. A recipe of nothing but random bits takes them without a draw.
    ///
    /// # Errors
    /// See [`Recipe::make`].
    #[inline]
    fn make_one(
        now: UnixNanos,
        entropy: &impl Entropy,
    ) -> Result<<Self::Scheme as StaticScheme>::Repr, Error> {
        entropy.with_draw(1, |draw| Self::make(now, draw))
    }

    /// An id for each of `out`.
    ///
    /// # Errors
    /// See [`Recipe::make`].
    fn fill(now: UnixNanos, draw: &mut Draw<'_>, out: &mut [Id<Self::Scheme>]) -> Result<(), Error> {
        for id in out {
            *id = Id(Self::make(now, draw)?);
        }
        Ok(())
    }
}

/// The recipe that a layout of time and random bits needs no words for: the tick in its place, fresh bits in every random field.
#[derive(Clone, Copy, Debug)]
pub struct TimeAndRandom<S>(PhantomData<S>);

impl<S: StaticScheme> Recipe for TimeAndRandom<S> {
    type Scheme = S;
    const NEEDS_TIME: bool = true;

    fn make(now: UnixNanos, draw: &mut Draw<'_>) -> Result<S::Repr, Error> {
        let (name, layout) = (S::SCHEME.name, &S::SCHEME.layout);
        let mut raw = layout.fixed();
        if let Some(base) = layout.time_base() {
            let like = Role::Timestamp(base);
            let tick = fit_tick(name, base, tick_at(name, base, now)?, layout.value_bits(like))?;
            raw = layout.scatter(raw, like, u128::from(tick));
        }
        for (i, field) in layout.fields().iter().enumerate() {
            if field.role == Role::Random {
                let slot = layout.slot(i);
                raw = raw.with_bits(slot.shift, slot.bits, draw.bits(slot.bits)?);
            }
        }
        Ok(S::Repr::from_raw(raw))
    }
}

/// A generator of ids that don't depend on one another.
pub struct Stateless<R, C = DefaultClock, E = DefaultEntropy> {
    clock: C,
    entropy: E,
    recipe: PhantomData<R>,
}

#[cfg(not(feature = "std"))]
type DefaultClock = super::AnyClock;
#[cfg(not(feature = "std"))]
type DefaultEntropy = super::AnyEntropy;
#[cfg(feature = "std")]
type DefaultClock = crate::time::SystemClock;
#[cfg(feature = "std")]
type DefaultEntropy = crate::entropy::PoolEntropy;

#[cfg(feature = "std")]
impl<R: Recipe> Stateless<R> {
    /// A generator by the wall clock and the thread's entropy.
    #[must_use]
    pub const fn new() -> Self {
        Self::with(crate::time::SystemClock, crate::entropy::PoolEntropy)
    }
}

#[cfg(feature = "std")]
impl<R: Recipe> Default for Stateless<R> {
    fn default() -> Self {
        Self::new()
    }
}

impl<R: Recipe, C: Clock, E: Entropy> Stateless<R, C, E> {
    /// A generator by this clock and entropy.
    pub const fn with(clock: C, entropy: E) -> Self {
        Self { clock, entropy, recipe: PhantomData }
    }

    fn now(&self) -> UnixNanos {
        if R::NEEDS_TIME { time_for::<R::Scheme>(&self.clock) } else { UnixNanos(0) }
    }
}

impl<R: Recipe, C: Clock, E: Entropy> IdSource<R::Scheme> for Stateless<R, C, E> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn try_next_id(&self) -> Result<Id<R::Scheme>, Error> {
        let now = self.now();
        R::make_one(now, &self.entropy).map(Id)
    }

    #[cfg(feature = "std")]
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn next_id(&self) -> Result<Id<R::Scheme>, Error> {
        self.try_next_id() // a recipe is never busy
    }

    fn try_fill_ids(&self, out: &mut [Id<R::Scheme>]) -> Result<usize, Error> {
        let now = self.now();
        self.entropy.with_draw(out.len(), |draw| R::fill(now, draw, out)).map(|()| out.len())
    }
}

impl<R: Recipe, C: Clock, E: Entropy> Generator for Stateless<R, C, E> {
    fn try_fill(&self, out: &mut [RawId]) -> Result<usize, Error> {
        let now = self.now();
        self.entropy
            .with_draw(out.len(), |draw| fill_raw(out, |ids| R::fill(now, draw, ids).map(|()| ids.len())))
    }
}

impl<R, C, E> fmt::Debug for Stateless<R, C, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stateless").finish_non_exhaustive()
    }
}

/// A generator with the clock and the entropy that `settings` name.
pub(crate) fn boxed<R: Recipe>(settings: &Settings) -> Result<Box<dyn Generator>, Error> {
    Ok(Box::new(Stateless::<R, _, _>::with(settings.clock()?, settings.entropy()?)))
}
