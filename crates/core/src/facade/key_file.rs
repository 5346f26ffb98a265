//! Files of keys: TOML with a `[[key]]` table a key, as `mintage facade keygen` makes them.
//!
//! No message shows a value of the file: one that stands in the wrong place may be the secret.

use super::{Domain, Key, Kind, Secret};
use crate::error::Error;
use crate::time::UnixNanos;
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;
use core::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The keys of a file.
#[derive(Debug)]
pub struct KeyFile {
    entries: Vec<Entry>,
}

/// A key, and whether it is marked `current = true`.
#[derive(Debug)]
struct Entry {
    key: Key,
    is_current: bool,
}

/// What is wrong with a file of keys, or with what was asked of it, and where that stands. Never a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyFileError {
    /// Line and column, counted from 1, where it is a place.
    pub at: Option<(usize, usize)>,
    /// What is wrong, and what was expected.
    pub reason: String,
}

impl fmt::Display for KeyFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((line, column)) = self.at {
            write!(f, "line {line}, column {column}: ")?;
        }
        f.write_str(&self.reason)
    }
}

impl core::error::Error for KeyFileError {}

impl From<String> for KeyFileError {
    fn from(reason: String) -> Self {
        Self { at: None, reason }
    }
}

impl KeyFile {
    /// Reads the text of a file.
    ///
    /// # Errors
    /// [`KeyFileError`] for what is no TOML, a table or a field that isn't one of a key, and two keys of one id.
    pub fn parse(text: &str) -> Result<Self, KeyFileError> {
        let wrong = |span: Range<usize>, reason: String| {
            let before = text.get(..span.start).unwrap_or(text);
            let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
            let (line, column) = (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1);
            KeyFileError { at: Some((line, column)), reason }
        };
        let root = DeTable::parse(text).map_err(|error| {
            let reason = format!("not TOML: {}", error.message());
            error.span().map_or_else(|| reason.clone().into(), |span| wrong(span, reason.clone()))
        })?;
        let mut entries: Vec<Entry> = Vec::new();
        for (name, value) in root.get_ref() {
            let tables = match value.get_ref() {
                DeValue::Array(tables) if name.get_ref() == "key" => tables,
                _ => return Err(wrong(name.span(), "only [[key]] tables expected".to_owned())),
            };
            for table in tables {
                let DeValue::Table(fields) = table.get_ref() else {
                    return Err(wrong(table.span(), "a [[key]] table expected".to_owned()));
                };
                let entry = Fields { fields, span: table.span() }
                    .entry()
                    .map_err(|(span, reason)| wrong(span, reason))?;
                if entries.iter().any(|known| known.key.id() == entry.key.id()) {
                    return Err(wrong(table.span(), "two keys have this id".to_owned()));
                }
                entries.push(entry);
            }
        }
        Ok(Self { entries })
    }

    /// All keys, in the order of the file.
    pub fn keys(&self) -> impl ExactSizeIterator<Item = &Key> {
        self.entries.iter().map(|entry| &entry.key)
    }

    /// The key that is marked current and is for the same kind and domain as this one.
    #[must_use]
    pub fn current_beside(&self, key: &Key) -> Option<&Key> {
        let entry = self.entries.iter().find(|entry| entry.is_current && facts(&entry.key) == facts(key));
        entry.map(|entry| &entry.key)
    }

    /// The one key that is meant: of this kind, domain and id, as far as they are given; of several the current one, else the newest.
    ///
    /// # Errors
    /// [`KeyFileError`] where there is none, or more than one may be meant.
    pub fn choose(
        self,
        kind: Option<&'static Kind>,
        domain: Option<Domain>,
        id: Option<&str>,
    ) -> Result<Key, KeyFileError> {
        let ids = |entries: &[&Entry]| entries.iter().map(|e| e.key.id()).collect::<Vec<_>>().join(", ");
        let all: Vec<&Entry> = self.entries.iter().collect();
        let fits = |entry: &&Entry| {
            kind.is_none_or(|kind| kind.name == entry.key.kind().name)
                && domain.is_none_or(|domain| domain == entry.key.domain())
        };
        let wanted = [kind.map(|kind| kind.name.to_owned()), domain.map(|domain| domain.to_string())];
        let wanted = wanted.into_iter().flatten().collect::<Vec<_>>().join(" ");
        if let Some(id) = id {
            let Some(entry) = all.iter().find(|entry| entry.key.id() == id) else {
                return Err(KeyFileError::from(format!(
                    "no key has the id `{id}`; there are: {}",
                    ids(&all)
                )));
            };
            if !fits(entry) {
                return Err(KeyFileError::from(format!(
                    "key {id} is for {}, not for {wanted}",
                    facts(&entry.key)
                )));
            }
            return self.take(|entry| entry.key.id() == id);
        }
        let fitting: Vec<&Entry> = all.into_iter().filter(fits).collect();
        let Some(first) = fitting.first() else {
            let what = if wanted.is_empty() { String::new() } else { format!(" for {wanted}") };
            return Err(KeyFileError::from(format!("no key{what}; `mintage facade keygen --add` makes one")));
        };
        let is_same = |entry: &&Entry| facts(&entry.key) == facts(&first.key);
        if let Some(other) = fitting.iter().find(|entry| !is_same(entry)) {
            return Err(KeyFileError::from(format!(
                "it has keys for {} and for {}; say which by --kind, --domain or --key-id",
                facts(&first.key),
                facts(&other.key)
            )));
        }
        let current: Vec<&Entry> = fitting.iter().copied().filter(|entry| entry.is_current).collect();
        let chosen = match current[..] {
            [] => {
                fitting.iter().max_by_key(|entry| entry.key.created()).map(|entry| entry.key.id().to_owned())
            }
            [one] => Some(one.key.id().to_owned()),
            _ => {
                return Err(KeyFileError::from(format!(
                    "{} are all marked current; leave the mark on one",
                    ids(&current)
                )));
            }
        };
        self.take(|entry| Some(entry.key.id()) == chosen.as_deref())
    }

    fn take(self, is_meant: impl Fn(&Entry) -> bool) -> Result<Key, KeyFileError> {
        let found = self.entries.into_iter().find(is_meant).map(|entry| entry.key);
        found.ok_or_else(|| KeyFileError::from("no such key".to_owned()))
    }
}

/// What a key is for.
fn facts(key: &Key) -> String {
    format!("{} {}", key.kind().name, key.domain())
}

/// The fields of a `[[key]]` table, and where it stands.
struct Fields<'t, 'i> {
    fields: &'t DeTable<'i>,
    span: Range<usize>,
}

/// A place and what is wrong there.
type Wrong = (Range<usize>, String);

const NAMES: [&str; 8] = ["id", "kind", "domain", "version", "created", "hex", "tweak", "current"];

impl<'i> Fields<'_, 'i> {
    fn entry(&self) -> Result<Entry, Wrong> {
        for name in self.fields.keys() {
            if !NAMES.contains(&name.get_ref().as_ref()) {
                return Err((name.span(), format!("none of {}", NAMES.join(", "))));
            }
        }
        let (kind, span) = self.text("kind")?;
        let kind = Kind::by_name(kind).map_err(|error| (span, error.to_string()))?;
        let (domain, span) = self.text("domain")?;
        let domain = domain.parse::<Domain>().map_err(|error| (span, error.to_string()))?;
        let (hex, hex_span) = self.text("hex")?;
        let secret = Secret::from_hex(kind.name, hex).map_err(|error| (hex_span, error.to_string()))?;
        let (id, _) = self.text("id")?;
        let wrong = |error: Error| (self.span.clone(), error.to_string());
        let mut key = Key::new(id, kind, domain, self.created()?, secret).map_err(wrong)?;
        key = key.with_version(self.version()?).map_err(wrong)?;
        if self.fields.contains_key("tweak") {
            let (tweak, span) = self.text("tweak")?;
            let tweak = bytes(tweak).ok_or((span, "tweak: two hex digits a byte expected".to_owned()))?;
            key = key.with_tweak(&tweak).map_err(wrong)?;
        }
        Ok(Entry { key, is_current: self.current()? })
    }

    fn value(&self, name: &str) -> Result<&Spanned<DeValue<'i>>, Wrong> {
        self.fields.get(name).ok_or_else(|| (self.span.clone(), format!("{name} is missing in this key")))
    }

    fn text(&self, name: &str) -> Result<(&str, Range<usize>), Wrong> {
        let value = self.value(name)?;
        let text = value.get_ref().as_str();
        text.map(|text| (text, value.span()))
            .ok_or_else(|| (value.span(), format!("{name}: text in quotes expected")))
    }

    fn version(&self) -> Result<u32, Wrong> {
        let value = self.value("version")?;
        let number = match value.get_ref() {
            DeValue::Integer(number) => u32::from_str_radix(number.as_str(), number.radix()).ok(),
            _ => None,
        };
        number.ok_or_else(|| (value.span(), "version: a whole number expected".to_owned()))
    }

    /// As TOML's own time, or as text.
    fn created(&self) -> Result<UnixNanos, Wrong> {
        let value = self.value("created")?;
        let time = match value.get_ref() {
            DeValue::Datetime(time) => UnixNanos::parse(&time.to_string()).ok(),
            DeValue::String(text) => UnixNanos::parse(text).ok(),
            _ => None,
        };
        time.ok_or_else(|| {
            (value.span(), "created: a time with an offset expected, such as 2026-11-30T12:00:00Z".to_owned())
        })
    }

    fn current(&self) -> Result<bool, Wrong> {
        match self.fields.get("current") {
            None => Ok(false),
            Some(value) => match value.get_ref() {
                DeValue::Boolean(is_current) => Ok(*is_current),
                _ => Err((value.span(), "current: true or false expected".to_owned())),
            },
        }
    }
}

/// Two hex digits a byte.
pub fn bytes(hex: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u32>> = hex.chars().map(|c| c.to_digit(16)).collect();
    let digits = digits.filter(|digits| digits.len().is_multiple_of(2))?;
    digits.chunks(2).map(|pair| u8::try_from(pair[0] << 4 | pair[1]).ok()).collect()
}
