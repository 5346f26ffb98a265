//! Throw-away servers: own data folder, own port, gone with their handle or with the process that started them.
//!
//! The command's drills and the tests of other crates stand on it, so nothing here panics.

pub mod place;
pub mod postgres;

pub use postgres::Postgres;
