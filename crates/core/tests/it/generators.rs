//! Generators: what they refuse, what they do when a tick is spent or the clock steps, and that threads never share an id.

mod batches;
mod policies;
mod settings;
mod sharing;

use mintage::scheme::Setting;
use mintage::{Clock, Generator, ManualClock, RawId, Role, SCHEMES, Scheme, Settings, UnixNanos};
use std::sync::Arc;

/// Schemes that can be minted.
fn minted() -> impl Iterator<Item = &'static Scheme> {
    SCHEMES.iter().copied().filter(|scheme| scheme.generator.is_some())
}

/// Schemes of tick, worker and sequence.
fn counter_schemes() -> impl Iterator<Item = &'static Scheme> {
    minted().filter(|scheme| scheme.takes(Setting::Policies))
}

/// Settings that a scheme needs to mint at all, with this clock.
fn settings_at(scheme: &Scheme, clock: &Arc<ManualClock>) -> Settings {
    Settings {
        worker: scheme.max_worker(),
        name: scheme.takes(Setting::Name).then(|| (0, b"name".to_vec())),
        clock: Some(clock.clone() as Arc<dyn Clock>),
        ..Settings::default()
    }
}

fn clock_at(now: UnixNanos) -> Arc<ManualClock> {
    Arc::new(ManualClock::new(now))
}

/// A time in all schemes' fields: 2026-11-30T00:00:00Z.
const NOW: UnixNanos = UnixNanos(1_795_996_800_000_000_000);

/// The tick of an id.
fn tick(scheme: &Scheme, raw: RawId) -> u128 {
    scheme.layout.gather(scheme.mapping.to_layout(raw), Role::Timestamp(scheme.layout.time_base().unwrap()))
}

/// The sequence of an id.
fn count(scheme: &Scheme, raw: RawId) -> u128 {
    scheme.layout.gather(scheme.mapping.to_layout(raw), Role::Counter)
}

/// The ids that can be had without waiting, at most `most`.
fn take(generator: &dyn Generator, most: usize) -> Vec<RawId> {
    let mut ids = Vec::new();
    while ids.len() < most {
        match generator.try_next() {
            Ok(id) => ids.push(id),
            Err(_) => break,
        }
    }
    ids
}
