//! `mintage store`: spaces of a store: make them, look at them, and what an operator does to them.

mod create;
mod look;
mod manifest;
mod operate;
mod paste;
mod runbook;
mod scopes;

use crate::exit::{Failure, Outcome};
use clap::{Args, Subcommand};

/// Spaces of a store, which workers and counters are leased from.
///
/// A store is a SQLite file for the processes of one host, such as sqlite:ids.db. Where the environment has MINTAGE_STORE, the URL may be
/// left out.
#[derive(Debug, Args)]
#[command(
    arg_required_else_help = true,
    after_help = "Examples:\n  mintage store create sqlite:ids.db orders --snowflake twitter\n  mintage store list sqlite:ids.db\n  mintage mint \
                  --store sqlite:ids.db orders -n 3"
)]
pub(crate) struct Store {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Create(Box<create::Create>),
    List(look::List),
    Show(look::Show),
    Workers(look::Workers),
    Scopes(scopes::Scopes),
    Check(look::Check),
    Schema(look::Schema),
    Hold(operate::Hold),
    ReleaseHold(operate::ReleaseHold),
    RestartHold(operate::RestartHold),
    BurnWorker(operate::BurnWorker),
    Bump(operate::BumpCounter),
    Manifest(manifest::Manifest),
    Upgrade(operate::Upgrade),
    Drop(operate::DropSpace),
}

impl Store {
    pub(crate) fn run(self) -> Result<Outcome, Failure> {
        match self.command {
            Command::Create(command) => command.run(),
            Command::List(command) => command.run(),
            Command::Show(command) => command.run(),
            Command::Workers(command) => command.run(),
            Command::Scopes(command) => command.run(),
            Command::Check(command) => command.run(),
            Command::Schema(command) => command.run(),
            Command::Hold(command) => command.run(),
            Command::ReleaseHold(command) => command.run(),
            Command::RestartHold(command) => command.run(),
            Command::BurnWorker(command) => command.run(),
            Command::Bump(command) => command.run(),
            Command::Manifest(command) => command.run(),
            Command::Upgrade(command) => command.run(),
            Command::Drop(command) => command.run(),
        }
    }
}
