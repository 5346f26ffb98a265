//! The rules of scope counters: take, bump, and the jump at a failover, of all scopes of a space together. Rules 11, 17 and 18.
//!
//! What stops or jumps is the space, in the one row that each transaction locks: no row of a scope is written for it, and one that was
//! lost, or isn't there yet, is held by it too. A row says how many values of jumps it knows ([`ScopeRow::jumped`]); those that the space
//! made since are added when it is next read.

use crate::block::{count, gap, settle_identity, stop};
use crate::error::Refusal;
use crate::request::{Answer, Block, Bump, Event, Loss, MAX_PAGE, MAX_TAKE, Page, Take};
use crate::rules::{Draft, jump};
use crate::space::ScopeTerms;
use crate::state::{MAX_SERIAL, Nonce, Rows, ScopeName, ScopeRow, ScopeWrite, Seen, SpaceState};

/// Compares what the store is and what the caller has seen with the space's row. A promotion lets all scopes jump; an older copy, or a
/// caller that has seen a later serial, stops them all; a mere restart changes nothing. Rule 18.
pub fn settle(terms: &ScopeTerms, draft: &mut Draft, seen: &Seen) {
    settle_identity(draft, seen, |draft| fail_over(terms, draft));
    if seen.witness.serial > draft.state.serial {
        stop(draft, Loss::Witness, seen.witness.serial);
    }
}

/// Jumps over what the lost transactions can have handed out, in scopes that the space has and in those whose row was lost. Rule 18.
fn fail_over(terms: &ScopeTerms, draft: &mut Draft) {
    let by = gap(terms.failover_gap, &draft.state.block);
    if !lift(&mut draft.state, by) {
        // The sum of all jumps is no number any more that rows could be compared with.
        stop(draft, Loss::Promotion, 0);
        return;
    }
    draft.state.block.jumps = draft.state.block.jumps.saturating_add(1);
    jump(&mut draft.state, 0);
    draft.is_changed = true;
    draft.events.push(Event::ScopesJumped { by });
}

/// Moves all scopes on by so many values; false when that can't be counted.
fn lift(state: &mut SpaceState, by: u64) -> bool {
    let block = &mut state.block;
    let Some(jumped) = block.jumped.checked_add(by).filter(|jumped| *jumped <= MAX_SERIAL) else {
        return false;
    };
    let up = |from: u64| from.saturating_add(by).min(MAX_SERIAL);
    state.high_mark = up(state.high_mark.max(block.next));
    block.next = up(block.next);
    block.jumped = jumped;
    true
}

/// The scopes of a space that is created again begin above all that those that were dropped came to, as their rows aren't this
/// space's, and are stopped where one of them was. Rule 19.
pub fn created_again(terms: &ScopeTerms, draft: &mut Draft, highest: u64, is_stale: bool) {
    draft.state.old_floor = highest;
    draft.state.block.next = highest.max(terms.first);
    draft.state.block.is_stale = is_stale;
    jump(&mut draft.state, 0);
}

/// On an operator's word that every scope that was ever used is there: one that isn't begins with the first value again, as before all jumps and
/// bumps, unless the space was created again. Nothing else lowers that, as scopes whose rows were lost aren't there either. What has jumped
/// stays where it is.
///
/// # Errors
/// [`Refusal::ScopesStopped`]: what was lost is settled first.
pub fn begin_anew(terms: &ScopeTerms, draft: &mut Draft) -> Result<Answer, Refusal> {
    if draft.state.block.is_stale {
        return Err(Refusal::ScopesStopped);
    }
    let begin = terms.first.max(draft.state.old_floor);
    draft.is_changed |= draft.state.block.next != begin;
    draft.state.block.next = begin;
    Ok(Answer::Done)
}

/// The row of a scope as it stands: with the jumps that it doesn't know yet.
fn standing(state: &SpaceState, row: &ScopeRow) -> ScopeRow {
    let since = state.block.jumped.saturating_sub(row.jumped);
    ScopeRow {
        next: row.next.saturating_add(since).min(MAX_SERIAL),
        jumped: state.block.jumped,
        ..row.clone()
    }
}

/// The scope of the request as it stands, which may have no row yet.
fn named(state: &SpaceState, scope: &ScopeName, rows: &Rows) -> (ScopeRow, Option<ScopeRow>) {
    let found = rows.scopes.iter().find(|row| row.scope == *scope);
    let fresh = || ScopeRow {
        scope: scope.clone(),
        next: state.block.next,
        jumped: state.block.jumped,
        serial: 0,
        nonce: Nonce::NOBODY,
    };
    (found.map_or_else(fresh, |row| standing(state, row)), found.cloned())
}

/// Hands out the next values of a scope, and makes its row where there is none. Rules 11 and 18.
///
/// # Errors
/// [`Refusal::BlockSize`], [`Refusal::ScopesStopped`], [`Refusal::Doubled`], [`Refusal::CounterEnded`] and [`Refusal::ScopeEnds`].
pub fn take(
    terms: &ScopeTerms,
    draft: &mut Draft,
    seen: &Seen,
    ask: &Take,
    rows: &Rows,
) -> Result<Answer, Refusal> {
    if !(1..=MAX_TAKE).contains(&ask.size) {
        return Err(Refusal::BlockSize { size: ask.size, max: MAX_TAKE });
    }
    if ask.nonce == Nonce::NOBODY {
        return Err(Refusal::Request { what: "nonce 0", expected: "a random one" });
    }
    let (row, expect) = named(&draft.state, &ask.scope, rows);
    // A mark above the counter stays a sign of loss for ever, even after a bump that was too small.
    if seen.witness.mark > row.next {
        stop(draft, Loss::Witness, seen.witness.serial);
    }
    if draft.state.block.is_stale {
        return Err(Refusal::ScopesStopped);
    }
    if row.nonce == ask.nonce {
        return Err(Refusal::Doubled);
    }
    let (start, last) = (row.next, terms.last);
    if start > last {
        return Err(Refusal::CounterEnded { last });
    }
    let left = last - start + 1;
    if ask.size > left {
        return Err(Refusal::ScopeEnds { size: ask.size, left, last });
    }
    // The last value is below what columns hold, and so is the one after it.
    let (end, serial) = (start + ask.size, draft.next_serial());
    count(&mut draft.state.block, seen.now, ask.size);
    write(draft, ScopeRow { next: end, serial, nonce: ask.nonce, ..row }, expect);
    Ok(Answer::Block(Block { start, end, step: 1, serial, nonce: ask.nonce }))
}

fn write(draft: &mut Draft, row: ScopeRow, expect: Option<ScopeRow>) {
    draft.state.high_mark = draft.state.high_mark.max(row.next);
    draft.scope = Some(ScopeWrite { row, expect });
    draft.is_changed = true;
}

/// Moves one scope up, and makes its row where there is none: for numbers that came into use by other means. It ends no stop, which is
/// about all scopes. Rule 18.
///
/// # Errors
/// [`Refusal::BumpBack`], and [`Refusal::BumpPast`] for a value above the last.
pub fn bump(
    terms: &ScopeTerms,
    draft: &mut Draft,
    scope: &ScopeName,
    bump: Bump,
    rows: &Rows,
) -> Result<Answer, Refusal> {
    let (row, expect) = named(&draft.state, scope, rows);
    let to = match bump {
        Bump::To(to) => to,
        Bump::By(by) => row.next.saturating_add(by),
    };
    if to < row.next {
        return Err(Refusal::BumpBack { next: row.next, to });
    }
    if to > terms.last {
        return Err(Refusal::BumpPast { last: terms.last, to });
    }
    let serial = draft.next_serial();
    write(draft, ScopeRow { next: to, serial, nonce: Nonce::NOBODY, ..row }, expect);
    Ok(Answer::Done)
}

/// Moves all scopes up by so many values, those that aren't there yet too, and hands out values again. Rule 18.
///
/// # Errors
/// [`Refusal::Request`] for a value to move to, as scopes stand at different ones; [`Refusal::BumpPast`] where the furthest scope would
/// end, and [`Refusal::ScopesStopped`] where there were more jumps than can be counted.
pub fn bump_all(terms: &ScopeTerms, draft: &mut Draft, bump: Bump) -> Result<Answer, Refusal> {
    let Bump::By(by) = bump else {
        return Err(Refusal::Request {
            what: "a value for all scopes",
            expected: "a number of values to move them by, or the name of one scope",
        });
    };
    let to = draft.state.high_mark.max(draft.state.block.next).saturating_add(by);
    if to > terms.last {
        return Err(Refusal::BumpPast { last: terms.last, to });
    }
    if !lift(&mut draft.state, by) {
        return Err(Refusal::ScopesStopped);
    }
    draft.state.block.is_stale = false;
    draft.is_changed = true;
    Ok(Answer::Done)
}

/// The rows that were read, as they stand.
#[must_use]
pub fn shown(draft: &Draft, rows: &Rows) -> Answer {
    Answer::Scopes(rows.scopes.iter().map(|row| standing(&draft.state, row)).collect())
}

/// The rows of a page, as they stand.
///
/// # Errors
/// [`Refusal::Request`] for a page of no rows, or of too many.
pub fn page(draft: &Draft, page: &Page, rows: &Rows) -> Result<Answer, Refusal> {
    if !(1..=MAX_PAGE).contains(&page.most) {
        return Err(Refusal::Request { what: "a page of that many scopes", expected: "1 to 1000" });
    }
    Ok(shown(draft, rows))
}

#[cfg(test)]
#[path = "scope_tests.rs"]
mod tests;
