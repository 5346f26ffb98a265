//! For people at a terminal: what is behind first; and what a repair runs, as a script.

use super::standing::{By, Standing, Verdict};
use super::{Outlook, sql};
use crate::catalog::Dialect;
use crate::names::harmless;
use std::fmt::Write as _;

pub(super) fn text(outlook: &Outlook, all: bool, is_coloured: bool) -> String {
    let mut out = String::new();
    let server = &outlook.server;
    let standby = if server.is_standby { ", a standby" } else { "" };
    line(
        &mut out,
        "",
        &format!(
            "{} {}{standby}  {}",
            server.dialect.name(),
            harmless(&server.version),
            harmless(&server.url)
        ),
    );
    line(&mut out, "", &summary(outlook));
    let mut listed: Vec<&Standing> =
        outlook.standings.iter().filter(|standing| all || rank(standing) < 4).collect();
    listed.sort_by_key(|standing| rank(standing));
    for standing in listed {
        line(&mut out, "", "");
        let word = match rank(standing) {
            0 => paint(is_coloured, "31", "not repaired"),
            1 => paint(is_coloured, "31", "behind"),
            2 => paint(is_coloured, "33", "UNKNOWN"),
            3 => paint(is_coloured, "32", "repaired"),
            4 => "not judged".to_owned(),
            _ => paint(is_coloured, "32", "fine"),
        };
        line(&mut out, "", &format!("{word}  {}", harmless(&standing.path())));
        for said in said(outlook, standing) {
            line(&mut out, "    ", &harmless(&said));
        }
    }
    for stray in &outlook.strays {
        line(&mut out, "", "");
        line(&mut out, "", &format!("{}  {}", paint(is_coloured, "33", "UNKNOWN"), harmless(stray)));
    }
    for note in &outlook.notes {
        line(&mut out, "", "");
        line(&mut out, "", &format!("note: {note}"));
    }
    out
}

/// The worst first: refused, behind, unknown, repaired, not judged, fine.
fn rank(standing: &Standing) -> u8 {
    match (&standing.verdict, &standing.refused, &standing.repaired) {
        (_, Some(_), _) => 0,
        (Verdict::Behind { .. }, ..) => 1,
        (Verdict::Unknown { .. }, ..) => 2,
        (.., Some(_)) => 3,
        (Verdict::NotJudged { .. }, ..) => 4,
        (Verdict::Fine, ..) => 5,
    }
}

fn summary(outlook: &Outlook) -> String {
    let count = |name: &str| outlook.standings.iter().filter(|s| s.verdict.name() == name).count();
    let repaired = outlook.standings.iter().filter(|standing| standing.repaired.is_some()).count();
    let total = outlook.standings.len();
    if total == 0 {
        return "There are no sequences.".to_owned();
    }
    let mut parts = vec![format!("{} fine", count("fine"))];
    for (number, words) in [
        (repaired, "repaired now"),
        (count("behind"), "behind"),
        (count("unknown"), "UNKNOWN"),
        (count("not_judged"), "not judged"),
    ] {
        if number > 0 {
            parts.push(format!("{number} {words}"));
        }
    }
    format!("Of {total} sequence{}: {}.", if total == 1 { "" } else { "s" }, parts.join(", "))
}

fn said(outlook: &Outlook, standing: &Standing) -> Vec<String> {
    let mut said = Vec::new();
    let columns: Vec<String> = standing.columns.iter().map(|column| column.path.join(".")).collect();
    if !columns.is_empty() && !standing.is_counter {
        said.push(format!("feeds {}", columns.join(", ")));
    }
    match &standing.verdict {
        Verdict::Behind { by, next } => {
            let known = standing.known().map_or_else(String::new, |value| value.to_string());
            said.push(match by {
                By::Column => {
                    let value = standing.in_use.unwrap_or_default();
                    format!("hands out {next} next, and {value} is in use: ids are given twice, or inserts fail with a duplicate key")
                }
                By::Witness => {
                    let value = standing.witness.unwrap_or_default();
                    format!("hands out {next} next, and {value} was seen elsewhere: ids that are known outside are given again")
                }
                By::Gap => format!("hands out {next} next, less than the gap of {} past {known}", outlook.gap),
            });
        }
        Verdict::Unknown { why, next } => {
            said.push(why.clone());
            said.push(format!("to know it: {next}"));
        }
        Verdict::NotJudged { why } => said.push((*why).to_owned()),
        Verdict::Fine => {
            let next = standing.next().map_or_else(String::new, |next| format!("hands out {next} next"));
            let known =
                standing.known().map_or_else(|| "nothing is in use".to_owned(), |v| format!("{v} is in use"));
            said.push(format!("{next}; {known}"));
        }
    }
    if let Some((before, after)) = &standing.repaired {
        said.push(format!("set: {before} → {after}"));
    }
    if let Some(why) = &standing.refused {
        said.push(format!("not repaired: {why}"));
    } else if matches!(standing.verdict, Verdict::Behind { .. }) && standing.repaired.is_none() {
        said.push(match standing.reachable(outlook.gap) {
            Ok(target) => format!("--fix sets it to {target}"),
            Err(why) => format!("--fix can't help: {why}"),
        });
    }
    let was_moved = standing.repaired.is_some() || matches!(standing.verdict, Verdict::Behind { .. });
    if was_moved && standing.cache > 1 && outlook.server.dialect == Dialect::Postgres {
        said.push(format!(
            "CACHE {}: sessions that are open keep values that they took before; let them reconnect",
            standing.cache
        ));
    }
    said
}

/// All that a repair runs, with comments.
pub(super) fn script(outlook: &Outlook) -> String {
    let mut out = String::new();
    let count = outlook.planned().count();
    line(&mut out, "-- ", &format!("{}: {}", harmless(&outlook.server.url), summary(outlook)));
    if count == 0 {
        line(&mut out, "-- ", "nothing is to be repaired");
    }
    for standing in outlook.planned() {
        line(&mut out, "", "");
        line(&mut out, "-- ", &harmless(&standing.path()));
        let told = said(outlook, standing);
        for said in told.iter().filter(|said| !said.starts_with("--fix")) {
            line(&mut out, "-- ", &harmless(said));
        }
        match standing.reachable(outlook.gap) {
            Ok(target) => {
                line(&mut out, "-- ", &format!("as it is now, it is set to {target}"));
                out.push_str(&sql(outlook, standing, target));
            }
            Err(why) => line(&mut out, "-- ", &format!("no repair: {}", harmless(&why))),
        }
    }
    for standing in &outlook.standings {
        if let Verdict::Unknown { why, next } = &standing.verdict {
            line(&mut out, "", "");
            line(&mut out, "-- ", &format!("UNKNOWN {}: {}", harmless(&standing.path()), harmless(why)));
            line(&mut out, "-- ", &harmless(next));
        }
    }
    for said in outlook.strays.iter().chain(&outlook.notes) {
        line(&mut out, "", "");
        line(&mut out, "-- ", &harmless(said));
    }
    out
}

/// What repairs one.
pub(super) fn sql(outlook: &Outlook, standing: &Standing, target: i128) -> String {
    if outlook.server.dialect.is_mysql_like() {
        sql::mysql(standing, target, outlook.gap, outlook.server.dialect)
    } else {
        sql::postgres(standing, outlook.gap)
    }
}

fn paint(is_coloured: bool, code: &str, text: &str) -> String {
    if is_coloured { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
}

fn line(out: &mut String, indent: &str, text: &str) {
    writeln!(out, "{}", format!("{indent}{text}").trim_end()).expect("a String takes all text");
}
