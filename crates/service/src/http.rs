//! HTTP: paths, what a client accepts, and faults as `application/problem+json` (RFC 9457).

use crate::api::Api;
use crate::credentials::{Caller, Need};
use crate::facades::Way;
use crate::fault::{Fault, KINDS, Kind};
use crate::issuer::Issued;
use crate::listener::{Stream, until};
use crate::spec::SpaceSpec;
use axum::body::{Body, Bytes};
use axum::extract::rejection::{BytesRejection, PathRejection, QueryRejection};
use axum::extract::{DefaultBodyLimit, FromRequest, FromRequestParts, Path, Query, Request, State};
use axum::http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use mintage::inspect::{Options, Reading, inspect};
use mintage_lease::state::ScopeName;
use mintage_lease::{Run, Space};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio_io_timeout::TimeoutStream;

/// Most bytes of a body.
const MAX_BODY: usize = 64 * 1024;

/// The largest id that is inspected, in bytes.
const MAX_INSPECTED: usize = 200;

/// Most bytes of the head of a request, and of what is read ahead of it.
const MAX_HEAD: usize = 32 * 1024;

/// How long things may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// A request, and a client that reads its answer.
    pub request: Duration,
    /// The head of a request, or a connection without one.
    pub idle: Duration,
}

/// Serves a connection until the client ends it, is too slow, or the server ends.
pub(crate) async fn serve(app: Router, stream: Stream, timing: Timing, ending: watch::Receiver<bool>) {
    let mut stream = TimeoutStream::new(stream);
    // A client that doesn't read must not keep its answer in memory for ever.
    stream.set_write_timeout(Some(timing.request));
    let connection = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(timing.idle)
        .max_buf_size(MAX_HEAD)
        // Who has nothing more to say still wants an answer.
        .half_close(true)
        .serve_connection(TokioIo::new(Box::pin(stream)), TowerToHyperService::new(app));
    tokio::pin!(connection);
    // How a connection ends is nobody's fault here: its client is gone, too slow, or speaks no HTTP and was told so.
    tokio::select! {
        _ = connection.as_mut() => {}
        () = until(ending) => {
            connection.as_mut().graceful_shutdown();
            let _ = connection.await;
        }
    }
}

/// What a connection is told that is one too many.
pub(crate) fn farewell(fault: &Fault) -> Vec<u8> {
    let (facts, body) = (fault.kind.facts(), problem(fault));
    let wait = fault.retry_after.map_or(1, seconds);
    format!(
        "HTTP/1.1 {} Too Many Requests\r\ncontent-type: application/problem+json\r\nretry-after: {wait}\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
        facts.status,
        body.len()
    )
    .into_bytes()
}

/// The application: it is called in process by tests, and served on sockets by [`crate::server`].
pub fn app(api: Arc<Api>, patience: Duration) -> Router {
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
        .route("/v1/facades/{name}/encode", post(encode))
        .route("/v1/facades/{name}/decode", post(decode))
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
        .layer(from_fn(move |request: Request, next: Next| async move {
            match tokio::time::timeout(patience, next.run(request)).await {
                Ok(response) => response,
                Err(_) => {
                    let detail = format!("the request took more than {} s", patience.as_secs());
                    Problem(Fault::new(Kind::TimedOut, detail)).into_response()
                }
            }
        }))
        .with_state(api)
}

/// A fault as an answer.
#[derive(Debug)]
pub struct Problem(Fault);

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

impl From<PathRejection> for Problem {
    fn from(rejection: PathRejection) -> Self {
        Self(Fault::bad(format!("the path: {}", rejection.body_text())))
    }
}

/// A fault as a text of JSON.
fn problem(fault: &Fault) -> String {
    let facts = fault.kind.facts();
    let body = json!({
        "type": format!("/problems/{}", facts.slug),
        "title": facts.title,
        "status": facts.status,
        "detail": fault.detail,
    });
    format!("{body}\n")
}

/// Whole seconds, and not before it is of use.
fn seconds(wait: Duration) -> u64 {
    (wait.as_secs() + u64::from(wait.subsec_nanos() > 0)).max(1)
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status =
            StatusCode::from_u16(self.0.kind.facts().status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut response =
            (status, [(CONTENT_TYPE, "application/problem+json")], problem(&self.0)).into_response();
        if let Some(wait) = self.0.retry_after {
            response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds(wait)));
        }
        if self.0.kind == Kind::Unauthorized {
            response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}

/// Who asks, by `Authorization: Bearer TOKEN`.
impl FromRequestParts<Arc<Api>> for Caller {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, api: &Arc<Api>) -> Result<Self, Problem> {
        let credentials = api.credentials();
        if !credentials.are_asked() {
            return Ok(Self::Anybody);
        }
        let Some(given) = parts.headers.get(AUTHORIZATION) else {
            // Nothing else of the request is looked at before it is known who asks.
            return Err(Fault::new(Kind::Unauthorized, "a token is needed, and none was shown").into());
        };
        let token = given.to_str().ok().and_then(|given| given.split_once(' '));
        match token {
            Some((how, token)) if how.eq_ignore_ascii_case("bearer") => {
                Ok(credentials.caller(Some(token.trim()))?)
            }
            // What was given may be a secret.
            _ => Err(Fault::new(Kind::Unauthorized, "the header Authorization is not `Bearer TOKEN`").into()),
        }
    }
}

/// The parts of a path that have names.
struct Named<T>(T);

impl<T: DeserializeOwned + Send> FromRequestParts<Arc<Api>> for Named<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, api: &Arc<Api>) -> Result<Self, Problem> {
        let Path(named) = Path::<T>::from_request_parts(parts, api).await?;
        Ok(Self(named))
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

/// How many are asked for: `?count=`, 1 unless given.
struct Count(u64);

impl FromRequestParts<Arc<Api>> for Count {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, api: &Arc<Api>) -> Result<Self, Problem> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Asked {
            count: Option<String>,
        }
        if parts.uri.query().is_none() {
            return Ok(Self(1));
        }
        let Query(Asked { count }) = Query::from_request_parts(parts, api).await?;
        let Some(text) = count else { return Ok(Self(1)) };
        match text.parse() {
            Ok(count) => Ok(Self(count)),
            Err(_) => {
                Err(Fault::bad(format!("count {text:?} was given, a number of at least 1 expected")).into())
            }
        }
    }
}

/// Which key: `?key_id=`, the current one unless given.
struct KeyId(Option<String>);

impl FromRequestParts<Arc<Api>> for KeyId {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, api: &Arc<Api>) -> Result<Self, Problem> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Asked {
            key_id: Option<String>,
        }
        let Query(Asked { key_id }) = Query::from_request_parts(parts, api).await?;
        Ok(Self(key_id))
    }
}

/// A body, and what it says it is.
struct Sent {
    kind: String,
    body: Result<Bytes, BytesRejection>,
}

impl FromRequest<Arc<Api>> for Sent {
    type Rejection = Problem;

    async fn from_request(request: Request, api: &Arc<Api>) -> Result<Self, Problem> {
        let kind =
            request.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        Ok(Self { kind: kind.to_owned(), body: Bytes::from_request(request, api).await })
    }
}

impl Sent {
    /// What is in it, as JSON.
    fn json<T: DeserializeOwned>(self) -> Result<T, Problem> {
        let kind = self.kind;
        // A page of another site can make a browser send anything else without asking.
        if kind.split(';').next().map(str::trim) != Some("application/json") {
            return Err(Fault::bad(format!("a body of {kind:?} was given, application/json expected")).into());
        }
        let body = self.body.map_err(|error| Fault::bad(format!("the body: {}", error.body_text())))?;
        Ok(serde_json::from_slice(&body).map_err(|error| Fault::bad(format!("the body: {error}")))?)
    }
}

async fn ids_of_scheme(
    State(api): State<Arc<Api>>,
    caller: Caller,
    Named(scheme): Named<String>,
    Count(count): Count,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    answer(&headers, &api.ids_of_scheme(&caller, &scheme, count).await?)
}

async fn ids(
    State(api): State<Arc<Api>>,
    caller: Caller,
    Named(space): Named<String>,
    Count(count): Count,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    answer(&headers, &api.ids(&caller, &space, count).await?)
}

async fn blocks(
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

async fn of_scope(
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

async fn spaces(State(api): State<Arc<Api>>, caller: Caller) -> Result<Response, Problem> {
    let all: Vec<Value> = api.spaces(&caller).await?.iter().map(|shown| facts(&shown.space)).collect();
    Ok(Json(json!({ "spaces": all })).into_response())
}

async fn space(
    State(api): State<Arc<Api>>,
    caller: Caller,
    Named(name): Named<String>,
) -> Result<Response, Problem> {
    Ok(Json(facts(&api.space(&caller, &name).await?.space)).into_response())
}

async fn create(State(api): State<Arc<Api>>, caller: Caller, body: Sent) -> Result<Response, Problem> {
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

async fn encode(
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

async fn decode(
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

async fn inspected(caller: Caller, Named(id): Named<String>) -> Result<Response, Problem> {
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

async fn readyz(State(api): State<Arc<Api>>) -> Response {
    let lacks = api.lacks();
    if lacks.is_empty() {
        return "ready\n".into_response();
    }
    (StatusCode::SERVICE_UNAVAILABLE, format!("{}\n", lacks.join("\n"))).into_response()
}

async fn problem_page(Named(slug): Named<String>) -> Response {
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
