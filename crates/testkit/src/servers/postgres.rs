//! PostgreSQL servers: started, stopped, killed, copied, followed and promoted.

use super::place::{Folder, Running, as_server, free_port, is_root, missing, run};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// A server on 127.0.0.1 without passwords, whose superuser is `postgres`.
#[derive(Debug)]
pub struct Postgres {
    // Dropped in this order: the server first, then its data.
    running: Option<Running>,
    programs: PathBuf,
    port: u16,
    folder: Folder,
}

impl Postgres {
    /// A new server with these settings besides the usual ones; `None` when PostgreSQL isn't installed.
    ///
    /// # Panics
    /// When it is installed and doesn't start.
    #[must_use]
    pub fn start(settings: &[(&str, &str)]) -> Option<Self> {
        let Some(programs) = programs() else {
            missing("PostgreSQL");
            return None;
        };
        Some(Self::start_from(programs, settings))
    }

    /// A new server of this major version; `None` when it isn't installed.
    ///
    /// # Panics
    /// When it is installed and doesn't start.
    #[must_use]
    pub fn start_version(version: u32, settings: &[(&str, &str)]) -> Option<Self> {
        let Some(programs) = programs_of(version) else {
            missing(&format!("PostgreSQL {version}"));
            return None;
        };
        Some(Self::start_from(programs, settings))
    }

    fn start_from(programs: PathBuf, settings: &[(&str, &str)]) -> Self {
        let folder = Folder::new("postgres").expect("a folder for temporary files");
        let data = folder.path().join("data");
        let mut initdb = as_server(&name(&programs, "initdb"));
        initdb.args(["-U", "postgres", "--auth=trust", "--no-sync", "-E", "UTF8", "--locale=C", "-D"]);
        run(initdb.arg(&data)).expect("initdb makes a data folder");
        let mut server = Self { running: None, programs, port: 0, folder };
        server.configure(settings);
        server.start_again();
        server
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
        let mut text = format!(
            "listen_addresses = '127.0.0.1'\nunix_socket_directories = '{}'\nwal_level = replica\nmax_wal_senders = 8\n\
             max_connections = 200\nshared_buffers = '16MB'\n",
            self.folder.path().display()
        );
        for (name, value) in settings {
            text.push_str(&format!("{name} = '{value}'\n"));
        }
        let path = self.data().join("postgresql.conf");
        let before = fs::read_to_string(&path).expect("initdb has written it");
        fs::write(&path, before + &text).expect("it was written before");
    }

    /// Starts a server that was stopped or killed, at the port it had.
    ///
    /// # Panics
    /// When it doesn't start.
    pub fn start_again(&mut self) {
        self.running = None;
        for _ in 0..5 {
            if self.port == 0 {
                self.port = free_port().expect("a free port");
            }
            let arguments =
                ["-D".to_owned(), self.data().display().to_string(), "-p".to_owned(), self.port.to_string()];
            let log = self.folder.path().join("log");
            let program = name(&self.programs, "postgres");
            let mut running =
                Running::start(&program, &arguments, "QUIT", &log).expect("the server's program runs");
            if running.listens(self.port) && self.answers() {
                self.running = Some(running);
                return;
            }
            drop(running);
        }
        let log = fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
        panic!("PostgreSQL doesn't start:\n{log}");
    }

    fn answers(&self) -> bool {
        (0..200).any(|_| {
            let answers = self.query("postgres", "SELECT 1").is_ok();
            if !answers {
                mintage::time::pause(20_000_000);
            }
            answers
        })
    }

    /// Kills every process of the server at once, as a power cut would.
    ///
    /// # Panics
    /// When the server wasn't running.
    pub fn kill(&mut self) {
        let text = fs::read_to_string(self.data().join("postmaster.pid")).expect("a running server");
        let server = text.lines().next().unwrap_or_default().to_owned();
        // Its children first, while they can be told by their parent.
        let _ = Command::new("pkill").args(["-KILL", "-P", &server]).status();
        let _ = Command::new("kill").args(["-KILL", &server]).status();
        self.running = None;
        let _ = fs::remove_file(self.data().join("postmaster.pid"));
    }

    /// Ends the server at once and cleanly enough: connections are cut, nothing is lost.
    pub fn stop(&mut self) {
        self.running = None;
    }

    /// Where it can be reached: `postgres://postgres@127.0.0.1:PORT/DATABASE`.
    #[must_use]
    pub fn url(&self, database: &str) -> String {
        format!("postgres://postgres@127.0.0.1:{}/{database}", self.port)
    }

    /// Its port.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The folder of its data, whose name doesn't change.
    #[must_use]
    pub fn data(&self) -> PathBuf {
        self.folder.path().join("data")
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
    pub fn query(&self, database: &str, sql: &str) -> std::io::Result<String> {
        let mut psql = Command::new(name(&self.programs, "psql"));
        psql.args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-c", sql, &self.url(database)]);
        Ok(run(&mut psql)?.trim_end().to_owned())
    }

    /// A base backup of it, as a server of its own that isn't started; `follows` makes it a replica.
    ///
    /// # Panics
    /// When the backup can't be made.
    #[must_use]
    pub fn backup(&self, follows: bool) -> Self {
        let folder = Folder::new("postgres").expect("a folder for temporary files");
        let data = folder.path().join("data");
        let mut command = as_server(&name(&self.programs, "pg_basebackup"));
        command
            .args(["-X", "stream", "-c", "fast", "--no-sync", "-d", &self.url("postgres"), "-D"])
            .arg(&data);
        if follows {
            command.arg("-R");
        }
        run(&mut command).expect("pg_basebackup copies a running server");
        let server = Self { running: None, programs: self.programs.clone(), port: 0, folder };
        server.configure(&[]);
        server
    }

    /// Puts the data of a backup in the place of its own, as a restore does. The server must be stopped.
    ///
    /// # Panics
    /// When it can't be copied.
    pub fn restore(&mut self, backup: &Self) {
        self.running = None;
        fs::remove_dir_all(self.data()).expect("a folder of one's own");
        let mut copy = as_server("cp");
        run(copy.arg("-a").arg(backup.data()).arg(self.data())).expect("a backup is copied");
        self.configure(&[]);
    }

    /// Makes a replica deaf: what its primary writes from now on is lost to it.
    ///
    /// # Panics
    /// When it doesn't answer, or after 20 seconds.
    pub fn unfollow(&self) {
        self.query("postgres", "ALTER SYSTEM SET primary_conninfo = ''").expect("a replica takes settings");
        self.query("postgres", "SELECT pg_reload_conf()").expect("a replica takes settings");
        let is_deaf = (0..1_000).any(|_| {
            let count = self.query("postgres", "SELECT count(*) FROM pg_stat_wal_receiver");
            let is_deaf = count.is_ok_and(|count| count == "0");
            if !is_deaf {
                mintage::time::pause(20_000_000);
            }
            is_deaf
        });
        assert!(is_deaf, "the replica goes on following");
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

    /// Makes a replica a primary.
    ///
    /// # Panics
    /// When it isn't a replica.
    pub fn promote(&self) {
        self.query("postgres", "SELECT pg_promote(true, 20)").expect("a replica is promoted");
    }

    /// Waits until a replica has replayed all that `primary` has written so far.
    ///
    /// # Panics
    /// When either doesn't answer, or after 20 seconds.
    pub fn catches_up(&self, primary: &Self) {
        let lsn = primary.query("postgres", "SELECT pg_current_wal_flush_lsn()").expect("a primary answers");
        let sql = format!("SELECT pg_last_wal_replay_lsn() >= '{lsn}'");
        let is_there = (0..1_000).any(|_| {
            let is_there = self.query("postgres", &sql).is_ok_and(|answer| answer == "t");
            if !is_there {
                mintage::time::pause(20_000_000);
            }
            is_there
        });
        assert!(is_there, "the replica doesn't follow");
    }
}

fn name(programs: &Path, program: &str) -> String {
    programs.join(program).display().to_string()
}

/// The folder of the newest server programs.
fn programs() -> Option<PathBuf> {
    let mut versions: Vec<PathBuf> =
        fs::read_dir("/usr/lib/postgresql").ok()?.filter_map(Result::ok).map(|entry| entry.path()).collect();
    versions.sort();
    let newest = versions.into_iter().rev().map(|version| version.join("bin"));
    newest.into_iter().find(|programs| programs.join("postgres").exists())
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
