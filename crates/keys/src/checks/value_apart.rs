//! A value at the very end of a column, far from where its sequence stands.

use super::{Check, Examples, Finding, Severity, sql_table};
use crate::apart::{self, furthest_within};
use crate::catalog::{Catalog, Dialect, Extreme, Grows, Kind, Reading, Sequence, Table};
use crate::sequences::fed::{self, Fed, Way};

pub(super) const CHECK: Check = Check {
    code: "value-apart",
    title: "a value at the very end, far from its sequence",
    why: "Somebody put the largest value there by hand, as \"all others\" or \"none\". It isn't how far the key has come; a sequence that is \
          moved past it, as many a script does after a restore, hands out nothing more and every insert fails. What tells whether the \
          sequence is behind is the furthest of the other values: it is read where an index begins with the column, and this is a note; \
          else a warning, with the query.",
    source: "tried on PostgreSQL 15: `setval` to the largest value, then `nextval: reached maximum value of sequence`",
    severity: Severity::Warning,
    engines: Dialect::ALL,
    run,
    examples: Examples { passes: || example(99), fails: || example(i128::from(i64::MAX)) },
};

fn example(most: i128) -> Catalog {
    let table = Table::of("users").column("id", "bigint", Kind::int(64)).primary(&["id"]);
    Catalog::of(Dialect::Postgres)
        .with(table)
        .fed("users.id", Sequence::of("users_id_seq", 64, Reading::Value(50)))
        .changed("users.id", |column| column.extreme = Extreme::Exact(most))
}

fn run(catalog: &Catalog) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (index, feds) in fed::feeds(catalog) {
        let sequence = &catalog.sequences[index];
        let Some(last) = apart::last(sequence) else { continue };
        for fed in feds.iter().filter(|fed| matches!(fed.way, Way::AsTheyAre { .. })) {
            findings.extend(found(catalog, sequence, fed, last));
        }
    }
    findings
}

fn found(catalog: &Catalog, sequence: &Sequence, fed: &Fed, last: i128) -> Option<Finding> {
    if let Some(value) = fed.parts.iter().find_map(|part| catalog.column(*part).apart) {
        let message = format!(
            "{value} is in use, at the very end; its sequence stands at {last}, and so do the other values"
        );
        let next = "nothing, as long as no script moves the sequence to the largest value; mintage keys sequences --fix leaves it out";
        let finding = Finding::of_column(catalog, fed.at, CHECK.code, Severity::Note);
        return Some(finding.says(message, next.to_owned()));
    }
    let value = fed::furthest(catalog, fed, sequence.grows()).value?;
    let value = apart::of(catalog, sequence, fed, &Extreme::AtLeast(value))?;
    let message = format!(
        "{value} is in use, at the very end, and its sequence stands at {last}: whether that is behind other values isn't known"
    );
    Some(
        Finding::of_column(catalog, fed.at, CHECK.code, Severity::Warning)
            .says(message, sql_of_others(catalog, sequence, fed, last)),
    )
}

/// The query that tells the furthest of the other values.
pub(crate) fn sql_of_others(catalog: &Catalog, sequence: &Sequence, fed: &Fed, last: i128) -> String {
    let within = furthest_within(last, apart::end(catalog, sequence, fed), sequence.grows());
    let column = catalog.server.dialect.quoted(&catalog.column(fed.at).name);
    let (end, than) = if sequence.grows() == Grows::Up { ("max", "<=") } else { ("min", ">=") };
    let table = sql_table(catalog, &catalog.tables[fed.at.table]);
    format!("SELECT {end}({column}) FROM {table} WHERE {column} {than} {within};")
}
