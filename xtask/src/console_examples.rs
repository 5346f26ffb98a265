//! Commands shown in a page, with what they print: in each `console` block, what follows `$ mintage …` is its output.

use std::fmt::Write as _;
use std::process::Command;

/// `page` with the output that its commands have now.
pub(crate) fn refreshed(page: &str) -> Result<String, String> {
    refreshed_by(page, run)
}

fn refreshed_by(page: &str, run: impl Fn(&[&str]) -> Result<String, String>) -> Result<String, String> {
    let (mut text, mut is_console, mut is_output) = (String::new(), false, false);
    for line in page.lines() {
        if line.starts_with("```") {
            (is_console, is_output) = (line == "```console", false);
        }
        let command = if is_console { line.strip_prefix("$ mintage ") } else { None };
        if command.is_none() && is_output {
            continue;
        }
        writeln!(text, "{line}").expect("a String takes all text");
        if let Some(command) = command {
            is_output = true;
            let (command, most) = match command.split_once(" | head -n ") {
                Some((command, most)) => (command, most.parse().map_err(|_| format!("{line}: not a count"))?),
                None => (command, usize::MAX),
            };
            let words: Vec<&str> = command.split_whitespace().collect();
            for line in run(&words)?.lines().take(most) {
                writeln!(text, "{line}").expect("a String takes all text");
            }
        }
    }
    Ok(text)
}

/// Runs the command `mintage`, or the binary that `MINTAGE_PROGRAM` names; that it exits with 1 may be what is shown.
fn run(words: &[&str]) -> Result<String, String> {
    let mut command = match std::env::var_os("MINTAGE_PROGRAM") {
        Some(program) => Command::new(program),
        None => {
            let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
            cargo.args(["run", "--quiet", "--locked", "--package", "mintage-cli", "--"]);
            cargo
        }
    };
    let done = command.args(words).output();
    let done = done.map_err(|error| format!("running mintage: {error}"))?;
    if done.stdout.is_empty() {
        let said = String::from_utf8_lossy(&done.stderr);
        return Err(format!("mintage {}: no output\n{said}", words.join(" ")));
    }
    String::from_utf8(done.stdout).map_err(|error| format!("mintage {}: {error}", words.join(" ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_output_of_our_commands_is_replaced() {
        let page = "a\n```console\n$ mintage x 1\nold\n$ mintage y | head -n 1\n```\n```sh\n$ mintage z\nkept\n```\n";
        let run = |words: &[&str]| Ok(format!("{}\nmore\n", words.join("+")));
        let expected = "a\n```console\n$ mintage x 1\nx+1\nmore\n$ mintage y | head -n 1\ny\n```\n```sh\n$ mintage z\nkept\n```\n";
        assert_eq!(refreshed_by(page, run).unwrap(), expected);
        assert_eq!(refreshed_by(expected, run).unwrap(), expected);
    }
}
