//! The commands of the Redis protocol, so that any Redis client in any language is a client.
//!
//! `INCR` and `INCRBY` on a counter reply the last value of the range, `MINT SPACE [COUNT]` bulk strings. No key is made by using it.

use crate::api::{Api, MAX_COUNT};
use crate::fault::{Fault, Kind};
use crate::resp::{Replies, Words, command, shown};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::watch;

/// Bytes that are read at once; a command that has more is refused by [`command`], whose limits are below it.
const READ: usize = 16 * 1024;

/// Most bytes of a command: its words and their lengths.
const MAX_COMMAND: usize = 300 * 1024;

/// Bytes of replies that are kept before they are sent, in the middle of a pipeline too.
const SEND_FROM: usize = 64 * 1024;

/// How long a client may take to read its replies.
const PATIENCE: Duration = Duration::from_secs(30);

/// Whether the connection goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    Goes,
    Ends,
}

/// Serves a connection until the client ends it, says what is no command, or the server ends.
///
/// # Errors
/// What became of the connection; nobody is left to be told.
pub async fn serve(
    api: Arc<Api>,
    mut stream: TcpStream,
    mut ending: watch::Receiver<bool>,
) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut bytes: Vec<u8> = Vec::new();
    let mut replies = Replies::new();
    loop {
        let mut used = 0;
        let mut next = Next::Goes;
        while next == Next::Goes {
            match command(&bytes[used..]) {
                Ok(None) => break,
                Ok(Some((words, len))) => {
                    next = carry_out(&api, &words, &mut replies).await;
                    used += len;
                }
                Err(wrong) => {
                    replies.error("ERR", &wrong.to_string());
                    next = Next::Ends;
                }
            }
            if replies.bytes.len() >= SEND_FROM {
                send(&mut stream, &mut replies).await?;
            }
        }
        bytes.drain(..used);
        send(&mut stream, &mut replies).await?;
        if next == Next::Ends || *ending.borrow() {
            return stream.shutdown().await;
        }
        if bytes.len() > MAX_COMMAND {
            replies.error("ERR", &format!("Protocol error: a command of more than {MAX_COMMAND} bytes"));
            send(&mut stream, &mut replies).await?;
            return stream.shutdown().await;
        }
        bytes.reserve(READ);
        tokio::select! {
            read = stream.read_buf(&mut bytes) => {
                if read? == 0 {
                    return Ok(());
                }
            }
            _ = ending.changed() => return stream.shutdown().await,
        }
    }
}

async fn send(stream: &mut TcpStream, replies: &mut Replies) -> std::io::Result<()> {
    if replies.bytes.is_empty() {
        return Ok(());
    }
    let sent = tokio::time::timeout(PATIENCE, stream.write_all(&replies.bytes)).await;
    replies.bytes.clear();
    sent.map_err(|_| std::io::Error::from(std::io::ErrorKind::TimedOut))?
}

/// Carries out one command, and writes its reply.
async fn carry_out(api: &Api, words: &Words<'_>, replies: &mut Replies) -> Next {
    if words.is_empty() {
        return Next::Goes;
    }
    let name = words.at(0);
    let is = |other: &str| name.eq_ignore_ascii_case(other.as_bytes());
    // The one that is asked a million times a second stands first.
    let done = if is("INCR") {
        one_word(words, "INCR key").map(|key| (key, 1))
    } else if is("INCRBY") {
        two_words(words)
    } else if is("QUIT") {
        replies.simple("OK");
        return Next::Ends;
    } else {
        if let Err(fault) = other(api, words, replies).await {
            tell(&fault, replies);
        }
        return Next::Goes;
    };
    let done = match done {
        Ok((key, count)) => incremented(api, key, count).await,
        Err(fault) => Err(fault),
    };
    match done {
        Ok(last) => replies.number(last),
        Err(fault) => tell(&fault, replies),
    }
    Next::Goes
}

async fn incremented(api: &Api, key: &[u8], count: u64) -> Result<u64, Fault> {
    let key = text(key)?;
    if count == 1
        && let Some(open) = api.opened(key)
        && let Some(value) = open.try_next()
    {
        return Ok(value);
    }
    api.issuer(key).await?.next(count).await
}

/// Commands that aren't asked all the time.
async fn other(api: &Api, words: &Words<'_>, replies: &mut Replies) -> Result<(), Fault> {
    match text(words.at(0))?.to_ascii_uppercase().as_str() {
        "MINT" => minted(api, words, replies).await?,
        "GET" => {
            let key = text(one_word(words, "GET key")?)?;
            replies.bulk(&high_water_mark(api, key).await?.to_string());
        }
        "PING" => match words.len() {
            1 => replies.simple("PONG"),
            _ => replies.bulk(text(words.at(1))?),
        },
        "ECHO" => replies.bulk(text(one_word(words, "ECHO text")?)?),
        "HELLO" => hello(words, replies)?,
        "AUTH" => return Err(Fault::bad("no password is set: this server takes no credentials")),
        "CLIENT" => client(words, replies)?,
        "SELECT" => match one_word(words, "SELECT 0")? {
            b"0" => replies.simple("OK"),
            other => {
                return Err(Fault::bad(format!(
                    "DB index {} is out of range: there is 0 alone",
                    shown(other)
                )));
            }
        },
        "COMMAND" => match words.at(1).to_ascii_uppercase().as_slice() {
            b"COUNT" => replies.number(COMMANDS.len() as u64),
            b"DOCS" => replies.map(0),
            _ => {
                replies.array(COMMANDS.len());
                for (name, arity) in COMMANDS {
                    replies.array(6);
                    replies.bulk(name);
                    replies.signed(*arity);
                    replies.array(0);
                    for _ in 0..3 {
                        replies.number(0);
                    }
                }
            }
        },
        "INFO" => replies.bulk(&format!(
            "# Server\r\nredis_mode:standalone\r\nserver_name:mintage\r\nmintage_version:{}\r\nstore:{}\r\n",
            env!("CARGO_PKG_VERSION"),
            api.store_url()
        )),
        _ => {
            let known: Vec<&str> = COMMANDS.iter().map(|(name, _)| *name).collect();
            return Err(Fault::bad(format!(
                "unknown command '{}'; there are {}",
                shown(words.at(0)),
                known.join(", ")
            )));
        }
    }
    Ok(())
}

/// The commands, and how many words each has; at least so many where that is negative.
const COMMANDS: &[(&str, i64)] = &[
    ("auth", -2),
    ("client", -2),
    ("command", -1),
    ("echo", 2),
    ("get", 2),
    ("hello", -1),
    ("incr", 2),
    ("incrby", 3),
    ("info", -1),
    ("mint", -2),
    ("ping", -1),
    ("quit", -1),
    ("select", 2),
];

async fn minted(api: &Api, words: &Words<'_>, replies: &mut Replies) -> Result<(), Fault> {
    let count = match words.len() {
        2 => None,
        3 => Some(number(words.at(2), MAX_COUNT)?),
        _ => return Err(arity("MINT space [count]")),
    };
    let lines = api.ids(text(words.at(1))?, count.unwrap_or(1)).await?.lines()?;
    if let Some(count) = count {
        replies.array(usize::try_from(count).unwrap_or(usize::MAX));
    }
    lines.lines().for_each(|line| replies.bulk(line));
    Ok(())
}

/// Nothing at or above it was handed out, as far as the store knows: what servers hold in memory is below it, used or not.
async fn high_water_mark(api: &Api, key: &str) -> Result<u64, Fault> {
    let shown = api.space(key).await?;
    match shown.space.blocks() {
        Some(_) => Ok(shown.state.block.next),
        None => {
            let kind = shown.space.kind.name();
            Err(Fault::new(Kind::WrongKind, format!("{key} is a space of {kind}; GET doesn't go with it")))
        }
    }
}

fn hello(words: &Words<'_>, replies: &mut Replies) -> Result<(), Fault> {
    match (words.len(), words.at(1)) {
        (1, _) => {}
        (_, b"2") => replies.is_resp3 = false,
        (_, b"3") => replies.is_resp3 = true,
        (_, other) => {
            return Err(Fault::new(
                Kind::BadRequest,
                format!("NOPROTO {} is no version of the protocol here; there are 2 and 3", shown(other)),
            ));
        }
    }
    replies.map(6);
    for (name, value) in [
        ("server", "mintage"),
        ("version", env!("CARGO_PKG_VERSION")),
        ("mode", "standalone"),
        ("role", "master"),
    ] {
        replies.bulk(name);
        replies.bulk(value);
    }
    replies.bulk("proto");
    replies.number(if replies.is_resp3 { 3 } else { 2 });
    replies.bulk("modules");
    replies.array(0);
    Ok(())
}

fn client(words: &Words<'_>, replies: &mut Replies) -> Result<(), Fault> {
    match words.at(1).to_ascii_uppercase().as_slice() {
        b"SETINFO" | b"SETNAME" | b"NO-EVICT" | b"NO-TOUCH" | b"REPLY" | b"TRACKING" => replies.simple("OK"),
        b"GETNAME" => replies.bulk(""),
        b"ID" => replies.number(1),
        other => {
            return Err(Fault::bad(format!(
                "CLIENT {} isn't known here; SETINFO, SETNAME, GETNAME and ID are",
                shown(other)
            )));
        }
    }
    Ok(())
}

fn tell(fault: &Fault, replies: &mut Replies) {
    match fault.detail.strip_prefix("NOPROTO ") {
        Some(detail) => replies.error("NOPROTO", detail),
        None => replies.error(fault.kind.facts().prefix, &fault.detail),
    }
}

fn one_word<'a>(words: &Words<'a>, form: &str) -> Result<&'a [u8], Fault> {
    if words.len() == 2 { Ok(words.at(1)) } else { Err(arity(form)) }
}

fn two_words<'a>(words: &Words<'a>) -> Result<(&'a [u8], u64), Fault> {
    match words.len() {
        3 => Ok((words.at(1), number(words.at(2), i64::MAX.cast_unsigned())?)),
        _ => Err(arity("INCRBY key n")),
    }
}

fn arity(form: &str) -> Fault {
    Fault::bad(format!("wrong number of arguments; {form} expected"))
}

fn number(word: &[u8], most: u64) -> Result<u64, Fault> {
    let digits = std::str::from_utf8(word).ok().filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
    let number = digits.and_then(|text| text.parse().ok()).filter(|number| (1..=most).contains(number));
    number.ok_or_else(|| Fault::bad(format!("value '{}' is out of range, 1 to {most} expected", shown(word))))
}

fn text(word: &[u8]) -> Result<&str, Fault> {
    std::str::from_utf8(word).map_err(|_| Fault::bad(format!("'{}' isn't UTF-8", shown(word))))
}
