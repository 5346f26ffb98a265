//! What `inspect` makes of a case's text: which readings there are, and which come first.

use super::Case;
use mintage::inspect::{Inspection, LOOKALIKES, Options, inspect};
use mintage::{Scheme, UnixNanos};

/// The files' words for readings that have other names here.
const WORDS: &[(&str, &str)] = &[
    ("atproto-tid", "tid-atproto"),
    ("base64url uuid", "uuid-v7"),
    ("comb-unix-first", "comb-unix-ms-first"),
    ("comb-unix-last", "comb-unix-ms-last"),
    ("firebase push id", "firebase-pushid"),
    ("flake-idgen (unix epoch)", "flake-idgen"),
    ("instagram shortcode", "snowflake-instagram"),
    ("laravel ordered", "laravel-ordered-uuid"),
    ("laravel-ordered", "laravel-ordered-uuid"),
    ("mastodon (uncertain)", "snowflake-mastodon"),
    ("objectid (uncertain)", "objectid"),
    ("prefixed ulid", "ulid"),
    ("shortuuid57", "uuid-v4"),
    ("sid-base32", "sid"),
    ("sid-hex", "sid"),
    ("snowflake zbase32?", "snowflake-bwmarrin"),
    ("uid-generator(28/22/13)", "uid-generator"),
    ("uid-generator(29/21/13)", "uid-generator"),
    ("uuid v1", "uuid-v1"),
    ("uuid v4", "uuid-v4"),
    ("yitter 6/6", "yitter-idgenerator"),
];

/// Words for readings that are not offered.
const NOT_OFFERED: &[(&str, &str)] = &[
    ("base62", "a number in some base is no scheme"),
    ("prefixed-random", "random characters have no scheme; the runner checks that nothing is read into them"),
    ("sqids", "has an alphabet of its own in each place; without it nothing can be read"),
    ("u64 hex", "a number in some base is no scheme"),
];

/// The reading that a file calls `word`; `None` for one that is not offered.
fn named(case: &Case<'_>, word: &str) -> Option<&'static str> {
    if NOT_OFFERED.iter().any(|(known, _)| *known == word) {
        return None;
    }
    let own = WORDS.iter().find(|(known, _)| *known == word).map(|(_, name)| *name);
    let scheme = || Scheme::by_name(word).map(|scheme| scheme.name);
    let lookalike = || LOOKALIKES.iter().find(|lookalike| lookalike.name == word).map(|found| found.name);
    Some(own.or_else(scheme).or_else(lookalike).unwrap_or_else(|| panic!("{case}: who is {word}?")))
}

fn readings(case: &Case<'_>) -> Inspection {
    let now = UnixNanos::parse("2026-11-30T00:00:00Z").unwrap();
    inspect(case.text(), &Options { now, ..Options::default() })
}

/// The expected reading is among the first three.
pub(super) fn top(case: &Case<'_>) {
    let found = readings(case);
    let Some(name) = named(case, case.expect["top"].as_str().unwrap()) else {
        assert!(found.readings.is_empty(), "{case}: {:?}", found.readings);
        return;
    };
    let found: Vec<&str> = found.readings.iter().take(3).map(|reading| reading.scheme).collect();
    assert!(found.contains(&name), "{case}: {found:?}");
}

/// All expected readings are offered.
pub(super) fn candidates(case: &Case<'_>, key: &str) {
    let found = readings(case);
    let found: Vec<&str> = found.readings.iter().map(|reading| reading.scheme).collect();
    for word in case.expect[key].as_array().unwrap() {
        if let Some(name) = named(case, word.as_str().unwrap()) {
            assert!(found.contains(&name), "{case}: {name} is not in {found:?}");
        }
    }
}

/// Something else comes before what the file is about.
pub(super) fn low_rank(case: &Case<'_>) {
    let about = case.file.trim_end_matches(".json").replace('_', "-");
    let found = readings(case);
    let is_low = found.readings.first().is_none_or(|first| !first.scheme.starts_with(&about));
    case.same("low_rank", is_low);
}

/// The scheme whose time hides in the text, which must be offered with a plausible time.
pub(super) fn hidden(case: &Case<'_>) -> &'static Scheme {
    let name = named(case, case.expect["hidden"].as_str().unwrap()).unwrap();
    let found = readings(case);
    let reading = found.readings.iter().find(|reading| reading.scheme == name);
    let reading = reading.unwrap_or_else(|| panic!("{case}: {:?}", found.readings));
    // Older than what counts as plausible, if the time can be read at all.
    assert!(reading.is_plausible || name == "comb-legacy", "{case}: {reading:?}");
    Scheme::by_name(name).unwrap()
}

/// Whether a random UUID would be taken for one with a time in it: not first, but with a plausible time.
pub(super) fn is_false_positive(case: &Case<'_>) -> bool {
    let found = readings(case);
    let is_seen = found.readings.iter().skip(1).any(|reading| reading.time.is_some() && reading.is_plausible);
    found.readings[0].scheme == "uuid-v4" && is_seen
}

/// The scheme whose time is meant: the one that ranks first, or else `own`.
pub(super) fn meant(case: &Case<'_>, own: &'static Scheme) -> &'static Scheme {
    let name = case.expect.get("top").and_then(|top| named(case, top.as_str().unwrap()));
    name.and_then(Scheme::by_name).unwrap_or(own)
}

/// One of the first three readings is this UUID.
pub(super) fn uuid(case: &Case<'_>, key: &str) {
    let found = readings(case);
    let texts: Vec<&str> = found.readings.iter().take(3).map(|reading| reading.text.as_str()).collect();
    assert!(texts.contains(&case.expect[key].as_str().unwrap()), "{case}: {texts:?}");
}

/// Whether the text has a plausible time as this scheme's.
pub(super) fn is_plausible(case: &Case<'_>, name: &str) -> bool {
    readings(case).readings.iter().any(|reading| reading.scheme == name && reading.is_plausible)
}
