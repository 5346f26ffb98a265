//! The servers of a run's store, of whichever kind.

use super::store::{DATABASE, Kind};
use anyhow::{Context, Result, bail};
use mintage_servers::postgres::programs;
use mintage_servers::{Etcd, MariaDb, Postgres, ZooKeeper};

/// Servers that may be killed and restored.
#[derive(Debug)]
pub enum Servers {
    /// One of PostgreSQL.
    Postgres(Postgres),
    /// One of MariaDB, durable, with a database `ids`.
    MariaDb(MariaDb),
    /// Three members of etcd.
    Etcd(Etcd),
    /// Three servers of ZooKeeper.
    ZooKeeper(ZooKeeper),
}

impl Servers {
    /// New ones.
    ///
    /// # Errors
    /// When they aren't installed, don't start, or the kind has none.
    pub fn start(kind: Kind) -> Result<Self> {
        let started = match kind {
            Kind::Sqlite => bail!("a store in a file has no server"),
            Kind::Postgres => {
                programs(None).and_then(|programs| Postgres::start(&programs, &[])).map(Self::Postgres)
            }
            Kind::MariaDb => MariaDb::start(&[]).and_then(|server| {
                server.query("", "CREATE DATABASE ids")?;
                Ok(Self::MariaDb(server))
            }),
            Kind::Etcd => Etcd::start(3).map(Self::Etcd),
            Kind::ZooKeeper => ZooKeeper::start(3).map(Self::ZooKeeper),
        };
        started.with_context(|| format!("starting a throw-away store, {}", kind.name()))
    }

    /// Their ports.
    #[must_use]
    pub fn ports(&self) -> Vec<u16> {
        match self {
            Self::Postgres(server) => vec![server.port()],
            Self::MariaDb(server) => vec![server.port()],
            Self::Etcd(cluster) => cluster.ports(),
            Self::ZooKeeper(ensemble) => ensemble.ports(),
        }
    }

    /// The store's URL at these ports, which lead to them.
    #[must_use]
    pub fn url(&self, ports: &[u16]) -> String {
        let hosts: Vec<String> = ports.iter().map(|port| format!("127.0.0.1:{port}")).collect();
        let hosts = hosts.join(",");
        match self {
            Self::Postgres(_) => format!("postgres://postgres@{hosts}/{DATABASE}"),
            Self::MariaDb(_) => format!("mysql://root@{hosts}/ids"),
            Self::Etcd(_) => format!("etcd://{hosts}/ids"),
            Self::ZooKeeper(_) => format!("zookeeper://{hosts}/ids"),
        }
    }

    /// The one of PostgreSQL.
    ///
    /// # Errors
    /// When there is none.
    pub fn postgres(&mut self) -> Result<&mut Postgres> {
        match self {
            Self::Postgres(server) => Ok(server),
            other => bail!("{other:?} is no server of PostgreSQL"),
        }
    }

    /// Kills all of them.
    ///
    /// # Errors
    /// When they weren't running.
    pub fn kill(&mut self) -> Result<()> {
        match self {
            Self::Postgres(server) => server.kill()?,
            Self::MariaDb(server) => server.kill()?,
            Self::Etcd(cluster) => cluster.kill_all(),
            Self::ZooKeeper(ensemble) => ensemble.kill_all(),
        }
        Ok(())
    }

    /// Starts those that don't run.
    ///
    /// # Errors
    /// What they say, when they don't start.
    pub fn start_again(&mut self) -> Result<()> {
        match self {
            Self::Postgres(server) => server.start_again()?,
            Self::MariaDb(server) => server.start_again()?,
            Self::Etcd(cluster) => cluster.start_again()?,
            Self::ZooKeeper(ensemble) => ensemble.start_again()?,
        }
        Ok(())
    }

    /// Whether a hold begins when all were killed and have started again. Members of etcd that elect a leader have lost nothing.
    #[must_use]
    pub const fn holds_at_start(&self) -> bool {
        !matches!(self, Self::Etcd(_))
    }

    /// Keeps what they have now, under this name. Some must be stopped for that, and are started again.
    ///
    /// # Errors
    /// When it can't be copied, or they don't start again.
    pub fn keep(&mut self, name: &str) -> Result<()> {
        match self {
            // It makes base backups of its own.
            Self::Postgres(_) => {}
            Self::MariaDb(server) => {
                server.kill()?;
                server.copy_data(name)?;
                server.start_again()?;
            }
            Self::Etcd(cluster) => cluster.save_snapshot(name)?,
            Self::ZooKeeper(ensemble) => {
                ensemble.kill_all();
                ensemble.copy_data(name)?;
                ensemble.start_again()?;
            }
        }
        Ok(())
    }

    /// Puts what was kept in the place of what they have, as an operator would, and starts them.
    ///
    /// # Errors
    /// When there is no such copy, or they don't start on it.
    pub fn put_back(&mut self, name: &str) -> Result<()> {
        self.kill()?;
        match self {
            Self::Postgres(_) => {}
            Self::MariaDb(server) => server.put_back(name, false)?,
            Self::Etcd(cluster) => cluster.restore_snapshot(name, Some(name))?,
            Self::ZooKeeper(ensemble) => ensemble.put_back(name)?,
        }
        self.start_again()
    }

    /// The number of the one that leads.
    ///
    /// # Errors
    /// When none does, or there is but one.
    pub fn leader(&self) -> Result<usize> {
        match self {
            Self::Etcd(cluster) => Ok(cluster.leader()?),
            Self::ZooKeeper(ensemble) => Ok(ensemble.leader()?),
            other => bail!("{other:?} is one server"),
        }
    }

    /// Kills one of several.
    ///
    /// # Errors
    /// When there is but one.
    pub fn kill_one(&mut self, number: usize) -> Result<()> {
        match self {
            Self::Etcd(cluster) => cluster.kill(number)?,
            Self::ZooKeeper(ensemble) => ensemble.kill(number)?,
            other => bail!("{other:?} is one server"),
        }
        Ok(())
    }
}
