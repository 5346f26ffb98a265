//! `mintage mint`: ids of a space, with a leased worker, until told to stop.

mod events;
mod pace;
mod threads;

use crate::exit::{Failure, Outcome, usage};
use crate::output;
use crate::quantities::{self, Rate, Span};
use crate::reach::{self, Trust};
use clap::{Args, ValueEnum};
use mintage::text::{DECIMAL, Text};
use mintage::time::pause;
use mintage::{Clock, Generator, RawId, Scheme, Spent, Start, SystemClock, TextForm};
use mintage_lease::session::OpenSpace;
use mintage_lease::state::ScopeName;
use mintage_lease::{Allocator, Error, Minter, MinterOptions, Session, SessionOptions, Tickets};
use pace::Pace;
use serde::Serialize;
use std::io::{self, Write};
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use threads::{Threads, unless_stopped};
use tokio::time::error::Elapsed;

/// Mint ids of a space, one a line: with a worker that is leased, so that no other process can make the same.
///
/// Without -n and --for it goes on until SIGTERM or SIGINT. What it didn't use it gives back.
#[derive(Debug, Args)]
#[command(
    after_help = "While the store can't be reached, minting goes on to the end of the window and a little longer. Then nothing is minted until \
                  the store is back; with -n that is an error after a minute.\n\nExamples:\n  mintage mint --store sqlite:ids.db orders -n \
                  3\n  mintage mint --store sqlite:ids.db orders --rate 100/s --for 30s --events events.ndjson\n  \
                  mintage mint --store sqlite:odd.db --store sqlite:even.db tickets -n 5\n  mintage mint --store sqlite:ids.db issues --scope 42"
)]
pub(crate) struct Mint {
    /// The space
    space: String,
    /// The store's URL, unless MINTAGE_STORE has it. Of twins, each: while one doesn't answer, the others go on
    #[arg(long, value_name = "URL")]
    store: Vec<String>,
    /// The scope whose numbers are wanted, in a space of scopes; as many as -n says follow each other, and are taken at once
    #[arg(long, value_name = "NAME", value_parser = ScopeName::from_str, allow_hyphen_values = true, conflicts_with_all = ["rate", "lasting", "threads",
          "leases", "spent", "start"])]
    scope: Option<ScopeName>,
    /// How many in all [default: no end; 1 of a scope]
    #[arg(short = 'n', long, value_name = "N", value_parser = quantities::count_64)]
    count: Option<u64>,
    /// At most this many, such as 100/s or 1000/ms
    #[arg(long, value_name = "RATE", value_parser = rate)]
    rate: Option<Rate>,
    /// For how long
    #[arg(long = "for", value_name = "LENGTH", value_parser = quantities::span)]
    lasting: Option<Span>,
    /// Threads that mint
    #[arg(long, value_name = "T", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: u16,
    /// Workers that are leased, where so many are free and the space's host quota allows it; each adds the rate of a sequence, and ids are
    /// in order within each only. Not for a counter [default: 1]
    #[arg(long, value_name = "L", value_parser = clap::value_parser!(u16).range(1..=1024))]
    leases: Option<u16>,
    /// How ids are spelled: canonical, hex, decimal, base62 and the like, or a form of the scheme
    #[arg(long, value_name = "FORM", default_value = "canonical")]
    form: String,
    /// What to do when the sequence of a tick is spent. Not for a counter [default: wait]
    #[arg(long, value_enum, value_name = "POLICY")]
    spent: Option<SpentArg>,
    /// Where the sequence of a tick begins. Not for a counter [default: rolling]
    #[arg(long, value_enum, value_name = "START")]
    start: Option<StartArg>,
    /// Append what happens to leases to this file, one JSON object a line
    #[arg(long, value_name = "FILE")]
    events: Option<PathBuf>,
    #[command(flatten)]
    trust: Trust,
    /// One JSON object a line
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum SpentArg {
    Wait,
    Borrow,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum StartArg {
    Zero,
    Rolling,
}

/// A rate; a bare number is ids a second.
fn rate(text: &str) -> Result<Rate, String> {
    quantities::rate(text).or_else(|error| quantities::rate(&format!("{text}/s")).map_err(|_| error))
}

impl Mint {
    pub(crate) fn run(self) -> Result<Outcome, Failure> {
        let urls = match self.store.as_slice() {
            [] => vec![reach::url(None)?],
            given => given.to_vec(),
        };
        let listener = events::listener(self.events.as_deref())?;
        let options = SessionOptions {
            open: self.trust.options(),
            deadline: reach::PATIENCE,
            listener,
            trusts_clock: self.trust.trust_store_clock,
            ..SessionOptions::default()
        };
        let open = |url: &String| Session::open(url, options.clone());
        let sessions = urls.iter().map(open).collect::<Result<Vec<_>, _>>()?;
        reach::wait(self.mint(&sessions))?;
        Ok(Outcome::Done)
    }

    async fn mint(&self, sessions: &[Session]) -> Result<(), Failure> {
        let stop = Arc::new(AtomicBool::new(false));
        stop_at_signals(&stop)?;
        let [session] = sessions else { return self.tickets(sessions, stop).await };
        let Some(space) = unless_stopped(&stop, session.space(&self.space)).await else { return Ok(()) };
        let space = space?;
        if space.facts().scopes().is_some() || self.scope.is_some() {
            return self.numbers(&space, &stop).await;
        }
        if space.facts().blocks().is_some_and(|terms| terms.max_size == 1) {
            return self.tickets(sessions, stop).await;
        }
        if space.facts().blocks().is_some() {
            return self.count(&space, stop).await;
        }
        let options = MinterOptions {
            leases: self.leases.map_or(1, u32::from),
            spent: match self.spent {
                Some(SpentArg::Wait) | None => Spent::Wait,
                Some(SpentArg::Borrow) => Spent::Borrow,
            },
            start: match self.start {
                Some(StartArg::Zero) => Start::Zero,
                Some(StartArg::Rolling) | None => Start::Rolling,
            },
            ..MinterOptions::default()
        };
        // What is granted to a process that was told to stop meanwhile passes by itself.
        let Some(minter) = unless_stopped(&stop, space.minter_with(options)).await else { return Ok(()) };
        let minter = minter?;
        let result = self.mint_with(&minter, stop).await;
        let closed = tokio::time::timeout(LONGEST_CLOSE, minter.close()).await;
        self.warn_unless_closed(closed, "its window passes by itself");
        result
    }

    /// Numbers of one scope, taken at once.
    async fn numbers(&self, space: &OpenSpace, stop: &Arc<AtomicBool>) -> Result<(), Failure> {
        self.refuse_flags_of_windows()?;
        let counters = space.scope_counters()?;
        let Some(scope) = &self.scope else {
            return Err(usage(format!("{}: is a space of scopes; name one with --scope", self.space)));
        };
        let taken = unless_stopped(stop, counters.take_async(scope, self.count.unwrap_or(1))).await;
        let Some(taken) = taken else { return Ok(()) };
        let mut out = output::stdout();
        for number in taken? {
            if self.json {
                let id = number.to_string();
                output::json_line(&mut out, &Numbered { scheme: "counter", scope: scope.as_str(), id: &id })?;
            } else {
                writeln!(out, "{number}")?;
            }
        }
        out.flush()?;
        Ok(())
    }

    /// Values of a counter one by one, from one store or twins.
    async fn tickets(&self, sessions: &[Session], stop: Arc<AtomicBool>) -> Result<(), Failure> {
        self.refuse_flags_of_windows()?;
        if self.scope.is_some() {
            return Err(usage("--scope goes with one store: numbers of a scope are counted in one place"));
        }
        let Some(tickets) = unless_stopped(&stop, Tickets::open(sessions, &self.space)).await else {
            return Ok(());
        };
        self.mint_from(Source::Tickets(tickets?), stop).await
    }

    /// What a counter doesn't have can't be set.
    fn refuse_flags_of_windows(&self) -> Result<(), Failure> {
        if self.form != "canonical" && self.form != "decimal" {
            return Err(usage(format!("{}: values of a counter have the form decimal only", self.space)));
        }
        let of_windows = [
            ("--leases", self.leases.is_some()),
            ("--spent", self.spent.is_some()),
            ("--start", self.start.is_some()),
        ];
        if let Some((flag, _)) = of_windows.iter().find(|(_, is_given)| *is_given) {
            return Err(usage(format!(
                "{}: is a counter, which has no workers and no ticks; {flag} goes with a space of windows",
                self.space
            )));
        }
        Ok(())
    }

    /// Values of a counter, from blocks.
    async fn count(&self, space: &OpenSpace, stop: Arc<AtomicBool>) -> Result<(), Failure> {
        self.refuse_flags_of_windows()?;
        let Some(allocator) = unless_stopped(&stop, space.allocator()).await else { return Ok(()) };
        let allocator = allocator?;
        let source = Source::Values(allocator.clone());
        let result = self.mint_from(source, stop).await;
        let closed = tokio::time::timeout(LONGEST_CLOSE, allocator.close()).await;
        self.warn_unless_closed(closed, "its unused values are wasted");
        result
    }

    fn warn_unless_closed(&self, closed: Result<Result<(), Error>, Elapsed>, lost: &str) {
        let why = match closed {
            Ok(Ok(())) => return,
            Ok(Err(error)) => error.to_string(),
            Err(_) => "no answer in time".to_owned(),
        };
        let told = format!("{}: not given back, so {lost}: {why}", self.space);
        eprintln!("mintage: warning: {}", output::harmless_line(&told));
    }

    async fn mint_with(&self, minter: &Minter, stop: Arc<AtomicBool>) -> Result<(), Failure> {
        let scheme = minter.scheme();
        let form = scheme.form(&self.form).ok_or_else(|| {
            let names: Vec<&str> = scheme.form_names().collect();
            usage(format!("{}: no form is called `{}`; it has {}", scheme.name, self.form, names.join(", ")))
        })?;
        self.mint_from(Source::Ids { minter: minter.clone(), scheme, form }, stop).await
    }

    async fn mint_from(&self, source: Source, stop: Arc<AtomicBool>) -> Result<(), Failure> {
        if let Some(span) = &self.lasting {
            let lasting = Duration::try_from_secs_f64(span.secs).unwrap_or(Duration::MAX);
            let stop = Arc::clone(&stop);
            tokio::spawn(async move {
                tokio::time::sleep(lasting).await;
                stop.store(true, Ordering::Relaxed);
            });
        }
        let (threads, has_ended) = Threads::new(usize::from(self.threads), stop);
        let work = Arc::new(Work {
            source,
            is_json: self.json,
            pace: Pace::new(self.rate.as_ref().map(|rate| rate.ids_per_sec), self.count),
            threads,
            gives_up: self.count.is_some() && self.lasting.is_none(),
            last_id: AtomicU64::new(SystemClock.boottime_nanos()),
            is_told: AtomicBool::new(false),
        });
        for _ in 0..self.threads {
            let work = Arc::clone(&work);
            std::thread::Builder::new()
                .name("mintage-mint".to_owned())
                .spawn(move || work.threads.run(|| work.mint()))?;
        }
        work.threads.end(has_ended).await
    }
}

/// A process that was told to stop doesn't wait longer for a store that doesn't answer.
const LONGEST_CLOSE: Duration = Duration::from_secs(6);

/// How long minting with -n goes without an id.
const LONGEST_OUTAGE_NANOS: u64 = 60_000_000_000;

/// Sets `stop` at the signals that end a process.
fn stop_at_signals(stop: &Arc<AtomicBool>) -> io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    for kind in [SignalKind::terminate(), SignalKind::interrupt(), SignalKind::hangup()] {
        let (mut signals, stop) = (signal(kind)?, Arc::clone(stop));
        tokio::spawn(async move {
            signals.recv().await;
            stop.store(true, Ordering::Relaxed);
        });
    }
    Ok(())
}

/// Where ids come from.
enum Source {
    /// A leased worker, or several.
    Ids { minter: Minter, scheme: &'static Scheme, form: TextForm },
    /// Blocks of a counter.
    Values(Allocator),
    /// Values of a counter, one a round trip.
    Tickets(Tickets),
}

/// Why there is no id at the moment.
enum Without {
    /// Nothing is wrong: the next comes soon.
    Busy { wait_nanos: u64 },
    /// The store has to answer first.
    Outage { why: anyhow::Error, wait_nanos: u64 },
    /// There will be none.
    Ever(Failure),
}

impl Source {
    /// Fills the front of `batch` with at least one.
    fn fill(&self, batch: &mut [RawId]) -> Result<usize, Without> {
        match self {
            Self::Ids { minter, .. } => Self::fill_with_ids(minter, batch),
            Self::Values(allocator) => {
                let Some((first, rest)) = batch.split_first_mut() else { return Ok(0) };
                *first = RawId::new(u128::from(allocator.next()?));
                // What the block in use has; the next batch waits for the next one.
                let more = rest.iter_mut().map_while(|slot| {
                    *slot = RawId::new(u128::from(allocator.try_next().ok()?));
                    Some(())
                });
                Ok(1 + more.count())
            }
            Self::Tickets(tickets) => match batch.first_mut() {
                Some(first) => {
                    *first = RawId::new(u128::from(tickets.next()?));
                    Ok(1)
                }
                None => Ok(0),
            },
        }
    }

    fn fill_with_ids(minter: &Minter, batch: &mut [RawId]) -> Result<usize, Without> {
        match Generator::try_fill(minter, batch) {
            Err(mintage::Error::WindowEnded { .. }) => {
                batch[0] = minter.next()?;
                Ok(1)
            }
            made => Ok(made?),
        }
    }

    fn scheme(&self) -> &'static str {
        match self {
            Self::Ids { scheme, .. } => scheme.name,
            Self::Values(_) | Self::Tickets(_) => "counter",
        }
    }

    fn print(&self, id: RawId) -> Result<Text, mintage::Error> {
        match self {
            Self::Ids { form, .. } => form.print(id),
            Self::Values(_) | Self::Tickets(_) => DECIMAL.print(id),
        }
    }
}

impl From<mintage::Error> for Without {
    fn from(error: mintage::Error) -> Self {
        match error {
            mintage::Error::Busy { wait_nanos, .. } => Self::Busy { wait_nanos },
            mintage::Error::WindowEnded { wait_nanos, .. } => Self::Outage { why: error.into(), wait_nanos },
            other => Self::Ever(other.into()),
        }
    }
}

impl From<Error> for Without {
    fn from(error: Error) -> Self {
        match error {
            Error::Unreachable { .. }
            | Error::Deadline { .. }
            | Error::UnknownOutcome { .. }
            | Error::Full { .. } => Self::Outage { why: error.into(), wait_nanos: 50_000_000 },
            Error::NoBlock { ref source, .. }
                if source.as_ref().is_none_or(|source| source.refusal().is_none()) =>
            {
                Self::Outage { why: error.into(), wait_nanos: 1_000_000 }
            }
            other => Self::Ever(other.into()),
        }
    }
}

#[derive(Serialize)]
struct Numbered<'a> {
    scheme: &'a str,
    scope: &'a str,
    id: &'a str,
}

/// What the threads share.
struct Work {
    source: Source,
    is_json: bool,
    pace: Pace,
    threads: Threads,
    gives_up: bool,
    /// When the last id was made, on the boottime clock.
    last_id: AtomicU64,
    /// Whether the user was told of the outage.
    is_told: AtomicBool,
}

/// Ids that are made and written at a time: their lines fit a write that a pipe takes whole.
const BATCH: usize = 64;

/// What a pipe takes whole or not at all, on Linux; 512 elsewhere.
const PIPE_BUF: usize = if cfg!(target_os = "linux") { 4096 } else { 512 };

#[derive(Serialize)]
struct Minted<'a> {
    scheme: &'a str,
    id: &'a str,
}

impl Work {
    /// Mints until it is told to stop, all are made, or something fails.
    fn mint(&self) -> Result<(), Failure> {
        let mut batch = [RawId::ZERO; BATCH];
        let mut text = Vec::with_capacity(PIPE_BUF);
        while !self.threads.are_to_stop() {
            let want = match self.pace.take(BATCH) {
                pace::Turn::Now(want) => want,
                pace::Turn::Wait(nanos) => {
                    pause(nanos.min(50_000_000));
                    continue;
                }
                pace::Turn::Done => break,
            };
            let mut left = want;
            while left > 0 && !self.threads.are_to_stop() {
                let made = self.some(&mut batch[..left])?;
                self.write(&batch[..made], &mut text)?;
                left -= made;
            }
        }
        Ok(())
    }

    /// As many as can be had at once, after the waits that there have to be; 0 while there is an outage.
    fn some(&self, batch: &mut [RawId]) -> Result<usize, Failure> {
        match self.source.fill(batch) {
            Ok(made) => {
                if self.gives_up {
                    self.last_id.store(SystemClock.boottime_nanos(), Ordering::Relaxed);
                }
                if self.is_told.load(Ordering::Relaxed) && self.is_told.swap(false, Ordering::Relaxed) {
                    eprintln!("mintage: minting goes on");
                }
                Ok(made)
            }
            Err(Without::Busy { wait_nanos }) => {
                pause(wait_nanos.min(50_000_000));
                Ok(0)
            }
            Err(Without::Outage { why, wait_nanos }) => {
                let since = SystemClock.boottime_nanos().saturating_sub(self.last_id.load(Ordering::Relaxed));
                if self.gives_up && since > LONGEST_OUTAGE_NANOS {
                    return Err(Failure::Cannot(why));
                }
                if !self.is_told.swap(true, Ordering::Relaxed) {
                    eprintln!("mintage: {}; waiting", output::harmless_line(&format!("{why:#}")));
                }
                pause(wait_nanos.clamp(1_000_000, 50_000_000));
                Ok(0)
            }
            Err(Without::Ever(failure)) => Err(failure),
        }
    }

    /// Writes whole lines, in pieces that a pipe takes whole: what is cut off by a SIGKILL are lines, not parts of one.
    fn write(&self, ids: &[RawId], text: &mut Vec<u8>) -> Result<(), Failure> {
        let mut out = io::stdout().lock();
        text.clear();
        for id in ids {
            let begin = text.len();
            let id = self.source.print(*id)?;
            if self.is_json {
                output::json_line(text, &Minted { scheme: self.source.scheme(), id: &id })?;
            } else {
                text.extend_from_slice(id.as_bytes());
                text.push(b'\n');
            }
            if text.len() > PIPE_BUF {
                out.write_all(&text[..begin])?;
                text.drain(..begin);
            }
        }
        out.write_all(text)?;
        out.flush()?;
        Ok(())
    }
}
