//! The ends of the chart of schemes: what each gives, why, what to watch.

use super::{Coordination, Creator, KeyOrder, Leaks, Offers, PeakRate, SchemeLeaf, Scope, Size, Sortable};

/// Every end of the chart.
pub static SCHEME_LEAVES: &[&SchemeLeaf] = &[
    &IDENTITY,
    &IDENTITY_MASKED,
    &STEPPED,
    &STEPPED_MASKED,
    &TICKETS,
    &TICKETS_MASKED,
    &BLOCKS,
    &BLOCKS_MASKED,
    &SNOWFLAKE,
    &SNOWFLAKE_MASKED,
    &SNOWFLAKE_53,
    &V7,
    &V7_MASKED,
    &V4,
];

const MASK: &str = "strangers see only the facade, so keep its key as long as any of its ids is in use, and check access all the same: a \
                    facade hides a number, it doesn't guard a row";

const IDENTITY_OFFERS: Offers = Offers {
    scope: Scope::Table,
    sortable: Sortable::Strictly,
    size: Size::Js,
    coordination: Coordination::Nothing,
    leaks: Leaks::Everything,
    peak_rate: PeakRate::High,
    creators: &[Creator::Database],
};

const GAPS: &str = "numbers are in the order of allocation, not of commit, and rollbacks leave gaps";
const NARROW: &str = "make every column that copies the number a bigint too: the narrowest one ends first";

pub(super) static IDENTITY: SchemeLeaf = SchemeLeaf {
    name: "bigint-identity",
    scheme: "bigint-identity",
    facade: None,
    offers: IDENTITY_OFFERS,
    key: KeyOrder::Counts,
    why: "one database makes the ids of one table: its own counter is the smallest key and needs no one else",
    watch: &[GAPS, NARROW, "after a restore or a failover the counter may stand behind the highest row"],
    next: "mintage capacity --counter int8 --rate 1000/s",
};

pub(super) static IDENTITY_MASKED: SchemeLeaf = SchemeLeaf {
    name: "bigint-identity behind permute",
    scheme: "bigint-identity",
    facade: Some("permute"),
    offers: Offers { leaks: Leaks::Nothing, ..IDENTITY_OFFERS },
    key: KeyOrder::Counts,
    why: "one database makes the ids of one table: its counter stays inside, and strangers see a permuted number that tells neither \
          time nor count",
    watch: &[MASK, GAPS, NARROW, "the public numbers don't sort; sort by the key inside"],
    next: "mintage capacity --counter int8 --rate 1000/s",
};

const STEPPED_OFFERS: Offers = Offers {
    scope: Scope::System,
    sortable: Sortable::No,
    size: Size::Js,
    coordination: Coordination::Worker,
    leaks: Leaks::Everything,
    peak_rate: PeakRate::High,
    creators: &[Creator::Database],
};

const STEP: &str =
    "the step is the most databases there will ever be; two with one offset issue the same numbers";

pub(super) static STEPPED: SchemeLeaf = SchemeLeaf {
    name: "stepped-identity",
    scheme: "stepped-identity",
    facade: None,
    offers: STEPPED_OFFERS,
    key: KeyOrder::Counts,
    why: "several databases each count on their own; steps and offsets agreed on once keep their numbers apart",
    watch: &[STEP, "busier databases run ahead, so order between databases means nothing"],
    next: "mintage capacity --counter int8 --rate 1000/s --step 8",
};

pub(super) static STEPPED_MASKED: SchemeLeaf = SchemeLeaf {
    name: "stepped-identity behind permute",
    scheme: "stepped-identity",
    facade: Some("permute"),
    offers: Offers { leaks: Leaks::Nothing, ..STEPPED_OFFERS },
    key: KeyOrder::Counts,
    why: "several databases each count on their own, kept apart by steps and offsets; strangers see a permuted number instead",
    watch: &[MASK, STEP],
    next: "mintage capacity --counter int8 --rate 1000/s --step 8",
};

const TICKETS_OFFERS: Offers = Offers {
    scope: Scope::System,
    sortable: Sortable::Strictly,
    size: Size::Js,
    coordination: Coordination::RoundTrip,
    leaks: Leaks::Everything,
    peak_rate: PeakRate::Modest,
    creators: &[Creator::Service],
};

const ONE_STORE: &str = "nothing can be made while the store is away; blocks of numbers would bridge that, at the price of the order";

pub(super) static TICKETS: SchemeLeaf = SchemeLeaf {
    name: "ticket-counter",
    scheme: "ticket-counter",
    facade: None,
    offers: TICKETS_OFFERS,
    key: KeyOrder::Counts,
    why: "only one counter puts the ids of all writers in one order, and the rate allows a round trip for each",
    watch: &[ONE_STORE, "one network round trip an id, from every region"],
    next: "mintage capacity --counter int8 --rate 1000/s",
};

pub(super) static TICKETS_MASKED: SchemeLeaf = SchemeLeaf {
    name: "ticket-counter behind permute",
    scheme: "ticket-counter",
    facade: Some("permute"),
    offers: Offers { leaks: Leaks::Nothing, ..TICKETS_OFFERS },
    key: KeyOrder::Counts,
    why: "only one counter puts the ids of all writers in one order; strangers see a permuted number instead",
    watch: &[MASK, ONE_STORE, "the public numbers don't sort; sort by the key inside"],
    next: "mintage capacity --counter int8 --rate 1000/s",
};

const BLOCKS_OFFERS: Offers = Offers {
    scope: Scope::System,
    sortable: Sortable::No,
    size: Size::Js,
    coordination: Coordination::RoundTrip,
    leaks: Leaks::Everything,
    peak_rate: PeakRate::Extreme,
    creators: &[Creator::Service],
};

const WASTE: &str =
    "a process that stops leaves the rest of its block unused: numbers have gaps, and run out sooner";

pub(super) static BLOCKS: SchemeLeaf = SchemeLeaf {
    name: "block-counter",
    scheme: "block-counter",
    facade: None,
    offers: BLOCKS_OFFERS,
    key: KeyOrder::Counts,
    why: "small dense numbers without an order between writers: each takes a block at a time, at any rate",
    watch: &[WASTE, "ids of different writers interleave in blocks, not by time"],
    next: "mintage capacity --counter int8 --rate 1e6/s",
};

pub(super) static BLOCKS_MASKED: SchemeLeaf = SchemeLeaf {
    name: "block-counter behind permute",
    scheme: "block-counter",
    facade: Some("permute"),
    offers: Offers { leaks: Leaks::Nothing, ..BLOCKS_OFFERS },
    key: KeyOrder::Counts,
    why: "small dense numbers, a block at a time; strangers see a permuted number that tells neither time nor count",
    watch: &[MASK, WASTE],
    next: "mintage capacity --counter int8 --rate 1e6/s",
};

const SNOWFLAKE_OFFERS: Offers = Offers {
    scope: Scope::System,
    sortable: Sortable::Roughly,
    size: Size::Bigint,
    coordination: Coordination::Worker,
    leaks: Leaks::Everything,
    peak_rate: PeakRate::Extreme,
    creators: &[Creator::Service, Creator::Database],
};

const ONE_WORKER: &str = "two processes with one worker issue the same ids: lease workers, don't derive them from addresses or names";
const THE_END: &str = "the time field ends on a date: choose it for the life of the data";
const JS_ROUNDS: &str = "JavaScript rounds 64-bit numbers: send them as strings";

pub(super) static SNOWFLAKE: SchemeLeaf = SchemeLeaf {
    name: "snowflake",
    scheme: "snowflake",
    facade: None,
    offers: SNOWFLAKE_OFFERS,
    key: KeyOrder::Grows,
    why: "64 bits with a worker for each writer: any rate without a round trip, and order to the tick",
    watch: &[ONE_WORKER, THE_END, JS_ROUNDS],
    next: "mintage capacity --suggest --machines 100 --rate 1e6/s --years 30",
};

pub(super) static SNOWFLAKE_MASKED: SchemeLeaf = SchemeLeaf {
    name: "snowflake behind permute",
    scheme: "snowflake",
    facade: Some("permute"),
    offers: Offers { leaks: Leaks::Nothing, ..SNOWFLAKE_OFFERS },
    key: KeyOrder::Grows,
    why: "64 bits with a worker for each writer, which would tell time and traffic: strangers see a permuted number instead",
    watch: &[MASK, ONE_WORKER, THE_END, JS_ROUNDS],
    next: "mintage capacity --suggest --machines 100 --rate 1e6/s --years 30",
};

pub(super) static SNOWFLAKE_53: SchemeLeaf = SchemeLeaf {
    name: "snowflake-53",
    scheme: "snowflake-53",
    facade: None,
    offers: Offers { size: Size::Js, peak_rate: PeakRate::High, ..SNOWFLAKE_OFFERS },
    key: KeyOrder::Grows,
    why: "numbers that JavaScript holds exactly, with a worker for each writer and order to the tick",
    watch: &[
        ONE_WORKER,
        THE_END,
        "53 bits leave few workers and a short sequence: reckon both before the first id",
    ],
    next: "mintage capacity --suggest --machines 10 --rate 100000/s --years 30 --bits 53",
};

const V7_OFFERS: Offers = Offers {
    scope: Scope::World,
    sortable: Sortable::Roughly,
    size: Size::Uuid,
    coordination: Coordination::Nothing,
    leaks: Leaks::Time,
    peak_rate: PeakRate::Extreme,
    creators: &[Creator::Service, Creator::Database, Creator::Client],
};

pub(super) static V7: SchemeLeaf = SchemeLeaf {
    name: "uuid-v7",
    scheme: "uuid-v7",
    facade: None,
    offers: V7_OFFERS,
    key: KeyOrder::Grows,
    why: "nothing to agree on: time puts ids in order, and 74 random bits a millisecond keep them apart",
    watch: &[
        "store it as 16 bytes, not as text",
        "it tells when a row was made; a client's clock may tell anything",
        "it isn't a secret: ids of one moment look alike",
    ],
    next: "mintage new uuid-v7 -n 3",
};

pub(super) static V7_MASKED: SchemeLeaf = SchemeLeaf {
    name: "uuid-v7 behind uuid47",
    scheme: "uuid-v7",
    facade: Some("uuid47"),
    offers: Offers { leaks: Leaks::Nothing, creators: &[Creator::Service, Creator::Database], ..V7_OFFERS },
    key: KeyOrder::Grows,
    why: "inside, time puts ids in order; outside, they look like version 4 and tell nothing",
    watch: &[MASK, "store it as 16 bytes, not as text", "the public ids don't sort; sort by the key inside"],
    next: "mintage new uuid-v7 -n 3",
};

pub(super) static V4: SchemeLeaf = SchemeLeaf {
    name: "uuid-v4",
    scheme: "uuid-v4",
    facade: None,
    offers: Offers { sortable: Sortable::No, leaks: Leaks::Nothing, ..V7_OFFERS },
    key: KeyOrder::Random,
    why: "122 random bits need nobody and tell nothing",
    watch: &[
        "store it as 16 bytes, not as text",
        "clients can send an id that exists: rely on the unique key, and check who may write to a row",
        "rows have no order: keep a time beside the id where one is needed",
    ],
    next: "mintage new uuid-v4 -n 3",
};
