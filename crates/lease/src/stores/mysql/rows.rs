//! Rows of the tables, from the data that rules speak of.

use super::statement::{Literal, guard};
use crate::request::Hold;
use crate::rules::Decision;
use crate::space::{FACTS, Space, SpaceId, TEXT_FACTS};
use crate::state::{Expect, RowWrite, ScopeRow, ScopeWrite, SpaceState, WorkerRow};
use crate::stores::columns::{STATE, Uuid, Wrong, micros_of, number, state_values};

/// The columns of a worker's row, as they are read.
pub(super) const WORKER: &str =
    "`worker`, `mark`, `from_tick`, `serial`, HEX(`nonce`) AS `nonce`, `host`, `is_burned`";

/// The columns of a scope's row, as they are read.
pub(super) const SCOPE: &str = "`scope`, `next`, `jumped`, `serial`, HEX(`nonce`) AS `nonce`";

/// The columns of a worker's row, as they are written.
const COLUMNS: [&str; 7] = ["worker", "mark", "from_tick", "serial", "nonce", "host", "is_burned"];

/// Most rows of one statement: those of a large renewal take a few statements of this size, which is what servers read fastest.
const MOST: usize = 64;

/// The columns of a space's row that changes, as they are read: see [`STATE`].
pub(super) fn state_columns() -> String {
    let columns: Vec<String> = STATE
        .iter()
        .map(|name| match *name {
            "block_nonce" => "HEX(`block_nonce`) AS `block_nonce`".to_owned(),
            name => format!("`{name}`"),
        })
        .collect();
    columns.join(", ")
}

/// The columns of a space's facts, as they are read.
pub(super) fn fact_columns() -> String {
    FACTS.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// Writes a space's row and rows of workers and scopes, each of which must still be as it was read: else a statement fails, and those after it aren't
/// carried out. Rule 11.
pub(super) fn write(
    id: SpaceId,
    serial: u64,
    state: &SpaceState,
    decision: &Decision,
    hold: Option<Hold>,
) -> Result<Vec<String>, Wrong> {
    let space = Literal::from(Uuid(id.0));
    let sets: Vec<String> = STATE
        .iter()
        .zip(state_values::<Literal>(state)?)
        .map(|(name, value)| format!("`{name}` = {value}"))
        .collect();
    let mut statements = vec![
        format!(
            "UPDATE `mintage_state` SET {} WHERE `space` = {space} AND `serial` = {}",
            sets.join(", "),
            number(serial)?
        ),
        guard(1),
    ];
    let (made, changed): (Vec<&RowWrite>, Vec<&RowWrite>) =
        decision.rows.iter().partition(|write| write.expect == Expect::Absent);
    for some in made.chunks(MOST) {
        statements.push(insert_workers(&space, some)?);
        statements.push(guard(some.len()));
    }
    for some in changed.chunks(MOST) {
        statements.push(update_workers(&space, some)?);
        statements.push(guard(some.len()));
    }
    if let Some(write) = &decision.scope {
        statements.push(write_scope(&space, write)?);
        statements.push(guard(1));
    }
    statements.extend(hold.map(|hold| write_hold(&space, hold)));
    Ok(statements)
}

/// Keeps why the last hold began.
fn write_hold(space: &Literal, hold: Hold) -> String {
    let (why, began) = (Literal::from(hold.why.word()), micros_of(hold.began));
    format!(
        "INSERT INTO `mintage_hold` (`space`, `why`, `began`) VALUES ({space}, {why}, {began}) ON DUPLICATE KEY UPDATE `why` = {why}, \
         `began` = {began}"
    )
}

/// A scope's row, which is there as it was read, or isn't there yet.
fn write_scope(space: &Literal, write: &ScopeWrite) -> Result<String, Wrong> {
    let ScopeRow { scope, next, jumped, serial, nonce } = &write.row;
    let (scope, nonce) = (Literal::from(scope.as_str().as_bytes()), Literal::from(Uuid(nonce.0)));
    let (next, jumped, serial) = (number(*next)?, number(*jumped)?, number(*serial)?);
    Ok(match &write.expect {
        None => format!(
            "INSERT INTO `mintage_scope` (`space`, `scope`, `next`, `jumped`, `serial`, `nonce`) VALUES ({space}, {scope}, {next}, \
             {jumped}, {serial}, {nonce})"
        ),
        Some(expect) => format!(
            "UPDATE `mintage_scope` SET `next` = {next}, `jumped` = {jumped}, `serial` = {serial}, `nonce` = {nonce} WHERE `space` = \
             {space} AND `scope` = {scope} AND `serial` = {} AND `nonce` = {} AND `next` = {}",
            number(expect.serial)?,
            Literal::from(Uuid(expect.nonce.0)),
            number(expect.next)?
        ),
    })
}

/// Rows that aren't there yet: one that is there is a duplicate, which is an error.
fn insert_workers(space: &Literal, rows: &[&RowWrite]) -> Result<String, Wrong> {
    let mut values = Vec::with_capacity(rows.len());
    for write in rows {
        values.push(format!("({space}, {})", joined(&worker_values(&write.row)?)));
    }
    let columns: Vec<String> = COLUMNS.iter().map(|column| format!("`{column}`")).collect();
    Ok(format!("INSERT INTO `mintage_worker` (`space`, {}) VALUES {}", columns.join(", "), values.join(", ")))
}

/// Rows that must be as they were read. They are found by their key, in the order in which they are written down here: no
/// other row is looked at, and so none is locked.
fn update_workers(space: &Literal, rows: &[&RowWrite]) -> Result<String, Wrong> {
    let mut sources = Vec::with_capacity(rows.len());
    for write in rows {
        let Expect::Row { serial, nonce, mark } = write.expect else { continue };
        let mut values = worker_values(&write.row)?;
        values.extend([number(serial)?.into(), Uuid(nonce.0).into(), number(mark)?.into()]);
        let names = COLUMNS.iter().chain(&["old_serial", "old_nonce", "old_mark"]);
        let named: Vec<String> =
            values.iter().zip(names).map(|(value, name)| format!("{value} AS `{name}`")).collect();
        sources.push(format!("SELECT {}", named.join(", ")));
    }
    let sets: Vec<String> =
        COLUMNS[1..].iter().map(|column| format!("w.`{column}` = n.`{column}`")).collect();
    Ok(format!(
        "UPDATE ({}) n STRAIGHT_JOIN `mintage_worker` w ON w.`space` = {space} AND w.`worker` = n.`worker` SET {} WHERE \
         w.`serial` = n.`old_serial` AND w.`nonce` = n.`old_nonce` AND w.`mark` = n.`old_mark`",
        sources.join(" UNION ALL "),
        sets.join(", ")
    ))
}

/// The values of [`COLUMNS`].
fn worker_values(row: &WorkerRow) -> Result<Vec<Literal>, Wrong> {
    Ok(vec![
        number(row.worker)?.into(),
        number(row.mark)?.into(),
        number(row.from)?.into(),
        number(row.serial)?.into(),
        Uuid(row.nonce.0).into(),
        row.host.as_str().into(),
        row.is_burned.into(),
    ])
}

fn joined(values: &[Literal]) -> String {
    values.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// Makes a space's rows.
pub(super) fn insert(space: &Space, state: &SpaceState, hold: Option<Hold>) -> Result<Vec<String>, Wrong> {
    let id = Literal::from(Uuid(space.id.0));
    let (mut columns, mut values) = (vec!["`id`".to_owned()], vec![id.clone()]);
    for (name, text) in space.facts() {
        columns.push(format!("`{name}`"));
        values.push(if TEXT_FACTS.contains(&name) {
            text.as_str().into()
        } else {
            let value: i64 =
                text.parse().map_err(|_| format!("{name} {text}, above what a column holds,"))?;
            value.into()
        });
    }
    let state_columns: Vec<String> = STATE.iter().map(|name| format!("`{name}`")).collect();
    let mut statements = vec![
        format!("INSERT INTO `mintage_space` ({}) VALUES ({})", columns.join(", "), joined(&values)),
        guard(1),
        format!(
            "INSERT INTO `mintage_state` (`space`, {}) VALUES ({id}, {})",
            state_columns.join(", "),
            joined(&state_values::<Literal>(state)?)
        ),
        guard(1),
    ];
    statements.extend(hold.map(|hold| write_hold(&id, hold)));
    Ok(statements)
}
