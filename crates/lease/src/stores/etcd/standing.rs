//! What the cluster is, and whether it is what it was. Rule 17.
//!
//! A cluster has no number that a copy of it lacks: one that is restored with the names and the token that it had has the same ids. So what
//! it was is noted in `meta`, and whoever comes first after a change writes down a new origin, start or timeline, which every space is then
//! compared with:
//!
//! * **another cluster id**: a copy. A snapshot that is restored under another `--initial-cluster-token` has one.
//! * **a term or a revision that went back**: a copy. The term is raised by each election, the revision by each write; a handle remembers the
//!   highest revision that it was answered with, and the highest serial of each space.
//! * **a term that went up**: an election. With several members nothing is lost by one, and nothing happens. A single member has one at each
//!   start, so there it stands for a start, which may have been one on data that were put back.
//! * **a single member where there were several**: `--force-new-cluster`, which may lack the last writes: a promotion.

use crate::identity::Identity;
use crate::stores::columns::{Wrong, read};
use crate::stores::values::{Reading, Writing};
use mintage::UnixNanos;

/// What was noted in `meta`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Noted {
    pub(super) origin: u64,
    timeline: u64,
    cluster: u64,
    term: u64,
    members: u64,
    started: UnixNanos,
}

/// What the answer to a read says of the cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Standing {
    pub(super) cluster: u64,
    pub(super) term: u64,
    pub(super) revision: u64,
    /// The highest revision of an answer that came before this read was sent; `u64::MAX` where a space's row is older than one seen.
    pub(super) seen: u64,
}

const NAMES: &[&str] = &["protocol", "origin", "timeline", "cluster", "term", "members", "started"];

impl Noted {
    /// The first one, of a cluster that nobody has looked at.
    pub(super) fn first(standing: &Standing, members: u64, drawn: u64, now: UnixNanos) -> Self {
        let (cluster, term) = (standing.cluster, standing.term);
        Self { origin: drawn.max(1), timeline: 0, cluster, term, members, started: now }
    }

    pub(super) fn text(&self, protocol: u32) -> String {
        Writing::new("meta")
            .with("protocol", protocol.to_string())
            .with("origin", self.origin.to_string())
            .with("timeline", self.timeline.to_string())
            .with("cluster", self.cluster.to_string())
            .with("term", self.term.to_string())
            .with("members", self.members.to_string())
            .with("started", self.started.0.to_string())
            .done()
    }

    pub(super) fn of(bytes: &[u8]) -> Result<Self, Wrong> {
        let row = Reading::of("meta", bytes, NAMES)?;
        Ok(Self {
            origin: read(&row, "origin")?,
            timeline: read(&row, "timeline")?,
            cluster: read(&row, "cluster")?,
            term: read(&row, "term")?,
            members: read(&row, "members")?,
            started: read(&row, "started")?,
        })
    }
}

impl Standing {
    /// The store's identity, if the cluster is what was noted.
    pub(super) fn identity(&self, noted: &Noted) -> Option<Identity> {
        let is_noted = noted.cluster == self.cluster && noted.term == self.term && self.revision >= self.seen;
        is_noted.then_some(Identity {
            origin: [noted.origin, noted.cluster, 0],
            timeline: noted.timeline,
            revision: self.revision,
            started: Some(noted.started),
        })
    }

    /// What is to be noted instead at `now`, with so many members and a number that was drawn.
    pub(super) fn note(&self, noted: &Noted, members: u64, drawn: u64, now: UnixNanos) -> Noted {
        let is_copy = self.cluster != noted.cluster || self.term < noted.term || self.revision < self.seen;
        let is_forced = members == 1 && noted.members > 1;
        Noted {
            origin: if is_copy { drawn.max(1) } else { noted.origin },
            timeline: noted.timeline + u64::from(is_forced && !is_copy),
            cluster: self.cluster,
            term: self.term,
            members,
            started: if members == 1 { now } else { noted.started },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identity::{Change, compare};

    const NOW: UnixNanos = UnixNanos(9_000);

    fn standing() -> Standing {
        Standing { cluster: u64::MAX, term: 5, revision: 100, seen: 90 }
    }

    fn noted(members: u64) -> Noted {
        Noted::first(&standing(), members, 7, UnixNanos(1_000))
    }

    /// What the rules make of a cluster that is noted anew.
    fn change(live: Standing, before: u64, members: u64) -> Change {
        let stored = standing().identity(&noted(before)).unwrap();
        assert_eq!(live.identity(&noted(before)), None);
        let next = live.note(&noted(before), members, 8, NOW);
        compare(&stored, &Standing { seen: 0, ..live }.identity(&next).unwrap())
    }

    #[test]
    fn what_is_noted_survives_being_text() {
        assert_eq!(Noted::of(noted(3).text(1).as_bytes()), Ok(noted(3)));
    }

    #[test]
    fn rule_17_a_cluster_that_is_what_was_noted_is_the_same() {
        let later = Standing { revision: 200, ..standing() };
        let [stored, live] = [standing(), later].map(|standing| standing.identity(&noted(3)).unwrap());
        assert_eq!(compare(&stored, &live), Change::Same);
    }

    #[test]
    fn rule_17_an_election_is_a_start_of_a_single_member_and_nothing_of_several() {
        let elected = Standing { term: 6, ..standing() };
        assert_eq!(change(elected, 1, 1), Change::Restarted);
        assert_eq!(change(elected, 3, 3), Change::Same);
        assert_eq!(change(elected, 1, 3), Change::Same);
    }

    #[test]
    fn rule_17_another_cluster_and_a_term_or_revision_that_went_back_are_copies() {
        for live in [
            Standing { cluster: 1, ..standing() },
            Standing { term: 4, ..standing() },
            Standing { revision: 100, seen: 101, ..standing() },
        ] {
            assert_eq!(change(live, 1, 1), Change::OlderCopy, "{live:?}");
            assert_eq!(change(live, 3, 3), Change::OlderCopy, "{live:?}");
        }
        // A cluster that is restored has its first term again, and fewer revisions than the space's row tells of.
        let stored = standing().identity(&noted(1)).unwrap();
        let live = Standing { revision: 99, seen: 0, ..standing() }.identity(&noted(1)).unwrap();
        assert_eq!(compare(&stored, &live), Change::OlderCopy);
    }

    #[test]
    fn rule_17_one_member_of_several_that_goes_on_alone_is_a_promotion() {
        assert_eq!(change(Standing { term: 6, ..standing() }, 3, 1), Change::Promoted);
    }
}
