//! The tray of an allocator: many threads, blocks that come late, and an end in between.

use super::*;
use crate::state::Nonce;
use std::collections::BTreeSet;
use std::thread;

fn block(start: u64, end: u64, step: u64) -> Block {
    Block { start, end, step, serial: start, nonce: Nonce(u128::from(start) + 1) }
}

fn tray(step: u64) -> Tray {
    Tray::new("invoices", step, 80)
}

#[test]
fn values_come_in_order_with_their_step_and_end_with_the_block() {
    let tray = tray(3);
    tray.supplied(block(2, 11, 3));
    assert_eq!([tray.take(1), tray.take(5), tray.take(1)], [Some((2, 1)), Some((5, 2)), None]);
    tray.supplied(block(20, 23, 3));
    assert_eq!([tray.take(9), tray.take(1)], [Some((20, 1)), None]);
}

#[test]
fn the_next_block_is_wanted_once_at_four_fifths() {
    let tray = tray(1);
    tray.supplied(block(1, 11, 1));
    let wanted: Vec<u64> =
        (1..11).filter(|_| tray.take(1).is_some_and(|(value, _)| tray.is_fetch_due(value))).collect();
    assert_eq!(wanted, [9]);
    tray.supplied(block(11, 12, 1));
    assert_eq!(tray.take(1), Some((11, 1)));
    assert!(tray.is_fetch_due(11), "a block of one is wanted with its only value");
}

#[test]
fn a_block_that_does_not_follow_lets_no_value_between_out() {
    let tray = tray(1);
    tray.supplied(block(1, 3, 1));
    assert_eq!(tray.take(9), Some((1, 2)));
    tray.supplied(block(100, 102, 1));
    assert_eq!([tray.take(9), tray.take(1)], [Some((100, 2)), None]);
}

#[test]
fn the_end_tells_the_first_unused_value_once() {
    let tray = tray(1);
    tray.supplied(block(1, 11, 1));
    assert_eq!(tray.take(3), Some((1, 3)));
    tray.supplied(block(11, 21, 1));
    let left = tray.end().unwrap();
    assert_eq!(left, Left { current: Some((block(1, 11, 1), 4)), spare: Some(block(11, 21, 1)) });
    assert_eq!((tray.take(1), tray.end()), (None, None));
    tray.supplied(block(21, 31, 1));
    assert_eq!(tray.take(1), None);
}

#[test]
fn threads_get_each_value_once_and_the_end_loses_none() {
    for round in 0..20 {
        let tray = &tray(1);
        let mut all = BTreeSet::new();
        let mut left = None;
        thread::scope(|scope| {
            let takers: Vec<_> = (0..3)
                .map(|_| {
                    scope.spawn(move || {
                        let mut mine = Vec::new();
                        while !tray.lock().is_closed {
                            for _ in 0..50 {
                                match tray.take(1 + round % 3) {
                                    Some((first, count)) => mine.extend(first..first + count),
                                    None => {
                                        tray.switch(&mut tray.lock());
                                    }
                                }
                            }
                        }
                        mine
                    })
                })
                .collect();
            for number in 0..20 {
                // With a gap behind every other block.
                let start = number * 1_000 + number % 2;
                while tray.lock().spare.is_some() {
                    thread::yield_now();
                }
                tray.supplied(block(start, (number + 1) * 1_000, 1));
            }
            left = tray.end();
            for taker in takers {
                for value in taker.join().unwrap() {
                    assert!(all.insert(value), "{value} twice");
                }
            }
        });
        let left = left.unwrap();
        let first_unused = left.current.map_or(u64::MAX, |(_, unused)| unused);
        assert!(all.iter().all(|value| *value < first_unused.max(left.spare.map_or(0, |spare| spare.start))));
        let used_up = (0..first_unused.min(20_000)).filter(|value| value % 2_000 != 1_000);
        let handed_out: BTreeSet<u64> =
            used_up.take_while(|value| left.spare.is_none_or(|s| *value < s.start)).collect();
        assert_eq!(all, handed_out);
    }
}
