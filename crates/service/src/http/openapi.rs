//! The OpenAPI 3.1 document, made from [`super::routes`].

use super::routes::{ROUTES, Route};
use crate::api::Limits;
use crate::fault::{KINDS, Kind};
use mintage_lease::space::BlockTerms;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Something in a query.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    name: &'static str,
    about: &'static str,
    schema: fn(&Limits) -> Value,
}

impl Parameter {
    pub(super) const COUNT: Self = Self {
        name: "count",
        about: "how many; 1 unless given",
        schema: |limits| json!({ "type": "integer", "minimum": 1, "maximum": limits.max_count, "default": 1 }),
    };
    pub(super) const SIZE: Self = Self {
        name: "count",
        about: "how many values; 1 unless given, at most as many as the space's max_size",
        schema: |_| json!({ "type": "integer", "minimum": 1, "maximum": BlockTerms::default().max_size, "default": 1 }),
    };
    pub(super) const KEY_ID: Self = Self {
        name: "key_id",
        about: "which key; the current one unless given",
        schema: |_| json!({ "type": "string" }),
    };
}

/// What is sent.
#[derive(Clone, Copy, Debug)]
pub enum Body {
    /// A space that is wanted.
    Space,
    /// Ids to encode.
    Ids,
    /// Public forms to decode.
    Facades,
    /// What a process that mints itself asks: docs/lease-routes.md.
    Asked,
    /// A space of these facts: docs/lease-routes.md.
    Wanted,
}

/// What is answered where nothing is wrong.
#[derive(Clone, Copy, Debug)]
pub enum Answer {
    /// Ids, in the form that is asked for.
    Ids,
    /// Ids as JSON alone.
    Texts,
    /// A block.
    Block,
    /// A space.
    Space,
    /// The same, new or found.
    MadeSpace,
    /// All spaces.
    Spaces,
    /// Public forms.
    Facades,
    /// What an id may be.
    Readings,
    /// A line of text.
    Line,
    /// A line, or lines of what is missing.
    Ready,
    /// A page of text.
    Page,
    /// Any JSON.
    Document,
}

fn texts(name: &str) -> Value {
    json!({
        "type": "object",
        "required": [name],
        "properties": { name: { "type": "array", "items": { "type": "string" } } },
        "additionalProperties": false,
    })
}

/// A number of 64 bits: a text, or a number where the client has those.
fn number() -> Value {
    json!({
        "oneOf": [
            { "type": "integer", "minimum": 0, "maximum": u64::MAX },
            { "type": "string", "pattern": "^[0-9]{1,20}$" },
        ]
    })
}

fn fields(names: &[&str], required: &[&str]) -> Value {
    let properties: Map<String, Value> = names.iter().map(|name| ((*name).to_owned(), number())).collect();
    json!({ "type": "object", "required": required, "properties": properties, "additionalProperties": false })
}

fn wanted_space() -> Value {
    let name = json!({ "type": "string", "pattern": "^[a-z0-9][a-z0-9._-]{0,62}$" });
    let mut snowflake = fields(&["tick_nanos", "first_worker", "last_worker"], &["layout"]);
    snowflake["properties"]["tick_nanos"] = json!({
        "oneOf": [
            { "type": "integer", "minimum": 1, "maximum": i64::MAX },
            { "type": "string", "pattern": "^[1-9][0-9]{0,17}$" },
        ]
    });
    snowflake["properties"]["layout"] = json!({ "type": "string", "examples": ["twitter", "41/10/12"] });
    snowflake["properties"]["epoch"] = json!({ "type": "string", "examples": ["2025-01-01T00:00:00Z"] });
    let counter = ["first", "last", "step", "offset"];
    let of = |kind: &str, terms: Value| {
        json!({
            "type": "object",
            "title": kind,
            "required": ["name", kind],
            "properties": { "name": name, kind: terms },
            "additionalProperties": false,
        })
    };
    json!({
        "oneOf": [
            of("snowflake", snowflake),
            of("block", fields(&[&counter[..], &["max_size"]].concat(), &[])),
            of("ticket", fields(&counter, &[])),
            of("scope", fields(&["first", "last"], &[])),
        ],
        "examples": [{ "name": "orders", "block": {} }],
    })
}

fn space() -> Value {
    json!({
        "type": "object",
        "required": ["id", "name", "kind"],
        "additionalProperties": { "type": "string" },
    })
}

impl Body {
    fn schema(self) -> Value {
        match self {
            Self::Space => wanted_space(),
            Self::Ids => texts("ids"),
            Self::Facades => texts("facades"),
            Self::Asked => {
                json!({ "type": "object", "required": ["space", "witness", "within_ms", "request"] })
            }
            Self::Wanted => {
                json!({ "type": "object", "required": ["space", "restart_hold", "trusts_clock", "within_ms"] })
            }
        }
    }
}

impl Answer {
    /// Statuses, and what comes with each.
    fn responses(self) -> Vec<(&'static str, &'static str, Value)> {
        let json = |schema: Value| json!({ "application/json": { "schema": schema } });
        let text = || json!({ "text/plain": { "schema": { "type": "string" } } });
        match self {
            Self::Ids => {
                let mut content = json(texts("ids"));
                content["text/plain"] =
                    json!({ "schema": { "type": "string", "description": "one id a line" } });
                content["application/octet-stream"] = json!({ "schema": { "type": "string", "format": "binary", "description": "big-endian, one after the other" } });
                vec![("200", "ids", content)]
            }
            Self::Texts => vec![("200", "ids", json(texts("ids")))],
            Self::Facades => vec![("200", "public forms", json(texts("facades")))],
            Self::Block => {
                let text = json!({ "type": "string", "pattern": "^[0-9]{1,20}$" });
                let schema = json!({
                    "type": "object",
                    "required": ["start", "end", "step"],
                    "properties": { "start": text, "end": text, "step": text },
                });
                vec![(
                    "200",
                    "the first value, what lies behind the last, and from one to the next",
                    json(schema),
                )]
            }
            Self::Space => vec![("200", "the space", json(space()))],
            Self::MadeSpace => {
                vec![("200", "it was there", json(space())), ("201", "it is new", json(space()))]
            }
            Self::Spaces => {
                let schema = json!({
                    "type": "object",
                    "required": ["spaces"],
                    "properties": { "spaces": { "type": "array", "items": space() } },
                });
                vec![("200", "the spaces", json(schema))]
            }
            Self::Readings => {
                let schema = json!({
                    "type": "object",
                    "required": ["id", "readings", "warnings"],
                    "properties": {
                        "id": { "type": "string" },
                        "readings": { "type": "array", "items": { "type": "object" } },
                        "warnings": { "type": "array" },
                    },
                });
                vec![("200", "readings, the likeliest first", json(schema))]
            }
            Self::Line => vec![("200", "yes", text())],
            Self::Ready => vec![("200", "ready", text()), ("503", "what is missing", text())],
            Self::Page => vec![("200", "the page", text()), ("404", "there is no such problem", text())],
            Self::Document => vec![("200", "what was asked for", json(json!({})))],
        }
    }
}

/// What a part of a path is.
fn part(name: &str) -> (&'static str, Value) {
    match name {
        "scheme" => {
            ("a scheme that needs no worker", json!({ "type": "string", "examples": ["uuid-v7", "ulid"] }))
        }
        "space" => ("the name of a space", json!({ "type": "string", "examples": ["default", "counter"] })),
        "scope" => (
            "a scope: 1 to 255 bytes without control characters",
            json!({ "type": "string", "pattern": "^[^\\u0000-\\u001f\\u007f-\\u009f]{1,63}$", "examples": ["42"] }),
        ),
        "name" => ("the name of a facade", json!({ "type": "string" })),
        "slug" => {
            let all: Vec<&str> = KINDS.iter().map(|facts| facts.slug).collect();
            ("the end of a problem's type", json!({ "type": "string", "examples": all }))
        }
        _ => ("an id as text", json!({ "type": "string", "maxLength": 200 })),
    }
}

/// What every path may fail with.
const EVERYWHERE: &[Kind] = &[Kind::BadRequest, Kind::TimedOut, Kind::Overloaded, Kind::Internal];

/// What a path that asks the store or memory may fail with beside.
const OF_THE_STORE: &[Kind] =
    &[Kind::Unauthorized, Kind::Forbidden, Kind::Unavailable, Kind::StoreUnfit, Kind::Ending];

fn operation(route: &Route, limits: &Limits) -> Value {
    let mut responses = Map::new();
    for (status, about, content) in route.answer.responses() {
        responses.insert(status.to_owned(), json!({ "description": about, "content": content }));
    }
    let guarded = if route.needs.is_some() { OF_THE_STORE } else { &[] };
    let mut by_status: BTreeMap<u16, Vec<&str>> = BTreeMap::new();
    for kind in EVERYWHERE.iter().chain(guarded).chain(route.faults) {
        let facts = kind.facts();
        by_status.entry(facts.status).or_default().push(facts.title);
    }
    for (status, titles) in by_status {
        let problem = json!({ "$ref": "#/components/schemas/Problem" });
        let response = json!({
            "description": titles.join("; or "),
            "content": { "application/problem+json": { "schema": problem } },
        });
        responses.entry(status.to_string()).or_insert(response);
    }
    let parts = route.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
    let parts = parts.map(|name| {
        let (about, schema) = part(name);
        json!({ "name": name, "in": "path", "required": true, "description": about, "schema": schema })
    });
    let query = route.query.iter().map(|parameter| {
        json!({ "name": parameter.name, "in": "query", "description": parameter.about, "schema": (parameter.schema)(limits) })
    });
    let name = route.path.trim_matches('/').replace(['/', '{', '}', '.'], "_");
    let mut operation = json!({
        "operationId": format!("{}_{name}", route.method.name()),
        "summary": route.about,
        "parameters": parts.chain(query).collect::<Vec<_>>(),
        "responses": responses,
    });
    match route.needs {
        Some(needs) => {
            operation["description"] = format!("Where the server asks for tokens: {needs}.").into()
        }
        None => operation["security"] = json!([{}]),
    }
    if let Some(body) = route.body {
        operation["requestBody"] =
            json!({ "required": true, "content": { "application/json": { "schema": body.schema() } } });
    }
    operation
}

/// The document, with the limits of a server.
#[must_use]
pub fn document(limits: &Limits) -> Value {
    let mut paths: Map<String, Value> = Map::new();
    for route in ROUTES {
        let path = paths.entry(route.path.to_owned()).or_insert_with(|| json!({}));
        path[route.method.name()] = operation(route, limits);
    }
    let slugs: Vec<String> = KINDS.iter().map(|facts| format!("/problems/{}", facts.slug)).collect();
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Mintage",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Hands out ids. Numbers of 64 bits are texts.",
            "license": { "name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0" },
        },
        "servers": [{ "url": "/" }],
        "security": [{}, { "token": [] }],
        "paths": paths,
        "components": {
            "securitySchemes": { "token": { "type": "http", "scheme": "bearer", "description": "as `mintage auth add` prints it" } },
            "schemas": {
                "Problem": {
                    "type": "object",
                    "description": "RFC 9457",
                    "required": ["type", "title", "status", "detail"],
                    "properties": {
                        "type": { "type": "string", "enum": slugs },
                        "title": { "type": "string" },
                        "status": { "type": "integer" },
                        "detail": { "type": "string", "description": "what was given, and what was expected" },
                        "lease_error": { "description": "what a process that mints itself acts by" },
                        "request_id": { "type": "string", "description": "as in the header X-Request-Id" },
                    },
                },
            },
        },
    })
}
