//! The Redis protocol as a server reads and writes it: arrays of bulk strings and lines come in, values of RESP2 or RESP3 go out.
//!
//! Of what the protocol has, a server reads these two shapes only, so nothing here can be nested, and lengths are refused before anything is
//! kept for them. Source: the Redis serialization protocol specification, redis.io/docs/latest/develop/reference/protocol-spec.

/// Most words of a command.
pub const MAX_WORDS: usize = 64;
/// Most bytes of a word.
pub const MAX_WORD: usize = 4 * 1024;
/// Most bytes of a line: an inline command, or a length.
pub const MAX_LINE: usize = 4 * 1024;

/// A command: its words, each a part of the bytes that were read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Words<'a> {
    words: [&'a [u8]; 8],
    count: usize,
}

impl<'a> Words<'a> {
    fn push(&mut self, word: &'a [u8]) {
        // No command here has more than eight words that matter.
        if let Some(place) = self.words.get_mut(self.count) {
            *place = word;
        }
        self.count += 1;
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there are none, as in an empty line.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The word at this place, of the first eight; empty where there is none.
    #[must_use]
    pub fn at(&self, place: usize) -> &'a [u8] {
        self.words.get(place).copied().unwrap_or_default()
    }
}

/// Bytes that are no command: what was found and what was expected. The connection can't be read on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("Protocol error: {0}")]
pub struct NotACommand(String);

/// The first command of `bytes`, and how many of them it takes; `None` while it isn't all there.
///
/// # Errors
/// [`NotACommand`].
pub fn command(bytes: &[u8]) -> Result<Option<(Words<'_>, usize)>, NotACommand> {
    match bytes.first() {
        None => Ok(None),
        Some(b'*') => array(bytes),
        Some(_) => inline(bytes),
    }
}

/// `*2\r\n$4\r\nINCR\r\n$1\r\nn\r\n`.
fn array(bytes: &[u8]) -> Result<Option<(Words<'_>, usize)>, NotACommand> {
    let Some((count, mut at)) = length(bytes, 0, b'*', MAX_WORDS)? else { return Ok(None) };
    let mut words = Words::default();
    for _ in 0..count {
        let Some((len, from)) = length(bytes, at, b'$', MAX_WORD)? else { return Ok(None) };
        let Some(word) = bytes.get(from..from + len) else { return Ok(None) };
        match bytes.get(from + len..from + len + 2) {
            None => return Ok(None),
            Some(b"\r\n") => {}
            Some(_) => return Err(NotACommand(format!("a word of {len} bytes doesn't end after them"))),
        }
        words.push(word);
        at = from + len + 2;
    }
    Ok(Some((words, at)))
}

/// The number behind `sign`, and where the bytes after its line begin.
fn length(bytes: &[u8], at: usize, sign: u8, most: usize) -> Result<Option<(usize, usize)>, NotACommand> {
    let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) else { return Ok(None) };
    if rest[0] != sign {
        return Err(NotACommand(format!(
            "expected '{}', got '{}'",
            char::from(sign),
            rest[0].escape_ascii()
        )));
    }
    let Some((line, next)) = line(rest)? else { return Ok(None) };
    let text = std::str::from_utf8(&line[1..]).ok().filter(|text| text.bytes().all(|b| b.is_ascii_digit()));
    let number = text.and_then(|text| text.parse::<usize>().ok()).filter(|number| *number <= most);
    match number {
        Some(number) => Ok(Some((number, at + next))),
        None => Err(NotACommand(format!(
            "invalid length '{}', 0 to {most} expected",
            line[1..].escape_ascii().to_string().chars().take(40).collect::<String>()
        ))),
    }
}

/// A line without its end, and how many bytes it takes with it.
fn line(bytes: &[u8]) -> Result<Option<(&[u8], usize)>, NotACommand> {
    let within = &bytes[..bytes.len().min(MAX_LINE)];
    match within.iter().position(|byte| *byte == b'\n') {
        Some(end) => {
            let line = &bytes[..end];
            Ok(Some((line.strip_suffix(b"\r").unwrap_or(line), end + 1)))
        }
        None if bytes.len() >= MAX_LINE => Err(NotACommand(format!("a line of more than {MAX_LINE} bytes"))),
        None => Ok(None),
    }
}

/// Words with spaces between them, as one types them.
fn inline(bytes: &[u8]) -> Result<Option<(Words<'_>, usize)>, NotACommand> {
    let Some((line, next)) = line(bytes)? else { return Ok(None) };
    let mut words = Words::default();
    for word in line.split(|byte| matches!(byte, b' ' | b'\t')).filter(|word| !word.is_empty()) {
        words.push(word);
    }
    if words.len() > MAX_WORDS {
        return Err(NotACommand(format!("{} words, at most {MAX_WORDS} expected", words.len())));
    }
    Ok(Some((words, next)))
}

/// Replies that are being written.
#[derive(Debug)]
pub struct Replies {
    /// What is to be sent.
    pub bytes: Vec<u8>,
    /// Whether the client wants RESP3.
    pub is_resp3: bool,
}

impl Replies {
    /// In RESP2, which every client begins with.
    #[must_use]
    pub fn new() -> Self {
        Self { bytes: Vec::new(), is_resp3: false }
    }

    /// `+OK`.
    pub fn simple(&mut self, text: &str) {
        self.bytes.push(b'+');
        self.bytes.extend_from_slice(text.as_bytes());
        self.end();
    }

    /// `-ERR what is wrong`, on one line.
    pub fn error(&mut self, prefix: &str, detail: &str) {
        self.bytes.push(b'-');
        self.bytes.extend_from_slice(prefix.as_bytes());
        self.bytes.push(b' ');
        self.bytes.extend(detail.bytes().map(|byte| if byte.is_ascii_control() { b' ' } else { byte }));
        self.end();
    }

    /// `:42`.
    pub fn number(&mut self, number: u64) {
        self.line_of(b':', number);
    }

    /// `:-2`.
    pub fn signed(&mut self, number: i64) {
        self.bytes.extend_from_slice(format!(":{number}").as_bytes());
        self.end();
    }

    /// `$2\r\n42`.
    pub fn bulk(&mut self, text: &str) {
        self.line_of(b'$', text.len() as u64);
        self.bytes.extend_from_slice(text.as_bytes());
        self.end();
    }

    /// The head of an array of so many replies.
    pub fn array(&mut self, len: usize) {
        self.line_of(b'*', len as u64);
    }

    /// The head of a map of so many pairs: of names and values one after the other, in RESP2.
    pub fn map(&mut self, pairs: usize) {
        if self.is_resp3 { self.line_of(b'%', pairs as u64) } else { self.array(pairs * 2) }
    }

    fn line_of(&mut self, sign: u8, number: u64) {
        self.bytes.push(sign);
        let mut digits = [0; 20];
        let mut at = digits.len();
        let mut rest = number;
        loop {
            at -= 1;
            digits[at] = b'0' + u8::try_from(rest % 10).unwrap_or(0);
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        self.bytes.extend_from_slice(&digits[at..]);
        self.end();
    }

    fn end(&mut self) {
        self.bytes.extend_from_slice(b"\r\n");
    }
}

impl Default for Replies {
    fn default() -> Self {
        Self::new()
    }
}

/// A word as a person may read it in an error.
#[must_use]
pub fn shown(word: &[u8]) -> String {
    word[..word.len().min(80)].escape_ascii().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(bytes: &[u8]) -> Vec<Vec<u8>> {
        let (words, used) = command(bytes).unwrap().unwrap();
        assert_eq!(used, bytes.len());
        (0..words.len()).map(|at| words.at(at).to_vec()).collect()
    }

    #[test]
    fn commands_are_arrays_or_lines() {
        assert_eq!(words(b"*2\r\n$4\r\nINCR\r\n$1\r\nn\r\n"), [b"INCR".to_vec(), b"n".to_vec()]);
        assert_eq!(words(b"INCR  n \r\n"), [b"INCR".to_vec(), b"n".to_vec()]);
        assert_eq!(words(b"PING\n"), [b"PING".to_vec()]);
        assert!(words(b"\r\n").is_empty() && words(b"*0\r\n").is_empty());
        assert_eq!(words(b"*1\r\n$2\r\n\r\n\r\n"), [b"\r\n".to_vec()]);
    }

    #[test]
    fn a_command_that_is_cut_anywhere_is_waited_for() {
        for whole in [&b"*2\r\n$4\r\nINCR\r\n$1\r\nn\r\n"[..], b"INCR n\r\n"] {
            for cut in 0..whole.len() - 1 {
                assert_eq!(command(&whole[..cut]), Ok(None), "{cut}");
            }
        }
    }

    #[test]
    fn lengths_are_refused_before_anything_is_kept_for_them() {
        for bad in [
            &b"*1\r\n$1000000000\r\n"[..],
            b"*1\r\n$-1\r\n",
            b"*1\r\n$4 \r\n",
            b"*99999\r\n",
            b"*18446744073709551617\r\n",
            b"*1\r\n:1\r\n",
            b"*1\r\n*1\r\n",
            b"*1\r\n$1\r\nab\r\n",
        ] {
            assert!(command(bad).is_err(), "{}", bad.escape_ascii());
        }
        assert!(command(&[b'x'; MAX_LINE]).is_err());
        assert!(command(&[b'*', b'1'].repeat(MAX_LINE)).is_err());
    }

    #[test]
    fn replies_are_as_the_protocol_says() {
        let mut replies = Replies::new();
        replies.number(u64::MAX);
        replies.error("ERR", "a\r\nb");
        replies.map(1);
        replies.is_resp3 = true;
        replies.map(1);
        replies.bulk("");
        assert_eq!(replies.bytes, b":18446744073709551615\r\n-ERR a  b\r\n*2\r\n%1\r\n$0\r\n\r\n");
    }
}
