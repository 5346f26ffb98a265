//! A key that hands out many more numbers than rows come of it.

use super::{Check, Examples, Finding, Severity};
use crate::catalog::{Catalog, Dialect, Kind, Reading, Sequence, Table};
use crate::limits;

pub(super) const CHECK: Check = Check {
    code: "numbers-burned",
    title: "many more numbers handed out than there are rows",
    why: "INSERT … ON CONFLICT, INSERT IGNORE, REPLACE and rolled-back transactions take a number and leave no row; deletes leave none \
          either. Such a key ends long before its rows would make one think so.",
    source: "tried on PostgreSQL 15: 1,001 numbers for one row by ON CONFLICT; on MariaDB 10.11: 7 for one by INSERT IGNORE",
    severity: Severity::Note,
    engines: Dialect::ALL,
    run,
    examples: Examples { passes: || example(1_000_000), fails: || example(20_000) },
};

/// Numbers a row from which it is worth a word, and numbers below which it isn't.
const MANY: (f64, i128) = (10.0, 100_000);

fn example(rows: u64) -> Catalog {
    let mut table = Table::of("users").column("id", "bigint", Kind::int(64)).primary(&["id"]);
    table.rows = Some(rows);
    Catalog::of(Dialect::Postgres)
        .with(table)
        .fed("users.id", Sequence::of("users_id_seq", 64, Reading::Value(2_000_000)))
}

fn run(catalog: &Catalog) -> Vec<Finding> {
    let mut findings = Vec::new();
    for key in limits::keys(catalog) {
        let (Some(at), Some(burn), Some(current)) = (key.at, key.burn, key.current) else { continue };
        if burn < MANY.0 || current.abs() < MANY.1 {
            continue;
        }
        let message = format!("about {burn:.0} numbers were handed out for each row that there is");
        let next = "look for inserts that conflict or are rolled back, and for deletes".to_owned();
        findings.push(Finding::of_column(catalog, at, CHECK.code, Severity::Note).says(message, next));
    }
    findings
}
