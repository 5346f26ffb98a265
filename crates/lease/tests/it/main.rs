//! What stores promise, against real ones; and the protocol walked state by state.

#![expect(clippy::unwrap_used, reason = "a test says what it expects by stopping")]

mod allocator;
mod conformance;
mod minter;
mod model;
mod postgres;
mod processes;
mod proxy;
mod site;
mod sqlite;
