//! Every quick way gives what the plain one gives, for every form and every text.

use super::super::{BASE36_LOWER, BASE58, Base, DECIMAL_DIGITS, GENERAL_FORMS, Part, general_form};
use super::*;
use crate::SCHEMES;
use proptest::prelude::*;
use std::vec::Vec;

static BASE3: Base = Base::new("base3", "a base3 digit", "abc", true);
static BASE7: Base = Base::new("base7", "a base7 digit", "0123456", false);
static BASE16: Base = Base::new("base16", "a base16 digit", "ABCDEFGHIJKLMNOP", true);
static BASE94: Base = Base::new(
    "base94",
    "a printable character",
    "!\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~",
    false,
);

/// Every form of every scheme, with the bits of its ids; the general forms; and forms that nobody uses.
fn all_forms() -> Vec<(TextForm, u32)> {
    let mut forms = Vec::new();
    for scheme in SCHEMES {
        forms.extend(scheme.text.iter().map(|form| (**form, scheme.layout.bits())));
    }
    for bits in (1..=RawId::MAX_BITS).step_by(7).chain([64, 96, 126, 128, 160]) {
        forms.extend(GENERAL_FORMS.iter().map(|name| (general_form(name, bits).unwrap(), bits)));
    }
    for base in [&BASE3, &BASE7, &BASE16, &BASE94, &BASE58, &DECIMAL_DIGITS] {
        for bits in [1, 10, 31, 32, 33, 63, 64, 65, 101] {
            let form = TextForm::for_bits("odd", base, bits);
            let free = TextForm { is_fixed: false, ..form };
            forms.extend([(form, bits), (free, bits), (free, 160)]);
        }
    }
    let odd = TextForm::fixed("odd", &BASE36_LOWER, 12);
    forms.extend([
        (TextForm { least_first: 10, ..odd }, 60),
        (TextForm { prefix: "id-", suffix: "!", ..odd }, 60),
        (
            TextForm {
                groups: &[5, 7],
                parts: &[Part { bits: 20, len: 4 }, Part { bits: 41, len: 8 }],
                ..odd
            },
            61,
        ),
        // The groups, or the parts, aren't all digits.
        (TextForm { groups: &[5, 20], ..odd }, 60),
        (TextForm { parts: &[Part { bits: 20, len: 4 }], ..odd }, 60),
    ]);
    forms
}

fn any_form() -> impl Strategy<Value = (TextForm, u32)> {
    let forms = all_forms();
    (0..forms.len()).prop_map(move |at| forms[at])
}

/// Numbers of each length alike, also those around powers of two.
fn any_raw() -> impl Strategy<Value = RawId> {
    let near = prop_oneof![Just(0u128), Just(1), Just(u128::MAX), any::<u128>()];
    prop_oneof![
        (any::<u32>(), any::<u128>(), 0..=160_u32)
            .prop_map(|(high, low, cut)| RawId::from_parts(high, low).shifted_down(cut)),
        (0..160_u32, near).prop_map(|(bit, by)| {
            let power = RawId::ZERO.with_bits(bit, 1, 1);
            RawId::from_parts(power.high(), power.low().wrapping_add(by))
        }),
    ]
}

/// Checks all printers, and all readers of what they print and of what becomes of it.
fn check(form: &TextForm, bits: u32, raw: RawId, spoil: Option<(usize, char)>) -> Result<(), TestCaseError> {
    let way = form.way();
    let (plain, rest) = form.spell(raw);
    let mut text = plain.as_str().to_string();
    if rest == RawId::ZERO {
        prop_assert_eq!(form.print(raw).unwrap().to_string(), plain.to_string());
    } else {
        prop_assert!(form.print(raw).is_err());
    }
    for is_const in [true, false] {
        let mut out = [b'?'; MAX_TEXT];
        let write = if is_const { TextForm::write_const } else { TextForm::write };
        let len = write(form, way, raw, &mut out);
        if rest == RawId::ZERO && way != Way::Plain {
            prop_assert_eq!(core::str::from_utf8(&out[..len]), Ok(plain.as_str()));
        } else {
            prop_assert_eq!(len, 0);
        }
    }
    let mut lines = String::from("before\n");
    prop_assert_eq!(form.print_lines([raw, raw], &mut lines).is_ok(), rest == RawId::ZERO);
    let expected = if rest == RawId::ZERO { format!("before\n{text}\n{text}\n") } else { "before\n".into() };
    prop_assert_eq!(lines, expected);
    if let Some((at, with)) = spoil {
        let mut chars: Vec<char> = text.chars().collect();
        let at = at % chars.len();
        match with {
            // Left out, doubled, in the other case.
            '\0' => drop(chars.remove(at)),
            '\u{1}' => chars.insert(at, chars[at]),
            '\u{2}' => chars[at] = (chars[at] as u8 ^ 0x20) as char,
            with => chars[at] = with,
        }
        text = chars.into_iter().collect();
    }
    let plainly = form.parse_plainly(&text, bits, "id");
    prop_assert_eq!(form.parse(&text, bits, "id"), plainly);
    let const_read = form.read_const(way, text.as_bytes(), bits);
    prop_assert_eq!(form.read(way, text.as_bytes(), bits), const_read);
    // A base of a power of two whose digits hold more than 160 bits is left to the plain reader.
    if way == Way::Plain
        || form.len * form.base.kind.digit_bits().unwrap_or(0) as usize > 160 + form.pad_bits as usize
    {
        prop_assert!(const_read.is_none() || const_read == plainly.ok());
    } else {
        prop_assert_eq!(const_read, plainly.ok());
    }
    Ok(())
}

#[test]
fn most_forms_have_a_quick_way() {
    let canonical = SCHEMES.iter().map(|scheme| (scheme.name, scheme.canonical().way()));
    let plain: Vec<_> = canonical.filter(|(_, way)| *way == Way::Plain).collect();
    assert_eq!(plain, []);
    assert_eq!(HYPHENATED.way(), Way::Uuid);
}

#[test]
fn zeros_and_ones_are_spelled_and_read_in_every_form() {
    for (form, bits) in all_forms() {
        for raw in [RawId::ZERO, RawId::new(1), RawId::max_of(bits), RawId::max_of(160)] {
            check(&form, bits, raw, None).unwrap();
        }
    }
}

#[test]
fn many_lines_are_one_behind_the_other() {
    let ids = (0..1_000_u64).map(|id| RawId::from(id * id * 9_999_999));
    for form in [&HYPHENATED, &super::super::DECIMAL, &super::super::URN] {
        let (mut lines, mut expected) = (String::new(), String::new());
        form.print_lines(ids.clone(), &mut lines).unwrap();
        for id in ids.clone() {
            expected.push_str(form.print(id).unwrap().as_str());
            expected.push('\n');
        }
        assert_eq!(lines, expected);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8192))]

    #[test]
    fn quick_ways_agree_with_the_plain_one((form, bits) in any_form(), raw in any_raw()) {
        check(&form, bits, raw, None)?;
    }

    #[test]
    fn quick_ways_agree_on_ids_of_the_forms_width((form, bits) in any_form(), raw in any_raw()) {
        let max = RawId::max_of(bits);
        check(&form, bits, raw.and(max), None)?;
    }

    #[test]
    fn quick_ways_agree_on_spoiled_text(
        (form, bits) in any_form(),
        raw in any_raw(),
        at in any::<usize>(),
        with in prop_oneof![
            3 => proptest::char::range(' ', '~'),
            1 => proptest::char::range('\0', '\u{2}'),
            1 => any::<char>(),
        ],
    ) {
        check(&form, bits, raw.and(RawId::max_of(bits)), Some((at, with)))?;
    }
}
