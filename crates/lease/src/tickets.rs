//! Tickets: one value of a counter a round trip, from one store or from twins of which one may fail. DESIGN: a step and an offset keep
//! two stores apart that know nothing of each other.
//!
//! Twins are spaces of blocks in two stores or more, with one UUID, one step and an offset each: what they hand out never meets, whatever
//! becomes of the stores. They are asked in turn, so that their values stay near each other; one that doesn't answer, or is stopped, is left
//! alone for a while, and the others go on.

use crate::error::Error;
use crate::request::{Caller, Claim};
use crate::session::{OpenSpace, Session};
use crate::space::{Difference, Space};
use crate::store::{Deadline, draw_nonce};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// How long one of several twins may take to answer before the next is asked.
const PATIENCE: Duration = Duration::from_secs(1);

/// A twin that failed is left alone this long at first, and this long at last.
const FIRST_REST: Duration = Duration::from_millis(500);
const LONGEST_REST: Duration = Duration::from_secs(30);

/// Tickets of a space, from the stores that have it. Cheap to clone; may be used by many threads.
#[derive(Clone, Debug)]
pub struct Tickets {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    twins: Vec<Arc<Twin>>,
    turn: AtomicUsize,
    name: String,
}

/// The space in one of the stores.
#[derive(Debug)]
struct Twin {
    session: Session,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// `None` until the store has answered once.
    space: Option<OpenSpace>,
    caller: Caller,
    /// It isn't asked before, unless no other can answer.
    rests_until: Option<Instant>,
    rest: Duration,
}

/// Why spaces can't be twins.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotTwins {
    /// One of them hands out no tickets.
    #[error("{name} is a space of {kind}; twins are made with --ticket")]
    Kind {
        /// Its name.
        name: String,
        /// What it hands out.
        kind: &'static str,
    },
    /// They have different UUIDs, so that nobody made them for each other.
    #[error(
        "one has the UUID {first}, the other {second}; make the second with --twin-of and the URL of the first"
    )]
    Id {
        /// The UUID of the first.
        first: String,
        /// The UUID of the second.
        second: String,
    },
    /// A fact differs in which they must agree.
    #[error("{0}; they must agree in all but the offset")]
    Fact(Difference),
    /// They hand out the same values.
    #[error(
        "both have offset {offset} of step {step}, so they hand out the same values; give the second another offset"
    )]
    Offset {
        /// The offset of both.
        offset: u64,
        /// The step of both.
        step: u64,
    },
}

/// Whether two spaces hand out values that never meet, as twins do. Rule 19.
///
/// # Errors
/// [`NotTwins`], with both values.
pub fn are_twins(first: &Space, second: &Space) -> Result<(), NotTwins> {
    for space in [first, second] {
        if space.blocks().is_none() {
            return Err(NotTwins::Kind { name: space.name.clone(), kind: space.kind.name() });
        }
    }
    if first.id != second.id {
        return Err(NotTwins::Id { first: first.id.to_string(), second: second.id.to_string() });
    }
    are_apart(first, second)
}

/// The same before the second has a UUID.
///
/// # Errors
/// [`NotTwins`], with both values.
pub fn are_apart(first: &Space, second: &Space) -> Result<(), NotTwins> {
    if let Some(difference) = first.twin_difference(second) {
        return Err(NotTwins::Fact(difference));
    }
    match (first.blocks(), second.blocks()) {
        (Some(first), Some(second)) if first.offset == second.offset => {
            Err(NotTwins::Offset { offset: first.offset, step: first.step })
        }
        _ => Ok(()),
    }
}

impl Tickets {
    /// The tickets of the space of this name in these stores. One of them has to answer now; the others may come later, and are compared
    /// then.
    ///
    /// # Errors
    /// [`Error::NotTwins`] when two of them aren't, [`Error::WrongKind`] for a space that isn't one of blocks, and what the last store said
    /// when none answers.
    pub async fn open(sessions: &[Session], name: &str) -> Result<Self, Error> {
        let twin = |session: &Session| Arc::new(Twin { session: session.clone(), state: Mutex::default() });
        let twins: Vec<Arc<Twin>> = sessions.iter().map(twin).collect();
        let inner = Inner { twins, turn: AtomicUsize::new(0), name: name.to_owned() };
        let tickets = Self { inner: Arc::new(inner) };
        let mut failure = None;
        for at in 0..sessions.len() {
            match tickets.opened(at).await {
                Ok(_) => {}
                Err(error) if is_for_now(&error) => {
                    tickets.rests(at);
                    failure = Some(error);
                }
                Err(error) => return Err(error),
            }
        }
        let is_any_open = tickets.inner.twins.iter().any(|twin| twin.lock().space.is_some());
        match failure {
            Some(failure) if !is_any_open => Err(failure),
            _ => Ok(tickets),
        }
    }

    /// The next ticket: one round trip to the store, or to the first that answers.
    ///
    /// # Errors
    /// What the last store that was asked said, when none gave a ticket.
    pub async fn next_async(&self) -> Result<u64, Error> {
        let mut failure = None;
        for at in self.order() {
            match self.from(at).await {
                Ok(ticket) => {
                    let mut state = self.inner.twins[at].lock();
                    (state.rests_until, state.rest) = (None, Duration::ZERO);
                    return Ok(ticket);
                }
                Err(error @ (Error::NotTwins { .. } | Error::WrongKind { .. } | Error::Forked { .. })) => {
                    return Err(error);
                }
                Err(error) => {
                    self.rests(at);
                    failure = Some(error);
                }
            }
        }
        Err(failure.unwrap_or_else(|| Error::NoBlock { space: self.inner.name.clone(), source: None }))
    }

    /// The same for a thread that has no runtime: it waits.
    ///
    /// # Errors
    /// See [`Tickets::next_async`].
    pub fn next(&self) -> Result<u64, Error> {
        let Some(first) = self.inner.twins.first() else {
            return Err(Error::NoBlock { space: self.inner.name.clone(), source: None });
        };
        let tickets = self.clone();
        first.session.wait(async move { tickets.next_async().await })?
    }

    /// Who is asked first: the twin whose turn it is, those that rest last.
    fn order(&self) -> Vec<usize> {
        let count = self.inner.twins.len();
        // Ordering: only whose turn it is follows from it.
        let turn = self.inner.turn.fetch_add(1, Ordering::Relaxed);
        let mut order: Vec<usize> = (0..count).map(|i| turn.wrapping_add(i) % count).collect();
        if count > 1 {
            let now = Instant::now();
            order.sort_by_key(|at| self.inner.twins[*at].lock().rests_until.filter(|until| *until > now));
        }
        order
    }

    fn rests(&self, at: usize) {
        let mut state = self.inner.twins[at].lock();
        state.rest = (state.rest * 2).clamp(FIRST_REST, LONGEST_REST);
        state.rests_until = Some(Instant::now() + state.rest);
    }

    /// How long a store may take: with twins, not so long that a caller waits for a store that isn't needed.
    fn patience(&self, session: &Session) -> Result<Duration, Error> {
        let patience = session.deadline()?;
        Ok(if self.inner.twins.len() > 1 { patience.min(PATIENCE) } else { patience })
    }

    /// The space in a store, opened and compared with the others at the first call.
    async fn opened(&self, at: usize) -> Result<OpenSpace, Error> {
        let twin = &self.inner.twins[at];
        if let Some(space) = &twin.lock().space {
            return Ok(space.clone());
        }
        let space = twin.session.space_within(&self.inner.name, self.patience(&twin.session)?).await?;
        if space.facts().blocks().is_none() {
            let (name, kind) = (space.facts().name.clone(), space.facts().kind.name());
            return Err(Error::WrongKind { space: name, wanted: "a ticket", kind });
        }
        for (other, known) in self.inner.twins.iter().enumerate().filter(|(other, _)| *other != at) {
            let Some(known) = known.lock().space.clone() else { continue };
            let (first, second) = if other < at { (&known, &space) } else { (&space, &known) };
            are_twins(first.facts(), second.facts()).map_err(|fault| Error::NotTwins {
                space: self.inner.name.clone(),
                first: first.session().url().to_owned(),
                second: second.session().url().to_owned(),
                fault: Box::new(fault),
            })?;
        }
        // Of two that opened it at once, one stays.
        Ok(twin.lock().space.get_or_insert(space).clone())
    }

    async fn from(&self, at: usize) -> Result<u64, Error> {
        let twin = Arc::clone(&self.inner.twins[at]);
        let space = self.opened(at).await?;
        let claim = Claim { nonce: draw_nonce()?, size: 1 };
        let patience = self.patience(&twin.session)?;
        let mut caller = twin.lock().caller;
        caller.trusts_clock = twin.session.trusts_clock()?;
        let desk = space.desk().clone();
        let claimed = twin
            .session
            .run(async move { desk.claim(&caller, claim, Deadline::after(patience)).await })
            .await?;
        match claimed {
            Ok(answered) => {
                twin.lock().caller.witness.see(answered.answer.serial, answered.answer.end);
                space.tell_all(answered.anchor.store_now, &answered.events);
                Ok(answered.answer.start)
            }
            Err(error) => {
                if let Error::Refused { events, now, .. } = &error {
                    space.tell_all(*now, events);
                }
                // The name leads to another space by now; it is compared anew.
                if matches!(error, Error::SpaceGone { .. }) {
                    *twin.lock() = State::default();
                }
                Err(error)
            }
        }
    }
}

/// Whether a store may answer later.
const fn is_for_now(error: &Error) -> bool {
    matches!(error, Error::Unreachable { .. } | Error::Deadline { .. } | Error::Database { .. })
}

impl Twin {
    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::space::{BlockTerms, Kind, ScopeTerms, SpaceId};

    fn space(id: u128, step: u64, offset: u64) -> Space {
        let terms = BlockTerms { step, offset, max_size: 1, ..BlockTerms::default() };
        Space { id: SpaceId(id), name: "t".to_owned(), kind: Kind::Blocks(terms) }
    }

    #[test]
    fn rule_19_twins_agree_in_all_but_the_offset() {
        assert_eq!(are_twins(&space(1, 2, 0), &space(1, 2, 1)), Ok(()));
        let told = |first, second| are_twins(&first, &second).unwrap_err().to_string();
        assert!(told(space(1, 2, 1), space(1, 2, 1)).starts_with("both have offset 1 of step 2"));
        assert!(told(space(1, 2, 0), space(1, 3, 1)).starts_with("step is 2, 3 was given"));
        let ids = told(space(1, 2, 0), space(2, 2, 1));
        assert!(
            ids.contains("00000000-0000-0000-0000-000000000001") && ids.contains("000000000002"),
            "{ids}"
        );
        let scopes = Space { kind: Kind::Scopes(ScopeTerms::default()), ..space(1, 2, 0) };
        assert!(told(scopes, space(1, 2, 1)).contains("a space of scopes"));
    }
}
