//! UUIDs of version 1 that are stored with the fast part of their time first.

use super::{Check, Examples, Finding, Severity};
use crate::catalog::{Catalog, Dialect, Kind, Table};

pub(super) const CHECK: Check = Check {
    code: "uuid-v1-unswapped",
    title: "UUIDs of version 1 stored unswapped",
    why: "MySQL's UUID() makes version 1, whose first four bytes go round every seven minutes: rows land all over the table as if ids were \
          random. UUID_TO_BIN(UUID(), 1) swaps the parts of the time. MariaDB's own type UUID swaps by itself.",
    source: "MySQL reference manual, UUID_TO_BIN",
    severity: Severity::Warning,
    engines: &[Dialect::MySql, Dialect::MariaDb, Dialect::TiDb],
    run,
    examples: Examples {
        passes: || example("uuid_to_bin(uuid(),1)"),
        fails: || example("uuid_to_bin(uuid())"),
    },
};

fn example(default: &str) -> Catalog {
    let mut table =
        Table::of("users").column("id", "binary(16)", Kind::Bytes { longest: Some(16) }).primary(&["id"]);
    table.is_clustered = true;
    Catalog::of(Dialect::MySql)
        .with(table)
        .changed("users.id", |column| column.default = Some(default.to_owned()))
}

/// Whether an expression makes UUIDs of version 1 in their order of fields.
fn is_unswapped(default: &str) -> bool {
    let compact: String =
        default.to_ascii_lowercase().chars().filter(|c| !c.is_whitespace() && *c != '`').collect();
    let Some(at) = compact.find("uuid()") else { return false };
    // `gen_random_uuid()` and the like end the same way.
    let is_call = !compact[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
    is_call && !["uuid(),1)", "uuid(),true)"].iter().any(|swapped| compact.contains(swapped))
}

fn run(catalog: &Catalog) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (at, table, column) in catalog.columns() {
        let leads = table.primary_key().is_some_and(|key| key.columns.first() == Some(&column.name));
        // MariaDB's type UUID stores them swapped.
        let is_swapped_type = column.kind == Kind::Uuid;
        if !leads
            || !table.is_clustered
            || is_swapped_type
            || !column.default.as_deref().is_some_and(is_unswapped)
        {
            continue;
        }
        let message = "version 1 in its order of fields: rows are stored as if ids were random".to_owned();
        let next = match catalog.server.dialect {
            Dialect::MariaDb => "the type UUID, which swaps the parts of the time".to_owned(),
            _ => "DEFAULT (UUID_TO_BIN(UUID(), 1)) for new tables; in this one both orders would mix"
                .to_owned(),
        };
        findings.push(Finding::of_column(catalog, at, CHECK.code, Severity::Warning).says(message, next));
    }
    findings
}
