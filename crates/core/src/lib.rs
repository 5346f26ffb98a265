//! Every identifier scheme in use as one kind of data: mint ids, parse them, print them, read what they tell.
//!
//! * A **scheme** ([`Scheme`]) is a value: layout, text forms, facts, generator. [`SCHEMES`] lists them all.
//! * A typed **id** ([`Id`]) is 8 to 20 bytes and knows its scheme when compiling: [`UuidV7`], [`Ulid`], [`SnowflakeTwitter`].
//! * A **generator** ([`Generator`]) mints; [`Clock`] and [`Entropy`] are all it takes from outside.
//! * [`inspect`] says what an unknown id may be.
//!
//! ```
//! use mintage::{Scheme, Settings, UuidV7};
//!
//! let id = UuidV7::new();                                 // from the generator that the process shares
//! assert_eq!(id.to_string().parse(), Ok(id));
//!
//! let scheme = Scheme::by_name("snowflake-twitter").unwrap();
//! let settings = Settings { worker: Some(7), ..Settings::default() };
//! let generator = scheme.generator(&settings)?;           // from a generator of one's own
//! println!("{}", scheme.print(generator.next()?));
//! # Ok::<(), mintage::Error>(())
//! ```
//!
//! Without the feature `std` there are no clocks, no system entropy and no shared generators: types, text, layouts and
//! [`generators::rule::Rule`]s remain, on `alloc`.

#![cfg_attr(not(any(feature = "std", test)), no_std)]

extern crate alloc;

#[cfg(feature = "std")]
pub mod capacity;
pub mod choose;
pub mod entropy;
pub mod error;
#[cfg(feature = "facade")]
pub mod facade;
pub mod generators;
pub mod id;
#[cfg(feature = "std")]
pub mod inspect;
pub mod layout;
pub mod mapping;
#[cfg(feature = "std")]
pub mod odds;
pub mod orders;
pub mod raw;
pub mod rfc9562;
pub mod scheme;
pub mod schemes;
#[cfg(feature = "serde")]
mod serde;
pub mod size;
#[cfg(feature = "sqlx")]
mod sqlx;
mod sync;
pub mod text;
pub mod time;
#[cfg(feature = "std")]
pub mod token;
#[cfg(feature = "uuid")]
mod uuid;

pub use entropy::{Draw, Entropy};
#[cfg(feature = "std")]
pub use entropy::{PoolEntropy, SystemEntropy};
pub use error::Error;
pub use generators::{ClockBack, Generator, IdSource, Method, Settings, Spent, Start};
pub use id::Id;
pub use layout::{Field, Layout, Role, TimeBase};
pub use mapping::Mapping;
pub use orders::Order;
pub use raw::RawId;
#[cfg(feature = "std")]
pub use scheme::Mint;
pub use scheme::{Scheme, Setting, StaticScheme};
pub use schemes::SCHEMES;
pub use schemes::boundary_flake::BoundaryFlake;
pub use schemes::cockroach_unique_rowid::CockroachUniqueRowid;
pub use schemes::cockroach_unordered_unique_rowid::CockroachUnorderedUniqueRowid;
pub use schemes::comb_legacy::CombLegacy;
pub use schemes::comb_unix_ms_first::CombUnixMsFirst;
pub use schemes::comb_unix_ms_last::CombUnixMsLast;
pub use schemes::cosid::Cosid;
pub use schemes::cosid_safe_js::CosidSafeJs;
pub use schemes::cosid_safe_js_second::CosidSafeJsSecond;
pub use schemes::cosid_second::CosidSecond;
pub use schemes::cosid_string::CosidString;
pub use schemes::cuid::Cuid;
pub use schemes::cuid2::Cuid2;
pub use schemes::elasticflake::Elasticflake;
pub use schemes::elasticsearch_id::ElasticsearchId;
pub use schemes::firebase_pushid::FirebasePushid;
pub use schemes::flake_idgen::FlakeIdgen;
pub use schemes::hash_prefixed::HashPrefixed;
pub use schemes::ksuid::Ksuid;
pub use schemes::laravel_ordered_uuid::LaravelOrderedUuid;
pub use schemes::leaf::Leaf;
pub use schemes::lexicaluuid::Lexicaluuid;
pub use schemes::mysql_swapped_v1::MysqlSwappedV1;
pub use schemes::nanoid::Nanoid;
pub use schemes::newsequentialid::Newsequentialid;
pub use schemes::objectid::ObjectId;
pub use schemes::scru64::Scru64;
pub use schemes::scru128::Scru128;
pub use schemes::sequential_uuid_counter::SequentialUuidCounter;
pub use schemes::sequential_uuid_time::SequentialUuidTime;
pub use schemes::sid::Sid;
pub use schemes::snowflake::Snowflake;
pub use schemes::snowflake_bwmarrin::SnowflakeBwmarrin;
pub use schemes::snowflake_discord::SnowflakeDiscord;
pub use schemes::snowflake_instagram::SnowflakeInstagram;
pub use schemes::snowflake_mastodon::SnowflakeMastodon;
pub use schemes::snowflake_twitter::SnowflakeTwitter;
pub use schemes::sonyflake_v1::SonyflakeV1;
pub use schemes::sonyflake_v2::SonyflakeV2;
pub use schemes::spanner_bit_reversed::SpannerBitReversed;
pub use schemes::tid_atproto::TidAtproto;
pub use schemes::tsid::Tsid;
pub use schemes::typeid::Typeid;
pub use schemes::uid_generator::UidGenerator;
pub use schemes::ulid::Ulid;
pub use schemes::uuid_max::UuidMax;
pub use schemes::uuid_nil::UuidNil;
pub use schemes::uuid_v1::UuidV1;
pub use schemes::uuid_v2::UuidV2;
pub use schemes::uuid_v3::UuidV3;
pub use schemes::uuid_v4::UuidV4;
pub use schemes::uuid_v5::UuidV5;
pub use schemes::uuid_v6::UuidV6;
pub use schemes::uuid_v7::UuidV7;
pub use schemes::uuid_v8::UuidV8;
pub use schemes::xid::Xid;
pub use schemes::yitter_idgenerator::YitterIdgenerator;
pub use text::TextForm;
#[cfg(feature = "std")]
pub use time::SystemClock;
pub use time::{Clock, ManualClock, UnixNanos};
