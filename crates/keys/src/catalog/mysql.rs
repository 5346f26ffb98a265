//! Reads a MariaDB or MySQL server: `information_schema`, then the ends of indexes, then sequences.
//!
//! Needed is SELECT on the tables: the server shows a role no table on which it may do nothing. Written for MySQL 8 too, and
//! tested on MariaDB only.
//!
//! `AUTO_INCREMENT` in `information_schema` is the next value. MySQL 8 keeps a day-old copy of it unless it is told not to.

use super::{
    Catalog, Column, ColumnAt, Dialect, Extreme, Feed, ForeignKey, Index, Kind, PassedOver, Reading,
    Sequence, Table, Unread, whole,
};
use crate::error::Error;
use crate::limits;
use crate::open::Options;
use crate::scopes;
use mintage_lease::store::redacted;
use mysql_async::prelude::Queryable;
use mysql_async::{Conn, Opts, OptsBuilder, Row, Value};
use std::collections::{HashMap, HashSet};
use std::str::FromStr;
use std::time::Duration;

/// Reads the database of a URL, or all of a server's when it names none.
///
/// # Errors
/// [`Error::Url`], [`Error::Lost`] when the connection can't be made or is lost, [`Error::Query`] when the catalog can't be read.
pub async fn read(url: &str, options: &Options) -> Result<Catalog, Error> {
    let (conn, database) = connected(url, options).await?;
    let shown = redacted(url);
    let link = Link { conn, url: shown.clone(), budget: options.budget };
    let mut catalog = Catalog::of(Dialect::MariaDb);
    catalog.server.url = shown;
    let mut reader = Reader { link, catalog, tables: HashMap::new(), database };
    reader.server().await?;
    let next_values = reader.tables().await?;
    reader.columns(&next_values).await?;
    reader.foreign_keys().await?;
    reader.extremes().await?;
    reader.sequences().await?;
    reader.scopes().await?;
    let Reader { link, catalog, .. } = reader;
    // Said good-bye to politely, but not waited for.
    let _ = tokio::time::timeout(Duration::from_secs(1), link.conn.disconnect()).await;
    Ok(catalog)
}

/// A connection, and the database that the URL names.
pub(crate) async fn connected(url: &str, options: &Options) -> Result<(Conn, Option<String>), Error> {
    let shown = redacted(url);
    let plain = url.split_once("://").map_or(url, |(_, rest)| rest);
    let opts = Opts::from_url(&format!("mysql://{plain}")).map_err(|_| Error::Url {
        url: shown.clone(),
        fault: "mysql://user:password@host:port/database expected".to_owned(),
    })?;
    let database = opts.db_name().map(str::to_owned);
    let connecting = tokio::time::timeout(options.patience, Conn::new(as_named(opts))).await;
    let lost = |cause: String| Error::Lost { url: shown.clone(), doing: "connecting", cause };
    let connected = connecting.map_err(|_| lost(format!("no answer within {:?}", options.patience)))?;
    Ok((connected.map_err(|error| lost(error.to_string()))?, database))
}

/// The way to the server that a URL names, and to no other: of a host that is this machine the driver would ask for a socket, and go on
/// by that. At the other end of a tunnel the same path leads to another server.
fn as_named(opts: Opts) -> OptsBuilder {
    // Known without asking: no answer here is longer, and connections are never kept that long.
    let (packet, wait) =
        (opts.max_allowed_packet().unwrap_or(16 << 20), opts.wait_timeout().unwrap_or(28_800));
    OptsBuilder::from_opts(opts)
        .prefer_socket(Some(false))
        .max_allowed_packet(Some(packet))
        .wait_timeout(Some(wait))
}

/// The answers of a query with two columns, bytes and a text, in a transaction that only reads.
pub(crate) async fn pairs(
    url: &str,
    options: &Options,
    doing: &'static str,
    sql: &str,
) -> Result<Vec<(Vec<u8>, String)>, Error> {
    let (conn, database) = connected(url, options).await?;
    let link = Link { conn, url: redacted(url), budget: options.budget };
    let catalog = Catalog::of(Dialect::MariaDb);
    let mut reader = Reader { link, catalog, tables: HashMap::new(), database };
    reader.server().await?;
    let rows = reader.link.ask(doing, sql).await?;
    let pair = |row: &Answer| Some((row.bytes(0)?, row.text(1)?));
    let pairs = rows.iter().filter_map(pair).collect();
    let _ = tokio::time::timeout(Duration::from_secs(1), reader.link.conn.disconnect()).await;
    Ok(pairs)
}

/// A table by schema and name.
type Name = (String, String);

struct Reader {
    link: Link,
    catalog: Catalog,
    tables: HashMap<Name, usize>,
    database: Option<String>,
}

impl Reader {
    async fn server(&mut self) -> Result<(), Error> {
        let rows = self.link.ask("the server's version", "SELECT VERSION(), @@version_comment").await?;
        let version = rows.first().and_then(|row| row.text(0)).unwrap_or_default();
        let comment = rows.first().and_then(|row| row.text(1)).unwrap_or_default();
        let server = &mut self.catalog.server;
        server.dialect = if version.contains("TiDB") {
            Dialect::TiDb
        } else if version.contains("MariaDB") || comment.contains("MariaDB") {
            Dialect::MariaDb
        } else {
            Dialect::MySql
        };
        let mut numbers = version.split(['.', '-']).map(|part| part.parse().unwrap_or(0));
        server.release = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
        server.version = version;
        let seconds = self.link.budget.as_secs().max(1);
        let budget = match self.catalog.server.dialect {
            Dialect::MariaDb => format!("SET SESSION max_statement_time={seconds}"),
            _ => format!("SET SESSION max_execution_time={}", seconds * 1_000),
        };
        for sql in [
            "SET SESSION TRANSACTION READ ONLY",
            "SET SESSION lock_wait_timeout=1",
            &budget,
            "SET NAMES utf8mb4",
        ] {
            self.link.ask("settings of the session", sql).await?;
        }
        if self.catalog.server.dialect == Dialect::MySql && self.catalog.server.release >= (8, 0) {
            self.link.ask("settings of the session", "SET SESSION information_schema_stats_expiry=0").await?;
        }
        Ok(())
    }

    /// What follows WHERE to leave out what isn't the users'.
    fn within(&self, column: &str) -> String {
        match &self.database {
            Some(database) => format!("{column} = {}", literal(database)),
            None => format!("{column} NOT IN ('mysql', 'information_schema', 'performance_schema', 'sys')"),
        }
    }

    /// Tables, and sequences by name; the next values of AUTO_INCREMENT.
    async fn tables(&mut self) -> Result<HashMap<usize, Option<i128>>, Error> {
        let sql = format!(
            "SELECT TABLE_SCHEMA, TABLE_NAME, TABLE_TYPE, ENGINE, TABLE_ROWS, AUTO_INCREMENT, TABLE_COMMENT FROM information_schema.TABLES \
             WHERE {} AND TABLE_TYPE IN ('BASE TABLE', 'SYSTEM VERSIONED', 'SEQUENCE') ORDER BY 1, 2",
            self.within("TABLE_SCHEMA")
        );
        let mut next_values = HashMap::new();
        for row in self.link.ask("tables", &sql).await? {
            let (schema, name) = (row.text(0).unwrap_or_default(), row.text(1).unwrap_or_default());
            if row.text(2).as_deref() == Some("SEQUENCE") {
                let mut sequence = Sequence::of(&name, 64, Reading::Unknown);
                sequence.schema = schema;
                self.catalog.sequences.push(sequence);
                continue;
            }
            let engine = row.text(3);
            // A table that can't be opened has no engine; the reason stands where the comment would.
            if engine.is_none() {
                let comment = row.text(6).unwrap_or_default();
                let why = if comment.is_empty() || comment.to_ascii_lowercase().contains("lock wait") {
                    Unread::Locked
                } else {
                    Unread::Denied(comment)
                };
                self.catalog.passed_over.push(PassedOver { schema: schema.clone(), name: name.clone(), why });
            }
            let index = self.catalog.tables.len();
            // What stands there for a table that couldn't be opened is no value.
            next_values.insert(index, engine.as_ref().and_then(|_| row.number(5)));
            self.tables.insert((schema.clone(), name.clone()), index);
            self.catalog.tables.push(Table {
                schema,
                name,
                rows: row.number(4),
                is_clustered: engine.as_deref().is_some_and(|engine| engine.eq_ignore_ascii_case("innodb")),
                engine,
                ..Table::default()
            });
        }
        Ok(next_values)
    }

    async fn columns(&mut self, next_values: &HashMap<usize, Option<i128>>) -> Result<(), Error> {
        let sql = format!(
            "SELECT TABLE_SCHEMA, TABLE_NAME, INDEX_NAME, NON_UNIQUE, COLUMN_NAME, INDEX_TYPE, SUB_PART FROM information_schema.STATISTICS \
             WHERE {} ORDER BY TABLE_SCHEMA, TABLE_NAME, INDEX_NAME, SEQ_IN_INDEX",
            self.within("TABLE_SCHEMA")
        );
        let mut last = String::new();
        let mut keyed: HashSet<(usize, String)> = HashSet::new();
        let mut last_table = None;
        for row in self.link.ask("indexes", &sql).await? {
            let Some(&table) = self.tables.get(&row.name()) else { continue };
            let (index, column) = (row.text(2).unwrap_or_default(), row.text(4).unwrap_or_default());
            keyed.insert((table, column.clone()));
            let indexes = &mut self.catalog.tables[table].indexes;
            if last_table == Some(table) && last == index {
                if let Some(index) = indexes.last_mut() {
                    index.columns.push(column);
                }
                continue;
            }
            (last_table, last) = (Some(table), index.clone());
            indexes.push(Index {
                columns: vec![column],
                is_unique: row.number::<u8>(3) == Some(0),
                is_primary: index == "PRIMARY",
                is_ordered: row.text(5).as_deref() == Some("BTREE") && row.text(6).is_none(),
                is_partial: false,
            });
        }
        let sql = format!(
            "SELECT TABLE_SCHEMA, TABLE_NAME, COLUMN_NAME, DATA_TYPE, COLUMN_TYPE, COLUMN_DEFAULT, EXTRA, COLLATION_NAME, \
             CHARACTER_MAXIMUM_LENGTH, NUMERIC_PRECISION, NUMERIC_SCALE FROM information_schema.COLUMNS WHERE {} \
             ORDER BY TABLE_SCHEMA, TABLE_NAME, ORDINAL_POSITION",
            self.within("TABLE_SCHEMA")
        );
        for row in self.link.ask("columns", &sql).await? {
            let Some(&table) = self.tables.get(&row.name()) else { continue };
            let name = row.text(2).unwrap_or_default();
            let kind = kind(&row);
            let is_wanted = matches!(kind, Kind::Int { .. } | Kind::Uuid)
                || keyed.contains(&(table, name.clone()))
                || crate::names::is_id(&name);
            if !is_wanted {
                continue;
            }
            let mut column = Column::of(&name, &row.text(4).unwrap_or_default(), kind);
            let extra = row.text(6).unwrap_or_default().to_ascii_lowercase();
            column.is_generated = extra.contains("virtual generated")
                || extra.contains("stored generated")
                || extra.contains("persistent");
            column.default = row.text(5).filter(|default| default != "NULL");
            column.ignores_case = row.text(7).is_some_and(|collation| collation.contains("_ci"));
            if extra.contains("auto_increment") {
                let bound = kind.bound(super::Grows::Up).unwrap_or(i128::MAX);
                let last = match next_values.get(&table).copied().flatten() {
                    // A full tinyint shows 256.
                    Some(next) => Reading::Value((next - 1).min(bound)),
                    None => Reading::Unreadable {
                        needs: "its counter isn't shown: the table is locked, or was made and never opened"
                            .to_owned(),
                    },
                };
                column.feed = Feed::AutoIncrement { last };
            } else if let Some(default) = column.default.as_deref() {
                column.feed = self.feed(default, kind);
            }
            self.catalog.tables[table].columns.push(column);
        }
        let owned: Vec<(usize, ColumnAt)> = self
            .catalog
            .columns()
            .filter_map(|(at, _, column)| match column.feed {
                Feed::Sequence { sequence, .. } => Some((sequence, at)),
                _ => None,
            })
            .collect();
        for (sequence, at) in owned {
            self.catalog.sequences[sequence].owner.get_or_insert(at);
        }
        Ok(())
    }

    /// Where a default that isn't AUTO_INCREMENT takes values from.
    fn feed(&self, default: &str, kind: Kind) -> Feed {
        let find = |schema: &str, name: &str| {
            let sequences = &self.catalog.sequences;
            sequences.iter().position(|sequence| sequence.schema == schema && sequence.name == name)
        };
        let lower = default.to_ascii_lowercase();
        let Some(start) = lower.find("nextval(") else {
            // Text may be computed as it likes; a number that a function makes comes from somewhere.
            return if kind.is_int() && default.contains('(') { Feed::Function } else { Feed::None };
        };
        let parts = backticked(&default[start..]);
        let found = match &parts[..] {
            [schema, name] => find(schema, name),
            _ => None,
        };
        let is_plain = start == 0 && lower.ends_with(')') && lower.matches('(').count() == 1;
        match found {
            Some(sequence) if is_plain => Feed::Sequence { sequence, is_identity: false, is_default: true },
            Some(sequence) => Feed::Derived { sequence },
            None => Feed::Function,
        }
    }

    async fn foreign_keys(&mut self) -> Result<(), Error> {
        let sql = format!(
            "SELECT TABLE_SCHEMA, TABLE_NAME, CONSTRAINT_NAME, COLUMN_NAME, REFERENCED_TABLE_SCHEMA, REFERENCED_TABLE_NAME, \
             REFERENCED_COLUMN_NAME FROM information_schema.KEY_COLUMN_USAGE \
             WHERE REFERENCED_TABLE_NAME IS NOT NULL AND {} ORDER BY 1, 2, 3, ORDINAL_POSITION",
            self.within("TABLE_SCHEMA")
        );
        let mut found: Vec<(Name, ForeignKey)> = Vec::new();
        for row in self.link.ask("foreign keys", &sql).await? {
            let text = |column| row.text(column).unwrap_or_default();
            let at = |name: &Name, column: &str| {
                let table = *self.tables.get(name)?;
                Some(ColumnAt { table, column: self.catalog.tables[table].find(column)? })
            };
            let Some(from) = at(&row.name(), &text(3)) else { continue };
            let Some(to) = at(&(text(4), text(5)), &text(6)) else { continue };
            match found.last_mut() {
                Some((name, key)) if *name == row.name() && key.name == text(2) => key.pairs.push((from, to)),
                _ => found.push((row.name(), ForeignKey { name: text(2), pairs: vec![(from, to)] })),
            }
        }
        self.catalog.foreign_keys = found.into_iter().map(|(_, key)| key).collect();
        Ok(())
    }

    async fn extremes(&mut self) -> Result<(), Error> {
        let locked: HashSet<Name> = self
            .catalog
            .passed_over
            .iter()
            .map(|passed| (passed.schema.clone(), passed.name.clone()))
            .collect();
        let mut wanted = limits::wanted(&self.catalog);
        wanted.extend(crate::sequences::fed::wanted(&self.catalog));
        for at in wanted {
            let (table, column) = (&self.catalog.tables[at.table], self.catalog.column(at));
            if locked.contains(&(table.schema.clone(), table.name.clone())) {
                self.catalog.column_mut(at).extreme = Extreme::Unread(Unread::Locked);
                continue;
            }
            if !column.kind.is_number() {
                self.catalog.column_mut(at).extreme = Extreme::Unread(Unread::NoNumbers);
                continue;
            }
            if !table.is_led_by(&column.name) {
                self.catalog.column_mut(at).extreme = Extreme::Unread(Unread::NoIndex);
                continue;
            }
            let quoted = |name| self.catalog.server.dialect.quoted(name);
            let end = match limits::grows(&self.catalog, column) {
                super::Grows::Up => "MAX",
                super::Grows::Down => "MIN",
            };
            let sql = format!(
                "SELECT {end}({}) FROM {}.{}",
                quoted(&column.name),
                quoted(&table.schema),
                quoted(&table.name)
            );
            let extreme = match self.link.try_ask("the ends of indexes", &sql).await? {
                Ok(rows) => match rows.first().and_then(|row| row.text(0)) {
                    Some(value) => whole(&value, limits::grows(&self.catalog, column))
                        .map_or(Extreme::Unread(Unread::NoNumbers), Extreme::Exact),
                    None => Extreme::Empty,
                },
                Err(why) => {
                    let (schema, name) = (table.schema.clone(), table.name.clone());
                    self.catalog.passed_over.push(PassedOver { schema, name, why: why.clone() });
                    Extreme::Unread(why)
                }
            };
            self.catalog.column_mut(at).extreme = extreme;
        }
        Ok(())
    }

    /// Counters in parents' rows, beside the numbers of their children.
    async fn scopes(&mut self) -> Result<(), Error> {
        for scope in scopes::scopes(&self.catalog) {
            let sql = scopes::sql(&self.catalog, &scope);
            if let Ok(rows) = self.link.try_ask("counters of scopes", &sql).await? {
                let numbers = rows.first().and_then(|row| Some((row.number(0)?, row.number(1)?)));
                self.catalog.scopes.extend(numbers.map(|(all, behind)| scopes::found(&scope, all, behind)));
            }
        }
        Ok(())
    }

    /// Selecting from a sequence takes no number. What it shows is where the next run of cached values begins.
    async fn sequences(&mut self) -> Result<(), Error> {
        for index in 0..self.catalog.sequences.len() {
            let sequence = &self.catalog.sequences[index];
            let quoted = |name| self.catalog.server.dialect.quoted(name);
            let sql = format!(
                "SELECT next_not_cached_value, minimum_value, maximum_value, start_value, increment, cache_size, cycle_option FROM {}.{}",
                quoted(&sequence.schema),
                quoted(&sequence.name)
            );
            let answer = self.link.try_ask("sequences", &sql).await?;
            let sequence = &mut self.catalog.sequences[index];
            let rows = match answer {
                Ok(rows) => rows,
                Err(why) => {
                    sequence.reading = Reading::Unreadable { needs: limits::unread(&why) };
                    continue;
                }
            };
            let Some(row) = rows.first() else { continue };
            let number = |column| row.number::<i128>(column).unwrap_or(0);
            (sequence.min, sequence.max, sequence.start) = (number(1), number(2), number(3));
            // 0 means the server's auto_increment_increment.
            sequence.increment = if number(4) == 0 { 1 } else { number(4) };
            sequence.cache = row.number(5).unwrap_or(0);
            sequence.cycles = number(6) != 0;
            let next = number(0);
            sequence.is_ahead = sequence.cache > 1 && next != sequence.start;
            sequence.reading = if next == sequence.start {
                Reading::NeverUsed { next: Some(next) }
            } else {
                Reading::Value(next - sequence.increment)
            };
        }
        Ok(())
    }
}

/// What can be stored in a column.
fn kind(row: &Answer) -> Kind {
    let declared = row.text(4).unwrap_or_default().to_ascii_lowercase();
    let int = |bits| Kind::Int { bits, is_unsigned: declared.contains("unsigned") };
    let longest = || row.number(8);
    match row.text(3).unwrap_or_default().to_ascii_lowercase().as_str() {
        "tinyint" => int(8),
        "smallint" => int(16),
        "mediumint" => int(24),
        "int" => int(32),
        "bigint" => int(64),
        "decimal" => {
            let digits: u32 = row.number(9).unwrap_or(10);
            Kind::Decimal { digits: digits.saturating_sub(row.number(10).unwrap_or(0)).min(38) }
        }
        // A counter may be of these types too, and stands still from the first whole number on that it doesn't hold: 2^24, 2^53.
        "float" if is_auto(row) => Kind::int(25),
        "double" if is_auto(row) => Kind::int(54),
        "uuid" => Kind::Uuid,
        "char" | "varchar" | "text" | "tinytext" | "mediumtext" | "longtext" => {
            Kind::Text { longest: longest() }
        }
        "binary" | "varbinary" | "blob" | "tinyblob" | "mediumblob" | "longblob" => {
            Kind::Bytes { longest: longest() }
        }
        _ => Kind::Other,
    }
}

/// Whether a column's values are counted up by the server.
fn is_auto(row: &Answer) -> bool {
    row.text(6).is_some_and(|extra| extra.to_ascii_lowercase().contains("auto_increment"))
}

/// The names in backticks within the first parentheses.
fn backticked(text: &str) -> Vec<String> {
    let (mut names, mut name, mut inside) = (Vec::new(), String::new(), false);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '`' if inside && chars.peek() == Some(&'`') => {
                name.push('`');
                chars.next();
            }
            '`' if inside => {
                names.push(std::mem::take(&mut name));
                inside = false;
            }
            '`' => inside = true,
            ')' if !inside => break,
            c if inside => name.push(c),
            _ => {}
        }
    }
    names
}

/// Text as it stands in SQL.
fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "''"))
}

struct Link {
    conn: Conn,
    url: String,
    budget: Duration,
}

/// A row, as text.
struct Answer(Row);

impl Answer {
    fn text(&self, column: usize) -> Option<String> {
        match self.0.as_ref(column)? {
            Value::NULL => None,
            Value::Bytes(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
            Value::Int(value) => Some(value.to_string()),
            Value::UInt(value) => Some(value.to_string()),
            other => Some(other.as_sql(true)),
        }
    }

    fn bytes(&self, column: usize) -> Option<Vec<u8>> {
        match self.0.as_ref(column)? {
            Value::Bytes(bytes) => Some(bytes.clone()),
            _ => self.text(column).map(String::into_bytes),
        }
    }

    fn number<T: FromStr>(&self, column: usize) -> Option<T> {
        self.text(column)?.parse().ok()
    }

    /// Schema and table, which stand first.
    fn name(&self) -> Name {
        (self.text(0).unwrap_or_default(), self.text(1).unwrap_or_default())
    }
}

impl Link {
    async fn ask(&mut self, doing: &'static str, sql: &str) -> Result<Vec<Answer>, Error> {
        let answered = self.answered(doing, sql).await?;
        answered.map_err(|error| Error::Query { url: self.url.clone(), doing, cause: error.message })
    }

    /// What the server refuses for what it is about is the inner error.
    async fn try_ask(
        &mut self,
        doing: &'static str,
        sql: &str,
    ) -> Result<Result<Vec<Answer>, Unread>, Error> {
        Ok(self.answered(doing, sql).await?.map_err(|error| match error.code {
            // Lock wait timeout, of rows and of tables.
            1205 | 3572 => Unread::Locked,
            // max_statement_time of MariaDB, max_execution_time of MySQL, a killed query.
            1969 | 3024 | 1317 => Unread::TookTooLong,
            _ => Unread::Denied(error.message),
        }))
    }

    async fn answered(
        &mut self,
        doing: &'static str,
        sql: &str,
    ) -> Result<Result<Vec<Answer>, mysql_async::ServerError>, Error> {
        let lost = |cause: String| Error::Lost { url: self.url.clone(), doing, cause };
        let longest = self.budget + Duration::from_secs(10);
        let answered = tokio::time::timeout(longest, self.conn.query::<Row, _>(sql)).await;
        match answered.map_err(|_| lost("no answer".to_owned()))? {
            Ok(rows) => Ok(Ok(rows.into_iter().map(Answer).collect())),
            // 1053: shutdown; 1927: the connection was killed.
            Err(mysql_async::Error::Server(error)) if ![1053, 1927].contains(&error.code) => Ok(Err(error)),
            Err(error) => Err(lost(error.to_string())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_backticks_may_hold_backticks() {
        assert_eq!(backticked("nextval(`a`.`b``c`)"), ["a", "b`c"]);
        assert_eq!(backticked("nextval(`a`.`b`) + f(`c`)"), ["a", "b"]);
        assert_eq!(literal("a'\\b"), "'a''\\\\b'");
    }
}
