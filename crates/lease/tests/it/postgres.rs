//! The store in a PostgreSQL database: failovers, restores, poolers, privileges, bloat.

use crate::proxy::{Mode, Proxy};
use crate::site::{Client, Site, refused, short, soon, windows};
use mintage::schemes::snowflake::custom_split;
use mintage::{Scheme, TimeBase, UnixNanos};
use mintage_lease::error::Lost;
use mintage_lease::request::Bump;
use mintage_lease::space::{BlockTerms, Kind, Windows};
use mintage_lease::state::SpaceState;
use mintage_lease::store::{Deadline, OpenOptions};
use mintage_lease::{Error, Refusal, Request, Space};
use mintage_testkit::servers::pgbouncer::PgBouncer;
use mintage_testkit::servers::postgres::Postgres;
use std::process::Command;

pub(crate) fn site() -> Option<Site> {
    let server = Postgres::shared()?;
    let url = server.url(&server.database());
    Some(Site { url, options: OpenOptions::default(), _kept: Box::new(server) })
}

/// The same behind a pooler that gives out connections for one transaction.
pub(crate) fn pooled_site() -> Option<Site> {
    let server = Postgres::shared()?;
    let pooler = PgBouncer::start(&server)?;
    let url = pooler.url(&server.database());
    Some(Site { url, options: OpenOptions::default(), _kept: Box::new((pooler, server)) })
}

fn site_of(url: String) -> Site {
    Site { url, options: OpenOptions::default(), _kept: Box::new(()) }
}

/// A server that nobody shares, as it will be stopped, copied and promoted; `None` is a visible skip.
fn own(settings: &[(&str, &str)]) -> Option<Postgres> {
    Postgres::start(settings)
}

async fn state_of(client: &Client) -> SpaceState {
    client.desk.store().show(&client.desk.space().name, soon()).await.unwrap().state
}

#[tokio::test]
async fn rules_17_and_18_a_promoted_replica_is_found_and_windows_hold_while_blocks_jump() {
    let Some(mut primary) = own(&[]) else { return };
    let mut replica = primary.backup(true);
    replica.start_again();
    let (first, second) = (primary.port(), replica.port());
    let site = site_of(format!("postgres://postgres@127.0.0.1:{first},127.0.0.1:{second}/postgres"));
    let mut orders = site.windows("orders", short).await;
    let mut invoices = site.blocks("invoices", BlockTerms::default()).await;
    let before = orders.one().await;
    invoices.claim(10).await.unwrap();
    replica.catches_up(&primary);
    replica.unfollow();
    // Granted by the primary and lost with it: nobody tells the replica.
    let lost_lease = site.client("orders").await.one().await;
    let lost_block = site.client("invoices").await.claim(10).await.unwrap();
    primary.kill();
    replica.promote();
    let refusal = refused(orders.acquire(1).await);
    let Refusal::OnHold { until } = refusal else { panic!("{refusal}") };
    orders.wait_until(until).await;
    let after = orders.one().await;
    assert!(after.from >= before.until.max(lost_lease.until), "{after:?}");
    let block = invoices.claim(10).await.unwrap();
    assert_eq!(block.start, 11 + 1_000);
    assert!(block.start >= lost_block.end);
    assert_eq!((state_of(&orders).await.holds, state_of(&invoices).await.block.jumps), (1, 1));
}

#[tokio::test]
async fn rule_17_a_restored_base_backup_begins_a_hold_and_live_leases_are_asserted_again() {
    let Some(mut server) = own(&[]) else { return };
    let site = site_of(server.url("postgres"));
    let mut orders = site.windows("orders", |windows| windows.terms.last_worker = 3).await;
    let mut invoices = site.blocks("invoices", BlockTerms::default()).await;
    let backup = server.backup(false);
    let lease = orders.one().await;
    let block = invoices.claim(10).await.unwrap();
    server.stop();
    server.restore(&backup);
    server.start_again();
    // The worker's row came after the backup.
    let lost = orders.renew(&[lease]).await.remove(0);
    assert!(matches!(lost, Err(Refusal::Lost { why: Lost::NoRow, is_on_hold: true, .. })), "{lost:?}");
    let again = orders.reassert(&lease).await.unwrap();
    assert_eq!((again.worker, again.until), (lease.worker, lease.until));
    let renewed = orders.renew(&[again]).await.remove(0).unwrap();
    assert_eq!(renewed.from, lease.until);
    let mut fresh = site.client("orders").await;
    assert!(matches!(refused(fresh.acquire(1).await), Refusal::OnHold { .. }));
    // A counter that was only restarted goes on, until a client shows that it was higher.
    assert_eq!(refused(invoices.claim(10).await), Refusal::Stale { next: 1 });
    invoices.desk.bump(&invoices.caller, Bump::To(block.end), soon()).await.unwrap();
    assert_eq!(invoices.claim(10).await.unwrap().start, block.end);
}

#[tokio::test]
async fn rule_17_a_mere_restart_begins_a_hold_unless_it_is_exempted() {
    let Some(mut server) = own(&[]) else { return };
    let site = site_of(server.url("postgres"));
    let orders = site.windows("orders", short).await;
    let mut plain = site.windows("plain", short).await;
    plain.done(Request::RestartHold(false)).await.unwrap();
    let mut invoices = site.blocks("invoices", BlockTerms::default()).await;
    invoices.claim(10).await.unwrap();
    server.kill();
    server.start_again();
    orders.done(Request::Look).await.unwrap();
    plain.one().await;
    assert_eq!((state_of(&orders).await.holds, state_of(&plain).await.holds), (1, 0));
    assert_eq!(invoices.claim(10).await.unwrap().start, 11);
}

#[tokio::test]
async fn rules_17_and_18_a_table_that_was_dumped_and_read_back_is_an_older_copy() {
    let Some(server) = Postgres::shared() else { return };
    let database = server.database();
    let site = site_of(server.url(&database));
    let mut orders = site.windows("orders", short).await;
    let mut invoices = site.blocks("invoices", BlockTerms::default()).await;
    orders.one().await;
    invoices.claim(10).await.unwrap();
    let copied = "CREATE TABLE mintage.copy (LIKE mintage.state INCLUDING ALL); \
                  INSERT INTO mintage.copy SELECT * FROM mintage.state; DROP TABLE mintage.state; \
                  ALTER TABLE mintage.copy RENAME TO state";
    server.query(&database, copied).unwrap();
    assert!(matches!(refused(orders.acquire(1).await), Refusal::OnHold { .. }));
    assert_eq!(refused(invoices.claim(10).await), Refusal::Stale { next: 11 });
}

#[tokio::test]
async fn rule_10_an_unknown_outcome_burns_a_window_and_is_not_sent_again() {
    let Some(server) = Postgres::shared() else { return };
    let database = server.database();
    let proxy = Proxy::before(server.port()).await;
    let site = site_of(format!("postgres://postgres@127.0.0.1:{}/{database}", proxy.port));
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

#[tokio::test]
async fn a_connection_that_is_cut_before_the_commit_is_made_again() {
    let Some(server) = Postgres::shared() else { return };
    let database = server.database();
    let proxy = Proxy::before(server.port()).await;
    let site = site_of(format!("postgres://postgres@127.0.0.1:{}/{database}", proxy.port));
    let mut client = site.blocks("invoices", BlockTerms::default()).await;
    client.claim(10).await.unwrap();
    proxy.set(Mode::CutAtBegin);
    assert_eq!(client.claim(10).await.unwrap().start, 11);
    assert_eq!(proxy.struck(), 1);
}

#[tokio::test]
async fn a_request_takes_two_round_trips() {
    let Some(server) = Postgres::shared() else { return };
    let database = server.database();
    let proxy = Proxy::before(server.port()).await;
    let site = site_of(format!("postgres://postgres@127.0.0.1:{}/{database}", proxy.port));
    let mut client = site.windows("orders", |_| {}).await;
    let leases = client.acquire(200).await.unwrap();
    tokio::time::sleep(std::time::Duration::from_millis(3)).await;
    proxy.trips();
    assert_eq!(client.renew(&leases).await.len(), 200);
    // What is larger than the proxy's buffer may pass in pieces, but not after an answer.
    assert_eq!(proxy.trips(), 2);
    client.acquire(1).await.unwrap();
    assert_eq!(proxy.trips(), 2);
}

#[tokio::test]
async fn a_client_that_stands_still_inside_a_transaction_does_not_keep_the_others_out() {
    let Some(server) = Postgres::shared() else { return };
    let database = server.database();
    let proxy = Proxy::before(server.port()).await;
    let mut other = site_of(server.url(&database)).windows("orders", |_| {}).await;
    let site = site_of(format!("postgres://postgres@127.0.0.1:{}/{database}", proxy.port));
    let mut stalled = site.client("orders").await;
    stalled.one().await;
    proxy.set(Mode::Stall);
    let brief = Deadline::after(std::time::Duration::from_millis(700));
    let caller = stalled.caller;
    let late = tokio::spawn(async move { stalled.desk.done(&caller, Request::Hold, brief).await });
    while proxy.struck() == 0 {
        tokio::time::sleep(std::time::Duration::from_millis(1)).await;
    }
    other.one().await;
    let late = late.await.unwrap();
    assert!(matches!(late, Err(Error::Deadline { .. })), "{late:?}");
    assert_eq!(state_of(&other).await.holds, 0);
}

#[tokio::test]
async fn a_role_with_the_documented_privileges_is_enough_and_one_without_is_told() {
    let Some(server) = Postgres::shared() else { return };
    let database = server.database();
    let role = format!("minter_{database}");
    let schema = (mintage_lease::stores::postgres::ENTRY.schema)();
    let grants: Vec<&str> = schema
        .lines()
        .filter_map(|line| line.strip_prefix("--   "))
        .map(|line| line.split(" -- ").next().unwrap().trim())
        .collect();
    assert_eq!(grants.len(), 5, "{grants:?}");
    let as_minter = server.url(&database).replace("postgres@", &format!("{role}@"));
    server.query(&database, &format!("CREATE ROLE {role} LOGIN")).unwrap();
    let site = site_of(as_minter);
    let denied = site.store().upgrade(soon()).await;
    assert!(matches!(denied, Err(Error::Denied { .. })), "{denied:?}");
    server.query(&database, &schema).unwrap();
    let denied = site.store().space("orders", soon()).await;
    assert!(matches!(denied, Err(Error::Denied { .. })), "{denied:?}");
    server.query(&database, &grants.join("\n").replace("minter;", &format!("{role};"))).unwrap();
    let mut client = site.windows("orders", |_| {}).await;
    let lease = client.one().await;
    client.renew(&[lease]).await.remove(0).unwrap();
    let unused = client.one().await;
    client.release(&unused, None).await.unwrap();
    site.blocks("invoices", BlockTerms::default()).await.claim(1).await.unwrap();
    site.store().drop_space("orders", soon()).await.unwrap();
    let lines = site.store().check(soon()).await.unwrap();
    assert!(lines.iter().all(|line| line.is_good), "{lines:?}");
}

#[tokio::test]
async fn rule_10_a_server_without_fsync_is_refused_and_a_weak_commit_is_made_strong() {
    let Some(server) = own(&[("fsync", "off")]) else { return };
    let mut site = site_of(server.url("postgres"));
    let refused = site.store().upgrade(soon()).await;
    // The flag that it names is the command's.
    let told = match refused {
        Err(error @ Error::Unsafe { .. }) => error.to_string(),
        other => panic!("{other:?}"),
    };
    assert!(told.contains("say --allow-unsafe where"), "{told}");
    site.options.allows_unsafe = true;
    site.windows("orders", |_| {}).await.one().await;
    let lines = site.store().check(soon()).await.unwrap();
    assert!(!lines[0].is_good, "{lines:?}");

    let Some(server) = Postgres::shared() else { return };
    let database = server.database();
    server.query(&database, &format!("ALTER DATABASE {database} SET synchronous_commit = off")).unwrap();
    let site = site_of(server.url(&database));
    site.windows("orders", |_| {}).await.one().await;
    let lines = site.store().check(soon()).await.unwrap();
    assert!(lines[0].found.contains("synchronous_commit on"), "{lines:?}");
}

#[tokio::test]
async fn twenty_thousand_renewals_leave_no_bloat() {
    // Without fsync, as only the number of row versions counts.
    let Some(server) = own(&[("fsync", "off"), ("autovacuum_naptime", "1s")]) else { return };
    let options = OpenOptions { allows_unsafe: true, ..OpenOptions::default() };
    let site = Site { url: server.url("postgres"), options, _kept: Box::new(()) };
    // Ticks of a microsecond, so that each renewal finds something to grant.
    let base = TimeBase { epoch: UnixNanos::from_secs(1_735_689_600), tick_nanos: 1_000 };
    let layout = custom_split("51/5/8", base).unwrap();
    let mut terms = Windows::of(Scheme::by_name("snowflake").unwrap(), Some(&layout)).unwrap();
    terms.terms.host_quota = 32;
    let mut client = site.create(Space { kind: Kind::Windows(terms), ..windows("orders", |_| {}) }).await;
    let mut leases = client.acquire(20).await.unwrap();
    assert_eq!(leases.len(), 20);
    for _ in 0..1_000 {
        leases = client.renew(&leases).await.into_iter().map(Result::unwrap).collect();
    }
    // A connection tells what it did when it ends.
    drop((client, site));
    let size = |table: &str| {
        let sql = format!("SELECT pg_total_relation_size('mintage.{table}')");
        server.query("postgres", &sql).unwrap().parse::<u64>().unwrap()
    };
    let stats =
        "SELECT sum(n_tup_upd), sum(n_tup_hot_upd) FROM pg_stat_user_tables WHERE schemaname = 'mintage'";
    let mut counts = Vec::new();
    for _ in 0..500 {
        let text = server.query("postgres", stats).unwrap();
        counts = text.split('|').map(|count| count.parse::<u64>().unwrap()).collect();
        if counts[0] >= 21_000 {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    assert!(counts[0] >= 21_000, "{counts:?}");
    assert!(counts[1] * 100 >= counts[0] * 95, "{counts:?}: updates are to stay in their page");
    // A row of a worker has about 100 bytes; three tables' pages, indexes and maps are all there is.
    assert!(
        size("worker") <= 128 * 1024 && size("state") <= 128 * 1024,
        "{} {}",
        size("worker"),
        size("state")
    );
}

#[tokio::test]
async fn tls_is_used_as_the_url_says() {
    let Some(mut server) = own(&[]) else { return };
    let openssl = |args: &[&str]| {
        let done = Command::new("openssl").args(args).current_dir(server.data()).output();
        done.is_ok_and(|output| output.status.success())
    };
    let subject = ["-subj", "/CN=here", "-addext", "subjectAltName=DNS:localhost"];
    let mut request = vec!["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
    request.extend(["-days", "2", "-keyout", "server.key", "-out", "server.crt"]);
    request.extend(subject);
    if !openssl(&request) {
        return crate::site::missing("tls_is_used_as_the_url_says (openssl)");
    }
    server.take_over();
    server.stop();
    server.configure(&[("ssl", "on")]);
    server.start_again();
    let only_tls = "local all all trust\nhostssl all all 127.0.0.1/32 trust\nhostssl all all ::1/128 trust\n";
    std::fs::write(server.data().join("pg_hba.conf"), only_tls).unwrap();
    server.query("postgres", "SELECT pg_reload_conf()").unwrap();
    let root = server.data().join("server.crt").display().to_string();
    let url = server.url("postgres");
    let brief = || Deadline::after(std::time::Duration::from_secs(3));
    let opened = async |query: &str| {
        // The certificate is for `localhost`, not for its address.
        let url =
            if query.ends_with("#by-name") { url.replace("127.0.0.1", "localhost") } else { url.clone() };
        let query = query.trim_end_matches("#by-name");
        let store = mintage_lease::store::open(&format!("{url}?{query}"), OpenOptions::default()).unwrap();
        store.upgrade(brief()).await
    };
    for query in ["sslmode=prefer", "sslmode=require", &format!("sslmode=verify-ca&sslrootcert={root}")] {
        opened(query).await.unwrap();
    }
    for query in
        ["sslmode=disable", "sslmode=verify-full", &format!("sslmode=verify-full&sslrootcert={root}")]
    {
        let refused = opened(query).await;
        assert!(matches!(refused, Err(Error::Unreachable { .. })), "{query}: {refused:?}");
    }
}
