//! Statements that a server connection keeps planned, and the messages in which they are sent.
//!
//! Most of a small transaction's time on PostgreSQL is spent on reading and planning its SQL. So each statement is prepared once a
//! connection, by `PREPARE` and under a name that follows from its text: behind a pooler in transaction mode, whoever else prepared that
//! name on a server connection prepared the same statement. (Names of the wire protocol's own prepared statements are counted up by each
//! driver; behind such a pooler one of ours could run a statement of somebody else.) A statement that the connection doesn't know is an error
//! before anything is committed, and the request is tried again.

use super::rows::Uuid;
use crate::store::PROTOCOL;
use futures_core::Stream;
use std::collections::HashSet;
use std::future::poll_fn;
use std::hash::{DefaultHasher, Hasher};
use std::pin::pin;
use std::sync::{Mutex, PoisonError};
use tokio_postgres::{Client, Error, SimpleQueryMessage, SimpleQueryRow};

/// A value as SQL spells it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Argument {
    kind: &'static str,
    literal: String,
}

impl From<i64> for Argument {
    fn from(number: i64) -> Self {
        // In quotes, as a sign in front is an operator.
        Self { kind: "int8", literal: format!("'{number}'") }
    }
}

impl From<bool> for Argument {
    fn from(truth: bool) -> Self {
        Self { kind: "bool", literal: truth.to_string() }
    }
}

impl From<Uuid> for Argument {
    fn from(uuid: Uuid) -> Self {
        Self { kind: "uuid", literal: format!("'{:032x}'", uuid.0) }
    }
}

impl From<&str> for Argument {
    fn from(text: &str) -> Self {
        Self { kind: "text", literal: quoted(text) }
    }
}

impl From<Option<&str>> for Argument {
    fn from(text: Option<&str>) -> Self {
        Self { kind: "text", literal: text.map_or_else(|| "NULL".to_owned(), quoted) }
    }
}

/// Text in quotes that mean the same whatever `standard_conforming_strings` says. A zero byte, which no text of PostgreSQL holds, the driver
/// refuses.
fn quoted(text: &str) -> String {
    let mut literal = String::with_capacity(text.len() + 3);
    literal.push_str("E'");
    for sign in text.chars() {
        if matches!(sign, '\'' | '\\') {
            literal.push(sign);
        }
        literal.push(sign);
    }
    literal.push('\'');
    literal
}

/// A statement with its arguments. It answers with rows.
#[derive(Debug, Default)]
pub(super) struct Statement {
    pub(super) sql: String,
    arguments: Vec<Argument>,
}

impl Statement {
    pub(super) fn new(sql: impl Into<String>) -> Self {
        Self { sql: sql.into(), arguments: Vec::new() }
    }

    /// Adds an argument; its place.
    pub(super) fn add(&mut self, argument: impl Into<Argument>) -> String {
        self.arguments.push(argument.into());
        format!("${}", self.arguments.len())
    }

    /// Adds a list of arguments of one kind, which is named in case there are none; its place.
    pub(super) fn add_all<T: Into<Argument>>(
        &mut self,
        kind: &'static str,
        all: impl IntoIterator<Item = T>,
    ) -> String {
        let literals: Vec<String> = all.into_iter().map(|one| one.into().literal).collect();
        self.add(Argument { kind, literal: format!("ARRAY[{}]::{kind}", literals.join(",")) })
    }

    /// The statement with one argument more.
    pub(super) fn with(mut self, argument: impl Into<Argument>) -> Self {
        self.add(argument);
        self
    }

    /// The name that it is prepared under. Tables of another version have other columns, and a plan is for one version.
    fn name(&self) -> String {
        let mut hasher = DefaultHasher::new();
        hasher.write(self.sql.as_bytes());
        for argument in &self.arguments {
            hasher.write(argument.kind.as_bytes());
            hasher.write_u8(0);
        }
        format!("mintage{PROTOCOL}_{:016x}", hasher.finish())
    }

    fn prepare(&self) -> String {
        let kinds: Vec<&str> = self.arguments.iter().map(|argument| argument.kind).collect();
        format!("PREPARE {}{} AS {};", self.name(), listed(&kinds), self.sql)
    }

    fn execute(&self) -> String {
        let literals: Vec<&str> = self.arguments.iter().map(|argument| argument.literal.as_str()).collect();
        format!("EXECUTE {}{};", self.name(), listed(&literals))
    }
}

/// In parentheses, which stand for no empty list in SQL.
fn listed(words: &[&str]) -> String {
    if words.is_empty() { String::new() } else { format!("({})", words.join(",")) }
}

/// The names that are prepared on a connection, as far as its client knows.
#[derive(Debug, Default)]
pub(super) struct Prepared(Mutex<HashSet<String>>);

impl Prepared {
    fn missing<'s>(&self, statements: &[&'s Statement]) -> Vec<&'s Statement> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        statements.iter().filter(|statement| !known.contains(&statement.name())).copied().collect()
    }

    fn learn(&self, statements: &[&Statement]) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.extend(statements.iter().map(|statement| statement.name()));
    }
}

/// What a message begins with before its statements are executed, and how many commands that is.
///
/// Where the client doesn't know that the connection has a statement, a message goes ahead that looks: within the transaction that `before`
/// begins, or that was begun, since only there a pooler keeps to one server connection.
async fn beginning(
    client: &Client,
    prepared: &Prepared,
    before: &str,
    statements: &[&Statement],
) -> Result<(String, usize), Error> {
    let mut missing = prepared.missing(statements);
    if missing.is_empty() {
        return Ok((before.to_owned(), before.matches(';').count()));
    }
    let names: Vec<String> = missing.iter().map(|statement| quoted(&statement.name())).collect();
    let names = names.join(",");
    let look = format!("{before}SELECT name FROM pg_catalog.pg_prepared_statements WHERE name IN ({names})");
    let found = sets(client.simple_query(&look).await?);
    let found: HashSet<&str> = found.iter().flatten().filter_map(|row| row.get(0)).collect();
    missing.retain(|statement| !found.contains(statement.name().as_str()));
    Ok((missing.iter().map(|statement| statement.prepare()).collect(), missing.len()))
}

/// Sends `before` and the statements in one message; the rows of each statement.
pub(super) async fn run(
    client: &Client,
    prepared: &Prepared,
    before: &str,
    statements: &[&Statement],
) -> Result<Vec<Vec<SimpleQueryRow>>, Error> {
    let (mut message, commands) = beginning(client, prepared, before, statements).await?;
    message.extend(statements.iter().map(|statement| statement.execute()));
    let mut sets = sets(client.simple_query(&message).await?);
    prepared.learn(statements);
    Ok(sets.split_off(commands.min(sets.len())))
}

/// Why a commit wasn't acknowledged.
pub(super) enum Uncommitted {
    /// The statement before it was refused, and so it can't have happened.
    Refused(Error),
    /// Nobody knows.
    Unknown(Error),
}

/// Sends a statement and the commit in one message.
pub(super) async fn commit(
    client: &Client,
    prepared: &Prepared,
    statement: &Statement,
) -> Result<(), Uncommitted> {
    let begun = beginning(client, prepared, "", &[statement]).await;
    let (mut message, commands) = begun.map_err(Uncommitted::Refused)?;
    message.push_str(&statement.execute());
    message.push_str("COMMIT");
    let answers = client.simple_query_raw(&message).await.map_err(Uncommitted::Unknown)?;
    let (mut answers, mut done) = (pin!(answers), 0);
    while let Some(answer) = poll_fn(|context| answers.as_mut().poll_next(context)).await {
        match answer {
            Ok(SimpleQueryMessage::CommandComplete(_)) => done += 1,
            Ok(_) => {}
            // An error of the commit itself may come after it: a server that is shut down while it waits for a standby, say.
            Err(error) if error.as_db_error().is_some() && done <= commands => {
                return Err(Uncommitted::Refused(error));
            }
            Err(error) => return Err(Uncommitted::Unknown(error)),
        }
    }
    prepared.learn(&[statement]);
    Ok(())
}

/// The rows of each command in a message.
fn sets(messages: Vec<SimpleQueryMessage>) -> Vec<Vec<SimpleQueryRow>> {
    let (mut sets, mut set) = (Vec::new(), Vec::new());
    for message in messages {
        match message {
            SimpleQueryMessage::Row(row) => set.push(row),
            SimpleQueryMessage::CommandComplete(_) => sets.push(std::mem::take(&mut set)),
            _ => {}
        }
    }
    sets
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_spelled_so_that_no_text_ends_its_quotes() {
        let statement = Statement::new("SELECT $1, $2, $3, $4, $5")
            .with("it's a \\ host")
            .with(None::<&str>)
            .with(-1_i64)
            .with(true)
            .with(Uuid(7));
        let name = statement.name();
        assert_eq!(
            statement.execute(),
            format!(
                "EXECUTE {name}(E'it''s a \\\\ host',NULL,'-1',true,'00000000000000000000000000000007');"
            )
        );
        assert_eq!(
            statement.prepare(),
            format!("PREPARE {name}(text,text,int8,bool,uuid) AS SELECT $1, $2, $3, $4, $5;")
        );
        assert_eq!(Statement::new("SELECT 1").execute().find('('), None);
    }

    #[test]
    fn a_name_follows_from_the_text_and_the_kinds_of_arguments() {
        let of = |argument: Argument| Statement::new("SELECT $1").with(argument).name();
        assert_eq!(of(1_i64.into()), of(2_i64.into()));
        assert_ne!(of(1_i64.into()), of("1".into()));
        assert_ne!(of(1_i64.into()), Statement::new("SELECT 1").name());
    }

    #[test]
    fn lists_have_a_kind_though_they_are_empty() {
        let mut statement = Statement::new("SELECT $1");
        assert_eq!(statement.add_all("text[]", ["a", "b'"]), "$1");
        assert_eq!(statement.add_all("int8[]", Vec::<i64>::new()), "$2");
        assert!(statement.execute().ends_with("(ARRAY[E'a',E'b''']::text[],ARRAY[]::int8[]);"));
    }
}
