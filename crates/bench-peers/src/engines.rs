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
    is_shared: bool,
    make: M,
}

impl<M: Fn() -> F + Send + Sync + 'static, F: FnMut() -> T, T> Own<M> {
    pub(crate) fn boxed(clock: &'static str, make: M) -> Box<dyn Engine> {
        Box::new(Self { clock, is_shared: false, make })
    }

    /// The same for threads whose states have something in common.
    pub(crate) fn shared(clock: &'static str, make: M) -> Box<dyn Engine> {
        Box::new(Self { clock, is_shared: true, make })
    }
}

impl<M: Fn() -> F + Send + Sync, F: FnMut() -> T, T> Engine for Own<M> {
    fn is_shared(&self) -> bool {
        self.is_shared
    }
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

/// Ids at the pace that a layout allows, by turns of several workers in one thread.
///
/// A run lasts from the beginning of one tick to that of another: no tick counts in part, wherever a library's ticks begin.
pub(crate) struct AtThePace<W, F> {
    workers: Vec<W>,
    fill: F,
}

/// How long a run lasts: 20 ticks of a millisecond. It ends with the first wait after the middle of the last one, and without any
/// wait, as on a very slow machine, five ticks later.
const END_NANOS: (u64, u64) = (19_500_000, 25_000_000);
/// How long it is waited for the tick in which a run begins.
const BEGIN_NANOS: (u64, u64) = (0, 5_000_000);
/// Ids that a worker makes before it is the next one's turn: few, since what the others have left of a tick is lost when one waits
/// for the next.
pub(crate) const TURN: usize = 32;
/// No turn takes as long as this, unless it waits for a tick.
const WAITED_NANOS: u64 = 200_000;

impl<W: Send + Sync + 'static, F: Fn(&W, &mut [u64; TURN]) + Send + Sync + 'static> AtThePace<W, F> {
    /// `fill` waits for ticks where it has to.
    pub(crate) fn boxed(workers: Vec<W>, fill: F) -> Box<dyn Engine> {
        Box::new(Self { workers, fill })
    }
}

impl<W, F: Fn(&W, &mut [u64; TURN])> AtThePace<W, F> {
    /// Makes ids until one had to be waited for, not before the first of these times and not after the second.
    fn until_waited(&self, (earliest, latest): (u64, u64)) -> usize {
        let (mut ids, mut made) = ([0; TURN], 0);
        let begun = SystemClock.monotonic_nanos();
        let mut at = begun;
        loop {
            for worker in &self.workers {
                (self.fill)(worker, &mut ids);
                black_box(&mut ids);
                made += ids.len();
                let now = SystemClock.monotonic_nanos();
                let (passed, has_waited) = (now - begun, now - at > WAITED_NANOS);
                at = now;
                if passed > latest || (passed > earliest && has_waited) {
                    return made;
                }
            }
        }
    }
}

impl<W: Send + Sync, F: Fn(&W, &mut [u64; TURN]) + Send + Sync> Engine for AtThePace<W, F> {
    fn operation(&self) -> &'static str {
        "at the pace of the layout"
    }
    fn clock(&self) -> &'static str {
        "system"
    }
    fn prepare(&self) {
        self.until_waited(BEGIN_NANOS);
    }
    fn run(&self, _: usize) -> usize {
        self.until_waited(END_NANOS)
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
