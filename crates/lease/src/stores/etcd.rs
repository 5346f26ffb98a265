//! The store in a cluster of etcd (3.4 or later): `etcd://user:password@host1:2379,host2/prefix?...`, in keys below the prefix.
//!
//! A request is one read and one transaction. The read is a transaction of reads, so all rows are of one revision, at least as new as
//! whatever was answered before (etcd's reads are linearizable unless one asks for less); the other one writes if neither the space's row, nor the
//! rows that it writes, nor what the cluster was noted to be has been written since. Else another client was faster, and all of it is done
//! again. Both go over one connection to one member: see `connect`.
//!
//! etcd has no clock. Whose clock is the store's is in `told.rs`; what tells a start, an election and a copy from each other is
//! in `standing`.

mod admin;
mod connect;
mod keys;
mod standing;
mod target;
mod transact;
mod trouble;

use super::attempt::by_attempts;
use super::memory::Memory;
use super::turns::Turns;
use crate::clock::{HostClock, SystemHostClock};
use crate::error::Error;
use crate::store::{OpenOptions, Store, StoreEntry, redacted};
use connect::Connections;
use keys::Keys;
use std::sync::Arc;

/// The list line of this store.
pub const ENTRY: StoreEntry = StoreEntry {
    url_schemes: &["etcd"],
    summary: "a cluster of etcd, for many hosts; their clocks are its clock",
    example: "etcd://host1:2379,host2:2379/prefix",
    open,
    schema: || include_str!("etcd/schema.txt").to_owned(),
};

fn open(url: &str, options: OpenOptions) -> Result<Arc<dyn Store>, Error> {
    Ok(Arc::new(Etcd::open(url, options)?))
}

/// A handle of a store in a cluster of etcd.
#[derive(Debug)]
pub struct Etcd {
    url: String,
    clock: Arc<dyn HostClock>,
    /// Which process opened it. Rule 8.
    generation: u64,
    connections: Connections,
    keys: Keys,
    memory: Memory,
    /// Requests of this handle to one space wait for each other here and not by being refused there.
    turns: Turns,
}

impl Etcd {
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
            keys: Keys::under(&connections.target.prefix),
            connections,
            memory: Memory::default(),
            turns: Turns::default(),
        })
    }

    fn store(&self) -> String {
        self.url.clone()
    }
}

// What has ended was given up by whoever found it so.
by_attempts!(Etcd, |_: &Etcd| {});
