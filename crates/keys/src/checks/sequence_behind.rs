//! A sequence that is about to hand out a value which is in use.

use super::{Check, Examples, Finding, Severity};
use crate::apart;
use crate::catalog::{Catalog, Dialect, Extreme, Grows, Kind, Reading, Sequence, Table};
use crate::sequences::fed::{self, Fed, Way};

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
    for (index, feds) in fed::feeds(catalog) {
        let sequence = &catalog.sequences[index];
        let Some(next) = sequence.next().filter(|_| !sequence.cycles) else { continue };
        // What only owns a sequence may be filled by a program that hands out several ids for each of its values.
        for fed in feds.iter().filter(|fed| matches!(fed.way, Way::AsTheyAre { .. })) {
            let grows = sequence.grows();
            let furthest = fed::furthest(catalog, fed, grows);
            let Some(value) = furthest.value else { continue };
            // What stands apart at the very end is told of by itself.
            if apart::of(catalog, sequence, fed, &Extreme::AtLeast(value)).is_some() {
                continue;
            }
            let is_behind = if grows == Grows::Up { next <= value } else { next >= value };
            if is_behind && (value - next) % sequence.increment == 0 {
                findings.push(finding(catalog, fed, next, value));
            }
        }
    }
    findings
}

fn finding(catalog: &Catalog, fed: &Fed, next: i128, value: i128) -> Finding {
    let (table, column) = (&catalog.tables[fed.at.table], catalog.column(fed.at));
    let is_unique = table.indexes.iter().any(|index| index.is_unique && index.columns.contains(&column.name));
    let then = if is_unique { "inserts fail with a duplicate key" } else { "ids are given twice" };
    let message = format!("the next value is {next}, and {value} is in use: {then} when it is reached");
    // No statement that could be pasted: by the time somebody does, the value in it may lie behind the sequence.
    let next =
        "mintage keys sequences --fix, which reads what is in use anew while nobody takes numbers".to_owned();
    Finding::of_column(catalog, fed.at, CHECK.code, Severity::Error).says(message, next)
}
