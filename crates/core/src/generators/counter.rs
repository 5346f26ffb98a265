//! The lock-free engine: ids of tick, worker and sequence, whose tick and sequence fit one 64-bit word. Snowflake and its kin.
//!
//! It needs a worker that nobody else uses, and can't see to that itself: a lease does. What it does see to: the tick in which it
//! was made is never used (a predecessor that was restarted may have used it), all generators of one layout and worker in the
//! process share one cursor, and in a forked child it refuses to go on.

use super::cursor::{Cursor, Motion, Present, Still};
use super::registry::shared_cursor;
use super::runs::{Claim, Runs};
use super::typed::IdSource;
use super::{AnyClock, ClockBack, Generator, MAX_LEAD_NANOS, Settings, Spent};
use crate::entropy;
use crate::error::{Cause, Error, LayoutFault};
use crate::id::Id;
use crate::layout::{Layout, Role, Slot, TimeBase};
use crate::raw::{RawId, Repr, low_u64, mask};
use crate::scheme::StaticScheme;
use crate::time::{Clock, UnixNanos};
use alloc::sync::Arc;
use core::marker::PhantomData;

/// Where tick, worker and sequence lie in a layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Parts {
    base: TimeBase,
    time: Slot,
    worker: Slot,
    count: Slot,
}

impl Parts {
    /// The parts of `layout`.
    ///
    /// # Errors
    /// [`Error::Layout`] when it has no time field in one piece, when a counter or worker field is scattered, when the counter has
    /// more than 62 bits or the worker more than 64.
    pub const fn of(layout: &Layout) -> Result<Self, Error> {
        let Some(base) = layout.time_base() else {
            return Err(Error::Layout(LayoutFault::Missing { role: "timestamp" }));
        };
        let Some(time) = layout.find(Role::Timestamp(base)) else {
            return Err(Error::Layout(LayoutFault::Missing { role: "timestamp" }));
        };
        let count = match layout.find(Role::Counter) {
            Some(slot) => slot,
            // Without a counter each tick has one id.
            None if layout.value_bits(Role::Counter) == 0 => Slot::NONE,
            None => return Err(Error::Layout(LayoutFault::Missing { role: "counter" })),
        };
        let worker = match layout.find(Role::Worker) {
            Some(slot) => slot,
            None if layout.value_bits(Role::Worker) == 0 => Slot::NONE,
            // Not "without a worker": all machines would issue the same ids.
            None => return Err(Error::Layout(LayoutFault::Missing { role: "worker" })),
        };
        if count.bits > MAX_COUNT_BITS || worker.bits > 64 {
            return Err(Error::Layout(LayoutFault::CursorBits { found: count.bits }));
        }
        Ok(Self { base, time, worker, count })
    }

    /// Width of the sequence.
    pub(crate) const fn count_bits(&self) -> u32 {
        self.count.bits
    }

    /// The parts that are the same in all ids of a worker: worker and fixed fields, in place.
    pub(crate) fn stamp(&self, layout: &Layout, worker: u64) -> RawId {
        layout.fixed().with_bits(self.worker.shift, self.worker.bits, u128::from(worker))
    }

    /// The id of a moment: its tick and count beside the stamp.
    #[inline]
    pub(crate) fn pack(&self, stamp: RawId, tick: u64, count: u64) -> RawId {
        stamp.with_bits(self.time.shift, self.time.bits, u128::from(tick)).with_bits(
            self.count.shift,
            self.count.bits,
            u128::from(count),
        )
    }

    /// Epoch and tick.
    pub(crate) const fn base(&self) -> TimeBase {
        self.base
    }

    /// The worker given, checked against its field. Never masked.
    pub(crate) fn check_worker(&self, scheme: &'static str, given: Option<u64>) -> Result<u64, Error> {
        let max = low_u64(self.worker.max());
        match given {
            Some(_) if self.worker.bits == 0 => Err(Error::NoWorkerField { scheme }),
            Some(worker) if worker > max => Err(Error::WorkerRange { scheme, worker, max }),
            Some(worker) => Ok(worker),
            None if self.worker.bits == 0 => Ok(0),
            None => Err(Error::WorkerMissing { scheme, max }),
        }
    }

    /// The last tick used: of the time field, or of the bits that the word has for it where that is fewer. Where tick and sequence
    /// fill the word, its very last tick is given up, so that the word has a value for "all used".
    pub(crate) const fn last_tick(&self) -> u64 {
        let free = 64 - self.count.bits;
        if self.time.bits < free { low_u64(mask(self.time.bits)) } else { low_u64(mask(free)) - 1 }
    }
}

/// At least two bits of the word are left to the tick.
const MAX_COUNT_BITS: u32 = 62;

/// Where an engine takes its parts from: a constant, or a value made at run time. The same code, both fast.
pub trait PartsSource: Send + Sync {
    /// The parts.
    fn parts(&self) -> Parts;
}

/// Parts of a scheme known when compiling: shifts and masks become immediates.
#[derive(Clone, Copy, Debug)]
pub struct Compiled<S>(PhantomData<S>);

impl<S> Default for Compiled<S> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

impl<S: StaticScheme> Compiled<S> {
    const PARTS: Parts = match Parts::of(&S::SCHEME.layout) {
        Ok(parts) => parts,
        Err(_) => panic!("the scheme's layout is not one of tick, worker and sequence"),
    };
}

impl<S: StaticScheme> PartsSource for Compiled<S> {
    fn parts(&self) -> Parts {
        Self::PARTS
    }
}

impl PartsSource for Parts {
    fn parts(&self) -> Parts {
        *self
    }
}

/// A generator of tick, worker and sequence. Any number of threads may use it; none ever waits for another.
#[derive(Debug)]
pub struct CounterGenerator<P, C = AnyClock> {
    scheme: &'static str,
    cursor: Arc<Cursor>,
    /// Worker and fixed fields, in place.
    stamp: RawId,
    worker: u64,
    motion: Motion,
    spent: Spent,
    /// The process that made it.
    generation: u64,
    source: P,
    clock: C,
}

impl<P: PartsSource> CounterGenerator<P, AnyClock> {
    /// A generator as `settings` say.
    ///
    /// # Errors
    /// [`Error::WorkerMissing`], [`Error::WorkerRange`], [`Error::NoWorkerField`]; [`Error::NotApplicable`] for a split when the
    /// scheme has one of its own; [`Error::BeforeEpoch`] or [`Error::TimeFieldEnded`] by the clock; [`Error::Forked`] when the
    /// worker was in use before this process was forked.
    pub fn new(scheme: &'static str, layout: &Layout, source: P, settings: &Settings) -> Result<Self, Error> {
        Self::made(scheme, layout, source, settings, settings.clock()?, settings.clock.is_some())
    }
}

impl<P: PartsSource, C: Clock> CounterGenerator<P, C> {
    /// A generator by a clock of the caller's, whatever `settings` have for one. It shares no tick with others of its worker, and
    /// mints in the tick in which it was made.
    ///
    /// # Errors
    /// See [`CounterGenerator::new`].
    pub fn with_clock(
        scheme: &'static str,
        layout: &Layout,
        source: P,
        settings: &Settings,
        clock: C,
    ) -> Result<Self, Error> {
        Self::made(scheme, layout, source, settings, clock, true)
    }

    fn made(
        scheme: &'static str,
        layout: &Layout,
        source: P,
        settings: &Settings,
        clock: C,
        is_own: bool,
    ) -> Result<Self, Error> {
        if settings.layout.is_some_and(|split| split != *layout) {
            return Err(Error::NotApplicable { scheme, setting: "split" });
        }
        let parts = source.parts();
        let worker = parts.check_worker(scheme, settings.worker)?;
        let tick = tick_now(scheme, parts, &clock)?;
        let (cursor, first_tick) = if is_own {
            (Arc::new(Cursor::new(None, parts.count.bits)), None)
        } else {
            (shared_cursor(scheme, parts, worker, tick)?, Some(tick))
        };
        let lead_nanos = if settings.spent == Spent::Borrow { MAX_LEAD_NANOS } else { 0 };
        let motion = Motion {
            count_bits: parts.count.bits,
            last_tick: parts.last_tick(),
            tick_nanos: parts.base.tick_nanos,
            lead_ticks: lead_nanos / parts.base.tick_nanos,
            first_tick,
            clock_back: settings.clock_back,
            start: settings.start,
            reserved: 0,
        };
        let stamp = parts.stamp(layout, worker);
        let generation = entropy::generation();
        let spent = settings.spent;
        Ok(Self { scheme, cursor, stamp, worker, motion, spent, generation, source, clock })
    }

    /// The same generator, which leaves the sequence values below `reserved` to others.
    #[must_use]
    pub fn reserving(mut self, reserved: u64) -> Self {
        self.motion.reserved = reserved;
        self
    }

    /// The first moment that doesn't fit the time field.
    #[must_use]
    pub fn ends_at(&self) -> Option<UnixNanos> {
        self.source.parts().base.time_of(u128::from(self.motion.last_tick) + 1)
    }

    /// Runs of up to `size` (at least 1) ids for one thread: it shares the generator's sequence without meeting other threads at each id.
    /// Ids of one thread are in order.
    pub const fn runs(&self, size: u64) -> Runs<'_, Self> {
        Runs::new(self, size)
    }

    /// Claims moments: the tick, the first sequence value, and how many.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn claim(&self, want: u64) -> Result<(u64, u64, u64), Error> {
        let parts = self.source.parts();
        if entropy::generation() == self.generation {
            let is_now = |tick| parts.base.is_in(tick, self.clock.now());
            let claimed = self.cursor.claim_more(want, parts.count.bits, parts.last_tick(), is_now);
            if let Some(claimed) = claimed {
                return Ok(claimed);
            }
        }
        self.claim_anyhow(want)
    }

    /// The same wherever clock and cursor stand; turns a refusal into an error that says how long it lasts.
    #[inline(never)]
    fn claim_anyhow(&self, want: u64) -> Result<(u64, u64, u64), Error> {
        if entropy::generation() != self.generation {
            return Err(Error::Forked { scheme: self.scheme, worker: self.worker });
        }
        let parts = self.source.parts();
        let now = || Present::at(tick_or_first(parts.base, self.clock.now()));
        match self.cursor.claim(want, &self.motion, now, || self.clock.monotonic_nanos()) {
            Ok((first, count)) => Ok((first.tick, low_u64(first.count), count)),
            Err(still) => Err(self.explain(still)),
        }
    }

    #[cold]
    fn explain(&self, still: Still) -> Error {
        let scheme = self.scheme;
        let now = self.clock.now();
        let base = self.source.parts().base;
        let until = |tick: u64| {
            let begins = base.time_of(u128::from(tick)).unwrap_or(now);
            u64::try_from((begins.0 - now.0).max(1)).unwrap_or(u64::MAX)
        };
        let (cause, wait_nanos, waits) = match still {
            // Nobody closes the cursor that the generators of a worker share.
            Still::Ended | Still::Closed => {
                let ended = self.ends_at().unwrap_or(now);
                return Error::TimeFieldEnded { scheme, ended };
            }
            Still::Spent { until_tick } if self.motion.first_tick == Some(until_tick - 1) => {
                (Cause::FirstTick, until(until_tick), self.spent != Spent::Fail)
            }
            Still::Spent { until_tick } => (Cause::Spent, until(until_tick), self.spent != Spent::Fail),
            Still::Paced { wait_nanos } => (Cause::Spent, wait_nanos, self.spent != Spent::Fail),
            Still::Behind { until_tick } => {
                (Cause::ClockBehind, until(until_tick), self.motion.clock_back == ClockBack::Wait)
            }
        };
        if waits {
            Error::Busy { scheme, cause, wait_nanos }
        } else {
            Error::Refused { scheme, cause, wait_nanos }
        }
    }
}

impl<P: PartsSource, C: Clock> CounterGenerator<P, C> {
    /// Fills the front of `out` with what `id` makes of consecutive moments.
    fn fill_with<T>(&self, out: &mut [T], id: impl Fn(RawId) -> T) -> Result<usize, Error> {
        if out.is_empty() {
            return Ok(0);
        }
        let (tick, first, count) = self.claim(out.len() as u64)?;
        for (slot, count) in out.iter_mut().zip(first..first + count) {
            *slot = id(self.pack(tick, count));
        }
        Ok(usize::try_from(count).unwrap_or(out.len()))
    }
}

impl<P: PartsSource, C: Clock> Claim for CounterGenerator<P, C> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn claim(&self, want: u64) -> Result<(u64, u64, u64), Error> {
        Self::claim(self, want)
    }

    #[inline]
    fn is_current(&self, tick: u64) -> bool {
        let (base, now) = (self.source.parts().base, self.clock.now());
        let may_be_ahead = || {
            let now = tick_or_first(base, now);
            now < tick && self.motion.admits(tick, now)
        };
        (base.is_in(tick, now) || may_be_ahead()) && entropy::generation() == self.generation
    }

    #[inline]
    fn pack(&self, tick: u64, count: u64) -> RawId {
        self.source.parts().pack(self.stamp, tick, count)
    }
}

impl<P: PartsSource, C: Clock> Generator for CounterGenerator<P, C> {
    fn try_fill(&self, out: &mut [RawId]) -> Result<usize, Error> {
        self.fill_with(out, |raw| raw)
    }
}

impl<S: StaticScheme, C: Clock> IdSource<S> for CounterGenerator<Compiled<S>, C> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn try_next_id(&self) -> Result<Id<S>, Error> {
        self.claim(1).map(|(tick, count, _)| Id(S::Repr::from_raw(self.pack(tick, count))))
    }

    fn try_fill_ids(&self, out: &mut [Id<S>]) -> Result<usize, Error> {
        self.fill_with(out, |raw| Id(S::Repr::from_raw(raw)))
    }
}

/// The tick of `now`; the first one before the epoch.
fn tick_or_first(base: TimeBase, now: UnixNanos) -> u64 {
    base.tick_at(now).unwrap_or(0)
}

/// The clock's tick, refused outside the time field.
fn tick_now(scheme: &'static str, parts: Parts, clock: &impl Clock) -> Result<u64, Error> {
    let now = clock.now();
    match parts.base.tick_at(now) {
        None => Err(Error::BeforeEpoch { scheme, now, epoch: parts.base.epoch }),
        Some(tick) if tick > parts.last_tick() => {
            let ended = parts.base.time_of(u128::from(parts.last_tick()) + 1).unwrap_or(now);
            Err(Error::TimeFieldEnded { scheme, ended })
        }
        Some(tick) => Ok(tick),
    }
}
