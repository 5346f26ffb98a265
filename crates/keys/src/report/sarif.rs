//! SARIF 2.1.0, for code scanning.
//!
//! Source: OASIS, "Static Analysis Results Interchange Format (SARIF) Version 2.1.0".

use super::{Lint, NEARLY_FULL, Report, path};
use crate::catalog::Place;
use crate::checks::{CHECKS, Finding, Severity};
use crate::names::harmless;
use serde_json::{Value, json};

/// One log with a run for each report.
#[must_use]
pub fn sarif(reports: &[Report]) -> Value {
    log(&reports.iter().map(run).collect::<Vec<_>>())
}

fn log(runs: &[Value]) -> Value {
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": runs,
    })
}

fn run(report: &Report) -> Value {
    let mut run = tool(&report.findings);
    run["properties"] = json!({
        "server": report.server.url,
        "product": report.server.dialect.name(),
        "productVersion": report.server.version,
    });
    run
}

/// A log about files, in which what wasn't read is a notification.
pub(super) fn of_lint(lint: &Lint) -> Value {
    let notifications: Vec<Value> = lint
        .skipped
        .iter()
        .map(|skipped| {
            let text = format!("not read: {}: {}", harmless(&skipped.begins), harmless(&skipped.why));
            json!({
                "level": "warning",
                "message": { "text": text },
                "locations": [{ "physicalLocation": physical(&skipped.place) }],
            })
        })
        .collect();
    let mut run = tool(&lint.findings);
    run["invocations"] =
        json!([{ "executionSuccessful": true, "toolExecutionNotifications": notifications }]);
    run["properties"] = json!({ "product": lint.dialect.name() });
    log(&[run])
}

/// A run with the rules and what they found.
fn tool(findings: &[Finding]) -> Value {
    let mut rules: Vec<Value> =
        CHECKS.iter().map(|check| rule(check.code, check.title, check.why, check.severity)).collect();
    rules.push(rule(
        NEARLY_FULL,
        "a key that has used much of its values",
        "Past its last value new rows are refused.",
        Severity::Error,
    ));
    let results: Vec<Value> = findings.iter().map(result).collect();
    json!({
        "tool": { "driver": {
            "name": "mintage keys",
            "version": env!("CARGO_PKG_VERSION"),
            "rules": rules,
        } },
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
        location["physicalLocation"] = physical(place);
    }
    json!({
        "ruleId": finding.code,
        "level": finding.severity.name(),
        "message": { "text": format!("{}: {}. Next: {}", harmless(&path), harmless(&finding.message), harmless(&finding.next)) },
        "locations": [location],
        "partialFingerprints": { "where/v1": format!("{}:{path}", finding.code) },
    })
}

fn physical(place: &Place) -> Value {
    json!({
        "artifactLocation": { "uri": uri(place.file.strip_prefix("./").unwrap_or(&place.file)) },
        "region": { "startLine": place.line },
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
