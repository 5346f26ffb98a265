//! Rows as lines of text, for stores that keep values under keys: `mintage state 1`, then a name, a space and a value a line.
//!
//! The first line says what it is and in which version; names that aren't known, or come twice, are errors. Numbers are in decimal,
//! nonces 32 digits, and in texts a line's end is `\n` and a backslash `\\`.

use super::columns::{
    Cell, Columns, STATE, Uuid, Wrong, read, read_or_null, scope_of, space_of, state_of, state_values,
    worker_of,
};
use crate::request::{Hold, Loss};
use crate::space::{FACTS, Space};
use crate::state::{ScopeRow, SpaceState, WorkerRow};
use mintage::UnixNanos;

/// The version of how these texts are written. What is in them has the protocol's, which `meta` tells.
const VERSION: u32 = 1;

/// What a space's changing row is, with what only such stores keep in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Kept {
    pub(super) state: SpaceState,
    pub(super) told: Told,
    /// When the space was dropped, if it was.
    pub(super) dropped: Option<UnixNanos>,
    /// Its last hold or stop.
    pub(super) hold: Option<Hold>,
}

/// What a space was told of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Told {
    /// The last time.
    pub(super) last: UnixNanos,
    /// The last move that nothing but a wall clock spoke for.
    pub(super) jump: Option<Jump>,
    /// The time that holders moved back from, until it has come.
    pub(super) set_back: Option<UnixNanos>,
}

/// A move of the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Jump {
    pub(super) from: UnixNanos,
    pub(super) to: UnixNanos,
}

impl Told {
    /// The first time, or one that needs no check: that of a store with a clock.
    pub(super) fn first(now: UnixNanos) -> Self {
        Self { last: now, ..Self::default() }
    }
}

/// Text that is being written.
pub(super) struct Writing(String);

impl Writing {
    /// Of this kind.
    pub(super) fn new(kind: &str) -> Self {
        Self(format!("mintage {kind} {VERSION}\n"))
    }

    /// One more line.
    #[must_use]
    pub(super) fn with(mut self, name: &str, value: impl AsRef<str>) -> Self {
        let value = value.as_ref().replace('\\', "\\\\").replace('\n', "\\n");
        self.0.extend([name, " ", &value, "\n"]);
        self
    }

    /// One more line where there is a value.
    #[must_use]
    pub(super) fn with_some(self, name: &str, value: Option<impl ToString>) -> Self {
        match value {
            Some(value) => self.with(name, value.to_string()),
            None => self,
        }
    }

    pub(super) fn done(self) -> String {
        self.0
    }
}

/// Text that was read.
pub(super) struct Reading(Vec<(String, String)>);

/// The protocol's version as `meta` tells it, whatever else a later program has put there. Rule 19.
pub(super) fn protocol_of(meta: &[u8]) -> Result<u64, Wrong> {
    let text = String::from_utf8_lossy(meta);
    let protocol =
        text.lines().find_map(|line| line.strip_prefix("protocol ")).and_then(|text| text.parse().ok());
    protocol.ok_or_else(|| "protocol".to_owned())
}

impl Reading {
    /// Text of this kind that has no other names than these.
    pub(super) fn of(kind: &str, bytes: &[u8], known: &[&str]) -> Result<Self, Wrong> {
        let text = std::str::from_utf8(bytes).map_err(|_| "no text".to_owned())?;
        let mut lines = text.lines();
        let first = lines.next().unwrap_or_default();
        if first != format!("mintage {kind} {VERSION}") {
            return Err(format!("first line {first:?}"));
        }
        let mut fields: Vec<(String, String)> = Vec::new();
        for line in lines {
            let (name, value) = line.split_once(' ').ok_or_else(|| format!("line {line:?}"))?;
            if !known.contains(&name) || fields.iter().any(|(known, _)| known == name) {
                return Err(format!("line {line:?}"));
            }
            let value = plain(value).ok_or_else(|| format!("line {line:?}"))?;
            fields.push((name.to_owned(), value));
        }
        Ok(Self(fields))
    }
}

/// A value without its escapes; `None` for an escape that isn't one.
fn plain(value: &str) -> Option<String> {
    let mut text = String::with_capacity(value.len());
    let mut rest = value.chars();
    while let Some(c) = rest.next() {
        text.push(match c {
            '\\' => match rest.next()? {
                'n' => '\n',
                '\\' => '\\',
                _ => return None,
            },
            c => c,
        });
    }
    Some(text)
}

impl Columns for Reading {
    fn text(&self, column: &str) -> Result<Option<&str>, Wrong> {
        Ok(self.0.iter().find(|(name, _)| name == column).map(|(_, value)| value.as_str()))
    }
}

impl Cell for UnixNanos {
    fn read(text: &str) -> Option<Self> {
        text.parse().ok().map(Self)
    }
}

impl Cell for u64 {
    fn read(text: &str) -> Option<Self> {
        text.parse().ok()
    }
}

/// A column's value as text.
struct Text(String);

impl From<i64> for Text {
    fn from(value: i64) -> Self {
        Self(value.to_string())
    }
}

impl From<bool> for Text {
    fn from(value: bool) -> Self {
        Self(if value { "t" } else { "f" }.to_owned())
    }
}

impl From<Uuid> for Text {
    fn from(value: Uuid) -> Self {
        Self(format!("{:032x}", value.0))
    }
}

impl From<&str> for Text {
    fn from(value: &str) -> Self {
        Self(value.to_owned())
    }
}

const LAST: &str = "last_now";
const JUMP: [&str; 2] = ["jump_from", "jump_to"];
const SET_BACK: &str = "set_back";
const DROPPED: &str = "dropped";
const HOLD: [&str; 2] = ["hold_why", "hold_began"];

/// A space's changing row as text.
pub(super) fn kept_text(kept: &Kept) -> Result<String, Wrong> {
    let values: Vec<Text> = state_values(&kept.state)?;
    let mut text = Writing::new("state");
    for (name, Text(value)) in STATE.iter().zip(values) {
        text = text.with(name, value);
    }
    let Told { last, jump, set_back } = kept.told;
    let text = text
        .with(LAST, last.0.to_string())
        .with_some(JUMP[0], jump.map(|jump| jump.from.0))
        .with_some(JUMP[1], jump.map(|jump| jump.to.0))
        .with_some(SET_BACK, set_back.map(|time| time.0))
        .with_some(DROPPED, kept.dropped.map(|time| time.0))
        .with_some(HOLD[0], kept.hold.map(|hold| hold.why.word()))
        .with_some(HOLD[1], kept.hold.map(|hold| hold.began.0));
    Ok(text.done())
}

pub(super) fn kept_of(bytes: &[u8]) -> Result<Kept, Wrong> {
    let known = [STATE, &[LAST, JUMP[0], JUMP[1], SET_BACK, DROPPED, HOLD[0], HOLD[1]]].concat();
    let row = Reading::of("state", bytes, &known)?;
    let jump = match (read_or_null(&row, JUMP[0])?, read_or_null(&row, JUMP[1])?) {
        (Some(from), Some(to)) => Some(Jump { from, to }),
        (None, None) => None,
        _ => return Err(format!("{} without {}", JUMP[0], JUMP[1])),
    };
    let hold = match (read_or_null::<String>(&row, HOLD[0])?, read_or_null(&row, HOLD[1])?) {
        (Some(why), Some(began)) => {
            Some(Hold { why: Loss::of_word(&why).ok_or_else(|| format!("{} {why:?}", HOLD[0]))?, began })
        }
        (None, None) => None,
        _ => return Err(format!("{} without {}", HOLD[0], HOLD[1])),
    };
    Ok(Kept {
        hold,
        state: state_of(&row)?,
        told: Told { last: read(&row, LAST)?, jump, set_back: read_or_null(&row, SET_BACK)? },
        dropped: read_or_null(&row, DROPPED)?,
    })
}

const WORKER: &[&str] = &["worker", "mark", "from_tick", "serial", "nonce", "host", "is_burned"];

/// A worker's row as text.
pub(super) fn worker_text(row: &WorkerRow) -> String {
    Writing::new("worker")
        .with("worker", row.worker.to_string())
        .with("mark", row.mark.to_string())
        .with("from_tick", row.from.to_string())
        .with("serial", row.serial.to_string())
        .with("nonce", Text::from(Uuid(row.nonce.0)).0)
        .with("host", &row.host)
        .with("is_burned", Text::from(row.is_burned).0)
        .done()
}

pub(super) fn worker_row_of(bytes: &[u8]) -> Result<WorkerRow, Wrong> {
    worker_of(&Reading::of("worker", bytes, WORKER)?)
}

const SCOPE: &[&str] = &["scope", "next", "jumped", "serial", "nonce"];

/// A scope's row as text.
pub(super) fn scope_text(row: &ScopeRow) -> String {
    Writing::new("scope")
        .with("scope", row.scope.as_str())
        .with("next", row.next.to_string())
        .with("jumped", row.jumped.to_string())
        .with("serial", row.serial.to_string())
        .with("nonce", Text::from(Uuid(row.nonce.0)).0)
        .done()
}

pub(super) fn scope_row_of(bytes: &[u8]) -> Result<ScopeRow, Wrong> {
    scope_of(&Reading::of("scope", bytes, SCOPE)?)
}

/// The facts of a space as text.
pub(super) fn space_text(space: &Space) -> String {
    let text = Writing::new("space").with("id", Text::from(Uuid(space.id.0)).0);
    space.facts().into_iter().fold(text, |text, (name, value)| text.with(name, value)).done()
}

pub(super) fn space_row_of(bytes: &[u8]) -> Result<Space, Wrong> {
    space_of(&Reading::of("space", bytes, &[&["id"], FACTS].concat())?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identity::Identity;
    use crate::space::{BlockTerms, Kind, SpaceId, Windows};
    use crate::state::{BlockState, Nonce};
    use mintage::Scheme;

    fn kept() -> Kept {
        let block = BlockState {
            next: u64::MAX >> 1,
            nonce: Nonce(u128::MAX),
            is_stale: true,
            ..BlockState::default()
        };
        let state = SpaceState {
            serial: 7,
            hold_serial: 5,
            holds: 1,
            restart_hold: true,
            identity: Identity { origin: [1, 2, 3], timeline: 4, revision: 5, started: Some(UnixNanos(-6)) },
            floor: 8,
            old_floor: 9,
            high_mark: 10,
            next_worker: 11,
            block,
        };
        let told = Told {
            last: UnixNanos(12),
            jump: Some(Jump { from: UnixNanos(1), to: UnixNanos(12) }),
            set_back: None,
        };
        Kept { state, told, dropped: None, hold: None }
    }

    #[test]
    fn rows_survive_being_text() {
        let plain = kept();
        let dropped = Kept {
            told: Told { jump: None, set_back: Some(UnixNanos(20)), ..plain.told },
            dropped: Some(UnixNanos(30)),
            hold: Some(Hold { why: Loss::Witness, began: UnixNanos(25) }),
            ..plain.clone()
        };
        for kept in [plain, dropped] {
            assert_eq!(kept_of(kept_text(&kept).unwrap().as_bytes()), Ok(kept));
        }
        let row = WorkerRow {
            worker: 1,
            mark: 2,
            from: 1,
            serial: 3,
            nonce: Nonce(9),
            host: "a\\b\nc é".to_owned(),
            is_burned: true,
        };
        assert_eq!(worker_row_of(worker_text(&row).as_bytes()), Ok(row));
        for scope in ["42", " a'\\n日本 ", "\\"] {
            let scope = scope.parse().unwrap();
            let row = ScopeRow { scope, next: 7, jumped: 1, serial: 3, nonce: Nonce(9) };
            assert_eq!(scope_row_of(scope_text(&row).as_bytes()), Ok(row));
        }
        let windows = Windows::of(Scheme::by_name("snowflake").unwrap(), None).unwrap();
        for kind in [Kind::Windows(windows), Kind::Blocks(BlockTerms::default())] {
            let space = Space { id: SpaceId(u128::MAX), name: "orders".to_owned(), kind };
            assert_eq!(space_row_of(space_text(&space).as_bytes()), Ok(space));
        }
    }

    #[test]
    fn what_is_not_as_it_was_written_is_named() {
        let text = kept_text(&kept()).unwrap();
        for (from, to, named) in [
            ("mintage state 1", "mintage state 2", "mintage state 2"),
            ("serial 7\n", "serial seven\n", "seven"),
            ("serial 7\n", "", "serial"),
            ("serial 7\n", "serial 7\nserial 7\n", "serial 7"),
            ("serial 7\n", "serial 7\ncolour blue\n", "colour"),
            ("jump_from 1\n", "", "jump_from"),
            ("restart_hold t", "restart_hold yes", "yes"),
            ("floor 8", "floor 8\\x", "floor"),
            ("floor 8", "floor", "floor"),
        ] {
            let changed = text.replacen(from, to, 1);
            assert_ne!(changed, text, "{from}");
            let wrong = kept_of(changed.as_bytes()).unwrap_err();
            assert!(wrong.contains(named), "{wrong}");
        }
        assert!(kept_of(b"\xff").is_err());
    }
}
