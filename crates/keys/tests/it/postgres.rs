//! PostgreSQL: traps, and what only a server can suffer.

use crate::traps::{Trap, said, wrong};
use mintage_keys::open::{Options, read};
use mintage_testkit::servers::postgres::Postgres;

/// What may be wrong in a schema, on every version.
const TRAPS: &[Trap] = &[
    Trap {
        name: "a counter of a scope below its scope's largest number",
        sql: "CREATE TABLE projects(id BIGINT PRIMARY KEY, last_issue_number INT, issues_count INT);
              CREATE TABLE issues(project_id BIGINT, number INT, PRIMARY KEY (project_id, number), FOREIGN KEY (project_id) REFERENCES projects(id));
              INSERT INTO projects VALUES (1, 2, 0), (2, 5, 0), (3, 0, 0); INSERT INTO issues VALUES (1, 1), (1, 2), (2, 7)",
        says: &[
            "public.issues.number integer ?/2147483647 unknown: no index begins with it, and there are no statistics < column type integer",
            "public.projects.id bigint 3/9223372036854775807 max < column type bigint",
            "! error scope-counter-behind public.projects.last_issue_number",
        ],
    },
    Trap {
        name: "serial and identity, each at its value",
        sql: "CREATE TABLE a(id serial PRIMARY KEY); CREATE TABLE b(id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY);
              INSERT INTO a SELECT FROM generate_series(1, 3); INSERT INTO b SELECT FROM generate_series(1, 2)",
        says: &[
            "public.a.id integer 3/2147483647 sequence < column type integer",
            "public.b.id bigint 2/9223372036854775807 sequence < column type bigint",
        ],
    },
    Trap {
        name: "smallserial ends early",
        sql: "CREATE TABLE a(id smallserial PRIMARY KEY); SELECT setval('a_id_seq', 30000)",
        says: &["public.a.id smallint 30000/32767 sequence < column type smallint"],
    },
    Trap {
        name: "quoted and mixed-case names",
        sql: r#"CREATE SCHEMA "My Schema"; CREATE TABLE "My Schema"."Order Items"("Id" serial PRIMARY KEY);
                INSERT INTO "My Schema"."Order Items" DEFAULT VALUES"#,
        says: &["My Schema.Order Items.Id integer 1/2147483647 sequence < column type integer"],
    },
    Trap {
        name: "names with quotes, newlines and terminal escapes",
        sql: "DO $$BEGIN EXECUTE format('CREATE TABLE %I(%I serial PRIMARY KEY)', E'a\"b''c\\n\\x1b[31m;--', E'x\"\\ty'); END$$",
        says: &["public.a\"b'c\n\x1b[31m;--.x\"\ty integer 0/2147483647 sequence < column type integer"],
    },
    Trap {
        name: "one table name in two schemas",
        sql: "CREATE SCHEMA app; CREATE TABLE a(id serial PRIMARY KEY); CREATE TABLE app.a(id serial PRIMARY KEY);
              SELECT setval('app.a_id_seq', 2000000000)",
        says: &[
            "app.a.id integer 2000000000/2147483647 sequence < column type integer",
            "public.a.id integer 0/2147483647 sequence < column type integer",
        ],
    },
    Trap {
        name: "a renamed sequence",
        sql: "CREATE TABLE a(id serial PRIMARY KEY); ALTER SEQUENCE a_id_seq RENAME TO zzz; SELECT setval('zzz', 9)",
        says: &["public.a.id integer 9/2147483647 sequence < column type integer"],
    },
    Trap {
        name: "a renamed table and column",
        sql: "CREATE TABLE a(id serial PRIMARY KEY); ALTER TABLE a RENAME TO b; ALTER TABLE b RENAME id TO nr",
        says: &["public.b.nr integer 0/2147483647 sequence < column type integer"],
    },
    Trap {
        name: "a sequence in another schema",
        sql: "CREATE SCHEMA app; CREATE SEQUENCE app.s; CREATE TABLE a(id int PRIMARY KEY DEFAULT nextval('app.s'));
              SELECT setval('app.s', 5)",
        says: &["public.a.id integer 5/2147483647 sequence < column type integer"],
    },
    Trap {
        name: "a default that names its sequence by text, as old dumps do",
        sql: "CREATE SEQUENCE s; CREATE TABLE a(id int PRIMARY KEY DEFAULT nextval(('s'::text)::regclass)); SELECT setval('s', 5)",
        says: &["public.a.id integer 5/2147483647 sequence < column type integer"],
    },
    Trap {
        name: "default by a function: what it does can't be seen, so the rows count",
        sql: "CREATE SEQUENCE s; CREATE FUNCTION next_id() RETURNS int LANGUAGE sql AS $$SELECT nextval('s')::int$$;
              CREATE TABLE a(id int PRIMARY KEY DEFAULT next_id()); INSERT INTO a VALUES (DEFAULT), (700)",
        says: &[
            "public.a.id integer 700/2147483647 max < column type integer",
            "public.s bigint 1/9223372036854775807 sequence < sequence public.s",
        ],
    },
    Trap {
        name: "default by an expression over a sequence",
        sql: "CREATE SEQUENCE s; CREATE TABLE a(id bigint PRIMARY KEY DEFAULT nextval('s') * 10 + 3);
              INSERT INTO a SELECT FROM generate_series(1, 4)",
        says: &[
            "public.a.id bigint 43/9223372036854775807 max < column type bigint",
            "public.s bigint 4/9223372036854775807 sequence < sequence public.s",
        ],
    },
    Trap {
        name: "a serial whose default was dropped",
        sql: "CREATE TABLE a(id serial PRIMARY KEY); INSERT INTO a DEFAULT VALUES; ALTER TABLE a ALTER id DROP DEFAULT;
              INSERT INTO a VALUES (90)",
        says: &["public.a.id integer 90/2147483647 max < column type integer"],
    },
    Trap {
        name: "a serial whose default became another sequence's",
        sql: "CREATE TABLE a(id serial PRIMARY KEY); CREATE SEQUENCE t; ALTER TABLE a ALTER id SET DEFAULT nextval('t');
              SELECT setval('t', 8)",
        says: &[
            "public.a.id integer 8/2147483647 sequence < column type integer",
            "public.a_id_seq integer 0/2147483647 sequence < sequence public.a_id_seq",
        ],
    },
    Trap {
        name: "a shared sequence",
        sql: "CREATE SEQUENCE s; CREATE TABLE a(id int PRIMARY KEY DEFAULT nextval('s'));
              CREATE TABLE b(id bigint PRIMARY KEY DEFAULT nextval('s')); SELECT setval('s', 1500000000)",
        says: &[
            "public.a.id integer 1500000000/2147483647 sequence < column type integer",
            "public.b.id bigint 1500000000/9223372036854775807 sequence < column type bigint",
        ],
    },
    Trap {
        name: "an orphaned sequence",
        sql: "CREATE SEQUENCE s AS int; SELECT setval('s', 2000000000)",
        says: &["public.s integer 2000000000/2147483647 sequence < sequence public.s"],
    },
    Trap {
        name: "a cycling sequence",
        sql: "CREATE SEQUENCE s MAXVALUE 10 CYCLE; SELECT setval('s', 9)",
        says: &["public.s bigint 9/10 sequence < sequence public.s", "! warning sequence-cycles public.s"],
    },
    Trap {
        name: "a cycling sequence that began again isn't behind",
        sql: "CREATE TABLE a(id smallserial PRIMARY KEY); ALTER SEQUENCE a_id_seq CYCLE; INSERT INTO a VALUES (32000); SELECT setval('a_id_seq', 2)",
        says: &["public.a.id smallint 32000/32767 max < column type smallint", "! warning sequence-cycles public.a.id"],
    },
    Trap {
        name: "a descending sequence",
        sql: "CREATE SEQUENCE s INCREMENT -1; CREATE TABLE a(id int PRIMARY KEY DEFAULT nextval('s')); ALTER SEQUENCE s OWNED BY a.id;
              INSERT INTO a SELECT FROM generate_series(1, 5)",
        says: &["public.a.id integer -5/-2147483648 sequence < column type integer"],
    },
    Trap {
        name: "a descending sequence that is behind",
        sql: "CREATE SEQUENCE s INCREMENT -1; CREATE TABLE a(id int PRIMARY KEY DEFAULT nextval('s')); INSERT INTO a VALUES (-7)",
        says: &[
            "public.a.id integer -7/-2147483648 max < column type integer",
            "! error sequence-behind public.a.id",
        ],
    },
    Trap {
        name: "a sequence that begins at the lowest value",
        sql: "CREATE SEQUENCE s AS int MINVALUE -2147483648 START -2147483648;
              CREATE TABLE a(id int PRIMARY KEY DEFAULT nextval('s')); SELECT setval('s', -1)",
        says: &["public.a.id integer -1/2147483647 sequence < column type integer"],
    },
    Trap {
        name: "custom MAXVALUE",
        sql: "CREATE TABLE a(id bigint GENERATED BY DEFAULT AS IDENTITY (MAXVALUE 1000) PRIMARY KEY); SELECT setval('a_id_seq', 900)",
        says: &["public.a.id bigint 900/1000 sequence < sequence public.a_id_seq"],
    },
    Trap {
        name: "a step of 50",
        sql: "CREATE SEQUENCE s INCREMENT 50; CREATE TABLE a(id bigint PRIMARY KEY DEFAULT nextval('s')); SELECT setval('s', 101)",
        says: &["public.a.id bigint 101/9223372036854775807 sequence < column type bigint"],
    },
    Trap {
        name: "odd and even servers: rows of the other aren't ahead of one's own numbers",
        sql: "CREATE SEQUENCE s START 1 INCREMENT 2; CREATE TABLE a(id bigint PRIMARY KEY DEFAULT nextval('s'));
              INSERT INTO a DEFAULT VALUES; INSERT INTO a VALUES (2), (4), (60)",
        says: &["public.a.id bigint 60/9223372036854775807 max < column type bigint"],
    },
    Trap {
        name: "a sequence behind its column",
        sql: "CREATE TABLE a(id serial PRIMARY KEY); INSERT INTO a DEFAULT VALUES; INSERT INTO a VALUES (40)",
        says: &["public.a.id integer 40/2147483647 max < column type integer", "! error sequence-behind public.a.id"],
    },
    Trap {
        name: "a sequence that was never used, before rows that came with their ids",
        sql: "CREATE TABLE a(id serial PRIMARY KEY); INSERT INTO a VALUES (1900000000)",
        says: &[
            "public.a.id integer 1900000000/2147483647 max < column type integer",
            "! error sequence-behind public.a.id",
        ],
    },
    Trap {
        name: "a sequence that was restarted far ahead and not called since",
        sql: "CREATE TABLE a(id serial PRIMARY KEY); ALTER SEQUENCE a_id_seq RESTART WITH 2000000001",
        says: &["public.a.id integer 2000000000/2147483647 sequence < column type integer"],
    },
    Trap {
        name: "setval with is_called = false",
        sql: "CREATE TABLE a(id serial PRIMARY KEY); SELECT setval('a_id_seq', 1800000001, false)",
        says: &["public.a.id integer 1800000000/2147483647 sequence < column type integer"],
    },
    Trap {
        name: "an unused sequence of a table whose column has no index: nobody knows, so not 0 %",
        sql: "CREATE TABLE a(id serial)",
        says: &[
            "public.a.id integer ?/2147483647 unknown: its sequence was never used, and no index begins with it, and there are \
             no statistics < column type integer",
            "! warning id-not-unique public.a.id",
        ],
    },
    Trap {
        name: "a widened serial keeps its narrow sequence",
        sql: "CREATE TABLE a(id serial PRIMARY KEY); ALTER TABLE a ALTER id TYPE bigint; SELECT setval('a_id_seq', 2000000000)",
        says: &[
            "public.a.id bigint 2000000000/2147483647 sequence < sequence public.a_id_seq",
            "! warning sequence-narrow public.a.id",
        ],
    },
    Trap {
        name: "a widened identity takes its sequence along",
        sql: "CREATE TABLE a(id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY); ALTER TABLE a ALTER id TYPE bigint",
        says: &["public.a.id bigint 0/9223372036854775807 sequence < column type bigint"],
    },
    Trap {
        name: "a narrow foreign key ends its parent",
        sql: "CREATE TABLE users(id bigserial PRIMARY KEY);
              CREATE TABLE orders(id bigserial PRIMARY KEY, user_id int REFERENCES users);
              SELECT setval('users_id_seq', 1900000000)",
        says: &[
            "public.orders.id bigint 0/9223372036854775807 sequence < column type bigint",
            "public.users.id bigint 1900000000/2147483647 sequence < public.orders.user_id integer (foreign key)",
            "! warning narrow-foreign-key public.orders.user_id",
        ],
    },
    Trap {
        name: "a narrow foreign key to a small parent is blamed for nothing",
        sql: "CREATE TABLE kinds(id bigserial PRIMARY KEY);
              CREATE TABLE orders(id bigserial PRIMARY KEY, kind_id smallint REFERENCES kinds); SELECT setval('kinds_id_seq', 9)",
        says: &[
            "public.kinds.id bigint 9/32767 sequence < public.orders.kind_id smallint (foreign key)",
            "public.orders.id bigint 0/9223372036854775807 sequence < column type bigint",
        ],
    },
    Trap {
        name: "references of references",
        sql: "CREATE TABLE users(id bigserial PRIMARY KEY); CREATE TABLE profiles(user_id bigint PRIMARY KEY REFERENCES users);
              CREATE TABLE photos(id bigserial PRIMARY KEY, profile int REFERENCES profiles); SELECT setval('users_id_seq', 1900000000)",
        says: &[
            "public.photos.id bigint 0/9223372036854775807 sequence < column type bigint",
            "public.users.id bigint 1900000000/2147483647 sequence < public.photos.profile integer (foreign key)",
            "! warning narrow-foreign-key public.photos.profile",
        ],
    },
    Trap {
        name: "a narrow reference to a reference to something small is blamed for nothing",
        sql: "CREATE TABLE users(id bigserial PRIMARY KEY); CREATE TABLE profiles(user_id bigint PRIMARY KEY REFERENCES users);
              CREATE TABLE photos(id bigserial PRIMARY KEY, profile int REFERENCES profiles); SELECT setval('users_id_seq', 9)",
        says: &[
            "public.photos.id bigint 0/9223372036854775807 sequence < column type bigint",
            "public.users.id bigint 9/2147483647 sequence < public.photos.profile integer (foreign key)",
        ],
    },
    Trap {
        name: "a foreign key of two columns blames the narrow one alone",
        sql: "CREATE TABLE orders(tenant int, id bigint, PRIMARY KEY (tenant, id), UNIQUE (id)); INSERT INTO orders VALUES (1, 1900000000);
              CREATE TABLE lines(t int, o int, n int, PRIMARY KEY (t, o, n), FOREIGN KEY (t, o) REFERENCES orders(tenant, id))",
        says: &[
            "public.lines.n integer ?/2147483647 unknown: no index begins with it, and there are no statistics < column type integer",
            "public.orders.id bigint 1900000000/2147483647 max < public.lines.o integer (foreign key)",
            "public.orders.tenant integer 1/2147483647 max < column type integer",
            "! warning narrow-foreign-key public.lines.o",
        ],
    },
    Trap {
        name: "a foreign key that isn't valid yet counts",
        sql: "CREATE TABLE users(id bigserial PRIMARY KEY); CREATE TABLE logs(u int);
              ALTER TABLE logs ADD FOREIGN KEY (u) REFERENCES users NOT VALID; SELECT setval('users_id_seq', 1000000000)",
        says: &[
            "public.users.id bigint 1000000000/2147483647 sequence < public.logs.u integer (foreign key)",
            "! warning narrow-foreign-key public.logs.u",
        ],
    },
    Trap {
        name: "a foreign key to itself",
        sql: "CREATE TABLE nodes(id bigserial PRIMARY KEY, parent int REFERENCES nodes); SELECT setval('nodes_id_seq', 1000000000)",
        says: &[
            "public.nodes.id bigint 1000000000/2147483647 sequence < public.nodes.parent integer (foreign key)",
            "! warning narrow-foreign-key public.nodes.parent",
        ],
    },
    Trap {
        name: "an undeclared copy, its values by an index",
        sql: "CREATE TABLE users(id bigserial PRIMARY KEY); CREATE TABLE logs(user_id int); CREATE INDEX ON logs(user_id);
              INSERT INTO logs VALUES (1799999999); SELECT setval('users_id_seq', 1800000000)",
        says: &[
            "public.users.id bigint 1800000000/2147483647 sequence < public.logs.user_id integer (copy by name)",
            "! warning narrow-copy public.logs.user_id",
        ],
    },
    Trap {
        name: "an undeclared copy, its values by statistics",
        sql: "CREATE TABLE users(id bigserial PRIMARY KEY); CREATE TABLE logs(author_user_id int);
              INSERT INTO logs SELECT 1700000000 + i FROM generate_series(1, 1000) i; ANALYZE logs; SELECT setval('users_id_seq', 1800000000)",
        says: &[
            "public.users.id bigint 1800000000/2147483647 sequence < public.logs.author_user_id integer (copy by name)",
            "! warning narrow-copy public.logs.author_user_id",
        ],
    },
    Trap {
        name: "an undeclared copy in an array",
        sql: "CREATE TABLE users(id bigserial PRIMARY KEY); CREATE TABLE rooms(id bigserial PRIMARY KEY, user_ids int[]);
              INSERT INTO rooms(user_ids) SELECT ARRAY[1700000000 + i % 10, 1700000020] FROM generate_series(1, 100) i; ANALYZE rooms;
              SELECT setval('users_id_seq', 1800000000)",
        says: &[
            "public.rooms.id bigint 100/9223372036854775807 sequence < column type bigint",
            "public.users.id bigint 1800000000/2147483647 sequence < public.rooms.user_ids integer[] (copy by name)",
            "! warning narrow-copy public.rooms.user_ids",
        ],
    },
    Trap {
        name: "names lie: values above the key's are no copies",
        sql: "CREATE TABLE users(id bigserial PRIMARY KEY); CREATE TABLE logs(user_id int); CREATE INDEX ON logs(user_id);
              INSERT INTO logs VALUES (2000000000); SELECT setval('users_id_seq', 1800000000)",
        says: &["public.users.id bigint 1800000000/9223372036854775807 sequence < column type bigint"],
    },
    Trap {
        name: "a name alone, without values, proves nothing",
        sql: "CREATE TABLE users(id bigserial PRIMARY KEY); CREATE TABLE logs(user_id int); SELECT setval('users_id_seq', 1800000000)",
        says: &["public.users.id bigint 1800000000/9223372036854775807 sequence < column type bigint"],
    },
    Trap {
        name: "a copy is called after the table of its own schema",
        sql: "CREATE SCHEMA a; CREATE SCHEMA b; CREATE TABLE a.users(id bigserial PRIMARY KEY); CREATE TABLE b.users(id bigserial PRIMARY KEY);
              CREATE TABLE b.logs(user_id int); CREATE INDEX ON b.logs(user_id); INSERT INTO b.logs VALUES (5);
              SELECT setval('a.users_id_seq', 1800000000), setval('b.users_id_seq', 9)",
        says: &[
            "a.users.id bigint 1800000000/9223372036854775807 sequence < column type bigint",
            "b.users.id bigint 9/2147483647 sequence < b.logs.user_id integer (copy by name)",
        ],
    },
    Trap {
        name: "a copy called after tables of two other schemas is called after neither",
        sql: "CREATE SCHEMA a; CREATE SCHEMA b; CREATE TABLE a.users(id bigserial PRIMARY KEY); CREATE TABLE b.users(id bigserial PRIMARY KEY);
              CREATE TABLE logs(user_id int); CREATE INDEX ON logs(user_id); INSERT INTO logs VALUES (5);
              SELECT setval('a.users_id_seq', 1800000000), setval('b.users_id_seq', 9)",
        says: &[
            "a.users.id bigint 1800000000/9223372036854775807 sequence < column type bigint",
            "b.users.id bigint 9/9223372036854775807 sequence < column type bigint",
        ],
    },
    Trap {
        name: "a domain over a domain over int",
        sql: "CREATE DOMAIN key32 AS int; CREATE DOMAIN user_key AS key32 CHECK (VALUE > 0);
              CREATE TABLE users(id user_key PRIMARY KEY); INSERT INTO users VALUES (2000000000)",
        says: &["public.users.id public.user_key 2000000000/2147483647 max < column type public.user_key"],
    },
    Trap {
        name: "a foreign key whose column is a narrow domain",
        sql: "CREATE DOMAIN key32 AS int; CREATE TABLE users(id bigserial PRIMARY KEY); CREATE TABLE logs(u key32 REFERENCES users);
              SELECT setval('users_id_seq', 1800000000)",
        says: &[
            "public.users.id bigint 1800000000/2147483647 sequence < public.logs.u public.key32 (foreign key)",
            "! warning narrow-foreign-key public.logs.u",
        ],
    },
    Trap {
        name: "partitions under one sequence",
        sql: "CREATE TABLE p(id serial, d int, PRIMARY KEY (id, d)) PARTITION BY RANGE (d);
              CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (10); CREATE TABLE p2 PARTITION OF p FOR VALUES FROM (10) TO (20);
              INSERT INTO p(d) VALUES (1), (11), (12)",
        says: &[
            "public.p.d integer ?/2147483647 unknown: no index begins with it, and there are no statistics < column type integer",
            "public.p.id integer 3/2147483647 sequence < column type integer",
            "! note id-not-unique public.p.id",
        ],
    },
    Trap {
        name: "a partition with a sequence of its own",
        sql: "CREATE TABLE p(id bigserial PRIMARY KEY) PARTITION BY RANGE (id); CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (1000);
              CREATE SEQUENCE own MAXVALUE 999; ALTER TABLE p1 ALTER id SET DEFAULT nextval('own'); SELECT setval('own', 900)",
        says: &[
            "public.p.id bigint 0/9223372036854775807 sequence < column type bigint",
            "public.p1.id bigint 900/999 sequence < sequence public.own",
        ],
    },
    Trap {
        name: "partitions of partitions without a sequence: the furthest of all",
        sql: "CREATE TABLE p(id int PRIMARY KEY) PARTITION BY RANGE (id);
              CREATE TABLE q PARTITION OF p FOR VALUES FROM (0) TO (1000) PARTITION BY RANGE (id);
              CREATE TABLE q1 PARTITION OF q FOR VALUES FROM (0) TO (500); CREATE TABLE q2 PARTITION OF q FOR VALUES FROM (500) TO (1000);
              INSERT INTO p VALUES (3), (777)",
        says: &["public.p.id integer 777/2147483647 max < column type integer"],
    },
    Trap {
        name: "inheritance: a child has its parent's sequence and no index",
        sql: "CREATE TABLE a(id serial PRIMARY KEY); CREATE TABLE b() INHERITS (a); INSERT INTO a DEFAULT VALUES; INSERT INTO b DEFAULT VALUES",
        says: &[
            "public.a.id integer 2/2147483647 sequence < column type integer",
            "public.b.id integer 2/2147483647 sequence < column type integer",
        ],
    },
    Trap {
        name: "a generated column isn't a key of its own",
        sql: "CREATE TABLE a(id bigserial PRIMARY KEY, short_id int GENERATED ALWAYS AS (id % 1000) STORED UNIQUE)",
        says: &["public.a.id bigint 0/9223372036854775807 sequence < column type bigint"],
    },
    Trap {
        name: "a temporary table is nobody's",
        sql: "CREATE TEMP TABLE a(id serial PRIMARY KEY); CREATE TEMP SEQUENCE s",
        says: &[],
    },
    Trap {
        name: "an unlogged table",
        sql: "CREATE UNLOGGED TABLE a(id serial PRIMARY KEY); INSERT INTO a DEFAULT VALUES",
        says: &["public.a.id integer 1/2147483647 sequence < column type integer"],
    },
    Trap {
        name: "a unique index that is partial, invalid or over an expression keeps nothing unique",
        sql: "CREATE TABLE a(id bigserial, x int); INSERT INTO a(x) VALUES (1); CREATE UNIQUE INDEX ON a(id) WHERE x > 0;
              CREATE UNIQUE INDEX ON a((id + 1)); CREATE INDEX ON a(id)",
        says: &[
            "public.a.id bigint 1/9223372036854775807 sequence < column type bigint",
            "! warning id-not-unique public.a.id",
        ],
    },
    Trap {
        name: "a counter that isn't a key grows too",
        sql: "CREATE TABLE a(id bigserial PRIMARY KEY, ticket smallserial UNIQUE); SELECT setval('a_ticket_seq', 32000)",
        says: &[
            "public.a.id bigint 0/9223372036854775807 sequence < column type bigint",
            "public.a.ticket smallint 32000/32767 sequence < column type smallint",
        ],
    },
    Trap {
        name: "a key of two columns, the second without an index of its own",
        sql: "CREATE TABLE a(tenant int, id int, PRIMARY KEY (tenant, id)); INSERT INTO a SELECT 1, i FROM generate_series(1, 1000) i; ANALYZE a",
        says: &[
            "public.a.id integer 1000/2147483647 stats < column type integer",
            "public.a.tenant integer 1/2147483647 max < column type integer",
            "! note id-not-unique public.a.id",
        ],
    },
    Trap {
        name: "an index in descending order has its end at the other side",
        sql: "CREATE TABLE a(id int NOT NULL, PRIMARY KEY (id)); CREATE TABLE b(id int); CREATE UNIQUE INDEX ON b(id DESC NULLS LAST);
              INSERT INTO b VALUES (NULL), (7), (3)",
        says: &[
            "public.a.id integer 0/2147483647 max < column type integer",
            "public.b.id integer 7/2147483647 max < column type integer",
        ],
    },
    Trap {
        name: "only negative values",
        sql: "CREATE TABLE a(id int PRIMARY KEY); INSERT INTO a VALUES (-5)",
        says: &["public.a.id integer -5/2147483647 max < column type integer"],
    },
    Trap {
        name: "a sequence at its end",
        sql: "CREATE TABLE a(id smallserial PRIMARY KEY); SELECT setval('a_id_seq', 32767)",
        says: &["public.a.id smallint 32767/32767 sequence < column type smallint"],
    },
    Trap {
        name: "a UUID as text, and one as it should be",
        sql: "CREATE TABLE a(id varchar(36) PRIMARY KEY); CREATE TABLE b(id uuid PRIMARY KEY);
              CREATE TABLE c(id text PRIMARY KEY DEFAULT gen_random_uuid()::text); CREATE TABLE d(country char(2) PRIMARY KEY)",
        says: &["! note id-as-text public.a.id", "! note id-as-text public.c.id"],
    },
    Trap {
        name: "an id column that nothing keeps unique, and one that only looks like it",
        sql: "CREATE TABLE a(id uuid); CREATE TABLE b(id uuid UNIQUE); CREATE TABLE c(paid int, grid int)",
        says: &["! warning id-not-unique public.a.id"],
    },
    Trap {
        name: "views, materialised views and foreign tables aren't tables",
        sql: "CREATE TABLE a(id bigserial PRIMARY KEY); CREATE VIEW v AS SELECT id FROM a; CREATE MATERIALIZED VIEW m AS SELECT id FROM a",
        says: &["public.a.id bigint 0/9223372036854775807 sequence < column type bigint"],
    },
    Trap {
        name: "a dropped column and a column of one name elsewhere",
        sql: "CREATE TABLE a(x int, id bigserial PRIMARY KEY, y serial); ALTER TABLE a DROP x, DROP y; ALTER TABLE a ADD y int",
        says: &["public.a.id bigint 0/9223372036854775807 sequence < column type bigint"],
    },
    Trap {
        name: "many more numbers than rows",
        sql: "CREATE TABLE a(id bigserial PRIMARY KEY, x int UNIQUE); INSERT INTO a(x) VALUES (1); ANALYZE a; SELECT setval('a_id_seq', 1000000)",
        says: &[
            "public.a.id bigint 1000000/9223372036854775807 sequence < column type bigint",
            "public.a.x integer 1/2147483647 max < column type integer",
            "! note numbers-burned public.a.id",
        ],
    },
];

async fn try_traps(version: &str, server: &Postgres) {
    let mut wrongs = Vec::new();
    for trap in TRAPS {
        let database = server.database();
        if let Err(error) = server.query(&database, trap.sql) {
            wrongs.push(format!("{}: {error}", trap.name));
            continue;
        }
        let catalog = read(&server.url(&database), &Options::default()).await.unwrap();
        wrongs.extend(wrong(trap, &catalog));
    }
    assert!(wrongs.is_empty(), "on PostgreSQL {version}, {} traps:\n{}", wrongs.len(), wrongs.join("\n"));
}

#[tokio::test]
async fn every_trap_is_seen_for_what_it_is() {
    let Some(server) = Postgres::shared() else { return };
    try_traps("as installed", &server).await;
}

#[tokio::test]
async fn every_trap_is_seen_for_what_it_is_on_18() {
    let Some(server) = Postgres::start_version(18, &[]) else { return };
    try_traps("18", &server).await;
}

#[tokio::test]
async fn looking_takes_no_number() {
    let Some(server) = Postgres::shared() else { return };
    let database = server.database();
    let sql =
        "CREATE TABLE a(id serial PRIMARY KEY); CREATE SEQUENCE s CACHE 50; INSERT INTO a DEFAULT VALUES";
    server.query(&database, sql).unwrap();
    let values = "SELECT last_value, is_called FROM a_id_seq UNION ALL SELECT last_value, is_called FROM s";
    let before = server.query(&database, values).unwrap();
    for _ in 0..3 {
        said(&read(&server.url(&database), &Options::default()).await.unwrap());
    }
    assert_eq!(server.query(&database, values).unwrap(), before);
}

/// A URL of a role that may log in and nothing else.
fn as_role(server: &Postgres, database: &str, role: &str) -> String {
    server.url(database).replace("postgres@", &format!("{role}@"))
}

async fn said_at(url: &str) -> Vec<String> {
    said(&read(url, &Options::default()).await.unwrap())
}

#[tokio::test]
async fn what_a_role_may_not_read_is_unknown_with_the_privilege_and_never_zero() {
    let Some(server) = Postgres::shared() else { return };
    let database = server.database();
    let sql = "CREATE ROLE poor LOGIN; CREATE ROLE monitor LOGIN IN ROLE pg_monitor; CREATE ROLE reader LOGIN IN ROLE pg_read_all_data;
               CREATE SCHEMA hidden; CREATE TABLE hidden.h(id serial PRIMARY KEY); INSERT INTO hidden.h DEFAULT VALUES;
               CREATE TABLE a(id serial PRIMARY KEY); INSERT INTO a DEFAULT VALUES; SELECT setval('a_id_seq', 2000000000);
               CREATE TABLE b(id int PRIMARY KEY); INSERT INTO b VALUES (5);
               CREATE TABLE c(id serial PRIMARY KEY); INSERT INTO c VALUES (7); GRANT SELECT ON c TO poor, monitor;
               CREATE TABLE d(id serial PRIMARY KEY); GRANT USAGE ON SEQUENCE d_id_seq TO poor, monitor";
    server.query(&database, sql).unwrap();
    let unknown = [
        "! error sequence-behind public.c.id",
        "hidden.h.id integer 1/2147483647 sequence < column type integer",
        "public.a.id integer 2000000000/2147483647 sequence < column type integer",
        "public.b.id integer 5/2147483647 max < column type integer",
        "public.c.id integer 7/2147483647 max < column type integer",
        "public.d.id integer 0/2147483647 sequence < column type integer",
    ];
    assert_eq!(said_at(&as_role(&server, &database, "reader")).await, unknown);
    for role in ["poor", "monitor"] {
        let expected = [
            "! warning sequence-unreadable hidden.h.id",
            "! warning sequence-unreadable public.a.id",
            "! warning sequence-unreadable public.c.id",
            "hidden.h.id integer ?/2147483647 unknown: USAGE or SELECT on sequence hidden.h_id_seq < column type integer",
            "public.a.id integer ?/2147483647 unknown: USAGE or SELECT on sequence public.a_id_seq < column type integer",
            "public.b.id integer ?/2147483647 unknown: SELECT on table public.b < column type integer",
            "public.c.id integer 7/2147483647 stats < column type integer",
            "public.d.id integer ?/2147483647 unknown: its sequence was never used or was restarted; SELECT on it would tell \
             < column type integer",
        ];
        assert_eq!(said_at(&as_role(&server, &database, role)).await, expected, "{role}");
    }
}

#[tokio::test]
async fn rows_that_a_policy_hides_arent_counted_as_if_they_were_all() {
    let Some(server) = Postgres::shared() else { return };
    let database = server.database();
    let sql = "CREATE ROLE tenant LOGIN; CREATE TABLE a(id int PRIMARY KEY, t text); INSERT INTO a VALUES (5, 'tenant'), (2000000000, 'other');
               ALTER TABLE a ENABLE ROW LEVEL SECURITY; CREATE POLICY p ON a USING (t = current_user); GRANT SELECT ON a TO tenant";
    server.query(&database, sql).unwrap();
    assert_eq!(
        said_at(&as_role(&server, &database, "tenant")).await,
        [
            "public.a.id integer ?/2147483647 unknown: a role that the row security of public.a leaves alone (BYPASSRLS) < column type integer"
        ]
    );
    assert_eq!(
        said_at(&server.url(&database)).await,
        ["public.a.id integer 2000000000/2147483647 max < column type integer"]
    );
}

#[tokio::test]
async fn a_locked_table_is_named_and_passed_over_without_waiting() {
    let Some(server) = Postgres::shared() else { return };
    let database = server.database();
    let sql = "CREATE TABLE a(id serial PRIMARY KEY); INSERT INTO a VALUES (900); CREATE TABLE b(id int PRIMARY KEY); INSERT INTO b VALUES (5);
               CREATE SEQUENCE s; CREATE TABLE c(id int PRIMARY KEY)";
    server.query(&database, sql).unwrap();
    let locks = "LOCK TABLE a IN ACCESS EXCLUSIVE MODE; LOCK TABLE b IN ACCESS EXCLUSIVE MODE; ALTER SEQUENCE s INCREMENT 2";
    let (client, connection) =
        tokio_postgres::connect(&server.url(&database), tokio_postgres::NoTls).await.unwrap();
    tokio::spawn(connection);
    client.batch_execute(&format!("BEGIN; {locks}")).await.unwrap();
    let lines = tokio::time::timeout(std::time::Duration::from_secs(5), said_at(&server.url(&database)))
        .await
        .unwrap();
    assert_eq!(
        lines,
        [
            "! warning passed-over public.a",
            "! warning passed-over public.b",
            "! warning sequence-unreadable public.s",
            "public.a.id integer ?/2147483647 unknown: its sequence was never used, and another session holds a lock on the table \
             < column type integer",
            "public.b.id integer ?/2147483647 unknown: another session holds a lock on the table < column type integer",
            "public.c.id integer 0/2147483647 max < column type integer",
            "public.s bigint ?/9223372036854775807 unknown: another session holds a lock on it < sequence public.s",
        ]
    );
}

#[tokio::test]
async fn a_standby_may_be_ahead_and_its_unlogged_sequences_are_unknown() {
    let Some(primary) = Postgres::start(&[]) else { return };
    let sql = "CREATE TABLE a(id serial PRIMARY KEY); INSERT INTO a DEFAULT VALUES; CREATE UNLOGGED TABLE u(id serial PRIMARY KEY);
               CREATE UNLOGGED SEQUENCE v";
    primary.query("postgres", sql).unwrap();
    let mut standby = primary.backup(true);
    standby.start_again();
    primary.query("postgres", "INSERT INTO a DEFAULT VALUES").unwrap();
    standby.catches_up(&primary);
    let catalog = read(&standby.url("postgres"), &Options::default()).await.unwrap();
    assert!(catalog.server.is_standby);
    let lines = said(&catalog);
    let behind: Vec<_> = lines.iter().filter(|line| line.contains("sequence-behind")).collect();
    assert!(behind.is_empty(), "{lines:#?}");
    let a = lines.iter().find(|line| line.starts_with("public.a.id")).unwrap();
    let current: u64 = a.split([' ', '/']).nth(2).unwrap().parse().unwrap();
    assert!((2..=34).contains(&current), "{a}");
    let v = lines.iter().find(|line| line.starts_with("public.v")).unwrap();
    assert!(v.contains("?/") && v.contains("ask the primary"), "{v}");
}

#[tokio::test]
async fn a_role_whose_transactions_are_read_only_does() {
    let Some(server) = Postgres::shared() else { return };
    let database = server.database();
    let sql =
        "CREATE ROLE readonly LOGIN SUPERUSER; ALTER ROLE readonly SET default_transaction_read_only = on;
               CREATE TABLE a(id serial PRIMARY KEY); INSERT INTO a DEFAULT VALUES";
    server.query(&database, sql).unwrap();
    let lines = said_at(&as_role(&server, &database, "readonly")).await;
    assert_eq!(lines, ["public.a.id integer 1/2147483647 sequence < column type integer"]);
}

#[tokio::test]
async fn a_connection_that_is_lost_in_between_is_an_error_and_no_report() {
    let Some(server) = Postgres::start(&[]) else { return };
    let tables: String = (0..1_500).map(|i| format!("CREATE TABLE t{i}(id serial PRIMARY KEY);")).collect();
    for chunk in tables.split_inclusive(';').collect::<Vec<_>>().chunks(500) {
        server.query("postgres", &chunk.concat()).unwrap();
    }
    let url = server.url("postgres");
    let reading = tokio::spawn(async move { read(&url, &Options::default()).await });
    let kill = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'mintage'";
    let mut error = None;
    for _ in 0..10_000 {
        if reading.is_finished() {
            break;
        }
        if server.query("postgres", kill).unwrap().contains('t') {
            error = Some(reading.await.unwrap());
            break;
        }
        tokio::task::yield_now().await;
    }
    // A machine quick enough to be done before the first look has shown nothing.
    let Some(error) = error else { return };
    let Err(error) = error else { return };
    assert!(matches!(error, mintage_keys::Error::Lost { .. }), "{error}");
}

#[tokio::test]
async fn spaces_of_mintage_are_told_of_and_their_tables_are_not() {
    use mintage_lease::space::{BlockTerms, Kind};
    use mintage_lease::store::{CreateOptions, Deadline, OpenOptions, open};
    let Some(server) = Postgres::shared() else { return };
    let url = server.url(&server.database());
    let store = open(&url, OpenOptions::default()).unwrap();
    let terms = BlockTerms { first: 1_000, last: 4_000, ..BlockTerms::default() };
    let space = mintage_lease::Space {
        id: mintage_lease::SpaceId(1),
        name: "orders".to_owned(),
        kind: Kind::Blocks(terms),
    };
    let deadline = Deadline::after(std::time::Duration::from_secs(20));
    store.create(&space, CreateOptions::default(), deadline).await.unwrap();
    assert_eq!(said_at(&url).await, ["orders blocks 999/4000 space < space"]);
}
