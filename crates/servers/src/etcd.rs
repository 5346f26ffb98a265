//! Clusters of etcd, of one member or several.

use super::place::{Folder, Running, as_server, free_port, missing, run, silent};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

const SERVER: &str = "/usr/bin/etcd";

/// A cluster on 127.0.0.1, open to everybody until users are made.
#[derive(Debug)]
pub struct Etcd {
    // Dropped in this order: the servers first, then their data.
    members: Vec<Member>,
    token: String,
    folder: Folder,
}

#[derive(Debug)]
struct Member {
    running: Option<Running>,
    port: u16,
    peer_port: u16,
}

impl Etcd {
    /// A cluster of so many members.
    ///
    /// # Errors
    /// When it isn't installed ([`io::ErrorKind::NotFound`]), and the end of its log when it doesn't start.
    pub fn start(members: usize) -> io::Result<Self> {
        installed()?;
        let folder = Folder::of_server("etcd")?;
        let members = (0..members).map(|_| Member::new()).collect::<io::Result<_>>()?;
        let mut cluster = Self { members, token: "first".to_owned(), folder };
        // A free port may be taken by another before the server has it.
        for _ in 0..5 {
            if cluster.start_members()? {
                return Ok(cluster);
            }
            for member in &mut cluster.members {
                *member = Member::new()?;
            }
            for number in 0..cluster.members.len() {
                let _ = fs::remove_dir_all(cluster.data(number));
            }
        }
        Err(silent("etcd", &cluster.log()))
    }

    fn start_members(&mut self) -> io::Result<bool> {
        for number in 0..self.members.len() {
            if self.members[number].running.is_none() {
                self.run(number)?;
            }
        }
        let all_listen = self.members.iter_mut().all(|member| {
            let port = member.port;
            member.running.as_mut().is_some_and(|running| running.listens(port))
        });
        for _ in 0..1_000 {
            if !all_listen || !self.members.iter_mut().all(Member::is_alive) {
                return Ok(false);
            }
            if self.is_healthy() {
                return Ok(true);
            }
            mintage::time::pause(10_000_000);
        }
        Ok(false)
    }

    fn run(&mut self, number: usize) -> io::Result<()> {
        let peers: Vec<String> = (0..self.members.len()).map(|number| self.peer(number)).collect();
        let member = &self.members[number];
        let client = format!("http://127.0.0.1:{}", member.port);
        let peer = format!("http://127.0.0.1:{}", member.peer_port);
        let arguments = [
            format!("--name=n{number}"),
            format!("--data-dir={}", self.data(number).display()),
            format!("--listen-client-urls={client}"),
            format!("--advertise-client-urls={client}"),
            format!("--listen-peer-urls={peer}"),
            format!("--initial-advertise-peer-urls={peer}"),
            format!("--initial-cluster={}", peers.join(",")),
            format!("--initial-cluster-token={}", self.token),
            // Elections are a matter of tenths of seconds.
            "--heartbeat-interval=40".to_owned(),
            "--election-timeout=300".to_owned(),
            "--logger=zap".to_owned(),
            "--log-level=error".to_owned(),
        ];
        self.members[number].running = Some(Running::start(SERVER, &arguments, "KILL", &self.log())?);
        Ok(())
    }

    /// Member `number` as the cluster's settings name it.
    fn peer(&self, number: usize) -> String {
        format!("n{number}=http://127.0.0.1:{}", self.members[number].peer_port)
    }

    fn is_healthy(&self) -> bool {
        self.control(&["get", "health"]).is_ok()
    }

    /// Starts the members that don't run, each on the data and at the ports that it had, and waits until the cluster answers.
    ///
    /// # Errors
    /// The end of its log, when it doesn't.
    pub fn start_again(&mut self) -> io::Result<()> {
        if self.start_members()? { Ok(()) } else { Err(silent("etcd", &self.log())) }
    }

    /// Kills a member, as a power cut would.
    ///
    /// # Errors
    /// When it wasn't running.
    pub fn kill(&mut self, number: usize) -> io::Result<()> {
        let running = self.members[number].running.take();
        running.map(drop).ok_or_else(|| io::Error::other(format!("member {number} of etcd wasn't running")))
    }

    /// Kills all members that run.
    pub fn kill_all(&mut self) {
        for member in &mut self.members {
            member.running = None;
        }
    }

    /// The number of the member that leads.
    ///
    /// # Errors
    /// When none does.
    pub fn leader(&self) -> io::Result<usize> {
        for (number, member) in self.members.iter().enumerate() {
            if member.running.is_none() {
                continue;
            }
            // `endpoint, id, version, size, is leader, ...`
            let endpoint = format!("--endpoints=127.0.0.1:{}", member.port);
            let status = self.control(&[&endpoint, "endpoint", "status"])?;
            if status.split(',').nth(4).map(str::trim) == Some("true") {
                return Ok(number);
            }
        }
        Err(io::Error::other("no member leads"))
    }

    /// The ports of its members.
    #[must_use]
    pub fn ports(&self) -> Vec<u16> {
        self.members.iter().map(|member| member.port).collect()
    }

    /// Where it can be reached: `etcd://127.0.0.1:PORT,127.0.0.1:PORT/PREFIX`.
    #[must_use]
    pub fn url(&self, prefix: &str) -> String {
        let hosts: Vec<String> = self.ports().iter().map(|port| format!("127.0.0.1:{port}")).collect();
        format!("etcd://{}/{prefix}", hosts.join(","))
    }

    /// Runs `etcdctl` with these words.
    ///
    /// # Errors
    /// What it says.
    pub fn control(&self, words: &[&str]) -> io::Result<String> {
        let mut command = as_server("etcdctl");
        command.env("ETCDCTL_API", "3").args(words);
        if !words.iter().any(|word| word.starts_with("--endpoints")) {
            let running = self.members.iter().filter(|member| member.running.is_some());
            let hosts: Vec<String> = running.map(|member| format!("127.0.0.1:{}", member.port)).collect();
            command.arg(format!("--endpoints={}", hosts.join(",")));
        }
        run(command.arg("--command-timeout=2s"))
    }

    /// Saves a snapshot under this name.
    ///
    /// # Errors
    /// When the cluster doesn't give one.
    pub fn save_snapshot(&self, name: &str) -> io::Result<()> {
        let file = self.folder.path().join(name);
        let endpoint = format!("--endpoints=127.0.0.1:{}", self.members[self.leader()?].port);
        self.control(&[&endpoint, "snapshot", "save", &file.display().to_string()]).map(drop)
    }

    /// Restores a snapshot onto members that don't run, as `etcdctl snapshot restore` does: under the token that the cluster has, so that
    /// it has the ids that it had, or under another.
    ///
    /// # Errors
    /// When they run, or it can't be restored.
    pub fn restore_snapshot(&mut self, name: &str, token: Option<&str>) -> io::Result<()> {
        self.is_down()?;
        if let Some(token) = token {
            token.clone_into(&mut self.token);
        }
        let peers: Vec<String> = (0..self.members.len()).map(|number| self.peer(number)).collect();
        for number in 0..self.members.len() {
            let _ = fs::remove_dir_all(self.data(number));
            let mut restore = as_server("etcdctl");
            restore.env("ETCDCTL_API", "3").args(["snapshot", "restore"]);
            restore.arg(self.folder.path().join(name)).args([
                format!("--name=n{number}"),
                format!("--data-dir={}", self.data(number).display()),
                format!("--initial-cluster={}", peers.join(",")),
                format!("--initial-cluster-token={}", self.token),
                format!("--initial-advertise-peer-urls=http://127.0.0.1:{}", self.members[number].peer_port),
            ]);
            run(&mut restore)?;
        }
        Ok(())
    }

    /// Copies the data of members that don't run into folders beside them.
    ///
    /// # Errors
    /// When they run, or can't be copied.
    pub fn copy_data(&self, name: &str) -> io::Result<()> {
        self.is_down()?;
        for number in 0..self.members.len() {
            run(as_server("cp").arg("-a").arg(self.data(number)).arg(self.copy(number, name)))?;
        }
        Ok(())
    }

    /// Puts such copies in the place of the data.
    ///
    /// # Errors
    /// When members run, or there is no such copy.
    pub fn put_back(&mut self, name: &str) -> io::Result<()> {
        self.is_down()?;
        for number in 0..self.members.len() {
            fs::remove_dir_all(self.data(number))?;
            run(as_server("cp").arg("-a").arg(self.copy(number, name)).arg(self.data(number)))?;
        }
        Ok(())
    }

    fn is_down(&self) -> io::Result<()> {
        if self.members.iter().any(|member| member.running.is_some()) {
            return Err(io::Error::other("etcd runs; its data are copied only while no member does"));
        }
        Ok(())
    }

    fn data(&self, number: usize) -> PathBuf {
        self.folder.path().join(format!("n{number}"))
    }

    fn copy(&self, number: usize, name: &str) -> PathBuf {
        self.folder.path().join(format!("{name}-n{number}"))
    }

    fn log(&self) -> PathBuf {
        self.folder.path().join("log")
    }
}

impl Member {
    fn new() -> io::Result<Self> {
        Ok(Self { running: None, port: free_port()?, peer_port: free_port()? })
    }

    fn is_alive(&mut self) -> bool {
        self.running.as_mut().is_some_and(Running::is_alive)
    }
}

/// Whether the server and its `etcdctl` are installed.
///
/// # Errors
/// What was looked for, when they aren't.
pub fn installed() -> io::Result<()> {
    if !Path::new(SERVER).exists() {
        return Err(missing("etcd", &format!("there is no {SERVER}")));
    }
    run(as_server("etcdctl").env("ETCDCTL_API", "3").arg("version"))
        .map(drop)
        .map_err(|error| missing("etcd", &format!("`etcdctl` doesn't run ({error})")))
}
