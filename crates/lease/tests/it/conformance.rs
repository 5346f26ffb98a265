//! What every store does, over each store by one line.

use crate::site::{Client, Site, blocks, nonce, refused, scopes, short, soon, windows};
use mintage_lease::error::Lost;
use mintage_lease::request::{Acquire, Bump, Claim, Lease, Loss, Shown};
use mintage_lease::space::{BlockTerms, ScopeTerms};
use mintage_lease::state::Tick;
use mintage_lease::store::{CreateOptions, Deadline};
use mintage_lease::{Error, Refusal, Request};
use mintage_testkit::forked::{End, Forked};
use std::collections::BTreeMap;
use std::io::Write;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

/// `suite!(module, site)`: the whole suite over the store that `site()` starts; `None` is a store that is missing, which is a
/// visible skip, and a failure where `CI` is `true`.
macro_rules! suite {
    ($module:ident, $site:expr) => {
        mod $module {
            $crate::conformance::suite!(@ $site,
                a_space_is_created_once_and_never_by_opening,
                a_space_with_other_facts_is_refused,
                a_store_without_tables_says_so,
                windows_of_one_worker_never_overlap,
                a_renewal_begins_where_the_window_ended,
                all_leases_of_a_process_renew_in_one_request,
                delayed_and_doubled_requests_change_nothing,
                a_release_leaves_the_mark_at_the_last_tick_plus_one,
                a_worker_that_was_released_is_granted_above_its_mark,
                a_burned_worker_is_out_for_ever,
                none_free_says_when_the_next_is,
                a_hold_stops_grants_and_passes_by_itself,
                the_last_hold_or_stop_is_kept_with_its_reason,
                live_leases_are_asserted_again_during_a_hold,
                who_has_seen_more_than_the_store_begins_a_hold,
                a_clock_that_jumped_ahead_is_refused,
                blocks_are_disjoint_and_dense_whoever_claims,
                what_is_left_of_a_block_is_given_back_once,
                tickets_keep_their_offset_through_bumps,
                a_counter_that_someone_saw_higher_stops_until_it_is_bumped,
                scopes_count_from_the_first_value_whoever_takes_first,
                values_that_are_taken_together_follow_each_other,
                names_of_scopes_are_bytes_and_nothing_else,
                scopes_are_listed_by_pages,
                an_import_moves_one_scope_up,
                scopes_that_someone_saw_further_stop_until_all_are_moved_on,
                a_dropped_space_leaves_a_tombstone_and_begins_again_on_hold,
                no_name_issues_a_number_twice_however_often_it_is_dropped,
                a_deadline_that_has_passed_does_nothing,
                many_handles_create_one_space_at_once,
                many_processes_share_a_space,
                processes_that_are_killed_lose_nothing_and_get_nothing_twice,
                a_forked_child_is_refused,
                all_is_well_where_a_store_checks_itself,
            );
        }
    };
    (@ $site:expr, $($case:ident),* $(,)?) => {
        $(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $case() {
                match $site {
                    Some(site) => $crate::conformance::$case(&site).await,
                    None => $crate::site::missing(stringify!($case)),
                }
            }
        )*
    };
}
pub(crate) use suite;

pub(crate) use crate::scopes::{
    an_import_moves_one_scope_up, names_of_scopes_are_bytes_and_nothing_else, scopes_are_listed_by_pages,
    scopes_count_from_the_first_value_whoever_takes_first,
    scopes_that_someone_saw_further_stop_until_all_are_moved_on,
    values_that_are_taken_together_follow_each_other,
};

suite!(sqlite, Some(crate::sqlite::site()));
suite!(postgres, crate::postgres::site());
suite!(pgbouncer, crate::postgres::pooled_site());
suite!(mariadb, crate::mysql::site());
suite!(etcd, crate::etcd::site());
suite!(zookeeper, crate::zookeeper::site());
suite!(remote, Some(crate::remote::site()));

pub(crate) async fn a_space_is_created_once_and_never_by_opening(site: &Site) {
    let store = site.store();
    store.upgrade(soon()).await.unwrap();
    let missing = store.space("orders", soon()).await;
    assert!(matches!(missing, Err(Error::NoSuchSpace { .. })), "{missing:?}");
    let space = windows("orders", |_| {});
    let made = store.create(&space, CreateOptions::default(), soon()).await.unwrap();
    assert_eq!(made, space);
    let again = store.create(&windows("orders", |_| {}), CreateOptions::default(), soon()).await.unwrap();
    assert_eq!(again.id, space.id);
    assert_eq!(site.store().space("orders", soon()).await.unwrap(), space);
    assert_eq!(store.list(soon()).await.unwrap().len(), 1);
}

pub(crate) async fn a_space_with_other_facts_is_refused(site: &Site) {
    let store = site.store();
    store.create(&windows("orders", |_| {}), CreateOptions::default(), soon()).await.unwrap();
    for other in [
        windows("orders", |windows| windows.terms.last_worker = 7),
        windows("orders", |windows| windows.terms.base.tick_nanos *= 10),
        blocks("orders", BlockTerms::default()),
    ] {
        let refused = store.create(&other, CreateOptions::default(), soon()).await;
        assert!(matches!(refused, Err(Error::SpaceDiffers { .. })), "{refused:?}");
    }
    let wide = windows("wide", |windows| windows.terms.last_worker = 1024);
    let refused = store.create(&wide, CreateOptions::default(), soon()).await;
    assert!(matches!(refused, Err(Error::SpaceFault { .. })), "{refused:?}");
}

pub(crate) async fn a_store_without_tables_says_so(site: &Site) {
    let answer = site.store().space("orders", soon()).await;
    assert!(matches!(answer, Err(Error::NoSchema { .. })), "{answer:?}");
}

/// Windows by worker.
#[derive(Default)]
pub(crate) struct Windows(BTreeMap<u64, Vec<(Tick, Tick)>>);

impl Windows {
    pub(crate) fn grant(&mut self, worker: u64, from: Tick, until: Tick) {
        assert!(from < until);
        self.0.entry(worker).or_default().push((from, until));
    }

    pub(crate) fn assert_disjoint(mut self) -> usize {
        let mut count = 0;
        for (worker, windows) in &mut self.0 {
            windows.retain(|(from, until)| from < until);
            windows.sort_unstable();
            count += windows.len();
            for pair in windows.windows(2) {
                assert!(pair[0].1 <= pair[1].0, "worker {worker}: {pair:?}");
            }
        }
        count
    }
}

pub(crate) async fn windows_of_one_worker_never_overlap(site: &Site) {
    site.windows("orders", |windows| {
        short(windows);
        windows.terms.last_worker = 3;
    })
    .await;
    let mut tasks = Vec::new();
    for _ in 0..4 {
        let mut client = site.client("orders").await;
        tasks.push(tokio::spawn(async move {
            let mut seen = Vec::new();
            for round in 0..12_u64 {
                let mut lease = match client.acquire(1).await {
                    Ok(leases) => leases[0],
                    Err(Error::Refused { refusal: Refusal::NoneFree { next: Some(next) }, .. }) => {
                        client.wait_until(next).await;
                        continue;
                    }
                    Err(other) => panic!("{other}"),
                };
                let mut mine = vec![(lease.worker, lease.from, lease.until)];
                for _ in 0..round % 3 {
                    match client.renew(&[lease]).await.remove(0) {
                        Ok(next) if next.until > lease.until => {
                            assert_eq!(next.from, lease.until);
                            mine.push((next.worker, next.from, next.until));
                            lease = next;
                        }
                        Ok(same) => lease = same,
                        Err(_) => break,
                    }
                }
                if round % 2 == 0 {
                    let last = lease.until - 1 - round;
                    if last >= mine[0].1 && client.release(&lease, Some(last)).await.is_ok() {
                        for window in &mut mine {
                            window.2 = window.2.min(last + 1);
                        }
                    }
                }
                seen.extend(mine);
            }
            seen
        }));
    }
    let mut all = Windows::default();
    for task in tasks {
        for (worker, from, until) in task.await.unwrap() {
            if from < until {
                all.grant(worker, from, until);
            }
        }
    }
    assert!(all.assert_disjoint() > 20);
}

pub(crate) async fn a_renewal_begins_where_the_window_ended(site: &Site) {
    let mut client = site.windows("orders", short).await;
    let mut lease = client.one().await;
    let mut grown = 0;
    while grown < 3 {
        let renewed = client.renew(&[lease]).await.remove(0).unwrap();
        assert_eq!(renewed.from, lease.until);
        assert!(renewed.until >= lease.until);
        grown += u32::from(renewed.until > lease.until);
        assert_eq!(client.mark(lease.worker).await, renewed.until);
        lease = renewed;
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

pub(crate) async fn all_leases_of_a_process_renew_in_one_request(site: &Site) {
    let mut client = site.windows("orders", |_| {}).await;
    let mut leases = client.acquire(200).await.unwrap();
    assert_eq!(leases.len(), 200);
    client.done(Request::Burn(leases[3].worker)).await.unwrap();
    leases[5].serial += 1;
    let each = client.renew(&leases).await;
    for (i, (lease, renewed)) in leases.iter().zip(&each).enumerate() {
        match (i, renewed) {
            (3, Err(Refusal::Lost { why: Lost::Burned, .. })) => {}
            (5, Err(Refusal::Lost { why: Lost::Moved, .. })) => {}
            (3 | 5, other) => panic!("{other:?}"),
            (_, renewed) => assert_eq!(renewed.as_ref().unwrap().worker, lease.worker),
        }
    }
}

pub(crate) async fn delayed_and_doubled_requests_change_nothing(site: &Site) {
    let mut client = site.windows("orders", short).await;
    let ask = Acquire { nonce: nonce(77), want: 1, host: String::new() };
    let lease = client.desk.acquire(&client.caller, ask.clone(), soon()).await.unwrap().answer[0];
    assert_eq!(refused(client.desk.acquire(&client.caller, ask, soon()).await), Refusal::Doubled);
    let renewed = loop {
        let renewed = client.renew(&[lease]).await.remove(0).unwrap();
        if renewed.until > lease.until {
            break renewed;
        }
        tokio::time::sleep(Duration::from_millis(2)).await;
    };
    let lost =
        |result: &Result<Lease, Refusal>| matches!(result, Err(Refusal::Lost { why: Lost::Moved, .. }));
    assert!(lost(&client.renew(&[lease]).await[0]));
    assert!(matches!(refused(client.release(&lease, None).await), Refusal::Lost { .. }));
    assert_eq!(client.mark(lease.worker).await, renewed.until);
    client.release(&renewed, Some(renewed.from)).await.unwrap();
    assert!(matches!(refused(client.release(&renewed, None).await), Refusal::Lost { .. }));
    assert!(lost(&client.renew(&[renewed]).await[0]));
    assert_eq!(client.mark(lease.worker).await, renewed.from + 1);
}

pub(crate) async fn a_release_leaves_the_mark_at_the_last_tick_plus_one(site: &Site) {
    let mut client = site.windows("orders", |_| {}).await;
    let used = client.one().await;
    client.release(&used, Some(used.from + 3)).await.unwrap();
    assert_eq!(client.mark(used.worker).await, used.from + 4);
    let unused = client.one().await;
    client.release(&unused, None).await.unwrap();
    assert_eq!(client.mark(unused.worker).await, unused.from);
    let whole = client.one().await;
    let beyond = refused(client.release(&whole, Some(whole.until)).await);
    assert!(matches!(beyond, Refusal::LastTick { .. }), "{beyond}");
    assert_eq!(client.mark(whole.worker).await, whole.until);
}

pub(crate) async fn a_worker_that_was_released_is_granted_above_its_mark(site: &Site) {
    let mut client = site.windows("orders", |windows| windows.terms.last_worker = 0).await;
    let mut last = 0;
    for _ in 0..5 {
        let lease = client.one().await;
        assert!(lease.from > last, "{lease:?} after {last}");
        last = lease.from;
        client.release(&lease, Some(last)).await.unwrap();
        // The next tick must have begun before the worker is free.
        tokio::time::sleep(Duration::from_millis(3)).await;
    }
}

pub(crate) async fn a_burned_worker_is_out_for_ever(site: &Site) {
    let mut client = site.windows("orders", |windows| windows.terms.last_worker = 2).await;
    let lease = client.one().await;
    client.done(Request::Burn(lease.worker)).await.unwrap();
    client.done(Request::Burn(2)).await.unwrap();
    assert!(matches!(client.renew(&[lease]).await[0], Err(Refusal::Lost { why: Lost::Burned, .. })));
    assert_eq!(client.one().await.worker, 1);
    assert!(matches!(refused(client.acquire(1).await), Refusal::NoneFree { .. }));
    let range = refused(client.done(Request::Burn(3)).await);
    assert_eq!(range, Refusal::WorkerRange { worker: 3, first: 0, last: 2 });
}

pub(crate) async fn none_free_says_when_the_next_is(site: &Site) {
    let mut client = site
        .windows("orders", |windows| {
            short(windows);
            windows.terms.last_worker = 1;
        })
        .await;
    let leases = client.acquire(5).await.unwrap();
    assert_eq!(leases.len(), 2);
    let Refusal::NoneFree { next: Some(next) } = refused(client.acquire(1).await) else { panic!() };
    let terms = client.desk.space().windows().unwrap().terms;
    assert_eq!(next, terms.time_of(leases[0].until));
    client.wait_until(next).await;
    assert!(client.one().await.from >= leases[0].until);
}

pub(crate) async fn a_hold_stops_grants_and_passes_by_itself(site: &Site) {
    let mut client = site.windows("orders", short).await;
    let before = client.one().await;
    client.done(Request::Hold).await.unwrap();
    let Refusal::OnHold { until } = refused(client.acquire(1).await) else { panic!() };
    client.wait_until(until).await;
    let after = client.one().await;
    assert!(after.from >= before.until && after.serial > before.serial + (1 << 32));
    client.done(Request::Hold).await.unwrap();
    client.done(Request::ReleaseHold).await.unwrap();
    client.one().await;
}

pub(crate) async fn the_last_hold_or_stop_is_kept_with_its_reason(site: &Site) {
    let mut orders = site.windows("orders", |_| {}).await;
    let mut invoices = site.blocks("invoices", BlockTerms::default()).await;
    let hold = async |name| site.store().show(name, soon()).await.unwrap().hold;
    let lease = orders.one().await;
    invoices.claim(10).await.unwrap();
    assert_eq!((hold("orders").await, hold("invoices").await), (None, None));
    let before = site.store().show("orders", soon()).await.unwrap().now;
    orders.done(Request::Hold).await.unwrap();
    let held = hold("orders").await.unwrap();
    assert_eq!(held.why, Loss::Operator);
    assert!(held.began.0 / 1_000_000 >= before.0 / 1_000_000, "{held:?}, looked at {before}");
    // What happens afterwards doesn't wipe it out.
    orders.reassert(&lease).await.unwrap();
    orders.done(Request::ReleaseHold).await.unwrap();
    assert_eq!(hold("orders").await, Some(held));
    orders.caller.witness.serial += 1 << 40;
    refused(orders.acquire(1).await);
    assert_eq!(hold("orders").await.unwrap().why, Loss::Witness);
    invoices.caller.witness.serial += 10;
    assert!(invoices.claim(10).await.is_err());
    assert_eq!(hold("invoices").await.unwrap().why, Loss::Witness);
    let all = site.store().list(soon()).await.unwrap();
    assert!(all.iter().all(|shown| shown.hold.is_some_and(|hold| hold.why == Loss::Witness)), "{all:?}");
}

pub(crate) async fn live_leases_are_asserted_again_during_a_hold(site: &Site) {
    let mut client = site.windows("orders", |_| {}).await;
    let lease = client.one().await;
    assert_eq!(client.reassert(&lease).await, Err(Refusal::NotOnHold { worker: lease.worker }));
    client.done(Request::Hold).await.unwrap();
    // As after a restore from a backup in which the worker has no row.
    let lost = Lease { worker: 500, nonce: nonce(9), ..lease };
    let again = client.reassert(&lost).await.unwrap();
    assert_eq!((again.until, again.nonce), (lease.until, nonce(9)));
    assert_eq!(client.mark(500).await, lease.until);
    let renewed = client.renew(&[again]).await.remove(0).unwrap();
    assert_eq!(renewed.from, lease.until);
}

pub(crate) async fn who_has_seen_more_than_the_store_begins_a_hold(site: &Site) {
    let mut client = site.windows("orders", short).await;
    client.one().await;
    client.caller.witness.serial += 10;
    assert!(matches!(refused(client.acquire(1).await), Refusal::OnHold { .. }));
    let shown = client.desk.store().show("orders", soon()).await.unwrap();
    assert_eq!(shown.state.holds, 1);
    assert!(shown.state.serial > client.caller.witness.serial);
}

pub(crate) async fn a_clock_that_jumped_ahead_is_refused(site: &Site) {
    let mut client = site.windows("orders", |_| {}).await;
    let lease = client.one().await;
    let before = client.desk.store().show("orders", soon()).await.unwrap().state;
    let mut anchor = client.caller.anchor.unwrap();
    anchor.store_now = anchor.store_now.plus(-6_000_000_000);
    client.caller.anchor = Some(anchor);
    let held = vec![lease.held()];
    let refusal = refused(client.desk.renew(&client.caller, held.clone(), soon()).await);
    assert!(matches!(refusal, Refusal::ClockAhead { .. }), "{refusal}");
    assert_eq!(client.desk.store().show("orders", soon()).await.unwrap().state, before);
    client.caller.trusts_clock = true;
    client.desk.renew(&client.caller, held, soon()).await.unwrap();
}

pub(crate) async fn blocks_are_disjoint_and_dense_whoever_claims(site: &Site) {
    site.blocks("invoices", BlockTerms::default()).await;
    let mut tasks = Vec::new();
    for _ in 0..4 {
        let mut client = site.client("invoices").await;
        tasks.push(tokio::spawn(async move {
            let mut blocks = Vec::new();
            for size in 1..=15 {
                blocks.push(client.claim(size).await.unwrap());
            }
            blocks
        }));
    }
    let mut blocks = Vec::new();
    for task in tasks {
        blocks.extend(task.await.unwrap());
    }
    blocks.sort_by_key(|block| block.start);
    assert_eq!(blocks[0].start, 1);
    assert!(blocks.windows(2).all(|pair| pair[0].end == pair[1].start), "{blocks:?}");
    assert_eq!(blocks.last().unwrap().end, 1 + 4 * 120);
}

pub(crate) async fn what_is_left_of_a_block_is_given_back_once(site: &Site) {
    let mut client = site.blocks("invoices", BlockTerms::default()).await;
    let block = client.claim(100).await.unwrap();
    client.give_back(block, 31).await.unwrap();
    assert_eq!(refused(client.give_back(block, 20).await), Refusal::NotLast);
    let next = client.claim(10).await.unwrap();
    assert_eq!(next.start, 31);
    let mut other = site.client("invoices").await;
    other.claim(10).await.unwrap();
    assert_eq!(refused(client.give_back(next, 35).await), Refusal::NotLast);
    let claim = Claim { nonce: nonce(5), size: 1 };
    client.desk.claim(&other.caller, claim, soon()).await.unwrap();
    assert_eq!(refused(client.desk.claim(&other.caller, claim, soon()).await), Refusal::Doubled);
}

pub(crate) async fn tickets_keep_their_offset_through_bumps(site: &Site) {
    let odd = BlockTerms { step: 2, offset: 1, ..BlockTerms::default() };
    let mut client = site.blocks("tickets", odd).await;
    assert_eq!(client.claim(1).await.unwrap().start, 1);
    assert_eq!(client.claim(1).await.unwrap().start, 3);
    assert_eq!(refused(client.claim(2).await), Refusal::BlockSize { size: 2, max: 1 });
    client.desk.bump(&client.caller, Bump::To(100), soon()).await.unwrap();
    assert_eq!(client.claim(1).await.unwrap().start, 101);
    let back = refused(client.desk.bump(&client.caller, Bump::To(50), soon()).await);
    assert_eq!(back, Refusal::BumpBack { next: 103, to: 51 });
}

pub(crate) async fn a_counter_that_someone_saw_higher_stops_until_it_is_bumped(site: &Site) {
    let mut client = site.blocks("invoices", BlockTerms::default()).await;
    client.claim(10).await.unwrap();
    client.caller.witness.mark = 1_000;
    assert_eq!(refused(client.claim(10).await), Refusal::Stale { next: 11 });
    let mut fresh = site.client("invoices").await;
    assert_eq!(refused(fresh.claim(10).await), Refusal::Stale { next: 11 });
    fresh.desk.bump(&fresh.caller, Bump::To(1_000), soon()).await.unwrap();
    assert_eq!(client.claim(10).await.unwrap().start, 1_000);
}

/// A store whose tables `downgrade` makes those of version 1. Rule 19.
pub(crate) async fn a_store_of_version_1_goes_on_and_is_brought_up(site: &Site, downgrade: impl FnOnce()) {
    let mut invoices = site.blocks("invoices", BlockTerms::default()).await;
    let mut orders = site.windows("orders", |_| {}).await;
    invoices.claim(10).await.unwrap();
    let lease = orders.one().await;
    downgrade();
    // Nothing changes for who needs nothing of version 2; why a hold began isn't kept.
    orders.done(Request::Hold).await.unwrap();
    orders.done(Request::ReleaseHold).await.unwrap();
    assert_eq!(site.store().show("orders", soon()).await.unwrap().hold, None);
    assert_eq!(invoices.claim(10).await.unwrap().start, 11);
    site.blocks("receipts", BlockTerms::default()).await;
    let version = async || {
        let lines = site.store().check(soon()).await.unwrap();
        lines.into_iter().find(|line| line.what == "version").unwrap().found
    };
    assert!(version().await.starts_with("tables of protocol 1"));
    let mut tasks = Vec::new();
    for task in 0..10 {
        let store = site.store();
        tasks.push(tokio::spawn(async move {
            if task % 2 == 0 {
                store.upgrade(soon()).await.unwrap();
            } else {
                let space = scopes("issues", ScopeTerms::default());
                store.create(&space, CreateOptions::default(), soon()).await.unwrap();
            }
        }));
    }
    for task in tasks {
        task.await.unwrap();
    }
    assert!(version().await.starts_with("tables of protocol 2"));
    assert_eq!(site.client("issues").await.take("a", 1).await.unwrap(), (1, 2));
    assert_eq!(invoices.claim(10).await.unwrap().start, 21);
    orders.renew(&[lease]).await.remove(0).unwrap();
    let shown = site.store().list(soon()).await.unwrap();
    let holds = |shown: &Shown| shown.state.holds == u64::from(shown.space.name == "orders");
    assert!(
        shown.iter().all(|shown| holds(shown) && shown.hold.is_none() && !shown.state.block.is_stale),
        "{shown:?}"
    );
}

pub(crate) async fn a_dropped_space_leaves_a_tombstone_and_begins_again_on_hold(site: &Site) {
    let mut client = site.windows("orders", |_| {}).await;
    let lease = client.one().await;
    let store = site.store();
    store.drop_space("orders", soon()).await.unwrap();
    assert!(matches!(store.space("orders", soon()).await, Err(Error::NoSuchSpace { .. })));
    assert!(matches!(store.drop_space("orders", soon()).await, Err(Error::NoSuchSpace { .. })));
    let gone = client.acquire(1).await;
    assert!(matches!(gone, Err(Error::SpaceGone { .. })), "{gone:?}");
    let mut again = site.windows("orders", |_| {}).await;
    let Refusal::OnHold { until } = refused(again.acquire(1).await) else { panic!() };
    let terms = again.desk.space().windows().unwrap().terms;
    assert!(until > terms.time_of(lease.until));
    again.done(Request::ReleaseHold).await.unwrap();
    let Refusal::OnHold { until } = refused(again.acquire(1).await) else { panic!() };
    assert_eq!(until, terms.time_of(lease.until));
    assert!(matches!(client.acquire(1).await, Err(Error::SpaceGone { .. })));
    let all = store.list(soon()).await.unwrap();
    assert_eq!(all.iter().map(|shown| shown.dropped.is_some()).collect::<Vec<_>>(), [false, true]);
    assert_eq!(all[1].workers[0].mark, lease.until);
    assert_eq!(all[0].hold.map(|hold| hold.why), Some(Loss::CreatedAgain));
}

pub(crate) async fn no_name_issues_a_number_twice_however_often_it_is_dropped(site: &Site) {
    let store = site.store();
    let mut next = 1;
    for round in 0..3 {
        let mut counter = site.blocks("orders", BlockTerms::default()).await;
        assert_eq!(counter.claim(5).await.unwrap().start, next);
        next += 5;
        store.drop_space("orders", soon()).await.unwrap();
        // One that issues nothing and is dropped last is not all that there was.
        site.blocks("orders", BlockTerms::default()).await;
        store.drop_space("orders", soon()).await.unwrap();
        let refused = store.create(&windows("orders", short), CreateOptions::default(), soon()).await;
        assert!(matches!(&refused, Err(Error::NameUsed { .. })), "{round}: {refused:?}");
    }
    site.windows("invoices", short).await.one().await;
    store.drop_space("invoices", soon()).await.unwrap();
    let later = windows("invoices", |windows| {
        short(windows);
        windows.terms.base.epoch = windows.terms.base.epoch.plus(1_000_000_000);
    });
    let refused = store.create(&later, CreateOptions::default(), soon()).await;
    assert!(matches!(&refused, Err(Error::NameUsed { .. })), "{refused:?}");
    // Other terms of the leases are no other numbering.
    site.windows("invoices", |windows| {
        short(windows);
        windows.terms.last_worker = 3;
    })
    .await;
}

pub(crate) async fn a_deadline_that_has_passed_does_nothing(site: &Site) {
    let mut client = site.blocks("invoices", BlockTerms::default()).await;
    let claim = Claim { nonce: nonce(5), size: 10 };
    for _ in 0..5 {
        let late = client.desk.claim(&client.caller, claim, Deadline::after(Duration::ZERO)).await;
        assert!(matches!(late, Err(Error::Deadline { .. })), "{late:?}");
    }
    assert_eq!(client.claim(10).await.unwrap().start, 1);
}

pub(crate) async fn many_handles_create_one_space_at_once(site: &Site) {
    let mut tasks = Vec::new();
    for _ in 0..10 {
        let store = site.store();
        tasks.push(tokio::spawn(async move {
            let made = store.create(&windows("orders", |_| {}), CreateOptions::default(), soon()).await;
            made.unwrap().id
        }));
    }
    let mut ids = Vec::new();
    for task in tasks {
        ids.push(task.await.unwrap());
    }
    ids.dedup();
    assert_eq!(ids.len(), 1);
}

pub(crate) async fn many_processes_share_a_space(site: &Site) {
    crate::processes::share_a_space(site, 10).await;
}

pub(crate) async fn processes_that_are_killed_lose_nothing_and_get_nothing_twice(site: &Site) {
    crate::processes::survive_kills(site).await;
}

/// Rule 8.
pub(crate) async fn a_forked_child_is_refused(site: &Site) {
    let mut client = site.blocks("invoices", BlockTerms::default()).await;
    client.claim(10).await.unwrap();
    let claim = Request::Claim(Claim { nonce: nonce(5), size: 10 });
    let child = Forked::run(Duration::from_secs(20), |out| {
        let mut answer = client.desk.store().ask(client.desk.space(), &client.caller, &claim, soon());
        // Refused at once: nothing in the child could ever wake it.
        let polled = answer.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        let is_refused = matches!(polled, Poll::Ready(Err(Error::Forked { .. })));
        out.write_all(if is_refused { b"refused" } else { b"not refused" }).unwrap();
    });
    let (report, end) = child.unwrap().finish().unwrap();
    assert_eq!((report.as_slice(), end), (b"refused".as_slice(), End::Code(0)));
    assert_eq!(client.claim(10).await.unwrap().start, 11);
}

pub(crate) async fn all_is_well_where_a_store_checks_itself(site: &Site) {
    site.windows("orders", |_| {}).await;
    let lines = site.store().check(soon()).await.unwrap();
    assert!(lines.len() > 2);
    for line in lines {
        assert!(line.is_good, "{line:?}");
    }
}

/// What a client of a process does: acquires, renews, releases and claims, and says what it got.
pub(crate) async fn mint_a_while(client: &mut Client, counter: &mut Client, rounds: u64) -> Vec<String> {
    let mut lines = Vec::new();
    for round in 0..rounds {
        let lease = match client.acquire(1).await {
            Ok(leases) => leases[0],
            Err(Error::Refused { refusal: Refusal::NoneFree { next: Some(next) }, .. }) => {
                client.wait_until(next).await;
                continue;
            }
            Err(other) => panic!("{other}"),
        };
        let mut until = lease.until;
        if round % 2 == 0 && client.release(&lease, Some(lease.from)).await.is_ok() {
            until = lease.from + 1;
        }
        lines.push(format!("window {} {} {until}", lease.worker, lease.from));
        let block = counter.claim(round + 1).await.unwrap();
        lines.push(format!("block {} {}", block.start, block.end));
    }
    lines
}
