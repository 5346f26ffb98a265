//! Values at the very end of what a sequence can reach, far from where it stands: 2147483647 as "all others", put there by hand.
//!
//! Such a value says nothing of how far the sequence has come, and a sequence that were moved past it could hand out nothing more.

use crate::catalog::{Catalog, Extreme, Grows, Reading, Sequence};
use crate::sequences::fed::{Fed, Way};

/// A value stands apart when the way from the sequence to it is more than so many times what is left behind it.
const FAR: i128 = 1_000;

/// Whether a value stands apart from a sequence that has come to `last` and ends at `end`. What lies past the end doesn't: the sequence
/// never meets it.
#[must_use]
pub const fn is_apart(value: i128, last: i128, end: i128, grows: Grows) -> bool {
    let (left, way) = match grows {
        Grows::Up => (end - value, value - last),
        Grows::Down => (value - end, last - value),
    };
    left >= 0 && way > 0 && left * FAR < way
}

/// The furthest value that doesn't stand apart.
#[must_use]
pub const fn furthest_within(last: i128, end: i128, grows: Grows) -> i128 {
    match grows {
        Grows::Up => (end * FAR + last).div_euclid(FAR + 1),
        Grows::Down => -(-end * FAR - last).div_euclid(FAR + 1),
    }
}

/// Whether values that go as far as this are the sequence's own for the most part, so that one at the end is as well.
#[must_use]
pub const fn leads_there(furthest: i128, last: i128, end: i128, grows: Grows) -> bool {
    match grows {
        Grows::Up => (furthest - last) * 2 > end - last,
        Grows::Down => (last - furthest) * 2 > last - end,
    }
}

/// The last value that a sequence has handed out, where that is known; before its first the one that would stand there.
#[must_use]
pub const fn last(sequence: &Sequence) -> Option<i128> {
    match sequence.reading {
        Reading::Value(last) => Some(last),
        Reading::NeverUsed { next: Some(next) } => Some(next - sequence.increment),
        Reading::NeverUsed { next: None } | Reading::Unreadable { .. } | Reading::Unknown => None,
    }
}

/// The last value that a sequence and a column which it feeds can both hold.
#[must_use]
pub fn end(catalog: &Catalog, sequence: &Sequence, fed: &Fed) -> i128 {
    let grows = sequence.grows();
    match catalog.column(fed.at).bound(grows) {
        Some(bound) if grows == Grows::Up => bound.min(sequence.bound()),
        Some(bound) => bound.max(sequence.bound()),
        None => sequence.bound(),
    }
}

/// A value of a column that stands apart from its sequence; `None` of sequences that begin again at their end.
#[must_use]
pub fn of(catalog: &Catalog, sequence: &Sequence, fed: &Fed, extreme: &Extreme) -> Option<i128> {
    let takes = matches!(fed.way, Way::AsTheyAre { .. }) && !sequence.cycles;
    let (last, end) = (last(sequence).filter(|_| takes)?, end(catalog, sequence, fed));
    extreme.value().filter(|&value| is_apart(value, last, end, sequence.grows()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_at_the_end_stands_apart_unless_the_sequence_is_near() {
        let end = i128::from(i32::MAX);
        for (value, last, stands) in [
            (end, 50, true),
            (end - 1_000, 50, true),
            (1_900_000_000, 0, false),
            (end - 67, end - 767, false),
            (end, end - 1, true),
            (end + 1, 50, false),
            (40, 50, false),
        ] {
            assert_eq!(is_apart(value, last, end, Grows::Up), stands, "{value} {last}");
            assert_eq!(is_apart(-value, -last, -end, Grows::Down), stands, "-{value} -{last}");
        }
        for (last, end) in [(50, end), (0, 32_767), (-5, 100), (0, i128::from(i64::MAX)), (99, 100)] {
            let within = furthest_within(last, end, Grows::Up);
            assert!(!is_apart(within, last, end, Grows::Up) && is_apart(within + 1, last, end, Grows::Up));
            assert_eq!(furthest_within(-last, -end, Grows::Down), -within);
        }
    }
}
