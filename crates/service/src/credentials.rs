//! Who may do what: a file of hashed tokens, which `mintage auth` writes and servers read again when it changes.

use crate::fault::{Fault, Kind};
use governor::{DefaultDirectRateLimiter, Quota, RateLimiter};
use mintage::facade::key_file::bytes;
use mintage::token::{Token, TokenForm, TokenFormat};
use mintage::{SystemClock, SystemEntropy, UnixNanos};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, SystemTime};
use subtle::ConstantTimeEq;

/// What stands before the random part of every token.
const PREFIX: &str = "mintage";
/// Random bits of a token: those by which it is found, and more than enough that can't be guessed.
const BITS: u32 = 256;
/// Characters by which a token is found: they are in the file, and no secret.
const ID_CHARS: usize = 8;
/// Most bytes of a name.
const MOST_NAME: usize = 64;
/// Most ids a second that a limit can be.
const MOST_RATE: u32 = 1_000_000_000;

/// One thing that a credential allows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Permission {
    /// To be handed out ids of a space, or of all.
    Mint(Of),
    /// To lease workers and blocks of a space, or of all.
    Lease(Of),
    /// To read spaces and metrics.
    Read,
    /// Everything.
    Admin,
}

/// Which spaces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Of {
    /// All, `*`.
    All,
    /// The one of this name.
    One(String),
}

impl Of {
    fn is(&self, space: &str) -> bool {
        match self {
            Self::All => true,
            Self::One(name) => name == space,
        }
    }
}

impl fmt::Display for Of {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => f.write_str("*"),
            Self::One(name) => f.write_str(name),
        }
    }
}

impl fmt::Display for Permission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mint(of) => write!(f, "mint:{of}"),
            Self::Lease(of) => write!(f, "lease:{of}"),
            Self::Read => f.write_str("read"),
            Self::Admin => f.write_str("admin"),
        }
    }
}

impl std::str::FromStr for Permission {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let of = |name: &str| if name == "*" { Of::All } else { Of::One(name.to_owned()) };
        match text.split_once(':') {
            None if text == "read" => Ok(Self::Read),
            None if text == "admin" => Ok(Self::Admin),
            Some(("mint", name)) if !name.is_empty() => Ok(Self::Mint(of(name))),
            Some(("lease", name)) if !name.is_empty() => Ok(Self::Lease(of(name))),
            _ => Err(format!(
                "{text:?} was given, mint:SPACE, lease:SPACE, read or admin expected; SPACE may be * for all"
            )),
        }
    }
}

/// What a request needs.
#[derive(Clone, Copy, Debug)]
pub enum Need<'a> {
    /// Any token.
    Any,
    /// Ids of this space.
    Mint(&'a str),
    /// Workers and blocks of this space.
    Lease(&'a str),
    /// To read.
    Read,
    /// To change what there is.
    Admin,
}

impl fmt::Display for Need<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => f.write_str("any"),
            Self::Mint(space) => write!(f, "mint:{space}"),
            Self::Lease(space) => write!(f, "lease:{space}"),
            Self::Read => f.write_str("read"),
            Self::Admin => f.write_str("admin"),
        }
    }
}

impl Permission {
    fn allows(&self, need: Need<'_>) -> bool {
        match (self, need) {
            (Self::Admin, _) | (_, Need::Any) | (Self::Read, Need::Read) => true,
            (Self::Mint(of), Need::Mint(space)) | (Self::Lease(of), Need::Lease(space)) => of.is(space),
            _ => false,
        }
    }
}

/// A credential as the file has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Credential {
    /// Whose it is.
    pub name: String,
    /// The first characters of its token, by which it is found.
    pub id: String,
    /// SHA-256 of the token, in hexadecimal digits.
    pub sha256: String,
    /// What it allows, as [`Permission`] reads it.
    pub allow: Vec<String>,
    /// Most ids a second; no limit unless given.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub ids_per_second: Option<u32>,
    /// Most ids of one request, where that is below the server's.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub max_count: Option<u64>,
    /// When it was made.
    pub created: String,
    /// When it was revoked, if it was.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub revoked: Option<String>,
}

/// What is in the file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Listed {
    #[serde(default)]
    credential: Vec<Credential>,
}

/// Why a file of credentials can't be used, or wasn't changed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The system said no.
    #[error("{path}: {what}")]
    Io {
        /// The file.
        path: String,
        /// What was tried.
        what: &'static str,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The file is none of credentials.
    #[error("{path}: {fault}")]
    File {
        /// The file.
        path: String,
        /// What was found, and what was expected.
        fault: String,
    },
    /// What was asked for makes no sense.
    #[error("{0}")]
    Wrong(String),
    /// No token could be made.
    #[error(transparent)]
    Mint(#[from] mintage::Error),
}

impl Error {
    fn io(path: &Path, what: &'static str) -> impl FnOnce(io::Error) -> Self {
        let path = path.display().to_string();
        move |source| Self::Io { path, what, source }
    }
}

/// The file of credentials, for whoever changes it.
#[derive(Clone, Debug)]
pub struct CredentialsFile(PathBuf);

impl CredentialsFile {
    /// At this path; nothing is read yet.
    #[must_use]
    pub fn at(path: PathBuf) -> Self {
        Self(path)
    }

    /// All that were ever made, in the order made; `None` where there is no file.
    ///
    /// # Errors
    /// [`Error::Io`] and [`Error::File`].
    pub fn list(&self) -> Result<Option<Vec<Credential>>, Error> {
        let text = match fs::read_to_string(&self.0) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Error::io(&self.0, "it can't be read")(error)),
        };
        let fault = |fault: String| Error::File { path: self.0.display().to_string(), fault };
        // The message of an error alone: the text around it is none of a reader's business.
        let listed: Listed = toml::from_str(&text)
            .map_err(|error| fault(format!("no file of credentials: {}", error.message())))?;
        for credential in &listed.credential {
            credential
                .grant()
                .map_err(|wrong| fault(format!("credential {:?}: {wrong}", credential.name)))?;
        }
        Ok(Some(listed.credential))
    }

    /// Makes a credential; its token is in the answer, and nowhere else.
    ///
    /// # Errors
    /// [`Error::Wrong`] for a name that is taken or none, for no permission and for limits of 0; [`Error::Io`] and [`Error::File`].
    pub fn add(&self, new: &New<'_>) -> Result<(Credential, Token), Error> {
        new.check()?;
        let _lock = self.locked()?;
        let mut all = self.list()?.unwrap_or_default();
        if all.iter().any(|other| other.name == new.name && other.revoked.is_none()) {
            let name = new.name;
            return Err(Error::Wrong(format!(
                "there is a credential {name:?} already; revoke it first, or take another name where both shall work for a while"
            )));
        }
        let token = format()?.mint(&SystemEntropy)?;
        let id = id_of(token.as_str()).unwrap_or_default().to_owned();
        let credential = Credential {
            name: new.name.to_owned(),
            id,
            sha256: hex(&hash(token.as_str())),
            allow: new.allow.iter().map(ToString::to_string).collect(),
            ids_per_second: new.ids_per_second,
            max_count: new.max_count,
            created: now(),
            revoked: None,
        };
        all.push(credential.clone());
        self.write(all)?;
        Ok((credential, token))
    }

    /// Revokes the credential of this name. Servers know within two seconds.
    ///
    /// # Errors
    /// [`Error::Wrong`] where there is none that isn't revoked; [`Error::Io`] and [`Error::File`].
    pub fn revoke(&self, name: &str) -> Result<Credential, Error> {
        let _lock = self.locked()?;
        let mut all = self.list()?.unwrap_or_default();
        let Some(own) = all.iter_mut().find(|other| other.name == name && other.revoked.is_none()) else {
            let known: Vec<&str> =
                all.iter().filter(|other| other.revoked.is_none()).map(|other| other.name.as_str()).collect();
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            return Err(Error::Wrong(format!(
                "there is no credential {name:?} to revoke in {}; there are {known}",
                self.0.display()
            )));
        };
        own.revoked = Some(now());
        let revoked = own.clone();
        self.write(all)?;
        Ok(revoked)
    }

    /// Keeps others from changing it meanwhile.
    fn locked(&self) -> Result<File, Error> {
        if let Some(folder) = self.0.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            fs::create_dir_all(folder).map_err(Error::io(folder, "the folder can't be made"))?;
        }
        let path = self.beside(".lock");
        let lock = OpenOptions::new().create(true).truncate(false).write(true).open(&path);
        let lock = lock.map_err(Error::io(&path, "it can't be made"))?;
        lock.lock().map_err(Error::io(&path, "it can't be locked"))?;
        Ok(lock)
    }

    /// Puts a whole new file in its place, that its owner alone can read.
    fn write(&self, credential: Vec<Credential>) -> Result<(), Error> {
        let fault = |fault: String| Error::File { path: self.0.display().to_string(), fault };
        let listed = toml::to_string(&Listed { credential }).map_err(|error| fault(error.to_string()))?;
        let path = self.beside(".new");
        let written = (|| {
            // One that was left behind may be readable by others.
            match fs::remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
            let mut options = OpenOptions::new();
            options.create_new(true).write(true);
            #[cfg(unix)]
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
            let mut file = options.open(&path)?;
            file.write_all(b"# Written by `mintage auth`. Tokens aren't here, only what tells them.\n\n")?;
            file.write_all(listed.as_bytes())?;
            file.sync_all()?;
            fs::rename(&path, &self.0)
        })();
        written.map_err(Error::io(&self.0, "it can't be written"))
    }

    fn beside(&self, end: &str) -> PathBuf {
        let mut path = self.0.clone().into_os_string();
        path.push(end);
        path.into()
    }
}

/// A credential that is wanted.
#[derive(Clone, Debug)]
pub struct New<'a> {
    /// Whose it is: 1 to 64 bytes of a-z, A-Z, 0-9, `-`, `_` and `.`.
    pub name: &'a str,
    /// What it allows.
    pub allow: &'a [Permission],
    /// Most ids a second.
    pub ids_per_second: Option<u32>,
    /// Most ids of one request.
    pub max_count: Option<u64>,
}

impl New<'_> {
    fn check(&self) -> Result<(), Error> {
        let name = self.name;
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
        if name.is_empty() || name.len() > MOST_NAME || !name.bytes().all(is_plain) {
            return Err(Error::Wrong(format!(
                "the name {name:?} was given, 1 to {MOST_NAME} of a-z, A-Z, 0-9, '-', '_' and '.' expected"
            )));
        }
        if self.allow.is_empty() {
            return Err(Error::Wrong(
                "a credential that allows nothing is of no use; name what it allows".to_owned(),
            ));
        }
        limits(self.ids_per_second, self.max_count).map_err(Error::Wrong)
    }
}

fn limits(ids_per_second: Option<u32>, max_count: Option<u64>) -> Result<(), String> {
    match (ids_per_second, max_count) {
        (Some(rate), _) if !(1..=MOST_RATE).contains(&rate) => {
            Err(format!("{rate} ids a second were given, 1 to {MOST_RATE} expected"))
        }
        (_, Some(0)) => Err("a request of at most 0 ids was given, at least 1 expected".to_owned()),
        _ => Ok(()),
    }
}

impl Credential {
    fn grant(&self) -> Result<Grant, String> {
        limits(self.ids_per_second, self.max_count)?;
        let allow: Vec<Permission> = self.allow.iter().map(|text| text.parse()).collect::<Result<_, _>>()?;
        let hash = bytes(&self.sha256).and_then(|bytes| bytes.try_into().ok());
        let hash = hash.ok_or("sha256: 64 hexadecimal digits expected")?;
        if self.id.len() != ID_CHARS {
            return Err(format!("id: {ID_CHARS} characters expected"));
        }
        let quota = self.ids_per_second.and_then(NonZeroU32::new).map(|rate| {
            // A request as large as is allowed must fit, or it never could.
            let most = self.max_count.and_then(|most| u32::try_from(most).ok()).and_then(NonZeroU32::new);
            Quota::per_second(rate).allow_burst(most.map_or(rate, |most| most.max(rate)))
        });
        Ok(Grant {
            name: self.name.clone(),
            hash,
            allow,
            ids_per_second: self.ids_per_second,
            max_count: self.max_count,
            limiter: quota.map(RateLimiter::direct),
            is_revoked: AtomicBool::new(false),
        })
    }
}

/// What a credential allows, while it isn't revoked.
pub struct Grant {
    name: String,
    hash: [u8; 32],
    allow: Vec<Permission>,
    ids_per_second: Option<u32>,
    max_count: Option<u64>,
    limiter: Option<DefaultDirectRateLimiter>,
    is_revoked: AtomicBool,
}

impl fmt::Debug for Grant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Grant").field("name", &self.name).field("allow", &self.allow).finish_non_exhaustive()
    }
}

impl Grant {
    /// Whether the other is the same, so that what is used of its limits goes on.
    fn is_as(&self, other: &Self) -> bool {
        (self.hash, &self.allow, self.ids_per_second, self.max_count)
            == (other.hash, &other.allow, other.ids_per_second, other.max_count)
    }
}

/// Who asks.
#[derive(Clone, Debug)]
pub enum Caller {
    /// Whoever reaches the server: it asks for no credentials.
    Anybody,
    /// Who has shown no token yet, where one is needed.
    Nobody,
    /// Who has this credential.
    Granted(Arc<Grant>),
}

impl Caller {
    /// Whether it may.
    ///
    /// # Errors
    /// [`Kind::Unauthorized`] and [`Kind::Forbidden`].
    pub fn may(&self, need: Need<'_>) -> Result<(), Fault> {
        match self {
            Self::Anybody => Ok(()),
            Self::Nobody => Err(Fault::new(Kind::Unauthorized, "a token is needed, and none was shown")),
            Self::Granted(grant) if grant.is_revoked.load(Ordering::Relaxed) => Err(not_known()),
            Self::Granted(grant) if grant.allow.iter().any(|permission| permission.allows(need)) => Ok(()),
            Self::Granted(grant) => {
                let has: Vec<String> = grant.allow.iter().map(ToString::to_string).collect();
                let detail =
                    format!("credential {:?} allows {}, and {need} is needed", grant.name, has.join(", "));
                Err(Fault::new(Kind::Forbidden, detail))
            }
        }
    }

    /// Takes so many ids from what it may have. They are taken whether or not they are handed out afterwards.
    ///
    /// # Errors
    /// [`Kind::BadRequest`] for more than one request may ask for, [`Kind::Overloaded`] for more than its rate, with the time to come again.
    pub fn spend(&self, count: u64, max_count: u64) -> Result<(), Fault> {
        let grant = match self {
            Self::Granted(grant) => Some(&**grant),
            _ => None,
        };
        let most = grant.and_then(|grant| grant.max_count).unwrap_or(max_count).min(max_count);
        if !(1..=most).contains(&count) {
            return Err(Fault::bad(format!("count {count} was given, 1 to {most} expected")));
        }
        let Some((grant, limiter)) = grant.and_then(|grant| Some((grant, grant.limiter.as_ref()?))) else {
            return Ok(());
        };
        let rate = grant.ids_per_second.unwrap_or_default();
        let count = u32::try_from(count).ok().and_then(NonZeroU32::new).unwrap_or(NonZeroU32::MAX);
        match limiter.check_n(count) {
            Ok(Ok(())) => Ok(()),
            Ok(Err(not_until)) => {
                let wait = not_until
                    .wait_time_from(governor::clock::Clock::now(&governor::clock::DefaultClock::default()));
                let detail =
                    format!("credential {:?} may have {rate} ids a second, and has had them", grant.name);
                Err(Fault::new(Kind::Overloaded, detail).again_in(wait))
            }
            Err(_) => Err(Fault::bad(format!(
                "count {count} was given; credential {:?} may have {rate} ids a second, and so never as many at once",
                grant.name
            ))),
        }
    }
}

/// Which credentials a server knows: the file as it was last read well.
#[derive(Debug)]
pub struct Credentials {
    file: CredentialsFile,
    known: RwLock<Option<HashMap<String, Arc<Grant>>>>,
    /// Whether [`Credentials::known`] is something; looked at by every call.
    are_asked: AtomicBool,
    seen: RwLock<Option<Seen>>,
}

/// By what a file is told from one that took its place.
type Seen = (SystemTime, u64, u64);

impl Credentials {
    /// Those of a file, which may come later.
    ///
    /// # Errors
    /// [`Error`] for a file that is there and can't be read.
    pub fn of(path: PathBuf) -> Result<Self, Error> {
        let file = CredentialsFile::at(path);
        let own = Self {
            file,
            known: RwLock::default(),
            are_asked: AtomicBool::new(false),
            seen: RwLock::default(),
        };
        own.read_again()?;
        Ok(own)
    }

    /// Whether requests need a token.
    #[must_use]
    pub fn are_asked(&self) -> bool {
        self.are_asked.load(Ordering::Relaxed)
    }

    /// Who asks, by the token that was shown, if any.
    ///
    /// # Errors
    /// [`Kind::Unauthorized`] for a token that isn't known, or no longer.
    pub fn caller(&self, token: Option<&str>) -> Result<Caller, Fault> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        let Some(known) = known.as_ref() else { return Ok(Caller::Anybody) };
        let Some(token) = token else { return Ok(Caller::Nobody) };
        let grant = id_of(token).and_then(|id| known.get(id)).ok_or_else(not_known)?;
        if bool::from(grant.hash.ct_eq(&hash(token))) {
            Ok(Caller::Granted(Arc::clone(grant)))
        } else {
            Err(not_known())
        }
    }

    /// Who a caller is by now, where one stays for long: a credential may have been revoked, and the first of all made.
    #[must_use]
    pub fn still(&self, caller: Caller) -> Caller {
        match &caller {
            Caller::Granted(grant) if grant.is_revoked.load(Ordering::Relaxed) => Caller::Nobody,
            Caller::Anybody if self.are_asked() => Caller::Nobody,
            _ => caller,
        }
    }

    /// Reads the file again if it is another; says whether it was. One that is gone, or can't be read, changes nothing: what it said last holds.
    ///
    /// # Errors
    /// [`Error`].
    pub fn read_again(&self) -> Result<bool, Error> {
        let seen = fs::metadata(&self.file.0).ok().map(|about| {
            #[cfg(unix)]
            let number = std::os::unix::fs::MetadataExt::ino(&about);
            #[cfg(not(unix))]
            let number = 0;
            (about.modified().unwrap_or(SystemTime::UNIX_EPOCH), about.len(), number)
        });
        if seen.is_none() || seen == *self.seen.read().unwrap_or_else(PoisonError::into_inner) {
            return Ok(false);
        }
        let listed = self.file.list();
        // A file that can't be read is told once, and not each time it is looked at.
        *self.seen.write().unwrap_or_else(PoisonError::into_inner) = seen;
        let Some(listed) = listed? else { return Ok(false) };
        let mut fresh = HashMap::new();
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        let mut old = known.take().unwrap_or_default();
        for credential in listed.iter().filter(|credential| credential.revoked.is_none()) {
            // `list` has made each of them once.
            let Ok(grant) = credential.grant() else { continue };
            let same = old.get(&credential.id).is_some_and(|old| old.is_as(&grant));
            let kept = if same { old.remove(&credential.id) } else { None };
            fresh.insert(credential.id.clone(), kept.unwrap_or_else(|| Arc::new(grant)));
        }
        old.values().for_each(|gone| gone.is_revoked.store(true, Ordering::Relaxed));
        *known = Some(fresh);
        self.are_asked.store(true, Ordering::Relaxed);
        Ok(true)
    }
}

fn not_known() -> Fault {
    Fault::new(Kind::Unauthorized, "the token isn't known here, or was revoked")
}

fn format() -> Result<TokenFormat<'static>, mintage::Error> {
    Ok(TokenFormat::new(TokenForm::Base62, BITS)?.with_prefix(PREFIX)?.with_checksum())
}

/// The characters by which a token is found.
fn id_of(token: &str) -> Option<&str> {
    token.strip_prefix(PREFIX)?.strip_prefix('_')?.get(..ID_CHARS)
}

fn hash(token: &str) -> [u8; 32] {
    Sha256::digest(token.as_bytes()).into()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The time, to the second.
fn now() -> String {
    let nanos = mintage::Clock::now(&SystemClock).0;
    UnixNanos(nanos - nanos.rem_euclid(1_000_000_000)).to_string()
}

/// How often files are looked at.
pub const LOOK: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use super::*;

    fn file() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new/credentials.toml");
        (folder, path)
    }

    fn allow(texts: &[&str]) -> Vec<Permission> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    fn new<'a>(name: &'a str, allow: &'a [Permission]) -> New<'a> {
        New { name, allow, ids_per_second: None, max_count: None }
    }

    #[test]
    fn a_token_is_known_until_it_is_revoked_and_allows_what_it_says() {
        let (_folder, path) = file();
        let (file, known) = (CredentialsFile::at(path.clone()), Credentials::of(path).unwrap());
        assert!(matches!(known.caller(None), Ok(Caller::Anybody)));
        let (_, token) = file.add(&new("shop", &allow(&["mint:orders", "read"]))).unwrap();
        assert!(known.read_again().unwrap() && !known.read_again().unwrap());
        let caller = known.caller(Some(token.as_str())).unwrap();
        assert_eq!(caller.may(Need::Mint("orders")), Ok(()));
        assert_eq!(caller.may(Need::Read), Ok(()));
        for needed in [Need::Mint("order"), Need::Lease("orders"), Need::Admin] {
            assert_eq!(caller.may(needed).unwrap_err().kind, Kind::Forbidden, "{needed}");
        }
        assert!(matches!(known.still(Caller::Anybody), Caller::Nobody));
        file.revoke("shop").unwrap();
        assert!(known.read_again().unwrap());
        assert_eq!(known.caller(Some(token.as_str())).unwrap_err().kind, Kind::Unauthorized);
        assert_eq!(caller.may(Need::Read).unwrap_err().kind, Kind::Unauthorized);
        assert!(matches!(known.still(caller), Caller::Nobody));
        // Revoking the last one doesn't open the doors.
        assert!(known.are_asked() && matches!(known.caller(None), Ok(Caller::Nobody)));
    }

    #[test]
    fn no_other_token_is_known() {
        let (_folder, path) = file();
        let (_, token) = CredentialsFile::at(path.clone()).add(&new("a", &allow(&["admin"]))).unwrap();
        let known = Credentials::of(path).unwrap();
        let token = token.as_str();
        let mut other = token.to_owned();
        other.replace_range(20..21, if token.as_bytes()[20] == b'x' { "y" } else { "x" });
        let longer = format!("{token}0");
        for wrong in [
            "",
            "mintage_",
            "mintage_1234567",
            "mintage_12345678",
            "mintage_1234567é",
            &other,
            &longer,
            &token[..30],
        ] {
            assert_eq!(known.caller(Some(wrong)).unwrap_err().kind, Kind::Unauthorized, "{wrong}");
        }
    }

    #[test]
    fn the_file_has_no_token_and_is_for_its_owner_alone() {
        use std::os::unix::fs::PermissionsExt;
        let (_folder, path) = file();
        let file = CredentialsFile::at(path.clone());
        let (_, token) = file.add(&new("a", &allow(&["read"]))).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        let secret = &token.as_str()[PREFIX.len() + 1 + ID_CHARS..];
        assert!(!text.contains(secret) && text.contains("name = \"a\""), "{text}");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert!(!format!("{:?} {token:?}", file.list().unwrap()).contains(secret));
    }

    #[test]
    fn a_file_that_is_spoilt_or_gone_changes_nothing() {
        let (_folder, path) = file();
        let (_, token) = CredentialsFile::at(path.clone()).add(&new("a", &allow(&["read"]))).unwrap();
        let known = Credentials::of(path.clone()).unwrap();
        fs::write(&path, "[[credential]]\nname = 1").unwrap();
        assert!(known.read_again().is_err());
        assert!(!known.read_again().unwrap(), "it is told once");
        fs::remove_file(&path).unwrap();
        assert!(!known.read_again().unwrap());
        assert!(known.caller(Some(token.as_str())).is_ok() && known.are_asked());
        fs::write(&path, "").unwrap();
        assert!(known.read_again().unwrap());
        assert!(known.caller(Some(token.as_str())).is_err());
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let (_folder, path) = file();
        let file = CredentialsFile::at(path.clone());
        let read = allow(&["read"]);
        file.add(&new("a", &read)).unwrap();
        let long = "a".repeat(MOST_NAME + 1);
        for (new, told) in [
            (new("a", &read), "already"),
            (new("", &read), "1 to 64"),
            (new("a b", &read), "1 to 64"),
            (new(&long, &read), "1 to 64"),
            (new("b", &[]), "allows nothing"),
            (New { ids_per_second: Some(0), ..new("b", &read) }, "1 to"),
            (New { max_count: Some(0), ..new("b", &read) }, "at least 1"),
        ] {
            assert!(file.add(&new).unwrap_err().to_string().contains(told), "{new:?}");
        }
        assert!(file.revoke("b").unwrap_err().to_string().contains("there are a"));
        for wrong in ["", "mint", "mint:", "write", "Read", "lease:"] {
            assert!(wrong.parse::<Permission>().is_err(), "{wrong}");
        }
        for bad in [
            "[[credential]]",
            "x = 1",
            "[[credential]]\nname='a'\nid='12345678'\nsha256='00'\nallow=[]\ncreated=''",
        ] {
            fs::write(&path, bad).unwrap();
            assert!(matches!(file.list(), Err(Error::File { .. })), "{bad}");
        }
    }

    #[test]
    fn a_rate_is_kept_and_goes_on_when_the_file_is_read_again() {
        let (_folder, path) = file();
        let file = CredentialsFile::at(path.clone());
        let read = allow(&["mint:*"]);
        let new = New { ids_per_second: Some(10), max_count: Some(50), ..new("a", &read) };
        let (_, token) = file.add(&new).unwrap();
        let known = Credentials::of(path).unwrap();
        let caller = || known.caller(Some(token.as_str())).unwrap();
        assert_eq!(caller().spend(51, 100).unwrap_err().kind, Kind::BadRequest);
        assert_eq!(caller().spend(0, 100).unwrap_err().kind, Kind::BadRequest);
        assert_eq!(caller().spend(21, 20).unwrap_err().kind, Kind::BadRequest);
        assert_eq!(caller().spend(50, 100), Ok(()));
        let b = New { name: "b", ..new };
        file.add(&b).unwrap();
        assert!(known.read_again().unwrap());
        let fault = caller().spend(10, 100).unwrap_err();
        assert_eq!(fault.kind, Kind::Overloaded);
        assert!(fault.retry_after.is_some_and(|wait| wait > Duration::ZERO), "{fault:?}");
    }

    #[test]
    fn two_that_add_at_once_both_do() {
        let (_folder, path) = file();
        let read = allow(&["read"]);
        std::thread::scope(|scope| {
            for name in ["a", "b", "c", "d"] {
                let (path, read) = (path.clone(), &read);
                scope.spawn(move || CredentialsFile::at(path).add(&new(name, read)).unwrap());
            }
        });
        assert_eq!(CredentialsFile::at(path).list().unwrap().unwrap().len(), 4);
    }
}
