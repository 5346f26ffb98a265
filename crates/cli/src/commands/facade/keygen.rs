//! `mintage facade keygen`: fresh keys, in files that only their owner may read.

use super::{domain, key_file, kinds};
use crate::exit::{Failure, Outcome, usage};
use crate::output;
use clap::Args;
use mintage::facade::key_file::bytes;
use mintage::facade::{Domain, Key, Kind};
use mintage::{Clock, SystemClock, SystemEntropy, UnixNanos};
use std::io::Write;
use std::path::PathBuf;

/// Make a key: a new file of mode 0600, or one more in a file that there is.
///
/// A file is never overwritten, and a key is never printed or taken from the command line. One key for each table: under a shared
/// one, row 7 here and row 7 there have one facade.
#[derive(Debug, Args)]
#[command(
    after_help = "Domains: u64, u63 (fits BIGINT), or digits and their number: decimal:10, base62:7 (short links), base36:N, hex:N, binary:N; \
                  uuid for uuid47.\n\nExamples:\n  mintage facade keygen --kind permute --key-file keys.toml\n  mintage facade keygen --kind \
                  permute --domain base62:7 --key-file links.toml\n  mintage facade keygen --kind permute --key-file keys.toml --add"
)]
pub(super) struct Keygen {
    /// The kind of facade
    #[arg(long, value_name = "KIND", value_parser = kinds())]
    kind: &'static Kind,
    /// The file; it must not be there yet, unless with --add
    #[arg(long, value_name = "FILE")]
    key_file: PathBuf,
    /// Which ids it is for [default: u63 for permute, uuid for uuid47]
    #[arg(long, value_name = "DOMAIN", value_parser = domain)]
    domain: Option<Domain>,
    /// The key's id: A-Z, a-z, 0-9, `.`, `_`, `-` [default: k1, k2, … as is free]
    #[arg(long, value_name = "ID", allow_hyphen_values = true)]
    id: Option<String>,
    /// FF1's tweak in hex; it isn't secret
    #[arg(long, value_name = "HEX")]
    tweak: Option<String>,
    /// Add the key to a file that there is
    #[arg(long)]
    add: bool,
}

impl Keygen {
    pub(super) fn run(self) -> Result<Outcome, Failure> {
        let Some(domain) = self.domain.or(self.kind.default_domain) else {
            return Err(usage(format!(
                "--domain is missing: {} takes {}",
                self.kind.name, self.kind.domains
            )));
        };
        let tweak = match self.tweak.as_deref().map(bytes) {
            None => Vec::new(),
            Some(Some(tweak)) => tweak,
            Some(None) => return Err(usage("--tweak: two hex digits a byte expected, such as 6f7264657273")),
        };
        // Whole seconds, as the file has them.
        let now = SystemClock.now();
        let created = UnixNanos(now.0 - now.0.rem_euclid(1_000_000_000));
        let make = |free_id: &str| {
            let id = self.id.as_deref().unwrap_or(free_id);
            let key = Key::generate(id, self.kind, domain, created, &SystemEntropy)?;
            Ok(key.with_tweak(&tweak)?)
        };
        let key = match self.add {
            true => key_file::append(&self.key_file, make)?,
            false => key_file::create(&self.key_file, make)?,
        };
        let mut out = output::stdout();
        writeln!(out, "{}: key {} for {} {domain}", self.key_file.display(), key.id(), self.kind.name)?;
        out.flush()?;
        Ok(Outcome::Done)
    }
}
