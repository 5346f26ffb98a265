//! Tokens over both transports.

use crate::site::Site;
use mintage_service::credentials::{CredentialsFile, New};
use std::path::Path;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

fn file(folder: &Path) -> CredentialsFile {
    CredentialsFile::at(folder.join("credentials.toml"))
}

/// A token that allows so much.
fn token(folder: &Path, name: &str, allow: &[&str]) -> String {
    let allow: Vec<_> = allow.iter().map(|text| text.parse().unwrap()).collect();
    let new = New { name, allow: &allow, ids_per_second: None, max_count: None };
    file(folder).add(&new).unwrap().1.as_str().to_owned()
}

fn bearer(token: &str) -> String {
    format!("Authorization: Bearer {token}\r\n")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_path_needs_its_permission() {
    let folder = tempfile::tempdir().unwrap();
    let tokens = [
        ("mint", token(folder.path(), "a", &["mint:counter"])),
        ("other", token(folder.path(), "b", &["mint:default", "lease:counter"])),
        ("read", token(folder.path(), "c", &["read"])),
        ("admin", token(folder.path(), "d", &["admin"])),
    ];
    let site = Site::in_folder(folder).await;
    let json = "Content-Type: application/json\r\n";
    for (head, may) in [
        ("POST /v1/spaces/counter/ids", &["mint", "admin"][..]),
        ("POST /v1/spaces/counter/blocks?count=2", &["mint", "admin"]),
        ("POST /v1/spaces/counter/scopes/a/next", &["mint", "admin"]),
        ("GET /v1/spaces", &["read", "admin"]),
        ("GET /v1/spaces/counter", &["read", "admin"]),
        ("POST /v1/spaces", &["admin"]),
        ("GET /v1/ids/uuid-v7", &["mint", "other", "read", "admin"]),
        ("GET /v1/inspect/1", &["mint", "other", "read", "admin"]),
    ] {
        let (status, headers, _) = site.asked(head, json, "").await;
        assert!(status == 401 && headers.contains("www-authenticate: bearer"), "{head}: {headers}");
        for (name, token) in &tokens {
            let (status, _, body) = site.asked(head, &(bearer(token) + json), "").await;
            assert_eq!(status == 403, !may.contains(name), "{head} by {name}: {status}");
            assert_ne!(status, 401, "{head}");
            assert!(!String::from_utf8_lossy(&body).contains(token.as_str()));
        }
    }
    for open in ["GET /healthz", "GET /readyz", "GET /problems/unauthorized"] {
        assert_eq!(site.asked(open, "", "").await.0, 200, "{open}");
    }
    let secret = tokens[0].1.as_str();
    for wrong in [
        &format!("Authorization: Basic {secret}\r\n"),
        &format!("Authorization: {secret}\r\n"),
        &bearer(&secret[..40]),
    ] {
        let (status, _, body) = site.asked("POST /v1/spaces/counter/ids", wrong, "").await;
        assert!(status == 401 && !String::from_utf8_lossy(&body).contains(&secret[10..]), "{wrong}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn clients_of_the_redis_protocol_say_it_once() {
    let folder = tempfile::tempdir().unwrap();
    let own = token(folder.path(), "a", &["mint:counter"]);
    let site = Site::in_folder(folder).await;
    assert_eq!(
        site.replied(b"INCR counter\r\nPING\r\nQUIT\r\n").await,
        "-NOAUTH a token is needed, and none was shown\r\n+PONG\r\n+OK\r\n"
    );
    let said = async |line: &str| {
        site.replied(format!("{line}\r\nINCR counter\r\nMINT default\r\nQUIT\r\n").as_bytes()).await
    };
    for line in [
        format!("AUTH {own}"),
        format!("AUTH default {own}"),
        format!("HELLO 3 AUTH default {own} SETNAME x"),
    ] {
        let replies = said(&line).await;
        assert!(
            replies.contains("\r\n:")
                && replies.contains("-NOPERM credential \"a\" allows mint:counter, and mint:default"),
            "{replies}"
        );
    }
    let wrong = said(&format!("AUTH {}", own.to_lowercase())).await;
    assert!(
        wrong.starts_with("-WRONGPASS the token isn't known here") && wrong.contains("-NOAUTH"),
        "{wrong}"
    );
    assert!(!wrong.contains(&own[10..]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_revoked_ends_on_connections_that_are_open() {
    let folder = tempfile::tempdir().unwrap();
    let own = token(folder.path(), "a", &["mint:*"]);
    let site = Site::in_folder(folder).await;
    let mut stream = TcpStream::connect(site.redis).await.unwrap();
    let mut asked = async |line: &str| {
        stream.write_all(line.as_bytes()).await.unwrap();
        let mut reply = vec![0; 200];
        let len = stream.read(&mut reply).await.unwrap();
        String::from_utf8(reply[..len].to_vec()).unwrap()
    };
    assert_eq!(asked(&format!("AUTH {own}\r\n")).await, "+OK\r\n");
    assert_eq!(asked("INCR counter\r\n").await, ":1\r\n");
    file(site.folder.path()).revoke("a").unwrap();
    site.tells("credentials were read again").await;
    assert!(asked("INCR counter\r\n").await.starts_with("-NOAUTH"));
    assert_eq!(site.asked("POST /v1/spaces/counter/ids", &bearer(&own), "").await.0, 401);
    let other = token(site.folder.path(), "a", &["mint:*"]);
    site.tells("credentials were read again").await;
    assert_eq!(site.asked("POST /v1/spaces/counter/ids", &bearer(&other), "").await.0, 200);
    std::fs::write(site.folder.path().join("credentials.toml"), "x").unwrap();
    site.tells("no file of credentials").await;
    assert_eq!(site.asked("POST /v1/spaces/counter/ids", &bearer(&other), "").await.0, 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_first_credential_closes_the_door_of_a_server_that_runs() {
    let site = Site::begin().await;
    let mut stream = TcpStream::connect(site.redis).await.unwrap();
    let mut reply = [0; 200];
    stream.write_all(b"INCR counter\r\n").await.unwrap();
    let len = stream.read(&mut reply).await.unwrap();
    assert_eq!(&reply[..len], b":1\r\n");
    token(site.folder.path(), "a", &["read"]);
    site.tells("credentials were read again").await;
    stream.write_all(b"INCR counter\r\n").await.unwrap();
    let len = stream.read(&mut reply).await.unwrap();
    assert!(reply[..len].starts_with(b"-NOAUTH"));
    assert_eq!(site.asked("GET /v1/ids/ulid", "", "").await.0, 401);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rate_is_told_with_the_time_to_come_again() {
    let folder = tempfile::tempdir().unwrap();
    let allow = ["mint:*".parse().unwrap()];
    let new = New { name: "a", allow: &allow, ids_per_second: Some(10), max_count: Some(20) };
    let own = file(folder.path()).add(&new).unwrap().1;
    let site = Site::in_folder(folder).await;
    let asked = async |count: u64| {
        site.asked(&format!("POST /v1/spaces/counter/ids?count={count}"), &bearer(own.as_str()), "").await
    };
    assert_eq!(asked(21).await.0, 400);
    assert_eq!(asked(20).await.0, 200);
    let (status, headers, body) = asked(20).await;
    assert!(status == 429 && headers.contains("retry-after: "), "{status} {headers}");
    assert!(String::from_utf8(body).unwrap().contains("10 ids a second"));
    let replies =
        site.replied(format!("AUTH {}\r\nMINT counter 20\r\nQUIT\r\n", own.as_str()).as_bytes()).await;
    assert!(replies.contains("-TRYAGAIN credential \"a\" may have 10 ids a second"), "{replies}");
    let (_, _, body) = asked(50).await;
    assert!(String::from_utf8(body).unwrap().contains("1 to 20 expected"));
}
