//! When the keys of databases run out, and what is wrong with them.

use crate::exit::{Failure, Outcome};
use crate::output::{self, Palette};
use crate::quantities::share;
use crate::reach;
use clap::Args;
use mintage_keys::ignore::Ignore;
use mintage_keys::open::Options;
use mintage_keys::report::{Look, Thresholds, sarif};
use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

/// Report how far each key has come, what ends it, and what is wrong besides.
///
/// A key ends where its type, its sequence or any column that refers to it ends, whichever is first. What can't be read is UNKNOWN,
/// with the privilege that is missing. Exits 1 when a key is past --fail or a finding is an error, 3 when a database can't be read.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  mintage keys report postgres://app@localhost/shop\n  mintage keys report --json \
                  postgres://app@db1/shop postgres://app@db2/shop\n  mintage keys report --warn 40% --fail 70% --ignore known.txt \
                  sqlite:shop.db"
)]
pub(crate) struct Report {
    /// Databases: postgres://user@host/database, mysql://user@host/database, sqlite:PATH
    #[arg(required = true)]
    url: Vec<String>,
    /// The share from which a key is worth a warning: 25%, 0.25
    #[arg(long, value_name = "SHARE", default_value = "25%", value_parser = share)]
    warn: f64,
    /// The share from which the exit code is 1
    #[arg(long, value_name = "SHARE", default_value = "50%", value_parser = share)]
    fail: f64,
    /// A file of what shall not be told; a line is WHAT WHERE, as in: int4-primary-key public.countries.*
    #[arg(long, value_name = "FILE")]
    ignore: Option<PathBuf>,
    /// Keys shown as text, and findings of a kind; those past --warn are shown all the same
    #[arg(long, value_name = "COUNT", default_value_t = 10)]
    top: usize,
    /// The longest that one query may take, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=3600))]
    budget: u64,
    /// One JSON object a database and line
    #[arg(long, group = "form")]
    json: bool,
    /// One SARIF log, for code scanning
    #[arg(long, group = "form")]
    sarif: bool,
    /// Markdown, for tickets and pages
    #[arg(long, group = "form")]
    markdown: bool,
}

impl Report {
    pub(crate) fn run(self) -> Result<Outcome, Failure> {
        if self.fail < self.warn {
            return Err(crate::exit::usage(format!(
                "--fail {}% is below --warn {}%; a key is worth a warning first",
                self.fail * 100.0,
                self.warn * 100.0
            )));
        }
        let ignore = self.ignore.as_deref().map(Ignore::read).transpose()?.unwrap_or_default();
        let thresholds = Thresholds { warn: self.warn, fail: self.fail };
        let options = Options { budget: Duration::from_secs(self.budget), ..Options::default() };
        let palette = Palette::of_stdout();
        let look = Look { is_coloured: palette.is_on(), most: self.top };
        let (mut reports, mut failure, mut out) = (Vec::new(), None, output::stdout());
        for (number, url) in self.url.iter().enumerate() {
            let read = reach::wait(async { Ok(mintage_keys::open::read(url, &options).await?) });
            let catalog = match read {
                Ok(catalog) => catalog,
                // The others are reported all the same.
                Err(error) => {
                    failure = Some(match failure {
                        None => error,
                        Some(first) => {
                            error.report();
                            first
                        }
                    });
                    continue;
                }
            };
            let report = mintage_keys::Report::of(&catalog, thresholds, &ignore);
            if self.json {
                writeln!(out, "{}", report.json())?;
            } else if self.markdown {
                out.write_all(report.markdown().as_bytes())?;
            } else if !self.sarif {
                if number > 0 {
                    writeln!(out)?;
                }
                out.write_all(report.text(look).as_bytes())?;
            }
            reports.push(report);
        }
        if self.sarif {
            output::json_line(&mut out, &sarif(&reports))?;
        }
        out.flush()?;
        match failure {
            Some(failure) => Err(failure),
            None if reports.iter().any(mintage_keys::Report::fails) => Ok(Outcome::Found),
            None => Ok(Outcome::Done),
        }
    }
}
