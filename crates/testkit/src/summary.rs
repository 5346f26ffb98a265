//! What a run found, as one NDJSON object: the counts, the evidence that the fault took effect, and what is not as it must be.

use crate::minted::Total;
use crate::subject::Subject;
use serde::Serialize;
use serde_json::{Map, Value};
use std::fmt::Display;

/// What a run found.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// The fault: `fork`, `clock`, `threads`, `wrap`, `pause`.
    pub fault: &'static str,
    /// What was put to the test.
    pub subject: String,
    /// Ids minted.
    pub ids: u64,
    /// How many of them repeat another.
    pub duplicates: u64,
    /// Calls that were refused.
    pub refused: u64,
    /// Ids not above the one before of their thread, where the scheme promises that; else `null`.
    pub order_breaks: Option<u64>,
    /// The longest time without an id, in milliseconds.
    pub outage_ms: u64,
    /// What shows that the fault took effect, and figures of this fault alone.
    pub evidence: Map<String, Value>,
    /// What is not as it must be; a run without these has passed.
    pub failures: Vec<String>,
}

impl Summary {
    /// The counts of a run, judged: no duplicates, no broken order, nothing refused for a cause that no policy names.
    #[must_use]
    pub fn new(fault: &'static str, subject: &Subject, total: &Total) -> Self {
        let mut summary = Self {
            fault,
            subject: subject.name(),
            ids: total.tally.ids,
            duplicates: total.tally.duplicates,
            refused: total.refused.sum(),
            order_breaks: subject.promises_order().then_some(total.order_breaks),
            outage_ms: total.outage_nanos / 1_000_000,
            evidence: Map::new(),
            failures: Vec::new(),
        };
        summary.expect(summary.ids > 0, "no ids");
        summary.expect(summary.duplicates == 0, "duplicates");
        summary.expect(summary.order_breaks.unwrap_or(0) == 0, "ids of one thread are not in order");
        summary.expect(total.refused.other == 0, format!("{} calls failed", total.refused.other));
        summary
    }

    /// Adds a piece of evidence.
    pub fn show(&mut self, name: &str, value: impl Into<Value>) {
        self.evidence.insert(name.to_owned(), value.into());
    }

    /// Notes a failure unless `holds`.
    pub fn expect(&mut self, holds: bool, otherwise: impl Display) {
        if !holds {
            self.failures.push(otherwise.to_string());
        }
    }

    /// Whether all is as it must be.
    #[must_use]
    pub const fn has_passed(&self) -> bool {
        self.failures.is_empty()
    }
}
