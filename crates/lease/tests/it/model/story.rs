//! A path as people read it: what happened, and what was so afterwards.

use super::steps::{Ask, Fate, Protocol, Step};
use super::world::{Holding, World};
use std::fmt::Write as _;

/// One line a step.
pub(super) fn tell(protocol: &Protocol, path: &[(World, Option<Step>)]) -> String {
    let mut text = String::new();
    let mut names: Vec<&str> = ["A", "B", "C"].into();
    for (i, (world, step)) in path.iter().enumerate() {
        let Some((step, (after, is_swapped))) =
            step.and_then(|step| Some((step, protocol.next_and_swapped(world, step)?)))
        else {
            continue;
        };
        let what = happened(world, &step, &names);
        if is_swapped {
            names.swap(0, 1);
        }
        // Writing to a string can't go wrong.
        let _ = writeln!(text, "{:>3}. {what:<58} {}", i + 1, state(&after, &names));
    }
    if let Some((worker, cell)) = path.last().and_then(|(world, _)| world.twice) {
        let _ = writeln!(text, "     tick or value {cell} of worker {worker} is for two holders");
    }
    text
}

fn happened(world: &World, step: &Step, names: &[&str]) -> String {
    match *step {
        Step::Clock { real, error } => {
            format!("the store's clock shows {} ({real} passed)", real + error)
        }
        Step::Send { process, ask, fate } => {
            let what = match ask {
                Ask::Acquire => "acquires".to_owned(),
                Ask::Renew => "renews".to_owned(),
                Ask::Release { last: Some(last), .. } => format!("releases, {last} was the last tick"),
                Ask::Release { last: None, .. } => "releases, nothing was used".to_owned(),
                Ask::Reassert => "asserts its lease again".to_owned(),
                Ask::Claim(size) => format!("claims {size}"),
                Ask::GiveBack(unused) => format!("gives back from {unused} on"),
                Ask::RenewInherited => "renews its parent's lease".to_owned(),
                Ask::ReleaseInherited(last) => format!("releases its parent's lease, last {last:?}"),
                Ask::GiveBackInherited(unused) => format!("gives back its parent's from {unused} on"),
            };
            let how = match fate {
                Fate::Answered => "",
                Fate::Late => "; it is late",
                Fate::Doubled => "; it will come twice",
                Fate::ReadFirst => "; the store has read",
            };
            format!("{} {what}{how}", names[process])
        }
        Step::Arrive(i) => format!("a late {} arrives", world.flights[i].request.name()),
        Step::Write => "the store writes what it had read for".to_owned(),
        Step::Crash(i) => format!("{} ends without a word", names[i]),
        Step::Fork(i) => format!("{} forks {}", names[i], names[world.processes.len() - 1]),
        Step::Copy => "a copy is taken of the store".to_owned(),
        Step::Restore(comeback) => format!("the store goes on from the copy ({comeback:?})"),
        Step::Lose => "the store loses its last write".to_owned(),
        Step::Hold => "the operator says: hold".to_owned(),
        Step::NothingLost => "the operator says: nothing was lost".to_owned(),
        Step::Burn(worker) => format!("the operator retires worker {worker}"),
        Step::Bump => "the operator bumps the counter".to_owned(),
        Step::Recreate => "the space is dropped and created again".to_owned(),
        Step::MintByClock(i) => format!("{} mints what its clock shows", names[i]),
    }
}

fn state(world: &World, names: &[&str]) -> String {
    let mut text = String::new();
    for (i, process) in world.processes.iter().enumerate() {
        for Holding { held, from, to } in &process.leases {
            let _ = write!(text, "{} w{} [{from},{to}) #{}  ", names[i], held.worker, held.serial);
        }
        if let Some(block) = process.block {
            let _ = write!(text, "{} [{},{}) #{}  ", names[i], block.start, block.end, block.serial);
        }
    }
    let _ = write!(text, "|");
    for row in &world.table.workers {
        let holder = world
            .processes
            .iter()
            .position(|process| process.leases.iter().any(|lease| lease.held.nonce == row.nonce));
        let holder = holder.map_or("?", |process| names[process]);
        let _ = write!(text, " w{} mark {} {holder} #{}", row.worker, row.mark, row.serial);
    }
    let table = &world.table.state;
    if table.block.next > 0 {
        let stale = if table.block.is_stale { " stopped" } else { "" };
        let _ = write!(text, " next {}{stale}", table.block.next);
    }
    if table.floor > 0 {
        let _ = write!(text, " floor {}", table.floor);
    }
    text
}
