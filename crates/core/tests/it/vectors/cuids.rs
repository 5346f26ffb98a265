//! CUIDs of both versions, and NanoIDs.

use super::{Case, value};
use mintage::schemes::cuid2::is_cuid2;
use mintage::text::{BASE36_LOWER, BASE64_NANOID, TextForm};
use mintage::{Cuid, Cuid2, Nanoid, RawId};

pub(super) fn cuid(case: &Case<'_>) {
    let scheme = Cuid::SCHEME;
    // A field as it is spelled.
    let digits = |raw, field, len| {
        let number = RawId::new(value(scheme, raw, field));
        TextForm::fixed("base36", &BASE36_LOWER, len).print(number).unwrap().to_string()
    };
    match case.kind {
        "decode" | "hard" => {
            let raw = case.read(scheme);
            for key in case.expect.keys() {
                match key.as_str() {
                    "counter_text" => case.same(key, digits(raw, "counter", 4)),
                    "fingerprint" => case.same(key, digits(raw, key, 4)),
                    "random" => case.same(key, digits(raw, key, 8)),
                    _ => case.usual(key, scheme, raw, &[]),
                }
            }
        }
        "parse_err" => case.fails("error", Cuid::parse(case.text())),
        "time_width" => {
            let at = |ms: u128| scheme.check(scheme.pack(&[ms, 0, 0, 0]).unwrap());
            assert!(at(36_u128.pow(8)).is_err(), "{case}");
            case.same_time("8_base36_digits_until", scheme.time(at(36_u128.pow(8) - 1).unwrap()));
            assert!(scheme.print(at(36_u128.pow(7) - 1).unwrap()).as_str().starts_with("c0"), "{case}");
            case.same_time("from", scheme.time(at(36_u128.pow(7)).unwrap()));
        }
        _ => case.unknown(),
    }
}

pub(super) fn cuid2(case: &Case<'_>) {
    match case.kind {
        "is_cuid2" => {
            for key in case.expect.keys() {
                match key.as_str() {
                    "valid" => case.same(key, is_cuid2(case.text())),
                    "length" => {
                        case.same(key, case.text().len());
                        // The scheme is that of the default length.
                        let is_read = Cuid2::parse(case.text()).is_ok();
                        assert_eq!(is_read, case.text().len() == 24, "{case}");
                    }
                    _ => case.other(key),
                }
            }
        }
        "length" => {
            let is_one = is_cuid2(&"a".repeat(usize::try_from(case.input.as_u64().unwrap()).unwrap()));
            for key in case.expect.keys() {
                match key.as_str() {
                    "ok" => case.same(key, is_one),
                    "error" => case.same(key, !is_one),
                    _ => case.other(key),
                }
            }
        }
        "time" => case.same("decodable", Cuid2::SCHEME.layout.time_base().is_some()),
        "hard" => {
            assert!(is_cuid2(case.text()), "{case}");
            case.expect.keys().for_each(|key| case.other(key));
        }
        _ => case.unknown(),
    }
}

pub(super) fn nanoid(case: &Case<'_>) {
    let scheme = Nanoid::SCHEME;
    let digits = BASE64_NANOID.digits();
    match case.kind {
        "alphabet" => {
            case.same("alphabet", std::str::from_utf8(digits).unwrap());
            case.same("size", BASE64_NANOID.radix());
            case.same("default_length", scheme.canonical().len);
            case.same("bits", scheme.layout.bits());
        }
        "example" => {
            assert_eq!(scheme.print(case.read(scheme)).as_str(), case.text());
            case.same("length", scheme.text_lengths().most);
        }
        // The reference takes the low six bits of a byte for each character.
        "bytes_to_text" => {
            let bytes = case.input.as_array().unwrap().iter().map(|byte| byte.as_u64().unwrap() & 63);
            let raw = bytes.clone().fold(0, |number, digit| number << 6 | u128::from(digit));
            let form = TextForm::fixed("nanoid", &BASE64_NANOID, bytes.count());
            case.same("text", form.print(RawId::new(raw)).unwrap().as_str());
        }
        "hard" => {
            assert!(scheme.parse(case.text()).is_ok(), "{case}");
            case.expect.keys().for_each(|key| case.other(key));
        }
        _ => case.unknown(),
    }
}
