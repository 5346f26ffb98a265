//! Rows of the tables, to and from the data that rules speak of.

use crate::space::{FACTS, Space, SpaceId, TEXT_FACTS};
use crate::state::{BlockState, Expect, Nonce, RowWrite, SpaceState, WorkerRow};
use mintage::UnixNanos;
use std::error::Error as StdError;
use tokio_postgres::Row;
use tokio_postgres::types::private::BytesMut;
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, accepts, to_sql_checked};

/// 128 bits in a column of type `uuid`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Uuid(pub(super) u128);

impl ToSql for Uuid {
    fn to_sql(&self, _: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn StdError + Sync + Send>> {
        out.extend_from_slice(&self.0.to_be_bytes());
        Ok(IsNull::No)
    }
    accepts!(UUID);
    to_sql_checked!();
}

impl<'a> FromSql<'a> for Uuid {
    fn from_sql(_: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn StdError + Sync + Send>> {
        Ok(Self(u128::from_be_bytes(raw.try_into()?)))
    }
    accepts!(UUID);
}

/// A value that no program of ours has written, or that no column holds; in words.
pub(super) type Wrong = String;

/// A column that can't be read is a table that was changed by other means.
pub(super) fn read<'a, T: FromSql<'a>>(row: &'a Row, column: &str) -> Result<T, Wrong> {
    row.try_get(column).map_err(|_| column.to_owned())
}

pub(super) fn whole(row: &Row, column: &str) -> Result<u64, Wrong> {
    let value: i64 = read(row, column)?;
    u64::try_from(value).map_err(|_| format!("{column} {value}"))
}

pub(super) fn micros(row: &Row, column: &str) -> Result<UnixNanos, Wrong> {
    let value: i64 = read(row, column)?;
    Ok(UnixNanos(i128::from(value) * 1_000))
}

fn number(value: u64) -> Result<i64, Wrong> {
    i64::try_from(value).map_err(|_| format!("{value}, above what a column holds,"))
}

/// The columns of a space's row in `mintage.state`, in the order of [`state_values`].
const STATE: &[(&str, Type)] = &[
    ("serial", Type::INT8),
    ("hold_serial", Type::INT8),
    ("holds", Type::INT8),
    ("restart_hold", Type::BOOL),
    ("identity", Type::TEXT),
    ("floor", Type::INT8),
    ("high_mark", Type::INT8),
    ("next_worker", Type::INT8),
    ("block_next", Type::INT8),
    ("block_nonce", Type::UUID),
    ("block_serial", Type::INT8),
    ("block_is_stale", Type::BOOL),
    ("block_jumps", Type::INT8),
    ("block_jumped", Type::INT8),
    ("block_largest", Type::INT8),
    ("block_minute", Type::INT8),
    ("block_in_minute", Type::INT8),
    ("block_peak", Type::INT8),
];

pub(super) fn state_of(row: &Row) -> Result<SpaceState, Wrong> {
    let identity: String = read(row, "identity")?;
    Ok(SpaceState {
        serial: whole(row, "serial")?,
        hold_serial: whole(row, "hold_serial")?,
        holds: whole(row, "holds")?,
        restart_hold: read(row, "restart_hold")?,
        identity: identity.parse().map_err(|_| format!("identity {identity:?}"))?,
        floor: whole(row, "floor")?,
        high_mark: whole(row, "high_mark")?,
        next_worker: whole(row, "next_worker")?,
        block: BlockState {
            next: whole(row, "block_next")?,
            nonce: Nonce(read::<Uuid>(row, "block_nonce")?.0),
            serial: whole(row, "block_serial")?,
            is_stale: read(row, "block_is_stale")?,
            jumps: whole(row, "block_jumps")?,
            jumped: whole(row, "block_jumped")?,
            largest: whole(row, "block_largest")?,
            minute: whole(row, "block_minute")?,
            in_minute: whole(row, "block_in_minute")?,
            peak: whole(row, "block_peak")?,
        },
    })
}

fn state_values(state: &SpaceState) -> Result<Vec<Box<dyn ToSql + Sync + Send>>, Wrong> {
    let block = &state.block;
    Ok(vec![
        Box::new(number(state.serial)?),
        Box::new(number(state.hold_serial)?),
        Box::new(number(state.holds)?),
        Box::new(state.restart_hold),
        Box::new(state.identity.to_string()),
        Box::new(number(state.floor)?),
        Box::new(number(state.high_mark)?),
        Box::new(number(state.next_worker)?),
        Box::new(number(block.next)?),
        Box::new(Uuid(block.nonce.0)),
        Box::new(number(block.serial)?),
        Box::new(block.is_stale),
        Box::new(number(block.jumps)?),
        Box::new(number(block.jumped)?),
        Box::new(number(block.largest)?),
        Box::new(number(block.minute)?),
        Box::new(number(block.in_minute)?),
        Box::new(number(block.peak)?),
    ])
}

pub(super) fn worker_of(row: &Row) -> Result<WorkerRow, Wrong> {
    Ok(WorkerRow {
        worker: whole(row, "worker")?,
        mark: whole(row, "mark")?,
        from: whole(row, "from_tick")?,
        serial: whole(row, "serial")?,
        nonce: Nonce(read::<Uuid>(row, "nonce")?.0),
        host: read(row, "host")?,
        is_burned: read(row, "is_burned")?,
    })
}

pub(super) fn space_of(row: &Row) -> Result<Space, Wrong> {
    let id = SpaceId(read::<Uuid>(row, "id")?.0);
    let fact = |name: &'static str| {
        if TEXT_FACTS.contains(&name) {
            row.try_get::<_, Option<String>>(name).ok().flatten()
        } else {
            row.try_get::<_, Option<i64>>(name).ok().flatten().map(|number| number.to_string())
        }
    };
    Space::from_facts(id, &fact).map_err(|name| format!("the fact {name} of space {id}"))
}

/// A statement with its parameters.
#[derive(Default)]
pub(super) struct Statement {
    pub(super) sql: String,
    values: Vec<(Box<dyn ToSql + Sync + Send>, Type)>,
}

impl Statement {
    pub(super) fn new(sql: impl Into<String>) -> Self {
        Self { sql: sql.into(), values: Vec::new() }
    }

    /// Adds a parameter; its place.
    fn add(&mut self, value: Box<dyn ToSql + Sync + Send>, kind: Type) -> String {
        self.values.push((value, kind));
        format!("${}", self.values.len())
    }

    /// The statement with one parameter more.
    pub(super) fn with(mut self, value: impl ToSql + Sync + Send + 'static, kind: Type) -> Self {
        self.add(Box::new(value), kind);
        self
    }

    /// As the driver wants them.
    pub(super) fn parameters(&self) -> Vec<(&(dyn ToSql + Sync), Type)> {
        self.values.iter().map(|(value, kind)| (&**value as &(dyn ToSql + Sync), kind.clone())).collect()
    }
}

/// Writes a space's row and rows of workers in one statement, each of which must still be as it was read: else the statement
/// fails, by a division by zero, and the transaction with it. Rule 11.
pub(super) fn write(
    id: SpaceId,
    serial: u64,
    state: &SpaceState,
    rows: &[RowWrite],
) -> Result<Statement, Wrong> {
    let mut statement = Statement::default();
    let space = statement.add(Box::new(Uuid(id.0)), Type::UUID);
    let serial = statement.add(Box::new(number(serial)?), Type::INT8);
    let mut sets = Vec::new();
    for ((name, kind), value) in STATE.iter().zip(state_values(state)?) {
        let place = statement.add(value, kind.clone());
        sets.push(format!("\"{name}\" = {place}"));
    }
    let mut parts = vec![format!(
        "written AS (UPDATE mintage.state SET {} WHERE \"space\" = {space} AND \"serial\" = {serial} RETURNING 1)",
        sets.join(", ")
    )];
    let mut conditions = vec!["(SELECT count(*) FROM written) = 1".to_owned()];
    let (made, changed): (Vec<&RowWrite>, Vec<&RowWrite>) =
        rows.iter().partition(|write| write.expect == Expect::Absent);
    if !made.is_empty() {
        let source = unnest(&mut statement, &made, false)?;
        parts.push(format!(
            "made AS (INSERT INTO mintage.worker (\"space\", {COLUMNS}) SELECT {space}, {COLUMNS} FROM {source} RETURNING 1)"
        ));
        conditions.push(format!("(SELECT count(*) FROM made) = {}", made.len()));
    }
    if !changed.is_empty() {
        let source = unnest(&mut statement, &changed, true)?;
        parts.push(format!(
            "changed AS (UPDATE mintage.worker w SET \"mark\" = n.\"mark\", \"from_tick\" = n.\"from_tick\", \"serial\" = \
             n.\"serial\", \"nonce\" = n.\"nonce\", \"host\" = n.\"host\", \"is_burned\" = n.\"is_burned\" FROM {source} \
             WHERE w.\"space\" = {space} AND w.\"worker\" = n.\"worker\" AND w.\"serial\" = n.\"old_serial\" AND \
             w.\"nonce\" = n.\"old_nonce\" AND w.\"mark\" = n.\"old_mark\" RETURNING 1)"
        ));
        conditions.push(format!("(SELECT count(*) FROM changed) = {}", changed.len()));
    }
    statement.sql = format!(
        "WITH {} SELECT 1 / CASE WHEN {} THEN 1 ELSE 0 END",
        parts.join(", "),
        conditions.join(" AND ")
    );
    Ok(statement)
}

const COLUMNS: &str = "\"worker\", \"mark\", \"from_tick\", \"serial\", \"nonce\", \"host\", \"is_burned\"";

/// Rows of workers as a table of parameters.
fn unnest(statement: &mut Statement, rows: &[&RowWrite], with_expected: bool) -> Result<String, Wrong> {
    let numbers = |of: fn(&WorkerRow) -> u64| -> Result<Vec<i64>, Wrong> {
        rows.iter().map(|write| number(of(&write.row))).collect()
    };
    let nonces: Vec<Uuid> = rows.iter().map(|write| Uuid(write.row.nonce.0)).collect();
    let hosts: Vec<String> = rows.iter().map(|write| write.row.host.clone()).collect();
    let burned: Vec<bool> = rows.iter().map(|write| write.row.is_burned).collect();
    let mut places = vec![
        statement.add(Box::new(numbers(|row| row.worker)?), Type::INT8_ARRAY),
        statement.add(Box::new(numbers(|row| row.mark)?), Type::INT8_ARRAY),
        statement.add(Box::new(numbers(|row| row.from)?), Type::INT8_ARRAY),
        statement.add(Box::new(numbers(|row| row.serial)?), Type::INT8_ARRAY),
        statement.add(Box::new(nonces), Type::UUID_ARRAY),
        statement.add(Box::new(hosts), Type::TEXT_ARRAY),
        statement.add(Box::new(burned), Type::BOOL_ARRAY),
    ];
    let mut columns = COLUMNS.to_owned();
    if with_expected {
        let (mut serials, mut nonces, mut marks) = (Vec::new(), Vec::new(), Vec::new());
        for write in rows {
            if let Expect::Row { serial, nonce, mark } = write.expect {
                serials.push(number(serial)?);
                nonces.push(Uuid(nonce.0));
                marks.push(number(mark)?);
            }
        }
        places.push(statement.add(Box::new(serials), Type::INT8_ARRAY));
        places.push(statement.add(Box::new(nonces), Type::UUID_ARRAY));
        places.push(statement.add(Box::new(marks), Type::INT8_ARRAY));
        columns.push_str(", \"old_serial\", \"old_nonce\", \"old_mark\"");
    }
    Ok(format!("unnest({}) AS n ({columns})", places.join(", ")))
}

/// Makes a space's rows.
pub(super) fn insert(space: &Space, state: &SpaceState) -> Result<Statement, Wrong> {
    let mut statement = Statement::default();
    let id = statement.add(Box::new(Uuid(space.id.0)), Type::UUID);
    let facts = space.facts();
    let (mut columns, mut places) = (Vec::new(), Vec::new());
    for name in FACTS {
        let Some((_, text)) = facts.iter().find(|(fact, _)| fact == name) else { continue };
        columns.push(format!("\"{name}\""));
        places.push(if TEXT_FACTS.contains(name) {
            statement.add(Box::new(text.clone()), Type::TEXT)
        } else {
            let value: i64 =
                text.parse().map_err(|_| format!("{name} {text}, above what a column holds,"))?;
            statement.add(Box::new(value), Type::INT8)
        });
    }
    let (mut state_columns, mut state_places) = (Vec::new(), Vec::new());
    for ((name, kind), value) in STATE.iter().zip(state_values(state)?) {
        state_columns.push(format!("\"{name}\""));
        state_places.push(statement.add(value, kind.clone()));
    }
    statement.sql = format!(
        "WITH made AS (INSERT INTO mintage.space (\"id\", {}) VALUES ({id}, {}) RETURNING \"id\") \
         INSERT INTO mintage.state (\"space\", {}) SELECT \"id\", {} FROM made",
        columns.join(", "),
        places.join(", "),
        state_columns.join(", "),
        state_places.join(", ")
    );
    Ok(statement)
}
