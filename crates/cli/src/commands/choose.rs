//! `mintage choose`: which scheme fits, and where its ids are placed.

use crate::arguments;
use crate::exit::{Failure, Outcome, usage};
use crate::output::{self, Palette};
use crate::quantities;
use clap::Args;
use mintage::Scheme;
use mintage::choose::{
    Answers, Choosing, DATABASES, Database, Node, PLACEMENT_CHART, PeakRate, PlacementLeaf, QUESTIONS,
    Question, SCHEME_CHART, SchemeLeaf, Shortfall, Turn, choose, describe,
};
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::io::{self, BufRead, IsTerminal, Write};

/// Say which scheme fits, and where its ids are placed: asks on a terminal what no option answers.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  mintage choose --scope table --sortable no --size 64 --coordination nothing \\
    --leaks everything --peak-rate 100/s --creator database --database postgresql
  mintage choose --scope system --sortable roughly --size 128 --coordination nothing \\
    --leaks time --peak-rate high --creator service --store range --json
  mintage choose --charts

Without options, on a terminal, it asks eight questions.")]
pub(crate) struct Choose {
    /// Where ids must be unique: table, system, world
    #[arg(long, value_name = "SCOPE")]
    scope: Option<String>,
    /// Whether ids must sort by when they were made: no, roughly, strictly
    #[arg(long, value_name = "ORDER")]
    sortable: Option<String>,
    /// How wide an id may be in bits: 53 (a number in JavaScript), 64, 128
    #[arg(long, value_name = "BITS")]
    size: Option<String>,
    /// What making an id may ask of others: nothing, worker, round-trip
    #[arg(long, value_name = "WHAT")]
    coordination: Option<String>,
    /// What an id may tell strangers: nothing, time, everything
    #[arg(long, value_name = "WHAT")]
    leaks: Option<String>,
    /// Ids at the busiest, all writers together: modest, high, extreme, or a rate such as 5000/s
    #[arg(long, value_name = "RATE")]
    peak_rate: Option<String>,
    /// Who makes an id: database, service, client
    #[arg(long, value_name = "WHO")]
    creator: Option<String>,
    /// How the store keeps rows: b-tree, range, hash [default: as --database does]
    #[arg(long, value_name = "KIND")]
    store: Option<String>,
    /// The database, to hear what it does by itself: postgresql, mysql, sqlserver, mongodb, cockroachdb, spanner, dynamodb
    #[arg(long, value_name = "DATABASE")]
    database: Option<String>,
    /// Print both charts instead of walking them
    #[arg(long)]
    charts: bool,
    /// One JSON object
    #[arg(long)]
    json: bool,
}

impl Choose {
    pub(crate) fn run(self) -> Result<Outcome, Failure> {
        let mut out = output::stdout();
        if self.charts {
            self.print_charts(&mut out)?;
        } else {
            let database = self.database()?;
            let answers = self.answers(database)?;
            let choosing = choose(&answers);
            if self.json {
                output::json_line(&mut out, &Chosen::of(&answers, &choosing, database))?;
            } else {
                print(&mut out, &choosing, database)?;
            }
        }
        out.flush()?;
        Ok(Outcome::Done)
    }

    fn database(&self) -> Result<Option<&'static Database>, Failure> {
        let Some(name) = &self.database else { return Ok(None) };
        let names = || DATABASES.iter().flat_map(|d| d.aliases.iter().chain([&d.name]).map(|n| (*n, d.name)));
        Database::by_name(name).map(Some).ok_or_else(|| {
            let known: Vec<&str> = DATABASES.iter().map(|database| database.name).collect();
            let nearest = arguments::nearest(name, names());
            usage(format!("--database {name}: not known; {nearest}there are {}", known.join(", ")))
        })
    }

    /// What was given, what the database implies, and what the terminal says.
    fn answers(&self, database: Option<&Database>) -> Result<Answers, Failure> {
        let implied = database.map(|database| database.store.word().to_owned());
        let given = [
            &self.scope,
            &self.sortable,
            &self.size,
            &self.coordination,
            &self.leaks,
            &self.peak_rate,
            &self.creator,
            if self.store.is_some() { &self.store } else { &implied },
        ];
        let mut picks = [None; 8];
        for ((question, given), pick) in QUESTIONS.iter().zip(given).zip(&mut picks) {
            if let Some(text) = given {
                *pick = Some(
                    pick_of(question, text)
                        .map_err(|error| usage(format!("--{} {text}: {error}", question.name)))?,
                );
            }
        }
        let missing: Vec<String> = QUESTIONS
            .iter()
            .zip(&picks)
            .filter(|(_, pick)| pick.is_none())
            .map(|(question, _)| format!("--{} {}", question.name, words(question, "|")))
            .collect();
        if !missing.is_empty() {
            if !io::stdin().is_terminal() {
                return Err(usage(format!(
                    "no terminal to ask on, and these are missing:\n  {}",
                    missing.join("\n  ")
                )));
            }
            ask_all(&mut picks, &mut io::stdin().lock(), &mut io::stderr())?;
        }
        let answers = Answers::from_picks(picks.map(Option::unwrap_or_default));
        answers.ok_or_else(|| usage("no such answer"))
    }

    fn print_charts(&self, out: &mut impl Write) -> Result<(), Failure> {
        let scheme = |leaf: &SchemeLeaf| leaf.name;
        let placement = |leaf: &PlacementLeaf| leaf.name;
        if self.json {
            let charts = json!({
                "scheme": tree(&SCHEME_CHART, scheme),
                "placement": tree(&PLACEMENT_CHART, placement),
            });
            return Ok(output::json_line(out, &charts)?);
        }
        let palette = Palette::of_stdout();
        writeln!(out, "{}", palette.bold("scheme"))?;
        draw(out, &SCHEME_CHART, 1, &scheme)?;
        writeln!(out, "\n{}", palette.bold("placement"))?;
        draw(out, &PLACEMENT_CHART, 1, &placement)?;
        Ok(())
    }
}

/// The number of the answer that a text gives.
fn pick_of(question: &Question, text: &str) -> Result<usize, String> {
    let word = match text.contains('/') && question.name == "peak-rate" {
        true => PeakRate::of(quantities::rate(text)?.ids_per_sec).word(),
        false => text,
    };
    let known = question.choices.iter().position(|choice| choice.word.eq_ignore_ascii_case(word));
    known.ok_or_else(|| {
        let nearest = arguments::nearest(word, question.choices.iter().map(|c| (c.word, c.word)));
        format!("{nearest}{} expected", words(question, ", "))
    })
}

fn words(question: &Question, between: &str) -> String {
    let words: Vec<&str> = question.choices.iter().map(|choice| choice.word).collect();
    words.join(between)
}

/// Asks what isn't answered yet: by number, by word, and again when it is neither.
fn ask_all(
    picks: &mut [Option<usize>; 8],
    input: &mut impl BufRead,
    out: &mut impl Write,
) -> Result<(), Failure> {
    for (question, pick) in QUESTIONS.iter().zip(picks) {
        while pick.is_none() {
            writeln!(out, "\n{}", question.text)?;
            for (i, choice) in question.choices.iter().enumerate() {
                writeln!(out, "  {} {:<11} {}", i + 1, choice.word, choice.text)?;
            }
            write!(out, "> ")?;
            out.flush()?;
            let mut line = String::new();
            if input.read_line(&mut line)? == 0 {
                return Err(usage(format!("no answer for {}: {}", question.name, words(question, ", "))));
            }
            let text = line.trim();
            let number = text.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
            // A width such as 64 is a word that looks like a number.
            *pick = pick_of(question, text).ok().or(number.filter(|i| *i < question.choices.len()));
            if pick.is_none() {
                writeln!(out, "a number from 1 to {} or a word expected", question.choices.len())?;
            }
        }
    }
    writeln!(out)?;
    Ok(())
}

/// The column's type: of the database, or of PostgreSQL and of MySQL.
fn sql_types(leaf: &SchemeLeaf, database: Option<&Database>) -> Vec<(&'static str, &'static str)> {
    let of =
        |database: &Database| database.native(leaf.scheme).map(|native| (database.title, native.sql_type));
    match database {
        Some(database) => of(database).into_iter().collect(),
        None => DATABASES.iter().take(2).filter_map(|database| of(database)).collect(),
    }
}

fn print(out: &mut impl Write, choosing: &Choosing, database: Option<&Database>) -> Result<(), Failure> {
    let palette = Palette::of_stdout();
    let (scheme, placement) = (choosing.scheme, choosing.placement);
    let mut line = |label: &str, text: &str| writeln!(out, "{}  {text}", palette.dim(format!("{label:<10}")));
    line("scheme", &palette.bold(scheme.name))?;
    for name in [Some(scheme.scheme), scheme.facade].into_iter().flatten() {
        line("", &format!("{name}: {}", describe(name).unwrap_or_default()))?;
    }
    line("because", scheme.why)?;
    line("answers", &path(&choosing.scheme_path))?;
    for short in &choosing.shortfalls {
        line(
            "gives way",
            &format!("{}: {} was asked for, {} is what there is", short.question, short.asked, short.given),
        )?;
    }
    line(
        "placement",
        &format!("{}: {}", palette.bold(placement.form), describe(placement.form).unwrap_or_default()),
    )?;
    line("because", placement.why)?;
    line("answers", &path(&choosing.placement_path))?;
    for name in &choosing.instead {
        line("or", &format!("{name} has that inside the id ({})", describe(name).unwrap_or_default()))?;
    }
    for (title, sql_type) in sql_types(scheme, database) {
        line("type", &format!("{sql_type} ({title})"))?;
    }
    if let Some(database) = database {
        if let Some(native) = database.native(scheme.scheme) {
            line("natively", native.how)?;
        }
        line("there", database.placement)?;
    }
    for watch in scheme.watch.iter().chain(placement.watch) {
        line("watch", watch)?;
    }
    line("next", scheme.next)?;
    Ok(())
}

fn path(turns: &[Turn]) -> String {
    let turns: Vec<String> = turns.iter().map(|(question, answer)| format!("{question}: {answer}")).collect();
    turns.join(" · ")
}

#[derive(Serialize)]
struct Chosen {
    answers: Map<String, Value>,
    leaf: &'static str,
    scheme: &'static str,
    scheme_is: &'static str,
    /// Whether this program mints it.
    minted: bool,
    facade: Option<&'static str>,
    why: &'static str,
    path: Vec<Turned>,
    gives_way: Vec<GivesWay>,
    placement: Placed,
    sql_types: Vec<SqlType>,
    database: Option<Natively>,
    watch: Vec<&'static str>,
    next: &'static str,
}

#[derive(Serialize)]
struct Turned {
    question: &'static str,
    answer: &'static str,
}

#[derive(Serialize)]
struct GivesWay {
    question: &'static str,
    asked: &'static str,
    given: &'static str,
}

#[derive(Serialize)]
struct Placed {
    leaf: &'static str,
    form: &'static str,
    form_is: &'static str,
    /// Schemes that could be taken instead, since they have this placement inside the id.
    instead: Vec<&'static str>,
    why: &'static str,
    path: Vec<Turned>,
}

#[derive(Serialize)]
struct SqlType {
    database: &'static str,
    sql_type: &'static str,
}

#[derive(Serialize)]
struct Natively {
    name: &'static str,
    natively: Option<&'static str>,
    placement: &'static str,
}

impl Chosen {
    fn of(answers: &Answers, choosing: &Choosing, database: Option<&'static Database>) -> Self {
        let (scheme, placement) = (choosing.scheme, choosing.placement);
        let words = answers.words();
        let answers = QUESTIONS.iter().zip(words).map(|(q, word)| (q.name.to_owned(), word.into())).collect();
        let turned = |path: &[Turn]| {
            path.iter().map(|(question, answer)| Turned { question, answer }).collect::<Vec<Turned>>()
        };
        let gives_way =
            |Shortfall { question, asked, given }: &Shortfall| GivesWay { question, asked, given };
        let sql_types = sql_types(scheme, database).into_iter();
        Self {
            answers,
            leaf: scheme.name,
            scheme: scheme.scheme,
            scheme_is: describe(scheme.scheme).unwrap_or_default(),
            minted: Scheme::by_name(scheme.scheme).is_some_and(|scheme| scheme.generator.is_some()),
            facade: scheme.facade,
            why: scheme.why,
            path: turned(&choosing.scheme_path),
            gives_way: choosing.shortfalls.iter().map(gives_way).collect(),
            placement: Placed {
                leaf: placement.name,
                form: placement.form,
                form_is: describe(placement.form).unwrap_or_default(),
                instead: choosing.instead.clone(),
                why: placement.why,
                path: turned(&choosing.placement_path),
            },
            sql_types: sql_types.map(|(database, sql_type)| SqlType { database, sql_type }).collect(),
            database: database.map(|database| Natively {
                name: database.name,
                natively: database.native(scheme.scheme).map(|native| native.how),
                placement: database.placement,
            }),
            watch: scheme.watch.iter().chain(placement.watch).copied().collect(),
            next: scheme.next,
        }
    }
}

/// A chart as indented text.
fn draw<L>(
    out: &mut impl Write,
    node: &Node<L>,
    depth: usize,
    name: &impl Fn(&L) -> &'static str,
) -> io::Result<()> {
    let Node::Ask { question, to } = node else { return Ok(()) };
    for (words, next) in *to {
        let words = words.join("|");
        write!(out, "{:width$}{question} {words}", "", width = depth * 2)?;
        match next {
            Node::Leaf(leaf) => writeln!(out, ": {}", name(leaf))?,
            Node::Ask { .. } => {
                writeln!(out)?;
                draw(out, next, depth + 1, name)?;
            }
        }
    }
    Ok(())
}

/// A chart as JSON.
fn tree<L>(node: &Node<L>, name: fn(&L) -> &'static str) -> Value {
    match node {
        Node::Leaf(leaf) => json!({ "leaf": name(leaf) }),
        Node::Ask { question, to } => {
            let branch =
                |(words, next): &(&[&str], &Node<L>)| json!({ "answers": words, "to": tree(next, name) });
            json!({ "question": question, "branches": to.iter().map(branch).collect::<Vec<_>>() })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(input: &str) -> (Result<(), Failure>, [Option<usize>; 8], String) {
        let mut picks = [None; 8];
        picks[2] = Some(2);
        let mut out = Vec::new();
        let result = ask_all(&mut picks, &mut input.as_bytes(), &mut out);
        (result, picks, String::from_utf8(out).unwrap())
    }

    #[test]
    fn answers_are_numbers_words_or_rates_and_wrong_ones_are_asked_again() {
        let (result, picks, out) = asked("2\nROUGHLY\n\n9\nnothing\n1\n5e3/s\nservice\nhash\n");
        assert!(result.is_ok());
        assert_eq!(picks.map(Option::unwrap), [1, 1, 2, 0, 0, 1, 1, 2]);
        assert!(!out.contains("How wide"), "what was given isn't asked: {out}");
        assert_eq!(out.matches("a word expected").count(), 2);
    }

    #[test]
    fn the_end_of_input_is_no_answer() {
        let (result, ..) = asked("1\n");
        assert!(matches!(result, Err(Failure::Usage(text)) if text.contains("sortable")));
    }

    #[test]
    fn a_width_is_a_word() {
        let size = &QUESTIONS[2];
        assert_eq!(pick_of(size, "64"), Ok(1));
        assert!(pick_of(size, "1").is_err());
        let error = pick_of(&QUESTIONS[5], "hihg").unwrap_err();
        assert!(error.contains("did you mean `high`") && error.contains("modest, high, extreme"), "{error}");
    }
}
