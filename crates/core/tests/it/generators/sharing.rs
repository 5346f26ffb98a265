//! Many threads, one worker, the real clock: no id twice.

use super::tick;
use mintage::IdSource;
use mintage::error::Cause;
use mintage::generators::counter::{Compiled, CounterGenerator};
use mintage::generators::locked::Locked;
use mintage::schemes::snowflake_twitter::SnowflakeTwitterScheme;
use mintage::schemes::ulid::UlidRule;
use mintage::{
    Clock, Error, Generator, Id, Ksuid, ObjectId, RawId, Scheme, Settings, SnowflakeTwitter, Spent,
    SystemClock, Ulid, UuidV1, UuidV4, UuidV6, UuidV7,
};
use std::thread;

/// Tells workers of different tests apart: a cursor lives as long as the process, and some tests count on a fresh one.
mod worker {
    pub(super) const ONE_GENERATOR: u64 = 11;
    pub(super) const TWO_GENERATORS: u64 = 12;
    pub(super) const TYPED: u64 = 13;
    pub(super) const AGAIN: u64 = 14;
    pub(super) const FRESH: u64 = 100;
}

fn scheme(name: &str) -> &'static Scheme {
    Scheme::by_name(name).unwrap()
}

fn generator(scheme: &Scheme, worker: u64) -> Box<dyn Generator> {
    scheme.generator(&Settings { worker: Some(worker), ..Settings::default() }).unwrap()
}

/// Mints `each` ids in each of `threads` threads, which take `generators` by turns, half of the ids in batches; checks that each
/// thread's ids grow and that none is there twice, and returns how many there are.
fn mint(generators: &[&dyn Generator], threads: usize, each: usize) -> usize {
    let per_thread: Vec<Vec<RawId>> = thread::scope(|scope| {
        let running: Vec<_> = (0..threads)
            .map(|number| {
                let generator = generators[number % generators.len()];
                scope.spawn(move || {
                    let mut ids = Vec::with_capacity(each);
                    let mut batch = [RawId::ZERO; 100];
                    while ids.len() < each {
                        ids.extend((0..100).map(|_| generator.next().unwrap()));
                        generator.fill(&mut batch).unwrap();
                        ids.extend_from_slice(&batch);
                    }
                    ids
                })
            })
            .collect();
        running.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    for ids in &per_thread {
        assert!(ids.is_sorted_by(|a, b| a < b), "ids of one thread don't grow");
    }
    let mut all = per_thread.concat();
    let made = all.len();
    all.sort_unstable();
    all.dedup();
    assert_eq!(made - all.len(), 0, "duplicates among {made} ids");
    made
}

#[test]
fn no_id_is_made_twice_by_one_worker_of_many_threads() {
    let mut total = 0;
    for (name, each) in [
        ("snowflake-twitter", 200_000),
        ("snowflake-discord", 100_000),
        ("snowflake-instagram", 50_000),
        ("snowflake", 100_000),
        ("sonyflake-v2", 4_000),
    ] {
        let scheme = scheme(name);
        for threads in [2, 8] {
            let one = generator(scheme, worker::ONE_GENERATOR);
            total += mint(&[&*one], threads, each / threads);
            let (a, b) =
                (generator(scheme, worker::TWO_GENERATORS), generator(scheme, worker::TWO_GENERATORS));
            total += mint(&[&*a, &*b], threads, each / threads);
        }
    }
    let mastodon = scheme("snowflake-mastodon");
    let made = [(), ()].map(|()| mastodon.generator(&Settings::default()).unwrap());
    total += mint(&[&*made[0], &*made[1]], 8, 20_000);
    println!("{total} ids of counters, no duplicate");
    assert!(total >= 1_000_000);
}

#[test]
fn typed_and_untyped_generators_of_a_worker_share_its_ticks() {
    let settings = Settings { worker: Some(worker::TYPED), spent: Spent::Borrow, ..Settings::default() };
    let typed = CounterGenerator::new(
        "snowflake-twitter",
        &SnowflakeTwitter::SCHEME.layout,
        Compiled::<SnowflakeTwitterScheme>::default(),
        &settings,
    )
    .unwrap();
    let untyped = generator(SnowflakeTwitter::SCHEME, worker::TYPED);
    let mut all = Vec::new();
    for _ in 0..20_000 {
        let id: SnowflakeTwitter = typed.next_id().unwrap();
        all.push(id.raw());
        all.push(untyped.next().unwrap());
    }
    assert!(all.is_sorted_by(|a, b| a < b));
    let id = SnowflakeTwitter::from_raw(all[0]).unwrap();
    assert_eq!(id.field("datacenter"), Some(u128::from(worker::TYPED) >> 5));
    assert_eq!(id.field("worker"), Some(u128::from(worker::TYPED) & 31));
}

#[test]
fn a_generator_that_was_dropped_does_not_begin_again() {
    let scheme = scheme("snowflake-twitter");
    let mut last = RawId::ZERO;
    for _ in 0..20 {
        let generator = generator(scheme, worker::AGAIN);
        let next = generator.next().unwrap();
        assert!(next > last);
        last = next;
    }
}

#[test]
fn the_tick_of_creation_is_never_used() {
    // 10 ms a tick: nearly always the first try falls into the tick in which the generator was made.
    let scheme = scheme("sonyflake-v2");
    let base = scheme.layout.time_base().unwrap();
    let mut seen = 0;
    for worker in worker::FRESH..worker::FRESH + 20 {
        for spent in [Spent::Wait, Spent::Fail, Spent::Borrow] {
            let before = base.tick_at(SystemClock.now()).unwrap();
            let settings = Settings { worker: Some(worker), spent, ..Settings::default() };
            let generator = scheme.generator(&settings).unwrap();
            match generator.try_next() {
                Err(Error::Busy { cause: Cause::FirstTick, wait_nanos, .. }) => {
                    assert!(spent != Spent::Fail && wait_nanos <= base.tick_nanos);
                    seen += 1;
                }
                Err(Error::Refused { cause: Cause::FirstTick, .. }) => {
                    assert_eq!(spent, Spent::Fail);
                    seen += 1;
                    continue;
                }
                Err(error) => panic!("{error}"),
                // The tick turned over in between.
                Ok(id) => assert!(tick(scheme, id) > before.into()),
            }
            let id = generator.next().unwrap();
            let now = base.tick_at(SystemClock.now()).unwrap();
            assert!(tick(scheme, id) > before.into(), "minted in the tick of creation");
            assert!(tick(scheme, id) <= now.into(), "minted ahead of the clock");
        }
    }
    assert!(seen > 20, "{seen} first ticks met");
}

#[test]
fn ids_of_shared_generators_are_unique_among_threads() {
    fn typed<T: Ord + Copy + Send>(make: fn() -> T, is_sorted: bool) -> usize {
        let per_thread: Vec<Vec<T>> = thread::scope(|scope| {
            let running: Vec<_> =
                (0..8).map(|_| scope.spawn(move || (0..5_000).map(|_| make()).collect::<Vec<T>>())).collect();
            running.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(!is_sorted || per_thread.iter().all(|ids| ids.is_sorted_by(|a, b| a < b)));
        let mut all = per_thread.concat();
        let made = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(made - all.len(), 0);
        made
    }
    let made = typed(UuidV1::new, false)
        + typed(UuidV4::new, false)
        + typed(UuidV6::new, true)
        + typed(UuidV7::new, true)
        + typed(Ulid::new, true)
        + typed(Ksuid::new, false)
        + typed(ObjectId::new, false);
    println!("{made} ids of shared generators, no duplicate");
}

#[test]
fn a_locked_rule_makes_typed_ids() {
    let ids = Locked::new(UlidRule::default());
    let made: Vec<Ulid> = (0..1000).map(|_| ids.next_id().unwrap()).collect();
    assert!(made.is_sorted_by(|a, b| a < b));
    let mut batch = vec![RawId::ZERO; 1000];
    ids.fill(&mut batch).unwrap();
    assert!(batch.is_sorted_by(|a, b| a < b) && batch[0] > made[999].raw());
    assert_eq!(Ulid::from_raw(batch[0]).map(Id::raw), Ok(batch[0]));
}
