//! What every store over a network does when connections are cut or stand still, over each such store by one line.

use crate::proxy::{Mode, Proxy, Words};
use crate::site::{Site, soon};
use mintage_lease::error::Lost;
use mintage_lease::space::{BlockTerms, ScopeTerms};
use mintage_lease::store::Deadline;
use mintage_lease::{Error, Refusal, Request};
use std::time::Duration;

/// A database of one's own on a server, and how it is reached.
pub(crate) struct Network {
    /// The server's.
    pub(crate) port: u16,
    /// The store's URL at a port.
    pub(crate) url: Box<dyn Fn(u16) -> String + Send + Sync>,
    /// What its protocol's words mean.
    pub(crate) words: Words,
    /// What keeps it there.
    pub(crate) _kept: Box<dyn std::any::Any + Send + Sync>,
}

impl Network {
    /// The store without a detour.
    fn site(&self) -> Site {
        Site::of((self.url)(self.port))
    }

    /// The store behind a proxy.
    async fn proxied(&self) -> (Site, Proxy) {
        let proxy = Proxy::before(self.port, self.words).await;
        (Site::of((self.url)(proxy.port)), proxy)
    }
}

/// `networked!(module, network)`: the cases over the store that `network()` starts; `None` is a store that is missing, as for `suite!`.
macro_rules! networked {
    ($module:ident, $network:expr) => {
        mod $module {
            $crate::networked::networked!(@ $network,
                rule_10_an_unknown_outcome_burns_a_window_and_is_not_sent_again,
                rule_10_an_unknown_outcome_burns_numbers_of_a_scope_and_nothing_else,
                a_connection_that_is_cut_before_the_commit_is_made_again,
                a_request_takes_two_round_trips,
                a_client_that_stands_still_inside_a_transaction_does_not_keep_the_others_out,
            );
        }
    };
    (@ $network:expr, $($case:ident),* $(,)?) => {
        $(
            #[tokio::test]
            async fn $case() {
                match $network {
                    Some(network) => $crate::networked::$case(&network).await,
                    None => $crate::site::missing(stringify!($case)),
                }
            }
        )*
    };
}
pub(crate) use networked;

networked!(postgres, crate::postgres::network());
networked!(mariadb, crate::mysql::network());
networked!(etcd, crate::etcd::network());
networked!(zookeeper, crate::zookeeper::network());

pub(crate) async fn rule_10_an_unknown_outcome_burns_a_window_and_is_not_sent_again(network: &Network) {
    let (site, proxy) = network.proxied().await;
    let mut client = site.windows("orders", |_| {}).await;
    let first = client.one().await;
    proxy.set(Mode::CutAfterCommit);
    let unknown = client.acquire(1).await;
    assert!(matches!(unknown, Err(Error::UnknownOutcome { .. })), "{unknown:?}");
    assert_eq!(proxy.struck(), 1);
    let rows = client.desk.store().show("orders", soon()).await.unwrap().workers;
    assert_eq!(rows.len(), 2);
    let next = client.one().await;
    assert_eq!((first.worker, next.worker), (0, 2));
    proxy.set(Mode::CutAfterCommit);
    let held = vec![next.held()];
    let unknown = client.desk.renew(&client.caller, held, soon()).await;
    assert!(matches!(unknown, Err(Error::UnknownOutcome { .. })), "{unknown:?}");
    let each = client.renew(&[next]).await;
    assert!(matches!(each[0], Err(Refusal::Lost { why: Lost::Moved, .. })), "{each:?}");
}

pub(crate) async fn rule_10_an_unknown_outcome_burns_numbers_of_a_scope_and_nothing_else(network: &Network) {
    let (site, proxy) = network.proxied().await;
    let mut client = site.scopes("issues", ScopeTerms::default()).await;
    assert_eq!(client.take("a", 1).await.unwrap(), (1, 2));
    proxy.set(Mode::CutAfterCommit);
    // The first of a scope too, whose row is made by it.
    let unknown = client.take("b", 3).await;
    assert!(matches!(unknown, Err(Error::UnknownOutcome { .. })), "{unknown:?}");
    assert_eq!(proxy.struck(), 1);
    assert_eq!(client.take("b", 1).await.unwrap(), (4, 5));
    assert_eq!(client.take("a", 1).await.unwrap(), (2, 3));
    // What each kind of statement on a connection is prepared for is behind.
    client.take("a", 1).await.unwrap();
    tokio::time::sleep(Duration::from_millis(3)).await;
    proxy.trips();
    client.take("a", 1).await.unwrap();
    assert_eq!(proxy.trips(), 2);
}

pub(crate) async fn a_connection_that_is_cut_before_the_commit_is_made_again(network: &Network) {
    let (site, proxy) = network.proxied().await;
    let mut client = site.blocks("invoices", BlockTerms::default()).await;
    client.claim(10).await.unwrap();
    proxy.set(Mode::CutAtBegin);
    assert_eq!(client.claim(10).await.unwrap().start, 11);
    assert_eq!(proxy.struck(), 1);
}

pub(crate) async fn a_request_takes_two_round_trips(network: &Network) {
    let (site, proxy) = network.proxied().await;
    let mut client = site.windows("orders", |_| {}).await;
    let leases = client.acquire(200).await.unwrap();
    // The first of its kind on a connection has its statements prepared.
    let leases: Vec<_> = client.renew(&leases).await.into_iter().map(Result::unwrap).collect();
    assert_eq!(leases.len(), 200);
    client.acquire(1).await.unwrap();
    tokio::time::sleep(Duration::from_millis(3)).await;
    proxy.trips();
    assert!(client.renew(&leases).await.iter().all(Result::is_ok));
    // What is larger than the proxy's buffer may pass in pieces, but not after an answer.
    assert_eq!(proxy.trips(), 2);
    client.acquire(1).await.unwrap();
    assert_eq!(proxy.trips(), 2);
}

pub(crate) async fn a_client_that_stands_still_inside_a_transaction_does_not_keep_the_others_out(
    network: &Network,
) {
    let mut other = network.site().windows("orders", |_| {}).await;
    let (site, proxy) = network.proxied().await;
    let mut stalled = site.client("orders").await;
    stalled.one().await;
    proxy.set(Mode::Stall);
    let brief = Deadline::after(Duration::from_millis(700));
    let caller = stalled.caller;
    let late = tokio::spawn(async move { stalled.desk.done(&caller, Request::Hold, brief).await });
    while proxy.struck() == 0 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    other.one().await;
    let late = late.await.unwrap();
    assert!(matches!(late, Err(Error::Deadline { .. })), "{late:?}");
    assert_eq!(other.desk.store().show("orders", soon()).await.unwrap().state.holds, 0);
}
