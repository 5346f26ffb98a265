//! The leased engine: ids of tick, worker and sequence within a window of ticks that a store granted. As lock-free as the counter
//! engine, and on the same cursor.
//!
//! * The tick that goes into an id is compared with `until`; whether a lease is alive is never judged by a clock. `until` only
//!   grows, so an old reading of it only refuses too early.
//! * The tick clock is the store's time at the grant plus what has passed since by a clock that counts suspend. The wall clock
//!   isn't read, so its steps change nothing.
//! * When the window comes near its end without a renewal, time dilates: see [`WindowTerms::reserve_nanos`].
//! * Closing uses everything up at once and tells the last tick used; no id follows, and none is lost.
//! * In a forked child nothing is minted.

use super::counter::PartsSource;
use super::cursor::{Cursor, Motion, Present, Still};
use super::runs::{Claim, Runs};
use super::{AnyClock, ClockBack, Generator, Spent, Start};
use crate::entropy;
use crate::error::{Cause, Error};
use crate::layout::Layout;
use crate::raw::{RawId, low_u64};
use crate::sync::{AtomicU64, Ordering};
use crate::time::{Clock, UnixNanos};

/// How a window is used: durations of its space, and policies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowTerms {
    /// Time dilates when less than this is left of the window: a tick then ends only when its sequence is spent or it lies `lag_nanos`
    /// behind, so that what is left lasts for `reserve_nanos + lag_nanos` of real time. At full rate ticks begin slower than in real
    /// time, in the proportion `reserve / (reserve + lag)`; at rates below that part of the layout's ceiling nobody waits.
    pub reserve_nanos: u64,
    /// How far ids may lie behind real time then. A window that ended longer ago isn't used.
    pub lag_nanos: u64,
    /// How far [`Spent::Borrow`] runs ahead, within the window.
    pub lead_nanos: u64,
    /// How far the store's clock may err: an answer that took more than twice as long says too little about the time.
    pub skew_nanos: u64,
    /// What to do when the sequence of a tick is spent.
    pub spent: Spent,
    /// Where the sequence of a tick begins.
    pub start: Start,
}

/// A window of ticks for one worker: `[from, until)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// The worker.
    pub worker: u64,
    /// The first tick.
    pub from: u64,
    /// The tick after the last.
    pub until: u64,
}

/// One reading of the store's time, between two readings of [`Clock::boottime_nanos`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoreTime {
    /// What the store said.
    pub now: UnixNanos,
    /// Before it was asked.
    pub sent: u64,
    /// When the answer was there.
    pub received: u64,
}

impl StoreTime {
    const fn round_trip(&self) -> u64 {
        self.received.saturating_sub(self.sent)
    }
}

/// A generator within a window. Any number of threads may use it; none ever waits for another.
#[derive(Debug)]
pub struct WindowGenerator<P, C = AnyClock> {
    scheme: &'static str,
    /// Worker and fixed fields, in place.
    stamp: RawId,
    worker: u64,
    from: u64,
    motion: Motion,
    reserve_ticks: u64,
    lag_ticks: u64,
    skew_nanos: u64,
    spent: Spent,
    /// The process that made it.
    generation: u64,
    source: P,
    clock: C,
    /// The tick after the window's last; only grows.
    until: AtomicU64,
    /// What is added to the boottime clock to have nanoseconds since the epoch, modulo 2^64.
    shift: AtomicU64,
    /// 1 once it was closed: for runs, which don't look at the cursor at each id.
    is_closed: AtomicU64,
    cursor: Apart,
}

/// On cache lines of its own: every id writes it, while what stands beside it is read at every id.
#[derive(Debug)]
#[repr(align(128))]
struct Apart(Cursor);

/// A caller that is refused looks again this soon, unless it knows better.
const LOOK_AGAIN_NANOS: u64 = 100_000_000;

impl<P: PartsSource, C: Clock> WindowGenerator<P, C> {
    /// A generator for a window that was granted when the store's time was `granted`.
    ///
    /// # Errors
    /// [`Error::WorkerRange`] and [`Error::NoWorkerField`]; [`Error::BeforeEpoch`] by the store's time; [`Error::NotApplicable`]
    /// when the epoch is more than 584 years before it.
    pub fn new(
        scheme: &'static str,
        layout: &Layout,
        source: P,
        terms: &WindowTerms,
        window: Window,
        granted: StoreTime,
        clock: C,
    ) -> Result<Self, Error> {
        let parts = source.parts();
        let Window { worker, from, until } = window;
        parts.check_worker(scheme, Some(worker))?;
        let base = parts.base();
        if granted.now < base.epoch {
            return Err(Error::BeforeEpoch { scheme, now: granted.now, epoch: base.epoch });
        }
        if granted.now.0 - base.epoch.0 > i128::from(u64::MAX) {
            return Err(Error::NotApplicable { scheme, setting: "epoch more than 584 years ago" });
        }
        let end = parts.last_tick() + 1;
        let (from, until) = (from.min(end), until.min(end));
        let ticks = |nanos: u64| nanos / base.tick_nanos;
        let motion = Motion {
            count_bits: parts.count_bits(),
            last_tick: parts.last_tick(),
            tick_nanos: base.tick_nanos,
            lead_ticks: if terms.spent == Spent::Borrow { ticks(terms.lead_nanos) } else { 0 },
            first_tick: None,
            clock_back: ClockBack::Absorb,
            start: terms.start,
            reserved: 0,
        };
        let shift = shift_of(base.epoch, granted.now, granted.sent.midpoint(granted.received));
        Ok(Self {
            scheme,
            stamp: parts.stamp(layout, worker),
            worker,
            from,
            motion,
            reserve_ticks: ticks(terms.reserve_nanos),
            lag_ticks: ticks(terms.lag_nanos),
            skew_nanos: terms.skew_nanos,
            spent: terms.spent,
            generation: entropy::generation(),
            source,
            clock,
            until: AtomicU64::new(until),
            shift: AtomicU64::new(shift),
            is_closed: AtomicU64::new(0),
            cursor: Apart(Cursor::new(from.checked_sub(1), parts.count_bits())),
        })
    }

    /// The worker.
    pub const fn worker(&self) -> u64 {
        self.worker
    }

    /// The tick after the window's last.
    pub fn until(&self) -> u64 {
        self.until.load(Ordering::Relaxed)
    }

    /// Lengthens the window; never shortens it.
    pub fn extend(&self, until: u64) {
        // Ordering: ticks guard no other memory; whoever reads an old value refuses too early.
        self.until.fetch_max(until.min(self.source.parts().last_tick() + 1), Ordering::Relaxed);
    }

    /// Sets the tick clock by a later reading of the store's time, and returns by how many nanoseconds it moved.
    ///
    /// It doesn't move when it is within what the reading allows, nor by an answer that took more than twice the skew. When it moves
    /// back, ids keep their last tick until time has caught up.
    pub fn anchor(&self, time: StoreTime) -> i64 {
        if time.round_trip() > self.skew_nanos.saturating_mul(2) {
            return 0;
        }
        let epoch = self.source.parts().base().epoch;
        let shift = self.shift.load(Ordering::Relaxed);
        let by = |boottime| shift_of(epoch, time.now, boottime).wrapping_sub(shift).cast_signed();
        if by(time.received) <= 0 && by(time.sent) >= 0 {
            return 0;
        }
        let moved = by(time.sent.midpoint(time.received));
        // Ordering: as for `until`; an old value is an older reading.
        self.shift.store(shift.wrapping_add(moved.cast_unsigned()), Ordering::Relaxed);
        moved
    }

    /// The store's time as the tick clock has it.
    pub fn store_now(&self) -> UnixNanos {
        self.source.parts().base().epoch.plus(i128::from(self.since_epoch()))
    }

    /// Nanoseconds of real time until the window's end; negative once it has passed.
    pub fn nanos_left(&self) -> i128 {
        let tick_nanos = self.source.parts().base().tick_nanos;
        i128::from(self.until()) * i128::from(tick_nanos) - i128::from(self.since_epoch())
    }

    /// Ends it: nothing is minted from now on, by no thread. `None` when it was ended before.
    ///
    /// Ids of a run that were claimed before may still come out of it for a moment; their ticks aren't above the last.
    pub fn close(&self) -> Option<Closed> {
        let word = self.cursor.0.close()?;
        self.is_closed.store(1, Ordering::Relaxed);
        let count_bits = self.source.parts().count_bits();
        let is_used = word > self.from << count_bits;
        Some(Closed { last: is_used.then(|| (word - 1) >> count_bits) })
    }

    /// Runs of up to `size` (at least 1) ids for one thread; see [`Runs`].
    pub const fn runs(&self, size: u64) -> Runs<'_, Self> {
        Runs::new(self, size)
    }

    #[inline]
    fn since_epoch(&self) -> u64 {
        self.clock.boottime_nanos().wrapping_add(self.shift.load(Ordering::Relaxed))
    }

    /// The present of a window that ends at `until`.
    #[inline]
    fn present(&self, until: u64) -> Present {
        let tick = (self.since_epoch() / self.source.parts().base().tick_nanos).max(self.from);
        if tick < until.saturating_sub(self.reserve_ticks) {
            return Present::at(tick);
        }
        self.dilated(tick, until)
    }

    /// The present near the end: it reaches `until` when real time is `lag` past it, at full rate as well as without any.
    #[cold]
    fn dilated(&self, tick: u64, until: u64) -> Present {
        let begin = until.saturating_sub(self.reserve_ticks);
        let passed = u128::from(tick - begin);
        let (reserve, lag) = (u128::from(self.reserve_ticks), u128::from(self.lag_ticks));
        let lags = (passed * lag).checked_div(reserve + lag).map_or(0, low_u64);
        Present {
            start: tick.saturating_sub(self.lag_ticks).max(begin),
            tick: tick - lags.min(self.lag_ticks),
        }
    }

    /// Real time's tick in which the dilated present comes to `tick`.
    fn undilated(&self, tick: u64, until: u64) -> u64 {
        let begin = until.saturating_sub(self.reserve_ticks);
        let (reserve, lag) = (u128::from(self.reserve_ticks), u128::from(self.lag_ticks));
        if tick <= begin || reserve == 0 {
            return tick;
        }
        let passed = (u128::from(tick - begin) * (reserve + lag)).div_ceil(reserve);
        begin.saturating_add(low_u64(passed))
    }

    /// Claims moments: the tick, the first sequence value, and how many.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn claim(&self, want: u64) -> Result<(u64, u64, u64), Error> {
        match self.claim_more(want) {
            Some(claimed) => Ok(claimed),
            None => self.claim_anyhow(want),
        }
    }

    /// The usual case: real time stands in the tick of the last moment, and time doesn't dilate.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn claim_more(&self, want: u64) -> Option<(u64, u64, u64)> {
        if entropy::generation() != self.generation {
            return None;
        }
        let parts = self.source.parts();
        let tick_nanos = parts.base().tick_nanos;
        // Ordering: see `extend`. Ticks up to here lie within the window too.
        let dilates = self.until.load(Ordering::Relaxed).saturating_sub(self.reserve_ticks);
        self.cursor.0.claim_more(want, parts.count_bits(), dilates.checked_sub(1)?, |tick| {
            let begins = tick.checked_mul(tick_nanos);
            begins.is_some_and(|begins| self.since_epoch().wrapping_sub(begins) < tick_nanos)
        })
    }

    /// The same wherever clock and cursor stand; turns a refusal into an error that says how long it lasts.
    #[inline(never)]
    fn claim_anyhow(&self, want: u64) -> Result<(u64, u64, u64), Error> {
        if entropy::generation() != self.generation {
            return Err(Error::Forked { scheme: self.scheme, worker: self.worker });
        }
        let parts = self.source.parts();
        // Ordering: see `extend`.
        let until = self.until.load(Ordering::Relaxed);
        // Facts of the layout, again: of a compiled source they are constants here.
        let motion = Motion {
            count_bits: parts.count_bits(),
            // The one comparison that keeps windows apart: of the tick that goes into the id.
            last_tick: until.wrapping_sub(1),
            tick_nanos: parts.base().tick_nanos,
            ..self.motion
        };
        if until == 0 {
            return Err(self.explain(Still::Ended, until));
        }
        match self.cursor.0.claim(want, &motion, || self.present(until), || self.clock.monotonic_nanos()) {
            Ok((first, count)) => Ok((first.tick, low_u64(first.count), count)),
            Err(still) => Err(self.explain(still, until)),
        }
    }

    #[cold]
    fn explain(&self, still: Still, until: u64) -> Error {
        let (scheme, worker) = (self.scheme, self.worker);
        let parts = self.source.parts();
        let base = parts.base();
        let (cause, wait_nanos) = match still {
            Still::Closed => return Error::Released { scheme, worker },
            Still::Ended if until > parts.last_tick() => {
                let ended = base.time_of(u128::from(until)).unwrap_or(UnixNanos(i128::MAX));
                return Error::TimeFieldEnded { scheme, ended };
            }
            Still::Ended => return Error::WindowEnded { scheme, worker, wait_nanos: LOOK_AGAIN_NANOS },
            Still::Spent { until_tick } | Still::Behind { until_tick } => {
                let begins = u128::from(self.undilated(until_tick, until)) * u128::from(base.tick_nanos);
                let wait = begins.saturating_sub(u128::from(self.since_epoch()));
                (Cause::Spent, low_u64(wait.clamp(1, u128::from(u64::MAX))))
            }
            Still::Paced { wait_nanos } => (Cause::Spent, wait_nanos),
        };
        match self.spent {
            Spent::Fail => Error::Refused { scheme, cause, wait_nanos },
            Spent::Wait | Spent::Borrow => Error::Busy { scheme, cause, wait_nanos },
        }
    }
}

/// What [`WindowGenerator::close`] tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Closed {
    /// The last tick used in an id; `None` when there was none.
    pub last: Option<u64>,
}

/// Nanoseconds since `epoch` at `now`, less the boottime clock then; modulo 2^64, as whoever uses it adds that clock again.
fn shift_of(epoch: UnixNanos, now: UnixNanos, boottime: u64) -> u64 {
    low_u64((now.0 - epoch.0 - i128::from(boottime)).cast_unsigned())
}

impl<P: PartsSource, C: Clock> Generator for WindowGenerator<P, C> {
    #[inline]
    fn try_fill(&self, out: &mut [RawId]) -> Result<usize, Error> {
        if out.is_empty() {
            return Ok(0);
        }
        let parts = self.source.parts();
        let (tick, first, count) = self.claim(out.len() as u64)?;
        for (slot, count) in out.iter_mut().zip(first..first + count) {
            *slot = parts.pack(self.stamp, tick, count);
        }
        Ok(usize::try_from(count).unwrap_or(out.len()))
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn try_next(&self) -> Result<RawId, Error> {
        self.claim(1).map(|(tick, count, _)| self.source.parts().pack(self.stamp, tick, count))
    }
}

impl<P: PartsSource, C: Clock> Claim for WindowGenerator<P, C> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn claim(&self, want: u64) -> Result<(u64, u64, u64), Error> {
        Self::claim(self, want)
    }

    #[inline]
    fn is_current(&self, tick: u64) -> bool {
        // By a multiplication instead of a division, and dilated only where real time has left the tick behind.
        let tick_ends = tick.saturating_add(1).saturating_mul(self.source.parts().base().tick_nanos);
        (self.since_epoch() < tick_ends || self.present(self.until()).start <= tick)
            && self.is_closed.load(Ordering::Relaxed) == 0
            && entropy::generation() == self.generation
    }

    #[inline]
    fn pack(&self, tick: u64, count: u64) -> RawId {
        self.source.parts().pack(self.stamp, tick, count)
    }
}

#[cfg(all(test, not(loom)))]
#[path = "window_tests.rs"]
mod tests;
