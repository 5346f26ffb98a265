//! Suggesting a split of bits for given machines, rate and years.

use crate::error::Error;
use crate::layout::{Layout, TimeBase};
use crate::schemes::snowflake::custom_split;
use crate::time::UnixNanos;
use alloc::vec::Vec;
use core::fmt;

/// What a split of bits is to hold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Needs {
    /// Machines that mint at a time.
    pub machines: u64,
    /// Ids a second of all machines together, shared evenly.
    pub ids_per_sec: f64,
    /// Tick 0.
    pub epoch: UnixNanos,
    /// How long the time field must last at least.
    pub until: UnixNanos,
    /// Bits in all: 63 for a signed 64-bit column, 53 for JavaScript.
    pub bits: u32,
}

/// A split of bits that holds what is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Split {
    /// Bits of the timestamp.
    pub timestamp: u32,
    /// Bits of the worker.
    pub worker: u32,
    /// Bits of the sequence.
    pub sequence: u32,
    /// Epoch and tick.
    pub base: TimeBase,
    /// Where the bits went that weren't needed.
    pub spare: Spare,
}

impl fmt::Display for Split {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&alloc::format!("{}/{}/{}", self.timestamp, self.worker, self.sequence))
    }
}

impl Split {
    /// Its bits.
    #[must_use]
    pub const fn bits(&self) -> u32 {
        self.timestamp + self.worker + self.sequence
    }

    /// The layout of 64 bits.
    ///
    /// # Errors
    /// [`Error::Layout`] when a width is 0 or the sum is above 64.
    pub fn layout(&self) -> Result<Layout, Error> {
        custom_split(&alloc::format!("{self}"), self.base)
    }
}

/// Where the bits of a split go that aren't needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spare {
    /// To all three: a sequence for one machine with the whole rate, four times the machines, twice the time, then evenly.
    Shared,
    /// To the timestamp.
    Years,
    /// To the worker.
    Machines,
    /// To the sequence.
    Rate,
}

impl Spare {
    /// The word for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Shared => "shared",
            Self::Years => "years",
            Self::Machines => "machines",
            Self::Rate => "rate",
        }
    }
}

/// The ticks that are suggested, in nanoseconds.
pub const TICKS: [u64; 3] = [1_000_000, 10_000_000, 1_000_000_000];

/// Splits that hold what is needed, the one to take first; none when the bits are too few, and [`least`] says how many would do.
///
/// # Errors
/// [`Error::Quantity`] for needs that mean nothing.
pub fn suggest(needs: &Needs) -> Result<Vec<Split>, Error> {
    if !(3..=64).contains(&needs.bits) {
        return Err(Error::Quantity { what: "the number of bits", expected: "3 to 64" });
    }
    let mut splits: Vec<Split> = Vec::new();
    for (spare, tick_nanos) in [
        (Spare::Shared, TICKS[0]),
        (Spare::Years, TICKS[0]),
        (Spare::Machines, TICKS[0]),
        (Spare::Rate, TICKS[0]),
        (Spare::Shared, TICKS[1]),
        (Spare::Shared, TICKS[2]),
    ] {
        let least = least(needs, tick_nanos)?;
        let Some(left) = needs.bits.checked_sub(least.bits()) else { continue };
        let split = widened(least, spare, left, needs);
        if splits.iter().all(|known| Split { spare, ..*known } != split) {
            splits.push(split);
        }
    }
    Ok(splits)
}

/// The narrowest split with this tick that holds what is needed, whatever its sum.
///
/// # Errors
/// [`Error::Quantity`] for needs that mean nothing.
pub fn least(needs: &Needs, tick_nanos: u64) -> Result<Split, Error> {
    if needs.machines == 0 {
        return Err(Error::Quantity { what: "the number of machines", expected: "1 or more" });
    }
    if !(needs.ids_per_sec.is_finite() && needs.ids_per_sec > 0.0) {
        return Err(Error::Quantity { what: "the rate", expected: "a finite number above 0" });
    }
    let span = needs.until.0.checked_sub(needs.epoch.0).and_then(|span| u128::try_from(span).ok());
    let Some(span) = span.filter(|span| *span > 0 && tick_nanos > 0) else {
        return Err(Error::Quantity { what: "the end", expected: "a time after the epoch" });
    };
    let tick_secs = tick_nanos as f64 / 1e9;
    let ids_per_tick = needs.ids_per_sec / needs.machines as f64 * tick_secs;
    Ok(Split {
        timestamp: bits_for(span.div_ceil(u128::from(tick_nanos))),
        worker: bits_for(u128::from(needs.machines)),
        sequence: bits_for_rate(ids_per_tick),
        base: TimeBase { epoch: needs.epoch, tick_nanos },
        spare: Spare::Shared,
    })
}

/// `split` with `left` bits more.
fn widened(split: Split, spare: Spare, mut left: u32, needs: &Needs) -> Split {
    let mut split = Split { spare, ..split };
    match spare {
        Spare::Years => split.timestamp += left,
        Spare::Machines => split.worker += left,
        Spare::Rate => split.sequence += left,
        Spare::Shared => {
            let tick_secs = split.base.tick_nanos as f64 / 1e9;
            let whole_rate = bits_for_rate(needs.ids_per_sec * tick_secs).max(split.sequence);
            let mut give = |bits: &mut u32, wanted: u32| {
                let given = wanted.min(left);
                *bits += given;
                left -= given;
            };
            let missing = whole_rate - split.sequence;
            give(&mut split.sequence, missing);
            give(&mut split.worker, 2);
            give(&mut split.timestamp, 1);
            let half = left.div_ceil(2);
            split.sequence += half;
            split.worker += left - half;
        }
    }
    split
}

/// Bits that tell `count` values apart, at least 1.
fn bits_for(count: u128) -> u32 {
    (u128::BITS - count.saturating_sub(1).leading_zeros()).max(1)
}

/// Bits of a sequence for so many ids a tick, at least 1; more than any id has when they are too many to count.
fn bits_for_rate(ids_per_tick: f64) -> u32 {
    (0..1024u32).find(|bits| 2f64.powi(bits.cast_signed()) >= ids_per_tick).unwrap_or(1024).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capacity::{Capacity, after};
    use alloc::string::ToString;

    const YEAR: f64 = 365.25 * 86_400.0;

    fn needs() -> Needs {
        let years = |n: f64| after(UnixNanos::from_secs(1_735_689_600), n * YEAR).unwrap();
        Needs { machines: 200, ids_per_sec: 50_000.0, epoch: years(0.0), until: years(30.0), bits: 63 }
    }

    #[test]
    fn suggested_splits_hold_what_is_needed_and_use_all_bits() {
        let needs = needs();
        assert_eq!(least(&needs, 1_000_000).unwrap().to_string(), "40/8/1");
        let splits = suggest(&needs).unwrap();
        assert_eq!(splits[0].to_string(), "41/13/9");
        for bits in [49, 50, 53, 60, 63, 64] {
            let splits = suggest(&Needs { bits, ..needs }).unwrap();
            assert!(!splits.is_empty());
            for split in splits {
                assert_eq!(split.bits(), bits);
                let capacity = Capacity::of_split(&split.layout().unwrap());
                assert!(capacity.lifetime.unwrap().ends.unwrap() >= needs.until, "{split}");
                assert!(capacity.writers.count().unwrap() >= 200, "{split}");
                assert!(capacity.ids_per_sec().unwrap() >= 250.0, "{split}");
            }
        }
    }

    #[test]
    fn needs_that_nothing_holds() {
        let needs = needs();
        assert_eq!(suggest(&Needs { bits: 20, ..needs }), Ok(Vec::new()));
        for wrong in [
            Needs { machines: 0, ..needs },
            Needs { ids_per_sec: f64::NAN, ..needs },
            Needs { ids_per_sec: 0.0, ..needs },
            Needs { until: needs.epoch, ..needs },
            Needs { epoch: UnixNanos(i128::MIN), until: UnixNanos(i128::MAX), ..needs },
            Needs { bits: 0, ..needs },
            Needs { bits: 65, ..needs },
        ] {
            assert!(matches!(suggest(&wrong), Err(Error::Quantity { .. })), "{wrong:?}");
        }
        let far = Needs { machines: u64::MAX, ids_per_sec: f64::MAX, until: UnixNanos(i128::MAX), ..needs };
        assert_eq!(suggest(&far), Ok(Vec::new()));
        assert!(least(&far, 1_000_000).unwrap().bits() > 1000);
    }
}
