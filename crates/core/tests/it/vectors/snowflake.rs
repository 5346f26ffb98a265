//! The Snowflakes of Twitter, Discord, Instagram and Mastodon.

use super::{Case, field, millis, time};
use mintage::text::{Base, TextForm};
use mintage::{
    RawId, Role, Scheme, SnowflakeDiscord, SnowflakeInstagram, SnowflakeMastodon, SnowflakeTwitter, UnixNanos,
};
use serde_json::Value;

/// Digits of Instagram's short codes: URL-safe base 64 of the number itself.
static SHORTCODE_DIGITS: Base = Base::new(
    "base64url",
    "a base64url digit",
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_",
    false,
);

pub(super) fn twitter(case: &Case<'_>) {
    let scheme = SnowflakeTwitter::SCHEME;
    match case.kind {
        "decode" => decode(case, scheme),
        "epoch" => check(case, scheme, RawId::new(case.input.as_u64().unwrap().into())),
        "masks" => {
            let mask = |name: &str| {
                let at = scheme.layout.fields().iter().position(|field| field.name == name).unwrap();
                let slot = scheme.layout.slot(at);
                slot.max() << slot.shift
            };
            // Twitter's mask takes the sign bit along.
            let timestamp = mask("unused") | mask("timestamp");
            for (key, mask) in [
                ("worker_mask", mask("worker")),
                ("datacenter_mask", mask("datacenter")),
                ("timestamp_mask", timestamp),
            ] {
                case.same(key, format!("0x{mask:016X}"));
            }
            assert_eq!(case.expect.len(), 3, "{case}: more is expected");
        }
        "compose" => {
            let values = ["datacenter", "worker", "sequence"].map(|key| case.value(key));
            compose(case, scheme, case.number("ms"), &values);
        }
        "hard" => hard(case, scheme),
        _ => case.unknown(),
    }
}

pub(super) fn discord(case: &Case<'_>) {
    let scheme = SnowflakeDiscord::SCHEME;
    match case.kind {
        "decode" => decode(case, scheme),
        "compose_floor" => compose(case, scheme, case.number("ms"), &[0, 0, 0]),
        "hard" => hard(case, scheme),
        _ => case.unknown(),
    }
}

pub(super) fn instagram(case: &Case<'_>) {
    let scheme = SnowflakeInstagram::SCHEME;
    match case.kind {
        "decode" => decode(case, scheme),
        "epoch" => check(case, scheme, case.read(scheme)),
        "compose" => {
            let values = ["ms_since_epoch", "shard", "sequence"].map(|key| case.value(key));
            check(case, scheme, scheme.layout.pack(&values).unwrap());
        }
        "hard" => hard(case, scheme),
        _ => case.unknown(),
    }
}

pub(super) fn mastodon(case: &Case<'_>) {
    let scheme = SnowflakeMastodon::SCHEME;
    match case.kind {
        "decode" => decode(case, scheme),
        "id_at_floor" => {
            let raw = scheme.layout.pack(&[case.value("unix_s") * 1000, 0]).unwrap();
            case.same("id", scheme.print(raw).as_str());
            assert!(case.expect.keys().all(|key| key == "id" || key == "note"), "{case}: more is expected");
        }
        "hard" => hard(case, scheme),
        _ => case.unknown(),
    }
}

/// The id at `unix_ms` with the values of the fields below the time.
fn compose(case: &Case<'_>, scheme: &'static Scheme, unix_ms: u64, below: &[u128]) {
    let now = UnixNanos::from_millis(i64::try_from(unix_ms).unwrap());
    let tick = scheme.layout.time_base().unwrap().tick_at(now).unwrap();
    let fields = scheme.layout.fields().iter();
    let mut values: Vec<u128> =
        fields.take_while(|field| matches!(field.role, Role::Fixed(_))).map(|_| 0).collect();
    values.push(tick.into());
    values.extend_from_slice(below);
    check(case, scheme, scheme.layout.pack(&values).unwrap());
}

fn decode(case: &Case<'_>, scheme: &'static Scheme) {
    let raw = case.read(scheme);
    assert_eq!(scheme.print(raw).as_str(), case.text());
    check(case, scheme, raw);
}

fn check(case: &Case<'_>, scheme: &'static Scheme, raw: RawId) {
    for key in case.expect.keys() {
        match key.as_str() {
            "id" => case.same(key, scheme.print(raw).as_str()),
            "ms" => case.same(key, millis(scheme, raw)),
            "time" | "with_epoch_1314220021721" => case.same(key, time(scheme, raw)),
            "datacenter" | "worker" | "process" | "increment" | "sequence" | "shard" => {
                case.same(key, field(scheme, raw, key));
            }
            "timestamp_field" => case.same(key, field(scheme, raw, "timestamp")),
            "tail16" => case.same(key, field(scheme, raw, "tail")),
            "node10" => {
                case.same(key, u64::try_from(scheme.layout.gather(raw, Role::Worker)).unwrap());
            }
            "shortcode" => {
                let form =
                    TextForm { is_fixed: false, ..TextForm::fixed("shortcode", &SHORTCODE_DIGITS, 11) };
                let text = case.expect[key].as_str().unwrap();
                assert_eq!(form.print(raw).unwrap().as_str(), text, "{case}");
                assert_eq!(form.parse(text, 64, scheme.name), Ok(raw), "{case}");
            }
            // The row was written that much later than its id was made.
            "documented_created_at" => {
                let written = UnixNanos::parse(case.expect[key].as_str().unwrap()).unwrap();
                let late = (written.0 - scheme.layout.time(raw).unwrap().0) / 1_000_000;
                case.same("delta_ms", i64::try_from(late).unwrap());
            }
            "delta_ms" => assert!(case.expect.contains_key("documented_created_at"), "{case}"),
            _ => case.other(key),
        }
    }
}

fn hard(case: &Case<'_>, own: &'static Scheme) {
    for (key, expected) in case.expect {
        match key.as_str() {
            "time" => case.same(key, time(own, case.read(own))),
            // Not an id where the sign bit must be zero; a number of 64 bits all the same.
            "i64" => assert_eq!(own.parse(case.text()).is_ok(), *expected == true, "{case}"),
            "u64" => assert_eq!(case.text().parse::<u64>().is_ok(), *expected == true, "{case}"),
            "mastodon" | "discord" | "twitter" => {
                let scheme = Scheme::by_name(key).unwrap();
                match expected {
                    Value::Bool(is_read) => assert_eq!(scheme.parse(case.text()).is_ok(), *is_read, "{case}"),
                    _ => case.same(key, time(scheme, case.read(scheme))),
                }
            }
            _ => case.other(key),
        }
    }
}
