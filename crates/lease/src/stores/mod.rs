//! The stores that there are: one file and one line each.

use crate::store::StoreEntry;

#[cfg(any(
    feature = "etcd",
    feature = "http",
    feature = "mysql",
    feature = "postgres",
    feature = "zookeeper"
))]
mod attempt;
#[cfg(any(feature = "etcd", feature = "mysql", feature = "postgres", feature = "zookeeper"))]
mod columns;
#[cfg(feature = "etcd")]
pub mod etcd;
#[cfg(any(feature = "etcd", feature = "zookeeper"))]
mod memory;
#[cfg(feature = "mysql")]
pub mod mysql;
#[cfg(feature = "postgres")]
pub mod postgres;
#[cfg(feature = "http")]
pub mod remote;
#[cfg(any(feature = "etcd", feature = "zookeeper"))]
mod scan;
#[cfg(any(feature = "etcd", feature = "zookeeper"))]
mod shared;
#[cfg(feature = "sqlite")]
pub mod sqlite;
#[cfg(feature = "etcd")]
mod told;
#[cfg(any(feature = "etcd", feature = "zookeeper"))]
mod turns;
#[cfg(any(
    feature = "etcd",
    feature = "http",
    feature = "mysql",
    feature = "postgres",
    feature = "zookeeper"
))]
mod url;
#[cfg(any(feature = "etcd", feature = "zookeeper"))]
mod values;
#[cfg(feature = "zookeeper")]
pub mod zookeeper;

/// Every store that was built in.
pub static STORES: &[StoreEntry] = &[
    #[cfg(feature = "sqlite")]
    sqlite::ENTRY,
    #[cfg(feature = "postgres")]
    postgres::ENTRY,
    #[cfg(feature = "mysql")]
    mysql::ENTRY,
    #[cfg(feature = "etcd")]
    etcd::ENTRY,
    #[cfg(feature = "zookeeper")]
    zookeeper::ENTRY,
    #[cfg(feature = "http")]
    remote::ENTRY,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_url_scheme_leads_to_two_stores_and_each_example_to_its_own() {
        let mut schemes: Vec<&str> = STORES.iter().flat_map(|entry| entry.url_schemes).copied().collect();
        let all = schemes.len();
        schemes.sort_unstable();
        schemes.dedup();
        assert_eq!(schemes.len(), all);
        for entry in STORES {
            let scheme = entry.example.split(':').next().unwrap();
            assert!(entry.url_schemes.contains(&scheme), "{}", entry.example);
            assert!(!entry.summary.is_empty());
            let schema = (entry.schema)();
            let names = ["CREATE TABLE", "mintage/meta"];
            assert!(
                names.iter().any(|name| schema.to_uppercase().contains(&name.to_uppercase())),
                "{schema}"
            );
        }
    }

    #[test]
    fn no_store_tells_a_password_whatever_is_wrong_with_its_url() {
        use crate::store::{OpenOptions, open};
        for scheme in STORES.iter().flat_map(|entry| entry.url_schemes).filter(|scheme| **scheme != "sqlite")
        {
            for (start, end) in
                [("//", "/x?colour=blue"), ("//", ""), ("//", ":port/x"), ("", "/x"), ("/", "")]
            {
                let mut urls = vec![format!("{scheme}:{start}u:zq?zq/zq@zq&zq@h{end}")];
                // Where a token is all that there is.
                urls.extend(scheme.starts_with("http").then(|| format!("{scheme}:{start}zq@h{end}")));
                for url in urls {
                    let shown = match open(&url, OpenOptions::default()) {
                        Ok(store) => store.url().to_owned(),
                        Err(error) => error.to_string(),
                    };
                    assert!(!shown.contains("zq"), "{shown}");
                }
            }
        }
    }
}
