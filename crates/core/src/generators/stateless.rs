//! The engine without state: each id is drawn for itself, so there is nothing to share, lock or lose.

use super::rule::{fit_tick, tick_at};
use super::{Generator, Settings};
use crate::entropy::{Draw, Entropy};
use crate::error::Error;
use crate::layout::Role;
use crate::raw::{RawId, Repr};
use crate::scheme::StaticScheme;
use crate::time::{Clock, UnixNanos};
use alloc::boxed::Box;
use core::fmt;
use core::marker::PhantomData;

/// How an id is made from random bits and perhaps the time.
pub trait Recipe: Send + Sync + 'static {
    /// The scheme that it mints.
    type Scheme: StaticScheme;
    /// Random bytes that one id takes.
    const ID_BYTES: usize;
    /// Whether the time matters; where it doesn't, no clock is read.
    const NEEDS_TIME: bool;

    /// One id.
    ///
    /// # Errors
    /// [`Error::Entropy`], [`Error::BeforeEpoch`], [`Error::TimeFieldEnded`].
    fn make(now: UnixNanos, draw: &mut Draw<'_>) -> Result<<Self::Scheme as StaticScheme>::Repr, Error>;
}

/// The recipe that a layout of time and random bits needs no words for: the tick in its place, fresh bits in every random field.
#[derive(Clone, Copy, Debug)]
pub struct TimeAndRandom<S>(PhantomData<S>);

impl<S: StaticScheme> Recipe for TimeAndRandom<S> {
    type Scheme = S;
    const ID_BYTES: usize = S::SCHEME.layout.bytes();
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
pub struct Stateless<R, C, E> {
    clock: C,
    entropy: E,
    recipe: PhantomData<R>,
}

impl<R: Recipe, C: Clock, E: Entropy> Stateless<R, C, E> {
    /// A generator by this clock and entropy.
    pub const fn with(clock: C, entropy: E) -> Self {
        Self { clock, entropy, recipe: PhantomData }
    }

    fn now(&self) -> UnixNanos {
        if R::NEEDS_TIME { self.clock.now() } else { UnixNanos(0) }
    }

    /// One id, untyped.
    ///
    /// # Errors
    /// See [`Recipe::make`].
    pub fn make(&self) -> Result<<R::Scheme as StaticScheme>::Repr, Error> {
        R::make(self.now(), &mut Draw::new(&self.entropy, R::ID_BYTES))
    }
}

impl<R: Recipe, C: Clock, E: Entropy> Generator for Stateless<R, C, E> {
    fn try_fill(&self, out: &mut [RawId]) -> Result<usize, Error> {
        let now = self.now();
        let mut draw = Draw::new(&self.entropy, out.len().saturating_mul(R::ID_BYTES));
        for id in out.iter_mut() {
            *id = R::make(now, &mut draw)?.into_raw();
        }
        Ok(out.len())
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
