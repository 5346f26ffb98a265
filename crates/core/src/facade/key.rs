//! Keys of facades: a secret with the facts that say what it is for.
//!
//! A facade carries no key id: which key to decode with is the caller's knowledge. So a key keeps its id for ever, and one that no
//! longer encodes still decodes.

use crate::entropy::Entropy;
use crate::error::{Error, FacadeFault};
use crate::facade::domain::Domain;
use crate::facade::ff1::MOST_TWEAK;
use crate::facade::{Facade, Kind};
use crate::time::UnixNanos;
use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;
use zeroize::Zeroizing;

/// The bytes of a key: wiped when dropped, never shown by `Debug`.
///
/// What the processor and the compiler copy to registers and stack meanwhile isn't wiped, nor what the system swaps out.
pub struct Secret(Zeroizing<Vec<u8>>);

impl Secret {
    /// These bytes.
    #[must_use]
    pub fn new(bytes: &[u8]) -> Self {
        Self(Zeroizing::new(bytes.to_vec()))
    }

    /// From two hex digits a byte, in either case; `kind` names the facade in errors, which never show a digit.
    ///
    /// # Errors
    /// [`FacadeFault::KeyDigit`], [`FacadeFault::KeyDigits`] or [`FacadeFault::KeyColon`].
    pub fn from_hex(kind: &'static str, text: &str) -> Result<Self, Error> {
        let refused = |fault| Error::Facade { kind, fault };
        let mut bytes = Zeroizing::new(Vec::with_capacity(text.len() / 2));
        let mut high = None;
        for (i, c) in text.chars().enumerate() {
            let digit = match c.to_digit(16) {
                Some(digit) => u8::try_from(digit).unwrap_or_default(),
                None if c == ':' => return Err(refused(FacadeFault::KeyColon { at: i + 1 })),
                None => return Err(refused(FacadeFault::KeyDigit { at: i + 1 })),
            };
            match high.take() {
                None => high = Some(digit << 4),
                Some(high) => bytes.push(high | digit),
            }
        }
        if high.is_some() {
            return Err(refused(FacadeFault::KeyDigits { found: text.len() }));
        }
        Ok(Self(bytes))
    }

    /// Two lower-case hex digits a byte.
    #[must_use]
    pub fn to_hex(&self) -> Zeroizing<String> {
        let digits = b"0123456789abcdef";
        let mut text = Zeroizing::new(String::with_capacity(2 * self.0.len()));
        for byte in self.0.iter() {
            text.push(char::from(digits[usize::from(byte >> 4)]));
            text.push(char::from(digits[usize::from(byte & 0xf)]));
        }
        text
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secret({} bytes)", self.0.len())
    }
}

/// A key with its facts.
#[derive(Debug)]
pub struct Key {
    id: String,
    kind: &'static Kind,
    domain: Domain,
    version: u32,
    created: UnixNanos,
    tweak: Vec<u8>,
    secret: Secret,
}

impl Key {
    /// A key of the kind's newest version, without a tweak.
    ///
    /// # Errors
    /// [`FacadeFault::KeyId`], or what the kind says of secret and domain.
    pub fn new(
        id: &str,
        kind: &'static Kind,
        domain: Domain,
        created: UnixNanos,
        secret: Secret,
    ) -> Result<Self, Error> {
        let is_plain = id.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b));
        if id.is_empty() || id.len() > 64 || !is_plain {
            return Err(Error::Facade { kind: kind.name, fault: FacadeFault::KeyId });
        }
        let key = Self {
            id: id.to_string(),
            kind,
            domain,
            version: kind.version,
            created,
            tweak: Vec::new(),
            secret,
        };
        key.checked()
    }

    /// A fresh key, as long as the kind can use.
    ///
    /// # Errors
    /// [`Error::Entropy`]; see [`Key::new`].
    pub fn generate(
        id: &str,
        kind: &'static Kind,
        domain: Domain,
        created: UnixNanos,
        entropy: &dyn Entropy,
    ) -> Result<Self, Error> {
        let longest = kind.key_bytes.iter().copied().max().unwrap_or_default();
        let mut bytes = Zeroizing::new(alloc::vec![0; longest]);
        entropy.fill(&mut bytes)?;
        Self::new(id, kind, domain, created, Secret(bytes))
    }

    /// The same key for a version of its kind.
    ///
    /// # Errors
    /// [`FacadeFault::Version`].
    pub fn with_version(self, version: u32) -> Result<Self, Error> {
        if version != self.kind.version {
            let fault = FacadeFault::Version { found: version, known: self.kind.version };
            return Err(Error::Facade { kind: self.kind.name, fault });
        }
        Ok(self)
    }

    /// The same key with a tweak, which only `ff1` takes. A tweak isn't secret.
    ///
    /// # Errors
    /// [`FacadeFault::Tweak`].
    pub fn with_tweak(self, tweak: &[u8]) -> Result<Self, Error> {
        let most = if self.kind.name == crate::facade::ff1::NAME { MOST_TWEAK } else { 0 };
        if tweak.len() > most {
            let fault = FacadeFault::Tweak { found: tweak.len(), most };
            return Err(Error::Facade { kind: self.kind.name, fault });
        }
        Ok(Self { tweak: tweak.to_vec(), ..self })
    }

    /// Its id, unique within a file of keys.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Its kind.
    #[must_use]
    pub fn kind(&self) -> &'static Kind {
        self.kind
    }

    /// Its domain.
    #[must_use]
    pub fn domain(&self) -> Domain {
        self.domain
    }

    /// The version of its kind.
    #[must_use]
    pub fn version(&self) -> u32 {
        self.version
    }

    /// When it was made.
    #[must_use]
    pub fn created(&self) -> UnixNanos {
        self.created
    }

    /// Its tweak; empty for none.
    #[must_use]
    pub fn tweak(&self) -> &[u8] {
        &self.tweak
    }

    /// The secret.
    #[must_use]
    pub fn secret(&self) -> &Secret {
        &self.secret
    }

    /// What it opens.
    ///
    /// # Errors
    /// None for a key that could be made; the kinds check again.
    pub fn facade(&self) -> Result<Box<dyn Facade>, Error> {
        (self.kind.make)(self)
    }

    fn checked(self) -> Result<Self, Error> {
        let found = self.secret.bytes().len();
        if !self.kind.key_bytes.contains(&found) {
            return Err(self.kind.wrong_key(found));
        }
        self.facade().map(|_| self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facade::{permute, uuid47};
    use alloc::format;

    const NOW: UnixNanos = UnixNanos::from_secs(1_800_000_000);

    #[test]
    fn debug_and_errors_never_show_the_key() {
        let hex = "5ec3e75ec3e75ec3e75ec3e75ec3e75e";
        let secret = Secret::from_hex("uuid47", hex).unwrap();
        assert_eq!(*secret.to_hex(), *hex);
        let key = Key::new("k1", &uuid47::KIND, Domain::Uuid, NOW, secret).unwrap();
        let facade = key.facade().unwrap();
        let shown = format!("{key:?} {key:#?} {facade:?}");
        assert!(!shown.contains("5ec3e7") && !shown.contains("94, 195"), "{shown}");
        for wrong in ["5ec3e7zz", "5ec3e", "5ec3:e7", "0x5ec3e7"] {
            let error = Secret::from_hex("uuid47", wrong).unwrap_err();
            assert!(!format!("{error} {error:?}").contains("5ec"), "{error}");
        }
    }

    #[test]
    fn a_key_fits_its_kind() {
        let secret = |bytes| Secret::new(&alloc::vec![7; bytes]);
        assert!(Key::new("k1", &permute::KIND, Domain::U63, NOW, secret(32)).is_ok());
        let short = Key::new("k1", &permute::KIND, Domain::U63, NOW, secret(31)).unwrap_err();
        assert_eq!(short.to_string(), "permute: the key has 31 bytes, 32 expected");
        assert!(Key::new("k1", &permute::KIND, Domain::Uuid, NOW, secret(32)).is_err());
        assert!(Key::new("k1", &uuid47::KIND, Domain::U63, NOW, secret(16)).is_err());
        for id in ["", "a b", "é", &"k".repeat(65)] {
            assert!(Key::new(id, &uuid47::KIND, Domain::Uuid, NOW, secret(16)).is_err(), "{id}");
        }
        let key = Key::new("k1", &permute::KIND, Domain::U63, NOW, secret(32)).unwrap();
        assert!(key.with_version(2).is_err());
        let key = Key::new("k1", &permute::KIND, Domain::U63, NOW, secret(32)).unwrap();
        assert!(key.with_tweak(b"x").is_err());
    }
}
