//! What is wrong with the keys of definitions, before a database has them.

use crate::exit::{Failure, Outcome};
use crate::output::{self, Palette};
use clap::{Args, ValueEnum};
use mintage_keys::catalog::{Dialect, text};
use mintage_keys::checks::Severity;
use mintage_keys::files;
use mintage_keys::ignore::Ignore;
use mintage_keys::report::{Lint as Linted, Look};
use std::io::Write;
use std::path::PathBuf;

/// Check the keys of definitions: what pg_dump -s and mysqldump --no-data write, and migrations.
///
/// Files take effect one after the other, as on a database; folders are walked in the order of names, *.sql only, without files that
/// take a migration back. Statements that can't be read are skipped and named. Exits 1 when a finding is as bad as --fail-on.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  mintage keys lint migrations/\n  pg_dump -s shop | mintage keys lint -\n  mintage keys lint --sarif \
                  --ignore known.txt db/structure.sql > keys.sarif"
)]
pub(crate) struct Lint {
    /// Files and folders; - is standard input
    #[arg(required = true, value_name = "FILE|DIR")]
    path: Vec<String>,
    /// What they are written in; guessed where it isn't told
    #[arg(long, value_name = "DIALECT")]
    dialect: Option<Spoken>,
    /// How bad a finding must be for the exit code to be 1
    #[arg(long, value_name = "SEVERITY", default_value = "warning")]
    fail_on: Worst,
    /// A file of what shall not be told; a line is WHAT WHERE, as in: int4-primary-key public.countries.*
    #[arg(long, value_name = "FILE")]
    ignore: Option<PathBuf>,
    /// Findings of a kind shown as text
    #[arg(long, value_name = "COUNT", default_value_t = 10)]
    top: usize,
    /// One JSON object
    #[arg(long, group = "form")]
    json: bool,
    /// One SARIF log, for code scanning
    #[arg(long, group = "form")]
    sarif: bool,
    /// Markdown, for tickets and pages
    #[arg(long, group = "form")]
    markdown: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Spoken {
    Postgresql,
    Mariadb,
    Mysql,
    Sqlite,
}

impl From<Spoken> for Dialect {
    fn from(spoken: Spoken) -> Self {
        match spoken {
            Spoken::Postgresql => Self::Postgres,
            Spoken::Mariadb => Self::MariaDb,
            Spoken::Mysql => Self::MySql,
            Spoken::Sqlite => Self::Sqlite,
        }
    }
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Worst {
    Note,
    Warning,
    Error,
}

impl From<Worst> for Severity {
    fn from(worst: Worst) -> Self {
        match worst {
            Worst::Note => Self::Note,
            Worst::Warning => Self::Warning,
            Worst::Error => Self::Error,
        }
    }
}

impl Lint {
    pub(crate) fn run(self) -> Result<Outcome, Failure> {
        let ignore = self.ignore.as_deref().map(Ignore::read).transpose()?.unwrap_or_default();
        let gathered = files::gather(&self.path)?;
        let mut read = text::read(&gathered.sources, self.dialect.map(Dialect::from));
        read.ways_back += gathered.ways_back;
        let lint = Linted::of(read, gathered.sources.len(), &ignore);
        let mut out = output::stdout();
        if self.json {
            writeln!(out, "{}", lint.json())?;
        } else if self.sarif {
            output::json_line(&mut out, &lint.sarif())?;
        } else if self.markdown {
            out.write_all(lint.markdown().as_bytes())?;
        } else {
            let look = Look { is_coloured: Palette::of_stdout().is_on(), most: self.top };
            out.write_all(lint.text(look).as_bytes())?;
        }
        out.flush()?;
        Ok(if lint.has(self.fail_on.into()) { Outcome::Found } else { Outcome::Done })
    }
}
