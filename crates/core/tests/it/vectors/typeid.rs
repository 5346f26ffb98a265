//! TypeIDs.

use super::{Case, Reason, ranking};
use mintage::rfc9562::version;
use mintage::schemes::typeid::{parse, print};
use mintage::text::HYPHENATED;
use mintage::{Error, Scheme, Typeid};

/// What the specification says is wrong, and how it is told here.
const REASONS: &[Reason] = &[
    ("The prefix should be lowercase with no uppercase letters", is_character::<'P'>),
    ("The prefix can't have symbols, it needs to be alphabetic", is_character::<'.'>),
    ("The prefix can only have ascii letters", is_character::<'é'>),
    ("The prefix can't have any spaces", is_character::<' '>),
    ("The prefix can't be 64 characters, it needs to be 63 characters or less", is_length::<64>),
    ("If the prefix is empty, the separator should not be there", is_character::<'_'>),
    ("The suffix can't be 25 characters, it needs to be exactly 26 characters", is_length::<25>),
    ("The suffix can't be 27 characters, it needs to be exactly 26 characters", is_length::<27>),
    ("The suffix can't have any spaces", is_character::<' '>),
    ("The suffix should be lowercase with no uppercase letters", is_character::<'A'>),
    ("The suffix should not have any ambiguous characters from the crockford encoding", is_character::<'i'>),
    // It is too long before it is wrong.
    ("The suffix can't ignore hyphens as in the crockford encoding", |error| {
        is_character::<'-'>(error) || is_length::<28>(error)
    }),
    ("The suffix should encode at most 128-bits", |error| matches!(error, Error::TooLarge { bits: 128, .. })),
    ("The prefix can't start with an underscore", is_character::<'_'>),
    ("The empty string is not a valid typeid", is_length::<0>),
    ("The suffix can't be the empty string", is_length::<0>),
];

fn is_character<const C: char>(error: &Error) -> bool {
    matches!(error, Error::Character { found, .. } if *found == C)
}

fn is_length<const N: usize>(error: &Error) -> bool {
    matches!(error, Error::Length { found, .. } if *found == N)
}

pub(super) fn run(case: &Case<'_>) {
    match case.kind {
        "valid" => check(case),
        "invalid" => case.fails_for("error", parse(case.text()), REASONS),
        "hard" if case.expect.contains_key("error") => case.fails("error", parse(case.text())),
        "hard" if case.expect.contains_key("top") => {
            assert!(parse(case.text()).is_err(), "{case}");
            case.expect.keys().for_each(|key| case.other(key));
        }
        "hard" => check(case),
        _ => case.unknown(),
    }
}

fn check(case: &Case<'_>) {
    let (prefix, id): (&str, Typeid) = parse(case.text()).unwrap_or_else(|error| panic!("{case}: {error}"));
    assert_eq!(print(prefix, id).unwrap(), case.text());
    for key in case.expect.keys() {
        match key.as_str() {
            "prefix" => case.same(key, prefix),
            "uuid" => case.same(key, HYPHENATED.print(id.raw()).unwrap().as_str()),
            "uuid_version_ok" => case.same(key, version(id.get()) == Some(7)),
            "ambiguous" => {
                for name in case.expect[key].as_array().unwrap() {
                    let scheme = Scheme::by_name(name.as_str().unwrap()).unwrap();
                    assert_eq!(scheme.parse(case.text()), Ok(id.raw()), "{case}");
                }
                ranking::candidates(case, key);
            }
            _ => case.other(key),
        }
    }
}
