//! One JSON object a database.

use super::{KeyLine, Report};
use crate::catalog::Server;
use crate::checks::Finding;
use serde::Serialize;

#[derive(Serialize)]
struct Shown<'a> {
    server: ServerShown<'a>,
    keys: Vec<KeyShown<'a>>,
    findings: Vec<FindingShown<'a>>,
}

/// Who answered.
#[derive(Serialize)]
pub(crate) struct ServerShown<'a> {
    url: &'a str,
    product: &'static str,
    version: &'a str,
    standby: bool,
}

impl<'a> ServerShown<'a> {
    pub(crate) fn of(server: &'a Server) -> Self {
        Self {
            url: &server.url,
            product: server.dialect.name(),
            version: &server.version,
            standby: server.is_standby,
        }
    }
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
pub(super) struct FindingShown<'a> {
    code: &'a str,
    severity: &'a str,
    schema: &'a str,
    table: Option<&'a str>,
    column: Option<&'a str>,
    message: &'a str,
    next: &'a str,
    /// Of what comes from a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u64>,
}

pub(super) fn json(report: &Report) -> String {
    let shown = Shown {
        server: ServerShown::of(&report.server),
        keys: report.keys.iter().map(key).collect(),
        findings: report.findings.iter().map(finding).collect(),
    };
    written(&shown)
}

/// One line.
pub(crate) fn written(shown: &impl Serialize) -> String {
    serde_json::to_string(shown).expect("strings and numbers are JSON")
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

pub(super) fn finding(finding: &Finding) -> FindingShown<'_> {
    FindingShown {
        code: finding.code,
        severity: finding.severity.name(),
        schema: &finding.schema,
        table: finding.table.as_deref(),
        column: finding.column.as_deref(),
        message: &finding.message,
        next: &finding.next,
        file: finding.place.as_ref().map(|place| place.file.as_str()),
        line: finding.place.as_ref().map(|place| place.line),
    }
}
