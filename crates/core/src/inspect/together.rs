//! Several ids of one kind: what one leaves open, many settle.

use super::Inspection;
use crate::layout::Role;
use std::collections::{BTreeMap, BTreeSet};
use std::vec::Vec;

/// Evidence summed over ids that are known to be of one kind. Memory doesn't grow with their number.
#[derive(Clone, Debug, Default)]
pub struct Together {
    ids: u64,
    tallies: BTreeMap<&'static str, Tally>,
}

#[derive(Clone, Debug, Default)]
struct Tally {
    cost: f64,
    read: u64,
    plausible: u64,
    worker_bits: u32,
    workers: BTreeSet<u128>,
}

/// What one scheme is worth as the kind of all ids.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Verdict {
    /// The scheme, or look-alike.
    pub scheme: &'static str,
    /// How many of the ids it can read.
    pub read: u64,
    /// How many of them with a plausible time.
    pub plausible: u64,
    /// Bits of surprise in all; the differences are what counts.
    pub cost: f64,
}

/// Workers remembered per scheme; more than that is no repetition worth counting.
const MAX_WORKERS: usize = 4096;

impl Together {
    /// Adds one id's readings.
    pub fn add(&mut self, inspection: &Inspection) {
        self.ids += 1;
        for reading in &inspection.readings {
            let tally = self.tallies.entry(reading.scheme).or_default();
            tally.cost += reading.cost;
            tally.read += 1;
            tally.plausible += u64::from(reading.is_plausible);
            let (mut worker, mut bits) = (0, 0);
            for field in reading.fields.iter().filter(|f| f.role == Role::Worker) {
                worker = worker << field.bits | field.value;
                bits += field.bits;
            }
            tally.worker_bits = bits;
            if bits > 0 && tally.workers.len() < MAX_WORKERS {
                tally.workers.insert(worker);
            }
        }
    }

    /// How many ids were added.
    #[must_use]
    pub fn ids(&self) -> u64 {
        self.ids
    }

    /// The schemes, the likeliest kind of all ids first.
    #[must_use]
    pub fn verdicts(&self) -> Vec<Verdict> {
        /// What an id that the scheme can't read costs.
        const UNREAD: f64 = 64.0;
        let count = |n: u64| f64::from(u32::try_from(n).unwrap_or(u32::MAX));
        let mut verdicts: Vec<Verdict> = self
            .tallies
            .iter()
            .map(|(scheme, tally)| {
                let distinct = u64::try_from(tally.workers.len()).unwrap_or(u64::MAX);
                // A worker that comes again needs only its place among those seen, not all its bits.
                let again = (f64::from(tally.worker_bits) - count(distinct + 1).log2()).max(0.0);
                let saved = count(tally.read.saturating_sub(distinct)) * again;
                let unread = count(self.ids - tally.read) * UNREAD;
                Verdict {
                    scheme,
                    read: tally.read,
                    plausible: tally.plausible,
                    cost: tally.cost - saved + unread,
                }
            })
            .collect();
        verdicts.sort_by(|a, b| a.cost.total_cmp(&b.cost));
        verdicts
    }

    /// Puts the readings of one id in the order of the verdicts.
    pub fn order(&self, inspection: &mut Inspection) {
        let verdicts = self.verdicts();
        let rank = |scheme: &str| verdicts.iter().position(|v| v.scheme == scheme);
        inspection.readings.sort_by_key(|reading| rank(reading.scheme));
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Options, inspect};
    use super::*;
    use crate::UnixNanos;

    #[test]
    fn a_worker_that_comes_again_settles_the_kind() {
        let options =
            Options { now: UnixNanos::parse("2026-11-30T00:00:00Z").unwrap(), ..Options::default() };
        let mut together = Together::default();
        // Sonyflakes of one machine, whose low bits look like random sequences to every other layout.
        for tick in 0..8u64 {
            let id = (30_000_000_000 + tick * 7919) << 24 | 0xbeef;
            together.add(&inspect(&std::format!("{id}"), &options));
        }
        assert_eq!(together.verdicts()[0].scheme, "sonyflake-v1", "{:?}", together.verdicts());
    }
}
