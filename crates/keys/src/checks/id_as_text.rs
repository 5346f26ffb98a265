//! A UUID that is stored as text.

use super::{Check, Examples, Finding, Severity, sql_retype};
use crate::catalog::{Catalog, Dialect, Kind, Table, TableKind};
use crate::names;

pub(super) const CHECK: Check = Check {
    code: "id-as-text",
    title: "an id stored as text",
    why: "36 characters for 16 bytes, in the row and in every index and reference; compared by collation rules; and nothing refuses a text \
          that isn't a UUID, or another spelling of one that is there. It is said of columns called as ids are whose length is that of \
          a UUID as text, or whose default makes one.",
    source: "RFC 9562 section 6.13: store UUIDs in their 128-bit binary form where feasible",
    severity: Severity::Note,
    engines: Dialect::ALL,
    run,
    examples: Examples {
        passes: || example("uuid", Kind::Uuid),
        fails: || example("character varying(36)", text36()),
    },
};

const fn text36() -> Kind {
    Kind::Text { longest: Some(36) }
}

fn example(declared: &str, kind: Kind) -> Catalog {
    Catalog::of(Dialect::Postgres).with(Table::of("users").column("id", declared, kind).primary(&["id"]))
}

fn run(catalog: &Catalog) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (at, table, column) in catalog.columns() {
        let Kind::Text { longest } = column.kind else { continue };
        let makes_one = column.default.as_deref().is_some_and(|default| {
            let default = default.to_ascii_lowercase();
            (default.contains("uuid") || default.contains("ulid")) && default.contains('(')
        });
        // 36 with hyphens, 32 without, 38 in braces.
        let is_long = matches!(longest, Some(36 | 32 | 38));
        let is_id = names::is_id(&column.name) || table.is_in_primary_key(&column.name);
        if !is_id || !(makes_one || is_long) || column.is_array || table.kind == TableKind::Partition {
            continue;
        }
        let message = format!("{}: a UUID as text, more than twice its size", column.declared);
        let next = match catalog.server.dialect {
            Dialect::Postgres | Dialect::Cockroach | Dialect::Yugabyte => {
                let name = catalog.server.dialect.quoted(&column.name);
                match column.default.as_deref() {
                    None => {
                        sql_retype(catalog, at, "uuid").replace("uuid;", &format!("uuid USING {name}::uuid;"))
                    }
                    // A default of text doesn't go along.
                    Some(_) => format!(
                        "the type uuid: drop the default, change the type USING {name}::uuid, set the default without its cast"
                    ),
                }
            }
            Dialect::MariaDb if catalog.server.release >= (10, 7) => sql_retype(catalog, at, "uuid"),
            _ => "16 bytes: BINARY(16), or BLOB in SQLite".to_owned(),
        };
        findings.push(Finding::of_column(catalog, at, CHECK.code, Severity::Note).says(message, next));
    }
    findings
}
