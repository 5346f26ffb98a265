//! The clocks of other systems, as the standard library reads them; none of them is coarse.

use crate::time::{Clock, SystemClock, UnixNanos};
use std::sync::OnceLock;
use std::time::{Duration, Instant, SystemTime};

#[expect(clippy::disallowed_methods, reason = "the one reader of the wall clock")]
pub(super) fn now() -> UnixNanos {
    match SystemTime::now().duration_since(SystemTime::UNIX_EPOCH) {
        Ok(since) => UnixNanos(nanos_of(since)),
        Err(before) => UnixNanos(-nanos_of(before.duration())),
    }
}

pub(super) fn now_coarse() -> UnixNanos {
    now()
}

#[expect(clippy::disallowed_methods, reason = "the one reader of the monotonic clock")]
pub(super) fn monotonic_nanos() -> u64 {
    static START: OnceLock<Instant> = OnceLock::new();
    let elapsed = START.get_or_init(Instant::now).elapsed();
    u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX)
}

pub(super) fn coarse_nanos() -> u64 {
    SystemClock.monotonic_nanos()
}

pub(super) fn boottime_nanos() -> u64 {
    SystemClock.monotonic_nanos()
}

fn nanos_of(duration: Duration) -> i128 {
    i128::from(duration.as_secs()) * 1_000_000_000 + i128::from(duration.subsec_nanos())
}
