//! Two runs compared by ratios, so that a change of speed shows on any machine: each operation's time now divided by its time then,
//! and that divided by the median of all, which is what the machine itself did.

use crate::timing::{Row, quantile};
use std::fmt::{self, Write as _};

/// One line of an earlier run's JSON that isn't one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable {
    /// Its number, from 1.
    pub line: usize,
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "line {}: an object with `operation`, `ns`, `spread` and `threads` expected, as --json prints it",
            self.line
        )
    }
}

impl std::error::Error for Unreadable {}

/// An operation that both runs have.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// What was done.
    pub operation: String,
    /// By how many threads at once.
    pub threads: usize,
    /// Nanoseconds in the earlier run.
    pub then_ns: f64,
    /// Nanoseconds in this one.
    pub now_ns: f64,
    /// Nanoseconds between the quartiles of the rounds, of both runs together.
    pub spread: f64,
    /// Now divided by then, divided by the median of all such ratios: above 1 the operation became slower than the others did.
    pub relative: f64,
}

/// From this on a change is marked, when it exceeds the spread too: below it, two runs of one program differ as much.
pub const MARKED: f64 = 1.25;

impl Change {
    /// Nanoseconds now, had the operation changed as all others did.
    fn expected_ns(&self) -> f64 {
        self.now_ns / self.relative
    }

    fn mark(&self) -> &'static str {
        if (self.now_ns - self.expected_ns()).abs() <= self.spread {
            return "";
        }
        match self.relative {
            relative if relative >= MARKED => "  slower",
            relative if relative <= 1.0 / MARKED => "  faster",
            _ => "",
        }
    }
}

/// The operations that both runs have, in this run's order.
///
/// # Errors
/// [`Unreadable`] for a line that isn't one of [`crate::report::json`]'s.
pub fn changes(earlier: &str, rows: &[Row]) -> Result<Vec<Change>, Unreadable> {
    let mut then = Vec::new();
    for (i, line) in earlier.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        then.push(Then::read(line).ok_or(Unreadable { line: i + 1 })?);
    }
    let mut changes: Vec<Change> = Vec::new();
    for row in rows {
        let mut then = then.iter();
        if let Some(then) = then.find(|then| then.operation == row.operation && then.threads == row.threads) {
            changes.push(Change {
                operation: row.operation.clone(),
                threads: row.threads,
                then_ns: then.ns,
                now_ns: row.ns,
                spread: then.spread + row.spread,
                relative: row.ns / then.ns,
            });
        }
    }
    let mut ratios: Vec<f64> = changes.iter().map(|change| change.relative).collect();
    ratios.sort_by(f64::total_cmp);
    let median = quantile(&ratios, 0.5);
    changes.iter_mut().for_each(|change| change.relative /= median);
    Ok(changes)
}

/// What an earlier run says of an operation.
struct Then {
    operation: String,
    threads: usize,
    ns: f64,
    spread: f64,
}

impl Then {
    fn read(line: &str) -> Option<Self> {
        let row: serde_json::Value = serde_json::from_str(line).ok()?;
        Some(Self {
            operation: row.get("operation")?.as_str()?.to_owned(),
            threads: usize::try_from(row.get("threads")?.as_u64()?).ok()?,
            ns: row.get("ns")?.as_f64().filter(|ns| *ns > 0.0)?,
            spread: row.get("spread")?.as_f64()?,
        })
    }
}

/// A table of the changes.
#[must_use]
pub fn table(changes: &[Change]) -> String {
    let width = changes
        .iter()
        .map(|change| change.operation.chars().count())
        .max()
        .unwrap_or(0)
        .max("operation".len());
    let mut text = format!("{:width$}  threads     then ns      now ns   ratio  relative\n", "operation");
    for change in changes {
        let Change { operation, threads, then_ns, now_ns, relative, .. } = change;
        let mark = change.mark();
        let ratio = now_ns / then_ns;
        writeln!(text, "{operation:width$}  {threads:>7}  {then_ns:>10.2}  {now_ns:>10.2}  {ratio:>6.2}  {relative:>8.2}{mark}")
            .expect("a String takes all text");
    }
    text.push_str("\nratio: now divided by then; relative: that divided by the median of all ratios, the machine's own change.\n");
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::json;

    fn run(figures: &[(&str, f64, f64)]) -> Vec<Row> {
        let row = |(operation, ns, spread): &(&str, f64, f64)| Row {
            operation: (*operation).to_owned(),
            threads: 1,
            clock: "none",
            ns: *ns,
            spread: *spread,
        };
        figures.iter().map(row).collect()
    }

    fn marked(changes: &[Change]) -> Vec<(&str, &str)> {
        changes.iter().map(|change| (change.operation.as_str(), change.mark().trim())).collect()
    }

    #[test]
    fn a_slower_machine_is_no_change_and_a_slower_operation_is() {
        let then = json(&run(&[("a", 10.0, 0.1), ("b", 20.0, 0.1), ("c", 30.0, 0.1), ("gone", 1.0, 0.0)]));
        let now = run(&[("a", 20.0, 0.1), ("b", 40.0, 0.1), ("c", 120.0, 0.1), ("new", 1.0, 0.0)]);
        let changes = changes(&then, &now).unwrap();
        let relative: Vec<_> = changes.iter().map(|change| change.relative).collect();
        assert_eq!(relative, [1.0, 1.0, 2.0]);
        assert_eq!(marked(&changes), [("a", ""), ("b", ""), ("c", "slower")]);
        assert!(table(&changes).lines().any(|line| line.starts_with("c ") && line.ends_with("2.00  slower")));
    }

    #[test]
    fn a_change_within_the_spread_of_the_rounds_is_not_marked() {
        let then = json(&run(&[("a", 10.0, 3.0), ("b", 20.0, 0.1), ("c", 30.0, 0.1)]));
        let now = run(&[("a", 14.0, 3.0), ("b", 20.0, 0.1), ("c", 15.0, 0.1)]);
        assert_eq!(marked(&changes(&then, &now).unwrap()), [("a", ""), ("b", ""), ("c", "faster")]);
    }

    #[test]
    fn what_is_no_run_is_refused_with_its_line() {
        assert_eq!(changes("\n{\"operation\":\"a\"}\n", &[]), Err(Unreadable { line: 2 }));
        assert_eq!(changes("no json", &[]), Err(Unreadable { line: 1 }));
    }
}
