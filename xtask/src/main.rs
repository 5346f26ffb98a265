//! Chores of this repository. `cargo xtask docs` writes the checked-in files that are computed from data or from what commands
//! print, and `cargo xtask docs --check` fails when one of them is stale.

mod checks_page;
mod console_examples;
mod schemes_page;
mod service_page;

use std::path::Path;
use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask docs [--check]

  docs          write the generated pages: docs/schemes.md, docs/checks.md, docs/service-reference.md, and the outputs shown in docs/inspect.md
  docs --check  write nothing; fail when one of them is not as it should be
";

/// A generated page: its path from the root of the repository, and what it should hold, given what it holds.
type Generated = (&'static str, fn(&str) -> Result<String, String>);

/// All of them.
const GENERATED: &[Generated] = &[
    ("docs/schemes.md", |_| Ok(schemes_page::text())),
    ("docs/checks.md", |_| Ok(checks_page::text())),
    ("docs/service-reference.md", |_| Ok(service_page::text())),
    ("docs/inspect.md", console_examples::refreshed),
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let result = match arguments[..] {
        ["docs"] => write(root()),
        ["docs", "--check"] => check(root()),
        _ => {
            eprint!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask is a folder of the repository")
}

fn write(root: &Path) -> Result<(), String> {
    for (path, expected) in GENERATED {
        let (file, found) = (root.join(path), read(root, path)?);
        let folder = file.parent().unwrap_or(root);
        let expected = expected(&found)?;
        if expected != found {
            std::fs::create_dir_all(folder)
                .and_then(|()| std::fs::write(&file, expected))
                .map_err(|error| format!("{path}: {error}"))?;
            println!("{path}: written");
        }
    }
    Ok(())
}

fn check(root: &Path) -> Result<(), String> {
    let mut stale = Vec::new();
    for (path, expected) in GENERATED {
        let found = read(root, path)?;
        if let Some(difference) = difference(&found, &expected(&found)?) {
            stale.push(format!("{path} is stale; refresh it with `cargo xtask docs`\n{difference}"));
        }
    }
    if stale.is_empty() { Ok(()) } else { Err(stale.join("\n")) }
}

/// What a page holds: nothing where there is none.
fn read(root: &Path, path: &str) -> Result<String, String> {
    match std::fs::read_to_string(root.join(path)) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(String::new()),
        found => found.map_err(|error| format!("{path}: {error}")),
    }
}

/// The lines between the first and the last that differ, as a diff shows them; `None` when there are none.
fn difference(found: &str, expected: &str) -> Option<String> {
    /// Lines shown of each side; enough to see which fact changed.
    const SHOWN: usize = 10;
    if found == expected {
        return None;
    }
    // Not `lines`: a missing newline at the end is a difference too.
    let (old, new): (Vec<&str>, Vec<&str>) = (found.split('\n').collect(), expected.split('\n').collect());
    let top = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let rest = old[top..].iter().rev().zip(new[top..].iter().rev());
    let bottom = rest.take_while(|(a, b)| a == b).count();
    let (mut old, mut new) = (old[top..old.len() - bottom].to_vec(), new[top..new.len() - bottom].to_vec());
    let head = format!("@@ from line {}: {} found, {} expected @@", top + 1, old.len(), new.len());
    if old.len() == new.len() {
        // Line for line: those between that are equal say nothing.
        (old, new) = old.into_iter().zip(new).filter(|(a, b)| a != b).unzip();
    }
    let mut lines = vec![head];
    for (sign, side) in [('-', old), ('+', new)] {
        lines.extend(side.iter().take(SHOWN).map(|line| format!("{sign}{line}")));
        if side.len() > SHOWN {
            lines.push(format!("{sign}… {} more lines", side.len() - SHOWN));
        }
    }
    Some(lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_lines_that_differ_are_shown() {
        assert_eq!(difference("a\nb\nc\n", "a\nb\nc\n"), None);
        assert_eq!(
            difference("a\nb\nc\nd\n", "a\nB\nc\nD\n").unwrap(),
            "@@ from line 2: 3 found, 3 expected @@\n-b\n-d\n+B\n+D"
        );
        assert_eq!(difference("a\n", "a").unwrap(), "@@ from line 2: 1 found, 0 expected @@\n-");
        assert_eq!(difference("a\n", "a\na\n").unwrap(), "@@ from line 2: 0 found, 1 expected @@\n+a");
    }

    #[test]
    fn a_stale_file_is_named_with_the_command_that_refreshes_it() {
        let folder = std::env::temp_dir().join(format!("mintage-xtask-{}", std::process::id()));
        write(&folder).unwrap();
        assert_eq!(check(&folder), Ok(()));
        std::fs::write(folder.join("docs/schemes.md"), "# Another page\n").unwrap();
        let message = check(&folder).unwrap_err();
        let expected = "docs/schemes.md is stale; refresh it with `cargo xtask docs`\n@@ from line 1";
        assert!(message.starts_with(expected), "{message}");
        assert!(message.contains("\n-# Another page\n+"), "{message}");
        std::fs::remove_dir_all(folder).unwrap();
    }
}
