//! Schemes that need no worker, under any clock and with any randomness.

use crate::seeded::Seeded;
use mintage::scheme::{Coordination, Sortable};
use mintage::{Clock, ManualClock, Method, RawId, Role, SCHEMES, Scheme, Settings, UnixNanos};
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::sync::Arc;

/// 2026-11-30T00:00:00Z.
const BEGAN: UnixNanos = UnixNanos(1_795_996_800_000_000_000);

#[derive(Clone, Debug)]
enum Event {
    /// The clock is set, in nanoseconds from where the test began.
    Set(i64),
    Pass(u64),
    Take(usize),
    Fill(usize),
}

fn any_events() -> impl Strategy<Value = Vec<Event>> {
    let year = 365 * 86_400 * 1_000_000_000_i64;
    let event = prop_oneof![
        1 => (-10 * year..10 * year).prop_map(Event::Set),
        1 => (-3_000_000..3_000_000_i64).prop_map(Event::Set),
        2 => (0..3_000_000_u64).prop_map(Event::Pass),
        1 => (0..200_u64).prop_map(Event::Pass),
        3 => (1..40_usize).prop_map(Event::Take),
        2 => (1..400_usize).prop_map(Event::Fill),
    ];
    proptest::collection::vec(event, 1..30)
}

/// Schemes that mint without a worker, and each of their methods.
fn schemes() -> impl Iterator<Item = (&'static Scheme, Option<Method>)> {
    let free = SCHEMES
        .iter()
        .copied()
        .filter(|scheme| scheme.facts.coordination == Coordination::Nothing && scheme.generator.is_some());
    free.flat_map(|scheme| {
        let methods: Vec<_> = scheme.methods.iter().copied().map(Some).collect();
        let methods = if methods.is_empty() { vec![None] } else { methods };
        methods.into_iter().map(move |method| (scheme, method))
    })
}

fn run(scheme: &Scheme, method: Option<Method>, seed: u64, events: &[Event]) -> Result<(), TestCaseError> {
    let clock = Arc::new(ManualClock::new(BEGAN));
    let generator = scheme
        .generator(&Settings {
            method,
            clock: Some(clock.clone() as Arc<dyn Clock>),
            entropy: Some(Arc::new(Seeded::new(seed))),
            ..Settings::default()
        })
        .unwrap();
    let mut all: Vec<RawId> = Vec::new();
    for event in events {
        match event {
            Event::Set(offset) => clock.set(BEGAN.plus((*offset).into())),
            Event::Pass(nanos) => clock.pass(*nanos),
            Event::Take(wanted) => {
                for _ in 0..*wanted {
                    all.push(generator.try_next().unwrap());
                }
            }
            Event::Fill(wanted) => {
                let from = all.len();
                all.resize(from + wanted, RawId::ZERO);
                let made = generator.try_fill(&mut all[from..]).unwrap();
                prop_assert_eq!(made, *wanted);
            }
        }
    }
    for id in &all {
        prop_assert_eq!(scheme.check(*id), Ok(*id));
    }
    let name = scheme.name;
    prop_assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len(), "{} repeats an id", name);
    if scheme.facts.sortable == Sortable::Strictly && method != Some(Method::Random) {
        prop_assert!(all.is_sorted_by(|a, b| a < b), "{name} {method:?} goes back");
    }
    // These remember their last tick as well, though their bits sort otherwise.
    if ["uuid-v1", "uuid-v6", "objectid"].contains(&name) {
        let base = scheme.layout.time_base().unwrap();
        let tick = |id: &RawId| scheme.layout.gather(*id, Role::Timestamp(base));
        let is_in_order = if name == "objectid" {
            all.iter().map(tick).is_sorted()
        } else {
            all.iter().map(tick).is_sorted_by(|a, b| a < b)
        };
        prop_assert!(is_in_order, "{name} goes back in time, or uses a tick twice");
    }
    Ok(())
}

#[test]
fn the_schemes_without_a_worker_are_among_those_tried() {
    let tried: BTreeSet<&str> = schemes().map(|(scheme, _)| scheme.name).collect();
    for name in ["ksuid", "objectid", "ulid", "uuid-v1", "uuid-v4", "uuid-v6", "uuid-v7", "uuid-v8"] {
        assert!(tried.contains(name), "{name}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn ids_are_unique_and_in_order_whatever_the_clock_does(seed in any::<u64>(), events in any_events()) {
        for (scheme, method) in schemes() {
            run(scheme, method, seed, &events)?;
        }
    }

    #[test]
    fn the_same_seed_and_clock_give_the_same_ids(seed in any::<u64>()) {
        for (scheme, method) in schemes() {
            let make = || {
                let settings = Settings {
                    method,
                    clock: Some(Arc::new(ManualClock::new(BEGAN))),
                    entropy: Some(Arc::new(Seeded::new(seed))),
                    ..Settings::default()
                };
                let mut ids = [RawId::ZERO; 20];
                scheme.generator(&settings).unwrap().fill(&mut ids).unwrap();
                ids
            };
            prop_assert_eq!(make(), make(), "{}", scheme.name);
        }
    }
}
