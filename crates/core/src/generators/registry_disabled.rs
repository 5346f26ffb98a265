//! Without `std` there is no process to keep a registry for: the caller keeps one generator a worker.

use super::counter::Parts;
use super::cursor::Cursor;
use crate::error::Error;
use alloc::sync::Arc;

/// A cursor of its own, with everything up to `tick` used.
pub(crate) fn shared_cursor(_: &'static str, parts: Parts, _: u64, tick: u64) -> Result<Arc<Cursor>, Error> {
    Ok(Arc::new(Cursor::new(Some(tick), parts.count_bits())))
}
