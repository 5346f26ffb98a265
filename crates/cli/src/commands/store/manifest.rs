//! `mintage store manifest`: what the spaces of regions may hand out, and whether two could hand out the same id.

use super::create::{Object, facts_json, summary};
use crate::exit::{Failure, Outcome, usage};
use crate::output::{self, Palette};
use crate::reach::{self, Trust};
use clap::Args;
use mintage_lease::Space;
use mintage_lease::manifest::{Entry, conflicts};
use serde::Serialize;
use serde_json::{Map, Value};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Print what the spaces of these stores may hand out: UUID, scheme, layout, epoch, tick, workers, or values with step and offset.
///
/// With --check it compares them, with those of the files: two spaces of one name or one UUID in two stores that could hand out the same id are
/// found, and the command exits 1. A file is what --json printed elsewhere.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  mintage store manifest postgres://eu/ids --json > eu.ndjson\n  mintage store manifest postgres://us/ids --check eu.ndjson asia.ndjson"
)]
pub(crate) struct Manifest {
    /// The stores' URLs, unless MINTAGE_STORE has one
    #[arg(value_name = "URL")]
    urls: Vec<String>,
    /// Compare them with each other and with those of these files
    #[arg(long, value_name = "FILE", num_args = 0..)]
    check: Option<Vec<PathBuf>>,
    #[command(flatten)]
    trust: Trust,
    /// One JSON object a line
    #[arg(long)]
    json: bool,
}

/// A file that is larger is no manifest.
const LARGEST: u64 = 16 << 20;

#[derive(Serialize)]
struct Found<'a> {
    space: &'a str,
    first: &'a str,
    second: &'a str,
    what: &'a str,
    next_step: &'a str,
}

impl Manifest {
    pub(crate) fn run(self) -> Result<Outcome, Failure> {
        let files = self.check.as_deref().unwrap_or_default();
        let urls = match (self.urls.as_slice(), files) {
            ([], []) => vec![reach::url(None)?],
            (urls, _) => urls.to_vec(),
        };
        let mut entries = Vec::new();
        for url in &urls {
            let store = self.trust.open(url)?;
            let spaces = reach::wait(async { Ok(store.list(reach::soon()).await?) })?;
            let in_use = spaces.into_iter().filter(|shown| shown.dropped.is_none());
            entries.extend(in_use.map(|shown| Entry { store: store.url().to_owned(), space: shown.space }));
        }
        for file in files {
            entries.extend(read(file)?);
        }
        if self.check.is_some() { self.compared(&entries) } else { self.listed(&entries) }
    }

    fn listed(&self, entries: &[Entry]) -> Result<Outcome, Failure> {
        let mut out = output::stdout();
        let mut lines = vec![["SPACE", "STORE", "ID", "WHAT"].map(str::to_owned).to_vec()];
        for Entry { store, space } in entries {
            if self.json {
                let mut object = Object::default();
                object.put("store", store.as_str());
                object.0.extend(facts_json(space).0);
                output::json_line(&mut out, &object)?;
            } else {
                let words = [space.name.clone(), store.clone(), space.id.to_string(), summary(space)];
                lines.push(words.to_vec());
            }
        }
        if !self.json {
            output::columns(&mut out, &lines, Palette::of_stdout())?;
        }
        out.flush()?;
        Ok(Outcome::Done)
    }

    fn compared(&self, entries: &[Entry]) -> Result<Outcome, Failure> {
        let found = conflicts(entries);
        let mut out = output::stdout();
        for conflict in &found {
            if self.json {
                let (space, first, second) = (&conflict.space, &conflict.first, &conflict.second);
                let (what, next_step) = (&conflict.what, conflict.next_step);
                output::json_line(&mut out, &Found { space, first, second, what, next_step })?;
            } else {
                writeln!(out, "{}", output::harmless_line(&conflict.to_string()))?;
            }
        }
        if found.is_empty() && !self.json {
            writeln!(out, "{} spaces compared; no two of them could hand out the same id", entries.len())?;
        }
        out.flush()?;
        Ok(if found.is_empty() { Outcome::Done } else { Outcome::Found })
    }
}

/// The spaces of a file.
fn read(file: &Path) -> Result<Vec<Entry>, Failure> {
    let fault = |what: String| usage(format!("{}: {what}", file.display()));
    let size = std::fs::metadata(file).map_err(|error| fault(error.to_string()))?.len();
    if size > LARGEST {
        return Err(fault(format!("{size} bytes, at most {LARGEST} expected of a manifest")));
    }
    let text = std::fs::read_to_string(file).map_err(|error| fault(error.to_string()))?;
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(at, line)| {
            entry(line).map_err(|what| {
                fault(format!("line {}: {what}; a line of `mintage store manifest --json` expected", at + 1))
            })
        })
        .collect()
}

fn entry(line: &str) -> Result<Entry, String> {
    let object: Map<String, Value> = serde_json::from_str(line).map_err(|error| error.to_string())?;
    let text = |name: &str| object.get(name).and_then(Value::as_str).map(str::to_owned);
    let store = text("store").ok_or("no store")?;
    let id = text("id").and_then(|id| id.parse().ok()).ok_or("no id that is a UUID")?;
    let space = Space::from_facts(id, &|name| text(name))
        .map_err(|name| format!("no {name}, or one that can't be read"))?;
    Ok(Entry { store, space })
}
