//! What operators ask: spaces, and whether all is well.

use super::ZooKeeper;
use super::connect::Link;
use super::standing::Noted;
use super::transact::{Found, Get, Got, Recognised, draw};
use crate::creating::{Creation, Namesake, creation};
use crate::error::Error;
use crate::request::Shown;
use crate::space::Space;
use crate::store::{CheckLine, CreateOptions, Deadline, PROTOCOL};
use crate::stores::attempt::Failure;
use crate::stores::values::{Kept, Told, kept_text, space_row_of, space_text};
use mintage::UnixNanos;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use zookeeper_client::{CreateMode, Error as DriverFailure};

/// A space as it was read, with the version of its row.
struct Read {
    space: Space,
    kept: Kept,
    version: i32,
}

/// All that a look at spaces brings.
struct Spaces {
    /// By name, those that were dropped last.
    all: Vec<Read>,
    recognised: Recognised,
    now: UnixNanos,
    /// The version of the name's node, where one was asked for.
    name: Option<i32>,
}

impl ZooKeeper {
    /// Makes the nodes above, and notes what the ensemble is, if nobody has; does nothing else.
    async fn make(&self, request: &'static str, link: &Link, deadline: Deadline) -> Result<(), Failure> {
        let options = CreateMode::Persistent.with_acls(self.connections.acls());
        let meta = self.paths.meta();
        let is_there = self.within(request, link, deadline, link.client.check_stat(&meta)).await?.is_some();
        if is_there {
            return Ok(());
        }
        for path in self.paths.parents() {
            let made = async {
                match link.client.mkdir(&path, &options).await {
                    Err(DriverFailure::NodeExists) => Ok(()),
                    made => made,
                }
            };
            self.within(request, link, deadline, made).await?;
        }
        let Found { standing, .. } = self.first_trip(request, link, &[], deadline).await?;
        let text = Noted::first(&standing, draw()?).text(PROTOCOL);
        let made = async {
            match link.client.create(&meta, text.as_bytes(), &options).await {
                Ok(_) | Err(DriverFailure::NodeExists) => Ok(()),
                Err(error) => Err(error),
            }
        };
        self.within(request, link, deadline, made).await
    }

    pub(super) async fn try_upgrade(&self, deadline: Deadline) -> Result<(), Failure> {
        let request = "upgrade";
        let link = self.linked(request, deadline).await?;
        self.make(request, &link, deadline).await?;
        let found = self.first_trip(request, &link, &[Get::Data(self.paths.meta())], deadline).await?;
        let meta = found.got.first().and_then(Got::data);
        self.recognised(request, &link, meta, &found, deadline).await.map(|_| ())
    }

    /// The spaces of a name, or all.
    async fn spaces(
        &self,
        request: &'static str,
        link: &Link,
        name: Option<&str>,
        deadline: Deadline,
    ) -> Result<Spaces, Failure> {
        let mut first = vec![Get::Data(self.paths.meta()), Get::Children(self.paths.names())];
        first.extend(name.map(|name| Get::Data(self.paths.name(name))));
        let found = self.first_trip(request, link, &first, deadline).await?;
        let [meta, names, name_node @ ..] = found.got.as_slice() else {
            return Err(self.corrupt("an answer", "too short").into());
        };
        let recognised = self.recognised(request, link, meta.data(), &found, deadline).await?;
        let names: Vec<&String> =
            names.children().iter().filter(|found| name.is_none_or(|name| name == *found)).collect();
        let lists: Vec<Get> = names.iter().map(|name| Get::Children(self.paths.name(name))).collect();
        let lists = self.within(request, link, deadline, self.read(link, &lists)).await?;
        let of_name = |(name, list): (&&String, &Got)| -> Vec<String> {
            list.children().iter().map(|id| self.paths.space(name, id)).collect()
        };
        let paths: Vec<String> = names.iter().zip(&lists).flat_map(of_name).collect();
        let facts: Vec<Get> = paths.iter().cloned().map(Get::Data).collect();
        let facts = self.within(request, link, deadline, self.read(link, &facts)).await?;
        let mut spaces = Vec::new();
        for (path, got) in paths.iter().zip(&facts) {
            let Some((text, _)) = got.data() else { continue };
            spaces.push(space_row_of(text).map_err(|wrong| self.corrupt(path, &wrong))?);
        }
        let states: Vec<Get> = spaces.iter().map(|space| Get::Data(self.paths.state(space.id))).collect();
        let states = self.within(request, link, deadline, self.read(link, &states)).await?;
        let mut all = Vec::new();
        for (space, got) in spaces.into_iter().zip(&states) {
            let missing = || self.corrupt(&self.paths.state(space.id), "not there");
            let (text, version) = got.data().ok_or_else(missing)?;
            all.push(Read { kept: self.kept(space.id, text)?, space, version });
        }
        all.sort_by(|a, b| {
            let key = |read: &Read| (read.space.name.clone(), read.kept.dropped.is_some());
            key(a).cmp(&key(b)).then(b.kept.dropped.cmp(&a.kept.dropped))
        });
        let name = name_node.first().and_then(Got::data).map(|(_, version)| version);
        Ok(Spaces { all, recognised, now: found.standing.now, name })
    }

    pub(super) async fn try_create(
        &self,
        space: &Space,
        options: CreateOptions,
        deadline: Deadline,
    ) -> Result<Space, Failure> {
        let request = "create";
        let link = self.linked(request, deadline).await?;
        self.make(request, &link, deadline).await?;
        let Spaces { all, recognised, now, name } =
            self.spaces(request, &link, Some(&space.name), deadline).await?;
        let namesakes: Vec<Namesake<'_>> = all.iter().map(namesake).collect();
        let (state, hold) = match creation(space, &namesakes, options, now, recognised.live, &*self.clock)? {
            Creation::There(found) => return Ok(found),
            Creation::Begins(state, hold) => (state, hold),
        };
        let path = self.paths.state(space.id);
        let kept = Kept { state, told: Told::first(now), dropped: None, hold };
        let text = kept_text(&kept).map_err(|wrong| self.corrupt(&path, &wrong))?;
        let persistent = CreateMode::Persistent.with_acls(self.connections.acls());
        let (name_path, id) = (self.paths.name(&space.name), space.id.to_string());
        let writer = self.fenced(&link, &recognised).and_then(|mut writer| {
            match name {
                Some(version) => writer.add_set_data(&name_path, id.as_bytes(), Some(version))?,
                None => writer.add_create(&name_path, id.as_bytes(), &persistent)?,
            }
            for read in &all {
                writer.add_check_version(&self.paths.state(read.space.id), read.version)?;
            }
            let facts = space_text(space);
            writer.add_create(&self.paths.space(&space.name, &id), facts.as_bytes(), &persistent)?;
            let rows = match space.scopes() {
                Some(_) => self.paths.scopes(space.id),
                None => self.paths.workers(space.id),
            };
            writer.add_create(&rows, b"", &persistent)?;
            writer.add_create(&path, text.as_bytes(), &persistent)?;
            Ok(writer)
        });
        let writer = writer.map_err(|error| self.before_commit(request, &link, error))?;
        self.commit(request, &link, writer, deadline).await?;
        Ok(space.clone())
    }

    pub(super) async fn try_drop(&self, name: &str, deadline: Deadline) -> Result<(), Failure> {
        let request = "drop";
        let link = self.linked(request, deadline).await?;
        let spaces = self.spaces(request, &link, Some(name), deadline).await?;
        let in_use = spaces.all.into_iter().find(|read| read.kept.dropped.is_none());
        let (Some(read), Some(name_version)) = (in_use, spaces.name) else {
            return Err(Error::NoSuchSpace { store: self.store(), space: name.to_owned() }.into());
        };
        let Read { space, kept, version } = read;
        let path = self.paths.state(space.id);
        let text = kept_text(&Kept { dropped: Some(spaces.now), ..kept });
        let text = text.map_err(|wrong| self.corrupt(&path, &wrong))?;
        let writer = self.fenced(&link, &spaces.recognised).and_then(|mut writer| {
            writer.add_set_data(&self.paths.name(name), b"", Some(name_version))?;
            writer.add_set_data(&path, text.as_bytes(), Some(version))?;
            Ok(writer)
        });
        let writer = writer.map_err(|error| self.before_commit(request, &link, error))?;
        self.commit(request, &link, writer, deadline).await
    }

    pub(super) async fn try_show(
        &self,
        request: &'static str,
        name: Option<&str>,
        with_workers: bool,
        deadline: Deadline,
    ) -> Result<Vec<Shown>, Failure> {
        let link = self.linked(request, deadline).await?;
        let Spaces { all, now, .. } = self.spaces(request, &link, name, deadline).await?;
        let mut shown = Vec::new();
        for Read { space, kept, .. } in all {
            let mut workers = Vec::new();
            if with_workers && space.windows().is_some() {
                let path = self.paths.workers(space.id);
                let list = self.within(request, &link, deadline, link.client.list_children(&path)).await?;
                let mut numbers: Vec<u64> = list.iter().filter_map(|name| name.parse().ok()).collect();
                numbers.sort_unstable();
                let gets: Vec<Get> =
                    numbers.iter().map(|worker| Get::Data(self.paths.worker(space.id, *worker))).collect();
                let got = self.within(request, &link, deadline, self.read(&link, &gets)).await?;
                let rows = self.workers(space.id, numbers.iter().copied().zip(&got))?;
                workers = rows.into_iter().map(|(row, _)| row).collect();
            }
            shown.push(Shown {
                space,
                state: kept.state,
                workers,
                now,
                dropped: kept.dropped,
                hold: kept.hold,
            });
        }
        Ok(shown)
    }

    pub(super) async fn try_check(&self, deadline: Deadline) -> Result<Vec<CheckLine>, Failure> {
        let request = "check";
        let link = self.linked(request, deadline).await?;
        let wall = self.clock.wall();
        let now = self.spaces(request, &link, None, deadline).await?.now;
        let config = self.within(request, &link, deadline, link.client.get_config()).await;
        let config =
            config.map(|(config, _)| String::from_utf8_lossy(&config).into_owned()).unwrap_or_default();
        let voters = config.lines().filter(|line| line.contains(":participant")).count();
        let acl = self.within(request, &link, deadline, link.client.get_acl(&self.paths.meta())).await?.0;
        let is_open = acl.iter().any(|acl| acl.scheme() == "world");
        let told = tokio::time::timeout_at(deadline.0, status(&self.connections.target.first)).await;
        let told = told.ok().and_then(Result::ok).unwrap_or_default();
        let of = |name: &str| {
            told.lines()
                .find_map(|line| line.strip_prefix(name))
                .map_or("it doesn't tell", str::trim)
                .to_owned()
        };
        let line = |what, is_good, found| CheckLine { what, is_good, found };
        Ok(vec![
            line(
                "servers",
                true,
                match voters {
                    0 | 1 => "1: the store is gone with it, and data that are put back on it show to nobody but those who saw more".to_owned(),
                    2 => "2: one that is lost stops both; have three".to_owned(),
                    many => format!("{many} that vote, of which {} may be lost", (many - 1) / 2),
                },
            ),
            line(
                "clock",
                now.0.abs_diff(wall.0) < 1_000_000_000,
                format!("the leader says {now}, this host's wall clock {wall}"),
            ),
            line(
                "version",
                true,
                format!("nodes of protocol {PROTOCOL}, server {}", of("Zookeeper version:")),
            ),
            line("mode", true, format!("{} is {}", self.connections.target.first, of("Mode:"))),
            line(
                "privileges",
                true,
                if is_open {
                    "nodes are open to everybody who reaches the ensemble; name a user in the URL before the first space is made".to_owned()
                } else {
                    "nodes are this user's alone".to_owned()
                },
            ),
        ])
    }
}

fn namesake(Read { space, kept, .. }: &Read) -> Namesake<'_> {
    Namesake { space, state: &kept.state, is_in_use: kept.dropped.is_none() }
}

/// What a server says of itself; `srvr` is the one of its words that is allowed unless it is forbidden.
async fn status(server: &str) -> std::io::Result<String> {
    let mut stream = tokio::net::TcpStream::connect(server).await?;
    stream.write_all(b"srvr").await?;
    let mut text = String::new();
    stream.read_to_string(&mut text).await?;
    Ok(text)
}
