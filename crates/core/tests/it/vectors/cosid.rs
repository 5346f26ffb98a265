//! CosIds: numbers, strings, friendly texts.

use super::flakes::widths;
use super::{Case, tick_of};
use mintage::schemes::cosid::{parse_friendly, print_friendly};
use mintage::text::{BASE62, TextForm};
use mintage::{Cosid, CosidSafeJs, CosidSafeJsSecond, CosidSecond, CosidString, Error, RawId, Scheme};

/// Seconds east of UTC of the clocks that the published texts are from.
const SHANGHAI: i32 = 8 * 3600;

pub(super) fn run(case: &Case<'_>) {
    let scheme = Cosid::SCHEME;
    match case.kind {
        "decode" => check(case, scheme, case.read(scheme)),
        "friendly_parse_utc" => {
            let id = parse_friendly(case.text(), 0).unwrap();
            assert_eq!(print_friendly(id, 0).unwrap(), case.text());
            check(case, scheme, id.raw());
        }
        "friendly_err" => {
            case.fails_for(
                "error",
                parse_friendly(case.text(), SHANGHAI),
                &[("component out of range", |error| {
                    matches!(
                        error,
                        Error::BeforeEpoch { .. } | Error::TimeFieldEnded { .. } | Error::FieldRange { .. }
                    )
                })],
            );
        }
        "second_layout" => {
            let scheme = CosidSecond::SCHEME;
            layout(case, scheme, case.number("epoch_s") * 1000);
            let raw = scheme.pack(&[0, 1, 1, 1]).unwrap();
            check(case, scheme, raw);
        }
        "safe_js_ms" => {
            layout(case, CosidSafeJs::SCHEME, case.number("epoch_ms"));
            case.same("max_total_bits", CosidSafeJs::SCHEME.layout.used_bits());
        }
        "safe_js_s" => {
            layout(case, CosidSafeJsSecond::SCHEME, case.number("epoch_s") * 1000);
            case.same("max_total_bits", CosidSafeJsSecond::SCHEME.layout.used_bits());
        }
        "safe_js_compose" => {
            let scheme = CosidSafeJs::SCHEME;
            let tick = tick_of(scheme, case.number("ms"));
            let raw = scheme.pack(&[0, tick, case.value("machine"), case.value("sequence")]).unwrap();
            case.same("id", scheme.print(raw).as_str());
        }
        "cosid_string" => {
            let scheme = CosidString::SCHEME;
            let values = ["unix_ms", "machine", "sequence"].map(|key| case.value(key));
            let raw = scheme.pack(&values).unwrap();
            case.same("radix62", scheme.print(raw).as_str());
            let form = scheme.form("base36").unwrap();
            case.same("radix36", form.print(raw).unwrap().as_str());
            assert_eq!(scheme.parse(case.expect["radix36"].as_str().unwrap()), Ok(raw), "{case}");
        }
        "hard" => {
            for key in case.expect.keys() {
                match key.as_str() {
                    // One text, another id in each zone.
                    "zone" => {
                        let ids = [0, SHANGHAI].map(|offset| parse_friendly(case.text(), offset).unwrap());
                        case.same(key, if ids[0] == ids[1] { "known" } else { "unknown" });
                    }
                    "u64" => case.same(key, case.read(scheme).low().to_string()),
                    _ => case.other(key),
                }
            }
        }
        _ => case.unknown(),
    }
}

/// The scheme's widths and epoch are those of the case.
fn layout(case: &Case<'_>, scheme: &Scheme, epoch_ms: u64) {
    assert!(widths(scheme).ends_with(&format!("|{}", case.part("bits"))), "{case}: {}", widths(scheme));
    let epoch = scheme.layout.time_base().unwrap().epoch;
    assert_eq!(epoch.0, i128::from(epoch_ms) * 1_000_000, "{case}");
}

fn check(case: &Case<'_>, scheme: &'static Scheme, raw: RawId) {
    for key in case.expect.keys() {
        match key.as_str() {
            "id" => case.same(key, scheme.print(raw).as_str()),
            "friendly_shanghai" => {
                let id = Cosid::from_raw(raw).unwrap();
                case.same(key, print_friendly(id, SHANGHAI));
                assert_eq!(parse_friendly(case.expect[key].as_str().unwrap(), SHANGHAI), Ok(id), "{case}");
            }
            "radix62" => {
                let form = TextForm { is_fixed: false, ..TextForm::fixed("base62", &BASE62, 11) };
                case.same(key, form.print(raw).unwrap().as_str());
            }
            "radix62_padded" => {
                case.same(key, scheme.form("base62").unwrap().print(raw).unwrap().as_str());
                assert_eq!(scheme.parse(case.expect[key].as_str().unwrap()), Ok(raw), "{case}");
            }
            _ => case.usual(key, scheme, raw, &[]),
        }
    }
}
