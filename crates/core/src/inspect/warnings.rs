//! What to watch about an id: what JavaScript makes of it, what it tells strangers, why it can't be read.

use super::{Options, Reading};
use crate::error::Error;
use crate::layout::Role;
use crate::orders::Order;
use crate::raw::RawId;
use crate::rfc9562::{parse_any, version};
use crate::scheme::Scheme;
use crate::text::HYPHENATED;
use crate::time::UnixNanos;
use std::format;
use std::string::{String, ToString};
use std::vec::Vec;

/// The largest number that JavaScript holds exactly together with all smaller ones: 2^53 - 1.
const MAX_SAFE_INTEGER: u64 = (1 << 53) - 1;

/// The warnings for a text whose readings are these, best first.
pub(super) fn warnings(text: &str, readings: &[Reading], options: &Options) -> Vec<String> {
    let mut found = Vec::new();
    let best = &readings[0];
    if let Some(warning) = javascript(text) {
        found.push(warning);
    }
    if let Some(warning) = rounded(text) {
        found.push(warning);
    }
    let is_number = text.bytes().all(|b| b.is_ascii_digit());
    if is_number && text.len() >= 20 && text.parse::<u64>().is_err() {
        found.push("as a number it is above 2^64: no 64-bit id".to_string());
    }
    if !best.is_plausible {
        let time = best.time.map_or_else(|| "out of range".to_string(), |time| time.to_string());
        found.push(format!("implausible time as {}: {time}", best.scheme));
    }
    if best.text != text && !best.note.as_deref().is_some_and(|note| note.starts_with("after the prefix")) {
        found.push(format!("not canonical: {} is written {}", best.scheme, best.text));
    }
    if is_constant(best) {
        found.push(format!("all bits are equal: a placeholder, not a minted {}", best.scheme));
    }
    if let Some(warning) = ambiguous(readings, options) {
        found.push(warning);
    }
    found.extend(swapped(best));
    found.extend(case_matters(best));
    if let Some(scheme) = Scheme::by_name(best.scheme) {
        found.push(format!("reveals {}", reveals(scheme, best)));
    }
    found
}

/// Why nothing fits.
pub(super) fn unreadable(text: &str, error: Option<Error>, options: &Options) -> Vec<String> {
    let reason = if text.is_empty() {
        "empty: an id is expected".to_string()
    } else if let Some(at) = text.chars().position(char::is_whitespace) {
        format!("white space at character {}: give the id alone", at + 1)
    } else if text.contains(['e', 'E', '.']) && text.parse::<f64>().is_ok_and(f64::is_finite) {
        "a number in scientific notation or with a point: digits of the id are lost; get the id as text"
            .to_string()
    } else {
        match error {
            Some(error) if options.scheme.is_some() => error.to_string(),
            Some(error @ (Error::TooLarge { .. } | Error::LeadingZero { .. } | Error::FixedField { .. })) => {
                error.to_string()
            }
            Some(error @ Error::Character { at, .. }) if at > 8 => error.to_string(),
            _ => format!("no scheme here has ids like this one of {} characters", text.chars().count()),
        }
    };
    Vec::from([reason])
}

/// What JavaScript makes of a number above 2^53. Two kinds of damage: another value, or the same value printed with other digits.
fn javascript(text: &str) -> Option<String> {
    let value: u64 = text.parse().ok().filter(|value| *value > MAX_SAFE_INTEGER)?;
    #[expect(clippy::cast_precision_loss, reason = "the loss is what is shown")]
    let double = value as f64;
    // Rust and JavaScript print the same shortest digits that lead back to the double, padded with zeros.
    let shown = double.to_string();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a double below 2^65 is a whole number"
    )]
    let kept = double as u128 == u128::from(value);
    Some(match (kept, shown == text) {
        (true, true) => {
            "above 2^53: JavaScript happens to keep this number, but not its neighbours; pass ids as strings"
                .to_string()
        }
        (true, false) => {
            format!("above 2^53: JavaScript keeps the value but prints it as {shown}; pass ids as strings")
        }
        _ => format!("above 2^53: JavaScript makes it {shown}, another id; pass ids as strings"),
    })
}

/// A number that looks as if JavaScript had printed it already.
fn rounded(text: &str) -> Option<String> {
    let value: u64 = text.parse().ok().filter(|value| *value > MAX_SAFE_INTEGER)?;
    let zeros = text.len() - text.trim_end_matches('0').len();
    #[expect(clippy::cast_precision_loss, reason = "whether anything was lost is the question")]
    let is_shortest = (value as f64).to_string() == text;
    // A double has 15 to 17 digits; further ones are printed as zeros. One id in a hundred ends so by chance.
    (is_shortest && zeros >= 2 && text.len() >= zeros + 15 && text.len() - zeros <= 17).then(|| {
        format!("ends in {zeros} zeros after 15 to 17 digits, as numbers do that went through JavaScript: the last digits may be lost")
    })
}

fn is_constant(reading: &Reading) -> bool {
    let varying = || reading.fields.iter().filter(|f| !matches!(f.role, Role::Fixed(_)));
    reading.fields.len() > 1
        && (varying().all(|f| f.value == 0) || varying().all(|f| f.value == crate::raw::mask(f.bits)))
}

/// A version 1 UUID that went through MySQL's `UUID_TO_BIN` and `BIN_TO_UUID` with different flags.
fn swapped(reading: &Reading) -> Option<String> {
    let uuid = parse_any(&reading.text).ok()?;
    let is_swapped = reading.scheme == "mysql-swapped-v1" || !reading.is_plausible;
    let orders = [Order::MysqlSwapped.undo(uuid), Order::MysqlSwapped.apply(uuid)];
    let original = orders.into_iter().find(|uuid| version(*uuid) == Some(1)).filter(|_| is_swapped)?;
    let text = HYPHENATED.print(RawId::new(original)).ok()?;
    Some(format!("swapped flag: with UUID_TO_BIN(…, 1) undone it is the version 1 UUID {text}"))
}

/// Texts in which upper and lower case are different digits.
fn case_matters(reading: &Reading) -> Option<String> {
    let scheme = Scheme::by_name(reading.scheme)?;
    let digits = scheme.canonical().base.digits();
    let has = |is_case: fn(&u8) -> bool| digits.iter().any(is_case);
    (has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase)).then(|| {
        "upper and lower case differ: under a case-insensitive collation two ids can be equal; store it in a binary one \
         (COLLATE \"C\", ascii_bin)"
            .to_string()
    })
}

/// Several layouts give a plausible time.
fn ambiguous(readings: &[Reading], options: &Options) -> Option<String> {
    if options.scheme.is_some() || readings[0].scheme == "integer" {
        return None;
    }
    let plausible = readings.iter().filter(|r| r.is_plausible && r.time.is_some()).count();
    (plausible > 1).then(|| {
        format!("{plausible} readings have a plausible time: time alone decides little; read several ids of one kind together to settle it")
    })
}

/// What the id tells, with what this one shows of its maker.
fn reveals(scheme: &Scheme, reading: &Reading) -> String {
    const MULTICAST: u128 = 1 << 40;
    let node = reading.fields.iter().find(|f| f.name == "node").map(|f| f.value);
    match node {
        Some(node) if node & MULTICAST == 0 => {
            let octet = |i: u32| node >> (40 - 8 * i) & 0xff;
            let address: Vec<String> = (0..6).map(|i| format!("{:02x}", octet(i))).collect();
            format!("{}: here {}", scheme.facts.leaks, address.join(":"))
        }
        Some(_) => format!("{}; here the node is random, not a network card", scheme.facts.leaks),
        None => scheme.facts.leaks.to_string(),
    }
}

/// One random version 4 UUID in four looks like an ordered UUID of Laravel, which has a time in units of 10 µs in its first 48 bits
/// and version 4 as well.
pub(super) fn ordered_uuid_note(scheme: &Scheme, raw: RawId, options: &Options) -> Option<String> {
    const UNIT: i128 = 10_000;
    if scheme.name != "uuid-v4" {
        return None;
    }
    let time = UnixNanos(raw.bits(80, 48).cast_signed() * UNIT);
    let shown = options.is_plausible(time).then(|| time.rfc3339(3)).flatten()?;
    Some(format!(
        "as an ordered UUID (48 bits of 10 µs) it would be of {shown}; 1 random v4 in 4 looks so, and a single id is no evidence"
    ))
}
