//! Reading unknown ids: what a piece of text may be, the best reading first, with what it tells and what to watch.
//!
//! Structure decides first: length, alphabet, fixed bits. Among what is left, each reading has a cost in bits: how surprising the
//! text would be if its scheme had made it, times how rare the scheme is. Time alone decides little: a number of 17 to 19 digits has
//! a plausible time in many layouts, so the whole list is returned and not the first guess alone.

mod lookalikes;
mod together;
mod warnings;

pub use lookalikes::{LOOKALIKES, Lookalike};
pub use together::{Together, Verdict};

use crate::error::Error;
use crate::layout::{Layout, Role, TimeBase};
use crate::raw::RawId;
use crate::scheme::Scheme;
use crate::schemes::SCHEMES;
use crate::time::{Clock, SystemClock, UnixNanos};
use std::format;
use std::string::{String, ToString};
use std::vec::Vec;

/// How to read.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// The present: times after it, by more than a day, are implausible.
    pub now: UnixNanos,
    /// Read as this scheme only.
    pub scheme: Option<&'static Scheme>,
    /// The layout to read [`Options::scheme`] with, for a custom split.
    pub layout: Option<Layout>,
}

impl Default for Options {
    fn default() -> Self {
        Self { now: SystemClock.now(), scheme: None, layout: None }
    }
}

/// Times before this are implausible: 2005-01-01T00:00:00Z. UUIDs are older, but ids that old are rare in today's data.
pub const PLAUSIBLE_FROM: UnixNanos = UnixNanos::from_secs(1_104_537_600);

/// One day: clocks of other machines may be ahead by that much.
const DAY: i128 = 86_400_000_000_000;

impl Options {
    fn is_plausible(&self, time: UnixNanos) -> bool {
        time >= PLAUSIBLE_FROM && time <= self.now.plus(DAY)
    }
}

/// What a text may be, and what to watch.
#[derive(Clone, Debug, Default)]
pub struct Inspection {
    /// The readings, best first; empty when nothing fits.
    pub readings: Vec<Reading>,
    /// What to watch; when nothing fits, why.
    pub warnings: Vec<String>,
}

/// A text as an id of one scheme.
#[derive(Clone, Debug)]
pub struct Reading {
    /// The scheme's name, or that of a look-alike such as `unix-ms` or `md5`.
    pub scheme: &'static str,
    /// The canonical text.
    pub text: String,
    /// When it was made.
    pub time: Option<UnixNanos>,
    /// Digits of the second that mean something.
    pub time_digits: u8,
    /// The fields, most significant first.
    pub fields: Vec<FieldValue>,
    /// Whether the time lies between 2005 and tomorrow; true without a time.
    pub is_plausible: bool,
    /// What else there is to say.
    pub note: Option<String>,
    /// How surprising the text would be as this scheme's, in bits; smaller is better.
    pub cost: f64,
}

impl Reading {
    /// The time as RFC 3339 in UTC, to the scheme's tick; `None` without a time, or outside the years -9999 to 9999.
    #[must_use]
    pub fn time_text(&self) -> Option<String> {
        self.time?.rfc3339(self.time_digits).map(|text| text.to_string())
    }
}

/// A field with its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldValue {
    /// The field's name.
    pub name: &'static str,
    /// What it means.
    pub role: Role,
    /// Its width.
    pub bits: u32,
    /// Its value.
    pub value: u128,
}

/// Reads `text` as whatever it may be.
///
/// ```
/// let found = mintage::inspect::inspect("01ARZ3NDEKTSV4RRFFQ69G5FAV", &Default::default());
/// assert_eq!(found.readings[0].scheme, "ulid");
/// assert_eq!(found.readings[0].time_text().unwrap(), "2016-07-30T23:54:10.259Z");
/// ```
#[must_use]
pub fn inspect(text: &str, options: &Options) -> Inspection {
    let mut readings = Vec::new();
    let mut best_error: Option<Error> = None;
    let (prefix, rest) = split_prefix(text);
    for scheme in SCHEMES {
        let is_asked = match options.scheme {
            Some(asked) => asked.name == scheme.name,
            None => scheme.facts.surprise.is_some(),
        };
        if !is_asked {
            continue;
        }
        let layout = options.layout.unwrap_or(scheme.layout);
        match parse_leniently(scheme, &layout, text) {
            Ok(raw) => readings.push(read(scheme, &layout, raw, None, options)),
            Err(error) => {
                best_error = Some(match best_error {
                    Some(best) if closeness(&best) >= closeness(&error) => best,
                    _ => error,
                });
                // Prefixes stand before texts, not before bare numbers: those would say too little.
                let has_prefix = prefix.is_some() && scheme.canonical().is_fixed;
                if let (true, Ok(raw)) = (has_prefix, scheme.parse(rest)) {
                    readings.push(read(scheme, &layout, raw, prefix, options));
                }
            }
        }
    }
    if options.scheme.is_none() {
        for lookalike in LOOKALIKES {
            if let Some(mut reading) = (lookalike.read)(text, options) {
                // What RFC 9562 has a version for is no UUID of another kind.
                let is_known = readings.iter().any(|r: &Reading| r.scheme.starts_with("uuid-"));
                if !(lookalike.name == lookalikes::UUID_NONRFC && is_known) {
                    reading.is_plausible = reading.time.is_none_or(|time| options.is_plausible(time));
                    readings.push(reading);
                }
            }
        }
    }
    readings.sort_by(|a, b| a.cost.total_cmp(&b.cost));
    let warnings = match readings.first() {
        Some(_) => warnings::warnings(text, &readings, options),
        None => warnings::unreadable(text, best_error, options),
    };
    Inspection { readings, warnings }
}

/// The scheme's strict text, or what a standard lets pass besides: PostgreSQL's spellings of a UUID.
fn parse_leniently(scheme: &'static Scheme, layout: &Layout, text: &str) -> Result<RawId, Error> {
    let own = Scheme { layout: *layout, ..*scheme };
    let strict = own.parse(text);
    if strict.is_ok() || !core::ptr::eq(scheme.canonical(), &raw const crate::text::HYPHENATED) {
        return strict;
    }
    match crate::rfc9562::parse_postgres(text) {
        Ok(uuid) => own.check(RawId::new(uuid)),
        Err(_) => strict,
    }
}

/// How near an error shows a text to have been to an id: the further a reader got, the nearer.
fn closeness(error: &Error) -> usize {
    match error {
        Error::TooLarge { .. } | Error::FixedField { .. } => 1000,
        Error::LeadingZero { .. } => 500,
        Error::Character { at, .. } => *at,
        _ => 0,
    }
}

/// `msg_2KWPBg…` as `msg_` and the rest; the prefix is ASCII letters, digits and `_`, and begins with a letter.
fn split_prefix(text: &str) -> (Option<&str>, &str) {
    match text.rfind('_') {
        Some(at) if text.starts_with(|c: char| c.is_ascii_alphabetic()) => {
            let prefix = &text[..=at];
            let is_word = prefix.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
            (is_word.then_some(prefix), &text[at + 1..])
        }
        _ => (None, text),
    }
}

/// `raw` as an id of `scheme` with this layout.
fn read(
    scheme: &'static Scheme,
    layout: &Layout,
    raw: RawId,
    prefix: Option<&str>,
    options: &Options,
) -> Reading {
    let fields = layout.fields().iter().enumerate();
    let fields: Vec<FieldValue> = fields
        .map(|(i, f)| FieldValue { name: f.name, role: f.role, bits: f.bits, value: layout.value(raw, i) })
        .collect();
    let base = layout.time_base();
    let time = layout.time(raw);
    let is_plausible = base.is_none() || time.is_some_and(|time| options.is_plausible(time));
    let mut notes: Vec<String> = Vec::new();
    if let Some(prefix) = prefix {
        notes.push(format!("after the prefix `{prefix}`"));
    }
    if base.is_some() && !is_plausible {
        notes.push(implausible(time, options));
    }
    if let Some(note) = warnings::ordered_uuid_note(scheme, raw, options) {
        notes.push(note);
    }
    Reading {
        scheme: scheme.name,
        text: Scheme { layout: *layout, ..*scheme }.print(raw).to_string(),
        time,
        time_digits: base.map_or(0, TimeBase::fraction_digits),
        cost: f64::from(scheme.facts.surprise.unwrap_or(0)) + cost(layout, raw, is_plausible, options),
        fields,
        is_plausible,
        note: (!notes.is_empty()).then(|| notes.join("; ")),
    }
}

fn implausible(time: Option<UnixNanos>, options: &Options) -> String {
    match time {
        None => "time out of range".to_string(),
        Some(time) if time.rfc3339(0).is_none() => "time out of range: after the year 9999".to_string(),
        Some(time) if time < PLAUSIBLE_FROM => "implausible time: before 2005".to_string(),
        Some(_) => {
            let latest = options.now.plus(DAY);
            match latest.rfc3339(0) {
                Some(latest) => format!("implausible time: after {latest}"),
                None => format!("implausible time: after {latest}"),
            }
        }
    }
}

/// Bits of surprise that `raw` means under a layout, if all times since 2005 or the epoch are equally likely.
fn cost(layout: &Layout, raw: RawId, is_plausible: bool, options: &Options) -> f64 {
    /// What an implausible time costs: about one id in a thousand million has one.
    const IMPLAUSIBLE: f64 = 30.0;
    let mut bits = if is_plausible { 0.0 } else { IMPLAUSIBLE };
    if let Some(base) = layout.time_base() {
        let begin = base.epoch.max(PLAUSIBLE_FROM);
        let span = (options.now.0 - begin.0).max(1_000_000_000);
        bits += log2(span / i128::from(base.tick_nanos));
    }
    for like in [Role::Worker, Role::Counter] {
        let width = layout.value_bits(like);
        if width > 0 {
            bits += small_number_cost(layout.gather(raw, like), width);
        }
    }
    for field in layout.fields() {
        if matches!(field.role, Role::Random | Role::Hash | Role::Custom) {
            bits += f64::from(field.bits);
        }
    }
    bits
}

/// Bits of surprise of a worker or sequence number: half of them small, half anything. Wide ones are hashes and random starts.
fn small_number_cost(value: u128, width: u32) -> f64 {
    let anything = 0.5_f64.powi(i32::try_from(width).unwrap_or(128));
    if width >= 14 {
        return -anything.log2();
    }
    let n = f64::from(u32::try_from(value).unwrap_or(u32::MAX));
    let small = 1.0 / ((n + 1.0) * (n + 2.0));
    -(0.5 * small + 0.5 * anything).log2()
}

/// The logarithm of a count, at least 0.
pub(crate) fn log2(count: i128) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a logarithm needs no more than the leading digits")]
    let count = count.max(1) as f64;
    count.log2()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options() -> Options {
        Options { now: UnixNanos::parse("2026-11-30T00:00:00Z").unwrap(), scheme: None, layout: None }
    }

    fn names(text: &str) -> Vec<&'static str> {
        inspect(text, &options()).readings.iter().map(|r| r.scheme).collect()
    }

    #[test]
    fn what_structure_decides_comes_first_and_alone() {
        for (text, scheme) in [
            ("01ARZ3NDEKTSV4RRFFQ69G5FAV", "ulid"),
            ("0ujtsYcgvSTl8PAuAdqWYSMnLOv", "ksuid"),
            ("017f22e2-79b0-7cc3-98c4-dc0c0c07398f", "uuid-v7"),
            ("{017f22e2-79b0-7cc3-98c4-dc0c0c07398f}", "uuid-v7"),
            ("{a0eebc99-9c0b4ef8-bb6d6bb9-bd380a11}", "uuid-v4"),
            ("00000000-0000-0000-0000-000000000000", "uuid-nil"),
            ("ffffffff-ffff-ffff-ffff-ffffffffffff", "uuid-max"),
            ("507c7f79bcf86cd7994f6c0e", "objectid"),
            ("msg_2KWPBgLlAfxdpx2AI54pPJ85f4W", "ksuid"),
            ("63DD0AD3-A111-DD11-B2EB-005056AE063C", "uuid-nonrfc"),
        ] {
            assert_eq!(names(text), [scheme], "{text}");
        }
    }

    #[test]
    fn numbers_are_read_every_way() {
        for (text, scheme) in [
            ("1050118621198921728", "snowflake-twitter"),
            ("334385199974967042", "snowflake-discord"),
            ("41771983423143937", "snowflake-discord"),
            ("103270115826048975", "snowflake-mastodon"),
            ("908540701891980503", "snowflake-instagram"),
        ] {
            assert!(names(text)[..3].contains(&scheme), "{text}: {:?}", names(text));
        }
        assert_eq!(names("1288834974657")[0], "unix-ms");
        assert_eq!(names("16777216")[0], "integer");
    }

    #[test]
    fn hashes_are_told_from_ids_by_their_time() {
        assert_eq!(names("2ed6657de927468b55e12665a8aea6a22dee3e35")[0], "sha1");
        assert_eq!(names("0669f7efb5a1cd34b5f99d1154fb6853345c9735")[0], "ksuid");
        assert_eq!(names("d41d8cd98f00b204e9800998ecf8427e")[0], "md5");
    }

    #[test]
    fn what_cannot_be_read_says_why() {
        let reason = |text: &str| inspect(text, &options()).warnings.join(" ");
        assert_eq!(reason("80000000000000000000000000"), "ulid: above the largest id, which has 128 bits");
        assert!(reason("1.050118621198921728e18").contains("scientific notation"));
        assert!(reason(" 1").contains("white space"));
        assert!(reason("").contains("empty"));
        assert!(reason("héllo").contains("no scheme"), "{}", reason("héllo"));
    }

    #[test]
    fn one_scheme_can_be_asked_for() {
        let options = Options { scheme: Scheme::by_name("snowflake-discord"), ..options() };
        let found = inspect("175928847299117063", &options);
        assert_eq!(found.readings.len(), 1);
        assert_eq!(found.readings[0].time_text().unwrap(), "2016-04-30T11:18:25.796Z");
        assert!(inspect("01ARZ3NDEKTSV4RRFFQ69G5FAV", &options).readings.is_empty());
    }

    #[test]
    fn an_implausible_time_is_said() {
        let found = inspect("01a6ce4c-5a19-7006-b045-197ad8210718", &options());
        assert!(!found.readings[0].is_plausible);
        assert_eq!(found.readings[0].note.as_deref(), Some("implausible time: after 2026-12-01T00:00:00Z"));
    }
}
