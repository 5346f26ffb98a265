//! UUIDs in fewer characters: the general forms of 128 bits.

use super::{Case, ranking};
use mintage::rfc9562::parse_any;
use mintage::text::{BASE32HEX, Base, HYPHENATED, TextForm, general_form};
use mintage::{Error, RawId};

/// Base 62 in the other order of its letters.
static BASE62_LOWER_FIRST: Base = Base::new(
    "base62",
    "a base62 digit",
    "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ",
    false,
);
/// Base 32 in capital letters. Source: RFC 4648 section 6.
static BASE32: Base = Base::new("base32", "a base32 digit", "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", false);

/// The form that the file calls so.
fn form(case: &Case<'_>, word: &str) -> TextForm {
    let general = |name| general_form(name, 128).unwrap();
    // 26 digits have two bits more than 16 bytes; they are zero.
    let of_bytes = |base| TextForm { pad_bits: 2, ..TextForm::fixed("base32", base, 26) };
    match word {
        "base64url" => general("base64url"),
        "base62" | "base62_0A_a_pad22" => general("base62"),
        "base62_0a_A" | "base62_0a_A_pad22" => TextForm::for_bits("base62", &BASE62_LOWER_FIRST, 128),
        "base58_btc" | "base58_btc_pad22" => general("base58"),
        "base58_btc_unpadded_int" => TextForm { is_fixed: false, ..general("base58") },
        "base58_flickr" | "base58_flickr_pad22" => general("base58-flickr"),
        "shortuuid57" => general("base57"),
        "uuid25_base36" => general("base36"),
        "crockford26" => general("crockford32"),
        "base32hex26_nopad" => of_bytes(&BASE32HEX),
        "base32_rfc4648_nopad" => of_bytes(&BASE32),
        _ => panic!("{case}: which form is {word}?"),
    }
}

fn uuid(raw: RawId) -> String {
    HYPHENATED.print(raw).unwrap().to_string()
}

pub(super) fn run(case: &Case<'_>) {
    match case.kind {
        "shortuuid57" => check(case, "text", "shortuuid57"),
        "uuid25" => check(case, "text", "uuid25_base36"),
        "uuid_short_forms" => {
            for key in case.expect.keys() {
                match key.as_str() {
                    "base58_btc_bytes" => case.other(key),
                    _ => check(case, key, key),
                }
            }
        }
        "overflow" => {
            let form = form(case, case.part("form"));
            case.fails_for(
                "error",
                form.parse(case.part("text"), 128, "uuid"),
                &[
                    ("62^22 > 2^128: overflow", |error| matches!(error, Error::TooLarge { .. })),
                    ("58^22 > 2^128: overflow", |error| matches!(error, Error::TooLarge { .. })),
                ],
            );
        }
        "max" => {
            let form = form(case, case.text());
            let largest = RawId::max_of(128);
            case.same("text", form.print(largest).unwrap().as_str());
            // One more, spelled with a digit more where there must be one.
            let next = form.print(largest.wrapping_next(129)).unwrap();
            case.same("next_overflows", next.as_str());
            let error = form.parse(next.as_str(), 128, "uuid");
            assert!(matches!(error, Err(Error::TooLarge { .. })), "{case}: {error:?}");
        }
        "base64url_canonical" => {
            let raw = form(case, "base64url").parse(case.text(), 128, "uuid").unwrap();
            case.same("uuid", uuid(raw));
        }
        "base64url_noncanonical" => {
            let read = form(case, "base64url").parse(case.text(), 128, "uuid");
            case.same("strict_error", matches!(read, Err(Error::Character { at: 22, .. })));
            case.other("lenient_uuid");
        }
        "hard" => {
            for key in case.expect.keys() {
                match key.as_str() {
                    "uuid" => ranking::uuid(case, key),
                    _ => case.other(key),
                }
            }
        }
        _ => case.unknown(),
    }
}

/// The UUID of the input is spelled so, and read back.
fn check(case: &Case<'_>, key: &str, word: &str) {
    let (form, raw) = (form(case, word), RawId::new(parse_any(case.text()).unwrap()));
    case.same(key, form.print(raw).unwrap().as_str());
    assert_eq!(form.parse(case.expect[key].as_str().unwrap(), 128, "uuid"), Ok(raw), "{case}");
}
