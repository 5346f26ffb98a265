//! `mintage new`: mint ids, one a line.

use crate::arguments::{self, Split};
use crate::exit::{Failure, Outcome, usage};
use crate::output;
use clap::{Args, ValueEnum};
use mintage::schemes::typeid::check_prefix;
use mintage::{
    ClockBack, Error, Generator, ManualClock, Method, RawId, Scheme, Setting, Settings, Spent, Start,
    SystemClock, SystemEntropy, TextForm, UnixNanos,
};
use serde::Serialize;
use std::io::{self, Write};
use std::sync::Arc;

/// Mint ids, one a line.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  mintage new uuid-v7 -n 3\n  mintage new snowflake-twitter --worker 7\n  mintage new snowflake \
                  --layout 41/10/12 --epoch 2025-01-01 --worker 7\n  mintage new uuid-v5 --namespace dns --name example.com\n  mintage new typeid --prefix user\n  mintage new hash-prefixed --buckets 32"
)]
pub(crate) struct New {
    /// What to mint; `mintage schemes` lists them
    scheme: String,
    /// How many
    #[arg(short = 'n', long, value_name = "N", default_value_t = 1, value_parser = arguments::whole, allow_hyphen_values = true)]
    count: u64,
    /// The worker, for schemes that have one: no other process may use it
    #[arg(long, value_name = "W", value_parser = arguments::whole, allow_hyphen_values = true)]
    worker: Option<u64>,
    /// Mint as if it were this time
    #[arg(long, value_name = "TIME", value_parser = arguments::time, allow_hyphen_values = true)]
    at: Option<UnixNanos>,
    /// How order is kept within a tick, for schemes with a choice
    #[arg(long, value_name = "METHOD")]
    method: Option<String>,
    /// How ids are spelled: canonical, hex, decimal, base62 and the like, or a form of the scheme
    #[arg(long, value_name = "FORM", default_value = "canonical")]
    form: String,
    #[command(flatten)]
    split: Split,
    /// What to do when the clock went back behind the last id
    #[arg(long, value_enum, value_name = "POLICY")]
    clock_back: Option<ClockBackArg>,
    /// What to do when the sequence of a tick is spent
    #[arg(long, value_enum, value_name = "POLICY")]
    spent: Option<SpentArg>,
    /// Where the sequence of a tick begins
    #[arg(long, value_enum, value_name = "START")]
    start: Option<StartArg>,
    /// Namespace of uuid-v3 and uuid-v5: dns, url, oid, x500, or a UUID
    #[arg(long, value_name = "NAMESPACE")]
    namespace: Option<String>,
    /// Name for uuid-v3 and uuid-v5; may be given several times
    #[arg(long, value_name = "NAME")]
    name: Vec<String>,
    /// Custom bits of uuid-v8: 32 hex digits, of which version and variant are overwritten [default: random]
    #[arg(long, value_name = "HEX")]
    data: Option<String>,
    /// Prefix of typeid, such as user
    #[arg(long, value_name = "PREFIX")]
    prefix: Option<String>,
    /// Ids a block of sequential-uuid-counter [default: 65536]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    block_size: Option<u64>,
    /// Blocks of sequential-uuid-counter and -time before the first comes again, 1 to 65536 [default: 65536]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=65_536))]
    block_count: Option<u64>,
    /// Length of a block of sequential-uuid-time, such as 60s [default: 60s]
    #[arg(long, value_name = "LENGTH", value_parser = arguments::tick)]
    interval: Option<u64>,
    /// Buckets of hash-prefixed, 1 to 65536 [default: 16]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=65_536))]
    buckets: Option<u64>,
    /// First value of the counter of spanner-bit-reversed and sequential-uuid-counter [default: 1 and 0]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(0..1 << 63))]
    first: Option<u64>,
    /// Ask the operating system for random bits for each id, instead of stretching its bits
    #[arg(long)]
    strict_entropy: bool,
    /// One JSON object a line
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum ClockBackArg {
    Absorb,
    Wait,
    Refuse,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum SpentArg {
    Wait,
    Fail,
    Borrow,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum StartArg {
    Zero,
    Rolling,
}

/// How many ids are made and written at a time.
const BATCH: usize = 1024;

impl New {
    pub(crate) fn run(self) -> Result<Outcome, Failure> {
        let scheme = arguments::scheme(&self.scheme)?;
        let clock = self.at.map(|at| Arc::new(ManualClock::new(at)));
        let settings = self.settings(scheme, clock.clone())?;
        let prefix = match &self.prefix {
            Some(prefix) if !prefix.is_empty() => {
                check_prefix(prefix).map_err(|error| usage(format!("--prefix {prefix}: {error}")))?;
                format!("{prefix}_")
            }
            _ => String::new(),
        };
        let spelling = Spelling { scheme, form: self.form(scheme)?, prefix, is_json: self.json };
        let mut out = output::stdout();
        if self.name.is_empty() {
            let generator = self.generator(scheme, &settings)?;
            warn_of_the_end(scheme, &settings);
            let source = Source { generator: &*generator, clock: clock.as_deref() };
            let made = source.write(self.count, &spelling, &mut out);
            out.flush()?;
            made.map_err(|stop| self.failure(stop))?;
        } else {
            for name in &self.name {
                let name = settings.name.as_ref().map(|(space, _)| (*space, name.as_bytes().to_vec()));
                let generator = self.generator(scheme, &Settings { name, ..settings.clone() })?;
                let id = generator.try_next()?;
                spelling.write(id, &mut out).map_err(|stop| self.failure(stop))?;
            }
            out.flush()?;
        }
        Ok(Outcome::Done)
    }

    fn generator(&self, scheme: &'static Scheme, settings: &Settings) -> Result<Box<dyn Generator>, Failure> {
        scheme.generator(settings).map_err(|error| self.explain(error))
    }

    /// Refuses options that the scheme has no use for, naming those that have.
    fn check_options(&self, scheme: &Scheme) -> Result<(), Failure> {
        let has_policies = self.clock_back.is_some() || self.spent.is_some() || self.start.is_some();
        let given = [
            (has_policies, "--clock-back, --spent and --start", &[Setting::Policies][..]),
            (self.namespace.is_some() || !self.name.is_empty(), "--namespace and --name", &[Setting::Name]),
            (self.data.is_some(), "--data", &[Setting::Data]),
            (self.block_size.is_some(), "--block-size", &[Setting::Blocks]),
            (self.block_count.is_some(), "--block-count", &[Setting::Blocks, Setting::Intervals]),
            (self.interval.is_some(), "--interval", &[Setting::Intervals]),
            (self.buckets.is_some(), "--buckets", &[Setting::Buckets]),
            (self.first.is_some(), "--first", &[Setting::First]),
        ];
        for (_, option, takers) in given.iter().filter(|(is_given, ..)| *is_given) {
            if !takers.iter().any(|setting| scheme.takes(*setting)) {
                let takes = |s: &&&Scheme| takers.iter().any(|setting| s.takes(*setting));
                let names: Vec<&str> = mintage::SCHEMES.iter().filter(takes).map(|s| s.name).collect();
                return Err(usage(format!(
                    "{}: has no use for {option}; it goes with {}",
                    scheme.name,
                    names.join(", ")
                )));
            }
        }
        let has_time = scheme.layout.time_base().is_some() || scheme.takes(Setting::Intervals);
        if self.at.is_some() && !has_time {
            return Err(usage(format!("{}: has no use for --at; it has no time field", scheme.name)));
        }
        if self.prefix.is_some() && scheme.name != "typeid" {
            return Err(usage(format!("{}: has no use for --prefix; it goes with typeid", scheme.name)));
        }
        Ok(())
    }

    fn failure(&self, stop: Stop) -> Failure {
        match stop {
            // The counter ran out on the way.
            Stop::Mint(error @ Error::FieldRange { .. }) => Failure::Cannot(error.into()),
            Stop::Mint(error) => self.explain(error),
            Stop::Write(error) => error.into(),
        }
    }

    /// Core's errors in the words of this command.
    fn explain(&self, error: Error) -> Failure {
        match error {
            Error::WorkerMissing { scheme, max } => usage(format!(
                "{scheme}: no worker given. Two processes with one worker issue the same ids, so a guess would be dangerous: \
                 use --worker W (0 to {max}) for trying, and a leased worker in production"
            )),
            Error::NameMissing { scheme } => {
                usage(format!("{scheme}: give --namespace (dns, url, oid, x500 or a UUID) and --name"))
            }
            Error::BeforeEpoch { .. } | Error::TimeFieldEnded { .. } if self.at.is_some() => {
                usage(format!("--at: {error}"))
            }
            other => other.into(),
        }
    }

    fn settings(
        &self,
        scheme: &'static Scheme,
        clock: Option<Arc<ManualClock>>,
    ) -> Result<Settings, Failure> {
        let layout = self.split.layout(Some(scheme))?;
        if let Some(base) = layout.and_then(|layout| layout.time_base()) {
            let now = self.at.unwrap_or_else(|| mintage::Clock::now(&SystemClock));
            if base.epoch > now {
                return Err(usage(format!("--epoch {} lies in the future: it is {now}", base.epoch)));
            }
        }
        self.check_options(scheme)?;
        if scheme.takes(Setting::Name) && self.count != 1 {
            let text = "one name has one UUID, so -n makes no more of them; give --name several times";
            return Err(usage(format!("{}: {text}", scheme.name)));
        }
        let name = match (&self.namespace, self.name.first()) {
            (Some(space), Some(name)) => {
                let uuid = mintage::rfc9562::namespace(space).map_err(|error| {
                    usage(format!("--namespace {space}: neither dns, url, oid, x500 nor a UUID: {error}"))
                })?;
                Some((uuid, name.as_bytes().to_vec()))
            }
            (None, None) => None,
            _ => return Err(self.explain(Error::NameMissing { scheme: scheme.name })),
        };
        Ok(Settings {
            worker: self.worker,
            method: self.method(scheme)?,
            clock_back: self.clock_back.map_or_else(Default::default, ClockBackArg::into_core),
            spent: self.spent.map_or_else(Default::default, SpentArg::into_core),
            start: self.start.map_or_else(Default::default, StartArg::into_core),
            layout,
            name,
            data: self.data()?,
            block_size: self.block_size,
            block_count: self.block_count,
            interval_nanos: self.interval,
            buckets: self.buckets,
            first: self.first,
            clock: clock.map(|clock| clock as Arc<dyn mintage::Clock>),
            entropy: self.strict_entropy.then(|| Arc::new(SystemEntropy) as Arc<dyn mintage::Entropy>),
        })
    }

    fn method(&self, scheme: &Scheme) -> Result<Option<Method>, Failure> {
        let Some(given) = &self.method else { return Ok(None) };
        if let Some(method) = scheme.methods.iter().find(|method| method.name() == given) {
            return Ok(Some(*method));
        }
        let offered: Vec<&str> = scheme.methods.iter().map(|method| method.name()).collect();
        Err(match offered.is_empty() {
            true => usage(format!("{}: has no choice of --method", scheme.name)),
            false => usage(format!(
                "{}: no method is called `{given}`; it has {}",
                scheme.name,
                offered.join(", ")
            )),
        })
    }

    fn form(&self, scheme: &Scheme) -> Result<TextForm, Failure> {
        scheme.form(&self.form).ok_or_else(|| {
            let names: Vec<&str> = scheme.form_names().collect();
            usage(format!("{}: no form is called `{}`; it has {}", scheme.name, self.form, names.join(", ")))
        })
    }

    fn data(&self) -> Result<Option<u128>, Failure> {
        let Some(text) = &self.data else { return Ok(None) };
        mintage::rfc9562::parse_any(text)
            .map(Some)
            .map_err(|error| usage(format!("--data {text}: 32 hex digits expected: {error}")))
    }
}

/// Why a stream of ids ended early.
enum Stop {
    Mint(Error),
    Write(io::Error),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Mint(error)
    }
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Self::Write(error)
    }
}

/// A generator, and the clock that it reads when that isn't the wall clock.
struct Source<'a> {
    generator: &'a dyn Generator,
    clock: Option<&'a ManualClock>,
}

impl Source<'_> {
    fn write(&self, count: u64, spelling: &Spelling, out: &mut impl Write) -> Result<(), Stop> {
        let mut batch = [RawId::ZERO; BATCH];
        let mut left = count;
        while left > 0 {
            let want = usize::try_from(left).unwrap_or(BATCH).min(BATCH);
            let made = match (self.fill(&mut batch[..want]), self.clock) {
                (Ok(made), _) => made,
                (Err(Error::Busy { .. }), None) => {
                    // Whoever reads should have what is there before the wait, and a reader that left be noticed.
                    out.flush()?;
                    batch[0] = self.generator.next()?;
                    1
                }
                (Err(error), _) => return Err(error.into()),
            };
            spelling.write_all(&batch[..made], out)?;
            left -= made as u64;
        }
        Ok(())
    }

    /// As many as one call gives; where it would have to wait, a clock that stands is moved on instead.
    fn fill(&self, out: &mut [RawId]) -> Result<usize, Error> {
        let Some(clock) = self.clock else {
            return self.generator.try_fill(out);
        };
        loop {
            match self.generator.try_fill(out) {
                Err(Error::Busy { wait_nanos, .. }) => clock.pass(wait_nanos),
                made => return made,
            }
        }
    }
}

/// How ids are written.
struct Spelling {
    scheme: &'static Scheme,
    form: TextForm,
    /// What stands before each id.
    prefix: String,
    is_json: bool,
}

#[derive(Serialize)]
struct Minted<'a> {
    scheme: &'a str,
    id: &'a str,
}

impl Spelling {
    fn write_all(&self, ids: &[RawId], out: &mut impl Write) -> Result<(), Stop> {
        if self.is_json || !self.prefix.is_empty() {
            return ids.iter().try_for_each(|id| self.write(*id, out));
        }
        let mut lines = String::new();
        let spelled = self.form.print_lines(ids.iter().copied(), &mut lines);
        out.write_all(lines.as_bytes())?;
        Ok(spelled?)
    }

    fn write(&self, id: RawId, out: &mut impl Write) -> Result<(), Stop> {
        let text = self.form.print(id)?;
        if self.is_json {
            let id = &format!("{}{text}", self.prefix);
            output::json_line(out, &Minted { scheme: self.scheme.name, id })?;
        } else {
            out.write_all(self.prefix.as_bytes())?;
            out.write_all(text.as_bytes())?;
            out.write_all(b"\n")?;
        }
        Ok(())
    }
}

/// Two years before a time field ends is the time to hear of it.
fn warn_of_the_end(scheme: &Scheme, settings: &Settings) {
    const TWO_YEARS: i128 = 2 * 365 * 86_400_000_000_000;
    let layout = settings.layout.unwrap_or(scheme.layout);
    let now = mintage::Clock::now(&SystemClock);
    if let Some(end) = layout.ends_at()
        && end < now.plus(TWO_YEARS)
    {
        eprintln!(
            "mintage: warning: {}: the time field ends at {end}; no id can be made from then on",
            scheme.name
        );
    }
}

impl ClockBackArg {
    fn into_core(self) -> ClockBack {
        match self {
            Self::Absorb => ClockBack::Absorb,
            Self::Wait => ClockBack::Wait,
            Self::Refuse => ClockBack::Refuse,
        }
    }
}

impl SpentArg {
    fn into_core(self) -> Spent {
        match self {
            Self::Wait => Spent::Wait,
            Self::Fail => Spent::Fail,
            Self::Borrow => Spent::Borrow,
        }
    }
}

impl StartArg {
    fn into_core(self) -> Start {
        match self {
            Self::Zero => Start::Zero,
            Self::Rolling => Start::Rolling,
        }
    }
}
