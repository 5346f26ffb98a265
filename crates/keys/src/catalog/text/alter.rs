//! Tables as they are altered.

use super::apply::{folded, named, no_column, shape};
use super::draft::Name;
use super::table::Defining;
use crate::catalog::TableKind;
use sqlparser::ast::{
    AlterColumnOperation, AlterTable, AlterTableOperation, ColumnOption, DataType, Ident, RenameTableNameKind,
};

impl Defining<'_> {
    /// Each operation of ALTER TABLE. `identity` is the name that a statement of `pg_dump` gives an identity's sequence.
    pub(super) fn alter(&mut self, alter: AlterTable, identity: Option<Name>) -> Result<(), String> {
        let table = match self.known(&alter.name) {
            Ok(table) => table,
            // Owners of views and sequences are set like this too.
            Err(_)
                if alter
                    .operations
                    .iter()
                    .all(|operation| matches!(operation, AlterTableOperation::OwnerTo { .. })) =>
            {
                return Ok(());
            }
            Err(why) => return Err(why),
        };
        for operation in &alter.operations {
            self.operation(table, operation, identity.clone())?;
        }
        Ok(())
    }

    fn operation(
        &mut self,
        table: usize,
        operation: &AlterTableOperation,
        identity: Option<Name>,
    ) -> Result<(), String> {
        use AlterTableOperation as Op;
        let text = |ident: &Ident| folded(self.draft, ident);
        match operation {
            Op::AddColumn { column_def, if_not_exists, .. } => {
                match self.draft.column(table, &text(&column_def.name)) {
                    Some(_) if *if_not_exists => Ok(()),
                    Some(_) => Err(format!(
                        "{} has a column {} already",
                        self.draft.tables[table].name, column_def.name
                    )),
                    None => self.add_column(table, column_def),
                }
            }
            Op::AddConstraint { constraint, .. } => self.add_constraint(table, constraint),
            Op::DropConstraint { name, .. } | Op::DropForeignKey { name, .. } | Op::DropIndex { name } => {
                let name = text(name);
                self.draft.drop_constraint(table, &name);
                Ok(())
            }
            Op::DropPrimaryKey { .. } => {
                self.draft.tables[table].indexes.retain(|index| !index.is_primary);
                Ok(())
            }
            Op::DropColumn { column_names, if_exists, .. } => {
                for name in column_names.iter().map(text).collect::<Vec<_>>() {
                    match self.draft.column(table, &name) {
                        Some(column) => self.draft.drop_column(table, column),
                        None if *if_exists => {}
                        None => return Err(no_column(&self.draft.tables[table], &name)),
                    }
                }
                Ok(())
            }
            Op::RenameColumn { old_column_name, new_column_name } => {
                let (from, to) = (self.column(table, old_column_name)?, text(new_column_name));
                self.draft.tables[table].columns[from].column.name = to;
                Ok(())
            }
            Op::RenameConstraint { old_name, new_name } => {
                let (from, to) = (text(old_name), text(new_name));
                let draft = &mut self.draft.tables[table];
                for name in draft
                    .indexes
                    .iter_mut()
                    .map(|index| &mut index.name)
                    .chain(draft.references.iter_mut().map(|key| &mut key.name))
                {
                    if *name == from {
                        name.clone_from(&to);
                    }
                }
                Ok(())
            }
            Op::RenameTable { table_name: RenameTableNameKind::To(name) | RenameTableNameKind::As(name) } => {
                let mut to = named(self.draft, name)?;
                if name.0.len() == 1 {
                    to.schema.clone_from(&self.draft.tables[table].schema);
                }
                self.draft.rename_table(table, to);
                Ok(())
            }
            Op::ChangeColumn { old_name, new_name, data_type, options, .. } => {
                let (column, name) = (self.column(table, old_name)?, text(new_name));
                self.draft.tables[table].columns[column].column.name = name;
                self.redefine(table, column, data_type, options)
            }
            Op::ModifyColumn { col_name, data_type, options, .. } => {
                let column = self.column(table, col_name)?;
                self.redefine(table, column, data_type, options)
            }
            Op::AlterColumn { column_name, op } => self.alter_column(table, column_name, op, identity),
            Op::AttachPartitionOf { partition, .. } => {
                let part = self.known(partition)?;
                let draft = &mut self.draft.tables[part];
                draft.parent = Some(table);
                if draft.kind != TableKind::Partitioned {
                    draft.kind = TableKind::Partition;
                }
                Ok(())
            }
            Op::DetachPartitionOf { partition, .. } => {
                let part = self.known(partition)?;
                let draft = &mut self.draft.tables[part];
                draft.parent = None;
                if draft.kind != TableKind::Partitioned {
                    draft.kind = TableKind::Plain;
                }
                Ok(())
            }
            Op::Inherit { parent } => {
                let parent = self.known(parent)?;
                let draft = &mut self.draft.tables[table];
                (draft.parent, draft.kind) = (Some(parent), TableKind::Child);
                Ok(())
            }
            // The others say nothing about keys.
            _ => Ok(()),
        }
    }

    fn column(&self, table: usize, name: &Ident) -> Result<usize, String> {
        let name = folded(self.draft, name);
        self.draft.column(table, &name).ok_or_else(|| no_column(&self.draft.tables[table], &name))
    }

    /// MODIFY and CHANGE of MySQL say the whole column again.
    fn redefine(
        &mut self,
        table: usize,
        column: usize,
        data_type: &DataType,
        options: &[ColumnOption],
    ) -> Result<(), String> {
        let draft = &mut self.draft.tables[table].columns[column];
        (draft.is_auto, draft.column.default, draft.column.is_generated) = (false, None, false);
        let options: Vec<(Option<&Ident>, &ColumnOption)> =
            options.iter().map(|option| (None, option)).collect();
        self.define(table, column, data_type, &options)
    }

    fn alter_column(
        &mut self,
        table: usize,
        name: &Ident,
        operation: &AlterColumnOperation,
        identity: Option<Name>,
    ) -> Result<(), String> {
        let column = self.column(table, name)?;
        match operation {
            AlterColumnOperation::SetDefault { value } => self.set_default(table, column, Some(value)),
            AlterColumnOperation::DropDefault => self.set_default(table, column, None),
            AlterColumnOperation::SetDataType { data_type, .. } => {
                let before = self.draft.tables[table].columns[column].column.kind;
                let shape = shape(self.draft, &data_type.to_string());
                self.retype(table, column, &shape);
                let place = self.at(name.span);
                self.draft.tables[table].columns[column].column.place = Some(place);
                self.draft.widen_identity((table, column), before, shape.kind);
            }
            AlterColumnOperation::AddGenerated { sequence_options, .. } => {
                return self.identity(table, column, identity, sequence_options.as_deref());
            }
            _ => {}
        }
        Ok(())
    }
}
