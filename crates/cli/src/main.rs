//! `mintage`: mint, read and compare identifiers. One file a command in `commands/`.

mod arguments;
mod closed_output;
mod commands;
mod convert;
mod exit;
mod input;
mod output;
mod quantities;
mod reach;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, Parser, Subcommand};
use exit::{Failure, Outcome};
use std::process::ExitCode;

/// Mint, read and compare the identifiers of rows.
#[derive(Debug, Parser)]
#[command(name = "mintage", version, arg_required_else_help = true, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    New(commands::new::New),
    Inspect(commands::inspect::Inspect),
    Convert(commands::convert::Convert),
    Store(commands::store::Store),
    Mint(commands::mint::Mint),
    Serve(commands::serve::Serve),
    Auth(commands::auth::Auth),
    Keys(commands::keys::Keys),
    Sql(commands::sql::Sql),
    Drill(commands::drill::Drill),
    Facade(commands::facade::Facade),
    Token(commands::token::Token),
    Sqids(commands::sqids::Sqids),
    Schemes(commands::schemes::Schemes),
    Choose(commands::choose::Choose),
    Odds(commands::odds::Odds),
    Capacity(commands::capacity::CapacityOf),
    Size(commands::size::Size),
    Completions(commands::completions::Completions),
    Man(commands::man::Man),
}

fn main() -> ExitCode {
    let args = arguments::separated(
        std::env::args_os(),
        &Cli::command(),
        &["inspect", "convert", "facade", "sqids"],
    );
    let cli = match Cli::try_parse_from(args) {
        Ok(cli) => cli,
        Err(error) if error.kind() == ErrorKind::InvalidSubcommand => {
            return unknown_command(&error).report();
        }
        Err(error) => error.exit(),
    };
    if closed_output::is_closed() {
        return Failure::Cannot(anyhow::anyhow!(
            "standard output is closed, so what is printed would be lost; give it a place, or /dev/null"
        ))
        .report();
    }
    let outcome = match cli.command {
        Command::New(command) => command.run(),
        Command::Inspect(command) => command.run(),
        Command::Convert(command) => command.run(),
        Command::Store(command) => command.run(),
        Command::Mint(command) => command.run(),
        Command::Serve(command) => command.run(),
        Command::Auth(command) => command.run(),
        Command::Keys(command) => command.run(),
        Command::Sql(command) => command.run(),
        Command::Drill(command) => command.run(),
        Command::Facade(command) => command.run(),
        Command::Token(command) => command.run(),
        Command::Sqids(command) => command.run(),
        Command::Schemes(command) => command.run(),
        Command::Choose(command) => command.run(),
        Command::Odds(command) => command.run(),
        Command::Capacity(command) => command.run(),
        Command::Size(command) => command.run(),
        Command::Completions(command) => command.run(),
        Command::Man(command) => command.run(),
    };
    match outcome {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::Found) => ExitCode::from(1),
        Err(failure) => failure.report(),
    }
}

/// A command that doesn't exist, with the nearest one and all that do.
fn unknown_command(error: &clap::Error) -> Failure {
    let given = match error.get(ContextKind::InvalidSubcommand) {
        Some(ContextValue::String(given)) => given.as_str(),
        _ => "",
    };
    let cli = Cli::command();
    let names: Vec<&str> = cli.get_subcommands().map(clap::Command::get_name).collect();
    let nearest = arguments::nearest(given, names.iter().map(|name| (*name, *name)));
    exit::usage(format!("no command is called `{given}`; {nearest}the commands are {}", names.join(", ")))
}
