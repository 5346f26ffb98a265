//! A wall clock that steps back while all threads mint.
//!
//! The step is taken midway. Where the policy makes calls wait or fail until the clock has caught up, a step too long for the run
//! is undone after a third of it: until then nothing may come, and then ids must come again.

use super::Summary;
use crate::clock_shim::SteppedClock;
use crate::load::{Load, policy_name, spent_name};
use crate::minted::Total;
use anyhow::Result;
use mintage::time::pause;
use mintage::{ClockBack, Spent};
use std::path::Path;

/// What to do to the clock.
#[derive(Clone, Copy, Debug)]
pub struct Options<'a> {
    /// The step in milliseconds, back when negative.
    pub step_ms: i64,
    /// The clock shim's library.
    pub shim: &'a Path,
    /// This binary, which is started anew as the process under load.
    pub program: &'a Path,
}

/// Steps seen differ from those taken by what passes between two readings.
const TOLERANCE_NANOS: u64 = 5_000_000;

/// A generator that absorbs a step has an outage of a tick or two at most; this much more is left to a busy machine.
const ABSORBED_NANOS: u64 = 500_000_000;

/// Ids that show that minting went on.
const WENT_ON: u64 = 100;

/// Steps the clock of a process under load.
///
/// # Errors
/// When the process can't be started, fails or hangs.
pub fn run(load: &Load, options: &Options<'_>) -> Result<Summary> {
    let third = load.for_ms * 1_000_000 / 3;
    let step = options.step_ms.saturating_mul(1_000_000);
    let behind_until = if load.subject.has_policies() { load.clock_back } else { ClockBack::Absorb };
    let is_undone = behind_until != ClockBack::Absorb && step.unsigned_abs() > third;
    let clock = SteppedClock::new(options.shim.to_owned())?;
    let running = load.start(options.program, |command| clock.arm(command))?;
    pause(third);
    clock.step(step);
    pause(third);
    if is_undone {
        clock.step(-step);
        pause(third);
    }
    let (report, _) = running.finish()?;

    let mut summary = Summary::new("clock", &load.subject, &Total::from(&report));
    summary.show("step_ms", options.step_ms);
    summary.show("threads", load.threads);
    if load.subject.has_policies() {
        summary.show("policy", policy_name(load.clock_back));
        summary.show("spent", spent_name(load.spent));
    }
    summary.show("step_seen_ms", millis(report.step_back_nanos));
    summary.show("undone_ms", is_undone.then(|| millis(report.step_ahead_nanos)));
    summary.show("ids_after_step", report.ids_after_step);
    summary.show("refused_clock_behind", report.refused.clock_behind);
    summary.show("refused_spent", report.refused.spent);

    let is_seen = report.step_back_nanos.abs_diff(step.unsigned_abs()) <= TOLERANCE_NANOS;
    summary.expect(is_seen, "the program did not see its clock step back so far");
    let is_seen = report.step_ahead_nanos.abs_diff(step.unsigned_abs()) <= TOLERANCE_NANOS;
    summary.expect(!is_undone || is_seen, "the program did not see its clock being set right");
    summary.expect(report.ids_after_step >= WENT_ON, "minting did not go on");
    // What must pass without an id, less half of it for readings that a busy machine took late.
    let behind = step.unsigned_abs().min(third);
    // A generator that may run ahead takes a step shorter than its lead for one.
    let may_lead = load.spent == Spent::Borrow && step.unsigned_abs() < mintage::generators::MAX_LEAD_NANOS;
    if behind_until == ClockBack::Absorb {
        let ticks = 3 * load.subject.tick_nanos();
        summary.expect(report.outage_nanos < ABSORBED_NANOS + ticks, "the step was not absorbed");
    } else if !may_lead {
        summary.expect(report.outage_nanos >= behind / 2, "ids came while the clock stood behind");
    }
    let is_refusing = behind_until == ClockBack::Refuse && !may_lead;
    summary.expect(
        is_refusing == (report.refused.clock_behind > 0),
        "calls were refused where they must not be, or not refused where they must",
    );
    Ok(summary)
}

fn millis(nanos: u64) -> u64 {
    // Rounded: the clocks are read one after the other.
    (nanos + 500_000) / 1_000_000
}
