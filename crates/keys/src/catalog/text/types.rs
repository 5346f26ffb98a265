//! Types as they are written in definitions: what can be stored, and how a server would write them.

use crate::catalog::{Dialect, Kind};

/// A type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    /// As the server writes it.
    pub(super) declared: String,
    pub(super) kind: Kind,
    pub(super) is_array: bool,
    /// Whether upper and lower case are equal to it.
    pub(super) ignores_case: bool,
    /// Whether it brings a sequence: `serial` and its kin.
    pub(super) is_serial: bool,
    /// Whether it isn't one of the server's own, and may be a domain.
    pub(super) is_custom: bool,
}

/// The type that a text stands for.
pub(super) fn shape(text: &str, dialect: Dialect) -> Shape {
    match dialect {
        Dialect::Sqlite => sqlite(text),
        dialect if dialect.is_mysql_like() => mysql(text),
        _ => postgres(text),
    }
}

fn of(declared: String, kind: Kind) -> Shape {
    Shape { declared, kind, is_array: false, ignores_case: false, is_serial: false, is_custom: false }
}

/// `numeric(10, 2)` as `numeric` and its numbers; what follows the parentheses belongs to the name.
fn parts(text: &str) -> (String, Vec<u32>) {
    let Some((name, rest)) = text.split_once('(') else { return (text.trim().to_owned(), Vec::new()) };
    let (numbers, after) = rest.split_once(')').unwrap_or((rest, ""));
    let numbers = numbers.split(',').filter_map(|number| {
        let digits = number.trim();
        let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
        digits[..end].parse().ok()
    });
    (format!("{} {}", name.trim(), after.trim()).trim().to_owned(), numbers.collect())
}

/// Digits before the point.
fn decimal(numbers: &[u32], without: u32) -> Kind {
    let (all, after) = (numbers.first().copied().unwrap_or(without), numbers.get(1).copied().unwrap_or(0));
    Kind::Decimal { digits: all.saturating_sub(after).min(38) }
}

fn postgres(text: &str) -> Shape {
    let lower = text.trim().to_ascii_lowercase();
    let mut element = lower.strip_prefix("pg_catalog.").unwrap_or(&lower);
    let whole = element;
    while let Some((before, _)) = element.strip_suffix(']').and_then(|rest| rest.rsplit_once('[')) {
        element = before.trim_end();
    }
    element = element.strip_suffix(" array").unwrap_or(element);
    let is_array = element != whole;
    let (name, numbers) = parts(element);
    let longest = numbers.first().copied();
    let (declared, kind) = match name.as_str() {
        "smallint" | "int2" | "smallserial" | "serial2" => ("smallint".to_owned(), Kind::int(16)),
        "integer" | "int" | "int4" | "serial" | "serial4" => ("integer".to_owned(), Kind::int(32)),
        "bigint" | "int8" | "bigserial" | "serial8" => ("bigint".to_owned(), Kind::int(64)),
        "numeric" | "decimal" | "dec" => (element.replacen(&name, "numeric", 1), decimal(&numbers, 38)),
        "uuid" => (name.clone(), Kind::Uuid),
        "varchar" | "character varying" | "char varying" => {
            (element.replacen(&name, "character varying", 1), Kind::Text { longest })
        }
        "char" | "character" | "bpchar" => {
            (element.replacen(&name, "character", 1), Kind::Text { longest: longest.or(Some(1)) })
        }
        "text" | "citext" => (name.clone(), Kind::Text { longest: None }),
        "bytea" => (name.clone(), Kind::Bytes { longest: None }),
        _ => (text.trim().to_owned(), Kind::Other),
    };
    let array = if is_array && kind != Kind::Other { "[]" } else { "" };
    Shape {
        is_array,
        ignores_case: name == "citext" || name.ends_with(".citext"),
        is_serial: name.contains("serial") && kind != Kind::Other,
        is_custom: kind == Kind::Other,
        ..of(format!("{declared}{array}"), kind)
    }
}

fn mysql(text: &str) -> Shape {
    let lower = text.trim().to_ascii_lowercase();
    let (name, numbers) = parts(&lower);
    let longest = numbers.first().copied();
    let base = name.split(' ').next().unwrap_or_default();
    let is_unsigned = name.contains("unsigned") || name.contains("zerofill") || name == "serial";
    let int = |bits| Kind::Int { bits, is_unsigned };
    let kind = match base {
        "tinyint" | "bool" | "boolean" => int(8),
        "smallint" | "int2" => int(16),
        "mediumint" => int(24),
        "int" | "integer" | "int4" => int(32),
        "bigint" | "int8" | "serial" => int(64),
        "decimal" | "numeric" | "dec" | "fixed" => decimal(&numbers, 10),
        "uuid" => Kind::Uuid,
        "char" | "character" | "nchar" if !name.contains("varying") => {
            Kind::Text { longest: longest.or(Some(1)) }
        }
        "varchar" | "char" | "character" | "nvarchar" => Kind::Text { longest },
        "text" | "tinytext" | "mediumtext" | "longtext" => Kind::Text { longest: None },
        "binary" => Kind::Bytes { longest: longest.or(Some(1)) },
        "varbinary" | "blob" | "tinyblob" | "mediumblob" | "longblob" => Kind::Bytes { longest },
        _ => Kind::Other,
    };
    let declared = if base == "serial" { "bigint unsigned".to_owned() } else { lower };
    Shape { is_serial: base == "serial", ..of(declared, kind) }
}

/// SQLite's rules of affinity, of which only integers matter, and their width doesn't.
fn sqlite(text: &str) -> Shape {
    let declared = text.trim().to_owned();
    let (name, numbers) = parts(&declared.to_ascii_lowercase());
    let longest = numbers.first().copied();
    let has = |words: &[&str]| words.iter().any(|word| name.contains(word));
    let kind = if has(&["int"]) {
        Kind::int(64)
    } else if name == "uuid" {
        Kind::Uuid
    } else if has(&["char", "clob", "text"]) {
        Kind::Text { longest }
    } else if has(&["blob", "binary"]) {
        Kind::Bytes { longest }
    } else {
        Kind::Other
    };
    of(declared, kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_called_as_their_server_calls_them() {
        for (dialect, text, declared, kind) in [
            (Dialect::Postgres, "INT", "integer", Kind::int(32)),
            (Dialect::Postgres, "pg_catalog.int8", "bigint", Kind::int(64)),
            (Dialect::Postgres, "bigserial", "bigint", Kind::int(64)),
            (Dialect::Postgres, "int4[]", "integer[]", Kind::int(32)),
            (Dialect::Postgres, "INTEGER[3][]", "integer[]", Kind::int(32)),
            (Dialect::Postgres, "VARCHAR(36)", "character varying(36)", Kind::Text { longest: Some(36) }),
            (Dialect::Postgres, "NUMERIC(20,2)", "numeric(20,2)", Kind::Decimal { digits: 18 }),
            (Dialect::Postgres, "app.user_id", "app.user_id", Kind::Other),
            (
                Dialect::MySql,
                "INT(11) UNSIGNED",
                "int(11) unsigned",
                Kind::Int { bits: 32, is_unsigned: true },
            ),
            (Dialect::MySql, "BIGINT", "bigint", Kind::int(64)),
            (Dialect::MySql, "SERIAL", "bigint unsigned", Kind::Int { bits: 64, is_unsigned: true }),
            (Dialect::MySql, "BINARY(16)", "binary(16)", Kind::Bytes { longest: Some(16) }),
            (Dialect::Sqlite, "UNSIGNED BIG INT", "UNSIGNED BIG INT", Kind::int(64)),
            (Dialect::Sqlite, "TEXT", "TEXT", Kind::Text { longest: None }),
        ] {
            let shape = shape(text, dialect);
            assert_eq!((shape.declared.as_str(), shape.kind), (declared, kind), "{text}");
        }
        assert!(
            shape("serial8", Dialect::Postgres).is_serial
                && shape("x.serial_no", Dialect::Postgres).is_custom
        );
    }
}
