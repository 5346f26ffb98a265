//! One JSON object a database; numbers of 64 bits are strings.

use super::Outlook;
use super::standing::{By, Standing, Verdict};
use crate::report::json::{ServerShown, written};
use serde::Serialize;

#[derive(Serialize)]
struct Shown<'a> {
    server: ServerShown<'a>,
    gap: String,
    fine: bool,
    sequences: Vec<SequenceShown<'a>>,
    strays: &'a [String],
    notes: &'a [String],
}

#[derive(Serialize)]
struct SequenceShown<'a> {
    schema: &'a str,
    name: &'a str,
    kind: &'static str,
    columns: Vec<ColumnShown<'a>>,
    verdict: &'static str,
    behind: Option<&'static str>,
    next: Option<String>,
    in_use: Option<String>,
    witness: Option<String>,
    increment: String,
    cache: String,
    target: Option<String>,
    before: Option<&'a str>,
    after: Option<&'a str>,
    refused: Option<String>,
    why: Option<&'a str>,
    next_step: Option<&'a str>,
    sql: Option<String>,
}

#[derive(Serialize)]
struct ColumnShown<'a> {
    schema: &'a str,
    table: &'a str,
    column: &'a str,
    r#type: &'a str,
}

pub(super) fn json(outlook: &Outlook) -> String {
    let shown = Shown {
        server: ServerShown::of(&outlook.server),
        gap: outlook.gap.to_string(),
        fine: outlook.is_fine(),
        sequences: outlook.standings.iter().map(|standing| sequence(outlook, standing)).collect(),
        strays: &outlook.strays,
        notes: &outlook.notes,
    };
    written(&shown)
}

fn sequence<'a>(outlook: &Outlook, standing: &'a Standing) -> SequenceShown<'a> {
    let (behind, why, next_step) = match &standing.verdict {
        Verdict::Behind { by: By::Column, .. } => (Some("column"), None, None),
        Verdict::Behind { by: By::Witness, .. } => (Some("witness"), None, None),
        Verdict::Behind { by: By::Gap, .. } => (Some("gap"), None, None),
        Verdict::Unknown { why, next } => (None, Some(why.as_str()), Some(next.as_str())),
        Verdict::NotJudged { why } => (None, Some(*why), None),
        Verdict::Fine => (None, None, None),
    };
    let is_planned = standing.is_moved_by(outlook.gap) && standing.repaired.is_none();
    let reachable = is_planned.then(|| standing.reachable(outlook.gap));
    let (target, refused) = match reachable {
        Some(Ok(target)) => (Some(target), None),
        Some(Err(why)) => (None, Some(why)),
        None => (None, None),
    };
    let value = |value: Option<i128>| value.map(|value| value.to_string());
    SequenceShown {
        schema: &standing.schema,
        name: &standing.name,
        kind: if standing.is_counter { "auto_increment" } else { "sequence" },
        columns: standing
            .columns
            .iter()
            .map(|column| ColumnShown {
                schema: &column.path[0],
                table: &column.path[1],
                column: &column.path[2],
                r#type: &column.declared,
            })
            .collect(),
        verdict: standing.verdict.name(),
        behind,
        next: value(standing.next()),
        in_use: value(standing.in_use),
        witness: value(standing.witness),
        increment: standing.increment.to_string(),
        cache: standing.cache.to_string(),
        target: value(target),
        before: standing.repaired.as_ref().map(|(before, _)| before.as_str()),
        after: standing.repaired.as_ref().map(|(_, after)| after.as_str()),
        refused: standing.refused.clone().or(refused),
        why,
        next_step,
        sql: target.map(|target| super::text::sql(outlook, standing, target)),
    }
}
