//! Which dialect a text is written in, as far as it gives itself away.

use crate::catalog::Dialect;

/// What only one dialect has, lower case; the first that is found decides. What a program writes on top comes first.
const SIGNS: &[(Dialect, &str)] = &[
    (Dialect::Postgres, "-- postgresql database dump"),
    (Dialect::MariaDb, "-- mariadb dump"),
    (Dialect::MariaDb, "-mariadb"),
    (Dialect::MySql, "-- mysql dump"),
    (Dialect::Sqlite, "pragma "),
    (Dialect::Sqlite, "without rowid"),
    (Dialect::Sqlite, " autoincrement"),
    (Dialect::MariaDb, "uca1400"),
    // These come before `$$` and `serial`, which MySQL has too: as a delimiter, as a type.
    (Dialect::MySql, "auto_increment"),
    (Dialect::MySql, "engine=innodb"),
    (Dialect::MySql, "engine = innodb"),
    (Dialect::MySql, "delimiter $$"),
    (Dialect::MySql, "delimiter //"),
    (Dialect::MySql, "delimiter ;;"),
    (Dialect::Postgres, "::"),
    (Dialect::Postgres, "$$"),
    (Dialect::Postgres, "serial"),
    (Dialect::Postgres, "as identity"),
    (Dialect::Postgres, "timestamptz"),
    (Dialect::Postgres, "jsonb"),
    (Dialect::Postgres, "bytea"),
    (Dialect::Postgres, "gen_random_uuid("),
    (Dialect::Postgres, " concurrently"),
    (Dialect::Postgres, "nextval('"),
    (Dialect::MySql, "engine="),
    (Dialect::MySql, "engine ="),
    (Dialect::MySql, " unsigned"),
    (Dialect::MySql, "`"),
    (Dialect::Postgres, "character varying"),
    (Dialect::Postgres, "create sequence"),
    (Dialect::Postgres, "alter column"),
];

/// How much of a file is looked at, in bytes.
const ENOUGH: usize = 1 << 20;

/// The dialect of texts, and the sign that told it; `None` when none did.
pub(super) fn guess<'a>(texts: impl Iterator<Item = &'a str>) -> Option<(Dialect, &'static str)> {
    let texts: Vec<String> = texts
        .map(|text| {
            let mut end = text.len().min(ENOUGH);
            while !text.is_char_boundary(end) {
                end -= 1;
            }
            text[..end].to_ascii_lowercase()
        })
        .collect();
    SIGNS.iter().find(|(_, sign)| texts.iter().any(|text| has(text, sign))).copied()
}

/// Whether a sign is there. One that ends in a letter isn't the beginning of a longer name: `serial_number` isn't `serial`.
fn has(text: &str, sign: &str) -> bool {
    let is_word = sign.ends_with(|c: char| c.is_ascii_alphabetic());
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(sign).any(|(at, _)| !is_word || !text[at + sign.len()..].starts_with(is_part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dumps_and_words_of_one_dialect_give_it_away() {
        let is = |text: &str| guess([text].into_iter()).map(|(dialect, _)| dialect);
        assert_eq!(is("-- MySQL dump 10.19  Distrib 10.11.19-MariaDB"), Some(Dialect::MariaDb));
        assert_eq!(is("-- MySQL dump 10.13  Distrib 8.0.36"), Some(Dialect::MySql));
        assert_eq!(is("CREATE TABLE a(id INTEGER PRIMARY KEY AUTOINCREMENT)"), Some(Dialect::Sqlite));
        assert_eq!(is("CREATE TABLE a(id bigserial)"), Some(Dialect::Postgres));
        assert_eq!(is("CREATE TABLE a(id BIGINT AUTO_INCREMENT PRIMARY KEY)"), Some(Dialect::MySql));
        assert_eq!(is("CREATE TABLE a(id bigint)"), None);
        assert_eq!(is("CREATE TABLE a(serial_number varchar(9))"), None);
        assert_eq!(is("DELIMITER $$\nCREATE TABLE a(id int)$$"), Some(Dialect::MySql));
        assert_eq!(is("CREATE TABLE a(id int, serial_no int) ENGINE=InnoDB"), Some(Dialect::MySql));
    }
}
