//! Sequences beside their columns, and their repair, on real servers.

use mintage_keys::open::Options;
use mintage_keys::sequences::standing::{Standing, Verdict};
use mintage_keys::sequences::witness::Witness;
use mintage_keys::sequences::{Demand, Outlook, check, fix};
use mintage_testkit::servers::mariadb::MariaDb;
use mintage_testkit::servers::postgres::Postgres;
use std::time::Duration;
use tokio_postgres::Client;

/// A state of sequences, what is said of it, and what a repair comes to.
struct Case {
    name: &'static str,
    sql: &'static str,
    gap: u64,
    witness: &'static str,
    /// A line each: see [`said`].
    finds: &'static [&'static str],
    /// The same after a repair.
    fixed: &'static [&'static str],
    /// Inserts that must go well after the repair, and what they give.
    then: &'static str,
    gives: &'static str,
}

const PLAIN: Case =
    Case { name: "", sql: "", gap: 0, witness: "", finds: &[], fixed: &[], then: "", gives: "" };

const CASES: &[Case] = &[
    Case {
        name: "serial and identity behind rows that brought their ids",
        sql: "CREATE TABLE a(id serial PRIMARY KEY); INSERT INTO a VALUES (7), (100);
              CREATE TABLE b(id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY); INSERT INTO b OVERRIDING SYSTEM VALUE VALUES (5)",
        finds: &["public.a_id_seq behind:Column next 1 to 100", "public.b_id_seq behind:Column next 1 to 5"],
        fixed: &["public.a_id_seq fine next 101 was 1 (not yet given out)", "public.b_id_seq fine next 6 was 1 (not yet given out)"],
        then: "INSERT INTO a DEFAULT VALUES; INSERT INTO b DEFAULT VALUES; SELECT max(a.id), max(b.id) FROM a, b",
        gives: "101|6",
        ..PLAIN
    },
    Case {
        name: "all is well, and stays as it is",
        sql: "CREATE TABLE a(id serial PRIMARY KEY); INSERT INTO a SELECT FROM generate_series(1, 9); CREATE TABLE b(id serial PRIMARY KEY)",
        finds: &["public.a_id_seq fine next 10", "public.b_id_seq fine next 1"],
        fixed: &["public.a_id_seq fine next 10", "public.b_id_seq fine next 1"],
        then: "INSERT INTO a DEFAULT VALUES; INSERT INTO b DEFAULT VALUES; SELECT max(a.id), max(b.id) FROM a, b",
        gives: "10|1",
        ..PLAIN
    },
    Case {
        name: "an unowned sequence that several columns share: the furthest counts",
        sql: "CREATE SEQUENCE s; CREATE TABLE a(id int PRIMARY KEY DEFAULT nextval('s')); CREATE TABLE b(id bigint PRIMARY KEY DEFAULT nextval('s'));
              INSERT INTO a VALUES (40); INSERT INTO b VALUES (60); SELECT setval('s', 50)",
        finds: &["public.s behind:Column next 51 to 60"],
        fixed: &["public.s fine next 61 was 50"],
        ..PLAIN
    },
    Case {
        name: "a descending sequence",
        sql: "CREATE SEQUENCE s INCREMENT -1; CREATE TABLE a(id int PRIMARY KEY DEFAULT nextval('s')); INSERT INTO a VALUES (-7);
              SELECT setval('s', -3)",
        finds: &["public.s behind:Column next -4 to -7"],
        fixed: &["public.s fine next -8 was -3"],
        ..PLAIN
    },
    Case {
        name: "a restart to a value far ahead, not given out yet",
        sql: "CREATE TABLE a(id serial PRIMARY KEY); INSERT INTO a VALUES (5); ALTER SEQUENCE a_id_seq RESTART WITH 1000",
        finds: &["public.a_id_seq fine next 1000"],
        fixed: &["public.a_id_seq fine next 1000"],
        ..PLAIN
    },
    Case {
        name: "odd and even servers keep their steps",
        sql: "CREATE SEQUENCE s INCREMENT 2; CREATE TABLE a(id int PRIMARY KEY DEFAULT nextval('s')); INSERT INTO a VALUES (60);
              CREATE SEQUENCE t INCREMENT 2; CREATE TABLE b(id int PRIMARY KEY DEFAULT nextval('t')); INSERT INTO b VALUES (61)",
        finds: &["public.s fine next 1", "public.t behind:Column next 1 to 61"],
        fixed: &["public.s fine next 1", "public.t fine next 63 was 1 (not yet given out)"],
        ..PLAIN
    },
    Case {
        name: "a row of one's own below those of another server",
        sql: "CREATE SEQUENCE s INCREMENT 2; CREATE TABLE a(id int PRIMARY KEY DEFAULT nextval('s')); INSERT INTO a VALUES (59), (60);
              CREATE SEQUENCE d INCREMENT -2; CREATE TABLE b(id int PRIMARY KEY DEFAULT nextval('d')); INSERT INTO b VALUES (-59), (-60)",
        finds: &["public.d behind:Column next -1 to -59", "public.s behind:Column next 1 to 59"],
        fixed: &[
            "public.d fine next -63 was -1 (not yet given out)",
            "public.s fine next 63 was 1 (not yet given out)",
        ],
        ..PLAIN
    },
    Case {
        name: "names that would break out of SQL",
        sql: "DO $$BEGIN EXECUTE format('CREATE TABLE %I(%I serial PRIMARY KEY)', E'a\"b''c\\n;--', E'x\"\\ty'); END$$;
              DO $$BEGIN EXECUTE format('INSERT INTO %I VALUES (9)', E'a\"b''c\\n;--'); END$$",
        finds: &["public.a\"b'c\n;--_x\"\ty_seq behind:Column next 1 to 9"],
        fixed: &["public.a\"b'c\n;--_x\"\ty_seq fine next 10 was 1 (not yet given out)"],
        ..PLAIN
    },
    Case {
        name: "partitions, with a default and as identity, and a child",
        sql: "CREATE TABLE a(id bigserial, k int, PRIMARY KEY (id, k)) PARTITION BY LIST (k); CREATE TABLE a1 PARTITION OF a FOR VALUES IN (1);
              CREATE TABLE a2 PARTITION OF a FOR VALUES IN (2); INSERT INTO a VALUES (3, 1), (8, 2);
              CREATE TABLE b(id bigint GENERATED BY DEFAULT AS IDENTITY, k int, PRIMARY KEY (id, k)) PARTITION BY LIST (k);
              CREATE TABLE b1 PARTITION OF b FOR VALUES IN (1); INSERT INTO b VALUES (4, 1);
              CREATE TABLE c(id serial PRIMARY KEY); CREATE TABLE d(PRIMARY KEY (id)) INHERITS (c); INSERT INTO d VALUES (12)",
        finds: &[
            "public.a_id_seq behind:Column next 1 to 8",
            "public.b_id_seq behind:Column next 1 to 4",
            "public.c_id_seq behind:Column next 1 to 12",
        ],
        fixed: &[
            "public.a_id_seq fine next 9 was 1 (not yet given out)",
            "public.b_id_seq fine next 5 was 1 (not yet given out)",
            "public.c_id_seq fine next 13 was 1 (not yet given out)",
        ],
        ..PLAIN
    },
    Case {
        name: "a child that another sequence feeds doesn't move its parent's",
        sql: "CREATE TABLE a(id serial PRIMARY KEY); CREATE SEQUENCE t START 1000000001; INSERT INTO a VALUES (7);
              CREATE TABLE b() INHERITS (a); ALTER TABLE b ALTER id SET DEFAULT nextval('t'); INSERT INTO b DEFAULT VALUES",
        finds: &["public.a_id_seq behind:Column next 1 to 7", "public.t fine next 1000000002"],
        fixed: &["public.a_id_seq fine next 8 was 1 (not yet given out)", "public.t fine next 1000000002"],
        ..PLAIN
    },
    Case {
        name: "a column without an index is scanned where that is cheap",
        sql: "CREATE TABLE a(id serial); INSERT INTO a VALUES (70)",
        finds: &["public.a_id_seq behind:Column next 1 to 70"],
        fixed: &["public.a_id_seq fine next 71 was 1 (not yet given out)"],
        ..PLAIN
    },
    Case {
        name: "a maximum that the sequence doesn't reach is refused",
        sql: "CREATE TABLE a(id bigint GENERATED BY DEFAULT AS IDENTITY (MAXVALUE 50) PRIMARY KEY); INSERT INTO a VALUES (60)",
        finds: &["public.a_id_seq behind:Column next 1 to 60"],
        fixed: &[
            "public.a_id_seq behind:Column next 1 to 60 refused: it would have to be set to 60, and sequence public.a_id_seq ends at 50; \
             widen that first",
        ],
        ..PLAIN
    },
    Case {
        name: "a row at the very end, put there by hand, moves nothing; values that lead up to it are the sequence's",
        sql: "CREATE TABLE a(id serial PRIMARY KEY); INSERT INTO a VALUES (2147483647), (40); SELECT setval('a_id_seq', 50);
              CREATE TABLE b(id bigserial PRIMARY KEY); INSERT INTO b VALUES (9223372036854775807), (90); SELECT setval('b_id_seq', 50);
              CREATE TABLE c(id smallserial PRIMARY KEY); INSERT INTO c VALUES (32767), (30000); SELECT setval('c_id_seq', 50);
              CREATE SEQUENCE d INCREMENT -1; CREATE TABLE d1(id int PRIMARY KEY DEFAULT nextval('d')); INSERT INTO d1 VALUES (-2147483648), (-7)",
        finds: &[
            "public.a_id_seq fine next 51",
            "public.b_id_seq behind:Column next 51 to 90",
            "public.c_id_seq behind:Column next 51 to 32767",
            "public.d behind:Column next -1 to -7",
        ],
        fixed: &[
            "public.a_id_seq fine next 51",
            "public.b_id_seq fine next 91 was 50",
            "public.c_id_seq behind:Column next 51 to 32767 refused: it would have to be set to 32767, from where sequence \
             public.c_id_seq has 0 numbers left, and inserts would fail; it hands out 51 next. Look at the row of public.c whose id is 32767: if it \
             was put there by hand, move it, or name the largest id that was given out in a --witness FILE, as public.c.id,N",
            "public.d fine next -8 was -1 (not yet given out)",
        ],
        then: "INSERT INTO a DEFAULT VALUES; INSERT INTO b DEFAULT VALUES; INSERT INTO d1 DEFAULT VALUES;
               SELECT a.id, b.id, d1.id FROM a, b, d1 WHERE a.id < 99 AND a.id > 40 AND b.id BETWEEN 91 AND 99 AND d1.id BETWEEN -9 AND -8",
        gives: "51|91|-8",
        ..PLAIN
    },
    Case {
        name: "a row at the very end of a column without an index needs a witness, which is believed",
        sql: "CREATE TABLE a(id serial); INSERT INTO a VALUES (2147483647), (60); SELECT setval('a_id_seq', 50);
              CREATE TABLE b(id smallserial); INSERT INTO b VALUES (32767); CREATE TABLE c(id smallserial)",
        witness: "public.a.id,60\npublic.c.id,32760",
        finds: &[
            "public.a_id_seq behind:Witness next 51 to 60",
            "public.b_id_seq behind:Column next 1 to 32767",
            "public.c_id_seq behind:Witness next 1 to 32760",
        ],
        fixed: &[
            "public.a_id_seq fine next 61 was 50",
            "public.b_id_seq behind:Column next 1 to 32767 refused: it would have to be set to 32767, from where sequence \
             public.b_id_seq has 0 numbers left, and inserts would fail; it hands out 1 next. Look at the row of public.b whose id is 32767: if it \
             was put there by hand, move it, or name the largest id that was given out in a --witness FILE, as public.b.id,N",
            "public.c_id_seq fine next 32761 was 1 (not yet given out)",
        ],
        ..PLAIN
    },
    Case {
        name: "a column that holds no whole numbers is unknown and stops no other; one that holds decimals is read",
        sql: "CREATE SEQUENCE a_seq; CREATE TABLE a(id text PRIMARY KEY DEFAULT nextval('a_seq')); INSERT INTO a VALUES ('abc'), ('99'), ('1000');
              CREATE TABLE b(id serial PRIMARY KEY); INSERT INTO b VALUES (7);
              CREATE SEQUENCE c_seq; CREATE TABLE c(id numeric PRIMARY KEY DEFAULT nextval('c_seq')); INSERT INTO c VALUES (7.5);
              CREATE SEQUENCE d_seq; CREATE TABLE d(id float8 PRIMARY KEY DEFAULT nextval('d_seq')); INSERT INTO d VALUES (1e20);
              CREATE SEQUENCE e_seq; CREATE TABLE e1(id int PRIMARY KEY DEFAULT nextval('e_seq')); INSERT INTO e1 VALUES (9);
              CREATE TABLE e2(id text PRIMARY KEY DEFAULT nextval('e_seq')); INSERT INTO e2 VALUES ('12')",
        finds: &[
            "public.a_seq unknown next 1",
            "public.b_id_seq behind:Column next 1 to 7",
            "public.c_seq behind:Column next 1 to 7",
            "public.d_seq unknown next 1",
            "public.e_seq behind:Column next 1 to 9",
        ],
        fixed: &[
            "public.a_seq unknown next 1",
            "public.b_id_seq fine next 8 was 1 (not yet given out)",
            "public.c_seq fine next 8 was 1 (not yet given out)",
            "public.d_seq unknown next 1",
            "public.e_seq unknown next 10 was 1 (not yet given out)",
        ],
        then: "INSERT INTO b DEFAULT VALUES; INSERT INTO c DEFAULT VALUES; SELECT max(b.id), max(c.id) FROM b, c",
        gives: "8|8",
        ..PLAIN
    },
    Case {
        name: "a witness past the column's type is refused",
        sql: "CREATE TABLE a(id int PRIMARY KEY); CREATE SEQUENCE s; ALTER TABLE a ALTER id SET DEFAULT nextval('s')",
        witness: "public.a.id,3000000000",
        finds: &["public.s behind:Witness next 1 to 3000000000"],
        fixed: &[
            "public.s behind:Witness next 1 to 3000000000 refused: it would have to be set to 3000000000, and column public.a.id (integer) \
             ends at 2147483647; widen that first",
        ],
        ..PLAIN
    },
    Case {
        name: "cycling, derived, owned only, alone: nothing to judge by",
        sql: "CREATE TABLE a(id smallserial PRIMARY KEY); ALTER SEQUENCE a_id_seq CYCLE; INSERT INTO a VALUES (90);
              CREATE SEQUENCE d; CREATE TABLE b(id bigint PRIMARY KEY DEFAULT nextval('d') * 10); INSERT INTO b VALUES (90);
              CREATE TABLE c(id serial PRIMARY KEY); ALTER TABLE c ALTER id DROP DEFAULT; INSERT INTO c VALUES (90); CREATE SEQUENCE z",
        finds: &[
            "public.a_id_seq not_judged next 1",
            "public.c_id_seq not_judged next 1",
            "public.d not_judged next 1",
            "public.z not_judged next 1",
        ],
        fixed: &[
            "public.a_id_seq not_judged next 1",
            "public.c_id_seq not_judged next 1",
            "public.d not_judged next 1",
            "public.z not_judged next 1",
        ],
        ..PLAIN
    },
    Case {
        name: "a gap moves every sequence that doesn't cycle, also those that look right",
        sql: "CREATE TABLE a(id serial PRIMARY KEY); INSERT INTO a SELECT FROM generate_series(1, 10); SELECT setval('a_id_seq', 33);
              CREATE SEQUENCE z; CREATE SEQUENCE y CYCLE; CREATE SEQUENCE x INCREMENT -5 START -5",
        gap: 100,
        finds: &[
            "public.a_id_seq behind:Gap next 34 to 133",
            "public.x not_judged next -5 to -105",
            "public.y not_judged next 1",
            "public.z not_judged next 1 to 101",
        ],
        fixed: &[
            "public.a_id_seq fine next 134 was 33",
            "public.x not_judged next -110 was -5 (not yet given out)",
            "public.y not_judged next 1",
            "public.z not_judged next 102 was 1 (not yet given out)",
        ],
        ..PLAIN
    },
    Case {
        name: "a witness counts where the column looks right, also for sequences without one",
        sql: "CREATE TABLE \"A b\"(id serial PRIMARY KEY); INSERT INTO \"A b\" SELECT FROM generate_series(1, 10); CREATE SEQUENCE z",
        witness: "column,value\npublic.\"A b\".id,60\npublic.z,7\npublic.gone.id,1\n",
        finds: &["public.A b_id_seq behind:Witness next 11 to 60", "public.z behind:Witness next 1 to 7", "stray 4"],
        fixed: &[
            "public.A b_id_seq fine next 61 was 10",
            "public.z fine next 8 was 1 (not yet given out)",
            "stray 4",
        ],
        ..PLAIN
    },
];

/// What is said, a line a sequence: `PATH VERDICT next NEXT to TARGET`, with what a repair came to.
fn said(outlook: &Outlook) -> Vec<String> {
    let line = |standing: &Standing| {
        let mut line = format!("{} {}", standing.path(), standing.verdict.name());
        if let Verdict::Behind { by, .. } = &standing.verdict {
            line.push_str(&format!(":{by:?}"));
        }
        if let Some(next) = standing.next() {
            line.push_str(&format!(" next {next}"));
        }
        match &standing.repaired {
            Some((before, _)) => line.push_str(&format!(" was {before}")),
            None if standing.is_moved_by(outlook.gap) => {
                line.push_str(
                    &standing.target(outlook.gap).map_or_else(String::new, |to| format!(" to {to}")),
                );
            }
            None => {}
        }
        if let Some(why) = &standing.refused {
            line.push_str(&format!(" refused: {why}"));
        }
        line
    };
    let mut lines: Vec<String> = outlook.standings.iter().map(line).collect();
    let strays = outlook.strays.iter().filter_map(|stray| stray.split([' ', ':']).nth(2));
    lines.extend(strays.map(|number| format!("stray {number}")));
    lines
}

fn demand(gap: u64, witness: &str) -> Demand {
    Demand { gap, witness: Witness::parse(witness).unwrap() }
}

/// Makes what a case needs, in a schema that is new: a database for each would take seconds.
async fn set_up(client: &Client, case: &Case) {
    let sql = format!("DROP SCHEMA public CASCADE; CREATE SCHEMA public; {}", case.sql);
    client.batch_execute(&sql).await.unwrap_or_else(|error| panic!("{}: {error}", case.name));
}

/// A session of its own.
async fn session(url: &str) -> Client {
    let (client, connection) = tokio_postgres::connect(url, tokio_postgres::NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}

/// Runs every case on a server; what went wrong.
async fn run_cases(server: &Postgres) -> Vec<String> {
    let mut wrongs = Vec::new();
    let database = server.database();
    let url = server.url(&database);
    let client = session(&url).await;
    for case in CASES {
        set_up(&client, case).await;
        let demand = demand(case.gap, case.witness);
        let found = check(&url, &Options::default(), &demand).await.unwrap();
        let fixed = fix(&url, &Options::default(), &demand).await.unwrap();
        for (what, outlook, expected) in [("found", &found, case.finds), ("fixed", &fixed, case.fixed)] {
            let lines = said(outlook);
            if lines != expected {
                wrongs.push(format!("{}: {what}\n  {lines:#?}\n  expected {expected:#?}", case.name));
            }
        }
        if case.then.is_empty() {
            continue;
        }
        let given = server.query(&database, case.then).unwrap_or_else(|error| error.to_string());
        if given != case.gives {
            wrongs.push(format!("{}: then {given}, {} expected", case.name, case.gives));
        }
    }
    wrongs
}

#[tokio::test]
async fn every_case_is_found_and_repaired_once() {
    let Some(server) = Postgres::shared() else { return };
    let wrongs = run_cases(&server).await;
    assert!(wrongs.is_empty(), "{} wrong:\n{}", wrongs.len(), wrongs.join("\n"));
}

#[tokio::test]
async fn every_case_is_found_and_repaired_on_postgresql_18() {
    let Some(server) = Postgres::start_version(18, &[]) else { return };
    let wrongs = run_cases(&server).await;
    assert!(wrongs.is_empty(), "{} wrong:\n{}", wrongs.len(), wrongs.join("\n"));
}

#[tokio::test]
async fn the_script_of_a_dry_run_does_what_a_repair_does() {
    let Some(server) = Postgres::shared() else { return };
    let url = server.url(&server.database());
    let client = session(&url).await;
    for case in CASES.iter().filter(|case| !case.fixed.iter().any(|line| line.contains("refused"))) {
        set_up(&client, case).await;
        let demand = demand(case.gap, case.witness);
        let script = check(&url, &Options::default(), &demand).await.unwrap().script();
        assert!(script.lines().next().unwrap().starts_with("-- "), "{script}");
        client
            .batch_execute(&script)
            .await
            .unwrap_or_else(|error| panic!("{}: {error}\n{script}", case.name));
        let after =
            check(&url, &Options::default(), &Demand { gap: 0, witness: demand.witness }).await.unwrap();
        let expected: Vec<&str> = case.fixed.iter().map(|line| line.split(" was ").next().unwrap()).collect();
        assert_eq!(said(&after), expected, "{}\n{script}", case.name);
    }
}

#[tokio::test]
async fn a_repair_under_load_never_sets_a_sequence_back() {
    let Some(server) = Postgres::shared() else { return };
    let database = server.database();
    server
        .query(
            &database,
            "CREATE TABLE a(id bigserial PRIMARY KEY); CREATE TABLE b(id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY)",
        )
        .unwrap();
    let url = server.url(&database);
    let stop = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let mut writers = Vec::new();
    for _ in 0..3 {
        let client = session(&url).await;
        let stop = std::sync::Arc::clone(&stop);
        writers.push(tokio::spawn(async move {
            let mut ids = Vec::new();
            while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                for table in ["a", "b"] {
                    let sql = format!("INSERT INTO {table} DEFAULT VALUES RETURNING id");
                    let row = client.query_one(&sql, &[]).await.unwrap();
                    ids.push((table, row.get::<_, i64>(0)));
                }
            }
            ids
        }));
    }
    for _ in 0..8 {
        let outlook = fix(&url, &Options::default(), &demand(5, "")).await.unwrap();
        assert!(outlook.is_fine() && outlook.planned().count() == 2, "{:?}", said(&outlook));
    }
    stop.store(true, std::sync::atomic::Ordering::Relaxed);
    let mut all = std::collections::HashSet::new();
    for writer in writers {
        let ids = writer.await.unwrap();
        // Each session's ids grow: nothing was handed out that had been handed out before.
        for table in ["a", "b"] {
            let own: Vec<i64> = ids.iter().filter(|(of, _)| *of == table).map(|(_, id)| *id).collect();
            assert!(own.is_sorted() && own.len() > 8, "{own:?}");
        }
        for id in ids {
            assert!(all.insert(id), "{id:?} twice");
        }
    }
}

#[tokio::test]
async fn an_insert_waits_for_the_repair_and_gets_the_value_behind_it() {
    let Some(server) = Postgres::shared() else { return };
    let database = server.database();
    server.query(&database, "CREATE TABLE a(id serial PRIMARY KEY); INSERT INTO a VALUES (100)").unwrap();
    let url = server.url(&database);
    let script = check(&url, &Options::default(), &Demand::default()).await.unwrap().script();
    let repairing = session(&url).await;
    let writing = session(&url).await;
    // Everything but its end.
    repairing.batch_execute(script.split("COMMIT;").next().unwrap()).await.unwrap();
    let insert = tokio::spawn(async move {
        writing.query_one("INSERT INTO a DEFAULT VALUES RETURNING id", &[]).await.unwrap().get::<_, i32>(0)
    });
    let waits = "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'a_id_seq'::regclass";
    while server.query(&database, waits).unwrap() == "0" {
        assert!(!insert.is_finished(), "the insert didn't wait");
        tokio::task::yield_now().await;
    }
    repairing.batch_execute("COMMIT").await.unwrap();
    assert_eq!(insert.await.unwrap(), 101);
}

#[tokio::test]
async fn who_may_look_may_not_repair_and_is_told_who_may() {
    let Some(server) = Postgres::shared() else { return };
    let database = server.database();
    let sql = format!(
        "CREATE TABLE a(id serial PRIMARY KEY); INSERT INTO a VALUES (9); CREATE ROLE looks_{database} LOGIN; CREATE ROLE owns_{database} LOGIN;
         GRANT pg_read_all_data TO looks_{database}; CREATE TABLE b(id serial PRIMARY KEY); INSERT INTO b VALUES (9);
         ALTER TABLE b OWNER TO owns_{database}; GRANT USAGE ON SCHEMA public TO owns_{database}"
    );
    server.query(&database, &sql).unwrap();
    let url = |role: &str| server.url(&database).replace("postgres@", &format!("{role}_{database}@"));
    let looked = fix(&url("looks"), &Options::default(), &Demand::default()).await.unwrap();
    let lines = said(&looked);
    assert!(
        lines.len() == 2
            && lines
                .iter()
                .all(|line| line.contains("must be owner of sequence") && line.contains("its owner may")),
        "{lines:#?}"
    );
    assert!(!looked.is_fine());
    let owned = said(&fix(&url("owns"), &Options::default(), &Demand::default()).await.unwrap());
    assert!(
        owned[0].contains("a_id_seq unknown") && owned[1].contains("b_id_seq fine next 10"),
        "{owned:#?}"
    );
    let Verdict::Unknown { why, .. } =
        &check(&url("owns"), &Options::default(), &Demand::default()).await.unwrap().standings[0]
            .verdict
            .clone()
    else {
        panic!("{owned:#?}")
    };
    assert!(why.contains("sequence public.a_id_seq"), "{why}");
}

#[tokio::test]
async fn a_lock_of_another_session_is_not_waited_for_without_end() {
    let Some(server) = Postgres::shared() else { return };
    let database = server.database();
    server.query(&database, "CREATE TABLE a(id serial PRIMARY KEY); INSERT INTO a VALUES (9)").unwrap();
    let url = server.url(&database);
    let client = session(&url).await;
    // A transaction that took a number keeps nextval's lock, which a look doesn't mind.
    client.batch_execute("BEGIN; SELECT nextval('a_id_seq')").await.unwrap();
    let (options, demand) = (Options::default(), Demand::default());
    let outlook = tokio::time::timeout(Duration::from_secs(20), fix(&url, &options, &demand)).await;
    let lines = said(&outlook.unwrap().unwrap());
    assert!(lines[0].contains("behind") && lines[0].contains("another session holds a lock"), "{lines:#?}");
    client.batch_execute("ROLLBACK").await.unwrap();
    let lines = said(&fix(&url, &Options::default(), &Demand::default()).await.unwrap());
    assert_eq!(lines, ["public.a_id_seq fine next 10 was 1"]);
}

#[tokio::test]
async fn a_column_that_takes_too_long_is_unknown_with_the_query_that_would_tell() {
    let Some(server) = Postgres::shared() else { return };
    let database = server.database();
    server.query(&database, "CREATE TABLE a(id serial); INSERT INTO a VALUES (9)").unwrap();
    let options = Options { scans: Duration::ZERO, ..Options::default() };
    let outlook = check(&server.url(&database), &options, &Demand::default()).await.unwrap();
    let Verdict::Unknown { why, next } = &outlook.standings[0].verdict else { panic!("{outlook:?}") };
    assert!(why.contains("longer than its budget"), "{why}");
    assert_eq!(next, r#"SELECT max("id") FROM ONLY "public"."a";"#);
    assert!(!outlook.is_fine() && outlook.text(false, false).contains("UNKNOWN  public.a_id_seq"));
}

#[tokio::test]
async fn open_sessions_with_cached_values_are_told_of() {
    let Some(server) = Postgres::shared() else { return };
    let database = server.database();
    server
        .query(&database, "CREATE TABLE a(id serial PRIMARY KEY); ALTER SEQUENCE a_id_seq CACHE 20; INSERT INTO a VALUES (900)")
        .unwrap();
    let url = server.url(&database);
    let client = session(&url).await;
    client.batch_execute("SELECT nextval('a_id_seq')").await.unwrap();
    let outlook = fix(&url, &Options::default(), &Demand::default()).await.unwrap();
    assert!(outlook.text(false, false).contains("CACHE 20: sessions that are open keep values"));
    // Why that is said.
    let row = client.query_one("SELECT nextval('a_id_seq')", &[]).await.unwrap();
    assert_eq!(row.get::<_, i64>(0), 2);
    assert_eq!(server.query(&database, "SELECT nextval('a_id_seq')").unwrap(), "901");
}

#[tokio::test]
async fn a_standby_is_checked_and_not_repaired_and_a_promoted_one_loses_no_id_to_a_witness() {
    let Some(mut primary) = Postgres::start(&[]) else { return };
    primary.query("postgres", "CREATE TABLE a(id bigserial PRIMARY KEY)").unwrap();
    let mut standby = primary.backup(true);
    standby.start_again();
    primary.query("postgres", "INSERT INTO a SELECT FROM generate_series(1, 10)").unwrap();
    standby.catches_up(&primary);
    let url = standby.url("postgres");
    let options = Options::default();
    let looked = check(&url, &options, &Demand::default()).await.unwrap();
    assert!(looked.server.is_standby && looked.is_fine(), "{:?}", said(&looked));
    // Up to 32 ahead, as its primary logs values in advance.
    let next = looked.standings[0].next().unwrap();
    assert!((11..=43).contains(&next), "{next}");
    let refused = fix(&url, &options, &Demand::default()).await.unwrap_err().to_string();
    assert!(
        refused.contains(&format!("127.0.0.1:{}", primary.port())) && refused.contains("standby"),
        "{refused}"
    );
    standby.unfollow();
    let lost =
        primary.query("postgres", "INSERT INTO a SELECT FROM generate_series(11, 60) RETURNING id").unwrap();
    assert!(lost.ends_with("60"));
    primary.kill();
    let waits = mintage_keys::sequences::primary(&url, &options, Duration::from_millis(20));
    let promotes = async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        standby.promote();
    };
    tokio::join!(waits, promotes).0.unwrap();
    // Nothing in the database shows what was lost.
    let blind = check(&url, &options, &Demand::default()).await.unwrap();
    assert!(
        blind.is_fine() && blind.text(false, false).contains("leave no trace"),
        "{}",
        blind.text(true, false)
    );
    let seen = demand(0, "public.a.id,60");
    let found = check(&url, &options, &seen).await.unwrap();
    assert!(!found.is_fine() && matches!(found.standings[0].verdict, Verdict::Behind { .. }));
    let fixed = fix(&url, &options, &seen).await.unwrap();
    assert!(fixed.is_fine(), "{:?}", said(&fixed));
    assert_eq!(standby.query("postgres", "INSERT INTO a DEFAULT VALUES RETURNING id").unwrap(), "61");
}

#[tokio::test]
async fn a_server_set_read_only_is_left_alone() {
    let Some(server) = Postgres::shared() else { return };
    let database = server.database();
    let sql = format!(
        "CREATE TABLE a(id serial PRIMARY KEY); INSERT INTO a VALUES (9); ALTER DATABASE {database} SET default_transaction_read_only = on"
    );
    server.query(&database, &sql).unwrap();
    let url = server.url(&database);
    let looked = check(&url, &Options::default(), &Demand::default()).await.unwrap();
    assert_eq!(said(&looked), ["public.a_id_seq behind:Column next 1 to 9"]);
    let refused = fix(&url, &Options::default(), &Demand::default()).await.unwrap_err();
    assert!(refused.to_string().contains("default_transaction_read_only is on"), "{refused}");
}

#[tokio::test]
async fn sequences_of_mariadb_are_set_forward_and_counters_follow_a_witness() {
    let Some(server) = MariaDb::shared() else { return };
    let database = server.database();
    let sql = "CREATE SEQUENCE s NOCACHE; CREATE TABLE a(id bigint PRIMARY KEY DEFAULT (NEXTVAL(s))); INSERT INTO a VALUES (40);
               CREATE TABLE b(id int AUTO_INCREMENT PRIMARY KEY); INSERT INTO b VALUES (5)";
    server.query(&database, sql).unwrap();
    let url = server.url(&database);
    let lines = |outlook: &Outlook| {
        said(outlook).iter().map(|line| line.replace(&database, "DB")).collect::<Vec<_>>()
    };
    let demand = demand(0, &format!("{database}.b.id,60"));
    let found = check(&url, &Options::default(), &demand).await.unwrap();
    assert_eq!(lines(&found), ["DB.b behind:Witness next 6 to 60", "DB.s behind:Column next 1 to 40"]);
    let fixed = fix(&url, &Options::default(), &demand).await.unwrap();
    assert_eq!(lines(&fixed), ["DB.b fine next 61 was 5", "DB.s fine next 41 was 1"]);
    assert!(fixed.is_fine());
    let sql = "INSERT INTO a VALUES (DEFAULT); INSERT INTO b VALUES (DEFAULT); SELECT max(a.id), max(b.id) FROM a, b";
    assert_eq!(server.query(&database, sql).unwrap(), "41\t61");
    let fine = fix(&url, &Options::default(), &Demand::default()).await.unwrap();
    assert_eq!(lines(&fine), ["DB.b fine next 62", "DB.s fine next 42"]);
}

#[tokio::test]
async fn a_counter_of_mariadb_that_is_moved_under_load_is_never_set_back() {
    let Some(server) = MariaDb::shared() else { return };
    let database = server.database();
    server.query(&database, "CREATE TABLE a(id bigint AUTO_INCREMENT PRIMARY KEY) ENGINE = InnoDB").unwrap();
    let url = server.url(&database);
    let demand = demand(5, "");
    let script = check(&url, &Options::default(), &demand).await.unwrap().script();
    // What was handed out after the look left no row.
    server.query(&database, "BEGIN; INSERT INTO a SELECT NULL FROM seq_1_to_1000; ROLLBACK").unwrap();
    let next = format!(
        "SELECT AUTO_INCREMENT FROM information_schema.TABLES WHERE TABLE_SCHEMA = '{database}' AND TABLE_NAME = 'a'"
    );
    let before: u64 = server.query(&database, &next).unwrap().parse().unwrap();
    assert!(before > 1_000, "{before}");
    server.query(&database, &script).unwrap_or_else(|error| panic!("{error}\n{script}"));
    assert_eq!(server.query(&database, &next).unwrap(), (before + 5).to_string(), "{script}");
    let fixed = fix(&url, &Options::default(), &demand).await.unwrap();
    assert_eq!(fixed.standings[0].repaired, Some(((before + 4).to_string(), (before + 9).to_string())));
    // Nothing stays locked.
    server.query(&database, "INSERT INTO a VALUES (DEFAULT)").unwrap();
}
