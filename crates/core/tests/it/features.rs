//! The optional features, each through a real counterpart.

#[cfg(feature = "serde")]
mod serde;
#[cfg(feature = "sqlx")]
mod sqlx;
#[cfg(feature = "uuid")]
mod uuid;
