//! A store of a run's own: a file, or a server that is gone afterwards.

use crate::Fault;
use mintage::Scheme;
use mintage_lease::space::{BlockTerms, Kind, ScopeTerms, SpaceId, Windows};
use mintage_lease::store::{CreateOptions, draw_nonce};
use mintage_lease::stores::STORES;
use mintage_lease::{Session, SessionOptions, Space};
use mintage_testkit::servers::etcd::Etcd;
use mintage_testkit::servers::mariadb::MariaDb;
use mintage_testkit::servers::postgres::Postgres;
use mintage_testkit::servers::zookeeper::ZooKeeper;
use std::path::PathBuf;
use tempfile::TempDir;

/// The stores that a run may be over, and what their URLs begin with.
pub(crate) const NAMES: [(&str, &str); 5] = [
    ("sqlite", "sqlite"),
    ("postgres", "postgres"),
    ("mariadb", "mysql"),
    ("etcd", "etcd"),
    ("zookeeper", "zookeeper"),
];

/// A store with a space of windows, one of blocks and one of scopes.
pub(crate) struct Place {
    pub(crate) name: &'static str,
    pub(crate) session: Session,
    pub(crate) url: String,
    // Dropped in this order: the server first, then the folder.
    pub(crate) server: Option<Server>,
    pub(crate) folder: TempDir,
}

/// Each as durable as it is by itself: what it acknowledged is on disk.
pub(crate) enum Server {
    Postgres(Postgres),
    MariaDb(MariaDb),
    Etcd(Etcd),
    ZooKeeper(ZooKeeper),
}

impl Server {
    /// `None` of a store that needs none; an error where it isn't installed.
    fn start(name: &str) -> Result<Option<Self>, Fault> {
        let server = match name {
            "postgres" => Postgres::start(&[("fsync", "on")]).map(Self::Postgres),
            "mariadb" => MariaDb::start_with(&[]).map(Self::MariaDb),
            "etcd" => Etcd::start(1).map(Self::Etcd),
            "zookeeper" => ZooKeeper::start(1).map(Self::ZooKeeper),
            _ => return Ok(None),
        };
        server.map(Some).ok_or_else(|| format!("{name} is not installed").into())
    }

    fn url(&self) -> String {
        match self {
            Self::Postgres(server) => server.url("postgres"),
            Self::MariaDb(server) => server.url(&server.database()),
            Self::Etcd(cluster) => cluster.url("bench"),
            Self::ZooKeeper(ensemble) => ensemble.url("bench"),
        }
    }
}

impl Place {
    /// Over the store of this name.
    ///
    /// # Errors
    /// What there is no such name for, isn't built in or isn't installed, and whatever keeps the store from answering.
    pub(crate) async fn of(name: &str) -> Result<Self, Fault> {
        let Some(&(name, url_scheme)) = NAMES.iter().find(|(known, _)| *known == name) else {
            let known: Vec<&str> = NAMES.iter().map(|(known, _)| *known).collect();
            return Err(format!("`{name}` is no store; expected is one of {}", known.join(", ")).into());
        };
        if !STORES.iter().any(|entry| entry.url_schemes.contains(&url_scheme)) {
            return Err(format!("{name} isn't built in; add `--features {name}`").into());
        }
        let folder = TempDir::new()?;
        let server = Server::start(name)?;
        let file = || format!("sqlite:{}", folder.path().join("ids.db").display());
        let url = server.as_ref().map_or_else(file, Server::url);
        let session = Session::open(&url, SessionOptions::default())?;
        let scheme = Scheme::by_name("snowflake").ok_or("no scheme `snowflake`")?;
        let mut windows = Windows::of(scheme, None)?;
        // All holders are on this host.
        windows.terms.host_quota = 1024;
        for (name, kind) in [
            ("windows", Kind::Windows(windows)),
            ("blocks", Kind::Blocks(BlockTerms::default())),
            ("scopes", Kind::Scopes(ScopeTerms::default())),
        ] {
            let space = Space { id: SpaceId(draw_nonce()?.0), name: name.to_owned(), kind };
            session.create(&space, CreateOptions::default()).await?;
        }
        Ok(Self { name, session, url, server, folder })
    }

    /// `127.0.0.1:PORT` of a server.
    pub(crate) fn address(&self) -> &str {
        let place = self.url.split_once("://").map_or("", |(_, place)| place);
        place.split('/').next().unwrap_or_default()
    }

    /// The side-car of a file.
    pub(crate) fn side_car(&self) -> PathBuf {
        self.folder.path().join("ids.db-serial")
    }

    /// Transactions that a file has committed: the revision in its side-car.
    pub(crate) fn commits(&self) -> Result<u64, Fault> {
        let text = std::fs::read_to_string(self.side_car())?;
        let revision = text.split(' ').nth(2).and_then(|word| word.parse().ok());
        revision.ok_or_else(|| "a side-car without a revision".into())
    }
}
