//! A service that hands out ids over HTTP and the Redis protocol.
//!
//! * What it does, without a transport: [`api`]. What went wrong, for every transport: [`fault`].
//! * Who may do what: [`credentials`]. What may wait, and how much of it: [`waiting`].
//! * Transports: [`http`], and [`redis`] over [`resp`].
//! * How it runs: [`config`], [`tls`], [`server`]. What it tells: [`metrics`], [`log`].

pub mod api;
pub mod config;
pub mod credentials;
pub mod facades;
pub mod fault;
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
mod host_clock;
pub mod http;
pub mod issuer;
mod listener;
pub mod log;
pub mod metrics;
mod object;
pub mod redis;
pub mod resp;
pub mod server;
pub mod spec;
pub mod tls;
pub mod waiting;
