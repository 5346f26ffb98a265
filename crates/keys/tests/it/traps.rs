//! Traps: a few lines of SQL, and everything that the report must say about them, and nothing else.

use mintage_keys::ignore::Ignore;
use mintage_keys::report::{NEARLY_FULL, Thresholds};
use mintage_keys::{Catalog, Report};

/// Something about which a doctor of keys may be wrong.
pub(crate) struct Trap {
    /// What it is.
    pub(crate) name: &'static str,
    /// What makes it.
    pub(crate) sql: &'static str,
    /// What is said, in any order: see [`said`].
    pub(crate) says: &'static [&'static str],
}

/// Everything that a report says, a line each: `PATH TYPE CURRENT/LIMIT SOURCE < LIMITED BY`, and `! SEVERITY CODE PATH`.
///
/// Findings about nearly full keys aren't repeated, and neither is the note on each primary key of 32 bits.
pub(crate) fn said(catalog: &Catalog) -> Vec<String> {
    let report = Report::of(catalog, Thresholds::default(), &Ignore::default());
    let mut lines = Vec::new();
    for key in &report.keys {
        let current = key.current.map_or_else(|| "?".to_owned(), |value| value.to_string());
        lines.push(format!(
            "{} {} {current}/{} {} < {}",
            key.path(),
            key.declared,
            key.limit,
            key.current_source,
            key.limited_by
        ));
        assert_eq!(key.ratio.is_none(), key.current.is_none(), "{key:?}");
    }
    for finding in report.findings {
        if [NEARLY_FULL, "int4-primary-key"].contains(&finding.code) {
            continue;
        }
        let path = [Some(finding.schema), finding.table, finding.column];
        let path: Vec<String> = path.into_iter().flatten().collect();
        lines.push(format!("! {} {} {}", finding.severity.name(), finding.code, path.join(".")));
    }
    lines.sort();
    lines
}

/// What a trap got wrong, for a message; `None` when it got all right.
pub(crate) fn wrong(trap: &Trap, catalog: &Catalog) -> Option<String> {
    let found = said(catalog);
    let mut expected: Vec<String> = trap.says.iter().map(ToString::to_string).collect();
    expected.sort();
    (found != expected).then(|| {
        let only = |a: &[String], b: &[String], sign: &str| -> String {
            a.iter().filter(|line| !b.contains(line)).map(|line| format!("    {sign} {line:?}\n")).collect()
        };
        format!("{}:\n{}{}", trap.name, only(&expected, &found, "missing"), only(&found, &expected, "also"))
    })
}
