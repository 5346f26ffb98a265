//! The schemes, one file each. This list is the map of what the workspace can mint and read.

pub mod boundary_flake;
pub mod cockroach_unique_rowid;
pub mod cockroach_unordered_unique_rowid;
pub mod comb_legacy;
pub mod comb_unix_ms_first;
pub mod comb_unix_ms_last;
pub mod cosid;
pub mod cosid_safe_js;
pub mod cosid_safe_js_second;
pub mod cosid_second;
pub mod cosid_string;
pub mod cuid;
pub mod cuid2;
pub mod elasticflake;
pub mod elasticsearch_id;
pub mod firebase_pushid;
pub mod flake_idgen;
pub mod hash_prefixed;
pub mod ksuid;
pub mod laravel_ordered_uuid;
pub mod leaf;
pub mod lexicaluuid;
pub mod mysql_swapped_v1;
pub mod nanoid;
pub mod newsequentialid;
pub mod objectid;
pub mod scru128;
pub mod scru64;
pub mod sequential_uuid_counter;
pub mod sequential_uuid_time;
pub mod sid;
pub mod snowflake;
pub mod snowflake_bwmarrin;
pub mod snowflake_discord;
pub mod snowflake_instagram;
pub mod snowflake_mastodon;
pub mod snowflake_twitter;
pub mod sonyflake_v1;
pub mod sonyflake_v2;
pub mod spanner_bit_reversed;
pub mod tid_atproto;
pub mod tsid;
pub mod typeid;
pub mod uid_generator;
pub mod ulid;
pub mod uuid_max;
pub mod uuid_nil;
pub mod uuid_v1;
pub mod uuid_v2;
pub mod uuid_v3;
pub mod uuid_v4;
pub mod uuid_v5;
pub mod uuid_v6;
pub mod uuid_v7;
pub mod uuid_v8;
pub mod xid;
pub mod yitter_idgenerator;

use crate::scheme::{Scheme, StaticScheme};

/// Every scheme. Tables, completions, parsers and tests are loops over it.
pub static SCHEMES: &[&Scheme] = &[
    uuid_v1::UuidV1Scheme::SCHEME,
    uuid_v2::UuidV2Scheme::SCHEME,
    uuid_v3::UuidV3Scheme::SCHEME,
    uuid_v4::UuidV4Scheme::SCHEME,
    uuid_v5::UuidV5Scheme::SCHEME,
    uuid_v6::UuidV6Scheme::SCHEME,
    uuid_v7::UuidV7Scheme::SCHEME,
    uuid_v8::UuidV8Scheme::SCHEME,
    uuid_nil::UuidNilScheme::SCHEME,
    uuid_max::UuidMaxScheme::SCHEME,
    ulid::UlidScheme::SCHEME,
    ksuid::KsuidScheme::SCHEME,
    objectid::ObjectIdScheme::SCHEME,
    snowflake::SnowflakeScheme::SCHEME,
    snowflake_twitter::SnowflakeTwitterScheme::SCHEME,
    snowflake_discord::SnowflakeDiscordScheme::SCHEME,
    snowflake_instagram::SnowflakeInstagramScheme::SCHEME,
    snowflake_mastodon::SnowflakeMastodonScheme::SCHEME,
    sonyflake_v1::SonyflakeV1Scheme::SCHEME,
    sonyflake_v2::SonyflakeV2Scheme::SCHEME,
    snowflake_bwmarrin::SnowflakeBwmarrinScheme::SCHEME,
    leaf::LeafScheme::SCHEME,
    flake_idgen::FlakeIdgenScheme::SCHEME,
    tsid::TsidScheme::SCHEME,
    cosid::CosidScheme::SCHEME,
    cosid_second::CosidSecondScheme::SCHEME,
    cosid_safe_js::CosidSafeJsScheme::SCHEME,
    cosid_safe_js_second::CosidSafeJsSecondScheme::SCHEME,
    cosid_string::CosidStringScheme::SCHEME,
    uid_generator::UidGeneratorScheme::SCHEME,
    yitter_idgenerator::YitterIdgeneratorScheme::SCHEME,
    cockroach_unique_rowid::CockroachUniqueRowidScheme::SCHEME,
    boundary_flake::BoundaryFlakeScheme::SCHEME,
    cockroach_unordered_unique_rowid::CockroachUnorderedUniqueRowidScheme::SCHEME,
    elasticflake::ElasticflakeScheme::SCHEME,
    elasticsearch_id::ElasticsearchIdScheme::SCHEME,
    sid::SidScheme::SCHEME,
    cuid::CuidScheme::SCHEME,
    lexicaluuid::LexicaluuidScheme::SCHEME,
    scru64::Scru64Scheme::SCHEME,
    newsequentialid::NewsequentialidScheme::SCHEME,
    mysql_swapped_v1::MysqlSwappedV1Scheme::SCHEME,
    xid::XidScheme::SCHEME,
    firebase_pushid::FirebasePushidScheme::SCHEME,
    nanoid::NanoidScheme::SCHEME,
    cuid2::Cuid2Scheme::SCHEME,
    scru128::Scru128Scheme::SCHEME,
    typeid::TypeidScheme::SCHEME,
    tid_atproto::TidAtprotoScheme::SCHEME,
    laravel_ordered_uuid::LaravelOrderedUuidScheme::SCHEME,
    comb_unix_ms_first::CombUnixMsFirstScheme::SCHEME,
    comb_unix_ms_last::CombUnixMsLastScheme::SCHEME,
    comb_legacy::CombLegacyScheme::SCHEME,
    spanner_bit_reversed::SpannerBitReversedScheme::SCHEME,
    sequential_uuid_counter::SequentialUuidCounterScheme::SCHEME,
    sequential_uuid_time::SequentialUuidTimeScheme::SCHEME,
    hash_prefixed::HashPrefixedScheme::SCHEME,
];

#[cfg(test)]
mod tests {
    use super::SCHEMES;
    use crate::layout::Role;
    use std::collections::BTreeSet;

    #[test]
    fn names_and_aliases_are_unique() {
        let mut seen = BTreeSet::new();
        for scheme in SCHEMES {
            for name in scheme.aliases.iter().chain([&scheme.name]) {
                assert!(seen.insert(name.to_ascii_lowercase()), "{name} stands twice");
                assert!(
                    name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-'),
                    "{name}"
                );
            }
        }
    }

    #[test]
    fn every_file_is_listed() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/schemes");
        let listed: BTreeSet<String> = SCHEMES.iter().map(|s| s.name.replace('-', "_")).collect();
        let mut files = BTreeSet::new();
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let stem = path.file_stem().unwrap().to_string_lossy().into_owned();
            if stem != "mod" {
                files.insert(stem);
            }
        }
        assert_eq!(files, listed);
    }

    #[test]
    fn published_vectors_parse_read_and_print() {
        for scheme in SCHEMES {
            assert!(!scheme.vectors.is_empty(), "{} has no published id", scheme.name);
            for (text, values) in scheme.vectors {
                let raw = scheme.parse(text).unwrap_or_else(|e| panic!("{text}: {e}"));
                assert_eq!(scheme.print(raw).as_str(), *text);
                let fields = scheme.layout.fields();
                let read: Vec<u128> = (0..fields.len()).map(|i| scheme.value(raw, i)).collect();
                assert_eq!(read, *values, "{text}");
                assert_eq!(scheme.pack(values), Ok(raw), "{text}");
            }
        }
    }

    #[test]
    fn facts_agree_with_the_layout() {
        for scheme in SCHEMES {
            let has_time = scheme.layout.time_base().is_some();
            let has_worker = scheme.layout.fields().iter().any(|f| f.role == Role::Worker);
            if scheme.max_worker().is_some() {
                assert!(has_worker, "{}", scheme.name);
            }
            if scheme.facts.sortable != crate::scheme::Sortable::No {
                assert!(has_time, "{} sorts by a time that it does not have", scheme.name);
            }
            assert!(!scheme.source.is_empty() && !scheme.summary.is_empty());
        }
    }
}
