//! `mintage sqids`: a short form of small numbers, which hides nothing.

use crate::convert;
use crate::exit::{Failure, Outcome, usage};
use clap::{Args, Subcommand};
use serde_json::Value;
use std::collections::HashSet;
use std::ffi::OsString;
use std::path::PathBuf;

/// Write numbers in a short form, and read it back. It hides nothing: there is no key, and everyone can decode it.
///
/// Sqids make ids short and free of rude words. To hide what an id tells, use `mintage facade`; for a secret, `mintage token`. Source:
/// sqids.org.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  mintage sqids encode 1 2 3\n  mintage sqids decode 86Rf07")]
pub(crate) struct Sqids {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    Encode(Encode),
    Decode(Decode),
}

/// The short form of one or more numbers together. It hides nothing.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  mintage sqids encode 1 2 3\n  mintage sqids encode --min-length 8 42\n  mintage sqids encode - < numbers.txt"
)]
struct Encode {
    /// Numbers, 0 to 18446744073709551615; or `-` for those of one id a line from standard input, with spaces between
    #[arg(value_name = "N", required = true)]
    numbers: Vec<OsString>,
    #[command(flatten)]
    settings: Settings,
}

/// The numbers of short forms, those of one id a line.
#[derive(Debug, Args)]
#[command(
    after_help = "Almost any word can be read as numbers, so one that these settings wouldn't write is refused: see --any-spelling.\n\n\
                  Examples:\n  mintage sqids decode 86Rf07\n  mintage sqids decode --json - < sqids.txt"
)]
struct Decode {
    /// Short forms, or `-` for one a line from standard input
    #[arg(value_name = "SQID", required = true)]
    ids: Vec<OsString>,
    /// Read also what other settings of minimum length and blocklist write
    #[arg(long)]
    any_spelling: bool,
    #[command(flatten)]
    settings: Settings,
}

#[derive(Debug, Args)]
struct Settings {
    /// At least 3 ASCII characters, all different [default: a-zA-Z0-9]
    #[arg(long, value_name = "CHARACTERS", allow_hyphen_values = true)]
    alphabet: Option<String>,
    /// The fewest characters, 0 to 255
    #[arg(long, value_name = "N", default_value_t = 0, allow_hyphen_values = true)]
    min_length: u8,
    /// A file of words that no id may contain, one a line [default: the list of sqids.org]
    #[arg(long, value_name = "FILE")]
    blocklist: Option<PathBuf>,
    /// One JSON object a line
    #[arg(long)]
    json: bool,
}

impl Settings {
    fn open(&self) -> Result<sqids::Sqids, Failure> {
        let mut builder = sqids::Sqids::builder().min_length(self.min_length);
        if let Some(path) = &self.blocklist {
            let text = std::fs::read_to_string(path).map_err(|error| {
                Failure::Cannot(anyhow::anyhow!("--blocklist {}: {error}", path.display()))
            })?;
            let words: HashSet<String> = text.lines().map(str::to_owned).collect();
            builder = builder.blocklist(words);
        }
        self.build(builder)
    }

    /// The shortest form, whatever words are in it.
    fn open_bare(&self) -> Result<sqids::Sqids, Failure> {
        self.build(sqids::Sqids::builder().blocklist(HashSet::new()))
    }

    fn build(&self, mut builder: sqids::SqidsBuilder) -> Result<sqids::Sqids, Failure> {
        if let Some(alphabet) = &self.alphabet {
            builder = builder.alphabet(alphabet.chars().collect());
        }
        builder.build().map_err(|error| {
            usage(match error {
                sqids::Error::AlphabetMultibyteCharacters => "--alphabet: only ASCII characters expected",
                sqids::Error::AlphabetUniqueCharacters => "--alphabet: a character stands in it twice",
                _ => "--alphabet: at least 3 characters expected",
            })
        })
    }
}

impl Sqids {
    pub(crate) fn run(self) -> Result<Outcome, Failure> {
        match self.action {
            Action::Encode(encode) => encode.run(),
            Action::Decode(decode) => decode.run(),
        }
    }
}

impl Encode {
    fn run(self) -> Result<Outcome, Failure> {
        let sqids = self.settings.open()?;
        // All arguments are the numbers of one id.
        let together = self.numbers.join(" ".as_ref());
        if self.numbers.len() > 1 && self.numbers.iter().any(|number| number == "-") {
            return Err(usage("`-` stands alone: numbers come from arguments or from standard input"));
        }
        convert::each(&[together], self.settings.json, |line| {
            let numbers = numbers(line)?;
            let id = sqids.encode(&numbers);
            id.map(Value::from)
                .map_err(|_| "the blocklist leaves no id for these numbers; shorten it".to_owned())
        })
    }
}

fn numbers(line: &str) -> Result<Vec<u64>, String> {
    let number = |text: &str| {
        let is_plain = text.bytes().all(|b| b.is_ascii_digit());
        text.parse().ok().filter(|_| is_plain).ok_or_else(|| {
            format!("a number is not one from 0 to {}; numbers of one id have spaces between", u64::MAX)
        })
    };
    line.split_whitespace().map(number).collect()
}

impl Decode {
    fn run(self) -> Result<Outcome, Failure> {
        let reader = Reader {
            sqids: self.settings.open()?,
            bare: self.settings.open_bare()?,
            is_lenient: self.any_spelling,
        };
        convert::each(&self.ids, self.settings.json, |id| {
            let numbers = reader.read(id)?;
            // As text: JavaScript would round the larger ones.
            Ok(numbers.into_iter().map(|number| Value::from(number.to_string())).collect())
        })
    }
}

struct Reader {
    sqids: sqids::Sqids,
    /// The same alphabet without a minimum length and a blocklist.
    bare: sqids::Sqids,
    is_lenient: bool,
}

impl Reader {
    /// The numbers of `id`, if that is what they are written as. The crate alone reads nearly any word, and leaves out numbers
    /// that are too large.
    fn read(&self, id: &str) -> Result<Vec<u64>, String> {
        let numbers = self.sqids.decode(id);
        if id.is_empty() {
            return Ok(numbers);
        }
        if numbers.is_empty() {
            return Err("not a sqid of this alphabet".to_owned());
        }
        let written = self.sqids.encode(&numbers).unwrap_or_default();
        if written == id {
            return Ok(numbers);
        }
        if !self.has_all(id, &numbers) {
            return Err("not a sqid: a number in it is above the largest of 64 bits".to_owned());
        }
        if self.is_lenient {
            return Ok(numbers);
        }
        let list = numbers.iter().map(u64::to_string).collect::<Vec<_>>().join(" ");
        let is_written =
            if written.is_empty() { "not written at all".to_owned() } else { format!("written {written}") };
        Err(format!(
            "would be {list}, which is {is_written} with these settings; made by others, or no sqid (--any-spelling reads it)"
        ))
    }

    /// Whether `id` holds these numbers and nothing but padding behind them. How many characters numbers take depends on the
    /// alphabet alone; behind them, padding begins with two separators, and what was left out doesn't.
    fn has_all(&self, id: &str, numbers: &[u64]) -> bool {
        let Ok(spelled) = self.bare.encode(numbers) else { return false };
        let with_separators = id.len().min(spelled.len() + 2);
        id.len() >= spelled.len() && self.bare.decode(&id[..with_separators]) == numbers
    }
}
