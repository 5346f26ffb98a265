//! The store in a PostgreSQL database: `postgres://host1,host2:port/database?...`, in the schema `mintage`.
//!
//! A request is one transaction of two round trips. The first begins it, locks the space's row, and reads the server's time, its
//! identity and the rows of workers, all after the lock; the second writes what the rule decided and commits. Nothing is
//! prepared, so a pooler in transaction mode does.
//!
//! Of several hosts the one that can be written to is found, and found again after a failover.

mod admin;
mod connect;
mod rows;
mod tls;
mod transact;

pub use connect::Login;

use crate::clock::{HostClock, SystemHostClock};
use crate::error::{Cause, Error};
use crate::request::{Answered, Caller, Request, Shown};
use crate::space::Space;
use crate::store::{Answering, CheckLine, CreateOptions, Deadline, OpenOptions, Store, StoreEntry, redacted};
use connect::Connections;
use mintage::{Entropy, SystemEntropy};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio_postgres::error::SqlState;

/// The list line of this store.
pub const ENTRY: StoreEntry = StoreEntry {
    url_schemes: &["postgres", "postgresql"],
    summary: "a PostgreSQL database, for many hosts",
    example: "postgres://host1,host2:5432/database",
    open,
    schema: || SCHEMA.to_owned(),
};

const SCHEMA: &str = include_str!("postgres/schema.sql");

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

/// Why an attempt at a transaction ended.
enum Failure {
    /// Nothing was done, and the next attempt may do better.
    Again(Again),
    /// It is no use, or must not be tried again.
    Final(Error),
}

struct Again {
    source: Cause,
    /// Whether it was the server that couldn't be reached, rather than its rows.
    is_unreachable: bool,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Final(error)
    }
}

type Attempt<'a, T> = Pin<Box<dyn Future<Output = Result<T, Failure>> + Send + 'a>>;

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

    /// Tries until it works, can't work, or the deadline comes.
    async fn persist<'a, T>(
        &'a self,
        request: &'static str,
        deadline: Deadline,
        attempt: impl Fn() -> Attempt<'a, T>,
    ) -> Result<T, Error> {
        if self.generation != mintage::entropy::generation() {
            return Err(Error::Forked { store: self.store() });
        }
        if deadline.left().is_zero() {
            return Err(Error::Deadline { store: self.store(), request, source: None });
        }
        let mut wait = Duration::from_millis(2);
        loop {
            let Again { source, is_unreachable } = match attempt().await {
                Ok(value) => return Ok(value),
                Err(Failure::Final(error)) => return Err(error),
                Err(Failure::Again(again)) => again,
            };
            let pause = jittered(wait);
            if deadline.left() <= pause {
                let store = self.store();
                return Err(if is_unreachable {
                    Error::Unreachable { store, source }
                } else {
                    Error::Deadline { store, request, source: Some(source) }
                });
            }
            if is_unreachable {
                self.connections.forget();
            }
            tokio::time::sleep(pause).await;
            wait = (wait * 2).min(Duration::from_millis(500));
        }
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

/// Half to one and a half of a pause, so that those who wait don't come all at once.
fn jittered(pause: Duration) -> Duration {
    let mut byte = [128];
    let _ = SystemEntropy.fill(&mut byte);
    pause / 2 + pause * u32::from(byte[0]) / 255
}

impl Store for Postgres {
    fn url(&self) -> &str {
        &self.url
    }

    fn clock(&self) -> &dyn HostClock {
        &*self.clock
    }

    fn space<'a>(&'a self, name: &'a str, deadline: Deadline) -> Answering<'a, Space> {
        Box::pin(async move {
            let attempt =
                || -> Attempt<'a, _> { Box::pin(self.try_show("open", Some(name), false, deadline)) };
            let all = self.persist("open", deadline, attempt).await?;
            Ok(self.in_use(all, name)?.space)
        })
    }

    fn ask<'a>(
        &'a self,
        space: &'a Space,
        caller: &'a Caller,
        request: &'a Request,
        deadline: Deadline,
    ) -> Answering<'a, Answered> {
        Box::pin(async move {
            let attempt = || -> Attempt<'a, _> { Box::pin(self.try_ask(space, caller, request, deadline)) };
            self.persist(request.name(), deadline, attempt).await
        })
    }

    fn create<'a>(
        &'a self,
        space: &'a Space,
        options: CreateOptions,
        deadline: Deadline,
    ) -> Answering<'a, Space> {
        Box::pin(async move {
            let attempt = || -> Attempt<'a, _> { Box::pin(self.try_create(space, options, deadline)) };
            self.persist("create", deadline, attempt).await
        })
    }

    fn list(&self, deadline: Deadline) -> Answering<'_, Vec<Shown>> {
        Box::pin(async move {
            let attempt = || -> Attempt<'_, _> { Box::pin(self.try_show("list", None, true, deadline)) };
            self.persist("list", deadline, attempt).await
        })
    }

    fn show<'a>(&'a self, name: &'a str, deadline: Deadline) -> Answering<'a, Shown> {
        Box::pin(async move {
            let attempt =
                || -> Attempt<'a, _> { Box::pin(self.try_show("show", Some(name), true, deadline)) };
            let all = self.persist("show", deadline, attempt).await?;
            self.in_use(all, name)
        })
    }

    fn drop_space<'a>(&'a self, name: &'a str, deadline: Deadline) -> Answering<'a, ()> {
        Box::pin(async move {
            let attempt = || -> Attempt<'a, _> { Box::pin(self.try_drop(name, deadline)) };
            self.persist("drop", deadline, attempt).await
        })
    }

    fn check(&self, deadline: Deadline) -> Answering<'_, Vec<CheckLine>> {
        Box::pin(async move {
            let attempt = || -> Attempt<'_, _> { Box::pin(self.try_check(deadline)) };
            self.persist("check", deadline, attempt).await
        })
    }

    fn upgrade(&self, deadline: Deadline) -> Answering<'_, ()> {
        Box::pin(async move {
            let attempt = || -> Attempt<'_, _> { Box::pin(self.try_upgrade(deadline)) };
            self.persist("upgrade", deadline, attempt).await
        })
    }
}
