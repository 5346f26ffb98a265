//! The tables of scenes and rules in docs/lease-proof.md, made from the lists.

use super::rules::{RULES, Rule, Without};
use super::scenes::{HandsOut, Left, SCENES, Scene, StoreClock};
use std::fmt::Write as _;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/lease-proof.md");
/// The tables, by the word that stands in the comments around each.
type Table = (&'static str, fn() -> String);

const TABLES: [Table; 2] = [("scenes", scenes), ("rules", rules)];

fn scenes() -> String {
    let mut text = String::from("\n| scene | what is in it | bounds |\n|---|---|---|\n");
    for Scene { name, about, hands_out, processes, clock, left, .. } in SCENES {
        let hands_out = match hands_out {
            HandsOut::Windows { workers, tick, window, skew, .. } => {
                format!("{workers} × worker, tick {tick}, window {window}, skew {skew}")
            }
            HandsOut::Blocks { last, most, gap } => {
                format!("values 0 to {last}, blocks up to {most}, gap {gap}")
            }
        };
        let clock = match clock {
            StoreClock::Any { last: 0 } => String::new(),
            StoreClock::Any { last } => format!("; the clock shows 0 to {last}"),
            StoreClock::Near { last, spread } => format!("; time 0 to {last}, clock 0 to {spread} ahead"),
        };
        let faults = faults(left);
        let _ = writeln!(text, "| {name} | {about} | {processes} processes; {hands_out}{clock}{faults} |");
    }
    text.push('\n');
    text
}

fn faults(left: &Left) -> String {
    let lost = if left.restores > 0 { left.writes } else { 0 };
    let each = [
        (left.delays, "late"),
        (left.doubles, "doubled"),
        (left.crashes, "crash"),
        (left.forks, "fork"),
        (left.copies, "copy"),
        (left.restores, "restore"),
        (lost, "writes since the copy"),
        (left.holds, "hold"),
        (left.burns, "burn"),
        (left.recreations, "re-creation"),
        (left.bumps, "bump"),
    ];
    each.iter().filter(|(times, _)| *times > 0).map(|(times, what)| format!("; {times} {what}")).collect()
}

fn rules() -> String {
    let mut text = String::from("\n| rule | without … | scene | what comes |\n|---|---|---|---|\n");
    for Rule { name, number, trace, scene, without, .. } in RULES {
        let number = if *number == 0 { "assumed".to_owned() } else { number.to_string() };
        let trace = trace.map(|trace| format!(" (trace {trace})")).unwrap_or_default();
        let what = match without {
            Without::Duplicate(_) => "**a duplicate**".to_owned(),
            Without::FalseAlarm(_) => "a hold or stop for nothing".to_owned(),
            Without::Nothing(why) => format!("nothing: {why}"),
        };
        // Writing to a string can't go wrong.
        let _ = writeln!(text, "| {number} | {name}{trace} | {scene} | {what} |");
    }
    text.push('\n');
    text
}

/// With `MINTAGE_WRITE_PAGE=1` it writes the tables instead.
#[test]
fn the_page_shows_what_is_on_the_lists() {
    let found = std::fs::read_to_string(PAGE).unwrap();
    let page = TABLES.iter().fold(found.clone(), |page, (word, table)| {
        let (begin, end) = (format!("<!-- {word} begin -->\n"), format!("<!-- {word} end -->\n"));
        let (before, rest) = page.split_once(&begin).unwrap();
        let (_, after) = rest.split_once(&end).unwrap();
        format!("{before}{begin}{}{end}{after}", table())
    });
    if std::env::var_os("MINTAGE_WRITE_PAGE").is_some() {
        std::fs::write(PAGE, page).unwrap();
    } else {
        assert!(found == page, "docs/lease-proof.md is stale; run this test with MINTAGE_WRITE_PAGE=1");
    }
}
