//! Ids as they are given: as arguments, or one a line on standard input, read as they come.

use crate::exit::{Failure, usage};
use std::ffi::OsString;
use std::io::{self, BufRead, Read};

/// Longer lines hold no id; the rest of such a line is passed over without keeping it.
const LONGEST_LINE: u64 = 4096;

/// One id as it was given.
#[derive(Debug)]
pub(crate) enum Input {
    Text(String),
    /// Bytes that are no text, shown as well as they can be, with the reason.
    Unreadable(String, String),
}

impl Input {
    fn of_bytes(bytes: Vec<u8>) -> Self {
        match String::from_utf8(bytes) {
            Ok(text) => Self::Text(text),
            Err(error) => {
                let at = error.utf8_error().valid_up_to() + 1;
                let shown = String::from_utf8_lossy(error.as_bytes()).into_owned();
                Self::Unreadable(shown, format!("not UTF-8 text at byte {at}"))
            }
        }
    }

    pub(crate) fn shown(&self) -> &str {
        match self {
            Self::Text(text) | Self::Unreadable(text, _) => text,
        }
    }
}

/// Where an id was given: an argument, or a line of standard input, from 1.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Place {
    Argument,
    Line(u64),
}

/// Calls `use_input` for each id, those of standard input as they come.
pub(crate) fn each_input(
    ids: &[OsString],
    mut use_input: impl FnMut(Input, Place) -> Result<(), Failure>,
) -> Result<(), Failure> {
    if ids.iter().filter(|id| *id == "-").count() > 1 {
        return Err(usage("`-` given twice: standard input can be read once"));
    }
    for id in ids {
        if id == "-" {
            let (mut lines, mut number) = (io::stdin().lock(), 0);
            while let Some(input) = next_line(&mut lines)? {
                number += 1;
                use_input(input, Place::Line(number))?;
            }
        } else {
            use_input(Input::of_bytes(id.clone().into_encoded_bytes()), Place::Argument)?;
        }
    }
    Ok(())
}

/// The next line without its end; `None` at the end of input.
fn next_line(lines: &mut impl BufRead) -> io::Result<Option<Input>> {
    let mut line = Vec::new();
    if lines.by_ref().take(LONGEST_LINE + 1).read_until(b'\n', &mut line)? == 0 {
        return Ok(None);
    }
    if line.last() == Some(&b'\n') {
        line.pop();
        if line.last() == Some(&b'\r') {
            line.pop();
        }
    } else if line.len() as u64 > LONGEST_LINE {
        skip_line(lines)?;
        let shown = String::from_utf8_lossy(&line[..64]).into_owned() + "…";
        return Ok(Some(Input::Unreadable(
            shown,
            format!("a line of more than {LONGEST_LINE} bytes is no id"),
        )));
    }
    Ok(Some(Input::of_bytes(line)))
}

/// Passes over the rest of a line, keeping none of it.
fn skip_line(lines: &mut impl BufRead) -> io::Result<()> {
    loop {
        let chunk = lines.fill_buf()?;
        let (length, is_end) = match chunk.iter().position(|b| *b == b'\n') {
            Some(at) => (at + 1, true),
            None => (chunk.len(), chunk.is_empty()),
        };
        lines.consume(length);
        if is_end {
            return Ok(());
        }
    }
}

/// Control characters shown as escapes, so that input can't steer a terminal.
pub(crate) fn printable(c: char) -> impl Iterator<Item = char> {
    let escaped = c.is_control().then(|| c.escape_default());
    let plain = escaped.is_none().then_some(c);
    escaped.into_iter().flatten().chain(plain)
}
