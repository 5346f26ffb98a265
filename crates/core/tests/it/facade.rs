//! Facades against published cases: every kind of case in `src/facade/vectors/`, and our own, which never change.

use aes::{Aes128Enc, Aes256Enc};
use fpe::ff1::{FF1, FlexibleNumeralString};
use mintage::error::FacadeFault;
use mintage::facade::{Alphabet, Domain, Facade, Ff1, KINDS, Key, Permute, Secret, Uuid47};
use mintage::{Error, UnixNanos, UuidV4, UuidV7};
use serde_json::Value;
use sha1::Digest;

const FF1_CASES: &str = include_str!("../../src/facade/vectors/ff1.json");
const PERMUTE_CASES: &str = include_str!("../../src/facade/vectors/permute_v1.json");
const SIPHASH_CASES: &str = include_str!("../../src/facade/vectors/siphash24.json");
const UUID47_CASES: &str = include_str!("../../src/facade/vectors/uuidv47.json");

/// Runs `run` on each case with its kind, `hard` for hard cases; the number of cases.
fn each_case(document: &str, run: impl Fn(&str, &Value, &Value)) -> usize {
    let document: Value = serde_json::from_str(document).expect("JSON");
    let of = |name: &str| document[name].as_array().cloned().unwrap_or_default();
    let (cases, hard) = (of("cases"), of("hard_cases"));
    for case in cases.iter().chain(&hard) {
        let kind = case.get("kind").map_or("hard", |kind| kind.as_str().expect("a kind is text"));
        println!("{kind} {}", case["input"]);
        run(kind, &case["input"], &case["expect"]);
    }
    cases.len() + hard.len()
}

/// Calls `check` for each expected value, so that none is passed over.
fn each_expected(expect: &Value, mut check: impl FnMut(&str, &Value)) {
    for (name, value) in expect.as_object().expect("an object of expected values") {
        check(name, value);
    }
}

fn text(value: &Value) -> &str {
    value.as_str().expect("text")
}

fn bytes(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).expect("hex")).collect()
}

fn word(hex: &Value) -> u64 {
    u64::from_str_radix(text(hex).trim_start_matches("0x"), 16).expect("a number in hex")
}

fn alphabet(radix: u64) -> Alphabet {
    let mut all = Alphabet::ALL.into_iter();
    all.rfind(|alphabet| u64::from(alphabet.radix()) == radix).expect("an alphabet of this radix")
}

#[test]
fn ff1_gives_the_samples_of_the_standard() {
    let cases = each_case(FF1_CASES, |kind, input, expect| match kind {
        "ff1" | "ff1_derived" => {
            let (key, tweak) = (bytes(text(&input["key"])), bytes(text(&input["tweak"])));
            let (plain, cipher) = (text(&input["plaintext"]), text(&expect["ciphertext"]));
            let alphabet = alphabet(input["radix"].as_u64().expect("a radix"));
            let len = u32::try_from(plain.len()).expect("a length");
            match Ff1::new(&key, &tweak, alphabet, len) {
                Ok(ff1) => {
                    assert_eq!(ff1.encode(plain).as_deref(), Ok(cipher));
                    assert_eq!(ff1.decode(cipher).as_deref(), Ok(plain));
                }
                // Revision 1 of the standard refuses what 2 digits to the power of 8 are.
                Err(Error::Facade { fault: FacadeFault::DomainSmall { least: 20, .. }, .. }) => {
                    assert_eq!((alphabet, len), (Alphabet::Binary, 8));
                }
                // Wider than an id; the crate underneath has it right.
                Err(Error::Facade { fault: FacadeFault::DomainWide { most: 36, .. }, .. }) => {
                    assert_eq!(len, 128);
                    assert_eq!(crate_alone(&key, &tweak, plain), cipher);
                }
                Err(other) => panic!("{other}"),
            }
        }
        "hard" => each_expected(expect, |name, value| match name {
            // A facade of 19 decimal digits can be above what BIGINT holds; one of u63 can't.
            "i64_overflow_possible" => {
                let ff1 = Ff1::new(&[0; 16], b"", Alphabet::Decimal, 19).unwrap();
                let is_above = |id: u64| ff1.encode(&format!("{id:019}")).unwrap().parse::<i64>().is_err();
                assert_eq!(Value::from((0..200).any(is_above)), *value);
                let permute = Permute::new(&[0; 32], Domain::U63).unwrap();
                assert!((0..200).all(|id| i64::try_from(permute.encode(id).unwrap()).is_ok()));
            }
            // Leading zeros are digits.
            "length" => {
                let id = text(input);
                let ff1 = Ff1::new(&[0; 16], b"", Alphabet::Decimal, 10).unwrap();
                let facade = ff1.encode(id).unwrap();
                assert_eq!(Value::from(facade.len()), *value);
                assert_eq!(ff1.decode(&facade).as_deref(), Ok(id));
                assert!(ff1.encode(id.trim_start_matches('0')).is_err());
            }
            _ => panic!("{name} is checked nowhere"),
        }),
        _ => panic!("a kind that no test knows"),
    });
    assert_eq!(cases, 18);
    // Sample 2 of the standard, which the file lacks.
    let (key, tweak) = (bytes("2b7e151628aed2a6abf7158809cf4f3c"), bytes("39383736353433323130"));
    let ff1 = Ff1::new(&key, &tweak, Alphabet::Decimal, 10).unwrap();
    assert_eq!(ff1.encode("0123456789").as_deref(), Ok("6124200773"));
}

/// FF1 by the crate `fpe` over its own big integers, radix 36.
fn crate_alone(key: &[u8], tweak: &[u8], plain: &str) -> String {
    let digits: Vec<u16> =
        plain.chars().map(|c| u16::try_from(c.to_digit(36).expect("a digit")).expect("small")).collect();
    let string = FlexibleNumeralString::from(digits);
    let cipher = match key.len() {
        16 => FF1::<Aes128Enc>::new(key, 36).expect("a radix").encrypt(tweak, &string),
        _ => FF1::<Aes256Enc>::new(key, 36).expect("a radix").encrypt(tweak, &string),
    };
    let digits = Vec::<u16>::from(cipher.expect("a string of this radix"));
    digits.into_iter().map(|digit| char::from_digit(digit.into(), 36).expect("a digit")).collect()
}

#[test]
fn permutations_give_our_published_numbers() {
    let cases = each_case(PERMUTE_CASES, |kind, input, expect| {
        assert_eq!(kind, "permute", "a kind that no test knows");
        let key: [u8; 32] = bytes(text(&input["key"])).try_into().unwrap();
        let permute = Permute::new(&key, text(&input["domain"]).parse().unwrap()).unwrap();
        let id = text(&input["id"]);
        each_expected(expect, |name, facade| {
            assert_eq!(name, "facade", "checked nowhere");
            assert_eq!(permute.encode_text(id).as_deref(), Ok(text(facade)));
            assert_eq!(permute.decode_text(text(facade)).as_deref(), Ok(id));
        });
    });
    assert_eq!(cases, 142);
}

#[test]
fn our_published_numbers_never_change() {
    // Where this fails, the file was changed, and every id that users published with version 1 would decode to another one. Undo
    // the change; a new rule is a new version, with a file of its own.
    let digest = sha1::Sha1::digest(PERMUTE_CASES);
    let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(hex, "322667615ed4fd1561aa241fc88d5d413f5d2501");
}

#[test]
fn the_crate_for_siphash_gives_the_reference_hashes() {
    use siphasher::sip::SipHasher24;
    let cases = each_case(SIPHASH_CASES, |kind, input, expect| match kind {
        "siphash24" => {
            let key: [u8; 16] = bytes(text(&input["key_hex"])).try_into().unwrap();
            let message: Vec<u8> =
                (0..input["length"].as_u64().unwrap()).map(|i| u8::try_from(i).unwrap()).collect();
            let hash = SipHasher24::new_with_key(&key).hash(&message);
            each_expected(expect, |name, value| match name {
                "output_u64" => assert_eq!(hash, word(value)),
                "output_le_bytes" => assert_eq!(hash.to_le_bytes().to_vec(), bytes(text(value))),
                _ => panic!("{name} is checked nowhere"),
            });
        }
        "hard" => {
            let key: [u8; 16] = std::array::from_fn(|i| u8::try_from(i).unwrap());
            let halves = SipHasher24::new_with_keys(word(&expect["k0"]), word(&expect["k1"]));
            assert_eq!(expect.as_object().unwrap().len(), 2, "an expected value that is checked nowhere");
            assert_eq!(SipHasher24::new_with_key(&key).hash(b"x"), halves.hash(b"x"));
        }
        _ => panic!("a kind that no test knows"),
    });
    assert_eq!(cases, 54);
}

/// The key of the C examples.
fn c_example() -> Uuid47 {
    Uuid47::from_words(0x0123_4567_89ab_cdef, 0xfedc_ba98_7654_3210)
}

#[test]
fn uuid47_gives_the_bytes_of_the_reference() {
    let cases = each_case(UUID47_CASES, |kind, input, expect| match kind {
        "encode_decode" => {
            let mask = Uuid47::from_words(word(&input["k0"]), word(&input["k1"]));
            let id: UuidV7 = text(&input["uuid_v7"]).parse().unwrap();
            let facade = mask.encode(id);
            each_expected(expect, |name, value| match name {
                "facade_v4" => {
                    assert_eq!(facade.to_string(), text(value));
                    assert_eq!(mask.decode(facade), id);
                    assert_eq!(mask.decode_text(text(value)).unwrap(), id.to_string());
                }
                "wrong_key_decode" => {
                    let wrong = Uuid47::from_words(word(&expect["wrong_k0"]), word(&expect["wrong_k1"]));
                    assert_eq!(wrong.decode(facade).to_string(), text(value));
                }
                "wrong_k0" | "wrong_k1" => assert!(expect["wrong_key_decode"].is_string()),
                _ => panic!("{name} is checked nowhere"),
            });
        }
        "sip_input" => {
            let id: UuidV7 = text(input).parse().unwrap();
            each_expected(expect, |name, value| match name {
                "facade_v4" => assert_eq!(c_example().encode(id).to_string(), text(value)),
                // The message is what SipHash sees: with it, the mask can be computed from outside.
                "message_hex" => {
                    let hash = siphasher::sip::SipHasher24::new_with_keys(
                        0x0123_4567_89ab_cdef,
                        0xfedc_ba98_7654_3210,
                    )
                    .hash(&bytes(text(value)));
                    let masked = (c_example().encode(id).get() ^ id.get()) >> 80;
                    assert_eq!(masked, u128::from(hash & 0xffff_ffff_ffff));
                }
                _ => panic!("{name} is checked nowhere"),
            });
        }
        "key_bytes" => {
            let from_bytes = Uuid47::new(&bytes(text(input)).try_into().unwrap());
            let from_words = Uuid47::from_words(word(&expect["k0"]), word(&expect["k1"]));
            each_expected(expect, |name, _| {
                assert!(["k0", "k1", "note"].contains(&name), "{name} is checked nowhere")
            });
            let id: UuidV7 = "017f22e2-79b0-7cc3-98c4-dc0c0c07398f".parse().unwrap();
            assert_eq!(from_bytes.encode(id), from_words.encode(id));
        }
        "err" => {
            assert_eq!(expect["error"], "parse");
            assert!(c_example().encode_text(text(input)).is_err());
            assert!(c_example().decode_text(text(input)).is_err());
        }
        "hard" => each_expected(expect, |name, value| match name {
            "k0_c" => assert_eq!(word(value), u64::from_str_radix(&text(input)[..16], 16).unwrap()),
            // PostgreSQL takes the same digits for bytes, and SipHash takes bytes for little-endian numbers.
            "k0_pg" => {
                let half: [u8; 8] = bytes(&text(input)[..16]).try_into().unwrap();
                assert_eq!(word(value), u64::from_le_bytes(half));
            }
            "facade_pg" => {
                let key = bytes(&text(input).replace(':', "")).try_into().unwrap();
                let id: UuidV7 = "018f2d9f-9a2a-7def-8c3f-7b1a2c4d5e6f".parse().unwrap();
                assert_eq!(Uuid47::new(&key).encode(id).to_string(), text(value));
                assert_ne!(c_example().encode(id).to_string(), text(value));
            }
            "decoded" => assert_eq!(c_example().decode_text(text(input)).as_deref(), Ok(text(value))),
            // What the reference does and we refuse: ids that it can't give back.
            "reference_encodes_anyway" => {
                let error = c_example().encode_text(text(input)).unwrap_err();
                assert!(matches!(error, Error::FixedField { field: "ver", .. }), "{error}");
            }
            "decoded_c_key" => {
                let error = c_example().decode_text(text(input)).unwrap_err();
                assert!(matches!(error, Error::FixedField { field: "var", .. }), "{error}");
            }
            _ => panic!("{name} is checked nowhere"),
        }),
        _ => panic!("a kind that no test knows"),
    });
    assert_eq!(cases, 23);
}

#[test]
fn the_list_of_kinds_is_whole() {
    let created = UnixNanos::from_secs(1_800_000_000);
    for kind in KINDS {
        assert_eq!(mintage::facade::Kind::by_name(kind.name).unwrap().name, kind.name);
        for length in 0..40 {
            let domain =
                kind.default_domain.unwrap_or(Domain::Digits { alphabet: Alphabet::Decimal, len: 10 });
            let key = Key::new("k1", kind, domain, created, Secret::new(&vec![7; length]));
            assert_eq!(key.is_ok(), kind.key_bytes.contains(&length), "{} {length}", kind.name);
        }
        for facts in [kind.summary, kind.source, kind.domains, kind.hides, kind.from, kind.not] {
            assert!(!facts.is_empty() && !facts.ends_with('.'), "{}: {facts}", kind.name);
        }
    }
    assert!(mintage::facade::Kind::by_name("rot13").is_err());
}

#[test]
fn a_wrong_key_decodes_silently() {
    let (right, wrong) =
        (Permute::new(&[1; 32], Domain::U63).unwrap(), Permute::new(&[2; 32], Domain::U63).unwrap());
    let facade = right.encode(42).unwrap();
    assert_ne!(wrong.decode(facade).unwrap(), 42);
    let (right, wrong) = (Uuid47::new(&[1; 16]), Uuid47::new(&[2; 16]));
    let id: UuidV7 = "017f22e2-79b0-7cc3-98c4-dc0c0c07398f".parse().unwrap();
    let facade: UuidV4 = right.encode(id);
    assert_ne!(wrong.decode(facade), id);
}
