//! Judges sequences: by what is in their columns, by what was seen elsewhere, by the gap that is demanded.

use super::Demand;
use super::fed::{self, Fed, Furthest, Way, further};
use super::standing::{By, ColumnFed, Standing, Verdict};
use super::witness::Witness;
use crate::apart::{self, furthest_within, is_apart};
use crate::catalog::{Catalog, ColumnAt, Dialect, Extreme, Feed, Grows, Kind, Reading, Sequence, Unread};
use crate::checks::{sql_sequence, sql_table};
use crate::limits;
use std::collections::{BTreeSet, HashMap};

/// How everything stands, and the lines of the witness that mean nothing here.
pub(super) fn standings(catalog: &Catalog, demand: &Demand) -> (Vec<Standing>, Vec<String>) {
    let mut seen = Seen::of(&demand.witness);
    let feeds = fed::feeds(catalog);
    let mut standings: Vec<Standing> = Vec::new();
    for (index, sequence) in catalog.sequences.iter().enumerate() {
        let fed = feeds.get(&index).map_or(&[][..], Vec::as_slice);
        standings.push(of_sequence(catalog, sequence, fed, demand.gap, &mut seen));
    }
    for (at, table, column) in catalog.columns() {
        if let Feed::AutoIncrement { last } = &column.feed {
            let path = [&table.schema, &table.name, &column.name].map(Clone::clone);
            let witness = seen.of_path(&path, Grows::Up);
            standings.push(of_counter(catalog, at.table, column.kind, path, last, witness, demand.gap));
        }
    }
    standings.sort_by(|a, b| (&a.schema, &a.name).cmp(&(&b.schema, &b.name)));
    (standings, seen.strays(catalog))
}

fn of_sequence(
    catalog: &Catalog,
    sequence: &Sequence,
    fed: &[Fed],
    gap: u64,
    seen: &mut Seen<'_>,
) -> Standing {
    let grows = sequence.grows();
    let mut witness = seen.of_path(&[sequence.schema.clone(), sequence.name.clone()], grows);
    let (mut all, mut columns, mut has_apart) = (Furthest::default(), Vec::new(), false);
    let mut end = (sequence.bound(), format!("sequence {}.{}", sequence.schema, sequence.name));
    for fed in fed {
        let (table, column) = (&catalog.tables[fed.at.table], catalog.column(fed.at));
        let path = [&table.schema, &table.name, &column.name].map(Clone::clone);
        // Of values that an expression makes, the sequence knows nothing.
        if fed.way != Way::Derived {
            witness = further(witness, seen.of_path(&path, grows), grows);
            for part in fed.parts.iter().filter(|part| **part != fed.at) {
                let table = &catalog.tables[part.table];
                let path = [&table.schema, &table.name, &catalog.column(*part).name].map(Clone::clone);
                witness = further(witness, seen.of_path(&path, grows), grows);
            }
        }
        let is_as_it_is = matches!(fed.way, Way::AsTheyAre { .. });
        let furthest = if is_as_it_is { fed::furthest(catalog, fed, grows) } else { Furthest::default() };
        all.value = further(all.value, furthest.value, grows);
        all.unknown = all.unknown.or(furthest.unknown);
        if let Some(bound) = column.kind.bound(grows).filter(|_| is_as_it_is) {
            let is_nearer = if grows == Grows::Up { bound < end.0 } else { bound > end.0 };
            if is_nearer {
                end = (bound, format!("column {} ({})", path.join("."), column.declared));
            }
        }
        let is_cheap = fed.parts.iter().all(|part| {
            let table = &catalog.tables[part.table];
            table.is_led_by(&table.columns[part.column].name)
        });
        let tables = fed.parts.iter().filter(|_| !fed.is_whole).map(|part| &catalog.tables[part.table]);
        let only = tables.map(|table| [table.schema.clone(), table.name.clone()]).collect();
        if is_as_it_is && fed.parts.iter().any(|part| catalog.column(*part).apart.is_some()) {
            has_apart = true;
        }
        columns.push(ColumnFed {
            path,
            only,
            declared: column.declared.clone(),
            way: fed.way,
            is_cheap: is_cheap && column.kind.is_number(),
            is_whole: column.kind.is_int(),
            furthest: furthest.value,
        });
    }
    let reading = match sequence.reading {
        Reading::Value(last) => Some((last, true)),
        Reading::NeverUsed { next: Some(next) } => Some((next, false)),
        Reading::NeverUsed { next: None } | Reading::Unreadable { .. } | Reading::Unknown => None,
    };
    let is_identity = fed.iter().any(|fed| fed.way == Way::AsTheyAre { is_identity: true });
    let owner = sequence.owner.filter(|_| !is_identity).map(|at| {
        let table = &catalog.tables[at.table];
        [&table.schema, &table.name, &catalog.column(at).name].map(Clone::clone)
    });
    // What was seen elsewhere tells a value at the very end from those that were given out.
    let last = apart::last(sequence);
    let stands_apart = |value: i128| last.is_some_and(|last| is_apart(value, last, end.0, grows));
    if all.value.is_some_and(stands_apart) && witness.is_some_and(|seen| !stands_apart(seen)) {
        (all.value, has_apart) = (None, true);
        for column in &mut columns {
            column.furthest = column.furthest.filter(|&value| !stands_apart(value));
        }
    }
    let within = last.filter(|_| has_apart).map(|last| furthest_within(last, end.0, grows));
    let mut standing = Standing {
        within,
        schema: sequence.schema.clone(),
        name: sequence.name.clone(),
        columns,
        is_counter: false,
        owner,
        increment: sequence.increment,
        cache: sequence.cache,
        end,
        reading,
        in_use: all.value,
        witness,
        verdict: Verdict::Fine,
        repaired: None,
        refused: None,
        grows,
        cycles: sequence.cycles,
    };
    standing.verdict = verdict(catalog, sequence, fed, &all, &standing, gap);
    standing
}

fn verdict(
    catalog: &Catalog,
    sequence: &Sequence,
    fed: &[Fed],
    furthest: &Furthest,
    standing: &Standing,
    gap: u64,
) -> Verdict {
    if sequence.cycles {
        return Verdict::NotJudged { why: "it cycles, and so gives ids again anyway" };
    }
    let is_fed_as_it_is = fed.iter().any(|fed| matches!(fed.way, Way::AsTheyAre { .. }));
    // A gap is for every sequence: one that can't be read can't be moved.
    let is_asked = is_fed_as_it_is || standing.witness.is_some() || (gap > 0 && standing.reading.is_none());
    if !is_asked {
        let why = match fed.first().map(|fed| fed.way) {
            None => "no column asks it; programs that do know what it has handed out",
            Some(Way::Derived) => "its column makes other values of its own",
            Some(_) => "its column's default doesn't ask it; programs may make several ids of a value",
        };
        return Verdict::NotJudged { why };
    }
    let Some(next) = standing.next() else {
        let name = sql_sequence(catalog, sequence);
        let why = match &sequence.reading {
            Reading::Unreadable { needs } => needs.clone(),
            _ => format!("SELECT on sequence {}.{}", sequence.schema, sequence.name),
        };
        return Verdict::Unknown { why, next: format!("SELECT last_value, is_called FROM {name};") };
    };
    let is_reached = |value: i128, by: i128| {
        if standing.grows == Grows::Up { next <= value + by } else { next >= value - by }
    };
    // Values between its steps are another server's.
    let in_use = furthest.value.filter(|value| (value - next) % sequence.increment == 0);
    if in_use.is_some_and(|value| is_reached(value, 0)) {
        return Verdict::Behind { by: By::Column, next };
    }
    if standing.witness.is_some_and(|value| is_reached(value, 0)) {
        return Verdict::Behind { by: By::Witness, next };
    }
    let known = further(in_use, standing.witness, standing.grows);
    if known.is_some_and(|value| is_reached(value, i128::from(gap))) {
        return Verdict::Behind { by: By::Gap, next };
    }
    match &furthest.unknown {
        Some((at, why)) => unknown(catalog, *at, why.as_ref(), standing.grows),
        None => Verdict::Fine,
    }
}

/// A column whose furthest value couldn't be read, with the query that would tell.
fn unknown(catalog: &Catalog, at: ColumnAt, why: Option<&Unread>, grows: Grows) -> Verdict {
    let (table, column) = (&catalog.tables[at.table], catalog.column(at));
    let path = catalog.path(at);
    let dialect = catalog.server.dialect;
    let end = if grows == Grows::Up { "max" } else { "min" };
    let only = if dialect == Dialect::Postgres { "ONLY " } else { "" };
    let next =
        format!("SELECT {end}({}) FROM {only}{};", dialect.quoted(&column.name), sql_table(catalog, table));
    let next = match (column.kind, dialect) {
        (Kind::Text { .. }, Dialect::Postgres) => format!(
            "SELECT {end}({name}::numeric) FROM ONLY {} WHERE {name} ~ '^[0-9]+$';",
            sql_table(catalog, table),
            name = dialect.quoted(&column.name)
        ),
        (Kind::Text { .. }, _) if dialect.is_mysql_like() => format!(
            "SELECT {end}(CAST({name} AS DECIMAL(65))) FROM {} WHERE {name} REGEXP '^[0-9]+$';",
            sql_table(catalog, table),
            name = dialect.quoted(&column.name)
        ),
        _ => next,
    };
    let rows = table.rows.map_or_else(String::new, |rows| format!(", about {rows} rows"));
    let why = match why {
        None | Some(Unread::NoIndex | Unread::NotAsked) => {
            format!("no index begins with {path}{rows}, so its {end} needs a scan")
        }
        Some(Unread::NoNumbers) => {
            format!("{path} is {}, and its values aren't whole numbers all", column.declared)
        }
        Some(Unread::TookTooLong) => format!("the {end} of {path} took longer than its budget{rows}"),
        Some(other) => format!("{path}: {}", limits::unread(other)),
    };
    Verdict::Unknown { why, next }
}

/// A counter follows its column by itself; what was seen elsewhere it doesn't know.
fn of_counter(
    catalog: &Catalog,
    table: usize,
    kind: Kind,
    path: [String; 3],
    last: &Reading,
    witness: Option<i128>,
    gap: u64,
) -> Standing {
    let table = &catalog.tables[table];
    let column = table.columns.iter().find(|column| column.name == path[2]);
    let declared = column.map_or_else(String::new, |column| column.declared.clone());
    let end = kind.bound(Grows::Up).unwrap_or(i128::from(i64::MAX));
    let reading = match last {
        Reading::Value(last) => Some((*last, true)),
        _ => None,
    };
    let in_use = column.and_then(|column| match column.extreme {
        Extreme::Exact(value) => Some(value),
        _ => None,
    });
    let verdict = match (reading, witness, last) {
        (None, _, Reading::Unreadable { needs }) => Verdict::Unknown {
            why: needs.clone(),
            next: "SHOW CREATE TABLE tells its AUTO_INCREMENT".to_owned(),
        },
        (Some((last, _)), Some(witness), _) if last < witness => {
            Verdict::Behind { by: By::Witness, next: last + 1 }
        }
        (Some((last, _)), Some(witness), _) if last < witness + i128::from(gap) => {
            Verdict::Behind { by: By::Gap, next: last + 1 }
        }
        _ => Verdict::Fine,
    };
    Standing {
        within: None,
        schema: table.schema.clone(),
        name: table.name.clone(),
        end: (end, format!("column {} ({declared})", path.join("."))),
        columns: vec![ColumnFed {
            path,
            declared,
            way: Way::AsTheyAre { is_identity: false },
            is_cheap: true,
            is_whole: true,
            only: Vec::new(),
            furthest: in_use,
        }],
        is_counter: true,
        owner: None,
        increment: 1,
        cache: 1,
        reading,
        in_use,
        witness,
        verdict,
        repaired: None,
        refused: None,
        grows: Grows::Up,
        cycles: false,
    }
}

/// What was seen elsewhere, by name, and which lines were used.
struct Seen<'a> {
    by_path: HashMap<&'a [String], Vec<(usize, i64)>>,
    witness: &'a Witness,
    used: BTreeSet<usize>,
}

impl<'a> Seen<'a> {
    fn of(witness: &'a Witness) -> Self {
        let mut by_path: HashMap<&[String], Vec<(usize, i64)>> = HashMap::new();
        for (index, entry) in witness.entries().iter().enumerate() {
            by_path.entry(&entry.path).or_default().push((index, entry.value));
        }
        Self { by_path, witness, used: BTreeSet::new() }
    }

    /// The furthest of all lines about a name.
    fn of_path(&mut self, path: &[String], grows: Grows) -> Option<i128> {
        let entries = self.by_path.get(path)?;
        self.used.extend(entries.iter().map(|(index, _)| *index));
        entries.iter().fold(None, |all, (_, value)| further(all, Some(i128::from(*value)), grows))
    }

    fn strays(&self, catalog: &Catalog) -> Vec<String> {
        let unused =
            self.witness.entries().iter().enumerate().filter(|(index, _)| !self.used.contains(index));
        let said = unused.map(|(_, entry)| {
            let is_there = catalog.tables.iter().any(|table| {
                entry.path.len() == 3
                    && (&table.schema, &table.name) == (&entry.path[0], &entry.path[1])
                    && table.find(&entry.path[2]).is_some()
            });
            let why = if is_there {
                "is fed by no sequence, or not by its values as they are"
            } else {
                "is not in this database, or the role may not see it"
            };
            format!("witness line {}: {} {why}", entry.line, entry.path.join("."))
        });
        said.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::Table;
    use crate::sequences::standing::steps_to;

    /// `users.id` fed by a sequence, with this largest value.
    fn users(sequence: Sequence, extreme: Extreme) -> Catalog {
        let table = Table::of("users").column("id", "integer", Kind::int(32)).primary(&["id"]);
        Catalog::of(Dialect::Postgres)
            .with(table)
            .fed("users.id", sequence)
            .changed("users.id", |column| column.extreme = extreme)
    }

    fn judged(sequence: Sequence, extreme: Extreme, gap: u64, witness: &[i64]) -> Standing {
        let witness =
            witness.iter().fold(Witness::default(), |all, seen| all.with(&["public", "users", "id"], *seen));
        let (mut standings, strays) = standings(&users(sequence, extreme), &Demand { gap, witness });
        assert_eq!(strays, Vec::<String>::new());
        standings.remove(0)
    }

    fn at(last: i128) -> Sequence {
        Sequence::of("users_id_seq", 32, Reading::Value(last))
    }

    fn down(last: i128) -> Sequence {
        Sequence { increment: -1, min: -100, max: -1, ..at(last) }
    }

    #[test]
    fn a_standby_that_is_up_to_32_ahead_is_fine_and_one_behind_is_not() {
        assert_eq!(judged(at(33), Extreme::Exact(10), 0, &[]).verdict, Verdict::Fine);
        assert_eq!(judged(at(10), Extreme::Exact(10), 0, &[]).verdict, Verdict::Fine);
        let behind = judged(at(9), Extreme::Exact(10), 0, &[]);
        assert_eq!(behind.verdict, Verdict::Behind { by: By::Column, next: 10 });
        assert_eq!(behind.target(0), Some(10));
    }

    #[test]
    fn ids_seen_elsewhere_count_though_the_column_looks_right() {
        assert_eq!(
            judged(at(33), Extreme::Exact(10), 0, &[60, 50]).verdict,
            Verdict::Behind { by: By::Witness, next: 34 }
        );
        assert_eq!(judged(at(33), Extreme::Exact(10), 0, &[60]).target(0), Some(60));
        assert_eq!(judged(at(60), Extreme::Exact(10), 0, &[60]).verdict, Verdict::Fine);
    }

    #[test]
    fn a_gap_is_demanded_past_what_is_known_and_added_to_what_the_sequence_shows() {
        let short = judged(at(33), Extreme::Exact(10), 100, &[]);
        assert_eq!(short.verdict, Verdict::Behind { by: By::Gap, next: 34 });
        assert_eq!(short.target(100), Some(133));
        assert_eq!(judged(at(133), Extreme::Exact(10), 100, &[]).verdict, Verdict::Fine);
        assert!(judged(at(133), Extreme::Exact(10), 100, &[]).is_moved_by(100));
    }

    #[test]
    fn descending_sequences_are_judged_by_the_lowest_value() {
        assert_eq!(judged(down(-7), Extreme::Exact(-7), 0, &[]).verdict, Verdict::Fine);
        let behind = judged(down(-3), Extreme::Exact(-7), 0, &[]);
        assert_eq!(behind.verdict, Verdict::Behind { by: By::Column, next: -4 });
        assert_eq!((behind.target(0), behind.target(5)), (Some(-7), Some(-12)));
        assert!(behind.reachable(94).unwrap_err().contains("ends at -100"));
    }

    #[test]
    fn a_sequence_that_was_never_used_is_behind_only_where_there_are_rows() {
        let fresh = |next| Sequence { reading: Reading::NeverUsed { next: Some(next) }, ..at(0) };
        assert_eq!(judged(fresh(1), Extreme::Empty, 0, &[]).verdict, Verdict::Fine);
        assert_eq!(judged(fresh(2_000), Extreme::Exact(5), 0, &[]).verdict, Verdict::Fine);
        let behind = judged(fresh(1), Extreme::Exact(1), 0, &[]);
        assert_eq!((behind.verdict.name(), behind.target(0)), ("behind", Some(1)));
    }

    #[test]
    fn steps_are_kept_and_values_of_other_servers_do_not_count() {
        let odd = |last| Sequence { increment: 2, ..at(last) };
        assert_eq!(judged(odd(1), Extreme::Exact(60), 0, &[]).verdict, Verdict::Fine);
        assert_eq!(judged(odd(1), Extreme::Exact(61), 0, &[]).target(0), Some(61));
        assert_eq!(judged(odd(1), Extreme::Exact(5), 0, &[60]).target(0), Some(61));
        for (last, goal, increment, expected) in
            [(5, 5, 1, 5), (9, 5, 1, 9), (0, 7, 50, 50), (-1, -60, -2, -61), (-9, -5, -1, -9)]
        {
            assert_eq!(steps_to(last, goal, increment), expected, "{last} {goal} {increment}");
        }
    }

    #[test]
    fn what_is_not_known_is_unknown_unless_what_is_known_is_enough() {
        let no_index = judged(at(33), Extreme::Unread(Unread::NoIndex), 0, &[]);
        let Verdict::Unknown { why, next } = &no_index.verdict else { panic!("{no_index:?}") };
        assert!(why.contains("no index begins with public.users.id"), "{why}");
        assert_eq!(next, r#"SELECT max("id") FROM ONLY "public"."users";"#);
        assert_eq!(judged(at(33), Extreme::AtLeast(10), 0, &[]).verdict.name(), "unknown");
        assert_eq!(judged(at(33), Extreme::AtLeast(34), 0, &[]).verdict.name(), "behind");
        assert_eq!(judged(at(33), Extreme::Unread(Unread::Locked), 0, &[60]).verdict.name(), "behind");
        let hidden = Sequence { reading: Reading::Unreadable { needs: "SELECT".to_owned() }, ..at(0) };
        assert_eq!(judged(hidden, Extreme::Exact(1), 0, &[]).verdict.name(), "unknown");
    }

    #[test]
    fn a_target_past_the_column_or_the_sequence_is_refused_by_name() {
        let of_column = Sequence { max: i128::from(i64::MAX), ..at(5) };
        let refused = judged(of_column, Extreme::Exact(9), 0, &[3_000_000_000]).reachable(0).unwrap_err();
        assert!(refused.contains("column public.users.id (integer) ends at 2147483647"), "{refused}");
        let of_sequence = Sequence { max: 50, ..at(5) };
        let refused = judged(of_sequence, Extreme::Exact(60), 0, &[]).reachable(0).unwrap_err();
        assert!(refused.contains("sequence public.users_id_seq ends at 50"), "{refused}");
    }

    #[test]
    fn cycling_and_unfed_sequences_are_not_judged() {
        let cycling = Sequence { cycles: true, ..at(1) };
        assert_eq!(judged(cycling, Extreme::Exact(60), 0, &[]).verdict.name(), "not_judged");
        let mut catalog = Catalog::of(Dialect::Postgres);
        catalog.sequences.push(at(5));
        let seen = Witness::default().with(&["public", "users_id_seq"], 7).with(&["public", "none"], 1);
        assert_eq!(standings(&catalog, &Demand::default()).0[0].verdict.name(), "not_judged");
        // What a gap is demanded of and can't be read isn't fine.
        catalog.sequences[0].reading = Reading::Unreadable { needs: "SELECT".to_owned() };
        let demand = Demand { gap: 5, witness: Witness::default() };
        assert_eq!(standings(&catalog, &demand).0[0].verdict.name(), "unknown");
        catalog.sequences[0].reading = Reading::Value(5);
        let (found, strays) = standings(&catalog, &Demand { gap: 0, witness: seen });
        assert_eq!(found[0].verdict.name(), "behind");
        assert!(strays.len() == 1 && strays[0].starts_with("witness line 2: public.none"), "{strays:?}");
    }
}
