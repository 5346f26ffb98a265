//! Ids that grow, in a store that cuts tables into ranges of keys.

use super::{Check, Examples, Finding, Severity};
use crate::catalog::{Catalog, Dialect, Feed, Kind, Reading, Table};

pub(super) const CHECK: Check = Check {
    code: "sequential-key-in-ranges",
    title: "a growing key in a store partitioned by ranges",
    why: "CockroachDB and TiDB give each range of keys to one node, and YugabyteDB does for keys declared ASC: ids that grow all go to the \
          last range, so one node takes every insert. These databases are recognised by their version; the check is untested on them.",
    source: "CockroachDB documentation, \"Hash-sharded Indexes\"; TiDB documentation, AUTO_RANDOM",
    severity: Severity::Warning,
    engines: &[Dialect::Cockroach, Dialect::Yugabyte, Dialect::TiDb],
    run,
    examples: Examples {
        passes: || example(Feed::None),
        fails: || example(Feed::AutoIncrement { last: Reading::Unknown }),
    },
};

fn example(feed: Feed) -> Catalog {
    let table = Table::of("users").column("id", "bigint", Kind::int(64)).primary(&["id"]);
    Catalog::of(Dialect::TiDb).with(table).changed("users.id", |column| column.feed = feed)
}

fn run(catalog: &Catalog) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (at, table, column) in catalog.columns() {
        let leads = table.primary_key().is_some_and(|key| key.columns.first() == Some(&column.name));
        if !leads || !matches!(column.feed, Feed::Sequence { .. } | Feed::AutoIncrement { .. }) {
            continue;
        }
        let message = "ids that grow all go to the last range, on one node".to_owned();
        let next = match catalog.server.dialect {
            Dialect::TiDb => "AUTO_RANDOM, or ids with reversed bits: `mintage schemes`",
            Dialect::Yugabyte => "make sure that the key is HASH, which is the default",
            _ => "a hash-sharded index (USING HASH), or ids with reversed bits: `mintage schemes`",
        };
        findings.push(
            Finding::of_column(catalog, at, CHECK.code, Severity::Warning).says(message, next.to_owned()),
        );
    }
    findings
}
