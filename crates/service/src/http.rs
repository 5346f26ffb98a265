//! HTTP: how connections are served. What is asked, done and answered stands in the files of this folder; [`routes`] lists the paths.

mod answer;
mod asked;
mod handlers;
mod leases;
mod openapi;
pub mod routes;

use crate::api::Api;
use crate::fault::{Fault, Kind};
use crate::listener::{Stream, until};
use crate::log::{self, Requests, request_id};
use crate::metrics::HTTP;
use answer::{TOLD, problem, seconds};
use axum::Router;
use axum::extract::{DefaultBodyLimit, MatchedPath, Request};
use axum::http::{HeaderName, HeaderValue};
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use mintage::{Clock, SystemClock};
use routes::ROUTES;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio_io_timeout::TimeoutStream;

pub use answer::Problem;
pub use openapi::document;

/// Most bytes of a body.
const MAX_BODY: usize = 64 * 1024;

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

/// How the application treats requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Manner {
    /// How long one may take.
    pub patience: Duration,
    /// Which have a line in the log.
    pub logged: Requests,
}

/// The application: it is called in process by tests, and served on sockets by [`crate::server`].
pub fn app(api: Arc<Api>, manner: Manner) -> Router {
    let observed = Arc::clone(&api);
    ROUTES
        .iter()
        .fold(Router::new(), |app, route| app.route(route.path, (route.make)()))
        .fallback(async || {
            Problem::from(Fault::new(
                Kind::NoSuchRoute,
                "there is no such path; /openapi.json lists those that there are",
            ))
        })
        .method_not_allowed_fallback(async || {
            Problem::from(Fault::new(
                Kind::WrongMethod,
                "the path takes another method; /openapi.json lists those that there are",
            ))
        })
        .layer(DefaultBodyLimit::max(MAX_BODY))
        .layer(from_fn(move |request: Request, next: Next| {
            let api = Arc::clone(&observed);
            async move { observe(&api, manner, request, next).await }
        }))
        .with_state(api)
}

/// Has a request answered in time, counts it, and gives it an id.
async fn observe(api: &Api, manner: Manner, request: Request, next: Next) -> Response {
    let begun = SystemClock.monotonic_nanos();
    // The path as the table has it: what clients make up is no label.
    let path = request.extensions().get::<MatchedPath>().map(MatchedPath::as_str);
    let (route, answers) = api.metrics().of_route(path);
    let id = request_id(request.headers().get(REQUEST_ID).and_then(|id| id.to_str().ok()));
    let answering = TOLD.scope(id.clone(), next.run(request));
    let mut response = match tokio::time::timeout(manner.patience, answering).await {
        Ok(response) => response,
        Err(_) => {
            let detail = format!("the request took more than {} s", manner.patience.as_secs());
            let fault = Problem::from(Fault::new(Kind::TimedOut, detail));
            TOLD.sync_scope(id.clone(), || fault.into_response())
        }
    };
    let kind = response.extensions().get::<Kind>().copied();
    let nanos = SystemClock.monotonic_nanos() - begun;
    if let Some(answers) = answers {
        answers.went_well(u64::from(kind.is_none()), nanos);
    }
    if let Some(kind) = kind {
        api.metrics().failed(HTTP, route, kind);
    }
    log::answered(manner.logged, route, &id, response.status().as_u16(), kind, nanos);
    if let Ok(id) = HeaderValue::from_str(&id) {
        response.headers_mut().insert(REQUEST_ID, id);
    }
    response
}

/// By which a client and a log tell a request from others.
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
