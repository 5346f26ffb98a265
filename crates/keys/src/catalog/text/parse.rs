//! From the text of a statement to its tree: what the grammar of the library lacks is rewritten, and what has no end is refused.

use super::like::{Like, take_likes};
use super::split::Statement as Text;
use crate::catalog::Dialect;
use sqlparser::ast::Statement;
use sqlparser::dialect::{Dialect as Grammar, MySqlDialect, PostgreSqlDialect, SQLiteDialect};
use sqlparser::parser::Parser;
use sqlparser::tokenizer::{Token, TokenWithSpan, Tokenizer};

/// Bytes and tokens of a statement that are read: a table of 4,096 columns takes fewer.
const MOST: (usize, usize) = (1 << 20, 60_000);

/// Parentheses within parentheses that are read.
const DEEPEST: usize = 24;

/// A statement that may say something about keys.
pub(super) enum Parsed {
    Sql(Box<Statement>),
    /// CREATE TABLE of PostgreSQL that takes columns from other tables.
    Likes(Box<Statement>, Vec<Like>),
    /// ALTER SEQUENCE with options, as the CREATE SEQUENCE that has them.
    Changes(Box<Statement>),
    /// ALTER TABLE … ADD GENERATED AS IDENTITY, and the name given to its sequence.
    Identity(Box<Statement>, String),
    /// ALTER SEQUENCE … RENAME TO.
    Renames(String, String),
    /// ALTER TABLE or SEQUENCE … SET SCHEMA, with names as written.
    Moves {
        is_sequence: bool,
        name: String,
        schema: String,
    },
}

/// What a statement is, as far as its first words tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum About {
    /// It may say something about keys.
    Keys,
    /// It doesn't.
    Other,
    /// No statement begins like this.
    Unknown,
}

/// Words that statements begin with which define nothing.
const OTHERS: &[&str] = &[
    "ABORT",
    "ANALYZE",
    "ATTACH",
    "BEGIN",
    "CALL",
    "CHECK",
    "CHECKPOINT",
    "CLOSE",
    "CLUSTER",
    "COMMENT",
    "COMMIT",
    "COPY",
    "DEALLOCATE",
    "DECLARE",
    "DELETE",
    "DETACH",
    "DISCARD",
    "END",
    "EXECUTE",
    "EXPLAIN",
    "FETCH",
    "FLUSH",
    "GRANT",
    "IMPORT",
    "INSERT",
    "KILL",
    "LISTEN",
    "LOAD",
    "LOCK",
    "MERGE",
    "NOTIFY",
    "OPTIMIZE",
    "PRAGMA",
    "PREPARE",
    "REASSIGN",
    "REFRESH",
    "REINDEX",
    "RELEASE",
    "REPLACE",
    "RESET",
    "REVOKE",
    "ROLLBACK",
    "SAVEPOINT",
    "SECURITY",
    "SELECT",
    "SET",
    "SHOW",
    "START",
    "TRUNCATE",
    "UNLISTEN",
    "UNLOCK",
    "UPDATE",
    "USE",
    "VACUUM",
    "VALUES",
    "WITH",
];

/// What may stand between CREATE and what is created.
const BETWEEN: &[&str] = &[
    "OR", "REPLACE", "GLOBAL", "LOCAL", "UNLOGGED", "UNIQUE", "FULLTEXT", "SPATIAL", "ONLINE", "OFFLINE",
    "IGNORE",
];

/// What a statement is about.
pub(super) fn about(statement: &Text) -> About {
    let words: Vec<&str> = statement.head.iter().map(String::as_str).collect();
    match words.first().copied() {
        Some(verb @ ("CREATE" | "ALTER" | "DROP" | "RENAME")) => {
            // Names that change here are followed no further.
            let renames = words.contains(&"RENAME")
                && ["SCHEMA", "INDEX"].contains(&words.get(1).copied().unwrap_or_default());
            if verb == "ALTER" && renames {
                return About::Unknown;
            }
            let object = words[1..].iter().find(|word| !BETWEEN.contains(word)).copied().unwrap_or_default();
            let is_ours = match verb {
                "ALTER" => ["TABLE", "SEQUENCE"].contains(&object) && !is_upkeep(statement, &words),
                "RENAME" => ["TABLE", "TABLES"].contains(&object),
                "DROP" => ["TABLE", "SEQUENCE", "INDEX", "SCHEMA"].contains(&object),
                // What is temporary is gone by itself.
                _ => ["TABLE", "SEQUENCE", "INDEX", "DOMAIN"].contains(&object),
            };
            if is_ours { About::Keys } else { About::Other }
        }
        Some("DO") => {
            let text = statement.text.to_ascii_lowercase();
            let defines = ["create table", "alter table", "create sequence", "drop table"];
            if defines.iter().any(|words| text.contains(words)) { About::Unknown } else { About::Other }
        }
        Some(word) if OTHERS.contains(&word) => About::Other,
        _ => About::Unknown,
    }
}

/// Whether an ALTER TABLE or ALTER SEQUENCE concerns only how it is kept, and does nothing else besides.
fn is_upkeep(statement: &Text, words: &[&str]) -> bool {
    let does_more =
        statement.text.contains(',') || ["ADD", "DROP", "RENAME"].iter().any(|word| words.contains(word));
    if does_more {
        return false;
    }
    let pairs = [
        ("OWNER", "TO"),
        ("SET", "STORAGE"),
        ("SET", "STATISTICS"),
        ("SET", "COMPRESSION"),
        ("CLUSTER", "ON"),
        ("SET", "TABLESPACE"),
    ];
    let switches = ["TRIGGER", "RULE", "KEYS"];
    words.windows(2).any(|two| {
        pairs.contains(&(two[0], two[1]))
            || (["ENABLE", "DISABLE"].contains(&two[0]) && switches.contains(&two[1]))
    })
}

/// The tree of a statement.
///
/// # Errors
/// Why it can't be read, in a few words.
pub(super) fn parse(text: &str, dialect: Dialect) -> Result<Parsed, String> {
    if text.len() > MOST.0 {
        return Err(format!("longer than {} bytes", MOST.0));
    }
    let grammar: &dyn Grammar = match dialect {
        Dialect::Sqlite => &SQLiteDialect {},
        dialect if dialect.is_mysql_like() => &MySqlDialect {},
        _ => &PostgreSqlDialect {},
    };
    let tokens = Tokenizer::new(grammar, text).tokenize_with_location().map_err(|error| error.to_string())?;
    let mut tokens: Vec<TokenWithSpan> =
        tokens.into_iter().filter(|token| !matches!(token.token, Token::Whitespace(_))).collect();
    if tokens.len() > MOST.1 {
        return Err(format!("more than {} words", MOST.1));
    }
    is_shallow(&tokens)?;
    if let Some(moves) = moves(&tokens) {
        return Ok(moves);
    }
    let mut is_change = false;
    let (mut sequence, mut likes) = (None, Vec::new());
    if is_at(&tokens, 0, &["ALTER", "SEQUENCE"]) {
        if let Some(renames) = renames(&tokens) {
            return Ok(renames);
        }
        is_change = true;
        tokens[0] = keyword("CREATE", &tokens[0]);
    }
    if is_at(&tokens, 0, &["CREATE", "UNLOGGED", "SEQUENCE"]) {
        tokens.remove(1);
    }
    if is_at(&tokens, 0, &["CREATE", "SEQUENCE"])
        || is_at(&tokens, 0, &["CREATE", "OR", "REPLACE", "SEQUENCE"])
    {
        plain_options(&mut tokens);
    } else if dialect.is_mysql_like() {
        without_partitions(&mut tokens);
        without(&mut tokens, &["WITH", "PARSER"], 3);
        remainders(&mut tokens);
    } else if is_at(&tokens, 0, &["ALTER", "TABLE"]) {
        without_storage(&mut tokens, 0);
        sequence = sequence_name(&mut tokens);
    } else if is_at(&tokens, 0, &["CREATE", "INDEX"]) || is_at(&tokens, 0, &["CREATE", "UNIQUE", "INDEX"]) {
        if let Some(at) = (0..tokens.len()).find(|&at| is_at(&tokens, at, &["ON", "ONLY"])) {
            tokens.remove(at + 1);
        }
    } else if is_at(&tokens, 0, &["CREATE"])
        && tokens[..tokens.len().min(4)].iter().any(|word| is_word(word, "TABLE"))
    {
        likes = take_likes(&mut tokens);
        without_storage(&mut tokens, 1);
        without(&mut tokens, &["NOT", "VALID"], 2);
    }
    let mut parser = Parser::new(grammar).with_tokens_with_locations(tokens);
    let statement = parser.parse_statement().map_err(|error| in_words(&error.to_string()))?;
    let rest = parser.peek_token();
    if rest.token != Token::EOF {
        return Err(format!("`{}` isn't understood here", rest.token));
    }
    let statement = Box::new(statement);
    Ok(match (is_change, sequence) {
        (true, _) => Parsed::Changes(statement),
        (_, Some(name)) => Parsed::Identity(statement, name),
        _ if !likes.is_empty() => Parsed::Likes(statement, likes),
        _ => Parsed::Sql(statement),
    })
}

/// What the library says, without its prefix and its places, which are those of the statement.
fn in_words(error: &str) -> String {
    let text = error.trim_start_matches("sql parser error: ");
    text.split(" at Line: ").next().unwrap_or(text).to_owned()
}

fn is_shallow(tokens: &[TokenWithSpan]) -> Result<(), String> {
    let mut depth = 0_usize;
    for token in tokens {
        match token.token {
            Token::LParen | Token::LBracket | Token::LBrace => depth += 1,
            Token::RParen | Token::RBracket | Token::RBrace => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > DEEPEST {
            return Err(format!("more than {DEEPEST} parentheses within each other"));
        }
    }
    Ok(())
}

/// Whether a token is this word, without quotes.
pub(super) fn is_word(token: &TokenWithSpan, word: &str) -> bool {
    matches!(&token.token, Token::Word(found) if found.quote_style.is_none() && found.value.eq_ignore_ascii_case(word))
}

fn is_at(tokens: &[TokenWithSpan], at: usize, words: &[&str]) -> bool {
    words
        .iter()
        .enumerate()
        .all(|(index, word)| tokens.get(at + index).is_some_and(|token| is_word(token, word)))
}

/// A word in the place of another token.
fn keyword(word: &str, place: &TokenWithSpan) -> TokenWithSpan {
    TokenWithSpan { token: Token::make_keyword(word), span: place.span }
}

/// `ALTER SEQUENCE a RENAME TO b`, with names as written.
fn renames(tokens: &[TokenWithSpan]) -> Option<Parsed> {
    let at = (0..tokens.len()).find(|&at| is_at(tokens, at, &["RENAME", "TO"]))?;
    Some(Parsed::Renames(written(tokens.get(name_at(tokens)..at)?), written(&tokens[at + 2..])))
}

/// `ALTER TABLE a SET SCHEMA b`, and of a sequence.
fn moves(tokens: &[TokenWithSpan]) -> Option<Parsed> {
    let is_sequence = is_at(tokens, 0, &["ALTER", "SEQUENCE"]);
    if !is_sequence && !is_at(tokens, 0, &["ALTER", "TABLE"]) {
        return None;
    }
    let at = tokens.len().checked_sub(3).filter(|&at| is_at(tokens, at, &["SET", "SCHEMA"]))?;
    let (name, schema) = (written(tokens.get(name_at(tokens)..at)?), written(&tokens[at + 2..]));
    Some(Parsed::Moves { is_sequence, name, schema })
}

/// Where the name stands in ALTER TABLE or ALTER SEQUENCE.
fn name_at(tokens: &[TokenWithSpan]) -> usize {
    let at = if is_at(tokens, 2, &["IF", "EXISTS"]) { 4 } else { 2 };
    at + usize::from(is_at(tokens, at, &["ONLY"]))
}

/// Tokens of a name, as they were written.
pub(super) fn written(tokens: &[TokenWithSpan]) -> String {
    tokens.iter().map(|token| token.token.to_string()).collect()
}

/// Options of sequences as PostgreSQL spells them: MariaDB has some as one word, and some that say nothing about values.
fn plain_options(tokens: &mut Vec<TokenWithSpan>) {
    let mut plain: Vec<TokenWithSpan> = Vec::with_capacity(tokens.len());
    let (mut at, is_alone) = (0, |at: usize| is_at(tokens, at, &["IF", "EXISTS"]));
    while let Some(token) = tokens.get(at) {
        let next = tokens.get(at + 1);
        let is_equal = next.is_some_and(|next| next.token == Token::Eq);
        if is_alone(at) {
            at += 2;
        } else if is_word(token, "NOCACHE") {
            at += 1;
        } else if is_word(token, "ENGINE") || is_word(token, "COMMENT") {
            at += if is_equal { 3 } else { 2 };
        } else if is_word(token, "RESTART") {
            at += 1;
            at += usize::from(is_at(tokens, at, &["WITH"]));
            at += usize::from(tokens.get(at).is_some_and(|token| token.token == Token::Minus));
            at += usize::from(tokens.get(at).is_some_and(|token| matches!(token.token, Token::Number(..))));
        } else if let Some(word) =
            ["CYCLE", "MINVALUE", "MAXVALUE"].iter().find(|word| is_word(token, &format!("NO{word}")))
        {
            plain.extend([keyword("NO", token), keyword(word, token)]);
            at += 1;
        } else if is_equal {
            // INCREMENT = 1
            plain.push(token.clone());
            at += 2;
        } else {
            plain.push(token.clone());
            at += 1;
        }
    }
    *tokens = plain;
}

/// Without these words, and as many tokens in all.
fn without(tokens: &mut Vec<TokenWithSpan>, words: &[&str], count: usize) {
    while let Some(at) = (0..tokens.len()).find(|&at| is_at(tokens, at, words)) {
        tokens.drain(at..(at + count).min(tokens.len()));
    }
}

/// Without `WITH (fillfactor=70)` behind a constraint, which stands within so many parentheses: it says how an index is kept.
fn without_storage(tokens: &mut Vec<TokenWithSpan>, within: usize) {
    let (mut depth, mut at) = (0_usize, 0);
    while let Some(token) = tokens.get(at) {
        let is_next_open = tokens.get(at + 1).is_some_and(|next| next.token == Token::LParen);
        if depth >= within && is_next_open && is_word(token, "WITH") {
            let close = (at + 2..tokens.len()).find(|&close| tokens[close].token == Token::RParen);
            tokens.drain(at..close.map_or(tokens.len(), |close| close + 1));
            continue;
        }
        match token.token {
            Token::LParen => depth += 1,
            Token::RParen => depth = depth.saturating_sub(1),
            _ => {}
        }
        at += 1;
    }
}

/// Without PARTITION BY and what follows: it says nothing about keys.
fn without_partitions(tokens: &mut Vec<TokenWithSpan>) {
    let mut depth = 0_usize;
    for at in 0..tokens.len() {
        match tokens[at].token {
            Token::LParen => depth += 1,
            Token::RParen => depth = depth.saturating_sub(1),
            _ if depth == 0 && is_at(tokens, at, &["PARTITION", "BY"]) => return tokens.truncate(at),
            _ => {}
        }
    }
}

/// `a MOD b` as `a % b`.
fn remainders(tokens: &mut [TokenWithSpan]) {
    for at in 1..tokens.len() {
        let is_call = tokens.get(at + 1).is_some_and(|next| next.token == Token::LParen);
        if is_word(&tokens[at], "MOD") && !is_call {
            tokens[at].token = Token::Mod;
        }
    }
}

/// Takes `SEQUENCE NAME x` out of ADD GENERATED … AS IDENTITY (…), as `pg_dump` writes it; the name as written.
fn sequence_name(tokens: &mut Vec<TokenWithSpan>) -> Option<String> {
    let at = (0..tokens.len()).find(|&at| is_at(tokens, at, &["SEQUENCE", "NAME"]))?;
    let mut end = at + 3;
    while tokens.get(end).is_some_and(|token| token.token == Token::Period) {
        end += 2;
    }
    let taken: Vec<TokenWithSpan> = tokens.drain(at..end.min(tokens.len())).collect();
    Some(taken.iter().skip(2).map(|token| token.token.to_string()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_pg_dump_and_mysqldump_write_has_a_tree() {
        for (dialect, text) in [
            (
                Dialect::Postgres,
                "ALTER TABLE public.b ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (SEQUENCE NAME public.\"b id\" START WITH 1 NO MINVALUE CACHE 1)",
            ),
            (
                Dialect::Postgres,
                "ALTER SEQUENCE IF EXISTS s RESTART WITH -5 AS bigint NO MAXVALUE OWNED BY a.id",
            ),
            (Dialect::Postgres, "ALTER SEQUENCE s RENAME TO t"),
            (
                Dialect::Postgres,
                "ALTER TABLE ONLY p ATTACH PARTITION q FOR VALUES FROM ('2024-01-01') TO ('2025-01-01')",
            ),
            (
                Dialect::MariaDb,
                "CREATE SEQUENCE `s` start with 1 minvalue 1 maxvalue 9 increment by 1 cache 1000 nocycle ENGINE=InnoDB",
            ),
            (
                Dialect::MySql,
                "CREATE TABLE `a` (`id` int(10) unsigned NOT NULL AUTO_INCREMENT, `x` char(36) CHARACTER SET ascii COLLATE ascii_bin DEFAULT NULL, \
                 PRIMARY KEY (`id`), UNIQUE KEY `u` (`x`), KEY `k` (`x`(10)), CONSTRAINT `f` FOREIGN KEY (`x`) REFERENCES `b` (`id`) ON DELETE CASCADE) \
                 ENGINE=InnoDB AUTO_INCREMENT=5 DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci PARTITION BY HASH (`id`) PARTITIONS 4",
            ),
        ] {
            if let Err(why) = parse(text, dialect) {
                panic!("{text}: {why}");
            }
        }
    }

    #[test]
    fn what_is_too_deep_or_too_long_is_refused_at_once() {
        let deep = format!("CREATE TABLE a(b int CHECK ({}1{}))", "(".repeat(10_000), ")".repeat(10_000));
        assert!(parse(&deep, Dialect::Postgres).is_err_and(|why| why.contains("parentheses")));
        let long = format!("CREATE TABLE a(b int DEFAULT 1{})", " + 1".repeat(60_000));
        assert!(parse(&long, Dialect::Postgres).is_err_and(|why| why.contains("words")));
    }
}
