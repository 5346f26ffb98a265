//! Who may mint what: leases with windows of ticks, and blocks of counters, over a shared store that can't issue a duplicate.
//!
//! **A lease grants ticks, not time**: worker `w` may put only ticks in `[from, until)` into ids. The store keeps one number
//! per space and worker, its high-water mark; a grant starts at or above the mark and raises it to `until` in one durable
//! transaction. Windows of one worker never overlap, so a pause, a crash, a partition or a clock step can't make a duplicate.
//!
//! * The rules, pure functions of what was read: [`window`], [`block`], [`scope`], [`identity`]; [`rules::decide`] is the way in to all, and [`creating`]
//!   decides of spaces without a row.
//! * Who uses them: [`session`] opens a store in a process, [`minter`] holds leases and mints,
//!   [`allocator`] holds blocks and hands out values, [`tickets`] takes them one by one, from twins too, [`scope_counters`] numbers per scope.
//! * What they speak of: [`space`] (facts that never change), [`state`] (rows that do), [`request`] (questions and answers).
//! * Where rows live: [`store::Store`], opened by URL from the list [`stores::STORES`].
//! * Regions on stores of their own, compared: [`manifest`].
//! * What went wrong: [`error`].

pub mod allocator;
pub mod block;
pub mod clock;
pub mod creating;
pub mod ending;
pub mod error;
pub mod events;
pub mod headroom;
pub mod identity;
pub mod manifest;
pub mod minter;
mod own;
pub mod request;
pub mod rules;
pub mod scope;
pub mod scope_counters;
pub mod session;
pub mod space;
pub mod state;
pub mod store;
pub mod stores;
pub mod tickets;
pub mod window;
#[cfg(feature = "wire")]
pub mod wire;

pub use allocator::{Allocator, AllocatorOptions, Run};
pub use error::{Error, Refusal};
pub use events::{Event, Happening, Listener};
pub use minter::{Minter, MinterOptions};
pub use request::{Answer, Caller, Request};
pub use scope_counters::ScopeCounters;
pub use session::{Session, SessionOptions, open};
pub use space::{Space, SpaceId};
pub use store::Store;
pub use tickets::Tickets;
