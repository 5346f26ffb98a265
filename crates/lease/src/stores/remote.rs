//! The store of a service: `http://host:8090` or `https://token@host`. A process leases from `mintage serve` and mints by itself; what is decided, the service's
//! own store decides.
//!
//! A request goes out on a connection that nobody else uses meanwhile, so it is known whether it was sent: what was not is sent again; what was, and had no answer
//! that is the service's, has an unknown outcome. The store's time was read between the client's sending and receiving, so that the way there and back is
//! part of what the client takes for uncertain. Rules 3, 10 and 11.

mod connect;

use super::attempt::{Again, Failure, tried};
use crate::clock::{HostClock, SystemHostClock};
use crate::error::{Cause, Error};
use crate::request::{Answered, Caller, Request, Shown};
use crate::space::Space;
use crate::store::{Answering, CheckLine, CreateOptions, Deadline, OpenOptions, Store, StoreEntry, redacted};
use crate::wire::{Asked, Facts, Fault, Line, Rows, Told, Wanted};
use connect::{Connections, Outcome, Trouble};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Arc;

/// The list line of this store.
pub const ENTRY: StoreEntry = StoreEntry {
    url_schemes: &["http", "https"],
    summary: "a service, `mintage serve`, and its store",
    example: "https://host:8090",
    open,
    schema: || SCHEMA.to_owned(),
};

/// It keeps nothing itself.
const SCHEMA: &str = "A service makes what its own store needs (mintage/meta in etcd and ZooKeeper, tables elsewhere): see `mintage store schema` of that store.\n\
                      Its clients need a token that allows lease:SPACE; one that allows read to show, and admin to create, drop and bump.\n";

fn open(url: &str, options: OpenOptions) -> Result<Arc<dyn Store>, Error> {
    Ok(Arc::new(Remote::open(url, options)?))
}

/// A handle of a service's store.
#[derive(Debug)]
pub struct Remote {
    url: String,
    clock: Arc<dyn HostClock>,
    /// Which process opened it. Rule 8.
    generation: u64,
    connections: Connections,
}

/// Whether what was sent and had no answer may be sent again.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Effect {
    /// It only reads, or does the same again.
    Reads,
    /// It may have been carried out.
    Writes,
}

impl Remote {
    /// The store of a URL. The first call connects.
    ///
    /// # Errors
    /// [`Error::Url`] when the URL makes no sense, or would send a token that others can read.
    pub fn open(url: &str, options: OpenOptions) -> Result<Self, Error> {
        Ok(Self {
            url: redacted(url),
            clock: options.clock.unwrap_or_else(|| Arc::new(SystemHostClock)),
            generation: mintage::entropy::generation(),
            connections: Connections::of(url)?,
        })
    }

    /// One attempt: what is answered, and between which readings of the clock.
    async fn attempt<T: DeserializeOwned>(
        &self,
        request: &'static str,
        effect: Effect,
        place: &Place<'_>,
        body: Option<&(impl Serialize + Sync)>,
        deadline: Deadline,
    ) -> Result<(T, u64, u64), Failure> {
        let body =
            body.map(serde_json::to_vec).transpose().map_err(|error| self.database(request, error.into()))?;
        let sent = self.clock.boottime_nanos();
        let asked = self.connections.ask(place.method, &place.path, body.unwrap_or_default(), deadline).await;
        let received = self.clock.boottime_nanos();
        let unknown = |source: Cause| match effect {
            Effect::Reads => Failure::Again(Again { source, is_unreachable: true }),
            Effect::Writes => Error::UnknownOutcome { store: self.url.clone(), request, source }.into(),
        };
        let Outcome { status, body } = match asked {
            Ok(outcome) => outcome,
            Err(Trouble::NotSent(source)) => {
                return Err(Failure::Again(Again { source, is_unreachable: true }));
            }
            Err(Trouble::Fatal(source)) => {
                return Err(Error::Unreachable { store: self.url.clone(), source }.into());
            }
            Err(Trouble::Sent(source)) => return Err(unknown(source)),
        };
        if status == 200 || status == 201 {
            return match serde_json::from_slice(&body) {
                Ok(answer) => Ok((answer, sent, received)),
                Err(error) => Err(unknown(format!("an answer that isn't a service's: {error}").into())),
            };
        }
        let problem: Value = serde_json::from_slice(&body).unwrap_or_default();
        let detail = problem["detail"].as_str().unwrap_or_default().to_owned();
        if let Ok(fault) = Fault::deserialize(&problem["lease_error"]) {
            let error = fault.error(&self.url, place.space, request, detail.into());
            return Err(match error {
                // The service waited for its store until the deadline, and this client's is no later.
                Error::Deadline { source: Some(source), .. } => {
                    Failure::Again(Again { source, is_unreachable: false })
                }
                Error::Unreachable { source, .. } => Failure::Again(Again { source, is_unreachable: true }),
                error => error.into(),
            });
        }
        let kind = problem["type"].as_str().and_then(|kind| kind.strip_prefix("/problems/"));
        Err(match kind {
            Some("unauthorized" | "forbidden") => Error::Denied {
                store: self.url.clone(),
                needs: "a token that allows it, in the variable MINTAGE_TOKEN; `mintage auth add` makes one",
                request,
                source: detail.into(),
            }
            .into(),
            Some("overloaded" | "ending") => {
                Failure::Again(Again { source: detail.into(), is_unreachable: false })
            }
            Some("timed-out") => unknown(detail.into()),
            Some(_) => self.database(request, detail.into()).into(),
            // Something between answered, and nobody knows what it did with the request.
            None => unknown(format!("an answer of status {status} that isn't a service's").into()),
        })
    }

    fn database(&self, request: &'static str, source: Cause) -> Error {
        Error::Database { store: self.url.clone(), request, source }
    }

    fn read<T>(&self, request: &'static str, read: Result<T, &'static str>) -> Result<T, Error> {
        read.map_err(|fact| self.database(request, format!("the fact {fact} can't be read").into()))
    }
}

/// Where something is asked.
struct Place<'a> {
    method: &'static str,
    path: String,
    space: &'a str,
}

impl<'a> Place<'a> {
    fn of_space(method: &'static str, space: &'a str, rest: &str) -> Self {
        Self { method, path: format!("/v1/spaces/{}{rest}", escaped(space)), space }
    }

    fn of_store(method: &'static str, rest: &str) -> Self {
        Self { method, path: format!("/v1/store{rest}"), space: "" }
    }
}

/// A name in a path.
fn escaped(name: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    name.bytes().fold(String::new(), |mut path, byte| {
        if is_plain(byte) {
            path.push(char::from(byte));
        } else {
            path.push_str(&format!("%{byte:02X}"));
        }
        path
    })
}

fn within_ms(deadline: Deadline) -> u32 {
    u32::try_from(deadline.left().as_millis()).unwrap_or(u32::MAX)
}

const NOTHING: Option<&()> = None;

/// Attempts until one is the last, without its times.
macro_rules! asked {
    ($store:expr, $request:expr, $effect:expr, $place:expr, $body:expr, $deadline:expr) => {
        tried!($store, |store: &Remote| store.connections.forget(), $request, $deadline, || async {
            let place = $place;
            $store.attempt($request, $effect, &place, $body, $deadline).await
        })
        .map(|(answer, ..)| answer)
    };
}

impl Store for Remote {
    fn url(&self) -> &str {
        &self.url
    }

    fn clock(&self) -> &dyn HostClock {
        &*self.clock
    }

    fn space<'a>(&'a self, name: &'a str, deadline: Deadline) -> Answering<'a, Space> {
        Box::pin(async move {
            let place = || Place::of_space("GET", name, "/facts");
            let facts: Facts = asked!(self, "open", Effect::Reads, place(), NOTHING, deadline)?;
            self.read("open", facts.space())
        })
    }

    fn ask<'a>(
        &'a self,
        space: &'a Space,
        caller: &'a Caller,
        request: &'a Request,
        deadline: Deadline,
    ) -> Answering<'a, Answered> {
        Box::pin(async move {
            let (method, rest) = match request {
                Request::Acquire(_) => ("POST", "/leases"),
                Request::Renew(_) | Request::Reassert(_) => ("PUT", "/leases"),
                Request::Release(_) => ("DELETE", "/leases"),
                _ => ("POST", "/requests"),
            };
            let effect = match request {
                Request::Look | Request::LookScope(_) | Request::Scopes(_) => Effect::Reads,
                _ => Effect::Writes,
            };
            let name = request.name();
            let done: Result<(Told, u64, u64), Error> =
                tried!(self, |store: &Self| store.connections.forget(), name, deadline, || async {
                    let boottime = self.clock.boottime_nanos();
                    let asked = Asked::of(space.id, caller, request, boottime, within_ms(deadline));
                    let place = Place::of_space(method, &space.name, rest);
                    self.attempt(name, effect, &place, Some(&asked), deadline).await
                });
            let (told, sent, received) = done?;
            Ok(told.answered(sent, received))
        })
    }

    fn create<'a>(
        &'a self,
        space: &'a Space,
        options: CreateOptions,
        deadline: Deadline,
    ) -> Answering<'a, Space> {
        Box::pin(async move {
            let wanted = || Wanted {
                space: Facts::of(space),
                restart_hold: options.restart_hold,
                trusts_clock: options.trusts_clock,
                within_ms: within_ms(deadline),
            };
            // Creating the same again finds it.
            let place = || Place { space: &space.name, ..Place::of_store("POST", "/spaces") };
            let made: Facts = asked!(self, "create", Effect::Reads, place(), Some(&wanted()), deadline)?;
            self.read("create", made.space())
        })
    }

    fn list(&self, deadline: Deadline) -> Answering<'_, Vec<Shown>> {
        Box::pin(async move {
            let place = || Place::of_store("GET", "/spaces");
            let all: Vec<Rows> = asked!(self, "list", Effect::Reads, place(), NOTHING, deadline)?;
            all.into_iter().map(|rows| self.read("list", rows.shown())).collect()
        })
    }

    fn show<'a>(&'a self, name: &'a str, deadline: Deadline) -> Answering<'a, Shown> {
        Box::pin(async move {
            let place =
                || Place { space: name, ..Place::of_store("GET", &format!("/spaces/{}", escaped(name))) };
            let rows: Rows = asked!(self, "show", Effect::Reads, place(), NOTHING, deadline)?;
            self.read("show", rows.shown())
        })
    }

    fn drop_space<'a>(&'a self, name: &'a str, deadline: Deadline) -> Answering<'a, ()> {
        Box::pin(async move {
            let place =
                || Place { space: name, ..Place::of_store("DELETE", &format!("/spaces/{}", escaped(name))) };
            asked!(self, "drop", Effect::Writes, place(), NOTHING, deadline)
        })
    }

    fn check(&self, deadline: Deadline) -> Answering<'_, Vec<CheckLine>> {
        Box::pin(async move {
            let place = || Place::of_store("GET", "/check");
            let lines: Vec<Line> = asked!(self, "check", Effect::Reads, place(), NOTHING, deadline)?;
            Ok(lines.into_iter().map(Into::into).collect())
        })
    }

    fn upgrade(&self, deadline: Deadline) -> Answering<'_, ()> {
        Box::pin(async move {
            let place = || Place::of_store("POST", "/upgrade");
            asked!(self, "upgrade", Effect::Reads, place(), NOTHING, deadline)
        })
    }
}
