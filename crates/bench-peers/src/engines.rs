//! The shapes of work that both sides are put into, so that neither pays for a loop that the other doesn't have.

use mintage::{Clock, SystemClock};
use mintage_bench::Engine;
use std::fmt;
use std::hint::black_box;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Makes one side of a comparison; only then does it begin to hold anything.
pub(crate) type Make = fn() -> Box<dyn Engine>;

/// Ids in a batch.
pub(crate) const BATCH: usize = 1024;

/// Room for any text that is measured.
pub(crate) type Buffer = [u8; 64];

/// Calls that need a state of their own: each run begins with a fresh one, as a thread would.
pub(crate) struct Own<M> {
    clock: &'static str,
    make: M,
}

impl<M: Fn() -> F + Send + Sync + 'static, F: FnMut() -> T, T> Own<M> {
    pub(crate) fn boxed(clock: &'static str, make: M) -> Box<dyn Engine> {
        Box::new(Self { clock, make })
    }
}

impl<M: Fn() -> F + Send + Sync, F: FnMut() -> T, T> Engine for Own<M> {
    fn operation(&self) -> &'static str {
        "one by one"
    }
    fn clock(&self) -> &'static str {
        self.clock
    }
    fn run(&self, n: usize) -> usize {
        let mut one = (self.make)();
        for _ in 0..n {
            black_box(one());
        }
        n
    }
}

/// Calls that fill a buffer, over and over.
pub(crate) struct Filling<T, M> {
    clock: &'static str,
    len: usize,
    empty: T,
    make: M,
}

impl<T, M, F> Filling<T, M>
where
    T: Copy + Send + Sync + 'static,
    M: Fn() -> F + Send + Sync + 'static,
    F: FnMut(&mut [T]),
{
    /// Batches; `make` gives each run a function that fills the whole buffer.
    pub(crate) fn boxed(clock: &'static str, empty: T, make: M) -> Box<dyn Engine> {
        Self::of(BATCH, clock, empty, make)
    }

    /// The same with `len` ids a buffer.
    pub(crate) fn of(len: usize, clock: &'static str, empty: T, make: M) -> Box<dyn Engine> {
        Box::new(Self { clock, len, empty, make })
    }
}

impl<T, M, F> Engine for Filling<T, M>
where
    T: Copy + Send + Sync,
    M: Fn() -> F + Send + Sync,
    F: FnMut(&mut [T]),
{
    fn operation(&self) -> &'static str {
        "batches"
    }
    fn clock(&self) -> &'static str {
        self.clock
    }
    fn is_shared(&self) -> bool {
        true
    }
    fn run(&self, n: usize) -> usize {
        let mut fill = (self.make)();
        let mut buffer = vec![self.empty; self.len];
        let rounds = n.div_ceil(self.len);
        for _ in 0..rounds {
            fill(&mut buffer);
            black_box(buffer.as_mut_slice());
        }
        rounds * self.len
    }
}

/// Calls that write the text of each input into one buffer.
pub(crate) struct Printing<I, F> {
    inputs: Vec<I>,
    print: F,
    /// Where the last run stopped, so that short runs meet all inputs too.
    at: AtomicUsize,
}

impl<I: Send + Sync + 'static, F: Fn(&I, &mut Buffer) + Send + Sync + 'static> Printing<I, F> {
    pub(crate) fn boxed(inputs: Vec<I>, print: F) -> Box<dyn Engine> {
        Box::new(Self { inputs, print, at: AtomicUsize::new(0) })
    }
}

impl<I: Send + Sync, F: Fn(&I, &mut Buffer) + Send + Sync> Engine for Printing<I, F> {
    fn operation(&self) -> &'static str {
        "print"
    }
    fn clock(&self) -> &'static str {
        "none"
    }
    fn run(&self, n: usize) -> usize {
        let mut buffer = [0; _];
        // Ordering: nothing is read through it.
        let mut at = self.at.fetch_add(n, Ordering::Relaxed) % self.inputs.len();
        for _ in 0..n {
            (self.print)(black_box(&self.inputs[at]), &mut buffer);
            black_box(&mut buffer);
            at = if at + 1 == self.inputs.len() { 0 } else { at + 1 };
        }
        n
    }
}

/// Ids at the pace that a layout allows: whole ticks of the system clock, in which each worker makes what it can.
///
/// A run begins with a tick and ends when [`REAL_MILLIS`] of them have passed, so that no tick counts in part.
pub(crate) struct AtThePace<W, F> {
    workers: Vec<W>,
    fill: F,
}

/// Ticks of a millisecond in one run.
const REAL_MILLIS: u64 = 50;
/// Ids that a worker makes before it is the next one's turn.
const TURN: usize = 64;

impl<W: Send + Sync + 'static, F: Fn(&W, &mut [u64]) + Send + Sync + 'static> AtThePace<W, F> {
    /// `fill` fills the whole slice and waits for ticks where it has to.
    pub(crate) fn boxed(workers: Vec<W>, fill: F) -> Box<dyn Engine> {
        Box::new(Self { workers, fill })
    }
}

impl<W: Send + Sync, F: Fn(&W, &mut [u64]) + Send + Sync> Engine for AtThePace<W, F> {
    fn operation(&self) -> &'static str {
        "at the pace of the layout"
    }
    fn clock(&self) -> &'static str {
        "system"
    }
    fn prepare(&self) {
        let tick = || SystemClock.now().0.div_euclid(1_000_000);
        let now = tick();
        while tick() == now {
            std::hint::spin_loop();
        }
    }
    fn run(&self, _: usize) -> usize {
        let until = SystemClock.monotonic_nanos() + REAL_MILLIS * 1_000_000;
        let mut made = 0;
        let mut ids = [0; TURN];
        while SystemClock.monotonic_nanos() < until {
            for worker in &self.workers {
                (self.fill)(worker, &mut ids);
                black_box(&mut ids);
                made += ids.len();
            }
        }
        made
    }
}

macro_rules! named_debug {
    ($($name:ident<$($parameter:ident),+>),+) => {$(
        impl<$($parameter),+> fmt::Debug for $name<$($parameter),+> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }
    )+};
}
named_debug!(Own<M>, Filling<T, M>, Printing<I, F>, AtThePace<W, F>);
