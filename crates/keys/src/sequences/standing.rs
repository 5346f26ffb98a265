//! How a sequence stands to what is in use, and where it belongs: plain data. `judge.rs` fills it in.

use super::fed::{Way, further};
use super::{Outlook, Repair};
use crate::apart::is_apart;
use crate::catalog::Grows;
use std::collections::HashMap;

/// A sequence, or an AUTO_INCREMENT counter, beside what it feeds.
#[derive(Clone, Debug, PartialEq)]
pub struct Standing {
    /// Its schema.
    pub schema: String,
    /// Its name; of a counter the table's.
    pub name: String,
    /// The columns that it feeds.
    pub columns: Vec<ColumnFed>,
    /// Whether it is a counter of MariaDB, MySQL, not a sequence.
    pub is_counter: bool,
    /// The column that it belongs to; not of identity columns, whose sequences can't be given away.
    pub owner: Option<[String; 3]>,
    /// What is added; never 0.
    pub increment: i128,
    /// How many values a session takes at once.
    pub cache: u64,
    /// The last value that it and its columns can hold, and what can't hold more.
    pub end: (i128, String),
    /// Where values stand apart at the very end: the furthest that counts. See [`crate::apart`].
    pub within: Option<i128>,
    /// The last value and whether it was handed out; `None` where it can't be read.
    pub reading: Option<(i128, bool)>,
    /// The furthest value known to be in use in its columns.
    pub in_use: Option<i128>,
    /// The highest value seen elsewhere.
    pub witness: Option<i128>,
    /// How it stands.
    pub verdict: Verdict,
    /// What was set, as texts for people: before and after. Only after a repair.
    pub repaired: Option<(String, String)>,
    /// Why a repair was refused.
    pub refused: Option<String>,
    /// Where its values stand in a descending sequence.
    pub grows: Grows,
    /// Whether it begins again at its end.
    pub cycles: bool,
}

/// A column, by names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnFed {
    /// Schema, table, column.
    pub path: [String; 3],
    /// Its type as the server writes it.
    pub declared: String,
    /// How it takes its values.
    pub way: Way,
    /// Whether its furthest value stands at the end of an index, in all its parts.
    pub is_cheap: bool,
    /// Whether it holds whole numbers only.
    pub is_whole: bool,
    /// Schema and table of each part that the sequence feeds, where another one feeds some below the column; else empty.
    pub only: Vec<[String; 2]>,
    /// Its furthest value, where that is known.
    pub furthest: Option<i128>,
}

/// How a sequence stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Past all that is known to be in use.
    Fine,
    /// It will hand out values that are in use, were seen elsewhere, or lie within the gap.
    Behind {
        /// What says so.
        by: By,
        /// What it hands out next.
        next: i128,
    },
    /// It can't be known.
    Unknown {
        /// What is missing.
        why: String,
        /// A query or a grant that would tell.
        next: String,
    },
    /// Nothing that can be read says whether it is behind.
    NotJudged {
        /// Why.
        why: &'static str,
    },
}

impl Verdict {
    /// One word: `fine`, `behind`, `unknown`, `not_judged`.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Fine => "fine",
            Self::Behind { .. } => "behind",
            Self::Unknown { .. } => "unknown",
            Self::NotJudged { .. } => "not_judged",
        }
    }
}

/// What a sequence is behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// A value in its column.
    Column,
    /// A value seen elsewhere.
    Witness,
    /// The gap that is demanded past both.
    Gap,
}

impl Standing {
    /// `schema.name`, for people.
    #[must_use]
    pub fn path(&self) -> String {
        format!("{}.{}", self.schema, self.name)
    }

    /// What it hands out next, where that is known.
    #[must_use]
    pub fn next(&self) -> Option<i128> {
        self.reading.map(|(last, is_called)| if is_called { last + self.increment } else { last })
    }

    /// The furthest value that is known of, in columns or elsewhere.
    #[must_use]
    pub fn known(&self) -> Option<i128> {
        further(self.in_use, self.witness, self.grows)
    }

    /// Whether a repair with this gap moves it.
    #[must_use]
    pub fn is_moved_by(&self, gap: u64) -> bool {
        let is_behind = matches!(self.verdict, Verdict::Behind { .. });
        is_behind || (gap > 0 && self.reading.is_some() && !self.cycles)
    }

    /// Where it belongs: at least `gap` past its own value and all that is known of, at a value that it reaches by its own steps.
    /// `None` where its value can't be read. It may lie past [`Standing::end`].
    #[must_use]
    pub fn target(&self, gap: u64) -> Option<i128> {
        let (last, _) = self.reading?;
        let gap = i128::from(gap) * self.increment.signum();
        let goal = further(self.known(), Some(last), self.grows)? + gap;
        Some(steps_to(last, goal, self.increment))
    }

    /// The target, or why the sequence can't go there.
    ///
    /// # Errors
    /// The end that it would pass, and what to do.
    pub fn reachable(&self, gap: u64) -> Result<i128, String> {
        let target = self.target(gap).ok_or_else(|| "its value can't be read".to_owned())?;
        let (end, whose) = &self.end;
        let fits = if self.grows == Grows::Up { target <= *end } else { target >= *end };
        if fits && self.is_dead_end(target) {
            return Err(self.why_not(target));
        }
        if fits {
            return Ok(target);
        }
        Err(format!("it would have to be set to {target}, and {whose} ends at {end}; widen that first"))
    }
}

impl Standing {
    /// Whether it could hand out nothing, or next to nothing, from there on. What was seen elsewhere is believed as long as something is left.
    fn is_dead_end(&self, target: i128) -> bool {
        let Some(next) = self.next() else { return false };
        let was_seen =
            self.witness.is_some_and(|seen| further(Some(seen), self.in_use, self.grows) == Some(seen));
        let is_apart = is_apart(target, next - self.increment, self.end.0, self.grows);
        is_apart && !self.cycles && (!was_seen || target == self.end.0)
    }

    /// Why it isn't moved there, and what to do.
    fn why_not(&self, target: i128) -> String {
        let left = (self.end.0 - target).unsigned_abs() / self.increment.unsigned_abs();
        let (next, what) = (self.next().unwrap_or_default(), &self.end.1);
        let mut said = format!(
            "it would have to be set to {target}, from where {what} has {left} numbers left, and inserts would fail; it hands out {next} next"
        );
        let holder =
            self.columns.iter().find(|column| column.furthest.is_some() && column.furthest == self.in_use);
        if let (Some(column), Some(value)) =
            (holder, self.in_use.filter(|value| Some(*value) == self.known()))
        {
            let [schema, table, name] = &column.path;
            said.push_str(&format!(
                ". Look at the row of {schema}.{table} whose {name} is {value}: if it was put there by hand, move it, or name the largest {name} \
                 that was given out in a --witness FILE, as {schema}.{table}.{name},N"
            ));
        }
        said
    }
}

/// The first value at or past `goal` that is reached from `last` by whole steps.
///
/// ```
/// use mintage_keys::sequences::standing::steps_to;
/// assert_eq!(steps_to(33, 60, 1), 60);
/// assert_eq!(steps_to(1, 60, 2), 61); // odd numbers stay odd
/// ```
#[must_use]
pub fn steps_to(last: i128, goal: i128, increment: i128) -> i128 {
    let way = goal - last;
    let (steps, rest) = (way / increment, way % increment);
    let steps = if rest == 0 { steps } else { steps + 1 };
    last + increment * steps.max(0)
}

/// What was there before, and after the repairs, as one.
pub(super) fn repaired(before: Outlook, after: Outlook, repairs: Vec<Repair>) -> Outlook {
    let names: Vec<(String, String)> =
        before.planned().map(|standing| (standing.schema.clone(), standing.name.clone())).collect();
    let mut done: HashMap<(String, String), _> =
        repairs.into_iter().map(|repair| (names[repair.index].clone(), repair.outcome)).collect();
    let mut after = Outlook { gap: before.gap, notes: before.notes, ..after };
    for standing in &mut after.standings {
        match done.remove(&(standing.schema.clone(), standing.name.clone())) {
            Some(Ok(values)) => standing.repaired = Some(values),
            Some(Err(why)) => standing.refused = Some(why),
            None => {}
        }
    }
    // One that was dropped meanwhile has nothing to say.
    after
}
