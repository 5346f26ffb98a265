//! Facades: public forms of internal ids, which a key leads back to.
//!
//! The row keeps its compact, ordered id; strangers see another one. A facade is **deterministic** (equal ids have equal facades under
//! one key), **silent** (a wrong key decodes to a wrong id, not to an error) and **not authorization**: whether a caller may see
//! the row has to be asked all the same. `docs/facades.md` has the table of what each kind hides, from whom, and what not.
//!
//! ```
//! use mintage::facade::{Kind, Key};
//! use mintage::{SystemClock, SystemEntropy, Clock};
//!
//! let kind = Kind::by_name("permute")?;
//! let key = Key::generate("k1", kind, "base62:7".parse()?, SystemClock.now(), &SystemEntropy)?;
//! let facade = key.facade()?;
//! let code = facade.encode_text("1234")?;                       // such as `q7XwB2d`
//! assert_eq!(code.len(), 7);
//! assert_eq!(facade.decode_text(&code)?, "1234");
//! # Ok::<(), mintage::Error>(())
//! ```

pub mod domain;
pub mod ff1;
pub mod key;
#[cfg(feature = "key-file")]
pub mod key_file;
pub mod permute;
pub mod uuid47;

use crate::error::{Error, FacadeFault};
use alloc::boxed::Box;
use alloc::string::String;
use core::fmt;

pub use domain::{Alphabet, Domain};
pub use ff1::Ff1;
pub use key::{Key, Secret};
pub use permute::Permute;
pub use uuid47::Uuid47;

/// A mapping of ids to public forms and back, with its key inside.
pub trait Facade: Send + Sync + fmt::Debug {
    /// The public form of `id`.
    ///
    /// # Errors
    /// Why `id` is none of the domain.
    fn encode_text(&self, id: &str) -> Result<String, Error>;

    /// The id that `facade` stands for; with a wrong key another id.
    ///
    /// # Errors
    /// Why `facade` is none of the domain.
    fn decode_text(&self, facade: &str) -> Result<String, Error>;
}

/// A kind of facade, as facts and one function.
pub struct Kind {
    /// Its name, as in key files and flags.
    pub name: &'static str,
    /// What it does, in a few words.
    pub summary: &'static str,
    /// Where it is specified.
    pub source: &'static str,
    /// Lengths of its keys in bytes.
    pub key_bytes: &'static [usize],
    /// The version known here.
    pub version: u32,
    /// Domains that it takes.
    pub domains: &'static str,
    /// The domain of a fresh key when none is asked for.
    pub default_domain: Option<Domain>,
    /// What it hides.
    pub hides: &'static str,
    /// From whom.
    pub from: &'static str,
    /// What it doesn't hide.
    pub not: &'static str,
    /// Makes the facade of a key.
    pub make: fn(&Key) -> Result<Box<dyn Facade>, Error>,
}

/// Every kind.
pub const KINDS: &[&Kind] = &[&permute::KIND, &uuid47::KIND, &ff1::KIND];

impl Kind {
    /// The kind of this name.
    ///
    /// # Errors
    /// [`FacadeFault::Kind`].
    pub fn by_name(name: &str) -> Result<&'static Self, Error> {
        let known = KINDS.iter().copied().find(|kind| kind.name == name);
        known.ok_or(Error::Facade { kind: "facade", fault: FacadeFault::Kind })
    }

    /// The error for a domain of another kind.
    pub(crate) fn refuse(&self, domain: Domain) -> Error {
        let fault = FacadeFault::DomainKind { found: domain.name(), expected: self.domains };
        Error::Facade { kind: self.name, fault }
    }

    /// The error for a key of `found` bytes.
    pub(crate) fn wrong_key(&self, found: usize) -> Error {
        let expected = match self.key_bytes {
            [16] => "16",
            [32] => "32",
            _ => "16, 24 or 32",
        };
        Error::Facade { kind: self.name, fault: FacadeFault::KeyBytes { found, expected } }
    }
}

impl fmt::Debug for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kind").field("name", &self.name).finish_non_exhaustive()
    }
}
