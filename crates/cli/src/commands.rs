//! The commands.

pub(crate) mod completions;
pub(crate) mod inspect;
pub(crate) mod man;
pub(crate) mod new;
pub(crate) mod schemes;
