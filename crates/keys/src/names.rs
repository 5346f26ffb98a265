//! Names of tables and columns: which may refer to which, and how foreign text is shown without harm.

use std::borrow::Cow;

/// What a column called `user_id`, `userId`, `author_user_ids` or `userid` may refer to: names of tables, lower case, the most
/// likely first. Empty for columns that aren't called like that.
#[must_use]
pub fn may_refer_to(column: &str) -> Vec<String> {
    let words = words(column);
    let Some((last, rest)) = words.split_last() else { return Vec::new() };
    let mut stems: Vec<String> = Vec::new();
    match last.as_str() {
        "id" | "ids" => {
            // author_user_id: author_user, then user.
            for from in 0..rest.len() {
                stems.push(rest[from..].join("_"));
            }
        }
        _ => return Vec::new(),
    }
    let mut names = Vec::new();
    for name in stems.iter().flat_map(|stem| tables_of(stem)) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// What a table of such things may be called, of `issue`: `issues`, `issue`.
#[must_use]
pub fn tables_of(thing: &str) -> [String; 3] {
    [plural(thing), thing.to_owned(), format!("{thing}s")]
}

/// A name as [`may_refer_to`] spells it: `OrderItems` and `order_items` are one.
#[must_use]
pub fn normal(name: &str) -> String {
    words(name).join("_")
}

/// Whether a column is called as ids are: `id`, `uuid`, `order_id`, `orderId`.
#[must_use]
pub fn is_id(column: &str) -> bool {
    let words = words(column);
    words.last().is_some_and(|last| ["id", "ids", "uuid", "guid", "ulid"].contains(&last.as_str()))
}

/// Whether a column is called as references within one table are: `parent_id`, `root_comment_id`.
#[must_use]
pub fn is_of_family(column: &str) -> bool {
    const FIRST: [&str; 6] = ["ancestor", "original", "parent", "predecessor", "previous", "root"];
    let words = words(column);
    words.len() > 1
        && words.first().is_some_and(|first| FIRST.contains(&first.as_str()))
        && words.last().is_some_and(|last| last == "id" || last == "ids")
}

/// Whether a column is called as counters are: `view_count`, `lockVersion`, `position`.
#[must_use]
pub fn is_counter(column: &str) -> bool {
    const LAST: [&str; 15] = [
        "attempts",
        "clicks",
        "count",
        "counter",
        "counts",
        "downloads",
        "failures",
        "hits",
        "likes",
        "logins",
        "retries",
        "revision",
        "views",
        "visits",
        "votes",
    ];
    // `nviews`, `viewcount`: what is counted, in one word with how.
    const COUNTED: [&str; 12] = [
        "click", "comment", "download", "error", "hit", "like", "login", "message", "post", "view", "visit",
        "vote",
    ];
    // Settings, not counts: `max_retries`.
    const SET: [&str; 9] =
        ["allowed", "default", "limit", "max", "maximum", "min", "minimum", "target", "threshold"];
    let words = words(column);
    let Some((last, before)) = words.split_last() else { return false };
    if words.iter().any(|word| SET.contains(&word.as_str())) {
        return false;
    }
    let is_version = last == "version" && before.last().is_some_and(|word| word == "lock" || word == "row");
    let stem = last.strip_suffix("counts").or_else(|| last.strip_suffix("count"));
    let counted = last.strip_prefix('n').and_then(|rest| rest.strip_suffix('s')).or(stem);
    LAST.contains(&last.as_str()) || is_version || counted.is_some_and(|word| COUNTED.contains(&word))
}

/// The words of a name in lower case: separated by anything but letters and digits, or by a capital after a small letter.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_small = false;
    for c in name.chars() {
        if !c.is_alphanumeric() {
            words.push(String::new());
            was_small = false;
            continue;
        }
        if c.is_uppercase() && was_small {
            words.push(String::new());
        }
        was_small = c.is_lowercase() || c.is_numeric();
        words.last_mut().expect("never empty").extend(c.to_lowercase());
    }
    words.retain(|word| !word.is_empty());
    words
}

/// The usual English plural.
fn plural(stem: &str) -> String {
    let before_y = |stem: &str| stem.chars().rev().nth(1).is_some_and(|c| !"aeiou".contains(c));
    if stem.ends_with('y') && before_y(stem) {
        return format!("{}ies", &stem[..stem.len() - 1]);
    }
    if ["s", "x", "z", "ch", "sh"].iter().any(|end| stem.ends_with(end)) {
        return format!("{stem}es");
    }
    if let Some(start) = stem.strip_suffix("person") {
        return format!("{start}people");
    }
    format!("{stem}s")
}

/// Text that a server or a file holds, so that it can't steer a terminal, break a line or reorder what stands beside it.
#[must_use]
pub fn harmless(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_harmful) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if is_harmful(c) { shown.extend(c.escape_default()) } else { shown.push(c) }
    }
    Cow::Owned(shown)
}

/// Control characters, and those that change direction or can't be seen.
fn is_harmful(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{61c}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_to_tables() {
        assert!(may_refer_to("user_id").starts_with(&["users".to_owned(), "user".to_owned()]));
        assert!(may_refer_to("userId").contains(&"users".to_owned()));
        assert!(may_refer_to("author_user_ids").contains(&"users".to_owned()));
        assert!(may_refer_to("category_id").contains(&"categories".to_owned()));
        assert!(may_refer_to("box_id").contains(&"boxes".to_owned()));
        assert!(may_refer_to("person_id").contains(&"people".to_owned()));
        assert!(may_refer_to("day_id").contains(&"days".to_owned()));
        for column in ["id", "iid", "paid", "grid", "users", "", "_", "amount"] {
            assert_eq!(may_refer_to(column), Vec::<String>::new(), "{column}");
        }
        assert!(
            is_of_family("parent_id")
                && is_of_family("rootCommentId")
                && !is_of_family("parent")
                && !is_of_family("id")
        );
        assert_eq!(normal("OrderItems"), "order_items");
        for counter in [
            "view_count",
            "lockVersion",
            "downloads",
            "clicks",
            "failures",
            "visits",
            "login_counts",
            "nviews",
            "viewcount",
            "row_version",
            "retries",
            "hits",
        ] {
            assert!(is_counter(counter), "{counter}");
        }
        for other in [
            "account",
            "country",
            "count_id",
            "",
            "phone_number",
            "account_no",
            "pin_number",
            "isbn_no",
            "lucky_number",
            "serial_num",
            "api_version",
            "version",
            "port_no",
            "house_number",
            "room_number",
            "rank",
            "position",
            "max_count",
            "max_retries",
            "retry_limit",
            "discount",
            "n",
            "ns",
            "news",
            "headcount",
        ] {
            assert!(!is_counter(other), "{other}");
        }
        assert!(is_id("orderID") && is_id("uuid") && is_id("ORDER_ID") && !is_id("paid"));
    }

    #[test]
    fn foreign_text_steers_nothing() {
        assert_eq!(harmless("plain ü"), "plain ü");
        assert_eq!(harmless("a\x1b[31mb\nc"), "a\\u{1b}[31mb\\nc");
        assert_eq!(harmless("a\u{202e}b\u{9b}"), "a\\u{202e}b\\u{9b}");
    }
}
