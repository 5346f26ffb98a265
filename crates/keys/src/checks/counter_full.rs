//! A counter that isn't a key, and has used much of what its column holds.

use super::{Check, Examples, Finding, Severity, sql_retype};
use crate::catalog::{Catalog, ColumnAt, Dialect, Extreme, Grows, Kind, Table, TableKind};
use crate::counters::{counters, inherited};
use crate::limits::furthest;
use std::collections::BTreeMap;

pub(super) const CHECK: Check = Check {
    code: "counter-full",
    title: "a counter that isn't a key, and has used much of its column",
    why: "How many, which version, how often: such columns grow by updates, nobody watches them, and at the end of a smallint or an int \
          each update is refused. They are known by their names (`…_count`, `views`, `retries`, `lock_version`) and by the largest value, from \
          an index or from statistics; the largest that fits is taken for one that was put there.",
    source: "PostgreSQL documentation, Numeric Types: smallint to 32,767, integer to 2,147,483,647; beyond, an error",
    severity: Severity::Warning,
    engines: Dialect::ALL,
    run,
    examples: Examples { passes: || example(2_000), fails: || example(30_000) },
};

/// Shares of a column from which it is a warning, and a note.
const SHARES: (f64, f64) = (0.75, 0.25);

fn example(most: i128) -> Catalog {
    let pages = Table::of("pages").column("id", "bigint", Kind::int(64)).primary(&["id"]);
    Catalog::of(Dialect::Postgres)
        .with(pages.column("view_count", "smallint", Kind::int(16)))
        .changed("pages.view_count", |column| column.extreme = Extreme::AtLeast(most))
}

fn run(catalog: &Catalog) -> Vec<Finding> {
    if catalog.server.is_text {
        return Vec::new();
    }
    let has_children = catalog.tables.iter().any(|table| table.kind == TableKind::Child);
    // Each column with the counter that it counts for: its own, or that which it inherits.
    let mut columns: Vec<(ColumnAt, ColumnAt)> = Vec::new();
    for at in counters(catalog) {
        columns.push((at, at));
        if has_children {
            columns.extend(inherited(catalog, at).into_iter().map(|child| (child, at)));
        }
    }
    let parts: Vec<ColumnAt> = columns.iter().map(|(part, _)| *part).collect();
    let mut all: BTreeMap<ColumnAt, (i128, Extreme)> = BTreeMap::new();
    for ((_, at), extreme) in columns.iter().zip(furthest(catalog, &parts)) {
        let Some(value) = extreme.value() else { continue };
        if all.get(at).is_none_or(|(most, _)| *most < value) {
            all.insert(*at, (value, extreme));
        }
    }
    let mut findings = Vec::new();
    for (at, (most, furthest)) in all {
        let column = catalog.column(at);
        let Some(holds) = column.kind.bound(Grows::Up) else { continue };
        let share = most as f64 / holds as f64;
        // Exactly the largest that fits was put there, as `none` or `no limit`.
        if share < SHARES.1 || most == holds {
            continue;
        }
        let severity = if share >= SHARES.0 { Severity::Warning } else { Severity::Note };
        let about = if matches!(furthest, Extreme::AtLeast(_)) { "at least " } else { "" };
        let message = format!(
            "{} holds values up to {holds}, and is called as a counter; its largest value is {about}{most}, {:.0} % of that",
            column.declared,
            share * 100.0
        );
        findings.push(
            Finding::of_column(catalog, at, CHECK.code, severity)
                .says(message, sql_retype(catalog, at, "bigint")),
        );
    }
    findings
}
