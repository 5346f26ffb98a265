//! Moves SEQUENCE objects of MariaDB, and AUTO_INCREMENT counters where more is known than their tables hold.
//!
//! Needed is INSERT and SELECT on a sequence; ALTER, INSERT, SELECT and LOCK TABLES on a table.

use super::standing::Standing;
use super::{Repair, sql};
use crate::catalog::Dialect;
use crate::catalog::mysql::connected;
use crate::error::Error;
use crate::open::Options;
use mintage_lease::store::redacted;
use mysql_async::prelude::Queryable;
use mysql_async::{Conn, Row};

/// Runs a script, a statement a line; what it answered with two values.
async fn run(conn: &mut Conn, script: &str) -> Result<Option<(String, String)>, mysql_async::Error> {
    let mut set = None;
    for statement in script.lines() {
        let rows: Vec<Row> = conn.query(statement).await?;
        let of = |row: &Row, column: usize| row.get::<Option<String>, _>(column).flatten();
        set = rows.first().and_then(|row| Some((of(row, 0)?, of(row, 1)?))).or(set);
    }
    Ok(set)
}

/// Moves each; what one refuses concerns it alone.
pub(super) async fn repair(
    url: &str,
    options: &Options,
    planned: &[&Standing],
    gap: u64,
    dialect: Dialect,
) -> Result<Vec<Repair>, Error> {
    let (mut conn, _) = connected(url, options).await?;
    let doing = "repairing a sequence";
    let lost =
        |error: mysql_async::Error| Error::Lost { url: redacted(url), doing, cause: error.to_string() };
    let is_read_only: Option<u8> = conn.query_first("SELECT @@global.read_only").await.map_err(lost)?;
    if is_read_only.unwrap_or(0) != 0 {
        return Err(Error::Refused {
            url: redacted(url),
            why: "read_only is on, as on a replica; repair at its primary (SHOW REPLICA STATUS names it), or promote this one first"
                .to_owned(),
        });
    }
    conn.query_drop("SET SESSION lock_wait_timeout = 2").await.map_err(lost)?;
    let mut repairs = Vec::with_capacity(planned.len());
    for (index, standing) in planned.iter().enumerate() {
        let outcome = match standing.reachable(gap) {
            Err(why) => Err(why),
            Ok(target) => match run(&mut conn, &sql::mysql(standing, target, gap, dialect)).await {
                Ok(set) => {
                    let before = standing.reading.map_or(0, |(last, _)| last);
                    Ok(set.unwrap_or_else(|| (before.to_string(), target.to_string())))
                }
                Err(mysql_async::Error::Server(error)) => {
                    // Whatever was locked when it failed.
                    conn.query_drop("UNLOCK TABLES").await.map_err(lost)?;
                    Err(error.message)
                }
                Err(error) => return Err(lost(error)),
            },
        };
        repairs.push(Repair { index, outcome });
    }
    // Said good-bye to politely; a server that doesn't answer to that has done its work.
    let _ = conn.disconnect().await;
    Ok(repairs)
}
