//! Every fault against every generator: no duplicates, order where it is promised, and proof that the fault took effect.
//!
//! Each test runs `mintage-fault`, which judges; its summaries are printed and looked at once more. Runs are shorter than by hand;
//! all that is asked of them holds for any length.
#![expect(clippy::unwrap_used, reason = "a test says what it expects by stopping")]

use mintage_testkit::subject::{Source, Subject};
use mintage_testkit::{clock_shim, tool};
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::LazyLock;

/// How long a process under load mints.
const FOR_MS: u64 = 600;

/// Ticks of a second make every run long: those schemes are tested less often, and side by side.
const LONG_TICK_NANOS: u64 = 100_000_000;

fn run(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_mintage-fault")).args(args).output().unwrap()
}

/// The summaries of a run that must pass.
fn passes(args: &[&str]) -> Vec<Value> {
    let output = run(args);
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    print!("{out}");
    assert!(output.status.success(), "mintage-fault {}: {}\n{out}{err}", args.join(" "), output.status);
    let summaries: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for summary in &summaries {
        assert!(summary["ids"].as_u64().unwrap() > 0, "{summary}");
        assert_eq!(summary["duplicates"], 0, "{summary}");
        assert_eq!(summary["failures"].as_array().unwrap().len(), 0, "{summary}");
    }
    summaries
}

/// What a run against a generator that is wrong on purpose finds.
fn fails(args: &[&str]) -> Value {
    let output = run(args);
    assert_eq!(output.status.code(), Some(1), "mintage-fault {} finds nothing", args.join(" "));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// A fault against all subjects that are wanted, in one process.
fn all_pass(fault: &str, wanted: fn(&Subject) -> bool, args: &[&str]) {
    let subjects = subjects(wanted);
    let mut schemes: Vec<&str> = subjects.iter().map(|subject| subject.scheme.name).collect();
    schemes.dedup();
    let summaries = passes(&[&[fault], &*schemes, args].concat());
    for subject in &subjects {
        let name = subject.name();
        assert!(summaries.iter().any(|summary| summary["subject"] == name), "{fault}: {name} was left out");
    }
}

fn subjects(wanted: fn(&Subject) -> bool) -> Vec<Subject> {
    let mut all = Subject::named("all", None).unwrap();
    all.retain(wanted);
    all
}

const fn is_own(subject: &Subject) -> bool {
    matches!(subject.source, Source::Own)
}

fn is_slow(subject: &Subject) -> bool {
    subject.has_policies() && subject.tick_nanos() >= LONG_TICK_NANOS
}

#[test]
fn forked_processes_repeat_nothing() {
    all_pass("fork", |subject| !is_slow(subject), &["--ids", "3000", "--runs", "20"]);
}

#[test]
fn forked_processes_repeat_nothing_and_do_not_hang_while_other_threads_mint() {
    all_pass("fork", |subject| !is_slow(subject), &["--ids", "200", "--runs", "10", "--threads"]);
}

#[test]
fn forked_processes_with_long_ticks_repeat_nothing() {
    side_by_side(&subjects(is_slow), |subject| {
        passes(&["fork", subject.scheme.name, "--ids", "3000", "--runs", "3"]);
    });
}

#[test]
fn a_generator_that_replays_its_state_in_a_child_is_found_out() {
    let summary = fails(&["fork", "blind-random"]);
    // All that the child mints, the parent mints, and so does the grandchild.
    assert_eq!(summary["duplicates"], 6000, "{summary}");
}

/// The shim, built once; `None` where there is no compiler.
static SHIM: LazyLock<Option<String>> = LazyLock::new(|| {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    tool::has("cc").then(|| clock_shim::build(folder).unwrap().to_str().unwrap().to_owned())
});

/// One step of the clock; nothing where there is no compiler.
fn step(subject: &Subject, policy: &str, step_ms: &str, more: &[&str]) {
    let Some(shim) = SHIM.as_deref() else { return };
    // Where ticks are waited for, at least six of them: two before the step, two behind it, two after.
    let least = if subject.has_policies() { 6 * subject.tick_nanos() / 1_000_000 } else { 0 };
    let for_ms = FOR_MS.max(least).to_string();
    let mut args = vec!["clock", subject.scheme.name, "--shim", shim, "--for-ms", &for_ms];
    args.extend(["--policy", policy, "--step-ms", step_ms]);
    args.extend(subject.method.iter().flat_map(|method| ["--method", method.name()]));
    args.extend(more);
    assert_eq!(passes(&args).len(), 1);
}

/// The schemes that the rest is checked with: one that mints much, one that mints little.
fn with_many_and_few_ids(check: impl Fn(&Subject)) {
    for name in ["snowflake-twitter", "sonyflake-v1"] {
        Subject::named(name, None).unwrap().iter().for_each(&check);
    }
}

fn each_step(policy: &str) {
    with_many_and_few_ids(|subject| {
        for step_ms in ["-50", "-5000", "-60000"] {
            step(subject, policy, step_ms, &[]);
        }
    });
}

#[test]
fn a_clock_that_steps_back_is_absorbed() {
    each_step("absorb");
}

#[test]
fn a_clock_that_steps_back_is_waited_for() {
    each_step("wait");
}

#[test]
fn a_clock_that_steps_back_is_refused() {
    each_step("refuse");
}

#[test]
fn every_scheme_with_policies_bears_a_clock_that_steps_back() {
    for (i, subject) in subjects(|s| s.has_policies() && !is_slow(s)).iter().enumerate() {
        // By turns: all three meet the same engine.
        step(subject, ["absorb", "wait", "refuse"][i % 3], "-5000", &[]);
    }
}

#[test]
fn long_ticks_bear_a_clock_that_steps_back() {
    let policies = ["absorb", "wait", "refuse"];
    let runs: Vec<_> =
        subjects(is_slow).into_iter().flat_map(|s| policies.map(|policy| (s, policy))).collect();
    side_by_side(&runs, |(subject, policy)| step(subject, policy, "-5000", &["--threads", "1"]));
}

#[test]
fn a_clock_that_steps_back_meets_eight_threads_and_a_lead() {
    for subject in Subject::named("snowflake-twitter", None).unwrap() {
        for policy in ["absorb", "wait", "refuse"] {
            step(&subject, policy, "-5000", &["--threads", "8"]);
            step(&subject, policy, "-5000", &["--spent", "borrow"]);
            step(&subject, policy, "-50", &["--spent", "borrow"]);
        }
    }
}

#[test]
fn ids_with_random_bits_do_not_mind_the_clock() {
    for subject in subjects(|s| is_own(s) && !s.has_policies() && s.tick_nanos() > 0) {
        step(&subject, "absorb", "-5000", &[]);
    }
}

#[test]
fn a_generator_that_trusts_the_clock_is_found_out() {
    if let Some(shim) = SHIM.as_deref() {
        let summary = fails(&["clock", "blind-clock", "--shim", shim, "--step-ms", "-50", "--for-ms", "600"]);
        assert!(summary["duplicates"].as_u64() > Some(0), "{summary}");
    }
}

#[test]
fn two_threads_share_a_generator() {
    all_pass("threads", is_own, &["--threads", "2"]);
}

#[test]
fn eight_threads_share_a_generator() {
    // As many ids in all as with two.
    all_pass("threads", is_own, &["--threads", "8", "--ids", "50000"]);
}

#[test]
fn a_sequence_wraps_at_full_speed() {
    for spent in ["wait", "fail", "borrow"] {
        with_many_and_few_ids(|subject| {
            passes(&["wrap", subject.scheme.name, "--spent", spent, "--for-ms", "1000"]);
        });
    }
}

#[test]
fn a_counter_wraps_and_repeats_nothing() {
    passes(&["wrap", "objectid"]);
    assert_eq!(passes(&["wrap", "uuid-v7", "--for-ms", "200"]).len(), 3);
    for method in ["monotonic", "strict"] {
        passes(&["wrap", "ulid", "--method", method, "--for-ms", "200"]);
    }
}

#[test]
fn a_stopped_process_goes_on_beside_another() {
    with_many_and_few_ids(|subject| {
        passes(&["pause", subject.scheme.name, "--threads", "2", "--for-ms", "600"]);
    });
    passes(&["pause", "uuid-v7", "--method", "counter", "--threads", "1", "--for-ms", "600"]);
}

#[test]
fn wrong_use_says_so() {
    for args in [
        &["fork"][..],
        &["fork", "uuid-v77"],
        &["fork", "uuid-nil"],
        &["fork", "uuid-v7", "--method", "strict"],
        &["threads", "ulid", "--threads", "0"],
        &["flood", "ulid"],
    ] {
        let output = run(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(!output.stderr.is_empty(), "{args:?}");
    }
    assert_eq!(run(&["wrap", "uuid-v4"]).status.code(), Some(3));
}

/// Runs that mostly wait, all at once.
fn side_by_side<T: Sync>(runs: &[T], check: impl Fn(&T) + Sync) {
    assert!(!runs.is_empty());
    std::thread::scope(|scope| {
        for run in runs {
            scope.spawn(|| check(run));
        }
    });
}
