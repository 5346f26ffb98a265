//! Fault runs: what generators do when the process is forked, the clock is set back, the process is stopped, or all threads mint
//! at full speed.
//!
//! Every run asks the same: how many ids, how many duplicates, how many breaks of a promised order, how many refused calls, how
//! long was the longest time without an id; and every run checks that its fault took effect. The binary `mintage-fault` makes
//! each of them a command; `tests/faults.rs` runs them all.
//!
//! * What is tested: [`subject`], and in [`blind`] generators that fail on purpose, so that the runs are seen to notice.
//! * What is counted: [`count`] (ids and duplicates), [`outage`], [`minted`] (all of it, one thread's), [`summary`].
//! * How faults are made: [`forked`], [`clock_shim`], [`signal`].
//! * [`load`] is a process that mints under a fault; [`wire`] is how it and forked children report.
//! * [`servers`] are throw-away databases for the tests of other crates.
//! * [`tool`] says what happens where a machine lacks something.
//! * [`faults`] lists the runs.

pub mod blind;
pub mod clock_shim;
pub mod count;
pub mod faults;
pub mod forked;
pub mod load;
pub mod minted;
pub mod outage;
pub mod servers;
pub mod signal;
pub mod subject;
pub mod summary;
pub mod tool;
pub mod wire;
