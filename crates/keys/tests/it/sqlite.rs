//! SQLite: traps.

use crate::lint::wrong_as_text;
use crate::traps::{SCOPES, Trap, said, wrong};
use mintage_keys::catalog::Dialect;
use mintage_keys::open::{Options, read};

const TRAPS: &[Trap] = &[
    Trap {
        name: "a counter of a scope below its scope's largest number",
        sql: SCOPES,
        says: &[
            "main.projects.id BIGINT 3/9223372036854775807 max < column type BIGINT",
            "! error scope-counter-behind main.projects.last_issue_number",
        ],
    },
    Trap {
        name: "a row's own number, with AUTOINCREMENT and without",
        sql: "CREATE TABLE a(id INTEGER PRIMARY KEY); CREATE TABLE b(id INTEGER PRIMARY KEY AUTOINCREMENT); CREATE TABLE c(id INTEGER PRIMARY KEY AUTOINCREMENT);
              INSERT INTO a VALUES (7); INSERT INTO b VALUES (90); DELETE FROM b",
        says: &[
            "main.a.id INTEGER 7/9223372036854775807 max < column type INTEGER",
            "main.b.id INTEGER 90/9223372036854775807 auto_increment < column type INTEGER",
            "main.c.id INTEGER 0/9223372036854775807 auto_increment < column type INTEGER",
        ],
    },
    Trap {
        name: "INT PRIMARY KEY isn't the row's number; the width of its type doesn't matter",
        sql: "CREATE TABLE a(id SMALLINT PRIMARY KEY); INSERT INTO a VALUES (3000000000)",
        says: &["main.a.id SMALLINT 3000000000/9223372036854775807 max < column type SMALLINT"],
    },
    Trap {
        name: "text in an integer column is no number",
        sql: "CREATE TABLE a(id INT PRIMARY KEY); INSERT INTO a VALUES (5), ('zzz')",
        says: &["main.a.id INT 5/9223372036854775807 max < column type INT"],
    },
    Trap {
        name: "an id near the end",
        sql: "CREATE TABLE a(id INTEGER PRIMARY KEY); INSERT INTO a VALUES (9223372036854775807)",
        says: &["main.a.id INTEGER 9223372036854775807/9223372036854775807 max < column type INTEGER"],
    },
    Trap {
        name: "quotes in names",
        sql: "CREATE TABLE \"a'\"\"b\"(\"i\"\"d\" INTEGER PRIMARY KEY); INSERT INTO \"a'\"\"b\" VALUES (2)",
        says: &["main.a'\"b.i\"d INTEGER 2/9223372036854775807 max < column type INTEGER"],
    },
    Trap {
        name: "random ids by which rows are stored, and case that is ignored",
        sql: "CREATE TABLE a(id BLOB PRIMARY KEY DEFAULT (randomblob(16))) WITHOUT ROWID; CREATE TABLE b(id TEXT COLLATE NOCASE PRIMARY KEY);
              CREATE TABLE c(id CHAR(36) PRIMARY KEY)",
        says: &[
            "! warning random-clustered-key main.a.id",
            "! warning id-ignores-case main.b.id",
            "! note id-as-text main.c.id",
        ],
    },
    Trap {
        name: "views, virtual and generated columns",
        sql: "CREATE TABLE a(id INTEGER PRIMARY KEY, k INTEGER GENERATED ALWAYS AS (id * 2) STORED UNIQUE); CREATE VIEW v AS SELECT id FROM a",
        says: &["main.a.id INTEGER 0/9223372036854775807 max < column type INTEGER"],
    },
];

#[tokio::test]
async fn every_trap_is_seen_for_what_it_is() {
    let folder = std::env::temp_dir().join(format!("mintage-keys-sqlite-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let mut wrongs = Vec::new();
    for (number, trap) in TRAPS.iter().enumerate() {
        let file = folder.join(format!("{number}.db"));
        let connection = rusqlite::Connection::open(&file).unwrap();
        connection.execute_batch(trap.sql).unwrap_or_else(|error| panic!("{}: {error}", trap.name));
        drop(connection);
        let before = std::fs::read(&file).unwrap();
        let catalog = read(&format!("sqlite:{}", file.display()), &Options::default()).await.unwrap();
        assert_eq!(std::fs::read(&file).unwrap(), before, "{}: the file was written to", trap.name);
        wrongs.extend(wrong(trap, &catalog));
        wrongs.extend(wrong_as_text(trap, &catalog, trap.sql, Dialect::Sqlite));
    }
    assert!(wrongs.is_empty(), "{} traps:\n{}", wrongs.len(), wrongs.join("\n"));
    let text = folder.join("text");
    std::fs::write(
        &text,
        "not a database, but long enough to be looked at as if it were one, and refused as it is none",
    )
    .unwrap();
    let error = read(&format!("sqlite:{}", text.display()), &Options::default()).await.unwrap_err();
    assert!(error.to_string().contains("not a database"), "{error}");
    assert!(
        read("sqlite:/nowhere/x.db", &Options::default())
            .await
            .unwrap_err()
            .to_string()
            .contains("no such file")
    );
    assert!(!std::path::Path::new("/nowhere").exists());
    said(&mintage_keys::Catalog::of(Dialect::Sqlite));
    std::fs::remove_dir_all(folder).unwrap();
}
