//! Where a conformance test finds a store, and what it asks there.

use mintage::{Scheme, UnixNanos};
use mintage_lease::request::{Acquire, Answered, Block, Claim, GiveBack, Held, Lease, Release, Take};
use mintage_lease::space::{BlockTerms, Kind, ScopeTerms, Timing, Windows};
use mintage_lease::state::{Nonce, Tick};
use mintage_lease::store::{CreateOptions, Deadline, Desk, OpenOptions, draw_nonce, open};
use mintage_lease::{Caller, Error, Refusal, Request, Space, SpaceId, Store};
use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

/// A store of one's own, gone after the test.
pub(crate) struct Site {
    pub(crate) url: String,
    pub(crate) options: OpenOptions,
    /// What keeps it there.
    pub(crate) _kept: Box<dyn Any + Send + Sync>,
}

impl Site {
    /// The store at a URL, which others keep there.
    pub(crate) fn of(url: String) -> Self {
        Self { url, options: OpenOptions::default(), _kept: Box::new(()) }
    }

    /// A handle of its own, as another process would have.
    pub(crate) fn store(&self) -> Arc<dyn Store> {
        open(&self.url, self.options.clone()).unwrap()
    }

    /// Creates a space of windows, changed as said, and opens it.
    pub(crate) async fn windows(&self, name: &str, change: impl FnOnce(&mut Windows)) -> Client {
        self.create(windows(name, change)).await
    }

    /// Creates a space of blocks and opens it.
    pub(crate) async fn blocks(&self, name: &str, terms: BlockTerms) -> Client {
        self.create(blocks(name, terms)).await
    }

    /// Creates a space of scopes and opens it.
    pub(crate) async fn scopes(&self, name: &str, terms: ScopeTerms) -> Client {
        self.create(scopes(name, terms)).await
    }

    pub(crate) async fn create(&self, space: Space) -> Client {
        self.store().create(&space, CreateOptions::default(), soon()).await.unwrap();
        self.client(&space.name).await
    }

    /// Opens a space as a client that has seen nothing.
    pub(crate) async fn client(&self, name: &str) -> Client {
        self.client_unchecked(name).await.unwrap()
    }

    /// The same, where it may not be possible.
    pub(crate) async fn client_unchecked(&self, name: &str) -> Result<Client, Error> {
        let desk = Desk::open(self.store(), name, soon()).await?;
        Ok(Client { desk, caller: Caller::default() })
    }
}

/// Long enough for any answer of a store that isn't broken.
pub(crate) fn soon() -> Deadline {
    Deadline::after(Duration::from_secs(20))
}

pub(crate) fn windows(name: &str, change: impl FnOnce(&mut Windows)) -> Space {
    let mut windows = Windows::of(Scheme::by_name("snowflake").unwrap(), None).unwrap();
    change(&mut windows);
    Space { id: new_id(), name: name.to_owned(), kind: Kind::Windows(windows) }
}

pub(crate) fn blocks(name: &str, terms: BlockTerms) -> Space {
    Space { id: new_id(), name: name.to_owned(), kind: Kind::Blocks(terms) }
}

pub(crate) fn scopes(name: &str, terms: ScopeTerms) -> Space {
    Space { id: new_id(), name: name.to_owned(), kind: Kind::Scopes(terms) }
}

fn new_id() -> SpaceId {
    SpaceId(draw_nonce().unwrap().0)
}

/// Windows of 100 ms and a hold of 200 ms, for what must be waited for.
pub(crate) fn short(windows: &mut Windows) {
    const MS: u64 = 1_000_000;
    windows.terms.timing = Timing {
        window_nanos: 100 * MS,
        renew_nanos: 30 * MS,
        max_ahead_nanos: 100 * MS,
        max_lag_nanos: 10 * MS,
        max_lead_nanos: 10 * MS,
        max_store_skew_nanos: 100 * MS,
    };
}

/// One client of a space, with what it has seen.
#[derive(Clone)]
pub(crate) struct Client {
    pub(crate) desk: Desk,
    pub(crate) caller: Caller,
}

impl Client {
    pub(crate) async fn acquire(&mut self, want: u32) -> Result<Vec<Lease>, Error> {
        let ask = Acquire { nonce: draw_nonce().unwrap(), want, host: String::new() };
        let answered = self.desk.acquire(&self.caller, ask, soon()).await?;
        for lease in &answered.answer {
            self.caller.witness.see(lease.serial, lease.until);
        }
        Ok(self.anchored(answered))
    }

    pub(crate) async fn one(&mut self) -> Lease {
        self.acquire(1).await.unwrap()[0]
    }

    pub(crate) async fn renew(&mut self, leases: &[Lease]) -> Vec<Result<Lease, Refusal>> {
        let held: Vec<Held> = leases.iter().map(Lease::held).collect();
        let answered = self.desk.renew(&self.caller, held, soon()).await.unwrap();
        for lease in answered.answer.iter().flatten() {
            self.caller.witness.see(lease.serial, lease.until);
        }
        self.anchored(answered)
    }

    pub(crate) async fn reassert(&mut self, lease: &Lease) -> Result<Lease, Refusal> {
        self.desk.reassert(&self.caller, vec![lease.held()], soon()).await.unwrap().answer.remove(0)
    }

    pub(crate) async fn release(&self, lease: &Lease, last: Option<Tick>) -> Result<(), Error> {
        self.desk.release(&self.caller, Release { held: lease.held(), last }, soon()).await.map(|_| ())
    }

    pub(crate) async fn claim(&mut self, size: u64) -> Result<Block, Error> {
        let claim = Claim { nonce: draw_nonce().unwrap(), size };
        let answered = self.desk.claim(&self.caller, claim, soon()).await?;
        self.caller.witness.see(answered.answer.serial, answered.answer.end);
        Ok(answered.answer)
    }

    pub(crate) async fn give_back(&mut self, block: Block, unused: u64) -> Result<(), Error> {
        self.caller.witness.mark = unused;
        self.desk.give_back(&self.caller, GiveBack { block, unused }, soon()).await.map(|_| ())
    }

    /// The next values of a scope, as the first and the one after the last.
    pub(crate) async fn take(&mut self, scope: &str, size: u64) -> Result<(u64, u64), Error> {
        let take = Take { nonce: draw_nonce().unwrap(), scope: scope.parse().unwrap(), size };
        let answered = self.desk.take(&self.caller, take, soon()).await?;
        // The mark is of one scope, and these tests ask for several.
        self.caller.witness.see(answered.answer.serial, 0);
        Ok((answered.answer.start, answered.answer.end))
    }

    /// Of a scope as it is shown, the next value.
    pub(crate) async fn next_of(&self, scope: &str) -> Option<u64> {
        let shown = self.desk.scope(&self.caller, scope.parse().unwrap(), soon()).await.unwrap();
        shown.answer.map(|row| row.next)
    }

    pub(crate) async fn done(&self, request: Request) -> Result<(), Error> {
        self.desk.done(&self.caller, request, soon()).await.map(|_| ())
    }

    pub(crate) async fn mark(&self, worker: u64) -> Tick {
        let shown = self.desk.store().show(&self.desk.space().name, soon()).await.unwrap();
        shown.workers.iter().find(|row| row.worker == worker).unwrap().mark
    }

    /// The store's time.
    pub(crate) async fn now(&self) -> UnixNanos {
        self.desk.done(&self.caller, Request::Look, soon()).await.unwrap().anchor.store_now
    }

    /// Waits until the store's time has come to `time`.
    pub(crate) async fn wait_until(&self, time: UnixNanos) {
        while self.now().await < time {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    fn anchored<T>(&mut self, answered: Answered<T>) -> T {
        self.caller.anchor = Some(answered.anchor);
        answered.answer
    }
}

/// Why a rule said no.
pub(crate) fn refused<T: std::fmt::Debug>(result: Result<T, Error>) -> Refusal {
    match result {
        Err(Error::Refused { refusal, .. }) => refusal,
        other => panic!("a refusal expected: {other:?}"),
    }
}

/// A nonce that tests can tell from others.
pub(crate) const fn nonce(number: u128) -> Nonce {
    Nonce(number)
}

/// A store that isn't there: a visible skip, and in CI a failure.
pub(crate) fn missing(case: &str) {
    assert!(
        std::env::var("CI").as_deref() != Ok("true"),
        "{case}: the store is missing, and with CI=true nothing is skipped"
    );
    eprintln!("skipped: {case}: the store is missing; see scripts/install-tools");
}
