//! The catalog while statements come in: tables that are altered, renamed and dropped, and references to what isn't there yet.
//!
//! Tables and columns keep their place once they are made, so that a new name changes nothing that refers to them.

use crate::catalog::{
    Catalog, Column, ColumnAt, Dialect, Feed, ForeignKey, Grows, Index, Kind, Place, Reading, Sequence,
    Table, TableKind, feeds,
};
use std::collections::{BTreeMap, HashMap};

/// Columns, indexes and references that a table may have: more than any server allows.
const MOST: usize = 4_096;

/// Schema and name, as the dialect compares them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Name {
    pub(super) schema: String,
    pub(super) name: String,
}

/// A column by its places in [`Draft::tables`] and [`DraftTable::columns`].
pub(super) type At = (usize, usize);

pub(super) struct Draft {
    pub(super) dialect: Dialect,
    /// Where names without a schema belong.
    pub(super) schema: String,
    pub(super) tables: Vec<DraftTable>,
    names: HashMap<Name, usize>,
    pub(super) sequences: Vec<DraftSequence>,
    sequence_names: HashMap<Name, usize>,
    /// The sequences that belong to columns of a table.
    owned: HashMap<usize, Vec<usize>>,
    /// What domains stand for.
    pub(super) domains: HashMap<Name, super::types::Shape>,
    /// The tables of indexes, by the indexes' names.
    indexes: HashMap<Name, usize>,
}

#[derive(Clone)]
pub(super) struct DraftTable {
    pub(super) schema: String,
    pub(super) name: String,
    pub(super) is_dropped: bool,
    pub(super) kind: TableKind,
    pub(super) parent: Option<usize>,
    pub(super) engine: Option<String>,
    pub(super) without_rowid: bool,
    /// Whether texts ignore upper and lower case where their column doesn't say.
    pub(super) ignores_case: bool,
    pub(super) place: Place,
    pub(super) columns: Vec<DraftColumn>,
    pub(super) indexes: Vec<DraftIndex>,
    pub(super) references: Vec<Reference>,
}

#[derive(Clone)]
pub(super) struct DraftColumn {
    pub(super) column: Column,
    pub(super) is_dropped: bool,
    /// AUTO_INCREMENT, or AUTOINCREMENT of SQLite.
    pub(super) is_auto: bool,
    /// The sequences that its default asks, as far as they were there when it was given.
    pub(super) asks: Vec<usize>,
}

#[derive(Clone)]
pub(super) struct DraftIndex {
    pub(super) name: String,
    /// `None` for an expression.
    pub(super) columns: Vec<Option<usize>>,
    pub(super) is_unique: bool,
    pub(super) is_primary: bool,
    pub(super) is_ordered: bool,
    pub(super) is_partial: bool,
}

/// A foreign key.
#[derive(Clone)]
pub(super) struct Reference {
    pub(super) name: String,
    pub(super) from: Vec<usize>,
    pub(super) to: Referred,
}

/// What a foreign key refers to.
#[derive(Clone)]
pub(super) enum Referred {
    Columns(Vec<At>),
    /// What wasn't there when the key was made; no columns stand for the primary key.
    Named(Name, Vec<String>),
}

pub(super) struct DraftSequence {
    pub(super) sequence: Sequence,
    pub(super) is_dropped: bool,
    pub(super) owner: Option<At>,
    pub(super) is_identity: bool,
}

impl Draft {
    pub(super) fn of(dialect: Dialect) -> Self {
        let schema = match dialect {
            Dialect::Sqlite => "main",
            dialect if dialect.is_mysql_like() => "",
            _ => "public",
        };
        Self {
            dialect,
            schema: schema.to_owned(),
            tables: Vec::new(),
            names: HashMap::new(),
            sequences: Vec::new(),
            sequence_names: HashMap::new(),
            owned: HashMap::new(),
            domains: HashMap::new(),
            indexes: HashMap::new(),
        }
    }

    /// A name as it is compared: of PostgreSQL as it is, of the others without case.
    pub(super) fn key(&self, schema: &str, name: &str) -> Name {
        let fold = |text: &str| match self.dialect {
            Dialect::MariaDb | Dialect::MySql | Dialect::Sqlite => text.to_lowercase(),
            _ => text.to_owned(),
        };
        Name { schema: fold(schema), name: fold(name) }
    }

    pub(super) fn table(&self, name: &Name) -> Option<usize> {
        self.names.get(&self.key(&name.schema, &name.name)).copied()
    }

    pub(super) fn column(&self, table: usize, name: &str) -> Option<usize> {
        let is_exact = !matches!(self.dialect, Dialect::MariaDb | Dialect::MySql | Dialect::Sqlite);
        self.tables[table].columns.iter().position(|column| {
            let found = &column.column.name;
            !column.is_dropped
                && (found == name || (!is_exact && found.to_lowercase() == name.to_lowercase()))
        })
    }

    /// Puts a table under its name; one that has it already goes.
    pub(super) fn add_table(&mut self, table: DraftTable) -> usize {
        let key = self.key(&table.schema, &table.name);
        if let Some(&before) = self.names.get(&key) {
            self.drop_table(before);
        }
        self.tables.push(table);
        self.names.insert(key, self.tables.len() - 1);
        self.tables.len() - 1
    }

    pub(super) fn rename_table(&mut self, table: usize, to: Name) {
        let before = self.key(&self.tables[table].schema, &self.tables[table].name);
        self.names.remove(&before);
        self.names.insert(self.key(&to.schema, &to.name), table);
        (self.tables[table].schema, self.tables[table].name) = (to.schema, to.name);
    }

    /// Puts a table into another schema; what belongs to its columns and its indexes go along.
    pub(super) fn move_table(&mut self, table: usize, to: Name) {
        for index in self.tables[table].indexes.iter().map(|index| index.name.clone()).collect::<Vec<_>>() {
            let before = self.key(&self.tables[table].schema, &index);
            self.indexes.remove(&before);
            self.indexes.insert(self.key(&to.schema, &index), table);
        }
        for sequence in self.owned.get(&table).cloned().unwrap_or_default() {
            let draft = &self.sequences[sequence];
            if !draft.is_dropped && draft.owner.is_some_and(|owner| owner.0 == table) {
                let name = draft.sequence.name.clone();
                self.rename_sequence(sequence, Name { schema: to.schema.clone(), name });
            }
        }
        self.rename_table(table, to);
    }

    /// Drops a table with the sequences that belong to it.
    pub(super) fn drop_table(&mut self, table: usize) {
        let key = self.key(&self.tables[table].schema, &self.tables[table].name);
        self.names.remove(&key);
        for index in std::mem::take(&mut self.tables[table].indexes) {
            let key = self.key(&self.tables[table].schema, &index.name);
            self.indexes.remove(&key);
        }
        self.tables[table].is_dropped = true;
        self.drop_owned(table, |owner| owner.0 == table);
    }

    pub(super) fn drop_column(&mut self, table: usize, column: usize) {
        let draft = &mut self.tables[table];
        draft.columns[column].is_dropped = true;
        draft.indexes.retain(|index| !index.columns.contains(&Some(column)));
        draft.references.retain(|reference| !reference.from.contains(&column));
        self.drop_owned(table, |owner| owner == (table, column));
    }

    fn drop_owned(&mut self, table: usize, is_owner: impl Fn(At) -> bool) {
        for sequence in self.owned.get(&table).cloned().unwrap_or_default() {
            if self.sequences[sequence].owner.is_some_and(&is_owner) {
                self.drop_sequence(sequence);
            }
        }
    }

    pub(super) fn own(&mut self, sequence: usize, owner: Option<At>) {
        self.sequences[sequence].owner = owner;
        if let Some((table, _)) = owner {
            self.owned.entry(table).or_default().push(sequence);
        }
    }

    /// The identity columns of a table, by name.
    pub(super) fn identities(&self, table: usize) -> Vec<String> {
        let owned = self.owned.get(&table).into_iter().flatten().map(|&sequence| &self.sequences[sequence]);
        let columns =
            owned.filter(|draft| draft.is_identity && !draft.is_dropped).filter_map(|draft| draft.owner);
        columns.map(|(table, column)| self.tables[table].columns[column].column.name.clone()).collect()
    }

    pub(super) fn add_column(&mut self, table: usize, column: DraftColumn) -> Result<usize, String> {
        let columns = &mut self.tables[table].columns;
        if columns.len() >= MOST {
            return Err(format!("more than {MOST} columns in a table"));
        }
        columns.push(column);
        Ok(columns.len() - 1)
    }

    pub(super) fn add_index(&mut self, table: usize, index: DraftIndex) -> Result<(), String> {
        if self.tables[table].indexes.len() >= MOST {
            return Err(format!("more than {MOST} indexes on a table"));
        }
        let key = self.key(&self.tables[table].schema, &index.name);
        self.indexes.insert(key, table);
        self.tables[table].indexes.push(index);
        Ok(())
    }

    pub(super) fn add_reference(&mut self, table: usize, reference: Reference) -> Result<(), String> {
        let references = &mut self.tables[table].references;
        if references.len() >= MOST {
            return Err(format!("more than {MOST} foreign keys of a table"));
        }
        references.push(reference);
        Ok(())
    }

    /// Removes whatever of a table has this name: a unique constraint, an index, a foreign key. Whether there was one.
    pub(super) fn drop_constraint(&mut self, table: usize, name: &str) -> bool {
        let draft = &mut self.tables[table];
        let before = draft.indexes.len() + draft.references.len();
        draft.indexes.retain(|index| !index.name.eq_ignore_ascii_case(name));
        draft.references.retain(|reference| !reference.name.eq_ignore_ascii_case(name));
        before > draft.indexes.len() + draft.references.len()
    }

    /// The table of the index of this name.
    pub(super) fn index_owner(&self, name: &Name) -> Option<usize> {
        self.indexes.get(&self.key(&name.schema, &name.name)).copied()
    }

    pub(super) fn sequence(&self, name: &Name) -> Option<usize> {
        self.sequence_names.get(&self.key(&name.schema, &name.name)).copied()
    }

    pub(super) fn add_sequence(&mut self, sequence: DraftSequence) -> usize {
        let key = self.key(&sequence.sequence.schema, &sequence.sequence.name);
        if let Some(&before) = self.sequence_names.get(&key) {
            self.drop_sequence(before);
        }
        self.sequences.push(sequence);
        self.sequence_names.insert(key, self.sequences.len() - 1);
        self.sequences.len() - 1
    }

    /// The sequences that a default of a table in this schema asks.
    pub(super) fn asked(&self, schema: &str, default: &str) -> Vec<usize> {
        let find = |schema: &str, name: &str| {
            self.sequence(&Name { schema: schema.to_owned(), name: name.to_owned() })
        };
        let asked = feeds::asked(default).into_iter().filter_map(|parts| match &parts[..] {
            [schema, name] => find(schema, name),
            [name] => find(schema, name).or_else(|| find(&self.schema, name)),
            _ => None,
        });
        asked.collect()
    }

    /// The sequence of an identity column gets the column's type with it, and its bound where that was the type's. A serial's doesn't.
    pub(super) fn widen_identity(&mut self, at: At, before: Kind, after: Kind) {
        let dialect = self.dialect;
        for &number in self.owned.get(&at.0).into_iter().flatten() {
            let draft = &mut self.sequences[number];
            if draft.owner != Some(at) || !draft.is_identity || draft.is_dropped {
                continue;
            }
            let sequence = &mut draft.sequence;
            let is_up = sequence.increment > 0;
            let (was, is) = (
                default_bounds(before, sequence.increment, dialect),
                default_bounds(after, sequence.increment, dialect),
            );
            match is_up {
                true if sequence.max == was.1 => sequence.max = is.1,
                false if sequence.min == was.0 => sequence.min = is.0,
                _ => {}
            }
            self.tables[at.0].columns[at.1].column.declared.clone_into(&mut sequence.declared);
        }
    }

    /// Drops a schema with what is in it.
    pub(super) fn drop_schema(&mut self, schema: &str) {
        let key = self.key(schema, "").schema;
        let tables: Vec<usize> =
            self.names.iter().filter(|(name, _)| name.schema == key).map(|(_, &table)| table).collect();
        for table in tables {
            self.drop_table(table);
        }
        let names = self.sequence_names.iter().filter(|(name, _)| name.schema == key);
        for sequence in names.map(|(_, &sequence)| sequence).collect::<Vec<_>>() {
            self.drop_sequence(sequence);
        }
    }

    pub(super) fn rename_sequence(&mut self, sequence: usize, to: Name) {
        let draft = &self.sequences[sequence].sequence;
        let before = self.key(&draft.schema, &draft.name);
        self.sequence_names.remove(&before);
        self.sequence_names.insert(self.key(&to.schema, &to.name), sequence);
        let draft = &mut self.sequences[sequence].sequence;
        (draft.schema, draft.name) = (to.schema, to.name);
    }

    pub(super) fn drop_sequence(&mut self, sequence: usize) {
        let draft = &mut self.sequences[sequence];
        draft.is_dropped = true;
        let (schema, name) = (draft.sequence.schema.clone(), draft.sequence.name.clone());
        self.sequence_names.remove(&self.key(&schema, &name));
    }

    /// What a foreign key refers to: columns where they are known by now.
    pub(super) fn referred(&self, table: Name, columns: Vec<String>) -> Referred {
        match self.resolved(&table, &columns) {
            Some(found) => Referred::Columns(found),
            None => Referred::Named(table, columns),
        }
    }

    fn resolved(&self, table: &Name, columns: &[String]) -> Option<Vec<At>> {
        let table = self.table(table)?;
        if !columns.is_empty() {
            return columns.iter().map(|name| Some((table, self.column(table, name)?))).collect();
        }
        let primary = self.tables[table].indexes.iter().find(|index| index.is_primary)?;
        primary.columns.iter().map(|column| Some((table, (*column)?))).collect()
    }

    /// The catalog of what is there in the end.
    pub(super) fn finish(self) -> Catalog {
        let mut catalog = Catalog::of(self.dialect);
        catalog.server.is_text = true;
        let mut places: HashMap<At, ColumnAt> = HashMap::new();
        let mut tables: HashMap<usize, usize> = HashMap::new();
        for (number, draft) in self.tables.iter().enumerate().filter(|(_, draft)| !draft.is_dropped) {
            let table = catalog.tables.len();
            tables.insert(number, table);
            let mut columns = Vec::new();
            for (column, draft) in draft.columns.iter().enumerate().filter(|(_, draft)| !draft.is_dropped) {
                places.insert((number, column), ColumnAt { table, column: columns.len() });
                columns.push(draft.column.clone());
            }
            catalog.tables.push(self.finished_table(draft, columns));
        }
        for (number, table) in &tables {
            let parent = self.tables[*number].parent;
            catalog.tables[*table].parent = parent.and_then(|parent| tables.get(&parent).copied());
        }
        self.finish_references(&mut catalog, &places);
        self.finish_feeds(&mut catalog, &places);
        catalog
    }

    fn finished_table(&self, draft: &DraftTable, columns: Vec<Column>) -> Table {
        let index = |index: &DraftIndex| Index {
            columns: index
                .columns
                .iter()
                .map(|column| column.map_or_else(String::new, |at| draft.columns[at].column.name.clone()))
                .collect(),
            is_unique: index.is_unique,
            is_primary: index.is_primary,
            is_ordered: index.is_ordered && !index.is_partial,
            is_partial: index.is_partial,
        };
        let is_innodb = draft.engine.as_ref().is_none_or(|engine| engine.eq_ignore_ascii_case("innodb"));
        Table {
            schema: draft.schema.clone(),
            name: draft.name.clone(),
            kind: draft.kind,
            engine: draft.engine.clone(),
            is_clustered: if self.dialect.is_mysql_like() { is_innodb } else { draft.without_rowid },
            columns,
            indexes: draft.indexes.iter().map(index).collect(),
            place: Some(draft.place.clone()),
            ..Table::default()
        }
    }

    fn finish_references(&self, catalog: &mut Catalog, places: &HashMap<At, ColumnAt>) {
        for (number, draft) in self.tables.iter().enumerate().filter(|(_, draft)| !draft.is_dropped) {
            for reference in &draft.references {
                let to = match &reference.to {
                    Referred::Columns(columns) => Some(columns.clone()),
                    Referred::Named(table, columns) => self.resolved(table, columns),
                };
                let pairs = reference.from.iter().zip(to.unwrap_or_default());
                let pairs: Vec<_> = pairs
                    .filter_map(|(&from, to)| Some((*places.get(&(number, from))?, *places.get(&to)?)))
                    .collect();
                if !pairs.is_empty() {
                    catalog.foreign_keys.push(ForeignKey { name: reference.name.clone(), pairs });
                }
            }
        }
    }

    fn finish_feeds(&self, catalog: &mut Catalog, places: &HashMap<At, ColumnAt>) {
        let mut owned: HashMap<ColumnAt, (usize, bool)> = HashMap::new();
        let mut sequences: HashMap<usize, usize> = HashMap::new();
        for (number, draft) in self.sequences.iter().enumerate().filter(|(_, draft)| !draft.is_dropped) {
            sequences.insert(number, catalog.sequences.len());
            let owner = draft.owner.and_then(|at| places.get(&at).copied());
            if let Some(at) = owner {
                owned.insert(at, (catalog.sequences.len(), draft.is_identity));
            }
            catalog.sequences.push(Sequence { owner, ..draft.sequence.clone() });
        }
        let names = feeds::Names::of(catalog);
        let mut found = Vec::new();
        // In the order of the text, whatever that of the map is.
        let places: BTreeMap<At, ColumnAt> = places.iter().map(|(from, to)| (*from, *to)).collect();
        for ((table, column), at) in places {
            let draft = &self.tables[table].columns[column];
            let (of, column) = (&catalog.tables[at.table], &draft.column);
            let feed = match self.dialect {
                _ if column.is_generated => Feed::None,
                Dialect::Sqlite => sqlite_feed(of, draft),
                _ if draft.is_auto => Feed::AutoIncrement { last: Reading::Unknown },
                Dialect::MariaDb | Dialect::MySql => self.mysql_feed(&sequences, of, column),
                _ => {
                    let later = || self.asked(&of.schema, column.default.as_deref().unwrap_or_default());
                    let asks = if draft.asks.is_empty() { later() } else { draft.asks.clone() };
                    let asks: Vec<usize> =
                        asks.iter().filter_map(|asked| sequences.get(asked).copied()).collect();
                    feeds::feed(&names, of, column, owned.get(&at).copied(), &asks, false)
                }
            };
            found.push((at, feed));
        }
        for (at, feed) in found {
            // In MariaDB a sequence belongs to nobody but whose default asks it.
            if let (Feed::Sequence { sequence, .. }, true) = (&feed, self.dialect.is_mysql_like()) {
                catalog.sequences[*sequence].owner.get_or_insert(at);
            }
            catalog.column_mut(at).feed = feed;
        }
    }

    /// `nextval(s)` of MariaDB; any other function that makes a number.
    fn mysql_feed(&self, sequences: &HashMap<usize, usize>, table: &Table, column: &Column) -> Feed {
        let Some(default) = column.default.as_deref() else { return Feed::None };
        let bare = default.replace('`', "").to_lowercase();
        let found = bare.trim_matches(['(', ')', ' ']).strip_prefix("nextval(").and_then(|name| {
            let (schema, name) = name.rsplit_once('.').unwrap_or((&table.schema, name));
            sequences.get(&self.sequence(&Name { schema: schema.to_owned(), name: name.to_owned() })?)
        });
        match found {
            Some(&sequence) => Feed::Sequence { sequence, is_identity: false, is_default: true },
            // Text may be computed as it likes; a number that a function makes comes from somewhere.
            None if column.kind.is_int() && default.contains('(') => Feed::Function,
            None => Feed::None,
        }
    }
}

/// An integer that is the primary key by itself is the row's own number, when it is called so.
fn sqlite_feed(table: &Table, draft: &DraftColumn) -> Feed {
    let is_key = table.primary_key().is_some_and(|key| key.columns == [draft.column.name.as_str()]);
    let is_own = is_key && !table.is_clustered && draft.column.declared.eq_ignore_ascii_case("integer");
    match (is_own, draft.is_auto) {
        (false, _) => Feed::None,
        (true, true) => Feed::AutoIncrement { last: Reading::Unknown },
        (true, false) => Feed::RowId,
    }
}

/// The bounds of a sequence whose statement names none, as `(lowest, highest)`.
pub(super) fn default_bounds(kind: Kind, increment: i128, dialect: Dialect) -> (i128, i128) {
    let (low, high) = (kind.bound(Grows::Down), kind.bound(Grows::Up));
    let (mut low, mut high) = (low.unwrap_or(i64::MIN.into()), high.unwrap_or(i64::MAX.into()));
    // MariaDB keeps the outermost values for itself.
    if dialect.is_mysql_like() {
        (low, high) = (low + 1, high - 1);
    }
    if increment < 0 { (low, -1) } else { (1, high) }
}
