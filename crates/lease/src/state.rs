//! The rows that a store keeps of a space, as plain data.
//!
//! Everything here is cheap to clone, compare and hash, so that a model check can walk over millions of them.

use crate::identity::Identity;
use mintage::UnixNanos;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// Ticks since the space's epoch.
pub type Tick = u64;

/// Largest serial that a store can hold, as its columns are signed.
pub const MAX_SERIAL: u64 = i64::MAX.cast_unsigned();

/// Largest serial that a client can claim to have seen: half of all, so that a wrong one can't use the others up.
pub const MAX_SEEN_SERIAL: u64 = MAX_SERIAL / 2;

/// A random number of 128 bits that says who holds a row: never a host, an address or a process number. 0 is nobody. Rule 14.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "wire", derive(serde::Serialize, serde::Deserialize), serde(transparent))]
pub struct Nonce(#[cfg_attr(feature = "wire", serde(with = "crate::wire::hex"))] pub u128);

impl Nonce {
    /// Who holds a row that nobody holds.
    pub const NOBODY: Self = Self(0);
}

/// The row of a space that changes. Each transaction reads it, and each that writes anything writes it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "wire",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case", deny_unknown_fields)
)]
pub struct SpaceState {
    /// Raised by every write to the space; rows of workers and blocks take their serials from it, so no two grants of a space have
    /// one serial. Jumps far when a hold begins. At most [`MAX_SERIAL`]. Rule 11.
    #[cfg_attr(feature = "wire", serde(with = "crate::wire::text"))]
    pub serial: u64,
    /// The serial right after the last hold began; what happened below it is covered by that hold. 0: there was none.
    #[cfg_attr(feature = "wire", serde(with = "crate::wire::text"))]
    pub hold_serial: u64,
    /// How many holds began, jumps of blocks not counted.
    #[cfg_attr(feature = "wire", serde(with = "crate::wire::text"))]
    pub holds: u64,
    /// Whether a mere restart of the server begins a hold; off for those who never restore volumes. Rule 17.
    pub restart_hold: bool,
    /// What the store was when the row was written last.
    pub identity: Identity,
    /// No window begins below it; never cleared, and lowered by nothing but an operator's word that nothing was lost, down to
    /// now or [`SpaceState::old_floor`]. Rule 17.
    #[cfg_attr(feature = "wire", serde(with = "crate::wire::text"))]
    pub floor: Tick,
    /// The part of the floor that nobody lowers: a space of the same name that was dropped before this one was created may have
    /// issued every tick below it, by holders that still go on, and this space has no rows to tell. In a space of scopes, the same of
    /// values. 0: there was none. Rule 19.
    #[cfg_attr(feature = "wire", serde(with = "crate::wire::text"))]
    pub old_floor: Tick,
    /// The highest `until` ever granted; unlike a worker's mark it never sinks. In a space of scopes: nothing at or above it was issued
    /// in any scope.
    #[cfg_attr(feature = "wire", serde(with = "crate::wire::text"))]
    pub high_mark: Tick,
    /// Workers from here on have no row, unless one was burned before it was ever granted. Rows are made lazily. Rule 13.
    #[cfg_attr(feature = "wire", serde(with = "crate::wire::text"))]
    pub next_worker: u64,
    /// The counter of a space of blocks, or what all counters of a space of scopes have in common; all zero in a space of windows.
    pub block: BlockState,
}

impl SpaceState {
    /// Whether anything was handed out, as far as the row tells; a counter that is stopped may have handed out more than that.
    #[must_use]
    pub const fn has_issued(&self) -> bool {
        self.high_mark > 0 || self.block.largest > 0 || self.block.is_stale
    }
}

/// A space's counter. In a space of scopes `next` is where a scope that has no row begins, `jumped` what each row is compared with (see
/// [`ScopeRow::jumped`]), the rate is that of all scopes together, and `nonce` and `serial` stay zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "wire",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case", deny_unknown_fields)
)]
pub struct BlockState {
    /// The next value to hand out; nothing at or above it has been issued.
    #[cfg_attr(feature = "wire", serde(with = "crate::wire::text"))]
    pub next: u64,
    /// Who took the last block.
    pub nonce: Nonce,
    /// The serial of the last block, which a give-back must name.
    #[cfg_attr(feature = "wire", serde(with = "crate::wire::text"))]
    pub serial: u64,
    /// Whether the store is known to be an older copy of itself: nothing is handed out until an operator bumps. Rule 18.
    pub is_stale: bool,
    /// Promotions that the counter jumped at.
    #[cfg_attr(feature = "wire", serde(with = "crate::wire::text"))]
    pub jumps: u64,
    /// Values jumped over and never issued.
    #[cfg_attr(feature = "wire", serde(with = "crate::wire::text"))]
    pub jumped: u64,
    /// The largest block handed out.
    #[cfg_attr(feature = "wire", serde(with = "crate::wire::text"))]
    pub largest: u64,
    /// The minute since 1970 that `in_minute` counts.
    #[cfg_attr(feature = "wire", serde(with = "crate::wire::text"))]
    pub minute: u64,
    /// Values handed out in that minute.
    #[cfg_attr(feature = "wire", serde(with = "crate::wire::text"))]
    pub in_minute: u64,
    /// Most values handed out in one minute.
    #[cfg_attr(feature = "wire", serde(with = "crate::wire::text"))]
    pub peak: u64,
}

/// The row of a worker, made when it is first granted and never deleted.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "wire",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case", deny_unknown_fields)
)]
pub struct WorkerRow {
    /// The worker, in the space's range.
    #[cfg_attr(feature = "wire", serde(with = "crate::wire::text"))]
    pub worker: u64,
    /// The high-water mark: nothing at or above this tick has been issued by this worker.
    #[cfg_attr(feature = "wire", serde(with = "crate::wire::text"))]
    pub mark: Tick,
    /// Where the holder's first window began; a release can't sink the mark below it.
    #[cfg_attr(feature = "wire", serde(with = "crate::wire::text"))]
    pub from: Tick,
    /// The space's serial when the row was last written.
    #[cfg_attr(feature = "wire", serde(with = "crate::wire::text"))]
    pub serial: u64,
    /// Who holds it, or held it last.
    pub nonce: Nonce,
    /// The host that it was last granted to, for the quota of crash loops only. Rule 13.
    pub host: String,
    /// Whether an operator retired the worker for ever.
    pub is_burned: bool,
}

/// What a write to a worker's row expects to find. Rule 11.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Expect {
    /// No row of this worker.
    Absent,
    /// A row with exactly these.
    Row {
        /// Its serial.
        serial: u64,
        /// Its holder.
        nonce: Nonce,
        /// Its mark.
        mark: Tick,
    },
}

impl Expect {
    /// What `row` shows.
    #[must_use]
    pub fn of(row: Option<&WorkerRow>) -> Self {
        match row {
            None => Self::Absent,
            Some(row) => Self::Row { serial: row.serial, nonce: row.nonce, mark: row.mark },
        }
    }
}

/// A worker's row to be written.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RowWrite {
    /// The row as it shall be.
    pub row: WorkerRow,
    /// The row as it must still be.
    pub expect: Expect,
}

/// Longest name of a scope, in bytes.
pub const LONGEST_SCOPE: usize = 255;

/// The name of a scope, such as the key of a parent row: 1 to 255 bytes of UTF-8 without control characters. Two names are one scope
/// if they are the same bytes; nothing is trimmed, folded or normalised.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(
    feature = "wire",
    derive(serde::Serialize, serde::Deserialize),
    serde(try_from = "String", into = "String")
)]
pub struct ScopeName(Arc<str>);

impl ScopeName {
    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ScopeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The text is no name of a scope.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{found:?} is no name of a scope; 1 to {LONGEST_SCOPE} bytes without control characters expected")]
pub struct NotAScope {
    /// What was given, at most its first 255 bytes.
    pub found: String,
}

#[cfg(feature = "wire")]
impl TryFrom<String> for ScopeName {
    type Error = NotAScope;

    fn try_from(text: String) -> Result<Self, NotAScope> {
        text.parse()
    }
}

#[cfg(feature = "wire")]
impl From<ScopeName> for String {
    fn from(name: ScopeName) -> Self {
        name.as_str().to_owned()
    }
}

impl FromStr for ScopeName {
    type Err = NotAScope;

    fn from_str(text: &str) -> Result<Self, NotAScope> {
        if (1..=LONGEST_SCOPE).contains(&text.len()) && !text.contains(char::is_control) {
            return Ok(Self(text.into()));
        }
        Err(NotAScope { found: text[..text.floor_char_boundary(LONGEST_SCOPE)].to_owned() })
    }
}

/// The row of a scope, made when it is first used and never deleted.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "wire",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case", deny_unknown_fields)
)]
pub struct ScopeRow {
    /// The scope.
    pub scope: ScopeName,
    /// The next value to hand out, without the jumps since the row was last written; nothing at or above it has been issued.
    #[cfg_attr(feature = "wire", serde(with = "crate::wire::text"))]
    pub next: u64,
    /// [`BlockState::jumped`] of the space when the row was last written: what was added to that since is to be added to `next`, as
    /// all scopes jump together, and none of their rows is written for it.
    #[cfg_attr(feature = "wire", serde(with = "crate::wire::text"))]
    pub jumped: u64,
    /// The space's serial when the row was last written.
    #[cfg_attr(feature = "wire", serde(with = "crate::wire::text"))]
    pub serial: u64,
    /// Who took the last values, or nobody after a bump.
    pub nonce: Nonce,
}

/// A scope's row to be written.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ScopeWrite {
    /// The row as it shall be.
    pub row: ScopeRow,
    /// The row as it must still be; `None` where there must be none. Its serial, nonce and next value are compared. Rule 11.
    pub expect: Option<ScopeRow>,
}

/// What a transaction read besides the space's row.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Rows {
    /// The rows of the workers that the request names, as far as they exist.
    pub named: Vec<WorkerRow>,
    /// For an acquire: the rows with the lowest marks that aren't burned, by mark and then worker, as many as leases are wanted.
    pub lowest: Vec<WorkerRow>,
    /// For an acquire: the workers at or above [`SpaceState::next_worker`] that have a row all the same, in order.
    pub ahead: Vec<u64>,
    /// For an acquire: the marks above the store's current tick of rows last granted to the host that asks, in order; at least
    /// as many as the space's quota, where there are as many.
    pub of_host: Vec<Tick>,
    /// For an acquire: whether some row shows the nonce that the request brings.
    pub is_nonce_known: bool,
    /// The row of the scope that [`crate::Request::scope`] names, where there is one; of [`crate::Request::page`], its rows in the order of
    /// their names' bytes.
    pub scopes: Vec<ScopeRow>,
}

impl Rows {
    /// The row of `worker`, if it was read and exists.
    #[must_use]
    pub fn of(&self, worker: u64) -> Option<&WorkerRow> {
        self.named.iter().find(|row| row.worker == worker)
    }
}

/// What a transaction sees of the world, all of it read after the space's row was locked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Seen {
    /// The store's time.
    pub now: UnixNanos,
    /// What the store is.
    pub live: Identity,
    /// The time that the caller expects.
    pub expected: Expected,
    /// What the caller has seen of the space.
    pub witness: Witness,
}

/// The highest serial and mark of a space that a client saw, sent with each request. Rule 17.
///
/// In a space of blocks the mark is the highest `end` of a block; a client that gives back lowers it to `unused` first, whatever
/// the store answers. In a space of scopes it is the highest `end` that the client saw of the scope that it asks, 0 where it saw none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "wire",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case", deny_unknown_fields)
)]
pub struct Witness {
    /// Highest serial of a grant.
    #[cfg_attr(feature = "wire", serde(with = "crate::wire::text"))]
    pub serial: u64,
    /// Highest mark.
    #[cfg_attr(feature = "wire", serde(with = "crate::wire::text"))]
    pub mark: u64,
}

impl Witness {
    /// Takes in what a grant showed.
    pub fn see(&mut self, serial: u64, mark: u64) {
        self.serial = self.serial.max(serial);
        self.mark = self.mark.max(mark);
    }
}

/// What the store's time should be, as the caller can tell when the transaction has read it. Rule 15.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Expected {
    /// An operator said that the store's time is right.
    Anything,
    /// The caller holds no lease: this is its wall clock, and the store may differ by an hour.
    Wall(UnixNanos),
    /// The caller talked to the store before: its time then, and what has passed since by a clock that nobody sets.
    Elapsed(UnixNanos),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_scopes_are_any_text_that_shows() {
        for good in ["42", "a'b\"c`d\\", "日本", " x ", "😀", &"x".repeat(255), "tenant/7%_*"] {
            assert_eq!(good.parse::<ScopeName>().unwrap().as_str(), good);
        }
        for bad in ["", "a\0", "a\n", "\u{85}", &"x".repeat(256), &"é".repeat(128)] {
            assert!(bad.parse::<ScopeName>().is_err(), "{bad:?}");
        }
        assert!("é".repeat(200).parse::<ScopeName>().unwrap_err().found.len() <= 255);
    }
}
