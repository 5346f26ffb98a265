//! Ensembles of ZooKeeper, of one server or several.

use super::missing;
use mintage_servers::place::{Folder, Running, as_server, free_port, run};
use std::fmt::Write as _;
use std::fs;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

const JAR: &str = "/usr/share/java/zookeeper.jar";

/// An ensemble on 127.0.0.1, open to everybody.
#[derive(Debug)]
pub struct ZooKeeper {
    // Dropped in this order: the servers first, then their data.
    servers: Vec<Server>,
    folder: Folder,
}

#[derive(Debug)]
struct Server {
    running: Option<Running>,
    port: u16,
    /// For data and for elections.
    peer_ports: [u16; 2],
}

impl ZooKeeper {
    /// An ensemble of so many servers; `None` when ZooKeeper or Java isn't installed.
    ///
    /// # Panics
    /// When they are installed and don't start.
    #[must_use]
    pub fn start(servers: usize) -> Option<Self> {
        if !Path::new(JAR).exists() || run(as_server("java").arg("-version")).is_err() {
            missing("ZooKeeper");
            return None;
        }
        let folder = Folder::new("zookeeper").expect("a folder for temporary files");
        let mut ensemble = Self { servers: (0..servers).map(|_| Server::new()).collect(), folder };
        // A free port may be taken by another before the server has it.
        for _ in 0..5 {
            ensemble.write_settings();
            if ensemble.start_servers() {
                return Some(ensemble);
            }
            for number in 0..ensemble.servers.len() {
                ensemble.servers[number] = Server::new();
                let _ = fs::remove_dir_all(ensemble.data(number));
            }
        }
        panic!("ZooKeeper doesn't start:\n{}", ensemble.log());
    }

    /// The ensemble of one server that tests which run at the same time share, each below a path of its own.
    ///
    /// # Panics
    /// When ZooKeeper is installed and doesn't start.
    #[must_use]
    pub fn shared() -> Option<Arc<Self>> {
        static SHARED: Mutex<Weak<ZooKeeper>> = Mutex::new(Weak::new());
        let mut slot = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(ensemble) = slot.upgrade() {
            return Some(ensemble);
        }
        let ensemble = Arc::new(Self::start(1)?);
        *slot = Arc::downgrade(&ensemble);
        Some(ensemble)
    }

    fn write_settings(&self) {
        let mut peers = String::new();
        if self.servers.len() > 1 {
            for (number, server) in self.servers.iter().enumerate() {
                let [data, election] = server.peer_ports;
                let _ = writeln!(peers, "server.{}=127.0.0.1:{data}:{election}", number + 1);
            }
        }
        for (number, server) in self.servers.iter().enumerate() {
            let data = self.data(number);
            run(as_server("mkdir").arg("-p").arg(&data)).expect("a folder of our own");
            fs::write(data.join("myid"), format!("{}\n", number + 1)).expect("a file of our own");
            let settings = format!(
                "tickTime=200\ninitLimit=50\nsyncLimit=20\ndataDir={}\nclientPort={}\nclientPortAddress=127.0.0.1\n\
                 admin.enableServer=false\n4lw.commands.whitelist=*\nmaxClientCnxns=0\n{peers}",
                data.display(),
                server.port
            );
            fs::write(self.settings(number), settings).expect("a file of our own");
        }
    }

    fn start_servers(&mut self) -> bool {
        for number in 0..self.servers.len() {
            if self.servers[number].running.is_some() {
                continue;
            }
            let arguments = [
                "-Xmx256m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                JAR,
                "org.apache.zookeeper.server.quorum.QuorumPeerMain",
                &self.settings(number).display().to_string(),
            ]
            .map(str::to_owned);
            let log = self.folder.path().join("log");
            let running =
                Running::start("java", &arguments, "KILL", &log).expect("the server's program runs");
            self.servers[number].running = Some(running);
        }
        // One that is in no quorum yet listens, and says that it serves nobody.
        let is_up = |server: &mut Server| {
            let port = server.port;
            let running = server.running.as_mut().expect("a server that was started");
            running.listens(port) && (0..1_500).any(|_| mode(port).is_some() || rest())
        };
        self.servers.iter_mut().all(is_up)
    }

    /// Starts the servers that don't run, each on the data and at the port that it had, and waits until all serve.
    ///
    /// # Panics
    /// When they don't.
    pub fn start_again(&mut self) {
        assert!(self.start_servers(), "ZooKeeper doesn't start:\n{}", self.log());
    }

    /// Kills a server, as a power cut would.
    ///
    /// # Panics
    /// When it wasn't running.
    pub fn kill(&mut self, number: usize) {
        assert!(self.servers[number].running.take().is_some(), "a running server");
    }

    /// Kills all servers that run.
    pub fn kill_all(&mut self) {
        for server in &mut self.servers {
            server.running = None;
        }
    }

    /// The number of the server that leads, or stands alone.
    ///
    /// # Errors
    /// When none does.
    pub fn leader(&self) -> std::io::Result<usize> {
        let leads = |server: &Server| {
            server.running.is_some() && mode(server.port).is_some_and(|mode| mode != "follower")
        };
        self.servers.iter().position(leads).ok_or_else(|| std::io::Error::other("no server leads"))
    }

    /// The ports of its servers.
    #[must_use]
    pub fn ports(&self) -> Vec<u16> {
        self.servers.iter().map(|server| server.port).collect()
    }

    /// Where it can be reached: `zookeeper://127.0.0.1:PORT,127.0.0.1:PORT/PATH`.
    #[must_use]
    pub fn url(&self, path: &str) -> String {
        let hosts: Vec<String> = self.ports().iter().map(|port| format!("127.0.0.1:{port}")).collect();
        format!("zookeeper://{}/{path}", hosts.join(","))
    }

    /// A path that no other test has.
    #[must_use]
    pub fn path(&self) -> String {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        format!("test/{}", COUNT.fetch_add(1, Ordering::Relaxed))
    }

    /// Copies the data of servers that don't run into folders beside them.
    ///
    /// # Panics
    /// When they run, or can't be copied.
    pub fn copy_data(&self, name: &str) {
        for (number, server) in self.servers.iter().enumerate() {
            assert!(server.running.is_none(), "a server that doesn't run");
            run(as_server("cp").arg("-a").arg(self.data(number)).arg(self.copy(number, name)))
                .expect("data are copied");
        }
    }

    /// Puts such copies in the place of the data.
    ///
    /// # Panics
    /// When servers run, or there is no such copy.
    pub fn put_back(&mut self, name: &str) {
        for (number, server) in self.servers.iter().enumerate() {
            assert!(server.running.is_none(), "a server that doesn't run");
            fs::remove_dir_all(self.data(number)).expect("data of our own");
            run(as_server("cp").arg("-a").arg(self.copy(number, name)).arg(self.data(number)))
                .expect("a copy is copied back");
        }
    }

    fn data(&self, number: usize) -> PathBuf {
        self.folder.path().join(format!("s{number}"))
    }

    fn settings(&self, number: usize) -> PathBuf {
        self.folder.path().join(format!("s{number}.cfg"))
    }

    fn copy(&self, number: usize, name: &str) -> PathBuf {
        self.folder.path().join(format!("{name}-s{number}"))
    }

    fn log(&self) -> String {
        fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }
}

impl Server {
    fn new() -> Self {
        let port = || free_port().expect("a free port");
        Self { running: None, port: port(), peer_ports: [port(), port()] }
    }
}

/// `leader`, `follower` or `standalone`; `None` of a server that serves nobody.
fn mode(port: u16) -> Option<String> {
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).ok()?;
    // One that is on its way up may take the words and never answer.
    stream.set_read_timeout(Some(std::time::Duration::from_millis(500))).ok()?;
    stream.write_all(b"srvr").ok()?;
    let mut text = String::new();
    stream.read_to_string(&mut text).ok()?;
    text.lines().find_map(|line| line.strip_prefix("Mode: ")).map(str::to_owned)
}

/// Waits a moment; false, so that it can stand in a condition.
fn rest() -> bool {
    mintage::time::pause(20_000_000);
    false
}
