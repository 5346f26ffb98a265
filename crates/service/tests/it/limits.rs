//! Clients that are slow, many, or want too much.

use crate::site::Site;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

async fn site(settings: &[(&'static str, &str)]) -> Site {
    Site::with(tempfile::tempdir().unwrap(), settings).await
}

async fn rest(stream: &mut TcpStream) -> String {
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    String::from_utf8(answer).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_head_that_comes_a_byte_at_a_time_is_not_waited_for() {
    let site = site(&[("idle-seconds", "1")]).await;
    let mut stream = TcpStream::connect(site.http).await.unwrap();
    // Ten seconds of bytes; the server closes after one.
    let mut sent = 0;
    for byte in b"GET /healthz HTTP/1.1\r\nHost: a\r\nX: ".iter().chain(&[b'x'; 70]) {
        if stream.write_all(&[*byte]).await.is_err() {
            break;
        }
        sent += 1;
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert!(sent < 90, "the connection was kept");
    assert_eq!(site.asked("GET /healthz", "", "").await.0, 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_body_that_does_not_come_is_not_waited_for() {
    let site = site(&[("request-seconds", "1")]).await;
    let mut stream = TcpStream::connect(site.http).await.unwrap();
    let head = "POST /v1/spaces HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{";
    stream.write_all(head.as_bytes()).await.unwrap();
    let answer = rest(&mut stream).await;
    assert!(answer.starts_with("HTTP/1.1 408 ") && answer.contains("/problems/timed-out"), "{answer}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_idle_connection_is_kept_for_its_time() {
    let site = site(&[("idle-seconds", "1")]).await;
    let mut stream = TcpStream::connect(site.http).await.unwrap();
    stream.write_all(b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n").await.unwrap();
    let answer = tokio::time::timeout(Duration::from_secs(20), rest(&mut stream)).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn large_bodies_heads_and_malformed_requests_are_refused() {
    let site = site(&[]).await;
    let body = "x".repeat(100_000);
    let (status, _, answer) =
        site.asked("POST /v1/spaces", "Content-Type: application/json\r\n", &body).await;
    assert!((status == 400 || status == 413) && answer.starts_with(b"{"), "{status}");
    for raw in [
        &format!("GET /healthz HTTP/1.1\r\nHost: a\r\nX: {}\r\n\r\n", "x".repeat(50_000))[..],
        &format!("GET /healthz HTTP/1.1\r\n{}\r\n", "X: y\r\n".repeat(200)),
        "GET /healthz\r\n\r\n",
        "\0\0\0\0\r\n\r\n",
        "GET /healthz HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        "POST /v1/spaces HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\nzzz\r\n\r\n",
        "GET /v1/inspect/%ff HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
    ] {
        let mut stream = TcpStream::connect(site.http).await.unwrap();
        let _ = stream.write_all(raw.as_bytes()).await;
        let mut answer = vec![0; 200];
        // What was read may be cut off where the server closes with bytes unread.
        let len = stream.read(&mut answer).await.unwrap_or(0);
        let answer = String::from_utf8_lossy(&answer[..len]);
        assert!(
            answer.is_empty() || answer.starts_with("HTTP/1.1 4"),
            "{}: {answer}",
            &raw[..raw.len().min(60)]
        );
    }
    assert_eq!(site.asked("GET /healthz", "", "").await.0, 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_connection_too_many_is_told_to_come_again() {
    let site = site(&[("max-connections", "2")]).await;
    let mut kept = Vec::new();
    for _ in 0..2 {
        for address in [site.http, site.redis] {
            let mut stream = TcpStream::connect(address).await.unwrap();
            let ping =
                if address == site.redis { "PING\r\n" } else { "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n" };
            stream.write_all(ping.as_bytes()).await.unwrap();
            assert!(stream.read(&mut [0; 500]).await.unwrap() > 0);
            kept.push(stream);
        }
    }
    let mut stream = TcpStream::connect(site.http).await.unwrap();
    let answer = rest(&mut stream).await;
    assert!(answer.starts_with("HTTP/1.1 429 ") && answer.contains("retry-after: 1\r\n"), "{answer}");
    let body = answer.split("\r\n\r\n").nth(1).unwrap();
    let body: serde_json::Value = serde_json::from_str(body).unwrap();
    assert_eq!(body["type"], "/problems/overloaded");
    let mut stream = TcpStream::connect(site.redis).await.unwrap();
    assert_eq!(rest(&mut stream).await, "-TRYAGAIN 2 connections are open, and no more are taken\r\n");
    drop(kept);
    for _ in 0..200 {
        if site.replied(b"PING\r\nQUIT\r\n").await.starts_with('+') {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("the places weren't free again");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn counts_above_the_limit_are_refused_on_both_transports() {
    let site = site(&[("max-count", "10")]).await;
    assert_eq!(site.json("POST /v1/spaces/default/ids?count=10").await.0, 200);
    assert_eq!(site.json("POST /v1/spaces/default/ids?count=11").await.0, 400);
    assert_eq!(site.json("GET /v1/ids/ulid?count=11").await.0, 400);
    assert_eq!(site.json("POST /v1/spaces/counter/blocks?count=11").await.0, 200);
    assert!(site.replied(b"MINT default 11\r\nQUIT\r\n").await.contains("1 to 10 expected"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_half_closed_connection_is_answered() {
    let site = site(&[]).await;
    let mut stream = TcpStream::connect(site.redis).await.unwrap();
    stream.write_all(b"INCR counter\r\nINCR coun").await.unwrap();
    stream.shutdown().await.unwrap();
    assert_eq!(rest(&mut stream).await, ":1\r\n");
    let mut stream = TcpStream::connect(site.http).await.unwrap();
    stream.write_all(b"POST /v1/spaces/counter/ids HTTP/1.1\r\nHost: a\r\n\r\n").await.unwrap();
    stream.shutdown().await.unwrap();
    let answer = rest(&mut stream).await;
    assert!(answer.starts_with("HTTP/1.1 200 ") && answer.contains("[\"2\"]"), "{answer}");
}
