//! A sequence that begins again at its end.

use super::{Check, Examples, Finding, Severity, sql_sequence};
use crate::catalog::{Catalog, Dialect, Reading, Sequence};

pub(super) const CHECK: Check = Check {
    code: "sequence-cycles",
    title: "a sequence that begins again at its end",
    why: "CYCLE turns the end of a sequence, which is an error that is noticed, into values that were handed out before: duplicate keys, \
          or two rows of one id where nothing is unique.",
    source: "PostgreSQL documentation, CREATE SEQUENCE, CYCLE",
    severity: Severity::Warning,
    engines: Dialect::ALL,
    run,
    examples: Examples { passes: || example(false), fails: || example(true) },
};

fn example(cycles: bool) -> Catalog {
    let mut catalog = Catalog::of(Dialect::Postgres);
    catalog.sequences.push(Sequence { cycles, ..Sequence::of("ticket_seq", 32, Reading::Value(5)) });
    catalog
}

fn run(catalog: &Catalog) -> Vec<Finding> {
    let cycling = catalog.sequences.iter().filter(|sequence| sequence.cycles);
    cycling
        .map(|sequence| {
            let finding = match sequence.owner {
                Some(at) => Finding::of_column(catalog, at, CHECK.code, Severity::Warning),
                None => Finding::of_sequence(sequence, CHECK.code, Severity::Warning),
            };
            let message = format!(
                "after {} it hands out {} again",
                sequence.bound(),
                match sequence.increment < 0 {
                    true => sequence.max,
                    false => sequence.min,
                }
            );
            let word = if catalog.server.dialect.is_mysql_like() { "NOCYCLE" } else { "NO CYCLE" };
            finding.says(message, format!("ALTER SEQUENCE {} {word};", sql_sequence(catalog, sequence)))
        })
        .collect()
}
