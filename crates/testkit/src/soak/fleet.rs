//! The processes of a run: started, watched, and started again when they end by themselves, as a supervisor does.

use super::process::{Common, Deeds, Plan, Process, events_path, worker_of};
use crate::clock_shim::SteppedClock;
use anyhow::{Result, ensure};
use mintage::time::pause;
use mintage::{Clock, SystemClock};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// A place in the fleet: one process at a time stands there.
#[derive(Debug)]
pub struct Slot {
    /// What was done there.
    pub deeds: Arc<Deeds>,
    /// The wall clock of its processes, where there is a shim.
    pub clock: Option<SteppedClock>,
    url: String,
    process: Option<Process>,
    /// When the next may be started, after one that ended by itself.
    not_before: u64,
}

/// The processes of a run.
#[derive(Debug)]
pub struct Fleet {
    plan: Plan,
    /// What they have in common.
    pub common: Arc<Common>,
    slots: Vec<Slot>,
    /// How often a process ended by itself, by its last words.
    pub ends: BTreeMap<String, u64>,
}

/// How long a supervisor waits before it starts a process again.
const RESTART_NANOS: u64 = 300_000_000;

/// A process that is to end has this long.
const PATIENCE_NANOS: u64 = 20_000_000_000;

const POLL_NANOS: u64 = 10_000_000;

impl Fleet {
    /// Starts a process at each URL.
    ///
    /// # Errors
    /// When one can't be started.
    pub fn start(plan: Plan, urls: Vec<String>, shim: Option<&PathBuf>) -> Result<Self> {
        let common = Arc::new(Common::default());
        let mut slots = Vec::new();
        for url in urls {
            let clock = shim.map(|shim| SteppedClock::new(shim.clone())).transpose()?;
            slots.push(Slot { deeds: Arc::default(), clock, url, process: None, not_before: 0 });
        }
        let mut fleet = Self { plan, common, slots, ends: BTreeMap::new() };
        for number in 0..fleet.slots.len() {
            fleet.restart(number)?;
        }
        Ok(fleet)
    }

    /// How many places there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// A place.
    ///
    /// # Panics
    /// When there is no such place.
    #[must_use]
    pub fn slot(&self, number: usize) -> &Slot {
        &self.slots[number]
    }

    /// The process at a place.
    ///
    /// # Errors
    /// When none stands there just now.
    pub fn process(&mut self, number: usize) -> Result<&mut Process> {
        let process = self.slots[number].process.as_mut();
        process.ok_or_else(|| anyhow::anyhow!("no process stands at place {number}"))
    }

    /// The worker that a place minted as last.
    #[must_use]
    pub fn worker(&self, number: usize) -> u64 {
        worker_of(self.slots[number].deeds.last_id.load(Ordering::Relaxed), self.plan.worker)
    }

    /// Ids of a place so far.
    #[must_use]
    pub fn ids(&self, number: usize) -> u64 {
        self.slots[number].deeds.ids.load(Ordering::Relaxed)
    }

    /// Starts a process at a place where none stands, or in the place of one.
    ///
    /// # Errors
    /// When it can't be started.
    pub fn restart(&mut self, number: usize) -> Result<()> {
        let slot = &mut self.slots[number];
        slot.process = None;
        let (clock, deeds) = (slot.clock.as_ref(), &slot.deeds);
        slot.process = Some(Process::start(&self.plan, &slot.url, number, clock, deeds, &self.common)?);
        Ok(())
    }

    /// Kills the process at a place; another is started there as after any end.
    ///
    /// # Errors
    /// When none stands there, or it didn't die of that.
    pub fn kill(&mut self, number: usize) -> Result<()> {
        self.process(number)?.kill()?;
        self.slots[number].process = None;
        Ok(())
    }

    /// Nanoseconds of the longest time in which some process didn't mint since this was asked last; it counts anew from now.
    #[must_use]
    pub fn longest_silence(&self) -> u64 {
        let silences = self.slots.iter().map(|slot| slot.deeds.longest_silence.swap(0, Ordering::Relaxed));
        silences.max().unwrap_or(0)
    }

    /// Lets time pass, and starts again what ends by itself.
    ///
    /// # Errors
    /// When a process can't be started.
    pub fn wait(&mut self, nanos: u64) -> Result<()> {
        let until = SystemClock.monotonic_nanos() + nanos;
        loop {
            self.supervise()?;
            let left = until.saturating_sub(SystemClock.monotonic_nanos());
            if left == 0 {
                return Ok(());
            }
            pause(left.min(POLL_NANOS));
        }
    }

    /// Waits until `holds`, and starts again what ends by itself; whether it came about within `nanos`.
    ///
    /// # Errors
    /// When a process can't be started, or asking fails.
    pub fn wait_until(
        &mut self,
        nanos: u64,
        mut holds: impl FnMut(&mut Self) -> Result<bool>,
    ) -> Result<bool> {
        let until = SystemClock.monotonic_nanos() + nanos;
        loop {
            if holds(self)? {
                return Ok(true);
            }
            if SystemClock.monotonic_nanos() >= until {
                return Ok(false);
            }
            self.wait(POLL_NANOS)?;
        }
    }

    /// Waits until each place has minted since now; the nanoseconds that it took.
    ///
    /// # Errors
    /// When one hasn't within `nanos`.
    pub fn recover(&mut self, nanos: u64) -> Result<u64> {
        let begun = SystemClock.monotonic_nanos();
        let has_minted = |slot: &Slot| slot.deeds.last_at.load(Ordering::Relaxed) > begun;
        let is_well = self.wait_until(nanos, |fleet| Ok(fleet.slots.iter().all(has_minted)))?;
        let silent: Vec<String> = (self.slots.iter().enumerate())
            .filter(|(_, slot)| !has_minted(slot))
            .map(|(number, slot)| {
                let message = slot.process.as_ref().map_or_else(String::new, Process::message);
                format!("place {number}: {message}")
            })
            .collect();
        ensure!(is_well, "after {} ms these don't mint: {}", nanos / 1_000_000, silent.join("; "));
        Ok(SystemClock.monotonic_nanos() - begun)
    }

    fn supervise(&mut self) -> Result<()> {
        for number in 0..self.slots.len() {
            let slot = &mut self.slots[number];
            if let Some(process) = &mut slot.process {
                if let Some(status) = process.ended()? {
                    // What it did is told by its message; ticks and times in it would make each unlike the others.
                    let words: String =
                        process.message().chars().map(|c| if c.is_ascii_digit() { '#' } else { c }).collect();
                    *self.ends.entry(format!("{status}: {}", squeezed(&words))).or_default() += 1;
                    slot.process = None;
                    slot.not_before = SystemClock.monotonic_nanos() + RESTART_NANOS;
                }
            } else if SystemClock.monotonic_nanos() >= slot.not_before {
                self.restart(number)?;
            }
        }
        Ok(())
    }

    /// Asks every process to end, and waits until they have; how many did so with exit code 0.
    ///
    /// # Errors
    /// When one doesn't end.
    pub fn end(&mut self) -> Result<usize> {
        for process in self.slots.iter().filter_map(|slot| slot.process.as_ref()) {
            // One may just have ended.
            let _ = process.ask_to_end();
        }
        let mut good = 0;
        for slot in &mut self.slots {
            if let Some(mut process) = slot.process.take() {
                good += usize::from(process.wait(PATIENCE_NANOS)?.success());
            }
        }
        Ok(good)
    }

    /// How often each event was told so far.
    #[must_use]
    pub fn events(&self) -> BTreeMap<String, u64> {
        let mut counts = BTreeMap::new();
        for number in 0..self.slots.len() {
            let text = std::fs::read(events_path(&self.plan.folder, number)).unwrap_or_default();
            for line in text.split(|byte| *byte == b'\n') {
                // A process that was killed may have left part of a line.
                let Ok(event) = serde_json::from_slice::<Value>(line) else { continue };
                if let Some(name) = event["event"].as_str() {
                    *counts.entry(name.to_owned()).or_default() += 1;
                }
            }
        }
        counts
    }
}

/// Runs of `#` as one.
fn squeezed(words: &str) -> String {
    let mut text = String::new();
    for c in words.chars() {
        if c != '#' || !text.ends_with('#') {
            text.push(c);
        }
    }
    text
}
