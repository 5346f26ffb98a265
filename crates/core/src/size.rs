//! Size: what a key weighs, in every index that carries it.
//!
//! The model counts the bytes of the key and nothing else: once in the primary key's index, and once in each secondary index,
//! because there it leads back to the row. Page headers, free space and pointers come on top, and differ by database.

use crate::scheme::Scheme;

/// How a key is stored.
#[derive(Clone, Copy, Debug)]
pub struct KeyForm {
    /// Its short name.
    pub name: &'static str,
    /// What databases call it.
    pub aliases: &'static [&'static str],
    /// Bytes of one key.
    pub bytes: u64,
}

/// Keys that tables have, by their usual names.
pub static KEY_FORMS: &[KeyForm] = &[
    KeyForm { name: "smallint", aliases: &["int2", "smallserial"], bytes: 2 },
    KeyForm { name: "integer", aliases: &["int", "int4", "serial"], bytes: 4 },
    KeyForm { name: "bigint", aliases: &["int8", "bigserial"], bytes: 8 },
    KeyForm { name: "uuid", aliases: &["uniqueidentifier", "uuid-binary"], bytes: 16 },
    KeyForm { name: "uuid-text", aliases: &["text-uuid"], bytes: 36 },
];

/// The types whose name says how many bytes, or characters of one byte, they hold.
const SIZED: [&str; 8] = ["char", "varchar", "character", "binary", "varbinary", "bytea", "bytes", "string"];

/// No database keeps longer keys.
const MAX_KEY_BYTES: u64 = 65_535;

/// Bytes of a key that is named by one of [`KEY_FORMS`], by a type with its length such as `char(26)` or `binary(16)`, by a scheme
/// (its bytes), or by a scheme and a text form such as `ulid:text`, `ksuid:base62` (its characters). `None` for any other name.
#[must_use]
pub fn key_bytes(name: &str) -> Option<u64> {
    let known = KEY_FORMS.iter().find(|form| {
        form.name.eq_ignore_ascii_case(name)
            || form.aliases.iter().any(|alias| alias.eq_ignore_ascii_case(name))
    });
    if let Some(form) = known {
        return Some(form.bytes);
    }
    if let Some((kind, length)) = name.strip_suffix(')').and_then(|name| name.split_once('(')) {
        let is_sized = SIZED.iter().any(|sized| sized.eq_ignore_ascii_case(kind.trim()));
        let bytes = length.trim().parse().ok().filter(|bytes| (1..=MAX_KEY_BYTES).contains(bytes));
        return bytes.filter(|_| is_sized);
    }
    let Some((scheme, form)) = name.split_once(':') else {
        return Scheme::by_name(name).map(|scheme| scheme.layout.bytes() as u64);
    };
    let scheme = Scheme::by_name(scheme)?;
    let lengths = match form {
        "text" => scheme.text_lengths(),
        _ => scheme.form(form)?.lengths(),
    };
    Some(lengths.most as u64)
}

/// Bytes of all copies of a key: `rows * (1 + secondary_indexes) * key_bytes`; `None` above 2^128.
#[must_use]
pub const fn all_copies(rows: u128, secondary_indexes: u64, key_bytes: u64) -> Option<u128> {
    let copies = secondary_indexes as u128 + 1;
    match rows.checked_mul(copies) {
        Some(keys) => keys.checked_mul(key_bytes as u128),
        None => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_billion_rows_with_five_secondary_indexes() {
        let gigabytes = |key| all_copies(1_000_000_000, 5, key_bytes(key).unwrap()).unwrap() / 1_000_000_000;
        assert_eq!(gigabytes("bigint"), 48);
        assert_eq!(gigabytes("uuid"), 96);
        assert_eq!(gigabytes("uuid-text"), 216);
    }

    #[test]
    fn keys_by_type_and_by_scheme() {
        for (name, bytes) in [
            ("BIGINT", 8),
            ("char(36)", 36),
            ("CHAR( 26 )", 26),
            ("binary(12)", 12),
            ("uuid-v7", 16),
            ("v7:text", 36),
            ("uuid-v7:simple", 32),
            ("ulid", 16),
            ("ulid:text", 26),
            ("ksuid", 20),
            ("ksuid:base62", 27),
            ("objectid", 12),
            ("snowflake-twitter:decimal", 20),
        ] {
            assert_eq!(key_bytes(name), Some(bytes), "{name}");
        }
        for name in [
            "",
            "text",
            "char()",
            "char(0)",
            "char(-1)",
            "char(70000)",
            "blob(16)",
            "ulid:",
            "ulid:x",
            "(",
            "é(1)",
        ] {
            assert_eq!(key_bytes(name), None, "{name}");
        }
    }

    #[test]
    fn more_than_can_be_counted_is_no_size() {
        assert_eq!(all_copies(u128::MAX, 0, 1), Some(u128::MAX));
        assert_eq!(all_copies(u128::MAX, 1, 1), None);
        assert_eq!(all_copies(u128::MAX, u64::MAX, u64::MAX), None);
        assert_eq!(all_copies(0, u64::MAX, u64::MAX), Some(0));
    }
}
