//! What the ensemble is, and whether it is what it was. Rule 17.
//!
//! Each write has a number, its `zxid`, whose upper half is the epoch: how often a leader was elected. What it was is noted in `meta`, and
//! whoever comes first after a change writes down a new origin or start, which every space is then compared with:
//!
//! * **an epoch or a zxid that went back**: a copy. A handle remembers the highest zxid
//!   that it was answered with, and the highest serial of each space.
//! * **an epoch that went up**: an election. Nothing is lost by one as long as a quorum has its data. But data that are put back on all
//!   servers show nothing else, so it stands for a start: it begins a hold unless a space is exempt.
//!
//! A server alone elects nobody and has epoch 0 for ever: its starts show nothing, nor do data that are put back, but to those who saw more.

use crate::identity::Identity;
use crate::stores::columns::{Wrong, read};
use crate::stores::values::{Reading, Writing};
use mintage::UnixNanos;

/// What was noted in `meta`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Noted {
    origin: u64,
    epoch: u64,
    started: UnixNanos,
}

/// What the answer to a write says of the ensemble.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Standing {
    pub(super) zxid: u64,
    pub(super) now: UnixNanos,
    /// The highest zxid of an answer that came before this write was sent; `u64::MAX` where a space's row is older than one seen.
    pub(super) seen: u64,
}

const NAMES: &[&str] = &["protocol", "origin", "epoch", "started"];

impl Noted {
    /// The first one, of an ensemble that nobody has looked at.
    pub(super) fn first(standing: &Standing, drawn: u64) -> Self {
        Self { origin: drawn.max(1), epoch: standing.epoch(), started: standing.now }
    }

    pub(super) fn text(&self, protocol: u32) -> String {
        Writing::new("meta")
            .with("protocol", protocol.to_string())
            .with("origin", self.origin.to_string())
            .with("epoch", self.epoch.to_string())
            .with("started", self.started.0.to_string())
            .done()
    }

    pub(super) fn of(bytes: &[u8]) -> Result<Self, Wrong> {
        let row = Reading::of("meta", bytes, NAMES)?;
        Ok(Self {
            origin: read(&row, "origin")?,
            epoch: read(&row, "epoch")?,
            started: read(&row, "started")?,
        })
    }
}

impl Standing {
    pub(super) const fn epoch(&self) -> u64 {
        self.zxid >> 32
    }

    /// The store's identity, if the ensemble is what was noted.
    pub(super) fn identity(&self, noted: &Noted) -> Option<Identity> {
        let is_noted = noted.epoch == self.epoch() && self.zxid >= self.seen;
        is_noted.then_some(Identity {
            origin: [noted.origin, 0, 0],
            timeline: 0,
            revision: self.zxid,
            started: Some(noted.started),
        })
    }

    /// What is to be noted instead, with a number that was drawn.
    pub(super) fn note(&self, noted: &Noted, drawn: u64) -> Noted {
        let is_copy = self.epoch() < noted.epoch || self.zxid < self.seen;
        Noted {
            origin: if is_copy { drawn.max(1) } else { noted.origin },
            epoch: self.epoch(),
            started: if self.epoch() > noted.epoch { self.now } else { noted.started },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identity::{Change, compare};

    const EPOCH: u64 = 1 << 32;

    fn standing(zxid: u64, seen: u64) -> Standing {
        Standing { zxid, now: UnixNanos(9_000), seen }
    }

    fn change(before: u64, live: Standing) -> Change {
        let before = Standing { now: UnixNanos(1_000), ..standing(before, 0) };
        let noted = Noted::first(&before, 7);
        let noted = if live.identity(&noted).is_some() { noted } else { live.note(&noted, 8) };
        let live = Standing { seen: 0, ..live };
        compare(&before.identity(&Noted::first(&before, 7)).unwrap(), &live.identity(&noted).unwrap())
    }

    #[test]
    fn what_is_noted_survives_being_text() {
        let noted = Noted::first(&standing(5 * EPOCH, 0), u64::MAX);
        assert_eq!(Noted::of(noted.text(1).as_bytes()), Ok(noted));
    }

    #[test]
    fn rule_17_an_epoch_that_went_up_is_a_start_and_what_went_back_is_a_copy() {
        assert_eq!(change(EPOCH + 5, standing(EPOCH + 9, EPOCH + 5)), Change::Same);
        assert_eq!(change(EPOCH + 5, standing(2 * EPOCH + 1, EPOCH + 5)), Change::Restarted);
        assert_eq!(change(EPOCH + 5, standing(5, 0)), Change::OlderCopy);
        assert_eq!(change(EPOCH + 5, standing(EPOCH + 6, EPOCH + 7)), Change::OlderCopy);
        assert_eq!(change(EPOCH + 5, standing(2 * EPOCH + 1, 2 * EPOCH + 2)), Change::OlderCopy);
        // Before anything is noted anew, the space's own row tells.
        assert_eq!(change(EPOCH + 5, standing(EPOCH + 4, 0)), Change::OlderCopy);
    }
}
