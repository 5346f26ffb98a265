//! Every path: what serves it, and what the OpenAPI document says of it. A new one is a line here and a function.

use super::openapi::{Answer, Body, Parameter};
use super::{handlers, leases};
use crate::api::Api;
use crate::fault::Kind;
use axum::extract::DefaultBodyLimit;
use axum::routing::{MethodRouter, delete, get, post, put};
use std::fmt;
use std::sync::Arc;

/// A method of HTTP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Reads.
    Get,
    /// Changes something, or hands something out.
    Post,
    /// Lengthens what is held.
    Put,
    /// Ends it.
    Delete,
}

impl Method {
    /// In small letters, as OpenAPI has it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::Post => "post",
            Self::Put => "put",
            Self::Delete => "delete",
        }
    }
}

/// A path and a method.
#[derive(Clone, Copy)]
pub struct Route {
    /// The method.
    pub method: Method,
    /// The path, with names in braces.
    pub path: &'static str,
    /// What it does.
    pub about: &'static str,
    /// What the token must allow; nothing where none is needed.
    pub needs: Option<&'static str>,
    /// What may stand in the query.
    pub query: &'static [Parameter],
    /// What is sent.
    pub body: Option<Body>,
    /// What is answered.
    pub answer: Answer,
    /// How it may fail beside what every path may: bad requests, missing tokens, limits, and faults of the store.
    pub faults: &'static [Kind],
    /// What serves it.
    pub make: fn() -> MethodRouter<Arc<Api>>,
}

impl fmt::Debug for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.method.name(), self.path)
    }
}

const COUNT: &[Parameter] = &[Parameter::COUNT];
const SIZE: &[Parameter] = &[Parameter::SIZE];
const KEY_ID: &[Parameter] = &[Parameter::KEY_ID];
const OF_SPACE: &[Kind] =
    &[Kind::NoSuchSpace, Kind::WrongKind, Kind::Exhausted, Kind::OnHold, Kind::NoWorker];

/// All of them.
pub const ROUTES: &[Route] = &[
    Route {
        method: Method::Get,
        path: "/v1/ids/{scheme}",
        about: "Ids of a scheme that needs no worker, such as uuid-v7",
        needs: Some("any token"),
        query: COUNT,
        body: None,
        answer: Answer::Ids,
        faults: &[Kind::NoSuchScheme],
        make: || get(handlers::ids_of_scheme),
    },
    Route {
        method: Method::Post,
        path: "/v1/spaces/{space}/ids",
        about: "Ids of a space",
        needs: Some("mint:SPACE"),
        query: COUNT,
        body: None,
        answer: Answer::Ids,
        faults: OF_SPACE,
        make: || post(handlers::ids),
    },
    Route {
        method: Method::Post,
        path: "/v1/spaces/{space}/blocks",
        about: "A block of values of a counter, for the caller alone",
        needs: Some("mint:SPACE"),
        query: SIZE,
        body: None,
        answer: Answer::Block,
        faults: OF_SPACE,
        make: || post(handlers::blocks),
    },
    Route {
        method: Method::Post,
        path: "/v1/spaces/{space}/scopes/{scope}/next",
        about: "Numbers of a scope, one after the other",
        needs: Some("mint:SPACE"),
        query: COUNT,
        body: None,
        answer: Answer::Ids,
        faults: OF_SPACE,
        make: || post(handlers::of_scope),
    },
    Route {
        method: Method::Get,
        path: "/v1/spaces",
        about: "The spaces of the store",
        needs: Some("read"),
        query: &[],
        body: None,
        answer: Answer::Spaces,
        faults: &[],
        make: || get(handlers::spaces),
    },
    Route {
        method: Method::Post,
        path: "/v1/spaces",
        about: "Makes a space, or finds it with the same facts",
        needs: Some("admin"),
        query: &[],
        body: Some(Body::Space),
        answer: Answer::MadeSpace,
        faults: &[Kind::SpaceDiffers],
        make: || post(handlers::create),
    },
    Route {
        method: Method::Get,
        path: "/v1/spaces/{space}",
        about: "The facts of a space",
        needs: Some("read"),
        query: &[],
        body: None,
        answer: Answer::Space,
        faults: &[Kind::NoSuchSpace],
        make: || get(handlers::space),
    },
    Route {
        method: Method::Post,
        path: "/v1/facades/{name}/encode",
        about: "Public forms of ids",
        needs: Some("read"),
        query: KEY_ID,
        body: Some(Body::Ids),
        answer: Answer::Facades,
        faults: &[Kind::NoSuchFacade],
        make: || post(handlers::encode),
    },
    Route {
        method: Method::Post,
        path: "/v1/facades/{name}/decode",
        about: "The ids that public forms stand for",
        needs: Some("read"),
        query: KEY_ID,
        body: Some(Body::Facades),
        answer: Answer::Texts,
        faults: &[Kind::NoSuchFacade],
        make: || post(handlers::decode),
    },
    Route {
        method: Method::Get,
        path: "/v1/inspect/{id}",
        about: "What an id may be, and what it tells",
        needs: Some("any token"),
        query: &[],
        body: None,
        answer: Answer::Readings,
        faults: &[],
        make: || get(handlers::inspected),
    },
    Route {
        method: Method::Post,
        path: "/v1/spaces/{space}/leases",
        about: "Leases workers, for a process that mints itself",
        needs: Some("lease:SPACE"),
        query: &[],
        body: Some(Body::Asked),
        answer: Answer::Document,
        faults: OF_SPACE,
        make: || post(leases::acquire).layer(DefaultBodyLimit::max(leases::MAX_BODY)),
    },
    Route {
        method: Method::Put,
        path: "/v1/spaces/{space}/leases",
        about: "Lengthens windows, or asserts leases again during a hold",
        needs: Some("lease:SPACE"),
        query: &[],
        body: Some(Body::Asked),
        answer: Answer::Document,
        faults: OF_SPACE,
        make: || put(leases::renew).layer(DefaultBodyLimit::max(leases::MAX_BODY)),
    },
    Route {
        method: Method::Delete,
        path: "/v1/spaces/{space}/leases",
        about: "Ends a lease",
        needs: Some("lease:SPACE"),
        query: &[],
        body: Some(Body::Asked),
        answer: Answer::Document,
        faults: OF_SPACE,
        make: || delete(leases::release).layer(DefaultBodyLimit::max(leases::MAX_BODY)),
    },
    Route {
        method: Method::Post,
        path: "/v1/spaces/{space}/requests",
        about: "Claims and gives back blocks, takes numbers of scopes; what operators do needs admin",
        needs: Some("lease:SPACE"),
        query: &[],
        body: Some(Body::Asked),
        answer: Answer::Document,
        faults: OF_SPACE,
        make: || post(leases::other).layer(DefaultBodyLimit::max(leases::MAX_BODY)),
    },
    Route {
        method: Method::Get,
        path: "/v1/spaces/{space}/facts",
        about: "The facts of a space, for a process that mints itself",
        needs: Some("lease:SPACE or read"),
        query: &[],
        body: None,
        answer: Answer::Document,
        faults: &[Kind::NoSuchSpace],
        make: || get(leases::facts),
    },
    Route {
        method: Method::Get,
        path: "/v1/store/spaces",
        about: "All spaces with their rows",
        needs: Some("read"),
        query: &[],
        body: None,
        answer: Answer::Document,
        faults: &[],
        make: || get(leases::list),
    },
    Route {
        method: Method::Post,
        path: "/v1/store/spaces",
        about: "Makes a space of these facts",
        needs: Some("admin"),
        query: &[],
        body: Some(Body::Wanted),
        answer: Answer::Document,
        faults: &[Kind::SpaceDiffers],
        make: || post(leases::create),
    },
    Route {
        method: Method::Get,
        path: "/v1/store/spaces/{space}",
        about: "A space with its rows",
        needs: Some("lease:SPACE or read"),
        query: &[],
        body: None,
        answer: Answer::Document,
        faults: &[Kind::NoSuchSpace],
        make: || get(leases::show),
    },
    Route {
        method: Method::Delete,
        path: "/v1/store/spaces/{space}",
        about: "Drops a space; a tombstone stays",
        needs: Some("admin"),
        query: &[],
        body: None,
        answer: Answer::Document,
        faults: &[Kind::NoSuchSpace],
        make: || delete(leases::drop_space),
    },
    Route {
        method: Method::Get,
        path: "/v1/store/check",
        about: "What leases rely on, looked at",
        needs: Some("read"),
        query: &[],
        body: None,
        answer: Answer::Document,
        faults: &[],
        make: || get(leases::check),
    },
    Route {
        method: Method::Post,
        path: "/v1/store/upgrade",
        about: "Brings the tables of the store up",
        needs: Some("admin"),
        query: &[],
        body: None,
        answer: Answer::Document,
        faults: &[],
        make: || post(leases::upgrade),
    },
    Route {
        method: Method::Get,
        path: "/healthz",
        about: "Whether the server runs",
        needs: None,
        query: &[],
        body: None,
        answer: Answer::Line,
        faults: &[],
        make: || get(handlers::healthz),
    },
    Route {
        method: Method::Get,
        path: "/readyz",
        about: "Whether it can hand out ids of the spaces that it has open, or what is missing",
        needs: None,
        query: &[],
        body: None,
        answer: Answer::Ready,
        faults: &[],
        make: || get(handlers::readyz),
    },
    Route {
        method: Method::Get,
        path: "/metrics",
        about: "What Prometheus reads",
        needs: Some("read"),
        query: &[],
        body: None,
        answer: Answer::Line,
        faults: &[],
        make: || get(handlers::metrics),
    },
    Route {
        method: Method::Get,
        path: "/problems/{slug}",
        about: "What a problem means and what to do",
        needs: None,
        query: &[],
        body: None,
        answer: Answer::Page,
        faults: &[],
        make: || get(handlers::problem_page),
    },
    Route {
        method: Method::Get,
        path: "/openapi.json",
        about: "This document",
        needs: None,
        query: &[],
        body: None,
        answer: Answer::Document,
        faults: &[],
        make: || get(handlers::openapi_document),
    },
];
