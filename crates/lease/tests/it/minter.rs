//! Minters over a store in a file: windows lengthened in the background, lost, given back, and unreachable for a while.

use crate::processes;
use crate::site::{Site, short, soon, windows};
use crate::sqlite;
use mintage::{RawId, Role};
use mintage_lease::request::{Answered, Caller, Request, Shown};
use mintage_lease::space::{Space, Windows};
use mintage_lease::store::{Answering, CheckLine, CreateOptions, Deadline, Desk};
use mintage_lease::{
    Error, Event, Happening, Listener, Minter, MinterOptions, Session, SessionOptions, Store,
};
use mintage_testkit::forked::{End, Forked};
use std::collections::BTreeSet;
use std::io::Write;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// A session that keeps what happens.
struct Watched {
    session: Session,
    events: Arc<Mutex<Vec<Event>>>,
}

impl Watched {
    fn of(store: Arc<dyn Store>) -> Self {
        let events = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&events);
        let listener = Listener::new(move |event| seen.lock().unwrap().push(event.clone()));
        let options = SessionOptions { listener, ..SessionOptions::default() };
        Self { session: Session::of(store, options).unwrap(), events }
    }

    async fn minter(&self, options: MinterOptions) -> Minter {
        self.session.space("orders").await.unwrap().minter_with(options).await.unwrap()
    }

    fn count(&self, happening: Happening) -> usize {
        self.events.lock().unwrap().iter().filter(|event| event.event == happening).count()
    }
}

async fn site_with(change: impl FnOnce(&mut Windows)) -> Site {
    let site = sqlite::site();
    site.store().create(&windows("orders", change), CreateOptions::default(), soon()).await.unwrap();
    site
}

/// Windows of 300 ms that are renewed every 100 ms.
fn brief(windows: &mut Windows) {
    const MS: u64 = 1_000_000;
    short(windows);
    let timing = &mut windows.terms.timing;
    (timing.window_nanos, timing.renew_nanos, timing.max_ahead_nanos) = (300 * MS, 100 * MS, 300 * MS);
    (timing.max_lag_nanos, timing.max_store_skew_nanos) = (100 * MS, 500 * MS);
}

/// Mints for a while, one id a hundred microseconds; ids grow within a worker, and none is there twice. How long the longest time
/// without an id was.
fn mint_for(minter: &Minter, lasting: Duration, all: &mut BTreeSet<RawId>) -> Duration {
    let (begun, mut last, mut longest) = (Instant::now(), Instant::now(), Duration::ZERO);
    while begun.elapsed() < lasting {
        if let Ok(id) = minter.next() {
            assert!(all.insert(id), "{id:?} twice");
            longest = longest.max(last.elapsed());
            last = Instant::now();
        }
        std::thread::sleep(Duration::from_micros(100));
    }
    longest.max(last.elapsed())
}

async fn shown(site: &Site) -> Shown {
    site.store().show("orders", soon()).await.unwrap()
}

fn tick(minter: &Minter, id: RawId) -> u64 {
    let base = minter.layout().time_base().unwrap();
    u64::try_from(minter.layout().gather(id, Role::Timestamp(base))).unwrap()
}

#[tokio::test]
async fn a_minter_goes_on_across_its_renewals_and_in_order() {
    let site = site_with(brief).await;
    let watched = Watched::of(site.store());
    let minter = watched.minter(MinterOptions::default()).await;
    let mut last = RawId::ZERO;
    while watched.count(Happening::Renewed) < 5 {
        let id = minter.next().unwrap();
        assert!(id > last);
        last = id;
    }
    // Where the machine stood still for longer than a window, another worker than the first.
    let worker = minter.workers()[0];
    minter.close().await.unwrap();
    let shown = shown(&site).await;
    let row = shown.workers.iter().find(|row| row.worker == worker).unwrap();
    assert_eq!(row.mark, tick(&minter, last) + 1);
    assert!(matches!(minter.next(), Err(mintage::Error::Released { .. })));
    assert_eq!(watched.count(Happening::Released), 1);
}

#[tokio::test]
async fn minters_of_several_sessions_and_threads_share_no_id() {
    let site = site_with(brief).await;
    let mut minters = Vec::new();
    for leases in [1, 1, 3] {
        let watched = Watched::of(site.store());
        minters.push(watched.minter(MinterOptions { leases, ..MinterOptions::default() }).await);
    }
    assert_eq!(minters[2].workers().len(), 3);
    let ids: Vec<Vec<RawId>> = std::thread::scope(|scope| {
        let running: Vec<_> = minters
            .iter()
            .flat_map(|minter| [minter; 2])
            .map(|minter| {
                scope.spawn(move || {
                    let mut ids: Vec<RawId> = (0..5_000).map(|_| minter.next().unwrap()).collect();
                    let mut batch = [RawId::ZERO; 3_000];
                    minter.fill(&mut batch).unwrap();
                    ids.extend(batch);
                    let mut run = minter.runs(64);
                    ids.extend((0..5_000).map(|_| run.next().unwrap()));
                    ids
                })
            })
            .collect();
        running.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let all: BTreeSet<RawId> = ids.iter().flatten().copied().collect();
    assert_eq!(all.len(), 6 * 13_000);
}

#[tokio::test]
async fn a_minter_that_is_dropped_gives_its_lease_back() {
    let site = site_with(|_| {}).await;
    let watched = Watched::of(site.store());
    let minter = watched.minter(MinterOptions::default()).await;
    let used = tick(&minter, minter.next().unwrap());
    drop(minter);
    while watched.count(Happening::Released) == 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(shown(&site).await.workers[0].mark, used + 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_that_an_operator_burned_is_replaced_by_another() {
    let site = site_with(brief).await;
    let watched = Watched::of(site.store());
    let minter = watched.minter(MinterOptions::default()).await;
    let mut all = BTreeSet::new();
    mint_for(&minter, Duration::from_millis(50), &mut all);
    assert_eq!(minter.workers(), [0]);
    site.client("orders").await.done(Request::Burn(0)).await.unwrap();
    // Looked at as soon as it has come: on a machine that stands still for a window's length, the next one may be lost too.
    let begun = Instant::now();
    while minter.workers() == [0] && begun.elapsed() < Duration::from_secs(10) {
        mint_for(&minter, Duration::from_millis(5), &mut all);
    }
    assert_eq!(minter.workers(), [1]);
    assert_eq!(watched.count(Happening::Lost), 1);
    mint_for(&minter, Duration::from_millis(300), &mut all);
}

/// Somebody wants ids all the time, and the store is asked as often as its answers make sense; the same answer is told once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_store_that_said_when_is_not_asked_before_and_tells_it_once() {
    const MS: u64 = 1_000_000;
    let site = site_with(|windows| {
        let terms = &mut windows.terms;
        (terms.first_worker, terms.last_worker, terms.host_quota) = (0, 1, 9);
        let timing = &mut terms.timing;
        (timing.window_nanos, timing.renew_nanos, timing.max_ahead_nanos) =
            (5_000 * MS, 500 * MS, 5_000 * MS);
    })
    .await;
    let store = Lossy::of(site.store());
    let watched = Watched::of(store.clone());
    let minter = watched
        .minter(MinterOptions { patience: Duration::from_millis(50), ..MinterOptions::default() })
        .await;
    let mut other = site.client("orders").await;
    let kept = other.one().await;
    site.client("orders").await.done(Request::Burn(0)).await.unwrap();
    while watched.count(Happening::AcquireFailed) == 0 {
        let _ = minter.next();
    }
    let (before, begun) = (store.asked.load(Ordering::Relaxed), Instant::now());
    while begun.elapsed() < Duration::from_secs(2) {
        assert!(minter.next().is_err());
    }
    let asked = store.asked.load(Ordering::Relaxed) - before;
    assert!((1..=8).contains(&asked), "asked {asked} times in 2 s");
    assert_eq!((watched.count(Happening::Lost), watched.count(Happening::AcquireFailed)), (1, 1));
    other.release(&kept, None).await.unwrap();
    while minter.next().is_err() {
        assert!(
            begun.elapsed() < Duration::from_secs(4),
            "a worker that is free is had at the next interval"
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_outage_is_outlived_for_the_window_and_the_lag_and_then_minting_fails_until_it_ends() {
    let site = site_with(brief).await;
    let watched = Watched::of(site.store());
    let minter = watched
        .minter(MinterOptions { patience: Duration::from_millis(10), ..MinterOptions::default() })
        .await;
    let mut all = BTreeSet::new();
    mint_for(&minter, Duration::from_millis(200), &mut all);
    // Whoever holds the side-car's lock holds the store.
    let path = site.url.strip_prefix("sqlite:").unwrap();
    let side_car = std::fs::File::open(format!("{path}-serial")).unwrap();
    side_car.lock().unwrap();
    let begun = Instant::now();
    let mut ended = None;
    while ended.is_none() {
        match minter.next() {
            Ok(id) => assert!(all.insert(id)),
            Err(error @ mintage::Error::WindowEnded { .. }) => ended = error.wait_nanos(),
            Err(error) => panic!("{error}"),
        }
        std::thread::sleep(Duration::from_micros(100));
    }
    // A window of 300 ms that was renewed at most 100 ms and some ago, and 100 ms of lag.
    assert!(begun.elapsed() > Duration::from_millis(200), "{:?}", begun.elapsed());
    assert!(ended.unwrap() > 0 && watched.count(Happening::RenewalFailed) > 0);
    side_car.unlock().unwrap();
    let longest = mint_for(&minter, Duration::from_secs(1), &mut all);
    assert!(longest < Duration::from_millis(900), "{longest:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_live_lease_goes_on_through_a_hold() {
    let site = site_with(brief).await;
    let watched = Watched::of(site.store());
    let minter = watched.minter(MinterOptions::default()).await;
    let mut all = BTreeSet::new();
    mint_for(&minter, Duration::from_millis(50), &mut all);
    site.client("orders").await.done(Request::Hold).await.unwrap();
    mint_for(&minter, Duration::from_secs(2), &mut all);
    let id = minter.next().unwrap();
    assert!(all.insert(id));
}

#[tokio::test]
async fn a_space_of_blocks_has_no_minter_and_one_on_hold_says_until_when() {
    let site = site_with(brief).await;
    site.client("orders").await.done(Request::Hold).await.unwrap();
    let watched = Watched::of(site.store());
    let refused = watched.session.space("orders").await.unwrap().minter().await.unwrap_err();
    assert!(refused.to_string().contains("on hold until 20"), "{refused}");
    site.blocks("invoices", mintage_lease::space::BlockTerms::default()).await;
    let wrong = watched.session.space("invoices").await.unwrap().minter().await.unwrap_err();
    assert_eq!(wrong.to_string(), "invoices: is a space of blocks, a minter doesn't go with it");
}

/// A store whose renewals and claims have an unknown outcome while it is told to lose them.
#[derive(Debug)]
pub(crate) struct Lossy {
    store: Arc<dyn Store>,
    loses: Mutex<Loses>,
    /// What is on its way.
    kept: Mutex<Vec<(Caller, Request)>>,
    /// How many requests were made.
    asked: AtomicUsize,
}

/// What gets lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Loses {
    Nothing,
    /// Answers, after the requests were carried out.
    Answers,
    /// Requests, which arrive when they are delivered.
    Requests,
}

impl Lossy {
    pub(crate) fn of(store: Arc<dyn Store>) -> Arc<Self> {
        Arc::new(Self {
            store,
            loses: Mutex::new(Loses::Nothing),
            kept: Mutex::default(),
            asked: AtomicUsize::new(0),
        })
    }

    pub(crate) fn lose(&self, what: Loses) {
        *self.loses.lock().unwrap() = what;
    }

    /// How many requests are on their way.
    pub(crate) fn kept(&self) -> usize {
        self.kept.lock().unwrap().len()
    }

    /// Lets what was on its way arrive.
    pub(crate) async fn deliver(&self, space: &str) {
        let space = self.store.space(space, soon()).await.unwrap();
        let kept = std::mem::take(&mut *self.kept.lock().unwrap());
        for (caller, request) in kept {
            // Nobody waits for the answer.
            let _ = self.store.ask(&space, &caller, &request, soon()).await;
        }
    }
}

impl Store for Lossy {
    fn url(&self) -> &str {
        self.store.url()
    }
    fn clock(&self) -> &dyn mintage_lease::clock::HostClock {
        self.store.clock()
    }
    fn space<'a>(&'a self, name: &'a str, deadline: Deadline) -> Answering<'a, Space> {
        self.store.space(name, deadline)
    }
    fn ask<'a>(
        &'a self,
        space: &'a Space,
        caller: &'a Caller,
        request: &'a Request,
        deadline: Deadline,
    ) -> Answering<'a, Answered> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        Box::pin(async move {
            let may_be_lost = matches!(request, Request::Renew(_) | Request::Claim(_));
            let loses = *self.loses.lock().unwrap();
            if !may_be_lost || loses == Loses::Nothing {
                return self.store.ask(space, caller, request, deadline).await;
            }
            let source = if loses == Loses::Answers {
                let _ = self.store.ask(space, caller, request, deadline).await;
                "the answer was lost".into()
            } else {
                self.kept.lock().unwrap().push((*caller, request.clone()));
                "the request is on its way".into()
            };
            Err(Error::UnknownOutcome { store: self.url().to_owned(), request: request.name(), source })
        })
    }
    fn create<'a>(
        &'a self,
        space: &'a Space,
        options: CreateOptions,
        deadline: Deadline,
    ) -> Answering<'a, Space> {
        self.store.create(space, options, deadline)
    }
    fn list(&self, deadline: Deadline) -> Answering<'_, Vec<Shown>> {
        self.store.list(deadline)
    }
    fn show<'a>(&'a self, name: &'a str, deadline: Deadline) -> Answering<'a, Shown> {
        self.store.show(name, deadline)
    }
    fn drop_space<'a>(&'a self, name: &'a str, deadline: Deadline) -> Answering<'a, ()> {
        self.store.drop_space(name, deadline)
    }
    fn check(&self, deadline: Deadline) -> Answering<'_, Vec<CheckLine>> {
        self.store.check(deadline)
    }
    fn upgrade(&self, deadline: Deadline) -> Answering<'_, ()> {
        self.store.upgrade(deadline)
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_renewal_of_unknown_outcome_burns_a_window_and_nothing_else() {
    let site = site_with(brief).await;
    let lossy = Lossy::of(site.store());
    let watched = Watched::of(Arc::clone(&lossy) as Arc<dyn Store>);
    let minter = watched.minter(MinterOptions::default()).await;
    let mut all = BTreeSet::new();
    mint_for(&minter, Duration::from_millis(50), &mut all);
    lossy.lose(Loses::Answers);
    mint_for(&minter, Duration::from_millis(150), &mut all);
    lossy.lose(Loses::Nothing);
    mint_for(&minter, Duration::from_millis(500), &mut all);
    assert_eq!((minter.workers(), watched.count(Happening::Lost)), (vec![1], 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rule_11_no_lease_is_released_while_a_renewal_of_it_may_be_on_its_way() {
    let site = site_with(|windows| {
        brief(windows);
        // So long that the window doesn't pass meanwhile.
        let timing = &mut windows.terms.timing;
        (timing.window_nanos, timing.max_ahead_nanos) = (30_000_000_000, 30_000_000_000);
    })
    .await;
    let lossy = Lossy::of(site.store());
    lossy.lose(Loses::Answers);
    let watched = Watched::of(Arc::clone(&lossy) as Arc<dyn Store>);
    let minter = watched.minter(MinterOptions::default()).await;
    while watched.count(Happening::RenewalFailed) == 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let row = shown(&site).await.workers[0].clone();
    minter.close().await.unwrap();
    // The store has carried out the renewal: a release would have been refused, or have lowered the mark.
    assert_eq!(shown(&site).await.workers[0], row);
    assert_eq!((watched.count(Happening::Released), watched.count(Happening::ReleaseFailed)), (0, 1));
    let events = watched.events.lock().unwrap();
    let told = events.iter().find(|event| event.event == Happening::ReleaseFailed).unwrap();
    assert!(told.detail.as_ref().unwrap().contains("may still be on its way"), "{told:?}");
}

#[test]
fn a_forked_child_mints_nothing_gives_nothing_back_and_opens_its_own() {
    processes::alone("minter::fork_of_a_minter");
}

#[test]
#[ignore = "run by the test above, in a process of its own"]
fn fork_of_a_minter() {
    // A runtime of several threads, which the child has a copy of.
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let (site, watched, minter) = runtime.block_on(async {
        let site = site_with(|_| {}).await;
        let watched = Watched::of(site.store());
        let minter = watched.minter(MinterOptions::default()).await;
        (site, watched, minter)
    });
    let used = minter.next().unwrap();
    let before = runtime.block_on(shown(&site)).workers;
    let (session, url, theirs) = (watched.session.clone(), site.url.clone(), minter.clone());
    processes::wait_for_threads();
    let child = Forked::run(Duration::from_secs(20), move |out| {
        let refused = theirs.next().unwrap_err().to_string();
        writeln!(out, "{refused}").unwrap();
        drop(theirs);
        writeln!(out, "{}", session.store().unwrap_err()).unwrap();
        drop(session);
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let id = runtime.block_on(async {
            let session = mintage_lease::open(&url).await.unwrap();
            let own = session.space("orders").await.unwrap().minter().await.unwrap();
            let id = own.next().unwrap();
            own.close().await.unwrap();
            id
        });
        writeln!(out, "{}", id.low() >> 12 & 1023).unwrap();
    });
    let (report, end) = child.unwrap().finish().unwrap();
    let report = String::from_utf8(report).unwrap();
    assert_eq!(end, End::Code(0), "{report}");
    let lines: Vec<&str> = report.lines().collect();
    assert!(lines[0].contains("forked") && lines[1].contains("open it anew"), "{report}");
    assert_eq!(lines[2], "1");
    assert_eq!(runtime.block_on(shown(&site)).workers[0], before[0]);
    assert!(minter.next().unwrap() > used);
}

#[tokio::test]
async fn a_restart_after_a_kill_has_a_worker_at_once() {
    let site = site_with(|_| {}).await;
    let client = site.client("orders").await;
    // As a process that was killed leaves it.
    let mut killed = client.clone();
    killed.one().await;
    let desk = Desk::open(site.store(), "orders", soon()).await.unwrap();
    assert_eq!(desk.space().name, "orders");
    let watched = Watched::of(site.store());
    let minter = watched.minter(MinterOptions::default()).await;
    assert!(minter.try_next().is_ok());
    assert_eq!(minter.workers(), [1]);
}
