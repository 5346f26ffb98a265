//! Faults of a store in servers and of the network before them: stopped, killed, cut off, restored, failed over.

use super::process_faults::evidence;
use super::servers::Servers;
use super::store::{Kind, ServerPlace, Store};
use super::{Evidence, Fault, MS, Scene};
use crate::proxy::{Mode, Proxy};
use anyhow::{Result, bail, ensure};
use mintage::{Clock, SystemClock};
use serde_json::json;
use std::net::{Ipv4Addr, TcpStream};
use std::sync::atomic::{AtomicU32, Ordering};

/// The kinds whose store is in servers.
const IN_SERVERS: &[Kind] = &[Kind::Postgres, Kind::MariaDb, Kind::Etcd, Kind::ZooKeeper];

/// Stopped at once, as `pg_ctl stop -m immediate` does, and started again.
pub const STOPPED: Fault = Fault {
    name: "server-stopped",
    what: "the server is stopped at once and started again, at times after more than a window",
    stores: &[Kind::Postgres],
    run: |scene| down(scene, |place| place.servers.postgres().map(|server| server.stop())),
};

/// Killed, as by a power cut.
pub const KILLED: Fault = Fault {
    name: "server-killed",
    what: "every process of the server is killed, and it is started again",
    stores: IN_SERVERS,
    run: |scene| down(scene, |place| place.servers.kill()),
};

fn down(scene: &mut Scene, go_down: fn(&mut ServerPlace) -> Result<()>) -> Result<Evidence> {
    let before = scene.holds()?;
    let nanos = scene.windows(20, 200);
    let place = place(scene)?;
    go_down(place)?;
    let holds_at_start = place.servers.holds_at_start();
    let refuses = refuses(place);
    scene.fleet.wait(nanos)?;
    self::place(scene)?.servers.start_again()?;
    ensure!(refuses, "the server takes connections though it is down");
    let holds = if holds_at_start { scene.hold_after(before)? } else { no_hold(scene, before)? };
    Ok(evidence([
        ("down_ms", json!(nanos / MS)),
        ("refused_connections", json!(true)),
        ("holds", json!(holds)),
    ]))
}

/// Waits until the processes mint again, which begins no hold.
fn no_hold(scene: &mut Scene, before: u64) -> Result<u64> {
    scene.recover()?;
    let holds = scene.holds()?;
    ensure!(holds == before, "{holds} holds, {before} before: an election loses nothing");
    Ok(holds)
}

/// The leader of several servers dies, and another is elected.
pub const LEADER_KILLED: Fault = Fault {
    name: "leader-killed",
    what: "the leader of three servers is killed, another is elected, and the one that was killed is started again",
    stores: &[Kind::Etcd, Kind::ZooKeeper],
    run: |scene| {
        let before = scene.holds()?;
        let nanos = scene.windows(50, 150);
        let servers = &mut place(scene)?.servers;
        let leader = servers.leader()?;
        servers.kill_one(leader)?;
        scene.fleet.wait(nanos)?;
        let servers = &mut place(scene)?.servers;
        let next = servers.leader()?;
        ensure!(next != leader, "a server that was killed leads");
        let holds_at_start = servers.holds_at_start();
        servers.start_again()?;
        let holds = if holds_at_start { scene.hold_after(before)? } else { no_hold(scene, before)? };
        let pair = json!([leader, next]);
        Ok(evidence([("down_ms", json!(nanos / MS)), ("leaders", pair), ("holds", json!(holds))]))
    },
};

/// What was kept in place of what was written since.
pub const PUT_BACK: Fault = Fault {
    name: "put-back",
    what: "all servers are killed, and started again on a copy of their data, or a snapshot, from a window before",
    stores: &[Kind::MariaDb, Kind::Etcd, Kind::ZooKeeper],
    run: |scene| {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("kept-{}", COUNT.fetch_add(1, Ordering::Relaxed));
        place(scene)?.servers.keep(&name)?;
        scene.recover()?;
        scene.settle()?;
        let before = scene.serial()?;
        let nanos = scene.windows(50, 150);
        scene.fleet.wait(nanos)?;
        let newest = scene.serial()?;
        let place = place(scene)?;
        // Nobody comes back before it was seen what is missing.
        place.set_all(Mode::Cut);
        place.servers.put_back(&name)?;
        let (restored, holds) = (scene.serial(), scene.holds());
        self::place(scene)?.set_all(Mode::Pass);
        let (restored, holds) = (restored?, holds?);
        ensure!(newest > before && restored < newest, "serial {restored} after the restore, {newest} before");
        let holds = scene.hold_after(holds)?;
        Ok(evidence([("writes_lost", json!(writes_between(restored, newest))), ("holds", json!(holds))]))
    },
};

/// How many writes lie between two serials: each raises it by one, and each hold lets it jump by [`SERIAL_JUMP`] besides.
const fn writes_between(older: u64, newer: u64) -> u64 {
    newer.saturating_sub(older) % SERIAL_JUMP
}

/// How far a serial jumps when a hold begins, as a space's rules say; nobody writes as often.
const SERIAL_JUMP: u64 = 1 << 32;

/// Connections of some processes end, and can't be made again for a while.
pub const CUT: Fault = Fault {
    name: "cut",
    what: "the connections of some processes are ended, and each that they make, for longer than a window at times",
    stores: IN_SERVERS,
    run: |scene| disturb(scene, Mode::Cut),
};

/// Nothing passes for a while; then it arrives, late.
pub const STALLED: Fault = Fault {
    name: "stalled",
    what: "what some processes and the server say to each other is kept back, and passes late",
    stores: IN_SERVERS,
    run: |scene| disturb(scene, Mode::Stall),
};

fn disturb(scene: &mut Scene, mode: Mode) -> Result<Evidence> {
    let nanos = scene.windows(50, 250);
    let count = 1 + scene.random.index(scene.fleet.len());
    let before = struck(&scene.store);
    set_some(&scene.store, count, mode);
    let waited = scene.fleet.wait(nanos);
    set_some(&scene.store, count, Mode::Pass);
    waited?;
    let struck = struck(&scene.store) - before;
    ensure!(struck > 0, "nothing was {}", if mode == Mode::Cut { "cut" } else { "kept back" });
    Ok(evidence([("processes", json!(count)), ("for_ms", json!(nanos / MS)), ("struck", json!(struck))]))
}

fn set_some(store: &Store, count: usize, mode: Mode) {
    for proxy in store.proxies().iter().take(count).flatten() {
        proxy.set(mode);
    }
}

/// A commit that came about, and whose answer didn't.
pub const COMMIT_UNANSWERED: Fault = Fault {
    name: "commit-unanswered",
    what: "a process's connection ends after COMMIT was passed on, in place of the answer",
    stores: &[Kind::Postgres],
    run: |scene| {
        let number = scene.random.index(scene.fleet.len());
        let before = place(scene)?.proxies[number][0].struck();
        place(scene)?.proxies[number][0].set(Mode::CutAfterCommit);
        let mut cut = 0;
        for _ in 0..100 {
            scene.fleet.wait(scene.window_nanos() / 20)?;
            cut = place(scene)?.proxies[number][0].struck() - before;
            if cut > 0 {
                break;
            }
        }
        place(scene)?.proxies[number][0].set(Mode::Pass);
        ensure!(cut == 1, "{cut} answers to a commit were cut off, 1 expected");
        Ok(evidence([("answers_cut", json!(cut))]))
    },
};

/// A base backup in place of what was written since.
pub const RESTORED: Fault = Fault {
    name: "restored",
    what: "the server is stopped, a base backup is put in its place, and it is started again",
    stores: &[Kind::Postgres],
    run: |scene| {
        let before = scene.holds()?;
        let backup = place(scene)?.servers.postgres()?.backup(false)?;
        let nanos = scene.windows(50, 150);
        scene.fleet.wait(nanos)?;
        let place = place(scene)?;
        let newest = place.high_mark()?;
        // Nobody comes back before it was seen what is missing.
        place.set_all(Mode::Cut);
        place.servers.postgres()?.stop();
        place.servers.postgres()?.restore(&backup)?;
        place.servers.start_again()?;
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
    stores: &[Kind::Postgres],
    run: |scene| promote(scene, false),
};

/// A replica that has every commit becomes the primary.
pub const PROMOTED_IN_SYNC: Fault = Fault {
    name: "promoted-in-sync",
    what: "a synchronous replica is promoted, and the primary is killed",
    stores: &[Kind::Postgres],
    run: |scene| promote(scene, true),
};

fn promote(scene: &mut Scene, in_sync: bool) -> Result<Evidence> {
    let before = scene.holds()?;
    let place = place(scene)?;
    let mut replica = place.servers.postgres()?.backup(true)?;
    replica.start_again()?;
    replica.catches_up(place.servers.postgres()?)?;
    if in_sync {
        place.servers.postgres()?.query("postgres", "ALTER SYSTEM SET synchronous_standby_names = '*'")?;
        place.servers.postgres()?.query("postgres", "SELECT pg_reload_conf()")?;
        let sql = "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'";
        let mut is_sync = false;
        for _ in 0..200 {
            is_sync = is_sync || place.servers.postgres()?.query("postgres", sql)? == "1";
            if is_sync {
                break;
            }
            mintage::time::pause(20 * MS);
        }
        ensure!(is_sync, "the replica isn't synchronous");
    } else {
        replica.unfollow()?;
    }
    let nanos = scene.windows(40, 100);
    scene.fleet.wait(nanos)?;
    let place = self::place(scene)?;
    let newest = place.high_mark()?;
    let replayed: u64 = replica.query(super::store::DATABASE, super::store::HIGH_MARK)?.parse()?;
    let killed = SystemClock.monotonic_nanos();
    place.servers.kill()?;
    let refuses = refuses(place);
    replica.promote()?;
    // The server's share of the outage: nobody can reach a primary before.
    let promoted_ms = (SystemClock.monotonic_nanos() - killed) / MS;
    let timeline = |server: &mintage_servers::Postgres| {
        server.query("postgres", "SELECT timeline_id FROM pg_control_checkpoint()")
    };
    let port = replica.port();
    place.servers = Servers::Postgres(replica);
    for proxy in place.proxies.iter().flatten() {
        proxy.lead_to(port);
    }
    place.servers.postgres()?.query("postgres", "CHECKPOINT")?;
    let timeline: u64 = timeline(place.servers.postgres()?)?.parse()?;
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

fn struck(store: &Store) -> u32 {
    store.proxies().iter().flatten().map(Proxy::struck).sum()
}

fn refuses(place: &ServerPlace) -> bool {
    place.servers.ports().iter().all(|port| TcpStream::connect((Ipv4Addr::LOCALHOST, *port)).is_err())
}

fn place(scene: &mut Scene) -> Result<&mut ServerPlace> {
    match &mut scene.store {
        Store::Server(place) => Ok(place),
        _ => bail!("the store is no server of the run"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_jump_of_a_serial_is_no_write() {
        for (older, newer, writes) in
            [(7, 7, 0), (7, 12, 5), (7, 7 + (1 << 32) + 3, 3), (7, 8 + (3 << 32), 1), (12, 7, 0)]
        {
            assert_eq!(writes_between(older, newer), writes, "{older} to {newer}");
        }
    }
}
