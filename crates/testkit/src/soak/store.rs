//! The store of a run: a file, or a server of its own behind proxies.

use super::cuttable::Cuttable;
use super::servers::Servers;
use super::{Options, scenes};
use crate::proxy::{Mode, Proxy};
use anyhow::{Context, Result, ensure};
use mintage_servers::place::Folder;
use serde_json::Value;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

/// Which store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A file of SQLite.
    Sqlite,
    /// A server of PostgreSQL.
    Postgres,
    /// A server of MariaDB.
    MariaDb,
    /// A cluster of three members of etcd.
    Etcd,
    /// An ensemble of three servers of ZooKeeper.
    ZooKeeper,
}

impl Kind {
    /// All of them.
    pub const ALL: &[Self] = &[Self::Sqlite, Self::Postgres, Self::MariaDb, Self::Etcd, Self::ZooKeeper];

    /// The one of this word.
    #[must_use]
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.name() == name)
    }

    /// Whether its servers are installed; a file needs none.
    ///
    /// # Errors
    /// What was looked for and isn't there.
    pub fn installed(self) -> io::Result<()> {
        match self {
            Self::Sqlite => Ok(()),
            Self::Postgres => mintage_servers::postgres::programs(None).map(drop),
            Self::MariaDb => mintage_servers::mariadb::installed(),
            Self::Etcd => mintage_servers::etcd::installed(),
            Self::ZooKeeper => mintage_servers::zookeeper::installed(),
        }
    }

    /// Its word.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sqlite => "sqlite",
            Self::Postgres => "postgres",
            Self::MariaDb => "mariadb",
            Self::Etcd => "etcd",
            Self::ZooKeeper => "zookeeper",
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
    /// The same, reached through proxies that can be cut.
    TheirsThroughProxies(String),
    /// A copy of somebody's file of SQLite, of the run's own.
    CopyOf(PathBuf),
}

impl Whose {
    /// The word of its kind.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Own(kind) => kind.name(),
            // What follows may have a password in it.
            Self::Theirs(url) | Self::TheirsThroughProxies(url) => url.split(':').next().unwrap_or_default(),
            Self::CopyOf(_) => Kind::Sqlite.name(),
        }
    }

    /// Whether it is the run's own, of this kind.
    #[must_use]
    pub fn is_own(&self, kind: Kind) -> bool {
        *self == Self::Own(kind)
    }
}

/// A folder for a run.
#[derive(Debug)]
pub enum Scratch {
    /// One's own, removed with its handle.
    Own(Folder),
    /// One that stays.
    Kept(PathBuf),
}

impl Scratch {
    /// A new one.
    ///
    /// # Errors
    /// When it can't be made.
    pub fn new() -> Result<Self> {
        Ok(Self::Own(Folder::new("soak")?))
    }

    /// One that is there, or is made, and stays.
    ///
    /// # Errors
    /// When it can't be made.
    pub fn kept(path: &Path) -> Result<Self> {
        fs::create_dir_all(path).with_context(|| format!("making {}", path.display()))?;
        Ok(Self::Kept(path.canonicalize()?))
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        match self {
            Self::Own(folder) => folder.path(),
            Self::Kept(path) => path,
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
    /// One that was there, behind proxies.
    Cuttable(Cuttable),
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
    /// The servers, or those that took their place.
    pub servers: Servers,
    /// For each process, one before each server.
    pub proxies: Vec<Vec<Proxy>>,
}

/// The database of the store.
pub const DATABASE: &str = "postgres";

/// The highest mark that a database knows.
pub const HIGH_MARK: &str = "SELECT coalesce(max(high_mark), 0) FROM mintage.state";

impl Store {
    /// A new store for so many processes.
    ///
    /// # Errors
    /// When its server isn't installed or doesn't start, or a proxy can't listen.
    pub fn start(whose: &Whose, processes: usize, scratch: &Arc<Scratch>) -> Result<Self> {
        match whose {
            Whose::Theirs(url) => Ok(Self::Theirs(url.clone())),
            Whose::TheirsThroughProxies(url) => Ok(Self::Cuttable(Cuttable::start(url, processes)?)),
            Whose::Own(Kind::Sqlite) => Ok(Self::File(FilePlace { path: scratch.path().join("ids.db") })),
            Whose::CopyOf(path) => {
                let place = FilePlace { path: scratch.path().join("ids.db") };
                FilePlace { path: path.clone() }.copy_to(&place)?;
                Ok(Self::File(place))
            }
            Whose::Own(kind) => {
                let servers = Servers::start(*kind)?;
                let before = |port: &u16| Proxy::before(*port);
                let of_process = |_| servers.ports().iter().map(before).collect::<io::Result<Vec<Proxy>>>();
                let proxies = (0..processes).map(of_process).collect::<io::Result<_>>();
                let proxies = proxies.context("listening on 127.0.0.1")?;
                Ok(Self::Server(ServerPlace { servers, proxies }))
            }
        }
    }

    /// Its URL for an operator, who is never cut off.
    #[must_use]
    pub fn url(&self) -> String {
        match self {
            Self::File(place) => format!("sqlite:{}", place.path.display()),
            Self::Server(place) => place.servers.url(&place.servers.ports()),
            Self::Theirs(url) | Self::Cuttable(Cuttable { url, .. }) => url.clone(),
        }
    }

    /// Its URL for process `number`.
    #[must_use]
    pub fn url_of(&self, number: usize) -> String {
        match self {
            Self::Server(ServerPlace { servers, proxies }) if number < proxies.len() => {
                let ports: Vec<u16> = proxies[number].iter().map(Proxy::port).collect();
                servers.url(&ports)
            }
            Self::Cuttable(cuttable) => cuttable.url_of(number),
            _ => self.url(),
        }
    }

    /// For each process, what its connections pass through: nothing where they lead to the store at once.
    #[must_use]
    pub fn proxies(&self) -> &[Vec<Proxy>] {
        match self {
            Self::Server(place) => &place.proxies,
            Self::Cuttable(cuttable) => &cuttable.proxies,
            Self::File(_) | Self::Theirs(_) => &[],
        }
    }

    /// Makes a space, by `mintage store create` with these flags.
    ///
    /// # Errors
    /// What the command says.
    pub fn create(&self, program: &Path, space: &str, flags: &[String]) -> Result<()> {
        let mut command = at_store(program, &self.url());
        command.args(["store", "create", space]).args(flags);
        output(&mut command).map(|_| ())
    }

    /// Drops the spaces of the run where the store stays.
    ///
    /// # Errors
    /// What the command says.
    pub fn clean_up(&self, options: &Options) -> Result<()> {
        let (Self::Theirs(url) | Self::Cuttable(Cuttable { url, .. })) = self else { return Ok(()) };
        let mut spaces = vec![options.space.clone()];
        spaces.extend(options.scenes.then(|| scenes::spaces(options)).into_iter().flatten());
        for space in spaces {
            let mut command = at_store(&options.program, url);
            command.args(["store", "drop", &space]);
            output(&mut command)?;
        }
        Ok(())
    }

    /// A space, as `mintage store show` tells of it.
    ///
    /// # Errors
    /// What the command says.
    pub fn show(&self, program: &Path, space: &str) -> Result<Value> {
        let mut command = at_store(program, &self.url());
        command.args(["store", "show", space, "--json"]);
        serde_json::from_slice(&output(&mut command)?).context("`store show` prints JSON")
    }
}

/// The command with its store in the environment: arguments can be seen by every user of the host, and a URL may have a password.
pub(super) fn at_store(program: &Path, url: &str) -> Command {
    let mut command = Command::new(program);
    command.env("MINTAGE_STORE", url);
    command
}

fn output(command: &mut Command) -> Result<Vec<u8>> {
    let words: Vec<String> = command.get_args().map(|word| word.to_string_lossy().into_owned()).collect();
    let words = words.join(" ");
    let output = command.stdin(Stdio::null()).output().with_context(|| format!("running mintage {words}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    let said = said.trim_end();
    ensure!(output.status.success(), "{}", said.strip_prefix("mintage: ").unwrap_or(said));
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

    /// Copies the file and its side-car as they stand between two transactions.
    ///
    /// # Errors
    /// When there is no store in the file, or the copy can't be written.
    pub fn copy_to(&self, other: &Self) -> Result<()> {
        let copied = |from: &Path, to: &Path| {
            fs::copy(from, to).with_context(|| format!("copying {} to {}", from.display(), to.display()))
        };
        let _lock = self.lock().with_context(|| format!("{}: no store is there", self.path.display()))?;
        copied(&self.path, &other.path)?;
        copied(&self.side_car(), &other.side_car())?;
        Ok(())
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
        for proxy in self.proxies.iter().flatten() {
            proxy.set(mode);
        }
    }

    /// The highest mark that the server knows.
    ///
    /// # Errors
    /// When it doesn't answer.
    pub fn high_mark(&mut self) -> Result<u64> {
        Ok(self.servers.postgres()?.query(DATABASE, HIGH_MARK)?.parse()?)
    }
}
