//! What a grant stands beside: one row, or one key, of a store of the same kind, as durable as a store asks for.

#[cfg(feature = "etcd")]
mod etcd;
#[cfg(not(all(feature = "etcd", feature = "zookeeper")))]
mod not_built_in;
mod sql;
#[cfg(feature = "zookeeper")]
mod zookeeper;

use crate::Fault;
use crate::place::Place;
#[cfg(not(feature = "etcd"))]
use not_built_in as etcd;
#[cfg(not(feature = "zookeeper"))]
use not_built_in as zookeeper;
use std::pin::Pin;

/// A write that ends when it is durable.
pub(crate) type Writing<'a> = Pin<Box<dyn Future<Output = Result<(), Fault>> + 'a>>;

/// One row of a database, or one key of a cluster.
pub(crate) trait Bare {
    /// The least that there is: one statement that is a transaction of its own, one put, one setData.
    fn write(&mut self) -> Writing<'_>;

    /// The same by whoever decides by what stands there: a transaction that reads the row under its lock first; in a cluster a read, and a
    /// write that is refused where another was faster.
    fn transaction(&mut self) -> Writing<'_>;
}

/// Beside the store of this place.
pub(crate) async fn beside(place: &Place) -> Result<Box<dyn Bare>, Fault> {
    match place.name {
        "postgres" => sql::postgres(&place.url).await,
        "mariadb" => sql::mariadb(&place.url).await,
        "etcd" => etcd::key(place.address()).await,
        "zookeeper" => zookeeper::key(place.address()).await,
        _ => sql::file(&place.folder.path().join("bare.db")),
    }
}
