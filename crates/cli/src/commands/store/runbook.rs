//! What a hold or a stop is, and what an operator does about it.

use super::paste::Paste;
use crate::reach::Trust;
use mintage_lease::request::{Hold, Shown};
use mintage_lease::space::{Kind, Terms};

/// Why the space hands nothing out, since when, and what to do, a step a line; nothing where it is in use.
pub(super) fn runbook(shown: &Shown, url: &str, trust: Trust) -> Vec<String> {
    let paste = Paste::of(url, &shown.space.name, trust);
    match &shown.space.kind {
        _ if shown.dropped.is_some() => Vec::new(),
        Kind::Windows(windows) if shown.state.is_on_hold(&windows.terms, shown.now) => {
            of_windows(shown, &windows.terms, &paste)
        }
        Kind::Blocks(_) | Kind::Scopes(_) if shown.state.block.is_stale => of_counters(shown, &paste),
        _ => Vec::new(),
    }
}

fn of_windows(shown: &Shown, terms: &Terms, paste: &Paste) -> Vec<String> {
    let until = terms.time_of(shown.state.floor);
    let mut lines = vec![
        format!(
            "{}: windows may have been granted that the store doesn't know any more",
            began("on hold", shown)
        ),
        format!(
            "until {until} nobody is granted a worker; who holds a live lease goes on; then the space goes on by itself"
        ),
        "after a restart or a failover there is nothing to do but to wait".to_owned(),
        "after a restore from a backup, burn again what was burned after it was made:".to_owned(),
        paste.command("burn-worker", &["WORKER"]),
    ];
    // No word of an operator ends that one.
    if shown.state.floor > shown.state.old_floor {
        lines.push(
            "if nothing was lost, no commit of the store and no clock, the hold can end now:".to_owned(),
        );
        lines.push(paste.command("release-hold", &[]));
    }
    lines
}

fn of_counters(shown: &Shown, paste: &Paste) -> Vec<String> {
    let mut lines = vec![format!(
        "{}: values may have been handed out that the store doesn't know any more",
        began("stopped", shown)
    )];
    if let Kind::Scopes(_) = shown.space.kind {
        lines.extend([
            "it hands out nothing until all scopes are moved on by more than any of them can have lost (`mintage store check --against` compares \
             them with a table):"
                .to_owned(),
            paste.command("bump", &["--by", "N"]),
        ]);
    } else {
        let next = shown.state.block.next;
        lines.extend([
            format!(
                "it hands out nothing until it is bumped above the highest value in use, by tables, logs and replicas; its next is {next}:"
            ),
            paste.command("bump", &["--to", "N"]),
        ]);
    }
    lines.push("if nothing was lost, no commit of the store, it can go on where it is:".to_owned());
    lines.push(paste.command("release-hold", &[]));
    lines
}

/// The state, since when, and why, as far as it was kept.
fn began(state: &str, shown: &Shown) -> String {
    match shown.hold {
        Some(Hold { why, began }) => format!("{state} since {began}, as {why}"),
        None => format!("{state}; why and since when isn't kept in tables of version 1"),
    }
}
