//! Counters that grow without being keys: how many, which version, how often; by their names, as nothing else tells.

use crate::catalog::{Catalog, Column, ColumnAt, Feed, Kind, TableKind};
use crate::names;

/// Integer columns of 16 to 32 bits that are called as counters are, hand out no key and refer to none.
#[must_use]
pub fn counters(catalog: &Catalog) -> Vec<ColumnAt> {
    let referring = catalog.referring();
    let mut found = Vec::new();
    for (at, table, column) in catalog.columns() {
        // What a table inherits counts with its parent, whose type is the only one that can be changed.
        let is_part = table.parent.is_some_and(|parent| {
            table.kind != TableKind::Child || catalog.tables[parent].find(&column.name).is_some()
        });
        let is_key = table.is_in_primary_key(&column.name) || table.is_unique(&column.name);
        if is_narrow(column)
            && !is_part
            && !is_key
            && !referring.contains(&at)
            && names::is_counter(&column.name)
        {
            found.push(at);
        }
    }
    found
}

/// The same column in the tables that inherit it, however deep.
#[must_use]
pub fn inherited(catalog: &Catalog, at: ColumnAt) -> Vec<ColumnAt> {
    let name = &catalog.column(at).name;
    let (mut found, mut open) = (Vec::new(), vec![at.table]);
    while let Some(parent) = open.pop() {
        for (index, table) in catalog.tables.iter().enumerate() {
            if table.kind == TableKind::Child && table.parent == Some(parent) {
                found.extend(table.find(name).map(|column| ColumnAt { table: index, column }));
                open.push(index);
            }
        }
    }
    found
}

/// From 16 to 32 bits: whoever takes less means a small number.
fn is_narrow(column: &Column) -> bool {
    let is_plain = !column.is_array && !column.is_generated && column.feed == Feed::None;
    is_plain && matches!(column.kind, Kind::Int { bits: 16..=32, .. })
}
