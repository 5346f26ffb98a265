//! A primary key of 32 bits or fewer that is fed by a counter.

use super::{Check, Examples, Finding, Severity};
use crate::catalog::{Catalog, Column, Dialect, Feed, Kind, Reading, Sequence, Table, TableKind};

pub(super) const CHECK: Check = Check {
    code: "int4-primary-key",
    title: "a primary key of 32 bits or fewer",
    why: "2,147,483,647 values are a hundred a second for eight months, and numbers are burned by rollbacks and conflicts too. A new \
          table costs four bytes a row for never having to think of it; an old one a migration. How far each has come, the report says.",
    source: "PostgreSQL documentation, \"Numeric Types\"",
    severity: Severity::Note,
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

fn run(catalog: &Catalog) -> Vec<Finding> {
    // Every integer of SQLite has 64 bits, whatever its type is called.
    if catalog.server.dialect == Dialect::Sqlite {
        return Vec::new();
    }
    let mut findings = Vec::new();
    for (at, table, column) in catalog.columns() {
        let is_narrow = matches!(column.kind, Kind::Int { bits, .. } if bits <= 32);
        if !is_narrow
            || !is_fed(column)
            || !table.is_in_primary_key(&column.name)
            || table.kind == TableKind::Partition
        {
            continue;
        }
        let message = format!("{}, fed by a counter", column.declared);
        let next =
            "in new tables: bigint; in this one: look how far it has come, and at its references first"
                .to_owned();
        findings.push(Finding::of_column(catalog, at, CHECK.code, Severity::Note).says(message, next));
    }
    findings
}
