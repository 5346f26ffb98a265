//! Leases and blocks under load: how near minting comes to a layout's limit, how long a call takes, what the store writes, how long a
//! grant takes, what each request costs in each store, and what a store that stands still does to who mints. One JSON object a run; a
//! table of Markdown for all stores.
//!
//! `cargo run --release -p mintage-bench --bin lease-load -- ceiling 60`

mod bare;
mod place;
mod stores;
mod times;

use mintage::RawId;
use mintage_lease::store::Deadline;
use mintage_lease::{AllocatorOptions, MinterOptions, Session, SessionOptions};
use place::{Place, Server};
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::Duration;
use times::{float, nanos, now, one_in};

type Fault = Box<dyn std::error::Error + Send + Sync>;

const USAGE: &str = "\
usage: cargo run --release -p mintage-bench --bin lease-load -- RUN [SECONDS] [STORE]

  ceiling   one thread as fast as 41/10/12 allows: the part of 4,096 ids a millisecond that it reached
  latency   one call after another, 50 us apart: the slowest of a thousand and of ten thousand
  writes    100,000 ids a second, from windows and from blocks: transactions of the store for a million ids
  many      1,024 workers held by 8 processes: transactions and rows a second while they renew
  acquire   a grant of a minter, beside a bare transaction of that database which changes one row
  stores    requests for leases, blocks and numbers of scopes in all five stores, beside bare writes of each: a table, from rounds that
            go on for so long
  outage    10,000 ids a second from windows and from blocks, while the store stands still for that long: calls that failed

Over a file unless said. `acquire` is also over a server of its own: postgres or mariadb, and etcd or zookeeper with the feature of that
name; `outage` over postgres. `stores` leaves out what is missing and says so; with --features etcd,zookeeper it has all.
";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let seconds = words.get(1).and_then(|text| text.parse().ok()).unwrap_or(20);
    let lasting = Duration::from_secs(seconds);
    let store = words.get(2).map_or("sqlite", String::as_str);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let done = match words.first().map(String::as_str) {
        Some("ceiling") => runtime.block_on(ceiling(lasting)),
        Some("latency") => runtime.block_on(latency(lasting)),
        Some("writes") => runtime.block_on(writes(lasting)),
        Some("many") => runtime.block_on(many(lasting)),
        Some("acquire") => runtime.block_on(acquire(store)),
        Some("stores") => runtime.block_on(stores::stores(lasting)),
        Some("outage") => runtime.block_on(outage(lasting, store)),
        Some("holder") => runtime.block_on(holder(store, lasting)),
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

async fn ceiling(lasting: Duration) -> Result<(), Fault> {
    let place = Place::of("sqlite").await?;
    let minter = place.session.space("windows").await?.minter().await?;
    let mut batch = [RawId::ZERO; 1024];
    let (begun, mut made, mut last) = (now(), 0_u64, RawId::ZERO);
    while now() - begun < nanos(lasting) {
        minter.fill(&mut batch)?;
        assert!(batch[0] > last && batch.is_sorted(), "out of order");
        last = batch[1023];
        made += 1024;
    }
    let part = float(made) / (float(now() - begun) / 1e6 * 4096.0);
    println!(
        "{{\"run\":\"ceiling\",\"seconds\":{},\"ids\":\"{made}\",\"part\":{part:.4}}}",
        lasting.as_secs()
    );
    Ok(minter.close().await?)
}

async fn latency(lasting: Duration) -> Result<(), Fault> {
    let place = Place::of("sqlite").await?;
    let minter = place.session.space("windows").await?.minter().await?;
    let (begun, mut times) = (now(), Vec::new());
    while now() - begun < nanos(lasting) {
        let before = now();
        minter.next()?;
        times.push(now() - before);
        mintage::time::pause(20_000);
    }
    times.sort_unstable();
    println!(
        "{{\"run\":\"latency\",\"calls\":{},\"p50_ns\":{},\"p99_9_ns\":{},\"p99_99_ns\":{}}}",
        times.len(),
        one_in(2, &times),
        one_in(1_000, &times),
        one_in(10_000, &times)
    );
    Ok(minter.close().await?)
}

async fn writes(lasting: Duration) -> Result<(), Fault> {
    let place = Place::of("sqlite").await?;
    let before = place.commits()?;
    let minter = place.session.space("windows").await?.minter().await?;
    let made = at_rate(lasting, || minter.next().map(|_| ()).map_err(Fault::from))?;
    minter.close().await?;
    tell("windows", place.commits()? - before, made);
    let before = place.commits()?;
    let allocator = place.session.space("blocks").await?.allocator_with(AllocatorOptions::default()).await?;
    let made = at_rate(lasting, || allocator.next().map(|_| ()).map_err(Fault::from))?;
    allocator.close().await?;
    tell("blocks", place.commits()? - before, made);
    Ok(())
}

/// A hundred thousand a second, in pieces of a millisecond.
fn at_rate(lasting: Duration, mut one: impl FnMut() -> Result<(), Fault>) -> Result<u64, Fault> {
    let (begun, mut made) = (now(), 0);
    while now() - begun < nanos(lasting) {
        let due = (now() - begun) / 10_000;
        while made < due {
            one()?;
            made += 1;
        }
        mintage::time::pause(1_000_000);
    }
    Ok(made)
}

fn tell(what: &str, commits: u64, made: u64) {
    let each = float(commits) * 1e6 / float(made);
    println!(
        "{{\"run\":\"writes\",\"of\":\"{what}\",\"ids\":\"{made}\",\"commits\":{commits},\"per_million\":{each:.2}}}"
    );
}

async fn many(lasting: Duration) -> Result<(), Fault> {
    let place = Place::of("sqlite").await?;
    let program = std::env::current_exe().expect("this program");
    let seconds = (lasting.as_secs() + 15).to_string();
    let mut holders: Vec<_> = (0..8)
        .map(|_| Command::new(&program).args(["holder", &seconds, &place.url]).spawn().expect("a process"))
        .collect();
    let store = place.session.store()?;
    let within = || Deadline::after(Duration::from_secs(20));
    // Until all have theirs.
    let mut held = 0;
    while held < 1024 {
        mintage::time::pause(100_000_000);
        held = store.show("windows", within()).await?.workers.len();
    }
    let first = store.show("windows", within()).await?;
    let (begun, commits) = (now(), place.commits()?);
    mintage::time::pause(nanos(lasting));
    let passed = float(now() - begun) / 1e9;
    let commits = place.commits()? - commits;
    let last = store.show("windows", within()).await?;
    // Each renewal of a process writes its 128 rows, the space's and the store's.
    let renewed = first.workers.iter().zip(&last.workers).filter(|(a, b)| a.serial != b.serial).count();
    let rows = commits * (128 + 2);
    println!(
        "{{\"run\":\"many\",\"workers\":{held},\"renewed\":{renewed},\"seconds\":{passed:.1},\"commits_per_second\":{:.2},\"rows_per_second\":{:.1}}}",
        float(commits) / passed,
        float(rows) / passed
    );
    for holder in &mut holders {
        let _ = holder.wait();
    }
    Ok(())
}

/// Holds 128 leases until the time is over, and ends as a process that is killed.
async fn holder(url: &str, lasting: Duration) -> Result<(), Fault> {
    let session = Session::open(url, SessionOptions::default())?;
    let options = MinterOptions { leases: 128, ..MinterOptions::default() };
    let minter = session.space("windows").await?.minter_with(options).await?;
    mintage::time::pause(nanos(lasting));
    assert!(minter.next().is_ok() && Path::new(url.trim_start_matches("sqlite:")).exists());
    std::process::exit(0);
}

async fn acquire(store: &str) -> Result<(), Fault> {
    const ROUNDS: usize = 200;
    let place = Place::of(store).await?;
    let space = place.session.space("windows").await?;
    let mut bare = bare::beside(&place).await?;
    let (mut grants, mut writes, mut transactions) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let before = now();
        let minter = space.minter().await?;
        grants.push(now() - before);
        minter.close().await?;
        let before = now();
        bare.write().await?;
        writes.push(now() - before);
        let before = now();
        bare.transaction().await?;
        transactions.push(now() - before);
    }
    let median = |mut times: Vec<u64>| {
        times.sort_unstable();
        float(one_in(2, &times))
    };
    let (grant, write, transaction) = (median(grants), median(writes), median(transactions));
    println!(
        "{{\"run\":\"acquire\",\"store\":\"{}\",\"grant_p50_us\":{:.0},\"bare_write_p50_us\":{:.0},\"ratio\":{:.2},\
         \"bare_transaction_p50_us\":{:.0},\"ratio_to_transaction\":{:.2}}}",
        place.name,
        grant / 1e3,
        write / 1e3,
        grant / write,
        transaction / 1e3,
        grant / transaction
    );
    Ok(())
}

/// Mints while the store stands still, from windows and from blocks.
async fn outage(lasting: Duration, store: &str) -> Result<(), Fault> {
    if !["sqlite", "postgres"].contains(&store) {
        return Err(format!("`{store}` is no store for an outage; expected is sqlite or postgres").into());
    }
    let mut place = Place::of(store).await?;
    let minter = place.session.space("windows").await?.minter().await?;
    let allocator = place.session.space("blocks").await?.allocator_with(AllocatorOptions::default()).await?;
    // Until blocks have grown to what is used of them, which is a minute at a fourfold a time.
    let mut both = || {
        minter.next().map(|_| ()).map_err(Fault::from).and(allocator.next().map(|_| ()).map_err(Fault::from))
    };
    let warm = minting(Duration::from_secs(60), &mut both);
    let side_car = std::fs::File::open(place.side_car());
    if let Some(Server::Postgres(server)) = &mut place.server {
        server.stop();
    } else {
        side_car.as_ref().expect("a side-car").lock().expect("its lock");
    }
    let during = minting(lasting, &mut both);
    let was_asked = allocator.counts().blocks;
    if let Some(Server::Postgres(server)) = &mut place.server {
        server.start_again();
    } else {
        side_car.expect("a side-car").unlock().expect("its lock");
    }
    let after = minting(Duration::from_secs(10), &mut both);
    println!(
        "{{\"run\":\"outage\",\"store\":\"{}\",\"seconds\":{},\"calls\":{},\"failed\":{},\"longest_us\":{},\
         \"blocks_before\":{was_asked},\"failed_before\":{},\"failed_after\":{}}}",
        place.name,
        lasting.as_secs(),
        2 * during.calls,
        during.failed,
        during.longest / 1000,
        warm.failed,
        after.failed
    );
    minter.close().await?;
    Ok(allocator.close().await?)
}

#[derive(Default)]
struct Minting {
    calls: u64,
    failed: u64,
    longest: u64,
}

/// 10,000 calls a second, in pieces of a millisecond.
fn minting(lasting: Duration, one: &mut impl FnMut() -> Result<(), Fault>) -> Minting {
    let (begun, mut seen) = (now(), Minting::default());
    while now() - begun < nanos(lasting) {
        let due = (now() - begun) / 100_000;
        while seen.calls < due {
            let before = now();
            seen.failed += u64::from(one().is_err());
            seen.longest = seen.longest.max(now() - before);
            seen.calls += 1;
        }
        mintage::time::pause(1_000_000);
    }
    seen
}
