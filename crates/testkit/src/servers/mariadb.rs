//! MariaDB servers.

use super::missing;
use mintage_servers::place::{Folder, Running, as_server, free_port, is_root, run};
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
    running: Option<Running>,
    port: u16,
    settings: Vec<String>,
    folder: Folder,
}

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
        if !Path::new(SERVER).exists() {
            missing("MariaDB");
            return None;
        }
        let folder = Folder::new("mariadb").expect("a folder for temporary files");
        let settings = settings.iter().map(|setting| (*setting).to_owned()).collect();
        let mut server = Self { running: None, port: 0, settings, folder };
        let mut install = as_server("mariadb-install-db");
        install.args([
            "--no-defaults",
            "--auth-root-authentication-method=normal",
            "--skip-test-db",
            "--skip-name-resolve",
        ]);
        // Several at once would delete each other's temporary tables.
        install.env("TMPDIR", server.folder.path());
        run(install.arg(format!("--datadir={}", server.data().display())))
            .expect("mariadb-install-db makes a data folder");
        server.start_again();
        Some(server)
    }

    /// Starts a server that was stopped or killed, at the port it had. The second in which it started is another one than before: its
    /// clients can't tell starts of one second apart.
    ///
    /// # Panics
    /// When it doesn't start.
    pub fn start_again(&mut self) {
        if self.port != 0 {
            mintage::time::pause(1_100_000_000);
        }
        // A free port may be taken by another before the server has it.
        for _ in 0..5 {
            if self.port == 0 {
                self.port = free_port().expect("a free port");
            }
            let within = |name: &str| self.folder.path().join(name).display().to_string();
            let mut arguments = vec![
                "--no-defaults".to_owned(),
                format!("--datadir={}", within("data")),
                format!("--socket={}", within("socket")),
                format!("--pid-file={}", within("pid")),
                format!("--port={}", self.port),
                "--bind-address=127.0.0.1".to_owned(),
                "--skip-name-resolve".to_owned(),
                "--innodb-buffer-pool-size=32M".to_owned(),
            ];
            arguments.extend_from_slice(&self.settings);
            let log = self.folder.path().join("log");
            let mut running =
                Running::start(SERVER, &arguments, "KILL", &log).expect("the server's program runs");
            if running.listens(self.port) {
                self.running = Some(running);
                return;
            }
        }
        let log = fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
        panic!("MariaDB doesn't start:\n{log}");
    }

    /// Adds settings, which count from the next start on.
    pub fn configure(&mut self, settings: &[&str]) {
        self.settings.extend(settings.iter().map(|setting| (*setting).to_owned()));
    }

    /// Gives the files in its data folder to the server's user: those that a test has put there.
    ///
    /// # Panics
    /// When that can't be done.
    pub fn take_over(&self) {
        if is_root() {
            run(Command::new("chown").args(["-R", "postgres:postgres"]).arg(self.data()))
                .expect("files of our own");
        }
    }

    /// Kills the server, as a power cut would.
    ///
    /// # Panics
    /// When it wasn't running.
    pub fn kill(&mut self) {
        assert!(self.running.take().is_some(), "a running server");
    }

    /// Copies the data of a server that doesn't run into a folder beside it.
    ///
    /// # Panics
    /// When it runs, or can't be copied.
    pub fn copy_data(&self, name: &str) {
        assert!(self.running.is_none(), "a server that doesn't run");
        let mut copy = as_server("cp");
        run(copy.arg("-a").arg(self.data()).arg(self.folder.path().join(name))).expect("data are copied");
    }

    /// Puts such a copy in the place of the data: copied back once more, or renamed over.
    ///
    /// # Panics
    /// When the server runs, or there is no such copy.
    pub fn put_back(&mut self, name: &str, is_renamed: bool) {
        assert!(self.running.is_none(), "a server that doesn't run");
        let copy = self.folder.path().join(name);
        fs::remove_dir_all(self.data()).expect("data of our own");
        if is_renamed {
            fs::rename(copy, self.data()).expect("a copy is renamed");
        } else {
            run(as_server("cp").arg("-a").arg(copy).arg(self.data())).expect("a copy is copied back");
        }
    }

    /// Makes it a replica of `primary`, by global transaction ids, from the first transaction on.
    ///
    /// # Panics
    /// When it doesn't take that.
    pub fn follow(&self, primary: &Self) {
        let sql = format!(
            "CHANGE MASTER TO MASTER_HOST = '127.0.0.1', MASTER_PORT = {}, MASTER_USER = 'root', MASTER_USE_GTID = slave_pos; \
             START SLAVE",
            primary.port
        );
        self.query("", &sql).expect("a replica takes its primary");
    }

    /// Waits until a replica has carried out all that `primary` has written so far.
    ///
    /// # Panics
    /// When either doesn't answer, or after 20 seconds.
    pub fn catches_up(&self, primary: &Self) {
        let ids = primary.query("", "SELECT @@global.gtid_binlog_pos").expect("a primary answers");
        let sql = format!("SELECT MASTER_GTID_WAIT('{ids}', 20)");
        assert_eq!(self.query("", &sql).expect("a replica answers"), "0", "the replica doesn't follow");
    }

    /// Makes a replica deaf: what its primary writes from now on is lost to it.
    ///
    /// # Panics
    /// When it doesn't answer.
    pub fn unfollow(&self) {
        self.query("", "STOP SLAVE").expect("a replica answers");
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

    /// The definitions of a database, as `mariadb-dump` writes them.
    ///
    /// # Errors
    /// What `mariadb-dump` says.
    pub fn definitions(&self, database: &str) -> std::io::Result<String> {
        let mut dump = Command::new("mariadb-dump");
        dump.args(["--no-defaults", "-u", "root", "-S"]).arg(self.socket());
        run(dump.args(["--no-data", "--skip-lock-tables", database]))
    }

    /// The folder of its data, whose name doesn't change.
    #[must_use]
    pub fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn socket(&self) -> PathBuf {
        self.folder.path().join("socket")
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
