//! A service that hands out ids over HTTP and the Redis protocol.
//!
//! * What it does, without a transport: [`api`]. What went wrong, for every transport: [`fault`].
//! * Who may do what: [`credentials`]. What may wait, and how much of it: [`waiting`].
//! * Transports: [`http`], and [`redis`] over [`resp`].
//! * How it runs: [`config`], [`tls`], [`server`].

pub mod api;
pub mod config;
pub mod credentials;
pub mod facades;
pub mod fault;
pub mod http;
pub mod issuer;
mod listener;
mod object;
pub mod redis;
pub mod resp;
pub mod server;
pub mod spec;
pub mod tls;
pub mod waiting;
