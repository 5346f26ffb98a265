//! Schemes: everything the workspace knows about one way to make ids, as one value.
//!
//! Minting, parsing, reading, the comparison table and the tests that every scheme must pass are loops over
//! [`crate::SCHEMES`].

use crate::error::{Error, Lengths};
use crate::generators::{Generator, Method, Settings};
use crate::layout::{Layout, Role};
use crate::mapping::Mapping;
use crate::raw::{RawId, Repr};
use crate::text::{GENERAL_FORMS, HEX_DIGITS, Text, TextForm, general_form};
use crate::time::UnixNanos;
use alloc::boxed::Box;
use core::fmt;
use core::hash::Hash;

/// One way to make ids.
#[derive(Clone, Copy)]
pub struct Scheme {
    /// Its name: lower case, words joined by hyphens.
    pub name: &'static str,
    /// Other names that people type for it.
    pub aliases: &'static [&'static str],
    /// What it is, in a few words.
    pub summary: &'static str,
    /// Where it is specified.
    pub source: &'static str,
    /// Its bits.
    pub layout: Layout,
    /// How an id's bits are rearranged before the layout applies.
    pub mapping: Mapping,
    /// Its spellings; the first is canonical, all are read.
    pub text: &'static [&'static TextForm],
    /// Published ids, each with the values of all fields of `layout`, fixed ones included.
    pub vectors: &'static [(&'static str, &'static [u128])],
    /// What the comparison table says.
    pub facts: Facts,
    /// How minting may keep order, the default first; empty where there is one way only.
    pub methods: &'static [Method],
    /// What else its generator takes.
    pub settings: &'static [Setting],
    /// How it is minted; `None` for schemes that are only read.
    pub generator: Option<MakeGenerator>,
}

/// What a generator may be told besides the method, the clock and the entropy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Setting {
    /// [`Settings::worker`]; without it nothing is minted.
    Worker,
    /// [`Settings::clock_back`], [`Settings::spent`] and [`Settings::start`].
    Policies,
    /// [`Settings::layout`].
    Split,
    /// [`Settings::name`].
    Name,
    /// [`Settings::data`].
    Data,
    /// [`Settings::block_size`] and [`Settings::block_count`].
    Blocks,
    /// [`Settings::interval_nanos`] and [`Settings::block_count`].
    Intervals,
    /// [`Settings::buckets`].
    Buckets,
    /// [`Settings::first`].
    First,
}

/// Makes a generator as settings say.
pub type MakeGenerator = fn(&Settings) -> Result<Box<dyn Generator>, Error>;

/// What one compares schemes by.
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    /// How far ids sort by time of making.
    pub sortable: Sortable,
    /// What the writers must agree on.
    pub coordination: Coordination,
    /// When two ids can be equal.
    pub collisions: &'static str,
    /// What an id tells whoever sees it.
    pub leaks: &'static str,
    /// Column types: PostgreSQL, then MySQL and MariaDB.
    pub sql: (&'static str, &'static str),
    /// How often one meets it, as bits of surprise: 0 for the commonest of its shape, 10 for a thousandth of that. `None` when
    /// it is offered only by name.
    pub surprise: Option<u8>,
}

/// What writers must agree on so that no two of them issue the same id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coordination {
    /// Nothing.
    Nothing,
    /// Each has a worker that no other has: set with care, or leased.
    Worker,
    /// There is only one of them.
    OneWriter,
    /// Nothing; the same input gives the same id on purpose.
    SameInput,
}

impl fmt::Display for Coordination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Nothing => "none",
            Self::Worker => "a worker each",
            Self::OneWriter => "one writer",
            Self::SameInput => "none; same input, same id",
        })
    }
}

/// How far ids sort by the time they were made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sortable {
    /// Not at all.
    No,
    /// To the tick; within one tick order is chance, or another process's.
    ToTick,
    /// Each id of one generator is above the one before; across generators to the tick.
    Strictly,
}

impl fmt::Display for Sortable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::No => "no",
            Self::ToTick => "to the tick",
            Self::Strictly => "strictly, per generator",
        })
    }
}

impl Scheme {
    /// The scheme of this name or alias, in any case.
    #[must_use]
    pub fn by_name(name: &str) -> Option<&'static Self> {
        crate::SCHEMES
            .iter()
            .find(|s| {
                s.name.eq_ignore_ascii_case(name) || s.aliases.iter().any(|a| a.eq_ignore_ascii_case(name))
            })
            .copied()
    }

    /// The canonical text form.
    #[must_use]
    pub const fn canonical(&self) -> &'static TextForm {
        self.text[0]
    }

    /// The form of this name: one of the scheme's own, or one of [`crate::text::GENERAL_FORMS`].
    #[must_use]
    pub fn form(&self, name: &str) -> Option<TextForm> {
        if name == "canonical" {
            return Some(*self.canonical());
        }
        match self.text.iter().find(|form| form.name == name) {
            Some(form) => Some(**form),
            None => general_form(name, self.layout.bits()),
        }
    }

    /// The names that [`Scheme::form`] takes.
    pub fn form_names(&self) -> impl Iterator<Item = &'static str> + '_ {
        let own = self.text.iter().map(|form| form.name);
        own.chain(
            GENERAL_FORMS.iter().copied().filter(|name| self.text.iter().all(|form| form.name != *name)),
        )
    }

    /// Reads text in any of the scheme's forms. Strict: no white space, no foreign letters, nothing too large, and the bits that
    /// the scheme fixes must be as it says.
    ///
    /// # Errors
    /// See [`TextForm::parse`]; [`Error::FixedField`] for an id of another kind.
    pub const fn parse(&self, text: &str) -> Result<RawId, Error> {
        let form = self.canonical();
        if let Some(raw) = form.read_const(form.way(), text.as_bytes(), self.layout.bits())
            && self.layout.mismatch(self.mapping.to_layout(raw)).is_none()
        {
            return Ok(raw);
        }
        match parse_forms(self.text, text, self.layout.bits(), self.name) {
            Ok(raw) => self.check(raw),
            Err(error) => Err(error),
        }
    }

    /// Reads text as people may have copied it by hand. Besides what [`Scheme::parse`] reads, ULIDs may have `I` or `L` for 1, `O`
    /// for 0, and hyphens anywhere.
    ///
    /// # Errors
    /// See [`Scheme::parse`].
    pub const fn parse_lenient(&self, text: &str) -> Result<RawId, Error> {
        let strict = self.parse(text);
        if strict.is_ok() {
            return strict;
        }
        let mut i = 0;
        while i < self.text.len() {
            if self.text[i].base.is_forgiving() {
                return match self.text[i].parse_lenient(text, self.layout.bits(), self.name) {
                    Ok(raw) => self.check(raw),
                    Err(error) => Err(error),
                };
            }
            i += 1;
        }
        strict
    }

    /// `raw` when it is within the scheme's bits and has them fixed as the scheme says.
    ///
    /// # Errors
    /// [`Error::TooLarge`], [`Error::NoText`] or [`Error::FixedField`].
    pub const fn check(&self, raw: RawId) -> Result<RawId, Error> {
        if !raw.fits(self.layout.bits()) {
            return Err(Error::TooLarge { scheme: self.name, bits: self.layout.bits() });
        }
        if !self.canonical().spells(raw, self.layout.bits()) {
            return Err(Error::NoText { scheme: self.name });
        }
        match self.layout.mismatch(self.mapping.to_layout(raw)) {
            None => Ok(raw),
            Some((field, found)) => {
                let expected = if let Role::Fixed(value) = field.role { value } else { 0 };
                Err(Error::FixedField {
                    scheme: self.name,
                    field: field.name,
                    found: crate::raw::low_u64(found),
                    expected: crate::raw::low_u64(expected),
                })
            }
        }
    }

    /// Reads the big-endian bytes of an id.
    ///
    /// # Errors
    /// [`Error::Bytes`] for another length; see [`Scheme::check`].
    pub const fn parse_bytes(&self, bytes: &[u8]) -> Result<RawId, Error> {
        let wrong = Error::Bytes { scheme: self.name, found: bytes.len(), expected: self.layout.bytes() };
        match RawId::from_be_bytes(bytes) {
            Some(raw) if bytes.len() == self.layout.bytes() => self.check(raw),
            _ => Err(wrong),
        }
    }

    /// The canonical text of an id of this scheme.
    ///
    /// An id wider than the scheme prints as its hex digits: [`Scheme::check`] says what is wrong with it.
    #[must_use]
    pub const fn print(&self, raw: RawId) -> Text {
        let mut text = Text::EMPTY;
        if self.canonical().print_to(raw, &mut text).is_err() {
            // 160 bits have 40 hex digits, so nothing is left over.
            text = TextForm::fixed("hex", &HEX_DIGITS, 40).spell(raw).0;
        }
        text
    }

    /// A generator of this scheme.
    ///
    /// # Errors
    /// [`Error::ReadOnly`], or what the settings lack, have wrong, or name although the scheme has no use for it.
    pub fn generator(&self, settings: &Settings) -> Result<Box<dyn Generator>, Error> {
        let Some(make) = self.generator else {
            return Err(Error::ReadOnly { scheme: self.name });
        };
        self.method(settings.method)?;
        let given = [
            (&[Setting::Split][..], "split", settings.layout.is_some()),
            (&[Setting::Name], "namespace and name", settings.name.is_some()),
            (&[Setting::Data], "custom data", settings.data.is_some()),
            (&[Setting::Blocks], "block size", settings.block_size.is_some()),
            (&[Setting::Blocks, Setting::Intervals], "block count", settings.block_count.is_some()),
            (&[Setting::Intervals], "interval", settings.interval_nanos.is_some()),
            (&[Setting::Buckets], "bucket count", settings.buckets.is_some()),
            (&[Setting::First], "first value", settings.first.is_some()),
        ];
        if settings.worker.is_some() && !self.takes(Setting::Worker) {
            return Err(Error::NoWorkerField { scheme: self.name });
        }
        let unused =
            given.iter().find(|(takers, _, is_given)| *is_given && !takers.iter().any(|t| self.takes(*t)));
        match unused {
            Some((_, setting, _)) => Err(Error::NotApplicable { scheme: self.name, setting }),
            None => make(settings),
        }
    }

    /// Whether its generator takes a setting.
    #[must_use]
    pub fn takes(&self, setting: Setting) -> bool {
        self.settings.contains(&setting)
    }

    /// The value of field `i` of the layout.
    ///
    /// # Panics
    /// When there is no field `i`.
    #[must_use]
    pub const fn value(&self, raw: RawId, i: usize) -> u128 {
        self.layout.value(self.mapping.to_layout(raw), i)
    }

    /// An id with these field values, most significant first.
    ///
    /// # Errors
    /// See [`Layout::pack`].
    pub const fn pack(&self, values: &[u128]) -> Result<RawId, Error> {
        match self.layout.pack(values) {
            Ok(raw) => Ok(self.mapping.from_layout(raw)),
            Err(error) => Err(error),
        }
    }

    /// When an id was made, at the start of its tick; see [`Layout::time`].
    #[must_use]
    pub fn time(&self, raw: RawId) -> Option<UnixNanos> {
        let begins = self.layout.time(self.mapping.to_layout(raw))?;
        Some(begins.plus(self.mapping.nanos_in_tick(raw)?))
    }

    /// The method asked for, or the default one.
    ///
    /// # Errors
    /// [`Error::NoSuchMethod`].
    pub fn method(&self, asked: Option<Method>) -> Result<Option<Method>, Error> {
        match asked {
            None => Ok(self.methods.first().copied()),
            Some(method) if self.methods.contains(&method) => Ok(Some(method)),
            Some(method) => Err(Error::NoSuchMethod { scheme: self.name, method: method.name() }),
        }
    }

    /// The largest worker, or `None` without a worker field.
    #[must_use]
    pub fn max_worker(&self) -> Option<u64> {
        let slot = self.layout.find(Role::Worker)?;
        self.takes(Setting::Worker).then(|| crate::raw::low_u64(slot.max()))
    }

    /// Characters of the canonical form.
    #[must_use]
    pub const fn text_lengths(&self) -> Lengths {
        self.canonical().lengths()
    }
}

/// Reads text in the first of `forms` that has its length and can be read, as a number of `bits` bits; `scheme` names it in errors.
pub(crate) const fn parse_forms(
    forms: &[&TextForm],
    text: &str,
    bits: u32,
    scheme: &'static str,
) -> Result<RawId, Error> {
    let (mut first_error, mut i) = (None, 0);
    while i < forms.len() {
        // Bytes, not characters: text that isn't ASCII is wrong in every form, and any of them says where.
        if forms[i].has_length(text.len()) {
            match (forms[i].parse(text, bits, scheme), first_error) {
                (Ok(raw), _) => return Ok(raw),
                (Err(error), None) => first_error = Some(error),
                (Err(_), Some(_)) => {}
            }
        }
        i += 1;
    }
    match first_error {
        Some(error) => Err(error),
        None => forms[0].parse(text, bits, scheme),
    }
}

impl fmt::Debug for Scheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scheme").field("name", &self.name).finish_non_exhaustive()
    }
}

/// The time by `clock`, as exactly as the scheme's ticks need it: those of a second and more by the coarse clock.
#[inline]
pub(crate) fn time_for<S: StaticScheme>(clock: &impl crate::time::Clock) -> UnixNanos {
    let is_coarse = const {
        match S::SCHEME.layout.time_base() {
            Some(base) => base.tick_nanos >= 1_000_000_000,
            None => false,
        }
    };
    if is_coarse { clock.now_coarse() } else { clock.now() }
}

/// A scheme known when compiling: an empty type that points at its description.
pub trait StaticScheme: Copy + Ord + Hash + fmt::Debug + Send + Sync + 'static {
    /// What a typed id holds.
    type Repr: Repr;
    /// The description.
    const SCHEME: &'static Scheme;
}

/// A scheme whose ids a process can mint by one call, since nothing has to be agreed on.
#[cfg(feature = "std")]
pub trait Mint: StaticScheme {
    /// What mints them.
    type Shared: crate::generators::IdSource<Self> + 'static;

    /// The generator that the whole process shares.
    fn shared() -> &'static Self::Shared;
}
