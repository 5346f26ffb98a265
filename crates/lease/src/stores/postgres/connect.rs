//! Connections: the URL, and which of its hosts can be written to now.

use super::statement::{Prepared, Statement, Uncommitted, commit, run};
use super::tls::{Mode, connector};
use crate::error::{Cause, Error};
use crate::store::{Deadline, redacted};
use crate::stores::url::decoded;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio_postgres::config::{Host, SslMode, TargetSessionAttrs};
use tokio_postgres::{Client, Config, SimpleQueryRow};
use tokio_postgres_rustls::MakeRustlsConnect;

/// Most connections that a handle has at once: requests to one space wait for each other anyway.
const MOST: usize = 4;

/// How long one host may take to answer before the next is tried.
const HOST_PATIENCE: Duration = Duration::from_secs(2);

/// How to connect to the server of a URL: what the driver needs, with TLS as `sslmode` and `sslrootcert` say. Whoever reads a
/// database beside its store connects the same way.
#[derive(Clone)]
pub struct Login {
    /// Hosts, role, database, and how soon a silent host counts as gone. Any server of the hosts will do.
    pub config: Config,
    /// TLS, for [`Config::connect`].
    pub tls: MakeRustlsConnect,
}

impl Login {
    /// From a URL; nothing is connected yet.
    ///
    /// # Errors
    /// [`Error::Url`] when it makes no sense, without its password.
    pub fn of(url: &str) -> Result<Self, Error> {
        let fault = |fault: String| Error::Url { url: redacted(url), fault };
        let (plain, mode, root) = split_tls(url).map_err(fault)?;
        let mut config: Config =
            plain.parse().map_err(|error| fault(format!("no URL of PostgreSQL: {}", in_words(&error))))?;
        if config.get_hosts().is_empty() {
            return Err(fault("a host expected, as in postgres://host1,host2:5433/database".to_owned()));
        }
        let is_socket = |host: &Host| !matches!(host, Host::Tcp(_));
        if mode.driver() == SslMode::Require && config.get_hosts().iter().any(is_socket) {
            let way =
                "a socket of this machine has no TLS; leave sslmode out, or name the server by its host";
            return Err(fault(way.to_owned()));
        }
        config.ssl_mode(mode.driver());
        // A host that went away without a word is noticed by these, not after a quarter of an hour.
        config.tcp_user_timeout(Duration::from_secs(10)).keepalives_idle(Duration::from_secs(15));
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(HOST_PATIENCE);
        }
        if config.get_application_name().is_none() {
            config.application_name("mintage");
        }
        let tls = connector(mode, root.as_deref()).map_err(fault)?;
        Ok(Self { config, tls })
    }
}

impl std::fmt::Debug for Login {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The configuration holds a password.
        f.debug_struct("Login").finish_non_exhaustive()
    }
}

/// The connections of a handle.
pub(super) struct Connections {
    config: Config,
    tls: MakeRustlsConnect,
    idle: Mutex<Vec<(Client, Prepared)>>,
    permits: Semaphore,
}

impl Connections {
    /// From a URL; nothing is connected yet.
    pub(super) fn of(url: &str) -> Result<Self, Error> {
        let Login { mut config, tls } = Login::of(url)?;
        config.target_session_attrs(TargetSessionAttrs::ReadWrite);
        Ok(Self { config, tls, idle: Mutex::new(Vec::new()), permits: Semaphore::new(MOST) })
    }

    /// A connection to a host that can be written to.
    pub(super) async fn take(&self, deadline: Deadline) -> Result<Taken<'_>, Cause> {
        let permit = tokio::time::timeout_at(deadline.0, self.permits.acquire()).await??;
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        while let Some((client, prepared)) = idle() {
            if !client.is_closed() {
                return Ok(Taken { connections: self, client, prepared, _permit: permit });
            }
        }
        let (client, connection) =
            tokio::time::timeout_at(deadline.0, self.config.connect(self.tls.clone())).await??;
        // Ends when the client is dropped. What it meets is told to the client's requests too.
        tokio::spawn(async move {
            let _ = connection.await;
        });
        Ok(Taken { connections: self, client, prepared: Prepared::default(), _permit: permit })
    }

    /// Closes what is idle: after a failover those connections lead to the wrong server.
    pub(super) fn forget(&self) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

impl std::fmt::Debug for Connections {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The configuration holds a password.
        f.debug_struct("Connections").finish_non_exhaustive()
    }
}

/// A connection in use. Dropped without [`Taken::give_back`] it is closed, and the server rolls back what was begun.
pub(super) struct Taken<'a> {
    connections: &'a Connections,
    pub(super) client: Client,
    prepared: Prepared,
    _permit: SemaphorePermit<'a>,
}

impl Taken<'_> {
    /// Keeps it for the next request; only between transactions.
    pub(super) fn give_back(self) {
        self.connections
            .idle
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push((self.client, self.prepared));
    }

    /// The rows of one statement.
    pub(super) async fn query(
        &self,
        statement: &Statement,
    ) -> Result<Vec<SimpleQueryRow>, tokio_postgres::Error> {
        self.run("", &[statement]).await.map(|mut sets| sets.pop().unwrap_or_default())
    }

    /// See [`run`].
    pub(super) async fn run(
        &self,
        before: &str,
        statements: &[&Statement],
    ) -> Result<Vec<Vec<SimpleQueryRow>>, tokio_postgres::Error> {
        run(&self.client, &self.prepared, before, statements).await
    }

    /// See [`commit`].
    pub(super) async fn commit(&self, statement: &Statement) -> Result<(), Uncommitted> {
        commit(&self.client, &self.prepared, statement).await
    }
}

/// What the driver says, without what it was given.
fn in_words(error: &tokio_postgres::Error) -> String {
    let cause = std::error::Error::source(error).map(ToString::to_string);
    cause.unwrap_or_else(|| error.to_string())
}

/// The URL without what the driver doesn't know, and what that said.
fn split_tls(url: &str) -> Result<(String, Mode, Option<PathBuf>), String> {
    let (start, query) = url.split_once('?').unwrap_or((url, ""));
    let (mut mode, mut root, mut kept) = (Mode::Prefer, None, Vec::new());
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        match pair.split_once('=') {
            Some(("sslmode", text)) => {
                mode = Mode::of(text).ok_or_else(|| {
                    format!("sslmode {text:?}; disable, prefer, require, verify-ca or verify-full expected")
                })?;
            }
            Some(("sslrootcert", text)) => root = Some(PathBuf::from(decoded(text))),
            _ => kept.push(pair),
        }
    }
    let plain = if kept.is_empty() { start.to_owned() } else { format!("{start}?{}", kept.join("&")) };
    Ok((plain, mode, root))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tls_is_taken_out_of_the_url() {
        let url =
            "postgres://u:p@a,b:5433/db?sslmode=verify-ca&application_name=x&sslrootcert=%2Fetc%2Fa%20b.pem";
        let (plain, mode, root) = split_tls(url).unwrap();
        assert_eq!(plain, "postgres://u:p@a,b:5433/db?application_name=x");
        assert_eq!((mode, root), (Mode::VerifyCa, Some(PathBuf::from("/etc/a b.pem"))));
        let (plain, mode, _) = split_tls("postgres://a/db?sslmode=disable").unwrap();
        assert_eq!((plain.as_str(), mode), ("postgres://a/db", Mode::Disable));
    }

    #[test]
    fn urls_that_make_no_sense_are_refused_without_their_password() {
        for url in [
            "postgres://u:secret@h/db?sslmode=maybe",
            "postgres://u:secret@h:port/db",
            "postgres://u:secret@h/db?colour=blue",
            "postgres://u:secret@/db?host=/tmp&sslmode=verify-full",
            "postgres://u:secret@%2Ftmp/db?sslmode=require",
            "postgres://u:secret@h/db?sslmode=verify-full&sslrootcert=/nowhere.pem",
        ] {
            let error = Connections::of(url).map(|_| ()).unwrap_err();
            assert!(matches!(error, Error::Url { .. }), "{error}");
            assert!(!format!("{error} {error:?}").contains("secret"), "{error}");
        }
    }
}
