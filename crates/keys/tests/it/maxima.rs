//! The largest number of each scope, on every database: scopes are apart by their bytes, as they are in a store.

use mintage_keys::maxima::{self, Numbered};
use mintage_keys::open::Options;
use mintage_testkit::servers::mariadb::MariaDb;
use mintage_testkit::servers::postgres::Postgres;

/// The scopes of `issue` by one of its columns, in the order in which they come, with their largest numbers.
async fn by(url: &str, column: &str) -> Vec<(Vec<u8>, i128)> {
    let of = Numbered { table: "issue".to_owned(), number: "number".to_owned(), by: column.to_owned() };
    let maxima = maxima::read(url, &Options::default(), &of, 100).await.unwrap();
    maxima.into_iter().map(|maximum| (maximum.scope, maximum.number)).collect()
}

fn scopes<const N: usize>(expected: [(&[u8], i128); N]) -> Vec<(Vec<u8>, i128)> {
    expected.map(|(scope, number)| (scope.to_vec(), number)).to_vec()
}

#[tokio::test]
async fn postgres_tells_scopes_apart_by_their_bytes_whatever_the_column_holds_to_be_equal() {
    let Some(server) = Postgres::shared() else { return };
    let database = server.database();
    let sql = r"CREATE EXTENSION citext; CREATE COLLATION ci (provider = icu, locale = 'und-u-ks-level1', deterministic = false);
               CREATE DOMAIN raw AS bytea; CREATE TABLE issue(number bigint, ci citext, icu text COLLATE ci, bytes bytea, raw raw, whole int, uuid uuid);
               INSERT INTO issue VALUES (9, 'Web', 'Web', 'Web', 'Web', 42, '0193B0D0-0000-7000-8000-000000000000'),
                   (7, 'web', 'web', '\xff00', '\xff00', -7, NULL), (8, 'web', 'wéb', '\x77', 'w', 42, NULL), (NULL, 'none', 'none', 'x', 'x', 1, NULL)";
    server.query(&database, sql).unwrap();
    let url = server.url(&database);
    assert_eq!(by(&url, "ci").await, scopes([(b"Web", 9), (b"web", 8)]));
    assert_eq!(by(&url, "icu").await, scopes([(b"Web", 9), (b"web", 7), ("wéb".as_bytes(), 8)]));
    for bytes in ["bytes", "raw"] {
        assert_eq!(by(&url, bytes).await, scopes([(b"Web", 9), (b"w", 8), (b"\xff\0", 7)]), "{bytes}");
    }
    assert_eq!(by(&url, "whole").await, scopes([(b"-7", 7), (b"42", 9)]));
    assert_eq!(by(&url, "uuid").await, scopes([(b"0193b0d0-0000-7000-8000-000000000000", 9)]));
    // A database that knows no encoding holds bytes that are no UTF-8.
    let create =
        "CREATE DATABASE no_encoding ENCODING 'SQL_ASCII' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0";
    server.query("postgres", create).unwrap();
    let sql = r"CREATE TABLE issue(number int, name text); INSERT INTO issue VALUES (1, convert_from('\xff', 'SQL_ASCII')), (2, 'a')";
    server.query("no_encoding", sql).unwrap();
    assert_eq!(by(&server.url("no_encoding"), "name").await, scopes([(b"a", 2), (b"\xff", 1)]));
    let sql = "CREATE DATABASE latin ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0";
    server.query("postgres", sql).unwrap();
    server
        .query("latin", "CREATE TABLE issue(number int, name text); INSERT INTO issue VALUES (1, chr(233))")
        .unwrap();
    assert_eq!(by(&server.url("latin"), "name").await, scopes([("é".as_bytes(), 1)]));
}

#[tokio::test]
async fn mariadb_tells_scopes_apart_by_their_bytes_whatever_the_column_holds_to_be_equal() {
    let Some(server) = MariaDb::shared() else { return };
    let database = server.database();
    let sql = r"CREATE TABLE issue(number bigint(9) zerofill, ci varchar(9) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci,
                   latin varchar(9) CHARACTER SET latin1, bytes varbinary(9), whole int(5) zerofill, decimals decimal(5) zerofill, big bigint unsigned,
                   day date, kind enum('a', 'B'), uuid uuid, address inet6);
               INSERT INTO issue VALUES
                   (9, 'Web', 'É', 'Web', 42, 42, 18446744073709551615, '2026-01-02', 'a', '0193B0D0-0000-7000-8000-000000000000', '::1'),
                   (7, 'web', 'é', x'ff00', 7, 7, 7, NULL, 'B', NULL, NULL), (8, 'web ', 'é', 'w', 42, 42, 8, NULL, 'B', NULL, NULL)";
    server.query(&database, sql).unwrap();
    let url = server.url(&database);
    assert_eq!(by(&url, "ci").await, scopes([(b"Web", 9), (b"web", 7), (b"web ", 8)]));
    assert_eq!(by(&url, "latin").await, scopes([("É".as_bytes(), 9), ("é".as_bytes(), 8)]));
    assert_eq!(by(&url, "bytes").await, scopes([(b"Web", 9), (b"w", 8), (b"\xff\0", 7)]));
    for numbers in ["whole", "decimals"] {
        assert_eq!(by(&url, numbers).await, scopes([(b"42", 9), (b"7", 7)]), "{numbers}");
    }
    assert_eq!(by(&url, "big").await, scopes([(b"18446744073709551615", 9), (b"7", 7), (b"8", 8)]));
    assert_eq!(by(&url, "day").await, scopes([(b"2026-01-02", 9)]));
    assert_eq!(by(&url, "kind").await, scopes([(b"B", 8), (b"a", 9)]));
    assert_eq!(by(&url, "uuid").await, scopes([(b"0193b0d0-0000-7000-8000-000000000000", 9)]));
    assert_eq!(by(&url, "address").await, scopes([(b"::1", 9)]));
}

#[tokio::test]
async fn sqlite_tells_scopes_apart_by_their_bytes_whatever_the_column_holds_to_be_equal() {
    let folder = std::env::temp_dir().join(format!("mintage-keys-maxima-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    for encoding in ["UTF-8", "UTF-16"] {
        let file = folder.join(encoding);
        let connection = rusqlite::Connection::open(&file).unwrap();
        let sql = format!(
            "PRAGMA encoding = '{encoding}'; CREATE TABLE issue(number int, ci text COLLATE NOCASE, pad text COLLATE RTRIM, bytes blob, any);
             INSERT INTO issue VALUES (9, 'Web', 'a', x'576562', 42), (7, 'web', 'a ', x'ff00', '42'), (8, 'wéb', 'a', x'77', -7)"
        );
        connection.execute_batch(&sql).unwrap();
        drop(connection);
        let url = format!("sqlite:{}", file.display());
        assert_eq!(by(&url, "ci").await, scopes([(b"Web", 9), (b"web", 7), ("wéb".as_bytes(), 8)]));
        assert_eq!(by(&url, "pad").await, scopes([(b"a", 9), (b"a ", 7)]));
        assert_eq!(by(&url, "bytes").await, scopes([(b"Web", 9), (b"w", 8), (b"\xff\0", 7)]));
        assert_eq!(by(&url, "any").await, scopes([(b"-7", 8), (b"42", 9)]));
    }
    std::fs::remove_dir_all(folder).unwrap();
}
