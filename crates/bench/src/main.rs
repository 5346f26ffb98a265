//! Measures every workload and prints the table: `cargo run --release -p mintage-bench`.

use mintage_bench::timing::{Effort, measure};
use mintage_bench::{against, report, workloads};
use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo run --release -p mintage-bench [-- [--json | --against FILE] [--only NAME]...]

  --json          one JSON object a line instead of a table
  --only NAME     only operations whose name contains NAME; may be given several times
  --against FILE  compares with an earlier run, the output of --json, by ratios

example: cargo run --release -p mintage-bench -- --only 'mint uuid-v7'
";

fn main() -> ExitCode {
    let (mut is_json, mut only, mut earlier) = (false, Vec::new(), None);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--json" => is_json = true,
            "--only" => match arguments.next() {
                Some(name) => only.push(name),
                None => return wrong_use("--only needs a name"),
            },
            "--against" => match arguments.next() {
                Some(file) => earlier = Some(file),
                None => return wrong_use("--against needs a file"),
            },
            "--help" | "-h" => {
                print!("{USAGE}");
                return ExitCode::SUCCESS;
            }
            other => return wrong_use(&format!("no option {other}")),
        }
    }
    let mut engines = workloads::all();
    engines.retain(|engine| only.is_empty() || only.iter().any(|name| engine.operation().contains(name)));
    if engines.is_empty() {
        return wrong_use("no operation has such a name; without --only all are listed");
    }
    if cfg!(debug_assertions) {
        eprintln!("built without --release: these figures say nothing about a release");
    }
    let text = earlier.as_ref().map(std::fs::read_to_string).transpose();
    let earlier = match text {
        Ok(text) => text,
        Err(error) => {
            eprintln!("{}: {error}", earlier.unwrap_or_default());
            return ExitCode::from(3);
        }
    };
    let rows = measure(&engines, &[1, 2], Effort::FULL);
    if let Some(earlier) = earlier {
        return match against::changes(&earlier, &rows) {
            Ok(changes) => {
                print!("{}", against::table(&changes));
                ExitCode::SUCCESS
            }
            Err(error) => wrong_use(&format!("the earlier run, {error}")),
        };
    }
    print!("{}", if is_json { report::json(&rows) } else { report::table(&rows) });
    ExitCode::SUCCESS
}

fn wrong_use(message: &str) -> ExitCode {
    eprint!("{message}\n{USAGE}");
    ExitCode::from(2)
}
