//! What was measured, as a table for people, as a Markdown table, and as one JSON object a line.

use crate::operations::Floor;
use crate::outcome::{Measured, Outcome};
use mintage_bench::report::{grouped, machine};
use std::fmt::Write as _;

/// The columns, and whether they hold numbers.
const COLUMNS: [(&str, bool); 8] = [
    ("operation", false),
    ("threads", true),
    ("ours", true),
    ("±", true),
    ("peer", false),
    ("theirs", true),
    ("±", true),
    ("ratio", true),
];
/// The last column: what the ratio is to be, and whether it is.
const TARGET: (&str, bool) = ("target", false);

type Cells = [String; COLUMNS.len() + 1];

/// One line for each operation and peer.
fn rows(measured: &Measured) -> Vec<Cells> {
    measured.outcomes.iter().flat_map(cells).collect()
}

fn cells(outcome: &Outcome) -> Vec<Cells> {
    let ours = &outcome.ours;
    let rows = outcome.rivals().map(|(rival, peer)| {
        let ratio = outcome.ratio(peer);
        let target = match rival.target {
            None => String::new(),
            Some(target) => format!("{target} {}", verdict(ratio <= target)),
        };
        [
            outcome.operation.name.to_owned(),
            ours.threads.to_string(),
            figure(ours.ns),
            figure(ours.spread),
            format!("{} {}", rival.peer.name, rival.peer.version()),
            figure(peer.ns),
            figure(peer.spread),
            format!("{ratio:.3}"),
            target,
        ]
    });
    rows.collect()
}

fn verdict(is_reached: bool) -> &'static str {
    if is_reached { "reached" } else { "missed" }
}

fn figure(ns: f64) -> String {
    format!("{ns:.2}")
}

/// Lines on rates: what the layouts' paces and the texts came to.
fn rates(measured: &Measured) -> Vec<String> {
    let mut lines = Vec::new();
    for outcome in &measured.outcomes {
        let (name, rate) = (outcome.operation.name, grouped(outcome.per_second()));
        if let Some((part, target)) = outcome.part() {
            let verdict = verdict(part >= target);
            let (part, target) = (part * 100.0, target * 100.0);
            lines.push(format!(
                "{name}: {rate} ids/s, {part:.1} % of what the layout has ({target:.0} %: {verdict})"
            ));
        } else if matches!(outcome.operation.floor, Floor::OfTheFastest { .. }) {
            lines.push(format!("{name}: {rate} ids/s"));
        }
    }
    if let Some((outcome, rate)) = measured.fastest() {
        let verdict = verdict(outcome.per_second() >= rate);
        lines.push(format!("the fastest of these texts: {} ids/s is the target ({verdict})", grouped(rate)));
    }
    lines
}

fn limits(measured: &Measured) -> Vec<String> {
    let line = |limit: &mintage_bench::timing::Row| format!("{}: {} ns", limit.operation, figure(limit.ns));
    measured.limits.iter().map(line).collect()
}

/// Columns, rates and limits, with a line that names the machine.
#[must_use]
pub fn table(measured: &Measured) -> String {
    let columns = || COLUMNS.into_iter().chain([TARGET]);
    let rows = rows(measured);
    let widths: Vec<usize> = columns()
        .enumerate()
        .map(|(i, (title, _))| {
            rows.iter().map(|row| row[i].chars().count()).max().unwrap_or(0).max(title.chars().count())
        })
        .collect();
    let line = |cells: &[String]| {
        let cells = cells.iter().zip(columns()).zip(&widths);
        let padded = cells.map(
            |((cell, (_, is_number)), &width)| {
                if is_number { format!("{cell:>width$}") } else { format!("{cell:width$}") }
            },
        );
        padded.collect::<Vec<_>>().join("  ").trim_end().to_owned() + "\n"
    };
    let mut text = format!("{}\n", machine());
    if !rows.is_empty() {
        text.push('\n');
        text.push_str(&line(&columns().map(|(title, _)| title.to_owned()).collect::<Vec<_>>()));
        rows.iter().for_each(|row| text.push_str(&line(row)));
        text.push_str("\nours, theirs: nanoseconds an id or text, median of the rounds, all threads together; ±: from the lower to the\n");
        text.push_str("upper quartile; ratio: ours divided by theirs, so below 1 ours is faster.\n");
    }
    for lines in [rates(measured), limits(measured)].iter().filter(|lines| !lines.is_empty()) {
        text.push('\n');
        lines.iter().for_each(|line| writeln!(text, "{line}").expect("a String takes all text"));
    }
    text
}

/// The same for a page.
#[must_use]
pub fn markdown(measured: &Measured) -> String {
    let columns = || COLUMNS.into_iter().chain([TARGET]);
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let mut text = line(columns().map(|(title, _)| title.to_owned()).collect());
    text.push_str(&line(
        columns().map(|(_, is_number)| if is_number { "--:" } else { "--" }.to_owned()).collect(),
    ));
    rows(measured).into_iter().for_each(|row| text.push_str(&line(row.to_vec())));
    for (title, lines) in [
        ("Rates, one core", rates(measured)),
        ("Limits of the machine", limits(measured)),
        ("Not reached in this run", measured.missed()),
    ] {
        writeln!(text, "\n{title}:\n").expect("a String takes all text");
        for line in if lines.is_empty() { vec!["nothing".to_owned()] } else { lines } {
            writeln!(text, "* {line}").expect("a String takes all text");
        }
    }
    text
}

/// One object a line for each operation and peer, then one for each limit, whose peer is `null`.
///
/// `operation`, `ours_ns`, `peer`, `peer_version`, `peer_ns`, `ratio` (ours divided by the peer's), `target` (the ratio to reach, or
/// `null`), `threads`, `clock`, `ours_spread_ns`, `peer_spread_ns`, `ours_per_s`, and where the layout sets a pace `part` of it and
/// `part_target`.
#[must_use]
pub fn json(measured: &Measured) -> String {
    let mut text = String::new();
    for outcome in &measured.outcomes {
        let (ours, name) = (&outcome.ours, outcome.operation.name);
        for (rival, peer) in outcome.rivals() {
            // Names are ours: ASCII without control characters, so Rust's quoting is JSON's.
            write!(
                text,
                r#"{{"operation":{name:?},"ours_ns":{:.3},"peer":{:?},"peer_version":{:?},"peer_ns":{:.3},"ratio":{:.4},"#,
                ours.ns,
                rival.peer.name,
                rival.peer.version(),
                peer.ns,
                outcome.ratio(peer)
            )
            .expect("a String takes all text");
            let target = rival.target.map_or_else(|| "null".to_owned(), |target| target.to_string());
            write!(
                text,
                r#""target":{target},"threads":{},"clock":"{}","ours_spread_ns":{:.3},"peer_spread_ns":{:.3},"ours_per_s":{:.0}"#,
                ours.threads,
                ours.clock,
                ours.spread,
                peer.spread,
                outcome.per_second()
            )
            .expect("a String takes all text");
            if let Some((part, target)) = outcome.part() {
                write!(text, r#","part":{part:.4},"part_target":{target}"#).expect("a String takes all text");
            }
            text.push_str("}\n");
        }
    }
    for limit in &measured.limits {
        writeln!(
            text,
            r#"{{"operation":{:?},"ours_ns":{:.3},"peer":null,"peer_version":null,"peer_ns":null,"ratio":null,"target":null,"threads":{},"clock":"{}","ours_spread_ns":{:.3}}}"#,
            limit.operation, limit.ns, limit.threads, limit.clock, limit.spread
        )
        .expect("a String takes all text");
    }
    text
}
