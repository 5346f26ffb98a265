//! What ends a key, what happens then, and what moves that end: in words and SQL.

use crate::catalog::{Catalog, ColumnAt, Dialect, Grows, Kind, Sequence};
use crate::checks::{sql_retype, sql_sequence};
use crate::limits::{Key, Limiter};
use crate::names::harmless;

/// What can't hold more, in words.
pub(super) fn limited_by(catalog: &Catalog, key: &Key) -> String {
    let copy = |at: ColumnAt, how: &str| {
        let column = catalog.column(at);
        format!("{} {} ({how})", catalog.path(at), column.declared)
    };
    match (key.limited_by, key.at, key.sequence) {
        (Limiter::ForeignKey(at), ..) => copy(at, "foreign key"),
        (Limiter::CopyByName(at), ..) => copy(at, "copy by name"),
        (Limiter::Generated(at), ..) => copy(at, "generated from it"),
        (Limiter::Sequence, _, Some(index)) => {
            let sequence = &catalog.sequences[index];
            format!("sequence {}.{}", sequence.schema, sequence.name)
        }
        (Limiter::Check, Some(at), _) => {
            format!("a CHECK of {} or of its domain", catalog.path(at))
        }
        (Limiter::Type, Some(at), _) => format!("column type {}", catalog.column(at).declared),
        (Limiter::Type, None, Some(index)) => {
            let owner = catalog.sequences[index].owner.map(|at| catalog.path(at)).unwrap_or_default();
            format!("column type of {owner}")
        }
        _ => "space".to_owned(),
    }
}

/// What happens past the limit.
pub(super) fn then(catalog: &Catalog, key: &Key) -> &'static str {
    let sequence = key.sequence.map(|index| &catalog.sequences[index]);
    match key.limited_by {
        Limiter::ForeignKey(_) | Limiter::CopyByName(_) => "rows that refer to newer ones are refused",
        _ if sequence.is_some_and(|sequence| sequence.cycles && sequence.bound() == key.limit) => {
            "it begins again, with numbers that were handed out before"
        }
        Limiter::Type | Limiter::Check | Limiter::Sequence | Limiter::Generated(_) => "new rows are refused",
        Limiter::Space => "nothing more is handed out",
    }
}

/// What moves the limit.
pub(super) fn next(catalog: &Catalog, key: &Key) -> String {
    match (key.limited_by, key.at, key.sequence) {
        (Limiter::ForeignKey(at) | Limiter::CopyByName(at), ..) if catalog.column(at).is_checked() => {
            widen_check(catalog, at)
        }
        (Limiter::Check, Some(at), _) => widen_check(catalog, at),
        (Limiter::ForeignKey(at) | Limiter::CopyByName(at), Some(of), _) => {
            retype(catalog, at, &catalog.column(of).declared)
        }
        (Limiter::Generated(at), ..) => format!(
            "add a generated column of the wider type beside {}, and drop this one: the type of a generated column can't be changed by itself",
            harmless(&catalog.path(at))
        ),
        (Limiter::Sequence, at, Some(index)) => {
            let sequence = &catalog.sequences[index];
            widen(catalog, sequence, at.map(|at| catalog.column(at).kind)).unwrap_or_else(|| SPENT.to_owned())
        }
        (Limiter::Type, Some(at), _) if !matches!(catalog.column(at).kind, Kind::Int { bits: 64, .. }) => {
            let is_unsigned = matches!(catalog.column(at).kind, Kind::Int { is_unsigned: true, .. });
            retype(catalog, at, if is_unsigned { "bigint unsigned" } else { "bigint" })
        }
        (Limiter::Space, ..) => "mintage store list".to_owned(),
        _ => SPENT.to_owned(),
    }
}

/// What to do where nothing wider is to be had.
pub(super) const SPENT: &str = "64 bits are spent: numbers must be taken more sparingly, or the key replaced";

/// What moves a CHECK.
fn widen_check(catalog: &Catalog, at: ColumnAt) -> String {
    format!(
        "a wider CHECK for {}, or for its domain, in the place of the one that ends it: add it NOT VALID, drop the old one, validate it",
        harmless(&catalog.path(at))
    )
}

/// What gives a column another type, with what that costs.
fn retype(catalog: &Catalog, at: ColumnAt, declared: &str) -> String {
    let next = sql_retype(catalog, at, declared);
    if next.ends_with(';') { format!("{next} -- rewrites the table under a lock") } else { next }
}

/// SQL that moves the bound of a sequence which feeds a column of this kind; `None` where it has none but that of 64 bits.
fn widen(catalog: &Catalog, sequence: &Sequence, fed: Option<Kind>) -> Option<String> {
    let (name, grows) = (sql_sequence(catalog, sequence), sequence.grows());
    let word = if grows == Grows::Up { "MAXVALUE" } else { "MINVALUE" };
    if catalog.server.dialect != Dialect::Postgres {
        // One less than the largest of 64 bits, as the server keeps one for itself.
        let end = i128::from(i64::MAX) - 1;
        return (sequence.bound().abs() < end).then(|| format!("ALTER SEQUENCE {name} NO{word};"));
    }
    let bits = match sequence.declared.as_str() {
        "smallint" => 16,
        "integer" => 32,
        _ => 64,
    };
    let own = Kind::int(bits).bound(grows).unwrap_or_default();
    let holds = fed.and_then(|kind| kind.bound(grows));
    // The type's own bound goes along with it; one that was chosen has to be taken away.
    let chosen = if sequence.bound() == own { String::new() } else { format!(" NO {word}") };
    let is_wider = bits < 64 && holds.is_none_or(|holds| holds.abs() > own.abs());
    match (is_wider, chosen.is_empty()) {
        (true, _) => Some(format!("ALTER SEQUENCE {name} AS bigint{chosen};")),
        (false, false) => Some(format!("ALTER SEQUENCE {name}{chosen};")),
        (false, true) => None,
    }
}
