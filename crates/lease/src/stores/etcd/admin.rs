//! What operators ask: spaces, and whether all is well.

use super::Etcd;
use super::connect::Link;
use super::standing::Noted;
use super::transact::{Found, Recognised, as_read, bounds, draw, get, get_all, key_of};
use crate::creating::{Creation, Namesake, creation};
use crate::error::Error;
use crate::request::{Caller, Shown};
use crate::space::{Space, SpaceId};
use crate::store::{CheckLine, CreateOptions, Deadline, PROTOCOL};
use crate::stores::attempt::Failure;
use crate::stores::told::Teller;
use crate::stores::values::{Kept, Told, kept_text, space_row_of, space_text};
use etcd_client::{Compare, CompareOp, KeyValue, TxnOp};
use mintage::UnixNanos;
use std::collections::BTreeMap;

/// A space as it was read, with its rows.
struct Read {
    space: Space,
    kept: Kept,
    row: KeyValue,
}

impl Etcd {
    /// Notes what the cluster is, if nobody has; does nothing else.
    async fn make(
        &self,
        request: &'static str,
        link: &Link,
        deadline: Deadline,
    ) -> Result<Recognised, Failure> {
        let key = self.keys.meta();
        let Found { answers, standing } = self.read(request, link, vec![get(key.clone())], deadline).await?;
        let meta = answers.first().and_then(|rows| rows.first());
        if meta.is_some() {
            return self.recognised(request, link, meta, &standing, deadline).await;
        }
        let members = self.members(link, deadline).await;
        let noted = Noted::first(&standing, members, draw()?, self.clock.wall());
        let puts = vec![TxnOp::put(key.clone(), noted.text(PROTOCOL), None)];
        self.write(request, link, vec![as_read(key.clone(), None)], puts, deadline).await?;
        let Found { answers, standing } = self.read(request, link, vec![get(key)], deadline).await?;
        let meta = answers.first().and_then(|rows| rows.first());
        self.recognised(request, link, meta, &standing, deadline).await
    }

    pub(super) async fn try_upgrade(&self, deadline: Deadline) -> Result<(), Failure> {
        let link = self.linked("upgrade", deadline).await?;
        self.make("upgrade", &link, deadline).await.map(|_| ())
    }

    /// The spaces of a name, or all, by name, those that were dropped last; and the row of the name.
    async fn spaces(
        &self,
        request: &'static str,
        link: &Link,
        name: Option<&str>,
        deadline: Deadline,
    ) -> Result<(Vec<Read>, Recognised, Option<KeyValue>), Failure> {
        let mut first = vec![get(self.keys.meta()), get_all(self.keys.spaces(name))];
        first.extend(name.map(|name| get(self.keys.name(name))));
        let Found { answers, standing } = self.read(request, link, first, deadline).await?;
        let [meta, facts, name_row @ ..] = answers.as_slice() else {
            return Err(self.corrupt("an answer", "too short").into());
        };
        let recognised = self.recognised(request, link, meta.first(), &standing, deadline).await?;
        let mut spaces = Vec::new();
        for some in facts.chunks(100) {
            let space = |row: &KeyValue| {
                space_row_of(row.value()).map_err(|wrong| self.corrupt(&key_of(row), &wrong))
            };
            let some: Vec<Space> = some.iter().map(space).collect::<Result<_, _>>()?;
            let states = some.iter().map(|space| get(self.keys.state(space.id))).collect();
            let found = self.read(request, link, states, deadline).await?;
            for (space, rows) in some.into_iter().zip(found.answers) {
                let missing = || self.corrupt(&self.keys.state(space.id), "not there");
                let row = rows.into_iter().next().ok_or_else(missing)?;
                spaces.push(Read { kept: self.kept(&row)?, space, row });
            }
        }
        spaces.sort_by(|a, b| {
            let key = |read: &Read| (read.space.name.clone(), read.kept.dropped.is_some());
            key(a).cmp(&key(b)).then(b.kept.dropped.cmp(&a.kept.dropped))
        });
        Ok((spaces, recognised, name_row.first().and_then(|rows| rows.first()).cloned()))
    }

    pub(super) async fn try_create(
        &self,
        space: &Space,
        options: CreateOptions,
        deadline: Deadline,
    ) -> Result<Space, Failure> {
        let request = "create";
        let link = self.linked(request, deadline).await?;
        self.make(request, &link, deadline).await?;
        let (before, recognised, name_row) = self.spaces(request, &link, Some(&space.name), deadline).await?;
        let told = self.told_at_creation(space, options, &before)?;
        let namesakes: Vec<Namesake<'_>> = before
            .iter()
            .map(|read| Namesake {
                space: &read.space,
                state: &read.kept.state,
                is_in_use: read.kept.dropped.is_none(),
            })
            .collect();
        let (state, hold) =
            match creation(space, &namesakes, options, told.last, recognised.live, &*self.clock)? {
                Creation::There(found) => return Ok(found),
                Creation::Begins(state, hold) => (state, hold),
            };
        let key = self.keys.state(space.id);
        let text = kept_text(&Kept { state, told, dropped: None, hold })
            .map_err(|wrong| self.corrupt(&key, &wrong))?;
        let name = self.keys.name(&space.name);
        let mut compares =
            vec![recognised.same, as_read(name.clone(), name_row.as_ref()), as_read(key.clone(), None)];
        // Of the many that a name may have had, those that were dropped last may have been written last.
        compares.extend(before.iter().take(50).map(|read| as_read(key_of(&read.row), Some(&read.row))));
        let puts = vec![
            TxnOp::put(key, text, None),
            TxnOp::put(self.keys.space(&space.name, space.id), space_text(space), None),
            TxnOp::put(name, format!("{}\n", space.id), None),
        ];
        self.write(request, &link, compares, puts, deadline).await?;
        Ok(space.clone())
    }

    /// The time with which a space begins: its creator's, checked by what those before it were told.
    fn told_at_creation(
        &self,
        space: &Space,
        options: CreateOptions,
        before: &[Read],
    ) -> Result<Told, Error> {
        let caller = Caller { trusts_clock: options.trusts_clock, ..Caller::default() };
        let teller = Teller::of(&caller, &*self.clock);
        let last = before.iter().map(|read| read.kept.told.last).max();
        let (Some(last), Some(windows)) = (last, space.windows()) else {
            return Ok(Told::first(teller.wall));
        };
        let told = Told::first(last).next(&teller, bounds(&windows.terms.timing));
        let refused =
            |refusal| Error::Refused { space: space.name.clone(), refusal, now: last, events: Vec::new() };
        told.map(|told| Told::first(told.last)).map_err(refused)
    }

    pub(super) async fn try_drop(&self, name: &str, deadline: Deadline) -> Result<(), Failure> {
        let request = "drop";
        let link = self.linked(request, deadline).await?;
        let (spaces, recognised, name_row) = self.spaces(request, &link, Some(name), deadline).await?;
        let Some(Read { kept, row, .. }) = spaces.into_iter().find(|read| read.kept.dropped.is_none()) else {
            return Err(Error::NoSuchSpace { store: self.store(), space: name.to_owned() }.into());
        };
        let dropped = Kept { dropped: Some(kept.told.last.max(self.clock.wall())), ..kept };
        let key = key_of(&row);
        let text = kept_text(&dropped).map_err(|wrong| self.corrupt(&key, &wrong))?;
        let name = self.keys.name(name);
        let compares =
            vec![recognised.same, as_read(name.clone(), name_row.as_ref()), as_read(key.clone(), Some(&row))];
        let puts = vec![TxnOp::put(key, text, None), TxnOp::put(name, "\n", None)];
        self.write(request, &link, compares, puts, deadline).await
    }

    pub(super) async fn try_show(
        &self,
        request: &'static str,
        name: Option<&str>,
        with_workers: bool,
        deadline: Deadline,
    ) -> Result<Vec<Shown>, Failure> {
        let link = self.linked(request, deadline).await?;
        let (spaces, ..) = self.spaces(request, &link, name, deadline).await?;
        let mut workers = BTreeMap::new();
        if with_workers {
            for some in spaces.chunks(100) {
                let reads = some.iter().map(|read| get_all(self.keys.workers(read.space.id))).collect();
                let found = self.read(request, &link, reads, deadline).await?;
                for (read, rows) in some.iter().zip(&found.answers) {
                    workers.insert(read.space.id, self.workers(rows.iter())?);
                }
            }
        }
        let wall = self.clock.wall();
        let shown = |Read { space, kept, .. }: Read| Shown {
            workers: workers.remove(&space.id).unwrap_or_default(),
            // What a request of a fresh client would be told, if its clock is right.
            now: now(kept.told.last, wall),
            state: kept.state,
            dropped: kept.dropped,
            hold: kept.hold,
            space,
        };
        Ok(spaces.into_iter().map(shown).collect())
    }

    pub(super) async fn try_check(&self, deadline: Deadline) -> Result<Vec<CheckLine>, Failure> {
        let request = "check";
        let link = self.linked(request, deadline).await?;
        let (spaces, ..) = self.spaces(request, &link, None, deadline).await?;
        let (wall, members) = (self.clock.wall(), self.members(&link, deadline).await);
        let status = tokio::time::timeout_at(deadline.0, link.client.clone().status()).await;
        let status = match status {
            Ok(Ok(status)) => status,
            Ok(Err(error)) => return Err(self.before_commit(request, &link, error)),
            Err(_) => return Err(self.late(request)),
        };
        let may_write = self.may_write(request, &link, deadline).await?;
        let line = |what, is_good, found| CheckLine { what, is_good, found };
        let alarms = status.errors().join("; ");
        let version = status.version();
        Ok(vec![
            line(
                "quorum",
                alarms.is_empty(),
                if alarms.is_empty() {
                    format!("a read that all agree on was answered; leader {:x}, no alarm", status.leader())
                } else {
                    format!("{alarms}; see `etcdctl alarm list`")
                },
            ),
            line(
                "members",
                true,
                match members {
                    1 => "1: the store is gone with it; each of its starts begins a hold unless a space is exempt".to_owned(),
                    2 => "2: one that is lost stops both; have three".to_owned(),
                    many => format!("{many}, of which {} may be lost", (many - 1) / 2),
                },
            ),
            clock_line(&spaces, wall),
            line(
                "version",
                at_least(version, [3, 4]),
                format!("keys of protocol {PROTOCOL}, server {version}; 3.4 or later expected"),
            ),
            line(
                "space",
                true,
                format!(
                    "{} KiB, of which {} are in use; old revisions go by --auto-compaction-retention alone",
                    status.db_size() / 1_024,
                    status.raft_used_db_size() / 1_024
                ),
            ),
            line(
                "privileges",
                may_write,
                match (may_write, self.connections.target.has_user()) {
                    (true, true) => "enough to mint".to_owned(),
                    (true, false) => "no user in the URL: whoever reaches the cluster may write".to_owned(),
                    (false, _) => "too few; see `mintage store schema`".to_owned(),
                },
            ),
        ])
    }

    /// Whether a transaction may write, by one that never does.
    async fn may_write(
        &self,
        request: &'static str,
        link: &Link,
        deadline: Deadline,
    ) -> Result<bool, Failure> {
        let never = Compare::version(self.keys.meta(), CompareOp::Less, 0);
        let id = SpaceId(0);
        let puts = [self.keys.meta(), self.keys.state(id), self.keys.worker(id, 0)];
        let puts = puts.map(|key| TxnOp::put(key, "", None)).to_vec();
        match self.write(request, link, vec![never], puts, deadline).await {
            Ok(()) | Err(Failure::Again(_)) => Ok(true),
            Err(Failure::Final(Error::Denied { .. })) => Ok(false),
            Err(failure) => Err(failure),
        }
    }
}

fn now(last: UnixNanos, wall: UnixNanos) -> UnixNanos {
    last.max(wall)
}

/// Whether this host's clock is behind what spaces were told.
fn clock_line(spaces: &[Read], wall: UnixNanos) -> CheckLine {
    let last =
        spaces.iter().filter(|read| read.space.windows().is_some()).map(|read| read.kept.told.last).max();
    let is_good = last.is_none_or(|last| wall.plus(1_000_000_000) >= last);
    let found = match last {
        None => format!("no space was told the time yet; this host's wall clock says {wall}"),
        Some(last) => format!(
            "clients' clocks are the store's: it was told {last} last, this host's wall clock says {wall}"
        ),
    };
    CheckLine { what: "clock", is_good, found }
}

fn at_least(version: &str, least: [u32; 2]) -> bool {
    let mut numbers = version.split('.').map_while(|number| number.parse::<u32>().ok());
    [numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)] >= least
}
