//! For tickets and pages.

use super::{Level, NEARLY_FULL, Report, path, share};
use crate::checks::Finding;
use crate::names::harmless;
use std::fmt::Write as _;

/// Rows of a table at most; the rest is counted.
pub(super) const MOST: usize = 50;

pub(super) fn markdown(report: &Report) -> String {
    let mut out = String::new();
    let server = &report.server;
    let mut line = |text: String| writeln!(out, "{text}").expect("a String takes all text");
    line(format!("# Keys of {}", cell(&server.url)));
    line(String::new());
    line(format!("{} {}", server.dialect.name(), cell(&server.version)));
    line(String::new());
    for sentence in report.summary() {
        line(format!("* {}", cell(&sentence)));
    }
    let urgent = report.keys.iter().filter(|key| key.level < Level::Fine).count().max(10);
    if !report.keys.is_empty() {
        line(String::new());
        line("| key | type | used | current | limit | ends with |".to_owned());
        line("|---|---|--:|--:|--:|---|".to_owned());
    }
    for key in report.keys.iter().take(urgent.min(MOST)) {
        let used = key.ratio.map_or_else(|| "UNKNOWN".to_owned(), share);
        let current = match key.current {
            Some(current) => current.to_string(),
            None => cell(key.current_source.trim_start_matches("unknown: ")),
        };
        line(format!(
            "| {} | {} | {} | {current} | {} | {} |",
            cell(&key.path()),
            cell(&key.declared),
            cell(&used),
            key.limit,
            cell(&key.limited_by)
        ));
    }
    if report.keys.len() > urgent.min(MOST) {
        line(String::new());
        line(format!("… {} more keys", report.keys.len() - urgent.min(MOST)));
    }
    findings(
        &mut out,
        &report.findings.iter().filter(|finding| finding.code != NEARLY_FULL).collect::<Vec<_>>(),
    );
    out
}

/// A table of findings; of those that come from files, with their lines.
pub(super) fn findings(out: &mut String, findings: &[&Finding]) {
    let mut line = |text: String| writeln!(out, "{text}").expect("a String takes all text");
    if !findings.is_empty() {
        line(String::new());
        line("| severity | finding | where | what | next |".to_owned());
        line("|---|---|---|---|---|".to_owned());
    }
    for finding in findings.iter().take(MOST) {
        let place = match &finding.place {
            Some(place) => format!("{} ({}:{})", path(finding), place.file, place.line),
            None => path(finding),
        };
        line(format!(
            "| {} | {} | {} | {} | {} |",
            finding.severity.name(),
            finding.code,
            cell(&place),
            cell(&finding.message),
            cell(&finding.next)
        ));
    }
    if findings.len() > MOST {
        line(String::new());
        line(format!("… {} more findings", findings.len() - MOST));
    }
}

/// Text that is nothing but text in Markdown, and stays in its cell.
pub(super) fn cell(text: &str) -> String {
    let mut shown = String::new();
    for c in harmless(text).chars() {
        match c {
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' | '~' | '!' => {
                shown.push('\\');
                shown.push(c);
            }
            '<' => shown.push_str("&lt;"),
            '>' => shown.push_str("&gt;"),
            '&' => shown.push_str("&amp;"),
            c => shown.push(c),
        }
    }
    shown
}
