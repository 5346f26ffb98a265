//! `mintage convert`.

use crate::{lines, mintage, mintage_reading, refusal};

fn convert(id: &str, to: &str) -> String {
    lines(&["convert", id, "--to", to]).remove(0)
}

fn convert_from(id: &str, from: &str, to: &str) -> String {
    lines(&["convert", id, "--from", from, "--to", to]).remove(0)
}

#[test]
fn uuids_in_fewer_characters() {
    let uuid = "017f22e2-79b0-7cc3-98c4-dc0c0c07398f";
    for (form, text) in [
        ("base64url", "AX8i4nmwfMOYxNwMDAc5jw"),
        ("base62", "02p5oQZoHTv0zeY5yG21K3"),
        ("base58", "1BihbxwwQ4NZZpKRH9JDCz"),
        ("base58-flickr", "1bHGAXWWp4nyyPjqh9idcZ"),
        ("simple", "017f22e279b07cc398c4dc0c0c07398f"),
        ("urn", "urn:uuid:017f22e2-79b0-7cc3-98c4-dc0c0c07398f"),
    ] {
        assert_eq!(convert(uuid, form), text, "{form}");
        assert_eq!(convert_from(text, form, "hyphenated"), uuid, "{form}");
    }
}

#[test]
fn byte_orders_and_back() {
    let uuid = "6ccd780c-baba-1026-9564-5b8c656024db";
    for order in ["mysql-swapped", "guid-bytes", "sqlserver-order", "java-order"] {
        let stored = convert(uuid, order);
        assert_eq!(convert_from(&stored, order, "hyphenated"), uuid, "{order}");
    }
    assert_eq!(convert(uuid, "mysql-swapped"), "1026baba6ccd780c95645b8c656024db");
    assert_eq!(
        convert("c232ab00-9414-11ec-b3c8-9f6bdeced846", "uuid-v6"),
        "1ec9414c-232a-6b00-b3c8-9f6bdeced846"
    );
    assert_eq!(
        convert("1ec9414c-232a-6b00-b3c8-9f6bdeced846", "uuid-v1"),
        "c232ab00-9414-11ec-b3c8-9f6bdeced846"
    );
}

#[test]
fn crockford_with_and_without_its_check_symbol() {
    assert_eq!(convert_from("16J", "crockford32", "decimal"), "1234");
    assert_eq!(convert_from("i6j", "crockford32", "decimal"), "1234");
    assert_eq!(convert_from("16JD", "crockford32-check", "decimal"), "1234");
    assert_eq!(convert_from("14U", "crockford32-check", "decimal"), "36");
    let wrong = mintage(&["convert", "16JE", "--from", "crockford32-check", "--to", "decimal"]);
    assert_eq!(wrong.status.code(), Some(1));
    assert!(String::from_utf8(wrong.stderr).unwrap().contains("check symbol"));
}

#[test]
fn text_of_one_width_sorts_as_the_number() {
    let numbers = ["1", "99", "1050118621198921728", "9223372036854775807", "18446744073709551615"];
    for form in ["hex", "decimal-fixed", "crockford32", "base36", "base58", "base62"] {
        let texts: Vec<String> = numbers.iter().map(|n| convert_from(n, "decimal", form)).collect();
        assert!(texts.is_sorted(), "{form}: {texts:?}");
        for (text, number) in texts.iter().zip(numbers) {
            assert_eq!(convert_from(text, form, "decimal"), number, "{form}");
        }
    }
}

#[test]
fn what_cannot_be_converted_is_told_line_by_line() {
    let input = b"01ARZ3NDEKTSV4RRFFQ69G5FAV\nnot an id\n";
    let output = mintage_reading(&["convert", "-", "--to", "hyphenated"], input);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "01563e3a-b5d3-d676-4c61-efb99302bd5b\n\n");
    assert!(String::from_utf8(output.stderr).unwrap().contains("line 2"));
    let (code, error) = refusal(&["convert", "1", "--to", "bas62"]);
    assert_eq!(code, 2);
    assert!(error.contains("`base62`"), "{error}");
    assert_eq!(refusal(&["convert", "1", "--from", "ulidd", "--to", "hex"]).0, 2);
}
