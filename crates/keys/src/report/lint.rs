//! What is wrong with definitions: findings of the checks with their lines, and what wasn't read.

use super::{Look, counted, json, markdown, path, sarif, text};
use crate::catalog::Dialect;
use crate::catalog::text::{Read, Skipped, Told};
use crate::checks::{self, Finding, Severity};
use crate::ignore::Ignore;
use crate::names::harmless;
use serde::Serialize;
use serde_json::Value;

/// What there is to say about files of SQL.
#[derive(Clone, Debug, PartialEq)]
pub struct Lint {
    /// What they are written in.
    pub dialect: Dialect,
    /// How that is known.
    pub told: Told,
    /// How many files were read.
    pub files: usize,
    /// How many statements they hold.
    pub statements: usize,
    /// How many tables there are in the end.
    pub tables: usize,
    /// Statements that weren't read.
    pub skipped: Vec<Skipped>,
    /// Files and parts of files that take a migration back, which were left out.
    pub ways_back: usize,
    /// Findings, the worst first.
    pub findings: Vec<Finding>,
    /// How many were left out as the file of ignored ones says.
    pub ignored: usize,
}

impl Lint {
    /// What the checks find in what was read from this many files.
    #[must_use]
    pub fn of(read: Read, files: usize, ignore: &Ignore) -> Self {
        let all = checks::run(&read.catalog);
        let count = all.len();
        let findings: Vec<Finding> =
            all.into_iter().filter(|finding| !ignore.covers(&[finding.code], &path(finding))).collect();
        Self {
            dialect: read.catalog.server.dialect,
            told: read.told,
            files,
            statements: read.statements,
            tables: read.catalog.tables.len(),
            skipped: read.skipped,
            ways_back: read.ways_back,
            ignored: count - findings.len(),
            findings,
        }
    }

    /// Whether a finding is as bad as this, or worse.
    #[must_use]
    pub fn has(&self, severity: Severity) -> bool {
        self.findings.iter().any(|finding| finding.severity >= severity)
    }

    /// What was read, and what came of it, in a few sentences.
    fn summary(&self) -> Vec<String> {
        let told = match self.told {
            Told::ByCaller => "as told".to_owned(),
            Told::BySign(sign) => format!("as `{}` tells; --dialect says otherwise", sign.trim()),
            Told::ByNothing => "as nothing tells the dialect; --dialect does".to_owned(),
        };
        let read = counted(&[
            (self.files, "file", "files"),
            (self.statements, "statement", "statements"),
            (self.tables, "table", "tables"),
        ]);
        let mut sentences = vec![format!("{} ({told}): {read}.", self.dialect.name())];
        let of = |severity| self.findings.iter().filter(|finding| finding.severity == severity).count();
        let found = counted(&[
            (of(Severity::Error), "error", "errors"),
            (of(Severity::Warning), "warning", "warnings"),
            (of(Severity::Note), "note", "notes"),
        ]);
        sentences.push(if found.is_empty() {
            "Nothing was found.".to_owned()
        } else {
            format!("Found: {found}.")
        });
        if !self.skipped.is_empty() {
            let (count, them) = (
                self.skipped.len(),
                if self.skipped.len() == 1 { "statement wasn't" } else { "statements weren't" },
            );
            sentences.push(format!("{count} {them} read; what they say about keys isn't known."));
        }
        if self.ways_back > 0 {
            sentences.push(format!("{} left out that take migrations back.", self.ways_back));
        }
        if self.ignored > 0 {
            sentences.push(format!("{} left out as told.", self.ignored));
        }
        sentences
    }

    /// One JSON object.
    #[must_use]
    pub fn json(&self) -> String {
        let shown = Shown {
            dialect: self.dialect.name(),
            files: self.files,
            statements: self.statements,
            tables: self.tables,
            skipped: self.skipped.iter().map(skipped).collect(),
            findings: self.findings.iter().map(json::finding).collect(),
        };
        json::written(&shown)
    }

    /// For people at a terminal.
    #[must_use]
    pub fn text(&self, look: Look) -> String {
        let mut out = String::new();
        for sentence in self.summary() {
            text::line(&mut out, &sentence);
        }
        text::findings(&mut out, &self.findings, look);
        if !self.skipped.is_empty() {
            text::line(&mut out, "");
            text::line(&mut out, "not read");
        }
        for skipped in self.skipped.iter().take(look.most) {
            text::line(&mut out, &format!("  {}: {}", where_it_is(skipped), harmless(&skipped.begins)));
            text::line(&mut out, &format!("    why: {}", harmless(&skipped.why)));
        }
        if self.skipped.len() > look.most {
            text::line(
                &mut out,
                &format!("  … {} more; --top or --json shows them", self.skipped.len() - look.most),
            );
        }
        out
    }

    /// For tickets and pages.
    #[must_use]
    pub fn markdown(&self) -> String {
        let mut out = String::from("# Keys in definitions\n\n");
        for sentence in self.summary() {
            out.push_str(&format!("* {}\n", markdown::cell(&sentence)));
        }
        markdown::findings(&mut out, &self.findings.iter().collect::<Vec<_>>());
        if !self.skipped.is_empty() {
            out.push_str("\n| not read | statement | why |\n|---|---|---|\n");
        }
        for skipped in self.skipped.iter().take(markdown::MOST) {
            let cells = [where_it_is(skipped), skipped.begins.clone(), skipped.why.clone()];
            out.push_str(&format!("| {} |\n", cells.map(|text| markdown::cell(&text)).join(" | ")));
        }
        if self.skipped.len() > markdown::MOST {
            out.push_str(&format!("\n… {} more\n", self.skipped.len() - markdown::MOST));
        }
        out
    }

    /// One SARIF log, whose locations are lines. Statements that weren't read are notifications of the run.
    #[must_use]
    pub fn sarif(&self) -> Value {
        sarif::of_lint(self)
    }
}

fn where_it_is(skipped: &Skipped) -> String {
    format!("{}:{}", harmless(&skipped.place.file), skipped.place.line)
}

#[derive(Serialize)]
struct Shown<'a> {
    dialect: &'static str,
    files: usize,
    statements: usize,
    tables: usize,
    skipped: Vec<SkippedShown<'a>>,
    findings: Vec<json::FindingShown<'a>>,
}

#[derive(Serialize)]
struct SkippedShown<'a> {
    file: &'a str,
    line: u64,
    statement: &'a str,
    why: &'a str,
}

fn skipped(skipped: &Skipped) -> SkippedShown<'_> {
    SkippedShown {
        file: &skipped.place.file,
        line: skipped.place.line,
        statement: &skipped.begins,
        why: &skipped.why,
    }
}
