//! The stores that there are: one file and one line each.

use crate::store::StoreEntry;

/// Every store that was built in.
pub static STORES: &[StoreEntry] = &[];
