//! `mintage new`.

use crate::{lines, mintage, refusal};
use mintage::scheme::Coordination;
use std::collections::HashSet;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

#[test]
fn every_minted_scheme_gives_ids_that_it_reads_back() {
    for scheme in mintage::SCHEMES {
        let mut args = vec!["new", scheme.name, "-n", "3000"];
        if scheme.max_worker().is_some() {
            args.extend(["--worker", "5"]);
        }
        if scheme.generator.is_none() || scheme.facts.coordination == Coordination::SameInput {
            continue;
        }
        if scheme.name == "uid-generator" {
            args.extend(["--epoch", "2025-01-01"]);
        }
        let ids = lines(&args);
        assert_eq!(ids.len(), 3000);
        let distinct: HashSet<&String> = ids.iter().collect();
        assert_eq!(distinct.len(), 3000, "{} repeats itself", scheme.name);
        for id in &ids {
            assert_eq!(scheme.print(scheme.parse(id).unwrap()).as_str(), id);
        }
        if scheme.facts.sortable == mintage::scheme::Sortable::Strictly {
            assert!(ids.is_sorted_by_key(|id| scheme.parse(id).unwrap()), "{}", scheme.name);
        }
    }
}

#[test]
fn constants_and_names() {
    assert_eq!(lines(&["new", "uuid-nil"]), ["00000000-0000-0000-0000-000000000000"]);
    assert_eq!(lines(&["new", "uuid-max"]), ["ffffffff-ffff-ffff-ffff-ffffffffffff"]);
    let named = ["new", "uuid-v5", "--namespace", "dns", "--name", "www.example.com", "--name", "python.org"];
    assert_eq!(
        lines(&named),
        ["2ed6657d-e927-568b-95e1-2665a8aea6a2", "886313e1-3b8a-5372-9b90-0c9aee199e5d"]
    );
    let space = "6ba7b810-9dad-11d1-80b4-00c04fd430c8";
    assert_eq!(
        lines(&["new", "uuid-v3", "--namespace", space, "--name", "www.example.com"]),
        ["5df41881-3aed-3515-88a7-2f4a814cf09e"]
    );
    let custom = ["new", "uuid-v8", "--data", "0f0e0d0c0b0a09080706050403020100"];
    assert_eq!(lines(&custom), ["0f0e0d0c-0b0a-8908-8706-050403020100"]);
}

#[test]
fn a_given_time_is_the_time_in_the_id() {
    let v7 = lines(&["new", "uuid-v7", "--at", "2022-02-22T19:22:22Z"]);
    assert!(v7[0].starts_with("017f22e2-79b0-7"), "{v7:?}");
    let ulid = lines(&["new", "ulid", "--at", "2016-07-30T22:36:16.385Z"]);
    assert!(ulid[0].starts_with("01ARYZ6S41"), "{ulid:?}");
    let epoch = ["new", "twitter", "--worker", "0", "--at", "1288834974657ms", "--start", "zero"];
    assert_eq!(lines(&epoch), ["0"]);
    let later = ["new", "snowflake-twitter", "--worker", "33", "--at", "1600000000000ms", "--start", "zero"];
    assert_eq!(lines(&[&later[..], &["-n", "2"]].concat())[1], "1305120710456381441");
}

#[test]
fn custom_splits() {
    let args = ["new", "snowflake", "--layout", "t39/s8/w16", "--tick", "10ms", "--epoch", "2014-09-01"];
    let at = ["--worker", "513", "--at", "2026-09-16T03:33:20Z", "--start", "zero", "-n", "8"];
    assert_eq!(lines(&[&args[..], &at[..]].concat())[7], "637534208000459265");
    for (split, part) in [
        ("41/10/14", "65 bits"),
        ("41/10", "sequence"),
        ("41/ten/12", "part 2"),
        ("41/0/12", "worker has 0 bits"),
        ("", "part 1"),
    ] {
        let (code, error) = refusal(&["new", "snowflake", "--layout", split, "--worker", "1"]);
        assert_eq!(code, 2);
        assert!(error.contains(part), "{split}: {error}");
    }
    let (code, error) = refusal(&["new", "snowflake", "--epoch", "2999-01-01", "--worker", "1"]);
    assert_eq!(code, 2);
    assert!(error.contains("future"), "{error}");
    let (code, error) = refusal(&["new", "snowflake-twitter", "--layout", "41/10/12", "--worker", "1"]);
    assert_eq!(code, 2);
    assert!(error.contains("snowflake"), "{error}");
}

#[test]
fn wrong_use_exits_with_2_and_the_nearest_right_thing() {
    for (args, hint) in [
        (&["new", "uuidv77"][..], "uuid-v7"),
        (&["new", "ulidd"], "`ulid`"),
        (&["new", "snowflake-twitter"], "--worker W (0 to 1023)"),
        (&["new", "snowflake-twitter", "--worker", "1024"], "0 to 1023"),
        (&["new", "snowflake-twitter", "--worker", "-1"], "whole number"),
        (&["new", "ulid", "--worker", "1"], "no worker field"),
        (&["new", "uuid-v7", "--method", "counters"], "counter, monotonic-random, sub-millisecond"),
        (&["new", "uuid-v4", "--method", "counter"], "no choice"),
        (&["new", "ulid", "--form", "base64"], "crockford32, hex, decimal"),
        (&["new", "uuid-v5"], "--namespace"),
        (&["new", "uuid-v5", "--name", "x"], "--namespace"),
        (&["new", "uuid-v5", "--namespace", "dnss", "--name", "x"], "dns, url, oid, x500"),
        (&["new", "uuid-v4", "--name", "x"], "uuid-v5"),
        (&["new", "ulid", "--spent", "fail"], "snowflake-twitter"),
        (&["new", "ulid", "--buckets", "3"], "hash-prefixed"),
        (&["new", "ulid", "--prefix", "user"], "typeid"),
        (&["new", "typeid", "--prefix", "User"], "character 1"),
        (&["new", "uid-generator", "--worker", "1", "--at", "2026-01-01"], "2024-11-20"),
        (&["new", "hash-prefixed", "--buckets", "0"], "1..=65536"),
        (&["new", "uuid-v4", "--at", "2025-01-01"], "no time field"),
        (&["new", "uuid-v8", "--data", "xyz"], "32 hex digits"),
        (&["new", "uuid-v2"], "read"),
        (&["new", "ulid", "--at", "tomorrow"], "RFC 3339"),
        (&["new", "twitter", "--worker", "1", "--at", "2001-01-01"], "before the epoch"),
        (&["new", "objectid", "--at", "2200-01-01"], "2106-02-07"),
        (&["new", "ulid", "-n", "1e3"], "whole number"),
        (&["new"], "SCHEME"),
        (&["nwe", "ulid"], "new"),
    ] {
        let (code, error) = refusal(args);
        assert_eq!(code, 2, "{args:?}: {error}");
        assert!(error.contains(hint), "{args:?}: {error}");
    }
    // A wall clock past the end of a time field is nothing that the caller did wrong.
    let (code, error) = refusal(&["new", "uid-generator", "--worker", "1"]);
    assert_eq!(code, 3);
    assert!(error.contains("2024-11-20"), "{error}");
}

#[test]
fn placed_ids_land_where_they_are_told() {
    let prefixes = |args: &[&str]| lines(args).iter().map(|id| id[..4].to_owned()).collect::<Vec<_>>();
    let blocks = ["new", "sequential-uuid-counter", "-n", "8", "--block-size", "2", "--block-count", "3"];
    assert_eq!(prefixes(&blocks), ["0000", "0000", "0001", "0001", "0002", "0002", "0000", "0000"]);
    let time = ["new", "sequential-uuid-time", "--interval", "10s", "--at", "1970-01-01T00:01:05Z"];
    assert_eq!(prefixes(&time), ["0006"]);
    let buckets: HashSet<String> =
        prefixes(&["new", "hash-prefixed", "-n", "500", "--buckets", "4"]).into_iter().collect();
    assert_eq!(buckets.len(), 4);
    assert_eq!(lines(&["new", "spanner-bit-reversed", "--first", "2", "-n", "2"])[0], "2305843009213693952");
    assert!(lines(&["new", "typeid", "--prefix", "user"])[0].starts_with("user_01"));
    for id in lines(&["new", "cosid-safe-js", "--worker", "7", "-n", "100"]) {
        assert!(id.parse::<u64>().unwrap() < 1 << 53, "{id}");
    }
}

#[test]
fn a_reader_that_leaves_ends_a_billion_ids_silently() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_mintage"))
        .args(["new", "uuid-v7", "-n", "1000000000"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut reader = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    reader.read_line(&mut line).unwrap();
    assert_eq!(line.len(), 37);
    drop(reader);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    assert!(output.stderr.is_empty());
}

#[test]
fn forms_and_json() {
    let urn = lines(&["new", "uuid-v4", "--form", "urn"]);
    assert!(urn[0].starts_with("urn:uuid:"));
    assert_eq!(lines(&["new", "ksuid", "--form", "hex"])[0].len(), 40);
    let json: serde_json::Value =
        serde_json::from_str(&lines(&["new", "twitter", "--worker", "1", "--json"])[0]).unwrap();
    assert_eq!(json["scheme"], "snowflake-twitter");
    assert!(json["id"].is_string());
    assert!(mintage(&["new", "ulid", "-n", "0"]).stdout.is_empty());
}
