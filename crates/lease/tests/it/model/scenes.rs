//! The bounds within which the protocol is walked: one value a scene, each small enough to be walked to its end.

use super::world::World;
use mintage::{TimeBase, UnixNanos};
use mintage_lease::space::{BlockTerms, Kind, Space, SpaceId, Terms, Timing, Windows};
use mintage_lease::state::Tick;

/// How much can happen, and how much of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scene {
    pub(super) name: &'static str,
    /// What is special about it.
    pub(super) about: &'static str,
    pub(super) hands_out: HandsOut,
    /// Processes that may run at once, the forked child not counted.
    pub(super) processes: usize,
    /// Leases or blocks that a process asks for at once.
    pub(super) want: u32,
    pub(super) clock: StoreClock,
    pub(super) left: Left,
    /// What a store that was put back says that it is.
    pub(super) comebacks: &'static [Comeback],
    /// What the walk must have met, or it proves nothing.
    pub(super) meets: &'static [Meets],
}

/// What the space hands out. Durations are nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(super) enum HandsOut {
    Windows { workers: u64, tick: u64, window: u64, skew: u64, last_tick: Tick },
    Blocks { last: u64, most: u64, gap: u64 },
}

/// What the store's clock may do. Nanoseconds since the epoch.
#[derive(Clone, Copy, Debug)]
pub(super) enum StoreClock {
    /// It may step to any reading up to this one, at any time.
    Any { last: i16 },
    /// Time passes up to `last`, and the clock is ahead of it by 0 to `spread`, stepping as it likes.
    Near { last: i16, spread: i16 },
}

/// How often something may still happen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Left {
    /// Requests that arrive late, or never, and whose sender gives up waiting.
    pub(super) delays: u8,
    /// Requests that are answered and arrive a second time.
    pub(super) doubles: u8,
    /// Processes that end without a word.
    pub(super) crashes: u8,
    pub(super) forks: u8,
    /// Copies that are taken of the store: a backup, or what a replica has.
    pub(super) copies: u8,
    /// Times that the store goes on from its copy.
    pub(super) restores: u8,
    /// Writes since the copy was taken: what a restore can lose, and what comes between two.
    pub(super) writes: u8,
    /// An operator's words: hold, and that nothing was lost.
    pub(super) holds: u8,
    /// Workers that an operator retires.
    pub(super) burns: u8,
    /// Times that the space is dropped and created again.
    pub(super) recreations: u8,
    /// An operator's bumps of a counter.
    pub(super) bumps: u8,
}

/// How a store that goes on from a copy shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Comeback {
    /// It has another origin.
    OlderCopy,
    /// Its timeline grew; its clock is the one of another host.
    Promoted,
    /// It was started just now.
    Restarted,
    /// Not at all.
    Silent,
}

/// Something that a walk meets.
pub(super) type Meets = (&'static str, fn(&World) -> bool);

const SOON: Left = Left {
    delays: 0,
    doubles: 0,
    crashes: 0,
    forks: 0,
    copies: 0,
    restores: 0,
    writes: 2,
    holds: 0,
    burns: 0,
    recreations: 0,
    bumps: 0,
};

const ONE: HandsOut = HandsOut::Windows { workers: 1, tick: 1, window: 2, skew: 1, last_tick: 63 };

const RENEWED: Meets = ("a renewed lease", |world| world.leases().any(|lease| lease.to - lease.from > 2));
const BOTH_HOLD: Meets = ("two holders at once", |world| {
    world.processes.iter().filter(|process| !process.leases.is_empty()).count() > 1
});
const SECOND_HOLDER: Meets = ("a second holder of a worker", |world| {
    world.leases().any(|lease| lease.from > 0 && world.used_below(lease.held.worker, lease.from))
});
const SUNK: Meets = ("a mark that a release sank", |world| {
    world.table.workers.iter().any(|row| row.mark == row.from && row.mark < world.table.state.high_mark)
});
const AFTER_HOLD: Meets = ("a grant after a hold", |world| {
    let floor = world.table.state.floor;
    floor > 0 && world.leases().any(|lease| lease.from >= floor)
});
const RENEWED_IN_HOLD: Meets = ("a renewal of a live lease during a hold", |world| {
    let state = &world.table.state;
    world.leases().any(|lease| {
        lease.held.serial > state.hold_serial
            && state.hold_serial > 0
            && lease.to < state.floor
            && lease.to - lease.from > 2
    })
});
const LOST_GRANT: Meets = ("a grant that the store forgot", |world| {
    world.leases().any(|lease| world.table.row(lease.held.worker).is_none_or(|row| row.mark < lease.to))
});
const REASSERTED: Meets = ("a lease that was asserted again", |world| {
    let state = &world.table.state;
    let is_own = |lease: &super::world::Holding| {
        world
            .table
            .row(lease.held.worker)
            .is_some_and(|row| row.serial == lease.held.serial && row.from == 0 && row.mark == lease.to)
    };
    state.hold_serial > 0
        && world
            .leases()
            .any(|lease| lease.from < state.floor && lease.held.serial > state.hold_serial && is_own(lease))
});
const BURNED: Meets = ("a burned worker", |world| world.table.workers.iter().any(|row| row.is_burned));
const RECREATED: Meets =
    ("a grant of a space created again", |world| world.table.space > 0 && world.leases().next().is_some());
const FIELD_ENDED: Meets =
    ("a window that ends with the field", |world| world.leases().any(|lease| lease.to == 4));
const GIVEN_BACK: Meets = ("a block that was given back", |world| {
    let block = &world.table.state.block;
    block.next > 0 && block.nonce.0 == 0 && block.serial > 1
});
const STOPPED: Meets = ("a counter that stopped", |world| world.table.state.block.is_stale);
const BUMPED: Meets = ("a block after a bump", |world| {
    let last = world.table.state.block.serial;
    world.left.bumps == 0
        && world.processes.iter().any(|process| process.block.is_some_and(|block| block.serial == last))
});
const TWO_BLOCKS: Meets = ("two blocks at once", |world| {
    world.processes.iter().filter(|process| process.block.is_some()).count() > 1
});
const JUMPED: Meets = ("a counter that jumped", |world| {
    world.table.state.identity.timeline > 0 && world.table.state.block.next > 2
});

/// The scenes; what has rules taken out names one of them.
pub(super) static SCENES: &[Scene] = &[
    Scene {
        name: "ordinary",
        about: "one worker; the store's clock shows anything, messages are late, lost or doubled",
        hands_out: ONE,
        processes: 2,
        want: 1,
        clock: StoreClock::Any { last: 2 },
        left: Left { delays: 1, doubles: 1, ..SOON },
        comebacks: &[],
        meets: &[RENEWED, BOTH_HOLD, SECOND_HOLDER, SUNK],
    },
    Scene {
        name: "forked",
        about: "a holder that forks, or ends without a word; the store's clock shows anything",
        hands_out: ONE,
        processes: 2,
        want: 1,
        clock: StoreClock::Any { last: 2 },
        left: Left { crashes: 1, forks: 1, ..SOON },
        comebacks: &[],
        meets: &[RENEWED, BOTH_HOLD, SECOND_HOLDER, SUNK],
    },
    Scene {
        name: "several leases",
        about: "two workers, both held and renewed by one process",
        hands_out: HandsOut::Windows { workers: 2, tick: 1, window: 2, skew: 1, last_tick: 63 },
        processes: 2,
        want: 2,
        clock: StoreClock::Any { last: 2 },
        left: SOON,
        comebacks: &[],
        meets: &[RENEWED, BOTH_HOLD, SECOND_HOLDER, SUNK],
    },
    Scene {
        name: "half ticks",
        about: "two nanoseconds a tick, windows of five; the store loses its last second",
        hands_out: HandsOut::Windows { workers: 1, tick: 2, window: 5, skew: 0, last_tick: 63 },
        processes: 2,
        want: 1,
        clock: StoreClock::Near { last: 7, spread: 0 },
        left: Left { copies: 1, restores: 1, writes: 1, ..SOON },
        comebacks: &[Comeback::OlderCopy],
        meets: &[RENEWED, BOTH_HOLD, SECOND_HOLDER, AFTER_HOLD],
    },
    Scene {
        name: "end of the field",
        about: "two workers, and a time field of four ticks",
        hands_out: HandsOut::Windows { workers: 2, tick: 1, window: 2, skew: 1, last_tick: 3 },
        processes: 2,
        want: 1,
        clock: StoreClock::Any { last: 4 },
        left: SOON,
        comebacks: &[],
        meets: &[RENEWED, BOTH_HOLD, SECOND_HOLDER, FIELD_ENDED],
    },
    Scene {
        name: "restored",
        about: "the store goes on from a backup and shows it",
        hands_out: ONE,
        processes: 2,
        want: 1,
        clock: StoreClock::Near { last: 5, spread: 1 },
        left: Left { copies: 1, restores: 1, writes: 1, ..SOON },
        comebacks: &[Comeback::OlderCopy],
        meets: &[RENEWED, BOTH_HOLD, AFTER_HOLD, RENEWED_IN_HOLD, LOST_GRANT, REASSERTED],
    },
    Scene {
        name: "restored, two writes",
        about: "the store loses two writes",
        hands_out: ONE,
        processes: 2,
        want: 1,
        clock: StoreClock::Near { last: 4, spread: 0 },
        left: Left { copies: 1, restores: 1, ..SOON },
        comebacks: &[Comeback::OlderCopy],
        meets: &[RENEWED, BOTH_HOLD, AFTER_HOLD, LOST_GRANT, REASSERTED],
    },
    Scene {
        name: "restored, long windows",
        about: "windows of three ticks, so that a live lease can be renewed with another's window behind it",
        hands_out: HandsOut::Windows { workers: 1, tick: 1, window: 3, skew: 1, last_tick: 63 },
        processes: 2,
        want: 1,
        clock: StoreClock::Near { last: 3, spread: 0 },
        left: Left { copies: 1, restores: 1, writes: 1, ..SOON },
        comebacks: &[Comeback::OlderCopy],
        meets: &[RENEWED, LOST_GRANT, REASSERTED],
    },
    Scene {
        name: "promoted or restarted",
        about: "a replica is promoted, or a server is started on older data",
        hands_out: ONE,
        processes: 2,
        want: 1,
        clock: StoreClock::Near { last: 4, spread: 1 },
        left: Left { copies: 1, restores: 1, writes: 1, ..SOON },
        comebacks: &[Comeback::Promoted, Comeback::Restarted],
        meets: &[RENEWED, BOTH_HOLD, AFTER_HOLD, LOST_GRANT, REASSERTED],
    },
    Scene {
        name: "restored, late messages",
        about: "a backup, and messages that are late, lost or doubled",
        hands_out: ONE,
        processes: 2,
        want: 1,
        clock: StoreClock::Near { last: 3, spread: 0 },
        left: Left { doubles: 1, copies: 1, restores: 1, ..SOON },
        comebacks: &[Comeback::OlderCopy],
        meets: &[RENEWED, BOTH_HOLD, AFTER_HOLD, RENEWED_IN_HOLD, LOST_GRANT, REASSERTED],
    },
    Scene {
        name: "restored twice",
        about: "the store goes on from one backup twice",
        hands_out: ONE,
        processes: 2,
        want: 1,
        clock: StoreClock::Near { last: 4, spread: 0 },
        left: Left { copies: 1, restores: 2, writes: 1, ..SOON },
        comebacks: &[Comeback::OlderCopy],
        meets: &[RENEWED, BOTH_HOLD, AFTER_HOLD, LOST_GRANT, REASSERTED],
    },
    Scene {
        name: "restored in silence",
        about: "a store that doesn't show it; who speaks first has seen what was lost",
        hands_out: ONE,
        processes: 2,
        want: 1,
        clock: StoreClock::Near { last: 5, spread: 1 },
        left: Left { copies: 1, restores: 1, writes: 1, ..SOON },
        comebacks: &[Comeback::Silent],
        meets: &[RENEWED, BOTH_HOLD, AFTER_HOLD, LOST_GRANT],
    },
    Scene {
        name: "operator",
        about: "holds, words that nothing was lost, burns, and a space dropped and created again; any clock",
        hands_out: ONE,
        processes: 2,
        want: 1,
        clock: StoreClock::Any { last: 4 },
        left: Left { holds: 1, burns: 1, recreations: 1, ..SOON },
        comebacks: &[],
        meets: &[RENEWED, BOTH_HOLD, AFTER_HOLD, BURNED, RECREATED],
    },
    Scene {
        name: "blocks",
        about: "a counter; messages are late, lost or doubled",
        hands_out: HandsOut::Blocks { last: 3, most: 2, gap: 4 },
        processes: 2,
        want: 2,
        clock: StoreClock::Any { last: 0 },
        left: Left { delays: 1, doubles: 1, ..SOON },
        comebacks: &[],
        meets: &[GIVEN_BACK, TWO_BLOCKS],
    },
    Scene {
        name: "blocks forked",
        about: "a counter, and a holder that forks or ends without a word",
        hands_out: HandsOut::Blocks { last: 4, most: 2, gap: 4 },
        processes: 2,
        want: 2,
        clock: StoreClock::Any { last: 0 },
        left: Left { crashes: 1, forks: 1, ..SOON },
        comebacks: &[],
        meets: &[GIVEN_BACK, TWO_BLOCKS],
    },
    Scene {
        name: "blocks restored",
        about: "a counter whose store goes on from a copy, and an operator who bumps above all that was issued",
        hands_out: HandsOut::Blocks { last: 4, most: 2, gap: 2 },
        processes: 2,
        want: 2,
        clock: StoreClock::Any { last: 0 },
        left: Left { doubles: 1, copies: 1, restores: 1, bumps: 1, ..SOON },
        comebacks: &[Comeback::OlderCopy, Comeback::Silent],
        meets: &[GIVEN_BACK, TWO_BLOCKS, STOPPED, BUMPED],
    },
    Scene {
        name: "blocks promoted",
        about: "a counter whose replica is promoted and lost no more than the gap",
        hands_out: HandsOut::Blocks { last: 5, most: 2, gap: 2 },
        processes: 2,
        want: 2,
        clock: StoreClock::Any { last: 0 },
        left: Left { delays: 1, copies: 1, restores: 1, ..SOON },
        comebacks: &[Comeback::Promoted],
        meets: &[GIVEN_BACK, TWO_BLOCKS, JUMPED],
    },
];

impl Scene {
    /// The scene of this name.
    pub(super) fn by_name(name: &str) -> &'static Self {
        SCENES.iter().find(|scene| scene.name == name).unwrap_or_else(|| panic!("no scene {name}"))
    }

    /// The same with more time, more faults and more writes to lose.
    pub(super) fn deeper(&self) -> &'static Self {
        let clock = match self.clock {
            StoreClock::Any { last: 0 } => self.clock,
            StoreClock::Any { last } => StoreClock::Any { last: last + 1 },
            StoreClock::Near { last, spread } => StoreClock::Near { last: last + 1, spread },
        };
        let hands_out = match self.hands_out {
            HandsOut::Blocks { last, most, gap } => HandsOut::Blocks { last: last + 1, most, gap },
            windows @ HandsOut::Windows { .. } => windows,
        };
        let left = Left { crashes: self.left.crashes.max(1), writes: self.left.writes + 1, ..self.left };
        Box::leak(Box::new(Self { clock, hands_out, left, ..*self }))
    }

    /// The space as rules know it.
    pub(super) fn space(&self) -> Space {
        let kind = match self.hands_out {
            HandsOut::Windows { workers, tick, window, skew, last_tick } => Kind::Windows(Windows {
                scheme: "any".to_owned(),
                layout: String::new(),
                terms: Terms {
                    base: TimeBase { epoch: UnixNanos(0), tick_nanos: tick },
                    last_tick,
                    first_worker: 0,
                    last_worker: workers - 1,
                    timing: Timing {
                        window_nanos: window,
                        renew_nanos: 1,
                        max_ahead_nanos: window,
                        max_lag_nanos: 1,
                        max_lead_nanos: 1,
                        max_store_skew_nanos: skew,
                    },
                    host_quota: 100,
                },
            }),
            HandsOut::Blocks { last, most, gap } => Kind::Blocks(BlockTerms {
                first: 0,
                last,
                step: 1,
                offset: 0,
                max_size: most,
                failover_gap: gap,
            }),
        };
        Space { id: SpaceId(1), name: "s".to_owned(), kind }
    }
}
