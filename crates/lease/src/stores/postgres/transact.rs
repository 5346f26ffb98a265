//! One request as one transaction of two round trips. Rules 10, 11 and 17.

use super::connect::Taken;
use super::rows::{Uuid, micros, read, scope_of, state_of, whole, worker_of, write};
use super::statement::{Statement, Uncommitted};
use super::{Failure, Postgres};
use crate::error::Error;
use crate::identity::Identity;
use crate::request::{Answered, Caller, MAX_PAGE, Request};
use crate::rules::decide;
use crate::space::{Space, SpaceId};
use crate::state::{Rows, ScopeName, Seen};
use crate::store::{Deadline, anchor, expected, keeps_holds, known_protocol};
use mintage::UnixNanos;
use std::time::Duration;
use tokio_postgres::SimpleQueryRow as Row;

/// What a transaction sees besides the space's rows: see [`MOMENT`].
pub(super) struct Moment {
    pub(super) now: UnixNanos,
    pub(super) live: Identity,
    pub(super) protocol: u64,
    pub(super) has_fsync: bool,
}

/// The server's time and identity, its version of the tables, and the setting that makes a commit durable: raised where it is too
/// weak, and left where it is stronger. After a promotion `pg_walfile_name` has the new timeline at once, which other views
/// show only after a checkpoint. Rules 10 and 17.
const MOMENT: &str = "(extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS now, \
     (SELECT system_identifier FROM pg_control_system()) AS system, \
     ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::bigint AS timeline, \
     'mintage.state'::regclass::oid::bigint AS object, \
     (extract(epoch FROM pg_postmaster_start_time()) * 1000000)::bigint AS started, \
     (SELECT protocol FROM mintage.meta)::bigint AS protocol, \
     current_setting('fsync') = 'on' AS has_fsync, \
     set_config('synchronous_commit', CASE WHEN current_setting('synchronous_commit') IN ('off', 'local', 'remote_write') \
     THEN 'on' ELSE current_setting('synchronous_commit') END, true) AS durability";

/// Longest that a transaction may stand between its round trips: a client that is stopped there must not hold the space's row.
const IDLE: Duration = Duration::from_secs(5);

/// The beginning of each transaction. The server gives up when the caller does.
pub(super) fn begin(deadline: Deadline) -> String {
    let left = deadline.left().as_millis().max(1);
    let idle = left.min(IDLE.as_millis());
    format!(
        "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; SET LOCAL statement_timeout = {left}; \
         SET LOCAL lock_timeout = {left}; SET LOCAL idle_in_transaction_session_timeout = {idle};"
    )
}

/// [`MOMENT`] as a statement; with a space, whether it is in use.
pub(super) fn moment_statement(space: Option<SpaceId>) -> Statement {
    let in_use = "EXISTS (SELECT FROM mintage.space WHERE \"id\" = $1 AND \"dropped\" IS NULL) AS in_use";
    match space {
        Some(id) => Statement::new(format!("SELECT {MOMENT}, {in_use}")).with(Uuid(id.0)),
        None => Statement::new(format!("SELECT {MOMENT}")),
    }
}

/// Reads what a rule must see of workers or of scopes.
fn rows_of(space: &Space, request: &Request) -> Statement {
    if let Some(scopes) = scopes(space, request) {
        return scopes;
    }
    const WORKER: &str = "SELECT \"worker\", \"mark\", \"from_tick\", \"serial\", \"nonce\", \"host\", \"is_burned\" FROM mintage.worker \
         WHERE \"space\" = $1";
    let of_space = |sql: String| Statement::new(sql).with(Uuid(space.id.0));
    let Request::Acquire(ask) = request else {
        // A worker that no column holds has no row.
        let workers = request.workers().into_iter().filter_map(|worker| i64::try_from(worker).ok());
        let mut named = of_space(format!("{WORKER} AND \"worker\" = ANY ($2)"));
        named.add_all("int8[]", workers);
        return named;
    };
    let quota = space.windows().map_or(0, |windows| i64::from(windows.terms.host_quota));
    // One statement for what a grant must see, as each costs time of its own. Of the host's leases the highest ones: those above the present
    // tick are chosen once the server's time is known.
    let sql = format!(
        "SELECT 'lowest' AS seen_as, * FROM ({WORKER} AND NOT \"is_burned\" ORDER BY \"mark\", \"worker\" LIMIT $2) AS lowest UNION ALL \
         SELECT 'ahead', * FROM ({WORKER} AND \"worker\" >= (SELECT \"next_worker\" FROM mintage.state WHERE \"space\" = $1) \
         ORDER BY \"worker\") AS ahead UNION ALL \
         SELECT 'of_host', * FROM ({WORKER} AND \"host\" = $3 ORDER BY \"mark\" DESC LIMIT $4) AS of_host UNION ALL \
         SELECT 'nonce', * FROM ({WORKER} AND \"nonce\" = $5 LIMIT 1) AS nonce"
    );
    of_space(sql).with(i64::from(ask.want)).with(ask.host.as_str()).with(quota).with(Uuid(ask.nonce.0))
}

/// Reads what a rule must see of scopes, where it is about them.
fn scopes(space: &Space, request: &Request) -> Option<Statement> {
    const SCOPE: &str = "SELECT \"scope\", \"next\", \"jumped\", \"serial\", \"nonce\" FROM mintage.scope WHERE \"space\" = $1";
    space.scopes()?;
    let of_space = |sql: String| Statement::new(sql).with(Uuid(space.id.0));
    if let Some(scope) = request.scope() {
        return Some(of_space(format!("{SCOPE} AND \"scope\" = $2")).with(scope.as_str()));
    }
    let page = request.page()?;
    // No name is empty, so that each comes after the empty text.
    let after = page.after.as_ref().map_or("", ScopeName::as_str);
    let sql = format!("{SCOPE} AND \"scope\" > $2 ORDER BY \"scope\" LIMIT $3");
    Some(of_space(sql).with(after).with(i64::from(page.most.min(MAX_PAGE))))
}

/// What the first round trip brought.
struct Read {
    state: Vec<Row>,
    moment: Vec<Row>,
    rows: Vec<Row>,
}

/// The first round trip: the lock before all else. Each statement after it sees what was committed before it was had.
async fn first_trip(
    taken: &Taken<'_>,
    begin: &str,
    space: &Space,
    request: &Request,
) -> Result<Read, tokio_postgres::Error> {
    let lock =
        Statement::new("SELECT * FROM mintage.state WHERE \"space\" = $1 FOR UPDATE").with(Uuid(space.id.0));
    let (moment, rows) = (moment_statement(Some(space.id)), rows_of(space, request));
    let mut sets = taken.run(begin, &[&lock, &moment, &rows]).await?.into_iter();
    let mut next = || sets.next().unwrap_or_default();
    Ok(Read { state: next(), moment: next(), rows: next() })
}

impl Read {
    fn rows(&self, space: &Space, request: &Request, now: UnixNanos) -> Result<Rows, String> {
        let mut rows = Rows::default();
        if space.scopes().is_some() && (request.scope().is_some() || request.page().is_some()) {
            rows.scopes = self.rows.iter().map(scope_of).collect::<Result<_, _>>()?;
            return Ok(rows);
        }
        if !matches!(request, Request::Acquire(_)) {
            rows.named = self.rows.iter().map(worker_of).collect::<Result<_, _>>()?;
            return Ok(rows);
        }
        let tick = space.windows().map_or(0, |windows| windows.terms.tick_down(now).unwrap_or(0));
        for row in &self.rows {
            let worker = worker_of(row)?;
            match read::<String>(row, "seen_as")?.as_str() {
                "lowest" => rows.lowest.push(worker),
                "ahead" => rows.ahead.push(worker.worker),
                "of_host" if worker.mark > tick => rows.of_host.push(worker.mark),
                "of_host" => {}
                _ => rows.is_nonce_known = true,
            }
        }
        // The statement orders its parts, but SQL doesn't promise the order of what is put together from them.
        rows.lowest.sort_by_key(|row| (row.mark, row.worker));
        rows.ahead.sort_unstable();
        rows.of_host.sort_unstable();
        Ok(rows)
    }
}

impl Postgres {
    pub(super) async fn try_ask(
        &self,
        space: &Space,
        caller: &Caller,
        request: &Request,
        deadline: Deadline,
    ) -> Result<Answered, Failure> {
        let word = request.name();
        let taken = self.connections.take(deadline).await.map_err(|error| self.unreachable(error))?;
        let sent = self.clock.boottime_nanos();
        let begin = begin(deadline);
        let trip = first_trip(&taken, &begin, space, request);
        let read = match tokio::time::timeout_at(deadline.0, trip).await {
            Err(_) => return Err(self.late(word)),
            Ok(Err(error)) => return Err(self.before_commit(word, error)),
            Ok(Ok(read)) => read,
        };
        let moment = self.moment(&read.moment)?;
        let anchor = anchor(moment.now, sent, &*self.clock);
        let expected = expected(caller, &*self.clock);
        let in_use: bool = match read.moment.first() {
            Some(row) => super::rows::read(row, "in_use").map_err(|what| self.corrupt(what))?,
            None => false,
        };
        let (true, Some(row)) = (in_use, read.state.first()) else {
            self.roll_back(taken, deadline).await;
            return Err(Error::SpaceGone { space: space.name.clone() }.into());
        };
        let state = state_of(row).map_err(|what| self.corrupt(what))?;
        let rows = read.rows(space, request, moment.now).map_err(|what| self.corrupt(what))?;
        let seen = Seen { now: moment.now, live: moment.live, expected, witness: caller.witness };
        let decision = decide(&space.kind, &state, &seen, request, &rows);
        match &decision.state {
            None => self.roll_back(taken, deadline).await,
            Some(next) => {
                let hold = decision.hold(moment.now).filter(|_| keeps_holds(moment.protocol));
                let statement =
                    write(space.id, &state, next, &decision, hold).map_err(|what| self.corrupt(what))?;
                self.write_and_commit(word, taken, &statement, deadline).await?;
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
        statement: &Statement,
        deadline: Deadline,
    ) -> Result<(), Failure> {
        match tokio::time::timeout_at(deadline.0, taken.commit(statement)).await {
            Err(elapsed) => Err(self.unknown(request, elapsed)),
            Ok(Ok(())) => {
                taken.give_back();
                Ok(())
            }
            Ok(Err(Uncommitted::Refused(error))) => Err(self.before_commit(request, error)),
            Ok(Err(Uncommitted::Unknown(error))) => Err(self.unknown(request, error)),
        }
    }

    /// Ends a transaction that wrote nothing. A connection that doesn't end it in time is closed.
    pub(super) async fn roll_back(&self, taken: Taken<'_>, deadline: Deadline) {
        let ended = tokio::time::timeout_at(deadline.0, taken.client.batch_execute("ROLLBACK")).await;
        if matches!(ended, Ok(Ok(()))) {
            taken.give_back();
        }
    }

    /// Reads [`MOMENT`], and refuses a server that may lose what it acknowledged, or whose tables are of another version.
    pub(super) fn moment(&self, rows: &[Row]) -> Result<Moment, Failure> {
        let moment = rows.first().map(moment_of).unwrap_or_else(|| Err("no time".to_owned()));
        let moment = moment.map_err(|what| self.corrupt(what))?;
        known_protocol(&self.url, moment.protocol)?;
        if !moment.has_fsync && !self.allows_unsafe {
            let what = "fsync is off, so a crash of the server can bring back windows and blocks that were handed out; turn \
                        it on, or say --allow-unsafe where ids need not be unique";
            return Err(Error::Unsafe { store: self.store(), what: what.to_owned() }.into());
        }
        Ok(moment)
    }
}

fn moment_of(row: &Row) -> Result<Moment, String> {
    let system: i64 = read(row, "system")?;
    Ok(Moment {
        now: micros(row, "now")?,
        live: Identity {
            origin: [system.cast_unsigned(), whole(row, "object")?, 0],
            timeline: whole(row, "timeline")?,
            revision: 0,
            started: Some(micros(row, "started")?),
        },
        protocol: whole(row, "protocol")?,
        has_fsync: read(row, "has_fsync")?,
    })
}
