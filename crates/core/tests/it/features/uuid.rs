//! To and from `uuid::Uuid`.

use mintage::{Error, Ulid, UuidMax, UuidNil, UuidV1, UuidV4, UuidV5, UuidV7};
use uuid::Uuid;

#[test]
fn uuids_convert_both_ways() {
    let id: UuidV7 = "017f22e2-79b0-7cc3-98c4-dc0c0c07398f".parse().unwrap();
    let uuid = Uuid::from(id);
    assert_eq!(uuid.to_string(), id.to_string());
    assert_eq!((uuid.get_version_num(), uuid.get_variant()), (7, uuid::Variant::RFC4122));
    assert_eq!(UuidV7::try_from(uuid), Ok(id));
    assert_eq!(uuid.as_bytes(), &id.to_bytes());
    assert_eq!(Uuid::from(UuidNil::try_from(Uuid::nil()).unwrap()), Uuid::nil());
    assert_eq!(Uuid::from(UuidMax::try_from(Uuid::max()).unwrap()), Uuid::max());
}

#[test]
fn version_and_variant_are_checked() {
    let uuid = Uuid::from_u128(0x9191_08f7_52d1_4320_9bac_f847_db41_48a8);
    assert!(UuidV4::try_from(uuid).is_ok());
    assert_eq!(
        UuidV7::try_from(uuid),
        Err(Error::FixedField { scheme: "uuid-v7", field: "ver", found: 4, expected: 7 })
    );
    let microsoft = Uuid::from_u128(0x9191_08f7_52d1_4320_dbac_f847_db41_48a8);
    assert_eq!(
        UuidV4::try_from(microsoft),
        Err(Error::FixedField { scheme: "uuid-v4", field: "var", found: 3, expected: 2 })
    );
    assert!(UuidV1::try_from(Uuid::nil()).is_err());
}

#[test]
fn a_ulid_keeps_its_bits_and_takes_any() {
    let id: Ulid = "01ARYZ6S41TSV4RRFFQ69G5FAV".parse().unwrap();
    assert_eq!(Uuid::from(id).to_string(), "01563df3-6481-d676-4c61-efb99302bd5b");
    assert_eq!(Ulid::try_from(Uuid::from(id)), Ok(id));
    assert_eq!(Ulid::try_from(Uuid::max()).unwrap().to_string(), "7ZZZZZZZZZZZZZZZZZZZZZZZZZ");
}

#[test]
fn names_hash_to_the_published_ids() {
    let dns = mintage::rfc9562::namespace("dns").unwrap();
    let id = UuidV5::from_name(dns, b"www.example.com");
    assert_eq!(Uuid::from(id).to_string(), "2ed6657d-e927-568b-95e1-2665a8aea6a2");
    assert_eq!(Uuid::from(id).get_version_num(), 5);
}
