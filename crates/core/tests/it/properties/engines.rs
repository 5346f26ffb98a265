//! The lock-free engine under any clock: each policy, each way to begin a tick, any split.

use mintage::error::Cause;
use mintage::generators::MAX_LEAD_NANOS;
use mintage::schemes::snowflake::custom_split;
use mintage::{
    Clock, ClockBack, Error, Layout, ManualClock, RawId, Role, Scheme, Settings, Spent, Start, TimeBase,
    UnixNanos,
};
use proptest::prelude::*;
use std::sync::Arc;

const EPOCH: UnixNanos = UnixNanos(1_735_689_600_000_000_000);

/// What happens to a generator.
#[derive(Clone, Debug)]
enum Event {
    /// The clock is set, in nanoseconds from where the test began.
    Set(i64),
    /// Time passes on both clocks.
    Pass(u64),
    /// So many ids are asked for one by one.
    Take(usize),
    /// So many at once.
    Fill(usize),
}

fn any_events() -> impl Strategy<Value = Vec<Event>> {
    let event = prop_oneof![
        1 => (-3_000_000_000..3_000_000_000_i64).prop_map(Event::Set),
        1 => (-20_000_000..20_000_000_i64).prop_map(Event::Set),
        2 => (0..5_000_000_u64).prop_map(Event::Pass),
        1 => (0..2_000_000_000_u64).prop_map(Event::Pass),
        3 => (1..30_usize).prop_map(Event::Take),
        2 => (1..300_usize).prop_map(Event::Fill),
    ];
    proptest::collection::vec(event, 1..40)
}

/// Splits with a short sequence, so that ticks are spent all the time, with a long one, and with the longest time field.
fn any_layout() -> impl Strategy<Value = Layout> {
    let split = prop_oneof![Just("t41/w10/s2"), Just("t41/w10/s12"), Just("w1/t50/s1"), Just("t44/s8/w4")];
    let tick_nanos = prop_oneof![Just(1_000_000), Just(10_000_000), Just(100_000)];
    (split, tick_nanos)
        .prop_map(|(split, tick_nanos)| custom_split(split, TimeBase { epoch: EPOCH, tick_nanos }).unwrap())
}

/// Runs the events with one set of policies.
fn run(layout: &Layout, settings: Settings, events: &[Event]) -> Result<(), TestCaseError> {
    let began = EPOCH.plus(10_000_000_000);
    let clock = Arc::new(ManualClock::new(began));
    clock.pass(1);
    let base = layout.time_base().unwrap();
    let lead = if settings.spent == Spent::Borrow { MAX_LEAD_NANOS / base.tick_nanos } else { 0 };
    let generator = Scheme::by_name("snowflake")
        .unwrap()
        .generator(&Settings {
            worker: Some(1),
            layout: Some(*layout),
            clock: Some(clock.clone() as Arc<dyn Clock>),
            ..settings.clone()
        })
        .unwrap();

    let mut last = None;
    // The latest tick that the wall clock, or real time since it was read, has come to.
    let mut latest = 0;
    let mut ids = vec![RawId::ZERO; 300];
    for event in events {
        let wanted = match event {
            Event::Set(offset) => {
                clock.set(began.plus((*offset).into()));
                0
            }
            Event::Pass(nanos) => {
                clock.pass(*nanos);
                // Rounded up: ticks paced by the monotonic clock don't begin where those of the wall clock do.
                latest += nanos.div_ceil(base.tick_nanos);
                0
            }
            Event::Take(wanted) | Event::Fill(wanted) => *wanted,
        };
        let now = base.tick_at(clock.now()).unwrap_or(0);
        latest = latest.max(now);
        let mut made = 0;
        while made < wanted {
            let upto = if matches!(event, Event::Take(_)) { made + 1 } else { wanted };
            match generator.try_fill(&mut ids[made..upto]) {
                Ok(count) => {
                    prop_assert!(count > 0);
                    made += count;
                }
                Err(Error::Busy { cause, wait_nanos, .. }) => {
                    prop_assert!(wait_nanos > 0);
                    prop_assert!(cause != Cause::Spent || settings.spent != Spent::Fail);
                    prop_assert!(cause != Cause::ClockBehind || settings.clock_back == ClockBack::Wait);
                    break;
                }
                Err(Error::Refused { cause, wait_nanos, .. }) => {
                    prop_assert!(wait_nanos > 0);
                    prop_assert!(cause != Cause::Spent || settings.spent == Spent::Fail);
                    prop_assert!(cause != Cause::ClockBehind || settings.clock_back == ClockBack::Refuse);
                    break;
                }
                Err(error) => return Err(TestCaseError::fail(error.to_string())),
            }
        }
        for id in &ids[..made] {
            prop_assert!(last.is_none_or(|last| *id > last), "{id:?} after {last:?}");
            prop_assert_eq!(layout.gather(*id, Role::Worker), 1);
            prop_assert!(layout.mismatch(*id).is_none());
            let tick = u64::try_from(layout.gather(*id, Role::Timestamp(base))).unwrap();
            if settings.clock_back == ClockBack::Absorb {
                prop_assert!(tick <= latest + lead + 1, "tick {tick} when it is {latest} at most");
            } else {
                prop_assert!(tick <= now + lead, "tick {tick} when it is {now}");
            }
            last = Some(*id);
        }
    }

    // Waiting as long as each error says leads to an id: at most once for the clock, once for the tick and once for the pace.
    for attempt in 0.. {
        match generator.try_next() {
            Ok(id) => {
                prop_assert!(last.is_none_or(|last| id > last));
                break;
            }
            Err(error) => {
                prop_assert!(attempt < 3, "{error}");
                clock.pass(error.wait_nanos().unwrap());
            }
        }
    }
    Ok(())
}

proptest! {
    #[test]
    fn ids_only_grow_whatever_the_clock_does(layout in any_layout(), events in any_events()) {
        for clock_back in [ClockBack::Absorb, ClockBack::Wait, ClockBack::Refuse] {
            for spent in [Spent::Wait, Spent::Fail, Spent::Borrow] {
                for start in [Start::Zero, Start::Rolling] {
                    run(&layout, Settings { clock_back, spent, start, ..Settings::default() }, &events)?;
                }
            }
        }
    }

    #[test]
    fn any_split_that_adds_up_is_minted_and_read(
        time in 12..62_u32,
        worker in 1..52_u32,
        sequence in 1..52_u32,
        order in proptest::sample::select(vec!["tws", "tsw", "wts", "wst", "stw", "swt"]),
        number in any::<u64>(),
    ) {
        let base = TimeBase { epoch: EPOCH, tick_nanos: 1_000_000 };
        let width = |letter| match letter { 't' => time, 'w' => worker, _ => sequence };
        let split: Vec<String> = order.chars().map(|letter| format!("{letter}{}", width(letter))).collect();
        let layout = custom_split(&split.join("/"), base);
        if time + worker + sequence > 64 {
            prop_assert!(layout.is_err());
            return Ok(());
        }
        let layout = layout.unwrap();
        let worker = number & ((1 << worker) - 1);
        let clock = Arc::new(ManualClock::new(EPOCH.plus(3_000_000_000)));
        let generator = Scheme::by_name("snowflake").unwrap().generator(&Settings {
            worker: Some(worker),
            layout: Some(layout),
            clock: Some(clock.clone() as Arc<dyn Clock>),
            ..Settings::default()
        }).unwrap();
        let mut last = None;
        for tick in 3000..3010_u64 {
            let id = generator.try_next().unwrap();
            prop_assert_eq!(layout.gather(id, Role::Timestamp(base)), u128::from(tick));
            prop_assert_eq!(layout.gather(id, Role::Worker), u128::from(worker));
            prop_assert!(id.fits(64));
            let place = (tick, layout.gather(id, Role::Counter));
            prop_assert!(last.is_none_or(|last| place > last));
            last = Some(place);
            clock.pass(1_000_000);
        }
    }
}
