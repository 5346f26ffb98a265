//! Generators that fail on purpose: a fault run that finds nothing wrong with them would find nothing wrong with anything.

use mintage::scheme::{Facts, Sortable};
use mintage::schemes::snowflake_twitter::SnowflakeTwitterScheme;
use mintage::schemes::uuid_v4::UuidV4Scheme;
use mintage::{Clock, Error, Generator, RawId, Role, Scheme, Settings, StaticScheme, SystemClock};
use std::sync::{Mutex, PoisonError};

/// Both of them.
pub static SCHEMES: &[&Scheme] = &[&BLIND_RANDOM, &BLIND_CLOCK];

/// Random numbers from a seed that is drawn once: a forked child draws what its parent draws.
static BLIND_RANDOM: Scheme = Scheme {
    name: "blind-random",
    aliases: &[],
    generator: Some(|settings| Ok(Box::new(Replay(Mutex::new(seed(settings)?))))),
    ..*UuidV4Scheme::SCHEME
};

/// A Snowflake whose sequence begins anew whenever the millisecond is another one, be it an earlier one.
static BLIND_CLOCK: Scheme = Scheme {
    name: "blind-clock",
    aliases: &[],
    // It promises no order, so that duplicates are the one thing found.
    facts: Facts { sortable: Sortable::ToTick, ..SnowflakeTwitterScheme::SCHEME.facts },
    generator: Some(|_| Ok(Box::new(Naive(Mutex::new((0, 0)))))),
    ..*SnowflakeTwitterScheme::SCHEME
};

fn seed(settings: &Settings) -> Result<u128, Error> {
    mintage::Draw::new(&settings.entropy()?).bits(128)
}

struct Replay(Mutex<u128>);

impl Generator for Replay {
    fn try_fill(&self, out: &mut [RawId]) -> Result<usize, Error> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for id in out.iter_mut() {
            // A full period of 2^128 (Knuth's conditions: odd increment, multiplier 1 modulo 4), so within a process none repeats.
            *state = state.wrapping_mul(0x2360_ed05_1fc6_5da4_4385_df64_9fcc_f645).wrapping_add(1);
            *id = RawId::new(*state);
        }
        Ok(out.len())
    }
}

struct Naive(Mutex<(u128, u128)>);

impl Generator for Naive {
    fn try_fill(&self, out: &mut [RawId]) -> Result<usize, Error> {
        let layout = &SnowflakeTwitterScheme::SCHEME.layout;
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for (made, id) in out.iter_mut().enumerate() {
            let millis = SystemClock.now().0.div_euclid(1_000_000);
            let tick = u128::try_from(millis).map_err(|_| Error::Time)?;
            if tick != last.0 {
                *last = (tick, 0);
            } else if last.1 == 4095 {
                return if made > 0 { Ok(made) } else { Err(busy()) };
            } else {
                last.1 += 1;
            }
            // The fields of a Snowflake stand in order, with the worker's bits left at zero.
            *id = layout.scatter(RawId::new(tick << 22), Role::Counter, last.1);
        }
        Ok(out.len())
    }
}

const fn busy() -> Error {
    Error::Busy { scheme: "blind-clock", cause: mintage::error::Cause::Spent, wait_nanos: 100_000 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::count::Ids;

    #[test]
    fn while_nothing_happens_none_repeats() {
        for scheme in SCHEMES {
            let settings = Settings { worker: scheme.max_worker(), ..Settings::default() };
            let generator = scheme.generator(&settings).unwrap();
            let mut ids = Ids::of(scheme);
            for _ in 0..10_000 {
                ids.push(generator.next().unwrap());
            }
            assert_eq!(ids.tally().duplicates, 0, "{}", scheme.name);
        }
    }
}
