//! What is measured of Mintage: every call into it stands in this file, in the form that a program would write.

use crate::engines::{AtThePace, BATCH, Buffer, Filling, Own, Printing, TURN};
use crate::given_clock::GivenClock;
use crate::inputs;
use mintage::generators::AnyClock;
use mintage::generators::counter::{Compiled, CounterGenerator};
use mintage::generators::owned::Owned;
use mintage::generators::rule::Rule;
use mintage::raw::Repr;
use mintage::scheme::Mint;
use mintage::schemes::snowflake_twitter::SnowflakeTwitterScheme;
use mintage::text::{BASE62, StaticForm, TextForm};
use mintage::{
    Error, Generator, Id, IdSource, Ksuid, Nanoid, RawId, Settings, SnowflakeTwitter, StaticScheme, Ulid,
    UuidV7,
};
use mintage_bench::{Each, Engine, Over};
use std::hint::black_box;
use std::str::FromStr;
use std::sync::Arc;

/// Ids that a thread takes at once from a generator that it shares.
pub(crate) const RUN: u64 = 64;

/// `Id::new`, from the generator that the process shares.
pub(crate) fn mint<S: Mint>() -> Box<dyn Engine> {
    Each::boxed("one by one", "system", Id::<S>::new)
}

/// The same of a generator that one thread owns.
pub(crate) fn mint_owned<R: Rule + Default>() -> Box<dyn Engine> {
    Own::boxed("system", || {
        let mut generator = Owned::new(R::default());
        move || generator.next_id().expect(MINTED)
    })
}

/// `Id::fill`, from the generator that the process shares.
pub(crate) fn mint_batch<S: Mint>() -> Box<dyn Engine> {
    Filling::boxed("system", Id::<S>::ZERO, || |ids: &mut [Id<S>]| Id::fill(ids).expect(MINTED))
}

type Snowflakes<C = AnyClock> = CounterGenerator<Compiled<SnowflakeTwitterScheme>, C>;

fn snowflakes(settings: &Settings) -> Snowflakes {
    let scheme = SnowflakeTwitter::SCHEME;
    CounterGenerator::new(scheme.name, &scheme.layout, Compiled::default(), settings).expect(MADE)
}

/// A generator by a given clock, and what lets that clock go on.
fn snowflakes_given() -> (Snowflakes<GivenClock>, GivenClock) {
    let (scheme, clock) = (SnowflakeTwitter::SCHEME, GivenClock::new());
    let settings = Settings { worker: Some(1), ..Settings::default() };
    let parts = Compiled::default();
    let generator =
        CounterGenerator::with_clock(scheme.name, &scheme.layout, parts, &settings, clock.clone());
    (generator.expect(MADE), clock)
}

/// Tries until the sequence isn't spent, while the clock goes on.
fn passing<T>(clock: &GivenClock, mut attempt: impl FnMut() -> Result<T, Error>) -> T {
    loop {
        match attempt() {
            Ok(made) => return made,
            Err(Error::Busy { wait_nanos, .. }) => clock.pass_millis(wait_nanos.div_ceil(1_000_000)),
            Err(error) => panic!("{error}"),
        }
    }
}

pub(crate) fn snowflake_given() -> Box<dyn Engine> {
    let (generator, clock) = snowflakes_given();
    Each::shared("one by one", "given", move || passing(&clock, || generator.try_next_id()))
}

/// Threads share a generator, and each takes a run of ids at once.
pub(crate) fn snowflake_given_runs() -> Box<dyn Engine> {
    // For the rest of the process, as a static would be: threads borrow from it.
    let shared: &'static (Snowflakes<GivenClock>, GivenClock) = Box::leak(Box::new(snowflakes_given()));
    Own::shared("given", move || {
        let mut runs = shared.0.runs(RUN);
        move || passing(&shared.1, || runs.try_next_id())
    })
}

/// Fills the whole slice, while the clock goes on.
fn fill_passing(generator: &Snowflakes<GivenClock>, clock: &GivenClock, ids: &mut [SnowflakeTwitter]) {
    let mut made = 0;
    while made < ids.len() {
        made += passing(clock, || generator.try_fill_ids(&mut ids[made..]));
    }
}

/// As many ids as the layout has for so many workers, by turns in one thread.
pub(crate) fn snowflake_real<const WORKERS: u64>() -> Box<dyn Engine> {
    let generator = |worker| snowflakes(&Settings { worker: Some(worker), ..Settings::default() });
    AtThePace::boxed((0..WORKERS).map(generator).collect(), |generator: &Snowflakes, ids| {
        let mut raw = [RawId::ZERO; TURN];
        generator.fill(&mut raw).expect(MINTED);
        *ids = raw.map(<u64 as Repr>::from_raw);
    })
}

/// A NanoID is its text.
pub(crate) fn nanoid() -> Box<dyn Engine> {
    Each::boxed("one by one", "none", || Nanoid::new().to_text())
}

fn ids<S: StaticScheme>(numbers: impl IntoIterator<Item = RawId>) -> Vec<Id<S>> {
    numbers.into_iter().map(|number| Id::from_raw(number).expect("an id of its scheme")).collect()
}

pub(crate) fn uuids() -> Vec<UuidV7> {
    ids(inputs::uuids().into_iter().map(RawId::new))
}

pub(crate) fn ulids() -> Vec<Ulid> {
    ids(inputs::wide().into_iter().map(RawId::new))
}

pub(crate) fn ksuids() -> Vec<Ksuid> {
    inputs::ksuids().iter().map(|bytes| Ksuid::from_bytes(bytes).expect("20 bytes are a KSUID")).collect()
}

fn print<S: StaticScheme>(id: Id<S>, buffer: &mut Buffer) {
    black_box(id.encode(buffer));
}

fn parse<S: StaticScheme>(ids: &[Id<S>]) -> Box<dyn Engine> {
    let texts = ids.iter().map(ToString::to_string).collect();
    Over::boxed("parse", texts, |text: &String| Id::<S>::from_str(text))
}

pub(crate) fn print_uuid() -> Box<dyn Engine> {
    Printing::boxed(uuids(), |id, buffer| print(*id, buffer))
}

pub(crate) fn parse_uuid() -> Box<dyn Engine> {
    parse(&uuids())
}

pub(crate) fn print_ulid() -> Box<dyn Engine> {
    Printing::boxed(ulids(), |id, buffer| print(*id, buffer))
}

pub(crate) fn parse_ulid() -> Box<dyn Engine> {
    parse(&ulids())
}

pub(crate) fn print_ksuid() -> Box<dyn Engine> {
    Printing::boxed(ksuids(), |id, buffer| print(*id, buffer))
}

pub(crate) fn parse_ksuid() -> Box<dyn Engine> {
    parse(&ksuids())
}

/// Eleven digits of base 62 for 64 bits.
struct Base62Of64;

impl StaticForm for Base62Of64 {
    const FORM: TextForm = TextForm::for_bits("base62", &BASE62, 64);
    const BITS: u32 = 64;
}

pub(crate) fn base62(number: u64, buffer: &mut Buffer) -> &str {
    Base62Of64::encode(RawId::from(number), buffer).expect("64 bits fit the form")
}

pub(crate) fn print_base62() -> Box<dyn Engine> {
    Printing::boxed(inputs::numbers().collect(), |number: &u64, buffer| {
        black_box(base62(*number, buffer));
    })
}

pub(crate) fn parse_base62() -> Box<dyn Engine> {
    let texts = inputs::numbers().map(|number| base62(number, &mut [0; _]).to_owned()).collect();
    Over::boxed("parse", texts, |text: &String| Base62Of64::parse(text))
}

/// `Id::fill_text`: texts straight from the generator that the process shares, a line each.
pub(crate) fn mint_texts<S: Mint>() -> Box<dyn Engine> {
    texts("system", |count, lines: &mut String| Id::<S>::fill_text(count, lines).expect(MINTED))
}

/// Snowflakes in base 62, by a given clock: by the system's they would wait for ticks.
pub(crate) fn mint_base62_snowflakes() -> Box<dyn Engine> {
    let given = Arc::new(snowflakes_given());
    texts("given", move |count, lines: &mut String| {
        let mut ids = [SnowflakeTwitter::ZERO; BATCH];
        fill_passing(&given.0, &given.1, &mut ids[..count]);
        let ids = ids[..count].iter().map(|id| id.raw());
        Base62Of64::FORM.print_lines(ids, lines).expect("64 bits fit the form");
    })
}

fn texts(
    clock: &'static str,
    fill: impl Fn(usize, &mut String) + Clone + Send + Sync + 'static,
) -> Box<dyn Engine> {
    Filling::boxed(clock, (), move || {
        let (fill, mut lines) = (fill.clone(), String::new());
        move |ids: &mut [()]| {
            lines.clear();
            fill(ids.len(), &mut lines);
            black_box(lines.as_str());
        }
    })
}

/// Why making a generator can't fail.
const MADE: &str = "the scheme mints with these settings";
/// Why minting can't fail.
const MINTED: &str = "the clock stands within the time field, and the system has entropy";
