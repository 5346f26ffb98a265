//! `mintage keys sequences`, the hooks that run it after a promotion, and `mintage drill failover`.

use crate::facade::Folder;
use crate::{mintage, refusal};
use mintage_testkit::servers::postgres::Postgres;
use mintage_testkit::signal;
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A database with a sequence behind its column, one that is fine, and a name that would steer a terminal.
fn behind() -> Option<(std::sync::Arc<Postgres>, String, String)> {
    let server = Postgres::shared()?;
    let database = server.database();
    let sql = "CREATE TABLE users(id bigserial PRIMARY KEY); INSERT INTO users VALUES (60); CREATE TABLE fine(id serial PRIMARY KEY);
               DO $$BEGIN EXECUTE format('CREATE TABLE %I(id serial PRIMARY KEY)', E'evil\\x1b[31m\\n;'); END$$;
               DO $$BEGIN EXECUTE format('INSERT INTO %I VALUES (5)', E'evil\\x1b[31m\\n;'); END$$";
    server.query(&database, sql).unwrap();
    let url = server.url(&database);
    Some((server, database, url))
}

fn text_of(args: &[&str], code: i32) -> String {
    let output = mintage(args);
    let (out, err) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(code), "{args:?}: {out}{err}");
    out
}

#[test]
fn sequences_are_checked_shown_as_sql_repaired_and_then_fine() {
    let Some((server, database, url)) = behind() else { return };
    let text = text_of(&["keys", "sequences", &url], 1);
    assert!(text.contains("Of 3 sequences: 1 fine, 2 behind."), "{text}");
    assert!(
        text.contains(
            "behind  public.users_id_seq\n    feeds public.users.id\n    hands out 1 next, and 60 is in use"
        ),
        "{text}"
    );
    assert!(text.contains("--fix sets it to 60") && text.contains("leave no trace"), "{text}");
    assert!(!text.contains('\x1b') && text.contains(r"evil\u{1b}[31m\n;"), "{text}");
    let json = text_of(&["keys", "sequences", "--json", &url], 1);
    let json: Value = serde_json::from_str(&json).unwrap();
    let users = json["sequences"].as_array().unwrap().iter().find(|s| s["name"] == "users_id_seq").unwrap();
    for (field, value) in
        [("verdict", "behind"), ("behind", "column"), ("next", "1"), ("in_use", "60"), ("target", "60")]
    {
        assert_eq!(users[field], value, "{users}");
    }
    assert!(users["sql"].as_str().unwrap().starts_with("BEGIN") && json["fine"] == false);
    let script = text_of(&["keys", "sequences", "--fix", "--dry-run", &url], 1);
    assert!(
        script.contains(r#"ALTER SEQUENCE "public"."users_id_seq" OWNED BY "public"."users"."id";"#),
        "{script}"
    );
    let last = "SELECT last_value FROM users_id_seq";
    assert_eq!(server.query(&database, last).unwrap(), "1", "a dry run wrote something");
    let text = text_of(&["keys", "sequences", "--fix", &url], 0);
    assert!(text.contains("2 repaired now") && text.contains("set: 1 (not yet given out) → 60"), "{text}");
    assert_eq!(server.query(&database, last).unwrap(), "60");
    assert!(text_of(&["keys", "sequences", "--all", &url], 0).contains("fine  public.users_id_seq"));
    let folder = Folder::new("keys-witness");
    let file = folder.file("seen.csv");
    std::fs::write(&file, "public.users.id,90\n").unwrap();
    assert!(text_of(&["keys", "sequences", "--witness", &file, &url], 1).contains("90 was seen elsewhere"));
    assert!(
        text_of(&["keys", "sequences", "--witness", &file, "--fix", "--gap", "10", &url], 0)
            .contains("60 → 100")
    );
    std::fs::write(&file, "public.users.id,90\nusers;3\n").unwrap();
    let (code, told) = refusal(&["keys", "sequences", "--witness", &file, &url]);
    assert!(code == 2 && told.contains("line 2: no comma"), "{told}");
}

#[test]
fn the_url_may_come_from_the_environment_and_wrong_use_is_told() {
    let Some((_server, _database, url)) = behind() else { return };
    let mut command = Command::new(env!("CARGO_BIN_EXE_mintage"));
    let output =
        command.args(["keys", "sequences", "--json"]).env("MINTAGE_KEYS_URL", &url).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let folder = Folder::new("keys-sqlite");
    let file = format!("sqlite:{}", folder.file("shop.db"));
    crate::lines(&["store", "create", &file, "orders", "--block", "--last", "1000"]);
    assert!(text_of(&["keys", "sequences", "--fix", &file], 0).contains("so nothing can be behind"));
    for (args, code, word) in [
        (&["keys", "sequences"][..], 2, "MINTAGE_KEYS_URL"),
        (&["keys", "sequences", "oracle://app:secret@db/shop"], 2, "mysql://"),
        (&["keys", "sequences", "--gap", "-1", "postgres://db/shop"], 2, "--gap"),
        (&["keys", "sequences", "--witness", "/nowhere.csv", "postgres://db/shop"], 2, "/nowhere.csv"),
        (&["keys", "sequences", "--gap", "5", &file], 2, "sqlite_sequence"),
        (&["keys", "sequences", "postgres://app:secret@127.0.0.1:1/shop"], 3, "app:***@"),
    ] {
        let (found, text) = refusal(args);
        assert!(found == code && text.contains(word) && !text.contains("secret"), "{args:?}: {found} {text}");
    }
}

fn ops() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ops/failover")
}

#[test]
fn hooks_are_programs_in_plain_sh() {
    let hooks = ["mintage-after-promotion", "mintage-patroni", "mintage-repmgr"];
    for hook in hooks {
        let path = ops().join(hook);
        let mode = std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(&path).unwrap().permissions());
        assert_eq!(mode & 0o111, 0o111, "{hook} can't be run");
        for shell in ["sh", "bash"] {
            let checked = Command::new(shell).arg("-n").arg(&path).output().unwrap();
            assert!(checked.status.success(), "{shell} {hook}: {}", String::from_utf8_lossy(&checked.stderr));
        }
    }
}

/// The arguments that Patroni and repmgr pass, on a node that leaves recovery while the hook waits.
#[test]
fn hooks_repair_a_promoted_replica_unprompted_and_only_then() {
    let Some(primary) = Postgres::start(&[]) else { return };
    let sql = "CREATE TABLE a(id bigserial PRIMARY KEY); INSERT INTO a VALUES (40); CREATE TABLE b(id bigserial PRIMARY KEY)";
    primary.query("postgres", sql).unwrap();
    let mut replica = primary.backup(true);
    replica.start_again();
    replica.catches_up(&primary);
    let folder = Folder::new("hooks");
    let (log, settings) = (folder.file("log"), folder.file("failover.conf"));
    let (databases, witness) = (folder.file("databases"), folder.file("seen.csv"));
    std::fs::write(&witness, "public.b.id,700\n").unwrap();
    std::fs::write(&databases, format!("# the shop\n{} {witness}\n", replica.url("postgres"))).unwrap();
    let program = env!("CARGO_BIN_EXE_mintage");
    std::fs::write(
        &settings,
        format!("MINTAGE='{program}'\nDATABASES='{databases}'\nLOG='{log}'\nWAIT=30\n"),
    )
    .unwrap();
    let hook = |name: &str, args: &[&str]| {
        let mut command = Command::new(ops().join(name));
        command.args(args).env("MINTAGE_FAILOVER_CONF", &settings).stdin(Stdio::null()).spawn().unwrap()
    };
    // What isn't a promotion does nothing.
    for (name, args) in [
        ("mintage-patroni", &["on_role_change", "replica", "shop"][..]),
        ("mintage-patroni", &["on_start", "primary", "shop"]),
        ("mintage-repmgr", &["2", "standby_promote", "0", "2026-01-01 10:00:00+00", "failed"]),
        ("mintage-repmgr", &["2", "standby_register", "1", "2026-01-01 10:00:00+00", ""]),
    ] {
        assert!(hook(name, args).wait().unwrap().success(), "{name}");
    }
    assert!(!Path::new(&log).exists());
    // Patroni calls as soon as it has asked for the promotion; the server may still be in recovery.
    let mut waiting = hook("mintage-patroni", &["on_role_change", "primary", "shop"]);
    replica.promote();
    assert!(waiting.wait().unwrap().success(), "{}", std::fs::read_to_string(&log).unwrap_or_default());
    let told = std::fs::read_to_string(&log).unwrap();
    assert!(
        told.contains("Patroni, cluster shop: this node became primary") && told.contains("→ 40"),
        "{told}"
    );
    assert!(told.contains("→ 700") && told.contains("sequences checked, exit code 0"), "{told}");
    assert_eq!(replica.query("postgres", "INSERT INTO a DEFAULT VALUES RETURNING id").unwrap(), "41");
    // repmgr waits for its command, so the work goes on behind it.
    replica.query("postgres", "INSERT INTO a VALUES (90)").unwrap();
    let args = ["2", "repmgrd_failover_promote", "1", "2026-01-01 10:00:00+00", "node 2 promoted"];
    assert!(hook("mintage-repmgr", &args).wait().unwrap().success());
    for _ in 0..1_000 {
        if std::fs::read_to_string(&log).unwrap().matches("sequences checked").count() == 2 {
            break;
        }
        mintage::time::pause(20_000_000);
    }
    assert_eq!(replica.query("postgres", "INSERT INTO a DEFAULT VALUES RETURNING id").unwrap(), "91");
}

#[test]
fn a_hook_says_what_it_lacks() {
    let folder = Folder::new("hooks-lack");
    let settings = folder.file("failover.conf");
    let run = || {
        let mut command = Command::new(ops().join("mintage-after-promotion"));
        command.env("MINTAGE_FAILOVER_CONF", &settings).stdin(Stdio::null()).output().unwrap()
    };
    assert_eq!(run().status.code(), Some(2));
    let log = folder.file("log");
    std::fs::write(&settings, format!("DATABASES=/nowhere\nLOG='{log}'\n")).unwrap();
    assert_eq!(run().status.code(), Some(2));
    assert!(std::fs::read_to_string(&log).unwrap().contains("/nowhere can't be read"));
    // A name without a slash is a file here, not a program somewhere.
    std::fs::remove_file(&log).unwrap();
    let mut command = Command::new(ops().join("mintage-after-promotion"));
    let here = Path::new(&settings).parent().unwrap();
    command.env("MINTAGE_FAILOVER_CONF", "failover.conf").current_dir(here).stdin(Stdio::null());
    assert_eq!(command.output().unwrap().status.code(), Some(2));
    assert!(std::fs::read_to_string(&log).unwrap().contains("/nowhere can't be read"));
    // A server that isn't reached is the hook's exit code.
    let (databases, program) = (folder.file("databases"), env!("CARGO_BIN_EXE_mintage"));
    std::fs::write(&databases, "postgres://app:secret@127.0.0.1:1/shop\n").unwrap();
    std::fs::write(&settings, format!("MINTAGE='{program}'\nDATABASES='{databases}'\nLOG='{log}'\nWAIT=0\n"))
        .unwrap();
    assert_eq!(run().status.code(), Some(3));
    let told = std::fs::read_to_string(&log).unwrap();
    assert!(told.contains("exit code 3") && !told.contains("secret"), "{told}");
}

/// Runs a drill; its exit code and its result.
fn drill(args: &[&str]) -> Option<(i32, Value)> {
    let server = Postgres::shared();
    server.as_ref()?;
    let output = mintage(&[&["drill", "failover", "--json"], args].concat());
    let text = String::from_utf8(output.stdout).unwrap();
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    let last = text.lines().last().unwrap_or_else(|| panic!("{told}"));
    let result: Value = serde_json::from_str(last).unwrap();
    assert_eq!(result["event"], "result", "{text}{told}");
    assert_eq!((&result["rigged_caught"], &result["fine"]), (&true.into(), &true.into()), "{text}");
    Some((output.status.code().unwrap(), result))
}

#[test]
fn a_drill_of_an_asynchronous_failover_gives_no_id_twice_by_a_witness() {
    let Some((code, result)) = drill(&["--mode", "async"]) else { return };
    assert_eq!(
        (code, &result["issued_twice"], &result["duplicate_keys"]),
        (0, &0.into(), &0.into()),
        "{result}"
    );
    assert!(result["lost"].as_u64().unwrap() > 64, "{result}");
    // The columns alone show the rigged one only; what was lost is given again.
    assert_eq!(
        (&result["behind_by_columns"], &result["behind_by_demand"]),
        (&1.into(), &3.into()),
        "{result}"
    );
    assert!(result["without_issued_twice"].as_u64().unwrap() > 0, "{result}");
}

#[test]
fn a_drill_that_repairs_by_the_columns_alone_is_seen_to_fail() {
    let Some((code, result)) = drill(&["--mode", "restore", "--repair", "max"]) else { return };
    assert_eq!(code, 1, "{result}");
    assert!(result["issued_twice"].as_u64().unwrap() > 0 && result["good"] == false, "{result}");
}

#[test]
fn a_drill_of_a_synchronous_failover_loses_nothing_that_was_acknowledged() {
    let Some((code, result)) = drill(&["--mode", "sync", "--repair", "max"]) else { return };
    assert_eq!((code, &result["issued_twice"]), (0, &0.into()), "{result}");
    assert_eq!((&result["lost"], &result["without_issued_twice"]), (&0.into(), &0.into()), "{result}");
}

#[test]
fn a_drill_of_a_logical_cut_over_finds_every_sequence_behind() {
    let Some((code, result)) = drill(&["--mode", "logical", "--repair", "gap"]) else { return };
    assert_eq!(
        (code, &result["issued_twice"], &result["duplicate_keys"]),
        (0, &0.into(), &0.into()),
        "{result}"
    );
    assert_eq!(result["behind_by_columns"], 3, "{result}");
    assert!(result["without_duplicate_keys"].as_u64().unwrap() >= 30, "{result}");
}

/// Folders of servers that a process has made.
fn folders_of(pid: u32) -> Vec<PathBuf> {
    let begins = format!("mintage-postgres-{pid}-");
    let entries = std::fs::read_dir(std::env::temp_dir()).unwrap().filter_map(Result::ok);
    entries
        .map(|entry| entry.path())
        .filter(|path| path.file_name().unwrap().to_string_lossy().starts_with(&begins))
        .collect()
}

#[test]
fn a_drill_that_is_told_to_stop_leaves_nothing_behind() {
    if Postgres::shared().is_none() {
        return;
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_mintage"));
    command.args(["drill", "failover", "--json"]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut drill = command.spawn().unwrap();
    let out = BufReader::new(drill.stdout.take().unwrap());
    let mut was_seen = false;
    for line in out.lines() {
        let line = line.unwrap();
        if line.contains("writers start") {
            was_seen = true;
            assert_eq!(folders_of(drill.id()).len(), 2);
            signal::terminate(drill.id()).unwrap();
        }
    }
    let pid = drill.id();
    let output = drill.wait_with_output().unwrap();
    assert!(was_seen && output.status.code() == Some(3), "{output:?}");
    assert!(String::from_utf8(output.stderr).unwrap().contains("stopped by a signal"));
    assert_eq!(folders_of(pid), Vec::<PathBuf>::new());
}

#[test]
fn a_plan_of_a_drill_touches_nothing_and_wrong_programs_are_named() {
    let text = text_of(&["drill", "failover", "--mode", "logical", "--dry-run"], 0);
    assert!(text.starts_with("Plan: failover, mode logical") && text.contains("kill -9"), "{text}");
    let output = mintage(&["drill", "failover", "--bin", "/nowhere"]);
    assert_eq!(output.status.code(), Some(3));
    assert!(String::from_utf8(output.stderr).unwrap().contains("/nowhere"));
}
