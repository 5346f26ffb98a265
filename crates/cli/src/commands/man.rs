//! `mintage man`: man pages, one for the binary and one for each command.

use crate::exit::{Failure, Outcome};
use anyhow::Context;
use clap::{Args, CommandFactory};
use std::path::PathBuf;

/// Write man pages into a folder.
#[derive(Debug, Args)]
#[command(after_help = "Example: mintage man /usr/local/share/man/man1")]
pub(crate) struct Man {
    /// An existing folder
    folder: PathBuf,
}

impl Man {
    pub(crate) fn run(self) -> Result<Outcome, Failure> {
        clap_mangen::generate_to(crate::Cli::command(), &self.folder)
            .with_context(|| {
                format!("writing man pages to {}; name an existing folder", self.folder.display())
            })
            .map_err(Failure::Cannot)?;
        Ok(Outcome::Done)
    }
}
