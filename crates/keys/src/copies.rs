//! Copies of keys that no foreign key declares: columns that are called as if they referred to one.

use crate::catalog::{Catalog, ColumnAt, Extreme, Feed, Grows, TableKind};
use crate::names;
use std::collections::HashMap;

/// A column that may be a copy of a key, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Copy {
    /// The copy.
    pub copy: ColumnAt,
    /// The key.
    pub key: ColumnAt,
}

/// Narrow columns that are called as if they referred to a wider key, and have no foreign key. Names lie: see [`is_confirmed`].
#[must_use]
pub fn copies_by_name(catalog: &Catalog) -> Vec<Copy> {
    let referring = catalog.referring();
    let mut tables: HashMap<String, Vec<usize>> = HashMap::new();
    for (index, table) in catalog.tables.iter().enumerate() {
        if !matches!(table.kind, TableKind::Partition | TableKind::Child) {
            tables.entry(names::normal(&table.name)).or_default().push(index);
        }
    }
    let mut copies = Vec::new();
    for (at, table, column) in catalog.columns() {
        let is_part = table.kind == TableKind::Partition
            || (table.kind == TableKind::Partitioned && table.parent.is_some());
        if !column.kind.is_int()
            || is_part
            || column.is_generated
            || column.feed != Feed::None
            || referring.contains(&at)
        {
            continue;
        }
        let target = names::may_refer_to(&column.name).into_iter().find_map(|name| {
            let found = tables.get(&name)?;
            let same = found.iter().find(|&&index| catalog.tables[index].schema == table.schema);
            // Of tables with one name in other schemas, none is more likely than another.
            let target = same.copied().or_else(|| (found.len() == 1).then(|| found[0]))?;
            id_of(catalog, target)
        });
        let own = || names::is_of_family(&column.name).then(|| id_of(catalog, at.table)).flatten();
        let Some(key) = target.or_else(own) else { continue };
        let is_narrower = column.bound(Grows::Up) < catalog.column(key).bound(Grows::Up);
        if is_narrower {
            copies.push(Copy { copy: at, key });
        }
    }
    copies
}

/// The column that stands for a table's rows: its primary key of one integer column.
fn id_of(catalog: &Catalog, table: usize) -> Option<ColumnAt> {
    let key = catalog.tables[table].primary_key()?;
    let [name] = &key.columns[..] else { return None };
    let column = catalog.tables[table].find(name)?;
    let at = ColumnAt { table, column };
    (catalog.column(at).kind.is_int() && !catalog.column(at).is_array).then_some(at)
}

/// The part of the way that the furthest value of a copy must have come along with its key to be taken for one: a half.
pub const ALONG: i128 = 2;

/// Whether what is known of the values supports that a column which holds values up to `holds` is a copy that follows a key which has come
/// to `current`: none is above that, and the furthest has followed the key half of the way. A small code that is called like a
/// large key isn't its copy. A key that has gone past what the column holds is followed by it no more, or never was.
#[must_use]
pub fn is_confirmed(extreme: &Extreme, current: Option<i128>, holds: i128) -> bool {
    match (extreme.value(), current) {
        (Some(copy), Some(current)) => {
            copy > 0 && copy <= current && current <= holds && copy >= current / ALONG
        }
        _ => false,
    }
}

/// Whether a column has come to the end of what it holds, within a tenth: one that a key has gone past may refuse its values by now.
#[must_use]
pub fn is_spent(extreme: &Extreme, holds: i128) -> bool {
    extreme.value().is_some_and(|value| value >= holds - holds / 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_is_confirmed_by_values_that_follow_its_key() {
        let holds = 32_767;
        for (most, current, confirmed) in [
            (9_000, 9_100, true),
            (5_000, 9_100, true),
            (4_000, 9_100, false),
            (9_000, 40_000, false),
            (32_767, 40_000, false),
            (9_200, 9_100, false),
            (0, 0, false),
        ] {
            assert_eq!(
                is_confirmed(&Extreme::Exact(most), Some(current), holds),
                confirmed,
                "{most} {current}"
            );
        }
        assert!(is_spent(&Extreme::Exact(32_000), holds) && !is_spent(&Extreme::Exact(9_000), holds));
    }
}
