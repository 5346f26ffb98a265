//! Sonyflakes of both versions.

use super::{Case, time};
use mintage::schemes::snowflake::custom_split;
use mintage::{
    Clock, Error, Layout, ManualClock, RawId, Role, Scheme, Settings, SonyflakeV1, SonyflakeV2, TimeBase,
    UnixNanos,
};
use std::sync::Arc;

pub(super) fn run(case: &Case<'_>) {
    match case.kind {
        "compose_v1" => compose(case, SonyflakeV1::SCHEME),
        "compose_v2" => compose(case, SonyflakeV2::SCHEME),
        "compose_v2_custom" => {
            let layout = custom(case, base(SonyflakeV2::SCHEME).epoch);
            let raw =
                layout.pack(&[0, case.value("time_units"), case.value("sequence"), case.value("machine_id")]);
            let raw = raw.unwrap();
            case.same("id", raw.low().to_string());
            case.same("time", layout.time(raw).unwrap().rfc3339(3).unwrap().to_string());
        }
        "settings_err" => settings_err(case),
        "compose_err" => {
            for scheme in [SonyflakeV1::SCHEME, SonyflakeV2::SCHEME] {
                compose_err(case, scheme);
            }
        }
        "decode_variant" => {
            // The same split in other units, as a port of the library counts them.
            let epoch =
                UnixNanos::from_millis(i64::try_from(case.expect["epoch_ms"].as_u64().unwrap()).unwrap());
            let tick_nanos = case.expect["unit_ms"].as_u64().unwrap() * 1_000_000;
            let layout = custom_split("t39/s8/w16", TimeBase { epoch, tick_nanos }).unwrap();
            let raw = SonyflakeV1::parse(case.text()).unwrap().raw();
            for key in case.expect.keys() {
                let value = match key.as_str() {
                    "epoch_ms" | "unit_ms" => continue,
                    "ms" => u64::try_from(layout.time(raw).unwrap().0 / 1_000_000).unwrap(),
                    "machine_id" => u64::try_from(layout.gather(raw, Role::Worker)).unwrap(),
                    "sequence" => u64::try_from(layout.gather(raw, Role::Counter)).unwrap(),
                    _ => {
                        case.other(key);
                        continue;
                    }
                };
                case.same(key, value);
            }
        }
        "hard" => hard(case),
        _ => case.unknown(),
    }
}

fn base(scheme: &Scheme) -> TimeBase {
    scheme.layout.time_base().unwrap()
}

fn compose(case: &Case<'_>, scheme: &'static Scheme) {
    let values = ["time_units_10ms", "sequence", "machine_id"].map(|key| case.value(key));
    let raw = scheme.layout.pack(&[&[0][..], &values].concat()).unwrap();
    assert_eq!(scheme.parse(case.expect["id"].as_str().unwrap()), Ok(raw), "{case}");
    for key in case.expect.keys() {
        match key.as_str() {
            "id" => case.same(key, scheme.print(raw).as_str()),
            "time" => case.same(key, time(scheme, raw)),
            "private_ip_low16" => {
                let machine = scheme.layout.gather(raw, Role::Worker);
                case.same(key, format!("{}.{}", machine >> 8, machine & 0xff));
            }
            _ => case.other(key),
        }
    }
}

/// The layout that the input's widths and unit make.
fn custom(case: &Case<'_>, epoch: UnixNanos) -> Layout {
    let widths = ["bits_time", "bits_sequence", "bits_machine"].map(|key| case.number(key));
    let tick_nanos = case.number("unit_ms") * 1_000_000;
    let split = format!("t{}/s{}/w{}", widths[0], widths[1], widths[2]);
    custom_split(&split, TimeBase { epoch, tick_nanos }).unwrap()
}

/// What the library refuses as settings. Here the scheme has one split and one unit, and takes no others; a custom scheme takes
/// any split that adds up.
fn settings_err(case: &Case<'_>) {
    let scheme = SonyflakeV2::SCHEME;
    let culprit = match case.expect["error"].as_str().unwrap() {
        "bits time < 32" | "bits sequence" => "BitsSequence",
        "bits machine" => "BitsMachineID",
        "time unit < 1 ms" => "TimeUnit_us",
        "machine id" => "MachineID",
        other => panic!("{case}: {other}"),
    };
    assert!(case.input.get(culprit).is_some(), "{case}");
    let number = |key: &str, or: i64| case.input.get(key).map_or(or, |value| value.as_i64().unwrap());
    let (sequence, machine) = (number("BitsSequence", 8), number("BitsMachineID", 16));
    let tick_nanos = number("TimeUnit_us", 10_000) * 1000;
    let base = TimeBase { tick_nanos: tick_nanos.cast_unsigned(), ..base(scheme) };
    // -1 as the number without a sign that a worker is.
    let worker = Some(number("MachineID", 1).cast_unsigned());
    let split = format!("t{}/s{sequence}/w{machine}", 63 - sequence - machine);
    match custom_split(&split, base) {
        Err(Error::Layout(_)) => {}
        Ok(layout) => {
            let layout = (layout != scheme.layout && worker == Some(1)).then_some(layout);
            let error = scheme.generator(&Settings { worker, layout, ..Settings::default() }).err();
            let is_refused = matches!(
                error,
                Some(Error::NotApplicable { setting: "split", .. } | Error::WorkerRange { max: 65_535, .. })
            );
            assert!(is_refused, "{case}: {error:?}");
        }
        Err(error) => panic!("{case}: {error}"),
    }
}

fn compose_err(case: &Case<'_>, scheme: &'static Scheme) {
    let epoch = base(scheme).epoch;
    let year = 365 * 24 * 3600 * 1_000_000_000;
    let now = match case.text() {
        "time before StartTime" => epoch.plus(-1),
        "StartTime + 175 years" => epoch.plus(175 * year),
        other => panic!("{case}: {other}"),
    };
    let clock = Some(Arc::new(ManualClock::new(now)) as Arc<dyn Clock>);
    let error = scheme.generator(&Settings { clock, worker: Some(1), ..Settings::default() }).err();
    case.fails("error", error.map_or(Ok(()), Err));
}

fn hard(case: &Case<'_>) {
    for key in case.expect.keys() {
        match key.as_str() {
            "v1" => case.same(key, time(SonyflakeV1::SCHEME, case.read(SonyflakeV1::SCHEME))),
            "v2" => case.same(key, time(SonyflakeV2::SCHEME, case.read(SonyflakeV2::SCHEME))),
            _ => {
                let _: RawId = case.read(SonyflakeV1::SCHEME);
                case.other(key);
            }
        }
    }
}
