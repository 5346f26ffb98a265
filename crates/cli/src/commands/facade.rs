//! `mintage facade`: public forms of internal ids, and back.

mod key_file;
mod keygen;
#[cfg_attr(unix, path = "facade/private_unix.rs")]
#[cfg_attr(not(unix), path = "facade/private_other.rs")]
mod private;

use crate::convert;
use crate::exit::{Failure, Outcome};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};
use mintage::facade::{Domain, KINDS, Kind};
use mintage::inspect::{Options, inspect};
use mintage::{Scheme, UuidV7};
use std::ffi::OsString;
use std::path::PathBuf;

/// Turn internal ids into public ones with a key, and back.
///
/// A facade hides what an id tells (how many, which first, when) from whoever has no key. It is no secret and no authorization: equal
/// ids have equal facades, and a wrong key decodes to a wrong id without an error.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  mintage facade keygen --kind permute --key-file keys.toml\n  mintage facade encode --key-file keys.toml 42\n  mintage facade keygen --kind uuid47 --key-file uuid-keys.toml"
)]
pub(crate) struct Facade {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    Encode(Encode),
    Decode(Decode),
    Keygen(keygen::Keygen),
}

/// The public forms of ids.
#[derive(Debug, Args)]
#[command(
    after_help = "permute and ff1 go from numbers and texts of the key's domain, uuid47 from version 7 UUIDs. An id that is none is told on \
                  standard error and leaves an empty line; the exit code is then 1.\n\nExamples:\n  mintage facade encode --kind permute \
                  --key-file keys.toml 42\n  mintage facade encode --kind uuid47 --key-file uuid-keys.toml \
                  017f22e2-79b0-7cc3-98c4-dc0c0c07398f\n  psql -Atc 'SELECT id FROM orders' | mintage facade encode --kind permute --key-file keys.toml -"
)]
struct Encode {
    #[command(flatten)]
    ids: Ids,
}

/// The ids that public forms stand for.
#[derive(Debug, Args)]
#[command(
    after_help = "Nothing in a facade says which key made it, and a wrong key decodes to a wrong id. After a rotation, name the old key for \
                  the facades that it made.\n\nExamples:\n  mintage facade decode --kind permute --key-file keys.toml 1234567890123456789\n  \
                  mintage facade decode --key-file keys.toml --key-id k1 - < facades.txt"
)]
struct Decode {
    #[command(flatten)]
    ids: Ids,
}

#[derive(Debug, Args)]
struct Ids {
    /// Ids, or `-` for one a line from standard input
    #[arg(value_name = "ID", required = true)]
    ids: Vec<OsString>,
    /// The kind of facade; may be left out where the file has keys of one kind
    #[arg(long, value_name = "KIND", value_parser = kinds())]
    kind: Option<&'static Kind>,
    /// The file of keys that `mintage facade keygen` makes
    #[arg(long, value_name = "FILE")]
    key_file: PathBuf,
    /// The key of this id [default: the one marked `current = true`, else the newest]
    #[arg(long, value_name = "ID")]
    key_id: Option<String>,
    /// The key's domain, where the file has several: u64, u63, uuid, decimal:10, base62:7
    #[arg(long, value_name = "DOMAIN", value_parser = domain)]
    domain: Option<Domain>,
    /// One JSON object a line
    #[arg(long)]
    json: bool,
}

/// Names of kinds, for `--kind`.
fn kinds() -> impl TypedValueParser<Value = &'static Kind> {
    PossibleValuesParser::new(KINDS.iter().map(|kind| kind.name)).try_map(|name| Kind::by_name(&name))
}

/// A domain as text, for `--domain`.
fn domain(text: &str) -> Result<Domain, String> {
    text.parse().map_err(|error: mintage::Error| error.to_string())
}

impl Facade {
    pub(crate) fn run(self) -> Result<Outcome, Failure> {
        match self.action {
            Action::Encode(Encode { ids }) => {
                let facade = ids.open()?.facade()?;
                convert::each(&ids.ids, ids.json, |id| {
                    facade.encode_text(id).map(Into::into).map_err(|error| error.to_string())
                })
            }
            Action::Decode(Decode { ids }) => ids.decode(),
            Action::Keygen(keygen) => keygen.run(),
        }
    }
}

impl Ids {
    /// The key that these ids are for.
    fn open(&self) -> Result<mintage::facade::Key, Failure> {
        let wrong = key_file::wrong(&self.key_file);
        key_file::read(&self.key_file)?.choose(self.kind, self.domain, self.key_id.as_deref()).map_err(wrong)
    }

    fn decode(&self) -> Result<Outcome, Failure> {
        let key = self.open()?;
        let facade = key.facade()?;
        let mut doubts = Doubts::of(key.kind());
        let outcome = convert::each(&self.ids, self.json, |text| {
            let id = facade.decode_text(text).map_err(|error| error.to_string())?;
            doubts.look_at(&id);
            Ok(id.into())
        })?;
        doubts.tell();
        Ok(outcome)
    }
}

/// Decoded UUIDs whose time is implausible: the one sign of a wrong key that there is.
struct Doubts {
    options: Option<Options>,
    decoded: u64,
    implausible: u64,
}

impl Doubts {
    fn of(kind: &Kind) -> Self {
        let scheme: &'static Scheme = UuidV7::SCHEME;
        let options = (kind.name == "uuid47").then(|| Options { scheme: Some(scheme), ..Options::default() });
        Self { options, decoded: 0, implausible: 0 }
    }

    fn look_at(&mut self, id: &str) {
        let Some(options) = &self.options else { return };
        let is_plausible = inspect(id, options).readings.first().is_some_and(|reading| reading.is_plausible);
        self.decoded += 1;
        self.implausible += u64::from(!is_plausible);
    }

    fn tell(&self) {
        if self.implausible > 0 {
            eprintln!(
                "mintage: warning: {} of {} decoded ids have a time in the future or before 2005: the wrong key, or UUIDs that were \
                 version 4 all along",
                self.implausible, self.decoded
            );
        }
    }
}
