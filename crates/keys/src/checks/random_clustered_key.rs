//! Rows that are stored in the order of random ids.

use super::{Check, Examples, Finding, Severity};
use crate::catalog::{Catalog, Dialect, Kind, Table};

pub(super) const CHECK: Check = Check {
    code: "random-clustered-key",
    title: "a random UUID as the key that rows are stored by",
    why: "InnoDB, and SQLite's tables without row id, keep rows in the order of the primary key: each insert of a random id lands on \
          another page, which must be read, split and written, and every other index repeats the key. It is said only where the \
          column's default says that ids are random.",
    source: "MySQL reference manual, \"Clustered and Secondary Indexes\"",
    severity: Severity::Warning,
    engines: &[Dialect::MariaDb, Dialect::MySql, Dialect::Sqlite],
    run,
    examples: Examples { passes: || example("uuid_v7()"), fails: || example("uuid_v4()") },
};

fn example(default: &str) -> Catalog {
    let mut table = Table::of("users").column("id", "uuid", Kind::Uuid).primary(&["id"]);
    table.is_clustered = true;
    Catalog::of(Dialect::MariaDb)
        .with(table)
        .changed("users.id", |column| column.default = Some(default.to_owned()))
}

/// Whether an expression makes random ids.
fn is_random(default: &str) -> bool {
    let default = default.to_ascii_lowercase();
    ["uuid_v4(", "gen_random_uuid(", "random_bytes(", "randomblob(", "rand("]
        .iter()
        .any(|call| default.contains(call))
}

fn run(catalog: &Catalog) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (at, table, column) in catalog.columns() {
        let leads = table.primary_key().is_some_and(|key| key.columns.first() == Some(&column.name));
        if !table.is_clustered || !leads || !column.default.as_deref().is_some_and(is_random) {
            continue;
        }
        let message = "rows are stored in the order of random ids".to_owned();
        let next = "new ids by a scheme that grows, such as `mintage new uuid-v7`; the column stays as it is"
            .to_owned();
        findings.push(Finding::of_column(catalog, at, CHECK.code, Severity::Warning).says(message, next));
    }
    findings
}
