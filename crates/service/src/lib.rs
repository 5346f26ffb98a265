//! A service that hands out ids over HTTP and the Redis protocol.
//!
//! * What it does, without a transport: [`api`]. What went wrong, for every transport: [`fault`].
//! * Transports: [`http`], and [`redis`] over [`resp`].
//! * How it runs: [`config`], [`server`].

pub mod api;
pub mod config;
pub mod fault;
pub mod http;
pub mod issuer;
pub mod redis;
pub mod resp;
pub mod server;
pub mod spec;
