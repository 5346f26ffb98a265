//! Turns: the requests of a handle to one space come one after the other, instead of being refused by comparisons in the store.

use crate::space::SpaceId;
use crate::store::Deadline;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::OwnedMutexGuard;

/// Whose turn it is, space by space.
#[derive(Debug, Default)]
pub(super) struct Turns(Mutex<HashMap<SpaceId, Arc<tokio::sync::Mutex<()>>>>);

impl Turns {
    /// Waits for a turn, which lasts as long as what is returned; `None` when it didn't come in time.
    pub(super) async fn take(&self, id: SpaceId, deadline: Deadline) -> Option<OwnedMutexGuard<()>> {
        let turns = Arc::clone(self.0.lock().unwrap_or_else(PoisonError::into_inner).entry(id).or_default());
        tokio::time::timeout_at(deadline.0, turns.lock_owned()).await.ok()
    }
}
