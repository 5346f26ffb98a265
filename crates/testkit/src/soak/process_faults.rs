//! Faults of processes: stopped longer than a window, killed, and with a wall clock that steps.

use super::store::Kind;
use super::{Evidence, Fault, MS, Scene};
use crate::signal;
use anyhow::{Context, Result, ensure};
use serde_json::json;

/// Processes that stand longer than their windows, and go on as if nothing had been.
pub const PAUSED: Fault = Fault {
    name: "paused",
    what: "SIGSTOP of some processes for longer than a window, then SIGCONT",
    stores: Kind::ALL,
    run: |scene| {
        let some = some_places(scene);
        let mut pids = Vec::new();
        for place in &some {
            let pid = scene.fleet.process(*place)?.pid();
            signal::stop(pid).context("stopping a process")?;
            pids.push(pid);
        }
        let result = stand(scene, &some, &pids);
        for pid in &pids {
            signal::resume(*pid).context("letting a process go on")?;
        }
        result
    },
};

fn stand(scene: &mut Scene, some: &[usize], pids: &[u32]) -> Result<Evidence> {
    let all_stand = |pids: &[u32]| -> Result<bool> {
        Ok(pids
            .iter()
            .map(|pid| signal::is_stopped(*pid))
            .collect::<std::io::Result<Vec<_>>>()?
            .iter()
            .all(|s| *s))
    };
    let is_so = scene.fleet.wait_until(5_000 * MS, |_| all_stand(pids))?;
    ensure!(is_so, "the system doesn't show the processes as stopped");
    // What was still in their pipes comes first.
    scene.fleet.wait(50 * MS)?;
    let before: Vec<u64> = some.iter().map(|place| scene.fleet.ids(*place)).collect();
    let nanos = scene.windows(110, 200);
    scene.fleet.wait(nanos)?;
    ensure!(all_stand(pids)?, "a process went on by itself");
    let after: Vec<u64> = some.iter().map(|place| scene.fleet.ids(*place)).collect();
    ensure!(before == after, "ids came from a process that stands");
    Ok(evidence([("processes", json!(pids.len())), ("stood_ms", json!(nanos / MS))]))
}

/// Processes that are killed, and started again.
pub const KILLED: Fault = Fault {
    name: "killed",
    what: "SIGKILL of some processes, which are started again at once",
    stores: Kind::ALL,
    run: |scene| {
        let some = some_places(scene);
        kill(scene, &some)
    },
};

/// All processes at once.
pub const ALL_KILLED: Fault = Fault {
    name: "all-killed",
    what: "SIGKILL of all processes, which are started again at once",
    stores: Kind::ALL,
    run: |scene| {
        let all: Vec<usize> = (0..scene.fleet.len()).collect();
        kill(scene, &all)
    },
};

fn kill(scene: &mut Scene, places: &[usize]) -> Result<Evidence> {
    let mut pids = Vec::new();
    for place in places {
        pids.push(scene.fleet.process(*place)?.pid());
        scene.fleet.kill(*place)?;
    }
    let gone = pids.iter().all(|pid| !std::path::Path::new(&format!("/proc/{pid}")).exists());
    for place in places {
        scene.fleet.restart(*place)?;
    }
    ensure!(gone, "a process that was killed is still there");
    Ok(evidence([("processes", json!(pids.len())), ("gone", json!(gone))]))
}

/// A wall clock that steps while its process mints, and is wrong when the next one starts.
pub const CLOCK_STEPPED: Fault = Fault {
    name: "clock-stepped",
    what: "the wall clock of one process steps by 50 ms to 59 min either way; it is killed and started again under that clock",
    stores: &[Kind::Sqlite, Kind::Postgres, Kind::MariaDb, Kind::ZooKeeper],
    run: |scene| {
        let place = scene.random.index(scene.fleet.len());
        let step_ms = *scene.random.one_of(&[50, 1_000, 5_000, 60_000, 59 * 60_000]);
        let step_ms = if scene.random.below(2) == 0 { step_ms } else { -step_ms };
        let pid = scene.fleet.process(place)?.pid();
        let clock =
            scene.fleet.slot(place).clock.as_ref().context("there is no clock shim: no C compiler")?;
        ensure!(clock.is_mapped_by(pid)?, "the process doesn't run by the clock that steps");
        let before = clock.seen();
        clock.step(step_ms * 1_000_000);
        let under_step = step(scene, place, before + step_ms * 1_000_000);
        if let Some(clock) = &scene.fleet.slot(place).clock {
            clock.step(-step_ms * 1_000_000);
        }
        let seen_running = under_step?;
        Ok(evidence([("step_ms", json!(step_ms)), ("read_while_running", json!(seen_running))]))
    },
};

/// The same where the clocks of clients are the store's: what runs goes on, and what is started under a clock that is off is refused, or
/// doesn't keep the others from minting.
pub const CLOCK_STEPPED_ALONE: Fault = Fault {
    name: "clock-stepped-alone",
    what: "the wall clock of one process steps by 60 s to 59 min either way, it is killed and started again; the others are let mint by it",
    stores: &[Kind::Etcd],
    run: |scene| {
        let place = scene.random.index(scene.fleet.len());
        let step_ms = *scene.random.one_of(&[60_000, 59 * 60_000, -60_000, -59 * 60_000]);
        let pid = scene.fleet.process(place)?.pid();
        let clock =
            scene.fleet.slot(place).clock.as_ref().context("there is no clock shim: no C compiler")?;
        ensure!(clock.is_mapped_by(pid)?, "the process doesn't run by the clock that steps");
        clock.step(step_ms * 1_000_000);
        let others = step_alone(scene, place);
        if let Some(clock) = &scene.fleet.slot(place).clock {
            clock.step(-step_ms * 1_000_000);
        }
        let others = others?;
        // Whatever it was told under that clock. One that was refused has ended, and is started again by itself.
        if scene.fleet.process(place).is_ok() {
            scene.fleet.kill(place)?;
            scene.fleet.restart(place)?;
        }
        Ok(evidence([("step_ms", json!(step_ms)), ("ids_of_others", json!(others))]))
    },
};

/// How many ids the other processes made in the second of two windows in which this one was started under its clock.
fn step_alone(scene: &mut Scene, place: usize) -> Result<u64> {
    let window = scene.window_nanos();
    let ids = scene.fleet.ids(place);
    scene.fleet.wait(window)?;
    ensure!(scene.fleet.ids(place) > ids, "minting stopped when the wall clock stepped");
    scene.fleet.kill(place)?;
    scene.fleet.restart(place)?;
    scene.fleet.wait(window)?;
    let others = |scene: &Scene| -> Vec<u64> {
        (0..scene.fleet.len()).filter(|other| *other != place).map(|other| scene.fleet.ids(other)).collect()
    };
    let before = others(scene);
    scene.fleet.wait(window)?;
    let after = others(scene);
    let all_mint = before.iter().zip(&after).all(|(before, after)| after > before);
    ensure!(all_mint, "a process whose clock is off keeps others from minting: {before:?}, then {after:?}");
    Ok(after.iter().sum::<u64>() - before.iter().sum::<u64>())
}

/// Whether the process that was running read its clock; the next one must.
fn step(scene: &mut Scene, place: usize, offset: i64) -> Result<bool> {
    let sees =
        |scene: &Scene| scene.fleet.slot(place).clock.as_ref().is_some_and(|clock| clock.seen() == offset);
    let window = scene.window_nanos();
    let ids = scene.fleet.ids(place);
    scene.fleet.wait(window)?;
    let seen_running = sees(scene);
    ensure!(scene.fleet.ids(place) > ids, "minting stopped when the wall clock stepped");
    scene.fleet.kill(place)?;
    scene.fleet.restart(place)?;
    let ids = scene.fleet.ids(place);
    let mints = scene.fleet.wait_until(20_000 * MS, |fleet| Ok(fleet.ids(place) > ids))?;
    ensure!(
        mints,
        "a process whose wall clock is off doesn't begin: {}",
        scene.fleet.process(place)?.message()
    );
    ensure!(sees(scene), "no process read the clock that stepped");
    Ok(seen_running)
}

/// One place to half of them.
fn some_places(scene: &mut Scene) -> Vec<usize> {
    let mut all: Vec<usize> = (0..scene.fleet.len()).collect();
    scene.random.shuffle(&mut all);
    let most = (all.len() / 2).max(1);
    all.truncate(1 + scene.random.index(most));
    all
}

pub(super) fn evidence<const N: usize>(pieces: [(&str, serde_json::Value); N]) -> Evidence {
    pieces.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}
