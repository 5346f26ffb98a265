//! Numbers per scope for a program: issue 1, 2, 3 of each project, from a space of scopes.
//!
//! Each call is one transaction of the store: nothing is held in memory, so nothing is wasted when a process ends. A number that was taken
//! is gone, whatever becomes of the row that it was for: only a counter in the row's own transaction is gapless (`mintage sql`).

use crate::error::Error;
use crate::request::{Caller, Take};
use crate::session::OpenSpace;
use crate::state::ScopeName;
use crate::store::{Deadline, draw_nonce};
use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

/// The counters of a space of scopes. Cheap to clone; may be used by many threads.
#[derive(Clone, Debug)]
pub struct ScopeCounters {
    space: OpenSpace,
    seen: Arc<Mutex<Seen>>,
}

/// What this program saw, by which a store that forgot is noticed. Rule 17.
#[derive(Debug, Default)]
struct Seen {
    serial: u64,
    /// The end of the last values of a scope.
    marks: HashMap<ScopeName, u64>,
}

/// Scopes whose mark is kept at most; then all are let go. The serial of the space is kept all the same.
const MOST_MARKS: usize = 10_000;

impl ScopeCounters {
    pub(crate) fn of(space: OpenSpace) -> Result<Self, Error> {
        if space.facts().scopes().is_none() {
            let (name, kind) = (space.facts().name.clone(), space.facts().kind.name());
            return Err(Error::WrongKind { space: name, wanted: "a scope", kind });
        }
        Ok(Self { space, seen: Arc::default() })
    }

    /// The next `size` numbers of a scope, one after the other; all or none. The scope begins when it is first used.
    ///
    /// # Errors
    /// [`Error::Refused`] for no numbers or too many, for a scope that has ended, and while the space is stopped;
    /// [`Error::UnknownOutcome`], after which the numbers may be gone; and whatever keeps the store from answering.
    pub async fn take_async(&self, scope: &ScopeName, size: u64) -> Result<Range<u64>, Error> {
        let session = self.space.session();
        let mut caller = Caller { trusts_clock: session.trusts_clock()?, ..Caller::default() };
        {
            let seen = self.lock();
            caller.witness.see(seen.serial, seen.marks.get(scope).copied().unwrap_or(0));
        }
        let take = Take { nonce: draw_nonce()?, scope: scope.clone(), size };
        let (desk, patience) = (self.space.desk().clone(), session.deadline()?);
        let taken =
            session.run(async move { desk.take(&caller, take, Deadline::after(patience)).await }).await?;
        match taken {
            Ok(answered) => {
                self.space.tell_all(answered.anchor.store_now, &answered.events);
                let block = answered.answer;
                let mut seen = self.lock();
                seen.serial = seen.serial.max(block.serial);
                if seen.marks.len() >= MOST_MARKS && !seen.marks.contains_key(scope) {
                    seen.marks.clear();
                }
                let mark = seen.marks.entry(scope.clone()).or_default();
                *mark = block.end.max(*mark);
                Ok(block.start..block.end)
            }
            Err(error) => {
                if let Error::Refused { events, now, .. } = &error {
                    self.space.tell_all(*now, events);
                }
                Err(error)
            }
        }
    }

    /// The same for a thread that has no runtime: it waits.
    ///
    /// # Errors
    /// See [`ScopeCounters::take_async`].
    pub fn take(&self, scope: &ScopeName, size: u64) -> Result<Range<u64>, Error> {
        let (counters, scope) = (self.clone(), scope.clone());
        self.space.session().wait(async move { counters.take_async(&scope, size).await })?
    }

    /// The next number of a scope. A thread that has no runtime waits here.
    ///
    /// # Errors
    /// See [`ScopeCounters::take_async`].
    pub fn next(&self, scope: &ScopeName) -> Result<u64, Error> {
        Ok(self.take(scope, 1)?.start)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
