//! How far each key has come, and what ends it first.
//!
//! Three limits are independent, and the smallest counts: the column's type (through domains), the sequence's bound, and every
//! copy of the value: each column that refers to it, declared or not. A naive `ALTER COLUMN … TYPE bigint` moves the first only.

use crate::catalog::{Catalog, Column, ColumnAt, Extreme, Feed, Grows, Reading, Sequence, TableKind, Unread};
use crate::names;
use std::collections::{BTreeSet, HashMap, HashSet};

/// A key with its place between nothing and its end.
#[derive(Clone, Debug, PartialEq)]
pub struct Key {
    /// The column; `None` for a sequence that feeds none, and for a space.
    pub at: Option<ColumnAt>,
    /// The sequence, as an index into [`Catalog::sequences`].
    pub sequence: Option<usize>,
    /// One of Mintage's spaces, as an index into [`Catalog::spaces`].
    pub space: Option<usize>,
    /// The last value handed out, or the furthest in use; `None` when it isn't known.
    pub current: Option<i128>,
    /// Where that comes from.
    pub source: Source,
    /// The last value that everything can hold.
    pub limit: i128,
    /// What can't hold more.
    pub limited_by: Limiter,
    /// The share that is used, 0 to 1; `None` when it isn't known.
    pub ratio: Option<f64>,
    /// Numbers handed out for each row that there is, by statistics.
    pub burn: Option<f64>,
}

/// Where a current value comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// The sequence shows it.
    Sequence,
    /// The sequence of a standby shows it: up to 32 ahead.
    StandbySequence,
    /// The server's AUTO_INCREMENT counter.
    AutoIncrement,
    /// The end of an index.
    Index,
    /// Statistics: at least this.
    Statistics,
    /// A store of Mintage.
    Space,
    /// It can't be known, and this is why.
    Unknown(String),
}

/// What can't hold more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limiter {
    /// The type of the column itself.
    Type,
    /// The bound of its sequence.
    Sequence,
    /// A column that refers to it by a foreign key.
    ForeignKey(ColumnAt),
    /// A column that is called as if it referred to it, and holds no other values.
    CopyByName(ColumnAt),
    /// The end of a space.
    Space,
}

/// A column that may be a copy of a key, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Copy {
    /// The copy.
    pub copy: ColumnAt,
    /// The key.
    pub key: ColumnAt,
}

/// Every key: columns that are fed or are keys, sequences that feed none, spaces.
#[must_use]
pub fn keys(catalog: &Catalog) -> Vec<Key> {
    let graph = Graph::of(catalog);
    let mut keys: Vec<Key> = graph.subjects.iter().map(|&at| graph.key(at)).collect();
    let fed: HashSet<usize> = keys.iter().filter_map(|key| key.sequence).collect();
    for (index, sequence) in catalog.sequences.iter().enumerate() {
        if !fed.contains(&index) {
            keys.push(of_sequence(catalog, index, sequence));
        }
    }
    keys.extend(catalog.spaces.iter().enumerate().map(|(index, space)| Key {
        at: None,
        sequence: None,
        space: Some(index),
        current: Some(space.current),
        source: Source::Space,
        limit: space.limit,
        limited_by: Limiter::Space,
        ratio: Some(ratio(space.current, space.limit, 0)),
        burn: None,
    }));
    keys
}

/// The columns whose furthest values [`keys`] needs. Readers look these up, and nothing else.
#[must_use]
pub fn wanted(catalog: &Catalog) -> BTreeSet<ColumnAt> {
    let graph = Graph::of(catalog);
    let mut wanted: BTreeSet<ColumnAt> = graph.subjects.iter().copied().collect();
    wanted.extend(copies_by_name(catalog).iter().map(|copy| copy.copy));
    let mut parts: Vec<ColumnAt> = Vec::new();
    for &at in &wanted {
        parts.extend(graph.parts(at));
    }
    wanted.extend(parts);
    wanted.retain(|at| catalog.tables[at.table].kind != TableKind::Partitioned);
    wanted
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
        let Some(key) = target else { continue };
        let is_narrower = column.kind.bound(Grows::Up) < catalog.column(key).kind.bound(Grows::Up);
        if key.table != at.table && is_narrower {
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

/// Whether what is known of the values supports that a column is a copy of a key that has come to `current`.
#[must_use]
pub fn is_confirmed(extreme: &Extreme, current: Option<i128>) -> bool {
    match (extreme.value(), current) {
        (Some(copy), Some(current)) => copy > 0 && copy <= current,
        _ => false,
    }
}

/// What is looked up again and again.
struct Graph<'a> {
    catalog: &'a Catalog,
    referrers: HashMap<ColumnAt, Vec<ColumnAt>>,
    copies: HashMap<ColumnAt, Vec<ColumnAt>>,
    /// Partitions of a table, directly below it.
    partitions: HashMap<usize, Vec<usize>>,
    subjects: Vec<ColumnAt>,
}

impl<'a> Graph<'a> {
    fn of(catalog: &'a Catalog) -> Self {
        let mut copies: HashMap<ColumnAt, Vec<ColumnAt>> = HashMap::new();
        for Copy { copy, key } in copies_by_name(catalog) {
            copies.entry(key).or_default().push(copy);
        }
        let mut partitions: HashMap<usize, Vec<usize>> = HashMap::new();
        for (index, table) in catalog.tables.iter().enumerate() {
            if let (TableKind::Partition, Some(parent)) = (table.kind, table.parent) {
                partitions.entry(parent).or_default().push(index);
            } else if let (TableKind::Partitioned, Some(parent)) = (table.kind, table.parent) {
                partitions.entry(parent).or_default().push(index);
            }
        }
        let referring = catalog.referring();
        let subjects = catalog.columns().filter(|(at, ..)| is_subject(catalog, *at, &referring));
        let subjects = subjects.map(|(at, ..)| at).collect();
        Self { catalog, referrers: catalog.referrers(), copies, partitions, subjects }
    }

    /// The same column in the partitions of its table, however deep.
    fn parts(&self, at: ColumnAt) -> Vec<ColumnAt> {
        let name = &self.catalog.column(at).name;
        let (mut found, mut open) = (Vec::new(), vec![at.table]);
        while let Some(table) = open.pop() {
            for &part in self.partitions.get(&table).into_iter().flatten() {
                open.push(part);
                if let Some(column) = self.catalog.tables[part].find(name) {
                    found.push(ColumnAt { table: part, column });
                }
            }
        }
        found
    }

    fn key(&self, at: ColumnAt) -> Key {
        let column = self.catalog.column(at);
        let sequence = match column.feed {
            Feed::Sequence { sequence, .. } => Some(sequence),
            _ => None,
        };
        let fed_by = sequence.map(|index| &self.catalog.sequences[index]);
        let grows = grows(self.catalog, column);
        let extreme = self.extreme(at, grows);
        let (current, source) = current(self.catalog, column, fed_by, &extreme, grows);
        let mut limit = column.kind.bound(grows).unwrap_or(i128::MAX);
        let mut limited_by = Limiter::Type;
        let mut lower = |bound: Option<i128>, by: Limiter| {
            if let Some(bound) = bound.filter(|&bound| is_before(bound, limit, grows)) {
                (limit, limited_by) = (bound, by);
            }
        };
        lower(fed_by.map(Sequence::bound), Limiter::Sequence);
        for (copy, by) in self.all_copies(at, current, grows) {
            lower(self.catalog.column(copy).kind.bound(grows), by);
        }
        let first = fed_by.map_or(0, |sequence| first(sequence, current));
        let rows = self.rows(at.table);
        let burn = match (&source, current, rows) {
            (
                Source::Sequence | Source::StandbySequence | Source::AutoIncrement,
                Some(current),
                Some(rows),
            ) if rows > 0 => {
                let step = fed_by.map_or(1, |sequence| sequence.increment.abs().max(1));
                Some(((current - first).abs() / step) as f64 / rows as f64)
            }
            _ => None,
        };
        let ratio = current.map(|current| ratio(current, limit, first));
        Key { at: Some(at), sequence, space: None, current, source, limit, limited_by, ratio, burn }
    }

    /// The furthest value of a column, with that of its partitions. One that isn't known makes it unknown unless the rest is
    /// a lower bound.
    fn extreme(&self, at: ColumnAt, grows: Grows) -> Extreme {
        let own = (self.catalog.tables[at.table].kind != TableKind::Partitioned)
            .then(|| self.catalog.column(at).extreme.clone());
        let parts = self
            .parts(at)
            .into_iter()
            .filter(|at| self.catalog.tables[at.table].kind != TableKind::Partitioned);
        let all = own.into_iter().chain(parts.map(|part| self.catalog.column(part).extreme.clone()));
        all.fold(Extreme::Empty, |a, b| further(a, b, grows))
    }

    fn rows(&self, table: usize) -> Option<u64> {
        let Some(parts) = self.partitions.get(&table) else { return self.catalog.tables[table].rows };
        let rows: Vec<u64> = parts.iter().filter_map(|&part| self.rows(part)).collect();
        (rows.len() == parts.len()).then(|| rows.iter().sum())
    }

    /// Every column that holds values of this one, through any number of references.
    fn all_copies(&self, at: ColumnAt, current: Option<i128>, grows: Grows) -> Vec<(ColumnAt, Limiter)> {
        let (mut found, mut seen, mut open) = (Vec::new(), HashSet::from([at]), vec![at]);
        while let Some(key) = open.pop() {
            for &copy in self.referrers.get(&key).into_iter().flatten() {
                if seen.insert(copy) {
                    found.push((copy, Limiter::ForeignKey(copy)));
                    open.push(copy);
                }
            }
            for &copy in self.copies.get(&key).into_iter().flatten() {
                let extreme = self.extreme(copy, Grows::Up);
                if grows == Grows::Up && is_confirmed(&extreme, current) && seen.insert(copy) {
                    found.push((copy, Limiter::CopyByName(copy)));
                }
            }
        }
        found
    }
}

/// Whether a column hands out values of its own: it is fed, or it is a key (or a part of one) that refers to nothing.
fn is_subject(catalog: &Catalog, at: ColumnAt, referring: &HashSet<ColumnAt>) -> bool {
    let (table, column) = (&catalog.tables[at.table], catalog.column(at));
    if !column.kind.is_int() || column.is_array || column.is_generated {
        return false;
    }
    if table.kind == TableKind::Partition || (table.kind == TableKind::Partitioned && table.parent.is_some())
    {
        // A partition counts with its parent, unless it has a source of its own.
        let parents = table.parent.and_then(|parent| {
            let parent = &catalog.tables[parent];
            parent.find(&column.name).map(|column| &parent.columns[column].feed)
        });
        return is_fed(&column.feed) && parents != Some(&column.feed);
    }
    is_fed(&column.feed)
        || matches!(column.feed, Feed::Derived { .. } | Feed::Function)
        || (!referring.contains(&at)
            && (table.is_in_primary_key(&column.name) || table.is_unique(&column.name)))
}

fn is_fed(feed: &Feed) -> bool {
    matches!(feed, Feed::Sequence { .. } | Feed::AutoIncrement { .. } | Feed::RowId)
}

/// Which way a column goes.
pub(crate) fn grows(catalog: &Catalog, column: &Column) -> Grows {
    match column.feed {
        Feed::Sequence { sequence, .. } => catalog.sequences[sequence].grows(),
        _ => Grows::Up,
    }
}

fn is_before(a: i128, b: i128, grows: Grows) -> bool {
    match grows {
        Grows::Up => a < b,
        Grows::Down => a > b,
    }
}

/// The further of two.
fn further(a: Extreme, b: Extreme, grows: Grows) -> Extreme {
    match (&a, &b) {
        (Extreme::Empty, _) => b,
        (_, Extreme::Empty) => a,
        // What is known of one part is a lower bound of the whole.
        (Extreme::Unread(_), Extreme::Exact(value) | Extreme::AtLeast(value))
        | (Extreme::Exact(value) | Extreme::AtLeast(value), Extreme::Unread(_)) => Extreme::AtLeast(*value),
        (Extreme::Unread(_), Extreme::Unread(_)) => a,
        (Extreme::Exact(x) | Extreme::AtLeast(x), Extreme::Exact(y) | Extreme::AtLeast(y)) => {
            let value = if is_before(*x, *y, grows) { *y } else { *x };
            let is_exact = matches!((&a, &b), (Extreme::Exact(_), Extreme::Exact(_)));
            if is_exact { Extreme::Exact(value) } else { Extreme::AtLeast(value) }
        }
    }
}

/// The last value handed out, or the furthest in use, whichever is further.
fn current(
    catalog: &Catalog,
    column: &Column,
    fed_by: Option<&Sequence>,
    extreme: &Extreme,
    grows: Grows,
) -> (Option<i128>, Source) {
    if catalog.server.is_text {
        return (None, Source::Unknown("there are definitions only, no values".to_owned()));
    }
    let by_extreme = match extreme {
        Extreme::Exact(value) => Some((*value, Source::Index)),
        Extreme::AtLeast(value) => Some((*value, Source::Statistics)),
        Extreme::Empty | Extreme::Unread(_) => None,
    };
    let from_sequence = if catalog.server.is_standby { Source::StandbySequence } else { Source::Sequence };
    let (reading, source, before) = match (&column.feed, fed_by) {
        (_, Some(sequence)) => (&sequence.reading, from_sequence, -sequence.increment),
        (Feed::AutoIncrement { last }, _) => (last, Source::AutoIncrement, -1),
        _ => {
            return match (by_extreme, extreme) {
                (Some((value, source)), _) => (Some(value), source),
                (None, Extreme::Empty) => (Some(0), Source::Index),
                (None, Extreme::Unread(why)) => (None, Source::Unknown(unread(why))),
                (None, _) => (None, Source::Unknown("it wasn't read".to_owned())),
            };
        }
    };
    let by_reading = match reading {
        Reading::Value(value) => Some((*value, source)),
        // None was handed out since a restart: what lies before it counts as used.
        Reading::NeverUsed { next: Some(next) } => {
            let is_fresh = fed_by.is_none_or(|sequence| *next == sequence.start);
            // Rows may have come with ids of their own; only a look at them could tell.
            if let (true, Extreme::Unread(why)) = (is_fresh, extreme) {
                return (None, Source::Unknown(format!("its sequence was never used, and {}", unread(why))));
            }
            Some((next + before, source))
        }
        Reading::NeverUsed { next: None } => {
            return match by_extreme {
                Some((value, source)) => (Some(value), source),
                None => (
                    None,
                    Source::Unknown(
                        "its sequence was never used or was restarted; SELECT on it would tell".to_owned(),
                    ),
                ),
            };
        }
        Reading::Unreadable { needs } => {
            return match by_extreme {
                // The furthest row is a lower bound of what was handed out, and marked as such.
                Some((value, _)) => (Some(value), Source::Statistics),
                None => (None, Source::Unknown(needs.clone())),
            };
        }
        Reading::Unknown => None,
    };
    match (by_reading, by_extreme) {
        (Some((a, _)), Some((b, source))) if is_before(a, b, grows) => (Some(b), source),
        (Some((a, source)), _) => (Some(a), source),
        (None, Some((b, source))) => (Some(b), source),
        (None, None) => (None, Source::Unknown("it wasn't read".to_owned())),
    }
}

/// Why, in words.
#[must_use]
pub fn unread(why: &Unread) -> String {
    match why {
        Unread::NotAsked => "it wasn't read".to_owned(),
        Unread::NoIndex => "no index begins with it, and there are no statistics".to_owned(),
        Unread::Locked => "another session holds a lock on the table".to_owned(),
        Unread::Denied(needs) => needs.clone(),
        Unread::TookTooLong => "it took longer than its budget".to_owned(),
    }
}

fn of_sequence(catalog: &Catalog, index: usize, sequence: &Sequence) -> Key {
    let source = if catalog.server.is_standby { Source::StandbySequence } else { Source::Sequence };
    let (current, source) = match &sequence.reading {
        Reading::Value(value) => (Some(*value), source),
        Reading::NeverUsed { next: Some(next) } => (Some(next - sequence.increment), source),
        Reading::NeverUsed { next: None } => {
            (None, Source::Unknown("it was never used or was restarted; SELECT on it would tell".to_owned()))
        }
        Reading::Unreadable { needs } => (None, Source::Unknown(needs.clone())),
        Reading::Unknown => (None, Source::Unknown("there are definitions only, no values".to_owned())),
    };
    let (grows, mut limit, mut limited_by) = (sequence.grows(), sequence.bound(), Limiter::Sequence);
    // A sequence that its column draws from stands with the column. Of the others only one that a function may draw from is bound by it.
    let owner = sequence.owner.filter(|&owner| catalog.column(owner).feed == Feed::Function);
    let bound = owner.and_then(|owner| catalog.column(owner).kind.bound(grows));
    if let Some(bound) = bound.filter(|&bound| is_before(bound, limit, grows)) {
        (limit, limited_by) = (bound, Limiter::Type);
    }
    let ratio = current.map(|current| ratio(current, limit, first(sequence, current.into())));
    Key {
        at: None,
        sequence: Some(index),
        space: None,
        current,
        source,
        limit,
        limited_by,
        ratio,
        burn: None,
    }
}

/// Where the used part of a sequence begins: 0, unless it goes through the other side of it.
fn first(sequence: &Sequence, current: Option<i128>) -> i128 {
    match sequence.grows() {
        Grows::Up if sequence.start < 0 || current.is_some_and(|current| current < 0 && sequence.min < 0) => {
            if sequence.start < 0 {
                sequence.start.min(current.unwrap_or(sequence.start))
            } else {
                sequence.min
            }
        }
        Grows::Down if sequence.start > 0 || current.is_some_and(|current| current > 0) => {
            sequence.start.max(current.unwrap_or(sequence.start)).max(0)
        }
        _ => 0,
    }
}

/// The share of the way from `first` to `limit`, 0 to 1.
fn ratio(current: i128, limit: i128, first: i128) -> f64 {
    if limit == first {
        return 1.0;
    }
    ((current - first) as f64 / (limit - first) as f64).clamp(0.0, 1.0)
}
