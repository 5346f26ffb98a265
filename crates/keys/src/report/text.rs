//! For people at a terminal: what a manager needs first, then keys with bars, then findings.

use super::{KeyLine, Level, NEARLY_FULL, Report, path, share};
use crate::checks::{Finding, Severity};
use crate::names::harmless;
use std::fmt::Write as _;

/// How much is shown, and whether in colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    /// Whether to colour.
    pub is_coloured: bool,
    /// Keys shown, and findings of a kind; those past a threshold are shown all the same.
    pub most: usize,
}

impl Default for Look {
    fn default() -> Self {
        Self { is_coloured: false, most: 10 }
    }
}

const BAR: usize = 20;

pub(super) fn text(report: &Report, look: Look) -> String {
    let mut out = String::new();
    let server = &report.server;
    let standby = if server.is_standby { ", a standby" } else { "" };
    line(
        &mut out,
        &format!(
            "{} {}{standby}  {}",
            server.dialect.name(),
            harmless(&server.version),
            harmless(&server.url)
        ),
    );
    for sentence in report.summary() {
        line(&mut out, &sentence);
    }
    let urgent = report.keys.iter().filter(|key| key.level < Level::Fine).count();
    let most = look.most.max(urgent.min(look.most.saturating_mul(100)));
    if !report.keys.is_empty() {
        line(&mut out, "");
    }
    for key in report.keys.iter().take(most) {
        key_lines(&mut out, key, look);
    }
    if report.keys.len() > most {
        line(&mut out, &format!("… {} more keys", report.keys.len() - most));
    }
    // What a bar says already isn't said again.
    let others = report.findings.iter().filter(|finding| finding.code != NEARLY_FULL);
    findings(&mut out, others, look);
    out
}

/// Findings by their codes, in the order in which they come.
pub(super) fn findings<'a>(out: &mut String, all: impl IntoIterator<Item = &'a Finding>, look: Look) {
    let mut by_code: Vec<(&str, Vec<&Finding>)> = Vec::new();
    for finding in all {
        match by_code.iter_mut().find(|(code, _)| *code == finding.code) {
            Some((_, findings)) => findings.push(finding),
            None => by_code.push((finding.code, vec![finding])),
        }
    }
    for (code, findings) in by_code {
        let worst = findings.iter().map(|finding| finding.severity).max().unwrap_or(Severity::Note);
        line(out, "");
        let head = format!("{} {code}", worst.name());
        line(out, &paint(look, severity_colour(worst), &head));
        for finding in findings.iter().take(look.most) {
            let place = match &finding.place {
                Some(place) => format!("{}:{}: ", harmless(&place.file), place.line),
                None => String::new(),
            };
            line(out, &format!("  {place}{}: {}", harmless(&path(finding)), harmless(&finding.message)));
            line(out, &format!("    next: {}", harmless(&finding.next)));
        }
        if findings.len() > look.most {
            line(out, &format!("  … {} more", findings.len() - look.most));
        }
    }
}

fn key_lines(out: &mut String, key: &KeyLine, look: Look) {
    let indent = " ".repeat(BAR + 11);
    let name = harmless(&key.path()).into_owned();
    let burn = match key.burn {
        Some(burn) if burn >= 2.0 => format!(", {burn:.0} numbers a row"),
        _ => String::new(),
    };
    match (key.ratio, key.current) {
        (Some(ratio), Some(current)) => {
            let colour = match key.level {
                Level::Fail => "31",
                Level::Warn => "33",
                Level::Unknown | Level::Fine => "32",
            };
            let about = match key.confidence {
                "lower bound" if key.current_source == "stats" => " at least (statistics)",
                "lower bound" => " at least",
                "close" => " at most (a standby or a cache is ahead)",
                _ => "",
            };
            line(
                out,
                &format!(
                    "{} {:>8}  {name}  {}, {current} of {}{about}{burn}",
                    paint(look, colour, &bar(ratio)),
                    share(ratio),
                    harmless(&key.declared),
                    key.limit
                ),
            );
            if key.level <= Level::Warn {
                line(out, &format!("{indent}ends with: {}", harmless(&key.limited_by)));
            }
        }
        _ => {
            line(
                out,
                &format!(
                    "{} {:>8}  {name}  {}, up to {}",
                    paint(look, "33", &"?".repeat(BAR)),
                    "UNKNOWN",
                    harmless(&key.declared),
                    key.limit
                ),
            );
            let why = key.current_source.trim_start_matches("unknown: ");
            line(out, &format!("{indent}needs: {}", harmless(why)));
        }
    }
    if let Some(next) = &key.next {
        line(out, &format!("{indent}next: {}", harmless(next)));
    }
}

/// Full blocks for what is used. What isn't nothing shows at least one, what isn't all leaves one free.
fn bar(ratio: f64) -> String {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 20")]
    let full = match (ratio * BAR as f64).round() as usize {
        0 if ratio > 0.001 => 1,
        full if full >= BAR && ratio < 1.0 => BAR - 1,
        full => full.min(BAR),
    };
    format!("{}{}", "█".repeat(full), "░".repeat(BAR - full))
}

const fn severity_colour(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "31",
        Severity::Warning => "33",
        Severity::Note => "36",
    }
}

fn paint(look: Look, code: &str, text: &str) -> String {
    if look.is_coloured { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
}

pub(super) fn line(out: &mut String, text: &str) {
    writeln!(out, "{}", text.trim_end()).expect("a String takes all text");
}
