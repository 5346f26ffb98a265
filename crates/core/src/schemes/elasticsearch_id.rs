//! Ids that Elasticsearch makes since version 6: Elasticflake with its bytes shuffled, so that neighbours compress well.

use crate::id::{Id, const_id};
use crate::layout::{Field, Layout, Role, TimeBase};
use crate::mapping::Mapping;
use crate::scheme::{Coordination, Facts, Scheme, Sortable, StaticScheme};
use crate::text::{BASE64URL, TextForm};

/// An Elasticsearch id, 120 bits.
pub type ElasticsearchId = Id<ElasticsearchIdScheme>;

/// The description of [`ElasticsearchId`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ElasticsearchIdScheme;

/// 20 digits of base64url: 15 bytes.
static BASE64URL_20: TextForm = TextForm::fixed("base64url", &BASE64URL, 20);

impl StaticScheme for ElasticsearchIdScheme {
    type Repr = u128;
    const SCHEME: &'static Scheme = &Scheme {
        name: "elasticsearch-id",
        aliases: &["elasticsearch"],
        summary: "120-bit, unix milliseconds, munged MAC address and sequence, bytes shuffled",
        source: "elastic/elasticsearch, TimeBasedUUIDGenerator.java",
        layout: Layout::new(
            120,
            &[
                Field::new("timestamp", Role::Timestamp(TimeBase::millis_since(0)), 48),
                Field::new("address", Role::Worker, 48),
                Field::new("sequence", Role::Counter, 24),
            ],
        ),
        mapping: Mapping::ElasticsearchBytes,
        text: &[&BASE64URL_20],
        vectors: &[("W0tpsmIBdwcYyG50zbta", &[1_523_411_701_082, 0x7707_18c8_6e74, 4_963_163])],
        facts: Facts {
            sortable: Sortable::No,
            coordination: Coordination::Nothing,
            collisions: "one address used twice within a millisecond",
            leaks: "when it was made, to the millisecond, and a munged network address",
            sql: ("bytea", "binary(15)"),
            surprise: Some(1),
        },
        methods: &[],
        settings: &[],
        generator: None,
    };
}

const_id!(ElasticsearchIdScheme, u128);
