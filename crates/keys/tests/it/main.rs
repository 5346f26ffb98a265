//! What the key doctor says about real databases.

#![expect(clippy::unwrap_used, reason = "a test says what it expects by stopping")]

mod lint;
mod mariadb;
mod maxima;
mod postgres;
mod sequences;
mod sqlite;
mod traps;
