//! Any text as definitions in any dialect: reading it never panics, and what comes of it can be checked and shown.

#![no_main]

use libfuzzer_sys::fuzz_target;
use mintage_keys::catalog::Dialect;
use mintage_keys::catalog::text::{Source, read};
use mintage_keys::ignore::Ignore;
use mintage_keys::report::{Lint, Look};

fuzz_target!(|data: (u8, &[u8])| {
    let (dialect, bytes) = data;
    let dialects = [Dialect::Postgres, Dialect::MariaDb, Dialect::MySql, Dialect::Sqlite];
    let dialect = dialects.get(usize::from(dialect) % 5).copied();
    let source = Source { file: "a.sql".to_owned(), text: String::from_utf8_lossy(bytes).into_owned() };
    let lint = Lint::of(read(&[source], dialect), 1, &Ignore::default());
    let shown = lint.text(Look::default());
    assert!(!shown.contains('\u{1b}'), "{shown}");
    for line in lint.skipped.iter().map(|skipped| skipped.place.line) {
        assert!(
            line >= 1 && line <= bytes.iter().filter(|&&byte| byte == b'\n').count() as u64 + 1,
            "line {line}"
        );
    }
    assert!(lint.json().starts_with('{'));
});
