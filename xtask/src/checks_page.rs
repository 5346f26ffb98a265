//! docs/checks.md: every check of the key doctor, from the list.

use mintage_keys::catalog::Dialect;
use mintage_keys::checks::{CHECKS, Check};
use std::fmt::Write as _;

const HEAD: &str = "\
# Checks of the key doctor

This page is generated from `CHECKS` in `crates/keys/src/checks`. How far keys have come isn't a check: it is in the report itself, and past
the thresholds it is the finding `key-nearly-full`. Leave out what is known by a file of `CODE schema.table.column` lines, with
`mintage keys report --ignore FILE`.

";

pub(crate) fn text() -> String {
    let mut page = HEAD.to_owned();
    page.push_str("| code | at worst | what it finds |\n|---|---|---|\n");
    let mut line = |text: String| writeln!(page, "{text}").expect("a String takes all text");
    for check in CHECKS {
        line(format!("| [{0}](#{0}) | {1} | {2} |", check.code, check.severity.name(), check.title));
    }
    for check in CHECKS {
        line(String::new());
        line(format!("## {}", check.code));
        line(String::new());
        line(format!("{}. {}. {}.", capital(check.title), capital(check.severity.name()), engines(check)));
        line(String::new());
        line(check.why.to_owned());
        line(String::new());
        line(format!("Source: {}.", check.source));
        let found = (check.run)(&(check.examples.fails)());
        if let Some(example) = found.first() {
            line(String::new());
            line("An example of what it says:".to_owned());
            line(String::new());
            line("```text".to_owned());
            let parts = [Some(&example.schema), example.table.as_ref(), example.column.as_ref()];
            let path: Vec<&str> = parts.into_iter().flatten().map(String::as_str).collect();
            line(format!("{}: {}", path.join("."), example.message));
            line(format!("next: {}", example.next));
            line("```".to_owned());
        }
    }
    page
}

fn engines(check: &Check) -> String {
    if check.engines.len() == Dialect::ALL.len() {
        return "On all databases".to_owned();
    }
    let names: Vec<&str> = check.engines.iter().map(|engine| engine.name()).collect();
    format!("On {}", names.join(", "))
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}
