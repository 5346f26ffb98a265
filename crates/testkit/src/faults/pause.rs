//! A process that is stopped (SIGSTOP) while it mints, and goes on, while another with its own worker mints all the time.

use super::Summary;
use crate::count::Ids;
use crate::load::Load;
use crate::minted::Total;
use crate::signal;
use anyhow::{Context, Result, ensure};
use mintage::time::pause;
use mintage::{Clock, SystemClock};
use std::path::Path;

/// How long to stop it.
#[derive(Clone, Copy, Debug)]
pub struct Options<'a> {
    /// The stop, in milliseconds; at least 1,000.
    pub stop_ms: u64,
    /// This binary, which is started anew as both processes.
    pub program: &'a Path,
}

/// How long the system may take to stop a process.
const PATIENCE_NANOS: u64 = 5_000_000_000;

/// The other process is never stopped; this much is left to a busy machine.
const STEADY_NANOS: u64 = 500_000_000;

/// Stops a process under load. `load` says how both mint; the second has the next worker.
///
/// # Errors
/// When a process can't be started or stopped, fails or hangs.
pub fn run(load: &Load, options: &Options<'_>) -> Result<Summary> {
    ensure!(options.stop_ms >= 1000, "a stop of {} ms is not told from a busy machine", options.stop_ms);
    let third = load.for_ms * 1_000_000 / 3;
    let load = Load { for_ms: load.for_ms + options.stop_ms, send_ids: true, ..*load };
    let first = load.start(options.program, |_| {})?;
    let second = Load { worker: load.worker + 1, ..load }.start(options.program, |_| {})?;
    pause(third);
    signal::stop(first.pid()).context("stopping the process")?;
    let was_stopped = is_stopped_soon(first.pid())?;
    pause(options.stop_ms * 1_000_000);
    let stays_stopped = signal::is_stopped(first.pid())?;
    signal::resume(first.pid()).context("letting the process go on")?;
    pause(third);
    let ((stopped, stopped_ids), (steady, steady_ids)) = (first.finish()?, second.finish()?);

    let mut total = Total::from(&stopped);
    total.order_breaks += steady.order_breaks;
    total.refused.add(steady.refused);
    let mut all = Ids::of(load.subject.scheme);
    all.append(stopped_ids);
    all.append(steady_ids);
    total.tally = all.tally();
    let mut summary = Summary::new("pause", &load.subject, &total);
    let ids_told = stopped.ids + steady.ids;
    summary.show("stop_ms", options.stop_ms);
    summary.show("stopped_as_the_system_says", was_stopped && stays_stopped);
    summary.show("still_ms", stopped.still_nanos / 1_000_000);
    summary.show("ids_after_pause", stopped.ids_after_pause);
    summary.show("ids_of_stopped", stopped.ids);
    summary.show("ids_of_other", steady.ids);
    summary.show("outage_of_other_ms", steady.outage_nanos / 1_000_000);
    summary.expect(was_stopped && stays_stopped, "the system does not show the process as stopped");
    summary.expect(stopped.still_nanos >= 1_000_000_000, "the program did not see that it stood still");
    summary.expect(stopped.ids_after_pause > 0, "minting did not go on");
    summary.expect(steady.outage_nanos < STEADY_NANOS, "the other process did not mint meanwhile");
    summary.expect(total.tally.ids == ids_told, "ids were lost on the way");
    Ok(summary)
}

/// Whether the process stands, asked until it does or patience ends: a signal takes a moment to arrive.
fn is_stopped_soon(pid: u32) -> Result<bool> {
    let until = SystemClock.monotonic_nanos() + PATIENCE_NANOS;
    while SystemClock.monotonic_nanos() < until {
        if signal::is_stopped(pid)? {
            return Ok(true);
        }
        pause(1_000_000);
    }
    Ok(false)
}
