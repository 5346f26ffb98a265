//! What others put between an internal number and strangers. No facade is made of them, for the reasons that docs/facades.md gives;
//! the published cases are kept as the facts behind these reasons: two of them need no key to undo, one leaks its key at zero.

use super::Case;
use serde_json::Value;
use speck_cipher::cipher::{BlockCipherDecrypt, BlockCipherEncrypt, KeyInit};

/// The largest number of Optimus: 31 bits.
const OPTIMUS_MAX: u64 = (1 << 31) - 1;

/// Knuth's multiplicative hash with an exclusive or behind it. Source: jenssegers/optimus.
pub(super) fn optimus(case: &Case<'_>) {
    if case.kind == "hard" {
        return match case.input.as_u64() {
            Some(0) => case.same("encoded", encode_optimus(0, 1_580_030_173, 1_163_945_558)),
            Some(above) => case.same("error", above > OPTIMUS_MAX),
            None => case.unknown(),
        };
    }
    let number = |key| case.number(key);
    let encoded = encode_optimus(number("value"), number("prime"), number("random"));
    case.same("encoded", encoded);
    let decoded = ((encoded ^ number("random")) * number("inverse")) & OPTIMUS_MAX;
    assert_eq!(decoded, number("value"), "{case}");
    // Zero shows the secret number, whatever the prime.
    assert_eq!(encode_optimus(0, number("prime"), number("random")), number("random"), "{case}");
}

fn encode_optimus(value: u64, prime: u64, random: u64) -> u64 {
    ((value * prime) & OPTIMUS_MAX) ^ random
}

/// The `pseudo_encrypt` of the PostgreSQL wiki: three Feistel rounds without a key, so whoever knows the page undoes it.
pub(super) fn pseudo_encrypt(case: &Case<'_>) {
    match (case.kind, case.input.as_i64()) {
        ("pseudo_encrypt", Some(value)) => {
            let value = i32::try_from(value).unwrap();
            let encrypted = feistel(value);
            case.same("value", encrypted);
            assert_eq!(feistel(encrypted), value, "{case}: it undoes itself");
        }
        ("hard", _) => case.expect.iter().for_each(|(key, expected)| match key.as_str() {
            "involution" => {
                let undoes_itself = (0..1000).all(|value| feistel(feistel(value)) == value);
                assert_eq!(*expected, undoes_itself, "{case}");
            }
            _ => case.other(key),
        }),
        _ => case.unknown(),
    }
}

fn feistel(value: i32) -> i32 {
    let bits = value.cast_unsigned();
    let (mut left, mut right) = (bits >> 16, bits & 0xffff);
    for _ in 0..3 {
        let round = f64::from((1366 * right + 150_889) % 714_025) / 714_025.0 * 32_767.0;
        // PostgreSQL rounds half to even when it makes an integer of a float8.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and 32,767")]
        let mixed = left ^ round.round_ties_even() as u32;
        (left, right) = (right, mixed);
    }
    ((right << 16) + left).cast_signed()
}

/// Hashids: a shuffled alphabet, superseded by Sqids. Source: hashids.org.
pub(super) fn hashids(case: &Case<'_>) {
    let builder = |salt: &str| {
        let mut builder = harsh::Harsh::builder().salt(salt);
        if let Some(alphabet) = case.input.get("alphabet").and_then(Value::as_str) {
            builder = builder.alphabet(alphabet);
        }
        if let Some(length) = case.input.get("min_length").and_then(Value::as_u64) {
            builder = builder.length(usize::try_from(length).unwrap());
        }
        builder.build().unwrap()
    };
    match case.kind {
        "encode_decode" => {
            let numbers: Vec<u64> =
                case.input["numbers"].as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).collect();
            let ids = builder(case.part("salt"));
            let encoded = ids.encode(&numbers);
            assert_eq!(ids.decode(&encoded).unwrap(), numbers, "{case}");
            case.same("id", encoded);
        }
        "encode_hex" => case.same("id", builder(case.part("salt")).encode_hex(case.part("hex")).unwrap()),
        "hard" => {
            let found = builder("another salt").decode(case.text()).unwrap_or_default();
            case.same("numbers_wrong_salt", found);
        }
        _ => case.unknown(),
    }
}

/// Speck, by the crate that FF1 was weighed against for `permute`. Source: Beaulieu and others, The Simon and Speck Families.
pub(super) fn speck(case: &Case<'_>) {
    let bytes = |words: &Value| -> Vec<u8> {
        words.as_array().unwrap().iter().flat_map(|word| unhex(word.as_str().unwrap())).collect()
    };
    match case.kind {
        "speck" => {
            let key = bytes(&case.input["key_words_high_to_low"]);
            let encrypted = encrypt(case.part("variant"), &key, &bytes(&case.input["plaintext_x_y"]));
            let half = encrypted.len() / 2;
            let words = [super::hex(&encrypted[..half]), super::hex(&encrypted[half..])];
            case.same("ciphertext_x_y", words.to_vec());
        }
        "speck64_u64" => {
            let key = bytes(&case.input["key_words_high_to_low"]);
            let value: u64 = case.part("value").parse().unwrap();
            let encrypted = encrypt("64/128", &key, &value.to_be_bytes());
            case.same_hex("hex", &encrypted);
            let number = u64::from_be_bytes(encrypted.try_into().unwrap());
            case.same("encrypted", number.to_string());
        }
        "hard" => {
            // The same case as the paper's, in the byte order of the implementation guide: each word little-endian, low word first.
            let key = unhex("1b1a1918131211100b0a090803020100");
            let mut encrypted = encrypt("64/128", &key, &unhex("3b7265747475432d"));
            encrypted.reverse();
            case.same_hex("ct_bytes", &encrypted);
        }
        _ => case.unknown(),
    }
}

fn unhex(text: &str) -> Vec<u8> {
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
}

fn encrypt(variant: &str, key: &[u8], plain: &[u8]) -> Vec<u8> {
    fn with<C: KeyInit + BlockCipherEncrypt + BlockCipherDecrypt>(key: &[u8], plain: &[u8]) -> Vec<u8> {
        let cipher = C::new_from_slice(key).unwrap();
        let mut block = speck_cipher::cipher::Block::<C>::try_from(plain).unwrap();
        cipher.encrypt_block(&mut block);
        let encrypted = block.to_vec();
        cipher.decrypt_block(&mut block);
        assert_eq!(block.as_slice(), plain);
        encrypted
    }
    let run = match variant {
        "32/64" => with::<speck_cipher::Speck32_64>,
        "48/72" => with::<speck_cipher::Speck48_72>,
        "48/96" => with::<speck_cipher::Speck48_96>,
        "64/96" => with::<speck_cipher::Speck64_96>,
        "64/128" => with::<speck_cipher::Speck64_128>,
        "96/96" => with::<speck_cipher::Speck96_96>,
        "96/144" => with::<speck_cipher::Speck96_144>,
        "128/128" => with::<speck_cipher::Speck128_128>,
        "128/192" => with::<speck_cipher::Speck128_192>,
        "128/256" => with::<speck_cipher::Speck128_256>,
        other => panic!("{other} is no variant of Speck"),
    };
    run(key, plain)
}
