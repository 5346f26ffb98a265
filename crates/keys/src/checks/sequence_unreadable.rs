//! A sequence that can't be read, so that nobody knows how far it has come.

use super::{Check, Examples, Finding, Severity};
use crate::catalog::{Catalog, Dialect, Reading, Sequence};
use crate::names::harmless;

pub(super) const CHECK: Check = Check {
    code: "sequence-unreadable",
    title: "a sequence that may not be read",
    why: "PostgreSQL shows NULL both for a sequence that was never used and for one that the role may not read. Taken for zero it hides a \
          key that is about to end. `GRANT pg_read_all_data` is enough; `pg_monitor` isn't.",
    source: "PostgreSQL documentation, pg_sequences; tried on PostgreSQL 15",
    severity: Severity::Warning,
    engines: Dialect::ALL,
    run,
    examples: Examples {
        passes: || example(Reading::NeverUsed { next: Some(1) }),
        fails: || {
            example(Reading::Unreadable { needs: "USAGE or SELECT on sequence public.ticket_seq".to_owned() })
        },
    },
};

fn example(reading: Reading) -> Catalog {
    let mut catalog = Catalog::of(Dialect::Postgres);
    catalog.sequences.push(Sequence::of("ticket_seq", 64, reading));
    catalog
}

fn run(catalog: &Catalog) -> Vec<Finding> {
    let mut findings = Vec::new();
    for sequence in &catalog.sequences {
        let Reading::Unreadable { needs } = &sequence.reading else { continue };
        let finding = match sequence.owner {
            Some(at) => Finding::of_column(catalog, at, CHECK.code, Severity::Warning),
            None => Finding::of_sequence(sequence, CHECK.code, Severity::Warning),
        };
        let message = format!(
            "{}.{} can't be read: {}",
            harmless(&sequence.schema),
            harmless(&sequence.name),
            harmless(needs)
        );
        findings.push(finding.says(message, "let the role read it, and run the report again".to_owned()));
    }
    findings
}
