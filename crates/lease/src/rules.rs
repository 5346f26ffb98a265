//! The way in to all rules: from what a transaction read to what it writes and answers.
//!
//! [`decide`] is a pure function. Every store calls it, and so does a model check.

use crate::error::Refusal;
use crate::request::{Answer, Event, Hold, Loss, Request};
use crate::space::{Difference, Kind, Space};
use crate::state::{
    BlockState, MAX_SEEN_SERIAL, MAX_SERIAL, RowWrite, Rows, ScopeWrite, Seen, SpaceState, Witness,
};
use crate::{block, scope, window};
use mintage::UnixNanos;

/// What a transaction writes and answers.
///
/// What is to be written is written even where the answer is a refusal: a hold that began with a refused request lasts.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Decision {
    /// The space's row as it shall be, when anything changes; it must still have the serial that was read. Rule 11.
    pub state: Option<SpaceState>,
    /// Rows of workers to write.
    pub rows: Vec<RowWrite>,
    /// The row of a scope to write.
    pub scope: Option<ScopeWrite>,
    /// What the caller is told.
    pub answer: Result<Answer, Refusal>,
    /// The space's serial afterwards.
    pub serial: u64,
    /// What happened on the way.
    pub events: Vec<Event>,
}

impl Decision {
    /// The hold or stop that began with it, at this time.
    #[must_use]
    pub fn hold(&self, now: UnixNanos) -> Option<Hold> {
        self.events.iter().rev().find_map(|event| match event {
            Event::HoldBegan { why, .. } | Event::Stopped { why } => Some(Hold { why: *why, began: now }),
            _ => None,
        })
    }
}

/// A decision in the making.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Draft {
    /// The space's row as it shall be.
    pub state: SpaceState,
    /// Rows of workers to write.
    pub rows: Vec<RowWrite>,
    /// The row of a scope to write.
    pub scope: Option<ScopeWrite>,
    /// What happened so far.
    pub events: Vec<Event>,
    /// Whether anything is to be written.
    pub is_changed: bool,
}

impl Draft {
    fn of(state: &SpaceState) -> Self {
        Self { state: state.clone(), rows: Vec::new(), scope: None, events: Vec::new(), is_changed: false }
    }

    /// The serial of everything that this transaction writes. Rule 11.
    #[must_use]
    pub fn next_serial(&self) -> u64 {
        self.state.serial.saturating_add(1)
    }
}

/// Decides one request: what is written, and what the caller is told.
///
/// `state` is the space's row, `seen` the store's time and identity and what the caller knows, `rows` the rows of workers that
/// [`Request::workers`], [`Request::scope`], [`Request::page`] and the fields of [`Rows`] ask for; all read in one transaction that holds the space's row. In a space
/// of windows the clock is judged before anything else (rule 15), then the identity (rule 17 or 18), then the request.
#[must_use]
pub fn decide(kind: &Kind, state: &SpaceState, seen: &Seen, request: &Request, rows: &Rows) -> Decision {
    let mut draft = Draft::of(state);
    let held = match request {
        Request::Renew(held) | Request::Reassert(held) => held.iter().map(|held| held.serial).max(),
        _ => None,
    };
    let claimed = seen.witness.serial.max(held.unwrap_or(0));
    let answer = if state.serial >= MAX_SERIAL || claimed > MAX_SEEN_SERIAL {
        Err(Refusal::Request { what: "a serial above all", expected: "one that the space had" })
    } else {
        match kind {
            Kind::Windows(windows) => window::check_clock(&windows.terms, seen).and_then(|()| {
                window::settle(&windows.terms, &mut draft, seen);
                in_windows(&windows.terms, &mut draft, seen, request, rows)
            }),
            Kind::Blocks(terms) => {
                block::settle(terms, &mut draft, seen);
                in_blocks(terms, &mut draft, seen, request)
            }
            Kind::Scopes(terms) => {
                scope::settle(terms, &mut draft, seen);
                in_scopes(terms, &mut draft, seen, request, rows)
            }
        }
    };
    // A rule that refuses half-way writes none of its rows; what was settled before it stays.
    if answer.is_err() {
        draft.rows.clear();
        draft.scope = None;
    }
    if draft.is_changed {
        draft.state.serial = draft.next_serial();
    }
    Decision {
        serial: draft.state.serial,
        state: draft.is_changed.then_some(draft.state),
        rows: draft.rows,
        scope: draft.scope,
        answer,
        events: draft.events,
    }
}

fn in_windows(
    terms: &crate::space::Terms,
    draft: &mut Draft,
    seen: &Seen,
    request: &Request,
    rows: &Rows,
) -> Result<Answer, Refusal> {
    let now = seen.now;
    match request {
        Request::Acquire(ask) => window::acquire(terms, draft, now, ask, rows),
        Request::Renew(held) => window::renew(terms, draft, now, held, rows),
        Request::Release(ask) => window::release(terms, draft, now, ask, rows),
        Request::Reassert(held) => window::reassert(terms, draft, now, held, rows),
        Request::Burn(worker) => window::burn(terms, draft, *worker, rows),
        Request::Hold => {
            window::hold(terms, draft, Loss::Operator, now, 0);
            Ok(Answer::Done)
        }
        Request::ReleaseHold => window::release_hold(terms, draft, now),
        Request::RestartHold(restart_hold) => set_restart_hold(draft, *restart_hold),
        Request::Look => Ok(Answer::Done),
        Request::Claim(_)
        | Request::GiveBack(_)
        | Request::Bump(_)
        | Request::Take(_)
        | Request::BumpScope(..)
        | Request::LookScope(_)
        | Request::Scopes(_)
        | Request::BeginAnew => Err(Refusal::WrongKind { request: request.name(), kind: "windows" }),
    }
}

fn in_blocks(
    terms: &crate::space::BlockTerms,
    draft: &mut Draft,
    seen: &Seen,
    request: &Request,
) -> Result<Answer, Refusal> {
    match request {
        Request::Claim(ask) => block::claim(terms, draft, seen.now, ask),
        Request::GiveBack(ask) => block::give_back(terms, draft, ask),
        Request::Bump(bump) => block::bump(terms, draft, *bump),
        Request::Hold => {
            block::stop(draft, Loss::Operator, 0);
            Ok(Answer::Done)
        }
        Request::ReleaseHold => block::resume(draft),
        Request::RestartHold(restart_hold) => set_restart_hold(draft, *restart_hold),
        Request::Look => Ok(Answer::Done),
        Request::Acquire(_)
        | Request::Renew(_)
        | Request::Release(_)
        | Request::Reassert(_)
        | Request::Burn(_)
        | Request::Take(_)
        | Request::BumpScope(..)
        | Request::LookScope(_)
        | Request::Scopes(_)
        | Request::BeginAnew => Err(Refusal::WrongKind { request: request.name(), kind: "blocks" }),
    }
}

fn in_scopes(
    terms: &crate::space::ScopeTerms,
    draft: &mut Draft,
    seen: &Seen,
    request: &Request,
    rows: &Rows,
) -> Result<Answer, Refusal> {
    match request {
        Request::Take(ask) => scope::take(terms, draft, seen, ask, rows),
        Request::BumpScope(name, bump) => scope::bump(terms, draft, name, *bump, rows),
        Request::LookScope(_) => Ok(scope::shown(draft, rows)),
        Request::Scopes(page) => scope::page(draft, page, rows),
        Request::Bump(bump) => scope::bump_all(terms, draft, *bump),
        Request::Hold => {
            block::stop(draft, Loss::Operator, 0);
            Ok(Answer::Done)
        }
        Request::ReleaseHold => block::resume(draft),
        Request::BeginAnew => scope::begin_anew(terms, draft),
        Request::RestartHold(restart_hold) => set_restart_hold(draft, *restart_hold),
        Request::Look => Ok(Answer::Done),
        Request::Acquire(_)
        | Request::Renew(_)
        | Request::Release(_)
        | Request::Reassert(_)
        | Request::Burn(_)
        | Request::Claim(_)
        | Request::GiveBack(_) => Err(Refusal::WrongKind { request: request.name(), kind: "scopes" }),
    }
}

fn set_restart_hold(draft: &mut Draft, restart_hold: bool) -> Result<Answer, Refusal> {
    draft.is_changed |= draft.state.restart_hold != restart_hold;
    draft.state.restart_hold = restart_hold;
    Ok(Answer::Done)
}

/// How far a serial jumps when transactions may be lost: further than they can have raised it. Rule 17.
pub const SERIAL_JUMP: u64 = 1 << 32;

/// Lets the serial jump above what was lost and above `seen_serial`, so that no new grant can show an old serial and none can
/// hide that serials went back. Rule 17.
pub fn jump(state: &mut SpaceState, seen_serial: u64) {
    state.serial = state.serial.max(seen_serial).saturating_add(SERIAL_JUMP).min(MAX_SERIAL);
    state.hold_serial = state.serial;
}

/// The row of a space that is created at `now` on a store that is `identity`.
///
/// `dropped` are all spaces that had that name before, in any order: their serials go on, and the new space begins on hold above all of
/// their floors, or above their counters. Each row is compared with what the store is now, as one of a space in use would be. Rule 19.
///
/// # Errors
/// What differs in how ids are numbered, where one of them may have issued any: the same number could come again.
pub fn created(
    space: &Space,
    seen: &Seen,
    dropped: &[(&Space, &SpaceState)],
    restart_hold: bool,
) -> Result<(SpaceState, Vec<Event>), Difference> {
    let seen = &Seen { witness: Witness::default(), ..*seen };
    let settled: Vec<SpaceState> = dropped.iter().map(|(before, old)| settled(before, old, seen)).collect();
    let mut highest = 0;
    for ((before, old), settled) in dropped.iter().zip(&settled) {
        if !may_have_issued(old, settled) {
            continue;
        }
        if let Some(difference) = before.numbering_difference(space) {
            return Err(difference);
        }
        // The numbering is the same, and so are the ticks.
        highest = highest.max(settled.floor).max(settled.high_mark);
    }
    let state = SpaceState {
        serial: 0,
        hold_serial: 0,
        holds: 0,
        restart_hold,
        identity: seen.live,
        floor: 0,
        old_floor: 0,
        high_mark: 0,
        next_worker: space.windows().map_or(0, |windows| windows.terms.first_worker),
        block: match &space.kind {
            Kind::Windows(_) => BlockState::default(),
            Kind::Blocks(terms) => block::created(terms),
            Kind::Scopes(terms) => BlockState { next: terms.first, ..BlockState::default() },
        },
    };
    let mut draft = Draft::of(&state);
    if !dropped.is_empty() {
        let most = |of: fn(&SpaceState) -> u64| settled.iter().map(of).max().unwrap_or(0);
        draft.state.serial = most(|old| old.serial);
        draft.state.holds = most(|old| old.holds);
        match &space.kind {
            Kind::Windows(windows) => {
                window::created_again(&windows.terms, &mut draft, seen, highest);
            }
            Kind::Blocks(terms) => {
                let is_stale = settled.iter().any(|old| old.block.is_stale);
                block::created_again(terms, &mut draft, most(|old| old.block.next), is_stale);
            }
            Kind::Scopes(terms) => {
                let is_stale = settled.iter().any(|old| old.block.is_stale);
                scope::created_again(terms, &mut draft, highest, is_stale);
            }
        }
    }
    draft.state.serial = draft.next_serial();
    Ok((draft.state, draft.events))
}

/// The row of a space that was dropped, as it would be if a request looked at it now.
fn settled(before: &Space, old: &SpaceState, seen: &Seen) -> SpaceState {
    let mut draft = Draft::of(old);
    match &before.kind {
        Kind::Windows(windows) => window::settle(&windows.terms, &mut draft, seen),
        Kind::Blocks(terms) => block::settle(terms, &mut draft, seen),
        Kind::Scopes(terms) => scope::settle(terms, &mut draft, seen),
    }
    draft.state
}

/// Whether a space may have issued an id: one that its row tells of, or one that the row was written too early to tell of.
fn may_have_issued(old: &SpaceState, settled: &SpaceState) -> bool {
    let is_behind = settled.floor != old.floor || settled.block.next != old.block.next;
    old.has_issued() || settled.block.is_stale || is_behind
}
