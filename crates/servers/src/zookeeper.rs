//! Ensembles of ZooKeeper, of one server or several.

use super::place::{Folder, Running, as_server, free_port, missing, run, silent};
use std::fmt::Write as _;
use std::fs;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::path::{Path, PathBuf};

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
    /// An ensemble of so many servers.
    ///
    /// # Errors
    /// When it or Java isn't installed ([`io::ErrorKind::NotFound`]), and the end of its log when it doesn't start.
    pub fn start(servers: usize) -> io::Result<Self> {
        installed()?;
        let folder = Folder::of_server("zookeeper")?;
        let servers = (0..servers).map(|_| Server::new()).collect::<io::Result<_>>()?;
        let mut ensemble = Self { servers, folder };
        // A free port may be taken by another before the server has it.
        for _ in 0..5 {
            ensemble.write_settings()?;
            if ensemble.start_servers()? {
                return Ok(ensemble);
            }
            for number in 0..ensemble.servers.len() {
                ensemble.servers[number] = Server::new()?;
                let _ = fs::remove_dir_all(ensemble.data(number));
            }
        }
        Err(silent("ZooKeeper", &ensemble.log()))
    }

    fn write_settings(&self) -> io::Result<()> {
        let mut peers = String::new();
        if self.servers.len() > 1 {
            for (number, server) in self.servers.iter().enumerate() {
                let [data, election] = server.peer_ports;
                let _ = writeln!(peers, "server.{}=127.0.0.1:{data}:{election}", number + 1);
            }
        }
        for (number, server) in self.servers.iter().enumerate() {
            let data = self.data(number);
            run(as_server("mkdir").arg("-p").arg(&data))?;
            fs::write(data.join("myid"), format!("{}\n", number + 1))?;
            let settings = format!(
                "tickTime=200\ninitLimit=50\nsyncLimit=20\ndataDir={}\nclientPort={}\nclientPortAddress=127.0.0.1\n\
                 admin.enableServer=false\n4lw.commands.whitelist=*\nmaxClientCnxns=0\n{peers}",
                data.display(),
                server.port
            );
            fs::write(self.settings(number), settings)?;
        }
        Ok(())
    }

    fn start_servers(&mut self) -> io::Result<bool> {
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
            self.servers[number].running = Some(Running::start("java", &arguments, "KILL", &self.log())?);
        }
        // One that is in no quorum yet listens, and says that it serves nobody.
        let is_up = |server: &mut Server| {
            let port = server.port;
            server.running.as_mut().is_some_and(|running| {
                running.listens(port)
                    && (0..1_500).any(|_| mode(port).is_some() || !running.is_alive() || rest())
                    && running.is_alive()
            })
        };
        Ok(self.servers.iter_mut().all(is_up))
    }

    /// Starts the servers that don't run, each on the data and at the port that it had, and waits until all serve.
    ///
    /// # Errors
    /// The end of their log, when they don't.
    pub fn start_again(&mut self) -> io::Result<()> {
        if self.start_servers()? { Ok(()) } else { Err(silent("ZooKeeper", &self.log())) }
    }

    /// Kills a server, as a power cut would.
    ///
    /// # Errors
    /// When it wasn't running.
    pub fn kill(&mut self, number: usize) -> io::Result<()> {
        let running = self.servers[number].running.take();
        running
            .map(drop)
            .ok_or_else(|| io::Error::other(format!("server {number} of ZooKeeper wasn't running")))
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
    pub fn leader(&self) -> io::Result<usize> {
        let leads = |server: &Server| {
            server.running.is_some() && mode(server.port).is_some_and(|mode| mode != "follower")
        };
        self.servers.iter().position(leads).ok_or_else(|| io::Error::other("no server leads"))
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

    /// Copies the data of servers that don't run into folders beside them.
    ///
    /// # Errors
    /// When they run, or can't be copied.
    pub fn copy_data(&self, name: &str) -> io::Result<()> {
        self.is_down()?;
        for number in 0..self.servers.len() {
            run(as_server("cp").arg("-a").arg(self.data(number)).arg(self.copy(number, name)))?;
        }
        Ok(())
    }

    /// Puts such copies in the place of the data.
    ///
    /// # Errors
    /// When servers run, or there is no such copy.
    pub fn put_back(&mut self, name: &str) -> io::Result<()> {
        self.is_down()?;
        for number in 0..self.servers.len() {
            fs::remove_dir_all(self.data(number))?;
            run(as_server("cp").arg("-a").arg(self.copy(number, name)).arg(self.data(number)))?;
        }
        Ok(())
    }

    fn is_down(&self) -> io::Result<()> {
        if self.servers.iter().any(|server| server.running.is_some()) {
            return Err(io::Error::other("ZooKeeper runs; its data are copied only while no server does"));
        }
        Ok(())
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

    fn log(&self) -> PathBuf {
        self.folder.path().join("log")
    }
}

impl Server {
    fn new() -> io::Result<Self> {
        Ok(Self { running: None, port: free_port()?, peer_ports: [free_port()?, free_port()?] })
    }
}

/// Whether the server and a Java to run it are installed.
///
/// # Errors
/// What was looked for, when they aren't.
pub fn installed() -> io::Result<()> {
    if !Path::new(JAR).exists() {
        return Err(missing("ZooKeeper", &format!("there is no {JAR}")));
    }
    run(as_server("java").arg("-version"))
        .map(drop)
        .map_err(|error| missing("ZooKeeper", &format!("`java` doesn't run ({error})")))
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
