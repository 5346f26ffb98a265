//! A column that is called as if it referred to a key, narrower than it, without a foreign key.

use super::narrow_foreign_key::LARGE;
use super::{Check, Examples, Finding, Severity, shown, sql_retype};
use crate::catalog::{Catalog, ColumnAt, Dialect, Extreme, Grows, sketch::users_and_orders};
use crate::limits::{self, Copy, Key};
use std::collections::HashMap;

pub(super) const CHECK: Check = Check {
    code: "narrow-copy",
    title: "an undeclared copy narrower than the key it is called after",
    why: "Many columns refer without a foreign key: `user_id` in a log, `user_ids` in an array. They end as foreign keys do, and no \
          tool that follows constraints sees them. As names lie, a column counts only when its largest value isn't above what the key \
          has handed out; otherwise nothing is said.",
    source: "GitLab documentation, \"Migrating to bigint\", columns without foreign keys",
    severity: Severity::Warning,
    engines: Dialect::ALL,
    run,
    examples: Examples {
        // Its values lie above what the key has handed out: it is called like it and is something else.
        passes: || {
            users_and_orders(Dialect::Postgres, 32, 900_000_000)
                .changed("orders.user_id", |column| column.extreme = Extreme::Exact(1_800_000_000))
        },
        fails: || {
            users_and_orders(Dialect::Postgres, 32, 900_000_000)
                .changed("orders.user_id", |column| column.extreme = Extreme::Exact(899_999_999))
        },
    },
};

fn run(catalog: &Catalog) -> Vec<Finding> {
    let keys = limits::keys(catalog);
    let keys: HashMap<ColumnAt, &Key> = keys.iter().filter_map(|key| Some((key.at?, key))).collect();
    let mut findings = Vec::new();
    for Copy { copy, key } in limits::copies_by_name(catalog) {
        let column = catalog.column(copy);
        let current = keys.get(&key).and_then(|key| key.current);
        let (Some(holds), Some(current)) = (column.kind.bound(Grows::Up), current) else { continue };
        let share = current as f64 / holds as f64;
        if share < LARGE || !limits::is_confirmed(&column.extreme, Some(current)) {
            continue;
        }
        let severity = if share >= 0.25 { Severity::Warning } else { Severity::Note };
        let message = format!(
            "{} holds values up to {holds}, is called after {}, which is {}, and holds no value above it; {:.0} % of that is used",
            column.declared,
            shown(catalog, key),
            catalog.column(key).declared,
            share * 100.0
        );
        let next = sql_retype(catalog, copy, &catalog.column(key).declared);
        findings.push(Finding::of_column(catalog, copy, CHECK.code, severity).says(message, next));
    }
    findings
}
