//! Row ids of CockroachDB, and bit-reversed counters of Spanner.

use super::{Case, at};
use mintage::{
    CockroachUniqueRowid, CockroachUnorderedUniqueRowid, Mapping, RawId, Settings, SpannerBitReversed,
    UnixNanos,
};

pub(super) fn cockroach(case: &Case<'_>) {
    let scheme = CockroachUniqueRowid::SCHEME;
    match case.kind {
        "compose" => {
            let clock = at(UnixNanos::parse(case.part("time")).unwrap());
            let settings = Settings { worker: Some(case.number("node_id")), clock, ..Settings::default() };
            let raw = scheme.generator(&settings).unwrap().next().unwrap();
            for key in case.expect.keys() {
                match key.as_str() {
                    "id" => case.same(key, scheme.print(raw).as_str()),
                    _ => case.usual(key, scheme, raw, &[("timestamp_10us", "timestamp")]),
                }
            }
        }
        "unordered_unique_rowid" => unordered(case),
        "range" => {
            let tick_nanos = i128::from(scheme.layout.time_base().unwrap().tick_nanos);
            case.same("bits", super::flakes::widths(scheme));
            case.same_time("end", scheme.layout.ends_at().map(|ended| ended.plus(-tick_nanos)));
        }
        "hard" => case.expect.keys().for_each(|key| case.other(key)),
        _ => case.unknown(),
    }
}

fn unordered(case: &Case<'_>) {
    let (ordered, other) = (CockroachUniqueRowid::SCHEME, CockroachUnorderedUniqueRowid::SCHEME);
    let raw = ordered.parse(case.part("ordered")).unwrap();
    let values: Vec<u128> = (0..3).map(|field| ordered.value(raw, field)).collect();
    let unordered = other.pack(&values).unwrap();
    let binary = |raw: RawId| format!("{:064b}", raw.low());
    if case.input.get("binary").is_some() {
        assert_eq!(binary(raw), case.part("binary"), "{case}");
    }
    for key in case.expect.keys() {
        match key.as_str() {
            "unordered" => case.same(key, other.print(unordered).as_str()),
            "binary" => case.same(key, binary(unordered)),
            _ => case.other(key),
        }
    }
}

pub(super) fn spanner(case: &Case<'_>) {
    let scheme = SpannerBitReversed::SCHEME;
    match case.kind {
        "bit_reversed_positive" => {
            let first = case.input.as_u64();
            let generator = scheme.generator(&Settings { first, ..Settings::default() }).unwrap();
            let raw = generator.next().unwrap();
            assert_eq!(scheme.value(raw, 1), first.unwrap().into(), "{case}");
            case.same("value", scheme.print(raw).as_str());
        }
        // All 64 bits, as Databricks reverses them: no scheme here, but the same mapping.
        "bit_reverse_64" => {
            let mapping = Mapping::ReversedBits { shift: 0, bits: 64 };
            let raw = mapping.to_layout(RawId::from(case.input.as_u64().unwrap()));
            case.same("value", u64::try_from(raw.low()).unwrap().cast_signed().to_string());
        }
        "hard" => {
            let raw = case.read(scheme);
            case.expect.keys().for_each(|key| case.usual(key, scheme, raw, &[]));
        }
        _ => case.unknown(),
    }
}
