//! A table that was passed over.

use super::{Check, Examples, Finding, Severity};
use crate::catalog::{Catalog, Dialect, PassedOver, Unread};
use crate::limits::unread;

pub(super) const CHECK: Check = Check {
    code: "passed-over",
    title: "a table that was passed over",
    why: "A look at keys waits for nobody and takes no time from others: a table that another session has locked, or that takes longer \
          than its budget, is named and left out. What would have been found in it isn't known.",
    source: "PostgreSQL documentation, lock_timeout and statement_timeout",
    severity: Severity::Warning,
    engines: Dialect::ALL,
    run,
    examples: Examples { passes: || Catalog::of(Dialect::Postgres), fails: locked },
};

fn locked() -> Catalog {
    let mut catalog = Catalog::of(Dialect::Postgres);
    let (schema, name) = ("public".to_owned(), "users".to_owned());
    catalog.passed_over.push(PassedOver { schema, name, why: Unread::Locked });
    catalog
}

fn run(catalog: &Catalog) -> Vec<Finding> {
    let found = catalog.passed_over.iter().map(|passed| {
        let finding = Finding::of(CHECK.code, Severity::Warning, &passed.schema, Some(&passed.name));
        let next = match passed.why {
            Unread::Denied(_) => "let the role read it, and run the report again",
            _ => "run the report again when it is free",
        };
        finding.says(format!("passed over: {}", unread(&passed.why)), next.to_owned())
    });
    found.collect()
}
