//! What operators ask: tables, spaces, and whether all is well.

use super::connect::Taken;
use super::rows::{Uuid, hold_of, insert, micros, read, read_or_null, space_of, state_of, worker_of};
use super::statement::Statement;
use super::transact::{Moment, begin, moment_statement};
use super::{Failure, Postgres, SCHEMA, SCOPES};
use crate::creating::{Creation, Namesake, creation};
use crate::error::Error;
use crate::request::Shown;
use crate::space::Space;
use crate::store::{CheckLine, CreateOptions, Deadline, PROTOCOL, keeps_holds};
use crate::stores::columns::micros_of;
use mintage::UnixNanos;
use std::collections::BTreeMap;
use tokio_postgres::{SimpleQueryMessage, SimpleQueryRow as Row};

/// Whoever makes tables or spaces holds this lock of the database meanwhile: `mintage`, as a number.
const LOCK: &str = "SELECT pg_advisory_xact_lock(30808996423297893)";

const SPACES: &str = "SELECT * FROM mintage.space JOIN mintage.state ON \"space\" = \"id\" WHERE $1 IS NULL OR \
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
        let rows = self.within(request, deadline, taken.query(&statement)).await?;
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
        self.within(request, deadline, client.batch_execute(SCOPES)).await?;
        Ok(true)
    }

    /// Adds what version 2 has and the tables lack, in a transaction that is begun.
    async fn bring_up(
        &self,
        request: &'static str,
        taken: &Taken<'_>,
        deadline: Deadline,
    ) -> Result<(), Failure> {
        let is_old = format!("SELECT FROM mintage.meta WHERE \"protocol\" < {PROTOCOL}");
        let has_rows = |messages: Vec<SimpleQueryMessage>| {
            messages.iter().any(|message| matches!(message, SimpleQueryMessage::Row(_)))
        };
        let client = &taken.client;
        if !has_rows(self.within(request, deadline, client.simple_query(&is_old)).await?) {
            return Ok(());
        }
        self.within(request, deadline, client.batch_execute(LOCK)).await?;
        if has_rows(self.within(request, deadline, client.simple_query(&is_old)).await?) {
            self.within(request, deadline, client.batch_execute(SCOPES)).await?;
        }
        Ok(())
    }

    pub(super) async fn try_upgrade(&self, deadline: Deadline) -> Result<(), Failure> {
        let taken = self.begun("upgrade", deadline).await?;
        self.make_tables("upgrade", &taken, deadline).await?;
        self.bring_up("upgrade", &taken, deadline).await?;
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
        if space.scopes().is_some() {
            self.bring_up(request, &taken, deadline).await?;
        }
        // Ordered by a lock of its own, as a space that isn't there yet has no row to lock.
        self.within(request, deadline, taken.client.batch_execute(LOCK)).await?;
        let moment = self.now(request, &taken, deadline).await?;
        let spaces = self.spaces(request, &taken, Some(&space.name), deadline).await?;
        let namesakes: Vec<_> = spaces.iter().map(Namesake::from).collect();
        let (found, statement) =
            match creation(space, &namesakes, options, moment.now, moment.live, &*self.clock)? {
                // Committed all the same: tables may have been made.
                Creation::There(found) => (found, Statement::new("SELECT 1")),
                Creation::Begins(state, hold) => {
                    let hold = hold.filter(|_| keeps_holds(moment.protocol));
                    (space.clone(), insert(space, &state, hold).map_err(|what| self.corrupt(what))?)
                }
            };
        self.write_and_commit(request, taken, &statement, deadline).await?;
        Ok(found)
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
        .with(name);
        let rows = self.within(request, deadline, taken.query(&lock)).await?;
        let Some(row) = rows.first() else {
            let (store, space) = (self.store(), name.to_owned());
            return Err(Error::NoSuchSpace { store, space }.into());
        };
        let id: Uuid = read(row, "id").map_err(|what| self.corrupt(what))?;
        let micros = micros_of(moment.now);
        let statement = Statement::new("UPDATE mintage.space SET \"dropped\" = $2 WHERE \"id\" = $1")
            .with(id)
            .with(micros);
        self.write_and_commit(request, taken, &statement, deadline).await
    }

    async fn spaces(
        &self,
        request: &'static str,
        taken: &Taken<'_>,
        name: Option<&str>,
        deadline: Deadline,
    ) -> Result<Vec<Shown>, Failure> {
        let statement = Statement::new(SPACES).with(name);
        let rows = self.within(request, deadline, taken.query(&statement)).await?;
        let shown = |row: &Row| -> Result<Shown, String> {
            let is_dropped: Option<i64> = read_or_null(row, "dropped")?;
            Ok(Shown {
                space: space_of(row)?,
                state: state_of(row)?,
                workers: Vec::new(),
                now: UnixNanos(0),
                dropped: is_dropped.map(|_| micros(row, "dropped")).transpose()?,
                hold: None,
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
                "SELECT * FROM mintage.worker WHERE $1 IS NULL OR \"space\" IN (SELECT \"id\" FROM mintage.space WHERE \
                 \"name\" = $1) ORDER BY \"worker\"",
            )
            .with(name);
            for row in self.within(request, deadline, taken.query(&statement)).await? {
                let id: Uuid = read(&row, "space").map_err(|what| self.corrupt(what))?;
                let worker = worker_of(&row).map_err(|what| self.corrupt(what))?;
                workers.entry(id.0).or_insert_with(Vec::new).push(worker);
            }
        }
        let mut holds = BTreeMap::new();
        if keeps_holds(moment.protocol) {
            let statement = Statement::new("SELECT * FROM mintage.hold");
            let rows = self.within(request, deadline, taken.query(&statement)).await?;
            holds = rows.iter().map(hold_of).collect::<Result<_, _>>().map_err(|what| self.corrupt(what))?;
        }
        for shown in &mut all {
            shown.now = moment.now;
            shown.hold = holds.remove(&shown.space.id);
            shown.workers = workers.remove(&shown.space.id.0).unwrap_or_default();
        }
        self.roll_back(taken, deadline).await;
        Ok(all)
    }

    pub(super) async fn try_check(&self, deadline: Deadline) -> Result<Vec<CheckLine>, Failure> {
        let taken = self.begun("check", deadline).await?;
        let wall = self.clock.wall();
        let moment = self.now("check", &taken, deadline).await?;
        let statement = Statement::new(
            "SELECT current_setting('synchronous_commit') AS durability, current_setting('full_page_writes') AS pages, \
             current_setting('server_version') AS version, has_table_privilege('mintage.state', 'UPDATE') AND \
             has_table_privilege('mintage.worker', 'INSERT, UPDATE') AND (NOT EXISTS (SELECT FROM mintage.space WHERE \"kind\" = \
             'scopes' AND \"dropped\" IS NULL) OR has_table_privilege(to_regclass('mintage.scope'), 'SELECT') AND \
             has_table_privilege(to_regclass('mintage.scope'), 'INSERT') AND has_table_privilege(to_regclass('mintage.scope'), \
             'UPDATE')) AND ((SELECT protocol FROM mintage.meta) < 2 OR has_table_privilege(to_regclass('mintage.hold'), 'INSERT') AND \
             has_table_privilege(to_regclass('mintage.hold'), 'SELECT') AND has_table_privilege(to_regclass('mintage.hold'), 'UPDATE')) \
             AS may_mint",
        );
        let rows = self.within("check", deadline, taken.query(&statement)).await?;
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
                line(
                    "version",
                    true,
                    format!("tables of protocol {}, PostgreSQL {version}", moment.protocol),
                ),
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
