//! What looks like an id and is none: times, hashes, plain numbers, UUIDs of no known kind.

use super::cost::log2;
use super::{FieldValue, Options, Reading};
use crate::layout::Role;
use crate::rfc9562::{Variant, parse_any, parse_postgres, version_bits};
use crate::text::HYPHENATED;
use crate::time::UnixNanos;
use std::format;
use std::string::{String, ToString};
use std::vec::Vec;

/// Something that isn't an id of a scheme but could be taken for one.
#[derive(Debug)]
pub struct Lookalike {
    /// Its name, in place of a scheme's.
    pub name: &'static str,
    /// What it is.
    pub summary: &'static str,
    /// Reads a text as one, when it can be.
    pub read: fn(&str, &Options) -> Option<Reading>,
}

/// The name for UUIDs whose version or variant RFC 9562 doesn't define.
pub(crate) const UUID_NONRFC: &str = "uuid-nonrfc";

/// All of them.
pub static LOOKALIKES: &[Lookalike] = &[
    Lookalike {
        name: "unix-s",
        summary: "a Unix time in seconds",
        read: |t, o| unix_time("unix-s", t, 10, 1_000_000_000, o),
    },
    Lookalike {
        name: "unix-ms",
        summary: "a Unix time in milliseconds",
        read: |t, o| unix_time("unix-ms", t, 13, 1_000_000, o),
    },
    Lookalike {
        name: "unix-us",
        summary: "a Unix time in microseconds",
        read: |t, o| unix_time("unix-us", t, 16, 1_000, o),
    },
    Lookalike {
        name: "unix-ns",
        summary: "a Unix time in nanoseconds",
        read: |t, o| unix_time("unix-ns", t, 19, 1, o),
    },
    Lookalike { name: "integer", summary: "a plain number, such as a serial key", read: |t, _| integer(t) },
    Lookalike {
        name: "md5",
        summary: "an MD5 hash, or other 128 bits as hex",
        read: |t, _| hash("md5", t, 32),
    },
    Lookalike {
        name: "sha1",
        summary: "a SHA-1 hash, or other 160 bits as hex",
        read: |t, _| hash("sha1", t, 40),
    },
    Lookalike {
        name: UUID_NONRFC,
        summary: "a UUID whose version or variant RFC 9562 does not define",
        read: |t, _| other_uuid(t),
    },
];

fn reading(scheme: &'static str, text: String, cost: f64) -> Reading {
    Reading {
        scheme,
        text,
        time: None,
        time_digits: 0,
        fields: Vec::new(),
        is_plausible: true,
        note: LOOKALIKES.iter().find(|l| l.name == scheme).map(|l| l.summary.to_string()),
        cost,
    }
}

/// A number without a leading zero.
fn number(text: &str) -> Option<u64> {
    let is_plain = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    if is_plain && (text.len() == 1 || !text.starts_with('0')) { text.parse().ok() } else { None }
}

/// Only plausible times are offered: any number is some time.
fn unix_time(name: &'static str, text: &str, digits: usize, unit: u64, options: &Options) -> Option<Reading> {
    /// Numbers of just this length are rarely ids; 19 digits are.
    const SURPRISE: f64 = 3.0;
    const SURPRISE_OF_NANOSECONDS: f64 = 6.0;
    let count = number(text).filter(|_| text.len() == digits)?;
    let time = UnixNanos(i128::from(count) * i128::from(unit));
    if !options.is_plausible(time) {
        return None;
    }
    let span = log2((options.now.0 - super::PLAUSIBLE_FROM.0) / i128::from(unit));
    let surprise = if unit == 1 { SURPRISE_OF_NANOSECONDS } else { SURPRISE };
    let time_digits = match unit {
        1 => 9,
        1_000 => 6,
        1_000_000 => 3,
        _ => 0,
    };
    Some(Reading { time: Some(time), time_digits, ..reading(name, text.to_string(), span + surprise) })
}

/// Small numbers: every Snowflake reading of one would lie within minutes of an epoch.
fn integer(text: &str) -> Option<Reading> {
    const LARGEST: u64 = 999_999_999_999;
    let value = number(text).filter(|value| *value <= LARGEST)?;
    // Small numbers are likelier than large ones, each size as likely as the other.
    Some(reading("integer", text.to_string(), log2(i128::from(value) + 1) + 6.0))
}

fn hash(name: &'static str, text: &str, digits: usize) -> Option<Reading> {
    let is_hex = text.len() == digits && text.bytes().all(|b| b.is_ascii_hexdigit());
    // Four bits a digit; a raw KSUID of a plausible time, or a UUID with its fixed bits, needs fewer.
    let bits = f64::from(u32::try_from(digits * 4).ok()?);
    is_hex.then(|| reading(name, text.to_ascii_lowercase(), bits + 4.0))
}

/// `8-4-4-4-12` text, or its spellings with braces, URN and other hyphens; bare hex digits are too little to call it a UUID.
fn other_uuid(text: &str) -> Option<Reading> {
    if text.bytes().all(|b| b.is_ascii_hexdigit()) {
        return None;
    }
    /// What a spelling costs that only PostgreSQL reads.
    const ODD_SPELLING: f64 = 16.0;
    let (uuid, surprise) = match parse_any(text) {
        Ok(uuid) => (uuid, 0.0),
        Err(_) => (parse_postgres(text).ok()?, ODD_SPELLING),
    };
    let (version, variant) = (version_bits(uuid), Variant::of(uuid));
    let text = HYPHENATED.print(crate::RawId::new(uuid)).ok()?.to_string();
    let meaning = match variant {
        Variant::Rfc9562 => format!("version {version} is not defined"),
        other => format!("variant {}: its version bits mean nothing", other.name()),
    };
    let field = |name, bits, value| FieldValue { name, role: Role::Custom, bits, value };
    Some(Reading {
        fields: [
            field("custom_a", 48, uuid >> 80),
            field("ver", 4, uuid >> 76 & 0xf),
            field("custom_b", 12, uuid >> 64 & 0xfff),
            field("var", 2, uuid >> 62 & 3),
            field("custom_c", 62, uuid & crate::raw::mask(62)),
        ]
        .to_vec(),
        note: Some(format!("a UUID that RFC 9562 has no version for: {meaning}")),
        ..reading(UUID_NONRFC, text, 128.0 + 8.0 + surprise)
    })
}
