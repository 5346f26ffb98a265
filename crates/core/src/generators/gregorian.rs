//! The rule of UUID versions 1 and 6: ticks of 100 ns since 1582, a clock sequence and a node.
//!
//! Node and clock sequence are random, drawn anew in each process (RFC 9562 section 6.10): no network address is told. Each tick
//! is used once; when ids are made faster than that, or the clock goes back, ticks run ahead.

use super::rule::{Rule, fit_tick, tick_at};
use super::{Moment, Step, advance};
use crate::entropy::Draw;
use crate::error::Error;
use crate::layout::{Role, TimeBase};
use crate::scheme::StaticScheme;
use crate::time::UnixNanos;
use core::marker::PhantomData;

/// State of a generator of version 1 or 6.
#[derive(Clone, Copy, Debug)]
pub struct GregorianRule<S> {
    last: Option<Moment>,
    node: u128,
    clock_seq: u128,
    scheme: PhantomData<S>,
}

impl<S> Default for GregorianRule<S> {
    fn default() -> Self {
        Self::NEW
    }
}

impl<S> GregorianRule<S> {
    /// A rule without its random state.
    pub const NEW: Self = Self { last: None, node: 0, clock_seq: 0, scheme: PhantomData };
}

/// The bit of a node that no network card's address has: the multicast bit, lowest of the first octet.
const MULTICAST: u128 = 1 << 40;

impl<S: StaticScheme<Repr = u128>> Rule for GregorianRule<S> {
    type Scheme = S;
    const DRAWS_EACH: bool = false;

    fn renew(&mut self, draw: &mut Draw<'_>) -> Result<(), Error> {
        self.node = draw.bits(48)? | MULTICAST;
        self.clock_seq = draw.bits(14)?;
        self.last = None;
        Ok(())
    }

    fn next(&mut self, now: UnixNanos, _: &mut Draw<'_>) -> Result<u128, Error> {
        let (name, layout) = (S::SCHEME.name, &S::SCHEME.layout);
        let tick = tick_at(name, TimeBase::GREGORIAN, now)?;
        let moment = match advance(self.last, Moment { tick, count: 0 }, 1, 0) {
            Step::Use(moment) => moment,
            Step::WaitUntil(tick) => Moment { tick, count: 0 },
        };
        let tick = fit_tick(name, TimeBase::GREGORIAN, moment.tick, 60)?;
        self.last = Some(moment);
        let raw = layout.scatter(layout.fixed(), Role::Timestamp(TimeBase::GREGORIAN), u128::from(tick));
        let raw = layout.scatter(raw, Role::Counter, self.clock_seq);
        Ok(layout.scatter(raw, Role::Worker, self.node).low())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::UuidV1;
    use crate::entropy::Entropy;
    use crate::schemes::uuid_v1::UuidV1Scheme;

    struct Zeros;
    impl Entropy for Zeros {
        fn fill(&self, out: &mut [u8]) -> Result<(), Error> {
            out.fill(0);
            Ok(())
        }
    }

    #[test]
    fn each_tick_is_used_once_whatever_the_clock_says() {
        let mut draw = Draw::new(&Zeros);
        let mut rule = GregorianRule::<UuidV1Scheme>::NEW;
        rule.renew(&mut draw).unwrap();
        let mut times = Vec::new();
        for nanos in [1_000, 1_000, 1_099, 500, 2_000] {
            times.push(rule.next_id(UnixNanos(nanos), &mut draw).unwrap().time().unwrap().0);
        }
        assert_eq!(times, [1_000, 1_100, 1_200, 1_300, 2_000]);
    }

    #[test]
    fn a_random_node_says_that_it_is_one() {
        let mut draw = Draw::new(&Zeros);
        let mut rule = GregorianRule::<UuidV1Scheme>::NEW;
        rule.renew(&mut draw).unwrap();
        let id: UuidV1 = rule.next_id(UnixNanos(0), &mut draw).unwrap();
        assert_eq!(id.field("node"), Some(0x0100_0000_0000));
    }
}
