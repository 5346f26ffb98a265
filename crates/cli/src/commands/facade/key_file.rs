//! Files of keys: TOML with a `[[key]]` table a key.
//!
//! No message shows a value of the file: one that stands in the wrong place may be the secret.

use super::private;
use crate::exit::{Failure, usage};
use anyhow::anyhow;
use mintage::facade::Key;
use mintage::facade::key_file::{KeyFile, KeyFileError};
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::Path;
use zeroize::Zeroizing;

/// Larger files are no files of keys.
const LARGEST: u64 = 1 << 20;

/// What stands above the first key.
const HEAD: &str = "\
# Keys of facades (mintage facade). Whoever reads this file can decode every facade made with it: keep it at mode 0600.
# The key marked `current = true` encodes, else the newest. Keep old keys: what they encoded is decoded with --key-id.
";

/// Reads a file, with a warning when others may read it too.
pub(super) fn read(path: &Path) -> Result<KeyFile, Failure> {
    let file = open(path)?;
    if let Some(mode) = private::loose_mode(&file).map_err(cannot(path))? {
        eprintln!(
            "mintage: warning: {0}: others than its owner may read or change it (mode {mode:04o}); chmod 600 {0}",
            path.display()
        );
    }
    KeyFile::parse(&text_of(path, &file)?).map_err(wrong(path))
}

/// What is wrong with this file.
pub(super) fn wrong(path: &Path) -> impl Fn(KeyFileError) -> Failure {
    move |error| usage(format!("{}: {error}", path.display()))
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
    let before = KeyFile::parse(&text).map_err(wrong(path))?;
    let ids: Vec<&str> = before.keys().map(Key::id).collect();
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
    let after = KeyFile::parse(&text).map_err(wrong(path))?;
    if after.keys().len() != before.keys().len() + 1 {
        return Err(usage(format!("{}: keys can be added only behind [[key]] tables", path.display())));
    }
    if let Some(current) = before.current_beside(&key) {
        eprintln!(
            "mintage: warning: {}: key {} is marked current, so {} won't encode until the mark is moved",
            path.display(),
            current.id(),
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
