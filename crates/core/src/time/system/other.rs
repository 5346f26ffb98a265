//! The clocks of other systems, as the standard library reads them; none of them is coarse.

use crate::time::{Clock, SystemClock, UnixNanos};
use std::time::{Duration, SystemTime};

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

pub(super) fn coarse_nanos() -> u64 {
    SystemClock.monotonic_nanos()
}

pub(super) fn boottime_nanos() -> u64 {
    SystemClock.monotonic_nanos()
}

fn nanos_of(duration: Duration) -> i128 {
    i128::from(duration.as_secs()) * 1_000_000_000 + i128::from(duration.subsec_nanos())
}
