//! The store in an ensemble of ZooKeeper (3.6 or later): `zookeeper://user:password@host1:2181,host2/path`, in nodes below the path.
//!
//! A request is two round trips. The first writes a node that the session has for itself, and reads behind it: a session's requests are carried
//! out in order, so what is read is at least as new as that write, and **the write's time of change is the leader's clock**, which is the
//! store's time. The second is a transaction that names the version of each node that was read. Where one has another version, another client
//! was faster, and all of it is done again.
//!
//! A connection that ends before the transaction's answer leaves its outcome unknown; so does a session that expires. What keeps a
//! transaction from being carried out on other data than those that were read is in `connect`, what tells an election and a copy from each
//! other in `standing`.

mod admin;
mod connect;
mod paths;
mod standing;
mod target;
mod transact;
mod trouble;

use super::attempt::by_attempts;
use super::memory::Memory;
use super::turns::Turns;
use crate::clock::{HostClock, SystemHostClock};
use crate::error::Error;
use crate::space::SpaceId;
use crate::store::{OpenOptions, Store, StoreEntry, redacted};
use connect::Connections;
use paths::Paths;
use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

/// The list line of this store.
pub const ENTRY: StoreEntry = StoreEntry {
    url_schemes: &["zookeeper"],
    summary: "an ensemble of ZooKeeper, for many hosts",
    example: "zookeeper://host1:2181,host2:2181/path",
    open,
    schema: || include_str!("zookeeper/schema.txt").to_owned(),
};

fn open(url: &str, options: OpenOptions) -> Result<Arc<dyn Store>, Error> {
    Ok(Arc::new(ZooKeeper::open(url, options)?))
}

/// A handle of a store in an ensemble of ZooKeeper.
#[derive(Debug)]
pub struct ZooKeeper {
    url: String,
    clock: Arc<dyn HostClock>,
    /// Which process opened it. Rule 8.
    generation: u64,
    connections: Connections,
    paths: Paths,
    memory: Memory,
    /// Requests of this handle to one space wait for each other here and not by being refused there.
    turns: Turns,
    /// The workers of a space that are known to have nodes, so that they can be read before there is a list of them.
    known: Mutex<HashMap<SpaceId, BTreeSet<u64>>>,
}

impl ZooKeeper {
    /// The store of a URL. The first call connects.
    ///
    /// # Errors
    /// [`Error::Url`] when the URL makes no sense.
    pub fn open(url: &str, options: OpenOptions) -> Result<Self, Error> {
        let connections = Connections::of(url)?;
        Ok(Self {
            url: redacted(url),
            clock: options.clock.unwrap_or_else(|| Arc::new(SystemHostClock)),
            generation: mintage::entropy::generation(),
            paths: Paths::below(&connections.target.path),
            connections,
            memory: Memory::default(),
            turns: Turns::default(),
            known: Mutex::default(),
        })
    }

    fn store(&self) -> String {
        self.url.clone()
    }

    fn known_workers(&self, id: SpaceId) -> Vec<u64> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(&id).map(|workers| workers.iter().copied().collect()).unwrap_or_default()
    }

    fn know_workers(&self, id: SpaceId, workers: impl Iterator<Item = u64>) {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).entry(id).or_default().extend(workers);
    }
}

// What has ended was given up by whoever found it so.
by_attempts!(ZooKeeper, |_: &ZooKeeper| {});
