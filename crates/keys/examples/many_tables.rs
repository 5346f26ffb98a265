//! How long a look at a large catalog takes, beside a query per table:
//! `cargo run --release -p mintage-keys --example many_tables -- postgres://postgres@localhost/scratch [TABLES SEQUENCES]`
//!
//! The database must be empty: it gets 10,000 tables with a serial key each, and 2,000 sequences besides.

use mintage::{Clock, SystemClock};
use mintage_keys::ignore::Ignore;
use mintage_keys::open::{Options, read};
use mintage_keys::report::{Report, Thresholds};
use std::error::Error;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let url = arguments.next().ok_or("the URL of an empty database expected")?;
    let tables: usize = arguments.next().map_or(Ok(10_000), |text| text.parse())?;
    let sequences: usize = arguments.next().map_or(Ok(12_000), |text| text.parse())?;
    let (client, connection) = tokio_postgres::connect(&url, tokio_postgres::NoTls).await?;
    tokio::spawn(connection);
    let found =
        client.query_one("SELECT count(*) FROM pg_class WHERE relname ~ '^many_[0-9]+$'", &[]).await?;
    if found.get::<_, i64>(0) == 0 {
        for first in (0..tables).step_by(500) {
            let sql: String = (first..tables.min(first + 500))
                .map(|i| format!("CREATE TABLE many_{i}(id serial PRIMARY KEY, other_id int, name text);INSERT INTO many_{i} DEFAULT VALUES;"))
                .collect();
            client.batch_execute(&sql).await?;
        }
        let sql: String = (tables..sequences).map(|i| format!("CREATE SEQUENCE alone_{i};")).collect();
        client.batch_execute(&sql).await?;
        client.batch_execute("ANALYZE pg_class; ANALYZE pg_attribute; ANALYZE pg_depend").await?;
    }
    let since = |start: mintage::UnixNanos| (SystemClock.now().0 - start.0) as f64 / 1e9;
    let mut best = f64::MAX;
    for _ in 0..3 {
        let start = SystemClock.now();
        let catalog = read(&url, &Options::default()).await?;
        let report = Report::of(&catalog, Thresholds::default(), &Ignore::default());
        let text = report.json();
        best = best.min(since(start));
        println!(
            "{:.2} s: {} keys, {} findings, {} bytes of JSON",
            since(start),
            report.keys.len(),
            report.findings.len(),
            text.len()
        );
    }
    let start = SystemClock.now();
    for i in 0..tables {
        let sql = format!(
            "SELECT a.attname, format_type(a.atttypid, a.atttypmod), pg_get_serial_sequence('many_{i}', a.attname), \
             pg_sequence_last_value(pg_get_serial_sequence('many_{i}', 'id')), (SELECT max(id) FROM many_{i}) \
             FROM pg_attribute a WHERE a.attrelid = 'many_{i}'::regclass AND a.attnum > 0"
        );
        client.simple_query(&sql).await?;
    }
    let by_table = since(start);
    println!("{by_table:.2} s by a query per table: {:.1} times as long", by_table / best);
    Ok(())
}
