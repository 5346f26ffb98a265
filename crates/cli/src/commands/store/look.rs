//! What a store holds: spaces, workers, and whether it is as leases need it.

use super::create::{Object, facts_json, summary};
use super::runbook::runbook;
use super::scopes::Against;
use crate::exit::{Failure, Outcome, usage};
use crate::output::{self, Palette};
use crate::quantities::share;
use crate::reach::{self, Trust};
use clap::Args;
use mintage_lease::ending::{Ending, ending_text};
use mintage_lease::headroom::{Ends, Headroom, Limits, Verdict};
use mintage_lease::request::{Hold, Shown};
use mintage_lease::space::{Kind, length};
use mintage_lease::state::WorkerRow;
use mintage_lease::store::{CheckLine, Desk, redacted};
use mintage_lease::stores::STORES;
use serde::Serialize;
use serde_json::json;
use std::io::Write;
use std::sync::Arc;

/// List the spaces of a store.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  mintage store list sqlite:ids.db")]
pub(crate) struct List {
    /// The store's URL, unless MINTAGE_STORE has it
    url: Option<String>,
    /// Those that were dropped too
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    trust: Trust,
    /// One JSON object a line
    #[arg(long)]
    json: bool,
}

impl List {
    pub(crate) fn run(self) -> Result<Outcome, Failure> {
        let store = self.trust.open(&reach::url(self.url.as_deref())?)?;
        let mut spaces = reach::wait(async { Ok(store.list(reach::soon()).await?) })?;
        spaces.retain(|shown| self.all || shown.dropped.is_none());
        let mut out = output::stdout();
        if self.json {
            for shown in &spaces {
                output::json_line(&mut out, &space_json(shown))?;
            }
        } else {
            let mut lines: Vec<Vec<String>> =
                vec![["SPACE", "STATE", "HELD", "WHAT"].map(str::to_owned).to_vec()];
            lines.extend(spaces.iter().map(|shown| {
                let held = shown.space.windows().map(|_| held(shown).to_string()).unwrap_or_default();
                vec![shown.space.name.clone(), state(shown), held, summary(&shown.space)]
            }));
            output::columns(&mut out, &lines, Palette::of_stdout())?;
        }
        out.flush()?;
        Ok(Outcome::Done)
    }
}

/// Show a space: its facts, which never change, and its row.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  mintage store show sqlite:ids.db orders")]
pub(crate) struct Show {
    /// The store's URL, unless MINTAGE_STORE has it, and the space's name
    #[arg(value_names = ["URL", "SPACE"], num_args = 1..=2, required = true)]
    place: Vec<String>,
    #[command(flatten)]
    trust: Trust,
    /// One JSON object
    #[arg(long)]
    json: bool,
}

impl Show {
    pub(crate) fn run(self) -> Result<Outcome, Failure> {
        let shown = shown(&self.place, self.trust)?;
        let (url, [_]) = reach::url_and(&self.place, "the space's name")?;
        let mut out = output::stdout();
        let mut object = space_json(&shown);
        let runbook = runbook(&shown, &url, self.trust);
        if self.json {
            object.put("runbook", runbook);
            output::json_line(&mut out, &object)?;
        } else {
            let width = object.0.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
            for (name, value) in &object.0 {
                let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                writeln!(out, "{name:<width$}  {}", output::harmless_line(&text))?;
            }
            if !runbook.is_empty() {
                writeln!(out)?;
            }
            for line in runbook {
                writeln!(out, "{}", output::harmless_line(&line))?;
            }
        }
        out.flush()?;
        Ok(Outcome::Done)
    }
}

/// List the workers of a space that were ever granted.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  mintage store workers sqlite:ids.db orders")]
pub(crate) struct Workers {
    /// The store's URL, unless MINTAGE_STORE has it, and the space's name
    #[arg(value_names = ["URL", "SPACE"], num_args = 1..=2, required = true)]
    place: Vec<String>,
    #[command(flatten)]
    trust: Trust,
    /// One JSON object a line
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct WorkerShown<'a> {
    worker: String,
    state: &'static str,
    mark: String,
    mark_time: String,
    serial: String,
    host: &'a str,
}

impl Workers {
    pub(crate) fn run(self) -> Result<Outcome, Failure> {
        let shown = shown(&self.place, self.trust)?;
        let Some(windows) = shown.space.windows() else {
            let (name, kind) = (&shown.space.name, shown.space.kind.name());
            return Err(usage(format!("{name}: a space of {kind} has no workers")));
        };
        let mut out = output::stdout();
        let mut lines =
            vec![["WORKER", "STATE", "MARK", "UNTIL", "SERIAL", "HOST"].map(str::to_owned).to_vec()];
        for row in &shown.workers {
            let line = WorkerShown {
                worker: row.worker.to_string(),
                state: worker_state(&shown, row),
                mark: row.mark.to_string(),
                mark_time: windows.terms.time_of(row.mark).to_string(),
                serial: row.serial.to_string(),
                host: &row.host,
            };
            if self.json {
                output::json_line(&mut out, &line)?;
            } else {
                let WorkerShown { worker, state, mark, mark_time, serial, host } = line;
                lines.push(vec![worker, state.to_owned(), mark, mark_time, serial, host.to_owned()]);
            }
        }
        if !self.json {
            output::columns(&mut out, &lines, Palette::of_stdout())?;
        }
        out.flush()?;
        Ok(Outcome::Done)
    }
}

/// Look at what leases rely on: durability, clock, versions, privileges, and how much of each space is used. Exits 1 when something isn't
/// as they need it.
///
/// A space is worth a warning from --warn on, or when it ends within two years: its time field, or its counter at the highest rate seen. It is
/// bad from --fail on, or when its time field ends within 30 days. With --against, the scopes of a space are compared with the numbers that a
/// table has: nothing is written there, and one query reads it.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  mintage store check sqlite:ids.db\n  mintage store check --fail 90% --json sqlite:ids.db\n  \
                  mintage store check sqlite:ids.db issues --against postgres://app@localhost/shop --table issues --column number --by project_id"
)]
pub(crate) struct Check {
    /// The store's URL, unless MINTAGE_STORE has it; with --against, the space's name too
    #[arg(value_names = ["URL", "SPACE"], num_args = 0..=2)]
    place: Vec<String>,
    /// The share of a space from which it is worth a warning: 25%, 0.25
    #[arg(long, value_name = "SHARE", default_value = "25%", value_parser = share)]
    warn: f64,
    /// The share from which the exit code is 1
    #[arg(long, value_name = "SHARE", default_value = "50%", value_parser = share)]
    fail: f64,
    #[command(flatten)]
    against: Against,
    #[command(flatten)]
    trust: Trust,
    /// One JSON object a line
    #[arg(long)]
    json: bool,
}

impl Check {
    pub(crate) fn run(self) -> Result<Outcome, Failure> {
        let limits = Limits { warn: self.warn, fail: self.fail };
        if limits.fail < limits.warn {
            return Err(usage(format!(
                "--fail {}% is below --warn {}%; a space is worth a warning first",
                limits.fail * 100.0,
                limits.warn * 100.0
            )));
        }
        let (url, space) = match (&self.against.against, self.place.as_slice()) {
            (None, []) => (reach::url(None)?, None),
            (None, [url]) => (url.clone(), None),
            (None, _) => {
                return Err(usage("a space is named for --against; without it the whole store is looked at"));
            }
            (Some(_), place) => {
                let (url, [name]) = reach::url_and(place, "the space's name")?;
                (url, Some(name))
            }
        };
        let store = self.trust.open(&url)?;
        let lines = reach::wait(async {
            let lines = store.check(reach::soon()).await?;
            let spaces = store.list(reach::soon()).await?;
            let in_use = spaces.iter().filter(|shown| shown.dropped.is_none());
            let mut lines: Vec<Looked> = lines.into_iter().map(Looked::from).collect();
            lines.extend(in_use.filter_map(|shown| Looked::at_what_is_left(shown, limits)));
            if let Some(name) = &space {
                let desk = Desk::open(Arc::clone(&store), name, reach::soon()).await?;
                let shown = store.show(name, reach::soon()).await?;
                lines.extend(self.against.look(&desk, &shown, &url, self.trust).await?);
            }
            Ok(lines)
        })?;
        let mut out = output::stdout();
        let palette = Palette::of_stdout();
        for line in &lines {
            if self.json {
                output::json_line(&mut out, line)?;
            } else {
                let mark = match line {
                    Looked { good: false, .. } => palette.warning("bad "),
                    Looked { warning: true, .. } => palette.warning("warn"),
                    _ => "good".to_owned(),
                };
                writeln!(out, "{mark}  {}: {}", line.what, output::harmless_line(&line.found))?;
            }
        }
        out.flush()?;
        Ok(if lines.iter().all(|line| line.good) { Outcome::Done } else { Outcome::Found })
    }
}

/// One thing that was looked at.
#[derive(Serialize)]
pub(super) struct Looked {
    pub(super) what: &'static str,
    pub(super) good: bool,
    /// It is good, and won't be for ever, or not all was looked at.
    pub(super) warning: bool,
    pub(super) found: String,
}

impl From<CheckLine> for Looked {
    fn from(line: CheckLine) -> Self {
        Self { what: line.what, good: line.is_good, warning: false, found: line.found }
    }
}

impl Looked {
    /// How much of a space is used, and when it ends. Rule 7.
    fn at_what_is_left(shown: &Shown, limits: Limits) -> Option<Self> {
        let headroom = Headroom::of(shown)?;
        let verdict = headroom.verdict(limits, shown.now);
        let (what, end) = match (headroom.what, headroom.ends_at) {
            (Ends::TimeField, _) => ("time field", time_field_text(shown)),
            (Ends::Counter, Some(end)) => {
                let end = end.rfc3339(0).map(|end| end.to_string()).unwrap_or_default();
                ("counter", format!("at the highest rate seen in a minute the counter ends at {end}"))
            }
            (Ends::Counter, None) if shown.space.scopes().is_some() => {
                ("counter", "that is its furthest scope".to_owned())
            }
            (Ends::Counter, None) => ("counter", "its end isn't in sight".to_owned()),
        };
        let next_step = match (headroom.what, verdict) {
            (Ends::Counter, Verdict::Warned | Verdict::Bad) => {
                "; make a space with a larger last value, and let writers move to it"
            }
            _ => "",
        };
        let found = format!("{}: {:.1} % used; {end}{next_step}", shown.space.name, headroom.used * 100.0);
        Some(Self { what, good: verdict < Verdict::Bad, warning: verdict == Verdict::Warned, found })
    }
}

/// The end of a time field, with the next step where it is near.
fn time_field_text(shown: &Shown) -> String {
    let Some(terms) = shown.space.windows().map(|windows| &windows.terms) else { return String::new() };
    match Ending::of(terms, shown.now) {
        Ending::Far => format!("the time field ends at {}", terms.ends_at()),
        Ending::Near | Ending::Close => ending_text(terms, shown.now),
    }
}

/// Print the tables of a store, and what a role needs, for those who make them by hand.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  mintage store schema sqlite")]
pub(crate) struct Schema {
    /// A store's URL, or what it begins with
    url: Option<String>,
    /// One JSON object
    #[arg(long)]
    json: bool,
}

impl Schema {
    pub(crate) fn run(self) -> Result<Outcome, Failure> {
        let url = reach::url(self.url.as_deref())?;
        let scheme = url.split(':').next().unwrap_or_default();
        let Some(entry) = STORES.iter().find(|entry| entry.url_schemes.contains(&scheme)) else {
            let known: Vec<&str> = STORES.iter().flat_map(|entry| entry.url_schemes).copied().collect();
            return Err(usage(format!("{}: no such store; there are {}", redacted(&url), known.join(", "))));
        };
        let mut out = output::stdout();
        let text = (entry.schema)();
        match self.json {
            true => output::json_line(&mut out, &json!({ "store": scheme, "schema": text }))?,
            false => writeln!(out, "{}", text.trim_end())?,
        }
        out.flush()?;
        Ok(Outcome::Done)
    }
}

fn shown(place: &[String], trust: Trust) -> Result<Shown, Failure> {
    let (url, [name]) = reach::url_and(place, "the space's name")?;
    let store = trust.open(&url)?;
    reach::wait(async { Ok(store.show(&name, reach::soon()).await?) })
}

/// Workers whose windows haven't passed.
fn held(shown: &Shown) -> usize {
    shown.workers.iter().filter(|row| worker_state(shown, row) == "held").count()
}

fn worker_state(shown: &Shown, row: &WorkerRow) -> &'static str {
    match shown.space.windows() {
        _ if row.is_burned => "burned",
        Some(windows) if windows.terms.is_after(row.mark, shown.now) => "held",
        _ => "free",
    }
}

/// In use, on hold, stopped or dropped.
fn state(shown: &Shown) -> String {
    if let Some(dropped) = shown.dropped {
        return format!("dropped at {dropped}");
    }
    match &shown.space.kind {
        Kind::Windows(windows) if shown.state.is_on_hold(&windows.terms, shown.now) => {
            format!("on hold until {}", windows.terms.time_of(shown.state.floor))
        }
        Kind::Blocks(_) | Kind::Scopes(_) if shown.state.block.is_stale => {
            "stopped until it is bumped or its hold is released".to_owned()
        }
        _ => "in use".to_owned(),
    }
}

fn space_json(shown: &Shown) -> Object {
    let mut object = facts_json(&shown.space);
    let row = &shown.state;
    object.put("state", state(shown));
    object.put("now", shown.now.to_string());
    object.put("serial", row.serial.to_string());
    object.put("holds", row.holds.to_string());
    if let Some(Hold { why, began }) = shown.hold {
        object.put("last_hold", why.to_string());
        object.put("last_hold_began", began.to_string());
    }
    object.put("restart_hold", row.restart_hold);
    match &shown.space.kind {
        Kind::Windows(windows) => {
            object.put("floor", row.floor.to_string());
            object.put("old_floor", row.old_floor.to_string());
            object.put("high_mark", row.high_mark.to_string());
            object.put("workers_granted", shown.workers.len());
            object.put("workers_held", held(shown));
            object.put("window", length(windows.terms.timing.window_nanos));
        }
        Kind::Scopes(_) => {
            object.put("a_new_scope_begins_with", row.block.next.to_string());
            object.put("furthest", row.high_mark.to_string());
            object.put("jumps", row.block.jumps.to_string());
            object.put("jumped", row.block.jumped.to_string());
        }
        Kind::Blocks(_) => {
            object.put("next", row.block.next.to_string());
            object.put("jumps", row.block.jumps.to_string());
            object.put("jumped", row.block.jumped.to_string());
            object.put("largest_block", row.block.largest.to_string());
        }
    }
    object
}
