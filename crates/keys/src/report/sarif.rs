//! SARIF 2.1.0, for code scanning.
//!
//! Source: OASIS, "Static Analysis Results Interchange Format (SARIF) Version 2.1.0".

use super::{NEARLY_FULL, Report, path};
use crate::checks::{CHECKS, Finding, Severity};
use crate::names::harmless;
use serde_json::{Value, json};

/// One log with a run for each report.
#[must_use]
pub fn sarif(reports: &[Report]) -> Value {
    let runs: Vec<Value> = reports.iter().map(run).collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": runs,
    })
}

fn run(report: &Report) -> Value {
    let mut rules: Vec<Value> =
        CHECKS.iter().map(|check| rule(check.code, check.title, check.why, check.severity)).collect();
    rules.push(rule(
        NEARLY_FULL,
        "a key that has used much of its values",
        "Past its last value new rows are refused.",
        Severity::Error,
    ));
    let results: Vec<Value> = report.findings.iter().map(result).collect();
    json!({
        "tool": { "driver": {
            "name": "mintage keys",
            "version": env!("CARGO_PKG_VERSION"),
            "rules": rules,
        } },
        "properties": {
            "server": report.server.url,
            "product": report.server.dialect.name(),
            "productVersion": report.server.version,
        },
        "results": results,
    })
}

fn rule(code: &str, title: &str, why: &str, severity: Severity) -> Value {
    json!({
        "id": code,
        "shortDescription": { "text": title },
        "fullDescription": { "text": why },
        "defaultConfiguration": { "level": severity.name() },
    })
}

fn result(finding: &Finding) -> Value {
    let path = path(finding);
    let mut location = json!({
        "logicalLocations": [{ "fullyQualifiedName": path, "kind": if finding.column.is_some() { "member" } else { "type" } }],
    });
    if let Some(place) = &finding.place {
        location["physicalLocation"] = json!({
            "artifactLocation": { "uri": uri(&place.file) },
            "region": { "startLine": place.line },
        });
    }
    json!({
        "ruleId": finding.code,
        "level": finding.severity.name(),
        "message": { "text": format!("{}: {}. Next: {}", harmless(&path), finding.message, harmless(&finding.next)) },
        "locations": [location],
        "partialFingerprints": { "where/v1": format!("{}:{path}", finding.code) },
    })
}

/// A path as a relative or absolute URI reference.
fn uri(file: &str) -> String {
    let mut text = String::new();
    for byte in file.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' | b'~' => {
                text.push(char::from(byte))
            }
            byte => text.push_str(&format!("%{byte:02X}")),
        }
    }
    text
}
