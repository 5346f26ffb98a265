//! Rows of the tables, to and from the data that rules speak of.

use super::statement::{Argument, Statement};
use crate::request::Hold;
use crate::rules::Decision;
use crate::space::{FACTS, Space, SpaceId, TEXT_FACTS};
use crate::state::{Expect, RowWrite, ScopeWrite, SpaceState};
use crate::stores::columns::{Columns, STATE, micros_of, number, state_values};
use tokio_postgres::SimpleQueryRow as Row;

pub(super) use crate::stores::columns::{
    Uuid, Wrong, hold_of, micros, read, read_or_null, scope_of, space_of, state_of, whole, worker_of,
};

impl Columns for Row {
    fn text(&self, column: &str) -> Result<Option<&str>, Wrong> {
        self.try_get(column).map_err(|_| column.to_owned())
    }
}

/// Writes a space's row and rows of workers and scopes in one statement, each of which must still be as it was read: else the statement
/// fails, by a division by zero, and the transaction with it. Its text depends on whether rows are made and changed, not on how many,
/// so that few are planned. Rule 11.
pub(super) fn write(
    id: SpaceId,
    before: &SpaceState,
    after: &SpaceState,
    decision: &Decision,
    hold: Option<Hold>,
) -> Result<Statement, Wrong> {
    let mut statement = Statement::default();
    let space = statement.add(Uuid(id.0));
    let serial = statement.add(number(before.serial)?);
    let mut sets = Vec::new();
    // What stays needn't be written: the serial tells that nobody else has changed it.
    for (name, (old, new)) in
        STATE.iter().zip(state_values::<Argument>(before)?.into_iter().zip(state_values(after)?))
    {
        if old != new || *name == "serial" {
            let place = statement.add(new);
            sets.push(format!("\"{name}\" = {place}"));
        }
    }
    let mut parts = vec![format!(
        "written AS (UPDATE mintage.state SET {} WHERE \"space\" = {space} AND \"serial\" = {serial} RETURNING 1)",
        sets.join(", ")
    )];
    let mut conditions = vec!["(SELECT count(*) FROM written) = 1".to_owned()];
    let (made, changed): (Vec<&RowWrite>, Vec<&RowWrite>) =
        decision.rows.iter().partition(|write| write.expect == Expect::Absent);
    if !made.is_empty() {
        let source = source(&mut statement, &made, false)?;
        parts.push(format!(
            "made AS (INSERT INTO mintage.worker (\"space\", {COLUMNS}) SELECT {space}, {COLUMNS} FROM {source} RETURNING 1)"
        ));
        let made = statement.add(count(&made)?);
        conditions.push(format!("(SELECT count(*) FROM made) = {made}"));
    }
    if !changed.is_empty() {
        let source = source(&mut statement, &changed, true)?;
        parts.push(format!(
            "changed AS (UPDATE mintage.worker w SET \"mark\" = n.\"mark\", \"from_tick\" = n.\"from_tick\", \"serial\" = \
             n.\"serial\", \"nonce\" = n.\"nonce\", \"host\" = n.\"host\", \"is_burned\" = n.\"is_burned\" FROM {source} \
             WHERE w.\"space\" = {space} AND w.\"worker\" = n.\"worker\" AND w.\"serial\" = n.\"old_serial\" AND \
             w.\"nonce\" = n.\"old_nonce\" AND w.\"mark\" = n.\"old_mark\" RETURNING 1)"
        ));
        let changed = statement.add(count(&changed)?);
        conditions.push(format!("(SELECT count(*) FROM changed) = {changed}"));
    }
    if let Some(write) = &decision.scope {
        parts.push(scope_part(&mut statement, &space, write)?);
        conditions.push("(SELECT count(*) FROM scoped) = 1".to_owned());
    }
    parts.extend(hold.map(|hold| hold_part(&mut statement, &space, hold)));
    statement.sql = format!(
        "WITH {} SELECT 1 / CASE WHEN {} THEN 1 ELSE 0 END",
        parts.join(", "),
        conditions.join(" AND ")
    );
    Ok(statement)
}

/// The write of why the last hold began.
fn hold_part(statement: &mut Statement, space: &str, hold: Hold) -> String {
    let (why, began) = (statement.add(hold.why.word()), statement.add(micros_of(hold.began)));
    format!(
        "held AS (INSERT INTO mintage.hold (\"space\", \"why\", \"began\") VALUES ({space}, {why}, {began}) ON CONFLICT (\"space\") DO \
         UPDATE SET \"why\" = excluded.\"why\", \"began\" = excluded.\"began\")"
    )
}

/// The write of a scope's row.
fn scope_part(statement: &mut Statement, space: &str, write: &ScopeWrite) -> Result<String, Wrong> {
    let row = &write.row;
    let scope = statement.add(row.scope.as_str());
    let (next, jumped) = (statement.add(number(row.next)?), statement.add(number(row.jumped)?));
    let (serial, nonce) = (statement.add(number(row.serial)?), statement.add(Uuid(row.nonce.0)));
    Ok(match &write.expect {
        None => format!(
            "scoped AS (INSERT INTO mintage.scope (\"space\", \"scope\", \"next\", \"jumped\", \"serial\", \"nonce\") VALUES \
             ({space}, {scope}, {next}, {jumped}, {serial}, {nonce}) RETURNING 1)"
        ),
        Some(expect) => {
            let (was, of) = (statement.add(number(expect.serial)?), statement.add(Uuid(expect.nonce.0)));
            let at = statement.add(number(expect.next)?);
            format!(
                "scoped AS (UPDATE mintage.scope SET \"next\" = {next}, \"jumped\" = {jumped}, \"serial\" = {serial}, \"nonce\" = \
                 {nonce} WHERE \"space\" = {space} AND \"scope\" = {scope} AND \"serial\" = {was} AND \"nonce\" = {of} AND \
                 \"next\" = {at} RETURNING 1)"
            )
        }
    })
}

fn count(rows: &[&RowWrite]) -> Result<i64, Wrong> {
    number(rows.len() as u64)
}

const COLUMNS: &str = "\"worker\", \"mark\", \"from_tick\", \"serial\", \"nonce\", \"host\", \"is_burned\"";

/// Rows of workers as a table of arguments: of lists, and for a single row, the usual case, of the values themselves, which costs less.
fn source(statement: &mut Statement, rows: &[&RowWrite], with_expected: bool) -> Result<String, Wrong> {
    let mut columns = COLUMNS.to_owned();
    if with_expected {
        columns.push_str(", \"old_serial\", \"old_nonce\", \"old_mark\"");
    }
    let all = rows.iter().map(|write| arguments(write)).collect::<Result<Vec<_>, _>>()?;
    let wanted = if with_expected { KINDS.len() } else { KINDS.len() - EXPECTED };
    let (mut places, mut columns_of) = (Vec::new(), all.into_iter().map(Vec::into_iter).collect::<Vec<_>>());
    for kind in &KINDS[..wanted] {
        let mut column = columns_of.iter_mut().filter_map(Iterator::next);
        places.push(match (rows.len(), column.next()) {
            (1, Some(argument)) => statement.add(argument),
            (_, first) => statement.add_all(kind, first.into_iter().chain(column)),
        });
    }
    let places = places.join(", ");
    Ok(match rows.len() {
        1 => format!("(VALUES ({places})) AS n ({columns})"),
        _ => format!("unnest({places}) AS n ({columns})"),
    })
}

/// The lists of [`arguments`].
const KINDS: [&str; 10] =
    ["int8[]", "int8[]", "int8[]", "int8[]", "uuid[]", "text[]", "bool[]", "int8[]", "uuid[]", "int8[]"];
/// How many of them say what is expected.
const EXPECTED: usize = 3;

/// A row of a worker, and what is expected to stand there where something is.
fn arguments(write: &RowWrite) -> Result<Vec<Argument>, Wrong> {
    let row = &write.row;
    let mut arguments = vec![
        number(row.worker)?.into(),
        number(row.mark)?.into(),
        number(row.from)?.into(),
        number(row.serial)?.into(),
        Uuid(row.nonce.0).into(),
        row.host.as_str().into(),
        row.is_burned.into(),
    ];
    if let Expect::Row { serial, nonce, mark } = write.expect {
        arguments.extend([number(serial)?.into(), Uuid(nonce.0).into(), number(mark)?.into()]);
    }
    Ok(arguments)
}

/// Makes a space's rows.
pub(super) fn insert(space: &Space, state: &SpaceState, hold: Option<Hold>) -> Result<Statement, Wrong> {
    let mut statement = Statement::default();
    let id = statement.add(Uuid(space.id.0));
    let facts = space.facts();
    let (mut columns, mut places) = (Vec::new(), Vec::new());
    for name in FACTS {
        let Some((_, text)) = facts.iter().find(|(fact, _)| fact == name) else { continue };
        columns.push(format!("\"{name}\""));
        places.push(if TEXT_FACTS.contains(name) {
            statement.add(text.as_str())
        } else {
            let value: i64 =
                text.parse().map_err(|_| format!("{name} {text}, above what a column holds,"))?;
            statement.add(value)
        });
    }
    let (mut state_columns, mut state_places) = (Vec::new(), Vec::new());
    for (name, value) in STATE.iter().zip(state_values::<Argument>(state)?) {
        state_columns.push(format!("\"{name}\""));
        state_places.push(statement.add(value));
    }
    let held = hold.map(|hold| format!(", {}", hold_part(&mut statement, &id, hold))).unwrap_or_default();
    statement.sql = format!(
        "WITH made AS (INSERT INTO mintage.space (\"id\", {}) VALUES ({id}, {}) RETURNING \"id\"){held} \
         INSERT INTO mintage.state (\"space\", {}) SELECT \"id\", {} FROM made",
        columns.join(", "),
        places.join(", "),
        state_columns.join(", "),
        state_places.join(", ")
    );
    Ok(statement)
}
