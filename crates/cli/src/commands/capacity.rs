//! `mintage capacity`: how long ids last, and how many there are.

use crate::arguments;
use crate::exit::{Failure, Outcome, usage};
use crate::output::{self, Palette};
use crate::quantities::{self, Rate, YEAR_SECS, count_text, span_text};
use clap::Args;
use mintage::capacity::{
    COUNTERS, Capacity, CounterType, Lifetime, Needs, Split, TICKS, Writers, after, least, region, suggest,
};
use mintage::schemes::snowflake::{DEFAULT_BASE, custom_split};
use mintage::{Clock, SystemClock, TimeBase, UnixNanos};
use serde::Serialize;
use std::io::Write;

/// Say how long ids last, and how many there are: of a split, a scheme or a counter; or suggest a split.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  mintage capacity 41/10/12 --epoch 2025-01-01 --tick 1ms
  mintage capacity t39/s8/w16 --tick 10ms --regions 4
  mintage capacity snowflake-twitter
  mintage capacity --counter int4 --rate 100/s
  mintage capacity --counter int4 --current 1.9e9 --rate 5e6/day
  mintage capacity --suggest --machines 200 --rate 50000/s --years 30

A split, or a scheme with a time field, that ends within two years is refused, unless --force is given.")]
pub(crate) struct CapacityOf {
    /// A split of 64 bits into timestamp, worker and sequence such as 41/10/12 or t39/s8/w16, or a scheme
    #[arg(value_name = "SPLIT|SCHEME", conflicts_with_all = ["counter", "suggest"], required_unless_present_any = ["counter", "suggest"])]
    what: Option<String>,
    /// The moment of a split's tick 0 [default: 2025-01-01T00:00:00Z]
    #[arg(long, value_name = "TIME", value_parser = arguments::time, conflicts_with = "counter", allow_hyphen_values = true)]
    epoch: Option<UnixNanos>,
    /// The length of a split's tick, such as 1ms, 10ms or 1s [default: 1ms]
    #[arg(long, value_name = "LENGTH", value_parser = arguments::tick, conflicts_with_all = ["counter", "suggest"], allow_hyphen_values = true)]
    tick: Option<u64>,
    /// Deal the workers to this many regions, a block each
    #[arg(long, value_name = "N", value_parser = quantities::count_64, conflicts_with = "counter", allow_hyphen_values = true)]
    regions: Option<u64>,
    /// A counter: int4, bigint, "int unsigned", javascript
    #[arg(long, value_name = "TYPE", conflicts_with = "suggest")]
    counter: Option<String>,
    /// The counter's present value
    #[arg(long, value_name = "VALUE", value_parser = quantities::count_64, requires = "counter", default_value = "0", allow_hyphen_values = true)]
    current: u64,
    /// How far apart the counter's values are
    #[arg(long, value_name = "K", value_parser = quantities::count_64, requires = "counter", default_value = "1", allow_hyphen_values = true)]
    step: u64,
    /// Ids made in all, by all machines: 100/s, 5e6/day; with --counter or --suggest
    #[arg(long, value_name = "RATE", value_parser = quantities::rate, conflicts_with = "what", allow_hyphen_values = true)]
    rate: Option<Rate>,
    /// Suggest splits for --machines, --rate and --years
    #[arg(long, requires_all = ["machines", "rate", "years"])]
    suggest: bool,
    /// Machines that mint at a time
    #[arg(long, value_name = "N", value_parser = quantities::count_64, requires = "suggest", allow_hyphen_values = true)]
    machines: Option<u64>,
    /// For how many years from now
    #[arg(long, value_name = "YEARS", value_parser = quantities::years, requires = "suggest", allow_hyphen_values = true)]
    years: Option<f64>,
    /// Bits of a suggested split: 63 for a signed 64-bit column, 53 for JavaScript
    #[arg(long, value_name = "BITS", requires = "suggest", default_value_t = 63)]
    bits: u32,
    /// Show a split that ends within two years, or whose epoch lies in the future, all the same
    #[arg(long, conflicts_with_all = ["counter", "suggest"])]
    force: bool,
    /// The present [default: the clock]
    #[arg(long, value_name = "TIME", value_parser = arguments::time, allow_hyphen_values = true)]
    now: Option<UnixNanos>,
    /// One JSON object; with --suggest one a line
    #[arg(long)]
    json: bool,
}

/// The most regions that are listed.
const MAX_REGIONS: u64 = 1000;
/// A split that ends sooner is refused.
const REFUSED_YEARS: f64 = 2.0;

/// What `--json` says of a layout. Numbers that may be above 2^53 are text.
#[derive(Serialize)]
struct Described {
    name: String,
    epoch: Option<String>,
    tick_nanos: Option<u64>,
    lifetime_secs: Option<f64>,
    ends: Option<String>,
    turns_negative: Option<String>,
    passes_2_53: Option<String>,
    workers: Option<String>,
    ids_per_tick: Option<String>,
    ids_per_sec_per_worker: Option<f64>,
    ids_per_sec: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    spare_bits_go_to: Option<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    regions: Vec<Region>,
}

#[derive(Serialize)]
struct Region {
    region: u64,
    from_worker: String,
    to_worker: String,
}

#[derive(Serialize)]
struct Counted {
    counter: &'static str,
    max: String,
    current: String,
    step: String,
    left: String,
    ids_per_sec: Option<f64>,
    lasts_secs: Option<f64>,
    ends: Option<String>,
}

/// The layout that is looked at, under the name that the user gave it.
struct Subject {
    name: String,
    capacity: Capacity,
    is_split: bool,
    /// What can't be said by numbers.
    notes: Vec<String>,
}

impl CapacityOf {
    pub(crate) fn run(self) -> Result<Outcome, Failure> {
        let now = self.now.unwrap_or_else(|| SystemClock.now());
        let mut out = output::stdout();
        let palette = Palette::of_stdout();
        match (&self.counter, self.suggest) {
            (Some(name), _) => self.counter(&mut out, name, now, palette)?,
            (None, true) => self.suggestions(&mut out, now, palette)?,
            (None, false) => self.subject(&mut out, now, palette)?,
        }
        out.flush()?;
        Ok(Outcome::Done)
    }

    fn subject(&self, out: &mut impl Write, now: UnixNanos, palette: Palette) -> Result<(), Failure> {
        let subject = self.parse()?;
        let regions = self.regions_of(subject.capacity.writers)?;
        self.refuse(&subject, now)?;
        if self.json {
            return Ok(output::json_line(out, &described(&subject.name, &subject.capacity, regions))?);
        }
        writeln!(out, "{}", palette.bold(&subject.name))?;
        let mut line =
            |label: &str, text: String| writeln!(out, "  {}  {text}", palette.dim(format!("{label:<10}")));
        let capacity = &subject.capacity;
        if let Some(life) = &capacity.lifetime {
            line("ticks", format!("of {}, since {}", tick_text(life.base.tick_nanos), life.base.epoch))?;
            line("lifetime", span_text(life.secs))?;
            line("ends", until(life.ends, now))?;
            if life.turns_negative.is_some() {
                let until = until(life.turns_negative, now);
                line("negative", format!("in a signed column from {until}"))?;
            }
            if let Some(passes) = life.passes_2_53 {
                line(
                    "JavaScript",
                    format!("rounds ids from {} on: they are above 2^53", date(Some(passes))),
                )?;
            }
        }
        match capacity.writers {
            Writers::Workers(count) => {
                line("workers", format!("{}, 0 to {}", count_text(count as f64), count - 1))?;
            }
            Writers::Shared { bits } => {
                line("workers", format!("share {bits} bits with the sequence, split as you need them"))?;
            }
            Writers::One => line("writers", "one".to_owned())?,
            Writers::Any => line("writers", "any number, without agreeing on anything".to_owned())?,
        }
        match (capacity.ids_per_sec(), capacity.writers, capacity.ids_per_tick) {
            (Some(rate), Writers::Workers(count), _) => {
                let total = count_text(rate * count as f64);
                line("ids/s", format!("{} a worker, {total} in all", count_text(rate)))?;
            }
            (Some(rate), ..) => line("ids/s", format!("{} a writer", count_text(rate)))?,
            (None, _, Some(count)) => line("ids", format!("{} in all", count_text(count as f64)))?,
            (None, _, None) => {}
        }
        for note in &subject.notes {
            line("note", note.clone())?;
        }
        for region in regions {
            line(
                "region",
                format!("{}: workers {} to {}", region.region, region.from_worker, region.to_worker),
            )?;
        }
        Ok(())
    }

    /// A split, or a scheme by name.
    fn parse(&self) -> Result<Subject, Failure> {
        let what = self.what.as_deref().unwrap_or_default();
        let base = TimeBase {
            epoch: self.epoch.unwrap_or(DEFAULT_BASE.epoch),
            tick_nanos: self.tick.unwrap_or(DEFAULT_BASE.tick_nanos),
        };
        if what.contains('/') {
            let layout = custom_split(what, base).map_err(|error| usage(format!("{what}: {error}")))?;
            return Ok(Subject {
                name: what.to_owned(),
                capacity: Capacity::of_split(&layout),
                is_split: true,
                notes: Vec::new(),
            });
        }
        let scheme = arguments::scheme(what).map_err(|failure| match failure {
            Failure::Usage(message) => usage(format!("{message}; a split has slashes, such as 41/10/12")),
            other => other,
        })?;
        if self.epoch.is_some() || self.tick.is_some() {
            return Err(usage(format!(
                "{}: its epoch and tick are fixed; --epoch and --tick go with a split such as 41/10/12",
                scheme.name
            )));
        }
        let capacity = Capacity::of(scheme);
        let mut notes = Vec::new();
        if capacity.ids_per_tick.is_none() || mintage::odds::Randomness::of(scheme, None).is_some() {
            notes.push(format!("collisions: {}", scheme.facts.collisions));
        }
        Ok(Subject { name: scheme.name.to_owned(), capacity, is_split: false, notes })
    }

    /// Refuses what is about to end, and what hasn't begun.
    fn refuse(&self, subject: &Subject, now: UnixNanos) -> Result<(), Failure> {
        let Some(life) = &subject.capacity.lifetime else { return Ok(()) };
        let name = &subject.name;
        let limit = after(now, REFUSED_YEARS * YEAR_SECS);
        let problem = match life.usable_until() {
            Some(end) if limit.is_some_and(|limit| end < limit) => {
                let (verb, how) = match (end <= now, life.turns_negative.is_some()) {
                    (true, false) => ("ended", "the time field is full"),
                    (false, false) => ("ends", "the time field is full"),
                    (true, true) => ("ended", "ids turn negative in a signed column"),
                    (false, true) => ("ends", "ids turn negative in a signed column"),
                };
                let advice = match subject.is_split {
                    true => "take a later epoch, a longer tick or a wider timestamp",
                    false => "take a scheme with a later epoch or a wider timestamp",
                };
                Some(format!("{name}: {verb} at {end}, where {how}; {advice}"))
            }
            _ if life.base.epoch > now => {
                Some(format!("{name}: the epoch {} lies in the future: it is {now}", life.base.epoch))
            }
            _ => None,
        };
        match problem {
            Some(problem) if self.force => {
                eprintln!("mintage: warning: {problem}");
                Ok(())
            }
            Some(problem) => Err(usage(format!("{problem}; --force shows it all the same"))),
            None => Ok(()),
        }
    }

    fn regions_of(&self, writers: Writers) -> Result<Vec<Region>, Failure> {
        let Some(count) = self.regions else { return Ok(Vec::new()) };
        let Writers::Workers(workers) = writers else {
            return Err(usage("--regions: there are no workers to deal out"));
        };
        if count == 0 || count > MAX_REGIONS || u128::from(count) > workers {
            return Err(usage(format!(
                "--regions {count}: 1 to {} expected",
                workers.min(u128::from(MAX_REGIONS))
            )));
        }
        let block = |index| {
            region(workers, count, index).map(|block| Region {
                region: index,
                from_worker: block.start().to_string(),
                to_worker: block.end().to_string(),
            })
        };
        Ok((0..count).filter_map(block).collect())
    }

    fn counter(
        &self,
        out: &mut impl Write,
        name: &str,
        now: UnixNanos,
        palette: Palette,
    ) -> Result<(), Failure> {
        let Some(counter) = CounterType::by_name(name) else {
            let names = COUNTERS.iter().flat_map(|c| c.aliases.iter().chain([&c.name]).map(|n| (*n, c.name)));
            let nearest = arguments::nearest(name, names);
            let known: Vec<&str> = COUNTERS.iter().map(|counter| counter.name).collect();
            return Err(usage(format!(
                "no counter is called `{name}`; {nearest}there are {}, and their SQL names",
                known.join(", ")
            )));
        };
        let left = counter.left(self.current, self.step).map_err(|error| {
            usage(format!("--counter {name} --current {} --step {}: {error}", self.current, self.step))
        })?;
        let rate = self.rate.as_ref().map(|rate| rate.ids_per_sec);
        let secs = rate.map(|rate| left as f64 / rate);
        let ends = secs.and_then(|secs| after(now, secs));
        if self.json {
            let counted = Counted {
                counter: counter.name,
                max: counter.max.to_string(),
                current: self.current.to_string(),
                step: self.step.to_string(),
                left: left.to_string(),
                ids_per_sec: rate,
                lasts_secs: secs,
                ends: ends.and_then(|end| end.rfc3339(0)).map(|end| end.to_string()),
            };
            return Ok(output::json_line(out, &counted)?);
        }
        writeln!(out, "{}", palette.bold(counter.name))?;
        let mut line =
            |label: &str, text: String| writeln!(out, "  {}  {text}", palette.dim(format!("{label:<10}")));
        line("largest", counter.max.to_string())?;
        let share = left as f64 / (counter.max as f64 / self.step as f64) * 100.0;
        line("left", format!("{left} values, {} %", quantities::significant(share)))?;
        if let (Some(secs), Some(rate)) = (secs, &self.rate) {
            line("lasts", format!("{} at {rate}", span_text(secs)))?;
            line("ends", until(ends, now))?;
        }
        Ok(())
    }

    fn suggestions(&self, out: &mut impl Write, now: UnixNanos, palette: Palette) -> Result<(), Failure> {
        let (Some(machines), Some(rate), Some(years)) = (self.machines, &self.rate, self.years) else {
            return Err(usage("--suggest needs --machines, --rate and --years"));
        };
        let epoch = self.epoch.unwrap_or(DEFAULT_BASE.epoch);
        if epoch > now {
            return Err(usage(format!("--epoch {epoch} lies in the future: it is {now}")));
        }
        let Some(until) = after(now, years * YEAR_SECS) else {
            return Err(usage(format!("--years {years}: an end before the year 10000 expected")));
        };
        let needs = Needs { machines, ids_per_sec: rate.ids_per_sec, epoch, until, bits: self.bits };
        let splits = suggest(&needs).map_err(|error| usage(format!("--suggest: {error}")))?;
        if splits.is_empty() {
            return Err(self.nothing_fits(&needs));
        }
        let mut lines = vec![
            ["split", "tick", "lifetime", "ends", "workers", "ids/s a worker", "spare bits to"]
                .map(str::to_owned)
                .to_vec(),
        ];
        for split in &splits {
            let layout = split.layout()?;
            let capacity = Capacity::of_split(&layout);
            let regions = self.regions_of(capacity.writers)?;
            if self.json {
                let described = described(&split.to_string(), &capacity, regions);
                output::json_line(
                    out,
                    &Described { spare_bits_go_to: Some(split.spare.name()), ..described },
                )?;
            } else {
                let life = capacity.lifetime.as_ref();
                lines.push(vec![
                    split.to_string(),
                    tick_text(split.base.tick_nanos),
                    life.map_or(String::new(), |life| span_text(life.secs)),
                    date(life.and_then(Lifetime::usable_until)),
                    capacity.writers.count().map_or(String::new(), |count| count_text(count as f64)),
                    capacity.ids_per_sec().map_or(String::new(), count_text),
                    split.spare.name().to_owned(),
                ]);
            }
        }
        if self.json {
            return Ok(());
        }
        output::columns(out, &lines, palette)?;
        let share = count_text(rate.ids_per_sec / machines as f64);
        writeln!(
            out,
            "for {} machines with {share} ids/s each ({rate} in all) until {} at least, in {} bits",
            count_text(machines as f64),
            date(Some(until)),
            self.bits
        )?;
        let first = &splits[0];
        writeln!(
            out,
            "{} mintage capacity {first} --epoch {} --tick {}",
            palette.dim("next:"),
            date(Some(epoch)),
            tick_text(first.base.tick_nanos)
        )?;
        if self.regions.is_some() {
            let workers = Capacity::of_split(&first.layout()?).writers;
            for region in self.regions_of(workers)? {
                writeln!(
                    out,
                    "{} {}: workers {} to {} of {first}",
                    palette.dim("region"),
                    region.region,
                    region.from_worker,
                    region.to_worker
                )?;
            }
        }
        Ok(())
    }

    fn nothing_fits(&self, needs: &Needs) -> Failure {
        let narrowest = TICKS
            .iter()
            .filter_map(|tick| least(needs, *tick).ok())
            .min_by_key(Split::bits)
            .map_or_else(String::new, |split| {
                format!(
                    "; the narrowest split that would do has {} bits, {split} with ticks of {}",
                    split.bits(),
                    tick_text(split.base.tick_nanos)
                )
            });
        usage(format!("no split of {} bits holds that{narrowest}; a uuid-v7 needs no split", self.bits))
    }
}

fn described(name: &str, capacity: &Capacity, regions: Vec<Region>) -> Described {
    let life = capacity.lifetime;
    let time = |time: Option<UnixNanos>| time.and_then(|time| time.rfc3339(3)).map(|time| time.to_string());
    let rate = capacity.ids_per_sec();
    let workers = capacity.writers.count();
    Described {
        name: name.to_owned(),
        epoch: time(life.map(|life| life.base.epoch)),
        tick_nanos: life.map(|life| life.base.tick_nanos),
        lifetime_secs: life.map(|life| life.secs),
        ends: time(life.and_then(|life| life.ends)),
        turns_negative: time(life.and_then(|life| life.turns_negative)),
        passes_2_53: time(life.and_then(|life| life.passes_2_53)),
        workers: workers.map(|count| count.to_string()),
        ids_per_tick: capacity.ids_per_tick.map(|count| count.to_string()),
        ids_per_sec_per_worker: rate,
        ids_per_sec: rate.zip(workers).map(|(rate, workers)| rate * workers as f64),
        spare_bits_go_to: None,
        regions,
    }
}

/// A moment, and how far away it is.
fn until(end: Option<UnixNanos>, now: UnixNanos) -> String {
    let Some((end, text)) = end.and_then(|end| Some((end, end.rfc3339(0)?.to_string()))) else {
        return "after the year 9999".to_owned();
    };
    let secs = (end.0.saturating_sub(now.0)) as f64 / 1e9;
    if secs >= 0.0 {
        format!("{text}, in {}", span_text(secs))
    } else {
        format!("{text}, {} ago", span_text(-secs))
    }
}

fn date(time: Option<UnixNanos>) -> String {
    match time.and_then(|time| time.rfc3339(0)) {
        Some(text) => text.to_string().split('T').next().unwrap_or_default().to_owned(),
        None => "after the year 9999".to_owned(),
    }
}

/// As `--tick` takes it.
fn tick_text(nanos: u64) -> String {
    for (unit, length) in [("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1_000)] {
        if nanos.is_multiple_of(length) {
            return format!("{}{unit}", nanos / length);
        }
    }
    format!("{nanos}ns")
}
