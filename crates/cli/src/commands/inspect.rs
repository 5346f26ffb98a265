//! `mintage inspect`: what an id may be, the best reading first.

use crate::arguments::{self, Split};
use crate::exit::{Failure, Outcome, usage};
use crate::output::{self, Palette};
use anyhow::anyhow;
use clap::Args;
use mintage::inspect::{FieldValue, Inspection, Options, Reading, Together, inspect};
use mintage::{Role, UnixNanos};
use serde::Serialize;
use std::ffi::OsString;
use std::io::{self, BufRead, Read, Write};

/// Say what ids may be, the best reading first; exits with 1 when one can't be read.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  mintage inspect 01ARZ3NDEKTSV4RRFFQ69G5FAV\n  mintage inspect --json 1050118621198921728\n  \
                  psql -Atc 'SELECT id FROM orders LIMIT 100' | mintage inspect --together -"
)]
pub(crate) struct Inspect {
    /// Ids, or `-` for one a line from standard input
    #[arg(value_name = "ID", required = true)]
    ids: Vec<OsString>,
    /// One JSON object an id
    #[arg(long)]
    json: bool,
    /// Read as this scheme only
    #[arg(long, value_name = "SCHEME")]
    scheme: Option<String>,
    #[command(flatten)]
    split: Split,
    /// The present, for judging which times are plausible [default: the clock]
    #[arg(long, value_name = "TIME", value_parser = arguments::time, allow_hyphen_values = true)]
    now: Option<UnixNanos>,
    /// All ids are of one kind: order the readings by what fits them all
    #[arg(long)]
    together: bool,
}

/// Longer lines hold no id; the rest of such a line is passed over without keeping it.
const LONGEST_LINE: u64 = 4096;

/// What `--together` keeps in memory at the most.
const MOST_TOGETHER: usize = 1_000_000;

impl Inspect {
    pub(crate) fn run(self) -> Result<Outcome, Failure> {
        let options = self.options()?;
        let mut view = View {
            out: output::stdout(),
            palette: Palette::of_stdout(),
            options,
            is_json: self.json,
            has_unreadable: false,
        };
        if self.together {
            view.together(&self.ids)?;
        } else {
            each_input(&self.ids, |input| {
                let inspection = input.inspect(&options);
                view.show(&input, &inspection)
            })?;
        }
        view.out.flush()?;
        Ok(if view.has_unreadable { Outcome::Found } else { Outcome::Done })
    }

    fn options(&self) -> Result<Options, Failure> {
        let mut options = Options::default();
        if let Some(name) = &self.scheme {
            options.scheme = Some(arguments::scheme(name)?);
        }
        options.layout = self.split.layout(options.scheme)?;
        options.now = self.now.unwrap_or(options.now);
        Ok(options)
    }
}

/// One id as it was given.
enum Input {
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

    fn inspect(&self, options: &Options) -> Inspection {
        match self {
            Self::Text(text) => inspect(text, options),
            Self::Unreadable(_, reason) => {
                Inspection { readings: Vec::new(), warnings: vec![reason.clone()] }
            }
        }
    }

    fn shown(&self) -> &str {
        match self {
            Self::Text(text) | Self::Unreadable(text, _) => text,
        }
    }
}

/// Calls `use_input` for each id, those of standard input as they come.
fn each_input(
    ids: &[OsString],
    mut use_input: impl FnMut(Input) -> Result<(), Failure>,
) -> Result<(), Failure> {
    if ids.iter().filter(|id| *id == "-").count() > 1 {
        return Err(usage("`-` given twice: standard input can be read once"));
    }
    for id in ids {
        if id == "-" {
            let mut lines = io::stdin().lock();
            while let Some(input) = next_line(&mut lines)? {
                use_input(input)?;
            }
        } else {
            use_input(Input::of_bytes(id.clone().into_encoded_bytes()))?;
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

/// Where readings are shown, and how.
struct View<W> {
    out: W,
    palette: Palette,
    options: Options,
    is_json: bool,
    has_unreadable: bool,
}

#[derive(Serialize)]
struct InspectionJson<'a> {
    input: &'a str,
    readings: Vec<ReadingJson<'a>>,
    warnings: &'a [String],
}

#[derive(Serialize)]
struct ReadingJson<'a> {
    scheme: &'a str,
    text: &'a str,
    time: Option<String>,
    fields: Vec<FieldJson<'a>>,
    plausible: bool,
    note: Option<&'a str>,
}

#[derive(Serialize)]
struct FieldJson<'a> {
    name: &'a str,
    role: &'a str,
    bits: u32,
    value: serde_json::Value,
}

impl<'a> From<&'a FieldValue> for FieldJson<'a> {
    /// Values of fields that can pass 2^53 are strings, whatever this one is.
    fn from(field: &'a FieldValue) -> Self {
        const SAFE_BITS: u32 = 53;
        let value = match u64::try_from(field.value) {
            Ok(value) if field.bits <= SAFE_BITS => value.into(),
            _ => field.value.to_string().into(),
        };
        Self { name: field.name, role: field.role.name(), bits: field.bits, value }
    }
}

impl<'a> From<&'a Reading> for ReadingJson<'a> {
    fn from(reading: &'a Reading) -> Self {
        Self {
            scheme: reading.scheme,
            text: &reading.text,
            time: reading.time_text(),
            fields: reading.fields.iter().map(Into::into).collect(),
            plausible: reading.is_plausible,
            note: reading.note.as_deref(),
        }
    }
}

impl<W: Write> View<W> {
    fn show(&mut self, input: &Input, inspection: &Inspection) -> Result<(), Failure> {
        self.has_unreadable |= inspection.readings.is_empty();
        if self.is_json {
            let readings = inspection.readings.iter().map(Into::into).collect();
            let object = InspectionJson { input: input.shown(), readings, warnings: &inspection.warnings };
            return Ok(output::json_line(&mut self.out, &object)?);
        }
        let shown: String = input.shown().chars().flat_map(printable).collect();
        writeln!(self.out, "{}", self.palette.bold(shown))?;
        for (i, reading) in inspection.readings.iter().enumerate() {
            self.show_reading(reading, i == 0)?;
        }
        if inspection.readings.is_empty() {
            writeln!(self.out, "  {}", self.palette.warning("can't be read"))?;
        }
        for warning in &inspection.warnings {
            writeln!(self.out, "  {}", self.palette.warning(format!("! {warning}")))?;
        }
        Ok(())
    }

    /// The best reading with its fields, the others on a line each.
    fn show_reading(&mut self, reading: &Reading, is_best: bool) -> Result<(), Failure> {
        let time = match (reading.time, reading.time_text()) {
            (None, _) => String::new(),
            (Some(_), Some(text)) => text,
            (Some(time), None) => time.to_string(),
        };
        let head = format!("{:<20} {time}", reading.scheme);
        let note = reading.note.as_deref().map_or(String::new(), |note| format!("  ({note})"));
        let line = format!("{}{note}", head.trim_end());
        let line = if reading.is_plausible { line } else { self.palette.dim(line) };
        writeln!(self.out, "  {line}")?;
        for field in reading.fields.iter().filter(|_| is_best) {
            let name = self.palette.role(field.role, format!("{:<14}", field.name));
            let is_opaque = matches!(field.role, Role::Random | Role::Hash | Role::Custom) || field.bits > 48;
            let value = if is_opaque { format!("{:#x}", field.value) } else { field.value.to_string() };
            writeln!(self.out, "    {name} {:>3} bits  {value}", field.bits)?;
        }
        Ok(())
    }

    fn together(&mut self, ids: &[OsString]) -> Result<(), Failure> {
        let (mut inputs, mut evidence) = (Vec::new(), Together::default());
        let options = self.options;
        each_input(ids, |input| {
            if inputs.len() == MOST_TOGETHER {
                return Err(Failure::Cannot(anyhow!(
                    "--together reads {MOST_TOGETHER} ids at the most; a sample of them settles it as well"
                )));
            }
            let inspection = input.inspect(&options);
            if !inspection.readings.is_empty() {
                evidence.add(&inspection);
            }
            inputs.push(input);
            Ok(())
        })?;
        if !self.is_json {
            writeln!(self.out, "{}", self.palette.bold(format!("together, {} ids", evidence.ids())))?;
            let verdicts = evidence.verdicts();
            let best = verdicts.first().map_or(0.0, |v| v.cost);
            for verdict in verdicts {
                let behind = verdict.cost - best;
                let odds = if behind == 0.0 { "best".to_owned() } else { format!("{behind:.0} bits behind") };
                let counts = format!("reads {}, plausible {}", verdict.read, verdict.plausible);
                writeln!(self.out, "  {:<20} {counts}, {odds}", verdict.scheme)?;
            }
        }
        for input in inputs {
            let mut inspection = input.inspect(&options);
            evidence.order(&mut inspection);
            self.show(&input, &inspection)?;
        }
        Ok(())
    }
}

/// Control characters shown as escapes, so that input can't steer a terminal.
fn printable(c: char) -> impl Iterator<Item = char> {
    let escaped = c.is_control().then(|| c.escape_default());
    let plain = escaped.is_none().then_some(c);
    escaped.into_iter().flatten().chain(plain)
}
