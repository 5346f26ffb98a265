//! The store in a file, for the processes of one host: `sqlite:PATH`.
//!
//! A rollback journal that is truncated, not a write-ahead log: at rest the store is one file, so that whoever copies, restores or
//! renames it handles all of it, and a log left beside a restored file can't be played into it. With `synchronous=FULL` a commit
//! is durable when it returns: the truncation is synced too. Rule 10.
//!
//! The work is done by one thread a handle. Between processes the side-car's lock orders transactions (see [`file`]).

mod file;
mod keeper;
mod meta;
mod rows;

use crate::clock::{HostClock, SystemHostClock};
use crate::error::Error;
use crate::request::{Answered, Caller, Request, Shown};
use crate::space::Space;
use crate::store::{Answering, CheckLine, CreateOptions, Deadline, OpenOptions, Store, StoreEntry, redacted};
use keeper::{Keeper, Settings};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, mpsc};
use tokio::sync::oneshot;

/// The list line of this store.
pub const ENTRY: StoreEntry = StoreEntry {
    url_schemes: &["sqlite"],
    summary: "a file, for the processes of one host",
    example: "sqlite:/var/lib/mintage/ids.db",
    open,
    schema: || format!("{SCHEMA}\n{SCOPES}"),
};

const SCHEMA: &str = include_str!("sqlite/schema.sql");

/// What version 2 adds.
const SCOPES: &str = include_str!("sqlite/scopes.sql");

fn open(url: &str, options: OpenOptions) -> Result<Arc<dyn Store>, Error> {
    Ok(Arc::new(Sqlite::open(url, options)?))
}

/// A handle of a store in a file.
#[derive(Debug)]
pub struct Sqlite {
    url: String,
    path: PathBuf,
    clock: Arc<dyn HostClock>,
    /// Which process opened it. Rule 8.
    generation: u64,
    jobs: mpsc::Sender<Job>,
}

/// The path without symbolic links, which would give one file several side-cars.
fn resolved(path: &Path) -> Result<PathBuf, String> {
    let path = std::path::absolute(path).map_err(|error| error.to_string())?;
    if let Ok(file) = path.canonicalize() {
        return Ok(file);
    }
    if path.is_symlink() {
        return Err(format!("{} is a link that leads nowhere", path.display()));
    }
    match (path.parent().map(Path::canonicalize), path.file_name()) {
        (Some(Ok(folder)), Some(name)) => Ok(folder.join(name)),
        // The folder isn't there, which whoever opens the file is told.
        _ => Ok(path),
    }
}

type Job = Box<dyn FnOnce(&mut Keeper) + Send>;

impl Sqlite {
    /// The store of a URL `sqlite:PATH`. The file is opened by the first call.
    ///
    /// # Errors
    /// [`Error::Url`] without a path.
    pub fn open(url: &str, options: OpenOptions) -> Result<Self, Error> {
        let fault = |fault: &str| Error::Url { url: redacted(url), fault: fault.to_owned() };
        let path = url.strip_prefix("sqlite:").unwrap_or_default();
        let path = path.strip_prefix("//").unwrap_or(path);
        if path.is_empty() || path.starts_with(':') || path.contains('?') {
            return Err(fault("a path of a file expected, as in sqlite:/var/lib/mintage/ids.db"));
        }
        if path.ends_with("-serial") || path.ends_with("-journal") {
            return Err(fault(
                "a path that doesn't end as the files beside a store do, -serial and -journal",
            ));
        }
        let path = resolved(Path::new(path)).map_err(|what| fault(&what))?;
        let clock = options.clock.unwrap_or_else(|| Arc::new(SystemHostClock));
        let settings = Settings {
            url: url.to_owned(),
            path: path.clone(),
            clock: Arc::clone(&clock),
            allows_unsafe: options.allows_unsafe,
        };
        let (jobs, todo) = mpsc::channel::<Job>();
        let mut keeper = Keeper::new(settings);
        std::thread::Builder::new()
            .name("mintage-sqlite".to_owned())
            .spawn(move || {
                for job in todo {
                    job(&mut keeper);
                }
            })
            .map_err(|source| Error::Unreachable { store: url.to_owned(), source: source.into() })?;
        Ok(Self { url: url.to_owned(), path, clock, generation: mintage::entropy::generation(), jobs })
    }

    /// Has the thread do `work`, until the deadline.
    async fn run<T: Send + 'static>(
        &self,
        request: &'static str,
        deadline: Deadline,
        work: impl FnOnce(&mut Keeper, &Gate) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        // A child has the handle but not the thread.
        if self.generation != mintage::entropy::generation() {
            return Err(Error::Forked { store: self.url.clone() });
        }
        let late =
            || Error::Deadline { store: self.url.clone(), request, source: keeper::held_by(&self.path) };
        if deadline.left().is_zero() {
            return Err(late());
        }
        let gate = Arc::new(Gate::default());
        let (reply, answer) = oneshot::channel();
        let inner = Arc::clone(&gate);
        let job = Box::new(move |keeper: &mut Keeper| {
            let _ = reply.send(work(keeper, &inner));
        });
        let ended = || Error::Unreachable {
            store: self.url.clone(),
            source: "the thread of the store has ended".into(),
        };
        self.jobs.send(job).map_err(|_| ended())?;
        // A future that is dropped before the commit takes the request back.
        let open_gate = CloseOnDrop(&gate);
        match tokio::time::timeout_at(deadline.0, answer).await {
            Ok(answer) => answer.map_err(|_| ended())?,
            Err(_) if open_gate.0.close() => Err(late()),
            Err(elapsed) => {
                Err(Error::UnknownOutcome { store: self.url.clone(), request, source: elapsed.into() })
            }
        }
    }
}

/// What a caller that gave up and a thread that is about to commit agree through: whoever comes first has it.
#[derive(Debug, Default)]
struct Gate(AtomicU8);

impl Gate {
    const CLOSED: u8 = 1;
    const PASSED: u8 = 2;

    /// Takes the request back; false when its commit has begun.
    fn close(&self) -> bool {
        self.0.compare_exchange(0, Self::CLOSED, Ordering::SeqCst, Ordering::SeqCst).is_ok()
    }

    /// Begins the commit; false when the caller has given up.
    fn pass(&self) -> bool {
        let passed = self.0.compare_exchange(0, Self::PASSED, Ordering::SeqCst, Ordering::SeqCst);
        passed.is_ok() || passed == Err(Self::PASSED)
    }

    fn is_closed(&self) -> bool {
        self.0.load(Ordering::SeqCst) == Self::CLOSED
    }
}

struct CloseOnDrop<'a>(&'a Gate);

impl Drop for CloseOnDrop<'_> {
    fn drop(&mut self) {
        self.0.close();
    }
}

impl Store for Sqlite {
    fn url(&self) -> &str {
        &self.url
    }

    fn clock(&self) -> &dyn HostClock {
        &*self.clock
    }

    fn space<'a>(&'a self, name: &'a str, deadline: Deadline) -> Answering<'a, Space> {
        let name = name.to_owned();
        Box::pin(
            self.run("open", deadline, move |keeper, _| {
                Ok(keeper.show("open", &name, false, deadline)?.space)
            }),
        )
    }

    fn ask<'a>(
        &'a self,
        space: &'a Space,
        caller: &'a Caller,
        request: &'a Request,
        deadline: Deadline,
    ) -> Answering<'a, Answered> {
        let (space, caller, request) = (space.clone(), *caller, request.clone());
        Box::pin(self.run(request.name(), deadline, move |keeper, gate| {
            keeper.ask(&space, &caller, &request, deadline, gate)
        }))
    }

    fn create<'a>(
        &'a self,
        space: &'a Space,
        options: CreateOptions,
        deadline: Deadline,
    ) -> Answering<'a, Space> {
        let space = space.clone();
        Box::pin(
            self.run("create", deadline, move |keeper, gate| keeper.create(&space, options, deadline, gate)),
        )
    }

    fn list(&self, deadline: Deadline) -> Answering<'_, Vec<Shown>> {
        Box::pin(self.run("list", deadline, move |keeper, _| keeper.list("list", None, true, deadline)))
    }

    fn show<'a>(&'a self, name: &'a str, deadline: Deadline) -> Answering<'a, Shown> {
        let name = name.to_owned();
        Box::pin(self.run("show", deadline, move |keeper, _| keeper.show("show", &name, true, deadline)))
    }

    fn drop_space<'a>(&'a self, name: &'a str, deadline: Deadline) -> Answering<'a, ()> {
        let name = name.to_owned();
        Box::pin(self.run("drop", deadline, move |keeper, gate| keeper.drop_space(&name, deadline, gate)))
    }

    fn check(&self, deadline: Deadline) -> Answering<'_, Vec<CheckLine>> {
        Box::pin(self.run("check", deadline, move |keeper, _| keeper.check(deadline)))
    }

    fn upgrade(&self, deadline: Deadline) -> Answering<'_, ()> {
        Box::pin(self.run("upgrade", deadline, move |keeper, gate| keeper.upgrade(deadline, gate)))
    }
}
