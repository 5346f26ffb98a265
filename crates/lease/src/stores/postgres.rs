//! The store in a PostgreSQL database: `postgres://host1,host2:port/database?...`, in the schema `mintage`.
//!
//! A request is one transaction of two round trips. The first begins it, locks the space's row, and reads the server's time, its
//! identity and the rows of workers, all after the lock; the second writes what the rule decided and commits. What is prepared is
//! named by its text, so a pooler in transaction mode does: see `statement`.
//!
//! Of several hosts the one that can be written to is found, and found again after a failover.

mod admin;
mod connect;
mod rows;
mod statement;
mod tls;
mod transact;

pub use connect::Login;

use super::attempt::{Again, Failure, by_attempts};
use crate::clock::{HostClock, SystemHostClock};
use crate::error::{Cause, Error};
use crate::store::{OpenOptions, Store, StoreEntry, redacted};
use connect::Connections;
use std::sync::Arc;
use tokio_postgres::error::SqlState;

/// The list line of this store.
pub const ENTRY: StoreEntry = StoreEntry {
    url_schemes: &["postgres", "postgresql"],
    summary: "a PostgreSQL database, for many hosts",
    example: "postgres://host1,host2:5432/database",
    open,
    schema: || format!("{SCHEMA}\n{SCOPES}"),
};

const SCHEMA: &str = include_str!("postgres/schema.sql");

/// What version 2 adds.
const SCOPES: &str = include_str!("postgres/scopes.sql");

fn open(url: &str, options: OpenOptions) -> Result<Arc<dyn Store>, Error> {
    Ok(Arc::new(Postgres::open(url, options)?))
}

/// A handle of a store in a PostgreSQL database.
#[derive(Debug)]
pub struct Postgres {
    url: String,
    clock: Arc<dyn HostClock>,
    /// Which process opened it. Rule 8.
    generation: u64,
    allows_unsafe: bool,
    connections: Connections,
}

impl Postgres {
    /// The store of a URL. The first call connects.
    ///
    /// # Errors
    /// [`Error::Url`] when the URL makes no sense.
    pub fn open(url: &str, options: OpenOptions) -> Result<Self, Error> {
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

    /// What an error means that came before anything can have been committed.
    fn before_commit(&self, request: &'static str, error: tokio_postgres::Error) -> Failure {
        let store = self.store();
        let Some(code) = error.code().cloned() else {
            let is_hopeless = tls::is_about_trust(&error);
            let source: Cause = error.into();
            return if is_hopeless {
                Failure::Final(Error::Unreachable { store, source })
            } else {
                Failure::Again(Again { source, is_unreachable: true })
            };
        };
        let source: Cause = error.into();
        match code.code().get(..2).unwrap_or_default() {
            // Connections cut, servers going down, coming up or full; and those that can't be written to any more.
            "08" | "57" | "53" if code != SqlState::DISK_FULL && code != SqlState::QUERY_CANCELED => {
                Failure::Again(Again { source, is_unreachable: true })
            }
            "25" => Failure::Again(Again { source, is_unreachable: true }),
            // `recovery is in progress`: a standby.
            "55" if code == SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE => {
                Failure::Again(Again { source, is_unreachable: true })
            }
            // Locks, deadlocks and timeouts: others were faster.
            "40" | "55" | "57" => Failure::Again(Again { source, is_unreachable: false }),
            // A pooler's server connection to which the statement is new: the next attempt looks first.
            "26" => Failure::Again(Again { source, is_unreachable: false }),
            // Two processes created one thing at once: the next attempt finds it.
            "23" => Failure::Again(Again { source, is_unreachable: false }),
            "53" => Failure::Final(Error::Full { store, request, source }),
            "28" | "3D" => Failure::Final(Error::Unreachable { store, source }),
            _ if code == SqlState::INSUFFICIENT_PRIVILEGE => {
                let needs = "`mintage store schema` prints what a role needs";
                Failure::Final(Error::Denied { store, needs, request, source })
            }
            _ if [SqlState::UNDEFINED_TABLE, SqlState::INVALID_SCHEMA_NAME].contains(&code) => {
                Failure::Final(Error::NoSchema { store })
            }
            _ if code == SqlState::DIVISION_BY_ZERO => {
                let what = "a row that changed within a transaction".to_owned();
                Failure::Final(Error::Corrupt { store, what })
            }
            _ => Failure::Final(Error::Database { store, request, source }),
        }
    }

    fn unreachable(&self, source: Cause) -> Failure {
        match source.downcast::<tokio_postgres::Error>() {
            Ok(error) => match self.before_commit("connect", *error) {
                // A password that is refused, a database that isn't there.
                Failure::Final(error) => Failure::Final(error),
                Failure::Again(again) => Failure::Again(Again { is_unreachable: true, ..again }),
            },
            Err(source) => Failure::Again(Again { source, is_unreachable: true }),
        }
    }

    fn late(&self, request: &'static str) -> Failure {
        Failure::Final(Error::Deadline { store: self.store(), request, source: None })
    }

    fn unknown(&self, request: &'static str, source: impl Into<Cause>) -> Failure {
        Failure::Final(Error::UnknownOutcome { store: self.store(), request, source: source.into() })
    }

    fn corrupt(&self, what: String) -> Failure {
        Failure::Final(Error::Corrupt { store: self.store(), what })
    }
}

// Idle connections lead to a server that isn't the right one any more.
by_attempts!(Postgres, |store: &Postgres| store.connections.forget());
