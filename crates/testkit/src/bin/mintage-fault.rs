//! `mintage-fault`: one fault against one scheme, or against all; prints what it found as one JSON object a line.
//!
//! Exit codes: 0 all is as it must be, 1 something is not, 2 wrong use, 3 the run couldn't be made.

use anyhow::{Context, Result};
use clap::builder::PossibleValuesParser;
use clap::error::ErrorKind;
use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};
use mintage::{ClockBack, Spent};
use mintage_testkit::clock_shim;
use mintage_testkit::faults::{Summary, clock, fork, pause, threads, wrap};
use mintage_testkit::load::Load;
use mintage_testkit::subject::{Source, Subject};
use mintage_testkit::{blind, signal};
use std::io::{Write, stdout};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

/// Fault runs: each says how many ids, how many duplicates, and what shows that the fault took effect.
#[derive(Parser)]
#[command(version, after_help = "Example: mintage-fault clock snowflake-twitter --policy wait --step-ms -50")]
struct Cli {
    #[command(subcommand)]
    fault: Fault,
    /// Seconds after which a run against one subject counts as hung, and is ended by SIGALRM
    #[arg(long, global = true, default_value_t = 300)]
    limit_s: u64,
}

#[derive(Subcommand)]
enum Fault {
    /// Fork between two ids, and fork again in the child
    #[command(after_help = "Example: mintage-fault fork all --runs 20")]
    Fork {
        #[command(flatten)]
        what: What,
        /// Ids that each process mints after each fork
        #[arg(long, default_value_t = 3000)]
        ids: usize,
        /// Forks
        #[arg(long, default_value_t = 1)]
        runs: usize,
        /// Let other threads mint and make generators all the time, so that the fork falls into their work
        #[arg(long)]
        threads: bool,
    },
    /// Step the wall clock of a process that mints
    #[command(after_help = "Example: mintage-fault clock all --step-ms -5000")]
    Clock {
        #[command(flatten)]
        what: What,
        #[command(flatten)]
        load: LoadArgs,
        /// What to do when the clock went back
        #[arg(long, value_enum, default_value_t = Policy::Absorb)]
        policy: Policy,
        /// The step, back when negative
        #[arg(long, allow_negative_numbers = true, default_value_t = -50)]
        step_ms: i64,
        /// The clock shim's library, when it is built already
        #[arg(long)]
        shim: Option<PathBuf>,
    },
    /// Mint from one generator in several threads that begin at once
    #[command(after_help = "Example: mintage-fault threads uuid-v7 --threads 8")]
    Threads {
        #[command(flatten)]
        what: What,
        /// Threads
        #[arg(long, default_value = "2")]
        threads: NonZeroUsize,
        /// Ids of each thread; fewer where the scheme has not that many a second
        #[arg(long, default_value_t = 200_000)]
        ids: usize,
    },
    /// Drive a counter past its end
    #[command(after_help = "Example: mintage-fault wrap snowflake-twitter --spent borrow --for-ms 1000")]
    Wrap {
        #[command(flatten)]
        what: What,
        #[command(flatten)]
        load: LoadArgs,
    },
    /// Stop a process that mints, and let it go on, while another mints
    #[command(after_help = "Example: mintage-fault pause snowflake-twitter --stop-ms 1200")]
    Pause {
        #[command(flatten)]
        what: What,
        #[command(flatten)]
        load: LoadArgs,
        /// How long it stands
        #[arg(long, default_value_t = 1200)]
        stop_ms: u64,
    },
    /// List what can be put to the test
    Subjects,
    /// Be a process under load, for the other commands
    #[command(hide = true)]
    Load {
        #[command(flatten)]
        what: What,
        #[command(flatten)]
        load: LoadArgs,
        /// What to do when the clock went back
        #[arg(long, value_enum, default_value_t = Policy::Absorb)]
        policy: Policy,
        /// The worker
        #[arg(long, default_value_t = 1)]
        worker: u64,
        /// Report the ids too
        #[arg(long)]
        send_ids: bool,
    },
}

#[derive(Args)]
struct What {
    /// Schemes, or `all`
    #[arg(required = true, value_parser = PossibleValuesParser::new(scheme_names()), hide_possible_values = true)]
    scheme: Vec<String>,
    /// One of its methods; all of them when left out
    #[arg(long)]
    method: Option<String>,
}

#[derive(Args, Clone, Copy)]
struct LoadArgs {
    /// What to do when a sequence is spent
    #[arg(long, value_enum, default_value_t = WhenSpent::Wait)]
    spent: WhenSpent,
    /// Threads that share the generator
    #[arg(long, default_value = "2")]
    threads: NonZeroUsize,
    /// How long to mint
    #[arg(long, default_value_t = 1500)]
    for_ms: u64,
}

#[derive(Clone, Copy, ValueEnum)]
enum Policy {
    Absorb,
    Wait,
    Refuse,
}

#[derive(Clone, Copy, ValueEnum)]
enum WhenSpent {
    Wait,
    Fail,
    Borrow,
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    match run(cli.fault, Duration::from_secs(cli.limit_s)) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            // Nobody is left to tell when standard error is gone too.
            let _ = writeln!(std::io::stderr(), "mintage-fault: {error:#}");
            ExitCode::from(3)
        }
    }
}

/// Runs the fault on each subject; says whether all passed.
fn run(fault: Fault, limit: Duration) -> Result<bool> {
    match fault {
        Fault::Fork { what, ids, runs, threads } => {
            let options = fork::Options { ids, runs, threads };
            each(&what.subjects(), limit, |subject| fork::run(subject, &options))
        }
        Fault::Threads { what, threads, ids } => {
            let options = threads::Options { threads: threads.get(), ids };
            each(&what.own_subjects(), limit, |subject| threads::run(subject, &options))
        }
        Fault::Wrap { what, load } => {
            let options =
                wrap::Options { spent: load.spent.into(), threads: load.threads.get(), for_ms: load.for_ms };
            each(&what.own_subjects(), limit, |subject| wrap::run(subject, &options))
        }
        Fault::Clock { what, load, policy, step_ms, shim } => with_shim(shim, |shim| {
            let program = &std::env::current_exe()?;
            let options = clock::Options { step_ms, shim, program };
            each(&what.own_subjects(), limit, |subject| clock::run(&load.of(*subject, policy), &options))
        }),
        Fault::Pause { what, load, stop_ms } => {
            let program = &std::env::current_exe()?;
            let options = pause::Options { stop_ms, program };
            each(&what.own_subjects(), limit, |subject| {
                pause::run(&load.of(*subject, Policy::Absorb), &options)
            })
        }
        Fault::Subjects => {
            for subject in Subject::named("all", None)? {
                writeln!(stdout(), "{}", subject.name())?;
            }
            Ok(true)
        }
        Fault::Load { what, load, policy, worker, send_ids } => {
            let subjects = what.own_subjects();
            let subject = subjects.first().context("a scheme has at least one subject")?;
            Load { worker, send_ids, ..load.of(*subject, policy) }.run(&mut stdout().lock())?;
            Ok(true)
        }
    }
}

/// Each summary is printed as soon as it is there.
fn each(subjects: &[Subject], limit: Duration, fault: impl Fn(&Subject) -> Result<Summary>) -> Result<bool> {
    let mut all_passed = true;
    for subject in subjects {
        signal::die_after(limit);
        let summary = fault(subject).with_context(|| subject.name())?;
        all_passed &= summary.has_passed();
        writeln!(stdout(), "{}", serde_json::to_string(&summary)?)?;
    }
    Ok(all_passed)
}

/// With the shim that is there, or one built for this run.
fn with_shim(built: Option<PathBuf>, work: impl FnOnce(&Path) -> Result<bool>) -> Result<bool> {
    if let Some(shim) = built {
        return work(&shim);
    }
    let folder = std::env::temp_dir().join(format!("mintage-fault-{}", std::process::id()));
    std::fs::create_dir_all(&folder).with_context(|| format!("making {}", folder.display()))?;
    let answer = clock_shim::build(&folder).and_then(|shim| work(&shim));
    // A folder left behind does no harm.
    let _ = std::fs::remove_dir_all(&folder);
    answer
}

impl What {
    /// Ends the program as wrong use when there are none.
    fn subjects(&self) -> Vec<Subject> {
        let named = self.scheme.iter().map(|name| Subject::named(name, self.method.as_deref()));
        let subjects: Result<Vec<_>> = named.collect();
        subjects.unwrap_or_else(|error| Cli::command().error(ErrorKind::InvalidValue, error).exit()).concat()
    }

    /// Without the shared generators, which are the same engines.
    fn own_subjects(&self) -> Vec<Subject> {
        let mut subjects = self.subjects();
        subjects.retain(|subject| matches!(subject.source, Source::Own));
        subjects
    }
}

fn scheme_names() -> Vec<&'static str> {
    let schemes = mintage::SCHEMES.iter().chain(blind::SCHEMES);
    ["all"].into_iter().chain(schemes.map(|scheme| scheme.name)).collect()
}

impl LoadArgs {
    fn of(self, subject: Subject, policy: Policy) -> Load {
        Load {
            subject,
            worker: 1,
            clock_back: policy.into(),
            spent: self.spent.into(),
            threads: self.threads.get(),
            for_ms: self.for_ms,
            send_ids: false,
        }
    }
}

impl From<Policy> for ClockBack {
    fn from(policy: Policy) -> Self {
        match policy {
            Policy::Absorb => Self::Absorb,
            Policy::Wait => Self::Wait,
            Policy::Refuse => Self::Refuse,
        }
    }
}

impl From<WhenSpent> for Spent {
    fn from(spent: WhenSpent) -> Self {
        match spent {
            WhenSpent::Wait => Self::Wait,
            WhenSpent::Fail => Self::Fail,
            WhenSpent::Borrow => Self::Borrow,
        }
    }
}
