//! A network that fails on purpose: a proxy on 127.0.0.1 between clients and one server.

use mintage::time::pause;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// What a proxy does with what passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Mode {
    /// Passes all of it on.
    Pass,
    /// Ends every connection, and each that comes.
    Cut,
    /// Keeps what either side says, until another mode lets it pass, late.
    Stall,
    /// Passes a `COMMIT` of PostgreSQL's protocol on, and ends the connection in place of the answer; once.
    CutAfterCommit,
}

/// A proxy before a server whose port may change, as at a failover. It lives as long as the process.
#[derive(Debug)]
pub struct Proxy {
    port: u16,
    state: Arc<State>,
}

#[derive(Debug)]
struct State {
    mode: AtomicU8,
    server: Mutex<(String, u16)>,
    struck: AtomicU32,
    open: Mutex<Vec<TcpStream>>,
}

impl Proxy {
    /// A proxy before the server at this port of 127.0.0.1.
    ///
    /// # Errors
    /// When there is no port to listen at.
    pub fn before(server: u16) -> io::Result<Self> {
        Self::before_host(&Ipv4Addr::LOCALHOST.to_string(), server)
    }

    /// A proxy before the server at this port of a host.
    ///
    /// # Errors
    /// When there is no port to listen at.
    pub fn before_host(host: &str, server: u16) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let port = listener.local_addr()?.port();
        let state = Arc::new(State {
            mode: AtomicU8::new(Mode::Pass as u8),
            server: Mutex::new((host.to_owned(), server)),
            struck: AtomicU32::new(0),
            open: Mutex::default(),
        });
        let shared = Arc::clone(&state);
        std::thread::Builder::new().name("proxy".to_owned()).spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                // A client whose server doesn't listen is told so by the end of its connection.
                let _ = join(client, &shared);
            }
        })?;
        Ok(Self { port, state })
    }

    /// Where clients find it.
    #[must_use]
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// Passes new connections on to the server at this port of the same host; those that are open end.
    pub fn lead_to(&self, server: u16) {
        self.state.server.lock().unwrap_or_else(PoisonError::into_inner).1 = server;
        self.state.end_all();
    }

    /// Changes what it does from now on.
    pub fn set(&self, mode: Mode) {
        self.state.mode.store(mode as u8, Ordering::SeqCst);
        if mode == Mode::Cut {
            self.state.end_all();
        }
    }

    /// How often a mode but [`Mode::Pass`] did something.
    #[must_use]
    pub fn struck(&self) -> u32 {
        self.state.struck.load(Ordering::SeqCst)
    }
}

impl State {
    fn is(&self, mode: Mode) -> bool {
        self.mode.load(Ordering::SeqCst) == mode as u8
    }

    fn strike(&self) {
        self.struck.fetch_add(1, Ordering::SeqCst);
    }

    fn end_all(&self) {
        for stream in self.open.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
            // It may have ended by itself.
            let _ = stream.shutdown(Shutdown::Both);
            if self.is(Mode::Cut) {
                self.strike();
            }
        }
    }
}

/// Passes on what both sides say, in two threads.
fn join(client: TcpStream, state: &Arc<State>) -> io::Result<()> {
    if state.is(Mode::Cut) {
        state.strike();
        return Ok(());
    }
    let (host, port) = state.server.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let server = TcpStream::connect((host.as_str(), port))?;
    client.set_nodelay(true)?;
    server.set_nodelay(true)?;
    state
        .open
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .extend([client.try_clone()?, server.try_clone()?]);
    let has_committed = Arc::new(AtomicBool::new(false));
    let up = Pipe { state: Arc::clone(state), has_committed: Arc::clone(&has_committed), is_up: true };
    let down = Pipe { state: Arc::clone(state), has_committed, is_up: false };
    let (from, to) = (client.try_clone()?, server.try_clone()?);
    std::thread::Builder::new().name("proxy-up".to_owned()).spawn(move || up.pass(from, to))?;
    std::thread::Builder::new().name("proxy-down".to_owned()).spawn(move || down.pass(server, client))?;
    Ok(())
}

/// One direction of a connection.
struct Pipe {
    state: Arc<State>,
    /// A `COMMIT` went up whose answer isn't to be passed on.
    has_committed: Arc<AtomicBool>,
    is_up: bool,
}

impl Pipe {
    fn pass(&self, mut from: TcpStream, mut to: TcpStream) {
        let mut bytes = vec![0; 65_536];
        while let Ok(count @ 1..) = from.read(&mut bytes) {
            if !self.may_pass(&bytes[..count]) || to.write_all(&bytes[..count]).is_err() {
                break;
            }
        }
        let _ = from.shutdown(Shutdown::Both);
        let _ = to.shutdown(Shutdown::Both);
    }

    fn may_pass(&self, bytes: &[u8]) -> bool {
        if self.state.is(Mode::Stall) {
            self.state.strike();
            while self.state.is(Mode::Stall) {
                pause(2_000_000);
            }
        }
        let is_commit = bytes.windows(COMMIT.len()).any(|window| window == COMMIT);
        if self.is_up && is_commit && self.state.is(Mode::CutAfterCommit) {
            self.has_committed.store(true, Ordering::SeqCst);
        }
        if !self.is_up && is_commit && self.has_committed.load(Ordering::SeqCst) {
            // The answer has come, so the commit has come about.
            let (mode, pass) = (Mode::CutAfterCommit as u8, Mode::Pass as u8);
            let is_first =
                self.state.mode.compare_exchange(mode, pass, Ordering::SeqCst, Ordering::SeqCst).is_ok();
            if is_first {
                self.state.strike();
                return false;
            }
        }
        true
    }
}

/// The statement and its answer both hold it, ended by a zero.
const COMMIT: &[u8] = b"COMMIT\0";

#[cfg(test)]
mod tests {
    use super::*;

    /// A server that says everything back.
    fn echo() -> u16 {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        std::thread::spawn(move || {
            for mut client in listener.incoming().map_while(Result::ok) {
                std::thread::spawn(move || {
                    let mut bytes = [0; 64];
                    while let Ok(count @ 1..) = client.read(&mut bytes) {
                        let _ = client.write_all(&bytes[..count]);
                    }
                });
            }
        });
        port
    }

    fn ask(client: &mut TcpStream, words: &[u8]) -> io::Result<Vec<u8>> {
        client.write_all(words)?;
        let mut answer = vec![0; words.len()];
        client.read_exact(&mut answer)?;
        Ok(answer)
    }

    #[test]
    fn each_mode_does_what_it_says_and_counts_it() {
        let proxy = Proxy::before(echo()).unwrap();
        let connect = || TcpStream::connect((Ipv4Addr::LOCALHOST, proxy.port())).unwrap();
        let mut client = connect();
        assert_eq!(ask(&mut client, b"hello").unwrap(), b"hello");
        proxy.set(Mode::CutAfterCommit);
        assert!(ask(&mut client, b"COMMIT\0").is_err());
        assert_eq!(proxy.struck(), 1);
        let mut client = connect();
        assert_eq!(ask(&mut client, b"COMMIT\0").unwrap(), b"COMMIT\0", "it strikes once");
        proxy.set(Mode::Stall);
        std::thread::scope(|scope| {
            let late = scope.spawn(|| ask(&mut client, b"late"));
            while proxy.struck() < 2 {
                pause(1_000_000);
            }
            assert!(!late.is_finished());
            proxy.set(Mode::Pass);
            assert_eq!(late.join().unwrap().unwrap(), b"late");
        });
        proxy.set(Mode::Cut);
        assert!(ask(&mut client, b"cut").is_err());
        assert!(ask(&mut connect(), b"cut").is_err());
        assert!(proxy.struck() >= 4);
    }
}
