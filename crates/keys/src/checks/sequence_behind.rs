//! A sequence that is about to hand out a value which is in use.

use super::{Check, Examples, Finding, Severity, sql_sequence};
use crate::catalog::{Catalog, Dialect, Extreme, Feed, Grows, Kind, Reading, Sequence, Table};

pub(super) const CHECK: Check = Check {
    code: "sequence-behind",
    title: "a sequence behind the column that it feeds",
    why: "Rows that were copied, restored or replicated bring their ids with them, and the sequence doesn't move: one of the next \
          inserts fails with `duplicate key`, or gives an id for the second time where nothing is unique. The column is read before \
          the sequence, so inserts in between raise no alarm. Sequences that step by more than one are judged by values that they can \
          reach themselves, and those that cycle not at all.",
    source: "PostgreSQL documentation, \"Logical Replication Restrictions\": sequence data is not replicated",
    severity: Severity::Error,
    engines: Dialect::ALL,
    run,
    examples: Examples { passes: || example(100), fails: || example(99) },
};

fn example(last: i128) -> Catalog {
    let table = Table::of("users").column("id", "bigint", Kind::int(64)).primary(&["id"]);
    Catalog::of(Dialect::Postgres)
        .with(table)
        .fed("users.id", Sequence::of("users_id_seq", 64, Reading::Value(last)))
        .changed("users.id", |column| column.extreme = Extreme::Exact(100))
}

fn run(catalog: &Catalog) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (at, table, column) in catalog.columns() {
        // What only owns a sequence may be filled by a program that hands out several ids for each of its values.
        let Feed::Sequence { sequence, is_default: true, .. } = column.feed else { continue };
        let sequence = &catalog.sequences[sequence];
        let Some(value) = column.extreme.value() else { continue };
        let Some(next) = sequence.next() else { continue };
        let is_behind = match sequence.grows() {
            Grows::Up => next <= value,
            Grows::Down => next >= value,
        };
        if !is_behind || sequence.cycles || (value - next) % sequence.increment != 0 {
            continue;
        }
        let is_unique =
            table.indexes.iter().any(|index| index.is_unique && index.columns.contains(&column.name));
        let then = if is_unique { "inserts fail with a duplicate key" } else { "ids are given twice" };
        let message = format!("the next value is {next}, and {value} is in use: {then} when it is reached");
        let name = sql_sequence(catalog, sequence);
        let next = match catalog.server.dialect {
            dialect if dialect.is_mysql_like() => {
                format!("ALTER SEQUENCE {name} RESTART {};", value + sequence.increment)
            }
            // RESTART takes a lock that keeps others from taking numbers meanwhile, and is rolled back with its transaction.
            _ => format!("ALTER SEQUENCE {name} RESTART WITH {};", value + sequence.increment),
        };
        findings.push(Finding::of_column(catalog, at, CHECK.code, Severity::Error).says(message, next));
    }
    findings
}
