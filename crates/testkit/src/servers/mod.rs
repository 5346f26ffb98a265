//! Throw-away servers: own data folder, own port, gone with their handle or with the process that started them.
//!
//! A server that isn't installed is `None`: a visible skip, and with `CI=true` a failure.

pub mod etcd;
pub mod mariadb;
pub mod pgbouncer;
pub mod postgres;
pub mod zookeeper;

use std::io::Write;

/// What a missing server means.
///
/// # Panics
/// When `CI` is `true`.
fn missing(name: &str) {
    assert_ne!(
        std::env::var("CI").as_deref(),
        Ok("true"),
        "{name} is missing, and with CI=true nothing is skipped; see scripts/install-tools"
    );
    // Not by a macro: those are captured, and a skip must be seen.
    let _ = writeln!(std::io::stderr(), "skipped: {name} is missing; see scripts/install-tools");
}
