//! The generators of the drill, and the clock that each reads.

use crate::exit::Failure;
use crate::reach;
use anyhow::Context;
use mintage::schemes::snowflake_twitter::SnowflakeTwitterScheme;
use mintage::{Clock, ClockBack, Error, Generator, RawId, Settings, StaticScheme, SystemClock, UnixNanos};
use mintage_lease::clock::{HostClock, SystemHostClock};
use mintage_lease::session::{Session, SessionOptions};
use mintage_lease::space::{Kind, Windows};
use mintage_lease::state::Nonce;
use mintage_lease::store::{CreateOptions, OpenOptions, draw_nonce};
use mintage_lease::{Minter as LeasedMinter, Space, SpaceId};
use mintage_servers::place::Folder;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The wall clock of the machine, set back by as much as the drill says.
#[derive(Clone, Debug, Default)]
pub(super) struct SetBack(Arc<AtomicU64>);

impl SetBack {
    /// Sets it back once more.
    pub(super) fn by(&self, nanos: u64) {
        // Ordering: nothing else is told by it.
        self.0.fetch_add(nanos, Ordering::Relaxed);
    }
}

impl Clock for SetBack {
    fn now(&self) -> UnixNanos {
        SystemClock.now().plus(-i128::from(self.0.load(Ordering::Relaxed)))
    }

    fn monotonic_nanos(&self) -> u64 {
        SystemClock.monotonic_nanos()
    }
}

impl HostClock for SetBack {
    fn boottime_nanos(&self) -> u64 {
        SystemHostClock.boottime_nanos()
    }

    fn wall(&self) -> UnixNanos {
        self.now()
    }

    fn boot_id(&self) -> u128 {
        SystemHostClock.boot_id()
    }
}

/// Makes a generator that reads this clock, and has its store, if it needs one, there.
pub(super) type Make = fn(&Place, SetBack) -> Result<Box<dyn Generator>, Failure>;

/// One way to mint.
#[derive(Clone, Copy)]
pub(super) struct Minter {
    /// Its name.
    pub(super) name: &'static str,
    /// What it does when the clock goes back.
    pub(super) what: &'static str,
    /// Makes it.
    pub(super) make: Make,
}

/// The one that must issue ids twice, so that the drill is seen to notice.
pub(super) const NAIVE: &str = "naive";

/// All of them.
pub(super) const MINTERS: &[Minter] = &[
    Minter {
        name: NAIVE,
        what: "trusts the clock: another millisecond is a new one",
        make: |_, clock| Ok(Box::new(Naive { clock, last: Mutex::default() })),
    },
    Minter {
        name: "refuse",
        what: "refuses until the clock has caught up",
        make: |_, clock| fixed(clock, ClockBack::Refuse),
    },
    Minter {
        name: "wait",
        what: "waits until the clock has caught up",
        make: |_, clock| fixed(clock, ClockBack::Wait),
    },
    Minter {
        name: "absorb",
        what: "goes on from its last id, at most a second ahead of the clock",
        make: |_, clock| fixed(clock, ClockBack::Absorb),
    },
    Minter { name: "leased", what: "takes its ticks from a lease; no wall clock is read", make: leased },
];

/// The worker of those without a lease.
const WORKER: u64 = 7;

fn fixed(clock: SetBack, clock_back: ClockBack) -> Result<Box<dyn Generator>, Failure> {
    let settings =
        Settings { worker: Some(WORKER), clock_back, clock: Some(Arc::new(clock)), ..Settings::default() };
    Ok(SnowflakeTwitterScheme::SCHEME.generator(&settings)?)
}

/// Where the leased worker comes from; gone with its handle.
#[derive(Debug)]
pub(super) struct Place(Folder);

/// The space of the leased worker.
const SPACE: &str = "drill";

impl Place {
    /// Its URL, for a plan.
    pub(super) const URL_SHOWN: &str = "sqlite:ids.db";

    pub(super) fn new() -> Result<Self, Failure> {
        Ok(Self(Folder::new("drill").context("making a folder for the drill")?))
    }

    fn url(&self) -> String {
        format!("sqlite:{}", self.0.path().join("ids.db").display())
    }
}

/// A minter with the session that keeps its lease.
struct Leased {
    minter: LeasedMinter,
    _session: Session,
}

fn leased(place: &Place, clock: SetBack) -> Result<Box<dyn Generator>, Failure> {
    let open = OpenOptions { clock: Some(Arc::new(clock)), ..OpenOptions::default() };
    let session = Session::open(&place.url(), SessionOptions { open, ..SessionOptions::default() })?;
    let windows = Windows::of(SnowflakeTwitterScheme::SCHEME, None)
        .map_err(|fault| anyhow::anyhow!("the space of the drill: {fault}"))?;
    let Nonce(id) = draw_nonce()?;
    let space = Space { id: SpaceId(id), name: SPACE.to_owned(), kind: Kind::Windows(windows) };
    let minter = reach::wait(async {
        session.create(&space, CreateOptions::default()).await?;
        Ok(session.space(SPACE).await?.minter().await?)
    })?;
    Ok(Box::new(Leased { minter, _session: session }))
}

impl Generator for Leased {
    fn try_fill(&self, out: &mut [RawId]) -> Result<usize, Error> {
        self.minter.try_fill(out)
    }
}

/// A Snowflake as it is often written: its sequence begins anew whenever the millisecond is another one, be it an earlier one.
struct Naive {
    clock: SetBack,
    last: Mutex<(u128, u128)>,
}

/// The largest sequence of a tick.
const LAST_SEQUENCE: u128 = 4095;

impl Generator for Naive {
    fn try_fill(&self, out: &mut [RawId]) -> Result<usize, Error> {
        let layout = &SnowflakeTwitterScheme::SCHEME.layout;
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        for (made, id) in out.iter_mut().enumerate() {
            let tick = tick(&self.clock)?;
            *last = if tick == last.0 { (tick, last.1 + 1) } else { (tick, 0) };
            if last.1 > LAST_SEQUENCE {
                return Ok(made);
            }
            *id = layout.pack(&[0, tick, 0, WORKER.into(), last.1])?;
        }
        Ok(out.len())
    }
}

/// Milliseconds since the scheme's epoch.
fn tick(clock: &SetBack) -> Result<u128, Error> {
    let base = SnowflakeTwitterScheme::SCHEME.layout.time_base().ok_or(Error::Time)?;
    base.tick_at(clock.now()).map(u128::from).ok_or(Error::Time)
}
