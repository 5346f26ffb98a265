//! What a statement changes: tables, sequences, indexes and domains that come, change and go.

use super::draft::{At, Draft, DraftIndex, DraftSequence, DraftTable, Name, default_bounds};
use super::like::Like;
use super::parse::Parsed;
use super::table::Defining;
use super::types::{self, Shape};
use crate::catalog::{Place, Reading, Sequence};
use sqlparser::ast::{
    CreateDomain, CreateIndex, Expr, Ident, IndexColumn, ObjectName, ObjectType, SequenceOptions, Statement,
};

/// A statement's effect on the draft. Its column places count from the statement's own.
///
/// # Errors
/// Why it has none.
pub(super) fn apply(draft: &mut Draft, parsed: Parsed, place: &Place) -> Result<(), String> {
    match parsed {
        Parsed::Sql(statement) => plain(draft, *statement, place),
        Parsed::Likes(statement, likes) => match *statement {
            Statement::CreateTable(table) => {
                let spelled = |like: Like| {
                    let name = spelled(draft, &like.name);
                    Ok((name.ok_or_else(|| format!("`{}`, a table's name expected", like.name))?, like.takes))
                };
                let likes = likes.into_iter().map(spelled).collect::<Result<Vec<_>, String>>()?;
                Defining::of(draft, place).create(table, &likes)
            }
            _ => Err("CREATE TABLE expected".to_owned()),
        },
        Parsed::Changes(statement) => match *statement {
            Statement::CreateSequence { name, sequence_options, .. } => {
                change_sequence(draft, &name, &sequence_options)
            }
            _ => Err("ALTER SEQUENCE expected".to_owned()),
        },
        Parsed::Identity(statement, sequence) => {
            let name = spelled(draft, &sequence)
                .ok_or_else(|| format!("`{sequence}`, a sequence's name expected"))?;
            match *statement {
                Statement::AlterTable(alter) => Defining::of(draft, place).alter(alter, Some(name)),
                _ => Err("ALTER TABLE expected".to_owned()),
            }
        }
        Parsed::Renames(from, to) => {
            let names = spelled(draft, &from).zip(spelled(draft, &to));
            let (from, to) = names.ok_or("the names of sequences expected")?;
            let sequence = draft.sequence(&from).ok_or_else(|| unknown("sequence", &from))?;
            draft.rename_sequence(sequence, Name { schema: from.schema, name: to.name });
            Ok(())
        }
        Parsed::Moves { is_sequence, name, schema } => {
            let names = spelled(draft, &name).zip(spelled(draft, &schema));
            let (of, to) = names.ok_or("the names of a table and of a schema expected")?;
            let to = Name { schema: to.name, name: of.name.clone() };
            if is_sequence {
                let sequence = draft.sequence(&of).ok_or_else(|| unknown("sequence", &of))?;
                draft.rename_sequence(sequence, to);
            } else {
                let table = draft.table(&of).ok_or_else(|| unknown("table", &of))?;
                draft.move_table(table, to);
            }
            Ok(())
        }
    }
}

fn plain(draft: &mut Draft, statement: Statement, place: &Place) -> Result<(), String> {
    match statement {
        Statement::CreateTable(table) => Defining::of(draft, place).create(table, &[]),
        Statement::AlterTable(alter) => Defining::of(draft, place).alter(alter, None),
        Statement::CreateIndex(index) => create_index(draft, index),
        Statement::CreateSequence { name, sequence_options, temporary: false, if_not_exists } => {
            let name = named(draft, &name)?;
            if if_not_exists && draft.sequence(&name).is_some() {
                return Ok(());
            }
            let sequence = fresh_sequence(draft, &name, None, Some(place));
            let (sequence, owner) = with_options(draft, sequence, &sequence_options)?;
            let number = draft.add_sequence(DraftSequence {
                sequence,
                is_dropped: false,
                owner: None,
                is_identity: false,
            });
            draft.own(number, owner.flatten());
            Ok(())
        }
        Statement::CreateDomain(domain) => create_domain(draft, &domain),
        // Of MySQL, whose indexes have names within their table.
        Statement::Drop { object_type: ObjectType::Index, names, table: Some(of), .. } => {
            let of = named(draft, &of)?;
            let table = draft.table(&of).ok_or_else(|| unknown("table", &of))?;
            for name in names {
                let name = named(draft, &name)?.name;
                draft.drop_constraint(table, &name);
            }
            Ok(())
        }
        Statement::Drop { object_type, names, .. } => drop_all(draft, object_type, &names),
        Statement::RenameTable(renames) => {
            for rename in renames {
                let (from, to) = (named(draft, &rename.old_name)?, named(draft, &rename.new_name)?);
                let table = draft.table(&from).ok_or_else(|| unknown("table", &from))?;
                draft.rename_table(table, to);
            }
            Ok(())
        }
        // What is temporary is gone by itself, and the rest defines no key.
        _ => Ok(()),
    }
}

/// Why a statement about what isn't there has no effect.
pub(super) fn unknown(what: &str, name: &Name) -> String {
    let schema = if name.schema.is_empty() { String::new() } else { format!("{}.", name.schema) };
    format!("the {what} {schema}{} isn't defined in what was read", name.name)
}

/// A name as the dialect keeps it.
pub(super) fn folded(draft: &Draft, ident: &Ident) -> String {
    let keeps = ident.quote_style.is_some() || !matches!(draft.dialect, crate::catalog::Dialect::Postgres);
    if keeps { ident.value.clone() } else { ident.value.to_lowercase() }
}

/// Schema and name.
pub(super) fn named(draft: &Draft, name: &ObjectName) -> Result<Name, String> {
    let mut parts = name.0.iter().rev().map(|part| part.as_ident().map(|ident| folded(draft, ident)));
    let wrong = || format!("`{name}`, a name expected");
    let last = parts.next().flatten().ok_or_else(wrong)?;
    let schema = match parts.next() {
        Some(schema) => schema.ok_or_else(wrong)?,
        None => draft.schema.clone(),
    };
    Ok(Name { schema, name: last })
}

/// A name as it is written, with quotes or without.
fn spelled(draft: &Draft, text: &str) -> Option<Name> {
    let mut parts = crate::catalog::feeds::parts(text)?;
    let name = parts.pop()?;
    Some(Name { schema: parts.pop().unwrap_or_else(|| draft.schema.clone()), name })
}

/// The type of a column, through domains.
pub(super) fn shape(draft: &Draft, text: &str) -> Shape {
    let shape = types::shape(text, draft.dialect);
    if !shape.is_custom {
        return shape;
    }
    let (element, is_array) = match text.trim().strip_suffix("[]") {
        Some(element) => (element, true),
        None => (text.trim(), false),
    };
    let domain =
        spelled(draft, element).and_then(|name| draft.domains.get(&draft.key(&name.schema, &name.name)));
    match domain {
        Some(domain) => {
            Shape { declared: shape.declared, is_array: is_array || domain.is_array, ..domain.clone() }
        }
        None => shape,
    }
}

fn create_domain(draft: &mut Draft, domain: &CreateDomain) -> Result<(), String> {
    let name = named(draft, &domain.name)?;
    let shape = shape(draft, &domain.data_type.to_string());
    let key = draft.key(&name.schema, &name.name);
    draft.domains.insert(key, Shape { is_custom: false, ..shape });
    Ok(())
}

fn create_index(draft: &mut Draft, index: CreateIndex) -> Result<(), String> {
    let of = named(draft, &index.table_name)?;
    let table = draft.table(&of).ok_or_else(|| unknown("table", &of))?;
    let columns = index_columns(draft, table, &index.columns);
    let name = match &index.name {
        Some(name) => named(draft, name)?.name,
        None => format!("{}_idx", of.name),
    };
    let is_ordered = index.using.as_ref().is_none_or(|using| using.to_string().eq_ignore_ascii_case("btree"));
    let is_partial = index.predicate.is_some();
    draft.add_index(
        table,
        DraftIndex { name, columns, is_unique: index.unique, is_primary: false, is_ordered, is_partial },
    )
}

/// The columns of an index; expressions, and the first characters of a text, are none.
pub(super) fn index_columns(draft: &Draft, table: usize, columns: &[IndexColumn]) -> Vec<Option<usize>> {
    let column = |column: &IndexColumn| match &column.column.expr {
        Expr::Identifier(ident) => draft.column(table, &folded(draft, ident)),
        Expr::Collate { expr, .. } => match &**expr {
            Expr::Identifier(ident) => draft.column(table, &folded(draft, ident)),
            _ => None,
        },
        _ => None,
    };
    columns.iter().map(column).collect()
}

fn drop_all(draft: &mut Draft, what: ObjectType, names: &[ObjectName]) -> Result<(), String> {
    for name in names {
        let name = named(draft, name)?;
        match what {
            ObjectType::Table => {
                if let Some(table) = draft.table(&name) {
                    draft.drop_table(table);
                }
            }
            ObjectType::Sequence => {
                if let Some(sequence) = draft.sequence(&name) {
                    draft.drop_sequence(sequence);
                }
            }
            ObjectType::Index => {
                if let Some(table) = draft.index_owner(&name) {
                    draft.drop_constraint(table, &name.name);
                }
            }
            ObjectType::Schema => draft.drop_schema(&name.name),
            _ => {}
        }
    }
    Ok(())
}

/// A sequence of a type without options; of the widest where none is given.
pub(super) fn fresh_sequence(
    draft: &Draft,
    name: &Name,
    of: Option<&Shape>,
    place: Option<&Place>,
) -> Sequence {
    let bits = match of.map(|shape| shape.kind) {
        Some(crate::catalog::Kind::Int { bits, .. }) => bits,
        _ => 64,
    };
    let mut sequence = Sequence::of(&name.name, bits, Reading::Unknown);
    sequence.schema.clone_from(&name.schema);
    sequence.place = place.cloned();
    (sequence.min, sequence.max) = default_bounds(crate::catalog::Kind::int(bits), 1, draft.dialect);
    sequence
}

/// A sequence changed by options, and the owner that they name: none, or nobody.
pub(super) fn with_options(
    draft: &Draft,
    mut sequence: Sequence,
    options: &[SequenceOptions],
) -> Result<(Sequence, Option<Option<At>>), String> {
    let kind = |sequence: &Sequence| types::shape(&sequence.declared, draft.dialect).kind;
    let had_defaults =
        (sequence.min, sequence.max) == default_bounds(kind(&sequence), sequence.increment, draft.dialect);
    let (mut low, mut high, mut start, mut owner) = (None, None, None, None);
    for option in options {
        match option {
            SequenceOptions::DataType(data_type) => {
                sequence.declared = types::shape(&data_type.to_string(), draft.dialect).declared
            }
            SequenceOptions::IncrementBy(value, _) => sequence.increment = number(value)?,
            SequenceOptions::MinValue(value) => low = Some(value.as_ref().map(number).transpose()?),
            SequenceOptions::MaxValue(value) => high = Some(value.as_ref().map(number).transpose()?),
            SequenceOptions::StartWith(value, _) => start = Some(number(value)?),
            SequenceOptions::Cache(value) => sequence.cache = u64::try_from(number(value)?).unwrap_or(1),
            // The tree says whether NO stands before it.
            SequenceOptions::Cycle(is_no) => sequence.cycles = !is_no,
            SequenceOptions::OwnedBy(None) => owner = Some(None),
            SequenceOptions::OwnedBy(Some(column)) => owner = Some(Some(column_named(draft, column)?)),
        }
    }
    if sequence.increment == 0 {
        return Err("INCREMENT 0, another number expected".to_owned());
    }
    let (lowest, highest) = default_bounds(kind(&sequence), sequence.increment, draft.dialect);
    match low {
        Some(low) => sequence.min = low.unwrap_or(lowest),
        None if had_defaults => sequence.min = lowest,
        None => {}
    }
    match high {
        Some(high) => sequence.max = high.unwrap_or(highest),
        None if had_defaults => sequence.max = highest,
        None => {}
    }
    sequence.start = start.unwrap_or(if sequence.increment < 0 { sequence.max } else { sequence.min });
    Ok((sequence, owner))
}

fn change_sequence(draft: &mut Draft, name: &ObjectName, options: &[SequenceOptions]) -> Result<(), String> {
    let name = named(draft, name)?;
    let number = draft.sequence(&name).ok_or_else(|| unknown("sequence", &name))?;
    let (sequence, owner) = with_options(draft, draft.sequences[number].sequence.clone(), options)?;
    draft.sequences[number].sequence = sequence;
    if let Some(owner) = owner {
        draft.own(number, owner);
    }
    Ok(())
}

/// `schema.table.column`.
fn column_named(draft: &Draft, name: &ObjectName) -> Result<At, String> {
    let mut parts = name.0.clone();
    let last = parts.pop().and_then(|part| part.as_ident().map(|ident| folded(draft, ident)));
    let column = last
        .filter(|_| !parts.is_empty())
        .ok_or_else(|| format!("`{name}`, a column of a table expected"))?;
    let of = named(draft, &ObjectName(parts))?;
    let table = draft.table(&of).ok_or_else(|| unknown("table", &of))?;
    Ok((table, draft.column(table, &column).ok_or_else(|| no_column(&draft.tables[table], &column))?))
}

/// Why a statement about a column that isn't there has no effect.
pub(super) fn no_column(table: &DraftTable, column: &str) -> String {
    format!("{} has no column {column} in what was read", table.name)
}

/// A number of 64 bits.
fn number(value: &Expr) -> Result<i128, String> {
    let text = value.to_string().replace(' ', "");
    let number: Result<i64, _> = text.parse();
    number.map(i128::from).map_err(|_| format!("`{text}`, a number of 64 bits expected"))
}
