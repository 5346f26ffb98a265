//! A store as one process uses it: its spaces, their minters and allocators, and the one thread that renews and prefetches.
//!
//! Everything that waits for the store runs on that thread, so a program without a runtime, or one whose threads are all busy
//! minting, renews its leases all the same.

use crate::allocator::{Allocator, AllocatorOptions, Tray, supply};
use crate::error::Error;
use crate::events::{Listener, Reporter};
use crate::minter::holder::{self, Command};
use crate::minter::{Minter, MinterOptions};
use crate::own::Own;
use crate::request::{Block, Caller, Claim};
use crate::scope_counters::ScopeCounters;
use crate::space::{Space, SpaceId};
use crate::store::{CreateOptions, Deadline, Desk, OpenOptions, Store, draw_nonce};
use crate::tickets::Tickets;
use std::collections::HashMap;
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::runtime::{Builder, Handle};
use tokio::sync::mpsc::{self, UnboundedSender};

/// How a session behaves.
#[derive(Clone, Debug)]
pub struct SessionOptions {
    /// How the store is opened.
    pub open: OpenOptions,
    /// How long opening, acquiring and giving back wait for the store.
    pub deadline: Duration,
    /// Where events go.
    pub listener: Listener,
    /// The host's name, for the quota of a space; the system's unless given.
    pub host: Option<String>,
    /// An operator said that the store's clock is right, though it is far from this host's. Rule 15.
    pub trusts_clock: bool,
}

impl Default for SessionOptions {
    fn default() -> Self {
        Self {
            open: OpenOptions::default(),
            deadline: Duration::from_secs(10),
            listener: Listener::default(),
            host: None,
            trusts_clock: false,
        }
    }
}

/// Opens a store: the short form of [`Session::open`].
///
/// # Errors
/// See [`Session::open`].
pub async fn open(url: &str) -> Result<Session, Error> {
    Session::open(url, SessionOptions::default())
}

/// A store that is open in this process. Cheap to clone; the thread ends with the last handle, minter and allocator.
#[derive(Clone, Debug)]
pub struct Session {
    inner: Arc<Own<Inner>>,
    url: Arc<str>,
}

#[derive(Debug)]
struct Inner {
    store: Arc<dyn Store>,
    runtime: Handle,
    options: SessionOptions,
    /// One task a space that leases are held in.
    holders: Mutex<HashMap<SpaceId, UnboundedSender<Command>>>,
    /// The thread goes on while somebody has one of these.
    alive: UnboundedSender<()>,
}

impl Session {
    /// Opens the store of a URL. Nothing is created, and nothing is connected before the first call.
    ///
    /// # Errors
    /// [`Error::Url`], and [`Error::Unreachable`] when there can't be a thread.
    pub fn open(url: &str, options: SessionOptions) -> Result<Self, Error> {
        let store = crate::store::open(url, options.open.clone())?;
        Self::of(store, options)
    }

    /// A session over a store that was opened before.
    ///
    /// # Errors
    /// [`Error::Unreachable`] when there can't be a thread.
    pub fn of(store: Arc<dyn Store>, options: SessionOptions) -> Result<Self, Error> {
        let url: Arc<str> = store.url().into();
        let no_thread =
            |source: std::io::Error| Error::Unreachable { store: url.to_string(), source: source.into() };
        let runtime = Builder::new_current_thread().enable_all().build().map_err(no_thread)?;
        let handle = runtime.handle().clone();
        let (alive, mut all_gone) = mpsc::unbounded_channel::<()>();
        std::thread::Builder::new()
            .name("mintage-keeper".to_owned())
            .spawn(move || runtime.block_on(async { while all_gone.recv().await.is_some() {} }))
            .map_err(no_thread)?;
        let holders = Mutex::default();
        let inner = Inner { store, runtime: handle, options, holders, alive };
        Ok(Self { inner: Arc::new(Own::new(inner)), url })
    }

    /// The store's URL, without a password.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The store, for what no minter or allocator does.
    ///
    /// # Errors
    /// [`Error::Forked`] in a forked child.
    pub fn store(&self) -> Result<&Arc<dyn Store>, Error> {
        Ok(&self.inner()?.store)
    }

    /// Creates a space, or finds it with the same facts.
    ///
    /// # Errors
    /// See [`Store::create`]; [`Error::Forked`] in a forked child.
    pub async fn create(&self, space: &Space, options: CreateOptions) -> Result<Space, Error> {
        let inner = self.inner()?;
        let (store, space, within) = (Arc::clone(&inner.store), space.clone(), inner.options.deadline);
        self.run(async move { store.create(&space, options, Deadline::after(within)).await }).await?
    }

    /// Opens the space of this name.
    ///
    /// # Errors
    /// See [`Store::space`]; [`Error::Forked`] in a forked child.
    pub async fn space(&self, name: &str) -> Result<OpenSpace, Error> {
        self.space_within(name, self.deadline()?).await
    }

    /// The same, where the store may take `within` to answer.
    pub(crate) async fn space_within(&self, name: &str, within: Duration) -> Result<OpenSpace, Error> {
        let (store, name) = (Arc::clone(&self.inner()?.store), name.to_owned());
        let desk = self.run(async move { Desk::open(store, &name, Deadline::after(within)).await }).await??;
        Ok(OpenSpace { session: self.clone(), desk })
    }

    pub(crate) fn deadline(&self) -> Result<Duration, Error> {
        Ok(self.inner()?.options.deadline)
    }

    pub(crate) fn trusts_clock(&self) -> Result<bool, Error> {
        Ok(self.inner()?.options.trusts_clock)
    }

    /// Does `work` on the session's thread, while the caller's thread waits.
    pub(crate) fn wait<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Result<T, Error> {
        let (reply, answer) = std::sync::mpsc::channel();
        self.inner()?.runtime.spawn(async move {
            let _ = reply.send(work.await);
        });
        answer
            .recv()
            .map_err(|source| Error::Unreachable { store: self.url.to_string(), source: source.into() })
    }

    /// Does `work` on the session's thread, so that connections belong to it.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Result<T, Error> {
        let ended = |source: tokio::task::JoinError| Error::Unreachable {
            store: self.url.to_string(),
            source: source.into(),
        };
        self.inner()?.runtime.spawn(work).await.map_err(ended)
    }

    fn inner(&self) -> Result<&Inner, Error> {
        self.inner.get().ok_or_else(|| Error::Forked { store: self.url.to_string() })
    }
}

/// A space of a store that is open in this process.
#[derive(Clone, Debug)]
pub struct OpenSpace {
    session: Session,
    desk: Desk,
}

impl OpenSpace {
    /// Its facts.
    #[must_use]
    pub fn facts(&self) -> &Arc<Space> {
        self.desk.space()
    }

    /// A minter with one lease: a worker of its own, whose window is lengthened in the background.
    ///
    /// # Errors
    /// See [`OpenSpace::minter_with`].
    pub async fn minter(&self) -> Result<Minter, Error> {
        self.minter_with(MinterOptions::default()).await
    }

    /// A minter with one lease or several.
    ///
    /// # Errors
    /// [`Error::WrongKind`] for a space of blocks; [`Error::Refused`] when no worker is free or the space is on hold, with the
    /// time when to come again; and whatever keeps the store from answering.
    pub async fn minter_with(&self, options: MinterOptions) -> Result<Minter, Error> {
        let inner = self.session.inner()?;
        let Some(windows) = self.facts().windows() else {
            return Err(Error::WrongKind {
                space: self.facts().name.clone(),
                wanted: "a minter",
                kind: self.facts().kind.name(),
            });
        };
        let commands = self.holder(inner);
        Minter::open(windows, self.facts(), options, &commands).await
    }

    /// An allocator: values of a counter, from blocks in memory.
    ///
    /// # Errors
    /// See [`OpenSpace::allocator_with`].
    pub async fn allocator(&self) -> Result<Allocator, Error> {
        self.allocator_with(AllocatorOptions::default()).await
    }

    /// An allocator that fetches blocks as told.
    ///
    /// # Errors
    /// [`Error::WrongKind`] for a space of windows; [`Error::Refused`] when the space hands out nothing; and whatever keeps the store
    /// from answering.
    pub async fn allocator_with(&self, options: AllocatorOptions) -> Result<Allocator, Error> {
        let inner = self.session.inner()?;
        let Some(terms) = self.facts().blocks() else {
            let space = self.facts().name.clone();
            let kind = self.facts().kind.name();
            return Err(Error::WrongKind { space, wanted: "an allocator", kind });
        };
        let tray = Arc::new(Tray::new(&self.facts().name, terms.step, options.fetch_at_percent));
        let about = supply::About {
            desk: self.desk.clone(),
            reporter: self.reporter(inner),
            tray: Arc::clone(&tray),
            terms: *terms,
            options,
            deadline: inner.options.deadline,
            trusts_clock: inner.options.trusts_clock,
        };
        let (commands, todo) = mpsc::unbounded_channel();
        let alive = inner.alive.clone();
        inner.runtime.spawn(async move {
            supply::supply(about, todo).await;
            drop(alive);
        });
        Allocator::open(tray, options, commands).await
    }

    /// A block of `size` values for the caller alone, in one round trip; the space's last one may be shorter. What of it isn't used stays
    /// unused.
    ///
    /// # Errors
    /// [`Error::WrongKind`] for a space that isn't one of blocks, [`Error::Refused`] for a size that the space doesn't hand out, and whatever keeps
    /// the store from answering; [`Error::UnknownOutcome`], after which the values may be gone.
    pub async fn block(&self, size: u64) -> Result<Block, Error> {
        if self.facts().blocks().is_none() {
            let (space, kind) = (self.facts().name.clone(), self.facts().kind.name());
            return Err(Error::WrongKind { space, wanted: "a block", kind });
        }
        let caller = Caller { trusts_clock: self.session.trusts_clock()?, ..Caller::default() };
        let claim = Claim { nonce: draw_nonce()?, size };
        let (desk, within) = (self.desk.clone(), self.session.deadline()?);
        let claimed = self
            .session
            .run(async move { desk.claim(&caller, claim, Deadline::after(within)).await })
            .await?;
        match &claimed {
            Ok(answered) => self.tell_all(answered.anchor.store_now, &answered.events),
            Err(Error::Refused { events, now, .. }) => self.tell_all(*now, events),
            Err(_) => {}
        }
        claimed.map(|answered| answered.answer)
    }

    /// Tickets: values of a counter, one a round trip. Of twins: [`crate::Tickets::open`].
    ///
    /// # Errors
    /// [`Error::WrongKind`] for a space that isn't one of blocks, and whatever keeps the store from answering.
    pub async fn tickets(&self) -> Result<Tickets, Error> {
        Tickets::open(std::slice::from_ref(&self.session), &self.facts().name).await
    }

    /// Numbers per scope.
    ///
    /// # Errors
    /// [`Error::WrongKind`] for a space that isn't one of scopes.
    pub fn scope_counters(&self) -> Result<ScopeCounters, Error> {
        ScopeCounters::of(self.clone())
    }

    pub(crate) fn desk(&self) -> &Desk {
        &self.desk
    }

    pub(crate) fn session(&self) -> &Session {
        &self.session
    }

    /// Tells what happened to the space on the way.
    pub(crate) fn tell_all(&self, time: mintage::UnixNanos, events: &[crate::request::Event]) {
        if let Ok(inner) = self.session.inner() {
            self.reporter(inner).tell_all(time, events);
        }
    }

    /// The task that holds leases of this space; begun when there is none.
    fn holder(&self, inner: &Inner) -> UnboundedSender<Command> {
        let mut holders = inner.holders.lock().unwrap_or_else(PoisonError::into_inner);
        let commands = holders.entry(self.facts().id).or_insert_with(|| {
            let (commands, todo) = mpsc::unbounded_channel();
            let about = holder::About {
                desk: self.desk.clone(),
                reporter: self.reporter(inner),
                host: inner.options.host.clone().unwrap_or_else(host_name),
                deadline: inner.options.deadline,
                trusts_clock: inner.options.trusts_clock,
            };
            let alive = inner.alive.clone();
            inner.runtime.spawn(async move {
                holder::hold(about, todo).await;
                drop(alive);
            });
            commands
        });
        commands.clone()
    }

    fn reporter(&self, inner: &Inner) -> Reporter {
        Reporter { space: self.facts().name.clone(), listener: inner.options.listener.clone() }
    }
}

#[cfg(unix)]
fn host_name() -> String {
    let mut name = rustix::system::uname().nodename().to_string_lossy().into_owned();
    name.truncate(name.floor_char_boundary(255));
    name
}

#[cfg(not(unix))]
fn host_name() -> String {
    std::env::var("COMPUTERNAME").unwrap_or_default()
}
