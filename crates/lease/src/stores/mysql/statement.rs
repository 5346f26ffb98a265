//! Values as SQL spells them, the check that a write hit what it was to hit, and messages of several statements.
//!
//! Everything goes as text: MariaDB and MySQL read a small statement in a few microseconds, a message of several needs one round
//! trip, and nothing has to be prepared on each connection, which a proxy between may not allow. No value can end its quotes, as none is
//! in quotes: numbers are digits, and bytes are in hex.

use crate::stores::columns::{Columns, Uuid, Wrong};
use mysql_async::prelude::Queryable;
use mysql_async::{Conn, DriverError, Error, Row, Value};
use std::fmt::{self, Write};

/// A value as SQL spells it.
#[derive(Clone, Debug)]
pub(super) struct Literal(String);

impl From<i64> for Literal {
    fn from(number: i64) -> Self {
        Self(number.to_string())
    }
}

impl From<bool> for Literal {
    fn from(truth: bool) -> Self {
        Self(if truth { "TRUE" } else { "FALSE" }.to_owned())
    }
}

impl From<Uuid> for Literal {
    fn from(uuid: Uuid) -> Self {
        Self(format!("X'{:032X}'", uuid.0))
    }
}

impl From<&str> for Literal {
    fn from(text: &str) -> Self {
        let mut literal = String::with_capacity(2 * text.len() + 12);
        literal.push_str("_utf8mb4 X'");
        for byte in text.bytes() {
            // Writing to a string can't go wrong.
            let _ = write!(literal, "{byte:02X}");
        }
        literal.push('\'');
        Self(literal)
    }
}

impl From<&[u8]> for Literal {
    fn from(bytes: &[u8]) -> Self {
        let mut literal = String::with_capacity(2 * bytes.len() + 3);
        literal.push_str("X'");
        for byte in bytes {
            // Writing to a string can't go wrong.
            let _ = write!(literal, "{byte:02X}");
        }
        literal.push('\'');
        Self(literal)
    }
}

impl<T: Into<Self>> From<Option<T>> for Literal {
    fn from(value: Option<T>) -> Self {
        value.map_or_else(|| Self("NULL".to_owned()), Into::into)
    }
}

impl fmt::Display for Literal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A statement that fails, and its message with it, unless the one before it wrote so many rows: by a sum that no type holds. Whether a row
/// counts that is written as it was depends on the connection; each of ours raises a serial, and so always counts. Rule 11.
pub(super) fn guard(rows: usize) -> String {
    format!("SET @mintage_guard = {} + (ROW_COUNT() <> {rows})", u64::MAX)
}

/// The error of [`guard`]: `BIGINT UNSIGNED value is out of range`.
pub(super) const GUARD_FAILED: u16 = 1690;

impl Columns for Row {
    fn text(&self, column: &str) -> Result<Option<&str>, Wrong> {
        let wrong = || column.to_owned();
        let place = self.columns_ref().iter().position(|found| found.name_ref() == column.as_bytes());
        match place.and_then(|place| self.as_ref(place)) {
            Some(Value::NULL) => Ok(None),
            Some(Value::Bytes(bytes)) => std::str::from_utf8(bytes).map(Some).map_err(|_| wrong()),
            _ => Err(wrong()),
        }
    }
}

/// Sends statements in one message; the rows of each. Those after one that fails aren't carried out.
pub(super) async fn run(conn: &mut Conn, statements: &[String]) -> Result<Vec<Vec<Row>>, Error> {
    let (sets, outcome) = run_counted(conn, statements).await;
    outcome.map(|()| sets)
}

/// Why a commit wasn't acknowledged.
pub(super) enum Uncommitted {
    /// A statement before it was refused, and so it can't have happened.
    Refused(Error),
    /// Nobody knows.
    Unknown(Error),
}

/// Sends statements that answer without rows, and the commit, in one message.
pub(super) async fn commit(conn: &mut Conn, statements: &[String]) -> Result<(), Uncommitted> {
    let mut all = statements.to_vec();
    all.push("COMMIT".to_owned());
    let (done, outcome) = run_counted(conn, &all).await;
    outcome.map_err(|error| {
        // An answer that is an error is the one after those that were done.
        let is_before_commit = matches!(error, Error::Server(_)) && done.len() < statements.len();
        if is_before_commit { Uncommitted::Refused(error) } else { Uncommitted::Unknown(error) }
    })
}

/// The same as [`run`], with the rows of those that were done before one failed.
async fn run_counted(conn: &mut Conn, statements: &[String]) -> (Vec<Vec<Row>>, Result<(), Error>) {
    let mut sets = Vec::with_capacity(statements.len());
    let message = statements.join("; ");
    let mut result = match conn.query_iter(message).await {
        Ok(result) => result,
        Err(error) => return (sets, Err(error)),
    };
    for place in 1..=statements.len() {
        // The driver keeps an error of a later statement until it is asked for more, and says meanwhile that there is nothing.
        let has_ended = result.is_empty();
        match result.map(|row: Row| row).await {
            Err(error) => return (sets, Err(error)),
            // An answer to each statement is what a commit is told by.
            Ok(_) if has_ended && place < statements.len() => {
                return (sets, Err(DriverError::PacketOutOfOrder.into()));
            }
            Ok(rows) => sets.push(rows),
        }
    }
    (sets, Ok(()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_have_no_quotes_that_a_text_could_end() {
        let of = |literal: Literal| literal.to_string();
        assert_eq!(of("a'\\b".into()), "_utf8mb4 X'61275C62'");
        assert_eq!(of("".into()), "_utf8mb4 X''");
        assert_eq!(of("a'".as_bytes().into()), "X'6127'");
        assert_eq!(of((-1_i64).into()), "-1");
        assert_eq!(of(true.into()), "TRUE");
        assert_eq!(of(Uuid(7).into()), "X'00000000000000000000000000000007'");
        assert_eq!(of(None::<&str>.into()), "NULL");
    }
}
