//! A column that is called as if it referred to a key, narrower than it, without a foreign key.

use super::narrow_foreign_key::LARGE;
use super::{Check, Examples, Finding, Severity, shown, sql_retype};
use crate::catalog::{Catalog, ColumnAt, Dialect, Extreme, Grows, sketch::users_and_orders};
use crate::copies::{self, Copy};
use crate::limits::{self, Key};
use std::collections::HashMap;

pub(super) const CHECK: Check = Check {
    code: "narrow-copy",
    title: "an undeclared copy narrower than the key it is called after",
    why: "Many columns refer without a foreign key: `user_id` in a log, `user_ids` in an array. They end as foreign keys do, and no \
          tool that follows constraints sees them. As names lie, a column counts only when its largest value isn't above what the key \
          has handed out, and has followed it half of the way. One that has come to its own end while the key went on is a note: either its \
          inserts fail by now, or it is no copy. In definitions, where there are no values, its type alone is worth a note.",
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
    let copies = copies::copies_by_name(catalog);
    let columns: Vec<ColumnAt> = copies.iter().map(|copy| copy.copy).collect();
    for (Copy { copy, key }, extreme) in copies.into_iter().zip(limits::furthest(catalog, &columns)) {
        let column = catalog.column(copy);
        if catalog.server.is_text {
            findings.extend(by_name(catalog, copy, key));
            continue;
        }
        let current = keys.get(&key).and_then(|key| key.current);
        let (Some(holds), Some(current)) = (column.kind.bound(Grows::Up), current) else { continue };
        let share = current as f64 / holds as f64;
        if current > holds && copies::is_spent(&extreme, holds) && extreme.value() < Some(holds) {
            findings.push(stopped(catalog, copy, key, current));
        }
        if share < LARGE || !copies::is_confirmed(&extreme, Some(current), holds) {
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

/// A column that the key has gone past.
fn stopped(catalog: &Catalog, copy: ColumnAt, key: ColumnAt, current: i128) -> Finding {
    let message = format!(
        "{} is at its end, and is called after {}, which has gone on to {current}: its inserts fail by now, or it is no copy",
        catalog.column(copy).declared,
        shown(catalog, key),
    );
    let next = format!("if it is a copy: {}", sql_retype(catalog, copy, &catalog.column(key).declared));
    Finding::of_column(catalog, copy, CHECK.code, Severity::Note).says(message, next)
}

/// What types alone tell.
fn by_name(catalog: &Catalog, copy: ColumnAt, key: ColumnAt) -> Option<Finding> {
    let column = catalog.column(copy);
    let message = format!(
        "{} holds values up to {}, and is called after {}, which is {}",
        column.declared,
        column.kind.bound(Grows::Up)?,
        shown(catalog, key),
        catalog.column(key).declared
    );
    let next = sql_retype(catalog, copy, &catalog.column(key).declared);
    Some(Finding::of_column(catalog, copy, CHECK.code, Severity::Note).says(message, next))
}
