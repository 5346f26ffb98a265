//! The key doctor: reads what a database says about its keys, and says when they run out and what is wrong with them.
//!
//! `catalog → limits and checks → report`. Only the readers of [`catalog`] know a server; everything after them works on
//! plain data, so every rule is tested without one.
//!
//! * What was read: [`catalog::Catalog`]; [`open::read`] fills it from a URL.
//! * How far each key has come, and what ends it: [`limits`].
//! * What is wrong besides: the list [`checks::CHECKS`].
//! * What is shown: [`report`].

pub mod catalog;
pub mod checks;
pub mod error;
pub mod ignore;
pub mod limits;
pub mod names;
pub mod open;
pub mod report;
#[cfg(any(feature = "postgres", feature = "mysql", feature = "sqlite"))]
mod scopes;
#[cfg(any(feature = "postgres", feature = "sqlite"))]
mod spaces;

pub use catalog::Catalog;
pub use error::Error;
pub use report::Report;
