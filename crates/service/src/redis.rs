//! The commands of the Redis protocol, so that any Redis client in any language is a client.
//!
//! `INCR` and `INCRBY` on a counter reply the last value of the range, `MINT SPACE [COUNT]` bulk strings. No key is made by using it.

use crate::api::Api;
use crate::credentials::Caller;
use crate::fault::{Fault, Kind};
use crate::log::{self, Requests};
use crate::metrics::{BATCH, REDIS};
use crate::resp::{Replies, Words, command, shown};
use mintage::{Clock, SystemClock};
use std::cell::OnceCell;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::watch;

/// Bytes that are read at once; a command that has more is refused by [`command`], whose limits are below it.
const READ: usize = 16 * 1024;

/// Most bytes of a command: its words and their lengths.
const MAX_COMMAND: usize = 300 * 1024;

/// Bytes of replies that are kept before they are sent, in the middle of a pipeline too.
const SEND_FROM: usize = 64 * 1024;

/// Whether the connection goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    Goes,
    Ends,
}

/// What a connection is told that is one too many.
pub(crate) fn farewell(fault: &Fault) -> Vec<u8> {
    let mut replies = Replies::new();
    tell(fault, &mut replies);
    replies.bytes
}

/// Serves a connection until the client ends it, says what is no command, doesn't read for long, or the server ends.
pub(crate) async fn serve(
    api: Arc<Api>,
    stream: impl AsyncRead + AsyncWrite + Unpin,
    manner: Manner,
    ending: watch::Receiver<bool>,
) {
    let mut connection = Connection {
        caller: Caller::Anybody,
        api,
        stream,
        manner,
        replies: Replies::new(),
        id: OnceCell::new(),
        done: 0,
        failed: Vec::new(),
    };
    // How a connection ends is nobody's fault here.
    let _ = connection.run(ending).await;
}

/// How connections are treated.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Manner {
    /// How long a client may take to read its replies.
    pub(crate) patience: Duration,
    /// Which failures have a line in the log.
    pub(crate) logged: Requests,
}

/// A client of the Redis protocol.
struct Connection<S> {
    api: Arc<Api>,
    stream: S,
    manner: Manner,
    caller: Caller,
    replies: Replies,
    /// By which lines of the log tell it from others; made for the first.
    id: OnceCell<String>,
    /// Commands of what was read last that went well.
    done: u64,
    /// Those that didn't.
    failed: Vec<Kind>,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Connection<S> {
    async fn run(&mut self, mut ending: watch::Receiver<bool>) -> std::io::Result<()> {
        let mut bytes: Vec<u8> = Vec::new();
        loop {
            self.caller = self.api.credentials().still(std::mem::replace(&mut self.caller, Caller::Nobody));
            let begun = SystemClock.monotonic_nanos();
            let mut used = 0;
            let mut next = Next::Goes;
            while next == Next::Goes {
                match command(&bytes[used..]) {
                    Ok(None) => break,
                    Ok(Some((words, len))) => {
                        next = self.carry_out(&words).await;
                        used += len;
                    }
                    Err(wrong) => {
                        self.replies.error("ERR", &wrong.to_string());
                        next = Next::Ends;
                    }
                }
                if self.replies.bytes.len() >= SEND_FROM {
                    self.send().await?;
                }
            }
            bytes.drain(..used);
            self.count(begun);
            self.send().await?;
            if next == Next::Ends || *ending.borrow() {
                return self.stream.shutdown().await;
            }
            if bytes.len() > MAX_COMMAND {
                self.replies
                    .error("ERR", &format!("Protocol error: a command of more than {MAX_COMMAND} bytes"));
                self.send().await?;
                return self.stream.shutdown().await;
            }
            // A connection that waits keeps no memory.
            if bytes.is_empty() && bytes.capacity() > READ {
                bytes = Vec::new();
            }
            bytes.reserve(READ);
            tokio::select! {
                read = self.stream.read_buf(&mut bytes) => {
                    if read? == 0 {
                        return Ok(());
                    }
                }
                _ = ending.changed() => return self.stream.shutdown().await,
            }
        }
    }

    /// Counts what was read at once.
    fn count(&mut self, begun: u64) {
        let metrics = self.api.metrics();
        if self.done == 0 && self.failed.is_empty() {
            return;
        }
        metrics.batch().went_well(std::mem::take(&mut self.done), SystemClock.monotonic_nanos() - begun);
        self.failed.drain(..).for_each(|kind| metrics.failed(REDIS, BATCH, kind));
    }

    /// Replies what is wrong.
    fn fails(&mut self, fault: &Fault) {
        self.done = self.done.saturating_sub(1);
        self.failed.push(fault.kind);
        log::failed(self.manner.logged, self.id.get_or_init(|| log::request_id(None)), fault);
        tell(fault, &mut self.replies);
    }

    async fn send(&mut self) -> std::io::Result<()> {
        if self.replies.bytes.is_empty() {
            return Ok(());
        }
        let sent =
            tokio::time::timeout(self.manner.patience, self.stream.write_all(&self.replies.bytes)).await;
        self.replies.bytes.clear();
        self.replies.bytes.shrink_to(SEND_FROM);
        sent.map_err(|_| std::io::Error::from(std::io::ErrorKind::TimedOut))?
    }

    /// Carries out one command, and writes its reply.
    async fn carry_out(&mut self, words: &Words<'_>) -> Next {
        if words.is_empty() {
            return Next::Goes;
        }
        self.done += 1;
        let name = words.at(0);
        let is = |other: &str| name.eq_ignore_ascii_case(other.as_bytes());
        // The one that is asked a million times a second stands first.
        let asked = if is("INCR") {
            one_word(words, "INCR key").map(|key| (key, 1))
        } else if is("INCRBY") {
            two_words(words)
        } else if is("QUIT") {
            self.replies.simple("OK");
            return Next::Ends;
        } else {
            if let Err(fault) = self.other(words).await {
                self.fails(&fault);
            }
            return Next::Goes;
        };
        let done = match asked.and_then(|(key, count)| Ok((text(key)?, count))) {
            Ok((key, count)) => self.api.next(&self.caller, key, count).await,
            Err(fault) => Err(fault),
        };
        match done {
            Ok(last) => self.replies.number(last),
            Err(fault) => self.fails(&fault),
        }
        Next::Goes
    }

    /// Takes on who has this token. A wrong one leaves nobody.
    fn authenticate(&mut self, token: &[u8]) -> Result<(), Fault> {
        self.caller = self.api.credentials().caller(None)?;
        if let Caller::Anybody = self.caller {
            return Err(Fault::bad("AUTH was called, and this server asks for no credentials"));
        }
        // What was given may be a secret, so it is never shown.
        let token = std::str::from_utf8(token).unwrap_or_default();
        self.caller = self
            .api
            .credentials()
            .caller(Some(token))
            .map_err(|fault| Fault { detail: format!("WRONGPASS {}", fault.detail), ..fault })?;
        Ok(())
    }

    /// Commands that aren't asked all the time.
    async fn other(&mut self, words: &Words<'_>) -> Result<(), Fault> {
        let replies = &mut self.replies;
        match text(words.at(0))?.to_ascii_uppercase().as_str() {
            "MINT" => minted(&self.api, &self.caller, words, replies).await?,
            "GET" => {
                let key = text(one_word(words, "GET key")?)?;
                replies.bulk(&self.api.high_water_mark(&self.caller, key).await?.to_string());
            }
            "PING" => match words.len() {
                1 => replies.simple("PONG"),
                _ => replies.bulk(text(words.at(1))?),
            },
            "ECHO" => replies.bulk(text(one_word(words, "ECHO text")?)?),
            "HELLO" => {
                if let Some(token) = login(words)? {
                    self.authenticate(token)?;
                }
                hello(words, &mut self.replies)?;
            }
            "AUTH" => {
                // With a user's name too, which means nothing here.
                let token = match words.len() {
                    2 | 3 => words.at(words.len() - 1),
                    _ => return Err(arity("AUTH token")),
                };
                self.authenticate(token)?;
                self.replies.simple("OK");
            }
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
            "INFO" => self.replies.bulk(&format!(
                "# Server\r\nredis_mode:standalone\r\nserver_name:mintage\r\nmintage_version:{}\r\nstore:{}\r\n",
                env!("CARGO_PKG_VERSION"),
                self.api.store_url()
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

async fn minted(api: &Api, caller: &Caller, words: &Words<'_>, replies: &mut Replies) -> Result<(), Fault> {
    let count = match words.len() {
        2 => None,
        3 => Some(number(words.at(2), api.limits().max_count)?),
        _ => return Err(arity("MINT space [count]")),
    };
    let lines = api.ids(caller, text(words.at(1))?, count.unwrap_or(1)).await?.lines()?;
    if let Some(count) = count {
        replies.array(usize::try_from(count).unwrap_or(usize::MAX));
    }
    lines.lines().for_each(|line| replies.bulk(line));
    Ok(())
}

/// The token of `HELLO 3 AUTH name token`, if there is one; other options stand behind the version too.
fn login<'a>(words: &Words<'a>) -> Result<Option<&'a [u8]>, Fault> {
    let mut at = 2;
    let mut token = None;
    while at < words.len() {
        let (option, len) = match words.at(at).to_ascii_uppercase().as_slice() {
            b"AUTH" => (words.at(at + 2), 3),
            b"SETNAME" => (words.at(at + 1), 2),
            other => {
                return Err(Fault::bad(format!(
                    "HELLO doesn't know {}; it knows AUTH and SETNAME",
                    shown(other)
                )));
            }
        };
        if at + len > words.len() {
            return Err(arity("HELLO [version [AUTH name token] [SETNAME name]]"));
        }
        if len == 3 {
            token = Some(option);
        }
        at += len;
    }
    Ok(token)
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
    let own = ["NOPROTO", "WRONGPASS"]
        .iter()
        .find_map(|prefix| Some((*prefix, fault.detail.strip_prefix(prefix)?.strip_prefix(' ')?)));
    let (prefix, detail) = own.unwrap_or((fault.kind.facts().prefix, &fault.detail));
    replies.error(prefix, detail);
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
