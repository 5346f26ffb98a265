//! A server of its own for each test, on free ports, over a file in a folder that is gone afterwards.

use mintage_lease::SessionOptions;
use mintage_service::api::Api;
use mintage_service::config::{Config, Layer};
use mintage_service::server::{Error, Server};
use serde_json::Value;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

pub(crate) struct Site {
    pub(crate) http: SocketAddr,
    pub(crate) redis: SocketAddr,
    pub(crate) folder: TempDir,
    told: Arc<Mutex<Vec<String>>>,
    api: Arc<Api>,
    stop: oneshot::Sender<()>,
    running: JoinHandle<Result<(), Error>>,
}

impl Site {
    pub(crate) async fn begin() -> Self {
        Self::in_folder(tempfile::tempdir().unwrap()).await
    }

    /// A second server over the file of another.
    pub(crate) async fn beside(other: &Self) -> Self {
        let store = format!("sqlite:{}", other.folder.path().join("ids.db").display());
        Self::with(tempfile::tempdir().unwrap(), &[("store", &store)]).await
    }

    pub(crate) async fn in_folder(folder: TempDir) -> Self {
        Self::with(folder, &[]).await
    }

    /// With settings beside those that every test needs.
    pub(crate) async fn with(folder: TempDir, settings: &[(&'static str, &str)]) -> Self {
        let data = folder.path().to_str().unwrap();
        let own =
            [("listen", "127.0.0.1:0"), ("redis", "127.0.0.1:0"), ("data", data), ("drain-seconds", "2")];
        let of = |all: &[(&'static str, &str)]| {
            Layer::of_flags(
                all.iter().map(|(name, text)| (*name, Some((*text).to_owned()))).collect::<Vec<_>>(),
            )
        };
        let config = Config::of(&[of(&own), of(settings)]).unwrap();
        let server = Server::bind(&config, SessionOptions::default()).await.unwrap();
        server.ready(|fault| panic!("{fault}")).await.unwrap();
        let (http, redis) = (server.http_address().unwrap(), server.redis_address().unwrap().unwrap());
        let api = Arc::clone(server.api());
        let (stop, stopped) = oneshot::channel();
        let told: Arc<Mutex<Vec<String>>> = Arc::default();
        let said = Arc::clone(&told);
        let stopped = async {
            let _ = stopped.await;
        };
        let running =
            tokio::spawn(server.run(stopped, move |line| said.lock().unwrap().push(line.to_owned())));
        Self { http, redis, folder, told, api, stop, running }
    }

    /// What it does, whatever asks.
    pub(crate) fn api(&self) -> Arc<Api> {
        Arc::clone(&self.api)
    }

    /// Has it look at its store now.
    pub(crate) async fn look(&self) {
        self.api.look_at_store().await;
    }

    /// Waits until the server tells of this.
    pub(crate) async fn tells(&self, of: &str) {
        for _ in 0..1_000 {
            if self.told.lock().unwrap().iter().any(|line| line.contains(of)) {
                self.told.lock().unwrap().clear();
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("nothing was told of {of}: {:?}", self.told.lock().unwrap());
    }

    /// Ends it as a signal does.
    pub(crate) async fn end(self) -> TempDir {
        self.stop.send(()).unwrap();
        self.running.await.unwrap().unwrap();
        self.folder
    }

    /// One request on a connection of its own: status, headers as they came, body.
    pub(crate) async fn asked(&self, head: &str, headers: &str, body: &str) -> (u16, String, Vec<u8>) {
        let mut stream = TcpStream::connect(self.http).await.unwrap();
        let len = body.len();
        let request = format!(
            "{head} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Length: {len}\r\n{headers}\r\n{body}",
            self.http
        );
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).await.unwrap();
        let end = answer.windows(4).position(|four| four == b"\r\n\r\n").unwrap();
        let head = String::from_utf8(answer[..end].to_vec()).unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, head.to_ascii_lowercase(), answer[end + 4..].to_vec())
    }

    /// The same, of which the answer is JSON.
    pub(crate) async fn json(&self, head: &str) -> (u16, Value) {
        let (status, _, body) = self.asked(head, "", "").await;
        (status, serde_json::from_slice(&body).unwrap_or_else(|error| panic!("{head}: {error}")))
    }

    /// What is replied to these bytes until the server, told to quit, ends the connection.
    pub(crate) async fn replied(&self, bytes: &[u8]) -> String {
        let mut stream = TcpStream::connect(self.redis).await.unwrap();
        stream.write_all(bytes).await.unwrap();
        let mut replies = Vec::new();
        stream.read_to_end(&mut replies).await.unwrap();
        String::from_utf8(replies).unwrap()
    }
}
