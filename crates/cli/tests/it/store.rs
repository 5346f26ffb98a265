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
    let shown = done(&["show", &place.url, "orders"]);
    let release = format!("`mintage store release-hold {} orders`\n", place.url);
    assert!(
        shown.contains("on hold since 20")
            && shown.contains("an operator asked for it")
            && shown.contains(&release),
        "{shown}"
    );
    let json = &place.json("show")[0];
    assert_eq!(json["last_hold"], "an operator asked for it");
    assert!(json["runbook"].as_array().is_some_and(|lines| lines.len() > 3), "{json}");
    done(&["release-hold", &place.url, "orders"]);
    assert!(!done(&["show", &place.url, "orders"]).contains("release-hold"));
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
fn a_counter_that_is_stopped_says_why_and_what_to_do() {
    let place = Place::new("stopped", &["--block"]);
    place.mint(&["-n", "1"]);
    let held = mintage(&["store", "hold", &place.url, "orders"]);
    assert!(held.status.success());
    let shown = mintage(&["store", "show", &place.url, "orders"]);
    let text = String::from_utf8(shown.stdout).unwrap();
    let bump = format!("`mintage store bump {} orders --to N`\n", place.url);
    assert!(
        text.contains("stopped since 20")
            && text.contains("as an operator asked for it")
            && text.contains(&bump),
        "{text}"
    );
}

#[test]
fn a_check_warns_of_a_counter_at_a_quarter_and_fails_at_half() {
    let place = Place::new("headroom", &["--block", "--last", "100000"]);
    let check = |flags: &[&str]| {
        let output = mintage(&[&["store", "check", "--json", &place.url], flags].concat());
        let text = String::from_utf8(output.stdout).unwrap();
        let line: Value = text
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .find(|line: &Value| line["what"] == "counter")
            .unwrap();
        (
            output.status.code().unwrap(),
            line["good"].clone(),
            line["warning"].clone(),
            line["found"].as_str().unwrap().to_owned(),
        )
    };
    let bump =
        |to: &str| assert!(mintage(&["store", "bump", &place.url, "orders", "--to", to]).status.success());
    let (code, good, warning, found) = check(&[]);
    assert!(code == 0 && good == true && warning == false && found.contains("orders: 0.0 % used"), "{found}");
    bump("25001");
    let (code, good, warning, found) = check(&[]);
    assert!(code == 0 && good == true && warning == true && found.contains("25.0 % used"), "{found}");
    bump("50001");
    let (code, good, _, found) = check(&[]);
    assert!(code == 1 && good == false && found.contains("make a space with a larger last value"), "{found}");
    assert_eq!(check(&["--fail", "90%"]).0, 0);
    assert_eq!(refusal(&["store", "check", &place.url, "--warn", "60%"]).0, 2);
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

/// Runs a line that the command printed, as who pastes it does.
fn in_a_shell(line: &str) {
    let folder = std::path::Path::new(env!("CARGO_BIN_EXE_mintage")).parent().unwrap();
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap());
    let output = Command::new("sh").args(["-c", line]).env("PATH", path).output().unwrap();
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn commands_that_are_printed_can_be_pasted_whatever_names_hold() {
    let folder = Folder::new("paste");
    let url = format!("sqlite:{}", folder.file("my ids.db"));
    lines(&["store", "create", &url, "orders", "--scope"]);
    let other = Place::new("paste-other", &["--scope"]);
    let scope = "-it's \"$(false)\" `false`";
    other.mint(&["--scope", scope, "-n", "9"]);
    let against = ["--against", &other.url, "--table", "mintage_scope", "--column", "next", "--by", "scope"];
    let check = || mintage(&[&["store", "check", &url, "orders"][..], &against].concat());
    let text = String::from_utf8(check().stdout).unwrap();
    let begin = text.find("`mintage store bump").unwrap() + 1;
    in_a_shell(&text[begin..text.find("` moves it above").unwrap()]);
    assert!(check().status.success());
}

#[test]
fn numbers_of_scopes_are_taken_bumped_listed_and_compared() {
    let place = Place::new("scopes", &["--scope"]);
    let take = |scope: &str, more: &[&str]| place.mint(&[&["--scope", scope], more].concat());
    assert_eq!(take("42", &[]), ["1"]);
    assert_eq!(take("42", &["-n", "3"]), ["2", "3", "4"]);
    assert_eq!(take("-7", &["--json"]), [r#"{"scheme":"counter","scope":"-7","id":"1"}"#]);
    let (code, text) = refusal(&["mint", "--store", &place.url, "orders", "-n", "1"]);
    assert!(code == 2 && text.contains("--scope"), "{text}");
    let (code, text) = refusal(&["mint", "--store", &place.url, "orders", "--scope", ""]);
    assert!(code == 2 && text.contains("1 to 255 bytes"), "{text}");
    let bumped = lines(&["store", "bump", &place.url, "orders", "--scope", "old", "--to", "100"]);
    assert_eq!(bumped, ["space orders: scope old is bumped"]);
    let listed = lines(&["store", "scopes", &place.url, "orders", "--json"]);
    let next =
        |line: &String| serde_json::from_str::<Value>(line).unwrap()["next"].as_str().unwrap().to_owned();
    assert_eq!(listed.iter().map(next).collect::<Vec<_>>(), ["2", "5", "100"]);
    let page = mintage(&["store", "scopes", &place.url, "orders", "--most", "2"]);
    let hint = String::from_utf8(page.stderr).unwrap();
    let more = format!("`mintage store scopes {} orders --after 42 --most 2`", place.url);
    assert!(hint.contains(&more), "{hint}");
    let unknown = mintage(&["store", "scopes", &place.url, "orders", "--scope", "nobody"]);
    assert_eq!(unknown.status.code(), Some(1));
    // The tables of another store are a table like any other.
    let other = Place::new("scopes-other", &["--scope"]);
    other.mint(&["--scope", "42", "-n", "9"]);
    let check = |by: &str| {
        let words = [
            "store",
            "check",
            &place.url,
            "orders",
            "--against",
            &other.url,
            "--table",
            "mintage_scope",
            "--column",
            "next",
        ];
        let output = mintage(&[&words[..], &["--by", by]].concat());
        (output.status.code(), String::from_utf8([output.stdout, output.stderr].concat()).unwrap())
    };
    let (code, text) = check("scope");
    assert!(code == Some(1) && text.contains("bad   scopes: orders: 1 of 1 scopes"), "{text}");
    let bump = format!("mintage store bump {} orders --scope 42 --to 11", place.url);
    assert!(text.contains(&format!("`{bump}`")), "{text}");
    in_a_shell(&bump);
    let (code, text) = check("scope");
    assert!(code == Some(0) && text.contains("all 1 scopes of mintage_scope stand above"), "{text}");
    let (code, text) = check("no such column");
    assert!(code == Some(3) && text.contains("no such column"), "{text}");
    // An operator's stop, and its end for all scopes.
    lines(&["store", "hold", &place.url, "orders"]);
    let (code, text) = refusal(&["mint", "--store", &place.url, "orders", "--scope", "42"]);
    assert!(code == 3 && text.contains("all scopes are stopped"), "{text}");
    lines(&["store", "bump", &place.url, "orders", "--by", "1000"]);
    assert_eq!(take("42", &[]), ["1011"]);
    assert_eq!(take("new", &[]), ["1001"]);
}

#[test]
fn twins_share_a_uuid_and_one_goes_on_without_the_other() {
    let odd = Place::new("twin-odd", &["--ticket", "--step", "2", "--offset", "1"]);
    let folder = Folder::new("twin-even");
    let even = format!("sqlite:{}", folder.file("ids.db"));
    let create = |step, offset| {
        let words = ["store", "create", &even, "orders", "--ticket", "--step", step, "--offset", offset];
        mintage(&[&words[..], &["--twin-of", &odd.url]].concat())
    };
    for (step, offset, told) in
        [("2", "1", "both have offset 1 of step 2"), ("3", "0", "step is 2, 3 was given")]
    {
        let output = create(step, offset);
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(2) && text.contains(told), "{text}");
    }
    let made = create("2", "0");
    assert!(String::from_utf8(made.stdout).unwrap().contains("created: tickets from 1 to"));
    let again = create("2", "0");
    assert!(String::from_utf8(again.stdout).unwrap().contains("is there already"));
    let both = || lines(&["mint", "--store", &odd.url, "--store", &even, "orders", "-n", "6"]);
    let mut tickets = both();
    tickets.sort_unstable();
    assert_eq!(tickets, ["1", "2", "3", "4", "5", "6"]);
    std::fs::remove_file(even.strip_prefix("sqlite:").unwrap()).unwrap();
    let lost = mintage(&["mint", "--store", &odd.url, "--store", &even, "orders", "-n", "2"]);
    // A file that is gone isn't a store that may come back.
    assert_eq!(lost.status.code(), Some(2));
    let foreign = Place::new("twin-foreign", &["--ticket", "--step", "2", "--offset", "0"]);
    let (code, text) = refusal(&["mint", "--store", &odd.url, "--store", &foreign.url, "orders", "-n", "1"]);
    assert!(code == 2 && text.contains("--twin-of"), "{text}");
}

#[test]
fn regions_that_could_hand_out_one_id_are_found_by_their_manifests() {
    let region = |name: &str, workers| Place::new(name, &["--snowflake", "41/10/12", "--workers", workers]);
    let (eu, us, asia) = (region("eu", "0..511"), region("us", "512..1023"), region("asia", "500..600"));
    let file = |place: &Place| {
        let path = place.folder.file("manifest");
        std::fs::write(&path, lines(&["store", "manifest", &place.url, "--json"]).join("\n")).unwrap();
        path
    };
    let (of_eu, of_us) = (file(&eu), file(&us));
    let apart = lines(&["store", "manifest", "--check", &of_eu, &of_us, &of_eu]);
    assert_eq!(apart, ["3 spaces compared; no two of them could hand out the same id"]);
    let found = mintage(&["store", "manifest", &asia.url, "--check", &of_eu, &of_us]);
    let text = String::from_utf8(found.stdout).unwrap();
    assert_eq!((found.status.code(), text.lines().count()), (Some(1), 2), "{text}");
    assert!(text.contains("workers 500 to 600 and 0 to 511 overlap in 500 to 511; drop one"), "{text}");
    let (code, text) = refusal(&["store", "manifest", "--check", &us.url["sqlite:".len()..]]);
    assert!(code == 2, "{text}");
    // Ids of a space that was dropped are still there.
    asia.mint(&["-n", "1"]);
    lines(&["store", "drop", &asia.url, "orders"]);
    let found = mintage(&["store", "manifest", "--check", &file(&asia), &of_eu]);
    let text = String::from_utf8(found.stdout).unwrap();
    assert!(found.status.code() == Some(1) && text.contains("ids of it may be in use"), "{text}");
    assert!(lines(&["store", "manifest", &asia.url])[1].contains("dropped at 20"));
    // One that issued none is nothing.
    lines(&["store", "drop", &eu.url, "orders"]);
    assert_eq!(lines(&["store", "manifest", &eu.url]).len(), 1);
    let manifest = std::fs::read_to_string(&of_us).unwrap();
    let head = manifest.lines().next().unwrap();
    for (text, named) in [
        ("", "empty; what"),
        ("\n", "empty; what"),
        (head, "cut off: 0 of 1 spaces are there"),
        (&manifest[..manifest.len() - 9], "line 2: "),
        (&manifest[head.len()..], "the first line of"),
        ("{\"manifest\":1,\"spaces\":1}\n{\"store\":\"x\"}\n", "line 2: no id that is a UUID"),
        ("{\"manifest\":2,\"spaces\":0}\n", "manifest 2, 1 expected"),
    ] {
        std::fs::write(&of_us, text).unwrap();
        let (code, told) = refusal(&["store", "manifest", "--check", &of_us]);
        assert!(code == 2 && told.contains(named), "{text:?}: {told}");
    }
    let (code, told) = refusal(&["store", "manifest", "--check", &us.url]);
    assert!(code == 2 && told.contains("put it in front of --check"), "{told}");
}
