//! What stores promise, against real ones.

#![expect(clippy::unwrap_used, reason = "a test says what it expects by stopping")]

mod conformance;
mod postgres;
mod processes;
mod proxy;
mod site;
mod sqlite;
