//! Crockford's base 32, with and without check symbols.

use super::Case;
use mintage::text::{
    TextForm, crockford_check, general_form, parse_crockford_checked, print_crockford_checked,
};
use mintage::{Error, RawId};
use serde_json::Value;

/// A number of 64 bits without leading zeros.
fn number() -> TextForm {
    TextForm { is_fixed: false, ..general_form("crockford32", 64).unwrap() }
}

fn lenient(case: &Case<'_>) -> Result<RawId, Error> {
    number().parse_lenient(case.text(), 64, "crockford32")
}

fn value(raw: RawId) -> Value {
    u64::try_from(raw.low()).unwrap().into()
}

pub(super) fn run(case: &Case<'_>) {
    match case.kind {
        "encode" => {
            let raw = RawId::from(case.input.as_u64().unwrap());
            case.same("base32", number().print(raw).unwrap().as_str());
            case.same("check_symbol", crockford_check(raw).to_string());
            case.same("with_check", print_crockford_checked(raw, 64).unwrap());
            let text = |key: &str| case.expect[key].as_str().unwrap();
            assert_eq!(number().parse(text("base32"), 64, "crockford32"), Ok(raw), "{case}");
            assert_eq!(parse_crockford_checked(text("with_check"), 64), Ok(raw), "{case}");
        }
        "decode" if case.expect.contains_key("error") => case.fails_for(
            "error",
            lenient(case),
            &[
                ("U only legal as a check symbol", |error| {
                    matches!(error, Error::Character { found: 'U', .. })
                }),
                ("char", |error| matches!(error, Error::Character { found: '!', at: 1, .. })),
            ],
        ),
        "decode" => {
            let raw = lenient(case).unwrap_or_else(|error| panic!("{case}: {error}"));
            case.same("value", value(raw));
            case.same("canonical", number().print(raw).unwrap().as_str());
        }
        "decode_check" => case.fails_for(
            "error",
            parse_crockford_checked(case.text(), 64),
            &[("bad check symbol", |error| matches!(error, Error::Character { at: 4, .. }))],
        ),
        "check_alphabet" => {
            let (first, last) = case.text().split_once("..").unwrap();
            let range = first.parse::<u64>().unwrap()..=last.parse().unwrap();
            let symbols: String = range.map(|number| crockford_check(RawId::from(number))).collect();
            case.same("symbols", symbols);
        }
        "encode128" => {
            let form = general_form("crockford32", 128).unwrap();
            let raw = form.parse(case.text(), 128, "crockford32").unwrap();
            case.same("check_symbol", crockford_check(raw).to_string());
        }
        "hard" => {
            let checked = || value(parse_crockford_checked(case.text(), 64).unwrap());
            for key in case.expect.keys() {
                match key.as_str() {
                    "without_check" => case.same(key, value(lenient(case).unwrap())),
                    "with_check" if case.expect[key].is_string() => {
                        case.same(key, print_crockford_checked(lenient(case).unwrap(), 64).unwrap());
                    }
                    "value" | "with_check" => case.same(key, checked()),
                    _ => case.other(key),
                }
            }
        }
        _ => case.unknown(),
    }
}
