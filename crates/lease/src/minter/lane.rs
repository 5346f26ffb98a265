//! A lane: the leases that a minter has had for one of its places, one after the other; the last is in use.
//!
//! Readers take no lock: what was once pushed stays where it is. That is a few hundred bytes for each time that a lease was lost.

use mintage::generators::counter::Parts;
use mintage::generators::window::{Closed, WindowGenerator};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What mints within one lease.
pub(crate) type Generator = WindowGenerator<Parts>;

/// A lease's generator, and how it ended.
#[derive(Debug)]
pub(crate) struct Tenure {
    pub(crate) generator: Generator,
    closed: OnceLock<Closed>,
}

impl Tenure {
    pub(crate) const fn new(generator: Generator) -> Self {
        Self { generator, closed: OnceLock::new() }
    }

    /// Ends it, and tells the last tick used; whoever comes second is told the same.
    pub(crate) fn end(&self) -> Closed {
        // Nobody else closes it, so the first call is told.
        *self.closed.get_or_init(|| self.generator.close().unwrap_or(Closed { last: None }))
    }
}

/// Tables that double in size, so that 2^20 tenures need 20 of them.
const TABLES: usize = 24;

/// The tenures of a lane.
#[derive(Debug)]
pub(crate) struct Lane {
    first: Tenure,
    later: [OnceLock<Box<[OnceLock<Tenure>]>>; TABLES],
    /// How many stand in `later`.
    count: AtomicUsize,
}

impl Lane {
    pub(crate) fn new(first: Tenure) -> Self {
        Self { first, later: [const { OnceLock::new() }; TABLES], count: AtomicUsize::new(0) }
    }

    /// Which tenure is in use, counted from 0.
    #[inline]
    pub(crate) fn number(&self) -> usize {
        // Ordering: pairs with `push`, so that who sees a number finds the tenure.
        self.count.load(Ordering::Acquire)
    }

    /// The tenure in use.
    #[inline]
    pub(crate) fn current(&self) -> &Tenure {
        match self.number() {
            0 => &self.first,
            number => self.later(number),
        }
    }

    #[cold]
    fn later(&self, number: usize) -> &Tenure {
        let (table, at) = place(number);
        let found = self.later.get(table).and_then(OnceLock::get).and_then(|table| table[at].get());
        found.unwrap_or(&self.first)
    }

    /// Puts another tenure in use; false when there is no room for one more. One task calls it.
    pub(crate) fn push(&self, tenure: Tenure) -> bool {
        let number = self.number() + 1;
        let (table, at) = place(number);
        let Some(slot) = self.later.get(table) else { return false };
        let table = slot.get_or_init(|| (0..1 << table).map(|_| OnceLock::new()).collect());
        let is_set = table[at].set(tenure).is_ok();
        if is_set {
            self.count.store(number, Ordering::Release);
        }
        is_set
    }
}

/// Table and place of a tenure, counted from 1: 1 | 2 3 | 4 5 6 7 | …
const fn place(number: usize) -> (usize, usize) {
    let table = number.ilog2() as usize;
    (table, number - (1 << table))
}

#[cfg(test)]
mod tests {
    use super::*;
    use mintage::generators::AnyClock;
    use mintage::generators::window::{StoreTime, Window, WindowTerms};
    use mintage::schemes::snowflake::{DEFAULT_BASE, custom_split};
    use mintage::{Spent, Start, UnixNanos};

    fn tenure(worker: u64) -> Tenure {
        let layout = custom_split("41/10/12", DEFAULT_BASE).unwrap();
        let terms = WindowTerms {
            reserve_nanos: 0,
            lag_nanos: 0,
            lead_nanos: 0,
            skew_nanos: 1,
            spent: Spent::Wait,
            start: Start::Rolling,
        };
        let granted = StoreTime { now: UnixNanos::from_secs(1_800_000_000), sent: 0, received: 0 };
        let window = Window { worker, from: 0, until: 10 };
        let source = Parts::of(&layout).unwrap();
        let clock = AnyClock::System;
        Tenure::new(Generator::new("snowflake", &layout, source, &terms, window, granted, clock).unwrap())
    }

    #[test]
    fn the_last_tenure_that_was_pushed_is_in_use() {
        let lane = Lane::new(tenure(0));
        assert_eq!(lane.current().generator.worker(), 0);
        for worker in 1..40 {
            assert!(lane.push(tenure(worker)));
            assert_eq!((lane.number() as u64, lane.current().generator.worker()), (worker, worker));
        }
    }

    #[test]
    fn places_follow_each_other_without_a_gap() {
        let places: Vec<_> = (1..8).map(place).collect();
        assert_eq!(places, [(0, 0), (1, 0), (1, 1), (2, 0), (2, 1), (2, 2), (2, 3)]);
    }
}
