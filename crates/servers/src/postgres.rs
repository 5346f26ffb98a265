//! PostgreSQL servers: started, stopped, killed, copied, followed and promoted.

use super::place::{Folder, Running, all_end, as_server, free_port, give_to_server, run, silent};
use mintage::time::pause;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

/// How long something is waited for, in steps of 20 ms.
const STEPS: u32 = 1_000;

/// A server without passwords, whose superuser is `postgres`: on 127.0.0.1, or by a socket that its user alone may open.
#[derive(Debug)]
pub struct Postgres {
    // Dropped in this order: the server first, then its data.
    running: Option<Running>,
    programs: PathBuf,
    port: u16,
    /// Whether nobody else on the machine can reach it: no port, only a socket in its folder.
    is_private: bool,
    folder: Folder,
}

impl Postgres {
    /// A new server by these programs, with these settings besides the usual ones. It runs, and everybody on the machine can reach it.
    ///
    /// # Errors
    /// What its programs say.
    pub fn start(programs: &Path, settings: &[(&str, &str)]) -> io::Result<Self> {
        Self::start_as(programs, settings, false)
    }

    /// The same, for machines that others use too: without a port, and with a socket that nobody but its user can open.
    ///
    /// # Errors
    /// What its programs say.
    pub fn start_private(programs: &Path, settings: &[(&str, &str)]) -> io::Result<Self> {
        Self::start_as(programs, settings, true)
    }

    fn start_as(programs: &Path, settings: &[(&str, &str)], is_private: bool) -> io::Result<Self> {
        let folder = Folder::of_server("postgres")?;
        let mut initdb = as_server(&name(programs, "initdb"));
        initdb.args(["-U", "postgres", "--auth=trust", "--no-sync", "-E", "UTF8", "--locale=C", "-D"]);
        run(initdb.arg(folder.path().join("data")))?;
        let mut server = Self { running: None, programs: programs.to_owned(), port: 0, is_private, folder };
        server.configure(settings)?;
        server.start_again()?;
        Ok(server)
    }

    /// Adds settings to its file; those that were there before count for less. A server reads them when it starts.
    ///
    /// # Errors
    /// When the file can't be written.
    pub fn configure(&self, settings: &[(&str, &str)]) -> io::Result<()> {
        let mut text = format!(
            "listen_addresses = '{}'\nunix_socket_directories = '{}'\nwal_level = replica\nmax_wal_senders = 8\n\
             max_connections = 200\nshared_buffers = '16MB'\n",
            if self.is_private { "" } else { "127.0.0.1" },
            self.folder.path().display()
        );
        for (name, value) in settings {
            text.push_str(&format!("{name} = '{value}'\n"));
        }
        let path = self.data().join("postgresql.conf");
        let before = fs::read_to_string(&path)?;
        fs::write(&path, before + &text)
    }

    /// Starts a server that was stopped or killed, at the port it had.
    ///
    /// # Errors
    /// The end of its log, when it doesn't start.
    pub fn start_again(&mut self) -> io::Result<()> {
        // A free port may be taken by another before the server has it.
        for _ in 0..5 {
            if self.port == 0 {
                self.port = free_port()?;
            }
            let arguments =
                ["-D".to_owned(), self.data().display().to_string(), "-p".to_owned(), self.port.to_string()];
            let program = name(&self.programs, "postgres");
            let mut running = Running::start(&program, &arguments, "QUIT", &self.log())?;
            if (self.is_private || running.listens(self.port)) && self.answers(&mut running) {
                self.running = Some(running);
                return Ok(());
            }
            drop(running);
            // Nobody else can have taken its socket.
            if self.is_private {
                break;
            }
        }
        Err(silent("PostgreSQL", &self.log()))
    }

    /// Whether it answers before it ends, and within some seconds.
    fn answers(&self, running: &mut Running) -> bool {
        for _ in 0..200 {
            if self.query("postgres", "SELECT 'yes'").is_ok_and(|found| found == "yes") {
                return true;
            }
            if !running.is_alive() {
                return false;
            }
            pause(20_000_000);
        }
        false
    }

    /// Kills every process of the server at once, as a power cut would.
    ///
    /// # Errors
    /// When the server wasn't running.
    pub fn kill(&mut self) -> io::Result<()> {
        let text = fs::read_to_string(self.data().join("postmaster.pid"))?;
        let server = text.lines().next().unwrap_or_default().to_owned();
        // Stopped, it begins no others while those that it has are looked for.
        let _ = Command::new("kill").args(["-STOP", &server]).status();
        let children = Command::new("pgrep").args(["-P", &server]).output()?.stdout;
        let children = String::from_utf8_lossy(&children);
        let all: Vec<&str> = children.lines().chain([server.as_str()]).collect();
        let _ = Command::new("kill").arg("-KILL").args(&all).status();
        self.running = None;
        // Its memory and its sockets are theirs until the last has ended.
        if !all_end(&all) {
            return Err(io::Error::other("processes of a PostgreSQL server that was killed don't end"));
        }
        let _ = fs::remove_file(self.data().join("postmaster.pid"));
        Ok(())
    }

    /// Ends the server at once and cleanly enough: connections are cut, nothing is lost.
    pub fn stop(&mut self) {
        self.running = None;
    }

    /// Where it can be reached: `postgres://postgres@127.0.0.1:PORT/DATABASE`, of a private one with its folder as the host.
    #[must_use]
    pub fn url(&self, database: &str) -> String {
        let host = if self.is_private { encoded(self.folder.path()) } else { "127.0.0.1".to_owned() };
        format!("postgres://postgres@{host}:{}/{database}", self.port)
    }

    /// The folder of its programs: `psql`, `pg_dump`.
    #[must_use]
    pub fn programs(&self) -> &Path {
        &self.programs
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

    fn log(&self) -> PathBuf {
        self.folder.path().join("log")
    }

    /// Runs SQL by `psql`; the rows, unaligned and without headers.
    ///
    /// # Errors
    /// What `psql` says.
    pub fn query(&self, database: &str, sql: &str) -> io::Result<String> {
        let mut psql = Command::new(name(&self.programs, "psql"));
        psql.args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-c", sql, &self.url(database)]);
        Ok(run(&mut psql)?.trim_end().to_owned())
    }

    /// The definitions of a database, as `pg_dump` writes them.
    ///
    /// # Errors
    /// What `pg_dump` says.
    pub fn definitions(&self, database: &str) -> io::Result<String> {
        run(Command::new(name(&self.programs, "pg_dump")).args(["-s", "-d", &self.url(database)]))
    }

    /// A base backup of it, as a server of its own that isn't started; `follows` makes it a replica.
    ///
    /// # Errors
    /// When the backup can't be made.
    pub fn backup(&self, follows: bool) -> io::Result<Self> {
        let folder = Folder::of_server("postgres")?;
        let data = folder.path().join("data");
        let mut command = as_server(&name(&self.programs, "pg_basebackup"));
        command
            .args(["-X", "stream", "-c", "fast", "--no-sync", "-d", &self.url("postgres"), "-D"])
            .arg(&data);
        if follows {
            command.arg("-R");
        }
        run(&mut command)?;
        let server = Self {
            running: None,
            programs: self.programs.clone(),
            port: 0,
            is_private: self.is_private,
            folder,
        };
        server.configure(&[])?;
        Ok(server)
    }

    /// Puts the data of a backup in the place of its own, as a restore does. The server is stopped.
    ///
    /// # Errors
    /// When it can't be copied.
    pub fn restore(&mut self, backup: &Self) -> io::Result<()> {
        self.running = None;
        fs::remove_dir_all(self.data())?;
        let mut copy = as_server("cp");
        run(copy.arg("-a").arg(backup.data()).arg(self.data()))?;
        self.configure(&[])
    }

    /// Makes a replica deaf: what its primary writes from now on is lost to it.
    ///
    /// # Errors
    /// When it doesn't answer, or goes on following for 20 seconds.
    pub fn unfollow(&self) -> io::Result<()> {
        self.query("postgres", "ALTER SYSTEM SET primary_conninfo = ''")?;
        self.query("postgres", "SELECT pg_reload_conf()")?;
        self.waits("SELECT count(*) FROM pg_stat_wal_receiver", "0", "the replica goes on following")
    }

    /// Gives the files in its data folder to the server's user: those that somebody else has put there.
    ///
    /// # Errors
    /// When that can't be done.
    pub fn take_over(&self) -> io::Result<()> {
        give_to_server(&self.data())
    }

    /// Makes a replica a primary.
    ///
    /// # Errors
    /// When it isn't a replica, or isn't a primary after 20 seconds.
    pub fn promote(&self) -> io::Result<()> {
        match self.query("postgres", "SELECT pg_promote(true, 20)")?.as_str() {
            "t" => Ok(()),
            _ => Err(io::Error::other("the replica isn't promoted after 20 s")),
        }
    }

    /// Waits until a replica has replayed all that `primary` has written so far.
    ///
    /// # Errors
    /// When either doesn't answer, or after 20 seconds.
    pub fn catches_up(&self, primary: &Self) -> io::Result<()> {
        let lsn = primary.query("postgres", "SELECT pg_current_wal_flush_lsn()")?;
        let sql = format!("SELECT pg_last_wal_replay_lsn() >= '{lsn}'");
        self.waits(&sql, "t", "the replica doesn't follow")
    }

    /// Waits until a query of the database `postgres` answers so.
    ///
    /// # Errors
    /// `otherwise`, after 20 seconds.
    pub fn waits(&self, sql: &str, answer: &str, otherwise: &'static str) -> io::Result<()> {
        if self.becomes(sql, answer)? { Ok(()) } else { Err(io::Error::other(otherwise)) }
    }

    fn becomes(&self, sql: &str, answer: &str) -> io::Result<bool> {
        for _ in 0..STEPS {
            // It may be on its way up.
            if self.query("postgres", sql).is_ok_and(|found| found == answer) {
                return Ok(true);
            }
            pause(20_000_000);
        }
        Ok(false)
    }
}

/// Where the server's programs are: `given`, else the newest below `/usr/lib/postgresql`, else the folder of `postgres` on the PATH.
///
/// # Errors
/// Where it was looked, when there are none.
pub fn programs(given: Option<&Path>) -> io::Result<PathBuf> {
    let has_server = |folder: &PathBuf| folder.join("postgres").exists() && folder.join("initdb").exists();
    if let Some(given) = given {
        // A folder above `bin` is meant as well.
        let found = [given.to_owned(), given.join("bin")].into_iter().find(has_server);
        return found.ok_or_else(|| {
            let told =
                format!("{}: neither `postgres` and `initdb` nor a folder `bin` with them", given.display());
            io::Error::new(io::ErrorKind::NotFound, told)
        });
    }
    let mut versions: Vec<(u32, PathBuf)> = fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .filter_map(Result::ok)
        .filter_map(|entry| Some((entry.file_name().to_str()?.parse().ok()?, entry.path().join("bin"))))
        .collect();
    versions.sort();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let newest = versions.into_iter().rev().map(|(_, programs)| programs);
    newest.chain(std::env::split_paths(&path)).find(has_server).ok_or_else(|| {
        let told = "no PostgreSQL server below /usr/lib/postgresql or on the PATH; install postgresql, or name the folder of its programs";
        io::Error::new(io::ErrorKind::NotFound, told)
    })
}

/// A path as it stands in a URL: all but letters and digits as `%2F`.
fn encoded(path: &Path) -> String {
    let bytes = path.as_os_str().as_encoded_bytes().iter();
    bytes
        .map(|byte| {
            if byte.is_ascii_alphanumeric() { char::from(*byte).to_string() } else { format!("%{byte:02X}") }
        })
        .collect()
}

fn name(programs: &Path, program: &str) -> String {
    programs.join(program).display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_does_not_start_is_told_of_with_its_log() {
        let Ok(programs) = programs(None) else { return };
        let refused =
            Postgres::start_private(&programs, &[("wal_level", "nonsense")]).unwrap_err().to_string();
        assert!(refused.contains("doesn't start") && refused.contains("nonsense"), "{refused}");
    }
}
