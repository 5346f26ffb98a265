//! Catalogs in a few words, for examples and tests.

use super::{
    Catalog, Column, ColumnAt, Dialect, Extreme, Feed, ForeignKey, Index, Kind, Reading, Sequence, Table,
    Unread,
};

impl Catalog {
    /// With one more table.
    #[must_use]
    pub fn with(mut self, table: Table) -> Self {
        self.tables.push(table);
        self
    }

    /// With a database sequence that feeds a column as a default.
    ///
    /// # Panics
    /// When there is no such column.
    #[must_use]
    pub fn fed(mut self, column: &str, mut sequence: Sequence) -> Self {
        let at = self.at(column);
        sequence.owner = Some(at);
        let feed = Feed::Sequence { sequence: self.sequences.len(), is_identity: false, is_default: true };
        self.column_mut(at).feed = feed;
        self.sequences.push(sequence);
        self
    }

    /// With a foreign key of one column: `orders.user_id` refers to `users.id`.
    ///
    /// # Panics
    /// When there are no such columns.
    #[must_use]
    pub fn refers(mut self, from: &str, to: &str) -> Self {
        let pairs = vec![(self.at(from), self.at(to))];
        self.foreign_keys.push(ForeignKey { name: format!("{from}_fkey"), pairs });
        self
    }

    /// With a column changed.
    ///
    /// # Panics
    /// When there is no such column.
    #[must_use]
    pub fn changed(mut self, column: &str, change: impl FnOnce(&mut Column)) -> Self {
        let at = self.at(column);
        change(self.column_mut(at));
        self
    }

    /// Where `table.column` is.
    ///
    /// # Panics
    /// When it isn't.
    #[must_use]
    pub fn at(&self, column: &str) -> ColumnAt {
        let (table, column) = column.rsplit_once('.').expect("table.column");
        let table = self.tables.iter().position(|t| t.name == table).expect("a table of the sketch");
        let column = self.tables[table].find(column).expect("a column of the sketch");
        ColumnAt { table, column }
    }
}

impl Table {
    /// An empty table in the schema `public`.
    #[must_use]
    pub fn of(name: &str) -> Self {
        Self { schema: "public".to_owned(), name: name.to_owned(), ..Self::default() }
    }

    /// With a column.
    #[must_use]
    pub fn column(mut self, name: &str, declared: &str, kind: Kind) -> Self {
        self.columns.push(Column::of(name, declared, kind));
        self
    }

    /// With a primary key.
    #[must_use]
    pub fn primary(mut self, columns: &[&str]) -> Self {
        self.indexes.push(Index {
            columns: columns.iter().map(|&name| name.to_owned()).collect(),
            is_unique: true,
            is_primary: true,
            is_ordered: true,
            is_partial: false,
        });
        self
    }
}

impl Column {
    /// A column that nothing feeds.
    #[must_use]
    pub fn of(name: &str, declared: &str, kind: Kind) -> Self {
        Self {
            name: name.to_owned(),
            declared: declared.to_owned(),
            kind,
            is_array: false,
            default: None,
            feed: Feed::None,
            is_generated: false,
            checked_to: None,
            generated_from: None,
            ignores_case: false,
            extreme: Extreme::Unread(Unread::NotAsked),
            apart: None,
            place: None,
        }
    }
}

impl Sequence {
    /// An ascending sequence from 1, of this many bits.
    #[must_use]
    pub fn of(name: &str, bits: u32, reading: Reading) -> Self {
        let declared = match bits {
            16 => "smallint",
            32 => "integer",
            _ => "bigint",
        };
        Self {
            schema: "public".to_owned(),
            name: name.to_owned(),
            declared: declared.to_owned(),
            start: 1,
            min: 1,
            max: (1 << (bits - 1)) - 1,
            increment: 1,
            cache: 1,
            cycles: false,
            owner: None,
            reading,
            is_ahead: false,
            is_unlogged: false,
            place: None,
        }
    }
}

/// `users(id bigint)` and `orders(id bigint, user_id)` of this many bits, fed by sequences; users have come to `last`.
#[must_use]
pub fn users_and_orders(dialect: Dialect, bits: u32, last: i128) -> Catalog {
    let declared = if bits == 64 { "bigint" } else { "integer" };
    let users = Table::of("users").column("id", "bigint", Kind::int(64)).primary(&["id"]);
    let orders = Table::of("orders").column("id", "bigint", Kind::int(64));
    let orders = orders.column("user_id", declared, Kind::int(bits)).primary(&["id"]);
    Catalog::of(dialect)
        .with(users)
        .with(orders)
        .fed("users.id", Sequence::of("users_id_seq", 64, Reading::Value(last)))
        .fed("orders.id", Sequence::of("orders_id_seq", 64, Reading::Value(7)))
}
