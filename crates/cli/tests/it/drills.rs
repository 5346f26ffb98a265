//! Drills that need no server.

use crate::{mintage, refusal};
use serde_json::Value;

fn lines(args: &[&str]) -> (i32, Vec<Value>) {
    let output = mintage(args);
    let text = String::from_utf8(output.stdout).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    (output.status.code().unwrap(), lines)
}

#[test]
fn a_clock_that_goes_back_makes_none_but_the_naive_generator_repeat_itself() {
    let svg = std::env::temp_dir().join(format!("mintage-clock-{}.svg", std::process::id()));
    let steps = ["drill", "clock", "--steps", "100ms,200ms", "--observe", "500ms", "--json", "--svg"];
    let (code, lines) = lines(&[&steps[..], &[svg.to_str().unwrap()]].concat());
    let of = |event: &str| lines.iter().filter(|line| line["event"] == event).collect::<Vec<_>>();
    assert_eq!(of("course").len(), 10);
    for course in of("course") {
        let naive = course["generator"] == "naive";
        assert!(naive || course["duplicates"] == "0", "{course}");
        assert!(course["ids"].as_str().unwrap().parse::<u64>().unwrap() > 0, "{course}");
        // What refuses is refused: else the clock didn't go back.
        assert!(course["generator"] != "refuse" || course["refused"] != "0", "{course}");
        assert!(course["generator"] != "wait" || course["outage_ms"].as_f64().unwrap() > 50.0, "{course}");
    }
    let [result] = of("result")[..] else { panic!("one result") };
    assert_eq!(
        (code, &result["good"], &result["duplicates"]),
        (0, &Value::Bool(true), &"0".into()),
        "{result}"
    );
    let picture = std::fs::read_to_string(&svg).unwrap();
    std::fs::remove_file(svg).unwrap();
    assert!(picture.starts_with("<svg") && picture.contains("clock back by 200 ms"), "{picture}");
}

#[test]
fn a_drill_says_what_it_will_do_and_refuses_what_it_cannot() {
    let (code, lines) = lines(&["drill", "clock", "--dry-run", "--json"]);
    assert!(code == 0 && lines.len() == 1 && lines[0]["event"] == "plan", "{lines:?}");
    for (args, what) in [
        (&["drill", "clock", "--steps", "5"][..], "5"),
        (&["drill", "pause", "nope:x"], "no store has such a URL"),
        (&["drill", "crash", "sqlite:x.db", "--window", "100ms"], "at least 600 ms"),
        (&["drill", "clock", "--steps", "401d"], "at most 400 d"),
        (&["drill", "clock", "--observe", "1h"], "at most 10 min"),
        (&["drill", "clock", "--steps", "1s,1s,1s,1s,1s,1s,1s,1s,1s"], "9 steps given"),
    ] {
        let (code, text) = refusal(args);
        assert!(code == 2 && text.contains(what), "{text}");
    }
}

#[test]
fn processes_of_a_drill_are_killed_in_a_scratch_space_that_is_dropped() {
    let folder = crate::facade::Folder::new("drill-crash");
    let url = format!("sqlite:{}", folder.file("ids.db"));
    let drill = ["drill", "crash", &url, "--for", "1s", "--window", "900ms", "--processes", "3", "--json"];
    let (code, lines) = lines(&drill);
    let result = lines.last().unwrap();
    assert!(code == 0 && result["event"] == "result" && result["duplicates"] == 0, "{lines:?}");
    assert!(
        result["ids"].as_u64().unwrap() > 0 && result["faults"]["all-killed"]["times"].as_u64() > Some(0),
        "{result}"
    );
    let listed = crate::lines(&["store", "list", &url, "--all", "--json"]);
    let space: Value = serde_json::from_str(&listed[0]).unwrap();
    assert!(listed.len() == 1 && space["name"] == result["space"], "{listed:?}");
    assert!(space["state"].as_str().unwrap().starts_with("dropped at"), "{space}");
}
