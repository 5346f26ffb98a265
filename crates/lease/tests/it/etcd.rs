//! The store in a cluster of etcd: clocks of clients, elections, restores, lost quorums, users.

use crate::conformance::Windows;
use crate::networked::Network;
use crate::proxy::Words;
use crate::site::{Client, Site, refused, short, soon};
use mintage::{Clock, SystemClock, UnixNanos};
use mintage_lease::clock::ManualHostClock;
use mintage_lease::request::Bump;
use mintage_lease::space::BlockTerms;
use mintage_lease::state::SpaceState;
use mintage_lease::store::{Deadline, OpenOptions};
use mintage_lease::{Error, MinterOptions, Refusal, Request, Session, SessionOptions};
use mintage_testkit::servers::etcd::Etcd;
use std::sync::Arc;
use std::time::Duration;

pub(crate) fn site() -> Option<Site> {
    let cluster = Etcd::shared()?;
    let url = cluster.url(&cluster.prefix());
    Some(Site { url, options: OpenOptions::default(), _kept: Box::new(cluster) })
}

pub(crate) fn network() -> Option<Network> {
    let cluster = Etcd::shared()?;
    let (port, prefix) = (cluster.ports()[0], cluster.prefix());
    let url = Box::new(move |port| format!("etcd://127.0.0.1:{port}/{prefix}"));
    Some(Network { port, url, words: Words::KEYS, _kept: Box::new(cluster) })
}

async fn state_of(client: &Client) -> SpaceState {
    client.desk.store().show(&client.desk.space().name, soon()).await.unwrap().state
}

/// A client of a host whose wall clock is off by so many seconds; and that host's clock, which stands until it is told to pass.
async fn with_clock(site: &Site, seconds: i64) -> (Client, ManualHostClock) {
    let clock = ManualHostClock::new(wall(seconds));
    let options = OpenOptions { clock: Some(Arc::new(clock.clone())), ..OpenOptions::default() };
    let site = Site { options, ..Site::of(site.url.clone()) };
    (site.client("orders").await, clock)
}

fn wall(off_seconds: i64) -> UnixNanos {
    SystemClock.now().plus(i128::from(off_seconds) * 1_000_000_000)
}

#[tokio::test]
async fn rule_16_a_fresh_client_whose_clock_is_behind_or_an_hour_ahead_is_refused_with_both_values() {
    let Some(site) = site() else { return crate::site::missing("etcd") };
    let mut good = site.windows("orders", |_| {}).await;
    let lease = good.one().await;
    let before = state_of(&good).await;
    let (mut behind, _) = with_clock(&site, -6).await;
    let refusal = refused(behind.acquire(1).await);
    let Refusal::HostBehind { wall, last } = refusal else { panic!("{refusal}") };
    assert!(wall < last);
    assert!(
        refusal.to_string().contains(&wall.to_string()) && refusal.to_string().contains(&last.to_string())
    );
    let (mut ahead, _) = with_clock(&site, 3_700).await;
    assert!(matches!(refused(ahead.acquire(1).await), Refusal::HostAhead { .. }));
    assert_eq!(state_of(&good).await, before);
    good.renew(&[lease]).await.remove(0).unwrap();
    // An operator's word sets the time, and sets it back.
    ahead.caller.trusts_clock = true;
    ahead.one().await;
    assert!(matches!(refused(site.client("orders").await.acquire(1).await), Refusal::HostBehind { .. }));
    good.caller.trusts_clock = true;
    good.one().await;
    site.client("orders").await.one().await;
}

#[tokio::test]
async fn rule_16_one_bad_clock_poisons_no_mark_but_its_own_worker_s() {
    let Some(site) = site() else { return crate::site::missing("etcd") };
    let mut good = site.windows("orders", |_| {}).await;
    let held = good.one().await;
    let (mut bad, clock) = with_clock(&site, 600).await;
    let poisoned = bad.one().await;
    // Others that are fresh can't know better for the moment; a holder does.
    assert!(matches!(refused(site.client("orders").await.acquire(1).await), Refusal::HostBehind { .. }));
    let renewed = good.renew(&[held]).await.remove(0).unwrap();
    assert!(renewed.until < poisoned.from);
    clock.pass(1_000_000_000);
    let last = bad.desk.renew(&bad.caller, vec![poisoned.held()], soon()).await;
    assert!(matches!(refused(last), Refusal::HostAhead { .. }));
    let fresh = site.client("orders").await.one().await;
    assert!(fresh.until < poisoned.from && fresh.worker != poisoned.worker);
    assert_eq!(state_of(&good).await.holds, 0);
}

#[tokio::test]
async fn rule_16_steps_of_a_holder_s_wall_clock_change_nothing() {
    let Some(site) = site() else { return crate::site::missing("etcd") };
    site.windows("orders", |_| {}).await;
    let (mut client, clock) = with_clock(&site, 0).await;
    let mut lease = client.one().await;
    for off in [-3_600, 7_200, 60] {
        clock.set_wall(wall(off));
        clock.pass(1_000_000_000);
        let renewed = client.renew(&[lease]).await.remove(0).unwrap();
        // Within one tick of a millisecond.
        assert!((renewed.until - lease.until).abs_diff(1_000) <= 1, "{off}: {lease:?} {renewed:?}");
        lease = renewed;
    }
}

#[tokio::test]
async fn rules_17_and_18_a_snapshot_that_was_restored_is_a_copy() {
    let Some(mut cluster) = Etcd::start(1) else { return };
    let site = Site::of(cluster.url("ids"));
    let mut orders = site.windows("orders", |_| {}).await;
    let mut invoices = site.blocks("invoices", BlockTerms::default()).await;
    invoices.claim(10).await.unwrap();
    // Only a copy can be what begins a hold.
    orders.done(Request::RestartHold(false)).await.unwrap();
    cluster.save_snapshot("first");
    let lease = orders.one().await;
    let block = invoices.claim(10).await.unwrap();
    // Under another token, whoever comes first sees it.
    cluster.kill(0);
    cluster.restore_snapshot("first", Some("second"));
    cluster.start_again();
    let mut fresh = site.client("orders").await;
    assert!(matches!(refused(fresh.acquire(1).await), Refusal::OnHold { .. }));
    assert!(matches!(refused(site.client("invoices").await.claim(10).await), Refusal::Stale { .. }));
    assert_eq!(state_of(&fresh).await.holds, 1);
    let again = orders.reassert(&lease).await.unwrap();
    assert_eq!((again.worker, again.until), (lease.worker, lease.until));
    invoices.desk.bump(&invoices.caller, Bump::To(block.end), soon()).await.unwrap();
    assert_eq!(invoices.claim(10).await.unwrap().start, block.end);
}

#[tokio::test]
async fn rules_17_and_18_data_that_were_copied_back_are_noticed_by_who_saw_more() {
    let Some(mut cluster) = Etcd::start(1) else { return };
    let site = Site::of(cluster.url("ids"));
    let mut orders = site.windows("orders", |_| {}).await;
    let mut invoices = site.blocks("invoices", BlockTerms::default()).await;
    orders.done(Request::RestartHold(false)).await.unwrap();
    cluster.kill(0);
    cluster.copy_data("first");
    cluster.start_again();
    let lease = orders.one().await;
    let block = invoices.claim(10).await.unwrap();
    // A handle that is told nothing by its caller: it goes by the revisions that it was answered with.
    let (store, space) = (orders.desk.store(), orders.desk.space());
    cluster.kill(0);
    cluster.put_back("first");
    cluster.start_again();
    store.ask(space, &mintage_lease::Caller::default(), &Request::Look, soon()).await.unwrap();
    assert!(state_of(&orders).await.holds > 0);
    let mut fresh = site.client("orders").await;
    assert!(matches!(refused(fresh.acquire(1).await), Refusal::OnHold { .. }));
    assert!(matches!(refused(site.client("invoices").await.claim(1).await), Refusal::Stale { .. }));
    orders.reassert(&lease).await.unwrap();
    invoices.desk.bump(&invoices.caller, Bump::To(block.end), soon()).await.unwrap();
}

#[tokio::test]
async fn rule_17_a_mere_start_of_a_single_member_begins_a_hold_unless_it_is_exempted() {
    let Some(mut cluster) = Etcd::start(1) else { return };
    let site = Site::of(cluster.url("ids"));
    let orders = site.windows("orders", short).await;
    let mut plain = site.windows("plain", short).await;
    plain.done(Request::RestartHold(false)).await.unwrap();
    let mut invoices = site.blocks("invoices", BlockTerms::default()).await;
    invoices.claim(10).await.unwrap();
    cluster.kill(0);
    let brief = Deadline::after(Duration::from_millis(600));
    let begun = tokio::time::Instant::now();
    let gone = orders.desk.done(&orders.caller, Request::Look, brief).await;
    assert!(matches!(gone, Err(Error::Unreachable { .. })), "{gone:?}");
    assert!(begun.elapsed() < Duration::from_secs(2));
    cluster.start_again();
    orders.done(Request::Look).await.unwrap();
    plain.one().await;
    assert_eq!((state_of(&orders).await.holds, state_of(&plain).await.holds), (1, 0));
    assert_eq!(invoices.claim(10).await.unwrap().start, 11);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rule_17_grants_go_on_when_a_leader_dies_and_stop_with_a_clear_word_without_a_quorum() {
    let Some(mut cluster) = Etcd::start(3) else { return };
    let site = Site::of(cluster.url("ids"));
    site.windows("orders", |windows| windows.terms.last_worker = 1_000).await;
    let (stop, stopped) = tokio::sync::watch::channel(false);
    let mut tasks = Vec::new();
    for _ in 0..4 {
        let (mut client, stopped) = (site.client("orders").await, stopped.clone());
        tasks.push(tokio::spawn(async move {
            let (mut all, mut unknown) = (Windows::default(), 0);
            while !*stopped.borrow() {
                match client.acquire(1).await {
                    Ok(leases) => all.grant(leases[0].worker, leases[0].from, leases[0].until),
                    // What was under way when the leader died.
                    Err(Error::UnknownOutcome { .. }) => unknown += 1,
                    Err(other) => panic!("{other:?}"),
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            (all, unknown)
        }));
    }
    let mut watcher = site.client("orders").await;
    tokio::time::sleep(Duration::from_millis(100)).await;
    let leader = cluster.leader().unwrap();
    cluster.kill(leader);
    watcher.one().await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    stop.send(true).unwrap();
    let mut granted = 0;
    for task in tasks {
        granted += task.await.unwrap().0.assert_disjoint();
    }
    let shown = watcher.desk.store().show("orders", soon()).await.unwrap();
    assert!(granted > 10 && shown.workers.len() >= granted, "{granted}");
    let mut nonces: Vec<_> = shown.workers.iter().map(|row| row.nonce).collect();
    nonces.sort_unstable();
    nonces.dedup();
    assert_eq!(nonces.len(), shown.workers.len(), "each grant has a worker of its own");
    assert_eq!(shown.state.holds, 0);

    // Of three one is dead; with a second one nobody may write, and who holds a lease goes on.
    let session = Session::open(&site.url, SessionOptions::default()).unwrap();
    let minter = session.space("orders").await.unwrap().minter_with(MinterOptions::default()).await.unwrap();
    let first = minter.next().unwrap();
    cluster.kill((leader + 1) % 3);
    let brief = Deadline::after(Duration::from_millis(1_500));
    let none = watcher.desk.done(&watcher.caller, Request::Hold, brief).await;
    assert!(matches!(none, Err(Error::Unreachable { .. } | Error::Deadline { .. })), "{none:?}");
    for _ in 0..1_000 {
        assert!(minter.next().unwrap() > first);
    }
    cluster.start_again();
    watcher.one().await;
    assert_eq!(state_of(&watcher).await.holds, 0);
}

#[tokio::test]
async fn a_user_with_the_documented_role_is_enough_and_one_without_is_told() {
    let Some(cluster) = Etcd::start(1) else { return };
    let as_user = |user: &str| Site::of(cluster.url("mintage").replace("://", &format!("://{user}")));
    let needless = as_user("minter:secret@").store().upgrade(soon()).await;
    assert!(
        matches!(&needless, Err(Error::Url { fault, .. }) if fault.contains("leave user and password out")),
        "{needless:?}"
    );
    let schema = (mintage_lease::stores::etcd::ENTRY.schema)();
    for line in schema.lines().filter_map(|line| line.strip_prefix("etcdctl ")) {
        let mut words: Vec<&str> = line.split(' ').collect();
        // Asked for where there is a terminal.
        if words[..2] == ["user", "add"] {
            words[2] = "minter:secret";
        }
        cluster.control(&words).unwrap();
    }
    for line in ["user add root:root", "user grant-role root root", "user add other:other", "auth enable"] {
        cluster.control(&line.split(' ').collect::<Vec<_>>()).unwrap();
    }
    for stranger in ["", "other:other@"] {
        let denied = as_user(stranger).store().upgrade(soon()).await;
        assert!(matches!(denied, Err(Error::Denied { .. })), "{stranger}: {denied:?}");
    }
    let brief = Deadline::after(Duration::from_secs(3));
    let wrong = as_user("minter:guessed@").store().upgrade(brief).await;
    assert!(matches!(wrong, Err(Error::Unreachable { .. })), "{wrong:?}");
    let site = as_user("minter:secret@");
    let mut client = site.windows("orders", |_| {}).await;
    let lease = client.one().await;
    client.renew(&[lease]).await.remove(0).unwrap();
    let unused = client.one().await;
    client.release(&unused, None).await.unwrap();
    site.blocks("invoices", BlockTerms::default()).await.claim(1).await.unwrap();
    let lines = site.store().check(soon()).await.unwrap();
    assert!(lines.iter().all(|line| line.is_good), "{lines:?}");
    site.store().drop_space("orders", soon()).await.unwrap();
    // Users changed, so that older tokens are worth nothing: nobody notices.
    cluster.control(&["--user=root:root", "user", "add", "third:third"]).unwrap();
    site.blocks("invoices", BlockTerms::default()).await.claim(1).await.unwrap();
}

#[tokio::test]
async fn a_value_that_was_changed_by_other_means_is_named_with_its_key() {
    let Some(cluster) = Etcd::shared() else { return };
    let prefix = cluster.prefix();
    let mut client = Site::of(cluster.url(&prefix)).windows("orders", |_| {}).await;
    client.one().await;
    let key = format!("{prefix}/worker/{}/{:020}", client.desk.space().id, 0);
    let value = cluster.control(&["get", "--print-value-only", &key]).unwrap();
    assert!(value.starts_with("mintage worker 1\nworker 0\nmark "), "{value}");
    cluster.control(&["put", &key, value.trim_end().replace("mark ", "mark x").as_str()]).unwrap();
    let told = client.acquire(1).await.unwrap_err().to_string();
    assert!(told.contains(&key) && told.contains("mark"), "{told}");
}

#[tokio::test]
async fn a_space_of_a_thousand_workers_is_renewed_within_the_transactions_that_etcd_takes() {
    let Some(site) = site() else { return crate::site::missing("etcd") };
    let mut client = site.windows("orders", |windows| windows.terms.host_quota = 1_024).await;
    let leases = client.acquire(1_024).await.unwrap();
    assert_eq!(leases.len(), 1_024);
    // Every third one, as after others were given to somebody else.
    let some: Vec<_> = leases.iter().copied().step_by(3).collect();
    tokio::time::sleep(Duration::from_millis(3)).await;
    for (lease, renewed) in some.iter().zip(client.renew(&some).await) {
        let renewed = renewed.unwrap();
        assert!(renewed.worker == lease.worker && renewed.until > lease.until);
    }
}
