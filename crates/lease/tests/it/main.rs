//! What stores promise, against real ones.

#![expect(clippy::unwrap_used, reason = "a test says what it expects by stopping")]

mod allocator;
mod conformance;
mod minter;
mod postgres;
mod processes;
mod proxy;
mod site;
mod sqlite;
