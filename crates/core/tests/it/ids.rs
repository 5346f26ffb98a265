//! Typed ids as plain values.

use mintage::{
    Error, Id, Ksuid, ObjectId, SnowflakeDiscord, SnowflakeTwitter, SonyflakeV1, StaticScheme, Ulid, UuidNil,
    UuidV4, UuidV7,
};
use std::collections::{BTreeSet, HashSet};
use std::hash::{BuildHasher, RandomState};

/// Read when compiling: a wrong text wouldn't compile.
const FIRST: Ulid = parsed(Ulid::parse("01ARZ3NDEKTSV4RRFFQ69G5FAV"));
const TWEET: SnowflakeTwitter = parsed(SnowflakeTwitter::parse("1050118621198921728"));
const LAST: Ksuid = parsed(Ksuid::parse("aWgEPTl1tmebfsQzFP4bxwgy80V"));
static OBJECT: ObjectId = parsed(ObjectId::parse("507c7f79bcf86cd7994f6c0e"));

const fn parsed<S: StaticScheme>(id: Result<Id<S>, Error>) -> Id<S> {
    match id {
        Ok(id) => id,
        Err(_) => panic!("not an id"),
    }
}

#[test]
fn constants_are_the_ids_that_their_text_says() {
    assert_eq!(FIRST.get(), 0x0156_3e3a_b5d3_d676_4c61_efb9_9302_bd5b);
    assert_eq!(TWEET.get(), 1_050_118_621_198_921_728);
    assert_eq!(LAST.get(), [0xff; 20]);
    assert_eq!(OBJECT.field("counter"), Some(5_205_006));
}

#[test]
fn an_id_is_its_number_and_nothing_else() {
    assert_eq!(size_of::<SnowflakeTwitter>(), 8);
    assert_eq!(size_of::<SonyflakeV1>(), 8);
    assert_eq!(size_of::<UuidV7>(), 16);
    assert_eq!(size_of::<Ulid>(), 16);
    assert_eq!(size_of::<ObjectId>(), 12);
    assert_eq!(size_of::<Ksuid>(), 20);
    assert_eq!(align_of::<ObjectId>(), 1);
}

#[test]
fn ids_are_copied_and_sent_between_threads() {
    fn is_plain<T: Copy + Send + Sync + 'static + std::hash::Hash + Ord>(_: T) {}
    let id = FIRST;
    is_plain(id);
    is_plain(TWEET);
    is_plain(LAST);
    assert_eq!(std::thread::spawn(move || id).join().unwrap(), id);
}

#[test]
fn order_is_that_of_the_bytes_and_of_the_time() {
    let texts = ["01ARYZ6S410000000000000000", "01ARYZ6S41TSV4RRFFQ69G5FAV", "01ARZ3NDEKTSV4RRFFQ69G5FAV"];
    let ids: BTreeSet<Ulid> = texts.iter().rev().map(|text| text.parse().unwrap()).collect();
    assert_eq!(ids.iter().map(ToString::to_string).collect::<Vec<_>>(), texts);
    let bytes: Vec<_> = ids.iter().map(|id| id.to_bytes()).collect();
    assert!(bytes.is_sorted());
    assert!(ids.iter().map(|id| id.time()).is_sorted());
    // Numbers of 64 bits sort as numbers, though their text doesn't.
    let (small, large) = (SnowflakeTwitter::parse("9").unwrap(), SnowflakeTwitter::parse("10").unwrap());
    assert!(small < large && small.to_string() > large.to_string());
}

#[test]
fn equal_ids_have_equal_hashes_however_they_were_spelled() {
    let forms = [
        "919108f7-52d1-4320-9bac-f847db4148a8",
        "919108F7-52D1-4320-9BAC-F847DB4148A8",
        "919108f752d143209bacf847db4148a8",
        "urn:uuid:919108f7-52d1-4320-9bac-f847db4148a8",
        "{919108f7-52d1-4320-9bac-f847db4148a8}",
    ];
    let ids: HashSet<UuidV4> = forms.iter().map(|text| text.parse().unwrap()).collect();
    assert_eq!(ids.len(), 1);
    let hasher = RandomState::new();
    let [a, b] = [forms[0], forms[2]].map(|text| hasher.hash_one(UuidV4::parse(text).unwrap()));
    assert_eq!(a, b);
}

#[test]
fn debug_names_the_scheme_and_display_pads() {
    assert_eq!(format!("{FIRST:?}"), "ulid(01ARZ3NDEKTSV4RRFFQ69G5FAV)");
    assert_eq!(format!("{TWEET:?}"), "snowflake-twitter(1050118621198921728)");
    assert_eq!(format!("{TWEET:>25}|"), "      1050118621198921728|");
    assert_eq!(format!("{:<30}|", FIRST), "01ARZ3NDEKTSV4RRFFQ69G5FAV    |");
}

#[test]
fn an_id_of_another_kind_is_refused_with_the_field_that_says_so() {
    let error = UuidV7::parse("919108f7-52d1-4320-9bac-f847db4148a8").unwrap_err();
    assert_eq!(error, Error::FixedField { scheme: "uuid-v7", field: "ver", found: 4, expected: 7 });
    assert_eq!(error.to_string(), "uuid-v7: field ver is 4, 7 expected: an id of another kind");
    // Discord uses the bit that Twitter keeps zero.
    assert!(SnowflakeDiscord::parse("18446744073709551615").is_ok());
    assert!(SnowflakeTwitter::parse("18446744073709551615").is_err());
    assert!(UuidNil::parse("00000000-0000-0000-0000-000000000000").is_ok());
    assert!(UuidNil::parse("00000000-0000-0000-0000-000000000001").is_err());
    assert_eq!(
        UuidV7::from_bytes(&[0; 15]),
        Err(Error::Bytes { scheme: "uuid-v7", found: 15, expected: 16 })
    );
}

#[test]
fn bytes_of_any_width_round_trip() {
    fn check<S: StaticScheme>() {
        for (text, _) in S::SCHEME.vectors {
            let id: Id<S> = text.parse().unwrap();
            assert_eq!(Id::from_bytes(id.to_bytes().as_ref()), Ok(id), "{id:?}");
            assert_eq!(Id::from_raw(id.raw()), Ok(id));
        }
    }
    check::<mintage::schemes::snowflake_twitter::SnowflakeTwitterScheme>();
    check::<mintage::schemes::cosid_string::CosidStringScheme>(); // 80 bits
    check::<mintage::schemes::objectid::ObjectIdScheme>(); // 96
    check::<mintage::schemes::firebase_pushid::FirebasePushidScheme>(); // 120
    check::<mintage::schemes::elasticsearch_id::ElasticsearchIdScheme>(); // 120, shuffled
    check::<mintage::schemes::cuid2::Cuid2Scheme>(); // 125
    check::<mintage::schemes::nanoid::NanoidScheme>(); // 126
    check::<mintage::schemes::uuid_v7::UuidV7Scheme>(); // 128
    check::<mintage::schemes::ksuid::KsuidScheme>(); // 160
}

#[test]
fn fields_add_up_to_the_id() {
    let values: Vec<u128> = TWEET.fields().map(|(_, value)| value).collect();
    assert_eq!(values, [0, 250_367_789_554, 10, 27, 0]);
    assert_eq!(SnowflakeTwitter::SCHEME.layout.pack(&values), Ok(TWEET.raw()));
    assert_eq!(TWEET.field("no such field"), None);
}
