//! Where a URL leads: hosts, user, database, and how the way there is encrypted.
//!
//! `ssl-mode` has the words of MySQL's own client: `preferred` (the default) and `required` don't say who the server is; `verify_identity`
//! checks who signed its certificate, and whom it is for. So does `verify_ca`, as the driver can't check the one alone. `ssl-ca` names a file
//! of those whom to trust; without it that is Mozilla's list. Other parameters are the driver's.
//! Source: MySQL documentation, "Command Options for Encrypted Connections".

use crate::error::Error;
use crate::store::redacted;
use crate::stores::url::{Parts, decoded};
use mysql_async::{Opts, OptsBuilder, SslOpts};
use std::time::Duration;

/// Hosts in the order in which they are tried.
pub(super) struct Target {
    pub(super) hosts: Vec<OptsBuilder>,
    /// Whether a server that has no TLS will do as well.
    pub(super) encrypts_if_possible: bool,
}

/// What `ssl-mode` says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Disabled,
    Preferred,
    Required,
    VerifyCa,
    VerifyIdentity,
}

impl Mode {
    fn of(text: &str) -> Option<Self> {
        Some(match text.to_ascii_lowercase().replace('-', "_").as_str() {
            "disabled" => Self::Disabled,
            "preferred" => Self::Preferred,
            "required" => Self::Required,
            "verify_ca" => Self::VerifyCa,
            "verify_identity" => Self::VerifyIdentity,
            _ => return None,
        })
    }
}

impl Target {
    /// From a URL; nothing is connected yet.
    pub(super) fn of(url: &str) -> Result<Self, Error> {
        Self::read(url).map_err(|fault| Error::Url { url: redacted(url), fault })
    }

    fn read(url: &str) -> Result<Self, String> {
        let expected = "expected is one like mysql://user@host1,host2:3306/database";
        let (_, rest) = url.split_once("://").ok_or(expected)?;
        let Parts { login, place, query } = Parts::of(rest);
        // As the driver takes it: nothing of a login ends it.
        let escaped = [("?", "%3F"), ("/", "%2F"), ("@", "%40"), ("#", "%23")];
        let login =
            escaped.iter().fold(login.to_owned(), |login, (plain, escape)| login.replace(plain, escape));
        let at = if login.is_empty() { String::new() } else { format!("{login}@") };
        let (hosts, database) = place.split_once('/').unwrap_or((place, ""));
        if hosts.is_empty() || database.is_empty() {
            return Err(format!("a host and a database expected; {expected}"));
        }
        let (tls, kept) = Tls::of(query)?;
        let mut builders = Vec::new();
        for host in hosts.split(',') {
            let plain = format!("mysql://{at}{host}/{database}?{}", kept.join("&"));
            let opts = Opts::from_url(&plain).map_err(|error| format!("{error}; {expected}"))?;
            builders.push(tls.onto(&opts));
        }
        Ok(Self { hosts: builders, encrypts_if_possible: tls.mode == Mode::Preferred })
    }
}

/// What a URL says of encryption.
struct Tls {
    mode: Mode,
    roots: Vec<u8>,
    /// Whether it says so in the driver's words.
    is_driver_s: bool,
}

impl Tls {
    /// From a query, with the rest of it.
    fn of(query: &str) -> Result<(Self, Vec<&str>), String> {
        let mut tls = Self { mode: Mode::Preferred, roots: Vec::new(), is_driver_s: false };
        let mut kept = Vec::new();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            match pair.split_once('=') {
                Some(("ssl-mode", text)) => {
                    tls.mode = Mode::of(text).ok_or_else(|| {
                        format!(
                            "ssl-mode {text:?}; disabled, preferred, required, verify_ca or verify_identity expected"
                        )
                    })?;
                }
                Some(("ssl-ca", path)) => {
                    let path = decoded(path);
                    tls.roots = std::fs::read(&path).map_err(|error| format!("ssl-ca {path}: {error}"))?;
                }
                _ => {
                    tls.is_driver_s |= pair.starts_with("require_ssl=");
                    kept.push(pair);
                }
            }
        }
        Ok((tls, kept))
    }

    fn onto(&self, opts: &Opts) -> OptsBuilder {
        let builder = OptsBuilder::from_opts(opts.clone())
            // A row counts as written when it was found. Rule 11.
            .client_found_rows(true)
            // The host that was named, not a socket that the server names.
            .prefer_socket(Some(false))
            // Known without asking: what a server takes at least, and connections are never kept that long.
            .max_allowed_packet(Some(opts.max_allowed_packet().unwrap_or(16 << 20)))
            .wait_timeout(Some(opts.wait_timeout().unwrap_or(28_800)))
            .tcp_keepalive(Some(opts.tcp_keepalive().unwrap_or(Duration::from_secs(15))));
        if self.is_driver_s {
            return builder;
        }
        let checks_nothing = matches!(self.mode, Mode::Preferred | Mode::Required) && self.roots.is_empty();
        let roots = if self.roots.is_empty() { Vec::new() } else { vec![self.roots.clone().into()] };
        let ssl = SslOpts::default()
            .with_disable_built_in_roots(!self.roots.is_empty())
            .with_root_certs(roots)
            .with_danger_accept_invalid_certs(checks_nothing)
            .with_danger_skip_domain_validation(checks_nothing);
        builder.ssl_opts((self.mode != Mode::Disabled).then_some(ssl))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_host_has_the_login_and_the_database() {
        let target = Target::of("mysql://u:p%40@a,b:3307,[::1]:3308/db?ssl-mode=disabled").unwrap();
        let opts: Vec<Opts> = target.hosts.into_iter().map(Opts::from).collect();
        let hosts: Vec<(&str, u16)> =
            opts.iter().map(|opts| (opts.ip_or_hostname(), opts.tcp_port())).collect();
        assert_eq!(hosts, [("a", 3306), ("b", 3307), ("[::1]", 3308)]);
        for opts in &opts {
            assert_eq!((opts.user(), opts.pass(), opts.db_name()), (Some("u"), Some("p@"), Some("db")));
            assert!(opts.ssl_opts().is_none() && opts.client_found_rows() && !opts.prefer_socket());
        }
    }

    #[test]
    fn the_mode_says_how_much_of_a_certificate_is_checked() {
        let of = |query: &str| {
            let target = Target::of(&format!("mysql://h/db?{query}")).unwrap();
            let opts = Opts::from(target.hosts[0].clone());
            let ssl = opts.ssl_opts().cloned().unwrap_or_default();
            (target.encrypts_if_possible, ssl.accept_invalid_certs(), ssl.skip_domain_validation())
        };
        assert_eq!(of(""), (true, true, true));
        assert_eq!(of("ssl-mode=REQUIRED"), (false, true, true));
        assert_eq!(of("ssl-mode=verify-ca"), (false, false, false));
        assert_eq!(of("ssl-mode=verify_identity"), (false, false, false));
    }

    #[test]
    fn urls_that_make_no_sense_are_refused_without_their_password() {
        for url in [
            "mysql://u:secret@h",
            "mysql://u:secret@/db",
            "mysql://u:secret@h:port/db",
            "mysql://u:secret@h/db?ssl-mode=maybe",
            "mysql://u:secret@h/db?ssl-ca=/nowhere.pem",
            "mysql://u:secret@h/db?colour=blue",
        ] {
            let error = Target::of(url).map(|_| ()).unwrap_err();
            assert!(matches!(error, Error::Url { .. }), "{error}");
            assert!(!format!("{error} {error:?}").contains("secret"), "{error}");
        }
    }
}
