//! Long runs: several processes of the real `mintage mint` on one space, with faults at random by a seed, and every id counted.
//!
//! [`FAULTS`] lists what is done, each with a proof that it took effect; a fault that didn't is a failure of the run. The question at
//! the end is always the same: how many ids, how many duplicates, how long was nobody able to mint.
//!
//! * What runs: [`process`] (one process and its output), [`fleet`] (all of them), [`store`] (where they lease from).
//! * What is counted: [`ledger`] (ids and duplicates), [`stall`] (the machine itself), [`report`].
//! * What is done: [`process_faults`], [`file_faults`], [`server_faults`]; [`scenes`] are short runs on spaces of their own.

pub mod cuttable;
pub mod file_faults;
pub mod fleet;
pub mod ledger;
pub mod process;
pub mod process_faults;
pub mod random;
pub mod report;
pub mod scenes;
pub mod server_faults;
pub mod servers;
pub mod stall;
pub mod store;

use crate::clock_shim;
use anyhow::{Context, Result};
use fleet::Fleet;
use mintage::{Clock, SystemClock};
use process::{Plan, Process};
use random::Random;
use report::{Done, Report};
use serde_json::{Map, Value};
use stall::Stall;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use store::{Kind, Scratch, Store, Whose};

/// What a run is made of.
#[derive(Clone, Debug)]
pub struct Options {
    /// The binary `mintage`.
    pub program: PathBuf,
    /// Which store.
    pub store: Whose,
    /// The space that the processes share. It is made, and in a store of somebody else's dropped at the end.
    pub space: String,
    /// Processes that mint; at least 2.
    pub processes: usize,
    /// Ids a second that each mints at most.
    pub rate: u64,
    /// The length of a window, in milliseconds. Renewals, lag, lead and skew are a third of it.
    pub window_ms: u64,
    /// For how long faults go on; each is done at least once, however long that takes.
    pub seconds: u64,
    /// What the order of faults and their lengths follow from.
    pub seed: u64,
    /// Names of the faults to do; all of the store when empty.
    pub only: Vec<String>,
    /// Whether scenes follow.
    pub scenes: bool,
    /// Lets a process without a lease mint as a worker that is leased: the run must notice.
    pub blind: bool,
    /// Whether progress is told on standard error.
    pub tells: bool,
    /// Where files of the run go and stay; a folder that is removed when there is none.
    pub folder: Option<PathBuf>,
    /// Set by whoever wants the run to end: after the fault that is being done it is counted and cleaned up.
    pub stop: Arc<AtomicBool>,
}

/// What a fault works on.
#[derive(Debug)]
pub struct Scene {
    /// The run's options.
    pub options: Options,
    /// The processes.
    pub fleet: Fleet,
    /// The store.
    pub store: Store,
    /// Where numbers come from.
    pub random: Random,
    /// Whether the machine stood still.
    pub stall: Stall,
}

/// What shows that a fault took effect.
pub type Evidence = Map<String, Value>;

/// A fault.
#[derive(Clone, Copy, Debug)]
pub struct Fault {
    /// Its name.
    pub name: &'static str,
    /// What is done.
    pub what: &'static str,
    /// The stores that it goes with.
    pub stores: &'static [Kind],
    /// Does it, and undoes it. Fails when it didn't take effect.
    pub run: fn(&mut Scene) -> Result<Evidence>,
}

impl Fault {
    /// Whether it is done to this store: to somebody else's, what needs nothing of it.
    #[must_use]
    pub fn goes_with(&self, whose: &Whose) -> bool {
        match whose {
            Whose::Own(kind) => self.stores.contains(kind),
            Whose::CopyOf(_) => self.stores.contains(&Kind::Sqlite),
            Whose::Theirs(url) if url.starts_with("etcd:") => self.stores.len() == Kind::ALL.len(),
            Whose::TheirsThroughProxies(_) => {
                [server_faults::CUT.name, server_faults::STALLED.name].contains(&self.name)
            }
            Whose::Theirs(_) => self.stores.contains(&Kind::Sqlite) && self.stores.contains(&Kind::Postgres),
        }
    }
}

/// All faults.
pub static FAULTS: &[Fault] = &[
    process_faults::PAUSED,
    process_faults::KILLED,
    process_faults::ALL_KILLED,
    process_faults::CLOCK_STEPPED,
    process_faults::CLOCK_STEPPED_ALONE,
    file_faults::LOCKED,
    file_faults::COPIED_BACK,
    file_faults::COPIED_BACK_WITH_SIDE_CAR,
    file_faults::RENAMED_OVER,
    server_faults::STOPPED,
    server_faults::KILLED,
    server_faults::CUT,
    server_faults::STALLED,
    server_faults::COMMIT_UNANSWERED,
    server_faults::RESTORED,
    server_faults::PUT_BACK,
    server_faults::LEADER_KILLED,
    server_faults::PROMOTED,
    server_faults::PROMOTED_IN_SYNC,
];

/// The split of the space's ids, the bits below its worker, and the bits of its worker.
const SPLIT: (&str, (u32, u32)) = ("41/10/12", (12, 10));

/// Between two faults, so that outages are told apart.
const REST_NANOS: u64 = 300_000_000;

/// How long the processes may take to mint again after a fault, besides four windows: the machine may be busy.
const RECOVERY_NANOS: u64 = 30_000_000_000;

const MS: u64 = 1_000_000;

impl Scene {
    /// The length of a window.
    #[must_use]
    pub const fn window_nanos(&self) -> u64 {
        self.options.window_ms * MS
    }

    /// Between `from` and `to` hundredths of a window.
    pub fn windows(&mut self, from: u64, to: u64) -> u64 {
        (from + self.random.below(to - from)) * self.window_nanos() / 100
    }

    /// Waits until the processes mint again; the nanoseconds that it took.
    ///
    /// # Errors
    /// When they don't.
    pub fn recover(&mut self) -> Result<u64> {
        self.fleet.recover(RECOVERY_NANOS + 4 * self.window_nanos())
    }

    /// Waits until nothing of a fault is left: no hold, and no window that was granted before it ended.
    ///
    /// # Errors
    /// When a hold doesn't end, or processes don't mint after it.
    pub fn settle(&mut self) -> Result<()> {
        let (program, window) = (self.options.program.clone(), self.window_nanos());
        let space = self.options.space.clone();
        let mut state = String::new();
        for _ in 0..100 {
            // A server that was just started may not answer yet.
            if let Ok(shown) = self.store.show(&program, &space) {
                shown["state"].as_str().unwrap_or_default().clone_into(&mut state);
            }
            if state == "in use" {
                self.fleet.wait(window)?;
                return self.recover().map(|_| ());
            }
            self.fleet.wait(window / 10)?;
        }
        anyhow::bail!("ten windows after a fault the space isn't in use, but {state}")
    }

    /// How often the space was on hold, as `mintage store show` says.
    ///
    /// # Errors
    /// When the store doesn't answer.
    pub fn holds(&self) -> Result<u64> {
        let shown = self.store.show(&self.options.program, &self.options.space)?;
        shown["holds"].as_str().and_then(|holds| holds.parse().ok()).context("`store show` tells of holds")
    }

    /// The space's serial, as `mintage store show` says: each write raises it.
    ///
    /// # Errors
    /// When the store doesn't answer.
    pub fn serial(&self) -> Result<u64> {
        let shown = self.store.show(&self.options.program, &self.options.space)?;
        shown["serial"]
            .as_str()
            .and_then(|serial| serial.parse().ok())
            .context("`store show` tells the serial")
    }

    /// Waits until the space was on hold more often than `before`; how often that is.
    ///
    /// # Errors
    /// When it isn't within four windows and a little more.
    pub fn hold_after(&mut self, before: u64) -> Result<u64> {
        let mut holds = 0;
        for _ in 0..40 {
            // A store that was just started may not answer yet.
            holds = self.holds().unwrap_or(holds);
            if holds > before {
                return Ok(holds);
            }
            self.fleet.wait(self.window_nanos() / 10)?;
        }
        anyhow::bail!("no hold began: `store show` says {holds}, as before")
    }
}

/// Makes a run.
///
/// # Errors
/// When it can't be made at all: no store, no server, no program.
pub fn run(options: &Options) -> Result<Report> {
    let scratch = Arc::new(match &options.folder {
        Some(folder) => Scratch::kept(folder)?,
        None => Scratch::new()?,
    });
    let store = Store::start(&options.store, options.processes, &scratch)?;
    store.create(&options.program, &options.space, &space_flags(options.window_ms))?;
    let shim = clock_shim::build(scratch.path()).ok();
    let plan = Plan {
        program: options.program.clone(),
        space: options.space.clone(),
        rate: options.rate,
        worker: SPLIT.1,
        folder: scratch.path().to_owned(),
    };
    let urls = (0..options.processes).map(|number| store.url_of(number)).collect();
    let fleet = Fleet::start(plan, urls, shim.as_ref())?;
    let mut scene = Scene {
        options: options.clone(),
        fleet,
        store,
        random: Random::new(options.seed),
        stall: Stall::watch()?,
    };
    let mut report = Report::new(options);
    let begun = SystemClock.monotonic_nanos();
    scene.recover().context("the processes begin to mint")?;
    do_faults(&mut scene, &mut report, begun)?;
    if options.blind {
        mint_without_lease(&mut scene, &scratch)?;
    }
    let good = scene.fleet.end()?;
    report.expect(good == options.processes, format!("{good} of {} processes ended well", options.processes));
    report.seconds = (SystemClock.monotonic_nanos() - begun) / 1_000_000_000;
    report.count(&scene.fleet);
    if options.scenes {
        let Scene { store, .. } = &mut scene;
        scenes::run_all(options, store, &scratch, &mut report);
    }
    scene.store.clean_up(options)?;
    report.judge();
    Ok(report)
}

/// Flags of `store create` for short windows.
fn space_flags(window_ms: u64) -> Vec<String> {
    let third = format!("{}ms", window_ms / 3);
    let window = format!("{window_ms}ms");
    let flags = [
        ("--snowflake", SPLIT.0),
        ("--window", &window),
        ("--renew", &third),
        ("--max-ahead", &window),
        ("--max-lag", &third),
        ("--max-lead", &third),
        ("--max-store-skew", &third),
    ];
    flags.iter().flat_map(|(flag, value)| [(*flag).to_owned(), (*value).to_owned()]).collect()
}

/// Each fault of the store once, in an order that the seed decides, and so on until time is up.
fn do_faults(scene: &mut Scene, report: &mut Report, begun: u64) -> Result<()> {
    let options = &scene.options;
    let is_asked = |fault: &&Fault| {
        fault.goes_with(&options.store)
            && (options.only.is_empty() || options.only.iter().any(|name| name == fault.name))
    };
    let mut faults: Vec<&Fault> = FAULTS.iter().filter(is_asked).collect();
    let end = begun + options.seconds * 1_000_000_000;
    let mut next_word = begun;
    for round in 0_u64.. {
        scene.random.shuffle(&mut faults);
        for fault in &faults {
            let is_stopped = scene.options.stop.load(Ordering::Relaxed);
            if is_stopped || (round > 0 && SystemClock.monotonic_nanos() >= end) {
                return Ok(());
            }
            scene.fleet.wait(REST_NANOS)?;
            let at = SystemClock.monotonic_nanos();
            scene.fleet.common.longest_outage();
            let _ = (scene.fleet.longest_silence(), scene.stall.longest());
            let result = (fault.run)(scene);
            let recovered = scene.recover().and_then(|nanos| scene.settle().map(|()| nanos));
            report.add(&Done {
                fault: fault.name,
                outage_nanos: scene.fleet.common.longest_outage(),
                silence_nanos: scene.fleet.longest_silence(),
                stall_nanos: scene.stall.longest(),
                lasted_nanos: SystemClock.monotonic_nanos() - at,
                result: result.and_then(|evidence| recovered.map(|nanos| (evidence, nanos))),
            });
            if scene.options.tells && SystemClock.monotonic_nanos() >= next_word {
                next_word = SystemClock.monotonic_nanos() + 10_000_000_000;
                report.tell_progress((SystemClock.monotonic_nanos() - begun) / 1_000_000_000, &scene.fleet);
            }
        }
        if faults.is_empty() {
            let now = SystemClock.monotonic_nanos();
            return scene.fleet.wait(end.saturating_sub(now));
        }
    }
    Ok(())
}

/// What leases rule out: a process whose worker was guessed, while another leases it. It mints until the other has minted beside it several
/// times, for on a busy machine one of them may stand still meanwhile.
fn mint_without_lease(scene: &mut Scene, scratch: &Scratch) -> Result<()> {
    const TIMES: usize = 3;
    const MOST: usize = 30;
    let mut beside = 0;
    for number in 0..MOST {
        let (worker, before) = (scene.fleet.worker(0), scene.fleet.ids(0));
        let mut command = Command::new(&scene.options.program);
        let worker_text = worker.to_string();
        command.args(["new", "snowflake", "--layout", SPLIT.0, "--worker", &worker_text, "-n", "400000"]);
        let (deeds, common) = (Arc::default(), Arc::clone(&scene.fleet.common));
        let messages = scratch.path().join(format!("messages-blind-{number}"));
        let mut process = Process::run(command, messages, SPLIT.1, &deeds, &common)?;
        let status = process.wait(RECOVERY_NANOS)?;
        anyhow::ensure!(status.success() && deeds.ids.load(Ordering::Relaxed) > 0, "{}", process.message());
        let minted = scene.fleet.ids(0).saturating_sub(before);
        beside += usize::from(minted >= scene.options.rate / 20 && scene.fleet.worker(0) == worker);
        if beside == TIMES {
            return Ok(());
        }
        scene.fleet.wait(REST_NANOS)?;
    }
    anyhow::bail!("no other process minted as the same worker in {MOST} attempts")
}
