//! `mintage inspect`: what an id may be, the best reading first.

use crate::arguments::{self, Split};
use crate::exit::{Failure, Outcome};
use crate::input::{Input, each_input, printable};
use crate::output::{self, Palette};
use anyhow::anyhow;
use clap::Args;
use mintage::inspect::{FieldValue, Inspection, Options, Reading, Together, inspect};
use mintage::{Role, UnixNanos};
use serde::Serialize;
use std::ffi::OsString;
use std::io::Write;

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
            each_input(&self.ids, |input, _| {
                let inspection = inspection(&input, &options);
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

/// What an id may be; for bytes that are no text, why they are none.
fn inspection(input: &Input, options: &Options) -> Inspection {
    match input {
        Input::Text(text) => inspect(text, options),
        Input::Unreadable(_, reason) => Inspection { readings: Vec::new(), warnings: vec![reason.clone()] },
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
        each_input(ids, |input, _| {
            if inputs.len() == MOST_TOGETHER {
                return Err(Failure::Cannot(anyhow!(
                    "--together reads {MOST_TOGETHER} ids at the most; a sample of them settles it as well"
                )));
            }
            let inspection = inspection(&input, &options);
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
            let mut inspection = inspection(&input, &options);
            evidence.order(&mut inspection);
            self.show(&input, &inspection)?;
        }
        Ok(())
    }
}
