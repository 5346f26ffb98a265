//! Counters under load, in one run: tickets, blocks and scopes of Mintage beside the recipes that people use, and what a transaction waits
//! for that takes its number early or late. Tables of Markdown.
//!
//! `cargo run --release -p mintage-bench --bin counter-load -- tickets 10`

use mintage::{Clock, SystemClock};
use mintage_lease::space::{BlockTerms, Kind, ScopeTerms, SpaceId};
use mintage_lease::store::{CreateOptions, draw_nonce};
use mintage_lease::{Session, SessionOptions, Space};
use mintage_sql::{Engine, FUNCTIONS, Table};
use mintage_testkit::servers::mariadb::MariaDb;
use mintage_testkit::servers::postgres::Postgres;
use mysql_async::prelude::Queryable;
use mysql_async::{Conn, Opts};
use std::collections::HashSet;
use std::error::Error;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::Duration;
use tempfile::TempDir;
use tokio_postgres::{Client, NoTls};

const USAGE: &str = "\
usage: cargo run --release -p mintage-bench --bin counter-load -- RUN [SECONDS]

  tickets   8 clients that want one number after another: ids a second, errors and duplicates, each for SECONDS (10)
  locks     8 writers whose transactions take 5 ms and a number of one scope, first or last: transactions a second, and the wait

Needs PostgreSQL, MariaDB and redis-server; what is missing is left out and said.
";

type Fault = Box<dyn Error + Send + Sync>;

/// Clients at once.
const CLIENTS: u32 = 8;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let seconds = words.get(1).and_then(|text| text.parse().ok()).unwrap_or(10);
    let lasting = Duration::from_secs(seconds);
    let done = match words.first().map(String::as_str) {
        Some("tickets") => tickets(lasting),
        Some("locks") => locks(lasting),
        _ => {
            eprint!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(3)
        }
    }
}

/// What a client did.
#[derive(Default)]
struct Took {
    ids: Vec<u64>,
    /// Errors after which it asked again.
    errors: u64,
    /// The time that all of them took together, opening included.
    seconds: f64,
}

/// Lets each client take ids until the time is over; all that they took.
fn measured(
    lasting: Duration,
    client: impl AsyncFn(u32, u64) -> Result<Took, Fault> + Copy + Send + Sync,
) -> Result<Took, Fault> {
    let begun = now();
    let until = begun + nanos(lasting);
    std::thread::scope(|scope| {
        let one = |number| scope.spawn(move || runtime()?.block_on(client(number, until)));
        let running: Vec<_> = (0..CLIENTS).map(one).collect();
        let mut all = Took::default();
        for thread in running {
            let took = thread.join().map_err(|_| "a client panicked")??;
            all.ids.extend(took.ids);
            all.errors += took.errors;
        }
        all.seconds = float(now() - begun) / 1e9;
        Ok(all)
    })
}

fn runtime() -> Result<tokio::runtime::Runtime, Fault> {
    Ok(tokio::runtime::Builder::new_current_thread().enable_all().build()?)
}

/// A line of the table.
struct Line {
    what: &'static str,
    took: Took,
}

fn tickets(lasting: Duration) -> Result<(), Fault> {
    let mut lines = Vec::new();
    let mut line = |what, took| lines.push(Line { what, took });
    if let Some(server) = MariaDb::start_with(&[]) {
        let (server, url) = (&server, server.url(&server.database()));
        let url = url.as_str();
        let table = "CREATE TABLE tickets (id bigint unsigned NOT NULL AUTO_INCREMENT PRIMARY KEY, stub char(1) NOT NULL UNIQUE) ENGINE=InnoDB";
        let database = url.rsplit('/').next().unwrap_or_default();
        server.query(database, table)?;
        line(
            "MariaDB, `REPLACE INTO tickets`, `LAST_INSERT_ID()`",
            measured(lasting, async |_, until| flickr(url, until).await)?,
        );
        line("MariaDB, Mintage tickets", by_tickets(url, lasting)?);
        line("MariaDB, Mintage scopes, each client its own", by_scopes(url, lasting)?);
        line("MariaDB, Mintage blocks", by_blocks(url, lasting)?);
    }
    if let Some(server) = Postgres::start(&[("fsync", "on")]) {
        let (server, url) = (&server, server.url("postgres"));
        let url = url.as_str();
        server.query("postgres", "CREATE SEQUENCE one CACHE 1; CREATE SEQUENCE fifty CACHE 50")?;
        line(
            "PostgreSQL, `nextval`, cache 1",
            measured(lasting, async |_, until| nextval(url, "one", until).await)?,
        );
        line(
            "PostgreSQL, `nextval`, cache 50",
            measured(lasting, async |_, until| nextval(url, "fifty", until).await)?,
        );
        line("PostgreSQL, Mintage tickets", by_tickets(url, lasting)?);
        line("PostgreSQL, Mintage scopes, each client its own", by_scopes(url, lasting)?);
        line("PostgreSQL, Mintage blocks", by_blocks(url, lasting)?);
    }
    for (what, durable) in
        [("Redis, `INCR`, in memory only", false), ("Redis, `INCR`, `appendfsync always`", true)]
    {
        match Redis::start(durable)? {
            Some(redis) => {
                let port = redis.port;
                line(what, measured(lasting, async move |_, until| incr(port, until))?);
            }
            None => eprintln!("left out: redis-server is missing"),
        }
    }
    let folder = TempDir::new()?;
    let url = format!("sqlite:{}", folder.path().join("ids.db").display());
    line("SQLite, Mintage tickets", by_tickets(&url, lasting)?);
    line("SQLite, Mintage blocks", by_blocks(&url, lasting)?);
    let base = lines.first().map_or(1.0, |line| float(line.took.ids.len() as u64) / line.took.seconds);
    println!(
        "| {CLIENTS} clients, {} s each at most | ids a second | beside the first | errors a second | duplicates |",
        lasting.as_secs()
    );
    println!("|---|---|---|---|---|");
    for Line { what, took } in &lines {
        let distinct = took.ids.iter().collect::<HashSet<_>>().len();
        let each = |count: u64| float(count) / took.seconds;
        let ids = took.ids.len() as u64;
        println!(
            "| {what} | {:.0} | {:.1} | {:.1} | {} |",
            each(ids),
            each(ids) / base,
            each(took.errors),
            took.ids.len() - distinct
        );
    }
    Ok(())
}

/// The ticket server of Flickr, as it is told: one row that is replaced, so that AUTO_INCREMENT goes on.
async fn flickr(url: &str, until: u64) -> Result<Took, Fault> {
    let mut conn = Conn::new(Opts::from_url(url)?).await?;
    let mut took = Took::default();
    while now() < until {
        match conn.query_drop("REPLACE INTO tickets (stub) VALUES ('a')").await {
            Ok(()) => took.ids.push(conn.query_first("SELECT LAST_INSERT_ID()").await?.ok_or("no id")?),
            Err(mysql_async::Error::Server(error)) if error.code == 1213 => took.errors += 1,
            Err(error) => return Err(error.into()),
        }
    }
    Ok(took)
}

async fn postgres(url: &str) -> Result<Client, Fault> {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await?;
    tokio::spawn(connection);
    Ok(client)
}

async fn nextval(url: &str, sequence: &str, until: u64) -> Result<Took, Fault> {
    let client = postgres(url).await?;
    let next = client.prepare(&format!("SELECT nextval('{sequence}')")).await?;
    let mut took = Took::default();
    while now() < until {
        let id: i64 = client.query_one(&next, &[]).await?.get(0);
        took.ids.push(id.cast_unsigned());
    }
    Ok(took)
}

/// A server of its own, gone with its handle.
struct Redis {
    child: Child,
    port: u16,
    _folder: TempDir,
}

impl Redis {
    fn start(durable: bool) -> Result<Option<Self>, Fault> {
        let folder = TempDir::new()?;
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let mut command = Command::new("redis-server");
        command.args(["--port", &port.to_string(), "--bind", "127.0.0.1", "--save", "", "--appendonly"]);
        command.args([if durable { "yes" } else { "no" }, "--appendfsync", "always"]);
        command.current_dir(folder.path()).stdout(Stdio::null()).stdin(Stdio::null());
        let Ok(child) = command.spawn() else { return Ok(None) };
        let redis = Self { child, port, _folder: folder };
        for _ in 0..500 {
            if TcpStream::connect(("127.0.0.1", port)).is_ok() {
                return Ok(Some(redis));
            }
            mintage::time::pause(10_000_000);
        }
        Err("redis-server doesn't answer".into())
    }
}

impl Drop for Redis {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn incr(port: u16, until: u64) -> Result<Took, Fault> {
    let mut out = TcpStream::connect(("127.0.0.1", port))?;
    out.set_nodelay(true)?;
    let mut answers = BufReader::new(out.try_clone()?);
    let (mut took, mut line) = (Took::default(), String::new());
    while now() < until {
        out.write_all(b"*2\r\n$4\r\nINCR\r\n$1\r\nn\r\n")?;
        line.clear();
        answers.read_line(&mut line)?;
        took.ids.push(line.trim().trim_start_matches(':').parse()?);
    }
    Ok(took)
}

/// Makes a space where there is none, and opens the store as a process of its own would.
async fn session(url: &str, name: &str, kind: Kind) -> Result<Session, Fault> {
    let session = Session::open(url, SessionOptions::default())?;
    let space = Space { id: SpaceId(draw_nonce()?.0), name: name.to_owned(), kind };
    session.create(&space, CreateOptions::default()).await?;
    Ok(session)
}

fn by_tickets(url: &str, lasting: Duration) -> Result<Took, Fault> {
    measured(lasting, async |_, until| {
        let kind = Kind::Blocks(BlockTerms { max_size: 1, ..BlockTerms::default() });
        let tickets = session(url, "tickets", kind).await?.space("tickets").await?.tickets().await?;
        let mut took = Took::default();
        while now() < until {
            took.ids.push(tickets.next_async().await?);
        }
        Ok(took)
    })
}

fn by_scopes(url: &str, lasting: Duration) -> Result<Took, Fault> {
    measured(lasting, async |client, until| {
        let session = session(url, "scopes", Kind::Scopes(ScopeTerms::default())).await?;
        let counters = session.space("scopes").await?.scope_counters()?;
        let scope = client.to_string().parse()?;
        let mut took = Took::default();
        while now() < until {
            let number = counters.take_async(&scope, 1).await?.start;
            // Apart by scope, so that a duplicate is one.
            took.ids.push(u64::from(client) << 40 | number);
        }
        Ok(took)
    })
}

/// Ids of a client that are kept; one who has them ends early, and the time that it took counts.
const MOST_KEPT: usize = 4_000_000;

fn by_blocks(url: &str, lasting: Duration) -> Result<Took, Fault> {
    measured(lasting, async |_, until| {
        let session = session(url, "blocks", Kind::Blocks(BlockTerms::default())).await?;
        let allocator = session.space("blocks").await?.allocator().await?;
        let mut took = Took::default();
        while now() < until && took.ids.len() < MOST_KEPT {
            took.ids.push(allocator.next()?);
        }
        allocator.close().await?;
        Ok(took)
    })
}

/// Transactions with 5 ms of other work each, on one scope.
fn locks(lasting: Duration) -> Result<(), Fault> {
    println!(
        "| 8 writers of one scope, 5 ms of other work in each transaction | transactions a second | waited for the number, median and 99 % |"
    );
    println!("|---|---|---|");
    let tell = |what: &str, took: Took| {
        let (mut waits, seconds) = (took.ids, took.seconds);
        waits.sort_unstable();
        let at = |part: usize| {
            waits
                .get(waits.len().saturating_sub(1 + waits.len() / part))
                .map_or(0.0, |wait| float(*wait) / 1e6)
        };
        println!(
            "| {what} | {:.0} | {:.2} ms, {:.2} ms |",
            float(waits.len() as u64) / seconds,
            at(2),
            at(100)
        );
    };
    let script =
        |engine, name: &str| Ok::<_, Fault>((FUNCTIONS[0].script)(engine, &Table::of(name, engine)?).text());
    if let Some(server) = Postgres::start(&[("fsync", "on")]) {
        server.query("postgres", &script(Engine::Postgres, "scope_counter")?)?;
        let url = server.url("postgres");
        let (number, work) = ("SELECT scope_counter_next('42')", "SELECT pg_sleep(0.005)");
        for (what, is_early) in [("PostgreSQL, number first", true), ("PostgreSQL, number last", false)] {
            let took = measured(lasting, async |_, until| {
                let client = postgres(&url).await?;
                let mut took = Took::default();
                while now() < until {
                    client.batch_execute("BEGIN").await?;
                    if !is_early {
                        client.batch_execute(work).await?;
                    }
                    let before = now();
                    client.batch_execute(number).await?;
                    took.ids.push(now() - before);
                    if is_early {
                        client.batch_execute(work).await?;
                    }
                    client.batch_execute("COMMIT").await?;
                }
                Ok(took)
            })?;
            tell(what, took);
        }
    }
    if let Some(server) = MariaDb::start_with(&[]) {
        let database = server.database();
        server.query(&database, &script(Engine::MySql, "scope_counter")?)?;
        let url = server.url(&database);
        let (number, work) = ("CALL scope_counter_next('42', 1, @number)", "DO SLEEP(0.005)");
        for (what, is_early) in [("MariaDB, number first", true), ("MariaDB, number last", false)] {
            let took = measured(lasting, async |_, until| {
                let mut conn = Conn::new(Opts::from_url(&url)?).await?;
                let mut took = Took::default();
                while now() < until {
                    conn.query_drop("BEGIN").await?;
                    if !is_early {
                        conn.query_drop(work).await?;
                    }
                    let before = now();
                    conn.query_drop(number).await?;
                    took.ids.push(now() - before);
                    if is_early {
                        conn.query_drop(work).await?;
                    }
                    conn.query_drop("COMMIT").await?;
                }
                Ok(took)
            })?;
            tell(what, took);
        }
    }
    Ok(())
}

fn now() -> u64 {
    SystemClock.boottime_nanos()
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[expect(clippy::cast_precision_loss, reason = "counts and nanoseconds of a run, to be divided")]
const fn float(number: u64) -> f64 {
    number as f64
}
