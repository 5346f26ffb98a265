//! Numbers per parent: issue 1, 2, 3 of a project, from a counter in the project's row.

use crate::catalog::{Catalog, ColumnAt, Feed, ScopeCounter, TableKind};
use crate::names;

/// Parents looked at, the newest: the numbers of each are read from the end of an index.
const MOST: u32 = 1_000;

/// A counter in a parent's row, and the numbers that it hands out to children.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Scope {
    counter: ColumnAt,
    parent_id: ColumnAt,
    child_parent: ColumnAt,
    numbers: ColumnAt,
    /// Whether the counter is the next number; else the last.
    is_next: bool,
}

#[cfg(feature = "postgres")]
impl Scope {
    /// Every column that must be read.
    pub(crate) const fn columns(&self) -> [ColumnAt; 4] {
        [self.counter, self.parent_id, self.child_parent, self.numbers]
    }
}

/// Counters by name, where a unique index over parent and number shows what they are for. A count of rows isn't a counter.
pub(crate) fn scopes(catalog: &Catalog) -> Vec<Scope> {
    let mut scopes = Vec::new();
    for key in &catalog.foreign_keys {
        let [(child_parent, parent_id)] = key.pairs[..] else { continue };
        let (child, parent) = (&catalog.tables[child_parent.table], &catalog.tables[parent_id.table]);
        if child_parent.table == parent_id.table
            || child.kind != TableKind::Plain
            || parent.kind != TableKind::Plain
        {
            continue;
        }
        for index in
            child.indexes.iter().filter(|index| index.is_unique && !index.is_partial && index.is_ordered)
        {
            let [first, second] = &index.columns[..] else { continue };
            let Some(column) = child.find(second) else { continue };
            let numbers = ColumnAt { table: child_parent.table, column };
            let number = catalog.column(numbers);
            if *first != catalog.column(child_parent).name
                || !number.kind.is_int()
                || number.feed != Feed::None
            {
                continue;
            }
            for (column, counter) in parent.columns.iter().enumerate() {
                let is_counter = counter.kind.is_int() && !counter.is_array && counter.feed == Feed::None;
                if !is_counter || parent.is_in_primary_key(&counter.name) {
                    continue;
                }
                if let Some(is_next) = hands_out(&counter.name, &child.name, &number.name) {
                    let counter = ColumnAt { table: parent_id.table, column };
                    scopes.push(Scope { counter, parent_id, child_parent, numbers, is_next });
                }
            }
        }
    }
    scopes
}

/// Whether a counter of this name hands out a child's numbers, and whether it is the next one: `last_issue_number`,
/// `next_issue_iid`.
fn hands_out(counter: &str, child: &str, number: &str) -> Option<bool> {
    let counter = names::normal(counter);
    let (first, rest) = counter.split_once('_')?;
    let is_next = match first {
        "next" => true,
        "last" | "max" => false,
        _ => return None,
    };
    let (child, number) = (names::normal(child), names::normal(number));
    let stem = rest.strip_suffix(&number)?.strip_suffix('_')?;
    // `last_read_message_seq` is a mark, and hands out nothing.
    names::tables_of(stem).contains(&child).then_some(is_next)
}

/// SQL that counts the parents with numbers, and those whose counter is behind.
pub(crate) fn sql(catalog: &Catalog, scope: &Scope) -> String {
    let quoted = |name: &str| catalog.server.dialect.quoted(name);
    let table = |at: ColumnAt| {
        let table = &catalog.tables[at.table];
        format!("{}.{}", quoted(&table.schema), quoted(&table.name))
    };
    let name = |at: ColumnAt| quoted(&catalog.column(at).name);
    let than = if scope.is_next { ">=" } else { ">" };
    format!(
        "SELECT count(*), coalesce(sum(CASE WHEN x.m {than} x.n THEN 1 ELSE 0 END), 0) FROM (SELECT p.n, \
         (SELECT max(c.{numbers}) FROM {child} c WHERE c.{child_parent} = p.id) AS m FROM \
         (SELECT {id} AS id, {counter} AS n FROM {parent} ORDER BY {id} DESC LIMIT {MOST}) p) x WHERE x.m IS NOT NULL",
        numbers = name(scope.numbers),
        child = table(scope.numbers),
        child_parent = name(scope.child_parent),
        id = name(scope.parent_id),
        counter = name(scope.counter),
        parent = table(scope.counter),
    )
}

/// What the counts say.
pub(crate) const fn found(scope: &Scope, looked_at: u64, behind: u64) -> ScopeCounter {
    ScopeCounter { counter: scope.counter, numbers: scope.numbers, behind, looked_at }
}

#[cfg(test)]
mod tests {
    use super::hands_out;

    #[test]
    fn counters_are_called_after_what_they_count() {
        assert_eq!(hands_out("last_issue_number", "issues", "number"), Some(false));
        assert_eq!(hands_out("nextIssueIid", "issues", "iid"), Some(true));
        for (counter, child, number) in [
            ("issues_count", "issues", "number"),
            ("last_issue_number", "merges", "number"),
            ("last_issue_id", "issues", "number"),
            ("last_read_message_seq", "messages", "seq"),
            ("last_closed_issue_number", "issues", "number"),
            ("last", "issues", "number"),
            ("number", "issues", "number"),
        ] {
            assert_eq!(hands_out(counter, child, number), None, "{counter}");
        }
    }
}
