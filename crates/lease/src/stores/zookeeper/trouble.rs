//! What an error of the ensemble or the way to it means to a request: try again, or don't.

use super::ZooKeeper;
use super::connect::Link;
use crate::error::{Cause, Error};
use crate::stores::attempt::{Again, Failure};
use zookeeper_client::{Error as DriverFailure, MultiWriteError};

impl ZooKeeper {
    /// What an error means that came before anything can have been written.
    pub(super) fn before_commit(&self, request: &'static str, link: &Link, error: DriverFailure) -> Failure {
        let store = self.store();
        match error {
            DriverFailure::NoAuth | DriverFailure::InvalidAcl => {
                let needs = "`mintage store schema` prints what a user needs";
                Failure::Final(Error::Denied { store, needs, request, source: error.into() })
            }
            DriverFailure::QuotaExceeded => {
                Failure::Final(Error::Full { store, request, source: error.into() })
            }
            DriverFailure::BadVersion
            | DriverFailure::NodeExists
            | DriverFailure::NoNode
            | DriverFailure::Throttled => {
                Failure::Again(Again { source: error.into(), is_unreachable: false })
            }
            DriverFailure::BadArguments(_)
            | DriverFailure::UnmarshalError { .. }
            | DriverFailure::MarshallingError
            | DriverFailure::Unimplemented => {
                Failure::Final(Error::Database { store, request, source: error.into() })
            }
            // The session ended, or its connection did: what comes next begins another.
            _ => {
                link.give_up();
                Failure::Again(Again { source: error.into(), is_unreachable: true })
            }
        }
    }

    /// What an error of a transaction that writes means. One that names an operation is an answer: the whole of it had no effect. Of all
    /// else, nobody knows. Rule 10.
    pub(super) fn at_commit(&self, request: &'static str, link: &Link, error: MultiWriteError) -> Failure {
        match error {
            MultiWriteError::OperationFailed { index, source } => {
                if index == 0 {
                    // The session's own node isn't as it was left: these are other data.
                    link.give_up();
                }
                self.before_commit(request, link, source)
            }
            MultiWriteError::RequestFailed { source } => {
                link.give_up();
                self.unknown(request, source)
            }
        }
    }

    /// No server can be reached, or none lets us in.
    pub(super) fn unreachable(&self, source: Cause) -> Failure {
        if matches!(source.downcast_ref(), Some(DriverFailure::AuthFailed)) {
            return Failure::Final(Error::Unreachable { store: self.store(), source });
        }
        Failure::Again(Again { source, is_unreachable: true })
    }

    pub(super) fn late(&self, request: &'static str) -> Failure {
        Failure::Final(Error::Deadline { store: self.store(), request, source: None })
    }

    pub(super) fn unknown(&self, request: &'static str, source: impl Into<Cause>) -> Failure {
        Failure::Final(Error::UnknownOutcome { store: self.store(), request, source: source.into() })
    }

    pub(super) fn corrupt(&self, path: &str, wrong: &str) -> Error {
        Error::Corrupt { store: self.store(), what: format!("{path}: {wrong}") }
    }
}
