//! What a repair runs: complete text, the same that `--dry-run` shows.

use super::fed::Way;
use super::standing::{ColumnFed, Standing};
use crate::catalog::{Dialect, Grows};

/// How long a repair waits for a sequence's lock, while later calls of `nextval` queue behind it.
const LOCK_TIMEOUT: &str = "1s";

/// How long one of its statements may take: all that while `nextval` waits. The end of an index takes less than a millisecond.
const STATEMENT_TIMEOUT: &str = "2s";

/// One PostgreSQL transaction. It answers with two rows: the last value and whether it was handed out, before; and what was set.
///
/// `ALTER SEQUENCE` changes nothing here; it takes SHARE ROW EXCLUSIVE, for which `nextval` waits. What is read after it can't
/// grow until the end of the transaction, so a live sequence is never set back. The commit doesn't wait for standbys: a server that
/// has just been promoted may have none yet, and whatever is committed later carries this with it.
pub(super) fn postgres(standing: &Standing, gap: u64) -> String {
    let dialect = Dialect::Postgres;
    let quoted = |name: &str| dialect.quoted(name);
    let name = format!("{}.{}", quoted(&standing.schema), quoted(&standing.name));
    let lock = match &standing.owner {
        Some([schema, table, column]) => {
            format!("OWNED BY {}.{}.{}", quoted(schema), quoted(table), quoted(column))
        }
        None => format!("INCREMENT BY {}", standing.increment),
    };
    let (further, past, sign) = match standing.grows {
        Grows::Up => ("greatest", ">=", '+'),
        Grows::Down => ("least", "<=", '-'),
    };
    let in_use = in_use(standing);
    let goal = match gap {
        0 => format!("{further}(in_use, last_value)"),
        gap => format!("{further}(in_use, last_value) {sign} {gap}"),
    };
    let value = match standing.increment {
        1 | -1 => goal,
        step => format!("last_value + {step} * ceil(({goal} - last_value) / {step})"),
    };
    let is_called = match gap {
        0 => format!("is_called OR coalesce(in_use {past} last_value, false)"),
        _ => "true".to_owned(),
    };
    format!(
        "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE;\n\
         SET LOCAL lock_timeout = '{LOCK_TIMEOUT}'; SET LOCAL statement_timeout = '{STATEMENT_TIMEOUT}'; SET LOCAL search_path = '';\n\
         SET LOCAL row_security = off; SET LOCAL standard_conforming_strings = on; SET LOCAL synchronous_commit = local;\n\
         ALTER SEQUENCE {name} {lock};\n\
         SELECT last_value, is_called FROM {name};\n\
         SELECT setval({}::regclass, ({value})::bigint, {is_called})\n\
         FROM (SELECT last_value::numeric, is_called, {in_use} AS in_use FROM {name}) AS now;\n\
         COMMIT;\n",
        literal(&name)
    )
}

/// The furthest value in use, as an expression: read anew under the lock where an index makes that quick. A scan would keep
/// every insert waiting, so there what was found before counts.
fn in_use(standing: &Standing) -> String {
    let end = if standing.grows == Grows::Up { "max" } else { "min" };
    let quoted = |name: &str| Dialect::Postgres.quoted(name);
    let mut parts: Vec<String> = Vec::new();
    let within = |column: &str| match (standing.within, standing.grows) {
        (Some(within), Grows::Up) => format!(" WHERE {} <= {within}", quoted(column)),
        (Some(within), Grows::Down) => format!(" WHERE {} >= {within}", quoted(column)),
        (None, _) => String::new(),
    };
    let round = if standing.grows == Grows::Up { "floor" } else { "ceil" };
    for ColumnFed { path: [schema, table, column], way, is_cheap, is_whole, only, furthest, .. } in
        &standing.columns
    {
        if !matches!(way, Way::AsTheyAre { .. }) {
            continue;
        }
        let read = |from: &str, [schema, table]: [&String; 2]| {
            let end = if *is_whole {
                format!("{end}({})", quoted(column))
            } else {
                format!("{round}({end}({})::numeric)", quoted(column))
            };
            format!("(SELECT {end} FROM {from}{}.{}{})", quoted(schema), quoted(table), within(column))
        };
        if *is_cheap && only.is_empty() {
            parts.push(read("", [schema, table]));
        } else if *is_cheap {
            // What another sequence feeds is no business of this one, and may have no index.
            parts.extend(only.iter().map(|[schema, table]| read("ONLY ", [schema, table])));
        } else if let Some(value) = furthest {
            parts.push(value.to_string());
        }
    }
    parts.extend(standing.witness.map(|value| value.to_string()));
    match &parts[..] {
        [] => "NULL::numeric".to_owned(),
        _ => {
            let further = if standing.grows == Grows::Up { "greatest" } else { "least" };
            format!("{further}({})::numeric", parts.join(", "))
        }
    }
}

/// What moves a SEQUENCE or a counter of MariaDB or MySQL, a statement a line. SETVAL never sets a sequence back. A counter is read and raised
/// under one lock: what was handed out and rolled back since it was looked at leaves no row, and InnoDB would set the counter back to
/// its column. The last line but one answers with the last value before, and what was set.
pub(super) fn mysql(standing: &Standing, target: i128, gap: u64, dialect: Dialect) -> String {
    let quoted = |name: &str| dialect.quoted(name);
    let name = format!("{}.{}", quoted(&standing.schema), quoted(&standing.name));
    if standing.is_counter {
        let fresh = match dialect {
            // It shows a day-old copy of the counter otherwise.
            Dialect::MySql => "SET SESSION information_schema_stats_expiry = 0;\n",
            _ => "",
        };
        let known = standing.known().unwrap_or(0).max(0);
        // In place or not at all: a copy of the table would take its time.
        let alter = mysql_literal(&format!("ALTER TABLE {name} ALGORITHM = INPLACE, AUTO_INCREMENT = "));
        format!(
            "{fresh}LOCK TABLES {name} WRITE;\n\
             SELECT AUTO_INCREMENT - 1 INTO @mintage_last FROM information_schema.TABLES WHERE TABLE_SCHEMA = {} AND TABLE_NAME = {};\n\
             SET @mintage_set = GREATEST(@mintage_last, {known}) + {gap};\n\
             SET @mintage_sql = IF(@mintage_set > @mintage_last, CONCAT({alter}, @mintage_set + 1), 'DO 0');\n\
             PREPARE mintage_move FROM @mintage_sql;\n\
             EXECUTE mintage_move;\n\
             SELECT @mintage_last, @mintage_set;\n\
             UNLOCK TABLES;\n",
            mysql_literal(&standing.schema),
            mysql_literal(&standing.name),
        )
    } else {
        format!("SELECT SETVAL({name}, {target});\n")
    }
}

/// Text as it stands in SQL of MariaDB and MySQL, whatever it holds.
fn mysql_literal(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "''").replace('\n', "\\n"))
}

/// Text as it stands in PostgreSQL's SQL, whatever it holds.
fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}
