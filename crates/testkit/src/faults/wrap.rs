//! Counters driven past their end.
//!
//! * Tick, worker and sequence: all threads mint at full speed, so that the sequences of many ticks are spent.
//! * ObjectId: its 24 bits go past their end within a second, and all of them are used in one.
//! * UUIDv7 and ULID: with an entropy that always says ones their random parts begin at their end, and nothing but tick and
//!   counter keeps ids apart; at full speed, and on a clock that stands, where a tick has as many ids as are asked for.

use super::Summary;
use crate::load::spent_name;
use crate::minted::Minted;
use crate::subject::Subject;
use anyhow::{Context, Result, bail};
use mintage::layout::Slot;
use mintage::{
    Clock, Entropy, Error, Generator, ManualClock, Method, RawId, Role, Settings, Spent, SystemClock,
    UnixNanos,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// How to mint.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// What to do when a sequence is spent.
    pub spent: Spent,
    /// Threads.
    pub threads: usize,
    /// How long, in milliseconds on the monotonic clock.
    pub for_ms: u64,
}

/// Ids asked for at once.
const BATCH: usize = 1024;

/// Ticks that must have been spent for a sequence to have wrapped at full speed.
const SPENT_TICKS: usize = 10;

/// Drives the subject's counter past its end.
///
/// # Errors
/// When there is no such generator, or the scheme counts nothing.
pub fn run(subject: &Subject, options: &Options) -> Result<Summary> {
    match subject.scheme.name {
        _ if subject.has_policies() => sequence(subject, options),
        "objectid" => objectid(subject),
        "uuid-v7" | "ulid" => without_randomness(subject, options),
        name => bail!("{name}: has no counter that wraps"),
    }
}

/// A sequence at full speed.
fn sequence(subject: &Subject, options: &Options) -> Result<Summary> {
    let layout = &subject.scheme.layout;
    let base = layout.time_base().context("the layout has a time field")?;
    let time = layout.find(Role::Timestamp(base)).context("in one piece")?;
    let count = layout.find(Role::Counter).context("the layout has a counter")?;
    let settings = Settings { spent: options.spent, ..subject.settings(1) };
    let generator = subject.generator(&settings)?;
    let (minted, lead) = at_full_speed(subject, &*generator, options, &SystemClock);

    let mut moments: Vec<u64> = Vec::new();
    for thread in &minted {
        moments.extend(thread.ids.iter().map(|id| moment(subject.scheme.mapping.to_layout(id), time, count)));
    }
    moments.sort_unstable();
    let ticks = ticks_used(&moments, count.bits);
    let range = 1u64 << count.bits;
    let spent: Vec<&Tick> = ticks.iter().filter(|tick| tick.is_spent(range)).collect();
    // The next tick begins at its own start, below the end that this one came to.
    let wrapped =
        ticks.windows(2).filter(|two| two[0].last == range - 1 && two[1].first < range / 64).count();
    let most = ticks.iter().map(|tick| tick.ids).max().unwrap_or(0);

    let total = Minted::total(minted);
    let mut summary = Summary::new("wrap", subject, &total);
    summary.show("spent", spent_name(options.spent));
    summary.show("threads", options.threads);
    summary.show("ticks", ticks.len());
    summary.show("ticks_spent", spent.len());
    summary.show("ticks_wrapped", wrapped);
    summary.show("most_ids_a_tick", most);
    summary.show("sequence_range", range);
    summary.show("ids_a_second", total.tally.ids * 1000 / options.for_ms.max(1));
    summary.show("lead_ms", lead / 1_000_000);
    summary.show("refused_spent", total.refused.spent);
    summary.expect(spent.len() >= SPENT_TICKS && wrapped >= SPENT_TICKS, "the sequence hardly wrapped");
    summary.expect(most <= range, "a tick has more ids than its sequence counts");
    summary.expect(
        (options.spent == Spent::Fail) == (total.refused.spent > 0),
        "calls were refused where they must not be, or not refused where they must",
    );
    if options.spent == Spent::Borrow {
        let most = mintage::generators::MAX_LEAD_NANOS + base.tick_nanos;
        summary.expect(lead > base.tick_nanos && lead <= most, "ids did not run ahead, or too far");
    } else {
        summary.expect(lead == 0, "ids ran ahead of the clock");
    }
    Ok(summary)
}

/// One tick's use.
struct Tick {
    first: u64,
    last: u64,
    ids: u64,
}

impl Tick {
    /// Whether it was used from its start to the end, nearly all of it.
    const fn is_spent(&self, range: u64) -> bool {
        self.last == range - 1 && self.ids * 100 > (range - self.first) * 98 && self.first < range / 64
    }
}

/// Tick and sequence as one number, whatever the layout's order.
fn moment(id: RawId, time: Slot, count: Slot) -> u64 {
    let moment = id.bits(time.shift, time.bits) << count.bits | id.bits(count.shift, count.bits);
    u64::try_from(moment).expect("tick and sequence of an id that is counted fit 64 bits")
}

fn ticks_used(moments: &[u64], count_bits: u32) -> Vec<Tick> {
    let sequence = |moment: u64| moment & ((1 << count_bits) - 1);
    moments
        .chunk_by(|a, b| a >> count_bits == b >> count_bits)
        .map(|tick| Tick {
            first: sequence(tick[0]),
            last: sequence(tick[tick.len() - 1]),
            ids: tick.len() as u64,
        })
        .collect()
}

/// All threads fill batches until the time is up. Returns what they minted, and the furthest that an id's time lay ahead of the
/// generator's clock.
fn at_full_speed(
    subject: &Subject,
    generator: &dyn Generator,
    options: &Options,
    clock: &dyn Clock,
) -> (Vec<Minted>, u64) {
    let until = SystemClock.monotonic_nanos() + options.for_ms * 1_000_000;
    let lead = AtomicU64::new(0);
    let mint = || {
        let mut minted = Minted::of(subject);
        let mut batch = [RawId::ZERO; BATCH];
        let mut now = SystemClock.monotonic_nanos();
        while now < until {
            let answer = try_or_wait(generator, &mut batch);
            now = SystemClock.monotonic_nanos();
            let made = minted.note_batch(&batch, answer, now);
            if made > 0 {
                let time = subject.scheme.time(batch[made - 1]).unwrap_or(UnixNanos(0));
                let ahead = u64::try_from(time.0 - clock.now().0).unwrap_or(0);
                lead.fetch_max(ahead, Ordering::Relaxed);
            }
        }
        minted.end(now);
        minted
    };
    let minted = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..options.threads).map(|_| scope.spawn(mint)).collect();
        threads.into_iter().map(|t| t.join().expect("a thread that mints does not panic")).collect()
    });
    (minted, lead.into_inner())
}

/// Part of a batch; when there is not one id to be had, waits where the policy says so.
fn try_or_wait(generator: &dyn Generator, batch: &mut [RawId]) -> Result<usize, Error> {
    match generator.try_fill(batch) {
        Err(Error::Busy { .. }) => generator.next().map(|id| {
            batch[0] = id;
            1
        }),
        answer => answer,
    }
}

/// An entropy of ones, but for the last byte: an ObjectId's counter begins 255 before its end, and every random part at its end.
struct NearlyOnes {
    last: u8,
}

impl Entropy for NearlyOnes {
    fn fill(&self, out: &mut [u8]) -> Result<(), Error> {
        out.fill(0xff);
        if let Some(last) = out.last_mut() {
            *last = self.last;
        }
        Ok(())
    }
}

/// An ObjectId's counter goes past its end on the real clock; then, on one that stands, a second is used up.
fn objectid(subject: &Subject) -> Result<Summary> {
    const A_SECOND: u64 = 1 << 24;
    let layout = &subject.scheme.layout;
    let count = layout.find(Role::Counter).context("an ObjectId has a counter")?;
    let counter = |id: RawId| id.bits(count.shift, count.bits);
    let clock = standing_clock();
    let settings = Settings {
        entropy: Some(Arc::new(NearlyOnes { last: 0 })),
        clock: Some(clock.clone()),
        ..subject.settings(1)
    };
    let standing = subject.generator(&settings)?;
    let mut minted = Minted::of(subject);
    let mut batch = vec![RawId::ZERO; BATCH];
    let mut last = None;
    let mut wraps = 0u64;
    let mut refusal = None;
    let mut fill = |minted: &mut Minted, limit: u64| {
        let mut made = 0;
        while made < limit {
            match standing.try_fill(&mut batch) {
                Ok(count) => {
                    for id in &batch[..count] {
                        wraps += u64::from(last.is_some_and(|last| counter(*id) < last));
                        last = Some(counter(*id));
                    }
                    minted.note_batch(&batch, Ok(count), SystemClock.monotonic_nanos());
                    made += count as u64;
                }
                Err(error) => {
                    refusal = Some(error);
                    break;
                }
            }
        }
        made
    };
    let in_one_second = fill(&mut minted, 2 * A_SECOND);
    clock.pass(1_000_000_000);
    let in_the_next = fill(&mut minted, BATCH as u64);

    let settings = Settings { clock: None, ..settings };
    let real = subject.generator(&settings)?;
    let mut at_once = Minted::of(subject);
    at_once.take(&*real, 1024);
    let counters: Vec<u128> = at_once.ids.iter().map(counter).collect();
    let real_wraps = counters.windows(2).filter(|two| two[1] < two[0]).count();

    let total = Minted::total(vec![minted, at_once]);
    let mut summary = Summary::new("wrap", subject, &total);
    summary.show("ids_in_one_second", in_one_second);
    summary.show("wraps", wraps);
    summary.show("ids_in_the_next", in_the_next);
    summary.show("wraps_on_the_real_clock", real_wraps);
    summary.expect(in_one_second == A_SECOND, "a second has not all its ids, or more");
    summary
        .expect(matches!(refusal, Some(Error::Busy { .. })), format!("{refusal:?} when a second is spent"));
    summary.expect(in_the_next == BATCH as u64, "the next second does not begin");
    summary.expect(wraps > 0 && real_wraps == 1, "the counter did not wrap");
    Ok(summary)
}

/// Ids whose random bits are all ones: the next tick is borrowed, or minting fails, as soon as the counter is spent.
fn without_randomness(subject: &Subject, options: &Options) -> Result<Summary> {
    if subject.method == Some(Method::Random) {
        bail!("{}: keeps no order, and so has no counter", subject.name());
    }
    let settings = Settings { entropy: Some(Arc::new(NearlyOnes { last: 0xff })), ..subject.settings(1) };
    let generator = subject.generator(&settings)?;
    let (mut minted, lead) = at_full_speed(subject, &*generator, options, &SystemClock);
    // Its ids lie years before those of the real clock.
    let clock = standing_clock();
    let settings = Settings { clock: Some(clock.clone()), ..settings };
    let generator = subject.generator(&settings)?;
    let (standing, standing_lead) = at_full_speed(subject, &*generator, options, &clock);
    minted.extend(standing);

    let total = Minted::total(minted);
    let mut summary = Summary::new("wrap", subject, &total);
    summary.show("threads", options.threads);
    summary.show("lead_ms", lead / 1_000_000);
    summary.show("lead_on_a_standing_clock_ms", standing_lead / 1_000_000);
    summary.show("refused_spent", total.refused.spent);
    let is_strict = subject.method == Some(Method::Strict);
    summary.expect(
        is_strict == (total.refused.spent > 0),
        "calls were refused where they must not be, or not refused where they must",
    );
    // Steps of up to 2^32 in 73 bits: that one is never spent.
    let is_spent = !is_strict && subject.method != Some(Method::MonotonicRandom);
    summary.expect(
        is_spent == (standing_lead > 0),
        "ids ran ahead of the clock where they must not, or the counter was not spent",
    );
    Ok(summary)
}

fn standing_clock() -> Arc<ManualClock> {
    Arc::new(ManualClock::new(UnixNanos::from_secs(1_700_000_000)))
}
