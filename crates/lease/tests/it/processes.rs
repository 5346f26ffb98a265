//! Several processes at one store: the test binary runs itself.

use crate::conformance::{Windows, mint_a_while};
use crate::site::{Site, blocks, short, soon, windows};
use mintage_lease::space::BlockTerms;
use mintage_lease::store::{CreateOptions, OpenOptions};
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

const URL: &str = "MINTAGE_TEST_STORE";

/// Runs an ignored test in a process of its own: there no thread of another test holds a lock when it forks.
pub(crate) fn alone(test: &str) {
    let program = std::env::current_exe().unwrap();
    let output = Command::new(program).args(["--exact", test, "--ignored"]).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
}

/// Waits until every other thread of this process sleeps, so that none holds a lock which a forked child would find taken for ever: the
/// thread of a store handle that was dropped is still closing its file.
pub(crate) fn wait_for_threads() {
    let own = std::fs::read_link("/proc/thread-self").unwrap();
    let own = own.file_name().unwrap();
    let is_asleep = |task: &std::fs::DirEntry| {
        // Gone since it was listed, or state S after the name in brackets.
        let stat = std::fs::read_to_string(task.path().join("stat"));
        stat.is_ok_and(|stat| stat.rsplit(") ").next().is_some_and(|rest| rest.starts_with('S')))
    };
    let mut calm = 0;
    while calm < 5 {
        let tasks: Vec<_> = std::fs::read_dir("/proc/self/task").unwrap().map(Result::unwrap).collect();
        let all_sleep = tasks.iter().all(|task| task.file_name() == own || is_asleep(task));
        calm = if all_sleep { calm + 1 } else { 0 };
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
}

/// `count` processes open the store, create the spaces and mint at once; what they got is disjoint.
pub(crate) async fn share_a_space(site: &Site, count: usize) {
    let program = std::env::current_exe().unwrap();
    let children: Vec<_> = (0..count)
        .map(|_| {
            Command::new(&program)
                .args(["--exact", "processes::child", "--ignored", "--nocapture", "--quiet"])
                .env(URL, &site.url)
                .stdout(Stdio::piped())
                .spawn()
                .unwrap()
        })
        .collect();
    let mut all = Windows::default();
    let mut blocks = Vec::new();
    for child in children {
        let output = child.wait_with_output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success(), "{text}");
        for line in text.lines() {
            let words: Vec<&str> = line.split(' ').collect();
            let number = |i: usize| words[i].parse::<u64>().unwrap();
            match words[0] {
                "window" => all.grant(number(1), number(2), number(3)),
                "block" => blocks.push((number(1), number(2))),
                _ => {}
            }
        }
    }
    blocks.sort_unstable();
    assert!(blocks.len() >= count, "{blocks:?}");
    assert!(blocks.windows(2).all(|pair| pair[0].1 == pair[1].0), "{blocks:?}");
    assert!(all.assert_disjoint() >= count);
}

#[tokio::test]
#[ignore = "run by share_a_space, in processes of its own"]
async fn child() {
    let Ok(url) = std::env::var(URL) else { return };
    let site = Site { url, options: OpenOptions::default(), _kept: Box::new(()) };
    let space = windows("orders", |windows| {
        short(windows);
        windows.terms.last_worker = 5;
    });
    site.store().create(&space, CreateOptions::default(), soon()).await.unwrap();
    let counter = blocks("invoices", BlockTerms::default());
    site.store().create(&counter, CreateOptions::default(), soon()).await.unwrap();
    let (mut client, mut counter) = (site.client("orders").await, site.client("invoices").await);
    let lines = mint_a_while(&mut client, &mut counter, 6).await;
    println!("\n{}", lines.join("\n"));
}

/// Processes are killed in the middle of what they do, again and again: nothing is granted twice, and no hold begins, as
/// whatever was answered is there.
pub(crate) async fn survive_kills(site: &Site) {
    let program = std::env::current_exe().unwrap();
    site.windows("orders", short).await;
    site.blocks("invoices", BlockTerms::default()).await;
    let mut all = Windows::default();
    let mut blocks = Vec::new();
    for round in 0..8_u64 {
        let mut child = Command::new(&program)
            .args(["--exact", "processes::endless_child", "--ignored", "--nocapture", "--quiet"])
            .env(URL, &site.url)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        // Killed a moment after it got something, each time another one.
        let mut left = 3 + round;
        let mut take = |line: &str| {
            let words: Vec<&str> = line.split(' ').collect();
            let number = |i: usize| words[i].parse::<u64>().unwrap();
            match words[0] {
                "window" if words.len() == 4 => all.grant(number(1), number(2), number(3)),
                "block" if words.len() == 3 => blocks.push((number(1), number(2))),
                _ => return false,
            }
            true
        };
        while left > 0 {
            let line = lines.next().unwrap().unwrap();
            left -= u64::from(take(&line));
        }
        tokio::time::sleep(std::time::Duration::from_micros(300 * round)).await;
        child.kill().unwrap();
        child.wait().unwrap();
        for line in lines.map_while(Result::ok) {
            take(&line);
        }
    }
    blocks.sort_unstable();
    assert!(blocks.windows(2).all(|pair| pair[0].1 <= pair[1].0), "{blocks:?}");
    assert!(all.assert_disjoint() > 16);
    let shown = site.store().list(soon()).await.unwrap();
    assert!(shown.iter().all(|shown| shown.state.holds == 0), "{shown:?}");
}

#[tokio::test]
#[ignore = "run by survive_kills, in processes of its own"]
async fn endless_child() {
    let Ok(url) = std::env::var(URL) else { return };
    let site = Site { url, options: OpenOptions::default(), _kept: Box::new(()) };
    let (mut client, mut counter) = (site.client("orders").await, site.client("invoices").await);
    println!();
    loop {
        for line in mint_a_while(&mut client, &mut counter, 1).await {
            println!("{line}");
        }
    }
}
