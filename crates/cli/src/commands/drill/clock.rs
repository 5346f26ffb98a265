//! A clock that is set back under load: which generators issue an id twice, which refuse, which wait, and for how long.

mod minters;
mod picture;
mod report;
mod round;
mod svg_file;

use super::stop::Stop;
use super::telling::Telling;
use crate::exit::{Failure, Outcome, usage};
use crate::quantities;
use clap::Args;
use minters::{MINTERS, Place};
use report::Report;
use round::{Round, Times};
use std::path::PathBuf;
use svg_file::SvgFile;

/// Set a clock back under load, and count the ids that five generators issue twice.
///
/// Each generator mints 16 ids some three thousand times a second while the wall clock that it reads is set back: one that trusts the clock, as
/// many do; three with Mintage's policies for a fixed worker; and one that leases its worker from a store. Exits 0 when none but the first
/// issued an id twice, and the first did, so that the count is seen to work; 1 otherwise.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  mintage drill clock\n  mintage drill clock --svg clock.svg\n  mintage drill clock --steps 50ms,5s --json\n  \
                  mintage drill clock --dry-run"
)]
pub(crate) struct ClockSteps {
    /// How far the clock is set back, one round each
    #[arg(long, value_name = "LENGTHS", value_delimiter = ',', default_value = "5ms,50ms,5s,1h", value_parser = quantities::nanos)]
    steps: Vec<u64>,
    /// The longest that a round looks on after the step
    #[arg(long, value_name = "LENGTH", default_value = "8s", value_parser = quantities::nanos)]
    observe: u64,
    /// Write a picture of the rounds to this file
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Print the plan, and do nothing
    #[arg(long)]
    dry_run: bool,
    /// One JSON object a line, as things happen
    #[arg(long)]
    json: bool,
}

/// How long a round mints before the step.
const BEFORE_NANOS: u64 = 300_000_000;

/// How long a round looks on after a clock has caught up.
const AFTER_NANOS: u64 = 500_000_000;

/// A picture has room for this many rounds, and nobody waits for more.
const MOST_STEPS: usize = 8;

/// Longer than anybody looks on.
const LONGEST_NANOS: u64 = 600_000_000_000;

impl ClockSteps {
    pub(crate) fn run(self) -> Result<Outcome, Failure> {
        self.check()?;
        let telling = Telling::new(self.json);
        telling.plan("a clock that is set back", &self.plan())?;
        if self.dry_run {
            return Ok(Outcome::Done);
        }
        let svg = self.svg.as_deref().map(SvgFile::open).transpose()?;
        let stop = Stop::at_signals()?;
        let place = Place::new()?;
        let report = Report::new(&telling);
        let mut rounds = Vec::new();
        for &step in &self.steps {
            telling.step(&format!("the clock goes back by {}", report::length(step)))?;
            let round = Round::run(&place, self.times(step), &stop)?;
            stop.check("nothing of the drill is left")?;
            report.round(&round)?;
            rounds.push(round);
        }
        let outcome = report.result(&rounds)?;
        if let Some(svg) = svg {
            svg.write(&picture::draw(&rounds))?;
        }
        Ok(outcome)
    }

    fn check(&self) -> Result<(), Failure> {
        if self.steps.len() > MOST_STEPS {
            return Err(usage(format!("{} steps given, at most {MOST_STEPS} expected", self.steps.len())));
        }
        if self.observe > LONGEST_NANOS {
            return Err(usage(format!(
                "--observe {}: at most 10 min expected",
                report::length(self.observe)
            )));
        }
        if let Some(long) = self.steps.iter().find(|step| **step > 400 * 86_400 * 1_000_000_000) {
            return Err(usage(format!("--steps {}: at most 400 d expected", report::length(*long))));
        }
        Ok(())
    }

    fn times(&self, step: u64) -> Times {
        Times { step, before: BEFORE_NANOS, after: (step + step / 10 + AFTER_NANOS).min(self.observe) }
    }

    fn plan(&self) -> Vec<String> {
        let names: Vec<&str> = MINTERS.iter().map(|minter| minter.name).collect();
        let lengths: Vec<String> = self.steps.iter().map(|step| report::length(*step)).collect();
        let nanos: u64 = self.steps.iter().map(|step| self.times(*step)).map(|t| t.before + t.after).sum();
        let mut plan = vec![
            format!(
                "make a store for the leased worker, {}, below {}",
                Place::URL_SHOWN,
                std::env::temp_dir().display()
            ),
            format!("for each of {}: let {} mint, each by a clock of its own", lengths.join(", "), names.join(", ")),
            "set these clocks back, and look on until they have caught up, or for so long as --observe says; the machine's own clock stays".to_owned(),
            "count ids, ids that came twice, calls that were refused, and the longest time without an id".to_owned(),
        ];
        if let Some(path) = &self.svg {
            plan.push(format!("draw it into {}", path.display()));
        }
        plan.push(format!("all of it takes about {} s", nanos.div_ceil(1_000_000_000) + 1));
        plan
    }
}
