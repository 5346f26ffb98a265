//! How a text may be spelled: in a scheme's own forms, behind a prefix, or in the short forms that people give UUIDs.

use crate::error::Error;
use crate::layout::Layout;
use crate::raw::RawId;
use crate::rfc9562::{parse_postgres, version};
use crate::scheme::Scheme;
use crate::text::{
    BASE36, BASE57, BASE58, BASE58_FLICKR, BASE62, BASE64URL, DECIMAL_DIGITS, HYPHENATED, TextForm,
};
use std::vec::Vec;

/// A text as the number that a form spells.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spelled<'a> {
    pub(super) raw: RawId,
    /// The form's name, when it isn't the scheme's canonical one.
    pub(super) form: Option<&'static str>,
    /// What stood before it.
    pub(super) prefix: Option<&'a str>,
    /// Whether the form has one length, so that not every word is one.
    pub(super) is_certain: bool,
}

/// UUIDs in fewer characters, none of them in any standard, so that version and variant must be right for one to be believed.
static SHORT_UUIDS: [TextForm; 6] = [
    TextForm { pad_bits: 4, ..TextForm::fixed("base64url", &BASE64URL, 22) },
    TextForm::fixed("base57 (shortuuid)", &BASE57, 22),
    TextForm::fixed("base58", &BASE58, 22),
    TextForm::fixed("base58-flickr", &BASE58_FLICKR, 22),
    TextForm::fixed("base62", &BASE62, 22),
    TextForm::fixed("base36 (uuid25)", &BASE36, 25),
];

/// Instagram's short codes: the id in base64url without leading zeros.
static SHORTCODE: TextForm = TextForm { is_fixed: false, ..TextForm::fixed("shortcode", &BASE64URL, 11) };

/// One text, read once for all schemes that spell their ids in the same forms.
pub(super) struct Texts<'a> {
    text: &'a str,
    parsed: Vec<(&'static [&'static TextForm], Result<Spelled<'a>, Error>)>,
    short_uuids: Vec<Spelled<'a>>,
    /// How many characters it has, and where the last `_` stands that something is before.
    chars: usize,
    underscore: Option<usize>,
}

impl<'a> Texts<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let mut short_uuids = Vec::new();
        for form in SHORT_UUIDS.iter().filter(|form| form.has_length(text.len())) {
            if let Ok(raw) = form.parse(text, 128, "uuid")
                && version(raw.low()).is_some()
            {
                short_uuids.push(Spelled { raw, form: Some(form.name), prefix: None, is_certain: true });
            }
        }
        let underscore = text.bytes().rposition(|byte| byte == b'_').filter(|at| *at > 0);
        // Room for all lists of forms: growing would cost as much as reading.
        let parsed = Vec::with_capacity(crate::SCHEMES.len());
        Self { text, parsed, short_uuids, chars: text.chars().count(), underscore }
    }

    /// The text in the scheme's forms, or what a standard lets pass besides: PostgreSQL's spellings of a UUID. Bits that a scheme
    /// fixes aren't looked at.
    pub(super) fn read(&mut self, scheme: &'static Scheme) -> Result<Spelled<'a>, Error> {
        if let Some((_, parsed)) = self.parsed.iter().find(|(forms, _)| core::ptr::eq(*forms, scheme.text)) {
            return *parsed;
        }
        let parsed = self.read_anew(scheme);
        self.parsed.push((scheme.text, parsed));
        parsed
    }

    fn read_anew(&self, scheme: &'static Scheme) -> Result<Spelled<'a>, Error> {
        let is_uuid = is_uuid(scheme);
        let name = if is_uuid { "uuid" } else { scheme.name };
        let bits = scheme.layout.bits();
        let mut first_error = None;
        for (i, form) in scheme.text.iter().enumerate().filter(|(_, form)| form.has_length(self.text.len())) {
            match form.parse(self.text, bits, name) {
                Ok(raw) => {
                    let is_number = core::ptr::eq(form.base, &raw const DECIMAL_DIGITS);
                    let is_certain = form.is_fixed || is_number;
                    let form = (i > 0 && !is_uuid).then_some(form.name);
                    return Ok(Spelled { raw, form, prefix: None, is_certain });
                }
                Err(error) => first_error = first_error.or(Some(error)),
            }
        }
        let error = match first_error {
            Some(error) => error,
            None => match self.read_canonical(scheme, bits, name) {
                Err(error) => error,
                Ok(raw) => return Ok(Spelled { raw, form: None, prefix: None, is_certain: true }),
            },
        };
        let lenient = if is_uuid { parse_postgres(self.text).ok() } else { None };
        lenient
            .map(|uuid| Spelled { raw: RawId::new(uuid), form: None, prefix: None, is_certain: true })
            .ok_or(error)
    }

    /// The text in the canonical form. Where the length alone is wrong, as for most schemes, the error needs no reader.
    fn read_canonical(&self, scheme: &Scheme, bits: u32, name: &'static str) -> Result<RawId, Error> {
        let form = scheme.canonical();
        if form.is_fixed && !form.has_length(self.chars) {
            return Err(Error::Length { scheme: name, found: self.chars, expected: form.lengths() });
        }
        form.parse(self.text, bits, name)
    }

    /// What else the text may be as an id of this scheme: short, or behind a prefix.
    pub(super) fn others(&self, scheme: &'static Scheme) -> impl Iterator<Item = Spelled<'a>> + '_ {
        let short = if is_uuid(scheme) { &self.short_uuids[..] } else { &[] };
        let shortcode = (scheme.name == "snowflake-instagram")
            .then(|| SHORTCODE.parse(self.text, 64, scheme.name).ok())
            .flatten()
            .filter(|_| !self.text.bytes().all(|b| b.is_ascii_digit()))
            .map(|raw| Spelled { raw, form: Some(SHORTCODE.name), prefix: None, is_certain: false });
        short.iter().copied().chain(shortcode).chain(self.behind_prefix(scheme))
    }

    /// `msg_2KWPBg…` as `msg_` and the rest; the prefix is ASCII letters, digits and `_`, and begins with a letter. Prefixes stand
    /// before texts of one length, not before numbers: those would say too little.
    fn behind_prefix(&self, scheme: &'static Scheme) -> Option<Spelled<'a>> {
        let at = self.underscore?;
        let (prefix, rest) = (&self.text[..=at], &self.text[at + 1..]);
        let is_word = prefix.starts_with(|c: char| c.is_ascii_alphabetic())
            && prefix.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        let is_typeid = scheme.name == "typeid";
        let may_stand =
            if is_typeid { crate::schemes::typeid::check_prefix(&self.text[..at]).is_ok() } else { is_word };
        let long_enough = scheme.canonical().is_fixed && scheme.canonical().len >= 20;
        if !(may_stand && long_enough) {
            return None;
        }
        let raw = scheme.parse(rest).ok()?;
        Some(Spelled { raw, form: None, prefix: Some(prefix), is_certain: true })
    }
}

/// Whether a scheme is spelled as UUIDs are.
fn is_uuid(scheme: &Scheme) -> bool {
    core::ptr::eq(scheme.canonical(), &raw const HYPHENATED)
}

/// `raw` when it is an id of `scheme` under this layout.
pub(super) fn check(scheme: &'static Scheme, layout: &Layout, raw: RawId) -> Result<RawId, Error> {
    match layout.mismatch(scheme.mapping.to_layout(raw)) {
        // The scheme's own check says it best; a custom layout fixes nothing but unused bits at the top.
        Some(_) => {
            scheme.check(raw).and(Err(Error::TooLarge { scheme: scheme.name, bits: layout.used_bits() }))
        }
        None if scheme.mapping.nanos_in_tick(raw).is_none() => {
            Err(Error::FieldRange { field: "ticks_300th", bits: 32 })
        }
        None => Ok(raw),
    }
}

/// How near an error shows a text to have been to an id: the further a reader got, the nearer.
pub(super) fn closeness(error: &Error) -> usize {
    match error {
        Error::TooLarge { .. } | Error::FixedField { .. } => 1000,
        Error::LeadingZero { .. } => 500,
        Error::Character { at, .. } => *at,
        _ => 0,
    }
}
