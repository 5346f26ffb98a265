//! `mintage odds`, `capacity`, `size` and `choose`.

use crate::{lines, mintage, refusal};
use proptest::prelude::*;
use serde_json::Value;
use std::process::{Command, Stdio};

const NOW: &str = "2026-11-30T00:00:00Z";

/// The JSON objects of a run that must succeed.
fn objects(args: &[&str]) -> Vec<Value> {
    let args = [args, &["--json"]].concat();
    lines(&args).iter().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

fn object(args: &[&str]) -> Value {
    let mut objects = objects(args);
    assert_eq!(objects.len(), 1, "{args:?}");
    objects.remove(0)
}

fn near(found: &Value, expected: f64) {
    let found = found.as_f64().expect("a number");
    assert!((found / expected - 1.0).abs() < 1e-3, "{found:e} instead of {expected:e}");
}

/// The commands under `Examples:` in the help of a command, as a shell would run them.
fn examples(command: &str) -> Vec<String> {
    let help = lines(&[command, "--help"]);
    let at = help.iter().position(|line| line == "Examples:").expect("a list of examples");
    let listed: Vec<&str> = help[at + 1..].iter().map_while(|line| line.strip_prefix("  ")).collect();
    let text = listed.join("\n").replace("\\\n", " ");
    text.lines().map(str::to_owned).collect()
}

/// Runs a command line that begins with `mintage`.
fn shell(line: &str) -> std::process::Output {
    let folder = std::path::Path::new(env!("CARGO_BIN_EXE_mintage")).parent().expect("a folder");
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap_or_default());
    let mut shell = Command::new("sh");
    shell.args(["-c", line]).env("PATH", path).stdin(Stdio::null());
    shell.output().expect("a shell")
}

#[test]
fn every_example_of_the_help_runs() {
    for command in ["odds", "capacity", "size", "choose"] {
        let examples = examples(command);
        assert!(examples.len() >= 2, "{command}: {examples:?}");
        for example in examples {
            assert!(example.starts_with(&format!("mintage {command} ")), "{example}");
            let output = shell(&example);
            assert!(output.status.success(), "{example}: {}", String::from_utf8_lossy(&output.stderr));
            assert!(!output.stdout.is_empty(), "{example}");
        }
    }
}

/// The documentation's `console` blocks: each command, and what it prints.
fn documented() -> Vec<(String, String)> {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/planning.md");
    let page = std::fs::read_to_string(page).expect("docs/planning.md");
    let mut runs: Vec<(String, String)> = Vec::new();
    for block in page.split("```console\n").skip(1) {
        let mut rest = block.split("```").next().unwrap_or_default().lines();
        while let Some(line) = rest.next() {
            if let Some(command) = line.strip_prefix("$ ") {
                let mut command = command.to_owned();
                while command.ends_with('\\') {
                    command.pop();
                    command.push_str(rest.next().unwrap_or_default());
                }
                runs.push((command, String::new()));
            } else if let Some((_, output)) = runs.last_mut() {
                output.push_str(line);
                output.push('\n');
            }
        }
    }
    runs
}

#[test]
fn documented_outputs_are_real() {
    let runs = documented();
    assert!(runs.len() > 10);
    for (command, expected) in runs {
        let output = shell(&command);
        assert_eq!(String::from_utf8_lossy(&output.stdout), expected, "{command}");
    }
}

#[test]
fn the_next_command_of_every_scheme_runs() {
    for leaf in mintage::choose::SCHEME_LEAVES {
        let mut words = leaf.next.split_whitespace();
        assert_eq!(words.next(), Some("mintage"));
        assert!(!lines(&words.collect::<Vec<&str>>()).is_empty(), "{}", leaf.next);
    }
}

#[test]
fn the_birthday_bound() {
    let rows = objects(&["odds", "--bits", "64,80,122", "--count", "1e9,1e12"]);
    let expected = [0.026_742, 1.0, 4.1359e-7, 0.338_728, 9.4039e-20, 9.4039e-14];
    assert_eq!(rows.len(), expected.len());
    for (row, expected) in rows.iter().zip(expected) {
        near(&row["probability"], expected);
    }
    assert_eq!(rows[1]["count"], "1000000000000");
    near(&rows[1]["expected_pairs"], 27_105.05);
    let half = objects(&["odds", "--bits", "64,80,122", "--at-odds", "50%"]);
    for (row, expected) in half.iter().zip([5.0569e9, 1.2945e12, 2.7149e18]) {
        let count: f64 = row["count"].as_str().unwrap().parse().unwrap();
        assert!((count / expected - 1.0).abs() < 1e-3, "{count}");
    }
    let text = lines(&["odds", "uuid-v4", "--at-odds", "50%"]).join("\n");
    assert!(text.contains("2.71 * 10^18") && text.contains("birthday bound"), "{text}");
}

#[test]
fn a_thousand_servers_with_an_id_a_millisecond() {
    let rows = objects(&["odds", "uuid-v7", "--rate", "1000/ms", "--for", "1y"]);
    near(&rows[0]["probability"], 8.353e-7);
    assert_eq!((&rows[0]["bits"], &rows[1]["bits"]), (&Value::from(74), &Value::from(73)));
    assert_eq!(rows[1]["methods"][0], "counter");
    let each = objects(&["odds", "uuid-v7", "--rate", "1/ms", "--writers", "1000", "--for", "1y"]);
    assert_eq!(each[0]["probability"], rows[0]["probability"]);
    let fixed = object(&["odds", "--bits", "62", "--tick", "1ms", "--rate", "1000/ms", "--for", "1y"]);
    near(&fixed["probability"], 3.4156e-3);
    let text = lines(&["odds", "uuid-v7", "--rate", "1000/ms", "--for", "1y"]).join("\n");
    assert!(text.contains("only ids of one tick can meet") && text.contains("r = 1,000 ids"), "{text}");
}

#[test]
fn odds_backwards() {
    let time = object(&["odds", "ulid", "--rate", "1e6/s", "--at-odds", "1e-6"]);
    near(&time["duration_secs"], 2.4178e9);
    let rate = object(&["odds", "ulid", "--for", "1y", "--at-odds", "1e-6"]);
    near(&rate["ids_per_sec"], 8.753e6);
    let bits = object(&["odds", "--count", "1e12", "--at-odds", "1e-9"]);
    assert_eq!(bits["bits"], 109);
    let processes = object(&["odds", "objectid", "--at-odds", "50%"]);
    near(&processes["count"].as_str().unwrap().parse::<f64>().unwrap().into(), 1.2346e6);
}

#[test]
fn lifetimes_rates_and_workers() {
    let split = object(&["capacity", "41/10/12", "--epoch", "2025-01-01", "--tick", "1ms", "--now", NOW]);
    assert_eq!(split["ends"], "2094-09-07T15:47:35.552Z");
    assert_eq!((&split["workers"], &split["ids_per_tick"]), (&"1024".into(), &"4096".into()));
    near(&split["ids_per_sec"], 4_194_304_000.0);
    let twitter = object(&["capacity", "twitter", "--now", NOW]);
    assert_eq!(twitter["ends"], "2080-07-10T17:30:30.209Z");
    let discord = object(&["capacity", "discord", "--now", NOW]);
    assert_eq!(discord["turns_negative"], "2084-09-06T15:47:35.552Z");
    let v4 = object(&["capacity", "uuid-v4"]);
    assert!(v4["ends"].is_null() && v4["workers"].is_null());
    for scheme in mintage::SCHEMES {
        let args = ["capacity", scheme.name, "--force", "--now", NOW];
        assert!(lines(&args).len() > 1, "{}", scheme.name);
        objects(&args);
    }
}

#[test]
fn counters_run_out_on_a_date() {
    let int4 = object(&["capacity", "--counter", "int4", "--rate", "100/s", "--now", NOW]);
    near(&int4["lasts_secs"], 21_474_836.47);
    assert_eq!(int4["ends"], "2027-08-05T13:13:56Z");
    let text = lines(&["capacity", "--counter", "integer", "--rate", "100/s", "--now", NOW]).join("\n");
    assert!(text.contains("8.17 months"), "{text}");
    let used = ["capacity", "--counter", "int4", "--current", "1.9e9", "--rate", "5e6/day", "--now", NOW];
    assert_eq!(object(&used)["ends"], "2027-01-18T11:55:17Z");
    let far = object(&["capacity", "--counter", "int8", "--rate", "100/s", "--now", NOW]);
    assert!(far["ends"].is_null());
    let stepped = object(&["capacity", "--counter", "int4", "--step", "2", "--rate", "100/s", "--now", NOW]);
    assert_eq!(stepped["left"], "1073741823");
}

#[test]
fn what_ends_within_two_years_is_refused_unless_forced() {
    let split = ["capacity", "28/22/13", "--epoch", "2016-05-19T16:00:00Z", "--tick", "1s"];
    for now in ["2022-11-22", "2024-11-20", "2026-11-30"] {
        let (code, error) = refusal(&[&split[..], &["--now", now]].concat());
        assert_eq!(code, 2);
        assert!(error.contains("2024-11-20T13:24:16Z") && error.contains("--force"), "{error}");
    }
    assert!(!lines(&[&split[..], &["--now", "2022-11-01"]].concat()).is_empty());
    let forced = mintage(&[&split[..], &["--now", NOW, "--force"]].concat());
    assert!(forced.status.success() && String::from_utf8_lossy(&forced.stderr).contains("warning"));
    let (code, error) = refusal(&["capacity", "discord", "--now", "2083-01-01"]);
    assert_eq!(code, 2);
    assert!(error.contains("negative") && error.contains("2084-09-06"), "{error}");
    let (_, error) = refusal(&["capacity", "41/10/12", "--epoch", "2999-01-01", "--now", NOW]);
    assert!(error.contains("future"), "{error}");
}

#[test]
fn regions_have_blocks_of_workers() {
    let split = object(&["capacity", "41/10/12", "--regions", "4", "--now", NOW]);
    let blocks: Vec<(&str, &str)> = split["regions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|block| (block["from_worker"].as_str().unwrap(), block["to_worker"].as_str().unwrap()))
        .collect();
    assert_eq!(blocks, [("0", "255"), ("256", "511"), ("512", "767"), ("768", "1023")]);
    let text = lines(&["capacity", "41/10/12", "--regions", "4", "--now", NOW]).join("\n");
    assert!(text.contains("3: workers 768 to 1023"), "{text}");
}

#[test]
fn suggested_splits_hold_what_was_asked_for() {
    let args =
        ["capacity", "--suggest", "--machines", "200", "--rate", "50000/s", "--years", "30", "--now", NOW];
    let splits = objects(&args);
    assert_eq!(splits[0]["name"], "41/13/9");
    for split in &splits {
        assert!(split["workers"].as_str().unwrap().parse::<u64>().unwrap() >= 200);
        assert!(split["ids_per_sec_per_worker"].as_f64().unwrap() >= 250.0);
        assert!(split["ends"].is_null() || split["ends"].as_str().unwrap() > "2056-11-29");
        let (name, tick) = (split["name"].as_str().unwrap(), format!("{}ns", split["tick_nanos"]));
        assert!(!lines(&["capacity", name, "--tick", &tick, "--now", NOW]).is_empty());
    }
    let text = lines(&args);
    let next = text.iter().find_map(|line| line.strip_prefix("next: mintage ")).unwrap();
    assert!(!lines(&next.split(' ').collect::<Vec<&str>>()).is_empty());
    let (code, error) =
        refusal(&["capacity", "--suggest", "--machines", "1e9", "--rate", "1e9/s", "--years", "300"]);
    assert_eq!(code, 2);
    assert!(error.contains("65 bits"), "{error}");
}

#[test]
fn a_billion_rows_with_five_secondary_indexes() {
    let text = lines(&["size", "--rows", "1e9", "--indexes", "5"]).join("\n");
    for size in ["48 GB", "96 GB", "216 GB"] {
        assert!(text.contains(size), "{text}");
    }
    let sizes = objects(&["size", "--rows", "1e9", "--indexes", "5", "--key", "ulid:text", "--key", "ksuid"]);
    assert_eq!((&sizes[0]["bytes"], &sizes[1]["bytes"]), (&"156000000000".into(), &"120000000000".into()));
}

const SERVICE: [&str; 17] = [
    "choose",
    "--scope",
    "system",
    "--sortable",
    "roughly",
    "--size",
    "64",
    "--coordination",
    "worker",
    "--leaks",
    "everything",
    "--peak-rate",
    "50000/s",
    "--creator",
    "service",
    "--store",
    "b-tree",
];

#[test]
fn answers_lead_to_a_scheme_with_reasons() {
    let chosen = object(&SERVICE);
    assert_eq!((&chosen["scheme"], &chosen["placement"]["leaf"]), (&"snowflake".into(), &"append".into()));
    assert_eq!(chosen["answers"]["peak-rate"], "high");
    assert_eq!(chosen["path"][0]["question"], "creator");
    assert_eq!(chosen["gives_way"].as_array().unwrap().len(), 0);
    let text = lines(&SERVICE).join("\n");
    for part in ["snowflake", "because", "placement", "bigint (PostgreSQL)", "watch", "next"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    // The database implies the kind of store.
    for database in mintage::choose::DATABASES {
        let args = [&SERVICE[..15], &["--database", database.name]].concat();
        let chosen = object(&args);
        assert_eq!(chosen["answers"]["store"], database.store.word());
        assert!(chosen["database"]["natively"].is_string());
        assert!(lines(&args).join("\n").contains("natively"));
    }
    let impossible = object(&[&SERVICE[..7], &["--coordination", "nothing"], &SERVICE[9..]].concat());
    assert_eq!(impossible["scheme"], "uuid-v7");
    assert_eq!(impossible["gives_way"][0]["question"], "size");
    assert!(objects(&["choose", "--charts"])[0]["placement"]["branches"].is_array());
}

#[test]
fn without_a_terminal_missing_answers_are_named_with_their_choices() {
    let (code, error) = refusal(&["choose"]);
    assert_eq!(code, 2);
    for question in &mintage::choose::QUESTIONS {
        let words: Vec<&str> = question.choices.iter().map(|choice| choice.word).collect();
        let line = format!("--{} {}", question.name, words.join("|"));
        assert!(error.contains(&line), "{line}: {error}");
    }
    let (code, error) = refusal(&[&SERVICE[..5], &SERVICE[7..]].concat());
    assert_eq!(code, 2);
    assert!(error.contains("--size 53|64|128") && !error.contains("--scope"), "{error}");
    // Standard input that isn't a terminal is nobody to ask.
    let output = shell("echo 1 | mintage choose");
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn wrong_use_says_what_was_given_and_what_is_expected() {
    for (args, hint) in [
        (&["odds"][..], "--bits"),
        (&["odds", "uuid-v7"], "--count"),
        (&["odds", "uuid-v7", "--rate", "5/s"], "--for"),
        (&["odds", "uuid-v7", "--for", "1y"], "--rate"),
        (&["odds", "uuid-v77", "--count", "5"], "did you mean"),
        (&["odds", "twitter", "--count", "5"], "mintage capacity"),
        (&["odds", "objectid", "--rate", "5/s", "--for", "1y"], "--count PROCESSES"),
        (&["odds", "uuid-v4", "--count", "-5"], "-5"),
        (&["odds", "uuid-v4", "--count", "many"], "10^6, not `many`"),
        (&["odds", "uuid-v7", "--rate", "5", "--for", "1y"], "100/s"),
        (&["odds", "uuid-v7", "--rate", "5/s", "--for", "1m"], "min, h, d"),
        (&["odds", "uuid-v7", "--at-odds", "1"], "50%"),
        (&["odds", "--bits", "0", "--count", "5"], "1 to 512"),
        (&["odds", "--bits", "64", "--rate", "1e300/s", "--for", "1e300y"], "10^38"),
        (&["odds", "uuid-v7", "--method", "conter", "--count", "5"], "monotonic-random"),
        (&["odds", "uuid-v4", "--method", "counter", "--count", "5"], "no choice"),
        (&["odds", "--bits", "64", "--count", "5", "--rate", "5/s"], "cannot be used with"),
        (&["capacity"], "SPLIT|SCHEME"),
        (&["capacity", "41/10"], "sequence"),
        (&["capacity", "41/10/14"], "65 bits"),
        (&["capacity", "twiter"], "snowflake-twitter"),
        (&["capacity", "twitter", "--tick", "1s"], "fixed"),
        (&["capacity", "41/10/12", "--regions", "0"], "1 to 1000"),
        (&["capacity", "40/2/12", "--regions", "5"], "1 to 4"),
        (&["capacity", "ulid", "--regions", "2"], "no workers"),
        (&["capacity", "--counter", "int5"], "`int4`"),
        (&["capacity", "--counter", "int2", "--current", "32768"], "largest value"),
        (&["capacity", "--counter", "int2", "--step", "0"], "1 or more"),
        (&["capacity", "--suggest", "--machines", "2"], "--rate"),
        (&["capacity", "--suggest", "--machines", "0", "--rate", "1/s", "--years", "1"], "1 or more"),
        (&["capacity", "--suggest", "--machines", "1", "--rate", "1/s", "--years", "9999"], "year 10000"),
        (&["size", "--indexes", "5"], "--rows"),
        (&["size", "--rows", "1e9", "--key", "text"], "char(26)"),
        (&["size", "--rows", "2^127", "--indexes", "5"], "2^128"),
        (&["choose", "--scope", "word"], "`world`"),
        (&["choose", "--peak-rate", "5/x"], "100/s"),
        (&["choose", "--database", "oracle"], "postgresql, mysql"),
    ] {
        let (code, error) = refusal(args);
        assert_eq!(code, 2, "{args:?}: {error}");
        assert!(error.contains(hint), "{args:?}: {error}");
    }
}

#[test]
fn extreme_figures_neither_wrap_nor_panic() {
    let counts = ["0", "1", "2", "2^64", "340282366920938463463374607431768211455"];
    let rates = ["1e-300/y", "1e300/ns", "1/s"];
    let spans = ["1ns", "1e300y", "1e-300ns"];
    let check = |args: &[&str]| {
        let output = mintage(args);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(matches!(output.status.code(), Some(0 | 2)), "{args:?}: {stderr}");
        assert!(!stderr.contains("panicked"), "{args:?}: {stderr}");
        let stdout = String::from_utf8_lossy(&output.stdout);
        assert!(!stdout.contains("NaN") && !stdout.contains("-0 "), "{args:?}: {stdout}");
    };
    for rate in rates {
        for span in spans {
            check(&["odds", "--bits", "1,74,512", "--rate", rate, "--for", span]);
            check(&["odds", "--bits", "1,74,512", "--tick", "1ms", "--rate", rate, "--for", span]);
            check(&["odds", "--bits", "74", "--tick", span, "--rate", rate, "--at-odds", "1e-300"]);
        }
        check(&["capacity", "--counter", "uint8", "--rate", rate]);
        check(&[
            "capacity",
            "--suggest",
            "--machines",
            "18446744073709551615",
            "--rate",
            rate,
            "--years",
            "1e-9",
        ]);
        check(&[
            "odds",
            "uuid-v7",
            "--rate",
            rate,
            "--writers",
            "18446744073709551615",
            "--for",
            "1y",
            "--json",
        ]);
    }
    for count in counts {
        check(&["odds", "--bits", "1,64,512", "--count", count, "--for", "1ns", "--tick", "1y"]);
        check(&["odds", "--count", count, "--at-odds", "1e-300"]);
        check(&["odds", "--count", count, "--at-odds", "0.999999", "--json"]);
        check(&["size", "--rows", count, "--indexes", "0"]);
    }
    for split in ["1/1/1", "62/1/1", "1/62/1", "1/1/62"] {
        for tick in ["1ns", "18446744073709551615ns"] {
            for epoch in ["-9999-01-01T00:00:00Z", "9999-12-31T00:00:00Z", "-9223372036854775808ms"] {
                check(&["capacity", split, "--tick", tick, "--epoch", epoch, "--force", "--regions", "2"]);
                check(&["capacity", split, "--tick", tick, "--epoch", epoch, "--now", epoch]);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_argument_makes_planning_panic(
        value in "[ -~é]{0,24}|[0-9.e^/%_-]{1,12}(/(s|ms|y|1e9ns)|y|s|%)?",
        option in prop::sample::select(vec![
            "odds ulid --count", "odds --bits 64 --rate 5/s --for", "odds ulid --for 1y --rate", "odds ulid --at-odds",
            "odds --count 5 --bits", "odds --bits 8 --count 5 --for 1s --tick", "capacity", "capacity --counter int4 --rate",
            "capacity --counter int4 --current", "capacity 41/10/12 --regions", "capacity 41/10/12 --epoch", "capacity 41/10/12 --now",
            "capacity --suggest --machines 5 --rate 5/s --years", "capacity --suggest --years 5 --rate 5/s --machines",
            "size --rows", "size --rows 5 --key", "size --rows 5 --indexes", "choose --scope", "choose --peak-rate", "choose --database",
        ]),
    ) {
        let args: Vec<&str> = option.split(' ').chain([value.as_str()]).collect();
        let output = mintage(&args);
        let stderr = String::from_utf8_lossy(&output.stderr);
        prop_assert!(matches!(output.status.code(), Some(0 | 2)), "{args:?}: {stderr}");
    }
}
