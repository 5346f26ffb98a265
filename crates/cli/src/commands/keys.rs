//! `mintage keys`: the key doctor, for databases that have ids already.

mod lint;
mod report;
mod sequences;

use crate::exit::{Failure, Outcome};
use clap::{Args, Subcommand};

/// Look at the keys of a database: how far they came, what ends them, what is wrong with them.
///
/// Nothing is written unless a command says so, no number is taken by looking, and no large table is read.
#[derive(Debug, Args)]
#[command(
    arg_required_else_help = true,
    after_help = "Examples:\n  mintage keys report postgres://app@localhost/shop\n  mintage keys report --markdown sqlite:shop.db\n  mintage keys lint migrations/"
)]
pub(crate) struct Keys {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Lint(lint::Lint),
    Report(report::Report),
    Sequences(sequences::Sequences),
}

impl Keys {
    pub(crate) fn run(self) -> Result<Outcome, Failure> {
        match self.command {
            Command::Lint(command) => command.run(),
            Command::Report(command) => command.run(),
            Command::Sequences(command) => command.run(),
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
