//! A clock that stands where it was set, in the shape of both sides: one atomic word of milliseconds.

use mintage::{Clock, UnixNanos};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Milliseconds since 1970. Clones show the same time.
#[derive(Clone, Debug)]
pub(crate) struct GivenClock(Arc<AtomicU64>);

/// 2026-01-01T00:00:00Z: the same work every day.
const BEGIN_MILLIS: u64 = 1_767_225_600_000;

impl GivenClock {
    pub(crate) fn new() -> Self {
        Self(Arc::new(AtomicU64::new(BEGIN_MILLIS)))
    }

    /// Goes on, as each side does when a tick's sequence is spent; by nothing when another thread only won a race.
    pub(crate) fn pass_millis(&self, millis: u64) {
        // Ordering: the time guards no other memory.
        self.0.fetch_add(millis, Ordering::Relaxed);
    }

    fn millis(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl Clock for GivenClock {
    fn now(&self) -> UnixNanos {
        UnixNanos::from_millis(self.millis().cast_signed())
    }
    fn monotonic_nanos(&self) -> u64 {
        self.millis() * 1_000_000
    }
}

/// Milliseconds since Twitter's epoch, as ferroid's generators expect it of a clock of Twitter's layout.
impl ferroid::time::TimeSource<u64> for GivenClock {
    fn current_millis(&self) -> u64 {
        const EPOCH_MILLIS: u64 = 1_288_834_974_657;
        self.millis() - EPOCH_MILLIS
    }
}
