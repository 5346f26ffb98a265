//! Throw-away servers: own data folder, own port, gone with their handle or with the process that started them.
//!
//! A server that isn't installed is `None`: a visible skip, and with `CI=true` a failure.

pub mod mariadb;
pub mod pgbouncer;
mod place;
pub mod postgres;
