//! A server as it runs: from its configuration to its end.

use crate::api::{Api, Limits};
use crate::config::{Config, Wrong};
use crate::credentials::{Credentials, LOOK};
use crate::facades::Facades;
use crate::fault::{Fault, Kind};
use crate::listener::Listener;
use crate::log::Requests;
use crate::metrics::{HTTP, Metrics, REDIS};
use crate::tls::{Files, Tls};
use crate::{http, log, redis};
use mintage_lease::events::Listener as Listen;
use mintage_lease::{Session, SessionOptions};
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::watch;

/// How long to wait between two attempts to reach the store at the start.
const RETRY: Duration = Duration::from_secs(1);

/// How often the store is looked at for the metrics.
const LOOK_AT_STORE: Duration = Duration::from_secs(15);

/// Files that are open beside connections: stores, logs, what is read again.
const OTHER_FILES: usize = 256;

/// Why a server doesn't begin.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// What it was told isn't safe.
    #[error(transparent)]
    Wrong(#[from] Wrong),
    /// There is no TLS.
    #[error(transparent)]
    Tls(#[from] crate::tls::Error),
    /// The credentials can't be read.
    #[error(transparent)]
    Credentials(#[from] crate::credentials::Error),
    /// The facades can't be read.
    #[error(transparent)]
    Facades(#[from] crate::facades::Error),
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
    /// There are no metrics.
    #[error(transparent)]
    Metrics(#[from] prometheus::Error),
    /// A task ended by itself.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// A server that listens, and doesn't answer yet.
#[derive(Debug)]
pub struct Server {
    api: Arc<Api>,
    http: Listener,
    redis: Option<Listener>,
    tls: Option<Arc<Tls>>,
    timing: http::Timing,
    logged: Requests,
    drain: Duration,
}

impl Server {
    /// Takes the addresses, and opens the store without connecting to it.
    ///
    /// # Errors
    /// [`Error`].
    pub async fn bind(config: &Config, options: SessionOptions) -> Result<Self, Error> {
        let credentials = Credentials::of(config.credentials_file())?;
        config.check_listeners(credentials.are_asked())?;
        let files = config.tls_certificate.clone().zip(config.tls_key.clone());
        let files = files.map(|(certificate, key)| Files {
            certificate,
            key,
            client_ca: config.tls_client_ca.clone(),
        });
        let tls = files.map(Tls::read).transpose()?.map(Arc::new);
        if config.store.is_none() {
            std::fs::create_dir_all(&config.data)
                .map_err(|source| Error::Data { path: config.data.display().to_string(), source })?;
        }
        let facades = Facades::of(config.facades.clone())?;
        let metrics = Arc::new(Metrics::new()?);
        let session = Session::open(&config.store_url(), heard(options, &metrics))?;
        let most = connections(config);
        let listener =
            async |name, surface, address: SocketAddr, farewell| match TcpListener::bind(address).await {
                Ok(socket) => Ok(Listener {
                    socket,
                    tls: tls.clone(),
                    most,
                    farewell,
                    surface,
                    metrics: Arc::clone(&metrics),
                }),
                Err(source) => Err(Error::Listen { name, address, source }),
            };
        let address = config.listen.unwrap_or(SocketAddr::from(([127, 0, 0, 1], 0)));
        let full =
            Fault::new(Kind::Overloaded, format!("{most} connections are open, and no more are taken"))
                .again_in(Duration::from_secs(1));
        let http = listener("listen", HTTP, address, http::farewell(&full)).await?;
        let redis = match config.redis {
            Some(address) => Some(listener("redis", REDIS, address, redis::farewell(&full)).await?),
            None => None,
        };
        let limits = Limits { max_count: config.max_count, max_waiting: config.max_waiting };
        let api = Arc::new(Api::over(session, credentials, facades, limits, Arc::clone(&metrics)));
        let timing = http::Timing { request: config.request, idle: config.idle };
        Ok(Self { api, http, redis, tls, timing, logged: config.log_requests, drain: config.drain })
    }

    /// Where HTTP is spoken.
    ///
    /// # Errors
    /// What the system says of the socket.
    pub fn http_address(&self) -> io::Result<SocketAddr> {
        self.http.socket.local_addr()
    }

    /// Where the Redis protocol is spoken, if anywhere.
    ///
    /// # Errors
    /// What the system says of the socket.
    pub fn redis_address(&self) -> io::Result<Option<SocketAddr>> {
        self.redis.as_ref().map(|redis| redis.socket.local_addr()).transpose()
    }

    /// What it does, whatever asks.
    #[must_use]
    pub fn api(&self) -> &Arc<Api> {
        &self.api
    }

    /// Whether TLS is spoken there.
    #[must_use]
    pub fn has_tls(&self) -> bool {
        self.tls.is_some()
    }

    /// Whether requests need a token.
    #[must_use]
    pub fn asks_for_tokens(&self) -> bool {
        self.api.credentials().are_asked()
    }

    /// Most connections of each listener: as many as was told, or as the system has files for.
    #[must_use]
    pub fn most_connections(&self) -> usize {
        self.http.most
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

    /// Answers until `stop` ends; then lets requests end, and gives back what is held. `told` is called with what is wrong with files that
    /// are read again, and when they were.
    ///
    /// # Errors
    /// [`Error::Io`] when a listener ends by itself.
    pub async fn run(
        self,
        stop: impl Future<Output = ()> + Send + 'static,
        told: impl Fn(&str) + Send + 'static,
    ) -> Result<(), Error> {
        let Self { api, http, redis, tls, timing, logged, drain } = self;
        log::state("ready");
        let (end, ending) = watch::channel(false);
        let app = http::app(Arc::clone(&api), http::Manner { patience: timing.request, logged });
        let web = http
            .serve(ending.clone(), move |stream, ending| http::serve(app.clone(), stream, timing, ending));
        let mut web = tokio::spawn(web);
        let shared = Arc::clone(&api);
        let keyed = redis.map(|listener| {
            let serve = move |stream, ending| {
                redis::serve(
                    Arc::clone(&shared),
                    stream,
                    redis::Manner { patience: timing.request, logged },
                    ending,
                )
            };
            tokio::spawn(listener.serve(ending.clone(), serve))
        });
        let looking = tokio::spawn(look(Arc::clone(&api), tls, told));
        let watched = Arc::clone(&api);
        let watching = tokio::spawn(async move {
            loop {
                watched.look_at_store().await;
                tokio::time::sleep(LOOK_AT_STORE).await;
            }
        });
        let ended_early = tokio::select! {
            () = stop => None,
            ended = &mut web => Some(ended),
        };
        let _ = end.send(true);
        log::state("draining");
        looking.abort();
        watching.abort();
        if let Some(ended) = ended_early {
            api.close().await;
            return Ok(ended.map_err(io::Error::other)?);
        }
        // Those that take longer are cut off; what they were handed out is theirs all the same.
        let drained = async {
            let _ = web.await;
            if let Some(keyed) = keyed {
                let _ = keyed.await;
            }
        };
        let _ = tokio::time::timeout(drain, drained).await;
        api.close().await;
        log::state("ended");
        Ok(())
    }
}

/// What happens to leases is counted and logged.
fn heard(options: SessionOptions, metrics: &Arc<Metrics>) -> SessionOptions {
    let metrics = Arc::clone(metrics);
    let listener = Listen::new(move |event| {
        metrics.happened(event);
        log::happened(event);
    });
    SessionOptions { listener, ..options }
}

/// Looks at files that may change while the server runs.
async fn look(api: Arc<Api>, tls: Option<Arc<Tls>>, told: impl Fn(&str)) {
    loop {
        tokio::time::sleep(LOOK).await;
        let looked = [
            ("the credentials", api.credentials().read_again().map_err(|error| error.to_string())),
            ("the facades", api.facades().read_again().map_err(|error| error.to_string())),
            (
                "the certificates",
                tls.as_ref().map_or(Ok(false), |tls| tls.read_again()).map_err(|error| error.to_string()),
            ),
        ];
        for (what, looked) in looked {
            match looked {
                Ok(true) => told(&format!("{what} were read again")),
                Ok(false) => {}
                Err(error) => told(&format!("{error}; {what} that were read before hold on")),
            }
        }
    }
}

/// Most connections of each listener. The system lets a process open few files unless it asks for more. Where both listeners are full at once,
/// connections wait until there is a file for them.
fn connections(config: &Config) -> usize {
    let wanted = config.max_connections.saturating_mul(2).saturating_add(OTHER_FILES);
    let limit = files(wanted as u64).and_then(|limit| usize::try_from(limit).ok());
    limit.map_or(config.max_connections, |limit| {
        config.max_connections.min(limit.saturating_sub(OTHER_FILES).max(1))
    })
}

/// Asks to open so many files; how many may be, where there is a limit.
#[cfg(unix)]
fn files(wanted: u64) -> Option<u64> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    let most = limit.maximum.map_or(wanted, |maximum| maximum.min(wanted));
    if limit.current.is_some_and(|current| current < most) {
        // Where it isn't granted, the limit is read below.
        let _ = setrlimit(Resource::Nofile, Rlimit { current: Some(most), maximum: limit.maximum });
    }
    getrlimit(Resource::Nofile).current
}

#[cfg(not(unix))]
fn files(_wanted: u64) -> Option<u64> {
    None
}
