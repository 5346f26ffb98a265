//! What RFC 9562 says of all UUIDs: variant, version, namespaces, ids from names, and the two byte orders.

use crate::error::Error;
use crate::id::Id;
use crate::layout::{Layout, Role, TimeBase};
use crate::mapping::swapped_groups;
use crate::raw::RawId;
use crate::scheme::StaticScheme;
use crate::schemes::uuid_v1::UuidV1Scheme;
use crate::schemes::uuid_v6::UuidV6Scheme;
use crate::text::{HEX_DIGITS, Way};
use crate::{UuidV1, UuidV3, UuidV5, UuidV6, UuidV8};
use sha1::Digest;

/// Whose layout a UUID follows. Source: RFC 9562 section 4.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Variant {
    /// `0xx`: Apollo NCS, and the nil UUID.
    Ncs,
    /// `10x`: RFC 9562.
    Rfc9562,
    /// `110`: Microsoft.
    Microsoft,
    /// `111`: reserved, and the max UUID.
    Future,
}

impl Variant {
    /// The variant of a UUID.
    #[must_use]
    pub const fn of(uuid: u128) -> Self {
        match (uuid >> 61) & 7 {
            0..=3 => Self::Ncs,
            4 | 5 => Self::Rfc9562,
            6 => Self::Microsoft,
            _ => Self::Future,
        }
    }

    /// Its word.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ncs => "ncs",
            Self::Rfc9562 => "rfc9562",
            Self::Microsoft => "microsoft",
            Self::Future => "future",
        }
    }
}

/// The four bits where a version stands, 0 to 15, whatever the variant.
#[must_use]
pub const fn version_bits(uuid: u128) -> u8 {
    uuid.to_be_bytes()[6] >> 4
}

/// The version, 1 to 8; `None` for another variant, where these bits mean nothing, and for values without a meaning yet.
/// Source: RFC 9562 section 4.2.
#[must_use]
pub const fn version(uuid: u128) -> Option<u8> {
    match (Variant::of(uuid), version_bits(uuid)) {
        (Variant::Rfc9562, version @ 1..=8) => Some(version),
        _ => None,
    }
}

/// `uuid` with version and variant set. Source: RFC 9562 sections 4.1 and 4.2.
#[must_use]
pub(crate) const fn stamped(uuid: u128, version: u8) -> u128 {
    const VERSION: u128 = 0xf << 76;
    const VARIANT: u128 = 0b11 << 62;
    (uuid & !VERSION & !VARIANT) | ((version as u128) << 76) | (0b10 << 62)
}

/// The namespaces of RFC 9562 section 6.6 by name: `dns`, `url`, `oid`, `x500`.
pub const NAMESPACES: &[(&str, u128)] = &[
    ("dns", 0x6ba7b810_9dad_11d1_80b4_00c04fd430c8),
    ("url", 0x6ba7b811_9dad_11d1_80b4_00c04fd430c8),
    ("oid", 0x6ba7b812_9dad_11d1_80b4_00c04fd430c8),
    ("x500", 0x6ba7b814_9dad_11d1_80b4_00c04fd430c8),
];

/// The namespace of this name in any case, or this UUID in any of its text forms.
///
/// # Errors
/// Those of a UUID's text.
pub fn namespace(text: &str) -> Result<u128, Error> {
    match NAMESPACES.iter().find(|(name, _)| name.eq_ignore_ascii_case(text)) {
        Some((_, uuid)) => Ok(*uuid),
        None => parse_any(text),
    }
}

/// Any 128 bits in one of a UUID's text forms, whatever version and variant.
///
/// # Errors
/// Those of a UUID's text.
pub fn parse_any(text: &str) -> Result<u128, Error> {
    if let Some(raw) = crate::text::HYPHENATED.read(Way::Uuid, text.as_bytes(), 128) {
        return Ok(raw.low());
    }
    let form = crate::text::UUID_FORMS.iter().find(|form| form.has_length(text.len()));
    let form = form.copied().unwrap_or(crate::text::UUID_FORMS[0]);
    form.parse(text, 128, "uuid").map(RawId::low)
}

/// What PostgreSQL's `uuid` type accepts: besides the usual forms, braces around any of them and a hyphen after any group of four
/// digits. Source: PostgreSQL manual, section 8.12.
///
/// # Errors
/// [`Error::Character`] or [`Error::Length`].
pub fn parse_postgres(text: &str) -> Result<u128, Error> {
    const SCHEME: &str = "uuid";
    let (inner, offset) = match text.strip_prefix('{') {
        Some(rest) => (rest.strip_suffix('}').unwrap_or(rest), 1),
        None => (text, 0),
    };
    let (mut digits, mut last_is_hyphen) = ([0u8; 32], true);
    let mut count = 0;
    for (at, found) in inner.chars().enumerate() {
        let is_hyphen = found == '-';
        let misplaced = is_hyphen && (count % 4 != 0 || last_is_hyphen || count == 32);
        if misplaced || !(is_hyphen || found.is_ascii_hexdigit()) || count == 32 && !is_hyphen {
            return Err(Error::Character {
                scheme: SCHEME,
                found,
                at: at + 1 + offset,
                expected: "a hex digit",
            });
        }
        if let Some(digit) = digits.get_mut(count)
            && !is_hyphen
            && let Ok(byte) = u8::try_from(found)
        {
            *digit = byte;
            count += 1;
        }
        last_is_hyphen = is_hyphen;
    }
    if text.starts_with('{') && !text.ends_with('}') || count < 32 {
        let expected = crate::text::SIMPLE.lengths();
        return Err(Error::Length { scheme: SCHEME, found: count, expected });
    }
    let text = core::str::from_utf8(&digits).unwrap_or("");
    crate::text::TextForm::fixed("simple", &HEX_DIGITS, 32).parse(text, 128, SCHEME).map(RawId::low)
}

impl UuidV3 {
    /// The UUID of `name` in `namespace`: the first 128 bits of their MD5. Source: RFC 9562 section 5.3.
    #[must_use]
    pub fn from_name(namespace: u128, name: &[u8]) -> Self {
        let hash = md5::Md5::new().chain_update(namespace.to_be_bytes()).chain_update(name).finalize();
        Self(stamped(u128::from_be_bytes(hash.into()), 3))
    }
}

impl UuidV5 {
    /// The UUID of `name` in `namespace`: the first 128 bits of their SHA-1. Source: RFC 9562 section 5.5.
    #[must_use]
    pub fn from_name(namespace: u128, name: &[u8]) -> Self {
        let hash = sha1::Sha1::new().chain_update(namespace.to_be_bytes()).chain_update(name).finalize();
        let mut first = [0; 16];
        first.copy_from_slice(&hash[..16]);
        Self(stamped(u128::from_be_bytes(first), 5))
    }
}

impl UuidV8 {
    /// A UUID of 122 bits of the caller's choice; the bits of version and variant are overwritten. Source: RFC 9562 section 5.8.
    #[must_use]
    pub const fn from_custom(data: u128) -> Self {
        Self(stamped(data, 8))
    }
}

impl From<UuidV1> for UuidV6 {
    /// The same moment, clock sequence and node, in the order that sorts. Source: RFC 9562 section 5.6.
    fn from(v1: UuidV1) -> Self {
        Self(reordered(v1.raw(), &UuidV1Scheme::SCHEME.layout, &UuidV6Scheme::SCHEME.layout))
    }
}

impl From<UuidV6> for UuidV1 {
    /// The same moment, clock sequence and node, in the old order.
    fn from(v6: UuidV6) -> Self {
        Self(reordered(v6.raw(), &UuidV6Scheme::SCHEME.layout, &UuidV1Scheme::SCHEME.layout))
    }
}

/// Versions 1 and 6 share the last 64 bits and hold the same time in another order.
fn reordered(raw: RawId, from: &Layout, to: &Layout) -> u128 {
    let time = from.gather(raw, Role::Timestamp(TimeBase::GREGORIAN));
    let rest = to.fixed().low() | raw.low() & crate::raw::mask(64);
    to.scatter(RawId::new(rest), Role::Timestamp(TimeBase::GREGORIAN), time).low()
}

impl<S: StaticScheme<Repr = u128>> Id<S> {
    /// The bytes as Microsoft stores a GUID: the first three groups little-endian. Source: RFC 9562 section 4.
    #[must_use]
    pub fn to_guid_bytes(self) -> [u8; 16] {
        swapped_groups(self.get()).to_be_bytes()
    }

    /// From the bytes of a Microsoft GUID, the first three groups little-endian.
    ///
    /// # Errors
    /// See [`crate::Scheme::check`].
    pub fn from_guid_bytes(bytes: [u8; 16]) -> Result<Self, Error> {
        Self::from_raw(RawId::new(swapped_groups(u128::from_be_bytes(bytes))))
    }
}
