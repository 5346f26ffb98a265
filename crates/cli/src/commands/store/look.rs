//! What a store holds: spaces, workers, and whether it is as leases need it.

use super::create::{Object, facts_json, summary};
use crate::exit::{Failure, Outcome, usage};
use crate::output::{self, Palette};
use crate::reach::{self, Trust};
use clap::Args;
use mintage_lease::ending::{Ending, ending_text};
use mintage_lease::request::Shown;
use mintage_lease::space::{Kind, length};
use mintage_lease::state::WorkerRow;
use mintage_lease::store::{CheckLine, redacted};
use mintage_lease::stores::STORES;
use serde::Serialize;
use serde_json::json;
use std::io::Write;

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
        let mut out = output::stdout();
        let object = space_json(&shown);
        if self.json {
            output::json_line(&mut out, &object)?;
        } else {
            let width = object.0.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
            for (name, value) in &object.0 {
                let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                writeln!(out, "{name:<width$}  {}", output::harmless_line(&text))?;
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
            return Err(usage(format!("{}: a space of blocks has no workers", shown.space.name)));
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

/// Look at what leases rely on: durability, clock, versions, privileges, and the ends of time fields. Exits 1 when something isn't as
/// they need it.
///
/// A time field that ends within two years is a warning, within 30 days it is bad.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  mintage store check sqlite:ids.db")]
pub(crate) struct Check {
    /// The store's URL, unless MINTAGE_STORE has it
    url: Option<String>,
    #[command(flatten)]
    trust: Trust,
    /// One JSON object a line
    #[arg(long)]
    json: bool,
}

impl Check {
    pub(crate) fn run(self) -> Result<Outcome, Failure> {
        let url = reach::url(self.url.as_deref())?;
        let store = self.trust.open(&url)?;
        let (lines, spaces) = reach::wait(async {
            let lines = store.check(reach::soon()).await?;
            Ok((lines, store.list(reach::soon()).await?))
        })?;
        let mut lines: Vec<Looked> = lines.into_iter().map(Looked::from).collect();
        lines.extend(spaces.iter().filter(|shown| shown.dropped.is_none()).filter_map(Looked::at_the_end_of));
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
struct Looked {
    what: &'static str,
    good: bool,
    /// It is good, and won't be for ever.
    warning: bool,
    found: String,
}

impl From<CheckLine> for Looked {
    fn from(line: CheckLine) -> Self {
        Self { what: line.what, good: line.is_good, warning: false, found: line.found }
    }
}

impl Looked {
    /// The end of a space's time field. Rule 7.
    fn at_the_end_of(shown: &Shown) -> Option<Self> {
        let terms = &shown.space.windows()?.terms;
        let ending = Ending::of(terms, shown.now);
        let found = match ending {
            Ending::Far => format!("{}: the time field ends at {}", shown.space.name, terms.ends_at()),
            Ending::Near | Ending::Close => {
                format!("{}: {}", shown.space.name, ending_text(terms, shown.now))
            }
        };
        let (good, warning) = (ending < Ending::Close, ending == Ending::Near);
        Some(Self { what: "time field", good, warning, found })
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
        Kind::Blocks(_) if shown.state.block.is_stale => {
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
        Kind::Blocks(_) => {
            object.put("next", row.block.next.to_string());
            object.put("jumps", row.block.jumps.to_string());
            object.put("jumped", row.block.jumped.to_string());
            object.put("largest_block", row.block.largest.to_string());
        }
    }
    object
}
