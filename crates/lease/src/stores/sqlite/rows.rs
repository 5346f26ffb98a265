//! Rows of the tables, to and from the data that rules speak of.

use crate::request::{Hold, Loss, MAX_PAGE, Page};
use crate::space::{FACTS, Space, SpaceId, TEXT_FACTS};
use crate::state::{
    BlockState, Expect, Nonce, RowWrite, ScopeName, ScopeRow, ScopeWrite, SpaceState, Tick, WorkerRow,
};
use mintage::UnixNanos;
use rusqlite::types::Value;
use rusqlite::{Connection, Row, params, params_from_iter};

/// Why a row can't be read or written.
#[derive(Debug, thiserror::Error)]
pub(super) enum RowError {
    #[error(transparent)]
    Sqlite(#[from] rusqlite::Error),
    /// The file beside it couldn't be read or written.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// A value that no program of ours has written.
    #[error("{0}")]
    Value(String),
    /// A number that a column can't hold.
    #[error("{0} is above what a column holds")]
    TooLarge(&'static str),
    /// A row isn't as it was read a moment before, within one transaction.
    #[error("a row changed within a transaction")]
    Changed,
}

type Result<T> = std::result::Result<T, RowError>;

const STATE: &str = "\"serial\", \"hold_serial\", \"holds\", \"restart_hold\", \"identity\", \"floor\", \
     \"old_floor\", \"high_mark\", \"next_worker\", \"block_next\", \"block_nonce\", \"block_serial\", \"block_is_stale\", \"block_jumps\", \
     \"block_jumped\", \"block_largest\", \"block_minute\", \"block_in_minute\", \"block_peak\"";

const SCOPE: &str = "\"scope\", \"next\", \"jumped\", \"serial\", \"nonce\"";

const WORKER: &str = "\"worker\", \"mark\", \"from_tick\", \"serial\", \"nonce\", \"host\", \"is_burned\"";

fn whole(row: &Row<'_>, column: &'static str) -> Result<u64> {
    let value: i64 = row.get(column)?;
    u64::try_from(value).map_err(|_| RowError::Value(format!("{column} {value}")))
}

fn nonce(row: &Row<'_>, column: &'static str) -> Result<Nonce> {
    let text: String = row.get(column)?;
    u128::from_str_radix(&text, 16).map(Nonce).map_err(|_| RowError::Value(format!("{column} {text:?}")))
}

fn number(value: u64, name: &'static str) -> Result<i64> {
    i64::try_from(value).map_err(|_| RowError::TooLarge(name))
}

fn hex(nonce: Nonce) -> String {
    format!("{:032x}", nonce.0)
}

/// Nanoseconds since 1970 as columns hold them: to the year 2262.
pub(super) fn nanos(time: UnixNanos) -> Result<i64> {
    i64::try_from(time.0).map_err(|_| RowError::TooLarge("a time"))
}

fn state_of(row: &Row<'_>) -> Result<SpaceState> {
    let identity: String = row.get("identity")?;
    Ok(SpaceState {
        serial: whole(row, "serial")?,
        hold_serial: whole(row, "hold_serial")?,
        holds: whole(row, "holds")?,
        restart_hold: row.get("restart_hold")?,
        identity: identity.parse().map_err(|_| RowError::Value(format!("identity {identity:?}")))?,
        floor: whole(row, "floor")?,
        old_floor: whole(row, "old_floor")?,
        high_mark: whole(row, "high_mark")?,
        next_worker: whole(row, "next_worker")?,
        block: BlockState {
            next: whole(row, "block_next")?,
            nonce: nonce(row, "block_nonce")?,
            serial: whole(row, "block_serial")?,
            is_stale: row.get("block_is_stale")?,
            jumps: whole(row, "block_jumps")?,
            jumped: whole(row, "block_jumped")?,
            largest: whole(row, "block_largest")?,
            minute: whole(row, "block_minute")?,
            in_minute: whole(row, "block_in_minute")?,
            peak: whole(row, "block_peak")?,
        },
    })
}

fn state_values(state: &SpaceState) -> Result<Vec<Value>> {
    let block = &state.block;
    Ok(vec![
        number(state.serial, "serial")?.into(),
        number(state.hold_serial, "hold_serial")?.into(),
        number(state.holds, "holds")?.into(),
        state.restart_hold.into(),
        state.identity.to_string().into(),
        number(state.floor, "floor")?.into(),
        number(state.old_floor, "old_floor")?.into(),
        number(state.high_mark, "high_mark")?.into(),
        number(state.next_worker, "next_worker")?.into(),
        number(block.next, "block_next")?.into(),
        hex(block.nonce).into(),
        number(block.serial, "block_serial")?.into(),
        block.is_stale.into(),
        number(block.jumps, "block_jumps")?.into(),
        number(block.jumped, "block_jumped")?.into(),
        number(block.largest, "block_largest")?.into(),
        number(block.minute, "block_minute")?.into(),
        number(block.in_minute, "block_in_minute")?.into(),
        number(block.peak, "block_peak")?.into(),
    ])
}

fn worker_of(row: &Row<'_>) -> Result<WorkerRow> {
    Ok(WorkerRow {
        worker: whole(row, "worker")?,
        mark: whole(row, "mark")?,
        from: whole(row, "from_tick")?,
        serial: whole(row, "serial")?,
        nonce: nonce(row, "nonce")?,
        host: row.get("host")?,
        is_burned: row.get("is_burned")?,
    })
}

fn scope_of(row: &Row<'_>) -> Result<ScopeRow> {
    let scope: String = row.get("scope")?;
    Ok(ScopeRow {
        scope: scope.parse().map_err(|_| RowError::Value(format!("scope {scope:?}")))?,
        next: whole(row, "next")?,
        jumped: whole(row, "jumped")?,
        serial: whole(row, "serial")?,
        nonce: nonce(row, "nonce")?,
    })
}

fn space_of(row: &Row<'_>) -> Result<Space> {
    let id: String = row.get("id")?;
    let id: SpaceId = id.parse().map_err(|_| RowError::Value(format!("id {id:?}")))?;
    let fact = |name: &'static str| match row.get::<_, Value>(name) {
        Ok(Value::Integer(number)) => Some(number.to_string()),
        Ok(Value::Text(text)) => Some(text),
        _ => None,
    };
    Space::from_facts(id, &fact).map_err(|name| RowError::Value(format!("the fact {name} of space {id}")))
}

/// A space's row as a whole.
pub(super) struct Found {
    pub(super) space: Space,
    pub(super) state: SpaceState,
    pub(super) dropped: Option<UnixNanos>,
}

fn found_of(row: &Row<'_>) -> Result<Found> {
    let dropped: Option<i64> = row.get("dropped")?;
    let dropped = dropped.map(|nanos| UnixNanos(i128::from(nanos)));
    Ok(Found { space: space_of(row)?, state: state_of(row)?, dropped })
}

fn all<T>(
    connection: &Connection,
    sql: &str,
    values: impl rusqlite::Params,
    of: fn(&Row<'_>) -> Result<T>,
) -> Result<Vec<T>> {
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query(values)?;
    let mut all = Vec::new();
    while let Some(row) = rows.next()? {
        all.push(of(row)?);
    }
    Ok(all)
}

/// Every space of this name, or every space: those in use first, then the last dropped.
pub(super) fn spaces(connection: &Connection, name: Option<&str>) -> Result<Vec<Found>> {
    let sql = "SELECT * FROM mintage_space WHERE ?1 IS NULL OR \"name\" = ?1 \
               ORDER BY \"name\", \"dropped\" IS NOT NULL, \"dropped\" DESC";
    all(connection, sql, params![name], found_of)
}

/// The row of a space that is in use.
pub(super) fn state(connection: &Connection, id: SpaceId) -> Result<Option<SpaceState>> {
    let sql = format!("SELECT {STATE} FROM mintage_space WHERE \"id\" = ?1 AND \"dropped\" IS NULL");
    Ok(all(connection, &sql, [id.to_string()], state_of)?.pop())
}

/// Writes a space's row, which must still have this serial.
pub(super) fn write_state(
    connection: &Connection,
    id: SpaceId,
    serial: u64,
    state: &SpaceState,
) -> Result<()> {
    let sql = format!(
        "UPDATE mintage_space SET ({STATE}) = (?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, \
         ?18, ?19, ?20, ?21) WHERE \"id\" = ?1 AND \"serial\" = ?2"
    );
    let mut values: Vec<Value> = vec![id.to_string().into(), number(serial, "serial")?.into()];
    values.extend(state_values(state)?);
    let changed = connection.prepare_cached(&sql)?.execute(params_from_iter(values))?;
    if changed == 1 { Ok(()) } else { Err(RowError::Changed) }
}

/// Keeps why a space's last hold began.
pub(super) fn write_hold(connection: &Connection, id: SpaceId, hold: Hold) -> Result<()> {
    let sql = "INSERT INTO mintage_hold (\"space\", \"why\", \"began\") VALUES (?1, ?2, ?3) ON CONFLICT (\"space\") DO UPDATE SET \
               \"why\" = excluded.\"why\", \"began\" = excluded.\"began\"";
    connection.execute(sql, params![id.to_string(), hold.why.word(), nanos(hold.began)?])?;
    Ok(())
}

/// Why the last hold of a space began, if there was one.
pub(super) fn hold(connection: &Connection, id: SpaceId) -> Result<Option<Hold>> {
    let sql = "SELECT \"why\", \"began\" FROM mintage_hold WHERE \"space\" = ?1";
    let of = |row: &Row<'_>| -> Result<Hold> {
        let (why, began): (String, i64) = (row.get("why")?, row.get("began")?);
        let why = Loss::of_word(&why).ok_or_else(|| RowError::Value(format!("why {why:?}")))?;
        Ok(Hold { why, began: UnixNanos(began.into()) })
    };
    Ok(all(connection, sql, [id.to_string()], of)?.pop())
}

/// Makes a space's row.
pub(super) fn insert_space(connection: &Connection, space: &Space, state: &SpaceState) -> Result<()> {
    let facts = space.facts();
    let mut values: Vec<Value> = vec![space.id.to_string().into()];
    for name in FACTS {
        let fact = facts.iter().find(|(fact, _)| fact == name);
        values.push(match fact {
            None => Value::Null,
            Some((name, text)) if TEXT_FACTS.contains(name) => text.clone().into(),
            Some((name, text)) => text.parse::<i64>().map_err(|_| RowError::TooLarge(name))?.into(),
        });
    }
    values.extend(state_values(state)?);
    let columns: Vec<String> = FACTS.iter().map(|name| format!("\"{name}\"")).collect();
    let places = vec!["?"; values.len()].join(", ");
    let sql =
        format!("INSERT INTO mintage_space (\"id\", {}, {STATE}) VALUES ({places})", columns.join(", "));
    connection.execute(&sql, params_from_iter(values))?;
    Ok(())
}

/// Makes a tombstone of a space. Rule 19.
pub(super) fn mark_dropped(connection: &Connection, id: SpaceId, now: UnixNanos) -> Result<()> {
    let sql = "UPDATE mintage_space SET \"dropped\" = ?2 WHERE \"id\" = ?1";
    connection.execute(sql, params![id.to_string(), nanos(now)?])?;
    Ok(())
}

/// One worker's row.
pub(super) fn worker(connection: &Connection, id: SpaceId, worker: u64) -> Result<Option<WorkerRow>> {
    let sql = format!("SELECT {WORKER} FROM mintage_worker WHERE \"space\" = ?1 AND \"worker\" = ?2");
    // A worker that no column holds has no row.
    let Ok(worker) = i64::try_from(worker) else { return Ok(None) };
    Ok(all(connection, &sql, params![id.to_string(), worker], worker_of)?.pop())
}

/// Every worker's row.
pub(super) fn workers(connection: &Connection, id: SpaceId) -> Result<Vec<WorkerRow>> {
    let sql = format!("SELECT {WORKER} FROM mintage_worker WHERE \"space\" = ?1 ORDER BY \"worker\"");
    all(connection, &sql, [id.to_string()], worker_of)
}

/// The rows with the lowest marks that aren't burned.
pub(super) fn lowest(connection: &Connection, id: SpaceId, want: u32) -> Result<Vec<WorkerRow>> {
    let sql = format!(
        "SELECT {WORKER} FROM mintage_worker WHERE \"space\" = ?1 AND NOT \"is_burned\" \
         ORDER BY \"mark\", \"worker\" LIMIT ?2"
    );
    all(connection, &sql, params![id.to_string(), want], worker_of)
}

/// The workers from `next` on that have a row.
pub(super) fn ahead(connection: &Connection, id: SpaceId, next: u64) -> Result<Vec<u64>> {
    let sql =
        "SELECT \"worker\" FROM mintage_worker WHERE \"space\" = ?1 AND \"worker\" >= ?2 ORDER BY \"worker\"";
    let next = number(next, "worker")?;
    all(connection, sql, params![id.to_string(), next], |row| whole(row, "worker"))
}

/// The marks above `tick` of workers that were last granted to `host`.
pub(super) fn of_host(connection: &Connection, id: SpaceId, host: &str, tick: Tick) -> Result<Vec<Tick>> {
    let sql = "SELECT \"mark\" FROM mintage_worker WHERE \"space\" = ?1 AND \"host\" = ?2 AND \"mark\" > ?3 \
               ORDER BY \"mark\"";
    let tick = number(tick, "tick")?;
    all(connection, sql, params![id.to_string(), host, tick], |row| whole(row, "mark"))
}

/// Whether some worker shows this nonce.
pub(super) fn is_nonce_known(connection: &Connection, id: SpaceId, nonce: Nonce) -> Result<bool> {
    let sql = "SELECT EXISTS (SELECT 1 FROM mintage_worker WHERE \"space\" = ?1 AND \"nonce\" = ?2)";
    Ok(connection.prepare_cached(sql)?.query_row(params![id.to_string(), hex(nonce)], |row| row.get(0))?)
}

/// One scope's row.
pub(super) fn scope(connection: &Connection, id: SpaceId, scope: &ScopeName) -> Result<Option<ScopeRow>> {
    let sql = format!("SELECT {SCOPE} FROM mintage_scope WHERE \"space\" = ?1 AND \"scope\" = ?2");
    Ok(all(connection, &sql, params![id.to_string(), scope.as_str()], scope_of)?.pop())
}

/// The rows of a page. No name is empty, so that each comes after the empty text.
pub(super) fn scopes(connection: &Connection, id: SpaceId, page: &Page) -> Result<Vec<ScopeRow>> {
    let sql = format!(
        "SELECT {SCOPE} FROM mintage_scope WHERE \"space\" = ?1 AND \"scope\" > ?2 ORDER BY \"scope\" LIMIT ?3"
    );
    let after = page.after.as_ref().map_or("", ScopeName::as_str);
    all(connection, &sql, params![id.to_string(), after, page.most.min(MAX_PAGE)], scope_of)
}

/// Writes a scope's row, if it is still as the rule saw it. Rule 11.
pub(super) fn write_scope(connection: &Connection, id: SpaceId, write: &ScopeWrite) -> Result<()> {
    let ScopeRow { scope, next, jumped, serial, nonce } = &write.row;
    let mut values: Vec<Value> = vec![
        id.to_string().into(),
        scope.as_str().to_owned().into(),
        number(*next, "next")?.into(),
        number(*jumped, "jumped")?.into(),
        number(*serial, "serial")?.into(),
        hex(*nonce).into(),
    ];
    let sql = match &write.expect {
        None => format!("INSERT INTO mintage_scope (\"space\", {SCOPE}) VALUES (?1, ?2, ?3, ?4, ?5, ?6)"),
        Some(expect) => {
            values.extend([number(expect.serial, "serial")?.into(), hex(expect.nonce).into()]);
            values.push(number(expect.next, "next")?.into());
            format!(
                "UPDATE mintage_scope SET ({SCOPE}) = (?2, ?3, ?4, ?5, ?6) WHERE \"space\" = ?1 AND \"scope\" = ?2 AND \
                 \"serial\" = ?7 AND \"nonce\" = ?8 AND \"next\" = ?9"
            )
        }
    };
    let changed = connection.prepare_cached(&sql)?.execute(params_from_iter(values))?;
    if changed == 1 { Ok(()) } else { Err(RowError::Changed) }
}

/// Writes a worker's row, if it is still as the rule saw it. Rule 11.
pub(super) fn write_worker(connection: &Connection, id: SpaceId, write: &RowWrite) -> Result<()> {
    let WorkerRow { worker, mark, from, serial, nonce, host, is_burned } = &write.row;
    let mut values: Vec<Value> = vec![
        id.to_string().into(),
        number(*worker, "worker")?.into(),
        number(*mark, "mark")?.into(),
        number(*from, "from_tick")?.into(),
        number(*serial, "serial")?.into(),
        hex(*nonce).into(),
        host.clone().into(),
        (*is_burned).into(),
    ];
    let sql = match write.expect {
        Expect::Absent => {
            format!(
                "INSERT INTO mintage_worker (\"space\", {WORKER}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)"
            )
        }
        Expect::Row { serial, nonce, mark } => {
            values.extend([number(serial, "serial")?.into(), hex(nonce).into()]);
            values.push(number(mark, "mark")?.into());
            format!(
                "UPDATE mintage_worker SET ({WORKER}) = (?2, ?3, ?4, ?5, ?6, ?7, ?8) WHERE \"space\" = ?1 \
                 AND \"worker\" = ?2 AND \"serial\" = ?9 AND \"nonce\" = ?10 AND \"mark\" = ?11"
            )
        }
    };
    let changed = connection.prepare_cached(&sql)?.execute(params_from_iter(values))?;
    if changed == 1 { Ok(()) } else { Err(RowError::Changed) }
}
