//! A column that may be a narrower copy of a key, and whose values nobody has looked at.

use super::{Check, Examples, Finding, Severity, shown, sql_table};
use crate::catalog::{Catalog, ColumnAt, Dialect, Extreme, Grows, Unread, sketch::users_and_orders};
use crate::copies::{Copy, copies_by_name};
use crate::limits::{self, Key, unread};
use std::collections::HashMap;

pub(super) const CHECK: Check = Check {
    code: "copy-unchecked",
    title: "what may be a narrower copy of a key, and couldn't be looked at",
    why: "A column that is called after a key and is narrower than it ends the key, if it is a copy. Its largest value would tell, and no \
          index begins with it, there are no statistics, or it may not be read. It is said once the key has used a quarter of what the column \
          holds.",
    source: "GitLab documentation, \"Migrating to bigint\", columns without foreign keys",
    severity: Severity::Note,
    engines: Dialect::ALL,
    run,
    examples: Examples {
        passes: || example(Extreme::Empty),
        fails: || example(Extreme::Unread(Unread::NoIndex)),
    },
};

/// The share of what the column holds from which it is worth a word.
const LARGE: f64 = 0.25;

fn example(extreme: Extreme) -> Catalog {
    users_and_orders(Dialect::Postgres, 32, 2_100_000_000)
        .changed("orders.user_id", |column| column.extreme = extreme)
}

fn run(catalog: &Catalog) -> Vec<Finding> {
    let copies = copies_by_name(catalog);
    if catalog.server.is_text || copies.is_empty() {
        return Vec::new();
    }
    let columns: Vec<ColumnAt> = copies.iter().map(|copy| copy.copy).collect();
    let keys = limits::keys(catalog);
    let keys: HashMap<ColumnAt, &Key> = keys.iter().filter_map(|key| Some((key.at?, key))).collect();
    let mut findings = Vec::new();
    for (Copy { copy, key: of }, extreme) in copies.into_iter().zip(limits::furthest(catalog, &columns)) {
        let (Extreme::Unread(why), Some(key)) = (extreme, keys.get(&of)) else { continue };
        let (Some(holds), Some(current)) = (catalog.column(copy).kind.bound(Grows::Up), key.current) else {
            continue;
        };
        if holds >= key.limit || (current as f64) < holds as f64 * LARGE {
            continue;
        }
        let message = format!(
            "{} holds values up to {holds}, and is called after {}, which has come to {current}; whether it is a copy isn't known: {}",
            catalog.column(copy).declared,
            shown(catalog, of),
            unread(&why)
        );
        findings.push(
            Finding::of_column(catalog, copy, CHECK.code, Severity::Note)
                .says(message, sql_of_most(catalog, copy)),
        );
    }
    findings
}

/// The query that would tell.
fn sql_of_most(catalog: &Catalog, at: ColumnAt) -> String {
    let table = sql_table(catalog, &catalog.tables[at.table]);
    let column = catalog.server.dialect.quoted(&catalog.column(at).name);
    if catalog.column(at).is_array {
        return format!("SELECT max(v) FROM {table}, unnest({column}) AS v;");
    }
    format!("SELECT max({column}) FROM {table};")
}
