//! Decisions with rules taken out: the rules stay as they are, and what they see, or what they said, is changed around them.

use super::rules::Out;
use super::steps::Protocol;
use super::table::terms;
use mintage::UnixNanos;
use mintage_lease::Answer;
use mintage_lease::identity::{Change, compare};
use mintage_lease::request::{Held, Request};
use mintage_lease::rules::{self, Decision};
use mintage_lease::space::{Kind, Terms};
use mintage_lease::state::{Expect, RowWrite, Rows, Seen, SpaceState, Tick, WorkerRow};

/// [`rules::decide`], without the protocol's `outs`.
pub(super) fn decide(
    protocol: &Protocol,
    state: &SpaceState,
    seen: &Seen,
    request: &Request,
    rows: &Rows,
) -> Decision {
    let kind = &protocol.space.kind;
    if protocol.outs.is_empty() {
        return rules::decide(kind, state, seen, request, rows);
    }
    let mut seen = *seen;
    let is_acquire = matches!(request, Request::Acquire(_));
    let ignores = protocol.is_out(Out::Identity) || (protocol.is_out(Out::IdentityAlways) && !is_acquire);
    if ignores {
        seen.live = state.identity;
    }
    if protocol.is_out(Out::Witness) {
        seen.witness = mintage_lease::state::Witness::default();
    }
    let kind = &kind_without(protocol, kind);
    // What holds change is seen once they began: a look first, and then the request.
    let mut looked = rules::decide(kind, state, &seen, &Request::Look, &Rows::default());
    hold_without(protocol, kind, state, &seen, &mut looked);
    let settled = looked.state.clone().unwrap_or_else(|| state.clone());
    let mut decision = match kind {
        Kind::Windows(_) => windows_without(protocol, kind, &settled, &seen, request, rows),
        Kind::Blocks(_) | Kind::Scopes(_) => blocks_without(protocol, kind, &settled, &seen, request, rows),
    };
    hold_without(protocol, kind, &settled, &seen, &mut decision);
    decision.state = decision.state.or(looked.state);
    decision.events.splice(0..0, looked.events);
    if protocol.is_out(Out::FloorStays)
        && let Kind::Windows(windows) = kind
        && let Some(state) = &mut forget_floor(&windows.terms, state, &seen, &mut decision)
    {
        state.floor = 0;
    }
    decision
}

/// The state to be written, when the floor has passed and is to be forgotten.
fn forget_floor<'a>(
    terms: &Terms,
    state: &SpaceState,
    seen: &Seen,
    decision: &'a mut Decision,
) -> Option<&'a mut SpaceState> {
    let after = decision.state.as_ref().unwrap_or(state);
    if after.floor == 0 || after.is_on_hold(terms, seen.now) {
        return None;
    }
    let next = SpaceState { serial: state.serial + 1, ..state.clone() };
    Some(decision.state.get_or_insert(next))
}

fn kind_without(protocol: &Protocol, kind: &Kind) -> Kind {
    let mut kind = kind.clone();
    if let Kind::Windows(windows) = &mut kind {
        let terms = &mut windows.terms;
        if protocol.is_out(Out::WholeTicks) {
            terms.base.tick_nanos = 1;
        }
        if protocol.is_out(Out::TickFits) {
            terms.last_tick = 63;
        }
    }
    kind
}

/// Changes what a hold, or a counter's stop or jump, wrote.
fn hold_without(protocol: &Protocol, kind: &Kind, before: &SpaceState, seen: &Seen, decision: &mut Decision) {
    let Some(after) = &mut decision.state else { return };
    match kind {
        Kind::Blocks(_) => {
            if protocol.is_out(Out::CounterJumps) && after.block.jumps > before.block.jumps {
                after.block.next = before.block.next;
            }
            if protocol.is_out(Out::CounterStops) {
                after.block.is_stale = false;
            }
        }
        Kind::Windows(windows) if after.holds > before.holds => {
            let terms = &windows.terms;
            let ahead = i128::from(terms.timing.max_ahead_nanos);
            let skew = i128::from(terms.timing.max_store_skew_nanos);
            let cover = |nanos| terms.tick_up(seen.now.plus(nanos)).unwrap_or(0);
            if protocol.is_out(Out::HoldCoversSkew) {
                after.floor = before.floor.max(cover(ahead));
            }
            if protocol.is_out(Out::HoldCoversAhead) {
                after.floor = before.floor.max(cover(skew));
            }
            if protocol.is_out(Out::FloorRoundsUp) {
                let floor = terms.tick_down(seen.now.plus(ahead + skew)).unwrap_or(0);
                after.floor = before.floor.max(floor);
            }
            if protocol.is_out(Out::FloorNeverSinks) {
                after.floor = cover(ahead + skew);
            }
            let is_promotion = compare(&before.identity, &seen.live) == Change::Promoted;
            if protocol.is_out(Out::PromotionCountsFromNow) && is_promotion {
                let started = seen.live.started.unwrap_or(seen.now);
                let floor = terms.tick_up(started.plus(ahead + skew)).unwrap_or(0);
                after.floor = before.floor.max(floor);
            }
            if protocol.is_out(Out::SerialJump) {
                after.serial = before.serial.max(seen.witness.serial) + 1;
                after.hold_serial = after.serial - 1;
            }
        }
        Kind::Windows(_) | Kind::Scopes(_) => {}
    }
}

fn windows_without(
    protocol: &Protocol,
    kind: &Kind,
    settled: &SpaceState,
    seen: &Seen,
    request: &Request,
    rows: &Rows,
) -> Decision {
    let out = |rule| protocol.is_out(rule);
    let terms = terms(kind);
    let mut shown = Shown { kind: kind.clone(), state: settled.clone(), seen: *seen, rows: rows.clone() };
    let is_on_hold = settled.is_on_hold(&terms, seen.now);
    let request = &compared_without(protocol, request, rows);
    match request {
        Request::Acquire(_) => {
            if out(Out::MarkNotAboveNow) {
                let down = terms.tick_down(seen.now).unwrap_or(0);
                shown.rows.lowest.iter_mut().for_each(|row| row.mark = row.mark.min(down));
            }
            if out(Out::NoGrantInHold) || out(Out::FromFloor) {
                shown.state.floor = if out(Out::NoGrantInHold) { 0 } else { settled.floor };
            }
        }
        Request::Renew(_) => {
            if out(Out::AliveBelowFloor) || (out(Out::AliveAfterHold) && !is_on_hold) {
                shown.state.floor = 0;
            }
            if out(Out::AliveWithSkew) {
                shown.terms().timing.max_store_skew_nanos = 0;
            }
            if out(Out::Report) {
                shown.state.hold_serial = u64::MAX;
            }
        }
        Request::Reassert(held) => {
            if out(Out::ReassertInHold) {
                shown.state.floor = 1_000;
            }
            if out(Out::ReassertAlive) && is_on_hold {
                shown.seen.now = UnixNanos(-1_000);
            }
            if out(Out::ReassertAboveMark) {
                for (row, held) in each_named(&mut shown.rows, held) {
                    row.mark = row.mark.min(held.until);
                }
            }
        }
        _ => {}
    }
    if out(Out::MaxAhead) {
        let longer = shown.terms().timing.max_ahead_nanos + 2;
        shown.terms().timing.window_nanos = longer;
        shown.terms().timing.max_ahead_nanos = longer;
    }
    if out(Out::RowsMadeByGrants)
        && let Request::Renew(_) | Request::Release(_) = request
    {
        make_rows(request, &mut shown.rows);
    }
    let mut decision = shown.decide(request);
    if let Some(state) = &mut decision.state {
        // What was hidden from the rules stays in the row.
        if shown.state.floor != settled.floor {
            let is_new = state.holds > settled.holds;
            state.floor = if is_new { state.floor.max(settled.floor) } else { settled.floor };
        }
        if out(Out::Report) && state.hold_serial == u64::MAX {
            state.hold_serial = settled.hold_serial;
        }
    }
    for write in &mut decision.rows {
        write.expect = Expect::of(true_row(rows, write.row.worker));
    }
    match request {
        Request::Acquire(_) => begin_without(protocol, &terms, settled, seen, rows, &mut decision),
        Request::Release(ask) => {
            for write in &mut decision.rows {
                if out(Out::LastPlusOne) {
                    write.row.mark = ask.last.unwrap_or(write.row.mark);
                }
                if out(Out::LastNotNow) {
                    write.row.mark = terms.tick_down(seen.now).unwrap_or(0);
                }
                write.row.from = write.row.mark;
            }
        }
        Request::Renew(held) if out(Out::RenewalLowersNothing) => {
            lower(&terms, settled, seen, held, rows, &mut decision);
        }
        _ => {}
    }
    if out(Out::UntilRoundsDown) {
        round_up(protocol, &terms, settled, seen, &mut decision);
    }
    decision
}

/// What the rules are shown instead of what is there.
struct Shown {
    kind: Kind,
    state: SpaceState,
    seen: Seen,
    rows: Rows,
}

impl Shown {
    fn terms(&mut self) -> &mut Terms {
        match &mut self.kind {
            Kind::Windows(windows) => &mut windows.terms,
            Kind::Blocks(_) | Kind::Scopes(_) => panic!("only a space of windows has windows"),
        }
    }

    fn decide(&self, request: &Request) -> Decision {
        rules::decide(&self.kind, &self.state, &self.seen, request, &self.rows)
    }
}

/// The request with what isn't compared replaced by what the row has.
fn compared_without(protocol: &Protocol, request: &Request, rows: &Rows) -> Request {
    let mut request = request.clone();
    let agree = |held: &mut Held| {
        if let Some(row) = rows.of(held.worker) {
            if protocol.is_out(Out::Serial) {
                held.serial = row.serial;
            }
            if protocol.is_out(Out::Nonce) {
                held.nonce = row.nonce;
            }
            if protocol.is_out(Out::MarkIsUntil) {
                held.until = row.mark;
            }
        }
    };
    match &mut request {
        Request::Renew(held) => held.iter_mut().for_each(agree),
        Request::Release(ask) => agree(&mut ask.held),
        _ => {}
    }
    request
}

fn true_row(rows: &Rows, worker: u64) -> Option<&WorkerRow> {
    rows.named.iter().chain(&rows.lowest).find(|row| row.worker == worker)
}

fn each_named<'a>(
    rows: &'a mut Rows,
    held: &'a [Held],
) -> impl Iterator<Item = (&'a mut WorkerRow, &'a Held)> {
    rows.named.iter_mut().filter_map(|row| {
        let held = held.iter().find(|held| held.worker == row.worker)?;
        Some((row, held))
    })
}

/// The rows that a renewal or release doesn't find, as its sender remembers them.
fn make_rows(request: &Request, rows: &mut Rows) {
    let held = match request {
        Request::Renew(held) => held.clone(),
        Request::Release(ask) => vec![ask.held],
        _ => Vec::new(),
    };
    for Held { worker, nonce, serial, until } in held {
        if rows.of(worker).is_none() {
            let (host, is_burned) = (String::new(), false);
            rows.named.push(WorkerRow { worker, mark: until, from: 0, serial, nonce, host, is_burned });
        }
    }
}

/// Where the windows of an acquire begin.
fn begin_without(
    protocol: &Protocol,
    terms: &Terms,
    settled: &SpaceState,
    seen: &Seen,
    rows: &Rows,
    decision: &mut Decision,
) {
    let changes =
        [Out::MarkNotAboveNow, Out::FromMark, Out::FromFloor, Out::NoGrantInHold, Out::FromRoundsUp];
    let Ok(Answer::Leases(leases)) = &mut decision.answer else { return };
    if !changes.iter().any(|rule| protocol.is_out(*rule)) {
        return;
    }
    for (lease, write) in leases.iter_mut().zip(&mut decision.rows) {
        let mark = rows.lowest.iter().find(|row| row.worker == lease.worker).map_or(0, |row| row.mark);
        let now = if protocol.is_out(Out::FromRoundsUp) {
            terms.tick_down(seen.now)
        } else {
            terms.tick_up(seen.now)
        };
        let mut from = now.unwrap_or(0);
        if !protocol.is_out(Out::FromMark) {
            from = from.max(mark);
        }
        if !protocol.is_out(Out::FromFloor) {
            from = from.max(settled.floor);
        }
        (lease.from, write.row.from) = (from, from);
    }
    if leases.iter().any(|lease| lease.from >= lease.until) {
        let refusal = mintage_lease::Refusal::NoneFree { next: None };
        *decision = Decision {
            state: None,
            rows: Vec::new(),
            scope: None,
            answer: Err(refusal),
            serial: 0,
            events: Vec::new(),
        };
    }
}

/// Writes the lower mark that a renewal came to.
fn lower(
    terms: &Terms,
    settled: &SpaceState,
    seen: &Seen,
    held: &[Held],
    rows: &Rows,
    decision: &mut Decision,
) {
    let Ok(Answer::Each(each)) = &mut decision.answer else { return };
    let window = i128::from(terms.timing.window_nanos);
    let until: Tick = terms.tick_down(seen.now.plus(window)).unwrap_or(0);
    for (lease, held) in each.iter_mut().zip(held) {
        let (Ok(lease), Some(row)) = (lease, rows.of(held.worker)) else { continue };
        if until < row.mark {
            let state = decision.state.get_or_insert_with(|| settled.clone());
            state.serial = settled.serial + 1;
            (lease.until, lease.serial) = (until, state.serial);
            let lowered = WorkerRow { mark: until, serial: state.serial, ..row.clone() };
            decision.rows.push(RowWrite { row: lowered, expect: Expect::of(Some(row)) });
        }
    }
}

/// Lets the windows that were granted end a tick later where now plus a window isn't a whole tick.
fn round_up(protocol: &Protocol, terms: &Terms, settled: &SpaceState, seen: &Seen, decision: &mut Decision) {
    let end = seen.now.plus(i128::from(terms.timing.window_nanos));
    let (down, up) = (terms.tick_down(end).unwrap_or(0), terms.tick_up(end).unwrap_or(0));
    let _ = (protocol, settled);
    for write in &mut decision.rows {
        if write.row.mark == down {
            write.row.mark = up;
        }
    }
    if let Some(state) = &mut decision.state
        && state.high_mark == down
    {
        state.high_mark = up;
    }
    let leases = match &mut decision.answer {
        Ok(Answer::Leases(leases)) => leases.iter_mut().collect(),
        Ok(Answer::Each(each)) => each.iter_mut().flatten().collect(),
        _ => Vec::new(),
    };
    for lease in leases {
        if lease.until == down && lease.from < lease.until {
            lease.until = up;
        }
    }
}

fn blocks_without(
    protocol: &Protocol,
    kind: &Kind,
    settled: &SpaceState,
    seen: &Seen,
    request: &Request,
    rows: &Rows,
) -> Decision {
    let mut request = request.clone();
    if let Request::GiveBack(ask) = &mut request {
        let block = &settled.block;
        if protocol.is_out(Out::Serial) {
            ask.block.serial = block.serial;
        }
        if protocol.is_out(Out::Nonce) {
            ask.block.nonce = block.nonce;
        }
        if protocol.is_out(Out::GiveBackIsLast) {
            ask.block.end = block.next.max(ask.block.start);
        }
    }
    rules::decide(kind, settled, seen, &request, rows)
}
