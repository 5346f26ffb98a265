//! `mintage completions`: completions for shells.

use crate::exit::{Failure, Outcome};
use crate::output;
use clap::{Args, CommandFactory};
use std::io::Write;

/// Print completions for a shell.
#[derive(Debug, Args)]
#[command(after_help = "Example: mintage completions bash > /etc/bash_completion.d/mintage")]
pub(crate) struct Completions {
    /// The shell
    shell: clap_complete::Shell,
}

impl Completions {
    pub(crate) fn run(self) -> Result<Outcome, Failure> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut crate::Cli::command(), "mintage", &mut script);
        let mut out = output::stdout();
        out.write_all(&script)?;
        out.flush()?;
        Ok(Outcome::Done)
    }
}
