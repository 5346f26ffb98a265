//! Trying again until it works, can't work, or the deadline comes: for stores that are reached over a network.
//!
//! Such a store says how one attempt at each request is made (`try_ask`, `try_show` and so on); [`by_attempts!`] makes the rest.

use crate::error::{Cause, Error};
use crate::store::Deadline;
use mintage::{Entropy, SystemEntropy};
use std::pin::Pin;
use std::time::Duration;

/// Why an attempt at a transaction ended.
pub(super) enum Failure {
    /// Nothing was done, and the next attempt may do better.
    Again(Again),
    /// It is no use, or must not be tried again.
    Final(Error),
}

pub(super) struct Again {
    pub(super) source: Cause,
    /// Whether it was the server that couldn't be reached, rather than its rows.
    pub(super) is_unreachable: bool,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Final(error)
    }
}

pub(super) type Attempt<'a, T> = Pin<Box<dyn Future<Output = Result<T, Failure>> + Send + 'a>>;

/// Tries until it works, can't work, or the deadline comes; not in a child of the process that opened the store, which is of
/// `generation`. `forget` closes idle connections, as they lead to a server that isn't the right one any more.
pub(super) async fn persist<'a, T>(
    store: &str,
    generation: u64,
    request: &'static str,
    deadline: Deadline,
    forget: impl Fn(),
    attempt: impl Fn() -> Attempt<'a, T>,
) -> Result<T, Error> {
    if generation != mintage::entropy::generation() {
        return Err(Error::Forked { store: store.to_owned() });
    }
    if deadline.left().is_zero() {
        return Err(Error::Deadline { store: store.to_owned(), request, source: None });
    }
    let mut wait = Duration::from_millis(2);
    loop {
        let Again { source, is_unreachable } = match attempt().await {
            Ok(value) => return Ok(value),
            Err(Failure::Final(error)) => return Err(error),
            Err(Failure::Again(again)) => again,
        };
        let pause = jittered(wait);
        if deadline.left() <= pause {
            let store = store.to_owned();
            return Err(if is_unreachable {
                Error::Unreachable { store, source }
            } else {
                Error::Deadline { store, request, source: Some(source) }
            });
        }
        if is_unreachable {
            forget();
        }
        tokio::time::sleep(pause).await;
        wait = (wait * 2).min(Duration::from_millis(500));
    }
}

/// Half to one and a half of a pause, so that those who wait don't come all at once.
fn jittered(pause: Duration) -> Duration {
    let mut byte = [128];
    let _ = SystemEntropy.fill(&mut byte);
    pause / 2 + pause * u32::from(byte[0]) / 255
}

/// `by_attempts!(TYPE, FORGET)`: the trait [`Store`](crate::store::Store) for a type that has a `url`, a `clock`, a `generation` and a
/// function `try_…` for one attempt at each request. `FORGET` is done where the server couldn't be reached.
#[cfg(any(feature = "etcd", feature = "mysql", feature = "postgres", feature = "zookeeper"))]
macro_rules! by_attempts {
    ($store:ty, $forget:expr) => {
        impl $crate::store::Store for $store {
            fn url(&self) -> &str {
                &self.url
            }

            fn clock(&self) -> &dyn $crate::clock::HostClock {
                &*self.clock
            }

            fn space<'a>(
                &'a self,
                name: &'a str,
                deadline: $crate::store::Deadline,
            ) -> $crate::store::Answering<'a, $crate::space::Space> {
                Box::pin(async move {
                    let attempt = || self.try_show("open", Some(name), false, deadline);
                    let all = $crate::stores::attempt::tried!(self, $forget, "open", deadline, attempt)?;
                    Ok($crate::store::in_use(all, &self.url, name)?.space)
                })
            }

            fn ask<'a>(
                &'a self,
                space: &'a $crate::space::Space,
                caller: &'a $crate::request::Caller,
                request: &'a $crate::request::Request,
                deadline: $crate::store::Deadline,
            ) -> $crate::store::Answering<'a, $crate::request::Answered> {
                Box::pin(async move {
                    let attempt = || self.try_ask(space, caller, request, deadline);
                    $crate::stores::attempt::tried!(self, $forget, request.name(), deadline, attempt)
                })
            }

            fn create<'a>(
                &'a self,
                space: &'a $crate::space::Space,
                options: $crate::store::CreateOptions,
                deadline: $crate::store::Deadline,
            ) -> $crate::store::Answering<'a, $crate::space::Space> {
                Box::pin(async move {
                    let attempt = || self.try_create(space, options, deadline);
                    $crate::stores::attempt::tried!(self, $forget, "create", deadline, attempt)
                })
            }

            fn list(
                &self,
                deadline: $crate::store::Deadline,
            ) -> $crate::store::Answering<'_, Vec<$crate::request::Shown>> {
                Box::pin(async move {
                    let attempt = || self.try_show("list", None, true, deadline);
                    $crate::stores::attempt::tried!(self, $forget, "list", deadline, attempt)
                })
            }

            fn show<'a>(
                &'a self,
                name: &'a str,
                deadline: $crate::store::Deadline,
            ) -> $crate::store::Answering<'a, $crate::request::Shown> {
                Box::pin(async move {
                    let attempt = || self.try_show("show", Some(name), true, deadline);
                    let all = $crate::stores::attempt::tried!(self, $forget, "show", deadline, attempt)?;
                    $crate::store::in_use(all, &self.url, name)
                })
            }

            fn drop_space<'a>(
                &'a self,
                name: &'a str,
                deadline: $crate::store::Deadline,
            ) -> $crate::store::Answering<'a, ()> {
                Box::pin(async move {
                    let attempt = || self.try_drop(name, deadline);
                    $crate::stores::attempt::tried!(self, $forget, "drop", deadline, attempt)
                })
            }

            fn check(
                &self,
                deadline: $crate::store::Deadline,
            ) -> $crate::store::Answering<'_, Vec<$crate::store::CheckLine>> {
                Box::pin(async move {
                    let attempt = || self.try_check(deadline);
                    $crate::stores::attempt::tried!(self, $forget, "check", deadline, attempt)
                })
            }

            fn upgrade(&self, deadline: $crate::store::Deadline) -> $crate::store::Answering<'_, ()> {
                Box::pin(async move {
                    let attempt = || self.try_upgrade(deadline);
                    $crate::stores::attempt::tried!(self, $forget, "upgrade", deadline, attempt)
                })
            }
        }
    };
}

/// Attempts at one request, until [`persist`] ends them.
macro_rules! tried {
    ($store:expr, $forget:expr, $request:expr, $deadline:expr, $attempt:expr) => {
        $crate::stores::attempt::persist(
            &$store.url,
            $store.generation,
            $request,
            $deadline,
            || $forget($store),
            || -> $crate::stores::attempt::Attempt<'_, _> { Box::pin($attempt()) },
        )
        .await
    };
}

#[cfg(any(feature = "etcd", feature = "mysql", feature = "postgres", feature = "zookeeper"))]
pub(super) use by_attempts;
pub(super) use tried;
