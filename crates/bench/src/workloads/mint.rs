//! Minting: each scheme one id at a time and in batches, with each of its methods.

use super::{BATCH, clock_of, given_clock, is_minted};
use crate::{Each, Engine, Over};
use mintage::IdSource;
use mintage::generators::counter::{Compiled, CounterGenerator, Parts};
use mintage::rfc9562::NAMESPACES;
use mintage::scheme::{Coordination, Mint};
use mintage::schemes::snowflake::{DEFAULT_BASE, custom_split};
use mintage::schemes::{
    firebase_pushid, ksuid, objectid, scru128, snowflake_discord, snowflake_instagram, snowflake_mastodon,
    snowflake_twitter, sonyflake_v1, sonyflake_v2, typeid, ulid, uuid_v1, uuid_v4, uuid_v6, uuid_v7, xid,
};
use mintage::{
    Error, Generator, Id, ManualClock, Method, RawId, SCHEMES, Scheme, Settings, StaticScheme, UuidV3, UuidV5,
};
use std::fmt;
use std::hint::black_box;
use std::sync::Arc;

pub(super) fn engines() -> Vec<Box<dyn Engine>> {
    let mut engines = typed();
    for scheme in SCHEMES.iter().copied().filter(|scheme| is_minted(scheme)) {
        if !engines.iter().any(|engine| engine.operation() == format!("mint {}", scheme.name)) {
            engines.push(one_by_one(scheme, None));
        }
        for method in scheme.methods.iter().skip(1) {
            engines.push(one_by_one(scheme, Some(*method)));
        }
    }
    engines.push(without_limit());
    engines.push(at_the_limit::<snowflake_twitter::SnowflakeTwitterScheme>());
    for scheme in SCHEMES.iter().copied().filter(|scheme| is_minted(scheme)) {
        engines.push(batches(scheme, None));
        for method in scheme.methods.iter().skip(1) {
            engines.push(batches(scheme, Some(*method)));
        }
    }
    engines
}

/// What a program that names its scheme in a type calls.
fn typed() -> Vec<Box<dyn Engine>> {
    vec![
        new::<uuid_v1::UuidV1Scheme>(),
        from_name("uuid-v3", |name| UuidV3::from_name(NAMESPACES[0].1, name).get()),
        new::<uuid_v4::UuidV4Scheme>(),
        from_name("uuid-v5", |name| UuidV5::from_name(NAMESPACES[0].1, name).get()),
        new::<uuid_v6::UuidV6Scheme>(),
        new::<uuid_v7::UuidV7Scheme>(),
        new::<ulid::UlidScheme>(),
        new::<ksuid::KsuidScheme>(),
        new::<objectid::ObjectIdScheme>(),
        new::<xid::XidScheme>(),
        new::<firebase_pushid::FirebasePushidScheme>(),
        new::<scru128::Scru128Scheme>(),
        new::<typeid::TypeidScheme>(),
        counted::<snowflake_twitter::SnowflakeTwitterScheme>(),
        counted::<snowflake_discord::SnowflakeDiscordScheme>(),
        counted::<snowflake_instagram::SnowflakeInstagramScheme>(),
        counted::<snowflake_mastodon::SnowflakeMastodonScheme>(),
        counted::<sonyflake_v1::SonyflakeV1Scheme>(),
        counted::<sonyflake_v2::SonyflakeV2Scheme>(),
    ]
}

/// `Id::new`, from the generator that the process shares.
fn new<S: Mint>() -> Box<dyn Engine> {
    Each::shared(format!("mint {}", S::SCHEME.name), clock_of(S::SCHEME, "system"), Id::<S>::new)
}

fn from_name(scheme: &str, make: fn(&[u8]) -> u128) -> Box<dyn Engine> {
    let names = (0..64).map(|i| format!("host-{i:02}.example.com").into_bytes()).collect();
    Over::boxed(format!("mint {scheme} of 19 bytes"), names, move |name: &Vec<u8>| make(name))
}

/// A generator of tick, worker and sequence, typed, by a given clock.
fn counted<S: StaticScheme>() -> Box<dyn Engine> {
    let (clock, settings) = given_clock(S::SCHEME, None);
    let source = Compiled::<S>::default();
    let generator =
        CounterGenerator::new(S::SCHEME.name, &S::SCHEME.layout, source, &settings).expect(GENERATOR);
    Ticking::boxed(format!("mint {}", S::SCHEME.name), S::SCHEME, clock, move |_| {
        black_box(generator.try_next_id()?);
        Ok(1)
    })
}

/// Any scheme by its name, as a service or a script does: through the trait.
fn one_by_one(scheme: &'static Scheme, method: Option<Method>) -> Box<dyn Engine> {
    let name = operation(scheme, method);
    // The sequence of a tick would be spent long before a tick of the system clock is over.
    if matches!(scheme.facts.coordination, Coordination::Worker | Coordination::OneWriter) {
        let (clock, settings) = given_clock(scheme, method);
        let generator = scheme.generator(&settings).expect(GENERATOR);
        return Ticking::boxed(name, scheme, clock, move |_| {
            black_box(generator.try_next()?);
            Ok(1)
        });
    }
    let settings = Settings { method, ..Settings::default() };
    let generator = scheme.generator(&settings).expect(GENERATOR);
    Each::shared(name, clock_of(scheme, "system"), move || generator.next().expect(MINTED))
}

/// Batches through the trait, by a given clock: a batch reads its clock once, so that the clock hardly counts.
fn batches(scheme: &'static Scheme, method: Option<Method>) -> Box<dyn Engine> {
    let (clock, settings) = given_clock(scheme, method);
    let generator = scheme.generator(&settings).expect(GENERATOR);
    let name = format!("{}, batches of {BATCH}", operation(scheme, method));
    Ticking::boxed(name, scheme, clock, move |out| {
        let made = generator.try_fill(out)?;
        black_box(out);
        Ok(made)
    })
}

/// The counter engine by the system clock, with a sequence so wide that it is never spent.
fn without_limit() -> Box<dyn Engine> {
    let layout = custom_split("41/2/20", DEFAULT_BASE).expect("a split of 63 bits");
    let source = Parts::of(&layout).expect("tick and sequence have 61 bits");
    let settings = Settings { worker: Some(1), ..Settings::default() };
    let generator = CounterGenerator::new("snowflake", &layout, source, &settings).expect(GENERATOR);
    Each::shared("mint snowflake 41/2/20", "system", move || generator.next().expect(MINTED))
}

/// A layout's own limit: the sequence of each tick is spent, and the rest of the tick is waited for.
fn at_the_limit<S: StaticScheme>() -> Box<dyn Engine> {
    let settings = Settings { worker: Some(1), ..Settings::default() };
    let source = Compiled::<S>::default();
    let generator =
        CounterGenerator::new(S::SCHEME.name, &S::SCHEME.layout, source, &settings).expect(GENERATOR);
    let name = format!("mint {}, waiting for ticks", S::SCHEME.name);
    let engine = Each::shared(name, "system", move || generator.next_id().expect(MINTED));
    Box::new(AtLeast { engine, n: 40 * 4096 })
}

/// An engine whose runs are long: one that begins in a tick of which nothing is used has that tick's ids for nothing, and only over
/// many ticks that doesn't count.
struct AtLeast {
    engine: Box<dyn Engine>,
    n: usize,
}

impl Engine for AtLeast {
    fn operation(&self) -> &str {
        self.engine.operation()
    }
    fn clock(&self) -> &'static str {
        self.engine.clock()
    }
    fn is_shared(&self) -> bool {
        self.engine.is_shared()
    }
    fn run(&self, n: usize) -> usize {
        self.engine.run(n.max(self.n))
    }
}

fn operation(scheme: &Scheme, method: Option<Method>) -> String {
    let method = method.map_or_else(String::new, |method| format!(" {}", method.name()));
    format!("mint {}{method}", scheme.name)
}

/// An engine with a clock of its own, which goes on by one tick each time a sequence is spent.
struct Ticking<F> {
    operation: String,
    clock_name: &'static str,
    clock: Arc<ManualClock>,
    tick_nanos: u64,
    /// Makes ids, into the buffer or not, and returns how many.
    some: F,
}

impl<F: Fn(&mut [RawId]) -> Result<usize, Error> + Send + Sync + 'static> Ticking<F> {
    fn boxed(operation: String, scheme: &Scheme, clock: Arc<ManualClock>, some: F) -> Box<dyn Engine> {
        let tick_nanos = scheme.layout.time_base().map_or(1, |base| base.tick_nanos);
        Box::new(Self { operation, clock_name: clock_of(scheme, "given"), clock, tick_nanos, some })
    }
}

impl<F: Fn(&mut [RawId]) -> Result<usize, Error> + Send + Sync> Engine for Ticking<F> {
    fn operation(&self) -> &str {
        &self.operation
    }
    fn clock(&self) -> &'static str {
        self.clock_name
    }
    fn is_shared(&self) -> bool {
        true
    }
    fn run(&self, n: usize) -> usize {
        let mut buffer = vec![RawId::ZERO; BATCH];
        let mut made = 0;
        while made < n {
            match (self.some)(&mut buffer) {
                Ok(more) => made += more,
                Err(Error::Busy { .. }) => self.clock.pass(self.tick_nanos),
                Err(error) => panic!("{}: {error}", self.operation),
            }
        }
        made
    }
}

impl fmt::Debug for AtLeast {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("AtLeast").field(&self.operation()).finish()
    }
}

impl<F> fmt::Debug for Ticking<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Ticking").field(&self.operation).finish()
    }
}

/// Why making a generator can't fail.
const GENERATOR: &str = "the scheme mints with these settings";
/// Why minting can't fail.
const MINTED: &str = "the clock stands within the time field, and the system has entropy";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_scheme_that_mints_is_measured_one_by_one_and_in_batches() {
        let engines = engines();
        for scheme in SCHEMES.iter().filter(|scheme| is_minted(scheme)) {
            let one = format!("mint {}", scheme.name);
            let batch = format!("{one}, batches of {BATCH}");
            for name in [one, batch] {
                let found = engines.iter().filter(|engine| engine.operation() == name).count();
                assert_eq!(found, 1, "{name}");
            }
        }
    }
}
