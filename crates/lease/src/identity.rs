//! What a store is, and how it differs from what it was: the same, restarted, promoted, or an older copy of itself. Rule 17.

use mintage::UnixNanos;
use std::fmt;
use std::str::FromStr;

/// What a store is, as far as it can tell; compared in every transaction with what the space's row has stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "wire",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case", deny_unknown_fields)
)]
pub struct Identity {
    /// What never changes while the data is the same data. PostgreSQL: system identifier, object id of the table, 0. MySQL and
    /// MariaDB: a random number that is drawn anew when server and files say that it is a copy, 0, 0. SQLite:
    /// a random number that is drawn anew when device, inode and side-car say that it isn't the same file with every commit.
    #[cfg_attr(feature = "wire", serde(with = "crate::wire::three"))]
    pub origin: [u64; 3],
    /// Raised by each promotion. PostgreSQL: timeline of the current WAL file. MySQL and MariaDB: how often a
    /// replica took over.
    #[cfg_attr(feature = "wire", serde(with = "crate::wire::text"))]
    pub timeline: u64,
    /// A number that only grows while data isn't lost; 0 where there is none.
    #[cfg_attr(feature = "wire", serde(with = "crate::wire::text"))]
    pub revision: u64,
    /// When the server was started, where it is a server.
    #[cfg_attr(feature = "wire", serde(with = "crate::wire::nanos_or_none"))]
    pub started: Option<UnixNanos>,
}

/// How a live identity differs from the stored one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Change {
    /// Not at all.
    Same,
    /// The server was started again, on what seem to be its own data.
    Restarted,
    /// A replica was promoted, or a backup was recovered along its log: the last transactions may be lost.
    Promoted,
    /// A copy of the data, of unknown age.
    OlderCopy,
}

/// Compares what a store is with what it was. Rule 17.
///
/// An older copy is what has another origin, or a timeline or revision that went back.
#[must_use]
pub fn compare(stored: &Identity, live: &Identity) -> Change {
    if stored.origin != live.origin || live.timeline < stored.timeline || live.revision < stored.revision {
        Change::OlderCopy
    } else if live.timeline > stored.timeline {
        Change::Promoted
    } else if live.started != stored.started {
        Change::Restarted
    } else {
        Change::Same
    }
}

/// One line of numbers, as stores keep it: `origin.origin.origin/timeline/revision/started`.
impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c] = self.origin;
        write!(f, "{a}.{b}.{c}/{}/{}/", self.timeline, self.revision)?;
        match self.started {
            Some(started) => write!(f, "{}", started.0),
            None => f.write_str("-"),
        }
    }
}

/// The text isn't an identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not an identity; `origin.origin.origin/timeline/revision/started` expected")]
pub struct NotAnIdentity;

impl FromStr for Identity {
    type Err = NotAnIdentity;

    fn from_str(text: &str) -> Result<Self, NotAnIdentity> {
        let number = |text: &str| text.parse::<u64>().map_err(|_| NotAnIdentity);
        let [origin, timeline, revision, started] = pieces(text, '/')?;
        let [a, b, c] = pieces(origin, '.')?;
        let started = match started {
            "-" => None,
            nanos => Some(UnixNanos(nanos.parse().map_err(|_| NotAnIdentity)?)),
        };
        Ok(Self {
            origin: [number(a)?, number(b)?, number(c)?],
            timeline: number(timeline)?,
            revision: number(revision)?,
            started,
        })
    }
}

fn pieces<const N: usize>(text: &str, separator: char) -> Result<[&str; N], NotAnIdentity> {
    let pieces: Vec<&str> = text.split(separator).collect();
    pieces.try_into().map_err(|_| NotAnIdentity)
}

#[cfg(test)]
mod tests {
    use super::*;

    const STORED: Identity =
        Identity { origin: [7, 16_384, 0], timeline: 2, revision: 5, started: Some(UnixNanos(1_000)) };

    #[test]
    fn rule_17_an_identity_that_is_equal_is_the_same() {
        assert_eq!(compare(&STORED, &STORED), Change::Same);
        assert_eq!(compare(&STORED, &Identity { revision: 9, ..STORED }), Change::Same);
    }

    #[test]
    fn rule_17_another_start_is_a_restart() {
        assert_eq!(compare(&STORED, &Identity { started: Some(UnixNanos(2)), ..STORED }), Change::Restarted);
        assert_eq!(compare(&STORED, &Identity { started: None, ..STORED }), Change::Restarted);
    }

    #[test]
    fn rule_17_a_higher_timeline_is_a_promotion_whatever_the_start() {
        let live = Identity { timeline: 3, ..STORED };
        assert_eq!(compare(&STORED, &live), Change::Promoted);
        assert_eq!(compare(&STORED, &Identity { started: Some(UnixNanos(5_000)), ..live }), Change::Promoted);
    }

    #[test]
    fn rule_17_another_origin_or_a_number_that_went_back_is_an_older_copy() {
        for live in [
            Identity { origin: [8, 16_384, 0], ..STORED },
            Identity { origin: [7, 16_385, 0], timeline: 9, ..STORED },
            Identity { timeline: 1, ..STORED },
            Identity { revision: 4, timeline: 3, ..STORED },
        ] {
            assert_eq!(compare(&STORED, &live), Change::OlderCopy, "{live}");
        }
    }

    #[test]
    fn an_identity_survives_being_stored_as_text() {
        let before_1970 = Identity { started: Some(UnixNanos(-5)), ..STORED };
        for identity in [STORED, before_1970, Identity::default()] {
            assert_eq!(identity.to_string().parse(), Ok(identity));
        }
        for text in ["", "1.2/3/4/-", "1.2.3/4/5", "1.2.3/4/5/-/6", "1.2.x/4/5/-", "1.2.3/4/5/"] {
            assert_eq!(text.parse::<Identity>(), Err(NotAnIdentity), "{text}");
        }
    }
}
