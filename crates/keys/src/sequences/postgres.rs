//! Moves sequences of PostgreSQL: one short transaction each.
//!
//! Needed is the ownership of the sequence, or membership in the role that owns it, for its lock; and SELECT on what it feeds.

use super::standing::Standing;
use super::{Repair, sql};
use crate::catalog::postgres::link::{Link, Row};
use crate::error::Error;
use crate::open::Options;
use tokio_postgres::error::{DbError, SqlState};

/// How often a sequence is tried whose lock others hold.
const TRIES: u32 = 3;

/// Whether anything can be written.
///
/// # Errors
/// [`Error::Refused`] on a standby, with the address of its primary where the role may see it, and on a server set read-only.
pub(super) async fn ready(url: &str, options: &Options) -> Result<(), Error> {
    let mut link = Link::to(url, options).await?;
    let sql = "SELECT pg_is_in_recovery(), current_setting('default_transaction_read_only') = 'on', \
               (SELECT r.sender_host || ':' || r.sender_port FROM pg_catalog.pg_stat_wal_receiver r)";
    let rows = link.ask("whether it can be written to", sql).await?;
    let row = rows.first().ok_or_else(|| link.odd("whether it can be written to", "no row"))?;
    let refused = |why: String| Err(Error::Refused { url: link.url.clone(), why });
    if row.flag(0)? {
        let primary = match row.optional(2)? {
            Some(address) => format!("its primary, {}", crate::names::harmless(address)),
            None => "its primary".to_owned(),
        };
        return refused(format!(
            "a standby, where nothing can be written; repair at {primary}, or promote this one first (--wait SECONDS waits for that)"
        ));
    }
    if row.flag(1)? {
        return refused(
            "default_transaction_read_only is on for this server, database or role; nothing is repaired where somebody has forbidden \
             writes"
                .to_owned(),
        );
    }
    Ok(())
}

/// What the settings say of how far replicas may be behind.
pub(super) async fn replication(url: &str, options: &Options) -> Result<String, Error> {
    let mut link = Link::to(url, options).await?;
    let rows = link.ask("replication", "SELECT current_setting('synchronous_standby_names') = ''").await?;
    let is_asynchronous = rows.first().map(|row| row.flag(0)).transpose()?.unwrap_or(true);
    Ok(if is_asynchronous {
        "synchronous_standby_names is empty here: replication from this server is asynchronous".to_owned()
    } else {
        "synchronous_standby_names is set here: what commits with synchronous_commit on has reached a standby"
            .to_owned()
    })
}

/// Moves each; what one refuses concerns it alone.
pub(super) async fn repair(
    url: &str,
    options: &Options,
    planned: &[&Standing],
    gap: u64,
) -> Result<Vec<Repair>, Error> {
    let link = Link::to(url, options).await?;
    let mut repairs = Vec::with_capacity(planned.len());
    for (index, standing) in planned.iter().enumerate() {
        let outcome = match standing.reachable(gap) {
            Ok(_) => {
                let script = sql::postgres(standing, gap);
                run(&link, &script).await?
            }
            Err(why) => Err(why),
        };
        repairs.push(Repair { index, outcome });
    }
    Ok(repairs)
}

/// The values before and after.
async fn run(link: &Link, script: &str) -> Result<Result<(String, String), String>, Error> {
    for _ in 1..TRIES {
        match link.run("repairing a sequence", script).await? {
            Ok(rows) => return values(link, &rows).map(Ok),
            Err(said) if *said.code() == SqlState::LOCK_NOT_AVAILABLE => {}
            Err(said) => return Ok(Err(refusal(&said))),
        }
    }
    match link.run("repairing a sequence", script).await? {
        Ok(rows) => values(link, &rows).map(Ok),
        Err(said) => Ok(Err(refusal(&said))),
    }
}

fn values(link: &Link, rows: &[Row]) -> Result<(String, String), Error> {
    let [before, after] = rows else { return Err(link.odd("repairing a sequence", "two rows expected")) };
    let unused = if before.flag(1)? { "" } else { " (not yet given out)" };
    Ok((format!("{}{unused}", before.text(0)?), after.text(0)?.to_owned()))
}

fn refusal(said: &DbError) -> String {
    let words = said.message();
    if *said.code() == SqlState::LOCK_NOT_AVAILABLE {
        return "another session holds a lock on it; try again when that has ended".to_owned();
    }
    if *said.code() == SqlState::INSUFFICIENT_PRIVILEGE {
        return format!(
            "{words}; its owner may repair it, or a member of the owning role, with SELECT on its tables"
        );
    }
    words.to_owned()
}
