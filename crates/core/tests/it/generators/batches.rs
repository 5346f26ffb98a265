//! Batches: what one call makes is whole, differs, keeps the order, and reads as its text says; runs give each thread its own.

use super::{NOW, clock_at, minted, settings_at};
use crate::seeded::{Bytes, Seeded};
use mintage::generators::counter::{Compiled, CounterGenerator};
use mintage::generators::locked::Locked;
use mintage::generators::owned::Owned;
use mintage::generators::typed::Typed;
use mintage::scheme::{Coordination, Sortable};
use mintage::schemes::snowflake_twitter::SnowflakeTwitterScheme;
use mintage::schemes::ulid::{UlidRule, UlidScheme};
use mintage::schemes::uuid_v7::Uuid7Rule;
use mintage::{
    ClockBack, Error, FirebasePushid, Generator, Id, IdSource, Ksuid, ManualClock, Mint, Nanoid, ObjectId,
    PoolEntropy, RawId, Scru128, Settings, SnowflakeTwitter, Spent, Typeid, Ulid, UuidV1, UuidV4, UuidV6,
    UuidV7, Xid,
};
use std::collections::HashSet;
use std::thread;

const IDS: usize = 10_000;

fn check_batch<S: Mint>(_: Id<S>) {
    let name = S::SCHEME.name;
    let mut ids = vec![Id::<S>::ZERO; IDS];
    Id::fill(&mut ids).unwrap();
    assert_eq!(ids.iter().collect::<HashSet<_>>().len(), IDS, "{name}");
    for id in &ids {
        assert_eq!(S::SCHEME.check(id.raw()), Ok(id.raw()), "{name}");
    }
    if S::SCHEME.facts.sortable == Sortable::Strictly {
        assert!(ids.is_sorted(), "{name}");
        assert!(Id::new() > ids[IDS - 1], "{name}");
    }

    let mut lines = String::new();
    Id::<S>::fill_text(1000, &mut lines).unwrap();
    let read: Vec<Id<S>> = lines.lines().map(|line| line.parse().unwrap()).collect();
    assert_eq!(read.len(), 1000, "{name}");
    assert_eq!(read.iter().collect::<HashSet<_>>().len(), 1000, "{name}");
    for (id, line) in read.iter().zip(lines.lines()) {
        assert_eq!(id.to_string(), line, "{name}");
    }

    let held: Vec<Id<S>> = Id::ids(1000).collect::<Result<_, _>>().unwrap();
    assert_eq!(held.iter().collect::<HashSet<_>>().len(), 1000, "{name}");
}

#[test]
fn batches_of_shared_generators_are_whole_and_differ() {
    check_batch(UuidV1::ZERO);
    check_batch(UuidV4::ZERO);
    check_batch(UuidV6::ZERO);
    check_batch(UuidV7::ZERO);
    check_batch(Ulid::ZERO);
    check_batch(Ksuid::ZERO);
    check_batch(Nanoid::ZERO);
    check_batch(ObjectId::ZERO);
    check_batch(Xid::ZERO);
    check_batch(Scru128::ZERO);
    check_batch(Typeid::ZERO);
    check_batch(FirebasePushid::ZERO);
}

/// Fills the slice while a clock that stands is moved on.
fn fill(generator: &dyn Generator, clock: &ManualClock, out: &mut [RawId]) {
    let mut done = 0;
    while done < out.len() {
        match generator.try_fill(&mut out[done..]) {
            Ok(made) => done += made,
            Err(Error::Busy { wait_nanos, .. }) => clock.pass(wait_nanos),
            Err(error) => panic!("{error}"),
        }
    }
}

#[test]
fn every_minted_scheme_fills_batches_and_spells_them() {
    for scheme in minted().filter(|scheme| scheme.layout.ends_at().is_none_or(|end| end > NOW)) {
        let clock = clock_at(NOW);
        let generator = scheme.generator(&settings_at(scheme, &clock)).unwrap();
        let mut ids = [RawId::ZERO; 300];
        fill(&*generator, &clock, &mut ids);
        if scheme.facts.coordination != Coordination::SameInput {
            assert_eq!(ids.iter().collect::<HashSet<_>>().len(), ids.len(), "{}", scheme.name);
        }
        let mut lines = String::new();
        scheme.canonical().print_lines(ids, &mut lines).unwrap();
        for (id, line) in ids.iter().zip(lines.lines()) {
            assert_eq!(scheme.parse(line), Ok(*id), "{}", scheme.name);
        }
    }
}

#[test]
fn batches_and_single_ids_of_one_rule_are_the_same_ids() {
    // From one clock and one entropy; 5,000 ids borrow more than a millisecond of UUIDv7's counter.
    let (clock, pattern) = (clock_at(NOW), Seeded::new(7));
    let batch = Locked::with(Uuid7Rule::default(), &*clock, &pattern);
    let mut ids = [UuidV7::ZERO; 5000];
    batch.fill_ids(&mut ids).unwrap();
    assert!(ids.is_sorted_by(|a, b| a < b));
    let times: HashSet<_> = ids.iter().map(|id| id.time()).collect();
    assert!(times.len() > 1);

    let (one_by_one, together) = (
        Locked::with(UlidRule::default(), &*clock, Bytes(vec![0x5a])),
        Locked::with(UlidRule::default(), &*clock, Bytes(vec![0x5a])),
    );
    let mut ids = [Ulid::ZERO; 100];
    together.fill_ids(&mut ids).unwrap();
    for id in ids {
        assert_eq!(one_by_one.next_id().unwrap(), id);
    }
}

#[test]
fn one_owner_mints_in_order() {
    let clock = clock_at(NOW);
    let mut owned = Owned::with(UlidRule::default(), &*clock, PoolEntropy);
    let mut ids = [Ulid::ZERO; 1000];
    assert_eq!(owned.try_fill_ids(&mut ids), Ok(1000));
    assert!(ids.is_sorted_by(|a, b| a < b));
    assert!(owned.next_id().unwrap() > ids[999]);
}

#[test]
fn typed_generators_take_settings() {
    let settings = Settings { method: Some(mintage::Method::Random), ..Settings::default() };
    let generator = Typed::<UlidScheme>::new(&settings).unwrap();
    let mut ids = [Ulid::ZERO; 200];
    generator.fill_ids(&mut ids).unwrap();
    assert!(!ids.is_sorted(), "by chance one in 200! of runs");
    assert!(Typed::<SnowflakeTwitterScheme>::new(&Settings::default()).is_err());
}

type Snowflakes<'a> = CounterGenerator<Compiled<SnowflakeTwitterScheme>, &'a ManualClock>;

fn snowflakes(clock: &ManualClock) -> Snowflakes<'_> {
    snowflakes_by(clock, &Settings::default())
}

/// By these policies, for worker 1 and with sequences that begin at 0.
fn snowflakes_by<'a>(clock: &'a ManualClock, policies: &Settings) -> Snowflakes<'a> {
    let scheme = SnowflakeTwitter::SCHEME;
    let settings = Settings { worker: Some(1), start: mintage::Start::Zero, ..policies.clone() };
    CounterGenerator::with_clock(scheme.name, &scheme.layout, Compiled::default(), &settings, clock).unwrap()
}

#[test]
fn runs_of_threads_share_no_id_and_keep_each_threads_order() {
    let clock = clock_at(NOW);
    let generator = snowflakes(&clock);
    let ids = thread::scope(|scope| {
        let threads = [1, 7, 64, 5000].map(|size| {
            let (generator, clock) = (&generator, &clock);
            scope.spawn(move || {
                let mut runs = generator.runs(size);
                let mut ids = Vec::new();
                while ids.len() < 20_000 {
                    match runs.try_next_id() {
                        Ok(id) => ids.push(id),
                        Err(Error::Busy { wait_nanos, .. }) => clock.pass(wait_nanos),
                        Err(error) => panic!("{error}"),
                    }
                }
                assert!(ids.is_sorted_by(|a, b| a < b));
                ids
            })
        });
        threads.map(|thread| thread.join().unwrap()).concat()
    });
    assert_eq!(ids.iter().collect::<HashSet<_>>().len(), 80_000);
}

#[test]
fn a_run_is_not_used_beyond_its_tick() {
    let clock = clock_at(NOW);
    let generator = snowflakes(&clock);
    let mut runs = generator.runs(64);
    let first = runs.try_next_id().unwrap();
    assert_eq!(runs.try_next_id().unwrap().get(), first.get() + 1);
    clock.pass(1_000_000);
    let later = runs.try_next_id().unwrap();
    assert_eq!(later.field("timestamp"), first.field("timestamp").map(|tick| tick + 1));
    assert_eq!(later.field("sequence"), Some(0));
    // A run that is spent goes on in the generator's sequence, behind what others took.
    let mut others = generator.runs(10);
    assert_eq!(others.try_next_id().unwrap().field("sequence"), Some(64));
}

#[test]
fn a_run_ahead_of_the_clock_is_used_up() {
    for clock_back in [ClockBack::Absorb, ClockBack::Refuse] {
        let clock = clock_at(NOW);
        let policies = Settings { spent: Spent::Borrow, clock_back, ..Settings::default() };
        let generator = snowflakes_by(&clock, &policies);
        let mut runs = generator.runs(64);
        let ids: Vec<u64> = (0..3 * 4096).map(|_| runs.try_next_id().unwrap().get()).collect();
        // Each of the three ticks is counted through, the borrowed ones too.
        assert_eq!(ids.windows(2).filter(|pair| pair[0] + 1 != pair[1]).count(), 2);
    }
}

#[test]
fn a_run_follows_the_policy_when_the_clock_goes_back() {
    for (clock_back, goes_on) in
        [(ClockBack::Absorb, true), (ClockBack::Wait, false), (ClockBack::Refuse, false)]
    {
        let clock = clock_at(NOW);
        let generator = snowflakes_by(&clock, &Settings { clock_back, ..Settings::default() });
        let mut runs = generator.runs(64);
        let first = runs.try_next_id().unwrap();
        clock.set(NOW.plus(-5_000_000));
        let next = runs.try_next_id();
        assert_eq!(next.is_ok_and(|id| id.get() == first.get() + 1), goes_on, "{clock_back:?}");
    }
}
