//! Which columns a database sequence feeds.

use crate::catalog::{Catalog, ColumnAt, Extreme, Feed, Grows, TableKind, Unread};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// A column that a sequence feeds, with the same column of its table's partitions and children.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fed {
    /// The column.
    pub at: ColumnAt,
    /// Those that hold rows: itself unless it is partitioned, and those below it.
    pub parts: Vec<ColumnAt>,
    /// Whether that is all there is below it: no part is left out because another sequence feeds it.
    pub is_whole: bool,
    /// How it takes its values.
    pub way: Way,
}

/// How a column takes its values from a sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// As they are: a default, or an identity column.
    AsTheyAre {
        /// Whether it is an identity column.
        is_identity: bool,
    },
    /// It owns the sequence, and its default doesn't ask it. A program may, and may make several ids of each value.
    OwnedOnly,
    /// Through an expression that makes something else of them.
    Derived,
}

/// The largest value of a column's parts, and what isn't known of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Furthest {
    /// The furthest that is known.
    pub value: Option<i128>,
    /// The first part of which it isn't known, and why; statistics know only what was.
    pub unknown: Option<(ColumnAt, Option<Unread>)>,
}

/// What each sequence feeds, by its index.
#[must_use]
pub fn feeds(catalog: &Catalog) -> BTreeMap<usize, Vec<Fed>> {
    let mut below: HashMap<usize, Vec<usize>> = HashMap::new();
    for (index, table) in catalog.tables.iter().enumerate() {
        if let Some(parent) = table.parent {
            below.entry(parent).or_default().push(index);
        }
    }
    let mut feeds: BTreeMap<usize, Vec<Fed>> = BTreeMap::new();
    for (at, table, column) in catalog.columns() {
        let Some((sequence, way)) = way(&column.feed) else { continue };
        // A partition's column counts with that of its parent.
        let above = table.parent.and_then(|parent| {
            let parent = &catalog.tables[parent];
            parent.find(&column.name).map(|column| &parent.columns[column].feed)
        });
        if above.and_then(self::way).is_some_and(|(of_parent, _)| of_parent == sequence) {
            continue;
        }
        let (parts, is_whole) = parts(catalog, &below, at, sequence);
        feeds.entry(sequence).or_default().push(Fed { at, parts, is_whole, way });
    }
    feeds
}

/// The columns whose furthest values tell whether sequences are behind.
#[must_use]
pub fn wanted(catalog: &Catalog) -> BTreeSet<ColumnAt> {
    let feeds = feeds(catalog);
    let as_they_are = feeds.values().flatten().filter(|fed| matches!(fed.way, Way::AsTheyAre { .. }));
    as_they_are.flat_map(|fed| fed.parts.iter().copied()).collect()
}

/// The furthest value of a fed column.
#[must_use]
pub fn furthest(catalog: &Catalog, fed: &Fed, grows: Grows) -> Furthest {
    let mut furthest = Furthest::default();
    for &part in &fed.parts {
        let extreme = &catalog.column(part).extreme;
        let why = match extreme {
            Extreme::Unread(why) => Some(Some(why.clone())),
            Extreme::AtLeast(_) => Some(None),
            Extreme::Exact(_) | Extreme::Empty => None,
        };
        if let (Some(why), None) = (why, &furthest.unknown) {
            furthest.unknown = Some((part, why));
        }
        furthest.value = further(furthest.value, extreme.value(), grows);
    }
    furthest
}

/// The further of two values that may be missing.
pub(crate) fn further(a: Option<i128>, b: Option<i128>, grows: Grows) -> Option<i128> {
    match (a, b) {
        (Some(a), Some(b)) if grows == Grows::Up => Some(a.max(b)),
        (Some(a), Some(b)) => Some(a.min(b)),
        (one, other) => one.or(other),
    }
}

fn way(feed: &Feed) -> Option<(usize, Way)> {
    match *feed {
        Feed::Sequence { sequence, is_identity, is_default: true } => {
            Some((sequence, Way::AsTheyAre { is_identity }))
        }
        Feed::Sequence { sequence, is_default: false, .. } => Some((sequence, Way::OwnedOnly)),
        Feed::Derived { sequence } => Some((sequence, Way::Derived)),
        Feed::None | Feed::AutoIncrement { .. } | Feed::RowId | Feed::Function => None,
    }
}

/// The columns with rows, its own and those below that no other sequence feeds; and whether that is all of them. Partitions of an identity column are fed by
/// nothing themselves before PostgreSQL 17.
fn parts(
    catalog: &Catalog,
    below: &HashMap<usize, Vec<usize>>,
    at: ColumnAt,
    sequence: usize,
) -> (Vec<ColumnAt>, bool) {
    let name = &catalog.column(at).name;
    let (mut found, mut open, mut is_whole) = (Vec::new(), vec![at.table], true);
    while let Some(index) = open.pop() {
        let table = &catalog.tables[index];
        let Some(column) = table.find(name) else { continue };
        let feed = &table.columns[column].feed;
        if index != at.table && *feed != Feed::None && way(feed).is_none_or(|(other, _)| other != sequence) {
            is_whole = false;
            continue;
        }
        if table.kind != TableKind::Partitioned {
            found.push(ColumnAt { table: index, column });
        }
        open.extend(below.get(&index).into_iter().flatten());
    }
    found.sort_unstable();
    (found, is_whole)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::{Dialect, Kind, Reading, Sequence, Table};

    fn table(name: &str, parent: Option<usize>, kind: TableKind) -> Table {
        Table { parent, kind, ..Table::of(name).column("id", "bigint", Kind::int(64)) }
    }

    #[test]
    fn partitions_count_with_their_parent_unless_another_sequence_feeds_them() {
        let catalog = Catalog::of(Dialect::Postgres)
            .with(table("orders", None, TableKind::Partitioned))
            .with(table("orders_1", Some(0), TableKind::Partition))
            .with(table("orders_2", Some(0), TableKind::Partition))
            .fed("orders.id", Sequence::of("s", 64, Reading::Value(1)))
            .fed("orders_2.id", Sequence::of("t", 64, Reading::Value(1)))
            .changed("orders_1.id", |column| column.extreme = Extreme::Exact(9))
            .changed("orders_2.id", |column| column.extreme = Extreme::Exact(99));
        let feeds = feeds(&catalog);
        let part = |table| ColumnAt { table, column: 0 };
        assert_eq!((feeds[&0].len(), &feeds[&0][0].parts), (1, &vec![part(1)]));
        assert_eq!((feeds[&1].len(), &feeds[&1][0].parts), (1, &vec![part(2)]));
        assert_eq!(furthest(&catalog, &feeds[&0][0], Grows::Up), Furthest { value: Some(9), unknown: None });
        assert_eq!(wanted(&catalog), BTreeSet::from([part(1), part(2)]));
    }

    #[test]
    fn one_part_that_isnt_known_leaves_the_others_as_a_lower_bound() {
        let catalog = Catalog::of(Dialect::Postgres)
            .with(table("a", None, TableKind::Plain))
            .with(table("b", Some(0), TableKind::Child))
            .fed("a.id", Sequence::of("s", 64, Reading::Value(1)))
            .changed("a.id", |column| column.extreme = Extreme::Exact(5))
            .changed("b.id", |column| column.extreme = Extreme::Unread(Unread::Locked));
        let found = furthest(&catalog, &feeds(&catalog)[&0][0], Grows::Up);
        assert_eq!(found.value, Some(5));
        assert_eq!(found.unknown, Some((ColumnAt { table: 1, column: 0 }, Some(Unread::Locked))));
    }
}
