//! What may happen next, and what it leads to.

use super::broken;
use super::rules::Out;
use super::scenes::{Comeback, Scene, StoreClock};
use super::table::{Table, Told};
use super::world::{Flight, Halfway, Process, World};
use mintage::UnixNanos;
use mintage_lease::Answer;
use mintage_lease::request::{Bump, Event, Lease, Loss, Request};
use mintage_lease::rules;
use mintage_lease::space::Space;
use mintage_lease::state::{Expected, Seen, Tick, Witness};

/// One thing that happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Step {
    /// Time passes, or the store's clock steps.
    Clock {
        real: i16,
        error: i16,
    },
    /// A process asks.
    Send {
        process: usize,
        ask: Ask,
        fate: Fate,
    },
    /// A request that was on its way reaches the store; nobody waits for the answer.
    Arrive(usize),
    /// A store that read in one transaction writes in another.
    Write,
    /// A process ends without a word.
    Crash(usize),
    /// A process forks.
    Fork(usize),
    /// A copy is taken of the store.
    Copy,
    /// The store goes on from its copy.
    Restore(Comeback),
    /// The store loses its last write, and nothing shows it.
    Lose,
    /// An operator's words.
    Hold,
    NothingLost,
    Burn(u64),
    Bump,
    /// The space is dropped and created again.
    Recreate,
    /// A holder that asked its clock mints what it shows now.
    MintByClock(usize),
}

/// What a process asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Ask {
    Acquire,
    Renew,
    Release {
        lease: usize,
        last: Option<Tick>,
    },
    Reassert,
    Claim(u64),
    GiveBack(u64),
    /// A forked child's, about what its parent holds.
    RenewInherited,
    ReleaseInherited(Option<Tick>),
    GiveBackInherited(u64),
}

/// What becomes of a request. One that is lost is one that is late and never arrives; one whose answer is lost is late too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Fate {
    Answered,
    /// Its sender gives up; it may arrive later.
    Late,
    /// It is answered, and arrives once more later.
    Doubled,
    /// It is answered by a store that read first and has yet to write.
    ReadFirst,
}

/// The kind of a step, to say in which order things went wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Word {
    Clock,
    Acquire,
    Renew,
    Release,
    Reassert,
    Claim,
    GiveBack,
    Arrive,
    Write,
    Fork,
    Copy,
    Restore,
    Lose,
    Hold,
    NothingLost,
    Recreate,
    Bump,
    Mint,
    Other,
}

/// The protocol within a scene, with rules taken out.
#[derive(Debug)]
pub(super) struct Protocol {
    pub(super) scene: &'static Scene,
    pub(super) space: Space,
    pub(super) outs: &'static [Out],
    /// Which of the scene's `meets` were met.
    pub(super) met: Vec<std::sync::atomic::AtomicBool>,
}

impl Step {
    pub(super) fn word(&self) -> Word {
        match self {
            Self::Clock { .. } => Word::Clock,
            Self::Send { ask, .. } => match ask {
                Ask::Acquire => Word::Acquire,
                Ask::Renew | Ask::RenewInherited => Word::Renew,
                Ask::Release { .. } | Ask::ReleaseInherited(_) => Word::Release,
                Ask::Reassert => Word::Reassert,
                Ask::Claim(_) => Word::Claim,
                Ask::GiveBack(_) | Ask::GiveBackInherited(_) => Word::GiveBack,
            },
            Self::Arrive(_) => Word::Arrive,
            Self::Write => Word::Write,
            Self::Fork(_) => Word::Fork,
            Self::Copy => Word::Copy,
            Self::Restore(_) => Word::Restore,
            Self::Lose => Word::Lose,
            Self::Hold => Word::Hold,
            Self::NothingLost => Word::NothingLost,
            Self::Recreate => Word::Recreate,
            Self::Bump => Word::Bump,
            Self::MintByClock(_) => Word::Mint,
            Self::Burn(_) | Self::Crash(_) => Word::Other,
        }
    }
}

impl Protocol {
    pub(super) fn new(scene: &'static Scene, outs: &'static [Out]) -> Self {
        let met = scene.meets.iter().map(|_| false.into()).collect();
        Self { scene, space: scene.space(), outs, met }
    }

    pub(super) fn is_out(&self, rule: Out) -> bool {
        self.outs.contains(&rule)
    }

    /// The first moment.
    pub(super) fn beginning(&self) -> World {
        let mut world = World::new(self.scene);
        world.table.state.restart_hold = !self.is_out(Out::RestartHold);
        world
    }

    /// Everything that may happen in this moment.
    pub(super) fn steps(&self, world: &World, steps: &mut Vec<Step>) {
        self.worlds_steps(world, steps);
        let mut is_blank_before = false;
        for (i, process) in world.processes.iter().enumerate() {
            let is_born = i < self.scene.processes || world.left.forks == 0;
            let is_blank = *process == Process::default();
            // Blank processes are alike: the first of them acts.
            if is_born && !(is_blank && is_blank_before) {
                self.processes_steps(world, i, process, steps);
            }
            is_blank_before |= is_blank;
        }
    }

    fn worlds_steps(&self, world: &World, steps: &mut Vec<Step>) {
        let left = &world.left;
        let clock = match self.scene.clock {
            StoreClock::Near { last, spread } if self.is_out(Out::SkewHolds) => {
                StoreClock::Near { last, spread: spread * 2 }
            }
            clock => clock,
        };
        let clocks = world.clocks(&Scene { clock, ..*self.scene });
        let clocks = clocks.into_iter().filter(|clock| *clock != (world.real, world.error));
        steps.extend(clocks.map(|(real, error)| Step::Clock { real, error }));
        steps.extend((0..world.flights.len()).map(Step::Arrive));
        if world.halfway.is_some() {
            steps.push(Step::Write);
        }
        if self.is_out(Out::Durable) && world.copy.is_some() && left.restores > 0 {
            steps.push(Step::Lose);
        }
        if left.copies > 0 && left.restores > 0 {
            steps.push(Step::Copy);
        }
        if left.restores > 0
            && let Some(copy) = &world.copy
        {
            let lost = highest_used(world).saturating_sub(copy.state.block.next);
            let is_covered = |comeback: &Comeback| {
                self.is_out(Out::LossWithinGap) || comeback.keeps_counter(self.scene.hands_out, lost)
            };
            let comebacks = self.scene.comebacks.iter().copied().filter(is_covered);
            steps.extend(comebacks.map(Step::Restore));
        }
        if left.holds > 0 {
            steps.push(Step::Hold);
        }
        let is_held = world.table.state.hold_serial > 0;
        let is_right = self.scene.left.holds > 0 && !world.is_alarming;
        if is_held && (is_right || self.is_out(Out::OperatorIsRight)) {
            steps.push(Step::NothingLost);
        }
        if left.burns > 0 {
            steps.push(Step::Burn(0));
        }
        if left.recreations > 0 {
            steps.push(Step::Recreate);
        }
        if left.bumps > 0 && world.table.state.block.is_stale {
            steps.push(Step::Bump);
        }
    }

    /// What a step leads to; `None` when it changes nothing, or may not happen.
    pub(super) fn next(&self, before: &World, step: Step) -> Option<World> {
        self.next_and_swapped(before, step).map(|(world, _)| world)
    }

    /// The same, and whether processes changed places.
    pub(super) fn next_and_swapped(&self, before: &World, step: Step) -> Option<(World, bool)> {
        let mut world = before.clone();
        match step {
            Step::Clock { real, error } => (world.real, world.error) = (real, error),
            Step::Send { process, ask, fate } => self.send(&mut world, process, ask, fate)?,
            Step::Arrive(i) => {
                let flight = world.flights.remove(i);
                self.transact(&mut world, &flight)?;
            }
            Step::Write => self.write(&mut world),
            Step::Crash(i) => {
                world.left.crashes -= 1;
                world.processes[i] = Process::default();
            }
            Step::Fork(i) => self.fork(&mut world, i),
            Step::Copy => {
                world.left.copies -= 1;
                world.copy = Some(Box::new(world.table.clone()));
            }
            Step::Restore(comeback) => {
                world.left.restores -= 1;
                world.left.writes = self.scene.left.writes;
                let copy = world.copy.clone().expect("a step of a world with a copy");
                world.is_silent = comeback == Comeback::Silent && *copy != world.table;
                world.is_alarming = true;
                world.table = *copy;
                world.live = comeback.live(&world.live, world.now());
            }
            Step::Lose => {
                world.left.restores -= 1;
                world.is_alarming = true;
                world.table = *world.copy.take().expect("a step of a world with a copy");
            }
            Step::Hold => {
                world.left.holds -= 1;
                self.operate(&mut world, Request::Hold)?;
            }
            Step::NothingLost => self.operate(&mut world, Request::ReleaseHold)?,
            Step::Burn(worker) => {
                world.left.burns -= 1;
                self.operate(&mut world, Request::Burn(worker))?;
            }
            Step::Bump => {
                world.left.bumps -= 1;
                let next = world.table.state.block.next;
                let to = if self.is_out(Out::BumpAboveAll) { next } else { next.max(highest_used(&world)) };
                self.operate(&mut world, Request::Bump(Bump::To(to)))?;
            }
            Step::Recreate => self.recreate(&mut world),
            Step::MintByClock(i) => {
                let lease = world.processes[i].leases[0];
                let tick = u64::try_from(world.now()).ok()?;
                if (lease.from..lease.to).contains(&tick) {
                    return None;
                }
                world.use_cell(lease.held.worker, tick);
            }
        }
        let (world, is_swapped) = world.canonical();
        (world != *before).then_some((world, is_swapped))
    }

    /// One transaction of the store. `None` when it isn't this client's turn after a silent loss.
    fn transact(&self, world: &mut World, flight: &Flight) -> Option<Told> {
        let seen = Seen {
            now: UnixNanos(i128::from(world.now())),
            live: world.live,
            expected: Expected::Anything,
            witness: flight.witness,
        };
        let rows = world.table.rows(&self.space.kind, &seen, &flight.request);
        if world.is_silent && !self.is_out(Out::WitnessFirst) {
            let decision = rules::decide(&self.space.kind, &world.table.state, &seen, &flight.request, &rows);
            if !decision.events.iter().any(is_alarm) {
                return None;
            }
            world.is_silent = false;
        }
        let decision = broken::decide(self, &world.table.state, &seen, &flight.request, &rows);
        if self.is_out(Out::Durable) && decision.state.is_some() {
            world.copy = Some(Box::new(world.table.clone()));
        }
        let can_be_lost = world.copy.is_some() && world.left.restores > 0 && !self.is_out(Out::Durable);
        if can_be_lost && decision.state.is_some() {
            world.left.writes = world.left.writes.checked_sub(1)?;
        }
        let told = world.table.carry_out(decision);
        world.false_alarm |= !world.is_alarming && told.events.iter().any(is_alarm);
        Some(told)
    }

    fn operate(&self, world: &mut World, request: Request) -> Option<()> {
        let told = self.transact(world, &Flight { request, witness: Witness::default() })?;
        told.answer.ok().map(|_| ())
    }

    fn send(&self, world: &mut World, process: usize, ask: Ask, fate: Fate) -> Option<()> {
        let flight = self.flight(world, process, ask);
        let is_end = matches!(ask, Ask::Release { .. } | Ask::GiveBack(_));
        if is_end && !world.flights.is_empty() && !self.is_out(Out::SettledBeforeEnd) {
            // What is late may arrive after it, and look like a loss.
            world.is_alarming = true;
        }
        let is_revocable = self.is_out(Out::Irrevocable) && fate == Fate::Late;
        if !is_revocable {
            self.let_go(world, process, ask);
        }
        match fate {
            Fate::Late => {
                world.left.delays -= 1;
                if is_end && self.is_out(Out::NotSentAgain) {
                    world.flights.push(flight.clone());
                }
                world.flights.push(flight);
            }
            Fate::Answered | Fate::Doubled => {
                let told = self.transact(world, &flight)?;
                if fate == Fate::Doubled {
                    world.left.doubles -= 1;
                    world.flights.push(flight);
                }
                if let Ok(answer) = &told.answer {
                    self.take(world, process, ask, answer);
                }
            }
            Fate::ReadFirst => {
                let mut reader = world.clone();
                let told = self.transact(&mut reader, &flight)?;
                let answer = told.answer.ok()?;
                let Answer::Leases(leases) = &answer else { return None };
                let write = |lease: &Lease| {
                    let row = reader.table.row(lease.worker).expect("it was written").clone();
                    let expect = mintage_lease::state::Expect::of(world.table.row(lease.worker));
                    mintage_lease::state::RowWrite { row, expect }
                };
                let rows = leases.iter().map(write).collect();
                world.halfway = Some(Halfway { process, rows, answer });
            }
        }
        Some(())
    }

    /// The second transaction of a store that needs two: it compares the worker's row alone.
    fn write(&self, world: &mut World) {
        let Some(Halfway { process, rows, answer }) = world.halfway.take() else { return };
        let is_written = rows.into_iter().all(|row| world.table.write(row));
        if is_written {
            world.table.state.serial += 1;
            let highest = world.table.workers.iter().map(|row| row.mark).max().unwrap_or(0);
            world.table.state.high_mark = world.table.state.high_mark.max(highest);
            world.table.state.next_worker = world.table.state.next_worker.max(1);
            self.take(world, process, Ask::Acquire, &answer);
        }
    }

    fn recreate(&self, world: &mut World) {
        world.left.recreations -= 1;
        let seen = Seen {
            now: UnixNanos(i128::from(world.now())),
            live: world.live,
            expected: Expected::Anything,
            witness: Witness::default(),
        };
        let mut old = world.table.state.clone();
        if self.is_out(Out::RecreatedAboveOld) {
            (old.floor, old.high_mark) = (0, 0);
        }
        let tombstone = (!self.is_out(Out::Tombstone)).then_some((&self.space, &old));
        let created = rules::created(&self.space, &seen, tombstone.as_slice(), true);
        let (mut state, _) = created.expect("the same numbering");
        if self.is_out(Out::OldFloorStays) {
            state.old_floor = 0;
        }
        world.table = Table { space: world.table.space + 1, state, workers: Vec::new() };
        if !self.is_out(Out::SpaceId) {
            // Whoever knows the old space is refused whatever it asks: its windows count as used, and nothing else of it matters.
            world.processes.iter_mut().for_each(|process| *process = Process::default());
            world.flights.clear();
        }
    }
}

/// Above every value that somebody may have used.
fn highest_used(world: &World) -> u64 {
    u64::from(u64::BITS - world.used[0].leading_zeros())
}

fn is_alarm(event: &Event) -> bool {
    match event {
        Event::HoldBegan { why, .. } | Event::Stopped { why } => {
            !matches!(why, Loss::Operator | Loss::CreatedAgain)
        }
        Event::Jumped { .. } | Event::ScopesJumped { .. } => true,
        Event::HoldStays { .. } | Event::RestartPassed => false,
    }
}
