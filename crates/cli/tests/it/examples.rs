//! The examples in the help of the commands that mint and read: each runs as printed.

use crate::{lines, mintage};

#[test]
fn every_example_of_the_help_runs() {
    for command in ["new", "inspect", "convert", "schemes"] {
        let help = lines(&[command, "--help"]).join("\n");
        let (_, examples) = help.split_once("Examples:\n").unwrap();
        let mut run = 0;
        for example in examples.lines().filter_map(|line| line.trim().strip_prefix("mintage ")) {
            let args: Vec<&str> = example.split_whitespace().collect();
            let output = mintage(&args);
            assert!(output.status.success(), "{example}: {}", String::from_utf8_lossy(&output.stderr));
            assert!(!output.stdout.is_empty(), "{example} prints nothing");
            run += 1;
        }
        assert!(run >= 2, "{command} has {run} examples");
    }
}
