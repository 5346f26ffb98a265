//! Reads definitions: what `pg_dump -s` and `mysqldump --no-data` write, and migrations, one after the other.
//!
//! Statements take effect in the order in which they stand, so that the catalog is that of a database on which they have run. There are
//! no values: whatever a server would be asked for stays unknown. What can't be read is skipped and named ([`Skipped`]).

mod alter;
mod apply;
mod draft;
mod guess;
mod like;
mod parse;
mod split;
mod table;
mod types;

use super::{Catalog, Dialect, Place};
use draft::Draft;
use parse::About;

/// The stack of the thread that reads: a tree of SQL is as deep as an expression is long.
const STACK: usize = 256 << 20;

/// Characters of a statement by which it is named.
const SHOWN: usize = 60;

/// A text of SQL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// Where it comes from: a file's path.
    pub file: String,
    /// All of it.
    pub text: String,
}

/// A statement that wasn't read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// Where it begins.
    pub place: Place,
    /// How it begins, on one line.
    pub begins: String,
    /// Why it wasn't read.
    pub why: String,
}

/// How the dialect is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told {
    /// By the caller.
    ByCaller,
    /// By a sign in the text.
    BySign(&'static str),
    /// By nothing: PostgreSQL is taken.
    ByNothing,
}

/// What came of texts.
#[derive(Clone, Debug, PartialEq)]
pub struct Read {
    /// What they define.
    pub catalog: Catalog,
    /// How the dialect is known.
    pub told: Told,
    /// How many statements there are.
    pub statements: usize,
    /// Those that weren't read.
    pub skipped: Vec<Skipped>,
    /// How many parts take a migration back, and were left out.
    pub ways_back: usize,
}

/// Reads texts in their order, in this dialect or in that which they seem to be written in.
///
/// # Panics
/// When the system grants no thread, or where reading panics.
#[must_use]
pub fn read(sources: &[Source], dialect: Option<Dialect>) -> Read {
    std::thread::scope(|scope| {
        let builder = std::thread::Builder::new().stack_size(STACK);
        let reader = builder.spawn_scoped(scope, || read_here(sources, dialect)).expect("a thread more");
        reader.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

fn read_here(sources: &[Source], dialect: Option<Dialect>) -> Read {
    let (dialect, told) = match dialect {
        Some(dialect) => (dialect, Told::ByCaller),
        None => match guess::guess(sources.iter().map(|source| source.text.as_str())) {
            Some((dialect, sign)) => (dialect, Told::BySign(sign)),
            None => (Dialect::Postgres, Told::ByNothing),
        },
    };
    let mut draft = Draft::of(dialect);
    let (mut statements, mut skipped, mut ways_back) = (0, Vec::new(), 0);
    for source in sources {
        let split = split::split(&source.text, dialect);
        ways_back += split.ways_back;
        statements += split.statements.len();
        for statement in split.statements {
            let place = Place { file: source.file.clone(), line: statement.line };
            if let Err(why) = take(&mut draft, &statement, &place) {
                skipped.push(Skipped { place, begins: beginning(&statement.text), why });
            }
        }
    }
    let mut catalog = draft.finish();
    catalog.server.url = match sources {
        [one] => one.file.clone(),
        all => format!("{} files", all.len()),
    };
    Read { catalog, told, statements, skipped, ways_back }
}

fn take(draft: &mut Draft, statement: &split::Statement, place: &Place) -> Result<(), String> {
    if let Some(fault) = statement.fault {
        return Err(fault.to_owned());
    }
    match parse::about(statement) {
        About::Keys => apply::apply(draft, parse::parse(&statement.text, draft.dialect)?, place),
        About::Other => {
            default_schema(draft, statement);
            Ok(())
        }
        About::Unknown => Err(match statement.head.first().map(String::as_str) {
            Some("DO") => "what a block of code defines isn't read".to_owned(),
            Some("ALTER") => "names that change so aren't followed".to_owned(),
            _ => format!("no statement of {} that is known here begins like this", draft.dialect.name()),
        }),
    }
}

/// `SET search_path`, `set_config('search_path', …)`, `USE`: where names without a schema belong from here on.
fn default_schema(draft: &mut Draft, statement: &split::Statement) {
    let words: Vec<&str> = statement.head.iter().map(String::as_str).collect();
    let text = statement.text.as_str();
    let path = match (words.first().copied(), draft.dialect) {
        (Some("USE"), dialect) if dialect.is_mysql_like() => text.get(3..),
        (Some("SET"), Dialect::Postgres) if words.contains(&"SEARCH_PATH") => text
            .split_once('=')
            .map(|(_, path)| path)
            .or_else(|| text.to_ascii_lowercase().find(" to ").map(|at| &text[at + " to ".len()..])),
        _ => return,
    };
    let first = path.unwrap_or_default().split(',').next().unwrap_or_default().trim();
    let bare = first.trim_matches(['"', '\'', '`']);
    let bare = if first == bare && draft.dialect == Dialect::Postgres {
        bare.to_lowercase()
    } else {
        bare.to_owned()
    };
    if !bare.is_empty() && bare != "$user" && bare != "default" {
        draft.schema = bare;
    }
}

/// How a statement begins, on one line.
fn beginning(text: &str) -> String {
    let mut words = String::new();
    for word in text.split_whitespace() {
        if !words.is_empty() {
            words.push(' ');
        }
        if words.chars().count() + word.chars().count() > SHOWN {
            words.extend(word.chars().take(SHOWN.saturating_sub(words.chars().count())));
            words.push('…');
            break;
        }
        words.push_str(word);
    }
    words
}
