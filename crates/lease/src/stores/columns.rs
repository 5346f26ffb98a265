//! Rows whose columns come as text, to and from the data that rules speak of: for stores in SQL databases.

#[cfg(any(feature = "mysql", feature = "postgres"))]
use crate::request::{Hold, Loss};
use crate::space::{Space, SpaceId};
use crate::state::{BlockState, Nonce, ScopeRow, SpaceState, WorkerRow};

/// A row of an answer.
pub(in crate::stores) trait Columns {
    /// The text of a column, `None` when it is null.
    ///
    /// # Errors
    /// The column's name, when the row has no such column or what it holds is no text.
    fn text(&self, column: &str) -> Result<Option<&str>, Wrong>;
}

/// 128 bits: in a column of type `uuid`, or as 32 digits.
#[derive(Clone, Copy, Debug)]
pub(in crate::stores) struct Uuid(pub(in crate::stores) u128);

/// A value that no program of ours has written, or that no column holds; in words.
pub(in crate::stores) type Wrong = String;

/// What a column's text can be read as.
pub(in crate::stores) trait Cell: Sized {
    fn read(text: &str) -> Option<Self>;
}

impl Cell for i64 {
    fn read(text: &str) -> Option<Self> {
        text.parse().ok()
    }
}

impl Cell for bool {
    fn read(text: &str) -> Option<Self> {
        match text {
            "t" | "1" => Some(true),
            "f" | "0" => Some(false),
            _ => None,
        }
    }
}

impl Cell for String {
    fn read(text: &str) -> Option<Self> {
        Some(text.to_owned())
    }
}

impl Cell for Uuid {
    fn read(text: &str) -> Option<Self> {
        if text.len() == 32 {
            return u128::from_str_radix(text, 16).ok().map(Self);
        }
        let raw = mintage::text::HYPHENATED.parse(text, 128, "uuid").ok()?;
        Some(Self(raw.low()))
    }
}

/// A column that can't be read is a table that was changed by other means.
pub(in crate::stores) fn read<T: Cell>(row: &impl Columns, column: &str) -> Result<T, Wrong> {
    read_or_null(row, column)?.ok_or_else(|| column.to_owned())
}

/// The same where the column may be null.
pub(in crate::stores) fn read_or_null<T: Cell>(row: &impl Columns, column: &str) -> Result<Option<T>, Wrong> {
    let text = row.text(column)?;
    text.map(|text| T::read(text).ok_or_else(|| format!("{column} {text:?}"))).transpose()
}

pub(in crate::stores) fn whole(row: &impl Columns, column: &str) -> Result<u64, Wrong> {
    let value: i64 = read(row, column)?;
    u64::try_from(value).map_err(|_| format!("{column} {value}"))
}

#[cfg(any(feature = "mysql", feature = "postgres"))]
pub(in crate::stores) fn micros(row: &impl Columns, column: &str) -> Result<mintage::UnixNanos, Wrong> {
    let value: i64 = read(row, column)?;
    Ok(mintage::UnixNanos(i128::from(value) * 1_000))
}

/// A time as a column of microseconds holds it.
#[cfg(any(feature = "mysql", feature = "postgres"))]
pub(in crate::stores) fn micros_of(time: mintage::UnixNanos) -> i64 {
    i64::try_from(time.0 / 1_000).unwrap_or(i64::MAX)
}

pub(in crate::stores) fn number(value: u64) -> Result<i64, Wrong> {
    i64::try_from(value).map_err(|_| format!("{value}, above what a column holds,"))
}

/// The columns of a space's row in `mintage.state`, in the order of [`state_values`].
pub(in crate::stores) const STATE: &[&str] = &[
    "serial",
    "hold_serial",
    "holds",
    "restart_hold",
    "identity",
    "floor",
    "old_floor",
    "high_mark",
    "next_worker",
    "block_next",
    "block_nonce",
    "block_serial",
    "block_is_stale",
    "block_jumps",
    "block_jumped",
    "block_largest",
    "block_minute",
    "block_in_minute",
    "block_peak",
];

pub(in crate::stores) fn state_of(row: &impl Columns) -> Result<SpaceState, Wrong> {
    let identity: String = read(row, "identity")?;
    Ok(SpaceState {
        serial: whole(row, "serial")?,
        hold_serial: whole(row, "hold_serial")?,
        holds: whole(row, "holds")?,
        restart_hold: read(row, "restart_hold")?,
        identity: identity.parse().map_err(|_| format!("identity {identity:?}"))?,
        floor: whole(row, "floor")?,
        old_floor: whole(row, "old_floor")?,
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

/// The values of [`STATE`], as a store spells them.
pub(in crate::stores) fn state_values<A>(state: &SpaceState) -> Result<Vec<A>, Wrong>
where
    A: From<i64> + From<bool> + From<Uuid> + for<'t> From<&'t str>,
{
    let block = &state.block;
    Ok(vec![
        number(state.serial)?.into(),
        number(state.hold_serial)?.into(),
        number(state.holds)?.into(),
        state.restart_hold.into(),
        state.identity.to_string().as_str().into(),
        number(state.floor)?.into(),
        number(state.old_floor)?.into(),
        number(state.high_mark)?.into(),
        number(state.next_worker)?.into(),
        number(block.next)?.into(),
        Uuid(block.nonce.0).into(),
        number(block.serial)?.into(),
        block.is_stale.into(),
        number(block.jumps)?.into(),
        number(block.jumped)?.into(),
        number(block.largest)?.into(),
        number(block.minute)?.into(),
        number(block.in_minute)?.into(),
        number(block.peak)?.into(),
    ])
}

pub(in crate::stores) fn worker_of(row: &impl Columns) -> Result<WorkerRow, Wrong> {
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

pub(in crate::stores) fn scope_of(row: &impl Columns) -> Result<ScopeRow, Wrong> {
    let scope: String = read(row, "scope")?;
    Ok(ScopeRow {
        scope: scope.parse().map_err(|_| format!("scope {scope:?}"))?,
        next: whole(row, "next")?,
        jumped: whole(row, "jumped")?,
        serial: whole(row, "serial")?,
        nonce: Nonce(read::<Uuid>(row, "nonce")?.0),
    })
}

/// The row of a space's last hold.
#[cfg(any(feature = "mysql", feature = "postgres"))]
pub(in crate::stores) fn hold_of(row: &impl Columns) -> Result<(SpaceId, Hold), Wrong> {
    let why: String = read(row, "why")?;
    let hold = Hold {
        why: Loss::of_word(&why).ok_or_else(|| format!("why {why:?}"))?,
        began: micros(row, "began")?,
    };
    Ok((SpaceId(read::<Uuid>(row, "space")?.0), hold))
}

pub(in crate::stores) fn space_of(row: &impl Columns) -> Result<Space, Wrong> {
    let id = SpaceId(read::<Uuid>(row, "id")?.0);
    let fact = |name: &'static str| row.text(name).ok().flatten().map(ToOwned::to_owned);
    Space::from_facts(id, &fact).map_err(|name| format!("the fact {name} of space {id}"))
}
