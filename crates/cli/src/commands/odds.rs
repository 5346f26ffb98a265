//! `mintage odds`: how likely it is that two random ids are equal.

use crate::arguments;
use crate::exit::{Failure, Outcome, usage};
use crate::output::{self, Palette};
use crate::quantities::{
    self, Rate, Span, count_text, one_in_text, probability_text, significant, span_text,
};
use clap::Args;
use mintage::odds::{self, Drawn, Randomness};
use mintage::{Method, Scheme};
use serde::Serialize;
use std::io::Write;

/// Say how likely it is that two random ids are equal: for a count, for a rate inside one tick, or backwards from the odds.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  mintage odds --bits 64,80,122 --count 1e9,1e12
  mintage odds --bits 122 --at-odds 50%
  mintage odds uuid-v7 --rate 1000/ms --for 1y
  mintage odds ulid --rate 1e6/s --at-odds 1e-6
  mintage odds --count 1e12 --at-odds 1e-9")]
pub(crate) struct Odds {
    /// A scheme, whose random bits and tick are taken from its layout
    scheme: Option<String>,
    /// Random bits, instead of a scheme; several with commas between them
    #[arg(long, value_name = "BITS", value_delimiter = ',', conflicts_with = "scheme")]
    bits: Vec<u32>,
    /// How many ids there are: 1000000, 1e6, 10^6; several with commas between them
    #[arg(long, value_name = "COUNT", value_delimiter = ',', value_parser = quantities::count, allow_hyphen_values = true)]
    count: Vec<u128>,
    /// How fast each writer makes ids: 100/s, 1000/ms, 5e6/day
    #[arg(long, value_name = "RATE", value_parser = quantities::rate, conflicts_with = "count", allow_hyphen_values = true)]
    rate: Option<Rate>,
    /// How many writers make ids at that rate
    #[arg(long, value_name = "N", value_parser = quantities::count_64, requires = "rate", default_value = "1", allow_hyphen_values = true)]
    writers: u64,
    /// For how long: 30s, 1y
    #[arg(long = "for", value_name = "TIME", value_parser = quantities::span, allow_hyphen_values = true)]
    duration: Option<Span>,
    /// The tick inside which ids can meet, with --bits: 1ms, 1s; without it they meet whenever they were made
    #[arg(long, value_name = "LENGTH", value_parser = quantities::span, requires = "bits", allow_hyphen_values = true)]
    tick: Option<Span>,
    /// How the scheme keeps order, for those with a choice
    #[arg(long, value_name = "METHOD", requires = "scheme")]
    method: Option<String>,
    /// Reckon backwards from these odds (50%, 1e-6, 1/1000000): the count, the time at a rate, the rate for a time, or the bits for
    /// a count
    #[arg(long, value_name = "ODDS", value_parser = quantities::probability, allow_hyphen_values = true)]
    at_odds: Option<f64>,
    /// One JSON object a line
    #[arg(long)]
    json: bool,
}

/// What keeps ids apart.
struct Source {
    scheme: Option<&'static Scheme>,
    methods: Vec<&'static str>,
    randomness: Randomness,
}

impl Source {
    fn tick_secs(&self) -> Option<f64> {
        self.randomness.tick_nanos.map(|nanos| nanos / 1e9)
    }
}

/// A line of the answer.
#[derive(Debug, Default, Serialize)]
struct Row {
    #[serde(skip_serializing_if = "Option::is_none")]
    scheme: Option<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    methods: Vec<&'static str>,
    bits: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    tick_secs: Option<f64>,
    /// A whole number, as text since it may be above 2^53.
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ids_per_sec: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    duration_secs: Option<f64>,
    probability: f64,
    /// How many equal pairs are to be expected.
    #[serde(skip_serializing_if = "Option::is_none")]
    expected_pairs: Option<f64>,
    model: &'static str,
    #[serde(skip)]
    ids: f64,
}

const ALL_AT_ONCE: &str = "all-at-once";
const PER_TICK: &str = "per-tick";

impl Odds {
    pub(crate) fn run(self) -> Result<Outcome, Failure> {
        let rows = self.rows()?;
        let mut out = output::stdout();
        if self.json {
            for row in &rows {
                output::json_line(&mut out, row)?;
            }
        } else {
            self.table(&mut out, &rows)?;
        }
        out.flush()?;
        Ok(Outcome::Done)
    }

    /// All ids a second.
    fn ids_per_sec(&self) -> Option<f64> {
        Some(self.rate.as_ref()?.ids_per_sec * self.writers as f64)
    }

    fn rows(&self) -> Result<Vec<Row>, Failure> {
        if self.writers == 0 {
            return Err(usage("--writers 0: 1 or more expected"));
        }
        self.refuse_unused()?;
        if let (Some(odds), None, true, [_, ..]) =
            (self.at_odds, &self.scheme, self.bits.is_empty(), &self.count[..])
        {
            return self.count.iter().map(|count| bits_needed(*count, odds)).collect();
        }
        let mut rows = Vec::new();
        for source in self.sources()? {
            self.refuse_rate_of_processes(&source)?;
            let explain = |error: mintage::Error| usage(format!("{} bits: {error}", source.randomness.bits));
            match self.at_odds {
                Some(odds) => rows.push(self.backwards(&source, odds).map_err(explain)?),
                None if self.count.is_empty() => rows.push(self.of_rate(&source)?.map_err(explain)?),
                None => {
                    for count in &self.count {
                        rows.push(self.of_count(&source, *count).map_err(explain)?);
                    }
                }
            }
        }
        Ok(rows)
    }

    /// Options that would change nothing.
    fn refuse_unused(&self) -> Result<(), Failure> {
        let (has_rate, has_count) = (self.rate.is_some(), !self.count.is_empty());
        let is_of_bits = self.scheme.is_some() || !self.bits.is_empty();
        let unused = [
            (
                self.at_odds.is_some() && has_count && is_of_bits,
                "--at-odds with --bits or a scheme gives the count: leave --count out",
            ),
            (self.writers != 1 && !has_rate, "--writers goes with --rate"),
            (self.tick.is_some() && has_count, "--tick goes with --rate: a count has no time"),
            (self.tick.is_some() && self.scheme.is_some(), "--tick goes with --bits: a scheme has its own"),
            (self.duration.is_some() && has_count, "--for goes with --rate: a count has no time"),
            (self.method.is_some() && self.scheme.is_none(), "--method goes with a scheme"),
        ];
        match unused.iter().find(|(is_given, _)| *is_given) {
            Some((_, message)) => Err(usage(message)),
            None => Ok(()),
        }
    }

    fn sources(&self) -> Result<Vec<Source>, Failure> {
        let Some(name) = &self.scheme else {
            if self.bits.is_empty() {
                return Err(usage(
                    "nothing to reckon with: give a scheme such as uuid-v7, or --bits, then --count, or --rate and --for, or \
                     --at-odds",
                ));
            }
            let tick_nanos = self.tick.as_ref().map(|tick| tick.secs * 1e9);
            let randomness = |bits| Randomness { bits, tick_nanos, drawn: Drawn::EachId };
            let source =
                |bits: &u32| Source { scheme: None, methods: Vec::new(), randomness: randomness(*bits) };
            return Ok(self.bits.iter().map(source).collect());
        };
        let scheme = arguments::scheme(name)?;
        let Some(all) = Randomness::of(scheme, None) else {
            return Err(usage(format!(
                "{}: its ids don't meet by chance alone ({}); `mintage capacity {}` says how many there are, and --bits takes any \
                 number of random bits",
                scheme.name, scheme.facts.collisions, scheme.name
            )));
        };
        if let Some(method) = &self.method {
            let known = scheme.methods.iter().find(|known| known.name() == method);
            let Some(known) = known else {
                let names: Vec<&str> = scheme.methods.iter().map(|method| method.name()).collect();
                let names = if names.is_empty() { "no choice".to_owned() } else { names.join(", ") };
                return Err(usage(format!(
                    "{}: no method is called `{method}`; it has {names}",
                    scheme.name
                )));
            };
            let randomness = Randomness::of(scheme, Some(*known)).unwrap_or(all);
            return Ok(vec![Source { scheme: Some(scheme), methods: vec![known.name()], randomness }]);
        }
        let mut sources = vec![Source { scheme: Some(scheme), methods: Vec::new(), randomness: all }];
        for method in scheme.methods {
            let method: &Method = method;
            let Some(randomness) = Randomness::of(scheme, Some(*method)) else { continue };
            match sources[1..].iter_mut().find(|source| source.randomness == randomness) {
                Some(known) => known.methods.push(method.name()),
                None => {
                    sources.push(Source { scheme: Some(scheme), methods: vec![method.name()], randomness })
                }
            }
        }
        // Methods that change nothing needn't be told apart.
        if sources[1..].iter().all(|source| source.randomness == all) {
            sources.truncate(1);
        }
        Ok(sources)
    }

    fn row(&self, source: &Source) -> Row {
        Row {
            scheme: source.scheme.map(|scheme| scheme.name),
            methods: source.methods.clone(),
            bits: source.randomness.bits,
            tick_secs: source.tick_secs(),
            ids_per_sec: self.ids_per_sec(),
            duration_secs: self.duration.as_ref().map(|span| span.secs),
            ..Row::default()
        }
    }

    fn of_count(&self, source: &Source, count: u128) -> Result<Row, mintage::Error> {
        let row =
            Row { count: Some(count.to_string()), ids: count as f64, model: ALL_AT_ONCE, ..self.row(source) };
        let bits = source.randomness.bits;
        let (odds, model) = match (&self.duration, source.tick_secs()) {
            // No ids, no rate: among none of them none are equal.
            (Some(span), Some(tick)) if count > 0 => {
                let ticks = span.secs / tick;
                (odds::in_ticks(count as f64 / ticks, bits, ticks)?, PER_TICK)
            }
            _ => (odds::among(count, bits)?, ALL_AT_ONCE),
        };
        Ok(Row {
            probability: odds.probability(),
            expected_pairs: Some(odds.expected_pairs()).filter(|pairs| pairs.is_finite()),
            model,
            ..row
        })
    }

    fn of_rate(&self, source: &Source) -> Result<Result<Row, mintage::Error>, Failure> {
        let (Some(rate), Some(span)) = (self.ids_per_sec(), &self.duration) else {
            return Err(usage(match (&self.rate, &self.duration) {
                (Some(_), None) => {
                    "--rate needs --for TIME such as 1y, or --at-odds ODDS for the time it takes"
                }
                (None, Some(_)) => {
                    "--for needs --rate RATE such as 1000/ms, --count COUNT, or --at-odds ODDS for the rate"
                }
                _ => "give --count COUNT, or --rate RATE and --for TIME, or --at-odds ODDS",
            }));
        };
        let row = self.row(source);
        let reckoned = match source.tick_secs() {
            Some(tick) => odds::in_ticks(rate * tick, source.randomness.bits, span.secs / tick)
                .map(|odds| (odds, PER_TICK)),
            None => whole(rate * span.secs)
                .and_then(|count| odds::among(count, source.randomness.bits))
                .map(|odds| (odds, ALL_AT_ONCE)),
        };
        Ok(reckoned.map(|(odds, model)| Row {
            probability: odds.probability(),
            expected_pairs: Some(odds.expected_pairs()).filter(|pairs| pairs.is_finite()),
            model,
            ids: rate * span.secs,
            ..row
        }))
    }

    /// A rate says nothing about random bits that are drawn once a process.
    fn refuse_rate_of_processes(&self, source: &Source) -> Result<(), Failure> {
        match (source.randomness.drawn, source.scheme) {
            (Drawn::EachProcess, Some(scheme)) if self.rate.is_some() || self.duration.is_some() => {
                Err(usage(format!(
                    "{}: its {} random bits are drawn once a process, not for each id; give --count PROCESSES instead of --rate and --for",
                    scheme.name, source.randomness.bits
                )))
            }
            _ => Ok(()),
        }
    }

    /// From the odds to what has them.
    fn backwards(&self, source: &Source, probability: f64) -> Result<Row, mintage::Error> {
        let (bits, given) = (source.randomness.bits, odds::Odds::of(probability)?);
        let row = Row { probability, ..self.row(source) };
        let with_count = |count: f64| Row {
            count: Some(format!("{count:.0}")),
            ids: count,
            model: ALL_AT_ONCE,
            ..self.row(source)
        };
        Ok(match (self.ids_per_sec(), &self.duration, source.tick_secs()) {
            (Some(rate), _, Some(tick)) => {
                let secs = odds::ticks_at(given, rate * tick, bits)? * tick;
                Row { duration_secs: Some(secs), model: PER_TICK, ids: rate * secs, ..row }
            }
            (None, Some(span), Some(tick)) => {
                let rate = odds::ids_per_tick_at(given, bits, span.secs / tick)? / tick;
                Row { ids_per_sec: Some(rate), model: PER_TICK, ids: rate * span.secs, ..row }
            }
            (rate, span, _) => {
                let count = odds::count_at(given, bits)?;
                let found = Row { probability, ..with_count(count) };
                match (rate, span) {
                    (Some(rate), _) => Row { duration_secs: Some(count / rate), ..found },
                    (None, Some(span)) => Row { ids_per_sec: Some(count / span.secs), ..found },
                    (None, None) => found,
                }
            }
        })
    }

    fn table(&self, out: &mut impl Write, rows: &[Row]) -> Result<(), Failure> {
        let Some(first) = rows.first() else { return Ok(()) };
        let palette = Palette::of_stdout();
        let ids = match first.scheme.and_then(Scheme::by_name).and_then(|scheme| Randomness::of(scheme, None))
        {
            Some(Randomness { drawn: Drawn::EachProcess, .. }) => "processes",
            Some(Randomness { drawn: Drawn::EachName, .. }) => "names",
            _ => "ids",
        };
        let mut lines = vec![
            ["bits", "tick", ids, "ids/s", "time", "odds of equal ones", "", ""].map(str::to_owned).to_vec(),
        ];
        for row in rows {
            let note = match (row.scheme, &row.methods[..]) {
                (Some(_), []) if rows.len() > 1 => "all random bits drawn for each id".to_owned(),
                (_, []) => String::new(),
                (_, methods) => format!("method {}", methods.join(", ")),
            };
            lines.push(vec![
                row.bits.to_string(),
                row.tick_secs.map_or(String::new(), tick_text),
                count_text(row.ids),
                row.ids_per_sec.map_or(String::new(), count_text),
                row.duration_secs.map_or(String::new(), span_text),
                probability_text(row.probability),
                one_in_text(row.probability),
                note,
            ]);
        }
        output::columns(out, &lines, palette)?;
        for line in self.model(first, ids) {
            writeln!(out, "{} {line}", palette.dim("model:"))?;
        }
        Ok(())
    }

    /// What was assumed.
    fn model(&self, row: &Row, ids: &str) -> Vec<String> {
        let mut lines = Vec::new();
        if row.model == PER_TICK {
            lines.push(
                "only ids of one tick can meet; they arrive independently of each other, so a tick with r on average has r^2 / 2 pairs"
                    .to_owned(),
            );
            let tick = row.tick_secs.unwrap_or(1.0);
            if let Some(rate) = row.ids_per_sec {
                let per_tick = rate * tick;
                lines.push(format!("r = {} {ids} a tick of {}", count_text(per_tick), tick_text(tick)));
            }
            lines.push(
                "in n ticks the odds are 1 - ((1 + x) e^-x)^(n 2^bits), x = r / 2^bits; nearly n r^2 / 2^(bits + 1)".to_owned(),
            );
        } else {
            lines.push(format!(
                "the birthday bound: n {ids} drawn from 2^bits values have the odds 1 - (1 - 1/2^bits) (1 - 2/2^bits) ... (1 - (n - \
                 1)/2^bits); nearly n^2 / 2^(bits + 1)"
            ));
            if let (Some(tick), Some(scheme), "ids") = (row.tick_secs, row.scheme, ids) {
                let tick = tick_text(tick);
                lines.push(format!(
                    "{scheme}: the worst case, all {ids} in one tick of {tick}; --rate and --for reckon with them spread over time"
                ));
            }
        }
        match ids {
            "processes" => lines.push(
                "the random bits are drawn once a process: two that drew the same may meet in any tick, one alone can't"
                    .to_owned(),
            ),
            "names" => {
                lines.push("for different names; the same name gives the same id on purpose".to_owned())
            }
            _ => {}
        }
        if self.writers > 1 {
            lines.push(format!(
                "{} writers at {} each",
                count_text(self.writers as f64),
                self.rate.as_ref().map_or(String::new(), Rate::to_string)
            ));
        }
        lines
    }
}

/// The least random bits with which so many ids have at most these odds.
fn bits_needed(count: u128, probability: f64) -> Result<Row, Failure> {
    let found = (1..=odds::MAX_BITS).find_map(|bits| {
        let odds = odds::among(count, bits).ok()?;
        (odds.probability() <= probability).then_some((bits, odds))
    });
    let Some((bits, odds)) = found else {
        return Err(usage(format!("--at-odds: more than {} bits would be needed", odds::MAX_BITS)));
    };
    Ok(Row {
        bits,
        count: Some(count.to_string()),
        ids: count as f64,
        probability: odds.probability(),
        expected_pairs: Some(odds.expected_pairs()),
        model: ALL_AT_ONCE,
        ..Row::default()
    })
}

/// The nearest whole number.
fn whole(count: f64) -> Result<u128, mintage::Error> {
    const LIMIT: f64 = 3e38;
    if count.is_finite() && count < LIMIT {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a product of numbers above 0, and below 2^128"
        )]
        return Ok(count.round() as u128);
    }
    Err(mintage::Error::Quantity { what: "rate times duration", expected: "below 3 * 10^38 ids" })
}

fn tick_text(secs: f64) -> String {
    match secs {
        secs if secs >= 1.0 => format!("{} s", significant(secs)),
        secs => span_text(secs),
    }
}
