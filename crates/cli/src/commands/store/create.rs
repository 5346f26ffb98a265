//! `mintage store create`: makes a space, or finds it as it should be.

use super::paste::Paste;
use crate::arguments;
use crate::exit::{Failure, Outcome, usage};
use crate::output;
use crate::quantities;
use crate::reach::{self, Trust};
use clap::{ArgGroup, Args, ValueEnum};
use mintage::schemes::snowflake::{DEFAULT_BASE, custom_split};
use mintage::{Layout, Scheme, Setting, TimeBase, UnixNanos};
use mintage_lease::ending::{Ending, ending_text};
use mintage_lease::request::Shown;
use mintage_lease::space::{BlockTerms, Kind, ScopeTerms, SpaceId, Timing, Windows, length};
use mintage_lease::store::{CreateOptions, draw_nonce};
use mintage_lease::tickets::are_apart;
use mintage_lease::{Error, Space, Store};
use serde::{Serialize, Serializer};
use serde_json::Value;
use std::io::Write;

/// Make a space: the facts that bind its ids for ever.
///
/// A space that is there with the same facts is left as it is; with others, both are shown, and nothing changes.
#[derive(Debug, Args)]
#[command(
    group = ArgGroup::new("kind").required(true).args(["snowflake", "block", "ticket", "scope"]),
    after_help = "Examples:\n  mintage store create sqlite:ids.db orders --snowflake twitter\n  mintage store create sqlite:ids.db events \
                  --snowflake 39/8/16 --tick 10ms --epoch 2025-01-01 --workers 0..99\n  mintage store create sqlite:ids.db invoices --block --first \
                  1000\n  mintage store create sqlite:odd.db tickets --ticket --step 2 --offset 1\n  mintage store create sqlite:even.db tickets --ticket \
                  --step 2 --offset 0 --twin-of sqlite:odd.db\n  mintage store create sqlite:ids.db issues --scope"
)]
pub(crate) struct Create {
    /// The store's URL, unless MINTAGE_STORE has it, and the space's name: a-z, 0-9, `-`, `_` and `.`
    #[arg(value_names = ["URL", "SPACE"], num_args = 1..=2, required = true)]
    place: Vec<String>,
    /// Windows of ticks for workers: a scheme with a worker (twitter, sonyflake-v2, …), or bits of timestamp, worker and sequence
    #[arg(long, value_name = "SCHEME|SPLIT")]
    snowflake: Option<String>,
    /// Blocks of a counter
    #[arg(long)]
    block: bool,
    /// One value of a counter a round trip: no process holds any that others wait for
    #[arg(long)]
    ticket: bool,
    /// A counter for each scope, such as the row of a parent table, made when it is first used
    #[arg(long)]
    scope: bool,
    /// The moment of tick 0 [default: the scheme's; 2025-01-01T00:00:00Z for a split]
    #[arg(long, value_name = "TIME", value_parser = arguments::time, allow_hyphen_values = true, conflicts_with_all = COUNTERS)]
    epoch: Option<UnixNanos>,
    /// The length of a tick [default: the scheme's; 1ms for a split]
    #[arg(long, value_name = "LENGTH", value_parser = arguments::tick, conflicts_with_all = COUNTERS)]
    tick: Option<u64>,
    /// The workers to hand out, first and last [default: all that fit the field]
    #[arg(long, value_name = "FIRST..LAST", value_parser = workers, conflicts_with_all = COUNTERS)]
    workers: Option<(u64, u64)>,
    /// How long a window is: a worker that was killed is free after it [default: 30s]
    #[arg(long, value_name = "LENGTH", value_parser = quantities::nanos, conflicts_with_all = COUNTERS)]
    window: Option<u64>,
    /// How often a holder renews [default: a third of the window]
    #[arg(long, value_name = "LENGTH", value_parser = quantities::nanos, conflicts_with_all = COUNTERS)]
    renew: Option<u64>,
    /// How far a window may end ahead of the store's time [default: the window]
    #[arg(long, value_name = "LENGTH", value_parser = quantities::nanos, conflicts_with_all = COUNTERS)]
    max_ahead: Option<u64>,
    /// How far ids may lag behind real time while the store can't be reached [default: 5s]
    #[arg(long, value_name = "LENGTH", value_parser = quantities::nanos, conflicts_with_all = COUNTERS)]
    max_lag: Option<u64>,
    /// How far ids may run ahead of real time where minters borrow [default: 1s]
    #[arg(long, value_name = "LENGTH", value_parser = quantities::nanos, conflicts_with_all = COUNTERS)]
    max_lead: Option<u64>,
    /// How far the store's clock may err [default: 5s]
    #[arg(long, value_name = "LENGTH", value_parser = quantities::nanos, conflicts_with_all = COUNTERS)]
    max_store_skew: Option<u64>,
    /// Most workers of one host with windows that haven't passed [default: a quarter of the workers, at most 4096]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), conflicts_with_all = COUNTERS)]
    host_quota: Option<u32>,
    /// Most values of a block; auto lets it follow what is used
    #[arg(long, value_name = "auto|N", value_parser = size, conflicts_with_all = ["snowflake", "ticket", "scope"])]
    size: Option<Size>,
    /// The first value, of each scope where there are several
    #[arg(long, value_name = "N", value_parser = quantities::count_64, conflicts_with = "snowflake")]
    first: Option<u64>,
    /// The last value
    #[arg(long, value_name = "N", value_parser = quantities::count_64, conflicts_with = "snowflake")]
    last: Option<u64>,
    /// The distance of two values: with 2, two stores that know nothing of each other hand out odd and even numbers
    #[arg(long, value_name = "K", value_parser = quantities::count_64, conflicts_with_all = ["snowflake", "scope"])]
    step: Option<u64>,
    /// The rest of each value divided by the step
    #[arg(long, value_name = "I", value_parser = quantities::count_64, conflicts_with_all = ["snowflake", "scope"], requires = "step")]
    offset: Option<u64>,
    /// Values that a counter, or each scope, jumps over when a replica takes over [default: an hour at the highest rate seen, at least 100
    /// times the most that was taken at once]
    #[arg(long, value_name = "N", value_parser = quantities::count_64, conflicts_with = "snowflake")]
    failover_gap: Option<u64>,
    /// The store that has the other space of this name, which gets its values by another offset: both get one UUID
    #[arg(long, value_name = "URL", requires = "step", conflicts_with_all = ["snowflake", "scope", "block"])]
    twin_of: Option<String>,
    /// Whether a mere restart of the store's server begins a hold; off is for those who never restore volumes [default: on]
    #[arg(long, value_enum, value_name = "ON|OFF")]
    restart_hold: Option<Switch>,
    #[command(flatten)]
    trust: Trust,
    /// One JSON object
    #[arg(long)]
    json: bool,
}

/// What hands out values, and has no ticks and no workers.
const COUNTERS: [&str; 3] = ["block", "ticket", "scope"];

/// On or off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Switch {
    On,
    Off,
}

/// How large blocks are.
#[derive(Clone, Copy, Debug)]
enum Size {
    Auto,
    Most(u64),
}

fn size(text: &str) -> Result<Size, String> {
    match text {
        "auto" => Ok(Size::Auto),
        _ => quantities::count_64(text).map(Size::Most),
    }
}

fn workers(text: &str) -> Result<(u64, u64), String> {
    let range = text.split_once("..").and_then(|(first, last)| {
        let last = last.strip_prefix('=').unwrap_or(last);
        Some((quantities::digits(first)?, quantities::digits(last)?))
    });
    range.ok_or_else(|| format!("expected the first and the last worker such as 0..1023, not `{text}`"))
}

impl Create {
    pub(crate) fn run(self) -> Result<Outcome, Failure> {
        let (url, [name]) = reach::url_and(&self.place, "the space's name")?;
        let mut space = Space { id: SpaceId(draw_nonce()?.0), name, kind: self.kind()? };
        let store = self.trust.open(&url)?;
        if let Some(twin) = &self.twin_of {
            space.id = self.id_of_twin(&space, twin, &*store)?;
        }
        let id = space.id;
        let options = CreateOptions {
            restart_hold: self.restart_hold != Some(Switch::Off),
            trusts_clock: self.trust.trust_store_clock,
        };
        // A twin has its UUID from elsewhere, which doesn't tell a space that is made from one that was there.
        let created = reach::wait(async {
            let was_there = self.twin_of.is_some() && store.space(&space.name, reach::soon()).await.is_ok();
            match store.create(&space, options, reach::soon()).await {
                Err(Error::SpaceDiffers { .. }) => {
                    let stored = store.space(&space.name, reach::soon()).await?;
                    Err(usage(differences(&stored, &space)))
                }
                other => Ok((other?.id == id && !was_there, store.show(&space.name, reach::soon()).await?)),
            }
        })?;
        let (is_new, shown) = created;
        if self.twin_of.is_some() && shown.space.id != id {
            return Err(usage(format!(
                "space {} is there already, with the UUID {}, and that of its twin is {id}; create twins anew, under another name",
                shown.space.name, shown.space.id
            )));
        }
        if let Some(wanted) = self.restart_hold
            && shown.state.restart_hold != (wanted == Switch::On)
        {
            let paste = Paste::of(&url, &shown.space.name, self.trust);
            return Err(usage(restart_hold_differs(&shown, &paste)));
        }
        self.tell(&shown.space, is_new)?;
        warn_of_end(&shown);
        Ok(Outcome::Done)
    }

    /// The UUID of the space in the other store, which must go with this one.
    fn id_of_twin(&self, space: &Space, twin: &str, here: &dyn Store) -> Result<SpaceId, Failure> {
        let there = self.trust.open(twin)?;
        let fault =
            |fault: String| usage(format!("{}: no twin of the one in {}: {fault}", space.name, there.url()));
        let first = reach::wait(async { Ok(there.space(&space.name, reach::soon()).await?) })?;
        if first.blocks().is_none() {
            return Err(fault(format!("that is a space of {}", first.kind.name())));
        }
        are_apart(&first, space).map_err(|not| fault(not.to_string()))?;
        let was_here = reach::wait(async {
            match here.list(reach::soon()).await {
                Err(Error::NoSchema { .. }) => Ok(false),
                all => Ok(all?.iter().any(|shown| shown.space.id == first.id && shown.dropped.is_some())),
            }
        })?;
        if was_here {
            return Err(fault(
                "it was here and was dropped; create twins anew, under another name".to_owned(),
            ));
        }
        Ok(first.id)
    }

    fn tell(&self, space: &Space, is_new: bool) -> Result<(), Failure> {
        let mut out = output::stdout();
        if self.json {
            let mut object = facts_json(space);
            object.put("created", is_new);
            output::json_line(&mut out, &object)?;
        } else {
            let done = if is_new { "created" } else { "is there already, with these facts" };
            writeln!(out, "space {} {done}: {}", space.name, summary(space))?;
        }
        out.flush()?;
        Ok(())
    }

    fn kind(&self) -> Result<Kind, Failure> {
        match &self.snowflake {
            Some(snowflake) => Ok(Kind::Windows(self.windows(snowflake)?)),
            None if self.scope => {
                let default = ScopeTerms::default();
                Ok(Kind::Scopes(ScopeTerms {
                    first: self.first.unwrap_or(default.first),
                    last: self.last.unwrap_or(default.last),
                    failover_gap: self.failover_gap.unwrap_or(default.failover_gap),
                }))
            }
            None => {
                let default = BlockTerms::default();
                let max_size = match self.size {
                    _ if self.ticket => 1,
                    Some(Size::Most(most)) => most,
                    Some(Size::Auto) | None => default.max_size,
                };
                Ok(Kind::Blocks(BlockTerms {
                    first: self.first.unwrap_or(default.first),
                    last: self.last.unwrap_or(default.last),
                    step: self.step.unwrap_or(default.step),
                    offset: self.offset.unwrap_or(default.offset),
                    max_size,
                    failover_gap: self.failover_gap.unwrap_or(default.failover_gap),
                }))
            }
        }
    }

    fn windows(&self, snowflake: &str) -> Result<Windows, Failure> {
        let (scheme, layout) = self.scheme_and_layout(snowflake)?;
        let fault = |fault| usage(format!("--snowflake {snowflake}: {fault}"));
        let mut windows = Windows::of(scheme, layout.as_ref()).map_err(fault)?;
        let terms = &mut windows.terms;
        if let Some((first, last)) = self.workers {
            (terms.first_worker, terms.last_worker) = (first, last);
            let workers = last.saturating_sub(first).saturating_add(1);
            terms.host_quota = u32::try_from(workers / 4).unwrap_or(u32::MAX).clamp(1, 4096);
        }
        terms.host_quota = self.host_quota.unwrap_or(terms.host_quota);
        let default = Timing::default();
        let window = self.window.unwrap_or(default.window_nanos);
        terms.timing = Timing {
            window_nanos: window,
            renew_nanos: self.renew.unwrap_or(window / 3),
            max_ahead_nanos: self.max_ahead.unwrap_or(window),
            max_lag_nanos: self.max_lag.unwrap_or(default.max_lag_nanos),
            max_lead_nanos: self.max_lead.unwrap_or(default.max_lead_nanos),
            max_store_skew_nanos: self.max_store_skew.unwrap_or(default.max_store_skew_nanos),
        };
        Ok(windows)
    }

    /// A split is of the scheme that takes any; a scheme may be named without what all Snowflakes' names begin with.
    fn scheme_and_layout(&self, given: &str) -> Result<(&'static Scheme, Option<Layout>), Failure> {
        let base = |own: TimeBase| TimeBase {
            epoch: self.epoch.unwrap_or(own.epoch),
            tick_nanos: self.tick.unwrap_or(own.tick_nanos),
        };
        let fault = |error: mintage::Error| usage(format!("--snowflake {given}: {error}"));
        if given.contains('/') {
            let scheme = arguments::scheme("snowflake")?;
            return Ok((scheme, Some(custom_split(given, base(DEFAULT_BASE)).map_err(fault)?)));
        }
        let scheme = match Scheme::by_name(&format!("snowflake-{given}")) {
            Some(scheme) => scheme,
            None => arguments::scheme(given)?,
        };
        if self.epoch.is_none() && self.tick.is_none() {
            return Ok((scheme, None));
        }
        if !scheme.takes(Setting::Split) {
            let name = scheme.name;
            return Err(usage(format!(
                "{name}: its layout is fixed; --epoch and --tick go with a split such as 41/10/12"
            )));
        }
        let own = scheme.layout.time_base().unwrap_or(DEFAULT_BASE);
        Ok((scheme, Some(scheme.layout.with_time_base(base(own)).map_err(fault)?)))
    }
}

/// A space that was there isn't changed: what a restart does there, and how to set it.
fn restart_hold_differs(shown: &Shown, paste: &Paste) -> String {
    let name = &shown.space.name;
    let (is, other) = if shown.state.restart_hold { ("on", "off") } else { ("off", "on") };
    let command = paste.command("restart-hold", &["--set", other]);
    format!("space {name} is there with these facts, but with --restart-hold {is}; {command} sets it")
}

/// Warns on standard error of a time field that ends within two years. Rule 7.
fn warn_of_end(shown: &Shown) {
    if let Some(windows) = shown.space.windows()
        && Ending::of(&windows.terms, shown.now) > Ending::Far
    {
        eprintln!("mintage: warning: {}: {}", shown.space.name, ending_text(&windows.terms, shown.now));
    }
}

/// What a space is, in a line.
pub(super) fn summary(space: &Space) -> String {
    match &space.kind {
        Kind::Windows(Windows { scheme, layout, terms }) => format!(
            "windows of {} for workers {} to {}; {scheme} {layout}, {} a tick since {}, until {}",
            length(terms.timing.window_nanos),
            terms.first_worker,
            terms.last_worker,
            length(terms.base.tick_nanos),
            terms.base.epoch,
            terms.ends_at(),
        ),
        Kind::Blocks(terms) if terms.max_size == 1 => {
            format!(
                "tickets from {} to {}, step {}, offset {}",
                terms.first, terms.last, terms.step, terms.offset
            )
        }
        Kind::Scopes(terms) => format!("a counter for each scope, from {} to {}", terms.first, terms.last),
        Kind::Blocks(terms) => format!(
            "blocks of at most {} values from {} to {}, step {}, offset {}",
            terms.max_size, terms.first, terms.last, terms.step, terms.offset
        ),
    }
}

/// A JSON object whose fields are in the order written.
#[derive(Debug, Default)]
pub(super) struct Object(pub(super) Vec<(&'static str, Value)>);

impl Object {
    pub(super) fn put(&mut self, name: &'static str, value: impl Into<Value>) {
        self.0.push((name, value.into()));
    }
}

impl Serialize for Object {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

/// The facts as JSON: texts, as some are numbers of 64 bits. And when the time field ends, which follows from them.
pub(super) fn facts_json(space: &Space) -> Object {
    let mut object = Object::default();
    for (name, text) in space.facts() {
        object.put(name, text);
    }
    if let Some(windows) = space.windows() {
        object.put("ends", windows.terms.ends_at().to_string());
    }
    object.put("id", space.id.to_string());
    object
}

/// Every fact in which two spaces differ, with both values.
fn differences(stored: &Space, given: &Space) -> String {
    let (stored_facts, given_facts) = (stored.facts(), given.facts());
    let find = |facts: &[(&str, String)], name: &str| {
        facts
            .iter()
            .find(|(fact, _)| *fact == name)
            .map_or_else(|| "none".to_owned(), |(_, text)| text.clone())
    };
    let mut names: Vec<&str> = stored_facts.iter().chain(&given_facts).map(|(name, _)| *name).collect();
    names.dedup();
    let mut lines = vec![format!("space {} is there with other facts, and they never change:", stored.name)];
    for name in names {
        let (stored, given) = (find(&stored_facts, name), find(&given_facts, name));
        let line = format!("  {name}: {stored} is stored, {given} was given");
        if stored != given && !lines.contains(&line) {
            lines.push(line);
        }
    }
    lines.push("choose another name, or give the facts that are stored".to_owned());
    lines.join("\n")
}
