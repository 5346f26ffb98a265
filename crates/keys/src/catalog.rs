//! What a database says about its keys, as plain data.
//!
//! Checks see a [`Catalog`], never a connection. Readers fill it: [`postgres`], [`mysql`], [`sqlite`].
//! Whatever could not be read says so ([`Reading::Unreadable`], [`Unread`]); nothing that is unknown looks like zero.

#[cfg(feature = "postgres")]
mod bounds;
mod column;
mod feeds;
#[cfg(feature = "mysql")]
pub mod mysql;
#[cfg(feature = "postgres")]
pub mod postgres;
mod sequence;
pub mod sketch;
#[cfg(feature = "sqlite")]
pub mod sqlite;
pub mod text;

pub use column::{Column, Extreme, Feed, Grows, Kind, Unread};
pub use sequence::{Reading, Sequence};

use std::collections::{HashMap, HashSet};

/// Everything that was read of one database.
#[derive(Clone, Debug, PartialEq)]
pub struct Catalog {
    /// Who answered.
    pub server: Server,
    /// Tables, with the columns that may hold ids.
    pub tables: Vec<Table>,
    /// Database sequences.
    pub sequences: Vec<Sequence>,
    /// Foreign keys, each once: those that partitions inherit aren't repeated.
    pub foreign_keys: Vec<ForeignKey>,
    /// What was passed over, and why.
    pub passed_over: Vec<PassedOver>,
    /// Whether it is a store of Mintage, whose own tables aren't told of.
    pub is_store: bool,
    /// Mintage's own spaces, where the database is one of its stores.
    pub spaces: Vec<SpaceFacts>,
    /// Counters of scopes that lie below what they have handed out.
    pub scopes: Vec<ScopeCounter>,
}

/// A server, or what stands for one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    /// What it speaks.
    pub dialect: Dialect,
    /// Its URL without a password; for text the path of the file.
    pub url: String,
    /// Its version as it writes it: `15.20`.
    pub version: String,
    /// The version's first two numbers.
    pub release: (u32, u32),
    /// Whether it follows another server: what it shows of sequences may be ahead.
    pub is_standby: bool,
    /// Whether there are no values at all, only definitions.
    pub is_text: bool,
}

/// What a database speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// PostgreSQL.
    Postgres,
    /// MariaDB.
    MariaDb,
    /// MySQL.
    MySql,
    /// SQLite.
    Sqlite,
    /// CockroachDB, recognised by its version; untested.
    Cockroach,
    /// YugabyteDB, recognised by its version; untested.
    Yugabyte,
    /// TiDB, recognised by its version; untested.
    TiDb,
}

impl Dialect {
    /// All of them.
    pub const ALL: &[Self] = &[
        Self::Postgres,
        Self::MariaDb,
        Self::MySql,
        Self::Sqlite,
        Self::Cockroach,
        Self::Yugabyte,
        Self::TiDb,
    ];

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Postgres => "PostgreSQL",
            Self::MariaDb => "MariaDB",
            Self::MySql => "MySQL",
            Self::Sqlite => "SQLite",
            Self::Cockroach => "CockroachDB",
            Self::Yugabyte => "YugabyteDB",
            Self::TiDb => "TiDB",
        }
    }

    /// Whether its SQL is MySQL's.
    #[must_use]
    pub const fn is_mysql_like(self) -> bool {
        matches!(self, Self::MariaDb | Self::MySql | Self::TiDb)
    }

    /// A name as it stands in SQL, whatever it holds.
    #[must_use]
    pub fn quoted(self, name: &str) -> String {
        let mark = if self.is_mysql_like() { '`' } else { '"' };
        let mut text = String::with_capacity(name.len() + 2);
        text.push(mark);
        for c in name.chars() {
            if c == mark {
                text.push(mark);
            }
            text.push(c);
        }
        text.push(mark);
        text
    }
}

/// A table. Views and foreign tables aren't read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// Its schema; in MySQL its database, in SQLite `main`.
    pub schema: String,
    /// Its name.
    pub name: String,
    /// How it stands to others.
    pub kind: TableKind,
    /// The table that it is a partition of, or inherits from, as an index into [`Catalog::tables`].
    pub parent: Option<usize>,
    /// How many rows it has, as the server's statistics say.
    pub rows: Option<u64>,
    /// The storage engine, where there is a choice.
    pub engine: Option<String>,
    /// Whether rows are stored in the order of the primary key.
    pub is_clustered: bool,
    /// Columns that may hold ids.
    pub columns: Vec<Column>,
    /// Its unique and other indexes.
    pub indexes: Vec<Index>,
    /// Where it is defined, for what comes from a file.
    pub place: Option<Place>,
}

/// How a table stands to others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TableKind {
    /// By itself.
    #[default]
    Plain,
    /// Made of partitions, without rows of its own.
    Partitioned,
    /// A partition of its parent.
    Partition,
    /// Inherits the columns of its parent.
    Child,
}

/// A line of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file's path.
    pub file: String,
    /// The line, from 1.
    pub line: u64,
}

/// An index, or a key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Index {
    /// Its columns by name, in order, where they are plain columns; an expression is empty.
    pub columns: Vec<String>,
    /// Whether no two rows may agree in them.
    pub is_unique: bool,
    /// Whether it is the primary key.
    pub is_primary: bool,
    /// Whether the largest value of its first column can be read from its end: complete, valid and ordered.
    pub is_ordered: bool,
    /// Whether it covers only some rows.
    pub is_partial: bool,
}

/// A column of the catalog, by indexes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ColumnAt {
    /// An index into [`Catalog::tables`].
    pub table: usize,
    /// An index into [`Table::columns`].
    pub column: usize,
}

/// A foreign key: pairs of columns, first the one that refers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForeignKey {
    /// Its name.
    pub name: String,
    /// The columns that refer, each with the one referred to.
    pub pairs: Vec<(ColumnAt, ColumnAt)>,
}

/// Something that was passed over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PassedOver {
    /// Its schema.
    pub schema: String,
    /// The table or the sequence.
    pub name: String,
    /// Why.
    pub why: Unread,
}

/// A number as a server writes it, whole: of `7.5` what lies before it on its way. `None` for what isn't a number.
#[must_use]
pub fn whole(text: &str, grows: Grows) -> Option<i128> {
    let (digits, rest) = text.split_once('.').unwrap_or((text, ""));
    let value: i128 = digits.parse().ok()?;
    if !rest.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let has_rest = rest.bytes().any(|byte| byte != b'0');
    Some(match (grows, digits.starts_with('-')) {
        (Grows::Up, true) if has_rest => value - 1,
        (Grows::Down, false) if has_rest => value + 1,
        _ => value,
    })
}

/// One of Mintage's own spaces.
#[derive(Clone, Debug, PartialEq)]
pub struct SpaceFacts {
    /// Its name.
    pub name: String,
    /// What it is, in a word or two.
    pub what: String,
    /// How far it has come, in values or ticks.
    pub current: i128,
    /// Where it ends.
    pub limit: i128,
}

/// A counter of a scope (the next number in a project) that is below a number in use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScopeCounter {
    /// The counter.
    pub counter: ColumnAt,
    /// The numbers that it hands out.
    pub numbers: ColumnAt,
    /// How many of the scopes looked at are behind.
    pub behind: u64,
    /// How many scopes were looked at.
    pub looked_at: u64,
}

impl Catalog {
    /// An empty one of this dialect.
    #[must_use]
    pub fn of(dialect: Dialect) -> Self {
        let server = Server {
            dialect,
            url: String::new(),
            version: String::new(),
            release: (0, 0),
            is_standby: false,
            is_text: false,
        };
        Self {
            server,
            tables: Vec::new(),
            sequences: Vec::new(),
            foreign_keys: Vec::new(),
            passed_over: Vec::new(),
            is_store: false,
            spaces: Vec::new(),
            scopes: Vec::new(),
        }
    }

    /// A column.
    #[must_use]
    pub fn column(&self, at: ColumnAt) -> &Column {
        &self.tables[at.table].columns[at.column]
    }

    /// A column to be filled in.
    pub fn column_mut(&mut self, at: ColumnAt) -> &mut Column {
        &mut self.tables[at.table].columns[at.column]
    }

    /// Every column with where it is.
    pub fn columns(&self) -> impl Iterator<Item = (ColumnAt, &Table, &Column)> {
        self.tables.iter().enumerate().flat_map(|(table_at, table)| {
            let columns = table.columns.iter().enumerate();
            columns.map(move |(column_at, column)| {
                (ColumnAt { table: table_at, column: column_at }, table, column)
            })
        })
    }

    /// `schema.table.column`, for people.
    #[must_use]
    pub fn path(&self, at: ColumnAt) -> String {
        let table = &self.tables[at.table];
        // Text may not say in which schema a table is.
        let parts = [&table.schema, &table.name, &table.columns[at.column].name];
        let parts = parts.into_iter().map(String::as_str).filter(|part| !part.is_empty());
        parts.collect::<Vec<_>>().join(".")
    }

    /// The columns that refer to others by a foreign key.
    #[must_use]
    pub fn referring(&self) -> HashSet<ColumnAt> {
        self.foreign_keys.iter().flat_map(|key| key.pairs.iter().map(|pair| pair.0)).collect()
    }

    /// Which columns refer to a column, by foreign keys.
    #[must_use]
    pub fn referrers(&self) -> HashMap<ColumnAt, Vec<ColumnAt>> {
        let mut referrers: HashMap<ColumnAt, Vec<ColumnAt>> = HashMap::new();
        for (from, to) in self.foreign_keys.iter().flat_map(|key| &key.pairs) {
            referrers.entry(*to).or_default().push(*from);
        }
        referrers
    }
}

impl Table {
    /// Whether an index over this column alone makes its values unique.
    #[must_use]
    pub fn is_unique(&self, column: &str) -> bool {
        self.indexes.iter().any(|index| index.is_unique && !index.is_partial && index.columns == [column])
    }

    /// Whether the column is the primary key, or a part of it.
    #[must_use]
    pub fn is_in_primary_key(&self, column: &str) -> bool {
        self.primary_key().is_some_and(|key| key.columns.iter().any(|name| name == column))
    }

    /// The primary key.
    #[must_use]
    pub fn primary_key(&self) -> Option<&Index> {
        self.indexes.iter().find(|index| index.is_primary)
    }

    /// Whether the furthest value of a column stands at the end of an index.
    #[must_use]
    pub fn is_led_by(&self, column: &str) -> bool {
        self.indexes
            .iter()
            .any(|index| index.is_ordered && index.columns.first().is_some_and(|c| c == column))
    }

    /// The column of this name.
    #[must_use]
    pub fn find(&self, column: &str) -> Option<usize> {
        self.columns.iter().position(|c| c.name == column)
    }
}

#[cfg(test)]
mod tests {
    use super::{Grows, whole};

    #[test]
    fn numbers_with_a_rest_count_as_the_whole_one_before_it() {
        for (text, up, down) in [
            ("7", Some(7), Some(7)),
            ("7.0", Some(7), Some(7)),
            ("7.5", Some(7), Some(8)),
            ("-7.5", Some(-8), Some(-7)),
            ("abc", None, None),
            ("1e+20", None, None),
            ("NaN", None, None),
            ("", None, None),
        ] {
            assert_eq!((whole(text, Grows::Up), whole(text, Grows::Down)), (up, down), "{text}");
        }
    }
}
