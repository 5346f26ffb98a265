//! The command as its users call it: the real binary, its output, its exit codes.

#![expect(clippy::unwrap_used, reason = "a test that fails by a panic says where")]

mod convert;
mod drills;
mod examples;
mod facade;
mod failover;
mod inspect;
mod keys;
mod keys_page;
mod leases;
mod new;
mod planning;
mod robust;
mod schemes;
mod serve;
mod serve_faults;
mod soak;
mod store;
mod token;

use std::io::Write;
use std::process::{Command, Output, Stdio};

/// Runs `mintage` with these arguments and nothing on standard input.
fn mintage(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_mintage")).args(args).stdin(Stdio::null()).output().unwrap()
}

/// Runs `mintage` with `input` on standard input.
fn mintage_reading(args: &[&str], input: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_mintage"))
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    let writer = std::thread::spawn(move || stdin.write_all(&input));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    output
}

/// The lines of standard output of a run that must succeed.
fn lines(args: &[&str]) -> Vec<String> {
    let output = mintage(args);
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

/// Exit code and standard error of a run that must not succeed and must print no ids.
fn refusal(args: &[&str]) -> (i32, String) {
    let output = mintage(args);
    assert!(output.stdout.is_empty(), "{args:?} printed {}", String::from_utf8_lossy(&output.stdout));
    (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
}
