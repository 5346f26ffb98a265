//! The clocks of Linux, read without detours: real time, the coarse ones that the kernel sets with each tick of its
//! timer, and time since the boot.

use crate::time::UnixNanos;
use rustix::time::{ClockId, Timespec, clock_gettime};

#[inline]
pub(super) fn now() -> UnixNanos {
    unix_nanos(clock_gettime(ClockId::Realtime))
}

#[inline]
pub(super) fn now_coarse() -> UnixNanos {
    unix_nanos(clock_gettime(ClockId::RealtimeCoarse))
}

/// Since the boot, so that no beginning has to be kept: a child that was forked while another thread kept it would wait for that thread for
/// ever.
#[inline]
pub(super) fn monotonic_nanos() -> u64 {
    nanos(clock_gettime(ClockId::Monotonic))
}

#[inline]
pub(super) fn coarse_nanos() -> u64 {
    nanos(clock_gettime(ClockId::MonotonicCoarse))
}

#[inline]
pub(super) fn boottime_nanos() -> u64 {
    nanos(clock_gettime(ClockId::Boottime))
}

#[inline]
fn nanos(time: Timespec) -> u64 {
    time.tv_sec.cast_unsigned() * 1_000_000_000 + time.tv_nsec.cast_unsigned()
}

#[inline]
fn unix_nanos(time: Timespec) -> UnixNanos {
    UnixNanos(i128::from(time.tv_sec) * 1_000_000_000 + i128::from(time.tv_nsec))
}
