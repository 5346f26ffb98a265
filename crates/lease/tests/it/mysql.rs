//! The store in a MariaDB database: failovers, restores, restarts, privileges, settings, cut connections.

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
use mintage_testkit::servers::mariadb::MariaDb;
use std::process::Command;
use std::time::Duration;

pub(crate) fn site() -> Option<Site> {
    let server = MariaDb::shared_durable()?;
    let url = server.url(&server.database());
    Some(Site { url, options: OpenOptions::default(), _kept: Box::new(server) })
}

pub(crate) fn network() -> Option<Network> {
    let server = MariaDb::shared_durable()?;
    let (port, database) = (server.port(), server.database());
    let url = Box::new(move |port| format!("mysql://root@127.0.0.1:{port}/{database}"));
    Some(Network { port, url, words: Words::SQL, _kept: Box::new(server) })
}

/// A server that nobody shares, as it will be stopped, copied and promoted, with a database `ids`; `None` is a visible skip.
fn own(settings: &[&str]) -> Option<MariaDb> {
    let server = MariaDb::start_with(settings)?;
    server.query("", "CREATE DATABASE ids").unwrap();
    Some(server)
}

async fn state_of(client: &Client) -> SpaceState {
    client.desk.store().show(&client.desk.space().name, soon()).await.unwrap().state
}

#[tokio::test]
async fn rules_17_and_18_a_replica_that_took_over_is_found_and_windows_hold_while_blocks_jump() {
    let binlog = ["--log-bin=log", "--sync-binlog=1", "--gtid-strict-mode=1"];
    let with = |id: &'static str, more: &'static str| [id, more, binlog[0], binlog[1], binlog[2]];
    let Some(mut primary) = own(&with("--server-id=1", "--skip-slave-start")) else { return };
    let Some(replica) = MariaDb::start_with(&with("--server-id=2", "--read-only=1")) else { return };
    replica.follow(&primary);
    let (first, second) = (primary.port(), replica.port());
    // The replica stands first, and is passed over as long as it is one.
    let site = Site::of(format!("mysql://root@127.0.0.1:{second},127.0.0.1:{first}/ids"));
    let mut orders = site.windows("orders", short).await;
    let mut invoices = site.blocks("invoices", BlockTerms::default()).await;
    let before = orders.one().await;
    invoices.claim(10).await.unwrap();
    replica.catches_up(&primary);
    let rows = "SELECT COUNT(*) FROM mintage_worker";
    assert_eq!(
        (primary.query("ids", rows).unwrap(), replica.query("ids", rows).unwrap()),
        ("1".into(), "1".into())
    );
    replica.unfollow();
    // Granted by the primary and lost with it: nobody tells the replica.
    let lost_lease = site.client("orders").await.one().await;
    let lost_block = site.client("invoices").await.claim(10).await.unwrap();
    primary.kill();
    replica.query("", "SET GLOBAL read_only = 0").unwrap();
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
async fn rules_17_and_18_data_that_were_copied_back_are_an_older_copy_however_they_came_there() {
    let Some(mut server) = own(&[]) else { return };
    let site = Site::of(server.url("ids"));
    let mut orders = site.windows("orders", |windows| windows.terms.last_worker = 3).await;
    let mut invoices = site.blocks("invoices", BlockTerms::default()).await;
    invoices.claim(10).await.unwrap();
    // Where a mere restart is exempt, only the copy can be what begins a hold.
    orders.done(Request::RestartHold(false)).await.unwrap();
    // The server tells when a table's file was made in whole seconds: a copy of the same second is as old as the table.
    tokio::time::sleep(Duration::from_millis(1_100)).await;
    server.kill();
    server.copy_data("first");
    for is_renamed in [false, true] {
        server.start_again();
        orders.done(Request::ReleaseHold).await.unwrap();
        invoices.done(Request::ReleaseHold).await.unwrap();
        let holds = state_of(&orders).await.holds;
        let lease = orders.one().await;
        let block = invoices.claim(10).await.unwrap();
        server.kill();
        server.put_back("first", is_renamed);
        server.start_again();
        // Nobody who has seen more speaks first.
        let mut fresh = site.client("orders").await;
        assert!(matches!(refused(fresh.acquire(1).await), Refusal::OnHold { .. }), "{is_renamed}");
        let mut other = site.client("invoices").await;
        assert!(matches!(refused(other.claim(10).await), Refusal::Stale { .. }), "{is_renamed}");
        assert_eq!(state_of(&fresh).await.holds, 1, "{holds}");
        // The worker's row came after the copy.
        let lost = orders.renew(&[lease]).await.remove(0);
        assert!(matches!(lost, Err(Refusal::Lost { why: Lost::NoRow, is_on_hold: true, .. })), "{lost:?}");
        let again = orders.reassert(&lease).await.unwrap();
        assert_eq!((again.worker, again.until), (lease.worker, lease.until));
        invoices.desk.bump(&invoices.caller, Bump::To(block.end), soon()).await.unwrap();
        assert_eq!(invoices.claim(10).await.unwrap().start, block.end);
        server.kill();
    }
}

#[tokio::test]
async fn rule_17_a_mere_restart_begins_a_hold_unless_it_is_exempted() {
    let Some(mut server) = own(&[]) else { return };
    let site = Site::of(server.url("ids"));
    let orders = site.windows("orders", short).await;
    let mut plain = site.windows("plain", short).await;
    plain.done(Request::RestartHold(false)).await.unwrap();
    let mut invoices = site.blocks("invoices", BlockTerms::default()).await;
    invoices.claim(10).await.unwrap();
    server.kill();
    let brief = Deadline::after(Duration::from_millis(600));
    let begun = tokio::time::Instant::now();
    let gone = orders.desk.done(&orders.caller, Request::Look, brief).await;
    assert!(matches!(gone, Err(Error::Unreachable { .. })), "{gone:?}");
    assert!(begun.elapsed() < Duration::from_secs(2));
    server.start_again();
    orders.done(Request::Look).await.unwrap();
    plain.one().await;
    assert_eq!((state_of(&orders).await.holds, state_of(&plain).await.holds), (1, 0));
    assert_eq!(invoices.claim(10).await.unwrap().start, 11);
}

#[tokio::test]
async fn rules_17_and_18_tables_that_were_dumped_and_read_back_are_an_older_copy() {
    let Some(server) = MariaDb::shared_durable() else { return };
    let database = server.database();
    let site = Site::of(server.url(&database));
    let mut orders = site.windows("orders", short).await;
    let mut invoices = site.blocks("invoices", BlockTerms::default()).await;
    orders.one().await;
    invoices.claim(10).await.unwrap();
    // When a table was made is told in seconds.
    tokio::time::sleep(Duration::from_millis(1_100)).await;
    let copied = "CREATE TABLE copied LIKE mintage_state; INSERT INTO copied SELECT * FROM mintage_state; \
                  DROP TABLE mintage_state; RENAME TABLE copied TO mintage_state";
    server.query(&database, copied).unwrap();
    assert!(matches!(refused(orders.acquire(1).await), Refusal::OnHold { .. }));
    assert_eq!(refused(invoices.claim(10).await), Refusal::Stale { next: 11 });
}

#[tokio::test]
async fn a_row_that_changed_behind_the_lock_s_back_is_not_written() {
    let Some(server) = MariaDb::shared_durable() else { return };
    let database = server.database();
    let mut client = Site::of(server.url(&database)).windows("orders", |_| {}).await;
    let lease = client.one().await;
    // As a program would that writes without the lock: a trigger, once the space's row is written.
    let sql = "CREATE TRIGGER meddles AFTER UPDATE ON mintage_state FOR EACH ROW UPDATE mintage_worker SET mark = mark + 1";
    server.query(&database, sql).unwrap();
    let renewed = client.desk.renew(&client.caller, vec![lease.held()], soon()).await;
    assert!(matches!(renewed, Err(Error::Corrupt { .. })), "{renewed:?}");
    assert_eq!(client.mark(lease.worker).await, lease.until);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rule_19_tables_of_version_1_go_on_and_are_brought_up() {
    let Some(server) = MariaDb::shared_durable() else { return };
    let database = server.database();
    let site = Site::of(server.url(&database));
    crate::conformance::a_store_of_version_1_goes_on_and_is_brought_up(&site, || {
        server
            .query(&database, "DROP TABLE mintage_scope, mintage_hold; UPDATE mintage_meta SET protocol = 1")
            .unwrap();
    })
    .await;
}

#[tokio::test]
async fn a_user_with_the_documented_privileges_is_enough_and_one_without_is_told() {
    let Some(server) = MariaDb::shared_durable() else { return };
    let database = server.database();
    let user = format!("minter_{database}");
    let schema = (mintage_lease::stores::mysql::ENTRY.schema)();
    let grants: Vec<&str> = schema
        .lines()
        .filter_map(|line| line.strip_prefix("--   "))
        .map(|line| line.split(" -- ").next().unwrap().trim())
        .collect();
    assert_eq!(grants.len(), 7, "{grants:?}");
    let as_minter = server.url(&database).replace("root@", &format!("{user}@"));
    server.query("", &format!("CREATE USER {user}")).unwrap();
    let site = Site::of(as_minter);
    let denied = site.store().upgrade(soon()).await;
    assert!(matches!(denied, Err(Error::Denied { .. })), "{denied:?}");
    server.query(&database, &schema).unwrap();
    let denied = site.store().space("orders", soon()).await;
    assert!(matches!(denied, Err(Error::Denied { .. })), "{denied:?}");
    server.query(&database, &grants.join("\n").replace("minter;", &format!("{user};"))).unwrap();
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
async fn rule_10_settings_that_lose_commits_are_refused_unless_they_are_allowed() {
    let Some(server) = own(&["--log-bin=log", "--sync-binlog=0", "--binlog-format=STATEMENT"]) else {
        return;
    };
    let mut site = Site::of(server.url("ids"));
    let told = async |site: &Site| match site.store().upgrade(soon()).await {
        Err(error @ Error::Unsafe { .. }) => error.to_string(),
        other => panic!("{other:?}"),
    };
    let binlog = told(&site).await;
    assert!(
        binlog.contains("sync_binlog isn't 1") && binlog.contains("say --allow-unsafe where"),
        "{binlog}"
    );
    server.query("", "SET GLOBAL sync_binlog = 1, GLOBAL innodb_flush_log_at_trx_commit = 2").unwrap();
    let flush = told(&site).await;
    assert!(flush.contains("innodb_flush_log_at_trx_commit isn't 1"), "{flush}");
    site.options.allows_unsafe = true;
    // With statements for replicas, too, each request is carried out.
    let mut orders = site.windows("orders", |_| {}).await;
    let lease = orders.one().await;
    orders.renew(&[lease]).await.remove(0).unwrap();
    let lines = site.store().check(soon()).await.unwrap();
    assert!(!lines[0].is_good, "{lines:?}");
    server.query("", "SET GLOBAL innodb_flush_log_at_trx_commit = 1").unwrap();
    site.options.allows_unsafe = false;
    site.client("orders").await.one().await;
}

#[tokio::test]
async fn a_server_that_became_read_only_grants_nothing_though_its_user_may_write() {
    let Some(server) = own(&[]) else { return };
    let site = Site::of(server.url("ids"));
    let mut orders = site.windows("orders", |_| {}).await;
    orders.one().await;
    server.query("", "SET GLOBAL read_only = 1").unwrap();
    let brief = || Deadline::after(Duration::from_millis(300));
    let held = orders.desk.done(&orders.caller, Request::Hold, brief()).await;
    assert!(matches!(held, Err(Error::Unreachable { .. })), "{held:?}");
    server.query("", "SET GLOBAL read_only = 0").unwrap();
    assert_eq!(state_of(&orders).await.holds, 0);
}

#[tokio::test]
async fn ten_thousand_renewals_leave_no_bloat() {
    let Some(server) = own(&["--innodb-flush-log-at-trx-commit=0"]) else { return };
    let options = OpenOptions { allows_unsafe: true, ..OpenOptions::default() };
    let site = Site { url: server.url("ids"), options, _kept: Box::new(()) };
    // Ticks of a microsecond, so that each renewal finds something to grant.
    let base = TimeBase { epoch: UnixNanos::from_secs(1_735_689_600), tick_nanos: 1_000 };
    let layout = custom_split("51/5/8", base).unwrap();
    let mut terms = Windows::of(Scheme::by_name("snowflake").unwrap(), Some(&layout)).unwrap();
    terms.terms.host_quota = 32;
    let mut client = site.create(Space { kind: Kind::Windows(terms), ..windows("orders", |_| {}) }).await;
    let mut leases = client.acquire(20).await.unwrap();
    assert_eq!(leases.len(), 20);
    let serial = state_of(&client).await.serial;
    for _ in 0..500 {
        leases = client.renew(&leases).await.into_iter().map(Result::unwrap).collect();
    }
    assert_eq!(state_of(&client).await.serial, serial + 500);
    let size = |table: &str| {
        std::fs::metadata(server.data().join(format!("ids/mintage_{table}.ibd"))).unwrap().len()
    };
    // An empty table of InnoDB has 64 KiB at least.
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
    let data = server.data();
    let openssl = |args: &[&str]| {
        let done = Command::new("openssl").args(args).current_dir(&data).output();
        done.is_ok_and(|output| output.status.success())
    };
    let key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"];
    let with_key = |args: &[&'static str]| [args, &key[..]].concat();
    let is_made =
        openssl(&with_key(&["req", "-x509", "-keyout", "ca.key", "-out", "ca.crt", "-subj", "/CN=us"]))
            && openssl(&with_key(&[
                "req",
                "-x509",
                "-CA",
                "ca.crt",
                "-CAkey",
                "ca.key",
                "-keyout",
                "server.key",
                "-out",
                "server.crt",
                "-subj",
                "/CN=here",
                "-addext",
                "subjectAltName=DNS:localhost",
                "-addext",
                "basicConstraints=critical,CA:FALSE",
            ]));
    if !is_made {
        return crate::site::missing("tls_is_used_as_the_url_says (openssl)");
    }
    server.take_over();
    server.kill();
    let of = |name: &str| data.join(name).display().to_string();
    server.configure(&[
        &format!("--ssl-cert={}", of("server.crt")),
        &format!("--ssl-key={}", of("server.key")),
        "--require-secure-transport=1",
    ]);
    server.start_again();
    let root = of("ca.crt");
    let url = server.url("ids");
    let brief = || Deadline::after(Duration::from_secs(3));
    let opened = async |query: &str| {
        // The certificate is for `localhost`, not for its address.
        let url =
            if query.ends_with("#by-name") { url.replace("127.0.0.1", "localhost") } else { url.clone() };
        let query = query.trim_end_matches("#by-name");
        let store = mintage_lease::store::open(&format!("{url}?{query}"), OpenOptions::default()).unwrap();
        store.upgrade(brief()).await
    };
    for query in [
        "",
        "ssl-mode=required",
        &format!("ssl-mode=verify_ca&ssl-ca={root}#by-name"),
        &format!("ssl-mode=verify_identity&ssl-ca={root}#by-name"),
    ] {
        opened(query).await.unwrap();
    }
    for query in
        ["ssl-mode=disabled", "ssl-mode=verify_ca", &format!("ssl-mode=verify_identity&ssl-ca={root}")]
    {
        let refused = opened(query).await;
        assert!(
            matches!(refused, Err(Error::Unreachable { .. } | Error::Database { .. })),
            "{query}: {refused:?}"
        );
    }
}
