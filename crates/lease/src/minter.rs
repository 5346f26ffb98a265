//! Minters: hold one lease or several of a space, and mint from memory, without a lock.

pub(crate) mod holder;
mod lane;

use crate::error::Error;
use crate::own::Own;
use crate::space::{Space, Windows};
use holder::Command;
pub(crate) use lane::{Lane, Tenure};
use mintage::generators::counter::Parts;
use mintage::generators::runs::Runs;
use mintage::generators::window::WindowTerms;
use mintage::time::pause;
use mintage::{Clock, Generator, Layout, RawId, Scheme, Spent, Start, SystemClock, UnixNanos};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::oneshot;

/// How a minter mints.
#[derive(Clone, Copy, Debug)]
pub struct MinterOptions {
    /// How many leases, 1 to 1024; fewer are held where fewer workers are free or the host's quota is lower, which is told as
    /// [`AcquireFailed`](crate::Happening::AcquireFailed). Each adds the rate of a layout's sequence; ids are then in order per lease only.
    pub leases: u32,
    /// What to do when the sequence of a tick is spent.
    pub spent: Spent,
    /// Where the sequence of a tick begins. A tick of a worker has one holder, so each may choose.
    pub start: Start,
    /// How long [`Minter::next`] waits for the store when a window has ended; then it fails.
    pub patience: Duration,
}

impl Default for MinterOptions {
    fn default() -> Self {
        Self { leases: 1, spent: Spent::Wait, start: Start::Rolling, patience: Duration::from_secs(1) }
    }
}

/// Mints the ids of a space. Cheap to clone and safe to share; the last clone that is dropped gives its leases back in the background,
/// [`Minter::close`] does so and waits for it.
///
/// In a forked child it refuses to mint, and dropping it does nothing.
#[derive(Clone, Debug)]
pub struct Minter {
    lanes: Arc<Lanes>,
    link: Arc<Own<Link>>,
    patience: Duration,
}

/// The leases of a minter: plain memory, which threads share with the task that renews.
#[derive(Debug)]
pub(crate) struct Lanes {
    pub(crate) make: Make,
    lanes: Vec<Lane>,
    /// It was closed: no lease follows.
    pub(crate) is_closed: AtomicBool,
    /// Somebody waits for a window: the task needn't be woken again.
    is_wanted: AtomicBool,
    /// When the store is asked next, on the boottime clock.
    pub(crate) next_try: AtomicU64,
    change: Change,
}

/// What generators of a minter are made from.
#[derive(Debug)]
pub(crate) struct Make {
    pub(crate) scheme: &'static Scheme,
    pub(crate) layout: Layout,
    pub(crate) parts: Parts,
    pub(crate) terms: WindowTerms,
}

/// Counts what happened to the leases, and wakes who waits for it.
#[derive(Debug, Default)]
struct Change {
    count: Mutex<u64>,
    happened: Condvar,
}

/// The way to the task that holds the leases. Dropped with the last clone of a minter.
#[derive(Debug)]
struct Link {
    lanes: Arc<Lanes>,
    commands: UnboundedSender<Command>,
}

impl Change {
    fn count(&self) -> u64 {
        *self.count.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn happen(&self) {
        *self.count.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.happened.notify_all();
    }

    /// Waits until something has happened since `seen`.
    fn wait(&self, seen: u64, longest: Duration) {
        let count = self.count.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = self.happened.wait_timeout_while(count, longest, |count| *count == seen);
    }
}

/// A pause is cut into pieces of this length: a renewal may bring the clock forward meanwhile.
const LONGEST_PAUSE_NANOS: u64 = 50_000_000;

impl Drop for Link {
    fn drop(&mut self) {
        if !self.lanes.is_closed.load(Ordering::Relaxed) {
            let _ = self.commands.send(Command::Close { lanes: Arc::clone(&self.lanes), done: None });
        }
    }
}

impl Make {
    pub(crate) fn of(space: &Space, windows: &Windows, options: MinterOptions) -> Result<Self, Error> {
        let fault = |fault| Error::SpaceFault { space: space.name.clone(), fault };
        let layout = windows.layout().map_err(fault)?;
        let unknown = crate::space::SpaceFault::Scheme { found: windows.scheme.clone() };
        let scheme = Scheme::by_name(&windows.scheme).ok_or_else(|| fault(unknown))?;
        let timing = windows.terms.timing;
        let terms = WindowTerms {
            // Right after a renewal that comes late by half an interval this much is left: time doesn't dilate while all is well.
            reserve_nanos: timing.window_nanos.saturating_sub(timing.renew_nanos) / 4 * 3,
            lag_nanos: timing.max_lag_nanos,
            lead_nanos: timing.max_lead_nanos,
            skew_nanos: timing.max_store_skew_nanos,
            spent: options.spent,
            start: options.start,
        };
        Ok(Self { scheme, layout, parts: Parts::of(&layout)?, terms })
    }
}

impl Lanes {
    pub(crate) fn new(make: Make, first: Vec<Tenure>, next_try: u64) -> Self {
        Self {
            make,
            lanes: first.into_iter().map(Lane::new).collect(),
            is_closed: AtomicBool::new(false),
            is_wanted: AtomicBool::new(false),
            next_try: AtomicU64::new(next_try),
            change: Change::default(),
        }
    }

    pub(crate) fn lane(&self, number: usize) -> &Lane {
        &self.lanes[number]
    }

    pub(crate) fn len(&self) -> usize {
        self.lanes.len()
    }

    /// Something happened to a lease.
    pub(crate) fn changed(&self) {
        self.is_wanted.store(false, Ordering::Relaxed);
        self.change.happen();
    }

    /// Ends all of it at once, on the side of whoever mints.
    fn end(&self) {
        self.is_closed.store(true, Ordering::SeqCst);
        for lane in &self.lanes {
            lane.current().end();
        }
    }

    /// An error of a generator as its minter's: a lease that was lost is not the end while another may follow.
    #[cold]
    fn explain(&self, error: mintage::Error) -> mintage::Error {
        use mintage::Error as E;
        match error {
            E::WindowEnded { scheme, worker, .. } | E::Released { scheme, worker }
                if !self.is_closed.load(Ordering::Relaxed) =>
            {
                let next = self.next_try.load(Ordering::Relaxed);
                let wait_nanos = next.saturating_sub(SystemClock.boottime_nanos()).max(1_000_000);
                E::WindowEnded { scheme, worker, wait_nanos }
            }
            other => other,
        }
    }
}

impl Minter {
    pub(crate) async fn open(
        windows: &Windows,
        space: &Space,
        options: MinterOptions,
        commands: &UnboundedSender<Command>,
    ) -> Result<Self, Error> {
        let make = Make::of(space, windows, options)?;
        let (reply, opened) = oneshot::channel();
        let ended = || Error::SpaceGone { space: space.name.clone() };
        let command = Command::Open { make: Box::new(make), leases: options.leases, reply };
        commands.send(command).map_err(|_| ended())?;
        let lanes = opened.await.map_err(|_| ended())??;
        let link = Link { lanes: Arc::clone(&lanes), commands: commands.clone() };
        Ok(Self { lanes, link: Arc::new(Own::new(link)), patience: options.patience })
    }

    /// The scheme of its ids.
    #[must_use]
    pub fn scheme(&self) -> &'static Scheme {
        self.lanes.make.scheme
    }

    /// The layout of its ids, with the space's epoch and tick.
    #[must_use]
    pub fn layout(&self) -> &Layout {
        &self.lanes.make.layout
    }

    /// The workers that it mints as at the moment.
    #[must_use]
    pub fn workers(&self) -> Vec<u64> {
        self.lanes.lanes.iter().map(|lane| lane.current().generator.worker()).collect()
    }

    /// How long ids can be minted without the store: what is left of the longest of its windows. Zero where all have ended.
    #[must_use]
    pub fn remaining(&self) -> Duration {
        let left = |lane: &Lane| u64::try_from(lane.current().generator.nanos_left()).unwrap_or(0);
        Duration::from_nanos(self.lanes.lanes.iter().map(left).max().unwrap_or(0))
    }

    /// How far ids stay behind the time: of the lane that is furthest ahead, how long ago its window ended. Zero while one lasts.
    #[must_use]
    pub fn lag(&self) -> Duration {
        let over = |lane: &Lane| u64::try_from(-lane.current().generator.nanos_left()).unwrap_or(0);
        Duration::from_nanos(self.lanes.lanes.iter().map(over).min().unwrap_or(0))
    }

    /// The store's time, as the first of its leases knows it.
    #[must_use]
    pub fn store_now(&self) -> UnixNanos {
        self.lanes.lanes.first().map_or(UnixNanos(0), |lane| lane.current().generator.store_now())
    }

    /// The next id. Waits for the next tick where the sequence of one is spent, and up to [`MinterOptions::patience`] for the store
    /// when the window has ended.
    ///
    /// # Errors
    /// [`mintage::Error::WindowEnded`] when the store hasn't lengthened the window, with the time until it is asked again;
    /// [`mintage::Error::Refused`] where the policy is to fail; [`mintage::Error::Released`] after it was closed;
    /// [`mintage::Error::Forked`] in a forked child; [`mintage::Error::TimeFieldEnded`].
    #[inline]
    pub fn next(&self) -> Result<RawId, mintage::Error> {
        match self.try_next() {
            Ok(id) => Ok(id),
            Err(error) => self.wait(error, || self.try_next()),
        }
    }

    /// The next id. Never waits.
    ///
    /// # Errors
    /// See [`Minter::next`]; [`mintage::Error::Busy`] where that would wait for a tick.
    #[inline]
    pub fn try_next(&self) -> Result<RawId, mintage::Error> {
        self.in_some_lane(Generator::try_next)
    }

    /// Fills all of `out`; waits as [`Minter::next`] does.
    ///
    /// # Errors
    /// See [`Minter::next`]. What was made before the error is lost.
    pub fn fill(&self, out: &mut [RawId]) -> Result<(), mintage::Error> {
        let mut done = 0;
        while done < out.len() {
            done += match self.try_fill(&mut out[done..]) {
                Ok(made) => made,
                Err(error) => self.wait(error, || self.try_fill(&mut out[done..]))?,
            };
        }
        Ok(())
    }

    /// Runs of up to `size` (at least 1) ids for one thread, which don't meet other threads at each id.
    pub fn runs(&self, size: u64) -> MinterRuns<'_> {
        let lane = self.own_lane();
        let number = lane.number();
        MinterRuns { minter: self, lane, number, size, runs: lane.current().generator.runs(size) }
    }

    /// Gives the leases back: no id is minted from now on, and each mark moves to the last tick used plus one. Waits until the store
    /// has answered, or didn't in time; what can't be given back passes by itself within a window's length. A lease whose renewal may
    /// still be on its way isn't given back.
    ///
    /// # Errors
    /// The first that a release met. It isn't sent again.
    pub async fn close(&self) -> Result<(), Error> {
        let Some(link) = self.link.get() else {
            return Err(
                mintage::Error::Forked { scheme: self.scheme().name, worker: self.workers()[0] }.into()
            );
        };
        self.lanes.end();
        let (done, is_done) = oneshot::channel();
        let command = Command::Close { lanes: Arc::clone(&self.lanes), done: Some(done) };
        if link.commands.send(command).is_err() {
            return Ok(());
        }
        is_done.await.unwrap_or(Ok(()))
    }

    /// What `mint` gives in the thread's own lane, or in another where that one has to wait.
    #[inline]
    fn in_some_lane<T>(
        &self,
        mut mint: impl FnMut(&lane::Generator) -> Result<T, mintage::Error>,
    ) -> Result<T, mintage::Error> {
        match mint(&self.own_lane().current().generator) {
            Ok(made) => Ok(made),
            Err(error) if self.lanes.len() == 1 => Err(self.lanes.explain(error)),
            Err(error) => self.in_other_lanes(error, mint),
        }
    }

    #[cold]
    fn in_other_lanes<T>(
        &self,
        first: mintage::Error,
        mut mint: impl FnMut(&lane::Generator) -> Result<T, mintage::Error>,
    ) -> Result<T, mintage::Error> {
        let mut soonest = self.lanes.explain(first);
        for step in 1..self.lanes.len() {
            match mint(&self.lanes.lane((own_number() + step) % self.lanes.len()).current().generator) {
                Ok(made) => return Ok(made),
                Err(error) => {
                    let error = self.lanes.explain(error);
                    let nanos = |error: &mintage::Error| error.wait_nanos().unwrap_or(u64::MAX);
                    soonest = if nanos(&error) < nanos(&soonest) { error } else { soonest };
                }
            }
        }
        Err(soonest)
    }

    /// Threads are spread over the lanes.
    #[inline]
    fn own_lane(&self) -> &Lane {
        match self.lanes.len() {
            1 => self.lanes.lane(0),
            lanes => self.lanes.lane(own_number() % lanes),
        }
    }

    /// Tries until it goes, fails for good, or patience ends.
    #[cold]
    fn wait<T>(
        &self,
        first: mintage::Error,
        mut attempt: impl FnMut() -> Result<T, mintage::Error>,
    ) -> Result<T, mintage::Error> {
        let patience = u64::try_from(self.patience.as_nanos()).unwrap_or(u64::MAX);
        let mut begun = None;
        if let mintage::Error::Busy { wait_nanos, .. } = first {
            pause(wait_nanos.min(LONGEST_PAUSE_NANOS));
        }
        loop {
            // Counted before the attempt: what happens after it isn't waited for in vain.
            let seen = self.lanes.change.count();
            match attempt() {
                Ok(made) => return Ok(made),
                Err(mintage::Error::Busy { wait_nanos, .. }) => pause(wait_nanos.min(LONGEST_PAUSE_NANOS)),
                Err(error @ mintage::Error::WindowEnded { .. }) => {
                    let now = SystemClock.boottime_nanos();
                    let end = begun.get_or_insert(now).saturating_add(patience);
                    let Some(left) = end.checked_sub(now).filter(|left| *left > 0) else { return Err(error) };
                    self.wait_for_change(seen, left);
                }
                Err(other) => return Err(other),
            }
        }
    }

    /// Wakes the task that renews, and waits until it has done something since `seen`, or `nanos` have passed.
    fn wait_for_change(&self, seen: u64, nanos: u64) {
        let Some(link) = self.link.get() else { return };
        if !self.lanes.is_wanted.swap(true, Ordering::Relaxed) {
            let _ = link.commands.send(Command::Wanted);
        }
        self.lanes.change.wait(seen, Duration::from_nanos(nanos));
    }
}

impl Generator for Minter {
    fn try_fill(&self, out: &mut [RawId]) -> Result<usize, mintage::Error> {
        self.in_some_lane(|generator| generator.try_fill(out))
    }

    fn try_next(&self) -> Result<RawId, mintage::Error> {
        Self::try_next(self)
    }

    fn next(&self) -> Result<RawId, mintage::Error> {
        Self::next(self)
    }

    fn fill(&self, out: &mut [RawId]) -> Result<(), mintage::Error> {
        Self::fill(self, out)
    }
}

/// A number for each thread, counted up.
#[inline]
fn own_number() -> usize {
    static THREADS: AtomicUsize = AtomicUsize::new(0);
    thread_local!(static NUMBER: usize = THREADS.fetch_add(1, Ordering::Relaxed));
    NUMBER.with(|number| *number)
}

/// One thread's share of a minter; see [`Runs`].
#[derive(Debug)]
pub struct MinterRuns<'a> {
    minter: &'a Minter,
    lane: &'a Lane,
    number: usize,
    size: u64,
    runs: Runs<'a, lane::Generator>,
}

impl MinterRuns<'_> {
    /// The next id. Never waits.
    ///
    /// # Errors
    /// See [`Minter::try_next`].
    #[inline]
    pub fn try_next(&mut self) -> Result<RawId, mintage::Error> {
        let number = self.lane.number();
        if number != self.number {
            self.number = number;
            self.runs = self.lane.current().generator.runs(self.size);
        }
        self.runs.try_next().map_err(|error| self.minter.lanes.explain(error))
    }

    /// The next id; waits as [`Minter::next`] does.
    ///
    /// # Errors
    /// See [`Minter::next`].
    #[expect(
        clippy::should_implement_trait,
        reason = "the word for it in the whole workspace; it can fail and never ends"
    )]
    #[inline]
    pub fn next(&mut self) -> Result<RawId, mintage::Error> {
        match self.try_next() {
            Ok(id) => Ok(id),
            Err(error) => {
                let minter = self.minter;
                minter.wait(error, || self.try_next())
            }
        }
    }
}
