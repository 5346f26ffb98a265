//! Randomness that a test can repeat.

use mintage::{Entropy, Error};
use std::sync::atomic::{AtomicU64, Ordering};

/// Random bytes from a seed: SplitMix64 (Steele, Lea and Flood, 2014).
pub(crate) struct Seeded(AtomicU64);

impl Seeded {
    pub(crate) fn new(seed: u64) -> Self {
        Self(AtomicU64::new(seed))
    }

    pub(crate) fn next(&self) -> u64 {
        const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
        let mut mixed = self.0.fetch_add(STEP, Ordering::Relaxed).wrapping_add(STEP);
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

impl Entropy for Seeded {
    fn fill(&self, out: &mut [u8]) -> Result<(), Error> {
        for piece in out.chunks_mut(8) {
            piece.copy_from_slice(&self.next().to_be_bytes()[..piece.len()]);
        }
        Ok(())
    }
}

/// The same bytes again and again.
pub(crate) struct Bytes(pub(crate) Vec<u8>);

impl Entropy for Bytes {
    fn fill(&self, out: &mut [u8]) -> Result<(), Error> {
        for (byte, given) in out.iter_mut().zip(self.0.iter().cycle()) {
            *byte = *given;
        }
        Ok(())
    }
}
