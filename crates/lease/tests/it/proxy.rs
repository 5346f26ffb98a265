//! A proxy between a client and a server that cuts, stalls and counts where a test says so.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// What it does with what passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Mode {
    Pass,
    /// Passes the next commit on, and ends the connection without the answer.
    CutAfterCommit,
    /// Ends the connection at the next beginning, once.
    CutAtBegin,
    /// Passes no more answers on.
    Stall,
}

/// What of a client's words is what, in the protocol that passes.
#[derive(Clone, Copy)]
pub(crate) struct Words {
    /// Whether they are of a request, and not of the protocol's own.
    pub(crate) are_asked: fn(&[u8]) -> bool,
    /// Whether a transaction begins with them, with nothing written before.
    pub(crate) begin: fn(&[u8]) -> bool,
    /// Whether a transaction ends with them.
    pub(crate) commit: fn(&[u8]) -> bool,
}

impl Words {
    pub(crate) const SQL: Self = Self {
        are_asked: |_| true,
        begin: |sent| holds(sent, b"BEGIN"),
        // PostgreSQL's message ends with a zero byte, MariaDB's with its text.
        commit: |sent| holds(sent, b"COMMIT\0") || sent.ends_with(b"; COMMIT"),
    };

    /// Values under keys, as etcd and ZooKeeper have them: each request names `meta`, and writes the text of a state.
    pub(crate) const KEYS: Self = Self {
        are_asked: |sent| holds(sent, b"/meta"),
        begin: |sent| holds(sent, b"/meta") && !holds(sent, b"mintage state "),
        commit: |sent| holds(sent, b"mintage state "),
    };
}

pub(crate) fn holds(sent: &[u8], words: &[u8]) -> bool {
    sent.windows(words.len()).any(|window| window == words)
}

pub(crate) struct Proxy {
    pub(crate) port: u16,
    state: Arc<State>,
}

struct State {
    mode: AtomicU8,
    /// How often the client sent anything after the server had.
    trips: AtomicU32,
    /// How often the mode did something.
    struck: AtomicU32,
    words: Words,
}

impl Proxy {
    pub(crate) async fn before(port: u16, words: Words) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let own = listener.local_addr().unwrap().port();
        let state = Arc::new(State {
            mode: AtomicU8::new(Mode::Pass as u8),
            trips: AtomicU32::new(0),
            struck: AtomicU32::new(0),
            words,
        });
        let server = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let shared = Arc::clone(&state);
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(pass(client, server, Arc::clone(&shared)));
            }
        });
        Self { port: own, state }
    }

    pub(crate) fn set(&self, mode: Mode) {
        self.state.mode.store(mode as u8, Ordering::SeqCst);
    }

    pub(crate) fn trips(&self) -> u32 {
        self.state.trips.swap(0, Ordering::SeqCst)
    }

    pub(crate) fn struck(&self) -> u32 {
        self.state.struck.load(Ordering::SeqCst)
    }
}

impl State {
    fn is(&self, mode: Mode) -> bool {
        self.mode.load(Ordering::SeqCst) == mode as u8
    }

    fn strike(&self) {
        self.struck.fetch_add(1, Ordering::SeqCst);
        self.mode.store(Mode::Pass as u8, Ordering::SeqCst);
    }
}

async fn pass(mut client: TcpStream, server: SocketAddr, state: Arc<State>) {
    let Ok(mut server) = TcpStream::connect(server).await else { return };
    let (mut asked, mut answered) = (vec![0; 65_536], vec![0; 65_536]);
    let mut has_answered = true;
    loop {
        tokio::select! {
            read = client.read(&mut asked) => {
                let Ok(count @ 1..) = read else { return };
                let sent = &asked[..count];
                if (state.words.are_asked)(sent) && std::mem::take(&mut has_answered) {
                    state.trips.fetch_add(1, Ordering::SeqCst);
                }
                if state.is(Mode::CutAtBegin) && (state.words.begin)(sent) {
                    return state.strike();
                }
                if server.write_all(sent).await.is_err() {
                    return;
                }
                if state.is(Mode::CutAfterCommit) && (state.words.commit)(sent) {
                    // The answer, which may come in pieces, is awaited to its end, so that the commit has come about; it isn't passed on.
                    let quiet = std::time::Duration::from_millis(100);
                    let mut read = server.read(&mut answered).await;
                    while matches!(read, Ok(1..)) {
                        let next = tokio::time::timeout(quiet, server.read(&mut answered)).await;
                        read = next.unwrap_or(Ok(0));
                    }
                    return state.strike();
                }
            }
            read = server.read(&mut answered) => {
                let Ok(count @ 1..) = read else { return };
                has_answered = true;
                if state.is(Mode::Stall) {
                    state.struck.fetch_add(1, Ordering::SeqCst);
                    // Keeps both ends open until the client gives up.
                    while client.read(&mut asked).await.is_ok_and(|count| count > 0) {}
                    return;
                }
                if client.write_all(&answered[..count]).await.is_err() {
                    return;
                }
            }
        }
    }
}
