//! What a generator with a worker does when a tick is spent and when the clock steps back.

use super::{NOW, clock_at, take};
use mintage::error::Cause;
use mintage::generators::MAX_LEAD_NANOS;
use mintage::schemes::snowflake::{DEFAULT_BASE, custom_split};
use mintage::{
    Clock, ClockBack, Error, Generator, Layout, ManualClock, RawId, Role, Scheme, Settings, Spent, Start,
};
use std::sync::Arc;

const MILLI: u64 = 1_000_000;

/// Four ids a millisecond, so that ticks are soon spent.
fn layout() -> Layout {
    custom_split("t41/w10/s2", DEFAULT_BASE).unwrap()
}

fn generator(clock: &Arc<ManualClock>, spent: Spent, clock_back: ClockBack) -> Box<dyn Generator> {
    let settings = Settings {
        layout: Some(layout()),
        worker: Some(5),
        spent,
        clock_back,
        start: Start::Zero,
        clock: Some(clock.clone() as Arc<dyn Clock>),
        ..Settings::default()
    };
    Scheme::by_name("snowflake").unwrap().generator(&settings).unwrap()
}

/// Ticks since `NOW`, and the sequence.
fn places(ids: &[RawId]) -> Vec<(i128, u128)> {
    let base = DEFAULT_BASE;
    ids.iter()
        .map(|id| {
            let time = layout().time(*id).unwrap();
            ((time.0 - NOW.0) / i128::from(base.tick_nanos), layout().gather(*id, Role::Counter))
        })
        .collect()
}

#[test]
fn a_spent_tick_is_waited_for() {
    let clock = clock_at(NOW.plus(400_000));
    let generator = generator(&clock, Spent::Wait, ClockBack::Absorb);
    assert_eq!(places(&take(&*generator, 10)), [(0, 0), (0, 1), (0, 2), (0, 3)]);
    let busy = Error::Busy { scheme: "snowflake", cause: Cause::Spent, wait_nanos: 600_000 };
    assert_eq!(generator.try_next(), Err(busy));
    assert_eq!(busy.wait_nanos(), Some(600_000));
    clock.pass(599_999);
    assert!(generator.try_next().is_err());
    clock.pass(1);
    assert_eq!(places(&take(&*generator, 10)), [(1, 0), (1, 1), (1, 2), (1, 3)]);
}

#[test]
fn a_spent_tick_fails_when_told_to() {
    let clock = clock_at(NOW);
    let generator = generator(&clock, Spent::Fail, ClockBack::Absorb);
    assert_eq!(take(&*generator, 10).len(), 4);
    let refused = Error::Refused { scheme: "snowflake", cause: Cause::Spent, wait_nanos: MILLI };
    assert_eq!(generator.try_next(), Err(refused));
    // The blocking call doesn't wait for what was refused.
    assert_eq!(generator.next(), Err(refused));
    clock.pass(MILLI);
    assert!(generator.next().is_ok());
}

#[test]
fn a_spent_tick_borrows_up_to_the_lead() {
    let clock = clock_at(NOW);
    let generator = generator(&clock, Spent::Borrow, ClockBack::Absorb);
    let lead = MAX_LEAD_NANOS / MILLI;
    let ids = take(&*generator, 10_000);
    assert_eq!(ids.len() as u64, 4 * (lead + 1));
    assert!(ids.is_sorted_by(|a, b| a < b));
    assert_eq!(places(&ids[ids.len() - 1..]), [(i128::from(lead), 3)]);
    let busy = Error::Busy { scheme: "snowflake", cause: Cause::Spent, wait_nanos: MILLI };
    assert_eq!(generator.try_next(), Err(busy));
    clock.pass(MILLI);
    assert_eq!(places(&take(&*generator, 10)).len(), 4);
}

#[test]
fn a_step_back_is_refused_until_the_clock_has_caught_up() {
    for (clock_back, is_busy) in [(ClockBack::Refuse, false), (ClockBack::Wait, true)] {
        let clock = clock_at(NOW);
        let generator = generator(&clock, Spent::Wait, clock_back);
        assert_eq!(places(&take(&*generator, 1)), [(0, 0)]);
        clock.set(NOW.plus(-3_600_000_000_000));
        let (scheme, cause, wait_nanos) = ("snowflake", Cause::ClockBehind, 3_600_000_000_000);
        let expected = if is_busy {
            Error::Busy { scheme, cause, wait_nanos }
        } else {
            Error::Refused { scheme, cause, wait_nanos }
        };
        assert_eq!(generator.try_next(), Err(expected));
        clock.pass(wait_nanos - 1);
        assert!(generator.try_next().is_err());
        clock.pass(1);
        assert_eq!(places(&take(&*generator, 10)), [(0, 1), (0, 2), (0, 3)]);
    }
}

#[test]
fn a_step_back_is_absorbed_at_the_pace_of_real_time() {
    let clock = clock_at(NOW);
    clock.pass(10);
    let generator = generator(&clock, Spent::Wait, ClockBack::Absorb);
    assert_eq!(take(&*generator, 1).len(), 1);
    clock.set(NOW.plus(-3_600_000_000_000));
    // The rest of the tick, as if nothing had happened.
    assert_eq!(places(&take(&*generator, 10)), [(0, 1), (0, 2), (0, 3)]);
    let mut ids = Vec::new();
    for _ in 0..50 {
        let error = generator.try_next().unwrap_err();
        let Error::Busy { cause: Cause::Spent, wait_nanos, .. } = error else { panic!("{error}") };
        assert!((1..=MILLI).contains(&wait_nanos));
        clock.pass(wait_nanos);
        ids.extend(take(&*generator, 10));
    }
    assert_eq!(ids.len(), 200);
    assert!(ids.is_sorted_by(|a, b| a < b));
    assert_eq!(places(&ids[199..]), [(50, 3)]);
    // Set right, the clock leads again.
    clock.set(NOW.plus(3_600_000_000_000));
    assert_eq!(places(&take(&*generator, 1)), [(3_600_000, 0)]);
}

#[test]
fn a_step_back_shorter_than_the_lead_is_taken_for_one() {
    let clock = clock_at(NOW);
    let generator = generator(&clock, Spent::Borrow, ClockBack::Refuse);
    assert_eq!(places(&take(&*generator, 5)), [(0, 0), (0, 1), (0, 2), (0, 3), (1, 0)]);
    clock.set(NOW.plus(-900_000_000));
    assert_eq!(places(&take(&*generator, 1)), [(1, 1)]);
    clock.set(NOW.plus(-1_200_000_000));
    assert!(matches!(generator.try_next(), Err(Error::Refused { cause: Cause::ClockBehind, .. })));
}

#[test]
fn a_clock_before_the_epoch_is_a_clock_that_went_back() {
    let clock = clock_at(NOW);
    let generator = generator(&clock, Spent::Wait, ClockBack::Refuse);
    let first = generator.try_next().unwrap();
    clock.set(DEFAULT_BASE.epoch.plus(-1));
    assert!(matches!(generator.try_next(), Err(Error::Refused { cause: Cause::ClockBehind, .. })));
    clock.set(NOW);
    assert!(generator.try_next().unwrap() > first);
}

#[test]
fn batches_are_cut_at_the_end_of_a_tick_and_filled_by_waiting() {
    let clock = clock_at(NOW);
    let by_hand = generator(&clock, Spent::Wait, ClockBack::Absorb);
    let mut out = [RawId::ZERO; 3];
    assert_eq!(by_hand.try_fill(&mut []), Ok(0));
    assert_eq!(by_hand.try_fill(&mut out), Ok(3));
    assert_eq!(places(&out), [(0, 0), (0, 1), (0, 2)]);
    assert_eq!(by_hand.try_fill(&mut out), Ok(1));
    assert_eq!(places(&out[..1]), [(0, 3)]);
    assert!(matches!(by_hand.try_fill(&mut out), Err(Error::Busy { .. })));
    assert_eq!(by_hand.try_fill(&mut []), Ok(0));

    let scheme = Scheme::by_name("snowflake").unwrap();
    let settings = Settings { layout: Some(layout()), worker: Some(900), ..Settings::default() };
    let generator = scheme.generator(&settings).unwrap();
    let mut out = vec![RawId::ZERO; 401];
    generator.fill(&mut out).unwrap();
    assert!(out.is_sorted_by(|a, b| a < b));
    // 401 ids at 4 a millisecond.
    let millis = (layout().time(out[400]).unwrap().0 - layout().time(out[0]).unwrap().0) / i128::from(MILLI);
    assert!(millis >= 100, "{millis} ms");
}

#[test]
fn a_rolling_start_spreads_the_last_bits_at_a_low_rate() {
    let scheme = Scheme::by_name("snowflake-twitter").unwrap();
    for (start, shards) in [(Start::Zero, 1), (Start::Rolling, 64)] {
        let clock = clock_at(NOW);
        let settings = Settings { start, ..super::settings_at(scheme, &clock) };
        let generator = scheme.generator(&settings).unwrap();
        let seen: std::collections::BTreeSet<u128> = (0..2000)
            .map(|_| {
                clock.pass(MILLI);
                generator.try_next().unwrap().low() % 64
            })
            .collect();
        assert_eq!(seen.len(), shards);
    }
}
