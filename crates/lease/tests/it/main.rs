//! What stores promise, against real ones.

#![expect(clippy::unwrap_used, reason = "a test says what it expects by stopping")]

mod conformance;
mod processes;
mod site;
mod sqlite;
