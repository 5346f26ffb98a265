//! What goes to standard output: buffered, coloured by role on a terminal only.

use mintage::Role;
use std::io::{self, BufWriter, IsTerminal, StdoutLock, Write};

/// Standard output with a large buffer, for streams of ids.
pub(crate) fn stdout() -> BufWriter<StdoutLock<'static>> {
    BufWriter::with_capacity(1 << 16, io::stdout().lock())
}

/// Whether to colour: on a terminal, unless `NO_COLOR` is set (no-color.org) or the terminal can't.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Palette {
    is_on: bool,
}

impl Palette {
    pub(crate) fn of_stdout() -> Self {
        let is_refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        Self { is_on: io::stdout().is_terminal() && !is_refused && !is_dumb }
    }

    /// Whether anything is coloured.
    pub(crate) const fn is_on(self) -> bool {
        self.is_on
    }

    fn paint(self, code: &str, text: impl AsRef<str>) -> String {
        let text = text.as_ref();
        if self.is_on { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }

    /// A field in the colour of its role; the one place that gives roles colours.
    pub(crate) fn role(self, role: Role, text: impl AsRef<str>) -> String {
        let code = match role {
            Role::Timestamp(_) => "36",
            Role::Worker => "33",
            Role::Counter => "32",
            Role::Random => "35",
            Role::Hash => "34",
            Role::Custom => "37",
            Role::Fixed(_) => "90",
        };
        self.paint(code, text)
    }

    pub(crate) fn bold(self, text: impl AsRef<str>) -> String {
        self.paint("1", text)
    }

    pub(crate) fn dim(self, text: impl AsRef<str>) -> String {
        self.paint("2", text)
    }

    pub(crate) fn warning(self, text: impl AsRef<str>) -> String {
        self.paint("33", text)
    }
}

/// One JSON object and a line end.
pub(crate) fn json_line(out: &mut impl Write, value: &impl serde::Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut *out, value).map_err(io::Error::from)?;
    out.write_all(b"\n")
}

/// A text whose control characters, which stem from what was given or stored, can't steer a terminal; line ends stay.
pub(crate) fn harmless(text: &str) -> String {
    let shown = text.chars().flat_map(|c| match c {
        '\n' => vec![c],
        c if c.is_control() => c.escape_default().collect(),
        c => vec![c],
    });
    shown.collect()
}

/// The same on one line.
pub(crate) fn harmless_line(text: &str) -> String {
    harmless(text).replace('\n', "\\n")
}

/// Columns of equal width, two spaces apart, the first line in bold; columns that have nothing below their head are left out.
/// What is in them may stem from anybody, and can't steer a terminal.
pub(crate) fn columns(out: &mut impl Write, lines: &[Vec<String>], palette: Palette) -> io::Result<()> {
    let lines: Vec<Vec<String>> =
        lines.iter().map(|line| line.iter().map(|text| harmless_line(text)).collect()).collect();
    let count = lines.first().map_or(0, Vec::len);
    let cell = |line: &'_ Vec<String>, column: usize| line.get(column).map_or(0, |text| text.chars().count());
    let widths: Vec<usize> =
        (0..count).map(|column| lines.iter().map(|line| cell(line, column)).max().unwrap_or(0)).collect();
    let is_used = |column: usize| lines.iter().skip(1).any(|line| cell(line, column) > 0);
    for (number, line) in lines.iter().enumerate() {
        let used = line.iter().zip(&widths).enumerate().filter(|(column, _)| is_used(*column));
        let cells: Vec<String> = used.map(|(_, (text, width))| format!("{text:<width$}")).collect();
        let line = cells.join("  ");
        let line = line.trim_end();
        match number {
            0 => writeln!(out, "{}", palette.bold(line))?,
            _ => writeln!(out, "{line}")?,
        }
    }
    Ok(())
}

/// A text as one word of a shell, quoted where it must be.
pub(crate) fn shell_word(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@%+=,".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_shell_are_quoted_where_they_must_be() {
        for (text, word) in [
            ("sqlite:/var/ids.db", "sqlite:/var/ids.db"),
            ("", "''"),
            ("my ids.db", "'my ids.db'"),
            ("postgres://h/d?sslmode=require&x=1", "'postgres://h/d?sslmode=require&x=1'"),
            ("it's", r"'it'\''s'"),
            ("$(reboot)", "'$(reboot)'"),
        ] {
            assert_eq!(shell_word(text), word);
        }
    }

    #[test]
    fn what_is_printed_in_columns_can_not_steer_a_terminal() {
        let lines = [["A", "B"], ["\x1b[31mred\n\u{9b}", "é"]].map(|line| line.map(str::to_owned).to_vec());
        let mut out = Vec::new();
        columns(&mut out, &lines, Palette { is_on: false }).unwrap();
        let width = r"\u{1b}[31mred\n\u{9b}".len();
        let expected = format!("{:<width$}  B\n{}  é\n", "A", r"\u{1b}[31mred\n\u{9b}");
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}
