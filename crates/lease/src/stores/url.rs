//! What the URLs of stores have in common.

/// A URL behind its `//`, in its parts; PostgreSQL's driver takes its URLs apart by itself.
#[cfg(any(feature = "etcd", feature = "http", feature = "mysql", feature = "zookeeper"))]
pub(super) struct Parts<'a> {
    /// `user:password`, or nothing.
    pub(super) login: &'a str,
    /// Hosts, and what stands behind them.
    pub(super) place: &'a str,
    /// Behind the `?`, or nothing.
    pub(super) query: &'a str,
}

#[cfg(any(feature = "etcd", feature = "http", feature = "mysql", feature = "zookeeper"))]
impl<'a> Parts<'a> {
    /// A password may hold an unescaped `@`, `/` or `?`: the last `@` ends it. One in an option is written as `%40`.
    pub(super) fn of(rest: &'a str) -> Self {
        let (login, rest) = rest.rsplit_once('@').unwrap_or(("", rest));
        let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
        Self { login, place, query }
    }
}

/// A host and its port, which is this one unless it names another; `None` where it can be neither a name nor an address. One of IPv6 stands in
/// brackets.
#[cfg(any(feature = "etcd", feature = "http", feature = "zookeeper"))]
pub(super) fn with_port(host: &str, default: u16) -> Option<String> {
    let name_end = match host.strip_prefix('[') {
        Some(rest) => rest.find(']').filter(|len| *len > 0)? + 2,
        None => host.find(':').unwrap_or(host.len()),
    };
    let (name, port) = host.split_at(name_end);
    let is_name = |c: char| !c.is_whitespace() && !c.is_control() && !"/?#@,\\".contains(c);
    let digits = |port: &str| port.bytes().all(|byte| byte.is_ascii_digit());
    let port = match port.strip_prefix(':') {
        None if port.is_empty() => default,
        port => port.filter(|port| digits(port))?.parse().ok().filter(|port| *port > 0)?,
    };
    (!name.is_empty() && name.chars().all(is_name)).then(|| format!("{name}:{port}"))
}

/// Percent-encoded text as it was meant.
pub(super) fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let hex = tail.get(..2).and_then(|hex| std::str::from_utf8(hex).ok());
        match hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) if *first == b'%' => {
                bytes.push(byte);
                rest = &tail[2..];
            }
            _ => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
