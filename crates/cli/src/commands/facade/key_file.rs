//! Files of keys: TOML with a `[[key]]` table a key.
//!
//! No message shows a value of the file: one that stands in the wrong place may be the secret.

use super::private;
use crate::exit::{Failure, usage};
use anyhow::anyhow;
use mintage::UnixNanos;
use mintage::facade::{Domain, Key, Kind, Secret};
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use toml::Spanned;
use toml::de::{DeTable, DeValue};
use zeroize::Zeroizing;

/// Larger files are no files of keys.
const LARGEST: u64 = 1 << 20;

/// What stands above the first key.
const HEAD: &str = "\
# Keys of facades (mintage facade). Whoever reads this file can decode every facade made with it: keep it at mode 0600.
# The key marked `current = true` encodes, else the newest. Keep old keys: what they encoded is decoded with --key-id.
";

/// The keys of a file.
pub(super) struct KeyFile {
    path: PathBuf,
    entries: Vec<Entry>,
}

struct Entry {
    key: Key,
    is_current: bool,
}

impl KeyFile {
    /// Reads a file, with a warning when others may read it too.
    pub(super) fn read(path: &Path) -> Result<Self, Failure> {
        let file = open(path)?;
        if let Some(mode) = private::loose_mode(&file).map_err(cannot(path))? {
            eprintln!(
                "mintage: warning: {0}: others than its owner may read or change it (mode {mode:04o}); chmod 600 {0}",
                path.display()
            );
        }
        Self::parse(path, &text_of(path, &file)?)
    }

    fn parse(path: &Path, text: &str) -> Result<Self, Failure> {
        let at = |span: Range<usize>| {
            let before = text.get(..span.start).unwrap_or(text);
            let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
            let (line, column) = (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1);
            format!("{}: line {line}, column {column}", path.display())
        };
        let root = DeTable::parse(text).map_err(|error| {
            let place = error.span().map_or_else(|| path.display().to_string(), &at);
            usage(format!("{place}: not TOML: {}", error.message()))
        })?;
        let mut entries: Vec<Entry> = Vec::new();
        for (name, value) in root.get_ref() {
            let tables = match value.get_ref() {
                DeValue::Array(tables) if name.get_ref() == "key" => tables,
                _ => return Err(usage(format!("{}: only [[key]] tables expected", at(name.span())))),
            };
            for table in tables {
                let DeValue::Table(fields) = table.get_ref() else {
                    return Err(usage(format!("{}: a [[key]] table expected", at(table.span()))));
                };
                let entry = Fields { fields, span: table.span() }
                    .entry()
                    .map_err(|(span, reason)| usage(format!("{}: {reason}", at(span))))?;
                if entries.iter().any(|known| known.key.id() == entry.key.id()) {
                    return Err(usage(format!("{}: two keys have this id", at(table.span()))));
                }
                entries.push(entry);
            }
        }
        Ok(Self { path: path.to_owned(), entries })
    }

    /// The one key that is meant: of this kind, domain and id, as far as they are given; of several the current one, else the newest.
    pub(super) fn choose(
        self,
        kind: Option<&'static Kind>,
        domain: Option<Domain>,
        id: Option<&str>,
    ) -> Result<Key, Failure> {
        let place = self.path.display().to_string();
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
                return Err(usage(format!("{place}: no key has the id `{id}`; there are: {}", ids(&all))));
            };
            if !fits(entry) {
                return Err(usage(format!(
                    "{place}: key {id} is for {}, not for {wanted}",
                    facts(&entry.key)
                )));
            }
            return self.take(|entry| entry.key.id() == id);
        }
        let fitting: Vec<&Entry> = all.into_iter().filter(fits).collect();
        let Some(first) = fitting.first() else {
            let what = if wanted.is_empty() { String::new() } else { format!(" for {wanted}") };
            return Err(usage(format!("{place}: no key{what}; `mintage facade keygen --add` makes one")));
        };
        let is_same = |entry: &&Entry| facts(&entry.key) == facts(&first.key);
        if let Some(other) = fitting.iter().find(|entry| !is_same(entry)) {
            return Err(usage(format!(
                "{place}: it has keys for {} and for {}; say which by --kind, --domain or --key-id",
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
                return Err(usage(format!(
                    "{place}: {} are all marked current; leave the mark on one",
                    ids(&current)
                )));
            }
        };
        self.take(|entry| Some(entry.key.id()) == chosen.as_deref())
    }

    fn take(self, is_meant: impl Fn(&Entry) -> bool) -> Result<Key, Failure> {
        let found = self.entries.into_iter().find(is_meant).map(|entry| entry.key);
        found.ok_or_else(|| usage(format!("{}: no such key", self.path.display())))
    }
}

/// What a key is for.
fn facts(key: &Key) -> String {
    format!("{} {}", key.kind().name, key.domain())
}

/// Makes a file with one key; `make` gets an id that is free. The key's id is returned.
pub(super) fn create(path: &Path, make: impl FnOnce(&str) -> Result<Key, Failure>) -> Result<Key, Failure> {
    let key = make(&free_id(&[]))?;
    let mut file = private::create(path).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => {
            usage(format!("{}: there is such a file; --add appends a key to it", path.display()))
        }
        _ => cannot(path)(error),
    })?;
    let text = Zeroizing::new(format!("{HEAD}{}", *table(&key)));
    let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_all());
    if let Err(error) = written.and_then(|()| sync_folder(path)) {
        // Half a file of keys would look like a whole one.
        let _ = fs::remove_file(path);
        return Err(cannot(path)(error));
    }
    Ok(key)
}

/// Appends a key to a file: a new file takes its place in one step, so readers see the old keys or all of them.
pub(super) fn append(path: &Path, make: impl FnOnce(&str) -> Result<Key, Failure>) -> Result<Key, Failure> {
    let shown = || path.display().to_string();
    // Not in place of a link, but of what it leads to.
    let path = &path.canonicalize().map_err(|error| {
        let next = if error.kind() == io::ErrorKind::NotFound { "; leave --add out to make it" } else { "" };
        Failure::Cannot(anyhow!("{}: {error}{next}", shown()))
    })?;
    let old = locked(path)?;
    let loose_mode = private::loose_mode(&old).map_err(cannot(path))?;
    let mut text = text_of(path, &old)?;
    let before = KeyFile::parse(path, &text)?;
    let ids: Vec<&str> = before.entries.iter().map(|entry| entry.key.id()).collect();
    let key = make(&free_id(&ids))?;
    if ids.contains(&key.id()) {
        return Err(usage(format!(
            "{}: it has a key {} already; choose another --id",
            path.display(),
            key.id()
        )));
    }
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text.push_str(&table(&key));
    let after = KeyFile::parse(path, &text)?;
    if after.entries.len() != before.entries.len() + 1 {
        return Err(usage(format!("{}: keys can be added only behind [[key]] tables", path.display())));
    }
    if let Some(current) = before.entries.iter().find(|e| e.is_current && facts(&e.key) == facts(&key)) {
        eprintln!(
            "mintage: warning: {}: key {} is marked current, so {} won't encode until the mark is moved",
            path.display(),
            current.key.id(),
            key.id()
        );
    }
    replace(path, &old, &text)?;
    if let Some(mode) = loose_mode {
        eprintln!(
            "mintage: warning: {}: others could read or change it (mode {mode:04o}); it has mode 0600 from now on, but what was read can't \
             be taken back",
            path.display()
        );
    }
    Ok(key)
}

/// `k1`, `k2`, …: the first that no key has.
fn free_id(taken: &[&str]) -> String {
    (1u32..).map(|number| format!("k{number}")).find(|id| !taken.contains(&id.as_str())).unwrap_or_default()
}

/// The file, locked against others that append. Whoever waited for the lock may hold a file that was replaced meanwhile.
fn locked(path: &Path) -> Result<File, Failure> {
    loop {
        let file = open(path)?;
        file.lock().map_err(cannot(path))?;
        if private::is_at(&file, path).map_err(cannot(path))? {
            return Ok(file);
        }
    }
}

fn replace(path: &Path, old: &File, text: &str) -> Result<(), Failure> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let beside = path.with_file_name(format!(".{name}.{}.new", std::process::id()));
    let replaced = private::create(&beside).and_then(|mut file| {
        private::keep_owner(old, &file)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&beside, path)?;
        sync_folder(path)
    });
    replaced.map_err(|error| {
        if error.kind() != io::ErrorKind::AlreadyExists {
            let _ = fs::remove_file(&beside);
        }
        Failure::Cannot(anyhow!(error).context(format!("{} (through {})", path.display(), beside.display())))
    })
}

/// So that the name is there after a crash.
fn sync_folder(path: &Path) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    match File::open(folder) {
        Ok(folder) => folder.sync_all(),
        // A folder that may be written but not read.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(()),
        Err(error) => Err(error),
    }
}

/// The failure of a call on this file.
fn cannot(path: &Path) -> impl Fn(io::Error) -> Failure {
    move |error| Failure::Cannot(anyhow!(error).context(path.display().to_string()))
}

fn open(path: &Path) -> Result<File, Failure> {
    File::open(path).map_err(cannot(path))
}

fn text_of(path: &Path, file: &File) -> Result<Zeroizing<String>, Failure> {
    // As long as the file: a text that grew would leave parts of itself behind.
    let length = file.metadata().map_err(cannot(path))?.len().min(LARGEST);
    let mut text = Zeroizing::new(String::with_capacity(usize::try_from(length).unwrap_or_default() + 1024));
    file.take(LARGEST + 1).read_to_string(&mut text).map_err(cannot(path))?;
    if text.len() as u64 > LARGEST {
        return Err(usage(format!("{}: more than {LARGEST} bytes: not a file of keys", path.display())));
    }
    Ok(text)
}

/// A key as TOML.
fn table(key: &Key) -> Zeroizing<String> {
    // As long as it becomes: a text that grew would leave parts of itself behind.
    let mut text = Zeroizing::new(String::with_capacity(2048));
    let created = key.created().rfc3339(0).map_or_else(|| key.created().to_string(), |time| time.to_string());
    text.push_str("\n[[key]]\n");
    let facts = format!(
        "id = \"{}\"\nkind = \"{}\"\ndomain = \"{}\"\nversion = {}\ncreated = {created}\n",
        key.id(),
        key.kind().name,
        key.domain(),
        key.version(),
    );
    text.push_str(&facts);
    if !key.tweak().is_empty() {
        let hex = key.tweak().iter().fold(String::new(), |mut hex, byte| {
            let _ = write!(hex, "{byte:02x}");
            hex
        });
        text.push_str(&format!("tweak = \"{hex}\"\n"));
    }
    text.push_str("hex = \"");
    text.push_str(&key.secret().to_hex());
    text.push_str("\"\n");
    text
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
        let wrong = |error: mintage::Error| (self.span.clone(), error.to_string());
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
pub(super) fn bytes(hex: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u32>> = hex.chars().map(|c| c.to_digit(16)).collect();
    let digits = digits.filter(|digits| digits.len().is_multiple_of(2))?;
    digits.chunks(2).map(|pair| u8::try_from(pair[0] << 4 | pair[1]).ok()).collect()
}
