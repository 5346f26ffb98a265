//! The file of what is known and shall not be told again.
//!
//! A line is `WHAT WHERE`, and what follows ` # ` is a reason:
//!
//! ```text
//! int4-primary-key public.countries.*    # 200 rows
//! key public.old_orders.id               # read only since 2019
//! * audit.*
//! ```
//!
//! WHAT is a check's code, `key` for a key's place in the report, or `*`. WHERE is `schema.table.column`, or `schema.sequence`, in
//! which `*` stands for any characters, dots too. Case counts.

use crate::checks::CHECKS;
use crate::error::Error;
use crate::report::NEARLY_FULL;
use std::path::Path;

/// What shall not be told.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ignore {
    lines: Vec<(String, String)>,
}

impl Ignore {
    /// Reads a file.
    ///
    /// # Errors
    /// [`Error::File`] when it can't be read, and with the line where it can't be understood.
    pub fn read(file: &Path) -> Result<Self, Error> {
        let fault = |fault: String| Error::File { file: file.display().to_string(), fault };
        let text = std::fs::read_to_string(file).map_err(|error| fault(error.to_string()))?;
        Self::parse(&text).map_err(fault)
    }

    /// From text; what is wrong names its line.
    ///
    /// # Errors
    /// What is wrong, for people.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut lines = Vec::new();
        for (number, line) in text.lines().enumerate() {
            let line = match line.find(" #") {
                Some(at) => &line[..at],
                None => line,
            };
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let number = number + 1;
            let Some((what, place)) = line.split_once(char::is_whitespace) else {
                return Err(format!(
                    "line {number}: `{line}`; WHAT WHERE expected, such as `int4-primary-key public.users.id`"
                ));
            };
            let is_known = what == "*"
                || what == "key"
                || what == NEARLY_FULL
                || CHECKS.iter().any(|check| check.code == what);
            if !is_known {
                let codes: Vec<&str> = CHECKS.iter().map(|check| check.code).collect();
                return Err(format!(
                    "line {number}: no check is called `{what}`; there are key, *, {}",
                    codes.join(", ")
                ));
            }
            lines.push((what.to_owned(), place.trim().to_owned()));
        }
        Ok(Self { lines })
    }

    /// Whether one of these is ignored at this place.
    pub(crate) fn covers(&self, what: &[&str], place: &str) -> bool {
        self.lines
            .iter()
            .any(|(line, pattern)| (line == "*" || what.contains(&line.as_str())) && matches(pattern, place))
    }
}

/// Whether a text is as a pattern says, in which `*` stands for any characters.
fn matches(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = text.strip_prefix(parts.next().unwrap_or_default()) else { return false };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else { return rest.is_empty() };
    for part in middle {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_stand_for_anything() {
        for (pattern, text, is) in [
            ("a.b.c", "a.b.c", true),
            ("a.b.c", "a.b.cd", false),
            ("a.*", "a.b.c", true),
            ("*.id", "a.b.id", true),
            ("*.id", "a.b.id2", false),
            ("a.*.id", "a.id", false),
            ("*", "", true),
            ("a*b*c", "axxbyyc", true),
            ("a*b*c", "ac", false),
            ("ab*ba", "aba", false),
        ] {
            assert_eq!(matches(pattern, text), is, "{pattern} {text}");
        }
    }

    #[test]
    fn lines_have_what_and_where_and_a_reason() {
        let text = "# known\n\nint4-primary-key public.users.id  # small\nkey My Schema.t.id\n* audit.*\n";
        let ignore = Ignore::parse(text).unwrap();
        assert!(ignore.covers(&["int4-primary-key"], "public.users.id"));
        assert!(!ignore.covers(&["id-not-unique"], "public.users.id"));
        assert!(ignore.covers(&["key"], "My Schema.t.id"));
        assert!(ignore.covers(&["id-not-unique"], "audit.log.id"));
        assert!(Ignore::parse("typo public.x.y").unwrap_err().contains("line 1: no check is called `typo`"));
        assert!(Ignore::parse("\nkey").unwrap_err().starts_with("line 2"));
    }
}
