//! Reading unknown ids: what a piece of text may be, the best reading first, with what it tells and what to watch.
//!
//! Structure decides first: length, alphabet, fixed bits. Among what is left, each reading has a cost in bits: how surprising the
//! text would be if its scheme had made it, times how rare the scheme is. Time alone decides little: a number of 17 to 19 digits has
//! a plausible time in many layouts, so the whole list is returned and not the first guess alone.

mod cost;
mod lookalikes;
mod texts;
mod together;
mod warnings;

pub use lookalikes::{LOOKALIKES, Lookalike};
pub use together::{Together, Verdict};

use crate::error::Error;
use crate::layout::{Layout, Role, TimeBase};
use crate::mapping::Mapping;
use crate::scheme::Scheme;
use crate::schemes::SCHEMES;
use crate::time::{Clock, SystemClock, UnixNanos};
use cost::cost;
use std::format;
use std::string::{String, ToString};
use std::vec::Vec;
use texts::{Spelled, Texts, check, closeness};

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

/// Characters of the shortest number in a large base that is taken for an id.
const SHORTEST_NUMBER: usize = 9;

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
    let mut texts = Texts::new(text);
    for scheme in SCHEMES {
        let is_asked = match options.scheme {
            Some(asked) => asked.name == scheme.name,
            None => scheme.facts.surprise.is_some(),
        };
        if !is_asked {
            continue;
        }
        let layout = options.layout.as_ref().unwrap_or(&scheme.layout);
        let own = texts.read(scheme).and_then(|spelled| check(scheme, layout, spelled.raw).map(|_| spelled));
        if let Err(error) = own {
            best_error = Some(match best_error {
                Some(best) if closeness(&best) >= closeness(&error) => best,
                _ => error,
            });
        }
        for spelled in own.into_iter().chain(texts.others(scheme)) {
            if check(scheme, layout, spelled.raw).is_ok() {
                let reading = read(scheme, layout, spelled, text, options);
                // Any word can be a number of a large base: such a reading needs a time that makes sense, and more than a word's
                // length, since short ones all lie near an epoch.
                let makes_sense = reading.is_plausible && text.len() >= SHORTEST_NUMBER;
                if spelled.is_certain || makes_sense || options.scheme.is_some() {
                    readings.push(reading);
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

/// What a text says as an id of `scheme` with this layout.
fn read(
    scheme: &'static Scheme,
    layout: &Layout,
    spelled: Spelled<'_>,
    text: &str,
    options: &Options,
) -> Reading {
    /// What a form costs that isn't the scheme's canonical one, and a canonical text in the wrong case.
    const OTHER_FORM: f64 = 4.0;
    const NOT_VERSION_7: f64 = 10.0;
    /// What an id costs that doesn't fit the signed BIGINT in which its scheme keeps it.
    const NOT_SIGNED: f64 = 40.0;
    /// Schemes whose ids are unsigned.
    const UNSIGNED: &[&str] = &["snowflake-discord", "tsid", "tid-atproto"];
    let raw = spelled.raw;
    let mapped = scheme.mapping.to_layout(raw);
    let fields = layout.fields().iter().enumerate();
    let fields: Vec<FieldValue> = fields
        .map(|(i, f)| FieldValue { name: f.name, role: f.role, bits: f.bits, value: layout.value(mapped, i) })
        .collect();
    let base = layout.time_base();
    let time = layout.time(mapped).zip(scheme.mapping.nanos_in_tick(raw)).map(|(t, nanos)| t.plus(nanos));
    let is_plausible = base.is_none() || time.is_some_and(|time| options.is_plausible(time));
    let canonical = scheme.print(raw).to_string();
    let mut bits = f64::from(scheme.facts.surprise.unwrap_or(0));
    bits += cost(scheme, layout, mapped, is_plausible, options);
    let mut notes: Vec<String> = Vec::new();
    let is_typeid = scheme.name == "typeid";
    let canonical = match spelled.prefix {
        // The prefix of a TypeID is a part of it; others stand before ids that don't know of them.
        Some(prefix) if is_typeid => format!("{prefix}{canonical}"),
        Some(prefix) => {
            notes.push(format!("after the prefix `{prefix}`"));
            canonical
        }
        None => canonical,
    };
    // Hex digits come in both cases everywhere; in other bases the case tells schemes apart.
    let is_other_case = !text.ends_with(canonical.as_str()) && scheme.canonical().base.radix() != 16;
    match spelled.form {
        // A number is as good a spelling as any.
        Some("decimal") => {}
        Some(form) => {
            notes.push(format!("as {form}"));
            bits += OTHER_FORM;
        }
        None => bits += if is_other_case { OTHER_FORM } else { 0.0 },
    }
    if is_typeid && crate::rfc9562::version(raw.low()) != Some(7) {
        notes.push("its UUID is not of version 7".to_string());
        bits += NOT_VERSION_7;
    }
    if layout.bits() == 64 && !raw.fits(63) && !UNSIGNED.contains(&scheme.name) {
        notes.push("does not fit a signed BIGINT".to_string());
        bits += NOT_SIGNED;
    }
    if base.is_some() && !is_plausible {
        notes.push(implausible(time, options));
    }
    if let Some(note) = warnings::ordered_uuid_note(scheme, raw, options) {
        notes.push(note);
    }
    Reading {
        scheme: scheme.name,
        text: canonical,
        time,
        time_digits: base.map_or(0, TimeBase::fraction_digits).max(if time_is_finer(scheme) { 3 } else { 0 }),
        cost: bits,
        fields,
        is_plausible,
        note: (!notes.is_empty()).then(|| notes.join("; ")),
    }
}

/// Whether a time is finer than the ticks of its field.
fn time_is_finer(scheme: &Scheme) -> bool {
    scheme.mapping == Mapping::SqlDatetime
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
            ("63DD0AD3-A111-DD11-B2EB-005056AE063C", "newsequentialid"),
        ] {
            assert_eq!(names(text)[0], scheme, "{text}");
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
            ("38352658567418872", "tsid"),
            ("295913926632165376", "cosid"),
            ("234712552579141", "yitter-idgenerator"),
            ("5828128208445124608", "flake-idgen"),
            ("5980780305148018688", "spanner-bit-reversed"),
        ] {
            assert!(names(text)[..3].contains(&scheme), "{text}: {:?}", names(text));
        }
        assert_eq!(names("1288834974657")[0], "unix-ms");
        assert_eq!(names("16777216")[0], "integer");
    }

    #[test]
    fn texts_of_one_length_are_told_apart() {
        for (text, scheme) in [
            ("9m4e2mr0ui3e8a215n4g", "xid"),
            ("-JhLeOlGIEjaIOFHR0xd", "firebase-pushid"),
            ("AVyDaRQyRf-0pPhu5n3a", "elasticflake"),
            ("W0tpsmIBdwcYyG50zbta", "elasticsearch-id"),
            ("cjld2cjxh0000qzrmn831i7rn", "cuid"),
            ("0372hg16csmsm50l8dikcvukc", "scru128"),
            ("pfh0haxfpzowht3oi213cqos", "cuid2"),
            ("V1StGXR8_Z5jdHi6B-myT", "nanoid"),
            ("3jzfcijpj2z2a", "tid-atproto"),
            ("01226N0640J7Q", "tsid"),
            ("prefix_01h455vb4pex5vsknk084sn02q", "typeid"),
            ("prefix_01ARZ3NDEKTSV4RRFFQ69G5FAV", "ulid"),
            ("AX8i4nmwfMOYxNwMDAc5jw", "uuid-v7"),
            ("CXc85b4rqinB7s5J52TRYb", "uuid-v4"),
            ("1b9efqnl51jj7-4u66ikpfq9ugm", "sid"),
            ("15a5cf57e7d2a837-6eaafe687e7b3ec3", "sid"),
            ("00000000-012f-cd83-00000000000003e9", "lexicaluuid"),
            ("8HFaDzqL3ULkWgRE8G", "boundary-flake"),
            ("00000134d4212d43109add5e0e8f0000", "boundary-flake"),
            ("11ea61ae593200aabbf20242ac130003", "mysql-swapped-v1"),
            ("1026baba-6ccd-780c-9564-5b8c656024db", "mysql-swapped-v1"),
            ("3Q38XWW0Q98GMAD3NHWZM2PZWZ", "ulid"),
        ] {
            assert_eq!(names(text).first(), Some(&scheme), "{text}: {:?}", names(text));
        }
        assert!(names("0JferHIEYZk")[..2].contains(&"cosid"));
        assert!(names("_01h455vb4pex5vsknk084sn02q").is_empty());
        assert!(names("hello").is_empty(), "{:?}", names("hello"));
        let legacy = inspect("E25AFE33-DB2D-4502-9BF0-919001862CC4", &options());
        let reading = legacy.readings.iter().find(|r| r.scheme == "comb-legacy").unwrap();
        assert_eq!(reading.time_text().unwrap(), "2002-01-10T23:40:35.000Z");
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
    fn what_databases_do_to_ids_is_warned_of() {
        let warnings = |text: &str| inspect(text, &options()).warnings.join("; ");
        assert!(warnings("0ujtsYcgvSTl8PAuAdqWYSMnLOv").contains("case-insensitive collation"));
        assert!(!warnings("01ARZ3NDEKTSV4RRFFQ69G5FAV").contains("collation"));
        for text in ["1026baba-6ccd-780c-9564-5b8c656024db", "baba1026-780c-6ccd-9564-5b8c656024db"] {
            assert!(warnings(text).contains("6ccd780c-baba-1026-9564-5b8c656024db"), "{text}");
        }
        assert!(!warnings("017f22e2-79b0-7cc3-98c4-dc0c0c07398f").contains("swapped"));
    }

    #[test]
    fn an_implausible_time_is_said() {
        let found = inspect("01a6ce4c-5a19-7006-b045-197ad8210718", &options());
        assert!(!found.readings[0].is_plausible);
        assert_eq!(found.readings[0].note.as_deref(), Some("implausible time: after 2026-12-01T00:00:00Z"));
    }
}
