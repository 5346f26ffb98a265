//! A process under load: threads that mint from one generator at full speed for a while, and a watcher that tells what the
//! clocks did meanwhile. It runs as `mintage-fault load`, so that a fault can be done to it from outside.

use crate::count::Ids;
use crate::minted::{Minted, Refused, Total};
use crate::signal::die_after;
use crate::subject::Subject;
use crate::wire;
use anyhow::{Context, Result, bail, ensure};
use mintage::time::pause;
use mintage::{Clock, ClockBack, Generator, Settings, Spent, SystemClock};
use serde::{Deserialize, Serialize};
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// What to mint, and for how long.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    /// What is put to the test.
    pub subject: Subject,
    /// The worker, where there are workers.
    pub worker: u64,
    /// What to do when the clock went back.
    pub clock_back: ClockBack,
    /// What to do when a sequence is spent.
    pub spent: Spent,
    /// Threads that share the generator.
    pub threads: usize,
    /// How long, in milliseconds on the monotonic clock, and on until the process that started it has done its fault.
    pub for_ms: u64,
    /// Whether the ids are wanted, and not only counted.
    pub send_ids: bool,
}

/// What a process under load saw.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LoadReport {
    /// Ids minted.
    pub ids: u64,
    /// How many of them repeat another of this process.
    pub duplicates: u64,
    /// Ids not above the one before of their thread.
    pub order_breaks: u64,
    /// Calls refused.
    pub refused: Refused,
    /// The longest time in which no thread got an id.
    pub outage_nanos: u64,
    /// The furthest that the wall clock went back at once, against the monotonic clock.
    pub step_back_nanos: u64,
    /// The furthest that it went ahead at once.
    pub step_ahead_nanos: u64,
    /// Ids that came after the clock was seen to go back.
    pub ids_after_step: u64,
    /// The longest time between two readings of the monotonic clock, in the thread where that was shortest: how long the whole
    /// process stood still.
    pub still_nanos: u64,
    /// Ids that came after a thread had stood still for a second.
    pub ids_after_pause: u64,
}

/// Said on standard output when every thread has its first id.
const MINTING: &str = "minting";

/// How long after its time a process that hangs is ended.
const PATIENCE: Duration = Duration::from_secs(60);

/// How long a thread must stand still for a pause.
const PAUSE_NANOS: u64 = 1_000_000_000;

impl Load {
    /// Mints in this process, and reports to `out`.
    ///
    /// # Errors
    /// When there is no such generator, or the reader is gone.
    ///
    /// # Panics
    /// When a minting thread does.
    pub fn run(&self, out: &mut impl Write) -> Result<()> {
        die_after(Duration::from_millis(self.for_ms) + PATIENCE);
        let settings =
            Settings { clock_back: self.clock_back, spent: self.spent, ..self.subject.settings(self.worker) };
        let generator = self.subject.generator(&settings)?;
        // The tick in which such a generator is made has to be waited out.
        let first_tick = if self.subject.has_policies() { self.subject.tick_nanos() } else { 0 };
        let until = SystemClock.monotonic_nanos() + first_tick + self.for_ms * 1_000_000;
        let end = End { until, is_held: AtomicBool::new(true) };
        let stepped_at = AtomicU64::new(0);
        let (watched, threads) = std::thread::scope(|scope| {
            scope.spawn(|| end.comes_with_input());
            let watcher = scope.spawn(|| watch(&end, &stepped_at));
            let (started, first_ids) = std::sync::mpsc::channel();
            let threads: Vec<_> = (0..self.threads)
                .map(|_| {
                    let (started, generator) = (started.clone(), &*generator);
                    let (end, stepped_at) = (&end, &stepped_at);
                    let start = move || {
                        // Nobody waits for it any more when another thread had no id.
                        let _ = started.send(());
                    };
                    scope.spawn(move || self.mint(generator, end, stepped_at, start))
                })
                .collect();
            drop(started);
            for _ in 0..self.threads {
                first_ids.recv().context("a thread came to its end without an id")?;
            }
            writeln!(out, "{MINTING}")?;
            out.flush()?;
            let threads: Vec<Turns> =
                threads.into_iter().map(|t| t.join().expect("a thread that mints does not panic")).collect();
            Ok::<_, anyhow::Error>((watcher.join().expect("the watcher does not panic"), threads))
        })?;
        let (ids_after_step, ids_after_pause) = threads.iter().fold((0, 0), |(step, pause), thread| {
            (step + thread.ids_after_step, pause + thread.ids_after_pause)
        });
        let still_nanos = threads.iter().map(|thread| thread.longest).min().unwrap_or(0);
        let mut sent = Ids::of(self.subject.scheme);
        let minted: Vec<Minted> = threads.into_iter().map(|thread| thread.minted).collect();
        if self.send_ids {
            minted.iter().for_each(|thread| sent.append(thread.ids.clone()));
        }
        let total = Minted::total(minted);
        let report = LoadReport {
            ids: total.tally.ids,
            duplicates: total.tally.duplicates,
            order_breaks: total.order_breaks,
            refused: total.refused,
            outage_nanos: total.outage_nanos,
            step_back_nanos: watched.back,
            step_ahead_nanos: watched.ahead,
            ids_after_step,
            still_nanos,
            ids_after_pause,
        };
        wire::write(out, &report, self.subject.scheme, &sent)
    }

    fn mint(
        &self,
        generator: &dyn Generator,
        end: &End,
        stepped_at: &AtomicU64,
        start: impl FnOnce(),
    ) -> Turns {
        let mut turns =
            Turns { minted: Minted::of(&self.subject), longest: 0, ids_after_step: 0, ids_after_pause: 0 };
        let mut start = Some(start);
        let mut now = SystemClock.monotonic_nanos();
        while !end.has_come(now) {
            let answer = generator.next();
            let then = std::mem::replace(&mut now, SystemClock.monotonic_nanos());
            turns.longest = turns.longest.max(now - then);
            if turns.minted.note(answer, now) {
                if let Some(start) = start.take() {
                    start();
                }
                let stepped_at = stepped_at.load(Ordering::Relaxed);
                turns.ids_after_step += u64::from(stepped_at != 0 && stepped_at < now);
                turns.ids_after_pause += u64::from(turns.longest >= PAUSE_NANOS);
            }
        }
        turns.minted.end(now);
        turns
    }

    /// Starts it as a process of its own, set up by `arm`, and waits until it mints.
    ///
    /// # Errors
    /// When the program doesn't start or doesn't mint.
    pub fn start(&self, program: &std::path::Path, arm: impl FnOnce(&mut Command)) -> Result<Running> {
        let mut command = Command::new(program);
        command
            .args(["load", self.subject.scheme.name])
            .args(["--worker", &self.worker.to_string()])
            .args(["--policy", policy_name(self.clock_back)])
            .args(["--spent", spent_name(self.spent)])
            .args(["--threads", &self.threads.to_string()])
            .args(["--for-ms", &self.for_ms.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        if let Some(method) = self.subject.method {
            command.args(["--method", method.name()]);
        }
        if self.send_ids {
            command.arg("--send-ids");
        }
        arm(&mut command);
        let mut child = command.spawn().with_context(|| format!("starting {}", program.display()))?;
        let held = child.stdin.take().context("its input is piped")?;
        let mut out = BufReader::new(child.stdout.take().context("its output is piped")?);
        let mut line = String::new();
        out.read_line(&mut line)?;
        if line.trim_end() != MINTING {
            bail!("the process under load ended before it minted: {}", child.wait()?);
        }
        Ok(Running { load: *self, child, held: Some(held), out })
    }
}

/// When a process under load ends: at its time, and not before its input does. Whoever does a fault to it so ends it by what was
/// done, and not by a schedule that a busy machine misses.
struct End {
    until: u64,
    is_held: AtomicBool,
}

impl End {
    /// Waits for the end of standard input.
    fn comes_with_input(&self) {
        // What is sent means nothing, and an input that fails has ended.
        let _ = std::io::copy(&mut std::io::stdin().lock(), &mut std::io::sink());
        self.is_held.store(false, Ordering::Relaxed);
    }

    fn has_come(&self, now: u64) -> bool {
        now >= self.until && !self.is_held.load(Ordering::Relaxed)
    }
}

/// A process under load. It ends once [`Running::finish`] lets it, and when this is dropped.
#[derive(Debug)]
pub struct Running {
    load: Load,
    child: Child,
    /// Its input, which ends when it may.
    held: Option<ChildStdin>,
    out: BufReader<ChildStdout>,
}

impl Running {
    /// Its process id.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Lets it end, and waits for it; returns what it saw, and its ids when they were asked for.
    ///
    /// # Errors
    /// When it failed, or hung.
    pub fn finish(mut self) -> Result<(LoadReport, Ids)> {
        self.held = None;
        let mut bytes = Vec::new();
        self.out.read_to_end(&mut bytes)?;
        let status = self.child.wait()?;
        ensure!(status.success(), "the process under load failed or hung: {status}");
        wire::read(&bytes, self.load.subject.scheme)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Both fail when it has ended, as it mostly has.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl From<&LoadReport> for Total {
    fn from(report: &LoadReport) -> Self {
        Self {
            tally: crate::count::Tally { ids: report.ids, duplicates: report.duplicates },
            order_breaks: report.order_breaks,
            refused: report.refused,
            outage_nanos: report.outage_nanos,
        }
    }
}

/// What a thread did, turn by turn.
struct Turns {
    minted: Minted,
    longest: u64,
    ids_after_step: u64,
    ids_after_pause: u64,
}

/// How far the wall clock went at once.
#[derive(Default)]
struct Watched {
    back: u64,
    ahead: u64,
}

/// Compares the wall clock with the monotonic one every millisecond. A difference counts when both were read within 0.2 ms, so
/// that a reading which was interrupted is no step.
fn watch(end: &End, stepped_at: &AtomicU64) -> Watched {
    const LEAST_NANOS: u64 = 5_000_000;
    let (mut watched, mut last) = (Watched::default(), None);
    loop {
        let before = SystemClock.monotonic_nanos();
        let wall = SystemClock.now().0;
        let after = SystemClock.monotonic_nanos();
        if after - before < 200_000 {
            let offset = wall - i128::from(before);
            let step = offset - last.replace(offset).unwrap_or(offset);
            let size = u64::try_from(step.unsigned_abs()).unwrap_or(u64::MAX);
            if step < 0 {
                watched.back = watched.back.max(size);
                if size >= LEAST_NANOS {
                    stepped_at.store(after, Ordering::Relaxed);
                }
            } else {
                watched.ahead = watched.ahead.max(size);
            }
        }
        if end.has_come(after) {
            return watched;
        }
        pause(1_000_000);
    }
}

/// A policy's word in flags.
#[must_use]
pub const fn policy_name(policy: ClockBack) -> &'static str {
    match policy {
        ClockBack::Absorb => "absorb",
        ClockBack::Wait => "wait",
        ClockBack::Refuse => "refuse",
    }
}

/// A policy's word in flags.
#[must_use]
pub const fn spent_name(spent: Spent) -> &'static str {
    match spent {
        Spent::Wait => "wait",
        Spent::Fail => "fail",
        Spent::Borrow => "borrow",
    }
}
