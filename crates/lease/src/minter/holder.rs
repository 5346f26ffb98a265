//! The task that holds a process's leases of one space: acquires, renews all of them in one request, releases.
//!
//! It alone talks to the store about leases, one request at a time, so each names what the answer before it said. What a rule
//! refuses is decided here: a lease that is lost goes on to its window's end, while another worker is acquired.

use super::lane::Generator;
use super::{Lanes, Make, Tenure};
use crate::ending::{Ending, ending_text};
use crate::error::{Error, Lost, Refusal};
use crate::events::{Event, Happening, Reporter};
use crate::request::{Acquire, Anchor, Answered, Caller, Held, Lease, MAX_LEASES, Release};
use crate::space::Timing;
use crate::state::Tick;
use crate::store::{Deadline, Desk, draw_nonce};
use mintage::generators::AnyClock;
use mintage::generators::window::{StoreTime, Window};
use mintage::{Entropy, SystemEntropy, UnixNanos};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout_at};

/// What the task is asked to do.
#[derive(Debug)]
pub(crate) enum Command {
    /// Leases for a minter.
    Open { make: Box<Make>, leases: u32, reply: oneshot::Sender<Result<Arc<Lanes>, Error>> },
    /// The end of a minter.
    Close { lanes: Arc<Lanes>, done: Option<oneshot::Sender<Result<(), Error>>> },
    /// Somebody waits for a window.
    Wanted,
}

/// What the task works with.
#[derive(Debug)]
pub(crate) struct About {
    pub(crate) desk: Desk,
    pub(crate) reporter: Reporter,
    pub(crate) host: String,
    pub(crate) deadline: Duration,
    pub(crate) trusts_clock: bool,
}

/// Holds leases until nobody can ask for any more.
pub(crate) async fn hold(about: About, mut commands: UnboundedReceiver<Command>) {
    let timing = about.desk.space().windows().map_or_else(Timing::default, |windows| windows.terms.timing);
    let caller = Caller { trusts_clock: about.trusts_clock, ..Caller::default() };
    let mut holder = Holder {
        about,
        timing,
        caller,
        holdings: Vec::new(),
        due: far(),
        fails: 0,
        refusals: 0,
        soonest: Instant::now(),
        told: HashMap::new(),
        end_told: Ending::Far,
    };
    loop {
        match timeout_at(holder.due, commands.recv()).await {
            Ok(Some(Command::Open { make, leases, reply })) => {
                let opened = holder.open(*make, leases).await;
                // Whoever asked may have gone away meanwhile.
                if let Err(Ok(lanes)) = reply.send(opened) {
                    let _ = holder.close(&lanes).await;
                }
            }
            Ok(Some(Command::Close { lanes, done })) => {
                let closed = holder.close(&lanes).await;
                if let Some(done) = done {
                    let _ = done.send(closed);
                }
            }
            Ok(Some(Command::Wanted)) => holder.hurry(),
            Ok(None) => break,
            Err(_) => holder.renew().await,
        }
    }
    // Every minter sends its end before it goes.
}

/// A lease that a lane of a minter has.
#[derive(Debug)]
struct Holding {
    lanes: Arc<Lanes>,
    lane: usize,
    lease: Lease,
    /// Where its first window began.
    first: Tick,
    /// Whether its renewal was refused: another is to take its place.
    is_lost: bool,
    /// The highest `until` that a request of unknown outcome named: it may still be on its way until that tick has passed.
    asked: Tick,
}

#[derive(Debug)]
struct Holder {
    about: About,
    timing: Timing,
    caller: Caller,
    holdings: Vec<Holding>,
    /// When the store is asked next.
    due: Instant,
    /// Renewals since the last that was answered.
    fails: u32,
    /// Acquires in a row that a rule refused.
    refusals: u32,
    /// Whoever waits for a window doesn't have the store asked before this.
    soonest: Instant,
    /// The failures that were told and have not passed: what a store says again and again is told once.
    told: HashMap<(Happening, Option<u64>), String>,
    /// How near the end of the time field was when it was told last. Rule 7.
    end_told: Ending,
}

impl Holding {
    fn tenure(&self) -> &Tenure {
        self.lanes.lane(self.lane).current()
    }

    fn generator(&self) -> &Generator {
        &self.tenure().generator
    }
}

impl Holder {
    fn deadline(&self) -> Deadline {
        Deadline::after(self.about.deadline.min(self.believed_round_trip()))
    }

    /// An answer that takes longer says too little about the store's time. Rule 6.
    fn believed_round_trip(&self) -> Duration {
        Duration::from_nanos(self.timing.max_store_skew_nanos.saturating_mul(2))
            .max(Duration::from_millis(100))
    }

    /// The store's time, as far as it is known.
    fn now(&self) -> UnixNanos {
        let clock = self.about.desk.store().clock();
        match self.caller.anchor {
            Some(anchor) => {
                let middle = anchor.sent.midpoint(anchor.received);
                anchor.store_now.plus(i128::from(clock.boottime_nanos()) - i128::from(middle))
            }
            None => clock.wall(),
        }
    }

    fn event(&self, event: Happening) -> Event {
        self.about.reporter.event(self.now(), event)
    }

    fn tell(&self, event: &Event) {
        self.about.reporter.listener.tell(event);
    }

    fn tell_lease(&self, event: Happening, lease: &Lease) {
        self.tell(&self.lease_event(event, lease));
    }

    fn tell_error(&self, event: Happening, worker: Option<u64>, error: &dyn std::error::Error) {
        self.tell(&Event { worker, detail: Some(in_words(error)), ..self.event(event) });
    }

    /// Tells of a failure that may come again and again: once, until it is another or has passed.
    fn tell_once(&mut self, event: Happening, worker: Option<u64>, detail: String) {
        if self.told.get(&(event, worker)) != Some(&detail) {
            self.tell(&Event { worker, detail: Some(detail.clone()), ..self.event(event) });
            self.told.insert((event, worker), detail);
        }
    }

    /// Tells of the end of the time field when it has come near, and again when it is close. Rule 7.
    fn tell_end(&mut self) {
        let Some(windows) = self.about.desk.space().windows() else { return };
        let (now, terms) = (self.now(), &windows.terms);
        let ending = Ending::of(terms, now);
        if ending > self.end_told {
            let detail = Some(ending_text(terms, now));
            self.tell(&Event { detail, ..self.event(Happening::TimeFieldEnds) });
            self.end_told = ending;
        }
    }

    /// Takes in what an answer or a refusal told of the space besides.
    fn learn<T>(&mut self, answered: &Answered<T>) {
        if answered.anchor.round_trip_nanos() <= self.timing.max_store_skew_nanos.saturating_mul(2) {
            self.caller.anchor = Some(answered.anchor);
        }
        self.about.reporter.tell_all(answered.anchor.store_now, &answered.events);
    }

    fn learn_refusal(&self, error: &Error) {
        if let Error::Refused { events, now, .. } = error {
            self.about.reporter.tell_all(*now, events);
        }
    }

    /// Acquires up to `want` leases.
    async fn acquire(&mut self, want: u32) -> Result<(Vec<Lease>, Anchor), Error> {
        let ask = Acquire { nonce: draw_nonce()?, want, host: self.about.host.clone() };
        let answered = self.about.desk.acquire(&self.caller, ask, self.deadline()).await;
        let answered = answered.inspect_err(|error| self.learn_refusal(error))?;
        self.learn(&answered);
        self.refusals = 0;
        self.told.remove(&(Happening::AcquireFailed, None));
        for lease in &answered.answer {
            self.caller.witness.see(lease.serial, lease.until);
            self.tell_lease(Happening::Acquired, lease);
        }
        Ok((answered.answer, answered.anchor))
    }

    /// A generator for a lease.
    fn tenure(make: &Make, lease: &Lease, anchor: Anchor) -> Result<Tenure, Error> {
        let window = Window { worker: lease.worker, from: lease.from, until: lease.until };
        let (scheme, clock) = (make.scheme.name, AnyClock::System);
        let granted = store_time(anchor);
        Ok(Tenure::new(Generator::new(
            scheme,
            &make.layout,
            make.parts,
            &make.terms,
            window,
            granted,
            clock,
        )?))
    }

    async fn open(&mut self, make: Make, want: u32) -> Result<Arc<Lanes>, Error> {
        let mut granted = Vec::new();
        // A process that holds nothing is a fresh client, whatever it knew before. Rule 15.
        self.forget_if_dead();
        while granted.len() < want as usize {
            let left = want - u32::try_from(granted.len()).unwrap_or(want);
            match self.acquire(left.clamp(1, MAX_LEASES)).await {
                Ok((leases, anchor)) => granted.extend(leases.into_iter().map(|lease| (lease, anchor))),
                // Fewer than wanted is more than nothing.
                Err(error) if granted.is_empty() => return Err(error),
                Err(error) => {
                    let (had, why) = (granted.len(), in_words(&error));
                    let detail = format!("{had} leases were granted, {want} were wanted: {why}");
                    self.tell_once(Happening::AcquireFailed, None, detail);
                    break;
                }
            }
        }
        let made: Result<Vec<Tenure>, Error> =
            granted.iter().map(|(lease, anchor)| Self::tenure(&make, lease, *anchor)).collect();
        let lanes = Arc::new(Lanes::new(make, made?, u64::MAX));
        for (lane, (lease, _)) in granted.into_iter().enumerate() {
            let first = lease.from;
            self.holdings.push(Holding {
                lanes: Arc::clone(&lanes),
                lane,
                lease,
                first,
                is_lost: false,
                asked: 0,
            });
        }
        self.fails = 0;
        self.tell_end();
        self.plan(self.interval());
        Ok(lanes)
    }

    /// Ends a minter: closes its generators and releases its leases, each once. Rules 11 and 20.
    async fn close(&mut self, lanes: &Arc<Lanes>) -> Result<(), Error> {
        lanes.is_closed.store(true, Ordering::SeqCst);
        let (ended, kept): (Vec<Holding>, Vec<Holding>) =
            self.holdings.drain(..).partition(|holding| Arc::ptr_eq(&holding.lanes, lanes));
        self.holdings = kept;
        let mut first_error = None;
        for holding in ended {
            let closed = holding.tenure().end();
            if holding.is_lost {
                continue;
            }
            let Lease { worker, .. } = holding.lease;
            if self.may_be_on_its_way(&holding) {
                let why = Unsettled { store: self.about.desk.store().url().to_owned() };
                self.tell_error(Happening::ReleaseFailed, Some(worker), &why);
                continue;
            }
            let release = Release { held: holding.lease.held(), last: closed.last };
            let within = Deadline::after(self.about.deadline.min(LONGEST_RELEASE));
            match self.about.desk.release(&self.caller, release, within).await {
                Ok(answered) => {
                    self.learn(&answered);
                    let mark = closed.last.map_or(holding.first, |last| last + 1);
                    let lease = Lease { until: mark, serial: answered.serial, ..holding.lease };
                    self.tell(&Event { from: None, ..self.lease_event(Happening::Released, &lease) });
                }
                Err(error) => {
                    self.learn_refusal(&error);
                    self.tell_error(Happening::ReleaseFailed, Some(worker), &error);
                    first_error.get_or_insert(error);
                }
            }
        }
        lanes.changed();
        if self.holdings.is_empty() {
            self.due = far();
        }
        first_error.map_or(Ok(()), Err)
    }

    /// Whether a request about this lease may reach the store later. After a release it would find another's row in its own
    /// window, and look like a loss; once the window that it names has passed, it proves nothing any more. Rule 11.
    fn may_be_on_its_way(&self, holding: &Holding) -> bool {
        let Some(windows) = self.about.desk.space().windows() else { return false };
        let skew = i128::from(self.timing.max_store_skew_nanos);
        holding.asked > 0 && windows.terms.is_after(holding.asked, self.now().plus(-skew))
    }

    /// Remembers which leases a request of unknown outcome was about.
    fn note_unknown(&mut self, some: &[usize], error: &Error) {
        if matches!(error, Error::UnknownOutcome { .. }) {
            for i in some {
                let holding = &mut self.holdings[*i];
                holding.asked = holding.asked.max(holding.lease.until);
            }
        }
    }

    fn lease_event(&self, event: Happening, lease: &Lease) -> Event {
        let Lease { worker, from, until, serial, .. } = *lease;
        Event {
            worker: Some(worker),
            from: Some(from),
            until: Some(until),
            serial: Some(serial),
            ..self.event(event)
        }
    }

    /// Renews every lease in one request, and replaces those that are lost.
    async fn renew(&mut self) {
        let tried = Instant::now();
        self.forget_if_dead();
        let mut is_answered = true;
        let alive: Vec<usize> = (0..self.holdings.len()).filter(|i| !self.holdings[*i].is_lost).collect();
        for some in alive.chunks(MAX_LEASES as usize) {
            is_answered &= self.renew_some(some).await;
        }
        let mut again = None;
        if is_answered {
            again = self.replace_lost().await;
        }
        self.fails = if is_answered { 0 } else { self.fails.saturating_add(1) };
        let wait = match again {
            Some(wait) => wait,
            None if is_answered => self.interval(),
            None => self.pause_after_failure(),
        };
        // Who waits for a window gets nothing sooner where a rule has refused an acquire until then.
        self.soonest = again.map_or(tried + SOONEST, |wait| Instant::now() + wait);
        self.tell_end();
        self.plan(wait);
        for holding in &self.holdings {
            holding.lanes.changed();
        }
    }

    /// Renews these; false when there was no answer.
    async fn renew_some(&mut self, some: &[usize]) -> bool {
        let held: Vec<Held> = some.iter().map(|i| self.holdings[*i].lease.held()).collect();
        // Half an interval: what hangs is tried again before the window ends.
        let patience = Duration::from_nanos(self.timing.renew_nanos / 2).min(self.believed_round_trip());
        let within = Deadline::after(patience.max(Duration::from_millis(20)));
        let answered = match self.about.desk.renew(&self.caller, held, within).await {
            Ok(answered) => answered,
            Err(error) => {
                self.learn_refusal(&error);
                self.note_unknown(some, &error);
                let why = in_words(&error);
                for i in some {
                    let worker = Some(self.holdings[*i].lease.worker);
                    self.tell_once(Happening::RenewalFailed, worker, why.clone());
                }
                return false;
            }
        };
        self.learn(&answered);
        let (mut to_assert, mut moved) = (Vec::new(), 0);
        for (i, renewed) in some.iter().zip(&answered.answer) {
            match renewed {
                Ok(lease) => moved = self.renewed(*i, lease, answered.anchor, Happening::Renewed),
                Err(Refusal::Lost { is_on_hold: true, why, .. }) if *why != Lost::Burned => {
                    to_assert.push(*i)
                }
                Err(refusal) => self.lost(*i, refusal),
            }
        }
        self.tell_step(moved);
        to_assert.is_empty() || self.reassert(&to_assert).await
    }

    /// During a hold, says that these are alive. Rule 17.
    async fn reassert(&mut self, some: &[usize]) -> bool {
        let held: Vec<Held> = some.iter().map(|i| self.holdings[*i].lease.held()).collect();
        match self.about.desk.reassert(&self.caller, held, self.deadline()).await {
            Ok(answered) => {
                self.learn(&answered);
                for (i, asserted) in some.iter().zip(&answered.answer) {
                    match asserted {
                        Ok(lease) => {
                            self.renewed(*i, lease, answered.anchor, Happening::Reasserted);
                        }
                        Err(refusal) => self.lost(*i, refusal),
                    }
                }
                true
            }
            Err(error) => {
                self.learn_refusal(&error);
                self.note_unknown(some, &error);
                self.tell_once(Happening::RenewalFailed, None, in_words(&error));
                false
            }
        }
    }

    /// Takes in a longer window; returns by how many nanoseconds its clock was moved.
    fn renewed(&mut self, i: usize, lease: &Lease, anchor: Anchor, event: Happening) -> i64 {
        self.caller.witness.see(lease.serial, lease.until);
        self.told.retain(|(event, worker), _| {
            *event != Happening::RenewalFailed || worker.is_some_and(|worker| worker != lease.worker)
        });
        let holding = &mut self.holdings[i];
        holding.lease = *lease;
        let generator = holding.generator();
        generator.extend(lease.until);
        // Rule 6: not by an answer that took too long; the generator sees to that.
        let moved = generator.anchor(store_time(anchor));
        self.tell_lease(event, lease);
        moved
    }

    /// Logs that the store's time isn't where it was expected. Rule 15.
    fn tell_step(&self, moved: i64) {
        if moved.unsigned_abs() < SMALLEST_STEP_NANOS {
            return;
        }
        let event = if moved < 0 { Happening::ClockBack } else { Happening::ClockAhead };
        self.tell(&Event { detail: Some(format!("by {} ns", moved.unsigned_abs())), ..self.event(event) });
    }

    fn lost(&mut self, i: usize, refusal: &Refusal) {
        let holding = &mut self.holdings[i];
        holding.is_lost = true;
        if matches!(refusal, Refusal::Lost { why: Lost::Burned, .. }) {
            // An operator retired it: not one id more.
            holding.tenure().end();
        }
        let worker = holding.lease.worker;
        self.told.remove(&(Happening::RenewalFailed, Some(worker)));
        self.tell_error(Happening::Lost, Some(worker), refusal);
    }

    /// Acquires a worker for each lease that is lost; says when to come again if there is none.
    async fn replace_lost(&mut self) -> Option<Duration> {
        loop {
            let lost: Vec<usize> = (0..self.holdings.len()).filter(|i| self.holdings[*i].is_lost).collect();
            let want = u32::try_from(lost.len().min(MAX_LEASES as usize)).unwrap_or(MAX_LEASES);
            if want == 0 {
                return None;
            }
            let (leases, anchor) = match self.acquire(want).await {
                Ok(granted) => granted,
                Err(error) => {
                    self.tell_once(Happening::AcquireFailed, None, in_words(&error));
                    return Some(self.wait_for(&error));
                }
            };
            for (i, lease) in lost.into_iter().zip(leases) {
                if let Err(error) = self.replace(i, lease, anchor) {
                    self.tell_error(Happening::AcquireFailed, Some(lease.worker), &error);
                    return Some(self.interval());
                }
            }
        }
    }

    /// Puts a lease in the place of one that was lost.
    fn replace(&mut self, i: usize, lease: Lease, anchor: Anchor) -> Result<(), Error> {
        let holding = &mut self.holdings[i];
        // Ids of the lane stay in order, though the old window may have been used ahead of time.
        let used = holding.tenure().end().last.map_or(0, |last| last + 1);
        let first = if used < lease.until { lease.from.max(used) } else { lease.from };
        let tenure = Self::tenure(&holding.lanes.make, &Lease { from: first, ..lease }, anchor)?;
        if !holding.lanes.lane(holding.lane).push(tenure) {
            return Err(Error::SpaceGone { space: self.about.reporter.space.clone() });
        }
        (holding.lease, holding.first, holding.is_lost, holding.asked) = (lease, lease.from, false, 0);
        if holding.lanes.is_closed.load(Ordering::SeqCst) {
            // It was closed meanwhile; the command is on its way.
            holding.tenure().end();
        }
        Ok(())
    }

    /// How long to wait before an acquire that failed is of use again: until the time that the refusal names, and where it names
    /// none, longer from time to time; at most an interval, as a worker may be given back meanwhile.
    fn wait_for(&mut self, error: &Error) -> Duration {
        let Error::Refused { refusal, now, .. } = error else { return self.pause_after_failure() };
        self.refusals = self.refusals.saturating_add(1);
        let wait = match refusal.retry_at() {
            Some(at) => {
                let nanos = u64::try_from((at.0 - now.0).max(0)).unwrap_or(u64::MAX);
                Duration::from_nanos(nanos.saturating_add(1_000_000))
            }
            None => growing(self.refusals),
        };
        wait.min(self.interval())
    }

    /// When no window is left that time hasn't passed, this is a fresh client: the store's time is compared with the wall clock
    /// again. Rule 15.
    fn forget_if_dead(&mut self) {
        let is_alive = |holding: &Holding| !holding.is_lost && holding.generator().nanos_left() > 0;
        if !self.holdings.iter().any(is_alive) {
            self.caller.anchor = None;
        }
    }

    /// Somebody waits: the store is asked soon, unless it has just been, or has said when it is of use.
    fn hurry(&mut self) {
        self.due = self.due.min(self.soonest.max(Instant::now()));
        self.note_due();
    }

    fn plan(&mut self, wait: Duration) {
        self.due = if self.holdings.is_empty() { far() } else { Instant::now() + wait };
        self.note_due();
    }

    /// Tells the minters when the store is asked next.
    fn note_due(&self) {
        let left = self.due.saturating_duration_since(Instant::now());
        let now = self.about.desk.store().clock().boottime_nanos();
        let at = now.saturating_add(u64::try_from(left.as_nanos()).unwrap_or(u64::MAX));
        for holding in &self.holdings {
            holding.lanes.next_try.store(at, Ordering::Relaxed);
        }
    }

    /// The time between renewals, with jitter, so that processes that began together don't come together.
    fn interval(&self) -> Duration {
        jittered(Duration::from_nanos(self.timing.renew_nanos))
    }

    /// After a failure soon, then less often, up to a quarter of the interval.
    fn pause_after_failure(&self) -> Duration {
        let longest = Duration::from_nanos(self.timing.renew_nanos / 4);
        jittered(growing(self.fails).min(longest))
    }
}

/// Why a lease isn't released.
#[derive(Debug, thiserror::Error)]
#[error("{store}: a renewal of unknown outcome may still be on its way; the window passes by itself")]
struct Unsettled {
    store: String,
}

/// A store that was just asked isn't asked again sooner than this.
const SOONEST: Duration = Duration::from_millis(100);

/// Two clocks drift apart by less than this between two renewals.
const SMALLEST_STEP_NANOS: u64 = 2_000_000;

/// A process that ends doesn't wait longer for one release.
const LONGEST_RELEASE: Duration = Duration::from_secs(5);

/// A time that doesn't come.
fn far() -> Instant {
    Instant::now() + Duration::from_secs(365 * 86_400)
}

/// A tenth of a second, and twice as long with each failure before.
fn growing(fails: u32) -> Duration {
    Duration::from_millis(100).saturating_mul(1 << fails.min(8))
}

/// An error with its causes.
fn in_words(error: &dyn std::error::Error) -> String {
    let mut detail = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        detail = format!("{detail}: {error}");
        source = error.source();
    }
    detail
}

/// Up to a tenth less or more.
fn jittered(duration: Duration) -> Duration {
    let mut byte = [128];
    // Without entropy there is no jitter.
    let _ = SystemEntropy.fill(&mut byte);
    duration.mul_f64(0.9 + 0.2 * f64::from(byte[0]) / 255.0)
}

fn store_time(anchor: Anchor) -> StoreTime {
    StoreTime { now: anchor.store_now, sent: anchor.sent, received: anchor.received }
}
