//! HTTP: how connections are served. What is asked, done and answered stands in the files of this folder; [`routes`] lists the paths.

mod answer;
mod asked;
mod handlers;
mod openapi;
pub mod routes;

use crate::api::Api;
use crate::fault::{Fault, Kind};
use crate::listener::{Stream, until};
use answer::{problem, seconds};
use axum::Router;
use axum::extract::{DefaultBodyLimit, Request};
use axum::middleware::{Next, from_fn};
use axum::response::IntoResponse;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
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

/// The application: it is called in process by tests, and served on sockets by [`crate::server`].
pub fn app(api: Arc<Api>, patience: Duration) -> Router {
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
        .layer(from_fn(move |request: Request, next: Next| async move {
            match tokio::time::timeout(patience, next.run(request)).await {
                Ok(response) => response,
                Err(_) => {
                    let detail = format!("the request took more than {} s", patience.as_secs());
                    Problem::from(Fault::new(Kind::TimedOut, detail)).into_response()
                }
            }
        }))
        .with_state(api)
}
