//! Where a URL leads: members, user, prefix, and how the way there is encrypted.
//!
//! `tls=on` encrypts and checks who the members are; `ca=PATH` names a file of those whom to trust instead of the host's list, `cert=PATH`
//! and `key=PATH` what the client shows. Each of them means `tls=on`.

use crate::error::Error;
use crate::store::redacted;
use crate::stores::url::{Parts, decoded, with_port};
use etcd_client::ConnectOptions;
use tonic::transport::{Certificate, ClientTlsConfig, Endpoint, Identity};

const EXPECTED: &str = "expected is one like etcd://user:password@host1:2379,host2:2379/prefix";

/// etcd's port for clients.
const PORT: u16 = 2379;

/// What keys begin with, unless the URL says otherwise.
const PREFIX: &str = "mintage";

/// Members in the order in which they are tried, and how each is asked.
pub(super) struct Target {
    pub(super) members: Vec<Endpoint>,
    pub(super) prefix: String,
    user: Option<(String, String)>,
}

impl Target {
    /// From a URL; nothing is connected yet.
    pub(super) fn of(url: &str) -> Result<Self, Error> {
        Self::read(url).map_err(|fault| Error::Url { url: redacted(url), fault })
    }

    fn read(url: &str) -> Result<Self, String> {
        let (_, rest) = url.split_once("://").ok_or(EXPECTED)?;
        let Parts { login, place, query } = Parts::of(rest);
        let (hosts, prefix) = place.split_once('/').unwrap_or((place, ""));
        let prefix = decoded(prefix.trim_matches('/'));
        let prefix = if prefix.is_empty() { PREFIX.to_owned() } else { prefix };
        let user = match login.split_once(':') {
            _ if login.is_empty() => None,
            Some((user, password)) => Some((decoded(user), decoded(password))),
            None => return Err(format!("user {:?} without a password; {EXPECTED}", decoded(login))),
        };
        let tls = tls(query)?;
        let member = |host: &str| member(host, tls.clone());
        let members = hosts.split(',').map(member).collect::<Result<_, _>>()?;
        Ok(Self { members, prefix, user })
    }

    /// How each member is asked. One that knows no leader says so at once.
    pub(super) fn options(&self) -> ConnectOptions {
        let options = ConnectOptions::new().with_require_leader(true);
        match &self.user {
            Some((user, password)) => options.with_user(user, password),
            None => options,
        }
    }

    /// Whether requests come with a user.
    pub(super) fn has_user(&self) -> bool {
        self.user.is_some()
    }
}

fn member(host: &str, tls: Option<ClientTlsConfig>) -> Result<Endpoint, String> {
    let address = with_port(host, PORT).ok_or_else(|| format!("host {host:?}; {EXPECTED}"))?;
    let scheme = if tls.is_some() { "https" } else { "http" };
    let fault = |error: &dyn std::fmt::Display| format!("host {host:?}: {error}; {EXPECTED}");
    let endpoint = Endpoint::from_shared(format!("{scheme}://{address}")).map_err(|error| fault(&error))?;
    match tls {
        Some(tls) => endpoint.tls_config(tls).map_err(|error| fault(&error)),
        None => Ok(endpoint),
    }
}

/// What a query says of encryption.
fn tls(query: &str) -> Result<Option<ClientTlsConfig>, String> {
    let (mut is_on, mut ca, mut cert, mut key) = (None, None, None, None);
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let file = |path: &str| {
            let path = decoded(path);
            std::fs::read(&path).map_err(|error| format!("{pair}: {error}"))
        };
        match pair.split_once('=') {
            Some(("tls", "on")) => is_on = Some(true),
            Some(("tls", "off")) => is_on = Some(false),
            Some(("tls", other)) => return Err(format!("tls {other:?}; on or off expected")),
            Some(("ca", path)) => ca = Some(file(path)?),
            Some(("cert", path)) => cert = Some(file(path)?),
            Some(("key", path)) => key = Some(file(path)?),
            _ => return Err(format!("{pair:?} is no option of this store; tls, ca, cert and key are")),
        }
    }
    let has_files = ca.is_some() || cert.is_some() || key.is_some();
    if is_on == Some(false) && has_files {
        return Err("tls=off doesn't go with ca, cert or key".to_owned());
    }
    if !is_on.unwrap_or(has_files) {
        return Ok(None);
    }
    let config = ClientTlsConfig::new();
    let config = match ca {
        Some(pem) => config.ca_certificate(Certificate::from_pem(pem)),
        None => config.with_native_roots(),
    };
    match (cert, key) {
        (Some(cert), Some(key)) => Ok(Some(config.identity(Identity::from_pem(cert, key)))),
        (None, None) => Ok(Some(config)),
        _ => Err("cert and key go together".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_member_has_a_port_and_keys_a_prefix() {
        let target = Target::of("etcd://u:p%40@a,b:3000,[::1],[::1]:4/shop/ids/").unwrap();
        let uris: Vec<String> = target.members.iter().map(|member| member.uri().to_string()).collect();
        assert_eq!(uris, ["http://a:2379/", "http://b:3000/", "http://[::1]:2379/", "http://[::1]:4/"]);
        assert_eq!(target.user, Some(("u".to_owned(), "p@".to_owned())));
        assert_eq!(target.prefix, "shop/ids");
        let plain = Target::of("etcd://a").unwrap();
        assert_eq!((plain.prefix.as_str(), plain.has_user()), ("mintage", false));
        assert_eq!(Target::of("etcd://a?tls=on").unwrap().members[0].uri().scheme_str(), Some("https"));
    }

    #[test]
    fn urls_that_make_no_sense_are_refused_without_their_password() {
        for url in [
            "etcd://",
            "etcd://u:secret@",
            "etcd://u:secret@a,,b",
            "etcd://u:secret@a b",
            "etcd://u:secret@a:x",
            "etcd://u:secret@a:0",
            "etcd://u:secret@a:99999",
            "etcd://u:secret@a:",
            "etcd://u:secret@a:+5",
            "etcd://u:secret@a:1:2",
            "etcd://u:secret@::1",
            "etcd://u:secret@[::1",
            "etcd://u@a",
            "etcd://u:secret@a?tls=maybe",
            "etcd://u:secret@a?colour=blue",
            "etcd://u:secret@a?ca=/nowhere.pem",
            "etcd://u:secret@a?cert=/dev/null",
            "etcd://u:secret@a?tls=off&ca=/dev/null",
        ] {
            let error = Target::of(url).map(|_| ()).unwrap_err();
            assert!(matches!(error, Error::Url { .. }), "{error}");
            assert!(!format!("{error} {error:?}").contains("secret"), "{error}");
        }
    }
}
