//! Minting under a lease, beside the same without one; and a counter's blocks, beside an addition.

use crate::{Each, Engine};
use mintage::generators::AnyClock;
use mintage::generators::counter::{CounterGenerator, Parts};
use mintage::generators::window::{StoreTime, Window, WindowGenerator, WindowTerms};
use mintage::schemes::snowflake::{DEFAULT_BASE, custom_split};
use mintage::{Clock, Layout, Scheme, Settings, Spent, Start, SystemClock};
use mintage_lease::space::{BlockTerms, Kind, SpaceId, Windows};
use mintage_lease::store::{CreateOptions, draw_nonce};
use mintage_lease::{Allocator, AllocatorOptions, Minter, MinterOptions, Session, Space};
use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};
use tempfile::TempDir;

/// A sequence so wide that it is never spent: what is measured is the engine, not the layout's limit.
const SPLIT: &str = "41/2/20";

pub(super) fn engines() -> Vec<Box<dyn Engine>> {
    let count = AtomicU64::new(0);
    vec![
        Each::shared("lease: none, counter 41/2/20", "system", {
            let generator = counter();
            move || generator.next_raw()
        }),
        Runs::boxed("lease: none, counter 41/2/20, runs of 64", counter(), |generator, n| {
            let mut run = generator.runs(64);
            for _ in 0..n {
                black_box(run.next_raw().expect(MINTED));
            }
        }),
        Each::shared("lease: window 41/2/20", "system", {
            let generator = window();
            move || mintage::Generator::next(&generator).expect(MINTED)
        }),
        Each::shared("lease: minter 41/2/20", "system", {
            let (minter, folder) = minter();
            move || (minter.next().expect(MINTED), &folder).0
        }),
        Runs::boxed("lease: minter 41/2/20, runs of 64", minter(), |(minter, _), n| {
            let mut run = minter.runs(64);
            for _ in 0..n {
                black_box(run.next().expect(MINTED));
            }
        }),
        Each::shared("lease: none, an addition", "none", move || count.fetch_add(1, Ordering::Relaxed)),
        Each::shared("lease: allocator", "none", {
            let (allocator, folder) = allocator();
            move || (allocator.next().expect(MINTED), &folder).0
        }),
    ]
}

/// A generator without a lease.
struct Counter(CounterGenerator<Parts>);

impl Counter {
    fn next_raw(&self) -> mintage::RawId {
        mintage::Generator::next(&self.0).expect(MINTED)
    }
}

impl std::ops::Deref for Counter {
    type Target = CounterGenerator<Parts>;
    fn deref(&self) -> &CounterGenerator<Parts> {
        &self.0
    }
}

fn layout() -> Layout {
    custom_split(SPLIT, DEFAULT_BASE).expect("a split of 63 bits")
}

fn counter() -> Counter {
    let (layout, settings) = (layout(), Settings { worker: Some(2), ..Settings::default() });
    let source = Parts::of(&layout).expect(PARTS);
    Counter(CounterGenerator::new("snowflake", &layout, source, &settings).expect(PARTS))
}

fn window() -> WindowGenerator<Parts> {
    let layout = layout();
    let terms = WindowTerms {
        reserve_nanos: 0,
        lag_nanos: 0,
        lead_nanos: 0,
        skew_nanos: 1,
        spent: Spent::Wait,
        start: Start::Rolling,
    };
    let boottime = SystemClock.boottime_nanos();
    let granted = StoreTime { now: SystemClock.now(), sent: boottime, received: boottime };
    let window = Window { worker: 3, from: 0, until: u64::MAX };
    let source = Parts::of(&layout).expect(PARTS);
    WindowGenerator::new("snowflake", &layout, source, &terms, window, granted, AnyClock::System)
        .expect(PARTS)
}

/// A space in a new store, opened by `open`.
fn in_space<T>(
    kind: Kind,
    open: impl AsyncFnOnce(mintage_lease::session::OpenSpace) -> Result<T, mintage_lease::Error>,
) -> (T, TempDir) {
    let folder = TempDir::new().expect(STORE);
    let url = format!("sqlite:{}", folder.path().join("ids.db").display());
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect(STORE);
    let opened = runtime.block_on(async {
        let session = Session::open(&url, mintage_lease::SessionOptions::default())?;
        let space = Space { id: SpaceId(draw_nonce()?.0), name: "bench".to_owned(), kind };
        session.create(&space, CreateOptions::default()).await?;
        open(session.space("bench").await?).await
    });
    (opened.expect(STORE), folder)
}

fn minter() -> (Minter, TempDir) {
    let scheme = Scheme::by_name("snowflake").expect(PARTS);
    let windows = Windows::of(scheme, Some(&layout())).expect(PARTS);
    in_space(Kind::Windows(windows), async |space| space.minter_with(MinterOptions::default()).await)
}

fn allocator() -> (Allocator, TempDir) {
    // One block for the whole run: what is measured is memory.
    let options = AllocatorOptions { first_size: 1 << 32, ..AllocatorOptions::default() };
    in_space(Kind::Blocks(BlockTerms::default()), async move |space| space.allocator_with(options).await)
}

/// An engine that has a run of its own in each thread.
struct Runs<G> {
    operation: &'static str,
    shared: G,
    run: fn(&G, usize),
}

impl<G: Send + Sync + 'static> Runs<G> {
    fn boxed(operation: &'static str, shared: G, run: fn(&G, usize)) -> Box<dyn Engine> {
        Box::new(Self { operation, shared, run })
    }
}

impl<G: Send + Sync> Engine for Runs<G> {
    fn operation(&self) -> &str {
        self.operation
    }
    fn clock(&self) -> &'static str {
        "system"
    }
    fn is_shared(&self) -> bool {
        true
    }
    fn run(&self, n: usize) -> usize {
        (self.run)(&self.shared, n);
        n
    }
}

impl<G> std::fmt::Debug for Runs<G> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Runs").field(&self.operation).finish()
    }
}

const PARTS: &str = "the layout has tick, worker and sequence";
const STORE: &str = "a store in a new folder of this host";
const MINTED: &str = "the clock stands within the time field, and the store is there";
