//! Ids as column values, in any database that sqlx speaks to.
//!
//! | ids | column | as |
//! |---|---|---|
//! | 64 bits | `BIGINT` | `i64`; an id above 2^63 - 1 is refused, and so is a negative number |
//! | 128 bits | `UUID`, `BINARY(16)`, `BLOB` | `uuid::Uuid` |
//! | 96 and 160 bits | `BYTEA`, `VARBINARY`, `BLOB` | big-endian bytes |
//!
//! What is read must be an id of the scheme: of its length, with its version and other fixed bits.

use crate::id::Id;
use crate::raw::{RawId, Repr};
use crate::scheme::{Scheme, StaticScheme};
use sqlx::database::Database;
use sqlx::decode::Decode;
use sqlx::encode::{Encode, IsNull};
use sqlx::error::BoxDynError;
use sqlx::types::{Type, Uuid};

/// Which column type a representation takes. Implemented for the four representations, and for no others.
pub trait Column: Repr {
    /// What the driver reads and writes.
    type Value;

    /// The value that stands for this id.
    ///
    /// # Errors
    /// When the column type can't hold it.
    fn to_value(self, scheme: &'static Scheme) -> Result<Self::Value, BoxDynError>;

    /// The id that the value stands for.
    ///
    /// # Errors
    /// When it isn't an id of the scheme.
    fn from_value(value: Self::Value, scheme: &'static Scheme) -> Result<RawId, BoxDynError>;
}

impl Column for u64 {
    type Value = i64;

    fn to_value(self, scheme: &'static Scheme) -> Result<i64, BoxDynError> {
        i64::try_from(self).map_err(|_| {
            let name = scheme.name;
            format!(
                "{name}: {self} is above 2^63 - 1, the largest BIGINT; store it as NUMERIC(20) or as text"
            )
            .into()
        })
    }

    fn from_value(value: i64, scheme: &'static Scheme) -> Result<RawId, BoxDynError> {
        match Self::try_from(value) {
            Ok(number) => Ok(scheme.check(number.into())?),
            Err(_) => Err(format!("{}: {value} is negative, so it is no id", scheme.name).into()),
        }
    }
}

impl Column for u128 {
    type Value = Uuid;

    fn to_value(self, _: &'static Scheme) -> Result<Uuid, BoxDynError> {
        Ok(Uuid::from_u128(self))
    }

    fn from_value(value: Uuid, scheme: &'static Scheme) -> Result<RawId, BoxDynError> {
        Ok(scheme.check(RawId::new(value.as_u128()))?)
    }
}

impl Column for [u8; 12] {
    type Value = Vec<u8>;

    fn to_value(self, _: &'static Scheme) -> Result<Vec<u8>, BoxDynError> {
        Ok(self.to_vec())
    }

    fn from_value(value: Vec<u8>, scheme: &'static Scheme) -> Result<RawId, BoxDynError> {
        Ok(scheme.parse_bytes(&value)?)
    }
}

impl Column for [u8; 20] {
    type Value = Vec<u8>;

    fn to_value(self, _: &'static Scheme) -> Result<Vec<u8>, BoxDynError> {
        Ok(self.to_vec())
    }

    fn from_value(value: Vec<u8>, scheme: &'static Scheme) -> Result<RawId, BoxDynError> {
        Ok(scheme.parse_bytes(&value)?)
    }
}

impl<S, DB> Type<DB> for Id<S>
where
    S: StaticScheme<Repr: Column<Value: Type<DB>>>,
    DB: Database,
{
    fn type_info() -> DB::TypeInfo {
        <<S::Repr as Column>::Value as Type<DB>>::type_info()
    }

    fn compatible(ty: &DB::TypeInfo) -> bool {
        <<S::Repr as Column>::Value as Type<DB>>::compatible(ty)
    }
}

impl<'q, S, DB> Encode<'q, DB> for Id<S>
where
    S: StaticScheme<Repr: Column<Value: Encode<'q, DB>>>,
    DB: Database,
{
    fn encode_by_ref(&self, buffer: &mut DB::ArgumentBuffer) -> Result<IsNull, BoxDynError> {
        self.get().to_value(S::SCHEME)?.encode(buffer)
    }

    fn size_hint(&self) -> usize {
        S::Repr::BYTES
    }
}

impl<'r, S, DB> Decode<'r, DB> for Id<S>
where
    S: StaticScheme<Repr: Column<Value: Decode<'r, DB>>>,
    DB: Database,
{
    fn decode(value: DB::ValueRef<'r>) -> Result<Self, BoxDynError> {
        let value = <S::Repr as Column>::Value::decode(value)?;
        S::Repr::from_value(value, S::SCHEME).map(|raw| Self(S::Repr::from_raw(raw)))
    }
}
