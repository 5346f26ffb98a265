//! Whether database sequences stand past the columns that they feed: after a failover, a restore or a cut-over they may not.
//!
//! [`check`] looks and [`fix`] repairs. Between them stands plain data: [`fed::feeds`] says what a sequence feeds, `judge.rs`
//! judges, [`Standing::target`] says where a sequence belongs. What a server is told stands in `postgres.rs` and `mysql.rs`.

pub mod fed;
mod json;
mod judge;
#[cfg(feature = "mysql")]
mod mysql;
#[cfg(feature = "postgres")]
mod postgres;
mod sql;
pub mod standing;
mod text;
pub mod witness;

use crate::catalog::{Catalog, Dialect, Server};
use crate::error::Error;
use crate::open::{self, Options};
use standing::{Standing, Verdict};
use std::time::Duration;
use witness::Witness;

/// What is asked of sequences besides that they stand past their columns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Demand {
    /// How many values a sequence must be ahead of all that is known, and is moved ahead by a repair. 0 to `i64::MAX`.
    pub gap: u64,
    /// The highest ids seen elsewhere.
    pub witness: Witness,
}

/// How the sequences of a database stand, and what was done about it.
#[derive(Clone, Debug, PartialEq)]
pub struct Outlook {
    /// Who answered.
    pub server: Server,
    /// Every sequence, by schema and name; counters of AUTO_INCREMENT columns too.
    pub standings: Vec<Standing>,
    /// The demand's gap.
    pub gap: u64,
    /// Lines of the witness that mean nothing here, in words.
    pub strays: Vec<String>,
    /// What a reader must know besides.
    pub notes: Vec<String>,
}

impl Outlook {
    fn of(catalog: &Catalog, demand: &Demand) -> Self {
        let (standings, strays) = judge::standings(catalog, demand);
        Self { server: catalog.server.clone(), standings, gap: demand.gap, strays, notes: Vec::new() }
    }

    /// Whether every sequence is known to stand where it should, and every line of the witness was used.
    #[must_use]
    pub fn is_fine(&self) -> bool {
        let is_open = |standing: &Standing| {
            matches!(standing.verdict, Verdict::Behind { .. } | Verdict::Unknown { .. })
                || standing.refused.is_some()
        };
        self.strays.is_empty() && !self.standings.iter().any(is_open)
    }

    /// Those that a repair moves: what is behind; with a gap every sequence whose value can be read.
    pub fn planned(&self) -> impl Iterator<Item = &Standing> {
        self.standings.iter().filter(|standing| standing.is_moved_by(self.gap))
    }

    /// What a repair runs, complete, a transaction each.
    #[must_use]
    pub fn script(&self) -> String {
        text::script(self)
    }

    /// For people at a terminal; with `all` those that are fine are listed too.
    #[must_use]
    pub fn text(&self, all: bool, is_coloured: bool) -> String {
        text::text(self, all, is_coloured)
    }

    /// One JSON object, without a line end. Numbers of 64 bits are strings.
    #[must_use]
    pub fn json(&self) -> String {
        json::json(self)
    }
}

/// Looks at the sequences of a URL's database. Nothing is written, and no number is taken.
///
/// # Errors
/// See [`Error`]. What can't be read within a database that answers isn't an error: a standing says so.
pub async fn check(url: &str, options: &Options, demand: &Demand) -> Result<Outlook, Error> {
    let catalog = open::read_fed(url, options).await?;
    let mut outlook = Outlook::of(&catalog, demand);
    outlook.notes = notes(url, options, demand, &outlook).await?;
    Ok(outlook)
}

/// Moves the sequences that are behind past what is in use, and looks again. None is ever moved backwards.
///
/// # Errors
/// [`Error::Refused`] where nothing can be written: a standby, a server that is set read-only. What a single sequence refuses is
/// said by its standing.
pub async fn fix(url: &str, options: &Options, demand: &Demand) -> Result<Outlook, Error> {
    #[cfg(feature = "postgres")]
    if is_postgres(url) {
        postgres::ready(url, options).await?;
    }
    let before = check(url, options, demand).await?;
    let planned: Vec<&Standing> = before.planned().collect();
    let repairs = match before.server.dialect {
        _ if planned.is_empty() => Vec::new(),
        #[cfg(feature = "postgres")]
        Dialect::Postgres => postgres::repair(url, options, &planned, before.gap).await?,
        #[cfg(feature = "mysql")]
        dialect @ (Dialect::MariaDb | Dialect::MySql) => {
            mysql::repair(url, options, &planned, before.gap, dialect).await?
        }
        dialect => {
            return Err(Error::Refused {
                url: before.server.url.clone(),
                why: format!("repairs were never tried on {}; --dry-run shows what may do", dialect.name()),
            });
        }
    };
    if repairs.is_empty() {
        return Ok(before);
    }
    // The gap has been added once; meanwhile rows may have come.
    let demand = Demand { gap: 0, witness: demand.witness.clone() };
    let after = Outlook::of(&open::read_fed(url, options).await?, &demand);
    Ok(standing::repaired(before, after, repairs))
}

/// Waits until the server answers and isn't a standby, asking again after each pause; without end, so within a timeout.
///
/// # Errors
/// [`Error::Url`]. What else goes wrong may pass.
#[cfg_attr(not(feature = "postgres"), expect(unused_variables, reason = "only PostgreSQL is asked"))]
pub async fn primary(url: &str, options: &Options, pause: Duration) -> Result<(), Error> {
    #[cfg(feature = "postgres")]
    if is_postgres(url) {
        loop {
            match postgres::ready(url, options).await {
                Err(error @ Error::Url { .. }) => return Err(error),
                Ok(()) => return Ok(()),
                Err(_) => tokio::time::sleep(pause).await,
            }
        }
    }
    Ok(())
}

/// What one repair came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Repair {
    /// Which: an index into [`Outlook::planned`].
    index: usize,
    /// The value before and after, or why it was refused.
    outcome: Result<(String, String), String>,
}

#[cfg(feature = "postgres")]
fn is_postgres(url: &str) -> bool {
    url.starts_with("postgres:") || url.starts_with("postgresql:")
}

/// What sequences and columns can't show.
#[cfg_attr(not(feature = "postgres"), expect(unused_variables, reason = "only PostgreSQL is asked"))]
async fn notes(
    url: &str,
    options: &Options,
    demand: &Demand,
    outlook: &Outlook,
) -> Result<Vec<String>, Error> {
    let mut notes = Vec::new();
    match outlook.server.dialect {
        Dialect::Sqlite => notes.push(
            "SQLite takes the larger of its counter and the largest row id at every insert, so nothing can be behind".to_owned(),
        ),
        dialect if dialect.is_mysql_like() => notes.push(
            "AUTO_INCREMENT counters of InnoDB follow every insert, so they aren't behind their columns (MariaDB from 10.2.4, MySQL from 8.0)"
                .to_owned(),
        ),
        _ => {}
    }
    let has_numbers = outlook.standings.iter().any(|standing| standing.reading.is_some());
    if has_numbers && demand.gap == 0 && demand.witness.is_empty() {
        notes.push(
            "ids that were given out and then lost with unreplicated log leave no trace here: after a failover of an asynchronous \
             replica, or a restore, they can be given out again; --witness FILE (the highest ids seen elsewhere) or --fix --gap N \
             prevents that"
                .to_owned(),
        );
        #[cfg(feature = "postgres")]
        if is_postgres(url) {
            notes.push(postgres::replication(url, options).await?);
        }
    }
    Ok(notes)
}
