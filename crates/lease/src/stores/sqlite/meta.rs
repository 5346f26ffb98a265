//! What there is once in the file: its version, which file it is, and its time. Rules 16, 17 and 19.

use super::file::{Mark, Place};
use super::rows::{self, RowError};
use crate::clock::HostClock;
use crate::error::Error;
use crate::store::{PROTOCOL, draw_nonce, known_protocol};
use mintage::UnixNanos;
use rusqlite::{Connection, OptionalExtension, params};

/// The row of `mintage_meta`.
#[derive(Clone, Debug)]
pub(super) struct Meta {
    pub(super) mark: Mark,
    pub(super) place: Place,
    pub(super) boot: String,
    pub(super) anchor_wall: UnixNanos,
    pub(super) anchor_boottime: u64,
    pub(super) last_now: UnixNanos,
}

pub(super) fn has_tables(connection: &Connection) -> rusqlite::Result<bool> {
    let sql = "SELECT EXISTS (SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'mintage_meta')";
    connection.query_row(sql, [], |row| row.get(0))
}

pub(super) fn read_meta(connection: &Connection, store: &str) -> Result<Result<Meta, Error>, RowError> {
    if !has_tables(connection)? {
        return Ok(Err(Error::NoSchema { store: store.to_owned() }));
    }
    let sql = "SELECT \"protocol\", \"revision\", \"generation\", \"device\", \"inode\", \"boot\", \"anchor_wall\", \
               \"anchor_boottime\", \"last_now\" FROM mintage_meta";
    let found = connection
        .prepare_cached(sql)?
        .query_row([], |row| {
            let whole = |at| row.get::<_, i64>(at).map(i64::cast_unsigned);
            let time = |at| row.get::<_, i64>(at).map(|nanos| UnixNanos(i128::from(nanos)));
            let meta = Meta {
                mark: Mark { revision: whole(1)?, generation: whole(2)? },
                place: Place { device: whole(3)?, inode: whole(4)? },
                boot: row.get(5)?,
                anchor_wall: time(6)?,
                anchor_boottime: whole(7)?,
                last_now: time(8)?,
            };
            Ok((row.get::<_, u32>(0)?, meta))
        })
        .optional()?;
    let Some((protocol, meta)) = found else {
        return Err(RowError::Value("mintage_meta, which has no row,".to_owned()));
    };
    Ok(known_protocol(store, protocol.into()).map(|()| meta))
}

/// The version of the tables.
pub(super) fn protocol(connection: &Connection) -> rusqlite::Result<u32> {
    connection.query_row("SELECT \"protocol\" FROM mintage_meta", [], |row| row.get(0))
}

/// Notes that the tables are of this program's version.
pub(super) fn set_protocol(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute("UPDATE mintage_meta SET \"protocol\" = ?1", [PROTOCOL]).map(|_| ())
}

pub(super) fn write_meta(connection: &Connection, meta: &Meta) -> Result<(), RowError> {
    let sql = "INSERT INTO mintage_meta VALUES (1, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) ON CONFLICT (\"one\") DO UPDATE \
               SET \"revision\" = ?2, \"generation\" = ?3, \"device\" = ?4, \"inode\" = ?5, \"boot\" = ?6, \
               \"anchor_wall\" = ?7, \"anchor_boottime\" = ?8, \"last_now\" = ?9";
    connection.prepare_cached(sql)?.execute(params![
        PROTOCOL,
        meta.mark.revision.cast_signed(),
        meta.mark.generation.cast_signed(),
        meta.place.device.cast_signed(),
        meta.place.inode.cast_signed(),
        meta.boot,
        rows::nanos(meta.anchor_wall)?,
        meta.anchor_boottime.cast_signed(),
        rows::nanos(meta.last_now)?,
    ])?;
    Ok(())
}

/// A year of 366 days, in nanoseconds.
const LONGEST_REST: i128 = 366 * 86_400 * 1_000_000_000;

/// The store's time, as the new `last_now` of a row to write. Rule 16.
///
/// Within a boot it follows the clock that nobody sets, so steps of the wall clock don't reach it; after a boot it begins with the
/// wall clock, which must not be behind.
///
/// That is the only clock that there is, so nothing else could tell that it is years ahead: every id and every later time would be too.
/// Unless it is `trusted`, it may be [`LONGEST_REST`] ahead of the last time that the file saw.
pub(super) fn tell_time(
    meta: &Meta,
    boot: &str,
    clock: &dyn HostClock,
    store: &str,
    is_trusted: bool,
) -> Result<Meta, Error> {
    let mut next = meta.clone();
    let (wall, boottime) = (clock.wall(), clock.boottime_nanos());
    let is_known = !boot.is_empty();
    if is_known && boot == meta.boot {
        let passed = boottime.saturating_sub(meta.anchor_boottime);
        next.last_now = meta.last_now.max(meta.anchor_wall.plus(i128::from(passed)));
        return Ok(next);
    }
    if is_known && wall < meta.last_now {
        return Err(Error::ClockBehind { store: store.to_owned(), now: wall, last: meta.last_now });
    }
    if wall > meta.last_now.plus(LONGEST_REST) && !is_trusted {
        return Err(Error::ClockAhead { store: store.to_owned(), now: wall, last: meta.last_now });
    }
    boot.clone_into(&mut next.boot);
    next.anchor_wall = wall;
    next.anchor_boottime = boottime;
    next.last_now = wall.max(meta.last_now);
    Ok(next)
}

pub(super) fn boot_text(clock: &dyn HostClock) -> String {
    match clock.boot_id() {
        0 => String::new(),
        id => format!("{id:032x}"),
    }
}

/// A random number of 63 bits, never 0.
pub(super) fn draw_generation() -> Result<u64, RowError> {
    let nonce = draw_nonce().map_err(|error| RowError::Value(error.to_string()))?;
    let [.., low] = split(nonce.0);
    Ok((low >> 1).max(1))
}

/// The high and the low half.
fn split(value: u128) -> [u64; 2] {
    let bytes = value.to_be_bytes();
    let half = |from: usize| {
        let mut half = [0; 8];
        half.copy_from_slice(&bytes[from..from + 8]);
        u64::from_be_bytes(half)
    };
    [half(0), half(8)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::ManualHostClock;

    fn meta(clock: &ManualHostClock) -> Meta {
        Meta {
            mark: Mark { revision: 1, generation: 1 },
            place: Place { device: 1, inode: 1 },
            boot: boot_text(clock),
            anchor_wall: clock.wall(),
            anchor_boottime: clock.boottime_nanos(),
            last_now: clock.wall(),
        }
    }

    fn told(meta: &Meta, clock: &ManualHostClock) -> Result<Meta, Error> {
        tell_time(meta, &boot_text(clock), clock, "sqlite:x", false)
    }

    #[test]
    fn rule_15_after_a_boot_a_wall_clock_that_is_years_ahead_needs_an_operators_word() {
        let clock = ManualHostClock::new(UnixNanos::from_secs(1_000));
        let meta = meta(&clock);
        clock.boot(UnixNanos(meta.last_now.0 + LONGEST_REST));
        told(&meta, &clock).unwrap();
        clock.boot(UnixNanos(meta.last_now.0 + LONGEST_REST + 1));
        let error = told(&meta, &clock).unwrap_err().to_string();
        assert!(error.contains("1970-01-01T00:16:40Z") && error.contains("--trust-store-clock"), "{error}");
        tell_time(&meta, &boot_text(&clock), &clock, "sqlite:x", true).unwrap();
    }

    #[test]
    fn rule_16_steps_of_the_wall_clock_do_not_reach_the_stores_time() {
        let clock = ManualHostClock::new(UnixNanos::from_secs(1_000));
        let meta = meta(&clock);
        clock.pass(2_000_000_000);
        for wall in [0, 1_002, 9_999_999] {
            clock.set_wall(UnixNanos::from_secs(wall));
            assert_eq!(told(&meta, &clock).unwrap().last_now, UnixNanos::from_secs(1_002));
        }
    }

    #[test]
    fn rule_16_the_stores_time_never_goes_back() {
        let clock = ManualHostClock::new(UnixNanos::from_secs(1_000));
        let mut meta = meta(&clock);
        meta.last_now = UnixNanos::from_secs(5_000);
        assert_eq!(told(&meta, &clock).unwrap().last_now, UnixNanos::from_secs(5_000));
    }

    #[test]
    fn rule_16_after_a_boot_a_wall_clock_that_is_behind_is_refused_with_both_values() {
        let clock = ManualHostClock::new(UnixNanos::from_secs(1_000));
        let meta = meta(&clock);
        clock.boot(UnixNanos::from_secs(999));
        let error = told(&meta, &clock).unwrap_err().to_string();
        assert!(error.contains("1970-01-01T00:16:39Z") && error.contains("1970-01-01T00:16:40Z"), "{error}");
        clock.set_wall(UnixNanos::from_secs(2_000));
        let next = told(&meta, &clock).unwrap();
        assert_eq!((next.last_now, next.anchor_wall), (clock.wall(), clock.wall()));
        assert_ne!(next.boot, meta.boot);
    }
}
