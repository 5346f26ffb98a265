//! One request as two round trips: a read of all rows at one revision, and a transaction that writes if none was written since. Rules 10,
//! 11 and 17.

use super::Etcd;
use super::connect::{Link, MEMBER_PATIENCE};
use super::keys::nested;
use super::standing::{Noted, Standing};
use crate::error::{Cause, Error};
use crate::identity::Identity;
use crate::request::{Answered, Caller, Request};
use crate::rules::{Decision, decide};
use crate::space::{Space, SpaceId};
use crate::state::{Rows, Seen, WorkerRow};
use crate::store::{Deadline, PROTOCOL, known_protocol};
use crate::stores::attempt::{Again, Failure};
use crate::stores::scan::rows;
use crate::stores::told::{Bounds, Teller};
use crate::stores::values::{
    Kept, Told, kept_of, kept_text, protocol_of, scope_row_of, scope_text, worker_row_of, worker_text,
};
use etcd_client::{Compare, CompareOp, GetOptions, KeyValue, Txn, TxnOp, TxnOpResponse, TxnResponse};
use mintage::{Entropy, SystemEntropy};

/// Most bytes of an answer: the rows of some hundred thousand workers.
const MOST_BYTES: usize = 64 << 20;

/// What a read brought: the answers to its operations, at one revision.
pub(super) struct Found {
    pub(super) answers: Vec<Vec<KeyValue>>,
    pub(super) standing: Standing,
}

/// What the cluster is, and the comparison that fails when it is noted as another since.
pub(super) struct Recognised {
    pub(super) live: Identity,
    pub(super) same: Compare,
}

/// The comparison that holds as long as a key is as it was read; `None`: as long as there is none.
pub(super) fn as_read(key: String, read: Option<&KeyValue>) -> Compare {
    Compare::mod_revision(key, CompareOp::Equal, read.map_or(0, KeyValue::mod_revision))
}

pub(super) fn get(key: String) -> TxnOp {
    TxnOp::get(key, None)
}

pub(super) fn get_all(prefix: String) -> TxnOp {
    TxnOp::get(prefix, Some(GetOptions::new().with_prefix()))
}

impl Etcd {
    /// A connection to a member.
    pub(super) async fn linked(&self, request: &'static str, deadline: Deadline) -> Result<Link, Failure> {
        match self.connections.take(deadline).await {
            Err(_) if deadline.left().is_zero() => Err(self.late(request)),
            taken => taken.map_err(|error| self.unreachable(error)),
        }
    }

    /// Reads, at one revision that is at least as new as every write that was answered before.
    pub(super) async fn read(
        &self,
        request: &'static str,
        link: &Link,
        operations: Vec<TxnOp>,
        deadline: Deadline,
    ) -> Result<Found, Failure> {
        let seen = self.memory.number();
        let mut client = link.client.kv_client().max_decoding_message_size(MOST_BYTES);
        let answer = client.txn(Txn::new().and_then(operations));
        // Where there are others, one that says nothing doesn't use up the deadline.
        let patience =
            if self.connections.has_several() { MEMBER_PATIENCE } else { std::time::Duration::MAX };
        let answer = match tokio::time::timeout(patience.min(deadline.left()), answer).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(error)) => return Err(self.before_commit(request, link, error)),
            Err(elapsed) => {
                link.give_up();
                if deadline.left().is_zero() {
                    return Err(self.late(request));
                }
                return Err(Failure::Again(Again { source: elapsed.into(), is_unreachable: true }));
            }
        };
        let standing = self.standing(&answer, seen)?;
        let kvs = |answer: TxnOpResponse| match answer {
            TxnOpResponse::Get(mut get) => get.take_kvs(),
            _ => Vec::new(),
        };
        Ok(Found { answers: answer.op_responses().into_iter().map(kvs).collect(), standing })
    }

    fn standing(&self, answer: &TxnResponse, seen: u64) -> Result<Standing, Failure> {
        let header = answer.header().ok_or_else(|| self.corrupt("an answer", "no header"))?;
        let revision = header.revision().cast_unsigned();
        Ok(Standing { cluster: header.cluster_id(), term: header.raft_term(), revision, seen })
    }

    /// Whether the cluster is what was noted of it. Where it isn't, that is noted first, and the request is tried again.
    pub(super) async fn recognised(
        &self,
        request: &'static str,
        link: &Link,
        meta: Option<&KeyValue>,
        standing: &Standing,
        deadline: Deadline,
    ) -> Result<Recognised, Failure> {
        let Some(meta) = meta else {
            return Err(Error::NoSchema { store: self.store() }.into());
        };
        let key = self.keys.meta();
        let corrupt = |wrong: String| self.corrupt(&key, &wrong);
        known_protocol(&self.url, protocol_of(meta.value()).map_err(corrupt)?)?;
        let noted = Noted::of(meta.value()).map_err(corrupt)?;
        let same = as_read(key.clone(), Some(meta));
        if let Some(live) = standing.identity(&noted) {
            self.memory.see(standing.revision);
            return Ok(Recognised { live, same });
        }
        let members = self.members(link, deadline).await;
        let next = standing.note(&noted, members, draw()?, self.clock.wall());
        let note = Txn::new().when(vec![same]).and_then(vec![TxnOp::put(key, next.text(PROTOCOL), None)]);
        let mut client = link.client.kv_client();
        // Noting it twice would be noting it once more, so an unknown outcome does no harm.
        let answer = match tokio::time::timeout_at(deadline.0, client.txn(note)).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(error)) => return Err(self.before_commit(request, link, error)),
            Err(_) => return Err(self.late(request)),
        };
        if answer.succeeded() {
            self.memory.begin_with(self.standing(&answer, 0)?.revision);
        }
        let source = "the cluster isn't what was noted of it; that is noted now".into();
        Err(Failure::Again(Again { source, is_unreachable: false }))
    }

    /// How many members the cluster has; 1, as which most is noticed, where it doesn't tell.
    pub(super) async fn members(&self, link: &Link, deadline: Deadline) -> u64 {
        let mut client = link.client.clone();
        match tokio::time::timeout_at(deadline.0, client.member_list()).await {
            Ok(Ok(list)) => list.members().len() as u64,
            _ => 1,
        }
    }

    /// Writes if all comparisons hold. From here on, only an answer tells what became of it. Rule 10.
    pub(super) async fn write(
        &self,
        request: &'static str,
        link: &Link,
        compares: Vec<Compare>,
        puts: Vec<TxnOp>,
        deadline: Deadline,
    ) -> Result<(), Failure> {
        let mut client = link.client.kv_client();
        let transaction = Txn::new().when(compares).and_then(nested(puts));
        match tokio::time::timeout_at(deadline.0, client.txn(transaction)).await {
            Ok(Ok(answer)) if answer.succeeded() => {
                self.memory.see(self.standing(&answer, 0)?.revision);
                Ok(())
            }
            Ok(Ok(_)) => {
                let source: Cause = "another client was faster".into();
                Err(Failure::Again(Again { source, is_unreachable: false }))
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
        // Those of this handle come one after the other; against others, comparisons decide.
        let Some(_turn) = self.turns.take(space.id, deadline).await else { return Err(self.late(word)) };
        let link = self.linked(word, deadline).await?;
        let mut operations = vec![get(self.keys.meta()), get(self.keys.state(space.id))];
        operations.extend(match request {
            Request::Acquire(_) => vec![get_all(self.keys.workers(space.id))],
            _ => self.keys.read_workers(space.id, request.workers()),
        });
        operations.extend(request.scope().map(|scope| get(self.keys.scope(space.id, scope))));
        operations.extend(request.page().map(|page| self.keys.read_scopes(space.id, page)));
        let Found { answers, mut standing } = self.read(word, &link, operations, deadline).await?;
        let [meta, state, workers @ ..] = answers.as_slice() else {
            return Err(self.corrupt("an answer", "too short").into());
        };
        let gone = || Failure::from(Error::SpaceGone { space: space.name.clone() });
        let kept = state.first().map(|row| self.kept(row)).transpose()?;
        if kept.as_ref().is_some_and(|kept| self.memory.is_older(space.id, kept.state.serial)) {
            standing.seen = u64::MAX;
        }
        let recognised = self.recognised(word, &link, meta.first(), &standing, deadline).await?;
        let (state_row, kept) = state.first().zip(kept).ok_or_else(gone)?;
        if kept.dropped.is_some() {
            return Err(gone());
        }
        // No request reads both.
        let (workers, scopes) = match request.scope().is_some() || request.page().is_some() {
            true => (&[][..], workers),
            false => (workers, &[][..]),
        };
        let workers = self.workers(workers.iter().flatten())?;
        let teller = Teller::of(caller, &*self.clock);
        let told = told_by(space, &kept.told, &teller).map_err(|refusal| {
            let (name, now) = (space.name.clone(), kept.told.last);
            Failure::from(Error::Refused { space: name, refusal, now, events: Vec::new() })
        })?;
        let seen = Seen {
            now: told.last,
            live: recognised.live,
            expected: teller.expected(),
            witness: caller.witness,
        };
        let scope_row =
            |row: &KeyValue| scope_row_of(row.value()).map_err(|wrong| self.corrupt(&key_of(row), &wrong));
        let scope_rows = scopes.iter().flatten().map(scope_row).collect::<Result<_, _>>()?;
        let rows = Rows { scopes: scope_rows, ..rows(space, &kept, &told, request, workers) };
        let decision = decide(&space.kind, &kept.state, &seen, request, &rows);
        if let Some(next) = &decision.state {
            let hold = decision.hold(seen.now).or(kept.hold);
            let next = Kept { state: next.clone(), told, dropped: None, hold };
            let mut compares = vec![recognised.same, as_read(self.keys.state(space.id), Some(state_row))];
            compares.extend(decision.scope.as_ref().map(|write| {
                as_read(self.keys.scope(space.id, &write.row.scope), scopes.iter().flatten().next())
            }));
            self.write_decision(
                word,
                &link,
                space.id,
                &next,
                &decision,
                compares,
                standing.revision,
                deadline,
            )
            .await?;
        }
        let Decision { answer, serial, events, .. } = decision;
        match answer {
            Ok(answer) => Ok(Answered { answer, anchor: teller.anchored(told.last), serial, events }),
            Err(refusal) => {
                Err(Error::Refused { space: space.name.clone(), refusal, now: told.last, events }.into())
            }
        }
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "what was read, what was decided and until when, each once"
    )]
    async fn write_decision(
        &self,
        request: &'static str,
        link: &Link,
        id: SpaceId,
        next: &Kept,
        decision: &Decision,
        mut compares: Vec<Compare>,
        revision: u64,
        deadline: Deadline,
    ) -> Result<(), Failure> {
        let key = self.keys.state(id);
        let text = kept_text(next).map_err(|wrong| self.corrupt(&key, &wrong))?;
        let mut puts = vec![TxnOp::put(key, text, None)];
        let written = decision.rows.iter().map(|write| write.row.worker).collect();
        compares.extend(self.keys.unwritten_since(id, written, revision));
        for write in &decision.rows {
            puts.push(TxnOp::put(self.keys.worker(id, write.row.worker), worker_text(&write.row), None));
        }
        puts.extend(
            decision
                .scope
                .as_ref()
                .map(|write| TxnOp::put(self.keys.scope(id, &write.row.scope), scope_text(&write.row), None)),
        );
        self.write(request, link, compares, puts, deadline).await
    }

    pub(super) fn kept(&self, row: &KeyValue) -> Result<Kept, Error> {
        kept_of(row.value()).map_err(|wrong| self.corrupt(&key_of(row), &wrong))
    }

    pub(super) fn workers<'r>(
        &self,
        rows: impl Iterator<Item = &'r KeyValue>,
    ) -> Result<Vec<WorkerRow>, Error> {
        rows.map(|row| worker_row_of(row.value()).map_err(|wrong| self.corrupt(&key_of(row), &wrong)))
            .collect()
    }
}

pub(super) fn key_of(row: &KeyValue) -> String {
    String::from_utf8_lossy(row.key()).into_owned()
}

/// The time of a request. A counter doesn't go by the clock, and refuses none.
fn told_by(space: &Space, told: &Told, teller: &Teller) -> Result<Told, crate::Refusal> {
    match space.windows() {
        Some(windows) => told.next(teller, bounds(&windows.terms.timing)),
        None => Ok(Told::first(teller.wall)),
    }
}

pub(super) fn bounds(timing: &crate::space::Timing) -> Bounds {
    Bounds { skew: i128::from(timing.max_store_skew_nanos), window: i128::from(timing.window_nanos) }
}

pub(super) fn draw() -> Result<u64, Error> {
    let mut bytes = [0; 8];
    SystemEntropy.fill(&mut bytes).map_err(Error::Mint)?;
    Ok(u64::from_be_bytes(bytes))
}
