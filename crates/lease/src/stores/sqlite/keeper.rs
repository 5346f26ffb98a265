//! The thread's side of the store in a file: opens it, and carries out transactions.

use super::Gate;
use super::file::{Mark, Place, SideCar, Stored, is_whole, jitter_nanos, remote_file_system, sync_folder};
use super::meta::{Meta, boot_text, draw_generation, has_tables, read_meta, tell_time, write_meta};
use super::rows::{self, RowError};
use crate::clock::HostClock;
use crate::error::Error;
use crate::identity::Identity;
use crate::request::{Answered, Caller, Request, Shown};
use crate::rules::{created, decide};
use crate::space::{Kind, Space};
use crate::state::{Rows, Seen, SpaceState, Witness};
use crate::store::{CheckLine, CreateOptions, Deadline, PROTOCOL, anchor, expected};
use crate::window::check_clock;
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
        self.transact(request.name(), deadline, gate, &mut |connection, moment| {
            let Some(state) = rows::state(connection, space.id)? else {
                return Ok((Err(Error::SpaceGone { space: space.name.clone() }), false));
            };
            let read = read_rows(connection, space, &state, request, moment.now)?;
            let expected = expected(caller, &*clock);
            let seen = Seen { now: moment.now, live: moment.live, expected, witness: caller.witness };
            let decision = decide(&space.kind, &state, &seen, request, &read);
            if let Some(next) = &decision.state {
                rows::write_state(connection, space.id, state.serial, next)?;
            }
            for write in &decision.rows {
                rows::write_worker(connection, space.id, write)?;
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
        self.upgrade(deadline, gate)?;
        let clock = Arc::clone(&self.settings.clock);
        self.transact("create", deadline, gate, &mut |connection, moment| {
            let spaces = rows::spaces(connection, Some(&space.name))?;
            let name = || space.name.clone();
            if let Some(found) = spaces.iter().find(|found| found.dropped.is_none()) {
                return Ok(match found.space.difference(space) {
                    None => (Ok(found.space.clone()), false),
                    Some(difference) => (Err(Error::SpaceDiffers { space: name(), difference }), false),
                });
            }
            if let Err(fault) = space.validate(moment.now) {
                return Ok((Err(Error::SpaceFault { space: name(), fault }), false));
            }
            let caller = Caller { trusts_clock: options.trusts_clock, ..Caller::default() };
            let expected = expected(&caller, &*clock);
            let seen = Seen { now: moment.now, live: moment.live, expected, witness: Witness::default() };
            if let Kind::Windows(windows) = &space.kind
                && let Err(refusal) = check_clock(&windows.terms, &seen)
            {
                let (now, events) = (moment.now, Vec::new());
                return Ok((Err(Error::Refused { space: name(), refusal, now, events }), false));
            }
            let before = spaces.first().map(|found| (&found.space, &found.state));
            let (state, _) = created(space, &seen, before, options.restart_hold);
            rows::insert_space(connection, space, &state)?;
            Ok((Ok(space.clone()), true))
        })?
    }

    /// Leaves a tombstone. Rule 19.
    pub(super) fn drop_space(&mut self, name: &str, deadline: Deadline, gate: &Gate) -> Result<(), Error> {
        let store = self.store();
        self.transact("drop", deadline, gate, &mut |connection, moment| {
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
        self.transact(request, deadline, &Gate::default(), &mut |connection, moment| {
            let mut all = Vec::new();
            for found in rows::spaces(connection, name)? {
                let workers =
                    if with_workers { rows::workers(connection, found.space.id)? } else { Vec::new() };
                let (now, dropped) = (moment.now, found.dropped);
                all.push(Shown { space: found.space, state: found.state, workers, now, dropped });
            }
            Ok((all, false))
        })
    }

    /// What leases rely on.
    pub(super) fn check(&mut self, deadline: Deadline) -> Result<Vec<CheckLine>, Error> {
        let wall = self.settings.clock.wall();
        let boot = self.settings.clock.boot_id();
        let mut lines = self.transact("check", deadline, &Gate::default(), &mut |connection, moment| {
            let pragma = |name| connection.pragma_query_value(None, name, |row| row.get::<_, String>(0));
            let journal = pragma("journal_mode")?;
            let synchronous: i64 = connection.pragma_query_value(None, "synchronous", |row| row.get(0))?;
            let off = moment.now.0.abs_diff(wall.0);
            let line = |what, is_good, found| CheckLine { what, is_good, found };
            let lines = vec![
                line("durability", synchronous >= 2, format!("journal {journal}, synchronous {synchronous}")),
                line(
                    "clock",
                    off < 1_000_000_000,
                    format!("the store says {}, the wall clock {wall}", moment.now),
                ),
                line("version", true, format!("tables of protocol {PROTOCOL}")),
            ];
            Ok((lines, false))
        })?;
        let what = "boot";
        let found = if boot == 0 { "can't be told, so the wall clock is believed" } else { "known" };
        lines.push(CheckLine { what, is_good: boot != 0, found: found.to_owned() });
        Ok(lines)
    }

    /// Makes the tables where they are missing. Any number of processes may do so at once. Rule 19.
    pub(super) fn upgrade(&mut self, deadline: Deadline, gate: &Gate) -> Result<(), Error> {
        let store = self.store();
        let unreachable =
            |source: std::io::Error| Error::Unreachable { store: store.clone(), source: source.into() };
        self.refuse_remote()?;
        let path = self.settings.path.clone();
        let Some(side_car) = SideCar::lock(&path, deadline).map_err(unreachable)? else {
            return Err(Error::Deadline { store, request: "upgrade", source: None });
        };
        let is_new = Place::of(&path).map_err(unreachable)?.is_none();
        self.open = None;
        let clock = Arc::clone(&self.settings.clock);
        let open = self.opened(true)?;
        let made = (|| -> Result<bool, RowError> {
            let connection = &mut open.connection;
            let place = open.place;
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            if has_tables(&transaction)? {
                return Ok(false);
            }
            transaction.execute_batch(include_str!("schema.sql"))?;
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
            side_car.write(mark).map_err(|error| RowError::Value(error.to_string()))?;
            Ok(true)
        })();
        made.map_err(|error| self.fault("upgrade", error))?;
        if is_new {
            sync_folder(&path).map_err(unreachable)?;
        }
        Ok(())
    }

    /// Reads, decides and writes in one transaction, and tries again while that is of use. `work` says whether anything was
    /// written.
    fn transact<T>(
        &mut self,
        request: &'static str,
        deadline: Deadline,
        gate: &Gate,
        work: Work<'_, T>,
    ) -> Result<T, Error> {
        let mut wait = 1_000_000;
        loop {
            match self.attempt(request, deadline, gate, work) {
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
        work: Work<'_, T>,
    ) -> Result<T, Failure> {
        let store = self.store();
        let unreachable =
            |source: std::io::Error| Error::Unreachable { store: store.clone(), source: source.into() };
        let gave_up = || Error::Deadline { store: store.clone(), request, source: None };
        if Place::of(&self.settings.path).map_err(unreachable)?.is_none() {
            let was_open = self.open.take().is_some();
            return Err(if was_open {
                Error::FileReplaced { store }.into()
            } else {
                Error::NoSchema { store }.into()
            });
        }
        self.refuse_remote()?;
        let side_car = SideCar::lock(&self.settings.path, deadline).map_err(unreachable)?;
        let side_car = side_car.ok_or_else(gave_up)?;
        let clock = Arc::clone(&self.settings.clock);
        self.opened(false)?;
        let Some(open) = &mut self.open else { return Err(gave_up().into()) };
        let place = open.place;
        let sent = clock.boottime_nanos();
        let done = (|| -> Result<Result<Done<T>, Error>, RowError> {
            let behavior = TransactionBehavior::Immediate;
            let transaction = open.connection.transaction_with_behavior(behavior)?;
            // Under the lock: nobody replaces the file by our own means now.
            if Place::of(&self.settings.path).ok().flatten() != Some(place) {
                return Ok(Ok(Done::Replaced));
            }
            let meta = match read_meta(&transaction, &store)? {
                Ok(meta) => meta,
                Err(error) => return Ok(Err(error)),
            };
            let boot = boot_text(&*clock);
            let stored = Stored { mark: meta.mark, place: meta.place, is_same_boot: boot == meta.boot };
            let said = side_car.read().map_err(io_value)?;
            let is_whole = is_whole(&stored, said, place);
            if is_whole && said != Some(meta.mark) {
                // A crash between commit and answer left the side-car behind; it must not fall back further.
                side_car.write(meta.mark).map_err(io_value)?;
            }
            let mut next = match tell_time(&meta, &boot, &*clock, &store) {
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
            let highest = said.map_or(0, |said| said.revision).max(meta.mark.revision);
            next.mark.revision = highest.saturating_add(1);
            write_meta(&transaction, &next)?;
            if !gate.pass() {
                return Ok(Err(gave_up()));
            }
            if let Err(error) = transaction.commit() {
                return Ok(Ok(Done::Uncommitted(error)));
            }
            match side_car.write(next.mark) {
                Ok(()) => Ok(Ok(Done::Value(value))),
                Err(source) => {
                    Ok(Err(Error::UnknownOutcome { store: store.clone(), request, source: source.into() }))
                }
            }
        })();
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
        let kind = match &error {
            RowError::Sqlite(error) => code(error),
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
            ) => Error::Denied { store, request, source },
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

fn connect(path: &std::path::Path, may_create: bool) -> rusqlite::Result<Connection> {
    let mut flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    flags.set(OpenFlags::SQLITE_OPEN_CREATE, may_create);
    let connection = Connection::open_with_flags(path, flags)?;
    // The side-car's lock orders ours; this is for whoever looks into the file by other means.
    connection.busy_timeout(Duration::from_millis(50))?;
    connection.pragma_update(None, "journal_mode", "TRUNCATE")?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "fullfsync", "ON")?;
    connection.query_row("SELECT count(*) FROM sqlite_master", [], |_| Ok(()))?;
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
    if let (Request::Acquire(ask), Some(windows)) = (request, space.windows()) {
        let tick = windows.terms.tick_down(now).unwrap_or(0);
        read.lowest = rows::lowest(connection, space.id, ask.want)?;
        read.ahead = rows::ahead(connection, space.id, state.next_worker)?;
        read.of_host = rows::of_host(connection, space.id, &ask.host, tick)?;
        read.is_nonce_known = rows::is_nonce_known(connection, space.id, ask.nonce)?;
    }
    Ok(read)
}

fn io_value(error: std::io::Error) -> RowError {
    RowError::Value(format!("the side-car ({error})"))
}

fn code(error: &rusqlite::Error) -> Option<ErrorCode> {
    error.sqlite_error_code()
}

fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(code(error), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}
