//! A store of plain data: it reads, decides and writes as stores do, and can be copied and put back.

use mintage_lease::Refusal;
use mintage_lease::request::{Answer, Event, Request};
use mintage_lease::rules::Decision;
use mintage_lease::space::{Kind, Terms};
use mintage_lease::state::{Expect, RowWrite, Rows, Seen, SpaceState, Tick, WorkerRow};

/// The rows of one space.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Table {
    /// Which space the name leads to: raised when it is dropped and created again.
    pub(super) space: u8,
    /// The space's row.
    pub(super) state: SpaceState,
    /// The rows of its workers, by worker.
    pub(super) workers: Vec<WorkerRow>,
}

/// What a transaction told.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Told {
    pub(super) answer: Result<Answer, Refusal>,
    pub(super) events: Vec<Event>,
    pub(super) is_changed: bool,
}

/// The numbers of a space of windows.
pub(super) fn terms(kind: &Kind) -> Terms {
    match kind {
        Kind::Windows(windows) => windows.terms,
        Kind::Blocks(_) | Kind::Scopes(_) => panic!("only a space of windows has windows"),
    }
}

impl Table {
    /// What [`Rows`] asks for: what a store's queries return.
    pub(super) fn rows(&self, kind: &Kind, seen: &Seen, request: &Request) -> Rows {
        let workers = request.workers();
        let named = self.workers.iter().filter(|row| workers.contains(&row.worker)).cloned().collect();
        let Request::Acquire(ask) = request else { return Rows { named, ..Rows::default() } };
        let mut lowest: Vec<WorkerRow> = self.workers.iter().filter(|row| !row.is_burned).cloned().collect();
        lowest.sort_by_key(|row| (row.mark, row.worker));
        lowest.truncate(ask.want as usize);
        let ahead = self.workers.iter().map(|row| row.worker);
        let ahead = ahead.filter(|worker| *worker >= self.state.next_worker).collect();
        let terms = terms(kind);
        let of_host = self.workers.iter().filter(|row| row.host == ask.host).map(|row| row.mark);
        let mut of_host: Vec<Tick> = of_host.filter(|mark| terms.is_after(*mark, seen.now)).collect();
        of_host.sort_unstable();
        let is_nonce_known = self.workers.iter().any(|row| row.nonce == ask.nonce);
        Rows { named, lowest, ahead, of_host, is_nonce_known, scopes: Vec::new() }
    }

    /// The row of `worker`.
    pub(super) fn row(&self, worker: u64) -> Option<&WorkerRow> {
        self.workers.iter().find(|row| row.worker == worker)
    }

    /// Writes what a decision says, in the transaction that read what it was decided on.
    pub(super) fn carry_out(&mut self, decision: Decision) -> Told {
        let Decision { state, rows, answer, events, .. } = decision;
        let is_changed = state.is_some();
        assert!(is_changed || rows.is_empty(), "a worker's row is written without the space's");
        if let Some(state) = state {
            assert!(state.serial > self.state.serial, "a write that doesn't raise the serial");
            self.state = state;
        }
        for write in rows {
            assert!(self.write(write), "a row changed inside a transaction");
        }
        Told { answer, events, is_changed }
    }

    /// Compare-and-set of one worker's row: whether it was still as expected.
    pub(super) fn write(&mut self, write: RowWrite) -> bool {
        let place = self.workers.binary_search_by_key(&write.row.worker, |row| row.worker);
        let found = place.ok().map(|i| &self.workers[i]);
        if Expect::of(found) != write.expect {
            return false;
        }
        match place {
            Ok(i) => self.workers[i] = write.row,
            Err(i) => self.workers.insert(i, write.row),
        }
        true
    }
}
