//! One connection, and questions in transactions of their own.

use crate::error::Error;
use crate::open::Options;
use mintage_lease::store::redacted;
use mintage_lease::stores::postgres::Login;
use std::future::Future;
use std::str::FromStr;
use std::time::Duration;
use tokio_postgres::error::{DbError, SqlState};
use tokio_postgres::{Client, SimpleQueryMessage, SimpleQueryRow};

/// Statements to a round trip.
const BATCH: usize = 500;

/// Tables from which on more connections than one help: most questions open another table or sequence for each answer, which a
/// server does by one process a connection.
const MANY: usize = 1_500;

/// Connections besides the first where there is much to ask.
const OTHERS: usize = 2;

/// A connection to a server.
pub(crate) struct Link {
    client: Client,
    options: Options,
    /// With its password, for more connections.
    full_url: String,
    /// More connections, where there is much to ask.
    others: Vec<Self>,
    /// Without a password.
    pub(crate) url: String,
    budget: Duration,
}

/// A row, as text.
pub(crate) struct Row {
    row: SimpleQueryRow,
    url: String,
    doing: &'static str,
}

/// What came of one statement of many.
pub(crate) enum Answered {
    Row(Row),
    Nothing,
    Stopped(Stopped),
}

/// Why a statement came to no end.
pub(crate) enum Stopped {
    Locked,
    TookTooLong,
    Denied(String),
}

impl Stopped {
    pub(crate) fn in_words(self) -> String {
        match self {
            Self::Locked => "another session holds a lock on it".to_owned(),
            Self::TookTooLong => "it took longer than its budget".to_owned(),
            Self::Denied(words) => words,
        }
    }
}

impl Link {
    pub(crate) async fn to(url: &str, options: &Options) -> Result<Self, Error> {
        let shown = redacted(url);
        let login = Login::of(url).map_err(|error| Error::Url {
            url: shown.clone(),
            fault: error.to_string().trim_start_matches(&format!("{shown}: ")).to_owned(),
        })?;
        let lost = |cause: String| Error::Lost { url: shown.clone(), doing: "connecting", cause };
        let connecting = login.config.connect(login.tls.clone());
        let connected = tokio::time::timeout(options.patience, connecting).await;
        let connected = connected.map_err(|_| lost(format!("no answer within {:?}", options.patience)))?;
        let (client, connection) = connected.map_err(|error| lost(in_words(&error)))?;
        // Ends with the client. What it meets is told to the client's questions too.
        tokio::spawn(async move {
            let _ = connection.await;
        });
        Ok(Self {
            client,
            options: *options,
            full_url: url.to_owned(),
            others: Vec::new(),
            url: shown,
            budget: options.budget,
        })
    }

    /// What every transaction begins with.
    fn opening(&self) -> String {
        format!(
            "BEGIN READ ONLY;SET LOCAL statement_timeout={};SET LOCAL lock_timeout=200;SET LOCAL search_path='';\
             SET LOCAL row_security=off;SET LOCAL standard_conforming_strings=on;SET LOCAL default_transaction_deferrable=off;",
            self.budget.as_millis().max(1)
        )
    }

    /// The rows of one query.
    pub(crate) async fn ask(&mut self, doing: &'static str, sql: &str) -> Result<Vec<Row>, Error> {
        let text = format!("{}{sql};COMMIT", self.opening());
        let answered = self.in_time(doing, self.client.simple_query(&text)).await?;
        match answered {
            Ok(messages) => Ok(self.rows(doing, messages)),
            Err(error) => {
                let failed = self.failed(doing, &error);
                self.roll_back(doing).await?;
                Err(failed)
            }
        }
    }

    /// Runs a script that opens and ends its own transaction; what the server refuses is the inner error, and nothing of it stays.
    pub(crate) async fn run(
        &self,
        doing: &'static str,
        script: &str,
    ) -> Result<Result<Vec<Row>, DbError>, Error> {
        let answered = self.in_time(doing, self.client.simple_query(script)).await?;
        let error = match answered {
            Ok(messages) => return Ok(Ok(self.rows(doing, messages))),
            Err(error) => error,
        };
        match error.as_db_error() {
            Some(said) if !is_an_end(said.code()) => {
                let said = said.clone();
                self.roll_back(doing).await?;
                Ok(Err(said))
            }
            _ => Err(self.failed(doing, &error)),
        }
    }

    fn rows(&self, doing: &'static str, messages: Vec<SimpleQueryMessage>) -> Vec<Row> {
        let rows = messages.into_iter().filter_map(|message| match message {
            SimpleQueryMessage::Row(row) => Some(Row { row, url: self.url.clone(), doing }),
            _ => None,
        });
        rows.collect()
    }

    /// What comes of each statement. One that fails for what it is about fails alone.
    pub(crate) async fn ask_each(
        &mut self,
        doing: &'static str,
        statements: &[String],
    ) -> Result<Vec<Answered>, Error> {
        let mut answers = Vec::with_capacity(statements.len());
        while answers.len() < statements.len() {
            let rest = &statements[answers.len()..];
            let some = &rest[..rest.len().min(BATCH)];
            let before = answers.len();
            let stopped = self.batch(doing, some, &mut answers).await?;
            if let Some(stopped) = stopped {
                self.roll_back(doing).await?;
                answers.push(Answered::Stopped(stopped));
            } else if answers.len() != before + some.len() {
                return Err(self.odd(doing, "fewer answers than questions"));
            }
        }
        Ok(answers)
    }

    /// What comes of one statement that may take only so long.
    pub(crate) async fn ask_within(
        &mut self,
        doing: &'static str,
        statement: &str,
        budget: Duration,
    ) -> Result<Answered, Error> {
        let usual = std::mem::replace(&mut self.budget, budget);
        let answers = self.ask_each(doing, &[statement.to_owned()]).await;
        self.budget = usual;
        answers?.pop().ok_or_else(|| self.odd(doing, "no answer"))
    }

    /// Opens more connections where there are this many tables to ask about and the server grants them.
    pub(crate) async fn spread(&mut self, tables: usize) {
        while tables >= MANY && self.others.len() < OTHERS {
            // A server whose connections are all taken is asked by fewer.
            let Ok(link) = Self::to(&self.full_url, &self.options).await else { return };
            self.others.push(link);
        }
    }

    /// The same as [`Link::ask`] for several questions, by all connections at once.
    pub(crate) async fn ask_all(
        &mut self,
        questions: &[(&'static str, String)],
    ) -> Result<Vec<Vec<Row>>, Error> {
        let lanes = self.others.len() + 1;
        let lane = |first: usize| questions.iter().skip(first).step_by(lanes).cloned().collect::<Vec<_>>();
        let others = std::mem::take(&mut self.others).into_iter().enumerate().map(|(number, mut link)| {
            let questions = lane(number + 1);
            tokio::spawn(async move { (link.ask_in_turn(&questions).await, link) })
        });
        let others: Vec<_> = others.collect();
        let mut answers = vec![self.ask_in_turn(&lane(0)).await];
        for other in others {
            let (answer, link) = other.await.map_err(|error| self.odd("questions", &error.to_string()))?;
            self.others.push(link);
            answers.push(answer);
        }
        let answers: Result<Vec<_>, Error> = answers.into_iter().collect();
        let mut answers: Vec<_> = answers?.into_iter().map(Vec::into_iter).collect();
        // Lane by lane, as the questions were dealt out.
        Ok((0..questions.len()).filter_map(|number| answers[number % lanes].next()).collect())
    }

    async fn ask_in_turn(&mut self, questions: &[(&'static str, String)]) -> Result<Vec<Vec<Row>>, Error> {
        let mut answers = Vec::with_capacity(questions.len());
        for (doing, sql) in questions {
            answers.push(self.ask(doing, sql).await?);
        }
        Ok(answers)
    }

    /// The same as [`Link::ask_each`], by all connections at once.
    pub(crate) async fn ask_many(
        &mut self,
        doing: &'static str,
        mut statements: Vec<String>,
    ) -> Result<Vec<Answered>, Error> {
        let share = statements.len().div_ceil(self.others.len() + 1);
        let mut others = Vec::new();
        for mut link in std::mem::take(&mut self.others) {
            let part = statements.split_off(statements.len() - share.min(statements.len()));
            others.push(tokio::spawn(async move { (link.ask_each(doing, &part).await, link) }));
        }
        let mut answers = self.ask_each(doing, &statements).await?;
        // Split off from the end: the last part was the first to go.
        for other in others.into_iter().rev() {
            let (part, link) = other.await.map_err(|error| self.odd(doing, &error.to_string()))?;
            self.others.push(link);
            answers.extend(part?);
        }
        Ok(answers)
    }

    /// Statements in one transaction until one fails.
    async fn batch(
        &self,
        doing: &'static str,
        statements: &[String],
        answers: &mut Vec<Answered>,
    ) -> Result<Option<Stopped>, Error> {
        let opening = self.opening();
        let skipped = opening.matches(';').count();
        let text = format!("{opening}{};COMMIT", statements.join(";"));
        let reading = async {
            let mut stream = std::pin::pin!(self.client.simple_query_raw(&text).await?);
            let (mut ended, mut row) = (0, None);
            while let Some(message) = next(&mut stream).await {
                match message? {
                    SimpleQueryMessage::Row(found) => row = Some(found),
                    SimpleQueryMessage::CommandComplete(_) => {
                        if ended >= skipped && ended < skipped + statements.len() {
                            let url = self.url.clone();
                            answers.push(match row.take() {
                                Some(row) => Answered::Row(Row { row, url, doing }),
                                None => Answered::Nothing,
                            });
                        }
                        ended += 1;
                    }
                    _ => {}
                }
            }
            Ok::<(), tokio_postgres::Error>(())
        };
        // Each statement has its budget on the server; this is for a connection that is lost without a word.
        let longest = self.budget * u32::try_from(statements.len()).unwrap_or(1);
        let done = tokio::time::timeout(longest.max(Duration::from_secs(20)), reading).await;
        let done = done.map_err(|_| self.lost(doing, "no answer".to_owned()))?;
        let Err(error) = done else { return Ok(None) };
        let Some(said) = error.as_db_error() else { return Err(self.failed(doing, &error)) };
        let code = said.code();
        if *code == SqlState::LOCK_NOT_AVAILABLE {
            Ok(Some(Stopped::Locked))
        } else if *code == SqlState::QUERY_CANCELED || *code == SqlState::T_R_SERIALIZATION_FAILURE {
            // The second is a standby that had to go on replaying.
            Ok(Some(Stopped::TookTooLong))
        } else if is_an_end(code) {
            Err(self.failed(doing, &error))
        } else {
            Ok(Some(Stopped::Denied(said.message().to_owned())))
        }
    }

    async fn roll_back(&self, doing: &'static str) -> Result<(), Error> {
        let done = self.in_time(doing, self.client.batch_execute("ROLLBACK")).await?;
        done.map_err(|error| self.failed(doing, &error))
    }

    /// Waits no longer than the server may take.
    async fn in_time<T>(&self, doing: &'static str, work: impl Future<Output = T>) -> Result<T, Error> {
        let longest = self.budget + Duration::from_secs(10);
        tokio::time::timeout(longest, work).await.map_err(|_| self.lost(doing, "no answer".to_owned()))
    }

    fn lost(&self, doing: &'static str, cause: String) -> Error {
        Error::Lost { url: self.url.clone(), doing, cause }
    }

    fn failed(&self, doing: &'static str, error: &tokio_postgres::Error) -> Error {
        match error.as_db_error() {
            Some(said) if is_an_end(said.code()) => self.lost(doing, said.message().to_owned()),
            Some(said) => Error::Query { url: self.url.clone(), doing, cause: said.message().to_owned() },
            None => self.lost(doing, in_words(error)),
        }
    }

    /// An answer that can't be.
    pub(crate) fn odd(&self, doing: &'static str, what: &str) -> Error {
        Error::Answer { url: self.url.clone(), doing, what: what.to_owned() }
    }

    /// A number as the server wrote it.
    pub(crate) fn parsed<T: FromStr>(&self, doing: &'static str, text: &str) -> Result<T, Error> {
        text.parse().map_err(|_| self.odd(doing, &format!("`{text}`, a number expected")))
    }
}

/// Whether the server ends the connection with this.
fn is_an_end(code: &SqlState) -> bool {
    // Class 57P: operator intervention; class 08: connection.
    code.code().starts_with("57P") || code.code().starts_with("08")
}

/// The next of a stream, without a crate for it.
async fn next<S: futures_core::Stream + Unpin>(stream: &mut S) -> Option<S::Item> {
    std::future::poll_fn(|context| std::pin::Pin::new(&mut *stream).poll_next(context)).await
}

/// What the driver says, without what it was given.
fn in_words(error: &tokio_postgres::Error) -> String {
    let cause = std::error::Error::source(error).map(ToString::to_string);
    match cause {
        Some(cause) => format!("{error}: {cause}").replace(&format!("{cause}: {cause}"), &cause),
        None => error.to_string(),
    }
}

impl Row {
    /// A value that is there.
    pub(crate) fn text(&self, column: usize) -> Result<&str, Error> {
        self.optional(column)?.ok_or_else(|| self.odd("NULL"))
    }

    pub(crate) fn optional(&self, column: usize) -> Result<Option<&str>, Error> {
        self.row.try_get(column).map_err(|error| self.odd(&error.to_string()))
    }

    pub(crate) fn number<T: FromStr>(&self, column: usize) -> Result<T, Error> {
        let text = self.text(column)?;
        text.parse().map_err(|_| self.odd(&format!("`{text}`, a number expected")))
    }

    pub(crate) fn flag(&self, column: usize) -> Result<bool, Error> {
        Ok(self.text(column)? == "t")
    }

    fn odd(&self, what: &str) -> Error {
        Error::Answer { url: self.url.clone(), doing: self.doing, what: what.to_owned() }
    }
}
