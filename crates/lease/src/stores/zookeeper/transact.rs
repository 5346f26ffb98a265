//! One request as two round trips: a write of the session's node with the reads behind it, and a transaction that writes if nothing of what
//! was read was written since. Rules 10, 11 and 17.

use super::ZooKeeper;
use super::connect::Link;
use super::paths::hex;
use super::standing::{Noted, Standing};
use crate::error::Error;
use crate::identity::Identity;
use crate::request::{Answered, Caller, MAX_PAGE, Request};
use crate::rules::{Decision, decide};
use crate::space::{Space, SpaceId};
use crate::state::{RowWrite, Rows, ScopeRow, Seen, WorkerRow};
use crate::store::{Deadline, PROTOCOL, anchor, expected, known_protocol};
use crate::stores::attempt::{Again, Failure};
use crate::stores::scan::rows;
use crate::stores::values::{
    Kept, Told, kept_of, kept_text, protocol_of, scope_row_of, scope_text, worker_row_of, worker_text,
};
use mintage::{Entropy, SystemEntropy, UnixNanos};
use std::collections::HashMap;
use std::sync::atomic::Ordering;
use zookeeper_client::{
    CreateMode, Error as DriverFailure, MultiReadResult, MultiWriteResult, MultiWriter, Stat,
};

/// Most nodes that are read by one message.
const MOST: usize = 1_000;

/// What is to be read.
pub(super) enum Get {
    Data(String),
    Children(String),
}

/// What a node shows.
#[derive(Debug)]
pub(super) enum Got {
    Data(Vec<u8>, i32),
    Children(Vec<String>),
    None,
}

impl Got {
    /// Its data and their version.
    pub(super) fn data(&self) -> Option<(&[u8], i32)> {
        match self {
            Self::Data(data, version) => Some((data, *version)),
            _ => None,
        }
    }

    pub(super) fn children(&self) -> &[String] {
        match self {
            Self::Children(children) => children,
            _ => &[],
        }
    }
}

/// What the first trip brought.
pub(super) struct Found {
    pub(super) got: Vec<Got>,
    pub(super) standing: Standing,
    /// The version of the session's node, which the transaction names.
    pub(super) touched: i32,
}

/// What the ensemble is, and the versions that the transaction names for that.
pub(super) struct Recognised {
    pub(super) live: Identity,
    pub(super) meta: i32,
    pub(super) touched: i32,
}

impl ZooKeeper {
    pub(super) async fn linked(&self, request: &'static str, deadline: Deadline) -> Result<Link, Failure> {
        match self.connections.take(deadline).await {
            Err(_) if deadline.left().is_zero() => Err(self.late(request)),
            taken => taken.map_err(|error| self.unreachable(error)),
        }
    }

    /// What comes of this before the deadline, with nothing committed yet.
    pub(super) async fn within<T>(
        &self,
        request: &'static str,
        link: &Link,
        deadline: Deadline,
        answer: impl Future<Output = Result<T, DriverFailure>>,
    ) -> Result<T, Failure> {
        match tokio::time::timeout_at(deadline.0, answer).await {
            Ok(answer) => answer.map_err(|error| self.before_commit(request, link, error)),
            Err(_) => {
                link.give_up();
                Err(self.late(request))
            }
        }
    }

    /// Writes the session's node and reads, all sent at once. A session's requests are carried out in order, so what is read is at least as
    /// new as that write, and the write tells the leader's time.
    pub(super) async fn first_trip(
        &self,
        request: &'static str,
        link: &Link,
        gets: &[Get],
        deadline: Deadline,
    ) -> Result<Found, Failure> {
        let seen = self.memory.number();
        if !link.has_node.load(Ordering::SeqCst) {
            let options = CreateMode::Ephemeral.with_acls(self.connections.acls());
            let made = link.client.create(&link.node, b"", &options);
            match tokio::time::timeout_at(deadline.0, made).await {
                Ok(Ok(_) | Err(DriverFailure::NodeExists)) => link.has_node.store(true, Ordering::SeqCst),
                Ok(Err(DriverFailure::NoNode)) => return Err(Error::NoSchema { store: self.store() }.into()),
                Ok(Err(error)) => return Err(self.before_commit(request, link, error)),
                Err(_) => return Err(self.late(request)),
            }
        }
        let touch = link.client.set_data(&link.node, b"", None);
        let read = self.read(link, gets);
        let both = async { (touch.await, read.await) };
        let both = async {
            let (stat, got) = both.await;
            Ok((stat?, got?))
        };
        let (stat, got): (Stat, Vec<Got>) = self.within(request, link, deadline, both).await?;
        let now = UnixNanos(i128::from(stat.mtime) * 1_000_000);
        let standing = Standing { zxid: stat.mzxid.cast_unsigned(), now, seen };
        Ok(Found { got, standing, touched: stat.version })
    }

    /// Reads, sent when this is called.
    pub(super) fn read<'l>(
        &self,
        link: &'l Link,
        gets: &[Get],
    ) -> impl Future<Output = Result<Vec<Got>, DriverFailure>> + Send + use<'l> {
        let send = |some: &[Get]| {
            let mut reader = link.client.new_multi_reader();
            for get in some {
                match get {
                    Get::Data(path) => reader.add_get_data(path)?,
                    Get::Children(path) => reader.add_get_children(path)?,
                }
            }
            Ok(reader.commit())
        };
        let sent: Vec<Result<_, DriverFailure>> = gets.chunks(MOST).map(send).collect();
        async move {
            let mut got = Vec::new();
            for answer in sent {
                for result in answer?.await? {
                    got.push(match result {
                        MultiReadResult::Data { data, stat } => Got::Data(data, stat.version),
                        MultiReadResult::Children { children } => Got::Children(children),
                        MultiReadResult::Error { err: DriverFailure::NoNode } => Got::None,
                        MultiReadResult::Error { err } => return Err(err),
                        _ => Got::None,
                    });
                }
            }
            Ok(got)
        }
    }

    /// Whether the ensemble is what was noted of it. Where it isn't, that is noted first, and the request is tried again.
    pub(super) async fn recognised(
        &self,
        request: &'static str,
        link: &Link,
        meta: Option<(&[u8], i32)>,
        found: &Found,
        deadline: Deadline,
    ) -> Result<Recognised, Failure> {
        let Some((text, version)) = meta else {
            return Err(Error::NoSchema { store: self.store() }.into());
        };
        let path = self.paths.meta();
        let corrupt = |wrong: String| self.corrupt(&path, &wrong);
        known_protocol(&self.url, protocol_of(text).map_err(corrupt)?)?;
        let noted = Noted::of(text).map_err(corrupt)?;
        let standing = &found.standing;
        if let Some(live) = standing.identity(&noted) {
            self.memory.see(standing.zxid);
            return Ok(Recognised { live, meta: version, touched: found.touched });
        }
        let next = standing.note(&noted, draw()?).text(PROTOCOL);
        // Noting it twice would be noting it once more, so an unknown outcome does no harm.
        let note = link.client.set_data(&path, next.as_bytes(), Some(version));
        let stat = self.within(request, link, deadline, note).await?;
        self.memory.begin_with(stat.mzxid.cast_unsigned());
        let source = "the ensemble isn't what was noted of it; that is noted now".into();
        Err(Failure::Again(Again { source, is_unreachable: false }))
    }

    /// A transaction that fails when the session was taken up on other data, or the ensemble was noted to be another.
    pub(super) fn fenced<'l>(
        &self,
        link: &'l Link,
        recognised: &Recognised,
    ) -> Result<MultiWriter<'l>, DriverFailure> {
        let mut writer = link.client.new_multi_writer();
        writer.add_check_version(&link.node, recognised.touched)?;
        writer.add_check_version(&self.paths.meta(), recognised.meta)?;
        Ok(writer)
    }

    /// Writes if all versions are as named. From here on, only an answer tells what became of it. Rule 10.
    pub(super) async fn commit(
        &self,
        request: &'static str,
        link: &Link,
        mut writer: MultiWriter<'_>,
        deadline: Deadline,
    ) -> Result<(), Failure> {
        match tokio::time::timeout_at(deadline.0, writer.commit()).await {
            Ok(Ok(results)) => {
                for result in results {
                    if let MultiWriteResult::SetData { stat } = result {
                        self.memory.see(stat.mzxid.cast_unsigned());
                    }
                }
                Ok(())
            }
            Ok(Err(error)) => Err(self.at_commit(request, link, error)),
            Err(elapsed) => {
                link.give_up();
                Err(self.unknown(request, elapsed))
            }
        }
    }

    pub(super) async fn try_ask(
        &self,
        space: &Space,
        caller: &Caller,
        request: &Request,
        deadline: Deadline,
    ) -> Result<Answered, Failure> {
        let word = request.name();
        // Those of this handle come one after the other; against others, versions decide.
        let Some(_turn) = self.turns.take(space.id, deadline).await else { return Err(self.late(word)) };
        let link = self.linked(word, deadline).await?;
        let is_acquire = matches!(request, Request::Acquire(_));
        let workers = if is_acquire { self.known_workers(space.id) } else { request.workers() };
        let mut gets = vec![Get::Data(self.paths.meta()), Get::Data(self.paths.state(space.id))];
        gets.extend(is_acquire.then(|| Get::Children(self.paths.workers(space.id))));
        gets.extend(workers.iter().map(|worker| Get::Data(self.paths.worker(space.id, *worker))));
        gets.extend(request.scope().map(|scope| Get::Data(self.paths.scope(space.id, scope))));
        gets.extend(request.page().map(|_| Get::Children(self.paths.scopes(space.id))));
        let sent = self.clock.boottime_nanos();
        let mut found = self.first_trip(word, &link, &gets, deadline).await?;
        let anchor = anchor(found.standing.now, sent, &*self.clock);
        let expected = expected(caller, &*self.clock);
        let rest = found.got.split_off(found.got.len().min(2));
        let [meta, state] = found.got.as_slice() else {
            return Err(self.corrupt("an answer", "too short").into());
        };
        let gone = || Failure::from(Error::SpaceGone { space: space.name.clone() });
        let kept = state.data().map(|(text, version)| self.kept(space.id, text).map(|kept| (kept, version)));
        let kept = kept.transpose()?;
        if kept.as_ref().is_some_and(|(kept, _)| self.memory.is_older(space.id, kept.state.serial)) {
            found.standing.seen = u64::MAX;
        }
        let recognised = self.recognised(word, &link, meta.data(), &found, deadline).await?;
        let (kept, version) = kept.ok_or_else(gone)?;
        if kept.dropped.is_some() {
            return Err(gone());
        }
        let (scopes, scope_version) = self.scopes(word, &link, space.id, request, &rest, deadline).await?;
        let mut read = if is_acquire {
            self.all_workers(word, &link, space.id, workers, rest, deadline).await?
        } else {
            self.workers(space.id, workers.iter().copied().zip(&rest))?
        };
        let versions: HashMap<u64, i32> = read.iter().map(|(row, version)| (row.worker, *version)).collect();
        let now = found.standing.now;
        let told = Told::first(now);
        let read = read.drain(..).map(|(row, _)| row).collect();
        let rows = Rows { scopes, ..rows(space, &kept, &told, request, read) };
        let seen = Seen { now, live: recognised.live, expected, witness: caller.witness };
        let decision = decide(&space.kind, &kept.state, &seen, request, &rows);
        if let Some(next) = &decision.state {
            let hold = decision.hold(seen.now).or(kept.hold);
            let next = Kept { state: next.clone(), told, dropped: None, hold };
            let path = self.paths.state(space.id);
            let text = kept_text(&next).map_err(|wrong| self.corrupt(&path, &wrong))?;
            let writer = self
                .fenced(&link, &recognised)
                .and_then(|mut writer| {
                    writer.add_set_data(&path, text.as_bytes(), Some(version))?;
                    if let Some(write) = &decision.scope {
                        self.add_scope(&mut writer, space.id, &write.row, scope_version)?;
                    }
                    self.add_rows(&mut writer, space.id, &decision.rows, &versions).map(|()| writer)
                })
                .map_err(|error| self.before_commit(word, &link, error))?;
            self.commit(word, &link, writer, deadline).await?;
            self.know_workers(space.id, decision.rows.iter().map(|write| write.row.worker));
            self.memory.is_older(space.id, decision.serial);
        }
        let Decision { answer, serial, events, .. } = decision;
        match answer {
            Ok(answer) => Ok(Answered { answer, anchor, serial, events }),
            Err(refusal) => Err(Error::Refused { space: space.name.clone(), refusal, now, events }.into()),
        }
    }

    fn add_scope(
        &self,
        writer: &mut MultiWriter<'_>,
        id: SpaceId,
        row: &ScopeRow,
        version: Option<i32>,
    ) -> Result<(), DriverFailure> {
        let options = CreateMode::Persistent.with_acls(self.connections.acls());
        let (path, text) = (self.paths.scope(id, &row.scope), scope_text(row));
        match version {
            Some(version) => writer.add_set_data(&path, text.as_bytes(), Some(version)),
            None => writer.add_create(&path, text.as_bytes(), &options),
        }
    }

    /// The scopes that a request asks for, and the version of the one that it names. A page takes one more trip, once it is known which
    /// nodes there are.
    async fn scopes(
        &self,
        request: &'static str,
        link: &Link,
        id: SpaceId,
        ask: &Request,
        got: &[Got],
        deadline: Deadline,
    ) -> Result<(Vec<ScopeRow>, Option<i32>), Failure> {
        let row = |text: &[u8], path: &str| scope_row_of(text).map_err(|wrong| self.corrupt(path, &wrong));
        if let Some(scope) = ask.scope() {
            let Some((text, version)) = got.last().and_then(Got::data) else { return Ok((Vec::new(), None)) };
            return Ok((vec![row(text, &self.paths.scope(id, scope))?], Some(version)));
        }
        let Some(page) = ask.page() else { return Ok((Vec::new(), None)) };
        let after = page.after.as_ref().map(hex);
        let mut nodes: Vec<&String> = got.last().map(Got::children).unwrap_or_default().iter().collect();
        nodes.retain(|node| after.as_ref().is_none_or(|after| *node > after));
        nodes.sort_unstable();
        nodes.truncate(usize::try_from(page.most.min(MAX_PAGE)).unwrap_or(usize::MAX));
        let path = self.paths.scopes(id);
        let gets: Vec<Get> = nodes.iter().map(|node| Get::Data(format!("{path}/{node}"))).collect();
        let got = self.within(request, link, deadline, self.read(link, &gets)).await?;
        let rows = nodes.iter().zip(&got).filter_map(|(node, got)| Some((node, got.data()?.0)));
        let rows = rows.map(|(node, text)| row(text, &format!("{path}/{node}"))).collect::<Result<_, _>>()?;
        Ok((rows, None))
    }

    fn add_rows(
        &self,
        writer: &mut MultiWriter<'_>,
        id: SpaceId,
        rows: &[RowWrite],
        versions: &HashMap<u64, i32>,
    ) -> Result<(), DriverFailure> {
        let options = CreateMode::Persistent.with_acls(self.connections.acls());
        for RowWrite { row, .. } in rows {
            let (path, text) = (self.paths.worker(id, row.worker), worker_text(row));
            match versions.get(&row.worker) {
                Some(version) => writer.add_set_data(&path, text.as_bytes(), Some(*version))?,
                None => writer.add_create(&path, text.as_bytes(), &options)?,
            }
        }
        Ok(())
    }

    pub(super) fn kept(&self, id: SpaceId, text: &[u8]) -> Result<Kept, Error> {
        kept_of(text).map_err(|wrong| self.corrupt(&self.paths.state(id), &wrong))
    }

    /// The rows of workers that have one, with their versions.
    pub(super) fn workers<'g>(
        &self,
        id: SpaceId,
        got: impl Iterator<Item = (u64, &'g Got)>,
    ) -> Result<Vec<(WorkerRow, i32)>, Error> {
        let row = |(worker, (text, version)): (u64, (&[u8], i32))| match worker_row_of(text) {
            Ok(row) => Ok((row, version)),
            Err(wrong) => Err(self.corrupt(&self.paths.worker(id, worker), &wrong)),
        };
        got.filter_map(|(worker, got)| Some((worker, got.data()?))).map(row).collect()
    }

    /// All rows of a space: those whose nodes this handle knew of came with the first trip, the others take one more.
    async fn all_workers(
        &self,
        request: &'static str,
        link: &Link,
        id: SpaceId,
        known: Vec<u64>,
        got: Vec<Got>,
        deadline: Deadline,
    ) -> Result<Vec<(WorkerRow, i32)>, Failure> {
        let path = self.paths.workers(id);
        let mut all = Vec::new();
        for name in got.first().map(Got::children).unwrap_or_default() {
            all.push(name.parse().map_err(|_| self.corrupt(&path, &format!("node {name:?}")))?);
        }
        let mut rows = self.workers(id, known.iter().copied().zip(got.iter().skip(1)))?;
        let is_known: std::collections::HashSet<u64> = known.into_iter().collect();
        let missing: Vec<u64> = all.into_iter().filter(|worker| !is_known.contains(worker)).collect();
        if !missing.is_empty() {
            let gets: Vec<Get> =
                missing.iter().map(|worker| Get::Data(self.paths.worker(id, *worker))).collect();
            let got = self.within(request, link, deadline, self.read(link, &gets)).await?;
            rows.extend(self.workers(id, missing.iter().copied().zip(&got))?);
            self.know_workers(id, missing.into_iter());
        }
        Ok(rows)
    }
}

pub(super) fn draw() -> Result<u64, Error> {
    let mut bytes = [0; 8];
    SystemEntropy.fill(&mut bytes).map_err(Error::Mint)?;
    Ok(u64::from_be_bytes(bytes))
}
