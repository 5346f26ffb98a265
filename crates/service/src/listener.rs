//! A socket that connections come to: TLS where there is, so many at once, and the end.

use crate::metrics::Metrics;
use crate::tls::Tls;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;
use tokio_rustls::server::TlsStream;
use tokio_util::either::Either;

/// A connection, with TLS or without.
pub(crate) type Stream = Either<TcpStream, Box<TlsStream<TcpStream>>>;

/// How long a client may take to begin TLS.
const HANDSHAKE: Duration = Duration::from_secs(10);

/// How long a connection that is one too many is listened to, so that its client reads why.
const FAREWELL: Duration = Duration::from_secs(1);

/// How many of those at once; further ones are closed without a word.
const FAREWELLS: usize = 64;

/// How long to wait when the system has no room for a connection.
const NO_ROOM: Duration = Duration::from_millis(50);

/// A socket, and how it is served.
#[derive(Debug)]
pub(crate) struct Listener {
    pub(crate) socket: TcpListener,
    pub(crate) tls: Option<Arc<Tls>>,
    /// Most connections at once.
    pub(crate) most: usize,
    /// What a connection above that is told, where there is no TLS to begin first.
    pub(crate) farewell: Vec<u8>,
    pub(crate) surface: &'static str,
    pub(crate) metrics: Arc<Metrics>,
}

impl Listener {
    /// Takes connections until the server ends, and lets those that are there end.
    pub(crate) async fn serve<F, Served>(self, ending: watch::Receiver<bool>, serve: F)
    where
        F: Fn(Stream, watch::Receiver<bool>) -> Served + Clone + Send + 'static,
        Served: Future<Output = ()> + Send,
    {
        let mut open = JoinSet::new();
        let farewells = Arc::new(Semaphore::new(FAREWELLS));
        let farewell: Arc<[u8]> = self.farewell.into();
        loop {
            tokio::select! {
                taken = self.socket.accept() => match taken {
                    Ok((stream, _)) if open.len() < self.most => {
                        let (tls, serve, ending) = (self.tls.clone(), serve.clone(), ending.clone());
                        let connected = self.metrics.connected(self.surface);
                        open.spawn(async move {
                            let _connected = connected;
                            // An answer goes out whole; waiting for more of it only delays it.
                            let _ = stream.set_nodelay(true);
                            if let Some(stream) = begun(stream, tls).await {
                                serve(stream, ending).await;
                            }
                        });
                    }
                    Ok((stream, _)) => {
                        self.metrics.refused(self.surface);
                        if let (None, Ok(permit)) = (&self.tls, Arc::clone(&farewells).try_acquire_owned()) {
                            let farewell = Arc::clone(&farewell);
                            tokio::spawn(async move {
                                let _permit = permit;
                                let _ = tokio::time::timeout(FAREWELL, told(stream, &farewell)).await;
                            });
                        }
                    }
                    // Too many files are open, or the client has gone: neither is the end.
                    Err(_) => tokio::time::sleep(NO_ROOM).await,
                },
                Some(_) = open.join_next() => {}
                () = until(ending.clone()) => break,
            }
        }
        drop(self.socket);
        while open.join_next().await.is_some() {}
    }
}

/// With TLS where there is; nothing where the client didn't begin it.
async fn begun(stream: TcpStream, tls: Option<Arc<Tls>>) -> Option<Stream> {
    let Some(tls) = tls else { return Some(Either::Left(stream)) };
    let begun = tokio::time::timeout(HANDSHAKE, tls.acceptor().accept(stream)).await;
    Some(Either::Right(Box::new(begun.ok()?.ok()?)))
}

/// Says it, and reads on until the client has seen it: a connection that is closed with bytes unread loses what was written.
async fn told(mut stream: TcpStream, farewell: &[u8]) -> std::io::Result<()> {
    stream.write_all(farewell).await?;
    stream.shutdown().await?;
    let mut rest = [0; 1024];
    while stream.read(&mut rest).await? > 0 {}
    Ok(())
}

/// Waits until the server ends.
pub(crate) async fn until(mut ending: watch::Receiver<bool>) {
    let _ = ending.wait_for(|is_ending| *is_ending).await;
}
