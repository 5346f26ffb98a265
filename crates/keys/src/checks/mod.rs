//! What may be wrong with keys: one file a check, on the list [`CHECKS`].
//!
//! A check sees a catalog, never a connection. To add one: a file with its facts, its rule and two examples, and a line here.

mod auto_increment_forgets;
mod copy_unchecked;
mod counter_full;
mod id_as_text;
mod id_ignores_case;
mod id_not_unique;
mod int4_primary_key;
mod narrow_copy;
mod narrow_foreign_key;
mod numbers_burned;
mod passed_over;
mod random_clustered_key;
mod scope_counter_behind;
mod sequence_behind;
mod sequence_cycles;
mod sequence_narrow;
mod sequence_unreadable;
mod sequential_key_in_ranges;
mod uuid_v1_unswapped;
mod value_apart;

use crate::catalog::{Catalog, ColumnAt, Dialect, Place, Sequence, Table, TableKind};
use crate::names::harmless;

/// Something that may be wrong with keys.
#[derive(Clone, Copy, Debug)]
pub struct Check {
    /// Its stable name: `sequence-behind`. The file is called the same, with `_` for `-`.
    pub code: &'static str,
    /// What it finds, in a few words.
    pub title: &'static str,
    /// Why that matters, and what to do.
    pub why: &'static str,
    /// What says so.
    pub source: &'static str,
    /// How bad it is at worst.
    pub severity: Severity,
    /// Where it applies.
    pub engines: &'static [Dialect],
    /// The rule.
    pub run: fn(&Catalog) -> Vec<Finding>,
    /// What passes and what doesn't.
    pub examples: Examples,
}

/// A catalog in which a check finds nothing, and one in which it finds something.
#[derive(Clone, Copy, Debug)]
pub struct Examples {
    /// Nothing is found.
    pub passes: fn() -> Catalog,
    /// Something is found.
    pub fails: fn() -> Catalog,
}

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Worth knowing.
    Note,
    /// Will hurt one day.
    Warning,
    /// Hurts now, or with one of the next writes.
    Error,
}

impl Severity {
    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// What a check found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The check's code.
    pub code: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// The schema.
    pub schema: String,
    /// The table, or the sequence where no table is meant.
    pub table: Option<String>,
    /// The column.
    pub column: Option<String>,
    /// What is so.
    pub message: String,
    /// What to do next: a command, SQL, or a few words.
    pub next: String,
    /// Where it is defined, for what comes from a file.
    pub place: Option<Place>,
}

impl Finding {
    /// About a column.
    #[must_use]
    pub fn of_column(catalog: &Catalog, at: ColumnAt, code: &'static str, severity: Severity) -> Self {
        let (table, column) = (&catalog.tables[at.table], catalog.column(at));
        let place = column.place.clone().or_else(|| table.place.clone());
        let finding = Self::of(code, severity, &table.schema, Some(&table.name));
        Self { column: Some(column.name.clone()), place, ..finding }
    }

    /// About a sequence that stands by itself.
    #[must_use]
    pub fn of_sequence(sequence: &Sequence, code: &'static str, severity: Severity) -> Self {
        let finding = Self::of(code, severity, &sequence.schema, Some(&sequence.name));
        Self { place: sequence.place.clone(), ..finding }
    }

    fn of(code: &'static str, severity: Severity, schema: &str, table: Option<&str>) -> Self {
        Self {
            code,
            severity,
            schema: schema.to_owned(),
            table: table.map(str::to_owned),
            column: None,
            message: String::new(),
            next: String::new(),
            place: None,
        }
    }

    /// With what is so and what to do.
    #[must_use]
    pub fn says(mut self, message: String, next: String) -> Self {
        (self.message, self.next) = (message, next);
        self
    }
}

/// Every check, by code.
pub static CHECKS: &[Check] = &[
    auto_increment_forgets::CHECK,
    copy_unchecked::CHECK,
    counter_full::CHECK,
    id_as_text::CHECK,
    id_ignores_case::CHECK,
    id_not_unique::CHECK,
    int4_primary_key::CHECK,
    narrow_copy::CHECK,
    narrow_foreign_key::CHECK,
    numbers_burned::CHECK,
    passed_over::CHECK,
    random_clustered_key::CHECK,
    scope_counter_behind::CHECK,
    sequence_behind::CHECK,
    sequence_cycles::CHECK,
    sequence_narrow::CHECK,
    sequence_unreadable::CHECK,
    sequential_key_in_ranges::CHECK,
    uuid_v1_unswapped::CHECK,
    value_apart::CHECK,
];

/// What every check that applies finds, the worst first.
#[must_use]
pub fn run(catalog: &Catalog) -> Vec<Finding> {
    let applies = CHECKS.iter().filter(|check| check.engines.contains(&catalog.server.dialect));
    let mut findings: Vec<Finding> = applies.flat_map(|check| (check.run)(catalog)).collect();
    findings.sort_by(|a, b| {
        b.severity.cmp(&a.severity).then_with(|| {
            (a.code, &a.schema, &a.table, &a.column).cmp(&(b.code, &b.schema, &b.table, &b.column))
        })
    });
    findings
}

/// A table as it stands in SQL.
pub(crate) fn sql_table(catalog: &Catalog, table: &Table) -> String {
    qualified(catalog.server.dialect, &table.schema, &table.name)
}

/// A name as it stands in SQL. Text may not say in which schema it is.
fn qualified(dialect: Dialect, schema: &str, name: &str) -> String {
    match schema {
        "" => dialect.quoted(name),
        schema => format!("{}.{}", dialect.quoted(schema), dialect.quoted(name)),
    }
}

/// A sequence as it stands in SQL.
pub(crate) fn sql_sequence(catalog: &Catalog, sequence: &Sequence) -> String {
    qualified(catalog.server.dialect, &sequence.schema, &sequence.name)
}

/// The column from which a column has its type: that of its parent, which alone can be changed.
fn typed_by(catalog: &Catalog, mut at: ColumnAt) -> ColumnAt {
    for _ in 0..32 {
        let parent = catalog.tables[at.table].parent;
        let above = parent.and_then(|table| {
            Some(ColumnAt { table, column: catalog.tables[table].find(&catalog.column(at).name)? })
        });
        let Some(above) = above else { break };
        at = above;
    }
    at
}

/// What gives a column another type: SQL, or words where a statement would lose what isn't known here.
pub(crate) fn sql_retype(catalog: &Catalog, at: ColumnAt, declared: &str) -> String {
    let at = typed_by(catalog, at);
    let (table, column) = (&catalog.tables[at.table], catalog.column(at));
    let name = catalog.server.dialect.quoted(&column.name);
    let is_partitioned = table.kind == TableKind::Partitioned;
    let array = if column.is_array { "[]" } else { "" };
    let table = sql_table(catalog, table);
    match catalog.server.dialect {
        dialect if dialect.is_mysql_like() => format!(
            "make {name} of {table} {declared}: MODIFY with all that SHOW CREATE TABLE {table} says of it, as what isn't repeated is lost \
             (NOT NULL, DEFAULT, AUTO_INCREMENT)"
        ),
        Dialect::Sqlite => {
            "nothing: every integer of SQLite has 64 bits, whatever its type is called".to_owned()
        }
        _ if is_partitioned => format!(
            "unless {name} is of the partition key, which keeps its type: ALTER TABLE {table} ALTER COLUMN {name} TYPE {declared}{array}; else \
             a new table, to which the rows move"
        ),
        _ => format!("ALTER TABLE {table} ALTER COLUMN {name} TYPE {declared}{array};"),
    }
}

/// `schema.table.column` for people, harmless.
pub(crate) fn shown(catalog: &Catalog, at: ColumnAt) -> String {
    harmless(&catalog.path(at)).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn each_check_passes_and_fails_as_its_examples_say() {
        for check in CHECKS {
            let passes = (check.examples.passes)();
            assert_eq!((check.run)(&passes), Vec::new(), "{}", check.code);
            assert!(check.engines.contains(&passes.server.dialect), "{}", check.code);
            let fails = (check.examples.fails)();
            assert!(check.engines.contains(&fails.server.dialect), "{}", check.code);
            let found = (check.run)(&fails);
            assert!(!found.is_empty(), "{} finds nothing in its failing example", check.code);
            for finding in found {
                assert_eq!(finding.code, check.code);
                assert!(finding.severity <= check.severity, "{}", check.code);
                assert!(!finding.message.is_empty() && !finding.next.is_empty(), "{}", check.code);
            }
        }
    }

    #[test]
    fn checks_are_in_order_each_in_its_file_with_its_facts() {
        assert!(CHECKS.is_sorted_by(|a, b| a.code < b.code));
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/checks");
        for check in CHECKS {
            let file = folder.join(format!("{}.rs", check.code.replace('-', "_")));
            assert!(file.exists(), "{}", file.display());
            assert!(
                !check.title.is_empty() && check.why.ends_with('.') && !check.source.is_empty(),
                "{}",
                check.code
            );
            assert!(!check.engines.is_empty(), "{}", check.code);
        }
        let files = std::fs::read_dir(folder).unwrap().count();
        assert_eq!(files, CHECKS.len() + 1, "a file of a check that isn't listed");
    }
}
