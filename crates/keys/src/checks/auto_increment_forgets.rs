//! AUTO_INCREMENT that goes back when the server starts.

use super::{Check, Examples, Finding, Severity};
use crate::catalog::{Catalog, Dialect, Feed, Kind, Reading, Table};

pub(super) const CHECK: Check = Check {
    code: "auto-increment-forgets",
    title: "AUTO_INCREMENT that a restart sets back",
    why: "InnoDB before MySQL 8.0 and before MariaDB 10.2.4 keeps the counter in memory and takes MAX(id) + 1 when it starts: ids of the \
          last rows, once deleted, are handed out again, and whatever still refers to them meets a stranger.",
    source: "MySQL 8.0 reference manual, \"AUTO_INCREMENT Handling in InnoDB\", counter initialization",
    severity: Severity::Warning,
    engines: &[Dialect::MySql, Dialect::MariaDb],
    run,
    examples: Examples { passes: || example((8, 0)), fails: || example((5, 7)) },
};

fn example(release: (u32, u32)) -> Catalog {
    let mut table = Table::of("users").column("id", "bigint", Kind::int(64)).primary(&["id"]);
    table.engine = Some("InnoDB".to_owned());
    let mut catalog = Catalog::of(Dialect::MySql).with(table);
    catalog.server.release = release;
    catalog.changed("users.id", |column| column.feed = Feed::AutoIncrement { last: Reading::Value(5) })
}

fn run(catalog: &Catalog) -> Vec<Finding> {
    let first_good = if catalog.server.dialect == Dialect::MySql { (8, 0) } else { (10, 3) };
    if catalog.server.is_text || catalog.server.release >= first_good {
        return Vec::new();
    }
    let mut findings = Vec::new();
    for (at, table, column) in catalog.columns() {
        let is_innodb = table.engine.as_deref().is_some_and(|engine| engine.eq_ignore_ascii_case("innodb"));
        if !is_innodb || !matches!(column.feed, Feed::AutoIncrement { .. }) {
            continue;
        }
        let message =
            "a restart of the server sets the counter back to the largest id in the table plus 1".to_owned();
        let next = "upgrade to MySQL 8.0, or don't delete the last rows".to_owned();
        findings.push(Finding::of_column(catalog, at, CHECK.code, Severity::Warning).says(message, next));
    }
    findings
}
