//! UUID version 7: milliseconds, then random bits that keep order within a generator.

use crate::entropy::Draw;
use crate::error::Error;
#[cfg(feature = "std")]
use crate::generators::locked::Locked;
use crate::generators::rule::{Rule, fill_one_by_one, fit_tick, tick_at};
use crate::generators::{Method, Moment, Step, advance, locked};
use crate::id::{Id, const_id};
use crate::layout::{Field, Layout, Role, TimeBase};
use crate::mapping::Mapping;
use crate::raw::mask;
#[cfg(feature = "std")]
use crate::scheme::Mint;
use crate::scheme::{Coordination, Facts, Scheme, Sortable, StaticScheme};
use crate::text::UUID_FORMS;
use crate::time::UnixNanos;

/// A version 7 UUID, 128 bits.
pub type UuidV7 = Id<UuidV7Scheme>;

/// The description of [`UuidV7`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UuidV7Scheme;

const NAME: &str = "uuid-v7";
const BASE: TimeBase = TimeBase::millis_since(0);

impl StaticScheme for UuidV7Scheme {
    type Repr = u128;
    const SCHEME: &'static Scheme = &Scheme {
        name: NAME,
        aliases: &["uuid7", "uuidv7", "v7"],
        summary: "time-ordered: unix milliseconds, then counter and random bits",
        source: "RFC 9562 section 5.7",
        layout: Layout::new(
            128,
            &[
                Field::new("unix_ts_ms", Role::Timestamp(BASE), 48),
                Field::new("ver", Role::Fixed(7), 4),
                Field::new("rand_a", Role::Random, 12),
                Field::new("var", Role::Fixed(0b10), 2),
                Field::new("rand_b", Role::Random, 62),
            ],
        ),
        mapping: Mapping::Identity,
        text: UUID_FORMS,
        vectors: &[(
            "017f22e2-79b0-7cc3-98c4-dc0c0c07398f",
            &[0x017f_22e2_79b0, 7, 0xcc3, 0b10, 0x18c4_dc0c_0c07_398f],
        )],
        facts: Facts {
            sortable: Sortable::Strictly,
            coordination: Coordination::Nothing,
            collisions: "62 random bits and a random counter start a millisecond",
            leaks: "when it was made, to the millisecond",
            sql: ("uuid", "binary(16)"),
            surprise: Some(0),
        },
        methods: &[Method::Counter, Method::MonotonicRandom, Method::SubMillisecond],
        settings: &[],
        generator: Some(|settings| {
            let method = Self::SCHEME.method(settings.method)?.unwrap_or(Method::Counter);
            locked::boxed(Uuid7Rule::new(method), settings)
        }),
    };
}

const_id!(UuidV7Scheme, u128);

/// Widths of `rand_a` and `rand_b`.
const A_BITS: u32 = 12;
const B_BITS: u32 = 62;

/// The three ways to keep order that RFC 9562 section 6.2 describes. When a millisecond is spent, the next one is borrowed; when
/// the clock goes back, ids go on from where they were.
#[derive(Clone, Copy, Debug)]
pub struct Uuid7Rule {
    method: Method,
    last: Option<Moment>,
}

impl Default for Uuid7Rule {
    fn default() -> Self {
        Self::new(Method::Counter)
    }
}

impl Uuid7Rule {
    /// A rule by [`Method::Counter`], [`Method::MonotonicRandom`] or [`Method::SubMillisecond`]; any other counts as the first.
    ///
    /// * `Counter`: `rand_a` counts from a random start with its top bit clear; `rand_b` is fresh for each id. Above about three
    ///   million ids a second in one generator, times run ahead of the clock.
    /// * `MonotonicRandom`: `rand_a` and `rand_b` together start at a random value with its top bit clear and rise by 1 to 2^32.
    /// * `SubMillisecond`: `rand_a` is the fraction of the millisecond in 1/4096, as in PostgreSQL 18; `rand_b` is fresh.
    #[must_use]
    pub const fn new(method: Method) -> Self {
        let method = match method {
            Method::MonotonicRandom | Method::SubMillisecond => method,
            _ => Method::Counter,
        };
        Self { method, last: None }
    }

    /// The next id by the other methods.
    #[inline(never)]
    fn next_otherwise(&mut self, now: UnixNanos, draw: &mut Draw<'_>) -> Result<u128, Error> {
        // Checked before the fraction is put behind it: a clock beyond the field would push its upper bits out of the word.
        let ms = fit_tick(NAME, BASE, tick_at(NAME, BASE, now)?, 48)?;
        let before = self.last;
        if self.method == Method::MonotonicRandom {
            let (start, step) = (draw.bits(A_BITS + B_BITS - 1)?, draw.bits(32)? + 1);
            let moment = self.step(Moment { tick: ms, count: start }, step, mask(A_BITS + B_BITS));
            return self.packed(before, moment.tick, moment.count >> B_BITS, moment.count & mask(B_BITS));
        }
        let fraction = (now.0.rem_euclid(1_000_000) << A_BITS) / 1_000_000;
        let fine = (ms << A_BITS) | u64::try_from(fraction).unwrap_or(0);
        let moment = self.step(Moment { tick: fine, count: 0 }, 1, 0);
        let rand_a = u128::from(moment.tick) & mask(A_BITS);
        self.packed(before, moment.tick >> A_BITS, rand_a, draw.bits(B_BITS)?)
    }

    /// The id, unless a borrowed tick lies beyond the field: then all is as it was `before`.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn packed(&mut self, before: Option<Moment>, ms: u64, rand_a: u128, rand_b: u128) -> Result<u128, Error> {
        match fit_tick(NAME, BASE, ms, 48) {
            Ok(ms) => Ok(pack(ms, rand_a, rand_b)),
            Err(ended) => {
                self.last = before;
                Err(ended)
            }
        }
    }

    /// Moves on by up to `want` (at least 1) counts within one millisecond; returns the first and how many.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn run(&mut self, ms: u64, draw: &mut Draw<'_>, want: usize) -> Result<(Moment, usize), Error> {
        let may_begin = self.last.is_none_or(|last| ms > last.tick || last.count == mask(A_BITS));
        let start = if may_begin { draw.bits(A_BITS - 1)? } else { 0 };
        let first = self.step(Moment { tick: ms, count: start }, 1, mask(A_BITS));
        let count = want.min(usize::try_from(mask(A_BITS) - first.count).unwrap_or(0) + 1);
        self.last = Some(Moment { count: first.count + (count - 1) as u128, ..first });
        Ok((first, count))
    }

    /// Moves on: the next moment in the order, the tick after the spent one borrowed.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn step(&mut self, start: Moment, step: u128, max: u128) -> Moment {
        let moment = match advance(self.last, start, step, max) {
            Step::Use(moment) => moment,
            Step::WaitUntil(tick) => Moment { tick, count: start.count },
        };
        self.last = Some(moment);
        moment
    }
}

impl Rule for Uuid7Rule {
    type Scheme = UuidV7Scheme;
    const WAITS: bool = false;

    fn renew(&mut self, _: &mut Draw<'_>) -> Result<(), Error> {
        self.last = None;
        Ok(())
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn next(&mut self, now: UnixNanos, draw: &mut Draw<'_>) -> Result<u128, Error> {
        if self.method != Method::Counter {
            return self.next_otherwise(now, draw);
        }
        let ms = fit_tick(NAME, BASE, tick_at(NAME, BASE, now)?, 48)?;
        let (rand_b, before) = (draw.word()?, self.last);
        let (moment, _) = self.run(ms, draw, 1)?;
        self.packed(before, moment.tick, moment.count, u128::from(rand_b) & mask(B_BITS))
    }

    fn fill(&mut self, now: UnixNanos, draw: &mut Draw<'_>, out: &mut [UuidV7]) -> Result<usize, Error> {
        if self.method != Method::Counter {
            return fill_one_by_one(self, now, draw, out);
        }
        let ms = fit_tick(NAME, BASE, tick_at(NAME, BASE, now)?, 48)?;
        let mut done = 0;
        while done < out.len() {
            let before = self.last;
            let (first, count) = self.run(ms, draw, out.len() - done)?;
            if let Err(ended) = fit_tick(NAME, BASE, first.tick, 48) {
                self.last = before;
                return if done > 0 { Ok(done) } else { Err(ended) };
            }
            let high = pack(first.tick, first.count, 0);
            let run = &mut out[done..done + count];
            draw.fill_each_word(run, |word| Id(u128::from(word) & mask(B_BITS)))?;
            for (step, id) in (0u128..).zip(run) {
                // The count ends before it would leave its field: `run` sees to it.
                id.0 |= high + (step << 64);
            }
            done += count;
        }
        Ok(done)
    }
}

const fn pack(ms: u64, rand_a: u128, rand_b: u128) -> u128 {
    const FIXED: u128 = UuidV7Scheme::SCHEME.layout.fixed().low();
    FIXED | (ms as u128) << 80 | rand_a << 64 | rand_b
}

#[cfg(feature = "std")]
static SHARED: Locked<Uuid7Rule> = Locked::new(Uuid7Rule::new(Method::Counter));

#[cfg(feature = "std")]
impl Mint for UuidV7Scheme {
    type Shared = Locked<Uuid7Rule>;

    fn shared() -> &'static Self::Shared {
        &SHARED
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entropy::Entropy;

    struct Ones;
    impl Entropy for Ones {
        fn fill(&self, out: &mut [u8]) -> Result<(), Error> {
            out.fill(0xff);
            Ok(())
        }
    }

    fn next(rule: &mut Uuid7Rule, nanos: i128) -> (u128, u128, u128) {
        let id = rule.next_id(UnixNanos(nanos), &mut Draw::new(&Ones)).unwrap();
        (id.field("unix_ts_ms").unwrap(), id.field("rand_a").unwrap(), id.field("rand_b").unwrap())
    }

    #[test]
    fn the_counter_starts_with_its_top_bit_clear_and_borrows_the_next_millisecond() {
        let mut rule = Uuid7Rule::new(Method::Counter);
        for count in 0x7ff..=0xfff {
            assert_eq!(next(&mut rule, 5_000_000), (5, count, mask(62)));
        }
        assert_eq!(next(&mut rule, 5_000_000), (6, 0x7ff, mask(62)));
        assert_eq!(next(&mut rule, 7_000_000), (7, 0x7ff, mask(62)));
    }

    #[test]
    fn the_random_part_rises_by_a_random_step() {
        let mut rule = Uuid7Rule::new(Method::MonotonicRandom);
        assert_eq!(next(&mut rule, 5_000_000), (5, 0x7ff, mask(62)));
        assert_eq!(next(&mut rule, 5_000_000), (5, 0x800, mask(32)));
    }

    #[test]
    fn the_fraction_is_that_of_postgresql_18() {
        let mut rule = Uuid7Rule::new(Method::SubMillisecond);
        assert_eq!(next(&mut rule, 5_999_999), (5, 0xfff, mask(62)));
        assert_eq!(next(&mut rule, 5_999_999), (6, 0, mask(62)));
        assert_eq!(next(&mut rule, 8_500_000), (8, 0x800, mask(62)));
    }

    #[test]
    fn a_clock_that_goes_back_does_not_take_the_ids_along() {
        for method in UuidV7Scheme::SCHEME.methods {
            let mut rule = Uuid7Rule::new(*method);
            let a = next(&mut rule, 60_000_000_000);
            assert!(next(&mut rule, 1_000_000_000) > a);
        }
    }

    #[test]
    fn the_time_field_ends_with_an_error() {
        let end = UnixNanos::from_millis(1 << 48);
        let mut rule = Uuid7Rule::default();
        let error = rule.next_id(end, &mut Draw::new(&Ones)).unwrap_err();
        assert_eq!(error, Error::TimeFieldEnded { scheme: "uuid-v7", ended: end });
        assert!(rule.next_id(UnixNanos(-1), &mut Draw::new(&Ones)).is_err());
        for method in UuidV7Scheme::SCHEME.methods {
            let far = UnixNanos::from_millis(1 << 52);
            let error = Uuid7Rule::new(*method).next_id(far, &mut Draw::new(&Ones)).unwrap_err();
            assert_eq!(error, Error::TimeFieldEnded { scheme: "uuid-v7", ended: end });
        }
    }
}
