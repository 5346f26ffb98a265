//! The highest ids seen elsewhere: by clients, logs, consumers, the server that was lost.
//!
//! A text of lines `schema.table.column,value`, or `schema.sequence,value` for a sequence that feeds no column. Names are taken
//! as they are; one that holds a point, a comma or a quote stands in double quotes, doubled inside. `#` begins a comment, and a
//! first line that ends in `value` is a header.

use crate::error::Error;
use std::path::Path;

/// What was seen elsewhere.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Witness {
    entries: Vec<Entry>,
}

/// One line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Schema, table and column, or schema and sequence.
    pub path: Vec<String>,
    /// The furthest id seen.
    pub value: i64,
    /// Where it stands, from 1.
    pub line: usize,
}

impl Witness {
    /// Reads a file.
    ///
    /// # Errors
    /// [`Error::File`] with the number of the line.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let fault = |fault: String| Error::File { file: path.display().to_string(), fault };
        let text = std::fs::read_to_string(path).map_err(|error| fault(error.to_string()))?;
        is_whole(&text).map_err(fault)?;
        Self::parse(&text).and_then(Self::says_something).map_err(fault)
    }

    /// Reads text.
    ///
    /// # Errors
    /// The first line that makes no sense, by its number.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut entries = Vec::new();
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut is_first = true;
        for (number, line) in text.lines().enumerate() {
            let (number, line) = (number + 1, line.trim());
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let was_first = std::mem::replace(&mut is_first, false);
            let said = |fault: &str| {
                format!(
                    "line {number}: {fault}; schema.table.column,value expected, as in public.users.id,1042"
                )
            };
            let (path, rest) = names(line).map_err(|fault| said(&fault))?;
            let rest = rest.split('#').next().unwrap_or_default().trim();
            if was_first && rest.trim_matches('"').eq_ignore_ascii_case("value") {
                continue;
            }
            let value: i64 =
                rest.parse().map_err(|_| said(&format!("`{rest}` is no whole number of 64 bits")))?;
            if !(2..=3).contains(&path.len()) {
                return Err(said(&format!("a name of {} parts", path.len())));
            }
            entries.push(Entry { path, value, line: number });
        }
        Ok(Self { entries })
    }

    /// A witness of nothing protects nothing, and whoever names one believes otherwise.
    fn says_something(self) -> Result<Self, String> {
        if self.is_empty() {
            return Err(
                "it names no id; schema.table.column,value expected, as in public.users.id,1042".to_owned()
            );
        }
        Ok(self)
    }

    /// With one more id seen; for what doesn't come from a file.
    #[must_use]
    pub fn with(mut self, path: &[&str], value: i64) -> Self {
        let path = path.iter().map(|&name| name.to_owned()).collect();
        let line = self.entries.len() + 1;
        self.entries.push(Entry { path, value, line });
        self
    }

    /// Its lines.
    #[must_use]
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Whether nothing was seen.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

/// A file that is being written may end within a number, which then looks like a smaller one.
fn is_whole(text: &str) -> Result<(), String> {
    if text.is_empty() || text.ends_with(['\n', '\r']) {
        return Ok(());
    }
    let line = text.lines().count();
    Err(format!(
        "line {line} has no end, as in a file that is still being written; finish it with a line end"
    ))
}

/// The parts of the name that a line begins with, and what follows the comma. CSV puts quotes around the whole of a field that
/// has quotes in it, SQL around each name: both are read.
fn names(line: &str) -> Result<(Vec<String>, &str), String> {
    if let Some((field, rest)) = csv_field(line) {
        let names = format!("{field},");
        let (path, left) = sql_names(&names)?;
        return if left.is_empty() { Ok((path, rest)) } else { Err(format!("`{field}` is no name")) };
    }
    sql_names(line)
}

/// A quoted field of CSV that holds a whole name: `"a.b.c",1`.
fn csv_field(line: &str) -> Option<(String, &str)> {
    let mut field = String::new();
    let mut chars = line.strip_prefix('"')?.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' if chars.peek().is_some_and(|(_, next)| *next == '"') => {
                field.push('"');
                chars.next();
            }
            '"' => {
                let rest = line[at + 2..].trim_start().strip_prefix(',')?;
                return Some((field, rest));
            }
            c => field.push(c),
        }
    }
    None
}

fn sql_names(text: &str) -> Result<(Vec<String>, &str), String> {
    let (mut path, mut name, mut is_quoted, mut was_quoted) = (Vec::new(), String::new(), false, false);
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' if is_quoted && chars.peek().is_some_and(|(_, next)| *next == '"') => {
                name.push('"');
                chars.next();
            }
            '"' if is_quoted => is_quoted = false,
            '"' if name.is_empty() && !was_quoted => (is_quoted, was_quoted) = (true, true),
            '"' => return Err("a quote within a name".to_owned()),
            '.' | ',' if !is_quoted => {
                let part = if was_quoted { name.clone() } else { name.trim().to_owned() };
                if part.is_empty() {
                    return Err("an empty name".to_owned());
                }
                path.push(part);
                (name, was_quoted) = (String::new(), false);
                if c == ',' {
                    return Ok((path, &text[at + 1..]));
                }
            }
            c if was_quoted && !is_quoted && !c.is_whitespace() => {
                return Err("text behind a quoted name".to_owned());
            }
            c if was_quoted && !is_quoted && c.is_whitespace() => {}
            c => name.push(c),
        }
    }
    Err(if is_quoted { "a quote that isn't closed".to_owned() } else { "no comma".to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_with_and_without_quotes_comments_and_a_header() {
        let text = "\u{feff}column,value\n# seen by the log\n\npublic.users.id,60\n app . orders.id , -7 # descending\n\
                    \"My Schema\".\"a.b,c\"\"d\".Id,9223372036854775807\npublic.jobs_seq,5\n\
                    \"public.\"\"My Table\"\".id\",8\n\"public.users.nr\",9\n";
        let witness = Witness::parse(text).unwrap();
        let found: Vec<(String, i64, usize)> =
            witness.entries().iter().map(|entry| (entry.path.join("|"), entry.value, entry.line)).collect();
        let expected = [
            ("public|users|id", 60, 4),
            ("app|orders|id", -7, 5),
            ("My Schema|a.b,c\"d|Id", i64::MAX, 6),
            ("public|jobs_seq", 5, 7),
            ("public|My Table|id", 8, 8),
            ("public|users|nr", 9, 9),
        ];
        assert_eq!(found, expected.map(|(path, value, line)| (path.to_owned(), value, line)));
    }

    #[test]
    fn a_file_that_is_empty_or_half_written_is_no_witness() {
        let file = std::env::temp_dir().join(format!("mintage-witness-{}.csv", std::process::id()));
        for (text, word) in [
            ("", "names no id"),
            ("# nothing\ncolumn,value\n", "names no id"),
            ("public.users.id,1042\npublic.orders.id,10", "line 2 has no end"),
        ] {
            std::fs::write(&file, text).unwrap();
            let told = Witness::read(&file).unwrap_err().to_string();
            assert!(told.contains(word), "{text}: {told}");
        }
        std::fs::write(&file, "public.users.id,1042\r\n").unwrap();
        assert_eq!(Witness::read(&file).unwrap().entries().len(), 1);
        std::fs::remove_file(&file).unwrap();
    }

    #[test]
    fn a_line_that_makes_no_sense_is_named_by_its_number() {
        for (text, line, word) in [
            ("public.users.id,60\npublic.users.id;61", 2, "no comma"),
            ("public.users.id,", 1, "no whole number"),
            ("# x\npublic.users.id,6x", 2, "6x"),
            ("public.users.id,9223372036854775808", 1, "64 bits"),
            ("users,5", 1, "1 parts"),
            ("a.b.c.d,5", 1, "4 parts"),
            ("a..c,5", 1, "empty name"),
            (",5", 1, "empty name"),
            ("\"a.b.c,5", 1, "isn't closed"),
            ("a\"b.c.d,5", 1, "quote within"),
            ("\"a\"b.c.d,5", 1, "behind a quoted"),
            ("a.b.id,1\ncolumn,value", 2, "no whole number"),
        ] {
            let fault = Witness::parse(text).unwrap_err();
            assert!(fault.starts_with(&format!("line {line}: ")) && fault.contains(word), "{text}: {fault}");
            assert!(fault.contains("public.users.id,1042"), "{fault}");
        }
        assert!(Witness::parse("").unwrap().is_empty());
    }
}
