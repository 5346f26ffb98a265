//! `mintage store create`: makes a space, or finds it as it should be.

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
use mintage_lease::space::{BlockTerms, Kind, SpaceId, Timing, Windows, length};
use mintage_lease::store::{CreateOptions, draw_nonce, redacted};
use mintage_lease::{Error, Space};
use serde::{Serialize, Serializer};
use serde_json::Value;
use std::io::Write;

/// Make a space: the facts that bind its ids for ever.
///
/// A space that is there with the same facts is left as it is; with others, both are shown, and nothing changes.
#[derive(Debug, Args)]
#[command(
    group = ArgGroup::new("kind").required(true).args(["snowflake", "block"]),
    after_help = "Examples:\n  mintage store create sqlite:ids.db orders --snowflake twitter\n  mintage store create sqlite:ids.db events \
                  --snowflake 39/8/16 --tick 10ms --epoch 2025-01-01 --workers 0..99\n  mintage store create sqlite:ids.db invoices --block --first \
                  1000"
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
    /// The moment of tick 0 [default: the scheme's; 2025-01-01T00:00:00Z for a split]
    #[arg(long, value_name = "TIME", value_parser = arguments::time, allow_hyphen_values = true, conflicts_with = "block")]
    epoch: Option<UnixNanos>,
    /// The length of a tick [default: the scheme's; 1ms for a split]
    #[arg(long, value_name = "LENGTH", value_parser = arguments::tick, conflicts_with = "block")]
    tick: Option<u64>,
    /// The workers to hand out, first and last [default: all that fit the field]
    #[arg(long, value_name = "FIRST..LAST", value_parser = workers, conflicts_with = "block")]
    workers: Option<(u64, u64)>,
    /// How long a window is: a worker that was killed is free after it [default: 30s]
    #[arg(long, value_name = "LENGTH", value_parser = quantities::nanos, conflicts_with = "block")]
    window: Option<u64>,
    /// How often a holder renews [default: a third of the window]
    #[arg(long, value_name = "LENGTH", value_parser = quantities::nanos, conflicts_with = "block")]
    renew: Option<u64>,
    /// How far a window may end ahead of the store's time [default: the window]
    #[arg(long, value_name = "LENGTH", value_parser = quantities::nanos, conflicts_with = "block")]
    max_ahead: Option<u64>,
    /// How far ids may lag behind real time while the store can't be reached [default: 5s]
    #[arg(long, value_name = "LENGTH", value_parser = quantities::nanos, conflicts_with = "block")]
    max_lag: Option<u64>,
    /// How far ids may run ahead of real time where minters borrow [default: 1s]
    #[arg(long, value_name = "LENGTH", value_parser = quantities::nanos, conflicts_with = "block")]
    max_lead: Option<u64>,
    /// How far the store's clock may err [default: 5s]
    #[arg(long, value_name = "LENGTH", value_parser = quantities::nanos, conflicts_with = "block")]
    max_store_skew: Option<u64>,
    /// Most workers of one host with windows that haven't passed [default: a quarter of the workers, at most 4096]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), conflicts_with = "block")]
    host_quota: Option<u32>,
    /// Most values of a block; auto lets it follow what is used
    #[arg(long, value_name = "auto|N", value_parser = size, conflicts_with = "snowflake")]
    size: Option<Size>,
    /// The counter's first value
    #[arg(long, value_name = "N", value_parser = quantities::count_64, conflicts_with = "snowflake")]
    first: Option<u64>,
    /// The counter's last value
    #[arg(long, value_name = "N", value_parser = quantities::count_64, conflicts_with = "snowflake")]
    last: Option<u64>,
    /// The distance of two values: with 2, two stores that know nothing of each other hand out odd and even numbers
    #[arg(long, value_name = "K", value_parser = quantities::count_64, conflicts_with = "snowflake")]
    step: Option<u64>,
    /// The rest of each value divided by the step
    #[arg(long, value_name = "I", value_parser = quantities::count_64, conflicts_with = "snowflake", requires = "step")]
    offset: Option<u64>,
    /// Whether a mere restart of the store's server begins a hold; off is for those who never restore volumes [default: on]
    #[arg(long, value_enum, value_name = "ON|OFF")]
    restart_hold: Option<Switch>,
    #[command(flatten)]
    trust: Trust,
    /// One JSON object
    #[arg(long)]
    json: bool,
}

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
        let id = SpaceId(draw_nonce()?.0);
        let space = Space { id, name, kind: self.kind()? };
        let store = self.trust.open(&url)?;
        let options = CreateOptions {
            restart_hold: self.restart_hold != Some(Switch::Off),
            trusts_clock: self.trust.trust_store_clock,
        };
        let created = reach::wait(async {
            match store.create(&space, options, reach::soon()).await {
                Err(Error::SpaceDiffers { .. }) => {
                    let stored = store.space(&space.name, reach::soon()).await?;
                    Err(usage(differences(&stored, &space)))
                }
                other => Ok((other?.id, store.show(&space.name, reach::soon()).await?)),
            }
        })?;
        let (id_there, shown) = created;
        if let Some(wanted) = self.restart_hold
            && shown.state.restart_hold != (wanted == Switch::On)
        {
            return Err(usage(restart_hold_differs(&shown, &redacted(&url))));
        }
        self.tell(&shown.space, id_there == id)?;
        warn_of_end(&shown);
        Ok(Outcome::Done)
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
            None => {
                let default = BlockTerms::default();
                let max_size = match self.size {
                    Some(Size::Most(most)) => most,
                    Some(Size::Auto) | None => default.max_size,
                };
                Ok(Kind::Blocks(BlockTerms {
                    first: self.first.unwrap_or(default.first),
                    last: self.last.unwrap_or(default.last),
                    step: self.step.unwrap_or(default.step),
                    offset: self.offset.unwrap_or(default.offset),
                    max_size,
                    ..default
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
fn restart_hold_differs(shown: &Shown, url: &str) -> String {
    let name = &shown.space.name;
    let (is, other) = if shown.state.restart_hold { ("on", "off") } else { ("off", "on") };
    format!(
        "space {name} is there with these facts, but with --restart-hold {is}; `mintage store restart-hold {url} {name} --set {other}` \
         sets it"
    )
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
