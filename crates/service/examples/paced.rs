//! Load at a set rate, open loop: `paced redis|http ADDRESS RATE SECONDS CONNECTIONS [COMMAND|PATH]`. A request that was due and had to wait counts from when it
//! was due. Prints one JSON object: requests, failures, values that came twice, and how long answers took, in microseconds. For `scripts/bench-serve`.

use mintage::{Clock, SystemClock};
use serde_json::json;
use std::collections::HashSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

#[derive(Default)]
struct Seen {
    micros: Vec<u32>,
    values: Vec<u64>,
    failures: Vec<String>,
}

/// What is asked, and how the end of an answer is told.
#[derive(Clone)]
enum Asked {
    Redis(Vec<u8>),
    Http(Vec<u8>),
}

async fn answered(stream: &mut TcpStream, asked: &Asked) -> std::io::Result<String> {
    let (request, is_http) = match asked {
        Asked::Redis(request) => (request, false),
        Asked::Http(request) => (request, true),
    };
    stream.write_all(request).await?;
    let mut bytes = Vec::new();
    loop {
        if stream.read_buf(&mut bytes).await? == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        let text = String::from_utf8_lossy(&bytes);
        if !is_http {
            if text.ends_with("\r\n") && (!text.starts_with('$') || text.matches("\r\n").count() == 2) {
                return Ok(text.into_owned());
            }
            continue;
        }
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let len = head
            .lines()
            .find_map(|line| line.strip_prefix("content-length: "))
            .and_then(|len| len.parse().ok());
        if body.len() >= len.unwrap_or(0) {
            return Ok(text.into_owned());
        }
    }
}

/// The value in an answer; nothing where it failed.
fn value(answer: &str) -> Option<u64> {
    if let Some(number) = answer.strip_prefix(':') {
        return number.trim_end().parse().ok();
    }
    if answer.starts_with('$') {
        return answer.lines().nth(1)?.parse().ok();
    }
    answer.strip_prefix("HTTP/1.1 200")?;
    answer.split_once("[\"")?.1.split('"').next()?.parse().ok()
}

async fn load(address: String, asked: Asked, every: u64, first: u64, until: u64) -> std::io::Result<Seen> {
    let mut stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    let mut seen = Seen::default();
    let mut due = first;
    while due < until {
        let now = SystemClock.monotonic_nanos();
        if now < due {
            tokio::time::sleep(Duration::from_nanos(due - now)).await;
        }
        let answer = answered(&mut stream, &asked).await?;
        let took = (SystemClock.monotonic_nanos() - due) / 1_000;
        seen.micros.push(u32::try_from(took).unwrap_or(u32::MAX));
        match value(&answer) {
            Some(value) => seen.values.push(value),
            None => seen.failures.push(answer),
        }
        due += every;
    }
    Ok(seen)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [surface, address, rate, seconds, connections, what @ ..] = &args[..] else {
        return Err("usage: paced redis|http ADDRESS RATE SECONDS CONNECTIONS [COMMAND|PATH]".into());
    };
    let (rate, seconds, connections): (u64, u64, u64) =
        (rate.parse()?, seconds.parse()?, connections.parse()?);
    let asked = match surface.as_str() {
        "redis" => {
            Asked::Redis(format!("{}\r\n", what.first().map_or("INCR counter", String::as_str)).into_bytes())
        }
        _ => {
            let path = what.first().map_or("/v1/spaces/counter/ids", String::as_str);
            Asked::Http(format!("POST {path} HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n").into_bytes())
        }
    };
    let begun = SystemClock.monotonic_nanos() + 100_000_000;
    let until = begun + seconds * 1_000_000_000;
    let every = 1_000_000_000 * connections / rate;
    let all: Arc<Mutex<Seen>> = Arc::default();
    let mut clients = Vec::new();
    for number in 0..connections {
        let (address, asked, all) = (address.clone(), asked.clone(), Arc::clone(&all));
        let first = begun + every * number / connections;
        clients.push(tokio::spawn(async move {
            match load(address, asked, every, first, until).await {
                Ok(seen) => {
                    if let Ok(mut all) = all.lock() {
                        all.micros.extend(seen.micros);
                        all.values.extend(seen.values);
                        all.failures.extend(seen.failures);
                    }
                }
                Err(error) => {
                    if let Ok(mut all) = all.lock() {
                        all.failures.push(error.to_string());
                    }
                }
            }
        }));
    }
    for client in clients {
        client.await?;
    }
    let mut all = all.lock().map_err(|_| "a client panicked")?;
    all.micros.sort_unstable();
    let at = |per_mille: usize| all.micros.get(all.micros.len() * per_mille / 1_000).copied();
    let different: HashSet<&u64> = all.values.iter().collect();
    println!(
        "{}",
        json!({
            "requests": all.micros.len(),
            "failures": all.failures.len(),
            "first_failure": all.failures.first(),
            "duplicates": all.values.len() - different.len(),
            "p50": at(500), "p99": at(990), "p999": at(999), "max": all.micros.last(),
        })
    );
    Ok(())
}
