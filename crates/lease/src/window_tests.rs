//! Each rule of windows with the traces that it removes, over a store of plain data.

use super::*;
use crate::identity::Identity;
use crate::request::Request;
use crate::rules::{Decision, SERIAL_JUMP, created, decide};
use crate::space::{Kind, Space, SpaceId, Timing, Windows};
use crate::state::Witness;
use mintage::TimeBase;

/// Ticks of one nanosecond, so that times and ticks are the same numbers: windows of 10, `max_ahead` 10, skew 2.
fn terms() -> Terms {
    Terms {
        base: TimeBase { epoch: UnixNanos(0), tick_nanos: 1 },
        last_tick: 1_000_000,
        first_worker: 0,
        last_worker: 2,
        timing: Timing {
            window_nanos: 10,
            renew_nanos: 3,
            max_ahead_nanos: 10,
            max_lag_nanos: 2,
            max_lead_nanos: 1,
            max_store_skew_nanos: 2,
        },
        host_quota: 100,
    }
}

/// A store of plain data that carries out decisions as stores do, and can be backed up and restored.
#[derive(Clone, Debug)]
struct Table {
    kind: Kind,
    state: SpaceState,
    workers: Vec<WorkerRow>,
    live: Identity,
    /// Of the last decision.
    events: Vec<Event>,
}

impl Table {
    fn new() -> Self {
        Self::with(terms())
    }

    fn with(terms: Terms) -> Self {
        let windows = Windows { scheme: "any".to_owned(), layout: String::new(), terms };
        let kind = Kind::Windows(windows);
        let space = Space { id: SpaceId(1), name: "s".to_owned(), kind: kind.clone() };
        let live = Identity { origin: [1, 1, 0], started: Some(UnixNanos(0)), ..Identity::default() };
        let seen =
            Seen { now: UnixNanos(0), live, expected: Expected::Anything, witness: Witness::default() };
        let (state, _) = created(&space, &seen, &[], true).unwrap();
        Self { kind, state, workers: Vec::new(), live, events: Vec::new() }
    }

    fn terms(&self) -> Terms {
        match &self.kind {
            Kind::Windows(windows) => windows.terms,
            Kind::Blocks(_) | Kind::Scopes(_) => unreachable!(),
        }
    }

    fn seen(&self, now: i128) -> Seen {
        let (now, witness) = (UnixNanos(now), Witness::default());
        Seen { now, live: self.live, expected: Expected::Anything, witness }
    }

    fn rows(&self, now: UnixNanos, request: &Request) -> Rows {
        let workers = request.workers();
        let named = self.workers.iter().filter(|row| workers.contains(&row.worker)).cloned().collect();
        let Request::Acquire(ask) = request else { return Rows { named, ..Rows::default() } };
        let mut lowest: Vec<WorkerRow> = self.workers.iter().filter(|row| !row.is_burned).cloned().collect();
        lowest.sort_by_key(|row| (row.mark, row.worker));
        lowest.truncate(ask.want as usize);
        let mut ahead: Vec<u64> = self.workers.iter().map(|row| row.worker).collect();
        ahead.retain(|worker| *worker >= self.state.next_worker);
        ahead.sort_unstable();
        let terms = self.terms();
        let busy = self.workers.iter().filter(|row| row.host == ask.host && terms.is_after(row.mark, now));
        let mut of_host: Vec<Tick> = busy.map(|row| row.mark).collect();
        of_host.sort_unstable();
        let is_nonce_known = self.workers.iter().any(|row| row.nonce == ask.nonce);
        Rows { named, lowest, ahead, of_host, is_nonce_known, scopes: Vec::new() }
    }

    fn decide(&self, seen: &Seen, request: &Request) -> Decision {
        decide(&self.kind, &self.state, seen, request, &self.rows(seen.now, request))
    }

    fn run(&mut self, seen: &Seen, request: &Request) -> Result<Answer, Refusal> {
        let decision = self.decide(seen, request);
        self.events = decision.events;
        for write in decision.rows {
            let row = self.workers.iter_mut().find(|row| row.worker == write.row.worker);
            assert_eq!(Expect::of(row.as_deref()), write.expect);
            match row {
                Some(row) => *row = write.row,
                None => self.workers.push(write.row),
            }
        }
        if let Some(state) = decision.state {
            assert!(state.serial > self.state.serial);
            assert!(state.floor >= self.state.floor || *request == Request::ReleaseHold);
            self.state = state;
        }
        decision.answer
    }

    fn acquire(&mut self, now: i128, nonce: u128) -> Result<Lease, Refusal> {
        self.run(&self.seen(now), &ask(nonce, 1)).map(|answer| match answer {
            Answer::Leases(leases) => leases[0],
            other => panic!("{other:?}"),
        })
    }

    fn renew(&mut self, now: i128, lease: &Lease) -> Result<Lease, Refusal> {
        one(self.run(&self.seen(now), &Request::Renew(vec![lease.held()])).unwrap())
    }

    fn reassert(&mut self, now: i128, lease: &Lease) -> Result<Lease, Refusal> {
        one(self.run(&self.seen(now), &Request::Reassert(vec![lease.held()])).unwrap())
    }

    fn release(&mut self, now: i128, lease: &Lease, last: Option<Tick>) -> Result<Answer, Refusal> {
        self.run(&self.seen(now), &Request::Release(Release { held: lease.held(), last }))
    }

    fn row(&self, worker: u64) -> &WorkerRow {
        self.workers.iter().find(|row| row.worker == worker).unwrap()
    }

    /// The space is dropped, and one with the same facts created under its name.
    fn create_again(&mut self, now: i128) {
        let space = |id| Space { id: SpaceId(id), name: "s".to_owned(), kind: self.kind.clone() };
        let (state, _) = created(&space(2), &self.seen(now), &[(&space(1), &self.state)], true).unwrap();
        self.state = state;
        self.workers.clear();
    }

    /// The store goes on from a backup.
    fn restore(&mut self, backup: &Self) {
        self.state = backup.state.clone();
        self.workers.clone_from(&backup.workers);
    }
}

fn ask(nonce: u128, want: u32) -> Request {
    Request::Acquire(Acquire { nonce: Nonce(nonce), want, host: format!("host-{nonce}") })
}

fn one(answer: Answer) -> Result<Lease, Refusal> {
    match answer {
        Answer::Each(mut each) => each.remove(0),
        other => panic!("{other:?}"),
    }
}

fn lost(worker: u64, why: Lost, is_on_hold: bool) -> Refusal {
    Refusal::Lost { worker, why, is_on_hold }
}

const A: u128 = 0xa;
const B: u128 = 0xb;
const C: u128 = 0xc;

#[test]
fn rule_2_a_window_begins_in_the_next_whole_tick_and_ends_in_the_last() {
    let base = TimeBase { epoch: UnixNanos(0), tick_nanos: 4 };
    let mut table = Table::with(Terms { base, ..terms() });
    let lease = table.acquire(5, A).unwrap();
    assert_eq!((lease.from, lease.until), (2, 3));
    assert_eq!((terms().tick_up(UnixNanos(8)), terms().tick_down(UnixNanos(8))), (Ok(8), Ok(8)));
    let coarse = Terms { base, ..terms() };
    assert_eq!((coarse.tick_up(UnixNanos(8)), coarse.tick_up(UnixNanos(9))), (Ok(2), Ok(3)));
}

#[test]
fn rule_7_a_window_ends_with_the_time_field() {
    let mut table = Table::with(Terms { last_tick: 105, ..terms() });
    let lease = table.acquire(100, A).unwrap();
    assert_eq!(lease.until, 106);
    let ended = Err(Refusal::TimeFieldEnded { last_tick: 105 });
    assert_eq!(table.renew(103, &lease), ended);
    assert_eq!(table.acquire(106, B), ended);
    assert_eq!(table.workers.len(), 1);
}

#[test]
fn rule_7_time_before_the_epoch_is_refused() {
    let mut table = Table::new();
    let refused = Err(Refusal::BeforeEpoch { now: UnixNanos(-1), epoch: UnixNanos(0) });
    assert_eq!(table.acquire(-1, A), refused);
}

#[test]
fn rule_11_a_doubled_acquire_is_refused_and_a_delayed_one_burns_a_window_at_most() {
    let mut table = Table::new();
    let first = table.acquire(100, A).unwrap();
    assert_eq!(table.acquire(100, A), Err(Refusal::Doubled));
    table.release(101, &first, Some(100)).unwrap();
    assert_eq!(table.acquire(102, A), Err(Refusal::Doubled));
}

#[test]
fn rule_11_a_doubled_renewal_changes_nothing() {
    let mut table = Table::new();
    let lease = table.acquire(100, A).unwrap();
    let renewed = table.renew(103, &lease).unwrap();
    let before = table.workers.clone();
    assert_eq!(table.renew(104, &lease), Err(lost(0, Lost::Moved, false)));
    assert_eq!(table.workers, before);
    assert_eq!((renewed.from, renewed.until), (110, 113));
}

#[test]
fn rule_11_a_delayed_release_moves_nothing() {
    let mut table = Table::new();
    let lease = table.acquire(100, A).unwrap();
    let renewed = table.renew(103, &lease).unwrap();
    assert_eq!(table.release(104, &lease, Some(100)), Err(lost(0, Lost::Moved, false)));
    table.release(104, &renewed, Some(103)).unwrap();
    let next = table.acquire(104, B).unwrap();
    assert_eq!((next.worker, next.from), (0, 104));
    assert_eq!(table.release(104, &renewed, Some(100)), Err(lost(0, Lost::Foreign, false)));
    assert_eq!(table.row(0).mark, 114);
}

#[test]
fn rule_11_renew_and_release_never_make_a_row() {
    let mut table = Table::new();
    let never = Lease { worker: 1, from: 0, until: 10, serial: 0, nonce: Nonce(A) };
    assert!(matches!(table.renew(5, &never), Err(Refusal::Lost { why: Lost::NoRow, .. })));
    assert!(matches!(table.release(5, &never, None), Err(Refusal::Lost { why: Lost::NoRow, .. })));
    assert!(table.workers.is_empty());
}

#[test]
fn rule_11_a_lease_named_twice_in_one_request_is_refused() {
    let mut table = Table::new();
    let lease = table.acquire(100, A).unwrap();
    let twice = Request::Renew(vec![lease.held(), lease.held()]);
    assert!(matches!(table.run(&table.seen(103), &twice), Err(Refusal::Request { .. })));
    assert_eq!(table.row(0).mark, 110);
}

#[test]
fn rule_12_a_renewal_is_contiguous_even_after_its_window_ended() {
    let mut table = Table::new();
    let lease = table.acquire(100, A).unwrap();
    let late = table.renew(150, &lease).unwrap();
    assert_eq!((late.from, late.until), (110, 160));
}

#[test]
fn rule_12_a_renewal_never_lowers_the_mark() {
    let mut table = Table::new();
    let lease = table.acquire(100, A).unwrap();
    let kept = table.renew(95, &lease).unwrap();
    assert_eq!((kept.until, kept.serial), (110, lease.serial));
    assert_eq!(table.row(0).mark, 110);
    assert!(table.renew(101, &kept).is_ok());
}

#[test]
fn rule_12_no_window_ends_above_max_ahead() {
    let timing = Timing { window_nanos: 50, ..terms().timing };
    let mut table = Table::with(Terms { timing, ..terms() });
    assert_eq!(table.acquire(100, A).unwrap().until, 110);
}

#[test]
fn rule_12_all_leases_of_a_process_renew_at_once_and_one_loss_spares_the_others() {
    let mut table = Table::new();
    let Ok(Answer::Leases(leases)) = table.run(&table.seen(100), &ask(A, 3)) else { panic!() };
    table.run(&table.seen(101), &Request::Burn(1)).unwrap();
    let held = leases.iter().map(Lease::held).collect();
    let Ok(Answer::Each(each)) = table.run(&table.seen(103), &Request::Renew(held)) else { panic!() };
    let untils: Vec<_> = each.into_iter().map(|lease| lease.map(|lease| lease.until)).collect();
    assert_eq!(untils, [Ok(113), Err(lost(1, Lost::Burned, false)), Ok(113)]);
}

#[test]
fn rule_13_the_free_worker_with_the_lowest_mark_is_taken() {
    let mut table = Table::new();
    let leases = [A, B, C].map(|nonce| table.acquire(100, nonce).unwrap());
    assert_eq!(leases.map(|lease| lease.worker), [0, 1, 2]);
    table.release(103, &leases[2], Some(101)).unwrap();
    table.release(103, &leases[1], Some(102)).unwrap();
    assert_eq!(table.acquire(104, 0xd).unwrap().worker, 2);
    assert_eq!(table.acquire(104, 0xe).unwrap().worker, 1);
}

#[test]
fn rule_13_none_free_says_when_the_next_is() {
    let mut table = Table::new();
    for (now, nonce) in [(100, A), (101, B), (102, C)] {
        table.acquire(now, nonce).unwrap();
    }
    assert_eq!(table.acquire(105, 0xd), Err(Refusal::NoneFree { next: Some(UnixNanos(110)) }));
    assert_eq!(table.acquire(110, 0xd).unwrap().worker, 0);
}

#[test]
fn rule_13_a_restart_gets_another_worker_at_once_and_rows_are_made_lazily() {
    let mut table = Table::new();
    table.acquire(100, A).unwrap();
    assert_eq!(table.workers.len(), 1);
    let restarted = table.acquire(100, B).unwrap();
    assert_eq!((restarted.worker, restarted.from), (1, 100));
    table.acquire(200, C).unwrap();
    assert_eq!(table.workers.len(), 2);
}

#[test]
fn rule_13_a_host_that_restarts_in_a_loop_runs_into_its_quota() {
    let mut table = Table::with(Terms { host_quota: 2, ..terms() });
    let from = |nonce| Request::Acquire(Acquire { nonce: Nonce(nonce), want: 5, host: "looping".to_owned() });
    let Ok(Answer::Leases(leases)) = table.run(&table.seen(100), &from(A)) else { panic!() };
    assert_eq!(leases.len(), 2);
    let refused = table.run(&table.seen(105), &from(B));
    assert_eq!(refused, Err(Refusal::HostQuota { live: 2, next: UnixNanos(110) }));
    assert!(table.acquire(105, C).is_ok());
    assert!(table.run(&table.seen(110), &from(B)).is_ok());
}

#[test]
fn rule_14_nobody_is_no_holder() {
    assert!(matches!(Table::new().acquire(100, 0), Err(Refusal::Request { .. })));
}

#[test]
fn rule_15_a_clock_far_ahead_poisons_neither_mark_nor_floor() {
    let mut table = Table::new();
    let before = table.clone();
    table.live.timeline = 1;
    let expected = Expected::Elapsed(UnixNanos(100));
    let ahead = Seen { expected, ..table.seen(103) };
    let refused = Refusal::ClockAhead { now: UnixNanos(103), expected: UnixNanos(100) };
    assert_eq!(table.run(&ahead, &ask(A, 1)), Err(refused));
    assert_eq!((&table.state, &table.workers), (&before.state, &before.workers));
    table.live = before.live;
    assert!(table.run(&Seen { expected, ..table.seen(102) }, &ask(A, 1)).is_ok());
}

#[test]
fn rule_15_a_fresh_client_refuses_a_clock_that_is_an_hour_off() {
    let hour = WALL_TOLERANCE_NANOS;
    let table = Table::new();
    let wall = UnixNanos(2 * hour);
    for (now, is_refused) in [(hour - 1, true), (hour, false), (3 * hour, false), (3 * hour + 1, true)] {
        let seen = Seen { expected: Expected::Wall(wall), ..table.seen(now) };
        assert_eq!(check_clock(&terms(), &seen).is_err(), is_refused, "{now}");
    }
}

#[test]
fn rule_15_a_clock_that_went_back_makes_windows_wait_not_overlap() {
    let mut table = Table::with(Terms { last_worker: 0, ..terms() });
    let lease = table.acquire(100, A).unwrap();
    assert!(matches!(table.acquire(50, B), Err(Refusal::NoneFree { .. })));
    assert_eq!(table.renew(50, &lease).unwrap().until, 110);
    assert!(table.acquire(110, B).unwrap().from >= 110);
}

#[test]
fn rule_15_a_burned_worker_is_neither_renewed_released_nor_granted() {
    let mut table = Table::with(Terms { last_worker: 1, ..terms() });
    let lease = table.acquire(100, A).unwrap();
    let serial = table.row(0).serial;
    table.run(&table.seen(101), &Request::Burn(0)).unwrap();
    assert!(table.row(0).serial > serial);
    assert_eq!(table.renew(102, &lease), Err(lost(0, Lost::Burned, false)));
    assert!(table.release(102, &lease, None).is_err());
    table.run(&table.seen(101), &Request::Burn(1)).unwrap();
    assert_eq!(table.acquire(300, B), Err(Refusal::NoneFree { next: None }));
    let range = Refusal::WorkerRange { worker: 2, first: 0, last: 1 };
    assert_eq!(table.run(&table.seen(101), &Request::Burn(2)), Err(range));
}

#[test]
fn rule_15_a_worker_burned_before_its_first_grant_is_passed_over() {
    let mut table = Table::new();
    table.run(&table.seen(99), &Request::Burn(1)).unwrap();
    assert_eq!([A, B].map(|nonce| table.acquire(100, nonce).unwrap().worker), [0, 2]);
}

#[test]
fn rule_17_each_change_of_identity_begins_a_hold_that_passes_by_itself() {
    let changes: [fn(&mut Identity); 3] = [
        |live| live.timeline += 1,
        |live| live.origin = [9, 9, 9],
        |live| live.started = Some(UnixNanos(95)),
    ];
    for (i, change) in changes.into_iter().enumerate() {
        let mut table = Table::new();
        table.acquire(90, A).unwrap();
        let serial = table.state.serial;
        change(&mut table.live);
        // A restart is known to be later than the loss; the others count from now.
        let floor = if i == 2 { 95 + 12 } else { 100 + 12 };
        assert_eq!(table.acquire(100, B), Err(Refusal::OnHold { until: UnixNanos(i128::from(floor)) }));
        assert_eq!(table.state.floor, floor);
        assert!(table.state.serial > serial + SERIAL_JUMP);
        assert!(table.acquire(i128::from(floor) - 1, B).is_err());
        assert!(table.acquire(i128::from(floor), B).unwrap().from >= floor);
        assert_eq!(table.state.holds, 1);
    }
}

#[test]
fn rule_17_a_hold_lasts_though_the_request_that_began_it_was_refused() {
    let mut table = Table::new();
    table.live.timeline = 1;
    let never = Lease { worker: 0, from: 0, until: 10, serial: 0, nonce: Nonce(A) };
    assert!(table.release(100, &never, None).is_err());
    assert_eq!(table.state.floor, 112);
    assert_eq!(table.state.identity, table.live);
}

#[test]
fn rule_17_a_mere_restart_can_be_exempted() {
    let mut table = Table::new();
    table.run(&table.seen(90), &Request::RestartHold(false)).unwrap();
    table.live.started = Some(UnixNanos(95));
    assert!(table.acquire(100, A).is_ok());
    assert_eq!(table.state.identity, table.live);
    table.live.timeline = 1;
    assert!(table.acquire(101, B).is_err());
}

#[test]
fn rule_17_a_client_that_saw_more_than_the_store_shows_begins_a_hold_once() {
    let mut table = Table::new();
    let lease = table.acquire(100, A).unwrap();
    let backup = table.clone();
    let renewed = table.renew(103, &lease).unwrap();
    table.restore(&backup);
    let witness = Witness { serial: renewed.serial, mark: renewed.until };
    let seen = Seen { witness, ..table.seen(104) };
    assert_eq!(table.run(&seen, &ask(B, 1)), Err(Refusal::OnHold { until: UnixNanos(116) }));
    let later = Seen { witness, ..table.seen(110) };
    assert_eq!(table.run(&later, &ask(B, 1)), Err(Refusal::OnHold { until: UnixNanos(116) }));
    assert_eq!(table.state.holds, 1);
}

#[test]
fn rule_17_a_mark_tells_of_a_loss_that_new_grants_hid_from_the_serial() {
    let mut table = Table::new();
    let backup = table.clone();
    let seen_by_a = table.acquire(200, A).unwrap();
    table.restore(&backup);
    // The clock stands lower than it did, or `mark` could not tell.
    table.acquire(100, B).unwrap();
    table.acquire(101, C).unwrap();
    assert!(table.state.serial > seen_by_a.serial);
    let witness = Witness { serial: seen_by_a.serial, mark: seen_by_a.until };
    table.run(&Seen { witness, ..table.seen(102) }, &Request::Look).unwrap();
    assert_eq!((table.state.holds, table.state.floor), (1, 114));
}

#[test]
fn rule_17_a_live_holder_that_finds_another_on_its_row_reports_a_loss() {
    let mut table = Table::new();
    let backup = table.clone();
    let a = table.acquire(100, A).unwrap();
    table.restore(&backup);
    let b = table.acquire(102, B).unwrap();
    assert_eq!(a.worker, b.worker);
    assert_eq!(table.renew(103, &a), Err(lost(0, Lost::Foreign, true)));
    assert_eq!(table.state.floor, 115);
}

#[test]
fn rule_17_a_row_that_is_gone_or_older_shows_a_loss() {
    let mut table = Table::new();
    let backup = table.clone();
    let a = table.acquire(100, A).unwrap();
    let with_a = table.clone();
    let renewed = table.renew(103, &a).unwrap();
    table.restore(&with_a);
    assert_eq!(table.renew(104, &renewed), Err(lost(0, Lost::Moved, true)));
    table.restore(&backup);
    assert_eq!(table.renew(104, &a), Err(lost(0, Lost::NoRow, true)));
}

#[test]
fn rule_17_who_lost_its_lease_in_the_ordinary_way_reports_nothing() {
    let mut table = Table::with(Terms { last_worker: 0, ..terms() });
    let a = table.acquire(100, A).unwrap();
    table.acquire(110, B).unwrap();
    assert_eq!(table.renew(111, &a), Err(lost(0, Lost::Foreign, false)));
    // The clock steps back to where A's window looks alive.
    assert_eq!(table.renew(105, &a), Err(lost(0, Lost::Foreign, false)));
    assert_eq!(table.state.holds, 0);
}

#[test]
fn rule_17_who_wakes_long_after_a_hold_begins_no_other() {
    let mut table = Table::new();
    let backup = table.clone();
    let a = table.acquire(100, A).unwrap();
    table.restore(&backup);
    table.live.timeline = 1;
    table.run(&table.seen(101), &Request::Look).unwrap();
    assert_eq!(table.state.holds, 1);
    assert_eq!(table.renew(5_000, &a), Err(lost(0, Lost::NoRow, false)));
    assert_eq!(table.state.holds, 1);
}

/// Trace 1: A [0,10). Backup at 5. B acquires after A lapsed, mints. Restore. A renews, as its row shows what it left.
fn trace_1() -> (Table, Lease, Lease) {
    let mut table = Table::with(Terms { last_worker: 0, ..terms() });
    let a = table.acquire(0, A).unwrap();
    let backup = table.clone();
    let b = table.acquire(10, B).unwrap();
    table.restore(&backup);
    table.live.timeline = 1;
    (table, a, b)
}

#[test]
fn rule_17_trace_1_a_lapsed_lease_does_not_renew_into_lost_windows() {
    let (mut table, a, _) = trace_1();
    assert_eq!(table.renew(12, &a), Err(Refusal::BelowFloor { worker: 0 }));
}

#[test]
fn rule_17_trace_2_nor_after_the_hold() {
    let (mut table, a, b) = trace_1();
    assert!(table.renew(12, &a).is_err());
    assert_eq!(table.renew(5_000, &a), Err(Refusal::BelowFloor { worker: 0 }));
    assert!(table.acquire(5_000, C).unwrap().from >= b.until);
}

#[test]
fn rule_17_trace_3_nor_when_the_clock_went_back_by_the_skew() {
    let (mut table, a, _) = trace_1();
    assert_eq!(table.renew(8, &a), Err(Refusal::BelowFloor { worker: 0 }));
    let (mut table, a, _) = trace_1();
    assert_eq!(table.renew(7, &a).unwrap().from, 10);
}

#[test]
fn rule_17_trace_4_the_floor_outlives_a_clock_that_goes_back() {
    let (mut table, _, b) = trace_1();
    assert!(table.acquire(11, C).is_err());
    assert!(table.acquire(5, C).is_err());
    assert_eq!(table.state.floor, 23);
    assert!(table.acquire(23, C).unwrap().from >= b.until);
}

#[test]
fn rule_11_trace_5_a_release_from_before_the_loss_sinks_nobodys_mark() {
    let mut table = Table::with(Terms { last_worker: 0, ..terms() });
    let backup = table.clone();
    let a = table.acquire(0, A).unwrap();
    table.restore(&backup);
    table.live.timeline = 1;
    table.run(&table.seen(5), &Request::Look).unwrap();
    let c = table.acquire(20, C).unwrap();
    assert_ne!(a.serial, c.serial);
    assert!(table.release(21, &a, Some(1)).is_err());
    assert_eq!(table.row(0).mark, c.until);
}

#[test]
fn rule_12_trace_6_a_doubled_acquire_after_the_hold_helps_no_old_lease() {
    let mut table = Table::with(Terms { last_worker: 0, ..terms() });
    let backup = table.clone();
    let old = table.acquire(0, A).unwrap();
    table.restore(&backup);
    table.live.timeline = 1;
    table.run(&table.seen(5), &Request::Look).unwrap();
    let doubled = table.acquire(20, A).unwrap();
    assert_eq!((doubled.nonce, doubled.worker), (old.nonce, old.worker));
    assert_eq!(table.renew(21, &old), Err(lost(0, Lost::Moved, false)));
}

#[test]
fn rule_17_trace_8_every_request_compares_the_identity() {
    let requests = [
        ask(C, 1),
        Request::Renew(vec![Held { worker: 0, nonce: Nonce(A), serial: 1, until: 10 }]),
        Request::Release(Release {
            held: Held { worker: 0, nonce: Nonce(A), serial: 1, until: 10 },
            last: None,
        }),
        Request::Reassert(vec![Held { worker: 0, nonce: Nonce(A), serial: 1, until: 10 }]),
        Request::Burn(0),
        Request::Look,
    ];
    for request in requests {
        let (mut table, ..) = trace_1();
        let _ = table.run(&table.seen(5), &request);
        assert_eq!((table.state.holds, table.state.identity), (1, table.live), "{request:?}");
    }
}

#[test]
fn rule_17_during_a_hold_a_live_lease_is_asserted_again_whatever_its_row_shows() {
    let mut table = Table::new();
    let backup = table.clone();
    let a = table.acquire(100, A).unwrap();
    table.restore(&backup);
    table.live.timeline = 1;
    let again = table.reassert(103, &a).unwrap();
    assert_eq!((again.worker, again.until, again.nonce), (a.worker, a.until, a.nonce));
    assert_eq!(table.row(0).mark, 110);
    let renewed = table.renew(105, &again).unwrap();
    assert_eq!((renewed.from, renewed.until), (110, 115));
    assert_eq!(table.acquire(115, B).unwrap().worker, 0);
}

#[test]
fn rule_17_only_live_leases_are_asserted_again_and_only_during_a_hold() {
    let mut table = Table::new();
    let a = table.acquire(100, A).unwrap();
    assert_eq!(table.reassert(103, &a), Err(Refusal::NotOnHold { worker: 0 }));
    table.live.timeline = 1;
    let not_alive = |until| Err(Refusal::NotAlive { worker: 0, until });
    assert_eq!(table.reassert(108, &a), not_alive(110));
    assert_eq!(
        table.reassert(107, &Lease { until: 120, ..a }),
        Ok(Lease { from: 120, until: 120, serial: table.state.serial, ..a })
    );
    assert_eq!(table.reassert(107, &Lease { until: 121, ..a }), not_alive(121));
    assert_eq!(table.reassert(107, &a), Err(lost(0, Lost::Moved, true)));
}

#[test]
fn rule_17_a_re_asserted_lease_is_released_without_sinking_below_another() {
    let mut table = Table::with(Terms { last_worker: 0, ..terms() });
    let backup = table.clone();
    let a = table.acquire(100, A).unwrap();
    table.restore(&backup);
    let b = table.acquire(99, B).unwrap();
    table.live.timeline = 1;
    let again = table.reassert(101, &a).unwrap();
    table.release(102, &again, Some(101)).unwrap();
    assert_eq!(table.row(0).mark, b.until);
}

#[test]
fn rule_17_a_burned_worker_is_not_asserted_again() {
    let mut table = Table::new();
    let a = table.acquire(100, A).unwrap();
    table.run(&table.seen(101), &Request::Burn(0)).unwrap();
    table.run(&table.seen(101), &Request::Hold).unwrap();
    assert_eq!(table.reassert(102, &a), Err(lost(0, Lost::Burned, true)));
}

#[test]
fn rule_17_an_operators_hold_and_its_release() {
    let mut table = Table::new();
    table.run(&table.seen(100), &Request::Hold).unwrap();
    assert_eq!(table.state.floor, 112);
    table.run(&table.seen(90), &Request::Hold).unwrap();
    assert_eq!(table.state.floor, 112);
    table.run(&table.seen(101), &Request::ReleaseHold).unwrap();
    assert_eq!(table.acquire(101, A).unwrap().from, 101);
    assert_eq!(table.acquire(100, B), Err(Refusal::OnHold { until: UnixNanos(101) }));
}

#[test]
fn rule_20_a_release_leaves_the_mark_at_exactly_the_last_tick_plus_one() {
    let mut table = Table::new();
    let lease = table.acquire(100, A).unwrap();
    let renewed = table.renew(103, &lease).unwrap();
    table.release(104, &renewed, Some(102)).unwrap();
    assert_eq!(table.row(0).mark, 103);
    let unused = table.acquire(104, B).unwrap();
    table.release(104, &unused, None).unwrap();
    assert_eq!(table.row(0).mark, 104);
}

#[test]
fn rule_20_a_tick_outside_the_window_is_no_last_tick() {
    let mut table = Table::new();
    let lease = table.acquire(100, A).unwrap();
    let refused = Err(Refusal::LastTick { worker: 0, last: 110, until: 110 });
    assert_eq!(table.release(104, &lease, Some(110)), refused);
    assert_eq!(table.row(0).mark, 110);
    table.release(104, &lease, Some(109)).unwrap();
    assert_eq!(table.row(0).mark, 110);
}

#[test]
fn rule_17_a_client_that_claims_an_absurd_serial_uses_up_none() {
    let mut table = Table::new();
    let lease = table.acquire(100, A).unwrap();
    let before = table.state.clone();
    let absurd = Held { serial: u64::MAX / 2, ..lease.held() };
    let witness = Witness { serial: u64::MAX / 2, mark: 0 };
    assert!(table.run(&Seen { witness, ..table.seen(101) }, &Request::Look).is_err());
    assert!(table.run(&table.seen(101), &Request::Renew(vec![absurd])).is_err());
    assert_eq!(table.state, before);
}

#[test]
fn rule_7_the_end_of_the_time_field_is_a_date() {
    assert_eq!(terms().ends_at(), UnixNanos(1_000_001));
}

#[test]
fn blocks_are_not_asked_of_a_space_of_windows() {
    let mut table = Table::new();
    let bump = Request::Bump(crate::request::Bump::By(1));
    let refused = Refusal::WrongKind { request: "bump", kind: "windows" };
    assert_eq!(table.run(&table.seen(100), &bump), Err(refused));
}

#[path = "created_again_tests.rs"]
mod created_again;
