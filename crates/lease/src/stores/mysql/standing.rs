//! What a server is, and whether it is what it was. Rule 17.
//!
//! MariaDB has no number that a data folder keeps for life and a copy of it lacks, and neither server has one that a promotion raises, as
//! PostgreSQL's timeline is. So both are counted in `mintage_meta`: whoever comes first after a change compares what the server is
//! with what was noted, and writes down a new origin or timeline, which every space's row is then compared with.
//!
//! What is compared:
//!
//! * **the server**: MySQL's `server_uuid`, MariaDB's `server_id`. Another one is a replica that took over, if its global transaction ids tell
//!   that it followed the one that was noted; else it is a copy, as a dump read into another server is.
//! * **when `mintage_state` was made**. MariaDB says when its file was made, so that a data folder that was copied back, in place or
//!   renamed over, has another time (and so has one whose files were given to another user); MySQL says when the table was made, which a dump
//!   read back changes. It is whole seconds: a copy that is made within the second in which the table was isn't told apart by it.
//! * **when the server started**, which every restore but that of a dump changes. It is whole seconds.

use super::statement::{Literal, guard};
use crate::identity::Identity;
use crate::stores::columns::{Columns, Wrong, number, read, read_or_null, whole};
use mintage::UnixNanos;

/// Which of the two servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flavor {
    MariaDb,
    MySql,
}

impl Flavor {
    /// From what `VERSION()` says.
    pub(super) fn of(version: &str) -> Self {
        if version.contains("MariaDB") { Self::MariaDb } else { Self::MySql }
    }

    /// What names the server.
    pub(super) const fn server(self) -> &'static str {
        match self {
            Self::MariaDb => "@@global.server_id",
            Self::MySql => "@@global.server_uuid",
        }
    }

    /// The seconds since the server started.
    pub(super) const fn uptime(self) -> &'static str {
        match self {
            Self::MariaDb => {
                "(SELECT VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME = 'UPTIME')"
            }
            Self::MySql => {
                "(SELECT VARIABLE_VALUE FROM performance_schema.global_status WHERE VARIABLE_NAME = 'Uptime')"
            }
        }
    }

    /// The global transaction ids that came from other servers.
    pub(super) const fn replicated(self) -> &'static str {
        match self {
            Self::MariaDb => "@@global.gtid_slave_pos",
            Self::MySql => "@@global.gtid_executed",
        }
    }

    /// Whether these ids tell of transactions of `server`: in MariaDB's, `0-1-57`, it is the middle, in MySQL's, `uuid:1-57`, the
    /// beginning.
    fn follows(self, replicated: &str, server: &str) -> bool {
        replicated.split(',').map(str::trim).any(|id| match self {
            Self::MariaDb => id.split('-').nth(1) == Some(server),
            Self::MySql => id
                .split(':')
                .next()
                .is_some_and(|source| !source.is_empty() && source.eq_ignore_ascii_case(server)),
        })
    }
}

/// What was noted in `mintage_meta`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Noted {
    origin: u64,
    timeline: u64,
    /// None until the first request to new tables.
    server: Option<String>,
    made: Option<i64>,
}

impl Noted {
    /// The columns that it is read from.
    pub(super) const COLUMNS: &str = "m.`origin`, m.`timeline`, m.`server`, m.`made`";

    pub(super) fn of(row: &impl Columns) -> Result<Self, Wrong> {
        Ok(Self {
            origin: whole(row, "origin")?,
            timeline: whole(row, "timeline")?,
            server: read_or_null(row, "server")?,
            made: read_or_null(row, "made")?,
        })
    }

    /// The statements that replace it by `next`, if it is still there.
    pub(super) fn replace(&self, next: &Self) -> Result<Vec<String>, Wrong> {
        let server = |noted: &Self| Literal::from(noted.server.as_deref());
        let made = |noted: &Self| Literal::from(noted.made);
        Ok(vec![
            format!(
                "UPDATE `mintage_meta` SET `origin` = {}, `timeline` = {}, `server` = {}, `made` = {} WHERE `one` = 1 AND \
                 `origin` = {} AND `timeline` = {} AND `server` <=> {} AND `made` <=> {}",
                number(next.origin)?,
                number(next.timeline)?,
                server(next),
                made(next),
                number(self.origin)?,
                number(self.timeline)?,
                server(self),
                made(self)
            ),
            guard(1),
        ])
    }
}

/// What the server is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Standing {
    server: String,
    made: i64,
    started: UnixNanos,
}

impl Standing {
    /// What it is read from, at the time of the statement.
    pub(super) fn columns(flavor: Flavor) -> String {
        format!(
            "{} AS is_server, (SELECT UNIX_TIMESTAMP(CREATE_TIME) FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() \
             AND TABLE_NAME = 'mintage_state') AS was_made, UNIX_TIMESTAMP() - CAST({} AS SIGNED) AS has_started",
            flavor.server(),
            flavor.uptime()
        )
    }

    pub(super) fn of(row: &impl Columns) -> Result<Self, Wrong> {
        let started: i64 = read(row, "has_started")?;
        Ok(Self {
            server: read(row, "is_server")?,
            made: read(row, "was_made")?,
            started: UnixNanos(i128::from(started) * 1_000_000_000),
        })
    }

    /// The store's identity, if it is what was noted.
    pub(super) fn identity(&self, noted: &Noted) -> Option<Identity> {
        let is_noted = noted.server.as_ref() == Some(&self.server) && noted.made == Some(self.made);
        is_noted.then_some(Identity {
            origin: [noted.origin, 0, 0],
            timeline: noted.timeline,
            revision: 0,
            started: Some(self.started),
        })
    }

    /// What is to be noted instead, `replicated` being the ids that came from other servers, and `drawn` a random number.
    pub(super) fn note(&self, flavor: Flavor, noted: &Noted, replicated: &str, drawn: u64) -> Noted {
        let next = Noted {
            origin: noted.origin,
            timeline: noted.timeline,
            server: Some(self.server.clone()),
            made: Some(self.made),
        };
        let took_over = noted
            .server
            .as_ref()
            .is_some_and(|before| *before != self.server && flavor.follows(replicated, before));
        if took_over {
            Noted { timeline: noted.timeline + 1, ..next }
        } else {
            // As signed columns hold it, and never the 0 that nothing was noted under.
            Noted { origin: (drawn >> 1).max(1), ..next }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noted() -> Noted {
        Noted { origin: 7, timeline: 2, server: Some("1".to_owned()), made: Some(1_000) }
    }

    fn standing(server: &str, made: i64) -> Standing {
        Standing { server: server.to_owned(), made, started: UnixNanos(5) }
    }

    #[test]
    fn rule_17_a_server_that_is_what_was_noted_has_its_origin_and_timeline() {
        let identity = standing("1", 1_000).identity(&noted()).unwrap();
        let expected = Identity { origin: [7, 0, 0], timeline: 2, revision: 0, started: Some(UnixNanos(5)) };
        assert_eq!(identity, expected);
        for other in [standing("2", 1_000), standing("1", 1_001)] {
            assert_eq!(other.identity(&noted()), None);
        }
    }

    #[test]
    fn rule_17_a_replica_that_followed_the_noted_server_raises_the_timeline() {
        let next = standing("2", 1_500).note(Flavor::MariaDb, &noted(), "0-1-57,1-3-5", 99);
        assert_eq!((next.origin, next.timeline), (7, 3));
        assert!(standing("2", 1_500).identity(&next).is_some());
        let uuid = "3E11FA47-71CA-11E1-9E33-C80AA9429562";
        let before = Noted { server: Some(uuid.to_ascii_lowercase()), ..noted() };
        let ids = format!("aaaaaaaa-71ca-11e1-9e33-c80aa9429562:1-3,\n{uuid}:1-57:60-61");
        assert_eq!(standing("b", 1_500).note(Flavor::MySql, &before, &ids, 99).timeline, 3);
    }

    #[test]
    fn rule_17_what_did_not_follow_is_a_copy_and_gets_another_origin() {
        for (live, replicated) in [
            (standing("2", 1_500), "0-11-57,0-3-1"),
            (standing("2", 1_500), ""),
            // The server itself, with other files.
            (standing("1", 1_500), "0-1-57"),
        ] {
            let next = live.note(Flavor::MariaDb, &noted(), replicated, 99);
            assert_eq!((next.origin, next.timeline), (49, 2), "{live:?}");
        }
        let first = Noted { origin: 0, timeline: 0, server: None, made: None };
        assert_eq!(standing("1", 1).note(Flavor::MariaDb, &first, "", 0).origin, 1);
    }
}
