//! A sequence that ends before the column that it feeds.

use super::{Check, Examples, Finding, Severity, sql_sequence};
use crate::catalog::{Catalog, Dialect, Feed, Grows, Kind, Reading, Sequence, Table};

pub(super) const CHECK: Check = Check {
    code: "sequence-narrow",
    title: "a sequence that ends before its column does",
    why: "`ALTER COLUMN … TYPE bigint` on a serial column leaves its sequence an integer: `nextval: reached maximum value of sequence` \
          comes at the same number as before. An identity column's sequence is widened with it; a serial's isn't.",
    source: "tried on PostgreSQL 15; PostgreSQL documentation, ALTER SEQUENCE, AS",
    severity: Severity::Warning,
    engines: Dialect::ALL,
    run,
    examples: Examples { passes: || example(64), fails: || example(32) },
};

fn example(bits: u32) -> Catalog {
    let table = Table::of("users").column("id", "bigint", Kind::int(64)).primary(&["id"]);
    let sequence = Sequence::of("users_id_seq", bits, Reading::Value(5));
    Catalog::of(Dialect::Postgres).with(table).fed("users.id", sequence)
}

fn run(catalog: &Catalog) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (at, _, column) in catalog.columns() {
        let Feed::Sequence { sequence, .. } = column.feed else { continue };
        let sequence = &catalog.sequences[sequence];
        let Some(holds) = column.kind.bound(sequence.grows()) else { continue };
        let ends_early = match sequence.grows() {
            Grows::Up => sequence.max < holds,
            Grows::Down => sequence.min > holds,
        };
        // A bound that belongs to a narrower type was left behind; any other was chosen.
        let is_left = [8, 16, 24, 32]
            .iter()
            .any(|&bits| Kind::int(bits).bound(sequence.grows()) == Some(sequence.bound()));
        if !ends_early || !is_left || sequence.cycles {
            continue;
        }
        let message = format!(
            "{} holds values up to {holds}, but its sequence ends at {}",
            column.declared,
            sequence.bound()
        );
        let name = sql_sequence(catalog, sequence);
        let bound = if sequence.increment < 0 { "MINVALUE" } else { "MAXVALUE" };
        let next = match catalog.server.dialect {
            Dialect::Postgres if sequence.declared != "bigint" => match column.kind {
                Kind::Int { bits: 32, .. } => format!("ALTER SEQUENCE {name} AS integer;"),
                _ => format!("ALTER SEQUENCE {name} AS bigint;"),
            },
            Dialect::Postgres => format!("ALTER SEQUENCE {name} NO {bound};"),
            _ => format!("ALTER SEQUENCE {name} NO{bound};"),
        };
        findings.push(Finding::of_column(catalog, at, CHECK.code, Severity::Warning).says(message, next));
    }
    findings
}
