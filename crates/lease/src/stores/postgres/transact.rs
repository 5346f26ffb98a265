//! One request as one transaction of two round trips. Rules 10, 11 and 17.

use super::connect::Taken;
use super::rows::{Statement, Uuid, micros, read, state_of, whole, worker_of, write};
use super::{Again, Failure, Postgres};
use crate::error::Error;
use crate::identity::Identity;
use crate::request::{Answered, Caller, Request};
use crate::rules::decide;
use crate::space::{Space, SpaceId};
use crate::state::{Rows, Seen, SpaceState, WorkerRow};
use crate::store::{Deadline, PROTOCOL, anchor, expected};
use mintage::UnixNanos;
use std::time::Duration;
use tokio_postgres::types::Type;
use tokio_postgres::{Client, Row};

/// What a transaction sees besides the space's rows: see [`MOMENT`].
pub(super) struct Moment {
    pub(super) now: UnixNanos,
    pub(super) live: Identity,
    pub(super) protocol: u32,
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
         SET LOCAL lock_timeout = {left}; SET LOCAL idle_in_transaction_session_timeout = {idle}"
    )
}

/// [`MOMENT`] as a statement; with a space, whether it is in use.
pub(super) fn moment_statement(space: Option<SpaceId>) -> Statement {
    let in_use = "EXISTS (SELECT FROM mintage.space WHERE \"id\" = $1 AND \"dropped\" IS NULL) AS in_use";
    match space {
        Some(id) => Statement::new(format!("SELECT {MOMENT}, {in_use}")).with(Uuid(id.0), Type::UUID),
        None => Statement::new(format!("SELECT {MOMENT}")),
    }
}

/// Sends one statement; it is on its way once the future was polled.
pub(super) async fn query(client: &Client, statement: &Statement) -> Result<Vec<Row>, tokio_postgres::Error> {
    client.query_typed(&statement.sql, &statement.parameters()).await
}

/// The statements that read what a rule must see of workers.
struct Reads {
    named: Statement,
    lowest: Statement,
    ahead: Statement,
    of_host: Statement,
    nonce: Statement,
}

impl Reads {
    fn of(space: &Space, request: &Request) -> Self {
        const WORKER: &str = "SELECT \"worker\", \"mark\", \"from_tick\", \"serial\", \"nonce\", \"host\", \"is_burned\" FROM mintage.worker \
             WHERE \"space\" = $1";
        let of_space = |sql: String| Statement::new(sql).with(Uuid(space.id.0), Type::UUID);
        // A worker that no column holds has no row.
        let workers: Vec<i64> =
            request.workers().into_iter().filter_map(|worker| i64::try_from(worker).ok()).collect();
        let (want, host, nonce) = match request {
            Request::Acquire(ask) => (i64::from(ask.want), ask.host.clone(), ask.nonce.0),
            _ => (0, String::new(), 0),
        };
        let quota = space.windows().map_or(0, |windows| i64::from(windows.terms.host_quota));
        Self {
            named: of_space(format!("{WORKER} AND \"worker\" = ANY ($2)")).with(workers, Type::INT8_ARRAY),
            lowest: of_space(format!("{WORKER} AND NOT \"is_burned\" ORDER BY \"mark\", \"worker\" LIMIT $2"))
                .with(want, Type::INT8),
            ahead: of_space(
                "SELECT \"worker\" FROM mintage.worker WHERE \"space\" = $1 AND \"worker\" >= (SELECT \"next_worker\" FROM \
                 mintage.state WHERE \"space\" = $1) ORDER BY \"worker\""
                    .to_owned(),
            ),
            // The highest ones: those above the present tick are chosen once the server's time is known.
            of_host: of_space(
                "SELECT \"mark\" FROM mintage.worker WHERE \"space\" = $1 AND \"host\" = $2 ORDER BY \"mark\" DESC LIMIT $3"
                    .to_owned(),
            )
            .with(host, Type::TEXT)
            .with(quota, Type::INT8),
            nonce: of_space(
                "SELECT EXISTS (SELECT FROM mintage.worker WHERE \"space\" = $1 AND \"nonce\" = $2) AS known".to_owned(),
            )
            .with(Uuid(nonce), Type::UUID),
        }
    }
}

/// What the first round trip brought.
struct Read {
    state: Vec<Row>,
    moment: Vec<Row>,
    named: Vec<Row>,
    lowest: Vec<Row>,
    ahead: Vec<Row>,
    of_host: Vec<Row>,
    nonce: Vec<Row>,
}

/// The first round trip: everything is sent before anything is awaited, in this order. Each statement after the lock sees what was
/// committed before it was had.
async fn first_trip(
    client: &Client,
    begin: &str,
    lock: &Statement,
    moment: &Statement,
    reads: &Reads,
    request: &Request,
) -> Result<Read, tokio_postgres::Error> {
    let begun = client.batch_execute(begin);
    let (state, moment) = (query(client, lock), query(client, moment));
    let (mut lowest, mut ahead, mut of_host, mut nonce) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut named = Vec::new();
    let (begun, state, moment) = if matches!(request, Request::Acquire(_)) {
        let all = tokio::join!(
            biased;
            begun,
            state,
            moment,
            query(client, &reads.lowest),
            query(client, &reads.ahead),
            query(client, &reads.of_host),
            query(client, &reads.nonce)
        );
        let (begun, state, moment, first, second, third, fourth) = all;
        if let (Ok(_), Ok(_), Ok(_)) = (&begun, &state, &moment) {
            (lowest, ahead, of_host, nonce) = (first?, second?, third?, fourth?);
        }
        (begun, state, moment)
    } else if request.workers().is_empty() {
        tokio::join!(biased; begun, state, moment)
    } else {
        let (begun, state, moment, rows) =
            tokio::join!(biased; begun, state, moment, query(client, &reads.named));
        if let (Ok(_), Ok(_), Ok(_)) = (&begun, &state, &moment) {
            named = rows?;
        }
        (begun, state, moment)
    };
    begun?;
    Ok(Read { state: state?, moment: moment?, named, lowest, ahead, of_host, nonce })
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
        })
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
        let lock = Statement::new("SELECT * FROM mintage.state WHERE \"space\" = $1 FOR UPDATE")
            .with(Uuid(space.id.0), Type::UUID);
        let (moment, reads) = (moment_statement(Some(space.id)), Reads::of(space, request));
        let sent = self.clock.boottime_nanos();
        let begin = begin(deadline);
        let trip = first_trip(&taken.client, &begin, &lock, &moment, &reads, request);
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
        let rows = read.rows(space, moment.now).map_err(|what| self.corrupt(what))?;
        let seen = Seen { now: moment.now, live: moment.live, expected, witness: caller.witness };
        let decision = decide(&space.kind, &state, &seen, request, &rows);
        match &decision.state {
            None => self.roll_back(taken, deadline).await,
            Some(next) => {
                let statement =
                    write(space.id, state.serial, next, &decision.rows).map_err(|what| self.corrupt(what))?;
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
        let trip = async {
            tokio::join!(biased; query(&taken.client, statement), taken.client.batch_execute("COMMIT"))
        };
        match tokio::time::timeout_at(deadline.0, trip).await {
            Err(elapsed) => Err(self.unknown(request, elapsed)),
            Ok((Ok(_), Ok(()))) => {
                taken.give_back();
                Ok(())
            }
            Ok((Ok(_), Err(error))) => Err(self.unknown(request, error)),
            // The server refused the statement, and so made the commit a rollback.
            Ok((Err(error), _)) if error.as_db_error().is_some() => Err(self.before_commit(request, error)),
            Ok((Err(error), _)) => Err(self.unknown(request, error)),
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
        if moment.protocol != PROTOCOL {
            let is_newer = moment.protocol > PROTOCOL;
            let next_step = if is_newer {
                "use a later program"
            } else {
                "bring the tables up with `mintage store upgrade`"
            };
            let (store, found) = (self.store(), moment.protocol);
            return Err(Error::Schema { store, found, known: PROTOCOL, next_step }.into());
        }
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
        protocol: u32::try_from(whole(row, "protocol")?).map_err(|_| "protocol".to_owned())?,
        has_fsync: read(row, "has_fsync")?,
    })
}

/// The state of a space, where a row of it was read together with its facts.
pub(super) fn state(row: &Row) -> Result<SpaceState, String> {
    state_of(row)
}

impl From<tokio::time::error::Elapsed> for Again {
    fn from(elapsed: tokio::time::error::Elapsed) -> Self {
        Self { source: elapsed.into(), is_unreachable: false }
    }
}
