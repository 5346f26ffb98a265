//! A database sequence: its bounds, and what it shows.

use super::{ColumnAt, Grows, Place};

/// What a database sequence shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reading {
    /// The last value handed out.
    Value(i128),
    /// None was handed out since it was made or restarted; this comes first.
    NeverUsed {
        /// The first value to come, where it could be read.
        next: Option<i128>,
    },
    /// It may not be read, and this would be needed.
    Unreadable {
        /// The missing privilege, or what stands in the way.
        needs: String,
    },
    /// It wasn't read: there is no server.
    Unknown,
}

/// A database sequence.
#[derive(Clone, Debug, PartialEq)]
pub struct Sequence {
    /// Its schema.
    pub schema: String,
    /// Its name.
    pub name: String,
    /// Its type as the server writes it.
    pub declared: String,
    /// The first value of a fresh one.
    pub start: i128,
    /// Its lowest value.
    pub min: i128,
    /// Its highest.
    pub max: i128,
    /// What is added; never 0.
    pub increment: i128,
    /// How many values a session takes at once.
    pub cache: u64,
    /// Whether it begins again at its end.
    pub cycles: bool,
    /// The column that it belongs to.
    pub owner: Option<ColumnAt>,
    /// What it shows.
    pub reading: Reading,
    /// Whether that may be up to a cache ahead of what was handed out: MariaDB shows where the next cached run begins.
    pub is_ahead: bool,
    /// Whether a crash resets it.
    pub is_unlogged: bool,
    /// Where it is defined, for what comes from a file.
    pub place: Option<Place>,
}

impl Sequence {
    /// Which way it goes.
    #[must_use]
    pub const fn grows(&self) -> Grows {
        if self.increment < 0 { Grows::Down } else { Grows::Up }
    }

    /// The last value that it can hand out.
    #[must_use]
    pub const fn bound(&self) -> i128 {
        if self.increment < 0 { self.min } else { self.max }
    }

    /// What it hands out next, where that can be told; not past its end.
    #[must_use]
    pub const fn next(&self) -> Option<i128> {
        match self.reading {
            Reading::Value(last) => Some(last + self.increment),
            Reading::NeverUsed { next } => next,
            Reading::Unreadable { .. } | Reading::Unknown => None,
        }
    }
}
