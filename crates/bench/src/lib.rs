//! Workloads, and the clockwork that measures them: nanoseconds an operation, median and spread of interleaved rounds.
//!
//! A workload is an [`Engine`]: something that runs one operation `n` times. [`workloads::all`] lists those of this workspace;
//! another crate can bring engines of its own, made of other libraries, and have them measured in the same rounds.
//!
//! ```
//! use mintage_bench::{Each, Engine, timing::{Effort, measure}};
//!
//! let engines: Vec<Box<dyn Engine>> = vec![Each::boxed("add", "none", || 1 + std::hint::black_box(1))];
//! let rows = measure(&engines, &[1], Effort::SMOKE);
//! assert_eq!(rows[0].operation, "add");
//! ```

pub mod against;
pub mod report;
pub mod timing;
pub mod workloads;

use std::fmt;
use std::hint::black_box;
use std::sync::atomic::{AtomicUsize, Ordering};

/// One operation of one library.
pub trait Engine: Send + Sync {
    /// What the table calls it: `mint uuid-v7`.
    fn operation(&self) -> &str;

    /// The clock that it reads: `system`, `given` (a clock that is set by hand, so that reading it costs next to nothing) or
    /// `none`.
    fn clock(&self) -> &'static str;

    /// Whether rows with several threads say something: true where threads share state.
    fn is_shared(&self) -> bool {
        false
    }

    /// What must be done right before a run and is no part of its time, such as waiting for a tick to begin.
    fn prepare(&self) {}

    /// Runs the operation at least `n` times and returns how often. Several threads may call it at once; then they share whatever
    /// the engine holds.
    fn run(&self, n: usize) -> usize;
}

/// An engine that calls a function for each operation.
pub struct Each<F> {
    operation: String,
    clock: &'static str,
    is_shared: bool,
    one: F,
}

impl<T, F: Fn() -> T + Send + Sync + 'static> Each<F> {
    /// An engine that threads don't share.
    pub fn boxed(operation: impl Into<String>, clock: &'static str, one: F) -> Box<dyn Engine> {
        Box::new(Self { operation: operation.into(), clock, is_shared: false, one })
    }

    /// An engine that is measured with several threads too.
    pub fn shared(operation: impl Into<String>, clock: &'static str, one: F) -> Box<dyn Engine> {
        Box::new(Self { operation: operation.into(), clock, is_shared: true, one })
    }
}

impl<T, F: Fn() -> T + Send + Sync> Engine for Each<F> {
    fn operation(&self) -> &str {
        &self.operation
    }
    fn clock(&self) -> &'static str {
        self.clock
    }
    fn is_shared(&self) -> bool {
        self.is_shared
    }
    fn run(&self, n: usize) -> usize {
        for _ in 0..n {
            black_box((self.one)());
        }
        n
    }
}

/// An engine that calls a function for each of its inputs, over and over.
pub struct Over<I, F> {
    operation: String,
    inputs: Vec<I>,
    one: F,
    /// Where the last run stopped, so that short runs meet all inputs too.
    at: AtomicUsize,
}

impl<I: Send + Sync + 'static, T, F: Fn(&I) -> T + Send + Sync + 'static> Over<I, F> {
    /// An engine over `inputs`, of which there must be at least one.
    ///
    /// # Panics
    /// Without inputs.
    pub fn boxed(operation: impl Into<String>, inputs: Vec<I>, one: F) -> Box<dyn Engine> {
        assert!(!inputs.is_empty(), "an engine over inputs needs one");
        Box::new(Self { operation: operation.into(), inputs, one, at: AtomicUsize::new(0) })
    }
}

impl<I: Send + Sync, T, F: Fn(&I) -> T + Send + Sync> Engine for Over<I, F> {
    fn operation(&self) -> &str {
        &self.operation
    }
    fn clock(&self) -> &'static str {
        "none"
    }
    fn run(&self, n: usize) -> usize {
        // Ordering: nothing is read through it; two threads at one place do no harm.
        let mut at = self.at.fetch_add(n, Ordering::Relaxed) % self.inputs.len();
        for _ in 0..n {
            black_box((self.one)(black_box(&self.inputs[at])));
            at = if at + 1 == self.inputs.len() { 0 } else { at + 1 };
        }
        n
    }
}

impl<F> fmt::Debug for Each<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Each").field(&self.operation).finish()
    }
}

impl<I, F> fmt::Debug for Over<I, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Over").field(&self.operation).finish()
    }
}
