//! Arguments that several commands take: schemes, times, ticks, custom splits.

use crate::exit::{Failure, usage};
use crate::quantities;
use clap::{Args, Command};
use mintage::schemes::snowflake::{DEFAULT_BASE, custom_split};
use mintage::{Layout, SCHEMES, Scheme, Setting, TimeBase, UnixNanos};
use std::ffi::OsString;

/// The scheme of this name, or a message with the nearest one.
pub(crate) fn scheme(name: &str) -> Result<&'static Scheme, Failure> {
    if let Some(scheme) = Scheme::by_name(name) {
        return Ok(scheme);
    }
    let names = SCHEMES.iter().flat_map(|s| s.aliases.iter().chain([&s.name]).map(|n| (*n, s.name)));
    let nearest = nearest(name, names);
    Err(usage(format!("no scheme is called `{name}`; {nearest}`mintage schemes` lists them all")))
}

/// «did you mean …; » when something is near enough to what was written; the second of each pair is what is meant.
pub(crate) fn nearest<'a>(given: &str, known: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    const NEAR: f64 = 0.7;
    let given = given.to_ascii_lowercase();
    known
        .map(|(name, meant)| (strsim::jaro_winkler(&given, name), meant))
        .filter(|(likeness, _)| *likeness >= NEAR)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map_or(String::new(), |(_, meant)| format!("did you mean `{meant}`? "))
}

/// The command line with the ids of `commands` and their subcommands behind a `--`, in their order: an id may begin with a hyphen,
/// and options may stand behind ids.
///
/// An option is what begins with two hyphens, or is a known letter behind one.
pub(crate) fn separated(
    args: impl Iterator<Item = OsString>,
    cli: &Command,
    commands: &[&str],
) -> Vec<OsString> {
    let mut args: Vec<OsString> = args.collect();
    let named = args.get(1).and_then(|name| commands.iter().find(|command| *name == **command));
    let Some(mut command) = named.and_then(|name| cli.find_subcommand(name)) else { return args };
    let mut ids_from = 2;
    while let Some(inner) = args.get(ids_from).and_then(|name| command.find_subcommand(name)) {
        (command, ids_from) = (inner, ids_from + 1);
    }
    let takes_value = |option: &str| {
        command
            .get_arguments()
            .any(|a| a.get_long() == option.strip_prefix("--") && a.get_action().takes_values())
    };
    let is_letter = |text: &str| {
        let letters = command.get_arguments().filter_map(clap::Arg::get_short).chain(['h', 'V']);
        text.strip_prefix('-')
            .is_some_and(|rest| letters.into_iter().any(|letter| rest == letter.to_string()))
    };
    let (mut options, mut ids) = (Vec::new(), Vec::new());
    let mut rest = args.drain(ids_from..);
    while let Some(arg) = rest.next() {
        match arg.to_str() {
            Some("--") => ids.extend(rest.by_ref()),
            Some(text) if text.starts_with("--") || is_letter(text) => {
                let value = takes_value(text).then(|| rest.next()).flatten();
                options.push(arg);
                options.extend(value);
            }
            _ => ids.push(arg),
        }
    }
    drop(rest);
    args.extend(options);
    if !ids.is_empty() {
        args.push("--".into());
        args.extend(ids);
    }
    args
}

/// A time: RFC 3339, a date (midnight UTC), or Unix time with its unit.
pub(crate) fn time(text: &str) -> Result<UnixNanos, String> {
    if let Ok(time) = UnixNanos::parse(text) {
        return Ok(time);
    }
    let is_date = text.len() == 10 && text.bytes().all(|b| b.is_ascii_digit() || b == b'-');
    if let (true, Ok(time)) = (is_date, UnixNanos::parse(&format!("{text}T00:00:00Z"))) {
        return Ok(time);
    }
    let (number, unit) = text.split_at(text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len()));
    match (number.parse::<i64>(), unit) {
        (Ok(secs), "s") => Ok(UnixNanos::from_secs(secs)),
        (Ok(millis), "ms") => Ok(UnixNanos::from_millis(millis)),
        _ => {
            Err("expected RFC 3339 such as 2025-01-01T00:00:00Z, a date, or Unix time with its unit such as \
                  1735689600s or 1735689600000ms"
                .to_owned())
        }
    }
}

/// A whole number of 64 bits.
pub(crate) fn whole(text: &str) -> Result<u64, String> {
    quantities::digits(text).ok_or_else(|| format!("expected a whole number from 0 to {}", u64::MAX))
}

/// The length of a tick in nanoseconds.
pub(crate) fn tick(text: &str) -> Result<u64, String> {
    let (number, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()));
    let nanos = match unit {
        "ns" => Some(1),
        "us" => Some(1_000),
        "ms" => Some(1_000_000),
        "s" => Some(1_000_000_000),
        _ => None,
    };
    let length = number.parse::<u64>().ok().zip(nanos).and_then(|(n, unit)| n.checked_mul(unit));
    length.filter(|n| *n > 0).ok_or_else(|| {
        "expected a whole number above 0 with its unit ns, us, ms or s, such as 1ms or 10ms".to_owned()
    })
}

/// A custom split of 64 bits, for the schemes that take one.
#[derive(Debug, Args)]
pub(crate) struct Split {
    /// Bits of timestamp, worker and sequence from the most significant, such as 41/10/12; another order with letters, as in
    /// t39/s8/w16. Bits left over at the top are zero
    #[arg(long, value_name = "SPLIT")]
    layout: Option<String>,
    /// The moment of tick 0 [default: the scheme's; 2025-01-01T00:00:00Z for snowflake]
    #[arg(long, value_name = "TIME", value_parser = time, allow_hyphen_values = true)]
    epoch: Option<UnixNanos>,
    /// The length of a tick, such as 1ms, 10ms or 1s [default: the scheme's; 1ms for snowflake]
    #[arg(long, value_name = "LENGTH", value_parser = tick)]
    tick: Option<u64>,
}

impl Split {
    /// The layout given; `None` when nothing is. What isn't given is as the scheme has it.
    pub(crate) fn layout(&self, scheme: Option<&Scheme>) -> Result<Option<Layout>, Failure> {
        if self.layout.is_none() && self.epoch.is_none() && self.tick.is_none() {
            return Ok(None);
        }
        let takers =
            SCHEMES.iter().filter(|s| s.takes(Setting::Split)).map(|s| s.name).collect::<Vec<_>>().join(", ");
        let scheme = match scheme {
            Some(scheme) if scheme.takes(Setting::Split) => scheme,
            Some(scheme) => {
                return Err(usage(format!(
                    "{}: its layout is fixed; --layout, --epoch and --tick go with {takers}",
                    scheme.name
                )));
            }
            None => {
                return Err(usage(format!(
                    "--layout, --epoch and --tick go with --scheme and one of {takers}"
                )));
            }
        };
        let own = scheme.layout.time_base().unwrap_or(DEFAULT_BASE);
        let base = TimeBase {
            epoch: self.epoch.unwrap_or(own.epoch),
            tick_nanos: self.tick.unwrap_or(own.tick_nanos),
        };
        match &self.layout {
            Some(split) => custom_split(split, base),
            None => scheme.layout.with_time_base(base),
        }
        .map(Some)
        .map_err(|error| {
            usage(format!("--layout {}: {error}", self.layout.as_deref().unwrap_or("of the scheme")))
        })
    }
}
