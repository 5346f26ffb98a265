//! `LIKE a INCLUDING …` among the columns of a table of PostgreSQL, which the grammar of the library doesn't have.

use super::parse::{is_word, written};
use sqlparser::tokenizer::{Token, TokenWithSpan};

/// What a table takes from another one besides names and types of columns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Like {
    /// The other table, as written.
    pub(super) name: String,
    pub(super) takes: Takes,
}

/// What is taken along with columns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Takes {
    pub(super) defaults: bool,
    pub(super) identity: bool,
    pub(super) generated: bool,
    pub(super) indexes: bool,
}

impl Takes {
    pub(super) const ALL: Self = Self { defaults: true, identity: true, generated: true, indexes: true };

    /// One option: `INCLUDING ALL`, `EXCLUDING INDEXES`.
    fn set(&mut self, what: &TokenWithSpan, to: bool) {
        let is = |word: &str| is_word(what, word) || is_word(what, "ALL");
        for (word, flag) in [
            ("DEFAULTS", &mut self.defaults),
            ("IDENTITY", &mut self.identity),
            ("GENERATED", &mut self.generated),
            ("INDEXES", &mut self.indexes),
        ] {
            if is(word) {
                *flag = to;
            }
        }
    }
}

/// Takes every LIKE out of CREATE TABLE.
pub(super) fn take_likes(tokens: &mut Vec<TokenWithSpan>) -> Vec<Like> {
    let mut likes = Vec::new();
    while let Some((from, to)) = next_like(tokens) {
        let taken: Vec<TokenWithSpan> = tokens.drain(from..to).collect();
        // With the comma behind it, or else the one before.
        if tokens.get(from).is_some_and(|token| token.token == Token::Comma) {
            tokens.remove(from);
        } else if tokens[from - 1].token == Token::Comma {
            tokens.remove(from - 1);
        }
        likes.push(like(&taken[1..]));
    }
    likes
}

/// From the first word LIKE in the outermost parentheses to the comma or parenthesis behind it.
fn next_like(tokens: &[TokenWithSpan]) -> Option<(usize, usize)> {
    let (mut depth, mut from) = (0_usize, None);
    for (at, token) in tokens.iter().enumerate() {
        let ends = depth == 1 && matches!(token.token, Token::Comma | Token::RParen);
        if let Some(from) = from.filter(|_| ends) {
            return Some((from, at));
        }
        match token.token {
            Token::LParen => depth += 1,
            Token::RParen => depth = depth.checked_sub(1)?,
            _ => {}
        }
        let begins = depth == 1 && matches!(token.token, Token::Comma | Token::LParen);
        if begins && tokens.get(at + 1).is_some_and(|next| is_word(next, "LIKE")) {
            from = Some(at + 1);
        }
    }
    None
}

/// A name and its options.
fn like(tokens: &[TokenWithSpan]) -> Like {
    let is_option = |token: &TokenWithSpan| is_word(token, "INCLUDING") || is_word(token, "EXCLUDING");
    let end = tokens.iter().position(is_option).unwrap_or(tokens.len());
    let mut takes = Takes::default();
    for option in tokens[end..].chunks(2) {
        if let [how, what] = option {
            takes.set(what, is_word(how, "INCLUDING"));
        }
    }
    Like { name: written(&tokens[..end]), takes }
}
