//! The store in a PostgreSQL database: failovers, restores, poolers, privileges, bloat.

use crate::networked::Network;
use crate::proxy::Words;
use crate::site::{Client, Site, refused, short, soon, windows};
use mintage::schemes::snowflake::custom_split;
use mintage::{Scheme, TimeBase, UnixNanos};
use mintage_lease::error::Lost;
use mintage_lease::request::Bump;
use mintage_lease::space::{BlockTerms, Kind, ScopeTerms, Windows};
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

pub(crate) fn network() -> Option<Network> {
    let server = Postgres::shared()?;
    let (port, database) = (server.port(), server.database());
    let url = Box::new(move |port| format!("postgres://postgres@127.0.0.1:{port}/{database}"));
    Some(Network { port, url, words: Words::SQL, _kept: Box::new(server) })
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
    let site = Site::of(format!("postgres://postgres@127.0.0.1:{first},127.0.0.1:{second}/postgres"));
    let mut orders = site.windows("orders", short).await;
    let mut invoices = site.blocks("invoices", BlockTerms::default()).await;
    let before = orders.one().await;
    invoices.claim(10).await.unwrap();
    let mut issues = site.scopes("issues", ScopeTerms { failover_gap: 50, ..ScopeTerms::default() }).await;
    issues.take("a", 1).await.unwrap();
    replica.catches_up(&primary);
    replica.unfollow();
    site.client("issues").await.take("b", 1).await.unwrap();
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
    // The row of `b` was lost, and that of `a` is there.
    assert_eq!(issues.take("b", 1).await.unwrap(), (51, 52));
    assert_eq!(issues.take("a", 1).await.unwrap(), (52, 53));
    assert_eq!((state_of(&orders).await.holds, state_of(&invoices).await.block.jumps), (1, 1));
}

#[tokio::test]
async fn rule_17_a_restored_base_backup_begins_a_hold_and_live_leases_are_asserted_again() {
    let Some(mut server) = own(&[]) else { return };
    let site = Site::of(server.url("postgres"));
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
    let site = Site::of(server.url("postgres"));
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
    let site = Site::of(server.url(&database));
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

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rule_19_tables_of_version_1_go_on_and_are_brought_up() {
    let Some(server) = Postgres::shared() else { return };
    let database = server.database();
    let site = Site::of(server.url(&database));
    crate::conformance::a_store_of_version_1_goes_on_and_is_brought_up(&site, || {
        let sql = "DROP TABLE mintage.scope, mintage.hold; UPDATE mintage.meta SET protocol = 1";
        server.query(&database, sql).unwrap();
    })
    .await;
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
    assert_eq!(grants.len(), 7, "{grants:?}");
    let as_minter = server.url(&database).replace("postgres@", &format!("{role}@"));
    server.query(&database, &format!("CREATE ROLE {role} LOGIN")).unwrap();
    let site = Site::of(as_minter);
    let denied = site.store().upgrade(soon()).await;
    assert!(matches!(denied, Err(Error::Denied { .. })), "{denied:?}");
    server.query(&database, &schema).unwrap();
    let denied = site.store().space("orders", soon()).await;
    assert!(matches!(denied, Err(Error::Denied { .. })), "{denied:?}");
    server.query(&database, &grants.join("\n").replace("minter;", &format!("{role};"))).unwrap();
    let mut client = site.windows("orders", |_| {}).await;
    let lease = client.one().await;
    client.renew(&[lease]).await.remove(0).unwrap();
    // What a hold leaves is kept in a table of its own.
    client.done(Request::Hold).await.unwrap();
    client.done(Request::ReleaseHold).await.unwrap();
    site.scopes("issues", ScopeTerms::default()).await.take("a", 1).await.unwrap();
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
    let mut site = Site::of(server.url("postgres"));
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
    let site = Site::of(server.url(&database));
    site.windows("orders", |_| {}).await.one().await;
    let lines = site.store().check(soon()).await.unwrap();
    assert!(lines[0].found.contains("synchronous_commit on"), "{lines:?}");
}

#[tokio::test]
async fn twenty_thousand_renewals_leave_no_bloat() {
    // Without fsync, as only the number of row versions counts; and without autovacuum: updates clear their pages by themselves, while an ANALYZE that a
    // busy machine lets wait keeps old versions alive for as long.
    let Some(server) = own(&[("fsync", "off"), ("autovacuum", "off")]) else { return };
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

/// A pooler's server connections come and go, and each has its own prepared statements.
#[tokio::test]
async fn a_statement_that_a_pooled_connection_does_not_know_is_prepared_again() {
    let Some(server) = Postgres::shared() else { return };
    let Some(pooler) = PgBouncer::start(&server) else { return };
    let database = server.database();
    let site = Site::of(pooler.url(&database));
    let mut orders = site.windows("orders", short).await;
    orders.one().await;
    for _ in 0..3 {
        // Ends the server connections, and with them what was prepared there; the pooler makes others for its clients.
        let ended = server.query(
            &database,
            "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = current_database() AND \
             pid <> pg_backend_pid()",
        );
        assert_ne!(ended.unwrap().trim(), "0");
        orders.one().await;
    }
}
