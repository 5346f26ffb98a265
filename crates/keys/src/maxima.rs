//! The largest number of each scope of a table, for counters that must stand above it: issue numbers per project.
//!
//! One query in a transaction that only reads, which ends with its budget; names come from the caller and are quoted.

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
    /// The scope, as the database prints it.
    pub scope: String,
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
        let text = if dialect.is_mysql_like() { "char" } else { "text" };
        // With the table in front, as SQLite takes a name in quotes that no column has for a text.
        let (by, number) = (format!("t.{}", quoted(&self.by)), format!("t.{}", quoted(&self.number)));
        format!(
            "SELECT CAST({by} AS {text}), CAST(max({number}) AS {text}) FROM {} t WHERE {by} IS NOT NULL AND {number} IS NOT NULL GROUP BY \
             {by} ORDER BY {by} LIMIT {most}",
            table.join(".")
        )
    }
}

const DOING: &str = "the largest number of each scope";

/// The largest numbers of at most `most` scopes, the first in the order of the column.
///
/// # Errors
/// See [`Error`].
pub async fn read(url: &str, options: &Options, of: &Numbered, most: u64) -> Result<Vec<Maximum>, Error> {
    let rows: Vec<(String, String)> = match url.split(':').next().unwrap_or_default() {
        #[cfg(feature = "postgres")]
        "postgres" | "postgresql" => {
            let mut link = crate::catalog::postgres::link::Link::to(url, options).await?;
            let rows = link.ask(DOING, &of.sql(Dialect::Postgres, most)).await?;
            let pair = |row: &crate::catalog::postgres::link::Row| -> Result<_, Error> {
                Ok((row.text(0)?.to_owned(), row.text(1)?.to_owned()))
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
    let maximum = |(scope, number): (String, String)| match number.parse() {
        Ok(number) => Ok(Maximum { scope, number }),
        Err(_) => Err(Error::Answer {
            url: redacted(url),
            doing: DOING,
            what: format!("`{number}`, a whole number expected in column {}", of.number),
        }),
    };
    rows.into_iter().map(maximum).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_quoted_however_hostile() {
        let of = Numbered { table: "a\"b".to_owned(), number: "n`".to_owned(), by: "; DROP".to_owned() };
        assert_eq!(
            of.sql(Dialect::Postgres, 5),
            "SELECT CAST(t.\"; DROP\" AS text), CAST(max(t.\"n`\") AS text) FROM \"public\".\"a\"\"b\" t WHERE t.\"; DROP\" IS NOT NULL \
             AND t.\"n`\" IS NOT NULL GROUP BY t.\"; DROP\" ORDER BY t.\"; DROP\" LIMIT 5"
        );
        let of = Numbered { table: "app.issues".to_owned(), ..of };
        assert!(
            of.sql(Dialect::MySql, 5)
                .contains("max(t.`n```) AS char) FROM `app`.`issues` t WHERE t.`; DROP`")
        );
    }
}
