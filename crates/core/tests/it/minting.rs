//! What minted ids look like: unique, in order where the scheme says so, placed where the settings say.

use crate::seeded::{Bytes, Seeded};
use mintage::generators::monotonic::MonotonicRule;
use mintage::generators::rule::Rule;
use mintage::scheme::{Coordination, Setting, Sortable};
use mintage::schemes::firebase_pushid::FirebasePushidScheme;
use mintage::schemes::scru128::Scru128Rule;
use mintage::{
    Clock, Draw, Entropy, Error, FirebasePushid, Generator, ManualClock, Method, RawId, SCHEMES, Scheme,
    Scru128, Settings, Start, TimeBase, UnixNanos,
};
use std::collections::BTreeSet;
use std::sync::Arc;

/// 2026-11-30T00:00:00Z.
const NOW: UnixNanos = UnixNanos::from_secs(1_795_996_800);
const SECOND: u64 = 1_000_000_000;

/// Settings that a scheme needs to mint, with this clock.
fn settings(scheme: &Scheme, clock: &Arc<ManualClock>) -> Settings {
    // The published epoch of uid-generator has run out.
    let layout = (scheme.name == "uid-generator").then(|| scheme.layout.with_time_base(LATER).unwrap());
    Settings {
        worker: scheme.max_worker(),
        name: scheme.takes(Setting::Name).then(|| (0, b"name".to_vec())),
        layout,
        clock: Some(clock.clone() as Arc<dyn Clock>),
        entropy: Some(Arc::new(Seeded::new(7)) as Arc<dyn Entropy>),
        ..Settings::default()
    }
}

/// Seconds since 2025-01-01T00:00:00Z.
const LATER: TimeBase = TimeBase::seconds_since(1_735_689_600);

fn clock() -> Arc<ManualClock> {
    Arc::new(ManualClock::new(NOW))
}

fn scheme(name: &str) -> &'static Scheme {
    Scheme::by_name(name).unwrap()
}

/// `count` ids, the clock moved on where one has to wait.
fn mint(generator: &dyn Generator, clock: &ManualClock, count: usize) -> Vec<RawId> {
    let mut ids = Vec::new();
    while ids.len() < count {
        match generator.try_next() {
            Ok(id) => ids.push(id),
            Err(error) => clock.pass(error.wait_nanos().unwrap_or_else(|| panic!("{error}"))),
        }
    }
    ids
}

#[test]
fn ids_are_unique_and_in_the_order_that_the_scheme_states() {
    for scheme in SCHEMES.iter().filter(|scheme| scheme.generator.is_some()) {
        let methods = scheme.methods.iter().copied().map(Some);
        let methods = if scheme.methods.is_empty() { vec![None] } else { methods.collect() };
        for method in methods {
            let clock = clock();
            let settings = Settings { method, ..settings(scheme, &clock) };
            let generator = scheme.generator(&settings).unwrap_or_else(|error| panic!("{error}"));
            let ids = mint(&*generator, &clock, 2000);
            let different: BTreeSet<RawId> = ids.iter().copied().collect();
            let is_constant = scheme.facts.coordination == Coordination::SameInput;
            let expected = if is_constant { 1 } else { ids.len() };
            assert_eq!(different.len(), expected, "{}, {method:?}", scheme.name);
            // Unless the method is to give order up.
            if scheme.facts.sortable == Sortable::Strictly && method != Some(Method::Random) {
                assert!(ids.is_sorted(), "{}, {method:?}", scheme.name);
            }
            for id in different {
                assert_eq!(scheme.parse(scheme.print(id).as_str()), Ok(id), "{}", scheme.name);
            }
        }
    }
}

#[test]
fn custom_bits_give_one_id() {
    let scheme = scheme("uuid-v8");
    let settings = Settings { data: Some(u128::MAX), ..Settings::default() };
    let generator = scheme.generator(&settings).unwrap();
    let ids = mint(&*generator, &clock(), 2);
    assert_eq!(scheme.print(ids[0]).as_str(), "ffffffff-ffff-8fff-bfff-ffffffffffff");
    assert_eq!(ids[0], ids[1]);
}

/// The first 16 bits of each.
fn prefixes(ids: &[RawId]) -> Vec<u128> {
    ids.iter().map(|id| id.bits(112, 16)).collect()
}

#[test]
fn blocks_of_a_counter_share_a_prefix_and_come_round() {
    let scheme = scheme("sequential-uuid-counter");
    let blocks = |first| Settings { block_size: Some(4), block_count: Some(3), first, ..Settings::default() };
    let ids = mint(&*scheme.generator(&blocks(None)).unwrap(), &clock(), 14);
    assert_eq!(prefixes(&ids), [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 0, 0]);
    // A batch is counted as single ids are.
    let generator = scheme.generator(&blocks(Some(6))).unwrap();
    let mut batch = [RawId::ZERO; 8];
    assert_eq!(generator.try_fill(&mut batch), Ok(8));
    assert_eq!(prefixes(&batch), [1, 1, 2, 2, 2, 2, 0, 0]);
    assert_eq!(prefixes(&mint(&*generator, &clock(), 3)), [0, 0, 1]);
    for (size, count) in [(0, 3), (4, 0), (4, 65_537)] {
        let settings = Settings { block_size: Some(size), block_count: Some(count), ..Settings::default() };
        let error = scheme.generator(&settings).err();
        assert_eq!(error, Some(Error::FieldRange { field: "block", bits: 16 }));
    }
}

#[test]
fn intervals_of_time_share_a_prefix_and_come_round() {
    let scheme = scheme("sequential-uuid-time");
    let clock = clock();
    let settings = Settings {
        interval_nanos: Some(10 * SECOND),
        block_count: Some(3),
        clock: Some(clock.clone() as Arc<dyn Clock>),
        ..Settings::default()
    };
    let generator = scheme.generator(&settings).unwrap();
    let mut found = Vec::new();
    for _ in 0..8 {
        found.extend(prefixes(&mint(&*generator, &clock, 1)));
        clock.pass(5 * SECOND);
    }
    // NOW is a multiple of 30 s.
    assert_eq!(found, [0, 0, 1, 1, 2, 2, 0, 0]);
    // A minute each unless another length is set.
    let settings = Settings { clock: Some(clock.clone() as Arc<dyn Clock>), ..Settings::default() };
    let minute = clock.now().0 / 60_000_000_000 % 65_536;
    let ids = mint(&*scheme.generator(&settings).unwrap(), &clock, 1);
    assert_eq!(prefixes(&ids), [u128::try_from(minute).unwrap()]);
}

#[test]
fn hash_prefixes_spread_over_all_buckets_and_no_others() {
    let scheme = scheme("hash-prefixed");
    for buckets in [1, 7, 16] {
        let clock = clock();
        let settings = Settings { buckets: Some(buckets), ..settings(scheme, &clock) };
        let ids = mint(&*scheme.generator(&settings).unwrap(), &clock, 4000);
        let mut counts = vec![0; usize::try_from(buckets).unwrap()];
        for id in ids {
            counts[usize::try_from(scheme.value(id, 0)).unwrap()] += 1;
            assert_eq!(scheme.time(id), Some(NOW));
        }
        let mean = 4000 / counts.len();
        assert!(counts.iter().all(|count| (mean / 2..=mean * 2).contains(count)), "{counts:?}");
    }
    for buckets in [0, 65_537] {
        let settings = Settings { buckets: Some(buckets), ..Settings::default() };
        let error = scheme.generator(&settings).err();
        assert_eq!(error, Some(Error::FieldRange { field: "bucket", bits: 16 }));
    }
}

#[test]
fn a_reversed_counter_begins_where_it_is_told_to() {
    let scheme = scheme("spanner-bit-reversed");
    for (first, counts) in
        [(None, [1, 2, 3]), (Some(0), [0, 1, 2]), (Some(1 << 40), [1 << 40, (1 << 40) + 1, (1 << 40) + 2])]
    {
        let generator = scheme.generator(&Settings { first, ..Settings::default() }).unwrap();
        let ids = mint(&*generator, &clock(), 3);
        let found: Vec<u128> = ids.iter().map(|id| scheme.value(*id, 1)).collect();
        assert_eq!(found, counts);
        assert!(ids.iter().all(|id| id.fits(63)));
    }
    let error = scheme.generator(&Settings { first: Some(1 << 63), ..Settings::default() }).err();
    assert_eq!(error, Some(Error::FieldRange { field: "counter", bits: 63 }));
}

#[test]
fn uid_generator_is_refused_by_its_own_epoch_and_goes_on_with_another() {
    let scheme = scheme("uid-generator");
    let clock = clock();
    let good = settings(scheme, &clock);
    let error = scheme.generator(&Settings { layout: None, ..good.clone() }).err().unwrap();
    let ended = UnixNanos::parse("2024-11-20T13:24:16Z").unwrap();
    assert_eq!(error, Error::TimeFieldEnded { scheme: "uid-generator", ended });
    assert!(error.to_string().contains("ended at 2024-11-20T13:24:16Z; choose a later epoch"), "{error}");

    let layout = good.layout.unwrap();
    let id = scheme.generator(&good).unwrap().next().unwrap();
    assert_eq!(layout.time(id), Some(NOW));
    assert_eq!(layout.fields().iter().map(|field| field.bits).collect::<Vec<_>>(), [1, 28, 22, 13]);
}

#[test]
fn yitter_leaves_five_sequence_values_to_others() {
    let scheme = scheme("yitter-idgenerator");
    for start in [Start::Zero, Start::Rolling] {
        let clock = clock();
        let settings = Settings { start, ..settings(scheme, &clock) };
        let ids = mint(&*scheme.generator(&settings).unwrap(), &clock, 2000);
        let sequences: BTreeSet<u128> = ids.iter().map(|id| scheme.value(*id, 2)).collect();
        let all: Vec<u128> = sequences.into_iter().collect();
        assert_eq!(all, (5..64).collect::<Vec<_>>(), "{start:?}");
    }
}

#[test]
fn a_row_id_has_its_tick_for_itself() {
    let scheme = scheme("cockroach-unique-rowid");
    let clock = clock();
    let generator = scheme.generator(&settings(scheme, &clock)).unwrap();
    assert!(generator.try_next().is_ok());
    let error = generator.try_next().unwrap_err();
    assert_eq!(error.wait_nanos(), Some(10_000), "{error}");
    let ids = mint(&*generator, &clock, 500);
    let ticks: Vec<u128> = ids.iter().map(|id| scheme.value(*id, 1)).collect();
    assert!(ticks.is_sorted_by(|a, b| a < b));
    assert!(ids.iter().all(|id| scheme.value(*id, 2) == 32_767));
}

#[test]
fn a_counter_of_a_process_gives_each_value_once_a_second() {
    for name in ["xid", "objectid"] {
        let scheme = scheme(name);
        let clock = clock();
        let generator = scheme.generator(&settings(scheme, &clock)).unwrap();
        let mut seen = vec![false; 1 << 24];
        let mut batch = vec![RawId::ZERO; 1 << 12];
        let mut count = 0;
        let mut check = |ids: &[RawId]| {
            for id in ids {
                let counter = usize::try_from(id.bits(0, 24)).unwrap();
                assert!(!seen[counter], "{name}: {counter} came twice");
                seen[counter] = true;
                count += 1;
            }
        };
        let error = loop {
            match generator.try_fill(&mut batch) {
                Ok(made) => check(&batch[..made]),
                Err(error) => break error,
            }
        };
        assert_eq!(count, 1 << 24, "{name}");
        assert_eq!(error.wait_nanos(), Some(SECOND), "{name}: {error}");
        clock.pass(SECOND);
        let next = generator.try_next().unwrap();
        assert_eq!(scheme.time(next), Some(NOW.plus(SECOND.into())), "{name}");
    }
}

/// Random bytes that are all `byte`.
fn scru128(rule: &mut Scru128Rule, millis: i64, byte: u8) -> (i64, u128, u128, u128) {
    let now = NOW.plus(i128::from(millis) * 1_000_000);
    let id: Scru128 = rule.next_id(now, &mut Draw::new(&Bytes(vec![byte]))).unwrap();
    let value = |name| id.field(name).unwrap();
    let after = (id.time().unwrap().0 - NOW.0) / 1_000_000;
    (i64::try_from(after).unwrap(), value("counter_hi"), value("counter_lo"), value("entropy"))
}

#[test]
fn scru128_renews_each_part_as_its_specification_says() {
    let mut rule = Scru128Rule::NEW;
    // All parts are drawn first; in one millisecond the low counter rises; entropy is new each time.
    assert_eq!(scru128(&mut rule, 5, 0x11), (5, 0x11_1111, 0x11_1111, 0x1111_1111));
    assert_eq!(scru128(&mut rule, 5, 0x22), (5, 0x11_1111, 0x11_1112, 0x2222_2222));
    // The low counter is drawn each millisecond, the high one when a second has gone by since it was, also over the turn of one.
    assert_eq!(scru128(&mut rule, 6, 0x33), (6, 0x11_1111, 0x33_3333, 0x3333_3333));
    assert_eq!(scru128(&mut rule, 1004, 0x44), (1004, 0x11_1111, 0x44_4444, 0x4444_4444));
    assert_eq!(scru128(&mut rule, 1005, 0x55), (1005, 0x55_5555, 0x55_5555, 0x5555_5555));
    // A clock that went back changes nothing but entropy.
    assert_eq!(scru128(&mut rule, 900, 0x66), (1005, 0x55_5555, 0x55_5556, 0x6666_6666));
    // A spent low counter carries into the high one.
    assert_eq!(scru128(&mut rule, 1006, 0xff), (1006, 0x55_5555, 0xff_ffff, 0xffff_ffff));
    assert_eq!(scru128(&mut rule, 1006, 0x77), (1006, 0x55_5556, 0, 0x7777_7777));
    // When both are spent, the next millisecond is borrowed: the high counter is zero and the low one drawn.
    assert_eq!(scru128(&mut rule, 3000, 0xff), (3000, 0xff_ffff, 0xff_ffff, 0xffff_ffff));
    assert_eq!(scru128(&mut rule, 3000, 0x01), (3001, 0, 0x01_0101, 0x0101_0101));
    assert_eq!(scru128(&mut rule, 3001, 0x02), (3001, 0, 0x01_0102, 0x0202_0202));
}

#[test]
fn a_push_id_rises_within_its_millisecond_and_when_the_clock_goes_back() {
    let last = FirebasePushid::parse("-JhLeOlG-----------z").unwrap();
    let then = last.time().unwrap();
    let next = |method, now| {
        let mut rule = MonotonicRule::<FirebasePushidScheme>::after(method, last);
        rule.next_id(now, &mut Draw::new(&Bytes(vec![0xff]))).map(|id| id.to_string())
    };
    assert_eq!(next(Method::Monotonic, then).unwrap(), "-JhLeOlG----------0-");
    assert_eq!(next(Method::Monotonic, then.plus(-5_000_000_000)).unwrap(), "-JhLeOlG----------0-");
    assert_eq!(next(Method::Monotonic, then.plus(1_000_000)).unwrap(), "-JhLeOlHzzzzzzzzzzzz");
    let full = FirebasePushid::parse("-JhLeOlGzzzzzzzzzzzz").unwrap();
    let mut rule = MonotonicRule::<FirebasePushidScheme>::after(Method::Strict, full);
    let error = rule.next_id(then, &mut Draw::new(&Bytes(vec![0])));
    assert_eq!(error, Err(Error::Overflow { scheme: "firebase-pushid" }));
}
