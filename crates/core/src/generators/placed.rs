//! Placed UUIDs: random bits behind a prefix that decides where a row lands: the block of a counter, the block of time, a bucket.

use super::{AnyClock, AnyEntropy, Generator, Settings};
use crate::entropy::Entropy;
use crate::error::Error;
use crate::raw::{RawId, low_u64};
use crate::time::Clock;
use alloc::boxed::Box;
use core::sync::atomic::{AtomicU64, Ordering};

/// Most blocks, and most buckets: what 16 bits tell apart.
pub const MAX_PLACES: u64 = 1 << 16;

/// What the prefix is taken from.
#[derive(Debug)]
enum Place {
    /// Which block of `size` ids the next one is in. A counter that a fork copies places ids in the same blocks; their random bits
    /// still differ.
    Counter { next: AtomicU64, size: u64 },
    /// Which interval the present is in.
    Time { nanos: u64 },
}

struct Placed {
    scheme: &'static str,
    place: Place,
    count: u64,
    clock: AnyClock,
    entropy: AnyEntropy,
}

/// Ids placed by block of a counter: 65,536 ids a block and 65,536 blocks unless others are set.
///
/// # Errors
/// [`Error::FieldRange`] for a size of 0, or a count that isn't 1 to 65,536.
pub(crate) fn by_counter(scheme: &'static str, settings: &Settings) -> Result<Box<dyn Generator>, Error> {
    let size = settings.block_size.unwrap_or(1 << 16);
    let place = Place::Counter { next: AtomicU64::new(settings.first.unwrap_or(0)), size };
    placed(scheme, place, size, settings)
}

/// Ids placed by block of time: 60 s a block and 65,536 blocks unless others are set.
///
/// # Errors
/// [`Error::FieldRange`] for an interval of 0, or a count that isn't 1 to 65,536.
pub(crate) fn by_time(scheme: &'static str, settings: &Settings) -> Result<Box<dyn Generator>, Error> {
    let nanos = settings.interval_nanos.unwrap_or(60_000_000_000);
    placed(scheme, Place::Time { nanos }, nanos, settings)
}

fn placed(
    scheme: &'static str,
    place: Place,
    size: u64,
    settings: &Settings,
) -> Result<Box<dyn Generator>, Error> {
    let count = settings.block_count.unwrap_or(MAX_PLACES);
    if size == 0 || count == 0 || count > MAX_PLACES {
        return Err(Error::FieldRange { field: "block", bits: 16 });
    }
    Ok(Box::new(Placed { scheme, place, count, clock: settings.clock()?, entropy: settings.entropy()? }))
}

impl Generator for Placed {
    fn try_fill(&self, out: &mut [RawId]) -> Result<usize, Error> {
        let (mut next, size) = match &self.place {
            // Ordering: the counter guards no other memory; wrapping is what blocks do.
            Place::Counter { next, size } => (next.fetch_add(out.len() as u64, Ordering::Relaxed), *size),
            Place::Time { nanos } => {
                let now = self.clock.now();
                let since = u64::try_from(now.0).map_err(|_| Error::BeforeEpoch {
                    scheme: self.scheme,
                    now,
                    epoch: crate::UnixNanos(0),
                })?;
                (since, *nanos)
            }
        };
        self.entropy.with_draw(out.len(), |draw| {
            for id in out.iter_mut() {
                let prefix = u128::from(next / size % self.count);
                *id = RawId::new(crate::rfc9562::stamped(prefix << 112 | draw.bits(112)?, 4));
                if matches!(self.place, Place::Counter { .. }) {
                    next = next.wrapping_add(1);
                }
            }
            Ok(out.len())
        })
    }
}

/// The bucket, 0 to `buckets` - 1, of an id's other bits.
pub(crate) fn bucket(bits: u128, buckets: u64) -> u64 {
    // Random bits are spread evenly already; a remainder of 64 of them is even enough for 65,536 buckets.
    low_u64(bits) % buckets
}
