//! The chart of placements: from the kind of store and the order of keys to where the id stands.

use super::{Node, PlacementLeaf};

/// Every end of [`PLACEMENT_CHART`].
pub static PLACEMENT_LEAVES: &[&PlacementLeaf] =
    &[&APPEND, &SCATTER, &BESIDE, &SPREAD, &LAST_RANGE, &REVERSED, &PREFIXED, &PARTITION, &OWNED];

type Chart = Node<PlacementLeaf>;

/// From the store's kind, the order of keys, the rate and the order asked for, to a placement.
pub static PLACEMENT_CHART: Chart =
    Node::Ask { question: "store", to: &[(&["b-tree"], &B_TREE), (&["range"], &RANGE), (&["hash"], &HASH)] };

/// One tree is best filled from one end.
static B_TREE: Chart = Node::Ask {
    question: "key",
    to: &[
        (&["grows", "counts"], &Node::Leaf(&APPEND)),
        (
            &["random"],
            &Node::Ask {
                question: "peak-rate",
                to: &[(&["modest"], &Node::Leaf(&SCATTER)), (&["high", "extreme"], &Node::Leaf(&BESIDE))],
            },
        ),
    ],
};

/// Ranges are best filled everywhere at once.
static RANGE: Chart = Node::Ask {
    question: "key",
    to: &[
        (&["random"], &Node::Leaf(&SPREAD)),
        (
            &["grows"],
            &Node::Ask {
                question: "peak-rate",
                to: &[
                    (&["modest"], &Node::Leaf(&LAST_RANGE)),
                    (&["high", "extreme"], &Node::Leaf(&PREFIXED)),
                ],
            },
        ),
        (
            &["counts"],
            &Node::Ask {
                question: "peak-rate",
                to: &[
                    (&["modest"], &Node::Leaf(&LAST_RANGE)),
                    (
                        &["high", "extreme"],
                        &Node::Ask {
                            question: "sortable",
                            to: &[
                                (&["no"], &Node::Leaf(&REVERSED)),
                                (&["roughly", "strictly"], &Node::Leaf(&PREFIXED)),
                            ],
                        },
                    ),
                ],
            },
        ),
    ],
};

/// A hash spreads any key; order needs a sort key.
static HASH: Chart = Node::Ask {
    question: "sortable",
    to: &[(&["no"], &Node::Leaf(&PARTITION)), (&["roughly", "strictly"], &Node::Leaf(&OWNED))],
};

static APPEND: PlacementLeaf = PlacementLeaf {
    name: "append",
    form: "plain-key",
    built_in: &[],
    why: "keys that grow fill one B-tree from its right end: full pages, few of them touched, a short log",
    watch: &[
        "many writers meet on the last page; at very high rates several tables or partitions relieve it",
    ],
};

static SCATTER: PlacementLeaf = PlacementLeaf {
    name: "scatter",
    form: "plain-key",
    built_in: &[],
    why: "random keys touch pages all over the B-tree; at this rate that is bearable while the index fits in memory",
    watch: &["the log grows many times faster than with keys that grow, most of all after each checkpoint"],
};

static BESIDE: PlacementLeaf = PlacementLeaf {
    name: "beside",
    form: "surrogate-key",
    built_in: &[],
    why: "random keys touch pages all over the B-tree: rows and other indexes follow a counter, and only one index pays for them",
    watch: &["two keys a row: foreign keys take the counter, strangers see the id"],
};

static SPREAD: PlacementLeaf = PlacementLeaf {
    name: "spread",
    form: "plain-key",
    built_in: &[],
    why: "random keys spread writes over all ranges",
    watch: &[
        "rows made together lie apart: reading the newest needs an index of its own, which has a hot end",
    ],
};

static LAST_RANGE: PlacementLeaf = PlacementLeaf {
    name: "last-range",
    form: "plain-key",
    built_in: &[],
    why: "keys that grow all go to the last range; at this rate one node carries it",
    watch: &[
        "splitting doesn't help, since the next key is always in the last range: watch that node, and prefix before it is full",
    ],
};

static PREFIXED: PlacementLeaf = PlacementLeaf {
    name: "prefixed",
    form: "hash-sharded",
    built_in: &["hash-prefixed"],
    why: "keys that grow would all go to the last range: a few bits of hash before them make as many ends as nodes need",
    watch: &[
        "reading in order asks every prefix and merges",
        "the number of prefixes is fixed with the first row",
    ],
};

static REVERSED: PlacementLeaf = PlacementLeaf {
    name: "reversed",
    form: "bit-reversed",
    built_in: &["spanner-bit-reversed"],
    why: "a counter would always hit the last range; with its bits reversed each value falls into another one, and stays unique",
    watch: &["the keys don't sort by age"],
};

static PARTITION: PlacementLeaf = PlacementLeaf {
    name: "partition",
    form: "partition-key",
    built_in: &[],
    why: "the store hashes the partition key, so any id spreads evenly",
    watch: &["there are no ranges of ids to read"],
};

static OWNED: PlacementLeaf = PlacementLeaf {
    name: "owned",
    form: "owner-and-id",
    built_in: &[],
    why: "the hash takes the order away, and a sort key gives it back within each owner: a customer, a device, a day",
    watch: &["an owner that is much busier than others is a hot partition", "no order across owners"],
};
