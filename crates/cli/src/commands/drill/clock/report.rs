//! What came of the rounds: a table, or one JSON object a round and generator.

use super::minters::{MINTERS, NAIVE};
use super::round::{Course, Round};
use crate::commands::drill::telling::Telling;
use crate::exit::{Failure, Outcome};
use crate::output::{self, Palette};
use serde::Serialize;
use std::io::Write;

pub(super) struct Report<'a>(&'a Telling);

#[derive(Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
enum Event<'a> {
    Course {
        step_ms: f64,
        generator: &'a str,
        ids: String,
        duplicates: String,
        refused: String,
        outage_ms: f64,
        is_back: bool,
    },
    Result {
        good: bool,
        after_ms: u64,
        /// By generators that protect from it.
        duplicates: String,
        /// By the one that doesn't.
        naive_duplicates: String,
    },
}

impl<'a> Report<'a> {
    pub(super) const fn new(telling: &'a Telling) -> Self {
        Self(telling)
    }

    pub(super) fn round(&self, round: &Round) -> Result<(), Failure> {
        let step_ms = round.times.step as f64 / 1e6;
        for course in round.courses.iter().filter(|_| self.0.is_json) {
            let Course { name: generator, ids, duplicates, refused, outage_nanos, is_back, .. } = course;
            let [ids, duplicates, refused] = [ids, duplicates, refused].map(u64::to_string);
            let (outage_ms, is_back) = (*outage_nanos as f64 / 1e6, *is_back);
            self.0.tell(
                &Event::Course { step_ms, generator, ids, duplicates, refused, outage_ms, is_back },
                &[],
            )?;
        }
        Ok(())
    }

    pub(super) fn result(&self, rounds: &[Round]) -> Result<Outcome, Failure> {
        let courses = || rounds.iter().flat_map(|round| &round.courses);
        let of = |is_naive: bool| -> u64 {
            courses()
                .filter(|course| (course.name == NAIVE) == is_naive)
                .map(|course| course.duplicates)
                .sum()
        };
        let (duplicates, naive) = (of(false), of(true));
        // A count that finds nothing where there must be something would find nothing anywhere.
        let good = duplicates == 0 && naive > 0;
        let after_ms = self.0.after_ms();
        if self.0.is_json {
            let (duplicates, naive_duplicates) = (duplicates.to_string(), naive.to_string());
            self.0.tell(&Event::Result { good, after_ms, duplicates, naive_duplicates }, &[])?;
        } else {
            self.table(rounds)?;
            let end = match (duplicates, naive) {
                (0, 0) => "NOTHING was seen: even the naive generator issued no id twice; try again on a machine with less to do".to_owned(),
                (0, naive) => format!("{naive} ids came twice from the naive generator, none from the others"),
                (duplicates, _) => format!("{duplicates} ids came twice from generators that RULE IT OUT"),
            };
            let line = format!("\n{end} ({:.1} s).", after_ms as f64 / 1_000.0);
            let mut out = output::stdout();
            writeln!(out, "{line}")?;
            out.flush()?;
        }
        Ok(if good { Outcome::Done } else { Outcome::Found })
    }

    fn table(&self, rounds: &[Round]) -> Result<(), Failure> {
        let heads =
            ["CLOCK BACK BY", "GENERATOR", "IDS", "TWICE", "REFUSED CALLS", "NO ID FOR", "WHAT IT DOES"];
        let mut lines = vec![heads.map(str::to_owned).to_vec()];
        for round in rounds {
            for (minter, course) in MINTERS.iter().zip(&round.courses) {
                lines.push(vec![
                    length(round.times.step),
                    course.name.to_owned(),
                    course.ids.to_string(),
                    course.duplicates.to_string(),
                    course.refused.to_string(),
                    outage(course),
                    minter.what.to_owned(),
                ]);
            }
        }
        let mut out = output::stdout();
        writeln!(out)?;
        output::columns(&mut out, &lines, Palette::of_stdout())?;
        Ok(out.flush()?)
    }
}

/// How long nothing came, in words.
pub(super) fn outage(course: &Course) -> String {
    let ms = course.outage_nanos as f64 / 1e6;
    if course.is_back { format!("{ms:.1} ms") } else { format!("{ms:.0} ms and longer") }
}

/// A length of time in the largest unit that it has a whole number of.
pub(super) fn length(nanos: u64) -> String {
    const UNITS: [(u64, &str); 6] = [
        (86_400_000_000_000, "d"),
        (3_600_000_000_000, "h"),
        (60_000_000_000, "min"),
        (1_000_000_000, "s"),
        (1_000_000, "ms"),
        (1_000, "us"),
    ];
    let unit = UNITS.iter().find(|(unit, _)| nanos >= *unit && nanos.is_multiple_of(*unit));
    unit.map_or_else(|| format!("{nanos} ns"), |(unit, word)| format!("{} {word}", nanos / unit))
}

#[cfg(test)]
mod tests {
    use super::length;

    #[test]
    fn lengths_are_whole_numbers_of_a_unit() {
        let told = [5_000_000, 1_500_000_000, 3_600_000_000_000, 7, 120_000_000_000].map(length);
        assert_eq!(told, ["5 ms", "1500 ms", "1 h", "7 ns", "2 min"]);
    }
}
