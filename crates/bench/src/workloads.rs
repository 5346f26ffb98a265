//! What is measured of this workspace. Schemes come from the list `SCHEMES`, so a scheme that is added there is measured too.

mod inspect;
mod lease;
mod limits;
mod mint;
mod text;

use crate::Engine;
use mintage::scheme::Coordination;
use mintage::{ManualClock, Method, Scheme, Settings, UnixNanos};
use std::sync::Arc;

/// Every workload, in the order of the table.
#[must_use]
pub fn all() -> Vec<Box<dyn Engine>> {
    [mint::engines(), text::engines(), inspect::engines(), limits::engines(), lease::engines()]
        .into_iter()
        .flatten()
        .collect()
}

/// What no generator can do without: reading the clock, system entropy, writing to memory.
#[must_use]
pub fn limits() -> Vec<Box<dyn Engine>> {
    limits::engines()
}

/// Ids in a batch.
pub const BATCH: usize = 1024;

/// 2026-01-01T00:00:00Z, where given clocks begin: the same work every day.
const BEGIN: UnixNanos = UnixNanos::from_secs(1_767_225_600);

/// A clock for one engine, and settings that name it.
fn given_clock(scheme: &Scheme, method: Option<Method>) -> (Arc<ManualClock>, Settings) {
    let clock = Arc::new(ManualClock::new(begin(scheme)));
    let settings =
        Settings { worker: scheme.max_worker(), method, clock: Some(clock.clone()), ..Settings::default() };
    (clock, settings)
}

/// [`BEGIN`], or the middle of a time field that ends before it.
fn begin(scheme: &Scheme) -> UnixNanos {
    match (scheme.layout.time_base(), scheme.layout.ends_at()) {
        (Some(base), Some(end)) if end <= BEGIN => UnixNanos(i128::midpoint(base.epoch.0, end.0)),
        _ => BEGIN,
    }
}

/// The name of a clock, or `none` for schemes that have no use for one.
fn clock_of(scheme: &Scheme, clock: &'static str) -> &'static str {
    if scheme.layout.time_base().is_some() { clock } else { "none" }
}

/// Whether each id is another one: not so where the same input gives the same id.
fn is_minted(scheme: &Scheme) -> bool {
    scheme.generator.is_some() && scheme.facts.coordination != Coordination::SameInput
}
