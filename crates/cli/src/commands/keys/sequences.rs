//! Whether database sequences stand past their columns, and what moves them there: after a failover, a restore or a cut-over.

use crate::exit::{Failure, Outcome, usage};
use crate::output::{self, Palette};
use crate::reach;
use clap::Args;
use mintage_keys::open::Options;
use mintage_keys::sequences::witness::Witness;
use mintage_keys::sequences::{self, Demand, Outlook};
use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

/// Where the URL stands when no argument names it, so that a password is in no list of processes.
const URL_VARIABLE: &str = "MINTAGE_KEYS_URL";

/// How often a server is asked whether it can be written to.
const PAUSE: Duration = Duration::from_millis(200);

/// Check that each database sequence is past its columns, before the first write after a failover, a restore or a cut-over.
///
/// The columns are read first, then the sequences; no number is taken, and nothing is written without --fix. What can't be known is
/// UNKNOWN, with the query that would tell. Exits 0 when all is fine or repaired, 1 when something is behind or unknown, 2 for wrong use, 3
/// when the server can't be reached or nothing can be written there.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  mintage keys sequences postgres://doctor@localhost/shop\n  mintage keys sequences --fix --witness seen.csv \
                  postgres://owner@localhost/shop\n  mintage keys sequences --fix --gap 100000 --wait 60 postgres://owner@localhost/shop\n  \
                  mintage keys sequences --dry-run postgres://doctor@localhost/shop"
)]
pub(crate) struct Sequences {
    /// The database: postgres://user@host/database, mysql://user@host/database, sqlite:PATH [default: that of MINTAGE_KEYS_URL]
    url: Option<String>,
    /// Move what is behind past all that is in use. No sequence is ever set back
    #[arg(long)]
    fix: bool,
    /// How far a sequence must be past what is known; with --fix every sequence is moved so far past its own value, once a run
    #[arg(long, value_name = "N", default_value_t = 0, allow_negative_numbers = true,
        value_parser = clap::value_parser!(u64).range(..=i64::MAX as u64))]
    gap: u64,
    /// A file of the highest ids seen elsewhere; a line is schema.table.column,value
    #[arg(long, value_name = "FILE")]
    witness: Option<PathBuf>,
    /// Print the SQL that --fix would run, and run nothing
    #[arg(long)]
    dry_run: bool,
    /// Wait so long for the server to answer and to have left recovery
    #[arg(long, value_name = "SECONDS", default_value_t = 0, value_parser = clap::value_parser!(u64).range(..=86_400))]
    wait: u64,
    /// The longest that one query may take, and all scans of columns without an index, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=3600))]
    budget: u64,
    /// List those that are fine too
    #[arg(long)]
    all: bool,
    /// One JSON object
    #[arg(long)]
    json: bool,
}

impl Sequences {
    pub(crate) fn run(self) -> Result<Outcome, Failure> {
        let url = self.url()?;
        let witness = self.witness.as_deref().map(Witness::read).transpose()?.unwrap_or_default();
        let demand = Demand { gap: self.gap, witness };
        if url.starts_with("sqlite:") && (demand.gap > 0 || !demand.witness.is_empty()) {
            return Err(usage(
                "--gap and --witness don't go with SQLite: it gives out one more than the larger of its counter and the largest row id; \
                 UPDATE sqlite_sequence SET seq = N WHERE name = 'TABLE' raises the counter of an AUTOINCREMENT table",
            ));
        }
        let budget = Duration::from_secs(self.budget);
        let options = Options { budget, scans: budget, ..Options::default() };
        let outlook = reach::wait(self.outlook(&url, &options, &demand))?;
        let mut out = output::stdout();
        if self.json {
            writeln!(out, "{}", outlook.json())?;
        } else if self.dry_run {
            out.write_all(outlook.script().as_bytes())?;
        } else {
            out.write_all(outlook.text(self.all, Palette::of_stdout().is_on()).as_bytes())?;
        }
        out.flush()?;
        Ok(if outlook.is_fine() { Outcome::Done } else { Outcome::Found })
    }

    fn url(&self) -> Result<String, Failure> {
        let of_environment = || std::env::var(URL_VARIABLE).ok().filter(|url| !url.is_empty());
        self.url.clone().or_else(of_environment).ok_or_else(|| {
            usage(format!("no database given; name its URL, such as postgres://user@host/database, or set {URL_VARIABLE}"))
        })
    }

    async fn outlook(&self, url: &str, options: &Options, demand: &Demand) -> Result<Outlook, Failure> {
        if self.wait > 0 {
            let waiting = sequences::primary(url, options, PAUSE);
            if let Ok(ready) = tokio::time::timeout(Duration::from_secs(self.wait), waiting).await {
                ready?;
            }
            // When the time is up, what follows says what is in the way.
        }
        if self.fix && !self.dry_run {
            Ok(sequences::fix(url, options, demand).await?)
        } else {
            Ok(sequences::check(url, options, demand).await?)
        }
    }
}
