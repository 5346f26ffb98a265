//! A failover with writers: what is lost, what is given out twice without a repair, and what the repair is worth.

mod report;
mod stage;
mod writers;

use super::stop::Stop;
use crate::exit::{Failure, Outcome};
use crate::reach;
use anyhow::Context;
use clap::{Args, ValueEnum};
use mintage_keys::open::Options;
use mintage_keys::sequences::standing::Verdict;
use mintage_keys::sequences::witness::Witness;
use mintage_keys::sequences::{self, Demand, Outlook};
use report::{Repaired, Report, Summary, Without};
use stage::{DATABASE, Stage};
use std::path::PathBuf;
use std::time::Duration;
use writers::{Ledger, TABLES, Writers};

/// The tables that are written to from the beginning; the rigged one would refuse every insert.
const WRITTEN: &[&str] = &["orders", "tickets"];

/// What a drill leaves behind that was stopped.
const GONE: &str = "the servers of the drill are gone";

/// Rows that the rigged table gets with their ids, while its sequence stays at its start.
const RIGGED_ROWS: i64 = 100;

/// Rows that each table gets at least before the next turn; more than the 32 values that PostgreSQL logs in advance.
const ROWS: usize = 100;

/// Kill a primary under load, take its standby, and count ids that are given out twice with and without a repair.
///
/// Two servers are started, writers insert and remember each acknowledged id, the primary is killed, the standby takes over, and its
/// sequences are checked before the first write. A copy of the database shows what would have happened without the repair. Exits 0
/// when no id was given out twice after it and the rigged sequence was caught, 1 otherwise, 3 when the drill can't be held here.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  mintage drill failover\n  mintage drill failover --mode restore --repair gap\n  mintage drill failover --mode logical \
                  --json\n  mintage drill failover --dry-run"
)]
pub(crate) struct Failover {
    /// How the second server comes by its data
    #[arg(long, value_enum, default_value_t = Mode::Async)]
    mode: Mode,
    /// What the repair goes by
    #[arg(long, value_enum, default_value_t = By::Witness, value_name = "BY")]
    repair: By,
    /// Connections that write
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..=64))]
    writers: u16,
    /// The folder of PostgreSQL's programs [default: the newest that is installed]
    #[arg(long, value_name = "DIR")]
    bin: Option<PathBuf>,
    /// Print the plan, and do nothing
    #[arg(long)]
    dry_run: bool,
    /// One JSON object a line, as things happen
    #[arg(long)]
    json: bool,
}

/// How the second server comes by its data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Mode {
    /// A streaming standby that is cut off a while before the primary dies: what was acknowledged meanwhile is lost
    Async,
    /// A streaming standby that every commit waits for: nothing acknowledged is lost
    Sync,
    /// A subscriber of logical replication, which has rows and no sequences
    Logical,
    /// A base backup that is started when the primary is lost
    Restore,
}

/// What the repair goes by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum By {
    /// The highest ids that clients got acknowledged
    Witness,
    /// A gap of 100000
    Gap,
    /// Nothing but the columns; too little where log was lost
    Max,
}

/// The gap of `--repair gap`.
const GAP: u64 = 100_000;

impl Mode {
    const fn name(self) -> &'static str {
        match self {
            Self::Async => "async",
            Self::Sync => "sync",
            Self::Logical => "logical",
            Self::Restore => "restore",
        }
    }
}

impl By {
    const fn name(self) -> &'static str {
        match self {
            Self::Witness => "witness",
            Self::Gap => "gap",
            Self::Max => "max",
        }
    }
}

impl Failover {
    pub(crate) fn run(self) -> Result<Outcome, Failure> {
        let report = Report::new(self.json);
        report.plan(self.mode.name(), self.repair.name(), &self.plan())?;
        if self.dry_run {
            return Ok(Outcome::Done);
        }
        let programs =
            mintage_servers::postgres::programs(self.bin.as_deref()).context("the drill's servers")?;
        let stop = Stop::at_signals()?;
        report.step("servers and tables")?;
        let mut stage = Stage::set_up(self.mode, &programs)?;
        stop.check(GONE)?;
        let mut ledger = self.lose_the_primary(&mut stage, &stop, &report)?;
        let url = stage.second.url(DATABASE);

        report.step("check before the first write")?;
        let blind = self.look(&url, &Demand::default())?;
        let demand = self.demand(&ledger);
        let seen = self.look(&url, &demand)?;
        report.check("columns alone", &blind)?;
        report.check(&format!("with {}", self.repair.name()), &seen)?;
        let is_rigged_caught = behind(&blind).iter().any(|path| path == "public.imports_id_seq");
        let lost = ledger.missing_in(&url)?;
        stop.check(GONE)?;

        report.step("the same writes on a copy, without a repair")?;
        stage.copy()?;
        let without = self.without(&stage, &ledger, lost)?;
        report.without(&without)?;
        stop.check(GONE)?;

        report.step("repair")?;
        let options = Options::default();
        let fixed = reach::wait(async { Ok(sequences::fix(&url, &options, &demand).await?) })?;
        for standing in &fixed.standings {
            if let Some((before, after)) = &standing.repaired {
                report.repaired(&Repaired { sequence: standing.path(), before, after })?;
            }
        }
        stop.check(GONE)?;

        report.step("writers go on")?;
        let known = ledger.count();
        let writers = Writers::start(&url, TABLES, self.writers)?;
        let went_on = writers.wait_for(ROWS, &stop);
        ledger.add(writers.stop()?);
        went_on?;
        let result = Summary {
            mode: self.mode.name(),
            repair: self.repair.name(),
            acknowledged: known,
            lost,
            behind_by_columns: behind(&blind).len(),
            behind_by_demand: behind(&seen).len(),
            rigged_caught: is_rigged_caught,
            without_issued_twice: without.issued_twice,
            without_duplicate_keys: without.duplicate_keys,
            written_after: ledger.count() - known,
            issued_twice: ledger.twice(),
            duplicate_keys: ledger.duplicate_keys(),
            fine: fixed.is_fine(),
        };
        report.result(&result)?;
        Ok(if result.is_good() { Outcome::Done } else { Outcome::Found })
    }

    fn plan(&self) -> Vec<String> {
        let (second, cut) = match self.mode {
            Mode::Async => {
                ("a streaming standby", "cut the standby off, as a broken network would, and write on")
            }
            Mode::Sync => ("a streaming standby that every commit waits for", "write on"),
            Mode::Logical => ("a subscriber of logical replication", "write on"),
            Mode::Restore => ("a base backup", "take the base backup, and write on"),
        };
        let takes_over = match self.mode {
            Mode::Async | Mode::Sync => "promote the standby",
            Mode::Logical => "cut over to the subscriber",
            Mode::Restore => "start the backup",
        };
        let by = match self.repair {
            By::Witness => "the highest ids that writers got acknowledged",
            By::Gap => "a gap of 100000",
            By::Max => "the largest values of the columns",
        };
        vec![
            format!(
                "start a primary and {second} below {}, without ports, by sockets for their user alone",
                std::env::temp_dir().display()
            ),
            format!(
                "make tables; `imports` gets {RIGGED_ROWS} rows with their ids while its sequence stays at 1"
            ),
            format!("let {} writers insert and remember every acknowledged id; {cut}", self.writers),
            "kill -9 every process of the primary".to_owned(),
            format!("{takes_over}; check its sequences before the first write"),
            "show on a copy what the next writes would have done".to_owned(),
            format!("repair by {by}; let the writers go on; count ids that were given out twice"),
            "end both servers and remove their data".to_owned(),
        ]
    }

    /// Load, whatever the mode does meanwhile, the kill and the second server's turn; what clients know.
    fn lose_the_primary(&self, stage: &mut Stage, stop: &Stop, report: &Report) -> Result<Ledger, Failure> {
        report.step("writers start")?;
        let writers = Writers::start(&stage.primary.url(DATABASE), WRITTEN, self.writers)?;
        writers.wait_for(ROWS, stop)?;
        if stage.part()? {
            report.step(match self.mode {
                Mode::Restore => "base backup taken, writers go on",
                _ => "standby cut off, writers go on",
            })?;
        }
        writers.wait_for(ROWS, stop)?;
        report.step("kill -9 the primary, with writers at work")?;
        stage.primary.kill().context("killing the primary")?;
        let ledger = writers.stop()?;
        stop.check(GONE)?;
        report.step("the second server takes over")?;
        stage.take_over()?;
        Ok(ledger)
    }

    fn look(&self, url: &str, demand: &Demand) -> Result<Outlook, Failure> {
        let options = Options::default();
        reach::wait(async { Ok(sequences::check(url, &options, demand).await?) })
    }

    fn demand(&self, ledger: &Ledger) -> Demand {
        match self.repair {
            By::Witness => {
                let seen = TABLES.iter().filter_map(|&table| Some((table, ledger.highest(table)?)));
                let witness =
                    seen.fold(Witness::default(), |all, (table, id)| all.with(&["public", table, "id"], id));
                Demand { gap: 0, witness }
            }
            By::Gap => Demand { gap: GAP, witness: Witness::default() },
            By::Max => Demand::default(),
        }
    }

    /// What the next writes do to a copy that nobody repaired.
    fn without(&self, stage: &Stage, ledger: &Ledger, lost: usize) -> Result<Without, Failure> {
        let writes = lost + 10;
        let url = stage.second.url(stage::COPY);
        writers::write_on(&url, writes, ledger)
    }
}

/// The sequences that are behind, by path.
fn behind(outlook: &Outlook) -> Vec<String> {
    let is_behind = |verdict: &Verdict| matches!(verdict, Verdict::Behind { .. });
    outlook.standings.iter().filter(|s| is_behind(&s.verdict)).map(|s| s.path()).collect()
}

/// How long a writer waits for one answer.
const LONGEST_WRITE: Duration = Duration::from_secs(10);
