//! The lock-free engine under every interleaving of its threads and every value that the memory model lets them read.
//!
//! `RUSTFLAGS="--cfg loom" cargo test -p mintage --release --test loom --target-dir target/loom`
#![cfg(loom)]
#![expect(
    clippy::unwrap_used,
    reason = "a test says what it expects by stopping, also in what its functions share"
)]

use loom::sync::Arc;
use loom::sync::atomic::{AtomicU64, Ordering};
use loom::thread;
use mintage::generators::counter::Parts;
use mintage::generators::window::{StoreTime, Window, WindowGenerator, WindowTerms};
use mintage::schemes::snowflake::custom_split;
use mintage::{
    Clock, ClockBack, Error, Generator, RawId, Scheme, Settings, Spent, Start, TimeBase, UnixNanos,
};

const MILLI: u64 = 1_000_000;
const BASE: TimeBase = TimeBase::millis_since(0);
/// Bits of the sequence: two ids a tick, so that ticks are spent.
const COUNT_BITS: u32 = 1;
/// Switches that are forced on threads in one run. All that are possible would take hours; what goes wrong between few steps on one
/// word goes wrong with two or three.
const PREEMPTIONS: usize = 3;

/// A clock that one thread moves while others read it. Each read may see any value that the memory model allows, so a clock that
/// threads see differently is among the cases.
struct Shared {
    tick: AtomicU64,
    monotonic: AtomicU64,
}

impl Shared {
    fn at(tick: u64) -> Arc<Self> {
        Arc::new(Self { tick: AtomicU64::new(tick), monotonic: AtomicU64::new(1) })
    }
}

struct Reader(Arc<Shared>);

impl Clock for Reader {
    fn now(&self) -> UnixNanos {
        UnixNanos::from_millis(self.0.tick.load(Ordering::Relaxed).try_into().unwrap())
    }
    fn monotonic_nanos(&self) -> u64 {
        self.0.monotonic.load(Ordering::Relaxed)
    }
}

fn generator(clock: &Arc<Shared>, clock_back: ClockBack, spent: Spent) -> Arc<Box<dyn Generator>> {
    let settings = Settings {
        worker: Some(0),
        layout: Some(custom_split("t62/w1/s1", BASE).unwrap()),
        clock_back,
        spent,
        start: Start::Zero,
        clock: Some(std::sync::Arc::new(Reader(clock.clone()))),
        ..Settings::default()
    };
    Arc::new(Scheme::by_name("snowflake").unwrap().generator(&settings).unwrap())
}

/// The place of an id in the order of a worker: tick and sequence, without the worker.
fn place(id: RawId) -> u64 {
    let id = u64::try_from(id.low()).unwrap();
    (id >> (COUNT_BITS + 1)) << COUNT_BITS | (id & 1)
}

/// What `tries` calls give, each for up to `want` ids; they must grow.
fn claim(generator: &dyn Generator, tries: usize, want: usize) -> Vec<u64> {
    let mut places = Vec::new();
    for _ in 0..tries {
        let mut out = [RawId::ZERO; 4];
        match generator.try_fill(&mut out[..want]) {
            Ok(made) => places.extend(out[..made].iter().map(|id| place(*id))),
            Err(Error::Busy { .. } | Error::Refused { .. }) => {}
            Err(Error::WindowEnded { .. } | Error::Released { .. }) => {}
            Err(error) => panic!("{error}"),
        }
    }
    assert!(places.is_sorted_by(|a, b| a < b), "one thread's ids don't grow: {places:?}");
    places
}

fn no_place_is_there_twice(mut all: Vec<u64>) {
    let made = all.len();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), made, "a moment was claimed twice: {all:?}");
}

/// `threads` threads that claim while the clock goes through `ticks`, moved by the main thread.
fn check(threads: usize, tries: usize, want: usize, policies: (ClockBack, Spent), ticks: &'static [u64]) {
    let mut model = loom::model::Builder::new();
    // Each further thread or step of the clock multiplies the runs.
    model.preemption_bound = Some(if threads + ticks.len() > 3 { PREEMPTIONS - 1 } else { PREEMPTIONS });
    model.check(move || {
        let clock = Shared::at(10);
        let generator = generator(&clock, policies.0, policies.1);
        let running: Vec<_> = (0..threads)
            .map(|_| {
                let generator = generator.clone();
                thread::spawn(move || claim(&**generator, tries, want))
            })
            .collect();
        for tick in ticks {
            clock.tick.store(*tick, Ordering::Relaxed);
            clock.monotonic.fetch_add(MILLI, Ordering::Relaxed);
        }
        let mut all = Vec::new();
        for thread in running {
            all.extend(thread.join().unwrap());
        }
        let last = all.iter().max().copied();
        // Whoever comes later, and sees all that was done, comes behind all of it.
        let after = claim(&**generator, 1, 1);
        assert!(after.first() > last.as_ref() || after.is_empty(), "{after:?} after {last:?}");
        all.extend(after);
        no_place_is_there_twice(all);
    });
}

#[test]
fn two_threads_while_the_clock_goes_on() {
    check(2, 2, 1, (ClockBack::Absorb, Spent::Wait), &[11]);
}

#[test]
fn two_threads_while_the_clock_goes_back() {
    for clock_back in [ClockBack::Absorb, ClockBack::Wait, ClockBack::Refuse] {
        check(2, 2, 1, (clock_back, Spent::Wait), &[9]);
    }
}

#[test]
fn two_threads_while_the_clock_goes_back_and_on() {
    check(2, 2, 1, (ClockBack::Absorb, Spent::Wait), &[8, 12]);
}

#[test]
fn two_threads_that_borrow() {
    check(2, 2, 1, (ClockBack::Absorb, Spent::Borrow), &[9]);
}

#[test]
fn two_threads_that_take_batches() {
    check(2, 2, 2, (ClockBack::Absorb, Spent::Borrow), &[11]);
}

#[test]
fn three_threads_while_the_clock_goes_on() {
    check(3, 1, 1, (ClockBack::Absorb, Spent::Wait), &[11]);
}

#[test]
fn three_threads_while_the_clock_goes_back() {
    check(3, 1, 2, (ClockBack::Absorb, Spent::Borrow), &[9]);
}

/// The pace after a step back is kept in a second word: threads that race for it
/// begin no tick early.
#[test]
fn two_threads_that_pace_themselves_behind_a_clock_that_went_back() {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(PREEMPTIONS);
    model.check(|| {
        let clock = Shared::at(10);
        let generator = generator(&clock, ClockBack::Absorb, Spent::Wait);
        let mut all = claim(&**generator, 1, 2);
        clock.tick.store(5, Ordering::Relaxed);
        // Spent: the pace begins here, and a tick's time passes.
        all.extend(claim(&**generator, 1, 1));
        clock.monotonic.fetch_add(MILLI, Ordering::Relaxed);
        let other = generator.clone();
        let thread = thread::spawn(move || claim(&**other, 2, 1));
        all.extend(claim(&**generator, 2, 1));
        all.extend(thread.join().unwrap());
        // The tick before the step, and the one that its time allows.
        assert!(all.iter().all(|place| place >> COUNT_BITS <= 11), "{all:?}");
        no_place_is_there_twice(all);
    });
}

/// A window of ticks from 10 to before `until`, in which time dilates once `reserve` ticks are left.
fn window(
    clock: &Arc<Shared>,
    spent: Spent,
    until: u64,
    reserve: u64,
) -> Arc<WindowGenerator<Parts, Reader>> {
    let layout = custom_split("t62/w1/s1", BASE).unwrap();
    let terms = WindowTerms {
        reserve_nanos: reserve * MILLI,
        lag_nanos: 2 * MILLI,
        lead_nanos: 2 * MILLI,
        skew_nanos: MILLI,
        spent,
        start: Start::Zero,
    };
    let boottime = clock.monotonic.load(Ordering::Relaxed);
    let granted = StoreTime { now: UnixNanos::from_millis(10), sent: boottime, received: boottime };
    let (source, window) = (Parts::of(&layout).unwrap(), Window { worker: 0, from: 10, until });
    let reader = Reader(clock.clone());
    Arc::new(WindowGenerator::new("snowflake", &layout, source, &terms, window, granted, reader).unwrap())
}

/// Two threads that claim in a window while the main thread does `work` to it; gives back what they and one last claim got.
fn in_window(
    spent: Spent,
    until: u64,
    reserve: u64,
    want: usize,
    work: impl Fn(&WindowGenerator<Parts, Reader>, &Shared) -> Option<u64> + Send + Sync + 'static,
) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(PREEMPTIONS);
    model.check(move || {
        let clock = Shared::at(10);
        let generator = window(&clock, spent, until, reserve);
        let running: Vec<_> = (0..2)
            .map(|_| {
                let generator = generator.clone();
                thread::spawn(move || claim(&*generator, 2, want))
            })
            .collect();
        let closed = work(&generator, &clock);
        let mut all = Vec::new();
        for thread in running {
            all.extend(thread.join().unwrap());
        }
        let after = claim(&*generator, 1, 1);
        let end = generator.until();
        assert!(all.iter().chain(&after).all(|place| (10..end).contains(&(place >> COUNT_BITS))), "{all:?}");
        if let Some(last) = closed {
            assert!(after.is_empty(), "{after:?} after it was closed");
            // Exactly the last moment: none above it, and it was used, or the mark would be higher than it need be.
            assert_eq!(all.iter().max().map_or(0, |place| place >> COUNT_BITS), last, "{all:?}");
        }
        all.extend(after);
        no_place_is_there_twice(all);
    });
}

#[test]
fn closing_a_window_tells_the_last_tick_and_loses_no_claim() {
    for want in [1, 2] {
        in_window(Spent::Borrow, 14, 0, want, |generator, _| {
            Some(generator.close().unwrap().last.unwrap_or(0))
        });
    }
}

#[test]
fn a_window_that_is_lengthened_is_never_exceeded() {
    in_window(Spent::Borrow, 11, 0, 2, |generator, clock| {
        generator.extend(12);
        clock.monotonic.fetch_add(MILLI, Ordering::Relaxed);
        None
    });
}

#[test]
fn a_window_whose_clock_is_set_back_repeats_nothing() {
    in_window(Spent::Wait, 20, 0, 1, |generator, clock| {
        let boottime = clock.monotonic.load(Ordering::Relaxed);
        let behind = StoreTime { now: UnixNanos::from_millis(8), sent: boottime, received: boottime };
        assert!(generator.anchor(behind) < 0);
        None
    });
}

#[test]
fn a_window_in_which_time_dilates_is_closed_as_exactly() {
    in_window(Spent::Wait, 12, 2, 1, |generator, clock| {
        clock.monotonic.fetch_add(2 * MILLI, Ordering::Relaxed);
        Some(generator.close().unwrap().last.unwrap_or(0))
    });
}

/// A cursor as it must not be: read and written in two steps.
#[test]
#[should_panic(expected = "a moment was claimed twice")]
fn a_cursor_that_reads_and_writes_in_two_steps_is_found_out() {
    loom::model(|| {
        let word = Arc::new(AtomicU64::new(0));
        let claim = |word: &AtomicU64| {
            let next = word.load(Ordering::Relaxed);
            word.store(next + 1, Ordering::Relaxed);
            next
        };
        let other = word.clone();
        let thread = thread::spawn(move || claim(&other));
        let mine = claim(&word);
        no_place_is_there_twice(vec![mine, thread.join().unwrap()]);
    });
}
