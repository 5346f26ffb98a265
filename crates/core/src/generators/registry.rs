//! The workers in use in this process: generators of one layout and worker share one cursor, so that two of them never issue the
//! same id.

use super::counter::Parts;
use super::cursor::Cursor;
use crate::entropy;
use crate::error::Error;
use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

/// Cursors by layout and worker, each with the process that made it. Kept for the life of the process: a generator that is
/// dropped and made again must not repeat the ids of the first.
type Cursors = BTreeMap<(Parts, u64), (u64, Arc<Cursor>)>;

static CURSORS: LazyLock<Mutex<Cursors>> = LazyLock::new(Mutex::default);

/// The cursor of this worker, with everything up to `tick` used.
///
/// # Errors
/// [`Error::Forked`] when the worker was in use before this process was forked: the parent still has it.
pub(crate) fn shared_cursor(
    scheme: &'static str,
    parts: Parts,
    worker: u64,
    tick: u64,
) -> Result<Arc<Cursor>, Error> {
    let generation = entropy::generation();
    let mut cursors = CURSORS.lock().unwrap_or_else(PoisonError::into_inner);
    let (made_in, cursor) = cursors
        .entry((parts, worker))
        .or_insert_with(|| (generation, Arc::new(Cursor::new(Some(tick), parts.count_bits()))));
    if *made_in != generation {
        return Err(Error::Forked { scheme, worker });
    }
    cursor.skip(tick, parts.count_bits());
    Ok(cursor.clone())
}
