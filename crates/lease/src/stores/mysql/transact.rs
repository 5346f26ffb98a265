//! One request as one transaction of two round trips. Rules 10, 11 and 17.

use super::MySql;
use super::connect::{Session, Taken};
use super::rows::{SCOPE, WORKER, state_columns, write};
use super::standing::{Noted, Standing};
use super::statement::{Literal, Uncommitted};
use crate::error::Error;
use crate::identity::Identity;
use crate::request::{Answered, Caller, MAX_PAGE, Request};
use crate::rules::decide;
use crate::space::{Space, SpaceId};
use crate::state::{Rows, ScopeName, Seen, WorkerRow};
use crate::store::{Deadline, anchor, expected, keeps_holds, known_protocol};
use crate::stores::attempt::{Again, Failure};
use crate::stores::columns::{Uuid, micros, read, read_or_null, scope_of, state_of, whole, worker_of};
use mintage::{Entropy, SystemEntropy, UnixNanos};
use mysql_async::Row;

/// What a transaction sees besides the space's rows.
pub(super) struct Moment {
    pub(super) now: UnixNanos,
    pub(super) live: Identity,
    pub(super) durability: Durability,
    /// The version of the tables.
    pub(super) protocol: u64,
}

/// The settings that make a commit durable. Rule 10.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Durability {
    /// `innodb_flush_log_at_trx_commit`.
    pub(super) flush: u64,
    /// `sync_binlog`; `None` without a binary log.
    pub(super) binlog: Option<u64>,
}

impl Durability {
    pub(super) fn is_full(self) -> bool {
        self.flush == 1 && self.binlog.is_none_or(|sync| sync == 1)
    }
}

/// The server's time and what it is, with the version of the tables and the settings that count. `UTC_TIMESTAMP` is the time at which
/// its statement began, and statements of a message begin one after the other: this one after the lock was had. What follows
/// from it is written as literals, so that a replica that carries out statements writes the same.
pub(super) fn moment(session: &Session, space: Option<SpaceId>) -> String {
    let in_use = space.map_or_else(String::new, |id| {
        let id = Literal::from(Uuid(id.0));
        format!(", EXISTS (SELECT 1 FROM `mintage_space` WHERE `id` = {id} AND `dropped` IS NULL) AS in_use")
    });
    format!(
        "SELECT TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) AS now, m.`protocol`, {}, {}, \
         @@global.innodb_flush_log_at_trx_commit AS flush, @@global.sync_binlog AS sync_binlog, @@global.log_bin AS log_bin, \
         @@global.read_only AS read_only{in_use} FROM `mintage_meta` m WHERE m.`one` = 1",
        Noted::COLUMNS,
        Standing::columns(session.flavor)
    )
}

/// Whether what a rule must see are rows of scopes.
fn is_about_scopes(space: &Space, request: &Request) -> bool {
    space.scopes().is_some() && (request.scope().is_some() || request.page().is_some())
}

/// The statement that reads what a rule must see of scopes.
fn scopes(id: &Literal, request: &Request) -> String {
    let of_space = format!("SELECT {SCOPE} FROM `mintage_scope` WHERE `space` = {id}");
    if let Some(scope) = request.scope() {
        return format!("{of_space} AND `scope` = {}", Literal::from(scope.as_str().as_bytes()));
    }
    let page = request.page();
    // No name is empty, so that each comes after the empty text.
    let after = page.and_then(|page| page.after.as_ref()).map_or("", ScopeName::as_str);
    let most = page.map_or(0, |page| page.most.min(MAX_PAGE));
    let after = Literal::from(after.as_bytes());
    format!("{of_space} AND `scope` > {after} ORDER BY `scope` LIMIT {most}")
}

/// The statements that read what a rule must see of workers or scopes, in the order of [`Read`]'s fields.
fn reads(space: &Space, request: &Request) -> Vec<String> {
    let id = Literal::from(Uuid(space.id.0));
    if is_about_scopes(space, request) {
        return vec![scopes(&id, request)];
    }
    let Request::Acquire(ask) = request else {
        // A worker that no column holds has no row.
        let workers = request.workers().into_iter().filter(|worker| i64::try_from(*worker).is_ok());
        let mut named: Vec<String> = workers.map(|worker| worker.to_string()).collect();
        if named.is_empty() {
            named.push("NULL".to_owned());
        }
        let named = named.join(", ");
        return vec![format!(
            "SELECT {WORKER} FROM `mintage_worker` WHERE `space` = {id} AND `worker` IN ({named})"
        )];
    };
    let quota = space.windows().map_or(0, |windows| windows.terms.host_quota);
    let (host, nonce) = (Literal::from(ask.host.as_str()), Literal::from(Uuid(ask.nonce.0)));
    vec![
        format!(
            "SELECT {WORKER} FROM `mintage_worker` WHERE `space` = {id} AND NOT `is_burned` ORDER BY `mark`, `worker` LIMIT {}",
            ask.want
        ),
        format!(
            "SELECT `worker` FROM `mintage_worker` WHERE `space` = {id} AND `worker` >= (SELECT `next_worker` FROM `mintage_state` \
             WHERE `space` = {id}) ORDER BY `worker`"
        ),
        // The highest ones: those above the present tick are chosen once the server's time is known.
        format!(
            "SELECT `mark` FROM `mintage_worker` WHERE `space` = {id} AND `host` = {host} ORDER BY `mark` DESC LIMIT {quota}"
        ),
        format!(
            "SELECT EXISTS (SELECT 1 FROM `mintage_worker` WHERE `space` = {id} AND `nonce` = {nonce}) AS known"
        ),
    ]
}

/// What the first round trip brought.
#[derive(Default)]
struct Read {
    state: Vec<Row>,
    moment: Vec<Row>,
    named: Vec<Row>,
    lowest: Vec<Row>,
    ahead: Vec<Row>,
    of_host: Vec<Row>,
    nonce: Vec<Row>,
    scopes: Vec<Row>,
}

/// The first round trip: the lock before all else. Each statement after it sees what was committed before it was had.
async fn first_trip(
    taken: &mut Taken<'_>,
    space: &Space,
    request: &Request,
    deadline: Deadline,
) -> Result<Read, mysql_async::Error> {
    let mut statements = taken.session.begin(deadline);
    let begun = statements.len();
    let id = Literal::from(Uuid(space.id.0));
    statements
        .push(format!("SELECT {} FROM `mintage_state` WHERE `space` = {id} FOR UPDATE", state_columns()));
    statements.push(moment(&taken.session, Some(space.id)));
    statements.extend(reads(space, request));
    let mut sets = taken.run(&statements).await?.into_iter().skip(begun);
    let mut next = || sets.next().unwrap_or_default();
    let read = Read { state: next(), moment: next(), ..Read::default() };
    Ok(if is_about_scopes(space, request) {
        Read { scopes: next(), ..read }
    } else if matches!(request, Request::Acquire(_)) {
        Read { lowest: next(), ahead: next(), of_host: next(), nonce: next(), ..read }
    } else {
        Read { named: next(), ..read }
    })
}

impl Read {
    fn rows(&self, space: &Space, now: UnixNanos) -> Result<Rows, String> {
        let workers = |rows: &[Row]| rows.iter().map(worker_of).collect::<Result<Vec<WorkerRow>, String>>();
        let tick = space.windows().map_or(0, |windows| windows.terms.tick_down(now).unwrap_or(0));
        let marks = self.of_host.iter().map(|row| whole(row, "mark")).collect::<Result<Vec<u64>, _>>()?;
        let is_nonce_known = match self.nonce.first() {
            Some(row) => read(row, "known")?,
            None => false,
        };
        Ok(Rows {
            named: workers(&self.named)?,
            lowest: workers(&self.lowest)?,
            ahead: self.ahead.iter().map(|row| whole(row, "worker")).collect::<Result<_, _>>()?,
            of_host: marks.into_iter().rev().filter(|mark| *mark > tick).collect(),
            is_nonce_known,
            scopes: self.scopes.iter().map(scope_of).collect::<Result<_, _>>()?,
        })
    }
}

impl MySql {
    pub(super) async fn try_ask(
        &self,
        space: &Space,
        caller: &Caller,
        request: &Request,
        deadline: Deadline,
    ) -> Result<Answered, Failure> {
        let word = request.name();
        let mut taken = self.connections.take(deadline).await.map_err(|error| self.unreachable(error))?;
        let sent = self.clock.boottime_nanos();
        let trip = first_trip(&mut taken, space, request, deadline);
        let read = match tokio::time::timeout_at(deadline.0, trip).await {
            Err(_) => return Err(self.late(word)),
            Ok(Err(error)) => return Err(self.before_commit(word, error)),
            Ok(Ok(read)) => read,
        };
        let (taken, moment) = self.recognised(word, taken, &read.moment, deadline).await?;
        let anchor = anchor(moment.now, sent, &*self.clock);
        let expected = expected(caller, &*self.clock);
        let in_use: bool = match read.moment.first() {
            Some(row) => crate::stores::columns::read(row, "in_use").map_err(|what| self.corrupt(what))?,
            None => false,
        };
        let (true, Some(row)) = (in_use, read.state.first()) else {
            self.roll_back(taken, deadline).await;
            return Err(Error::SpaceGone { space: space.name.clone() }.into());
        };
        let state = state_of(row).map_err(|what| self.corrupt(what))?;
        let rows = read.rows(space, moment.now).map_err(|what| self.corrupt(what))?;
        let seen = Seen { now: moment.now, live: moment.live, expected, witness: caller.witness };
        let decision = decide(&space.kind, &state, &seen, request, &rows);
        match &decision.state {
            None => self.roll_back(taken, deadline).await,
            Some(next) => {
                let hold = decision.hold(moment.now).filter(|_| keeps_holds(moment.protocol));
                let statements = write(space.id, state.serial, next, &decision, hold)
                    .map_err(|what| self.corrupt(what))?;
                self.write_and_commit(word, taken, &statements, deadline).await?;
            }
        }
        let (events, serial, now) = (decision.events, decision.serial, moment.now);
        match decision.answer {
            Ok(answer) => Ok(Answered { answer, anchor, serial, events }),
            Err(refusal) => Err(Error::Refused { space: space.name.clone(), refusal, now, events }.into()),
        }
    }

    /// The second round trip. From here on, only an answer tells what became of it. Rule 10.
    pub(super) async fn write_and_commit(
        &self,
        request: &'static str,
        taken: Taken<'_>,
        statements: &[String],
        deadline: Deadline,
    ) -> Result<(), Failure> {
        self.write_and_keep(request, taken, statements, deadline).await.map(Taken::give_back)
    }

    /// The same, with the connection still in use.
    pub(super) async fn write_and_keep<'t>(
        &self,
        request: &'static str,
        mut taken: Taken<'t>,
        statements: &[String],
        deadline: Deadline,
    ) -> Result<Taken<'t>, Failure> {
        match tokio::time::timeout_at(deadline.0, taken.commit(statements)).await {
            Err(elapsed) => Err(self.unknown(request, elapsed)),
            Ok(Ok(())) => Ok(taken),
            Ok(Err(Uncommitted::Refused(error))) => Err(self.before_commit(request, error)),
            Ok(Err(Uncommitted::Unknown(error))) => Err(self.unknown(request, error)),
        }
    }

    /// Ends a transaction that wrote nothing. A connection that doesn't end it in time is closed.
    pub(super) async fn roll_back(&self, mut taken: Taken<'_>, deadline: Deadline) {
        let ended = tokio::time::timeout_at(deadline.0, taken.roll_back()).await;
        if matches!(ended, Ok(Ok(()))) {
            taken.give_back();
        }
    }

    /// Reads what [`moment`] asked for within the transaction, and gives the connection on. Refuses a server that may lose what it
    /// acknowledged, and one whose tables are of another version. Where the server isn't what was noted, that is noted first, in a transaction
    /// of its own, and the request is tried again.
    pub(super) async fn recognised<'t>(
        &self,
        request: &'static str,
        taken: Taken<'t>,
        rows: &[Row],
        deadline: Deadline,
    ) -> Result<(Taken<'t>, Moment), Failure> {
        let Some(row) = rows.first() else {
            return Err(Error::NoSchema { store: self.store() }.into());
        };
        let corrupt = |what| self.corrupt(what);
        let protocol = whole(row, "protocol").map_err(corrupt)?;
        known_protocol(&self.url, protocol)?;
        if is_on(row, "read_only").map_err(corrupt)? {
            let source = "the server is read-only by now".into();
            return Err(Failure::Again(Again { source, is_unreachable: true }));
        }
        let durability = durability_of(row).map_err(corrupt)?;
        if !durability.is_full() && !self.allows_unsafe {
            return Err(self.weak(durability).into());
        }
        if taken.session.is_galera && !self.allows_unsafe {
            let what = "a node of Galera keeps locks from its own sessions only, so two nodes may hand out one window; let one \
                        node alone be written to, and say --allow-unsafe";
            return Err(Error::Unsafe { store: self.store(), what: what.to_owned() }.into());
        }
        let (noted, standing) = (Noted::of(row).map_err(corrupt)?, Standing::of(row).map_err(corrupt)?);
        if let Some(live) = standing.identity(&noted) {
            return Ok((
                taken,
                Moment { now: micros(row, "now").map_err(corrupt)?, live, durability, protocol },
            ));
        }
        self.note(request, taken, deadline).await?;
        let source = "the server isn't what was noted of it; that is noted now".into();
        Err(Failure::Again(Again { source, is_unreachable: false }))
    }

    /// Notes what the server is, in a transaction of its own. Whoever comes second finds it noted.
    async fn note(
        &self,
        request: &'static str,
        mut taken: Taken<'_>,
        deadline: Deadline,
    ) -> Result<(), Failure> {
        self.within(request, deadline, taken.roll_back()).await?;
        let mut statements = taken.session.begin(deadline);
        let flavor = taken.session.flavor;
        statements.push("SELECT `one` FROM `mintage_meta` WHERE `one` = 1 FOR UPDATE".to_owned());
        statements.push(format!(
            "SELECT {}, {}, {} AS replicated FROM `mintage_meta` m WHERE m.`one` = 1",
            Noted::COLUMNS,
            Standing::columns(flavor),
            flavor.replicated()
        ));
        let sets = self.within(request, deadline, taken.run(&statements)).await?;
        let Some(row) = sets.last().and_then(|rows| rows.first()) else {
            return Err(Error::NoSchema { store: self.store() }.into());
        };
        let corrupt = |what| self.corrupt(what);
        let (noted, standing) = (Noted::of(row).map_err(corrupt)?, Standing::of(row).map_err(corrupt)?);
        if standing.identity(&noted).is_some() {
            self.roll_back(taken, deadline).await;
            return Ok(());
        }
        let replicated: String = read_or_null(row, "replicated").map_err(corrupt)?.unwrap_or_default();
        let next = standing.note(flavor, &noted, &replicated, draw()?);
        let statements = noted.replace(&next).map_err(corrupt)?;
        self.write_and_commit(request, taken, &statements, deadline).await
    }

    fn weak(&self, durability: Durability) -> Error {
        let setting = if durability.flush == 1 {
            "sync_binlog isn't 1"
        } else {
            "innodb_flush_log_at_trx_commit isn't 1"
        };
        let what = format!(
            "{setting}, so a crash of the server can bring back windows and blocks that were handed out; set it to 1, or say \
             --allow-unsafe where ids need not be unique"
        );
        Error::Unsafe { store: self.store(), what }
    }
}

fn draw() -> Result<u64, Error> {
    let mut bytes = [0; 8];
    SystemEntropy.fill(&mut bytes).map_err(Error::Mint)?;
    Ok(u64::from_be_bytes(bytes))
}

fn durability_of(row: &Row) -> Result<Durability, String> {
    let sync = whole(row, "sync_binlog")?;
    Ok(Durability { flush: whole(row, "flush")?, binlog: is_on(row, "log_bin")?.then_some(sync) })
}

/// Whether a setting is on, which servers spell in several ways.
fn is_on(row: &Row, column: &str) -> Result<bool, String> {
    let text: String = read(row, column)?;
    Ok(!matches!(text.as_str(), "0" | "OFF"))
}
