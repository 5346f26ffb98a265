//! Randomness: the only source of random bits, and how a forked child learns that it is one.
//!
//! [`SystemEntropy`] asks the operating system each time and keeps nothing, so there is nothing that a fork, a restored
//! container or a cloned machine could replay. State that generators keep (counters, process-wide random parts) is renewed in a
//! child by [`generation`]; a cloned virtual machine isn't noticed.

use crate::error::Error;

#[cfg(feature = "std")]
#[cfg_attr(all(target_os = "linux", not(miri)), path = "entropy/fork_linux.rs")]
#[cfg_attr(not(all(target_os = "linux", not(miri))), path = "entropy/fork_other.rs")]
mod fork;

/// A number that differs between a process and each of its forked children: whoever keeps state compares it before each use.
#[cfg(feature = "std")]
#[must_use]
pub fn generation() -> u64 {
    fork::generation()
}

/// Without `std` there are no processes.
#[cfg(not(feature = "std"))]
#[must_use]
pub fn generation() -> u64 {
    1
}

/// Where random bytes come from.
pub trait Entropy: Send + Sync {
    /// Fills `out`.
    ///
    /// # Errors
    /// [`Error::Entropy`] when there are no random bytes to be had.
    fn fill(&self, out: &mut [u8]) -> Result<(), Error>;
}

impl<E: Entropy + ?Sized> Entropy for &E {
    fn fill(&self, out: &mut [u8]) -> Result<(), Error> {
        (**self).fill(out)
    }
}

impl<E: Entropy + ?Sized> Entropy for alloc::sync::Arc<E> {
    fn fill(&self, out: &mut [u8]) -> Result<(), Error> {
        (**self).fill(out)
    }
}

/// The operating system's generator, asked for each id or batch.
#[cfg(feature = "std")]
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemEntropy;

#[cfg(feature = "std")]
impl Entropy for SystemEntropy {
    fn fill(&self, out: &mut [u8]) -> Result<(), Error> {
        getrandom::fill(out).map_err(|_| Error::Entropy)
    }
}

/// Bytes a call of the system: enough for 32 UUIDs; the cost a byte is level from there.
const PIECE: usize = 512;

/// Random bits for a batch of ids, drawn in pieces no larger than the batch needs; what is left over is forgotten.
pub struct Draw<'a> {
    entropy: &'a dyn Entropy,
    piece: [u8; PIECE],
    at: usize,
    end: usize,
    /// Bytes that the rest of the batch may still want.
    wanted: usize,
}

impl<'a> Draw<'a> {
    /// Bits from `entropy` for an expected `bytes` in all; more can be drawn.
    #[must_use]
    pub fn new(entropy: &'a dyn Entropy, bytes: usize) -> Self {
        Self { entropy, piece: [0; PIECE], at: 0, end: 0, wanted: bytes }
    }

    /// `bits` random bits (0 to 128).
    ///
    /// # Errors
    /// [`Error::Entropy`].
    pub fn bits(&mut self, bits: u32) -> Result<u128, Error> {
        let bytes = (bits.div_ceil(8)) as usize;
        if self.end - self.at < bytes {
            self.end = self.wanted.clamp(bytes, PIECE);
            self.wanted = self.wanted.saturating_sub(self.end);
            self.at = 0;
            self.entropy.fill(&mut self.piece[..self.end])?;
        }
        let mut value = 0;
        for byte in &mut self.piece[self.at..self.at + bytes] {
            value = value << 8 | u128::from(*byte);
            *byte = 0;
        }
        self.at += bytes;
        Ok(value & crate::raw::mask(bits))
    }
}

impl core::fmt::Debug for Draw<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        // The bytes are secrets until they are part of an id.
        f.debug_struct("Draw").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::sync::atomic::{AtomicUsize, Ordering};

    struct Counting(AtomicUsize);
    impl Entropy for Counting {
        fn fill(&self, out: &mut [u8]) -> Result<(), Error> {
            self.0.fetch_add(out.len(), Ordering::Relaxed);
            out.fill(0xa5);
            Ok(())
        }
    }

    #[test]
    fn a_draw_takes_what_the_batch_needs() {
        let entropy = Counting(AtomicUsize::new(0));
        let mut draw = Draw::new(&entropy, 3 * 16);
        for _ in 0..3 {
            assert_eq!(draw.bits(122), Ok(0xa5a5_a5a5_a5a5_a5a5_a5a5_a5a5_a5a5_a5a5 & crate::raw::mask(122)));
        }
        assert_eq!(entropy.0.load(Ordering::Relaxed), 48);
        assert_eq!(draw.bits(0), Ok(0));
    }

    #[test]
    fn the_generation_stays_while_nobody_forks() {
        assert_eq!(generation(), generation());
        assert_ne!(generation(), 0);
    }
}
