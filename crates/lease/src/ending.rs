//! How near the end of a time field is: a date that is known from the first day on, and must not come as a surprise. Rule 7.

use crate::space::Terms;
use mintage::UnixNanos;

/// How near the end of a space's time field is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Ending {
    /// More than two years away.
    Far,
    /// Within two years: time to plan a space with a later epoch or a wider field.
    Near,
    /// Within 30 days, or it has come: ids end.
    Close,
}

const DAY_NANOS: i128 = 86_400 * 1_000_000_000;

/// Two years before the end it is near.
const NEAR_NANOS: i128 = 731 * DAY_NANOS;

/// A month before the end it is close.
const CLOSE_NANOS: i128 = 30 * DAY_NANOS;

impl Ending {
    /// As seen at `now`, by the store's clock.
    #[must_use]
    pub fn of(terms: &Terms, now: UnixNanos) -> Self {
        Self::at(terms.ends_at(), now)
    }

    /// Of anything that ends at `end`, as seen at `now`.
    #[must_use]
    pub const fn at(end: UnixNanos, now: UnixNanos) -> Self {
        let left = end.0.saturating_sub(now.0);
        if left <= CLOSE_NANOS {
            Self::Close
        } else if left <= NEAR_NANOS {
            Self::Near
        } else {
            Self::Far
        }
    }
}

/// The end in words: when it is, how far away, and the next step.
#[must_use]
pub fn ending_text(terms: &Terms, now: UnixNanos) -> String {
    let ends = terms.ends_at();
    match ends.0.saturating_sub(now.0) {
        ..=0 => format!("the time field ended at {ends}; {NEXT_STEP}"),
        1..DAY_NANOS => format!("the time field ends at {ends}, within a day; {NEXT_STEP} before that"),
        left => {
            format!("the time field ends at {ends}, in {} days; {NEXT_STEP} before that", left / DAY_NANOS)
        }
    }
}

const NEXT_STEP: &str = "make a space with a later epoch or a wider time field";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::space::Windows;
    use mintage::Scheme;

    #[test]
    fn rule_7_the_end_is_near_for_two_years_and_close_for_a_month() {
        let terms = Windows::of(Scheme::by_name("snowflake-twitter").unwrap(), None).unwrap().terms;
        let at = |days: i128| Ending::of(&terms, terms.ends_at().plus(-days * DAY_NANOS));
        assert_eq!([732, 731, 31, 30, 0, -1].map(at), {
            use Ending::{Close, Far, Near};
            [Far, Near, Near, Close, Close, Close]
        });
        let told = ending_text(&terms, terms.ends_at().plus(-31 * DAY_NANOS));
        assert!(told.starts_with("the time field ends at 2080-07-10T17:30:30.209Z, in 31 days;"), "{told}");
        assert!(ending_text(&terms, terms.ends_at().plus(-1)).contains("within a day;"));
        assert!(ending_text(&terms, terms.ends_at()).starts_with("the time field ended at 2080"));
    }
}
