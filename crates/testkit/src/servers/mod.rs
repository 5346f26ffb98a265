//! Throw-away servers for tests: those of `mintage-servers`, which end the test where something goes wrong.
//!
//! A server that isn't installed is `None`: a visible skip, and with `CI=true` a failure.

pub mod etcd;
pub mod mariadb;
pub mod pgbouncer;
pub mod postgres;
pub mod zookeeper;

use crate::soak::store::Kind;
use std::io::{self, Write, stderr};

/// Whether the servers of such a store are installed. When they aren't, a line says what is skipped.
///
/// # Panics
/// When they aren't and `CI` is `true`.
#[must_use]
pub fn has(kind: Kind) -> bool {
    kind.installed().map_err(|error| missing(&error.to_string())).is_ok()
}

/// A server that is started where it is installed; `None` where it isn't.
///
/// # Panics
/// When it is installed and doesn't start, or isn't and `CI` is `true`.
fn started<P, T>(installed: io::Result<P>, start: impl FnOnce(P) -> io::Result<T>) -> Option<T> {
    let installed = installed.map_err(|error| missing(&error.to_string())).ok()?;
    Some(start(installed).unwrap_or_else(|error| panic!("{error}")))
}

/// What a missing server means.
///
/// # Panics
/// When `CI` is `true`.
fn missing(what: &str) {
    assert_ne!(
        std::env::var("CI").as_deref(),
        Ok("true"),
        "{what}; with CI=true nothing is skipped; see scripts/install-tools"
    );
    // Not by a macro: those are captured, and a skip must be seen.
    let _ = writeln!(stderr(), "skipped: {what}; see scripts/install-tools");
}
