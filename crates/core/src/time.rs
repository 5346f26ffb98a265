//! Time: the only place that reads a clock or pauses a thread.
//!
//! All times are [`UnixNanos`]: signed nanoseconds since 1970-01-01T00:00:00Z, without leap seconds.

use core::fmt;

/// Nanoseconds since 1970-01-01T00:00:00Z, signed; wide enough for every epoch and every time field in use.
///
/// `Display` is RFC 3339 in UTC with as many digits as the value needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct UnixNanos(pub i128);

impl UnixNanos {
    /// From whole seconds.
    #[must_use]
    pub const fn from_secs(secs: i64) -> Self {
        Self(secs as i128 * 1_000_000_000)
    }

    /// From whole milliseconds.
    #[must_use]
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis as i128 * 1_000_000)
    }

    /// Later by `nanos`.
    #[must_use]
    pub const fn plus(self, nanos: i128) -> Self {
        Self(self.0.saturating_add(nanos))
    }

    /// From RFC 3339 text such as `2024-02-22T19:22:22.5Z` or `2024-02-22T19:22:22+01:00`.
    ///
    /// # Errors
    /// [`crate::Error::Time`] when the text isn't a date with a time and an offset.
    pub fn parse(text: &str) -> Result<Self, crate::Error> {
        match text.parse::<jiff::Timestamp>() {
            Ok(stamp) => Ok(Self(stamp.as_nanosecond())),
            Err(_) => Err(crate::Error::Time),
        }
    }

    /// RFC 3339 in UTC with `digits` digits of the second (0 to 9); `None` outside the years -9999 to 9999.
    #[must_use]
    pub fn rfc3339(self, digits: u8) -> Option<impl fmt::Display> {
        let stamp = jiff::Timestamp::from_nanosecond(self.0).ok()?;
        Some(Rfc3339 { stamp, digits: Some(digits.min(9)) })
    }
}

impl fmt::Display for UnixNanos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_nanosecond(self.0) {
            Ok(stamp) => Rfc3339 { stamp, digits: None }.fmt(f),
            Err(_) if self.0 > 0 => f.write_str("a time after the year 9999"),
            Err(_) => f.write_str("a time before the year -9999"),
        }
    }
}

struct Rfc3339 {
    stamp: jiff::Timestamp,
    digits: Option<u8>,
}

impl fmt::Display for Rfc3339 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.digits {
            Some(digits) => write!(f, "{:.*}", usize::from(digits), self.stamp),
            None => write!(f, "{}", self.stamp),
        }
    }
}

/// Where generators read the time. Uniqueness never depends on what it says; order across processes does.
pub trait Clock: Send + Sync {
    /// The wall clock.
    fn now(&self) -> UnixNanos;
    /// Nanoseconds on a clock that nobody sets; only differences mean anything.
    fn monotonic_nanos(&self) -> u64;
    /// Nanoseconds on a clock that nobody sets and that goes on while the host is suspended (`CLOCK_BOOTTIME`); only differences mean
    /// anything. The monotonic clock where there is no such clock.
    fn boottime_nanos(&self) -> u64 {
        self.monotonic_nanos()
    }
    /// The wall clock, up to 10 ms late where that is cheaper to read: for ticks of a second and more.
    fn now_coarse(&self) -> UnixNanos {
        self.now()
    }
}

impl<C: Clock + ?Sized> Clock for &C {
    fn now(&self) -> UnixNanos {
        (**self).now()
    }
    fn monotonic_nanos(&self) -> u64 {
        (**self).monotonic_nanos()
    }
    fn boottime_nanos(&self) -> u64 {
        (**self).boottime_nanos()
    }
    fn now_coarse(&self) -> UnixNanos {
        (**self).now_coarse()
    }
}

impl<C: Clock + ?Sized> Clock for alloc::sync::Arc<C> {
    fn now(&self) -> UnixNanos {
        (**self).now()
    }
    fn monotonic_nanos(&self) -> u64 {
        (**self).monotonic_nanos()
    }
    fn boottime_nanos(&self) -> u64 {
        (**self).boottime_nanos()
    }
    fn now_coarse(&self) -> UnixNanos {
        (**self).now_coarse()
    }
}

#[cfg(feature = "std")]
pub(crate) use system::coarse_nanos;
#[cfg(feature = "std")]
pub use system::{SystemClock, pause};

#[cfg(feature = "std")]
mod system {
    use super::{Clock, UnixNanos};
    use std::time::Duration;

    #[cfg_attr(target_os = "linux", path = "linux.rs")]
    #[cfg_attr(not(target_os = "linux"), path = "other.rs")]
    mod wall;

    /// The operating system's clocks: real time for ids, monotonic time for waiting.
    #[derive(Clone, Copy, Debug, Default)]
    pub struct SystemClock;

    impl Clock for SystemClock {
        #[inline]
        fn now(&self) -> UnixNanos {
            wall::now()
        }

        #[inline]
        fn now_coarse(&self) -> UnixNanos {
            wall::now_coarse()
        }

        #[inline]
        fn boottime_nanos(&self) -> u64 {
            wall::boottime_nanos()
        }

        #[inline]
        fn monotonic_nanos(&self) -> u64 {
            wall::monotonic_nanos()
        }
    }

    /// Nanoseconds on a clock that nobody sets, in steps of up to 10 ms: a few nanoseconds to read, for ages.
    pub(crate) fn coarse_nanos() -> u64 {
        wall::coarse_nanos()
    }

    /// A sleep takes about this much longer than asked: shorter waits are spent looking at the clock.
    const SPIN_NANOS: u64 = 50_000;

    /// Pauses the calling thread; only the blocking `next` of a generator comes here.
    #[expect(clippy::disallowed_methods, reason = "the one place that may pause a thread")]
    pub fn pause(nanos: u64) {
        if nanos >= SPIN_NANOS {
            return std::thread::sleep(Duration::from_nanos(nanos));
        }
        let begun = SystemClock.monotonic_nanos();
        while SystemClock.monotonic_nanos().saturating_sub(begun) < nanos {
            std::hint::spin_loop();
        }
    }
}

/// A clock that stands where it was set: for tests, backfills and anything that must be repeatable.
#[derive(Debug)]
pub struct ManualClock {
    // Two words instead of one: UnixNanos is wider than an atomic. Readers and the setter are one thread in practice; a torn
    // read only ever shows a wrong time, which no generator's uniqueness depends on.
    secs: core::sync::atomic::AtomicI64,
    nanos: core::sync::atomic::AtomicI64,
    monotonic: core::sync::atomic::AtomicU64,
}

impl ManualClock {
    /// A clock that shows `now`.
    #[must_use]
    pub fn new(now: UnixNanos) -> Self {
        let clock = Self {
            secs: core::sync::atomic::AtomicI64::new(0),
            nanos: core::sync::atomic::AtomicI64::new(0),
            monotonic: core::sync::atomic::AtomicU64::new(0),
        };
        clock.set(now);
        clock
    }

    /// Sets the wall clock, forward or back; the monotonic clock doesn't move.
    pub fn set(&self, now: UnixNanos) {
        use core::sync::atomic::Ordering::Relaxed;
        let secs = i64::try_from(now.0.div_euclid(1_000_000_000)).unwrap_or(i64::MAX);
        let nanos = i64::try_from(now.0.rem_euclid(1_000_000_000)).unwrap_or(0);
        self.secs.store(secs, Relaxed);
        self.nanos.store(nanos, Relaxed);
    }

    /// Lets `nanos` pass on both clocks.
    pub fn pass(&self, nanos: u64) {
        self.monotonic.fetch_add(nanos, core::sync::atomic::Ordering::Relaxed);
        self.set(self.now().plus(i128::from(nanos)));
    }
}

impl Clock for ManualClock {
    fn now(&self) -> UnixNanos {
        use core::sync::atomic::Ordering::Relaxed;
        UnixNanos::from_secs(self.secs.load(Relaxed)).plus(i128::from(self.nanos.load(Relaxed)))
    }
    fn monotonic_nanos(&self) -> u64 {
        self.monotonic.load(core::sync::atomic::Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn times_print_as_rfc_3339() {
        assert_eq!(UnixNanos::from_millis(1_645_557_742_000).to_string(), "2022-02-22T19:22:22Z");
        let time = UnixNanos::from_millis(1_645_557_742_120);
        assert_eq!(time.rfc3339(3).unwrap().to_string(), "2022-02-22T19:22:22.120Z");
        assert_eq!(time.rfc3339(7).unwrap().to_string(), "2022-02-22T19:22:22.1200000Z");
        assert!(UnixNanos(i128::MAX).rfc3339(0).is_none());
    }

    #[test]
    fn a_time_before_1970_keeps_its_fraction() {
        let clock = ManualClock::new(UnixNanos(-1));
        assert_eq!(clock.now(), UnixNanos(-1));
        clock.pass(2);
        assert_eq!((clock.now(), clock.monotonic_nanos()), (UnixNanos(1), 2));
    }

    #[test]
    fn text_without_an_offset_is_no_time() {
        assert_eq!(UnixNanos::parse("2022-02-22T19:22:22Z"), Ok(UnixNanos::from_secs(1_645_557_742)));
        assert!(UnixNanos::parse("2022-02-22 19:22").is_err());
    }
}
