//! `mintage store manifest`: what the spaces of regions may hand out, and whether two could hand out the same id.

use super::create::{Object, facts_json, summary};
use crate::exit::{Failure, Outcome, usage};
use crate::output::{self, Palette};
use crate::reach::{self, Trust};
use clap::Args;
use mintage::UnixNanos;
use mintage_lease::Space;
use mintage_lease::manifest::{Entry, conflicts};
use mintage_lease::store::redacted;
use serde::{Deserialize, Serialize};
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

/// The version of a manifest's lines.
const VERSION: u32 = 1;

/// The first line of a manifest, by which one that was cut off shows.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Head {
    manifest: u32,
    /// How many lines of spaces follow.
    spaces: usize,
}

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
            let with_ids =
                spaces.into_iter().filter(|shown| shown.dropped.is_none() || shown.state.has_issued());
            entries.extend(with_ids.map(|shown| Entry {
                store: store.url().to_owned(),
                space: shown.space,
                dropped: shown.dropped,
            }));
        }
        for file in files {
            entries.extend(read(file)?);
        }
        if self.check.is_some() { self.compared(&entries) } else { self.listed(&entries) }
    }

    fn listed(&self, entries: &[Entry]) -> Result<Outcome, Failure> {
        let mut out = output::stdout();
        let mut lines = vec![["SPACE", "STORE", "ID", "WHAT"].map(str::to_owned).to_vec()];
        if self.json {
            output::json_line(&mut out, &Head { manifest: VERSION, spaces: entries.len() })?;
        }
        for Entry { store, space, dropped } in entries {
            if self.json {
                let mut object = Object::default();
                object.put("store", store.as_str());
                if let Some(dropped) = dropped {
                    object.put("dropped", dropped.to_string());
                }
                object.0.extend(facts_json(space).0);
                output::json_line(&mut out, &object)?;
            } else {
                let dropped = dropped.map_or_else(String::new, |dropped| format!("dropped at {dropped}; "));
                let what = format!("{dropped}{}", summary(space));
                let words = [space.name.clone(), store.clone(), space.id.to_string(), what];
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

/// The spaces of a file: of one manifest, or of several one after the other.
fn read(file: &Path) -> Result<Vec<Entry>, Failure> {
    let fault = |what: String| usage(format!("{}: {what}", file.display()));
    if let Some(url) = file.to_str().filter(|word| reach::is_url(word)) {
        let url = redacted(url);
        return Err(usage(format!(
            "{url} is the URL of a store, and --check takes files; put it in front of --check"
        )));
    }
    let size = std::fs::metadata(file).map_err(|error| fault(error.to_string()))?.len();
    if size > LARGEST {
        return Err(fault(format!("{size} bytes, at most {LARGEST} expected of a manifest")));
    }
    let text = std::fs::read_to_string(file).map_err(|error| fault(error.to_string()))?;
    let mut lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let mut entries = Vec::new();
    let mut has_head = false;
    while let Some((at, line)) = lines.next() {
        let Ok(head) = serde_json::from_str::<Head>(line) else {
            let expected = "the first line of `mintage store manifest --json` expected, which tells how many spaces follow";
            return Err(fault(format!("line {}: {expected}", at + 1)));
        };
        if head.manifest != VERSION {
            return Err(fault(format!("line {}: manifest {}, {VERSION} expected", at + 1, head.manifest)));
        }
        has_head = true;
        for number in 0..head.spaces {
            let Some((at, line)) = lines.next() else {
                return Err(fault(format!(
                    "cut off: {number} of {} spaces are there; make it anew",
                    head.spaces
                )));
            };
            let wrong = |what| {
                fault(format!("line {}: {what}; a line of `mintage store manifest --json` expected", at + 1))
            };
            entries.push(entry(line).map_err(wrong)?);
        }
    }
    if !has_head {
        return Err(fault("empty; what `mintage store manifest --json` printed expected".to_owned()));
    }
    Ok(entries)
}

fn entry(line: &str) -> Result<Entry, String> {
    let object: Map<String, Value> = serde_json::from_str(line).map_err(|error| error.to_string())?;
    let text = |name: &str| object.get(name).and_then(Value::as_str).map(str::to_owned);
    let store = text("store").ok_or("no store")?;
    let id = text("id").and_then(|id| id.parse().ok()).ok_or("no id that is a UUID")?;
    let space = Space::from_facts(id, &|name| text(name))
        .map_err(|name| format!("no {name}, or one that can't be read"))?;
    let dropped = match object.get("dropped") {
        None => None,
        Some(time) => {
            let time = time.as_str().and_then(|time| UnixNanos::parse(time).ok());
            Some(time.ok_or("dropped, which isn't a time")?)
        }
    };
    Ok(Entry { store, space, dropped })
}
