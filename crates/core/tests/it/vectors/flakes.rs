//! Boundary flakes, Elasticflake and Elasticsearch ids, flake-idgen, LexicalUUID, uid-generator, Leaf, yitter.

use super::{Case, ranking, value};
use mintage::schemes::snowflake::custom_split;
use mintage::{
    BoundaryFlake, Elasticflake, ElasticsearchId, FlakeIdgen, Leaf, Lexicaluuid, RawId, Role, Scheme,
    UidGenerator, UnixNanos, YitterIdgenerator,
};

pub(super) fn boundary(case: &Case<'_>) {
    let scheme = BoundaryFlake::SCHEME;
    if !["decode", "decode_base62", "hard"].contains(&case.kind) {
        return case.unknown();
    }
    let raw = case.read(scheme);
    for key in case.expect.keys() {
        match key.as_str() {
            "worker_mac" => case.same(key, format!("{:012x}", value(scheme, raw, "worker"))),
            "base62" => case.same(key, scheme.print(raw).as_str()),
            "hex" => case.same(key, scheme.form("hex").unwrap().print(raw).unwrap().as_str()),
            _ => case.usual(key, scheme, raw, &[]),
        }
    }
}

pub(super) fn elasticflake(case: &Case<'_>) {
    let (old, new) = (Elasticflake::SCHEME, ElasticsearchId::SCHEME);
    match case.kind {
        "decode_elasticsearch" => elastic(case, new, case.read(new)),
        "compose_elasticflake" => elastic(case, old, compose_elastic(case, old)),
        "compose_elasticsearch" => elastic(case, new, compose_elastic(case, new)),
        "hard" => {
            let scheme = ranking::meant(case, old);
            elastic(case, scheme, case.read(scheme));
        }
        _ => case.unknown(),
    }
}

fn compose_elastic(case: &Case<'_>, scheme: &'static Scheme) -> RawId {
    let address = u128::from_str_radix(case.part("munged_mac"), 16).unwrap();
    scheme.pack(&[case.value("ms"), address, case.value("sequence")]).unwrap()
}

fn elastic(case: &Case<'_>, scheme: &'static Scheme, raw: RawId) {
    for key in case.expect.keys() {
        match key.as_str() {
            "id" => case.same(key, scheme.print(raw).as_str()),
            "munged_mac" => case.same(key, format!("{:012x}", value(scheme, raw, "address"))),
            _ => case.usual(key, scheme, raw, &[]),
        }
    }
}

pub(super) fn flake_idgen(case: &Case<'_>) {
    let scheme = FlakeIdgen::SCHEME;
    let raw = match case.kind {
        "compose" => {
            let values = ["timestamp", "datacenter", "worker", "counter"].map(|key| case.value(key));
            scheme.pack(&values).unwrap()
        }
        "decode" => case.read(scheme),
        // Not all of them are ids of the scheme: what ranks first is all that is asked.
        "hard" => RawId::ZERO,
        _ => return case.unknown(),
    };
    for key in case.expect.keys() {
        match key.as_str() {
            "hex" => case.same(key, scheme.form("hex").unwrap().print(raw).unwrap().as_str()),
            _ => case.usual(key, scheme, raw, &[]),
        }
    }
}

pub(super) fn lexicaluuid(case: &Case<'_>) {
    let scheme = Lexicaluuid::SCHEME;
    let raw = match case.kind {
        "format" => {
            let time = if case.input.get("unix_us").is_some() { "unix_us" } else { "timestamp" };
            scheme.pack(&[case.value(time), case.value("worker_id")]).unwrap()
        }
        "sort" => {
            let texts = case.input.as_array().unwrap().iter();
            let ids: Vec<RawId> = texts.map(|text| scheme.parse(text.as_str().unwrap()).unwrap()).collect();
            case.same("ascending", ids.is_sorted());
            return;
        }
        "parse_ignores_hyphens" => case.read(scheme),
        "hard" if case.expect.contains_key("note") => RawId::ZERO,
        "hard" => case.read(scheme),
        _ => return case.unknown(),
    };
    for key in case.expect.keys() {
        match key.as_str() {
            "text" => case.same(key, scheme.print(raw).as_str()),
            _ => case.usual(key, scheme, raw, &[]),
        }
    }
}

pub(super) fn uid_generator(case: &Case<'_>) {
    let (scheme, base) = (UidGenerator::SCHEME, UidGenerator::SCHEME.layout.time_base().unwrap());
    match case.kind {
        "decode_wrong_config" | "hard" => {
            let raw = case.read(scheme);
            for key in case.expect.keys() {
                match key.as_str() {
                    "bits" => case.same(key, widths(scheme)),
                    "epoch" => {
                        let epoch = UnixNanos::parse(case.expect[key].as_str().unwrap());
                        assert_eq!(epoch, Ok(base.epoch), "{case}");
                    }
                    _ => case.usual(key, scheme, raw, &[("worker_id", "worker")]),
                }
            }
        }
        "epoch_default" => {
            let in_shanghai = UnixNanos::parse(&format!("{}T00:00:00+08:00", case.text()));
            assert_eq!(in_shanghai, Ok(base.epoch), "{case}");
            case.same("ms", i64::try_from(base.epoch.0 / 1_000_000).unwrap());
            case.same_time("utc", Some(base.epoch));
            case.other("note");
        }
        "range_end" => {
            case.same_time("last_time", scheme.layout.ends_at().map(|ended| ended.plus(-1_000_000_000)));
            case.other("documented");
        }
        "compose" => {
            assert_eq!(widths(scheme), format!("1|{}", case.part("bits")), "{case}");
            let values = ["delta_seconds", "worker_id", "sequence"].map(|key| case.value(key));
            let raw = scheme.pack(&[&[0][..], &values].concat()).unwrap();
            case.same("id", scheme.print(raw).as_str());
        }
        "leaf_snowflake" => {
            let scheme = Leaf::SCHEME;
            let now = UnixNanos::from_millis(i64::try_from(case.number("ms")).unwrap());
            let tick = scheme.layout.time_base().unwrap().tick_at(now).unwrap();
            let raw = scheme.pack(&[0, tick.into(), case.value("worker"), case.value("sequence")]).unwrap();
            case.same("id", scheme.print(raw).as_str());
        }
        _ => case.unknown(),
    }
}

/// The widths of a scheme's fields, as the files write them.
pub(super) fn widths(scheme: &Scheme) -> String {
    let widths: Vec<String> = scheme.layout.fields().iter().map(|field| field.bits.to_string()).collect();
    widths.join("|")
}

pub(super) fn yitter(case: &Case<'_>) {
    let scheme = YitterIdgenerator::SCHEME;
    match case.kind {
        "decode" => {
            let bits = ["worker_bits", "seq_bits"].map(|key| case.expect[key].as_u64().unwrap());
            let split = format!("t{}/w{}/s{}", 64 - bits[0] - bits[1], bits[0], bits[1]);
            let layout = custom_split(&split, scheme.layout.time_base().unwrap()).unwrap();
            assert_eq!(layout == scheme.layout, bits == [6, 6], "{case}");
            let raw = case.read(scheme);
            for key in case.expect.keys() {
                match key.as_str() {
                    // They are where the fields are read from.
                    "seq_bits" | "worker_bits" => {}
                    "ms" => {
                        case.same(key, i64::try_from(layout.time(raw).unwrap().0 / 1_000_000).unwrap());
                    }
                    "time" => case.same_time(key, layout.time(raw)),
                    "worker" => case.same(key, u64::try_from(layout.gather(raw, Role::Worker)).unwrap()),
                    "sequence" => case.same(key, u64::try_from(layout.gather(raw, Role::Counter)).unwrap()),
                    _ => case.other(key),
                }
            }
        }
        "hard" => {
            let raw = case.read(scheme);
            for key in case.expect.keys() {
                match key.as_str() {
                    "js_safe" => case.same(key, raw.fits(53)),
                    _ => case.other(key),
                }
            }
        }
        _ => case.unknown(),
    }
}
