//! How far each key has come, and what ends it first.
//!
//! Three limits are independent, and the smallest counts: the column's type (through domains), the sequence's bound, and every
//! copy of the value: each column that refers to it, declared or not. A naive `ALTER COLUMN … TYPE bigint` moves the first only.

use crate::catalog::{
    Catalog, Column, ColumnAt, Extreme, Feed, Grows, Kind, Reading, Sequence, TableKind, Unread,
};
use crate::copies::{ALONG, Copy, copies_by_name, is_confirmed, is_spent};
use crate::counters::{counters, inherited};
use crate::names;
use crate::progress::{current, first, further, ratio, source_of};
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
    /// The sequence shows it, or what it has put into a cache: up to a cache ahead.
    CachedSequence,
    /// The sequence shows it. A value of the column stands apart from it at the very end, and those between weren't read.
    BesideApart,
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
    /// A CHECK of the column, or of its domain.
    Check,
    /// The bound of its sequence.
    Sequence,
    /// A column that refers to it by a foreign key.
    ForeignKey(ColumnAt),
    /// A column that is called as if it referred to it, and holds no other values.
    CopyByName(ColumnAt),
    /// A generated column that is the same value in a narrower type.
    Generated(ColumnAt),
    /// The end of a space.
    Space,
}

/// Every key: columns that are fed or are keys, sequences that feed none, spaces. None of text, which has no values.
#[must_use]
pub fn keys(catalog: &Catalog) -> Vec<Key> {
    if catalog.server.is_text {
        return Vec::new();
    }
    let graph = Graph::of(catalog);
    let mut led_on: HashSet<ColumnAt> = HashSet::new();
    let mut keys: Vec<Key> = graph.subjects.iter().map(|&at| graph.key(at, &mut led_on)).collect();
    // What refers to a key and doesn't follow it ends its own references.
    for at in graph.between() {
        if !led_on.contains(&at) {
            keys.push(graph.key(at, &mut led_on));
        }
    }
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
    wanted.extend(graph.narrow());
    let counters = counters(catalog);
    if catalog.tables.iter().any(|table| table.kind == TableKind::Child) {
        wanted.extend(counters.iter().flat_map(|&at| inherited(catalog, at)));
    }
    wanted.extend(counters);
    wanted.extend(naturals(catalog));
    let mut parts: Vec<ColumnAt> = Vec::new();
    for &at in &wanted {
        parts.extend(graph.parts(at));
    }
    wanted.extend(parts);
    wanted.retain(|at| catalog.tables[at.table].kind != TableKind::Partitioned);
    wanted
}

/// The furthest values of these columns, with those of the partitions of their tables.
#[must_use]
pub fn furthest(catalog: &Catalog, columns: &[ColumnAt]) -> Vec<Extreme> {
    let graph = Graph::of(catalog);
    columns.iter().map(|&at| graph.extreme(at, Grows::Up)).collect()
}

/// The longest chain of references that is followed upwards.
const DEEPEST: usize = 32;

/// What is looked up again and again.
struct Graph<'a> {
    catalog: &'a Catalog,
    referrers: HashMap<ColumnAt, Vec<ColumnAt>>,
    copies: HashMap<ColumnAt, Vec<ColumnAt>>,
    /// Generated columns by what they are generated from.
    generated: HashMap<ColumnAt, Vec<ColumnAt>>,
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
        let mut generated: HashMap<ColumnAt, Vec<ColumnAt>> = HashMap::new();
        for (at, _, column) in catalog.columns() {
            if let Some(of) = column.generated_from.filter(|_| column.kind.is_int()) {
                generated.entry(ColumnAt { column: of, ..at }).or_default().push(at);
            }
        }
        let referring = catalog.referring();
        let referrers = catalog.referrers();
        let subjects = catalog.columns().filter(|(at, ..)| is_subject(catalog, *at, &referring, &referrers));
        let subjects = subjects.map(|(at, ..)| at).collect();
        Self { catalog, referrers, copies, generated, partitions, subjects }
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

    /// Columns that refer to others and are referred to by narrower ones.
    fn between(&self) -> Vec<ColumnAt> {
        let holds = |at: ColumnAt| self.catalog.column(at).bound(Grows::Up);
        let of = |all: &HashMap<ColumnAt, Vec<ColumnAt>>, at| {
            all.get(&at).into_iter().flatten().any(|&copy| holds(copy) < holds(at))
        };
        let mut between: Vec<ColumnAt> = self.catalog.referring().into_iter().collect();
        between.retain(|&at| {
            let column = self.catalog.column(at);
            // Subjects stand in the order of columns.
            let is_own =
                self.subjects.binary_search(&at).is_err() && column.kind.is_int() && !column.is_array;
            is_own && (of(&self.referrers, at) || of(&self.copies, at))
        });
        between.sort_unstable();
        between
    }

    /// The columns whose values tell whether narrow references end the key that they lead to.
    fn narrow(&self) -> Vec<ColumnAt> {
        let pairs = || self.catalog.foreign_keys.iter().flat_map(|key| &key.pairs);
        let parents: HashMap<ColumnAt, ColumnAt> = pairs().copied().collect();
        let holds = |at: ColumnAt| self.catalog.column(at).bound(Grows::Up);
        let mut narrow = Vec::new();
        let declared =
            pairs().filter(|(from, to)| holds(*from) < holds(*to)).map(|(from, to)| (Some(*from), *to));
        let by_name = self.copies.keys().map(|key| (None, *key));
        for (copy, key) in declared.chain(by_name) {
            narrow.extend(copy);
            let mut at = key;
            for _ in 0..DEEPEST {
                let Some(&parent) = parents.get(&at) else { break };
                narrow.push(at);
                at = parent;
            }
        }
        narrow.retain(|at| self.catalog.column(*at).kind.is_int());
        narrow
    }

    /// How it stands; `led_on` are the references whose own references were counted with it.
    fn key(&self, at: ColumnAt, led_on: &mut HashSet<ColumnAt>) -> Key {
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
        lower(column.bound(grows), Limiter::Check);
        lower(fed_by.map(Sequence::bound), Limiter::Sequence);
        for (copy, by) in self.all_copies(at, current, grows, led_on) {
            lower(self.catalog.column(copy).bound(grows), by);
        }
        let first = fed_by.map_or(0, |sequence| first(sequence, current));
        let rows = self.rows(at.table);
        let burn = match (&source, current, rows) {
            (
                Source::Sequence | Source::StandbySequence | Source::CachedSequence | Source::AutoIncrement,
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

    /// Every column that ends this one, as it takes over its values, through any number of references.
    fn all_copies(
        &self,
        at: ColumnAt,
        current: Option<i128>,
        grows: Grows,
        led_on: &mut HashSet<ColumnAt>,
    ) -> Vec<(ColumnAt, Limiter)> {
        let (mut found, mut seen, mut open) = (Vec::new(), HashSet::from([at]), vec![at]);
        while let Some(key) = open.pop() {
            for &copy in self.referrers.get(&key).into_iter().flatten() {
                if !seen.insert(copy) {
                    continue;
                }
                if self.is_in_the_way(copy, current, grows) {
                    found.push((copy, Limiter::ForeignKey(copy)));
                }
                if self.leads_on(copy, current, grows) {
                    led_on.insert(copy);
                    open.push(copy);
                }
            }
            for &copy in self.copies.get(&key).into_iter().flatten() {
                let extreme = self.extreme(copy, Grows::Up);
                let holds = self.catalog.column(copy).bound(Grows::Up).unwrap_or(i128::MAX);
                if grows == Grows::Up && is_confirmed(&extreme, current, holds) && seen.insert(copy) {
                    found.push((copy, Limiter::CopyByName(copy)));
                }
            }
            for &copy in self.generated.get(&key).into_iter().flatten() {
                if seen.insert(copy) {
                    found.push((copy, Limiter::Generated(copy)));
                }
            }
        }
        found
    }

    /// Whether a foreign key ends a key that has come to `current`. One that the key has gone past refers to old rows only, unless it is
    /// at its own end.
    fn is_in_the_way(&self, copy: ColumnAt, current: Option<i128>, grows: Grows) -> bool {
        let Some(holds) = self.catalog.column(copy).bound(grows) else { return false };
        let is_past = current.is_some_and(|current| is_before(holds, current, grows));
        !is_past || (grows == Grows::Up && is_spent(&self.extreme(copy, Grows::Up), holds))
    }

    /// Whether a column that refers to a key has followed it, so that what refers to the column ends the key too.
    fn leads_on(&self, copy: ColumnAt, current: Option<i128>, grows: Grows) -> bool {
        let Some(current) = current else { return true };
        let followed = self.extreme(copy, Grows::Up).value();
        grows == Grows::Up && followed.is_some_and(|value| value >= current / ALONG)
    }
}

/// Primary keys of one narrow column that nothing feeds, nothing refers to and nothing calls an id: a code, a hash, a time, or a number
/// that somebody counts on. They don't stand among the keys.
#[must_use]
pub fn naturals(catalog: &Catalog) -> Vec<ColumnAt> {
    let (referring, referrers) = (catalog.referring(), catalog.referrers());
    let mut naturals = Vec::new();
    for (at, table, column) in catalog.columns() {
        let is_narrow = matches!(column.kind, Kind::Int { bits: 24..=32, .. }) && column.feed == Feed::None;
        let is_alone = table.primary_key().is_some_and(|key| key.columns == [column.name.as_str()]);
        if is_narrow
            && is_alone
            && !column.is_array
            && !column.is_generated
            && table.kind != TableKind::Partition
            && !referring.contains(&at)
            && !is_called_key(catalog, at, &referrers)
        {
            naturals.push(at);
        }
    }
    naturals
}

/// Whether a key that nothing feeds is known for one: others refer to it, or its name says so. In a key of several columns `user_id` is a
/// reference, and only `id` is the row's own.
fn is_called_key(catalog: &Catalog, at: ColumnAt, referrers: &HashMap<ColumnAt, Vec<ColumnAt>>) -> bool {
    let (table, name) = (&catalog.tables[at.table], &catalog.column(at).name);
    let is_alone = table.is_unique(name);
    let is_named = if is_alone { names::is_id(name) } else { names::normal(name) == "id" };
    is_named || referrers.contains_key(&at)
}

/// Whether a column hands out values of its own: it is fed, or it is a key (or a part of one) that refers to nothing and is called an id, or
/// referred to. What else is unique may be a code or a hash, which doesn't run out.
fn is_subject(
    catalog: &Catalog,
    at: ColumnAt,
    referring: &HashSet<ColumnAt>,
    referrers: &HashMap<ColumnAt, Vec<ColumnAt>>,
) -> bool {
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
            && (table.is_in_primary_key(&column.name) || table.is_unique(&column.name))
            && is_called_key(catalog, at, referrers))
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

pub(crate) fn is_before(a: i128, b: i128, grows: Grows) -> bool {
    match grows {
        Grows::Up => a < b,
        Grows::Down => a > b,
    }
}

/// Why, in words.
#[must_use]
pub fn unread(why: &Unread) -> String {
    match why {
        Unread::NotAsked => "it wasn't read".to_owned(),
        Unread::NoNumbers => "its values aren't whole numbers".to_owned(),
        Unread::NoIndex => "no index begins with it, and there are no statistics".to_owned(),
        Unread::Locked => "another session holds a lock on the table".to_owned(),
        Unread::Denied(needs) => needs.clone(),
        Unread::TookTooLong => "it took longer than its budget".to_owned(),
    }
}

fn of_sequence(catalog: &Catalog, index: usize, sequence: &Sequence) -> Key {
    let source = source_of(catalog, sequence);
    let (current, source) = match &sequence.reading {
        Reading::Value(value) => (Some(*value), source),
        Reading::NeverUsed { next: Some(next) } => (Some(next - sequence.increment), source),
        Reading::NeverUsed { next: None } => {
            (None, Source::Unknown("it was never used or was restarted; SELECT on it would tell".to_owned()))
        }
        Reading::Unreadable { needs } => (None, Source::Unknown(needs.clone())),
        Reading::Unknown => (None, Source::Unknown("it wasn't read".to_owned())),
    };
    let (grows, mut limit, mut limited_by) = (sequence.grows(), sequence.bound(), Limiter::Sequence);
    // A sequence that its column draws from stands with the column. Of the others only one that a function may draw from is bound by it.
    let owner = sequence.owner.filter(|&owner| catalog.column(owner).feed == Feed::Function);
    let bound = owner.and_then(|owner| catalog.column(owner).bound(grows));
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
