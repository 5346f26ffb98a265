//! Connections: one to one member at a time, which is never made again behind a request's back.
//!
//! A request reads and then writes what it read compares with. Between the two the cluster may be stopped, restored and started; what
//! was read may then be there again, without what was granted since. So both go over **one connection**: it ends with the member, and a
//! write that finds it ended was certainly not sent. (A proxy that speaks gRPC itself would hide that; don't put one between.)

use super::target::Target;
use crate::error::{Cause, Error};
use crate::store::Deadline;
use crate::stores::shared::Shared;
use etcd_client::{Channel, Client};
use hyper_util::rt::TokioIo;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::net::TcpStream;
use tonic::codegen::Service;
use tonic::codegen::http::Uri;

/// How long one of several members may take to answer before the next is tried.
pub(super) const MEMBER_PATIENCE: Duration = Duration::from_secs(2);

/// A member that says nothing at all for so long, while it is asked, isn't there. Its server allows a question every 5 s.
const KEEP_ALIVE: (Duration, Duration) = (Duration::from_secs(10), Duration::from_secs(5));

/// A connection to a member.
#[derive(Clone)]
pub(super) struct Link {
    pub(super) client: Client,
    /// Set once it can't be used any more.
    is_ended: Arc<AtomicBool>,
}

impl Link {
    /// Says that the next request needs another.
    pub(super) fn give_up(&self) {
        self.is_ended.store(true, Ordering::SeqCst);
    }

    fn is_usable(&self) -> bool {
        !self.is_ended.load(Ordering::SeqCst)
    }
}

/// The connection of a handle.
pub(super) struct Connections {
    pub(super) target: Target,
    /// The member to try first.
    next: AtomicUsize,
    link: Shared<Link>,
}

impl Connections {
    /// From a URL; nothing is connected yet.
    pub(super) fn of(url: &str) -> Result<Self, Error> {
        Ok(Self { target: Target::of(url)?, next: AtomicUsize::new(0), link: Shared::default() })
    }

    /// Whether there are others to try when one doesn't answer.
    pub(super) fn has_several(&self) -> bool {
        self.target.members.len() > 1
    }

    /// A connection to a member that answers.
    pub(super) async fn take(&self, deadline: Deadline) -> Result<Link, Cause> {
        self.link.take(deadline, Link::is_usable, self.connect()).await
    }

    /// The first member that answers, beginning with the one after the last that was tried.
    async fn connect(&self) -> Result<Link, Cause> {
        let count = self.target.members.len();
        let mut last: Cause = "no member".into();
        for _ in 0..count {
            // Ordering: a hint where to begin.
            let at = self.next.fetch_add(1, Ordering::Relaxed) % count;
            let patience = if count > 1 { MEMBER_PATIENCE } else { Duration::MAX };
            match tokio::time::timeout(patience, self.connect_to(at)).await {
                Ok(Ok(link)) => return Ok(link),
                Ok(Err(error)) => last = error,
                Err(elapsed) => last = elapsed.into(),
            }
        }
        Err(last)
    }

    async fn connect_to(&self, at: usize) -> Result<Link, Cause> {
        let member = self.target.members[at]
            .clone()
            .http2_keep_alive_interval(KEEP_ALIVE.0)
            .keep_alive_timeout(KEEP_ALIVE.1)
            .tcp_nodelay(true);
        let is_ended = Arc::new(AtomicBool::new(false));
        let channel = member.connect_with_connector(Once { is_used: false }).await?;
        let client = Client::from_channel(Channel::Tonic(channel), Some(self.target.options())).await?;
        Ok(Link { client, is_ended })
    }
}

impl std::fmt::Debug for Connections {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The target holds a password.
        f.debug_struct("Connections").finish_non_exhaustive()
    }
}

/// Connects once, and never again.
struct Once {
    is_used: bool,
}

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
pub(super) enum NoConnection {
    /// What was to be sent certainly wasn't.
    #[error("the connection has ended")]
    Ended,
    #[error("no connection")]
    Failed(#[from] std::io::Error),
}

impl Service<Uri> for Once {
    type Response = TokioIo<TcpStream>;
    type Error = NoConnection;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, NoConnection>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), NoConnection>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        if std::mem::replace(&mut self.is_used, true) {
            return Box::pin(std::future::ready(Err(NoConnection::Ended)));
        }
        Box::pin(async move {
            let address = uri.authority().map_or("", |authority| authority.as_str());
            let stream = TcpStream::connect(address).await?;
            stream.set_nodelay(true)?;
            Ok(TokioIo::new(stream))
        })
    }
}
