//! Workers, epochs and time fields, and settings that a scheme has no use for.

use super::{NOW, clock_at, count, counter_schemes, minted, settings_at, tick};
use mintage::scheme::Setting;
use mintage::schemes::snowflake::{DEFAULT_BASE, custom_split};
use mintage::{Error, Field, Layout, Method, RawId, Role, Scheme, Settings, TimeBase, UnixNanos};

#[test]
fn a_worker_is_named_within_its_range_or_refused() {
    for scheme in minted().filter(|scheme| scheme.takes(Setting::Worker)) {
        let max = scheme.max_worker().unwrap();
        let make = |worker| {
            let settings = Settings { worker, ..settings_at(scheme, &clock_at(now(scheme))) };
            scheme.generator(&settings)
        };
        let name = scheme.name;
        assert_eq!(make(None).err(), Some(Error::WorkerMissing { scheme: name, max }));
        for worker in [max + 1, u64::MAX] {
            assert_eq!(make(Some(worker)).err(), Some(Error::WorkerRange { scheme: name, worker, max }));
        }
        for worker in [0, 1, max] {
            let id = make(Some(worker)).unwrap().next().unwrap();
            let found = scheme.layout.gather(scheme.mapping.to_layout(id), Role::Worker);
            assert_eq!(found, worker.into(), "{name}");
            assert_eq!(scheme.check(id), Ok(id));
        }
    }
}

#[test]
fn the_widest_workers_are_those_of_the_layouts() {
    let widest = |name: &str| Scheme::by_name(name).unwrap().max_worker();
    for name in ["snowflake", "snowflake-twitter", "snowflake-discord"] {
        assert_eq!(widest(name), Some(1023), "{name}");
    }
    assert_eq!(widest("snowflake-instagram"), Some(8191));
    assert_eq!(widest("sonyflake-v1"), Some(65_535));
    assert_eq!(widest("snowflake-mastodon"), None);
    assert_eq!(widest("uuid-v1"), None);
}

#[test]
fn the_error_of_a_missing_worker_says_what_to_do() {
    let error = Scheme::by_name("discord").unwrap().generator(&Settings::default()).err().unwrap();
    assert!(error.to_string().starts_with("snowflake-discord: no worker given (0 to 1023); "), "{error}");
}

#[test]
fn what_a_scheme_has_no_use_for_is_refused() {
    let split = Some(custom_split("40/10/13", DEFAULT_BASE).unwrap());
    for scheme in minted() {
        let name = scheme.name;
        let good = settings_at(scheme, &clock_at(now(scheme)));
        let error = |settings: Settings| scheme.generator(&settings).err();
        assert_eq!(error(good.clone()), None, "{name}");
        if !scheme.takes(Setting::Worker) {
            let refused = Some(Error::NoWorkerField { scheme: name });
            assert_eq!(error(Settings { worker: Some(0), ..good.clone() }), refused, "{name}");
        }
        for method in Method::ALL.iter().copied().filter(|method| !scheme.methods.contains(method)) {
            let refused = Some(Error::NoSuchMethod { scheme: name, method: method.name() });
            assert_eq!(error(Settings { method: Some(method), ..good.clone() }), refused, "{name}");
        }
        let unused = [
            (Setting::Split, "split", Settings { layout: split, ..good.clone() }),
            (Setting::Name, "namespace and name", Settings { name: Some((0, Vec::new())), ..good.clone() }),
            (Setting::Data, "custom data", Settings { data: Some(0), ..good.clone() }),
        ];
        for (taker, setting, given) in unused.into_iter().filter(|(taker, ..)| !scheme.takes(*taker)) {
            let refused = Some(Error::NotApplicable { scheme: name, setting });
            assert_eq!(error(given), refused, "{name}: {taker:?}");
        }
    }
    let read_only = Scheme::by_name("uuid-v2").unwrap().generator(&Settings::default()).err();
    assert_eq!(read_only, Some(Error::ReadOnly { scheme: "uuid-v2" }));
    let nameless = Scheme::by_name("uuid-v5").unwrap().generator(&Settings::default()).err();
    assert_eq!(nameless, Some(Error::NameMissing { scheme: "uuid-v5" }));
}

#[test]
fn time_begins_at_the_epoch() {
    for scheme in minted() {
        let Some(base) = scheme.layout.time_base() else { continue };
        let clock = clock_at(base.epoch);
        let first = scheme.generator(&settings_at(scheme, &clock)).unwrap().next().unwrap();
        assert_eq!((tick(scheme, first), scheme.time(first)), (0, Some(base.epoch)), "{}", scheme.name);

        let before = base.epoch.plus(-1);
        clock.set(before);
        let error = scheme.generator(&settings_at(scheme, &clock)).and_then(|g| g.next()).unwrap_err();
        let Error::BeforeEpoch { now, epoch, .. } = error else { panic!("{}: {error}", scheme.name) };
        assert_eq!((now, epoch), (before, base.epoch), "{}", scheme.name);
    }
}

/// A time that the scheme's field can hold.
fn now(scheme: &Scheme) -> UnixNanos {
    let has_ended = scheme.layout.ends_at().is_some_and(|ended| ended <= NOW);
    if has_ended { scheme.layout.ends_at().unwrap().plus(-1) } else { NOW }
}

/// When a scheme's generator ends: with the time field, or before it where tick and sequence share a word that is too short for
/// both. There the last tick of all is given up, so that "all used" has a value of its own.
fn ended(scheme: &Scheme) -> UnixNanos {
    let base = scheme.layout.time_base().unwrap();
    let free = 64 - scheme.layout.value_bits(Role::Counter);
    if scheme.takes(Setting::Policies) && scheme.layout.value_bits(Role::Timestamp(base)) >= free {
        return base.time_of((1 << free) - 1).unwrap();
    }
    scheme.layout.ends_at().unwrap()
}

#[test]
fn time_ends_with_an_error_and_not_with_a_wrap() {
    for scheme in minted() {
        let Some(base) = scheme.layout.time_base() else { continue };
        let name = scheme.name;
        let ended = ended(scheme);
        let last = ended.plus(-i128::from(base.tick_nanos));
        let check_late = |made: Result<RawId, Error>| match made {
            Err(Error::TimeFieldEnded { ended: told, .. }) => assert_eq!(told, ended, "{name}"),
            other => panic!("{name}: {other:?} after the end"),
        };

        let clock = clock_at(last);
        let settings = settings_at(scheme, &clock);
        let generator = scheme.generator(&settings).unwrap();
        let id = generator.next().unwrap();
        assert_eq!(scheme.time(id), Some(last), "{name}");
        assert_eq!(scheme.check(id), Ok(id));

        // The last nanosecond of the last tick, then one more: for a generator in use, and for one that is to be made.
        clock.pass(base.tick_nanos - 1);
        let in_use = generator.try_next().map(|id| scheme.time(id));
        // Those that use a tick once have no other.
        let has_none = matches!(in_use, Err(Error::TimeFieldEnded { .. } | Error::Busy { .. }));
        assert!(in_use == Ok(Some(last)) || has_none, "{name}: {in_use:?}");
        clock.pass(1);
        check_late(generator.try_next());
        check_late(scheme.generator(&settings).and_then(|fresh| fresh.try_next()));
        for year in [1, 1000, 1_000_000_000_000] {
            clock.set(ended.plus(year * 365 * 86_400 * 1_000_000_000));
            check_late(generator.try_next());
            check_late(scheme.generator(&settings).and_then(|fresh| fresh.try_next()));
        }
        // The clock was wrong: set right, the generator goes on behind its last id.
        clock.set(last);
        let right = generator.try_next().map(|id| scheme.time(id));
        assert!(right == Ok(Some(last)) || has_none && right.is_err(), "{name}: {right:?}");
    }
}

#[test]
fn the_last_tick_is_used_up_before_time_ends() {
    for scheme in counter_schemes() {
        let size = 1_usize << scheme.layout.value_bits(Role::Counter);
        if size > 1 << 16 {
            continue;
        }
        let base = scheme.layout.time_base().unwrap();
        let last = ended(scheme).plus(-i128::from(base.tick_nanos));
        let clock = clock_at(last);
        let settings = Settings { start: mintage::Start::Zero, ..settings_at(scheme, &clock) };
        let generator = scheme.generator(&settings).unwrap();
        let ids = super::take(&*generator, size + 1);
        let name = scheme.name;
        // From the first sequence that the scheme uses to the last that there is.
        assert_eq!(ids.len() as u128, size as u128 - count(scheme, ids[0]), "{name}");
        assert!(ids.iter().map(|id| count(scheme, *id)).is_sorted_by(|a, b| a < b), "{name}");
        let id = *ids.last().unwrap();
        assert_eq!((scheme.time(id), count(scheme, id)), (Some(last), size as u128 - 1), "{name}");
        clock.pass(base.tick_nanos);
        assert!(matches!(generator.try_next(), Err(Error::TimeFieldEnded { .. })), "{name}");
        clock.set(last);
        assert!(generator.try_next().is_err(), "{name}");
    }
}

#[test]
fn any_split_has_a_first_and_a_last_tick() {
    let scheme = Scheme::by_name("snowflake").unwrap();
    for (split, bits) in
        [("41/10/12", 41), ("t39/s8/w16", 39), ("w4/t45/s10", 45), ("t1/w62/s1", 1), ("s1/w1/t62", 62)]
    {
        let base = TimeBase { epoch: NOW, tick_nanos: 1000 };
        let layout = custom_split(split, base).unwrap();
        let ended = base.time_of(1 << bits).unwrap();
        assert_eq!(layout.ends_at(), Some(ended), "{split}");
        let clock = clock_at(ended.plus(-1));
        let settings = Settings { layout: Some(layout), worker: Some(1), ..settings_at(scheme, &clock) };
        let generator = scheme.generator(&settings).unwrap();
        let id = generator.next().unwrap();
        assert_eq!(layout.time(id), Some(ended.plus(-1000)), "{split}");
        assert_eq!(layout.gather(id, Role::Worker), 1, "{split}");
        clock.set(ended);
        assert_eq!(
            generator.try_next(),
            Err(Error::TimeFieldEnded { scheme: "snowflake", ended }),
            "{split}"
        );
    }
}

#[test]
fn a_split_that_cannot_be_minted_is_refused() {
    let scheme = Scheme::by_name("snowflake").unwrap();
    let time = Role::Timestamp(DEFAULT_BASE);
    let error = |fields: &[Field]| {
        let layout = Layout::try_new(fields.iter().map(|field| field.bits).sum(), fields).unwrap();
        let settings =
            Settings { layout: Some(layout), worker: Some(1), ..settings_at(scheme, &clock_at(NOW)) };
        scheme.generator(&settings).err().unwrap().to_string()
    };
    let (ticks, counter) = (Field::new("t", time, 41), Field::new("s", Role::Counter, 12));
    assert_eq!(error(&[counter]), "layout: minting needs one timestamp field in one piece");
    // Two parts of a worker with the sequence between them: left out, every machine would mint the same ids.
    let scattered =
        [ticks, Field::part("high", Role::Worker, 5, 5), counter, Field::part("low", Role::Worker, 5, 0)];
    assert_eq!(error(&scattered), "layout: minting needs one worker field in one piece");
    assert_eq!(error(&[ticks, counter]), "snowflake: has no worker field; leave the worker out");
}

#[test]
fn an_epoch_in_the_future_is_refused_with_both_times() {
    let scheme = Scheme::by_name("snowflake").unwrap();
    let epoch = UnixNanos::parse("2027-01-01T00:00:00Z").unwrap();
    let layout = custom_split("41/10/12", TimeBase { epoch, tick_nanos: 1_000_000 }).unwrap();
    let settings = Settings { layout: Some(layout), worker: Some(1), ..settings_at(scheme, &clock_at(NOW)) };
    let error = scheme.generator(&settings).err().unwrap();
    assert_eq!(error, Error::BeforeEpoch { scheme: "snowflake", now: NOW, epoch });
    assert_eq!(
        error.to_string(),
        "snowflake: the clock says 2026-11-30T00:00:00Z, before the epoch 2027-01-01T00:00:00Z: no id has such a time"
    );
}
