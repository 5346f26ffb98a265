//! What a handle was answered, for stores whose data show no trace of having been put back: whoever saw more can tell. Rule 17.
//!
//! It is what clients show as witnesses, kept for those that hold nothing at the moment.

use crate::space::SpaceId;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// The highest numbers of a store that this handle saw.
#[derive(Debug, Default)]
pub(super) struct Memory {
    /// Of all that is written to the store: a revision, a zxid.
    number: AtomicU64,
    serials: Mutex<HashMap<SpaceId, u64>>,
}

impl Memory {
    /// The number of the store; to be read before a request is sent, as one that was sent before may be answered with less.
    pub(super) fn number(&self) -> u64 {
        self.number.load(Ordering::SeqCst)
    }

    pub(super) fn see(&self, number: u64) {
        self.number.fetch_max(number, Ordering::SeqCst);
    }

    /// Whether a space's row with this serial is older than one that was seen. Requests of a handle to one space come one by one.
    pub(super) fn is_older(&self, id: SpaceId, serial: u64) -> bool {
        let mut serials = self.serials.lock().unwrap_or_else(PoisonError::into_inner);
        let seen = serials.entry(id).or_default();
        let is_older = serial < *seen;
        *seen = (*seen).max(serial);
        is_older
    }

    /// Begins anew with a store that was found to be another: what was seen of the one that it was copied from is no measure any more.
    pub(super) fn begin_with(&self, number: u64) {
        self.number.store(number, Ordering::SeqCst);
        self.serials.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}
