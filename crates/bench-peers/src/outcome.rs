//! Measuring a selection of the operations, and judging what came out by its targets.

use crate::operations::{Floor, OPERATIONS, Operation, Rival};
use mintage_bench::timing::{self, Effort, Row};
use mintage_bench::workloads;
use std::fmt;

/// What to measure.
#[derive(Clone, Debug)]
pub struct Selection {
    operations: Vec<&'static Operation>,
    /// Names of the machine's limits.
    limits: Vec<String>,
}

/// A name that no operation has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unknown(String);

impl fmt::Display for Unknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "no operation has `{}` in its name; there are:", self.0)?;
        names().iter().try_for_each(|name| writeln!(f, "  {name}"))
    }
}

impl std::error::Error for Unknown {}

/// The names of all operations, then of the limits.
#[must_use]
pub fn names() -> Vec<String> {
    let operations = OPERATIONS.iter().map(|operation| operation.name.to_owned());
    let limits = workloads::limits();
    operations.chain(limits.iter().map(|limit| limit.operation().to_owned())).collect()
}

impl Selection {
    /// Everything, or what `only` names: an operation's whole name stands for it alone, a part of a name for all that have it.
    ///
    /// # Errors
    /// [`Unknown`] for the first that fits none.
    pub fn new(only: &[String]) -> Result<Self, Unknown> {
        let all = names();
        let mut chosen = Vec::new();
        for wanted in only {
            let before = chosen.len();
            let is_whole = all.contains(wanted);
            chosen.extend(
                all.iter().filter(|name| if is_whole { *name == wanted } else { name.contains(wanted) }),
            );
            if chosen.len() == before {
                return Err(Unknown(wanted.clone()));
            }
        }
        let is_chosen = |name: &str| only.is_empty() || chosen.iter().any(|chosen| *chosen == name);
        Ok(Self {
            operations: OPERATIONS.iter().filter(|operation| is_chosen(operation.name)).collect(),
            limits: all.iter().skip(OPERATIONS.len()).filter(|name| is_chosen(name)).cloned().collect(),
        })
    }
}

/// All that was measured.
#[derive(Clone, Debug)]
pub struct Measured {
    /// The operations, in the order of the list.
    pub outcomes: Vec<Outcome>,
    /// What no generator on this machine can do without.
    pub limits: Vec<Row>,
}

/// What was measured of one operation.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The operation.
    pub operation: &'static Operation,
    /// Ours.
    pub ours: Row,
    /// The peers, as many and in the same order as the operation's rivals.
    pub peers: Vec<Row>,
}

/// Measures what was selected and touches nothing else. An operation's own rounds are interleaved, so that ours and theirs meet the
/// machine in the same state.
#[must_use]
pub fn measure(selection: &Selection, effort: Effort) -> Measured {
    let outcomes = selection.operations.iter().filter_map(|operation| {
        let makes = operation.rivals.iter().map(|rival| rival.make);
        let engines: Vec<_> = std::iter::once(operation.ours).chain(makes).map(|make| make()).collect();
        let mut rows = timing::measure(&engines, &[operation.threads], effort).into_iter();
        let ours = rows.next()?;
        Some(Outcome { operation, ours, peers: rows.collect() })
    });
    let outcomes = outcomes.collect();
    let mut limits = workloads::limits();
    limits.retain(|limit| selection.limits.iter().any(|name| name == limit.operation()));
    Measured { outcomes, limits: timing::measure(&limits, &[1], effort) }
}

impl Outcome {
    /// Each peer with its figures.
    pub fn rivals(&self) -> impl Iterator<Item = (&'static Rival, &Row)> {
        self.operation.rivals.iter().zip(&self.peers)
    }

    /// Our time divided by a peer's: below 1, ours is faster.
    #[must_use]
    pub fn ratio(&self, peer: &Row) -> f64 {
        self.ours.ns / peer.ns
    }

    /// The fastest of the peers with a target; where none has one, the fastest.
    #[must_use]
    pub fn yardstick(&self) -> Option<(&'static Rival, &Row)> {
        let rank = |(rival, row): &(&Rival, &Row)| (rival.target.is_none(), row.ns);
        self.rivals().min_by(|a, b| {
            let ((a_reported, a), (b_reported, b)) = (rank(a), rank(b));
            a_reported.cmp(&b_reported).then(a.total_cmp(&b))
        })
    }

    /// Ids or texts of ours a second, by all threads together.
    #[must_use]
    pub fn per_second(&self) -> f64 {
        1e9 / self.ours.ns
    }

    /// The part of the layout's ids that ours made, and the part to make; `None` where the layout sets no pace.
    #[must_use]
    pub fn part(&self) -> Option<(f64, f64)> {
        match self.operation.floor {
            Floor::PartOf { ids_per_s, part } => Some((self.per_second() / ids_per_s, part)),
            Floor::Nothing | Floor::OfTheFastest { .. } => None,
        }
    }
}

impl Measured {
    /// The fastest of the operations whose fastest is to reach a rate, and that rate.
    #[must_use]
    pub fn fastest(&self) -> Option<(&Outcome, f64)> {
        let rated = self.outcomes.iter().filter_map(|outcome| match outcome.operation.floor {
            Floor::OfTheFastest { ids_per_s } => Some((outcome, ids_per_s)),
            Floor::Nothing | Floor::PartOf { .. } => None,
        });
        rated.min_by(|(a, _), (b, _)| a.ours.ns.total_cmp(&b.ours.ns))
    }

    /// A sentence for each target that wasn't reached.
    #[must_use]
    pub fn missed(&self) -> Vec<String> {
        let mut missed = Vec::new();
        for outcome in &self.outcomes {
            let name = outcome.operation.name;
            for (rival, row) in outcome.rivals() {
                let ratio = outcome.ratio(row);
                if let Some(target) = rival.target.filter(|target| ratio > *target) {
                    missed.push(format!(
                        "{name}: {ratio:.2} of {}, {target} or less is the target",
                        rival.peer.name
                    ));
                }
            }
            if let Some((part, target)) = outcome.part().filter(|(part, target)| part < target) {
                missed.push(format!(
                    "{name}: {:.1} % of the layout's ids, {:.0} % is the target",
                    part * 100.0,
                    target * 100.0
                ));
            }
        }
        if let Some((outcome, rate)) = self.fastest().filter(|(outcome, rate)| outcome.per_second() < *rate) {
            let (reached, target) = (outcome.per_second() / 1e6, rate / 1e6);
            let name = outcome.operation.name;
            missed.push(format!(
                "{name}: {reached:.1} million a second, {target:.0} million is the target of the fastest"
            ));
        }
        missed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn selected(only: &[&str]) -> Result<Vec<String>, Unknown> {
        let only: Vec<_> = only.iter().map(ToString::to_string).collect();
        let Selection { operations, limits } = Selection::new(&only)?;
        Ok(operations.iter().map(|operation| operation.name.to_owned()).chain(limits).collect())
    }

    #[test]
    fn a_whole_name_stands_for_one_operation_and_a_part_for_all_that_have_it() {
        assert_eq!(selected(&["mint uuid-v4"]).unwrap(), ["mint uuid-v4"]);
        assert_eq!(selected(&["uuid-v4"]).unwrap(), ["mint uuid-v4", "mint uuid-v4, batches of 1024"]);
        assert_eq!(
            selected(&["parse uuid", "read the clock"]).unwrap(),
            ["parse uuid", "limit: read the clock"]
        );
        assert_eq!(selected(&[]).unwrap(), names());
    }

    #[test]
    fn an_unknown_name_is_answered_with_the_names_that_exist() {
        let error = selected(&["parse uuid", "uuid-v9"]).unwrap_err();
        assert_eq!(error, Unknown("uuid-v9".into()));
        assert!(names().iter().all(|name| error.to_string().contains(name)));
    }

    #[test]
    fn the_yardstick_is_the_fastest_peer_with_a_target() {
        let operation = OPERATIONS.iter().find(|operation| operation.name == "mint uuid-v7").unwrap();
        let row = |ns| Row { operation: String::new(), threads: 1, clock: "none", ns, spread: 0.0 };
        let outcome = Outcome { operation, ours: row(10.0), peers: [40.0, 20.0, 30.0].map(row).to_vec() };
        let (rival, peer) = outcome.yardstick().unwrap();
        assert_eq!(rival.peer, operation.rivals[1].peer);
        assert!((outcome.ratio(peer) - 0.5).abs() < 1e-9);
        assert_eq!(Measured { outcomes: vec![outcome], limits: vec![] }.missed(), Vec::<String>::new());
    }
}
