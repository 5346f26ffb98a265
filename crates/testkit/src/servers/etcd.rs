//! Clusters of etcd, of one member or several.

use super::missing;
use mintage_servers::place::{Folder, Running, as_server, free_port, run};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

const SERVER: &str = "/usr/bin/etcd";

/// A cluster on 127.0.0.1, open to everybody until a test makes users.
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
    /// A cluster of so many members; `None` when etcd isn't installed.
    ///
    /// # Panics
    /// When it is installed and doesn't start.
    #[must_use]
    pub fn start(members: usize) -> Option<Self> {
        if !Path::new(SERVER).exists() {
            missing("etcd");
            return None;
        }
        let folder = Folder::new("etcd").expect("a folder for temporary files");
        let members = (0..members).map(|_| Member::new()).collect();
        let mut cluster = Self { members, token: "first".to_owned(), folder };
        // A free port may be taken by another before the server has it.
        for _ in 0..5 {
            if cluster.start_members() {
                return Some(cluster);
            }
            for member in &mut cluster.members {
                *member = Member::new();
            }
            for number in 0..cluster.members.len() {
                let _ = fs::remove_dir_all(cluster.data(number));
            }
        }
        panic!("etcd doesn't start:\n{}", cluster.log());
    }

    /// The cluster of one member that tests which run at the same time share, each under a prefix of its own.
    ///
    /// # Panics
    /// When etcd is installed and doesn't start.
    #[must_use]
    pub fn shared() -> Option<Arc<Self>> {
        static SHARED: Mutex<Weak<Etcd>> = Mutex::new(Weak::new());
        let mut slot = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(cluster) = slot.upgrade() {
            return Some(cluster);
        }
        let cluster = Arc::new(Self::start(1)?);
        *slot = Arc::downgrade(&cluster);
        Some(cluster)
    }

    fn start_members(&mut self) -> bool {
        for number in 0..self.members.len() {
            if self.members[number].running.is_none() {
                self.run(number);
            }
        }
        let all_listen = self.members.iter_mut().all(|member| {
            let port = member.port;
            member.running.as_mut().is_some_and(|running| running.listens(port))
        });
        all_listen && (0..1_000).any(|_| self.is_healthy() || rest())
    }

    fn run(&mut self, number: usize) {
        let peers: Vec<String> = (0..self.members.len()).map(|number| self.peer(number)).collect();
        let member = &self.members[number];
        let client = format!("http://127.0.0.1:{}", member.port);
        let peer = format!("http://127.0.0.1:{}", member.peer_port);
        let log = self.folder.path().join("log");
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
        let running = Running::start(SERVER, &arguments, "KILL", &log).expect("the server's program runs");
        self.members[number].running = Some(running);
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
    /// # Panics
    /// When it doesn't.
    pub fn start_again(&mut self) {
        assert!(self.start_members(), "etcd doesn't start:\n{}", self.log());
    }

    /// Kills a member, as a power cut would.
    ///
    /// # Panics
    /// When it wasn't running.
    pub fn kill(&mut self, number: usize) {
        assert!(self.members[number].running.take().is_some(), "a running member");
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
    pub fn leader(&self) -> std::io::Result<usize> {
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
        Err(std::io::Error::other("no member leads"))
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

    /// A prefix that no other test has.
    #[must_use]
    pub fn prefix(&self) -> String {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        format!("mintage/test-{}", COUNT.fetch_add(1, Ordering::Relaxed))
    }

    /// Runs `etcdctl` with these words.
    ///
    /// # Errors
    /// What it says.
    pub fn control(&self, words: &[&str]) -> std::io::Result<String> {
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
    /// # Panics
    /// When the cluster doesn't give one.
    pub fn save_snapshot(&self, name: &str) {
        let file = self.folder.path().join(name);
        let leader = self.leader().expect("a leader");
        let endpoint = format!("--endpoints=127.0.0.1:{}", self.members[leader].port);
        self.control(&[&endpoint, "snapshot", "save", &file.display().to_string()]).expect("a snapshot");
    }

    /// Restores a snapshot onto members that don't run, as `etcdctl snapshot restore` does: under the token that the cluster has, so that
    /// it has the ids that it had, or under another.
    ///
    /// # Panics
    /// When they run, or it can't be restored.
    pub fn restore_snapshot(&mut self, name: &str, token: Option<&str>) {
        assert!(self.members.iter().all(|member| member.running.is_none()), "members that don't run");
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
            run(&mut restore).expect("a snapshot is restored");
        }
    }

    /// Copies the data of members that don't run into folders beside them.
    ///
    /// # Panics
    /// When they run, or can't be copied.
    pub fn copy_data(&self, name: &str) {
        for (number, member) in self.members.iter().enumerate() {
            assert!(member.running.is_none(), "a member that doesn't run");
            run(as_server("cp").arg("-a").arg(self.data(number)).arg(self.copy(number, name)))
                .expect("data are copied");
        }
    }

    /// Puts such copies in the place of the data.
    ///
    /// # Panics
    /// When members run, or there is no such copy.
    pub fn put_back(&mut self, name: &str) {
        for (number, member) in self.members.iter().enumerate() {
            assert!(member.running.is_none(), "a member that doesn't run");
            fs::remove_dir_all(self.data(number)).expect("data of our own");
            run(as_server("cp").arg("-a").arg(self.copy(number, name)).arg(self.data(number)))
                .expect("a copy is copied back");
        }
    }

    fn data(&self, number: usize) -> PathBuf {
        self.folder.path().join(format!("n{number}"))
    }

    fn copy(&self, number: usize, name: &str) -> PathBuf {
        self.folder.path().join(format!("{name}-n{number}"))
    }

    fn log(&self) -> String {
        fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }
}

impl Member {
    fn new() -> Self {
        let port = || free_port().expect("a free port");
        Self { running: None, port: port(), peer_port: port() }
    }
}

/// Waits a moment; false, so that it can stand in a condition.
fn rest() -> bool {
    mintage::time::pause(10_000_000);
    false
}
