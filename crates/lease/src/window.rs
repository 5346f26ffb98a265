//! The rules of windows: acquire, renew, release, re-assert, burn, hold. Rules 2, 7, 11, 12, 13, 15, 17 and 20.
//!
//! Pure: no clock, no I/O, no randomness. Each takes the space's row after [`settle`] and what else was read, and writes to a
//! [`Draft`].

use crate::error::{Lost, Refusal};
use crate::identity::{Change, compare};
use crate::request::{Acquire, Answer, Event, Held, Lease, Loss, MAX_LEASES, Release};
use crate::rules::{Draft, jump};
use crate::space::Terms;
use crate::state::{Expect, Expected, Nonce, RowWrite, Rows, Seen, SpaceState, Tick, WorkerRow};
use mintage::UnixNanos;

/// A fresh client's wall clock may be this far from the store's. Rule 15.
const WALL_TOLERANCE_NANOS: i128 = 3_600 * 1_000_000_000;

impl Terms {
    /// The tick in which `now` lies: rounded down. Rule 2.
    ///
    /// # Errors
    /// [`Refusal::BeforeEpoch`].
    pub fn tick_down(&self, now: UnixNanos) -> Result<Tick, Refusal> {
        self.base.tick_at(now).ok_or(Refusal::BeforeEpoch { now, epoch: self.base.epoch })
    }

    /// The first tick that begins at or after `now`: rounded up. Rule 2.
    ///
    /// # Errors
    /// [`Refusal::BeforeEpoch`].
    pub fn tick_up(&self, now: UnixNanos) -> Result<Tick, Refusal> {
        self.tick_down(now)?;
        self.tick_down(now.plus(i128::from(self.base.tick_nanos) - 1))
    }

    /// Whether `tick` begins after `time`.
    #[must_use]
    pub fn is_after(&self, tick: Tick, time: UnixNanos) -> bool {
        // What is too far away for a number of nanoseconds is after everything.
        self.base.time_of(u128::from(tick)).is_none_or(|begins| begins > time)
    }

    /// When `tick` begins.
    #[must_use]
    pub fn time_of(&self, tick: Tick) -> UnixNanos {
        self.base.time_of(u128::from(tick)).unwrap_or(UnixNanos(i128::MAX))
    }

    /// The tick after the last that the field holds.
    #[must_use]
    pub const fn end(&self) -> Tick {
        self.last_tick.saturating_add(1)
    }

    /// When the time field ends: no id has this time or a later one. A caller warns two years ahead. Rule 7.
    #[must_use]
    pub fn ends_at(&self) -> UnixNanos {
        self.time_of(self.end())
    }

    /// Where a window that is granted at `now` ends: a window's length from now, not above `max_ahead`, not above the field's
    /// end, rounded down. Rules 2, 7 and 12.
    fn until(&self, now: UnixNanos) -> Result<Tick, Refusal> {
        let ahead = self.timing.window_nanos.min(self.timing.max_ahead_nanos);
        Ok(self.tick_down(now.plus(i128::from(ahead)))?.min(self.end()))
    }

    fn skew(&self) -> i128 {
        i128::from(self.timing.max_store_skew_nanos)
    }
}

impl SpaceState {
    /// Whether the space grants no new worker at `now`. Rule 17.
    #[must_use]
    pub fn is_on_hold(&self, terms: &Terms, now: UnixNanos) -> bool {
        terms.is_after(self.floor, now)
    }
}

/// Whether the store's time can be believed. Judged before anything else, as one bad clock must not poison a mark or a floor.
/// Rule 15.
///
/// # Errors
/// [`Refusal::ClockAhead`] and [`Refusal::ClockOff`].
pub fn check_clock(terms: &Terms, seen: &Seen) -> Result<(), Refusal> {
    let now = seen.now;
    match seen.expected {
        Expected::Anything => Ok(()),
        Expected::Elapsed(expected) if now > expected.plus(terms.skew()) => {
            Err(Refusal::ClockAhead { now, expected })
        }
        Expected::Elapsed(_) => Ok(()),
        Expected::Wall(wall) if now.0.abs_diff(wall.0) > WALL_TOLERANCE_NANOS.unsigned_abs() => {
            Err(Refusal::ClockOff { now, wall })
        }
        Expected::Wall(_) => Ok(()),
    }
}

/// Compares what the store is and what the caller has seen with the space's row, and begins a hold where they differ. Every
/// transaction comes here first. Rule 17.
pub fn settle(terms: &Terms, draft: &mut Draft, seen: &Seen) {
    let change = compare(&draft.state.identity, &seen.live);
    if change != Change::Same {
        draft.state.identity = seen.live;
        draft.is_changed = true;
    }
    // The server start is later than the loss only where the loss came with the start: a replica had started long before it
    // was promoted, and a copy may be read by a server that was never stopped.
    let started = seen.live.started.filter(|started| *started <= seen.now).unwrap_or(seen.now);
    match change {
        Change::Same => {}
        Change::Restarted if !draft.state.restart_hold => draft.events.push(Event::RestartPassed),
        Change::Restarted => hold(terms, draft, Loss::Restart, started, 0),
        Change::Promoted => hold(terms, draft, Loss::Promotion, seen.now, 0),
        Change::OlderCopy => hold(terms, draft, Loss::OlderCopy, seen.now, 0),
    }
    let (witness, state) = (seen.witness, &draft.state);
    // What was seen before the last hold is covered by it.
    let is_mark_lost = witness.serial > state.hold_serial && witness.mark > state.high_mark;
    if witness.serial > state.serial || is_mark_lost {
        hold(terms, draft, Loss::Witness, seen.now, witness.serial);
    }
}

/// Begins a hold: raises the floor above everything that a lost transaction since `loss` can have granted, and lets the serial
/// jump above everything that it can have been. A hold never lowers a floor. Rule 17.
///
/// The floor covers what was lost only if any two readings of the store's clock, a promoted replica's too, differ from the time
/// that passed between them by at most `max_store_skew`.
pub fn hold(terms: &Terms, draft: &mut Draft, why: Loss, loss: UnixNanos, seen_serial: u64) {
    let cover = i128::from(terms.timing.max_ahead_nanos) + terms.skew();
    let floor = terms.tick_up(loss.plus(cover)).unwrap_or(0).min(terms.end());
    let state = &mut draft.state;
    state.floor = state.floor.max(floor);
    jump(state, seen_serial);
    state.holds = state.holds.saturating_add(1);
    draft.is_changed = true;
    draft.events.push(Event::HoldBegan { why, floor: draft.state.floor });
}

/// Ends a hold on an operator's word that nothing was lost: the only thing that lowers a floor, and it doesn't lower it below
/// where a dropped space of the same name may have issued. A hold that stays because of that is told as an event. Rules 17 and 19.
///
/// The word is about every floor that lies ahead of the store's clock, not only about the last hold: the row doesn't tell floors
/// apart. After a loss that was real, it is false until the clock has reached the floor, and again whenever it stands behind it.
///
/// # Errors
/// [`Refusal::BeforeEpoch`].
pub fn release_hold(terms: &Terms, draft: &mut Draft, now: UnixNanos) -> Result<Answer, Refusal> {
    if draft.state.is_on_hold(terms, now) {
        let floor = terms.tick_down(now)?.max(draft.state.old_floor);
        draft.is_changed |= floor != draft.state.floor;
        draft.state.floor = floor;
        if draft.state.is_on_hold(terms, now) {
            draft.events.push(Event::HoldStays { floor });
        }
    }
    Ok(Answer::Done)
}

/// Grants windows of the workers with the lowest marks not above now; rows are made where no row is free. Rules 2, 12, 13, 17.
///
/// A row that exists goes before a worker without one: the table stays as large as the most workers ever held at once.
///
/// "Not above now" is for more than a fresh worker at once: a window granted behind a lease that is still alive may be lost in a
/// restore, and then that lease is renewed into it, as below the floor a live lease may be. Uniqueness needs it.
///
/// # Errors
/// [`Refusal::Doubled`], [`Refusal::OnHold`], [`Refusal::HostQuota`], [`Refusal::NoneFree`], [`Refusal::TimeFieldEnded`],
/// [`Refusal::BeforeEpoch`], and [`Refusal::Request`] for a request that makes no sense.
pub fn acquire(
    terms: &Terms,
    draft: &mut Draft,
    now: UnixNanos,
    ask: &Acquire,
    rows: &Rows,
) -> Result<Answer, Refusal> {
    if ask.nonce == Nonce::NOBODY {
        return Err(Refusal::Request { what: "nonce 0", expected: "a random one" });
    }
    if !(1..=MAX_LEASES).contains(&ask.want) {
        return Err(Refusal::Request { what: "a number of leases out of range", expected: "1 to 1024" });
    }
    if ask.host.len() > 255 {
        return Err(Refusal::Request { what: "a long host name", expected: "at most 255 bytes" });
    }
    if rows.is_nonce_known {
        return Err(Refusal::Doubled);
    }
    let (down, up) = (terms.tick_down(now)?, terms.tick_up(now)?);
    if draft.state.is_on_hold(terms, now) {
        return Err(Refusal::OnHold { until: terms.time_of(draft.state.floor) });
    }
    let live = u64::try_from(rows.of_host.len()).unwrap_or(u64::MAX);
    let left = u64::from(terms.host_quota).saturating_sub(live);
    if left == 0 {
        let over = rows.of_host.len() - terms.host_quota as usize;
        return Err(Refusal::HostQuota { live, next: terms.time_of(rows.of_host[over]) });
    }
    let want = u64::from(ask.want).min(left);
    let until = terms.until(now)?;
    let serial = draft.next_serial();
    let floor = draft.state.floor;
    let mut leases = Vec::new();
    let grant = |worker: u64, row: Option<&WorkerRow>, leases: &mut Vec<Lease>, draft: &mut Draft| {
        let from = up.max(row.map_or(0, |row| row.mark)).max(floor);
        if from >= until {
            return Err(Refusal::TimeFieldEnded { last_tick: terms.last_tick });
        }
        leases.push(Lease { worker, from, until, serial, nonce: ask.nonce });
        let is_burned = false;
        let granted = WorkerRow {
            worker,
            mark: until,
            from,
            serial,
            nonce: ask.nonce,
            host: ask.host.clone(),
            is_burned,
        };
        draft.rows.push(RowWrite { row: granted, expect: Expect::of(row) });
        Ok(())
    };
    let is_free = |row: &&WorkerRow| row.mark <= down && !row.is_burned;
    for row in rows.lowest.iter().filter(is_free) {
        if leases.len() as u64 == want {
            break;
        }
        grant(row.worker, Some(row), &mut leases, draft)?;
    }
    let mut next = draft.state.next_worker.max(terms.first_worker);
    while (leases.len() as u64) < want && next <= terms.last_worker {
        if rows.ahead.binary_search(&next).is_err() {
            grant(next, None, &mut leases, draft)?;
        }
        next += 1;
    }
    if leases.is_empty() {
        let next = rows.lowest.iter().find(|row| row.mark > down && !row.is_burned);
        return Err(Refusal::NoneFree { next: next.map(|row| terms.time_of(row.mark)) });
    }
    draft.state.next_worker = next;
    draft.state.high_mark = draft.state.high_mark.max(until);
    draft.is_changed = true;
    Ok(Answer::Leases(leases))
}

/// Lengthens the window of each lease of a process: contiguous, never lowering a mark, never above `max_ahead`. Rules 11, 12, 17.
///
/// A row that only a loss explains begins a hold first. A window that can't grow yet is answered as it is.
///
/// # Errors
/// [`Refusal::Request`] and [`Refusal::BeforeEpoch`] for all; for each lease [`Refusal::Lost`], [`Refusal::BelowFloor`] and
/// [`Refusal::TimeFieldEnded`].
pub fn renew(
    terms: &Terms,
    draft: &mut Draft,
    now: UnixNanos,
    held: &[Held],
    rows: &Rows,
) -> Result<Answer, Refusal> {
    check_each_once(held)?;
    report_losses(terms, draft, now, held, rows);
    let until = terms.until(now)?;
    let serial = draft.next_serial();
    let each = held.iter().map(|held| {
        let row = own_row(terms, draft, now, held, rows)?;
        let is_alive = terms.is_after(row.mark, now.plus(terms.skew()));
        if row.mark < draft.state.floor && !is_alive {
            return Err(Refusal::BelowFloor { worker: held.worker });
        }
        if row.mark > terms.last_tick {
            return Err(Refusal::TimeFieldEnded { last_tick: terms.last_tick });
        }
        if until <= row.mark {
            return Ok(Lease {
                worker: held.worker,
                from: row.mark,
                until: row.mark,
                serial: row.serial,
                nonce: row.nonce,
            });
        }
        let renewed = WorkerRow { mark: until, serial, ..row.clone() };
        draft.rows.push(RowWrite { row: renewed, expect: Expect::of(Some(row)) });
        draft.state.high_mark = draft.state.high_mark.max(until);
        draft.is_changed = true;
        Ok(Lease { worker: held.worker, from: row.mark, until, serial, nonce: row.nonce })
    });
    Ok(Answer::Each(each.collect()))
}

/// Ends a lease: the mark moves from `until` to exactly `last + 1`, or to where the first window began when nothing was made.
/// Fenced by serial, nonce and mark. Rules 11 and 20.
///
/// # Errors
/// [`Refusal::Lost`] and [`Refusal::LastTick`].
pub fn release(
    terms: &Terms,
    draft: &mut Draft,
    now: UnixNanos,
    ask: &Release,
    rows: &Rows,
) -> Result<Answer, Refusal> {
    let Release { held, last } = ask;
    let serial = draft.next_serial();
    let row = own_row(terms, draft, now, held, rows)?;
    let mark = match *last {
        None => row.from,
        Some(last) if last >= held.until => {
            return Err(Refusal::LastTick { worker: held.worker, last, until: held.until });
        }
        // Below `from` only after a re-assertion, which doesn't know where the lease began: higher is safe.
        Some(last) => (last + 1).max(row.from),
    };
    // The nonce stays: a renewal that was delayed past the release finds its own row moved on, which shows no loss.
    let released = WorkerRow { mark, from: mark, serial, ..row.clone() };
    draft.rows.push(RowWrite { row: released, expect: Expect::of(Some(row)) });
    draft.is_changed = true;
    Ok(Answer::Done)
}

/// During a hold, writes live leases into rows that lost them: whatever serial or nonce a row shows, a window that ends more
/// than `max_store_skew` after now and not below the mark is its holder's. Rule 17.
///
/// This makes a row where there is none, as the hold lets nobody else be granted the worker.
///
/// # Errors
/// [`Refusal::Request`] for all; for each lease [`Refusal::NotOnHold`], [`Refusal::NotAlive`], [`Refusal::Lost`] and
/// [`Refusal::WorkerRange`].
pub fn reassert(
    terms: &Terms,
    draft: &mut Draft,
    now: UnixNanos,
    held: &[Held],
    rows: &Rows,
) -> Result<Answer, Refusal> {
    check_each_once(held)?;
    let serial = draft.next_serial();
    let is_on_hold = draft.state.is_on_hold(terms, now);
    let each = held.iter().map(|held| {
        let Held { worker, nonce, until, .. } = *held;
        check_worker(terms, worker)?;
        if nonce == Nonce::NOBODY {
            return Err(Refusal::Request { what: "nonce 0", expected: "the lease's" });
        }
        let row = rows.of(worker);
        if row.is_some_and(|row| row.is_burned) {
            return Err(Refusal::Lost { worker, why: Lost::Burned, is_on_hold });
        }
        if !is_on_hold {
            return Err(Refusal::NotOnHold { worker });
        }
        let is_alive = terms.is_after(until, now.plus(terms.skew()));
        // The floor is above everything that was ever granted before the hold.
        if !is_alive || until > draft.state.floor {
            return Err(Refusal::NotAlive { worker, until });
        }
        let mark = row.map_or(0, |row| row.mark);
        if until < mark {
            return Err(Refusal::Lost { worker, why: Lost::Moved, is_on_hold });
        }
        let is_own = row.is_some_and(|row| row.nonce == nonce);
        let from = row.map_or(0, |row| if is_own { row.from } else { row.mark });
        let host = row.map_or_else(String::new, |row| row.host.clone());
        let asserted = WorkerRow { worker, mark: until, from, serial, nonce, host, is_burned: false };
        draft.rows.push(RowWrite { row: asserted, expect: Expect::of(row) });
        draft.state.high_mark = draft.state.high_mark.max(until);
        draft.is_changed = true;
        Ok(Lease { worker, from: until, until, serial, nonce })
    });
    Ok(Answer::Each(each.collect()))
}

/// Retires a worker for ever, and raises its serial, so that its holder can't renew or release. Rule 15.
///
/// # Errors
/// [`Refusal::WorkerRange`].
pub fn burn(terms: &Terms, draft: &mut Draft, worker: u64, rows: &Rows) -> Result<Answer, Refusal> {
    check_worker(terms, worker)?;
    let row = rows.of(worker);
    if row.is_some_and(|row| row.is_burned) {
        return Ok(Answer::Done);
    }
    let blank = WorkerRow {
        worker,
        mark: 0,
        from: 0,
        serial: 0,
        nonce: Nonce::NOBODY,
        host: String::new(),
        is_burned: true,
    };
    let serial = draft.next_serial();
    let burned = WorkerRow { serial, is_burned: true, ..row.cloned().unwrap_or(blank) };
    draft.rows.push(RowWrite { row: burned, expect: Expect::of(row) });
    draft.is_changed = true;
    Ok(Answer::Done)
}

/// Begins the hold of a space that is created again under the name of one that was dropped: no window begins below `highest`, up to
/// which the old ones may have issued, and no operator lowers the floor below that. Rule 19.
pub fn created_again(terms: &Terms, draft: &mut Draft, seen: &Seen, highest: Tick) {
    hold(terms, draft, Loss::CreatedAgain, seen.now, draft.state.serial);
    let highest = highest.min(terms.end());
    draft.state.floor = draft.state.floor.max(highest);
    draft.state.old_floor = highest;
}

/// The row of a lease, when it shows exactly what its holder was told last. Rules 11 and 12.
fn own_row<'a>(
    terms: &Terms,
    draft: &Draft,
    now: UnixNanos,
    held: &Held,
    rows: &'a Rows,
) -> Result<&'a WorkerRow, Refusal> {
    let is_on_hold = draft.state.is_on_hold(terms, now);
    let lost = |why| Refusal::Lost { worker: held.worker, why, is_on_hold };
    match rows.of(held.worker) {
        None => Err(lost(Lost::NoRow)),
        Some(row) if row.is_burned => Err(lost(Lost::Burned)),
        Some(row) if row.nonce != held.nonce => Err(lost(Lost::Foreign)),
        Some(row) if row.serial != held.serial || row.mark != held.until => Err(lost(Lost::Moved)),
        Some(row) => Ok(row),
    }
}

/// Begins a hold when a holder finds a row that only a loss explains. Rule 17.
fn report_losses(terms: &Terms, draft: &mut Draft, now: UnixNanos, held: &[Held], rows: &Rows) {
    // A lease from before the last hold proves only the loss that the hold was for.
    let fresh = held.iter().filter(|held| held.serial > draft.state.hold_serial);
    let lost = fresh.filter(|held| is_loss(terms, now, held, rows.of(held.worker)));
    if let Some(highest) = lost.map(|held| held.serial).max() {
        hold(terms, draft, Loss::ForeignRow, now, highest);
    }
}

/// Whether no history without a loss leads from the holder's last answer to this row.
fn is_loss(terms: &Terms, now: UnixNanos, held: &Held, row: Option<&WorkerRow>) -> bool {
    // Rows are never deleted, and serials only grow.
    let Some(row) = row else { return true };
    if row.is_burned || row.serial > held.serial {
        // Without a loss, whoever follows begins where this window ended.
        let is_foreign = row.nonce != held.nonce && row.from < held.until;
        return !row.is_burned && is_foreign && terms.is_after(held.until, now);
    }
    row.serial < held.serial || row.nonce != held.nonce || row.mark != held.until
}

/// A lease named twice in one request would be granted twice.
fn check_each_once(held: &[Held]) -> Result<(), Refusal> {
    let mut workers: Vec<u64> = held.iter().map(|held| held.worker).collect();
    workers.sort_unstable();
    if workers.windows(2).any(|pair| pair[0] == pair[1]) {
        return Err(Refusal::Request { what: "a worker twice", expected: "each once" });
    }
    if held.is_empty() || held.len() > MAX_LEASES as usize {
        return Err(Refusal::Request { what: "a number of leases out of range", expected: "1 to 1024" });
    }
    Ok(())
}

/// A worker outside the space's range is refused, not masked. Rule 7.
fn check_worker(terms: &Terms, worker: u64) -> Result<(), Refusal> {
    let Terms { first_worker: first, last_worker: last, .. } = *terms;
    if (first..=last).contains(&worker) { Ok(()) } else { Err(Refusal::WorkerRange { worker, first, last }) }
}

#[cfg(test)]
#[path = "window_tests.rs"]
mod tests;
