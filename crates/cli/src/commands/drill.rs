//! `mintage drill`: disasters, rehearsed. One file a drill.

mod clock;
mod failover;
mod fleet;
mod stop;
mod telling;

use crate::exit::{Failure, Outcome};
use clap::{Args, Subcommand};

/// Rehearse disasters: what happens to ids, and what protects them.
///
/// What a drill needs it makes below the folder of temporary files, and that is gone afterwards, also after Ctrl-C or an error. No other
/// server and no clock of the machine is touched.
#[derive(Debug, Args)]
#[command(
    arg_required_else_help = true,
    after_help = "Examples:\n  mintage drill clock --svg clock.svg\n  mintage drill failover\n  mintage drill failover --mode logical --json\n  mintage drill failover --repair max"
)]
pub(crate) struct Drill {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Clock(clock::ClockSteps),
    /// Stop processes for longer than their leases while they mint in a store of yours, and count every id
    ///
    /// A scratch space is made there and dropped at the end. Exits 0 when no id came twice and none out of order, 1 otherwise.
    #[command(
        after_help = "Examples:\n  mintage drill pause sqlite:ids.db\n  mintage drill pause --dry-run sqlite:ids.db"
    )]
    Pause(fleet::Fleet),
    /// Kill processes that mint in a store of yours, one, some, all, and count every id
    ///
    /// A scratch space is made there and dropped at the end. Exits 0 when no id came twice and none out of order, 1 otherwise.
    #[command(
        after_help = "Examples:\n  mintage drill crash sqlite:ids.db\n  mintage drill crash --for 1min --json sqlite:ids.db"
    )]
    Crash(fleet::Fleet),
    /// Cut processes off from a store of yours, or let what they say arrive late, and count every id
    ///
    /// Each process reaches the store through a proxy on 127.0.0.1; the store itself is left alone. A scratch space is made there and dropped at the
    /// end. Exits 0 when no id came twice and none out of order, 1 otherwise.
    #[command(after_help = "Example:\n  mintage drill partition --dry-run postgres://app@localhost/ids")]
    Partition(fleet::Fleet),
    /// Put a store back to what it was while processes mint, and count every id
    ///
    /// A restore sets back all that a store holds, so it is done to a copy of your file, or to a throw-away server of the kind named. Exits 0 when no id
    /// came twice and none out of order, 1 otherwise.
    #[command(
        after_help = "Examples:\n  mintage drill restore sqlite\n  mintage drill restore --dry-run postgres"
    )]
    Restore(fleet::Fleet),
    Failover(failover::Failover),
}

impl Drill {
    pub(crate) fn run(self) -> Result<Outcome, Failure> {
        match self.command {
            Command::Clock(command) => command.run(),
            Command::Pause(fleet) => fleet.run(&fleet::PAUSE),
            Command::Crash(fleet) => fleet.run(&fleet::CRASH),
            Command::Partition(fleet) => fleet.run(&fleet::PARTITION),
            Command::Restore(fleet) => fleet.run(&fleet::RESTORE),
            Command::Failover(command) => command.run(),
        }
    }
}
