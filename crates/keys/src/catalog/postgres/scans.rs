//! The furthest values of fed columns that no index begins with: by a scan, within a budget for all of them.

use super::Reader;
use super::link::{Answered, Stopped};
use crate::apart;
use crate::catalog::{ColumnAt, Extreme, Grows, Sequence, Unread};
use crate::error::Error;
use crate::sequences::fed::{self, Fed, Way};
use std::collections::BTreeSet;
use std::time::Duration;
use tokio::time::Instant;

impl Reader {
    /// Small tables first, so that one that is large takes the time of none. When the budget is used up, the rest stays as it was.
    pub(super) async fn scans(&mut self, wanted: &BTreeSet<ColumnAt>, until: Instant) -> Result<(), Error> {
        let is_open = |at: &ColumnAt| {
            matches!(self.catalog.column(*at).extreme, Extreme::AtLeast(_) | Extreme::Unread(Unread::NoIndex))
                && !self.locked.contains(&self.table_oids[at.table])
                && !self.catalog.column(*at).is_array
                && self.catalog.column(*at).kind.is_number()
        };
        let mut open: Vec<ColumnAt> = wanted.iter().copied().filter(is_open).collect();
        open.sort_by_key(|at| self.catalog.tables[at.table].rows.unwrap_or(u64::MAX));
        for at in open {
            let left = until.saturating_duration_since(Instant::now());
            let too_long = Extreme::Unread(Unread::TookTooLong);
            if left < Duration::from_millis(1) {
                self.give_up(at, too_long);
                continue;
            }
            let answer =
                self.link.ask_within("a column without an index", &self.sql_of_end(at), left).await?;
            match answer {
                Answered::Row(row) => {
                    let extreme = match row.optional(0)? {
                        Some(value) => self.exact(at, value),
                        None => Extreme::Empty,
                    };
                    self.catalog.column_mut(at).extreme = extreme;
                }
                Answered::Stopped(Stopped::TookTooLong) => self.give_up(at, too_long),
                Answered::Stopped(Stopped::Locked) => self.give_up(at, Extreme::Unread(Unread::Locked)),
                Answered::Nothing => self.catalog.column_mut(at).extreme = Extreme::Empty,
                Answered::Stopped(Stopped::Denied(_)) => {}
            }
        }
        Ok(())
    }

    /// Of sequences that step by more than one the furthest values of their own: where the largest of all is another server's, one of
    /// theirs may lie below it and in front of them. Whether there was one; then the sequences are to be read once more, after it.
    pub(super) async fn own_values(&mut self, until: Instant) -> Result<bool, Error> {
        let mut open = Vec::new();
        for (index, feds) in fed::feeds(&self.catalog) {
            let sequence = &self.catalog.sequences[index];
            let Some(next) = sequence.next().filter(|_| !sequence.cycles) else { continue };
            let (step, grows) = (sequence.increment, sequence.grows());
            let taken = feds.iter().filter(|fed| matches!(fed.way, Way::AsTheyAre { .. }));
            for &at in taken.flat_map(|fed| &fed.parts) {
                let Some(value) = self.catalog.column(at).extreme.value() else { continue };
                let is_past = if grows == Grows::Up { value > next } else { value < next };
                if is_past && (value - next) % step != 0 {
                    open.push((at, self.sql_of_own(at, (next, value), step)));
                }
            }
        }
        let mut has_found = false;
        for (at, sql) in open {
            let left = until.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
            match self.link.ask_within("values of a sequence that steps", &sql, left).await? {
                Answered::Row(row) => {
                    let extreme = self.exact(at, row.text(0)?);
                    self.catalog.column_mut(at).extreme = extreme;
                    has_found = true;
                }
                Answered::Nothing => {}
                Answered::Stopped(stopped) => {
                    let why = match stopped {
                        Stopped::TookTooLong => Unread::TookTooLong,
                        Stopped::Locked => Unread::Locked,
                        Stopped::Denied(words) => Unread::Denied(words),
                    };
                    self.catalog.column_mut(at).extreme = Extreme::Unread(why);
                }
            }
        }
        Ok(has_found)
    }

    /// Sets values apart that stand at the very end, far from where the sequence and all others are. Whether there was one; then the
    /// sequences are to be read once more, after the others.
    pub(super) async fn set_apart(&mut self, until: Instant) -> Result<bool, Error> {
        let mut found = false;
        for (index, feds) in fed::feeds(&self.catalog) {
            let sequence = self.catalog.sequences[index].clone();
            let Some(last) = apart::last(&sequence) else { continue };
            for fed in &feds {
                found |= self.set_apart_in(&sequence, fed, last, until).await?;
            }
        }
        Ok(found)
    }

    /// The same in the parts of a column.
    async fn set_apart_in(
        &mut self,
        sequence: &Sequence,
        fed: &Fed,
        last: i128,
        until: Instant,
    ) -> Result<bool, Error> {
        let grows = sequence.grows();
        let end = apart::end(&self.catalog, sequence, fed);
        let (mut others, mut furthest) = (Vec::new(), None);
        for &at in &fed.parts {
            let (table, column) = (&self.catalog.tables[at.table], self.catalog.column(at));
            let value = apart::of(&self.catalog, sequence, fed, &column.extreme);
            let value = match (value, &column.extreme) {
                (Some(value), Extreme::Exact(_)) if table.is_led_by(&column.name) => value,
                (_, extreme) => {
                    furthest = fed::further(furthest, extreme.value(), grows);
                    continue;
                }
            };
            let sql = self.sql_of_end_within(at, Some(apart::furthest_within(last, end, grows)));
            let left = until.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
            let other = match self.link.ask_within("values that don't stand apart", &sql, left).await? {
                Answered::Row(row) => row.optional(0)?.map_or(Extreme::Empty, |value| self.exact(at, value)),
                Answered::Nothing => Extreme::Empty,
                // It stays as it was, and is told of.
                Answered::Stopped(_) => return Ok(false),
            };
            furthest = fed::further(furthest, other.value(), grows);
            others.push((at, value, other));
        }
        // Values that lead up to the one at the end make it one of theirs.
        if others.is_empty() || furthest.is_some_and(|value| apart::leads_there(value, last, end, grows)) {
            return Ok(false);
        }
        for (at, value, other) in others {
            let column = self.catalog.column_mut(at);
            (column.extreme, column.apart) = (other, Some(value));
        }
        Ok(true)
    }

    /// What asks for the furthest value between two that is reached by these steps from the first.
    fn sql_of_own(&self, at: ColumnAt, (next, furthest): (i128, i128), step: i128) -> String {
        let (table, column) = (&self.catalog.tables[at.table], self.catalog.column(at));
        let quoted = |name| self.catalog.server.dialect.quoted(name);
        format!(
            "SELECT {column} FROM ONLY {}.{} WHERE {column} BETWEEN {} AND {} AND ({column}::numeric - {next}) % {step} = 0 \
             ORDER BY {column} {} LIMIT 1",
            quoted(&table.schema),
            quoted(&table.name),
            next.min(furthest),
            next.max(furthest),
            if step > 0 { "DESC" } else { "ASC" },
            column = quoted(&column.name),
        )
    }

    /// What statistics say is more than a reason.
    fn give_up(&mut self, at: ColumnAt, why: Extreme) {
        let extreme = &mut self.catalog.column_mut(at).extreme;
        if !matches!(extreme, Extreme::AtLeast(_)) {
            *extreme = why;
        }
    }
}
