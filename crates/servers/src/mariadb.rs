//! MariaDB servers.

use super::place::{Folder, Running, as_server, free_port, give_to_server, missing, run, silent};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

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
    /// A new server with these settings besides the usual ones.
    ///
    /// # Errors
    /// When it isn't installed ([`io::ErrorKind::NotFound`]), and what its programs say.
    pub fn start(settings: &[&str]) -> io::Result<Self> {
        installed()?;
        let folder = Folder::of_server("mariadb")?;
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
        let installed = run(install.arg(format!("--datadir={}", server.data().display())));
        installed.map_err(|error| {
            io::Error::other(format!(
                "making MariaDB's data folder: {error}; `mariadb-install-db` comes with the server's package and must be on the PATH"
            ))
        })?;
        server.start_again()?;
        Ok(server)
    }

    /// Starts a server that was stopped or killed, at the port it had. The second in which it started is another one than before: its
    /// clients can't tell starts of one second apart.
    ///
    /// # Errors
    /// The end of its log, when it doesn't start.
    pub fn start_again(&mut self) -> io::Result<()> {
        if self.port != 0 {
            mintage::time::pause(1_100_000_000);
        }
        let log = self.folder.path().join("log");
        // A free port may be taken by another before the server has it.
        for _ in 0..5 {
            if self.port == 0 {
                self.port = free_port()?;
            }
            let within = |name: &str| self.folder.path().join(name).display().to_string();
            let mut arguments = vec![
                "--no-defaults".to_owned(),
                format!("--datadir={}", within("data")),
                format!("--socket={}", within("socket")),
                format!("--pid-file={}", within("pid")),
                // Its user may not write where this process's does.
                format!("--tmpdir={}", self.folder.path().display()),
                format!("--port={}", self.port),
                "--bind-address=127.0.0.1".to_owned(),
                "--skip-name-resolve".to_owned(),
                "--innodb-buffer-pool-size=32M".to_owned(),
            ];
            arguments.extend_from_slice(&self.settings);
            let mut running = Running::start(SERVER, &arguments, "KILL", &log)?;
            if running.listens(self.port) {
                self.running = Some(running);
                return Ok(());
            }
        }
        Err(silent("MariaDB", &log))
    }

    /// Adds settings, which count from the next start on.
    pub fn configure(&mut self, settings: &[&str]) {
        self.settings.extend(settings.iter().map(|setting| (*setting).to_owned()));
    }

    /// Gives the files in its data folder to the server's user: those that somebody else has put there.
    ///
    /// # Errors
    /// When that can't be done.
    pub fn take_over(&self) -> io::Result<()> {
        give_to_server(&self.data())
    }

    /// Kills the server, as a power cut would.
    ///
    /// # Errors
    /// When it wasn't running.
    pub fn kill(&mut self) -> io::Result<()> {
        self.running.take().map(drop).ok_or_else(|| io::Error::other("MariaDB wasn't running"))
    }

    /// Copies the data of a server that doesn't run into a folder beside it.
    ///
    /// # Errors
    /// When it runs, or can't be copied.
    pub fn copy_data(&self, name: &str) -> io::Result<()> {
        self.is_down()?;
        run(as_server("cp").arg("-a").arg(self.data()).arg(self.folder.path().join(name)))?;
        Ok(())
    }

    /// Puts such a copy in the place of the data: copied back once more, or renamed over.
    ///
    /// # Errors
    /// When the server runs, or there is no such copy.
    pub fn put_back(&mut self, name: &str, is_renamed: bool) -> io::Result<()> {
        self.is_down()?;
        let copy = self.folder.path().join(name);
        fs::remove_dir_all(self.data())?;
        if is_renamed {
            return fs::rename(copy, self.data());
        }
        run(as_server("cp").arg("-a").arg(copy).arg(self.data()))?;
        Ok(())
    }

    fn is_down(&self) -> io::Result<()> {
        if self.running.is_some() {
            return Err(io::Error::other("MariaDB runs; its data are copied only while it doesn't"));
        }
        Ok(())
    }

    /// Makes it a replica of `primary`, by global transaction ids, from the first transaction on.
    ///
    /// # Errors
    /// When it doesn't take that.
    pub fn follow(&self, primary: &Self) -> io::Result<()> {
        let sql = format!(
            "CHANGE MASTER TO MASTER_HOST = '127.0.0.1', MASTER_PORT = {}, MASTER_USER = 'root', MASTER_USE_GTID = slave_pos; \
             START SLAVE",
            primary.port
        );
        self.query("", &sql).map(drop)
    }

    /// Waits until a replica has carried out all that `primary` has written so far.
    ///
    /// # Errors
    /// When either doesn't answer, or after 20 seconds.
    pub fn catches_up(&self, primary: &Self) -> io::Result<()> {
        let ids = primary.query("", "SELECT @@global.gtid_binlog_pos")?;
        match self.query("", &format!("SELECT MASTER_GTID_WAIT('{ids}', 20)"))?.as_str() {
            "0" => Ok(()),
            _ => Err(io::Error::other("the replica doesn't follow")),
        }
    }

    /// Makes a replica deaf: what its primary writes from now on is lost to it.
    ///
    /// # Errors
    /// When it doesn't answer.
    pub fn unfollow(&self) -> io::Result<()> {
        self.query("", "STOP SLAVE").map(drop)
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

    /// Runs SQL by the client `mariadb`; the rows, their columns apart by tabs.
    ///
    /// # Errors
    /// What the client says.
    pub fn query(&self, database: &str, sql: &str) -> io::Result<String> {
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
    pub fn definitions(&self, database: &str) -> io::Result<String> {
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

/// Whether the server is installed.
///
/// # Errors
/// What was looked for, when it isn't.
pub fn installed() -> io::Result<()> {
    if Path::new(SERVER).exists() {
        Ok(())
    } else {
        Err(missing("MariaDB", &format!("there is no {SERVER}")))
    }
}
