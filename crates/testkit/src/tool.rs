//! Tools that a test needs and a machine may lack: in CI that is a failure, elsewhere a visible skip.

use std::io::Write;
use std::process::{Command, Stdio};

/// Whether `tool --version` runs. When it doesn't, a line says what is skipped.
///
/// # Panics
/// When it doesn't and `CI` is `true`.
#[must_use]
pub fn has(tool: &str) -> bool {
    let quiet = Command::new(tool).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    if quiet.is_ok_and(|status| status.success()) {
        return true;
    }
    assert_ne!(
        std::env::var("CI").as_deref(),
        Ok("true"),
        "{tool} is missing, and with CI=true nothing is skipped"
    );
    // Not by a macro: those are captured, and a skip must be seen.
    let _ = writeln!(std::io::stderr(), "skipped: {tool} is missing");
    false
}

/// What it means that `what` can't be had here.
///
/// # Panics
/// When `CI` is `true`.
pub fn skipped(what: &str, needs: &str) {
    assert_ne!(
        std::env::var("CI").as_deref(),
        Ok("true"),
        "{needs} is refused, and with CI=true nothing is skipped: {what}"
    );
    let _ = writeln!(std::io::stderr(), "skipped: {what}, as {needs} is refused");
}
