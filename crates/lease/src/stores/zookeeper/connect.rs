//! Sessions: one a handle, with a node of its own that lasts as long.
//!
//! A request reads and then writes what it read compares with. Between the two the ensemble may be stopped, restored and started, and the
//! driver takes the session up again where it can. What was read may then be there again, without what was granted since. So each request
//! first writes its session's node, and its transaction compares that node's version too: nobody else writes it, and a copy of the data has
//! a lower version of it or none.

use super::target::Target;
use crate::error::{Cause, Error};
use crate::store::Deadline;
use crate::stores::shared::Shared;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use zookeeper_client::{Acls, Client, Connector, SessionState};

/// How long a server may say nothing before the next is tried.
const SERVER_PATIENCE: Duration = Duration::from_secs(2);

/// For how long a session outlives its connection. Nothing hangs on it but its node.
const SESSION: Duration = Duration::from_secs(10);

/// A session.
#[derive(Clone, Debug)]
pub(super) struct Link {
    pub(super) client: Client,
    /// The node of the session.
    pub(super) node: String,
    /// Whether that was made.
    pub(super) has_node: Arc<AtomicBool>,
    /// Set once it can't be used any more.
    is_ended: Arc<AtomicBool>,
}

impl Link {
    /// Says that the next request needs another.
    pub(super) fn give_up(&self) {
        self.is_ended.store(true, Ordering::SeqCst);
    }

    /// The driver would wait for a connection for as long as the session may last.
    fn is_usable(&self) -> bool {
        self.client.state() == SessionState::SyncConnected && !self.is_ended.load(Ordering::SeqCst)
    }
}

/// The session of a handle.
pub(super) struct Connections {
    pub(super) target: Target,
    link: Shared<Link>,
}

impl Connections {
    /// From a URL; nothing is connected yet.
    pub(super) fn of(url: &str) -> Result<Self, Error> {
        let target = Target::of(url)?;
        Ok(Self { target, link: Shared::default() })
    }

    /// Whom new nodes are for.
    pub(super) fn acls(&self) -> Acls<'static> {
        if self.target.user.is_some() { Acls::creator_all() } else { Acls::anyone_all() }
    }

    /// A session.
    pub(super) async fn take(&self, deadline: Deadline) -> Result<Link, Cause> {
        self.link.take(deadline, Link::is_usable, self.connect()).await
    }

    async fn connect(&self) -> Result<Link, Cause> {
        let mut connector: Connector = Client::connector()
            .with_fail_eagerly()
            .with_connection_timeout(SERVER_PATIENCE)
            .with_session_timeout(SESSION);
        if let Some(user) = &self.target.user {
            connector = connector.with_auth("digest", user.as_bytes());
        }
        let client = connector.connect(&self.target.servers).await?;
        let node = format!("{}/session/{}", self.target.path, client.session_id());
        Ok(Link { client, node, has_node: Arc::default(), is_ended: Arc::default() })
    }
}

impl std::fmt::Debug for Connections {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The target holds a password.
        f.debug_struct("Connections").finish_non_exhaustive()
    }
}
