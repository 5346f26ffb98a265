//! What operators ask: tables, spaces, and whether all is well.

use super::connect::Taken;
use super::rows::{WORKER, fact_columns, insert, state_columns};
use super::statement::{Literal, guard};
use super::transact::{Moment, moment};
use super::{MySql, SCHEMA, SCOPES};
use crate::creating::{Creation, Namesake, creation};
use crate::error::Error;
use crate::request::Shown;
use crate::space::Space;
use crate::store::{CheckLine, CreateOptions, Deadline, PROTOCOL, keeps_holds};
use crate::stores::attempt::{Again, Failure};
use crate::stores::columns::{
    Uuid, hold_of, micros, micros_of, read, read_or_null, space_of, state_of, worker_of,
};
use mintage::UnixNanos;
use mysql_async::Row;
use std::collections::BTreeMap;

/// Whoever makes tables or spaces, or drops them, holds this lock of the server meanwhile, one a database: a statement that makes a
/// table ends the transaction around it.
const LOCK: &str = "CONCAT('mintage-', SHA1(DATABASE()))";

/// Statements that each need a privilege of those that [`SCHEMA`] names, and do nothing.
const PROBES: [&str; 5] = [
    "UPDATE `mintage_meta` SET `timeline` = `timeline` WHERE FALSE",
    "UPDATE `mintage_state` SET `serial` = `serial` WHERE FALSE",
    "UPDATE `mintage_worker` SET `serial` = `serial` WHERE FALSE",
    "INSERT INTO `mintage_worker` SELECT * FROM `mintage_worker` WHERE FALSE",
    "SELECT `id` FROM `mintage_space` WHERE FALSE",
];

/// The same for what holds leave, asked where there is a table of it.
const HOLD_PROBES: [&str; 2] = [
    "UPDATE `mintage_hold` SET `began` = `began` WHERE FALSE",
    "INSERT INTO `mintage_hold` SELECT * FROM `mintage_hold` WHERE FALSE",
];

/// The same for scopes, asked where there is a space of them.
const SCOPE_PROBES: [&str; 2] = [
    "UPDATE `mintage_scope` SET `serial` = `serial` WHERE FALSE",
    "INSERT INTO `mintage_scope` SELECT * FROM `mintage_scope` WHERE FALSE",
];

impl MySql {
    async fn taken(&self, deadline: Deadline) -> Result<Taken<'_>, Failure> {
        self.connections.take(deadline).await.map_err(|error| self.unreachable(error))
    }

    /// Begins a transaction and reads [`moment`].
    async fn begun<'t>(
        &self,
        request: &'static str,
        mut taken: Taken<'t>,
        deadline: Deadline,
    ) -> Result<(Taken<'t>, Moment), Failure> {
        let mut statements = taken.session.begin(deadline);
        statements.push(moment(&taken.session, None));
        let mut sets = self.within(request, deadline, taken.run(&statements)).await?;
        self.recognised(request, taken, &sets.pop().unwrap_or_default(), deadline).await
    }

    /// Takes [`LOCK`], until the connection is given back by [`MySql::unlocked`] or closed.
    async fn locked(&self, request: &'static str, deadline: Deadline) -> Result<Taken<'_>, Failure> {
        let mut taken = self.taken(deadline).await?;
        let seconds = deadline.left().as_secs() + 1;
        let lock = format!("SELECT GET_LOCK({LOCK}, {}) AS has", seconds.min(31_536_000));
        let statements = [taken.session.limits(deadline), lock];
        let sets = self.within(request, deadline, taken.run(&statements)).await?;
        let has: Option<bool> = match sets.last().and_then(|rows| rows.first()) {
            Some(row) => read_or_null(row, "has").map_err(|what| self.corrupt(what))?,
            None => None,
        };
        if has == Some(true) {
            return Ok(taken);
        }
        let source = "another connection makes tables or spaces".into();
        Err(Failure::Again(Again { source, is_unreachable: false }))
    }

    /// Gives the connection back without its lock. Where that goes wrong it is closed, which ends the lock too.
    async fn unlocked(&self, mut taken: Taken<'_>, deadline: Deadline) {
        let statement = format!("SELECT RELEASE_LOCK({LOCK})");
        if matches!(tokio::time::timeout_at(deadline.0, taken.query(statement)).await, Ok(Ok(_))) {
            taken.give_back();
        }
    }

    /// Makes the tables where they are missing; those that are there stay as they are. Needs the lock.
    async fn make_tables(
        &self,
        request: &'static str,
        taken: &mut Taken<'_>,
        deadline: Deadline,
    ) -> Result<(), Failure> {
        let exists = "SELECT COUNT(*) = 1 AS there FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND \
                      TABLE_NAME = 'mintage_meta'";
        let rows = self.within(request, deadline, taken.query(exists.to_owned())).await?;
        let is_there = match rows.first() {
            Some(row) => read(row, "there").map_err(|what| self.corrupt(what))?,
            None => false,
        };
        if is_there {
            let one = "SELECT `protocol` FROM `mintage_meta`".to_owned();
            if !self.within(request, deadline, taken.query(one)).await?.is_empty() {
                return Ok(());
            }
        }
        self.within(request, deadline, taken.run(&statements(SCHEMA))).await?;
        self.bring_up(request, taken, deadline).await
    }

    /// Adds what version 2 has and the tables lack. Needs the lock. A crash in the middle leaves version 1.
    async fn bring_up(
        &self,
        request: &'static str,
        taken: &mut Taken<'_>,
        deadline: Deadline,
    ) -> Result<(), Failure> {
        let is_old = format!("SELECT 1 FROM `mintage_meta` WHERE `protocol` < {PROTOCOL}");
        if !self.within(request, deadline, taken.query(is_old)).await?.is_empty() {
            self.within(request, deadline, taken.run(&statements(SCOPES))).await?;
        }
        Ok(())
    }

    pub(super) async fn try_upgrade(&self, deadline: Deadline) -> Result<(), Failure> {
        let request = "upgrade";
        let mut taken = self.locked(request, deadline).await?;
        self.make_tables(request, &mut taken, deadline).await?;
        self.bring_up(request, &mut taken, deadline).await?;
        let (mut taken, _) = self.begun(request, taken, deadline).await?;
        self.within(request, deadline, taken.roll_back()).await?;
        self.unlocked(taken, deadline).await;
        Ok(())
    }

    pub(super) async fn try_create(
        &self,
        space: &Space,
        options: CreateOptions,
        deadline: Deadline,
    ) -> Result<Space, Failure> {
        let request = "create";
        let mut taken = self.locked(request, deadline).await?;
        self.make_tables(request, &mut taken, deadline).await?;
        if space.scopes().is_some() {
            self.bring_up(request, &mut taken, deadline).await?;
        }
        let (mut taken, moment) = self.begun(request, taken, deadline).await?;
        let spaces = self.spaces(request, &mut taken, Some(&space.name), deadline).await?;
        let namesakes: Vec<_> = spaces.iter().map(Namesake::from).collect();
        let (found, taken) =
            match creation(space, &namesakes, options, moment.now, moment.live, &*self.clock)? {
                Creation::There(found) => {
                    self.within(request, deadline, taken.roll_back()).await?;
                    (found, taken)
                }
                Creation::Begins(state, hold) => {
                    let hold = hold.filter(|_| keeps_holds(moment.protocol));
                    let statements = insert(space, &state, hold).map_err(|what| self.corrupt(what))?;
                    (space.clone(), self.write_and_keep(request, taken, &statements, deadline).await?)
                }
            };
        self.unlocked(taken, deadline).await;
        Ok(found)
    }

    pub(super) async fn try_drop(&self, name: &str, deadline: Deadline) -> Result<(), Failure> {
        let request = "drop";
        // Nobody else drops or creates meanwhile, so the name leads to the same space from here on.
        let taken = self.locked(request, deadline).await?;
        let (mut taken, moment) = self.begun(request, taken, deadline).await?;
        // Requests that have the row finish first; those that come later find the space gone.
        let lock = format!(
            "SELECT HEX(`space`) AS `space` FROM `mintage_state` WHERE `space` = (SELECT `id` FROM `mintage_space` WHERE \
             `name_in_use` = {}) FOR UPDATE",
            Literal::from(name)
        );
        let rows = self.within(request, deadline, taken.query(lock)).await?;
        let Some(row) = rows.first() else {
            let (store, space) = (self.store(), name.to_owned());
            return Err(Error::NoSuchSpace { store, space }.into());
        };
        let id: Uuid = read(row, "space").map_err(|what| self.corrupt(what))?;
        let micros = micros_of(moment.now);
        let statements = [
            format!(
                "UPDATE `mintage_space` SET `dropped` = {micros} WHERE `id` = {} AND `dropped` IS NULL",
                Literal::from(id)
            ),
            guard(1),
        ];
        let taken = self.write_and_keep(request, taken, &statements, deadline).await?;
        self.unlocked(taken, deadline).await;
        Ok(())
    }

    async fn spaces(
        &self,
        request: &'static str,
        taken: &mut Taken<'_>,
        name: Option<&str>,
        deadline: Deadline,
    ) -> Result<Vec<Shown>, Failure> {
        let only = name.map_or_else(String::new, |name| format!("WHERE `name` = {} ", Literal::from(name)));
        let statement = format!(
            "SELECT HEX(`id`) AS `id`, `dropped`, {}, {} FROM `mintage_space` JOIN `mintage_state` ON `space` = `id` {only}ORDER \
             BY `name`, `dropped` IS NOT NULL, `dropped` DESC",
            fact_columns(),
            state_columns()
        );
        let rows = self.within(request, deadline, taken.query(statement)).await?;
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
        let taken = self.taken(deadline).await?;
        let (mut taken, moment) = self.begun(request, taken, deadline).await?;
        let mut all = self.spaces(request, &mut taken, name, deadline).await?;
        let mut workers = BTreeMap::new();
        if with_workers {
            let only = name.map_or_else(String::new, |name| {
                let name = Literal::from(name);
                format!("WHERE `space` IN (SELECT `id` FROM `mintage_space` WHERE `name` = {name}) ")
            });
            let statement = format!(
                "SELECT HEX(`space`) AS `space`, {WORKER} FROM `mintage_worker` {only}ORDER BY `worker`"
            );
            for row in self.within(request, deadline, taken.query(statement)).await? {
                let id: Uuid = read(&row, "space").map_err(|what| self.corrupt(what))?;
                let worker = worker_of(&row).map_err(|what| self.corrupt(what))?;
                workers.entry(id.0).or_insert_with(Vec::new).push(worker);
            }
        }
        let mut holds = BTreeMap::new();
        if keeps_holds(moment.protocol) {
            let statement = "SELECT HEX(`space`) AS `space`, `why`, `began` FROM `mintage_hold`".to_owned();
            let rows = self.within(request, deadline, taken.query(statement)).await?;
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
        let request = "check";
        let taken = self.taken(deadline).await?;
        let wall = self.clock.wall();
        let (mut taken, moment) = self.begun(request, taken, deadline).await?;
        let settings = "SELECT VERSION() AS version, @@global.innodb_doublewrite AS doublewrite, @@global.binlog_format AS format";
        let rows = self.within(request, deadline, taken.query(settings.to_owned())).await?;
        let row = rows.first().ok_or_else(|| self.corrupt("a check".to_owned()))?;
        let text = |column| read::<String>(row, column).map_err(|what| self.corrupt(what));
        let (version, doublewrite, format) = (text("version")?, text("doublewrite")?, text("format")?);
        let mut lacks = Vec::new();
        let has_scopes =
            "SELECT 1 FROM `mintage_space` WHERE `kind` = 'scopes' AND `dropped` IS NULL LIMIT 1";
        let has_scopes =
            !self.within(request, deadline, taken.query(has_scopes.to_owned())).await?.is_empty();
        let has_holds = keeps_holds(moment.protocol);
        let further = HOLD_PROBES.into_iter().filter(|_| has_holds);
        let further = further.chain(SCOPE_PROBES.into_iter().filter(|_| has_scopes));
        for probe in PROBES.into_iter().chain(further) {
            match self.within(request, deadline, taken.query(probe.to_owned())).await {
                Ok(_) => {}
                Err(Failure::Final(Error::Denied { .. })) => lacks.push(probe),
                Err(failure) => return Err(failure),
            }
        }
        let is_galera = taken.session.is_galera;
        self.roll_back(taken, deadline).await;
        let binlog = moment.durability.binlog;
        let off = moment.now.0.abs_diff(wall.0);
        let line = |what, is_good, found| CheckLine { what, is_good, found };
        Ok(vec![
            line(
                "durability",
                moment.durability.is_full() && !matches!(doublewrite.as_str(), "0" | "OFF"),
                format!(
                    "innodb_flush_log_at_trx_commit {}, sync_binlog {}, innodb_doublewrite {doublewrite}",
                    moment.durability.flush,
                    binlog.map_or_else(|| "not needed, no binary log".to_owned(), |sync| sync.to_string())
                ),
            ),
            line(
                "clock",
                off < 1_000_000_000,
                format!("the server says {}, this host's wall clock {wall}", moment.now),
            ),
            line("version", true, format!("tables of protocol {}, server {version}", moment.protocol)),
            line(
                "replication",
                !is_galera,
                match (is_galera, binlog) {
                    (true, _) => "a node of Galera: locks are kept on this node only, so let one node alone be written to".to_owned(),
                    (false, Some(_)) => format!("binary log of format {format}"),
                    (false, None) => "no binary log, so no replica".to_owned(),
                },
            ),
            line(
                "privileges",
                lacks.is_empty(),
                if lacks.is_empty() { "enough to mint" } else { "too few; see `mintage store schema`" }
                    .to_owned(),
            ),
        ])
    }
}

/// The statements of a text, without its comments.
fn statements(text: &str) -> Vec<String> {
    let lines = text.lines().map(|line| line.split("--").next().unwrap_or_default());
    let text: String = lines.flat_map(|line| [line, "\n"]).collect();
    let statements = text.split(';').map(str::trim).filter(|statement| !statement.is_empty());
    statements.map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schema_is_four_tables_and_a_row_and_version_2_two_more() {
        let scopes = statements(SCOPES);
        assert!(scopes.len() == 3 && scopes[2].starts_with("UPDATE `mintage_meta` SET `protocol` = 2"));
        let tables = statements(SCHEMA);
        assert_eq!(tables.len(), 5);
        assert!(tables[..4].iter().all(|table| table.starts_with("CREATE TABLE IF NOT EXISTS `mintage_")));
        assert!(tables[4].starts_with("INSERT IGNORE INTO `mintage_meta`"));
    }
}
