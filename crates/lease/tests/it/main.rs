//! What stores promise, against real ones; and the protocol walked state by state.

#![expect(clippy::unwrap_used, reason = "a test says what it expects by stopping")]

#[expect(clippy::disallowed_methods, reason = "a minter renews in real time, and these tests watch it do so")]
mod allocator;
mod conformance;
mod etcd;
#[expect(clippy::disallowed_methods, reason = "a minter renews in real time, and these tests watch it do so")]
mod minter;
mod model;
mod mysql;
mod networked;
mod postgres;
#[expect(clippy::disallowed_methods, reason = "it watches the threads of a real process fall asleep")]
mod processes;
mod proxy;
mod remote;
mod scopes;
mod site;
mod sqlite;
mod tickets;
mod zookeeper;
