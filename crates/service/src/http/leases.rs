//! For processes that mint themselves: what `http://` stores of `mintage-lease` ask. Each is carried out by this server's store, and its errors go back as they are.

use super::answer::Problem;
use super::asked::{Named, Sent};
use crate::api::Api;
use crate::credentials::{Caller, Need};
use crate::fault::Fault;
use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use mintage_lease::request::Request;
use mintage_lease::store::Deadline;
use mintage_lease::wire::{Asked, Facts, Line, Rows, Told, Wanted};
use mintage_lease::{Error, Store};
use std::sync::Arc;
use std::time::Duration;

/// Most bytes of a body: a renewal of all leases that a request may name.
pub(super) const MAX_BODY: usize = 512 * 1024;

/// Longest that the store may take, whatever a client asks for.
const PATIENCE: Duration = Duration::from_secs(20);

fn deadline(within_ms: u32) -> Deadline {
    Deadline::after(Duration::from_millis(within_ms.into()).min(PATIENCE))
}

fn store(api: &Api) -> Result<&Arc<dyn Store>, Problem> {
    api.store().map_err(Problem::of_store)
}

/// Carries out a request that its path is for.
async fn asked(
    api: &Api,
    caller: &Caller,
    name: &str,
    body: Sent,
    is_for: fn(&Request) -> bool,
) -> Result<Response, Problem> {
    caller.may(Need::Any)?;
    let asked: Asked = body.json()?;
    let word = asked.request.name();
    if !is_for(&asked.request) {
        return Err(Fault::bad(format!("the request {word:?} was given, which is another path's")).into());
    }
    caller.may(needed(&asked.request, name))?;
    if asked.trusts_clock {
        // An operator's word about the store's clock goes over rule 15.
        caller.may(Need::Admin)?;
    }
    let (store, deadline) = (store(api)?, deadline(asked.within_ms));
    let space = api.known_space(name, asked.space, deadline).await.map_err(Problem::of_store)?;
    let client = asked.caller(store.clock().boottime_nanos());
    let answered = store.ask(&space, &client, &asked.request, deadline).await.map_err(Problem::of_store)?;
    Ok(Json(Told::of(answered)).into_response())
}

/// What moves marks and counters is for those who lease; what an operator says, for operators.
fn needed<'a>(request: &Request, space: &'a str) -> Need<'a> {
    match request {
        Request::Acquire(_)
        | Request::Renew(_)
        | Request::Release(_)
        | Request::Reassert(_)
        | Request::Claim(_)
        | Request::GiveBack(_)
        | Request::Take(_)
        | Request::LookScope(_)
        | Request::Scopes(_)
        | Request::Look => Need::Lease(space),
        Request::BumpScope(..)
        | Request::Hold
        | Request::ReleaseHold
        | Request::BeginAnew
        | Request::RestartHold(_)
        | Request::Burn(_)
        | Request::Bump(_) => Need::Admin,
    }
}

pub(super) async fn acquire(
    State(api): State<Arc<Api>>,
    caller: Caller,
    Named(name): Named<String>,
    body: Sent,
) -> Result<Response, Problem> {
    asked(&api, &caller, &name, body, |request| matches!(request, Request::Acquire(_))).await
}

pub(super) async fn renew(
    State(api): State<Arc<Api>>,
    caller: Caller,
    Named(name): Named<String>,
    body: Sent,
) -> Result<Response, Problem> {
    asked(&api, &caller, &name, body, |request| matches!(request, Request::Renew(_) | Request::Reassert(_)))
        .await
}

pub(super) async fn release(
    State(api): State<Arc<Api>>,
    caller: Caller,
    Named(name): Named<String>,
    body: Sent,
) -> Result<Response, Problem> {
    asked(&api, &caller, &name, body, |request| matches!(request, Request::Release(_))).await
}

pub(super) async fn other(
    State(api): State<Arc<Api>>,
    caller: Caller,
    Named(name): Named<String>,
    body: Sent,
) -> Result<Response, Problem> {
    asked(&api, &caller, &name, body, |request| {
        !matches!(
            request,
            Request::Acquire(_) | Request::Renew(_) | Request::Reassert(_) | Request::Release(_)
        )
    })
    .await
}

/// Who leases must know what, and who reads may.
fn may_see(caller: &Caller, name: &str) -> Result<(), Fault> {
    caller.may(Need::Lease(name)).or_else(|fault| caller.may(Need::Read).map_err(|_| fault))
}

pub(super) async fn facts(
    State(api): State<Arc<Api>>,
    caller: Caller,
    Named(name): Named<String>,
) -> Result<Response, Problem> {
    may_see(&caller, &name)?;
    let space = store(&api)?.space(&name, Deadline::after(PATIENCE)).await.map_err(Problem::of_store)?;
    Ok(Json(Facts::of(&space)).into_response())
}

pub(super) async fn list(State(api): State<Arc<Api>>, caller: Caller) -> Result<Response, Problem> {
    caller.may(Need::Read)?;
    let all = store(&api)?.list(Deadline::after(PATIENCE)).await.map_err(Problem::of_store)?;
    Ok(Json(all.into_iter().map(Rows::of).collect::<Vec<_>>()).into_response())
}

pub(super) async fn show(
    State(api): State<Arc<Api>>,
    caller: Caller,
    Named(name): Named<String>,
) -> Result<Response, Problem> {
    may_see(&caller, &name)?;
    let shown = store(&api)?.show(&name, Deadline::after(PATIENCE)).await.map_err(Problem::of_store)?;
    Ok(Json(Rows::of(shown)).into_response())
}

pub(super) async fn create(
    State(api): State<Arc<Api>>,
    caller: Caller,
    body: Sent,
) -> Result<Response, Problem> {
    caller.may(Need::Admin)?;
    let wanted: Wanted = body.json()?;
    let wrong = |fact| Fault::bad(format!("the fact {fact} is missing or can't be read"));
    let space = wanted.space.space().map_err(wrong)?;
    let made = store(&api)?.create(&space, wanted.options(), deadline(wanted.within_ms)).await;
    Ok(Json(Facts::of(&made.map_err(Problem::of_store)?)).into_response())
}

pub(super) async fn drop_space(
    State(api): State<Arc<Api>>,
    caller: Caller,
    Named(name): Named<String>,
) -> Result<Response, Problem> {
    caller.may(Need::Admin)?;
    store(&api)?.drop_space(&name, Deadline::after(PATIENCE)).await.map_err(Problem::of_store)?;
    Ok(Json(()).into_response())
}

pub(super) async fn check(State(api): State<Arc<Api>>, caller: Caller) -> Result<Response, Problem> {
    caller.may(Need::Read)?;
    let lines = store(&api)?.check(Deadline::after(PATIENCE)).await.map_err(Problem::of_store)?;
    Ok(Json(lines.into_iter().map(Line::from).collect::<Vec<_>>()).into_response())
}

pub(super) async fn upgrade(State(api): State<Arc<Api>>, caller: Caller) -> Result<Response, Problem> {
    caller.may(Need::Admin)?;
    store(&api)?.upgrade(Deadline::after(PATIENCE)).await.map_err(Problem::of_store)?;
    Ok(Json(()).into_response())
}

impl Problem {
    /// What the store said, for people and for the client's store.
    fn of_store(error: Error) -> Self {
        let told = serde_json::to_value(mintage_lease::wire::Fault::of(&error)).unwrap_or_default();
        Self::with(Fault::from(&error), "lease_error", told)
    }
}
