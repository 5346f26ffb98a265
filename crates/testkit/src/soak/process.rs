//! One process of `mintage mint`, and what comes out of it.

use super::ledger::Ledger;
use super::store::at_store;
use crate::clock_shim::SteppedClock;
use crate::signal;
use anyhow::{Context, Result, bail, ensure};
use mintage::time::pause;
use mintage::{Clock, SystemClock};
use std::collections::HashMap;
use std::fs::OpenOptions;
use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

/// What processes are started with.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The binary `mintage`.
    pub program: PathBuf,
    /// The space.
    pub space: String,
    /// Ids a second that each process mints at most.
    pub rate: u64,
    /// Where the worker stands in an id: how many bits are below it, and how many it has.
    pub worker: (u32, u32),
    /// Where processes leave their events and messages.
    pub folder: PathBuf,
}

/// What all processes of a run have in common: their ids, and when there were none.
#[derive(Debug)]
pub struct Common {
    /// All ids.
    pub ledger: Ledger,
    /// Ids so far.
    pub ids: AtomicU64,
    /// Ids that weren't above the one before of their process and worker.
    pub order_breaks: AtomicU64,
    /// Lines that were cut off or no id.
    pub bad_lines: AtomicU64,
    pulse: Mutex<Pulse>,
}

#[derive(Debug)]
struct Pulse {
    last: u64,
    longest: u64,
}

impl Default for Common {
    fn default() -> Self {
        Self {
            ledger: Ledger::default(),
            ids: AtomicU64::new(0),
            order_breaks: AtomicU64::new(0),
            bad_lines: AtomicU64::new(0),
            pulse: Mutex::new(Pulse { last: SystemClock.monotonic_nanos(), longest: 0 }),
        }
    }
}

/// What one place in the fleet has done, over all processes that stood there.
#[derive(Debug, Default)]
pub struct Deeds {
    /// Ids so far.
    pub ids: AtomicU64,
    /// When the last came, on the monotonic clock; 0 before the first.
    pub last_at: AtomicU64,
    /// The last id.
    pub last_id: AtomicU64,
    /// The longest time without an id since this was set to 0, in nanoseconds.
    pub longest_silence: AtomicU64,
}

impl Common {
    /// Somebody minted.
    fn beat(&self) {
        let now = SystemClock.monotonic_nanos();
        let mut pulse = self.pulse.lock().unwrap_or_else(PoisonError::into_inner);
        pulse.longest = pulse.longest.max(now.saturating_sub(pulse.last));
        pulse.last = now;
    }

    /// Nanoseconds of the longest time in which nobody minted since this was asked last; it counts anew from now.
    pub fn longest_outage(&self) -> u64 {
        self.beat();
        std::mem::take(&mut self.pulse.lock().unwrap_or_else(PoisonError::into_inner).longest)
    }
}

/// A process that mints. Killed when dropped.
#[derive(Debug)]
pub struct Process {
    child: Child,
    reader: Option<JoinHandle<()>>,
    messages: PathBuf,
}

impl Process {
    /// Starts one at the store of this URL, as number `number` of the fleet.
    ///
    /// # Errors
    /// When it can't be started.
    pub fn start(
        plan: &Plan,
        url: &str,
        number: usize,
        clock: Option<&SteppedClock>,
        deeds: &Arc<Deeds>,
        common: &Arc<Common>,
    ) -> Result<Self> {
        let messages = plan.folder.join(format!("messages-{number}"));
        let mut command = at_store(&plan.program, url);
        command
            .args(["mint", &plan.space, "--form", "decimal", "--rate", &format!("{}/s", plan.rate)])
            .arg("--events")
            .arg(events_path(&plan.folder, number));
        if let Some(clock) = clock {
            clock.arm(&mut command);
        }
        Self::run(command, messages, plan.worker, deeds, common)
    }

    /// Starts any program that prints an id a line. It ends with this thread.
    ///
    /// # Errors
    /// When it can't be started.
    pub fn run(
        mut command: Command,
        messages: PathBuf,
        worker: (u32, u32),
        deeds: &Arc<Deeds>,
        common: &Arc<Common>,
    ) -> Result<Self> {
        let log = OpenOptions::new().create(true).append(true).open(&messages);
        let log = log.with_context(|| format!("making {}", messages.display()))?;
        let command = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(log);
        signal::ends_with_its_starter(command);
        let mut child = command.spawn().with_context(|| format!("starting {command:?}"))?;
        let out = child.stdout.take().context("its output is piped")?;
        let (deeds, common) = (Arc::clone(deeds), Arc::clone(common));
        let reader = std::thread::Builder::new().name("soak-reader".to_owned()).spawn(move || {
            Reading { worker, deeds, common, last: HashMap::new(), ids: Vec::new() }.read(out)
        })?;
        Ok(Self { child, reader: Some(reader), messages })
    }

    /// Its process id.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// How it ended, when it has.
    ///
    /// # Errors
    /// What the system says.
    pub fn ended(&mut self) -> Result<Option<ExitStatus>> {
        let status = self.child.try_wait()?;
        if status.is_some() {
            self.read_to_end();
        }
        Ok(status)
    }

    /// Waits until it has ended by itself.
    ///
    /// # Errors
    /// When it hasn't after `nanos`.
    pub fn wait(&mut self, nanos: u64) -> Result<ExitStatus> {
        let until = SystemClock.monotonic_nanos() + nanos;
        while SystemClock.monotonic_nanos() < until {
            if let Some(status) = self.ended()? {
                return Ok(status);
            }
            pause(5_000_000);
        }
        bail!("process {} doesn't end: {}", self.pid(), self.message())
    }

    /// Kills it, and takes in what it had written.
    ///
    /// # Errors
    /// When it didn't die of that.
    pub fn kill(&mut self) -> Result<()> {
        self.child.kill()?;
        let status = self.child.wait()?;
        self.read_to_end();
        ensure!(
            status.signal() == Some(9),
            "process {} was to be killed and ended by itself: {status}",
            self.pid()
        );
        Ok(())
    }

    /// Asks it to end.
    ///
    /// # Errors
    /// When there is no such process any more.
    pub fn ask_to_end(&self) -> Result<()> {
        Ok(signal::terminate(self.pid())?)
    }

    /// The last line that it, or the one before it, had to say.
    #[must_use]
    pub fn message(&self) -> String {
        let text = std::fs::read(&self.messages).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        text.lines().last().unwrap_or("no message").to_owned()
    }

    fn read_to_end(&mut self) {
        if let Some(reader) = self.reader.take() {
            let _ = reader.join();
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
        self.read_to_end();
    }
}

/// Where process `number` of a fleet leaves its events.
#[must_use]
pub fn events_path(folder: &Path, number: usize) -> PathBuf {
    folder.join(format!("events-{number}.ndjson"))
}

/// Takes in the ids of one process.
struct Reading {
    worker: (u32, u32),
    deeds: Arc<Deeds>,
    common: Arc<Common>,
    /// The last id of each worker that the process had.
    last: HashMap<u64, u64>,
    ids: Vec<u64>,
}

/// Ids that are handed to the ledger at a time.
const BATCH: usize = 1 << 14;

impl Reading {
    fn read(mut self, mut out: ChildStdout) {
        let mut bytes = vec![0; 1 << 16];
        let mut line = Vec::new();
        while let Ok(count @ 1..) = out.read(&mut bytes) {
            for byte in &bytes[..count] {
                match byte {
                    b'\n' => {
                        self.take(&line);
                        line.clear();
                    }
                    byte => line.push(*byte),
                }
            }
            self.common.beat();
            let now = SystemClock.monotonic_nanos();
            let last = self.deeds.last_at.swap(now, Ordering::Relaxed);
            if last > 0 {
                self.deeds.longest_silence.fetch_max(now.saturating_sub(last), Ordering::Relaxed);
            }
            if self.ids.len() >= BATCH {
                self.common.ledger.append(&mut self.ids);
            }
        }
        if !line.is_empty() {
            self.common.bad_lines.fetch_add(1, Ordering::Relaxed);
        }
        self.common.ledger.append(&mut self.ids);
    }

    fn take(&mut self, line: &[u8]) {
        let Some(id) = std::str::from_utf8(line).ok().and_then(|line| line.parse::<u64>().ok()) else {
            self.common.bad_lines.fetch_add(1, Ordering::Relaxed);
            return;
        };
        let worker = worker_of(id, self.worker);
        if self.last.insert(worker, id).is_some_and(|last| id <= last) {
            self.common.order_breaks.fetch_add(1, Ordering::Relaxed);
        }
        self.ids.push(id);
        self.common.ids.fetch_add(1, Ordering::Relaxed);
        self.deeds.ids.fetch_add(1, Ordering::Relaxed);
        self.deeds.last_id.store(id, Ordering::Relaxed);
    }
}

/// The worker in an id.
#[must_use]
pub const fn worker_of(id: u64, (below, bits): (u32, u32)) -> u64 {
    (id >> below) & ((1 << bits) - 1)
}
