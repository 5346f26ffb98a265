//! The one connection that all requests of a handle share, made once however many ask for it at once.

use crate::error::Cause;
use crate::own::Own;
use crate::store::Deadline;
use std::sync::{Mutex, PoisonError};

/// A connection, or none yet. A child of the process that made it has none. Rule 8.
pub(super) struct Shared<L> {
    current: Mutex<Option<Own<L>>>,
    connecting: tokio::sync::Mutex<()>,
}

impl<L> Default for Shared<L> {
    fn default() -> Self {
        Self { current: Mutex::new(None), connecting: tokio::sync::Mutex::new(()) }
    }
}

impl<L: Clone> Shared<L> {
    /// The connection, where there is one that is usable; else the one that `connect` makes.
    pub(super) async fn take(
        &self,
        deadline: Deadline,
        is_usable: impl Fn(&L) -> bool,
        connect: impl Future<Output = Result<L, Cause>>,
    ) -> Result<L, Cause> {
        if let Some(link) = self.current(&is_usable) {
            return Ok(link);
        }
        let _turn = tokio::time::timeout_at(deadline.0, self.connecting.lock()).await?;
        if let Some(link) = self.current(&is_usable) {
            return Ok(link);
        }
        let link = tokio::time::timeout_at(deadline.0, connect).await??;
        *self.current.lock().unwrap_or_else(PoisonError::into_inner) = Some(Own::new(link.clone()));
        Ok(link)
    }

    fn current(&self, is_usable: impl Fn(&L) -> bool) -> Option<L> {
        let current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        current.as_ref()?.get().filter(|link| is_usable(link)).cloned()
    }
}
