//! Typed ids: `Id<S>` is the number alone, and its scheme `S` says how to spell, read and mint it.

use crate::error::Error;
#[cfg(feature = "std")]
use crate::generators::IdSource;
use crate::layout::Field;
use crate::raw::{RawId, Repr};
#[cfg(feature = "std")]
use crate::scheme::Mint;
use crate::scheme::{Scheme, StaticScheme};
use crate::text::{MAX_TEXT, Text, TextForm, Way};
use crate::time::UnixNanos;
use core::fmt;
use core::str::FromStr;

/// An id of scheme `S`: 8, 12, 16 or 20 bytes.
///
/// `Ord` is the byte order, `Display` and `FromStr` the canonical text (`FromStr` reads the scheme's other forms too).
///
/// ```
/// use mintage::Ulid;
/// let id: Ulid = "01ARZ3NDEKTSV4RRFFQ69G5FAV".parse()?;
/// assert_eq!(id.time().unwrap().to_string(), "2016-07-30T23:54:10.259Z");
/// assert_eq!(id.to_string(), "01ARZ3NDEKTSV4RRFFQ69G5FAV");
/// # Ok::<(), mintage::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id<S: StaticScheme>(pub(crate) S::Repr);

impl<S: StaticScheme> Id<S> {
    /// The scheme's description.
    pub const SCHEME: &'static Scheme = S::SCHEME;
    /// The canonical form, how it is spelled fastest, and which bits are fixed to what: known when compiling, not looked up.
    const FORM: TextForm = *S::SCHEME.canonical();
    const WAY: Way = Self::FORM.way();
    const FIXED_MASK: RawId = S::SCHEME.mapping.from_layout(S::SCHEME.layout.fixed_mask());
    const FIXED: RawId = S::SCHEME.mapping.from_layout(S::SCHEME.layout.fixed());

    /// All bits zero: something to put into an array before it is filled. Not an id of every scheme.
    pub const ZERO: Self = Self(<S::Repr as Repr>::ZERO);

    /// From a number, which must be an id of this scheme.
    ///
    /// # Errors
    /// See [`Scheme::check`].
    pub fn from_raw(raw: RawId) -> Result<Self, Error> {
        S::SCHEME.check(raw).map(|raw| Self(S::Repr::from_raw(raw)))
    }

    /// The number.
    #[must_use]
    #[inline]
    pub fn raw(self) -> RawId {
        self.0.into_raw()
    }

    /// The id as its own type: `u64`, `u128`, `[u8; 12]` or `[u8; 20]`.
    #[must_use]
    pub const fn get(self) -> S::Repr {
        self.0
    }

    /// From big-endian bytes, as many as the type has: 8, 12, 16 or 20. An id of fewer bits has zeros in front; its own bytes alone
    /// are read by [`Scheme::parse_bytes`].
    ///
    /// # Errors
    /// [`Error::Bytes`] for another length; see [`Scheme::check`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        match RawId::from_be_bytes(bytes) {
            Some(raw) if bytes.len() == S::Repr::BYTES => Self::from_raw(raw),
            _ => {
                let (scheme, expected) = (S::SCHEME.name, S::Repr::BYTES);
                Err(Error::Bytes { scheme, found: bytes.len(), expected })
            }
        }
    }

    /// The big-endian bytes, an array.
    #[must_use]
    pub fn to_bytes(self) -> <S::Repr as Repr>::Bytes {
        self.0.to_bytes()
    }

    /// Reads text as people may have copied it by hand.
    ///
    /// ```
    /// use mintage::Ulid;
    /// let id = Ulid::parse_lenient("oLARYZ6-S41TSV4RRF-FQ69G5FAV")?;
    /// assert_eq!(id.to_string(), "01ARYZ6S41TSV4RRFFQ69G5FAV");
    /// # Ok::<(), mintage::Error>(())
    /// ```
    ///
    /// # Errors
    /// See [`Scheme::parse_lenient`].
    pub fn parse_lenient(text: &str) -> Result<Self, Error> {
        S::SCHEME.parse_lenient(text).map(|raw| Self(S::Repr::from_raw(raw)))
    }

    /// The canonical text, on the stack.
    #[must_use]
    #[inline]
    pub fn to_text(self) -> Text {
        Self::FORM.text(Self::WAY, self.raw(), |raw| S::SCHEME.print(raw))
    }

    /// The canonical text, written to the beginning of `buffer`; what stands behind it is overwritten with anything.
    ///
    /// ```
    /// use mintage::{Ulid, text::MAX_TEXT};
    /// let id: Ulid = "01ARZ3NDEKTSV4RRFFQ69G5FAV".parse()?;
    /// assert_eq!(id.encode(&mut [0; MAX_TEXT]), "01ARZ3NDEKTSV4RRFFQ69G5FAV");
    /// # Ok::<(), mintage::Error>(())
    /// ```
    #[inline]
    pub fn encode(self, buffer: &mut [u8; MAX_TEXT]) -> &str {
        Self::FORM.text_in(Self::WAY, self.raw(), buffer, |raw| S::SCHEME.print(raw))
    }

    /// When the id was made, at the start of its tick; `None` when the scheme has no time field, or when the year is beyond what
    /// nanoseconds in 127 bits can count.
    #[must_use]
    pub fn time(self) -> Option<UnixNanos> {
        S::SCHEME.time(self.raw())
    }

    /// The fields with their values, most significant first.
    pub fn fields(self) -> impl Iterator<Item = (&'static Field, u128)> {
        let raw = self.raw();
        let fields = S::SCHEME.layout.fields().iter().enumerate();
        fields.map(move |(i, field)| (field, S::SCHEME.value(raw, i)))
    }

    /// The value of the field of this name.
    #[must_use]
    pub fn field(self, name: &str) -> Option<u128> {
        self.fields().find(|(field, _)| field.name == name).map(|(_, value)| value)
    }
}

#[cfg(feature = "std")]
impl<S: Mint> Id<S> {
    /// Mints an id from the generator that the whole process shares.
    ///
    /// ```
    /// let (a, b) = (mintage::UuidV7::new(), mintage::UuidV7::new());
    /// assert!(a < b);
    /// ```
    ///
    /// # Panics
    /// When the operating system gives no random bytes, or the clock stands outside the scheme's time field; [`Id::try_new`]
    /// returns these as errors.
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[must_use]
    #[expect(clippy::new_without_default, reason = "a default that differs each time would surprise")]
    pub fn new() -> Self {
        match Self::try_new() {
            Ok(id) => id,
            Err(error) => cannot_mint(&error),
        }
    }

    /// Mints an id from the generator that the whole process shares.
    ///
    /// # Errors
    /// [`Error::Entropy`], [`Error::BeforeEpoch`] or [`Error::TimeFieldEnded`].
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn try_new() -> Result<Self, Error> {
        S::shared().next_id()
    }

    /// Fills `out` from the generator that the whole process shares, in its order: one look at the clock and one reservation for all.
    ///
    /// ```
    /// let mut batch = [mintage::UuidV7::ZERO; 1000];
    /// mintage::UuidV7::fill(&mut batch)?;
    /// assert!(batch.is_sorted());
    /// # Ok::<(), mintage::Error>(())
    /// ```
    ///
    /// # Errors
    /// See [`Id::try_new`].
    pub fn fill(out: &mut [Self]) -> Result<(), Error> {
        S::shared().fill_ids(out)
    }

    /// Appends `count` ids to `out` in their canonical text, each with a line feed behind it.
    ///
    /// ```
    /// let mut lines = String::new();
    /// mintage::Ulid::fill_text(3, &mut lines)?;
    /// assert_eq!(lines.len(), 3 * 27);
    /// # Ok::<(), mintage::Error>(())
    /// ```
    ///
    /// # Errors
    /// See [`Id::try_new`].
    pub fn fill_text(count: usize, out: &mut String) -> Result<(), Error> {
        S::shared().fill_text(count, out)
    }

    /// `count` ids, minted up to 64 at a time as the iterator gets to them.
    ///
    /// ```
    /// let ids: Vec<_> = mintage::UuidV4::ids(100).collect::<Result<_, _>>()?;
    /// assert_eq!(ids.len(), 100);
    /// # Ok::<(), mintage::Error>(())
    /// ```
    pub fn ids(count: usize) -> impl Iterator<Item = Result<Self, Error>> {
        S::shared().ids(count)
    }
}

#[cfg(feature = "std")]
#[cold]
fn cannot_mint(error: &Error) -> ! {
    panic!("{error}")
}

impl<S: StaticScheme> fmt::Display for Id<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.encode(&mut [0; MAX_TEXT]))
    }
}

impl<S: StaticScheme> fmt::Debug for Id<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({})", S::SCHEME.name, self.to_text())
    }
}

impl<S: StaticScheme> FromStr for Id<S> {
    type Err = Error;
    #[inline]
    fn from_str(text: &str) -> Result<Self, Error> {
        let raw = Self::FORM.read(Self::WAY, text.as_bytes(), S::SCHEME.layout.bits());
        if let Some(raw) = raw
            && raw.and(Self::FIXED_MASK).is(Self::FIXED)
        {
            return Ok(Self(S::Repr::from_raw(raw)));
        }
        parse_otherwise(S::SCHEME, text).map(|raw| Self(S::Repr::from_raw(raw)))
    }
}

/// Text of another form, or of none.
#[cold]
#[inline(never)]
fn parse_otherwise(scheme: &Scheme, text: &str) -> Result<RawId, Error> {
    scheme.parse(text)
}

/// Gives a scheme's ids a `const` parser and a plain constructor. A macro, because traits have no `const` functions yet.
macro_rules! const_id {
    ($scheme:ty, u64) => {
        crate::id::const_id!($scheme, u64, |raw| crate::raw::low_u64(raw.low()));
    };
    ($scheme:ty, u128) => {
        crate::id::const_id!($scheme, u128, |raw| raw.low());
    };
    ($scheme:ty, [u8; 12]) => {
        crate::id::const_id!($scheme, [u8; 12], |raw| crate::raw::bytes_12(raw));
    };
    ($scheme:ty, [u8; 20]) => {
        crate::id::const_id!($scheme, [u8; 20], |raw| raw.to_be_bytes());
    };
    ($scheme:ty, $repr:ty, |$raw:ident| $get:expr) => {
        impl crate::id::Id<$scheme> {
            /// Reads text in any of the scheme's forms, also in a `const`.
            ///
            /// # Errors
            /// See [`crate::Scheme::parse`].
            pub const fn parse(text: &str) -> Result<Self, crate::error::Error> {
                match <$scheme as crate::scheme::StaticScheme>::SCHEME.parse(text) {
                    Ok($raw) => Ok(Self($get)),
                    Err(error) => Err(error),
                }
            }
        }
    };
}
pub(crate) use const_id;
