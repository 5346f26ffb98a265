//! Ids in JSON and in Postcard, a binary format.

use mintage::{Ksuid, ObjectId, SnowflakeDiscord, SnowflakeTwitter, Ulid, UuidV4, UuidV7};
use std::collections::BTreeMap;

type Row = (SnowflakeTwitter, UuidV7, ObjectId, Ksuid);

fn row() -> Row {
    (
        "1050118621198921728".parse().unwrap(),
        "017f22e2-79b0-7cc3-98c4-dc0c0c07398f".parse().unwrap(),
        "507c7f79bcf86cd7994f6c0e".parse().unwrap(),
        "0ujtsYcgvSTl8PAuAdqWYSMnLOv".parse().unwrap(),
    )
}

#[test]
fn json_has_the_canonical_text() {
    let json = serde_json::to_string(&row()).unwrap();
    assert_eq!(
        json,
        r#"["1050118621198921728","017f22e2-79b0-7cc3-98c4-dc0c0c07398f","507c7f79bcf86cd7994f6c0e","0ujtsYcgvSTl8PAuAdqWYSMnLOv"]"#
    );
    assert_eq!(serde_json::from_str::<Row>(&json).unwrap(), row());
    assert_eq!(serde_json::from_value::<Row>(serde_json::to_value(row()).unwrap()).unwrap(), row());
    assert_eq!(serde_json::from_reader::<_, Row>(json.as_bytes()).unwrap(), row());
}

#[test]
fn ids_are_keys_of_maps_and_may_be_absent() {
    let (tweet, uuid, ..) = row();
    let map = BTreeMap::from([(tweet, Some(uuid)), ("7".parse().unwrap(), None)]);
    let json = serde_json::to_string(&map).unwrap();
    assert_eq!(json, r#"{"7":null,"1050118621198921728":"017f22e2-79b0-7cc3-98c4-dc0c0c07398f"}"#);
    assert_eq!(serde_json::from_str::<BTreeMap<SnowflakeTwitter, Option<UuidV7>>>(&json).unwrap(), map);
}

#[test]
fn a_number_is_refused_with_the_reason() {
    for json in ["1050118621198921728", "7", "-7", "1.0", "1e18"] {
        let error = serde_json::from_str::<SnowflakeTwitter>(json).unwrap_err().to_string();
        assert!(
            error.contains("a snowflake-twitter id as a string, since JSON numbers above 2^53 lose digits"),
            "{json}: {error}"
        );
    }
    let error = serde_json::from_str::<UuidV7>("7").unwrap_err().to_string();
    assert!(error.starts_with("invalid type: integer `7`, expected a uuid-v7 id as a string at"), "{error}");
    assert!(serde_json::from_str::<Ulid>("null").is_err());
    assert!(serde_json::from_str::<SnowflakeDiscord>("[1]").is_err());
}

#[test]
fn errors_of_the_text_come_through() {
    let error = |json| serde_json::from_str::<Ulid>(json).unwrap_err().to_string();
    assert!(error(r#""01ARZ3NDEKTSV4RRFFQ69G5FAU""#).starts_with("ulid: `U` at character 26 is not"));
    assert!(error(r#""""#).starts_with("ulid: 0 characters given, 26 expected"));
    assert!(error(r#""80000000000000000000000000""#).starts_with("ulid: above the largest id"));
    let error = serde_json::from_str::<UuidV7>(r#""919108f7-52d1-4320-9bac-f847db4148a8""#).unwrap_err();
    assert!(error.to_string().starts_with("uuid-v7: field ver is 4, 7 expected"), "{error}");
    assert!(serde_json::from_str::<SnowflakeTwitter>(r#"" 7""#).is_err());
    assert!(serde_json::from_str::<SnowflakeTwitter>(r#""007""#).is_err());
    // An escape in the string: no borrowed text, the same id.
    assert!(serde_json::from_str::<SnowflakeTwitter>(r#""\u0037""#).is_ok());
}

#[test]
fn binary_formats_have_the_big_endian_bytes() {
    let bytes = postcard::to_allocvec(&row()).unwrap();
    let (tweet, uuid, object, ksuid) = row();
    let mut expected = Vec::new();
    // Postcard writes a length before bytes.
    for id in [&tweet.to_bytes()[..], &uuid.to_bytes()[..], &object.to_bytes()[..], &ksuid.to_bytes()[..]] {
        expected.push(u8::try_from(id.len()).unwrap());
        expected.extend_from_slice(id);
    }
    assert_eq!(bytes, expected);
    assert_eq!(postcard::from_bytes::<Row>(&bytes).unwrap(), row());
}

#[test]
fn bytes_of_another_length_or_kind_are_refused() {
    let uuid: UuidV4 = "919108f7-52d1-4320-9bac-f847db4148a8".parse().unwrap();
    let bytes = postcard::to_allocvec(&uuid).unwrap();
    assert!(postcard::from_bytes::<UuidV4>(&bytes).is_ok());
    assert!(postcard::from_bytes::<UuidV7>(&bytes).is_err());
    assert!(postcard::from_bytes::<Ksuid>(&bytes).is_err());
    assert!(postcard::from_bytes::<UuidV4>(&bytes[..16]).is_err());
    assert!(postcard::from_bytes::<SnowflakeTwitter>(&[8, 0x80, 0, 0, 0, 0, 0, 0, 0]).is_err());
}
