//! Measures ours and the peers and prints the table: `cargo run --release -p mintage-bench-peers`.

use mintage_bench::timing::Effort;
use mintage_bench_peers::outcome::{self, Selection, measure};
use mintage_bench_peers::{page, report};
use std::path::Path;
use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo run --release -p mintage-bench-peers [-- [--json | --write-docs | --list] [--only NAME]...]

  --json        one JSON object a line instead of a table
  --only NAME   only the operation of this name, or those with NAME in theirs; may be given several times
  --list        the names
  --write-docs  also writes the table and the picture into docs/speed.md and docs/speed.svg

example: cargo run --release -p mintage-bench-peers -- --only 'mint uuid-v7'
";

fn main() -> ExitCode {
    let (mut is_json, mut writes, mut only) = (false, false, Vec::new());
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--json" => is_json = true,
            "--write-docs" => writes = true,
            "--only" => match arguments.next() {
                Some(name) => only.push(name),
                None => return wrong_use("--only needs a name"),
            },
            "--list" => {
                outcome::names().iter().for_each(|name| println!("{name}"));
                return ExitCode::SUCCESS;
            }
            "--help" | "-h" => {
                print!("{USAGE}");
                return ExitCode::SUCCESS;
            }
            other => return wrong_use(&format!("no option {other}")),
        }
    }
    if writes && (is_json || !only.is_empty() || cfg!(debug_assertions)) {
        return wrong_use("--write-docs takes a whole run with --release, without --only and --json");
    }
    let selection = match Selection::new(&only) {
        Ok(selection) => selection,
        Err(unknown) => {
            eprint!("{unknown}");
            return ExitCode::from(2);
        }
    };
    if cfg!(debug_assertions) {
        eprintln!("built without --release: these figures say nothing about a release");
    }
    let measured = measure(&selection, Effort::FULL);
    print!("{}", if is_json { report::json(&measured) } else { report::table(&measured) });
    let documents = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    match if writes { page::write(&documents, &measured) } else { Ok(()) } {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("the page on speed: {error}");
            ExitCode::from(3)
        }
    }
}

fn wrong_use(message: &str) -> ExitCode {
    eprint!("{message}\n{USAGE}");
    ExitCode::from(2)
}
