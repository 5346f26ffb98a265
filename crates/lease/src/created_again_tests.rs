//! Rule 19: a space that is created under the name of others that were dropped.

use super::*;

/// A space of that name with these terms.
fn space_with(terms: Terms) -> Space {
    let windows = Windows { scheme: "any".to_owned(), layout: String::new(), terms };
    Space { id: SpaceId(2), name: "s".to_owned(), kind: Kind::Windows(windows) }
}

/// The floor of a space with these terms that follows those.
fn floors(terms: Terms, seen: &Seen, dropped: &[(&Space, &SpaceState)]) -> (Tick, Tick) {
    let (state, events) = created(&space_with(terms), seen, dropped, true).unwrap();
    assert!(dropped.iter().all(|(_, old)| state.serial > old.serial + SERIAL_JUMP));
    assert_eq!(events.len(), 1);
    (state.floor, state.old_floor)
}

#[test]
fn rule_19_a_space_that_is_created_again_begins_on_hold_above_the_old_one() {
    let mut table = Table::new();
    table.acquire(100, A).unwrap();
    table.run(&table.seen(100), &Request::Hold).unwrap();
    let old = space_with(terms());
    for (now, expected) in [(90, (112, 112)), (200, (212, 112))] {
        assert_eq!(floors(terms(), &table.seen(now), &[(&old, &table.state)]), expected, "{now}");
    }
}

#[test]
fn rule_19_no_space_of_the_name_is_forgotten_whatever_came_after_it() {
    let mut table = Table::new();
    table.acquire(100, A).unwrap();
    let old = space_with(terms());
    let first = table.state.clone();
    table.create_again(50);
    let unused = table.state.clone();
    for order in [[(&old, &first), (&old, &unused)], [(&old, &unused), (&old, &first)]] {
        assert_eq!(floors(terms(), &table.seen(51), &order), (110, 110));
    }
}

#[test]
fn rule_19_what_an_older_copy_lost_is_covered_by_the_terms_of_the_space_that_lost_it() {
    let mut table = Table::new();
    table.acquire(100, A).unwrap();
    let old = space_with(terms());
    let mut seen = table.seen(150);
    seen.live.origin[1] += 1;
    let mut short = terms();
    (short.timing.window_nanos, short.timing.max_ahead_nanos, short.timing.max_store_skew_nanos) = (1, 1, 0);
    let cover = Tick::try_from(i128::from(terms().timing.max_ahead_nanos) + terms().skew()).unwrap();
    assert_eq!(floors(short, &seen, &[(&old, &table.state)]), (150 + cover, 150 + cover));
}

#[test]
fn rule_19_a_name_whose_ids_were_numbered_otherwise_is_refused() {
    let mut table = Table::new();
    let old = space_with(terms());
    let later = {
        let base = TimeBase { epoch: UnixNanos(10), ..terms().base };
        space_with(Terms { base, ..terms() })
    };
    let longer = {
        let base = TimeBase { tick_nanos: 5, ..terms().base };
        space_with(Terms { base, ..terms() })
    };
    let counter = Space { kind: Kind::Blocks(crate::space::BlockTerms::default()), ..space_with(terms()) };
    // What issued nothing stands in nobody's way.
    for new in [&later, &longer, &counter] {
        created(new, &table.seen(100), &[(&old, &table.state)], true).unwrap();
    }
    table.acquire(100, A).unwrap();
    for (new, fact) in [(&later, "epoch"), (&longer, "tick_nanos"), (&counter, "kind")] {
        let refused = created(new, &table.seen(200), &[(&old, &table.state)], true).unwrap_err();
        assert_eq!(refused.fact, fact);
    }
}

#[test]
fn rule_19_an_operator_ends_the_hold_of_a_space_that_was_created_again_above_the_old_ones_windows_only() {
    let mut table = Table::new();
    let old = table.acquire(100, A).unwrap();
    table.create_again(101);
    assert_eq!((table.state.floor, table.state.old_floor), (113, old.until));
    table.run(&table.seen(101), &Request::ReleaseHold).unwrap();
    assert_eq!(table.events, [Event::HoldStays { floor: old.until }]);
    assert_eq!(table.acquire(101, B), Err(Refusal::OnHold { until: UnixNanos(i128::from(old.until)) }));
    assert!(table.acquire(i128::from(old.until), B).unwrap().from >= old.until);
}

#[test]
fn rule_19_an_operator_ends_the_hold_of_a_space_that_was_created_again_at_once_when_the_old_ones_windows_have_passed()
 {
    let mut table = Table::new();
    table.acquire(100, A).unwrap();
    table.create_again(150);
    table.run(&table.seen(151), &Request::ReleaseHold).unwrap();
    assert_eq!(table.events, []);
    assert_eq!(table.acquire(151, B).unwrap().from, 151);
}

#[test]
fn rule_19_the_row_of_a_dropped_space_is_not_believed_on_a_store_that_is_another() {
    let mut table = Table::new();
    table.acquire(100, A).unwrap();
    table.live.timeline = 1;
    table.create_again(150);
    assert_eq!((table.state.floor, table.state.old_floor), (162, 162));
}
