//! The questions, their answers, and an answer to each.

/// An enum of the answers to one question, the least demanding order given by the question's comment.
macro_rules! answers {
    ($(#[$doc:meta])* $name:ident { $($(#[doc = $text:literal])+ $variant:ident = $word:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name {
            $($(#[doc = $text])+ $variant,)+
        }

        impl $name {
            /// All answers.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];
            const CHOICES: &'static [Choice] = &[$(Choice { word: $word, text: concat!($($text),+).trim_ascii() },)+];

            /// The word for it in flags and JSON.
            #[must_use]
            pub const fn word(self) -> &'static str {
                Self::CHOICES[self as usize].word
            }
        }
    };
}

answers! {
    /// Where no two ids may be equal, from narrow to wide.
    Scope {
        /// within one table
        Table = "table",
        /// across all tables, databases and services of one's own
        System = "system",
        /// also among ids that others make: mergers, imports, offline devices
        World = "world",
    }
}
answers! {
    /// What order of making ids must show, from none to all.
    Sortable {
        /// order doesn't matter
        No = "no",
        /// later ids sort after earlier ones, to the tick between writers
        Roughly = "roughly",
        /// every id is above all that were made before it, whoever made them
        Strictly = "strictly",
    }
}
answers! {
    /// How wide an id may be, from narrow to wide.
    Size {
        /// 53 bits: a number in JavaScript and JSON
        Js = "53",
        /// 64 bits: a bigint column
        Bigint = "64",
        /// 128 bits: a uuid column
        Uuid = "128",
    }
}
answers! {
    /// What minting may ask of others, from nothing to most.
    Coordination {
        /// nothing, ever
        Nothing = "nothing",
        /// a worker of one's own, agreed on at start
        Worker = "worker",
        /// a round trip to a store, for each id or for a block of them
        RoundTrip = "round-trip",
    }
}
answers! {
    /// What an id may tell strangers, from nothing to most.
    Leaks {
        /// neither when it was made nor how many there are
        Nothing = "nothing",
        /// when it was made, but not how many there are
        Time = "time",
        /// when it was made and how many there are
        Everything = "everything",
    }
}
answers! {
    /// Ids a second at the busiest, all writers together.
    PeakRate {
        /// up to 1,000 a second
        Modest = "modest",
        /// up to 1,000,000 a second
        High = "high",
        /// more than that
        Extreme = "extreme",
    }
}
answers! {
    /// Who makes the id.
    Creator {
        /// the database, when the row is inserted
        Database = "database",
        /// a service of one's own, before the row is inserted
        Service = "service",
        /// a browser, an app or a device, perhaps offline
        Client = "client",
    }
}
answers! {
    /// How the store keeps rows.
    Store {
        /// in one B-tree: PostgreSQL, MySQL, SQL Server, MongoDB without shards
        BTree = "b-tree",
        /// in ranges of keys on several nodes: CockroachDB, Spanner
        Range = "range",
        /// by a hash of the partition key: DynamoDB, hashed shards
        Hash = "hash",
    }
}

impl PeakRate {
    /// The answer for so many ids a second.
    #[must_use]
    pub const fn of(ids_per_sec: f64) -> Self {
        if ids_per_sec <= 1e3 {
            Self::Modest
        } else if ids_per_sec <= 1e6 {
            Self::High
        } else {
            Self::Extreme
        }
    }
}

impl Size {
    /// Its bits.
    #[must_use]
    pub const fn bits(self) -> u32 {
        match self {
            Self::Js => 53,
            Self::Bigint => 64,
            Self::Uuid => 128,
        }
    }
}

/// A question, with its answers in words.
#[derive(Clone, Copy, Debug)]
pub struct Question {
    /// Its name in flags, JSON and charts.
    pub name: &'static str,
    /// The question.
    pub text: &'static str,
    /// What may be answered.
    pub choices: &'static [Choice],
}

/// A possible answer.
#[derive(Clone, Copy, Debug)]
pub struct Choice {
    /// The word for it.
    pub word: &'static str,
    /// What it means.
    pub text: &'static str,
}

/// The seven questions about ids, then the one about the store.
pub static QUESTIONS: [Question; 8] = [
    Question { name: "scope", text: "Where must ids be unique?", choices: Scope::CHOICES },
    Question { name: "sortable", text: "Must ids sort by when they were made?", choices: Sortable::CHOICES },
    Question { name: "size", text: "How wide may an id be?", choices: Size::CHOICES },
    Question {
        name: "coordination",
        text: "What may making an id ask of others?",
        choices: Coordination::CHOICES,
    },
    Question { name: "leaks", text: "What may an id tell strangers?", choices: Leaks::CHOICES },
    Question { name: "peak-rate", text: "How many ids are made at the busiest?", choices: PeakRate::CHOICES },
    Question { name: "creator", text: "Who makes an id?", choices: Creator::CHOICES },
    Question { name: "store", text: "How does the store keep rows?", choices: Store::CHOICES },
];

/// An answer to each question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Answers {
    /// Where ids must be unique.
    pub scope: Scope,
    /// What order they must show.
    pub sortable: Sortable,
    /// How wide they may be.
    pub size: Size,
    /// What making one may ask of others.
    pub coordination: Coordination,
    /// What one may tell strangers.
    pub leaks: Leaks,
    /// How many are made at the busiest.
    pub peak_rate: PeakRate,
    /// Who makes them.
    pub creator: Creator,
    /// How the store keeps rows.
    pub store: Store,
}

impl Answers {
    /// From the number of the answer to each of [`QUESTIONS`], counted from 0; `None` when there is no such answer.
    #[must_use]
    pub fn from_picks(picks: [usize; 8]) -> Option<Self> {
        let [scope, sortable, size, coordination, leaks, peak_rate, creator, store] = picks;
        Some(Self {
            scope: *Scope::ALL.get(scope)?,
            sortable: *Sortable::ALL.get(sortable)?,
            size: *Size::ALL.get(size)?,
            coordination: *Coordination::ALL.get(coordination)?,
            leaks: *Leaks::ALL.get(leaks)?,
            peak_rate: *PeakRate::ALL.get(peak_rate)?,
            creator: *Creator::ALL.get(creator)?,
            store: *Store::ALL.get(store)?,
        })
    }

    /// The words of the answers, in the order of [`QUESTIONS`].
    #[must_use]
    pub const fn words(&self) -> [&'static str; 8] {
        [
            self.scope.word(),
            self.sortable.word(),
            self.size.word(),
            self.coordination.word(),
            self.leaks.word(),
            self.peak_rate.word(),
            self.creator.word(),
            self.store.word(),
        ]
    }

    /// The answer to the question of this name.
    pub(super) fn word(&self, question: &str) -> Option<&'static str> {
        let at = QUESTIONS.iter().position(|known| known.name == question)?;
        Some(self.words()[at])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_has_a_word() {
        assert_eq!(
            [0.1, 1e3, 1001.0, 1e6, 1e7].map(|rate| PeakRate::of(rate).word()),
            ["modest", "modest", "high", "high", "extreme"]
        );
    }
}
