//! Tickets, twins of which one fails, and numbers of scopes, as programs take them.

use crate::site::{Site, blocks, scopes, soon};
use crate::sqlite;
use mintage_lease::space::{BlockTerms, ScopeTerms};
use mintage_lease::store::CreateOptions;
use mintage_lease::{Error, Session, SessionOptions, Space, SpaceId, Tickets};
use mintage_testkit::servers::mariadb::MariaDb;
use mintage_testkit::servers::postgres::Postgres;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

fn ticket(id: u128, step: u64, offset: u64) -> Space {
    let terms = BlockTerms { step, offset, max_size: 1, ..BlockTerms::default() };
    Space { id: SpaceId(id), ..blocks("tickets", terms) }
}

async fn session(site: &Site, space: &Space) -> Session {
    site.store().create(space, CreateOptions::default(), soon()).await.unwrap();
    Session::open(&site.url, SessionOptions::default()).unwrap()
}

/// Threads that take tickets until they are told to stop.
struct Takers {
    stop: Arc<AtomicBool>,
    taken: Arc<AtomicUsize>,
    threads: Vec<std::thread::JoinHandle<Vec<u64>>>,
}

impl Takers {
    fn of(tickets: &Tickets, threads: usize) -> Self {
        let (stop, taken) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
        let take = || {
            let (tickets, stop, taken) = (tickets.clone(), Arc::clone(&stop), Arc::clone(&taken));
            std::thread::spawn(move || {
                let mut mine = Vec::new();
                while !stop.load(Ordering::Relaxed) {
                    mine.push(tickets.next().unwrap());
                    taken.fetch_add(1, Ordering::Relaxed);
                }
                mine
            })
        };
        let threads = (0..threads).map(|_| take()).collect();
        Self { stop, taken, threads }
    }

    /// Waits until so many more were taken.
    async fn more(&self, count: usize) {
        let wanted = self.taken.load(Ordering::Relaxed) + count;
        while self.taken.load(Ordering::Relaxed) < wanted {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }

    /// All tickets, each of which was taken once.
    fn end(self) -> BTreeSet<u64> {
        self.stop.store(true, Ordering::Relaxed);
        let all: Vec<u64> = self.threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect();
        let distinct: BTreeSet<u64> = all.iter().copied().collect();
        assert_eq!(distinct.len(), all.len());
        distinct
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn twins_take_turns_and_one_goes_on_while_the_other_file_is_locked() {
    let (odd, even) = (sqlite::site(), sqlite::site());
    let sessions = [session(&odd, &ticket(1, 2, 1)).await, session(&even, &ticket(1, 2, 0)).await];
    let tickets = Tickets::open(&sessions, "tickets").await.unwrap();
    let both: BTreeSet<u64> = (0..10).map(|_| tickets.next().unwrap()).collect();
    assert_eq!(both, (1..=10).collect());
    let path = odd.url.strip_prefix("sqlite:").unwrap();
    let lock = std::fs::File::open(format!("{path}-serial")).unwrap();
    lock.lock().unwrap();
    let takers = Takers::of(&tickets, 3);
    takers.more(30).await;
    lock.unlock().unwrap();
    let all = takers.end();
    // Nobody waited for the file that was locked more than a moment.
    assert!(all.iter().filter(|ticket| *ticket % 2 == 0).count() >= 28, "{all:?}");
    assert!(all.is_disjoint(&both));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn twins_on_two_servers_lose_one_and_hand_out_no_ticket_twice() {
    let (Some(mut postgres), Some(mut mariadb)) = (Postgres::start(&[]), MariaDb::start_with(&[])) else {
        return;
    };
    mariadb.query("", "CREATE DATABASE ids").unwrap();
    let (odd, even) = (Site::of(postgres.url("postgres")), Site::of(mariadb.url("ids")));
    let sessions = [session(&odd, &ticket(1, 2, 1)).await, session(&even, &ticket(1, 2, 0)).await];
    let tickets = Tickets::open(&sessions, "tickets").await.unwrap();
    let takers = Takers::of(&tickets, 4);
    takers.more(60).await;
    postgres.kill();
    takers.more(60).await;
    // One that opens now finds one twin, and the other when it is back.
    let late = Tickets::open(&sessions, "tickets").await.unwrap();
    let mut others: BTreeSet<u64> = (0..5).map(|_| late.next().unwrap()).collect();
    assert!(others.iter().all(|ticket| ticket % 2 == 0));
    postgres.start_again();
    let mut is_back = false;
    while !is_back {
        let ticket = late.next().unwrap();
        is_back = ticket % 2 == 1;
        assert!(others.insert(ticket));
    }
    mariadb.kill();
    takers.more(60).await;
    let all = takers.end();
    assert!(all.is_disjoint(&others));
    assert!([0, 1].iter().all(|rest| all.iter().any(|ticket| ticket % 2 == *rest)));
}

#[tokio::test]
async fn rule_19_spaces_that_are_no_twins_are_refused_with_both_values() {
    let (first, second, third) = (sqlite::site(), sqlite::site(), sqlite::site());
    let one = session(&first, &ticket(1, 2, 1)).await;
    let same = session(&second, &ticket(1, 2, 1)).await;
    let foreign = session(&third, &ticket(2, 2, 0)).await;
    let told = async |sessions: &[Session]| match Tickets::open(sessions, "tickets").await {
        Err(error @ Error::NotTwins { .. }) => error.to_string(),
        other => panic!("{other:?}"),
    };
    let offsets = told(&[one.clone(), same]).await;
    assert!(offsets.contains("both have offset 1 of step 2") && offsets.contains(&first.url), "{offsets}");
    let ids = told(&[one.clone(), foreign]).await;
    assert!(
        ids.contains("000000000001") && ids.contains("000000000002") && ids.contains("--twin-of"),
        "{ids}"
    );
    first
        .store()
        .create(&scopes("issues", ScopeTerms::default()), CreateOptions::default(), soon())
        .await
        .unwrap();
    let kind = Tickets::open(&[one], "issues").await;
    assert!(matches!(kind, Err(Error::WrongKind { kind: "scopes", .. })), "{kind:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn numbers_of_a_scope_are_dense_whoever_takes_them() {
    let site = sqlite::site();
    site.store()
        .create(&scopes("issues", ScopeTerms::default()), CreateOptions::default(), soon())
        .await
        .unwrap();
    let session = Session::open(&site.url, SessionOptions::default()).unwrap();
    let space = session.space("issues").await.unwrap();
    let counters = space.scope_counters().unwrap();
    let (a, b) = ("a".parse().unwrap(), "b".parse().unwrap());
    let mut all: Vec<u64> = std::thread::scope(|scope| {
        let take = || (0..20).map(|_| counters.next(&a).unwrap()).collect::<Vec<u64>>();
        let running = [scope.spawn(take), scope.spawn(take)];
        running.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    all.sort_unstable();
    assert_eq!(all, (1..=40).collect::<Vec<u64>>());
    assert_eq!(counters.take_async(&b, 9).await.unwrap(), 1..10);
    assert!(matches!(space.allocator().await, Err(Error::WrongKind { kind: "scopes", .. })));
    // A stop reaches who is already taking.
    let other = site.client("issues").await;
    other.done(mintage_lease::Request::Hold).await.unwrap();
    let stopped = counters.next(&b).unwrap_err();
    assert!(matches!(stopped.refusal(), Some(mintage_lease::Refusal::ScopesStopped)), "{stopped}");
}
