//! Clusters of etcd for tests, of one member or several.

use super::started;
use mintage_servers::Etcd as Cluster;
use mintage_servers::etcd::installed;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// A cluster on 127.0.0.1, open to everybody until a test makes users.
#[derive(Debug)]
pub struct Etcd(Cluster);

impl Etcd {
    /// A cluster of so many members; `None` when etcd isn't installed.
    ///
    /// # Panics
    /// When it is installed and doesn't start.
    #[must_use]
    pub fn start(members: usize) -> Option<Self> {
        started(installed(), |()| Cluster::start(members)).map(Self)
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

    /// Starts the members that don't run, each on the data and at the ports that it had, and waits until the cluster answers.
    ///
    /// # Panics
    /// When it doesn't.
    pub fn start_again(&mut self) {
        self.0.start_again().expect("etcd starts");
    }

    /// Kills a member, as a power cut would.
    ///
    /// # Panics
    /// When it wasn't running.
    pub fn kill(&mut self, number: usize) {
        self.0.kill(number).expect("a running member");
    }

    /// Kills all members that run.
    pub fn kill_all(&mut self) {
        self.0.kill_all();
    }

    /// The number of the member that leads.
    ///
    /// # Errors
    /// When none does.
    pub fn leader(&self) -> std::io::Result<usize> {
        self.0.leader()
    }

    /// The ports of its members.
    #[must_use]
    pub fn ports(&self) -> Vec<u16> {
        self.0.ports()
    }

    /// Where it can be reached: `etcd://127.0.0.1:PORT,127.0.0.1:PORT/PREFIX`.
    #[must_use]
    pub fn url(&self, prefix: &str) -> String {
        self.0.url(prefix)
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
        self.0.control(words)
    }

    /// Saves a snapshot under this name.
    ///
    /// # Panics
    /// When the cluster doesn't give one.
    pub fn save_snapshot(&self, name: &str) {
        self.0.save_snapshot(name).expect("a snapshot");
    }

    /// Restores a snapshot onto members that don't run, as `etcdctl snapshot restore` does: under the token that the cluster has, so that
    /// it has the ids that it had, or under another.
    ///
    /// # Panics
    /// When they run, or it can't be restored.
    pub fn restore_snapshot(&mut self, name: &str, token: Option<&str>) {
        self.0.restore_snapshot(name, token).expect("a snapshot is restored");
    }

    /// Copies the data of members that don't run into folders beside them.
    ///
    /// # Panics
    /// When they run, or can't be copied.
    pub fn copy_data(&self, name: &str) {
        self.0.copy_data(name).expect("data are copied");
    }

    /// Puts such copies in the place of the data.
    ///
    /// # Panics
    /// When members run, or there is no such copy.
    pub fn put_back(&mut self, name: &str) {
        self.0.put_back(name).expect("a copy is put back");
    }
}
