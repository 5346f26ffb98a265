//! `mintage-soak`: processes of the real `mintage mint` on one space under faults at random, and every id counted.
//!
//! Exit codes: 0 all is as it must be, 1 something is not, 2 wrong use, 3 the run couldn't be made.

use anyhow::Result;
use clap::Parser;
use mintage::{Entropy, SystemEntropy};
use mintage_testkit::soak::store::{Kind, Whose};
use mintage_testkit::soak::{self, FAULTS, Options};
use std::io::{Write, stdout};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

/// Lets processes mint while they are stopped, killed, cut off and their store is restored, and counts every id.
#[derive(Parser)]
#[command(version, after_help = "Example: mintage-soak sqlite --seconds 60 --seed 7")]
struct Cli {
    /// Where they lease from: `sqlite`, `postgres`, `mariadb`, `etcd` or `zookeeper` for one of the run's own, which is thrown away and suffers faults too; or the URL of
    /// a store that is there, to which nothing is done but making spaces in it and dropping them
    #[arg(value_parser = whose)]
    store: Whose,
    /// For how long faults go on
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    /// What the order of faults follows from [default: drawn]
    #[arg(long)]
    seed: Option<u64>,
    /// Processes that mint
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u16).range(2..=64))]
    processes: u16,
    /// Ids a second that each mints at most
    #[arg(long, default_value_t = 1000)]
    rate: u64,
    /// The length of a window; renewals, lag, lead and skew are a third of it
    #[arg(long, default_value_t = 3000, value_parser = clap::value_parser!(u64).range(600..))]
    window_ms: u64,
    /// Only these faults
    #[arg(long, value_parser = clap::builder::PossibleValuesParser::new(FAULTS.iter().map(|fault| fault.name)))]
    only: Vec<String>,
    /// Without the short runs on spaces of their own: workers that run out, a time field that ends, a full disk
    #[arg(long)]
    no_scenes: bool,
    /// Let a process without a lease mint too: the run must find duplicates
    #[arg(long)]
    blind: bool,
    /// Where events, messages and the store in a file stay, to be looked at [default: removed]
    #[arg(long)]
    folder: Option<PathBuf>,
    /// The binary `mintage` [default: beside this one]
    #[arg(long)]
    mintage: Option<PathBuf>,
    /// One JSON object
    #[arg(long)]
    json: bool,
}

fn whose(text: &str) -> Result<Whose, String> {
    match Kind::by_name(text) {
        Some(kind) => Ok(Whose::Own(kind)),
        None if text.contains(':') => Ok(Whose::Theirs(text.to_owned())),
        None => Err("sqlite, postgres, mariadb, etcd, zookeeper or a store's URL expected".to_owned()),
    }
}

fn main() -> ExitCode {
    match run(Cli::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            // Nobody is left to tell when standard error is gone too.
            let _ = writeln!(std::io::stderr(), "mintage-soak: {error:#}");
            ExitCode::from(3)
        }
    }
}

fn run(cli: Cli) -> Result<bool> {
    let program = match cli.mintage {
        Some(program) => program,
        None => std::env::current_exe()?.with_file_name("mintage"),
    };
    let seed = match cli.seed {
        Some(seed) => seed,
        None => {
            let mut bytes = [0; 4];
            SystemEntropy.fill(&mut bytes)?;
            u64::from(u32::from_be_bytes(bytes))
        }
    };
    let options = Options {
        program,
        space: match &cli.store {
            Whose::Own(_) | Whose::CopyOf(_) => "soak".to_owned(),
            // Of no other run.
            Whose::Theirs(_) | Whose::TheirsThroughProxies(_) => {
                format!("soak-{seed}-{}", std::process::id())
            }
        },
        store: cli.store,
        processes: usize::from(cli.processes),
        rate: cli.rate,
        window_ms: cli.window_ms,
        seconds: cli.seconds,
        seed,
        only: cli.only,
        scenes: !cli.no_scenes,
        blind: cli.blind,
        tells: true,
        folder: cli.folder,
        stop: Arc::default(),
    };
    writeln!(std::io::stderr(), "seed {seed}")?;
    let report = soak::run(&options)?;
    if cli.json {
        writeln!(stdout(), "{}", serde_json::to_string(&report)?)?;
    } else {
        write!(stdout(), "{report}")?;
    }
    Ok(report.has_passed())
}
