//! Traps: a few lines of SQL, and everything that the report must say about them, and nothing else.

use mintage_keys::ignore::Ignore;
use mintage_keys::report::{NEARLY_FULL, Thresholds};
use mintage_keys::{Catalog, Report};
use std::io::Read;
use std::net::{Shutdown, TcpListener, TcpStream};

/// Something about which a doctor of keys may be wrong.
pub(crate) struct Trap {
    /// What it is.
    pub(crate) name: &'static str,
    /// What makes it.
    pub(crate) sql: &'static str,
    /// What is said, in any order: see [`said`].
    pub(crate) says: &'static [&'static str],
}

/// A counter in a parent's row below the largest number of its children, for every server: what the trap of that name makes.
pub(crate) const SCOPES: &str = "CREATE TABLE projects(id BIGINT PRIMARY KEY, last_issue_number INT, issues_count INT);
    CREATE TABLE issues(project_id BIGINT, number INT, PRIMARY KEY (project_id, number), FOREIGN KEY (project_id) REFERENCES projects(id));
    INSERT INTO projects VALUES (1, 2, 0), (2, 5, 0), (3, 0, 0); INSERT INTO issues VALUES (1, 1), (1, 2), (2, 7)";

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

/// The SQL that a report proposes: the server must take it as it stands.
pub(crate) fn nexts(catalog: &Catalog) -> Vec<String> {
    let report = Report::of(catalog, Thresholds { warn: 0.0, fail: 0.5 }, &Ignore::default());
    let of_keys = report.keys.into_iter().filter_map(|key| key.next);
    let nexts = of_keys.chain(report.findings.into_iter().map(|finding| finding.next));
    nexts.filter(|next| ["ALTER ", "CREATE ", "SELECT "].iter().any(|word| next.starts_with(word))).collect()
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

/// A way to a server that is cut after so many bytes of its answers; its port.
pub(crate) fn cut_after(port: u16, bytes: u64) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let here = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        let (mut client, _) = listener.accept().unwrap();
        let mut server = TcpStream::connect(("127.0.0.1", port)).unwrap();
        let (mut questions, mut to) = (client.try_clone().unwrap(), server.try_clone().unwrap());
        std::thread::spawn(move || std::io::copy(&mut questions, &mut to));
        let _ = std::io::copy(&mut (&mut server).take(bytes), &mut client);
        let _ = (client.shutdown(Shutdown::Both), server.shutdown(Shutdown::Both));
    });
    here
}
