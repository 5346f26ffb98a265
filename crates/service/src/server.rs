//! A server as it runs: from its configuration to its end.

use crate::api::Api;
use crate::config::Config;
use crate::fault::Fault;
use crate::{http, redis};
use mintage_lease::{Session, SessionOptions};
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;

/// Most connections of the Redis protocol at once; further ones wait to be taken.
const MAX_CONNECTIONS: usize = 20_000;

/// How long to wait between two attempts to reach the store at the start.
const RETRY: Duration = Duration::from_secs(1);

/// Why a server doesn't begin.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// An address can't be listened on.
    #[error("{name} {address}: can't be listened on; is something else there?")]
    Listen {
        /// The setting.
        name: &'static str,
        /// The address.
        address: SocketAddr,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The folder of the embedded store can't be made.
    #[error("{path}: the data folder can't be made")]
    Data {
        /// The folder.
        path: String,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The store can't be opened at all.
    #[error(transparent)]
    Store(#[from] mintage_lease::Error),
    /// A listener ended.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// A server that listens, and doesn't answer yet.
#[derive(Debug)]
pub struct Server {
    api: Arc<Api>,
    http: TcpListener,
    redis: Option<TcpListener>,
    drain: Duration,
}

impl Server {
    /// Takes the addresses, and opens the store without connecting to it.
    ///
    /// # Errors
    /// [`Error`].
    pub async fn bind(config: &Config, options: SessionOptions) -> Result<Self, Error> {
        if config.store.is_none() {
            std::fs::create_dir_all(&config.data)
                .map_err(|source| Error::Data { path: config.data.display().to_string(), source })?;
        }
        let session = Session::open(&config.store_url(), options)?;
        let listen = async |name, address: SocketAddr| {
            TcpListener::bind(address).await.map_err(|source| Error::Listen { name, address, source })
        };
        let http = listen("listen", config.listen).await?;
        let redis = match config.redis {
            Some(address) => Some(listen("redis", address).await?),
            None => None,
        };
        let drain = Duration::from_secs(config.drain_seconds);
        Ok(Self { api: Arc::new(Api::over(session)), http, redis, drain })
    }

    /// Where HTTP is spoken.
    ///
    /// # Errors
    /// What the system says of the socket.
    pub fn http_address(&self) -> io::Result<SocketAddr> {
        self.http.local_addr()
    }

    /// Where the Redis protocol is spoken, if anywhere.
    ///
    /// # Errors
    /// What the system says of the socket.
    pub fn redis_address(&self) -> io::Result<Option<SocketAddr>> {
        self.redis.as_ref().map(TcpListener::local_addr).transpose()
    }

    /// Waits until the store answers, and makes the first spaces where they are missing and the role may. `told` is called with each reason
    /// to wait, once while it stays the same.
    ///
    /// # Errors
    /// What no waiting mends: [`crate::fault::Kind::StoreUnfit`] and the like.
    pub async fn ready(&self, mut told: impl FnMut(&Fault)) -> Result<(), Fault> {
        let mut last: Option<Fault> = None;
        loop {
            let fault = match self.api.make_first_spaces().await {
                Ok(()) => return Ok(()),
                Err(fault) => fault,
            };
            if fault.retry_after.is_none() {
                return Err(fault);
            }
            if last.as_ref().is_none_or(|last| last.kind != fault.kind) {
                told(&fault);
            }
            last = Some(fault);
            tokio::time::sleep(RETRY).await;
        }
    }

    /// Answers until `stop` ends; then lets requests end, and gives back what is held.
    ///
    /// # Errors
    /// [`Error::Io`] when a listener ends by itself.
    pub async fn run(self, stop: impl Future<Output = ()> + Send + 'static) -> Result<(), Error> {
        let (end, ending) = watch::channel(false);
        let web = axum::serve(self.http, http::app(Arc::clone(&self.api)))
            .with_graceful_shutdown(until(ending.clone()));
        let mut web = tokio::spawn(web.into_future());
        let keyed = self
            .redis
            .map(|listener| tokio::spawn(connections(listener, Arc::clone(&self.api), ending.clone())));
        let ended_early = tokio::select! {
            () = stop => None,
            ended = &mut web => Some(ended),
        };
        let _ = end.send(true);
        if let Some(ended) = ended_early {
            self.api.close().await;
            return Ok(ended.map_err(io::Error::other)??);
        }
        // Those that take longer are cut off; what they were handed out is theirs all the same.
        let drained = async {
            let _ = web.await;
            if let Some(keyed) = keyed {
                let _ = keyed.await;
            }
        };
        let _ = tokio::time::timeout(self.drain, drained).await;
        self.api.close().await;
        Ok(())
    }
}

/// Takes connections of the Redis protocol until the server ends, and lets those that are there end.
async fn connections(listener: TcpListener, api: Arc<Api>, ending: watch::Receiver<bool>) {
    let mut open = JoinSet::new();
    loop {
        let has_room = open.len() < MAX_CONNECTIONS;
        tokio::select! {
            taken = listener.accept(), if has_room => match taken {
                Ok((stream, _)) => {
                    let (api, ending) = (Arc::clone(&api), ending.clone());
                    open.spawn(async move { redis::serve(api, stream, ending).await });
                }
                // Too many files are open, or the client has gone: neither is the end.
                Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
            },
            Some(_) = open.join_next() => {}
            () = until(ending.clone()) => break,
        }
    }
    while open.join_next().await.is_some() {}
}

/// Waits until the server ends.
async fn until(mut ending: watch::Receiver<bool>) {
    let _ = ending.wait_for(|is_ending| *is_ending).await;
}
