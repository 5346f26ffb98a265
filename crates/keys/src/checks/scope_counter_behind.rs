//! A number per parent (issue 1, 2, 3 of a project) whose counter lies below a number in use.

use super::{Check, Examples, Finding, Severity, shown};
use crate::catalog::{Catalog, Dialect, Kind, ScopeCounter, Table};

pub(super) const CHECK: Check = Check {
    code: "scope-counter-behind",
    title: "a counter of a scope below the largest number of its scope",
    why: "Numbers per parent come from a counter in the parent's row. After an import or a restore of one of the two tables the counter is \
          below a number that is in use, and the next row of that parent fails or takes it again. Looked at are parents whose counter is \
          called after the child's number, with a unique index over parent and number.",
    source: "the same failure as a sequence behind its column, once a parent",
    severity: Severity::Error,
    engines: Dialect::ALL,
    run,
    examples: Examples { passes: || example(0), fails: || example(3) },
};

fn example(behind: u64) -> Catalog {
    let projects = Table::of("projects").column("id", "bigint", Kind::int(64));
    let projects = projects.column("last_issue_number", "integer", Kind::int(32)).primary(&["id"]);
    let issues = Table::of("issues").column("project_id", "bigint", Kind::int(64));
    let issues = issues.column("number", "integer", Kind::int(32)).primary(&["project_id", "number"]);
    let mut catalog = Catalog::of(Dialect::Postgres).with(projects).with(issues);
    let (counter, numbers) = (catalog.at("projects.last_issue_number"), catalog.at("issues.number"));
    catalog.scopes.push(ScopeCounter { counter, numbers, behind, looked_at: 100 });
    catalog
}

fn run(catalog: &Catalog) -> Vec<Finding> {
    let behind = catalog.scopes.iter().filter(|scope| scope.behind > 0);
    let found = behind.map(|scope| {
        let message = format!(
            "below the largest {} in {} of {} rows looked at: the next number of those is in use",
            shown(catalog, scope.numbers),
            scope.behind,
            scope.looked_at
        );
        let next = "set each counter to the largest number of its scope, in a transaction that locks the row"
            .to_owned();
        Finding::of_column(catalog, scope.counter, CHECK.code, Severity::Error).says(message, next)
    });
    found.collect()
}
