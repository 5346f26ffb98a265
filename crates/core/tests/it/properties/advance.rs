//! The rule behind every generator: whatever it is told, moments only grow.

use mintage::generators::{Moment, Step, advance};
use proptest::prelude::*;

fn any_tick() -> impl Strategy<Value = u64> {
    prop_oneof![4 => 0..20_u64, 1 => any::<u64>(), 1 => Just(u64::MAX)]
}

fn any_count(max: u128) -> impl Strategy<Value = u128> {
    prop_oneof![4 => 0..=max.min(10), 1 => 0..=max, 1 => Just(max)]
}

/// What one call is told: a tick, a count to begin with, a step.
fn any_calls() -> impl Strategy<Value = (u128, Vec<(u64, u128, u128)>)> {
    prop_oneof![Just(0), Just(3), Just(4095), Just(u128::MAX)].prop_flat_map(|max| {
        let step = prop_oneof![4 => 1..5_u128, 1 => 1..=u128::MAX];
        let call = (any_tick(), any_count(max), step);
        (Just(max), proptest::collection::vec(call, 1..100))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    #[test]
    fn moments_only_grow((max, calls) in any_calls()) {
        let mut last: Option<Moment> = None;
        for (tick, count, step) in calls {
            let start = Moment { tick, count };
            match advance(last, start, step, max) {
                Step::Use(next) => {
                    prop_assert!(last.is_none_or(|last| next > last));
                    prop_assert!(next.count <= max);
                    // In a later tick at its start; else in the tick of the last one, however far the clock went back.
                    prop_assert!(next == start || last.is_some_and(|last| next.tick == last.tick));
                    prop_assert!(last.is_none_or(|last| tick <= last.tick || next == start));
                    last = Some(next);
                }
                Step::WaitUntil(until) => {
                    let spent = last.unwrap();
                    prop_assert!(tick <= spent.tick && until == spent.tick.saturating_add(1));
                    prop_assert!(spent.count.checked_add(step).is_none_or(|count| count > max));
                }
            }
        }
    }
}
