//! Throw-away servers: own data folder, own port, gone with their handle or with the process that started them.
//!
//! The command's drills and the tests of other crates stand on it, so nothing here panics: a server that can't be had is an error that
//! says what was tried and what to do.

pub mod etcd;
pub mod mariadb;
pub mod place;
pub mod postgres;
pub mod zookeeper;

pub use etcd::Etcd;
pub use mariadb::MariaDb;
pub use postgres::Postgres;
pub use zookeeper::ZooKeeper;
