//! UUIDs of all versions, and GUIDs.

use super::{Case, field, hex, low_bytes, millis, time, unhex};
use crate::seeded::Bytes;
use mintage::rfc9562::{Variant, namespace, parse_any, parse_postgres, version, version_bits};
use mintage::text::{HYPHENATED, UUID_FORMS};
use mintage::{
    ManualClock, RawId, Role, SCHEMES, Scheme, Settings, TimeBase, UnixNanos, UuidV1, UuidV3, UuidV4, UuidV5,
    UuidV6, UuidV7, UuidV8,
};
use serde_json::Value;
use std::sync::Arc;

pub(super) fn run(case: &Case<'_>) {
    match case.kind {
        "decode" => decode(case),
        "variant" | "version" => check(case, any(case.text()), SCHEMES[0]),
        "parse_ok" => parse_ok(case),
        "parse_err" => {
            case.fails("error", parse_any(case.text()));
            assert!(uuids().all(|scheme| scheme.parse(case.text()).is_err()), "{case}");
            assert!(uuids().all(|scheme| scheme.parse_lenient(case.text()).is_err()), "{case}");
        }
        "parse_lenient_postgres" => {
            assert!(parse_any(case.text()).is_err(), "{case}");
            case.same("uuid", print(parse_postgres(case.text()).unwrap()));
        }
        "name_v3" | "name_v5" => name(case),
        "namespace" => {
            for text in [case.text().to_ascii_lowercase(), case.text().to_ascii_uppercase()] {
                check(case, namespace(&text).unwrap(), UuidV1::SCHEME);
            }
        }
        "from_random" => {
            let random = unhex(case.part("random_hex"));
            let settings = Settings { entropy: Some(Arc::new(Bytes(random))), ..Settings::default() };
            let id = UuidV4::SCHEME.generator(&settings).unwrap().next().unwrap();
            check(case, id.low(), UuidV4::SCHEME);
        }
        "v1_to_v6" => case.same("uuid", UuidV6::from(UuidV1::parse(case.text()).unwrap()).to_string()),
        "v6_to_v1" => case.same("uuid", UuidV1::from(UuidV6::parse(case.text()).unwrap()).to_string()),
        "encode_v1" => encode_v1(case),
        "encode_v7_prefix" => {
            let now = UnixNanos::from_millis(i64::try_from(case.number("unix_ms")).unwrap());
            let clock = Some(Arc::new(ManualClock::new(now)) as Arc<dyn mintage::Clock>);
            let generator = UuidV7::SCHEME.generator(&Settings { clock, ..Settings::default() }).unwrap();
            let text = UuidV7::SCHEME.print(generator.next().unwrap());
            assert!(text.starts_with(case.expect["prefix"].as_str().unwrap()), "{case}: {text}");
        }
        "encode_v8" => {
            let data = u128::from_str_radix(case.part("bytes"), 16).unwrap();
            case.same("uuid", UuidV8::from_custom(data).to_string());
        }
        "guid_mixed_endian" => match version(any(case.text())) {
            Some(4) => guid(case, |id: UuidV4| (id.to_bytes(), id.to_guid_bytes()), UuidV4::from_guid_bytes),
            Some(6) => guid(case, |id: UuidV6| (id.to_bytes(), id.to_guid_bytes()), UuidV6::from_guid_bytes),
            other => panic!("{case}: {other:?}"),
        },
        "hard" => hard(case),
        _ => case.unknown(),
    }
}

fn uuids() -> impl Iterator<Item = &'static Scheme> {
    SCHEMES.iter().copied().filter(|scheme| scheme.name.starts_with("uuid-"))
}

fn any(text: &str) -> u128 {
    parse_any(text).unwrap()
}

fn print(uuid: u128) -> String {
    HYPHENATED.print(RawId::new(uuid)).unwrap().to_string()
}

fn decode(case: &Case<'_>) {
    let uuid = any(case.text());
    let readers: Vec<_> = uuids().filter(|scheme| scheme.parse(case.text()).is_ok()).collect();
    let [scheme] = readers[..] else {
        panic!("{case}: read as {readers:?}");
    };
    check(case, uuid, scheme);
}

/// Checks all that is expected of `uuid`, as an id of `scheme` where it is one.
fn check(case: &Case<'_>, uuid: u128, scheme: &'static Scheme) {
    let raw = RawId::new(uuid);
    let ticks = || u64::try_from(scheme.layout.gather(raw, Role::Timestamp(TimeBase::GREGORIAN))).unwrap();
    for key in case.expect.keys() {
        match key.as_str() {
            "canonical" | "uuid" => case.same(key, print(uuid)),
            "integer" => case.same(key, uuid.to_string()),
            "variant" => case.same(key, Variant::of(uuid).name()),
            "version" => case.same(key, version(uuid)),
            "version_nibble" => case.same(key, version_bits(uuid)),
            "status" => {
                let status = case.expect[key].as_str().unwrap();
                let number = status.strip_prefix('v').and_then(|rest| rest.get(..1)?.parse().ok());
                assert_eq!(version(uuid), number, "{case}");
            }
            "special" => {
                let name = format!("uuid-{}", case.expect[key].as_str().unwrap());
                assert!(Scheme::by_name(&name).unwrap().check(raw).is_ok(), "{case}");
            }
            "time" | "time_truncated" => case.same(key, time(scheme, raw)),
            "gregorian_100ns" => case.same(key, ticks()),
            "gregorian_hex" => case.same(key, format!("0x{:X}", ticks())),
            "unix_ns" => case.same(key, i64::try_from(scheme.layout.time(raw).unwrap().0).unwrap()),
            "unix_ms" => case.same(key, millis(scheme, raw)),
            "clock_seq" | "rand_a" => case.same(key, field(scheme, raw, key)),
            "clock_seq_6bit" => case.same(key, field(scheme, raw, "clock_seq")),
            "dce_local_id" => case.same(key, field(scheme, raw, "local_id")),
            "dce_domain" => case.same(key, field(scheme, raw, "local_domain")),
            "node" => case.same_hex(key, &low_bytes(uuid, 48)),
            // The lowest bit of the first of the node's six bytes.
            "node_multicast_bit" => case.same(key, uuid >> 40 & 1 == 1),
            "rand_b" | "custom_a" | "custom_b" | "custom_c" => {
                let found = field(scheme, raw, key).as_u64().unwrap();
                let expected = case.expect[key].as_str().unwrap().trim_start_matches("0x");
                assert_eq!(found, u64::from_str_radix(expected, 16).unwrap(), "{case}: {key}");
            }
            // The lowest bit of the time that version 2 keeps.
            "time_resolution_s" => {
                let parts = scheme.layout.fields().iter();
                let lowest = parts.filter(|f| matches!(f.role, Role::Timestamp(_))).map(|f| f.from_bit).min();
                let ticks = 1_u32.checked_shl(lowest.unwrap()).map_or(4_294_967_296.0, f64::from);
                case.same(key, ticks * 100.0 / 1e9);
            }
            "illustrative_time_10ns" => {
                assert!(scheme.layout.time(raw).is_none(), "{case}");
                case.other(key);
            }
            _ => case.other(key),
        }
    }
}

fn parse_ok(case: &Case<'_>) {
    let uuid = any(case.text());
    for key in case.expect.keys() {
        match key.as_str() {
            "uuid" => case.same(key, print(uuid)),
            "form" if case.expect[key] == "upper" => assert_eq!(print(uuid).to_uppercase(), case.text()),
            "form" => {
                let form = UUID_FORMS.iter().find(|form| case.expect[key] == form.name).unwrap();
                assert_eq!(form.print(RawId::new(uuid)).unwrap().as_str(), case.text());
            }
            _ => case.other(key),
        }
    }
}

fn name(case: &Case<'_>) {
    let (namespace, name) = (namespace(case.part("namespace")).unwrap(), case.part("name").as_bytes());
    let (scheme, id) = if case.kind == "name_v3" {
        (UuidV3::SCHEME, UuidV3::from_name(namespace, name).get())
    } else {
        (UuidV5::SCHEME, UuidV5::from_name(namespace, name).get())
    };
    let settings = Settings { name: Some((namespace, name.to_vec())), ..Settings::default() };
    assert_eq!(scheme.generator(&settings).unwrap().next(), Ok(RawId::new(id)), "{case}");
    for key in case.expect.keys() {
        match key.as_str() {
            "uuid" => case.same(key, print(id)),
            // The id is the hash's first 128 bits but for version and variant.
            "md5" | "sha1" => {
                let hash = u128::from_str_radix(&case.expect[key].as_str().unwrap()[..32], 16).unwrap();
                let fixed = 0xf << 76 | 0b11 << 62;
                assert_eq!(hash & !fixed, id & !fixed, "{case}");
            }
            _ => case.other(key),
        }
    }
}

fn encode_v1(case: &Case<'_>) {
    let nanos = i128::from(case.number("unix_s")) * 1_000_000_000 + i128::from(case.number("nanos"));
    let tick = TimeBase::GREGORIAN.tick_at(UnixNanos(nanos)).unwrap();
    let layout = &UuidV1::SCHEME.layout;
    let node = u128::from_str_radix(case.part("node"), 16).unwrap();
    let raw = layout.scatter(layout.fixed(), Role::Timestamp(TimeBase::GREGORIAN), tick.into());
    let raw = layout.scatter(raw, Role::Counter, case.value("clock_seq"));
    let raw = layout.scatter(raw, Role::Worker, node);
    case.same("uuid", UuidV1::from_raw(raw).unwrap().to_string());
    let offset = TimeBase::GREGORIAN.tick_at(UnixNanos(0)).unwrap();
    case.same("gregorian_minus_offset", tick - offset);
}

type BothOrders = ([u8; 16], [u8; 16]);

fn guid<T: std::str::FromStr<Err = mintage::Error> + PartialEq + std::fmt::Debug + Copy>(
    case: &Case<'_>,
    bytes: impl Fn(T) -> BothOrders,
    read: impl Fn([u8; 16]) -> Result<T, mintage::Error>,
) {
    let id: T = case.text().parse().unwrap();
    let (big_endian, mixed) = bytes(id);
    case.same("bytes_be", hex(&big_endian));
    case.same("bytes_le_windows", hex(&mixed));
    assert_eq!(read(mixed), Ok(id));
}

fn hard(case: &Case<'_>) {
    for key in ["error", "strict_error"].into_iter().filter(|key| case.expect.contains_key(*key)) {
        case.fails(key, parse_any(case.text()));
    }
    if let Some(lenient) = case.expect.get("lenient_uuid") {
        assert_eq!(&Value::from(print(parse_postgres(case.text()).unwrap())), lenient, "{case}");
    }
    let known = ["error", "strict_error", "lenient_uuid"];
    if known.iter().any(|key| case.expect.contains_key(*key)) {
        assert!(case.expect.keys().all(|key| known.contains(&key.as_str())), "{case}: more is expected");
        return;
    }
    let uuid = any(case.text());
    if let Some(unswapped) = case.expect.get("unswapped") {
        // What SQL Server makes: a version 1 whose first three groups stand in the byte order of a GUID.
        let id = UuidV1::from_guid_bytes(uuid.to_be_bytes()).unwrap();
        assert_eq!(&Value::from(id.to_string()), unswapped, "{case}");
        case.same("time", time(UuidV1::SCHEME, id.raw()));
        case.same("version_nibble", version_bits(uuid));
        assert_eq!(case.expect.len(), 3, "{case}: more is expected");
        return;
    }
    let scheme = uuids().find(|scheme| scheme.parse(case.text()).is_ok()).unwrap_or(SCHEMES[0]);
    check(case, uuid, scheme);
}
