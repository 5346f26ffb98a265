//! Measuring: every workload once a round, round after round, so that whatever else the machine does meets them all.
//!
//! The time is that of the monotonic clock of [`SystemClock`], read before and after a run. With several threads a run begins
//! when all of them stand ready and ends when the last is done; the time of an operation is the run's time divided by the
//! operations of all threads together.

use crate::Engine;
use mintage::{Clock, SystemClock};
use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread;

/// How long to measure.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Rounds, at least 1; the median of their times is reported.
    pub rounds: usize,
    /// Nanoseconds that a run should take at least; 0 runs each workload for a few operations only.
    pub run_nanos: u64,
}

impl Effort {
    /// What `cargo run --release -p mintage-bench` does: short runs in many rounds. On a machine that does other work too, most runs
    /// meet none of it, and the median is theirs.
    pub const FULL: Self = Self { rounds: 51, run_nanos: 1_000_000 };
    /// For tests: does it run at all?
    pub const SMOKE: Self = Self { rounds: 1, run_nanos: 0 };
}

/// What was measured.
#[derive(Clone, Debug)]
pub struct Row {
    /// What was done.
    pub operation: String,
    /// By how many threads at once.
    pub threads: usize,
    /// The clock that was read: `system`, `given` or `none`.
    pub clock: &'static str,
    /// Nanoseconds an operation: the median of the rounds.
    pub ns: f64,
    /// Nanoseconds between the lower and the upper quartile of the rounds.
    pub spread: f64,
}

/// Measures each engine with one thread, and the shared ones with each further number of `threads` too.
#[must_use]
pub fn measure(engines: &[Box<dyn Engine>], threads: &[usize], effort: Effort) -> Vec<Row> {
    let mut runs: Vec<Run<'_>> = Vec::new();
    for engine in engines {
        for &threads in threads.iter().filter(|threads| **threads == 1 || engine.is_shared()) {
            let engine = engine.as_ref();
            let n = calibrate(engine, threads, effort.run_nanos);
            runs.push(Run { engine, threads, n, times: Vec::with_capacity(effort.rounds) });
        }
    }
    for _ in 0..effort.rounds.max(1) {
        for run in &mut runs {
            run.times.push(time(run.engine, run.threads, run.n));
        }
    }
    runs.into_iter().map(Run::into_row).collect()
}

struct Run<'a> {
    engine: &'a dyn Engine,
    threads: usize,
    /// Operations a thread and round.
    n: usize,
    /// Nanoseconds an operation, one a round.
    times: Vec<f64>,
}

impl Run<'_> {
    fn into_row(mut self) -> Row {
        self.times.sort_by(f64::total_cmp);
        let spread = quantile(&self.times, 0.75) - quantile(&self.times, 0.25);
        Row {
            operation: self.engine.operation().to_owned(),
            threads: self.threads,
            clock: self.engine.clock(),
            ns: quantile(&self.times, 0.5),
            spread,
        }
    }
}

/// How many operations take `run_nanos`; also warms caches, shared generators and branch predictors.
fn calibrate(engine: &dyn Engine, threads: usize, run_nanos: u64) -> usize {
    let mut n = 4;
    if run_nanos == 0 {
        return n;
    }
    loop {
        let nanos = time(engine, threads, n) * float(n) * float(threads);
        if nanos >= float_u64(run_nanos) {
            return n;
        }
        n *= 2;
    }
}

/// Nanoseconds an operation of one run.
fn time(engine: &dyn Engine, threads: usize, n: usize) -> f64 {
    engine.prepare();
    if threads == 1 {
        let begin = SystemClock.monotonic_nanos();
        let done = engine.run(n);
        return float_u64(SystemClock.monotonic_nanos() - begin) / float(done);
    }
    let (ready, done) = (Barrier::new(threads), AtomicUsize::new(0));
    let (begin, end) = (AtomicU64::new(u64::MAX), AtomicU64::new(0));
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                ready.wait();
                // Ordering: read after the threads have been joined.
                begin.fetch_min(SystemClock.monotonic_nanos(), Ordering::Relaxed);
                done.fetch_add(engine.run(n), Ordering::Relaxed);
                end.fetch_max(SystemClock.monotonic_nanos(), Ordering::Relaxed);
            });
        }
    });
    float_u64(end.into_inner() - begin.into_inner()) / float(done.into_inner())
}

/// The value below which this part of the sorted values lies, between neighbours in proportion.
pub(crate) fn quantile(sorted: &[f64], part: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else {
        return f64::NAN;
    };
    let place = part * float(last);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a place in a short list")]
    let below = place as usize;
    let above = (below + 1).min(last);
    sorted[below] + (sorted[above] - sorted[below]) * (place - float(below))
}

fn float(count: usize) -> f64 {
    float_u64(count as u64)
}

#[expect(clippy::cast_precision_loss, reason = "counts and times here are far below 2^53")]
fn float_u64(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Each;

    #[test]
    fn quantiles_lie_between_neighbours() {
        assert_eq!(quantile(&[1.0, 2.0, 4.0], 0.5).to_bits(), 2.0_f64.to_bits());
        assert_eq!(quantile(&[1.0, 2.0, 4.0, 8.0], 0.5).to_bits(), 3.0_f64.to_bits());
        assert_eq!(quantile(&[7.0], 0.75).to_bits(), 7.0_f64.to_bits());
    }

    #[test]
    fn only_shared_engines_are_run_by_several_threads() {
        let engines = [Each::boxed("a", "none", || 1), Each::shared("b", "none", || 1)];
        let rows = measure(&engines, &[1, 2], Effort { rounds: 3, run_nanos: 1_000 });
        let seen: Vec<_> = rows.iter().map(|row| (row.operation.as_str(), row.threads)).collect();
        assert_eq!(seen, [("a", 1), ("b", 1), ("b", 2)]);
        assert!(rows.iter().all(|row| row.ns >= 0.0 && row.spread >= 0.0));
    }
}
