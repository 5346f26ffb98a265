//! Definitions in text: what dumps of real servers say, migrations, and input that means harm.

use crate::traps::Trap;
use mintage_keys::Catalog;
use mintage_keys::catalog::text::{Read, Source, read};
use mintage_keys::catalog::{Dialect, Feed, Kind};
use mintage_keys::ignore::Ignore;
use mintage_keys::report::Lint;
use std::collections::BTreeSet;

/// What a catalog of definitions gets wrong beside that of the server which wrote them; `None` when it agrees.
pub(crate) fn wrong_as_text(trap: &Trap, server: &Catalog, text: &str, dialect: Dialect) -> Option<String> {
    let source = Source { file: "dump.sql".to_owned(), text: text.to_owned() };
    let read = read(&[source], Some(dialect));
    if !read.skipped.is_empty() {
        return Some(format!("{}: not read: {:#?}", trap.name, read.skipped));
    }
    let (expected, found) = (facts(server, server), facts(&read.catalog, server));
    let only = |a: &BTreeSet<String>, b: &BTreeSet<String>, sign: &str| -> String {
        a.difference(b).map(|line| format!("    {sign} {line:?}\n")).collect()
    };
    let wrong = only(&expected, &found, "missing") + &only(&found, &expected, "also");
    (!wrong.is_empty()).then(|| format!("{} as text:\n{wrong}", trap.name))
}

/// What is defined, a line each, of the columns that a server's catalog has.
fn facts(catalog: &Catalog, server: &Catalog) -> BTreeSet<String> {
    let known: BTreeSet<String> = server.columns().map(|(at, ..)| server.path(at)).collect();
    let mut facts = BTreeSet::new();
    let sequence = |index: usize| &catalog.sequences[index].name;
    for table in &catalog.tables {
        let parent = table.parent.map(|parent| &catalog.tables[parent].name);
        facts.insert(format!("{}.{} {:?} of {parent:?}", table.schema, table.name, table.kind));
        for index in table.indexes.iter().filter(|index| index.is_unique) {
            let flags = (index.is_primary, index.is_partial);
            facts.insert(format!("{}.{} unique {:?} {flags:?}", table.schema, table.name, index.columns));
        }
    }
    for (at, _, column) in catalog.columns().filter(|(at, ..)| known.contains(&catalog.path(*at))) {
        let feed = match &column.feed {
            Feed::Sequence { sequence: index, is_identity, is_default } => {
                format!("{} {is_identity} {is_default}", sequence(*index))
            }
            Feed::Derived { sequence: index } => format!("derived of {}", sequence(*index)),
            Feed::AutoIncrement { .. } => "counter".to_owned(),
            other => format!("{other:?}"),
        };
        // A server's texts have limits in bytes too.
        let kind = if matches!(column.kind, Kind::Bytes { .. } | Kind::Text { longest: None }) {
            ""
        } else {
            &*format!("{:?}", column.kind)
        };
        facts.insert(format!(
            "{} {kind} {} generated {} ignores case {} fed by {feed}",
            catalog.path(at),
            column.declared,
            column.is_generated,
            column.ignores_case
        ));
    }
    for sequence in &catalog.sequences {
        let owner = sequence.owner.map(|at| catalog.path(at));
        facts.insert(format!(
            "{}.{} {} {}..{} by {} from {} cycles {} of {owner:?}",
            sequence.schema,
            sequence.name,
            sequence.declared,
            sequence.min,
            sequence.max,
            sequence.increment,
            sequence.start,
            sequence.cycles
        ));
    }
    for key in &catalog.foreign_keys {
        let pairs: Vec<String> =
            key.pairs.iter().map(|(a, b)| format!("{} → {}", catalog.path(*a), catalog.path(*b))).collect();
        facts.insert(pairs.join(", "));
    }
    facts
}

/// Files called 1.sql, 2.sql, …
fn read_files(texts: &[&str], dialect: Option<Dialect>) -> Read {
    let source = |(number, text): (usize, &&str)| Source {
        file: format!("{}.sql", number + 1),
        text: (*text).to_owned(),
    };
    read(&texts.iter().enumerate().map(source).collect::<Vec<_>>(), dialect)
}

/// `FILE:LINE SEVERITY CODE PATH` of each finding, and `FILE:LINE not read` of each statement that wasn't.
fn said(texts: &[&str], dialect: Option<Dialect>) -> Vec<String> {
    let lint = Lint::of(read_files(texts, dialect), texts.len(), &Ignore::default());
    let mut lines: Vec<String> = lint
        .findings
        .iter()
        .map(|finding| {
            let place = finding.place.as_ref().unwrap();
            let path = [Some(&finding.schema), finding.table.as_ref(), finding.column.as_ref()];
            let path: Vec<&str> =
                path.into_iter().flatten().map(String::as_str).filter(|part| !part.is_empty()).collect();
            format!(
                "{}:{} {} {} {}",
                place.file,
                place.line,
                finding.severity.name(),
                finding.code,
                path.join(".")
            )
        })
        .collect();
    lines.extend(
        lint.skipped.iter().map(|skipped| {
            format!("{}:{} not read: {}", skipped.place.file, skipped.place.line, skipped.why)
        }),
    );
    lines.sort();
    lines
}

#[test]
fn migrations_take_effect_one_after_the_other() {
    let first = "-- users and their orders\nCREATE TABLE users (\n  id serial PRIMARY KEY,\n  name text\n);\n\nCREATE TABLE orders (\n  id bigserial,\n  \
                 user_id integer NOT NULL REFERENCES users,\n  note text\n);\n";
    assert_eq!(
        said(&[first], None),
        [
            "1.sql:3 warning int4-primary-key public.users.id",
            "1.sql:8 warning id-not-unique public.orders.id"
        ]
    );
    // The key is widened, its reference isn't, and neither is the sequence of a serial column.
    let second =
        "ALTER TABLE orders ADD PRIMARY KEY (id);\nALTER TABLE users\n  ALTER COLUMN id TYPE bigint;";
    assert_eq!(
        said(&[first, second], None),
        [
            "1.sql:9 warning narrow-foreign-key public.orders.user_id",
            "2.sql:3 warning sequence-narrow public.users.id",
        ]
    );
    let third = "ALTER SEQUENCE users_id_seq AS bigint; ALTER TABLE orders RENAME COLUMN user_id TO buyer_id;\nALTER TABLE orders RENAME TO sales;
                 ALTER TABLE sales ALTER buyer_id SET DATA TYPE int8, DROP COLUMN note;";
    assert_eq!(said(&[first, second, third], None), Vec::<String>::new());
    let fourth = "DROP TABLE sales; CREATE TABLE logs(id bigint GENERATED ALWAYS AS IDENTITY UNIQUE, user_id int, user_ids int[]);";
    assert_eq!(
        said(&[first, second, third, fourth], None),
        ["4.sql:1 note narrow-copy public.logs.user_id", "4.sql:1 note narrow-copy public.logs.user_ids"]
    );
}

#[test]
fn a_key_of_32_bits_counts_whatever_fills_it() {
    let text = "CREATE TABLE w(id int PRIMARY KEY);\nCREATE TABLE hashes(h int PRIMARY KEY);\nCREATE TABLE kinds(id smallint PRIMARY KEY);
        CREATE TABLE x(w_id int PRIMARY KEY REFERENCES w);\nCREATE TABLE y(nr int PRIMARY KEY);\nCREATE TABLE z(nr int REFERENCES y);\nCREATE TABLE l(a int, b int, PRIMARY KEY (a, b));";
    assert_eq!(
        said(&[text], Some(Dialect::Postgres)),
        [
            "1.sql:1 warning int4-primary-key public.w.id",
            "1.sql:2 note int4-primary-key public.hashes.h",
            "1.sql:5 warning int4-primary-key public.y.nr",
        ]
    );
}

#[test]
fn a_changeset_ends_what_stands_before_it() {
    let text = "--liquibase formatted sql\n\n--changeset a:3 splitStatements:false\nCREATE FUNCTION f() RETURNS int LANGUAGE plpgsql AS $$ BEGIN RETURN 1; \
                END $$\n\n--changeset a:4\nCREATE TABLE t(id serial PRIMARY KEY)\n--rollback DROP TABLE t;\n-- changeset b:5\nCREATE TABLE u(id serial PRIMARY KEY);";
    assert_eq!(
        said(&[text], Some(Dialect::Postgres)),
        ["1.sql:10 warning int4-primary-key public.u.id", "1.sql:7 warning int4-primary-key public.t.id"]
    );
    let mysql = "--liquibase formatted sql\n--changeset a:1\nCREATE TABLE t(id int AUTO_INCREMENT PRIMARY KEY)\n--changeset a:2\nCREATE TABLE u(id int AUTO_INCREMENT PRIMARY KEY);";
    assert_eq!(said(&[mysql], Some(Dialect::MySql)).len(), 2, "{:?}", said(&[mysql], Some(Dialect::MySql)));
}

#[test]
fn constraints_and_indexes_come_and_go_by_their_names() {
    for (text, is_unique) in [
        ("CREATE TABLE a(id bigserial); CREATE UNIQUE INDEX i ON a (id);", true),
        ("CREATE TABLE a(id bigserial); CREATE UNIQUE INDEX i ON a (id) WHERE id > 5;", false),
        ("CREATE TABLE a(id bigserial); CREATE UNIQUE INDEX i ON a ((id + 1));", false),
        ("CREATE TABLE a(id bigserial); CREATE UNIQUE INDEX i ON a (id); DROP INDEX i;", false),
        ("CREATE TABLE a(id bigserial CONSTRAINT u UNIQUE); ALTER TABLE a DROP CONSTRAINT u;", false),
        ("CREATE TABLE a(id bigserial UNIQUE); ALTER TABLE a DROP CONSTRAINT a_id_key;", false),
        (
            "CREATE TABLE a(id bigserial); CREATE UNIQUE INDEX i ON a (id); ALTER TABLE a ADD CONSTRAINT p PRIMARY KEY USING INDEX i;",
            true,
        ),
        (
            "CREATE TABLE a(owner bigserial); ALTER TABLE a RENAME owner TO id; ALTER TABLE a ADD UNIQUE (id);",
            true,
        ),
        ("CREATE TABLE a(id bigserial); ALTER TABLE a ADD UNIQUE (id), OWNER TO app;", true),
        ("CREATE TABLE b(id bigserial); ALTER TABLE b RENAME TO a; ALTER TABLE a ADD UNIQUE (id);", true),
        ("CREATE SCHEMA x; CREATE TABLE x.b(id bigserial); DROP SCHEMA x CASCADE;", true),
        (
            "SET search_path = app, public; CREATE TABLE a(id bigserial); SET search_path TO public; ALTER TABLE app.a ADD UNIQUE (id);",
            true,
        ),
        (
            "SET search_path TO app, public; CREATE TABLE a(id bigserial); ALTER TABLE app.a ADD UNIQUE (id);",
            true,
        ),
        (
            "CREATE TABLE a(id bigserial); ALTER TABLE IF EXISTS ONLY a SET SCHEMA \"App\"; ALTER TABLE \"App\".a ADD UNIQUE (id); \
             ALTER SEQUENCE \"App\".a_id_seq CACHE 5;",
            true,
        ),
        (
            "CREATE SEQUENCE s; ALTER SEQUENCE s SET SCHEMA app; CREATE TABLE a(id bigint UNIQUE DEFAULT nextval('app.s'));",
            true,
        ),
        (
            "CREATE TABLE b(id bigserial PRIMARY KEY); CREATE TABLE a(LIKE b INCLUDING ALL EXCLUDING INDEXES, x int);",
            false,
        ),
        (
            "CREATE TABLE b(id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY); CREATE TABLE a(x int, LIKE b INCLUDING ALL);",
            true,
        ),
        ("CREATE TABLE b(id bigserial PRIMARY KEY); CREATE TABLE a(LIKE b INCLUDING INDEXES);", true),
        (
            "CREATE TABLE a(id bigserial); ALTER TABLE ONLY a ADD CONSTRAINT p PRIMARY KEY (id) WITH (fillfactor='70');",
            true,
        ),
        (
            "CREATE TABLE a(id bigserial, PRIMARY KEY (id) WITH (fillfactor=70), CHECK (id > 0) NOT VALID) WITH (fillfactor=70);",
            true,
        ),
        ("CREATE TABLE a(id bigserial); CREATE UNIQUE INDEX i ON ONLY a USING btree (id);", true),
        (
            r#"CREATE TABLE "A"("Id" bigserial); ALTER TABLE "A" ADD UNIQUE ("Id"); CREATE TABLE IF NOT EXISTS "A"(id int);"#,
            true,
        ),
    ] {
        let said = said(&[text], Some(Dialect::Postgres));
        assert!(
            if is_unique { said.is_empty() } else { said.len() == 1 && said[0].contains("id-not-unique") },
            "{text}: {said:?}"
        );
    }
}

#[test]
fn each_dialect_has_its_own_narrow_keys() {
    let mysql = "CREATE TABLE users(id bigint unsigned AUTO_INCREMENT PRIMARY KEY) ENGINE=InnoDB;
        CREATE TABLE orders(id int NOT NULL AUTO_INCREMENT, user_id int unsigned, PRIMARY KEY (id), KEY k (user_id));
        CREATE TABLE links(id varchar(21) PRIMARY KEY) DEFAULT CHARSET=utf8mb4;
        CREATE TABLE things(id binary(16) NOT NULL DEFAULT (random_bytes(16)), PRIMARY KEY (id));
        ALTER TABLE orders MODIFY COLUMN id bigint NOT NULL AUTO_INCREMENT;";
    assert_eq!(
        said(&[mysql], None),
        [
            "1.sql:2 note narrow-copy orders.user_id",
            "1.sql:3 warning id-ignores-case links.id",
            "1.sql:4 warning random-clustered-key things.id",
        ]
    );
    let sqlite = "CREATE TABLE a(id INTEGER PRIMARY KEY AUTOINCREMENT, x smallint); CREATE TABLE b(id VARCHAR(36) PRIMARY KEY) WITHOUT ROWID;
        CREATE TABLE c(id TEXT COLLATE NOCASE PRIMARY KEY);";
    assert_eq!(
        said(&[sqlite], None),
        ["1.sql:1 note id-as-text main.b.id", "1.sql:2 warning id-ignores-case main.c.id"]
    );
    let cycling = "CREATE SEQUENCE s\n  MAXVALUE 100 CYCLE;";
    assert_eq!(said(&[cycling], None), ["1.sql:1 warning sequence-cycles public.s"]);
}

#[test]
fn what_cant_be_read_is_named_and_the_rest_is_read() {
    let text = "CREATE TABLE a(id serial PRIMARY KEY);\nCREATE TABLE b(id int PRIMARY KEY,,);\nFROB x;\nALTER TABLE nowhere ADD id int;\n\\ir other.sql\n\
                DO $$ BEGIN EXECUTE 'CREATE TABLE z(id int)'; END $$;\nINSERT INTO a VALUES (1);\nCREATE VIEW v AS SELECT 1;\nCREATE TABLE c(id 'x";
    let said = said(&[text], Some(Dialect::Postgres));
    let begins: Vec<&str> = said.iter().map(|line| line.split(": ").next().unwrap()).collect();
    assert_eq!(
        begins,
        [
            "1.sql:1 warning int4-primary-key public.a.id",
            "1.sql:2 not read",
            "1.sql:3 not read",
            "1.sql:4 not read",
            "1.sql:5 not read",
            "1.sql:6 not read",
            "1.sql:9 not read",
        ],
        "{said:#?}"
    );
    assert!(said[3].contains("nowhere isn't defined in what was read"), "{said:#?}");
}

#[test]
fn input_that_means_harm_is_read_to_its_end() {
    let mut inputs: Vec<String> = [
        "",
        ";",
        ";;;",
        "\0",
        "'",
        "\"",
        "`",
        "$$",
        "$a$",
        "/*",
        "--",
        "\\",
        "E'\\",
        "CREATE",
        "CREATE TABLE",
        "CREATE TABLE a(",
        "ALTER TABLE",
        "CREATE TABLE \"\"(\"\" int)",
        "CREATE TABLE a(\0 int)",
        "CREATE SEQUENCE s INCREMENT 0",
        "CREATE SEQUENCE s MINVALUE 99999999999999999999999",
        "DELIMITER",
        "DELIMITER \n;",
        "/*!",
        "/*!40101",
        "COPY a FROM stdin;",
        "CREATE TABLE a(id int, id int, PRIMARY KEY (id), PRIMARY KEY (id))",
        "CREATE TABLE a(b int REFERENCES a); DROP TABLE a; ALTER TABLE a ADD c int",
        "CREATE TABLE a() INHERITS (a)",
        "CREATE TABLE a PARTITION OF a DEFAULT",
        "CREATE TABLE a(id serial); ALTER TABLE a RENAME TO \"\"; DROP TABLE \"\"",
        "CREATE DOMAIN d AS d; CREATE TABLE a(id d)",
        "\u{feff}CREATE TABLE ä(ö int)",
        "CREATE FUNCTION f() BEGIN BEGIN BEGIN;",
        "-- migrate:down",
        "CREATE TABLE a(x numeric(99999999999,-5))",
    ]
    .map(str::to_owned)
    .to_vec();
    let nested = |open: &str, close: &str, times: usize| {
        format!("CREATE TABLE a(b int CHECK ({}1{}));", open.repeat(times), close.repeat(times))
    };
    for times in [20, 24, 40_000] {
        for (open, close) in [
            ("(", ")"),
            ("f(", ")"),
            ("CASE WHEN ", " THEN 1 END"),
            ("NOT ", ""),
            ("- ", ""),
            ("ARRAY[", "]"),
            ("(SELECT ", ")"),
        ] {
            inputs.push(nested(open, close, times));
        }
    }
    inputs.push(format!("CREATE TABLE a(b int DEFAULT 1{})", " + 1".repeat(25_000)));
    inputs.push(format!("CREATE TABLE a(b int{})", "[]".repeat(20_000)));
    inputs.push("/*".repeat(200_000));
    inputs.push("$a$".repeat(99_999));
    inputs.push("(".repeat(1_000_000));
    for dialect in [Dialect::Postgres, Dialect::MySql, Dialect::MariaDb, Dialect::Sqlite] {
        for input in &inputs {
            let lint = Lint::of(read_files(&[input], Some(dialect)), 1, &Ignore::default());
            assert!(lint.json().starts_with('{') && !lint.text(Default::default()).is_empty());
        }
    }
}

#[test]
fn ten_megabytes_take_seconds() {
    let row = format!("INSERT INTO a VALUES ('{}');\n", "x''".repeat(300));
    for text in [
        row.repeat(11_000),
        format!("SELECT '{}", "a;".repeat(5_000_000)),
        "\n".repeat(10_000_000),
        "a ".repeat(5_000_000),
    ] {
        read_files(&[&text], Some(Dialect::Postgres));
    }
}
