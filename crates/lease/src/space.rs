//! What a space is: the facts that bind it for ever, so that no client or second store can bring others. Rule 19.

use crate::error::Word;
use crate::state::{MAX_SERIAL, Tick};
use mintage::schemes::snowflake::custom_split;
use mintage::{Layout, Role, Scheme, TimeBase, UnixNanos};
use std::fmt;
use std::fmt::Write as _;
use std::str::FromStr;

/// A named set of ids that must never collide.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Space {
    /// Its UUID: what the name leads to now may not be what it led to before it was dropped.
    pub id: SpaceId,
    /// Its name: 1 to 63 characters of `a-z 0-9 - _ .`, beginning with a letter or digit.
    pub name: String,
    /// What it hands out.
    pub kind: Kind,
}

/// The UUID of a space, 128 bits; printed as a UUID.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SpaceId(pub u128);

/// What a space hands out.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Windows of ticks, one worker each.
    Windows(Windows),
    /// Ranges of a counter.
    Blocks(BlockTerms),
    /// A counter for each scope, such as the row of a parent table, made when it is first used.
    Scopes(ScopeTerms),
}

impl Kind {
    /// Its word, as in facts and messages.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Windows(_) => "windows",
            Self::Blocks(_) => "blocks",
            Self::Scopes(_) => "scopes",
        }
    }
}

/// The facts of a space of windows.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Windows {
    /// The scheme's name.
    pub scheme: String,
    /// The layout's fields with their widths, most significant first: `unused:1/timestamp:41/worker:10/sequence:12`.
    pub layout: String,
    /// The numbers that rules need.
    pub terms: Terms,
}

/// The numbers that the rules of windows need.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Terms {
    /// Epoch and tick of the time field.
    pub base: TimeBase,
    /// The last tick that fits the time field (and the store's signed columns).
    pub last_tick: Tick,
    /// The first worker handed out.
    pub first_worker: u64,
    /// The last worker handed out.
    pub last_worker: u64,
    /// How long windows are and how far clocks may differ.
    pub timing: Timing,
    /// Most workers that one host may have with marks above now: it slows a crash loop. Rule 13.
    pub host_quota: u32,
}

/// Durations of a space of windows, in nanoseconds; columns of the space, never settings of a client. Rule 12.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Timing {
    /// A window's length.
    pub window_nanos: u64,
    /// How often a holder renews.
    pub renew_nanos: u64,
    /// How far `until` may lie ahead of the store's time.
    pub max_ahead_nanos: u64,
    /// How far a holder may mint behind real time while the store can't be reached. Rule 5.
    pub max_lag_nanos: u64,
    /// How far a holder may mint ahead of real time. Rule 4.
    pub max_lead_nanos: u64,
    /// How far the store's clock may err.
    pub max_store_skew_nanos: u64,
}

const SECOND: u64 = 1_000_000_000;

/// Longest that any duration of a space may be.
const LONGEST: u64 = 86_400 * SECOND;

impl Default for Timing {
    fn default() -> Self {
        Self {
            window_nanos: 30 * SECOND,
            renew_nanos: 10 * SECOND,
            max_ahead_nanos: 30 * SECOND,
            max_lag_nanos: 5 * SECOND,
            max_lead_nanos: SECOND,
            max_store_skew_nanos: 5 * SECOND,
        }
    }
}

/// The facts of a space of blocks; with `step` above 1 they are tickets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BlockTerms {
    /// The first value, if the offset allows it; else the next that it allows.
    pub first: u64,
    /// The last value, below [`MAX_SERIAL`].
    pub last: u64,
    /// The distance of two values, at least 1: two independent stores hand out odd and even numbers with step 2.
    pub step: u64,
    /// Which of the `step` rests values have, below `step`.
    pub offset: u64,
    /// Most values a block.
    pub max_size: u64,
    /// Values jumped over at a promotion; 0 means an hour at the highest rate seen, at least 100 blocks. Rule 18.
    pub failover_gap: u64,
}

impl Default for BlockTerms {
    fn default() -> Self {
        Self { first: 1, last: MAX_SERIAL - 1, step: 1, offset: 0, max_size: 1 << 32, failover_gap: 0 }
    }
}

/// The facts of a space of scopes, the same for all its counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ScopeTerms {
    /// The first value of a scope.
    pub first: u64,
    /// The last value of a scope, below [`MAX_SERIAL`].
    pub last: u64,
    /// Values that every scope jumps over at a promotion; 0 means an hour at the highest rate seen of all scopes together, at least
    /// 100 times the most that was taken at once. Rule 18.
    pub failover_gap: u64,
}

impl Default for ScopeTerms {
    fn default() -> Self {
        Self { first: 1, last: MAX_SERIAL - 1, failover_gap: 0 }
    }
}

impl Space {
    /// The facts of a space of windows, when it is one.
    #[must_use]
    pub fn windows(&self) -> Option<&Windows> {
        match &self.kind {
            Kind::Windows(windows) => Some(windows),
            _ => None,
        }
    }

    /// The facts of a space of blocks, when it is one.
    #[must_use]
    pub fn blocks(&self) -> Option<&BlockTerms> {
        match &self.kind {
            Kind::Blocks(terms) => Some(terms),
            _ => None,
        }
    }

    /// The facts of a space of scopes, when it is one.
    #[must_use]
    pub fn scopes(&self) -> Option<&ScopeTerms> {
        match &self.kind {
            Kind::Scopes(terms) => Some(terms),
            _ => None,
        }
    }

    /// Whether a space with these facts may be created at `now`. Rules 7 and 19.
    ///
    /// # Errors
    /// [`SpaceFault`], for the first thing that is wrong.
    pub fn validate(&self, now: UnixNanos) -> Result<(), SpaceFault> {
        let is_name = |name: &str| {
            let plain = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit();
            (1..=63).contains(&name.len())
                && name.bytes().next().is_some_and(plain)
                && name.bytes().all(|c| plain(c) || b"-_.".contains(&c))
        };
        if !is_name(&self.name) {
            return Err(SpaceFault::Name { found: self.name.clone() });
        }
        match &self.kind {
            Kind::Windows(windows) => windows.validate(now),
            Kind::Blocks(terms) => terms.validate(),
            Kind::Scopes(terms) => terms.validate(),
        }
    }

    /// What of this space's facts differs from those of `other`, in words that name both values; `None` when nothing does. The
    /// ids may differ: a space to be created has none yet. Rule 19.
    #[must_use]
    pub fn difference(&self, other: &Self) -> Option<Difference> {
        self.difference_in(other, |_| true)
    }

    /// Of what gives an id its number from tick and worker or from a counter, what differs: spaces that agree in it can be kept apart
    /// by ticks and values, others can't. Rule 19.
    #[must_use]
    pub fn numbering_difference(&self, other: &Self) -> Option<Difference> {
        self.difference_in(other, |fact| ["kind", "scheme", "layout", "epoch", "tick_nanos"].contains(&fact))
    }

    /// What differs that twins must agree in: everything but the offset. Rule 19.
    #[must_use]
    pub fn twin_difference(&self, other: &Self) -> Option<Difference> {
        self.difference_in(other, |fact| fact != "offset")
    }

    fn difference_in(&self, other: &Self, counts: impl Fn(&str) -> bool) -> Option<Difference> {
        let (ours, theirs) = (self.facts(), other.facts());
        for (name, ours) in ours.iter().filter(|(name, _)| counts(name)) {
            let theirs = theirs.iter().find(|(other, _)| other == name).map(|(_, value)| value);
            if theirs != Some(ours) {
                let theirs = theirs.map_or_else(|| "not there".to_owned(), Clone::clone);
                return Some(Difference { fact: name, stored: ours.clone(), given: theirs });
            }
        }
        None
    }

    /// The space whose facts have these texts, as [`Space::facts`] names and writes them: how stores read their columns.
    ///
    /// # Errors
    /// The name of the first fact that is missing or can't be read.
    pub fn from_facts(
        id: SpaceId,
        fact: &dyn Fn(&'static str) -> Option<String>,
    ) -> Result<Self, &'static str> {
        let number = |name| fact(name).and_then(|text| text.parse::<u64>().ok()).ok_or(name);
        let text = |name| fact(name).ok_or(name);
        let kind = match text("kind")?.as_str() {
            "windows" => {
                let epoch = UnixNanos::parse(&text("epoch")?).map_err(|_| "epoch")?;
                let timing = Timing {
                    window_nanos: number("window_nanos")?,
                    renew_nanos: number("renew_nanos")?,
                    max_ahead_nanos: number("max_ahead_nanos")?,
                    max_lag_nanos: number("max_lag_nanos")?,
                    max_lead_nanos: number("max_lead_nanos")?,
                    max_store_skew_nanos: number("max_store_skew_nanos")?,
                };
                let terms = Terms {
                    base: TimeBase { epoch, tick_nanos: number("tick_nanos")?.max(1) },
                    last_tick: number("last_tick")?,
                    first_worker: number("first_worker")?,
                    last_worker: number("last_worker")?,
                    timing,
                    host_quota: u32::try_from(number("host_quota")?).map_err(|_| "host_quota")?,
                };
                Kind::Windows(Windows { scheme: text("scheme")?, layout: text("layout")?, terms })
            }
            "blocks" => Kind::Blocks(BlockTerms {
                first: number("first")?,
                last: number("last")?,
                step: number("step")?.max(1),
                offset: number("offset")?,
                max_size: number("max_size")?,
                failover_gap: number("failover_gap")?,
            }),
            "scopes" => Kind::Scopes(ScopeTerms {
                first: number("first")?,
                last: number("last")?,
                failover_gap: number("failover_gap")?,
            }),
            _ => return Err("kind"),
        };
        Ok(Self { id, name: text("name")?, kind })
    }

    /// Every fact with its name and its value as text, in the order in which people want to read them.
    #[must_use]
    pub fn facts(&self) -> Vec<(&'static str, String)> {
        let mut facts = vec![("name", self.name.clone()), ("kind", self.kind.name().to_owned())];
        match &self.kind {
            Kind::Windows(Windows { scheme, layout, terms }) => facts.extend([
                ("scheme", scheme.clone()),
                ("layout", layout.clone()),
                ("epoch", terms.base.epoch.to_string()),
                ("tick_nanos", terms.base.tick_nanos.to_string()),
                ("last_tick", terms.last_tick.to_string()),
                ("first_worker", terms.first_worker.to_string()),
                ("last_worker", terms.last_worker.to_string()),
                ("window_nanos", terms.timing.window_nanos.to_string()),
                ("renew_nanos", terms.timing.renew_nanos.to_string()),
                ("max_ahead_nanos", terms.timing.max_ahead_nanos.to_string()),
                ("max_lag_nanos", terms.timing.max_lag_nanos.to_string()),
                ("max_lead_nanos", terms.timing.max_lead_nanos.to_string()),
                ("max_store_skew_nanos", terms.timing.max_store_skew_nanos.to_string()),
                ("host_quota", terms.host_quota.to_string()),
            ]),
            Kind::Blocks(terms) => facts.extend([
                ("first", terms.first.to_string()),
                ("last", terms.last.to_string()),
                ("step", terms.step.to_string()),
                ("offset", terms.offset.to_string()),
                ("max_size", terms.max_size.to_string()),
                ("failover_gap", terms.failover_gap.to_string()),
            ]),
            Kind::Scopes(terms) => facts.extend([
                ("first", terms.first.to_string()),
                ("last", terms.last.to_string()),
                ("failover_gap", terms.failover_gap.to_string()),
            ]),
        }
        facts
    }
}

impl Windows {
    /// Windows for `scheme` in its own layout, or in `layout` where the scheme takes any split; all workers that fit the field,
    /// the default durations, and a quota of a quarter of the workers for one host.
    ///
    /// # Errors
    /// [`SpaceFault::NoWindows`] when the scheme has no time field or no worker field, and [`SpaceFault::Layout`] when it has a
    /// layout of its own and another was given.
    pub fn of(scheme: &Scheme, layout: Option<&Layout>) -> Result<Self, SpaceFault> {
        let no_windows = SpaceFault::NoWindows { scheme: scheme.name.to_owned() };
        let layout = layout.unwrap_or(&scheme.layout);
        let base = layout.time_base().ok_or_else(|| no_windows.clone())?;
        let worker = layout.value_bits(Role::Worker);
        if !(1..=63).contains(&worker) {
            return Err(no_windows);
        }
        let last_worker = (1 << worker) - 1;
        let quota = u32::try_from((last_worker + 1) / 4).unwrap_or(u32::MAX).clamp(1, 4096);
        let terms = Terms {
            base,
            last_tick: last_tick(layout, base),
            first_worker: 0,
            last_worker,
            timing: Timing::default(),
            host_quota: quota,
        };
        let windows = Self { scheme: scheme.name.to_owned(), layout: layout_text(layout), terms };
        windows.layout()?;
        Ok(windows)
    }

    /// The layout that the text describes, with the space's epoch and tick.
    ///
    /// # Errors
    /// [`SpaceFault::Scheme`] when there is no such scheme, and [`SpaceFault::Layout`] when it can't have this layout.
    pub fn layout(&self) -> Result<Layout, SpaceFault> {
        let unknown = SpaceFault::Scheme { found: self.scheme.clone() };
        let scheme = Scheme::by_name(&self.scheme).filter(|s| s.name == self.scheme).ok_or(unknown)?;
        let fault = || SpaceFault::Layout { scheme: self.scheme.clone(), found: self.layout.clone() };
        let layout = if layout_text(&scheme.layout) == self.layout {
            scheme.layout.with_time_base(self.terms.base)
        } else if scheme.takes(mintage::Setting::Split) {
            let parts = self.layout.split('/').filter(|part| !part.starts_with("unused:"));
            let split: Option<Vec<String>> = parts
                .map(|part| {
                    let (name, bits) = part.split_once(':')?;
                    Some(format!("{}{bits}", name.chars().next()?))
                })
                .collect();
            custom_split(&split.ok_or_else(fault)?.join("/"), self.terms.base)
        } else {
            return Err(fault());
        };
        let layout = layout.map_err(|_| fault())?;
        if layout_text(&layout) == self.layout { Ok(layout) } else { Err(fault()) }
    }

    fn validate(&self, now: UnixNanos) -> Result<(), SpaceFault> {
        let Terms { base, last_tick: last, first_worker, last_worker, timing, host_quota } = self.terms;
        if base.tick_nanos == 0 {
            return Err(SpaceFault::Tick);
        }
        let layout = self.layout()?;
        let no_windows = SpaceFault::NoWindows { scheme: self.scheme.clone() };
        let worker = layout.value_bits(Role::Worker);
        if !(1..=63).contains(&worker) || layout.time_base().is_none() {
            return Err(no_windows);
        }
        let max_worker = (1 << worker) - 1;
        if first_worker > last_worker || last_worker > max_worker {
            return Err(SpaceFault::Workers { first: first_worker, last: last_worker, max: max_worker });
        }
        if last != last_tick(&layout, base) {
            return Err(SpaceFault::LastTick { found: last, expected: last_tick(&layout, base) });
        }
        match base.tick_at(now) {
            None => return Err(SpaceFault::FutureEpoch { epoch: base.epoch, now }),
            Some(tick) if tick >= last => return Err(SpaceFault::Ended { now }),
            Some(_) => {}
        }
        if host_quota == 0 {
            return Err(SpaceFault::Zero { fact: "host_quota" });
        }
        timing.validate(base.tick_nanos)
    }
}

impl Timing {
    fn validate(&self, tick_nanos: u64) -> Result<(), SpaceFault> {
        let fault = |rule, found, limit| Err(SpaceFault::Timing { rule, found, limit });
        let two_ticks = tick_nanos.saturating_mul(2);
        if self.window_nanos < two_ticks {
            return fault("a window has at least two ticks", self.window_nanos, two_ticks);
        }
        if self.renew_nanos == 0 || self.renew_nanos >= self.window_nanos {
            let rule = "time passes between two renewals, and less than a window is long";
            return fault(rule, self.renew_nanos, self.window_nanos);
        }
        if self.max_ahead_nanos < self.window_nanos {
            return fault("max_ahead is at least the window", self.max_ahead_nanos, self.window_nanos);
        }
        for (rule, found) in [
            ("max_ahead is at most a day", self.max_ahead_nanos),
            ("max_lag is at most a day", self.max_lag_nanos),
            ("max_lead is at most a day", self.max_lead_nanos),
            ("max_store_skew is at most a day", self.max_store_skew_nanos),
        ] {
            if found > LONGEST {
                return fault(rule, found, LONGEST);
            }
        }
        Ok(())
    }
}

impl BlockTerms {
    fn validate(&self) -> Result<(), SpaceFault> {
        for (fact, value) in [("step", self.step), ("max_size", self.max_size)] {
            if value == 0 {
                return Err(SpaceFault::Zero { fact });
            }
        }
        if self.offset >= self.step {
            return Err(SpaceFault::Offset { offset: self.offset, step: self.step });
        }
        if self.last >= MAX_SERIAL || self.align(self.first).is_none_or(|first| first > self.last) {
            return Err(SpaceFault::Range { first: self.first, last: self.last });
        }
        for (fact, value) in [("max_size", self.max_size), ("failover_gap", self.failover_gap)] {
            if value > MAX_SERIAL {
                return Err(SpaceFault::TooLarge { fact });
            }
        }
        Ok(())
    }

    /// The lowest value at or above `value` that has the offset; `None` above `u64`.
    #[must_use]
    pub const fn align(&self, value: u64) -> Option<u64> {
        let rest = value % self.step;
        let up = if rest <= self.offset { self.offset - rest } else { self.step - (rest - self.offset) };
        value.checked_add(up)
    }
}

impl ScopeTerms {
    fn validate(&self) -> Result<(), SpaceFault> {
        if self.last >= MAX_SERIAL || self.first > self.last {
            return Err(SpaceFault::Range { first: self.first, last: self.last });
        }
        if self.failover_gap > MAX_SERIAL {
            return Err(SpaceFault::TooLarge { fact: "failover_gap" });
        }
        Ok(())
    }
}

/// The names of all facts: the columns that stores keep them in. Those of other kinds are null.
pub const FACTS: &[&str] = &[
    "name",
    "kind",
    "scheme",
    "layout",
    "epoch",
    "tick_nanos",
    "last_tick",
    "first_worker",
    "last_worker",
    "window_nanos",
    "renew_nanos",
    "max_ahead_nanos",
    "max_lag_nanos",
    "max_lead_nanos",
    "max_store_skew_nanos",
    "host_quota",
    "first",
    "last",
    "step",
    "offset",
    "max_size",
    "failover_gap",
];

/// The facts that are texts; the others are numbers of 63 bits.
pub const TEXT_FACTS: &[&str] = &["name", "kind", "scheme", "layout", "epoch"];

/// The last tick that a layout's time field holds, and that signed columns hold together with the tick after it.
fn last_tick(layout: &Layout, base: TimeBase) -> Tick {
    let bits = layout.value_bits(Role::Timestamp(base));
    let widest = MAX_SERIAL - 1;
    if bits >= 63 { widest } else { ((1 << bits) - 1).min(widest) }
}

/// A layout as a space keeps it: `unused:1/timestamp:41/worker:10/sequence:12`, most significant first; of a value split over
/// fields, each field with its own width. Epoch and tick are facts of their own.
#[must_use]
pub fn layout_text(layout: &Layout) -> String {
    let mut text = String::new();
    for (i, field) in layout.fields().iter().enumerate() {
        let separator = if i == 0 { "" } else { "/" };
        // Writing to a string can't go wrong.
        let _ = write!(text, "{separator}{}:{}", field.name, field.bits);
    }
    text
}

/// Nanoseconds as people write them, exactly: `30 s`, `1500 ms`.
#[must_use]
pub fn length(nanos: u64) -> String {
    let units = [(SECOND, "s"), (1_000_000, "ms"), (1_000, "us")];
    let unit = units.iter().find(|(unit, _)| nanos > 0 && nanos.is_multiple_of(*unit));
    unit.map_or_else(|| format!("{nanos} ns"), |(unit, name)| format!("{} {name}", nanos / unit))
}

impl fmt::Display for SpaceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hex = format!("{:032x}", self.0);
        write!(f, "{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
    }
}

/// The text isn't a UUID.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a UUID; 32 hexadecimal digits expected, with hyphens or without")]
pub struct NotASpaceId;

impl FromStr for SpaceId {
    type Err = NotASpaceId;

    fn from_str(text: &str) -> Result<Self, NotASpaceId> {
        let hex: String = text.chars().filter(|c| *c != '-').collect();
        if hex.len() != 32 || !hex.bytes().all(|c| c.is_ascii_hexdigit()) {
            return Err(NotASpaceId);
        }
        u128::from_str_radix(&hex, 16).map(Self).map_err(|_| NotASpaceId)
    }
}

/// Two spaces that should be one differ.
#[derive(Clone, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[cfg_attr(
    feature = "wire",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case", deny_unknown_fields)
)]
#[error("{fact} is {stored}, {given} was given")]
pub struct Difference {
    /// The fact's name.
    #[cfg_attr(feature = "wire", serde(with = "crate::wire::fixed"))]
    pub fact: Word,
    /// Its value in the first space, the stored one.
    pub stored: String,
    /// Its value in the second.
    pub given: String,
}

/// Why a space can't have these facts.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[cfg_attr(
    feature = "wire",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case", rename_all_fields = "snake_case")
)]
pub enum SpaceFault {
    /// The name has other characters or another length.
    #[error(
        "{found:?} is no name of a space; 1 to 63 of a-z, 0-9, `-`, `_` and `.` expected, a letter or digit first"
    )]
    Name {
        /// The name given.
        found: String,
    },
    /// There is no scheme of this name.
    #[error("there is no scheme {found:?}; `mintage schemes` lists them")]
    Scheme {
        /// The name given.
        found: String,
    },
    /// The scheme has no time field or no worker field of at most 63 bits.
    #[error("{scheme}: has no time field with a worker field beside it, so there is nothing to lease")]
    NoWindows {
        /// The scheme.
        scheme: String,
    },
    /// The scheme can't have this layout.
    #[error("{scheme}: can't have the layout {found}; only the scheme snowflake takes any split")]
    Layout {
        /// The scheme.
        scheme: String,
        /// The layout given.
        found: String,
    },
    /// The tick has no length.
    #[error("a tick of 0 ns; at least 1 expected")]
    Tick,
    /// The range of workers is empty or doesn't fit the field. It isn't masked. Rule 7.
    #[error(
        "workers {first} to {last} were given; a range within 0 to {max} expected, which is what the field holds"
    )]
    Workers {
        /// First worker given.
        #[cfg_attr(feature = "wire", serde(with = "crate::wire::text"))]
        first: u64,
        /// Last worker given.
        #[cfg_attr(feature = "wire", serde(with = "crate::wire::text"))]
        last: u64,
        /// Largest that the field holds.
        #[cfg_attr(feature = "wire", serde(with = "crate::wire::text"))]
        max: u64,
    },
    /// The last tick isn't that of the layout.
    #[error("the last tick is {found}, {expected} expected by the layout")]
    LastTick {
        /// The tick given.
        #[cfg_attr(feature = "wire", serde(with = "crate::wire::text"))]
        found: Tick,
        /// The layout's.
        #[cfg_attr(feature = "wire", serde(with = "crate::wire::text"))]
        expected: Tick,
    },
    /// The epoch lies ahead, so that no id has such a time yet. Rule 7.
    #[error("the epoch {epoch} lies ahead of the store's time {now}; give one that has passed")]
    FutureEpoch {
        /// The epoch given.
        #[cfg_attr(feature = "wire", serde(with = "crate::wire::nanos"))]
        epoch: UnixNanos,
        /// The store's time.
        #[cfg_attr(feature = "wire", serde(with = "crate::wire::nanos"))]
        now: UnixNanos,
    },
    /// The time field can't hold the present. Rule 7.
    #[error("the time field ended before the store's time {now}; give a later epoch or a wider time field")]
    Ended {
        /// The store's time.
        #[cfg_attr(feature = "wire", serde(with = "crate::wire::nanos"))]
        now: UnixNanos,
    },
    /// The durations don't go together.
    #[error("{rule}, {}; {} was given", length(*.limit), length(*.found))]
    Timing {
        /// What holds of them.
        #[cfg_attr(feature = "wire", serde(with = "crate::wire::fixed"))]
        rule: Word,
        /// The nanoseconds given.
        #[cfg_attr(feature = "wire", serde(with = "crate::wire::text"))]
        found: u64,
        /// The nanoseconds that they are compared with.
        #[cfg_attr(feature = "wire", serde(with = "crate::wire::text"))]
        limit: u64,
    },
    /// A fact that can't be 0 is.
    #[error("{fact} is 0; at least 1 expected")]
    Zero {
        /// Its name.
        #[cfg_attr(feature = "wire", serde(with = "crate::wire::fixed"))]
        fact: Word,
    },
    /// A fact is above what a signed column of 64 bits holds.
    #[error("{fact} is above {MAX_SERIAL}, the largest number that stores hold")]
    TooLarge {
        /// Its name.
        #[cfg_attr(feature = "wire", serde(with = "crate::wire::fixed"))]
        fact: Word,
    },
    /// The offset is no rest of the step.
    #[error("offset {offset} with step {step}; an offset below the step expected")]
    Offset {
        /// The offset given.
        #[cfg_attr(feature = "wire", serde(with = "crate::wire::text"))]
        offset: u64,
        /// The step given.
        #[cfg_attr(feature = "wire", serde(with = "crate::wire::text"))]
        step: u64,
    },
    /// The counter's range is empty or above what stores hold.
    #[error(
        "values {first} to {last} were given; a range below {MAX_SERIAL} expected, with a value of the offset in it"
    )]
    Range {
        /// First value given.
        #[cfg_attr(feature = "wire", serde(with = "crate::wire::text"))]
        first: u64,
        /// Last value given.
        #[cfg_attr(feature = "wire", serde(with = "crate::wire::text"))]
        last: u64,
    },
}

#[cfg(test)]
mod tests {
    use super::*;
    use mintage::schemes::snowflake::DEFAULT_BASE;

    const NOW: UnixNanos = UnixNanos::from_secs(1_800_000_000);

    fn twitter() -> Space {
        let windows = Windows::of(Scheme::by_name("snowflake-twitter").unwrap(), None).unwrap();
        Space { id: SpaceId(1), name: "orders".to_owned(), kind: Kind::Windows(windows) }
    }

    fn with(change: impl FnOnce(&mut Windows)) -> Result<(), SpaceFault> {
        let mut space = twitter();
        let Kind::Windows(windows) = &mut space.kind else { unreachable!() };
        change(windows);
        space.validate(NOW)
    }

    #[test]
    fn a_scheme_gives_a_space_its_facts() {
        let space = twitter();
        assert_eq!(space.validate(NOW), Ok(()));
        let windows = space.windows().unwrap();
        assert_eq!(windows.layout, "unused:1/timestamp:41/datacenter:5/worker:5/sequence:12");
        assert_eq!((windows.terms.last_worker, windows.terms.last_tick), (1023, (1 << 41) - 1));
        assert_eq!(windows.layout().unwrap(), Scheme::by_name("snowflake-twitter").unwrap().layout);
    }

    #[test]
    fn every_scheme_with_time_and_worker_keeps_its_layout_through_text() {
        let mut leasable = 0;
        for scheme in mintage::SCHEMES {
            match Windows::of(scheme, None) {
                Ok(windows) => {
                    leasable += 1;
                    assert_eq!(windows.layout().unwrap(), scheme.layout, "{}", scheme.name);
                }
                Err(fault) => assert!(matches!(fault, SpaceFault::NoWindows { .. }), "{fault}"),
            }
        }
        assert!(leasable > 5, "{leasable}");
    }

    #[test]
    fn a_split_of_ones_own_survives_as_text() {
        let layout = custom_split("t39/s8/w16", DEFAULT_BASE).unwrap();
        let windows = Windows::of(Scheme::by_name("snowflake").unwrap(), Some(&layout)).unwrap();
        assert_eq!(windows.layout().unwrap(), layout);
        let twitter = Scheme::by_name("snowflake-twitter").unwrap();
        assert!(matches!(Windows::of(twitter, Some(&layout)), Err(SpaceFault::Layout { .. })));
    }

    #[test]
    fn rule_7_a_future_epoch_is_refused() {
        let epoch = NOW.plus(1);
        let refused = with(|w| w.terms.base.epoch = epoch);
        assert_eq!(refused, Err(SpaceFault::FutureEpoch { epoch, now: NOW }));
    }

    #[test]
    fn rule_7_a_time_field_that_ended_is_refused() {
        let refused = with(|w| w.terms.base.epoch = UnixNanos::from_secs(-1_000_000_000));
        assert_eq!(refused, Err(SpaceFault::Ended { now: NOW }));
    }

    #[test]
    fn rule_7_workers_that_do_not_fit_the_field_are_refused() {
        let refused = with(|w| w.terms.last_worker = 1024);
        assert_eq!(refused, Err(SpaceFault::Workers { first: 0, last: 1024, max: 1023 }));
        assert!(with(|w| w.terms.first_worker = 1024).is_err());
        assert_eq!(with(|w| (w.terms.first_worker, w.terms.last_worker) = (512, 512)), Ok(()));
    }

    #[test]
    fn durations_that_do_not_go_together_are_refused() {
        for change in [
            |t: &mut Timing| t.window_nanos = 1,
            |t: &mut Timing| t.renew_nanos = t.window_nanos,
            |t: &mut Timing| t.renew_nanos = 0,
            |t: &mut Timing| t.max_ahead_nanos = t.window_nanos - 1,
            |t: &mut Timing| t.max_store_skew_nanos = u64::MAX,
        ] {
            let refused = with(|w| change(&mut w.terms.timing));
            assert!(matches!(refused, Err(SpaceFault::Timing { .. })), "{refused:?}");
        }
        let refused = with(|w| w.terms.timing.window_nanos = 1_500).unwrap_err();
        assert_eq!(refused.to_string(), "a window has at least two ticks, 2 ms; 1500 ns was given");
    }

    #[test]
    fn names_are_plain() {
        for name in ["", "Orders", "-a", "a b", "é", &"a".repeat(64)] {
            let space = Space { name: name.to_owned(), ..twitter() };
            assert!(matches!(space.validate(NOW), Err(SpaceFault::Name { .. })), "{name}");
        }
    }

    #[test]
    fn rule_19_spaces_are_equal_or_say_what_differs() {
        let stored = twitter();
        assert_eq!(stored.difference(&Space { id: SpaceId(2), ..twitter() }), None);
        let mut given = twitter();
        let Kind::Windows(windows) = &mut given.kind else { unreachable!() };
        windows.terms.timing.window_nanos = 7;
        let difference = stored.difference(&given).unwrap();
        assert_eq!(difference.to_string(), "window_nanos is 30000000000, 7 was given");
        given.kind = Kind::Blocks(BlockTerms::default());
        assert_eq!(stored.difference(&given).unwrap().to_string(), "kind is windows, blocks was given");
    }

    #[test]
    fn facts_survive_as_texts() {
        let blocks = BlockTerms { step: 3, offset: 2, failover_gap: 9, ..BlockTerms::default() };
        let scopes = ScopeTerms { first: 0, last: 9, failover_gap: 7 };
        for kind in [twitter().kind, Kind::Blocks(blocks), Kind::Scopes(scopes)] {
            let space = Space { kind, ..twitter() };
            let facts = space.facts();
            let fact = |name| facts.iter().find(|(fact, _)| *fact == name).map(|(_, text)| text.clone());
            assert_eq!(Space::from_facts(space.id, &fact), Ok(space.clone()));
            for (missing, _) in &facts {
                let fact = |name| if name == *missing { None } else { fact(name) };
                assert_eq!(Space::from_facts(space.id, &fact), Err(*missing));
            }
        }
    }

    #[test]
    fn every_fact_is_in_the_list_of_columns() {
        let all = [twitter(), Space { kind: Kind::Blocks(BlockTerms::default()), ..twitter() }];
        let mut names: Vec<&str> = all.iter().flat_map(Space::facts).map(|(name, _)| name).collect();
        names.sort_unstable();
        names.dedup();
        let mut columns = FACTS.to_vec();
        columns.sort_unstable();
        assert_eq!(names, columns);
    }

    #[test]
    fn values_align_to_the_offset() {
        let odd = BlockTerms { step: 2, offset: 1, ..BlockTerms::default() };
        assert_eq!([1, 2, 3, 4].map(|value| odd.align(value)), [Some(1), Some(3), Some(3), Some(5)]);
        let third = BlockTerms { step: 5, offset: 2, ..BlockTerms::default() };
        assert_eq!([0, 2, 3, 7, 8].map(|value| third.align(value)), [2, 2, 7, 7, 12].map(Some));
        assert_eq!(third.align(u64::MAX), None);
    }

    #[test]
    fn counters_that_make_no_sense_are_refused() {
        let check = |terms: BlockTerms| terms.validate();
        let good = BlockTerms::default();
        assert_eq!(check(good), Ok(()));
        assert_eq!(check(BlockTerms { step: 0, ..good }), Err(SpaceFault::Zero { fact: "step" }));
        assert_eq!(check(BlockTerms { offset: 1, ..good }), Err(SpaceFault::Offset { offset: 1, step: 1 }));
        assert!(check(BlockTerms { last: u64::MAX, ..good }).is_err());
        assert!(check(BlockTerms { first: 2, last: 2, step: 2, offset: 1, ..good }).is_err());
        assert!(check(BlockTerms { max_size: 0, ..good }).is_err());
        let scopes = ScopeTerms::default();
        assert_eq!(scopes.validate(), Ok(()));
        for terms in [ScopeTerms { first: 5, last: 4, ..scopes }, ScopeTerms { last: MAX_SERIAL, ..scopes }] {
            assert!(matches!(terms.validate(), Err(SpaceFault::Range { .. })), "{terms:?}");
        }
        let refused = ScopeTerms { failover_gap: u64::MAX, ..scopes }.validate();
        assert_eq!(refused, Err(SpaceFault::TooLarge { fact: "failover_gap" }));
    }

    #[test]
    fn ids_of_spaces_print_as_uuids() {
        let id = SpaceId(0x0192_c8a1_b2c3_4d5e_8f90_0102_0304_0506);
        assert_eq!(id.to_string(), "0192c8a1-b2c3-4d5e-8f90-010203040506");
        assert_eq!(id.to_string().parse(), Ok(id));
        assert_eq!("é".repeat(16).parse::<SpaceId>(), Err(NotASpaceId));
    }
}
