//! What is asked: who asks, the parts of a path and a query that have names, and bodies.

use super::answer::Problem;
use crate::api::Api;
use crate::credentials::Caller;
use crate::fault::{Fault, Kind};
use crate::object::Object;
use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::extract::{FromRequest, FromRequestParts, Path, Query, Request};
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE};
use axum::http::request::Parts;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::sync::Arc;

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
pub(super) struct Named<T>(pub(super) T);

impl<T: DeserializeOwned + Send> FromRequestParts<Arc<Api>> for Named<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, api: &Arc<Api>) -> Result<Self, Problem> {
        let Path(named) = Path::<T>::from_request_parts(parts, api).await?;
        Ok(Self(named))
    }
}

/// How many are asked for: `?count=`, 1 unless given.
pub(super) struct Count(pub(super) u64);

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
pub(super) struct KeyId(pub(super) Option<String>);

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
pub(super) struct Sent {
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
    pub(super) fn json<T: DeserializeOwned>(self) -> Result<T, Problem> {
        let kind = self.kind;
        // A page of another site can make a browser send anything else without asking.
        if kind.split(';').next().map(str::trim) != Some("application/json") {
            return Err(Fault::bad(format!("a body of {kind:?} was given, application/json expected")).into());
        }
        let body = self.body.map_err(|error| Fault::bad(format!("the body: {}", error.body_text())))?;
        let object: Object<T> =
            serde_json::from_slice(&body).map_err(|error| Fault::bad(format!("the body: {error}")))?;
        Ok(object.0)
    }
}
