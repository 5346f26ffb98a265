//! Where a column's values come from, by its default and what the catalog says of sequences.

use crate::catalog::{Catalog, Column, Feed, Table};
use std::collections::HashMap;

/// Sequences by name, for defaults that name one by text only.
pub(super) struct Names {
    qualified: HashMap<(String, String), usize>,
    unqualified: HashMap<String, Vec<usize>>,
}

impl Names {
    pub(super) fn of(catalog: &Catalog) -> Self {
        let mut names = Self { qualified: HashMap::new(), unqualified: HashMap::new() };
        for (index, sequence) in catalog.sequences.iter().enumerate() {
            names.qualified.insert((sequence.schema.clone(), sequence.name.clone()), index);
            names.unqualified.entry(sequence.name.clone()).or_default().push(index);
        }
        names
    }

    /// The sequence that a text means, as far as that can be told without the search path of whoever inserts.
    fn find(&self, table: &Table, text: &str) -> Option<usize> {
        match &parts(text)?[..] {
            [schema, name] => self.qualified.get(&(schema.clone(), name.clone())).copied(),
            [name] => {
                let same = self.qualified.get(&(table.schema.clone(), name.clone())).copied();
                same.or_else(|| match &self.unqualified.get(name)?[..] {
                    [one] => Some(*one),
                    _ => None,
                })
            }
            _ => None,
        }
    }
}

/// What feeds a column. `owns` is its own sequence and whether it is of an identity column; `asks` are the sequences that its
/// default depends on. With `is_hidden` the default couldn't be read.
pub(super) fn feed(
    names: &Names,
    table: &Table,
    column: &Column,
    owns: Option<(usize, bool)>,
    asks: &[usize],
    is_hidden: bool,
) -> Feed {
    let direct = |sequence, is_identity| Feed::Sequence { sequence, is_identity, is_default: true };
    if let Some((sequence, true)) = owns {
        return direct(sequence, true);
    }
    let default = column.default.as_deref();
    if is_hidden {
        return match asks {
            [sequence] => direct(*sequence, false),
            _ => Feed::Function,
        };
    }
    if let Some(named) = default.and_then(plain_nextval) {
        return match (asks, names.find(table, named)) {
            ([sequence], _) => direct(*sequence, false),
            (_, Some(sequence)) => direct(sequence, false),
            _ => Feed::Function,
        };
    }
    match (asks, default, owns) {
        ([sequence, ..], ..) => Feed::Derived { sequence: *sequence },
        (_, Some(default), _) if calls_a_function(default) => Feed::Function,
        (_, None, Some((sequence, false))) => {
            Feed::Sequence { sequence, is_identity: false, is_default: false }
        }
        _ => Feed::None,
    }
}

/// The column that an expression is, but for casts.
#[cfg(feature = "postgres")]
pub(super) fn plain_column(expression: &str, table: &Table) -> Option<usize> {
    match &parts(bare(expression))?[..] {
        [name] => table.find(name),
        _ => None,
    }
}

/// The names of the sequences that a default asks by literals, each as its parts. A server knows them by its dependencies.
pub(super) fn asked(default: &str) -> Vec<Vec<String>> {
    let calls = default.match_indices("nextval('").map(|(at, call)| &default[at + call.len()..]);
    calls.filter_map(|rest| parts(&rest[..rest.find('\'')?])).collect()
}

/// The argument of a default that is `nextval` and nothing else, but for casts: the value is stored as it comes.
fn plain_nextval(default: &str) -> Option<&str> {
    let call = bare(default);
    let arguments = call.strip_prefix("pg_catalog.").unwrap_or(call).strip_prefix("nextval")?;
    if !arguments.starts_with('(') || closes_at(arguments) != Some(arguments.len() - 1) {
        return None;
    }
    let inner = &arguments[1..arguments.len() - 1];
    let literal = bare(inner);
    let text = literal.strip_prefix('\'')?.strip_suffix('\'')?;
    // A quote inside means that the literal ended earlier, or holds a doubled one: the latter is left to dependencies.
    (!text.replace("''", "").contains('\'')).then_some(text)
}

/// An expression without the casts and parentheses around it.
pub(super) fn bare(expression: &str) -> &str {
    let mut text = expression.trim();
    loop {
        let before = text;
        if let Some(at) = last_cast(text) {
            text = text[..at].trim();
        }
        if text.starts_with('(') && closes_at(text) == Some(text.len() - 1) {
            text = text[1..text.len() - 1].trim();
        }
        if text == before {
            return text;
        }
    }
}

/// Where a cast that concerns the whole expression begins: `::` outside quotes and parentheses, followed by a type's name.
fn last_cast(text: &str) -> Option<usize> {
    let (mut depth, mut in_text, mut in_name, mut found) = (0_i32, false, false, None);
    let bytes = text.as_bytes();
    for (at, &byte) in bytes.iter().enumerate() {
        match byte {
            b'\'' if !in_name => in_text = !in_text,
            b'"' if !in_text => in_name = !in_name,
            _ if in_text || in_name => {}
            b'(' => depth += 1,
            b')' => depth -= 1,
            b':' if depth == 0 && bytes.get(at + 1) == Some(&b':') && found.is_none() => found = Some(at),
            // An operator: the cast belongs to one side of it.
            b'+' | b'-' | b'*' | b'/' | b'%' | b'|' | b'<' | b'>' | b'=' | b'#' | b'&' if depth == 0 => {
                return None;
            }
            _ => {}
        }
    }
    found
}

/// Where the parenthesis that a text begins with is closed.
fn closes_at(text: &str) -> Option<usize> {
    let (mut depth, mut in_text, mut in_name) = (0_i32, false, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'\'' if !in_name => in_text = !in_text,
            b'"' if !in_text => in_name = !in_name,
            _ if in_text || in_name => {}
            b'(' => depth += 1,
            b')' => {
                depth -= 1;
                if depth == 0 {
                    return Some(at);
                }
            }
            _ => {}
        }
    }
    None
}

/// Whether an expression calls something: a constant default feeds nothing.
fn calls_a_function(default: &str) -> bool {
    let mut in_text = false;
    let mut before = ' ';
    for c in default.chars() {
        match c {
            '\'' => in_text = !in_text,
            '(' if !in_text && (before.is_alphanumeric() || matches!(before, '_' | '"')) => return true,
            _ => {}
        }
        before = c;
    }
    false
}

/// `a.b`, with quotes or without, as its parts.
pub(super) fn parts(text: &str) -> Option<Vec<String>> {
    let text = text.replace("''", "'");
    let (mut parts, mut part, mut in_quotes) = (Vec::new(), String::new(), false);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' if in_quotes && chars.peek() == Some(&'"') => {
                part.push('"');
                chars.next();
            }
            '"' => in_quotes = !in_quotes,
            '.' if !in_quotes => parts.push(std::mem::take(&mut part)),
            c if in_quotes => part.push(c),
            c => part.extend(c.to_lowercase()),
        }
    }
    parts.push(part);
    (!in_quotes && parts.iter().all(|part| !part.is_empty())).then_some(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_nextval_by_itself_is_plain() {
        for (default, named) in [
            ("nextval('public.users_id_seq'::regclass)", Some("public.users_id_seq")),
            ("(nextval('public.users_id_seq'::regclass))::integer", Some("public.users_id_seq")),
            ("nextval(('users_id_seq'::text)::regclass)", Some("users_id_seq")),
            (r#"nextval('public."My Seq"'::regclass)"#, Some(r#"public."My Seq""#)),
            ("nextval('public.\"a::b\"'::regclass)", Some("public.\"a::b\"")),
            ("(nextval('s'::regclass) + 0)", None),
            ("nextval('s'::regclass) + '1'::bigint", None),
            ("(nextval('s'::regclass) * nextval('t'::regclass))", None),
            ("app.next_id()", None),
            ("my_nextval('s'::regclass)", None),
            ("7", None),
            ("", None),
            ("(", None),
        ] {
            assert_eq!(plain_nextval(default), named, "{default}");
        }
    }

    #[test]
    fn constants_call_nothing() {
        for (default, calls) in [
            ("0", false),
            ("'x(y)'::text", false),
            ("(1 + 2)", false),
            ("app.next_id()", true),
            ("\"F\"()", true),
        ] {
            assert_eq!(calls_a_function(default), calls, "{default}");
        }
    }

    #[test]
    fn names_are_read_as_the_server_does() {
        let is = |text: &str| parts(text).map(|parts| parts.join("|"));
        assert_eq!(is("Users_Seq").as_deref(), Some("users_seq"));
        assert_eq!(is(r#"App."My.Seq""#).as_deref(), Some("app|My.Seq"));
        assert_eq!(is(r#""a""b""#).as_deref(), Some("a\"b"));
        assert_eq!(is(r#""a"#), None);
        assert_eq!(is("a."), None);
    }
}
