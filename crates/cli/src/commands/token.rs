//! `mintage token`: random secrets that leak scanners can find.

use crate::arguments;
use crate::exit::{Failure, Outcome, usage};
use crate::input::{Input, Place, each_input};
use crate::output;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use mintage::SystemEntropy;
use mintage::token::{TokenForm, TokenFormat};
use serde::Serialize;
use std::io::Write;

/// Make tokens: random secrets of at least 128 bits, such as API keys.
///
/// A token stands alone and is never derived from an id. Keep a hash of it (SHA-256 will do), not the token.
#[derive(Debug, Args)]
#[command(
    after_help = "With --prefix and --checksum a leaked token is found by scanners and told from look-alikes without asking anyone: the last 6 \
                  characters are the CRC-32 of the random ones in Base62, as in GitHub's tokens. A checksum proves nothing: everyone can \
                  compute it.\n\nExamples:\n  mintage token\n  mintage token --prefix sk_live --checksum -n 3\n  mintage token --bits 256 --form \
                  base64url\n  mintage token --check --prefix sk_live < tokens.txt"
)]
pub(crate) struct Token {
    /// Random bits, 128 to 4096; a token has at least as many
    #[arg(long, value_name = "BITS", default_value_t = 128, allow_hyphen_values = true)]
    bits: u32,
    /// What it begins with, 1 to 32 of A-Z, a-z, 0-9 and `_`; a `_` follows
    #[arg(long, value_name = "PREFIX", allow_hyphen_values = true)]
    prefix: Option<String>,
    /// Add the checksum of 6 characters
    #[arg(long)]
    checksum: bool,
    /// The random characters: base62 (0-9A-Za-z) or base64url (with `-` and `_`)
    #[arg(long, value_name = "FORM", default_value = "base62", value_parser = forms())]
    form: TokenForm,
    /// How many
    #[arg(short = 'n', long, value_name = "N", default_value_t = 1, value_parser = arguments::whole, allow_hyphen_values = true)]
    count: u64,
    /// Check the tokens on standard input instead, one a line: form, length, checksum. They aren't shown again
    #[arg(long, conflicts_with = "count")]
    check: bool,
    /// One JSON object a line
    #[arg(long)]
    json: bool,
}

/// Names of forms, for `--form`.
fn forms() -> impl TypedValueParser<Value = TokenForm> {
    PossibleValuesParser::new(TokenForm::ALL.map(TokenForm::name)).try_map(|name| TokenForm::by_name(&name))
}

#[derive(Serialize)]
struct Made<'a> {
    token: &'a str,
}

#[derive(Serialize)]
struct Checked {
    line: u64,
    valid: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

impl Token {
    pub(crate) fn run(self) -> Result<Outcome, Failure> {
        let mut format = TokenFormat::new(self.form, self.bits)?;
        if let Some(prefix) = &self.prefix {
            format = format.with_prefix(prefix)?;
        }
        if self.check {
            return self.check(&format.with_checksum());
        }
        if self.checksum {
            format = format.with_checksum();
        }
        let mut out = output::stdout();
        for _ in 0..self.count {
            let token = format.mint(&SystemEntropy)?;
            match self.json {
                true => output::json_line(&mut out, &Made { token: token.as_str() })?,
                false => writeln!(out, "{}", token.as_str())?,
            }
        }
        out.flush()?;
        Ok(Outcome::Done)
    }

    /// Tells of each line whether it is a token, never which.
    fn check(&self, format: &TokenFormat<'_>) -> Result<Outcome, Failure> {
        let (mut out, mut outcome, mut lines) = (output::stdout(), Outcome::Done, 0);
        each_input(&["-".into()], |input, place| {
            let error = match &input {
                Input::Text(text) => format.check(text).err().map(|error| error.to_string()),
                Input::Unreadable(_, reason) => Some(reason.clone()),
            };
            if error.is_some() {
                outcome = Outcome::Found;
            }
            lines = if let Place::Line(line) = place { line } else { lines };
            let checked = Checked { line: lines, valid: error.is_none(), error };
            match (self.json, &checked.error) {
                (true, _) => output::json_line(&mut out, &checked)?,
                (false, None) => writeln!(out, "line {lines}: valid")?,
                (false, Some(error)) => writeln!(out, "line {lines}: {error}")?,
            }
            Ok(())
        })?;
        out.flush()?;
        if lines == 0 {
            return Err(usage("--check reads tokens from standard input, one a line, and there was none"));
        }
        Ok(outcome)
    }
}
