//! Lines of a log: JSON for machines, text for a terminal, on standard error. Tokens, keys and passwords are never among their fields.

use crate::fault::{Fault, Kind};
use mintage::UuidV7;
use mintage_lease::events::{Event, Happening};
use std::str::FromStr;
use std::sync::atomic::{AtomicU64, Ordering};
use tracing::{info, warn};

/// How lines look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// For people.
    #[default]
    Text,
    /// One JSON object a line.
    Json,
    /// None at all.
    Off,
}

impl Form {
    /// Its word in settings.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Json => "json",
            Self::Off => "off",
        }
    }
}

impl FromStr for Form {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let all = [Self::Text, Self::Json, Self::Off];
        all.into_iter().find(|form| form.name() == text).ok_or_else(|| "text, json or off".to_owned())
    }
}

/// Which requests have a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Requests {
    /// None.
    None,
    /// Those that failed by a fault of the server or its store.
    #[default]
    Errors,
    /// All of HTTP.
    All,
}

impl Requests {
    /// Its word in settings.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Errors => "errors",
            Self::All => "all",
        }
    }
}

impl FromStr for Requests {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let all = [Self::None, Self::Errors, Self::All];
        all.into_iter().find(|which| which.name() == text).ok_or_else(|| "none, errors or all".to_owned())
    }
}

/// Begins the log of a process. Later calls change nothing.
pub fn begin(form: Form) {
    // A line that can't be written is lost: nobody is left to be told.
    let builder = tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .with_target(false)
        .log_internal_errors(false)
        .with_ansi(false);
    let _ = match form {
        Form::Off => Ok(()),
        Form::Text => builder.try_init(),
        Form::Json => builder.json().flatten_event(true).try_init(),
    };
}

/// Longest id of a request that is taken from a client.
const MOST_ID: usize = 64;

/// The id of a request: the client's own, where it is short and plain, else a fresh one.
#[must_use]
pub fn request_id(given: Option<&str>) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b':');
    match given {
        Some(given) if (1..=MOST_ID).contains(&given.len()) && given.bytes().all(is_plain) => {
            given.to_owned()
        }
        _ => UuidV7::new().to_string(),
    }
}

/// A request was answered.
pub(crate) fn answered(
    which: Requests,
    route: &str,
    request_id: &str,
    status: u16,
    kind: Option<Kind>,
    nanos: u64,
) {
    let micros = nanos / 1_000;
    let result = kind.map_or("ok", |kind| kind.facts().slug);
    if status >= 500 && which != Requests::None {
        if let Some(left_out) = room() {
            warn!(request_id, route, status, result, micros, left_out, "a request failed");
        }
    } else if which == Requests::All {
        info!(request_id, route, status, result, micros, "a request");
    }
}

/// A command of the Redis protocol failed by a fault of the server or its store.
pub(crate) fn failed(which: Requests, connection: &str, fault: &Fault) {
    let facts = fault.kind.facts();
    if facts.status >= 500
        && which != Requests::None
        && let Some(left_out) = room()
    {
        warn!(connection, result = facts.slug, detail = fault.detail, left_out, "a command failed");
    }
}

/// Lines about failures a second: an outage at a hundred thousand requests a second must not fill a disk.
const MOST_A_SECOND: u64 = 10;

/// How many lines were left out since the last one that had room; `None` where there is none now.
fn room() -> Option<u64> {
    static SECOND: AtomicU64 = AtomicU64::new(0);
    static LINES: AtomicU64 = AtomicU64::new(0);
    static LEFT_OUT: AtomicU64 = AtomicU64::new(0);
    let now = mintage::Clock::monotonic_nanos(&mintage::SystemClock) / 1_000_000_000;
    // Two threads that meet here write a line more, which does no harm.
    if SECOND.swap(now, Ordering::Relaxed) != now {
        LINES.store(0, Ordering::Relaxed);
    }
    if LINES.fetch_add(1, Ordering::Relaxed) < MOST_A_SECOND {
        return Some(LEFT_OUT.swap(0, Ordering::Relaxed));
    }
    LEFT_OUT.fetch_add(1, Ordering::Relaxed);
    None
}

/// Something happened to a lease or a block. Renewals and claims are what always happens, and no line's worth.
pub(crate) fn happened(event: &Event) {
    let (word, space) = (event.event.name(), event.space.as_str());
    let (worker, serial, detail) = (event.worker, event.serial, event.detail.as_deref());
    match event.event {
        Happening::Renewed | Happening::Claimed | Happening::Space => {}
        Happening::RenewalFailed
        | Happening::Lost
        | Happening::AcquireFailed
        | Happening::ReleaseFailed
        | Happening::ClaimFailed
        | Happening::HoldBegan
        | Happening::TimeFieldEnds => warn!(event = word, space, worker, serial, detail, "lease"),
        _ => info!(event = word, space, worker, serial, detail, "lease"),
    }
}

/// The server came this far.
pub fn state(what: &str) {
    info!(state = what, "server");
}

/// A file was read again, or couldn't be.
pub fn noted(what: &str) {
    warn!(detail = what, "files");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_requests_are_plain() {
        assert_eq!(request_id(Some("abc-1")), "abc-1");
        for odd in [None, Some(""), Some("a b"), Some("a\n"), Some("é"), Some(&*"a".repeat(65))] {
            assert_eq!(request_id(odd).len(), 36, "{odd:?}");
        }
    }
}
