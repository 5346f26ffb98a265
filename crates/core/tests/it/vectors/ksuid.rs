//! KSUIDs.

use super::{Case, field, low_bytes, time};
use mintage::Ksuid;

pub(super) fn run(case: &Case<'_>) {
    match case.kind {
        "decode" | "nil" | "max" => decode(case),
        "overflow" | "parse_err" => case.fails("error", Ksuid::parse(case.text())),
        "prev_next" => {
            let id: Ksuid = case.part("id").parse().unwrap();
            case.same("next", id.wrapping_next().to_string());
            case.same_hex("prev_raw", &id.wrapping_previous().get());
        }
        "sequence" => sequence(case),
        "hard" => hard(case),
        _ => case.unknown(),
    }
}

fn decode(case: &Case<'_>) {
    let id = Ksuid::parse(case.text()).unwrap();
    assert_eq!(id.to_string(), case.text());
    for key in case.expect.keys() {
        match key.as_str() {
            "timestamp" => case.same(key, field(Ksuid::SCHEME, id.raw(), "timestamp")),
            "unix_s" => case.same(key, i64::try_from(id.time().unwrap().0 / 1_000_000_000).unwrap()),
            "time" => case.same(key, time(Ksuid::SCHEME, id.raw())),
            "payload_hex" => case.same_hex(key, &low_bytes(id.raw().low(), 128)),
            "raw_hex" => {
                case.same_hex(key, &id.to_bytes());
                let hex = case.expect[key].as_str().unwrap();
                assert_eq!(Ksuid::parse(hex), Ok(id), "{case}");
                assert_eq!(Ksuid::from_bytes(&super::unhex(hex)), Ok(id), "{case}");
            }
            "special" => case.special(id.raw(), 160),
            _ => case.other(key),
        }
    }
}

fn sequence(case: &Case<'_>) {
    let seed = Ksuid::parse("0ujtsYcgvSTl8PAuAdqWYSMnLOv").unwrap();
    let ids: Vec<Ksuid> = seed.sequence().collect();
    case.same("max_ids", ids.len());
    assert!(ids.is_sorted());
    for (number, id) in ids.iter().enumerate() {
        assert_eq!(id.get()[..18], seed.get()[..18]);
        assert_eq!(usize::from(id.get()[18]) << 8 | usize::from(id.get()[19]), number);
    }
}

fn hard(case: &Case<'_>) {
    for key in case.expect.keys() {
        match key.as_str() {
            "special" => case.special(case.read(Ksuid::SCHEME), 160),
            "error" => case.fails(key, Ksuid::parse(case.text())),
            // Capital letters are other digits than small ones: the same letters give another id.
            "parses_as" => {
                let id = Ksuid::parse(case.text()).unwrap();
                let is_other = Ksuid::parse(&case.text().to_ascii_lowercase()) != Ok(id);
                case.same(key, if is_other { "different ksuid" } else { "the same ksuid" });
            }
            "time" => case.same(key, time(Ksuid::SCHEME, case.read(Ksuid::SCHEME))),
            _ => case.other(key),
        }
    }
}
