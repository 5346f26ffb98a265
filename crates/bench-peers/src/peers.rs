//! The other crates: their names and versions, and the calls that their documentation shows for each piece of work.

use crate::engines::{AtThePace, Filling, Own, Printing};
use crate::given_clock::GivenClock;
use crate::inputs;
use ferroid::base32::Base32UlidExt;
use ferroid::generator::{AtomicSnowflakeGenerator, BasicMonoUlidGenerator, thread_local};
use ferroid::id::SnowflakeTwitterId;
use ferroid::rand::ThreadRandom;
use ferroid::time::{MonotonicClock, TWITTER_EPOCH};
use mintage_bench::{Each, Engine, Over};
use std::hint::{black_box, spin_loop};
use std::sync::Arc;
use svix_ksuid::KsuidLike;
use uuid_simd::{AsOut, AsciiCase, UuidExt};

/// Another crate, used in one way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peer {
    /// What the table calls it: the crate, and the way where there are several.
    pub name: &'static str,
    /// The crate's name in the registry.
    pub package: &'static str,
}

impl Peer {
    const fn of(package: &'static str) -> Self {
        Self { name: package, package }
    }
    const fn used(package: &'static str, name: &'static str) -> Self {
        Self { name, package }
    }

    /// The version that was built in, from `Cargo.lock`.
    #[must_use]
    pub fn version(self) -> &'static str {
        version_in(include_str!("../../../Cargo.lock"), self.package).unwrap_or("unknown")
    }
}

/// The version on the line after the name.
fn version_in<'a>(lock: &'a str, package: &str) -> Option<&'a str> {
    let mut lines = lock.lines();
    lines.find(|line| {
        line.strip_prefix("name = \"").and_then(|rest| rest.strip_suffix('"')) == Some(package)
    })?;
    lines.next()?.strip_prefix("version = \"")?.strip_suffix('"')
}

/// With its feature `fast-rng`.
pub(crate) const UUID: Peer = Peer::of("uuid");
/// What `new_v4` does without `fast-rng`, by uuid's own builder: the features of one version unify in a build.
pub(crate) const UUID_DEFAULT: Peer = Peer::used("uuid", "uuid without fast-rng");
/// The generator that the process shares.
pub(crate) const UUID7: Peer = Peer::of("uuid7");
/// A generator of one's own.
pub(crate) const UUID7_OWN: Peer = Peer::used("uuid7", "uuid7 V7Generator");
pub(crate) const UUID_SIMD: Peer = Peer::of("uuid-simd");
pub(crate) const ULID: Peer = Peer::of("ulid");
pub(crate) const FERROID: Peer = Peer::of("ferroid");
pub(crate) const KSUID: Peer = Peer::of("svix-ksuid");
pub(crate) const BSON: Peer = Peer::of("bson");
pub(crate) const XID: Peer = Peer::of("xid");
pub(crate) const NANOID: Peer = Peer::of("nanoid");
pub(crate) const BASE62: Peer = Peer::of("base62");
/// Its generator, with the digits of `base62`.
pub(crate) const FERROID_BASE62: Peer = Peer::used("ferroid", "ferroid with base62");
pub(crate) const SNOWFLAKED: Peer = Peer::of("snowflaked");

pub(crate) fn uuid_v4() -> Box<dyn Engine> {
    Each::boxed("one by one", "none", uuid::Uuid::new_v4)
}

pub(crate) fn uuid_v4_default() -> Box<dyn Engine> {
    Each::boxed("one by one", "none", new_v4_default)
}

fn new_v4_default() -> uuid::Uuid {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).expect("the system has entropy");
    uuid::Builder::from_random_bytes(bytes).into_uuid()
}

pub(crate) fn uuid_v4_batch() -> Box<dyn Engine> {
    Filling::boxed("none", uuid::Uuid::nil(), || |ids: &mut [_]| ids.fill_with(uuid::Uuid::new_v4))
}

pub(crate) fn uuid_v4_default_batch() -> Box<dyn Engine> {
    Filling::boxed("none", uuid::Uuid::nil(), || |ids: &mut [_]| ids.fill_with(new_v4_default))
}

pub(crate) fn uuid_v7() -> Box<dyn Engine> {
    Each::boxed("one by one", "system", uuid::Uuid::now_v7)
}

pub(crate) fn uuid_v7_batch() -> Box<dyn Engine> {
    Filling::boxed("system", uuid::Uuid::nil(), || |ids: &mut [_]| ids.fill_with(uuid::Uuid::now_v7))
}

pub(crate) fn uuid7() -> Box<dyn Engine> {
    Each::boxed("one by one", "system", uuid7::uuid7)
}

pub(crate) fn uuid7_batch() -> Box<dyn Engine> {
    Filling::boxed("system", uuid7::Uuid::NIL, || |ids: &mut [_]| ids.fill_with(uuid7::uuid7))
}

pub(crate) fn uuid7_own() -> Box<dyn Engine> {
    Own::boxed("system", || {
        let mut generator = uuid7::V7Generator::with_rand010(rand::rng());
        move || generator.generate()
    })
}

pub(crate) fn uuid7_own_batch() -> Box<dyn Engine> {
    Filling::boxed("system", uuid7::Uuid::NIL, || {
        let mut generator = uuid7::V7Generator::with_rand010(rand::rng());
        move |ids: &mut [_]| ids.fill_with(|| generator.generate())
    })
}

pub(crate) fn ulid() -> Box<dyn Engine> {
    Own::boxed("system", || {
        let mut generator = ulid::Generator::new();
        move || generator.generate().expect(ROOM)
    })
}

pub(crate) fn ulid_batch() -> Box<dyn Engine> {
    Filling::boxed("system", ulid::Ulid::nil(), || {
        let mut generator = ulid::Generator::new();
        move |ids: &mut [_]| ids.fill_with(|| generator.generate().expect(ROOM))
    })
}

/// ferroid's clock is a number that a thread of its own sets each millisecond.
const CACHED: &str = "cached";

pub(crate) fn ferroid_ulid() -> Box<dyn Engine> {
    Each::boxed("one by one", CACHED, || thread_local::Ulid::new_ulid_mono(|_| spin_loop()))
}

pub(crate) fn ferroid_ulid_batch() -> Box<dyn Engine> {
    Filling::boxed(CACHED, ferroid::id::ULID::from_raw(0), || {
        let generator = BasicMonoUlidGenerator::new(MonotonicClock::default(), ThreadRandom);
        move |ids: &mut [_]| ids.fill_with(|| generator.next_id(|_| spin_loop()))
    })
}

type Snowflakes<T> = AtomicSnowflakeGenerator<SnowflakeTwitterId, T>;

/// A generator that threads share.
pub(crate) fn ferroid_snowflake_given() -> Box<dyn Engine> {
    let clock = GivenClock::new();
    let generator = Snowflakes::new(1, clock.clone());
    Each::shared("one by one", "given", move || generator.next_id(|yield_for| clock.pass_millis(yield_for)))
}

pub(crate) fn ferroid_snowflake_real<const WORKERS: u64>() -> Box<dyn Engine> {
    let clock = MonotonicClock::<1>::with_epoch(TWITTER_EPOCH);
    let generator = |worker| Snowflakes::new(worker, clock.clone());
    AtThePace::boxed((0..WORKERS).map(generator).collect(), |generator: &Snowflakes<_>, ids| {
        ids.fill_with(|| generator.next_id(|_| spin_loop()).to_raw());
    })
}

pub(crate) fn snowflaked_real<const WORKERS: u16>() -> Box<dyn Engine> {
    let workers = (0..WORKERS).map(snowflaked::sync::Generator::new).collect();
    AtThePace::boxed(workers, |generator: &snowflaked::sync::Generator, ids| {
        ids.fill_with(|| generator.generate());
    })
}

pub(crate) fn objectid() -> Box<dyn Engine> {
    Each::boxed("one by one", "system", bson::oid::ObjectId::new)
}

pub(crate) fn nanoid() -> Box<dyn Engine> {
    Each::boxed("one by one", "none", || nanoid::nanoid!())
}

pub(crate) fn ksuid() -> Box<dyn Engine> {
    Each::boxed("one by one", "system", || svix_ksuid::Ksuid::now(None))
}

pub(crate) fn xid() -> Box<dyn Engine> {
    Each::boxed("one by one", "system", xid::new)
}

fn uuids() -> Vec<uuid::Uuid> {
    inputs::uuids().into_iter().map(uuid::Uuid::from_u128).collect()
}

fn uuid_texts() -> Vec<String> {
    uuids().iter().map(ToString::to_string).collect()
}

pub(crate) fn print_uuid() -> Box<dyn Engine> {
    Printing::boxed(uuids(), |id, buffer| {
        id.hyphenated().encode_lower(buffer);
    })
}

pub(crate) fn print_uuid_simd() -> Box<dyn Engine> {
    Printing::boxed(uuids(), |id, buffer| {
        let text: &mut [u8; 36] = buffer.first_chunk_mut().expect(ROOM);
        let _ = uuid_simd::format_hyphenated(id.as_bytes(), text.as_out(), AsciiCase::Lower);
    })
}

pub(crate) fn parse_uuid() -> Box<dyn Engine> {
    Over::boxed("parse", uuid_texts(), |text: &String| uuid::Uuid::parse_str(text))
}

/// Any of a UUID's forms, as ours.
pub(crate) fn parse_uuid_simd() -> Box<dyn Engine> {
    Over::boxed("parse", uuid_texts(), |text: &String| <uuid::Uuid as UuidExt>::parse(text))
}

pub(crate) fn print_ulid() -> Box<dyn Engine> {
    Printing::boxed(inputs::wide().into_iter().map(ulid::Ulid).collect(), |id: &ulid::Ulid, buffer| {
        id.array_to_str(buffer.first_chunk_mut().expect(ROOM));
    })
}

fn ulid_texts() -> Vec<String> {
    inputs::wide().into_iter().map(|number| ulid::Ulid(number).to_string()).collect()
}

pub(crate) fn parse_ulid() -> Box<dyn Engine> {
    Over::boxed("parse", ulid_texts(), |text: &String| ulid::Ulid::from_string(text))
}

pub(crate) fn print_ulid_ferroid() -> Box<dyn Engine> {
    let ids = inputs::wide().into_iter().map(ferroid::id::ULID::from_raw).collect();
    Printing::boxed(ids, |id: &ferroid::id::ULID, buffer| {
        black_box(id.encode_to_buf(buffer.first_chunk_mut().expect(ROOM)));
    })
}

pub(crate) fn parse_ulid_ferroid() -> Box<dyn Engine> {
    // With the number: whether there is one is told without computing it.
    Over::boxed("parse", ulid_texts(), |text: &String| ferroid::id::ULID::decode(text).ok())
}

fn ksuids() -> Vec<svix_ksuid::Ksuid> {
    inputs::ksuids().into_iter().map(svix_ksuid::Ksuid::from_bytes).collect()
}

pub(crate) fn print_ksuid() -> Box<dyn Engine> {
    Printing::boxed(ksuids(), |id, _| {
        black_box(id.to_base62());
    })
}

pub(crate) fn parse_ksuid() -> Box<dyn Engine> {
    let texts = ksuids().iter().map(KsuidLike::to_base62).collect();
    Over::boxed("parse", texts, |text: &String| svix_ksuid::Ksuid::from_base62(text))
}

pub(crate) fn print_base62() -> Box<dyn Engine> {
    Printing::boxed(inputs::numbers().collect(), |number: &u64, buffer| {
        black_box(base62::encode_bytes(*number, buffer).expect(ROOM));
    })
}

pub(crate) fn parse_base62() -> Box<dyn Engine> {
    let texts = inputs::numbers().map(base62::encode).collect();
    Over::boxed("parse", texts, |text: &String| base62::decode(text))
}

/// No batches and no text of a batch: an id after the other, each written where it belongs.
pub(crate) fn mint_texts_uuid_v7() -> Box<dyn Engine> {
    Filling::boxed("system", [0; 36], || {
        |texts: &mut [[u8; 36]]| {
            for text in texts {
                uuid::Uuid::now_v7().hyphenated().encode_lower(text);
            }
        }
    })
}

pub(crate) fn mint_texts_ulid() -> Box<dyn Engine> {
    Filling::boxed(CACHED, [0; 26], || {
        let generator = BasicMonoUlidGenerator::new(MonotonicClock::default(), ThreadRandom);
        move |texts: &mut [[u8; 26]]| {
            for text in texts {
                let id: ferroid::id::ULID = generator.next_id(|_| spin_loop());
                id.encode_to_buf(text);
            }
        }
    })
}

pub(crate) fn mint_texts_ksuid() -> Box<dyn Engine> {
    Filling::boxed("system", [0; 27], || {
        |texts: &mut [[u8; 27]]| {
            for text in texts {
                text.copy_from_slice(svix_ksuid::Ksuid::now(None).to_base62().as_bytes());
            }
        }
    })
}

/// ferroid's generator by a given clock, and base62's digits.
pub(crate) fn mint_base62_snowflakes() -> Box<dyn Engine> {
    let clock = GivenClock::new();
    let shared = Arc::new((Snowflakes::new(1, clock.clone()), clock));
    Filling::boxed("given", [0; 11], move || {
        let shared = shared.clone();
        move |texts: &mut [[u8; 11]]| {
            let (generator, clock) = &*shared;
            for text in texts {
                let id = generator.next_id(|yield_for| clock.pass_millis(yield_for));
                black_box(base62::encode_bytes(id.to_raw(), text).expect(ROOM));
            }
        }
    })
}

/// Why a peer can't run out of room.
const ROOM: &str = "there is room for it";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ours;

    #[test]
    fn both_sides_print_and_parse_the_same_texts() {
        fn texts<T: ToString>(ids: &[T]) -> Vec<String> {
            ids.iter().map(ToString::to_string).collect()
        }
        assert_eq!(uuid_texts(), texts(&ours::uuids()));
        assert_eq!(ulid_texts(), texts(&ours::ulids()));
        let ksuids: Vec<_> = ksuids().iter().map(KsuidLike::to_base62).collect();
        assert_eq!(ksuids, texts(&ours::ksuids()));
        for number in inputs::numbers() {
            // Ours has eleven digits always.
            assert_eq!(format!("{:0>11}", base62::encode(number)), ours::base62(number, &mut [0; _]));
        }
    }

    #[test]
    fn versions_are_read_from_the_lock_file() {
        let lock = "[[package]]\nname = \"a-b\"\nversion = \"1.0.0\"\n\n[[package]]\nname = \"a\"\nversion = \"2.1.0\"\n";
        assert_eq!(version_in(lock, "a"), Some("2.1.0"));
        assert_eq!(version_in(lock, "b"), None);
    }
}
