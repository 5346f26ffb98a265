//! Choosing: which scheme fits, and where its ids are placed, as two charts that are walked from answers to a leaf.
//!
//! The charts are data ([`SCHEME_CHART`], [`PLACEMENT_CHART`]): each node asks one question, each answer leads to one node. What
//! gives way when nothing fits everything is computed from what a leaf offers, not written down beside it.

mod charts;
mod databases;
mod leaves;
mod placement;
mod questions;

use crate::scheme::Scheme;
use alloc::vec::Vec;
pub use charts::SCHEME_CHART;
pub use databases::{DATABASES, Database, Native};
pub use leaves::SCHEME_LEAVES;
pub use placement::{PLACEMENT_CHART, PLACEMENT_LEAVES};
pub use questions::{
    Answers, Choice, Coordination, Creator, Leaks, PeakRate, QUESTIONS, Question, Scope, Size, Sortable,
    Store,
};

/// A chart: a question with a node for each answer, or a leaf.
#[derive(Debug)]
pub enum Node<L: 'static> {
    /// Asks, and leads on.
    Ask {
        /// The name of the question; `key` asks how the chosen scheme's keys fall.
        question: &'static str,
        /// Words of answers, and where they lead.
        to: &'static [(&'static [&'static str], &'static Self)],
    },
    /// An end.
    Leaf(&'static L),
}

/// How the keys of a scheme fall in key order as they are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyOrder {
    /// Each near above the last, by time.
    Grows,
    /// Each next to the last, by a counter.
    Counts,
    /// Anywhere.
    Random,
}

impl KeyOrder {
    /// The word for it in charts.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Grows => "grows",
            Self::Counts => "counts",
            Self::Random => "random",
        }
    }
}

/// What a scheme gives, in the terms of the questions.
#[derive(Clone, Copy, Debug)]
pub struct Offers {
    /// The widest scope in which its ids are unique.
    pub scope: Scope,
    /// The most order that they show.
    pub sortable: Sortable,
    /// How wide they are.
    pub size: Size,
    /// What making one asks of others.
    pub coordination: Coordination,
    /// What one tells strangers.
    pub leaks: Leaks,
    /// The highest rate.
    pub peak_rate: PeakRate,
    /// Who can make them.
    pub creators: &'static [Creator],
}

/// An end of the chart of schemes.
#[derive(Debug)]
pub struct SchemeLeaf {
    /// Its name.
    pub name: &'static str,
    /// A scheme of [`crate::SCHEMES`], or one of [`FORMS`].
    pub scheme: &'static str,
    /// The facade that strangers see instead, a name of [`FORMS`].
    pub facade: Option<&'static str>,
    /// What it gives.
    pub offers: Offers,
    /// How its keys fall.
    pub key: KeyOrder,
    /// Why.
    pub why: &'static str,
    /// What to watch.
    pub watch: &'static [&'static str],
    /// The command to run next.
    pub next: &'static str,
}

/// An end of the chart of placements.
#[derive(Debug)]
pub struct PlacementLeaf {
    /// Its name.
    pub name: &'static str,
    /// One of [`FORMS`].
    pub form: &'static str,
    /// Schemes that have this placement inside the id.
    pub built_in: &'static [&'static str],
    /// Why.
    pub why: &'static str,
    /// What to watch.
    pub watch: &'static [&'static str],
}

/// A way to make, show or place ids that isn't a scheme of its own.
#[derive(Clone, Copy, Debug)]
pub struct Form {
    /// Its name.
    pub name: &'static str,
    /// What it is.
    pub text: &'static str,
}

/// Ways to make, show and place ids that leaves name besides schemes.
pub const FORMS: &[Form] = &[
    Form { name: "bigint-identity", text: "a bigint that the database counts up, row by row" },
    Form {
        name: "stepped-identity",
        text: "a bigint that each database counts up in steps of k, from an offset of its own",
    },
    Form { name: "ticket-counter", text: "one counter in one store, a round trip an id" },
    Form {
        name: "block-counter",
        text: "one counter in one store, handed out in blocks that last for minutes",
    },
    Form { name: "snowflake-53", text: "a split of 53 bits such as 41/4/8: timestamp, worker, sequence" },
    Form { name: "permute", text: "a keyed permutation: another number of the same width for each id" },
    Form { name: "uuid47", text: "a version 7 UUID shown as a version 4, its time hidden by a key" },
    Form { name: "plain-key", text: "the id is the primary key" },
    Form {
        name: "surrogate-key",
        text: "a bigint counter is the primary key; the id is a unique column beside it",
    },
    Form { name: "hash-sharded", text: "some bits of a hash of the id stand before it in the key" },
    Form { name: "bit-reversed", text: "the counter's bits stand in reverse order in the key" },
    Form { name: "partition-key", text: "the id is the partition key" },
    Form { name: "owner-and-id", text: "what owns the row is the partition key, the id is the sort key" },
];

/// What a name of a leaf is: the summary of a scheme, or the text of a form.
#[must_use]
pub fn describe(name: &str) -> Option<&'static str> {
    let form = || FORMS.iter().find(|form| form.name == name).map(|form| form.text);
    Scheme::by_name(name).map(|scheme| scheme.summary).or_else(form)
}

/// Something asked for that the chosen scheme doesn't give.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shortfall {
    /// The question's name.
    pub question: &'static str,
    /// What was asked for.
    pub asked: &'static str,
    /// What there is instead.
    pub given: &'static str,
}

/// A question and its answer, on the way to a leaf.
pub type Turn = (&'static str, &'static str);

/// What the charts lead to.
#[derive(Clone, Debug)]
pub struct Choosing {
    /// The scheme.
    pub scheme: &'static SchemeLeaf,
    /// The answers that led to it, in order.
    pub scheme_path: Vec<Turn>,
    /// What gives way: nothing, where everything asked for is given.
    pub shortfalls: Vec<Shortfall>,
    /// The placement.
    pub placement: &'static PlacementLeaf,
    /// The answers that led to it, in order.
    pub placement_path: Vec<Turn>,
    /// Schemes that could be taken instead, since they have this placement inside the id, and are narrow enough.
    pub instead: Vec<&'static str>,
}

/// The scheme and the placement for these answers.
#[must_use]
pub fn choose(answers: &Answers) -> Choosing {
    let (scheme, scheme_path) = walk(&SCHEME_CHART, |question| answers.word(question));
    let (placement, placement_path) = walk(&PLACEMENT_CHART, |question| match question {
        "key" => Some(scheme.key.word()),
        _ => answers.word(question),
    });
    let is_narrow =
        |name: &str| Scheme::by_name(name).is_some_and(|scheme| scheme.layout.bits() <= answers.size.bits());
    // A facade is made for the scheme behind it.
    let instead =
        placement.built_in.iter().copied().filter(|name| scheme.facade.is_none() && is_narrow(name));
    Choosing {
        scheme,
        scheme_path,
        shortfalls: scheme.offers.shortfalls(answers),
        placement,
        placement_path,
        instead: instead.collect(),
    }
}

/// The leaf that a chart leads to, and the way.
fn walk<L>(
    chart: &'static Node<L>,
    answer: impl Fn(&str) -> Option<&'static str>,
) -> (&'static L, Vec<Turn>) {
    let (mut node, mut path) = (chart, Vec::new());
    loop {
        match node {
            Node::Leaf(leaf) => return (leaf, path),
            Node::Ask { question, to } => {
                let word = answer(question);
                let branch = word.and_then(|word| {
                    to.iter().find(|(words, _)| words.contains(&word)).map(|(_, next)| (word, *next))
                });
                let (word, next) = branch.expect("the charts' tests walk every combination of answers");
                path.push((*question, word));
                node = next;
            }
        }
    }
}

impl Offers {
    /// What of the answers isn't given.
    #[must_use]
    pub fn shortfalls(&self, asked: &Answers) -> Vec<Shortfall> {
        let short = [
            (self.scope < asked.scope, "scope", asked.scope.word(), self.scope.word()),
            (self.sortable < asked.sortable, "sortable", asked.sortable.word(), self.sortable.word()),
            (self.size > asked.size, "size", asked.size.word(), self.size.word()),
            (
                self.coordination > asked.coordination,
                "coordination",
                asked.coordination.word(),
                self.coordination.word(),
            ),
            (self.leaks > asked.leaks, "leaks", asked.leaks.word(), self.leaks.word()),
            (self.peak_rate < asked.peak_rate, "peak-rate", asked.peak_rate.word(), self.peak_rate.word()),
            (
                !self.creators.contains(&asked.creator),
                "creator",
                asked.creator.word(),
                self.creators.first().map_or("", |creator| creator.word()),
            ),
        ];
        let missed = short.into_iter().filter(|(is_short, ..)| *is_short);
        missed.map(|(_, question, asked, given)| Shortfall { question, asked, given }).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::BTreeSet;

    fn all_answers() -> impl Iterator<Item = Answers> {
        let choices = QUESTIONS.map(|question| question.choices.len());
        let count: usize = choices.iter().product();
        (0..count).map(move |number| {
            let mut rest = number;
            let picks = choices.map(|choices| {
                let pick = rest % choices;
                rest /= choices;
                pick
            });
            Answers::from_picks(picks).unwrap()
        })
    }

    #[test]
    fn every_combination_of_answers_leads_to_one_leaf_and_every_leaf_is_reached() {
        let (mut schemes, mut placements, mut count) = (BTreeSet::new(), BTreeSet::new(), 0);
        for answers in all_answers() {
            let choosing = choose(&answers);
            schemes.insert(choosing.scheme.name);
            placements.insert(choosing.placement.name);
            count += 1;
        }
        assert_eq!(count, 6561);
        assert_eq!(schemes, SCHEME_LEAVES.iter().map(|leaf| leaf.name).collect());
        assert_eq!(placements, PLACEMENT_LEAVES.iter().map(|leaf| leaf.name).collect());
    }

    /// Each node asks a question once on its way, and its branches share out the answers.
    fn check<L>(node: &Node<L>, asked: &mut Vec<&'static str>) {
        let Node::Ask { question, to } = node else { return };
        assert!(!asked.contains(question), "{question} is asked twice: {asked:?}");
        let known: Vec<&str> = match QUESTIONS.iter().find(|known| known.name == *question) {
            Some(known) => known.choices.iter().map(|choice| choice.word).collect(),
            None => [KeyOrder::Grows, KeyOrder::Counts, KeyOrder::Random].map(KeyOrder::word).to_vec(),
        };
        let mut words: Vec<&str> = to.iter().flat_map(|(words, _)| words.iter().copied()).collect();
        assert_eq!(words.len(), known.len(), "{question}: {words:?}");
        words.sort_unstable();
        let mut sorted = known.clone();
        sorted.sort_unstable();
        assert_eq!(words, sorted, "{question}");
        asked.push(*question);
        for (_, next) in *to {
            check(next, asked);
        }
        asked.pop();
    }

    #[test]
    fn the_branches_of_a_question_share_out_its_answers() {
        check(&SCHEME_CHART, &mut Vec::new());
        check(&PLACEMENT_CHART, &mut Vec::new());
    }

    #[test]
    fn nothing_gives_way_where_some_scheme_gives_everything() {
        for answers in all_answers() {
            let choosing = choose(&answers);
            let better = SCHEME_LEAVES.iter().find(|leaf| leaf.offers.shortfalls(&answers).is_empty());
            if let Some(better) = better {
                let found = (choosing.scheme.name, &choosing.shortfalls);
                assert!(choosing.shortfalls.is_empty(), "{answers:?}: {found:?} instead of {}", better.name);
            }
        }
    }

    #[test]
    fn uniqueness_and_what_strangers_learn_never_give_way() {
        for answers in all_answers() {
            let choosing = choose(&answers);
            for short in &choosing.shortfalls {
                let is_kept = matches!(short.question, "scope" | "leaks" | "creator" | "coordination");
                assert!(!is_kept, "{answers:?}: {short:?}");
            }
        }
    }

    #[test]
    fn names_are_schemes_or_forms_and_unique() {
        for leaf in SCHEME_LEAVES {
            for name in [Some(leaf.scheme), leaf.facade].into_iter().flatten() {
                assert!(describe(name).is_some(), "{name}");
            }
            assert!(leaf.next.starts_with("mintage ") && !leaf.why.is_empty() && !leaf.watch.is_empty());
            assert_eq!(leaf.name.contains("behind"), leaf.facade.is_some(), "{}", leaf.name);
        }
        for leaf in PLACEMENT_LEAVES {
            assert!(describe(leaf.form).is_some(), "{}", leaf.form);
            for name in leaf.built_in {
                assert!(Scheme::by_name(name).is_some(), "{name}");
            }
            assert!(!leaf.why.is_empty());
        }
        let names: BTreeSet<&str> = SCHEME_LEAVES.iter().map(|leaf| leaf.name).collect();
        assert_eq!(names.len(), SCHEME_LEAVES.len());
        let forms: BTreeSet<&str> = FORMS.iter().map(|form| form.name).collect();
        assert_eq!(forms.len(), FORMS.len());
    }

    #[test]
    fn what_leaves_offer_agrees_with_the_schemes() {
        use crate::scheme::Sortable as Sorts;
        for leaf in SCHEME_LEAVES {
            let Some(scheme) = Scheme::by_name(leaf.scheme) else { continue };
            let bits = scheme.layout.bits();
            assert!(bits <= leaf.offers.size.bits(), "{}", leaf.name);
            let sorts = scheme.facts.sortable != Sorts::No;
            assert_eq!(leaf.offers.sortable != Sortable::No, sorts, "{}", leaf.name);
            let is_free = scheme.facts.coordination == crate::scheme::Coordination::Nothing;
            assert_eq!(leaf.offers.coordination == Coordination::Nothing, is_free, "{}", leaf.name);
        }
    }

    #[test]
    fn databases_know_every_scheme_of_the_chart() {
        for database in DATABASES {
            for leaf in SCHEME_LEAVES {
                assert!(database.native(leaf.scheme).is_some(), "{}: {}", database.name, leaf.scheme);
            }
            assert_eq!(Database::by_name(database.name).unwrap().name, database.name);
        }
    }

    #[test]
    fn well_known_cases() {
        let base = Answers {
            scope: Scope::System,
            sortable: Sortable::Roughly,
            size: Size::Uuid,
            coordination: Coordination::Nothing,
            leaks: Leaks::Time,
            peak_rate: PeakRate::High,
            creator: Creator::Service,
            store: Store::BTree,
        };
        let led = |answers: &Answers| {
            let choosing = choose(answers);
            (choosing.scheme.name, choosing.placement.name)
        };
        assert_eq!(led(&base), ("uuid-v7", "append"));
        let one_table = Answers {
            scope: Scope::Table,
            leaks: Leaks::Everything,
            creator: Creator::Database,
            size: Size::Bigint,
            ..base
        };
        assert_eq!(led(&one_table), ("bigint-identity", "append"));
        let twitter = Answers {
            size: Size::Bigint,
            coordination: Coordination::Worker,
            leaks: Leaks::Everything,
            ..base
        };
        assert_eq!(led(&twitter), ("snowflake", "append"));
        let ranges = Answers { leaks: Leaks::Nothing, sortable: Sortable::No, store: Store::Range, ..base };
        assert_eq!(led(&ranges), ("uuid-v4", "spread"));
        let prefixed = Answers { store: Store::Range, ..base };
        assert_eq!(led(&prefixed), ("uuid-v7", "prefixed"));
        assert_eq!(choose(&prefixed).instead, ["hash-prefixed"]);
        assert!(choose(&Answers { store: Store::Range, ..twitter }).instead.is_empty());
        let impossible = choose(&Answers { size: Size::Bigint, ..base });
        assert_eq!(impossible.scheme.name, "uuid-v7");
        assert_eq!(impossible.shortfalls, [Shortfall { question: "size", asked: "64", given: "128" }]);
        assert_eq!(Answers::from_picks([3, 0, 0, 0, 0, 0, 0, 0]), None);
    }
}
