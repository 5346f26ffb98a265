//! The workers in use in this process: generators of one layout and worker share one cursor, so that two of them never issue the
//! same id.
//!
//! Without a lock: a child that was forked while another thread of its parent held one would wait for it for ever. Each process
//! fills lists of its own and only reads those of its ancestors.

use super::counter::Parts;
use super::cursor::Cursor;
use super::locked::Owner;
use crate::entropy;
use crate::error::Error;
use std::sync::{Arc, OnceLock};

static WORKERS: Process = Process::new();

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
    cursor_in(&WORKERS, entropy::generation(), parts, worker, tick).ok_or(Error::Forked { scheme, worker })
}

/// The cursor in the process `generation`; `None` when an ancestor has the worker.
fn cursor_in(
    workers: &Process,
    generation: u64,
    parts: Parts,
    worker: u64,
    tick: u64,
) -> Option<Arc<Cursor>> {
    let mut process = workers;
    while !process.owner.is(generation) {
        if process.find(parts, worker).is_some() {
            return None;
        }
        process = process.child.get_or_init(|| Box::new(Process::new()));
    }
    let cursor = process.find_or_add(parts, worker, tick);
    cursor.skip(tick, parts.count_bits());
    Some(cursor.clone())
}

/// Lists that workers are spread over by their last byte, so that a process with very many of them finds each soon.
const LISTS: usize = 256;

/// The workers of one process, and behind them those of its forked children, which they fill in themselves.
struct Process {
    owner: Owner,
    lists: [OnceLock<Box<Entry>>; LISTS],
    child: OnceLock<Box<Self>>,
}

/// A worker and its cursor. Kept for the life of the process: a generator that is dropped and made again must not repeat the ids
/// of the first.
struct Entry {
    parts: Parts,
    worker: u64,
    cursor: Arc<Cursor>,
    next: OnceLock<Box<Self>>,
}

impl Process {
    const fn new() -> Self {
        Self { owner: Owner::nobody(), lists: [const { OnceLock::new() }; LISTS], child: OnceLock::new() }
    }

    /// Never waits, also not for a thread that was adding an entry when this process was forked.
    fn find(&self, parts: Parts, worker: u64) -> Option<&Entry> {
        let mut entry = self.list(worker).get()?;
        while !entry.is_of(parts, worker) {
            entry = entry.next.get()?;
        }
        Some(entry)
    }

    fn find_or_add(&self, parts: Parts, worker: u64, tick: u64) -> &Arc<Cursor> {
        // When another thread adds to the same place first, its entry is the one that comes back.
        let add = || {
            let cursor = Arc::new(Cursor::new(Some(tick), parts.count_bits()));
            Box::new(Entry { parts, worker, cursor, next: OnceLock::new() })
        };
        let mut entry = self.list(worker).get_or_init(add);
        while !entry.is_of(parts, worker) {
            entry = entry.next.get_or_init(add);
        }
        &entry.cursor
    }

    fn list(&self, worker: u64) -> &OnceLock<Box<Entry>> {
        &self.lists[usize::from(worker.to_be_bytes()[7])]
    }
}

impl Entry {
    fn is_of(&self, parts: Parts, worker: u64) -> bool {
        self.worker == worker && self.parts == parts
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::StaticScheme;
    use crate::schemes::snowflake_instagram::SnowflakeInstagramScheme;
    use crate::schemes::snowflake_twitter::SnowflakeTwitterScheme;

    fn twitter() -> Parts {
        Parts::of(&SnowflakeTwitterScheme::SCHEME.layout).expect("a layout of tick, worker and sequence")
    }

    fn instagram() -> Parts {
        Parts::of(&SnowflakeInstagramScheme::SCHEME.layout).expect("a layout of tick, worker and sequence")
    }

    #[test]
    fn generators_of_one_layout_and_worker_share_a_cursor() {
        let workers = Process::new();
        let cursor = |parts, worker| cursor_in(&workers, 1, parts, worker, 5).unwrap();
        let first = cursor(twitter(), 7);
        // Workers of one list, and of another layout.
        for (parts, worker) in [(twitter(), 7 + 256), (twitter(), 8), (instagram(), 7)] {
            assert!(!Arc::ptr_eq(&first, &cursor(parts, worker)));
        }
        assert!(Arc::ptr_eq(&first, &cursor(twitter(), 7)));
    }

    #[test]
    fn threads_that_come_first_together_share_it_too() {
        let workers = Process::new();
        let cursors: Vec<_> = std::thread::scope(|scope| {
            let make =
                || (0..1024).map(|worker| cursor_in(&workers, 1, twitter(), worker, 5).unwrap()).collect();
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(make)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<Vec<Arc<Cursor>>>>()
        });
        for other in &cursors[1..] {
            assert!(cursors[0].iter().zip(other).all(|(a, b)| Arc::ptr_eq(a, b)));
        }
    }

    #[test]
    fn a_child_has_none_of_its_ancestors_workers_and_all_others() {
        let workers = Process::new();
        let has = |generation, worker| cursor_in(&workers, generation, twitter(), worker, 5).is_some();
        assert!(has(1, 7));
        assert!(!has(2, 7));
        assert!(has(2, 8));
        assert!(has(2, 8));
        assert!(!has(3, 7) && !has(3, 8));
        assert!(has(3, 9));
    }

    #[test]
    fn a_child_does_not_wait_for_a_thread_that_its_parent_left_behind() {
        let workers = Process::new();
        assert!(cursor_in(&workers, 1, twitter(), 7, 5).is_some());
        let (begun, has_begun) = std::sync::mpsc::channel();
        let (end, may_end) = std::sync::mpsc::channel::<()>();
        std::thread::scope(|scope| {
            let parent = &workers;
            scope.spawn(move || {
                // In the middle of adding worker 8, as a fork would leave it.
                parent.list(8).get_or_init(|| {
                    begun.send(()).unwrap();
                    may_end.recv().unwrap();
                    let cursor = Arc::new(Cursor::new(Some(5), twitter().count_bits()));
                    Box::new(Entry { parts: twitter(), worker: 8, cursor, next: OnceLock::new() })
                });
            });
            has_begun.recv().unwrap();
            assert!(cursor_in(&workers, 2, twitter(), 8, 5).is_some());
            end.send(()).unwrap();
        });
    }
}
