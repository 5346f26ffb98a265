//! TSIDs, and the bases that tsid-creator spells them in.

use super::Case;
use mintage::text::{Base, TextForm};
use mintage::{Error, RawId, Tsid};

/// The first 43 of 62 digits, as in the library's tests.
static BASE43: Base =
    Base::new("base43", "a base43 digit", "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefg", false);

pub(super) fn run(case: &Case<'_>) {
    let scheme = Tsid::SCHEME;
    match case.kind {
        "decode" | "decode_number" | "time_min" | "time_max" => check(case, case.text()),
        "overflow" => case.fails("error", Tsid::parse(case.text())),
        "is_valid" => case.same("valid", Tsid::parse(case.text()).is_ok()),
        "format" => {
            let (before, behind) = case.expect["pattern"].as_str().unwrap().split_once("%S").unwrap();
            let text = case.text().strip_prefix(before).and_then(|text| text.strip_suffix(behind));
            check(case, text.unwrap());
        }
        "base_n" => {
            let raw = RawId::new(u128::from_str_radix(case.part("u64_hex"), 16).unwrap());
            let form = form(case);
            case.same("string", form.print(raw).unwrap().as_str());
            let text = case.expect["string"].as_str().unwrap();
            assert_eq!(form.parse(text, 64, scheme.name), Ok(raw), "{case}");
        }
        "base_n_err" => case.fails_for(
            "error",
            form(case).parse(case.part("string"), 64, scheme.name),
            &[
                ("2^64", |error| matches!(error, Error::TooLarge { .. })),
                ("2^64 + 1 (the test comment says 2^64)", |error| matches!(error, Error::TooLarge { .. })),
                ("overflow", |error| matches!(error, Error::TooLarge { .. })),
                ("length", |error| matches!(error, Error::Length { .. })),
                ("char", |error| matches!(error, Error::Character { found: '=', at: 6, .. })),
                ("empty", |error| matches!(error, Error::Length { found: 0, .. })),
            ],
        ),
        "hard" => {
            for key in case.expect.keys() {
                match key.as_str() {
                    "error" => case.fails(key, Tsid::parse(case.text())),
                    "string" => case.same(key, Tsid::parse(case.text()).unwrap().to_string()),
                    _ => {
                        assert!(Tsid::parse(case.text()).is_ok(), "{case}");
                        case.other(key);
                    }
                }
            }
        }
        _ => case.unknown(),
    }
}

fn form(case: &Case<'_>) -> TextForm {
    match case.number("base") {
        10 => Tsid::SCHEME.form("decimal-fixed").unwrap(),
        43 => TextForm::for_bits("base43", &BASE43, 64),
        62 => Tsid::SCHEME.form("base62").unwrap(),
        _ => panic!("{case}"),
    }
}

fn check(case: &Case<'_>, text: &str) {
    let scheme = Tsid::SCHEME;
    let raw = scheme.parse(text).unwrap_or_else(|error| panic!("{case}: {error}"));
    let number = u64::try_from(raw.low()).unwrap();
    for key in case.expect.keys() {
        match key.as_str() {
            // It was cut off to get here.
            "pattern" => {}
            "string" | "tsid" => case.same(key, scheme.print(raw).as_str()),
            "u64" => case.same(key, number.to_string()),
            "i64" => case.same(key, number.cast_signed().to_string()),
            "random22" => case.same(key, number & ((1 << 22) - 1)),
            _ => case.usual(key, scheme, raw, &[("node10", "node"), ("counter12", "counter")]),
        }
    }
}
