//! The store of a service: the suite over a real one, and what is known of requests that have no answer.

use crate::proxy::{Mode, Proxy, Words, holds};
use crate::site::{Site, soon};
use mintage_lease::session::SessionOptions;
use mintage_lease::space::BlockTerms;
use mintage_lease::store::{Deadline, OpenOptions, open};
use mintage_lease::{Error, Request};
use mintage_service::config::{Config, Layer};
use mintage_service::server::Server;
use std::collections::HashSet;
use std::time::Duration;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::sync::oneshot;

/// A service over a file, on a thread of its own; it ends with this.
struct Service {
    port: u16,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<std::thread::JoinHandle<()>>,
    folder: Option<TempDir>,
}

impl Service {
    fn begin(folder: TempDir, port: u16) -> Self {
        let (stop, stopped) = oneshot::channel::<()>();
        let (tell, told) = std::sync::mpsc::channel();
        let data = folder.path().to_str().unwrap().to_owned();
        let thread = std::thread::spawn(move || {
            let runtime =
                tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
            runtime.block_on(async move {
                let flags = [
                    ("data", Some(data)),
                    ("listen", Some(format!("127.0.0.1:{port}"))),
                    ("redis", Some(String::new())),
                    ("drain-seconds", Some("1".to_owned())),
                ];
                let config = Config::of(&[Layer::of_flags(flags)]).unwrap();
                let server = Server::bind(&config, SessionOptions::default()).await.unwrap();
                tell.send(server.http_address().unwrap().port()).unwrap();
                // It makes no spaces of its own: the suite wants a store without tables.
                let stopped = async {
                    let _ = stopped.await;
                };
                server.run(stopped, |_| {}).await.unwrap();
            });
        });
        Self { port: told.recv().unwrap(), stop: Some(stop), thread: Some(thread), folder: Some(folder) }
    }

    fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Ends it; its folder stays.
    fn end(&mut self) -> Option<TempDir> {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        self.folder.take()
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        self.end();
    }
}

pub(crate) fn site() -> Site {
    let service = Service::begin(tempfile::tempdir().unwrap(), 0);
    Site { url: service.url(), options: OpenOptions::default(), _kept: Box::new(service) }
}

/// What changes something is at these paths.
const WORDS: Words = Words {
    are_asked: |_| true,
    begin: |sent| holds(sent, b"/leases HTTP") || holds(sent, b"/requests HTTP"),
    commit: |sent| holds(sent, b"/leases HTTP") || holds(sent, b"/requests HTTP"),
};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rule_10_what_was_sent_and_has_no_answer_is_unknown_and_not_sent_again() {
    let service = Service::begin(tempfile::tempdir().unwrap(), 0);
    let proxy = Proxy::before(service.port, WORDS).await;
    let site = Site::of(format!("http://127.0.0.1:{}", proxy.port));
    let mut orders = site.windows("orders", |_| {}).await;
    let first = orders.one().await;
    proxy.set(Mode::CutAfterCommit);
    let unknown = orders.acquire(1).await;
    assert!(matches!(unknown, Err(Error::UnknownOutcome { .. })), "{unknown:?}");
    assert_eq!(proxy.struck(), 1);
    // It was carried out once, and the next client gets another worker.
    let rows = orders.desk.store().show("orders", soon()).await.unwrap().workers;
    assert_eq!(rows.len(), 2);
    assert_eq!((first.worker, orders.one().await.worker), (0, 2));
    let mut invoices = site.blocks("invoices", BlockTerms::default()).await;
    let block = invoices.claim(10).await.unwrap();
    proxy.set(Mode::CutAfterCommit);
    assert!(matches!(invoices.claim(10).await, Err(Error::UnknownOutcome { .. })));
    assert_eq!(invoices.claim(10).await.unwrap().start, block.end + 10);
    // Reads are asked again.
    proxy.set(Mode::CutAfterCommit);
    invoices.done(Request::Look).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_that_stands_still_is_unknown_at_the_deadline() {
    let service = Service::begin(tempfile::tempdir().unwrap(), 0);
    let proxy = Proxy::before(service.port, WORDS).await;
    let site = Site::of(format!("http://127.0.0.1:{}", proxy.port));
    let orders = site.windows("orders", |_| {}).await;
    proxy.set(Mode::Stall);
    let brief = Deadline::after(Duration::from_millis(300));
    let late = orders.desk.done(&orders.caller, Request::Hold, brief).await;
    assert!(matches!(late, Err(Error::UnknownOutcome { .. })), "{late:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_service_that_was_away_is_found_again() {
    let mut service = Service::begin(tempfile::tempdir().unwrap(), 0);
    let site = Site::of(service.url());
    let mut orders = site.windows("orders", |_| {}).await;
    let lease = orders.one().await;
    let folder = service.end().unwrap();
    let brief = Deadline::after(Duration::from_millis(300));
    let away = orders.desk.renew(&orders.caller, vec![lease.held()], brief).await;
    assert!(matches!(away, Err(Error::Unreachable { .. })), "{away:?}");
    let _again = Service::begin(folder, service.port);
    let renewed = orders.renew(&[lease]).await.remove(0).unwrap();
    assert_eq!(renewed.from, lease.until);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_space_that_was_dropped_is_gone_at_a_service_that_never_saw_it() {
    let mut service = Service::begin(tempfile::tempdir().unwrap(), 0);
    let site = Site::of(service.url());
    let mut invoices = site.blocks("invoices", BlockTerms::default()).await;
    invoices.claim(10).await.unwrap();
    site.store().drop_space("invoices", soon()).await.unwrap();
    let folder = service.end().unwrap();
    let _again = Service::begin(folder, service.port);
    let gone = invoices.claim(10).await;
    assert!(matches!(gone, Err(Error::SpaceGone { .. })), "{gone:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_services_on_one_store_are_one_store() {
    let folder = tempfile::tempdir().unwrap();
    let second = tempfile::tempdir_in(folder.path()).unwrap();
    // The same file by a link: a data folder each.
    let service = Service::begin(folder, 0);
    let site = Site::of(service.url());
    let mut here = site.windows("orders", |_| {}).await;
    let file = service.folder.as_ref().unwrap().path().join("ids.db");
    std::os::unix::fs::symlink(&file, second.path().join("ids.db")).unwrap();
    let other = Service::begin(second, 0);
    let mut there = Site::of(other.url()).client("orders").await;
    let workers: HashSet<u64> =
        [here.one().await, there.one().await, here.one().await].map(|lease| lease.worker).into();
    assert_eq!(workers.len(), 3);
}

/// What answers every request with these bytes.
async fn answering(bytes: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let mut request = [0; 4096];
                while stream.read(&mut request).await.is_ok_and(|len| len > 0) {
                    let _ = stream.write_all(bytes.as_bytes()).await;
                }
            });
        }
    });
    url
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_no_answer_of_a_service_is_none() {
    let site = site();
    let client = site.windows("orders", |_| {}).await;
    let space = client.desk.space();
    let gateway = "HTTP/1.1 502 Bad Gateway\r\ncontent-length: 6\r\n\r\n<html>";
    let odd = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}";
    let noise = "SSH-2.0-OpenSSH_9.2\r\n";
    let denied = "HTTP/1.1 401 Unauthorized\r\ncontent-length: 45\r\n\r\n{\"type\":\"/problems/unauthorized\",\"detail\":\"\"}";
    let brief = || Deadline::after(Duration::from_millis(400));
    for (bytes, is_known) in [(gateway, false), (odd, false), (noise, false), (denied, true)] {
        let store = open(&answering(bytes).await, OpenOptions::default()).unwrap();
        let asked = store.ask(space, &client.caller, &Request::Hold, brief()).await;
        match asked {
            Err(Error::UnknownOutcome { .. }) if !is_known => {}
            Err(Error::Denied { .. }) if is_known => {}
            other => panic!("{bytes}: {other:?}"),
        }
        let read = store.list(brief()).await;
        assert!(matches!(read, Err(Error::Unreachable { .. } | Error::Denied { .. })), "{bytes}: {read:?}");
    }
}
