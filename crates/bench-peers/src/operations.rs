//! What is compared, as data: each operation with ours, the peers', and the ratio to reach. Table, JSON, page and picture are
//! computed from this list.

use crate::engines::Make;
use crate::ours;
use crate::peers::{self, Peer};
use mintage::schemes::ulid::{UlidRule, UlidScheme};
use mintage::schemes::uuid_v7::{Uuid7Rule, UuidV7Scheme};
use mintage::schemes::{ksuid::KsuidScheme, objectid::ObjectIdScheme};
use mintage::schemes::{uuid_v4::UuidV4Scheme, xid::XidScheme};

/// One piece of work.
#[derive(Clone, Copy, Debug)]
pub struct Operation {
    /// Its name, unlike every other.
    pub name: &'static str,
    /// Threads that do it at once.
    pub threads: usize,
    /// Ours.
    pub(crate) ours: Make,
    /// Theirs.
    pub rivals: &'static [Rival],
    /// What is asked of ours alone.
    pub floor: Floor,
}

/// A peer that does the same work.
#[derive(Clone, Copy, Debug)]
pub struct Rival {
    /// Which.
    pub peer: Peer,
    /// The ratio of our time to the peer's that is to be reached; `None` where it is only reported.
    pub target: Option<f64>,
    pub(crate) make: Make,
}

/// A rate to reach, whatever the peers do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Floor {
    /// None.
    Nothing,
    /// A part of the ids a second that the layout has room for.
    PartOf {
        /// All that it has room for.
        ids_per_s: f64,
        /// The part, at most 1.
        part: f64,
    },
    /// Ids a second that the fastest of all operations with this floor reaches.
    OfTheFastest {
        /// Ids a second.
        ids_per_s: f64,
    },
}

const fn rival(peer: Peer, target: f64, make: Make) -> Rival {
    Rival { peer, target: Some(target), make }
}

const fn reported(peer: Peer, make: Make) -> Rival {
    Rival { peer, target: None, make }
}

const fn alone(name: &'static str, ours: Make, rivals: &'static [Rival]) -> Operation {
    Operation { name, threads: 1, ours, rivals, floor: Floor::Nothing }
}

/// What a layout with 12 bits of sequence has room for.
const fn pace(workers: f64) -> Floor {
    Floor::PartOf { ids_per_s: 4_096_000.0 * workers, part: 0.98 }
}

const TEXTS: Floor = Floor::OfTheFastest { ids_per_s: 1e8 };

/// Every operation, in the order of the table.
pub const OPERATIONS: &[Operation] = &[
    alone(
        "mint uuid-v4",
        ours::mint::<UuidV4Scheme>,
        &[rival(peers::UUID, 0.5, peers::uuid_v4), reported(peers::UUID_DEFAULT, peers::uuid_v4_default)],
    ),
    alone(
        "mint uuid-v4, batches of 1024",
        ours::mint_batch::<UuidV4Scheme>,
        &[
            rival(peers::UUID, 0.25, peers::uuid_v4_batch),
            reported(peers::UUID_DEFAULT, peers::uuid_v4_default_batch),
        ],
    ),
    alone(
        "mint uuid-v7",
        ours::mint::<UuidV7Scheme>,
        &[rival(peers::UUID7, 0.75, peers::uuid7), rival(peers::UUID, 0.75, peers::uuid_v7)],
    ),
    alone(
        "mint uuid-v7, owned by its thread",
        ours::mint_owned::<Uuid7Rule>,
        &[rival(peers::UUID7_OWN, 0.75, peers::uuid7_own)],
    ),
    alone(
        "mint uuid-v7, batches of 1024",
        ours::mint_batch::<UuidV7Scheme>,
        &[
            rival(peers::UUID7, 0.06, peers::uuid7_batch),
            rival(peers::UUID7_OWN, 0.06, peers::uuid7_own_batch),
            rival(peers::UUID, 0.06, peers::uuid_v7_batch),
        ],
    ),
    alone(
        "mint ulid",
        ours::mint::<UlidScheme>,
        &[reported(peers::ULID, peers::ulid), reported(peers::FERROID, peers::ferroid_ulid)],
    ),
    alone(
        "mint ulid, owned by its thread",
        ours::mint_owned::<UlidRule>,
        &[rival(peers::ULID, 0.8, peers::ulid), reported(peers::FERROID, peers::ferroid_ulid)],
    ),
    alone(
        "mint ulid, batches of 1024",
        ours::mint_batch::<UlidScheme>,
        &[rival(peers::FERROID, 0.3, peers::ferroid_ulid_batch), reported(peers::ULID, peers::ulid_batch)],
    ),
    alone(
        "mint snowflake, given clock",
        ours::snowflake_given,
        &[rival(peers::FERROID, 1.0, peers::ferroid_snowflake_given)],
    ),
    Operation {
        threads: 2,
        ..alone(
            "mint snowflake, given clock, 2 threads",
            ours::snowflake_given_runs,
            &[rival(peers::FERROID, 0.1, peers::ferroid_snowflake_given)],
        )
    },
    Operation {
        floor: pace(1.0),
        ..alone(
            "mint snowflake, real clock",
            ours::snowflake_real::<1>,
            &[
                reported(peers::FERROID, peers::ferroid_snowflake_real::<1>),
                reported(peers::SNOWFLAKED, peers::snowflaked_real::<1>),
            ],
        )
    },
    Operation {
        floor: pace(8.0),
        ..alone(
            "mint snowflake, real clock, 8 workers",
            ours::snowflake_real::<8>,
            &[
                reported(peers::FERROID, peers::ferroid_snowflake_real::<8>),
                reported(peers::SNOWFLAKED, peers::snowflaked_real::<8>),
            ],
        )
    },
    alone("mint objectid", ours::mint::<ObjectIdScheme>, &[rival(peers::BSON, 0.5, peers::objectid)]),
    alone("mint nanoid", ours::nanoid, &[rival(peers::NANOID, 0.1, peers::nanoid)]),
    alone("mint ksuid", ours::mint::<KsuidScheme>, &[rival(peers::KSUID, 0.2, peers::ksuid)]),
    alone("mint xid", ours::mint::<XidScheme>, &[reported(peers::XID, peers::xid)]),
    alone(
        "print uuid",
        ours::print_uuid,
        &[rival(peers::UUID, 0.7, peers::print_uuid), reported(peers::UUID_SIMD, peers::print_uuid_simd)],
    ),
    alone(
        "parse uuid",
        ours::parse_uuid,
        &[rival(peers::UUID_SIMD, 1.0, peers::parse_uuid_simd), reported(peers::UUID, peers::parse_uuid)],
    ),
    alone(
        "print ulid",
        ours::print_ulid,
        &[rival(peers::ULID, 0.6, peers::print_ulid), rival(peers::FERROID, 0.6, peers::print_ulid_ferroid)],
    ),
    alone(
        "parse ulid",
        ours::parse_ulid,
        &[rival(peers::ULID, 0.8, peers::parse_ulid), rival(peers::FERROID, 0.8, peers::parse_ulid_ferroid)],
    ),
    alone("print ksuid", ours::print_ksuid, &[rival(peers::KSUID, 0.1, peers::print_ksuid)]),
    alone("parse ksuid", ours::parse_ksuid, &[rival(peers::KSUID, 0.1, peers::parse_ksuid)]),
    alone("print base62 of 64 bits", ours::print_base62, &[rival(peers::BASE62, 0.6, peers::print_base62)]),
    alone("parse base62 of 64 bits", ours::parse_base62, &[rival(peers::BASE62, 0.8, peers::parse_base62)]),
    Operation {
        floor: TEXTS,
        ..alone(
            "mint and print uuid-v7, batches of 1024",
            ours::mint_texts::<UuidV7Scheme>,
            &[reported(peers::UUID, peers::mint_texts_uuid_v7)],
        )
    },
    Operation {
        floor: TEXTS,
        ..alone(
            "mint and print ulid, batches of 1024",
            ours::mint_texts::<UlidScheme>,
            &[reported(peers::FERROID, peers::mint_texts_ulid)],
        )
    },
    Operation {
        floor: TEXTS,
        ..alone(
            "mint and print ksuid, batches of 1024",
            ours::mint_texts::<KsuidScheme>,
            &[reported(peers::KSUID, peers::mint_texts_ksuid)],
        )
    },
    Operation {
        floor: TEXTS,
        ..alone(
            "mint and print snowflake in base62, batches of 1024",
            ours::mint_base62_snowflakes,
            &[reported(peers::FERROID_BASE62, peers::mint_base62_snowflakes)],
        )
    },
];
