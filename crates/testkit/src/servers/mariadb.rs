//! MariaDB servers.

use super::place::{Folder, Running, as_server, free_port, missing, run};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

const SERVER: &str = "/usr/sbin/mariadbd";

/// A server on 127.0.0.1 whose superuser is `root`, without a password.
#[derive(Debug)]
pub struct MariaDb {
    // Dropped in this order: the server first, then its data.
    _running: Running,
    port: u16,
    folder: Folder,
}

impl MariaDb {
    /// A new server; `None` when MariaDB isn't installed.
    ///
    /// # Panics
    /// When it is installed and doesn't start.
    #[must_use]
    pub fn start() -> Option<Self> {
        if !Path::new(SERVER).exists() {
            missing("MariaDB");
            return None;
        }
        let folder = Folder::new("mariadb").expect("a folder for temporary files");
        let data = folder.path().join("data");
        let mut install = as_server("mariadb-install-db");
        install.args([
            "--no-defaults",
            "--auth-root-authentication-method=normal",
            "--skip-test-db",
            "--skip-name-resolve",
        ]);
        run(install.arg(format!("--datadir={}", data.display())))
            .expect("mariadb-install-db makes a data folder");
        for _ in 0..5 {
            let port = free_port().expect("a free port");
            let within = |name: &str| folder.path().join(name).display().to_string();
            let arguments = [
                "--no-defaults".to_owned(),
                format!("--datadir={}", data.display()),
                format!("--socket={}", within("socket")),
                format!("--pid-file={}", within("pid")),
                format!("--port={port}"),
                "--bind-address=127.0.0.1".to_owned(),
                "--skip-name-resolve".to_owned(),
                "--innodb-buffer-pool-size=32M".to_owned(),
                "--innodb-flush-log-at-trx-commit=0".to_owned(),
            ];
            let log = folder.path().join("log");
            let mut running =
                Running::start(SERVER, &arguments, "KILL", &log).expect("the server's program runs");
            if running.listens(port) {
                return Some(Self { _running: running, port, folder });
            }
        }
        let log = fs::read_to_string(folder.path().join("log")).unwrap_or_default();
        panic!("MariaDB doesn't start:\n{log}");
    }

    /// The server that tests which run at the same time share, each with a database of its own.
    ///
    /// # Panics
    /// When MariaDB is installed and doesn't start.
    #[must_use]
    pub fn shared() -> Option<Arc<Self>> {
        static SHARED: Mutex<Weak<MariaDb>> = Mutex::new(Weak::new());
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(server) = shared.upgrade() {
            return Some(server);
        }
        let server = Arc::new(Self::start()?);
        *shared = Arc::downgrade(&server);
        Some(server)
    }

    /// Where it can be reached: `mysql://root@127.0.0.1:PORT/DATABASE`.
    #[must_use]
    pub fn url(&self, database: &str) -> String {
        format!("mysql://root@127.0.0.1:{}/{database}", self.port)
    }

    /// Its port.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
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
        let mut client = Command::new("mariadb");
        client.args(["--no-defaults", "-u", "root", "-N", "-B", "--default-character-set=utf8mb4", "-S"]);
        client.arg(self.socket()).args(["-e", sql]);
        if !database.is_empty() {
            client.arg(database);
        }
        Ok(run(&mut client)?.trim_end().to_owned())
    }

    fn socket(&self) -> PathBuf {
        self.folder.path().join("socket")
    }
}
