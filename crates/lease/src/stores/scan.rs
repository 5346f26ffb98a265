//! What a rule must see of a space's workers, from all of its rows: for stores that can't ask for the lowest marks.

use super::values::{Kept, Told};
use crate::request::Request;
use crate::space::Space;
use crate::state::{Rows, WorkerRow};

/// What a rule must see of workers, of all that there are for an acquire.
pub(super) fn rows(
    space: &Space,
    kept: &Kept,
    told: &Told,
    request: &Request,
    mut workers: Vec<WorkerRow>,
) -> Rows {
    let Request::Acquire(ask) = request else {
        let named = request.workers();
        workers.retain(|row| named.contains(&row.worker));
        return Rows { named: workers, ..Rows::default() };
    };
    let tick = |time| space.windows().map_or(0, |windows| windows.terms.tick_down(time).unwrap_or(0));
    let (now, next) = (tick(told.last), kept.state.next_worker);
    let is_ours = |row: &&WorkerRow| row.host == ask.host && row.mark > now;
    let mut of_host: Vec<u64> = workers.iter().filter(is_ours).map(|row| row.mark).collect();
    of_host.sort_unstable();
    let mut ahead: Vec<u64> = workers.iter().map(|row| row.worker).filter(|worker| *worker >= next).collect();
    ahead.sort_unstable();
    let is_nonce_known = workers.iter().any(|row| row.nonce == ask.nonce);
    workers.retain(|row| !row.is_burned);
    // While nobody has confirmed that so much time has passed, whoever may be alive keeps its worker, if there are enough others.
    let has_more = space.windows().is_some_and(|windows| {
        windows.terms.last_worker.saturating_sub(next) >= u64::from(ask.want) + ahead.len() as u64
    });
    if let Some(jump) = told.jump.filter(|_| has_more) {
        let before = tick(jump.from);
        workers.retain(|row| row.mark <= before);
    }
    workers.sort_unstable_by_key(|row| (row.mark, row.worker));
    workers.truncate(usize::try_from(ask.want).unwrap_or(usize::MAX));
    Rows { lowest: workers, ahead, of_host, is_nonce_known, ..Rows::default() }
}
