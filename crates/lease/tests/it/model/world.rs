//! All that there is at one moment: the store, its copy, the processes, the messages on their way, and what ids may hold.
//!
//! **Minting isn't a step.** A holder may put any tick of its window into an id at any later time, as no clock of a client is
//! trusted; so what it may have used, or may yet use, is its whole window from the moment of the grant, until it says in a
//! release what it didn't use. Two holders that may use one cell are a duplicate. A pause of any length is in every path.

use super::scenes::{Comeback, HandsOut, Left, Scene, StoreClock};
use super::table::Table;
use mintage::UnixNanos;
use mintage_lease::identity::Identity;
use mintage_lease::request::{Block, Held, Request};
use mintage_lease::rules::created;
use mintage_lease::state::{Expected, Nonce, RowWrite, Seen, Tick, Witness};

/// One moment.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct World {
    pub(super) table: Table,
    /// A backup, or what a replica has.
    pub(super) copy: Option<Box<Table>>,
    /// What the store is.
    pub(super) live: Identity,
    /// The time that passed, in nanoseconds; stands still where the store's clock shows anything.
    pub(super) real: i16,
    /// How far the store's clock is ahead of it.
    pub(super) error: i16,
    /// The last of them is the forked child.
    pub(super) processes: Vec<Process>,
    /// Requests on their way whose sender waits no longer.
    pub(super) flights: Vec<Flight>,
    /// Writes of a store that reads in one transaction and writes in another.
    pub(super) halfway: Option<Halfway>,
    /// Bits: the ticks of each worker, or the values of the counter, that somebody may have used.
    pub(super) used: [u64; 2],
    /// The worker and tick, or the value, that two holders may use.
    pub(super) twice: Option<(u64, u64)>,
    /// What began a hold, or stopped a counter, though nothing was lost.
    pub(super) false_alarm: bool,
    /// Whether something was lost, or an operator spoke: alarms are right from here on.
    pub(super) is_alarming: bool,
    /// Whether the store forgot something and nobody noticed yet.
    pub(super) is_silent: bool,
    pub(super) left: Left,
}

/// A process, or the place of one that isn't there yet: a fresh process is the same as none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Process {
    pub(super) leases: Vec<Holding>,
    pub(super) block: Option<Block>,
    pub(super) witness: Witness,
    /// Its own, where nonces are drawn once a process.
    pub(super) nonce: Nonce,
    /// What a forked child has of its parent: inert, unless rule 8 is out.
    pub(super) inherited: Vec<Holding>,
    pub(super) inherited_block: Option<Block>,
}

/// The right to mint ticks `[from, to)` of a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Holding {
    /// As it is named in requests.
    pub(super) held: Held,
    pub(super) from: Tick,
    /// Never sinks, whatever an answer says.
    pub(super) to: Tick,
}

/// A request on its way.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Flight {
    pub(super) request: Request,
    pub(super) witness: Witness,
}

/// What a transaction that only read has decided.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Halfway {
    pub(super) process: usize,
    pub(super) rows: Vec<RowWrite>,
    pub(super) answer: mintage_lease::Answer,
}

impl Process {
    /// What orders processes, whatever their nonces are called.
    fn key(&self) -> impl Ord + use<> {
        let leases = self
            .leases
            .iter()
            .map(|Holding { held, from, to }| (held.worker, *from, *to, held.until, held.serial));
        let block = self.block.map(|block| (block.start, block.end, block.serial));
        (leases.collect::<Vec<_>>(), block, self.witness.serial, self.witness.mark)
    }
}

impl World {
    /// The beginning of a scene: a space that was just created.
    pub(super) fn new(scene: &Scene) -> Self {
        let live = Identity { origin: [1, 1, 0], started: Some(UnixNanos(-1)), ..Identity::default() };
        let seen =
            Seen { now: UnixNanos(0), live, expected: Expected::Anything, witness: Witness::default() };
        let (state, _) = created(&scene.space(), &seen, &[], true).expect("nothing was there before");
        Self {
            table: Table { space: 0, state, workers: Vec::new() },
            copy: None,
            live,
            real: 0,
            error: 0,
            processes: vec![Process::default(); scene.processes + usize::from(scene.left.forks)],
            flights: Vec::new(),
            halfway: None,
            used: [0; 2],
            twice: None,
            false_alarm: false,
            is_alarming: false,
            is_silent: false,
            left: scene.left,
        }
    }

    /// The store's clock.
    pub(super) fn now(&self) -> i16 {
        self.real + self.error
    }

    pub(super) fn leases(&self) -> impl Iterator<Item = &Holding> {
        self.processes.iter().flat_map(|process| &process.leases)
    }

    /// Whether somebody may have used a tick of `worker` below `tick`.
    pub(super) fn used_below(&self, worker: u64, tick: Tick) -> bool {
        self.used[index(worker)] & ((1 << tick) - 1) != 0
    }

    /// Somebody may use this cell from now on.
    pub(super) fn use_cell(&mut self, worker: u64, cell: u64) {
        let bit = 1 << cell;
        if self.used[index(worker)] & bit != 0 {
            self.twice = Some((worker, cell));
        }
        self.used[index(worker)] |= bit;
    }

    /// Nobody did use this cell, and nobody will.
    pub(super) fn spare_cell(&mut self, worker: u64, cell: u64) {
        self.used[index(worker)] &= !(1 << cell);
    }

    /// The lowest nonce that nobody knows: a drawn one, as nothing else is known of those.
    pub(super) fn fresh_nonce(&mut self) -> Nonce {
        let mut known = Vec::new();
        self.each_nonce(&mut |nonce| known.push(nonce.0));
        Nonce((1..).find(|nonce| !known.contains(nonce)).expect("more numbers than rows"))
    }

    /// The clocks that may follow.
    pub(super) fn clocks(&self, scene: &Scene) -> Vec<(i16, i16)> {
        match scene.clock {
            StoreClock::Any { last } => (0..=last).map(|error| (0, error)).collect(),
            StoreClock::Near { last, spread } => {
                let steps = (0..=spread).map(|error| (self.real, error));
                let passing = (self.real < last).then_some((self.real + 1, self.error));
                steps.chain(passing).collect()
            }
        }
    }

    /// The same moment in the one spelling that all moments have which differ only in what no rule can tell apart: the names of
    /// nonces, serials below all that can come again, and statistics. This makes the walk finite.
    ///
    /// Also says whether two processes changed places, as it doesn't matter which of them is which.
    pub(super) fn canonical(mut self) -> (Self, bool) {
        if self.left.restores == 0 {
            self.copy = None;
        }
        let stale = self.copy.iter_mut().map(|copy| &mut copy.state);
        for state in stale.chain([&mut self.table.state]) {
            state.holds = 0;
            state.block.jumps = 0;
            state.block.jumped = 0;
            state.block.largest = 0;
            state.block.minute = 0;
            state.block.in_minute = 0;
            state.block.peak = 0;
        }
        if self.flights.len() > 1 {
            self.flights.sort_by_cached_key(|flight| format!("{flight:?}"));
        }
        self.forget_witnesses();
        self.lower_serials();
        let is_swapped = self.order_processes();
        self.rename_nonces();
        (self, is_swapped)
    }

    fn order_processes(&mut self) -> bool {
        let [first, second] = &mut self.processes[..] else { return false };
        let is_swapped = self.halfway.is_none() && second.key() < first.key();
        if is_swapped {
            std::mem::swap(first, second);
        }
        is_swapped
    }

    /// What was seen and is no more than what the store and its copy show proves nothing, now or later: serials and highest marks
    /// only grow. A counter may sink, so there the mark stays.
    fn forget_witnesses(&mut self) {
        let states =
            [Some(&self.table), self.copy.as_deref()].into_iter().flatten().map(|table| &table.state);
        let shown = states.map(|state| (state.serial, state.high_mark));
        let (serial, mark) = shown.reduce(|a, b| (a.0.min(b.0), a.1.min(b.1))).unwrap_or_default();
        let flights = self.flights.iter_mut().map(|flight| &mut flight.witness);
        for witness in self.processes.iter_mut().map(|process| &mut process.witness).chain(flights) {
            if witness.serial <= serial && witness.mark <= mark {
                *witness = Witness::default();
            }
        }
    }

    fn rename_nonces(&mut self) {
        let mut known = Vec::new();
        self.each_nonce(&mut |nonce| {
            if *nonce != Nonce::NOBODY {
                let place = known.iter().position(|other| other == nonce).unwrap_or_else(|| {
                    known.push(*nonce);
                    known.len() - 1
                });
                *nonce = Nonce(place as u128 + 1);
            }
        });
    }

    /// Serials are compared for equality and order, and grow by one or by a jump. Those that the store and its copy have passed
    /// can't come again: only their order counts. Those above keep their distances.
    fn lower_serials(&mut self) {
        let passed =
            self.copy.as_ref().map_or(u64::MAX, |copy| copy.state.serial).min(self.table.state.serial);
        let mut low = Vec::with_capacity(16);
        self.each_serial(&mut |serial| {
            if *serial <= passed && *serial > 0 {
                low.push(*serial);
            }
        });
        low.sort_unstable();
        low.dedup();
        let sunk = passed - low.len() as u64;
        self.each_serial(&mut |serial| {
            if *serial > passed {
                *serial -= sunk;
            } else if *serial > 0 {
                *serial = low.binary_search(serial).expect("it was put in") as u64 + 1;
            }
        });
    }

    fn each_nonce(&mut self, visit: &mut dyn FnMut(&mut Nonce)) {
        let tables = [Some(&mut self.table), self.copy.as_deref_mut()].into_iter().flatten();
        for table in tables {
            table.workers.iter_mut().for_each(|row| visit(&mut row.nonce));
            visit(&mut table.state.block.nonce);
        }
        for process in &mut self.processes {
            visit(&mut process.nonce);
            let leases = process.leases.iter_mut().chain(&mut process.inherited);
            leases.for_each(|lease| visit(&mut lease.held.nonce));
            let blocks = process.block.iter_mut().chain(&mut process.inherited_block);
            blocks.for_each(|block| visit(&mut block.nonce));
        }
        for flight in &mut self.flights {
            match &mut flight.request {
                Request::Acquire(ask) => visit(&mut ask.nonce),
                Request::Claim(ask) => visit(&mut ask.nonce),
                Request::GiveBack(ask) => visit(&mut ask.block.nonce),
                Request::Release(ask) => visit(&mut ask.held.nonce),
                Request::Renew(held) | Request::Reassert(held) => {
                    held.iter_mut().for_each(|held| visit(&mut held.nonce));
                }
                _ => {}
            }
        }
        if let Some(halfway) = &mut self.halfway {
            each_in_halfway(halfway, visit, &mut |_| {});
        }
    }

    fn each_serial(&mut self, visit: &mut dyn FnMut(&mut u64)) {
        let tables = [Some(&mut self.table), self.copy.as_deref_mut()].into_iter().flatten();
        for table in tables {
            table.workers.iter_mut().for_each(|row| visit(&mut row.serial));
            visit(&mut table.state.serial);
            visit(&mut table.state.hold_serial);
            visit(&mut table.state.block.serial);
        }
        for process in &mut self.processes {
            visit(&mut process.witness.serial);
            let leases = process.leases.iter_mut().chain(&mut process.inherited);
            leases.for_each(|lease| visit(&mut lease.held.serial));
            let blocks = process.block.iter_mut().chain(&mut process.inherited_block);
            blocks.for_each(|block| visit(&mut block.serial));
        }
        for flight in &mut self.flights {
            visit(&mut flight.witness.serial);
            match &mut flight.request {
                Request::GiveBack(ask) => visit(&mut ask.block.serial),
                Request::Release(ask) => visit(&mut ask.held.serial),
                Request::Renew(held) | Request::Reassert(held) => {
                    held.iter_mut().for_each(|held| visit(&mut held.serial));
                }
                _ => {}
            }
        }
        if let Some(halfway) = &mut self.halfway {
            each_in_halfway(halfway, &mut |_| {}, visit);
        }
    }
}

fn each_in_halfway(
    halfway: &mut Halfway,
    nonce: &mut dyn FnMut(&mut Nonce),
    serial: &mut dyn FnMut(&mut u64),
) {
    use mintage_lease::state::Expect;
    for write in &mut halfway.rows {
        nonce(&mut write.row.nonce);
        serial(&mut write.row.serial);
        if let Expect::Row { serial: expected, nonce: holder, .. } = &mut write.expect {
            nonce(holder);
            serial(expected);
        }
    }
    if let mintage_lease::Answer::Leases(leases) = &mut halfway.answer {
        for lease in leases {
            nonce(&mut lease.nonce);
            serial(&mut lease.serial);
        }
    }
}

impl Comeback {
    /// What a store is that goes on from a copy at `now`.
    pub(super) fn live(self, live: &Identity, now: i16) -> Identity {
        let [id, table, rest] = live.origin;
        match self {
            Self::OlderCopy => Identity { origin: [id + 1, table, rest], ..*live },
            Self::Promoted => Identity { timeline: live.timeline + 1, ..*live },
            Self::Restarted => Identity { started: Some(UnixNanos(i128::from(now))), ..*live },
            Self::Silent => *live,
        }
    }

    /// Whether a counter is safe when its store comes back in this way and lost the values between. Rule 18.
    pub(super) fn keeps_counter(self, hands_out: HandsOut, lost: u64) -> bool {
        match (hands_out, self) {
            (HandsOut::Blocks { gap, .. }, Self::Promoted) => lost <= gap,
            (HandsOut::Blocks { .. }, Self::Restarted) => lost == 0,
            _ => true,
        }
    }
}

/// Workers are few.
pub(super) fn index(worker: u64) -> usize {
    usize::try_from(worker).expect("a worker of a scene")
}
