//! Every id of a long run, in little memory: sorted runs of differences, merged at the end to find what repeats.

use crate::count::Tally;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::{Mutex, PoisonError};

/// Ids of up to 64 bits, from any number of threads. About 3 bytes each at a few thousand ids a second.
#[derive(Debug, Default)]
pub struct Ledger {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    open: Vec<u64>,
    runs: Vec<Run>,
}

/// Sorted ids: each as its difference to the one before, seven bits a byte, the lowest first.
#[derive(Debug)]
struct Run(Vec<u8>);

/// What a ledger holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// How many ids, and how many of them repeat another.
    pub tally: Tally,
    /// The first of those that came more than once, at most [`SHOWN`].
    pub repeated: Vec<u64>,
}

/// How many repeated ids are shown.
pub const SHOWN: usize = 8;

/// Ids that are sorted at a time.
const RUN_LEN: usize = 1 << 20;

impl Ledger {
    /// Takes in all of `ids`, and empties it.
    pub fn append(&self, ids: &mut Vec<u64>) {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        inner.open.append(ids);
        if inner.open.len() >= RUN_LEN {
            inner.close_run();
        }
    }

    /// Counts what came in so far.
    #[must_use]
    pub fn found(&self) -> Found {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        inner.close_run();
        let mut runs: Vec<Reader<'_>> =
            inner.runs.iter().map(|run| Reader { rest: &run.0, last: 0 }).collect();
        let mut heads = BinaryHeap::new();
        for (number, run) in runs.iter_mut().enumerate() {
            heads.extend(run.next().map(|id| Reverse((id, number))));
        }
        let mut found = Found { tally: Tally::default(), repeated: Vec::new() };
        let mut last = None;
        while let Some(Reverse((id, number))) = heads.pop() {
            found.tally.ids += 1;
            if last == Some(id) {
                found.tally.duplicates += 1;
                if found.repeated.len() < SHOWN && found.repeated.last() != Some(&id) {
                    found.repeated.push(id);
                }
            }
            last = Some(id);
            heads.extend(runs[number].next().map(|id| Reverse((id, number))));
        }
        found
    }
}

impl Inner {
    fn close_run(&mut self) {
        self.open.sort_unstable();
        let mut bytes = Vec::with_capacity(self.open.len() * 3);
        let mut last = 0;
        for id in self.open.drain(..) {
            write(&mut bytes, id - last);
            last = id;
        }
        bytes.shrink_to_fit();
        if !bytes.is_empty() {
            self.runs.push(Run(bytes));
        }
    }
}

fn write(bytes: &mut Vec<u8>, mut number: u64) {
    loop {
        let [low, ..] = (number & 0x7f).to_le_bytes();
        number >>= 7;
        if number == 0 {
            return bytes.push(low);
        }
        bytes.push(low | 0x80);
    }
}

struct Reader<'a> {
    rest: &'a [u8],
    last: u64,
}

impl Iterator for Reader<'_> {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        let (mut number, mut shift) = (0, 0);
        loop {
            let (byte, rest) = self.rest.split_first()?;
            self.rest = rest;
            number |= u64::from(byte & 0x7f) << shift;
            shift += 7;
            if byte & 0x80 == 0 {
                self.last += number;
                return Some(self.last);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_in_is_counted_and_what_repeats_is_shown() {
        let ledger = Ledger::default();
        ledger.append(&mut vec![5, 0, u64::MAX, 7, 128]);
        assert_eq!(ledger.found().tally, Tally { ids: 5, duplicates: 0 });
        // In a run of its own, as the first was closed by counting.
        ledger.append(&mut vec![7, 6, u64::MAX, 7]);
        let found = ledger.found();
        assert_eq!(found.tally, Tally { ids: 9, duplicates: 3 });
        assert_eq!(found.repeated, [7, u64::MAX]);
    }

    #[test]
    fn a_repeated_id_is_found_among_millions_in_runs() {
        let ledger = Ledger::default();
        for thread in 0..3_u64 {
            ledger.append(&mut (0..RUN_LEN as u64).map(|i| (i * 3 + thread) << 20).collect());
        }
        ledger.append(&mut vec![(77 * 3) << 20]);
        let found = ledger.found();
        assert_eq!(found.tally, Tally { ids: 3 * RUN_LEN as u64 + 1, duplicates: 1 });
        assert_eq!(found.repeated, [(77 * 3) << 20]);
    }
}
