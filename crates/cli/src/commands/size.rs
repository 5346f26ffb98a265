//! `mintage size`: what a key weighs in all the indexes that carry it.

use crate::exit::{Failure, Outcome, usage};
use crate::output::{self, Palette};
use crate::quantities::{self, bytes_text, count_text, significant};
use clap::Args;
use mintage::size::{KEY_FORMS, all_copies, key_bytes};
use serde::Serialize;
use std::io::Write;

/// Say what a key weighs in all the indexes that carry it, beside other forms of the key.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  mintage size --rows 1e9 --indexes 5
  mintage size --rows 1e9 --indexes 5 --key ulid --key ulid:text --key 'char(36)'")]
pub(crate) struct Size {
    /// Rows: 1000000000, 1e9, 10^9
    #[arg(long, value_name = "COUNT", value_parser = quantities::count, allow_hyphen_values = true)]
    rows: u128,
    /// Secondary indexes, each of which carries the key once; the primary key's own comes on top
    #[arg(long, value_name = "N", value_parser = quantities::count_64, default_value = "0", allow_hyphen_values = true)]
    indexes: u64,
    /// How the key is stored: an SQL type (bigint, uuid, binary(16), char(26)), a scheme (ulid), or a scheme's text (ulid:text); may be
    /// given several times [default: bigint, uuid and uuid-text]
    #[arg(long, value_name = "KEY")]
    key: Vec<String>,
    /// One JSON object a key
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Weighed<'a> {
    key: &'a str,
    key_bytes: u64,
    /// Text, since it may be above 2^53.
    rows: String,
    secondary_indexes: u64,
    bytes: String,
}

impl Size {
    pub(crate) fn run(self) -> Result<Outcome, Failure> {
        let usual = ["bigint", "uuid", "uuid-text"];
        let keys: Vec<&str> = match self.key.is_empty() {
            true => usual.to_vec(),
            false => self.key.iter().map(String::as_str).collect(),
        };
        let mut weighed = Vec::new();
        for key in keys {
            let Some(each) = key_bytes(key) else {
                let known: Vec<&str> = KEY_FORMS.iter().map(|form| form.name).collect();
                return Err(usage(format!(
                    "--key {key}: expected {}, a type with its length such as char(26) or binary(16), a scheme, or a scheme with a \
                     text form such as ulid:text",
                    known.join(", ")
                )));
            };
            let Some(bytes) = all_copies(self.rows, self.indexes, each) else {
                return Err(usage(format!(
                    "--rows {} --indexes {}: more bytes than 2^128",
                    self.rows, self.indexes
                )));
            };
            weighed.push((key, each, bytes));
        }
        let mut out = output::stdout();
        if self.json {
            for (key, key_bytes, bytes) in weighed {
                let (rows, bytes) = (self.rows.to_string(), bytes.to_string());
                output::json_line(
                    &mut out,
                    &Weighed { key, key_bytes, rows, secondary_indexes: self.indexes, bytes },
                )?;
            }
        } else {
            self.table(&mut out, &weighed)?;
        }
        out.flush()?;
        Ok(Outcome::Done)
    }

    fn table(&self, out: &mut impl Write, weighed: &[(&str, u64, u128)]) -> Result<(), Failure> {
        let palette = Palette::of_stdout();
        let first = weighed.first().map_or(1, |(_, bytes, _)| *bytes);
        let mut lines = vec![["key", "bytes", "all copies", "ratio"].map(str::to_owned).to_vec()];
        for (key, each, bytes) in weighed {
            let ratio = format!("{} x", significant(*each as f64 / first as f64));
            lines.push(vec![(*key).to_owned(), each.to_string(), bytes_text(*bytes), ratio]);
        }
        output::columns(out, &lines, palette)?;
        let (rows, copies) = (count_text(self.rows as f64), u128::from(self.indexes) + 1);
        writeln!(
            out,
            "{} {rows} rows * {copies} copies of the key: one in the primary key, one in each of {} secondary indexes",
            palette.dim("model:"),
            self.indexes
        )?;
        writeln!(
            out,
            "{} the key's own bytes alone. InnoDB, SQL Server, CockroachDB and Spanner keep the primary key in each secondary index; \
             in PostgreSQL count the indexes that have the key among their columns. Page headers and free space come on top",
            palette.dim("model:"),
        )?;
        Ok(())
    }
}
