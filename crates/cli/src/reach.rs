//! How commands reach a store: its URL, a runtime, deadlines, and what its errors mean to a user.

use crate::exit::{Failure, usage};
use clap::Args;
use mintage_lease::request::Caller;
use mintage_lease::store::{Deadline, OpenOptions, open, redacted};
use mintage_lease::stores::STORES;
use mintage_lease::{Error, Refusal, Store};
use std::env::VarError;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

/// Where the URL stands when no argument names it.
const URL_VARIABLE: &str = "MINTAGE_STORE";

/// How long a command waits for the store.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

/// What an operator takes on himself.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct Trust {
    /// Believe the store's clock, though it is far from this host's
    #[arg(long)]
    pub(crate) trust_store_clock: bool,
    /// Use a store that may lose what it acknowledged
    #[arg(long)]
    pub(crate) allow_unsafe: bool,
}

impl Trust {
    pub(crate) fn options(self) -> OpenOptions {
        OpenOptions { allows_unsafe: self.allow_unsafe, ..OpenOptions::default() }
    }

    pub(crate) fn caller(self) -> Caller {
        Caller { trusts_clock: self.trust_store_clock, ..Caller::default() }
    }

    pub(crate) fn open(self, url: &str) -> Result<Arc<dyn Store>, Failure> {
        Ok(open(url, self.options())?)
    }
}

/// The URL given, or that of the environment.
pub(crate) fn url(given: Option<&str>) -> Result<String, Failure> {
    match (given, std::env::var(URL_VARIABLE)) {
        (Some(given), _) => Ok(given.to_owned()),
        (None, Ok(url)) if !url.is_empty() => Ok(url),
        (None, Err(VarError::NotUnicode(_))) => Err(usage(format!(
            "{URL_VARIABLE} isn't UTF-8, so it is no URL; set it anew, or name the store's URL"
        ))),
        (None, _) => {
            Err(usage(format!("no store given; name its URL, such as sqlite:ids.db, or set {URL_VARIABLE}")))
        }
    }
}

/// URL and the words behind it, of which there are `N`: with one word less, the URL is that of the environment.
pub(crate) fn url_and<const N: usize>(
    words: &[String],
    what: &str,
) -> Result<(String, [String; N]), Failure> {
    let (given, rest) = match words.len().checked_sub(N) {
        Some(0) if is_url(&words[0]) => {
            return Err(usage(format!("{} is the store's URL; give {what} behind it", redacted(&words[0]))));
        }
        Some(0) => (None, words),
        Some(1) => (Some(words[0].as_str()), &words[1..]),
        _ => return Err(usage(format!("give the store's URL (or set {URL_VARIABLE}) and {what}"))),
    };
    let rest = rest.to_vec().try_into().map_err(|_| usage(format!("give {what}")))?;
    Ok((url(given)?, rest))
}

/// Whether a word is the URL of a store: no name of a space has a colon.
pub(crate) fn is_url(word: &str) -> bool {
    word.split_once(':')
        .is_some_and(|(scheme, _)| STORES.iter().any(|entry| entry.url_schemes.contains(&scheme)))
}

/// Runs what waits for a store.
pub(crate) fn wait<T>(work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let done = runtime.block_on(work);
    // A connection that hangs must not keep the command from ending.
    runtime.shutdown_background();
    done
}

/// A deadline for one question to the store.
pub(crate) fn soon() -> Deadline {
    Deadline::after(PATIENCE)
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let is_wrong_use = match &error {
            Error::Url { .. }
            | Error::NoSuchSpace { .. }
            | Error::NoSchema { .. }
            | Error::SpaceDiffers { .. }
            | Error::NameUsed { .. }
            | Error::SpaceFault { .. }
            | Error::NotTwins { .. }
            | Error::WrongKind { .. } => true,
            Error::Refused { refusal, .. } => matches!(
                refusal,
                Refusal::WrongKind { .. }
                    | Refusal::Request { .. }
                    | Refusal::WorkerRange { .. }
                    | Refusal::BlockSize { .. }
                    | Refusal::ScopeEnds { .. }
                    | Refusal::BumpBack { .. }
                    | Refusal::BumpPast { .. }
            ),
            _ => false,
        };
        if is_wrong_use { Self::Usage(error.to_string()) } else { Self::Cannot(error.into()) }
    }
}
