//! Values: the ends of indexes, statistics, what sequences show, counters of scopes.
//!
//! Columns come before sequences: what is inserted in between makes a sequence look further, never behind.

use super::link::{Answered, Stopped};
use super::{MOST, Oid, Reader, queries};
use crate::catalog::{ColumnAt, Extreme, Grows, Index, PassedOver, Reading, Unread, whole};
use crate::error::Error;
use crate::{limits, scopes};
use std::collections::{BTreeSet, HashMap};

impl Reader {
    /// The furthest values of the columns that need them: from indexes, else from statistics.
    pub(super) async fn extremes(&mut self, wanted: BTreeSet<ColumnAt>) -> Result<(), Error> {
        let (mut by_index, mut by_statistics) = (Vec::new(), Vec::new());
        for at in wanted {
            let (table, column) = (&self.catalog.tables[at.table], self.catalog.column(at));
            let is_locked = self.locked.contains(&self.table_oids[at.table]);
            let needs = if !self.may_use[at.table] {
                Some(format!("USAGE on schema {}", table.schema))
            } else if !self.may_select.contains(&at) {
                Some(format!("SELECT on table {}.{}", table.schema, table.name))
            } else if self.has_policies[at.table] {
                Some(format!(
                    "a role that the row security of {}.{} leaves alone (BYPASSRLS)",
                    table.schema, table.name
                ))
            } else {
                None
            };
            if let Some(needs) = needs {
                self.catalog.column_mut(at).extreme = Extreme::Unread(Unread::Denied(needs));
            } else if !column.kind.is_number() {
                self.catalog.column_mut(at).extreme = Extreme::Unread(Unread::NoNumbers);
            } else if table.is_led_by(&column.name) && !column.is_array && !is_locked {
                by_index.push(at);
            } else {
                if is_locked {
                    self.catalog.column_mut(at).extreme = Extreme::Unread(Unread::Locked);
                }
                by_statistics.push(at);
            }
        }
        self.ends_of_indexes(&by_index).await?;
        self.statistics(&by_statistics).await
    }

    /// One statement a column, many to a round trip; each has a budget of its own, and one that fails fails alone.
    async fn ends_of_indexes(&mut self, columns: &[ColumnAt]) -> Result<(), Error> {
        let statements: Vec<String> = columns.iter().map(|&at| self.sql_of_end(at)).collect();
        let answers = self.link.ask_many("the ends of indexes", statements).await?;
        for (&at, answer) in columns.iter().zip(answers) {
            let extreme = match answer {
                Answered::Row(row) => match row.optional(0)? {
                    Some(value) => self.exact(at, value),
                    None => Extreme::Empty,
                },
                Answered::Nothing => Extreme::Empty,
                Answered::Stopped(stopped) => {
                    let why = match stopped {
                        Stopped::Locked => Unread::Locked,
                        Stopped::TookTooLong => Unread::TookTooLong,
                        Stopped::Denied(words) => Unread::Denied(words),
                    };
                    let table = &self.catalog.tables[at.table];
                    let (schema, name) = (table.schema.clone(), table.name.clone());
                    let passed = PassedOver { schema, name, why: why.clone() };
                    if !self.catalog.passed_over.contains(&passed) {
                        self.catalog.passed_over.push(passed);
                    }
                    Extreme::Unread(why)
                }
            };
            self.catalog.column_mut(at).extreme = extreme;
        }
        Ok(())
    }

    /// A value of a column as the furthest. What isn't a number says nothing of the others, and stops nothing.
    pub(super) fn exact(&self, at: ColumnAt, value: &str) -> Extreme {
        let grows = limits::grows(&self.catalog, self.catalog.column(at));
        whole(value, grows).map_or(Extreme::Unread(Unread::NoNumbers), Extreme::Exact)
    }

    /// What asks for the furthest value of a column. A child has an index of its own, or none: each table is asked for itself. The same as
    /// max() or min(), and planned in two thirds of the time; without a word on NULL, where none can be, in a tenth less.
    pub(super) fn sql_of_end(&self, at: ColumnAt) -> String {
        self.sql_of_end_within(at, None)
    }

    /// The same of the values that don't go further than this.
    pub(super) fn sql_of_end_within(&self, at: ColumnAt, within: Option<i128>) -> String {
        let (table, column) = (&self.catalog.tables[at.table], self.catalog.column(at));
        // Only in the order of an index the end is read from it.
        let order = match (limits::grows(&self.catalog, column), self.unusual_nulls.contains(&at)) {
            (Grows::Up, false) => "DESC",
            (Grows::Up, true) => "DESC NULLS LAST",
            (Grows::Down, false) => "ASC",
            (Grows::Down, true) => "ASC NULLS FIRST",
        };
        let quoted = |name| self.catalog.server.dialect.quoted(name);
        // Not what `NOT NULL` says: newer servers have one that isn't validated.
        let is_of_primary = |index: &Index| index.is_primary && index.columns.contains(&column.name);
        let no_nulls = if let Some(within) = within {
            let than = if limits::grows(&self.catalog, column) == Grows::Up { "<=" } else { ">=" };
            format!("WHERE {} {than} {within} ", quoted(&column.name))
        } else if table.indexes.iter().any(is_of_primary) {
            String::new()
        } else {
            format!("WHERE {} IS NOT NULL ", quoted(&column.name))
        };
        format!(
            "SELECT {column} FROM ONLY {}.{} {no_nulls}ORDER BY {column} {order} LIMIT 1",
            quoted(&table.schema),
            quoted(&table.name),
            column = quoted(&column.name),
        )
    }

    async fn statistics(&mut self, columns: &[ColumnAt]) -> Result<(), Error> {
        let mut found: HashMap<ColumnAt, (i128, i128)> = HashMap::new();
        for some in columns.chunks(5_000) {
            let wanted: Vec<String> = some
                .iter()
                .map(|at| format!("({},{})", self.table_oids[at.table], self.numbers[at]))
                .collect();
            for row in self.link.ask("statistics", &queries::statistics(&wanted.join(","))).await? {
                let Some(&at) = self.columns.get(&(row.number(0)?, row.number(1)?)) else { continue };
                for bounds in [row.optional(2)?, row.optional(3)?, row.optional(4)?].into_iter().flatten() {
                    // Arrays of integers as PostgreSQL writes them: {1,2,3}.
                    for value in bounds.trim_matches(['{', '}']).split(',') {
                        if let Ok(value) = value.parse::<i128>() {
                            let (low, high) = found.entry(at).or_insert((value, value));
                            (*low, *high) = (value.min(*low), value.max(*high));
                        }
                    }
                }
            }
        }
        for &at in columns {
            let grows = limits::grows(&self.catalog, self.catalog.column(at));
            let value = found.get(&at).map(|&(low, high)| if grows == Grows::Up { high } else { low });
            let extreme = &mut self.catalog.column_mut(at).extreme;
            *extreme = match value {
                Some(value) => Extreme::AtLeast(value),
                None if *extreme == Extreme::Unread(Unread::Locked) => continue,
                None => Extreme::Unread(Unread::NoIndex),
            };
        }
        Ok(())
    }

    /// Counters in parents' rows, beside the numbers of their children.
    pub(super) async fn scopes(&mut self) -> Result<(), Error> {
        let mut scopes = scopes::scopes(&self.catalog);
        // What can't be read, or hides rows, or is locked, says nothing.
        scopes.retain(|scope| {
            let columns = scope.columns();
            columns.iter().all(|at| {
                self.may_select.contains(at)
                    && self.may_use[at.table]
                    && !self.has_policies[at.table]
                    && !self.locked.contains(&self.table_oids[at.table])
            })
        });
        let statements: Vec<String> = scopes.iter().map(|scope| scopes::sql(&self.catalog, scope)).collect();
        let answers = self.link.ask_each("counters of scopes", &statements).await?;
        for (scope, answer) in scopes.iter().zip(answers) {
            if let Answered::Row(row) = answer {
                self.catalog.scopes.push(scopes::found(scope, row.number(0)?, row.number(1)?));
            }
        }
        Ok(())
    }

    /// What the sequences show. Looking takes no number.
    pub(super) async fn readings(&mut self) -> Result<(), Error> {
        // Locks may have come since the tables were read.
        self.locks().await?;
        let mut open = Vec::new();
        for index in 0..self.catalog.sequences.len() {
            let (oid, readable) = (self.sequence_oids[index], self.readable[index]);
            let sequence = &self.catalog.sequences[index];
            let needs = if !readable.may_call {
                format!("USAGE or SELECT on sequence {}.{}", sequence.schema, sequence.name)
            } else if sequence.is_unlogged && self.catalog.server.is_standby {
                "an unlogged sequence has no value on a standby; ask the primary".to_owned()
            } else if self.locked_sequences.contains(&oid) {
                "another session holds a lock on it".to_owned()
            } else {
                open.push(index);
                continue;
            };
            self.catalog.sequences[index].reading = Reading::Unreadable { needs };
        }
        let mut never = Vec::new();
        match self.last_values(&open).await {
            Ok(values) => {
                for (&index, value) in open.iter().zip(values) {
                    match value {
                        Some(value) => self.catalog.sequences[index].reading = Reading::Value(value),
                        None => never.push(index),
                    }
                }
            }
            // One of them was locked or dropped meanwhile: each by itself.
            Err(Error::Query { .. }) => {
                let statement =
                    |index: &usize| format!("SELECT pg_sequence_last_value({})", self.sequence_oids[*index]);
                let statements: Vec<String> = open.iter().map(statement).collect();
                let answers = self.link.ask_each("sequences", &statements).await?;
                for (&index, answer) in open.iter().zip(answers) {
                    match answer {
                        Answered::Row(row) => match row.optional(0)? {
                            Some(value) => {
                                let value = self.link.parsed("sequences", value)?;
                                self.catalog.sequences[index].reading = Reading::Value(value);
                            }
                            None => never.push(index),
                        },
                        Answered::Nothing => never.push(index),
                        Answered::Stopped(stopped) => {
                            self.catalog.sequences[index].reading =
                                Reading::Unreadable { needs: stopped.in_words() };
                        }
                    }
                }
            }
            Err(error) => return Err(error),
        }
        self.first_values(&never).await
    }

    async fn last_values(&mut self, open: &[usize]) -> Result<Vec<Option<i128>>, Error> {
        let oids: Vec<String> = open.iter().map(|&index| self.sequence_oids[index].to_string()).collect();
        let questions = oids.chunks(MOST).map(|some| ("sequences", queries::last_values(&some.join(","))));
        let questions: Vec<_> = questions.collect();
        let mut values = HashMap::new();
        for row in self.link.ask_all(&questions).await?.iter().flatten() {
            let value = row.optional(1)?.map(|value| self.link.parsed("sequences", value)).transpose()?;
            values.insert(row.number::<Oid>(0)?, value);
        }
        Ok(open.iter().map(|&index| values.get(&self.sequence_oids[index]).copied().flatten()).collect())
    }

    /// What sequences that show no last value hand out first: a restart or `setval(…, false)` leaves them so.
    async fn first_values(&mut self, never: &[usize]) -> Result<(), Error> {
        let (mut readable, mut statements) = (Vec::new(), Vec::new());
        for &index in never {
            let sequence = &self.catalog.sequences[index];
            if self.readable[index].may_select {
                let quoted = |name| self.catalog.server.dialect.quoted(name);
                let (schema, name) = (quoted(&sequence.schema), quoted(&sequence.name));
                statements.push(format!("SELECT last_value, is_called FROM {schema}.{name}"));
                readable.push(index);
            } else {
                self.catalog.sequences[index].reading = Reading::NeverUsed { next: None };
            }
        }
        let answers = self.link.ask_many("unused sequences", statements).await?;
        for (&index, answer) in readable.iter().zip(answers) {
            let reading = match answer {
                Answered::Row(row) => {
                    let value: i128 = self.link.parsed("unused sequences", row.text(0)?)?;
                    // Somebody may have called it meanwhile.
                    if row.flag(1)? {
                        Reading::Value(value)
                    } else {
                        Reading::NeverUsed { next: Some(value) }
                    }
                }
                Answered::Nothing => Reading::NeverUsed { next: None },
                Answered::Stopped(stopped) => Reading::Unreadable { needs: stopped.in_words() },
            };
            self.catalog.sequences[index].reading = reading;
        }
        Ok(())
    }
}
