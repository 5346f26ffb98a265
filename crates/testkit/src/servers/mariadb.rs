//! MariaDB servers for tests.

use super::started;
use mintage_servers::MariaDb as Server;
use mintage_servers::mariadb::installed;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// A server on 127.0.0.1 whose superuser is `root`, without a password.
#[derive(Debug)]
pub struct MariaDb(Server);

impl MariaDb {
    /// A new server that may lose what it acknowledged, and is faster for that; `None` when MariaDB isn't installed.
    ///
    /// # Panics
    /// When it is installed and doesn't start.
    #[must_use]
    pub fn start() -> Option<Self> {
        Self::start_with(&["--innodb-flush-log-at-trx-commit=0"])
    }

    /// A new server with these settings besides the usual ones; `None` when MariaDB isn't installed.
    ///
    /// # Panics
    /// When it is installed and doesn't start.
    #[must_use]
    pub fn start_with(settings: &[&str]) -> Option<Self> {
        started(installed(), |()| Server::start(settings)).map(Self)
    }

    /// Starts a server that was stopped or killed, at the port it had. The second in which it started is another one than before: its
    /// clients can't tell starts of one second apart.
    ///
    /// # Panics
    /// When it doesn't start.
    pub fn start_again(&mut self) {
        self.0.start_again().expect("MariaDB starts");
    }

    /// Adds settings, which count from the next start on.
    pub fn configure(&mut self, settings: &[&str]) {
        self.0.configure(settings);
    }

    /// Gives the files in its data folder to the server's user: those that a test has put there.
    ///
    /// # Panics
    /// When that can't be done.
    pub fn take_over(&self) {
        self.0.take_over().expect("files of our own");
    }

    /// Kills the server, as a power cut would.
    ///
    /// # Panics
    /// When it wasn't running.
    pub fn kill(&mut self) {
        self.0.kill().expect("a running server");
    }

    /// Copies the data of a server that doesn't run into a folder beside it.
    ///
    /// # Panics
    /// When it runs, or can't be copied.
    pub fn copy_data(&self, name: &str) {
        self.0.copy_data(name).expect("data are copied");
    }

    /// Puts such a copy in the place of the data: copied back once more, or renamed over.
    ///
    /// # Panics
    /// When the server runs, or there is no such copy.
    pub fn put_back(&mut self, name: &str, is_renamed: bool) {
        self.0.put_back(name, is_renamed).expect("a copy is put back");
    }

    /// Makes it a replica of `primary`, by global transaction ids, from the first transaction on.
    ///
    /// # Panics
    /// When it doesn't take that.
    pub fn follow(&self, primary: &Self) {
        self.0.follow(&primary.0).expect("a replica takes its primary");
    }

    /// Waits until a replica has carried out all that `primary` has written so far.
    ///
    /// # Panics
    /// When either doesn't answer, or after 20 seconds.
    pub fn catches_up(&self, primary: &Self) {
        self.0.catches_up(&primary.0).expect("a replica follows");
    }

    /// Makes a replica deaf: what its primary writes from now on is lost to it.
    ///
    /// # Panics
    /// When it doesn't answer.
    pub fn unfollow(&self) {
        self.0.unfollow().expect("a replica answers");
    }

    /// The server that tests which run at the same time share, each with a database of its own.
    ///
    /// # Panics
    /// When MariaDB is installed and doesn't start.
    #[must_use]
    pub fn shared() -> Option<Arc<Self>> {
        static SHARED: Mutex<Weak<MariaDb>> = Mutex::new(Weak::new());
        shared(&SHARED, Self::start)
    }

    /// The same with a server that keeps what it acknowledged.
    ///
    /// # Panics
    /// When MariaDB is installed and doesn't start.
    #[must_use]
    pub fn shared_durable() -> Option<Arc<Self>> {
        static SHARED: Mutex<Weak<MariaDb>> = Mutex::new(Weak::new());
        shared(&SHARED, || Self::start_with(&[]))
    }

    /// Where it can be reached: `mysql://root@127.0.0.1:PORT/DATABASE`.
    #[must_use]
    pub fn url(&self, database: &str) -> String {
        self.0.url(database)
    }

    /// Its port.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.0.port()
    }

    /// A new database; its name.
    ///
    /// # Panics
    /// When it can't be made.
    #[must_use]
    pub fn database(&self) -> String {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("test_{}", COUNT.fetch_add(1, Ordering::Relaxed));
        self.query("", &format!("CREATE DATABASE {name}")).expect("a database is made");
        name
    }

    /// Runs SQL by the client `mariadb`; the rows, their columns apart by tabs.
    ///
    /// # Errors
    /// What the client says.
    pub fn query(&self, database: &str, sql: &str) -> std::io::Result<String> {
        self.0.query(database, sql)
    }

    /// The definitions of a database, as `mariadb-dump` writes them.
    ///
    /// # Errors
    /// What `mariadb-dump` says.
    pub fn definitions(&self, database: &str) -> std::io::Result<String> {
        self.0.definitions(database)
    }

    /// The folder of its data, whose name doesn't change.
    #[must_use]
    pub fn data(&self) -> PathBuf {
        self.0.data()
    }
}

fn shared(slot: &Mutex<Weak<MariaDb>>, start: impl FnOnce() -> Option<MariaDb>) -> Option<Arc<MariaDb>> {
    let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(server) = slot.upgrade() {
        return Some(server);
    }
    let server = Arc::new(start()?);
    *slot = Arc::downgrade(&server);
    Some(server)
}
