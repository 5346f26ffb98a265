//! Statements of a file of SQL, each with its line: only as much of the grammar as tells where a statement ends.

use crate::catalog::Dialect;

/// One statement, without the comments around and within it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Statement {
    /// The line that it begins at, from 1.
    pub(super) line: u64,
    /// Its text; lines within are kept.
    pub(super) text: String,
    /// Its first words, upper case.
    pub(super) head: Vec<String>,
    /// What keeps it from being read, where it can be told already.
    pub(super) fault: Option<&'static str>,
}

/// What a file consists of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Split {
    /// In order.
    pub(super) statements: Vec<Statement>,
    /// How many parts take a migration back; these aren't among the statements.
    pub(super) ways_back: usize,
}

/// Words at the beginning of a statement that are kept.
const HEAD: usize = 16;

/// The statements of a text.
pub(super) fn split(text: &str, dialect: Dialect) -> Split {
    let mut splitter = Splitter {
        text,
        dialect,
        at: 0,
        copied: 0,
        counted: 0,
        line: 1,
        delimiter: ";".to_owned(),
        is_conditional: false,
        open: Open::default(),
        done: Split::default(),
    };
    splitter.run();
    splitter.done
}

/// The statement that is being read.
#[derive(Default)]
struct Open {
    text: String,
    line: u64,
    head: Vec<String>,
    /// How many BEGIN and CASE of a routine's body wait for their END.
    blocks: usize,
    fault: Option<&'static str>,
}

struct Splitter<'a> {
    text: &'a str,
    dialect: Dialect,
    at: usize,
    /// Up to here the text was taken into the open statement, or left out of it.
    copied: usize,
    /// Up to here lines were counted.
    counted: usize,
    line: u64,
    delimiter: String,
    /// Whether `/*!40101` was passed, whose end is no part of the statement.
    is_conditional: bool,
    open: Open,
    done: Split,
}

impl Splitter<'_> {
    fn run(&mut self) {
        while self.at < self.text.len() {
            if self.is_line_start() && self.changeset() {
                continue;
            }
            if self.is_between() && self.is_line_start() && self.client_command() {
                continue;
            }
            self.step();
        }
        if self.open.blocks > 0 {
            self.open.fault.get_or_insert("a body of statements that doesn't end");
        }
        self.end(0);
    }

    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn is_between(&self) -> bool {
        self.open.line == 0
    }

    fn is_line_start(&self) -> bool {
        let before = self.text[..self.at].bytes().next_back();
        before.is_none_or(|byte| byte == b'\n')
    }

    /// Takes one token, whatever it is.
    fn step(&mut self) {
        let bytes = self.rest().as_bytes();
        let is_mysql = self.dialect.is_mysql_like();
        let follows = |text: &str| bytes.starts_with(text.as_bytes());
        if follows(&self.delimiter) && (self.open.blocks == 0 || self.delimiter != ";") {
            return self.end(self.delimiter.len());
        }
        match bytes[0] {
            b'-' if follows("--")
                && (!is_mysql || bytes.get(2).is_none_or(|byte| byte.is_ascii_whitespace())) =>
            {
                self.line_comment(2);
            }
            b'#' if is_mysql => self.line_comment(1),
            b'*' if self.is_conditional && follows("*/") => {
                self.is_conditional = false;
                self.leave_out(2);
            }
            b'/' if follows("/*") => self.block_comment(),
            quote @ (b'\'' | b'"') => {
                let is_escape = quote == b'\'' && self.text[..self.at].ends_with(['e', 'E']) && !is_mysql;
                self.quoted(quote, is_mysql || is_escape);
            }
            b'`' if self.dialect != Dialect::Postgres => self.quoted(b'`', false),
            b'[' if self.dialect == Dialect::Sqlite => self.quoted(b']', false),
            b'$' if self.dialect == Dialect::Postgres && !is_word_end(&self.text[..self.at]) => {
                self.dollar_quoted()
            }
            byte if byte.is_ascii_alphabetic() || byte == b'_' => self.word(),
            byte if byte.is_ascii_whitespace() => self.at += 1,
            _ => {
                self.begin();
                self.at += self.rest().chars().next().map_or(1, char::len_utf8);
            }
        }
    }

    /// Notes where the statement begins, at its first token.
    fn begin(&mut self) {
        if self.open.line == 0 {
            self.copied = self.at;
            self.open.line = self.line_here();
        }
    }

    fn line_here(&mut self) -> u64 {
        let lines = self.text.as_bytes()[self.counted..self.at].iter().filter(|&&byte| byte == b'\n').count();
        self.line += lines as u64;
        self.counted = self.at;
        self.line
    }

    /// What was passed so far belongs to the statement.
    fn take(&mut self) {
        if self.open.line > 0 {
            self.open.text.push_str(&self.text[self.copied..self.at]);
        }
        self.copied = self.at;
    }

    /// The next bytes don't belong to the statement; the lines among them are kept.
    fn leave_out(&mut self, bytes: usize) {
        self.take();
        let end = self.at + bytes;
        if self.open.line > 0 {
            let lines = self.text.as_bytes()[self.at..end].iter().filter(|&&byte| byte == b'\n').count();
            self.open.text.push(' ');
            self.open.text.extend(std::iter::repeat_n('\n', lines));
        }
        (self.at, self.copied) = (end, end);
    }

    fn end(&mut self, delimiter: usize) {
        self.take();
        self.at += delimiter;
        self.copied = self.at;
        let open = std::mem::take(&mut self.open);
        self.is_conditional = false;
        if open.line == 0 {
            return;
        }
        let is_copy = open.head.first().is_some_and(|word| word == "COPY")
            && open.head.iter().any(|word| word == "FROM")
            && open.text.to_ascii_lowercase().contains("stdin");
        let text = open.text.trim_end().to_owned();
        self.done.statements.push(Statement { line: open.line, text, head: open.head, fault: open.fault });
        if is_copy && self.dialect == Dialect::Postgres {
            self.copy_data();
        }
    }

    /// Rows of COPY … FROM stdin, up to a line of `\.`.
    fn copy_data(&mut self) {
        let rest = self.rest();
        let end = rest.find("\n\\.").map_or(rest.len(), |at| at + 1);
        let line_end = rest[end..].find('\n').map_or(rest.len(), |at| end + at);
        self.at += line_end;
        self.copied = self.at;
    }

    fn line_end(&self) -> usize {
        self.rest().find('\n').unwrap_or(self.rest().len())
    }

    fn line_comment(&mut self, mark: usize) {
        let end = self.line_end();
        let words = self.rest()[mark..end].trim().to_ascii_lowercase();
        self.leave_out(end);
        if is_way_back(&words) {
            self.done.ways_back += 1;
            self.end(0);
            self.at += way_forth(self.rest());
            self.copied = self.at;
        }
    }

    /// `--changeset author:id` of Liquibase, which ends what stands before it, with a delimiter or without; in any dialect.
    fn changeset(&mut self) -> bool {
        let end = self.line_end();
        let Some(comment) = self.rest()[..end].strip_prefix("--") else { return false };
        let mut words = comment.split_whitespace();
        let first = words.next().unwrap_or_default().to_ascii_lowercase();
        if first != "changeset" || !words.next().is_some_and(|name| name.contains(':')) {
            // The rest of its marks are comments in MySQL too, where `--` alone begins none.
            let is_mark = comment.starts_with(&first[..])
                && [
                    "liquibase",
                    "rollback",
                    "preconditions",
                    "precondition-sql-check",
                    "comment:",
                    "property",
                ]
                .contains(&&first[..]);
            if is_mark {
                self.leave_out(end);
            }
            return is_mark;
        }
        if self.open.blocks > 0 {
            self.open.fault.get_or_insert("a body of statements that doesn't end");
        }
        self.end(0);
        self.leave_out(end);
        true
    }

    fn block_comment(&mut self) {
        let rest = self.rest();
        if self.dialect.is_mysql_like() && self.open.line == 0 {
            // Code for servers of this version on; what is for none yet is a comment.
            let inner = rest[2..].strip_prefix("M!").or_else(|| rest[2..].strip_prefix('!'));
            if let Some(inner) = inner {
                let digits = inner.bytes().take_while(u8::is_ascii_digit).count();
                let bytes = rest.len() - inner.len() + digits;
                if inner[..digits].parse::<u32>().unwrap_or(0) < 900_000 {
                    self.is_conditional = true;
                    return self.leave_out(bytes);
                }
            }
        }
        let length = if self.dialect == Dialect::Postgres {
            nested_comment(rest)
        } else {
            rest.find("*/").map(|at| at + 2)
        };
        match length {
            Some(length) => self.leave_out(length),
            None => {
                self.begin();
                self.open.fault = Some("a comment that doesn't end");
                self.at = self.text.len();
            }
        }
    }

    /// A text or a name in quotes. A doubled quote stands for one.
    fn quoted(&mut self, quote: u8, has_backslashes: bool) {
        self.begin();
        let bytes = self.rest().as_bytes();
        let mut at = 1;
        while at < bytes.len() {
            match bytes[at] {
                b'\\' if has_backslashes => at += 1,
                byte if byte == quote && bytes.get(at + 1) == Some(&quote) => at += 1,
                byte if byte == quote => {
                    self.at += at + 1;
                    return;
                }
                _ => {}
            }
            at += 1;
        }
        self.open.fault = Some("a quoted text or name that doesn't end");
        self.at = self.text.len();
    }

    /// `$$…$$` or `$tag$…$tag$`.
    fn dollar_quoted(&mut self) {
        self.begin();
        let rest = self.rest();
        let tag = rest[1..].find('$').map(|end| &rest[..end + 2]);
        let is_tag = |tag: &&str| {
            let name = &tag[1..tag.len() - 1];
            !name.starts_with(|c: char| c.is_ascii_digit())
                && name.chars().all(|c| c.is_alphanumeric() || c == '_')
        };
        let Some(tag) = tag.filter(is_tag) else {
            self.at += 1;
            return;
        };
        match rest[tag.len()..].find(tag) {
            Some(end) => self.at += end + 2 * tag.len(),
            None => {
                self.open.fault = Some("a text in dollar quotes that doesn't end");
                self.at = self.text.len();
            }
        }
    }

    fn word(&mut self) {
        self.begin();
        let rest = self.rest();
        let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '$')).unwrap_or(rest.len());
        // `END$$`, where $$ ends statements.
        let cut = (self.delimiter != ";").then(|| rest[..end].find(&self.delimiter)).flatten();
        let end = cut.filter(|&at| at > 0).unwrap_or(end);
        // Inside of a routine's body a semicolon ends one of its statements, not it.
        let is_body = has_body(&self.open.head);
        let is_wanted = is_body || self.open.head.len() < HEAD;
        let word = if is_wanted { rest[..end].to_ascii_uppercase() } else { String::new() };
        self.at += end;
        match word.as_str() {
            "BEGIN" if is_body => self.open.blocks += 1,
            "CASE" if self.open.blocks > 0 && !self.is_end_of_case() => self.open.blocks += 1,
            "END" if self.open.blocks > 0 && !self.is_end_of_if() => self.open.blocks -= 1,
            _ => {}
        }
        if is_wanted && self.open.head.len() < HEAD {
            self.open.head.push(word);
        }
    }

    /// Whether the CASE just read belongs to the END before it, as statements of MySQL end.
    fn is_end_of_case(&self) -> bool {
        let before = self.text[..self.at - "CASE".len()].trim_end();
        let word = before.rsplit(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default();
        word.eq_ignore_ascii_case("end")
    }

    /// Whether the END just read ends an IF or a loop, whose beginnings aren't counted.
    fn is_end_of_if(&self) -> bool {
        let next = self.rest().trim_start();
        let word = next.find(|c: char| !c.is_ascii_alphabetic()).map_or(next, |end| &next[..end]);
        ["if", "loop", "while", "repeat"].iter().any(|end| word.eq_ignore_ascii_case(end))
    }

    /// A line that is for a client, not for the server: `\connect`, `DELIMITER ;;`.
    fn client_command(&mut self) -> bool {
        let end = self.line_end();
        let text = self.text;
        let line = text[self.at..self.at + end].trim();
        let mut words = line.split_whitespace();
        let first = words.next().unwrap_or_default().to_ascii_lowercase();
        let is_include = match self.dialect {
            Dialect::Postgres if first.starts_with('\\') => {
                ["\\i", "\\ir", "\\include", "\\include_relative"].contains(&first.as_str())
            }
            dialect if dialect.is_mysql_like() && first == "delimiter" => {
                words.next().unwrap_or(";").clone_into(&mut self.delimiter);
                false
            }
            dialect if dialect.is_mysql_like() && ["source", "\\."].contains(&first.as_str()) => true,
            Dialect::Sqlite if first.starts_with('.') => first == ".read",
            _ => return false,
        };
        if is_include {
            let (text, line) = (line.to_owned(), self.line_here());
            let fault = Some("another file, which isn't read");
            self.done.statements.push(Statement { line, text, head: Vec::new(), fault });
        }
        self.at += end;
        self.copied = self.at;
        true
    }
}

/// Whether a statement that begins with these words makes something with a body of statements.
fn has_body(head: &[String]) -> bool {
    const PLAIN: &[&str] = &["TABLE", "VIEW", "INDEX", "SEQUENCE", "TYPE", "DOMAIN", "SCHEMA", "DATABASE"];
    const WITH_BODY: &[&str] = &["TRIGGER", "FUNCTION", "PROCEDURE", "EVENT"];
    if head.first().is_none_or(|first| first != "CREATE") {
        return false;
    }
    let made = head.iter().map(String::as_str).find(|word| PLAIN.contains(word) || WITH_BODY.contains(word));
    made.is_some_and(|word| WITH_BODY.contains(&word))
}

fn is_word_end(text: &str) -> bool {
    text.chars().next_back().is_some_and(|c| c.is_alphanumeric() || c == '_' || c == '$')
}

/// The length of a comment that may hold comments.
fn nested_comment(text: &str) -> Option<usize> {
    let (bytes, mut at, mut depth) = (text.as_bytes(), 0, 0_usize);
    while at + 1 < bytes.len() {
        match &bytes[at..at + 2] {
            b"/*" => (depth, at) = (depth + 1, at + 2),
            b"*/" => {
                (depth, at) = (depth - 1, at + 2);
                if depth == 0 {
                    return Some(at);
                }
            }
            _ => at += 1,
        }
    }
    None
}

/// What the comment begins with that stands before the way back of a migration: dbmate, goose, sql-migrate, rambler.
fn is_way_back(comment: &str) -> bool {
    ["migrate:down", "+goose down", "+migrate down", "+micrate down", "rambler down"]
        .iter()
        .any(|mark| comment.starts_with(mark))
}

/// How far it is to where a migration goes forth again.
fn way_forth(text: &str) -> usize {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let comment = line.trim().strip_prefix("--").map(|comment| comment.trim().to_ascii_lowercase());
        let is_forth = comment.is_some_and(|comment| {
            ["migrate:up", "+goose up", "+migrate up", "+micrate up", "rambler up"]
                .iter()
                .any(|mark| comment.starts_with(mark))
        });
        if is_forth {
            return at;
        }
        at += line.len();
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str, dialect: Dialect) -> Vec<(u64, String)> {
        split(text, dialect)
            .statements
            .into_iter()
            .map(|statement| (statement.line, statement.text))
            .collect()
    }

    fn is(text: &str, dialect: Dialect, expected: &[(u64, &str)]) {
        let expected: Vec<(u64, String)> =
            expected.iter().map(|(line, text)| (*line, (*text).to_owned())).collect();
        assert_eq!(texts(text, dialect), expected, "{text}");
    }

    #[test]
    fn only_what_has_a_body_holds_statements_and_one_without_end_is_named() {
        let mysql = Dialect::MySql;
        is("CREATE TABLE event(begin int);b", mysql, &[(1, "CREATE TABLE event(begin int)"), (1, "b")]);
        let body = "CREATE PROCEDURE p() BEGIN CASE x WHEN 1 THEN SELECT 1; END CASE; IF x THEN SELECT CASE 1 WHEN 1 THEN 2 END; END IF; END";
        is(&format!("{body};b"), mysql, &[(1, body), (1, "b")]);
        let delimited = format!("DELIMITER $$\n{body}$$\nCREATE TABLE c(id int)$$\nDELIMITER ;\nd;");
        is(&delimited, mysql, &[(2, body), (3, "CREATE TABLE c(id int)"), (5, "d")]);
        let open = split(
            "CREATE TRIGGER t BEFORE INSERT ON a FOR EACH ROW BEGIN SELECT 1; CREATE TABLE b(id int);",
            mysql,
        );
        assert!(open.statements[0].fault.is_some_and(|fault| fault.contains("doesn't end")), "{open:?}");
    }

    #[test]
    fn a_semicolon_in_quotes_or_comments_ends_nothing() {
        let postgres = Dialect::Postgres;
        is(
            "a 'x;''y' \"b;\"\"c\";\n\nb /* ; /* ; */ ; */ c -- ;\n d;",
            postgres,
            &[(1, "a 'x;''y' \"b;\"\"c\""), (3, "b   c  \n d")],
        );
        is("a $$;$$ $t$;$$;$t$ x$1; b", postgres, &[(1, "a $$;$$ $t$;$$;$t$ x$1"), (1, "b")]);
        is("a E'\\';' 'b\\'; c", postgres, &[(1, "a E'\\';' 'b\\'"), (1, "c")]);
        is("a 'b\\';' # ;\n;c [d];", Dialect::MySql, &[(1, "a 'b\\';'"), (2, "c [d]")]);
        is("a [b;c] `d;e`; f", Dialect::Sqlite, &[(1, "a [b;c] `d;e`"), (1, "f")]);
    }

    #[test]
    fn lines_for_clients_are_left_out() {
        is("\\restrict abc\n\\connect x;y\nSELECT 1;\n", Dialect::Postgres, &[(3, "SELECT 1")]);
        is(
            "COPY t (a) FROM stdin;\n1;\n2\n\\.\n\nSELECT 1;",
            Dialect::Postgres,
            &[(1, "COPY t (a) FROM stdin"), (6, "SELECT 1")],
        );
        is(
            "DELIMITER ;;\nCREATE TRIGGER x; y;;\nDELIMITER ;\nz;",
            Dialect::MySql,
            &[(2, "CREATE TRIGGER x; y"), (4, "z")],
        );
        let included = split("\\ir other.sql\n", Dialect::Postgres);
        assert_eq!(included.statements[0].fault, Some("another file, which isn't read"));
    }

    #[test]
    fn code_in_comments_of_mysql_is_code_where_it_stands_alone() {
        let text = "/*!40101 SET x=1 */;\n/*!999999\\- enable the sandbox mode */\nCREATE TABLE a(b int) /*!50100 PARTITION BY HASH(b) */;";
        is(text, Dialect::MySql, &[(1, "SET x=1"), (3, "CREATE TABLE a(b int)")]);
    }

    #[test]
    fn a_body_ends_with_its_block() {
        let sqlite = "CREATE TRIGGER t AFTER INSERT ON a BEGIN UPDATE b SET c = CASE WHEN 1 THEN 2 END; DELETE FROM d; END; x";
        is(sqlite, Dialect::Sqlite, &[(1, &sqlite[..sqlite.len() - 3]), (1, "x")]);
        is("BEGIN; a; END; b", Dialect::Postgres, &[(1, "BEGIN"), (1, "a"), (1, "END"), (1, "b")]);
        let mysql = "CREATE PROCEDURE p() BEGIN IF a THEN b; END IF; END; c";
        is(mysql, Dialect::MySql, &[(1, &mysql[..mysql.len() - 3]), (1, "c")]);
    }

    #[test]
    fn the_way_back_of_a_migration_is_left_out() {
        let text = "-- migrate:up\nCREATE TABLE a();\n-- migrate:down\nDROP TABLE a;\n-- migrate:up\nb;";
        is(text, Dialect::Postgres, &[(2, "CREATE TABLE a()"), (6, "b")]);
        assert_eq!(split(text, Dialect::Postgres).ways_back, 1);
    }

    #[test]
    fn what_never_ends_says_so() {
        for text in ["a 'b", "a \"b", "a /* b /* */", "a $$ b", "a $x$ $$"] {
            let split = split(text, Dialect::Postgres);
            assert!(split.statements.len() == 1 && split.statements[0].fault.is_some(), "{text}");
        }
    }
}
