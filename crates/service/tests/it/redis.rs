//! The Redis protocol.

use crate::site::Site;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn counters_count_in_arrays_and_in_lines() {
    let site = Site::begin().await;
    let replies = site
        .replied(b"*2\r\n$4\r\nINCR\r\n$7\r\ncounter\r\nincr counter\r\nINCRBY counter 10\r\nQUIT\r\n")
        .await;
    assert_eq!(replies, ":1\r\n:2\r\n:12\r\n+OK\r\n");
    // More than is held is a block of its own; the next come from what is held again.
    let replies = site.replied(b"INCRBY counter 1000\r\nINCR counter\r\nGET counter\r\nQUIT\r\n").await;
    assert_eq!(replies, ":1100\r\n:13\r\n$4\r\n1101\r\n+OK\r\n");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ids_are_texts() {
    let site = Site::begin().await;
    let replies = site.replied(b"MINT default\r\nMINT default 2\r\nQUIT\r\n").await;
    let lines: Vec<&str> = replies.split("\r\n").collect();
    assert_eq!((lines[0], lines[2], lines[3], lines[5]), ("$18", "*2", "$18", "$18"));
    let ids: Vec<u64> = [1, 4, 6].map(|at| lines[at].parse().unwrap()).to_vec();
    assert!(ids.is_sorted(), "{ids:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_wrong_is_told_and_the_connection_goes_on() {
    let site = Site::begin().await;
    for (command, reply) in [
        ("INCR nope", "-NOSPACE there is no space \"nope\""),
        ("INCR default", "-WRONGTYPE default is a space of windows"),
        ("INCR", "-ERR wrong number of arguments; INCR key expected"),
        ("INCRBY counter 0", "-ERR value '0' is out of range, 1 to"),
        ("INCRBY counter -1", "-ERR value '-1' is out of range"),
        ("INCRBY counter 18446744073709551616", "-ERR value"),
        ("MINT default 0", "-ERR value '0' is out of range, 1 to 100000"),
        ("MINT default 1 2", "-ERR wrong number of arguments; MINT space [count]"),
        ("SET a b", "-ERR unknown command 'SET'; there are auth,"),
        ("SELECT 1", "-ERR DB index 1 is out of range"),
        ("HELLO 4", "-NOPROTO 4 is no version"),
        ("HELLO 3 AUTH x", "-ERR wrong number of arguments; HELLO"),
        ("HELLO 3 CLIENT x", "-ERR HELLO doesn't know CLIENT"),
        ("AUTH x", "-ERR AUTH was called, and this server asks for no credentials"),
        ("GET default", "-WRONGTYPE"),
        ("CLIENT KILL x", "-ERR CLIENT KILL isn't known"),
    ] {
        let replies = site.replied(format!("{command}\r\nPING\r\nQUIT\r\n").as_bytes()).await;
        assert!(
            replies.starts_with(reply) && replies.ends_with("\r\n+PONG\r\n+OK\r\n"),
            "{command}: {replies}"
        );
    }
    let spaces = site.json("GET /v1/spaces").await.1;
    assert_eq!(spaces["spaces"].as_array().unwrap().len(), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_no_command_ends_the_connection_with_a_reason() {
    let site = Site::begin().await;
    for bytes in [
        &b"*1\r\n$1000000000\r\n"[..],
        b"*1\r\n$-1\r\n",
        b"*100000\r\n",
        b"*1\r\n*1\r\n",
        b"GET / HTTP/1.1\x01\r\n\r\n*x\r\n",
        &b"x".repeat(5_000),
    ] {
        let replies = site.replied(bytes).await;
        assert!(replies.contains("-ERR Protocol error: "), "{}: {replies}", bytes[..9].escape_ascii());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pipeline_is_answered_in_order_however_it_is_cut() {
    let site = Site::begin().await;
    let mut stream = TcpStream::connect(site.redis).await.unwrap();
    let whole = b"*2\r\n$4\r\nINCR\r\n$7\r\ncounter\r\n".repeat(50);
    for piece in whole.chunks(7) {
        stream.write_all(piece).await.unwrap();
        tokio::task::yield_now().await;
    }
    let expected: String = (1..=50).map(|value| format!(":{value}\r\n")).collect();
    let mut replies = vec![0; expected.len()];
    stream.read_exact(&mut replies).await.unwrap();
    assert_eq!(String::from_utf8(replies).unwrap(), expected);
    // And a large one at once, of which the replies fill many packets.
    let replies = site.replied(&[b"PING\r\n".repeat(50_000), b"QUIT\r\n".to_vec()].concat()).await;
    assert_eq!(replies.len(), "+PONG\r\n".len() * 50_000 + "+OK\r\n".len());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn clients_that_say_hello_are_answered_as_they_want() {
    let site = Site::begin().await;
    let replies = site
        .replied(
            b"HELLO 3\r\nCOMMAND DOCS\r\nHELLO 2\r\nCLIENT SETINFO LIB-NAME x\r\nCOMMAND COUNT\r\nQUIT\r\n",
        )
        .await;
    assert!(replies.starts_with("%6\r\n$6\r\nserver\r\n$7\r\nmintage\r\n"), "{replies}");
    assert!(replies.contains("proto\r\n:3\r\n") && replies.contains("*0\r\n%0\r\n*12\r\n"), "{replies}");
    assert!(replies.ends_with("+OK\r\n:13\r\n+OK\r\n"), "{replies}");
}
