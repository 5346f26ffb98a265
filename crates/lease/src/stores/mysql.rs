//! The store in a database of MariaDB (10.6 or later) or MySQL (8.0 or later): `mysql://user@host1,host2:3306/database?...`, in five tables
//! whose names begin with `mintage_`. Written for both, and tested on MariaDB 10.11 only.
//!
//! A request is one transaction of two round trips. The first begins it, locks the space's row, and reads the server's time, its
//! identity and the rows of workers, all after the lock; the second writes what the rule decided, checks that each write hit the rows that it
//! was to hit, and commits. Each is one message of several statements: see `statement`.
//!
//! Of several hosts the one that can be written to is found, and found again after a failover. What tells a restart, a replica
//! that took over and a copy from each other is in `standing`.

mod admin;
mod connect;
mod rows;
mod standing;
mod statement;
mod target;
mod transact;
mod trouble;

use super::attempt::by_attempts;
use crate::clock::{HostClock, SystemHostClock};
use crate::error::Error;
use crate::store::{OpenOptions, Store, StoreEntry, redacted};
use connect::Connections;
use std::sync::Arc;

/// The list line of this store.
pub const ENTRY: StoreEntry = StoreEntry {
    url_schemes: &["mysql", "mariadb"],
    summary: "a database of MariaDB or MySQL (MySQL untested), for many hosts",
    example: "mysql://user@host1,host2:3306/database",
    open,
    schema: || format!("{SCHEMA}\n{SCOPES}"),
};

const SCHEMA: &str = include_str!("mysql/schema.sql");

/// What version 2 adds.
const SCOPES: &str = include_str!("mysql/scopes.sql");

fn open(url: &str, options: OpenOptions) -> Result<Arc<dyn Store>, Error> {
    Ok(Arc::new(MySql::open(url, options)?))
}

/// A handle of a store in a database of MariaDB or MySQL.
#[derive(Debug)]
pub struct MySql {
    url: String,
    clock: Arc<dyn HostClock>,
    /// Which process opened it. Rule 8.
    generation: u64,
    allows_unsafe: bool,
    connections: Connections,
}

impl MySql {
    /// The store of a URL. The first call connects.
    ///
    /// # Errors
    /// [`Error::Url`] when the URL makes no sense.
    pub fn open(url: &str, options: OpenOptions) -> Result<Self, Error> {
        // The driver takes TLS from whichever provider the process has, and has none of its own.
        let _ = rustls::crypto::ring::default_provider().install_default();
        Ok(Self {
            url: redacted(url),
            clock: options.clock.unwrap_or_else(|| Arc::new(SystemHostClock)),
            generation: mintage::entropy::generation(),
            allows_unsafe: options.allows_unsafe,
            connections: Connections::of(url)?,
        })
    }

    fn store(&self) -> String {
        self.url.clone()
    }
}

// Idle connections lead to a server that isn't the right one any more.
by_attempts!(MySql, |store: &MySql| store.connections.forget());
