//! `mintage keys`: the key doctor, for databases that have ids already.

mod report;

use crate::exit::{Failure, Outcome};
use clap::{Args, Subcommand};

/// Look at the keys of a database: how far they came, what ends them, what is wrong with them.
///
/// Nothing is written, no number is taken by looking, and no large table is read.
#[derive(Debug, Args)]
#[command(
    arg_required_else_help = true,
    after_help = "Examples:\n  mintage keys report postgres://app@localhost/shop\n  mintage keys report --markdown sqlite:shop.db"
)]
pub(crate) struct Keys {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Report(report::Report),
}

impl Keys {
    pub(crate) fn run(self) -> Result<Outcome, Failure> {
        match self.command {
            Command::Report(command) => command.run(),
        }
    }
}

impl From<mintage_keys::Error> for Failure {
    fn from(error: mintage_keys::Error) -> Self {
        use mintage_keys::Error as E;
        match error {
            E::Url { .. } | E::File { .. } => Self::Usage(error.to_string()),
            _ => Self::Cannot(error.into()),
        }
    }
}
