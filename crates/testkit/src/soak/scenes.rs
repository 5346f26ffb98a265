//! Short runs on spaces of their own, for what can't be done to a space that goes on: workers that run out, a time field that ends,
//! a disk that is full.

use super::fleet::Fleet;
use super::process::Plan;
use super::process_faults::evidence;
use super::report::{Done, Report};
use super::store::{Kind, Scratch, Store};
use super::{Evidence, MS, Options, space_flags};
use anyhow::{Context, Result, ensure};
use mintage::{Clock, SystemClock, UnixNanos};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// A scene.
struct Act {
    name: &'static str,
    store: Option<Kind>,
    /// What is left of its processes, and what shows that it took effect; with `outage_ms` where nobody could mint for a while.
    play: fn(&Options, &Store, &Path) -> Result<(Fleet, Evidence)>,
}

static SCENES: &[Act] = &[
    Act { name: "workers-taken", store: None, play: workers_taken },
    Act { name: "time-field-ends", store: None, play: time_field_ends },
    Act { name: "disk-full", store: Some(Kind::Sqlite), play: disk_full },
];

/// The names of all scenes.
pub fn names() -> impl Iterator<Item = &'static str> {
    SCENES.iter().map(|act| act.name)
}

/// What the names of scenes' spaces add to that of the run's.
const FEW: &str = "-few";
const LAST: &str = "-last";

/// The spaces that scenes make in the run's store.
pub(super) fn spaces(options: &Options) -> [String; 2] {
    [FEW, LAST].map(|end| format!("{}{end}", options.space))
}

/// Plays those of the store, and takes what they found into the report.
pub(super) fn run_all(options: &Options, store: &Store, scratch: &Arc<Scratch>, report: &mut Report) {
    for act in SCENES.iter().filter(|act| act.store.is_none_or(|store| options.store.is_own(store))) {
        let folder = scratch.path().join(act.name);
        let begun = SystemClock.monotonic_nanos();
        let played =
            fs::create_dir(&folder).map_err(Into::into).and_then(|()| (act.play)(options, store, &folder));
        let lasted_nanos = SystemClock.monotonic_nanos() - begun;
        let (outage_nanos, result) = match played {
            Ok((fleet, evidence)) => {
                report.count(&fleet);
                let outage = evidence.get("outage_ms").and_then(Value::as_u64).unwrap_or(0) * MS;
                (outage, Ok((evidence, 0)))
            }
            Err(error) => (0, Err(error)),
        };
        report.add(&Done {
            fault: act.name,
            outage_nanos,
            silence_nanos: outage_nanos,
            stall_nanos: 0,
            lasted_nanos,
            result,
        });
    }
}

fn plan(options: &Options, space: &str, worker: (u32, u32), folder: &Path) -> Plan {
    Plan {
        program: options.program.clone(),
        space: space.to_owned(),
        rate: options.rate,
        worker,
        folder: folder.to_owned(),
    }
}

/// More processes than workers: those that get none say so and end; when a holder dies, another gets its worker.
fn workers_taken(options: &Options, store: &Store, folder: &Path) -> Result<(Fleet, Evidence)> {
    const WORKERS: usize = 3;
    let mut flags = space_flags(options.window_ms);
    flags.extend(["--workers", "0..2", "--host-quota", "9"].map(str::to_owned));
    let space = format!("{}{FEW}", options.space);
    store.create(&options.program, &space, &flags)?;
    let plan = plan(options, &space, super::SPLIT.1, folder);
    let mut fleet = Fleet::start(plan, vec![store.url(); WORKERS + 2], None)?;
    let patience = 20_000 * MS;
    let is_short = fleet.wait_until(patience, |fleet| Ok(fleet.ends.values().sum::<u64>() >= 2))?;
    ensure!(is_short, "{} processes mint with {WORKERS} workers", WORKERS + 2);
    let words = fleet.ends.keys().next().cloned().unwrap_or_default();
    let minting = |fleet: &Fleet| (0..fleet.len()).filter(|place| fleet.ids(*place) > 0).collect::<Vec<_>>();
    let all_taken = fleet.wait_until(patience, |fleet| Ok(minting(fleet).len() == WORKERS))?;
    ensure!(all_taken, "places {:?} mint, {WORKERS} expected", minting(&fleet));
    fleet.wait(options.window_ms * MS / 2)?;
    ensure!(minting(&fleet).len() == WORKERS, "more places mint than there are workers");
    // One dies without giving back: its window must pass first.
    let dead = minting(&fleet)[0];
    let ids = fleet.ids(dead);
    fleet.kill(dead)?;
    let follows = fleet
        .wait_until(patience, |fleet| Ok(minting(fleet).len() > WORKERS || fleet.ids(dead) > ids + 1_000))?;
    fleet.end()?;
    ensure!(follows, "the worker of a process that was killed is nobody's: {:?}", fleet.ends);
    Ok((fleet, evidence([("refused", json!(true)), ("words", json!(words))])))
}

/// A time field that ends in a few seconds: minting ends with it, and nothing wraps.
fn time_field_ends(options: &Options, store: &Store, folder: &Path) -> Result<(Fleet, Evidence)> {
    const TICKS: u64 = 1 << 24;
    const TICK_NANOS: u64 = 10 * MS;
    let lifetime = i128::from(TICKS) * i128::from(TICK_NANOS);
    let left = i128::from(3 * options.window_ms * MS);
    let end = UnixNanos(SystemClock.now().0 + left);
    let epoch = UnixNanos(end.0 - lifetime);
    let mut flags = space_flags(options.window_ms);
    flags[1] = "24/8/8".to_owned();
    flags.extend(["--tick", "10ms", "--epoch", &epoch.to_string()].map(str::to_owned));
    let space = format!("{}{LAST}", options.space);
    store.create(&options.program, &space, &flags)?;
    let mut plan = plan(options, &space, (8, 8), folder);
    plan.rate = options.rate.min(200);
    let mut fleet = Fleet::start(plan, vec![store.url(); 2], None)?;
    let has_ended = |fleet: &mut Fleet| Ok(fleet.ends.values().sum::<u64>() >= 2);
    let ended = fleet.wait_until(30_000 * MS + 6 * options.window_ms * MS, has_ended)?;
    fleet.end()?;
    ensure!(ended, "minting goes on after the last tick: {:?}", fleet.ends);
    let words = fleet.ends.keys().next().cloned().unwrap_or_default();
    ensure!(words.contains("time field"), "minting ended for another reason: {words}");
    let last =
        (0..fleet.len()).map(|place| fleet.slot(place).deeds.last_id.load(Ordering::Relaxed) >> 16).max();
    let short = (TICKS - 1) - last.unwrap_or(0);
    ensure!(short < 500, "the last id is {short} ticks before the end of the time field");
    Ok((fleet, evidence([("ticks_unused", json!(short)), ("words", json!(words))])))
}

/// A disk that is full for longer than a window, where one may be mounted; elsewhere a visible skip.
fn disk_full(options: &Options, _: &Store, folder: &Path) -> Result<(Fleet, Evidence)> {
    let disk = folder.join("disk");
    fs::create_dir(&disk)?;
    let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", "size=512k", "tmpfs"]).arg(&disk).output();
    let plan = plan(options, "full", super::SPLIT.1, folder);
    if !mounted.is_ok_and(|output| output.status.success()) {
        crate::tool::skipped("a file system of one's own", "mount");
        return Ok((Fleet::start(plan, Vec::new(), None)?, evidence([("skipped", json!(true))])));
    }
    let _unmount = Unmount(disk.clone());
    let store = Store::File(super::store::FilePlace { path: disk.join("ids.db") });
    store.create(&options.program, "full", &space_flags(options.window_ms))?;
    let mut fleet = Fleet::start(plan, vec![store.url(); 2], None)?;
    fleet.recover(30_000 * MS)?;
    let filler = disk.join("filler");
    fleet.common.longest_outage();
    fill(&filler)?;
    fleet.wait(3 * options.window_ms * MS)?;
    let failed = fleet.events().get("renewal-failed").copied().unwrap_or(0);
    fs::remove_file(&filler)?;
    fleet.recover(30_000 * MS)?;
    let outage_ms = fleet.common.longest_outage() / MS;
    fleet.end()?;
    Ok((fleet, evidence([("renewals_failed", json!(failed)), ("outage_ms", json!(outage_ms))])))
}

/// Fills a disk to the last byte; fails when it takes more.
fn fill(path: &Path) -> Result<()> {
    use std::io::Write;
    let mut file = fs::File::create(path)?;
    let mut size = 1 << 20;
    while size > 0 {
        match file.write(&vec![0; size]) {
            Ok(1..) => {}
            Ok(0) | Err(_) => size /= 2,
        }
    }
    let refused = file.write(&[0]);
    let error = refused.err().context("a disk that is full takes more")?;
    ensure!(error.kind() == std::io::ErrorKind::StorageFull, "a disk that is full says {error}");
    Ok(())
}

struct Unmount(PathBuf);

impl Drop for Unmount {
    fn drop(&mut self) {
        // Lazily: a process may be on its way out.
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}
