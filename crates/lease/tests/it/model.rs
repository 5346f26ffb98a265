//! The protocol of leases and blocks, walked state by state: every order in which things can happen within the bounds of a scene,
//! over [`mintage_lease::rules::decide`] as stores call it. docs/lease-proof.md says what this shows and what not.

mod broken;
mod client;
mod page;
mod rules;
mod scenes;
mod steps;
mod story;
mod table;
mod walk;
mod world;

use rules::{RULES, Without};
use scenes::{SCENES, Scene};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A test a scene, so that they run side by side.
macro_rules! scenes_hold {
    ($($test:ident: $scene:literal,)*) => {
        $(
            #[test]
            fn $test() {
                let walked = walk::hold(Scene::by_name($scene)).unwrap_or_else(|fault| panic!("{fault}"));
                println!("{}: {} states, {} steps deep", $scene, walked.states, walked.depth);
            }
        )*

        #[test]
        fn every_scene_has_a_test() {
            let names: Vec<&str> = SCENES.iter().map(|scene| scene.name).collect();
            assert_eq!(names, [$($scene),*]);
        }
    };
}

scenes_hold! {
    no_cell_has_two_holders_in_ordinary_life: "ordinary",
    no_cell_has_two_holders_after_forks_and_crashes: "forked",
    no_cell_has_two_holders_when_several_leases_are_renewed_at_once: "several leases",
    no_cell_has_two_holders_when_windows_end_inside_a_tick: "half ticks",
    no_cell_has_two_holders_at_the_end_of_the_field: "end of the field",
    no_cell_has_two_holders_after_a_restore: "restored",
    no_cell_has_two_holders_after_a_restore_that_lost_two_writes: "restored, two writes",
    no_cell_has_two_holders_after_a_restore_with_long_windows: "restored, long windows",
    no_cell_has_two_holders_after_a_promotion_or_restart: "promoted or restarted",
    no_cell_has_two_holders_after_a_restore_with_late_messages: "restored, late messages",
    no_cell_has_two_holders_after_two_restores: "restored twice",
    no_cell_has_two_holders_after_a_silent_restore_that_a_witness_tells_of: "restored in silence",
    no_cell_has_two_holders_whatever_an_operator_asks: "operator",
    no_value_is_issued_twice_in_ordinary_life: "blocks",
    no_value_is_issued_twice_after_forks_and_crashes: "blocks forked",
    no_value_is_issued_twice_after_a_restore_and_a_bump: "blocks restored",
    no_value_is_issued_twice_after_a_promotion: "blocks promoted",
}

/// Each of the eleven counter-examples that shaped the rules is found again when its rule is out.
fn found_again(trace: u8) {
    let rule = RULES.iter().find(|rule| rule.trace == Some(trace)).expect("a trace of the list");
    assert!(matches!(rule.without, Without::Duplicate(_)));
    walk::miss(rule).unwrap_or_else(|fault| panic!("{fault}"));
}

#[test]
fn rule_17_trace_1_a_lapsed_lease_is_renewed_into_lost_windows() {
    found_again(1);
}

#[test]
fn rule_17_trace_2_a_lapsed_lease_is_renewed_after_the_hold() {
    found_again(2);
}

#[test]
fn rule_17_trace_3_a_clock_that_went_back_makes_a_lapsed_lease_look_alive() {
    found_again(3);
}

#[test]
fn rule_17_trace_4_a_hold_that_is_cleared_is_forgotten_when_the_clock_goes_back() {
    found_again(4);
}

#[test]
fn rule_11_trace_5_a_lease_from_before_the_loss_has_the_serial_of_another() {
    found_again(5);
}

#[test]
fn rule_12_trace_6_a_doubled_acquire_lets_an_old_lease_be_renewed() {
    found_again(6);
}

#[test]
fn rule_11_trace_7_a_store_that_reads_before_it_writes_misses_a_restore() {
    found_again(7);
}

#[test]
fn rule_17_trace_8_a_renewal_that_compares_no_identity_comes_first() {
    found_again(8);
}

#[test]
fn rule_8_trace_9_a_forked_child_releases_under_its_parent() {
    found_again(9);
}

#[test]
fn assumption_trace_10_a_clock_that_errs_more_makes_the_hold_too_short() {
    found_again(10);
}

#[test]
fn assumption_trace_11_a_fresh_client_comes_before_any_that_saw_the_loss() {
    found_again(11);
}

#[test]
fn without_each_other_rule_it_is_as_the_list_says() {
    let rules: Vec<_> = RULES.iter().filter(|rule| rule.trace.is_none()).collect();
    let next = AtomicUsize::new(0);
    let miss = || {
        let mut faults = Vec::new();
        // Ordering: each number is drawn once, and nothing else depends on it.
        while let Some(rule) = rules.get(next.fetch_add(1, Ordering::Relaxed)) {
            faults.extend(walk::miss(rule).err());
        }
        faults
    };
    let faults = std::thread::scope(|scope| {
        let walkers = [scope.spawn(miss), scope.spawn(miss)];
        walkers.map(|walker| walker.join().expect("a walk that panics says why")).concat()
    });
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn the_eleven_traces_are_on_the_list_once_each() {
    let mut traces: Vec<u8> = RULES.iter().filter_map(|rule| rule.trace).collect();
    traces.sort_unstable();
    assert_eq!(traces, (1..=11).collect::<Vec<u8>>());
}

/// Hours, and gigabytes of memory; `MINTAGE_SCENE` picks one.
#[test]
#[ignore = "hours; run it by name"]
fn deeper_scenes_hold() {
    let picked = std::env::var("MINTAGE_SCENE").ok();
    for scene in SCENES.iter().filter(|scene| picked.as_deref().is_none_or(|name| name == scene.name)) {
        let walked = walk::hold(scene.deeper()).unwrap_or_else(|fault| panic!("{fault}"));
        println!("{}, deeper: {} states, {} steps deep", scene.name, walked.states, walked.depth);
    }
}
