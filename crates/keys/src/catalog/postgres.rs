//! Reads a PostgreSQL database: a handful of catalog queries, then the ends of indexes, then the sequences.
//!
//! Needed is what `pg_read_all_data` gives: USAGE on schemas, SELECT on tables and sequences. Without some of it the rest is
//! still read, and what is missing is named. Every question is a transaction of its own that is read-only, waits 200 ms at most for
//! a lock, and ends with its budget; nothing is prepared, so a pooler in transaction mode does.
//!
//! Order: columns first, then the sequences. What is inserted in between makes a sequence look further, never behind.

pub(crate) mod link;
mod queries;
mod scans;
mod types;
mod values;

use super::{
    Catalog, Column, ColumnAt, Dialect, ForeignKey, Index, PassedOver, Reading, Sequence, Table, TableKind,
    Unread, bounds, feeds,
};
use crate::error::Error;
use crate::limits;
use crate::open::Options;
use crate::sequences::fed;
use link::{Link, Row};
use std::collections::{BTreeMap, HashMap, HashSet};
use tokio::time::Instant;
use types::{Base, resolved};

/// Reads the database of a URL.
///
/// # Errors
/// [`Error::Url`], [`Error::Lost`] when the connection can't be made or is lost, [`Error::Query`] when the catalog can't be read.
pub async fn read(url: &str, options: &Options) -> Result<Catalog, Error> {
    let mut reader = Reader::of_definitions(url, options).await?;
    let wanted = limits::wanted(&reader.catalog);
    reader.extremes(wanted).await?;
    reader.readings().await?;
    if reader.set_apart(Instant::now() + options.scans).await? {
        reader.readings().await?;
    }
    reader.scopes().await?;
    Ok(reader.catalog)
}

/// Reads what tells whether sequences are behind their columns. Columns without an index are scanned within the budget.
///
/// # Errors
/// See [`read`].
pub async fn read_fed(url: &str, options: &Options) -> Result<Catalog, Error> {
    let mut reader = Reader::of_definitions(url, options).await?;
    let wanted = fed::wanted(&reader.catalog);
    reader.extremes(wanted.clone()).await?;
    let until = Instant::now() + options.scans;
    reader.scans(&wanted, until).await?;
    reader.readings().await?;
    if reader.set_apart(until).await? | reader.own_values(until).await? {
        reader.readings().await?;
    }
    Ok(reader.catalog)
}

/// Sequences to a question.
const MOST: usize = 2_000;

/// How often definitions are asked for that change meanwhile.
const TRIES: u32 = 3;

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
    /// Columns that only indexes lead to whose NULLs stand at the other end than usual.
    unusual_nulls: HashSet<ColumnAt>,
    sequences: HashMap<Oid, usize>,
    sequence_oids: Vec<Oid>,
    readable: Vec<Readable>,
    /// Tables that another session has locked, or waits to lock, so that a look would wait.
    locked: HashSet<Oid>,
    locked_sequences: HashSet<Oid>,
    version: u32,
    /// Types by object identifier: name, base of a domain, element of an array, modifier of a domain.
    types: HashMap<Oid, (String, Oid, Oid, i32)>,
}

/// What may be done with a sequence.
#[derive(Clone, Copy)]
struct Readable {
    may_call: bool,
    may_select: bool,
}

impl Reader {
    /// Has read what the database holds, and no value of it.
    async fn of_definitions(url: &str, options: &Options) -> Result<Self, Error> {
        let mut reader = Self::new(Link::to(url, options).await?);
        reader.server().await?;
        reader.locks().await?;
        reader.tables().await?;
        reader.definitions().await?;
        Ok(reader)
    }

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
            unusual_nulls: HashSet::new(),
            sequences: HashMap::new(),
            sequence_oids: Vec::new(),
            readable: Vec::new(),
            locked: HashSet::new(),
            locked_sequences: HashSet::new(),
            version: 0,
            types: HashMap::new(),
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
            let is_own = is_of_store(row.text(1)?, row.text(2)?)
                || (row.text(1)? == "mintage" && row.text(2)? == "scope");
            if self.catalog.is_store && is_own {
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

    /// Everything that is defined on the tables, asked for at once where there are many.
    async fn definitions(&mut self) -> Result<(), Error> {
        self.link.spread(self.catalog.tables.len()).await;
        let kinds = self.kinds().await?;
        let ints = kinds.iter().filter(|(_, (base, _))| matches!(base, Base::Int(_) | Base::Uuid));
        let ints: Vec<String> = ints.map(|(oid, _)| oid.to_string()).collect();
        let mut answers = self.ask_definitions(&ints.join(",")).await;
        // A table was locked or dropped under the question: what is locked now is left out of the next.
        for _ in 1..TRIES {
            if !matches!(answers, Err(Error::Query { .. })) {
                break;
            }
            self.locks().await?;
            answers = self.ask_definitions(&ints.join(",")).await;
        }
        let mut answers = answers?.into_iter();
        let mut next = || answers.next().unwrap_or_default();
        let (columns, defaults, sequences, foreign_keys, dependencies, indexes, checks) =
            (next(), next(), next(), next(), next(), next(), next());
        self.sequences(&sequences)?;
        self.columns(&columns)?;
        self.checks(&columns, &checks)?;
        self.indexes(&indexes)?;
        self.foreign_keys(&foreign_keys)?;
        self.feeds(&dependencies, &defaults)
    }

    async fn ask_definitions(&mut self, types: &str) -> Result<Vec<Vec<Row>>, Error> {
        let locked: Vec<String> = self.locked.iter().map(ToString::to_string).collect();
        // Dealt out to three connections, the longest first.
        let questions = [
            ("columns", queries::columns(types)),
            ("defaults", queries::defaults(&locked.join(","))),
            ("sequences", queries::SEQUENCES.to_owned()),
            ("foreign keys", queries::FOREIGN_KEYS.to_owned()),
            ("sequences of columns", queries::DEPENDENCIES.to_owned()),
            ("indexes", queries::INDEXES.to_owned()),
            ("checks", queries::checks(&locked.join(","))),
        ];
        self.link.ask_all(&questions).await
    }

    fn sequences(&mut self, rows: &[Row]) -> Result<(), Error> {
        for row in rows {
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
                is_ahead: false,
                is_unlogged: row.text(10)? == "u",
                place: None,
            });
        }
        Ok(())
    }

    /// What the types of ids are at their base.
    async fn kinds(&mut self) -> Result<BTreeMap<Oid, (Base, bool)>, Error> {
        for row in self.link.ask("types", queries::TYPES).await? {
            self.types.insert(
                row.number(0)?,
                (row.text(1)?.to_owned(), row.number(2)?, row.number(3)?, row.number(4)?),
            );
        }
        let known = self.types.keys().filter_map(|&oid| Some((oid, resolved(&self.types, oid, -1, 0)?)));
        Ok(known.collect())
    }

    fn columns(&mut self, rows: &[Row]) -> Result<(), Error> {
        for row in rows {
            let table_oid: Oid = row.number(0)?;
            let Some(&table) = self.tables.get(&table_oid) else { continue };
            let number: i16 = row.number(1)?;
            let (type_oid, modifier): (Oid, i32) = (row.number(3)?, row.number(4)?);
            let known = resolved(&self.types, type_oid, modifier, 0);
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

    /// What CHECKs let pass: those of columns, and those of the domains that they are of.
    fn checks(&mut self, columns: &[Row], checks: &[Row]) -> Result<(), Error> {
        let mut of_domains: HashMap<Oid, i128> = HashMap::new();
        for row in checks {
            let Some(check) = row.optional(3)? else { continue };
            let domain: Oid = row.number(0)?;
            if domain != 0 {
                let Some(most) = bounds::largest(check, "value") else { continue };
                of_domains.entry(domain).and_modify(|bound| *bound = most.min(*bound)).or_insert(most);
            } else if let Some(&at) = self.columns.get(&(row.number(1)?, row.number(2)?)) {
                let most = bounds::largest(check, &self.catalog.column(at).name);
                self.check(at, most);
            }
        }
        if of_domains.is_empty() {
            return Ok(());
        }
        for row in columns {
            let Some(&at) = self.columns.get(&(row.number(0)?, row.number(1)?)) else { continue };
            let mut domain: Oid = row.number(3)?;
            for _ in 0..32 {
                self.check(at, of_domains.get(&domain).copied());
                match self.types.get(&domain) {
                    Some((_, base, ..)) if *base != 0 => domain = *base,
                    _ => break,
                }
            }
        }
        Ok(())
    }

    fn check(&mut self, at: ColumnAt, most: Option<i128>) {
        let bound = &mut self.catalog.column_mut(at).checked_to;
        *bound = [*bound, most].into_iter().flatten().min();
    }

    fn indexes(&mut self, rows: &[Row]) -> Result<(), Error> {
        for row in rows {
            let table_oid: Oid = row.number(0)?;
            let Some(&table) = self.tables.get(&table_oid) else { continue };
            let is_valid = row.flag(3)?;
            let numbers = row.text(1)?.split_whitespace().map(|number| number.parse::<i16>().unwrap_or(0));
            let places: Vec<Option<ColumnAt>> =
                numbers.map(|number| self.columns.get(&(table_oid, number)).copied()).collect();
            let name = |at: &Option<ColumnAt>| at.map(|at| self.catalog.column(at).name.clone());
            let columns = places.iter().map(|at| name(at).unwrap_or_default()).collect();
            let first = places.first().copied().flatten();
            let is_partial = row.flag(5)?;
            let is_ordered = row.flag(6)? && is_valid && !is_partial;
            if let Some(at) = first.filter(|_| is_ordered) {
                match (row.flag(7)?, self.catalog.tables[table].is_led_by(&self.catalog.column(at).name)) {
                    (true, false) => self.unusual_nulls.insert(at),
                    (true, true) => false,
                    (false, _) => self.unusual_nulls.remove(&at),
                };
            }
            self.catalog.tables[table].indexes.push(Index {
                columns,
                // One that is being built, or failed to be, keeps nothing unique.
                is_unique: row.flag(2)? && is_valid,
                is_primary: row.flag(4)?,
                is_ordered,
                is_partial,
            });
        }
        Ok(())
    }

    fn foreign_keys(&mut self, rows: &[Row]) -> Result<(), Error> {
        for row in rows {
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
    fn feeds(&mut self, dependencies: &[Row], defaults: &[Row]) -> Result<(), Error> {
        // (table, column) → sequence: what a column owns, and what its default asks.
        let mut owned: HashMap<ColumnAt, (usize, bool)> = HashMap::new();
        let mut asked: HashMap<ColumnAt, Vec<usize>> = HashMap::new();
        for row in dependencies {
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
        for row in defaults {
            let Some(&at) = self.columns.get(&(row.number(0)?, row.number(1)?)) else { continue };
            if self.catalog.column(at).is_generated {
                let of = row
                    .optional(2)?
                    .and_then(|made| feeds::plain_column(made, &self.catalog.tables[at.table]));
                self.catalog.column_mut(at).generated_from = of.filter(|of| *of != at.column);
                continue;
            }
            let default = match (row.flag(3)?, asked.get(&at).map(Vec::as_slice)) {
                (true, Some([sequence])) => Some(self.plain_nextval(*sequence)),
                (true, _) => Some("nextval(…)".to_owned()),
                (false, _) => row.optional(2)?.map(str::to_owned),
            };
            self.catalog.column_mut(at).default = default;
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

    /// A default that asks a sequence and nothing else, as the server prints it.
    fn plain_nextval(&self, sequence: usize) -> String {
        let sequence = &self.catalog.sequences[sequence];
        let quoted = |name| self.catalog.server.dialect.quoted(name).replace('\'', "''");
        format!("nextval('{}.{}'::regclass)", quoted(&sequence.schema), quoted(&sequence.name))
    }
}
