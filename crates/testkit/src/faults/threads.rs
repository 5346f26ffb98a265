//! Threads that begin at once and mint from one generator.

use super::Summary;
use crate::minted::Minted;
use crate::subject::Subject;
use anyhow::Result;
use mintage::{Clock, Role, SystemClock};
use std::sync::Barrier;

/// How many.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Threads.
    pub threads: usize,
    /// Ids of each; fewer where the scheme has not that many a second.
    pub ids: usize,
}

/// Lets the threads mint.
///
/// # Errors
/// When there is no such generator.
///
/// # Panics
/// When a thread does.
pub fn run(subject: &Subject, options: &Options) -> Result<Summary> {
    let generator = subject.generator(&subject.settings(1))?;
    let ids = options.ids.min(ids_a_second(subject) / options.threads);
    let barrier = Barrier::new(options.threads);
    let began = SystemClock.monotonic_nanos();
    let mint = || {
        barrier.wait();
        let mut minted = Minted::of(subject);
        minted.take(&*generator, ids);
        minted.end(SystemClock.monotonic_nanos());
        minted
    };
    let minted: Vec<Minted> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..options.threads).map(|_| scope.spawn(mint)).collect();
        threads.into_iter().map(|t| t.join().expect("a thread that mints does not panic")).collect()
    });
    let took = SystemClock.monotonic_nanos() - began;
    let total = Minted::total(minted);
    let mut summary = Summary::new("threads", subject, &total);
    summary.show("threads", options.threads);
    summary.show("took_ms", took / 1_000_000);
    summary.expect(total.tally.ids == (ids * options.threads) as u64, "a thread did not mint all its ids");
    summary.expect(total.refused.sum() == 0, "calls were refused");
    Ok(summary)
}

/// What ticks and sequences allow; other ids have no such limit.
fn ids_a_second(subject: &Subject) -> usize {
    if !subject.has_policies() {
        return usize::MAX;
    }
    let range = subject.scheme.layout.find(Role::Counter).map_or(1, |sequence| sequence.max() + 1);
    usize::try_from(range * 1_000_000_000 / u128::from(subject.tick_nanos().max(1))).unwrap_or(usize::MAX)
}
