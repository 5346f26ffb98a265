//! HTTP: paths, what a client accepts, and faults as `application/problem+json` (RFC 9457).

use crate::api::{Api, MAX_COUNT};
use crate::fault::{Fault, KINDS, Kind};
use crate::issuer::Issued;
use crate::spec::SpaceSpec;
use axum::body::{Body, Bytes};
use axum::extract::rejection::QueryRejection;
use axum::extract::{DefaultBodyLimit, Path, Query, State};
use axum::http::header::{ACCEPT, CONTENT_TYPE, RETRY_AFTER};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use mintage::inspect::{Options, Reading, inspect};
use mintage_lease::Space;
use mintage_lease::state::ScopeName;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// Most bytes of a body.
const MAX_BODY: usize = 64 * 1024;

/// The largest id that is inspected, in bytes.
const MAX_INSPECTED: usize = 200;

/// The application: it is called in process by tests, and served on sockets by [`crate::server`].
pub fn app(api: Arc<Api>) -> Router {
    Router::new()
        .route("/healthz", get(async || "alive\n"))
        .route("/readyz", get(readyz))
        .route("/problems/{slug}", get(problem_page))
        .route("/v1/ids/{scheme}", get(ids_of_scheme))
        .route("/v1/inspect/{id}", get(inspected))
        .route("/v1/spaces", get(spaces).post(create))
        .route("/v1/spaces/{space}", get(space))
        .route("/v1/spaces/{space}/ids", post(ids))
        .route("/v1/spaces/{space}/blocks", post(blocks))
        .route("/v1/spaces/{space}/scopes/{scope}/next", post(of_scope))
        .fallback(async || {
            Problem(Fault::new(
                Kind::NoSuchRoute,
                "there is no such path; docs/service.md lists those that there are",
            ))
        })
        .method_not_allowed_fallback(async || {
            Problem(Fault::new(
                Kind::WrongMethod,
                "the path takes another method: ids are minted by POST, all else is read by GET",
            ))
        })
        .layer(DefaultBodyLimit::max(MAX_BODY))
        .with_state(api)
}

/// A fault as an answer.
#[derive(Debug)]
struct Problem(Fault);

impl<F: Into<Fault>> From<F> for Problem {
    fn from(fault: F) -> Self {
        Self(fault.into())
    }
}

impl From<QueryRejection> for Problem {
    fn from(rejection: QueryRejection) -> Self {
        Self(Fault::bad(rejection.body_text()))
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let facts = self.0.kind.facts();
        let body = json!({
            "type": format!("/problems/{}", facts.slug),
            "title": facts.title,
            "status": facts.status,
            "detail": self.0.detail,
        });
        let status = StatusCode::from_u16(facts.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut response =
            (status, [(CONTENT_TYPE, "application/problem+json")], format!("{body}\n")).into_response();
        if let Some(wait) = self.0.retry_after {
            // Whole seconds, and not before it is of use.
            let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
            response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds.max(1)));
        }
        response
    }
}

/// What a client wants ids as.
enum Wanted {
    Json,
    Text,
    Bytes,
}

/// The first of the kinds that the service has; JSON where none is named.
fn wanted(headers: &HeaderMap) -> Wanted {
    let accept = headers.get(ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let kinds = accept.split(',').map(|kind| kind.split(';').next().unwrap_or_default().trim());
    for kind in kinds {
        match kind {
            "text/plain" => return Wanted::Text,
            "application/octet-stream" => return Wanted::Bytes,
            "application/json" | "*/*" => return Wanted::Json,
            _ => {}
        }
    }
    Wanted::Json
}

fn answer(headers: &HeaderMap, issued: &Issued) -> Result<Response, Problem> {
    match wanted(headers) {
        Wanted::Bytes => Ok(([(CONTENT_TYPE, "application/octet-stream")], issued.bytes()).into_response()),
        Wanted::Text => Ok(([(CONTENT_TYPE, "text/plain; charset=utf-8")], issued.lines()?).into_response()),
        Wanted::Json => {
            let lines = issued.lines()?;
            // No canonical text has a character that JSON escapes but those that `serde_json` writes so.
            let ids: Vec<&str> = lines.lines().collect();
            Ok(Json(json!({ "ids": ids })).into_response())
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Count {
    count: Option<String>,
}

impl Count {
    fn value(query: Result<Query<Self>, QueryRejection>) -> Result<u64, Problem> {
        let Query(Self { count }) = query?;
        let Some(text) = count else { return Ok(1) };
        let wrong =
            || Fault::bad(format!("count {text:?} was given, a number from 1 to {MAX_COUNT} expected"));
        Ok(text.parse().map_err(|_| wrong())?)
    }
}

async fn ids_of_scheme(
    State(api): State<Arc<Api>>,
    Path(scheme): Path<String>,
    count: Result<Query<Count>, QueryRejection>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    answer(&headers, &api.ids_of_scheme(&scheme, Count::value(count)?).await?)
}

async fn ids(
    State(api): State<Arc<Api>>,
    Path(space): Path<String>,
    count: Result<Query<Count>, QueryRejection>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    answer(&headers, &api.ids(&space, Count::value(count)?).await?)
}

async fn blocks(
    State(api): State<Arc<Api>>,
    Path(space): Path<String>,
    count: Result<Query<Count>, QueryRejection>,
) -> Result<Response, Problem> {
    let block = api.issuer(&space).await?.block(Count::value(count)?).await?;
    let body = json!({
        "start": block.start.to_string(),
        "end": block.end.to_string(),
        "step": block.step.to_string(),
    });
    Ok(Json(body).into_response())
}

async fn of_scope(
    State(api): State<Arc<Api>>,
    Path((space, scope)): Path<(String, String)>,
    count: Result<Query<Count>, QueryRejection>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let scope: ScopeName = scope.parse().map_err(|error| Fault::bad(format!("scope {scope:?}: {error}")))?;
    let count = Count::value(count)?;
    if count > MAX_COUNT {
        return Err(Fault::bad(format!("count {count} was given, 1 to {MAX_COUNT} expected")).into());
    }
    let numbers = api.issuer(&space).await?.of_scope(&scope, count).await?;
    answer(&headers, &Issued::Values(numbers.collect()))
}

async fn spaces(State(api): State<Arc<Api>>) -> Result<Response, Problem> {
    let all: Vec<Value> = api.spaces().await?.iter().map(|shown| facts(&shown.space)).collect();
    Ok(Json(json!({ "spaces": all })).into_response())
}

async fn space(State(api): State<Arc<Api>>, Path(name): Path<String>) -> Result<Response, Problem> {
    Ok(Json(facts(&api.space(&name).await?.space)).into_response())
}

async fn create(State(api): State<Arc<Api>>, headers: HeaderMap, body: Bytes) -> Result<Response, Problem> {
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    // A page of another site can make a browser send anything else without asking.
    if kind.split(';').next().map(str::trim) != Some("application/json") {
        return Err(Fault::bad(format!("a body of {kind:?} was given, application/json expected")).into());
    }
    let spec: SpaceSpec =
        serde_json::from_slice(&body).map_err(|error| Fault::bad(format!("the body: {error}")))?;
    let (made, is_new) = api.create(&spec).await?;
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

async fn inspected(Path(id): Path<String>) -> Result<Response, Problem> {
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

async fn readyz(State(api): State<Arc<Api>>) -> Response {
    let lacks = api.lacks();
    if lacks.is_empty() {
        return "ready\n".into_response();
    }
    (StatusCode::SERVICE_UNAVAILABLE, format!("{}\n", lacks.join("\n"))).into_response()
}

async fn problem_page(Path(slug): Path<String>) -> Response {
    match KINDS.iter().find(|facts| facts.slug == slug) {
        Some(facts) => {
            format!("{}\n\n{}\n\nWhat to do: {}.\n", facts.slug, facts.title, facts.advice).into_response()
        }
        None => {
            let all: Vec<&str> = KINDS.iter().map(|facts| facts.slug).collect();
            (
                StatusCode::NOT_FOUND,
                Body::from(format!("there is no such problem; there are {}\n", all.join(", "))),
            )
                .into_response()
        }
    }
}
