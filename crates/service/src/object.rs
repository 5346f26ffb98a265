//! An object of JSON, and nothing else: what reads structs by their fields' names takes a list of values for one as well.

use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use std::fmt;
use std::marker::PhantomData;

/// A `T` that was written as an object.
#[derive(Clone, Debug)]
pub(crate) struct Object<T>(pub(crate) T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for Fields<T> {
            type Value = T;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, fields: A) -> Result<T, A::Error> {
                T::deserialize(MapAccessDeserializer::new(fields))
            }
        }

        deserializer.deserialize_map(Fields(PhantomData)).map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Deserialize)]
    struct Pair {
        a: u8,
        b: Option<Object<Inner>>,
    }

    #[derive(Debug, Deserialize)]
    struct Inner {
        c: u8,
    }

    #[test]
    fn a_list_is_no_object() {
        let read = |text| serde_json::from_str::<Object<Pair>>(text);
        let Object(pair) = read(r#"{"a":1,"b":{"c":2}}"#).unwrap();
        assert_eq!((pair.a, pair.b.map(|b| b.0.c)), (1, Some(2)));
        for list in ["[1,null]", r#"{"a":1,"b":[2]}"#] {
            assert!(read(list).unwrap_err().to_string().contains("expected an object"), "{list}");
        }
    }
}
