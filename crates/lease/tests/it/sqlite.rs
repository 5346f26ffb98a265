//! The store in a file: what happens to files, disks and clocks.

use crate::site::{Site, blocks, refused, short, soon, windows};
use mintage::UnixNanos;
use mintage_lease::clock::{HostClock, ManualHostClock};
use mintage_lease::space::BlockTerms;
use mintage_lease::store::{CreateOptions, OpenOptions};
use mintage_lease::{Caller, Error, Refusal, Request};
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;

pub(crate) fn site() -> Site {
    site_with(OpenOptions::default()).0
}

fn site_with(options: OpenOptions) -> (Site, PathBuf) {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("ids.db");
    let url = format!("sqlite:{}", path.display());
    (Site { url, options, _kept: Box::new(folder) }, path)
}

fn stepped() -> (Site, ManualHostClock) {
    let clock = ManualHostClock::new(UnixNanos::from_secs(1_800_000_000));
    let clocks: Arc<dyn HostClock> = Arc::new(clock.clone());
    (site_with(OpenOptions { clock: Some(clocks), ..OpenOptions::default() }).0, clock)
}

fn side_car(path: &std::path::Path) -> PathBuf {
    PathBuf::from(format!("{}-serial", path.display()))
}

/// Each way in which a file is lost or put back, from a backup that lacks one answered request.
#[tokio::test]
async fn rule_17_a_file_that_was_put_back_begins_a_hold() {
    type PutBack = fn(&std::path::Path, &std::path::Path);
    let ways: [(&str, PutBack); 4] = [
        ("copied over", |backup, path| fs::write(path, fs::read(backup).unwrap()).unwrap()),
        ("renamed over", |backup, path| fs::rename(backup, path).unwrap()),
        ("renamed over, without its side-car", |backup, path| {
            fs::remove_file(side_car(path)).unwrap();
            fs::rename(backup, path).unwrap();
        }),
        ("copied over with its side-car", |backup, path| {
            fs::write(path, fs::read(backup).unwrap()).unwrap();
            fs::rename(side_car(backup), side_car(path)).unwrap();
            // The same revision on both sides: only a client can tell.
        }),
    ];
    for (way, put_back) in ways {
        let (site, path) = site_with(OpenOptions::default());
        let mut client = site.windows("orders", short).await;
        client.one().await;
        let backup = path.with_extension("backup");
        fs::copy(&path, &backup).unwrap();
        fs::copy(side_car(&path), side_car(&backup)).unwrap();
        client.one().await;
        put_back(&backup, &path);
        let refusal = refused(client.acquire(1).await);
        assert!(matches!(refusal, Refusal::OnHold { .. }), "{way}: {refusal}");
        let mut fresh = site.client("orders").await;
        assert!(matches!(refused(fresh.acquire(1).await), Refusal::OnHold { .. }), "{way}");
        let Refusal::OnHold { until } = refused(fresh.acquire(1).await) else { panic!() };
        fresh.wait_until(until).await;
        fresh.one().await;
        assert_eq!(fresh.desk.store().show("orders", soon()).await.unwrap().state.holds, 1, "{way}");
    }
}

/// What SQLite goes by to tell whether its cached pages are still those of the file: bytes 24 to 27.
fn change_counter(path: &std::path::Path) -> u32 {
    u32::from_be_bytes(fs::read(path).unwrap()[24..28].try_into().unwrap())
}

#[tokio::test]
async fn rule_17_pages_in_memory_are_not_taken_for_those_of_a_file_that_was_put_back() {
    let (site, path) = site_with(OpenOptions::default());
    let mut client = site.windows("orders", short).await;
    client.one().await;
    let backup = path.with_extension("backup");
    fs::copy(&path, &backup).unwrap();
    fs::copy(side_car(&path), side_car(&backup)).unwrap();
    for _ in 0..5 {
        client.one().await;
    }
    let counter = change_counter(&path);
    fs::write(&path, fs::read(&backup).unwrap()).unwrap();
    fs::rename(side_car(&backup), side_car(&path)).unwrap();
    // As many commits by another as were lost: revision and counter are what the first client knows.
    let other = site.store();
    let space = other.space("orders", soon()).await.unwrap();
    let mut restart_hold = false;
    while change_counter(&path) < counter {
        let caller = Caller::default();
        other.ask(&space, &caller, &Request::RestartHold(restart_hold), soon()).await.unwrap();
        restart_hold = !restart_hold;
    }
    assert_eq!(change_counter(&path), counter);
    let (seen, held) = (
        client.desk.store().show("orders", soon()).await.unwrap(),
        other.show("orders", soon()).await.unwrap(),
    );
    assert_eq!((seen.state, seen.workers), (held.state, held.workers));
    assert!(matches!(refused(client.acquire(1).await), Refusal::OnHold { .. }));
}

#[tokio::test]
async fn rule_17_a_fresh_client_notices_too_and_so_does_every_space_of_the_file() {
    let (site, path) = site_with(OpenOptions::default());
    let mut orders = site.windows("orders", short).await;
    let mut invoices = site.blocks("invoices", BlockTerms::default()).await;
    fs::copy(&path, path.with_extension("backup")).unwrap();
    orders.one().await;
    invoices.claim(10).await.unwrap();
    drop((orders, invoices));
    fs::write(&path, fs::read(path.with_extension("backup")).unwrap()).unwrap();
    let mut orders = site.client("orders").await;
    assert!(matches!(refused(orders.acquire(1).await), Refusal::OnHold { .. }));
    let mut invoices = site.client("invoices").await;
    assert_eq!(refused(invoices.claim(10).await), Refusal::Stale { next: 1 });
}

#[tokio::test]
async fn rule_17_a_crash_between_commit_and_answer_begins_no_hold() {
    let (site, path) = site_with(OpenOptions::default());
    let mut client = site.windows("orders", short).await;
    let before = fs::read(side_car(&path)).unwrap();
    client.one().await;
    fs::write(side_car(&path), before).unwrap();
    client.one().await;
    assert_eq!(client.desk.store().show("orders", soon()).await.unwrap().state.holds, 0);
}

#[tokio::test]
async fn rule_16_a_file_that_is_gone_is_no_store_any_more() {
    let (site, path) = site_with(OpenOptions::default());
    let mut client = site.windows("orders", short).await;
    client.one().await;
    fs::remove_file(&path).unwrap();
    let gone = client.acquire(1).await;
    assert!(matches!(gone, Err(Error::FileReplaced { .. })), "{gone:?}");
    assert!(!path.exists());
}

#[tokio::test]
async fn rule_16_wall_steps_reach_no_window_and_a_boot_with_a_clock_behind_is_refused() {
    let (site, clock) = stepped();
    let mut client = site.windows("orders", |_| {}).await;
    let first = client.one().await;
    clock.set_wall(UnixNanos::from_secs(1_000_000_000));
    clock.pass(1_000_000_000);
    let renewed = client.renew(&[first]).await.remove(0).unwrap();
    assert_eq!(renewed.until, first.until + 1_000);
    clock.boot(UnixNanos::from_secs(1_800_000_000));
    let behind = site.client_unchecked("orders").await.err();
    assert!(matches!(behind, Some(Error::ClockBehind { .. })), "{behind:?}");
    clock.set_wall(UnixNanos::from_secs(1_800_000_002));
    let mut fresh = site.client("orders").await;
    assert!(fresh.one().await.from >= first.from + 2_000);
}

#[tokio::test]
async fn rule_15_a_fresh_client_whose_wall_clock_is_hours_off_is_refused() {
    let (site, clock) = stepped();
    let mut client = site.windows("orders", |_| {}).await;
    clock.set_wall(UnixNanos::from_secs(1_700_000_000));
    assert!(matches!(refused(client.acquire(1).await), Refusal::ClockOff { .. }));
    client.caller.trusts_clock = true;
    client.one().await;
}

#[tokio::test]
async fn rule_12_windows_follow_the_stores_time_to_the_tick() {
    let (site, clock) = stepped();
    let mut client = site.windows("orders", |_| {}).await;
    let lease = client.one().await;
    let base = client.desk.space().windows().unwrap().terms.base;
    assert_eq!(Some(lease.from), base.tick_at(clock.wall()));
    assert_eq!(lease.until, lease.from + 30_000);
    clock.pass(29_999_999_999);
    assert_eq!(client.renew(&[lease]).await.remove(0).unwrap().until, lease.until + 29_999);
}

#[tokio::test]
async fn a_full_disk_is_said_and_nothing_is_lost() {
    // A file system of 256 KiB in memory, where it may be mounted.
    let folder = TempDir::new().unwrap();
    let mount = |args: &[&str]| {
        std::process::Command::new("mount").args(args).arg(folder.path()).status().is_ok_and(|s| s.success())
    };
    if !mount(&["-t", "tmpfs", "-o", "size=256k", "tmpfs"]) {
        return crate::site::missing("a_full_disk_is_said_and_nothing_is_lost (mount)");
    }
    let unmount = Unmount(folder.path().to_owned());
    let url = format!("sqlite:{}", folder.path().join("ids.db").display());
    let site = Site { url, options: OpenOptions::default(), _kept: Box::new(unmount) };
    let mut client = site.windows("orders", |_| {}).await;
    let lease = client.one().await;
    let filler = folder.path().join("filler");
    let mut size = 256 * 1024;
    while size > 64 {
        let mut bytes = fs::read(&filler).unwrap_or_default();
        bytes.resize(bytes.len() + size, 0);
        if fs::write(&filler, &bytes).is_err() {
            bytes.truncate(bytes.len() - size);
            fs::write(&filler, &bytes).unwrap();
            size /= 2;
        }
    }
    let full = client.acquire(1000).await;
    assert!(matches!(full, Err(Error::Full { .. })), "{full:?}");
    fs::remove_file(&filler).unwrap();
    assert_eq!(client.mark(lease.worker).await, lease.until);
    assert_eq!(client.acquire(1).await.unwrap().len(), 1);
    assert_eq!(client.desk.store().show("orders", soon()).await.unwrap().state.holds, 0);
}

struct Unmount(PathBuf);

impl Drop for Unmount {
    fn drop(&mut self) {
        let _ = std::process::Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

#[tokio::test]
async fn rule_19_a_program_that_knows_a_lower_protocol_keeps_off() {
    let (site, path) = site_with(OpenOptions::default());
    let mut client = site.windows("orders", |_| {}).await;
    let other = rusqlite_connection(&path);
    other.execute("UPDATE mintage_meta SET \"protocol\" = 3", []).unwrap();
    let refused = client.acquire(1).await;
    assert!(matches!(refused, Err(Error::Schema { found: 3, known: 2, .. })), "{refused:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rule_19_a_file_of_version_1_goes_on_and_is_brought_up() {
    let (site, path) = site_with(OpenOptions::default());
    crate::conformance::a_store_of_version_1_goes_on_and_is_brought_up(&site, || {
        let other = rusqlite_connection(&path);
        // With a revision more it is what a crash before the side-car leaves, and no file that was put back.
        let sql = "BEGIN; DROP TABLE mintage_scope; DROP TABLE mintage_hold; UPDATE mintage_meta SET \"protocol\" = 1, \"revision\" = \"revision\" + 1; \
                   COMMIT";
        other.execute_batch(sql).unwrap();
    })
    .await;
}

#[tokio::test]
async fn rule_18_scopes_of_a_file_that_was_put_back_stop() {
    let (site, path) = site_with(OpenOptions::default());
    let mut client = site.scopes("issues", mintage_lease::space::ScopeTerms::default()).await;
    client.take("a", 5).await.unwrap();
    let backup = path.with_extension("backup");
    fs::copy(&path, &backup).unwrap();
    client.take("a", 5).await.unwrap();
    client.take("lost", 1).await.unwrap();
    fs::rename(&backup, &path).unwrap();
    let mut fresh = site.client("issues").await;
    for scope in ["a", "lost", "new"] {
        assert_eq!(refused(fresh.take(scope, 1).await), Refusal::ScopesStopped);
    }
    fresh.done(Request::Bump(mintage_lease::request::Bump::By(100))).await.unwrap();
    assert_eq!(client.take("a", 1).await.unwrap(), (106, 107));
    assert_eq!(client.take("lost", 1).await.unwrap(), (101, 102));
}

#[tokio::test]
async fn another_programs_lock_is_waited_for_until_the_deadline() {
    let (site, path) = site_with(OpenOptions::default());
    let mut client = site.windows("orders", |_| {}).await;
    let other = rusqlite_connection(&path);
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let deadline = mintage_lease::store::Deadline::after(Duration::from_millis(200));
    let late = client.desk.done(&client.caller, Request::Hold, deadline).await;
    assert!(matches!(late, Err(Error::Deadline { .. })), "{late:?}");
    other.execute_batch("COMMIT").unwrap();
    client.one().await;
    assert_eq!(client.desk.store().show("orders", soon()).await.unwrap().state.holds, 0);
}

#[tokio::test]
async fn rule_8_a_future_that_is_dropped_early_takes_its_request_back_or_burns_a_window() {
    let (site, _) = site_with(OpenOptions::default());
    let mut client = site.blocks("invoices", BlockTerms::default()).await;
    for _ in 0..20 {
        let mut other = client.clone();
        let _ = tokio::time::timeout(Duration::from_micros(200), other.claim(10)).await;
    }
    let start = client.claim(10).await.unwrap().start;
    assert!(start % 10 == 1 && start <= 201, "{start}");
}

/// A backup of file and side-car that is put back by each way in which the file isn't just written into with its time set back.
#[tokio::test]
async fn rule_17_a_file_that_was_put_back_with_its_side_car_is_noticed_by_a_fresh_client() {
    type PutBack = fn(&std::path::Path, &std::path::Path);
    let ways: [(&str, PutBack); 3] = [
        ("copied", |backup, path| fs::write(path, fs::read(backup).unwrap()).unwrap()),
        ("unpacked", |backup, path| {
            let changed = fs::metadata(backup).unwrap().modified().unwrap();
            fs::remove_file(path).unwrap();
            fs::copy(backup, path).unwrap();
            fs::File::options().write(true).open(path).unwrap().set_modified(changed).unwrap();
        }),
        ("synchronised", |backup, path| fs::rename(backup, path).unwrap()),
    ];
    for (way, put_back) in ways {
        let (site, path) = site_with(OpenOptions::default());
        let mut counter = site.blocks("invoices", BlockTerms::default()).await;
        counter.claim(10).await.unwrap();
        let backup = path.with_extension("backup");
        fs::copy(&path, &backup).unwrap();
        fs::copy(side_car(&path), side_car(&backup)).unwrap();
        counter.claim(10).await.unwrap();
        drop(counter);
        // File systems count time in steps of some milliseconds.
        tokio::time::sleep(Duration::from_millis(20)).await;
        put_back(&backup, &path);
        fs::write(side_car(&path), fs::read(side_car(&backup)).unwrap()).unwrap();
        let mut fresh = site.client("invoices").await;
        assert_eq!(refused(fresh.claim(10).await), Refusal::Stale { next: 11 }, "{way}");
    }
}

/// What isn't ours is left as it is, by whoever looks and by whoever would create.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_another_process_is_making_is_looked_at_once_that_is_done() {
    let (site, path) = site_with(OpenOptions::default());
    site.blocks("invoices", BlockTerms::default()).await;
    let side_car =
        fs::File::options().read(true).write(true).open(format!("{}-serial", path.display())).unwrap();
    side_car.lock().unwrap();
    let whole = fs::read(&path).unwrap();
    let mut half = whole.clone();
    half[100..4_096].fill(0xff);
    fs::write(&path, &half).unwrap();
    let store = site.store();
    let space = blocks("invoices", BlockTerms::default());
    let creating = tokio::spawn(async move { store.create(&space, CreateOptions::default(), soon()).await });
    tokio::time::sleep(Duration::from_millis(100)).await;
    fs::write(&path, &whole).unwrap();
    side_car.unlock().unwrap();
    creating.await.unwrap().unwrap();
}

#[tokio::test]
async fn files_of_other_programs_are_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("app's 100%.db");
    let other = rusqlite_connection(&path);
    other
        .execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE app (n); INSERT INTO app VALUES (1)")
        .unwrap();
    drop(other);
    let before = fs::read(&path).unwrap();
    let site = Site {
        url: format!("sqlite:{}", path.display()),
        options: OpenOptions::default(),
        _kept: Box::new(()),
    };
    assert!(matches!(site.store().list(soon()).await, Err(Error::NoSchema { .. })));
    let refused = site.store().create(&windows("orders", |_| {}), CreateOptions::default(), soon()).await;
    assert!(matches!(&refused, Err(Error::Unsafe { .. })), "{refused:?}");
    fs::write(
        folder.path().join("text"),
        "no database, but rather long, so that it could have a header of one",
    )
    .unwrap();
    let text = Site { url: format!("sqlite:{}", folder.path().join("text").display()), ..site };
    assert!(text.store().create(&windows("orders", |_| {}), CreateOptions::default(), soon()).await.is_err());
    fs::write(folder.path().join("x-serial"), "my notes").unwrap();
    let notes = Site { url: format!("sqlite:{}", folder.path().join("x").display()), ..text };
    let refused = notes.store().create(&windows("orders", |_| {}), CreateOptions::default(), soon()).await;
    let told = format!("{:?}", refused.unwrap_err());
    assert!(told.contains("is something else"), "{told}");
    assert_eq!(fs::read(&path).unwrap(), before);
    assert_eq!(fs::read_to_string(folder.path().join("x-serial")).unwrap(), "my notes");
    let mut names: Vec<_> =
        fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.retain(|name| name != "x");
    names.sort();
    assert_eq!(names, ["app's 100%.db", "text", "x-serial"]);
}

#[tokio::test]
async fn a_link_to_the_file_is_the_file() {
    let (site, path) = site_with(OpenOptions::default());
    let mut client = site.windows("orders", short).await;
    client.one().await;
    let link = path.with_extension("link");
    std::os::unix::fs::symlink(&path, &link).unwrap();
    let by_link = Site {
        url: format!("sqlite:{}", link.display()),
        options: OpenOptions::default(),
        _kept: Box::new(()),
    };
    by_link.client("orders").await.one().await;
    client.one().await;
    assert!(!side_car(&link).exists());
    fs::remove_file(&path).unwrap();
    assert!(matches!(
        mintage_lease::stores::sqlite::Sqlite::open(&by_link.url, OpenOptions::default()),
        Err(Error::Url { .. })
    ));
}

/// Whoever keeps everybody waiting is named.
#[tokio::test]
async fn a_process_that_holds_the_lock_is_named() {
    let (site, path) = site_with(OpenOptions::default());
    site.windows("orders", short).await;
    let lock = fs::File::open(side_car(&path)).unwrap();
    lock.lock().unwrap();
    let error = site
        .store()
        .list(mintage_lease::store::Deadline::after(Duration::from_millis(50)))
        .await
        .unwrap_err();
    let source = std::error::Error::source(&error).unwrap().to_string();
    assert!(source.contains(&format!("process {} holds", std::process::id())), "{source}");
}

#[test]
fn urls_without_a_path_are_refused() {
    for url in ["sqlite:", "sqlite::memory:", "sqlite:a?mode=ro"] {
        let refused = mintage_lease::store::open(url, OpenOptions::default());
        assert!(matches!(refused, Err(Error::Url { .. })), "{url}");
    }
}

#[tokio::test]
async fn rule_7_a_future_epoch_is_refused_by_the_stores_time() {
    let (site, clock) = stepped();
    let space = windows("orders", |windows| windows.terms.base.epoch = clock.wall().plus(1_000_000_000));
    let store = site.store();
    let refused = store.create(&space, CreateOptions::default(), soon()).await;
    assert!(matches!(refused, Err(Error::SpaceFault { .. })), "{refused:?}");
    clock.pass(2_000_000_000);
    store.create(&space, CreateOptions::default(), soon()).await.unwrap();
}

fn rusqlite_connection(path: &std::path::Path) -> rusqlite::Connection {
    rusqlite::Connection::open(path).unwrap()
}
