//! `mintage store` and `mintage mint`: several processes, ends of all kinds, and what is left in the store.

use crate::facade::Folder;
use crate::{lines, mintage, refusal};
use mintage_testkit::signal;
use serde_json::Value;
use std::collections::HashSet;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStdout, Command, Stdio};

/// A store in a folder of its own, with a space.
pub(crate) struct Place {
    pub(crate) folder: Folder,
    pub(crate) url: String,
}

impl Place {
    pub(crate) fn new(test: &str, space: &[&str]) -> Self {
        let folder = Folder::new(test);
        let url = format!("sqlite:{}", folder.file("ids.db"));
        let place = Self { folder, url };
        lines(&[&["store", "create", &place.url, "orders"], space].concat());
        place
    }

    pub(crate) fn mint(&self, more: &[&str]) -> Vec<String> {
        lines(&[&["mint", "--store", &self.url, "orders"], more].concat())
    }

    pub(crate) fn spawn(&self, more: &[&str]) -> (Child, BufReader<ChildStdout>) {
        let mut child = Command::new(env!("CARGO_BIN_EXE_mintage"))
            .args(["mint", "--store", &self.url, "orders"])
            .args(more)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        (child, out)
    }

    pub(crate) fn json(&self, what: &str) -> Vec<Value> {
        let lines = lines(&["store", what, &self.url, "orders", "--json"]);
        lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    fn mark(&self, worker: usize) -> u64 {
        self.json("workers")[worker]["mark"].as_str().unwrap().parse().unwrap()
    }
}

/// Tick and worker of an id of the scheme snowflake.
fn read(id: &str) -> (u64, u64) {
    let id: u64 = id.parse().unwrap();
    (id >> 22, id >> 12 & 1023)
}

pub(crate) const SPLIT: &[&str] = &["--snowflake", "41/10/12"];

#[test]
fn two_processes_of_several_threads_mint_no_id_twice() {
    let place = Place::new("two", SPLIT);
    let running: Vec<_> = (0..2).map(|_| place.spawn(&["-n", "100000", "--threads", "2"])).collect();
    let mut all = HashSet::new();
    for (mut child, mut out) in running {
        let mut text = String::new();
        out.read_to_string(&mut text).unwrap();
        assert!(child.wait().unwrap().success());
        assert_eq!(text.lines().count(), 100_000);
        all.extend(text.lines().map(str::to_owned));
    }
    assert_eq!(all.len(), 200_000);
}

#[test]
fn a_signal_ends_it_and_the_mark_moves_to_the_last_tick_plus_one() {
    let place = Place::new("signal", SPLIT);
    for send in [signal::terminate, signal::interrupt] {
        let (mut child, mut out) = place.spawn(&["--rate", "1000/s"]);
        let mut text = String::new();
        out.read_line(&mut text).unwrap();
        send(child.id()).unwrap();
        out.read_to_string(&mut text).unwrap();
        assert!(child.wait().unwrap().success());
        assert!(text.ends_with('\n'));
        let (tick, worker) = read(text.lines().last().unwrap());
        assert_eq!((worker, place.mark(0)), (0, tick + 1));
    }
}

#[test]
fn after_a_kill_the_next_process_mints_at_once_as_another_worker() {
    let place = Place::new("kill", SPLIT);
    let (mut child, mut out) = place.spawn(&[]);
    let mut first = String::new();
    out.read_line(&mut first).unwrap();
    child.kill().unwrap();
    let mut killed = String::new();
    out.read_to_string(&mut killed).unwrap();
    child.wait().unwrap();
    assert!(killed.ends_with('\n'), "the last line is whole");
    let again = place.mint(&["-n", "100"]);
    assert_eq!((read(first.trim()).1, read(&again[0]).1), (0, 1));
    let all: HashSet<&str> = killed.lines().chain(again.iter().map(String::as_str)).collect();
    assert_eq!(all.len(), killed.lines().count() + 100);
}

#[test]
fn a_reader_that_leaves_ends_it_silently_and_the_lease_is_given_back() {
    let place = Place::new("pipe", SPLIT);
    let (mut child, mut out) = place.spawn(&[]);
    out.read_line(&mut String::new()).unwrap();
    drop(out);
    assert!(child.wait().unwrap().success());
    let mut told = String::new();
    child.stderr.take().unwrap().read_to_string(&mut told).unwrap();
    assert_eq!((told.as_str(), place.json("workers")[0]["state"].as_str()), ("", Some("free")));
}

#[test]
fn creating_the_same_again_is_done_and_another_shows_both() {
    let place = Place::new("again", &["--snowflake", "twitter"]);
    let create = |more: &[&str]| mintage(&[&["store", "create", &place.url, "orders"], more].concat());
    assert!(create(&["--snowflake", "snowflake-twitter"]).status.success());
    let (code, text) =
        refusal(&["store", "create", &place.url, "orders", "--snowflake", "twitter", "--window", "10s"]);
    assert_eq!(code, 2);
    assert!(text.contains("window_nanos: 30000000000 is stored, 10000000000 was given"), "{text}");
    let (code, text) = refusal(&["store", "create", &place.url, "orders", "--block"]);
    assert!(code == 2 && text.contains("kind: windows is stored, blocks was given"), "{text}");
}

#[test]
fn wrong_use_says_what_to_do() {
    let place = Place::new("wrong", SPLIT);
    for (args, expected) in [
        (&["mint", "--store", &place.url, "nope"][..], "store create"),
        (&["mint", "orders"], "MINTAGE_STORE"),
        (&["mint", "--store", "sqlite:/nowhere/ids.db", "orders"], "store create"),
        (&["mint", "--store", "pigeon://me:secret@loft", "orders"], "pigeon://me:***@loft"),
        (&["mint", "--store", &place.url, "orders", "--form", "wrong"], "no form is called"),
        (&["store", "create", &place.url, "a", "--snowflake", "uuid-v7"], "has no time field with a worker"),
        (
            &["store", "create", &place.url, "a", "--snowflake", "41/10/12", "--workers", "0..1024"],
            "within 0 to 1023",
        ),
        (
            &["store", "create", &place.url, "a", "--snowflake", "41/10/12", "--epoch", "2999-01-01"],
            "lies ahead",
        ),
        (&["store", "burn-worker", &place.url, "orders", "1024"], "out of range"),
        (&["store", "bump", &place.url, "orders", "--by", "1"], "windows"),
    ] {
        let (code, text) = refusal(args);
        assert_eq!(code, 2, "{args:?}: {text}");
        assert!(text.contains(expected) && !text.contains("secret"), "{args:?}: {text}");
    }
}

#[test]
fn every_scheme_with_a_worker_and_a_time_can_be_leased() {
    let place = Place::new("schemes", SPLIT);
    let mut leased = 0;
    for scheme in mintage::SCHEMES.iter().filter(|scheme| scheme.takes(mintage::Setting::Worker)) {
        let output = mintage(&["store", "create", &place.url, scheme.name, "--snowflake", scheme.name]);
        let told = String::from_utf8(output.stderr).unwrap();
        if told.contains("the time field ended") {
            continue;
        }
        assert!(output.status.success(), "{}: {told}", scheme.name);
        let ids = lines(&["mint", "--store", &place.url, scheme.name, "-n", "3"]);
        assert!(ids.len() == 3 && ids.iter().all(|id| scheme.parse(id).is_ok()), "{}: {ids:?}", scheme.name);
        leased += 1;
    }
    assert!(leased > 10, "{leased}");
}

#[test]
fn events_are_json_lines_that_tell_of_each_lease() {
    let place = Place::new("events", SPLIT);
    let file = place.folder.file("events.ndjson");
    let ids = place.mint(&["-n", "5", "--events", &file]);
    place.mint(&["-n", "5", "--events", &file]);
    let text = std::fs::read_to_string(&file).unwrap();
    let events: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let words: Vec<_> = events.iter().map(|event| event["event"].as_str().unwrap()).collect();
    assert_eq!(words, ["acquired", "released", "acquired", "released"]);
    assert_eq!(events[1]["until_tick"], (read(&ids[4]).0 + 1).to_string());
    assert!(events.iter().all(|event| event["space"] == "orders" && event["worker"] == "0"));
    assert!(events.iter().all(|event| mintage::UnixNanos::parse(event["time"].as_str().unwrap()).is_ok()));
}

#[test]
fn an_operator_holds_burns_and_drops() {
    let place = Place::new("operate", SPLIT);
    place.mint(&["-n", "1"]);
    let done = |words: &[&str]| {
        let output = mintage(&[&["store"], words].concat());
        assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    done(&["burn-worker", &place.url, "orders", "0"]);
    assert_eq!(place.json("workers")[0]["state"], "burned");
    assert_eq!(read(&place.mint(&["-n", "1"])[0]).1, 1);
    done(&["hold", &place.url, "orders"]);
    let (code, text) = refusal(&["mint", "--store", &place.url, "orders", "-n", "1"]);
    assert!(code == 3 && text.contains("on hold until") && text.contains("carries on by itself"), "{text}");
    assert!(done(&["list", &place.url]).contains("on hold until"));
    done(&["release-hold", &place.url, "orders"]);
    place.mint(&["-n", "1"]);
    done(&["drop", &place.url, "orders"]);
    assert_eq!(refusal(&["store", "show", &place.url, "orders"]).0, 2);
    assert!(done(&["list", &place.url, "--all"]).contains("dropped at"));
    assert!(done(&["check", &place.url]).contains("durability"));
    assert!(done(&["schema", "sqlite"]).contains("CREATE TABLE"));
}

#[test]
fn none_free_says_when_the_next_is() {
    let place = Place::new("none", &["--snowflake", "41/10/12", "--workers", "0..0"]);
    let (mut child, mut out) = place.spawn(&["--rate", "10/s"]);
    out.read_line(&mut String::new()).unwrap();
    let (code, text) = refusal(&["mint", "--store", &place.url, "orders", "-n", "1"]);
    assert!(code == 3 && text.contains("20") && text.contains("the next is at"), "{text}");
    signal::terminate(child.id()).unwrap();
    assert!(child.wait().unwrap().success());
    place.mint(&["-n", "1"]);
}

#[test]
fn values_of_a_counter_follow_each_other_across_processes() {
    let place = Place::new("blocks", &["--block", "--first", "1000"]);
    let expected = |from: u64| (from..from + 300).map(|value| value.to_string()).collect::<Vec<_>>();
    assert_eq!(place.mint(&["-n", "300"]), expected(1_000));
    assert_eq!(place.mint(&["-n", "300"]), expected(1_300));
    let bumped = mintage(&["store", "bump", &place.url, "orders", "--to", "5000"]);
    assert!(bumped.status.success());
    assert_eq!(place.mint(&["-n", "300"]), expected(5_000));
    let shown = &place.json("show")[0];
    assert_eq!((shown["next"].as_str(), shown["kind"].as_str()), (Some("5300"), Some("blocks")));
}

#[test]
fn the_url_may_stand_in_the_environment() {
    let place = Place::new("environment", SPLIT);
    let run = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mintage"));
        command.args(args).env("MINTAGE_STORE", &place.url).output().unwrap()
    };
    for args in [
        &["mint", "orders", "-n", "1"][..],
        &["store", "list"],
        &["store", "workers", "orders"],
        &["store", "check"],
    ] {
        assert!(run(args).status.success(), "{args:?}");
    }
}
