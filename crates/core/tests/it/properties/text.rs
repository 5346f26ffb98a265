//! Texts and bytes: what is printed is read back, in the same order; what is read is printed back.

use super::{any_bits, any_id, any_scheme, id_of};
use mintage::rfc9562::{parse_any, parse_postgres};
use mintage::{RawId, Scheme, TextForm};
use proptest::prelude::*;

/// The bytes of an id, without those above its width.
fn bytes(scheme: &Scheme, raw: RawId) -> Vec<u8> {
    raw.to_be_bytes()[20 - scheme.layout.bytes()..].to_vec()
}

/// How one digit of a base is read.
struct Digits {
    /// Either case of a letter is the same digit.
    any_case: bool,
    /// Letters that look like a digit are read as one also by the strict reader.
    has_aliases: bool,
    /// Digits have the order of their characters.
    is_sorted: bool,
}

impl Digits {
    fn of(form: &TextForm) -> Self {
        let digit = TextForm::fixed("digit", form.base, 1);
        let read = |text: &str| digit.parse(text, 160, "digit").ok();
        let letter = ["a", "b", "n"].into_iter().find(|letter| read(letter).is_some());
        let all: Vec<String> = (0..form.base.radix())
            .map(|value| digit.print(RawId::new(value.into())).unwrap().to_string())
            .collect();
        Self {
            any_case: letter.is_some_and(|letter| read(letter) == read(&letter.to_ascii_uppercase())),
            has_aliases: form.base.is_forgiving() && read("O") == read("0"),
            is_sorted: all.is_sorted(),
        }
    }
}

/// Whether `text` is how `form` spells `raw`, but for what the digits leave open.
fn is_spelling(form: &TextForm, raw: RawId, text: &str) -> bool {
    let Ok(printed) = form.print(raw) else { return false };
    let digits = Digits::of(form);
    let text = if digits.has_aliases { without_aliases(text) } else { text.to_string() };
    if digits.any_case { printed.eq_ignore_ascii_case(&text) } else { printed.as_str() == text }
}

/// Crockford's letters that look like digits, as these digits.
fn without_aliases(text: &str) -> String {
    text.chars()
        .map(|c| match c.to_ascii_uppercase() {
            'O' => '0',
            'I' | 'L' => '1',
            _ => c,
        })
        .collect()
}

/// Strict parsing must be right about `text`, whatever it is: an error, or the id that it spells.
fn check_parsing(scheme: &Scheme, text: &str) -> Result<(), TestCaseError> {
    let strict = scheme.parse(text);
    if let Ok(raw) = strict {
        prop_assert_eq!(scheme.check(raw), Ok(raw));
        let is_spelled = scheme.text.iter().any(|form| is_spelling(form, raw, text));
        prop_assert!(is_spelled, "{}: {:?} was read as {:?}", scheme.name, text, scheme.print(raw));
        prop_assert_eq!(scheme.parse_lenient(text), strict);
    } else if let Err(error) = strict {
        prop_assert!(!error.to_string().is_empty());
    }
    if let (Err(_), Ok(raw)) = (strict, scheme.parse_lenient(text)) {
        // Only hyphens and letters that look like digits may be the difference.
        let plain = without_aliases(&text.replace('-', ""));
        prop_assert_eq!(scheme.parse(&plain), Ok(raw));
    }
    Ok(())
}

/// Ways to spoil a text.
#[derive(Clone, Debug)]
enum Spoil {
    Replace(usize, char),
    Insert(usize, char),
    Remove(usize),
    Swap(usize, usize),
    Case(usize),
}

fn spoil(text: &str, spoils: &[Spoil]) -> String {
    let mut chars: Vec<char> = text.chars().collect();
    for spoil in spoils {
        let len = chars.len().max(1);
        match *spoil {
            Spoil::Insert(at, with) => chars.insert(at % (chars.len() + 1), with),
            _ if chars.is_empty() => {}
            Spoil::Replace(at, with) => chars[at % len] = with,
            Spoil::Remove(at) => drop(chars.remove(at % len)),
            Spoil::Swap(a, b) => chars.swap(a % len, b % len),
            Spoil::Case(at) => {
                let c = chars[at % len];
                chars[at % len] =
                    if c.is_ascii_uppercase() { c.to_ascii_lowercase() } else { c.to_ascii_uppercase() };
            }
        }
    }
    chars.into_iter().collect()
}

fn any_sign() -> impl Strategy<Value = char> {
    prop_oneof![
        4 => proptest::char::range('!', '~'),
        2 => proptest::sample::select("-{}:urn0OoIiLlUu \t\n\0_+".chars().collect::<Vec<_>>()),
        1 => any::<char>(),
    ]
}

fn any_spoils() -> impl Strategy<Value = Vec<Spoil>> {
    let one = prop_oneof![
        (any::<usize>(), any_sign()).prop_map(|(at, with)| Spoil::Replace(at, with)),
        (any::<usize>(), any_sign()).prop_map(|(at, with)| Spoil::Insert(at, with)),
        any::<usize>().prop_map(Spoil::Remove),
        (any::<usize>(), any::<usize>()).prop_map(|(a, b)| Spoil::Swap(a, b)),
        any::<usize>().prop_map(Spoil::Case),
    ];
    proptest::collection::vec(one, 0..4)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    #[test]
    fn every_form_reads_what_it_prints((scheme, raw) in any_id()) {
        prop_assert_eq!(scheme.check(raw), Ok(raw));
        prop_assert_eq!(scheme.parse(&scheme.print(raw)), Ok(raw));
        for form in scheme.text {
            let Ok(text) = form.print(raw) else { continue };
            // Where two forms have the same length, the first one reads the text.
            let reader = scheme.text.iter().find(|other| other.has_length(text.len())).unwrap();
            if std::ptr::eq(*reader, *form) {
                prop_assert_eq!(scheme.parse(&text), Ok(raw), "{} {}", scheme.name, text);
            }
        }
        for name in scheme.form_names() {
            let form = scheme.form(name).unwrap();
            let Ok(text) = form.print(raw) else { continue };
            prop_assert!(form.has_length(text.len()));
            prop_assert_eq!(form.parse(&text, scheme.layout.bits(), scheme.name), Ok(raw));
        }
        prop_assert_eq!(scheme.parse_bytes(&bytes(scheme, raw)), Ok(raw));
    }

    #[test]
    fn fields_are_read_as_they_were_packed((scheme, raw) in any_id()) {
        let fields = scheme.layout.fields().len();
        let values: Vec<u128> = (0..fields).map(|field| scheme.value(raw, field)).collect();
        prop_assert_eq!(scheme.pack(&values), Ok(raw));
        if let Some(base) = scheme.layout.time_base() {
            let role = mintage::Role::Timestamp(base);
            let ticks = scheme.layout.gather(scheme.mapping.to_layout(raw), role);
            prop_assert!(ticks <= u128::MAX >> (128 - scheme.layout.value_bits(role)));
            if let Some(time) = scheme.time(raw) {
                prop_assert_eq!(base.tick_at(time).map(u128::from), Some(ticks));
            }
        }
    }

    #[test]
    fn text_and_bytes_sort_as_ids_do(scheme in any_scheme(), a in any_bits(), b in any_bits(), near in any::<u8>()) {
        let Some(a) = id_of(scheme, &a) else { return Ok(()) };
        // Also ids that differ in their last bits only.
        let mut close = a.to_be_bytes();
        close[19] = near;
        for b in [b, close].iter().filter_map(|bits| id_of(scheme, bits)) {
            prop_assert_eq!(bytes(scheme, a).cmp(&bytes(scheme, b)), a.cmp(&b));
            let forms = scheme.form_names().map(|name| scheme.form(name).unwrap());
            for form in forms.filter(|form| form.is_fixed && Digits::of(form).is_sorted) {
                let (Ok(a_text), Ok(b_text)) = (form.print(a), form.print(b)) else { continue };
                prop_assert_eq!(a_text.as_bytes().cmp(b_text.as_bytes()), a.cmp(&b), "{}", scheme.name);
            }
        }
    }

    #[test]
    fn any_text_is_an_error_or_the_id_that_it_spells(scheme in any_scheme(), text in any::<String>()) {
        check_parsing(scheme, &text)?;
        let _ = parse_any(&text);
        let _ = parse_postgres(&text);
    }

    #[test]
    fn text_of_an_ids_characters_is_an_error_or_the_id_that_it_spells(
        scheme in any_scheme(),
        text in "([0-9a-fA-F]{20,42}|[0-9A-Za-z-]{24,29}|[0-9]{0,52}|\\{?(urn:uuid:)?[0-9a-f-]{30,40}\\}?)",
    ) {
        check_parsing(scheme, &text)?;
        let _ = parse_postgres(&text);
    }

    #[test]
    fn a_spoiled_text_is_an_error_or_the_id_that_it_spells(
        (scheme, raw) in any_id(),
        form in any::<proptest::sample::Index>(),
        spoils in any_spoils(),
    ) {
        let Ok(text) = form.get(scheme.text).print(raw) else { return Ok(()) };
        let text = spoil(&text, &spoils);
        check_parsing(scheme, &text)?;
    }

    #[test]
    fn any_bytes_are_an_error_or_the_id_that_they_are(
        scheme in any_scheme(),
        given in proptest::collection::vec(any::<u8>(), 0..24),
    ) {
        if let Ok(raw) = scheme.parse_bytes(&given) {
            prop_assert_eq!(bytes(scheme, raw), given);
            prop_assert_eq!(scheme.check(raw), Ok(raw));
        }
    }

    #[test]
    fn postgresql_reads_hyphens_after_groups_of_four(uuid in any::<u128>(), places in any::<u8>(), is_braced in any::<bool>()) {
        let digits = format!("{uuid:032x}");
        let groups = (0..8).map(|at| &digits[4 * at..4 * at + 4]);
        let mut text = String::new();
        for (at, group) in groups.enumerate() {
            text.push_str(group);
            if at < 7 && places >> at & 1 == 1 {
                text.push('-');
            }
        }
        let text = if is_braced { format!("{{{text}}}") } else { text };
        prop_assert_eq!(parse_postgres(&text), Ok(uuid));
        let wrong = [format!("{text}-"), format!("-{text}"), text[1..].into(), text[..text.len() - 1].into()];
        for wrong in wrong {
            prop_assert!(parse_postgres(&wrong).is_err(), "{}", wrong);
        }
    }

    #[test]
    fn numbers_divide_and_step_as_numbers_do(high in any::<u32>(), low in any::<u128>(), radix in 2..=u32::MAX) {
        let raw = RawId::from_parts(high, low);
        let (quotient, rest) = raw.div_rem(radix);
        prop_assert!(rest < radix);
        prop_assert_eq!(quotient.checked_mul_add(radix, rest), Some(raw));
        prop_assert_eq!(raw.wrapping_next(160).wrapping_previous(160), raw);
        prop_assert_eq!(raw.wrapping_previous(160).wrapping_next(160), raw);
        prop_assert!(raw == RawId::max_of(160) || raw.wrapping_next(160) > raw);
    }
}
