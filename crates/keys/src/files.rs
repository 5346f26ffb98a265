//! From paths to texts of SQL: files, folders of them, standard input.

use crate::catalog::text::Source;
use crate::error::Error;
use std::cmp::Ordering;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Bytes of a file at most. Definitions are far smaller; dumps with rows aren't.
const MOST: u64 = 256 << 20;

/// How standard input is called where it is given and where it is shown.
const STDIN: (&str, &str) = ("-", "stdin");

/// What paths hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gathered {
    /// Texts, in the order in which they take effect.
    pub sources: Vec<Source>,
    /// Files of folders that take a migration back, which were left out: `down.sql`, `*.down.sql`, `U1__name.sql`.
    pub ways_back: usize,
}

/// Reads files as they are given, and the `*.sql` of folders and of the folders in them in the order of their names, in which runs of
/// digits count as numbers. `-` is standard input.
///
/// # Errors
/// [`Error::File`] for what isn't there or can't be read, for a folder without SQL, and for text in UTF-16.
pub fn gather(paths: &[String]) -> Result<Gathered, Error> {
    let mut gathered = Gathered::default();
    for path in paths {
        if path == STDIN.0 {
            let text = read(std::io::stdin().lock()).and_then(|bytes| text(&bytes));
            gathered
                .sources
                .push(Source { file: STDIN.1.to_owned(), text: text.map_err(|why| fault(path, why))? });
        } else if Path::new(path).is_dir() {
            let before = gathered.sources.len();
            walk(Path::new(path), &mut gathered, &mut Vec::new())?;
            if gathered.sources.len() == before {
                return Err(fault(path, "no *.sql in this folder".to_owned()));
            }
        } else {
            gathered.sources.push(source(Path::new(path))?);
        }
    }
    Ok(gathered)
}

fn fault(file: &str, fault: String) -> Error {
    Error::File { file: file.to_owned(), fault }
}

fn source(path: &Path) -> Result<Source, Error> {
    // Whoever reads the places stands where the command was called.
    let here = std::env::current_dir().ok().and_then(|folder| path.strip_prefix(folder).ok());
    let shown = here.unwrap_or(path).display().to_string();
    let opened = std::fs::File::open(path).map_err(|error| error.to_string());
    let text = opened.and_then(read).and_then(|bytes| text(&bytes));
    Ok(Source { text: text.map_err(|why| fault(&shown, why))?, file: shown })
}

fn read(from: impl Read) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let length = from.take(MOST + 1).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    if length as u64 > MOST {
        return Err(format!("more than {MOST} bytes; definitions without rows expected, as by `pg_dump -s`"));
    }
    Ok(bytes)
}

/// Bytes that aren't UTF-8 become replacement characters: only names and texts may hold any.
fn text(bytes: &[u8]) -> Result<String, String> {
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        return Err("text in UTF-16, UTF-8 expected".to_owned());
    }
    let bytes = bytes.strip_prefix(&[0xef, 0xbb, 0xbf]).unwrap_or(bytes);
    Ok(String::from_utf8_lossy(bytes).into_owned())
}

/// Folders within folders that are entered.
const DEEPEST: usize = 32;

/// Takes what is below a folder; `above` are the folders that lead to it, as the system calls them. A link that leads back to one of
/// them leads to nothing new.
fn walk(folder: &Path, gathered: &mut Gathered, above: &mut Vec<PathBuf>) -> Result<(), Error> {
    let shown = || folder.display().to_string();
    if above.len() > DEEPEST {
        return Err(fault(&shown(), format!("more than {DEEPEST} folders within each other")));
    }
    let real = folder.canonicalize().map_err(|error| fault(&shown(), error.to_string()))?;
    if above.contains(&real) {
        return Ok(());
    }
    above.push(real);
    let entries = std::fs::read_dir(folder).map_err(|error| fault(&shown(), error.to_string()))?;
    let paths: Result<Vec<PathBuf>, _> = entries.map(|entry| entry.map(|entry| entry.path())).collect();
    let mut paths = paths.map_err(|error| fault(&shown(), error.to_string()))?;
    paths.sort_by(|a, b| by_name(&name(a), &name(b)));
    for path in paths {
        let name = name(&path);
        if path.is_dir() {
            walk(&path, gathered, above)?;
        } else if name.to_ascii_lowercase().ends_with(".sql") {
            if is_way_back(&name) {
                gathered.ways_back += 1;
            } else {
                gathered.sources.push(source(&path)?);
            }
        }
    }
    above.pop();
    Ok(())
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Whether a file of this name takes a migration back, as golang-migrate, diesel and Flyway call them.
fn is_way_back(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    let is_flyway = name
        .strip_prefix('U')
        .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()) && rest.contains("__"));
    lower == "down.sql" || lower.ends_with(".down.sql") || is_flyway
}

/// The order of names, in which runs of digits count as numbers: `V2__b.sql` before `V10__a.sql`.
fn by_name(a: &str, b: &str) -> Ordering {
    let (mut a_rest, mut b_rest) = (a, b);
    loop {
        let (Some(a_part), Some(b_part)) = (part(a_rest), part(b_rest)) else {
            return a_rest.len().cmp(&b_rest.len()).then_with(|| a.cmp(b));
        };
        let is_number = |part: &str| part.starts_with(|c: char| c.is_ascii_digit());
        let order = if is_number(a_part) && is_number(b_part) {
            let (x, y) = (a_part.trim_start_matches('0'), b_part.trim_start_matches('0'));
            x.len().cmp(&y.len()).then_with(|| x.cmp(y))
        } else {
            a_part.cmp(b_part)
        };
        if order != Ordering::Equal {
            return order;
        }
        (a_rest, b_rest) = (&a_rest[a_part.len()..], &b_rest[b_part.len()..]);
    }
}

/// The run of digits, or the other character, that a text begins with.
fn part(text: &str) -> Option<&str> {
    let first = text.chars().next()?;
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    Some(if digits > 0 { &text[..digits] } else { &text[..first.len_utf8()] })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_ordered_by_their_numbers() {
        let mut names = [
            "V10__a.sql",
            "V2__b.sql",
            "V2__a.sql",
            "v1.sql",
            "0002_x.sql",
            "1_x.sql",
            "10_x.sql",
            "ä.sql",
            "V2",
        ];
        names.sort_by(|a, b| by_name(a, b));
        assert_eq!(
            names,
            [
                "1_x.sql",
                "0002_x.sql",
                "10_x.sql",
                "V2",
                "V2__a.sql",
                "V2__b.sql",
                "V10__a.sql",
                "v1.sql",
                "ä.sql"
            ]
        );
    }

    #[test]
    fn the_way_back_has_names_of_its_own() {
        for (name, is) in [
            ("down.sql", true),
            ("001_users.down.sql", true),
            ("U2__users.sql", true),
            ("001_users.up.sql", false),
            ("Users__x.sql", false),
            ("V2__users.sql", false),
        ] {
            assert_eq!(is_way_back(name), is, "{name}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn links_that_lead_back_are_entered_once() {
        let folder = std::env::temp_dir().join(format!("mintage-links-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("1.sql"), "SELECT 1").unwrap();
        for link in ["a", "b", "c"] {
            std::os::unix::fs::symlink(&folder, folder.join(link)).unwrap();
        }
        let gathered = gather(&[folder.display().to_string()]);
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!(gathered.unwrap().sources.len(), 1);
    }

    #[test]
    fn only_utf_16_is_refused() {
        assert_eq!(text(b"\xef\xbb\xbfa\xff\0").unwrap(), "a\u{fffd}\0");
        assert!(text(b"\xff\xfea\0").is_err());
    }
}
