//! `mintage schemes`: what there is to choose from, from the descriptions themselves.

use crate::arguments;
use crate::exit::{Failure, Outcome};
use crate::output::{self, Palette};
use clap::Args;
use mintage::{SCHEMES, Scheme};
use serde::Serialize;
use std::io::{self, Write};

/// List the schemes and what tells them apart, or describe one.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  mintage schemes\n  mintage schemes uuid-v7")]
pub(crate) struct Schemes {
    /// The scheme to describe: layout, text forms, methods
    scheme: Option<String>,
    /// One JSON object a line
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Described {
    name: &'static str,
    aliases: &'static [&'static str],
    summary: &'static str,
    source: &'static str,
    bits: u32,
    bytes: usize,
    sortable: String,
    coordination: String,
    collisions: &'static str,
    leaks: &'static str,
    sql: Sql,
    forms: Vec<&'static str>,
    methods: Vec<&'static str>,
    minted: bool,
    max_worker: Option<String>,
    ends: Option<String>,
    fields: Vec<FieldDescribed>,
    examples: Vec<&'static str>,
}

#[derive(Serialize)]
struct Sql {
    postgresql: &'static str,
    mysql: &'static str,
}

#[derive(Serialize)]
struct FieldDescribed {
    name: &'static str,
    role: &'static str,
    bits: u32,
}

impl From<&Scheme> for Described {
    fn from(scheme: &Scheme) -> Self {
        let layout = &scheme.layout;
        let field = |f: &mintage::Field| FieldDescribed { name: f.name, role: f.role.name(), bits: f.bits };
        Self {
            name: scheme.name,
            aliases: scheme.aliases,
            summary: scheme.summary,
            source: scheme.source,
            bits: layout.bits(),
            bytes: layout.bytes(),
            sortable: scheme.facts.sortable.to_string(),
            coordination: scheme.facts.coordination.to_string(),
            collisions: scheme.facts.collisions,
            leaks: scheme.facts.leaks,
            sql: Sql { postgresql: scheme.facts.sql.0, mysql: scheme.facts.sql.1 },
            forms: scheme.form_names().collect(),
            methods: scheme.methods.iter().map(|method| method.name()).collect(),
            minted: scheme.generator.is_some(),
            max_worker: scheme.max_worker().map(|max| max.to_string()),
            ends: layout.ends_at().and_then(|end| end.rfc3339(0)).map(|end| end.to_string()),
            fields: layout.fields().iter().map(field).collect(),
            examples: scheme.vectors.iter().map(|(text, _)| *text).collect(),
        }
    }
}

impl Schemes {
    pub(crate) fn run(self) -> Result<Outcome, Failure> {
        let mut out = output::stdout();
        let asked = match &self.scheme {
            Some(name) => Some(arguments::scheme(name)?),
            None => None,
        };
        let palette = Palette::of_stdout();
        for scheme in SCHEMES.iter().filter(|scheme| asked.is_none_or(|asked| asked.name == scheme.name)) {
            match (self.json, asked) {
                (true, _) => output::json_line(&mut out, &Described::from(*scheme))?,
                (false, None) => row(&mut out, scheme, palette)?,
                (false, Some(_)) => page(&mut out, scheme, palette)?,
            }
        }
        out.flush()?;
        Ok(Outcome::Done)
    }
}

/// One scheme of the comparison.
fn row(out: &mut impl Write, scheme: &Scheme, palette: Palette) -> io::Result<()> {
    let described = Described::from(scheme);
    let (sql, minted) = (&described.sql, if described.minted { "" } else { " (read only)" });
    writeln!(out, "{}  {}{minted}", palette.bold(format!("{:<20}", scheme.name)), scheme.summary)?;
    let types = format!("{} / {}", sql.postgresql, sql.mysql);
    let facts = format!("{} bits · {} · sorts: {}", described.bits, types, described.sortable);
    writeln!(out, "    {facts} · needs: {}", described.coordination)?;
    writeln!(out, "    {} {}", palette.dim("collisions:"), described.collisions)?;
    writeln!(out, "    {} {}", palette.dim("leaks:"), described.leaks)
}

/// All about one scheme.
fn page(out: &mut impl Write, scheme: &Scheme, palette: Palette) -> io::Result<()> {
    let described = Described::from(scheme);
    row(out, scheme, palette)?;
    let mut line = |label: &str, text: String| match text.is_empty() {
        true => Ok(()),
        false => writeln!(out, "    {} {text}", palette.dim(label)),
    };
    line("source:", described.source.to_owned())?;
    line("also called:", described.aliases.join(", "))?;
    line("forms:", described.forms.join(", "))?;
    line("methods:", described.methods.join(", "))?;
    line("largest worker:", described.max_worker.unwrap_or_default())?;
    line("time field ends:", described.ends.unwrap_or_default())?;
    line("examples:", described.examples.join(", "))?;
    line("fields:", "from the most significant bit".to_owned())?;
    for field in scheme.layout.fields() {
        let name = palette.role(field.role, format!("{:<14}", field.name));
        writeln!(out, "      {name} {:>3} bits  {}", field.bits, field.role.name())?;
    }
    Ok(())
}
