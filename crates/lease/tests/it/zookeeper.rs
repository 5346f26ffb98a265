//! The store in an ensemble of ZooKeeper: sessions that end, elections, restores, lost quorums, users.

use crate::conformance::Windows;
use crate::networked::Network;
use crate::proxy::Words;
use crate::site::{Client, Site, refused, short, soon};
use mintage_lease::request::Bump;
use mintage_lease::space::BlockTerms;
use mintage_lease::state::SpaceState;
use mintage_lease::store::{Deadline, OpenOptions};
use mintage_lease::{Error, Refusal, Request};
use mintage_testkit::servers::zookeeper::ZooKeeper;
use std::time::Duration;

pub(crate) fn site() -> Option<Site> {
    let ensemble = ZooKeeper::shared()?;
    let url = ensemble.url(&ensemble.path());
    Some(Site { url, options: OpenOptions::default(), _kept: Box::new(ensemble) })
}

pub(crate) fn network() -> Option<Network> {
    let ensemble = ZooKeeper::shared()?;
    let (port, path) = (ensemble.ports()[0], ensemble.path());
    let url = Box::new(move |port| format!("zookeeper://127.0.0.1:{port}/{path}"));
    Some(Network { port, url, words: Words::KEYS, _kept: Box::new(ensemble) })
}

async fn state_of(client: &Client) -> SpaceState {
    client.desk.store().show(&client.desk.space().name, soon()).await.unwrap().state
}

#[tokio::test]
async fn a_session_that_ended_while_its_server_was_away_is_begun_anew() {
    let Some(mut ensemble) = ZooKeeper::start(1) else { return };
    let site = Site::of(ensemble.url("ids"));
    let mut orders = site.windows("orders", |_| {}).await;
    let lease = orders.one().await;
    ensemble.kill(0);
    let brief = Deadline::after(Duration::from_millis(600));
    let begun = tokio::time::Instant::now();
    let gone = orders.desk.done(&orders.caller, Request::Hold, brief).await;
    assert!(matches!(gone, Err(Error::Unreachable { .. } | Error::Deadline { .. })), "{gone:?}");
    assert!(begun.elapsed() < Duration::from_secs(2));
    // Sessions last 4 s there at most, and their time goes on when the server is back.
    ensemble.start_again();
    let renewed = orders.renew(&[lease]).await.remove(0).unwrap();
    assert!(renewed.until >= lease.until);
    // A server alone has no election, and keeps what it acknowledged: its start is nothing.
    assert_eq!(state_of(&orders).await.holds, 0);
}

#[tokio::test]
async fn rules_17_and_18_data_that_were_copied_back_are_noticed_by_who_saw_more() {
    let Some(mut ensemble) = ZooKeeper::start(1) else { return };
    let site = Site::of(ensemble.url("ids"));
    let mut orders = site.windows("orders", |_| {}).await;
    let mut invoices = site.blocks("invoices", BlockTerms::default()).await;
    orders.done(Request::RestartHold(false)).await.unwrap();
    ensemble.kill(0);
    ensemble.copy_data("first");
    ensemble.start_again();
    let lease = orders.one().await;
    let block = invoices.claim(10).await.unwrap();
    ensemble.kill(0);
    ensemble.put_back("first");
    ensemble.start_again();
    // A handle that is told nothing by its caller: it goes by the numbers that it was answered with.
    let (store, space) = (orders.desk.store(), orders.desk.space());
    store.ask(space, &mintage_lease::Caller::default(), &Request::Look, soon()).await.unwrap();
    assert!(state_of(&orders).await.holds > 0);
    let mut fresh = site.client("orders").await;
    assert!(matches!(refused(fresh.acquire(1).await), Refusal::OnHold { .. }));
    assert!(matches!(refused(site.client("invoices").await.claim(1).await), Refusal::Stale { .. }));
    let again = orders.reassert(&lease).await.unwrap();
    assert_eq!((again.worker, again.until), (lease.worker, lease.until));
    invoices.desk.bump(&invoices.caller, Bump::To(block.end), soon()).await.unwrap();
    assert_eq!(invoices.claim(10).await.unwrap().start, block.end);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rule_17_an_election_loses_nothing_and_begins_a_hold_unless_it_is_exempted() {
    let Some(mut ensemble) = ZooKeeper::start(3) else { return };
    let site = Site::of(ensemble.url("ids"));
    let mut held = site.windows("held", short).await;
    let mut plain = site.windows("plain", |windows| windows.terms.last_worker = 1_000).await;
    plain.done(Request::RestartHold(false)).await.unwrap();
    held.one().await;
    let (stop, stopped) = tokio::sync::watch::channel(false);
    let mut tasks = Vec::new();
    for _ in 0..4 {
        let (mut client, stopped) = (site.client("plain").await, stopped.clone());
        tasks.push(tokio::spawn(async move {
            let mut all = Windows::default();
            while !*stopped.borrow() {
                match client.acquire(1).await {
                    Ok(leases) => all.grant(leases[0].worker, leases[0].from, leases[0].until),
                    // What was under way when the leader died.
                    Err(Error::UnknownOutcome { .. }) => {}
                    Err(other) => panic!("{other:?}"),
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            all
        }));
    }
    tokio::time::sleep(Duration::from_millis(100)).await;
    let leader = ensemble.leader().unwrap();
    ensemble.kill(leader);
    plain.one().await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    stop.send(true).unwrap();
    let mut granted = 0;
    for task in tasks {
        granted += task.await.unwrap().assert_disjoint();
    }
    let shown = plain.desk.store().show("plain", soon()).await.unwrap();
    assert!(granted > 10 && shown.workers.len() >= granted, "{granted}");
    assert_eq!(shown.state.holds, 0);
    held.done(Request::Look).await.unwrap();
    assert_eq!(state_of(&held).await.holds, 1);

    // Of three one is dead; without a second one nobody may write.
    ensemble.kill((leader + 1) % 3);
    let brief = Deadline::after(Duration::from_millis(1_500));
    let none = plain.desk.done(&plain.caller, Request::Hold, brief).await;
    assert!(matches!(none, Err(Error::Unreachable { .. } | Error::Deadline { .. })), "{none:?}");
}

#[tokio::test]
async fn a_user_s_nodes_are_its_own_and_others_are_told() {
    let Some(ensemble) = ZooKeeper::shared() else { return };
    let path = ensemble.path();
    let as_user = |user: &str| Site::of(ensemble.url(&path).replace("://", &format!("://{user}")));
    let site = as_user("minter:secret@");
    let mut client = site.windows("orders", |_| {}).await;
    let lease = client.one().await;
    client.renew(&[lease]).await.remove(0).unwrap();
    let lines = site.store().check(soon()).await.unwrap();
    assert!(lines.iter().any(|line| line.found.contains("this user's alone")), "{lines:?}");
    for stranger in ["", "minter:guessed@"] {
        let denied = as_user(stranger).store().space("orders", soon()).await;
        assert!(matches!(denied, Err(Error::Denied { .. })), "{stranger}: {denied:?}");
    }
}
