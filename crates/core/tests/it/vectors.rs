//! Every published case in `tests/vectors/`: parsing, fields, times, names and the rules of monotonic generators.
//!
//! Each file has a runner below that must know every kind of case and every expected value in it. What it doesn't know fails, so
//! nothing is passed over in silence; what isn't this crate's business stands in [`NOT_HERE`] with the reason.

mod bwmarrin;
mod combs;
mod cosid;
mod crockford32;
mod cuids;
mod flakes;
mod ksuid;
mod obfuscations;
mod objectid;
mod orders;
mod ranking;
mod reversed;
mod short_forms;
mod snowflake;
mod sonyflake;
mod sorting;
mod tsid;
mod typeid;
mod ulid;
mod uuid;

use mintage::{Clock, Error, ManualClock, RawId, Scheme, UnixNanos};
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// Expected values that the crate doesn't compute.
const NOT_HERE: &[(&str, &str)] = &[
    ("plausible", "whether a time is likely is for the tests of `inspect`"),
    ("objectid_plausible", "whether a time is likely is for the tests of `inspect`"),
    ("hidden_time", "a time hidden in a version 4 UUID is for the tests of `inspect`"),
    ("dce_domain_name", "the layout gives the domain's number; its name is POSIX vocabulary"),
    (
        "illustrative_time_10ns",
        "version 8 has no time that a reader may claim to know; the runner checks that",
    ),
    (
        "time_note",
        "free text about a year that RFC 3339 can't write; the runner checks that it isn't written",
    ),
    ("status", "free text; the runner checks the version in it"),
    ("spec", "free text about the specification; the runner checks the error"),
    ("rule", "free text; the runner checks the number and order of the ids"),
    ("note", "free text"),
    ("documented", "free text about a date; the runner checks the date itself"),
    ("low_confidence", "how sure a reading is stands in its cost; no threshold is drawn"),
    ("base58_btc_bytes", "the length depends on the number of leading zeros: nobody spells ids so"),
    ("lenient_uuid", "no reader here drops bits that are set; the runner checks the strict one"),
    ("variant_note", "free text"),
];

/// Kinds of cases that the crate has no counterpart for.
const KINDS_NOT_HERE: &[(&str, &str, &str)] = &[
    ("cuid2.json", "counter", "the reference hashes a counter; here the characters are drawn"),
    (
        "trap_java_uuid_compareto.json",
        "from_string_lenient",
        "Java reads groups of any length; nothing here does",
    ),
    ("xid.json", "machine_env", "the machine is drawn; no environment variable is read"),
];

type Runner = fn(&Case<'_>);

/// A file's words for what is wrong, and whether an error says that.
type Reason = (&'static str, fn(&Error) -> bool);

/// The files with their runners.
const FILES: &[(&str, &str, Runner)] = &[
    ("boundary_flake.json", include_str!("../vectors/boundary_flake.json"), flakes::boundary),
    (
        "cockroach_unique_rowid.json",
        include_str!("../vectors/cockroach_unique_rowid.json"),
        reversed::cockroach,
    ),
    ("comb_guid.json", include_str!("../vectors/comb_guid.json"), combs::comb),
    ("cosid.json", include_str!("../vectors/cosid.json"), cosid::run),
    ("crockford32.json", include_str!("../vectors/crockford32.json"), crockford32::run),
    ("cuid.json", include_str!("../vectors/cuid.json"), cuids::cuid),
    ("cuid2.json", include_str!("../vectors/cuid2.json"), cuids::cuid2),
    ("elasticflake.json", include_str!("../vectors/elasticflake.json"), flakes::elasticflake),
    ("firebase_pushid.json", include_str!("../vectors/firebase_pushid.json"), sorting::pushid),
    ("flake_idgen.json", include_str!("../vectors/flake_idgen.json"), flakes::flake_idgen),
    ("ksuid.json", include_str!("../vectors/ksuid.json"), ksuid::run),
    ("laravel_ordered_uuid.json", include_str!("../vectors/laravel_ordered_uuid.json"), combs::laravel),
    ("lexicaluuid.json", include_str!("../vectors/lexicaluuid.json"), flakes::lexicaluuid),
    ("mysql_uuid_to_bin.json", include_str!("../vectors/mysql_uuid_to_bin.json"), orders::mysql),
    ("nanoid.json", include_str!("../vectors/nanoid.json"), cuids::nanoid),
    ("objectid.json", include_str!("../vectors/objectid.json"), objectid::run),
    ("scru128.json", include_str!("../vectors/scru128.json"), sorting::scru128),
    ("sid.json", include_str!("../vectors/sid.json"), sorting::sid),
    ("snowflake_bwmarrin.json", include_str!("../vectors/snowflake_bwmarrin.json"), bwmarrin::run),
    ("snowflake_discord.json", include_str!("../vectors/snowflake_discord.json"), snowflake::discord),
    ("snowflake_instagram.json", include_str!("../vectors/snowflake_instagram.json"), snowflake::instagram),
    ("snowflake_mastodon.json", include_str!("../vectors/snowflake_mastodon.json"), snowflake::mastodon),
    ("snowflake_twitter.json", include_str!("../vectors/snowflake_twitter.json"), snowflake::twitter),
    ("sonyflake.json", include_str!("../vectors/sonyflake.json"), sonyflake::run),
    ("spanner_bit_reversed.json", include_str!("../vectors/spanner_bit_reversed.json"), reversed::spanner),
    ("sqlserver_guid_order.json", include_str!("../vectors/sqlserver_guid_order.json"), orders::sqlserver),
    ("tid_atproto.json", include_str!("../vectors/tid_atproto.json"), sorting::tid),
    ("trap_java_uuid_compareto.json", include_str!("../vectors/trap_java_uuid_compareto.json"), orders::java),
    ("tsid.json", include_str!("../vectors/tsid.json"), tsid::run),
    ("typeid.json", include_str!("../vectors/typeid.json"), typeid::run),
    ("uid_generator_leaf.json", include_str!("../vectors/uid_generator_leaf.json"), flakes::uid_generator),
    ("ulid.json", include_str!("../vectors/ulid.json"), ulid::run),
    ("uuid_rfc9562.json", include_str!("../vectors/uuid_rfc9562.json"), uuid::run),
    ("optimus.json", include_str!("../vectors/optimus.json"), obfuscations::optimus),
    (
        "feistel_pseudo_encrypt.json",
        include_str!("../vectors/feistel_pseudo_encrypt.json"),
        obfuscations::pseudo_encrypt,
    ),
    ("hashids.json", include_str!("../vectors/hashids.json"), obfuscations::hashids),
    ("speck.json", include_str!("../vectors/speck.json"), obfuscations::speck),
    ("uuid_short_forms.json", include_str!("../vectors/uuid_short_forms.json"), short_forms::run),
    ("xid.json", include_str!("../vectors/xid.json"), sorting::xid),
    ("yitter_idgenerator.json", include_str!("../vectors/yitter_idgenerator.json"), flakes::yitter),
];

#[test]
fn every_published_case_holds() {
    let (mut total, mut failed) = (0, Vec::new());
    for_each_case(|case, run| {
        // Each says on its own what is wrong with it.
        if catch_unwind(AssertUnwindSafe(|| run(case))).is_err() {
            failed.push(case.to_string());
        }
        total += 1;
    });
    println!("{total} cases");
    assert!(failed.is_empty(), "{} of {total} cases don't hold: {failed:#?}", failed.len());
    assert!(total > 600);
}

fn for_each_case(mut work: impl FnMut(&Case<'_>, Runner)) {
    let mut left_out = BTreeSet::new();
    for (file, text, run) in FILES {
        let document: Value = serde_json::from_str(text).unwrap();
        let empty = Vec::new();
        let hard = document["hard_cases"].as_array().unwrap_or(&empty);
        for case in document["cases"].as_array().unwrap().iter().chain(hard) {
            let kind = case.get("kind").map_or("hard", |kind| kind.as_str().unwrap());
            let (input, expect) = (&case["input"], case["expect"].as_object().unwrap());
            if KINDS_NOT_HERE.iter().any(|(known, other, _)| (known, *other) == (file, kind)) {
                left_out.insert((*file, kind.to_string()));
                continue;
            }
            work(&Case { file, kind, input, expect }, *run);
        }
    }
    assert_eq!(left_out.len(), KINDS_NOT_HERE.len(), "only {left_out:?} are left out");
}

#[test]
fn every_expected_value_is_looked_at() {
    let mut passed_over = Vec::new();
    for_each_case(|case, run| {
        for key in case.expect.keys().filter(|key| NOT_HERE.iter().all(|(known, _)| known != key)) {
            let mut expect = case.expect.clone();
            expect[key] = other_than(&case.expect[key]);
            let wrong = Case { expect: &expect, ..*case };
            if catch_unwind(AssertUnwindSafe(|| run(&wrong))).is_ok() {
                passed_over.push(format!("{case}: {key}"));
            }
        }
    });
    assert!(passed_over.is_empty(), "wrong values that nobody notices: {passed_over:#?}");
}

/// A value of the same kind that is wrong.
fn other_than(value: &Value) -> Value {
    match value {
        Value::Bool(value) => Value::Bool(!value),
        Value::Number(number) => match number.as_u64() {
            Some(number) => Value::from(number ^ 1),
            None => Value::from(number.as_f64().unwrap() * 2.0),
        },
        Value::String(text) if text.is_ascii() && !text.is_empty() => {
            let first = if text.starts_with('1') { '2' } else { '1' };
            Value::from(format!("{first}{}", &text[1..]))
        }
        _ => Value::from("something else"),
    }
}

#[test]
fn every_file_of_vectors_has_a_runner() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vectors");
    let files: BTreeSet<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    assert_eq!(files, FILES.iter().map(|(file, ..)| (*file).to_string()).collect());
}

/// One published case.
struct Case<'a> {
    file: &'a str,
    kind: &'a str,
    input: &'a Value,
    expect: &'a Map<String, Value>,
}

impl Case<'_> {
    /// The input as text.
    fn text(&self) -> &str {
        self.input.as_str().unwrap_or_else(|| panic!("{self}: the input is not text"))
    }

    /// A number in the input.
    fn number(&self, key: &str) -> u64 {
        self.input[key].as_u64().unwrap_or_else(|| panic!("{self}: no number {key}"))
    }

    /// A number in the input, as a field's value.
    fn value(&self, key: &str) -> u128 {
        self.number(key).into()
    }

    /// Text in the input.
    fn part(&self, key: &str) -> &str {
        self.input[key].as_str().unwrap_or_else(|| panic!("{self}: no text {key}"))
    }

    /// The input read by `scheme`.
    fn read(&self, scheme: &Scheme) -> RawId {
        scheme.parse(self.text()).unwrap_or_else(|error| panic!("{self}: {error}"))
    }

    /// What is found must be what is expected.
    fn same(&self, key: &str, found: impl Into<Value>) {
        let (found, expected) = (found.into(), &self.expect[key]);
        assert_eq!(&found, expected, "{self}: {key}");
    }

    /// The same, hex digits in either case.
    fn same_hex(&self, key: &str, found: &[u8]) {
        let expected = self.expect[key].as_str().unwrap().trim_start_matches("0x").to_ascii_lowercase();
        assert_eq!(hex(found), expected, "{self}: {key}");
    }

    /// What is found must be an error, for the expected reason.
    fn fails<T: std::fmt::Debug>(&self, key: &str, found: Result<T, Error>) {
        let words = match found {
            Ok(found) => panic!("{self}: {found:?} instead of an error"),
            Err(Error::TooLarge { .. } | Error::Overflow { .. }) => vec!["overflow".to_string()],
            Err(Error::Length { found, .. }) => vec!["length".to_string(), format!("length {found}")],
            Err(Error::Character { found, .. }) => {
                vec!["char".to_string(), format!("char {found}"), format!("excluded letter {found}")]
            }
            Err(Error::Bytes { .. }) => vec!["truncated".to_string()],
            Err(Error::BeforeEpoch { .. }) => vec!["ErrStartTimeAhead".to_string()],
            Err(Error::TimeFieldEnded { .. }) => vec!["ErrOverTimeLimit".to_string()],
            Err(_) => Vec::new(),
        };
        match &self.expect[key] {
            Value::Bool(is_error) => assert!(is_error, "{self}: {words:?}"),
            expected => assert!(words.iter().any(|word| expected == word), "{self}: {words:?}"),
        }
    }

    /// The same, where a file has its own words for the reason.
    fn fails_for<T: std::fmt::Debug>(&self, key: &str, found: Result<T, Error>, reasons: &[Reason]) {
        let Some(expected) = self.expect[key].as_str() else {
            return self.fails(key, found);
        };
        let error = found.expect_err(&self.to_string());
        let reason = reasons.iter().find(|(words, _)| *words == expected);
        assert!(reason.is_some_and(|(_, is)| is(&error)), "{self}: {error}");
    }

    /// A time, compared with as many digits of the second as are expected.
    fn same_time(&self, key: &str, found: Option<UnixNanos>) {
        let expected = self.expect[key].as_str().unwrap();
        let digits = expected.split_once('.').map_or(0, |(_, digits)| digits.trim_end_matches('Z').len());
        let found = found.and_then(|time| time.rfc3339(u8::try_from(digits).unwrap()));
        let mut found = found.map(|time| time.to_string()).unwrap_or_default();
        // SQL Server's times have no zone.
        if !expected.ends_with('Z') {
            found.pop();
        }
        assert_eq!(found, expected, "{self}: {key}");
    }

    /// A time or a field of an id of `scheme`, by the usual name or the one that `names` has for it; else [`Case::other`].
    fn usual(&self, key: &str, scheme: &'static Scheme, raw: RawId, names: &[(&str, &str)]) {
        match key {
            "time" => self.same_time(key, scheme.time(raw)),
            "ms" | "unix_ms" => {
                let time = scheme.time(raw).unwrap();
                self.same(key, i64::try_from(time.0 / 1_000_000).unwrap());
            }
            _ => {
                let name = names.iter().find(|(known, _)| *known == key).map_or(key, |(_, name)| *name);
                if scheme.layout.fields().iter().any(|field| field.name == name) {
                    self.same(key, u64::try_from(value(scheme, raw, name)).unwrap());
                } else {
                    self.other(key);
                }
            }
        }
    }

    /// The id is the one with this name.
    fn special(&self, raw: RawId, bits: u32) {
        let expected = self.expect["special"].as_str().unwrap();
        let all = [("nil", RawId::ZERO), ("max", RawId::max_of(bits))];
        assert!(all.contains(&(expected, raw)), "{self}: {raw:?}");
    }

    /// An expected value that the runner doesn't know: what `inspect` makes of the text, or nothing of this crate's.
    fn other(&self, key: &str) {
        match key {
            "top" => return ranking::top(self),
            "candidates" => return ranking::candidates(self, key),
            "low_rank" => return ranking::low_rank(self),
            _ => {}
        }
        let is_known = NOT_HERE.iter().any(|(known, _)| *known == key);
        assert!(is_known, "{self}: {key} is checked nowhere");
    }

    /// A kind that the runner doesn't know.
    fn unknown(&self) {
        panic!("{self}: a kind that no test knows");
    }
}

impl std::fmt::Display for Case<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}, {} {}", self.file, self.kind, self.input)
    }
}

/// The time of an id, with as many digits as its tick can tell apart.
fn time(scheme: &Scheme, raw: RawId) -> Value {
    let digits = scheme.layout.time_base().map_or(0, |base| base.fraction_digits());
    let time = scheme.layout.time(raw).and_then(|time| time.rfc3339(digits));
    time.map_or(Value::Null, |time| time.to_string().into())
}

/// Unix milliseconds of an id.
fn millis(scheme: &Scheme, raw: RawId) -> Value {
    i64::try_from(scheme.layout.time(raw).unwrap().0 / 1_000_000).unwrap().into()
}

/// The value of a field, which has at most 64 bits.
fn field(scheme: &Scheme, raw: RawId, name: &str) -> Value {
    u64::try_from(value(scheme, raw, name)).unwrap().into()
}

/// The value of a field.
fn value(scheme: &Scheme, raw: RawId, name: &str) -> u128 {
    let at = scheme.layout.fields().iter().position(|field| field.name == name).unwrap();
    scheme.value(raw, at)
}

/// The tick of Unix milliseconds.
fn tick_of(scheme: &Scheme, unix_ms: u64) -> u128 {
    let now = UnixNanos::from_millis(i64::try_from(unix_ms).unwrap());
    scheme.layout.time_base().unwrap().tick_at(now).unwrap().into()
}

/// A clock that stands at `now`, for settings.
#[expect(clippy::unnecessary_wraps, reason = "settings have a clock or none")]
fn at(now: UnixNanos) -> Option<Arc<dyn Clock>> {
    Some(Arc::new(ManualClock::new(now)))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> Vec<u8> {
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
}

/// The last `bits` of a number as bytes.
fn low_bytes(number: u128, bits: usize) -> Vec<u8> {
    number.to_be_bytes()[16 - bits / 8..].to_vec()
}
