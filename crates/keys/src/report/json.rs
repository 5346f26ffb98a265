//! One JSON object a database.

use super::{KeyLine, Report};
use crate::checks::Finding;
use serde::Serialize;

#[derive(Serialize)]
struct Shown<'a> {
    server: ServerShown<'a>,
    keys: Vec<KeyShown<'a>>,
    findings: Vec<FindingShown<'a>>,
}

#[derive(Serialize)]
struct ServerShown<'a> {
    url: &'a str,
    product: &'static str,
    version: &'a str,
    standby: bool,
}

#[derive(Serialize)]
struct KeyShown<'a> {
    schema: &'a str,
    table: Option<&'a str>,
    column: Option<&'a str>,
    r#type: &'a str,
    sequence: Option<&'a str>,
    current: Option<String>,
    current_source: &'a str,
    limit: String,
    limited_by: &'a str,
    ratio: Option<f64>,
    /// When it ends: needs a history of values.
    dates: Option<()>,
    confidence: &'a str,
}

#[derive(Serialize)]
struct FindingShown<'a> {
    code: &'a str,
    severity: &'a str,
    schema: &'a str,
    table: Option<&'a str>,
    column: Option<&'a str>,
    message: &'a str,
    next: &'a str,
}

pub(super) fn json(report: &Report) -> String {
    let server = &report.server;
    let shown = Shown {
        server: ServerShown {
            url: &server.url,
            product: server.dialect.name(),
            version: &server.version,
            standby: server.is_standby,
        },
        keys: report.keys.iter().map(key).collect(),
        findings: report.findings.iter().map(finding).collect(),
    };
    serde_json::to_string(&shown).expect("strings and numbers are JSON")
}

fn key(line: &KeyLine) -> KeyShown<'_> {
    KeyShown {
        schema: &line.schema,
        table: line.table.as_deref(),
        column: line.column.as_deref(),
        r#type: &line.declared,
        sequence: line.sequence.as_deref(),
        current: line.current.map(|value| value.to_string()),
        current_source: &line.current_source,
        limit: line.limit.to_string(),
        limited_by: &line.limited_by,
        ratio: line.ratio,
        dates: None,
        confidence: line.confidence,
    }
}

fn finding(finding: &Finding) -> FindingShown<'_> {
    FindingShown {
        code: finding.code,
        severity: finding.severity.name(),
        schema: &finding.schema,
        table: finding.table.as_deref(),
        column: finding.column.as_deref(),
        message: &finding.message,
        next: &finding.next,
    }
}
