//! Ids to other forms, one a line: how `facade` and `sqids` read, write and tell what they can't convert.

use crate::exit::{Failure, Outcome};
use crate::input::{Input, Place, each_input, printable};
use crate::output;
use serde::Serialize;
use serde_json::Value;
use std::ffi::OsString;
use std::io::Write;

#[derive(Serialize)]
struct Converted<'a> {
    input: &'a str,
    output: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

/// Longer ids are cut in messages.
const LONGEST_SHOWN: usize = 80;

/// Writes what `convert` makes of each id. One that it can't convert is told on standard error and leaves an empty line (in JSON
/// a null), so that line N of the output belongs to line N of the input.
pub(crate) fn each(
    ids: &[OsString],
    is_json: bool,
    mut convert: impl FnMut(&str) -> Result<Value, String>,
) -> Result<Outcome, Failure> {
    let (mut out, mut outcome) = (output::stdout(), Outcome::Done);
    each_input(ids, |input, place| {
        let converted = match &input {
            Input::Text(text) => convert(text),
            Input::Unreadable(_, reason) => Err(reason.clone()),
        };
        let error = converted.as_ref().err().cloned();
        if let Some(error) = &error {
            outcome = Outcome::Found;
            eprintln!("mintage: {}{error}", shown(&input, place));
        }
        let output = converted.unwrap_or(Value::Null);
        if is_json {
            return Ok(output::json_line(&mut out, &Converted { input: input.shown(), output, error })?);
        }
        Ok(writeln!(out, "{}", plain(&output))?)
    })?;
    out.flush()?;
    Ok(outcome)
}

/// Text as it is, a list with spaces between.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(values) => values.iter().map(plain).collect::<Vec<_>>().join(" "),
        _ => String::new(),
    }
}

/// Which input a message is about.
fn shown(input: &Input, place: Place) -> String {
    let text: String = input.shown().chars().take(LONGEST_SHOWN).flat_map(printable).collect();
    match place {
        Place::Argument => format!("`{text}`: "),
        Place::Line(number) => format!("line {number}, `{text}`: "),
    }
}
