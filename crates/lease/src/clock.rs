//! The host's clocks as leases need them: what has passed, suspend included, and what the wall clock says.
//!
//! Rules never read them. Stores do, to stamp an answer and to tell whether the store's time can be right (rules 3 and 15), and
//! the store in a file takes its time from them (rule 16).

use mintage::{Clock, SystemClock, UnixNanos};
use std::fmt::Debug;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The clocks of a host.
pub trait HostClock: Send + Sync + Debug {
    /// Nanoseconds on a clock that nobody sets and that goes on while the host is suspended (`CLOCK_BOOTTIME`).
    fn boottime_nanos(&self) -> u64;
    /// The wall clock.
    fn wall(&self) -> UnixNanos;
    /// A number drawn anew by each boot of the host; readings of `boottime_nanos` compare only within one. 0 where it can't be
    /// told.
    fn boot_id(&self) -> u128;
}

/// The operating system's clocks.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemHostClock;

impl HostClock for SystemHostClock {
    fn boottime_nanos(&self) -> u64 {
        SystemClock.boottime_nanos()
    }

    fn wall(&self) -> UnixNanos {
        SystemClock.now()
    }

    fn boot_id(&self) -> u128 {
        let text = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        let hex: String = text.chars().filter(char::is_ascii_hexdigit).collect();
        let boot = u128::from_str_radix(&hex, 16).unwrap_or(0);
        // In a time namespace the clock has another zero: as after another boot, readings don't compare.
        match std::fs::read_to_string("/proc/self/timens_offsets") {
            Ok(offsets) if boot != 0 => boot ^ boottime_offset(&offsets),
            _ => boot,
        }
    }
}

/// The offset of the boottime clock, in nanoseconds: 0 outside of time namespaces.
///
/// Source: `time_namespaces(7)`: a line a clock, `boottime SECONDS NANOSECONDS`.
fn boottime_offset(offsets: &str) -> u128 {
    let words = offsets.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let found = words.into_iter().find(|words| words.first() == Some(&"boottime"));
    let number = |at: usize| found.as_ref()?.get(at)?.parse::<i128>().ok();
    let nanos = number(1).zip(number(2)).map_or(0, |(seconds, nanos)| seconds * 1_000_000_000 + nanos);
    nanos.cast_unsigned()
}

/// Clocks that stand where they were set: for tests, which step them.
#[derive(Clone, Debug, Default)]
pub struct ManualHostClock {
    shown: Arc<Shown>,
}

#[derive(Debug, Default)]
struct Shown {
    boottime: AtomicU64,
    wall: Mutex<UnixNanos>,
    boot: AtomicU64,
}

impl ManualHostClock {
    /// Clocks of a host that booted a second ago, with this wall clock.
    #[must_use]
    pub fn new(wall: UnixNanos) -> Self {
        let clock = Self::default();
        clock.boot(wall);
        clock
    }

    /// Lets time pass.
    pub fn pass(&self, nanos: u64) {
        self.shown.boottime.fetch_add(nanos, Ordering::SeqCst);
        let mut wall = self.shown.wall.lock().unwrap_or_else(PoisonError::into_inner);
        *wall = wall.plus(i128::from(nanos));
    }

    /// Sets the wall clock; what has passed since the boot doesn't change.
    pub fn set_wall(&self, wall: UnixNanos) {
        *self.shown.wall.lock().unwrap_or_else(PoisonError::into_inner) = wall;
    }

    /// Boots the host again.
    pub fn boot(&self, wall: UnixNanos) {
        self.shown.boottime.store(1_000_000_000, Ordering::SeqCst);
        self.shown.boot.fetch_add(1, Ordering::SeqCst);
        self.set_wall(wall);
    }
}

impl HostClock for ManualHostClock {
    fn boottime_nanos(&self) -> u64 {
        self.shown.boottime.load(Ordering::SeqCst)
    }
    fn wall(&self) -> UnixNanos {
        *self.shown.wall.lock().unwrap_or_else(PoisonError::into_inner)
    }
    fn boot_id(&self) -> u128 {
        u128::from(self.shown.boot.load(Ordering::SeqCst))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rule_16_a_time_namespace_is_told_by_its_offset() {
        assert_eq!(boottime_offset("monotonic           0         0\nboottime            0         0\n"), 0);
        assert_eq!(boottime_offset("monotonic 5 0\nboottime 3000 7\n"), 3_000_000_000_007);
        assert_eq!(boottime_offset("boottime -1 0\n").cast_signed(), -1_000_000_000);
        assert_eq!(boottime_offset(""), 0);
    }
}
