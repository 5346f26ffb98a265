//! Faults of the store in a PostgreSQL server and of the network before it: stopped, killed, cut off, restored, failed over.

use super::process_faults::evidence;
use super::store::{Kind, ServerPlace, Store};
use super::{Evidence, Fault, MS, Scene};
use crate::proxy::Mode;
use anyhow::{Result, bail, ensure};
use mintage::{Clock, SystemClock};
use serde_json::json;
use std::net::{Ipv4Addr, TcpStream};

/// Stopped at once, as `pg_ctl stop -m immediate` does, and started again.
pub const STOPPED: Fault = Fault {
    name: "server-stopped",
    what: "the server is stopped at once and started again, at times after more than a window",
    store: Some(Kind::Postgres),
    run: |scene| down(scene, |place| place.server.stop()),
};

/// Killed, as by a power cut.
pub const KILLED: Fault = Fault {
    name: "server-killed",
    what: "every process of the server is killed, and it is started again",
    store: Some(Kind::Postgres),
    run: |scene| down(scene, |place| place.server.kill()),
};

fn down(scene: &mut Scene, go_down: fn(&mut ServerPlace)) -> Result<Evidence> {
    let before = scene.holds()?;
    let nanos = scene.windows(20, 200);
    let place = place(scene)?;
    go_down(place);
    let refuses = refuses(place);
    scene.fleet.wait(nanos)?;
    self::place(scene)?.server.start_again();
    ensure!(refuses, "the server takes connections though it is down");
    let holds = scene.hold_after(before)?;
    Ok(evidence([
        ("down_ms", json!(nanos / MS)),
        ("refused_connections", json!(true)),
        ("holds", json!(holds)),
    ]))
}

/// Connections of some processes end, and can't be made again for a while.
pub const CUT: Fault = Fault {
    name: "cut",
    what: "the connections of some processes are ended, and each that they make, for longer than a window at times",
    store: Some(Kind::Postgres),
    run: |scene| disturb(scene, Mode::Cut),
};

/// Nothing passes for a while; then it arrives, late.
pub const STALLED: Fault = Fault {
    name: "stalled",
    what: "what some processes and the server say to each other is kept back, and passes late",
    store: Some(Kind::Postgres),
    run: |scene| disturb(scene, Mode::Stall),
};

fn disturb(scene: &mut Scene, mode: Mode) -> Result<Evidence> {
    let nanos = scene.windows(50, 250);
    let count = 1 + scene.random.index(scene.fleet.len());
    let place = place(scene)?;
    let before: u32 = place.proxies.iter().map(crate::proxy::Proxy::struck).sum();
    for proxy in &place.proxies[..count] {
        proxy.set(mode);
    }
    scene.fleet.wait(nanos)?;
    let place = self::place(scene)?;
    for proxy in &place.proxies[..count] {
        proxy.set(Mode::Pass);
    }
    let struck = place.proxies.iter().map(crate::proxy::Proxy::struck).sum::<u32>() - before;
    ensure!(struck > 0, "nothing was {}", if mode == Mode::Cut { "cut" } else { "kept back" });
    Ok(evidence([("processes", json!(count)), ("for_ms", json!(nanos / MS)), ("struck", json!(struck))]))
}

/// A commit that came about, and whose answer didn't.
pub const COMMIT_UNANSWERED: Fault = Fault {
    name: "commit-unanswered",
    what: "a process's connection ends after COMMIT was passed on, in place of the answer",
    store: Some(Kind::Postgres),
    run: |scene| {
        let number = scene.random.index(scene.fleet.len());
        let before = place(scene)?.proxies[number].struck();
        place(scene)?.proxies[number].set(Mode::CutAfterCommit);
        let mut cut = 0;
        for _ in 0..100 {
            scene.fleet.wait(scene.window_nanos() / 20)?;
            cut = place(scene)?.proxies[number].struck() - before;
            if cut > 0 {
                break;
            }
        }
        place(scene)?.proxies[number].set(Mode::Pass);
        ensure!(cut == 1, "{cut} answers to a commit were cut off, 1 expected");
        Ok(evidence([("answers_cut", json!(cut))]))
    },
};

/// A base backup in place of what was written since.
pub const RESTORED: Fault = Fault {
    name: "restored",
    what: "the server is stopped, a base backup is put in its place, and it is started again",
    store: Some(Kind::Postgres),
    run: |scene| {
        let before = scene.holds()?;
        let backup = place(scene)?.server.backup(false);
        let nanos = scene.windows(50, 150);
        scene.fleet.wait(nanos)?;
        let place = place(scene)?;
        let newest = place.high_mark()?;
        // Nobody comes back before it was seen what is missing.
        place.set_all(Mode::Cut);
        place.server.stop();
        place.server.restore(&backup);
        place.server.start_again();
        let restored = place.high_mark();
        place.set_all(Mode::Pass);
        let restored = restored?;
        ensure!(restored < newest, "the mark is {restored} after the restore, {newest} was granted before");
        let holds = scene.hold_after(before)?;
        Ok(evidence([("ticks_lost", json!(newest - restored)), ("holds", json!(holds))]))
    },
};

/// A replica that lacks the last grants becomes the primary.
pub const PROMOTED: Fault = Fault {
    name: "promoted",
    what: "a replica that lacks the last commits is promoted, and the primary is killed",
    store: Some(Kind::Postgres),
    run: |scene| promote(scene, false),
};

/// A replica that has every commit becomes the primary.
pub const PROMOTED_IN_SYNC: Fault = Fault {
    name: "promoted-in-sync",
    what: "a synchronous replica is promoted, and the primary is killed",
    store: Some(Kind::Postgres),
    run: |scene| promote(scene, true),
};

fn promote(scene: &mut Scene, in_sync: bool) -> Result<Evidence> {
    let before = scene.holds()?;
    let place = place(scene)?;
    let mut replica = place.server.backup(true);
    replica.start_again();
    replica.catches_up(&place.server);
    if in_sync {
        place.server.query("postgres", "ALTER SYSTEM SET synchronous_standby_names = '*'")?;
        place.server.query("postgres", "SELECT pg_reload_conf()")?;
        let sql = "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'";
        let mut is_sync = false;
        for _ in 0..200 {
            is_sync = is_sync || place.server.query("postgres", sql)? == "1";
            if is_sync {
                break;
            }
            mintage::time::pause(20 * MS);
        }
        ensure!(is_sync, "the replica isn't synchronous");
    } else {
        replica.unfollow();
    }
    let nanos = scene.windows(40, 100);
    scene.fleet.wait(nanos)?;
    let place = self::place(scene)?;
    let newest = place.high_mark()?;
    let replayed: u64 = replica.query(super::store::DATABASE, super::store::HIGH_MARK)?.parse()?;
    let killed = SystemClock.monotonic_nanos();
    place.server.kill();
    let refuses = refuses(place);
    replica.promote();
    // The server's share of the outage: nobody can reach a primary before.
    let promoted_ms = (SystemClock.monotonic_nanos() - killed) / MS;
    let timeline = |server: &crate::servers::postgres::Postgres| {
        server.query("postgres", "SELECT timeline_id FROM pg_control_checkpoint()")
    };
    place.server = replica;
    for proxy in &place.proxies {
        proxy.lead_to(place.server.port());
    }
    place.server.query("postgres", "CHECKPOINT")?;
    let timeline: u64 = timeline(&place.server)?.parse()?;
    ensure!(refuses, "the primary takes connections though it was killed");
    ensure!(timeline > 1, "the replica is on timeline {timeline}: it wasn't promoted");
    ensure!(
        in_sync || replayed < newest,
        "the replica lacks nothing: its mark is {replayed}, the primary's {newest}"
    );
    let holds = scene.hold_after(before)?;
    Ok(evidence([
        ("ticks_behind", json!(newest.saturating_sub(replayed))),
        ("timeline", json!(timeline)),
        ("promoted_after_ms", json!(promoted_ms)),
        ("holds", json!(holds)),
    ]))
}

fn refuses(place: &ServerPlace) -> bool {
    TcpStream::connect((Ipv4Addr::LOCALHOST, place.server.port())).is_err()
}

fn place(scene: &mut Scene) -> Result<&mut ServerPlace> {
    match &mut scene.store {
        Store::Server(place) => Ok(place),
        _ => bail!("the store is no server of the run"),
    }
}
