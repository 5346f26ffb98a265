//! What is measured of Mintage: every call into it stands in this file, in the form that a program would write.

use crate::engines::{AtThePace, BATCH, Buffer, Filling, Printing, TURN};
use crate::given_clock::GivenClock;
use crate::inputs;
use mintage::generators::counter::{Compiled, CounterGenerator};
use mintage::raw::Repr;
use mintage::scheme::Mint;
use mintage::schemes::snowflake_twitter::SnowflakeTwitterScheme;
use mintage::text::{BASE62, Text, TextForm};
use mintage::{
    Error, Generator, Id, Ksuid, Nanoid, RawId, Settings, SnowflakeTwitter, StaticScheme, Ulid, UuidV7,
};
use mintage_bench::{Each, Engine, Over};
use std::hint::black_box;
use std::str::FromStr;
use std::sync::Arc;

/// Ids that a thread takes at once from a generator that it shares.
pub(crate) const RUN: usize = 64;

/// `Id::new`, from the generator that the process shares.
pub(crate) fn mint<S: Mint>() -> Box<dyn Engine> {
    Each::boxed("one by one", "system", Id::<S>::new)
}

/// A batch from a generator of one's own.
pub(crate) fn mint_batch<S: StaticScheme>() -> Box<dyn Engine> {
    let generator = S::SCHEME.generator(&Settings::default()).expect(MADE);
    let generator: Arc<dyn Generator> = generator.into();
    Filling::boxed("system", RawId::ZERO, move || {
        let generator = generator.clone();
        move |ids: &mut [RawId]| generator.fill(ids).expect(MINTED)
    })
}

type Snowflakes = CounterGenerator<Compiled<SnowflakeTwitterScheme>>;

fn snowflakes(settings: &Settings) -> Snowflakes {
    let scheme = SnowflakeTwitter::SCHEME;
    CounterGenerator::new(scheme.name, &scheme.layout, Compiled::default(), settings).expect(MADE)
}

/// A generator by a given clock, and what lets that clock go on.
fn snowflakes_given() -> (Snowflakes, GivenClock) {
    let clock = GivenClock::new();
    let settings = Settings { worker: Some(1), clock: Some(Arc::new(clock.clone())), ..Settings::default() };
    (snowflakes(&settings), clock)
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
    let shared = Arc::new(snowflakes_given());
    Filling::of(RUN, "given", RawId::ZERO, move || {
        let shared = shared.clone();
        move |ids: &mut [RawId]| fill_passing(&shared.0, &shared.1, ids)
    })
}

/// Fills the whole slice, while the clock goes on.
fn fill_passing(generator: &Snowflakes, clock: &GivenClock, ids: &mut [RawId]) {
    let mut made = 0;
    while made < ids.len() {
        made += passing(clock, || generator.try_fill(&mut ids[made..]));
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
    let generator = Nanoid::SCHEME.generator(&Settings::default()).expect(MADE);
    Each::boxed("one by one", "none", move || Nanoid::SCHEME.print(generator.next().expect(MINTED)))
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

fn print<S: StaticScheme>(id: Id<S>, _: &mut Buffer) {
    black_box(id.to_text());
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
static BASE62_64: TextForm = TextForm::for_bits("base62", &BASE62, 64);

pub(crate) fn base62(number: u64) -> Text {
    BASE62_64.print(RawId::new(u128::from(number))).expect("64 bits fit the form")
}

pub(crate) fn print_base62() -> Box<dyn Engine> {
    Printing::boxed(inputs::numbers().collect(), |number: &u64, _| {
        black_box(base62(*number));
    })
}

pub(crate) fn parse_base62() -> Box<dyn Engine> {
    let texts = inputs::numbers().map(|number| base62(number).to_string()).collect();
    Over::boxed("parse", texts, |text: &String| BASE62_64.parse(text, 64, "base62"))
}

/// Texts straight from a generator by the system clock, side by side in one buffer, in the scheme's canonical form of `LEN`
/// characters.
pub(crate) fn mint_texts<S: StaticScheme, const LEN: usize>() -> Box<dyn Engine> {
    let generator = S::SCHEME.generator(&Settings::default()).expect(MADE);
    let fill = move |ids: &mut [RawId]| generator.fill(ids).expect(MINTED);
    texts::<LEN>("system", fill, |id| S::SCHEME.print(id))
}

/// Snowflakes in base 62, by a given clock: by the system's they would wait for ticks.
pub(crate) fn mint_base62_snowflakes() -> Box<dyn Engine> {
    let (generator, clock) = snowflakes_given();
    texts::<11>(
        "given",
        move |ids| fill_passing(&generator, &clock, ids),
        |id| BASE62_64.print(id).expect("64 bits fit the form"),
    )
}

fn texts<const LEN: usize>(
    clock: &'static str,
    fill: impl Fn(&mut [RawId]) + Send + Sync + 'static,
    print: fn(RawId) -> Text,
) -> Box<dyn Engine> {
    let fill = Arc::new(fill);
    Filling::boxed(clock, [0; LEN], move || {
        let fill = fill.clone();
        let mut ids = [RawId::ZERO; BATCH];
        move |texts: &mut [[u8; LEN]]| {
            fill(&mut ids);
            for (text, id) in texts.iter_mut().zip(ids) {
                text.copy_from_slice(print(id).as_bytes());
            }
        }
    })
}

/// Why making a generator can't fail.
const MADE: &str = "the scheme mints with these settings";
/// Why minting can't fail.
const MINTED: &str = "the clock stands within the time field, and the system has entropy";
