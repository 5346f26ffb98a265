//! Ensembles of ZooKeeper for tests, of one server or several.

use super::started;
use mintage_servers::ZooKeeper as Ensemble;
use mintage_servers::zookeeper::installed;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// An ensemble on 127.0.0.1, open to everybody.
#[derive(Debug)]
pub struct ZooKeeper(Ensemble);

impl ZooKeeper {
    /// An ensemble of so many servers; `None` when ZooKeeper or Java isn't installed.
    ///
    /// # Panics
    /// When they are installed and don't start.
    #[must_use]
    pub fn start(servers: usize) -> Option<Self> {
        started(installed(), |()| Ensemble::start(servers)).map(Self)
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

    /// Starts the servers that don't run, each on the data and at the port that it had, and waits until all serve.
    ///
    /// # Panics
    /// When they don't.
    pub fn start_again(&mut self) {
        self.0.start_again().expect("ZooKeeper starts");
    }

    /// Kills a server, as a power cut would.
    ///
    /// # Panics
    /// When it wasn't running.
    pub fn kill(&mut self, number: usize) {
        self.0.kill(number).expect("a running server");
    }

    /// Kills all servers that run.
    pub fn kill_all(&mut self) {
        self.0.kill_all();
    }

    /// The number of the server that leads, or stands alone.
    ///
    /// # Errors
    /// When none does.
    pub fn leader(&self) -> std::io::Result<usize> {
        self.0.leader()
    }

    /// The ports of its servers.
    #[must_use]
    pub fn ports(&self) -> Vec<u16> {
        self.0.ports()
    }

    /// Where it can be reached: `zookeeper://127.0.0.1:PORT,127.0.0.1:PORT/PATH`.
    #[must_use]
    pub fn url(&self, path: &str) -> String {
        self.0.url(path)
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
        self.0.copy_data(name).expect("data are copied");
    }

    /// Puts such copies in the place of the data.
    ///
    /// # Panics
    /// When servers run, or there is no such copy.
    pub fn put_back(&mut self, name: &str) {
        self.0.put_back(name).expect("a copy is put back");
    }
}
