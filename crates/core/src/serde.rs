//! Ids in serde formats: the canonical text where people read it, big-endian bytes where they don't.
//!
//! 64-bit ids are strings too. JSON numbers are read as doubles by JavaScript and others, which lose digits above 2^53, so a number
//! is refused instead of trusted.

use crate::id::Id;
use crate::raw::Repr;
use crate::scheme::StaticScheme;
use core::fmt;
use core::marker::PhantomData;
use serde::de::{Deserialize, Deserializer, Error, Visitor};
use serde::ser::{Serialize, Serializer};

/// The canonical text in human-readable formats, big-endian bytes in binary ones.
impl<S: StaticScheme> Serialize for Id<S> {
    fn serialize<W: Serializer>(&self, serializer: W) -> Result<W::Ok, W::Error> {
        if serializer.is_human_readable() {
            serializer.serialize_str(&self.to_text())
        } else {
            serializer.serialize_bytes(self.to_bytes().as_ref())
        }
    }
}

/// Text in any of the scheme's forms from human-readable formats, big-endian bytes from binary ones; never a number.
impl<'de, S: StaticScheme> Deserialize<'de> for Id<S> {
    fn deserialize<R: Deserializer<'de>>(deserializer: R) -> Result<Self, R::Error> {
        if deserializer.is_human_readable() {
            deserializer.deserialize_str(TextVisitor(PhantomData))
        } else {
            deserializer.deserialize_bytes(BytesVisitor(PhantomData))
        }
    }
}

struct TextVisitor<S>(PhantomData<S>);

impl<S: StaticScheme> Visitor<'_> for TextVisitor<S> {
    type Value = Id<S>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = S::SCHEME.name;
        if S::SCHEME.canonical().base.radix() == 10 {
            write!(f, "a {name} id as a string, since JSON numbers above 2^53 lose digits")
        } else {
            write!(f, "a {name} id as a string")
        }
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Id<S>, E> {
        text.parse().map_err(E::custom)
    }
}

struct BytesVisitor<S>(PhantomData<S>);

impl<S: StaticScheme> Visitor<'_> for BytesVisitor<S> {
    type Value = Id<S>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the {} big-endian bytes of a {} id", S::Repr::BYTES, S::SCHEME.name)
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Id<S>, E> {
        Id::from_bytes(bytes).map_err(E::custom)
    }
}
