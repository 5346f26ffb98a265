//! What is done at each path of [`super::routes`].

use super::answer::{Problem, answer};
use super::asked::{Count, KeyId, Named, Sent};
use super::openapi;
use crate::api::Api;
use crate::credentials::{Caller, Need};
use crate::facades::Way;
use crate::fault::{Fault, KINDS};
use crate::issuer::Issued;
use crate::spec::SpaceSpec;
use axum::Json;
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use mintage::inspect::{Options, Reading, inspect};
use mintage_lease::state::ScopeName;
use mintage_lease::{Run, Space};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// The largest id that is inspected, in bytes.
const MAX_INSPECTED: usize = 200;

pub(super) async fn ids_of_scheme(
    State(api): State<Arc<Api>>,
    caller: Caller,
    Named(scheme): Named<String>,
    Count(count): Count,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    answer(&headers, &api.ids_of_scheme(&caller, &scheme, count).await?)
}

pub(super) async fn ids(
    State(api): State<Arc<Api>>,
    caller: Caller,
    Named(space): Named<String>,
    Count(count): Count,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    answer(&headers, &api.ids(&caller, &space, count).await?)
}

pub(super) async fn blocks(
    State(api): State<Arc<Api>>,
    caller: Caller,
    Named(space): Named<String>,
    Count(count): Count,
) -> Result<Response, Problem> {
    let block = api.block(&caller, &space, count).await?;
    let body = json!({
        "start": block.start.to_string(),
        "end": block.end.to_string(),
        "step": block.step.to_string(),
    });
    Ok(Json(body).into_response())
}

pub(super) async fn of_scope(
    State(api): State<Arc<Api>>,
    caller: Caller,
    Named((space, scope)): Named<(String, String)>,
    Count(count): Count,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let scope: ScopeName = scope.parse().map_err(|error| Fault::bad(format!("scope {scope:?}: {error}")))?;
    let numbers = api.of_scope(&caller, &space, &scope, count).await?;
    let run = Run { first: numbers.start, count: numbers.end - numbers.start, step: 1 };
    answer(&headers, &Issued::Values(vec![run]))
}

pub(super) async fn spaces(State(api): State<Arc<Api>>, caller: Caller) -> Result<Response, Problem> {
    let all: Vec<Value> = api.spaces(&caller).await?.iter().map(|shown| facts(&shown.space)).collect();
    Ok(Json(json!({ "spaces": all })).into_response())
}

pub(super) async fn space(
    State(api): State<Arc<Api>>,
    caller: Caller,
    Named(name): Named<String>,
) -> Result<Response, Problem> {
    Ok(Json(facts(&api.space(&caller, &name).await?.space)).into_response())
}

pub(super) async fn create(
    State(api): State<Arc<Api>>,
    caller: Caller,
    body: Sent,
) -> Result<Response, Problem> {
    caller.may(Need::Admin)?;
    let spec: SpaceSpec = body.json()?;
    let (made, is_new) = api.create(&caller, &spec).await?;
    let status = if is_new { StatusCode::CREATED } else { StatusCode::OK };
    Ok((status, Json(facts(&made))).into_response())
}

/// A space's facts as JSON: texts, as some are numbers of 64 bits.
fn facts(space: &Space) -> Value {
    let mut object: Map<String, Value> =
        space.facts().into_iter().map(|(name, text)| (name.to_owned(), Value::from(text))).collect();
    object.insert("id".to_owned(), space.id.to_string().into());
    object.into()
}

pub(super) async fn encode(
    State(api): State<Arc<Api>>,
    caller: Caller,
    Named(name): Named<String>,
    KeyId(key): KeyId,
    body: Sent,
) -> Result<Response, Problem> {
    let ids: Ids = body.json()?;
    let facades = api.carry(&caller, &name, Way::Encode, key.as_deref(), &texts(&ids.ids))?;
    Ok(Json(json!({ "facades": facades })).into_response())
}

pub(super) async fn decode(
    State(api): State<Arc<Api>>,
    caller: Caller,
    Named(name): Named<String>,
    KeyId(key): KeyId,
    body: Sent,
) -> Result<Response, Problem> {
    let sent: PublicForms = body.json()?;
    let ids = api.carry(&caller, &name, Way::Decode, key.as_deref(), &texts(&sent.facades))?;
    Ok(Json(json!({ "ids": ids })).into_response())
}

/// What is encoded.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Ids {
    ids: Vec<String>,
}

/// What is decoded.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PublicForms {
    facades: Vec<String>,
}

fn texts(all: &[String]) -> Vec<&str> {
    all.iter().map(String::as_str).collect()
}

pub(super) async fn inspected(caller: Caller, Named(id): Named<String>) -> Result<Response, Problem> {
    caller.may(Need::Any)?;
    if id.len() > MAX_INSPECTED {
        return Err(Fault::bad(format!(
            "an id of {} bytes was given, at most {MAX_INSPECTED} expected",
            id.len()
        ))
        .into());
    }
    let found = inspect(&id, &Options::default());
    let reading = |reading: &Reading| {
        let fields: Vec<Value> = reading
            .fields
            .iter()
            .map(|field| json!({ "name": field.name, "value": field.value.to_string() }))
            .collect();
        json!({
            "scheme": reading.scheme,
            "text": reading.text,
            "time": reading.time.map(|time| time.to_string()),
            "plausible": reading.is_plausible,
            "fields": fields,
        })
    };
    let readings: Vec<Value> = found.readings.iter().map(reading).collect();
    Ok(Json(json!({ "id": id, "readings": readings, "warnings": found.warnings })).into_response())
}

pub(super) async fn healthz() -> &'static str {
    "alive\n"
}

pub(super) async fn openapi_document(State(api): State<Arc<Api>>) -> Json<Value> {
    Json(openapi::document(&api.limits()))
}

pub(super) async fn metrics(State(api): State<Arc<Api>>, caller: Caller) -> Result<Response, Problem> {
    let text = api.metrics_text(&caller)?;
    Ok(([(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text).into_response())
}

pub(super) async fn readyz(State(api): State<Arc<Api>>) -> Response {
    let lacks = api.lacks();
    if lacks.is_empty() {
        return "ready\n".into_response();
    }
    (StatusCode::SERVICE_UNAVAILABLE, format!("{}\n", lacks.join("\n"))).into_response()
}

pub(super) async fn problem_page(Named(slug): Named<String>) -> Response {
    match KINDS.iter().find(|facts| facts.slug == slug) {
        Some(facts) => {
            format!("{}\n\n{}\n\nWhat to do: {}.\n", facts.slug, facts.title, facts.advice).into_response()
        }
        None => {
            let all: Vec<&str> = KINDS.iter().map(|facts| facts.slug).collect();
            (StatusCode::NOT_FOUND, format!("there is no such problem; there are {}\n", all.join(", ")))
                .into_response()
        }
    }
}
