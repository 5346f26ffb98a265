//! What creating a space comes to: the one decision about a space that may have no row yet.
//!
//! Every store asks it inside the transaction that then writes the row.

use crate::clock::HostClock;
use crate::error::Error;
use crate::identity::Identity;
use crate::request::{Caller, Hold, Loss, Shown};
use crate::rules::created;
use crate::space::Space;
use crate::state::{Seen, SpaceState, Witness};
use crate::store::{CreateOptions, expected};
use crate::window::check_clock;
use mintage::UnixNanos;

/// A space that has or had the name of the one to create.
#[derive(Clone, Copy, Debug)]
pub struct Namesake<'a> {
    /// What it is or was.
    pub space: &'a Space,
    /// How far it came.
    pub state: &'a SpaceState,
    /// Whether it wasn't dropped.
    pub is_in_use: bool,
}

impl<'a> From<&'a Shown> for Namesake<'a> {
    fn from(shown: &'a Shown) -> Self {
        Self { space: &shown.space, state: &shown.state, is_in_use: shown.dropped.is_none() }
    }
}

/// What creating a space comes to.
#[derive(Debug)]
pub enum Creation {
    /// It is in use already, with the same facts.
    There(Space),
    /// The row that it begins with, and the hold or stop.
    Begins(SpaceState, Option<Hold>),
}

/// What creating `space` comes to when the store's time is `now` and the store is `live`. Rules 7, 15 and 19.
///
/// # Errors
/// [`Error::SpaceDiffers`], [`Error::SpaceFault`], [`Error::NameUsed`], and [`Error::Refused`] for a clock that can't be right.
pub fn creation(
    space: &Space,
    namesakes: &[Namesake<'_>],
    options: CreateOptions,
    now: UnixNanos,
    live: Identity,
    clock: &dyn HostClock,
) -> Result<Creation, Error> {
    let name = || space.name.clone();
    if let Some(Namesake { space: in_use, .. }) = namesakes.iter().find(|namesake| namesake.is_in_use) {
        return match in_use.difference(space) {
            None => Ok(Creation::There((*in_use).clone())),
            Some(difference) => Err(Error::SpaceDiffers { space: name(), difference }),
        };
    }
    space.validate(now).map_err(|fault| Error::SpaceFault { space: name(), fault })?;
    let caller = Caller { trusts_clock: options.trusts_clock, ..Caller::default() };
    let seen = Seen { now, live, expected: expected(&caller, clock), witness: Witness::default() };
    if let Some(windows) = space.windows() {
        check_clock(&windows.terms, &seen).map_err(|refusal| Error::Refused {
            space: name(),
            refusal,
            now,
            events: Vec::new(),
        })?;
    }
    let dropped: Vec<_> = namesakes.iter().map(|namesake| (namesake.space, namesake.state)).collect();
    created(space, &seen, &dropped, options.restart_hold)
        .map(|(state, _)| {
            let is_held = state.holds > 0 && (state.floor > 0 || state.block.is_stale);
            let hold = is_held.then_some(Hold { why: Loss::CreatedAgain, began: now });
            Creation::Begins(state, hold)
        })
        .map_err(|difference| Error::NameUsed { space: name(), difference })
}
