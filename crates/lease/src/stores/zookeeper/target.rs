//! Where a URL leads: servers, user and path.

use crate::error::Error;
use crate::store::redacted;
use crate::stores::url::{Parts, decoded, with_port};

const EXPECTED: &str = "expected is one like zookeeper://user:password@host1:2181,host2/path";

/// ZooKeeper's port for clients.
const PORT: u16 = 2181;

/// The path of the nodes, unless the URL says otherwise.
const PATH: &str = "/mintage";

/// Servers, and who asks them.
pub(super) struct Target {
    /// `host:port,host:port`, as the driver takes them.
    pub(super) servers: String,
    /// The first server, for what is asked of one alone.
    pub(super) first: String,
    pub(super) path: String,
    /// `user:password`.
    pub(super) user: Option<String>,
}

impl Target {
    /// From a URL; nothing is connected yet.
    pub(super) fn of(url: &str) -> Result<Self, Error> {
        Self::read(url).map_err(|fault| Error::Url { url: redacted(url), fault })
    }

    fn read(url: &str) -> Result<Self, String> {
        let (_, rest) = url.split_once("://").ok_or(EXPECTED)?;
        let Parts { login, place, query } = Parts::of(rest);
        if !query.is_empty() {
            return Err(format!("{query:?}: this store has no options, and no TLS; {EXPECTED}"));
        }
        let (hosts, path) = place.split_once('/').unwrap_or((place, ""));
        let servers: Vec<String> = hosts.split(',').map(server).collect::<Result<_, _>>()?;
        let path = decoded(path.trim_matches('/'));
        let is_path =
            path.split('/').all(|part| !matches!(part, "" | "." | "..")) && !path.contains(char::is_control);
        if !path.is_empty() && !is_path {
            return Err(format!("path {path:?}; {EXPECTED}"));
        }
        let user = match login.split_once(':') {
            _ if login.is_empty() => None,
            Some((user, password)) => Some(format!("{}:{}", decoded(user), decoded(password))),
            None => return Err(format!("user {:?} without a password; {EXPECTED}", decoded(login))),
        };
        Ok(Self {
            first: servers[0].clone(),
            servers: servers.join(","),
            path: if path.is_empty() { PATH.to_owned() } else { format!("/{path}") },
            user,
        })
    }
}

fn server(host: &str) -> Result<String, String> {
    with_port(host, PORT).ok_or_else(|| format!("host {host:?}; {EXPECTED}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_server_has_a_port_and_nodes_a_path() {
        let target = Target::of("zookeeper://u:p%40@a,b:3000,[::1],[::1]:4/apps/ids/").unwrap();
        assert_eq!(target.servers, "a:2181,b:3000,[::1]:2181,[::1]:4");
        assert_eq!((target.path.as_str(), target.user.as_deref()), ("/apps/ids", Some("u:p@")));
        let plain = Target::of("zookeeper://a").unwrap();
        assert_eq!((plain.path.as_str(), plain.user), ("/mintage", None));
    }

    #[test]
    fn urls_that_make_no_sense_are_refused_without_their_password() {
        for url in [
            "zookeeper://",
            "zookeeper://u:secret@",
            "zookeeper://u:secret@a,,b",
            "zookeeper://u:secret@a b",
            "zookeeper://u:secret@a:0",
            "zookeeper://u:secret@a:port",
            "zookeeper://u:secret@a:+5",
            "zookeeper://u:secret@a:",
            "zookeeper://u:secret@a:2181:3",
            "zookeeper://u:secret@::1",
            "zookeeper://u:secret@[::1",
            "zookeeper://u:secret@[]",
            "zookeeper://u@a",
            "zookeeper://u:secret@a/x/../y",
            "zookeeper://u:secret@a?tls=on",
        ] {
            let error = Target::of(url).map(|_| ()).unwrap_err();
            assert!(matches!(error, Error::Url { .. }), "{error}");
            assert!(!format!("{error} {error:?}").contains("secret"), "{error}");
        }
    }
}
