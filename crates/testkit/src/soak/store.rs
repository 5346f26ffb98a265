//! The store of a run: a file, or a server of its own behind proxies.

use super::{Options, scenes};
use crate::proxy::{Mode, Proxy};
use crate::servers::postgres::Postgres;
use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Which store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A file of SQLite.
    Sqlite,
    /// A server of PostgreSQL.
    Postgres,
}

impl Kind {
    /// Its word.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sqlite => "sqlite",
            Self::Postgres => "postgres",
        }
    }
}

/// A store of the run's own, or one that is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Whose {
    /// Made for the run, and thrown away.
    Own(Kind),
    /// Somebody's, by its URL: nothing is done to it but making spaces in it.
    Theirs(String),
}

impl Whose {
    /// The word of its kind.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Own(kind) => kind.name(),
            // What follows may have a password in it.
            Self::Theirs(url) => url.split(':').next().unwrap_or_default(),
        }
    }

    /// Whether it is the run's own, of this kind.
    #[must_use]
    pub fn is_own(&self, kind: Kind) -> bool {
        *self == Self::Own(kind)
    }
}

/// A folder of one's own, removed with its last handle unless it was named.
#[derive(Debug)]
pub struct Scratch {
    path: PathBuf,
    is_kept: bool,
}

impl Scratch {
    /// A new one.
    ///
    /// # Errors
    /// When it can't be made.
    pub fn new() -> Result<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("mintage-soak-{}-{count}", std::process::id()));
        fs::create_dir_all(&path).with_context(|| format!("making {}", path.display()))?;
        Ok(Self { path, is_kept: false })
    }

    /// One that is there, or is made, and stays.
    ///
    /// # Errors
    /// When it can't be made.
    pub fn kept(path: &Path) -> Result<Self> {
        fs::create_dir_all(path).with_context(|| format!("making {}", path.display()))?;
        Ok(Self { path: path.canonicalize()?, is_kept: true })
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // A folder left behind does no harm.
        if !self.is_kept {
            let _ = fs::remove_dir_all(&self.path);
        }
    }
}

/// The store of a run.
#[derive(Debug)]
pub enum Store {
    /// A file.
    File(FilePlace),
    /// A server.
    Server(ServerPlace),
    /// One that was there, by its URL.
    Theirs(String),
}

/// A store in a file.
#[derive(Clone, Debug)]
pub struct FilePlace {
    /// The file.
    pub path: PathBuf,
}

/// A store in a server.
#[derive(Debug)]
pub struct ServerPlace {
    /// The server, or the replica that took its place.
    pub server: Postgres,
    /// One a process.
    pub proxies: Vec<Proxy>,
}

/// The database of the store.
pub const DATABASE: &str = "postgres";

/// The highest mark that a database knows.
pub const HIGH_MARK: &str = "SELECT coalesce(max(high_mark), 0) FROM mintage.state";

impl Store {
    /// A new store for so many processes; `None` when its server isn't installed.
    ///
    /// # Errors
    /// When a proxy can't listen.
    pub fn start(whose: &Whose, processes: usize, scratch: &Arc<Scratch>) -> Result<Option<Self>> {
        match whose {
            Whose::Theirs(url) => Ok(Some(Self::Theirs(url.clone()))),
            Whose::Own(Kind::Sqlite) => {
                Ok(Some(Self::File(FilePlace { path: scratch.path().join("ids.db") })))
            }
            Whose::Own(Kind::Postgres) => {
                let Some(server) = Postgres::start(&[]) else { return Ok(None) };
                let proxies: io::Result<_> = (0..processes).map(|_| Proxy::before(server.port())).collect();
                Ok(Some(Self::Server(ServerPlace { server, proxies: proxies? })))
            }
        }
    }

    /// Its URL for an operator, who is never cut off.
    #[must_use]
    pub fn url(&self) -> String {
        match self {
            Self::File(place) => format!("sqlite:{}", place.path.display()),
            Self::Server(place) => place.server.url(DATABASE),
            Self::Theirs(url) => url.clone(),
        }
    }

    /// Its URL for process `number`.
    #[must_use]
    pub fn url_of(&self, number: usize) -> String {
        match self {
            Self::Server(ServerPlace { proxies, .. }) if number < proxies.len() => {
                format!("postgres://postgres@127.0.0.1:{}/{DATABASE}", proxies[number].port())
            }
            _ => self.url(),
        }
    }

    /// Makes a space, by `mintage store create` with these flags.
    ///
    /// # Errors
    /// What the command says.
    pub fn create(&self, program: &Path, space: &str, flags: &[String]) -> Result<()> {
        let mut command = Command::new(program);
        command.args(["store", "create", &self.url(), space]).args(flags);
        output(&mut command).map(|_| ())
    }

    /// Drops the spaces of the run where the store stays.
    ///
    /// # Errors
    /// What the command says.
    pub fn clean_up(&self, options: &Options) -> Result<()> {
        let Self::Theirs(url) = self else { return Ok(()) };
        let mut spaces = vec![options.space.clone()];
        spaces.extend(options.scenes.then(|| scenes::spaces(options)).into_iter().flatten());
        for space in spaces {
            let mut command = Command::new(&options.program);
            command.args(["store", "drop", url, &space]);
            output(&mut command)?;
        }
        Ok(())
    }

    /// A space, as `mintage store show` tells of it.
    ///
    /// # Errors
    /// What the command says.
    pub fn show(&self, program: &Path, space: &str) -> Result<Value> {
        let mut command = Command::new(program);
        command.args(["store", "show", &self.url(), space, "--json"]);
        serde_json::from_slice(&output(&mut command)?).context("`store show` prints JSON")
    }
}

fn output(command: &mut Command) -> Result<Vec<u8>> {
    let output = command.stdin(Stdio::null()).output().with_context(|| format!("running {command:?}"))?;
    ensure!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    Ok(output.stdout)
}

impl FilePlace {
    /// The side-car, whose lock every transaction takes.
    #[must_use]
    pub fn side_car(&self) -> PathBuf {
        PathBuf::from(format!("{}-serial", self.path.display()))
    }

    /// Takes that lock: as long as it is held, nobody has a transaction open.
    ///
    /// # Errors
    /// When there is no side-car.
    pub fn lock(&self) -> Result<File> {
        loop {
            let file = File::open(self.side_car())?;
            file.lock()?;
            // A lock on a file that isn't there any more keeps nobody out.
            if file.metadata()?.ino() == fs::metadata(self.side_car())?.ino() {
                return Ok(file);
            }
        }
    }

    /// How many commits were answered, as the side-car says.
    ///
    /// # Errors
    /// When it says nothing.
    pub fn revision(&self) -> Result<u64> {
        let text = fs::read_to_string(self.side_car())?;
        let number = text.split(|c: char| !c.is_ascii_digit()).find(|word| !word.is_empty());
        number
            .and_then(|number| number.parse().ok())
            .with_context(|| format!("a side-car that says {text:?}"))
    }
}

impl ServerPlace {
    /// Changes what every proxy does.
    pub fn set_all(&self, mode: Mode) {
        for proxy in &self.proxies {
            proxy.set(mode);
        }
    }

    /// The highest mark that the server knows.
    ///
    /// # Errors
    /// When it doesn't answer.
    pub fn high_mark(&self) -> Result<u64> {
        Ok(self.server.query(DATABASE, HIGH_MARK)?.parse()?)
    }
}
