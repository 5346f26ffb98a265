//! What a database says about its keys, as plain data.
//!
//! Checks see a [`Catalog`], never a connection. Readers fill it: [`postgres`], [`mysql`], [`sqlite`].
//! Whatever could not be read says so ([`Reading::Unreadable`], [`Unread`]); nothing that is unknown looks like zero.

#[cfg(feature = "mysql")]
pub mod mysql;
#[cfg(feature = "postgres")]
pub mod postgres;
pub mod sketch;
#[cfg(feature = "sqlite")]
pub mod sqlite;

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

/// A column that may hold ids.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// Its type as the server writes it; a domain by its name.
    pub declared: String,
    /// What can be stored in it, through domains; of an array, in its elements.
    pub kind: Kind,
    /// Whether it is an array of that.
    pub is_array: bool,
    /// The expression of its default.
    pub default: Option<String>,
    /// Where its values come from.
    pub feed: Feed,
    /// Whether it is computed from other columns.
    pub is_generated: bool,
    /// Whether upper and lower case are equal to it.
    pub ignores_case: bool,
    /// The furthest value in the direction in which it grows.
    pub extreme: Extreme,
    /// Where it is defined, for what comes from a file.
    pub place: Option<Place>,
}

/// What can be stored in a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An integer of this many bits.
    Int {
        /// 8, 16, 24, 32 or 64.
        bits: u32,
        /// Whether it has no negative values.
        is_unsigned: bool,
    },
    /// A decimal number with this many digits before the point.
    Decimal {
        /// 1 to 38; more are taken for 38.
        digits: u32,
    },
    /// A UUID.
    Uuid,
    /// Text of at most so many characters.
    Text {
        /// `None` where there is no limit.
        longest: Option<u32>,
    },
    /// Bytes, at most so many.
    Bytes {
        /// `None` where there is no limit.
        longest: Option<u32>,
    },
    /// Something else.
    Other,
}

impl Kind {
    /// A signed integer.
    #[must_use]
    pub const fn int(bits: u32) -> Self {
        Self::Int { bits, is_unsigned: false }
    }

    /// Whether it is an integer.
    #[must_use]
    pub const fn is_int(self) -> bool {
        matches!(self, Self::Int { .. })
    }

    /// The last value that it holds, upwards or downwards; `None` for what isn't a number.
    #[must_use]
    pub const fn bound(self, grows: Grows) -> Option<i128> {
        match (self, grows) {
            (Self::Int { bits, is_unsigned: true }, Grows::Up) => Some((1 << bits) - 1),
            (Self::Int { is_unsigned: true, .. }, Grows::Down) => Some(0),
            (Self::Int { bits, .. }, Grows::Up) => Some((1 << (bits - 1)) - 1),
            (Self::Int { bits, .. }, Grows::Down) => Some(-(1 << (bits - 1))),
            (Self::Decimal { digits }, _) => {
                let digits = if digits > 38 { 38 } else { digits };
                let most = 10_i128.pow(digits) - 1;
                Some(if matches!(grows, Grows::Up) { most } else { -most })
            }
            _ => None,
        }
    }
}

/// Which way values go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grows {
    /// Each larger than the one before.
    Up,
    /// Each smaller.
    Down,
}

/// Where the values of a column come from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Feed {
    /// Whoever inserts.
    #[default]
    None,
    /// A database sequence, whose values it takes as they are.
    Sequence {
        /// An index into [`Catalog::sequences`].
        sequence: usize,
        /// Whether the column is an identity column.
        is_identity: bool,
        /// Whether its default asks the sequence; else it only owns it.
        is_default: bool,
    },
    /// A database sequence within an expression that makes something else of its values.
    Derived {
        /// An index into [`Catalog::sequences`].
        sequence: usize,
    },
    /// AUTO_INCREMENT.
    AutoIncrement {
        /// The last value handed out.
        last: Reading,
    },
    /// SQLite's row id.
    RowId,
    /// A function whose work can't be seen.
    Function,
}

/// What a database sequence shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reading {
    /// The last value handed out.
    Value(i128),
    /// None was handed out since it was made or restarted; this comes first.
    NeverUsed {
        /// The first value to come, where it could be read.
        next: Option<i128>,
    },
    /// It may not be read, and this would be needed.
    Unreadable {
        /// The missing privilege, or what stands in the way.
        needs: String,
    },
    /// It wasn't read: there is no server.
    Unknown,
}

/// The furthest value of a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Extreme {
    /// It wasn't read.
    Unread(Unread),
    /// There are no values.
    Empty,
    /// This, as the end of an index says.
    Exact(i128),
    /// At least this, as statistics say.
    AtLeast(i128),
}

impl Extreme {
    /// The value, where there is one.
    #[must_use]
    pub const fn value(&self) -> Option<i128> {
        match self {
            Self::Exact(value) | Self::AtLeast(value) => Some(*value),
            Self::Unread(_) | Self::Empty => None,
        }
    }
}

/// Why a column's furthest value isn't known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unread {
    /// Nothing needed it.
    NotAsked,
    /// No index begins with the column, and there are no statistics.
    NoIndex,
    /// Another session holds a lock on the table.
    Locked,
    /// A privilege is missing.
    Denied(String),
    /// It took longer than its budget.
    TookTooLong,
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

/// A database sequence.
#[derive(Clone, Debug, PartialEq)]
pub struct Sequence {
    /// Its schema.
    pub schema: String,
    /// Its name.
    pub name: String,
    /// Its type as the server writes it.
    pub declared: String,
    /// The first value of a fresh one.
    pub start: i128,
    /// Its lowest value.
    pub min: i128,
    /// Its highest.
    pub max: i128,
    /// What is added; never 0.
    pub increment: i128,
    /// How many values a session takes at once.
    pub cache: u64,
    /// Whether it begins again at its end.
    pub cycles: bool,
    /// The column that it belongs to.
    pub owner: Option<ColumnAt>,
    /// What it shows.
    pub reading: Reading,
    /// Whether a crash resets it.
    pub is_unlogged: bool,
}

impl Sequence {
    /// Which way it goes.
    #[must_use]
    pub const fn grows(&self) -> Grows {
        if self.increment < 0 { Grows::Down } else { Grows::Up }
    }

    /// The last value that it can hand out.
    #[must_use]
    pub const fn bound(&self) -> i128 {
        if self.increment < 0 { self.min } else { self.max }
    }

    /// What it hands out next, where that can be told; not past its end.
    #[must_use]
    pub const fn next(&self) -> Option<i128> {
        match self.reading {
            Reading::Value(last) => Some(last + self.increment),
            Reading::NeverUsed { next } => next,
            Reading::Unreadable { .. } | Reading::Unknown => None,
        }
    }
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
        format!("{}.{}.{}", table.schema, table.name, table.columns[at.column].name)
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
