//! Keys, and how many of them a transaction may name.

use crate::request::{MAX_PAGE, Page};
use crate::space::SpaceId;
use crate::state::ScopeName;
use etcd_client::{Compare, CompareOp, GetOptions, TxnOp};

/// A transaction of etcd takes 128 comparisons, and as many operations (`--max-txn-ops`); some are for other rows than workers'.
const MOST: usize = 100;

/// The keys of a store.
#[derive(Debug)]
pub(super) struct Keys(String);

impl Keys {
    pub(super) fn under(prefix: &str) -> Self {
        Self(prefix.to_owned())
    }

    pub(super) fn meta(&self) -> String {
        format!("{}/meta", self.0)
    }

    /// Which space has the name.
    pub(super) fn name(&self, name: &str) -> String {
        format!("{}/name/{name}", self.0)
    }

    /// The facts of all spaces of a name, or of any.
    pub(super) fn spaces(&self, name: Option<&str>) -> String {
        name.map_or_else(|| format!("{}/space/", self.0), |name| format!("{}/space/{name}/", self.0))
    }

    pub(super) fn space(&self, name: &str, id: SpaceId) -> String {
        format!("{}{id}", self.spaces(Some(name)))
    }

    pub(super) fn state(&self, id: SpaceId) -> String {
        format!("{}/state/{id}", self.0)
    }

    pub(super) fn workers(&self, id: SpaceId) -> String {
        format!("{}/worker/{id}/", self.0)
    }

    /// Sorted as the numbers are.
    pub(super) fn worker(&self, id: SpaceId, worker: u64) -> String {
        format!("{}{worker:020}", self.workers(id))
    }

    fn scopes(&self, id: SpaceId) -> String {
        format!("{}/scope/{id}/", self.0)
    }

    /// Sorted as the names' bytes are.
    pub(super) fn scope(&self, id: SpaceId, scope: &ScopeName) -> String {
        format!("{}{scope}", self.scopes(id))
    }

    /// Reads a page of scopes.
    pub(super) fn read_scopes(&self, id: SpaceId, page: &Page) -> TxnOp {
        let prefix = self.scopes(id);
        let first =
            page.after.as_ref().map_or_else(|| prefix.clone().into(), |last| after(&self.scope(id, last)));
        // What comes after all keys that begin with `…/`.
        let end = format!("{}0", prefix.trim_end_matches('/'));
        let most = i64::from(page.most.min(MAX_PAGE));
        TxnOp::get(first, Some(GetOptions::new().with_range(end).with_limit(most)))
    }

    /// Reads the rows of these workers, and at times of some between them.
    pub(super) fn read_workers(&self, id: SpaceId, workers: Vec<u64>) -> Vec<TxnOp> {
        let range = |(first, last): (u64, u64)| {
            let options = GetOptions::new().with_range(after(&self.worker(id, last)));
            TxnOp::get(self.worker(id, first), Some(options))
        };
        runs(workers).into_iter().map(range).collect()
    }

    /// Comparisons that fail when one of these rows was written after `revision`, the one at which they were read. Rule 11.
    pub(super) fn unwritten_since(&self, id: SpaceId, workers: Vec<u64>, revision: u64) -> Vec<Compare> {
        let compare = |(first, last): (u64, u64)| {
            let later = revision.cast_signed().saturating_add(1);
            Compare::mod_revision(self.worker(id, first), CompareOp::Less, later)
                .with_range(after(&self.worker(id, last)))
        };
        runs(workers).into_iter().map(compare).collect()
    }
}

/// Operations in so few transactions within one that each has as many as it may.
pub(super) fn nested(operations: Vec<TxnOp>) -> Vec<TxnOp> {
    if operations.len() <= MOST {
        return operations;
    }
    // Those of the outer one count for the inner ones too.
    let within = |some: &[TxnOp]| TxnOp::txn(etcd_client::Txn::new().and_then(some.to_vec()));
    operations.chunks(MOST).map(within).collect()
}

/// The first key after this one.
fn after(key: &str) -> Vec<u8> {
    [key.as_bytes(), &[0]].concat()
}

/// Runs of neighbours, first and last; where there are more than [`MOST`], with the smallest gaps between them closed.
fn runs(mut workers: Vec<u64>) -> Vec<(u64, u64)> {
    workers.sort_unstable();
    workers.dedup();
    let mut gaps: Vec<u64> = workers.windows(2).map(|pair| pair[1] - pair[0]).collect();
    gaps.sort_unstable_by(|a, b| b.cmp(a));
    // A gap as wide as this stays open, if it isn't between neighbours.
    let widest = gaps.get(MOST - 1).map_or(1, |gap| (*gap).max(1));
    let mut runs: Vec<(u64, u64)> = Vec::new();
    for worker in workers {
        match runs.last_mut() {
            Some((_, last)) if worker - *last <= widest => *last = worker,
            _ => runs.push((worker, worker)),
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_one_run_and_there_are_never_too_many() {
        assert_eq!(runs(vec![]), []);
        assert_eq!(runs(vec![3, 1, 2, 2, 9, u64::MAX]), [(1, 3), (9, 9), (u64::MAX, u64::MAX)]);
        for step in [1, 2, 1_000] {
            let workers: Vec<u64> = (0..1_024).map(|at| at * step + u64::from(at % 7 == 0)).collect();
            let runs = runs(workers.clone());
            assert!(runs.len() <= MOST, "{}", runs.len());
            assert!(
                workers
                    .iter()
                    .all(|worker| runs.iter().any(|(first, last)| (first..=last).contains(&worker)))
            );
        }
    }

    #[test]
    fn keys_sort_as_numbers_do() {
        let keys = Keys::under("p");
        let id = SpaceId(1);
        assert!(keys.worker(id, 9) < keys.worker(id, 10) && keys.worker(id, 10) < keys.worker(id, u64::MAX));
        assert!(keys.worker(id, 9).starts_with(&keys.workers(id)));
    }
}
