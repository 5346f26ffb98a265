//! What an error of the server or the driver means to a request: try again, or don't.
//!
//! Source: MariaDB and MySQL documentation, "Error Codes" / "Server Error Message Reference".

use super::MySql;
use super::statement::GUARD_FAILED;
use crate::error::{Cause, Error};
use crate::store::Deadline;
use crate::stores::attempt::{Again, Failure};
use mysql_async::{DriverError, Error as DriverFailure};
use std::error::Error as StdError;

impl MySql {
    /// What an error means that came before anything can have been committed.
    pub(super) fn before_commit(&self, request: &'static str, error: DriverFailure) -> Failure {
        let store = self.store();
        let again = |error: DriverFailure, is_unreachable| {
            Failure::Again(Again { source: error.into(), is_unreachable })
        };
        let code = match &error {
            DriverFailure::Server(server) => server.code,
            _ if is_hopeless(&error) => {
                return Failure::Final(Error::Unreachable { store, source: error.into() });
            }
            _ => return again(error, true),
        };
        match code {
            // Deadlock, lock wait, time is up, ended by somebody, a row that another connection was faster to make.
            1213 | 1205 | 1969 | 3024 | 1317 | 1028 | 1062 | 1020 | 1637 => again(error, false),
            // Read-only, going down, coming up, too many connections, cut off, a node of Galera that isn't in its cluster.
            1290
            | 1836
            | 1792
            | 1874
            | 3100
            | 1053
            | 1077
            | 1079
            | 1040
            | 1203
            | 1226
            | 1927
            | 4031
            | 1158..=1161
            | 1152
            | 1184
            | 1047
            | 1180
            | 1129 => again(error, true),
            GUARD_FAILED => {
                let what = "a row that changed within a transaction".to_owned();
                Failure::Final(Error::Corrupt { store, what })
            }
            // No such table.
            1146 => Failure::Final(Error::NoSchema { store }),
            1142 | 1143 | 1227 | 1044 | 1370 => {
                let needs = "`mintage store schema` prints what a user needs";
                Failure::Final(Error::Denied { store, needs, request, source: error.into() })
            }
            1021 | 1041 | 1114 => Failure::Final(Error::Full { store, request, source: error.into() }),
            // A password that is refused, a host that may not come, a database that isn't there.
            1045 | 1698 | 1130 | 1251 | 4151 | 1049 | 3159 => {
                Failure::Final(Error::Unreachable { store, source: error.into() })
            }
            _ => Failure::Final(Error::Database { store, request, source: error.into() }),
        }
    }

    pub(super) fn unreachable(&self, source: Cause) -> Failure {
        match source.downcast::<DriverFailure>() {
            Ok(error) => match self.before_commit("connect", *error) {
                Failure::Final(error) => Failure::Final(error),
                Failure::Again(again) => Failure::Again(Again { is_unreachable: true, ..again }),
            },
            Err(source) => Failure::Again(Again { source, is_unreachable: true }),
        }
    }

    /// An answer from the server before the deadline, with nothing committed yet.
    pub(super) async fn within<T>(
        &self,
        request: &'static str,
        deadline: Deadline,
        answer: impl Future<Output = Result<T, DriverFailure>>,
    ) -> Result<T, Failure> {
        match tokio::time::timeout_at(deadline.0, answer).await {
            Err(_) => Err(self.late(request)),
            Ok(answer) => answer.map_err(|error| self.before_commit(request, error)),
        }
    }

    pub(super) fn late(&self, request: &'static str) -> Failure {
        Failure::Final(Error::Deadline { store: self.store(), request, source: None })
    }

    pub(super) fn unknown(&self, request: &'static str, source: impl Into<Cause>) -> Failure {
        Failure::Final(Error::UnknownOutcome { store: self.store(), request, source: source.into() })
    }

    pub(super) fn corrupt(&self, what: String) -> Failure {
        Failure::Final(Error::Corrupt { store: self.store(), what })
    }
}

/// Whether no second attempt can mend what went wrong: a server that isn't trusted, has no TLS where it is required, or wants to be told
/// passwords in a way that isn't spoken here.
fn is_hopeless(error: &DriverFailure) -> bool {
    match error {
        DriverFailure::Driver(driver) => matches!(
            driver,
            DriverError::NoClientSslFlagFromServer
                | DriverError::UnknownAuthPlugin { .. }
                | DriverError::MysqlOldPasswordDisabled
                | DriverError::CleartextPluginDisabled
        ),
        _ => is_about_trust(error),
    }
}

/// Whether a certificate is at the bottom of an error.
fn is_about_trust(error: &(dyn StdError + 'static)) -> bool {
    if let Some(rustls::Error::InvalidCertificate(_)) = error.downcast_ref() {
        return true;
    }
    let inner = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
    match inner {
        Some(inner) => is_about_trust(inner),
        None => error.source().is_some_and(is_about_trust),
    }
}
