//! The commands.

pub(crate) mod capacity;
pub(crate) mod choose;
pub(crate) mod completions;
pub(crate) mod convert;
pub(crate) mod facade;
pub(crate) mod inspect;
pub(crate) mod keys;
pub(crate) mod man;
pub(crate) mod mint;
pub(crate) mod new;
pub(crate) mod odds;
pub(crate) mod schemes;
pub(crate) mod size;
pub(crate) mod sqids;
pub(crate) mod store;
pub(crate) mod token;
