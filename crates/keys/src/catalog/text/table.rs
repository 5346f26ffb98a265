//! Tables as they are defined: columns with their options, constraints, partitions.

use super::apply::{folded, fresh_sequence, index_columns, named, no_column, shape, unknown, with_options};
use super::draft::{Draft, DraftColumn, DraftIndex, DraftSequence, DraftTable, Name, Reference};
use super::like::Takes;
use super::types::Shape;
use crate::catalog::{Column, Dialect, Kind, Place, TableKind};
use sqlparser::ast::{
    ColumnDef, ColumnOption, ConstraintUsingIndex, CreateTable, CreateTableLikeKind, CreateTableOptions,
    DataType, Expr, GeneratedAs, Ident, IndexColumn, ObjectName, SequenceOptions, SqliteTableOption,
    TableConstraint,
};
use sqlparser::tokenizer::Span;

/// One statement about a table.
pub(super) struct Defining<'a> {
    pub(super) draft: &'a mut Draft,
    place: &'a Place,
}

impl<'a> Defining<'a> {
    pub(super) const fn of(draft: &'a mut Draft, place: &'a Place) -> Self {
        Self { draft, place }
    }

    /// The place of something within the statement.
    pub(super) fn at(&self, span: Span) -> Place {
        Place { file: self.place.file.clone(), line: self.place.line + span.start.line.saturating_sub(1) }
    }

    /// A table, with what it takes from others.
    pub(super) fn create(&mut self, table: CreateTable, likes: &[(Name, Takes)]) -> Result<(), String> {
        let name = named(self.draft, &table.name)?;
        if table.temporary || (table.if_not_exists && self.draft.table(&name).is_some()) {
            return Ok(());
        }
        let mut fresh = DraftTable {
            schema: name.schema.clone(),
            name: name.name.clone(),
            is_dropped: false,
            kind: TableKind::Plain,
            parent: None,
            engine: None,
            without_rowid: table.sqlite_table_options.options.contains(&SqliteTableOption::WithoutRowid),
            ignores_case: false,
            place: self.place.clone(),
            columns: Vec::new(),
            indexes: Vec::new(),
            references: Vec::new(),
        };
        options(&mut fresh, &table.table_options);
        if let Some(parent) = &table.partition_of {
            self.inherit(&mut fresh, parent, TableKind::Partition)?;
        }
        for parent in table.inherits.iter().flatten() {
            self.inherit(&mut fresh, parent, TableKind::Child)?;
        }
        if let Some(CreateTableLikeKind::Parenthesized(like) | CreateTableLikeKind::Plain(like)) = &table.like
        {
            self.copy(&mut fresh, &like.name)?;
        }
        let mut identities = Vec::new();
        for (from, takes) in likes {
            let from = self.draft.table(from).ok_or_else(|| unknown("table", from))?;
            self.copy_columns(&mut fresh, from, *takes);
            identities.extend(self.draft.identities(from).into_iter().filter(|_| takes.identity));
        }
        if table.partition_by.is_some() {
            fresh.kind = TableKind::Partitioned;
        }
        let number = self.draft.add_table(fresh);
        for name in identities {
            if let Some(column) = self.draft.column(number, &name) {
                self.identity(number, column, None, None)?;
            }
        }
        for column in &table.columns {
            self.add_column(number, column)?;
        }
        for constraint in &table.constraints {
            self.add_constraint(number, constraint)?;
        }
        Ok(())
    }

    pub(super) fn known(&self, name: &ObjectName) -> Result<usize, String> {
        let name = named(self.draft, name)?;
        self.draft.table(&name).ok_or_else(|| unknown("table", &name))
    }

    /// Columns of a parent; keys aren't inherited but by partitions.
    fn inherit(&self, table: &mut DraftTable, parent: &ObjectName, kind: TableKind) -> Result<(), String> {
        let parent = self.known(parent)?;
        table.parent.get_or_insert(parent);
        table.kind = kind;
        self.copy_columns(table, parent, Takes { indexes: kind == TableKind::Partition, ..Takes::ALL });
        Ok(())
    }

    /// CREATE TABLE … LIKE of MySQL, which copies all.
    fn copy(&self, table: &mut DraftTable, from: &ObjectName) -> Result<(), String> {
        let from = self.known(from)?;
        self.copy_columns(table, from, Takes::ALL);
        Ok(())
    }

    fn copy_columns(&self, table: &mut DraftTable, from: usize, takes: Takes) {
        let from = &self.draft.tables[from];
        let mut places: Vec<Option<usize>> = Vec::with_capacity(from.columns.len());
        for column in &from.columns {
            let is_known = table.columns.iter().any(|known| known.column.name == column.column.name);
            places.push((!column.is_dropped && !is_known).then_some(table.columns.len()));
            if !column.is_dropped && !is_known {
                let mut copy = column.clone();
                copy.column.is_generated &= takes.generated;
                if !takes.defaults {
                    (copy.column.default, copy.asks) = (None, Vec::new());
                }
                table.columns.push(copy);
            }
        }
        for index in from.indexes.iter().filter(|_| takes.indexes) {
            let columns = index.columns.iter().map(|column| column.and_then(|at| places[at])).collect();
            table.indexes.push(DraftIndex { columns, ..index.clone() });
        }
    }

    pub(super) fn add_column(&mut self, table: usize, definition: &ColumnDef) -> Result<(), String> {
        let name = folded(self.draft, &definition.name);
        let place = self.at(definition.name.span);
        // A column that a parent brought may be said again.
        let before = self.draft.column(table, &name);
        let column = Column { place: Some(place), ..Column::of(&name, "", Kind::Other) };
        let fresh = DraftColumn { column, is_dropped: false, is_auto: false, asks: Vec::new() };
        let column = match before {
            Some(before) => before,
            None => self.draft.add_column(table, fresh)?,
        };
        let options = definition.options.iter().map(|option| (option.name.as_ref(), &option.option));
        let options: Vec<(Option<&Ident>, &ColumnOption)> = options.collect();
        self.define(table, column, &definition.data_type, &options)
    }

    /// Gives a column its type and options.
    pub(super) fn define(
        &mut self,
        table: usize,
        column: usize,
        data_type: &DataType,
        options: &[(Option<&Ident>, &ColumnOption)],
    ) -> Result<(), String> {
        // A type with a collation: `text COLLATE "C"`.
        let (data_type, collation) = match data_type {
            DataType::Collate(data_type, collation) => (&**data_type, Some(collation.to_string())),
            data_type => (data_type, None),
        };
        let shape = shape(self.draft, &data_type.to_string());
        self.retype(table, column, &shape);
        if let Some(collation) = collation {
            self.collate(table, column, &collation);
        }
        if shape.is_serial {
            self.serial(table, column, &shape)?;
        }
        for (name, option) in options {
            self.option(table, column, *name, option)?;
        }
        Ok(())
    }

    pub(super) fn retype(&mut self, table: usize, column: usize, shape: &Shape) {
        let ignores_case = shape.ignores_case
            || (self.draft.tables[table].ignores_case && matches!(shape.kind, Kind::Text { .. }));
        let column = &mut self.draft.tables[table].columns[column].column;
        column.declared.clone_from(&shape.declared);
        (column.kind, column.is_array, column.ignores_case) = (shape.kind, shape.is_array, ignores_case);
    }

    fn collate(&mut self, table: usize, column: usize, collation: &str) {
        let collation = collation.to_ascii_lowercase();
        let ignores_case = match self.draft.dialect {
            Dialect::Sqlite => collation == "nocase",
            dialect if dialect.is_mysql_like() => collation.contains("_ci"),
            // What a collation of PostgreSQL ignores is defined elsewhere.
            _ => return,
        };
        self.draft.tables[table].columns[column].column.ignores_case = ignores_case;
    }

    /// `serial` is an integer, a sequence that belongs to it and a default; of MySQL, AUTO_INCREMENT and UNIQUE.
    fn serial(&mut self, table: usize, column: usize, shape: &Shape) -> Result<(), String> {
        if self.draft.dialect.is_mysql_like() {
            self.draft.tables[table].columns[column].is_auto = true;
            return self.unique(table, None, vec![Some(column)], false);
        }
        let sequence = self.own_sequence(table, column, shape, None, &[], false)?;
        let name = &self.draft.sequences[sequence].sequence;
        let quoted = |name: &str| self.draft.dialect.quoted(name).replace('\'', "''");
        let default = format!("nextval('{}.{}'::regclass)", quoted(&name.schema), quoted(&name.name));
        let draft = &mut self.draft.tables[table].columns[column];
        draft.column.default = Some(default);
        draft.asks = vec![sequence];
        Ok(())
    }

    /// A sequence that belongs to a column.
    fn own_sequence(
        &mut self,
        table: usize,
        column: usize,
        shape: &Shape,
        name: Option<Name>,
        options: &[SequenceOptions],
        is_identity: bool,
    ) -> Result<usize, String> {
        let of = &self.draft.tables[table];
        let name = name.unwrap_or_else(|| Name {
            schema: of.schema.clone(),
            name: format!("{}_{}_seq", of.name, of.columns[column].column.name),
        });
        let place = of.columns[column].column.place.clone();
        let sequence = fresh_sequence(self.draft, &name, Some(shape), place.as_ref());
        let (sequence, _) = with_options(self.draft, sequence, options)?;
        let sequence = DraftSequence { sequence, is_dropped: false, owner: None, is_identity };
        let number = self.draft.add_sequence(sequence);
        self.draft.own(number, Some((table, column)));
        Ok(number)
    }

    pub(super) fn identity(
        &mut self,
        table: usize,
        column: usize,
        name: Option<Name>,
        options: Option<&[SequenceOptions]>,
    ) -> Result<(), String> {
        let shape = shape(self.draft, &self.draft.tables[table].columns[column].column.declared.clone());
        self.own_sequence(table, column, &shape, name, options.unwrap_or_default(), true).map(|_| ())
    }

    pub(super) fn set_default(&mut self, table: usize, column: usize, value: Option<&Expr>) {
        let mut default = value.map(ToString::to_string);
        if let Some(text) = &mut default {
            let is_call = text.get(..8).is_some_and(|start| start.eq_ignore_ascii_case("nextval("));
            if is_call {
                text.replace_range(..8, "nextval(");
            }
        }
        let asks = default.as_deref().map(|text| self.draft.asked(&self.draft.tables[table].schema, text));
        let draft = &mut self.draft.tables[table].columns[column];
        draft.asks = asks.unwrap_or_default();
        draft.column.default = default.filter(|default| !default.eq_ignore_ascii_case("null"));
    }

    fn option(
        &mut self,
        table: usize,
        column: usize,
        name: Option<&Ident>,
        option: &ColumnOption,
    ) -> Result<(), String> {
        let name = name.map(|name| folded(self.draft, name));
        match option {
            ColumnOption::PrimaryKey(_) => self.unique(table, name, vec![Some(column)], true),
            ColumnOption::Unique(_) => self.unique(table, name, vec![Some(column)], false),
            ColumnOption::ForeignKey(key) => {
                self.refer(table, name, vec![column], &key.foreign_table, &key.referred_columns)
            }
            ColumnOption::Default(value) => {
                self.set_default(table, column, Some(value));
                Ok(())
            }
            ColumnOption::Generated { generation_expr: Some(_), .. }
            | ColumnOption::Generated { generated_as: GeneratedAs::ExpStored, .. } => {
                self.draft.tables[table].columns[column].column.is_generated = true;
                Ok(())
            }
            ColumnOption::Generated { sequence_options, .. } => {
                self.identity(table, column, None, sequence_options.as_deref())
            }
            ColumnOption::Collation(collation) => {
                self.collate(table, column, &collation.to_string());
                Ok(())
            }
            ColumnOption::CharacterSet(charset) => {
                // Every set of MySQL but `binary` compares without case where no collation follows.
                let is_binary = charset.to_string().eq_ignore_ascii_case("binary");
                self.draft.tables[table].columns[column].column.ignores_case = !is_binary;
                Ok(())
            }
            ColumnOption::DialectSpecific(tokens) => {
                let words: Vec<String> =
                    tokens.iter().map(|token| token.to_string().to_ascii_uppercase()).collect();
                if words.iter().any(|word| ["AUTO_INCREMENT", "AUTOINCREMENT"].contains(&word.as_str())) {
                    self.draft.tables[table].columns[column].is_auto = true;
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn unique(
        &mut self,
        table: usize,
        name: Option<String>,
        columns: Vec<Option<usize>>,
        is_primary: bool,
    ) -> Result<(), String> {
        let of = &self.draft.tables[table];
        if is_primary && of.indexes.iter().any(|index| index.is_primary) {
            return Err(format!("{} has a primary key already", of.name));
        }
        let names: Vec<&str> =
            columns.iter().flatten().map(|&column| of.columns[column].column.name.as_str()).collect();
        let name = match (name, is_primary, self.draft.dialect.is_mysql_like()) {
            (_, true, true) => "PRIMARY".to_owned(),
            (Some(name), ..) => name,
            (None, true, false) => format!("{}_pkey", of.name),
            (None, false, true) => names.first().copied().unwrap_or_default().to_owned(),
            (None, false, false) => format!("{}_{}_key", of.name, names.join("_")),
        };
        let index =
            DraftIndex { name, columns, is_unique: true, is_primary, is_ordered: true, is_partial: false };
        self.draft.add_index(table, index)
    }

    fn refer(
        &mut self,
        table: usize,
        name: Option<String>,
        from: Vec<usize>,
        to: &ObjectName,
        columns: &[Ident],
    ) -> Result<(), String> {
        let to = named(self.draft, to)?;
        let columns: Vec<String> = columns.iter().map(|column| folded(self.draft, column)).collect();
        let of = &self.draft.tables[table];
        let name = name.unwrap_or_else(|| match self.draft.dialect {
            Dialect::Postgres => {
                let names: Vec<&str> = from.iter().map(|&at| of.columns[at].column.name.as_str()).collect();
                format!("{}_{}_fkey", of.name, names.join("_"))
            }
            _ => format!("{}_ibfk_{}", of.name, of.references.len() + 1),
        });
        let to = self.draft.referred(to, columns);
        self.draft.add_reference(table, Reference { name, from, to })
    }

    fn columns(&self, table: usize, names: &[Ident]) -> Result<Vec<usize>, String> {
        let find = |ident: &Ident| {
            let name = folded(self.draft, ident);
            self.draft.column(table, &name).ok_or_else(|| no_column(&self.draft.tables[table], &name))
        };
        names.iter().map(find).collect()
    }

    pub(super) fn add_constraint(
        &mut self,
        table: usize,
        constraint: &TableConstraint,
    ) -> Result<(), String> {
        let name = |ident: &Option<Ident>| ident.as_ref().map(|ident| folded(self.draft, ident));
        let columns = |columns: &[IndexColumn]| index_columns(self.draft, table, columns);
        match constraint {
            TableConstraint::PrimaryKey(key) => {
                let (name, columns) = (name(&key.name), columns(&key.columns));
                self.unique(table, name, columns, true)
            }
            TableConstraint::Unique(key) => {
                let (name, columns) =
                    (name(&key.name).or_else(|| name(&key.index_name)), columns(&key.columns));
                self.unique(table, name, columns, false)
            }
            TableConstraint::ForeignKey(key) => {
                let (name, from) = (name(&key.name), self.columns(table, &key.columns)?);
                self.refer(table, name, from, &key.foreign_table, &key.referred_columns)
            }
            TableConstraint::Index(key) => {
                let (name, columns) = (name(&key.name).unwrap_or_default(), columns(&key.columns));
                let index = DraftIndex {
                    name,
                    columns,
                    is_unique: false,
                    is_primary: false,
                    is_ordered: true,
                    is_partial: false,
                };
                self.draft.add_index(table, index)
            }
            TableConstraint::PrimaryKeyUsingIndex(using) => self.adopt(table, using, true),
            TableConstraint::UniqueUsingIndex(using) => self.adopt(table, using, false),
            TableConstraint::Check(_)
            | TableConstraint::Exclude(_)
            | TableConstraint::FulltextOrSpatial(_) => Ok(()),
        }
    }

    /// ADD CONSTRAINT … USING INDEX: the index takes the constraint's name.
    fn adopt(&mut self, table: usize, using: &ConstraintUsingIndex, is_primary: bool) -> Result<(), String> {
        let index = folded(self.draft, &using.index_name);
        let name = using.name.as_ref().map_or_else(|| index.clone(), |name| folded(self.draft, name));
        let found = self.draft.tables[table].indexes.iter_mut().find(|known| known.name == index);
        let found = found.ok_or_else(|| format!("the index {index} isn't defined in what was read"))?;
        (found.is_primary, found.name) = (is_primary, name);
        Ok(())
    }
}

/// Engine and collation of a table of MySQL.
fn options(table: &mut DraftTable, options: &CreateTableOptions) {
    let CreateTableOptions::Plain(options) = options else { return };
    let mut has_collation = false;
    for option in options {
        let text = option.to_string();
        let Some((key, value)) = text.split_once('=') else { continue };
        let (key, value) = (key.trim().to_ascii_uppercase(), value.trim());
        if key == "ENGINE" {
            table.engine = Some(value.to_owned());
        } else if key.ends_with("COLLATE") {
            has_collation = true;
            table.ignores_case = value.to_ascii_lowercase().contains("_ci");
        } else if (key.ends_with("CHARSET") || key.ends_with("CHARACTER SET")) && !has_collation {
            table.ignores_case = !value.eq_ignore_ascii_case("binary");
        }
    }
}
