//! A primary key of 32 bits or fewer.

use super::{Check, Examples, Finding, Severity};
use crate::catalog::{
    Catalog, Column, ColumnAt, Dialect, Feed, Grows, Kind, Reading, Sequence, Table, TableKind,
};
use crate::limits::naturals;
use std::collections::HashSet;

pub(super) const CHECK: Check = Check {
    code: "int4-primary-key",
    title: "a primary key of 32 bits or fewer",
    why: "2,147,483,647 values are a hundred a second for eight months, and numbers are burned by rollbacks and conflicts too. A new \
          table costs four bytes a row for never having to think of it; an old one a migration. How far each has come, the report says. \
          In definitions, which may still be changed, it is a warning; on a server a note. So is a key that nothing feeds and \
          nothing calls an id.",
    source: "PostgreSQL documentation, \"Numeric Types\"",
    severity: Severity::Warning,
    engines: Dialect::ALL,
    run,
    examples: Examples { passes: || example("bigint", 64), fails: || example("integer", 32) },
};

fn example(declared: &str, bits: u32) -> Catalog {
    let table = Table::of("users").column("id", declared, Kind::int(bits)).primary(&["id"]);
    Catalog::of(Dialect::Postgres)
        .with(table)
        .fed("users.id", Sequence::of("users_id_seq", bits, Reading::Value(5)))
}

/// Whether a counter hands out its values.
fn is_fed(column: &Column) -> bool {
    !matches!(column.feed, Feed::None | Feed::RowId)
}

/// Whether it is a key that programs fill: not one of a handful of codes, for which nobody takes 32 bits, and no reference.
fn is_filled(table: &Table, column: &Column) -> bool {
    let is_alone = table.primary_key().is_some_and(|key| key.columns == [column.name.as_str()]);
    is_alone && matches!(column.kind, Kind::Int { bits: 24..=32, .. }) && !column.is_generated
}

fn run(catalog: &Catalog) -> Vec<Finding> {
    // Every integer of SQLite has 64 bits, whatever its type is called.
    if catalog.server.dialect == Dialect::Sqlite {
        return Vec::new();
    }
    let severity = if catalog.server.is_text { Severity::Warning } else { Severity::Note };
    let referring = catalog.referring();
    let naturals: HashSet<ColumnAt> = naturals(catalog).into_iter().collect();
    let mut findings = Vec::new();
    for (at, table, column) in catalog.columns() {
        let is_narrow = matches!(column.kind, Kind::Int { bits, .. } if bits <= 32);
        if !is_narrow
            || !(is_fed(column) || (is_filled(table, column) && !referring.contains(&at)))
            || !table.is_in_primary_key(&column.name)
            || table.kind == TableKind::Partition
        {
            continue;
        }
        if naturals.contains(&at) {
            findings.push(natural(catalog, at));
            continue;
        }
        let by = if is_fed(column) { "fed by a counter" } else { "filled by whoever inserts" };
        let message = format!("{}, {by}", column.declared);
        let next =
            "in new tables: bigint; in this one: look how far it has come, and at its references first"
                .to_owned();
        findings.push(Finding::of_column(catalog, at, CHECK.code, severity).says(message, next));
    }
    findings
}

/// Of a key that may as well be a code or a hash, with how far it goes.
fn natural(catalog: &Catalog, at: ColumnAt) -> Finding {
    let column = catalog.column(at);
    let share = column.extreme.value().zip(column.kind.bound(Grows::Up));
    let far = share.map_or_else(String::new, |(most, holds)| {
        format!(
            "; its largest value is {most}, {:.0} % of what it holds",
            (most as f64 / holds as f64 * 100.0).max(0.0)
        )
    });
    let message = format!("{}, filled by whoever inserts{far}", column.declared);
    let next = "if it is counted up: bigint; a code, a hash or a time doesn't run out".to_owned();
    Finding::of_column(catalog, at, CHECK.code, Severity::Note).says(message, next)
}
