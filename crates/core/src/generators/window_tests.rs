//! The leased engine by a clock that stands still.
#![expect(
    clippy::unwrap_used,
    reason = "a test says what it expects by stopping, also in what its functions share"
)]

use super::*;
use crate::generators::counter::Parts;
use crate::layout::TimeBase;
use crate::schemes::snowflake::custom_split;
use crate::time::ManualClock;

const MS: u64 = 1_000_000;
const EPOCH_MS: i64 = 1_000_000_000_000;
/// Four ids a tick of a millisecond.
const SPLIT: &str = "41/10/2";

const TERMS: WindowTerms = WindowTerms {
    reserve_nanos: 15 * MS,
    lag_nanos: 5 * MS,
    lead_nanos: 3 * MS,
    skew_nanos: 5 * MS,
    spent: Spent::Wait,
    start: Start::Zero,
};

fn generator(
    clock: &ManualClock,
    terms: WindowTerms,
    from: u64,
    until: u64,
) -> WindowGenerator<Parts, &ManualClock> {
    let layout = custom_split(SPLIT, TimeBase::millis_since(EPOCH_MS)).unwrap();
    let source = Parts::of(&layout).unwrap();
    let window = Window { worker: 7, from, until };
    WindowGenerator::new("snowflake", &layout, source, &terms, window, time_of(clock, 0), clock).unwrap()
}

/// A clock that shows this tick; its boottime clock began long before.
fn clock_at(tick: i64) -> ManualClock {
    let clock = ManualClock::new(UnixNanos::from_millis(0));
    clock.pass(12_345 * MS);
    clock.set(UnixNanos::from_millis(EPOCH_MS + tick));
    clock
}

/// The store's time, which is `ahead` nanoseconds ahead of the clock.
fn time_of(clock: &ManualClock, ahead: i128) -> StoreTime {
    let boottime = clock.boottime_nanos();
    StoreTime { now: clock.now().plus(ahead), sent: boottime, received: boottime }
}

fn tick_of(id: RawId) -> u64 {
    low_u64(id.low()) >> 12
}

/// Ticks of the ids that can be had without waiting.
fn ticks(generator: &impl Generator) -> Vec<u64> {
    core::iter::from_fn(|| generator.try_next().ok().map(tick_of)).take(1_000).collect()
}

#[test]
fn ids_lie_within_the_window_and_carry_the_worker() {
    let clock = clock_at(100);
    let generator = generator(&clock, TERMS, 100, 130);
    let id = generator.try_next().unwrap();
    assert_eq!((tick_of(id), id.low() >> 2 & 1023), (100, 7));
    clock.pass(5 * MS);
    assert_eq!(ticks(&generator), [105; 4]);
    clock.pass(1_000 * MS);
    assert!(matches!(generator.try_next(), Err(Error::WindowEnded { worker: 7, .. })));
    generator.extend(2_000);
    assert_eq!(tick_of(generator.try_next().unwrap()), 1_105);
}

#[test]
fn minting_begins_at_from_though_the_clock_is_not_there_yet() {
    let clock = clock_at(100);
    assert_eq!(ticks(&generator(&clock, TERMS, 102, 130)), [102; 4]);
}

#[test]
fn steps_of_the_wall_clock_change_nothing() {
    let clock = clock_at(100);
    let generator = generator(&clock, TERMS, 100, 130);
    for wall in [0, EPOCH_MS + 10_000_000, -1] {
        clock.set(UnixNanos::from_millis(wall));
        assert_eq!(tick_of(generator.try_next().unwrap()), 100);
    }
}

#[test]
fn a_spent_sequence_waits_fails_or_borrows_within_the_window() {
    let clock = clock_at(100);
    let waits = generator(&clock, TERMS, 100, 130);
    assert_eq!(ticks(&waits), [100; 4]);
    assert!(matches!(waits.try_next(), Err(Error::Busy { cause: Cause::Spent, wait_nanos: MS, .. })));
    let fails = generator(&clock, WindowTerms { spent: Spent::Fail, ..TERMS }, 100, 130);
    assert_eq!(ticks(&fails), [100; 4]);
    assert!(matches!(fails.try_next(), Err(Error::Refused { cause: Cause::Spent, wait_nanos: MS, .. })));
    let borrows = generator(&clock, WindowTerms { spent: Spent::Borrow, ..TERMS }, 100, 130);
    assert_eq!(ticks(&borrows).len(), 4 * 4);
    let narrow = generator(&clock, WindowTerms { spent: Spent::Borrow, reserve_nanos: 0, ..TERMS }, 100, 102);
    assert_eq!(ticks(&narrow), [100, 100, 100, 100, 101, 101, 101, 101]);
}

#[test]
fn a_slow_minter_lasts_for_the_window_and_the_lag_and_not_longer() {
    let clock = clock_at(100);
    let generator = generator(&clock, TERMS, 100, 130);
    let mut last = 0;
    for real in 100..135 {
        let tick = tick_of(generator.try_next().unwrap());
        assert!(tick >= last && tick < 130 && tick + 5 >= real, "tick {tick} at {real} after {last}");
        last = tick;
        clock.pass(MS);
    }
    assert!(matches!(generator.try_next(), Err(Error::WindowEnded { .. })));
    assert_eq!(last, 129);
}

#[test]
fn a_minter_at_full_rate_lasts_as_long() {
    let clock = clock_at(100);
    let generator = generator(&clock, TERMS, 100, 130);
    let mut minted = Vec::new();
    let mut longest_without = 0;
    let mut last_real = 100;
    for real in 100..135 {
        let some = ticks(&generator);
        if !some.is_empty() {
            longest_without = longest_without.max(real - last_real);
            last_real = real;
        }
        minted.extend(some);
        clock.pass(MS);
    }
    assert_eq!(minted.len(), 30 * 4);
    // In 20 ticks of real time 15 begin.
    assert!(longest_without <= 2 && last_real >= 132, "{longest_without} {last_real}");
}

#[test]
fn a_window_that_ended_longer_ago_than_the_lag_is_not_used() {
    let clock = clock_at(100);
    let generator = generator(&clock, TERMS, 100, 130);
    clock.pass(35 * MS);
    assert!(generator.try_next().is_err());
    assert_eq!(generator.close(), Some(Closed { last: None }));
}

#[test]
fn waits_are_as_long_as_the_dilated_tick_needs() {
    let clock = clock_at(115);
    let generator = generator(&clock, TERMS, 100, 130);
    let mut slept = 0;
    for _ in 0..40 {
        match generator.try_next() {
            Ok(_) => {}
            Err(Error::Busy { wait_nanos, .. }) => {
                slept += wait_nanos;
                clock.pass(wait_nanos);
                assert!(generator.try_next().is_ok(), "after {slept}");
            }
            Err(error) => panic!("{error}"),
        }
    }
    assert!(slept > 0);
}

#[test]
fn closing_tells_the_last_tick_and_nothing_follows() {
    let clock = clock_at(100);
    let used = generator(&clock, TERMS, 100, 130);
    let mut run = used.runs(3);
    assert!(run.try_next().is_ok());
    assert_eq!(used.close(), Some(Closed { last: Some(100) }));
    assert_eq!(used.close(), None);
    used.extend(500);
    assert_eq!(used.try_next(), Err(Error::Released { scheme: "snowflake", worker: 7 }));
    assert_eq!(run.try_next(), Err(Error::Released { scheme: "snowflake", worker: 7 }));
    let unused = generator(&clock, TERMS, 0, 130);
    assert_eq!(unused.close(), Some(Closed { last: None }));
}

#[test]
fn the_tick_clock_moves_only_outside_of_what_a_reading_allows() {
    let clock = clock_at(100);
    let generator = generator(&clock, TERMS, 100, 1_000);
    assert_eq!(tick_of(generator.try_next().unwrap()), 100);
    let wide = |ahead: i128, half: u64| {
        let StoreTime { now, sent, .. } = time_of(&clock, ahead);
        StoreTime { now, sent: sent - half, received: sent + half }
    };
    assert_eq!(generator.anchor(wide(i128::from(2 * MS), 3 * MS)), 0);
    assert_eq!(generator.anchor(wide(i128::from(50 * MS), 6 * MS)), 0);
    assert_eq!(generator.anchor(time_of(&clock, i128::from(20 * MS))), 20_000_000);
    assert_eq!(ticks(&generator), [120; 4]);
    // Back: the last tick is kept, and the next begins when time has passed.
    assert_eq!(generator.anchor(time_of(&clock, 0)), -20_000_000);
    assert!(matches!(generator.try_next(), Err(Error::Busy { .. })));
    clock.pass(MS);
    assert_eq!(ticks(&generator), [121; 4]);
    clock.pass(50 * MS);
    assert_eq!(ticks(&generator), [151; 4]);
}

#[test]
fn runs_give_up_what_lies_behind_the_present() {
    let clock = clock_at(100);
    let generator = generator(&clock, TERMS, 100, 130);
    let mut run = generator.runs(3);
    assert_eq!(run.try_next().map(tick_of), Ok(100));
    clock.pass(MS);
    assert_eq!([run.try_next().map(tick_of), run.try_next().map(tick_of)], [Ok(101); 2]);
    // While time is dilated, a tick that isn't spent goes on.
    clock.pass(14 * MS);
    assert_eq!(run.try_next().map(tick_of), Ok(115));
    clock.pass(3 * MS);
    assert_eq!(run.try_next().map(tick_of), Ok(115));
}

#[test]
fn workers_and_windows_are_never_masked() {
    let clock = clock_at(100);
    let layout = custom_split(SPLIT, TimeBase::millis_since(EPOCH_MS)).unwrap();
    let source = Parts::of(&layout).unwrap();
    let window = Window { worker: 1_024, from: 0, until: 10 };
    let made = WindowGenerator::new("s", &layout, source, &TERMS, window, time_of(&clock, 0), &clock);
    assert_eq!(made.err(), Some(Error::WorkerRange { scheme: "s", worker: 1_024, max: 1_023 }));
    let end = (1 << 41) - 1;
    let near = clock_at(end);
    let generator = generator(&near, WindowTerms { reserve_nanos: 0, ..TERMS }, 5, u64::MAX);
    assert_eq!(generator.until(), 1 << 41);
    assert_eq!(ticks(&generator).len(), 4);
    near.pass(MS);
    assert!(matches!(generator.try_next(), Err(Error::TimeFieldEnded { .. })));
}

proptest::proptest! {
    /// The usual case is a short cut, and never another way.
    #[test]
    fn the_usual_case_is_what_a_closer_look_gives(
        moves in proptest::collection::vec((0..4_u64, 0..3_000_000_u64, 1..6_u64), 1..200),
        window in 1..60_u64,
    ) {
        let clock = clock_at(100);
        let (quick, closer) = (generator(&clock, TERMS, 100, 100 + window), generator(&clock, TERMS, 100, 100 + window));
        for (what, nanos, want) in moves {
            clock.pass(nanos);
            match what {
                0 => {
                    let until = quick.until() + nanos / MS;
                    quick.extend(until);
                    closer.extend(until);
                }
                1 => {
                    let time = time_of(&clock, i128::from(nanos) * 10 - 15_000_000);
                    proptest::prop_assert_eq!(quick.anchor(time), closer.anchor(time));
                }
                _ => {}
            }
            for _ in 0..2 {
                proptest::prop_assert_eq!(quick.claim(want), closer.claim_anyhow(want));
            }
        }
        proptest::prop_assert_eq!(quick.close(), closer.close());
        proptest::prop_assert_eq!(quick.claim(1), closer.claim_anyhow(1));
    }
}
