//! The report: keys in order of urgency, findings, and what to do next; as text, JSON, SARIF or Markdown.

mod end;
pub(crate) mod json;
mod lint;
mod markdown;
mod sarif;
mod text;

pub use lint::Lint;
pub use sarif::sarif;
pub use text::Look;

use crate::catalog::{Catalog, Server};
use crate::checks::{self, Finding, Severity};
use crate::ignore::Ignore;
use crate::limits::{self, Key, Source};
use crate::names::harmless;

/// The code of the finding that a key has come far: it depends on thresholds, so it isn't on the list of checks.
pub const NEARLY_FULL: &str = "key-nearly-full";

/// From which share of its values on a key is worth a warning, and from which a failure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Thresholds {
    /// 0 to 1.
    pub warn: f64,
    /// 0 to 1, not below `warn`.
    pub fail: f64,
}

impl Default for Thresholds {
    fn default() -> Self {
        Self { warn: 0.25, fail: 0.5 }
    }
}

/// How urgent a key is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Past the second threshold.
    Fail,
    /// Past the first.
    Warn,
    /// Nobody knows.
    Unknown,
    /// Below both.
    Fine,
}

/// A report about one database.
#[derive(Clone, Debug)]
pub struct Report {
    /// Who answered.
    pub server: Server,
    /// Keys, the most urgent first.
    pub keys: Vec<KeyLine>,
    /// Findings, the worst first.
    pub findings: Vec<Finding>,
    /// What the keys were measured by.
    pub thresholds: Thresholds,
    /// How many keys and findings were left out as the file of ignored ones says.
    pub ignored: usize,
}

/// A key as it is shown. Texts are as the server gave them: renderings make them harmless.
#[derive(Clone, Debug, PartialEq)]
pub struct KeyLine {
    /// The schema.
    pub schema: String,
    /// The table; `None` for a sequence by itself and for a space.
    pub table: Option<String>,
    /// The column.
    pub column: Option<String>,
    /// The column's type; of a sequence by itself the sequence's.
    pub declared: String,
    /// The sequence, `schema.name`; of a space its name.
    pub sequence: Option<String>,
    /// The last value handed out, or the furthest in use.
    pub current: Option<i128>,
    /// Where that comes from, or why it isn't known.
    pub current_source: String,
    /// The last value that everything can hold.
    pub limit: i128,
    /// What can't hold more.
    pub limited_by: String,
    /// What happens past the limit, as the end of a sentence.
    pub then: &'static str,
    /// The share that is used.
    pub ratio: Option<f64>,
    /// Numbers for each row.
    pub burn: Option<f64>,
    /// `exact`, `close`, `lower bound` or `unknown`.
    pub confidence: &'static str,
    /// How urgent it is.
    pub level: Level,
    /// What to do, for those past a threshold.
    pub next: Option<String>,
}

impl KeyLine {
    /// Its name for people: `schema.table.column`, or the sequence's.
    #[must_use]
    pub fn path(&self) -> String {
        match (&self.table, &self.column, &self.sequence) {
            (Some(table), Some(column), _) => format!("{}.{table}.{column}", self.schema),
            (_, _, Some(sequence)) => sequence.clone(),
            _ => self.schema.clone(),
        }
    }
}

impl Report {
    /// What there is to say about a catalog.
    #[must_use]
    pub fn of(catalog: &Catalog, thresholds: Thresholds, ignore: &Ignore) -> Self {
        let keys = limits::keys(catalog);
        let mut findings = checks::run(catalog);
        let mut lines = Vec::with_capacity(keys.len());
        let mut ignored = 0;
        for key in &keys {
            let line = line(catalog, key, thresholds);
            if ignore.covers(&["key", NEARLY_FULL], &line.path()) {
                ignored += 1;
                continue;
            }
            findings.extend(nearly_full(catalog, key, &line));
            lines.push(line);
        }
        let before = findings.len();
        findings.retain(|finding| !ignore.covers(&[finding.code], &path(finding)));
        ignored += before - findings.len();
        findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
        lines.sort_by(|a, b| {
            let ratio = |line: &KeyLine| line.ratio.unwrap_or(0.0);
            a.level.cmp(&b.level).then(ratio(b).total_cmp(&ratio(a))).then_with(|| a.path().cmp(&b.path()))
        });
        Self { server: catalog.server.clone(), keys: lines, findings, thresholds, ignored }
    }

    /// Whether something must be done: a key past the second threshold, or a finding of the worst kind.
    #[must_use]
    pub fn fails(&self) -> bool {
        self.keys.iter().any(|key| key.level == Level::Fail)
            || self.findings.iter().any(|finding| finding.severity == Severity::Error)
    }

    /// A few sentences for whoever decides.
    #[must_use]
    pub fn summary(&self) -> Vec<String> {
        let count = |level| self.keys.iter().filter(|key| key.level == level).count();
        let (failed, warned, unknown) = (count(Level::Fail), count(Level::Warn), count(Level::Unknown));
        let percent = |share: f64| format!("{} %", share * 100.0);
        let mut sentences = Vec::new();
        sentences.push(match (self.keys.len(), failed, warned) {
            (0, ..) if self.ignored > 0 => "No key is left to tell of.".to_owned(),
            (0, ..) => "There are no keys with a limit.".to_owned(),
            (all, 0, 0) if unknown == 0 => {
                format!(
                    "All {all} keys have used less than {} of their values.",
                    percent(self.thresholds.warn)
                )
            }
            (all, 0, 0) => format!(
                "Of {all} keys none is known to have used {} of its values.",
                percent(self.thresholds.warn)
            ),
            (all, 0, warned) => format!(
                "Of {all} keys {warned} {} used {} of the values or more, none {}.",
                has(warned),
                percent(self.thresholds.warn),
                percent(self.thresholds.fail)
            ),
            (all, failed, warned) => format!(
                "Of {all} keys {failed} {} used {} of the values or more, {warned} more at least {}.",
                has(failed),
                percent(self.thresholds.fail),
                percent(self.thresholds.warn)
            ),
        });
        if let Some(first) = self.keys.iter().find(|key| key.ratio.is_some() && key.level <= Level::Warn) {
            let is_past = first.ratio.is_some_and(|ratio| ratio >= 1.0);
            let left = if is_past { 0 } else { (first.limit - first.current.unwrap_or(0)).unsigned_abs() };
            sentences.push(format!(
                "The first to end is {}: {} used, {} numbers left; it ends with {}. Past that, {}.",
                harmless(&first.path()),
                share(first.ratio.unwrap_or(0.0)),
                grouped(left),
                harmless(&first.limited_by),
                first.then
            ));
        }
        if unknown > 0 {
            let (them, word) = if unknown == 1 { ("1 key", "it") } else { ("keys", "they") };
            let them = if unknown == 1 { them.to_owned() } else { format!("{unknown} {them}") };
            sentences.push(format!("How far {them} came isn't known; {word} may be near the end."));
        }
        let of = |severity| {
            self.findings.iter().filter(|f| f.code != NEARLY_FULL && f.severity == severity).count()
        };
        let (errors, warnings, notes) = (of(Severity::Error), of(Severity::Warning), of(Severity::Note));
        if errors + warnings + notes > 0 {
            sentences.push(format!(
                "Besides: {}.",
                counted(&[
                    (errors, "error", "errors"),
                    (warnings, "warning", "warnings"),
                    (notes, "note", "notes"),
                ])
            ));
        }
        if self.ignored > 0 {
            sentences.push(format!("{} left out as told.", self.ignored));
        }
        sentences
    }

    /// One JSON object. 64-bit values are strings.
    #[must_use]
    pub fn json(&self) -> String {
        json::json(self)
    }

    /// For people at a terminal.
    #[must_use]
    pub fn text(&self, look: Look) -> String {
        text::text(self, look)
    }

    /// For tickets and pages.
    #[must_use]
    pub fn markdown(&self) -> String {
        markdown::markdown(self)
    }
}

const fn has(count: usize) -> &'static str {
    if count == 1 { "has" } else { "have" }
}

/// `2 errors, 1 warning`, without what there is none of.
fn counted(counts: &[(usize, &str, &str)]) -> String {
    let some = counts.iter().filter(|(count, ..)| *count > 0);
    let words: Vec<String> =
        some.map(|(count, one, many)| format!("{count} {}", if *count == 1 { one } else { many })).collect();
    words.join(", ")
}

/// A share in percent. What isn't nothing never looks like nothing, and what isn't all never like all.
pub(crate) fn share(ratio: f64) -> String {
    match ratio * 100.0 {
        0.0 => "0 %".to_owned(),
        percent if percent < 0.1 => "<0.1 %".to_owned(),
        percent if percent < 100.0 && percent > 99.9 => ">99.9 %".to_owned(),
        percent => format!("{percent:.1} %"),
    }
}

/// A number with its thousands apart.
pub(crate) fn grouped(number: u128) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `schema.table.column` of a finding.
fn path(finding: &Finding) -> String {
    let parts = [Some(&finding.schema), finding.table.as_ref(), finding.column.as_ref()];
    let parts = parts.into_iter().flatten().map(String::as_str).filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join(".")
}

fn line(catalog: &Catalog, key: &Key, thresholds: Thresholds) -> KeyLine {
    let sequence = key.sequence.map(|index| &catalog.sequences[index]);
    let sequence_name = sequence.map(|sequence| format!("{}.{}", sequence.schema, sequence.name));
    let (schema, table, column, declared, name) = match (key.at, sequence, key.space) {
        (Some(at), ..) => {
            let (table, column) = (&catalog.tables[at.table], catalog.column(at));
            let (schema, table) = (table.schema.clone(), Some(table.name.clone()));
            (schema, table, Some(column.name.clone()), column.declared.clone(), sequence_name)
        }
        (None, Some(sequence), _) => {
            (sequence.schema.clone(), None, None, sequence.declared.clone(), sequence_name)
        }
        (None, None, Some(space)) => {
            let space = &catalog.spaces[space];
            ("mintage".to_owned(), None, None, space.what.clone(), Some(space.name.clone()))
        }
        (None, None, None) => (String::new(), None, None, String::new(), None),
    };
    let level = match key.ratio {
        None => Level::Unknown,
        Some(ratio) if ratio >= thresholds.fail => Level::Fail,
        Some(ratio) if ratio >= thresholds.warn => Level::Warn,
        Some(_) => Level::Fine,
    };
    let (current_source, confidence) = match &key.source {
        Source::Sequence => ("sequence".to_owned(), "exact"),
        Source::StandbySequence | Source::CachedSequence => ("sequence".to_owned(), "close"),
        Source::BesideApart => ("sequence".to_owned(), "lower bound"),
        Source::AutoIncrement => ("auto_increment".to_owned(), "exact"),
        Source::Index => ("max".to_owned(), "exact"),
        Source::Statistics => ("stats".to_owned(), "lower bound"),
        Source::Space => ("space".to_owned(), "exact"),
        Source::Unknown(why) => (format!("unknown: {why}"), "unknown"),
    };
    KeyLine {
        schema,
        table,
        column,
        declared,
        sequence: name,
        current: key.current,
        current_source,
        limit: key.limit,
        limited_by: end::limited_by(catalog, key),
        then: end::then(catalog, key),
        ratio: key.ratio,
        burn: key.burn,
        confidence,
        level,
        next: (level <= Level::Warn).then(|| end::next(catalog, key)),
    }
}

fn nearly_full(catalog: &Catalog, key: &Key, line: &KeyLine) -> Option<Finding> {
    let severity = match line.level {
        Level::Fail => Severity::Error,
        Level::Warn => Severity::Warning,
        Level::Unknown | Level::Fine => return None,
    };
    let finding = match (key.at, key.sequence) {
        (Some(at), _) => Finding::of_column(catalog, at, NEARLY_FULL, severity),
        (None, Some(index)) => Finding::of_sequence(&catalog.sequences[index], NEARLY_FULL, severity),
        (None, None) => return None,
    };
    let message = format!(
        "{} used: {} of {}; it ends with {}",
        share(line.ratio?),
        line.current?,
        line.limit,
        harmless(&line.limited_by)
    );
    Some(finding.says(message, line.next.clone()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::sketch::users_and_orders;
    use crate::catalog::{Dialect, Extreme, Kind, Reading, Sequence, Table};

    #[test]
    fn a_key_past_its_end_has_no_numbers_left() {
        let catalog = users_and_orders(Dialect::Postgres, 16, 40_000)
            .refers("orders.user_id", "users.id")
            .changed("orders.user_id", |column| column.extreme = Extreme::Exact(32_767));
        let report = Report::of(&catalog, Thresholds::default(), &Ignore::default());
        let summary = report.summary().join(" ");
        assert!(
            summary.contains("public.users.id: 100.0 % used, 0 numbers left")
                && summary.contains("Past that, rows that refer to newer ones are refused"),
            "{summary}"
        );
        assert!(report.fails());
    }

    #[test]
    fn a_key_that_a_reference_to_old_rows_cant_follow_goes_on() {
        let catalog = users_and_orders(Dialect::Postgres, 16, 40_000)
            .refers("orders.user_id", "users.id")
            .changed("orders.user_id", |column| column.extreme = Extreme::Exact(40));
        let report = Report::of(&catalog, Thresholds::default(), &Ignore::default());
        assert!(!report.fails() && report.keys.iter().all(|key| key.level == Level::Fine), "{report:?}");
        let said = &report.findings[0];
        assert!(
            said.code == "narrow-foreign-key" && said.message.contains("has gone past that, to 40000"),
            "{said:?}"
        );
    }

    #[test]
    fn a_sequence_is_widened_by_what_moves_its_bound() {
        let next = |sequence: Sequence, column: Option<(&str, u32)>| {
            let mut catalog = Catalog::of(Dialect::Postgres);
            match column {
                Some((declared, bits)) => {
                    let table = Table::of("t").column("id", declared, Kind::int(bits)).primary(&["id"]);
                    catalog = catalog.with(table).fed("t.id", sequence);
                }
                None => catalog.sequences.push(sequence),
            }
            Report::of(&catalog, Thresholds::default(), &Ignore::default()).keys[0].next.clone().unwrap()
        };
        let at = |bits, last| Sequence::of("s", bits, Reading::Value(last));
        let of = |max, sequence: Sequence| Sequence { max, ..sequence };
        let name = "ALTER SEQUENCE \"public\".\"s\"";
        assert_eq!(next(at(16, 32_000), Some(("integer", 32))), format!("{name} AS bigint;"));
        assert_eq!(next(at(16, 32_000), None), format!("{name} AS bigint;"));
        assert_eq!(next(of(1_000, at(16, 900)), None), format!("{name} AS bigint NO MAXVALUE;"));
        assert_eq!(next(of(1_000, at(32, 900)), Some(("integer", 32))), format!("{name} NO MAXVALUE;"));
        assert_eq!(next(of(1_000, at(64, 900)), Some(("bigint", 64))), format!("{name} NO MAXVALUE;"));
        assert_eq!(next(at(64, i128::from(i64::MAX) - 5), None), end::SPENT);
        let type_ends = next(at(16, 32_000), Some(("smallint", 16)));
        assert!(
            type_ends.starts_with("ALTER TABLE \"public\".\"t\" ALTER COLUMN \"id\" TYPE bigint;"),
            "{type_ends}"
        );
    }

    #[test]
    fn what_is_left_out_is_not_said_to_be_missing() {
        let ignore = Ignore::parse("* *").unwrap();
        let catalog = users_and_orders(Dialect::Postgres, 32, 900_000_000);
        let summary = Report::of(&catalog, Thresholds::default(), &ignore).summary().join(" ");
        assert!(
            summary.starts_with("No key is left to tell of. ") && summary.contains("left out as told"),
            "{summary}"
        );
    }

    #[test]
    fn what_cycles_is_said_to_begin_again() {
        let mut catalog = Catalog::of(Dialect::Postgres);
        catalog.sequences.push(Sequence {
            cycles: true,
            max: 100,
            ..Sequence::of("s", 64, Reading::Value(90))
        });
        let summary = Report::of(&catalog, Thresholds::default(), &Ignore::default()).summary().join(" ");
        assert!(summary.contains("Past that, it begins again") && !summary.contains("refused"), "{summary}");
    }
}
