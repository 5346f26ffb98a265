//! The rule of ObjectIds and XIDs: seconds, 40 random bits a process, and a counter that goes on across seconds.

use super::rule::{Rule, fit_tick, tick_at};
use super::{Moment, Step, advance};
use crate::entropy::Draw;
use crate::error::{Cause, Error};
use crate::layout::TimeBase;
use crate::raw::{RawId, bytes_12, mask};
use crate::scheme::StaticScheme;
use crate::time::UnixNanos;
use core::marker::PhantomData;

const BASE: TimeBase = TimeBase::seconds_since(0);
/// Width of the counter.
const COUNTER_BITS: u32 = 24;
/// Width of the part of a process.
const PROCESS_BITS: u32 = 40;

/// Counts from a random start. Within one second all 2^24 values are used at most once; then it waits for the next.
#[derive(Clone, Copy, Debug)]
pub struct ProcessCounterRule<S> {
    process: u128,
    /// The counter's next value.
    counter: u128,
    /// The second of the last id, and how many it has had.
    last: Option<Moment>,
    scheme: PhantomData<S>,
}

impl<S> ProcessCounterRule<S> {
    /// A rule without its random state.
    pub const NEW: Self = Self { process: 0, counter: 0, last: None, scheme: PhantomData };
}

impl<S> Default for ProcessCounterRule<S> {
    fn default() -> Self {
        Self::NEW
    }
}

impl<S: StaticScheme<Repr = [u8; 12]>> Rule for ProcessCounterRule<S> {
    type Scheme = S;
    const DRAWS_EACH: bool = false;

    fn renew(&mut self, draw: &mut Draw<'_>) -> Result<(), Error> {
        *self = Self { process: draw.bits(PROCESS_BITS)?, counter: draw.bits(COUNTER_BITS)?, ..Self::NEW };
        Ok(())
    }

    fn next(&mut self, now: UnixNanos, _: &mut Draw<'_>) -> Result<[u8; 12], Error> {
        let name = S::SCHEME.name;
        let tick = tick_at(name, BASE, now)?;
        // The count says how many ids the second has had; the counter itself goes on across seconds, as drivers expect.
        let moment = match advance(self.last, Moment { tick, count: 0 }, 1, mask(COUNTER_BITS)) {
            Step::Use(moment) => moment,
            Step::WaitUntil(next) => {
                let begins = BASE.time_of(u128::from(next)).unwrap_or(now);
                let wait_nanos = u64::try_from(begins.0 - now.0).unwrap_or(1);
                return Err(Error::Busy { scheme: name, cause: Cause::Spent, wait_nanos });
            }
        };
        let second = u128::from(fit_tick(name, BASE, moment.tick, 32)?);
        self.last = Some(moment);
        let raw = second << (PROCESS_BITS + COUNTER_BITS) | self.process << COUNTER_BITS | self.counter;
        self.counter = (self.counter + 1) & mask(COUNTER_BITS);
        Ok(bytes_12(RawId::new(raw)))
    }
}
