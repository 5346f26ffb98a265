//! What a server tells: metrics, ids of requests, and the files that are made for them.

use crate::site::Site;
use mintage_service::metrics::METRICS;
use mintage_testkit::tool;
use serde_json::Value;
use std::collections::{BTreeSet, HashSet};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

async fn scraped(site: &Site) -> String {
    let (status, head, body) = site.asked("GET /metrics", "", "").await;
    assert!(status == 200 && head.contains("content-type: text/plain; version=0.0.4"), "{head}");
    String::from_utf8(body).unwrap()
}

/// The value of a series, by how its line begins; 0 where there is none.
fn value(text: &str, series: &str) -> f64 {
    let line = text.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' '));
    line.map_or(0.0, |value| value.parse().unwrap())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_handed_out_is_what_was_counted() {
    let site = Site::begin().await;
    for _ in 0..3 {
        site.asked("POST /v1/spaces/counter/ids?count=5", "", "").await;
    }
    site.asked("POST /v1/spaces/default/ids?count=7", "", "").await;
    site.asked("GET /v1/ids/ulid?count=4", "", "").await;
    site.asked("POST /v1/spaces/counter/blocks?count=100", "", "").await;
    site.asked("POST /v1/spaces/nope/ids", "", "").await;
    site.replied(
        b"INCR counter\r\nINCR counter\r\nINCRBY counter 10\r\nINCR nope\r\nMINT default 2\r\nQUIT\r\n",
    )
    .await;
    let text = scraped(&site).await;
    for (series, expected) in [
        ("mintage_space_ids_total{space=\"counter\"}", 15.0 + 100.0 + 12.0),
        ("mintage_space_ids_total{space=\"default\"}", 9.0),
        ("mintage_scheme_ids_total{scheme=\"ulid\"}", 4.0),
        ("mintage_requests_total{result=\"ok\",route=\"/v1/spaces/{space}/ids\",surface=\"http\"}", 4.0),
        (
            "mintage_requests_total{result=\"no-such-space\",route=\"/v1/spaces/{space}/ids\",surface=\"http\"}",
            1.0,
        ),
        ("mintage_requests_total{result=\"ok\",route=\"batch\",surface=\"redis\"}", 5.0),
        ("mintage_requests_total{result=\"no-such-space\",route=\"batch\",surface=\"redis\"}", 1.0),
        ("mintage_lease_events_total{event=\"acquired\",space=\"default\"}", 1.0),
        ("mintage_ready", 1.0),
        ("mintage_host_clock_synchronized", value(&text, "mintage_host_clock_synchronized")),
        ("mintage_k_sorting_bound_seconds{space=\"default\"}", 11.0),
    ] {
        assert!((value(&text, series) - expected).abs() < 1e-9, "{series}: {}\n{text}", value(&text, series));
    }
    let window = value(&text, "mintage_window_remaining_seconds{space=\"default\"}");
    assert!((10.0..=31.0).contains(&window), "{window}");
    assert!(value(&text, "mintage_store_clock_offset_seconds{space=\"default\"}").abs() < 5.0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_store_knows_is_told_without_asking_it() {
    let site = Site::begin().await;
    site.asked("POST /v1/spaces/default/ids", "", "").await;
    site.asked("POST /v1/spaces/counter/ids", "", "").await;
    // It is looked at now and then.
    site.look().await;
    let text = scraped(&site).await;
    for (series, least, most) in [
        ("mintage_store_up", 1.0, 1.0),
        ("mintage_workers_free{space=\"default\"}", 1022.0, 1023.0),
        ("mintage_space_on_hold{space=\"default\"}", 0.0, 0.0),
        ("mintage_headroom_ratio{space=\"default\",what=\"time-field\"}", 0.1, 1.0),
        ("mintage_headroom_seconds{space=\"default\",what=\"time-field\"}", 1e8, 1e10),
        ("mintage_headroom_ratio{space=\"counter\",what=\"counter\"}", 0.99, 1.0),
    ] {
        assert!(text.contains(series) && (least..=most).contains(&value(&text, series)), "{series}\n{text}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_clients_make_up_is_no_series() {
    let site = Site::begin().await;
    for at in 0..200 {
        site.asked(&format!("POST /v1/spaces/made-up-{at}/ids"), "", "").await;
        site.asked(&format!("GET /made/up/{at}"), "", "").await;
        site.asked(&format!("GET /v1/ids/made-up-{at}"), "", "").await;
    }
    let names: String = (0..200).map(|at| format!("INCR made-up-{at}\r\n")).collect();
    site.replied(format!("{names}QUIT\r\n").as_bytes()).await;
    let text = scraped(&site).await;
    assert!(!text.contains("made"), "{text}");
    assert!(text.lines().count() < 500, "{}", text.lines().count());
    assert!(
        (value(&text, "mintage_requests_total{result=\"no-such-route\",route=\"other\",surface=\"http\"}")
            - 200.0)
            .abs()
            < 1e-9
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_have_ids() {
    let site = Site::begin().await;
    let (_, head, body) = site.asked("POST /v1/spaces/nope/ids", "X-Request-Id: abc-1\r\n", "").await;
    let body: Value = serde_json::from_slice(&body).unwrap();
    assert!(head.contains("x-request-id: abc-1") && body["request_id"] == "abc-1", "{head} {body}");
    let (_, head, _) = site.asked("GET /healthz", "X-Request-Id: a b\r\n", "").await;
    let id = head.lines().find_map(|line| line.strip_prefix("x-request-id: ")).unwrap();
    assert_eq!(id.len(), 36, "{head}");
}

/// Words of a text that are names of metrics, without what a histogram adds.
fn named(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    let words = words.filter(|word| word.starts_with("mintage_"));
    words.map(|word| word.trim_end_matches("_bucket").to_owned()).collect()
}

#[test]
fn alerts_and_the_board_ask_for_metrics_that_there_are() {
    let known: HashSet<&str> = METRICS.iter().map(|metric| metric.name).collect();
    let board: Value = serde_json::from_str(&read("ops/grafana.json")).unwrap();
    let mut queries = Vec::new();
    for panel in board["panels"].as_array().unwrap() {
        for target in panel["targets"].as_array().into_iter().flatten() {
            queries.push(target["expr"].as_str().unwrap().to_owned());
        }
    }
    assert!(queries.len() > 20);
    for query in &queries {
        let named = named(query);
        assert!(!named.is_empty() && named.iter().all(|name| known.contains(name.as_str())), "{query}");
    }
    let first = board["panels"].as_array().unwrap().iter().find(|panel| panel["type"] != "row").unwrap();
    assert!(first["title"].as_str().unwrap().contains("worst first"));
    assert!(
        queries[0].starts_with("sort(") && queries[0].contains("mintage_headroom_seconds"),
        "{}",
        queries[0]
    );
    let alerts = named(&read("ops/alerts.yml"));
    assert!(alerts.len() > 10 && alerts.iter().all(|name| known.contains(name.as_str())), "{alerts:?}");
    let shown: BTreeSet<String> = queries.iter().flat_map(|query| named(query)).collect();
    let hidden: Vec<&&str> = known.iter().filter(|name| !shown.contains(**name)).collect();
    assert!(hidden.is_empty(), "not on the board: {hidden:?}");
}

#[test]
fn every_alert_has_a_test_and_an_entry_in_the_runbook() {
    let (alerts, tests, runbook) =
        (read("ops/alerts.yml"), read("ops/alerts_test.yml"), read("docs/runbook.md"));
    let names: Vec<&str> = alerts.lines().filter_map(|line| line.trim().strip_prefix("- alert: ")).collect();
    assert!(names.len() >= 15);
    for name in names {
        assert!(
            tests.contains(&format!("\"{name} fires\"")) && tests.contains(&format!("\"{name} is quiet\"")),
            "{name}"
        );
        assert!(runbook.contains(&format!("\n## {name}\n")), "{name}");
        assert!(alerts.contains(&format!("runbook: docs/runbook.md#{}\n", name.to_lowercase())), "{name}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn promtool_takes_the_alerts_and_a_scrape() {
    if !tool::has("promtool") {
        return;
    }
    let run = |args: &[&str], input: &str| {
        let mut child = Command::new("promtool")
            .args(args)
            .current_dir(root())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        let said =
            [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
        assert!(output.status.success(), "promtool {args:?}: {said}");
        said
    };
    run(&["check", "rules", "--lint-fatal", "ops/alerts.yml"], "");
    run(&["test", "rules", "ops/alerts_test.yml"], "");
    let site = Site::begin().await;
    site.asked("POST /v1/spaces/default/ids", "", "").await;
    site.asked("POST /v1/spaces/counter/ids", "", "").await;
    site.look().await;
    assert_eq!(run(&["check", "metrics"], &scraped(&site).await), "");
}
