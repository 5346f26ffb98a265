//! Typed minting: ids of a scheme that is known when compiling, one by one, in batches, as an iterator and as text.

use super::{Generator, Settings};
#[cfg(feature = "std")]
use crate::entropy::generation;
use crate::error::Error;
use crate::id::Id;
use crate::raw::{RawId, Repr};
use crate::scheme::StaticScheme;
use alloc::boxed::Box;
#[cfg(feature = "std")]
use alloc::string::String;
use core::fmt;
use core::marker::PhantomData;

/// Ids that are held at once where a batch has to pass through memory of its own.
const PIECE: usize = 64;
/// Ids that are minted before they are spelled: enough that the look at the clock is a small part.
#[cfg(feature = "std")]
const TEXTS: usize = 256;

/// Mints ids of scheme `S`. Safe to share between threads; ids that one thread gets are in the order of the scheme.
///
/// ```
/// use mintage::generators::locked::Locked;
/// use mintage::schemes::uuid_v7::Uuid7Rule;
/// use mintage::{IdSource, UuidV7};
///
/// let generator = Locked::new(Uuid7Rule::default());
/// let mut batch = [UuidV7::ZERO; 100];
/// generator.fill_ids(&mut batch)?;
/// assert!(batch.is_sorted());
/// # Ok::<(), mintage::Error>(())
/// ```
pub trait IdSource<S: StaticScheme>: Send + Sync {
    /// Fills the front of `out` and returns how many it made: at least one, unless `out` is empty. One look at the clock, one
    /// reservation. Never waits.
    ///
    /// # Errors
    /// See [`Generator::try_fill`].
    fn try_fill_ids(&self, out: &mut [Id<S>]) -> Result<usize, Error>;

    /// The next id. Never waits.
    ///
    /// # Errors
    /// See [`Generator::try_fill`].
    fn try_next_id(&self) -> Result<Id<S>, Error> {
        let mut out = [Id::ZERO];
        self.try_fill_ids(&mut out).map(|_| out[0])
    }

    /// The next id; waits where the scheme has to.
    ///
    /// # Errors
    /// See [`Generator::next`].
    #[cfg(feature = "std")]
    #[inline]
    fn next_id(&self) -> Result<Id<S>, Error> {
        match self.try_next_id() {
            Ok(id) => Ok(id),
            Err(error) => super::wait_and_retry(error, || self.try_next_id()),
        }
    }

    /// Fills all of `out`; waits where the scheme has to.
    ///
    /// # Errors
    /// See [`Generator::fill`]. What was made before the error is lost.
    #[cfg(feature = "std")]
    fn fill_ids(&self, out: &mut [Id<S>]) -> Result<(), Error> {
        let mut done = 0;
        while done < out.len() {
            done += super::wait_while_busy(|| self.try_fill_ids(&mut out[done..]))?;
        }
        Ok(())
    }

    /// Appends `count` ids to `out` in the scheme's canonical text, each with a line feed behind it.
    ///
    /// # Errors
    /// See [`Generator::fill`]. What was made before the error stands in `out`.
    #[cfg(feature = "std")]
    fn fill_text(&self, count: usize, out: &mut String) -> Result<(), Error> {
        let (mut batch, mut left) = ([Id::ZERO; TEXTS], count);
        while left > 0 {
            let batch = &mut batch[..left.min(TEXTS)];
            self.fill_ids(batch)?;
            S::SCHEME.canonical().print_lines(batch.iter().map(|id| id.raw()), out)?;
            left -= batch.len();
        }
        Ok(())
    }

    /// `count` ids, minted up to 64 at a time as the iterator gets to them. What is left of such a batch isn't used in a forked child.
    #[cfg(feature = "std")]
    fn ids(&self, count: usize) -> Ids<'_, S, Self>
    where
        Self: Sized,
    {
        Ids { source: self, left: count, batch: [Id::ZERO; PIECE], at: 0, end: 0, generation: 0 }
    }
}

/// An iterator over ids that are minted as it goes; see [`IdSource::ids`].
#[cfg(feature = "std")]
pub struct Ids<'a, S: StaticScheme, G> {
    source: &'a G,
    left: usize,
    batch: [Id<S>; PIECE],
    at: usize,
    end: usize,
    /// The process that minted the batch.
    generation: u64,
}

#[cfg(feature = "std")]
impl<S: StaticScheme, G: IdSource<S>> Iterator for Ids<'_, S, G> {
    type Item = Result<Id<S>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.left == 0 {
            return None;
        }
        let generation = generation();
        if self.at == self.end || self.generation != generation {
            let want = self.left.min(PIECE);
            match super::wait_while_busy(|| self.source.try_fill_ids(&mut self.batch[..want])) {
                Ok(made) => (self.at, self.end, self.generation) = (0, made, generation),
                Err(error) => {
                    self.left = 0;
                    return Some(Err(error));
                }
            }
        }
        let id = self.batch[self.at];
        (self.at, self.left) = (self.at + 1, self.left - 1);
        Some(Ok(id))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        // An error ends it early.
        (usize::from(self.left > 0), Some(self.left))
    }
}

#[cfg(feature = "std")]
impl<S: StaticScheme, G> fmt::Debug for Ids<'_, S, G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ids").field("left", &self.left).finish_non_exhaustive()
    }
}

/// A generator chosen by [`Settings`], for ids of a scheme known when compiling: any scheme that is minted, at one virtual call a batch.
///
/// ```
/// use mintage::generators::typed::Typed;
/// use mintage::{IdSource, Settings, SnowflakeTwitter};
/// use mintage::schemes::snowflake_twitter::SnowflakeTwitterScheme;
///
/// let settings = Settings { worker: Some(7), ..Settings::default() };
/// let generator = Typed::<SnowflakeTwitterScheme>::new(&settings)?;
/// let (a, b): (SnowflakeTwitter, _) = (generator.next_id()?, generator.next_id()?);
/// assert!(a < b);
/// # Ok::<(), mintage::Error>(())
/// ```
pub struct Typed<S> {
    generator: Box<dyn Generator>,
    scheme: PhantomData<S>,
}

impl<S: StaticScheme> Typed<S> {
    /// A generator as `settings` say.
    ///
    /// # Errors
    /// See [`crate::Scheme::generator`].
    pub fn new(settings: &Settings) -> Result<Self, Error> {
        S::SCHEME.generator(settings).map(|generator| Self { generator, scheme: PhantomData })
    }
}

impl<S: StaticScheme> IdSource<S> for Typed<S> {
    fn try_fill_ids(&self, out: &mut [Id<S>]) -> Result<usize, Error> {
        let mut piece = [RawId::ZERO; PIECE];
        let want = out.len().min(PIECE);
        let made = self.generator.try_fill(&mut piece[..want])?;
        for (id, raw) in out.iter_mut().zip(&piece[..made]) {
            *id = Id(S::Repr::from_raw(*raw));
        }
        Ok(made)
    }
}

impl<S> fmt::Debug for Typed<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Typed").finish_non_exhaustive()
    }
}

/// Fills `out` from `fill`, which makes typed ids in pieces; stops early when a piece does, or when an error comes after the first.
pub(crate) fn fill_raw<S: StaticScheme>(
    out: &mut [RawId],
    mut fill: impl FnMut(&mut [Id<S>]) -> Result<usize, Error>,
) -> Result<usize, Error> {
    let (mut piece, mut done) = ([Id::<S>::ZERO; PIECE], 0);
    while done < out.len() {
        let want = (out.len() - done).min(PIECE);
        let made = match fill(&mut piece[..want]) {
            Ok(made) => made,
            Err(_) if done > 0 => break,
            Err(error) => return Err(error),
        };
        for (raw, id) in out[done..].iter_mut().zip(&piece[..made]) {
            *raw = id.raw();
        }
        done += made;
        if made < want {
            break;
        }
    }
    Ok(done)
}
