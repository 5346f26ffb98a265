//! What an error of the cluster or the way to it means to a request: try again, or don't.
//!
//! Source: etcd, `api/v3rpc/rpctypes/error.go`, and the order in which `v3_server.go` checks, proposes and applies.

use super::Etcd;
use super::connect::{Link, NoConnection};
use crate::error::{Cause, Error};
use crate::stores::attempt::{Again, Failure};
use etcd_client::Error as DriverFailure;
use std::error::Error as StdError;
use tonic::Code;

/// What the error of a request that may have written says of it.
enum Effect {
    /// It has certainly done nothing, and is what [`Etcd::before_commit`] says of it.
    None,
    /// Nobody knows.
    Unknown,
}

impl Etcd {
    /// What an error means that came before anything can have been written.
    pub(super) fn before_commit(&self, request: &'static str, link: &Link, error: DriverFailure) -> Failure {
        let store = self.store();
        let DriverFailure::GRpcStatus(status) = &error else { return self.unreachable(error.into()) };
        let text = status.message().to_owned();
        let again = |error: DriverFailure, is_unreachable| {
            Failure::Again(Again { source: told(error), is_unreachable })
        };
        match status.code() {
            Code::PermissionDenied => {
                let needs = "`mintage store schema` prints what a user needs";
                Failure::Final(Error::Denied { store, needs, request, source: told(error) })
            }
            Code::InvalidArgument if text.contains("user name is empty") => {
                let needs = "name a user in the URL, etcd://user:password@host";
                Failure::Final(Error::Denied { store, needs, request, source: told(error) })
            }
            // A token that is old, or users that changed since it was made: another connection gets a new one.
            Code::Unauthenticated => {
                link.give_up();
                again(error, true)
            }
            Code::InvalidArgument if text.contains("revision of auth store is old") => {
                link.give_up();
                again(error, true)
            }
            Code::ResourceExhausted if text.contains("space exceeded") => {
                Failure::Final(Error::Full { store, request, source: told(error) })
            }
            Code::ResourceExhausted if text.contains("too many requests") => again(error, false),
            Code::InvalidArgument
            | Code::FailedPrecondition
            | Code::OutOfRange
            | Code::Unimplemented
            | Code::ResourceExhausted => {
                Failure::Final(Error::Database { store, request, source: told(error) })
            }
            _ => {
                link.give_up();
                again(error, true)
            }
        }
    }

    /// What an error of a transaction that writes means: only an answer tells what became of it. Rule 10.
    pub(super) fn at_commit(&self, request: &'static str, link: &Link, error: DriverFailure) -> Failure {
        match effect(&error) {
            Effect::None => self.before_commit(request, link, error),
            Effect::Unknown => {
                link.give_up();
                self.unknown(request, told(error))
            }
        }
    }

    /// No member can be reached, or none lets us in.
    pub(super) fn unreachable(&self, source: Cause) -> Failure {
        let store = self.store();
        let (is_hopeless, source) = match source.downcast::<DriverFailure>() {
            Ok(error) => {
                let is_login = matches!(&*error, DriverFailure::GRpcStatus(status)
                    if status.code() == Code::InvalidArgument || status.code() == Code::FailedPrecondition);
                (is_login, told(*error))
            }
            Err(source) => (is_about_trust(&*source), source),
        };
        if source.to_string().contains("authentication is not enabled") {
            let fault =
                "the cluster has no authentication; leave user and password out of the URL".to_owned();
            return Failure::Final(Error::Url { url: store, fault });
        }
        if is_hopeless {
            return Failure::Final(Error::Unreachable { store, source });
        }
        Failure::Again(Again { source, is_unreachable: true })
    }

    pub(super) fn late(&self, request: &'static str) -> Failure {
        Failure::Final(Error::Deadline { store: self.store(), request, source: None })
    }

    pub(super) fn unknown(&self, request: &'static str, source: impl Into<Cause>) -> Failure {
        Failure::Final(Error::UnknownOutcome { store: self.store(), request, source: source.into() })
    }

    pub(super) fn corrupt(&self, key: &str, wrong: &str) -> Error {
        Error::Corrupt { store: self.store(), what: format!("{key}: {wrong}") }
    }
}

/// Answers of a server that has checked a request and not proposed it, or applied it and refused to write; and what wasn't sent.
fn effect(error: &DriverFailure) -> Effect {
    let DriverFailure::GRpcStatus(status) = error else { return Effect::Unknown };
    let is_refused = match status.code() {
        Code::PermissionDenied
        | Code::InvalidArgument
        | Code::Unauthenticated
        | Code::FailedPrecondition
        | Code::OutOfRange
        | Code::Unimplemented
        | Code::ResourceExhausted => true,
        // It is looked at before anything else, as the client asked for it.
        Code::Unavailable => status.message() == "etcdserver: no leader",
        _ => false,
    };
    if is_refused || was_not_sent(status) { Effect::None } else { Effect::Unknown }
}

fn was_not_sent(error: &(dyn StdError + 'static)) -> bool {
    matches!(error.downcast_ref(), Some(NoConnection::Ended)) || error.source().is_some_and(was_not_sent)
}

/// The error with what is at the bottom of it, which the driver's own leaves out.
fn told(error: DriverFailure) -> Cause {
    match error {
        DriverFailure::GRpcStatus(status) => {
            let mut text = status.message().to_owned();
            let mut inner = status.source();
            while let Some(error) = inner {
                let words = error.to_string();
                if !text.contains(&words) {
                    text = format!("{text}: {words}");
                }
                inner = error.source();
            }
            text.into()
        }
        other => other.into(),
    }
}

/// Whether a certificate is at the bottom of an error: no second attempt mends that.
fn is_about_trust(error: &(dyn StdError + 'static)) -> bool {
    let text = error.to_string();
    text.contains("certificate") || error.source().is_some_and(is_about_trust)
}
