//! The thread's side of the store in a file: opens it, and carries out transactions.

use super::file::{
    Found, Mark, Place, Said, SideCar, Stored, Times, has_journal, is_whole, jitter_nanos,
    remote_file_system, sync_folder,
};
use super::meta::{self, Meta, boot_text, draw_generation, has_tables, read_meta, tell_time, write_meta};
use super::rows::{self, RowError};
use super::{Gate, SCHEMA, SCOPES};
use crate::clock::HostClock;
use crate::creating::{Creation, Namesake, creation};
use crate::error::Error;
use crate::identity::Identity;
use crate::request::{Answered, Caller, Request, Shown};
use crate::rules::decide;
use crate::space::Space;
use crate::state::{Rows, Seen, SpaceState};
use crate::store::{CheckLine, CreateOptions, Deadline, PROTOCOL, anchor, expected, keeps_holds};
use mintage::UnixNanos;
use mintage::time::pause;
use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Where the store is and what it may do.
#[derive(Debug)]
pub(super) struct Settings {
    pub(super) url: String,
    pub(super) path: PathBuf,
    pub(super) clock: Arc<dyn HostClock>,
    pub(super) allows_unsafe: bool,
}

/// What the thread keeps.
#[derive(Debug)]
pub(super) struct Keeper {
    settings: Settings,
    open: Option<Opened>,
}

/// An open file, and which one it was when it was opened.
#[derive(Debug)]
struct Opened {
    connection: Connection,
    place: Place,
}

/// What a transaction sees besides the rows.
struct Moment {
    now: UnixNanos,
    live: Identity,
    sent: u64,
}

/// Why an attempt at a transaction ended.
enum Failure {
    /// Somebody else is at it, or the file was replaced: nothing was done, and the next attempt may do better.
    Again(RowError),
    /// It is no use.
    Final(Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Final(error)
    }
}

impl Keeper {
    pub(super) const fn new(settings: Settings) -> Self {
        Self { settings, open: None }
    }

    fn store(&self) -> String {
        self.settings.url.clone()
    }

    /// Carries out one request. Rules 10, 11, 16 and 17.
    pub(super) fn ask(
        &mut self,
        space: &Space,
        caller: &Caller,
        request: &Request,
        deadline: Deadline,
        gate: &Gate,
    ) -> Result<Answered, Error> {
        let clock = Arc::clone(&self.settings.clock);
        self.transact(request.name(), deadline, gate, caller.trusts_clock, &mut |connection, moment| {
            let Some(state) = rows::state(connection, space.id)? else {
                return Ok((Err(Error::SpaceGone { space: space.name.clone() }), false));
            };
            let read = read_rows(connection, space, &state, request, moment.now)?;
            let expected = expected(caller, &*clock);
            let seen = Seen { now: moment.now, live: moment.live, expected, witness: caller.witness };
            let decision = decide(&space.kind, &state, &seen, request, &read);
            if let Some(next) = &decision.state {
                rows::write_state(connection, space.id, state.serial, next)?;
                if let Some(hold) = decision.hold(moment.now)
                    && keeps_holds(meta::protocol(connection)?.into())
                {
                    rows::write_hold(connection, space.id, hold)?;
                }
            }
            for write in &decision.rows {
                rows::write_worker(connection, space.id, write)?;
            }
            if let Some(write) = &decision.scope {
                rows::write_scope(connection, space.id, write)?;
            }
            let (events, now, serial) = (decision.events, moment.now, decision.serial);
            let answer = match decision.answer {
                Ok(answer) => {
                    Ok(Answered { answer, anchor: anchor(now, moment.sent, &*clock), serial, events })
                }
                Err(refusal) => Err(Error::Refused { space: space.name.clone(), refusal, now, events }),
            };
            Ok((answer, decision.state.is_some()))
        })?
    }

    /// Creates a space, or finds it with the same facts. Rule 19.
    pub(super) fn create(
        &mut self,
        space: &Space,
        options: CreateOptions,
        deadline: Deadline,
        gate: &Gate,
    ) -> Result<Space, Error> {
        self.make(deadline, gate)?;
        if space.scopes().is_some() {
            self.bring_up(deadline, gate)?;
        }
        let clock = Arc::clone(&self.settings.clock);
        self.transact("create", deadline, gate, options.trusts_clock, &mut |connection, moment| {
            let spaces = rows::spaces(connection, Some(&space.name))?;
            let namesakes: Vec<_> = spaces
                .iter()
                .map(|found| Namesake {
                    space: &found.space,
                    state: &found.state,
                    is_in_use: found.dropped.is_none(),
                })
                .collect();
            Ok(match creation(space, &namesakes, options, moment.now, moment.live, &*clock) {
                Err(error) => (Err(error), false),
                Ok(Creation::There(found)) => (Ok(found), false),
                Ok(Creation::Begins(state, hold)) => {
                    rows::insert_space(connection, space, &state)?;
                    if let Some(hold) = hold
                        && keeps_holds(meta::protocol(connection)?.into())
                    {
                        rows::write_hold(connection, space.id, hold)?;
                    }
                    (Ok(space.clone()), true)
                }
            })
        })?
    }

    /// Leaves a tombstone. Rule 19.
    pub(super) fn drop_space(&mut self, name: &str, deadline: Deadline, gate: &Gate) -> Result<(), Error> {
        let store = self.store();
        self.transact("drop", deadline, gate, false, &mut |connection, moment| {
            let spaces = rows::spaces(connection, Some(name))?;
            match spaces.iter().find(|found| found.dropped.is_none()) {
                None => {
                    let (store, space) = (store.clone(), name.to_owned());
                    Ok((Err(Error::NoSuchSpace { store, space }), false))
                }
                Some(found) => {
                    rows::mark_dropped(connection, found.space.id, moment.now)?;
                    Ok((Ok(()), true))
                }
            }
        })?
    }

    /// The space of a name that is in use.
    pub(super) fn show(
        &mut self,
        request: &'static str,
        name: &str,
        with_workers: bool,
        deadline: Deadline,
    ) -> Result<Shown, Error> {
        let all = self.list(request, Some(name), with_workers, deadline)?;
        let in_use = all.into_iter().find(|shown| shown.dropped.is_none());
        in_use.ok_or_else(|| Error::NoSuchSpace { store: self.store(), space: name.to_owned() })
    }

    /// Spaces with their rows.
    pub(super) fn list(
        &mut self,
        request: &'static str,
        name: Option<&str>,
        with_workers: bool,
        deadline: Deadline,
    ) -> Result<Vec<Shown>, Error> {
        self.transact(request, deadline, &Gate::default(), true, &mut |connection, moment| {
            let mut all = Vec::new();
            let has_holds = keeps_holds(meta::protocol(connection)?.into());
            for found in rows::spaces(connection, name)? {
                let workers =
                    if with_workers { rows::workers(connection, found.space.id)? } else { Vec::new() };
                let (now, dropped) = (moment.now, found.dropped);
                let hold = if has_holds { rows::hold(connection, found.space.id)? } else { None };
                all.push(Shown { space: found.space, state: found.state, workers, now, dropped, hold });
            }
            Ok((all, false))
        })
    }

    /// What leases rely on.
    pub(super) fn check(&mut self, deadline: Deadline) -> Result<Vec<CheckLine>, Error> {
        let wall = self.settings.clock.wall();
        let boot = self.settings.clock.boot_id();
        let mut lines =
            self.transact("check", deadline, &Gate::default(), true, &mut |connection, moment| {
                let pragma = |name| connection.pragma_query_value(None, name, |row| row.get::<_, String>(0));
                let journal = pragma("journal_mode")?;
                let synchronous: i64 =
                    connection.pragma_query_value(None, "synchronous", |row| row.get(0))?;
                let off = moment.now.0.abs_diff(wall.0);
                let line = |what, is_good, found| CheckLine { what, is_good, found };
                let lines = vec![
                    line(
                        "durability",
                        synchronous >= 2,
                        format!("journal {journal}, synchronous {synchronous}"),
                    ),
                    line(
                        "clock",
                        off < 1_000_000_000,
                        format!("the store says {}, the wall clock {wall}", moment.now),
                    ),
                    line("version", true, format!("tables of protocol {}", meta::protocol(connection)?)),
                ];
                Ok((lines, false))
            })?;
        let what = "boot";
        let found = if boot == 0 { "can't be told, so the wall clock is believed" } else { "known" };
        lines.push(CheckLine { what, is_good: boot != 0, found: found.to_owned() });
        Ok(lines)
    }

    /// Makes the tables where they are missing, and brings them up to this program's version. Any number of processes may do so at
    /// once. Rule 19.
    pub(super) fn upgrade(&mut self, deadline: Deadline, gate: &Gate) -> Result<(), Error> {
        self.make(deadline, gate)?;
        self.bring_up(deadline, gate)
    }

    /// Adds what version 2 has and the file lacks.
    fn bring_up(&mut self, deadline: Deadline, gate: &Gate) -> Result<(), Error> {
        self.transact("upgrade", deadline, gate, true, &mut |connection, _| {
            let is_old = meta::protocol(connection)? < PROTOCOL;
            if is_old {
                connection.execute_batch(SCOPES)?;
                meta::set_protocol(connection)?;
            }
            Ok(((), is_old))
        })
    }

    fn make(&mut self, deadline: Deadline, gate: &Gate) -> Result<(), Error> {
        let store = self.store();
        let unreachable =
            |source: std::io::Error| Error::Unreachable { store: store.clone(), source: source.into() };
        self.refuse_remote()?;
        let path = self.settings.path.clone();
        // Before anything is made beside it. Where one of us makes it at this moment, a look without a lock sees half a file.
        let looked = self.refuse_foreign(false);
        if !SideCar::path_of(&path).exists() {
            looked?;
        }
        let Some(side_car) = SideCar::lock(&path, deadline).map_err(unreachable)? else {
            return Err(Error::Deadline { store, request: "upgrade", source: held_by(&path) });
        };
        self.refuse_foreign(false)?;
        let is_new = Place::of(&path).map_err(unreachable)?.is_none();
        self.open = None;
        let made = self.make_tables(&side_car, gate);
        if made.is_err() {
            side_car.discard(&path);
        }
        made?;
        if is_new {
            sync_folder(&path).map_err(unreachable)?;
        }
        Ok(())
    }

    fn make_tables(&mut self, side_car: &SideCar, gate: &Gate) -> Result<(), Error> {
        let clock = Arc::clone(&self.settings.clock);
        let path = self.settings.path.clone();
        let open = self.opened(true)?;
        let made = (|| -> Result<bool, RowError> {
            side_car.read()?;
            let connection = &mut open.connection;
            let place = open.place;
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            if has_tables(&transaction)? {
                return Ok(false);
            }
            transaction.execute_batch(SCHEMA)?;
            transaction.execute_batch(SCOPES)?;
            let mark = Mark { revision: 1, generation: draw_generation()? };
            let meta = Meta {
                mark,
                place,
                boot: boot_text(&*clock),
                anchor_wall: clock.wall(),
                anchor_boottime: clock.boottime_nanos(),
                last_now: clock.wall(),
            };
            write_meta(&transaction, &meta)?;
            if !gate.pass() {
                return Err(RowError::Changed);
            }
            transaction.commit()?;
            side_car.write(Said { mark, times: Times::of(&path)? })?;
            Ok(true)
        })();
        made.map(|_| ()).map_err(|error| self.fault("upgrade", error))
    }

    /// Reads, decides and writes in one transaction, and tries again while that is of use. `work` says whether anything was
    /// written.
    fn transact<T>(
        &mut self,
        request: &'static str,
        deadline: Deadline,
        gate: &Gate,
        trusts_clock: bool,
        work: Work<'_, T>,
    ) -> Result<T, Error> {
        let mut wait = 1_000_000;
        loop {
            match self.attempt(request, deadline, gate, trusts_clock, work) {
                Ok(value) => return Ok(value),
                Err(Failure::Final(error)) => return Err(error),
                Err(Failure::Again(error)) => {
                    if deadline.left().is_zero() || gate.is_closed() {
                        let source = Some(error.into());
                        return Err(Error::Deadline { store: self.store(), request, source });
                    }
                    pause(jitter_nanos(wait));
                    wait = (wait * 2).min(50_000_000);
                }
            }
        }
    }

    fn attempt<T>(
        &mut self,
        request: &'static str,
        deadline: Deadline,
        gate: &Gate,
        trusts_clock: bool,
        work: Work<'_, T>,
    ) -> Result<T, Failure> {
        let store = self.store();
        let unreachable =
            |source: std::io::Error| Error::Unreachable { store: store.clone(), source: source.into() };
        let path = self.settings.path.clone();
        let gave_up = || Error::Deadline { store: store.clone(), request, source: held_by(&path) };
        if Place::of(&self.settings.path).map_err(unreachable)?.is_none() {
            let was_open = self.open.take().is_some();
            return Err(if was_open {
                Error::FileReplaced { store }.into()
            } else {
                Error::NoSchema { store }.into()
            });
        }
        self.refuse_remote()?;
        if !SideCar::path_of(&path).exists() {
            self.refuse_foreign(true)?;
        }
        let side_car = SideCar::lock(&path, deadline).map_err(unreachable)?;
        let side_car = side_car.ok_or_else(gave_up)?;
        let has_journal = has_journal(&path);
        let mut mark = None;
        let clock = Arc::clone(&self.settings.clock);
        self.opened(false)?;
        let Some(open) = &mut self.open else { return Err(gave_up().into()) };
        let place = open.place;
        let sent = clock.boottime_nanos();
        let done = (|| -> Result<Result<Done<T>, Error>, RowError> {
            // What SQLite goes by to tell whether pages in memory are still those of the file is as old as the file where that was put back.
            open.connection.execute_batch("PRAGMA shrink_memory")?;
            let behavior = TransactionBehavior::Immediate;
            let transaction = open.connection.transaction_with_behavior(behavior)?;
            // Under the lock: nobody replaces the file by our own means now.
            if Place::of(&path).ok().flatten() != Some(place) {
                return Ok(Ok(Done::Replaced));
            }
            let meta = match read_meta(&transaction, &store)? {
                Ok(meta) => meta,
                Err(error) => return Ok(Err(error)),
            };
            let boot = boot_text(&*clock);
            let stored = Stored { mark: meta.mark, place: meta.place, is_same_boot: boot == meta.boot };
            let said = side_car.read()?;
            let found = Found { place, times: Times::of(&path)?, is_mended: has_journal };
            let is_whole = is_whole(&stored, said, &found);
            if is_whole {
                mark = Some(meta.mark);
                let now = Said { mark: meta.mark, times: found.times };
                // A crash left the side-car behind; it must not fall back further.
                if said != Some(now) {
                    side_car.write(now)?;
                }
            }
            let mut next = match tell_time(&meta, &boot, &*clock, &store, trusts_clock) {
                Ok(next) => next,
                Err(error) => return Ok(Err(error)),
            };
            next.place = place;
            if !is_whole {
                next.mark.generation = draw_generation()?;
            }
            let live = Identity { origin: [next.mark.generation, 0, 0], ..Identity::default() };
            let moment = Moment { now: next.last_now, live, sent };
            let (value, is_changed) = work(&transaction, &moment)?;
            if !is_changed && is_whole {
                return Ok(Ok(Done::Value(value)));
            }
            let highest = said.map_or(0, |said| said.mark.revision).max(meta.mark.revision);
            next.mark.revision = highest.saturating_add(1);
            write_meta(&transaction, &next)?;
            if !gate.pass() {
                return Ok(Err(gave_up()));
            }
            if let Err(error) = transaction.commit() {
                return Ok(Ok(Done::Uncommitted(error)));
            }
            let written = Times::of(&path).and_then(|times| side_car.write(Said { mark: next.mark, times }));
            match written {
                Ok(()) => {
                    mark = None;
                    Ok(Ok(Done::Value(value)))
                }
                Err(source) => {
                    mark = None;
                    Ok(Err(Error::UnknownOutcome { store: store.clone(), request, source: source.into() }))
                }
            }
        })();
        // What was begun and undone may have changed the file: that isn't what a file looks like that was put back.
        if let (Some(mark), false) = (mark, matches!(done, Ok(Ok(Done::Value(_))))) {
            let _ = Times::of(&path).and_then(|times| side_car.write(Said { mark, times }));
        }
        match done {
            Ok(Ok(Done::Value(value))) => Ok(value),
            Ok(Err(error)) => Err(error.into()),
            Ok(Ok(Done::Replaced)) => {
                self.open = None;
                Err(Failure::Again(RowError::Changed))
            }
            Ok(Ok(Done::Uncommitted(error))) => {
                // Whoever opens the file next finds out what became of it, from the journal.
                let is_harmless = is_busy(&error) || code(&error) == Some(ErrorCode::DiskFull);
                self.open = None;
                if is_busy(&error) {
                    Err(Failure::Again(error.into()))
                } else if is_harmless {
                    Err(self.fault(request, error.into()).into())
                } else {
                    Err(Error::UnknownOutcome { store, request, source: error.into() }.into())
                }
            }
            Err(RowError::Sqlite(error)) if is_busy(&error) => Err(Failure::Again(error.into())),
            Err(error) => {
                self.open = None;
                Err(self.fault(request, error).into())
            }
        }
    }

    /// The open file; opened anew where the path leads to another one by now.
    fn opened(&mut self, may_create: bool) -> Result<&mut Opened, Error> {
        let store = self.store();
        let unreachable =
            |source: std::io::Error| Error::Unreachable { store: store.clone(), source: source.into() };
        let path = self.settings.path.clone();
        let before = Place::of(&path).map_err(unreachable)?;
        if self.open.as_ref().map(|open| open.place) != before || self.open.is_none() {
            self.open = None;
            let connection = connect(&path, may_create).map_err(|error| self.fault("open", error.into()))?;
            // Read and compared again, so that this is the file that was opened.
            let place = Place::of(&path).map_err(unreachable)?;
            let is_same = before.is_none() && may_create || before == place;
            let Some(place) = place.filter(|_| is_same) else {
                return Err(Error::FileReplaced { store });
            };
            self.open = Some(Opened { connection, place });
        }
        self.open.as_mut().ok_or(Error::FileReplaced { store })
    }

    /// Nothing is written into a file, nor beside it, that is another program's. `is_ours_expected` refuses a file without any tables
    /// too.
    fn refuse_foreign(&self, is_ours_expected: bool) -> Result<(), Error> {
        let store = self.store();
        if Place::of(&self.settings.path).ok().flatten().is_none() {
            return Ok(());
        }
        match tables_of(&self.settings.path) {
            Ok(Tables::Ours) => Ok(()),
            Ok(Tables::None) if !is_ours_expected => Ok(()),
            Ok(Tables::Foreign) if !is_ours_expected => Err(Error::Unsafe {
                store,
                what: "the file has tables of another program; give the store a file of its own".to_owned(),
            }),
            Ok(_) => Err(Error::NoSchema { store }),
            Err(error) => Err(self.fault("open", error.into())),
        }
    }

    fn refuse_remote(&self) -> Result<(), Error> {
        if self.settings.allows_unsafe {
            return Ok(());
        }
        match remote_file_system(&self.settings.path) {
            Ok(None) => Ok(()),
            Ok(Some(name)) => Err(Error::Unsafe {
                store: self.store(),
                what: format!(
                    "the file is on {name}, whose locks and syncs can't be relied on; put it on a local disk, or use a \
                     server for several hosts"
                ),
            }),
            Err(source) => Err(Error::Unreachable { store: self.store(), source: source.into() }),
        }
    }

    /// What an error of SQLite means to a caller.
    fn fault(&self, request: &'static str, error: RowError) -> Error {
        let store = self.store();
        let error = match error {
            RowError::Io(source) => return Error::Unreachable { store, source: source.into() },
            other => other,
        };
        let kind = match &error {
            RowError::Sqlite(error) => code(error),
            RowError::Io(_) => None,
            RowError::Value(_) | RowError::TooLarge(_) | RowError::Changed => {
                return Error::Corrupt { store, what: error.to_string() };
            }
        };
        let source = error.into();
        match kind {
            Some(ErrorCode::DiskFull) => Error::Full { store, request, source },
            Some(
                ErrorCode::ReadOnly
                | ErrorCode::PermissionDenied
                | ErrorCode::AuthorizationForStatementDenied,
            ) => {
                let needs =
                    "the file and its folder must be writable, as PATH-serial and PATH-journal lie beside it";
                Error::Denied { store, needs, request, source }
            }
            Some(ErrorCode::CannotOpen) => Error::Unreachable { store, source },
            _ => Error::Database { store, request, source },
        }
    }
}

/// What a transaction does; it says whether anything was written.
type Work<'a, T> = &'a mut dyn FnMut(&Connection, &Moment) -> Result<(T, bool), RowError>;

/// How a transaction ended that no error stopped.
enum Done<T> {
    Value(T),
    /// The path leads to another file: open that.
    Replaced,
    Uncommitted(rusqlite::Error),
}

/// Whose tables a file has.
enum Tables {
    Ours,
    Foreign,
    None,
}

/// Looks into a file without writing anything anywhere, not even a lock.
fn tables_of(path: &std::path::Path) -> rusqlite::Result<Tables> {
    let escaped = path.to_string_lossy().replace('%', "%25").replace('?', "%3f").replace('#', "%23");
    let flags =
        OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(format!("file:{escaped}?immutable=1"), flags)?;
    if has_tables(&connection)? {
        return Ok(Tables::Ours);
    }
    let count: i64 = connection.query_row("SELECT count(*) FROM sqlite_master", [], |row| row.get(0))?;
    Ok(if count == 0 { Tables::None } else { Tables::Foreign })
}

/// Who keeps everybody else waiting, in words.
pub(super) fn held_by(path: &std::path::Path) -> Option<crate::error::Cause> {
    let pid = SideCar::holder(path)?;
    Some(format!("process {pid} holds the lock of the file beside it, PATH-serial").into())
}

fn connect(path: &std::path::Path, may_create: bool) -> rusqlite::Result<Connection> {
    let mut flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    flags.set(OpenFlags::SQLITE_OPEN_CREATE, may_create);
    let connection = Connection::open_with_flags(path, flags)?;
    // The side-car's lock orders ours; this is for whoever looks into the file by other means.
    connection.busy_timeout(Duration::from_millis(50))?;
    // The way of journalling stays in a file: not in one of another program.
    if may_create || has_tables(&connection)? {
        connection.pragma_update(None, "journal_mode", "TRUNCATE")?;
    }
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "fullfsync", "ON")?;
    Ok(connection)
}

fn read_rows(
    connection: &Connection,
    space: &Space,
    state: &SpaceState,
    request: &Request,
    now: UnixNanos,
) -> Result<Rows, RowError> {
    let mut read = Rows::default();
    for worker in request.workers() {
        read.named.extend(rows::worker(connection, space.id, worker)?);
    }
    if let Some(scope) = request.scope() {
        read.scopes.extend(rows::scope(connection, space.id, scope)?);
    }
    if let Some(page) = request.page() {
        read.scopes = rows::scopes(connection, space.id, page)?;
    }
    if let (Request::Acquire(ask), Some(windows)) = (request, space.windows()) {
        let tick = windows.terms.tick_down(now).unwrap_or(0);
        read.lowest = rows::lowest(connection, space.id, ask.want)?;
        read.ahead = rows::ahead(connection, space.id, state.next_worker)?;
        read.of_host = rows::of_host(connection, space.id, &ask.host, tick)?;
        read.is_nonce_known = rows::is_nonce_known(connection, space.id, ask.nonce)?;
    }
    Ok(read)
}

fn code(error: &rusqlite::Error) -> Option<ErrorCode> {
    error.sqlite_error_code()
}

fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(code(error), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}
