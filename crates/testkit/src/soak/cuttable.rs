//! Somebody's store, reached through proxies that can be cut: for each process one before each of its servers.

use crate::proxy::Proxy;
use anyhow::{Context, Result, bail, ensure};

/// Somebody's store with a network that fails on purpose.
#[derive(Debug)]
pub struct Cuttable {
    /// Its own URL.
    pub url: String,
    /// For each process, one before each server.
    pub proxies: Vec<Vec<Proxy>>,
    parts: Parts,
}

/// A URL, cut where its hosts begin and end.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Parts {
    before: String,
    /// Hosts with their ports.
    hosts: Vec<(String, u16)>,
    behind: String,
}

/// What URLs begin with that lead to a network, and the port that is meant where none is named.
const PORTS: [(&str, u16); 7] = [
    ("postgres", 5432),
    ("postgresql", 5432),
    ("mysql", 3306),
    ("mariadb", 3306),
    ("etcd", 2379),
    ("zookeeper", 2181),
    ("zk", 2181),
];

impl Cuttable {
    /// The store of a URL, for so many processes.
    ///
    /// # Errors
    /// When the URL leads to no network, or asks that the server's name is verified, which a proxy doesn't have.
    pub fn start(url: &str, processes: usize) -> Result<Self> {
        let parts = Parts::of(url)?;
        let before = |(host, port): &(String, u16)| Proxy::before_host(host, *port);
        let of_process = |_| parts.hosts.iter().map(before).collect::<std::io::Result<Vec<Proxy>>>();
        let proxies = (0..processes).map(of_process).collect::<std::io::Result<_>>();
        Ok(Self { url: url.to_owned(), proxies: proxies.context("listening on 127.0.0.1")?, parts })
    }

    /// The URL of process `number`.
    #[must_use]
    pub fn url_of(&self, number: usize) -> String {
        let Some(proxies) = self.proxies.get(number) else { return self.url.clone() };
        let hosts: Vec<String> = proxies.iter().map(|proxy| format!("127.0.0.1:{}", proxy.port())).collect();
        format!("{}{}{}", self.parts.before, hosts.join(","), self.parts.behind)
    }
}

/// Whether a store of this URL can be reached through proxies.
///
/// # Errors
/// Why it can't: it leads to no network, or asks that the server's name is verified, which a proxy doesn't have.
pub fn can_be_cut(url: &str) -> Result<()> {
    Parts::of(url).map(drop)
}

impl Parts {
    fn of(url: &str) -> Result<Self> {
        let (scheme, rest) = url.split_once("://").unwrap_or((url.split(':').next().unwrap_or_default(), ""));
        let Some(&(_, port)) = PORTS.iter().find(|(known, _)| *known == scheme) else {
            bail!("a store of {scheme}: isn't reached by a network, so none can be cut")
        };
        let place = rest.find(['/', '?']).unwrap_or(rest.len());
        // A password may hold an unescaped `/`: the last `@` ends it.
        let login = rest.rfind('@').map_or(0, |at| at + 1);
        let end = if place < login {
            rest[login..].find(['/', '?']).map_or(rest.len(), |at| login + at)
        } else {
            place
        };
        let (hosts, behind) = (&rest[login..end], &rest[end..]);
        ensure!(
            !asks_for_a_name(behind),
            "the URL asks that the server's name is verified; a connection through a proxy has another, so leave that out for a drill"
        );
        ensure!(!hosts.is_empty(), "no host stands in the URL");
        let host = |text: &str| -> Result<(String, u16)> {
            let named = text.rsplit_once(':').filter(|(host, _)| !host.contains(':') || host.ends_with(']'));
            let (host, port) = match named {
                Some((host, text)) => (host, text.parse().with_context(|| format!("port {text}"))?),
                None => (text, port),
            };
            Ok((host.trim_matches(['[', ']']).to_owned(), port))
        };
        let hosts = hosts.split(',').map(host).collect::<Result<Vec<_>>>()?;
        Ok(Self { before: format!("{scheme}://{}", &rest[..login]), hosts, behind: behind.to_owned() })
    }
}

/// Whether the options of a URL ask that the server's name is verified.
fn asks_for_a_name(behind: &str) -> bool {
    let options =
        behind.split_once('?').map_or("", |(_, options)| options).to_ascii_lowercase().replace('_', "-");
    options.split('&').any(|option| {
        match option.split_once('=').unwrap_or((option, "")) {
            ("sslmode", mode) => mode == "verify-full",
            // Its driver can't verify alone who signed a certificate.
            ("ssl-mode", mode) => mode.starts_with("verify-"),
            ("require-ssl", is_on) => is_on == "true" && !options.contains("verify-identity=false"),
            // etcd's, which knows no TLS without.
            ("tls", is_on) => is_on == "on",
            ("ca" | "cert" | "key", _) => true,
            _ => false,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_cut_where_its_hosts_are() {
        for (url, before, hosts, behind) in [
            ("postgres://u:p@a,b:6432/db?x=1", "postgres://u:p@", &[("a", 5432), ("b", 6432)][..], "/db?x=1"),
            ("etcd://[::1]:4,h", "etcd://", &[("::1", 4), ("h", 2379)], ""),
            ("zookeeper://[::1]/chroot", "zookeeper://", &[("::1", 2181)], "/chroot"),
            ("etcd://h/p?tls=off", "etcd://", &[("h", 2379)], "/p?tls=off"),
            ("mysql://u:a/b@c@h/db", "mysql://u:a/b@c@", &[("h", 3306)], "/db"),
        ] {
            let parts = Parts::of(url).unwrap();
            let found: Vec<(&str, u16)> =
                parts.hosts.iter().map(|(host, port)| (host.as_str(), *port)).collect();
            assert_eq!(
                (parts.before.as_str(), &found[..], parts.behind.as_str()),
                (before, hosts, behind),
                "{url}"
            );
        }
    }

    #[test]
    fn a_file_and_a_verified_name_are_refused_in_words() {
        for (url, what) in [
            ("sqlite:ids.db", "isn't reached by a network"),
            ("postgres://h/db?sslmode=verify-full", "verified"),
            ("postgres:///db", "no host"),
            ("mysql://h:x/db", "port x"),
            ("mysql://h/db?ssl-mode=Verify-CA", "verified"),
            ("mariadb://h/db?x=1&ssl-mode=verify_identity", "verified"),
            ("mysql://h/db?require_ssl=true", "verified"),
            ("etcd://h/p?tls=on", "verified"),
            ("etcd://h/p?ca=/etc/ca.pem", "verified"),
        ] {
            let words = format!("{:#}", Parts::of(url).unwrap_err());
            assert!(words.contains(what), "{words}");
        }
    }
}
