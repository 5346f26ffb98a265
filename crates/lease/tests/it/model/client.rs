//! The processes: what each may ask, what it gives up by asking, and what it makes of an answer.

use super::rules::Out;
use super::scenes::HandsOut;
use super::steps::{Ask, Fate, Protocol, Step};
use super::world::{Flight, Holding, Process, World};
use mintage_lease::Answer;
use mintage_lease::request::{Acquire, Claim, GiveBack, Held, Release, Request};
use mintage_lease::state::{Nonce, Tick, Witness};

impl Protocol {
    pub(super) fn processes_steps(&self, world: &World, process: usize, it: &Process, steps: &mut Vec<Step>) {
        let left = &world.left;
        let mut asks = Vec::new();
        match self.scene.hands_out {
            HandsOut::Windows { .. } if it.leases.is_empty() => asks.push(Ask::Acquire),
            HandsOut::Windows { .. } => {
                asks.push(Ask::Renew);
                let floor = world.table.state.floor;
                if floor > 0 || self.is_out(Out::ReassertInHold) {
                    asks.push(Ask::Reassert);
                }
                for (lease, holding) in it.leases.iter().enumerate() {
                    if !self.is_out(Out::WholeTicks) {
                        asks.push(Ask::Release { lease, last: None });
                        let lasts = holding.from..holding.to;
                        asks.extend(lasts.map(|last| Ask::Release { lease, last: Some(last) }));
                    }
                }
            }
            HandsOut::Blocks { most, .. } => match it.block {
                None => asks.extend((1..=most).map(Ask::Claim)),
                Some(block) => asks.extend((block.start..=block.end).map(Ask::GiveBack)),
            },
        }
        if it.block.is_some() && left.delays > 0 {
            // The next block is asked for while there is one.
            steps.push(Step::Send { process, ask: Ask::Claim(1), fate: Fate::Late });
        }
        if let Some(lease) = it.inherited.first() {
            if self.is_out(Out::ChildRenewsNothing) {
                asks.push(Ask::RenewInherited);
            }
            if self.is_out(Out::ChildReleasesNothing) {
                asks.push(Ask::ReleaseInherited(None));
                asks.push(Ask::ReleaseInherited(Some(lease.from)));
            }
        }
        if let Some(block) = it.inherited_block {
            asks.push(Ask::GiveBackInherited(block.start));
        }
        for ask in asks {
            steps.push(Step::Send { process, ask, fate: Fate::Answered });
            if left.delays > 0 {
                steps.push(Step::Send { process, ask, fate: Fate::Late });
            }
            if left.doubles > 0 {
                steps.push(Step::Send { process, ask, fate: Fate::Doubled });
            }
            if ask == Ask::Acquire && self.is_out(Out::OneTransaction) && world.halfway.is_none() {
                steps.push(Step::Send { process, ask, fate: Fate::ReadFirst });
            }
        }
        let holds_something = !it.leases.is_empty() || it.block.is_some();
        if holds_something && left.crashes > 0 {
            steps.push(Step::Crash(process));
        }
        if holds_something && left.forks > 0 {
            steps.push(Step::Fork(process));
        }
        if self.is_out(Out::CheckOfTick) && !it.leases.is_empty() {
            steps.push(Step::MintByClock(process));
        }
    }

    pub(super) fn flight(&self, world: &mut World, process: usize, ask: Ask) -> Flight {
        let mut nonce = world.fresh_nonce();
        if self.is_out(Out::NonceOfRequest) {
            let own = &mut world.processes[process].nonce;
            if *own == Nonce::NOBODY {
                *own = nonce;
            }
            nonce = *own;
        }
        let it = &world.processes[process];
        let mut witness = it.witness;
        let held = |leases: &[Holding]| leases.iter().map(|lease| lease.held).collect::<Vec<Held>>();
        let block = || it.block.or(it.inherited_block).expect("a step of a process with a block");
        let request = match ask {
            Ask::Acquire => Request::Acquire(Acquire { nonce, want: self.scene.want, host: String::new() }),
            Ask::Renew => Request::Renew(held(&it.leases)),
            Ask::RenewInherited => Request::Renew(held(&it.inherited)),
            Ask::Release { lease, last } => Request::Release(Release { held: it.leases[lease].held, last }),
            Ask::ReleaseInherited(last) => Request::Release(Release { held: it.inherited[0].held, last }),
            Ask::Reassert => Request::Reassert(held(&it.leases)),
            Ask::Claim(size) => Request::Claim(Claim { nonce, size }),
            Ask::GiveBack(unused) | Ask::GiveBackInherited(unused) => {
                witness.mark = witness.mark.min(unused);
                Request::GiveBack(GiveBack { block: block(), unused })
            }
        };
        Flight { request, witness }
    }

    /// What a holder gives up when it sends a release or gives back, whatever the store answers.
    pub(super) fn let_go(&self, world: &mut World, process: usize, ask: Ask) {
        let it = &mut world.processes[process];
        match ask {
            Ask::Release { lease, last } => {
                let holding = it.leases.remove(lease);
                let unused = last.map_or(holding.from, |last| last + 1);
                for tick in unused..holding.to {
                    world.spare_cell(holding.held.worker, tick);
                }
            }
            Ask::GiveBack(unused) => {
                let block = it.block.take().expect("a step of a process with a block");
                it.witness.mark = it.witness.mark.min(unused);
                for value in unused..block.end {
                    world.spare_cell(0, value);
                }
            }
            Ask::ReleaseInherited(_) => it.inherited.clear(),
            Ask::GiveBackInherited(_) => it.inherited_block = None,
            _ => {}
        }
    }

    /// What a process makes of its answer.
    pub(super) fn take(&self, world: &mut World, process: usize, ask: Ask, answer: &Answer) {
        match answer {
            Answer::Leases(leases) => {
                for lease in leases {
                    self.use_ticks(world, lease.worker, self.first_cell(lease.from), lease.until);
                    let holding = Holding { held: lease.held(), from: lease.from, to: lease.until };
                    world.processes[process].leases.push(holding);
                    world.processes[process].witness.see(lease.serial, lease.until);
                }
            }
            Answer::Each(each) if ask == Ask::RenewInherited => {
                if let Some(Ok(lease)) = each.first() {
                    self.use_ticks(world, lease.worker, lease.from, lease.until);
                    world.processes[process].inherited[0].held = lease.held();
                }
            }
            Answer::Each(each) => {
                for (i, lease) in each.iter().enumerate() {
                    let Ok(lease) = lease else { continue };
                    let holding = world.processes[process].leases[i];
                    if self.outs.is_empty() {
                        assert_eq!(lease.from, holding.to, "a renewal that isn't contiguous");
                    }
                    self.use_ticks(world, lease.worker, self.end_cell(holding.to), lease.until);
                    let to = holding.to.max(lease.until);
                    world.processes[process].leases[i] = Holding { held: lease.held(), to, ..holding };
                    world.processes[process].witness.see(lease.serial, lease.until);
                }
            }
            Answer::Block(block) => {
                for value in block.start..block.end {
                    world.use_cell(0, value);
                }
                world.processes[process].block = Some(*block);
                world.processes[process].witness.see(block.serial, block.end);
            }
            Answer::Done | Answer::Scopes(_) => {}
        }
    }

    fn use_ticks(&self, world: &mut World, worker: u64, first_cell: u64, until: Tick) {
        let worker = if self.is_out(Out::WorkerFits) { 0 } else { worker };
        for cell in first_cell..self.end_cell(until) {
            world.use_cell(worker, if self.is_out(Out::TickFits) { cell % 4 } else { cell });
        }
    }

    /// The tick of an id that is made at the beginning of a window.
    fn first_cell(&self, from: Tick) -> u64 {
        if self.is_out(Out::WholeTicks) { from / self.tick() } else { from }
    }

    /// The tick after that of the last id of a window.
    fn end_cell(&self, until: Tick) -> u64 {
        if self.is_out(Out::WholeTicks) { until.div_ceil(self.tick()) } else { until }
    }

    fn tick(&self) -> u64 {
        match self.scene.hands_out {
            HandsOut::Windows { tick, .. } => tick,
            HandsOut::Blocks { .. } => 1,
        }
    }

    pub(super) fn fork(&self, world: &mut World, parent: usize) {
        world.left.forks -= 1;
        let Process { leases, block, witness, .. } = world.processes[parent].clone();
        if self.is_out(Out::ChildMintsNothing) {
            for lease in &leases {
                self.use_ticks(world, lease.held.worker, lease.from, lease.to);
            }
            for value in block.iter().flat_map(|block| block.start..block.end) {
                world.use_cell(0, value);
            }
        }
        let child = world.processes.last_mut().expect("a scene with a place for the child");
        // What a parent gives back isn't seen by its child, so what the parent had seen proves nothing there.
        child.witness = if self.is_out(Out::ChildSawNothing) { witness } else { Witness::default() };
        if self.is_out(Out::ChildReleasesNothing) || self.is_out(Out::ChildRenewsNothing) {
            child.inherited = leases;
            child.inherited_block = block;
        }
    }
}
