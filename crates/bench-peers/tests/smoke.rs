//! Every operation runs, and each form of the report shows what was measured.

use mintage_bench::timing::Effort;
use mintage_bench_peers::operations::OPERATIONS;
use mintage_bench_peers::outcome::{Measured, Selection, measure, names};
use mintage_bench_peers::{picture, report};
use serde_json::Value;
use std::collections::BTreeSet;
use std::process::Command;

fn smoke(only: &[&str]) -> Measured {
    let only: Vec<_> = only.iter().map(ToString::to_string).collect();
    measure(&Selection::new(&only).expect("the names are those of operations"), Effort::SMOKE)
}

#[test]
fn every_operation_runs_and_every_report_shows_it() {
    let measured = smoke(&[]);
    assert_eq!(measured.outcomes.len(), OPERATIONS.len());
    for outcome in &measured.outcomes {
        let rows = [&outcome.ours].into_iter().chain(&outcome.peers);
        for row in rows {
            assert!(row.ns.is_finite() && row.ns > 0.0, "{}: {row:?}", outcome.operation.name);
            assert_eq!(row.threads, outcome.operation.threads, "{}", outcome.operation.name);
        }
    }
    let (table, page, svg) =
        (report::table(&measured), report::markdown(&measured), picture::draw(&measured));
    for operation in OPERATIONS {
        for text in [&table, &page, &svg] {
            assert!(text.contains(operation.name), "{} is missing", operation.name);
        }
    }
}

#[test]
fn names_and_pairs_of_operation_and_peer_are_unique_and_versions_known() {
    let names = names();
    assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len());
    for operation in OPERATIONS {
        let peers: BTreeSet<_> = operation.rivals.iter().map(|rival| rival.peer.name).collect();
        assert_eq!(peers.len(), operation.rivals.len(), "{}", operation.name);
        for rival in operation.rivals {
            let version = rival.peer.version();
            assert!(version.starts_with(|c: char| c.is_ascii_digit()), "{}: {version}", rival.peer.name);
        }
    }
}

#[test]
fn a_line_of_json_names_the_operation_the_peer_and_the_ratio() {
    let text = report::json(&smoke(&["mint uuid-v4", "limit: read the clock"]));
    let rows: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let seen: Vec<_> =
        rows.iter().map(|row| (row["operation"].as_str().unwrap(), row["peer"].as_str())).collect();
    let expected = [
        ("mint uuid-v4", Some("uuid")),
        ("mint uuid-v4", Some("uuid without fast-rng")),
        ("limit: read the clock", None),
    ];
    assert_eq!(seen, expected);
    let first: Vec<_> = text.lines().next().unwrap().split('"').skip(1).step_by(2).collect();
    assert_eq!(first[..2], ["operation", "mint uuid-v4"]);
    for row in &rows[..2] {
        let (ours, peer) = (row["ours_ns"].as_f64().unwrap(), row["peer_ns"].as_f64().unwrap());
        assert!((row["ratio"].as_f64().unwrap() - ours / peer).abs() < 0.01 * ours / peer, "{row}");
        assert!(row["peer_version"].is_string() && row["threads"] == 1, "{row}");
    }
    assert_eq!(rows[0]["target"], 0.5);
    assert!(rows[1]["target"].is_null() && rows[2]["ours_ns"].is_number() && rows[2]["ratio"].is_null());
}

#[test]
fn only_what_is_named_is_measured() {
    let measured = smoke(&["parse uuid"]);
    let operations: Vec<_> = measured.outcomes.iter().map(|outcome| outcome.operation.name).collect();
    assert_eq!((operations, measured.limits.len()), (vec!["parse uuid"], 0));
}

#[test]
fn an_unknown_name_is_wrong_use_and_lists_the_names() {
    let output =
        Command::new(env!("CARGO_BIN_EXE_mintage-bench-peers")).args(["--only", "uuid-v9"]).output().unwrap();
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0));
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(message.contains("`uuid-v9`"), "{message}");
    assert!(names().iter().all(|name| message.contains(name)), "{message}");
}
