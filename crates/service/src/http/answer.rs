//! What is answered: ids as a client wants them, and faults as `application/problem+json` (RFC 9457).

use crate::fault::{Fault, Kind};
use crate::issuer::Issued;
use axum::Json;
use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::http::header::{ACCEPT, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde_json::{Value, json};
use std::time::Duration;

/// A fault as an answer.
#[derive(Debug)]
pub struct Problem {
    fault: Fault,
    /// A further member, for programs.
    more: Option<(&'static str, Value)>,
}

impl Problem {
    /// With a further member.
    pub(super) fn with(fault: Fault, name: &'static str, value: Value) -> Self {
        Self { fault, more: Some((name, value)) }
    }
}

impl<F: Into<Fault>> From<F> for Problem {
    fn from(fault: F) -> Self {
        Self { fault: fault.into(), more: None }
    }
}

impl From<QueryRejection> for Problem {
    fn from(rejection: QueryRejection) -> Self {
        Fault::bad(rejection.body_text()).into()
    }
}

impl From<PathRejection> for Problem {
    fn from(rejection: PathRejection) -> Self {
        Fault::bad(format!("the path: {}", rejection.body_text())).into()
    }
}

tokio::task_local! {
    /// The id of the request that is being answered.
    pub(super) static TOLD: String;
}

/// A fault as a text of JSON.
pub(super) fn problem(fault: &Fault) -> String {
    problem_with(fault, None)
}

fn problem_with(fault: &Fault, more: Option<(&str, Value)>) -> String {
    let facts = fault.kind.facts();
    let mut body = json!({
        "type": format!("/problems/{}", facts.slug),
        "title": facts.title,
        "status": facts.status,
        "detail": fault.detail,
    });
    if let Ok(id) = TOLD.try_with(String::clone) {
        body["request_id"] = id.into();
    }
    if let Some((name, value)) = more {
        body[name] = value;
    }
    format!("{body}\n")
}

/// Whole seconds, and not before it is of use.
pub(super) fn seconds(wait: Duration) -> u64 {
    (wait.as_secs() + u64::from(wait.subsec_nanos() > 0)).max(1)
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status =
            StatusCode::from_u16(self.fault.kind.facts().status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut response =
            (status, [(CONTENT_TYPE, "application/problem+json")], problem_with(&self.fault, self.more))
                .into_response();
        response.extensions_mut().insert(self.fault.kind);
        if let Some(wait) = self.fault.retry_after {
            response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds(wait)));
        }
        if self.fault.kind == Kind::Unauthorized {
            response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}

/// Ids as JSON: texts, since many clients round numbers of 64 bits.
#[derive(Serialize)]
struct Ids<'a> {
    ids: Vec<&'a str>,
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

pub(super) fn answer(headers: &HeaderMap, issued: &Issued) -> Result<Response, Problem> {
    match wanted(headers) {
        Wanted::Bytes => Ok(([(CONTENT_TYPE, "application/octet-stream")], issued.bytes()).into_response()),
        Wanted::Text => Ok(([(CONTENT_TYPE, "text/plain; charset=utf-8")], issued.lines()?).into_response()),
        Wanted::Json => {
            let lines = issued.lines()?;
            Ok(Json(Ids { ids: lines.lines().collect() }).into_response())
        }
    }
}
