//! The largest number of each scope of a table, for counters that must stand above it: issue numbers per project.
//!
//! One query in a transaction that only reads, which ends with its budget; names come from the caller and are quoted. Scopes are what their bytes
//! are, as they are to a store: what the column holds to be equal, letters of either case or spaces at the end, is told apart.

use crate::catalog::Dialect;
use crate::error::Error;
use crate::open::Options;
use mintage_lease::store::redacted;

/// Where numbers stand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Numbered {
    /// The table, with its schema in front where that isn't the usual one: `issues`, `app.issues`.
    pub table: String,
    /// The column of numbers.
    pub number: String,
    /// The column that says which scope a row is in; its text is the scope's name.
    pub by: String,
}

/// A scope with its largest number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Maximum {
    /// The name that an application gives the scope, in UTF-8: the text of a number is its digits, without the zeros of `ZEROFILL`. Bytes of a
    /// column of bytes are as they are, and needn't be text.
    pub scope: Vec<u8>,
    /// Its largest number.
    pub number: i128,
}

impl Numbered {
    fn sql(&self, dialect: Dialect, most: u64) -> String {
        let quoted = |name: &str| dialect.quoted(name);
        let table: Vec<String> = match self.table.split_once('.') {
            None if dialect == Dialect::Postgres => vec![quoted("public"), quoted(&self.table)],
            None => vec![quoted(&self.table)],
            Some((schema, table)) => vec![quoted(schema), quoted(table)],
        };
        // With the table in front, as SQLite takes a name in quotes that no column has for a text.
        let (by, number) = (format!("t.{}", quoted(&self.by)), format!("t.{}", quoted(&self.number)));
        let rest = format!(
            "FROM {} t WHERE {by} IS NOT NULL AND {number} IS NOT NULL GROUP BY 1 ORDER BY 1 LIMIT {most}",
            table.join(".")
        );
        match dialect {
            // COALESCE has the type that a domain stands for; a database without an encoding has bytes that may be no UTF-8.
            Dialect::Postgres => format!(
                "SELECT encode(x.s, 'hex'), x.n FROM (SELECT CASE WHEN pg_typeof(COALESCE({by}, NULL)) = 'bytea'::regtype \
                 THEN CAST(CAST({by} AS text) AS bytea) ELSE convert_to(CAST({by} AS text), CASE getdatabaseencoding() \
                 WHEN 'SQL_ASCII' THEN 'SQL_ASCII' ELSE 'UTF8' END) END AS s, CAST(max({number}) AS text) AS n {rest}) x ORDER BY x.s"
            ),
            // The collation is none, whatever the column's; a blob stays what it is, though the database be in UTF-16.
            Dialect::Sqlite => format!(
                "SELECT CASE WHEN typeof({by}) = 'blob' THEN {by} ELSE CAST({by} AS text) END, CAST(max({number}) AS text) {rest}"
            ),
            // Numbers have no character set either. COALESCE forgets ZEROFILL.
            _ => format!(
                "SELECT CASE WHEN CHARSET({by}) = 'binary' THEN CAST(COALESCE({by}, NULL) AS BINARY) \
                 ELSE CAST(CAST({by} AS CHAR CHARACTER SET utf8mb4) AS BINARY) END, CAST(max({number}) AS CHAR) {rest}"
            ),
        }
    }
}

const DOING: &str = "the largest number of each scope";

/// The largest numbers of at most `most` scopes, the first in the order of the column.
///
/// # Errors
/// See [`Error`].
pub async fn read(url: &str, options: &Options, of: &Numbered, most: u64) -> Result<Vec<Maximum>, Error> {
    let odd = |found: &str, expected: String| Error::Answer {
        url: redacted(url),
        doing: DOING,
        what: format!("`{found}`, {expected} expected"),
    };
    let rows: Vec<(Vec<u8>, String)> = match url.split(':').next().unwrap_or_default() {
        #[cfg(feature = "postgres")]
        "postgres" | "postgresql" => {
            let mut link = crate::catalog::postgres::link::Link::to(url, options).await?;
            let rows = link.ask(DOING, &of.sql(Dialect::Postgres, most)).await?;
            let pair = |row: &crate::catalog::postgres::link::Row| -> Result<_, Error> {
                let hex = row.text(0)?;
                let scope = bytes(hex).ok_or_else(|| odd(hex, "bytes in hex".to_owned()))?;
                Ok((scope, row.text(1)?.to_owned()))
            };
            rows.iter().map(pair).collect::<Result<_, _>>()?
        }
        #[cfg(feature = "mysql")]
        "mysql" | "mariadb" => {
            crate::catalog::mysql::pairs(url, options, DOING, &of.sql(Dialect::MySql, most)).await?
        }
        #[cfg(feature = "sqlite")]
        "sqlite" => crate::catalog::sqlite::pairs(url, options, DOING, &of.sql(Dialect::Sqlite, most))?,
        _ => {
            let fault = "postgres://user@host/database, mysql://user@host/database or sqlite:PATH expected"
                .to_owned();
            return Err(Error::Url { url: redacted(url), fault });
        }
    };
    let maximum = |(scope, number): (Vec<u8>, String)| match number.parse() {
        Ok(number) => Ok(Maximum { scope, number }),
        Err(_) => Err(odd(&number, format!("a whole number in column {}", of.number))),
    };
    rows.into_iter().map(maximum).collect()
}

/// Bytes from their hexadecimal digits.
#[cfg(feature = "postgres")]
fn bytes(hex: &str) -> Option<Vec<u8>> {
    let digit = |c: u8| char::from(c).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let (pairs, rest) = hex.as_bytes().as_chunks::<2>();
    let bytes = pairs.iter().map(|[high, low]| Some(digit(*high)? << 4 | digit(*low)?)).collect();
    if rest.is_empty() { bytes } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_quoted_however_hostile() {
        let of = Numbered { table: "a\"b".to_owned(), number: "n`".to_owned(), by: "; DROP".to_owned() };
        let sql = of.sql(Dialect::Postgres, 5);
        assert!(
            sql.contains(
                "CAST(max(t.\"n`\") AS text) AS n FROM \"public\".\"a\"\"b\" t WHERE t.\"; DROP\" IS NOT NULL \
                 AND t.\"n`\" IS NOT NULL GROUP BY 1 ORDER BY 1 LIMIT 5"
            ) && sql.contains("CAST(t.\"; DROP\" AS text)"),
            "{sql}"
        );
        let of = Numbered { table: "app.issues".to_owned(), ..of };
        let sql = of.sql(Dialect::MySql, 5);
        assert!(sql.contains("max(t.`n```) AS CHAR) FROM `app`.`issues` t WHERE t.`; DROP`"), "{sql}");
    }

    #[cfg(feature = "postgres")]
    #[test]
    fn bytes_are_read_from_hex_and_from_nothing_else() {
        assert_eq!(bytes("00fF"), Some(vec![0, 255]));
        for bad in ["0", "0g", "é"] {
            assert_eq!(bytes(bad), None, "{bad}");
        }
    }
}
