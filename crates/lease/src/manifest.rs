//! Regions on stores of their own: what each may hand out, and whether two of them could hand out the same id. Rule 19.
//!
//! Stores of regions know nothing of each other. What keeps their ids apart are ranges of workers, or offsets, that people chose; here they are
//! compared before ids meet in one table.

use crate::space::{BlockTerms, Kind, Space, Windows};
use mintage::UnixNanos;
use std::fmt;

/// A space, and the store that has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The store's URL, without a password.
    pub store: String,
    /// The space's facts.
    pub space: Space,
    /// When it was dropped, if it was: what it handed out may still be in use.
    pub dropped: Option<UnixNanos>,
}

/// Two spaces of one name or one UUID, in two stores, that could hand out the same id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The space's name.
    pub space: String,
    /// The store of the first.
    pub first: String,
    /// The store of the second.
    pub second: String,
    /// What they have in common, or what differs that mustn't, with both values.
    pub what: String,
    /// What to do.
    pub next_step: &'static str,
}

impl fmt::Display for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { space, first, second, what, next_step } = self;
        write!(f, "{space} in {first} and {second}: {what}; {next_step}")
    }
}

/// Every pair that could hand out the same id, or has. Spaces belong together that have one name or one UUID; one that is listed twice for one
/// store is the same. Of two that were dropped nothing follows any more, and one that was dropped is kept apart from those after it in its
/// store by that store.
#[must_use]
pub fn conflicts(entries: &[Entry]) -> Vec<Conflict> {
    let mut found = Vec::new();
    for (i, first) in entries.iter().enumerate() {
        for second in &entries[..i] {
            let (first, second) = (second, first);
            let is_one = first.store == second.store && first.space.id == second.space.id;
            let belong = first.space.name == second.space.name || first.space.id == second.space.id;
            let dropped = [first, second].iter().filter(|entry| entry.dropped.is_some()).count();
            let is_settled = dropped == 2 || (dropped == 1 && first.store == second.store);
            if is_one || !belong || is_settled {
                continue;
            }
            if let Some((what, next_step)) = conflict(&first.space, &second.space) {
                let next_step = if dropped == 1 { KEEP_OUT } else { next_step };
                let (store, other) = (first.store.clone(), second.store.clone());
                found.push(Conflict {
                    space: first.space.name.clone(),
                    first: store,
                    second: other,
                    what,
                    next_step,
                });
            }
        }
    }
    found
}

/// What to do where the other one is gone, and its ids aren't.
const KEEP_OUT: &str = "one of them was dropped, and ids of it may be in use: drop the other and create it anew under another name, or with a range that the \
                        dropped one hadn't";

fn conflict(first: &Space, second: &Space) -> Option<(String, &'static str)> {
    if let Some(difference) = first.numbering_difference(second) {
        return Some((difference.to_string(), "create one of them anew with the facts of the other"));
    }
    match (&first.kind, &second.kind) {
        (Kind::Windows(first), Kind::Windows(second)) => workers(first, second),
        (Kind::Blocks(first), Kind::Blocks(second)) => values(first, second),
        (Kind::Scopes(first), Kind::Scopes(second)) => {
            let both = shared((first.first, first.last), (second.first, second.last))?;
            let what = format!("both count each scope from {} to {}", both.0, both.1);
            Some((
                what,
                "count a scope in one store alone, or give each store values of its own by --first and --last",
            ))
        }
        // Kinds that differ are numbered otherwise.
        _ => None,
    }
}

fn workers(first: &Windows, second: &Windows) -> Option<(String, &'static str)> {
    let range = |windows: &Windows| (windows.terms.first_worker, windows.terms.last_worker);
    let both = shared(range(first), range(second))?;
    let what = format!(
        "workers {} to {} and {} to {} overlap in {} to {}",
        first.terms.first_worker,
        first.terms.last_worker,
        second.terms.first_worker,
        second.terms.last_worker,
        both.0,
        both.1
    );
    Some((
        what,
        "drop one of them and create it anew under another name with a range of its own, such as --workers 0..511 and 512..1023",
    ))
}

fn values(first: &BlockTerms, second: &BlockTerms) -> Option<(String, &'static str)> {
    let both = shared((first.first, first.last), (second.first, second.last))?;
    if first.step != second.step {
        let what = format!("step is {} in one and {} in the other", first.step, second.step);
        return Some((what, "create one of them anew with the step of the other"));
    }
    if first.offset != second.offset {
        return None;
    }
    let what = format!(
        "both hand out values from {} to {} with step {} and offset {}",
        both.0, both.1, first.step, first.offset
    );
    Some((
        what,
        "create one of them anew with another offset, a step above 1, or values of its own by --first and --last",
    ))
}

/// What two ranges have in common, first and last.
fn shared(a: (u64, u64), b: (u64, u64)) -> Option<(u64, u64)> {
    let (first, last) = (a.0.max(b.0), a.1.min(b.1));
    (first <= last).then_some((first, last))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::space::{ScopeTerms, SpaceId};
    use mintage::Scheme;

    fn entry(store: &str, id: u128, kind: Kind) -> Entry {
        let space = Space { id: SpaceId(id), name: "orders".to_owned(), kind };
        Entry { store: store.to_owned(), space, dropped: None }
    }

    fn region(workers: (u64, u64)) -> Windows {
        let mut windows = Windows::of(Scheme::by_name("snowflake").unwrap(), None).unwrap();
        (windows.terms.first_worker, windows.terms.last_worker) = workers;
        windows
    }

    fn told(first: Kind, second: Kind) -> Vec<String> {
        let all = conflicts(&[entry("sqlite:a", 1, first), entry("sqlite:b", 2, second)]);
        all.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn rule_19_regions_are_apart_by_their_workers() {
        let windows = |workers| Kind::Windows(region(workers));
        assert!(told(windows((0, 511)), windows((512, 1023))).is_empty());
        let overlap = told(windows((0, 512)), windows((512, 1023)));
        assert!(overlap[0].starts_with(
            "orders in sqlite:a and sqlite:b: workers 0 to 512 and 512 to 1023 overlap in 512 to 512"
        ));
        let mut later = region((512, 1023));
        later.terms.base.epoch = later.terms.base.epoch.plus(1_000_000_000);
        let mut slower = region((512, 1023));
        slower.terms.base.tick_nanos *= 10;
        assert!(told(windows((0, 511)), Kind::Windows(later))[0].contains("epoch is "));
        assert!(told(windows((0, 511)), Kind::Windows(slower))[0].contains("tick_nanos is "));
    }

    #[test]
    fn rule_19_counters_are_apart_by_offset_or_by_range() {
        let blocks = |step, offset, first, last| {
            Kind::Blocks(BlockTerms { step, offset, first, last, ..BlockTerms::default() })
        };
        assert!(told(blocks(2, 0, 1, 99), blocks(2, 1, 1, 99)).is_empty());
        assert!(told(blocks(1, 0, 1, 99), blocks(1, 0, 100, 199)).is_empty());
        assert!(
            told(blocks(2, 1, 1, 99), blocks(2, 1, 50, 199))[0]
                .contains("from 50 to 99 with step 2 and offset 1")
        );
        assert!(
            told(blocks(2, 1, 1, 99), blocks(3, 1, 50, 199))[0]
                .contains("step is 2 in one and 3 in the other")
        );
        let scopes = Kind::Scopes(ScopeTerms::default());
        assert!(told(scopes.clone(), scopes.clone())[0].contains("both count each scope from 1"));
        assert!(told(scopes, blocks(1, 0, 1, 9))[0].contains("kind is scopes, blocks was given"));
    }

    #[test]
    fn spaces_belong_together_by_name_or_uuid_and_one_store_listed_twice_is_one() {
        let one = entry("sqlite:a", 1, Kind::Blocks(BlockTerms::default()));
        assert!(conflicts(&[one.clone(), one.clone()]).is_empty());
        let named = |name: &str, id| {
            let mut other = entry("sqlite:b", id, Kind::Blocks(BlockTerms::default()));
            name.clone_into(&mut other.space.name);
            other
        };
        assert!(conflicts(&[one.clone(), named("invoices", 2)]).is_empty());
        assert_eq!(conflicts(&[one.clone(), named("invoices", 1)]).len(), 1);
        let three = [one, named("orders", 2), entry("sqlite:c", 3, Kind::Blocks(BlockTerms::default()))];
        assert_eq!(conflicts(&three).len(), 3);
    }

    #[test]
    fn rule_19_ids_of_a_space_that_was_dropped_are_still_there() {
        let kind = || Kind::Blocks(BlockTerms::default());
        let dropped = |store, id| Entry { dropped: Some(UnixNanos(1)), ..entry(store, id, kind()) };
        let found = conflicts(&[dropped("sqlite:a", 1), entry("sqlite:b", 2, kind())]);
        assert!(found.len() == 1 && found[0].next_step.contains("ids of it may be in use"), "{found:?}");
        assert!(conflicts(&[dropped("sqlite:a", 1), dropped("sqlite:b", 2)]).is_empty());
        assert!(conflicts(&[dropped("sqlite:a", 1), entry("sqlite:a", 2, kind())]).is_empty());
    }
}
