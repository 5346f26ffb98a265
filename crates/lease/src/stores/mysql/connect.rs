//! Connections: which of the URL's hosts can be written to now, and what a session on it is like.

use super::standing::Flavor;
use super::statement::{self, Uncommitted};
use super::target::Target;
use crate::error::{Cause, Error};
use crate::store::Deadline;
use mysql_async::{Conn, DriverError, Error as DriverFailure, OptsBuilder, Row, SslOpts};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::task::{Context, Waker};
use std::time::Duration;
use tokio::sync::{Semaphore, SemaphorePermit};

/// Most connections that a handle has at once: requests to one space wait for each other anyway.
const MOST: usize = 4;

/// How long one of several hosts may take to answer before the next is tried.
const HOST_PATIENCE: Duration = Duration::from_secs(2);

/// Longest that a transaction may stand between its round trips: a client that is stopped there must not hold the space's row.
const IDLE_SECONDS: u64 = 5;

/// What is known of a server as long as a connection to it lasts.
#[derive(Clone, Debug)]
pub(super) struct Session {
    pub(super) flavor: Flavor,
    /// Whether it is a node of a Galera cluster, where a lock is kept from other sessions of the same node only.
    pub(super) is_galera: bool,
    /// Statements are what its replicas get, and they must be told in an order: InnoDB refuses to write them at the weaker level.
    logs_statements: bool,
}

impl Session {
    /// What each session begins with: settings that no default of the server changes, and a look at what it is.
    fn opening() -> [String; 4] {
        [
            "SET NAMES utf8mb4".to_owned(),
            "SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION', time_zone = '+00:00', autocommit = 1"
                .to_owned(),
            "SELECT VERSION() AS version".to_owned(),
            "SHOW GLOBAL VARIABLES WHERE Variable_name IN ('read_only', 'super_read_only', 'innodb_read_only', 'wsrep_on', \
             'binlog_format', 'log_bin')"
                .to_owned(),
        ]
    }

    /// What the opening tells; `None` when the server can't be written to.
    fn of(sets: &[Vec<Row>]) -> Option<Self> {
        let version: Option<String> =
            sets.get(2).and_then(|rows| rows.first()).and_then(|row| row.get_opt(0)).and_then(Result::ok);
        let settings: Vec<(String, String)> = sets
            .get(3)
            .into_iter()
            .flatten()
            .filter_map(|row| Some((row.get_opt(0)?.ok()?, row.get_opt(1)?.ok()?)))
            .collect();
        let setting = |name: &str| {
            settings
                .iter()
                .find(|(found, _)| found.eq_ignore_ascii_case(name))
                .map(|(_, value)| value.as_str())
        };
        let is_on = |name: &str| setting(name).is_some_and(|value| !matches!(value, "OFF" | "0"));
        if ["read_only", "super_read_only", "innodb_read_only"].iter().any(|name| is_on(name)) {
            return None;
        }
        Some(Self {
            flavor: Flavor::of(&version.unwrap_or_default()),
            is_galera: is_on("wsrep_on"),
            logs_statements: is_on("log_bin") && setting("binlog_format") == Some("STATEMENT"),
        })
    }

    /// The server gives up when the caller does, and on a client that says nothing more within a transaction.
    pub(super) fn limits(&self, deadline: Deadline) -> String {
        let left = deadline.left().max(Duration::from_millis(1));
        let seconds = (left.as_secs() + 1).min(31_536_000);
        let idle = seconds.min(IDLE_SECONDS);
        let limits = match self.flavor {
            Flavor::MariaDb => {
                let left = left.as_secs_f64().min(31_536_000.0);
                format!("max_statement_time = {left:.3}, idle_transaction_timeout = {idle}")
            }
            Flavor::MySql => {
                format!("max_execution_time = {}, wait_timeout = {idle}", left.as_millis().min(4_294_967_295))
            }
        };
        format!("SET SESSION innodb_lock_wait_timeout = {seconds}, lock_wait_timeout = {seconds}, {limits}")
    }

    /// The beginning of each transaction. The reads of a request come after the lock, so that they see the same at both levels.
    pub(super) fn begin(&self, deadline: Deadline) -> Vec<String> {
        let level = if self.logs_statements { "REPEATABLE READ" } else { "READ COMMITTED" };
        vec![self.limits(deadline), format!("SET TRANSACTION ISOLATION LEVEL {level}"), "BEGIN".to_owned()]
    }

    /// What comes before the end of each transaction: an idle connection is none that stands still in one.
    fn ending(&self) -> Vec<String> {
        match self.flavor {
            Flavor::MariaDb => Vec::new(),
            Flavor::MySql => vec!["SET SESSION wait_timeout = DEFAULT".to_owned()],
        }
    }
}

/// The connections of a handle.
pub(super) struct Connections {
    target: Target,
    /// The host that was found last.
    found: AtomicUsize,
    idle: Mutex<Vec<(Conn, Session)>>,
    permits: Semaphore,
    generation: u64,
}

impl Connections {
    /// From a URL; nothing is connected yet.
    pub(super) fn of(url: &str) -> Result<Self, Error> {
        Ok(Self {
            target: Target::of(url)?,
            found: AtomicUsize::new(0),
            idle: Mutex::new(Vec::new()),
            permits: Semaphore::new(MOST),
            generation: mintage::entropy::generation(),
        })
    }

    /// A connection to a host that can be written to.
    pub(super) async fn take(&self, deadline: Deadline) -> Result<Taken<'_>, Cause> {
        let permit = tokio::time::timeout_at(deadline.0, self.permits.acquire()).await??;
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let (conn, session) = match idle {
            Some(idle) => idle,
            None => tokio::time::timeout_at(deadline.0, self.connect()).await??,
        };
        Ok(Taken { connections: self, conn: Some(conn), session, _permit: permit })
    }

    async fn connect(&self) -> Result<(Conn, Session), Cause> {
        let hosts = &self.target.hosts;
        // Ordering: a hint.
        let first = self.found.load(Ordering::Relaxed);
        let mut last: Cause = "none of its hosts can be written to".into();
        for place in (0..hosts.len()).map(|i| (first + i) % hosts.len()) {
            let trying = self.connect_to(&hosts[place]);
            let tried = if hosts.len() == 1 {
                trying.await
            } else {
                match tokio::time::timeout(HOST_PATIENCE, trying).await {
                    Ok(tried) => tried,
                    Err(elapsed) => {
                        last = elapsed.into();
                        continue;
                    }
                }
            };
            match tried {
                Ok(Some(connected)) => {
                    self.found.store(place, Ordering::Relaxed);
                    return Ok(connected);
                }
                Ok(None) => {}
                Err(error) => last = error.into(),
            }
        }
        Err(last)
    }

    /// `None` when the host can't be written to.
    async fn connect_to(&self, host: &OptsBuilder) -> Result<Option<(Conn, Session)>, DriverFailure> {
        let mut conn = match Conn::new(host.clone()).await {
            Err(DriverFailure::Driver(DriverError::NoClientSslFlagFromServer))
                if self.target.encrypts_if_possible =>
            {
                Conn::new(host.clone().ssl_opts(None::<SslOpts>)).await?
            }
            connected => connected?,
        };
        let sets = statement::run(&mut conn, &Session::opening()).await?;
        match Session::of(&sets) {
            Some(session) => Ok(Some((conn, session))),
            None => {
                close(conn);
                Ok(None)
            }
        }
    }

    /// Closes what is idle: after a failover those connections lead to the wrong server.
    pub(super) fn forget(&self) {
        let idle = std::mem::take(&mut *self.idle.lock().unwrap_or_else(PoisonError::into_inner));
        idle.into_iter().for_each(|(conn, _)| close(conn));
    }
}

impl Drop for Connections {
    fn drop(&mut self) {
        if self.generation == mintage::entropy::generation() {
            self.forget();
        } else {
            // A forked child must not say good-bye in its parent's name. Rule 8.
            std::mem::forget(std::mem::take(self.idle.get_mut().unwrap_or_else(PoisonError::into_inner)));
        }
    }
}

impl std::fmt::Debug for Connections {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The target holds a password.
        f.debug_struct("Connections").finish_non_exhaustive()
    }
}

/// Closes a connection at once. Left to itself, the driver's would first wait for answers that may never come, and keep what the
/// server has locked for it.
fn close(conn: Conn) {
    let mut closing = Box::pin(conn.disconnect());
    // Once is enough to say good-bye where the network takes it, and no matter where it doesn't.
    let _ = closing.as_mut().poll(&mut Context::from_waker(Waker::noop()));
}

/// A connection in use. Dropped without [`Taken::give_back`] it is closed, and the server rolls back what was begun.
pub(super) struct Taken<'a> {
    connections: &'a Connections,
    /// None once it was given back.
    conn: Option<Conn>,
    pub(super) session: Session,
    _permit: SemaphorePermit<'a>,
}

impl Taken<'_> {
    /// Keeps it for the next request; only between transactions.
    pub(super) fn give_back(mut self) {
        if let Some(conn) = self.conn.take() {
            let mut idle = self.connections.idle.lock().unwrap_or_else(PoisonError::into_inner);
            idle.push((conn, self.session.clone()));
        }
    }

    /// See [`statement::run`].
    pub(super) async fn run(&mut self, statements: &[String]) -> Result<Vec<Vec<Row>>, DriverFailure> {
        match &mut self.conn {
            Some(conn) => statement::run(conn, statements).await,
            None => Err(DriverError::ConnectionClosed.into()),
        }
    }

    /// The rows of one statement.
    pub(super) async fn query(&mut self, statement: String) -> Result<Vec<Row>, DriverFailure> {
        self.run(&[statement]).await.map(|mut sets| sets.pop().unwrap_or_default())
    }

    /// See [`statement::commit`].
    pub(super) async fn commit(&mut self, statements: &[String]) -> Result<(), Uncommitted> {
        let mut all = self.session.ending();
        all.extend_from_slice(statements);
        match &mut self.conn {
            Some(conn) => statement::commit(conn, &all).await,
            None => Err(Uncommitted::Refused(DriverError::ConnectionClosed.into())),
        }
    }

    /// Ends a transaction without a trace.
    pub(super) async fn roll_back(&mut self) -> Result<(), DriverFailure> {
        let mut all = self.session.ending();
        all.push("ROLLBACK".to_owned());
        self.run(&all).await.map(|_| ())
    }
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        let Some(conn) = self.conn.take() else { return };
        if self.connections.generation == mintage::entropy::generation() {
            close(conn);
        } else {
            std::mem::forget(conn);
        }
    }
}
