//! `mintage store` and `mintage mint`: what they refuse, what they warn of, and what they say.

use crate::store::{Place, SPLIT};
use crate::{lines, mintage, refusal};
use mintage::time::pause;
use mintage::{Clock, SystemClock};
use mintage_testkit::signal;
use serde_json::Value;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::process::{Child, Command, Stdio};

fn stdout(args: &[&str]) -> String {
    lines(args).join("\n")
}

const SECOND: u64 = 1_000_000_000;

/// Standard output and error of a run that must succeed.
fn both(args: &[&str]) -> (String, String) {
    let output = mintage(args);
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let told = text(output.stderr);
    assert!(output.status.success(), "{args:?}: {told}");
    (text(output.stdout), told)
}

#[test]
fn a_rate_beyond_all_machines_is_no_rate() {
    let place = Place::new("rate", SPLIT);
    for rate in ["1e300/s", "1e19/s"] {
        assert_eq!(place.mint(&["--rate", rate, "-n", "100"]).len(), 100);
    }
}

#[test]
fn flags_of_the_other_kind_are_refused_and_not_ignored() {
    let place = Place::new("kinds", SPLIT);
    let create = |kind: &[&str], flag: &str, value: &str| {
        let args = [&["store", "create", &place.url, "a"], kind, &[flag, value]].concat();
        let (code, text) = refusal(&args);
        assert!(code == 2 && text.contains(flag), "{args:?}: {text}");
    };
    for (flag, value) in
        [("--first", "5"), ("--last", "6"), ("--step", "2"), ("--offset", "1"), ("--size", "3")]
    {
        create(&["--snowflake", "twitter"], flag, value);
    }
    for (flag, value) in [
        ("--epoch", "2025-01-01"),
        ("--tick", "1ms"),
        ("--workers", "0..9"),
        ("--window", "30s"),
        ("--renew", "10s"),
        ("--max-ahead", "30s"),
        ("--max-lag", "5s"),
        ("--max-lead", "1s"),
        ("--max-store-skew", "5s"),
        ("--host-quota", "3"),
    ] {
        create(&["--block"], flag, value);
    }
    stdout(&["store", "create", &place.url, "counter", "--block"]);
    for (flag, value) in [("--leases", "1"), ("--spent", "wait"), ("--start", "rolling")] {
        let (code, text) = refusal(&["mint", "--store", &place.url, "counter", "-n", "1", flag, value]);
        assert!(code == 2 && text.contains(flag) && text.contains("is a counter"), "{text}");
    }
}

#[test]
fn another_restart_hold_than_the_space_has_is_said() {
    let place = Place::new("restart", SPLIT);
    let create = [&["store", "create", &place.url, "orders"], SPLIT].concat();
    let (code, text) = refusal(&[&create[..], &["--restart-hold", "off"]].concat());
    let next = format!("mintage store restart-hold {} orders --set off", place.url);
    assert!(code == 2 && text.contains(&next), "{text}");
    assert_eq!(place.json("show")[0]["restart_hold"], true);
    stdout(&["store", "restart-hold", &place.url, "orders", "--set", "off"]);
    for same in [&create[..], &[&create[..], &["--restart-hold", "off"]].concat()] {
        assert!(stdout(same).contains("is there already"));
    }
    assert_eq!(refusal(&[&create[..], &["--restart-hold", "on"]].concat()).0, 2);
}

#[test]
fn lengths_that_are_no_whole_nanoseconds_and_ranges_with_signs_are_refused() {
    let place = Place::new("lengths", SPLIT);
    for (flag, value, expected) in [
        ("--max-store-skew", "1e-12s", "nanoseconds"),
        ("--window", "30.0000000001s", "nanoseconds"),
        ("--window", "1500us", "at least two ticks, 2 ms; 1500 us was given"),
        ("--workers", "+0..=+5", "0..1023"),
    ] {
        let args = [&["store", "create", &place.url, "a"], SPLIT, &[flag, value]].concat();
        let (code, text) = refusal(&args);
        assert!(code == 2 && text.contains(expected), "{args:?}: {text}");
    }
    assert_eq!(refusal(&["store", "burn-worker", &place.url, "orders", "+5"]).0, 2);
}

#[test]
fn fewer_leases_than_wanted_are_told_with_the_quota() {
    let place = Place::new("fewer", &[SPLIT, &["--host-quota", "2"]].concat());
    let file = place.folder.file("events.ndjson");
    let (ids, told) =
        both(&["mint", "--store", &place.url, "orders", "-n", "3", "--leases", "5", "--events", &file]);
    assert_eq!(ids.lines().count(), 3);
    let expected = "2 leases were granted, 5 were wanted";
    assert!(told.contains(expected) && told.contains("host_quota"), "{told}");
    let events = fs::read_to_string(&file).unwrap();
    assert!(
        events.lines().any(|line| line.contains("acquire-failed") && line.contains(expected)),
        "{events}"
    );
    let (_, told) = both(&["mint", "--store", &place.url, "orders", "-n", "3", "--leases", "2"]);
    assert_eq!(told, "");
}

/// Waits until the process has said what it does at SIGTERM.
#[cfg(target_os = "linux")]
fn wait_for_handlers(child: &Child) {
    const TERM: u64 = 1 << 14;
    let path = format!("/proc/{}/status", child.id());
    let begun = SystemClock.boottime_nanos();
    loop {
        let status = fs::read_to_string(&path).unwrap();
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap();
        if u64::from_str_radix(caught.trim(), 16).unwrap() & TERM != 0 {
            return;
        }
        assert!(SystemClock.boottime_nanos() - begun < 20 * SECOND);
        pause(5_000_000);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_signal_ends_a_start_that_waits_for_the_store() {
    for kind in [SPLIT, &["--block"]] {
        let place = Place::new("blocked", kind);
        let side_car = fs::File::open(place.folder.file("ids.db-serial")).unwrap();
        side_car.lock().unwrap();
        for send in [signal::terminate, signal::interrupt] {
            let (mut child, _out) = place.spawn(&["-n", "1"]);
            wait_for_handlers(&child);
            let begun = SystemClock.boottime_nanos();
            send(child.id()).unwrap();
            assert!(child.wait().unwrap().success());
            let passed = SystemClock.boottime_nanos() - begun;
            assert!(passed < 5 * SECOND, "{passed} ns");
        }
    }
}

#[test]
fn a_counter_is_moved_to_its_last_value_at_most_and_says_where_it_is() {
    let place = Place::new("bump", &["--block", "--last", "100"]);
    for how in [["--to", "1000000"], ["--to", "101"], ["--by", "100"]] {
        let (code, text) = refusal(&[&["store", "bump", &place.url, "orders"], &how[..]].concat());
        assert!(code == 2 && text.contains("its last value is 100"), "{text}");
    }
    assert!(
        stdout(&["store", "bump", &place.url, "orders", "--to", "100"]).contains("the next value is 100")
    );
    assert_eq!(place.mint(&["-n", "1"]), ["100"]);
}

#[test]
fn a_counter_on_hold_says_how_it_goes_on() {
    let place = Place::new("stopped", &["--block"]);
    let told = stdout(&["store", "hold", &place.url, "orders"]);
    let (code, refused) = refusal(&["mint", "--store", &place.url, "orders", "-n", "1"]);
    let help = stdout(&["store", "hold", "--help"]);
    assert_eq!(code, 3);
    for text in [&told, &refused, &help] {
        assert!(text.contains("store bump") && text.contains("store release-hold"), "{text}");
    }
    assert!(refused.contains("an operator put it on hold"), "{refused}");
    stdout(&["store", "release-hold", &place.url, "orders"]);
    assert_eq!(place.mint(&["-n", "1"]), ["1"]);
    let windows = Place::new("held", SPLIT);
    assert!(stdout(&["store", "hold", &windows.url, "orders"]).contains("it passes by itself"));
    assert!(stdout(&["store", "burn-worker", "--help"]).contains("dropped and created again"));
}

#[test]
fn numbers_of_64_bits_are_texts_in_json() {
    let windows = Place::new("json", SPLIT);
    let counter = Place::new("json-counter", &["--block"]);
    let mut objects = Vec::new();
    for place in [&windows, &counter] {
        let file = place.folder.file("events.ndjson");
        place.mint(&["-n", "1", "--events", &file]);
        objects.extend(fs::read_to_string(&file).unwrap().lines().map(str::to_owned));
        objects.extend(lines(&["store", "show", &place.url, "orders", "--json"]));
        objects.extend(lines(&["store", "list", &place.url, "--json"]));
    }
    objects.extend(lines(&["store", "workers", &windows.url, "orders", "--json"]));
    assert!(objects.len() > 8, "{objects:?}");
    for text in objects {
        let object: Value = serde_json::from_str(&text).unwrap();
        for (name, value) in object.as_object().unwrap() {
            // Counts of rows.
            let is_small = ["workers_granted", "workers_held"].contains(&name.as_str());
            assert!(!value.is_number() || is_small, "{name}: {text}");
        }
    }
}

/// A space of 2^41 ms whose time field ends in so many days.
fn ending_in(test: &str, days: i128) -> (Place, String) {
    let epoch = (1 << 41) - (SystemClock.now().0 / 1_000_000 + days * 86_400_000);
    let epoch = format!("--epoch=-{epoch}ms");
    let place = Place::new(test, &[SPLIT, &[&epoch, "--host-quota", "9"]].concat());
    let told =
        both(&[&["store", "create", &place.url, "orders"], SPLIT, &[&epoch, "--host-quota", "9"]].concat()).1;
    (place, told)
}

#[test]
fn rule_7_the_end_of_the_time_field_is_shown_and_warned_of() {
    let (place, told) = ending_in("ending", 300);
    assert!(
        told.contains("warning: orders: the time field ends at") && told.contains(" days; make a space"),
        "{told}"
    );
    let shown = place.json("show").remove(0);
    let ends = shown["ends"].as_str().unwrap();
    assert!(mintage::UnixNanos::parse(ends).is_ok());
    assert!(stdout(&["store", "list", &place.url]).contains(&format!("until {ends}")));
    let all = ["--warn", "100%", "--fail", "100%"];
    let checked = stdout(&[&["store", "check", &place.url][..], &all].concat());
    assert!(
        checked.contains("warn  time field: orders: ") && checked.contains("the time field ends at"),
        "{checked}"
    );
    let (_, told) = both(&["mint", "--store", &place.url, "orders", "-n", "1"]);
    assert!(told.contains("time-field-ends") && told.contains(ends), "{told}");

    let (place, _) = ending_in("ending-soon", 20);
    let output = mintage(&[&["store", "check", &place.url][..], &all].concat());
    let checked = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(checked.contains("bad   time field: orders"), "{checked}");

    let place = Place::new("ending-far", SPLIT);
    let (checked, told) = both(&["store", "check", &place.url, "--json"]);
    assert!(
        told.is_empty() && checked.contains(r#""what":"time field","good":true,"warning":false"#),
        "{checked}"
    );
    assert_eq!(both(&["mint", "--store", &place.url, "orders", "-n", "1"]).1, "");
}

#[test]
fn rule_10_a_store_in_a_file_is_written_through_to_the_disk() {
    let place = Place::new("synchronous", SPLIT);
    let checked = stdout(&["store", "check", &place.url]);
    assert!(checked.contains("synchronous 2"), "{checked}");
}

#[test]
fn a_url_without_the_words_behind_it_says_what_is_missing() {
    for (args, what) in [
        (&["store", "show", "sqlite:ids.db"][..], "the space's name"),
        (&["store", "bump", "postgres://me:secret@host/db", "--by", "1"], "the space's name"),
        (&["store", "burn-worker", "sqlite:ids.db", "orders"], "the space's name and the worker"),
    ] {
        let (code, text) = refusal(args);
        assert!(code == 2 && text.contains(&format!("is the store's URL; give {what} behind it")), "{text}");
        assert!(!text.contains("secret"), "{text}");
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_mintage"));
    command.args(["store", "list"]).env("MINTAGE_STORE", std::ffi::OsStr::from_bytes(b"sqlite:\xff.db"));
    let output = command.output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(2) && told.contains("MINTAGE_STORE isn't UTF-8"), "{told}");
}

/// Runs the command with standard output as a shell is told.
fn with_output(redirect: &str, args: &[&str]) -> (Option<i32>, String) {
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!(r#"exec "$0" "$@" {redirect}"#), env!("CARGO_BIN_EXE_mintage")]).args(args);
    let output = shell.stdin(Stdio::null()).output().unwrap();
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

#[cfg(any(target_os = "linux", target_os = "macos"))]
#[test]
fn no_id_is_made_where_nobody_could_have_it() {
    let place = Place::new("closed", SPLIT);
    let mint = &["mint", "--store", &place.url, "orders", "-n", "1"][..];
    let list = &["store", "list", &place.url][..];
    for redirect in [">&-", "1</dev/null"] {
        for args in [mint, list, &["new", "uuid-v7"]] {
            let (code, told) = with_output(redirect, args);
            assert!(
                code == Some(3) && told.contains("standard output is closed"),
                "{redirect} {args:?}: {told}"
            );
        }
    }
    assert!(place.json("workers").is_empty());
    for redirect in [">/dev/null", "1<>/dev/null"] {
        assert_eq!(with_output(redirect, mint), (Some(0), String::new()));
    }
}
