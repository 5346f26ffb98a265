//! The stores that there are: one file and one line each.

use crate::store::StoreEntry;

#[cfg(feature = "postgres")]
pub mod postgres;
#[cfg(feature = "sqlite")]
pub mod sqlite;

/// Every store that was built in.
pub static STORES: &[StoreEntry] = &[
    #[cfg(feature = "sqlite")]
    sqlite::ENTRY,
    #[cfg(feature = "postgres")]
    postgres::ENTRY,
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
            assert!(!entry.summary.is_empty() && (entry.schema)().to_uppercase().contains("CREATE TABLE"));
        }
    }
}
