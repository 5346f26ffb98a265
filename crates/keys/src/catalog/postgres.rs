//! Reads a PostgreSQL database: a handful of catalog queries, then the ends of indexes, then the sequences.
//!
//! Needed is what `pg_read_all_data` gives: USAGE on schemas, SELECT on tables and sequences. Without some of it the rest is
//! still read, and what is missing is named. Every question is a transaction of its own that is read-only, waits 200 ms at most for
//! a lock, and ends with its budget; nothing is prepared, so a pooler in transaction mode does.
//!
//! Order: columns first, then the sequences. What is inserted in between makes a sequence look further, never behind.

mod feeds;
mod link;
mod queries;

use super::{
    Catalog, Column, ColumnAt, Dialect, Extreme, ForeignKey, Grows, Index, Kind, PassedOver, Reading,
    Sequence, Table, TableKind, Unread,
};
use crate::error::Error;
use crate::limits;
use crate::open::Options;
use crate::scopes;
use link::{Answered, Link, Stopped};
use std::collections::{BTreeMap, HashMap, HashSet};

/// Reads the database of a URL.
///
/// # Errors
/// [`Error::Url`], [`Error::Lost`] when the connection can't be made or is lost, [`Error::Query`] when the catalog can't be read.
pub async fn read(url: &str, options: &Options) -> Result<Catalog, Error> {
    let link = Link::to(url, options).await?;
    let mut reader = Reader::new(link);
    reader.server().await?;
    reader.locks().await?;
    reader.tables().await?;
    reader.sequences().await?;
    reader.columns().await?;
    reader.indexes().await?;
    reader.foreign_keys().await?;
    reader.feeds().await?;
    reader.extremes().await?;
    reader.readings().await?;
    reader.scopes().await?;
    Ok(reader.catalog)
}

/// An object identifier of PostgreSQL.
type Oid = u32;

struct Reader {
    link: Link,
    catalog: Catalog,
    /// Tables by object identifier, and the other way round.
    tables: HashMap<Oid, usize>,
    table_oids: Vec<Oid>,
    may_use: Vec<bool>,
    has_policies: Vec<bool>,
    columns: HashMap<(Oid, i16), ColumnAt>,
    numbers: HashMap<ColumnAt, i16>,
    may_select: HashSet<ColumnAt>,
    sequences: HashMap<Oid, usize>,
    sequence_oids: Vec<Oid>,
    readable: Vec<Readable>,
    /// Tables that another session has locked, or waits to lock, so that a look would wait.
    locked: HashSet<Oid>,
    locked_sequences: HashSet<Oid>,
    version: u32,
}

/// What may be done with a sequence.
#[derive(Clone, Copy)]
struct Readable {
    may_call: bool,
    may_select: bool,
}

impl Reader {
    fn new(link: Link) -> Self {
        let mut catalog = Catalog::of(Dialect::Postgres);
        catalog.server.url = link.url.clone();
        Self {
            link,
            catalog,
            tables: HashMap::new(),
            table_oids: Vec::new(),
            may_use: Vec::new(),
            has_policies: Vec::new(),
            columns: HashMap::new(),
            numbers: HashMap::new(),
            may_select: HashSet::new(),
            sequences: HashMap::new(),
            sequence_oids: Vec::new(),
            readable: Vec::new(),
            locked: HashSet::new(),
            locked_sequences: HashSet::new(),
            version: 0,
        }
    }

    async fn server(&mut self) -> Result<(), Error> {
        let rows = self.link.ask("the server's version", queries::SERVER).await?;
        let row = rows.first().ok_or_else(|| self.link.odd("the server's version", "no row"))?;
        let words = row.text(0)?;
        self.version = row.number(1)?;
        let server = &mut self.catalog.server;
        server.dialect = match words {
            words if words.contains("CockroachDB") => Dialect::Cockroach,
            words if words.contains("-YB-") => Dialect::Yugabyte,
            _ => Dialect::Postgres,
        };
        server.version = row.text(2)?.split_whitespace().next().unwrap_or_default().to_owned();
        server.release = (self.version / 10_000, self.version % 10_000);
        server.is_standby = row.flag(3)?;
        Ok(())
    }

    /// Which tables a look would wait for.
    async fn locks(&mut self) -> Result<(), Error> {
        (self.locked, self.locked_sequences) = (HashSet::new(), HashSet::new());
        for row in self.link.ask("locks", queries::LOCKS).await? {
            let oid = row.number(0)?;
            // Reading a sequence takes a stronger lock than reading a table.
            self.locked_sequences.insert(oid);
            if row.text(1)? == "AccessExclusiveLock" {
                self.locked.insert(oid);
            }
        }
        Ok(())
    }

    async fn tables(&mut self) -> Result<(), Error> {
        let rows = self.link.ask("tables", queries::TABLES).await?;
        let mut parents = Vec::new();
        let stores = ["meta", "space", "state", "worker"];
        let is_of_store = |schema: &str, name: &str| schema == "mintage" && stores.contains(&name);
        let mut own = 0;
        for row in &rows {
            own += usize::from(is_of_store(row.text(1)?, row.text(2)?));
        }
        self.catalog.is_store = own == stores.len();
        for row in &rows {
            if self.catalog.is_store && is_of_store(row.text(1)?, row.text(2)?) {
                continue;
            }
            let oid: Oid = row.number(0)?;
            let (is_partitioned, is_partition) = (row.text(3)? == "p", row.flag(4)?);
            let rows: f64 = row.number(5)?;
            let kind = match (is_partitioned, is_partition) {
                (true, _) => TableKind::Partitioned,
                (false, true) => TableKind::Partition,
                (false, false) if row.optional(6)?.is_some() => TableKind::Child,
                (false, false) => TableKind::Plain,
            };
            if let Some(parent) = row.optional(6)? {
                parents.push((self.catalog.tables.len(), parent.parse::<Oid>().unwrap_or(0)));
            }
            self.tables.insert(oid, self.catalog.tables.len());
            self.table_oids.push(oid);
            self.may_use.push(row.flag(7)?);
            self.has_policies.push(row.flag(8)?);
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "checked to be 0 or more"
            )]
            let rows = (rows >= 0.0 && !is_partitioned).then_some(rows as u64);
            let table = Table {
                schema: row.text(1)?.to_owned(),
                name: row.text(2)?.to_owned(),
                kind,
                rows,
                ..Table::default()
            };
            if self.locked.contains(&oid) {
                let (schema, name) = (table.schema.clone(), table.name.clone());
                self.catalog.passed_over.push(PassedOver { schema, name, why: Unread::Locked });
            }
            self.catalog.tables.push(table);
        }
        for (child, parent) in parents {
            self.catalog.tables[child].parent = self.tables.get(&parent).copied();
        }
        Ok(())
    }

    async fn sequences(&mut self) -> Result<(), Error> {
        for row in self.link.ask("sequences", queries::SEQUENCES).await? {
            let oid: Oid = row.number(0)?;
            self.sequences.insert(oid, self.catalog.sequences.len());
            self.sequence_oids.push(oid);
            self.readable.push(Readable { may_call: row.flag(11)?, may_select: row.flag(12)? });
            self.catalog.sequences.push(Sequence {
                schema: row.text(1)?.to_owned(),
                name: row.text(2)?.to_owned(),
                declared: row.text(3)?.to_owned(),
                start: row.number(4)?,
                min: row.number(5)?,
                max: row.number(6)?,
                increment: row.number(7)?,
                cache: row.number(8)?,
                cycles: row.flag(9)?,
                owner: None,
                reading: Reading::Unknown,
                is_unlogged: row.text(10)? == "u",
            });
        }
        Ok(())
    }

    async fn columns(&mut self) -> Result<(), Error> {
        let mut kinds: BTreeMap<Oid, (Base, bool)> = BTreeMap::new();
        let rows = self.link.ask("types", queries::TYPES).await?;
        let mut types: HashMap<Oid, (String, Oid, Oid, i32)> = HashMap::new();
        for row in &rows {
            types.insert(
                row.number(0)?,
                (row.text(1)?.to_owned(), row.number(2)?, row.number(3)?, row.number(4)?),
            );
        }
        for &oid in types.keys() {
            if let Some(kind) = resolved(&types, oid, -1, 0) {
                kinds.insert(oid, kind);
            }
        }
        let ints: Vec<String> = kinds
            .iter()
            .filter(|(_, (base, _))| matches!(base, Base::Int(_) | Base::Uuid))
            .map(|(oid, _)| oid.to_string())
            .collect();
        let sql = queries::columns(&ints.join(","));
        for row in self.link.ask("columns", &sql).await? {
            let table_oid: Oid = row.number(0)?;
            let Some(&table) = self.tables.get(&table_oid) else { continue };
            let number: i16 = row.number(1)?;
            let (type_oid, modifier): (Oid, i32) = (row.number(3)?, row.number(4)?);
            let known = resolved(&types, type_oid, modifier, 0);
            let (base, is_array) = known.unwrap_or((Base::Other, false));
            let mut column = Column::of(row.text(2)?, row.text(5)?, base.kind());
            column.is_array = is_array;
            column.is_generated = !row.text(6)?.is_empty();
            column.ignores_case = matches!(base, Base::Citext) || row.flag(8)?;
            let at = ColumnAt { table, column: self.catalog.tables[table].columns.len() };
            if row.flag(7)? {
                self.may_select.insert(at);
            }
            self.columns.insert((table_oid, number), at);
            self.numbers.insert(at, number);
            self.catalog.tables[table].columns.push(column);
        }
        Ok(())
    }

    async fn indexes(&mut self) -> Result<(), Error> {
        for row in self.link.ask("indexes", queries::INDEXES).await? {
            let table_oid: Oid = row.number(0)?;
            let Some(&table) = self.tables.get(&table_oid) else { continue };
            let is_valid = row.flag(3)?;
            let mut columns = Vec::new();
            for number in row.text(1)?.split_whitespace() {
                let number: i16 = number.parse().unwrap_or(0);
                let name =
                    self.columns.get(&(table_oid, number)).map(|&at| self.catalog.column(at).name.clone());
                columns.push(name.unwrap_or_default());
            }
            let is_partial = row.flag(5)?;
            self.catalog.tables[table].indexes.push(Index {
                columns,
                // One that is being built, or failed to be, keeps nothing unique.
                is_unique: row.flag(2)? && is_valid,
                is_primary: row.flag(4)?,
                is_ordered: row.flag(6)? && is_valid && !is_partial,
                is_partial,
            });
        }
        Ok(())
    }

    async fn foreign_keys(&mut self) -> Result<(), Error> {
        for row in self.link.ask("foreign keys", queries::FOREIGN_KEYS).await? {
            let (from, to): (Oid, Oid) = (row.number(1)?, row.number(2)?);
            let numbers = |text: &str| -> Vec<i16> {
                text.split(',').filter_map(|number| number.parse().ok()).collect()
            };
            let pairs = numbers(row.text(3)?).into_iter().zip(numbers(row.text(4)?));
            let pairs: Vec<_> = pairs
                .filter_map(|(a, b)| Some((*self.columns.get(&(from, a))?, *self.columns.get(&(to, b))?)))
                .collect();
            if !pairs.is_empty() {
                self.catalog.foreign_keys.push(ForeignKey { name: row.text(0)?.to_owned(), pairs });
            }
        }
        Ok(())
    }

    /// Defaults, and what ties sequences to columns.
    async fn feeds(&mut self) -> Result<(), Error> {
        // (table, column) → sequence: what a column owns, and what its default asks.
        let mut owned: HashMap<ColumnAt, (usize, bool)> = HashMap::new();
        let mut asked: HashMap<ColumnAt, Vec<usize>> = HashMap::new();
        for row in self.link.ask("sequences of columns", queries::DEPENDENCIES).await? {
            let Some(&sequence) = self.sequences.get(&row.number::<Oid>(0)?) else { continue };
            let Some(&at) = self.columns.get(&(row.number(1)?, row.number(2)?)) else { continue };
            match row.text(3)? {
                "a" | "i" => {
                    self.catalog.sequences[sequence].owner = Some(at);
                    owned.insert(at, (sequence, row.text(3)? == "i"));
                }
                _ => asked.entry(at).or_default().push(sequence),
            }
        }
        let locked: Vec<String> = self.locked.iter().map(ToString::to_string).collect();
        for row in self.link.ask("defaults", &queries::defaults(&locked.join(","))).await? {
            let Some(&at) = self.columns.get(&(row.number(0)?, row.number(1)?)) else { continue };
            if !self.catalog.column(at).is_generated {
                self.catalog.column_mut(at).default = row.optional(2)?.map(str::to_owned);
            }
        }
        let names = feeds::Names::of(&self.catalog);
        let mut found = Vec::new();
        for (at, table, column) in self.catalog.columns() {
            if column.is_generated {
                continue;
            }
            let owns = owned.get(&at).copied();
            let asks = asked.get(&at).map_or(&[][..], Vec::as_slice);
            let is_hidden = self.locked.contains(&self.table_oids[at.table]);
            found.push((at, feeds::feed(&names, table, column, owns, asks, is_hidden)));
        }
        for (at, feed) in found {
            self.catalog.column_mut(at).feed = feed;
        }
        Ok(())
    }

    /// The furthest values of the columns that need them: from indexes, else from statistics.
    async fn extremes(&mut self) -> Result<(), Error> {
        let (mut by_index, mut by_statistics) = (Vec::new(), Vec::new());
        for at in limits::wanted(&self.catalog) {
            let (table, column) = (&self.catalog.tables[at.table], self.catalog.column(at));
            let is_locked = self.locked.contains(&self.table_oids[at.table]);
            let needs = if !self.may_use[at.table] {
                Some(format!("USAGE on schema {}", table.schema))
            } else if !self.may_select.contains(&at) {
                Some(format!("SELECT on table {}.{}", table.schema, table.name))
            } else if self.has_policies[at.table] {
                Some(format!(
                    "a role that the row security of {}.{} leaves alone (BYPASSRLS)",
                    table.schema, table.name
                ))
            } else {
                None
            };
            if let Some(needs) = needs {
                self.catalog.column_mut(at).extreme = Extreme::Unread(Unread::Denied(needs));
            } else if table.is_led_by(&column.name) && !column.is_array && !is_locked {
                by_index.push(at);
            } else {
                if is_locked {
                    self.catalog.column_mut(at).extreme = Extreme::Unread(Unread::Locked);
                }
                by_statistics.push(at);
            }
        }
        self.ends_of_indexes(&by_index).await?;
        self.statistics(&by_statistics).await
    }

    /// One statement a column, many to a round trip; each has a budget of its own, and one that fails fails alone.
    async fn ends_of_indexes(&mut self, columns: &[ColumnAt]) -> Result<(), Error> {
        let statement = |at: &ColumnAt| {
            let (table, column) = (&self.catalog.tables[at.table], self.catalog.column(*at));
            let end = match limits::grows(&self.catalog, column) {
                Grows::Up => "max",
                Grows::Down => "min",
            };
            let quoted = |name| self.catalog.server.dialect.quoted(name);
            // A child has an index of its own, or none: each table is asked for itself.
            format!(
                "SELECT {end}({}) FROM ONLY {}.{}",
                quoted(&column.name),
                quoted(&table.schema),
                quoted(&table.name)
            )
        };
        let statements: Vec<String> = columns.iter().map(statement).collect();
        let answers = self.link.ask_many("the ends of indexes", statements).await?;
        for (&at, answer) in columns.iter().zip(answers) {
            let extreme = match answer {
                Answered::Row(row) => match row.optional(0)? {
                    Some(value) => Extreme::Exact(self.link.parsed("the end of an index", value)?),
                    None => Extreme::Empty,
                },
                Answered::Nothing => Extreme::Empty,
                Answered::Stopped(stopped) => {
                    let why = match stopped {
                        Stopped::Locked => Unread::Locked,
                        Stopped::TookTooLong => Unread::TookTooLong,
                        Stopped::Denied(words) => Unread::Denied(words),
                    };
                    let table = &self.catalog.tables[at.table];
                    let (schema, name) = (table.schema.clone(), table.name.clone());
                    let passed = PassedOver { schema, name, why: why.clone() };
                    if !self.catalog.passed_over.contains(&passed) {
                        self.catalog.passed_over.push(passed);
                    }
                    Extreme::Unread(why)
                }
            };
            self.catalog.column_mut(at).extreme = extreme;
        }
        Ok(())
    }

    async fn statistics(&mut self, columns: &[ColumnAt]) -> Result<(), Error> {
        let mut found: HashMap<ColumnAt, (i128, i128)> = HashMap::new();
        for some in columns.chunks(5_000) {
            let wanted: Vec<String> = some
                .iter()
                .map(|at| format!("({},{})", self.table_oids[at.table], self.numbers[at]))
                .collect();
            for row in self.link.ask("statistics", &queries::statistics(&wanted.join(","))).await? {
                let Some(&at) = self.columns.get(&(row.number(0)?, row.number(1)?)) else { continue };
                for bounds in [row.optional(2)?, row.optional(3)?, row.optional(4)?].into_iter().flatten() {
                    // Arrays of integers as PostgreSQL writes them: {1,2,3}.
                    for value in bounds.trim_matches(['{', '}']).split(',') {
                        if let Ok(value) = value.parse::<i128>() {
                            let (low, high) = found.entry(at).or_insert((value, value));
                            (*low, *high) = (value.min(*low), value.max(*high));
                        }
                    }
                }
            }
        }
        for &at in columns {
            let grows = limits::grows(&self.catalog, self.catalog.column(at));
            let value = found.get(&at).map(|&(low, high)| if grows == Grows::Up { high } else { low });
            let extreme = &mut self.catalog.column_mut(at).extreme;
            *extreme = match value {
                Some(value) => Extreme::AtLeast(value),
                None if *extreme == Extreme::Unread(Unread::Locked) => continue,
                None => Extreme::Unread(Unread::NoIndex),
            };
        }
        Ok(())
    }

    /// Counters in parents' rows, beside the numbers of their children.
    async fn scopes(&mut self) -> Result<(), Error> {
        let mut scopes = scopes::scopes(&self.catalog);
        // What can't be read, or hides rows, or is locked, says nothing.
        scopes.retain(|scope| {
            let columns = scope.columns();
            columns.iter().all(|at| {
                self.may_select.contains(at)
                    && self.may_use[at.table]
                    && !self.has_policies[at.table]
                    && !self.locked.contains(&self.table_oids[at.table])
            })
        });
        let statements: Vec<String> = scopes.iter().map(|scope| scopes::sql(&self.catalog, scope)).collect();
        let answers = self.link.ask_each("counters of scopes", &statements).await?;
        for (scope, answer) in scopes.iter().zip(answers) {
            if let Answered::Row(row) = answer {
                self.catalog.scopes.push(scopes::found(scope, row.number(0)?, row.number(1)?));
            }
        }
        Ok(())
    }

    /// What the sequences show. Looking takes no number.
    async fn readings(&mut self) -> Result<(), Error> {
        // Locks may have come since the tables were read.
        self.locks().await?;
        let mut open = Vec::new();
        for index in 0..self.catalog.sequences.len() {
            let (oid, readable) = (self.sequence_oids[index], self.readable[index]);
            let sequence = &self.catalog.sequences[index];
            let needs = if !readable.may_call {
                format!("USAGE or SELECT on sequence {}.{}", sequence.schema, sequence.name)
            } else if sequence.is_unlogged && self.catalog.server.is_standby {
                "an unlogged sequence has no value on a standby; ask the primary".to_owned()
            } else if self.locked_sequences.contains(&oid) {
                "another session holds a lock on it".to_owned()
            } else {
                open.push(index);
                continue;
            };
            self.catalog.sequences[index].reading = Reading::Unreadable { needs };
        }
        let mut never = Vec::new();
        match self.last_values(&open).await {
            Ok(values) => {
                for (&index, value) in open.iter().zip(values) {
                    match value {
                        Some(value) => self.catalog.sequences[index].reading = Reading::Value(value),
                        None => never.push(index),
                    }
                }
            }
            // One of them was locked or dropped meanwhile: each by itself.
            Err(Error::Query { .. }) => {
                let statement =
                    |index: &usize| format!("SELECT pg_sequence_last_value({})", self.sequence_oids[*index]);
                let statements: Vec<String> = open.iter().map(statement).collect();
                let answers = self.link.ask_each("sequences", &statements).await?;
                for (&index, answer) in open.iter().zip(answers) {
                    match answer {
                        Answered::Row(row) => match row.optional(0)? {
                            Some(value) => {
                                let value = self.link.parsed("sequences", value)?;
                                self.catalog.sequences[index].reading = Reading::Value(value);
                            }
                            None => never.push(index),
                        },
                        Answered::Nothing => never.push(index),
                        Answered::Stopped(stopped) => {
                            self.catalog.sequences[index].reading =
                                Reading::Unreadable { needs: stopped.in_words() };
                        }
                    }
                }
            }
            Err(error) => return Err(error),
        }
        self.first_values(&never).await
    }

    async fn last_values(&mut self, open: &[usize]) -> Result<Vec<Option<i128>>, Error> {
        let oids: Vec<String> = open.iter().map(|&index| self.sequence_oids[index].to_string()).collect();
        let mut values = HashMap::new();
        for some in oids.chunks(5_000) {
            for row in self.link.ask("sequences", &queries::last_values(&some.join(","))).await? {
                let value = row.optional(1)?.map(|value| self.link.parsed("sequences", value)).transpose()?;
                values.insert(row.number::<Oid>(0)?, value);
            }
        }
        Ok(open.iter().map(|&index| values.get(&self.sequence_oids[index]).copied().flatten()).collect())
    }

    /// What sequences that show no last value hand out first: a restart or `setval(…, false)` leaves them so.
    async fn first_values(&mut self, never: &[usize]) -> Result<(), Error> {
        let (mut readable, mut statements) = (Vec::new(), Vec::new());
        for &index in never {
            let sequence = &self.catalog.sequences[index];
            if self.readable[index].may_select {
                let quoted = |name| self.catalog.server.dialect.quoted(name);
                let (schema, name) = (quoted(&sequence.schema), quoted(&sequence.name));
                statements.push(format!("SELECT last_value, is_called FROM {schema}.{name}"));
                readable.push(index);
            } else {
                self.catalog.sequences[index].reading = Reading::NeverUsed { next: None };
            }
        }
        let answers = self.link.ask_each("unused sequences", &statements).await?;
        for (&index, answer) in readable.iter().zip(answers) {
            let reading = match answer {
                Answered::Row(row) => {
                    let value: i128 = self.link.parsed("unused sequences", row.text(0)?)?;
                    // Somebody may have called it meanwhile.
                    if row.flag(1)? {
                        Reading::Value(value)
                    } else {
                        Reading::NeverUsed { next: Some(value) }
                    }
                }
                Answered::Nothing => Reading::NeverUsed { next: None },
                Answered::Stopped(stopped) => Reading::Unreadable { needs: stopped.in_words() },
            };
            self.catalog.sequences[index].reading = reading;
        }
        Ok(())
    }
}

/// What a type is at its base.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Base {
    Int(u32),
    Decimal(u32),
    Uuid,
    Text(Option<u32>),
    Citext,
    Bytes,
    Other,
}

impl Base {
    const fn kind(self) -> Kind {
        match self {
            Self::Int(bits) => Kind::int(bits),
            Self::Decimal(digits) => Kind::Decimal { digits },
            Self::Uuid => Kind::Uuid,
            Self::Text(longest) => Kind::Text { longest },
            Self::Citext => Kind::Text { longest: None },
            Self::Bytes => Kind::Bytes { longest: None },
            Self::Other => Kind::Other,
        }
    }
}

/// The type under domains, and whether it is an array. A domain brings its own modifier, as in `varchar(20)`.
fn resolved(
    types: &HashMap<Oid, (String, Oid, Oid, i32)>,
    oid: Oid,
    modifier: i32,
    depth: u32,
) -> Option<(Base, bool)> {
    let (name, base, element, own_modifier) = types.get(&oid)?;
    if depth > 32 {
        return None;
    }
    if *base != 0 {
        let modifier = if *own_modifier >= 0 { *own_modifier } else { modifier };
        return resolved(types, *base, modifier, depth + 1);
    }
    if *element != 0 && name.starts_with('_') {
        let (base, _) = resolved(types, *element, modifier, depth + 1)?;
        return Some((base, true));
    }
    let length = u32::try_from(modifier - 4).ok();
    let base = match name.as_str() {
        "int2" => Base::Int(16),
        "int4" => Base::Int(32),
        "int8" => Base::Int(64),
        "uuid" => Base::Uuid,
        "text" | "varchar" | "bpchar" => Base::Text(length),
        "citext" => Base::Citext,
        "bytea" => Base::Bytes,
        "numeric" => {
            let digits = length.map_or(38, |packed| (packed >> 16).saturating_sub(packed & 0x7ff));
            Base::Decimal(digits.min(38))
        }
        _ => Base::Other,
    };
    Some((base, false))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_seen_through_domains_and_arrays() {
        let row = |name: &str, base, element, modifier| (name.to_owned(), base, element, modifier);
        let types = HashMap::from([
            (23, row("int4", 0, 0, -1)),
            (1043, row("varchar", 0, 0, -1)),
            (1700, row("numeric", 0, 0, -1)),
            (100, row("user_id", 23, 0, -1)),
            (101, row("small_user_id", 100, 0, -1)),
            (102, row("_user_id", 0, 100, -1)),
            (103, row("code", 1043, 0, 40)),
            (104, row("loop", 104, 0, -1)),
        ]);
        let is = |oid, modifier| resolved(&types, oid, modifier, 0);
        assert_eq!(is(101, -1), Some((Base::Int(32), false)));
        assert_eq!(is(102, -1), Some((Base::Int(32), true)));
        assert_eq!(is(103, -1), Some((Base::Text(Some(36)), false)));
        assert_eq!(is(1043, 25), Some((Base::Text(Some(21)), false)));
        assert_eq!(is(1700, (10 << 16) + 4), Some((Base::Decimal(10), false)));
        assert_eq!(is(104, -1), None);
        assert_eq!(is(9, -1), None);
    }
}
