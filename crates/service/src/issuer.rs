//! A space that is open in this server: what hands out its ids.

use crate::fault::{Fault, Kind};
use crate::metrics::SpaceCounters;
use crate::waiting::Waiting;
use mintage::text::DECIMAL;
use mintage::{Clock, RawId, Scheme, SystemClock};
use mintage_lease::allocator::Counts;
use mintage_lease::request::Block;
use mintage_lease::session::OpenSpace;
use mintage_lease::space::{Kind as Terms, Space};
use mintage_lease::state::ScopeName;
use mintage_lease::{Allocator, Minter, Run, ScopeCounters, Tickets};
use std::ops::Range;
use std::time::Duration;

/// Hands out the ids of one space.
#[derive(Debug)]
pub struct Issuer {
    space: OpenSpace,
    source: Source,
    waiting: Waiting,
    counters: SpaceCounters,
}

/// What is held for a space in memory.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Held {
    /// Each call asks the store.
    Nothing,
    /// A worker.
    Window {
        /// How long without the store.
        remaining: Duration,
        /// How far ids are behind.
        lag: Duration,
        /// The store's clock less the host's.
        store_offset_nanos: i128,
        /// How far ids may be out of order.
        k_bound: Duration,
    },
    /// Blocks.
    Blocks {
        /// Values left.
        remaining: u64,
        /// What became of others.
        counts: Counts,
    },
}

#[derive(Debug)]
enum Source {
    /// A worker that is leased.
    Windows(Minter),
    /// Blocks that are claimed ahead.
    Blocks(Allocator),
    /// A round trip to the store a value.
    Tickets(Tickets),
    /// A round trip to the store a call.
    Scopes(ScopeCounters),
}

/// What was handed out.
#[derive(Clone, Debug)]
pub enum Issued {
    /// Ids of a scheme.
    Ids(&'static Scheme, Vec<RawId>),
    /// Values of a counter, as runs that follow each other.
    Values(Vec<Run>),
}

impl Issued {
    /// Each as its canonical text, one a line.
    ///
    /// # Errors
    /// [`Kind::Internal`] for an id that its scheme doesn't print, of which there is none.
    pub fn lines(&self) -> Result<String, Fault> {
        let mut lines = String::new();
        match self {
            Self::Ids(scheme, ids) => scheme.canonical().print_lines(ids.iter().copied(), &mut lines),
            Self::Values(runs) => {
                DECIMAL.print_lines(runs.iter().flat_map(Run::values).map(RawId::from), &mut lines)
            }
        }
        .map_err(|error| Fault::new(Kind::Internal, error.to_string()))?;
        Ok(lines)
    }

    /// Each as so many bytes as its layout has, big-endian, one after the other; values of counters as 8.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        match self {
            Self::Ids(scheme, ids) => {
                let from = 20 - usize::try_from(scheme.layout.bits().div_ceil(8)).unwrap_or(20);
                ids.iter().flat_map(|id| id.to_be_bytes().into_iter().skip(from)).collect()
            }
            Self::Values(runs) => {
                let count: u64 = runs.iter().map(|run| run.count).sum();
                let mut bytes = Vec::with_capacity(usize::try_from(count).unwrap_or(0) * 8);
                runs.iter()
                    .flat_map(Run::values)
                    .for_each(|value| bytes.extend_from_slice(&value.to_be_bytes()));
                bytes
            }
        }
    }
}

impl Issuer {
    /// Opens what hands out the ids of a space: for windows a worker is leased now, for blocks the first is claimed.
    ///
    /// # Errors
    /// What keeps the store from it.
    pub(crate) async fn open(
        space: &OpenSpace,
        waiting: Waiting,
        counters: SpaceCounters,
    ) -> Result<Self, Fault> {
        let source = match &space.facts().kind {
            Terms::Windows(_) => Source::Windows(space.minter().await?),
            Terms::Blocks(terms) if terms.max_size == 1 => Source::Tickets(space.tickets().await?),
            Terms::Blocks(_) => Source::Blocks(space.allocator().await?),
            Terms::Scopes(_) => Source::Scopes(space.scope_counters()?),
        };
        Ok(Self { space: space.clone(), source, waiting, counters })
    }

    /// The space's facts.
    #[must_use]
    pub fn facts(&self) -> &Space {
        self.space.facts()
    }

    /// So many ids, at least 1, each as it comes next.
    ///
    /// # Errors
    /// [`Kind::WrongKind`] for a space of scopes, [`Kind::BadRequest`] for more than one ticket, and whatever keeps the store from handing out
    /// more once what is held is used up.
    pub async fn issue(&self, count: usize) -> Result<Issued, Fault> {
        let issued = self.issued(count).await?;
        self.counters.ids.inc_by(count as u64);
        Ok(issued)
    }

    async fn issued(&self, count: usize) -> Result<Issued, Fault> {
        match &self.source {
            Source::Windows(minter) => {
                if count == 1 {
                    match minter.try_next() {
                        Ok(id) => return Ok(Issued::Ids(minter.scheme(), vec![id])),
                        Err(_) => self.counters.waits.inc(),
                    }
                }
                // A batch is work of milliseconds, and may wait for ticks.
                let (minter, scheme) = (minter.clone(), minter.scheme());
                let mut ids = vec![RawId::ZERO; count];
                let ids = self.waiting.elsewhere(move || minter.fill(&mut ids).map(|()| ids)).await??;
                Ok(Issued::Ids(scheme, ids))
            }
            Source::Blocks(allocator) => {
                // What memory has is had at once.
                let (mut runs, mut left) = (Vec::new(), count as u64);
                while left > 0
                    && let Ok(run) = allocator.try_run(left)
                {
                    left -= run.count;
                    runs.push(run);
                }
                if left > 0 {
                    let allocator = allocator.clone();
                    let rest = self.waiting.elsewhere(move || allocator.runs(left)).await??;
                    runs.extend(rest);
                }
                Ok(Issued::Values(runs))
            }
            Source::Tickets(_) => Ok(Issued::Values(vec![Run::of(self.last(count as u64).await?)])),
            Source::Scopes(_) => Err(self.is_not("/ids and MINT")),
        }
    }

    /// The next value of a counter without waiting, where memory has one.
    #[must_use]
    pub fn try_next(&self) -> Option<u64> {
        let Source::Blocks(allocator) = &self.source else { return None };
        let value = allocator.try_next().ok()?;
        self.counters.ids.inc();
        Some(value)
    }

    /// The last of `count` values that follow each other, as `INCRBY` tells it.
    ///
    /// # Errors
    /// [`Kind::WrongKind`] for a space that has no counter, [`Kind::BadRequest`] for more values than the space hands out at once, and whatever
    /// keeps the store from answering.
    pub async fn next(&self, count: u64) -> Result<u64, Fault> {
        let last = self.last(count).await?;
        self.counters.ids.inc_by(count);
        Ok(last)
    }

    async fn last(&self, count: u64) -> Result<u64, Fault> {
        match &self.source {
            Source::Blocks(allocator) if count == 1 => {
                if let Ok(value) = allocator.try_next() {
                    return Ok(value);
                }
                let allocator = allocator.clone();
                Ok(self.waiting.elsewhere(move || allocator.next()).await??)
            }
            Source::Tickets(tickets) if count == 1 => Ok(tickets.next_async().await?),
            Source::Blocks(allocator) => match allocator.try_run_of(count) {
                Some(run) => Ok(run.last()),
                None => self.last_of_block(count).await,
            },
            Source::Tickets(_) => self.last_of_block(count).await,
            Source::Windows(_) | Source::Scopes(_) => Err(self.is_not("INCR, INCRBY and /blocks")),
        }
    }

    async fn last_of_block(&self, count: u64) -> Result<u64, Fault> {
        let block = self.claimed(count).await?;
        Ok(block.end - block.step)
    }

    /// A block of exactly so many values, for the caller alone.
    ///
    /// # Errors
    /// See [`Issuer::next`]; [`Kind::Exhausted`] where fewer are left, which are then gone.
    pub async fn block(&self, count: u64) -> Result<Block, Fault> {
        let block = self.claimed(count).await?;
        self.counters.ids.inc_by(count);
        Ok(block)
    }

    async fn claimed(&self, count: u64) -> Result<Block, Fault> {
        if let Source::Windows(_) | Source::Scopes(_) = &self.source {
            return Err(self.is_not("INCR, INCRBY and /blocks"));
        }
        let block = self.space.block(count).await?;
        let had = (block.end - block.start).div_ceil(block.step);
        if had < count {
            let detail = format!(
                "{}: {count} values were asked for, the last {had} are used up by it",
                self.facts().name
            );
            return Err(Fault::new(Kind::Exhausted, detail));
        }
        Ok(block)
    }

    /// So many numbers of a scope, one after the other.
    ///
    /// # Errors
    /// [`Kind::WrongKind`] for a space of another kind, and whatever keeps the store from answering.
    pub async fn of_scope(&self, scope: &ScopeName, count: u64) -> Result<Range<u64>, Fault> {
        match &self.source {
            Source::Scopes(counters) => {
                let numbers = counters.take_async(scope, count).await?;
                self.counters.ids.inc_by(count);
                Ok(numbers)
            }
            _ => Err(self.is_not("/scopes")),
        }
    }

    /// What keeps it from handing out ids at the moment; nothing where it can, or where each call asks the store.
    #[must_use]
    pub fn lacks(&self) -> Option<String> {
        let name = &self.facts().name;
        match (&self.source, self.held()) {
            // Ids go on behind the time for so long.
            (Source::Windows(_), Held::Window { lag, .. }) if lag >= self.max_lag() => {
                Some(format!("{name}: its window has ended, and the store hasn't lengthened it"))
            }
            (_, Held::Blocks { remaining: 0, .. }) => {
                Some(format!("{name}: its block is used up, and the store hasn't handed out another"))
            }
            _ => None,
        }
    }

    fn max_lag(&self) -> Duration {
        let windows = self.facts().windows();
        windows.map_or(Duration::ZERO, |windows| Duration::from_nanos(windows.terms.timing.max_lag_nanos))
    }

    /// What is held in memory.
    pub(crate) fn held(&self) -> Held {
        match &self.source {
            Source::Windows(minter) => {
                let timing = self.facts().windows().map(|windows| windows.terms.timing);
                let k_nanos = timing.map_or(0, |timing| {
                    timing.max_lag_nanos + timing.max_lead_nanos + timing.max_store_skew_nanos
                });
                Held::Window {
                    remaining: minter.remaining(),
                    lag: minter.lag(),
                    store_offset_nanos: minter.store_now().0 - SystemClock.now().0,
                    k_bound: Duration::from_nanos(k_nanos),
                }
            }
            Source::Blocks(allocator) => {
                Held::Blocks { remaining: allocator.remaining(), counts: allocator.counts() }
            }
            Source::Tickets(_) | Source::Scopes(_) => Held::Nothing,
        }
    }

    /// Gives back what is held.
    pub async fn close(&self) {
        // What can't be given back passes by itself.
        let _ = match &self.source {
            Source::Windows(minter) => minter.close().await,
            Source::Blocks(allocator) => allocator.close().await,
            Source::Tickets(_) | Source::Scopes(_) => Ok(()),
        };
    }

    fn is_not(&self, what: &str) -> Fault {
        let (name, kind) = (&self.facts().name, self.facts().kind.name());
        Fault::new(Kind::WrongKind, format!("{name} is a space of {kind}; {what} don't go with it"))
    }
}
