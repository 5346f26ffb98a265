//! What a drill tells as it goes, for people or as one JSON object a line.

use super::super::telling::{Telling, plan_lines};
use crate::exit::Failure;
use crate::output::{self, Palette};
use mintage_keys::sequences::Outlook;
use mintage_keys::sequences::standing::Verdict;
use serde::Serialize;
use std::io::Write;

/// Where it is told.
pub(super) struct Report(Telling);

/// A sequence that was moved.
#[derive(Serialize)]
pub(super) struct Repaired<'a> {
    pub(super) sequence: String,
    pub(super) before: &'a str,
    pub(super) after: &'a str,
}

/// What the next writes do without a repair.
#[derive(Debug, Default, Serialize)]
pub(super) struct Without {
    /// Ids that clients had got before.
    pub(super) issued_twice: usize,
    pub(super) first_twice: Option<String>,
    pub(super) duplicate_keys: usize,
    pub(super) first_error: Option<String>,
}

/// What the drill came to.
#[derive(Serialize)]
pub(super) struct Summary {
    pub(super) mode: &'static str,
    pub(super) repair: &'static str,
    pub(super) acknowledged: usize,
    pub(super) lost: usize,
    pub(super) behind_by_columns: usize,
    pub(super) behind_by_demand: usize,
    pub(super) rigged_caught: bool,
    pub(super) without_issued_twice: usize,
    pub(super) without_duplicate_keys: usize,
    pub(super) written_after: usize,
    pub(super) issued_twice: usize,
    pub(super) duplicate_keys: usize,
    pub(super) fine: bool,
}

impl Summary {
    /// Whether the check caught what was rigged, and the repair kept every id apart.
    pub(super) const fn is_good(&self) -> bool {
        self.rigged_caught && self.fine && self.issued_twice == 0 && self.duplicate_keys == 0
    }
}

/// A line of NDJSON.
#[derive(Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
enum Event<'a> {
    Plan {
        mode: &'a str,
        repair: &'a str,
        steps: &'a [String],
    },
    Check {
        by: &'a str,
        fine: bool,
        behind: Vec<Behind>,
    },
    Without(&'a Without),
    Repaired(&'a Repaired<'a>),
    Result {
        good: bool,
        after_ms: u64,
        #[serde(flatten)]
        result: &'a Summary,
    },
}

/// A sequence that is behind; numbers of 64 bits are strings.
#[derive(Serialize)]
struct Behind {
    sequence: String,
    next: Option<String>,
    known: Option<String>,
}

impl Report {
    pub(super) fn new(is_json: bool) -> Self {
        Self(Telling::new(is_json))
    }

    pub(super) fn plan(&self, mode: &str, repair: &str, steps: &[String]) -> Result<(), Failure> {
        let drill = format!("failover, mode {mode}, repair by {repair}");
        self.0.tell(&Event::Plan { mode, repair, steps }, &plan_lines(&drill, steps))
    }

    pub(super) fn step(&self, step: &str) -> Result<(), Failure> {
        self.0.step(step)
    }

    pub(super) fn check(&self, by: &str, outlook: &Outlook) -> Result<(), Failure> {
        let value = |value: Option<i128>| value.map(|value| value.to_string());
        let behind: Vec<Behind> = outlook
            .standings
            .iter()
            .filter(|standing| matches!(standing.verdict, Verdict::Behind { .. }))
            .map(|s| Behind { sequence: s.path(), next: value(s.next()), known: value(s.known()) })
            .collect();
        let mut lines = vec![format!("          {by}: {} behind", behind.len())];
        lines.extend(behind.iter().map(|one| {
            let (next, known) =
                (one.next.as_deref().unwrap_or("?"), one.known.as_deref().unwrap_or("nothing"));
            format!("            {} hands out {next} next; known: {known}", one.sequence)
        }));
        self.0.tell(&Event::Check { by, fine: outlook.is_fine(), behind }, &lines)
    }

    pub(super) fn without(&self, without: &Without) -> Result<(), Failure> {
        let mut lines = vec![format!(
            "          {} ids given out twice, {} writes failed",
            without.issued_twice, without.duplicate_keys
        )];
        lines.extend(without.first_twice.iter().map(|first| format!("            first twice: {first}")));
        lines.extend(without.first_error.iter().map(|first| format!("            first error: {first}")));
        self.0.tell(&Event::Without(without), &lines)
    }

    pub(super) fn repaired(&self, repaired: &Repaired<'_>) -> Result<(), Failure> {
        let line = format!("          {}: {} → {}", repaired.sequence, repaired.before, repaired.after);
        self.0.tell(&Event::Repaired(repaired), &[line])
    }

    pub(super) fn result(&self, result: &Summary) -> Result<(), Failure> {
        let after_ms = self.0.after_ms();
        if self.0.is_json {
            return self.0.tell(&Event::Result { good: result.is_good(), after_ms, result }, &[]);
        }
        let row = |what: &str, without: String, with: String| vec![what.to_owned(), without, with];
        let lines = [
            row("", "without a repair".to_owned(), format!("repaired by {}", result.repair)),
            row(
                "ids given out twice",
                result.without_issued_twice.to_string(),
                result.issued_twice.to_string(),
            ),
            row(
                "writes failed by a duplicate key",
                result.without_duplicate_keys.to_string(),
                result.duplicate_keys.to_string(),
            ),
            row("sequences behind, by columns alone", result.behind_by_columns.to_string(), String::new()),
            row("sequences behind, by what is demanded", result.behind_by_demand.to_string(), String::new()),
            row(
                "ids acknowledged before, of them lost",
                result.acknowledged.to_string(),
                result.lost.to_string(),
            ),
            row("ids written after the repair", String::new(), result.written_after.to_string()),
        ];
        let mut out = output::stdout();
        writeln!(out)?;
        output::columns(&mut out, &lines, Palette::of_stdout())?;
        let rigged = if result.rigged_caught { "was caught" } else { "was NOT caught" };
        let end = if result.is_good() {
            "no id was given out twice after the repair"
        } else {
            "the repair was NOT enough"
        };
        writeln!(out, "\nThe rigged sequence {rigged}; {end} ({:.1} s).", after_ms as f64 / 1_000.0)?;
        Ok(out.flush()?)
    }
}
