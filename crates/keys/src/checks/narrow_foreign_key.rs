//! A foreign key whose column is narrower than the key it refers to.

use super::{Check, Examples, Finding, Severity, shown, sql_retype};
use crate::catalog::{Catalog, ColumnAt, Dialect, Grows, sketch::users_and_orders};
use crate::limits::{self, Key};
use std::collections::HashMap;

pub(super) const CHECK: Check = Check {
    code: "narrow-foreign-key",
    title: "a foreign key narrower than what it refers to",
    why: "A key of 64 bits ends where a column of 32 bits that refers to it ends: inserts into the referring table fail with \
          `integer out of range`. Widening a key forgets its references easily, as the database allows the types to differ. It is \
          said once the key has used a hundredth of what the narrow column holds, or when there are no values to look at. A column that refers \
          to old rows only may be gone past: the key goes on, and rows that would refer to newer ones are refused.",
    source: "PostgreSQL documentation, \"Constraints\", foreign keys; tried on PostgreSQL 15",
    severity: Severity::Warning,
    engines: Dialect::ALL,
    run,
    examples: Examples {
        // A key that has handed out 3 values endangers nobody.
        passes: || users_and_orders(Dialect::Postgres, 32, 3).refers("orders.user_id", "users.id"),
        fails: || users_and_orders(Dialect::Postgres, 32, 900_000_000).refers("orders.user_id", "users.id"),
    },
};

/// The share of the narrow column from which it is worth a word.
pub(super) const LARGE: f64 = 0.01;

fn run(catalog: &Catalog) -> Vec<Finding> {
    let keys = limits::keys(catalog);
    let keys: HashMap<ColumnAt, &Key> = keys.iter().filter_map(|key| Some((key.at?, key))).collect();
    let pairs = catalog.foreign_keys.iter().flat_map(|key| &key.pairs);
    let parents: HashMap<ColumnAt, ColumnAt> = pairs.copied().collect();
    let mut findings = Vec::new();
    for (from, to) in catalog.foreign_keys.iter().flat_map(|key| &key.pairs) {
        let (copy, key) = (catalog.column(*from), catalog.column(*to));
        let (Some(holds), Some(needs)) = (copy.kind.bound(Grows::Up), key.kind.bound(Grows::Up)) else {
            continue;
        };
        if holds >= needs || !key.kind.is_int() {
            continue;
        }
        // What is referred to may refer on; the values come from where that ends.
        let mut origin = *to;
        for _ in 0..32 {
            match parents.get(&origin) {
                Some(&parent) if !keys.contains_key(&origin) => origin = parent,
                _ => break,
            }
        }
        let current = keys.get(&origin).and_then(|key| key.current);
        let share = current.map(|current| current as f64 / holds as f64);
        if !catalog.server.is_text && share.is_some_and(|share| share < LARGE) {
            continue;
        }
        let severity =
            if share.is_none_or(|share| share >= 0.25) { Severity::Warning } else { Severity::Note };
        let so_far = match (share, catalog.server.is_text) {
            (Some(share), _) if share > 1.0 => format!(
                "; {} has gone past that, to {}: rows that refer to newer ones are refused",
                shown(catalog, origin),
                current.unwrap_or_default()
            ),
            (Some(share), _) => format!("; {:.0} % of that is used", share * 100.0),
            (None, true) => String::new(),
            (None, false) => "; how much of that is used isn't known".to_owned(),
        };
        let message = format!(
            "{} holds values up to {holds}, and refers to {}, which is {}{so_far}",
            copy.declared,
            shown(catalog, *to),
            key.declared
        );
        let next = sql_retype(catalog, *from, &key.declared);
        findings.push(Finding::of_column(catalog, *from, CHECK.code, severity).says(message, next));
    }
    findings
}
