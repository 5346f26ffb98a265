//! Facades by name: each is a file of keys in a folder, read again when the folder changes.

use crate::fault::{Fault, Kind};
use mintage::facade::Facade;
use mintage::facade::key_file::KeyFile;
use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::SystemTime;
use zeroize::Zeroizing;

/// Larger files are no files of keys.
const LARGEST: u64 = 1 << 20;

/// What the names of files end with.
const EXTENSION: &str = "toml";

/// Which way a text goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// From an internal id to its public form.
    Encode,
    /// Back.
    Decode,
}

/// What is wrong with the folder, or with a file in it.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {fault}")]
pub struct Error {
    path: String,
    fault: String,
}

impl Error {
    fn of(path: &Path, fault: impl ToString) -> Self {
        Self { path: path.display().to_string(), fault: fault.to_string() }
    }
}

/// The facades of one file: one a key, and which of them encodes.
#[derive(Debug)]
struct Named {
    by_key: BTreeMap<String, Box<dyn Facade>>,
    current: String,
}

/// The facades of a folder.
#[derive(Debug, Default)]
pub struct Facades {
    folder: Option<PathBuf>,
    known: RwLock<BTreeMap<String, Arc<Named>>>,
    seen: RwLock<Vec<(PathBuf, SystemTime, u64)>>,
}

impl Facades {
    /// Those of a folder; none without one.
    ///
    /// # Errors
    /// [`Error`].
    pub fn of(folder: Option<PathBuf>) -> Result<Self, Error> {
        let own = Self { folder, ..Self::default() };
        own.read_again()?;
        Ok(own)
    }

    /// Reads the files again if they are others; says whether they were. If one of them is wrong, all stay as they were read last.
    ///
    /// # Errors
    /// [`Error`], once for each change.
    pub fn read_again(&self) -> Result<bool, Error> {
        let Some(folder) = &self.folder else { return Ok(false) };
        let now = files(folder).map_err(|error| Error::of(folder, error))?;
        if now == *self.seen.read().unwrap_or_else(PoisonError::into_inner) {
            return Ok(false);
        }
        let fresh: Result<BTreeMap<String, Arc<Named>>, Error> = now
            .iter()
            .map(|(path, ..)| {
                let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
                read(path).map(|named| (name, Arc::new(named)))
            })
            .collect();
        *self.seen.write().unwrap_or_else(PoisonError::into_inner) = now;
        *self.known.write().unwrap_or_else(PoisonError::into_inner) = fresh?;
        Ok(true)
    }

    /// Texts the way that is asked for, in order. The key that encodes is the current one of the file, and so is the one that decodes unless
    /// another is named: nothing in a facade says which key made it.
    ///
    /// # Errors
    /// [`Kind::NoSuchFacade`], and [`Kind::BadRequest`] with the place of a text that is none.
    pub fn carry(
        &self,
        name: &str,
        way: Way,
        key: Option<&str>,
        texts: &[&str],
    ) -> Result<Vec<String>, Fault> {
        let named = {
            let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
            known.get(name).cloned().ok_or_else(|| {
                let all: Vec<&str> = known.keys().map(String::as_str).collect();
                let all = if all.is_empty() { "none".to_owned() } else { all.join(", ") };
                Fault::new(Kind::NoSuchFacade, format!("there is no facade {name:?}; there are {all}"))
            })?
        };
        let key = key.unwrap_or(&named.current);
        let Some(facade) = named.by_key.get(key) else {
            let all: Vec<&str> = named.by_key.keys().map(String::as_str).collect();
            return Err(Fault::bad(format!("facade {name} has no key {key:?}; it has {}", all.join(", "))));
        };
        let carried = texts.iter().enumerate().map(|(at, text)| {
            let done = match way {
                Way::Encode => facade.encode_text(text),
                Way::Decode => facade.decode_text(text),
            };
            done.map_err(|error| Fault::bad(format!("number {}, {:?}: {error}", at + 1, shortened(text))))
        });
        carried.collect()
    }
}

/// A text as it may stand in an error.
fn shortened(text: &str) -> String {
    text.chars().take(80).collect()
}

/// The files of keys in a folder, by name.
fn files(folder: &Path) -> std::io::Result<Vec<(PathBuf, SystemTime, u64)>> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let is_hidden = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
        if !is_hidden && path.extension().is_some_and(|extension| extension == EXTENSION) {
            let about = fs::metadata(&path)?;
            all.push((path, about.modified()?, about.len()));
        }
    }
    all.sort();
    Ok(all)
}

fn read(path: &Path) -> Result<Named, Error> {
    let file = fs::File::open(path).map_err(|error| Error::of(path, error))?;
    // As long as it may become: a text that grew would leave parts of itself behind.
    let mut text = Zeroizing::new(String::with_capacity(usize::try_from(LARGEST).unwrap_or(0) + 1));
    file.take(LARGEST + 1).read_to_string(&mut text).map_err(|error| Error::of(path, error))?;
    if text.len() as u64 > LARGEST {
        return Err(Error::of(path, format!("more than {LARGEST} bytes: not a file of keys")));
    }
    let keys = KeyFile::parse(&text).map_err(|error| Error::of(path, error))?;
    let mut by_key = BTreeMap::new();
    for key in keys.keys() {
        by_key.insert(key.id().to_owned(), key.facade().map_err(|error| Error::of(path, error))?);
    }
    let current = keys.choose(None, None, None).map_err(|error| Error::of(path, error))?;
    Ok(Named { by_key, current: current.id().to_owned() })
}
