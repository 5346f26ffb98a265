//! Writers that remember each acknowledged id, and what they know.

use super::super::stop::Stop;
use super::LONGEST_WRITE;
use super::report::Without;
use crate::exit::Failure;
use crate::reach;
use anyhow::Context;
use mintage::time::pause;
use std::collections::{BTreeMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, NoTls};

/// Every table.
pub(super) const TABLES: &[&str] = &["orders", "tickets", "imports"];

/// How long writers may take for their rows, in steps of 10 ms.
const STEPS: u32 = 6_000;

/// What clients know: the ids that were acknowledged to them.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    ids: BTreeMap<&'static str, HashSet<i64>>,
    twice: usize,
    duplicate_keys: usize,
}

impl Ledger {
    fn acknowledge(&mut self, table: &'static str, id: i64) {
        if !self.ids.entry(table).or_default().insert(id) {
            self.twice += 1;
        }
    }

    /// Adds what others know.
    pub(super) fn add(&mut self, other: Self) {
        self.twice += other.twice;
        self.duplicate_keys += other.duplicate_keys;
        for (table, ids) in other.ids {
            for id in ids {
                self.acknowledge(table, id);
            }
        }
    }

    /// How many ids.
    pub(super) fn count(&self) -> usize {
        self.ids.values().map(HashSet::len).sum()
    }

    /// How many were acknowledged for a second time.
    pub(super) const fn twice(&self) -> usize {
        self.twice
    }

    /// How many writes failed since their id was there.
    pub(super) const fn duplicate_keys(&self) -> usize {
        self.duplicate_keys
    }

    /// The highest of a table.
    pub(super) fn highest(&self, table: &str) -> Option<i64> {
        self.ids.get(table)?.iter().copied().max()
    }

    /// How many of them a server doesn't have.
    pub(super) fn missing_in(&self, url: &str) -> Result<usize, Failure> {
        reach::wait(async {
            let client = connected(url).await?;
            let mut missing = 0;
            for (table, ids) in &self.ids {
                let rows = client.query(&format!("SELECT id::int8 FROM {table}"), &[]).await;
                let rows = rows.context("reading what was replicated")?;
                let there: HashSet<i64> = rows.iter().map(|row| row.get(0)).collect();
                missing += ids.difference(&there).count();
            }
            Ok(missing)
        })
    }
}

/// Connections that insert, each as fast as it can.
pub(super) struct Writers {
    ledger: Arc<Mutex<Ledger>>,
    tables: &'static [&'static str],
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Result<(), Failure>>>,
}

impl Writers {
    pub(super) fn start(url: &str, tables: &'static [&'static str], count: u16) -> Result<Self, Failure> {
        let ledger = Arc::new(Mutex::new(Ledger::default()));
        let stop = Arc::new(AtomicBool::new(false));
        let (url, shared, stopped) = (url.to_owned(), Arc::clone(&ledger), Arc::clone(&stop));
        let work = move || {
            reach::wait(async {
                let mut tasks = Vec::new();
                for _ in 0..count {
                    let client = connected(&url).await?;
                    tasks.push(tokio::spawn(write(
                        client,
                        tables,
                        Arc::clone(&shared),
                        Arc::clone(&stopped),
                    )));
                }
                for task in tasks {
                    task.await.context("a writer")?;
                }
                Ok(())
            })
        };
        let thread = std::thread::Builder::new().name("writers".to_owned()).spawn(work)?;
        Ok(Self { ledger, tables, stop, thread: Some(thread) })
    }

    /// Waits until each table has so many more acknowledged ids than now.
    pub(super) fn wait_for(&self, rows: usize, stop: &Stop) -> Result<(), Failure> {
        let before = self.counts();
        for _ in 0..STEPS {
            stop.check(super::GONE)?;
            if self.counts().iter().zip(&before).all(|(now, before)| *now >= before + rows) {
                return Ok(());
            }
            if self.thread.as_ref().is_none_or(JoinHandle::is_finished) {
                return Err(
                    anyhow::anyhow!("the writers have ended: their server is gone, or refuses them").into()
                );
            }
            pause(10_000_000);
        }
        Err(anyhow::anyhow!("writers don't get {rows} rows a table within a minute").into())
    }

    /// Acknowledged ids of each table.
    fn counts(&self) -> Vec<usize> {
        let ledger = self.ledger.lock().unwrap_or_else(PoisonError::into_inner);
        self.tables.iter().map(|table| ledger.ids.get(table).map_or(0, HashSet::len)).collect()
    }

    /// Ends them; what they know.
    pub(super) fn stop(mut self) -> Result<Ledger, Failure> {
        self.end()?;
        Ok(std::mem::take(&mut *self.ledger.lock().unwrap_or_else(PoisonError::into_inner)))
    }

    fn end(&mut self) -> Result<(), Failure> {
        // Ordering: nothing else is told by it.
        self.stop.store(true, Ordering::Relaxed);
        match self.thread.take().map(JoinHandle::join) {
            Some(Ok(done)) => done,
            Some(Err(_)) => Err(anyhow::anyhow!("a writer panicked").into()),
            None => Ok(()),
        }
    }
}

impl Drop for Writers {
    fn drop(&mut self) {
        // On the way out of an error that is told already.
        let _ = self.end();
    }
}

/// Inserts until told to stop, or until the server is gone.
async fn write(
    client: Client,
    tables: &'static [&'static str],
    ledger: Arc<Mutex<Ledger>>,
    stop: Arc<AtomicBool>,
) {
    let lock = || ledger.lock().unwrap_or_else(PoisonError::into_inner);
    // Ordering: nothing else is told by it.
    while !stop.load(Ordering::Relaxed) {
        for &table in tables {
            match insert(&client, table).await {
                Written::Id(id) => lock().acknowledge(table, id),
                Written::DuplicateKey(_) => lock().duplicate_keys += 1,
                Written::Gone => return,
            }
        }
    }
}

/// What came of an insert.
enum Written {
    Id(i64),
    DuplicateKey(String),
    /// No answer: whether it was done isn't known, so its id counts for nothing.
    Gone,
}

async fn insert(client: &Client, table: &str) -> Written {
    let sql = format!("INSERT INTO {table} DEFAULT VALUES RETURNING id::int8");
    match tokio::time::timeout(LONGEST_WRITE, client.query_one(&sql, &[])).await {
        Ok(Ok(row)) => Written::Id(row.get(0)),
        Ok(Err(error)) if error.code() == Some(&SqlState::UNIQUE_VIOLATION) => {
            let said = error.as_db_error();
            let detail = said.and_then(|said| said.detail()).unwrap_or_default();
            Written::DuplicateKey(format!("{} {detail}", said.map_or("", |said| said.message())))
        }
        _ => Written::Gone,
    }
}

/// So many more writes a table, on a copy that wasn't repaired.
pub(super) fn write_on(url: &str, writes: usize, ledger: &Ledger) -> Result<Without, Failure> {
    reach::wait(async {
        let client = connected(url).await?;
        let mut without = Without::default();
        for &table in TABLES {
            for _ in 0..writes {
                match insert(&client, table).await {
                    Written::Id(id) => {
                        let is_known = ledger.ids.get(table).is_some_and(|ids| ids.contains(&id));
                        if is_known {
                            without.issued_twice += 1;
                            without.first_twice.get_or_insert_with(|| format!("{table}.id {id}"));
                        }
                    }
                    Written::DuplicateKey(words) => {
                        without.duplicate_keys += 1;
                        without.first_error.get_or_insert(words);
                    }
                    Written::Gone => return Err(anyhow::anyhow!("the copy of the database is gone").into()),
                }
            }
        }
        Ok(without)
    })
}

async fn connected(url: &str) -> Result<Client, Failure> {
    let (client, connection) =
        tokio_postgres::connect(url, NoTls).await.context("connecting to a server of the drill")?;
    // Ends with the client. What it meets is told to the client's requests too.
    tokio::spawn(async move {
        let _ = connection.await;
    });
    Ok(client)
}
