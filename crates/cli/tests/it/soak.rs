//! Minting under faults, in short: what `scripts/soak` does for as long as one likes.

use crate::facade::Folder;
use crate::lines;
use mintage_testkit::servers;
use mintage_testkit::soak::store::{Kind, Whose};
use mintage_testkit::soak::{FAULTS, Options, run, scenes};
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;

/// Windows are short, so that what must pass does so soon.
fn options(store: Whose) -> Options {
    Options {
        program: env!("CARGO_BIN_EXE_mintage").into(),
        store,
        space: "soak".to_owned(),
        processes: 8,
        rate: 400,
        window_ms: 1_200,
        seconds: 1,
        seed: 20_260_101,
        only: Vec::new(),
        scenes: true,
        blind: false,
        tells: false,
        folder: None,
        stop: Arc::default(),
    }
}

fn no_duplicates(store: Kind) {
    // Without a server, a skip that was said.
    if !servers::has(store) {
        return;
    }
    let report = run(&options(Whose::Own(store))).unwrap();
    println!("{report}");
    assert!(report.has_passed(), "{report}");
    let of_store = |fault: &&mintage_testkit::soak::Fault| fault.stores.contains(&store);
    for fault in FAULTS.iter().filter(of_store) {
        assert!(report.faults.contains_key(fault.name), "{} was left out\n{report}", fault.name);
    }
}

#[test]
fn no_id_is_minted_twice_over_a_file_whatever_fails() {
    no_duplicates(Kind::Sqlite);
}

#[test]
fn no_id_is_minted_twice_over_a_server_whatever_fails() {
    no_duplicates(Kind::Postgres);
}

#[test]
fn a_store_of_somebody_else_is_left_as_it_was_but_for_what_dropped_spaces_leave() {
    let folder = Folder::new("somebodys-store");
    let url = format!("sqlite:{}", folder.file("ids.db"));
    lines(&["store", "create", &url, "orders", "--snowflake", "twitter"]);
    // All but the time of looking.
    let listed = || -> Vec<Value> {
        let mut spaces: Vec<Value> = lines(&["store", "list", &url, "--json"])
            .iter()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        spaces.iter_mut().for_each(|space| drop(space.as_object_mut().unwrap().remove("now")));
        spaces
    };
    let before = listed();
    let options =
        Options { scenes: false, space: "soak-1".to_owned(), ..options(Whose::Theirs(url.clone())) };
    let report = run(&options).unwrap();
    assert!(report.has_passed() && report.ids > 0, "{report}");
    assert!(report.faults.contains_key("paused") && !report.faults.contains_key("locked"), "{report}");
    assert_eq!(listed(), before);
}

#[test]
fn every_test_named_in_what_can_go_wrong_is_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = std::fs::read_to_string(root.join("docs/what-can-go-wrong.md")).unwrap();
    let code: Vec<&str> = page.split('`').skip(1).step_by(2).collect();
    let mut tests = 0;
    for name in &code {
        let Some((path, test)) = name.split_once("::").filter(|(path, _)| path.starts_with("crates/")) else {
            continue;
        };
        let text = std::fs::read_to_string(root.join(path)).unwrap();
        assert!(text.contains(&format!("fn {test}(")), "{path} has no {test}");
        tests += 1;
    }
    assert!(tests > 20, "{tests}");
    let done = FAULTS.iter().map(|fault| fault.name).chain(scenes::names());
    for name in done {
        assert!(code.contains(&name), "{name} isn't on the page");
    }
}

#[test]
fn a_process_without_a_lease_is_noticed() {
    let only = vec!["killed".to_owned()];
    let options =
        Options { only, scenes: false, blind: true, rate: 1_000, ..options(Whose::Own(Kind::Sqlite)) };
    let report = run(&options).unwrap();
    assert!(report.duplicates > 0, "{report}");
    assert!(!report.has_passed() && !report.repeated.is_empty());
}
