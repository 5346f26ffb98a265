//! What a server can't be faster than: a counter of the Redis protocol and a handler of HTTP that do nothing else. For `scripts/bench-serve`.

use axum::Router;
use axum::routing::post;
use mintage_service::resp::{Replies, command};
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

static COUNT: AtomicU64 = AtomicU64::new(1);

async fn count(mut stream: TcpStream) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut bytes = Vec::with_capacity(16 * 1024);
    let mut replies = Replies::new();
    loop {
        if stream.read_buf(&mut bytes).await? == 0 {
            return Ok(());
        }
        let mut used = 0;
        while let Ok(Some((words, len))) = command(&bytes[used..]) {
            used += len;
            match words.at(0) {
                b"INCR" => replies.number(COUNT.fetch_add(1, Ordering::Relaxed)),
                _ => replies.error("ERR", "there is INCR"),
            }
        }
        bytes.drain(..used);
        stream.write_all(&replies.bytes).await?;
        replies.bytes.clear();
    }
}

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let mut ports = std::env::args().skip(1).map(|port| port.parse::<u16>().unwrap_or(0));
    let (http, redis) = (ports.next().unwrap_or(0), ports.next().unwrap_or(0));
    let redis = TcpListener::bind(("127.0.0.1", redis)).await?;
    let http = TcpListener::bind(("127.0.0.1", http)).await?;
    println!("http {} redis {}", http.local_addr()?, redis.local_addr()?);
    tokio::spawn(async move {
        while let Ok((stream, _)) = redis.accept().await {
            tokio::spawn(count(stream));
        }
    });
    axum::serve(http, Router::new().route("/", post(async || "ok"))).await
}
