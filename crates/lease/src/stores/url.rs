//! What the URLs of stores have in common.

/// A URL behind its `//`, in its parts; PostgreSQL's driver takes its URLs apart by itself.
#[cfg(any(feature = "etcd", feature = "mysql", feature = "zookeeper"))]
pub(super) struct Parts<'a> {
    /// `user:password`, or nothing.
    pub(super) login: &'a str,
    /// Hosts, and what stands behind them.
    pub(super) place: &'a str,
    /// Behind the `?`, or nothing.
    pub(super) query: &'a str,
}

#[cfg(any(feature = "etcd", feature = "mysql", feature = "zookeeper"))]
impl<'a> Parts<'a> {
    /// A password may hold an unescaped `@`, `/` or `?`: the last `@` ends it. One in an option is written as `%40`.
    pub(super) fn of(rest: &'a str) -> Self {
        let (login, rest) = rest.rsplit_once('@').unwrap_or(("", rest));
        let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
        Self { login, place, query }
    }
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
