//! How long a check of many sequences takes, and their repair:
//! `cargo run --release -p mintage-keys --example many_sequences -- postgres://postgres@localhost/scratch [SEQUENCES]`
//!
//! The database must be empty: it gets 1,000 tables with a serial key each, all of them behind.

use mintage::{Clock, SystemClock};
use mintage_keys::open::Options;
use mintage_keys::sequences::{Demand, check, fix};
use std::error::Error;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let url = arguments.next().ok_or("the URL of an empty database expected")?;
    let sequences: usize = arguments.next().map_or(Ok(1_000), |text| text.parse())?;
    let (client, connection) = tokio_postgres::connect(&url, tokio_postgres::NoTls).await?;
    tokio::spawn(connection);
    for first in (0..sequences).step_by(500) {
        let sql: String = (first..sequences.min(first + 500))
            .map(|i| format!("CREATE TABLE many_{i}(id serial PRIMARY KEY);INSERT INTO many_{i} SELECT generate_series(1, 100);"))
            .collect();
        client.batch_execute(&sql).await?;
    }
    client.batch_execute("ANALYZE pg_class; ANALYZE pg_attribute; ANALYZE pg_depend").await?;
    let since = |start: u64| (SystemClock.monotonic_nanos() - start) as f64 / 1e9;
    for _ in 0..3 {
        let start = SystemClock.monotonic_nanos();
        let outlook = check(&url, &Options::default(), &Demand::default()).await?;
        println!(
            "{:.2} s: {} checked, {} behind",
            since(start),
            outlook.standings.len(),
            outlook.planned().count()
        );
    }
    let start = SystemClock.monotonic_nanos();
    let outlook = fix(&url, &Options::default(), &Demand::default()).await?;
    let repaired = outlook.standings.iter().filter(|standing| standing.repaired.is_some()).count();
    println!("{:.2} s: {repaired} repaired and verified, all fine: {}", since(start), outlook.is_fine());
    Ok(())
}
