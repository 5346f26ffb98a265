//! Three servers on one PostgreSQL while things fail: no id twice, and every request that fails is told why.

use crate::serve::{Folder, Serving, asked};
use mintage::time::pause;
use mintage_testkit::servers::postgres::Postgres;
use mintage_testkit::signal;
use serde_json::Value;
use std::collections::HashSet;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, RwLock};

const MILLI: u64 = 1_000_000;

/// What clients had, and how requests failed.
#[derive(Default)]
struct Had {
    /// Ids of the space of windows.
    ids: Vec<u64>,
    /// Values of the counter, one by one and from blocks.
    values: Vec<u64>,
    /// Failures with a reason, by type.
    told: Vec<String>,
    /// Connections that came to nothing.
    cut: u64,
}

/// Asks server after server until the end.
fn client(number: usize, servers: &RwLock<Vec<SocketAddr>>, ends: &AtomicBool, done: &AtomicU64) -> Had {
    const ASKED: [&str; 4] = [
        "POST /v1/spaces/default/ids",
        "POST /v1/spaces/counter/ids?count=20",
        "POST /v1/spaces/default/ids?count=100",
        "POST /v1/spaces/counter/blocks?count=50",
    ];
    let mut had = Had::default();
    for turn in number.. {
        if ends.load(Ordering::Relaxed) {
            break;
        }
        let address = {
            let servers = servers.read().unwrap();
            servers[turn % servers.len()]
        };
        let head = ASKED[turn / 3 % ASKED.len()];
        let Ok((status, body)) = asked(address, head, "") else {
            had.cut += 1;
            pause(20 * MILLI);
            continue;
        };
        let body: Value =
            serde_json::from_str(&body).unwrap_or_else(|error| panic!("{head}: {error}: {body}"));
        let number = |value: &Value| -> u64 { value.as_str().unwrap().parse().unwrap() };
        match status {
            200 => {
                done.fetch_add(1, Ordering::Relaxed);
                if let Some(ids) = body["ids"].as_array() {
                    let place = if head.contains("default") { &mut had.ids } else { &mut had.values };
                    place.extend(ids.iter().map(number));
                } else {
                    had.values.extend(number(&body["start"])..number(&body["end"]));
                }
            }
            408 | 429 | 503 => {
                assert!(body["detail"].as_str().is_some_and(|detail| detail.len() > 10), "{body}");
                had.told.push(body["type"].as_str().unwrap().to_owned());
                pause(20 * MILLI);
            }
            _ => panic!("{head}: {status}: {body}"),
        }
    }
    had
}

#[test]
fn three_servers_on_one_store_repeat_nothing_whatever_fails() {
    let Some(mut postgres) = Postgres::start(&[]) else { return };
    let url = postgres.url(&postgres.database());
    let folders = [Folder::new(), Folder::new(), Folder::new()];
    let begin = |folder: &Folder| Serving::begin(folder, &["--store", &url]);
    let mut servers: Vec<Serving> = folders.iter().map(begin).collect();
    let addresses = RwLock::new(servers.iter().map(|server| server.http).collect::<Vec<_>>());
    let (ends, done, all) = (AtomicBool::new(false), AtomicU64::new(0), Mutex::new(Had::default()));
    std::thread::scope(|scope| {
        for number in 0..6 {
            let (addresses, ends, done, all) = (&addresses, &ends, &done, &all);
            scope.spawn(move || {
                let had = client(number, addresses, ends, done);
                let mut all = all.lock().unwrap();
                all.ids.extend(had.ids);
                all.values.extend(had.values);
                all.told.extend(had.told);
                all.cut += had.cut;
            });
        }
        // Whatever panics below must not leave the clients running.
        let faults = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let goes_on = |what: &str| {
                let before = done.load(Ordering::Relaxed);
                let went_on = (0..600).any(|_| {
                    pause(50 * MILLI);
                    done.load(Ordering::Relaxed) >= before + 50
                });
                assert!(went_on, "requests did not go on: {what}");
            };
            goes_on("at the start");
            // A server is killed, and another takes its place.
            servers.remove(0);
            goes_on("a server was killed");
            servers.insert(0, begin(&folders[0]));
            addresses.write().unwrap()[0] = servers[0].http;
            goes_on("it was started again");
            // Another stands still for longer than its window is renewed.
            signal::stop(servers[1].pid()).unwrap();
            pause(4_000 * MILLI);
            signal::resume(servers[1].pid()).unwrap();
            goes_on("a server stood still");
            // The store is away: what is held goes on.
            postgres.kill();
            // Of a window; a block has to be claimed once what is held is used up.
            for _ in 0..50 {
                let (status, body) = asked(servers[2].http, "POST /v1/spaces/default/ids", "").unwrap();
                assert_eq!(status, 200, "the store was killed: {body}");
            }
            pause(2_000 * MILLI);
            postgres.start_again();
            goes_on("the store came back");
        }));
        ends.store(true, Ordering::Relaxed);
        if let Err(panic) = faults {
            std::panic::resume_unwind(panic);
        }
    });
    let had = all.into_inner().unwrap();
    for (what, all) in [("ids", &had.ids), ("values", &had.values)] {
        let different: HashSet<&u64> = all.iter().collect();
        assert!(all.len() > 500, "{what}: {}", all.len());
        assert_eq!(different.len(), all.len(), "{what} came twice");
    }
    assert!(had.cut > 0, "no client noticed the server that was killed");
    println!(
        "{} ids, {} values, {} failures told, {} connections cut",
        had.ids.len(),
        had.values.len(),
        had.told.len(),
        had.cut
    );
}

#[test]
fn processes_that_mint_through_a_server_go_on_while_it_is_killed() {
    let folder = Folder::new();
    let at = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let begin = || Serving::begin(&folder, &["--listen", &at]);
    let serving = begin();
    let url = format!("http://{at}");
    let mut minting: Vec<_> = (0..4)
        .map(|_| {
            std::process::Command::new(env!("CARGO_BIN_EXE_mintage"))
                .args(["mint", "--store", &url, "default", "--rate", "5000/s", "-n", "40000"])
                .stdout(std::process::Stdio::piped())
                .stderr(std::process::Stdio::piped())
                .spawn()
                .unwrap()
        })
        .collect();
    let outputs: Vec<_> = minting
        .drain(..)
        .map(|child| std::thread::spawn(move || child.wait_with_output().unwrap()))
        .collect();
    pause(2_000 * MILLI);
    // Killed, not ended.
    drop(serving);
    pause(2_000 * MILLI);
    let _again = begin();
    let mut all = HashSet::new();
    let mut count = 0;
    for output in outputs {
        let output = output.join().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        for line in String::from_utf8(output.stdout).unwrap().lines() {
            count += 1;
            assert!(all.insert(line.to_owned()), "{line} came twice");
        }
    }
    assert_eq!(count, 160_000);
}
