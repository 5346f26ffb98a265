//! Rules: how one scheme's next id follows from its last, for schemes whose state doesn't fit one atomic word.
//!
//! A rule is plain state without clock or lock, so it runs anywhere, `no_std` included; [`super::locked::Locked`] shares one
//! between threads.

use crate::entropy::Draw;
use crate::error::Error;
use crate::id::Id;
use crate::layout::TimeBase;
use crate::scheme::StaticScheme;
use crate::time::UnixNanos;

/// The state of one scheme's minting. A fresh one holds settings only; [`Rule::renew`] gives it its random state.
///
/// ```
/// use mintage::generators::rule::Rule;
/// use mintage::schemes::uuid_v7::Uuid7Rule;
/// use mintage::{Draw, SystemEntropy, UnixNanos};
///
/// let mut rule = Uuid7Rule::default();
/// let mut draw = Draw::new(&SystemEntropy, 64);
/// rule.renew(&mut draw)?;
/// let id = rule.next_id(UnixNanos::from_millis(1_645_557_742_000), &mut draw)?;
/// assert!(id.to_string().starts_with("017f22e2-79b0-7"));
/// # Ok::<(), mintage::Error>(())
/// ```
pub trait Rule: Clone + Send + Sync + 'static {
    /// The scheme that it mints.
    type Scheme: StaticScheme;

    /// Random bytes that one id takes, about.
    const ID_BYTES: usize;

    /// Draws the random state anew: once before the first id, and again in a forked child.
    ///
    /// # Errors
    /// [`Error::Entropy`].
    fn renew(&mut self, draw: &mut Draw<'_>) -> Result<(), Error>;

    /// The next id when the clock says `now`.
    ///
    /// # Errors
    /// [`Error::BeforeEpoch`], [`Error::TimeFieldEnded`], [`Error::Entropy`], and what the scheme names.
    fn next(
        &mut self,
        now: UnixNanos,
        draw: &mut Draw<'_>,
    ) -> Result<<Self::Scheme as StaticScheme>::Repr, Error>;

    /// The next id, typed.
    ///
    /// # Errors
    /// See [`Rule::next`].
    fn next_id(&mut self, now: UnixNanos, draw: &mut Draw<'_>) -> Result<Id<Self::Scheme>, Error> {
        self.next(now, draw).map(Id)
    }
}

/// The clock's tick.
///
/// # Errors
/// [`Error::BeforeEpoch`].
pub fn tick_at(scheme: &'static str, base: TimeBase, now: UnixNanos) -> Result<u64, Error> {
    base.tick_at(now).ok_or(Error::BeforeEpoch { scheme, now, epoch: base.epoch })
}

/// `tick`, when a field of `bits` bits can hold it.
///
/// # Errors
/// [`Error::TimeFieldEnded`].
pub fn fit_tick(scheme: &'static str, base: TimeBase, tick: u64, bits: u32) -> Result<u64, Error> {
    let end = crate::raw::mask(bits) + 1;
    if u128::from(tick) < end {
        return Ok(tick);
    }
    Err(Error::TimeFieldEnded { scheme, ended: base.time_of(end).unwrap_or(UnixNanos(i128::MAX)) })
}
