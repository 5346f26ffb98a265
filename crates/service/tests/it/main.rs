//! The service over real sockets: HTTP, the Redis protocol, its start and its end.

#![expect(clippy::unwrap_used, reason = "a test says what it expects by stopping")]

mod credentials;
mod facades;
mod http;
mod limits;
mod observe;
mod redis;
mod site;
mod tls;
