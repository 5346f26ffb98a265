//! A column that may hold ids: what it can hold, where its values come from, how far they have come.

use super::{Place, Reading};

/// A column that may hold ids.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// Its type as the server writes it; a domain by its name.
    pub declared: String,
    /// What can be stored in it, through domains; of an array, in its elements.
    pub kind: Kind,
    /// Whether it is an array of that.
    pub is_array: bool,
    /// The expression of its default.
    pub default: Option<String>,
    /// The largest value that a CHECK of it or of its domain lets pass, where that could be told.
    pub checked_to: Option<i128>,
    /// Where its values come from.
    pub feed: Feed,
    /// Whether it is computed from other columns.
    pub is_generated: bool,
    /// The column of its table that it is the same value of, in whatever type, as an index into [`Table::columns`](super::Table::columns).
    pub generated_from: Option<usize>,
    /// Whether upper and lower case are equal to it.
    pub ignores_case: bool,
    /// The furthest value in the direction in which it grows.
    pub extreme: Extreme,
    /// A value at the very end, which was set apart: [`Column::extreme`] is the furthest of the others. See [`crate::apart`].
    pub apart: Option<i128>,
    /// Where it is defined, for what comes from a file.
    pub place: Option<Place>,
}

impl Column {
    /// The last value that its type and its CHECKs let pass.
    #[must_use]
    pub fn bound(&self, grows: Grows) -> Option<i128> {
        let bound = self.kind.bound(grows)?;
        Some(match (grows, self.checked_to) {
            (Grows::Up, Some(most)) => bound.min(most),
            _ => bound,
        })
    }

    /// Whether a CHECK ends it before its type does.
    #[must_use]
    pub fn is_checked(&self) -> bool {
        self.bound(Grows::Up) != self.kind.bound(Grows::Up)
    }
}

/// What can be stored in a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An integer of this many bits.
    Int {
        /// 8, 16, 24, 32 or 64; 25 and 54 of counters in floating point, by the whole numbers that these hold.
        bits: u32,
        /// Whether it has no negative values.
        is_unsigned: bool,
    },
    /// A decimal number with this many digits before the point.
    Decimal {
        /// 1 to 38; more are taken for 38.
        digits: u32,
    },
    /// A UUID.
    Uuid,
    /// Text of at most so many characters.
    Text {
        /// `None` where there is no limit.
        longest: Option<u32>,
    },
    /// Bytes, at most so many.
    Bytes {
        /// `None` where there is no limit.
        longest: Option<u32>,
    },
    /// Something else.
    Other,
}

impl Kind {
    /// A signed integer.
    #[must_use]
    pub const fn int(bits: u32) -> Self {
        Self::Int { bits, is_unsigned: false }
    }

    /// Whether its order is that of the numbers in it, and they are kept as they are.
    #[must_use]
    pub const fn is_number(self) -> bool {
        matches!(self, Self::Int { .. } | Self::Decimal { .. })
    }

    /// Whether it is an integer.
    #[must_use]
    pub const fn is_int(self) -> bool {
        matches!(self, Self::Int { .. })
    }

    /// The last value that it holds, upwards or downwards; `None` for what isn't a number.
    #[must_use]
    pub const fn bound(self, grows: Grows) -> Option<i128> {
        match (self, grows) {
            (Self::Int { bits, is_unsigned: true }, Grows::Up) => Some((1 << bits) - 1),
            (Self::Int { is_unsigned: true, .. }, Grows::Down) => Some(0),
            (Self::Int { bits, .. }, Grows::Up) => Some((1 << (bits - 1)) - 1),
            (Self::Int { bits, .. }, Grows::Down) => Some(-(1 << (bits - 1))),
            (Self::Decimal { digits }, _) => {
                let digits = if digits > 38 { 38 } else { digits };
                let most = 10_i128.pow(digits) - 1;
                Some(if matches!(grows, Grows::Up) { most } else { -most })
            }
            _ => None,
        }
    }
}

/// Which way values go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grows {
    /// Each larger than the one before.
    Up,
    /// Each smaller.
    Down,
}

/// Where the values of a column come from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Feed {
    /// Whoever inserts.
    #[default]
    None,
    /// A database sequence, whose values it takes as they are.
    Sequence {
        /// An index into [`Catalog::sequences`](super::Catalog::sequences).
        sequence: usize,
        /// Whether the column is an identity column.
        is_identity: bool,
        /// Whether its default asks the sequence; else it only owns it.
        is_default: bool,
    },
    /// A database sequence within an expression that makes something else of its values.
    Derived {
        /// An index into [`Catalog::sequences`](super::Catalog::sequences).
        sequence: usize,
    },
    /// AUTO_INCREMENT.
    AutoIncrement {
        /// The last value handed out.
        last: Reading,
    },
    /// SQLite's row id.
    RowId,
    /// A function whose work can't be seen.
    Function,
}

/// The furthest value of a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Extreme {
    /// It wasn't read.
    Unread(Unread),
    /// There are no values.
    Empty,
    /// This, as the end of an index says.
    Exact(i128),
    /// At least this, as statistics say.
    AtLeast(i128),
}

impl Extreme {
    /// The value, where there is one.
    #[must_use]
    pub const fn value(&self) -> Option<i128> {
        match self {
            Self::Exact(value) | Self::AtLeast(value) => Some(*value),
            Self::Unread(_) | Self::Empty => None,
        }
    }
}

/// Why a column's furthest value isn't known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unread {
    /// Nothing needed it.
    NotAsked,
    /// Its values aren't whole numbers, so none of them is known to be the furthest.
    NoNumbers,
    /// No index begins with the column, and there are no statistics.
    NoIndex,
    /// Another session holds a lock on the table.
    Locked,
    /// A privilege is missing.
    Denied(String),
    /// It took longer than its budget.
    TookTooLong,
}
