//! Reads a SQLite file, opened for reading only.
//!
//! Every integer has 64 bits, whatever its type is called. `INTEGER PRIMARY KEY` is the row's own number: without AUTOINCREMENT the
//! next is the largest plus one, with it the largest ever, which the table `sqlite_sequence` keeps.

use super::{
    Catalog, Column, ColumnAt, Dialect, Extreme, Feed, ForeignKey, Index, Kind, PassedOver, Reading, Table,
    Unread,
};
use crate::error::Error;
use crate::limits;
use crate::open::Options;
use crate::scopes;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, ErrorCode, OpenFlags, Row};
use std::collections::HashMap;
use std::path::Path;
use std::sync::mpsc::RecvTimeoutError;

/// Reads the file of a URL: `sqlite:PATH`.
///
/// # Errors
/// [`Error::Url`], [`Error::Lost`] when it can't be opened, [`Error::Query`] when it can't be read.
pub fn read(url: &str, options: &Options) -> Result<Catalog, Error> {
    let mut reader = opened(url, options)?;
    // One view of the file from here on.
    reader.run("opening", "BEGIN")?;
    reader.tables()?;
    reader.foreign_keys()?;
    reader.extremes()?;
    reader.scopes()?;
    Ok(reader.catalog)
}

/// The file of a URL, for reading only.
fn opened(url: &str, options: &Options) -> Result<Reader, Error> {
    let path = url.strip_prefix("sqlite:").unwrap_or(url);
    let path = path.strip_prefix("//").unwrap_or(path);
    let path = path.split('?').next().unwrap_or(path);
    let fault = |fault: &str| Error::Url { url: url.to_owned(), fault: fault.to_owned() };
    if path.is_empty() {
        return Err(fault("sqlite:PATH expected"));
    }
    if !Path::new(path).exists() {
        return Err(fault("no such file"));
    }
    let lost = |cause: rusqlite::Error| Error::Lost {
        url: url.to_owned(),
        doing: "opening",
        cause: cause.to_string(),
    };
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).map_err(lost)?;
    connection.busy_timeout(options.budget.min(std::time::Duration::from_secs(2))).map_err(lost)?;
    let mut catalog = Catalog::of(Dialect::Sqlite);
    catalog.server.url = url.to_owned();
    Ok(Reader { url: url.to_owned(), connection, catalog })
}

/// The answers of a query with two columns, bytes and a text, which ends with its budget.
pub(crate) fn pairs(
    url: &str,
    options: &Options,
    doing: &'static str,
    sql: &str,
) -> Result<Vec<(Vec<u8>, String)>, Error> {
    let reader = opened(url, options)?;
    let (interrupt, budget) = (reader.connection.get_interrupt_handle(), options.budget);
    // Ends with the sender, when the rows are there.
    let (done, is_done) = std::sync::mpsc::channel::<()>();
    let watch = std::thread::spawn(move || {
        if is_done.recv_timeout(budget) == Err(RecvTimeoutError::Timeout) {
            interrupt.interrupt();
        }
    });
    let rows = reader.rows(doing, sql, |row| Ok((bytes(row, 0)?, text(row, 1)?)));
    drop(done);
    let _ = watch.join();
    rows
}

struct Reader {
    url: String,
    connection: Connection,
    catalog: Catalog,
}

impl Reader {
    fn tables(&mut self) -> Result<(), Error> {
        let version = self.rows("the version", "SELECT sqlite_version()", |row| text(row, 0))?;
        let version = version.into_iter().next().unwrap_or_default();
        let mut numbers = version.split('.').map(|part| part.parse().unwrap_or(0));
        self.catalog.server.release = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
        self.catalog.server.version = version;
        let sql = "SELECT l.name, l.wr, coalesce(s.sql, '') FROM pragma_table_list l JOIN sqlite_schema s \
                   ON s.name = l.name AND s.type = 'table' \
                   WHERE l.schema = 'main' AND l.type = 'table' AND l.name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY l.name";
        let tables =
            self.rows("tables", sql, |row| Ok((text(row, 0)?, row.get::<_, bool>(1)?, text(row, 2)?)))?;
        let counters = self.counters()?;
        let stores = ["mintage_meta", "mintage_space", "mintage_worker"];
        self.catalog.is_store = stores.iter().all(|store| tables.iter().any(|(name, ..)| name == store));
        for (name, without_rowid, sql) in tables {
            let is_own = stores.contains(&name.as_str()) || name == "mintage_scope";
            if self.catalog.is_store && is_own {
                continue;
            }
            let mut table = Table { schema: "main".to_owned(), name: name.clone(), ..Table::default() };
            table.is_clustered = without_rowid;
            let pragma = format!(
                "SELECT name, type, pk, dflt_value, hidden FROM pragma_table_xinfo({})",
                literal(&name)
            );
            let columns = self.rows("columns", &pragma, |row| {
                Ok((
                    text(row, 0)?,
                    text(row, 1)?,
                    row.get::<_, i64>(2)?,
                    optional(row, 3)?,
                    row.get::<_, i64>(4)?,
                ))
            })?;
            let keys = columns.iter().filter(|column| column.2 > 0).count();
            let mut primary: Vec<(i64, String)> = Vec::new();
            for (column_name, declared, key, default, hidden) in columns {
                let mut column = Column::of(&column_name, &declared, kind(&declared));
                column.default = default;
                column.is_generated = hidden == 2 || hidden == 3;
                if key > 0 {
                    primary.push((key, column_name.clone()));
                }
                // Only this spelling, by itself, stands for the row's number.
                if key == 1 && keys == 1 && !without_rowid && declared.eq_ignore_ascii_case("integer") {
                    column.feed = match counters.get(&name) {
                        Some(&last) => Feed::AutoIncrement { last: Reading::Value(last) },
                        None if is_autoincrement(&sql) => {
                            Feed::AutoIncrement { last: Reading::NeverUsed { next: Some(1) } }
                        }
                        None => Feed::RowId,
                    };
                }
                table.columns.push(column);
            }
            primary.sort();
            if !primary.is_empty() {
                table.indexes.push(Index {
                    columns: primary.into_iter().map(|(_, name)| name).collect(),
                    is_unique: true,
                    is_primary: true,
                    is_ordered: true,
                    is_partial: false,
                });
            }
            self.indexes(&name, &mut table)?;
            self.catalog.tables.push(table);
        }
        Ok(())
    }

    fn indexes(&self, name: &str, table: &mut Table) -> Result<(), Error> {
        let sql =
            format!("SELECT name, \"unique\", origin, partial FROM pragma_index_list({})", literal(name));
        let indexes = self.rows("indexes", &sql, |row| {
            Ok((text(row, 0)?, row.get::<_, bool>(1)?, text(row, 2)?, row.get::<_, bool>(3)?))
        })?;
        for (index, is_unique, origin, is_partial) in indexes {
            let sql = format!(
                "SELECT coalesce(name, ''), coll FROM pragma_index_xinfo({}) WHERE key = 1",
                literal(&index)
            );
            let columns = self.rows("indexes", &sql, |row| Ok((text(row, 0)?, text(row, 1)?)))?;
            for (name, collation) in &columns {
                if let Some(at) = table.find(name).filter(|_| collation.eq_ignore_ascii_case("nocase")) {
                    table.columns[at].ignores_case = true;
                }
            }
            // The primary key stands there already.
            if origin != "pk" {
                let columns = columns.into_iter().map(|(name, _)| name).collect();
                table.indexes.push(Index {
                    columns,
                    is_unique,
                    is_primary: false,
                    is_ordered: !is_partial,
                    is_partial,
                });
            }
        }
        Ok(())
    }

    /// The largest numbers ever, of tables with AUTOINCREMENT.
    fn counters(&self) -> Result<HashMap<String, i128>, Error> {
        let sql = "SELECT 1 FROM sqlite_schema WHERE name = 'sqlite_sequence'";
        if self.rows("counters", sql, |_| Ok(()))?.is_empty() {
            return Ok(HashMap::new());
        }
        let sql = "SELECT name, max(CAST(seq AS INTEGER)) FROM sqlite_sequence WHERE name IS NOT NULL GROUP BY name";
        let rows = self.rows("counters", sql, |row| Ok((text(row, 0)?, row.get::<_, Option<i64>>(1)?)))?;
        Ok(rows.into_iter().filter_map(|(name, seq)| Some((name, i128::from(seq?)))).collect())
    }

    fn foreign_keys(&mut self) -> Result<(), Error> {
        // SQLite compares names without case.
        let tables: HashMap<String, usize> = self
            .catalog
            .tables
            .iter()
            .enumerate()
            .map(|(index, table)| (table.name.to_ascii_lowercase(), index))
            .collect();
        let mut keys = Vec::new();
        for (from, table) in self.catalog.tables.iter().enumerate() {
            let sql = format!(
                "SELECT id, \"table\", \"from\", \"to\" FROM pragma_foreign_key_list({}) ORDER BY id, seq",
                literal(&table.name)
            );
            let rows = self.rows("foreign keys", &sql, |row| {
                Ok((row.get::<_, i64>(0)?, text(row, 1)?, text(row, 2)?, optional(row, 3)?))
            })?;
            let mut last = None;
            for (id, parent, column, referred) in rows {
                let Some(&to) = tables.get(&parent.to_ascii_lowercase()) else { continue };
                let find = |table: usize, name: &str| {
                    let columns = &self.catalog.tables[table].columns;
                    columns.iter().position(|column| column.name.eq_ignore_ascii_case(name))
                };
                let primary =
                    || self.catalog.tables[to].primary_key().and_then(|key| key.columns.first().cloned());
                let Some(referred) = referred.or_else(primary) else { continue };
                let (Some(a), Some(b)) = (find(from, &column), find(to, &referred)) else { continue };
                let pair = (ColumnAt { table: from, column: a }, ColumnAt { table: to, column: b });
                if last == Some(id) {
                    let key: &mut ForeignKey = keys.last_mut().expect("there is one with this id");
                    key.pairs.push(pair);
                } else {
                    last = Some(id);
                    keys.push(ForeignKey { name: format!("{}_{id}", table.name), pairs: vec![pair] });
                }
            }
        }
        self.catalog.foreign_keys = keys;
        Ok(())
    }

    fn extremes(&mut self) -> Result<(), Error> {
        for at in limits::wanted(&self.catalog) {
            let (table, column) = (&self.catalog.tables[at.table], self.catalog.column(at));
            if !table.is_led_by(&column.name) {
                self.catalog.column_mut(at).extreme = Extreme::Unread(Unread::NoIndex);
                continue;
            }
            let quoted = |name| self.catalog.server.dialect.quoted(name);
            // Text may stand in an integer column, and is larger than every number: the end of the numbers is looked for.
            let sql =
                format!("SELECT max({0}) FROM {1} WHERE {0} < ''", quoted(&column.name), quoted(&table.name));
            let found = self.rows("the ends of indexes", &sql, |row| {
                Ok(match row.get_ref(0)? {
                    ValueRef::Integer(value) => Extreme::Exact(i128::from(value)),
                    ValueRef::Null => Extreme::Empty,
                    _ => Extreme::Unread(Unread::NoIndex),
                })
            });
            let extreme = match found {
                Ok(found) => found.into_iter().next().unwrap_or(Extreme::Empty),
                Err(Error::Query { cause, .. }) => {
                    let (schema, name) = (table.schema.clone(), table.name.clone());
                    let why = Unread::Denied(cause);
                    self.catalog.passed_over.push(PassedOver { schema, name, why: why.clone() });
                    Extreme::Unread(why)
                }
                Err(error) => return Err(error),
            };
            self.catalog.column_mut(at).extreme = extreme;
        }
        Ok(())
    }

    /// Counters in parents' rows, beside the numbers of their children.
    fn scopes(&mut self) -> Result<(), Error> {
        for scope in scopes::scopes(&self.catalog) {
            let sql = scopes::sql(&self.catalog, &scope);
            let rows = self
                .rows("counters of scopes", &sql, |row| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?)))?;
            for (all, behind) in rows {
                let found = scopes::found(&scope, all.unsigned_abs(), behind.unsigned_abs());
                self.catalog.scopes.push(found);
            }
        }
        Ok(())
    }

    fn run(&self, doing: &'static str, sql: &str) -> Result<(), Error> {
        self.connection.execute_batch(sql).map_err(|error| self.failed(doing, &error))
    }

    fn rows<T>(
        &self,
        doing: &'static str,
        sql: &str,
        read: impl Fn(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, Error> {
        let failed = |error: rusqlite::Error| self.failed(doing, &error);
        let mut statement = self.connection.prepare(sql).map_err(failed)?;
        let rows = statement.query_map([], |row| read(row)).map_err(failed)?;
        rows.collect::<rusqlite::Result<_>>().map_err(failed)
    }

    fn failed(&self, doing: &'static str, error: &rusqlite::Error) -> Error {
        let (url, cause) = (self.url.clone(), error.to_string());
        match error.sqlite_error_code() {
            Some(
                ErrorCode::NotADatabase
                | ErrorCode::DatabaseCorrupt
                | ErrorCode::CannotOpen
                | ErrorCode::DatabaseBusy,
            ) => Error::Lost { url, doing, cause },
            _ => Error::Query { url, doing, cause },
        }
    }
}

/// What can be stored: SQLite's rules of affinity, of which only integers matter, and their width doesn't.
fn kind(declared: &str) -> Kind {
    let lower = declared.to_ascii_lowercase();
    let longest = || {
        let digits: String =
            lower.chars().skip_while(|c| *c != '(').skip(1).take_while(char::is_ascii_digit).collect();
        digits.parse().ok()
    };
    if lower.contains("int") {
        Kind::int(64)
    } else if lower == "uuid" {
        Kind::Uuid
    } else if lower.contains("char") || lower.contains("clob") || lower.contains("text") {
        Kind::Text { longest: longest() }
    } else if lower.contains("blob") || lower.contains("binary") {
        Kind::Bytes { longest: longest() }
    } else {
        Kind::Other
    }
}

/// Whether a table's text asks for AUTOINCREMENT, outside names and texts.
fn is_autoincrement(sql: &str) -> bool {
    let (mut bare, mut until) = (String::new(), None);
    for c in sql.chars() {
        match (until, c) {
            (Some(end), c) if c == end => until = None,
            (Some(_), _) => {}
            (None, '\'' | '"' | '`') => until = Some(c),
            (None, '[') => until = Some(']'),
            (None, c) => bare.push(c.to_ascii_lowercase()),
        }
    }
    bare.contains("autoincrement")
}

fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// Text, whatever the bytes are.
fn text(row: &Row<'_>, column: usize) -> rusqlite::Result<String> {
    Ok(optional(row, column)?.unwrap_or_default())
}

fn bytes(row: &Row<'_>, column: usize) -> rusqlite::Result<Vec<u8>> {
    match row.get_ref(column)? {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Ok(bytes.to_vec()),
        _ => text(row, column).map(String::into_bytes),
    }
}

fn optional(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<String>> {
    Ok(match row.get_ref(column)? {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
        ValueRef::Null => None,
        ValueRef::Integer(value) => Some(value.to_string()),
        ValueRef::Real(value) => Some(value.to_string()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn autoincrement_is_a_word_outside_names() {
        assert!(is_autoincrement("CREATE TABLE a(id INTEGER PRIMARY KEY AutoIncrement)"));
        assert!(!is_autoincrement(
            "CREATE TABLE \"autoincrement\"(id INTEGER PRIMARY KEY, [autoincrement] TEXT)"
        ));
    }
}
