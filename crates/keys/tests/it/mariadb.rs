//! MariaDB: traps, and what only a server can suffer. `DB` in the SQL stands for the database.

use crate::lint::wrong_as_text;
use crate::traps::{SCOPES, Trap, cut_after, nexts, said, wrong};
use mintage_keys::Report;
use mintage_keys::catalog::Dialect;
use mintage_keys::ignore::Ignore;
use mintage_keys::open::{Options, read};
use mintage_keys::report::Thresholds;
use mintage_testkit::servers::mariadb::MariaDb;

const TRAPS: &[Trap] = &[
    Trap {
        name: "a counter of a scope below its scope's largest number",
        sql: SCOPES,
        says: &[
            "DB.projects.id bigint(20) 3/9223372036854775807 max < column type bigint(20)",
            "! error scope-counter-behind DB.projects.last_issue_number",
        ],
    },
    Trap {
        name: "AUTO_INCREMENT, signed and unsigned",
        sql: "CREATE TABLE a(id int AUTO_INCREMENT PRIMARY KEY); CREATE TABLE b(id int unsigned AUTO_INCREMENT PRIMARY KEY) AUTO_INCREMENT = 4000000000;
              INSERT INTO a VALUES (DEFAULT), (DEFAULT), (DEFAULT); INSERT INTO b VALUES (DEFAULT)",
        says: &[
            "DB.a.id int(11) 3/2147483647 auto_increment < column type int(11)",
            "DB.b.id int(10) unsigned 4000000000/4294967295 auto_increment < column type int(10) unsigned",
            "! note numbers-burned DB.b.id",
        ],
    },
    Trap {
        name: "a full tinyint shows 256",
        sql: "CREATE TABLE a(id tinyint unsigned AUTO_INCREMENT PRIMARY KEY); INSERT INTO a VALUES (255)",
        says: &["DB.a.id tinyint(3) unsigned 255/255 auto_increment < column type tinyint(3) unsigned"],
    },
    Trap {
        name: "bigint unsigned",
        sql: "CREATE TABLE a(id bigint unsigned AUTO_INCREMENT PRIMARY KEY) AUTO_INCREMENT = 10000000000000000000",
        says: &["DB.a.id bigint(20) unsigned 9999999999999999999/18446744073709551615 auto_increment < column type bigint(20) unsigned"],
    },
    Trap {
        name: "mediumint and smallint",
        sql: "CREATE TABLE a(id mediumint AUTO_INCREMENT PRIMARY KEY); CREATE TABLE b(id smallint AUTO_INCREMENT PRIMARY KEY)",
        says: &[
            "DB.a.id mediumint(9) 0/8388607 auto_increment < column type mediumint(9)",
            "DB.b.id smallint(6) 0/32767 auto_increment < column type smallint(6)",
        ],
    },
    Trap {
        name: "numbers burned by INSERT IGNORE",
        sql: "CREATE TABLE a(id int AUTO_INCREMENT PRIMARY KEY, x int UNIQUE);
              INSERT IGNORE INTO a(x) VALUES (1), (1), (1); INSERT IGNORE INTO a(x) VALUES (1); INSERT IGNORE INTO a(x) VALUES (1)",
        says: &[
            "DB.a.id int(11) 5/2147483647 auto_increment < column type int(11)",
        ],
    },
    Trap {
        name: "foreign keys of InnoDB have the type of what they refer to",
        sql: "CREATE TABLE users(id bigint AUTO_INCREMENT PRIMARY KEY); CREATE TABLE orders(id bigint AUTO_INCREMENT PRIMARY KEY, user_id bigint, FOREIGN KEY (user_id) REFERENCES users(id))",
        says: &[
            "DB.orders.id bigint(20) 0/9223372036854775807 auto_increment < column type bigint(20)",
            "DB.users.id bigint(20) 0/9223372036854775807 auto_increment < column type bigint(20)",
        ],
    },
    Trap {
        name: "an undeclared copy",
        sql: "CREATE TABLE users(id bigint AUTO_INCREMENT PRIMARY KEY) AUTO_INCREMENT = 1800000001; CREATE TABLE logs(userId int, KEY (userId));
              INSERT INTO logs VALUES (1799999999)",
        says: &[
            "DB.users.id bigint(20) 1800000000/2147483647 auto_increment < DB.logs.userId int(11) (copy by name)",
            "! warning narrow-copy DB.logs.userId",
        ],
    },
    Trap {
        name: "an unsigned copy holds more than a signed one",
        sql: "CREATE TABLE users(id bigint AUTO_INCREMENT PRIMARY KEY) AUTO_INCREMENT = 1800000001;
              CREATE TABLE logs(user_id int unsigned, KEY (user_id)); INSERT INTO logs VALUES (1799999999)",
        says: &[
            "DB.users.id bigint(20) 1800000000/4294967295 auto_increment < DB.logs.user_id int(10) unsigned (copy by name)",
            "! warning narrow-copy DB.logs.user_id",
        ],
    },
    Trap {
        name: "a sequence with a cache shows where the next cached run begins",
        sql: "CREATE SEQUENCE s; SELECT NEXTVAL(s)",
        says: &["DB.s bigint 1000/9223372036854775806 sequence < sequence DB.s"],
    },
    Trap {
        name: "a sequence that was never used, and one that cycles",
        sql: "CREATE SEQUENCE s NOCACHE; CREATE SEQUENCE t MAXVALUE 100 CYCLE NOCACHE; SELECT NEXTVAL(t)",
        says: &[
            "DB.s bigint 0/9223372036854775806 sequence < sequence DB.s",
            "DB.t bigint 1/100 sequence < sequence DB.t",
            "! warning sequence-cycles DB.t",
        ],
    },
    Trap {
        name: "a sequence as a default",
        sql: "CREATE SEQUENCE s NOCACHE; CREATE TABLE a(id int PRIMARY KEY DEFAULT (NEXTVAL(s))); INSERT INTO a VALUES (DEFAULT), (DEFAULT)",
        says: &["DB.a.id int(11) 2/2147483647 sequence < column type int(11)"],
    },
    Trap {
        name: "a sequence behind its column",
        sql: "CREATE SEQUENCE s NOCACHE; CREATE TABLE a(id bigint PRIMARY KEY DEFAULT (NEXTVAL(s))); INSERT INTO a VALUES (DEFAULT), (50)",
        says: &[
            "DB.a.id bigint(20) 50/9223372036854775806 max < sequence DB.s",
            "! error sequence-behind DB.a.id",
        ],
    },
    Trap {
        name: "names with backticks, quotes and capitals",
        sql: "CREATE TABLE `My ``Table's \"`(`Id``\"` int AUTO_INCREMENT PRIMARY KEY)",
        says: &["DB.My `Table's \".Id`\" int(11) 0/2147483647 auto_increment < column type int(11)"],
    },
    Trap {
        name: "a generated column isn't a key",
        sql: "CREATE TABLE a(id bigint AUTO_INCREMENT PRIMARY KEY, x bigint, short_id int AS (x % 1000) STORED, UNIQUE (short_id))",
        says: &["DB.a.id bigint(20) 0/9223372036854775807 auto_increment < column type bigint(20)"],
    },
    Trap {
        name: "a random UUID by which rows are stored",
        sql: "CREATE TABLE a(id uuid PRIMARY KEY DEFAULT (uuid())); CREATE TABLE b(id char(36) PRIMARY KEY DEFAULT (uuid()));
              CREATE TABLE c(id binary(16) PRIMARY KEY DEFAULT (random_bytes(16)))",
        says: &[
            "! note id-as-text DB.b.id",
            "! warning random-clustered-key DB.c.id",
            "! warning uuid-v1-unswapped DB.b.id",
        ],
    },
    Trap {
        name: "base62 ids that ignore case",
        sql: "CREATE TABLE a(id varchar(21) PRIMARY KEY) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci;
              CREATE TABLE b(id varchar(21) CHARACTER SET ascii COLLATE ascii_bin PRIMARY KEY); CREATE TABLE c(email varchar(200) PRIMARY KEY)",
        says: &["! warning id-ignores-case DB.a.id"],
    },
    Trap {
        name: "AUTO_INCREMENT that isn't the primary key",
        sql: "CREATE TABLE a(uuid binary(16) PRIMARY KEY, nr smallint AUTO_INCREMENT, KEY (nr)) AUTO_INCREMENT = 32000",
        says: &[
            "DB.a.nr smallint(6) 31999/32767 auto_increment < column type smallint(6)",
            "! warning id-not-unique DB.a.nr",
        ],
    },
    Trap {
        name: "a key of two columns",
        sql: "CREATE TABLE a(tenant int, id bigint, PRIMARY KEY (tenant, id)); INSERT INTO a VALUES (3, 9)",
        says: &["DB.a.id bigint(20) ?/9223372036854775807 unknown: no index begins with it, and there are no statistics < column type bigint(20)","! note id-not-unique DB.a.id"],
    },
    Trap {
        name: "partitions are one table",
        sql: "CREATE TABLE a(id int AUTO_INCREMENT PRIMARY KEY) PARTITION BY HASH (id) PARTITIONS 4; INSERT INTO a VALUES (DEFAULT), (DEFAULT)",
        says: &["DB.a.id int(11) 2/2147483647 auto_increment < column type int(11)"],
    },
    Trap {
        name: "counters, and keys of 64 bits at their end",
        sql: "CREATE TABLE a(id bigint AUTO_INCREMENT PRIMARY KEY, view_count smallint unsigned NOT NULL DEFAULT 0, KEY (view_count))
              AUTO_INCREMENT = 9000000000000000000; INSERT INTO a(view_count) VALUES (60000)",
        says: &[
            "DB.a.id bigint(20) 9000000000000000000/9223372036854775807 auto_increment < column type bigint(20)",
            "! note numbers-burned DB.a.id",
            "! warning counter-full DB.a.view_count",
        ],
    },
    Trap {
        name: "MyISAM and views",
        sql: "CREATE TABLE a(id int AUTO_INCREMENT PRIMARY KEY) ENGINE = MyISAM; INSERT INTO a VALUES (DEFAULT); CREATE VIEW v AS SELECT id FROM a",
        says: &["DB.a.id int(11) 1/2147483647 auto_increment < column type int(11)"],
    },
];

#[tokio::test]
async fn every_trap_is_seen_for_what_it_is() {
    let Some(server) = MariaDb::shared() else { return };
    let mut wrongs = Vec::new();
    for trap in TRAPS {
        let database = server.database();
        if let Err(error) = server.query(&database, trap.sql) {
            wrongs.push(format!("{}: {error}", trap.name));
            continue;
        }
        let mut catalog = read(&server.url(&database), &Options::default()).await.unwrap();
        for table in &mut catalog.tables {
            table.schema = table.schema.replace(&database, "DB");
        }
        for sequence in &mut catalog.sequences {
            sequence.schema = sequence.schema.replace(&database, "DB");
        }
        wrongs.extend(wrong(trap, &catalog));
        let definitions = server.definitions(&database).unwrap().replace(&format!("`{database}`."), "");
        for next in nexts(&catalog) {
            if let Err(error) = server.query(&database, &next.replace("`DB`.", "")) {
                wrongs.push(format!("{}: {next}\n    {error}", trap.name));
            }
        }
        // A dump of one database doesn't name it.
        for table in &mut catalog.tables {
            table.schema.clear();
        }
        for sequence in &mut catalog.sequences {
            sequence.schema.clear();
        }
        wrongs.extend(wrong_as_text(trap, &catalog, &definitions, Dialect::MariaDb));
    }
    assert!(wrongs.is_empty(), "{} traps:\n{}", wrongs.len(), wrongs.join("\n"));
}

#[tokio::test]
async fn what_a_cached_sequence_shows_is_close_and_not_exact() {
    let Some(server) = MariaDb::shared() else { return };
    let database = server.database();
    let sql = "CREATE SEQUENCE cached; SELECT NEXTVAL(cached); CREATE SEQUENCE fresh; CREATE SEQUENCE plain NOCACHE; SELECT NEXTVAL(plain)";
    server.query(&database, sql).unwrap();
    let catalog = read(&server.url(&database), &Options::default()).await.unwrap();
    let report = Report::of(&catalog, Thresholds::default(), &Ignore::default());
    let of = |name: &str| report.keys.iter().find(|key| key.path().ends_with(name)).unwrap().confidence;
    assert_eq!((of(".cached"), of(".fresh"), of(".plain")), ("close", "exact", "exact"));
}

#[tokio::test]
async fn counters_in_floating_point_end_where_whole_numbers_do() {
    let Some(server) = MariaDb::shared() else { return };
    let database = server.database();
    let sql = "CREATE TABLE a(id float AUTO_INCREMENT PRIMARY KEY) AUTO_INCREMENT = 15000001; CREATE TABLE b(id double AUTO_INCREMENT PRIMARY KEY)";
    server.query(&database, sql).unwrap();
    let lines = said(&read(&server.url(&database), &Options::default()).await.unwrap());
    assert_eq!(
        lines.iter().map(|line| line.replace(&database, "DB")).collect::<Vec<_>>(),
        [
            "DB.a.id float 15000000/16777215 auto_increment < column type float",
            "DB.b.id double 0/9007199254740991 auto_increment < column type double",
        ]
    );
}

#[tokio::test]
async fn looking_takes_no_number() {
    let Some(server) = MariaDb::shared() else { return };
    let database = server.database();
    server
        .query(
            &database,
            "CREATE SEQUENCE s NOCACHE; SELECT NEXTVAL(s); CREATE TABLE a(id int AUTO_INCREMENT PRIMARY KEY)",
        )
        .unwrap();
    for _ in 0..3 {
        said(&read(&server.url(&database), &Options::default()).await.unwrap());
    }
    assert_eq!(server.query(&database, "SELECT NEXTVAL(s)").unwrap(), "2");
}

#[tokio::test]
async fn a_locked_table_is_named_and_passed_over() {
    let Some(server) = MariaDb::shared() else { return };
    let database = server.database();
    server.query(&database, "CREATE TABLE a(id int AUTO_INCREMENT PRIMARY KEY); INSERT INTO a VALUES (7); CREATE TABLE b(id int PRIMARY KEY); INSERT INTO b VALUES (4); CREATE TABLE c(id int PRIMARY KEY)").unwrap();
    let mut locker = std::process::Command::new("mariadb")
        .args(["--no-defaults", "-u", "root", "-h", "127.0.0.1", "-P", &server.port().to_string(), &database])
        .args(["-e", "LOCK TABLES a WRITE, c WRITE; SELECT SLEEP(60)"])
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let is_locked = "SELECT count(*) FROM information_schema.PROCESSLIST WHERE INFO LIKE '%SLEEP(60)%' AND INFO NOT LIKE '%PROCESSLIST%'";
    while server.query(&database, is_locked).unwrap() == "0" {}
    let (url, options) = (server.url(&database), Options::default());
    let catalog = tokio::time::timeout(std::time::Duration::from_secs(8), read(&url, &options)).await;
    locker.kill().unwrap();
    locker.wait().unwrap();
    let lines = said(&catalog.unwrap().unwrap());
    assert!(
        lines.iter().any(|line| line.starts_with("! warning passed-over") && line.ends_with(".a")),
        "{lines:#?}"
    );
    assert!(lines.iter().any(|line| line.contains(".b.id int(11) 4/")), "{lines:#?}");
    // The counter is shown all the same; what only the rows could tell isn't known.
    assert!(lines.iter().any(|line| line.contains(".a.id int(11) 7/")), "{lines:#?}");
    assert!(lines.iter().any(|line| line.contains(".c.id int(11) ?/")), "{lines:#?}");
}

#[tokio::test]
async fn a_wrong_password_or_address_never_shows_the_password() {
    let Some(server) = MariaDb::shared() else { return };
    for url in [
        format!("mysql://nobody:secret@127.0.0.1:{}/x", server.port()),
        "mysql://nobody:secret@127.0.0.1:1/x".to_owned(),
        "mariadb://nobody:secret@:bad/x".to_owned(),
    ] {
        let error = read(&url, &Options::default()).await.unwrap_err();
        assert!(!format!("{error} {error:?}").contains("secret"), "{error}");
    }
}

#[tokio::test]
async fn the_server_is_the_one_that_the_url_names_and_no_socket_beside_it() {
    let Some(server) = MariaDb::shared() else { return };
    let database = server.database();
    server.query(&database, "CREATE TABLE a(id int AUTO_INCREMENT PRIMARY KEY)").unwrap();
    // Whatever went past the way would go on after its end.
    for (bytes, is_lost) in [(0, true), (50, true), (700, true), (1_500, true), (u64::MAX, false)] {
        let way = cut_after(server.port(), bytes);
        let url = server.url(&database).replace(&format!(":{}/", server.port()), &format!(":{way}/"));
        match read(&url, &Options::default()).await {
            Err(mintage_keys::Error::Lost { .. }) if is_lost => {}
            Ok(_) if !is_lost => {}
            other => panic!("after {bytes} bytes: {other:?}"),
        }
    }
}
