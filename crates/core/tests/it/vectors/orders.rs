//! How MySQL, SQL Server and Java store and compare UUIDs.

use super::Case;
use mintage::rfc9562::parse_any;
use mintage::text::HYPHENATED;
use mintage::{Error, MysqlSwappedV1, Newsequentialid, Order, RawId, UuidV1, UuidV7};
use serde_json::Value;
use std::cmp::Ordering;

fn print(uuid: u128) -> String {
    HYPHENATED.print(RawId::new(uuid)).unwrap().to_string()
}

fn uuid(case: &Case<'_>) -> u128 {
    parse_any(case.text()).unwrap()
}

/// The UUIDs of a list.
fn uuids(list: &Value) -> Vec<u128> {
    list.as_array().unwrap().iter().map(|text| parse_any(text.as_str().unwrap()).unwrap()).collect()
}

fn is_sorted(order: Order, list: &[u128]) -> bool {
    list.is_sorted_by_key(|uuid| order.apply(*uuid))
}

pub(super) fn mysql(case: &Case<'_>) {
    let order = Order::MysqlSwapped;
    match case.kind {
        "uuid_to_bin_0" => case.same("hex", format!("{:032X}", uuid(case))),
        "uuid_to_bin_1" => case.same("hex", format!("{:032X}", order.apply(uuid(case)))),
        "bin_to_uuid_0" => case.same("uuid", print(uuid(case))),
        "bin_to_uuid_1" => case.same("uuid", print(order.undo(uuid(case)))),
        "ordered_time_codec" => {
            let stored = order.apply(uuid(case));
            case.same("bytes_hex", format!("{stored:032x}"));
            // The same moment in both.
            let id = MysqlSwappedV1::from_raw(RawId::new(stored)).unwrap();
            assert_eq!(id.time(), UuidV1::parse(case.text()).unwrap().time(), "{case}");
        }
        "err_bin" => case.fails_for(
            "error",
            MysqlSwappedV1::from_bytes(&super::unhex(case.text())),
            &[("1411 / HY000 (length must be 16 bytes)", |error| {
                matches!(error, Error::Bytes { expected: 16, .. })
            })],
        ),
        "hard" => {
            for key in case.expect.keys() {
                match key.as_str() {
                    "v7_time" => case.same_time(key, UuidV7::parse(case.text()).unwrap().time()),
                    "plausible_as_v7" => case.same(key, super::ranking::is_plausible(case, "uuid-v7")),
                    "unswapped" | "uuid" => case.same(key, print(order.undo(uuid(case)))),
                    // Swapped back twice: what BIN_TO_UUID(…, 1) makes of bytes that were never swapped.
                    "swapped" => case.same(key, print(order.apply(uuid(case)))),
                    "time" => case.same_time(key, MysqlSwappedV1::parse(case.text()).unwrap().time()),
                    _ => case.other(key),
                }
            }
        }
        _ => case.unknown(),
    }
}

pub(super) fn sqlserver(case: &Case<'_>) {
    let order = Order::Sqlserver;
    match case.kind {
        "sort" => {
            let mut list = uuids(case.input);
            list.sort_by_key(|uuid| order.apply(*uuid));
            case.same("sql_server", list.iter().copied().map(print).collect::<Vec<_>>());
            list.sort_unstable();
            case.same("dotnet_Guid", list.iter().copied().map(print).collect::<Vec<_>>());
        }
        "sort_each_byte" => {
            let found = if is_sorted(order, &uuids(case.input)) { "as listed (ascending)" } else { "else" };
            case.same("sql_server", found);
        }
        "compare" => {
            let list = uuids(case.input);
            let word =
                |ordering| if ordering == Ordering::Less { "first < second" } else { "first > second" };
            case.same("text", word(list[0].cmp(&list[1])));
            let expected = case.expect["sql_server"].as_str().unwrap();
            let found = word(order.apply(list[0]).cmp(&order.apply(list[1])));
            assert_eq!(expected.split(" (").next(), Some(found), "{case}");
        }
        "newsequentialid" => newsequentialid(case),
        "uuidcreatesequential" => {
            let list = uuids(case.input);
            let as_listed = |is_sorted| if is_sorted { "as listed" } else { "otherwise" };
            let times: Vec<_> = list.iter().map(|uuid| v1(*uuid).time().unwrap()).collect();
            case.same("time_order", as_listed(times.is_sorted()));
            case.same("sql_server_sorted_as_listed", is_sorted(order, &list));
            let shuffled: Vec<u128> = list.iter().map(|uuid| Order::GuidBytes.apply(*uuid)).collect();
            let texts: Vec<String> = shuffled.iter().copied().map(print).collect();
            case.same("after_newsequentialid_shuffle", texts);
            case.same("shuffled_sql_server_sorted_as_listed", is_sorted(order, &shuffled));
        }
        "hard" => case.expect.keys().for_each(|key| case.other(key)),
        _ => case.unknown(),
    }
}

fn v1(uuid: u128) -> UuidV1 {
    UuidV1::from_raw(RawId::new(uuid)).unwrap()
}

fn newsequentialid(case: &Case<'_>) {
    let scheme = Newsequentialid::SCHEME;
    let id = Newsequentialid::parse(case.text()).unwrap();
    for key in case.expect.keys() {
        match key.as_str() {
            "next" => {
                // Its low digits of time are the first field.
                let mut values: Vec<u128> = id.fields().map(|(_, value)| value).collect();
                values[0] += 1;
                case.same(key, scheme.print(scheme.pack(&values).unwrap()).as_str());
            }
            "unswapped_v1" => {
                let plain = v1(Order::GuidBytes.undo(id.get()));
                assert_eq!(plain.time(), id.time(), "{case}");
                case.same(key, plain.to_string());
            }
            "node" => case.same(key, format!("{:012x}", id.field("node").unwrap())),
            _ => case.usual(key, scheme, id.raw(), &[]),
        }
    }
}

pub(super) fn java(case: &Case<'_>) {
    let sign = |ordering: Ordering| match ordering {
        Ordering::Less => -1,
        Ordering::Equal => 0,
        Ordering::Greater => 1,
    };
    match case.kind {
        "compare" | "hard" if case.input.is_array() => {
            let list = uuids(case.input);
            for key in case.expect.keys() {
                match key.as_str() {
                    "java_compareTo" => {
                        let (a, b) = (Order::Java.apply(list[0]), Order::Java.apply(list[1]));
                        case.same(key, sign(a.cmp(&b)));
                    }
                    "unsigned_or_text" | "text" => case.same(key, sign(list[0].cmp(&list[1]))),
                    _ => case.other(key),
                }
            }
        }
        "sort_order" => {
            let found =
                if is_sorted(Order::Java, &uuids(case.input)) { "ascending as listed" } else { "else" };
            for key in case.expect.keys() {
                match key.as_str() {
                    // QuestDB compared as Java does, until it was mended.
                    "java" | "questdb_before_fix" => case.same(key, found),
                    _ => case.other(key),
                }
            }
        }
        "hard" => {
            for key in case.expect.keys() {
                match key.as_str() {
                    // Until the first digit is 8, and whatever stands behind the time.
                    "v7_ok" => {
                        let id = |ms: u128, rest: u128| UuidV7::SCHEME.pack(&[ms, 7, rest, 0b10, rest]);
                        let last = (1 << 47) - 1;
                        let moments = [0, 1, 1_795_996_800_000, last - 1, last];
                        let ids = moments.into_iter().zip([0xfff, 0, 0xabc, 0xfff, 0]);
                        let ids: Vec<u128> = ids.map(|(ms, rest)| id(ms, rest).unwrap().low()).collect();
                        let after = id(last + 1, 0).unwrap().low();
                        let is_ok = is_sorted(Order::Java, &ids) && !is_sorted(Order::Java, &[ids[0], after]);
                        case.same(key, is_ok);
                    }
                    _ => case.other(key),
                }
            }
        }
        _ => case.unknown(),
    }
}
