//! What a run found: ids, duplicates, breaks of order, and for how long nobody could mint, fault by fault.

use super::fleet::Fleet;
use super::{Evidence, Options};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::{self, Display};
use std::io::Write;
use std::sync::atomic::Ordering;

/// What a run found. One that [has passed](Report::has_passed) has no failures.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The store's kind.
    pub store: String,
    /// What the order of faults followed from.
    pub seed: u64,
    /// Processes that minted.
    pub processes: usize,
    /// The length of a window, in milliseconds.
    pub window_ms: u64,
    /// How long the faults went on.
    pub seconds: u64,
    /// Ids minted.
    pub ids: u64,
    /// How many of them repeat another.
    pub duplicates: u64,
    /// Some of those that came more than once.
    pub repeated: Vec<String>,
    /// Ids that weren't above the one before of their process and worker.
    pub order_breaks: u64,
    /// Leases whose renewal was refused.
    pub leases_lost: u64,
    /// What processes told of their leases, and how often.
    pub events: BTreeMap<String, u64>,
    /// How often a process ended by itself and was started again, by its last words.
    pub ends: BTreeMap<String, u64>,
    /// What was done.
    pub faults: BTreeMap<&'static str, Times>,
    /// What is not as it must be.
    pub failures: Vec<String>,
}

/// What was done of one kind.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Times {
    /// How often.
    pub times: u64,
    /// The longest time in which nobody minted, in milliseconds.
    pub outage_ms: u64,
    /// The longest time in which some process didn't mint, in milliseconds; of those that were stopped this is the stop.
    pub silence_ms: u64,
    /// By how much this process itself was late at most, in milliseconds: an outage as long is the machine's.
    pub stall_ms: u64,
    /// The longest time after its end until every process minted again, in milliseconds.
    pub recovery_ms: u64,
    /// The longest time that it lasted, recovery included, in milliseconds.
    pub lasted_ms: u64,
    /// What showed the last time that it took effect.
    pub evidence: Evidence,
}

/// A fault that was done.
#[derive(Debug)]
pub struct Done {
    /// Its name.
    pub fault: &'static str,
    /// The longest time in which nobody minted.
    pub outage_nanos: u64,
    /// The longest time in which some process didn't mint.
    pub silence_nanos: u64,
    /// By how much this process itself was late at most.
    pub stall_nanos: u64,
    /// How long it took, recovery included.
    pub lasted_nanos: u64,
    /// What shows it, and the nanoseconds until every process minted again.
    pub result: anyhow::Result<(Evidence, u64)>,
}

const MS: u64 = 1_000_000;

impl Report {
    /// Of a run that begins.
    #[must_use]
    pub fn new(options: &Options) -> Self {
        Self {
            store: options.store.name().to_owned(),
            seed: options.seed,
            processes: options.processes,
            window_ms: options.window_ms,
            seconds: 0,
            ids: 0,
            duplicates: 0,
            repeated: Vec::new(),
            order_breaks: 0,
            leases_lost: 0,
            events: BTreeMap::new(),
            ends: BTreeMap::new(),
            faults: BTreeMap::new(),
            failures: Vec::new(),
        }
    }

    /// Takes in a fault that was done.
    pub fn add(&mut self, done: &Done) {
        let times = self.faults.entry(done.fault).or_default();
        times.times += 1;
        times.outage_ms = times.outage_ms.max(done.outage_nanos / MS);
        times.silence_ms = times.silence_ms.max(done.silence_nanos / MS);
        times.stall_ms = times.stall_ms.max(done.stall_nanos / MS);
        times.lasted_ms = times.lasted_ms.max(done.lasted_nanos / MS);
        match &done.result {
            Ok((evidence, recovery)) => {
                times.recovery_ms = times.recovery_ms.max(recovery / MS);
                times.evidence.clone_from(evidence);
            }
            Err(error) => self.failures.push(format!("{}: {error:#}", done.fault)),
        }
    }

    /// Takes in the counts of a fleet that has ended.
    pub fn count(&mut self, fleet: &Fleet) {
        let found = fleet.common.ledger.found();
        self.ids += found.tally.ids;
        self.duplicates += found.tally.duplicates;
        self.repeated.extend(found.repeated.iter().map(u64::to_string));
        self.order_breaks += fleet.common.order_breaks.load(Ordering::Relaxed);
        let bad = fleet.common.bad_lines.load(Ordering::Relaxed);
        self.expect(bad == 0, format!("{bad} lines are cut off, or no ids"));
        let told = fleet.common.ids.load(Ordering::Relaxed);
        self.expect(told == found.tally.ids, format!("{told} ids came, {} were counted", found.tally.ids));
        for (event, count) in fleet.events() {
            *self.events.entry(event).or_default() += count;
        }
        for (words, count) in &fleet.ends {
            *self.ends.entry(words.clone()).or_default() += count;
        }
    }

    /// Notes a failure unless `holds`.
    pub fn expect(&mut self, holds: bool, otherwise: impl Display) {
        if !holds {
            self.failures.push(otherwise.to_string());
        }
    }

    /// Judges the counts.
    pub fn judge(&mut self) {
        self.leases_lost = self.events.get("lost").copied().unwrap_or(0);
        self.expect(self.ids > 0, "no ids");
        self.expect(
            self.duplicates == 0,
            format!("{} duplicates, such as {}", self.duplicates, self.repeated.join(", ")),
        );
        self.expect(
            self.order_breaks == 0,
            format!("{} ids are not above the one before", self.order_breaks),
        );
    }

    /// Whether all is as it must be.
    #[must_use]
    pub const fn has_passed(&self) -> bool {
        self.failures.is_empty()
    }

    /// Says on standard error how far the run is.
    pub fn tell_progress(&self, seconds: u64, fleet: &Fleet) {
        let faults: u64 = self.faults.values().map(|times| times.times).sum();
        let ids = fleet.common.ids.load(Ordering::Relaxed);
        let breaks = fleet.common.order_breaks.load(Ordering::Relaxed);
        let failures = self.failures.len();
        // Nobody is left to tell when standard error is gone.
        let _ = writeln!(
            std::io::stderr(),
            "{seconds} s: {ids} ids, {faults} faults, {breaks} breaks of order, {failures} failures"
        );
    }
}

impl Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            store,
            seed,
            processes,
            window_ms,
            seconds,
            ids,
            duplicates,
            order_breaks,
            leases_lost,
            ..
        } = self;
        writeln!(
            f,
            "store {store}, seed {seed}, {processes} processes, windows of {window_ms} ms, {seconds} s"
        )?;
        writeln!(
            f,
            "{ids} ids, {duplicates} duplicates, {order_breaks} breaks of order, {leases_lost} leases lost"
        )?;
        writeln!(
            f,
            "{:<26} {:>5} {:>9} {:>10} {:>10}  shown by",
            "fault", "times", "nobody ms", "someone ms", "machine ms"
        )?;
        for (name, times) in &self.faults {
            let Times { times, outage_ms, silence_ms, stall_ms, evidence, .. } = times;
            let shown: Vec<String> = evidence.iter().map(|(name, value)| format!("{name} {value}")).collect();
            writeln!(
                f,
                "{name:<26} {times:>5} {outage_ms:>9} {silence_ms:>10} {stall_ms:>10}  {}",
                shown.join(", ")
            )?;
        }
        let events: Vec<String> =
            self.events.iter().map(|(event, count)| format!("{event} {count}")).collect();
        writeln!(f, "events: {}", events.join(", "))?;
        for (words, count) in &self.ends {
            writeln!(f, "ended by itself, {count} times: {words}")?;
        }
        for failure in &self.failures {
            writeln!(f, "FAILED: {failure}")?;
        }
        Ok(())
    }
}
