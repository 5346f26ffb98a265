//! Ids counted, and duplicates among them.
//!
//! Millions of ids are kept as bare numbers of their width and sorted: a set of them would take several times the memory.

use mintage::{RawId, Scheme};

/// Ids of one scheme, in the order they came.
#[derive(Clone, Debug)]
pub enum Ids {
    /// Of up to 64 bits.
    Narrow(Vec<u64>),
    /// Of up to 128 bits.
    Wide(Vec<u128>),
    /// Of up to 160 bits.
    Widest(Vec<RawId>),
}

/// How many ids, and how many of them repeat another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// All ids.
    pub ids: u64,
    /// Ids less distinct ids.
    pub duplicates: u64,
}

impl Ids {
    /// None yet, of this scheme's width.
    #[must_use]
    pub const fn of(scheme: &Scheme) -> Self {
        match scheme.layout.bits() {
            0..=64 => Self::Narrow(Vec::new()),
            65..=128 => Self::Wide(Vec::new()),
            _ => Self::Widest(Vec::new()),
        }
    }

    /// Adds one.
    ///
    /// # Panics
    /// When a scheme of up to 64 bits has minted a wider id.
    pub fn push(&mut self, id: RawId) {
        match self {
            Self::Narrow(ids) => {
                ids.push(u64::try_from(id.low()).expect("the layout has no more than 64 bits"))
            }
            Self::Wide(ids) => ids.push(id.low()),
            Self::Widest(ids) => ids.push(id),
        }
    }

    /// Adds those of another, which must be of the same width.
    ///
    /// # Panics
    /// When the widths differ.
    pub fn append(&mut self, other: Self) {
        match (self, other) {
            (Self::Narrow(ids), Self::Narrow(mut others)) => ids.append(&mut others),
            (Self::Wide(ids), Self::Wide(mut others)) => ids.append(&mut others),
            (Self::Widest(ids), Self::Widest(mut others)) => ids.append(&mut others),
            _ => panic!("ids of two widths are not of one scheme"),
        }
    }

    /// How many there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        match self {
            Self::Narrow(ids) => ids.len(),
            Self::Wide(ids) => ids.len(),
            Self::Widest(ids) => ids.len(),
        }
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Each id, in order.
    pub fn iter(&self) -> Box<dyn Iterator<Item = RawId> + '_> {
        match self {
            Self::Narrow(ids) => Box::new(ids.iter().map(|id| RawId::new(u128::from(*id)))),
            Self::Wide(ids) => Box::new(ids.iter().map(|id| RawId::new(*id))),
            Self::Widest(ids) => Box::new(ids.iter().copied()),
        }
    }

    /// Counts them.
    #[must_use]
    pub fn tally(self) -> Tally {
        match self {
            Self::Narrow(ids) => tally(ids),
            Self::Wide(ids) => tally(ids),
            Self::Widest(ids) => tally(ids),
        }
    }
}

fn tally<T: Ord>(mut ids: Vec<T>) -> Tally {
    let all = ids.len() as u64;
    ids.sort_unstable();
    ids.dedup();
    Tally { ids: all, duplicates: all - ids.len() as u64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn duplicates_are_counted_in_every_width() {
        for name in ["snowflake-twitter", "uuid-v7", "ksuid"] {
            let scheme = Scheme::by_name(name).unwrap();
            let mut ids = Ids::of(scheme);
            for number in [1, 2, 1, 1, 3] {
                ids.push(RawId::new(number));
            }
            let mut others = Ids::of(scheme);
            others.push(RawId::new(3));
            ids.append(others);
            assert_eq!(ids.iter().count(), ids.len());
            assert_eq!(ids.tally(), Tally { ids: 6, duplicates: 3 }, "{name}");
        }
    }

    #[test]
    fn bits_above_128_count() {
        let mut ids = Ids::of(Scheme::by_name("ksuid").unwrap());
        ids.push(RawId::from_parts(1, 7));
        ids.push(RawId::from_parts(2, 7));
        assert_eq!(ids.tally().duplicates, 0);
    }
}
