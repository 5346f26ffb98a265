//! The chart of schemes: from the seven answers to a scheme.

use super::leaves::{
    BLOCKS, BLOCKS_MASKED, IDENTITY, IDENTITY_MASKED, SNOWFLAKE, SNOWFLAKE_53, SNOWFLAKE_MASKED, STEPPED,
    STEPPED_MASKED, TICKETS, TICKETS_MASKED, V4, V7, V7_MASKED,
};
use super::{Node, SchemeLeaf};

type Chart = Node<SchemeLeaf>;

/// From answers to a scheme.
pub static SCHEME_CHART: Chart = Node::Ask {
    question: "creator",
    // Clients agree on nothing and keep no key from their users.
    to: &[(&["client"], &LEAKS_UNSORTED), (&["database"], &DATABASE), (&["service"], &SERVICE)],
};

static DATABASE: Chart = Node::Ask {
    question: "scope",
    to: &[(&["table"], &ONE_TABLE), (&["system"], &DATABASES), (&["world"], &FREE)],
};

/// One database counts, unless it can't keep up; what its numbers tell may have to be hidden.
static ONE_TABLE: Chart = Node::Ask {
    question: "peak-rate",
    to: &[(&["modest", "high"], &COUNTED_TABLE), (&["extreme"], &BUSY_TABLE)],
};

static COUNTED_TABLE: Chart = Node::Ask {
    question: "leaks",
    to: &[
        (&["everything"], &Node::Leaf(&IDENTITY)),
        (
            &["time"],
            &Node::Ask {
                question: "size",
                to: &[
                    (&["53", "64"], &Node::Leaf(&IDENTITY_MASKED)),
                    (
                        &["128"],
                        &Node::Ask {
                            question: "sortable",
                            to: &[
                                (&["no", "roughly"], &Node::Leaf(&V7)),
                                (&["strictly"], &Node::Leaf(&IDENTITY_MASKED)),
                            ],
                        },
                    ),
                ],
            },
        ),
        (
            &["nothing"],
            &Node::Ask {
                question: "size",
                to: &[
                    (&["53", "64"], &Node::Leaf(&IDENTITY_MASKED)),
                    (
                        &["128"],
                        &Node::Ask {
                            question: "sortable",
                            to: &[
                                (&["no"], &Node::Leaf(&V4)),
                                (&["roughly"], &Node::Leaf(&V7_MASKED)),
                                (&["strictly"], &Node::Leaf(&IDENTITY_MASKED)),
                            ],
                        },
                    ),
                ],
            },
        ),
    ],
};

/// No single counter keeps up: whoever inserts has a worker.
static BUSY_TABLE: Chart = Node::Ask {
    question: "size",
    to: &[
        (&["128"], &FREE),
        (
            &["64"],
            &Node::Ask {
                question: "coordination",
                to: &[(&["nothing"], &FREE), (&["worker", "round-trip"], &SNOWFLAKES)],
            },
        ),
        (
            &["53"],
            &Node::Ask {
                question: "coordination",
                to: &[(&["nothing"], &FREE), (&["worker", "round-trip"], &SNOWFLAKES_53)],
            },
        ),
    ],
};

/// Several databases, or shards of one.
static DATABASES: Chart = Node::Ask {
    question: "size",
    to: &[
        (&["128"], &FREE),
        (
            &["64"],
            &Node::Ask {
                question: "coordination",
                to: &[
                    (&["nothing"], &FREE),
                    (
                        &["worker", "round-trip"],
                        &Node::Ask {
                            question: "sortable",
                            to: &[
                                (
                                    &["no"],
                                    &Node::Ask {
                                        question: "peak-rate",
                                        to: &[(&["modest", "high"], &STEPS), (&["extreme"], &SNOWFLAKES)],
                                    },
                                ),
                                (&["roughly", "strictly"], &SNOWFLAKES),
                            ],
                        },
                    ),
                ],
            },
        ),
        (
            &["53"],
            &Node::Ask {
                question: "coordination",
                to: &[
                    (&["nothing"], &FREE),
                    (
                        &["worker", "round-trip"],
                        &Node::Ask {
                            question: "sortable",
                            to: &[
                                (
                                    &["no"],
                                    &Node::Ask {
                                        question: "peak-rate",
                                        to: &[(&["modest", "high"], &STEPS), (&["extreme"], &SNOWFLAKES_53)],
                                    },
                                ),
                                (&["roughly", "strictly"], &SNOWFLAKES_53),
                            ],
                        },
                    ),
                ],
            },
        ),
    ],
};

static SERVICE: Chart = Node::Ask {
    question: "scope",
    to: &[
        (&["world"], &FREE),
        (
            &["table", "system"],
            &Node::Ask {
                question: "size",
                to: &[(&["128"], &SERVICE_128), (&["64"], &SERVICE_64), (&["53"], &SERVICE_53)],
            },
        ),
    ],
};

/// Only one counter puts all ids in one order; everything else sorts to the tick.
static SERVICE_128: Chart = Node::Ask {
    question: "sortable",
    to: &[
        (&["no"], &LEAKS_UNSORTED),
        (&["roughly"], &LEAKS_SORTED),
        (
            &["strictly"],
            &Node::Ask {
                question: "coordination",
                to: &[
                    (&["nothing", "worker"], &LEAKS_SORTED),
                    (
                        &["round-trip"],
                        &Node::Ask {
                            question: "peak-rate",
                            to: &[(&["modest"], &ONE_COUNTER), (&["high", "extreme"], &LEAKS_SORTED)],
                        },
                    ),
                ],
            },
        ),
    ],
};

static SERVICE_64: Chart = Node::Ask {
    question: "coordination",
    to: &[
        (&["nothing"], &FREE),
        (&["worker"], &SNOWFLAKES),
        (
            &["round-trip"],
            &Node::Ask {
                question: "sortable",
                to: &[
                    (&["no"], &COUNTED_BLOCKS),
                    (&["roughly"], &SNOWFLAKES),
                    (
                        &["strictly"],
                        &Node::Ask {
                            question: "peak-rate",
                            to: &[(&["modest"], &ONE_COUNTER), (&["high", "extreme"], &SNOWFLAKES)],
                        },
                    ),
                ],
            },
        ),
    ],
};

static SERVICE_53: Chart = Node::Ask {
    question: "coordination",
    to: &[
        (&["nothing"], &FREE),
        (&["worker"], &SNOWFLAKES_53),
        (
            &["round-trip"],
            &Node::Ask {
                question: "sortable",
                to: &[
                    (&["no"], &COUNTED_BLOCKS),
                    (
                        &["roughly", "strictly"],
                        &Node::Ask {
                            question: "peak-rate",
                            to: &[
                                (&["modest"], &ONE_COUNTER),
                                (
                                    &["high"],
                                    &Node::Ask {
                                        question: "leaks",
                                        to: &[
                                            (&["everything"], &Node::Leaf(&SNOWFLAKE_53)),
                                            (&["time", "nothing"], &Node::Leaf(&BLOCKS_MASKED)),
                                        ],
                                    },
                                ),
                                (&["extreme"], &COUNTED_BLOCKS),
                            ],
                        },
                    ),
                ],
            },
        ),
    ],
};

/// Nobody agrees on anything, so chance must keep ids apart, and 64 bits are too few for that.
static FREE: Chart = Node::Ask {
    question: "leaks",
    to: &[
        (&["time", "everything"], &Node::Leaf(&V7)),
        (
            &["nothing"],
            &Node::Ask {
                question: "sortable",
                to: &[(&["no"], &Node::Leaf(&V4)), (&["roughly", "strictly"], &Node::Leaf(&V7_MASKED))],
            },
        ),
    ],
};

static LEAKS_UNSORTED: Chart = Node::Ask {
    question: "leaks",
    to: &[(&["nothing"], &Node::Leaf(&V4)), (&["time", "everything"], &Node::Leaf(&V7))],
};

static LEAKS_SORTED: Chart = Node::Ask {
    question: "leaks",
    to: &[(&["nothing"], &Node::Leaf(&V7_MASKED)), (&["time", "everything"], &Node::Leaf(&V7))],
};

static SNOWFLAKES: Chart = Node::Ask {
    question: "leaks",
    to: &[(&["everything"], &Node::Leaf(&SNOWFLAKE)), (&["time", "nothing"], &Node::Leaf(&SNOWFLAKE_MASKED))],
};

static SNOWFLAKES_53: Chart = Node::Ask {
    question: "leaks",
    to: &[
        (&["everything"], &Node::Leaf(&SNOWFLAKE_53)),
        (&["time", "nothing"], &Node::Leaf(&SNOWFLAKE_MASKED)),
    ],
};

static STEPS: Chart = Node::Ask {
    question: "leaks",
    to: &[(&["everything"], &Node::Leaf(&STEPPED)), (&["time", "nothing"], &Node::Leaf(&STEPPED_MASKED))],
};

static ONE_COUNTER: Chart = Node::Ask {
    question: "leaks",
    to: &[(&["everything"], &Node::Leaf(&TICKETS)), (&["time", "nothing"], &Node::Leaf(&TICKETS_MASKED))],
};

static COUNTED_BLOCKS: Chart = Node::Ask {
    question: "leaks",
    to: &[(&["everything"], &Node::Leaf(&BLOCKS)), (&["time", "nothing"], &Node::Leaf(&BLOCKS_MASKED))],
};
