//! What operators ask: tables, spaces, and whether all is well.

use super::connect::Taken;
use super::rows::{Statement, Uuid, insert, micros, read, space_of, worker_of};
use super::transact::{Moment, begin, moment_statement, query, state};
use super::{Failure, Postgres, SCHEMA};
use crate::error::Error;
use crate::request::{Caller, Shown};
use crate::rules::created;
use crate::space::{Kind, Space};
use crate::state::{Seen, Witness};
use crate::store::{CheckLine, CreateOptions, Deadline, PROTOCOL, expected};
use crate::window::check_clock;
use mintage::UnixNanos;
use std::collections::BTreeMap;
use tokio_postgres::types::Type;
use tokio_postgres::{Row, SimpleQueryMessage};

/// Whoever makes tables or spaces holds this lock of the database meanwhile: `mintage`, as a number.
const LOCK: &str = "SELECT pg_advisory_xact_lock(30808996423297893)";

const SPACES: &str = "SELECT * FROM mintage.space JOIN mintage.state ON \"space\" = \"id\" WHERE $1::text IS NULL OR \
     \"name\" = $1 ORDER BY \"name\", \"dropped\" IS NOT NULL, \"dropped\" DESC";

impl Postgres {
    /// A transaction that is begun.
    async fn begun(&self, request: &'static str, deadline: Deadline) -> Result<Taken<'_>, Failure> {
        let taken = self.connections.take(deadline).await.map_err(|error| self.unreachable(error))?;
        let begin = begin(deadline);
        self.within(request, deadline, taken.client.batch_execute(&begin)).await?;
        Ok(taken)
    }

    /// An answer from the server before the deadline, with nothing committed yet.
    async fn within<T>(
        &self,
        request: &'static str,
        deadline: Deadline,
        answer: impl Future<Output = Result<T, tokio_postgres::Error>>,
    ) -> Result<T, Failure> {
        match tokio::time::timeout_at(deadline.0, answer).await {
            Err(_) => Err(self.late(request)),
            Ok(answer) => answer.map_err(|error| self.before_commit(request, error)),
        }
    }

    async fn now(
        &self,
        request: &'static str,
        taken: &Taken<'_>,
        deadline: Deadline,
    ) -> Result<Moment, Failure> {
        let statement = moment_statement(None);
        let rows = self.within(request, deadline, query(&taken.client, &statement)).await?;
        self.moment(&rows)
    }

    /// Makes the tables in a transaction that is begun, where they are missing; whether it made any.
    async fn make_tables(
        &self,
        request: &'static str,
        taken: &Taken<'_>,
        deadline: Deadline,
    ) -> Result<bool, Failure> {
        // Not by `to_regclass`, whose cache doesn't see what was made while the lock was waited for.
        let exists = "SELECT EXISTS (SELECT FROM pg_class WHERE relname = 'meta' AND relnamespace = (SELECT oid FROM \
                      pg_namespace WHERE nspname = 'mintage'))";
        let has_tables = |messages: Vec<SimpleQueryMessage>| {
            messages.iter().any(|message| match message {
                SimpleQueryMessage::Row(row) => row.get(0) == Some("t"),
                _ => false,
            })
        };
        let client = &taken.client;
        if has_tables(self.within(request, deadline, client.simple_query(exists)).await?) {
            return Ok(false);
        }
        self.within(request, deadline, client.batch_execute(LOCK)).await?;
        if has_tables(self.within(request, deadline, client.simple_query(exists)).await?) {
            return Ok(false);
        }
        self.within(request, deadline, client.batch_execute(SCHEMA)).await?;
        Ok(true)
    }

    pub(super) async fn try_upgrade(&self, deadline: Deadline) -> Result<(), Failure> {
        let taken = self.begun("upgrade", deadline).await?;
        self.make_tables("upgrade", &taken, deadline).await?;
        self.now("upgrade", &taken, deadline).await?;
        self.write_and_commit("upgrade", taken, &Statement::new("SELECT 1"), deadline).await
    }

    pub(super) async fn try_create(
        &self,
        space: &Space,
        options: CreateOptions,
        deadline: Deadline,
    ) -> Result<Space, Failure> {
        let request = "create";
        let taken = self.begun(request, deadline).await?;
        self.make_tables(request, &taken, deadline).await?;
        // Ordered by a lock of its own, as a space that isn't there yet has no row to lock.
        self.within(request, deadline, taken.client.batch_execute(LOCK)).await?;
        let moment = self.now(request, &taken, deadline).await?;
        let spaces = self.spaces(request, &taken, Some(&space.name), deadline).await?;
        let name = || space.name.clone();
        if let Some(found) = spaces.iter().find(|found| found.dropped.is_none()) {
            return match found.space.difference(space) {
                Some(difference) => Err(Error::SpaceDiffers { space: name(), difference }.into()),
                None => {
                    self.write_and_commit(request, taken, &Statement::new("SELECT 1"), deadline).await?;
                    Ok(found.space.clone())
                }
            };
        }
        if let Err(fault) = space.validate(moment.now) {
            return Err(Error::SpaceFault { space: name(), fault }.into());
        }
        let caller = Caller { trusts_clock: options.trusts_clock, ..Caller::default() };
        let expected = expected(&caller, &*self.clock);
        let seen = Seen { now: moment.now, live: moment.live, expected, witness: Witness::default() };
        if let Kind::Windows(windows) = &space.kind
            && let Err(refusal) = check_clock(&windows.terms, &seen)
        {
            let (now, events) = (moment.now, Vec::new());
            return Err(Error::Refused { space: name(), refusal, now, events }.into());
        }
        let dropped: Vec<_> = spaces.iter().map(|found| (&found.space, &found.state)).collect();
        let state = match created(space, &seen, &dropped, options.restart_hold) {
            Ok((state, _)) => state,
            Err(difference) => return Err(Error::NameUsed { space: name(), difference }.into()),
        };
        let statement = insert(space, &state).map_err(|what| self.corrupt(what))?;
        self.write_and_commit(request, taken, &statement, deadline).await?;
        Ok(space.clone())
    }

    pub(super) async fn try_drop(&self, name: &str, deadline: Deadline) -> Result<(), Failure> {
        let request = "drop";
        let taken = self.begun(request, deadline).await?;
        let moment = self.now(request, &taken, deadline).await?;
        // Requests that have the row finish first; those that come later find the space gone.
        let lock = Statement::new(
            "SELECT \"id\" FROM mintage.space JOIN mintage.state ON \"space\" = \"id\" WHERE \"name\" = $1 AND \
             \"dropped\" IS NULL FOR UPDATE OF state",
        )
        .with(name.to_owned(), Type::TEXT);
        let rows = self.within(request, deadline, query(&taken.client, &lock)).await?;
        let Some(row) = rows.first() else {
            let (store, space) = (self.store(), name.to_owned());
            return Err(Error::NoSuchSpace { store, space }.into());
        };
        let id: Uuid = read(row, "id").map_err(|what| self.corrupt(what))?;
        let micros = i64::try_from(moment.now.0 / 1_000).unwrap_or(i64::MAX);
        let statement = Statement::new("UPDATE mintage.space SET \"dropped\" = $2 WHERE \"id\" = $1")
            .with(id, Type::UUID)
            .with(micros, Type::INT8);
        self.write_and_commit(request, taken, &statement, deadline).await
    }

    async fn spaces(
        &self,
        request: &'static str,
        taken: &Taken<'_>,
        name: Option<&str>,
        deadline: Deadline,
    ) -> Result<Vec<Shown>, Failure> {
        let statement = Statement::new(SPACES).with(name.map(ToOwned::to_owned), Type::TEXT);
        let rows = self.within(request, deadline, query(&taken.client, &statement)).await?;
        let shown = |row: &Row| -> Result<Shown, String> {
            let is_dropped: Option<i64> = read(row, "dropped")?;
            Ok(Shown {
                space: space_of(row)?,
                state: state(row)?,
                workers: Vec::new(),
                now: UnixNanos(0),
                dropped: is_dropped.map(|_| micros(row, "dropped")).transpose()?,
            })
        };
        rows.iter().map(shown).collect::<Result<_, _>>().map_err(|what| self.corrupt(what))
    }

    pub(super) async fn try_show(
        &self,
        request: &'static str,
        name: Option<&str>,
        with_workers: bool,
        deadline: Deadline,
    ) -> Result<Vec<Shown>, Failure> {
        let taken = self.begun(request, deadline).await?;
        let moment = self.now(request, &taken, deadline).await?;
        let mut all = self.spaces(request, &taken, name, deadline).await?;
        let mut workers = BTreeMap::new();
        if with_workers {
            let statement = Statement::new(
                "SELECT * FROM mintage.worker WHERE $1::text IS NULL OR \"space\" IN (SELECT \"id\" FROM mintage.space WHERE \
                 \"name\" = $1) ORDER BY \"worker\"",
            )
            .with(name.map(ToOwned::to_owned), Type::TEXT);
            for row in self.within(request, deadline, query(&taken.client, &statement)).await? {
                let id: Uuid = read(&row, "space").map_err(|what| self.corrupt(what))?;
                let worker = worker_of(&row).map_err(|what| self.corrupt(what))?;
                workers.entry(id.0).or_insert_with(Vec::new).push(worker);
            }
        }
        for shown in &mut all {
            shown.now = moment.now;
            shown.workers = workers.remove(&shown.space.id.0).unwrap_or_default();
        }
        self.roll_back(taken, deadline).await;
        Ok(all)
    }

    pub(super) fn in_use(&self, all: Vec<Shown>, name: &str) -> Result<Shown, Error> {
        let in_use = all.into_iter().find(|shown| shown.dropped.is_none());
        in_use.ok_or_else(|| Error::NoSuchSpace { store: self.store(), space: name.to_owned() })
    }

    pub(super) async fn try_check(&self, deadline: Deadline) -> Result<Vec<CheckLine>, Failure> {
        let taken = self.begun("check", deadline).await?;
        let wall = self.clock.wall();
        let moment = self.now("check", &taken, deadline).await?;
        let statement = Statement::new(
            "SELECT current_setting('synchronous_commit') AS durability, current_setting('full_page_writes') AS pages, \
             current_setting('server_version') AS version, has_table_privilege('mintage.state', 'UPDATE') AND \
             has_table_privilege('mintage.worker', 'INSERT, UPDATE') AS may_mint",
        );
        let rows = self.within("check", deadline, query(&taken.client, &statement)).await?;
        let lines = rows.first().map(|row| -> Result<_, String> {
            let (durability, pages): (String, String) = (read(row, "durability")?, read(row, "pages")?);
            let (version, may_mint): (String, bool) = (read(row, "version")?, read(row, "may_mint")?);
            let off = moment.now.0.abs_diff(wall.0);
            let line = |what, is_good, found| CheckLine { what, is_good, found };
            Ok(vec![
                line(
                    "durability",
                    moment.has_fsync && pages == "on",
                    format!(
                        "fsync {}, full_page_writes {pages}, synchronous_commit {durability}",
                        if moment.has_fsync { "on" } else { "off" }
                    ),
                ),
                line(
                    "clock",
                    off < 1_000_000_000,
                    format!("the server says {}, this host's wall clock {wall}", moment.now),
                ),
                line("version", true, format!("tables of protocol {PROTOCOL}, PostgreSQL {version}")),
                line(
                    "privileges",
                    may_mint,
                    if may_mint { "enough to mint" } else { "too few; see `mintage store schema`" }
                        .to_owned(),
                ),
            ])
        });
        let lines = lines.unwrap_or_else(|| Err("a check".to_owned())).map_err(|what| self.corrupt(what))?;
        self.roll_back(taken, deadline).await;
        Ok(lines)
    }
}
