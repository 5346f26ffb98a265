//! Bit-reversed counters: values in order, handed out with their bits reversed.

use super::Generator;
use crate::entropy::generation;
use crate::error::Error;
use crate::raw::{RawId, low_u64, mask};
use core::sync::atomic::{AtomicU64, Ordering};

/// Width of the counter.
const BITS: u32 = 63;

/// A counter of 63 bits, each value given once in this process. What it starts with is for the caller to coordinate.
#[derive(Debug)]
pub struct ReversedCounter {
    next: AtomicU64,
    /// The process that made it: a forked child would repeat its parent's values.
    generation: u64,
}

impl ReversedCounter {
    /// A counter that starts at `first`; `None` when that doesn't fit 63 bits.
    #[must_use]
    pub fn new(first: u64) -> Option<Self> {
        let fits = u128::from(first) <= mask(BITS);
        fits.then(|| Self { next: AtomicU64::new(first), generation: generation() })
    }
}

impl Generator for ReversedCounter {
    fn try_fill(&self, out: &mut [RawId]) -> Result<usize, Error> {
        if self.generation != generation() {
            return Err(Error::Forked { scheme: "spanner-bit-reversed", worker: 0 });
        }
        let end = low_u64(mask(BITS)) + 1;
        let take = |next: u64| {
            let free = end.saturating_sub(next);
            (free > 0 || out.is_empty()).then(|| next + free.min(out.len() as u64))
        };
        // Ordering: the counter guards no other memory.
        let first = self.next.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take);
        let first = first.map_err(|_| Error::FieldRange { field: "counter", bits: BITS })?;
        let count = usize::try_from(end - first).unwrap_or(usize::MAX).min(out.len());
        for (id, value) in out[..count].iter_mut().zip(first..) {
            *id = RawId::from(value.reverse_bits() >> (64 - BITS));
        }
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_reversed_and_end_with_an_error() {
        let counter = ReversedCounter::new(2).unwrap();
        assert_eq!(counter.try_next(), Ok(RawId::new(2_305_843_009_213_693_952)));
        let last = ReversedCounter::new((1 << 63) - 1).unwrap();
        let mut out = [RawId::ZERO; 3];
        assert_eq!(last.try_fill(&mut out), Ok(1));
        assert_eq!(out[0], RawId::new((1 << 63) - 1));
        assert_eq!(last.try_next(), Err(Error::FieldRange { field: "counter", bits: 63 }));
        assert!(ReversedCounter::new(1 << 63).is_none());
    }
}
