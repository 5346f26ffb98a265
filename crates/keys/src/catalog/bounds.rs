//! The largest value that a CHECK lets pass, where that can be told: `VALUE <= 1000`, `id < 5000`, `id BETWEEN 1 AND 99`.

use super::feeds::{bare, parts};

/// The largest value of a column, or of a domain's `VALUE`, by a constraint as PostgreSQL prints it. `None` for whatever says more.
pub(super) fn largest(check: &str, column: &str) -> Option<i128> {
    let text = bare(check);
    if split_at(text, " OR ").len() > 1 {
        return None;
    }
    let parts = split_at(text, " AND ");
    if parts.len() > 1 {
        return parts.into_iter().filter_map(|part| largest(part, column)).min();
    }
    for (sign, is_reversed, less) in
        [(" <= ", false, 0), (" < ", false, 1), (" >= ", true, 0), (" > ", true, 1)]
    {
        let [left, right] = split_at(text, sign)[..] else { continue };
        let (name, value) = if is_reversed { (right, left) } else { (left, right) };
        return (is_named(bare(name), column))
            .then(|| number(bare(value)))
            .flatten()
            .map(|value| value - less);
    }
    None
}

fn is_named(name: &str, column: &str) -> bool {
    parts(name).is_some_and(|parts| parts == [column])
}

/// A literal: `1000`, `'5000000000'`.
fn number(text: &str) -> Option<i128> {
    text.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')).unwrap_or(text).parse().ok()
}

/// The parts of a text between these words, outside of parentheses and quotes.
fn split_at<'a>(text: &'a str, word: &str) -> Vec<&'a str> {
    let (mut parts, mut depth, mut quote, mut from) = (Vec::new(), 0_i32, None, 0);
    for (at, byte) in text.bytes().enumerate() {
        match (quote, byte) {
            (Some(open), byte) if byte == open => quote = None,
            (Some(_), _) => {}
            (None, b'\'' | b'"') => quote = Some(byte),
            (None, b'(') => depth += 1,
            (None, b')') => depth -= 1,
            (None, b' ')
                if depth == 0 && at >= from && text.as_bytes()[at..].starts_with(word.as_bytes()) =>
            {
                parts.push(&text[from..at]);
                from = at + word.len();
            }
            _ => {}
        }
    }
    parts.push(&text[from.min(text.len())..]);
    parts
}

#[cfg(test)]
mod tests {
    use super::largest;

    #[test]
    fn simple_bounds_are_read_and_others_left() {
        for (check, column, most) in [
            ("(VALUE <= 1000)", "value", Some(1_000)),
            ("((VALUE > 0) AND (VALUE < 1000))", "value", Some(999)),
            ("((id >= 1) AND (id <= 99))", "id", Some(99)),
            ("(id <= '5000000000'::bigint)", "id", Some(5_000_000_000)),
            ("((\"Id\")::bigint <= '7'::bigint)", "Id", Some(7)),
            ("(100 >= id)", "id", Some(100)),
            ("((id <= 9) OR (id = 100))", "id", None),
            ("(id > 0)", "id", None),
            ("(other <= 9)", "id", None),
            ("((id % 10) <= 3)", "id", None),
            ("(id <= other)", "id", None),
            ("", "id", None),
            (" <= ", "id", None),
        ] {
            assert_eq!(largest(check, column), most, "{check}");
        }
    }
}
