//! ULIDs.

use super::{Case, low_bytes, millis, time, unhex};
use crate::seeded::Bytes;
use mintage::generators::rule::Rule;
use mintage::schemes::ulid::UlidRule;
use mintage::text::{CROCKFORD32, HYPHENATED, TextForm};
use mintage::{Draw, Error, Method, Ulid, UnixNanos};

pub(super) fn run(case: &Case<'_>) {
    match case.kind {
        "decode" | "boundary_ok" | "base32" | "to_uuid" => decode(case),
        "boundary_err" | "parse_err" | "parse_err_strict" => case.fails("error", Ulid::parse(case.text())),
        "case_insensitive" => {
            case.same("canonical", Ulid::parse(case.text()).unwrap().to_string());
        }
        "lenient_fix" => {
            assert!(Ulid::parse(case.text()).is_err(), "{case}");
            case.same("fixed", Ulid::parse_lenient(case.text()).unwrap().to_string());
        }
        "max_time" => {
            let id = Ulid::parse(&format!("{}{}", case.part("string"), "0".repeat(16))).unwrap();
            case.same("ms", millis(Ulid::SCHEME, id.raw()));
            assert!(id.time().unwrap().rfc3339(3).is_none(), "RFC 3339 has no such year");
            case.other("time_note");
        }
        "encode_time" => {
            let raw = Ulid::SCHEME.layout.pack(&[case.input.as_u64().unwrap().into(), 0]).unwrap();
            case.same("string", &Ulid::SCHEME.print(raw).as_str()[..10]);
        }
        "encode_parts" => {
            let random = number(case.part("random_hex"));
            let raw = Ulid::SCHEME.layout.pack(&[case.value("ms"), random]).unwrap();
            case.same_hex("bytes_hex", &low_bytes(raw.low(), 128));
            case.same("string", Ulid::SCHEME.print(raw).as_str());
        }
        "monotonic_next" => {
            let last = Ulid::parse(case.text()).unwrap();
            for method in [Method::Monotonic, Method::Strict] {
                let next = after(method, last, last.time().unwrap()).unwrap();
                case.same("next_same_ms", next.to_string());
            }
        }
        "monotonic_overflow" => overflow(case),
        "monotonic_clock_back" => {
            let last = Ulid::parse(case.part("prev")).unwrap();
            let now = UnixNanos::from_millis(i64::try_from(case.number("now_ms")).unwrap());
            case.same("next", after(Method::Monotonic, last, now).unwrap().to_string());
        }
        "base32_increment" => {
            let digits = TextForm::fixed("crockford32", &CROCKFORD32, case.text().len());
            let raw = digits.parse(case.text(), 128, "ulid").unwrap();
            case.same("next", digits.print(raw.wrapping_next(128)).unwrap().as_str());
        }
        "hard" => hard(case),
        _ => case.unknown(),
    }
}

fn number(hex: &str) -> u128 {
    u128::from_str_radix(hex, 16).unwrap()
}

/// The ULID after `last` when the clock says `now`, with random bits that are all ones.
fn after(method: Method, last: Ulid, now: UnixNanos) -> Result<Ulid, Error> {
    UlidRule::after(method, last).next_id(now, &mut Draw::new(&Bytes(vec![0xff])))
}

fn decode(case: &Case<'_>) {
    let id = Ulid::parse(case.text()).unwrap();
    assert_eq!(id.to_string(), case.text());
    for key in case.expect.keys() {
        match key.as_str() {
            "ms" => case.same(key, millis(Ulid::SCHEME, id.raw())),
            "time" => case.same(key, time(Ulid::SCHEME, id.raw())),
            "random_hex" => case.same_hex(key, &low_bytes(id.field("randomness").unwrap(), 80)),
            "bytes_hex" => {
                case.same_hex(key, &id.to_bytes());
                assert_eq!(Ulid::from_bytes(&unhex(case.expect[key].as_str().unwrap())), Ok(id));
            }
            "uuid" => case.same(key, HYPHENATED.print(id.raw()).unwrap().as_str()),
            _ => case.other(key),
        }
    }
}

fn overflow(case: &Case<'_>) {
    let last = Ulid::parse(case.text()).unwrap();
    let now = last.time().unwrap();
    for key in case.expect.keys() {
        match key.as_str() {
            "error" => case.fails(key, after(Method::Strict, last, now)),
            // Others go on at the first id of the next millisecond; here its random part is drawn anew, so that it stays hard
            // to guess.
            "ulid_rs_saturated_next" => {
                let theirs = Ulid::parse(case.expect[key].as_str().unwrap()).unwrap();
                let ours = after(Method::Monotonic, last, now).unwrap();
                assert_eq!(ours.time(), theirs.time(), "{case}");
                assert!(ours >= theirs, "{case}");
            }
            _ => case.other(key),
        }
    }
}

fn hard(case: &Case<'_>) {
    for key in case.expect.keys() {
        match key.as_str() {
            "ms" => case.same(key, millis(Ulid::SCHEME, case.read(Ulid::SCHEME))),
            "error" => case.fails(key, Ulid::parse(case.text())),
            "special" => case.special(case.read(Ulid::SCHEME), 128),
            _ => case.other(key),
        }
    }
}
