//! What the crate promises to those who use it, tried from outside.
#![expect(
    clippy::unwrap_used,
    reason = "a test says what it expects by stopping, also in what its functions share"
)]

#[cfg(feature = "facade")]
mod facade;
mod features;
mod generators;
mod ids;
mod minting;
mod properties;
mod seeded;
mod vectors;
