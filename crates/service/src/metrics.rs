//! What a server tells Prometheus: one table of metrics, counters that cost an addition, and gauges that are set when somebody looks.
//!
//! Labels are few on purpose: spaces that are open here, templates of paths, kinds of faults; never a client's name, a key or an id.

use crate::api::Api;
use crate::fault::Kind;
use crate::http::routes::ROUTES;
use crate::issuer::Held;
use mintage::{Clock, SystemClock};
use mintage_lease::events::{Event, Happening};
use mintage_lease::headroom::{Ends, Headroom};
use mintage_lease::request::Shown;
use prometheus::{
    Encoder, Gauge, GaugeVec, Histogram, HistogramOpts, HistogramVec, IntCounter, IntCounterVec, Opts,
    Registry, TextEncoder,
};
use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, OnceLock, PoisonError};

/// What sort of thing a metric is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sort {
    /// Only grows.
    Counter,
    /// Goes up and down.
    Gauge,
    /// Durations, by how many were shorter.
    Histogram,
}

/// A metric: its unit ends its name.
#[derive(Clone, Copy, Debug)]
pub struct Metric {
    /// The name.
    pub name: &'static str,
    /// What sort it is.
    pub sort: Sort,
    /// Its labels.
    pub labels: &'static [&'static str],
    /// What it tells.
    pub about: &'static str,
}

const fn counter(name: &'static str, labels: &'static [&'static str], about: &'static str) -> Metric {
    Metric { name, sort: Sort::Counter, labels, about }
}

const fn gauge(name: &'static str, labels: &'static [&'static str], about: &'static str) -> Metric {
    Metric { name, sort: Sort::Gauge, labels, about }
}

const SPACE: &[&str] = &["space"];

const BUILD: Metric = gauge("mintage_build_info", &["version"], "1, with the version of the program");
const READY: Metric =
    gauge("mintage_ready", &[], "1 where ids of all spaces that are open here can be handed out, else 0");
const REQUESTS: Metric = counter(
    "mintage_requests_total",
    &["surface", "route", "result"],
    "requests answered, by how: ok or the kind of fault; commands of the Redis protocol one by one",
);
const SECONDS: Metric = Metric {
    name: "mintage_request_duration_seconds",
    sort: Sort::Histogram,
    labels: &["surface", "route"],
    about: "how long an answer took: of HTTP a request, of the Redis protocol all commands that were read at once",
};
const IDS: Metric = counter("mintage_space_ids_total", SPACE, "ids handed out of a space");
const SCHEME_IDS: Metric =
    counter("mintage_scheme_ids_total", &["scheme"], "ids handed out of a scheme that needs no worker");
const CONNECTIONS: Metric = gauge("mintage_connections", &["surface"], "connections that are open");
const CONNECTIONS_REFUSED: Metric = counter(
    "mintage_connections_refused_total",
    &["surface"],
    "connections above the limit, told to come again",
);
const WAITING: Metric =
    gauge("mintage_requests_waiting", &[], "requests that wait for a store or for time to pass");
const TICK_LIMIT: Metric = counter(
    "mintage_tick_limit_hits_total",
    SPACE,
    "requests that had to wait, as the sequence of the tick was spent or the window had ended",
);
const LEASE_EVENTS: Metric = counter(
    "mintage_lease_events_total",
    &["space", "event"],
    "what happened to leases and blocks: renewed, renewal-failed, lost, hold-began, claimed, wasted and so on",
);
const WINDOW: Metric = gauge(
    "mintage_window_remaining_seconds",
    SPACE,
    "for how long ids can be minted without the store, before time dilates",
);
const LAG: Metric = gauge(
    "mintage_dilation_lag_seconds",
    SPACE,
    "how far ids stay behind the time, as the window has ended; 0 while it lasts",
);
const STORE_OFFSET: Metric = gauge(
    "mintage_store_clock_offset_seconds",
    SPACE,
    "the store's clock less the host's, as the lease knows it",
);
const K_BOUND: Metric = gauge(
    "mintage_k_sorting_bound_seconds",
    SPACE,
    "how far apart in time two ids of the space may be whose order is the other way round",
);
const COUNTER_LEFT: Metric =
    gauge("mintage_block_values_remaining", SPACE, "values of a counter that memory has, without the store");
const BLOCKS: Metric = counter("mintage_blocks_claimed_total", SPACE, "blocks claimed by this server");
const BLOCK_VALUES: Metric = counter("mintage_block_values_total", SPACE, "values in them");
const GIVEN_BACK: Metric =
    counter("mintage_block_values_given_back_total", SPACE, "values given back unused");
const WASTED: Metric = counter("mintage_block_values_wasted_total", SPACE, "values that nobody will have");
const ON_HOLD: Metric = gauge(
    "mintage_space_on_hold",
    SPACE,
    "1 while the space grants no worker, as its store may have lost what it acknowledged",
);
const STOPPED: Metric =
    gauge("mintage_space_stopped", SPACE, "1 while a counter hands out nothing until an operator acts");
const WORKERS_FREE: Metric = gauge("mintage_workers_free", SPACE, "workers that could be leased now");
const HEADROOM: Metric = gauge(
    "mintage_headroom_seconds",
    &["space", "what"],
    "until the time field or the counter ends: a date for time fields, for counters at the highest rate seen; absent where that is beyond the year 9999",
);
const HEADROOM_RATIO: Metric = gauge(
    "mintage_headroom_ratio",
    &["space", "what"],
    "the share of the time field or of the counter that is left, 0 to 1",
);
const STORE_UP: Metric =
    gauge("mintage_store_up", &[], "1 where the store answered when it was looked at last");
const STORE_AGE: Metric =
    gauge("mintage_store_look_age_seconds", &[], "since when the store was looked at last and answered");
const CLOCK_SYNCED: Metric = gauge(
    "mintage_host_clock_synchronized",
    &[],
    "1 where the kernel takes its clock for synchronized (NTP)",
);
const CLOCK_OFFSET: Metric = gauge(
    "mintage_host_clock_offset_seconds",
    &["source"],
    "how far the host's clock is off, as the kernel or chrony has it",
);
const CLOCK_ERROR: Metric = gauge(
    "mintage_host_clock_max_error_seconds",
    &[],
    "how far the host's clock may be off at most, as the kernel has it",
);

/// All of them.
pub const METRICS: &[Metric] = &[
    BUILD,
    READY,
    REQUESTS,
    SECONDS,
    IDS,
    SCHEME_IDS,
    CONNECTIONS,
    CONNECTIONS_REFUSED,
    WAITING,
    TICK_LIMIT,
    LEASE_EVENTS,
    WINDOW,
    LAG,
    STORE_OFFSET,
    K_BOUND,
    COUNTER_LEFT,
    BLOCKS,
    BLOCK_VALUES,
    GIVEN_BACK,
    WASTED,
    ON_HOLD,
    STOPPED,
    WORKERS_FREE,
    HEADROOM,
    HEADROOM_RATIO,
    STORE_UP,
    STORE_AGE,
    CLOCK_SYNCED,
    CLOCK_OFFSET,
    CLOCK_ERROR,
];

/// Seconds by which durations are told apart: from what memory takes to what a store that is away does.
const BUCKETS: &[f64] = &[
    0.000_025, 0.000_05, 0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25,
    0.5, 1.0, 2.5, 5.0, 10.0, 30.0,
];

/// A surface, as in labels.
pub(crate) const HTTP: &str = "http";
/// The other.
pub(crate) const REDIS: &str = "redis";
/// What stands for the route of commands of the Redis protocol that were read at once.
pub(crate) const BATCH: &str = "batch";
/// What stands for paths that there aren't.
const OTHER: &str = "other";
/// What was answered where nothing was wrong.
const OK: &str = "ok";

/// What a look at the store found, and when, on the boottime clock.
#[derive(Default)]
struct Looked {
    shown: HashMap<String, Shown>,
    at: Option<u64>,
    is_up: bool,
}

/// The metrics of a server.
pub struct Metrics {
    registry: Registry,
    counters: HashMap<&'static str, IntCounterVec>,
    gauges: HashMap<&'static str, GaugeVec>,
    seconds: HistogramVec,
    /// What counts the answers of each route, once it was asked for.
    routes: HashMap<&'static str, OnceLock<Answers>>,
    batch: OnceLock<Answers>,
    /// Counts what no metric stands for, and isn't shown.
    spare: IntCounter,
    looked: Mutex<Looked>,
    /// Gauges are set and read by one at a time.
    scrape: Mutex<()>,
}

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Metrics")
    }
}

impl Metrics {
    /// All at zero.
    ///
    /// # Errors
    /// A name or a label that Prometheus doesn't take, of which the table has none.
    pub fn new() -> Result<Self, prometheus::Error> {
        let registry = Registry::new();
        let (mut counters, mut gauges) = (HashMap::new(), HashMap::new());
        let seconds = HistogramVec::new(
            HistogramOpts::new(SECONDS.name, SECONDS.about).buckets(BUCKETS.to_vec()),
            SECONDS.labels,
        )?;
        registry.register(Box::new(seconds.clone()))?;
        for metric in METRICS {
            let opts = Opts::new(metric.name, metric.about);
            match metric.sort {
                Sort::Counter => {
                    let vec = IntCounterVec::new(opts, metric.labels)?;
                    registry.register(Box::new(vec.clone()))?;
                    counters.insert(metric.name, vec);
                }
                Sort::Gauge => {
                    let vec = GaugeVec::new(opts, metric.labels)?;
                    registry.register(Box::new(vec.clone()))?;
                    gauges.insert(metric.name, vec);
                }
                Sort::Histogram => {}
            }
        }
        let spare = IntCounter::new("mintage_spare_total", "counts for nothing")?;
        let own = Self {
            registry,
            counters,
            gauges,
            seconds,
            routes: ROUTES
                .iter()
                .map(|route| (route.path, OnceLock::new()))
                .chain([(OTHER, OnceLock::new())])
                .collect(),
            batch: OnceLock::new(),
            spare,
            looked: Mutex::default(),
            scrape: Mutex::default(),
        };
        own.set(&BUILD, &[env!("CARGO_PKG_VERSION")], 1.0);
        Ok(own)
    }

    /// A counter of the table with these labels, to be kept by whoever counts often.
    fn counter(&self, metric: &Metric, labels: &[&str]) -> IntCounter {
        match self.counters.get(metric.name) {
            Some(vec) => vec.with_label_values(labels),
            // The table has each that is asked for.
            None => self.spare.clone(),
        }
    }

    fn set(&self, metric: &Metric, labels: &[&str], value: f64) {
        if let Some(vec) = self.gauges.get(metric.name) {
            vec.with_label_values(labels).set(value);
        }
    }

    /// What counts the ids of a space.
    pub(crate) fn of_space(&self, space: &str) -> SpaceCounters {
        SpaceCounters { ids: self.counter(&IDS, &[space]), waits: self.counter(&TICK_LIMIT, &[space]) }
    }

    /// Ids of a scheme were handed out.
    pub(crate) fn ids_of_scheme(&self, scheme: &'static str, count: u64) {
        self.counter(&SCHEME_IDS, &[scheme]).inc_by(count);
    }

    /// What counts the answers of a path as the table of routes has it; `None` is any other path.
    pub(crate) fn of_route(&self, path: Option<&str>) -> (&'static str, Option<&Answers>) {
        let known = path.and_then(|path| self.routes.get_key_value(path));
        let Some((route, answers)) = known.or_else(|| self.routes.get_key_value(OTHER)) else {
            return (OTHER, None);
        };
        (route, Some(answers.get_or_init(|| self.answers(HTTP, route))))
    }

    /// What counts commands of the Redis protocol.
    pub(crate) fn batch(&self) -> &Answers {
        self.batch.get_or_init(|| self.answers(REDIS, BATCH))
    }

    fn answers(&self, surface: &str, route: &str) -> Answers {
        Answers {
            ok: self.counter(&REQUESTS, &[surface, route, OK]),
            seconds: self.seconds.with_label_values(&[surface, route]),
        }
    }

    /// A request was answered by a fault.
    pub(crate) fn failed(&self, surface: &str, route: &str, kind: Kind) {
        self.counter(&REQUESTS, &[surface, route, kind.facts().slug]).inc();
    }

    /// A connection was opened; it counts until this is dropped.
    pub(crate) fn connected(&self, surface: &str) -> Connected {
        let gauge = self.gauges.get(CONNECTIONS.name).map(|vec| vec.with_label_values(&[surface]));
        if let Some(gauge) = &gauge {
            gauge.inc();
        }
        Connected(gauge)
    }

    /// A connection was one too many.
    pub(crate) fn refused(&self, surface: &str) {
        self.counter(&CONNECTIONS_REFUSED, &[surface]).inc();
    }

    /// Something happened to a lease or a block.
    pub(crate) fn happened(&self, event: &Event) {
        let word = match event.event {
            Happening::Space => return,
            other => other.name(),
        };
        self.counter(&LEASE_EVENTS, &[&event.space, word]).inc();
    }

    /// What the store shows of the spaces that are open here; nothing of those that it didn't answer for.
    pub(crate) fn looked(&self, shown: Vec<Shown>, is_up: bool) {
        let mut looked = self.looked.lock().unwrap_or_else(PoisonError::into_inner);
        looked.is_up = is_up;
        if is_up {
            looked.at = Some(SystemClock.boottime_nanos());
            looked.shown = shown.into_iter().map(|shown| (shown.space.name.clone(), shown)).collect();
        }
    }

    /// Everything, as Prometheus reads it. The store isn't asked.
    ///
    /// # Errors
    /// What the encoder says.
    pub fn text(&self, api: &Api) -> Result<String, prometheus::Error> {
        let _one = self.scrape.lock().unwrap_or_else(PoisonError::into_inner);
        self.gather(api);
        let mut bytes = Vec::new();
        TextEncoder::new().encode(&self.registry.gather(), &mut bytes)?;
        String::from_utf8(bytes).map_err(|error| prometheus::Error::Msg(error.to_string()))
    }

    /// Sets what is known when somebody looks. What isn't there any more is gone.
    fn gather(&self, api: &Api) {
        let kept = [BUILD.name, CONNECTIONS.name];
        self.gauges.iter().filter(|(name, _)| !kept.contains(name)).for_each(|(_, vec)| vec.reset());
        self.set(&READY, &[], f64::from(u8::from(api.lacks().is_empty())));
        self.set(&WAITING, &[], api.waiting() as f64);
        for issuer in api.all_open() {
            self.gather_held(&issuer.facts().name, issuer.held());
        }
        let looked = self.looked.lock().unwrap_or_else(PoisonError::into_inner);
        self.set(&STORE_UP, &[], f64::from(u8::from(looked.is_up)));
        if let Some(at) = looked.at {
            self.set(&STORE_AGE, &[], SystemClock.boottime_nanos().saturating_sub(at) as f64 / 1e9);
        }
        looked.shown.values().for_each(|shown| self.gather_shown(shown));
        drop(looked);
        self.gather_clock();
    }

    fn gather_held(&self, space: &str, held: Held) {
        match held {
            Held::Nothing => {}
            Held::Window { remaining, lag, store_offset_nanos, k_bound } => {
                self.set(&WINDOW, &[space], remaining.as_secs_f64());
                self.set(&LAG, &[space], lag.as_secs_f64());
                self.set(&STORE_OFFSET, &[space], store_offset_nanos as f64 / 1e9);
                self.set(&K_BOUND, &[space], k_bound.as_secs_f64());
            }
            Held::Blocks { remaining, counts } => {
                self.set(&COUNTER_LEFT, &[space], remaining as f64);
                for (metric, value) in [
                    (&BLOCKS, counts.blocks),
                    (&BLOCK_VALUES, counts.claimed),
                    (&GIVEN_BACK, counts.given_back),
                    (&WASTED, counts.wasted),
                ] {
                    let counter = self.counter(metric, &[space]);
                    counter.inc_by(value.saturating_sub(counter.get()));
                }
            }
        }
    }

    fn gather_shown(&self, shown: &Shown) {
        let space = shown.space.name.as_str();
        if let Some(windows) = shown.space.windows() {
            let terms = &windows.terms;
            let now = terms.base.tick_at(shown.now).unwrap_or(0);
            self.set(&ON_HOLD, &[space], f64::from(u8::from(shown.state.floor > now)));
            let taken = shown.workers.iter().filter(|row| row.is_burned || row.mark > now).count() as u64;
            let all = terms.last_worker.saturating_sub(terms.first_worker).saturating_add(1);
            self.set(&WORKERS_FREE, &[space], all.saturating_sub(taken) as f64);
        } else {
            self.set(&STOPPED, &[space], f64::from(u8::from(shown.state.block.is_stale)));
        }
        if let Some(headroom) = Headroom::of(shown) {
            let what = match headroom.what {
                Ends::TimeField => "time-field",
                Ends::Counter => "counter",
            };
            self.set(&HEADROOM_RATIO, &[space, what], 1.0 - headroom.used);
            if let Some(ends_at) = headroom.ends_at {
                self.set(&HEADROOM, &[space, what], (ends_at.0 - shown.now.0) as f64 / 1e9);
            }
        }
    }

    #[cfg(all(target_os = "linux", target_pointer_width = "64"))]
    fn gather_clock(&self) {
        let Some(clock) = crate::host_clock::kernel() else { return };
        self.set(&CLOCK_SYNCED, &[], f64::from(u8::from(clock.is_synchronized)));
        self.set(&CLOCK_ERROR, &[], clock.max_error_nanos as f64 / 1e9);
        self.set(&CLOCK_OFFSET, &["kernel"], clock.offset_nanos as f64 / 1e9);
        if let Some(seconds) = crate::host_clock::chrony() {
            self.set(&CLOCK_OFFSET, &["chrony"], seconds);
        }
    }

    #[cfg(not(all(target_os = "linux", target_pointer_width = "64")))]
    #[expect(clippy::unused_self, reason = "there is nothing to ask here")]
    fn gather_clock(&self) {}
}

/// What counts the ids of a space.
#[derive(Clone, Debug)]
pub(crate) struct SpaceCounters {
    pub(crate) ids: IntCounter,
    pub(crate) waits: IntCounter,
}

/// What counts the answers of a route.
#[derive(Clone, Debug)]
pub(crate) struct Answers {
    ok: IntCounter,
    seconds: Histogram,
}

impl Answers {
    /// So many went well; all together, with those that didn't, took so long.
    pub(crate) fn went_well(&self, count: u64, nanos: u64) {
        self.ok.inc_by(count);
        self.seconds.observe(nanos as f64 / 1e9);
    }
}

/// A connection that is open.
#[derive(Debug)]
pub(crate) struct Connected(Option<Gauge>);

impl Drop for Connected {
    fn drop(&mut self) {
        if let Some(gauge) = &self.0 {
            gauge.dec();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn names_end_with_their_unit_and_stand_once() {
        let names: HashSet<&str> = METRICS.iter().map(|metric| metric.name).collect();
        assert_eq!(names.len(), METRICS.len());
        for metric in METRICS {
            assert!(metric.name.starts_with("mintage_") && metric.about.len() > 10, "{metric:?}");
            assert_eq!(metric.sort == Sort::Counter, metric.name.ends_with("_total"), "{metric:?}");
        }
        assert!(Metrics::new().is_ok());
    }
}
