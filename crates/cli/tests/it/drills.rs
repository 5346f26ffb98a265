//! Drills: what they do, what they leave, and what they say where they can't be held.

use crate::facade::Folder;
use crate::{mintage, refusal};
use mintage_testkit::servers;
use mintage_testkit::signal;
use mintage_testkit::soak::store::Kind;
use serde_json::Value;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Stdio};

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
    let folder = Folder::new("drill-crash");
    let url = format!("sqlite:{}", folder.file("ids.db"));
    crate::lines(&["store", "create", &url, "orders", "--snowflake", "twitter"]);
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
    assert!(listed.len() == 2 && space["name"] == result["space"], "{listed:?}");
    assert!(space["state"].as_str().unwrap().starts_with("dropped at"), "{space}");
}

#[test]
fn a_picture_that_cannot_be_written_is_told_before_the_drill_and_one_that_stops_midway_after_the_table() {
    let folder = Folder::new("drill-svg");
    let path = folder.file("missing/clock.svg");
    let drill = ["drill", "clock", "--steps", "50ms", "--observe", "300ms", "--svg"];
    let output = mintage(&[&drill[..], &[&path]].concat());
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(3) && told.contains(&path), "{told}");
    let out = String::from_utf8(output.stdout).unwrap();
    assert!(!out.contains("goes back by 50 ms"), "the drill was held: {out}");
    // It opens, and takes nothing.
    let output = mintage(&[&drill[..], &["/dev/full"]].concat());
    let out = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.code() == Some(3) && out.contains("CLOCK BACK BY"), "{out}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("writing /dev/full"));
    // A picture takes the place of a longer file; a plan makes none.
    let svg = folder.file("clock.svg");
    mintage(&["drill", "clock", "--dry-run", "--svg", &svg]);
    assert!(!Path::new(&svg).exists(), "a plan was carried out");
    std::fs::write(&svg, "x".repeat(1 << 20)).unwrap();
    assert_eq!(mintage(&[&drill[..], &[&svg]].concat()).status.code(), Some(0));
    let picture = std::fs::read_to_string(&svg).unwrap();
    assert!(picture.starts_with("<svg") && picture.trim_end().ends_with("</svg>"), "{picture}");
}

#[test]
fn a_store_that_is_not_there_is_refused_and_not_made() {
    let folder = Folder::new("drill-mistyped");
    let url = format!("sqlite:{}", folder.file("typo.db"));
    for drill in ["pause", "crash", "restore"] {
        let (code, told) = refusal(&["drill", drill, &url]);
        assert!(
            code == 2 && told.contains("no store is there") && told.contains("mintage store create"),
            "{told}"
        );
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "something was made");
    assert_eq!(mintage(&["drill", "pause", "--dry-run", &url]).status.code(), Some(0));
}

#[cfg(feature = "etcd")]
#[test]
fn a_prefix_of_etcd_without_a_store_is_refused_and_nothing_is_written() {
    let Some(cluster) = servers::etcd::Etcd::shared() else { return };
    let url = cluster.url(&cluster.prefix());
    let (code, told) = refusal(&["drill", "crash", &url]);
    assert!(code == 2 && told.contains("no store is there"), "{told}");
    assert_eq!(cluster.control(&["get", "", "--prefix", "--keys-only"]).unwrap(), "");
}

#[cfg(feature = "zookeeper")]
#[test]
fn a_path_of_zookeeper_without_a_store_is_refused_and_nothing_is_written() {
    let Some(ensemble) = servers::zookeeper::ZooKeeper::shared() else { return };
    let url = ensemble.url("drill-typo");
    for _ in 0..2 {
        let (code, told) = refusal(&["drill", "pause", &url]);
        assert!(code == 2 && told.contains("no store is there"), "{told}");
    }
    let (code, told) = refusal(&["store", "list", &url]);
    assert!(code == 2 && told.contains("has no tables yet"), "{told}");
}

#[test]
fn a_server_without_a_store_is_refused_and_gets_no_tables() {
    let Some(server) = servers::postgres::Postgres::shared() else { return };
    let database = server.database();
    let (code, told) = refusal(&["drill", "partition", &server.url(&database)]);
    assert!(code == 2 && told.contains("no store is there"), "{told}");
    let sql = "SELECT count(*) FROM information_schema.schemata WHERE schema_name = 'mintage'";
    assert_eq!(server.query(&database, sql).unwrap(), "0");
}

#[test]
fn a_file_that_cannot_be_copied_as_a_store_is_told_for_what_it_is() {
    let folder = Folder::new("drill-files");
    let [store, text, empty, foreign, alone] =
        ["store.db", "text.db", "empty.db", "foreign.db", "alone.db"].map(|name| folder.file(name));
    let url = |path: &str| format!("sqlite:{path}");
    crate::lines(&["store", "create", &url(&store), "orders", "--snowflake", "twitter"]);
    std::fs::copy(&store, &alone).unwrap();
    std::fs::write(&text, "this is no database\n").unwrap();
    std::fs::write(&empty, "").unwrap();
    // A database of one page, with no table in it.
    let mut page = std::fs::read(&store).unwrap();
    page.truncate(4_096);
    page[28..32].copy_from_slice(&1_u32.to_be_bytes());
    page[100..108].copy_from_slice(&[13, 0, 0, 0, 0, 0, 0, 0]);
    std::fs::write(&foreign, page).unwrap();
    for (path, code, what) in [
        (&text, 2, "no database of SQLite"),
        (&empty, 2, "without a store"),
        (&foreign, 2, "without a store"),
        (&alone, 3, "alone.db-serial is missing"),
        (&folder.file(""), 2, "no file"),
        (&"/dev/null".to_owned(), 2, "no file"),
    ] {
        let (found, told) = refusal(&["drill", "restore", &url(path)]);
        assert!(found == code && told.contains(what) && !told.contains("os error"), "{found} {told}");
        assert!(!Path::new(&format!("{path}-serial")).exists(), "a side-car was made");
    }
}

#[test]
fn a_url_that_a_drill_cannot_use_is_refused_before_the_plan() {
    for (url, what) in [
        ("postgres://h/db?sslmode=verify-full", "name is verified"),
        ("mysql://u:secret@h/db?ssl-mode=verify_identity", "name is verified"),
        ("postgres://h/db?sslmode=nonsense", "verify-full expected"),
        ("postgres://h/db?nope=1", "nope"),
        ("mysql://h/db?nope=1", "nope"),
    ] {
        if url.starts_with("mysql") && !cfg!(feature = "mysql") {
            continue;
        }
        let (code, told) = refusal(&["drill", "partition", "--dry-run", url]);
        assert!(code == 2 && told.contains(what) && !told.contains("secret"), "{told}");
    }
}

#[cfg(feature = "mysql")]
#[test]
fn writes_lost_by_a_restore_are_those_that_were_written() {
    if !servers::has(Kind::MariaDb) {
        return;
    }
    let drill = ["drill", "restore", "mariadb", "--for", "1s", "--processes", "2", "--json"];
    let (code, lines) = lines(&drill);
    let result = lines.last().unwrap();
    assert!(code == 0 && result["event"] == "result", "{lines:?}");
    // Two processes renew some times a second.
    let lost = result["faults"]["put-back"]["evidence"]["writes_lost"].as_u64().unwrap();
    assert!((1..10_000).contains(&lost), "{lost} writes");
}

/// The one message of a drill that can't be held, started with these variables.
fn cannot(args: &[&str], variables: &[(&str, &str)]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mintage"));
    command.arg("drill").args(args).envs(variables.iter().copied()).stdin(Stdio::null());
    let output = command.output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(3), "{args:?} with {variables:?}: {text}");
    let messages = text.lines().filter(|line| line.contains("mintage: ")).count();
    assert!(messages == 1 && text.starts_with("mintage: ") && !text.contains("panicked"), "{text}");
    text
}

fn is_root() -> bool {
    std::os::unix::fs::MetadataExt::uid(&std::fs::metadata("/proc/self").unwrap()) == 0
}

/// The servers of this build that are installed here.
fn kinds_in_servers() -> Vec<Kind> {
    let is_built = |kind: &Kind| match kind {
        Kind::Sqlite => false,
        Kind::Postgres => true,
        Kind::MariaDb => cfg!(feature = "mysql"),
        Kind::Etcd => cfg!(feature = "etcd"),
        Kind::ZooKeeper => cfg!(feature = "zookeeper"),
    };
    Kind::ALL.iter().copied().filter(is_built).filter(|kind| servers::has(*kind)).collect()
}

#[test]
fn a_folder_of_temporary_files_that_is_missing_is_told_and_not_made() {
    let folder = Folder::new("drill-no-tmp");
    let missing = folder.file("missing");
    let tmpdir = [("TMPDIR", missing.as_str())];
    for drill in
        [&["pause", "sqlite"][..], &["crash", "sqlite"], &["restore", "sqlite"], &["clock", "--steps", "5ms"]]
    {
        let text = cannot(drill, &tmpdir);
        assert!(text.contains(&missing) && text.contains("set TMPDIR"), "{text}");
    }
    for kind in kinds_in_servers() {
        let text = cannot(&["partition", kind.name()], &tmpdir);
        assert!(text.contains(&missing) && text.contains("set TMPDIR"), "{text}");
    }
    if servers::has(Kind::Postgres) {
        let text = cannot(&["failover"], &tmpdir);
        assert!(text.contains(&missing) && text.contains("set TMPDIR"), "{text}");
    }
    assert!(!Path::new(&missing).exists());
}

#[test]
fn a_folder_that_the_user_of_servers_cannot_enter_is_told() {
    if !is_root() {
        return;
    }
    let folder = Folder::new("drill-closed-tmp");
    let closed = folder.file("closed");
    std::fs::create_dir(&closed).unwrap();
    std::fs::set_permissions(&closed, std::fs::Permissions::from_mode(0o700)).unwrap();
    for kind in kinds_in_servers() {
        let text = cannot(&["crash", kind.name()], &[("TMPDIR", &closed)]);
        assert!(
            text.contains("can't reach") && text.contains(&closed) && text.contains("every user may enter"),
            "{text}"
        );
    }
    assert_eq!(std::fs::read_dir(&closed).unwrap().count(), 0, "something is left");
}

#[test]
fn programs_that_are_missing_are_named_with_ci_too() {
    let folder = Folder::new("drill-no-programs");
    let programs = folder.file("bin");
    std::fs::create_dir(&programs).unwrap();
    std::fs::set_permissions(&programs, std::fs::Permissions::from_mode(0o755)).unwrap();
    for program in ["sh", "setpriv", "chown", "test", "kill", "cp"] {
        let found = ["/usr/bin", "/bin"]
            .iter()
            .map(|folder| Path::new(folder).join(program))
            .find(|path| path.exists());
        if let Some(found) = found {
            symlink(found, Path::new(&programs).join(program)).unwrap();
        }
    }
    for kind in kinds_in_servers() {
        let said = match kind {
            Kind::MariaDb => "mariadb-install-db",
            Kind::Etcd => "etcdctl",
            Kind::ZooKeeper => "java",
            Kind::Sqlite | Kind::Postgres => continue,
        };
        let text = cannot(&["pause", kind.name()], &[("PATH", &programs), ("CI", "true")]);
        assert!(text.contains(said) && !text.contains("nothing is skipped"), "{text}");
    }
}

#[test]
fn a_server_that_dies_at_its_start_is_told_of_with_its_last_words() {
    for kind in kinds_in_servers() {
        let (name, value, said) = match kind {
            Kind::Etcd => ("ETCD_SNAPSHOT_COUNT", "nonsense", "nonsense"),
            Kind::ZooKeeper => {
                ("JDK_JAVA_OPTIONS", "-Dzookeeper.serverCnxnFactory=no.such.Factory", "its last words")
            }
            _ => continue,
        };
        let text = cannot(&["restore", kind.name()], &[(name, value)]);
        assert!(text.contains("doesn't start") && text.contains(said), "{text}");
    }
}

#[cfg(feature = "mysql")]
#[test]
fn servers_start_where_only_root_may_make_temporary_files() {
    if !is_root() || !servers::has(Kind::MariaDb) {
        return;
    }
    let folder = Folder::new("drill-roots-tmp");
    let roots = folder.file("roots");
    std::fs::create_dir(&roots).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_mintage"));
    command
        .args(["drill", "crash", "mariadb", "--for", "1s", "--processes", "2", "--json"])
        .env("TMPDIR", &roots);
    let output = command.stdin(Stdio::null()).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(std::fs::read_dir(&roots).unwrap().count(), 0, "something is left");
}

#[test]
fn a_folder_of_temporary_files_may_be_named_from_where_the_drill_is_started() {
    let folder = Folder::new("drill-relative-tmp");
    std::fs::create_dir(folder.file("tmp")).unwrap();
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    for kind in kinds_in_servers() {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mintage"));
        command.args(["drill", "crash", kind.name(), "--for", "1s", "--processes", "2", "--json"]);
        command.current_dir(folder.path()).env("TMPDIR", "tmp").stdin(Stdio::null());
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{kind:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
    assert_eq!(std::fs::read_dir(folder.file("tmp")).unwrap().count(), 0, "something is left");
}

/// The processes that were started by this one and haven't ended.
fn children(parent: u32) -> Vec<u32> {
    let mut children = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        // The state and the parent follow the name, which stands in parentheses.
        let stat = std::fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        let mut words = stat.rsplit_once(") ").map_or("", |(_, rest)| rest).split(' ');
        let (state, of) = (words.next(), words.next());
        if of == Some(&parent.to_string()) && state != Some("Z") {
            children.push(pid);
        }
    }
    children
}

/// Whether it runs, or stands.
fn is_there(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
}

/// Asks again and again for half a minute.
fn soon(mut holds: impl FnMut() -> bool) -> bool {
    (0..3_000).any(|_| {
        holds() || {
            std::thread::park_timeout(std::time::Duration::from_millis(10));
            false
        }
    })
}

#[test]
fn no_process_of_a_drill_that_is_killed_is_left_not_even_a_stopped_one() {
    let folder = Folder::new("drill-killed");
    let url = format!("sqlite:{}", folder.file("ids.db"));
    crate::lines(&["store", "create", &url, "orders", "--snowflake", "twitter"]);
    let mut command = Command::new(env!("CARGO_BIN_EXE_mintage"));
    command.args(["drill", "pause", &url, "--window", "3s", "--for", "9s"]).env("TMPDIR", folder.file(""));
    let mut drill = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let mut minting = Vec::new();
    let stands = soon(|| {
        minting = children(drill.id());
        minting.len() >= 4 && minting.iter().any(|pid| signal::is_stopped(*pid).unwrap_or(false))
    });
    drill.kill().unwrap();
    drill.wait().unwrap();
    assert!(stands, "no process was stopped: {minting:?}");
    let are_gone = soon(|| !minting.iter().any(|pid| is_there(*pid)));
    let left: Vec<u32> = minting.into_iter().filter(|pid| is_there(*pid)).collect();
    // Whatever the answer: nothing of the test is left.
    left.iter().for_each(|pid| drop(Command::new("kill").args(["-KILL", &pid.to_string()]).status()));
    assert!(are_gone, "{left:?} are left");
}
