//! TypeID: a UUIDv7 in 26 characters behind a prefix that names its type.

use crate::entropy::Draw;
use crate::error::Error;
#[cfg(feature = "std")]
use crate::generators::locked::Locked;
use crate::generators::rule::Rule;
use crate::generators::{Method, locked};
use crate::id::{Id, const_id};
use crate::layout::{Field, Layout, Role, TimeBase};
use crate::mapping::Mapping;
#[cfg(feature = "std")]
use crate::scheme::Mint;
use crate::scheme::{Coordination, Facts, Scheme, Sortable, StaticScheme};
use crate::schemes::uuid_v7::{Uuid7Rule, UuidV7Scheme};
use crate::text::{CROCKFORD32_LOWER, TextForm};
use crate::time::UnixNanos;
use alloc::format;
use alloc::string::String;

/// The UUID of a TypeID, 128 bits.
pub type Typeid = Id<TypeidScheme>;

/// The description of [`Typeid`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TypeidScheme;

/// 26 digits of Crockford's base 32, lower case only; the first is at most 7.
static CROCKFORD_26: TextForm = TextForm::fixed("crockford32", &CROCKFORD32_LOWER, 26);

impl StaticScheme for TypeidScheme {
    type Repr = u128;
    const SCHEME: &'static Scheme = &Scheme {
        name: "typeid",
        aliases: &[],
        summary: "UUIDv7 in 26 characters, behind a prefix that names the type",
        source: "jetify-com/typeid, specification 0.3.0",
        layout: Layout::new(
            128,
            &[
                Field::new("unix_ts_ms", Role::Timestamp(TimeBase::millis_since(0)), 48),
                Field::new("ver", Role::Custom, 4),
                Field::new("rand_a", Role::Random, 12),
                Field::new("var", Role::Custom, 2),
                Field::new("rand_b", Role::Random, 62),
            ],
        ),
        mapping: Mapping::Identity,
        text: &[&CROCKFORD_26],
        vectors: &[("01h455vb4pex5vsknk084sn02q", &[1688096058518, 7, 0x74b, 2, 0x3cceb302099a8057])],
        facts: Facts {
            sortable: Sortable::Strictly,
            coordination: Coordination::Nothing,
            collisions: "as UUIDv7",
            leaks: "the type, and when it was made, to the millisecond",
            sql: ("text collate \"C\"", "varchar(90) collate ascii_bin"),
            surprise: Some(0),
        },
        methods: UuidV7Scheme::SCHEME.methods,
        settings: &[],
        generator: Some(|settings| {
            let method = UuidV7Scheme::SCHEME.method(settings.method)?.unwrap_or(Method::Counter);
            locked::boxed(TypeidRule(Uuid7Rule::new(method)), settings)
        }),
    };
}

const_id!(TypeidScheme, u128);

/// UUIDv7's rule under this scheme's name.
#[derive(Clone, Copy, Debug, Default)]
pub struct TypeidRule(Uuid7Rule);

impl Rule for TypeidRule {
    type Scheme = TypeidScheme;

    fn renew(&mut self, draw: &mut Draw<'_>) -> Result<(), Error> {
        self.0.renew(draw)
    }

    fn next(&mut self, now: UnixNanos, draw: &mut Draw<'_>) -> Result<u128, Error> {
        self.0.next(now, draw)
    }
}

#[cfg(feature = "std")]
static SHARED: Locked<TypeidRule> = Locked::new(TypeidRule(Uuid7Rule::new(Method::Counter)));

#[cfg(feature = "std")]
impl Mint for TypeidScheme {
    type Shared = Locked<TypeidRule>;

    fn shared() -> &'static Self::Shared {
        &SHARED
    }
}

/// Most characters of a prefix.
const MAX_PREFIX: usize = 63;

/// Refuses what can't be a prefix: more than 63 characters, anything but `a` to `z` and `_`, or a `_` at either end. An empty
/// prefix is one.
///
/// # Errors
/// [`Error::Length`] or [`Error::Character`].
pub fn check_prefix(prefix: &str) -> Result<(), Error> {
    let scheme = TypeidScheme::SCHEME.name;
    if prefix.len() > MAX_PREFIX {
        let expected = crate::error::Lengths { least: 0, most: MAX_PREFIX };
        return Err(Error::Length { scheme, found: prefix.chars().count(), expected });
    }
    let last = prefix.len().saturating_sub(1);
    for (at, found) in prefix.char_indices() {
        let is_end = at == 0 || at == last;
        if !(found.is_ascii_lowercase() || found == '_' && !is_end) {
            let expected = if found == '_' {
                "a to z at the ends of a prefix"
            } else {
                "one of a to z and _ in a prefix"
            };
            return Err(Error::Character { scheme, found, at: prefix[..at].chars().count() + 1, expected });
        }
    }
    Ok(())
}

/// The prefix and the UUID of a TypeID such as `user_01h455vb4pex5vsknk084sn02q`. Without a prefix there is no `_` either.
///
/// # Errors
/// What is wrong with the prefix or the suffix.
pub fn parse(text: &str) -> Result<(&str, Typeid), Error> {
    let Some((prefix, suffix)) = text.rsplit_once('_') else {
        return Typeid::parse(text).map(|id| ("", id));
    };
    check_prefix(prefix)?;
    if prefix.is_empty() {
        let scheme = TypeidScheme::SCHEME.name;
        return Err(Error::Character { scheme, found: '_', at: 1, expected: "a prefix, or no separator" });
    }
    Ok((prefix, Typeid::parse(suffix)?))
}

/// The text of a TypeID.
///
/// # Errors
/// See [`check_prefix`].
pub fn print(prefix: &str, id: Typeid) -> Result<String, Error> {
    check_prefix(prefix)?;
    Ok(if prefix.is_empty() { format!("{id}") } else { format!("{prefix}_{id}") })
}
