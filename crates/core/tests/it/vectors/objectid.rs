//! ObjectIds.

use super::{Case, field, low_bytes, time, unhex};
use mintage::ObjectId;
use serde_json::Value;

/// Where an id lies in a BSON document of one element with a name of one letter: behind length, type and name.
const IN_BSON: usize = 4 + 1 + 2;

pub(super) fn run(case: &Case<'_>) {
    match case.kind {
        "decode" | "bson" | "boundary_2038" | "boundary_max" => decode(case),
        "parse_err" => case.fails("error", ObjectId::parse(case.text())),
        // A document that ends inside the id: too few bytes are left for it.
        "bson_err" => {
            let document = unhex(case.text());
            case.fails("error", ObjectId::from_bytes(&document[IN_BSON..]));
        }
        "extjson" => {
            let document: Value = serde_json::from_str(case.text()).unwrap();
            let id = ObjectId::parse(document["$oid"].as_str().unwrap()).unwrap();
            case.same("hex", id.to_string());
        }
        "hard" => hard(case),
        _ => case.unknown(),
    }
}

fn decode(case: &Case<'_>) {
    let id = ObjectId::parse(case.text()).unwrap();
    assert_eq!(id.to_string(), case.text());
    for key in case.expect.keys() {
        match key.as_str() {
            "unix_s" => case.same(key, i64::try_from(id.time().unwrap().0 / 1_000_000_000).unwrap()),
            "time" => case.same(key, time(ObjectId::SCHEME, id.raw())),
            "random5" => case.same_hex(key, &low_bytes(id.field("random").unwrap(), 40)),
            "counter" => case.same(key, field(ObjectId::SCHEME, id.raw(), "counter")),
            "bson_doc_hex" => {
                // Length, type 7, the name "a", the id, and the end of the document.
                let document = [&[20, 0, 0, 0, 7, b'a', 0], &id.to_bytes()[..], &[0]].concat();
                case.same_hex(key, &document);
            }
            _ => case.other(key),
        }
    }
}

fn hard(case: &Case<'_>) {
    for key in case.expect.keys() {
        match key.as_str() {
            "error_as_objectid" => case.fails(key, ObjectId::parse(case.text())),
            "special" => case.special(case.read(ObjectId::SCHEME), 96),
            _ => case.other(key),
        }
    }
}
