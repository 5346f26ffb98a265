//! UUIDs with a time in place of random bits: COMBs of both ends, and Laravel's.

use super::{Case, at, ranking, value};
use crate::seeded::Bytes;
use mintage::rfc9562::{parse_any, version, version_bits};
use mintage::schemes::comb_unix_ms_first::ends_exchanged;
use mintage::text::HYPHENATED;
use mintage::{
    CombLegacy, CombUnixMsFirst, CombUnixMsLast, LaravelOrderedUuid, RawId, Scheme, Settings, UnixNanos,
};
use std::sync::Arc;

pub(super) fn comb(case: &Case<'_>) {
    let legacy = CombLegacy::SCHEME;
    match case.kind {
        "legacy_encode" => {
            let raw = legacy_at(&format!("{}Z", case.text()));
            check_legacy(case, raw);
        }
        "legacy_sqlserver" => check_legacy(case, legacy_at(case.part("time"))),
        "legacy_decode" => check_legacy(case, case.read(legacy)),
        "legacy_range" => {
            let last = legacy.pack(&[0, 4, 0, 0b10, 0, 0xffff, 0]).unwrap();
            case.same("max_date", &legacy.time(last).unwrap().to_string()[..10]);
            case.other("documented");
        }
        "unix_sqlserver" => unix(case, CombUnixMsLast::SCHEME),
        "unix_postgres" => unix(case, CombUnixMsFirst::SCHEME),
        "timestamp_first_codec" => {
            let uuid = ends_exchanged(parse_any(case.part("fields_hex")).unwrap());
            case.same("encoded", HYPHENATED.print(RawId::new(uuid)).unwrap().as_str());
        }
        "hard" => {
            for key in case.expect.keys() {
                match key.as_str() {
                    "hidden" => drop(ranking::hidden(case)),
                    "time" => {
                        let scheme = ranking::hidden(case);
                        case.same_time(key, scheme.time(case.read(scheme)));
                    }
                    "false_positive" => case.same(key, ranking::is_false_positive(case)),
                    _ => case.other(key),
                }
            }
        }
        _ => case.unknown(),
    }
}

/// The legacy COMB of a time, its random bits zero.
fn legacy_at(time: &str) -> RawId {
    const DAY: i128 = 86_400_000_000_000;
    let scheme = CombLegacy::SCHEME;
    let now = UnixNanos::parse(time).unwrap();
    let base = scheme.layout.time_base().unwrap();
    let in_day = (now.0 - base.epoch.0) % DAY;
    let ticks = u128::try_from(in_day * 300 / 1_000_000_000).unwrap();
    let raw = scheme.pack(&[0, 4, 0, 0b10, 0, base.tick_at(now).unwrap().into(), ticks]).unwrap();
    assert_eq!(scheme.time(raw), Some(now));
    raw
}

fn check_legacy(case: &Case<'_>, raw: RawId) {
    let scheme = CombLegacy::SCHEME;
    for key in case.expect.keys() {
        match key.as_str() {
            "last6" => case.same(key, format!("{:012x}", raw.bits(0, 48))),
            "resolution_s" => {
                let nanos = scheme.mapping.nanos_in_tick(RawId::new(1)).unwrap();
                case.same(key, format!("1/{}", 1_000_000_000 / nanos));
            }
            "version_nibble" => case.same(key, version_bits(raw.low())),
            _ => case.usual(key, scheme, raw, &[]),
        }
    }
}

/// Minted from random bits that are all zero.
fn unix(case: &Case<'_>, scheme: &'static Scheme) {
    let raw = mint(scheme, case.part("time"));
    let fields = scheme.layout.fields().iter().enumerate();
    let values = fields.map(|(at, field)| if field.name == "timestamp" { 0 } else { scheme.value(raw, at) });
    let base = scheme.pack(&values.collect::<Vec<_>>()).unwrap();
    assert_eq!(scheme.print(base).as_str(), case.part("base"), "{case}");
    case.same("guid", scheme.print(raw).as_str());
}

fn mint(scheme: &Scheme, time: &str) -> RawId {
    let clock = at(UnixNanos::parse(time).unwrap());
    let settings = Settings { clock, entropy: Some(Arc::new(Bytes(vec![0]))), ..Settings::default() };
    scheme.generator(&settings).unwrap().next().unwrap()
}

pub(super) fn laravel(case: &Case<'_>) {
    let scheme = LaravelOrderedUuid::SCHEME;
    match case.kind {
        "decode" | "hard" => {
            let raw = case.read(scheme);
            for key in case.expect.keys() {
                match key.as_str() {
                    "version" => case.same(key, version(raw.low())),
                    _ => case.usual(key, scheme, raw, &[("units_10us", "timestamp")]),
                }
            }
        }
        "encode_time" => {
            let raw = mint(scheme, case.text());
            case.same("first48", format!("{:012x}", value(scheme, raw, "timestamp")));
        }
        "range" => case.same_time("last", scheme.layout.ends_at().map(|ended| ended.plus(-10_000))),
        _ => case.unknown(),
    }
}
