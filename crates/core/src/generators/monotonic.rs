//! The rule of ULIDs and push ids: a tick and a random number, which rises by one within the tick and when the clock goes back.

use super::rule::{Rule, fill_one_by_one, fit_tick, tick_at};
use super::{Method, Moment, Step, advance};
use crate::entropy::Draw;
use crate::error::Error;
use crate::id::Id;
use crate::layout::{Role, Slot, TimeBase};
use crate::raw::{RawId, Repr, low_u64};
use crate::scheme::StaticScheme;
use crate::time::UnixNanos;
use core::marker::PhantomData;

/// State of a generator of a scheme whose layout is one time field and one random field.
#[derive(Clone, Copy, Debug)]
pub struct MonotonicRule<S> {
    method: Method,
    last: Option<Moment>,
    scheme: PhantomData<S>,
}

impl<S: StaticScheme> Default for MonotonicRule<S> {
    fn default() -> Self {
        Self::new(Method::Monotonic)
    }
}

impl<S: StaticScheme> MonotonicRule<S> {
    const BASE: TimeBase = match S::SCHEME.layout.time_base() {
        Some(base) => base,
        None => panic!("a monotonic scheme has a time field"),
    };
    const TIME: Slot = match S::SCHEME.layout.find(Role::Timestamp(Self::BASE)) {
        Some(slot) => slot,
        None => panic!("a monotonic scheme has its time in one piece"),
    };
    const RANDOM: Slot = match S::SCHEME.layout.find(Role::Random) {
        Some(slot) => slot,
        None => panic!("a monotonic scheme has its random bits in one piece"),
    };

    /// A rule by one of these methods; any other counts as the first.
    ///
    /// * `Monotonic`: a spent random part borrows the next tick.
    /// * `Strict`: a spent random part fails, as the ULID specification has it.
    /// * `Random`: fresh bits for each id, without order within a tick.
    #[must_use]
    pub const fn new(method: Method) -> Self {
        Self { method, last: None, scheme: PhantomData }
    }

    /// The id of a moment whose parts fit their fields.
    #[inline]
    const fn pack(moment: Moment) -> RawId {
        const { S::SCHEME.layout.fixed() }
            .with_bits(Self::TIME.shift, Self::TIME.bits, moment.tick as u128)
            .with_bits(Self::RANDOM.shift, Self::RANDOM.bits, moment.count)
    }

    /// A rule that goes on after `last`, for whoever asks the rule itself. An engine gives each rule a beginning of its own before its first
    /// id: two processes that went on after the same id would make the same ones.
    #[must_use]
    pub fn after(method: Method, last: Id<S>) -> Self {
        let raw = last.raw();
        let tick = low_u64(raw.bits(Self::TIME.shift, Self::TIME.bits));
        let count = raw.bits(Self::RANDOM.shift, Self::RANDOM.bits);
        Self { last: Some(Moment { tick, count }), ..Self::new(method) }
    }
}

impl<S: StaticScheme> Rule for MonotonicRule<S> {
    type Scheme = S;
    const DRAWS_EACH: bool = false;
    const WAITS: bool = false;

    fn renew(&mut self, _: &mut Draw<'_>) -> Result<(), Error> {
        self.last = None;
        Ok(())
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn next(&mut self, now: UnixNanos, draw: &mut Draw<'_>) -> Result<S::Repr, Error> {
        let (name, random) = (S::SCHEME.name, Self::RANDOM);
        let tick = tick_at(name, Self::BASE, now)?;
        // Random bits are drawn only where a tick begins.
        let begins = self.method == Method::Random || self.last.is_none_or(|last| tick > last.tick);
        let start = Moment { tick, count: if begins { draw.bits(random.bits)? } else { 0 } };
        let last = if self.method == Method::Random { None } else { self.last };
        let moment = match advance(last, start, 1, random.max()) {
            Step::Use(moment) => moment,
            Step::WaitUntil(_) if self.method == Method::Strict => {
                return Err(Error::Overflow { scheme: name });
            }
            Step::WaitUntil(tick) => Moment { tick, count: draw.bits(random.bits)? },
        };
        fit_tick(name, Self::BASE, moment.tick, Self::TIME.bits)?;
        self.last = Some(moment);
        Ok(S::Repr::from_raw(Self::pack(moment)))
    }

    fn fill(&mut self, now: UnixNanos, draw: &mut Draw<'_>, out: &mut [Id<S>]) -> Result<usize, Error> {
        if self.method == Method::Random {
            return fill_one_by_one(self, now, draw, out);
        }
        let mut done = 0;
        while done < out.len() {
            out[done] = match self.next_id(now, draw) {
                Ok(id) => id,
                Err(_) if done > 0 => return Ok(done),
                Err(error) => return Err(error),
            };
            done += 1;
            // The rest of the batch follows by ones, as far as the random part reaches.
            let Some(last) = &mut self.last else { continue };
            let free = usize::try_from(Self::RANDOM.max() - last.count).unwrap_or(usize::MAX);
            let run = free.min(out.len() - done);
            for (count, id) in (last.count + 1..).zip(&mut out[done..done + run]) {
                *id = Id(S::Repr::from_raw(Self::pack(Moment { tick: last.tick, count })));
            }
            last.count += run as u128;
            done += run;
        }
        Ok(done)
    }
}
