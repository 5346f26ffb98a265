//! Rules: how one scheme's next id follows from its last, for schemes whose state doesn't fit one atomic word.
//!
//! A rule is plain state without clock or lock, so it runs anywhere, `no_std` included; [`super::locked::Locked`] shares one
//! between threads.

use crate::entropy::Draw;
#[cfg(feature = "std")]
use crate::entropy::Entropy;
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
/// let mut draw = Draw::new(&SystemEntropy);
/// rule.renew(&mut draw)?;
/// let id = rule.next_id(UnixNanos::from_millis(1_645_557_742_000), &mut draw)?;
/// assert!(id.to_string().starts_with("017f22e2-79b0-7"));
/// # Ok::<(), mintage::Error>(())
/// ```
pub trait Rule: Clone + Send + Sync + 'static {
    /// The scheme that it mints.
    type Scheme: StaticScheme;

    /// Whether ids have random bits of their own, so that an engine gets some ready; where it is false they are asked for now and then.
    const DRAWS_EACH: bool = true;

    /// Whether [`Error::Busy`] can come of it. Where it can't, an engine's waiting calls are those that don't wait.
    const WAITS: bool = true;

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

    /// Fills the front of `out` and returns how many it made: at least one, unless `out` is empty.
    ///
    /// # Errors
    /// See [`Rule::next`]. What was made before an error stands; the error comes again with the next call, when it still holds.
    fn fill(
        &mut self,
        now: UnixNanos,
        draw: &mut Draw<'_>,
        out: &mut [Id<Self::Scheme>],
    ) -> Result<usize, Error> {
        fill_one_by_one(self, now, draw, out)
    }

    /// The next id, typed.
    ///
    /// # Errors
    /// See [`Rule::next`].
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn next_id(&mut self, now: UnixNanos, draw: &mut Draw<'_>) -> Result<Id<Self::Scheme>, Error> {
        self.next(now, draw).map(Id)
    }
}

/// What [`Rule::fill`] does unless a rule knows better.
pub(crate) fn fill_one_by_one<R: Rule>(
    rule: &mut R,
    now: UnixNanos,
    draw: &mut Draw<'_>,
    out: &mut [Id<R::Scheme>],
) -> Result<usize, Error> {
    for (made, id) in out.iter_mut().enumerate() {
        match rule.next(now, draw) {
            Ok(next) => *id = Id(next),
            Err(_) if made > 0 => return Ok(made),
            Err(error) => return Err(error),
        }
    }
    Ok(out.len())
}

/// Does `work` with random bits at hand, or with a way to ask for them where few ids need any.
#[cfg(feature = "std")]
#[inline]
pub(crate) fn with_draw_for<R: Rule, T>(
    entropy: &impl Entropy,
    ids: usize,
    work: impl FnOnce(&mut Draw<'_>) -> T,
) -> T {
    if R::DRAWS_EACH { entropy.with_draw(ids, work) } else { work(&mut Draw::new(entropy)) }
}

/// The clock's tick.
///
/// # Errors
/// [`Error::BeforeEpoch`].
#[cfg_attr(not(debug_assertions), inline(always))]
pub fn tick_at(scheme: &'static str, base: TimeBase, now: UnixNanos) -> Result<u64, Error> {
    match base.tick_at(now) {
        Some(tick) => Ok(tick),
        None => Err(before_epoch(scheme, base, now)),
    }
}

#[cold]
#[inline(never)]
fn before_epoch(scheme: &'static str, base: TimeBase, now: UnixNanos) -> Error {
    Error::BeforeEpoch { scheme, now, epoch: base.epoch }
}

/// `tick`, when a field of `bits` bits can hold it.
///
/// # Errors
/// [`Error::TimeFieldEnded`].
#[cfg_attr(not(debug_assertions), inline(always))]
pub fn fit_tick(scheme: &'static str, base: TimeBase, tick: u64, bits: u32) -> Result<u64, Error> {
    if u128::from(tick) <= crate::raw::mask(bits) {
        return Ok(tick);
    }
    Err(ended(scheme, base, bits))
}

#[cold]
#[inline(never)]
fn ended(scheme: &'static str, base: TimeBase, bits: u32) -> Error {
    let end = crate::raw::mask(bits).saturating_add(1);
    Error::TimeFieldEnded { scheme, ended: base.time_of(end).unwrap_or(UnixNanos(i128::MAX)) }
}
