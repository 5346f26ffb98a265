//! PostgreSQL servers for tests: those of `mintage-servers`, which end the test where something goes wrong.

use super::started;
use mintage_servers::Postgres as Server;
use mintage_servers::postgres::programs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// A server on 127.0.0.1 without passwords, whose superuser is `postgres`.
#[derive(Debug)]
pub struct Postgres(Server);

impl Postgres {
    /// A new server with these settings besides the usual ones; `None` when PostgreSQL isn't installed.
    ///
    /// # Panics
    /// When it is installed and doesn't start.
    #[must_use]
    pub fn start(settings: &[(&str, &str)]) -> Option<Self> {
        started(programs(None), |programs| Server::start(&programs, settings)).map(Self)
    }

    /// A new server of this major version; `None` when it isn't installed.
    ///
    /// # Panics
    /// When it is installed and doesn't start.
    #[must_use]
    pub fn start_version(version: u32, settings: &[(&str, &str)]) -> Option<Self> {
        let looked_for = || io::Error::other(format!("PostgreSQL {version} isn't installed"));
        let programs = programs_of(version).ok_or_else(looked_for);
        started(programs, |programs| Server::start(&programs, settings)).map(Self)
    }

    /// The server that tests which run at the same time share, each with a database of its own.
    ///
    /// # Panics
    /// When PostgreSQL is installed and doesn't start.
    #[must_use]
    pub fn shared() -> Option<Arc<Self>> {
        static SHARED: Mutex<Weak<Postgres>> = Mutex::new(Weak::new());
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(server) = shared.upgrade() {
            return Some(server);
        }
        let server = Arc::new(Self::start(&[("fsync", "on")])?);
        *shared = Arc::downgrade(&server);
        Some(server)
    }

    /// Adds settings to its file; those that were there before count for less. A server reads them when it starts.
    ///
    /// # Panics
    /// When the file can't be written.
    pub fn configure(&self, settings: &[(&str, &str)]) {
        self.0.configure(settings).expect("initdb has written a file of settings");
    }

    /// Starts a server that was stopped or killed, at the port it had.
    ///
    /// # Panics
    /// When it doesn't start.
    pub fn start_again(&mut self) {
        self.0.start_again().expect("PostgreSQL starts");
    }

    /// Kills every process of the server at once, as a power cut would.
    ///
    /// # Panics
    /// When the server wasn't running.
    pub fn kill(&mut self) {
        self.0.kill().expect("a running server");
    }

    /// Ends the server at once and cleanly enough: connections are cut, nothing is lost.
    pub fn stop(&mut self) {
        self.0.stop();
    }

    /// Where it can be reached: `postgres://postgres@127.0.0.1:PORT/DATABASE`.
    #[must_use]
    pub fn url(&self, database: &str) -> String {
        self.0.url(database)
    }

    /// The folder of its programs: `psql`, `pg_dump`.
    #[must_use]
    pub fn programs(&self) -> &Path {
        self.0.programs()
    }

    /// Its port.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.0.port()
    }

    /// The folder of its data, whose name doesn't change.
    #[must_use]
    pub fn data(&self) -> PathBuf {
        self.0.data()
    }

    /// A new database; its name.
    ///
    /// # Panics
    /// When it can't be made.
    #[must_use]
    pub fn database(&self) -> String {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("test_{}", COUNT.fetch_add(1, Ordering::Relaxed));
        self.query("postgres", &format!("CREATE DATABASE {name}")).expect("a database is made");
        name
    }

    /// Runs SQL by `psql`; the rows, unaligned and without headers.
    ///
    /// # Errors
    /// What `psql` says.
    pub fn query(&self, database: &str, sql: &str) -> io::Result<String> {
        self.0.query(database, sql)
    }

    /// The definitions of a database, as `pg_dump` writes them.
    ///
    /// # Errors
    /// What `pg_dump` says.
    pub fn definitions(&self, database: &str) -> io::Result<String> {
        self.0.definitions(database)
    }

    /// A base backup of it, as a server of its own that isn't started; `follows` makes it a replica.
    ///
    /// # Panics
    /// When the backup can't be made.
    #[must_use]
    pub fn backup(&self, follows: bool) -> Self {
        Self(self.0.backup(follows).expect("pg_basebackup copies a running server"))
    }

    /// Puts the data of a backup in the place of its own, as a restore does. The server must be stopped.
    ///
    /// # Panics
    /// When it can't be copied.
    pub fn restore(&mut self, backup: &Self) {
        self.0.restore(&backup.0).expect("a backup is copied");
    }

    /// Makes a replica deaf: what its primary writes from now on is lost to it.
    ///
    /// # Panics
    /// When it doesn't answer, or after 20 seconds.
    pub fn unfollow(&self) {
        self.0.unfollow().expect("a replica takes settings");
    }

    /// Gives the files in its data folder to the server's user: those that a test has put there.
    ///
    /// # Panics
    /// When that can't be done.
    pub fn take_over(&self) {
        self.0.take_over().expect("files of our own");
    }

    /// Makes a replica a primary.
    ///
    /// # Panics
    /// When it isn't a replica.
    pub fn promote(&self) {
        self.0.promote().expect("a replica is promoted");
    }

    /// Waits until a replica has replayed all that `primary` has written so far.
    ///
    /// # Panics
    /// When either doesn't answer, or after 20 seconds.
    pub fn catches_up(&self, primary: &Self) {
        self.0.catches_up(&primary.0).expect("a replica follows");
    }
}

/// The folder of the server programs of one version: the system's, or those that scripts/install-tools has put into this
/// workspace.
fn programs_of(version: u32) -> Option<PathBuf> {
    let system = PathBuf::from(format!("/usr/lib/postgresql/{version}/bin"));
    let tools = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../target/tools")
        .join(format!("postgresql-{version}"));
    [system, tools.join("bin")].into_iter().find(|programs| programs.join("postgres").exists())
}
