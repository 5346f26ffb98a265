//! Generators: how ids are made. `advance` is the one rule; the engines put it behind an atomic word ([`counter`]), behind a
//! lock ([`locked`]), or do without state ([`stateless`]).

pub mod advance;
mod constant;
pub mod counter;
mod cursor;
pub mod gregorian;
#[cfg_attr(not(feature = "std"), path = "locked_disabled.rs")]
pub mod locked;
pub mod monotonic;
#[cfg(feature = "std")]
pub mod owned;
pub mod placed;
pub mod process_counter;
#[cfg_attr(not(feature = "std"), path = "registry_disabled.rs")]
mod registry;
pub mod reversed;
pub mod rule;
pub mod runs;
pub mod stateless;
pub mod typed;
pub mod window;

pub use advance::{Moment, Step, advance};
pub(crate) use constant::constant;
pub use typed::IdSource;

use crate::entropy::{Draw, Entropy};
use crate::error::Error;
use crate::layout::Layout;
use crate::raw::RawId;
use crate::time::{Clock, UnixNanos};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

/// Makes ids of one scheme, chosen at run time. Safe to share between threads; one virtual call a batch.
pub trait Generator: Send + Sync {
    /// Fills the front of `out` and returns how many it made: at least one, unless `out` is empty. Never waits.
    ///
    /// # Errors
    /// [`Error::Busy`] when the next id needs a wait, [`Error::Refused`] when the policy forbids waiting, and whatever the
    /// scheme can't do: see [`Error`].
    fn try_fill(&self, out: &mut [RawId]) -> Result<usize, Error>;

    /// The next id. Never waits.
    ///
    /// # Errors
    /// See [`Generator::try_fill`].
    fn try_next(&self) -> Result<RawId, Error> {
        let mut out = [RawId::ZERO];
        self.try_fill(&mut out).map(|_| out[0])
    }

    /// The next id; waits where the scheme has to.
    ///
    /// # Errors
    /// See [`Generator::try_fill`], without [`Error::Busy`].
    #[cfg(feature = "std")]
    fn next(&self) -> Result<RawId, Error> {
        wait_while_busy(|| self.try_next())
    }

    /// Fills all of `out`; waits where the scheme has to.
    ///
    /// # Errors
    /// See [`Generator::try_fill`], without [`Error::Busy`]. What was made before the error is lost.
    #[cfg(feature = "std")]
    fn fill(&self, out: &mut [RawId]) -> Result<(), Error> {
        let mut done = 0;
        while done < out.len() {
            done += wait_while_busy(|| self.try_fill(&mut out[done..]))?;
        }
        Ok(())
    }
}

/// Tries until the answer is no longer [`Error::Busy`], pausing as long as each says. The one place that waits.
#[cfg(feature = "std")]
#[inline]
pub(crate) fn wait_while_busy<T>(mut attempt: impl FnMut() -> Result<T, Error>) -> Result<T, Error> {
    match attempt() {
        Ok(made) => Ok(made),
        Err(error) => wait_and_retry(error, attempt),
    }
}

/// What follows the first `error`. Apart from the first attempt, which a caller should find in line: an error is wider than an id, and
/// where there is none, none should be moved about.
#[cfg(feature = "std")]
#[cold]
#[inline(never)]
pub(crate) fn wait_and_retry<T>(
    mut error: Error,
    mut attempt: impl FnMut() -> Result<T, Error>,
) -> Result<T, Error> {
    loop {
        let Error::Busy { wait_nanos, .. } = error else { return Err(error) };
        // Not longer than 50 ms at once: a clock that was set back may be set right meanwhile.
        crate::time::pause(wait_nanos.min(50_000_000));
        match attempt() {
            Ok(made) => return Ok(made),
            Err(again) => error = again,
        }
    }
}

/// How a scheme keeps its ids in order within one tick.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Method {
    /// A counter that starts at a random value. Source: RFC 9562 section 6.2, method 1.
    Counter,
    /// The random part of the id before, raised by a random step. Source: RFC 9562 section 6.2, method 2.
    MonotonicRandom,
    /// A finer fraction of the time. Source: RFC 9562 section 6.2, method 3.
    SubMillisecond,
    /// The random part of the id before, raised by one; when it is spent, the next tick is borrowed.
    Monotonic,
    /// The random part of the id before, raised by one; when it is spent, minting fails. Source: the ULID specification.
    Strict,
    /// Fresh random bits for each id, without order inside a tick.
    Random,
}

impl Method {
    /// All of them.
    pub const ALL: &'static [Self] = &[
        Self::Counter,
        Self::MonotonicRandom,
        Self::SubMillisecond,
        Self::Monotonic,
        Self::Strict,
        Self::Random,
    ];

    /// The word for it in flags and tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::MonotonicRandom => "monotonic-random",
            Self::SubMillisecond => "sub-millisecond",
            Self::Monotonic => "monotonic",
            Self::Strict => "strict",
            Self::Random => "random",
        }
    }
}

/// What a generator with a worker does when the wall clock stands behind its last id.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ClockBack {
    /// It goes on from the last tick as if the step had not happened; a new tick begins only when the sequence of the last one is
    /// spent, and not faster than real time.
    #[default]
    Absorb,
    /// It waits until the clock has caught up.
    Wait,
    /// It fails until the clock has caught up.
    Refuse,
}

/// What a generator with a worker does when the sequence of a tick is spent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Spent {
    /// It waits for the next tick.
    #[default]
    Wait,
    /// It fails until the next tick.
    Fail,
    /// It runs ahead of the clock, at most [`MAX_LEAD_NANOS`]; then it waits. A step back of the clock that is shorter than that
    /// can't be told from a lead and is absorbed.
    Borrow,
}

/// How far [`Spent::Borrow`] runs ahead of the clock: 1 s.
pub const MAX_LEAD_NANOS: u64 = 1_000_000_000;

/// Where the sequence of a tick begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Start {
    /// At zero: the whole range is used, but at a low rate every id ends in the same bits.
    Zero,
    /// At a value between 0 and 1/64 of the range that depends on the tick alone, so that ids spread over up to 64 shards by
    /// their last bits; costs less than 1 % of the range.
    #[default]
    Rolling,
}

/// What a generator is told when it is made; every scheme takes what it has a use for and refuses the rest.
#[derive(Clone, Default)]
pub struct Settings {
    /// The worker, for schemes that have one.
    pub worker: Option<u64>,
    /// How order is kept; by default the scheme's first method.
    pub method: Option<Method>,
    /// What to do when the clock went back.
    pub clock_back: ClockBack,
    /// What to do when a sequence is spent.
    pub spent: Spent,
    /// Where a sequence begins.
    pub start: Start,
    /// The split of a custom scheme.
    pub layout: Option<Layout>,
    /// Namespace and name, for name-based UUIDs.
    pub name: Option<(u128, Vec<u8>)>,
    /// The custom bits of a UUIDv8, as a 128-bit number whose version and variant bits are overwritten.
    pub data: Option<u128>,
    /// Ids a block, for ids placed by block of a counter.
    pub block_size: Option<u64>,
    /// Blocks before the first comes again.
    pub block_count: Option<u64>,
    /// Nanoseconds a block, for ids placed by block of time.
    pub interval_nanos: Option<u64>,
    /// How many buckets ids are spread over.
    pub buckets: Option<u64>,
    /// The first value of a counter.
    pub first: Option<u64>,
    /// The wall clock unless another is given. A generator with its own clock shares no tick with others of its worker, and mints
    /// in the tick in which it was made: such clocks are for tests and backfills.
    pub clock: Option<Arc<dyn Clock>>,
    /// The thread's pool of entropy unless another is given; [`crate::SystemEntropy`] to ask the system for each id.
    pub entropy: Option<Arc<dyn Entropy>>,
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings")
            .field("worker", &self.worker)
            .field("method", &self.method)
            .field("clock_back", &self.clock_back)
            .field("spent", &self.spent)
            .field("start", &self.start)
            .field("layout", &self.layout)
            .finish_non_exhaustive()
    }
}

impl Settings {
    /// The clock to use.
    ///
    /// # Errors
    /// [`Error::NotApplicable`] when there is none, as without `std`.
    pub fn clock(&self) -> Result<AnyClock, Error> {
        match &self.clock {
            Some(own) => Ok(AnyClock::Own(own.clone())),
            #[cfg(feature = "std")]
            None => Ok(AnyClock::System),
            #[cfg(not(feature = "std"))]
            None => Err(Error::NotApplicable {
                scheme: "no_std",
                setting: "generator without a clock of its own",
            }),
        }
    }

    /// The entropy to use.
    ///
    /// # Errors
    /// [`Error::Entropy`] when there is none, as without `std`.
    pub fn entropy(&self) -> Result<AnyEntropy, Error> {
        match &self.entropy {
            Some(own) => Ok(AnyEntropy::Own(own.clone())),
            #[cfg(feature = "std")]
            None => Ok(AnyEntropy::Pool),
            #[cfg(not(feature = "std"))]
            None => Err(Error::Entropy),
        }
    }
}

/// The system's clock, or one that the caller brought.
#[derive(Clone)]
pub enum AnyClock {
    /// The wall clock.
    #[cfg(feature = "std")]
    System,
    /// Another.
    Own(Arc<dyn Clock>),
}

impl Clock for AnyClock {
    fn now(&self) -> UnixNanos {
        match self {
            #[cfg(feature = "std")]
            Self::System => crate::time::SystemClock.now(),
            Self::Own(clock) => clock.now(),
        }
    }
    fn monotonic_nanos(&self) -> u64 {
        match self {
            #[cfg(feature = "std")]
            Self::System => crate::time::SystemClock.monotonic_nanos(),
            Self::Own(clock) => clock.monotonic_nanos(),
        }
    }
    fn boottime_nanos(&self) -> u64 {
        match self {
            #[cfg(feature = "std")]
            Self::System => crate::time::SystemClock.boottime_nanos(),
            Self::Own(clock) => clock.boottime_nanos(),
        }
    }
    fn now_coarse(&self) -> UnixNanos {
        match self {
            #[cfg(feature = "std")]
            Self::System => crate::time::SystemClock.now_coarse(),
            Self::Own(clock) => clock.now_coarse(),
        }
    }
}

impl fmt::Debug for AnyClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            #[cfg(feature = "std")]
            Self::System => "system clock",
            Self::Own(_) => "own clock",
        })
    }
}

/// The thread's pool of entropy, or an entropy that the caller brought.
#[derive(Clone)]
pub enum AnyEntropy {
    /// The pool.
    #[cfg(feature = "std")]
    Pool,
    /// Another.
    Own(Arc<dyn Entropy>),
}

impl Entropy for AnyEntropy {
    fn fill(&self, out: &mut [u8]) -> Result<(), Error> {
        match self {
            #[cfg(feature = "std")]
            Self::Pool => crate::entropy::PoolEntropy.fill(out),
            Self::Own(own) => own.fill(out),
        }
    }

    #[inline]
    fn number(&self) -> Result<u128, Error> {
        match self {
            #[cfg(feature = "std")]
            Self::Pool => crate::entropy::PoolEntropy.number(),
            Self::Own(own) => Draw::new(own).bits(128),
        }
    }

    #[inline]
    fn draw(&self) -> Draw<'_> {
        match self {
            #[cfg(feature = "std")]
            Self::Pool => crate::entropy::PoolEntropy.draw(),
            Self::Own(own) => Draw::new(own),
        }
    }

    #[inline]
    fn with_draw<T>(&self, ids: usize, work: impl FnOnce(&mut Draw<'_>) -> T) -> T {
        match self {
            #[cfg(feature = "std")]
            Self::Pool => crate::entropy::PoolEntropy.with_draw(ids, work),
            Self::Own(own) => own.with_draw(ids, work),
        }
    }
}

impl fmt::Debug for AnyEntropy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            #[cfg(feature = "std")]
            Self::Pool => "pool",
            Self::Own(_) => "own entropy",
        })
    }
}
