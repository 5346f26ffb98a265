//! Ids whose texts sort by time: push ids, SCRU128, SID, TID, XID.

use super::{Case, unhex, value};
use crate::seeded::Bytes;
use mintage::generators::monotonic::MonotonicRule;
use mintage::generators::rule::Rule;
use mintage::schemes::firebase_pushid::FirebasePushidScheme;
use mintage::text::{BASE64_PUSH, HYPHENATED};
use mintage::{
    Draw, Error, FirebasePushid, Method, ObjectId, RawId, Scheme, Scru128, Sid, TextForm, TidAtproto, Xid,
};

pub(super) fn pushid(case: &Case<'_>) {
    let scheme = FirebasePushid::SCHEME;
    match case.kind {
        "decode" => {
            let raw = case.read(scheme);
            for key in case.expect.keys() {
                match key.as_str() {
                    "random72" => {
                        let digits = (0..12).rev().map(|digit| format!("{:02}", raw.bits(6 * digit, 6)));
                        case.same(key, digits.collect::<Vec<_>>().join(" "));
                    }
                    _ => case.usual(key, scheme, raw, &[]),
                }
            }
        }
        "encode_time" => {
            let raw = scheme.pack(&[case.input.as_u64().unwrap().into(), 0]).unwrap();
            case.same("prefix", &scheme.print(raw).as_str()[..8]);
        }
        "alphabet" => {
            case.same("alphabet", std::str::from_utf8(BASE64_PUSH.digits()).unwrap());
            case.same("ascii_sorted", BASE64_PUSH.digits().is_sorted());
        }
        "same_ms_increment" => {
            let last = FirebasePushid::parse(case.text()).unwrap();
            for method in [Method::Monotonic, Method::Strict] {
                let mut rule = MonotonicRule::<FirebasePushidScheme>::after(method, last);
                let next = rule.next_id(last.time().unwrap(), &mut Draw::new(&Bytes(vec![0xff])));
                case.same("next", next.unwrap().to_string());
            }
        }
        "parse_err" => case.fails("error", FirebasePushid::parse(case.text())),
        "hard" => {
            let raw = case.read(scheme);
            case.expect.keys().for_each(|key| case.usual(key, scheme, raw, &[("push_ms", "timestamp")]));
        }
        _ => case.unknown(),
    }
}

pub(super) fn scru128(case: &Case<'_>) {
    let scheme = Scru128::SCHEME;
    match case.kind {
        "decode" | "integer" | "hard" => {
            let raw = case.read(scheme);
            if case.kind == "decode" {
                assert_eq!(scheme.print(raw).as_str(), case.text());
            }
            for key in case.expect.keys() {
                match key.as_str() {
                    "bytes_hex" => {
                        case.same(key, format!("{:032x}", raw.low()));
                        let bytes = unhex(case.expect[key].as_str().unwrap());
                        assert_eq!(scheme.parse_bytes(&bytes), Ok(raw), "{case}");
                    }
                    "integer" => case.same(key, raw.low().to_string()),
                    "uuid" => case.same(key, HYPHENATED.print(raw).unwrap().as_str()),
                    _ => case.usual(key, scheme, raw, &[("timestamp_ms", "timestamp")]),
                }
            }
        }
        "case_insensitive" => case.same("canonical", scheme.print(case.read(scheme)).as_str()),
        "parse_err" => case.fails("error", Scru128::parse(case.text())),
        _ => case.unknown(),
    }
}

pub(super) fn sid(case: &Case<'_>) {
    let scheme = Sid::SCHEME;
    // The form that the file calls so.
    let form = |name: &str| -> TextForm {
        let name = match name {
            "base32" => "base32hex",
            "base64" => "base64-sid",
            other => other,
        };
        **scheme.text.iter().find(|form| form.name == name).unwrap()
    };
    match case.kind {
        "decode_decimal" | "decode_hex" | "decode_base32" | "decode_base64" => {
            let raw = case.read(scheme);
            let form = form(case.kind.trim_start_matches("decode_"));
            assert_eq!(form.print(raw).unwrap().as_str(), case.text());
            for key in case.expect.keys() {
                match key.as_str() {
                    "random63" => case.same(key, value(scheme, raw, "random").to_string()),
                    _ => case.usual(key, scheme, raw, &[("unix_ns", "timestamp")]),
                }
            }
        }
        "length" => {
            let text = form(case.text()).print(RawId::ZERO).unwrap().to_string();
            case.same("length", text.len());
            case.same("dash_index", text.find('-').unwrap());
        }
        "encode" => {
            let raw = scheme.pack(&[case.text().parse().unwrap(), 0]).unwrap();
            for key in case.expect.keys() {
                let text = form(key).print(raw).unwrap().to_string();
                case.same(key, text.split_once('-').unwrap().0);
            }
        }
        "hard" => case.expect.keys().for_each(|key| case.other(key)),
        _ => case.unknown(),
    }
}

pub(super) fn tid(case: &Case<'_>) {
    let scheme = TidAtproto::SCHEME;
    match case.kind {
        "valid" => {
            let raw = case.read(scheme);
            assert_eq!(scheme.print(raw).as_str(), case.text());
            for key in case.expect.keys() {
                match key.as_str() {
                    "u64" => case.same(key, raw.low().to_string()),
                    _ => {
                        case.usual(key, scheme, raw, &[("micros", "timestamp"), ("top_bit", "unused")]);
                    }
                }
            }
        }
        "invalid" => case.fails("error", TidAtproto::parse(case.text())),
        _ => case.unknown(),
    }
}

pub(super) fn xid(case: &Case<'_>) {
    let scheme = Xid::SCHEME;
    match case.kind {
        "decode" => {
            let raw = case.read(scheme);
            assert_eq!(scheme.print(raw).as_str(), case.text());
            for key in case.expect.keys() {
                match key.as_str() {
                    "bytes_hex" => {
                        case.same(key, format!("{:024x}", raw.low()));
                        let bytes = unhex(case.expect[key].as_str().unwrap());
                        assert_eq!(scheme.parse_bytes(&bytes), Ok(raw), "{case}");
                    }
                    "machine" => case.same(key, format!("{:06x}", value(scheme, raw, key))),
                    _ => case.usual(key, scheme, raw, &[("unix_s", "timestamp")]),
                }
            }
        }
        "parse_err" => case.fails_for(
            "error",
            Xid::parse(case.text()),
            &[
                ("length", |error| matches!(error, Error::Length { .. })),
                ("upper case rejected", |error| matches!(error, Error::Character { found: 'M', at: 2, .. })),
            ],
        ),
        "from_bytes_len" => {
            let bytes = vec![0; usize::try_from(case.input.as_u64().unwrap()).unwrap()];
            case.same("error", Xid::from_bytes(&bytes).is_err());
        }
        "same_bytes_as_objectid" => {
            let other = ObjectId::from_raw(case.read(scheme)).unwrap();
            case.same("objectid_hex", other.to_string());
        }
        "hard" => hard_xid(case),
        _ => case.unknown(),
    }
}

fn hard_xid(case: &Case<'_>) {
    let read = |scheme: &'static Scheme| case.read(scheme);
    for key in case.expect.keys() {
        match key.as_str() {
            "error" => case.fails(key, Xid::parse(case.text())),
            "special" => case.special(read(Xid::SCHEME), 96),
            "xid_time" => case.same_time(key, Xid::SCHEME.time(read(Xid::SCHEME))),
            "time" => {
                let scheme = super::ranking::meant(case, Xid::SCHEME);
                case.same_time(key, scheme.time(read(scheme)));
            }
            "u64" => case.same(key, case.text().parse::<u64>().unwrap()),
            _ => case.other(key),
        }
    }
}
