//! How a command ends: 0 done, 1 a check found something, 2 wrong use, 3 could not do.

use crate::output;
use std::fmt;
use std::io;
use std::process::ExitCode;

/// A command that ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// All is well.
    Done,
    /// It ran, and found what it looks for: ids that can't be read.
    Found,
}

/// A command that didn't.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Wrong use: what was given, what is expected, what to do.
    Usage(String),
    /// It could not be done.
    Cannot(anyhow::Error),
    /// Whoever read the output has gone; nobody is left to tell.
    BrokenPipe,
}

impl Failure {
    /// Tells the user, and gives the exit code.
    pub(crate) fn report(self) -> ExitCode {
        match self {
            Self::Usage(message) => {
                eprintln!("mintage: {}", harmless(&message));
                ExitCode::from(2)
            }
            Self::Cannot(error) => {
                eprintln!("mintage: {}", harmless(&format!("{error:#}")));
                ExitCode::from(3)
            }
            Self::BrokenPipe => ExitCode::SUCCESS,
        }
    }
}

/// A message that can't steer a terminal, and isn't endless.
fn harmless(message: &str) -> String {
    const LONGEST: usize = 2_000;
    match message.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", output::harmless(&message[..end])),
        None => output::harmless(message),
    }
}

/// Wrong use, with this message.
pub(crate) fn usage(message: impl fmt::Display) -> Failure {
    Failure::Usage(message.to_string())
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Self::BrokenPipe;
        }
        Self::Cannot(anyhow::Error::new(error).context("reading or writing standard streams"))
    }
}

impl From<mintage::Error> for Failure {
    fn from(error: mintage::Error) -> Self {
        use mintage::Error as E;
        match error {
            E::Busy { .. }
            | E::Refused { .. }
            | E::Forked { .. }
            | E::WindowEnded { .. }
            | E::Released { .. }
            | E::Entropy
            | E::Overflow { .. }
            | E::BeforeEpoch { .. }
            | E::TimeFieldEnded { .. } => Self::Cannot(error.into()),
            _ => Self::Usage(error.to_string()),
        }
    }
}
