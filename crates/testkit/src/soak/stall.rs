//! Whether this process stood still itself: a machine that stops everybody isn't an outage of the store's making.

use mintage::time::pause;
use mintage::{Clock, SystemClock};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Watches how late a thread is that does nothing but wait.
#[derive(Debug)]
pub struct Stall {
    longest: Arc<AtomicU64>,
}

const STEP_NANOS: u64 = 10_000_000;

impl Stall {
    /// Begins to watch, until it is dropped.
    ///
    /// # Errors
    /// When there can't be a thread.
    pub fn watch() -> std::io::Result<Self> {
        let longest = Arc::new(AtomicU64::new(0));
        let weak = Arc::downgrade(&longest);
        std::thread::Builder::new().name("soak-stall".to_owned()).spawn(move || {
            let mut last = SystemClock.monotonic_nanos();
            while let Some(longest) = weak.upgrade() {
                pause(STEP_NANOS);
                let now = SystemClock.monotonic_nanos();
                longest.fetch_max(now.saturating_sub(last + STEP_NANOS), Ordering::Relaxed);
                last = now;
            }
        })?;
        Ok(Self { longest })
    }

    /// By how many nanoseconds it was late at most since this was asked last.
    #[must_use]
    pub fn longest(&self) -> u64 {
        self.longest.swap(0, Ordering::Relaxed)
    }
}
