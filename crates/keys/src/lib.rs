//! The key doctor: reads what a database says about its keys, and says when they run out and what is wrong with them.
//!
//! `catalog → limits and checks → report`. Only the readers of [`catalog`] know a server; everything after them works on
//! plain data, so every rule is tested without one.
//!
//! * What was read: [`catalog::Catalog`]; [`open::read`] fills it from a URL, [`catalog::text::read`] from the texts of [`files`].
//! * How far each key has come, and what ends it: [`limits`]; which columns copy it without saying so: [`copies`]; which columns grow without being keys: [`counters`].
//! * Which values say nothing of how far a sequence has come: [`apart`].
//! * What is wrong besides: the list [`checks::CHECKS`].
//! * What is shown: [`report`].
//! * How far the numbers of each scope of a table have come: `maxima`, where a reader is built in.
//! * Whether sequences stand past their columns, and what moves them: [`sequences`].

pub mod apart;
pub mod catalog;
pub mod checks;
pub mod copies;
pub mod counters;
pub mod error;
pub mod files;
pub mod ignore;
pub mod limits;
#[cfg(any(feature = "postgres", feature = "mysql", feature = "sqlite"))]
pub mod maxima;
pub mod names;
pub mod open;
mod progress;
pub mod report;
#[cfg(any(feature = "postgres", feature = "mysql", feature = "sqlite"))]
mod scopes;
pub mod sequences;
#[cfg(any(feature = "postgres", feature = "sqlite"))]
mod spaces;

pub use catalog::Catalog;
pub use error::Error;
pub use report::Report;
