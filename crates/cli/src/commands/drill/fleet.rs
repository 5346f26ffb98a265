//! Processes that mint in a store of the user's, on a scratch space, while they are stopped, killed or cut off: every id is counted.

use super::stop::Stop;
use super::telling::Telling;
use crate::exit::{Failure, Outcome, usage};
use crate::quantities;
use crate::reach;
use anyhow::Context;
use clap::Args;
use mintage::{Entropy, SystemEntropy};
use mintage_lease::Error;
use mintage_lease::store::{OpenOptions, open, redacted};
use mintage_servers::place::Folder;
use mintage_testkit::soak::cuttable::can_be_cut;
use mintage_testkit::soak::report::Report;
use mintage_testkit::soak::store::{FilePlace, Kind, Whose};
use mintage_testkit::soak::{self, FAULTS, Fault, Options};
use serde::Serialize;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// What is done to the processes.
pub(super) struct Drill {
    /// Its name, as on the command line.
    name: &'static str,
    /// Its faults, by name.
    faults: &'static [&'static str],
    /// How a store of the user's is reached.
    theirs: fn(String) -> Result<Whose, Failure>,
}

/// Processes that stand for longer than their leases.
pub(super) const PAUSE: Drill =
    Drill { name: "pause", faults: &["paused"], theirs: |url| Ok(Whose::Theirs(url)) };

/// Processes that are killed.
pub(super) const CRASH: Drill =
    Drill { name: "crash", faults: &["killed", "all-killed"], theirs: |url| Ok(Whose::Theirs(url)) };

/// Processes whose network is cut, or keeps back what they say.
pub(super) const PARTITION: Drill =
    Drill { name: "partition", faults: &["cut", "stalled"], theirs: through_proxies };

/// Processes whose store is put back to what it was a while ago.
pub(super) const RESTORE: Drill = Drill {
    name: "restore",
    faults: &["copied-back", "copied-back-with-side-car", "renamed-over", "restored", "promoted", "put-back"],
    theirs: copy_of,
};

fn through_proxies(url: String) -> Result<Whose, Failure> {
    if url.starts_with("sqlite:") {
        return Err(usage(
            "a store in a file isn't reached by a network, so none can be cut; `drill pause` lets processes stand still",
        ));
    }
    can_be_cut(&url).map_err(|error| usage(format!("{}: {error:#}", redacted(&url))))?;
    Ok(Whose::TheirsThroughProxies(url))
}

/// A restore sets back all that a store holds: of a file a copy will do, of a server none can be had.
fn copy_of(url: String) -> Result<Whose, Failure> {
    let path = url.strip_prefix("sqlite:").ok_or_else(|| {
        let kinds: Vec<&str> = Kind::ALL.iter().map(|kind| kind.name()).collect();
        usage(format!(
            "{}: a restore would set back all that is in this server; name sqlite:PATH, of which a copy suffers it, or the kind of a \
             throw-away store: {}",
            redacted(&url),
            kinds.join(", ")
        ))
    })?;
    Ok(Whose::CopyOf(path.into()))
}

/// Flags of all of them.
#[derive(Debug, Args)]
pub(crate) struct Fleet {
    /// The store's URL, unless MINTAGE_STORE has it; or sqlite, postgres, mariadb, etcd or zookeeper for a throw-away store of the drill's own
    store: Option<String>,
    /// Processes that mint
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u16).range(2..=64))]
    processes: u16,
    /// Ids a second of each
    #[arg(long, value_name = "IDS", default_value_t = 500, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    rate: u64,
    /// For how long faults go on; each is done once at least
    #[arg(long = "for", value_name = "LENGTH", default_value = "10s", value_parser = quantities::nanos)]
    length: u64,
    /// The length of a window of ticks; renewals, lag, lead and skew are a third of it
    #[arg(long, value_name = "LENGTH", default_value = "1500ms", value_parser = quantities::nanos)]
    window: u64,
    /// What the order of faults follows from [default: drawn]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Print the plan, and do nothing
    #[arg(long)]
    dry_run: bool,
    /// One JSON object a line, as things happen
    #[arg(long)]
    json: bool,
}

/// The last line of NDJSON.
#[derive(Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
enum Event<'a> {
    Result {
        good: bool,
        after_ms: u64,
        space: &'a str,
        #[serde(flatten)]
        report: &'a Report,
    },
}

/// Windows shorter than this end while a busy machine looks away.
const SHORTEST_WINDOW_MS: u64 = 600;

impl Fleet {
    pub(super) fn run(self, drill: &Drill) -> Result<Outcome, Failure> {
        let url = reach::url(self.store.as_deref())?;
        let whose = match Kind::by_name(&url) {
            Some(kind) => Whose::Own(kind),
            None => {
                // A URL that leads nowhere is told before anything else; nothing is connected yet.
                open(&url, OpenOptions::default())?;
                (drill.theirs)(url.clone())?
            }
        };
        let faults: Vec<&Fault> = FAULTS
            .iter()
            .filter(|fault| drill.faults.contains(&fault.name) && fault.goes_with(&whose))
            .collect();
        if faults.is_empty() {
            return Err(usage(format!("drill {}: not for a store in {}", drill.name, whose.name())));
        }
        let window_ms = self.window / 1_000_000;
        if window_ms < SHORTEST_WINDOW_MS {
            return Err(usage(format!("--window {window_ms}ms: at least {SHORTEST_WINDOW_MS} ms expected")));
        }
        let seed = self.seed.map_or_else(draw_seed, Ok)?;
        let space = format!("drill-{}-{seed}-{}", drill.name, std::process::id());
        if !self.dry_run {
            refuse_what_is_not_there(&whose, &url, &space)?;
        }
        let telling = Telling::new(self.json);
        telling.plan(
            &format!("{} in {}", drill.name, redacted(&url)),
            &self.plan(&whose, &faults, &space, window_ms),
        )?;
        if self.dry_run {
            return Ok(Outcome::Done);
        }
        let stop = Stop::at_signals()?;
        let options = Options {
            program: std::env::current_exe()?,
            only: faults.iter().map(|fault| fault.name.to_owned()).collect(),
            store: whose,
            space: space.clone(),
            processes: usize::from(self.processes),
            rate: self.rate,
            window_ms,
            seconds: self.length.div_ceil(1_000_000_000),
            seed,
            scenes: false,
            blind: false,
            tells: !self.json,
            folder: None,
            stop: stop.flag(),
        };
        let report = soak::run(&options)?;
        stop.check("the drill has cleaned up")?;
        self.result(&telling, &space, &report)
    }

    fn plan(&self, whose: &Whose, faults: &[&Fault], space: &str, window_ms: u64) -> Vec<String> {
        let is_thrown_away = matches!(whose, Whose::Own(_) | Whose::CopyOf(_));
        let mut plan = Vec::new();
        match whose {
            Whose::Own(_) => plan.push("start a store of the drill's own".to_owned()),
            Whose::CopyOf(path) => plan.push(format!("copy {} between two transactions", path.display())),
            Whose::TheirsThroughProxies(_) => {
                plan.push(
                    "open proxies on 127.0.0.1 for the processes; the store itself is left alone".to_owned(),
                );
            }
            Whose::Theirs(_) => {}
        }
        plan.push(format!(
            "create the space {space}, with windows of {window_ms} ms; no other space is touched"
        ));
        plan.push(format!(
            "start {} processes that mint in it, {} ids a second each",
            self.processes, self.rate
        ));
        plan.extend(faults.iter().map(|fault| format!("{}: {}", fault.name, fault.what)));
        let seconds = self.length.div_ceil(1_000_000_000);
        plan.push(format!("again and again for {seconds} s; each time wait until all processes mint again"));
        plan.push(
            "end them, and count ids, ids that came twice, breaks of order, and for how long nobody minted"
                .to_owned(),
        );
        plan.push(if is_thrown_away {
            "throw the store away".to_owned()
        } else {
            format!("drop {space}; a dropped space leaves a row that keeps its name from being used anew without care")
        });
        plan
    }

    fn result(&self, telling: &Telling, space: &str, report: &Report) -> Result<Outcome, Failure> {
        let (good, after_ms) = (report.has_passed(), telling.after_ms());
        let mut lines: Vec<String> = report.to_string().lines().map(str::to_owned).collect();
        let end = match (good, report.duplicates) {
            (true, _) => "no id came twice, none out of order".to_owned(),
            (false, 0) => "something is NOT as it must be".to_owned(),
            (false, twice) => format!("{twice} ids came TWICE"),
        };
        lines.insert(0, String::new());
        lines.push(format!("\n{end} ({:.1} s).", after_ms as f64 / 1_000.0));
        let lines: Vec<String> = lines.iter().flat_map(|line| line.split('\n')).map(str::to_owned).collect();
        telling.tell(&Event::Result { good, after_ms, space, report }, &lines)?;
        Ok(if good { Outcome::Done } else { Outcome::Found })
    }
}

/// A drill makes no store in the place of one that was mistyped, nor a side-car beside a file that it is to copy.
fn refuse_what_is_not_there(whose: &Whose, url: &str, space: &str) -> Result<(), Failure> {
    match whose {
        Whose::Own(_) => return Ok(()),
        Whose::CopyOf(path) if path.exists() => refuse_what_is_no_store(path, url, space)?,
        _ => {}
    }
    is_store(url, space)?.then_some(()).ok_or_else(|| {
        let url = redacted(url);
        usage(format!(
            "{url}: no store is there, and a drill makes none; check the URL, or make a store by `mintage store create {url} NAME --snowflake twitter`"
        ))
    })
}

/// A file without its side-car is no store, or has lost it. That is seen on a copy: whoever opens a store makes its side-car anew.
fn refuse_what_is_no_store(path: &Path, url: &str, space: &str) -> Result<(), Failure> {
    const HEAD: &[u8] = b"SQLite format 3\0";
    if !path.is_file() {
        return Err(usage(format!("{url}: that is no file; name that of a store")));
    }
    let mut head = Vec::new();
    let told = || format!("reading {}", path.display());
    let file = File::open(path).with_context(told)?;
    file.take(HEAD.len() as u64).read_to_end(&mut head).with_context(told)?;
    if !head.is_empty() && head != HEAD {
        return Err(usage(format!("{url}: the file is no database of SQLite; name that of a store")));
    }
    let place = FilePlace { path: path.to_owned() };
    if place.side_car().exists() {
        return Ok(());
    }
    let folder = Folder::new("drill")?;
    let copy = folder.path().join("ids.db");
    std::fs::copy(path, &copy)
        .with_context(|| format!("copying {} to {}", path.display(), copy.display()))?;
    if !is_store(&format!("sqlite:{}", copy.display()), space)? {
        return Err(usage(format!("{url}: the file is a database without a store; name that of a store")));
    }
    Err(Failure::Cannot(anyhow::anyhow!(
        "{url}: the store's side-car {} is missing, under whose lock a copy is taken; put it back, or let `mintage store list {url}` make it anew, which \
         begins a hold",
        place.side_car().display()
    )))
}

/// Whether there is a store; nothing is made.
fn is_store(url: &str, space: &str) -> Result<bool, Failure> {
    let store = open(url, OpenOptions::default())?;
    match reach::wait(async { Ok(store.space(space, reach::soon()).await) })? {
        Ok(_) | Err(Error::NoSuchSpace { .. }) => Ok(true),
        Err(Error::NoSchema { .. }) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

fn draw_seed() -> Result<u64, Failure> {
    let mut bytes = [0; 4];
    SystemEntropy.fill(&mut bytes)?;
    Ok(u64::from(u32::from_be_bytes(bytes)))
}
