//! Mintage beside its peers: the same work in one process, in interleaved rounds.
//!
//! [`operations::OPERATIONS`] is the list of what is compared. [`outcome::measure`] measures a part of it, [`report`] shows the
//! outcome as a table or as JSON, and [`page`] writes table and picture into `docs/speed.md` and `docs/speed.svg`.

mod engines;
mod given_clock;
mod inputs;
pub mod operations;
mod ours;
pub mod outcome;
pub mod page;
pub mod peers;
pub mod picture;
pub mod report;
