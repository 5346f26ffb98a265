//! To and from the ecosystem's UUID type, for every scheme of 128 bits.

use crate::error::Error;
use crate::id::Id;
use crate::raw::RawId;
use crate::scheme::StaticScheme;
use uuid::Uuid;

/// The same 128 bits. A ULID keeps its bits, so the UUID has no version of its own.
impl<S: StaticScheme<Repr = u128>> From<Id<S>> for Uuid {
    fn from(id: Id<S>) -> Self {
        Self::from_u128(id.get())
    }
}

/// The same 128 bits, when version and variant are the scheme's.
impl<S: StaticScheme<Repr = u128>> TryFrom<Uuid> for Id<S> {
    type Error = Error;

    /// Fails as [`crate::Scheme::check`] does.
    fn try_from(uuid: Uuid) -> Result<Self, Error> {
        Self::from_raw(RawId::new(uuid.as_u128()))
    }
}
