//! Mintage's own spaces, where the database that is looked at is one of its stores.

use crate::catalog::{Catalog, PassedOver, SpaceFacts, Unread};
use mintage_lease::request::Shown;
use mintage_lease::space::Kind;
use mintage_lease::store::{Deadline, OpenOptions, open};
use std::time::Duration;

/// Fills in the spaces of the store at a URL.
pub(crate) async fn read(url: &str, catalog: &mut Catalog) {
    let listed = async {
        let store = open(url, OpenOptions { allows_unsafe: true, ..OpenOptions::default() })?;
        store.list(Deadline::after(Duration::from_secs(5))).await
    };
    match listed.await {
        Ok(spaces) => {
            let live = spaces.iter().filter(|shown| shown.dropped.is_none());
            catalog.spaces = live.map(facts).collect();
        }
        // The keys of the database are worth telling all the same.
        Err(error) => catalog.passed_over.push(PassedOver {
            schema: "mintage".to_owned(),
            name: "space".to_owned(),
            why: Unread::Denied(error.to_string()),
        }),
    }
}

fn facts(shown: &Shown) -> SpaceFacts {
    let name = shown.space.name.clone();
    match &shown.space.kind {
        Kind::Blocks(terms) => {
            let (current, limit) = (i128::from(shown.state.block.next) - 1, i128::from(terms.last));
            SpaceFacts { name, what: "blocks".to_owned(), current, limit }
        }
        Kind::Scopes(terms) => {
            // The furthest of them.
            let (current, limit) = (i128::from(shown.state.high_mark.max(1)) - 1, i128::from(terms.last));
            SpaceFacts { name, what: "scopes".to_owned(), current, limit }
        }
        Kind::Windows(windows) => {
            let base = windows.terms.base;
            let now = base.tick_at(shown.now).unwrap_or(0);
            let current = i128::from(now.max(shown.state.high_mark));
            SpaceFacts { name, what: "ticks".to_owned(), current, limit: i128::from(windows.terms.last_tick) }
        }
    }
}
