//! An id that nothing keeps unique.

use super::{Check, Examples, Finding, Severity, sql_table};
use crate::catalog::{Catalog, Dialect, Feed, Kind, TableKind};
use crate::catalog::{Reading, Sequence, Table};

pub(super) const CHECK: Check = Check {
    code: "id-not-unique",
    title: "an id without a unique constraint",
    why: "A sequence doesn't promise that values are unique: after a restore, a restart of the sequence or an explicit insert the same \
          id comes twice, and nothing complains.",
    source: "PostgreSQL documentation, \"Serial Types\": a unique constraint is no longer automatic",
    severity: Severity::Warning,
    engines: Dialect::ALL,
    run,
    examples: Examples {
        passes: || {
            let table = Table::of("users").column("id", "bigint", Kind::int(64)).primary(&["id"]);
            Catalog::of(Dialect::Postgres)
                .with(table)
                .fed("users.id", Sequence::of("users_id_seq", 64, Reading::Value(5)))
        },
        fails: || {
            let table = Table::of("users").column("id", "bigint", Kind::int(64));
            Catalog::of(Dialect::Postgres)
                .with(table)
                .fed("users.id", Sequence::of("users_id_seq", 64, Reading::Value(5)))
        },
    },
};

fn run(catalog: &Catalog) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (at, table, column) in catalog.columns() {
        let is_fed =
            matches!(column.feed, Feed::Sequence { is_default: true, .. } | Feed::AutoIncrement { .. });
        let is_part = matches!(table.kind, TableKind::Partition | TableKind::Child) || table.parent.is_some();
        if (!is_fed && !column.name.eq_ignore_ascii_case("id"))
            || is_part
            || column.is_array
            || table.is_unique(&column.name)
        {
            continue;
        }
        let within = table
            .indexes
            .iter()
            .find(|index| index.is_unique && !index.is_partial && index.columns.contains(&column.name));
        let (severity, message) = match within {
            // A partitioned table can't keep a column unique by itself, and a tenant's ids may be meant so.
            Some(index) => {
                let others = index.columns.iter().filter(|name| **name != column.name);
                let others: Vec<String> =
                    others.map(|name| crate::names::harmless(name).into_owned()).collect();
                (Severity::Note, format!("unique only together with {}", others.join(", ")))
            }
            None => (Severity::Warning, "nothing keeps two rows from having one id".to_owned()),
        };
        let next = match within {
            Some(_) => "make sure that nothing outside refers to it alone".to_owned(),
            None => {
                let is_partitioned = table.kind == TableKind::Partitioned;
                let name = catalog.server.dialect.quoted(&column.name);
                let table_name = table.name.as_str();
                let table = sql_table(catalog, table);
                match catalog.server.dialect {
                    _ if is_partitioned => format!(
                        "{name} as the partition key of {table}, by which a unique index may go, or ids that can't come twice: a partitioned \
                         table keeps nothing else unique"
                    ),
                    Dialect::Postgres => format!("CREATE UNIQUE INDEX CONCURRENTLY ON {table} ({name});"),
                    Dialect::Sqlite => format!(
                        "CREATE UNIQUE INDEX {} ON {} ({name});",
                        catalog.server.dialect.quoted(&format!("{}_{}_unique", table_name, column.name)),
                        catalog.server.dialect.quoted(table_name)
                    ),
                    _ => format!("ALTER TABLE {table} ADD UNIQUE ({name});"),
                }
            }
        };
        findings.push(Finding::of_column(catalog, at, CHECK.code, severity).says(message, next));
    }
    findings
}
