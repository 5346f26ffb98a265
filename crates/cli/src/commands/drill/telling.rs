//! How a drill tells what happens: lines for people, or one JSON object a line.

use crate::exit::Failure;
use crate::output;
use mintage::{Clock, SystemClock};
use serde::Serialize;
use std::io::Write;

/// Where it is told, and since when.
#[derive(Debug)]
pub(super) struct Telling {
    pub(super) is_json: bool,
    start: u64,
}

/// The two events that every drill has.
#[derive(Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
enum Event<'a> {
    Plan { drill: &'a str, steps: &'a [String] },
    Step { step: &'a str, after_ms: u64 },
}

impl Telling {
    pub(super) fn new(is_json: bool) -> Self {
        Self { is_json, start: SystemClock.monotonic_nanos() }
    }

    /// Milliseconds since the beginning.
    pub(super) fn after_ms(&self) -> u64 {
        SystemClock.monotonic_nanos().saturating_sub(self.start) / 1_000_000
    }

    /// An event, in either form.
    pub(super) fn tell(&self, event: &impl Serialize, lines: &[String]) -> Result<(), Failure> {
        let mut out = output::stdout();
        if self.is_json {
            output::json_line(&mut out, event)?;
        } else {
            for line in lines {
                writeln!(out, "{}", output::harmless_line(line))?;
            }
        }
        Ok(out.flush()?)
    }

    /// What will be done.
    pub(super) fn plan(&self, drill: &str, steps: &[String]) -> Result<(), Failure> {
        self.tell(&Event::Plan { drill, steps }, &plan_lines(drill, steps))
    }

    /// What is done now.
    pub(super) fn step(&self, step: &str) -> Result<(), Failure> {
        let after_ms = self.after_ms();
        let line = format!("{:>6.1} s  {step}", after_ms as f64 / 1_000.0);
        self.tell(&Event::Step { step, after_ms }, &[line])
    }
}

/// A plan for people.
pub(super) fn plan_lines(drill: &str, steps: &[String]) -> Vec<String> {
    let mut lines = vec![format!("Plan: {drill}")];
    lines.extend(steps.iter().enumerate().map(|(number, step)| format!("  {}. {step}", number + 1)));
    lines.push(String::new());
    lines
}
