//! What each request costs in each store, beside bare writes of that store: in one run, round by round. A table of Markdown.

use crate::Fault;
use crate::bare::{self, Bare};
use crate::place::{NAMES, Place};
use crate::times::{float, nanos, now, one_in};
use mintage_lease::request::{Acquire, Caller, Claim, Held, Lease, Release, Take};
use mintage_lease::state::ScopeName;
use mintage_lease::store::{Deadline, Desk, OpenOptions, draw_nonce};
use std::io::Write;
use std::time::Duration;

/// What is measured: the two bare writes, and the requests that stand beside them.
const COLUMNS: [&str; 7] =
    ["one write", "read and write", "acquire", "renew", "release", "block claim", "number of a scope"];

/// How many of the columns are bare writes.
const BARE: usize = 2;

/// Rounds before those that count: connections, plans and caches are warm then.
const WARM: usize = 20;

/// Rounds at least, however long they take: below, 99 % would be the slowest of few.
const LEAST: usize = 100;

/// Measures all stores that there are, in turns, for so long; what is missing is left out and said.
pub(crate) async fn stores(lasting: Duration) -> Result<(), Fault> {
    let mut all = Vec::new();
    for (name, _) in NAMES {
        match Place::of(name).await {
            Ok(place) => all.push(Measured::of(place).await?),
            Err(error) => writeln!(std::io::stderr(), "left out: {error}")?,
        }
    }
    for number in 0..WARM {
        for store in &mut all {
            store.round(number).await?;
        }
    }
    for store in &mut all {
        store.times = Default::default();
    }
    let (begun, mut rounds) = (now(), 0);
    while rounds < LEAST || now() - begun < nanos(lasting) {
        for store in &mut all {
            store.round(rounds).await?;
        }
        rounds += 1;
    }
    let mut table =
        format!("| {rounds} rounds | {} |\n|{}\n", COLUMNS.join(" | "), "---|".repeat(COLUMNS.len() + 1));
    for store in all {
        table += &store.line();
    }
    write!(std::io::stdout(), "{table}")?;
    Ok(())
}

/// A store, what asks it, and how long that took.
struct Measured {
    bare: Box<dyn Bare>,
    windows: Desk,
    blocks: Desk,
    scopes: Desk,
    /// A lease that lasts for the whole run, for renewals.
    held: Held,
    /// Leases to be released: one, and for a while another.
    acquired: Vec<Lease>,
    scope: ScopeName,
    times: [Vec<u64>; COLUMNS.len()],
    place: Place,
}

impl Measured {
    async fn of(place: Place) -> Result<Self, Fault> {
        let bare = bare::beside(&place).await?;
        // A handle of its own, whose connections belong to the thread that measures.
        let store = mintage_lease::store::open(&place.url, OpenOptions::default())?;
        let windows = Desk::open(store.clone(), "windows", soon()).await?;
        let blocks = Desk::open(store.clone(), "blocks", soon()).await?;
        let scopes = Desk::open(store, "scopes", soon()).await?;
        let held = acquire(&windows).await?.held();
        let acquired = vec![acquire(&windows).await?];
        let (scope, times) = ("42".parse()?, Default::default());
        Ok(Self { bare, windows, blocks, scopes, held, acquired, scope, times, place })
    }

    /// Each column once, beginning with another one each time: what comes first, or after a certain other, may find things otherwise.
    async fn round(&mut self, number: usize) -> Result<(), Fault> {
        // The server and its connections have slept while others had their turn; what wakes them isn't measured.
        self.bare.write().await?;
        for column in (0..COLUMNS.len()).map(|place| (place + number) % COLUMNS.len()) {
            let took = self.step(column).await?;
            self.times[column].push(took);
        }
        Ok(())
    }

    /// What a column measures, once, in nanoseconds.
    async fn step(&mut self, column: usize) -> Result<u64, Fault> {
        let (caller, nonce) = (Caller::default(), draw_nonce()?);
        let begun = now();
        match column {
            0 => self.bare.write().await?,
            1 => self.bare.transaction().await?,
            2 => {
                let lease = acquire(&self.windows).await?;
                self.acquired.push(lease);
            }
            3 => return self.renew(&caller).await,
            4 => {
                let lease = self.acquired.pop().ok_or("no lease to release")?;
                let release = Release { held: lease.held(), last: None };
                self.windows.release(&caller, release, soon()).await?;
            }
            5 => {
                self.blocks.claim(&caller, Claim { nonce, size: 1_000 }, soon()).await?;
            }
            _ => {
                let take = Take { nonce, scope: self.scope.clone(), size: 1 };
                self.scopes.take(&caller, take, soon()).await?;
            }
        }
        Ok(now() - begun)
    }

    async fn renew(&mut self, caller: &Caller) -> Result<u64, Fault> {
        let begun = now();
        let each = self.windows.renew(caller, vec![self.held], soon()).await?.answer;
        let took = now() - begun;
        let renewed = each.into_iter().next().ok_or("no answer to a renewal")??.held();
        // One that finds nothing to add writes nothing.
        if renewed.until <= self.held.until {
            return Err("a renewal that renewed nothing was measured".into());
        }
        self.held = renewed;
        Ok(took)
    }

    /// Its line of the table.
    fn line(mut self) -> String {
        for times in &mut self.times {
            times.sort_unstable();
        }
        let median = |column: usize| float(one_in(2, &self.times[column]));
        let cells = (0..COLUMNS.len()).map(|column| {
            let slow = float(one_in(100, &self.times[column])) / 1e6;
            let cell = format!("{:.2}, {slow:.1}", median(column) / 1e6);
            if column < BARE {
                return cell;
            }
            format!("{cell} ({:.1}, {:.1})", median(column) / median(0), median(column) / median(1))
        });
        let cells: Vec<String> = cells.collect();
        format!("| {} | {} |\n", self.place.name, cells.join(" | "))
    }
}

async fn acquire(windows: &Desk) -> Result<Lease, Fault> {
    let ask = Acquire { nonce: draw_nonce()?, want: 1, host: "bench".to_owned() };
    let leases = windows.acquire(&Caller::default(), ask, soon()).await?.answer;
    Ok(leases.into_iter().next().ok_or("a grant of no lease")?)
}

fn soon() -> Deadline {
    Deadline::after(Duration::from_secs(20))
}
