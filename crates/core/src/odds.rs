//! Odds: how likely it is that among many random ids two are equal.
//!
//! Two models. Either all ids are drawn from one space of `2^bits` values ([`among`]); or each tick of a clock has a space of
//! its own, and only ids of one tick can meet ([`in_ticks`]). Everything is kept as the logarithm of the chance that all ids
//! differ, so the smallest odds are as exact as the largest.
//!
//! Source: the birthday bound; RFC 9562 sections 6.7 (collision resistance) and 6.9 (unguessability).

use crate::error::Error;
use crate::generators::Method;
use crate::layout::{Layout, Role};
use crate::scheme::{Coordination, Scheme};

/// The widest space that is computed, in bits.
pub const MAX_BITS: u32 = 512;

/// The chance that among some ids two are equal.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Odds {
    /// Minus the natural logarithm of the chance that all differ: 0 when they must, infinite when they can't.
    unlike: f64,
}

impl Odds {
    /// The odds of this probability.
    ///
    /// # Errors
    /// [`Error::Quantity`] unless it is above 0 and below 1.
    pub fn of(probability: f64) -> Result<Self, Error> {
        let is_between = probability > 0.0 && probability < 1.0;
        let odds = Self { unlike: -(-probability).ln_1p() };
        is_between
            .then_some(odds)
            .ok_or(Error::Quantity { what: "a probability", expected: "above 0 and below 1" })
    }

    /// The chance that at least two are equal: 0 to 1.
    #[must_use]
    pub fn probability(self) -> f64 {
        // Not `1 - exp(-x)`, which is 0 for everything below 10^-16.
        0.0 - (-self.unlike).exp_m1()
    }

    /// How many equal pairs there are on average, as long as they are few; in general minus the natural logarithm of the chance
    /// that all ids differ. From 0 up to infinity.
    #[must_use]
    pub fn expected_pairs(self) -> f64 {
        self.unlike
    }
}

/// The odds that among `count` ids of `bits` random bits two are equal.
///
/// Exact up to rounding for every count: the sum over `ln(1 - i / 2^bits)`, not its first term.
///
/// # Errors
/// [`Error::Quantity`] unless `bits` is 1 to [`MAX_BITS`].
pub fn among(count: u128, bits: u32) -> Result<Odds, Error> {
    Ok(Odds { unlike: unlike(count as f64, space(bits)?) })
}

/// The odds that within some tick two ids are equal, when ids arrive independently of each other at `ids_per_tick` on average,
/// and each has `bits` random bits beside its tick.
///
/// A tick with `r` ids on average then has `r^2 / 2` pairs. `ticks` needn't be whole.
///
/// # Errors
/// [`Error::Quantity`] unless `bits` is 1 to [`MAX_BITS`] and the other two are finite and above 0.
pub fn in_ticks(ids_per_tick: f64, bits: u32, ticks: f64) -> Result<Odds, Error> {
    let space = space(bits)?;
    let per_tick = unlike_in_tick(positive("the number of ids a tick", ids_per_tick)?, space);
    Ok(Odds { unlike: per_tick * positive("the number of ticks", ticks)? })
}

/// The least count of ids of `bits` random bits that has these odds: a whole number, exact below 2^53.
///
/// # Errors
/// [`Error::Quantity`] unless `bits` is 1 to [`MAX_BITS`].
pub fn count_at(odds: Odds, bits: u32) -> Result<f64, Error> {
    let space = space(bits)?;
    let (mut sum, mut count) = (0.0, 1.0);
    while count < SUMMED {
        if count >= space {
            return Ok(count + 1.0);
        }
        sum -= (-count / space).ln_1p();
        count += 1.0;
        if sum >= odds.unlike {
            return Ok(count);
        }
    }
    let mut count = 0.5 + (0.25 + 2.0 * space * odds.unlike).sqrt();
    for _ in 0..8 {
        // Newton: one more id adds -ln(1 - count / space).
        let slope = -(-count / space).ln_1p();
        count -= (unlike(count, space) - odds.unlike) / slope;
    }
    let whole = count.floor();
    Ok(if unlike(whole, space) >= odds.unlike { whole } else { whole + 1.0 })
}

/// After how many ticks the odds are these, with as many ids a tick; see [`in_ticks`].
///
/// # Errors
/// [`Error::Quantity`] as for [`in_ticks`].
pub fn ticks_at(odds: Odds, ids_per_tick: f64, bits: u32) -> Result<f64, Error> {
    let space = space(bits)?;
    Ok(odds.unlike / unlike_in_tick(positive("the number of ids a tick", ids_per_tick)?, space))
}

/// How many ids a tick have these odds within as many ticks; see [`in_ticks`].
///
/// # Errors
/// [`Error::Quantity`] as for [`in_ticks`].
pub fn ids_per_tick_at(odds: Odds, bits: u32, ticks: f64) -> Result<f64, Error> {
    let space = space(bits)?;
    let wanted = odds.unlike / positive("the number of ticks", ticks)? / space;
    let mut filled = (2.0 * wanted).sqrt();
    if filled > 1e-9 {
        for _ in 0..64 {
            // Newton on x - ln(1 + x), whose slope is x / (1 + x).
            let now = filled * unlike_per_id(filled);
            filled -= (now - wanted) * (1.0 + filled) / filled;
        }
    }
    Ok(filled * space)
}

/// Where the random bits of an id come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drawn {
    /// Drawn for each id.
    EachId,
    /// Drawn once a process, so that it is processes which meet, not ids.
    EachProcess,
    /// A hash of a name: names meet, and the same name does so on purpose.
    EachName,
}

/// What chance there is in the ids of a scheme, from its layout.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Randomness {
    /// Random bits beside the tick.
    pub bits: u32,
    /// Length of the tick that has them to itself, in nanoseconds; `None` when all ids share one space.
    pub tick_nanos: Option<f64>,
    /// What they are drawn for.
    pub drawn: Drawn,
}

impl Randomness {
    /// What keeps apart ids of this scheme, made by this method; without a method all bits that the layout calls random count.
    ///
    /// `None` where ids don't meet by chance, or nobody can say: workers, constants, custom bits.
    #[must_use]
    pub fn of(scheme: &Scheme, method: Option<Method>) -> Option<Self> {
        let layout = &scheme.layout;
        let (random, hashed) = (width(layout, Role::Random), width(layout, Role::Hash));
        match scheme.facts.coordination {
            Coordination::SameInput if hashed > 0 => {
                return Some(Self { bits: hashed, tick_nanos: None, drawn: Drawn::EachName });
            }
            Coordination::Nothing if random > 0 => {}
            _ => return None,
        }
        let tick_nanos = layout.time_base().map(|base| base.tick_nanos as f64);
        let first = layout.fields().iter().find(|field| field.role == Role::Random).map_or(0, |f| f.bits);
        let (bits, tick_nanos) = match method {
            // A counter or a first value that starts with its top bit clear.
            Some(Method::Counter | Method::MonotonicRandom) => (random - 1, tick_nanos),
            // The first random field is time as well.
            Some(Method::SubMillisecond) => {
                (random - first, tick_nanos.map(|nanos| nanos / 2f64.powi(first.cast_signed())))
            }
            // A generator that counts on from a random start meets another one less often than fresh bits would.
            None | Some(Method::Random | Method::Monotonic | Method::Strict) => (random, tick_nanos),
        };
        let place = |role: Role| layout.fields().iter().rposition(|field| field.role.is_like(role));
        let (counter, worker) = (place(Role::Counter), place(Role::Worker));
        Some(match counter {
            // What is drawn stands above what is counted, so it stays while that goes on.
            Some(_) if counter > place(Role::Random) => Self { bits, tick_nanos, drawn: Drawn::EachProcess },
            // Within a tick a counter that nothing else tells apart begins at a random value.
            Some(_) if tick_nanos.is_some() && worker.is_none() => {
                Self { bits: bits + width(layout, Role::Counter), tick_nanos, drawn: Drawn::EachId }
            }
            _ => Self { bits, tick_nanos, drawn: Drawn::EachId },
        })
    }
}

/// Bits of all fields of a role.
fn width(layout: &Layout, role: Role) -> u32 {
    layout.fields().iter().filter(|field| field.role.is_like(role)).map(|field| field.bits).sum()
}

/// Up to here the logarithms are summed one by one.
const SUMMED: f64 = 4096.0;

/// Below this a series is more exact than the closed form, which subtracts nearly equal numbers.
const SMALL: f64 = 0.01;

/// Minus the logarithm of the chance that `count` values of `space` all differ.
fn unlike(count: f64, space: f64) -> f64 {
    if count < 2.0 {
        return 0.0;
    }
    if count > space {
        return f64::INFINITY;
    }
    if count <= SUMMED {
        let (mut sum, mut i) = (0.0, 1.0);
        while i < count {
            sum -= (-i / space).ln_1p();
            i += 1.0;
        }
        return sum;
    }
    let filled = count / space;
    if filled >= 1.0 {
        return f64::INFINITY;
    }
    // Euler and Maclaurin: the sum over i of f(i) is its integral, half the difference at the ends, a twelfth of the slopes'.
    let integral = if filled < SMALL {
        // The sum of x^k / (k (k - 1)), of which the first power is taken out: its square may be too small a number.
        let series = (2..12u32).rev().fold(0.0, |sum, k| sum * filled + 1.0 / f64::from(k * (k - 1)));
        count * filled * series
    } else {
        space * ((1.0 - filled) * (-filled).ln_1p() + filled)
    };
    integral + (-filled).ln_1p() / 2.0 + (1.0 / (space - count) - 1.0 / space) / 12.0
}

/// Minus the logarithm of the chance that the ids of one tick all differ, with as many on average.
///
/// Each value is drawn by a number of ids that is Poisson distributed around `x = ids / space`, so it is drawn at most once with
/// the chance `(1 + x) e^-x`.
fn unlike_in_tick(ids: f64, space: f64) -> f64 {
    ids * unlike_per_id(ids / space)
}

/// `(x - ln(1 + x)) / x`.
fn unlike_per_id(x: f64) -> f64 {
    if x < SMALL {
        // x/2 - x^2/3 + x^3/4 - ...
        return x * (2..12u32).rev().fold(0.0, |sum, k| 1.0 / f64::from(k) - sum * x);
    }
    (x - x.ln_1p()) / x
}

fn space(bits: u32) -> Result<f64, Error> {
    match bits {
        1..=MAX_BITS => Ok(2f64.powi(bits.cast_signed())),
        _ => Err(Error::Quantity { what: "the number of random bits", expected: "1 to 512" }),
    }
}

fn positive(what: &'static str, value: f64) -> Result<f64, Error> {
    if value.is_finite() && value > 0.0 {
        Ok(value)
    } else {
        Err(Error::Quantity { what, expected: "a finite number above 0" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const YEAR_MS: f64 = 365.25 * 86_400_000.0;

    fn near(found: f64, expected: f64) {
        assert!((found / expected - 1.0).abs() < 1e-3, "{found:e} instead of {expected:e}");
    }

    fn chance(count: u128, bits: u32) -> f64 {
        among(count, bits).unwrap().probability()
    }

    #[test]
    fn the_birthday_bound_for_64_80_and_122_bits() {
        near(chance(1_000_000_000, 64), 0.026_742);
        near(chance(1_000_000_000_000, 64), 1.0);
        near(among(1_000_000_000_000, 64).unwrap().expected_pairs(), 27_105.05);
        near(chance(1_000_000_000, 80), 4.1359e-7);
        near(chance(1_000_000_000_000, 80), 0.338_728);
        near(chance(1_000_000_000, 122), 9.4039e-20);
        near(chance(1_000_000_000_000, 122), 9.4039e-14);
    }

    #[test]
    fn even_odds() {
        let half = Odds::of(0.5).unwrap();
        near(count_at(half, 64).unwrap(), 5.0569e9);
        near(count_at(half, 80).unwrap(), 1.2945e12);
        near(count_at(half, 122).unwrap(), 2.7149e18);
        near(count_at(half, 512).unwrap(), 1.1774 * 2f64.powi(256));
    }

    #[test]
    fn a_thousand_servers_at_an_id_a_millisecond_of_uuid_v7_meet_once_in_a_million_years() {
        near(in_ticks(1000.0, 74, YEAR_MS).unwrap().probability(), 8.3530e-7);
        near(in_ticks(1000.0, 62, YEAR_MS).unwrap().probability(), 3.4156e-3);
        let v7 = Scheme::by_name("uuid-v7").unwrap();
        let all = Randomness::of(v7, None).unwrap();
        assert_eq!(all, Randomness { bits: 74, tick_nanos: Some(1e6), drawn: Drawn::EachId });
        assert_eq!(Randomness::of(v7, Some(Method::Counter)).unwrap().bits, 73);
        // The fraction is time instead of chance, which comes to the same.
        let fine = Randomness::of(v7, Some(Method::SubMillisecond)).unwrap();
        assert_eq!((fine.bits, fine.tick_nanos), (62, Some(1e6 / 4096.0)));
        near(in_ticks(1000.0 / 4096.0, 62, YEAR_MS * 4096.0).unwrap().probability(), 8.3530e-7);
    }

    #[test]
    fn what_the_layouts_say_of_chance() {
        let of = |name| Randomness::of(Scheme::by_name(name).unwrap(), None);
        assert_eq!(of("uuid-v4"), Some(Randomness { bits: 122, tick_nanos: None, drawn: Drawn::EachId }));
        assert_eq!(of("ksuid"), Some(Randomness { bits: 128, tick_nanos: Some(1e9), drawn: Drawn::EachId }));
        assert_eq!(of("ulid").unwrap().bits, 80);
        assert_eq!(of("uuid-v5").unwrap().drawn, Drawn::EachName);
        assert_eq!(of("scru128"), Some(Randomness { bits: 80, tick_nanos: Some(1e6), drawn: Drawn::EachId }));
        let objectid = of("objectid").unwrap();
        assert_eq!((objectid.bits, objectid.drawn), (40, Drawn::EachProcess));
        for name in ["uuid-nil", "uuid-v1", "uuid-v8", "snowflake-twitter", "snowflake-mastodon"] {
            assert_eq!(of(name), None, "{name}");
        }
        for scheme in crate::SCHEMES {
            for method in scheme.methods {
                let made = Randomness::of(scheme, Some(*method));
                assert!(made.is_none_or(|made| (1..=MAX_BITS).contains(&made.bits)), "{}", scheme.name);
            }
        }
    }

    /// The chance of equal values, by the product itself.
    fn by_hand(count: u32, space: f64) -> f64 {
        1.0 - (0..count).map(|i| 1.0 - f64::from(i) / space).product::<f64>()
    }

    #[test]
    fn small_spaces_are_exact() {
        for (count, bits) in [(2, 1), (20, 8), (200, 8), (5000, 22), (9000, 24)] {
            near(chance(u128::from(count), bits), by_hand(count, 2f64.powi(bits.cast_signed())));
        }
        assert_eq!(chance(3, 1), 1.0);
        assert_eq!(chance(257, 8), 1.0);
        assert!(chance(256, 8) > 0.999_999);
        assert_eq!((chance(0, 64), chance(1, 64)), (0.0, 0.0));
    }

    #[test]
    fn the_closed_form_joins_the_sum_and_its_series_joins_it() {
        for bits in [14, 20, 40, 200] {
            let space = 2f64.powi(bits);
            let step = -(-4096.0 / space).ln_1p();
            near(unlike(4097.0, space), unlike(4096.0, space) + step);
        }
        let space = 2f64.powi(24);
        let below = unlike((SMALL * space).floor() - 1.0, space);
        let above = unlike((SMALL * space).floor() + 2.0, space);
        assert!(above > below && above / below < 1.0001);
        assert!((unlike_per_id(SMALL * 0.999_999_9) / unlike_per_id(SMALL) - 1.0).abs() < 1e-6);
    }

    #[test]
    fn the_least_count_is_the_least() {
        for bits in [3, 8, 16, 24, 26, 32, 48, 64, 80] {
            for probability in [1e-12, 1e-6, 0.01, 0.5, 0.99, 0.999_999] {
                let odds = Odds::of(probability).unwrap();
                let count = count_at(odds, bits).unwrap();
                let space = 2f64.powi(bits.cast_signed());
                assert!(unlike(count, space) >= odds.unlike, "{bits} bits, {probability}: {count}");
                assert!(
                    count <= 2.0 || unlike(count - 1.0, space) < odds.unlike,
                    "{bits} bits, {probability}: {count}"
                );
            }
        }
        assert_eq!(count_at(Odds::of(0.5).unwrap(), 8).unwrap(), 20.0);
        assert_eq!(count_at(Odds::of(1.0 - 1e-16).unwrap(), 1).unwrap(), 3.0);
    }

    #[test]
    fn rates_times_and_odds_lead_back_to_each_other() {
        for (ids, bits, ticks) in
            [(1000.0, 74, 3e10), (1e-9, 80, 1e30), (5e5, 20, 1.0), (1e9, 10, 0.5), (3.0, 512, 1e3)]
        {
            let odds = in_ticks(ids, bits, ticks).unwrap();
            near(ticks_at(odds, ids, bits).unwrap(), ticks);
            near(ids_per_tick_at(odds, bits, ticks).unwrap(), ids);
        }
    }

    #[test]
    fn tiny_odds_are_not_zero_and_extremes_are_refused() {
        near(chance(2, 512), 2f64.powi(-512));
        near(in_ticks(1e-6, 512, 1.0).unwrap().probability(), 0.5e-12 * 2f64.powi(-512));
        assert!(chance(u128::MAX, 512) > 0.0);
        assert_eq!(chance(u128::MAX, 1), 1.0);
        for bits in [0, 513, u32::MAX] {
            assert!(matches!(among(5, bits), Err(Error::Quantity { .. })));
        }
        for value in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(in_ticks(value, 74, 1.0).is_err() && in_ticks(1.0, 74, value).is_err());
            assert!(Odds::of(value).is_err());
        }
        assert!(Odds::of(1.0).is_err());
        near(Odds::of(1e-300).unwrap().probability(), 1e-300);
    }
}
