//! Allocators over a store in a file: blocks that follow each other, come late, are given back, and survive crashes.

use crate::minter::{Loses, Lossy};
use crate::processes;
use crate::site::{Site, blocks, soon};
use crate::sqlite;
use mintage_lease::space::BlockTerms;
use mintage_lease::store::CreateOptions;
use mintage_lease::{Allocator, AllocatorOptions, Error, Refusal, Request, Session, SessionOptions};
use mintage_testkit::forked::{End, Forked};
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

async fn site_with(terms: BlockTerms) -> Site {
    let site = sqlite::site();
    site.store().create(&blocks("invoices", terms), CreateOptions::default(), soon()).await.unwrap();
    site
}

async fn allocator(site: &Site, options: AllocatorOptions) -> Allocator {
    let session = Session::of(site.store(), SessionOptions::default()).unwrap();
    session.space("invoices").await.unwrap().allocator_with(options).await.unwrap()
}

async fn next_in_store(site: &Site) -> u64 {
    site.store().show("invoices", soon()).await.unwrap().state.block.next
}

fn small() -> AllocatorOptions {
    AllocatorOptions { first_size: 5, ..AllocatorOptions::default() }
}

#[tokio::test]
async fn values_are_dense_and_the_rest_is_given_back() {
    let site = site_with(BlockTerms::default()).await;
    for round in 0..3 {
        let allocator = allocator(&site, small()).await;
        let mut values = [0; 70];
        allocator.fill(&mut values[..30]).unwrap();
        for value in &mut values[30..] {
            *value = allocator.next().unwrap();
        }
        let first = round * 70 + 1;
        assert_eq!(values.to_vec(), (first..first + 70).collect::<Vec<u64>>());
        allocator.close().await.unwrap();
        assert!(matches!(allocator.next(), Err(Error::Closed { .. })));
        let counts = allocator.counts();
        assert_eq!((counts.claimed - counts.given_back, counts.wasted), (70, 0));
        assert_eq!(next_in_store(&site).await, first + 70);
    }
}

#[tokio::test]
async fn several_allocators_hand_out_each_value_once() {
    let site = site_with(BlockTerms::default()).await;
    let allocators = [allocator(&site, small()).await, allocator(&site, small()).await];
    let all: Vec<Vec<u64>> = std::thread::scope(|scope| {
        let running: Vec<_> = allocators
            .iter()
            .flat_map(|allocator| [allocator; 2])
            .map(|allocator| scope.spawn(move || (0..20_000).map(|_| allocator.next().unwrap()).collect()))
            .collect();
        running.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(all.iter().all(|values: &Vec<u64>| values.is_sorted_by(|a, b| a < b)));
    let distinct: BTreeSet<u64> = all.iter().flatten().copied().collect();
    assert_eq!(distinct.len(), 80_000);
    for allocator in &allocators {
        allocator.close().await.unwrap();
    }
    let wasted: u64 = allocators.iter().map(|allocator| allocator.counts().wasted).sum();
    assert_eq!(next_in_store(&site).await - 1, 80_000 + wasted);
}

#[tokio::test]
async fn tickets_come_one_by_one_with_their_offset() {
    let site = site_with(BlockTerms { step: 2, offset: 1, ..BlockTerms::default() }).await;
    let allocator = allocator(&site, AllocatorOptions::default()).await;
    let values: Vec<u64> = (0..10).map(|_| allocator.next().unwrap()).collect();
    assert_eq!(values, (0..10).map(|i| 2 * i + 1).collect::<Vec<u64>>());
}

#[tokio::test]
async fn a_counter_that_ends_or_stops_says_so_and_goes_on_after_a_bump() {
    let site = site_with(BlockTerms { last: 12, ..BlockTerms::default() }).await;
    let ended = allocator(&site, small()).await;
    assert_eq!((0..12).map(|_| ended.next().unwrap()).max(), Some(12));
    let Err(Error::NoBlock { source: Some(source), .. }) = ended.next() else { panic!() };
    assert!(matches!(source.refusal(), Some(Refusal::CounterEnded { last: 12 })));
    let site = site_with(BlockTerms::default()).await;
    let stopped = allocator(&site, AllocatorOptions { first_size: 1, ..AllocatorOptions::default() }).await;
    let client = site.client("invoices").await;
    client.done(Request::Hold).await.unwrap();
    while stopped.next().is_ok() {}
    client.done(Request::Bump(mintage_lease::request::Bump::To(1_000))).await.unwrap();
    let mut next = stopped.next();
    while next.is_err() {
        tokio::time::sleep(Duration::from_millis(20)).await;
        next = stopped.next();
    }
    assert_eq!(next.unwrap(), 1_000);
}

#[tokio::test]
async fn a_caller_waits_while_the_store_does_not_answer_and_fails_with_the_reason() {
    let site = site_with(BlockTerms::default()).await;
    let patience = Duration::from_millis(300);
    let session = Session::of(
        site.store(),
        SessionOptions { deadline: Duration::from_millis(100), ..SessionOptions::default() },
    );
    let options = AllocatorOptions { first_size: 1, patience, ..AllocatorOptions::default() };
    let space = session.unwrap().space("invoices").await.unwrap();
    let allocator = space.allocator_with(options).await.unwrap();
    let path = site.url.strip_prefix("sqlite:").unwrap();
    let side_car = std::fs::File::open(format!("{path}-serial")).unwrap();
    side_car.lock().unwrap();
    let failed = std::iter::from_fn(|| Some(allocator.next())).find_map(Result::err).unwrap();
    assert!(matches!(&failed, Error::NoBlock { source: Some(_), .. }), "{failed}");
    assert!(matches!(allocator.try_next(), Err(Error::NotYet { .. })));
    let unlocks = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(100));
        side_car.unlock().unwrap();
    });
    while allocator.next().is_err() {}
    unlocks.join().unwrap();
}

#[tokio::test]
async fn rule_11_nothing_is_given_back_that_a_claim_on_its_way_has_seen() {
    let site = site_with(BlockTerms::default()).await;
    let lossy = Lossy::of(site.store());
    let options = AllocatorOptions { fetch_at_percent: 60, ..small() };
    let session = Session::of(Arc::clone(&lossy) as _, SessionOptions::default()).unwrap();
    let allocator = session.space("invoices").await.unwrap().allocator_with(options).await.unwrap();
    lossy.lose(Loses::Requests);
    // The fourth of five asks for the next block, and the request arrives when all is over.
    let used: Vec<u64> = (0..4).map(|_| allocator.next().unwrap()).collect();
    assert_eq!(used, [1, 2, 3, 4]);
    while lossy.kept() == 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    allocator.close().await.unwrap();
    let counts = allocator.counts();
    assert_eq!((counts.claimed, counts.given_back, counts.wasted), (5, 0, 1));
    lossy.deliver("invoices").await;
    // A claim that finds less than it has seen would have stopped the counter, as after a loss.
    let state = site.store().show("invoices", soon()).await.unwrap().state;
    assert!(!state.block.is_stale);
    assert!(state.block.next > 6, "the claim arrived");
}

#[test]
fn rule_8_a_forked_child_asks_nothing_with_what_its_parent_has_seen() {
    processes::alone("allocator::fork_of_an_allocator");
}

#[test]
#[ignore = "run by the test above, in a process of its own"]
fn fork_of_an_allocator() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let (site, theirs, mut client) = runtime.block_on(async {
        let site = site_with(BlockTerms::default()).await;
        let theirs = allocator(&site, small()).await;
        let client = site.client("invoices").await;
        (site, theirs, client)
    });
    let block = runtime.block_on(client.claim(10)).unwrap();
    let (url, seen, copy) = (site.url.clone(), client.clone(), theirs.clone());
    // What the child had seen would be a sign of loss after this.
    runtime.block_on(client.give_back(block, block.start)).unwrap();
    processes::wait_for_threads();
    let child = Forked::run(Duration::from_secs(20), move |out| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            writeln!(out, "{}", seen.done(Request::Look).await.unwrap_err()).unwrap();
            writeln!(out, "{}", copy.next().unwrap_err()).unwrap();
            drop((seen, copy));
            let session = mintage_lease::open(&url).await.unwrap();
            let own = session.space("invoices").await.unwrap().allocator_with(small()).await.unwrap();
            writeln!(out, "{}", own.next().unwrap()).unwrap();
            own.close().await.unwrap();
        });
    });
    let (report, end) = child.unwrap().finish().unwrap();
    let report = String::from_utf8(report).unwrap();
    assert_eq!(end, End::Code(0), "{report}");
    let lines: Vec<&str> = report.lines().collect();
    assert!(lines[0].contains("forked") && lines[1].contains("forked"), "{report}");
    assert_eq!(lines[2], "6");
    let state = runtime.block_on(site.store().show("invoices", soon())).unwrap().state;
    assert_eq!((state.block.next, state.block.is_stale), (7, false));
    assert_eq!(theirs.next().unwrap(), 1);
}

/// What happens to one of three allocators of a space.
#[derive(Clone, Copy, Debug)]
enum Act {
    Take(usize, u8),
    Close(usize),
    Crash(usize),
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let one = prop_oneof![
        6 => (0..3_usize, 1..40_u8).prop_map(|(who, count)| Act::Take(who, count)),
        1 => (0..3_usize).prop_map(Act::Close),
        1 => (0..3_usize).prop_map(Act::Crash),
    ];
    prop::collection::vec(one, 1..25)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn no_value_is_handed_out_twice_through_crashes_and_give_backs(acts in acts(), step in 1..3_u64) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let site = site_with(BlockTerms { step, ..BlockTerms::default() }).await;
            let mut running: [Option<Allocator>; 3] = [None, None, None];
            let mut all = BTreeSet::new();
            for act in acts {
                match act {
                    Act::Take(who, count) => {
                        if running[who].is_none() {
                            running[who] = Some(allocator(&site, small()).await);
                        }
                        let allocator = running[who].as_ref().unwrap();
                        for _ in 0..count {
                            let value = allocator.next().unwrap();
                            assert!(all.insert(value), "{value} twice");
                        }
                    }
                    Act::Close(who) => {
                        if let Some(allocator) = running[who].take() {
                            allocator.close().await.unwrap();
                        }
                    }
                    // A process that is killed gives nothing back.
                    Act::Crash(who) => std::mem::forget(running[who].take()),
                }
            }
            assert!(next_in_store(&site).await > all.last().copied().unwrap_or(0));
        });
    }
}
