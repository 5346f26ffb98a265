//! Text ids to which upper and lower case are equal.

use super::{Check, Examples, Finding, Severity};
use crate::catalog::{Catalog, Dialect, Kind, Table, TableKind};

pub(super) const CHECK: Check = Check {
    code: "id-ignores-case",
    title: "text ids that ignore upper and lower case",
    why: "Base58, base62 and NanoID tell ids apart by case. A collation that doesn't takes two of them for one: a duplicate key for one \
          writer, another's row for a reader. Ids without both cases (hexadecimal, ULID) only lose the check of their spelling.",
    source: "MySQL reference manual, \"Case Sensitivity in String Searches\"; PostgreSQL documentation, citext",
    severity: Severity::Warning,
    engines: Dialect::ALL,
    run,
    examples: Examples { passes: || example(false), fails: || example(true) },
};

fn example(ignores_case: bool) -> Catalog {
    let table =
        Table::of("links").column("id", "varchar(21)", Kind::Text { longest: Some(21) }).primary(&["id"]);
    Catalog::of(Dialect::MariaDb).with(table).changed("links.id", |column| column.ignores_case = ignores_case)
}

fn run(catalog: &Catalog) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (at, table, column) in catalog.columns() {
        let Kind::Text { longest } = column.kind else { continue };
        // A UUID as text has one case; emails and names in keys aren't ids.
        let is_uuid = matches!(longest, Some(36 | 32 | 38));
        let is_key = table.is_unique(&column.name) && crate::names::is_id(&column.name);
        if !column.ignores_case || !is_key || is_uuid || table.kind == TableKind::Partition {
            continue;
        }
        let message = format!("{}: ids that differ in case only are one to it", column.declared);
        let next = match catalog.server.dialect {
            dialect if dialect.is_mysql_like() => {
                "a collation that ends in _bin: … CHARACTER SET ascii COLLATE ascii_bin".to_owned()
            }
            Dialect::Sqlite => "COLLATE BINARY".to_owned(),
            _ => "text with a deterministic collation, such as COLLATE \"C\"".to_owned(),
        };
        findings.push(Finding::of_column(catalog, at, CHECK.code, Severity::Warning).says(message, next));
    }
    findings
}
