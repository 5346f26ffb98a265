//! How far a key has come, from what its sequence and its column show.

use crate::apart;
use crate::catalog::{Catalog, Column, Extreme, Feed, Grows, Reading, Sequence};
use crate::limits::{Source, is_before, unread};

/// The further of two.
pub(crate) fn further(a: Extreme, b: Extreme, grows: Grows) -> Extreme {
    match (&a, &b) {
        (Extreme::Empty, _) => b,
        (_, Extreme::Empty) => a,
        // What is known of one part is a lower bound of the whole.
        (Extreme::Unread(_), Extreme::Exact(value) | Extreme::AtLeast(value))
        | (Extreme::Exact(value) | Extreme::AtLeast(value), Extreme::Unread(_)) => Extreme::AtLeast(*value),
        (Extreme::Unread(_), Extreme::Unread(_)) => a,
        (Extreme::Exact(x) | Extreme::AtLeast(x), Extreme::Exact(y) | Extreme::AtLeast(y)) => {
            let value = if is_before(*x, *y, grows) { *y } else { *x };
            let is_exact = matches!((&a, &b), (Extreme::Exact(_), Extreme::Exact(_)));
            if is_exact { Extreme::Exact(value) } else { Extreme::AtLeast(value) }
        }
    }
}

/// The last value handed out, or the furthest in use, whichever is further.
pub(crate) fn current(
    catalog: &Catalog,
    column: &Column,
    fed_by: Option<&Sequence>,
    extreme: &Extreme,
    grows: Grows,
) -> (Option<i128>, Source) {
    let by_extreme = match extreme {
        Extreme::Exact(value) => Some((*value, Source::Index)),
        Extreme::AtLeast(value) => Some((*value, Source::Statistics)),
        Extreme::Empty | Extreme::Unread(_) => None,
    };
    let from_sequence = fed_by.map_or(Source::Sequence, |sequence| source_of(catalog, sequence));
    let (reading, source, before) = match (&column.feed, fed_by) {
        (_, Some(sequence)) => (&sequence.reading, from_sequence, -sequence.increment),
        (Feed::AutoIncrement { last }, _) => (last, Source::AutoIncrement, -1),
        _ => {
            return match (by_extreme, extreme) {
                (Some((value, source)), _) => (Some(value), source),
                (None, Extreme::Empty) => (Some(0), Source::Index),
                (None, Extreme::Unread(why)) => (None, Source::Unknown(unread(why))),
                (None, _) => (None, Source::Unknown("it wasn't read".to_owned())),
            };
        }
    };
    let by_reading = match reading {
        Reading::Value(value) => Some((*value, source)),
        // None was handed out since a restart: what lies before it counts as used.
        Reading::NeverUsed { next: Some(next) } => {
            let is_fresh = fed_by.is_none_or(|sequence| *next == sequence.start);
            // Rows may have come with ids of their own; only a look at them could tell.
            if let (true, Extreme::Unread(why)) = (is_fresh, extreme) {
                return (None, Source::Unknown(format!("its sequence was never used, and {}", unread(why))));
            }
            Some((next + before, source))
        }
        Reading::NeverUsed { next: None } => {
            return match by_extreme {
                Some((value, source)) => (Some(value), source),
                None => (
                    None,
                    Source::Unknown(
                        "its sequence was never used or was restarted; SELECT on it would tell".to_owned(),
                    ),
                ),
            };
        }
        Reading::Unreadable { needs } => {
            return match by_extreme {
                // The furthest row is a lower bound of what was handed out, and marked as such.
                Some((value, _)) => (Some(value), Source::Statistics),
                None => (None, Source::Unknown(needs.clone())),
            };
        }
        Reading::Unknown => None,
    };
    let stands_apart = |last: i128, value: i128| {
        fed_by.is_some_and(|sequence| {
            let bound = column.bound(grows).unwrap_or(i128::MAX);
            let end = if is_before(bound, sequence.bound(), grows) { bound } else { sequence.bound() };
            !sequence.cycles && apart::is_apart(value, last, end, grows)
        })
    };
    match (by_reading, by_extreme) {
        (Some((a, _)), Some((b, _))) if stands_apart(a, b) => (Some(a), Source::BesideApart),
        (Some((a, _)), Some((b, source))) if is_before(a, b, grows) => (Some(b), source),
        (Some((a, source)), _) => (Some(a), source),
        (None, Some((b, source))) => (Some(b), source),
        (None, None) => (None, Source::Unknown("it wasn't read".to_owned())),
    }
}

/// How well a sequence's reading can be trusted.
pub(crate) const fn source_of(catalog: &Catalog, sequence: &Sequence) -> Source {
    match (catalog.server.is_standby, sequence.is_ahead) {
        (true, _) => Source::StandbySequence,
        (false, true) => Source::CachedSequence,
        (false, false) => Source::Sequence,
    }
}

/// Where the used part of a sequence begins: 0, unless it goes through the other side of it.
pub(crate) fn first(sequence: &Sequence, current: Option<i128>) -> i128 {
    match sequence.grows() {
        Grows::Up if sequence.start < 0 || current.is_some_and(|current| current < 0 && sequence.min < 0) => {
            if sequence.start < 0 {
                sequence.start.min(current.unwrap_or(sequence.start))
            } else {
                sequence.min
            }
        }
        Grows::Down if sequence.start > 0 || current.is_some_and(|current| current > 0) => {
            sequence.start.max(current.unwrap_or(sequence.start)).max(0)
        }
        _ => 0,
    }
}

/// The share of the way from `first` to `limit`, 0 to 1.
pub(crate) fn ratio(current: i128, limit: i128, first: i128) -> f64 {
    if limit == first {
        return 1.0;
    }
    // Nothing of a way downwards would be -0.
    ((current - first) as f64 / (limit - first) as f64).clamp(0.0, 1.0) + 0.0
}
