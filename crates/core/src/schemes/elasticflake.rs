//! Elasticflake, and Elasticsearch before version 6: milliseconds, address and sequence in byte order.

use crate::id::{Id, const_id};
use crate::layout::{Field, Layout, Role, TimeBase};
use crate::mapping::Mapping;
use crate::scheme::{Coordination, Facts, Scheme, Sortable, StaticScheme};
use crate::text::{BASE64URL, TextForm};

/// An Elasticflake id, 120 bits.
pub type Elasticflake = Id<ElasticflakeScheme>;

/// The description of [`Elasticflake`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ElasticflakeScheme;

/// 20 digits of base64url: 15 bytes.
static BASE64URL_20: TextForm = TextForm::fixed("base64url", &BASE64URL, 20);

impl StaticScheme for ElasticflakeScheme {
    type Repr = u128;
    const SCHEME: &'static Scheme = &Scheme {
        name: "elasticflake",
        aliases: &[],
        summary: "120-bit, unix milliseconds, munged MAC address, 24-bit sequence",
        source: "ppearcy/elasticflake, TimeBasedUUIDGenerator.java",
        layout: Layout::new(
            120,
            &[
                Field::new("timestamp", Role::Timestamp(TimeBase::millis_since(0)), 48),
                Field::new("address", Role::Worker, 48),
                Field::new("sequence", Role::Counter, 24),
            ],
        ),
        mapping: Mapping::Identity,
        text: &[&BASE64URL_20],
        vectors: &[("AUqiyrAAAQIDBAUGAAAB", &[1_420_070_400_000, 0x0102_0304_0506, 1])],
        facts: Facts {
            sortable: Sortable::ToTick,
            coordination: Coordination::Nothing,
            collisions: "one address used twice within a millisecond",
            leaks: "when it was made, to the millisecond, and a munged network address",
            sql: ("bytea", "binary(15)"),
            surprise: Some(2),
        },
        methods: &[],
        settings: &[],
        generator: None,
    };
}

const_id!(ElasticflakeScheme, u128);
